//! One line as it is shown. In: its bytes and where the match lies. Out: text of a bounded length around the match, without controls.
//!
//! ```text
//! let total = sum(x);                   let total = sum(x);
//! …50,000 bytes of JavaScript…          …(e){return e.total}function b(t){…
//! a ESC [31m b TAB c                    a\x1b[31mb⇥c
//! ```
//!
//! Tabs stay: a line that is to be replaced has to be copied as it is. Bytes that are not UTF-8 become U+FFFD.
//!
//! Limits: [`LINE_CHARS`] characters, and `…` where something is left out.

use super::scan::{CHAR_BYTES, char_start};
use crate::text;
use std::ops::Range;

/// Of a line that is shown.
pub(super) const LINE_CHARS: usize = 200;
/// Bytes before the match that are shown of a longer line.
const BEFORE_BYTES: usize = 50;

/// The line, or the piece of it around the match.
pub(super) fn shorten(line: &[u8], found: &Range<usize>) -> String {
    if line.len() <= LINE_CHARS * CHAR_BYTES {
        let whole = text::repair(line);
        if whole.chars().count() <= LINE_CHARS {
            return visible(&whole);
        }
    }
    // A match near the end: the room behind it goes to what is before it.
    let last = line.len().saturating_sub(LINE_CHARS);
    let begin = found.start.saturating_sub(BEFORE_BYTES).min(last);
    let begin = char_start(line, begin);
    let end = (begin + LINE_CHARS * CHAR_BYTES).min(line.len());
    let piece = text::repair(&line[begin..end]);
    let cut = piece.char_indices().nth(LINE_CHARS);
    let (piece, more) = match cut {
        Some((cut, _)) => (&piece[..cut], true),
        None => (&piece[..], end < line.len()),
    };
    let before = if begin > 0 { "…" } else { "" };
    let after = if more { "…" } else { "" };
    format!("{before}{}{after}", visible(piece))
}

/// Everything that is not seen, but tabs, as printable characters.
fn visible(text: &str) -> String {
    let parts: Vec<_> = text.split('\t').map(text::visible).collect();
    parts.join("\t")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(line: &[u8], found: Range<usize>, expected: &str) {
        assert_eq!(shorten(line, &found), expected);
    }

    #[test]
    fn lines_that_fit_are_shown_whole() {
        check(b"let total = 1;", 4..9, "let total = 1;");
        check(b"\ta\x1b[31m\tb\r", 1..2, "\ta\\x1b[31m\tb\\r");
        check(b"a\xffb", 0..1, "a\u{fffd}b");
        check(b"", 0..0, "");
        let most = "é".repeat(LINE_CHARS);
        check(most.as_bytes(), 0..2, &most);
    }

    #[test]
    fn longer_ones_around_the_match() {
        let x = |n| "x".repeat(n);
        let line = format!("{}hit{}", x(300), x(300));
        check(
            line.as_bytes(),
            300..303,
            &format!("…{}hit{}…", x(50), x(147)),
        );
        let line = format!("hit{}", x(198));
        check(line.as_bytes(), 0..3, &format!("hit{}…", x(197)));
        let line = format!("{}hit", x(198));
        check(line.as_bytes(), 198..201, &format!("…{}hit", x(197)));
        // Never within a character.
        let e = |n| "é".repeat(n);
        let line = format!("a{}hit{}", e(100), e(200));
        check(
            line.as_bytes(),
            201..204,
            &format!("…{}hit{}…", e(25), e(172)),
        );
        // Nor misled by bytes that are none.
        let odd = [&[0x80; 300][..], b"hit"].concat();
        let shown = shorten(&odd, &(300..303));
        assert!(shown.ends_with("\u{fffd}hit"), "{shown}");
        assert_eq!(shown.chars().count(), 1 + 200);
    }
}
