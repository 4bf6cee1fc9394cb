//! The tools: what a model can do to the workspace. In: a [`ToolCall`](crate::protocol::ToolCall), checked by [`check`] into a
//! closed [`Call`]. Out: a [`ToolOutcome`]: text for the model, facts for front ends. The engine drives them; tools never
//! print, ask or call the model.
//!
//! ```text
//! ToolCall ─ check ─ Call ─ Toolbox::prepare ─┬─ Outcome                       it only looked, or was refused
//!                                             ├─ Look ─ run ─ ToolOutcome       it only looks, on a thread that may take its time
//!                                             ├─ Edit ─── policy ─ Approved<Edit> ──── Toolbox::apply ─ ToolOutcome
//!                                             ├─ Command ─ policy ─ Approved<Command> ─ Toolbox::start ─ Running::wait ─ ToolOutcome
//!                                             └─ Finish                        the end of the task
//! ```
//!
//! The wrong order does not type-check. A command that nobody approved cannot be started:
//!
//! ```compile_fail,E0308
//! fn skip(toolbox: &mut zcoder::tools::Toolbox, command: zcoder::policy::Command) {
//!     let _ = toolbox.start(command);
//! }
//! ```
//!
//! nor an edit be made:
//!
//! ```compile_fail,E0308
//! fn skip(toolbox: &mut zcoder::tools::Toolbox, edit: zcoder::tools::Edit) {
//!     let _ = toolbox.apply(edit, &mut |_| Ok(()));
//! }
//! ```
//!
//! Failures are data, written for the model: what happened, on what, and the next useful step as the last sentence. Foreign
//! text in them (names, paths) is made visible and clipped.
//!
//! Invariant: every path comes from [`Workspace::resolve`], every write goes through `edit`.
//! Invariant: `prepare` changes nothing on disk.
//!
//! Read next: `table.rs` (the tools), `args.rs` (the check), `workspace.rs` (paths), `edit.rs` (the splicer), then one file a tool.

mod args;
mod capture;
mod commit;
mod content;
mod edit;
mod globs;
mod hint;
mod list;
mod matching;
mod misfit;
mod nearest;
mod outline;
mod outputs;
mod patch;
mod problems;
mod protected;
mod range;
mod read;
mod replace;
mod run;
mod search;
mod seen;
mod stub;
mod table;
mod unified;
mod walk;
mod workspace;
mod write;

use std::io;
use std::path::PathBuf;
use std::time::Duration;

use crate::policy::{Approved, Command};
use crate::protocol::{Facts, JournalRecord, ToolOutcome, ToolStatus};
use crate::sys::Cancel;
use crate::text;

pub use args::{Checked, check};
pub use edit::Edit;
pub use list::Listing;
pub use run::Running;
pub use search::Search;
pub use search::scan::{End, Line, Scan};
pub use table::{Set, describe, names, schemas};
pub use workspace::{Purpose, Refusal, Workspace, WsPath};

use outputs::Outputs;
pub use seen::Seen;

/// Longest time a model may ask for.
const MAX_TIMEOUT_SECONDS: u64 = 24 * 60 * 60;

/// Bounds that depend on settings.
#[derive(Clone, Debug)]
pub struct Limits {
    /// Whole-file reads above this are refused: min(64 KiB, a quarter of the window in bytes).
    pub read_bytes: u64,
    /// Command output kept in the result.
    pub output_bytes: usize,
    /// Default command limit.
    pub command_timeout: Duration,
    /// Words put before every command.
    pub command_wrapper: Vec<String>,
}

/// A checked call, closed.
#[derive(Clone, Debug, PartialEq)]
pub enum Call {
    /// `list_files`
    ListFiles {
        /// A folder; none: the workspace.
        path: Option<String>,
        /// Levels.
        depth: Option<u64>,
        /// Entries shown at most.
        max_entries: Option<u64>,
        /// Names that begin with a dot too.
        hidden: bool,
    },
    /// `read_file`
    ReadFile {
        /// A file, or `output:N`.
        path: String,
        /// From 1.
        start_line: Option<u64>,
        /// Included.
        end_line: Option<u64>,
    },
    /// `search_text`
    SearchText {
        /// A regular expression.
        pattern: String,
        /// A folder, a file, a path with wildcards, `output:N`; none: the workspace.
        path: Option<String>,
        /// The pattern is plain text.
        literal: bool,
        /// Names that begin with a dot too.
        hidden: bool,
        /// Lines shown at most.
        max_results: Option<u64>,
    },
    /// `write_file`
    WriteFile {
        /// A file, new or read before.
        path: String,
        /// All of it.
        content: String,
    },
    /// `replace_text`
    ReplaceText {
        /// A file.
        path: String,
        /// What stands there, once.
        old_text: String,
        /// What shall.
        new_text: String,
    },
    /// `apply_patch`
    ApplyPatch {
        /// A unified diff or the envelope form.
        patch: String,
        /// The file of hunks that stand under no name.
        path: Option<String>,
    },
    /// `run_command`
    RunCommand {
        /// For `sh -c`.
        command: String,
        /// A folder; none: the workspace.
        cwd: Option<String>,
        /// None: the setting.
        timeout_seconds: Option<u64>,
    },
    /// `finish_task`
    FinishTask {
        /// How it ends.
        status: Finish,
        /// For the user.
        response: String,
    },
}

