//! The output of one command, however long, in constant memory: its beginning, its end, what lies between counted, and the first lines
//! in between that look like errors. `run.rs` feeds it the bytes as they come and puts its text into the result.
//!
//! ```text
//! limit 16, fed "one\ntwo\nerror: x\nfour\nfive\nsix\nseven\n"
//!   head  "one\ntwo\n"                  the first 8 bytes
//!   tail  "x\nseven\n" → "seven\n"      the last 8 bytes, from a line's beginning
//!   text  one⏎two⏎[4 lines, 23 bytes not shown: read_file output:3 with start_line and end_line]⏎
//!         [of these look like errors:]⏎3: error: x⏎[end of the output:]⏎seven⏎
//! ```
//!
//! Looks like an error: `error` in any case, `FAILED`, `Traceback`, `panicked`, in the first 300 bytes of a line.
//!
//! Limits: what is shown of the output is at most the limit given, after repair, plus ten lines of 200 characters; memory is about three
//! times the limit; on disk 16 MiB. Lines beyond those 16 MiB are counted, and no longer looked at.
//!
//! Invariant: bytes shown as head and tail plus bytes counted as not shown are all bytes; the same for lines.
//! Invariant: an output that is shown whole is not kept, any other is (or the text says why not).
//! Invariant: feeding cut pieces gives what feeding the whole gives.
//!
//! Read next: `outputs.rs`.

use std::fs::File;
use std::io::{self, Write};

use crate::sys::simd;
use crate::text;

use super::outputs::{MAX_KEPT_BYTES, Place};
use super::unified::line_ends;
use crate::text::grouped;

/// Lines that look like errors.
const MAX_MARKS: usize = 10;
/// Of a line that are looked at, and remembered.
const MARK_BYTES: usize = 300;
/// Of a line that are shown.
const MARK_CHARS: usize = 200;

/// Takes an output in.
#[derive(Debug)]
pub(super) struct Capture {
    head: Vec<u8>,
    head_limit: usize,
    tail: Tail,
    total: u64,
    line_ends: u64,
    last: Option<u8>,
    marks: Marks,
    keeping: Keeping,
    place: Place,
}

/// What came of it.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Captured {
    /// For the model, escape sequences and overwritten parts of lines removed; empty without output.
    pub(super) text: String,
    /// All bytes that came.
    pub(super) bytes: u64,
    /// All lines, an unfinished last one included.
    pub(super) lines: u64,
    /// Whether `text` is all there is, and if not, where the rest is.
    pub(super) kept: Kept,
}

/// What is on disk.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Kept {
    /// Nothing: it was shown whole.
    No,
    /// All of it, as this output.
    Whole(u64),
    /// Its first 16 MiB, as this output.
    Beginning(u64),
    /// It should have been.
    Failed(String),
}

/// Where the bytes go besides memory.
#[derive(Debug)]
enum Keeping {
    /// Nowhere yet: head and tail hold all of it.
    NotYet,
    To {
        file: File,
        len: u64,
    },
    Failed(io::Error),
}

/// A line in the part that is not shown.
#[derive(Debug)]
struct Mark {
    line: u64,
    offset: u64,
    bytes: Vec<u8>,
}

impl Capture {
    /// Shows at most `limit` bytes; keeps what is longer at `place`.
    pub(super) fn new(limit: usize, place: Place) -> Capture {
        let head_limit = limit / 2;
        Capture {
            head: Vec::new(),
            head_limit,
            tail: Tail::new(limit - head_limit),
            total: 0,
            line_ends: 0,
            last: None,
            marks: Marks::default(),
            keeping: Keeping::NotYet,
            place,
        }
    }

