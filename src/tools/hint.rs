//! The nearest real lines, for a passage that does not stand in the file. In: the passage and the file. Out: a range of lines that was
//! probably meant, or nothing. `replace` shows them; nothing is ever written by nearness.
//!
//! ```text
//! passage            file                        nearest
//! if x {             11   if x  {                lines 11-13: equal but for blanks
//!   run();           12       run();
//! }                  13   }
//! let tota = 1;      40   let total = 1;         line 40: 0.9 of its letter pairs are the same
//! ```
//!
//! First by whole lines, blanks aside: every line of the file that equals a line of the passage votes for where the passage would
//! begin, with the weight of its length. If at least half of the passage agrees on one place, that is it. Else the longest line of
//! the passage is compared with every line of the file by its pairs of bytes (Dice's coefficient), and 0.6 is near.
//!
//! Limits: lines that begin in the first 4 MiB of a file, lines up to 400 bytes, 12 lines of 400 characters shown. Linear in both.

use std::borrow::Cow;
use std::collections::HashMap;
use std::ops::Range;

use crate::diff::Lines;
use crate::text;

use super::edit::line_numbers;

const FILE_BYTES: usize = 4 << 20;
const LINE_BYTES: usize = 400;
const SHOWN_LINES: usize = 12;
/// Characters of a line that are shown.
const LINE_CHARS: usize = 400;

/// Lines (from 0) that the passage probably means, and whether they are the same but for blanks.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Near {
    pub(super) lines: Range<usize>,
    pub(super) blanks_only: bool,
}

/// Looks for the nearest lines.
pub(super) fn nearest_lines(file: &Lines<'_>, passage: &str) -> Option<Near> {
    let numbers = (0..file.count()).take_while(|number| file.start(*number) < FILE_BYTES);
    let lines: Vec<&[u8]> = numbers.map(|number| without_end(file, number)).collect();
    let wanted: Vec<Vec<u8>> = passage
        .trim_matches('\n')
        .split('\n')
        .map(|line| squeeze(line.as_bytes()))
        .collect();
    by_votes(&lines, &wanted).or_else(|| by_pairs(&lines, &wanted))
}

impl Near {
    /// Which lines they are, then the lines themselves, each with its end.
    pub(super) fn shown(&self, file: &Lines<'_>) -> String {
        let numbers = line_numbers(self.lines.start as u64 + 1, self.lines.end as u64);
        let how = match self.blanks_only {
            true => ", which differ only in blanks",
            false => "",
        };
        let mut text = format!(" Nearest: {numbers}{how}:\n");
        for number in self.lines.clone() {
            text.push_str(&text::clip(&real_line(file, number), LINE_CHARS));
            text.push('\n');
        }
        text
    }
}

/// A line of the file as text, without its end.
pub(super) fn real_line<'a>(file: &Lines<'a>, number: usize) -> Cow<'a, str> {
    let line = without_end(file, number);
    text::repair(line.strip_suffix(b"\r").unwrap_or(line))
}

fn without_end<'a>(file: &Lines<'a>, number: usize) -> &'a [u8] {
    let line = file.get(number);
    line.strip_suffix(b"\n").unwrap_or(line)
}

fn by_votes(lines: &[&[u8]], wanted: &[Vec<u8>]) -> Option<Near> {
    let mut places: HashMap<&[u8], Vec<usize>> = HashMap::new();
    for (i, line) in wanted
        .iter()
        .enumerate()
        .filter(|(_, line)| !line.is_empty())
    {
        places.entry(line).or_default().push(i);
    }
    let whole: usize = wanted.iter().map(Vec::len).sum();
    // For each line of the file: how much of the passage would stand right if it began there.
    let mut votes = vec![0; lines.len()];
    for (i, line) in lines
        .iter()
        .enumerate()
        .filter(|(_, line)| line.len() <= LINE_BYTES)
    {
        let line = squeeze(line);
        // A line that stands in the passage a hundred times says nothing about where it begins.
        for at in places
            .get(&line[..])
            .into_iter()
            .flatten()
            .take(SHOWN_LINES)
        {
            if let Some(start) = i.checked_sub(*at) {
                votes[start] += line.len();
            }
        }
    }
    let (start, weight) = votes
        .into_iter()
        .enumerate()
        .max_by_key(|(start, weight)| (*weight, usize::MAX - start))?;
    (whole > 0 && weight * 2 >= whole).then(|| Near {
        lines: start..(start + wanted.len().min(SHOWN_LINES)).min(lines.len()),
        blanks_only: weight == whole,
    })
}

fn by_pairs(lines: &[&[u8]], wanted: &[Vec<u8>]) -> Option<Near> {
    let (offset, longest) = wanted
        .iter()
        .enumerate()
        .filter(|(_, line)| line.len() <= LINE_BYTES)
        .max_by_key(|(i, line)| (line.len(), usize::MAX - i))?;
    if longest.len() < 2 {
        return None;
    }
    let mut counts = vec![0u16; 1 << 16];
    for pair in pairs(longest) {
        counts[pair] += 1;
    }
    let mut best: Option<(usize, usize, usize)> = None;
    for (i, line) in lines
        .iter()
        .enumerate()
        .filter(|(_, line)| line.len() <= LINE_BYTES)
    {
        let line = squeeze(line);
        let mut taken = Vec::with_capacity(line.len());
        for pair in pairs(&line) {
            if counts[pair] > 0 {
                counts[pair] -= 1;
                taken.push(pair);
            }
        }
        let (same, all) = (2 * taken.len(), line.len() + longest.len() - 2);
        taken.into_iter().for_each(|pair| counts[pair] += 1);
        // same / all, compared without division; the first of equals wins.
        if best.is_none_or(|(_, s, a)| same * a > s * all) {
            best = Some((i, same, all.max(1)));
        }
    }
    let (line, same, all) = best?;
    let start = line.saturating_sub(offset);
    (same * 10 >= all * 6).then(|| Near {
        lines: start..(start + wanted.len().min(SHOWN_LINES)).min(lines.len()),
        blanks_only: false,
    })
}

fn pairs(line: &[u8]) -> impl Iterator<Item = usize> {
    line.windows(2)
        .map(|pair| usize::from(pair[0]) << 8 | usize::from(pair[1]))
}

/// Without blanks at the ends, inner runs of blanks as one.
fn squeeze(line: &[u8]) -> Vec<u8> {
    let mut out = Vec::with_capacity(line.len());
    for word in line
        .split(u8::is_ascii_whitespace)
        .filter(|word| !word.is_empty())
    {
        if !out.is_empty() {
            out.push(b' ');
        }
        out.extend_from_slice(word);
    }
    out
}
