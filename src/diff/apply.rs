//! The hunks of a patch, put in their places. In: a file's bytes and hunks. Out: [`Splice`]s for the one splicer of `tools`, or for
//! each hunk that has no place why. A hunk is placed by its text; its line number and its neighbors decide only between places
//! where the text stands.
//!
//! ```text
//! 1  the text stands byte for byte at its line, moved as the hunk before it was   there
//! 2  it stands once in the file                                                  there
//! 3  once between the places of the hunks before and after it                    there
//! 4  behind its anchors (`@@ class A`)                                           the first place there
//! 5  once within 20 lines of its line                                            there
//! 6  several times, or not at all                                                refused
//! ```
//!
//! In 2 to 5 lines that match exactly come before those that match but for line ends, and these before those that match but for blanks at
//! line ends (`search.rs`). Only changed lines are replaced: kept ones stay as the file has them. Added lines are written as they
//! are where everything matched exactly, which is what `git apply` does; else with the line ends of what they replace, then of the line
//! before, then after. The last line keeps its missing line feed unless the patch speaks of it.
//!
//! Refused besides: hunks that only add and stand nowhere, hunks that change the same lines.
//!
//! Invariant: splices are in order and apart from each other; bytes outside them stay.
//! Invariant: either all hunks are placed or nothing is returned but the reasons.

use std::ops::Range;

use crate::sort;

use super::parse::{Hunk, Line, Mark};
use super::search::{Finder, Found, Match, without_bom};

/// How far from its line a hunk may stand if other places are further away.
const NEAR: usize = 20;

/// Fewer letters stand anywhere by chance: no sign that a hunk was applied before.
const TELLING_BYTES: usize = 8;

/// Put `new` where `range` of the old bytes is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Splice {
    /// In the old bytes.
    pub range: Range<usize>,
    /// What stands there afterwards.
    pub new: Vec<u8>,
}

/// All hunks placed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Applied {
    /// In order, apart from each other.
    pub splices: Vec<Splice>,
    /// For each hunk the line of the file (from 1) where it stands, and how it matched.
    pub places: Vec<(usize, Match)>,
}

/// A hunk without a place.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Misfit {
    /// Which, from 0.
    pub hunk: usize,
    /// Why.
    pub why: Unfit,
}

/// Reasons. Lines are of the file, from 1.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Unfit {
    /// Its text does not stand in the file.
    NoPlace,
    /// Neither does it, but what it would be changed to stands at this line.
    Already(usize),
    /// It stands at these two lines, perhaps at more, and nothing tells which is meant.
    Several([usize; 2]),
    /// It only adds lines and does not say where.
    NoContext,
    /// It changes lines that this other hunk changes (from 0).
    Overlap(usize),
    /// The file repeats itself so much that the search took too long.
    TooCostly,
}

