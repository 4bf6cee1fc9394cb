//! `replace_text`: one passage of a file. In: a path, the passage as it stands, and what shall stand there. Out: an [`Edit`], or a
//! refusal written for the model.
//!
//! ```text
//! file  fn a() {\r\n    1\r\n}\r\n
//! old   fn a() {\n    1\n}          found once (CR ignored)
//! new   fn a() {\n    2\n    3\n}
//! splice: 1 → 2\r\n    3            the rest of the passage is the same and stays; inserted lines end as their neighbors
//! ```
//!
//! The passage must stand in the file exactly once. CRs before LF and lookalike blanks are ignored while searching, and what they
//! were stays wherever old and new text agree. Line ends of inserted text: those of the lines they replace, in order, then of
//! the nearest line before, then after.
//!
//! Refused: no place (with the nearest real lines), several places (with their lines), an empty passage, a change that changes nothing,
//! text that stands for text left out (`stub.rs`).
//!
//! Invariant: bytes outside the passage are the same before and after; inside it, those that old and new text share.
//!
//! Read next: `matching.rs` (the search), `hint.rs` (the nearest lines).

use std::ops::Range;

use crate::diff::{Lines, Splice, line_end, line_start};
use crate::protocol::ToolOutcome;
use crate::text;

use super::edit::{Before, Edit, clip, count_lines, line_numbers};
use super::hint::nearest_lines;
use super::matching::{Places, differing, find};
use super::stub::first_stub;
use super::unified::line_ends;
use super::workspace::{Purpose, Workspace};
use super::{failed, shown};

/// Works out a replacement.
pub(super) fn replace(
    workspace: &Workspace,
    path: &str,
    old_text: &str,
    new_text: &str,
) -> Result<Edit, ToolOutcome> {
    let path = workspace.resolve(path, Purpose::Write)?;
    let name = shown(path.shown());
    if old_text.is_empty() {
        return Err(failed(
            "old_text is empty, so there is no place to change. To insert, give a line that is there as old_text and the same \
             line with the new ones as new_text; to make a file, use write_file."
                .to_string(),
        ));
    }
    if old_text == new_text {
        return Err(failed(
            "old_text and new_text are the same, so there is nothing to change. Give the new text as new_text.".to_string(),
        ));
    }
    let Some(before) = Before::load(&path)? else {
        return Err(failed(format!(
            "there is no `{name}` in the workspace. list_files shows what is there; write_file makes a new file."
        )));
    };
    let places = find(&before.bytes, old_text.as_bytes());
    let place = match &places.first[..] {
        [place] => place.clone(),
        [] => return Err(failed(not_found(&name, &before.bytes, old_text, new_text))),
        _ => return Err(failed(several(&name, &before.bytes, &places))),
    };
    if let Some((number, line)) = first_stub(new_text, &before.bytes) {
        return Err(failed(format!(
            "`{name}` was not changed: line {number} of new_text stands for text that was left out (`{}`). Give every line of the \
             passage in new_text, or choose a smaller passage.",
            clip(line.trim(), 100)
        )));
    }
    // Both searches match whole characters only.
    let passage = std::str::from_utf8(&before.bytes[place.clone()]).unwrap_or(old_text);
    let (old, new) = differing(passage, new_text, places.folded);
    let range = place.start + old.start..place.start + old.end;
    let new = with_line_ends(&new_text[new], &before.bytes, range.clone());
    if before.bytes[range.clone()] == new {
        return Err(failed(format!(
            "old_text and new_text differ only in line ends or blanks, which replace_text keeps as they are in `{name}`. \
             If these shall change, use run_command."
        )));
    }
    let report = report(&name, &before.bytes, &range, &new);
    let splice = Splice { range, new };
    Ok(Edit::new(path, Some(before), vec![splice], |_| report))
}

/// LF (and CR LF) of inserted text as the line ends of what it replaces, one by one, then of the neighbors.
fn with_line_ends(new: &str, file: &[u8], range: Range<usize>) -> Vec<u8> {
    let replaced = &file[range.clone()];
    let mut ends = replaced
        .iter()
        .enumerate()
        .filter(|(_, b)| **b == b'\n')
        .map(|(i, _)| is_crlf(file, range.start + i));
    let mut last = neighbor(file, range.start, range.end);
    let mut out = Vec::with_capacity(new.len());
    for (i, line) in new.split('\n').enumerate() {
        if i > 0 {
            // No line end in the whole file to follow: as given.
            let given = out.last() == Some(&b'\r');
            last = ends.next().or(last);
            let crlf = last.unwrap_or(given);
            if given {
                out.pop();
            }
            out.extend_from_slice(if crlf { b"\r\n" } else { b"\n" });
        }
        out.extend_from_slice(line.as_bytes());
    }
    out
}

