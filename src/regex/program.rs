//! The program: what the compiler makes of a tree and both machines run, and how they read the text.
//!
//! ```text
//! pattern  ab*|\bc
//!
//!  0  split 1 5          try 1 first, then 5
//!  1  char 'a'           then the next line
//!  2  split 3 7
//!  3  char 'b'
//!  4  jump 2
//!  5  look Boundary
//!  6  char 'c'
//!  7  match
//! ```
//!
//! A step reads one character: a valid UTF-8 sequence, or a single byte that belongs to none, which no instruction accepts (`.` neither).
//!
//! Invariant: every target is an instruction of the program, and the last instruction is the only `match`.
//! Invariant: reading forwards and backwards finds the same characters, since no valid sequence begins inside another.

use super::MAX_INSTRUCTIONS;
use super::class::Class;
use super::look::{Look, Side};
use std::fmt;

/// Index of an instruction. As small as can be: the automaton keeps lists of them, and its table is bounded.
pub(super) type Pc = u16;
const _: () = assert!(MAX_INSTRUCTIONS < 1 << Pc::BITS);

/// Where nothing is said, the next instruction follows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Inst {
    Char(char),
    /// A member of the set with this index.
    Class(u32),
    /// Both, the first preferred.
    Split(Pc, Pc),
    Jump(Pc),
    Look(Look),
    Match,
}

/// A compiled pattern, for one direction.
pub(super) struct Program {
    pub(super) insts: Vec<Inst>,
    pub(super) classes: Vec<Class>,
    /// Whether it reads backwards: then what a machine has read lies behind the place, and what comes lies before it.
    pub(super) backwards: bool,
    /// Whether a line feed ends everything: no instruction accepts one, and each line is a text of its own.
    pub(super) lines: bool,
    /// For each instruction, whether an assertion can be reached from it without reading.
    pub(super) asks: Vec<bool>,
}

impl Program {
    /// The value of the field `asks`.
    pub(super) fn asking(insts: &[Inst]) -> Vec<bool> {
        let mut asks = vec![false; insts.len()];
        // Nearly all ways lead forwards, so that one round from the end is enough; loops in loops need one more each.
        loop {
            let mut changed = false;
            for (pc, inst) in insts.iter().enumerate().rev() {
                let now = match *inst {
                    Inst::Look(_) => true,
                    Inst::Jump(to) => asks[to as usize],
                    Inst::Split(a, b) => asks[a as usize] || asks[b as usize],
                    Inst::Char(_) | Inst::Class(_) | Inst::Match => false,
                };
                changed |= now != asks[pc];
                asks[pc] = now;
            }
            if !changed {
                return asks;
            }
        }
    }

    /// Whether the instruction reads this character; false for those that read none.
    pub(super) fn accepts(&self, inst: Inst, character: char) -> bool {
        match inst {
            Inst::Char(c) => c == character,
            Inst::Class(index) => self.classes[index as usize].contains(character),
            Inst::Split(..) | Inst::Jump(_) | Inst::Look(_) | Inst::Match => false,
        }
    }

    /// Whether an assertion holds between what was read and what comes.
    pub(super) fn holds(&self, look: Look, read: Side, coming: Side) -> bool {
        if self.backwards {
            look.holds(coming, read)
        } else {
            look.holds(read, coming)
        }
    }

    pub(super) fn inst(&self, pc: Pc) -> Inst {
        self.insts[pc as usize]
    }
}

impl fmt::Debug for Program {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (pc, inst) in self.insts.iter().enumerate() {
            write!(f, "{pc:>3}  ")?;
            match inst {
                Inst::Char(c) => writeln!(f, "char {c:?}"),
                Inst::Class(index) => writeln!(f, "class {:?}", self.classes[*index as usize]),
                Inst::Split(a, b) => writeln!(f, "split {a} {b}"),
                Inst::Jump(to) => writeln!(f, "jump {to}"),
                Inst::Look(look) => writeln!(f, "look {look:?}"),
                Inst::Match => writeln!(f, "match"),
            }?;
        }
        Ok(())
    }
}

/// The character that begins at `at`, `None` for a byte that is not UTF-8, and its length. At the end: no length.
#[inline]
pub(super) fn read(text: &[u8], at: usize) -> (Option<char>, usize) {
    let rest = text.get(at..).unwrap_or_default();
    // RFC 3629 4, table of the well-formed sequences; those of four bytes are left to std.
    match *rest {
        [] => (None, 0),
        [a @ 0..=0x7f, ..] => (Some(char::from(a)), 1),
        [a @ 0xc2..=0xdf, b @ 0x80..=0xbf, ..] => {
            let number = u32::from(a & 0x1f) << 6 | u32::from(b & 0x3f);
            (char::from_u32(number), 2)
        }
        [a @ 0xe0..=0xef, b @ 0x80..=0xbf, c @ 0x80..=0xbf, ..] => {
            let upper = u32::from(a & 0x0f) << 12 | u32::from(b & 0x3f) << 6;
            let number = upper | u32::from(c & 0x3f);
            match char::from_u32(number) {
                Some(character) if number >= 0x800 => (Some(character), 3),
                Some(_) | None => (None, 1),
            }
        }
        [0xf0..=0xf4, _, _, _, ..] => match std::str::from_utf8(&rest[..4]) {
            Ok(text) => (text.chars().next(), 4),
            Err(_) => (None, 1),
        },
        [_, ..] => (None, 1),
    }
}

/// The character that ends before `at`, as [`read`] gives it.
pub(super) fn read_back(text: &[u8], at: usize) -> (Option<char>, usize) {
    let text = &text[..at.min(text.len())];
    let Some(&last) = text.last() else {
        return (None, 0);
    };
    if last < 0x80 {
        return (Some(char::from(last)), 1);
    }
    for length in 2..=text.len().min(4) {
        let (character, read) = read(text, text.len() - length);
        if read == length {
            return (character, length);
        }
    }
    (None, 1)
}

/// What stands before `at`.
pub(super) fn side_before(text: &[u8], at: usize) -> Side {
    match read_back(text, at) {
        (_, 0) => Side::Edge,
        (character, _) => Side::of(character),
    }
}
