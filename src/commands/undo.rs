//! `zcoder undo [SESSION]`, `zcoder redo [SESSION]`: what will change is listed, a person says yes, then all of it is changed or nothing.
//! `diff.rs` uses the same way for its reverts.
//!
//! ```text
//! $ zcoder undo
//! session 20260821-090000123-x1y2z3a4
//! undo turn 3 (make the test pass)
//!   src/a.rs +1 -3
//!   new.txt +0 -12, deleted
//! make this step? y or n: y
//! done; `zcoder redo` takes this step back
//! ```
//!
//! Without SESSION the newest session of the workspace is meant; the beginning of an id is enough. Without a terminal nothing is
//! changed unless `--yes` says so.
//!
//! Invariant: exit code 0 it was made, 1 it cannot be or was refused, 4 nobody could be asked. Other than 0 means that nothing was changed,
//! or that a message names the files.
//!
//! Read next: `undo/past.rs`.

use super::scope::workspace;
use super::{at_most_one, print, session};
use crate::config::{self, Id, Paths, Typed, UsageError, settings, utf8};
use crate::headless::out::{complain, exit, note};
use crate::headless::show;
use crate::protocol::FileChange;
use crate::session as sessions;
use crate::sys::Cancel;
use crate::sys::tty::Tty;
use crate::text::one_line;
use crate::tools::Workspace;
use crate::undo::{Conflict, Error, Force, Journal, Past, Plan, Store};
use std::path::Path;

/// What is asked, behind which the answer is typed.
const QUESTION: &str = "make this step? y or n: ";

/// The journal of a session in this workspace.
pub(super) fn journal(paths: &Paths, root: &Path, id: &str) -> Journal {
    match &paths.state {
        Some(state) => Journal::new(Store::new(state, root), id),
        None => Journal::unusable(NO_PLACE),
    }
}

const NO_PLACE: &str = "none of HOME, XDG_STATE_HOME and ZCODER_HOME names a folder for it";

/// `zcoder undo`
pub(super) fn undo(typed: &Typed) -> Result<u8, UsageError> {
    let turn = settings::number(typed, Id::Turn, 1, u64::MAX)?;
    Session::open(typed)?.step(typed, "redo", |past| past.undo(turn))
}

/// `zcoder redo`
pub(super) fn redo(typed: &Typed) -> Result<u8, UsageError> {
    Session::open(typed)?.step(typed, "undo", |past| past.redo())
}

/// The session that a command line names.
pub(super) struct Session {
    workspace: Workspace,
    store: Option<Store>,
    id: Option<String>,
}

impl Session {
    /// Looks at the words and the workspace, not yet at the journal.
    pub(super) fn open(typed: &Typed) -> Result<Session, UsageError> {
        let id = at_most_one(typed)?.map(|id| utf8(id, "the session's id"));
        Session::find(typed, id.transpose()?)
    }

    /// The session with this id.
    pub(super) fn of(typed: &Typed, id: &str) -> Result<Session, UsageError> {
        Session::find(typed, Some(id))
    }

    fn find(typed: &Typed, id: Option<&str>) -> Result<Session, UsageError> {
        let folders = Paths::find(&config::variable);
        let (workspace, _) = workspace(typed, &folders)?;
        let root = workspace.root();
        let state = folders.state.as_deref();
        let store = state.map(|state| Store::new(state, root));
        let id = match (&store, state, id) {
            (Some(store), Some(state), Some(given)) => {
                Some(full(store, &sessions::Store::new(state, root), given)?)
            }
            (_, _, id) => id.map(str::to_string),
        };
        Ok(Session {
            workspace,
            store,
            id,
        })
    }

    /// Whether there is anything of it that can be taken back.
    fn is_known(&self) -> bool {
        let known = |store: &Store| store.sessions().unwrap_or_default();
        let edited = self.store.as_ref().map(known).unwrap_or_default();
        self.id.as_ref().is_some_and(|id| edited.contains(id))
    }

    /// Of this turn and later ones those whose changes can be taken back, the last one first.
    pub(super) fn edited(&self, from: u64) -> Vec<u64> {
        let Some(store) = self.store.as_ref().filter(|_| self.is_known()) else {
            return Vec::new();
        };
        let resolve = |path: &Path| self.workspace.writable(path);
        let past = Past::open(store, self.id.as_deref(), &resolve);
        // What keeps them from being found stands in the way of `zcoder undo` too, which says so.
        let mut turns = past.and_then(|past| past.turns()).unwrap_or_default();
        turns.retain(|turn| *turn >= from);
        turns
    }

    /// Takes back what this turn and later ones changed, the last one first, after a listing and a yes; the exit code.
    pub(super) fn take_back(&self, typed: &Typed, from: u64) -> u8 {
        let force = force(typed);
        let yes = typed.is_on(Id::Yes);
        if !self.is_known() {
            note("no file changes to take back");
            return exit::DONE;
        }
        self.with(|past| {
            if let Some(settled) = past.settle(force)? {
                note(&format!("zcoder: {settled}"));
            }
            let mut turns = past.turns()?;
            turns.retain(|turn| *turn >= from);
            let mut listing = String::new();
            for turn in &turns {
                let plan = past.undo(Some(*turn))?;
                listing.push_str(&format!("{}\n", one_line(&plan.what)));
                for change in &plan.changes {
                    listing.push_str(&format!("  {}\n", line(change)));
                }
                // What a later turn changed again stands in the way only until that one is taken back.
                for conflict in &plan.conflicts {
                    let path = conflict.path.to_string_lossy();
                    listing.push_str(&format!("  {}\n", one_line(&path)));
                }
            }
            if turns.is_empty() {
                note("no file changes to take back");
                return Ok(exit::DONE);
            }
            note(listing.trim_end());
            let agreed = agreed(yes);
            if agreed != exit::DONE {
                return Ok(agreed);
            }
            for turn in turns {
                let plan = past.undo(Some(turn))?;
                let made = past.make(&plan, force)?;
                for copy in &made.copies {
                    note(&format!("kept {}", one_line(&copy.to_string_lossy())));
                }
                note(&format!("turn {turn} was taken back"));
            }
            Ok(exit::DONE)
        })
    }