/// Whether the nearest line end before the place, or else after it, is CR LF.
fn neighbor(file: &[u8], start: usize, end: usize) -> Option<bool> {
    let before = line_start(file, start).checked_sub(1);
    let after = line_end(file, end).checked_sub(1).filter(|at| *at >= end);
    before
        .or(after.filter(|at| file[*at] == b'\n'))
        .map(|at| is_crlf(file, at))
}

fn is_crlf(file: &[u8], line_feed: usize) -> bool {
    line_feed
        .checked_sub(1)
        .is_some_and(|before| file[before] == b'\r')
}

/// `replaced lines 12-14 of `a.rs` by 5 lines`.
fn report(name: &str, file: &[u8], range: &Range<usize>, new: &[u8]) -> String {
    let first = line_ends(&file[..range.start]) + 1;
    // The last line of the passage is the one that holds its last byte.
    let last = first + line_ends(&file[range.start..range.end.max(range.start + 1) - 1]);
    let now = line_ends(new) + 1;
    let old = last - first + 1;
    let lines = line_numbers(first, last);
    match now == old {
        true => format!("changed {lines} of `{name}`"),
        false => format!("changed {lines} of `{name}`: now {}", count_lines(now)),
    }
}

fn several(name: &str, file: &[u8], places: &Places) -> String {
    let mut lines: Vec<String> = Vec::new();
    let (mut counted, mut number) = (0, 1);
    for place in &places.first {
        number += line_ends(&file[counted..place.start]);
        counted = place.start;
        lines.push(number.to_string());
    }
    let more = if places.total > lines.len() as u64 {
        ", …"
    } else {
        ""
    };
    format!(
        "old_text stands in `{name}` {} times (lines {}{more}), so nothing was changed. Add lines before or after it to \
         old_text and new_text until it names one place.",
        text::grouped(places.total),
        lines.join(", ")
    )
}

fn not_found(name: &str, file: &[u8], old_text: &str, new_text: &str) -> String {
    let mut text = format!("old_text was not found in `{name}`, so nothing was changed.");
    let bare = without_numbers(old_text);
    if old_text.contains('\u{fffd}') {
        text.push_str(" It holds U+FFFD, which stands for bytes that are not UTF-8; choose a passage without it.");
        return text;
    }
    if bare
        .as_ref()
        .is_some_and(|bare| find(file, bare.as_bytes()).total > 0)
    {
        text.push_str(
            " It is there without the line numbers: leave them out of old_text and new_text.",
        );
        return text;
    }
    // Short texts stand anywhere by chance.
    if new_text.trim().len() >= 8 {
        if let Some(place) = find(file, new_text.as_bytes()).first.first() {
            text.push_str(&format!(
                " But new_text already stands at line {}: the change may have been made before. Read the file with read_file \
                 to see.",
                line_ends(&file[..place.start]) + 1
            ));
            return text;
        }
    }
    let lines = Lines::new(file);
    match nearest_lines(&lines, bare.as_deref().unwrap_or(old_text)) {
        Some(near) => {
            text.push_str(&near.shown(&lines));
            text.push_str("Copy old_text exactly from the file and try again.");
        }
        None => text.push_str(
            " Nothing in it is near. Read the file with read_file and copy the passage exactly.",
        ),
    }
    text
}

/// The passage without `12⇥` or `12|` before each line, if every line has one.
fn without_numbers(passage: &str) -> Option<String> {
    let mut out = String::with_capacity(passage.len());
    for line in passage.split_inclusive('\n') {
        let rest = line
            .trim_start()
            .trim_start_matches(|c: char| c.is_ascii_digit());
        let numbered = rest.len() < line.trim_start().len();
        let rest = rest
            .strip_prefix('\t')
            .or_else(|| rest.strip_prefix('|'))
            .filter(|_| numbered)?;
        out.push_str(rest);
    }
    Some(out)
}
