//! The conversation as the model sees it. The engine appends `Message`s to the log and to the request; the model layer writes each
//! of them to the wire.
//!
//! ```text
//! System     {"role":"system","content":"You are zcoder …"}
//! Note       {"role":"user","content":"[note from zcoder, not from the user] Today is …"}
//! User       {"role":"user","content":"run the test"}
//! Assistant  {"role":"assistant","content":"","tool_calls":[{"id":"call_a","function":{…}}]}
//! Tool       {"role":"tool","tool_name":"run_command","tool_call_id":"call_a","content":"exit status 0 …"}
//! ```
//!
//! Invariant: one system message, first. Invariant: all calls of one answer stand in one assistant message and are followed by one
//! tool message each, in the order of the calls, with nothing between (templates match results by position). Invariant: what the model
//! said, which may be megabytes, is there once: reply, message and receipt share the string that it was assembled in (an `Arc<str>`
//! would have to copy it).
use super::{CallId, ToolCall};
use std::sync::Arc;
use std::time::Duration;

/// One message.
#[derive(Clone, Debug, PartialEq)]
pub enum Message {
    /// First and only one.
    System {
        /// No clock, no date, nothing that changes.
        text: String,
    },
    /// What the person said.
    User {
        /// As typed, with what was attached.
        text: String,
    },
    /// Labelled user-role context that the person did not say (never in the ledger of what the user said).
    Note {
        /// Its kind.
        note: Note,
        /// Label included: it goes to the wire as it stands.
        text: String,
    },
    /// A complete reply.
    Assistant {
        /// What it said; never holds thinking.
        content: Arc<String>,
        /// What it thought; sent back while the turn runs.
        thinking: Arc<String>,
        /// What it asked for, in order.
        calls: Vec<ToolCall>,
    },
    /// The one result of a call.
    Tool {
        /// Which call.
        call: CallId,
        /// The tool's name as the model wrote it.
        name: String,
        /// What the model reads.
        text: String,
    },
}

/// Kinds of labelled context.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Note {
    /// Date, working folder and the like, once a session.
    Environment,
    /// A reply could not be used; what was wrong and what is wanted.
    Recovery,
    /// The same call with the same result again and again.
    Loop,
    /// The user cancelled; what was left undone.
    Cancelled,
    /// Instructions of a Skill that the user named, or guidance of a folder.
    Guidance,
    /// The user took changes of files back, or made them again.
    Stepped,
    /// What stands for messages that are no longer shown to the model.
    Checkpoint,
    /// The user ran a command; its result.
    Shell,
    /// The goal that the turn is for, or what its verifier missed.
    Goal,
}

/// Why a reply ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum StopReason {
    /// The model was done.
    Stop,
    /// The output limit or the window ended it: the reply is cut.
    Length,
    /// A reason we do not know; counts as `Stop`.
    Other(String),
}

/// Counters of one reply; `None` where the server did not say.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Usage {
    /// Tokens of the whole prompt, cached ones included.
    pub prompt_tokens: Option<u64>,
    /// Tokens generated, thinking included.
    pub output_tokens: Option<u64>,
    /// Loading the model.
    pub load: Option<Duration>,
    /// Reading what was new in the prompt.
    pub prompt_time: Option<Duration>,
    /// Generating.
    pub output_time: Option<Duration>,
}
