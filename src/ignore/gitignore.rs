//! One file of ignore rules. In: its bytes. Out: [`Rules`], which give a [`Verdict`] on a path below the folder of the file, and the lines
//! that are not rules. `levels.rs` holds the rules of many files together.
//!
//! ```text
//! # a comment                                \#file, \!file     names that begin so
//! *.o             everywhere below           build/             folders only
//! /TODO           only beside this file      !keep.o            not ignored after all
//! docs/*.txt      from here, in docs only    name\␠             ends in a blank
//! ```
//!
//! The last rule that fits decides. A CR before the line feed, blanks at the end of a line without a backslash before them, and a
//! byte-order mark at the beginning of the file are no part of a rule; what follows a NUL in a line neither.
//!
//! Refused: nothing. A line that is no pattern is a [`Fault`] and spoils only itself; git ignores such lines without a word.
//!
//! Limits: [`MAX_RULES_BYTES`] of a file count; the caller says when there were more.
//!
//! Invariant: on a path whose folders are not ignored themselves the verdict is that of `git check-ignore`. What lies in an ignored
//! folder is for the walk to leave out, by not going there. One reading of git (2.47) is not followed: it cuts off what stands before the
//! first wildcard and then takes `**/` for the beginning of the pattern, so that `ab**/c` finds `abc`, against its own manual.
//!
//! Read next: `levels.rs`.

use super::glob::{Error, Glob, Scope, Tail};

/// Bytes of one file that count. Real ones have a few hundred lines.
pub const MAX_RULES_BYTES: usize = 1 << 20;

/// The rules of one file.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Rules {
    rules: Vec<Rule>,
    /// What the matches of each rule end in: most are passed over by a look at this list.
    tails: Vec<Tail>,
}

/// What a rule says of a path.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// It is to be left out.
    Ignored,
    /// A rule with `!`: it is not to be left out, whatever files further up say.
    Kept,
}

/// A line that is no rule.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fault {
    /// From 1.
    pub line: usize,
    /// What is wrong with its pattern.
    pub error: Error,
}

#[derive(Clone, Debug, PartialEq, Eq)]
struct Rule {
    glob: Glob,
    scope: Scope,
    negated: bool,
    folders_only: bool,
}

impl Rules {
    /// Reads a file.
    pub fn parse(bytes: &[u8]) -> (Rules, Vec<Fault>) {
        let bytes = &bytes[..bytes.len().min(MAX_RULES_BYTES)];
        let bytes = bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(bytes);
        let (mut rules, mut faults) = (Rules::default(), Vec::new());
        for (index, line) in bytes.split(|b| *b == b'\n').enumerate() {
            match rule(line) {
                Ok(None) => {}
                Ok(Some(rule)) => {
                    rules.tails.push(rule.glob.tail());
                    rules.rules.push(rule);
                }
                Err(error) => faults.push(Fault {
                    line: index + 1,
                    error,
                }),
            }
        }
        (rules, faults)
    }

    /// Whether there is no rule at all.
    pub fn is_empty(&self) -> bool {
        self.rules.is_empty()
    }

    /// What the rules say of a path, relative to their folder, `/` between names and none at its ends. `None`: nothing.
    pub fn verdict(&self, path: &[u8], is_folder: bool) -> Option<Verdict> {
        path.last()?;
        let tail = Tail::of(path.iter().rev().copied());
        let name_at = path.iter().rposition(|b| *b == b'/').map_or(0, |at| at + 1);
        for (index, wanted) in self.tails.iter().enumerate().rev() {
            if !tail.may_end_in(*wanted) {
                continue;
            }
            let rule = &self.rules[index];
            let text = match rule.scope {
                Scope::Name => &path[name_at..],
                Scope::Path => path,
            };
            if (is_folder || !rule.folders_only) && rule.glob.is_match(text) {
                return Some(match rule.negated {
                    true => Verdict::Kept,
                    false => Verdict::Ignored,
                });
            }
        }
        None
    }
}

/// One line, without its line feed.
fn rule(line: &[u8]) -> Result<Option<Rule>, Error> {
    let line = line.strip_suffix(b"\r").unwrap_or(line);
    let line = line.split(|b| *b == 0).next().unwrap_or_default();
    if line.starts_with(b"#") {
        return Ok(None);
    }
    let line = without_blanks_at_end(line);
    let (negated, line) = match line.strip_prefix(b"!") {
        Some(rest) => (true, rest),
        None => (false, line),
    };
    let (folders_only, pattern) = match line.strip_suffix(b"/") {
        Some(rest) => (true, rest),
        None => (false, line),
    };
    // A slash before the end ties the pattern to this folder; one in front does no more than that.
    let scope = match pattern.contains(&b'/') {
        true => Scope::Path,
        false => Scope::Name,
    };
    let pattern = pattern.strip_prefix(b"/").unwrap_or(pattern);
    if pattern.is_empty() {
        return Ok(None);
    }
    let glob = Glob::new(pattern, scope)?;
    Ok(Some(Rule {
        glob,
        scope,
        negated,
        folders_only,
    }))
}

/// A blank stays if a backslash stands before it, and what a backslash escapes is no blank.
fn without_blanks_at_end(line: &[u8]) -> &[u8] {
    let mut end = 0;
    let mut at = 0;
    while let Some(byte) = line.get(at) {
        match byte {
            b' ' => at += 1,
            b'\\' => {
                at += 2;
                end = at.min(line.len());
            }
            _ => {
                at += 1;
                end = at;
            }
        }
    }
    // A line that ends in a backslash keeps all it has, as git does.
    &line[..end]
}