    /// The next bytes.
    pub(super) fn feed(&mut self, bytes: &[u8]) {
        let Some(&last) = bytes.last() else {
            return;
        };
        let limit = self.head_limit + self.tail.limit;
        if self.total + bytes.len() as u64 > limit as u64 {
            self.keep(bytes);
        }
        let to_head = bytes.len().min(self.head_limit - self.head.len());
        let (head, rest) = bytes.split_at(to_head);
        self.head.extend_from_slice(head);
        self.tail.push(rest);
        if self.head.len() == self.head_limit {
            // From here on nothing changes what is shown of the head: only lines behind that are looked at.
            let from = &mut self.marks.from;
            from.get_or_insert_with(|| head_len(&self.head, self.head_limit) as u64);
        }
        if self.total < MAX_KEPT_BYTES {
            self.marks.feed(bytes);
        }
        self.total += bytes.len() as u64;
        self.line_ends += line_ends(bytes);
        self.last = Some(last);
    }

    /// Writes the bytes to disk, what came before first.
    fn keep(&mut self, bytes: &[u8]) {
        if let Keeping::NotYet = self.keeping {
            let before = [self.head.as_slice(), self.tail.bytes()];
            self.keeping = match begin(&self.place, before) {
                Ok(file) => Keeping::To {
                    file,
                    len: self.total,
                },
                Err(error) => Keeping::Failed(error),
            };
        }
        if let Keeping::To { file, len } = &mut self.keeping {
            let room = MAX_KEPT_BYTES.saturating_sub(*len);
            let room = usize::try_from(room).unwrap_or(usize::MAX);
            let kept = &bytes[..bytes.len().min(room)];
            match file.write_all(kept) {
                Ok(()) => *len += kept.len() as u64,
                Err(error) => self.keeping = Keeping::Failed(error),
            }
        }
    }

    /// The end of the output.
    pub(super) fn finish(mut self) -> Captured {
        self.marks.finish();
        let limit = self.head_limit + self.tail.limit;
        let fits = self.total <= limit as u64;
        let whole = fits.then(|| [&self.head, self.tail.bytes()].concat());
        let (text, kept) = match whole.filter(|whole| repaired_len(whole) <= limit) {
            Some(whole) => (plain(&whole), Kept::No),
            None => {
                // Few bytes, too, may be long when they are repaired: then they have to be kept after all.
                self.keep(&[]);
                let kept = self.kept();
                (self.cut(&kept), kept)
            }
        };
        Captured {
            text,
            bytes: self.total,
            lines: self.lines(),
            kept,
        }
    }

    fn lines(&self) -> u64 {
        let unfinished = self.last.is_some_and(|last| last != b'\n');
        self.line_ends + u64::from(unfinished)
    }

    fn kept(&self) -> Kept {
        match &self.keeping {
            Keeping::NotYet => Kept::No,
            Keeping::To { len, .. } if *len < self.total => Kept::Beginning(self.place.number()),
            Keeping::To { .. } => Kept::Whole(self.place.number()),
            Keeping::Failed(error) => Kept::Failed(error.to_string()),
        }
    }

    /// Head, what is left out, tail.
    fn cut(&self, kept: &Kept) -> String {
        let head = &self.head[..head_len(&self.head, self.head_limit)];
        let tail = self.tail.bytes();
        let tail = &tail[tail_start(tail, self.tail.limit)..];
        let hidden = self.total - head.len() as u64 - tail.len() as u64;
        // A line that was cut counts where its end is.
        let tail_lines = line_ends(tail) + u64::from(self.last != Some(b'\n') && !tail.is_empty());
        let hidden_lines = self.lines() - (line_ends(head) + tail_lines).min(self.lines());
        let mut out = plain(head);
        end_line(&mut out);
        let lines = match hidden_lines {
            0 => String::new(),
            lines => text::counted(lines, "line") + ", ",
        };
        out.push_str(&format!(
            "[{lines}{} bytes not shown: {}]\n",
            grouped(hidden),
            match kept {
                Kept::Whole(number) | Kept::Beginning(number) =>
                    format!("read_file output:{number} with start_line and end_line"),
                Kept::No => "not kept".to_string(),
                Kept::Failed(error) => format!("not kept: {error}"),
            }
        ));
        let tail_at = self.total - tail.len() as u64;
        let marks = self.marks.found.iter();
        let marks: Vec<_> = marks.filter(|mark| mark.offset < tail_at).collect();
        if !marks.is_empty() {
            out.push_str("[of these look like errors:]\n");
            for mark in marks {
                let line = text::repair(&mark.bytes);
                let line = text::line(&line);
                out.push_str(&format!(
                    "{}: {}\n",
                    mark.line,
                    text::clip(line.trim_end(), MARK_CHARS)
                ));
            }
            out.push_str("[end of the output:]\n");
        }
        out.push_str(&plain(tail));
        out
    }
}

