//! Unified diffs, with the headers of git, of GNU diff, or hardly any. In: the lines of a patch. Out: patches. `parse.rs` calls it.
//!
//! ```text
//! diff --git a/x.c b/y.c        a file begins; names count only if no other line says them
//! similarity index 90%          skipped, like `index 3f1c..9a2b 100644`
//! rename from x.c
//! rename to y.c                 new name
//! old mode 100644               modes: only whether the owner may execute it
//! --- a/x.c                     a file begins, unless the lines before belong to the same one
//! +++ b/y.c
//! @@ -1,3 +1,3 @@               a hunk
//! ```
//!
//! **Where a hunk ends.** Its counts say so if its lines agree with them and nothing that looks like another line of it follows.
//! Else it ends before the first line that cannot be one of it: `@@`, a file's header, a fence, a mail's signature (`-- `), a line
//! without a mark. Empty lines at such an end are not part of it.
//!
//! **Names.** `a/` and `b/` (and git's other pairs: `i/ w/ c/ o/ 1/ 2/`) are taken off if both names have one; the name as written is
//! kept as second choice. Where both names differ without a rename, either may be the file.
//!
//! Invariant: a header-like pair `--- x`, `+++ y` within agreeing counts is content.

use super::name;
use super::parse::{
    Action, Cursor, Error, ErrorKind, Hunk, Line, Mark, Patch, bare, checked, hunk_line, is_fence,
    is_open_mark, range, trimmed,
};

/// Whether a unified diff begins at the line that is due.
pub(super) fn begins(cursor: &Cursor<'_>) -> bool {
    let line = cursor.peek().map(bare).unwrap_or_default();
    line.starts_with(b"diff --git ")
        || line.starts_with(b"@@")
        || is_names(cursor)
        || is_one_name(cursor)
}

/// The name in a header line, as `mentioned` wants it.
pub(super) fn named_in(line: &[u8]) -> Option<String> {
    let rest = line
        .strip_prefix(b"+++ ")
        .or_else(|| line.strip_prefix(b"--- "))?;
    let name = name::read(rest).ok()?;
    if name == NULL {
        return None;
    }
    match name.strip_prefix("a/").or_else(|| name.strip_prefix("b/")) {
        Some(name) => Some(name.to_string()),
        None => Some(name),
    }
}

const NULL: &str = "/dev/null";

/// `--- x` and `+++ y`, one after the other.
fn is_names(cursor: &Cursor<'_>) -> bool {
    let starts = |line: Option<&[u8]>, mark| line.is_some_and(|line| line.starts_with(mark));
    starts(cursor.peek(), b"--- ") && starts(cursor.second(), b"+++ ")
}

/// One of the two, and a hunk right behind it.
fn is_one_name(cursor: &Cursor<'_>) -> bool {
    let is_name = |line: &[u8]| line.starts_with(b"--- ") || line.starts_with(b"+++ ");
    cursor.peek().is_some_and(is_name)
        && cursor.second().is_some_and(|line| line.starts_with(b"@@"))
}

/// A file under construction.
#[derive(Default)]
struct Draft<'a> {
    line: usize,
    /// As written, `/dev/null` too.
    old: Option<String>,
    new: Option<String>,
    created: bool,
    deleted: bool,
    renamed: (Option<String>, Option<String>),
    executable: Option<bool>,
    crlf: bool,
    hunks: Vec<Hunk<'a>>,
}