/// Places all hunks.
pub fn apply(file: &[u8], hunks: &[Hunk<'_>]) -> Result<Applied, Vec<Misfit>> {
    let mut placing = Placing {
        finder: Finder::new(file),
        hunks,
        places: vec![None; hunks.len()],
        open: vec![false; hunks.len()],
        misfits: Vec::new(),
    };
    placing.by_text();
    placing.by_neighbors();
    placing.finish()
}

/// The content that a new file's hunks add up to.
pub fn content(hunks: &[Hunk<'_>]) -> Vec<u8> {
    let mut content = Vec::new();
    for line in hunks.iter().flat_map(|hunk| hunk.becomes()) {
        content.extend_from_slice(line.text);
        content.push(b'\n');
    }
    let last = hunks.last().and_then(|hunk| hunk.lines.last());
    if last.is_some_and(|line| line.open) {
        content.pop();
    }
    content
}

struct Placing<'f, 'h> {
    finder: Finder<'f>,
    hunks: &'h [Hunk<'h>],
    places: Vec<Option<(usize, Match)>>,
    /// Of each hunk whether its text stands at several places.
    open: Vec<bool>,
    misfits: Vec<Misfit>,
}

impl<'h> Placing<'_, 'h> {
    /// Steps 1 and 2.
    fn by_text(&mut self) {
        let all = 0..self.finder.lines.count();
        let mut shift = 0;
        for i in 0..self.hunks.len() {
            let place = match self.at_once(i, shift) {
                Some(place) => Ok(Some(place)),
                None if self.hunks[i].stands().next().is_none() => Err(Unfit::NoContext),
                None => match self.finder.search(&self.hunks[i].lines, all.clone()) {
                    Found::Once(place, how) => Ok(Some((place, how))),
                    Found::Often(..) => Ok(None),
                    Found::Nowhere => Err(self.nowhere(i, all.clone())),
                    Found::GaveUp => Err(Unfit::TooCostly),
                },
            };
            match place {
                Ok(Some(place)) => self.places[i] = Some(place),
                Ok(None) => self.open[i] = true,
                Err(why) => self.misfits.push(Misfit { hunk: i, why }),
            }
            shift = self.shift(i).unwrap_or(shift);
        }
    }

    /// A place that needs no search.
    fn at_once(&mut self, i: usize, shift: isize) -> Option<(usize, Match)> {
        let hunk = &self.hunks[i];
        let (count, wanted) = (self.finder.lines.count(), hunk.stands().count());
        let start = hunk.start.filter(|_| wanted > 0);
        if let Some(expected) = expected(start, shift) {
            if self.finder.fits(expected, &hunk.lines) == Some(Match::Exact) {
                return Some((expected, Match::Exact));
            }
        }
        // Without a line to look for only the end of the file is certain.
        let at_end = hunk.at_end
            || (wanted == 0 && (count == 0 || hunk.start.is_some_and(|start| start >= count)));
        if at_end {
            let place = count.checked_sub(wanted)?;
            return self.finder.fits(place, &hunk.lines).map(|how| (place, how));
        }
        None
    }

    /// How far from its line a placed hunk stands.
    fn shift(&self, i: usize) -> Option<isize> {
        let (place, _) = self.places[i]?;
        let start = self.hunks[i].start?.max(1);
        Some(place as isize - (start as isize - 1))
    }

    /// Steps 3 to 5, for the hunks that stand at several places.
    fn by_neighbors(&mut self) {
        let count = self.finder.lines.count();
        // For each hunk where the next placed one begins.
        let mut limits = vec![count; self.hunks.len()];
        for i in (1..self.hunks.len()).rev() {
            limits[i - 1] = self.places[i].map_or(limits[i], |(place, _)| place);
        }
        let (mut shift, mut floor) = (0, 0);
        for (i, limit) in limits.into_iter().enumerate() {
            if self.open[i] {
                let between = match floor <= limit {
                    true => floor..limit,
                    false => 0..count,
                };
                match self.choose(i, between, shift) {
                    Ok(place) => self.places[i] = Some(place),
                    Err(why) => self.misfits.push(Misfit { hunk: i, why }),
                }
            }
            if let Some((place, _)) = self.places[i] {
                floor = place + self.hunks[i].stands().count();
            }
            shift = self.shift(i).unwrap_or(shift);
        }
    }

    fn choose(
        &mut self,
        i: usize,
        between: Range<usize>,
        shift: isize,
    ) -> Result<(usize, Match), Unfit> {
        let hunk = &self.hunks[i];
        let (two, how) = match self.finder.search(&hunk.lines, between.clone()) {
            Found::Once(place, how) => return Ok((place, how)),
            Found::Often(two, how) => (two, how),
            // The neighbors leave no room for it: it stands elsewhere, several times.
            Found::Nowhere => match self
                .finder
                .search(&hunk.lines, 0..self.finder.lines.count())
            {
                Found::Often([a, b], _) => return Err(Unfit::Several([a + 1, b + 1])),
                Found::Once(..) | Found::Nowhere => return Err(Unfit::NoPlace),
                Found::GaveUp => return Err(Unfit::TooCostly),
            },
            Found::GaveUp => return Err(Unfit::TooCostly),
        };
        if let Some(behind) = self.behind_anchors(i, between.clone()) {
            match self.finder.search(&hunk.lines, behind..between.end) {
                Found::Once(place, how) | Found::Often([place, _], how) => return Ok((place, how)),
                Found::Nowhere | Found::GaveUp => {}
            }
        }
        if let Some(expected) = expected(hunk.start, shift) {
            if self.finder.fits(expected, &hunk.lines) == Some(how) {
                return Ok((expected, how));
            }
            let from = expected.saturating_sub(NEAR).max(between.start);
            let to = (expected + NEAR + hunk.stands().count()).min(between.end);
            if let Found::Once(place, near) = self.finder.search(&hunk.lines, from..to.max(from)) {
                if near == how {
                    return Ok((place, how));
                }
            }
        }
        Err(Unfit::Several([two[0] + 1, two[1] + 1]))
    }

    /// The line of the innermost anchor, each looked for behind the one before.
    fn behind_anchors(&mut self, i: usize, between: Range<usize>) -> Option<usize> {
        let hunks = self.hunks;
        let mut from = between.start;
        let mut found = None;
        for anchor in &hunks[i].anchors {
            let line = self.finder.anchor(anchor, from..between.end)?;
            found = Some(line);
            from = line + 1;
        }
        found
    }

    /// The reason for a hunk that stands nowhere.
    fn nowhere(&mut self, i: usize, all: Range<usize>) -> Unfit {
        let keep = |line: &Line<'h>| Line {
            mark: Mark::Keep,
            ..*line
        };
        let new: Vec<Line<'h>> = self.hunks[i].becomes().map(keep).collect();
        let telling: usize = new.iter().map(|line| line.text.trim_ascii().len()).sum();
        if telling < TELLING_BYTES {
            return Unfit::NoPlace;
        }
        match self.finder.search(&new, all) {
            Found::Once(place, _) => Unfit::Already(place + 1),
            Found::Often(..) | Found::Nowhere | Found::GaveUp => Unfit::NoPlace,
        }
    }

    fn finish(mut self) -> Result<Applied, Vec<Misfit>> {
        let mut runs: Vec<(Splice, usize)> = Vec::new();
        let mut places = Vec::new();
        for (i, place) in self.places.iter().enumerate() {
            if let Some((place, how)) = *place {
                places.push((place + 1, how));
                let writer = Writer {
                    finder: &self.finder,
                    hunk: &self.hunks[i],
                    how,
                };
                writer.splices(place, |splice| runs.push((splice, i)));
            }
        }
        // Stable: of one hunk they are in order already.
        sort::by_key(&mut runs, |(splice, _)| {
            (splice.range.start, splice.range.end)
        });
        for pair in runs.windows(2) {
            let [(first, one), (second, other)] = pair else {
                continue;
            };
            let same = first.range == second.range && one != other;
            if second.range.start < first.range.end || same {
                let (hunk, earlier) = ((*one).max(*other), (*one).min(*other));
                self.misfits.push(Misfit {
                    hunk,
                    why: Unfit::Overlap(earlier),
                });
            }
        }
        if self.misfits.is_empty() {
            return Ok(Applied {
                splices: runs.into_iter().map(|(splice, _)| splice).collect(),
                places,
            });
        }
        sort::by_key(&mut self.misfits, |misfit| misfit.hunk);
        self.misfits.dedup_by_key(|misfit| misfit.hunk);
        Err(self.misfits)
    }
}

