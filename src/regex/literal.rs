//! The words a match must begin with or contain, read off the tree. Used by `plan.rs`.
//!
//! ```text
//! foo|ba[rz]        begins with foo, bar, baz, and is one of them: whole
//! fn +\w+           begins with `fn `
//! \w+_init\(void\)  contains `_init(void)`
//! (?i)todo          begins with todo, todO, toDo, … 16 words
//! ```
//!
//! Words are multiplied out as long as there are at most [`MAX_WORDS`]; what comes behind is left to the automaton.
//!
//! Invariant: a list is complete: every match begins with one of its words (or contains one).
//! Invariant: whole words stand in the order in which Perl would try them.

use super::prefilter::MAX_WORDS;
use super::rarity;
use super::tree::{Bounds, Node, Tree};
use std::collections::HashSet;

/// More bytes of a word tell nothing new. A list of one is not cut, as it may be the whole pattern.
const MAX_BYTES: usize = 32;

/// An alternation may have so many words before only their first bytes are kept.
const MAX_BRANCH_WORDS: usize = 1024;

/// A word a match begins with.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) struct Begin {
    pub(super) word: Vec<u8>,
    /// Whether it is all of the match, so that what comes next is known to follow it.
    pub(super) whole: bool,
}

impl Begin {
    fn empty() -> Begin {
        Begin {
            word: Vec::new(),
            whole: true,
        }
    }

    fn char(c: char) -> Begin {
        Begin {
            word: c.to_string().into_bytes(),
            whole: true,
        }
    }
}

/// What every match of the tree begins with; `None` if that is too much to say.
pub(super) fn begins(tree: &Tree, node: &Node) -> Option<Vec<Begin>> {
    match node {
        Node::Empty | Node::Look(_) => Some(vec![Begin::empty()]),
        Node::Char(c) => Some(vec![Begin::char(*c)]),
        Node::Class(index) => {
            let members = tree.classes[*index].members(MAX_WORDS / 4)?;
            Some(members.into_iter().map(Begin::char).collect())
        }
        Node::Concat(nodes) => {
            let mut run = Run::default();
            for node in nodes {
                if !run.push(begins(tree, node)) {
                    break;
                }
            }
            Some(run.words)
        }
        Node::Alternate(branches) => {
            let mut all = Vec::new();
            for branch in branches {
                all.extend(begins(tree, branch)?);
                if all.len() > MAX_BRANCH_WORDS {
                    all = shortened(all)?;
                }
            }
            if all.len() > MAX_WORDS {
                all = shortened(all)?;
            }
            Some(all)
        }
        Node::Repeat(node, bounds) => repeated(begins(tree, node)?, *bounds),
    }
}

fn repeated(once: Vec<Begin>, bounds: Bounds) -> Option<Vec<Begin>> {
    let Bounds { min, max, greedy } = bounds;
    if max == Some(0) {
        return Some(vec![Begin::empty()]);
    }
    if min == 0 {
        let mut words = once;
        if max != Some(1) {
            end(&mut words);
        }
        words.insert(if greedy { words.len() } else { 0 }, Begin::empty());
        return Some(words);
    }
    let mut run = Run::default();
    for _ in 0..min {
        // Where the words end early none of them is whole any more.
        if !run.push(Some(once.clone())) {
            break;
        }
    }
    if max != Some(min) {
        end(&mut run.words);
    }
    Some(run.words)
}

/// As many words as there may be, by leaving out what lies behind their first bytes.
fn shortened(words: Vec<Begin>) -> Option<Vec<Begin>> {
    let mut words = words;
    // With less than two bytes the scan would stop everywhere.
    for length in (2..=4).rev() {
        for begin in &mut words {
            begin.whole &= begin.word.len() <= length;
            begin.word.truncate(length);
        }
        let mut seen = HashSet::new();
        words.retain(|begin| seen.insert(begin.clone()));
        if words.len() <= MAX_WORDS / 2 {
            return Some(words);
        }
    }
    None
}

/// Nothing is known about what follows.
fn end(words: &mut [Begin]) {
    for word in words {
        word.whole = false;
    }
}

/// Words that grow by what follows them.
#[derive(Debug)]
struct Run {
    words: Vec<Begin>,
}

impl Default for Run {
    fn default() -> Run {
        Run {
            words: vec![Begin::empty()],
        }
    }
}

impl Run {
    /// Adds what the next node begins with; false if the words end here.
    fn push(&mut self, next: Option<Vec<Begin>>) -> bool {
        let Some(next) = next else {
            end(&mut self.words);
            return false;
        };
        if let ([word], [next]) = (self.words.as_mut_slice(), next.as_slice()) {
            // The common case, and the one that may be long.
            word.word.extend_from_slice(&next.word);
            word.whole = next.whole;
            return next.whole;
        }
        let whole = self.words.iter().filter(|word| word.whole).count();
        let count = self.words.len() - whole + whole * next.len();
        let longest = self.words.iter().map(|word| word.word.len()).max();
        if count > MAX_WORDS || longest.is_some_and(|length| length >= MAX_BYTES) {
            end(&mut self.words);
            return false;
        }
        let mut words = Vec::with_capacity(count);
        for begin in self.words.drain(..) {
            if !begin.whole {
                words.push(begin);
                continue;
            }
            for next in &next {
                let mut word = begin.word.clone();
                word.extend_from_slice(&next.word);
                let whole = next.whole;
                words.push(Begin { word, whole });
            }
        }
        self.words = words;
        self.words.iter().any(|word| word.whole)
    }

    fn words(self) -> Option<Vec<Vec<u8>>> {
        let words: Vec<Vec<u8>> = self.words.into_iter().map(|begin| begin.word).collect();
        words.iter().all(|word| !word.is_empty()).then_some(words)
    }
}

/// Words of which every match contains one, the rarest list there is.
pub(super) fn contains(tree: &Tree, node: &Node) -> Option<Vec<Vec<u8>>> {
    match node {
        Node::Empty | Node::Look(_) => None,
        Node::Char(_) | Node::Class(_) => {
            let mut run = Run::default();
            run.push(begins(tree, node));
            run.words()
        }
        Node::Concat(nodes) => {
            let mut best = None;
            let mut run = Run::default();
            for node in nodes {
                if !run.push(begins(tree, node)) {
                    best = rarer(best, std::mem::take(&mut run).words());
                    best = rarer(best, contains(tree, node));
                }
            }
            rarer(best, run.words())
        }
        Node::Alternate(branches) => {
            let mut all = Vec::new();
            for branch in branches {
                all.extend(contains(tree, branch)?);
                if all.len() > MAX_WORDS {
                    return None;
                }
            }
            Some(all)
        }
        Node::Repeat(_, Bounds { min: 0, .. }) => None,
        Node::Repeat(node, _) => contains(tree, node),
    }
}

fn rarer(a: Option<Vec<Vec<u8>>>, b: Option<Vec<Vec<u8>>>) -> Option<Vec<Vec<u8>>> {
    match (a, b) {
        (Some(a), Some(b)) if rarity::words_bits(&b) > rarity::words_bits(&a) => Some(b),
        (Some(a), _) => Some(a),
        (None, b) => b,
    }
}
