//! Regular expressions over bytes: a pattern as people type it for `rg`, found in time linear in pattern × text. Used by the tools that
//! search, and by the outlines of files.
//!
//! ```text
//! Regex::new(r"fn (\w+)_at\b", Options { lines: true, ..Options::default() })
//! find_at(&mut cache, b"fn find_at(&self)\nfn read_at()\n", 0)      0..10
//! find_at(&mut cache, b"fn find_at(&self)\nfn read_at()\n", 10)     18..28
//!
//! .  \d \w \s \D \W \S  \p{Lu}         one character           [a-z_] [^a] [[:alpha:]\d] [\w&&[^_]] [\w--_]
//! x* x+ x? x{3} x{3,} x{3,5} x*?        repetition, lazy with ?  ab|cd  (x) (?:x) (?<name>x) (?P<name>x)
//! ^ $ \A \z \b \B \< \>               places                  (?i) (?m) (?s) (?x) (?i-s:x)
//! \n \t \r \f \v \a \x41 \u00e9 \x{1F600} \u{1F600} \. \\    characters
//! ```
//!
//! Texts are bytes; a character is a valid UTF-8 sequence, and a byte that belongs to none is matched by nothing, `.` and `[^a]` neither.
//! With `lines` each line is a text of its own, however much of a file is searched at once: no match holds a line feed, `^ \A $ \z` are
//! about the line, `$` also matches before the carriage return of CR LF and `.` does not match that. What classes and case mean beyond
//! ASCII is in `class.rs`.
//!
//! Refused by name: look-around, back-references, atomic groups. Limits: [`MAX_PATTERN_BYTES`], [`MAX_NESTING`], [`MAX_INSTRUCTIONS`],
//! [`MAX_BOUND`]. Groups group; what they matched is not reported.
//!
//! Invariant: a search reads each character of the text a bounded number of times, and does bounded work for each: no pattern makes it
//! more than linear.
//! Invariant: spans begin and end between characters.
//! Invariant: an expression never changes after it was compiled; what a search learns is in its [`Cache`].
//!
//! Read next: `parse.rs`, `compile.rs`, `pikevm.rs`: the whole of it in its plain form.
mod bracket;
mod class;
mod columns;
mod compile;
mod dfa;
mod error;
mod literal;
mod look;
mod parse;
mod pikevm;
mod plan;
mod prefilter;
mod program;
mod rarity;
mod tree;

pub use error::{Cause, Error};
pub use prefilter::rare_pair;

use crate::sys::simd;
use dfa::Dfa;
use pikevm::PikeVm;
use plan::Plan;
use prefilter::Prefilter;
use program::Program;
use std::fmt;
use std::ops::Range;
use std::sync::Arc;

/// A pattern has at most so many bytes: what a person or a model types, and generated alternations of a few thousand words.
pub const MAX_PATTERN_BYTES: usize = 64 << 10;

/// Groups, brackets and operators lie in each other at most so deep: more than anyone types, and safe on any stack.
pub const MAX_NESTING: usize = 128;

/// A program has at most so many instructions: each may cost a step for every character of a text.
pub const MAX_INSTRUCTIONS: usize = 32 << 10;

/// `{n,m}` counts up to here.
pub const MAX_BOUND: u32 = 1000;

/// How a pattern is meant.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Options {
    /// Letters match in both cases, as with a leading `(?i)`.
    pub ignore_case: bool,
    /// `^` and `$` match at every line feed, as with a leading `(?m)`.
    pub multi_line: bool,
    /// Each line is a text of its own: no match holds a line feed, and anchors are about the line.
    pub lines: bool,
}

/// A compiled expression. Cheap to clone; shared between threads, each with a [`Cache`] of its own.
#[derive(Clone)]
pub struct Regex {
    compiled: Arc<Compiled>,
}

#[derive(Debug)]
struct Compiled {
    forwards: Program,
    backwards: Program,
    plan: Plan,
}

/// The memory of searches: one for each thread, of use to any expression one after the other.
#[derive(Debug, Default)]
pub struct Cache {
    /// Of the expression that was searched for last.
    automata: Option<Automata>,
}

#[derive(Debug)]
struct Automata {
    compiled: Arc<Compiled>,
    forwards: Dfa,
    backwards: Dfa,
}

impl Regex {
    /// Compiles a pattern.
    pub fn new(pattern: &str, options: Options) -> Result<Regex, Error> {
        Ok(Regex::compile(&parse::parse(pattern, options)?, options))
    }

