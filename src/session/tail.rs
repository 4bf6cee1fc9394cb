//! The end of a session, to be shown before the rest is read: the last records at once, earlier ones as somebody scrolls up.
//!
//! ```text
//! let mut tail = store.tail(&id)?;
//! tail.earlier(64 KiB)?      the last screens, oldest first
//! tail.earlier(64 KiB)?      what comes before them
//! ```
//!
//! Invariant: cost follows the bytes asked for, not those of the log. Invariant: nothing is changed; a tail cannot be gone on with.
//!
//! Read next: `back.rs`; `open.rs` for the whole.

use super::back::{Back, Bad, Piece};
use super::pointer::Pointer;
use super::record::Record;
use std::io;
use std::time::SystemTime;

/// A record with its number.
#[derive(Clone, Debug, PartialEq)]
pub struct Entry {
    /// Its number. A `Record::Lost` has the number of the last record that is lost there.
    pub seq: u64,
    /// When it was appended.
    pub at: SystemTime,
    /// What it says.
    pub record: Record,
}

/// The end of a session, as far as it was asked for.
#[derive(Debug)]
pub struct Tail {
    back: Back,
    /// Number and time of the entry that was read last.
    later: Option<(u64, SystemTime)>,
}

impl Tail {
    pub(super) fn new(back: Back) -> Tail {
        Tail { back, later: None }
    }

    /// What is committed.
    pub fn pointer(&self) -> Pointer {
        self.back.pointer
    }

    /// Whether `current` says nothing, so that the last records may not have been committed.
    pub fn is_uncertain(&self) -> bool {
        self.back.lost
    }

    /// The records before those that were returned last, oldest first: as many as stand in so many bytes, and one at least. None: the
    /// beginning was reached.
    pub fn earlier(&mut self, bytes: u64) -> io::Result<Vec<Entry>> {
        let mut entries: Vec<Entry> = Vec::new();
        let until = self.back.read_bytes + bytes;
        while self.back.read_bytes < until || self.later.is_none() {
            let Some(piece) = self.back.next()? else {
                break;
            };
            let entry = match piece {
                Piece::Good(line) => Entry {
                    seq: line.envelope.seq,
                    at: line.envelope.at,
                    record: line.record,
                },
                Piece::Bad(Bad { log, offset, bytes }) => {
                    let (seq, at) = self.later.unwrap_or((0, SystemTime::UNIX_EPOCH));
                    Entry {
                        seq: seq.saturating_sub(1),
                        at,
                        record: Record::Lost { log, offset, bytes },
                    }
                }
            };
            if let (None, Record::Lost { .. }) = (self.later, &entry.record) {
                // Its number follows from the record before it, which comes next.
                entries.push(entry);
                continue;
            }
            if self.later.is_none() {
                for lost in &mut entries {
                    (lost.seq, lost.at) = (entry.seq + 1, entry.at);
                }
            }
            self.later = Some((entry.seq, entry.at));
            entries.push(entry);
        }
        entries.reverse();
        Ok(entries)
    }
}
