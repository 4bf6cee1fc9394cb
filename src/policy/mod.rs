//! Who may do what. In: a command or an edit that is worked out and not done. Out: a [`Verdict`]: allowed, denied with a
//! text for the model, or a question for a person. The engine calls it between `Toolbox::prepare` and
//! `Toolbox::apply` or `start`; these two accept nothing but [`Approved`], and only this folder makes one.
//!
//! ```text
//! run_command {"command":"sh test.sh"}      commands=ask    → Ask(Asking): the exact text is shown
//!                                           a person's yes  → Asking::accept → Approved by Person
//!                                           allow_exact     → Approved by Rule("allow sh test.sh")
//!                                           --yes           → Approved by Flag("--yes")
//! run_command {"command":"sudo rm -rf /"}   sysadmin        → Denied: a hard stop, whatever was approved
//! write_file  {"path":"src/a.rs", …}        edits=auto      → Approved by Rule("edits=auto")
//! write_file  {"path":".git/config", …}     edits=auto      → Ask: a protected path
//! ```
//!
//! Commands: `ask`, `allow` or `deny`; edits: `auto`, `ask` or `deny`. The `sysadmin` profile asks for every command: no flag,
//! rule or earlier yes stands for a new one. `stops.rs` lists what it refuses always; in the `coding` profile the same
//! commands are asked for even where everything else is allowed.
//!
//! Invariant: a value inside `Approved` is the one that was judged or shown; nothing can be changed between yes and use.
//! Invariant: what a question shows is the exact text with every invisible character spelled out (`text::visible`).
//! Invariant: a yes for the session is kept by the raw text and folder of what was asked, never by what was shown of it.
//! Invariant: nothing here reads files or the environment.
//!
//! Not here yet: rules of word prefixes and the splitter that reads a command as the shell does. Until then a command is
//! one text, allowed whole or asked for.
//!
//! Read next: `approved.rs` (the ticket), `decide.rs` (the decision), `notes.rs` (what a question says besides the
//! command), `stops.rs` (what is never run).

mod approved;
mod decide;
mod notes;
mod stops;
mod words;

pub use approved::{Approved, Asking};
pub use decide::{CommandMode, EditMode, Policy, Profile, Verdict};

use std::path::PathBuf;
use std::time::Duration;

/// A command as it would run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Command {
    /// What `sh -c` gets, byte for byte.
    pub text: String,
    /// Where it runs: absolute, no links.
    pub cwd: PathBuf,
    /// The same for people: relative to the workspace, `.` for its root.
    pub shown_cwd: String,
    /// When the whole process group is ended.
    pub timeout: Duration,
    /// Words put before `sh -c …` (`command_wrapper`), shown in every question.
    pub wrapper: Vec<String>,
    /// The workspace root, absolute, no links: what lies elsewhere is noted in a question.
    pub workspace: PathBuf,
    /// Files that the model changed in this session, relative to the workspace: noted when the command may run them.
    pub changed: Vec<String>,
}
