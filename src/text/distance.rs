//! How far two names are from each other, so that for a name that does not exist the nearest one can be proposed. In: two names. Out: the
//! least number of edits from one to the other: a character put in, left out or exchanged, or two neighbors swapped (optimal string
//! alignment). Settings, tools and models each have their own idea of what is near; it begins here.
//!
//! ```text
//! --modle → --model      1    two neighbors swapped
//! demos → demo           1    one left out
//! cat → act              1    and not 2
//! ```
//!
//! Invariant: cost is bounded: what comes behind the first [`LONGEST`] characters is the same, or counts as exchanged.

/// Characters of a name.
const LONGEST: usize = 64;

/// Edits from one to the other.
pub fn distance(one: &str, other: &str) -> usize {
    let (one, other): (Vec<char>, Vec<char>) = (one.chars().collect(), other.chars().collect());
    let (one, one_rest) = one.split_at(one.len().min(LONGEST));
    let (other, other_rest) = other.split_at(other.len().min(LONGEST));
    let rest = match one_rest == other_rest {
        true => 0,
        false => one_rest.len().max(other_rest.len()),
    };
    // Three rows of the table of distances between beginnings: a swap looks two rows back.
    let mut before = vec![0; other.len() + 1];
    let mut above: Vec<usize> = (0..=other.len()).collect();
    for i in 1..=one.len() {
        let mut row = vec![i; other.len() + 1];
        for j in 1..=other.len() {
            let exchanged = above[j - 1] + usize::from(one[i - 1] != other[j - 1]);
            row[j] = exchanged.min(above[j] + 1).min(row[j - 1] + 1);
            let swapped =
                i > 1 && j > 1 && one[i - 1] == other[j - 2] && one[i - 2] == other[j - 1];
            if swapped {
                row[j] = row[j].min(before[j - 2] + 1);
            }
        }
        before = above;
        above = row;
    }
    above[other.len()] + rest
}
