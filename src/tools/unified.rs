//! The exact change as unified diff text, for people and the model. In: the old bytes and the splices of an edit. Out: hunks of
//! whole lines with three lines of context, and how many lines were added and removed.
//!
//! ```text
//! --- a/src/a.rs
//! +++ b/src/a.rs
//! @@ -2,7 +2,7 @@
//!      let a = 1;
//! …
//! -    let n = 1;
//! +    let n = 2;
//! …
//! \ No newline at end of file
//! ```
//!
//! Each splice is widened to whole lines; lines that are the same at both ends of it are taken off again. Nothing is
//! searched for within a splice, so a rewrite shows as one block from its first changed line to its last.
//!
//! Bytes that are not UTF-8 are written as `\xA9`. Of a removed block above 256 KiB the first and last 64 KiB are shown and
//! a line that begins with `\` counts the rest; added lines are always whole.
//!
//! Invariant: cost is the splices and their context, beyond one pass to count lines.

use std::ops::Range;

use super::edit::Splice;
use crate::text::grouped;

const CONTEXT: usize = 3;
/// Above this a removed block is shown by its ends.
const REMOVED_BYTES: usize = 256 << 10;
const REMOVED_END: usize = 64 << 10;

/// The text and its counts.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Diff {
    pub(super) text: String,
    pub(super) added: u64,
    pub(super) removed: u64,
}

/// Whole old lines and what replaces them.
struct Change {
    old: Range<usize>,
    new: Vec<u8>,
}

/// `before`: `None` for a new file. `splices`: in order, apart from each other.
pub(super) fn unified(path: &str, before: Option<&[u8]>, splices: &[Splice]) -> Diff {
    let old = before.unwrap_or(b"");
    let changes = changes(old, splices);
    let mut diff = Diff::default();
    match before {
        Some(_) => diff.text.push_str(&format!("--- a/{path}\n+++ b/{path}\n")),
        None => diff
            .text
            .push_str(&format!("--- /dev/null\n+++ b/{path}\n")),
    }
    let mut counted = Counted { bytes: 0, lines: 0 };
    let mut rest = changes.as_slice();
    let mut shift: i64 = 0;
    while !rest.is_empty() {
        let start = back(old, rest[0].old.start);
        let mut length = 1;
        while length < rest.len()
            && back(old, rest[length].old.start) <= ahead(old, rest[length - 1].old.end)
        {
            length += 1;
        }
        let (hunk, after) = rest.split_at(length);
        let end = ahead(old, hunk[length - 1].old.end);
        let first = counted.up_to(old, start);
        diff.hunk(old, start..end, hunk, first, &mut shift);
        rest = after;
    }
    diff
}

/// Lines before a place, counted once.
struct Counted {
    bytes: usize,
    lines: u64,
}

impl Counted {
    fn up_to(&mut self, old: &[u8], at: usize) -> u64 {
        self.lines += line_ends(&old[self.bytes..at]);
        self.bytes = at;
        self.lines
    }
}

impl Diff {
    /// One hunk; `first`: old lines before it; `shift`: new lines less old lines so far.
    fn hunk(
        &mut self,
        old: &[u8],
        range: Range<usize>,
        changes: &[Change],
        first: u64,
        shift: &mut i64,
    ) {
        let mut body = String::new();
        let (mut old_lines, mut new_lines) = (0, 0);
        let mut at = range.start;
        for change in changes {
            let context = lines(&mut body, ' ', &old[at..change.old.start]);
            let removed = removed(&mut body, &old[change.old.clone()]);
            let added = lines(&mut body, '+', &change.new);
            old_lines += context + removed;
            new_lines += context + added;
            self.removed += removed;
            self.added += added;
            at = change.old.end;
        }
        let context = lines(&mut body, ' ', &old[at..range.end]);
        old_lines += context;
        new_lines += context;
        let new_first = first.saturating_add_signed(*shift);
        *shift += new_lines as i64 - old_lines as i64;
        self.text.push_str(&format!(
            "@@ -{} +{} @@\n{body}",
            span(first, old_lines),
            span(new_first, new_lines)
        ));
    }
}

/// `12,3`; a count of one is left out; an empty span stands after the line before it.
fn span(before: u64, count: u64) -> String {
    match count {
        0 => format!("{before},0"),
        1 => format!("{}", before + 1),
        _ => format!("{},{count}", before + 1),
    }
}

