//! What a step back or forth would do, worked out and not done. In: the entry to take back and the files as they are. Out: a [`Plan`],
//! which is shown first and then made by `make.rs`, or not.
//!
//! ```text
//! undo turn 3 (make the test pass)
//!   src/a.rs    +1 -3                  holds what the turn left: it gets what it held before
//!   new.txt     +0 -12, deleted        the turn made it
//!   b.txt       conflict               somebody changed it since: only when told to, and a copy is kept
//!   c.txt       (not listed)           is already as it was before
//! ```
//!
//! Limits: [`MAX_PLAN_BYTES`] of files, old and new together, are held in memory.
//!
//! Invariant: nothing on the disk changes here.
//! Invariant: a file with a conflict is changed only by force, and only if what it held before is kept whole.

use super::Error;
use super::entry::{Entry, Kind};
use super::history::{History, files, title};
use super::place::{Content, Places, Trouble};
use super::restore::{self, Lost, Move};
use crate::diff::{Side, unified};
use crate::protocol::FileChange;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

/// Files of a turn, before and after, held in memory together.
pub const MAX_PLAN_BYTES: u64 = 1 << 30;

/// A step back or forth.
#[derive(Debug)]
pub struct Plan {
    /// `undo turn 3 (make the test pass)`
    pub what: String,
    /// What will happen, file by file. Without the conflicts.
    pub changes: Vec<FileChange>,
    /// What stands in the way.
    pub conflicts: Vec<Conflict>,
    /// What the step does not cover.
    pub notes: Vec<String>,
    pub(super) kind: Kind,
    /// The newest entry when this was worked out.
    pub(super) last: u64,
    pub(super) files: Vec<FilePlan>,
    /// Folders that go if they are empty then.
    pub(super) folders: Vec<PathBuf>,
}

/// A file that is not as the session left it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Conflict {
    /// Relative to the workspace.
    pub path: PathBuf,
    /// A sentence that begins with the path.
    pub text: String,
    /// Whether force can go over it.
    pub forcible: bool,
}

/// One file of a plan.
#[derive(Debug)]
pub(super) struct FilePlan {
    pub(super) path: PathBuf,
    pub(super) now: Option<Content>,
    pub(super) then: Option<Content>,
    /// It goes over somebody's change.
    pub(super) forced: bool,
}

impl FilePlan {
    /// What happens to it, in lines.
    fn change(&self) -> FileChange {
        change(&self.path, self.now.as_ref(), self.then.as_ref()).1
    }
}

/// How a file can get back.
enum Found {
    Same,
    Ready(FilePlan),
    Over(FilePlan, Conflict),
    Blocked(Conflict),
}

/// Works out how to take `entry` back: `kind` is what the step will be recorded as.
pub(super) fn plan(
    history: &History,
    entry: &Entry,
    kind: Kind,
    what: String,
    places: Places<'_>,
) -> Result<Plan, Error> {
    if let Some(offset) = entry.damaged {
        let what = title(entry);
        return Err(Error::Damaged { what, offset });
    }
    let mut plan = Plan::new(what, kind, history.last);
    for (path, moves) in files(std::iter::once(entry)) {
        match find(history, entry, path, &moves, places) {
            Found::Same => {}
            Found::Ready(file) => plan.add(file),
            Found::Over(file, conflict) => {
                plan.files.push(file);
                plan.conflicts.push(conflict);
            }
            Found::Blocked(conflict) => plan.conflicts.push(conflict),
        }
        plan.within_limit()?;
    }
    let folders = entry.edits().flat_map(|edit| edit.folders.iter().cloned());
    plan.folders = folders.collect();
    Ok(plan)
}

