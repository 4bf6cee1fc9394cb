//! The lines of a range out of a file's bytes. In: the bytes of a file from its beginning, cut anywhere. Out: the bytes of lines `first` to
//! `last`, bounded, and where the file stands after them. `read` feeds it, 64 KiB at a time.
//!
//! ```text
//! lines 2-3 of   on|e⏎t|wo⏎thr|ee⏎four⏎      (cut at the bars)
//!                two⏎three⏎                   more follow: a byte of line 4 was seen
//! ```
//!
//! Limits: `limit` bytes, each line's number and tab counted. A line that does not fit ends the range before it; only a first line longer
//! than all of it is shown in part.
//!
//! Invariant: cuts in the input change nothing.
//! Invariant: memory holds the range, not what lies before it.

use crate::sys::simd;

/// The decoder. Lines count from 1.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Range {
    first: u64,
    last: u64,
    limit: u64,
    /// Where the next byte belongs.
    line: u64,
    /// Some of that line was seen.
    open: bool,
    /// Shown bytes so far.
    spent: u64,
    bytes: Vec<u8>,
    cut: bool,
    more: bool,
}

/// How a range ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum End {
    /// The file ends with it.
    File,
    /// The file goes on.
    More,
    /// The next line did not fit.
    Cut,
    /// Its only line did not fit and is shown in part.
    CutLine,
}

impl Range {
    pub(super) fn new(first: u64, last: u64, limit: u64) -> Range {
        Range {
            first,
            last,
            limit,
            line: 1,
            open: false,
            spent: 0,
            bytes: Vec::new(),
            cut: false,
            more: false,
        }
    }

    /// The next bytes of the file. False: no more are needed.
    pub(super) fn feed(&mut self, bytes: &[u8]) -> bool {
        let mut at = 0;
        while at < bytes.len() && !self.cut {
            if self.line > self.last {
                self.more = true;
                return false;
            }
            let line_feed = simd::find_byte(bytes, b'\n', at);
            let end = (line_feed + 1).min(bytes.len());
            if self.line >= self.first {
                self.take(&bytes[at..end]);
            }
            self.open = line_feed == bytes.len();
            self.line += u64::from(!self.open);
            at = end;
        }
        // At the end of the last line one byte more tells whether the file goes on.
        !self.cut
    }

    fn take(&mut self, piece: &[u8]) {
        let number = match self.open {
            true => 0,
            false => u64::from(self.line.ilog10()) + 2,
        };
        let room = self.limit.saturating_sub(self.spent + number);
        if piece.len() as u64 <= room {
            self.spent += number + piece.len() as u64;
            self.bytes.extend_from_slice(piece);
            return;
        }
        self.cut = true;
        match self.bytes.iter().rposition(|b| *b == b'\n') {
            Some(line_feed) => self.bytes.truncate(line_feed + 1),
            // Smaller than the piece, so it fits in memory.
            None => self.bytes.extend_from_slice(&piece[..room as usize]),
        }
    }

    /// What was found: the range's bytes and how it ended; or, where the file ended before it, how many lines it has.
    pub(super) fn finish(self) -> Result<(Vec<u8>, End), u64> {
        let end = match (self.cut, self.more) {
            (true, _) if self.bytes.ends_with(b"\n") => End::Cut,
            (true, _) => End::CutLine,
            (false, true) => End::More,
            (false, false) => End::File,
        };
        if end == End::File && self.bytes.is_empty() {
            return Err(self.line - 1 + u64::from(self.open));
        }
        Ok((self.bytes, end))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Whole, byte by byte, and cut at every place: the same.
    #[track_caller]
    fn check(
        file: &str,
        (first, last): (u64, u64),
        limit: u64,
        expected: Result<(&str, End), u64>,
    ) {
        let run = |pieces: &[&[u8]]| {
            let mut range = Range::new(first, last, limit);
            let _ = pieces.iter().all(|piece| range.feed(piece));
            range.finish()
        };
        let expected = expected.map(|(text, end)| (text.as_bytes().to_vec(), end));
        let file = file.as_bytes();
        assert_eq!(run(&[file]), expected);
        let bytes: Vec<&[u8]> = file.chunks(1).collect();
        assert_eq!(run(&bytes), expected, "byte by byte");
        for at in 0..=file.len() {
            assert_eq!(run(&[&file[..at], &file[at..]]), expected, "cut at {at}");
        }
    }

    #[test]
    fn ranges() {
        let file = "one\ntwo\nthree\n";
        check(file, (1, 1), 99, Ok(("one\n", End::More)));
        check(file, (2, 3), 99, Ok(("two\nthree\n", End::File)));
        check(file, (2, 2), 99, Ok(("two\n", End::More)));
        check(file, (1, u64::MAX), 99, Ok((file, End::File)));
        check("one\ntwo", (2, 9), 99, Ok(("two", End::File)));
        check("\n\n", (1, 9), 99, Ok(("\n\n", End::File)));
        check("\n\n", (2, 2), 99, Ok(("\n", End::File)));
        check(file, (4, 9), 99, Err(3));
        check("one\ntwo", (3, 3), 99, Err(2));
        check("", (1, 9), 99, Err(0));
    }

    #[test]
    fn limits() {
        // `1⇥one⏎2⇥two⏎` is 12 bytes.
        let file = "one\ntwo\nthree\n";
        check(file, (1, 2), 12, Ok(("one\ntwo\n", End::More)));
        check(file, (1, 3), 12, Ok(("one\ntwo\n", End::Cut)));
        check(file, (1, 3), 20, Ok((file, End::File)));
        check(file, (1, 3), 19, Ok(("one\ntwo\n", End::Cut)));
        check(file, (1, 2), 11, Ok(("one\n", End::Cut)));
        check(file, (2, 9), 4, Ok(("tw", End::CutLine)));
        check("\n\n\n", (1, 9), 6, Ok(("\n\n", End::Cut)));
        check("xxxxxxxxxx", (1, 1), 7, Ok(("xxxxx", End::CutLine)));
        check("xxxxx", (1, 1), 7, Ok(("xxxxx", End::File)));
    }
}
