//! Places between characters: anchors and word boundaries, decided by what stands on both sides.
//!
//! ```text
//! text       f n   x \n          sides of the place behind `n`: Word, Other
//! \b holds  ^   ^ ^ ^            sides of the place behind `x`: Word, LineFeed
//! ```
//!
//! Invariant: an answer depends on one character before and one behind, so a machine that reads a character at a time can decide it.

use super::class::Property;

/// What stands on one side of a place.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) enum Side {
    /// The begin or the end of the text.
    Edge,
    LineFeed,
    /// A carriage return.
    Return,
    /// A character of a word.
    Word,
    /// Any other character, or a byte that belongs to none.
    Other,
}

impl Side {
    pub(super) const COUNT: usize = 5;

    /// The side a character makes; `None` is a byte that is not UTF-8.
    pub(super) fn of(character: Option<char>) -> Side {
        match character {
            Some('\n') => Side::LineFeed,
            Some('\r') => Side::Return,
            Some(c) if Property::Word.holds(c) => Side::Word,
            Some(_) | None => Side::Other,
        }
    }
}

/// An assertion about a place.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) enum Look {
    /// `\A`, and `^` without `m`.
    TextStart,
    /// `\z`, and `$` without `m`.
    TextEnd,
    /// `^` with `m`.
    LineStart,
    /// `$` with `m`.
    LineEnd,
    /// `$` in a pattern for single lines: also before the carriage return of CR LF.
    LineEndOrReturn,
    /// `\b`.
    Boundary,
    /// `\B`.
    NoBoundary,
    /// `\<`.
    WordStart,
    /// `\>`.
    WordEnd,
}

impl Look {
    pub(super) fn holds(self, before: Side, behind: Side) -> bool {
        let (word_before, word_behind) = (before == Side::Word, behind == Side::Word);
        match self {
            Look::TextStart => before == Side::Edge,
            Look::TextEnd => behind == Side::Edge,
            Look::LineStart => matches!(before, Side::Edge | Side::LineFeed),
            Look::LineEnd => matches!(behind, Side::Edge | Side::LineFeed),
            Look::LineEndOrReturn => {
                matches!(behind, Side::Edge | Side::LineFeed | Side::Return)
            }
            Look::Boundary => word_before != word_behind,
            Look::NoBoundary => word_before == word_behind,
            Look::WordStart => !word_before && word_behind,
            Look::WordEnd => word_before && !word_behind,
        }
    }
}
