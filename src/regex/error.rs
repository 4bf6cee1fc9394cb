//! What is wrong with a pattern, and where: each cause comes from one branch of the parser.
//!
//! ```text
//! pattern     foo(bar
//! to_string   byte 3: `(` without its `)`; for the character write `\(`
//! shown       foo(bar
//!                ^ `(` without its `)`; for the character write `\(`
//! ```
//!
//! The second form is for people; of a long or multi-line pattern it quotes the piece around the place. The caret stands below the
//! character if each before it is one cell wide.
//!
//! Invariant: an offset is a character boundary of the pattern, or its length.
//! Invariant: a cause holds no text but single characters of the pattern.

use super::{MAX_BOUND, MAX_INSTRUCTIONS, MAX_NESTING, MAX_PATTERN_BYTES};
use crate::text::counted;
use std::fmt;

/// A cause and the byte offset of the character it is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Error {
    /// Which rule was broken.
    pub cause: Cause,
    /// Bytes of the pattern before the place.
    pub offset: usize,
}

/// The rule that was broken.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Cause {
    /// A group is closed.
    OpenGroup,
    /// A `)` has a group to close.
    StrayClose,
    /// A bracket is closed.
    OpenBracket,
    /// Something stands before a repetition: the character is the operator.
    NothingToRepeat(char),
    /// In `{n,m}` n is not above m.
    BoundOrder,
    /// A bound is at most [`MAX_BOUND`].
    BoundTooBig,
    /// A backslash is followed by something.
    LoneBackslash,
    /// An escape is one that exists: the character is the letter.
    UnknownEscape(char),
    /// `\1`, `\k<name>`, `(?P=name)` have no place in a search of linear time.
    BackReference,
    /// Nor have `(?=` and `(?!`.
    LookAhead,
    /// Nor have `(?<=` and `(?<!`.
    LookBehind,
    /// Nor has `(?>`.
    Atomic,
    /// A flag is one of `imsx`.
    UnknownFlag(char),
    /// `(?` is followed by something known.
    UnknownGroup,
    /// A group's name is a word.
    GroupName,
    /// A name is given once.
    RepeatedName,
    /// `\x` and `\u` are followed by hexadecimal digits.
    HexDigits,
    /// The digits are a character's number.
    NotACharacter,
    /// `[:name:]` is a POSIX name.
    UnknownPosix,
    /// `\p{name}` is a property that is known here.
    UnknownProperty,
    /// A range goes upwards.
    RangeOrder,
    /// Both ends of a range are characters.
    RangeEnd,
    /// A pattern for lines matches no line feed.
    LineFeed,
    /// A pattern has at most [`MAX_PATTERN_BYTES`].
    TooLong,
    /// Groups, brackets and operators lie in each other at most [`MAX_NESTING`] deep.
    TooDeep,
    /// A program has at most [`MAX_INSTRUCTIONS`].
    TooBig,
}

impl Error {
    /// The pattern (or a piece of it), a caret below the place, and the cause: two lines.
    pub fn shown(&self, pattern: &str) -> String {
        const AROUND: usize = 60;
        let place = self.offset.min(pattern.len());
        let (before, after) = pattern.split_at_checked(place).unwrap_or((pattern, ""));
        let mut head: Vec<char> = before.chars().rev().take(AROUND + 1).collect();
        head.reverse();
        if head.len() > AROUND {
            head[0] = '…';
        }
        let mut tail: Vec<char> = after.chars().take(AROUND + 1).collect();
        if tail.len() > AROUND {
            tail[AROUND] = '…';
        }
        // A control character would move the caret, or more than that.
        let visible = |c: &char| if c.is_control() { '\u{fffd}' } else { *c };
        let quoted: String = head.iter().chain(&tail).map(visible).collect();
        format!(
            "{quoted}\n{:width$}^ {}",
            "",
            self.cause,
            width = head.len()
        )
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "byte {}: {}", self.offset, self.cause)
    }
}

impl fmt::Display for Cause {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Cause::OpenGroup => r"`(` without its `)`; for the character write `\(`",
            Cause::StrayClose => r"`)` without its `(`; for the character write `\)`",
            Cause::OpenBracket => r"`[` without its `]`; for the character write `\[`",
            Cause::NothingToRepeat(c) => {
                return write!(
                    f,
                    r"nothing before `{c}` to repeat; for the character write `\{c}`"
                );
            }
            Cause::BoundOrder => "the first bound is above the second",
            Cause::BoundTooBig => return write!(f, "a bound above {MAX_BOUND}"),
            Cause::LoneBackslash => r"a backslash at the end; for the character write `\\`",
            Cause::UnknownEscape(c) => return write!(f, r"unknown escape `\{}`", c.escape_debug()),
            Cause::BackReference => "back-references are not supported",
            Cause::LookAhead => "look-ahead is not supported",
            Cause::LookBehind => "look-behind is not supported",
            Cause::Atomic => "atomic groups are not supported; use `(?:`",
            Cause::UnknownFlag(c) => {
                return write!(f, "unknown flag `{}`; known: i m s x", c.escape_debug());
            }
            Cause::UnknownGroup => {
                "unknown kind of group; known: `(?:`, `(?<name>`, `(?P<name>`, `(?i)`, `(?i:`"
            }
            Cause::GroupName => "a group's name is a letter or `_`, then letters, digits and `_`",
            Cause::RepeatedName => "two groups have this name",
            Cause::HexDigits => r"hexadecimal digits expected, as in `\x41`, `\u00e9`, `\x{1F600}`",
            Cause::NotACharacter => "no character has this number",
            Cause::UnknownPosix => {
                "unknown POSIX name; known: alnum alpha ascii blank cntrl digit graph lower print punct \
                 space upper word xdigit"
            }
            Cause::UnknownProperty => {
                "unknown property; known: L Alphabetic Lu Uppercase Ll Lowercase N Cc White_Space"
            }
            Cause::RangeOrder => "the range's first character is above its last",
            Cause::RangeEnd => r"a range ends in a character; for a hyphen write `\-`",
            Cause::LineFeed => "a line feed in a pattern for single lines never matches",
            Cause::TooLong => {
                let limit = counted(MAX_PATTERN_BYTES as u64, "byte");
                return write!(f, "a pattern of more than {limit}");
            }
            Cause::TooDeep => return write!(f, "more than {MAX_NESTING} levels of nesting"),
            Cause::TooBig => {
                let limit = counted(MAX_INSTRUCTIONS as u64, "instruction");
                return write!(f, "a pattern of more than {limit}");
            }
        })
    }
}

impl std::error::Error for Error {}