/// How the model ends its task.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Finish {
    /// Reached.
    Done,
    /// Something only the user can change is in the way.
    Blocked,
    /// Not reached.
    Failed,
}

/// It only looks, but may take its time, so it belongs on a worker thread.
#[derive(Debug)]
pub enum Look {
    /// `list_files`
    List(Box<Listing>),
    /// `search_text`
    Search(Box<Search>),
}

impl Look {
    /// Runs it: to its end, or until `cancel` is turned.
    pub fn run(self, cancel: &Cancel) -> ToolOutcome {
        match self {
            Look::List(listing) => listing.run(cancel),
            Look::Search(search) => search.run(cancel),
        }
    }
}

/// Takes the record of an edit and the file before it, and has both safe when it returns. The record costs a pass over the file: who
/// keeps none does not ask for it.
pub type Journal<'a> = dyn FnMut(&dyn Fn() -> JournalRecord, &[u8]) -> io::Result<()> + 'a;

/// What a call needs next.
#[derive(Debug)]
pub enum Prepared {
    /// It only looked: here is the outcome. Also every refusal.
    Outcome(ToolOutcome),
    /// A listing or a search, not yet run.
    Look(Look),
    /// An edit, worked out but not made.
    Edit(Edit),
    /// A command, not yet run.
    Command(Command),
    /// The end of the task.
    Finish {
        /// How it ends.
        status: Finish,
        /// For the user.
        response: String,
    },
}

/// The workspace and what the tools remember of it (files read, kept outputs).
#[derive(Debug)]
pub struct Toolbox {
    workspace: Workspace,
    limits: Limits,
    outputs: Outputs,
    seen: Seen,
    changed: Vec<String>,
    ignore_rules: Option<PathBuf>,
}

impl Toolbox {
    /// `outputs`: folder for kept command outputs (made when first needed, 0700); removed on drop when `ephemeral`.
    pub fn new(workspace: Workspace, limits: Limits, outputs: PathBuf, ephemeral: bool) -> Toolbox {
        Toolbox {
            workspace,
            limits,
            outputs: Outputs::new(outputs, ephemeral),
            seen: Seen::default(),
            changed: Vec::new(),
            ignore_rules: None,
        }
    }

    /// The same with the user's own file of ignore rules (git's `core.excludesFile`), for listing and searching.
    pub fn with_ignore_rules(self, ignore_rules: Option<PathBuf>) -> Toolbox {
        Toolbox {
            ignore_rules,
            ..self
        }
    }

    /// The workspace.
    pub fn workspace(&self) -> &Workspace {
        &self.workspace
    }

    /// From now on it remembers these files; returns what it remembered so far. So somebody else can read in between, and what the model has
    /// seen stays what the model has seen.
    pub fn remember(&mut self, seen: Seen) -> Seen {
        std::mem::replace(&mut self.seen, seen)
    }

    /// The window became known.
    pub fn set_read_limit(&mut self, bytes: u64) {
        self.limits.read_bytes = bytes;
    }

    /// Works out a call; reading a file is done here.
    pub fn prepare(&mut self, call: Call) -> Prepared {
        self.work_out(call).unwrap_or_else(Prepared::Outcome)
    }

