//! Tree to program, forwards or backwards. Called by `Regex::new`.
//!
//! ```text
//! ab       a, b                              backwards: b, a
//! a|b      split A B; A: a; jump end; B: b
//! a*       loop: split A end; A: a; jump loop
//! a+       loop: a; split loop end
//! a?       split A end; A: a                 lazy forms prefer the other way
//! a{2,4}   a; a; split A end; A: a; split B end; B: a
//! ```
//!
//! A starred piece that can be empty becomes `(?:a+)?`: only so it is entered at most once where it reads nothing, with the preferences of
//! Perl.
//!
//! Invariant: compiling cannot fail, the parser has counted what comes out.

use super::program::{Inst, Pc, Program};
use super::tree::{Bounds, Node, Tree};

pub(super) fn compile(tree: &Tree, backwards: bool, lines: bool) -> Program {
    let mut compiler = Compiler {
        insts: Vec::new(),
        backwards,
    };
    compiler.node(&tree.root);
    compiler.insts.push(Inst::Match);
    Program {
        asks: Program::asking(&compiler.insts),
        insts: compiler.insts,
        classes: tree.classes.clone(),
        backwards,
        lines,
    }
}

struct Compiler {
    insts: Vec<Inst>,
    backwards: bool,
}

impl Compiler {
    fn next(&self) -> Pc {
        self.insts.len() as Pc
    }

    /// Adds an instruction and gives its index.
    fn push(&mut self, inst: Inst) -> Pc {
        self.insts.push(inst);
        self.next() - 1
    }

    /// A split that goes on with the next instruction or with one that is not known yet.
    fn push_split(&mut self) -> Pc {
        self.push(Inst::Split(0, 0))
    }

    /// Sets a split of `push_split`: into the piece behind it, or out of it to `out`.
    fn set_split(&mut self, split: Pc, out: Pc, greedy: bool) {
        self.insts[split as usize] = preferring(greedy, split + 1, out);
    }

    fn node(&mut self, node: &Node) {
        match node {
            Node::Empty => {}
            Node::Char(c) => {
                self.push(Inst::Char(*c));
            }
            Node::Class(index) => {
                self.push(Inst::Class(*index as u32));
            }
            Node::Look(look) => {
                self.push(Inst::Look(*look));
            }
            Node::Concat(nodes) if self.backwards => nodes.iter().rev().for_each(|n| self.node(n)),
            Node::Concat(nodes) => nodes.iter().for_each(|n| self.node(n)),
            Node::Alternate(branches) => self.alternate(branches),
            Node::Repeat(node, bounds) => self.repeat(node, *bounds),
        }
    }

    fn alternate(&mut self, branches: &[Node]) {
        let Some((last, firsts)) = branches.split_last() else {
            return;
        };
        let mut jumps = Vec::new();
        for branch in firsts {
            let split = self.push_split();
            self.node(branch);
            jumps.push(self.push(Inst::Jump(0)));
            let next = self.next();
            self.set_split(split, next, true);
        }
        self.node(last);
        let end = self.next();
        for jump in jumps {
            self.insts[jump as usize] = Inst::Jump(end);
        }
    }

    fn repeat(&mut self, node: &Node, bounds: Bounds) {
        let Bounds { min, max, greedy } = bounds;
        let Some(max) = max else {
            return self.repeat_forever(node, min, greedy);
        };
        for _ in 0..min {
            self.node(node);
        }
        let splits: Vec<Pc> = (min..max)
            .map(|_| {
                let split = self.push_split();
                self.node(node);
                split
            })
            .collect();
        let end = self.next();
        for split in splits {
            self.set_split(split, end, greedy);
        }
    }

    fn repeat_forever(&mut self, node: &Node, min: u32, greedy: bool) {
        for _ in 1..min {
            self.node(node);
        }
        if min > 0 {
            return self.once_or_more(node, greedy);
        }
        let split = self.push_split();
        if node.matches_empty() {
            self.once_or_more(node, greedy);
        } else {
            self.node(node);
            self.push(Inst::Jump(split));
        }
        let end = self.next();
        self.set_split(split, end, greedy);
    }

    fn once_or_more(&mut self, node: &Node, greedy: bool) {
        let start = self.next();
        self.node(node);
        let end = self.next() + 1;
        self.push(preferring(greedy, start, end));
    }
}

fn preferring(greedy: bool, inside: Pc, out: Pc) -> Inst {
    if greedy {
        Inst::Split(inside, out)
    } else {
        Inst::Split(out, inside)
    }
}
