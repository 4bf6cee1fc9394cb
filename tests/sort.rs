//! Tests of `sort`: against std's stable sort, at every length around powers of two, with ties.
use std::cmp::{Ordering, Reverse};

use zcoder::sort;

/// Pairs of a key, of which there are few, and where they stood.
fn pairs(len: usize, keys: u32) -> Vec<(u32, usize)> {
    let mut state = 1_u32 + len as u32;
    let mut next = |index| {
        state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        ((state >> 16) % keys, index)
    };
    (0..len).map(&mut next).collect()
}

#[test]
fn the_order_is_that_of_a_stable_sort() {
    for len in (0..70).chain([127, 128, 129, 1_000]) {
        for keys in [1, 2, 7, 1_000] {
            let given = pairs(len, keys);
            let (mut ours, mut theirs) = (given.clone(), given.clone());
            sort::by_key(&mut ours, |pair| pair.0);
            theirs.sort_by_key(|pair| pair.0);
            assert_eq!(ours, theirs, "{len} items of {keys} keys");
            sort::by(&mut ours, |a, b| Reverse(a.0).cmp(&Reverse(b.0)));
            theirs.sort_by_key(|pair| Reverse(pair.0));
            assert_eq!(ours, theirs, "{len} items of {keys} keys, descending");
        }
    }
}

#[test]
fn names_sort_by_their_bytes() {
    let mut names = ["b", "", "B", "a10", "a9", "é", "a"].map(str::to_string);
    sort::by(&mut names, Ord::cmp);
    assert_eq!(names, ["", "B", "a", "a10", "a9", "b", "é"]);
}

#[test]
fn a_comparison_that_contradicts_itself_loses_nothing() {
    for answer in [Ordering::Less, Ordering::Greater] {
        let mut items: Vec<usize> = (0..100).collect();
        sort::by(&mut items, |_, _| answer);
        items.sort_unstable();
        assert_eq!(items, (0..100).collect::<Vec<_>>());
    }
}
