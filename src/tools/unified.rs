//! The exact change as unified diff text, for people and the model. In: the old bytes and the splices of an edit. Out: hunks of
//! whole lines with three lines of context, and how many lines were added and removed. `edit.rs` calls it.
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
//! A rename, and a change of the right to execute (`edit.rs`), stand before that as git writes them.
//!
//! Each splice is widened to whole lines; lines that are the same at both ends of it are taken off again. `diff` writes the rest.
//!
//! Bytes that are not UTF-8 are written as `\xA9`. Of a removed block above 256 KiB the first and last 64 KiB are shown and
//! a line that begins with `\` counts the rest; added lines are always whole.
//!
//! Invariant: cost is the splices and their context, beyond one pass to count lines.

use std::borrow::Cow;
use std::ops::Range;

use crate::diff::{self, Block, Removed, Splice, line_end, line_start};
use crate::sys::simd;

/// Above this a removed block is shown by its ends.
const REMOVED: Removed = Removed::Clipped {
    above: 256 << 10,
    end: 64 << 10,
};

/// What stands around a change, as a guess.
const CONTEXT_BYTES: usize = 300;
/// For the text before it is known.
const MAX_GUESS_BYTES: usize = 1 << 20;

/// The text and its counts.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Diff {
    pub(super) text: String,
    pub(super) added: u64,
    pub(super) removed: u64,
}

/// Whole old lines and what replaces them.
struct Change<'a> {
    old: Range<usize>,
    new: Cow<'a, [u8]>,
}

/// `from`, `to`: `None` for a file that is not there. `splices`: in order, apart from each other.
pub(super) fn unified(
    from: Option<&str>,
    to: Option<&str>,
    old: &[u8],
    splices: &[Splice],
) -> Diff {
    // A guess that spares the growing: what goes, what comes and six lines of context.
    let sizes = splices
        .iter()
        .map(|splice| splice.range.len() + splice.new.len() + CONTEXT_BYTES);
    let mut bytes = Vec::with_capacity(sizes.sum::<usize>().min(MAX_GUESS_BYTES));
    if let (Some(from), Some(to)) = (from, to) {
        if from != to {
            bytes.extend_from_slice(format!("rename from {from}\nrename to {to}\n").as_bytes());
        }
    }
    diff::header(&mut bytes, from.map(str::as_bytes), to.map(str::as_bytes));
    let changes = changes(old, splices);
    let blocks = changes
        .iter()
        .map(|change| (change.old.clone(), &change.new[..]));
    let counts = diff::hunks(
        &mut bytes,
        old,
        &blocks.collect::<Vec<Block<'_>>>(),
        REMOVED,
    );
    Diff {
        text: shown(bytes),
        added: counts.added,
        removed: counts.removed,
    }
}

/// As text, with the bytes spelled out that are none.
fn shown(bytes: Vec<u8>) -> String {
    let bytes = match String::from_utf8(bytes) {
        Ok(text) => return text,
        Err(error) => error.into_bytes(),
    };
    let mut text = String::with_capacity(bytes.len());
    for chunk in bytes.utf8_chunks() {
        text.push_str(chunk.valid());
        for byte in chunk.invalid() {
            text.push_str(&format!("\\x{byte:02X}"));
        }
    }
    text
}

fn changes<'a>(old: &[u8], splices: &'a [Splice]) -> Vec<Change<'a>> {
    let mut changes: Vec<Change<'a>> = Vec::new();
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
        let new = match together {
            [whole] if whole.range == range => Cow::Borrowed(&whole.new[..]),
            _ => Cow::Owned(spliced(old, range.clone(), together)),
        };
        changes.extend(narrow(old, range, new));
        rest = after;
    }
    changes
}

/// What a range of the old text becomes.
fn spliced(old: &[u8], range: Range<usize>, splices: &[Splice]) -> Vec<u8> {
    let mut new = Vec::new();
    let mut at = range.start;
    for splice in splices {
        new.extend_from_slice(&old[at..splice.range.start]);
        new.extend_from_slice(&splice.new);
        at = splice.range.end;
    }
    new.extend_from_slice(&old[at..range.end]);
    new
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
fn narrow<'a>(old: &[u8], range: Range<usize>, new: Cow<'a, [u8]>) -> Option<Change<'a>> {
    let (mut start, mut end) = (range.start, range.end);
    let (mut from, mut to) = (0, new.len());
    while start < end && from < to {
        let (a, b) = (line_end(old, start).min(end), line_end(&new, from));
        if old[start..a] != new[from..b] {
            break;
        }
        (start, from) = (a, b);
    }
    while start < end && from < to {
        let a = line_start(old, end - 1).max(start);
        let b = line_start(&new, to - 1).max(from);
        if old[a..end] != new[b..to] {
            break;
        }
        (end, to) = (a, b);
    }
    let new = match new {
        Cow::Borrowed(new) => Cow::Borrowed(&new[from..to]),
        Cow::Owned(mut new) => {
            new.truncate(to);
            new.drain(..from);
            Cow::Owned(new)
        }
    };
    (start < end || !new.is_empty()).then_some(Change {
        old: start..end,
        new,
    })
}

pub(super) fn line_ends(bytes: &[u8]) -> u64 {
    simd::count_byte(bytes, b'\n') as u64
}