/// The file with what came before.
fn begin(place: &Place, before: [&[u8]; 2]) -> io::Result<File> {
    let mut file = place.create()?;
    for bytes in before {
        file.write_all(bytes)?;
    }
    Ok(file)
}

/// Foreign bytes as text worth a model's tokens: UTF-8 repaired, colors gone, of a progress line only its last state.
fn plain(bytes: &[u8]) -> String {
    text::plain(&text::repair(bytes)).into_owned()
}

fn end_line(out: &mut String) {
    if !out.is_empty() && !out.ends_with('\n') {
        out.push('\n');
    }
}

/// Bytes of the repaired text.
fn repaired_len(bytes: &[u8]) -> usize {
    bytes.utf8_chunks().map(|chunk| chunk_len(&chunk)).sum()
}

fn chunk_len(chunk: &std::str::Utf8Chunk<'_>) -> usize {
    let replacement = if chunk.invalid().is_empty() { 0 } else { 3 };
    chunk.valid().len() + replacement
}

/// How many bytes of the beginning to show: they fit repaired, and end at a line's end if one is in the second half.
fn head_len(head: &[u8], limit: usize) -> usize {
    let (mut len, mut shown) = (0, 0);
    for chunk in head.utf8_chunks() {
        let valid = chunk.valid();
        let fits = floor(valid, limit - shown);
        shown += fits;
        len += fits;
        if fits < valid.len() || shown + 3 > limit {
            break;
        }
        // A character that the cut went through is left out; another invalid part is shown as one.
        let at_end = len + chunk.invalid().len() == head.len();
        if !chunk.invalid().is_empty() && !at_end {
            shown += 3;
            len += chunk.invalid().len();
        }
    }
    let shown = &head[..len];
    match shown.iter().rposition(|&byte| byte == b'\n') {
        Some(end) if end + 1 >= len / 2 => end + 1,
        Some(_) | None => len,
    }
}

/// The largest character boundary at or below `at`.
fn floor(text: &str, at: usize) -> usize {
    if at >= text.len() {
        return text.len();
    }
    (0..=at)
        .rev()
        .find(|&at| text.is_char_boundary(at))
        .unwrap_or(0)
}

/// The smallest character boundary at or above `at`.
pub(super) fn ceil(text: &str, at: usize) -> usize {
    (at..text.len())
        .find(|&at| text.is_char_boundary(at))
        .unwrap_or(text.len())
}

/// Where the end to show starts: it fits repaired, and begins at a line's beginning if one is in the first half.
fn tail_start(tail: &[u8], limit: usize) -> usize {
    let mut start = tail
        .iter()
        .take(3)
        .take_while(|&&byte| byte & 0xc0 == 0x80)
        .count();
    let mut left = repaired_len(&tail[start..]);
    for chunk in tail[start..].utf8_chunks() {
        if left <= limit {
            break;
        }
        let over = left - limit;
        let valid = chunk.valid();
        if over < valid.len() {
            start += ceil(valid, over);
            break;
        }
        start += valid.len() + chunk.invalid().len();
        left -= chunk_len(&chunk);
    }
    let first_half = start + (tail.len() - start) / 2;
    let line_end = simd::find_byte(&tail[..first_half], b'\n', start);
    if line_end < first_half {
        line_end + 1
    } else {
        start
    }
}

/// The last `limit` bytes: pushed into a vector twice that size, moved to its beginning when it is full. No byte moves more than once
/// for each `limit` bytes that come.
#[derive(Debug)]
struct Tail {
    bytes: Vec<u8>,
    limit: usize,
}

