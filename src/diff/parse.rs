//! Patch text read back. In: what a model or a person sent. Out: one [`Patch`] a file, with its hunks as slices of the text; or an
//! [`Error`] with the line of the patch. `tools` applies them. Two forms are known:
//!
//! ```text
//! Here is the fix:                          *** Begin Patch
//! ```diff                                   *** Update File: src/a.c
//! --- a/src/a.c      2026-05-01             *** Move to: src/b.c
//! +++ b/src/a.c                             @@ int main(void)
//! @@ -1,9 +1,9 @@                            {
//!  int main(void) {                         -    int n = 1;
//! -    int n = 1;                           +    int n = 2;
//! +    int n = 2;                           *** Add File: new.txt
//! ```                                       +one line
//!                                           *** Delete File: old.txt
//!                                           *** End Patch
//! ```
//!
//! Whichever begins first is read (`git.rs`, `envelope.rs`); text around it is skipped. Line numbers and counts of hunks are kept
//! as hints: counts decide where a hunk ends only if they fit its lines. A patch whose headers end in CR LF was carried that
//! way, so the CRs of its other lines are not content.
//!
//! Refused, by name and line: binary patches, copies, links and submodules, context diffs, merges' diffs, names that are not UTF-8, hunks
//! that change nothing or belong to no file, changed lines outside a hunk (dropping them would apply half a patch).
//!
//! Invariant: no line that begins with `+` or `-` within a patch is dropped silently.
//! Invariant: one pass; each line is looked at a bounded number of times.

use std::fmt;

use crate::sys::simd;

use super::{envelope, git};

/// The change of one file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Patch<'a> {
    /// Where it begins, a line of the patch from 1.
    pub line: usize,
    /// What happens to the file.
    pub action: Action,
    /// In the order of the patch.
    pub hunks: Vec<Hunk<'a>>,
    /// Whether the owner may execute the file after it, if the patch says so.
    pub executable: Option<bool>,
}

/// What a patch does to its file. Names are relative to the root that the author had in mind.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Action {
    /// A new file.
    Create(String),
    /// The file goes. With hunks they hold all of it.
    Delete(Vec<String>),
    /// The file changes.
    Update {
        /// What it may be called, likeliest first: with and without `a/`, and both names where they differ.
        names: Vec<String>,
        /// Its new name.
        moved_to: Option<String>,
    },
}

/// Lines that stand together in the old file, and what becomes of them.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Hunk<'a> {
    /// Of the patch, from 1.
    pub line: usize,
    /// The line of the old file (from 1) where it says to begin.
    pub start: Option<usize>,
    /// Lines that stand somewhere before it (`@@ int main(void)`), outermost first.
    pub anchors: Vec<&'a [u8]>,
    /// `*** End of File` follows.
    pub at_end: bool,
    /// Kept, removed and added lines.
    pub lines: Vec<Line<'a>>,
}

/// A line of a hunk.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Line<'a> {
    /// What becomes of it.
    pub mark: Mark,
    /// Without mark and LF; a CR stays.
    pub text: &'a [u8],
    /// No LF ends it: the last of its file.
    pub open: bool,
}

/// The first character of a line of a hunk.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mark {
    /// A blank.
    Keep,
    /// `-`
    Remove,
    /// `+`
    Add,
}

impl<'a> Hunk<'a> {
    /// The lines that must stand in the file.
    pub fn stands(&self) -> impl Iterator<Item = &Line<'a>> {
        self.lines.iter().filter(|line| line.mark != Mark::Add)
    }

    /// The lines that stand there afterwards.
    pub fn becomes(&self) -> impl Iterator<Item = &Line<'a>> {
        self.lines.iter().filter(|line| line.mark != Mark::Remove)
    }
}

/// Why a text is no patch.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Error {
    /// Of the patch, from 1.
    pub line: usize,
    /// What is wrong there.
    pub kind: ErrorKind,
}

