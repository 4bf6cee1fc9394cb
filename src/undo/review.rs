//! What a session changed in all: each file as it was when the session first edited it against what it holds now, as a patch that
//! `git apply` accepts, and each file or hunk of it taken back.
//!
//! ```text
//! turn 1 edits src/a.rs, turn 2 makes new.txt, an undo, an editor saves src/a.rs      →  diff --git a/src/a.rs b/src/a.rs …
//! revert src/a.rs      the whole file, unless somebody else changed it too
//! revert src/a.rs:2    the lines of its second hunk, whoever wrote them: they are shown
//! ```
//!
//! Files that only commands changed are not in it: there is no before-image of them.
//!
//! Invariant: a hunk is taken back by its place in the very bytes it was shown of; outside it nothing changes.

use super::Error;
use super::entry::Kind;
use super::history::History;
use super::place::{Content, Places};
use super::plan::{FilePlan, Plan, change, conflict};
use super::restore::{self, Lost, MODE, Move};
use crate::diff::{Change, changes};
use crate::protocol::FileChange;
use crate::sort;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;

/// Lines of context around a hunk, as `diff::unified` has them: changes closer than twice that share one.
const CONTEXT: usize = 3;

/// The net change of a session.
#[derive(Debug)]
pub struct Review {
    /// For `git apply`, in the folder of the workspace. Bytes of the files as they are.
    pub patch: Vec<u8>,
    /// The files in it, in its order.
    pub files: Vec<ReviewedFile>,
    /// What is not in it, or not by the session.
    pub notes: Vec<String>,
}

/// A file of a review.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ReviewedFile {
    /// Its change since the session began.
    pub change: FileChange,
    /// How many hunks the difference has.
    pub hunks: usize,
}

/// A file at both ends of the session.
struct Ends {
    then: Option<Content>,
    now: Option<Content>,
    /// Somebody else changed it too.
    mixed: bool,
}

pub(super) fn review(history: &History, places: Places<'_>) -> Review {
    let mut review = Review {
        patch: Vec::new(),
        files: Vec::new(),
        notes: Vec::new(),
    };
    if history.shortened {
        review.notes.push(
            "the oldest turns are no longer kept; the difference is to what followed them"
                .to_string(),
        );
    }
    for number in &history.unreadable {
        let text =
            format!("entry {number} of the journal cannot be read; its edits are missing here");
        review.notes.push(text);
    }
    let mut files = history.files();
    sort::by(&mut files, |(a, _), (b, _)| {
        a.as_os_str().as_bytes().cmp(b.as_os_str().as_bytes())
    });
    for (path, moves) in files {
        let ends = match ends(path, &moves, places) {
            Ok(ends) => ends,
            Err(why) => {
                review
                    .notes
                    .push(format!("not shown: `{}` {why}", path.display()));
                continue;
            }
        };
        let (patch, change) = change(path, ends.then.as_ref(), ends.now.as_ref());
        if patch.is_empty() {
            continue;
        }
        review.patch.extend_from_slice(&patch);
        review.files.push(ReviewedFile {
            change,
            hunks: hunks(bytes(&ends.then), bytes(&ends.now)).len(),
        });
        if ends.mixed {
            let text = format!(
                "`{}` was changed by others too; that is shown with it",
                path.display()
            );
            review.notes.push(text);
        }
    }
    review
}