    pub(super) fn workspace(&self) -> &Workspace {
        &self.workspace
    }

    /// Something with its past; the exit code.
    pub(super) fn with(&self, with: impl FnOnce(&Past<'_>) -> Result<u8, Error>) -> u8 {
        let Some(store) = &self.store else {
            complain(&format!("there is no undo journal: {NO_PLACE}"));
            return exit::FAILED;
        };
        let resolve = |path: &Path| self.workspace.writable(path);
        let done = Past::open(store, self.id.as_deref(), &resolve).and_then(|past| with(&past));
        done.unwrap_or_else(|error| {
            complain(&error.to_string());
            exit::FAILED
        })
    }

    /// Lists a step, asks, and makes it. `back`: the command that goes the other way.
    pub(super) fn step(
        &self,
        typed: &Typed,
        back: &str,
        plan: impl FnOnce(&Past<'_>) -> Result<Plan, Error>,
    ) -> Result<u8, UsageError> {
        let force = force(typed);
        let yes = typed.is_on(Id::Yes);
        Ok(self.with(|past| {
            if let Some(settled) = past.settle(force)? {
                note(&format!("zcoder: {settled}"));
            }
            let plan = plan(past)?;
            let listed = print(&list(past.id(), &plan, force));
            if listed != exit::DONE {
                return Ok(listed);
            }
            if stops(&plan, force) {
                // Says again which, and what to do.
                past.make(&plan, force)?;
            }
            let agreed = agreed(yes);
            if agreed != exit::DONE {
                return Ok(agreed);
            }
            let made = past.make(&plan, force)?;
            let mut text = String::new();
            for copy in &made.copies {
                text.push_str(&format!("kept {}\n", one_line(&copy.to_string_lossy())));
            }
            if let Some(room) = made.room() {
                note(&format!("zcoder: {room}"));
            }
            text.push_str(&format!("done; `zcoder {back}` takes this step back\n"));
            Ok(print(&text))
        }))
    }
}

/// The whole id: of those of the list, and of what `zcoder tool` edited, which is in no list.
fn full(store: &Store, sessions: &sessions::Store, given: &str) -> Result<String, UsageError> {
    let listed = session::list(sessions)?;
    let journals = store.sessions().unwrap_or_default();
    let mut ids: Vec<&str> = listed.iter().map(|listed| listed.id.0.as_str()).collect();
    ids.extend(journals.iter().map(String::as_str));
    ids.sort_unstable_by(|a, b| b.cmp(a));
    ids.dedup();
    Ok(session::among(&ids, given)?.unwrap_or(given).to_string())
}

fn force(typed: &Typed) -> Force {
    match typed.is_on(Id::Force) {
        true => Force::Yes,
        false => Force::No,
    }
}

/// Whether what was listed may be done: `DONE`, or the exit code.
fn agreed(yes: bool) -> u8 {
    match yes.then_some(true).or_else(ask) {
        Some(true) => exit::DONE,
        Some(false) => {
            note("nothing was changed");
            exit::FAILED
        }
        None => {
            complain("nothing was changed: there is no terminal to ask on; --yes makes the step");
            exit::NOBODY
        }
    }
}

/// Whether the plan cannot be made like this.
fn stops(plan: &Plan, force: Force) -> bool {
    plan.conflicts.iter().any(|conflict| match force {
        Force::No => true,
        Force::Yes => !conflict.forcible,
    })
}

/// What will change.
fn list(id: &str, plan: &Plan, force: Force) -> String {
    let mut out = format!("session {id}\n{}\n", one_line(&plan.what));
    for change in &plan.changes {
        out.push_str(&format!("  {}\n", line(change)));
    }
    if force == Force::Yes {
        let over = |conflict: &&Conflict| conflict.forcible;
        for (change, conflict) in plan.lost().iter().zip(plan.conflicts.iter().filter(over)) {
            out.push_str(&format!("  {}, by force\n", line(change)));
            out.push_str(&format!("    {}\n", one_line(&conflict.text)));
        }
    }
    if plan.changes.is_empty() && plan.conflicts.is_empty() {
        out.push_str("  no file changes: they are all as they were before it\n");
    }
    for note in &plan.notes {
        out.push_str(&format!("  {}\n", one_line(note)));
    }
    out
}

/// `src/a.rs +1 -3`
pub(super) fn line(change: &FileChange) -> String {
    let mark = match (change.created, change.deleted) {
        (_, true) => ", deleted",
        (true, false) => ", new",
        (false, false) => "",
    };
    let bit = show::execution(change);
    let path = one_line(&change.path);
    format!("{path} +{} -{}{mark}{bit}", change.added, change.removed)
}

/// A person's word; `None`: there is nobody.
fn ask() -> Option<bool> {
    let tty = Tty::open()?;
    let cancel = Cancel::new().ok()?;
    let answer = tty
        .discard_input()
        .and_then(|()| tty.write(QUESTION))
        .and_then(|()| tty.read_line(&cancel));
    match answer {
        Ok(Some(line)) => Some(matches!(
            line.trim().to_ascii_lowercase().as_str(),
            "y" | "yes"
        )),
        Ok(None) => Some(false),
        Err(_) => None,
    }
}
