//! Stable sorting, one copy for all types: a slice and a comparison come in, the slice goes out sorted.
//!
//! std's sort is compiled anew for every type and comparison, 5 to 10 KB each time; with some thirty places that sort, that was a
//! twentieth of the program. Here only two small closures are: the sort itself works on the places of items and asks for their order.
//!
//! ```text
//!     [c, a, d, b]    places 0 1 2 3
//!     runs of one     1 0 | 3 2        merged by pairs: a c | b d
//!     runs of two     1 3 0 2          a b c d
//! ```
//!
//! Invariant: what compares equal keeps its order, so there is no "unstable" sister.
//! Invariant: a comparison that contradicts itself gives some order of the same items, never a panic.
//!
//! Read next: [`crate::ignore`], whose walk sorts every folder it enters.
use std::cmp::Ordering;
use std::mem;

/// Sorts by a comparison; `Ord::cmp` is one.
pub fn by<T>(items: &mut [T], mut compare: impl FnMut(&T, &T) -> Ordering) {
    let order = merged(items.len(), &mut |a, b| compare(&items[a], &items[b]));
    arrange(order, &mut |a, b| items.swap(a, b));
}

/// Sorts by what `key` makes of an item; it is asked for twice at each comparison.
pub fn by_key<T, K: Ord>(items: &mut [T], mut key: impl FnMut(&T) -> K) {
    by(items, |a, b| key(a).cmp(&key(b)));
}

/// The places `0..len` in the order of what stands there.
fn merged(len: usize, compare: &mut dyn FnMut(usize, usize) -> Ordering) -> Vec<usize> {
    let mut runs: Vec<usize> = (0..len).collect();
    let mut longer = Vec::with_capacity(len);
    let mut run = 1;
    while run < len {
        for pair in runs.chunks(run * 2) {
            let (mut left, mut right) = pair.split_at(run.min(pair.len()));
            while let ([a, later @ ..], [b, after @ ..]) = (left, right) {
                if compare(*b, *a) == Ordering::Less {
                    longer.push(*b);
                    right = after;
                } else {
                    longer.push(*a);
                    left = later;
                }
            }
            longer.extend_from_slice(left);
            longer.extend_from_slice(right);
        }
        mem::swap(&mut runs, &mut longer);
        longer.clear();
        run *= 2;
    }
    runs
}

/// Brings to each place the item whose place `order` names there, cycle by cycle.
fn arrange(mut order: Vec<usize>, swap: &mut dyn FnMut(usize, usize)) {
    for start in 0..order.len() {
        let mut at = start;
        while order[at] != start {
            let from = mem::replace(&mut order[at], at);
            swap(at, from);
            at = from;
        }
        order[at] = at;
    }
}
