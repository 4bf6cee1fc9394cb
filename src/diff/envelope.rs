//! The envelope form of a patch, which many models know. In: the lines of a patch. Out: patches. `parse.rs` calls it.
//!
//! ```text
//! *** Begin Patch
//! *** Update File: src/a.py         names as they are, nothing is taken off
//! *** Move to: src/b.py
//! @@ class Greeter:                 hunks stand behind these lines, in this order
//! @@     def hello(self):
//!  (a line that stays)
//! -(a line that goes)
//! +(a line that comes)
//! *** End of File                   the hunk is the last in its file
//! *** End Patch
//! ```
//!
//! The first hunk needs no `@@`; a unified `@@ -1,3 +1,3 @@` counts as a hint. A line without a mark is one that stays whose blank was
//! forgotten: the text of the file decides whether that was right. Begin and end may be missing together, never the end alone.
//!
//! Invariant: every line between the first `***` line and the end is read as part of the patch or refused.

use super::git::drop_empty_end;
use super::name;
use super::parse::{
    Action, Cursor, Error, ErrorKind, Hunk, Line, Mark, Patch, bare, checked, hunk_line, is_fence,
    is_open_mark, range, trimmed,
};

const BEGIN: &[u8] = b"*** Begin Patch";
const END: &[u8] = b"*** End Patch";
const ADD: &[u8] = b"*** Add File:";
const DELETE: &[u8] = b"*** Delete File:";
const UPDATE: &[u8] = b"*** Update File:";
const MOVE: &[u8] = b"*** Move to:";
const END_OF_FILE: &[u8] = b"*** End of File";

/// Whether an envelope begins with this line.
pub(super) fn begins(line: &[u8]) -> bool {
    trimmed(line) == BEGIN
        || [ADD, DELETE, UPDATE]
            .iter()
            .any(|words| line.starts_with(words))
}

/// The name in a line, as `mentioned` wants it.
pub(super) fn named_in(line: &[u8]) -> Option<String> {
    let words = [ADD, DELETE, UPDATE]
        .into_iter()
        .find(|words| line.starts_with(words))?;
    name::utf8(line[words.len()..].trim_ascii().to_vec()).ok()
}

/// Reads from the first line of the envelope on.
pub(super) fn parse(mut cursor: Cursor<'_>) -> Result<Vec<Patch<'_>>, Error> {
    let mut patches = Vec::new();
    let mut enclosed = false;
    while let Some(line) = cursor.peek() {
        let header = trimmed(line);
        if header == BEGIN {
            enclosed = true;
            cursor.next();
        } else if header == END {
            enclosed = false;
            cursor.next();
            while cursor.peek().is_some_and(|line| !begins(line)) {
                cursor.next();
            }
        } else if header.starts_with(ADD) {
            patches.push(added(&mut cursor)?);
        } else if header.starts_with(DELETE) {
            let line = cursor.number();
            let name = file_name(&cursor, DELETE)?;
            cursor.next();
            patches.push(Patch {
                line,
                action: Action::Delete(vec![name]),
                hunks: Vec::new(),
                executable: None,
            });
        } else if header.starts_with(UPDATE) {
            patches.push(updated(&mut cursor, enclosed)?);
        } else if header.is_empty() {
            cursor.next();
        } else if is_fence(header) && !enclosed {
            break;
        } else {
            return Err(cursor.error(match header.first() {
                Some(b'+' | b'-') => ErrorKind::Stray,
                Some(_) | None => ErrorKind::UnknownSection,
            }));
        }
    }
    let last = |kind| {
        Err(Error {
            line: cursor.number().saturating_sub(1).max(1),
            kind,
        })
    };
    match (enclosed, patches.is_empty()) {
        (true, _) => last(ErrorKind::NoEnd),
        (false, true) => last(ErrorKind::NoPatch),
        (false, false) => Ok(patches),
    }
}

fn file_name(cursor: &Cursor<'_>, words: &[u8]) -> Result<String, Error> {
    let line = bare(cursor.peek().unwrap_or_default());
    let name = line.get(words.len()..).unwrap_or_default().trim_ascii();
    name::utf8(name.to_vec()).map_err(|kind| cursor.error(kind))
}

fn added<'a>(cursor: &mut Cursor<'a>) -> Result<Patch<'a>, Error> {
    let line = cursor.number();
    let crlf = cursor.peek().is_some_and(|line| line.ends_with(b"\r"));
    let name = file_name(cursor, ADD)?;
    cursor.next();
    let mut hunk = Hunk {
        line: cursor.number(),
        ..Hunk::default()
    };
    while let Some(text) = cursor
        .peek()
        .filter(|text| !text.starts_with(b"*** ") && !is_fence(text))
    {
        if is_open_mark(text) {
            if let Some(last) = hunk.lines.last_mut() {
                last.open = true;
            }
            cursor.next();
            continue;
        }
        let line = match hunk_line(text, crlf) {
            Some(line) if line.mark == Mark::Add || bare(text).is_empty() => line,
            Some(_) | None => return Err(cursor.error(ErrorKind::NotAdded)),
        };
        hunk.lines.push(line);
        cursor.next();
    }
    drop_empty_end(&mut hunk.lines);
    hunk.lines.iter_mut().for_each(|line| line.mark = Mark::Add);
    Ok(Patch {
        line,
        action: Action::Create(name),
        hunks: if hunk.lines.is_empty() {
            Vec::new()
        } else {
            vec![hunk]
        },
        executable: None,
    })
}