    fn work_out(&mut self, call: Call) -> Result<Prepared, ToolOutcome> {
        Ok(match call {
            Call::ListFiles {
                path,
                depth,
                max_entries,
                hidden,
            } => {
                let listing = Listing::new(self, path, depth, max_entries, hidden)?;
                Prepared::Look(Look::List(Box::new(listing)))
            }
            Call::ReadFile {
                path,
                start_line,
                end_line,
            } => Prepared::Outcome(read::read(self, &path, start_line, end_line)?),
            Call::SearchText {
                pattern,
                path,
                literal,
                hidden,
                max_results,
            } => {
                let search = Search::new(self, pattern, path, literal, hidden, max_results)?;
                Prepared::Look(Look::Search(Box::new(search)))
            }
            Call::WriteFile { path, content } => {
                Prepared::Edit(write::write(&self.workspace, &self.seen, &path, &content)?)
            }
            Call::ReplaceText {
                path,
                old_text,
                new_text,
            } => {
                let edit = replace::replace(&self.workspace, &path, &old_text, &new_text)?;
                Prepared::Edit(edit)
            }
            Call::ApplyPatch { patch, path } => {
                let (workspace, seen) = (&self.workspace, &mut self.seen);
                Prepared::Edit(patch::patch(workspace, seen, &patch, path.as_deref())?)
            }
            Call::RunCommand {
                command,
                cwd,
                timeout_seconds,
            } => Prepared::Command(self.command(command, cwd.as_deref(), timeout_seconds)?),
            Call::FinishTask { status, response } => Prepared::Finish { status, response },
        })
    }

    /// Makes an approved edit: journal first, then the file.
    pub fn apply(&mut self, edit: Approved<Edit>, journal: &mut Journal<'_>) -> ToolOutcome {
        let edit = edit.into_value();
        let paths: Vec<String> = edit.paths().into_iter().map(String::from).collect();
        let outcome = commit::make(edit, &mut self.seen, journal);
        if outcome.status == ToolStatus::Ok {
            for path in paths {
                if !self.changed.contains(&path) {
                    self.changed.push(path);
                }
            }
        }
        outcome
    }

    /// The turn is over: what a refused patch withheld is on offer again.
    pub fn turn_ended(&mut self) {
        self.seen.release_all();
    }

    /// Prepares the run of an approved command: everything needed on a worker thread.
    pub fn start(&mut self, command: Approved<Command>) -> Running {
        Running::new(command, &mut self.outputs, self.limits.output_bytes)
    }

    /// Files that the model changed in this session (for approval texts), relative to the workspace, in order of first change.
    pub fn changed(&self) -> &[String] {
        &self.changed
    }

    fn command(
        &self,
        text: String,
        cwd: Option<&str>,
        timeout_seconds: Option<u64>,
    ) -> Result<Command, Refusal> {
        if text.trim().is_empty() {
            return Err(Refusal(
                "the command is empty. Give the text that the shell shall run, such as ls -l."
                    .to_string(),
            ));
        }
        let timeout = match timeout_seconds {
            None => self.limits.command_timeout,
            Some(seconds @ 1..=MAX_TIMEOUT_SECONDS) => Duration::from_secs(seconds),
            Some(seconds) => {
                return Err(Refusal(format!(
                    "timeout_seconds must be from 1 to {}, found {seconds}. Leave it out for {} seconds.",
                    text::grouped(MAX_TIMEOUT_SECONDS),
                    self.limits.command_timeout.as_secs()
                )));
            }
        };
        let cwd = self
            .workspace
            .resolve(cwd.unwrap_or("."), Purpose::Folder)?;
        Ok(Command {
            text,
            cwd: cwd.full().to_path_buf(),
            shown_cwd: cwd.shown().to_string(),
            timeout,
            wrapper: self.limits.command_wrapper.clone(),
            workspace: self.workspace.root().to_path_buf(),
            changed: self.changed.clone(),
        })
    }
}

impl From<Refusal> for ToolOutcome {
    fn from(Refusal(text): Refusal) -> ToolOutcome {
        failed(text)
    }
}

/// A call that did what it should.
fn done(text: String, facts: Facts) -> ToolOutcome {
    ToolOutcome {
        status: ToolStatus::Ok,
        text,
        facts,
    }
}

/// A call that did not; the text ends in the next useful step.
fn failed(text: String) -> ToolOutcome {
    ToolOutcome {
        status: ToolStatus::Failed,
        text,
        facts: Facts::None,
    }
}

/// A call that was stopped.
fn cancelled(text: &str) -> ToolOutcome {
    ToolOutcome {
        status: ToolStatus::Cancelled,
        text: text.to_string(),
        facts: Facts::None,
    }
}

/// Foreign text within a sentence: nothing invisible, no line ends.
fn shown(text: &str) -> String {
    text::visible(text).replace('\n', "\\n")
}
