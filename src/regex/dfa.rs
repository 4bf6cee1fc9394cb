//! The lazy automaton: a table of states that is filled in where a text leads, so that most steps are one look-up a byte. Finds where a
//! match ends (forwards) or begins (backwards from its end). Called by `mod.rs`, tested against `pikevm.rs`.
//!
//! ```text
//! pattern [a-z]+_x       column  a-w y z   x         _         other
//!   state 0  {0}                 1         1         0         0            the start
//!   state 1  {0 2}               1         1         2         0            in the letters
//!   state 2  {3 0}               1         3         0         0            behind `_`
//!   state 3  {4 0 2}             a match ended before this character, nothing else is left
//! ```
//!
//! A state is what the Pike VM's list of threads would be, without where they began: the instructions reached, in the order of preference.
//! A transition is computed when it is first needed, by one step of all threads. Assertions look at one character beyond the place, so
//! a match is noticed a step late: the transition *behind* its last character carries the mark.
//!
//! Threads are followed over splits at once, so that states which go on alike are one; but not where an assertion may be reached, since
//! what is reached first, and so preferred, depends on whether it holds: there the list has the split itself.
//!
//! Forwards a match cuts off what is less preferred, and where everything is cut off, the last match seen is the one. Backwards nothing is
//! cut off: from the end of the match the longest way back leads to its begin, as no match can begin before the leftmost one.
//!
//! The table is bounded by [`MAX_BYTES`]. When it is full it is emptied and begun again, with the threads of the moment; in the worst case
//! every step computes its transition, which is what the Pike VM does all the time.
//!
//! Invariant: a step costs at most the length of the program, whatever the table holds.
//! Invariant: an entry of the table is a state, marked or not, or says that it is not known yet.

use super::columns::{Column, Columns, DECODE, END, Kind};
use super::look::Side;
use super::pikevm::Seen;
use super::prefilter::Prefilter;
use super::program::{Inst, Pc, Program, read, read_back, side_before};
use std::collections::HashMap;
use std::sync::Arc;

/// What states and their transitions may take: all that common patterns ever reach, and little beside the text of a large file.
const MAX_BYTES: usize = 2 << 20;

/// An entry of the table: the place of a state's row, and marks. Entries below this need no second look.
const MARKED: u32 = 1 << 31;
/// Before the character just read a match ended.
const MATCH: u32 = 1 << 30;
/// No thread is under way: here the next candidate can be searched for.
const START: u32 = 1 << 29;
/// The place of the row.
const ROW: u32 = START - 1;
/// The state without threads, row 0.
const DEAD: u32 = MARKED;
const UNKNOWN: u32 = u32::MAX;

/// The threads of a state.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
struct State {
    /// Instructions that read or match, or from which an assertion is reached, the preferred first.
    leaves: Box<[Pc]>,
    /// What was read last, if an assertion wants to know.
    read: Side,
    /// Whether matches may still begin.
    open: bool,
}

/// The states so far, for one program.
#[derive(Debug)]
pub(super) struct Dfa {
    columns: Columns,
    /// Entries of a row, as a power of two; at least the number of columns.
    shift: u32,
    table: Vec<u32>,
    /// The threads of each row.
    states: Vec<Arc<State>>,
    rows: HashMap<Arc<State>, u32>,
    /// The row to begin in, by the side that was read last.
    starts: [u32; Side::COUNT],
    /// The leaves to begin with: a state that has the same ones is marked.
    start_leaves: Box<[Pc]>,
    /// What the states take, without the table.
    bytes: usize,
    /// How often the table was emptied.
    emptied: u64,
    /// Whether START is marked: there is a prefilter, and it pays.
    marks_starts: bool,
    skips: Skips,
    work: Work,
}

/// What a prefilter was good for.
#[derive(Debug, Default)]
struct Skips {
    count: usize,
    bytes: usize,
}

