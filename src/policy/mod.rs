//! Who may do what. In: a command or an edit that is worked out and not done. Out: a [`Verdict`]: allowed, denied with a
//! text for the model, or a question for a person. The engine calls it between `Toolbox::prepare` and
//! `Toolbox::apply` or `start`; these two accept nothing but [`Approved`], and only this folder makes one.
//!
//! ```text
//! run_command {"command":"sh test.sh"}      commands=ask    → Ask(Asking): the exact text, its parts, the rule that could be kept
//!                                           a person's yes  → Asking::accept → Approved by Person
//!                                           allow_exact     → Approved by Rule("allow sh test.sh")
//!                                           --yes           → Approved by Flag("--yes")
//! run_command {"command":"ctest | tail -5"} a rule          → Approved by Rule("allow ctest (~/.config/zcoder/rules:2)")
//! run_command {"command":"sudo rm -rf /"}   sysadmin        → Denied: a hard stop, whatever was approved
//! write_file  {"path":"src/a.rs", …}        edits=auto      → Approved by Rule("edits=auto")
//! write_file  {"path":".git/config", …}     edits=auto      → Ask: a protected path
//! ```
//!
//! Commands: `ask`, `allow` or `deny`, and rules by their first words (`rules.rs`); edits: `allow`, `auto`, `ask` or `deny`. The
//! `sysadmin` profile asks for every command: no flag, rule or earlier yes stands for a new one. `stops.rs` lists what it refuses always;
//! in the `coding` profile the same commands are asked for even where everything else is allowed.
//!
//! Invariant: a value inside `Approved` is the one that was judged or shown; nothing can be changed between yes and use.
//! Invariant: what a question shows is the exact text with every invisible character spelled out (`text::visible`).
//! Invariant: a yes for the session is kept by the raw text and folder of what was asked, never by what was shown of it.
//! Invariant: a verdict opens no file: `place.rs` looks at names and links, and only `kept.rs` and `trust.rs` read and write, each a few
//! files of our own, for whoever calls them.
//!
//! Read next: `approved.rs` (the ticket), `decide.rs` (the decision), `shell/` (how a command is read), `judge.rs` (part by part),
//! `rules.rs`, `builtin.rs` (what needs no rule), `stops.rs` (what is never run), `trust.rs` (what a folder may bring along).

mod approved;
mod builtin;
mod carried;
mod checks;
mod decide;
mod judge;
mod kept;
mod notes;
mod offer;
mod place;
mod private;
mod programs;
pub mod rules;
pub mod shell;
mod stops;
mod trail;
pub mod trust;

pub use approved::{Approved, Asking};
pub use checks::{Check, read as checks_of};
pub use decide::{CommandMode, EditMode, Policy, Profile, Verdict};
pub use judge::{Judgement, Part, Ruling};
pub use kept::{Entry, Kept};

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
