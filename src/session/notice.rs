//! What a person is told when a session is opened: damage, what this version does not know, and where the last turn stopped.
//!
//! Invariant: nothing is repaired, left out or assumed without one of these.

use super::SessionId;
use super::error::CommitError;
use crate::json::FieldError;
use crate::protocol::{Doing, Halt, Level, TurnId};
use crate::sys::clock;
use crate::text;
use std::fmt;
use std::io::{self, ErrorKind};
use std::path::{Path, PathBuf};
use std::time::SystemTime;

/// One thing to be told.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Notice {
    /// A damaged stretch.
    Skipped {
        /// In which log.
        log: String,
        /// From this byte on.
        offset: u64,
        /// So many; 0: the records are not there.
        bytes: u64,
        /// Records that are lost with it.
        records: u64,
        /// It is the end of the session: `records` is a guess.
        at_end: bool,
    },
    /// `current` is missing or damaged.
    NoPointer,
    /// Records of kinds that this version does not know.
    Unknown {
        /// Each once.
        kinds: Vec<String>,
    },
    /// A record of a known kind with a content that this version does not know.
    Odd {
        /// Its number.
        seq: u64,
        /// What was odd.
        error: FieldError,
    },
    /// A call at the end has no result.
    Unanswered {
        /// The tool's name, as the model wrote it.
        name: String,
    },
}

impl Notice {
    /// How much it matters.
    pub fn level(&self) -> Level {
        match self {
            Notice::Skipped { .. } | Notice::NoPointer | Notice::Unanswered { .. } => {
                Level::Warning
            }
            Notice::Unknown { .. } | Notice::Odd { .. } => Level::Info,
        }
    }
}

impl fmt::Display for Notice {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Notice::Skipped {
                log,
                offset,
                bytes,
                records,
                at_end,
            } => {
                let at = format!("at byte {offset} of {log}");
                match (bytes, records, at_end) {
                    (_, _, true) => write!(
                        f,
                        "{bytes} bytes {at} cannot be read: the last records of the session are lost"
                    ),
                    (0, _, false) => write!(f, "{} missing {at}", count(*records)),
                    (_, 0, false) => write!(
                        f,
                        "{bytes} bytes {at} are no record and were passed over; no record of the session is lost"
                    ),
                    (_, _, false) => {
                        write!(
                            f,
                            "{bytes} bytes {at} cannot be read: {} lost",
                            count(*records)
                        )
                    }
                }
            }
            Notice::NoPointer => f.write_str(
                "the session's `current` is missing or damaged: what its logs hold was loaded, \
                 and the last records may not have been committed",
            ),
            Notice::Unknown { kinds } => {
                let kinds: Vec<_> = kinds.iter().map(|kind| text::visible(kind)).collect();
                let kinds = kinds.join("`, `");
                write!(
                    f,
                    "a newer zcoder wrote records that this one does not know (`{kinds}`); they are kept and passed over"
                )
            }
            Notice::Odd { seq, error } => {
                let error = error.to_string();
                write!(
                    f,
                    "record {seq} is kept and passed over: {}",
                    text::line(&error)
                )
            }
            Notice::Unanswered { name } => write!(
                f,
                "the result of {} was not on record when zcoder ended: its effects are unknown, and it is not run again",
                text::visible(name)
            ),
        }
    }
}

fn count(records: u64) -> String {
    match records {
        1 => "1 record is".to_string(),
        records => format!("{} records are", text::grouped(records)),
    }
}

/// A turn that was cut off.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Interrupted {
    /// Which.
    pub turn: TurnId,
    /// When: of one without a word, when the last thing was on record.
    pub at: SystemTime,
    /// By what; `None`: it ended without a word (a kill, a crash, a power cut).
    pub by: Option<Halt>,
    /// What it was about to do.
    pub doing: Doing,
}

/// Characters of a command.
const COMMAND_CHARS: usize = 100;

impl fmt::Display for Interrupted {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let at = clock::local_hh_mm(self.at);
        write!(f, "turn interrupted {at} {}", cut(self.by, &self.doing))
    }
}

/// `(hang-up) while reading the prompt`
pub fn cut(by: Option<Halt>, doing: &Doing) -> String {
    let word = match by {
        Some(Halt::Cancel) => "cancel",
        Some(Halt::HangUp) => "hang-up",
        Some(Halt::Terminate) => "terminated",
        Some(Halt::Quit) => "quit",
        None => "ended without a word",
    };
    let doing = match doing {
        Doing::Between => "between two steps".to_string(),
        Doing::Waiting => "while waiting for the model".to_string(),
        Doing::Loading => "while the model was being loaded".to_string(),
        Doing::Reading => "while reading the prompt".to_string(),
        Doing::Answering => "while the model was answering".to_string(),
        Doing::Unseen => "while the model was reading or answering".to_string(),
        Doing::Asking => "while waiting for your answer".to_string(),
        Doing::Running(names) if names.is_empty() => "after the model's answer".to_string(),
        Doing::Running(names) => {
            let names: Vec<_> = names.iter().map(|name| text::visible(name)).collect();
            format!("while running {}", names.join(", "))
        }
        Doing::Own(command) => {
            let command = text::visible(command).replace('\n', " ");
            let command = text::clip(&command, COMMAND_CHARS);
            let unknown = match by {
                Some(_) => "",
                None => ": its effects are unknown, and it is not run again",
            };
            format!("while running your own `{command}`{unknown}")
        }
    };
    format!("({word}) {doing}")
}

/// Why a session cannot be opened.
#[derive(Debug)]
pub enum OpenError {
    /// There is none of this id.
    None {
        /// As asked for.
        id: SessionId,
    },
    /// No record of it can be read.
    Hopeless {
        /// Its folder.
        folder: PathBuf,
    },
    /// It was opened and cannot be changed.
    Commit(CommitError),
    /// The disk refused.
    Io {
        /// What was tried.
        what: &'static str,
        /// On what.
        path: PathBuf,
        /// The system's words.
        error: io::Error,
    },
}

impl OpenError {
    pub(super) fn of(
        what: &'static str,
        path: &Path,
        id: &SessionId,
        error: io::Error,
    ) -> OpenError {
        match error.kind() {
            ErrorKind::NotFound | ErrorKind::NotADirectory => OpenError::None { id: id.clone() },
            _ => OpenError::Io {
                what,
                path: path.to_path_buf(),
                error,
            },
        }
    }
}

impl fmt::Display for OpenError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            OpenError::None { id } => write!(
                f,
                "no session `{}` in this workspace; `zcoder sessions list` shows those there are",
                text::visible(&id.0)
            ),
            OpenError::Hopeless { folder } => write!(
                f,
                "no record of the session in `{}` can be read; its files are left as they are",
                folder.display()
            ),
            OpenError::Commit(error) => write!(f, "{error}"),
            OpenError::Io { what, path, error } => {
                write!(f, "cannot {what} `{}`: {error}", path.display())
            }
        }
    }
}

impl std::error::Error for OpenError {}
