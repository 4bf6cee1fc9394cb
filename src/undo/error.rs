//! Why a step back or forth, or a review, is not made. Nothing was changed then, unless [`Error::Stopped`] says otherwise.

use super::plan::{Conflict, MAX_PLAN_BYTES};
use std::fmt;
use std::io;
use std::path::PathBuf;

/// What stands in the way.
#[derive(Debug)]
pub enum Error {
    /// This workspace has no journal of this session, or of any.
    NoSession {
        /// The workspace.
        workspace: PathBuf,
        /// As asked for; `None`: the newest.
        id: Option<String>,
        /// The newest ones that there are.
        known: Vec<String>,
    },
    /// All is taken back already.
    NothingDone {
        /// The session.
        id: String,
    },
    /// Nothing was taken back, or something new was done since.
    NothingUndone {
        /// The session.
        id: String,
    },
    /// A turn that did not edit, is taken back already, or is no longer kept.
    NoTurn {
        /// As asked for.
        turn: u64,
        /// Those that could be.
        known: Vec<u64>,
    },
    /// The journal of this entry is not what was written.
    Damaged {
        /// `turn 3 (make the test pass)`
        what: String,
        /// Of its file.
        offset: usize,
    },
    /// Files are not as they were left.
    Conflicts(Vec<Conflict>),
    /// The files of one step are too large together.
    TooMuch,
    /// Another process writes to the session.
    Busy,
    /// The session went on since the plan was shown.
    WentOn,
    /// The session did not edit this file, or it is as it was.
    NoFile {
        /// As asked for.
        path: String,
        /// Those that differ.
        known: Vec<String>,
    },
    /// The file has not so many hunks.
    NoHunk {
        /// The file.
        path: String,
        /// As asked for.
        hunk: usize,
        /// How many there are.
        hunks: usize,
    },
    /// What the file held at the start of the session cannot be told.
    NotKept {
        /// The file.
        path: String,
    },
    /// A file could not be changed; those before it were put back.
    Stopped {
        /// The file.
        path: PathBuf,
        /// The system's words.
        source: io::Error,
        /// Files that could not be put back.
        left: Vec<PathBuf>,
    },
    /// The journal cannot be read or written.
    Io {
        /// What was tried.
        what: &'static str,
        /// On what.
        path: PathBuf,
        /// The system's words.
        source: io::Error,
    },
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Error::NoSession {
                workspace,
                id: None,
                known: _,
            } => write!(
                f,
                "no session has edited files in {}; nothing to take back (name the folder of the session with --workspace)",
                workspace.display()
            ),
            Error::NoSession {
                workspace,
                id: Some(id),
                known,
            } => {
                let workspace = workspace.display();
                write!(f, "no session `{id}` has edited files in {workspace}; ")?;
                others(f, known, "none has", "the newest are")
            }
            Error::NothingDone { id } => {
                write!(f, "nothing is left to take back in session {id}")
            }
            Error::NothingUndone { id } => write!(
                f,
                "nothing can be made again in session {id}: nothing was taken back, or something new was done since"
            ),
            Error::NoTurn { turn, known } => {
                write!(f, "turn {turn} has nothing to take back; ")?;
                let known: Vec<String> = known.iter().map(u64::to_string).collect();
                others(f, &known, "no turn has", "these have:")
            }
            Error::Damaged { what, offset } => write!(
                f,
                "the journal of {what} is damaged at byte {offset}, so it cannot be taken back as a whole; \
                 `zcoder diff` shows what is left of it"
            ),
            Error::Conflicts(conflicts) => {
                f.write_str("nothing was changed:")?;
                for conflict in conflicts {
                    write!(f, "\n  {}", conflict.text)?;
                }
                match conflicts.iter().all(|conflict| conflict.forcible) {
                    true => f.write_str(
                        "\n--force goes over these changes and keeps a copy of each file",
                    ),
                    false => Ok(()),
                }
            }
            Error::TooMuch => write!(
                f,
                "its files have more than {} MiB together, too much for one step; take them back one by one with \
                 `zcoder diff --revert FILE`",
                MAX_PLAN_BYTES >> 20
            ),
            Error::Busy => f.write_str(
                "the session is at work in another zcoder; try again when its turn has ended",
            ),
            Error::WentOn => {
                f.write_str("the session went on meanwhile, so nothing was changed; look again")
            }
            Error::NoFile { path, known } => {
                write!(f, "`{path}` is as it was when the session began; ")?;
                others(f, known, "so is every other file", "these differ:")
            }
            Error::NoHunk { path, hunk, hunks } => {
                write!(f, "`{path}` has no hunk {hunk}; it has {hunks}")
            }
            Error::NotKept { path } => write!(
                f,
                "`{path}` was changed since, not by this session, and only parts of what it held before are kept"
            ),
            Error::Stopped { path, source, left } => {
                write!(f, "`{}` could not be changed: {source}; ", path.display())?;
                if left.is_empty() {
                    return f.write_str("all other files were put back as they were");
                }
                let left: Vec<String> = left.iter().map(|p| format!("`{}`", p.display())).collect();
                write!(
                    f,
                    "these could not be put back: {}; the next undo tries again",
                    left.join(", ")
                )
            }
            Error::Io { what, path, source } => {
                write!(f, "cannot {what} {}: {source}", path.display())
            }
        }
    }
}

/// What there is instead.
fn others(f: &mut fmt::Formatter<'_>, known: &[String], none: &str, some: &str) -> fmt::Result {
    match known {
        [] => f.write_str(none),
        known => write!(f, "{some} {}", known.join(", ")),
    }
}

impl std::error::Error for Error {}
