//! Bytes to lines with a cap ([`Splitter`]), to NDJSON records ([`Ndjson`]), to server-sent events ([`Sse`]). What comes
//! in are body bytes as `http` hands them out, cut anywhere; what goes out is whole.
//!
//! ```text
//! …lo"},"done":false}\n{"model":"m","mess   cut by the network
//! {"model":"m","message":{"role":"assistant","content":"Hello"},"done":false}   a record, whole
//! ```
//!
//! Refused: what exceeds the cap given by the caller (16 MiB for a record: a tool call with a whole file is one line).
//!
//! Invariant: the result does not depend on how the bytes were cut.
//! Invariant: `finish` is the only way to the last line, so a cut stream is never taken for a whole one by accident.
//!
//! Next: [`split`](Splitter), then `ndjson.rs` and `sse.rs`.
mod ndjson;
mod split;
mod sse;
pub use ndjson::Ndjson;
pub use split::{Error, Splitter};
pub use sse::{Event, Sse};