/// Reads all files. `named`: see `parse`.
pub(super) fn parse<'a>(
    mut cursor: Cursor<'a>,
    named: Option<&str>,
) -> Result<Vec<Patch<'a>>, Error> {
    let mut patches = Vec::new();
    let mut draft: Option<Draft<'a>> = None;
    // Between the end of a fence or a mail and the next header anything may stand.
    let mut prose = false;
    while let Some(line) = cursor.peek() {
        let header = bare(line);
        if header.starts_with(b"diff --git ") || is_names(&cursor) || is_one_name(&cursor) {
            if let Some(done) = draft.take() {
                patches.push(done.finish()?);
            }
            let mut begun = Draft {
                line: cursor.number(),
                ..Draft::default()
            };
            begun.header(&mut cursor)?;
            draft = Some(begun);
            prose = false;
        } else if header.starts_with(b"@@@") {
            return Err(cursor.error(ErrorKind::Combined));
        } else if header.starts_with(b"@@") {
            let open = match (&mut draft, named) {
                (Some(open), _) => open,
                (none, Some(name)) => none.insert(Draft {
                    line: cursor.number(),
                    new: Some(name.to_string()),
                    crlf: line.ends_with(b"\r"),
                    ..Draft::default()
                }),
                (None, None) => return Err(cursor.error(ErrorKind::NoFile)),
            };
            let hunk = hunk(&mut cursor, open.crlf);
            open.hunks.push(hunk);
            prose = false;
        } else if header.starts_with(b"GIT binary patch") || is_binary(header) {
            return Err(cursor.error(ErrorKind::Binary));
        } else if header.starts_with(b"***************") {
            return Err(cursor.error(ErrorKind::ContextDiff));
        } else if is_fence(header) || is_signature(&cursor) {
            prose = true;
            cursor.next();
        } else if !prose && draft.is_some() && matches!(header.first(), Some(b'+' | b'-')) {
            return Err(cursor.error(ErrorKind::Stray));
        } else {
            cursor.next();
        }
    }
    if let Some(done) = draft {
        patches.push(done.finish()?);
    }
    match patches.is_empty() {
        true => Err(Error {
            line: 1,
            kind: ErrorKind::NoPatch,
        }),
        false => Ok(patches),
    }
}

fn is_binary(line: &[u8]) -> bool {
    line.starts_with(b"Binary files ") && line.ends_with(b" differ")
}

/// `-- `, with which git ends a mail; its version follows.
fn is_signature(cursor: &Cursor<'_>) -> bool {
    let mut after = *cursor;
    if after.peek().map(bare) != Some(b"-- ") {
        return false;
    }
    after.next();
    let version = after.peek().map(trimmed).unwrap_or_default();
    after.next();
    let next = after.peek().map(trimmed).unwrap_or_default();
    (version.is_empty() || version[0].is_ascii_digit())
        && (next.is_empty() || next.starts_with(b"From "))
}

impl<'a> Draft<'a> {
    /// From the first header line to the line before the first hunk.
    fn header(&mut self, cursor: &mut Cursor<'a>) -> Result<(), Error> {
        if let Some(rest) = cursor
            .peek()
            .and_then(|line| bare(line).strip_prefix(b"diff --git "))
        {
            self.crlf = cursor.peek().is_some_and(|line| line.ends_with(b"\r"));
            if let Some((old, new)) = name::read_both(rest).map_err(|kind| cursor.error(kind))? {
                (self.old, self.new) = (Some(old), Some(new));
            }
            cursor.next();
            while cursor.peek().is_some() && self.extended(cursor)? {
                cursor.next();
            }
        }
        if is_names(cursor) || is_one_name(cursor) {
            for (mark, new) in [(&b"--- "[..], false), (b"+++ ", true)] {
                let Some(line) = cursor.peek() else {
                    break;
                };
                let Some(rest) = bare(line).strip_prefix(mark) else {
                    continue;
                };
                self.crlf = line.ends_with(b"\r");
                let name = name::read(rest).map_err(|kind| cursor.error(kind))?;
                match new {
                    true => self.new = Some(name),
                    false => self.old = Some(name),
                }
                cursor.next();
            }
        }
        // Some leave `@@` out.
        let next = cursor.peek().unwrap_or_default();
        if matches!(next.first(), Some(b' ' | b'+' | b'-'))
            && !begins(cursor)
            && !is_signature(cursor)
        {
            let mut hunk = Hunk {
                line: cursor.number(),
                ..Hunk::default()
            };
            by_text(cursor, self.crlf, &mut hunk.lines);
            self.hunks.push(hunk);
        }
        Ok(())
    }

