//! What a model is told of hunks that have no place. In: the file, the hunks, and why each does not fit. Out: one text a hunk, with the
//! real lines it came closest to. `patch` collects them.
//!
//! ```text
//! `src/a.rs`, hunk 2 (line 14 of the patch): its lines do not stand in the file. Nearest: lines 40-42:
//! fn total(items: &[Item]) -> u64 {
//!     let mut sum = 0;
//! }
//! Line 41 is `    let mut sum = 0;`, the hunk has `    let sum = 0;`.
//! ```
//!
//! Limits: `MAX_FAULTS` hunks, 12 lines each, 400 characters a line.
//!
//! Invariant: lines that are shown are lines of the file; nothing is written by nearness.

use crate::diff::{Hunk, Lines, Misfit, Unfit};
use crate::text;

use super::edit::clip;
use super::hint::{Near, nearest_lines, real_line};

/// Faults told in one refusal.
pub(super) const MAX_FAULTS: usize = 8;

/// One text for each misfit, the first ones with real lines.
pub(super) fn explain(
    name: &str,
    file: &[u8],
    hunks: &[Hunk<'_>],
    misfits: &[Misfit],
) -> Vec<String> {
    let lines = Lines::new(file);
    let mut texts: Vec<String> = Vec::new();
    for misfit in misfits {
        let hunk = &hunks[misfit.hunk];
        let which = format!(
            "`{name}`, hunk {} (line {} of the patch): ",
            misfit.hunk + 1,
            hunk.line
        );
        // Beyond these only the number counts.
        let why = match texts.len() < MAX_FAULTS {
            true => why(&lines, hunk, &misfit.why),
            false => String::new(),
        };
        texts.push(which + &why);
    }
    texts
}

fn why(lines: &Lines<'_>, hunk: &Hunk<'_>, why: &Unfit) -> String {
    match why {
        Unfit::NoPlace => no_place(lines, hunk),
        Unfit::Already(line) => format!(
            "what it would make stands already at line {line}. Leave this hunk out."
        ),
        Unfit::Several([a, b]) => format!(
            "its lines stand at line {a} and at line {b}, perhaps at more. Give it more lines before or after, until they name one place."
        ),
        Unfit::NoContext => {
            "it only adds lines and does not say where. Give it the lines before and after them, each with a blank before it.".to_string()
        }
        Unfit::Overlap(other) => format!(
            "it changes lines that hunk {} changes. Make one hunk of both.",
            other + 1
        ),
        Unfit::TooCostly => {
            "the file repeats these lines too often to find the place. Use replace_text for it.".to_string()
        }
    }
}

fn no_place(lines: &Lines<'_>, hunk: &Hunk<'_>) -> String {
    let mut text = String::from("its lines do not stand in the file.");
    let wanted: Vec<String> = hunk
        .stands()
        .map(|line| text::repair(line.text).into_owned())
        .collect();
    if wanted.iter().any(|line| line.contains('\u{fffd}')) {
        text.push_str(" They hold U+FFFD, which stands for bytes that are not UTF-8; choose lines without it.");
        return text;
    }
    let Some(near) = nearest_lines(lines, &wanted.join("\n")) else {
        text.push_str(" Nothing in it is near. Read it with read_file.");
        return text;
    };
    text.push_str(&near.shown(lines));
    if let Some((number, wanted)) = first_difference(lines, &near, &wanted) {
        text.push_str(&format!(
            "Line {} is `{}`, the hunk has `{}`.",
            number + 1,
            clip(&real_line(lines, number), 100),
            clip(wanted, 100)
        ));
    }
    text
}

/// The first line that is not as the hunk has it.
fn first_difference<'w>(
    lines: &Lines<'_>,
    near: &Near,
    wanted: &'w [String],
) -> Option<(usize, &'w str)> {
    // What was compared begins with the first line that is not empty.
    let wanted = wanted
        .iter()
        .map(|line| line.trim_end())
        .skip_while(|line| line.is_empty());
    let pairs = near.lines.clone().zip(wanted);
    let mut differing =
        pairs.filter(|(number, wanted)| real_line(lines, *number).trim_end() != *wanted);
    differing.next()
}
