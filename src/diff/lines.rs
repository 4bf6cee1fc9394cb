//! Where the lines of a text begin. In: bytes. Out: each line, by its number. `myers`, `search` and `apply` count lines with it.
//!
//! ```text
//! a\nb\r\nc        line 0 "a\n"   line 1 "b\r\n"   line 2 "c", open: no line feed ends it
//! (empty)          no line
//! ```
//!
//! Invariant: a line ends after LF or at the end of the text, and nowhere else; the lines together are the text.

use std::ops::Range;

use crate::sys::simd;

/// Where the line that holds `at` begins.
pub fn line_start(bytes: &[u8], at: usize) -> usize {
    let before = bytes[..at].iter().rposition(|b| *b == b'\n');
    before.map_or(0, |line_feed| line_feed + 1)
}

/// Where it ends, its line feed included.
pub fn line_end(bytes: &[u8], at: usize) -> usize {
    let line_feed = simd::find_byte(bytes, b'\n', at);
    line_feed.saturating_add(1).min(bytes.len())
}

/// The lines of a text, from 0.
#[derive(Clone, Debug)]
pub struct Lines<'a> {
    bytes: &'a [u8],
    /// Where each begins, and the end of the text.
    starts: Vec<usize>,
}

impl<'a> Lines<'a> {
    /// Finds them.
    pub fn new(bytes: &'a [u8]) -> Lines<'a> {
        // A guess that spares most of the growing.
        let mut starts = Vec::with_capacity(bytes.len() / 32 + 2);
        starts.push(0);
        simd::find_all(bytes, b'\n', |at| starts.push(at + 1));
        if starts.last() != Some(&bytes.len()) {
            starts.push(bytes.len());
        }
        Lines { bytes, starts }
    }

    /// How many.
    pub fn count(&self) -> usize {
        self.starts.len() - 1
    }

    /// The text they are lines of.
    pub fn text(&self) -> &'a [u8] {
        self.bytes
    }

    /// Where a line begins; the end of the text for `count()`.
    pub fn start(&self, line: usize) -> usize {
        self.starts[line]
    }

    /// A line with its end.
    pub fn get(&self, line: usize) -> &'a [u8] {
        &self.bytes[self.starts[line]..self.starts[line + 1]]
    }

    /// The bytes of a run of lines.
    pub fn bytes_of(&self, lines: Range<usize>) -> Range<usize> {
        self.starts[lines.start]..self.starts[lines.end]
    }
}