/// Lists that are kept from step to step.
#[derive(Debug, Default)]
struct Work {
    seen: Seen,
    stack: Vec<Pc>,
    /// Where the threads are that read the character.
    targets: Vec<Pc>,
    leaves: Vec<Pc>,
}

impl Dfa {
    /// With `marks_starts` a prefilter is to be given to `find_end`.
    pub(super) fn new(program: &Program, marks_starts: bool) -> Dfa {
        let columns = Columns::new(program);
        let mut work = Work::default();
        work.begin(program);
        work.expand(program, 0);
        let mut dfa = Dfa {
            shift: shift_for(columns.len()),
            columns,
            table: Vec::new(),
            states: Vec::new(),
            rows: HashMap::new(),
            starts: [UNKNOWN; Side::COUNT],
            start_leaves: work.leaves.as_slice().into(),
            bytes: 0,
            emptied: 0,
            marks_starts,
            skips: Skips::default(),
            work,
        };
        dfa.clear();
        dfa
    }

    /// The end of the leftmost match that begins at `start` or later. Places where the prefilter says that none begins are skipped.
    pub(super) fn find_end(
        &mut self,
        program: &Program,
        prefilter: Option<&Prefilter>,
        text: &[u8],
        start: usize,
    ) -> Option<usize> {
        let mut end = None;
        let mut at = start;
        let mut state = self.start(program, side_before(text, start));
        let mut idle = true;
        loop {
            let filter = if idle && self.marks_starts {
                prefilter
            } else {
                None
            };
            if let Some(prefilter) = filter {
                let candidate = prefilter.find(text, at)?;
                self.note_skip(candidate - at);
                at = candidate;
                state = self.start(program, side_before(text, at));
            }
            (state, at) = self.run(text, at, state);
            let (next, length) = self.advance(program, text, at, state);
            if next & MATCH != 0 {
                end = Some(at);
            }
            if next & ROW == 0 || length == 0 {
                return end;
            }
            at += length;
            state = next & ROW;
            idle = next & START != 0;
        }
    }

    /// The begin of the match that ends at `end`, not before `bound`; the program is a backwards one.
    pub(super) fn find_begin(
        &mut self,
        program: &Program,
        text: &[u8],
        bound: usize,
        end: usize,
    ) -> Option<usize> {
        let mut begin = None;
        let mut at = end;
        let behind = match read(text, end) {
            (_, 0) => Side::Edge,
            (character, _) => Side::of(character),
        };
        let mut state = self.start(program, behind);
        loop {
            (state, at) = self.run_back(text, bound, at, state);
            let (next, length) = self.advance_back(program, text, bound, at, state);
            if next & MATCH != 0 {
                begin = Some(at);
            }
            // What stands before the bound is looked at, for the assertions, and not read.
            if next & ROW == 0 || at <= bound {
                return begin;
            }
            at -= length;
            state = next & ROW;
        }
    }

    /// Over all transitions that are known and not marked: the state and the place before the first other one.
    #[inline]
    fn run(&self, text: &[u8], from: usize, state: u32) -> (u32, usize) {
        let (table, columns) = (self.table.as_slice(), self.columns.bytes());
        let (mut state, mut at) = (state, from);
        while let Some(&byte) = text.get(at) {
            let next = table[state as usize + usize::from(columns[usize::from(byte)])];
            if next < MARKED {
                state = next;
                at += 1;
                continue;
            }
            // Without this a text of another script would leave the loop at every character.
            let (next, length) = match read(text, at) {
                (Some(c), length) if length > 1 => (self.known_entry(state, c), length),
                (Some(_) | None, _) => break,
            };
            if next >= MARKED {
                break;
            }
            state = next;
            at += length;
        }
        (state, at)
    }

    /// The entry for a character beyond ASCII, if both its column and the entry are known.
    #[inline]
    fn known_entry(&self, state: u32, character: char) -> u32 {
        match self.columns.remembered(character) {
            Some(column) => self.table[state as usize + usize::from(column)],
            None => UNKNOWN,
        }
    }