/// The line (from 0) where a hunk should stand.
fn expected(start: Option<usize>, shift: isize) -> Option<usize> {
    start?.max(1).checked_sub(1)?.checked_add_signed(shift)
}

/// A placed hunk.
struct Writer<'a, 'f> {
    finder: &'a Finder<'f>,
    hunk: &'a Hunk<'a>,
    how: Match,
}

impl Writer<'_, '_> {
    /// Each run of changed lines as one splice.
    fn splices(&self, place: usize, mut splice: impl FnMut(Splice)) {
        let mut line = place;
        let mut rest = &self.hunk.lines[..];
        while !rest.is_empty() {
            let kept = rest
                .iter()
                .take_while(|line| line.mark == Mark::Keep)
                .count();
            line += kept;
            rest = &rest[kept..];
            let run = rest
                .iter()
                .take_while(|line| line.mark != Mark::Keep)
                .count();
            let (changed, after) = rest.split_at(run);
            rest = after;
            let removed = changed
                .iter()
                .filter(|line| line.mark == Mark::Remove)
                .count();
            if run > 0 {
                splice(self.splice(line..line + removed, changed));
            }
            line += removed;
        }
    }

    fn splice(&self, lines: Range<usize>, changed: &[Line<'_>]) -> Splice {
        let text = self.finder.lines.text();
        let mut range = self.finder.lines.bytes_of(lines.clone());
        if range.start == 0 && self.how != Match::Exact && !self.speaks_of_bom() {
            range.start = text.len() - without_bom(text).len();
            range.end = range.end.max(range.start);
        }
        let added = changed.iter().filter(|line| line.mark == Mark::Add);
        let last = changed.iter().rfind(|line| line.mark == Mark::Add);
        // With the longest line end each, and one before them.
        let bytes: usize = added.clone().map(|line| line.text.len() + 2).sum();
        let mut new = Vec::with_capacity(bytes + 2);
        // Behind an open last line.
        if range.start == text.len() && !text.is_empty() && !text.ends_with(b"\n") && last.is_some()
        {
            new.extend_from_slice(self.line_end(&lines, usize::MAX));
        }
        for (i, line) in added.enumerate() {
            match self.how {
                Match::Exact => {
                    new.extend_from_slice(line.text);
                    new.push(b'\n');
                }
                Match::Ends | Match::Blanks => {
                    new.extend_from_slice(line.text.strip_suffix(b"\r").unwrap_or(line.text));
                    new.extend_from_slice(self.line_end(&lines, i));
                }
            }
        }
        let is_open =
            range.end == text.len() && last.is_some_and(|last| last.open || self.keeps_open());
        if is_open {
            let end = if new.ends_with(b"\r\n") && self.how != Match::Exact {
                2
            } else {
                1
            };
            new.truncate(new.len() - end);
        }
        Splice { range, new }
    }

    /// Whether a missing last line feed stays missing though the patch does not say so.
    fn keeps_open(&self) -> bool {
        let text = self.finder.lines.text();
        let said = self.hunk.lines.iter().any(|line| line.open);
        self.how != Match::Exact && !said && !text.is_empty() && !text.ends_with(b"\n")
    }

    fn speaks_of_bom(&self) -> bool {
        let first = self.hunk.stands().next();
        first.is_some_and(|line| without_bom(line.text).len() < line.text.len())
    }

    /// The line end of the `i`th added line: that of the line it replaces, else of the nearest line before, then after.
    fn line_end(&self, replaced: &Range<usize>, i: usize) -> &'static [u8] {
        let lines = &self.finder.lines;
        let counterpart = replaced
            .start
            .checked_add(i)
            .filter(|line| replaced.contains(line));
        let last = replaced.end.checked_sub(1);
        let before = replaced.start.checked_sub(1);
        let after = (replaced.end < lines.count()).then_some(replaced.end);
        let candidates = [counterpart, last, before, after];
        let ended = candidates
            .into_iter()
            .flatten()
            .map(|line| lines.get(line))
            .find(|line| line.ends_with(b"\n"));
        match ended {
            Some(line) if line.ends_with(b"\r\n") => b"\r\n",
            Some(_) => b"\n",
            // An only line without end: what the patch has.
            None if self
                .hunk
                .lines
                .iter()
                .any(|line| line.text.ends_with(b"\r")) =>
            {
                b"\r\n"
            }
            None => b"\n",
        }
    }
}
