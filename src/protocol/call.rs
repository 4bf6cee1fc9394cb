//! Tool calls and what came of them: the model writes a `ToolCall`, the tools answer with a `ToolOutcome`, whose text goes back to
//! the model and whose facts go to front ends and the receipt.
//!
//! ```text
//! {"id":"call_a","function":{"name":"read_file","arguments":{"path":"a.rs"}}}     ToolCall
//! ToolOutcome { status: Ok, text: "fn main() …", facts: Read { path: "a.rs", bytes: 812 } }
//! ```
//!
//! Invariant: every call of an accepted reply gets exactly one outcome, also when it was refused, failed or cancelled.
use super::{CallId, FileChange};
use crate::json::Tree;
use std::time::Duration;

/// A call as the model made it (name and arguments unchecked).
#[derive(Clone, Debug, PartialEq)]
pub struct ToolCall {
    /// As on the wire, or made up where the server gave none.
    pub id: CallId,
    /// As the model wrote it; may be empty, unknown or an alias.
    pub name: String,
    /// Meant to be an object; anything else is the tools' to refuse.
    pub arguments: Tree,
}

/// How a call ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ToolStatus {
    /// The tool did what was asked.
    Ok,
    /// It could not be done, and the text says what to do next; or the command did not exit with 0.
    Failed,
    /// A person, a rule or a flag said no.
    Denied,
    /// The turn ended before or while it ran.
    Cancelled,
}

/// What a call came to: text for the model, facts for front ends.
#[derive(Clone, Debug, PartialEq)]
pub struct ToolOutcome {
    /// How it ended.
    pub status: ToolStatus,
    /// What the model reads; bounded by the tool.
    pub text: String,
    /// What front ends and the receipt need to know.
    pub facts: Facts,
}

/// Structured facts.
#[derive(Clone, Debug, PartialEq)]
pub enum Facts {
    /// Nothing beyond the text.
    None,
    /// Files or folders read.
    Read {
        /// Relative to the workspace.
        path: String,
        /// Bytes taken from it.
        bytes: u64,
    },
    /// Files changed: one, or those of a patch.
    Edited {
        /// In the order of the diff; a renamed file is two, one created and one deleted.
        files: Vec<FileChange>,
        /// Unified diff text.
        diff: String,
    },
    /// A command ran.
    Ran {
        /// As approved.
        command: String,
        /// Exit code; `None` when a signal, the deadline or a cancel ended it.
        exit: Option<i32>,
        /// From start to the shell's end.
        elapsed: Duration,
        /// Number under which the full output can be read (`output:N`), when it was kept.
        output: Option<u64>,
        /// A child of the command still runs.
        child_left: bool,
        /// Lines of output in all.
        lines: u64,
    },
}
