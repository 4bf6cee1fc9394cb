//! The matching lines of one file. In: an open file and an expression for lines. Out: each line with a match, or only their number, or why
//! it is not searched. `search.rs` has one [`Scan`] for each thread.
//!
//! ```text
//! buffer   fn a() {⏎    b();⏎}⏎fn c          the last line is not complete: it waits
//!          └──────── searched ────┘└ kept ┘   more is read behind it
//! ```
//!
//! The expression is held against all complete lines of the buffer at once, and only around a match lines are looked for. A file that fits
//! in the buffer costs three calls of the system: open, read, close. A read that did not fill the buffer was the last one, unless it
//! ended where a page ends: some file systems give a page at a time.
//!
//! What is no text by its first bytes (`content.rs`) is not searched. A byte-order mark is no part of the first line, and a CR before the
//! line feed no part of any.
//!
//! Limits: lines up to [`MAX_LINE_BYTES`] are searched whole, longer ones in pieces that overlap by [`OVERLAP_BYTES`]: a longer match that
//! crosses the end of a piece may be missed or cut there. Memory is that of the buffer, whatever
//! the size of the file.
//!
//! Invariant: a line is reported once. Invariant: of a file that grows so much is searched as there was when the first buffer was full.

use crate::diff::line_start;
use crate::ignore::{Limits, Stop};
use crate::regex::{Cache, Regex};
use crate::sys::simd;
use std::fs::File;
use std::io::{self, ErrorKind, Read};
use std::ops::Range;

use crate::tools::content::{BOM, not_text};

/// Room for most files, and for the second-level cache.
const BUFFER_BYTES: usize = 128 << 10;
/// A longer line is searched in pieces.
const MAX_LINE_BYTES: usize = 1 << 20;
/// What a piece repeats of the one before.
const OVERLAP_BYTES: usize = 64 << 10;
/// A character has at most so many.
pub(super) const CHAR_BYTES: usize = 4;
/// Reads that end at such a boundary may go on.
const PAGE_BYTES: usize = 4 << 10;

/// What a search needs, file after file.
#[derive(Debug)]
pub struct Scan {
    buffer: Vec<u8>,
    cache: Cache,
}

/// A line with a match.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Line<'a> {
    /// From 1.
    pub number: u64,
    /// Without its end. Of a line above the limit: the piece.
    pub text: &'a [u8],
    /// The first match in it.
    pub found: Range<usize>,
}

/// How a file was searched.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum End {
    /// To its end.
    Searched {
        /// Lines with a match.
        lines: u64,
    },
    /// Not at all: what it is.
    Binary(&'static str),
    /// Not to its end.
    Stopped(Stop),
}

/// Where a scan stands in its file.
struct State<'e> {
    regex: &'e Regex,
    /// Called with each line, if somebody wants to see them.
    each: Option<&'e mut dyn FnMut(Line<'_>)>,
    lines: u64,
    /// Line feeds before the buffer, counted only for `each`.
    line_feeds: u64,
    /// Where to search from: behind what an earlier piece of the line showed.
    from: usize,
    /// The line was reported, and the rest of it is still to come.
    reported: bool,
}

impl Default for Scan {
    fn default() -> Scan {
        Scan {
            buffer: vec![0; BUFFER_BYTES],
            cache: Cache::default(),
        }
    }
}

