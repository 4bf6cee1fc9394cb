//! The nearest name: what was probably meant by a name that does not exist. In: a name and those that do. Out: one of
//! them or nothing. `args` asks it about tools and arguments, `workspace` about files.
//!
//! ```text
//! read_fil  among list_files read_file …   → read_file   (one letter)
//! scr       among docs src tests           → src         (two neighbors swapped)
//! deploy    among list_files read_file …   → nothing     (too far from all)
//! ```
//!
//! Case makes no difference. Names are only proposed, nothing is ever run or opened by nearness.

use crate::text::distance;

/// The candidate with the fewest edits, if they are at most a third of the longer name's characters.
pub(super) fn nearest<'a>(
    name: &str,
    candidates: impl IntoIterator<Item = &'a str>,
) -> Option<&'a str> {
    let name = name.to_lowercase();
    let near = candidates.into_iter().filter_map(|candidate| {
        let edits = distance(&name, &candidate.to_lowercase());
        let longer = name.chars().count().max(candidate.chars().count());
        (edits * 3 <= longer).then_some((edits, candidate))
    });
    let nearest = near.min_by_key(|(edits, _)| *edits);
    nearest.map(|(_, candidate)| candidate)
}