/// Causes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ErrorKind {
    /// No header and no hunk in the whole text.
    NoPatch,
    /// A hunk before any file name.
    NoFile,
    /// A file name is due.
    NoName,
    /// Neither hunk nor anything else that changes the file.
    NoHunk,
    /// A hunk without a line.
    EmptyHunk,
    /// A hunk without `+` and `-`.
    NoChange,
    /// A changed line where no hunk is open.
    Stray,
    /// In an added file: a line without `+`.
    NotAdded,
    /// A new file's hunk keeps or removes lines.
    OldLinesInNewFile,
    /// A deleted file's hunk keeps or adds lines.
    NewLinesInDeletedFile,
    /// `*** ` and something unknown.
    UnknownSection,
    /// `*** Begin Patch` without its end.
    NoEnd,
    /// A quoted name without its closing quote, or with an unknown escape.
    BadQuotes,
    /// A name that is not UTF-8.
    NameNotUtf8,
    /// A rename says one name only.
    HalfRename,
    /// A copy.
    Copy,
    /// Not text.
    Binary,
    /// A link or a submodule.
    NotRegular,
    /// `***************`
    ContextDiff,
    /// `@@@`
    Combined,
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let text = match self.kind {
            ErrorKind::NoPatch => "expected a unified diff or `*** Begin Patch`, found neither",
            ErrorKind::NoFile => "a hunk comes before any file name",
            ErrorKind::NoName => "a file name is missing",
            ErrorKind::NoHunk => "a file is named and no change of it follows",
            ErrorKind::EmptyHunk => "the hunk has no lines",
            ErrorKind::NoChange => "the hunk has no line that begins with `+` or `-`",
            ErrorKind::Stray => {
                "a line that begins with `+` or `-` stands outside a hunk: the line before it begins with neither `+`, `-` nor a blank"
            }
            ErrorKind::NotAdded => "every line of an added file begins with `+`",
            ErrorKind::OldLinesInNewFile => "every line of a new file begins with `+`",
            ErrorKind::NewLinesInDeletedFile => "every line of a deleted file begins with `-`",
            ErrorKind::UnknownSection => {
                "expected `*** Add File: `, `*** Delete File: `, `*** Update File: `, `*** Move to: `, `*** End of File` or `*** End Patch`"
            }
            ErrorKind::NoEnd => "the patch ends without `*** End Patch`, so it may be cut short",
            ErrorKind::BadQuotes => "the quoted file name does not end or has an unknown escape",
            ErrorKind::NameNotUtf8 => "the file name is not UTF-8",
            ErrorKind::HalfRename => "a rename needs both `rename from` and `rename to`",
            ErrorKind::Copy => "copies are not made by a patch",
            ErrorKind::Binary => "binary patches are not applied",
            ErrorKind::NotRegular => "links and submodules are not made by a patch",
            ErrorKind::ContextDiff => "context diffs are not read, only unified ones",
            ErrorKind::Combined => "diffs of merges (`@@@`) are not read",
        };
        write!(f, "line {}: {text}", self.line)
    }
}

/// Names kept of a text that is no patch.
const MENTIONED: usize = 100;

/// Reads a patch. `named`: the file of hunks that stand under no name.
pub fn parse<'a>(text: &'a [u8], named: Option<&str>) -> Result<Vec<Patch<'a>>, Error> {
    let text = text.strip_prefix(b"\xef\xbb\xbf").unwrap_or(text);
    let mut cursor = Cursor::new(text);
    while let Some(line) = cursor.peek() {
        let line = bare(line);
        if line.starts_with(b"***************") {
            return Err(cursor.error(ErrorKind::ContextDiff));
        }
        if envelope::begins(line) {
            return envelope::parse(cursor);
        }
        if git::begins(&cursor) {
            break;
        }
        cursor.next();
    }
    git::parse(cursor, named)
}

/// The files that a text seems to be about, also if it cannot be read as a patch.
pub fn mentioned(text: &[u8]) -> Vec<String> {
    let mut names = Vec::new();
    let lines = text.split(|b| *b == b'\n').map(bare);
    for line in lines {
        if names.len() == MENTIONED {
            break;
        }
        for name in envelope::named_in(line)
            .into_iter()
            .chain(git::named_in(line))
        {
            if !names.contains(&name) {
                names.push(name);
            }
        }
    }
    names
}

/// The lines of a patch, one after the other. A copy looks ahead.
#[derive(Clone, Copy)]
pub(super) struct Cursor<'a> {
    rest: &'a [u8],
    number: usize,
}

impl<'a> Cursor<'a> {
    fn new(text: &'a [u8]) -> Cursor<'a> {
        Cursor {
            rest: text,
            number: 1,
        }
    }

    /// The line that is due, without LF.
    pub(super) fn peek(&self) -> Option<&'a [u8]> {
        let end = simd::find_byte(self.rest, b'\n', 0);
        (!self.rest.is_empty()).then(|| &self.rest[..end])
    }

    /// The line behind it.
    pub(super) fn second(mut self) -> Option<&'a [u8]> {
        self.next();
        self.peek()
    }

    pub(super) fn next(&mut self) {
        self.take();
    }

    /// The line that is due; the one behind it is due next.
    pub(super) fn take(&mut self) -> Option<&'a [u8]> {
        let end = simd::find_byte(self.rest, b'\n', 0);
        let line = (!self.rest.is_empty()).then(|| &self.rest[..end]);
        self.rest = self.rest.get(end + 1..).unwrap_or_default();
        self.number += 1;
        line
    }

    /// The number of the line that is due, from 1.
    pub(super) fn number(&self) -> usize {
        self.number
    }

    /// Something is wrong with the line that is due.
    pub(super) fn error(&self, kind: ErrorKind) -> Error {
        Error {
            line: self.number,
            kind,
        }
    }
}

