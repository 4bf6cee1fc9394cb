//! HTTP/1.1 (RFC 9112): heads, bodies, addresses, one client, one small server. The model's back ends send requests
//! through the client; the stand-in answers them through the server; both feed the same decoders.
//!
//! ```text
//! "gpubox:11434"                    url.rs     → Endpoint, with --via and headers → Target
//! Target                            dial.rs    → a connection, whichever address answers
//! Request → "POST /api/chat …"      client.rs  → bytes to the connection
//! "HTTP/1.1 200 OK\r\n…\r\n\r\n"   head.rs    → Head
//! "b\r\n{\"done\":…\r\n0\r\n\r\n"    body.rs    → body bytes, on to `lines`
//! ```
//!
//! Refused: TLS (by a sentence that names two ways out), compression, ambiguous framing, whatever exceeds [`Limits`].
//!
//! Invariant: the decoders do no input or output; only `client.rs`, `dial.rs`, `server.rs` and `respond.rs` do.
//! Invariant: one request, one connection, `Connection: close`: no byte of one answer can be taken for another's.
//!
//! Next: `head.rs`, then `body.rs`, then `client.rs`.
mod body;
pub mod client;
mod dial;
mod error;
mod framing;
mod head;
mod incoming;
mod outgoing;
mod respond;
pub mod server;
mod silence;
mod step;
mod url;
pub use body::BodyDecoder;
pub use error::{BodyError, Error, HeadError};
pub use framing::Framing;
pub use head::{Body, Head, HeadDecoder, Limits, Request, RequestHead};
pub use url::{Endpoint, EndpointError, Scheme, Target, Via};
