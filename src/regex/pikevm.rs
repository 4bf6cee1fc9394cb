//! The Pike VM: runs a program over a text, all ways at once. The reference: the lazy automaton (`dfa.rs`) has to give the same spans.
//!
//! ```text
//! pattern a+b, text aab      threads (instruction, start), the preferred first
//!   before a                 (0,0)
//!   before a                 (0,0) (2,0) (0,1)
//!   before b                 (0,0) (2,0) (0,1) (2,1) (0,2)     the later ones reach nothing that is not reached already
//!   end                      (3,0): match, 0..3
//! ```
//!
//! A thread is an instruction and the place where its match would begin. At each place the threads are followed over splits, jumps and
//! assertions in the order of preference; an instruction that a preferred thread has reached is not followed again. So at most as many
//! threads live as the program has instructions, and the time is their product with the length of the text.
//!
//! Invariant: the first thread that matches cuts off all that are less preferred, among them every later start.

use super::look::Side;
use super::program::{Inst, Pc, Program, read, side_before};
use std::ops::Range;

/// The memory of a search.
#[derive(Debug, Default)]
pub(super) struct PikeVm {
    /// Threads at this place, before they are followed.
    threads: Vec<(Pc, usize)>,
    next: Vec<(Pc, usize)>,
    /// Those to follow, the preferred last.
    stack: Vec<Pc>,
    seen: Seen,
}

/// The instructions that were reached at this place.
#[derive(Debug, Default)]
pub(super) struct Seen {
    /// The number of the place at which it was last.
    place: Vec<u64>,
    now: u64,
}

impl Seen {
    /// At a new place nothing was reached.
    pub(super) fn clear(&mut self, length: usize) {
        self.place.resize(length, 0);
        self.now += 1;
    }

    /// Whether it is the first time.
    pub(super) fn insert(&mut self, pc: Pc) -> bool {
        let place = &mut self.place[pc as usize];
        let first = *place != self.now;
        *place = self.now;
        first
    }
}

impl PikeVm {
    /// The leftmost match that begins at `start` or later; what stands before `start` is looked at, but not matched.
    pub(super) fn find(
        &mut self,
        program: &Program,
        text: &[u8],
        start: usize,
    ) -> Option<Range<usize>> {
        let mut found = None;
        let mut at = start;
        let mut before = side_before(text, start);
        self.threads.clear();
        loop {
            if found.is_none() {
                self.threads.push((0, at));
            }
            let (character, length) = read(text, at);
            let behind = match length {
                0 => Side::Edge,
                _ => Side::of(character),
            };
            self.seen.clear(program.insts.len());
            self.next.clear();
            let threads = std::mem::take(&mut self.threads);
            for &(pc, begin) in &threads {
                if self.follow(program, pc, begin, (before, behind), character) {
                    found = Some(begin..at);
                    break;
                }
            }
            self.threads = threads;
            std::mem::swap(&mut self.threads, &mut self.next);
            if length == 0 || found.is_some() && self.threads.is_empty() {
                return found;
            }
            at += length;
            before = behind;
        }
    }

    /// Follows a thread up to the characters it reads: whether it matches here.
    fn follow(
        &mut self,
        program: &Program,
        pc: Pc,
        begin: usize,
        (before, behind): (Side, Side),
        character: Option<char>,
    ) -> bool {
        self.stack.clear();
        self.stack.push(pc);
        while let Some(pc) = self.stack.pop() {
            if !self.seen.insert(pc) {
                continue;
            }
            match program.inst(pc) {
                Inst::Match => return true,
                Inst::Jump(to) => self.stack.push(to),
                Inst::Split(first, second) => self.stack.extend([second, first]),
                Inst::Look(look) => {
                    if look.holds(before, behind) {
                        self.stack.push(pc + 1);
                    }
                }
                inst @ (Inst::Char(_) | Inst::Class(_)) => {
                    if character.is_some_and(|c| program.accepts(inst, c)) {
                        self.next.push((pc + 1, begin));
                    }
                }
            }
        }
        false
    }
}
