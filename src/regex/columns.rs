//! Characters in kinds: all that a program treats alike share a column of the automaton's table. Used by `dfa.rs`.
//!
//! ```text
//! pattern [a-z]+\d       column 0 the end of the text      3 a-z
//!                        1 no character                    4 0-9
//!                        2 \0 and all that nothing reads   5 ½ and the other digits, once one of them turns up
//! ```
//!
//! The columns of ASCII are there from the beginning. A character beyond it gets its column when it is met for the first time: the sets it
//! belongs to are asked, and it joins the column of those that belong to the same ones. So a program never has to be written out for the
//! more than a million characters there are.
//!
//! Where no instruction can read anything beyond ASCII, and nothing else depends on it, its bytes are not decoded at all.
//!
//! Invariant: all characters of a column are accepted by the same instructions and are the same `Side`.
//! Invariant: memory is bounded; what is forgotten is found again.

use super::look::{Look, Side};
use super::program::{Inst, Program};
use crate::sort;
use std::collections::HashMap;

/// Index of a column.
pub(super) type Column = u16;

/// The column of the end of the text.
pub(super) const END: Column = 0;

/// The column of a byte that belongs to no character.
pub(super) const NONE: Column = 1;

/// The column of bytes that have to be decoded.
pub(super) const DECODE: Column = 2;

/// More than any pattern but a list of Chinese words needs; then they are forgotten and begun again.
const MAX_COLUMNS: usize = 1024;

/// Characters whose column is remembered, a power of two: an alphabet fits, of Chinese the most frequent.
const REMEMBERED: usize = 2048;

/// What a column stands for.
#[derive(Clone, Copy, Debug)]
pub(super) enum Kind {
    End,
    /// A byte that is part of no character, or one of those that are not decoded.
    None,
    /// Characters like this one.
    Like(char),
}

/// What tells a character from those of other columns.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
struct Signature {
    /// Itself, if an instruction reads just it.
    alone: Option<char>,
    side: Side,
    /// A bit for each set.
    sets: Vec<u64>,
}

#[derive(Debug)]
pub(super) struct Columns {
    /// The column of each byte.
    bytes: [Column; 256],
    kinds: Vec<Kind>,
    /// How many of them there were at the begin.
    ascii: usize,
    by_signature: HashMap<Signature, Column>,
    /// The last character of each remainder, with its column.
    remembered: Vec<(char, Column)>,
    /// Characters that are read alone, sorted.
    alone: Vec<char>,
    /// Whether the sides matter.
    looks: bool,
}

impl Columns {
    pub(super) fn new(program: &Program) -> Columns {
        let mut alone = Vec::new();
        let (mut looks, mut words, mut beyond) = (false, false, false);
        for inst in &program.insts {
            match *inst {
                Inst::Char(c) => {
                    alone.push(c);
                    beyond |= !c.is_ascii();
                }
                Inst::Class(index) => beyond |= program.classes[index as usize].has_others(),
                Inst::Look(look) => {
                    looks = true;
                    words |= is_about_words(look);
                }
                Inst::Split(..) | Inst::Jump(_) | Inst::Match => {}
            }
        }
        sort::by(&mut alone, Ord::cmp);
        alone.dedup();
        // An empty match needs them no more than others: it lies where the search begins, or where a line does or ends.
        let decodes = beyond || words;
        let mut columns = Columns {
            bytes: [if decodes { DECODE } else { NONE }; 256],
            kinds: vec![Kind::End, Kind::None, Kind::None],
            ascii: 0,
            by_signature: HashMap::new(),
            remembered: Vec::new(),
            alone,
            looks,
        };
        for byte in 0..0x80 {
            columns.bytes[usize::from(byte)] = columns.kind_of(program, char::from(byte));
        }
        columns.ascii = columns.kinds.len();
        columns
    }

    pub(super) fn bytes(&self) -> &[Column; 256] {
        &self.bytes
    }

    pub(super) fn len(&self) -> usize {
        self.kinds.len()
    }

    pub(super) fn kind(&self, column: Column) -> Kind {
        self.kinds[usize::from(column)]
    }

    pub(super) fn side(&self, column: Column) -> Side {
        match self.kind(column) {
            Kind::End => Side::Edge,
            Kind::None => Side::Other,
            Kind::Like(c) => Side::of(Some(c)),
        }
    }

    /// The column of a decoded character; there may be one more than before.
    pub(super) fn of(&mut self, program: &Program, character: Option<char>) -> Column {
        let Some(c) = character else {
            return NONE;
        };
        if c.is_ascii() {
            return self.bytes[c as usize];
        }
        if let Some(column) = self.remembered(c) {
            return column;
        }
        if self.remembered.is_empty() {
            self.remembered = vec![('\0', NONE); REMEMBERED];
        }
        let column = self.kind_of(program, c);
        self.remembered[c as usize % REMEMBERED] = (c, column);
        column
    }

    /// The column of a character beyond ASCII that was met lately.
    #[inline]
    pub(super) fn remembered(&self, character: char) -> Option<Column> {
        let (known, column) = *self.remembered.get(character as usize % REMEMBERED)?;
        (known == character).then_some(column)
    }

    /// Whether there are so many that the next one may find no place.
    pub(super) fn is_full(&self) -> bool {
        self.kinds.len() >= MAX_COLUMNS
    }

    /// Forgets all but ASCII.
    pub(super) fn clear(&mut self) {
        self.kinds.truncate(self.ascii);
        let ascii = self.ascii;
        self.by_signature
            .retain(|_, column| usize::from(*column) < ascii);
        self.remembered.clear();
    }

    fn kind_of(&mut self, program: &Program, c: char) -> Column {
        let mut sets = vec![0; program.classes.len().div_ceil(64)];
        for (index, class) in program.classes.iter().enumerate() {
            sets[index / 64] |= u64::from(class.contains(c)) << (index % 64);
        }
        let signature = Signature {
            alone: self.alone.binary_search(&c).is_ok().then_some(c),
            side: if self.looks {
                Side::of(Some(c))
            } else {
                Side::Other
            },
            sets,
        };
        let new = self.kinds.len() as Column;
        let column = *self.by_signature.entry(signature).or_insert(new);
        if column == new {
            self.kinds.push(Kind::Like(c));
        }
        column
    }
}

fn is_about_words(look: Look) -> bool {
    match look {
        Look::Boundary | Look::NoBoundary | Look::WordStart | Look::WordEnd => true,
        Look::TextStart
        | Look::TextEnd
        | Look::LineStart
        | Look::LineEnd
        | Look::LineEndOrReturn => false,
    }
}
