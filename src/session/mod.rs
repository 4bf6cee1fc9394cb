//! Sessions: what happened, in order, on record before the engine acts on it, and on the disk before anybody is told that it is safe. The
//! engine is the only writer of a session; whoever shows, lists or takes one up again reads it here.
//!
//! ```text
//! <state>/sessions/app-3f0c9a41b2d8e675/20260821-090000123-x1y2z3a4/
//!     log-1.jsonl     {"seq":0,"prev":"000…","at":…,"kind":"session",…}⏎     append-only; each line names the hash of the one before
//!     current         17 log-1.jsonl 48210 5f0c…a9⏎                          how far the log counts
//!     lock            held while somebody commits
//!     output/         full outputs of commands; held, shared, by whoever has the session open
//!     wire            the last exchanges with the server, which are not ours: `commands/ring.rs`
//!
//! record.rs   what is remembered                 log.rs      the log in memory; append, commit
//! line.rs     a record as a line, and back       commit.rs   the order of calls that no crash breaks
//! pointer.rs  the line in `current`              lock.rs     one writer at a time
//! disk.rs     every call that changes the disk   store.rs    where sessions lie
//! view.rs     what the model sees of a log       back.rs     reading from the end, checked
//! open.rs     a session to go on with            tail.rs     its end, to be shown
//! forward.rs  reading from the beginning, judged
//! list.rs     all of them                        notice.rs   what is said about one
//! spoken.rs   messages, read without a tree    request.rs a request, to begin anew before it
//! ```
//!
//! Invariant: what was committed survives a kill, a crash and a power cut. Invariant: two writers never overwrite each other: the second
//! to commit gets a conflict, and keeps its records. Invariant: after a `Message::Assistant` with calls comes, before the next message of
//! another kind, one `Message::Tool` for each call, in order.
//!
//! Read next: `record.rs`, then `commit.rs`; `engine::conversation`, the writer.

mod back;
mod commit;
mod disk;
mod error;
mod forward;
mod line;
mod list;
mod lock;
mod log;
mod notice;
mod open;
mod pointer;
mod record;
mod request;
mod spoken;
mod store;
mod tail;
mod view;

use crate::sys::{clock, random};
use std::time::SystemTime;

pub use disk::{Disk, OpenFile, Operation};
pub use error::{CommitError, Conflict};
pub use forward::{Cause, Flaw, Forward, Passed};
pub use line::{Envelope, Fault, Line, MAX_LINE_BYTES, read as read_line, write as write_line};
pub use list::Listed;
pub use log::Log;
pub use notice::{Interrupted, Notice, OpenError, cut};
pub use open::{MAX_LOST, Opened};
pub use pointer::Pointer;
pub use record::{
    Author, Checkpoint, Edit, FrontEnd, Hash, Header, ModelRecord, Origin, Record, ToolStyle,
};
pub use request::Request;
pub use store::Store;
pub use tail::{Entry, Tail};
pub use view::{shortened, view};

/// Session id: time and random part. As text it sorts by time of birth and is a safe file name.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct SessionId(pub String);

/// Random characters at the end of an id: 36^8 leaves no chance for two sessions of one millisecond to meet.
const RANDOM_CHARS: usize = 8;

impl SessionId {
    /// `20260821-090000123-x1y2z3a4`: UTC date, time with milliseconds, random part.
    pub fn new(born: SystemTime) -> std::io::Result<SessionId> {
        let stamp = clock::rfc3339(born);
        let digits: String = stamp.chars().filter(char::is_ascii_digit).collect();
        let (date, time) = digits.split_at(digits.len().min(8));
        let tail = random::id(RANDOM_CHARS)?;
        Ok(SessionId(format!("{date}-{time}-{tail}")))
    }
}
