//! Ollama's native protocol over plain HTTP: the engine's wishes in, replies and facts about models out. Each call is one
//! connection with one request; `http::client` does the transport, the files here know the bytes.
//!
//! ```text
//! GET  /api/version   {"version":"0.33.0"}
//! GET  /api/tags      {"models":[{"name":"qwen3:8b","size":5200000000,"details":{…},"capabilities":["completion","tools"]}]}
//! GET  /api/ps        {"models":[{"name":"qwen3:8b","size":9400000000,"size_vram":9400000000,"context_length":32768}]}
//! POST /api/show      {"model":"qwen3:8b"} → {"details":{…},"model_info":{…},"capabilities":["completion","tools","thinking"]}
//! POST /api/chat      the conversation → one JSON record a line until "done":true; without messages: load the model
//! ```
//!
//! Limits: small answers 16 MiB (`/api/show` lists thousands of tensors), a record 16 MiB, a chat answer 64 MiB, the body of a
//! refusal 64 KiB. What is refused is told by [`super::Error`].
//!
//! Invariant: a chat uses one connection; a second one asks `/api/ps`, and only while the first is silent.
//!
//! Read next: `request.rs`, `record.rs`, `chat.rs`, `discover.rs`, `watch.rs`.

mod chat;
mod discover;
mod record;
mod request;
mod watch;

pub(super) use record::arguments;
pub use record::{Last, RawCall, Record};
pub use request::RequestBody;

use super::{Delays, Options};
use crate::http::Target;
use crate::http::client::Timeouts;
use crate::protocol::Tap;

/// A server: how to reach it and who watches. Its calls stand in `discover.rs` and `chat.rs`.
#[derive(Clone, Debug)]
pub struct Ollama {
    target: Target,
    /// As the user would type it.
    address: String,
    timeouts: Timeouts,
    delays: Delays,
    tap: Tap,
}

impl Ollama {
    /// The server at the target of `options`. Connects to nothing.
    pub fn new(options: &Options, tap: Tap) -> Ollama {
        Ollama {
            target: options.target.clone(),
            address: options.target.endpoint().to_string(),
            timeouts: options.timeouts,
            delays: options.delays,
            tap,
        }
    }
}