fn find(
    history: &History,
    entry: &Entry,
    path: &Path,
    moves: &[Move<'_>],
    places: Places<'_>,
) -> Found {
    let blocked = |why: &str| Found::Blocked(conflict(path, why, false));
    let now = match places.look(path) {
        Ok(now) => now,
        Err(trouble) => return blocked(&trouble.to_string()),
    };
    let former = match restore::former(moves, now.as_ref()) {
        Ok(former) => former,
        Err(Lost::NotKept) => {
            let why = changed(history, entry, path);
            let text = format!("{why}; only parts of what it held before are kept");
            return blocked(&text);
        }
        Err(Lost::Damaged) => {
            return blocked("is damaged in the journal");
        }
    };
    if former.content == now {
        return Found::Same;
    }
    if now
        .as_ref()
        .is_some_and(|content| content.mode & 0o222 == 0)
    {
        return blocked(&Trouble::ReadOnly.to_string());
    }
    let now_mode = now.as_ref().map(|content| content.mode);
    let file = FilePlan {
        path: path.to_path_buf(),
        forced: !former.is_known(),
        now,
        then: former.content,
    };
    if !file.forced {
        return Found::Ready(file);
    }
    let why = match (now_mode, history.blame(entry, path)) {
        (None, _) => "was removed since".to_string(),
        (Some(_), Some(who)) => blamed(&who),
        (Some(mode), None) if former.bytes_known => {
            format!("has the mode {mode:o} now, which this session did not give it")
        }
        (Some(_), None) => changed(history, entry, path),
    };
    Found::Over(file, conflict(path, &why, true))
}

fn changed(history: &History, entry: &Entry, path: &Path) -> String {
    match history.blame(entry, path) {
        Some(who) => blamed(&who),
        None => "was changed since, not by this session".to_string(),
    }
}

fn blamed(who: &str) -> String {
    format!("is not as it was left: {who}")
}

pub(super) fn conflict(path: &Path, why: &str, forcible: bool) -> Conflict {
    Conflict {
        path: path.to_path_buf(),
        text: format!("`{}` {why}", path.display()),
        forcible,
    }
}

impl Plan {
    pub(super) fn new(what: String, kind: Kind, last: u64) -> Plan {
        Plan {
            what,
            changes: Vec::new(),
            conflicts: Vec::new(),
            notes: Vec::new(),
            kind,
            last,
            files: Vec::new(),
            folders: Vec::new(),
        }
    }

    /// A file without a conflict.
    pub(super) fn add(&mut self, file: FilePlan) {
        self.changes.push(file.change());
        self.files.push(file);
    }

    /// What will be lost by force, file by file.
    pub fn lost(&self) -> Vec<FileChange> {
        let forced = self.files.iter().filter(|file| file.forced);
        forced.map(FilePlan::change).collect()
    }

    fn within_limit(&self) -> Result<(), Error> {
        let bytes =
            |content: &Option<Content>| content.as_ref().map_or(0, |c| c.bytes.len() as u64);
        let sum: u64 = self
            .files
            .iter()
            .map(|f| bytes(&f.now) + bytes(&f.then))
            .sum();
        match sum > MAX_PLAN_BYTES {
            true => Err(Error::TooMuch),
            false => Ok(()),
        }
    }
}

/// What lies between two states of a file: as a patch, and in lines.
pub(super) fn change(
    path: &Path,
    old: Option<&Content>,
    new: Option<&Content>,
) -> (Vec<u8>, FileChange) {
    let name = path.as_os_str().as_bytes();
    let (patch, counts) = unified(side(name, old), side(name, new));
    let executable = new.map(executes);
    let change = FileChange {
        path: path.to_string_lossy().into_owned(),
        added: counts.added,
        removed: counts.removed,
        created: old.is_none(),
        deleted: new.is_none(),
        // Said where the difference gives or takes it.
        executable: executable.filter(|new| *new != old.is_some_and(executes)),
    };
    (patch, change)
}

fn side<'a>(name: &'a [u8], content: Option<&'a Content>) -> Option<Side<'a>> {
    content.map(|content| Side {
        name,
        bytes: &content.bytes,
        executable: executes(content),
    })
}

fn executes(content: &Content) -> bool {
    content.mode & 0o100 != 0
}