    /// One of git's extended header lines; whether it is one.
    fn extended(&mut self, cursor: &Cursor<'a>) -> Result<bool, Error> {
        let line = bare(cursor.peek().unwrap_or_default());
        let after = |words: &[u8]| line.strip_prefix(words);
        let fail = |kind| Err(cursor.error(kind));
        let named = |rest: &[u8]| name::read(rest).map_err(|kind| cursor.error(kind));
        if let Some(mode) = after(b"new file mode ") {
            self.created = true;
            self.executable = Some(mode.ends_with(b"755"));
            return if is_regular(mode) {
                Ok(true)
            } else {
                fail(ErrorKind::NotRegular)
            };
        }
        if let Some(mode) = after(b"deleted file mode ") {
            self.deleted = true;
            return if is_regular(mode) {
                Ok(true)
            } else {
                fail(ErrorKind::NotRegular)
            };
        }
        if let Some(mode) = after(b"new mode ") {
            self.executable = Some(mode.ends_with(b"755"));
            return if is_regular(mode) {
                Ok(true)
            } else {
                fail(ErrorKind::NotRegular)
            };
        }
        if let Some(rest) = after(b"rename from ") {
            self.renamed.0 = Some(named(rest)?);
        } else if let Some(rest) = after(b"rename to ") {
            self.renamed.1 = Some(named(rest)?);
        } else if after(b"copy from ").or(after(b"copy to ")).is_some() {
            return fail(ErrorKind::Copy);
        } else if let Some(rest) = after(b"index ") {
            if rest.ends_with(b" 120000") || rest.ends_with(b" 160000") {
                return fail(ErrorKind::NotRegular);
            }
        } else {
            let skipped: [&[u8]; 3] = [b"old mode ", b"similarity index ", b"dissimilarity index "];
            return Ok(skipped.iter().any(|words| line.starts_with(words)));
        }
        Ok(true)
    }

    fn finish(self) -> Result<Patch<'a>, Error> {
        let error = |kind| Error {
            line: self.line,
            kind,
        };
        let is_null = |name: &Option<String>| name.as_deref() == Some(NULL);
        let created = self.created || is_null(&self.old);
        let deleted = self.deleted || is_null(&self.new);
        let renamed = match self.renamed {
            (Some(from), Some(to)) => Some((from, to)),
            (None, None) => None,
            (Some(_), None) | (None, Some(_)) => return Err(error(ErrorKind::HalfRename)),
        };
        let nothing = self.hunks.is_empty() && self.executable.is_none();
        let old = self.old.filter(|name| name != NULL);
        let new = self.new.filter(|name| name != NULL);
        let mut names = candidates(old.as_deref(), new.as_deref());
        let first = || names.first().cloned().ok_or(error(ErrorKind::NoName));
        let action = match renamed {
            Some((from, to)) => Action::Update {
                names: vec![from],
                moved_to: Some(to),
            },
            None if created => Action::Create(first()?),
            None if deleted => {
                first()?;
                Action::Delete(names)
            }
            None if nothing => return Err(error(ErrorKind::NoHunk)),
            None => {
                first()?;
                Action::Update {
                    names: std::mem::take(&mut names),
                    moved_to: None,
                }
            }
        };
        checked(Patch {
            line: self.line,
            action,
            hunks: self.hunks,
            executable: self.executable,
        })
    }
}

fn is_regular(mode: &[u8]) -> bool {
    mode.starts_with(b"100")
}