/// Without the CR of a patch that was carried with CR LF.
pub(super) fn bare(line: &[u8]) -> &[u8] {
    line.strip_suffix(b"\r").unwrap_or(line)
}

/// Without blanks at the end, a CR among them.
pub(super) fn trimmed(line: &[u8]) -> &[u8] {
    line.trim_ascii_end()
}

/// Whether a Markdown fence stands here.
pub(super) fn is_fence(line: &[u8]) -> bool {
    let line = line.trim_ascii_start();
    line.starts_with(b"```") || line.starts_with(b"~~~")
}

/// A line of a hunk by its first character: marks, or an empty line, which is a kept one whose blank was lost.
pub(super) fn hunk_line(line: &[u8], crlf: bool) -> Option<Line<'_>> {
    let (mark, text) = match line {
        [] | [b'\r'] => (Mark::Keep, line),
        [b' ', text @ ..] => (Mark::Keep, text),
        [b'-', text @ ..] => (Mark::Remove, text),
        [b'+', text @ ..] => (Mark::Add, text),
        _ => return None,
    };
    Some(Line {
        mark,
        text: if crlf { bare(text) } else { text },
        open: false,
    })
}

/// `\ No newline at end of file`, in whatever language.
pub(super) fn is_open_mark(line: &[u8]) -> bool {
    line.starts_with(b"\\ ") || line == b"\\"
}

/// What a `@@` line says.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Range<'a> {
    pub(super) start: Option<usize>,
    /// Old lines, new lines.
    pub(super) counts: Option<(usize, usize)>,
    /// Where no numbers stand: a line to look for.
    pub(super) anchor: Option<&'a [u8]>,
}

/// Reads `@@ -12,3 +12,4 @@ heading`, what is left of it, or `@@ a line to look for`.
pub(super) fn range(line: &[u8]) -> Range<'_> {
    let rest = trimmed(line.strip_prefix(b"@@").unwrap_or(line)).trim_ascii_start();
    if let Some((start, old, after)) = side(rest, b'-') {
        let new = side(after.trim_ascii_start(), b'+');
        return Range {
            start: Some(start),
            counts: new.map(|(_, new, _)| (old, new)),
            anchor: None,
        };
    }
    let anchor = match rest.strip_suffix(b"@@") {
        Some(inner) => inner.trim_ascii(),
        // `@@ ... @@ heading`
        None => match rest.windows(2).position(|pair| pair == b"@@") {
            Some(at) if is_nothing(rest[..at].trim_ascii()) => rest[at + 2..].trim_ascii(),
            Some(_) | None => rest,
        },
    };
    Range {
        start: None,
        counts: None,
        anchor: (!is_nothing(anchor)).then_some(anchor),
    }
}

/// What people write where numbers belong: dots, or marks without numbers.
fn is_nothing(text: &[u8]) -> bool {
    text.iter().all(|b| {
        matches!(
            b,
            b'.' | b' ' | b'-' | b'+' | b',' | b'X' | b'x' | b'?' | b'0'..=b'9'
        )
    }) || text == "…".as_bytes()
}

/// `-12,3` or `-12`: number, count, and what follows.
fn side(text: &[u8], sign: u8) -> Option<(usize, usize, &[u8])> {
    let (start, rest) = number(text.strip_prefix(&[sign])?)?;
    match rest.strip_prefix(b",").and_then(number) {
        Some((count, rest)) => Some((start, count, rest)),
        None => Some((start, 1, rest)),
    }
}

fn number(text: &[u8]) -> Option<(usize, &[u8])> {
    let digits = text.iter().take_while(|b| b.is_ascii_digit()).count();
    // More digits than a file has lines: no number.
    if digits == 0 || digits > 15 {
        return None;
    }
    let value = text[..digits]
        .iter()
        .fold(0, |value, digit| value * 10 + usize::from(digit - b'0'));
    Some((value, &text[digits..]))
}

/// Checks the hunks of a file against what happens to it.
pub(super) fn checked<'a>(patch: Patch<'a>) -> Result<Patch<'a>, Error> {
    for hunk in &patch.hunks {
        let wrong = |mark: fn(Mark) -> bool, kind| {
            hunk.lines
                .iter()
                .any(|line| !mark(line.mark))
                .then_some(kind)
        };
        let kind = match &patch.action {
            _ if hunk.lines.is_empty() => Some(ErrorKind::EmptyHunk),
            Action::Create(_) => wrong(|mark| mark == Mark::Add, ErrorKind::OldLinesInNewFile),
            Action::Delete(_) => wrong(
                |mark| mark == Mark::Remove,
                ErrorKind::NewLinesInDeletedFile,
            ),
            Action::Update { .. } if hunk.lines.iter().all(|line| line.mark == Mark::Keep) => {
                Some(ErrorKind::NoChange)
            }
            Action::Update { .. } => None,
        };
        if let Some(kind) = kind {
            return Err(Error {
                line: hunk.line,
                kind,
            });
        }
    }
    Ok(patch)
}
