//! What a search found, in the order of the walk, bounded. In: for each file its matching lines, whenever a thread has them. Out: the first
//! so many lines of the whole and honest totals. `search.rs` has one, behind a lock that a thread takes once for a file with matches.
//!
//! ```text
//! most 4 lines     file 7: 2 lines     file 3: 3 lines     file 9: 5 lines     file 1: 2 lines
//! kept             7                   3 7                 3 7                 1 3
//! wanted below     ∞                   7 (3 + 2 are enough)  7                 3
//! total            2                   5                   10                  12
//! ```
//!
//! Limits: lines and bytes as told, and one file beyond each; the three files with most matches.
//!
//! Invariant: what is kept at the end depends on what was found, not on the order in which it came.

use super::scan::Line;
use super::shorten::shorten;

/// Files with most matches that are named.
const LEADERS: usize = 3;

/// The matches of one file.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct FileHits {
    /// For people.
    pub(super) path: String,
    /// Lines with a match, kept or not.
    pub(super) count: u64,
    /// Number and text of the first of them.
    pub(super) lines: Vec<(u64, String)>,
}

/// The whole of it.
#[derive(Debug)]
pub(super) struct Kept {
    most: usize,
    room: usize,
    /// By number, ascending; as many as give the lines.
    files: Vec<(u64, FileHits)>,
    lines: usize,
    bytes: usize,
    /// Files from this number on add to the totals only.
    wanted_below: u64,
    /// Lines with a match.
    pub(super) total: u64,
    /// Files with a match.
    pub(super) total_files: u64,
    /// Count, number and path of the files with most, the first of equals first.
    leaders: Vec<(u64, u64, String)>,
}

impl FileHits {
    /// Counts a line; the text of the first so many is kept.
    pub(super) fn add(&mut self, line: &Line<'_>, most: usize) {
        self.count += 1;
        if self.lines.len() < most {
            let text = shorten(line.text, &line.found);
            self.lines.push((line.number, text));
        }
    }

    /// What showing it takes.
    fn bytes(&self) -> usize {
        let line = |(_, text): &(u64, String)| self.path.len() + text.len() + 12;
        self.lines.iter().map(line).sum()
    }
}

impl Kept {
    /// At most so many lines, and as many bytes.
    pub(super) fn new(most: usize, room: usize) -> Kept {
        Kept {
            most,
            room,
            files: Vec::new(),
            lines: 0,
            bytes: 0,
            wanted_below: u64::MAX,
            total: 0,
            total_files: 0,
            leaders: Vec::new(),
        }
    }

    /// Files of this number and higher ones need not have their lines.
    pub(super) fn wanted_below(&self) -> u64 {
        self.wanted_below
    }

    /// Takes the matches of a file, of which there is at least one.
    pub(super) fn take(&mut self, number: u64, hits: FileHits) {
        self.total += hits.count;
        self.total_files += 1;
        self.lead(number, &hits);
        if number >= self.wanted_below {
            return;
        }
        self.lines += hits.lines.len();
        self.bytes += hits.bytes();
        let at = self.files.partition_point(|(before, _)| *before < number);
        self.files.insert(at, (number, hits));
        while let Some((number, last)) = self.files.last() {
            let (lines, bytes) = (last.lines.len(), last.bytes());
            if self.lines - lines < self.most && self.bytes - bytes < self.room {
                // With the last file they are enough: what comes behind it is not wanted.
                if self.lines >= self.most || self.bytes >= self.room {
                    self.wanted_below = *number;
                }
                return;
            }
            self.wanted_below = *number;
            self.files.pop();
            self.lines -= lines;
            self.bytes -= bytes;
        }
    }

    fn lead(&mut self, number: u64, hits: &FileHits) {
        let place = |leader: &(u64, u64, String)| (std::cmp::Reverse(leader.0), leader.1);
        let at = self
            .leaders
            .partition_point(|l| place(l) < (std::cmp::Reverse(hits.count), number));
        if at < LEADERS {
            self.leaders
                .insert(at, (hits.count, number, hits.path.clone()));
            self.leaders.truncate(LEADERS);
        }
    }

    /// The lines, in order, as `path:line: text`, and how many they are.
    pub(super) fn shown(&self) -> (String, u64) {
        let (mut text, mut shown) = (String::new(), 0);
        let all = self
            .files
            .iter()
            .flat_map(|(_, hits)| hits.lines.iter().map(|line| (&hits.path, line)));
        for (path, (number, line)) in all.take(self.most) {
            let line = format!("{path}:{number}: {line}\n");
            if text.len() + line.len() > self.room {
                break;
            }
            text.push_str(&line);
            shown += 1;
        }
        (text, shown)
    }

    /// Path and count of the files with most matches.
    pub(super) fn leaders(&self) -> impl Iterator<Item = (&str, u64)> {
        self.leaders
            .iter()
            .map(|(count, _, path)| (path.as_str(), *count))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// File `number` with `count` matching lines, of which the first four are kept.
    fn hits(number: u64, count: u64) -> (u64, FileHits) {
        let lines = (1..=count.min(4)).map(|line| (line, format!("text {line}")));
        let hits = FileHits {
            path: format!("f{number}"),
            count,
            lines: lines.collect(),
        };
        (number, hits)
    }

    /// The same whatever comes first.
    #[track_caller]
    fn check(
        room: usize,
        files: &[(u64, u64)],
        text: &str,
        wanted_below: u64,
        leaders: &[(&str, u64)],
    ) {
        for turn in 0..files.len() {
            let mut order = files.to_vec();
            order.rotate_left(turn);
            if turn % 2 == 1 {
                order.reverse();
            }
            let mut kept = Kept::new(4, room);
            for (number, count) in &order {
                let (number, hits) = hits(*number, *count);
                kept.take(number, hits);
            }
            assert_eq!(
                kept.shown(),
                (text.to_string(), text.lines().count() as u64),
                "{order:?}"
            );
            assert_eq!(kept.leaders().collect::<Vec<_>>(), leaders);
            let totals = (files.iter().map(|f| f.1).sum(), files.len() as u64);
            assert_eq!((kept.total, kept.total_files), totals);
            assert_eq!(kept.wanted_below(), wanted_below, "{order:?}");
        }
    }

    #[test]
    fn the_first_lines_whatever_comes_first() {
        check(
            999,
            &[(5, 2)],
            "f5:1: text 1\nf5:2: text 2\n",
            u64::MAX,
            &[("f5", 2)],
        );
        check(
            999,
            &[(1, 2), (3, 3), (7, 2), (9, 5)],
            "f1:1: text 1\nf1:2: text 2\nf3:1: text 1\nf3:2: text 2\n",
            3,
            &[("f9", 5), ("f3", 3), ("f1", 2)],
        );
        check(
            999,
            &[(1, 4), (2, 4)],
            "f1:1: text 1\nf1:2: text 2\nf1:3: text 3\nf1:4: text 4\n",
            1,
            &[("f1", 4), ("f2", 4)],
        );
    }

    #[test]
    fn bytes_are_bounded_too() {
        // A line is shown in 13 bytes and counted as 20.
        check(
            26,
            &[(1, 1), (2, 1), (3, 1)],
            "f1:1: text 1\nf2:1: text 1\n",
            2,
            &[("f1", 1), ("f2", 1), ("f3", 1)],
        );
        check(
            25,
            &[(1, 1), (2, 1), (3, 1)],
            "f1:1: text 1\n",
            2,
            &[("f1", 1), ("f2", 1), ("f3", 1)],
        );
    }
}
