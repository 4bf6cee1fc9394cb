//! What is wrong with a JSON text, and where.
//!
//! ```text
//! [1,2 x]      expected a comma or `]` in an array at byte 5, found `x`
//! {"a" 1}      expected a colon after a name at byte 5, found `1`
//! "abc         expected a closing quote at byte 4, found the end
//! ```
//!
//! Invariant: each cause comes from one branch of the tokenizer, so a message finds its line.
//! Invariant: an error holds no text; line and column are counted only when someone wants to show them.

use super::MAX_DEPTH;
use crate::text::counted;
use std::fmt;

/// A cause and the byte offset where it was noticed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Error {
    /// Which rule was broken.
    pub cause: Cause,
    /// The byte that stands there; `None` is the end of the text.
    pub found: Option<u8>,
    /// Bytes before it.
    pub offset: usize,
}

/// The rule that was broken: one variant a branch of the tokenizer. Section numbers are RFC 8259's.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Cause {
    /// A text is one value (2).
    Value,
    /// `[` is followed by a value or `]` (5).
    ItemOrEnd,
    /// A comma in an array is followed by a value (5).
    ItemAfterComma,
    /// An item is followed by a comma or `]` (5).
    CommaOrArrayEnd,
    /// `{` is followed by a name or `}` (4).
    NameOrEnd,
    /// A comma in an object is followed by a name (4).
    NameAfterComma,
    /// A name is followed by a colon (4).
    Colon,
    /// A colon is followed by a value (4).
    MemberValue,
    /// A member is followed by a comma or `}` (4).
    CommaOrObjectEnd,
    /// Nothing follows the value (2).
    TextEnd,
    /// A word that begins with `t` (3).
    True,
    /// A word that begins with `f` (3).
    False,
    /// A word that begins with `n` (3).
    Null,
    /// A minus is followed by a digit (6).
    DigitAfterMinus,
    /// A leading zero stands alone (6).
    LeadingZero,
    /// A decimal point is followed by a digit (6).
    DigitAfterPoint,
    /// An exponent has a digit (6).
    DigitInExponent,
    /// A string ends in a quote (7).
    StringEnd,
    /// A control character in a string is escaped (7).
    RawControl,
    /// A backslash is followed by one of nine letters and signs (7).
    Escape,
    /// `\u` is followed by four hex digits (7).
    HexDigit,
    /// At most [`MAX_DEPTH`] arrays and objects lie in each other (9 allows a limit).
    Depth,
    /// A text is UTF-8 (8.1); only where the reader is strict about it.
    InvalidUtf8,
    /// A tree's text has at most [`super::MAX_TREE_BYTES`] bytes (9 allows a limit).
    TooLong,
}

impl Cause {
    /// What had to stand there, to follow "expected"; `None` for the limits and the encoding, which are said otherwise.
    fn expectation(self) -> Option<&'static str> {
        Some(match self {
            Cause::Value => "a value",
            Cause::ItemOrEnd => "a value or `]` after `[`",
            Cause::ItemAfterComma => "a value after a comma in an array",
            Cause::CommaOrArrayEnd => "a comma or `]` in an array",
            Cause::NameOrEnd => "a quoted name or `}` after `{`",
            Cause::NameAfterComma => "a quoted name after a comma in an object",
            Cause::Colon => "a colon after a name",
            Cause::MemberValue => "a value after a colon",
            Cause::CommaOrObjectEnd => "a comma or `}` in an object",
            Cause::TextEnd => "nothing after the value",
            Cause::True => "`true`",
            Cause::False => "`false`",
            Cause::Null => "`null`",
            Cause::DigitAfterMinus => "a digit after `-`",
            Cause::LeadingZero => "no digit after a leading zero",
            Cause::DigitAfterPoint => "a digit after the decimal point",
            Cause::DigitInExponent => "a digit in the exponent",
            Cause::StringEnd => "a closing quote",
            Cause::RawControl => "an escape in place of a control character",
            Cause::Escape => "one of `\"\\/bfnrtu` after a backslash",
            Cause::HexDigit => "four hex digits after `\\u`",
            Cause::Depth | Cause::InvalidUtf8 | Cause::TooLong => return None,
        })
    }
}

impl Error {
    /// Whether the text was right so far and only ends too early: more bytes could mend it.
    pub fn is_cut(&self) -> bool {
        self.found.is_none() && self.cause.expectation().is_some()
    }

    /// Line and column of the error in the text it is about.
    pub fn line_column(&self, text: &[u8]) -> (usize, usize) {
        line_column(text, self.offset)
    }
}

/// Line and column of a byte, both counted from 1, the column in characters. A byte order mark is none.
pub fn line_column(text: &[u8], offset: usize) -> (usize, usize) {
    let before = &text[..offset.min(text.len())];
    let before = before.strip_prefix(b"\xef\xbb\xbf").unwrap_or(before);
    let line_start = before
        .iter()
        .rposition(|&b| b == b'\n')
        .map_or(0, |i| i + 1);
    let lines = before.iter().filter(|&&b| b == b'\n').count();
    // Bytes 0x80..=0xbf continue a character (RFC 3629 3).
    let is_start = |b: &&u8| !(0x80..0xc0).contains(*b);
    let characters = before[line_start..].iter().filter(is_start).count();
    (lines + 1, characters + 1)
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let at = self.offset;
        let Some(expectation) = self.cause.expectation() else {
            return match self.cause {
                Cause::Depth => write!(f, "more than {MAX_DEPTH} levels of nesting at byte {at}"),
                Cause::TooLong => {
                    let limit = counted(super::MAX_TREE_BYTES as u64, "byte");
                    write!(f, "a value of more than {limit} at byte {at}")
                }
                _ => write!(f, "bytes that are not UTF-8 at byte {at}"),
            };
        };
        write!(f, "expected {expectation} at byte {at}, found ")?;
        match self.found {
            None => f.write_str("the end"),
            Some(byte @ 0x20..=0x7e) => write!(f, "`{}`", char::from(byte)),
            Some(byte) => write!(f, "byte 0x{byte:02x}"),
        }
    }
}

impl std::error::Error for Error {}
