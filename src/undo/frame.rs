//! Frames: how pieces of the journal stand in a file one after the other, so that a reader knows how far it can trust it. `entry.rs`
//! writes and reads what is inside them.
//!
//! ```text
//! 5f0c…a9 57 6⏎                                             the frame's hash, bytes of head, bytes of body
//! {"edit":"src/a.rs","before":"9f…","after":"07…", …}⏎      head: one JSON object
//! alpha\n⏎                                                  body: bytes of a file as they were
//! ```
//!
//! Lengths as well as a hash: a body may hold anything, and is copied instead of being escaped; the heads can be read with `less`.
//! The hash is the SHA-256 of `57 6⏎`, the head, a line feed and the SHA-256 of the body: a frame that is accepted is exactly the one that
//! was written, and a file whose hash is known is not hashed once more to be kept.
//!
//! A frame that ends beyond the file, or is the last one and has another hash, is [`Next::Cut`]: a kill or a power cut in the middle
//! of an append that nobody was told to be safe. So is a rest of NUL bytes: a length that reached the disk without its bytes. What
//! is wrong before the last frame is [`Next::Damaged`]: it was safe once.
//!
//! Limits: a head of 1 MiB, a body of 256 MiB; larger numbers are damage.
//!
//! Invariant: reading never fails and never goes on behind a frame that is not whole.
//! Invariant: a body is not copied on its way to the disk.

use crate::sha256::{Sha256, digest, hex};
use std::fs::File;
use std::io::{self, Write};

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

/// One that is to be written.
pub(super) struct Frame<'a> {
    /// The first line and the head.
    start: Vec<u8>,
    body: &'a [u8],
}

impl<'a> Frame<'a> {
    /// `body_hash`: its SHA-256.
    pub(super) fn new(head: &[u8], body: &'a [u8], body_hash: &[u8; 32]) -> Frame<'a> {
        let lengths = format!("{} {}\n", head.len(), body.len());
        let hash = hex(&hash(lengths.as_bytes(), head, body_hash));
        Frame {
            start: [hash.as_bytes(), b" ", lengths.as_bytes(), head, b"\n"].concat(),
            body,
        }
    }

    /// Bytes that it takes.
    pub(super) fn len(&self) -> u64 {
        (self.start.len() + self.body.len() + 1) as u64
    }

    /// Appends it.
    pub(super) fn write(&self, file: &mut File) -> io::Result<()> {
        let parts = [&self.start, self.body, b"\n"];
        parts.iter().try_for_each(|part| file.write_all(part))
    }
}

fn hash(lengths: &[u8], head: &[u8], body_hash: &[u8; 32]) -> [u8; 32] {
    let mut hasher = Sha256::new();
    let parts = [lengths, head, b"\n", body_hash];
    parts.iter().for_each(|part| hasher.feed(part));
    hasher.finish()
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
    let Some((written, head, body)) = first_line(&line[..line_feed]) else {
        return Next::Damaged;
    };
    let (first, rest) = rest.split_at(line_feed + 1);
    let size = head + 1 + body + 1;
    if rest.len() < size {
        return Next::Cut;
    }
    let (head, behind) = rest.split_at(head);
    let body = &behind[1..=body];
    let hash = hash(&first[written.len() + 1..], head, &digest(body));
    if hex(&hash).as_bytes() != written || behind[0] != b'\n' || rest[size - 1] != b'\n' {
        return match rest.len() == size {
            true => Next::Cut,
            false => Next::Damaged,
        };
    }
    Next::Frame {
        head,
        body,
        end: at + first.len() + size,
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
