//! How two texts differ: Eugene Myers' algorithm ("An O(ND) Difference Algorithm and Its Variations", 1986) in its variant with
//! linear space, over whole lines. In: two byte strings. Out: the runs of lines that differ. `tools` splices with them, `unified`
//! writes them.
//!
//! ```text
//! old  a b c a b b a        the path through the grid: right = remove, down = add, diagonal = keep
//! new  c b a b a c          remove a b · keep c · add b · keep a b · remove b · keep a · add c
//! ```
//!
//! Equal lines at both ends are taken off first, by bytes. What is left gets numbers, equal lines the same one, and lines that only one
//! side has are set aside: no path can keep them. The search for the middle of the shortest path then divides the problem in two,
//! again and again; after `MAX_COST` steps in one search it divides where it has come furthest. So the result is a shortest one
//! for what people call a diff and a good one for texts with little in common.
//!
//! Limits: none on the sizes. Time: lines × min(differences, `MAX_COST`); memory: a few words a line.
//!
//! Invariant: changes are in order, apart from each other, and replacing them in the old text gives the new text.

use std::collections::HashMap;
use std::ops::Range;

use super::lines::Lines;

/// Whole lines of the old text (bytes) and the whole lines of the new text that stand in their place.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Change {
    /// In the old text.
    pub old: Range<usize>,
    /// In the new text.
    pub new: Range<usize>,
}

/// Steps after which one search for a middle takes the best it has. Texts within 512 differences of each other are not affected.
const MAX_COST: i64 = 256;

/// The runs of lines that differ.
pub fn changes(old: &[u8], new: &[u8]) -> Vec<Change> {
    let (front, back) = same_ends(old, new);
    let old_lines = Lines::new(&old[front..old.len() - back]);
    let new_lines = Lines::new(&new[front..new.len() - back]);
    let (removed, added) = marks(&old_lines, &new_lines);
    let mut changes = Vec::new();
    let (mut i, mut j) = (0, 0);
    while i < removed.len() || j < added.len() {
        let (from_i, from_j) = (i, j);
        i += removed[i..].iter().take_while(|gone| **gone).count();
        j += added[j..].iter().take_while(|come| **come).count();
        if i > from_i || j > from_j {
            let of = |lines: &Lines<'_>, range: Range<usize>| {
                let bytes = lines.bytes_of(range);
                bytes.start + front..bytes.end + front
            };
            changes.push(Change {
                old: of(&old_lines, from_i..i),
                new: of(&new_lines, from_j..j),
            });
        }
        // Kept lines come in pairs.
        let kept = |marks: &[bool]| marks.iter().take_while(|changed| !**changed).count();
        let pairs = kept(&removed[i..]).min(kept(&added[j..]));
        i += pairs;
        j += pairs;
    }
    changes
}

/// How many bytes are the same at the beginning and at the end, in whole lines.
fn same_ends(old: &[u8], new: &[u8]) -> (usize, usize) {
    let front = same(old, new);
    let front = match front == old.len() && front == new.len() {
        true => front,
        false => old[..front]
            .iter()
            .rposition(|b| *b == b'\n')
            .map_or(0, |i| i + 1),
    };
    let (old, new) = (&old[front..], &new[front..]);
    let limit = old.len().min(new.len());
    let back = old.iter().rev().zip(new.iter().rev());
    let back = back.take_while(|(a, b)| a == b).count();
    // The run must begin where a line does on both sides.
    let begins =
        |text: &[u8], back: usize| text.len() == back || text[text.len() - back - 1] == b'\n';
    if back == limit && begins(old, back) && begins(new, back) {
        return (front, back);
    }
    let first = old[old.len() - back..].iter().position(|b| *b == b'\n');
    (front, first.map_or(0, |i| back - i - 1))
}

/// Length of the common beginning; in chunks, since it is most of a file.
fn same(a: &[u8], b: &[u8]) -> usize {
    const CHUNK: usize = 64;
    let chunks = a.chunks_exact(CHUNK).zip(b.chunks_exact(CHUNK));
    let at = CHUNK * chunks.take_while(|(a, b)| a == b).count();
    let rest = a[at..].iter().zip(&b[at..]);
    at + rest.take_while(|(a, b)| a == b).count()
}

