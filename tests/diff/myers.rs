//! The difference itself: exact results, shortest results, and texts with nothing in common.

use super::kit::{changed, later, text};
use crate::support::cuts::Rng;
use zcoder::diff::changes;

/// `expected`: removed and added text of each change.
#[track_caller]
fn check(old: &str, new: &str, expected: &[(&str, &str)]) {
    let changes = changes(old.as_bytes(), new.as_bytes());
    let found: Vec<(&str, &str)> = changes
        .iter()
        .map(|change| (&old[change.old.clone()], &new[change.new.clone()]))
        .collect();
    assert_eq!(found, expected, "{old:?} → {new:?}");
    assert_eq!(changed(old.as_bytes(), new.as_bytes()), new.as_bytes());
}

#[test]
fn runs_of_whole_lines_that_differ() {
    check("", "", &[]);
    check("a\n", "a\n", &[]);
    check("", "a\n", &[("", "a\n")]);
    check("a\n", "", &[("a\n", "")]);
    check("a\nb\nc\n", "a\nx\nc\n", &[("b\n", "x\n")]);
    check("a\nb\n", "x\na\nb\n", &[("", "x\n")]);
    check("a\nb\n", "a\nb\nx\n", &[("", "x\n")]);
    check("a\nb\nc\nd\n", "b\nc\nd\nx\n", &[("a\n", ""), ("", "x\n")]);
    check(
        "1\n2\n3\n4\n5\n",
        "1\nx\n3\ny\n5\n",
        &[("2\n", "x\n"), ("4\n", "y\n")],
    );
}

#[test]
fn the_last_line_and_its_end() {
    check("a", "a\n", &[("a", "a\n")]);
    check("a\n", "a", &[("a\n", "a")]);
    check("a\nb", "a\nb\nc", &[("b", "b\nc")]);
    check("x\nb", "y\nb", &[("x\n", "y\n")]);
    check("ab\n", "xb\n", &[("ab\n", "xb\n")]);
    check("a\r\nb\r\n", "a\nb\r\n", &[("a\r\n", "a\n")]);
}

/// Lines that a shortest difference changes: both texts less twice their longest common subsequence.
fn shortest(old: &[&[u8]], new: &[&[u8]]) -> usize {
    let mut above = vec![0; new.len() + 1];
    for a in old {
        let mut row = vec![0; new.len() + 1];
        for (j, b) in new.iter().enumerate() {
            row[j + 1] = if a == b {
                above[j] + 1
            } else {
                row[j].max(above[j + 1])
            };
        }
        above = row;
    }
    old.len() + new.len() - 2 * above[new.len()]
}

#[test]
fn differences_are_right_and_shortest_on_thousands_of_texts() {
    let mut rng = Rng::new(1);
    for round in 0..2_000 {
        let letters = 1 + rng.below(4);
        let count = rng.below(20);
        let few = |rng: &mut Rng, count: usize| -> Vec<u8> {
            (0..count)
                .flat_map(|_| [b'a' + u8::try_from(rng.below(letters)).expect("few"), b'\n'])
                .collect()
        };
        let old = few(&mut rng, count);
        let new = match round % 2 {
            0 => few(&mut rng, count),
            _ => later(&mut rng, &old),
        };
        assert_eq!(changed(&old, &new), new);
        let lines = |text: &[u8]| text.split_inclusive(|b| *b == b'\n').count();
        let changes = changes(&old, &new);
        let cost: usize = changes
            .iter()
            .map(|c| lines(&old[c.old.clone()]) + lines(&new[c.new.clone()]))
            .sum();
        fn split(text: &[u8]) -> Vec<&[u8]> {
            text.split_inclusive(|b| *b == b'\n').collect()
        }
        let least = shortest(&split(&old), &split(&new));
        assert_eq!(
            cost,
            least,
            "{:?} → {:?}",
            String::from_utf8_lossy(&old),
            String::from_utf8_lossy(&new)
        );
    }
}

#[test]
fn texts_that_have_little_in_common_are_still_told_apart_rightly() {
    let mut rng = Rng::new(2);
    for lines in [300, 3_000] {
        let letters = |rng: &mut Rng| -> Vec<u8> {
            (0..lines)
                .flat_map(|_| [b'a' + u8::try_from(rng.below(26)).expect("few"), b'\n'])
                .collect()
        };
        let (old, new) = (letters(&mut rng), letters(&mut rng));
        assert_eq!(changed(&old, &new), new);
        let (old, new) = (text(&mut rng, lines), text(&mut rng, lines / 2));
        assert_eq!(changed(&old, &new), new);
    }
    // Nothing in common, and one side repeated over and over.
    let old: Vec<u8> = (0..20_000)
        .flat_map(|i| format!("{i}\n").into_bytes())
        .collect();
    let new = b"x\n".repeat(20_000);
    assert_eq!(changes(&old, &new).len(), 1);
    let (old, new) = (b"x\ny\n".repeat(4_000), b"y\ny\nx\n".repeat(3_000));
    assert_eq!(changed(&old, &new), new);
}
