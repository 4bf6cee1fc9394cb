//! Where lines of a hunk stand in a file. In: the file, and the lines that must stand there. Out: one place, several, or none, and how
//! well they match. `apply` decides with it.
//!
//! ```text
//! file                  wanted            place
//! 0  fn a() {\r\n       fn a() {          line 0, `Ends`: equal but for CRs, or for the line feed of the last line
//! 1      1\r\n              1
//! 2  }  \r\n            }                 with this line `Blanks`: equal but for blanks at line ends
//! ```
//!
//! The first searches look for the longest wanted line and compare the others around it. After `READS` of them the file's lines are
//! numbered by what they hold without blanks at their end; a chain leads from each to the next like it, and a search follows the
//! chain of the rarest wanted line. A byte-order mark at the beginning of the file need not be wanted: models are not shown it.
//!
//! Limit: `MAX_STEPS` lines compared for one file; files and hunks made of one line over and over reach it.
//!
//! Invariant: a better match anywhere in the range beats any number of worse ones.

use std::collections::HashMap;
use std::ops::Range;

use super::lines::Lines;
use super::parse::{Line, Mark, trimmed};

/// Lines compared before a search gives up: well below a second.
const MAX_STEPS: u64 = 50_000_000;

/// Searches that read all lines. The index costs as much as some thirty of them, and few patches need as many.
const READS: u32 = 16;

const BOM: &[u8] = b"\xef\xbb\xbf";

/// How lines of a hunk match those of a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Match {
    /// Byte for byte.
    Exact,
    /// But for line ends: CR, the last line feed, a byte-order mark.
    Ends,
    /// But for blanks at line ends.
    Blanks,
}

/// What a search came to. Places are lines of the file from 0.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Found {
    Nowhere,
    Once(usize, Match),
    /// The first two, and how well both match.
    Often([usize; 2], Match),
    /// `MAX_STEPS` was reached.
    GaveUp,
}

pub(super) struct Finder<'f> {
    pub(super) lines: Lines<'f>,
    index: Option<Index<'f>>,
    reads: u32,
    steps: u64,
}

