//! The nearest name: what was probably meant by a name that does not exist. In: a name and those that do. Out: one of
//! them or nothing. `args` asks it about tools and arguments, `workspace` about files.
//!
//! ```text
//! read_fil  among list_files read_file …   → read_file   (one letter)
//! scr       among docs src tests           → src         (two neighbors swapped)
//! deploy    among list_files read_file …   → nothing     (too far from all)
//! ```
//!
//! Names are only proposed, nothing is ever run or opened by nearness.
//!
//! Invariant: cost is bounded: names beyond 64 characters are compared by their first 64.

const LONGEST: usize = 64;

/// The candidate with the fewest edits, if they are at most a third of the longer name's characters.
pub(super) fn nearest<'a>(
    name: &str,
    candidates: impl IntoIterator<Item = &'a str>,
) -> Option<&'a str> {
    let name = folded(name);
    candidates
        .into_iter()
        .filter_map(|candidate| {
            let other = folded(candidate);
            let edits = distance(&name, &other);
            (edits * 3 <= name.len().max(other.len())).then_some((edits, candidate))
        })
        .min_by_key(|(edits, _)| *edits)
        .map(|(_, candidate)| candidate)
}

fn folded(name: &str) -> Vec<char> {
    name.chars()
        .take(LONGEST)
        .flat_map(char::to_lowercase)
        .collect()
}

/// Edits from one to the other: characters put in, left out, exchanged, or two neighbors swapped (optimal string alignment). Three
/// rows of the table are kept.
fn distance(a: &[char], b: &[char]) -> usize {
    let mut before = vec![0; b.len() + 1];
    let mut above: Vec<usize> = (0..=b.len()).collect();
    for i in 1..=a.len() {
        let mut row = vec![i; b.len() + 1];
        for j in 1..=b.len() {
            let replaced = above[j - 1] + usize::from(a[i - 1] != b[j - 1]);
            row[j] = replaced.min(above[j] + 1).min(row[j - 1] + 1);
            let swapped = i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1];
            if swapped {
                row[j] = row[j].min(before[j - 2] + 1);
            }
        }
        before = above;
        above = row;
    }
    above[b.len()]
}