fn changes(old: &[u8], splices: &[Splice]) -> Vec<Change> {
    let mut changes: Vec<Change> = Vec::new();
    let mut rest = splices;
    while let Some(first) = rest.first() {
        let mut range = widen(old, first);
        let mut length = 1;
        while let Some(next) = rest
            .get(length)
            .filter(|next| widen(old, next).start < range.end)
        {
            range.end = range.end.max(widen(old, next).end);
            length += 1;
        }
        let (together, after) = rest.split_at(length);
        let mut new = Vec::new();
        let mut at = range.start;
        for splice in together {
            new.extend_from_slice(&old[at..splice.range.start]);
            new.extend_from_slice(&splice.new);
            at = splice.range.end;
        }
        new.extend_from_slice(&old[at..range.end]);
        changes.extend(narrow(old, range, new));
        rest = after;
    }
    changes
}

/// To whole lines. The end stays where it is if a line begins there in the old text and in the new.
fn widen(old: &[u8], splice: &Splice) -> Range<usize> {
    let Range { start, end } = splice.range;
    let line = line_start(old, start);
    let clean = line_start(old, end) == end
        && match splice.new.last() {
            Some(last) => *last == b'\n',
            None => line == start,
        };
    line..if clean { end } else { line_end(old, end) }
}

/// Takes equal whole lines off both ends; nothing is left of a change that changes nothing.
fn narrow(old: &[u8], range: Range<usize>, new: Vec<u8>) -> Option<Change> {
    let (mut start, mut end) = (range.start, range.end);
    let mut new = &new[..];
    while start < end && !new.is_empty() {
        let (a, b) = (line_end(old, start).min(end), line_end(new, 0));
        if old[start..a] != new[..b] {
            break;
        }
        start = a;
        new = &new[b..];
    }
    while start < end && !new.is_empty() {
        let a = line_start(old, end - 1).max(start);
        let b = line_start(new, new.len() - 1);
        if old[a..end] != new[b..] {
            break;
        }
        end = a;
        new = &new[..b];
    }
    (start < end || !new.is_empty()).then(|| Change {
        old: start..end,
        new: new.to_vec(),
    })
}

/// Where the line that holds `at` begins.
pub(super) fn line_start(bytes: &[u8], at: usize) -> usize {
    bytes[..at]
        .iter()
        .rposition(|b| *b == b'\n')
        .map_or(0, |i| i + 1)
}

/// Where it ends, its line feed included.
pub(super) fn line_end(bytes: &[u8], at: usize) -> usize {
    crate::sys::simd::find_byte(bytes, b'\n', at)
        .saturating_add(1)
        .min(bytes.len())
}

fn back(old: &[u8], start: usize) -> usize {
    (0..CONTEXT).fold(start, |at, _| {
        at.checked_sub(1)
            .map_or(0, |before| line_start(old, before))
    })
}

fn ahead(old: &[u8], end: usize) -> usize {
    (0..CONTEXT).fold(end, |at, _| line_end(old, at))
}

pub(super) fn line_ends(bytes: &[u8]) -> u64 {
    bytes.iter().map(|b| u64::from(*b == b'\n')).sum()
}

/// Writes whole lines with a mark before each; returns how many.
fn lines(out: &mut String, mark: char, bytes: &[u8]) -> u64 {
    let mut count = 0;
    for line in bytes.split_inclusive(|b| *b == b'\n') {
        count += 1;
        out.push(mark);
        for chunk in line.utf8_chunks() {
            out.push_str(chunk.valid());
            for byte in chunk.invalid() {
                out.push_str(&format!("\\x{byte:02X}"));
            }
        }
        if !line.ends_with(b"\n") {
            out.push_str("\n\\ No newline at end of file\n");
        }
    }
    count
}

fn removed(out: &mut String, bytes: &[u8]) -> u64 {
    if bytes.len() <= REMOVED_BYTES {
        return lines(out, '-', bytes);
    }
    let head = line_end(bytes, REMOVED_END);
    let tail = line_start(bytes, bytes.len() - REMOVED_END).max(head);
    let skipped = line_ends(&bytes[head..tail]);
    let first = lines(out, '-', &bytes[..head]);
    out.push_str(&format!(
        "\\ {} removed lines ({} bytes) are not shown here\n",
        grouped(skipped),
        grouped((tail - head) as u64)
    ));
    first + skipped + lines(out, '-', &bytes[tail..])
}
