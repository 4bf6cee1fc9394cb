//! Where a passage stands in a file. In: the file's bytes and the passage as a model wrote it. Out: its places, exact ones, or
//! if there are none those that differ only in what a model cannot see. `replace` asks.
//!
//! ```text
//! file     a\r\nx·=·1\r\n      (· is U+00A0)
//! passage  a\nx = 1            no exact place; folded, CR LF is LF and · is a blank: bytes 0..10 of the file
//! ```
//!
//! Folded are: CR before LF; and the blanks that look like a space (U+00A0, U+2000–U+200A, U+202F, U+205F, U+3000). Nothing else: a
//! passage that differs in letters or indentation has no place, `hint` proposes one.
//!
//! Knuth, Morris and Pratt's search: linear in file and passage together whatever they hold, and places that overlap are all seen
//! (`aa` stands twice in `aaa`). Where nothing is matched yet it goes to the next place that has the passage's two rarest bytes.
//!
//! Invariant: a place covers whole characters of the file, and whole CR LF pairs unless the passage itself ends between the two.

use std::ops::Range;

use crate::regex;
use crate::sys::simd;

/// Places kept; the rest is counted.
const KEPT: usize = 10;

/// Where the passage stands.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Places {
    /// In the file's bytes, in order, at most ten.
    pub(super) first: Vec<Range<usize>>,
    /// All of them.
    pub(super) total: u64,
    /// Found only when blanks and CRs were folded.
    pub(super) folded: bool,
}

/// Searches exactly, then folded. An empty passage stands nowhere.
pub(super) fn find(file: &[u8], passage: &[u8]) -> Places {
    let (first, total) = occurrences(file, passage);
    if total > 0 {
        return Places {
            first: first.into_iter().map(|at| at..at + passage.len()).collect(),
            total,
            folded: false,
        };
    }
    let file = Folded::new(file);
    let passage = Folded::new(passage).bytes;
    let (first, total) = occurrences(&file.bytes, &passage);
    Places {
        first: first
            .into_iter()
            .map(|at| file.origin(at)..file.origin(at + passage.len()))
            .collect(),
        total,
        folded: true,
    }
}

/// Starts of the first ten places, and how many there are.
fn occurrences(text: &[u8], pattern: &[u8]) -> (Vec<usize>, u64) {
    let (mut first, mut total) = (Vec::new(), 0);
    if pattern.is_empty() || pattern.len() > text.len() {
        return (first, total);
    }
    let (borders, pair) = (borders(pattern), regex::rare_pair(pattern));
    let mut matched = 0;
    let mut at = 0;
    while at < text.len() {
        if matched == 0 {
            // Most of a file is passed over here.
            at = simd::find_pair(text, pair, at);
            if at == text.len() {
                break;
            }
        }
        while matched > 0 && text[at] != pattern[matched] {
            matched = borders[matched - 1];
        }
        if text[at] == pattern[matched] {
            matched += 1;
        }
        at += 1;
        if matched == pattern.len() {
            total += 1;
            if first.len() < KEPT {
                first.push(at - matched);
            }
            matched = borders[matched - 1];
        }
    }
    (first, total)
}

/// For each prefix of the pattern the length of the longest proper prefix that is also its end.
fn borders(pattern: &[u8]) -> Vec<usize> {
    let mut borders = vec![0; pattern.len()];
    let mut length = 0;
    for i in 1..pattern.len() {
        while length > 0 && pattern[i] != pattern[length] {
            length = borders[length - 1];
        }
        if pattern[i] == pattern[length] {
            length += 1;
        }
        borders[i] = length;
    }
    borders
}

/// A text with its lookalikes folded, and the way back.
struct Folded {
    bytes: Vec<u8>,
    /// After each folded unit: its end here and in the original.
    ends: Vec<(usize, usize)>,
}

impl Folded {
    fn new(text: &[u8]) -> Folded {
        let mut folded = Folded {
            bytes: Vec::with_capacity(text.len()),
            ends: Vec::new(),
        };
        let mut at = 0;
        while at < text.len() {
            let (byte, length) = match fold(&text[at..]) {
                Some(unit) => unit,
                None => (text[at], 1),
            };
            folded.bytes.push(byte);
            at += length;
            if length > 1 {
                folded.ends.push((folded.bytes.len(), at));
            }
        }
        folded
    }

    /// Where a folded position lies in the original.
    fn origin(&self, at: usize) -> usize {
        let after = self.ends.partition_point(|(here, _)| *here <= at);
        match after.checked_sub(1).map(|i| self.ends[i]) {
            Some((here, original)) => original + (at - here),
            None => at,
        }
    }
}

/// What the unit at the beginning is folded to, and its length.
fn fold(text: &[u8]) -> Option<(u8, usize)> {
    match text {
        [b'\r', b'\n', ..] => Some((b'\n', 2)),
        [0xc2, 0xa0, ..] => Some((b' ', 2)),
        [0xe2, 0x80, 0x80..=0x8a | 0xaf, ..] | [0xe2, 0x81, 0x9f, ..] | [0xe3, 0x80, 0x80, ..] => {
            Some((b' ', 3))
        }
        _ => None,
    }
}

/// How much of both texts is the same at the beginning and at the end, under folding of CRs, and of blanks too if `blanks`.
/// Gives the middle that differs, in each text.
pub(super) fn differing(old: &str, new: &str, blanks: bool) -> (Range<usize>, Range<usize>) {
    let old_units = units(old, blanks);
    let new_units = units(new, blanks);
    let same = |(a, b): &(&Unit, &Unit)| a.folded == b.folded;
    let front = old_units.iter().zip(&new_units).take_while(same).count();
    let back = old_units[front..]
        .iter()
        .rev()
        .zip(new_units[front..].iter().rev())
        .take_while(same)
        .count();
    let middle = |units: &[Unit], length: usize| {
        let start = units.get(front).map_or(length, |unit| unit.start);
        let end = units
            .get(units.len() - back)
            .map_or(length, |unit| unit.start);
        start..end
    };
    (middle(&old_units, old.len()), middle(&new_units, new.len()))
}

struct Unit {
    start: usize,
    folded: char,
}

fn units(text: &str, blanks: bool) -> Vec<Unit> {
    let mut units = Vec::with_capacity(text.len());
    let mut chars = text.char_indices().peekable();
    while let Some((start, c)) = chars.next() {
        let folded = match c {
            '\r' if chars.next_if(|(_, next)| *next == '\n').is_some() => '\n',
            '\u{a0}' | '\u{2000}'..='\u{200a}' | '\u{202f}' | '\u{205f}' | '\u{3000}' if blanks => {
                ' '
            }
            c => c,
        };
        units.push(Unit { start, folded });
    }
    units
}
