//! A difference as unified diff text. In: the old bytes and the whole lines that replace some of them, or two whole files. Out: bytes
//! that `git apply` and `patch` accept, whatever the files hold. `tools` shows every edit with it, a review prints with it.
//!
//! ```text
//! diff --git a/new.txt b/new.txt          `unified` writes these two for every file,
//! new file mode 100644                    since an empty file has no other lines
//! --- /dev/null
//! +++ b/new.txt
//! @@ -0,0 +1,2 @@                         a count of 1 is left out, an empty side stands after the line before it
//! +one
//! +two
//! \ No newline at end of file
//! ```
//!
//! Three lines of context; hunks whose context would touch are one. Only `Removed::Clipped` shortens anything, for
//! people: `\ 8,688 removed lines … are not shown here`.
//!
//! Invariant: bytes of the files are written as they are; names are quoted as git does (`name.rs`).
//! Invariant: cost is the changes and their context, beyond one pass to count lines.

use std::ops::Range;

use crate::sys::simd;

use super::lines::{line_end, line_start};
use super::myers::changes;
use super::name;

const CONTEXT: usize = 3;

/// A file before or after.
#[derive(Clone, Copy, Debug)]
pub struct Side<'a> {
    /// Relative, `/` between parts.
    pub name: &'a [u8],
    /// All of it.
    pub bytes: &'a [u8],
    /// Whether its owner may execute it.
    pub executable: bool,
}

/// Lines added and removed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counts {
    /// New lines.
    pub added: u64,
    /// Old lines.
    pub removed: u64,
}

/// How much of a removed block is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Removed {
    /// All of it.
    Whole,
    /// Of a block of more than `above` bytes the first and the last `end` bytes, in whole lines.
    Clipped {
        /// Bytes.
        above: usize,
        /// Bytes.
        end: usize,
    },
}

/// The patch that makes `new` of `old` (`None`: there is no such file), and its counts. Nothing if they are the same.
pub fn unified(old: Option<Side<'_>>, new: Option<Side<'_>>) -> (Vec<u8>, Counts) {
    let mut out = Vec::new();
    let (Some(from), Some(to)) = (old.or(new), new.or(old)) else {
        return (out, Counts::default());
    };
    let mode = |side: Side<'_>| if side.executable { "100755" } else { "100644" };
    let old_bytes = old.map_or(&b""[..], |side| side.bytes);
    let new_bytes = new.map_or(&b""[..], |side| side.bytes);
    let mut extended = Vec::new();
    match (old, new) {
        (None, Some(new)) => extended = format!("new file mode {}\n", mode(new)).into_bytes(),
        (Some(old), None) => extended = format!("deleted file mode {}\n", mode(old)).into_bytes(),
        (Some(old), Some(new)) => {
            if old.executable != new.executable {
                let (old, new) = (mode(old), mode(new));
                extended = format!("old mode {old}\nnew mode {new}\n").into_bytes();
            }
            if old.name != new.name {
                for (words, side) in [("rename from ", old), ("rename to ", new)] {
                    extended.extend_from_slice(words.as_bytes());
                    name::write(&mut extended, "", side.name);
                    extended.push(b'\n');
                }
            }
        }
        (None, None) => {}
    }
    let changes = changes(old_bytes, new_bytes);
    if extended.is_empty() && changes.is_empty() {
        return (out, Counts::default());
    }
    out.extend_from_slice(b"diff --git ");
    name::write(&mut out, "a/", from.name);
    out.push(b' ');
    name::write(&mut out, "b/", to.name);
    out.push(b'\n');
    out.extend_from_slice(&extended);
    if changes.is_empty() {
        return (out, Counts::default());
    }
    header(
        &mut out,
        old.map(|side| side.name),
        new.map(|side| side.name),
    );
    let blocks = changes
        .into_iter()
        .map(|change| (change.old, &new_bytes[change.new]));
    let counts = hunks(
        &mut out,
        old_bytes,
        &blocks.collect::<Vec<Block<'_>>>(),
        Removed::Whole,
    );
    (out, counts)
}

/// `--- a/old` and `+++ b/new`; `None` is `/dev/null`.
pub fn header(out: &mut Vec<u8>, old: Option<&[u8]>, new: Option<&[u8]>) {
    for (mark, prefix, name) in [("--- ", "a/", old), ("+++ ", "b/", new)] {
        out.extend_from_slice(mark.as_bytes());
        match name {
            None => out.extend_from_slice(b"/dev/null"),
            Some(name) => {
                name::write(out, prefix, name);
                // Else a reader may take what follows a blank for a time.
                if name.contains(&b' ') {
                    out.push(b'\t');
                }
            }
        }
        out.push(b'\n');
    }
}