/// For each line of both sides whether it changes.
fn marks(old: &Lines<'_>, new: &Lines<'_>) -> (Vec<bool>, Vec<bool>) {
    let mut removed = vec![true; old.count()];
    let mut added = vec![true; new.count()];
    if old.count() == 0 || new.count() == 0 {
        return (removed, added);
    }
    let mut numbers: HashMap<&[u8], u32> = HashMap::with_capacity(old.count());
    // Of each number, whether the new text has it.
    let mut shared: Vec<bool> = Vec::new();
    let mut old_numbers = Vec::with_capacity(old.count());
    for i in 0..old.count() {
        let next = shared.len() as u32;
        let number = *numbers.entry(old.get(i)).or_insert(next);
        if number == next {
            shared.push(false);
        }
        old_numbers.push(number);
    }
    let (mut b, mut b_lines) = (Vec::new(), Vec::new());
    for j in 0..new.count() {
        if let Some(number) = numbers.get(new.get(j)) {
            shared[*number as usize] = true;
            b.push(*number);
            b_lines.push(j);
        }
    }
    let (mut a, mut a_lines) = (Vec::new(), Vec::new());
    for (i, number) in old_numbers.into_iter().enumerate() {
        if shared[number as usize] {
            a.push(number);
            a_lines.push(i);
        }
    }
    let mut kept = Vec::new();
    Search::new(&a, &b).run(&mut kept);
    for (i, j) in kept {
        removed[a_lines[i]] = false;
        added[b_lines[j]] = false;
    }
    (removed, added)
}

/// A place in the grid: lines of `a` and of `b` that are behind it.
type Point = (usize, usize);

/// What a diagonal holds that no path has reached.
const NEVER: i64 = i64::MIN / 2;

/// The grid and, for each diagonal (x − y), how far a path has come along it: from the beginning and from the end.
struct Search<'a> {
    a: &'a [u32],
    b: &'a [u32],
    forward: Vec<i64>,
    backward: Vec<i64>,
}

