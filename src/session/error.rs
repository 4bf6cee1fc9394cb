//! Why a commit did not happen, or a session could not be opened. What is unsaved stays in the log each time, so it can be committed
//! again or kept as a fork; the texts say which of the two makes sense.

use super::Pointer;
use std::fmt;
use std::io;
use std::path::PathBuf;

/// Why nothing was committed.
#[derive(Debug)]
pub enum CommitError {
    /// Another process holds the session's lock.
    Busy {
        /// Of the lock.
        path: PathBuf,
    },
    /// As [`CommitError::Busy`], where the file system has no locks: a file says who works there.
    Owned {
        /// Of that file.
        path: PathBuf,
        /// What it says.
        owner: String,
    },
    /// The session on the disk is not the one that was loaded.
    Conflict(Conflict),
    /// A record is too long to be read back.
    TooLong {
        /// Its number.
        seq: u64,
        /// Of its line.
        bytes: usize,
    },
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

/// How the session on the disk differs from ours.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Conflict {
    /// Its folder, or what must be in it, is no longer there.
    Gone {
        /// What is missing.
        path: PathBuf,
    },
    /// Somebody committed to it, or put another state of it in its place.
    Moved {
        /// Its pointer now; `None`: not readable.
        found: Option<Pointer>,
        /// The one that we loaded or wrote last.
        ours: Pointer,
    },
    /// A file of it is another one, or shorter than what was committed.
    Replaced {
        /// Which.
        path: PathBuf,
    },
}

impl fmt::Display for CommitError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            CommitError::Busy { path } => write!(
                f,
                "the session is busy: another zcoder holds `{}`; nothing was saved and nothing is lost: try again, or fork the session",
                path.display()
            ),
            CommitError::Owned { path, owner } => write!(
                f,
                "the session is busy: `{}` says that {owner} works on it; nothing was saved and nothing is lost: try again, fork the \
                 session, or remove that file if it is wrong",
                path.display()
            ),
            CommitError::Conflict(conflict) => write!(f, "{conflict}; nothing was written there"),
            CommitError::TooLong { seq, bytes } => write!(
                f,
                "record {seq} has {bytes} bytes, more than the {} that can be read back; nothing was saved: start a new session",
                super::line::MAX_LINE_BYTES
            ),
            CommitError::Io { what, path, error } => write!(
                f,
                "cannot {what} `{}`: {error}; what was saved before is safe: mend that and try again",
                path.display()
            ),
        }
    }
}

impl fmt::Display for Conflict {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Conflict::Gone { path } => write!(f, "`{}` is gone", path.display()),
            Conflict::Moved { found, ours } => {
                f.write_str("another zcoder went on with this session, or another state of it was put back (")?;
                match found {
                    Some(found) => write!(f, "its generation is {}", found.generation)?,
                    None => f.write_str("its pointer cannot be read")?,
                }
                write!(f, ", ours was {})", ours.generation)
            }
            Conflict::Replaced { path } => write!(
                f,
                "`{}` is not the file that this session wrote",
                path.display()
            ),
        }
    }
}

impl std::error::Error for CommitError {}
