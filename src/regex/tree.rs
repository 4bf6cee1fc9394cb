//! A pattern as a tree: what the parser makes, and the compiler and the search for literals read.
//!
//! ```text
//! fo+|\bbar      Alternate
//!                ├ Concat ─ Char f, Repeat o 1.. greedy
//!                └ Concat ─ Look Boundary, Char b, Char a, Char r
//! ```
//!
//! Groups are gone: what they hold stands in their place, since a search gives spans of whole matches only. So are flags: each node
//! already says what it means under the flags of its place.
//!
//! Invariant: a tree is at most [`super::MAX_NESTING`] levels of groups and operators deep, and compiles to at most
//! [`super::MAX_INSTRUCTIONS`].

use super::class::Class;
use super::look::Look;

/// The parsed pattern.
#[derive(Debug)]
pub(super) struct Tree {
    pub(super) root: Node,
    /// The sets, each once, by the index in [`Node::Class`].
    pub(super) classes: Vec<Class>,
}

#[derive(Debug)]
pub(super) enum Node {
    /// Matches the empty text.
    Empty,
    Char(char),
    /// One character of a set.
    Class(usize),
    Look(Look),
    Concat(Vec<Node>),
    /// The first that matches wins.
    Alternate(Vec<Node>),
    Repeat(Box<Node>, Bounds),
}

/// How often.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Bounds {
    pub(super) min: u32,
    /// `None`: without end.
    pub(super) max: Option<u32>,
    /// As often as possible first.
    pub(super) greedy: bool,
}

impl Node {
    pub(super) fn matches_empty(&self) -> bool {
        match self {
            Node::Empty | Node::Look(_) => true,
            Node::Char(_) | Node::Class(_) => false,
            Node::Concat(nodes) => nodes.iter().all(Node::matches_empty),
            Node::Alternate(nodes) => nodes.iter().any(Node::matches_empty),
            Node::Repeat(node, bounds) => bounds.min == 0 || node.matches_empty(),
        }
    }

    pub(super) fn has_look(&self) -> bool {
        match self {
            Node::Empty | Node::Char(_) | Node::Class(_) => false,
            Node::Look(_) => true,
            Node::Concat(nodes) | Node::Alternate(nodes) => nodes.iter().any(Node::has_look),
            Node::Repeat(node, _) => node.has_look(),
        }
    }
}