/// Whole lines of the old text and what replaces them.
pub type Block<'a> = (Range<usize>, &'a [u8]);

/// The hunks. `blocks`: in order, apart from each other; a block that does not end in a line feed is the last of its file.
pub fn hunks(out: &mut Vec<u8>, old: &[u8], blocks: &[Block<'_>], removed: Removed) -> Counts {
    let mut counts = Counts::default();
    let mut writer = Writer {
        out,
        old,
        removed,
        counted: 0,
        lines: 0,
        shift: 0,
        body: Vec::new(),
    };
    let mut rest = blocks;
    let mut start = rest.first().map_or(0, |first| back(old, first.0.start));
    while !rest.is_empty() {
        // Up to the first block that begins too far behind the one before it.
        let (mut length, mut end, mut next) = (0, start, start);
        while length < rest.len() && next <= end {
            end = ahead(old, rest[length].0.end);
            length += 1;
            next = rest.get(length).map_or(0, |next| back(old, next.0.start));
        }
        let (hunk, after) = rest.split_at(length);
        writer.hunk(start..end, hunk, &mut counts);
        (rest, start) = (after, next);
    }
    counts
}

struct Writer<'a> {
    out: &'a mut Vec<u8>,
    old: &'a [u8],
    removed: Removed,
    /// Bytes of the old text whose lines were counted, and the lines.
    counted: usize,
    lines: u64,
    /// New lines less old lines so far.
    shift: i64,
    /// Of the hunk that is being written: its head counts its lines.
    body: Vec<u8>,
}

impl Writer<'_> {
    fn hunk(&mut self, range: Range<usize>, blocks: &[Block<'_>], counts: &mut Counts) {
        let mut body = std::mem::take(&mut self.body);
        let (mut old_lines, mut new_lines) = (0, 0);
        let mut at = range.start;
        for (block, new) in blocks {
            let context = lines(&mut body, b' ', &self.old[at..block.start]);
            let removed = self.removed(&mut body, &self.old[block.clone()]);
            let added = lines(&mut body, b'+', new);
            old_lines += context + removed;
            new_lines += context + added;
            counts.removed += removed;
            counts.added += added;
            at = block.end;
        }
        let context = lines(&mut body, b' ', &self.old[at..range.end]);
        old_lines += context;
        new_lines += context;
        self.lines += line_feeds(&self.old[self.counted..range.start]);
        self.counted = range.start;
        let new_before = self.lines.saturating_add_signed(self.shift);
        self.shift += new_lines as i64 - old_lines as i64;
        let (old, new) = (span(self.lines, old_lines), span(new_before, new_lines));
        self.out
            .extend_from_slice(format!("@@ -{old} +{new} @@\n").as_bytes());
        self.out.extend_from_slice(&body);
        body.clear();
        self.body = body;
    }

    fn removed(&self, out: &mut Vec<u8>, bytes: &[u8]) -> u64 {
        let end = match self.removed {
            Removed::Clipped { above, end } if bytes.len() > above => end,
            Removed::Clipped { .. } | Removed::Whole => return lines(out, b'-', bytes),
        };
        let head = line_end(bytes, end);
        let tail = line_start(bytes, bytes.len() - end).max(head);
        let skipped = line_feeds(&bytes[head..tail]);
        let first = lines(out, b'-', &bytes[..head]);
        let note = format!(
            "\\ {skipped} removed lines ({} bytes) are not shown here\n",
            tail - head
        );
        out.extend_from_slice(note.as_bytes());
        first + skipped + lines(out, b'-', &bytes[tail..])
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

/// Writes whole lines with a mark before each; returns how many.
fn lines(out: &mut Vec<u8>, mark: u8, bytes: &[u8]) -> u64 {
    let mut count = 0;
    let mut at = 0;
    while at < bytes.len() {
        let end = line_end(bytes, at);
        let line = &bytes[at..end];
        at = end;
        count += 1;
        out.push(mark);
        out.extend_from_slice(line);
        if !line.ends_with(b"\n") {
            out.extend_from_slice(b"\n\\ No newline at end of file\n");
        }
    }
    count
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

fn line_feeds(bytes: &[u8]) -> u64 {
    simd::count_byte(bytes, b'\n') as u64
}