/// Names to try: without prefix and as written, the new one first.
fn candidates(old: Option<&str>, new: Option<&str>) -> Vec<String> {
    let mut names: Vec<String> = Vec::new();
    let mut add = |name: &str| {
        if !name.is_empty() && !names.iter().any(|known| known == name) {
            names.push(name.to_string());
        }
    };
    let bare = |name: &str| prefixed(name).then(|| name[2..].to_string());
    let both = old.into_iter().chain(new).all(prefixed);
    for name in new.into_iter().chain(old) {
        if let (true, Some(bare)) = (both, bare(name)) {
            add(&bare);
        }
    }
    for name in new.into_iter().chain(old) {
        add(name);
    }
    names
}

/// Whether git put a letter and a slash before it.
fn prefixed(name: &str) -> bool {
    matches!(
        name.as_bytes(),
        [
            b'a' | b'b' | b'i' | b'w' | b'c' | b'o' | b'1' | b'2',
            b'/',
            ..
        ]
    )
}

/// A hunk from its `@@` line on.
fn hunk<'a>(cursor: &mut Cursor<'a>, crlf: bool) -> Hunk<'a> {
    let mut hunk = Hunk {
        line: cursor.number(),
        ..Hunk::default()
    };
    let said = range(cursor.peek().unwrap_or_default());
    hunk.start = said.start;
    hunk.anchors.extend(said.anchor);
    cursor.next();
    let counted = said
        .counts
        .is_some_and(|(old, new)| by_counts(cursor, crlf, old, new, &mut hunk.lines));
    if !counted {
        hunk.lines.clear();
        by_text(cursor, crlf, &mut hunk.lines);
    }
    hunk
}

/// Takes as many lines as the counts say, if they agree with the lines and with what follows.
fn by_counts<'a>(
    cursor: &mut Cursor<'a>,
    crlf: bool,
    mut old: usize,
    mut new: usize,
    lines: &mut Vec<Line<'a>>,
) -> bool {
    let mut ahead = *cursor;
    while old > 0 || new > 0 {
        let Some(text) = ahead.take() else {
            return false;
        };
        if is_open_mark(text) {
            match lines.last_mut() {
                Some(last) => last.open = true,
                None => return false,
            }
            continue;
        }
        let Some(line) = hunk_line(text, crlf) else {
            return false;
        };
        let (of_old, of_new) = match line.mark {
            Mark::Keep => (1, 1),
            Mark::Remove => (1, 0),
            Mark::Add => (0, 1),
        };
        if old < of_old || new < of_new {
            return false;
        }
        (old, new) = (old - of_old, new - of_new);
        lines.push(line);
    }
    if let (Some(mark), Some(last)) = (ahead.peek(), lines.last_mut()) {
        if is_open_mark(mark) {
            last.open = true;
            ahead.next();
        }
    }
    let mut after = ahead;
    while after.peek().is_some_and(|line| trimmed(line).is_empty()) {
        after.next();
    }
    let more = matches!(
        after.peek().unwrap_or_default().first(),
        Some(b' ' | b'+' | b'-' | b'\\')
    );
    if more && !is_names(&after) && !is_one_name(&after) && !is_signature(&after) {
        return false;
    }
    *cursor = ahead;
    true
}

/// Takes lines up to the first that cannot belong to the hunk.
fn by_text<'a>(cursor: &mut Cursor<'a>, crlf: bool, lines: &mut Vec<Line<'a>>) {
    while let Some(text) = cursor.peek() {
        if is_open_mark(text) {
            if let Some(last) = lines.last_mut() {
                last.open = true;
            }
        } else if is_names(cursor) || is_one_name(cursor) || is_signature(cursor) {
            break;
        } else if let Some(line) = hunk_line(text, crlf) {
            lines.push(line);
        } else {
            break;
        }
        cursor.next();
    }
    drop_empty_end(lines);
}

/// Empty lines at the end of a hunk are the patch's own, most of the time, and nothing is lost without them.
pub(super) fn drop_empty_end(lines: &mut Vec<Line<'_>>) {
    while lines
        .last()
        .is_some_and(|line| line.mark == Mark::Keep && bare(line.text).is_empty() && !line.open)
    {
        lines.pop();
    }
}
