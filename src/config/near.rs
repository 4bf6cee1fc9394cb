//! The nearest of our names to what was typed, by `text::distance`. Called for unknown flags, commands and topics.
//!
//! ```text
//! --modle → --model (one swap)     demos → demo (one deletion)     frobnicate → nothing is near
//! secur → security (the only name that begins so)                   --max → nothing: several flags begin so
//! ```
//!
//! Limit: a name is near when at most a third of its characters, and at least one, had to change. The
//! empty name, that of the task itself, is near nothing.

use crate::text::distance;

/// Shorter beginnings name nothing (`--` and a letter begin many flags).
const MIN_BEGINNING: usize = 4;

/// The nearest candidate, if one is near enough; the first of equals. Where none is, the only one that begins so.
pub fn nearest<'n>(given: &str, candidates: impl Iterator<Item = &'n str>) -> Option<&'n str> {
    among(given, candidates.collect())
}

/// One copy for all kinds of candidates.
fn among<'n>(given: &str, mut names: Vec<&'n str>) -> Option<&'n str> {
    names.retain(|name| !name.is_empty());
    let near = names
        .iter()
        .map(|name| (distance(given, name), *name))
        .filter(|(changes, name)| *changes <= (name.chars().count() / 3).max(1))
        .min_by_key(|(changes, _)| *changes);
    match near {
        Some((_, name)) => Some(name),
        None => begun(given, &names),
    }
}

fn begun<'n>(given: &str, names: &[&'n str]) -> Option<&'n str> {
    let mut begun = names.iter().filter(|name| name.starts_with(given));
    match (begun.next(), begun.next()) {
        (Some(name), None) if given.len() >= MIN_BEGINNING => Some(name),
        (Some(_) | None, _) => None,
    }
}