    #[inline]
    fn run_back(&self, text: &[u8], bound: usize, from: usize, state: u32) -> (u32, usize) {
        let (table, columns) = (self.table.as_slice(), self.columns.bytes());
        let rest = text.get(bound..from).unwrap_or_default();
        let (mut state, mut at) = (state, rest.len());
        while let Some(&byte) = rest[..at].last() {
            let next = table[state as usize + usize::from(columns[usize::from(byte)])];
            if next < MARKED {
                state = next;
                at -= 1;
                continue;
            }
            let (next, length) = match read_back(rest, at) {
                (Some(c), length) if length > 1 => (self.known_entry(state, c), length),
                (Some(_) | None, _) => break,
            };
            if next >= MARKED {
                break;
            }
            state = next;
            at -= length;
        }
        (state, from - rest.len() + at)
    }

    /// The entry for the character at `at`, and the character's length: 0 at the end.
    fn advance(&mut self, program: &Program, text: &[u8], at: usize, state: u32) -> (u32, usize) {
        let Some(&byte) = text.get(at) else {
            return (self.entry(program, state, END), 0);
        };
        let column = self.columns.bytes()[usize::from(byte)];
        if column != DECODE {
            return (self.entry(program, state, column), 1);
        }
        let (character, length) = read(text, at);
        (self.decoded_entry(program, state, character), length)
    }

    /// The same backwards. Down to `bound` characters are read as a search from there would read them.
    fn advance_back(
        &mut self,
        program: &Program,
        text: &[u8],
        bound: usize,
        at: usize,
        state: u32,
    ) -> (u32, usize) {
        let Some(&byte) = text[..at].last() else {
            return (self.entry(program, state, END), 0);
        };
        let column = self.columns.bytes()[usize::from(byte)];
        if column != DECODE {
            return (self.entry(program, state, column), 1);
        }
        let floor = if at > bound { bound } else { 0 };
        let (character, length) = read_back(&text[floor..], at - floor);
        (self.decoded_entry(program, state, character), length)
    }

    /// The entry for a character beyond ASCII, which may need a column more.
    fn decoded_entry(&mut self, program: &Program, state: u32, character: Option<char>) -> u32 {
        let mut state = state;
        if self.columns.is_full() {
            self.columns.clear();
            state = self.clear_but(state);
        }
        let column = self.columns.of(program, character);
        if shift_for(self.columns.len()) > self.shift {
            // Rows of another width: all of them are in other places then.
            let threads = Arc::clone(&self.states[(state >> self.shift) as usize]);
            self.shift = shift_for(self.columns.len());
            self.clear();
            state = self.row(threads);
        }
        self.entry(program, state, column)
    }

    /// The entry of a row in a column, computed if it is not known yet.
    fn entry(&mut self, program: &Program, state: u32, column: Column) -> u32 {
        let place = state as usize + usize::from(column);
        let known = self.table[place];
        if known != UNKNOWN {
            return known;
        }
        let from = &self.states[(state >> self.shift) as usize];
        let (kind, side) = (self.columns.kind(column), self.columns.side(column));
        let matched = self.work.read(program, from, kind, side);
        let open = from.open && (!matched || program.backwards);
        if open {
            self.work.expand(program, 0);
        }
        let is_start = open && *self.work.leaves == *self.start_leaves;
        let next = self.work.state(program, side, open);
        let emptied = self.emptied;
        let row = self.row(Arc::new(next));
        let mut entry = row;
        if row == 0 {
            entry |= DEAD;
        }
        if matched {
            entry |= MARKED | MATCH;
        }
        if is_start && self.marks_starts {
            entry |= MARKED | START;
        }
        if self.emptied == emptied {
            self.table[place] = entry;
        }
        entry
    }