impl Tail {
    fn new(limit: usize) -> Tail {
        Tail {
            bytes: Vec::new(),
            limit,
        }
    }

    fn push(&mut self, bytes: &[u8]) {
        let bytes = &bytes[bytes.len().saturating_sub(self.limit)..];
        if self.bytes.len() + bytes.len() > 2 * self.limit {
            let keep = self.limit - bytes.len();
            let start = self.bytes.len().saturating_sub(keep);
            self.bytes.drain(..start);
        }
        self.bytes.extend_from_slice(bytes);
    }

    fn bytes(&self) -> &[u8] {
        &self.bytes[self.bytes.len().saturating_sub(self.limit)..]
    }
}

/// Finds lines that look like errors.
#[derive(Debug, Default)]
struct Marks {
    found: Vec<Mark>,
    /// Lines that begin before are shown anyway; `None` as long as no other began.
    from: Option<u64>,
    /// The beginning of an unfinished line.
    line: Vec<u8>,
    /// Its number, less 1, and where it begins.
    number: u64,
    offset: u64,
    /// Bytes fed.
    at: u64,
}

impl Marks {
    fn feed(&mut self, bytes: &[u8]) {
        if self.found.len() == MAX_MARKS {
            return;
        }
        let mut rest = bytes;
        while !rest.is_empty() {
            let end = simd::find_byte(rest, b'\n', 0);
            let room = MARK_BYTES - self.line.len();
            if end == rest.len() {
                self.line.extend_from_slice(&rest[..end.min(room)]);
                self.at += end as u64;
                return;
            }
            if self.line.is_empty() {
                // The common case, without a copy.
                self.look(&rest[..end.min(MARK_BYTES)]);
            } else {
                self.line.extend_from_slice(&rest[..end.min(room)]);
                let line = std::mem::take(&mut self.line);
                self.look(&line);
            }
            self.at += end as u64 + 1;
            self.offset = self.at;
            self.number += 1;
            rest = &rest[end + 1..];
        }
    }

    /// The last line, if it has no end.
    fn finish(&mut self) {
        let line = std::mem::take(&mut self.line);
        self.look(&line);
    }

    fn look(&mut self, line: &[u8]) {
        let hidden = self.from.is_some_and(|from| self.offset >= from);
        if hidden && self.found.len() < MAX_MARKS && looks_like_error(line) {
            self.found.push(Mark {
                line: self.number + 1,
                offset: self.offset,
                bytes: line.to_vec(),
            });
        }
    }
}