    /// An expression that matches the text itself: no character of it has a meaning.
    pub fn literal(text: &str, options: Options) -> Result<Regex, Error> {
        Ok(Regex::compile(&parse::literal(text, options)?, options))
    }

    fn compile(tree: &tree::Tree, options: Options) -> Regex {
        let compiled = Compiled {
            forwards: compile::compile(tree, false, options.lines),
            backwards: compile::compile(tree, true, options.lines),
            plan: Plan::new(tree, options.lines),
        };
        Regex {
            compiled: Arc::new(compiled),
        }
    }

    /// The leftmost match that begins at `start` or later, as Perl and `rg` choose it: of those that begin at one place the preferred.
    /// What stands before `start` counts for `^` and `\b`. [`resume`] says where to go on.
    pub fn find_at(
        &self,
        cache: &mut Cache,
        haystack: &[u8],
        start: usize,
    ) -> Option<Range<usize>> {
        if start > haystack.len() {
            return None;
        }
        let found = match &self.compiled.plan {
            Plan::Words(prefilter) => prefilter.find_span(haystack, start),
            Plan::Begins(prefilter) => {
                let automata = cache.automata(&self.compiled);
                automata.find(Some(prefilter), haystack, start)
            }
            Plan::Inside(prefilter) => {
                let automata = cache.automata(&self.compiled);
                automata.find_by_lines(prefilter, haystack, start)
            }
            Plan::Alone => cache.automata(&self.compiled).find(None, haystack, start),
        }?;
        self.in_a_line(haystack, found)
    }

    /// Whether anything matches.
    pub fn is_match(&self, cache: &mut Cache, haystack: &[u8]) -> bool {
        self.find_at(cache, haystack, 0).is_some()
    }

    /// As [`Regex::find_at`], by the Pike VM alone: what the fast machines are tested against.
    pub fn find_slowly(&self, haystack: &[u8], start: usize) -> Option<Range<usize>> {
        if start > haystack.len() {
            return None;
        }
        let found = PikeVm::default().find(&self.compiled.forwards, haystack, start)?;
        self.in_a_line(haystack, found)
    }

    /// Behind the last line feed there is no line, and so no match in one.
    fn in_a_line(&self, haystack: &[u8], found: Range<usize>) -> Option<Range<usize>> {
        let at_end = self.compiled.forwards.lines && found.start == haystack.len();
        let behind_lines = matches!(haystack.last(), None | Some(b'\n'));
        (!at_end || !behind_lines).then_some(found)
    }
}

/// Where the search for the next match begins: at the end of this one, or a character behind it if it was empty.
pub fn resume(haystack: &[u8], found: &Range<usize>) -> usize {
    if found.is_empty() {
        found.end + program::read(haystack, found.end).1.max(1)
    } else {
        found.end
    }
}

impl Cache {
    fn automata(&mut self, compiled: &Arc<Compiled>) -> &mut Automata {
        let same = |automata: &Automata| Arc::ptr_eq(&automata.compiled, compiled);
        if !self.automata.as_ref().is_some_and(same) {
            self.automata = None;
        }
        self.automata.get_or_insert_with(|| Automata {
            compiled: Arc::clone(compiled),
            forwards: Dfa::new(&compiled.forwards, matches!(compiled.plan, Plan::Begins(_))),
            backwards: Dfa::new(&compiled.backwards, false),
        })
    }
}

impl Automata {
    fn find(
        &mut self,
        prefilter: Option<&Prefilter>,
        text: &[u8],
        start: usize,
    ) -> Option<Range<usize>> {
        let Compiled {
            forwards,
            backwards,
            plan: _,
        } = &*self.compiled;
        let end = self.forwards.find_end(forwards, prefilter, text, start)?;
        let begin = self.backwards.find_begin(backwards, text, start, end)?;
        Some(begin..end)
    }

    /// Looks only at lines in which the prefilter finds something.
    fn find_by_lines(
        &mut self,
        prefilter: &Prefilter,
        text: &[u8],
        start: usize,
    ) -> Option<Range<usize>> {
        let mut from = start;
        loop {
            let candidate = prefilter.find(text, from)?;
            let before = text[from..candidate].iter().rposition(|&b| b == b'\n');
            let line_start = before.map_or(from, |index| from + index + 1);
            let line_end = simd::find_byte(text, b'\n', candidate);
            let found = self.find(None, &text[..line_end], line_start);
            if found.is_some() {
                return found;
            }
            from = line_end + 1;
        }
    }
}

/// How it is searched for, and the program, an instruction a line.
impl fmt::Debug for Regex {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:?}\n{:?}", self.compiled.plan, self.compiled.forwards)
    }
}
