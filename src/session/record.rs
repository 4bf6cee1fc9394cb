//! What a session remembers: one `Record` for each thing that happened. The engine makes them and appends them to a `Log`; `line.rs` turns
//! each into a line of JSON and back, which is all that the disk ever sees of it.
//!
//! ```text
//! Session     id, workspace, version: always the first record
//! Title       what the session is called
//! Model       model, server, window, tools: what the requests from here on are made of
//! TurnStarted who asked, and where
//! Message     system, note, user, assistant, tool: the conversation
//! Decision    what was shown, and who said what to it
//! Edit        a file is about to change, with both hashes
//! Receipt     a turn ended
//! Checkpoint  the model sees less from here on; the log holds all
//! Shell       the user runs a command
//! Accepted    a message or a command came while a turn ran
//! Settled     it was delivered, or dropped
//! Goal        the goal from here on
//! Gap         a damaged log was left for a new one
//! Lost        records that cannot be read stood here
//! Unknown     of a newer version: kept as it is
//! ```
//!
//! Nothing is refused and nothing has a limit here: each record is bounded where it is made.
//!
//! Invariant: plain data; a record never changes after it was appended. Invariant: the enum is closed: a new kind is a variant here and an
//! arm in each of the two translators of `line.rs`, and the compiler names every other place that has to know it.
//!
//! Read next: `line.rs`.

use super::SessionId;
use crate::json::Tree;
use crate::policy::Profile;
use crate::protocol::{
    CallId, DecidedBy, Decision, Goal, JournalRecord, Message, Pending, Receipt, TurnId,
};
use std::time::SystemTime;

/// SHA-256.
pub type Hash = [u8; 32];

/// What is kept.
#[derive(Clone, Debug, PartialEq)]
pub enum Record {
    /// The session begins; the first record of each.
    Session(Header),
    /// What it is called from here on.
    Title {
        /// One line, harmless.
        text: String,
    },
    /// What the requests from here on are made of.
    Model(ModelRecord),
    /// A turn began; the prompt follows as `Message::User`.
    TurnStarted {
        /// Which turn.
        turn: TurnId,
        /// Who asked.
        by: Author,
        /// What the session was called then: so the end of a long log tells its name.
        title: Option<String>,
    },
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
    /// A file is about to change. Appended before it is touched.
    Edit(Edit),
    /// A turn ended.
    Receipt {
        /// Which turn.
        turn: TurnId,
        /// What it came to. Its answer is empty: it is the model's last message.
        receipt: Receipt,
    },
    /// The conversation was shortened for the model.
    Checkpoint(Checkpoint),
    /// The person runs a command. Appended before it starts; nothing that reads it runs it again. One that waited waits no longer.
    Shell {
        /// The front end's.
        id: String,
        /// As typed, without `!`.
        command: String,
        /// Whether the model hears of it.
        in_context: bool,
    },
    /// A message or a command came while a turn ran. It waits until it is settled, or begins.
    Accepted(Pending),
    /// It waits no longer.
    Settled {
        /// Which.
        id: String,
        /// It is in the conversation; false: it was dropped.
        consumed: bool,
    },
    /// The goal as it is from here on: the last one counts.
    Goal(Goal),
    /// The log before this one was damaged; it was left as it is, and the records go on in this one.
    Gap {
        /// The damaged log (`log-1.jsonl`).
        log: String,
        /// Its first so many bytes belong to the session.
        length: u64,
        /// Of these bytes.
        hash: Hash,
    },
    /// Records that cannot be read stood here. Made by the reader; on the disk only in a fork.
    Lost {
        /// In which log.
        log: String,
        /// From this byte on.
        offset: u64,
        /// So many bytes.
        bytes: u64,
    },
    /// A record of a kind, or with a content, that this version does not know.
    Unknown {
        /// Its kind.
        kind: String,
        /// The whole line.
        line: Tree,
    },
}

impl Record {
    /// Its message, if it is one.
    pub fn message(&self) -> Option<&Message> {
        match self {
            Record::Message(message) => Some(message),
            Record::Session(_)
            | Record::Title { .. }
            | Record::Model(_)
            | Record::TurnStarted { .. }
            | Record::Decision { .. }
            | Record::Edit(_)
            | Record::Receipt { .. }
            | Record::Checkpoint(_)
            | Record::Goal(_)
            | Record::Accepted(_)
            | Record::Settled { .. }
            | Record::Shell { .. }
            | Record::Gap { .. }
            | Record::Lost { .. }
            | Record::Unknown { .. } => None,
        }
    }
}

/// The first record.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Header {
    /// As in the name of the folder.
    pub id: SessionId,
    /// The full path of the folder that the session works in (repaired where it is not UTF-8).
    pub workspace: String,
    /// Which agent.
    pub profile: Profile,
    /// Of zcoder.
    pub version: String,
    /// When it was begun.
    pub born: SystemTime,
    /// What it was forked from.
    pub origin: Option<Origin>,
}

/// Where a fork comes from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Origin {
    /// The other session.
    pub session: SessionId,
    /// The last record taken from it. Numbers stay the same in the fork.
    pub seq: u64,
}

/// What requests are made of, so that a session that is taken up again sends the same bytes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ModelRecord {
    /// As the server spells it.
    pub name: String,
    /// The server's address.
    pub host: String,
    /// In tokens.
    pub window: u64,
    /// How the model is told of tools.
    pub tool_style: ToolStyle,
    /// The tools on offer, in this order.
    pub tools: Vec<String>,
    /// As JSON text (`true`, `"low"`); `None`: not sent.
    pub think: Option<String>,
}

/// How the model is told of tools.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ToolStyle {
    /// In the request's `tools`.
    Native,
    /// In the system prompt.
    Text,
}

/// Who asked, and where.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Author {
    /// The user's number.
    pub uid: u32,
    /// The terminal; `None` where there is none.
    pub tty: Option<String>,
    /// Which front end took the request.
    pub front: FrontEnd,
}

/// Front ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FrontEnd {
    /// The full-screen one.
    Terminal,
    /// Plain lines.
    Lines,
    /// One prompt, one answer.
    OneShot,
    /// An editor, over ACP.
    Editor,
    /// A remote client.
    Remote,
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

/// A change of a file, to be found again: what it held is in the journal of `undo`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Edit {
    /// Relative to the workspace.
    pub path: String,
    /// Of the file before; `None`: there was none.
    pub before: Option<Hash>,
    /// Of the file after; `None`: it is removed.
    pub after: Option<Hash>,
    /// The right to execute after the edit, if the edit changes it.
    pub executable: Option<bool>,
}

impl From<&JournalRecord> for Edit {
    fn from(journal: &JournalRecord) -> Edit {
        Edit {
            path: journal.path.clone(),
            before: journal.before,
            after: journal.after,
            executable: journal.executable,
        }
    }
}
