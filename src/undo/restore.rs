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
use super::place::Content;
use crate::sha256::digest;

/// Of files that came back without their mode.
pub(super) const MODE: u32 = 0o644;

/// What happened to a file, in order.
#[derive(Clone, Copy, Debug)]
pub(super) enum Move<'a> {
    Edit(&'a Edit<'a>),
    /// A command changed it.
    Ran(Touched),
}

impl<'a> Move<'a> {
    pub(super) fn edit(&self) -> Option<&'a Edit<'a>> {
        match self {
            Move::Edit(edit) => Some(edit),
            Move::Ran(_) => None,
        }
    }
}

/// What a file held before the first of its edits.
#[derive(Debug)]
pub(super) struct Former {
    /// `None`: there was no file.
    pub(super) content: Option<Content>,
    /// Whether the bytes that it has now are what the edits left behind.
    pub(super) bytes_known: bool,
    /// The same of its mode.
    pub(super) mode_known: bool,
}

/// Why that cannot be told.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Lost {
    /// Only spans were kept, and they do not fit to what the file holds now.
    NotKept,
    /// What was kept does not have the hash it should have.
    Damaged,
}

impl Former {
    /// Whether nobody else had a hand in between.
    pub(super) fn is_known(&self) -> bool {
        self.bytes_known && (self.mode_known || self.content.is_none())
    }
}

/// From what the file holds now back to before these moves.
pub(super) fn former(moves: &[Move<'_>], now: Option<&Content>) -> Result<Former, Lost> {
    let edits: Vec<&Edit<'_>> = moves.iter().filter_map(Move::edit).collect();
    let Some(first) = edits.first() else {
        return Ok(Former {
            content: now.cloned(),
            bytes_known: true,
            mode_known: true,
        });
    };
    let (mode, mode_known) = match now {
        // What its mode became by others is not the session's doing.
        Some(now) => mode(&edits, now.mode).unwrap_or((now.mode, true)),
        None => (first.mode.unwrap_or(MODE), true),
    };
    let hash = now.map(|now| digest(&now.bytes));
    let stay = hash == first.before || only_mode(&edits);
    let (bytes, bytes_known) = match now.filter(|_| stay) {
        Some(now) => (Some(now.bytes.clone()), true),
        None => (
            before(&edits, now.map(|now| &now.bytes[..]))?,
            is_known(moves, hash.as_ref()),
        ),
    };
    Ok(Former {
        content: bytes.map(|bytes| Content { bytes, mode }),
        bytes_known,
        mode_known,
    })
}

/// Whether `now` is what these moves left behind, and nobody else had a hand in between.
fn is_known(moves: &[Move<'_>], now: Option<&Hash>) -> bool {
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

/// The mode before these edits, and whether `now` is one that they may have left behind; `None`: they did not change it.
fn mode(edits: &[&Edit<'_>], now: u32) -> Option<(u32, bool)> {
    let mut first = None;
    let mut states = [None; 2];
    // Removed and made once more: with whatever mode new files have.
    let mut anew = false;
    for edit in edits {
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

/// Whether these edits left the bytes as they were.
fn only_mode(edits: &[&Edit<'_>]) -> bool {
    let same = |edit: &&Edit<'_>| edit.before.is_some() && edit.before == edit.after;
    edits.iter().all(same)
}

/// The bytes before the first of these edits; `None`: there was no file.
fn before(edits: &[&Edit<'_>], now: Option<&[u8]>) -> Result<Option<Vec<u8>>, Lost> {
    let Some((first, target)) = edits.first().and_then(|e| Some((e, e.before?))) else {
        return Ok(None);
    };
    let bytes = match &first.kept {
        Kept::Whole(bytes) => bytes.to_vec(),
        Kept::Spans(_) => back(edits, now)?,
    };
    match digest(&bytes) == target {
        true => Ok(Some(bytes)),
        false => Err(Lost::Damaged),
    }
}

/// Takes the edits back one by one.
fn back(edits: &[&Edit<'_>], now: Option<&[u8]>) -> Result<Vec<u8>, Lost> {
    let mut state = now.map(digest);
    let mut bytes = now.map(<[u8]>::to_vec).unwrap_or_default();
    for edit in edits.iter().rev() {
        if state == edit.after {
            bytes = less(edit, &bytes).ok_or(Lost::Damaged)?;
            state = edit.before;
        } else if state != edit.before {
            return Err(Lost::NotKept);
        }
    }
    Ok(bytes)
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