impl Scan {
    /// Searches a file from where it stands. `each` sees the lines; without it they are counted, which is faster.
    pub fn file<'e>(
        &mut self,
        mut file: &File,
        regex: &'e Regex,
        limits: &Limits<'_>,
        each: Option<&'e mut dyn FnMut(Line<'_>)>,
    ) -> io::Result<End> {
        let mut state = State {
            regex,
            each,
            lines: 0,
            line_feeds: 0,
            from: 0,
            reported: false,
        };
        let mut held = 0;
        let mut first = true;
        let mut left = u64::MAX;
        loop {
            let room = self.buffer.len() - held;
            let room = usize::try_from(left).map_or(room, |left| left.min(room));
            let read = match file.read(&mut self.buffer[held..held + room]) {
                Ok(read) => read,
                Err(error) if error.kind() == ErrorKind::Interrupted => continue,
                Err(error) => return Err(error),
            };
            held += read;
            left -= read as u64;
            let last = read == 0 || left == 0 || (read < room && read % PAGE_BYTES != 0);
            if first {
                first = false;
                if !last {
                    left = bytes_left(file, read)?;
                }
                if let Some(what) = not_text(&self.buffer[..held]) {
                    return Ok(End::Binary(what));
                }
                if self.buffer[..held].starts_with(BOM) {
                    self.buffer.copy_within(BOM.len()..held, 0);
                    held -= BOM.len();
                }
            }
            let searched = match last {
                true => held,
                false => line_start(&self.buffer[..held], held),
            };
            if searched > 0 || last {
                state.complete(&self.buffer[..searched], last, &mut self.cache);
                self.buffer.copy_within(searched..held, 0);
                held -= searched;
            } else if self.buffer.len() < MAX_LINE_BYTES {
                self.buffer.resize(self.buffer.len() * 2, 0);
            } else if held == self.buffer.len() {
                held = self.piece(&mut state);
            }
            if last {
                return Ok(End::Searched { lines: state.lines });
            }
            if let Some(stop) = limits.reached() {
                return Ok(End::Stopped(stop));
            }
        }
    }

    /// Searches a full buffer that ends within its only line. What stays of it.
    fn piece(&mut self, state: &mut State<'_>) -> usize {
        let length = self.buffer.len();
        // Both between characters; what stands before `from` is looked at and not searched again.
        let cut = char_start(&self.buffer, length - OVERLAP_BYTES - CHAR_BYTES);
        let mut from = char_start(&self.buffer, length - OVERLAP_BYTES);
        if !state.reported {
            let found = state
                .regex
                .find_at(&mut self.cache, &self.buffer, state.from);
            match found {
                // With what comes it may be longer, or none at all: the next piece tells.
                Some(found) if found.end + CHAR_BYTES > length && found.start >= from => {
                    from = found.start;
                }
                Some(found) => {
                    state.report(&self.buffer, 0..length, found);
                    state.reported = true;
                }
                None => {}
            }
        }
        self.buffer.copy_within(cut.., 0);
        state.from = from - cut;
        length - cut
    }
}

impl State<'_> {
    /// Searches complete lines, or the last ones of the file.
    fn complete(&mut self, bytes: &[u8], last: bool, cache: &mut Cache) {
        let mut at = std::mem::take(&mut self.from);
        if std::mem::take(&mut self.reported) {
            at = simd::find_byte(bytes, b'\n', 0) + 1;
        }
        let mut counted = 0;
        while let Some(found) = self.regex.find_at(cache, bytes, at) {
            let begin = line_start(bytes, found.start);
            let end = simd::find_byte(bytes, b'\n', found.end);
            self.line_feeds += self.count(&bytes[counted..begin]);
            counted = begin;
            self.report(bytes, begin..end, found);
            at = end + 1;
        }
        if !last {
            self.line_feeds += self.count(&bytes[counted..]);
        }
    }

    fn report(&mut self, bytes: &[u8], line: Range<usize>, found: Range<usize>) {
        self.lines += 1;
        if let Some(each) = &mut self.each {
            let text = &bytes[line.clone()];
            let text = text.strip_suffix(b"\r").unwrap_or(text);
            let at = |place: usize| (place - line.start).min(text.len());
            each(Line {
                number: self.line_feeds + 1,
                text,
                found: at(found.start)..at(found.end),
            });
        }
    }

    /// Line feeds, for those who see line numbers.
    fn count(&self, bytes: &[u8]) -> u64 {
        match self.each {
            Some(_) => simd::count_byte(bytes, b'\n') as u64,
            None => 0,
        }
    }
}

/// How much of a large file there is behind what was read, as of now: what is written into it from here on is not searched, or the search of
/// a file that grows fast would not end. Files of /proc say that they are empty.
fn bytes_left(file: &File, read: usize) -> io::Result<u64> {
    match file.metadata()?.len().checked_sub(read as u64) {
        None => Ok(u64::MAX),
        // It ends here, or was cut: the next read tells.
        Some(0) => Ok(u64::MAX),
        Some(left) => Ok(left),
    }
}

/// Where the character begins that `at` lies in.
pub(super) fn char_start(bytes: &[u8], at: usize) -> usize {
    let near = (0..=at).rev().take(CHAR_BYTES);
    let mut starts = near.filter(|at| bytes[*at] & 0xc0 != 0x80);
    starts.next().unwrap_or(at)
}
