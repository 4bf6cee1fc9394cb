//! The pointer: the one line in `current` that says what of a session is committed. `commit.rs` replaces it whole, `view.rs` believes it.
//!
//! ```text
//! 17 log-1.jsonl 48210 5f0c…a9⏎      generation, log, its committed bytes, SHA-256 of its last record
//! ```
//!
//! Refused: anything that is not exactly as it would be written again.
//!
//! Invariant: two commits never have the same pointer: the generation counts them.

use super::line::from_hex;
use super::record::Hash;
use crate::sha256::hex;

/// Longer is no pointer.
pub(super) const MAX_BYTES: u64 = 256;

/// What is committed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Pointer {
    /// Counts commits.
    pub generation: u64,
    /// Number of the log.
    pub log: u64,
    /// Bytes of it that are committed.
    pub length: u64,
    /// Of the last record.
    pub hash: Hash,
}

impl Pointer {
    /// Reads the line, LF included.
    pub fn parse(bytes: &[u8]) -> Option<Pointer> {
        let line = std::str::from_utf8(bytes).ok()?.strip_suffix('\n')?;
        let mut words = line.split(' ');
        let pointer = Pointer {
            generation: words.next()?.parse().ok()?,
            log: log_number(words.next()?)?,
            length: words.next()?.parse().ok()?,
            hash: from_hex(words.next()?)?,
        };
        (pointer.line() == line).then_some(pointer)
    }

    /// The line, without LF.
    pub fn line(&self) -> String {
        let (log, hash) = (log_name(self.log), hex(&self.hash));
        format!("{} {log} {} {hash}", self.generation, self.length)
    }
}

/// `log-1.jsonl`
pub(super) fn log_name(number: u64) -> String {
    format!("log-{number}.jsonl")
}

/// The way back; logs count from 1.
pub(super) fn log_number(name: &str) -> Option<u64> {
    let number = name.strip_prefix("log-")?.strip_suffix(".jsonl")?;
    let number: u64 = number.parse().ok()?;
    (number > 0 && log_name(number) == name).then_some(number)
}
