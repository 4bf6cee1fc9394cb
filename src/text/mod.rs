//! Text: bytes that arrive in pieces become characters (`utf8.rs`), and foreign characters become harmless ones (`sanitize.rs`).
//!
//! ```text
//! e2 82 | ac 1b 5b 33 31 6d 21       two reads from a program, cut inside a character
//! "€\x1b[31m!"                       decoded
//! "€!"                               plain
//! "€\\x1b[31m!"                      visible
//! ```
//!
//! Nothing is refused and nothing has a limit: bad bytes become U+FFFD, controls are dropped or shown.
//!
//! Invariant: data stays as it came; only what is about to be shown goes through `sanitize.rs`.
//!
//! Read next: `sanitize.rs`.

mod sanitize;
mod utf8;

pub use sanitize::{clip, line, plain, visible};
pub use utf8::{Utf8, repair};