fn looks_like_error(line: &[u8]) -> bool {
    line.iter().enumerate().any(|(at, byte)| {
        let rest = &line[at..];
        match byte {
            // `Error:` of a Python exception, `ERROR` of a log.
            b'e' | b'E' => rest
                .get(..5)
                .is_some_and(|word| word.eq_ignore_ascii_case(b"error")),
            b'F' => rest.starts_with(b"FAILED"),
            b'T' => rest.starts_with(b"Traceback"),
            b'p' => rest.starts_with(b"panicked"),
            _ => false,
        }
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sys::random;
    use crate::tools::outputs::Outputs;

    /// A place in a folder that goes with the first value.
    fn place() -> (Outputs, Place) {
        let name = format!("zcoder-test-{}", random::id(12).expect("name"));
        let mut outputs = Outputs::new(std::env::temp_dir().join(name), true);
        let place = outputs.next();
        (outputs, place)
    }

    fn captured<'a>(limit: usize, pieces: impl Iterator<Item = &'a [u8]>) -> (Captured, Vec<u8>) {
        let (outputs, place) = place();
        let mut capture = Capture::new(limit, place);
        pieces.for_each(|piece| capture.feed(piece));
        let captured = capture.finish();
        let kept = outputs.open(1).map(|mut file| {
            let mut bytes = Vec::new();
            io::Read::read_to_end(&mut file, &mut bytes).expect("kept output");
            bytes
        });
        (captured, kept.unwrap_or_default())
    }

    #[track_caller]
    fn check(limit: usize, output: &str, text: &str) {
        let whole = captured(limit, std::iter::once(output.as_bytes()));
        assert_eq!(whole.0.text, text);
        for cut in 0..=output.len() {
            let (one, two) = output.as_bytes().split_at(cut);
            assert_eq!(captured(limit, [one, two].into_iter()), whole, "cut {cut}");
        }
        assert_eq!(captured(limit, output.as_bytes().chunks(1)), whole);
    }

    #[test]
    fn pieces_give_what_the_whole_gives() {
        check(16, "", "");
        check(16, "one\ntwo\n", "one\ntwo\n");
        check(16, "sixteen\nbytes\n\n\n", "sixteen\nbytes\n\n\n");
        check(
            16,
            "one\ntwo\nerror: x\nfour\nfive\nsix\nseven\n",
            "one\ntwo\n[4 lines, 23 bytes not shown: read_file output:1 with start_line and end_line]\n\
             [of these look like errors:]\n3: error: x\n[end of the output:]\nseven\n",
        );
        // Cut inside the line, since its beginning is longer than half of what is shown.
        check(
            8,
            "aaaaaaaaaaaaaaaaaa\nb\n",
            "aaaa\n[1 line, 15 bytes not shown: read_file output:1 with start_line and end_line]\nb\n",
        );
        // The cut goes through a character on both sides.
        check(
            9,
            "ääääääääää",
            "ää\n[12 bytes not shown: read_file output:1 with start_line and end_line]\nää",
        );
    }

    #[test]
    fn a_line_that_the_head_cuts_is_still_looked_at() {
        // The head ends at the line end before it, so that it is not shown.
        check(
            20,
            "12345678\nerror 1\nx\nx\nx\nx\nx\nx\nx\nx\nx\nx\n",
            "12345678\n[7 lines, 20 bytes not shown: read_file output:1 with start_line and end_line]\n\
             [of these look like errors:]\n2: error 1\n[end of the output:]\nx\nx\nx\nx\n",
        );
    }

    #[test]
    fn lines_behind_what_is_kept_are_counted_and_not_looked_at() {
        let mut filler = vec![b'x'; (64 << 10) - 1];
        filler.push(b'\n');
        let fill = |times| std::iter::repeat_n(filler.as_slice(), times);
        let pieces = fill(1)
            .chain([b"error early\n".as_slice()])
            .chain(fill(256));
        let pieces = pieces.chain([b"error late\n".as_slice()]).chain(fill(1));
        let (captured, kept) = captured(16, pieces);
        assert_eq!((captured.lines, captured.kept), (260, Kept::Beginning(1)));
        assert_eq!(kept.len() as u64, MAX_KEPT_BYTES);
        assert!(
            captured.text.contains("\n2: error early\n"),
            "{}",
            captured.text
        );
        assert!(!captured.text.contains("error late"), "{}", captured.text);
    }

    #[test]
    fn words_that_mark_a_line() {
        for line in [
            "error",
            "an Error:",
            "ERROR",
            "x FAILED",
            "Traceback (",
            "panicked at",
        ] {
            assert!(looks_like_error(line.as_bytes()), "{line}");
        }
        for line in ["", "erro", "err or", "failed", "traceback", "Panicked"] {
            assert!(!looks_like_error(line.as_bytes()), "{line}");
        }
    }

    #[test]
    fn the_tail_is_the_end_of_everything_pushed() {
        let all: Vec<u8> = (0..=255).cycle().take(2000).collect();
        for limit in [0, 1, 7, 64, 1999, 2000, 3000] {
            for piece in [1, 3, 7, 64, 2000] {
                let mut tail = Tail::new(limit);
                all.chunks(piece).for_each(|bytes| tail.push(bytes));
                assert_eq!(tail.bytes(), &all[all.len().saturating_sub(limit)..]);
                assert!(tail.bytes.len() <= 2 * limit);
            }
        }
    }
}