impl<'a> Search<'a> {
    fn new(a: &'a [u32], b: &'a [u32]) -> Search<'a> {
        let diagonals = a.len() + b.len() + 3;
        Search {
            a,
            b,
            forward: vec![NEVER; diagonals],
            backward: vec![NEVER; diagonals],
        }
    }

    /// Collects the pairs of lines that are kept.
    fn run(mut self, kept: &mut Vec<Point>) {
        // A stack of our own: how deep it gets is the input's choice.
        let mut open = vec![(0..self.a.len(), 0..self.b.len())];
        while let Some((mut a, mut b)) = open.pop() {
            while !a.is_empty() && !b.is_empty() && self.a[a.start] == self.b[b.start] {
                kept.push((a.start, b.start));
                a.start += 1;
                b.start += 1;
            }
            while !a.is_empty() && !b.is_empty() && self.a[a.end - 1] == self.b[b.end - 1] {
                a.end -= 1;
                b.end -= 1;
                kept.push((a.end, b.end));
            }
            if a.is_empty() || b.is_empty() {
                continue;
            }
            let (x, y) = self.middle(&a, &b);
            let corner = (x, y) == (a.start, b.start) || (x, y) == (a.end, b.end);
            // A corner would not divide anything. It cannot come out; if it did, the lines would all count as changed.
            if !corner {
                open.push((a.start..x, b.start..y));
                open.push((x..a.end, y..b.end));
            }
        }
    }

    /// A place on a shortest path, or after `MAX_COST` steps on a long stretch of one. Neither first nor last lines are equal.
    fn middle(&mut self, a: &Range<usize>, b: &Range<usize>) -> Point {
        let (n, m) = (a.len() as i64, b.len() as i64);
        let delta = n - m;
        // The diagonals −m..=n, with one more on each side that stays out of reach.
        let slot = |k: i64| (k + m + 1) as usize;
        let at = |x: i64, k: i64| (a.start + x as usize, b.start + (x - k) as usize);
        let mut ahead = Reach::at(0);
        let mut behind = Reach::at(delta);
        self.forward[slot(0)] = 0;
        self.backward[slot(delta)] = n;
        for edge in [-1, 1] {
            self.forward[slot(edge)] = NEVER;
            self.backward[slot(delta + edge)] = NEVER;
        }
        for cost in 1.. {
            ahead.widen(-m, n, |k| self.forward[slot(k)] = NEVER);
            for k in ahead.diagonals() {
                // One line removed (from the left) or one added (from above), whichever leads further and lies in the grid.
                let right = self.forward[slot(k - 1)] + 1;
                let down = self.forward[slot(k + 1)];
                let right = if right <= n { right } else { NEVER };
                let down = if down - k <= m { down } else { NEVER };
                let mut x = right.max(down);
                while 0 <= x && x < n && x - k < m && self.is_pair(a, b, x, x - k) {
                    x += 1;
                }
                self.forward[slot(k)] = x;
                if x >= 0 && behind.holds(k) {
                    let met = self.backward[slot(k)];
                    if met >= 0 && met <= x {
                        return at(x, k);
                    }
                }
            }
            behind.widen(-m, n, |k| self.backward[slot(k)] = NEVER);
            for k in behind.diagonals() {
                let left = self.backward[slot(k + 1)] - 1;
                let up = self.backward[slot(k - 1)];
                let left = if left >= 0 { left } else { NEVER };
                let up = if up >= k { up } else { NEVER };
                let mut x = match (left >= 0, up >= 0) {
                    (true, true) => left.min(up),
                    (true, false) => left,
                    (false, _) => up,
                };
                while 0 < x && x > k && self.is_pair(a, b, x - 1, x - k - 1) {
                    x -= 1;
                }
                self.backward[slot(k)] = x;
                if x >= 0 && ahead.holds(k) {
                    let met = self.forward[slot(k)];
                    if met >= x {
                        return at(x, k);
                    }
                }
            }
            if cost >= MAX_COST {
                break;
            }
        }
        let furthest = ahead
            .diagonals()
            .filter(|k| self.forward[slot(*k)] >= 0)
            .map(|k| (2 * self.forward[slot(k)] - k, k))
            .max();
        let nearest = behind
            .diagonals()
            .filter(|k| self.backward[slot(*k)] >= 0)
            .map(|k| (n + m - (2 * self.backward[slot(k)] - k), k))
            .max();
        match (furthest, nearest) {
            (Some((gone, k)), Some((come, _))) if gone >= come => at(self.forward[slot(k)], k),
            (_, Some((_, k))) => at(self.backward[slot(k)], k),
            (Some((_, k)), None) => at(self.forward[slot(k)], k),
            (None, None) => (a.start, b.start),
        }
    }

    fn is_pair(&self, a: &Range<usize>, b: &Range<usize>, x: i64, y: i64) -> bool {
        self.a[a.start + x as usize] == self.b[b.start + y as usize]
    }
}

/// The diagonals that paths of one length can be on: every second one.
#[derive(Clone, Copy)]
struct Reach {
    low: i64,
    high: i64,
}

impl Reach {
    fn at(k: i64) -> Reach {
        Reach { low: k, high: k }
    }

    /// One step longer: a diagonal more on each side, or at the edge of the grid one less, which keeps every second one. `clear` is
    /// called with the diagonal beyond a new one.
    fn widen(&mut self, lowest: i64, highest: i64, mut clear: impl FnMut(i64)) {
        if self.low > lowest {
            self.low -= 1;
            clear(self.low - 1);
        } else {
            self.low += 1;
        }
        if self.high < highest {
            self.high += 1;
            clear(self.high + 1);
        } else {
            self.high -= 1;
        }
    }

    fn diagonals(self) -> impl Iterator<Item = i64> {
        (self.low..=self.high).step_by(2)
    }

    /// Whether the last step was on this diagonal. One of the other parity holds an older step, which is as good: paths only grow.
    fn holds(self, k: i64) -> bool {
        self.low <= k && k <= self.high
    }
}