    /// The row to begin in.
    fn start(&mut self, program: &Program, read: Side) -> u32 {
        let known = self.starts[read as usize];
        if known != UNKNOWN {
            return known;
        }
        self.work.leaves.clear();
        self.work.leaves.extend_from_slice(&self.start_leaves);
        // Backwards all begins at the end of a match that is known.
        let state = self.work.state(program, read, !program.backwards);
        let row = self.row(Arc::new(state));
        self.starts[read as usize] = row;
        row
    }

    /// The row of a state: where it is, or a new one. May empty the table before.
    fn row(&mut self, state: Arc<State>) -> u32 {
        if let Some(&row) = self.rows.get(&state) {
            return row;
        }
        let width = 1 << self.shift;
        // Itself and its leaves, the two counts beside it, and a place in each of the two lists.
        let bytes = size_of::<State>() + state.leaves.len() * size_of::<Pc>() + 16 + 2 * 24;
        let used = self.bytes + self.table.len() * size_of::<u32>();
        if used + bytes + width * size_of::<u32>() > MAX_BYTES && self.states.len() > 1 {
            self.clear();
        }
        let row = self.table.len() as u32;
        self.table.resize(self.table.len() + width, UNKNOWN);
        self.bytes += bytes;
        self.states.push(Arc::clone(&state));
        self.rows.insert(state, row);
        row
    }

    /// Empties the table.
    fn clear(&mut self) {
        self.table.clear();
        self.states.clear();
        self.rows.clear();
        self.starts = [UNKNOWN; Side::COUNT];
        self.bytes = 0;
        self.emptied += 1;
        self.row(Arc::new(State {
            leaves: Box::default(),
            read: Side::Other,
            open: false,
        }));
    }

    /// Empties the table but for one row, whose new place it gives.
    fn clear_but(&mut self, state: u32) -> u32 {
        let threads = Arc::clone(&self.states[(state >> self.shift) as usize]);
        self.clear();
        self.row(threads)
    }

    /// A prefilter whose candidates stand close to each other costs more than it saves: then it is left out from here on.
    fn note_skip(&mut self, length: usize) {
        // Fewer may stand together in one place of a text.
        const ENOUGH: usize = 1024;
        const MIN_BYTES: usize = 16;
        self.skips.count += 1;
        self.skips.bytes += length;
        if self.skips.count >= ENOUGH {
            if self.skips.bytes < ENOUGH * MIN_BYTES {
                self.marks_starts = false;
                self.clear();
            }
            self.skips = Skips::default();
        }
    }
}

impl Work {
    fn begin(&mut self, program: &Program) {
        self.seen.clear(program.insts.len());
        self.leaves.clear();
    }

    /// All threads of a state read one character, or see the end. Their leaves behind it are in `leaves` then; whether one matched before it.
    fn read(&mut self, program: &Program, state: &State, kind: Kind, coming: Side) -> bool {
        let mut matched = false;
        self.seen.clear(program.insts.len());
        self.targets.clear();
        'threads: for &leaf in &state.leaves {
            self.stack.push(leaf);
            while let Some(pc) = self.stack.pop() {
                if !self.seen.insert(pc) {
                    continue;
                }
                match program.inst(pc) {
                    Inst::Match => {
                        matched = true;
                        if !program.backwards {
                            self.stack.clear();
                            break 'threads;
                        }
                    }
                    Inst::Jump(to) => self.stack.push(to),
                    Inst::Split(first, second) => self.stack.extend([second, first]),
                    Inst::Look(look) => {
                        if program.holds(look, state.read, coming) {
                            self.stack.push(pc + 1);
                        }
                    }
                    inst @ (Inst::Char(_) | Inst::Class(_)) => match kind {
                        Kind::Like(c) if program.accepts(inst, c) => self.targets.push(pc + 1),
                        Kind::Like(_) | Kind::None | Kind::End => {}
                    },
                }
            }
        }
        self.begin(program);
        let targets = std::mem::take(&mut self.targets);
        for &target in &targets {
            self.expand(program, target);
        }
        self.targets = targets;
        matched
    }

    /// Adds the leaves that are reached from `pc` without knowing what comes.
    fn expand(&mut self, program: &Program, pc: Pc) {
        self.stack.push(pc);
        while let Some(pc) = self.stack.pop() {
            if !self.seen.insert(pc) {
                continue;
            }
            match program.inst(pc) {
                Inst::Jump(to) => self.stack.push(to),
                Inst::Split(first, second) if !program.asks[pc as usize] => {
                    self.stack.extend([second, first]);
                }
                Inst::Split(..) | Inst::Char(_) | Inst::Class(_) | Inst::Look(_) | Inst::Match => {
                    self.leaves.push(pc)
                }
            }
        }
    }

    /// The leaves as a state.
    fn state(&self, program: &Program, read: Side, open: bool) -> State {
        let asked = self.leaves.iter().any(|&pc| program.asks[pc as usize]);
        State {
            leaves: self.leaves.as_slice().into(),
            read: if asked { read } else { Side::Other },
            open,
        }
    }
}

