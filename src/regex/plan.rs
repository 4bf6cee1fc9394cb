//! How an expression is searched for: what of it a fast scan can find, decided once when it is compiled.
//!
//! ```text
//! foo|bar             Words: the scan finds the matches themselves
//! fn +\w+             Begins: the scan finds where matches may begin, the automaton goes on from there
//! \w+_init\(void\)    Inside: the scan finds lines that may have a match (only with `lines`)
//! [0-9]{4}-[0-9]{2}   Begins, with the set of first bytes
//! \w+\s+\w+           Alone: the automaton reads everything
//! ```
//!
//! Which it is changes the time, never the answer.

use super::class::Class;
use super::literal::{Begin, begins, contains};
use super::prefilter::Prefilter;
use super::rarity;
use super::tree::{Node, Tree};
use crate::sys::simd::ByteSet;
use std::fmt;

pub(super) enum Plan {
    Words(Prefilter),
    Begins(Prefilter),
    Inside(Prefilter),
    Alone,
}

/// A scan that stops more often than every 2^8 bytes is no faster than the automaton.
const MIN_WORD_BITS: u32 = 8;

/// For a set of bytes, whose scan costs less, every 2^4.
const MIN_SET_BITS: u32 = 4;

impl Plan {
    pub(super) fn new(tree: &Tree, lines: bool) -> Plan {
        let root = &tree.root;
        let begin = begins(tree, root).unwrap_or_default();
        let whole = |begin: &Begin| begin.whole && !begin.word.is_empty();
        let exact = !begin.is_empty() && begin.iter().all(whole) && !root.has_look();
        let words: Vec<Vec<u8>> = begin.into_iter().map(|begin| begin.word).collect();
        if exact {
            if let Some(prefilter) = Prefilter::for_words(words.clone()) {
                return Plan::Words(prefilter);
            }
        }
        let inside = if lines { contains(tree, root) } else { None };
        let inside = inside.unwrap_or_default();
        let (begin_bits, inside_bits) = (bits(&words), bits(&inside));
        // Going back to the begin of the line costs something.
        let margin = if begin_bits >= MIN_WORD_BITS { 4 } else { 0 };
        if inside_bits >= MIN_WORD_BITS && inside_bits > begin_bits + margin {
            if let Some(prefilter) = Prefilter::for_words(inside) {
                return Plan::Inside(prefilter);
            }
        }
        if begin_bits >= MIN_WORD_BITS {
            if let Some(prefilter) = Prefilter::for_words(words) {
                return Plan::Begins(prefilter);
            }
        }
        let mut first = First::default();
        let nullable = first.add(tree, root);
        if nullable || rarity::set_bits(first.ascii) < MIN_SET_BITS {
            return Plan::Alone;
        }
        Plan::Begins(Prefilter::Set(ByteSet::new(first.ascii, first.beyond)))
    }
}

impl fmt::Debug for Plan {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Plan::Words(prefilter) => write!(f, "is {prefilter:?}"),
            Plan::Begins(prefilter) => write!(f, "begins with {prefilter:?}"),
            Plan::Inside(prefilter) => write!(f, "lines with {prefilter:?}"),
            Plan::Alone => f.write_str("automaton alone"),
        }
    }
}

fn bits(words: &[Vec<u8>]) -> u32 {
    if words.is_empty() || words.iter().any(Vec::is_empty) {
        return 0;
    }
    rarity::words_bits(words)
}

/// The bytes a match can begin with.
#[derive(Default)]
struct First {
    ascii: u128,
    beyond: bool,
}

impl First {
    /// Adds those of a node; whether it can be empty, so that what follows counts too.
    fn add(&mut self, tree: &Tree, node: &Node) -> bool {
        match node {
            Node::Empty | Node::Look(_) => true,
            Node::Char(c) if c.is_ascii() => {
                self.ascii |= 1 << u32::from(*c);
                false
            }
            Node::Char(_) => {
                self.beyond = true;
                false
            }
            Node::Class(index) => {
                let class: &Class = &tree.classes[*index];
                self.ascii |= class.ascii();
                self.beyond |= class.has_others();
                false
            }
            Node::Concat(nodes) => nodes.iter().all(|node| self.add(tree, node)),
            Node::Alternate(branches) => {
                // Each branch counts, whether or not one before it can be empty.
                branches
                    .iter()
                    .fold(false, |empty, branch| self.add(tree, branch) | empty)
            }
            Node::Repeat(node, bounds) => self.add(tree, node) || bounds.min == 0,
        }
    }
}