fn updated<'a>(cursor: &mut Cursor<'a>, enclosed: bool) -> Result<Patch<'a>, Error> {
    let line = cursor.number();
    let crlf = cursor.peek().is_some_and(|line| line.ends_with(b"\r"));
    let names = vec![file_name(cursor, UPDATE)?];
    cursor.next();
    let mut moved_to = None;
    if cursor.peek().is_some_and(|line| line.starts_with(MOVE)) {
        moved_to = Some(file_name(cursor, MOVE)?);
        cursor.next();
    }
    // Some put the names of the other form in between.
    let is_name = |line: Option<&[u8]>, mark| line.is_some_and(|line| line.starts_with(mark));
    if is_name(cursor.peek(), b"--- ") && is_name(cursor.second(), b"+++ ") {
        cursor.next();
        cursor.next();
    }
    let mut hunks = Vec::new();
    while let Some(hunk) = hunk(cursor, crlf, enclosed)? {
        hunks.push(hunk);
    }
    if hunks.is_empty() && moved_to.is_none() {
        return Err(Error {
            line,
            kind: ErrorKind::NoHunk,
        });
    }
    checked(Patch {
        line,
        action: Action::Update { names, moved_to },
        hunks,
        executable: None,
    })
}

/// The next hunk of a file, if one follows.
fn hunk<'a>(
    cursor: &mut Cursor<'a>,
    crlf: bool,
    enclosed: bool,
) -> Result<Option<Hunk<'a>>, Error> {
    let mut hunk = Hunk {
        line: cursor.number(),
        ..Hunk::default()
    };
    let mut begun = false;
    while let Some(line) = cursor.peek().filter(|line| line.starts_with(b"@@")) {
        let said = range(line);
        hunk.start = said.start.or(hunk.start);
        hunk.anchors.extend(said.anchor);
        begun = true;
        cursor.next();
    }
    while let Some(text) = cursor.peek() {
        if trimmed(text) == END_OF_FILE {
            hunk.at_end = true;
            cursor.next();
            break;
        }
        let ends =
            text.starts_with(b"@@") || text.starts_with(b"*** ") || (is_fence(text) && !enclosed);
        if ends {
            break;
        }
        if is_open_mark(text) {
            if let Some(last) = hunk.lines.last_mut() {
                last.open = true;
            }
        } else {
            hunk.lines.push(hunk_line(text, crlf).unwrap_or(Line {
                mark: Mark::Keep,
                text: if crlf { bare(text) } else { text },
                open: false,
            }));
        }
        cursor.next();
    }
    drop_empty_end(&mut hunk.lines);
    if hunk.lines.is_empty() && !begun && !hunk.at_end {
        return Ok(None);
    }
    Ok(Some(hunk))
}