/// The width of rows, as a power of two, for so many columns.
fn shift_for(columns: usize) -> u32 {
    columns.next_power_of_two().trailing_zeros()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::regex::{Options, compile, parse, pikevm};

    /// `a` and `x` in an order without a pattern.
    fn mixture(length: usize) -> Vec<u8> {
        let mut state = 1u32;
        let mut next = || {
            state = state.wrapping_mul(1664525).wrapping_add(1013904223);
            b"ax"[(state >> 31) as usize]
        };
        (0..length).map(|_| next()).collect()
    }

    #[track_caller]
    fn check(pattern: &str, text: &[u8], expected_emptied: u64) {
        let tree = parse::parse(pattern, Options::default()).expect("a pattern that parses");
        let program = compile::compile(&tree, false, false);
        let mut dfa = Dfa::new(&program, false);
        let end = dfa.find_end(&program, None, text, 0);
        let expected = pikevm::PikeVm::default().find(&program, text, 0);
        assert_eq!(end, expected.map(|span| span.end));
        let used = dfa.bytes + dfa.table.len() * size_of::<u32>();
        assert!(used <= MAX_BYTES, "{used} bytes");
        assert!(dfa.emptied >= expected_emptied, "{} times", dfa.emptied);
    }

    #[test]
    fn a_full_table_is_emptied_and_the_search_goes_on() {
        let mut text = mixture(40_000);
        text.extend_from_slice(b"b");
        // 2^16 states of up to 17 threads.
        check("[ax]*a[ax]{16}b", &text, 2);
        check("[ax]*a[ax]{16}c", &text, 2);
    }

    /// The worst that counting does without choices to multiply it: nine hundred states of nine hundred threads.
    #[test]
    fn repetitions_in_repetitions_fit_in_the_table() {
        let tree = parse::parse("(?:[ax]{1,30}){1,30}b", Options::default());
        let tree = tree.expect("a pattern that parses");
        let program = compile::compile(&tree, false, false);
        let mut dfa = Dfa::new(&program, false);
        assert_eq!(dfa.find_end(&program, None, &mixture(3_000), 0), None);
        assert_eq!((dfa.emptied, dfa.states.len() > 800), (1, true));
    }

    #[test]
    fn more_kinds_of_characters_than_columns_are_forgotten_and_found_again() {
        let characters: Vec<char> = ('\u{4e00}'..'\u{5300}').collect();
        let alternatives: Vec<String> = characters.iter().map(char::to_string).collect();
        let pattern = format!("(?:{})+!", alternatives.join("|"));
        let tree = parse::parse(&pattern, Options::default()).expect("a pattern that parses");
        let program = compile::compile(&tree, false, false);
        let text = format!("{}!", alternatives.concat());
        let mut dfa = Dfa::new(&program, false);
        for _ in 0..2 {
            assert_eq!(
                dfa.find_end(&program, None, text.as_bytes(), 0),
                Some(text.len())
            );
        }
        assert!(dfa.columns.len() <= 1024 + 1);
        assert!(dfa.emptied > 2);
    }
}
