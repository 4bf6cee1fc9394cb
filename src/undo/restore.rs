//! From the edits of a file back to what it held before the first of them. `plan.rs` asks for one entry, `review.rs` for a whole
//! session.
//!
//! ```text
//! edit 1: A → B (whole file A kept)   edit 2: B → C (spans)   cargo fmt: → D        the file holds D: known, A is kept: bring A back
//! edit 1: A → B (spans)   edit 2: B → C (spans)                                     holds C: C less edit 2 = B, B less edit 1 = A
//!                                                                                   holds B: the last edit was never made: B less edit 1
//!                                                                                   holds X: somebody changed it since
//! ```
//!
//! An edit is on record before it is made, so the last one may not have been: then the file still has the hash before it. An earlier one
//! that was not made shows in the next one, which begins with the same hash.
//!
//! The mode is its own matter: where edits set or cleared the right to execute it goes back, else it stays as it is now, whoever gave it.
//!
//! Invariant: what comes out has the hash that stands in the first edit.
//! Invariant: cost is the number of edits times the size of the file.

use super::entry::{Edit, Hash, Kept, Touched};
use crate::sha256::digest;

/// What happened to a file, in order.
#[derive(Clone, Copy, Debug)]
pub(super) enum Move<'a> {
    Edit(&'a Edit<'a>),
    /// A command changed it.
    Ran(Touched),
}

/// What the file held before.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Before {
    /// There was none.
    Absent,
    /// These bytes.
    Bytes(Vec<u8>),
    /// Only spans were kept, and they do not fit to what the file holds now.
    NotKept,
    /// What was kept does not have the hash it should have.
    Damaged,
}

/// Whether `now` is what these moves left behind, and nobody else had a hand in between.
pub(super) fn is_known(moves: &[Move<'_>], now: Option<&Hash>) -> bool {
    // The states that the file may be in after the moves so far.
    let mut states: [Option<Option<Hash>>; 2] = [None, None];
    for (index, step) in moves.iter().enumerate() {
        match step {
            Move::Edit(edit) => {
                if index > 0 && !states.contains(&Some(edit.before)) {
                    return false;
                }
                states = [Some(edit.after), Some(edit.before)];
            }
            Move::Ran(Touched::Known(hash)) => states = [Some(*hash), None],
            Move::Ran(Touched::Changed) => return false,
        }
    }
    states.contains(&Some(now.copied()))
}

/// The mode before these moves, and whether `now` is one that they may have left behind; `None`: they did not change it.
pub(super) fn mode(moves: &[Move<'_>], now: u32) -> Option<(u32, bool)> {
    let mut first = None;
    let mut states = [None; 2];
    // Removed and made once more: with whatever mode new files have.
    let mut anew = false;
    for step in moves {
        let Move::Edit(edit) = step else { continue };
        match edit.mode {
            Some(mode) => {
                first.get_or_insert(mode);
                if edit.mode_after.is_some() {
                    states = [edit.mode_after, Some(mode)];
                }
            }
            None => anew |= first.is_some(),
        }
    }
    let changed = anew || states != [None; 2];
    Some((
        first.filter(|_| changed)?,
        anew || states.contains(&Some(now)),
    ))
}

/// Whether the edits of `moves` left the bytes as they were.
pub(super) fn only_mode(moves: &[Move<'_>]) -> bool {
    moves.iter().all(|step| match step {
        Move::Edit(edit) => edit.before.is_some() && edit.before == edit.after,
        Move::Ran(_) => true,
    })
}

/// The file before the first edit of `moves`; `None`: there is none among them.
pub(super) fn before(moves: &[Move<'_>], now: Option<&[u8]>) -> Option<Before> {
    let edits: Vec<&Edit<'_>> = moves
        .iter()
        .filter_map(|step| match step {
            Move::Edit(edit) => Some(*edit),
            Move::Ran(_) => None,
        })
        .collect();
    let first = edits.first()?;
    let Some(target) = first.before else {
        return Some(Before::Absent);
    };
    if let Kept::Whole(bytes) = &first.kept {
        return Some(match digest(bytes) == target {
            true => Before::Bytes(bytes.to_vec()),
            false => Before::Damaged,
        });
    }
    Some(back(&edits, now, target))
}

/// Takes the edits back one by one.
fn back(edits: &[&Edit<'_>], now: Option<&[u8]>, target: Hash) -> Before {
    let mut state = now.map(digest);
    let mut bytes = now.map(<[u8]>::to_vec).unwrap_or_default();
    for edit in edits.iter().rev() {
        if state == edit.after {
            match less(edit, &bytes) {
                Some(before) => bytes = before,
                None => return Before::Damaged,
            }
            state = edit.before;
        } else if state != edit.before {
            return Before::NotKept;
        }
    }
    match digest(&bytes) == target {
        true => Before::Bytes(bytes),
        false => Before::Damaged,
    }
}

/// The file before this edit. `None`: the spans do not lie in it.
fn less(edit: &Edit<'_>, after: &[u8]) -> Option<Vec<u8>> {
    let mut old = match &edit.kept {
        Kept::Whole(bytes) => return Some(bytes.to_vec()),
        Kept::Spans(bytes) => &bytes[..],
    };
    let mut before = Vec::with_capacity(
        usize::try_from(edit.size)
            .ok()?
            .min(after.len() + old.len()),
    );
    let (mut rest, mut at) = (after, 0);
    for span in &edit.spans {
        let same = usize::try_from(span.offset.checked_sub(at)?).ok()?;
        let (kept, behind) = rest.split_at_checked(same)?;
        let (_, behind) = behind.split_at_checked(usize::try_from(span.new_len).ok()?)?;
        let (back, others) = old.split_at_checked(usize::try_from(span.old_len).ok()?)?;
        before.extend_from_slice(kept);
        before.extend_from_slice(back);
        (rest, old) = (behind, others);
        at = span.offset.checked_add(span.old_len)?;
    }
    before.extend_from_slice(rest);
    Some(before)
}
