//! Frames: how pieces of the journal stand in a file one after the other, so that a reader knows how far it can trust it. `entry.rs`
//! writes and reads what is inside them.
//!
//! ```text
//! 5f0c…a9 57 6⏎                                             SHA-256 of all that follows in this frame, bytes of head, bytes of body
//! {"edit":"src/a.rs","before":"9f…","after":"07…", …}⏎      head: one JSON object
//! alpha\n⏎                                                  body: bytes of a file as they were
//! ```
//!
//! Lengths as well as a hash: a body may hold anything, and is copied instead of being escaped; the heads can be read with `less`.
//! The hash covers the lengths, so a frame that is accepted is exactly the one that was written.
//!
//! A frame that ends beyond the file, or is the last one and has another hash, is [`Next::Cut`]: a kill or a power cut in the middle
//! of an append that nobody was told to be safe. So is a rest of NUL bytes: a length that reached the disk without its bytes. What
//! is wrong before the last frame is [`Next::Damaged`]: it was safe once.
//!
//! Limits: a head of 1 MiB, a body of 256 MiB; larger numbers are damage.
//!
//! Invariant: reading never fails and never goes on behind a frame that is not whole.

use crate::sha256::{Sha256, hex};

/// Some 40,000 spans of one edit, or 200 long names of files that a command changed.
pub(super) const MAX_HEAD_BYTES: usize = 1 << 20;
/// No more than a turn may have.
pub(super) const MAX_BODY_BYTES: usize = 256 << 20;
/// `64 hex, blank, 7 digits, blank, 9 digits, LF` is the longest first line.
const MAX_LINE_BYTES: usize = 64 + 1 + 7 + 1 + 9 + 1;

/// What stands at a place of a file.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Next<'a> {
    /// A whole frame.
    Frame {
        /// JSON.
        head: &'a [u8],
        /// Any bytes.
        body: &'a [u8],
        /// Where the next one begins.
        end: usize,
    },
    /// Nothing: the file ends here.
    End,
    /// The end of an append that was not finished.
    Cut,
    /// Something else than what was written.
    Damaged,
}

/// Appends a frame.
pub(super) fn write(out: &mut Vec<u8>, head: &[u8], body: &[u8]) {
    let lengths = format!("{} {}\n", head.len(), body.len());
    let parts = [lengths.as_bytes(), head, b"\n", body, b"\n"];
    let mut hasher = Sha256::new();
    parts.iter().for_each(|part| hasher.feed(part));
    out.extend_from_slice(hex(&hasher.finish()).as_bytes());
    out.push(b' ');
    parts.iter().for_each(|part| out.extend_from_slice(part));
}

/// Reads the frame at `at`.
pub(super) fn next(file: &[u8], at: usize) -> Next<'_> {
    let rest = &file[at.min(file.len())..];
    if rest.is_empty() {
        return Next::End;
    }
    if rest.iter().all(|byte| *byte == 0) {
        return Next::Cut;
    }
    let line = &rest[..rest.len().min(MAX_LINE_BYTES)];
    let Some(line_feed) = line.iter().position(|byte| *byte == b'\n') else {
        return match rest.len() < MAX_LINE_BYTES {
            true => Next::Cut,
            false => Next::Damaged,
        };
    };
    let Some((hash, head, body)) = first_line(&line[..line_feed]) else {
        return Next::Damaged;
    };
    let head_start = line_feed + 1;
    let body_start = head_start + head + 1;
    let end = body_start + body + 1;
    if rest.len() < end {
        return Next::Cut;
    }
    let mut hasher = Sha256::new();
    hasher.feed(&rest[hash.len() + 1..end]);
    if hex(&hasher.finish()).as_bytes() != hash {
        return match rest.len() == end {
            true => Next::Cut,
            false => Next::Damaged,
        };
    }
    Next::Frame {
        head: &rest[head_start..body_start - 1],
        body: &rest[body_start..end - 1],
        end: at + end,
    }
}

/// `HASH HEAD BODY` in the one way that we write it.
fn first_line(line: &[u8]) -> Option<(&[u8], usize, usize)> {
    let (hash, lengths) = line.split_at_checked(64)?;
    let lengths = std::str::from_utf8(lengths.strip_prefix(b" ")?).ok()?;
    let (head, body) = lengths.split_once(' ')?;
    let number = |text: &str, most: usize| {
        let number: usize = text.parse().ok()?;
        (number <= most && number.to_string() == text).then_some(number)
    };
    let head = number(head, MAX_HEAD_BYTES)?;
    Some((hash, head, number(body, MAX_BODY_BYTES)?))
}