pub(super) fn revert(
    history: &History,
    places: Places<'_>,
    path: &str,
    hunk: Option<usize>,
) -> Result<Plan, Error> {
    let wanted = Path::new(path.strip_prefix("./").unwrap_or(path));
    let mut files = history.files();
    let found = files.iter().position(|(known, _)| *known == wanted);
    let Some(found) = found else {
        return Err(no_file(history, places, path));
    };
    let (known, moves) = files.swap_remove(found);
    let Ends { then, now, mixed } = ends(known, &moves, places).map_err(|_| Error::NotKept {
        path: path.to_string(),
    })?;
    if then == now {
        return Err(no_file(history, places, path));
    }
    let what = match hunk {
        Some(hunk) => format!("{path}:{hunk}"),
        None => path.to_string(),
    };
    let kind = Kind::Revert { what: what.clone() };
    let mut plan = Plan::new(format!("revert {what}"), kind, history.last);
    let Some(hunk) = hunk else {
        if let (None, Some(first)) = (&then, moves.iter().find_map(Move::edit)) {
            plan.folders = first.folders.clone();
        }
        let file = FilePlan {
            path: known.to_path_buf(),
            now,
            then,
            forced: mixed,
        };
        if mixed {
            let why = "was changed by others too";
            plan.conflicts.push(conflict(known, why, true));
            plan.files.push(file);
        } else {
            plan.add(file);
        }
        return Ok(plan);
    };
    let hunks = hunks(bytes(&then), bytes(&now));
    let place = hunk.checked_sub(1).and_then(|index| hunks.get(index));
    let Some(place) = place else {
        return Err(Error::NoHunk {
            path: path.to_string(),
            hunk,
            hunks: hunks.len(),
        });
    };
    let (old, new) = (bytes(&then), bytes(&now));
    let mut out = new[..place.new.start].to_vec();
    out.extend_from_slice(&old[place.old.clone()]);
    out.extend_from_slice(&new[place.new.end..]);
    // The only hunk of a file that was made: it goes, and one that was removed comes back with its mode.
    let goes = then.is_none() && hunks.len() == 1;
    let mode = now.as_ref().or(then.as_ref()).map_or(MODE, |c| c.mode);
    let then = (!goes).then_some(Content { bytes: out, mode });
    plan.add(FilePlan {
        path: known.to_path_buf(),
        now,
        then,
        forced: false,
    });
    Ok(plan)
}

fn no_file(history: &History, places: Places<'_>, path: &str) -> Error {
    let files = review(history, places).files;
    Error::NoFile {
        path: path.to_string(),
        known: files.into_iter().map(|file| file.change.path).collect(),
    }
}

/// Both ends; the error completes "`src/a.rs` ".
fn ends(path: &Path, moves: &[Move<'_>], places: Places<'_>) -> Result<Ends, String> {
    let now = places.look(path).map_err(|trouble| trouble.to_string())?;
    let former = restore::former(moves, now.as_ref()).map_err(|lost| match lost {
        Lost::NotKept => {
            "was changed by others, and only parts of what it held before are kept".to_string()
        }
        Lost::Damaged => "is damaged in the journal".to_string(),
    })?;
    Ok(Ends {
        mixed: !former.is_known(),
        then: former.content,
        now,
    })
}

fn bytes(content: &Option<Content>) -> &[u8] {
    content.as_ref().map_or(b"", |content| &content.bytes)
}

/// The changes as they stand in the hunks of the patch, one range of bytes on each side.
fn hunks(old: &[u8], new: &[u8]) -> Vec<Change> {
    let mut hunks: Vec<Change> = Vec::new();
    for change in changes(old, new) {
        match hunks.last_mut() {
            // Their contexts touch: at most six lines lie between.
            Some(last) if lines(&old[last.old.end..change.old.start]) <= 2 * CONTEXT => {
                last.old.end = change.old.end;
                last.new.end = change.new.end;
            }
            Some(_) | None => hunks.push(change),
        }
    }
    hunks
}

fn lines(bytes: &[u8]) -> usize {
    bytes.iter().filter(|byte| **byte == b'\n').count()
}

/// A file's line for a list: `src/a.rs +3 -1`, with its hunks.
impl std::fmt::Display for ReviewedFile {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let FileChange {
            path,
            added,
            removed,
            created,
            deleted,
            executable,
        } = &self.change;
        write!(f, "{path} +{added} -{removed}")?;
        match (created, deleted) {
            (true, _) => f.write_str(", new")?,
            (_, true) => f.write_str(", deleted")?,
            (false, false) if self.hunks == 0 => {}
            (false, false) if self.hunks == 1 => f.write_str(", 1 hunk")?,
            (false, false) => write!(f, ", {} hunks", self.hunks)?,
        }
        match executable {
            Some(true) => f.write_str(", executable"),
            Some(false) => f.write_str(", no longer executable"),
            None => Ok(()),
        }
    }
}
