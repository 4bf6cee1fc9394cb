//! Files of guidance as text, made harmless in one place. In: a file that `policy::trust` read. Out: its text, or why it is not used. All other files of this folder go through here.
//!
//! ```text
//! ef bb bf 23 20 61 0d 0a          "# a\n"           byte order mark dropped, \r\n to \n
//! 63 61 66 e9 0a                   "caf\u{fffd}\n"   remark: is not UTF-8; odd bytes were replaced
//! 61 1b 5b 33 31 6d 62             "ab"              remark: holds control characters; they are left out
//! a link to /etc/passwd            not used: a link that leads out of /home/me/.config/zcoder
//! ```
//!
//! Read are regular files of at most [`MAX_FILE`] bytes, by links too as long as these stay inside; the rest is refused with a sentence
//! (`policy/trust.rs`). What a person sees of a file is therefore what the model gets: nothing in it is invisible to one of them.
//!
//! Invariant: of a workspace, only what is trusted becomes text.

use crate::policy::trust::{Found, State, Trust};
use crate::text;
use std::fmt;
use std::path::{Path, PathBuf};

/// A file of guidance.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Source {
    /// For people and the model: `AGENTS.md`, `../AGENTS.md`, `~/.config/zcoder/AGENTS.md`.
    pub name: String,
    /// Its size on the disk; 0 where that is not known.
    pub bytes: u64,
    /// Its text, or why it is not used.
    pub text: Result<String, Unused>,
    /// What was odd about it.
    pub remarks: Vec<&'static str>,
}

/// Why a file is not used.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Unused {
    /// Nobody has trusted it.
    New,
    /// Other content of it is trusted.
    Changed,
    /// It cannot be read, or not be understood.
    Broken(String),
}

impl fmt::Display for Unused {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Unused::New => f.write_str("not trusted; `zcoder trust` shows and accepts it"),
            Unused::Changed => {
                f.write_str("changed since it was trusted; `zcoder trust` shows and accepts it")
            }
            Unused::Broken(why) => f.write_str(why),
        }
    }
}

impl Source {
    /// A file that was read. `trust`: of the workspace that it belongs to; `None`: it is the user's own.
    pub(super) fn new(name: String, found: &Found, trust: Option<&Option<Trust>>) -> Source {
        let (bytes, text) = match &found.content {
            Ok(content) => (content.bytes.len() as u64, Ok(&content.bytes)),
            Err(error) => (0, Err(Unused::Broken(error.clone()))),
        };
        let state = match trust {
            None => State::Trusted,
            // What is trusted could not be read, so nothing is.
            Some(None) => State::New,
            Some(Some(trust)) => trust.state(found),
        };
        let text = match state {
            State::Trusted | State::Unusable => text,
            State::New => Err(Unused::New),
            State::Changed => Err(Unused::Changed),
        };
        let mut remarks = Vec::new();
        let text = text.map(|bytes| harmless(bytes, &mut remarks));
        Source {
            name,
            bytes,
            text,
            remarks,
        }
    }
}

/// Bytes of a file as text that neither hides nor does anything.
fn harmless(bytes: &[u8], remarks: &mut Vec<&'static str>) -> String {
    let bytes = bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(bytes);
    let repaired = text::repair(bytes);
    if std::str::from_utf8(bytes).is_err() {
        remarks.push("is not UTF-8; odd bytes were replaced");
    }
    let lines = repaired.replace("\r\n", "\n");
    let plain = text::plain(&lines);
    if *plain != *lines {
        remarks.push("holds control characters; they are left out, or shown where they change the order of others");
    }
    plain.into_owned()
}

/// A path for people and the model: `~` for the home folder, on one line, nothing invisible.
pub(super) fn shown(path: &Path, home: Option<&PathBuf>) -> String {
    let below = home.and_then(|home| path.strip_prefix(home).ok());
    let path = match below {
        Some(below) => format!("~/{}", below.display()),
        None => path.display().to_string(),
    };
    text::one_line(&path)
}

/// The longest beginning of at most `limit` bytes that ends with a line; where a single line is longer, a part of it.
pub(super) fn cut_at_line(text: &str, limit: usize) -> &str {
    if text.len() <= limit {
        return text;
    }
    let mut end = limit;
    while !text.is_char_boundary(end) {
        end -= 1;
    }
    let end = text[..end].rfind('\n').map_or(end, |line_end| line_end + 1);
    &text[..end]
}

/// Says what a cut left out.
pub(super) fn cut_mark(left_out: usize) -> String {
    format!(
        "[cut here by zcoder: {} left out]\n",
        text::counted(left_out as u64, "byte")
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_cut_is_at_a_line_where_there_is_one() {
        for (text, limit, expected) in [
            ("a\nb\n", 4, "a\nb\n"),
            ("a\nb\n", 3, "a\n"),
            ("a\nb\n", 2, "a\n"),
            ("a\nb\n", 1, "a"),
            ("éé", 3, "é"),
            ("a", 0, ""),
        ] {
            assert_eq!(cut_at_line(text, limit), expected, "{text:?} {limit}");
        }
    }
}
