//! What a walk could not read or understand, in sentences. In: the [`Problem`]s of `ignore`, and files that could not be opened. Out: at most
//! two sentences, for the end of a result. `list` and `search` say them.
//!
//! ```text
//! Could not be read: `a/b` (Permission denied (os error 13)), `c` (…), `d` (…) and 17 more.
//! Without effect among the ignore rules: line 3 of `.gitignore` (`[` has no `]`).
//! ```
//!
//! Limits: three of each kind are named, the others counted.

use std::ffi::OsStr;
use std::io;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;

use crate::ignore::{MAX_RULES_BYTES, Problem};
use crate::text::{self, grouped};

use super::shown;

/// Places that are named.
const NAMED: usize = 3;
/// Of a path: a folder may lie ten thousand levels deep.
const PATH_CHARS: usize = 200;

/// `more`: problems that nobody kept. Paths are shown from `root` where they lie below it; those of `files` are ready to be shown.
pub(super) fn said(
    problems: &[Problem],
    more: u64,
    root: &Path,
    files: Vec<(String, &io::Error)>,
) -> Vec<String> {
    let name = |full: &[u8]| {
        let full = Path::new(OsStr::from_bytes(full));
        let path = full.strip_prefix(root).unwrap_or(full);
        text::clip(&shown(&path.to_string_lossy()), PATH_CHARS).into_owned()
    };
    let (mut unreadable, mut rules) = (Vec::new(), Vec::new());
    for problem in problems {
        match problem {
            Problem::Unreadable { path, error } => {
                unreadable.push(format!("`{}` ({error})", name(path)));
            }
            Problem::Rule { path, fault } => rules.push(format!(
                "line {} of `{}` ({})",
                fault.line,
                name(path),
                fault.error.cause
            )),
            Problem::LongRules { path } => rules.push(format!(
                "what follows the first {} bytes of `{}`",
                grouped(MAX_RULES_BYTES as u64),
                name(path)
            )),
        }
    }
    unreadable.extend(
        files
            .iter()
            .map(|(file, error)| format!("`{file}` ({error})")),
    );
    let mut said = Vec::new();
    if !unreadable.is_empty() {
        said.push(format!("Could not be read: {}.", named(unreadable, more)));
    }
    if !rules.is_empty() {
        let rules = named(rules, 0);
        said.push(format!("Without effect among the ignore rules: {rules}."));
    }
    said
}

/// The first of them, and how many others there are.
fn named(mut names: Vec<String>, more: u64) -> String {
    let others = names.len().saturating_sub(NAMED) as u64 + more;
    names.truncate(NAMED);
    if others > 0 {
        names.push(format!("{} more", grouped(others)));
    }
    listed(names)
}

/// `a`, `a and b`, `a, b and c`.
pub(super) fn listed(mut names: Vec<String>) -> String {
    match names.pop() {
        None => String::new(),
        Some(last) if names.is_empty() => last,
        Some(last) => format!("{} and {last}", names.join(", ")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn three_are_named_and_the_others_counted() {
        let gone = |name: &str| Problem::Unreadable {
            path: name.as_bytes().to_vec(),
            error: io::ErrorKind::NotFound.into(),
        };
        let long = Problem::LongRules {
            path: b"/elsewhere/.gitignore".to_vec(),
        };
        let denied: io::Error = io::ErrorKind::PermissionDenied.into();
        let check = |problems: &[Problem], more, expected: &[&str]| {
            let files = vec![("f".to_string(), &denied)];
            assert_eq!(said(problems, more, Path::new("/ws"), files), expected);
        };
        check(&[], 0, &["Could not be read: `f` (permission denied)."]);
        check(
            &[gone("/ws/a"), long],
            0,
            &[
                "Could not be read: `a` (entity not found) and `f` (permission denied).",
                "Without effect among the ignore rules: what follows the first 1,048,576 bytes of `/elsewhere/.gitignore`.",
            ],
        );
        check(
            &[gone("/ws/a"), gone("/ws/b\n"), gone("/c")],
            7,
            &[
                "Could not be read: `a` (entity not found), `b\\n` (entity not found), `/c` (entity not found) and 8 more.",
            ],
        );
    }
}