impl<'f> Finder<'f> {
    pub(super) fn new(file: &'f [u8]) -> Finder<'f> {
        Finder {
            lines: Lines::new(file),
            index: None,
            reads: 0,
            steps: 0,
        }
    }

    /// Whether the lines, but for added ones, stand at a place, and how well they match.
    pub(super) fn fits(&mut self, place: usize, lines: &[Line<'_>]) -> Option<Match> {
        let mut worst = Match::Exact;
        let mut number = place;
        for line in lines.iter().filter(|line| line.mark != Mark::Add) {
            if number >= self.lines.count() {
                return None;
            }
            self.steps += 1;
            worst = worst.max(compare(&self.lines, number, line)?);
            number += 1;
        }
        (number <= self.lines.count()).then_some(worst)
    }

    /// Searches among the places where all of the lines, but for added ones, lie within `range`.
    pub(super) fn search(&mut self, lines: &[Line<'_>], range: Range<usize>) -> Found {
        let wanted = lines.iter().filter(|line| line.mark != Mark::Add).copied();
        let wanted: Vec<Line<'_>> = wanted.collect();
        let index = match self.index.take() {
            None if self.reads == READS => Some(Index::new(&self.lines)),
            index => index,
        };
        self.reads += u32::from(index.is_none());
        let found = self.follow(index.as_ref(), &wanted, range);
        self.index = index;
        found
    }

    fn follow(
        &mut self,
        index: Option<&Index<'f>>,
        wanted: &[Line<'_>],
        range: Range<usize>,
    ) -> Found {
        let numbers = 0..wanted.len();
        let chosen = match index {
            Some(index) => numbers.min_by_key(|i| index.chain(wanted[*i].text).count),
            None => numbers.max_by_key(|i| trimmed(wanted[*i].text).len()),
        };
        let Some(offset) = chosen else {
            return Found::Nowhere;
        };
        // The first two places of each kind of match.
        let mut places: [(usize, [usize; 2]); 3] = Default::default();
        let mut next = match index {
            Some(index) => index.first(wanted[offset].text),
            None => self.read(&wanted[offset], range.start + offset),
        };
        while let Some(line) = next {
            next = match index {
                Some(index) => index.after(line),
                None => self.read(&wanted[offset], line + 1),
            };
            self.steps += 1;
            if self.steps > MAX_STEPS {
                return Found::GaveUp;
            }
            let Some(place) = line
                .checked_sub(offset)
                .filter(|place| range.start <= *place)
            else {
                continue;
            };
            if place + wanted.len() > range.end {
                break;
            }
            if let Some(how) = self.fits(place, wanted) {
                let (count, first) = &mut places[how as usize];
                if *count < 2 {
                    first[*count] = place;
                    *count += 1;
                }
                if how == Match::Exact && *count == 2 {
                    break;
                }
            }
        }
        for (how, (count, first)) in [Match::Exact, Match::Ends, Match::Blanks]
            .into_iter()
            .zip(places)
        {
            match count {
                0 => {}
                1 => return Found::Once(first[0], how),
                _ => return Found::Often(first, how),
            }
        }
        Found::Nowhere
    }

    /// The first line from `from` on that matches a wanted one.
    fn read(&self, wanted: &Line<'_>, from: usize) -> Option<usize> {
        // Few lines have this byte there, and most of them are wanted. Line 0 may have a mark before it.
        let text = trimmed(wanted.text);
        let last = text.last().map(|byte| (text.len() - 1, byte));
        (from..self.lines.count()).find(|number| {
            let line = self.lines.get(*number);
            let may = *number == 0 || last.is_none_or(|(at, byte)| line.get(at) == Some(byte));
            may && compare(&self.lines, *number, wanted).is_some()
        })
    }

    /// The first line within `range` that is the anchor or begins with it, blanks at both ends aside.
    pub(super) fn anchor(&mut self, anchor: &[u8], range: Range<usize>) -> Option<usize> {
        let anchor = anchor.trim_ascii();
        self.steps += range.len() as u64;
        if self.steps > MAX_STEPS {
            return None;
        }
        range
            .into_iter()
            .find(|line| self.lines.get(*line).trim_ascii().starts_with(anchor))
    }
}

/// How a line of the file matches a wanted one, if it does.
fn compare(lines: &Lines<'_>, number: usize, wanted: &Line<'_>) -> Option<Match> {
    let line = lines.get(number);
    let (body, open) = match line.strip_suffix(b"\n") {
        Some(body) => (body, false),
        None => (line, true),
    };
    if body == wanted.text && open == wanted.open {
        return Some(Match::Exact);
    }
    let body = if number == 0 { without_bom(body) } else { body };
    let text = if number == 0 {
        without_bom(wanted.text)
    } else {
        wanted.text
    };
    let bare = |line: &[u8]| line.strip_suffix(b"\r").map_or(line.len(), <[u8]>::len);
    if body[..bare(body)] == text[..bare(text)] {
        return Some(Match::Ends);
    }
    (trimmed(body) == trimmed(text)).then_some(Match::Blanks)
}

pub(super) fn without_bom(line: &[u8]) -> &[u8] {
    line.strip_prefix(BOM).unwrap_or(line)
}

/// Equal lines of a file, as chains.
struct Index<'f> {
    chains: HashMap<&'f [u8], Chain>,
    /// For each line the next one of its chain, or itself.
    next: Vec<u32>,
}

#[derive(Clone, Copy, Default)]
struct Chain {
    first: usize,
    count: usize,
}

impl<'f> Index<'f> {
    fn new(lines: &Lines<'f>) -> Index<'f> {
        // A file has fewer lines than bytes, and files are smaller than 4 GiB (`tools/edit.rs`).
        let mut next: Vec<u32> = vec![0; lines.count()];
        let mut chains: HashMap<&[u8], Chain> = HashMap::with_capacity(lines.count());
        for line in (0..lines.count()).rev() {
            let text = if line == 0 {
                without_bom(lines.get(0))
            } else {
                lines.get(line)
            };
            let chain = chains.entry(trimmed(text)).or_default();
            let following = if chain.count == 0 { line } else { chain.first };
            next[line] = u32::try_from(following).unwrap_or(0);
            chain.first = line;
            chain.count += 1;
        }
        Index { chains, next }
    }

    fn chain(&self, text: &[u8]) -> Chain {
        let known = |text: &[u8]| self.chains.get(trimmed(text)).copied();
        known(text)
            .or_else(|| known(without_bom(text)))
            .unwrap_or_default()
    }

    fn first(&self, text: &[u8]) -> Option<usize> {
        let chain = self.chain(text);
        (chain.count > 0).then_some(chain.first)
    }

    fn after(&self, line: usize) -> Option<usize> {
        let next = self.next[line] as usize;
        (next > line).then_some(next)
    }
}
