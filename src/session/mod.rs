//! The session's log: what happened, in order, appended before the engine acts on it. The engine is the only writer; whoever shows
//! or resumes a session reads the records. In memory for now; ids, kinds and order are final.
//!
//! ```text
//! seq 0  Message(System)       "You are zcoder …"
//! seq 1  Message(Note)         date, folder, platform
//! seq 2  Message(User)         "make the test pass"
//! seq 3  Message(Assistant)    calls run_command
//! seq 4  Decision              shown "sh test.sh", once, by a person
//! seq 5  Message(Tool)         exit 1 …
//! seq 6  Receipt               done, 1 file changed
//! seq 7  Checkpoint            keeps 1, 2 and a note in place of 3 and 5: the model sees less from here on, the log holds all
//! ```
//!
//! Nothing is refused here: what may be appended is decided by the engine. There is no limit on the number of records; each is
//! bounded where it is made (replies by the model's limits, results by the tools').
//!
//! Invariant: sequence numbers count from 0 without gaps. Invariant: a record never changes after it was appended. Invariant: after a
//! `Message::Assistant` with calls comes, before the next message of another kind, one `Message::Tool` for each call, in order.
//!
//! Read next: `view.rs`, what the model sees of it; `engine::conversation`, the writer.
mod view;

use crate::protocol::{CallId, DecidedBy, Decision, JournalRecord, Message, Receipt, TurnId};
use crate::sys::{clock, random};
use std::time::SystemTime;

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

/// What is kept.
#[derive(Clone, Debug, PartialEq)]
pub enum Record {
    /// Part of the conversation, as the model sees it. Of several system messages the last one counts (the tool style changed).
    Message(Message),
    /// What was decided about a call or a question, and the exact text it was decided on.
    Decision {
        /// The call it was about; `None` for questions of the engine's own.
        call: Option<CallId>,
        /// The command, the diff or the sentence that was judged.
        shown: String,
        /// The answer.
        decision: Decision,
        /// Whose answer.
        by: DecidedBy,
    },
    /// A file is about to change: enough to undo it. Appended before the file is touched.
    Edit(JournalRecord),
    /// A turn ended.
    Receipt {
        /// Which turn.
        turn: TurnId,
        /// What it came to. Its answer is empty: it is the model's last message.
        receipt: Receipt,
    },
    /// The conversation was shortened for the model.
    Checkpoint(Checkpoint),
}

/// What the model sees in place of all messages before this record; the system message stays. The messages themselves stay in the log.
#[derive(Clone, Debug, PartialEq)]
pub struct Checkpoint {
    /// A `Message::Note`: what was left out, in few words. It stands behind the first user message that is kept.
    pub note: Message,
    /// Sequence numbers of the messages that stay word for word, ascending.
    pub kept: Vec<u64>,
    /// Tokens of the request before, by our count.
    pub before: u64,
    /// Tokens of it after.
    pub after: u64,
}

/// The log.
#[derive(Debug)]
pub struct Log {
    id: SessionId,
    records: Vec<Record>,
}

impl Log {
    /// A new, empty one with a fresh id. Fails only when the system gives no randomness.
    pub fn in_memory() -> std::io::Result<Log> {
        let id = SessionId::new(SystemTime::now())?;
        Ok(Log {
            id,
            records: Vec::new(),
        })
    }

    /// Its id.
    pub fn id(&self) -> &SessionId {
        &self.id
    }

    /// Appends; returns the record's sequence number.
    pub fn append(&mut self, record: Record) -> u64 {
        let seq = self.records.len() as u64;
        self.records.push(record);
        seq
    }

    /// All records so far.
    pub fn records(&self) -> &[Record] {
        &self.records
    }

    /// The conversation as the model must see it (`view`).
    pub fn messages(&self) -> impl Iterator<Item = &Message> {
        view(&self.records).into_iter().map(|(_, message)| message)
    }
}
