//! A session's past: what it did to the workspace, taken back, made again, looked at. The commands and the engine open one, ask for a
//! [`Plan`], show it, and make it.
//!
//! ```text
//! Past::open(store, None, resolve)        the newest session of the workspace
//!   settle(false)                         an undo that was killed in the middle is put back first
//!   undo(None)  →  Plan                   the last turn that is done; undo(Some(3)): turn 3
//!   make(plan, Force::No)                 all of it or nothing
//!   redo()      →  Plan                   what was taken back last
//! ```
//!
//! Several undos in a row go back turn by turn, several redos forth again; a new turn after an undo ends what can be made again.
//!
//! Invariant: nothing of the workspace changes but in [`Past::make`] and [`Past::settle`], both with the session locked.
//!
//! Read next: `plan.rs`, `make.rs`, `review.rs`.

use super::entry::Kind;
use super::history::{History, title};
use super::make::{self, unreadable};
use super::place::{Places, Resolve};
use super::plan::{self, Plan};
use super::review::{self, Review};
use super::store::{Lock, Session, Store};
use super::{Error, Force};
use crate::text;
use std::path::PathBuf;

/// Sessions that are named when another one was asked for.
const NAMED: usize = 5;
/// Files of a command that are named in a note.
const NAMED_FILES: usize = 8;

/// The past of one session.
pub struct Past<'a> {
    session: Session,
    store: Store,
    resolve: Resolve<'a>,
}

/// What was made.
#[derive(Debug, PartialEq, Eq)]
pub struct Made {
    /// Copies of files that force went over.
    pub copies: Vec<PathBuf>,
    /// Old turns that had to go for the record of this step.
    pub removed: u64,
}

impl Made {
    /// What had to go for it, in words.
    pub fn room(&self) -> Option<String> {
        (self.removed > 0).then(|| {
            format!(
                "the undo journal of this session is full: {} of its oldest turns can no longer be taken back",
                text::grouped(self.removed)
            )
        })
    }
}

impl<'a> Past<'a> {
    /// `id`: a session's id or the beginning of one; `None`: the newest that edited files of this workspace.
    pub fn open(store: &Store, id: Option<&str>, resolve: Resolve<'a>) -> Result<Past<'a>, Error> {
        let sessions = store.sessions().map_err(|source| Error::Io {
            what: "read the journals of",
            path: store.root().to_path_buf(),
            source,
        })?;
        let mut named = sessions.iter().filter(|known| match id {
            Some(id) => known.starts_with(id),
            None => true,
        });
        let found = match (named.next(), named.next(), id) {
            (Some(newest), _, None) => Some(newest),
            (Some(only), None, Some(_)) => Some(only),
            // Of several that begin so, only the one that is named in full.
            (_, _, Some(id)) => sessions.iter().find(|known| *known == id),
            (None, _, None) => None,
        };
        let Some(found) = found else {
            return Err(Error::NoSession {
                workspace: store.root().to_path_buf(),
                id: id.map(String::from),
                known: sessions.iter().take(NAMED).cloned().collect(),
            });
        };
        Ok(Past {
            session: store.session(found),
            store: store.clone(),
            resolve,
        })
    }

    /// The session's id.
    pub fn id(&self) -> &str {
        &self.session.id
    }

    /// Ends what an earlier step left in the middle; what was done about it.
    pub fn settle(&self, force: Force) -> Result<Option<String>, Error> {
        if self.history()?.interrupted().is_none() {
            return Ok(None);
        }
        let _lock = self.lock()?;
        make::settle(&self.session, self.places(), force == Force::Yes)
    }

    /// The turns that can be taken back, the last one first.
    pub fn turns(&self) -> Result<Vec<u64>, Error> {
        let history = self.history()?;
        let done = history.stacks().done;
        Ok(done
            .iter()
            .rev()
            .filter_map(|entry| turn_of(&entry.kind))
            .collect())
    }

    /// How to take back the last turn that is done, or this one.
    pub fn undo(&self, turn: Option<u64>) -> Result<Plan, Error> {
        let history = self.history()?;
        let done = history.stacks().done;
        let entry = match turn {
            None => done.last().copied().ok_or_else(|| Error::NothingDone {
                id: self.session.id.clone(),
            })?,
            Some(turn) => {
                let mut named = done.iter().rev();
                let found = named.find(|entry| turn_of(&entry.kind) == Some(turn));
                found.copied().ok_or_else(|| Error::NoTurn {
                    turn,
                    known: done.iter().filter_map(|e| turn_of(&e.kind)).collect(),
                })?
            }
        };
        let kind = Kind::Undo { of: entry.number };
        let what = format!("undo {}", title(entry));
        let mut plan = plan::plan(&history, entry, kind, what, self.places())?;
        // Later turns that only ran commands are no step of their own.
        for later in history.entries.iter().filter(|e| e.number >= entry.number) {
            for (command, files, more) in History::no_before_image(later) {
                plan.notes.push(no_before_image(command, &files, more));
            }
        }
        Ok(plan)
    }

    /// How to make again what was taken back last.
    pub fn redo(&self) -> Result<Plan, Error> {
        let history = self.history()?;
        let Some((of, undo)) = history.stacks().undone.pop() else {
            let id = self.session.id.clone();
            return Err(Error::NothingUndone { id });
        };
        let what = match history.entry(of) {
            Some(entry) => format!("redo {}", title(entry)),
            None => "redo a turn that is no longer kept".to_string(),
        };
        plan::plan(&history, undo, Kind::Redo { of }, what, self.places())
    }

    /// What the session changed in all.
    pub fn review(&self) -> Result<Review, Error> {
        Ok(review::review(&self.history()?, self.places()))
    }

    /// How to bring a file, or one hunk of its difference (from 1), back to what it was when the session began.
    pub fn revert(&self, path: &str, hunk: Option<usize>) -> Result<Plan, Error> {
        review::revert(&self.history()?, self.places(), path, hunk)
    }

    /// Makes a plan.
    pub fn make(&self, plan: &Plan, force: Force) -> Result<Made, Error> {
        let stops = plan.conflicts.iter().filter(|conflict| match force {
            Force::No => true,
            Force::Yes => !conflict.forcible,
        });
        let stops: Vec<_> = stops.cloned().collect();
        if !stops.is_empty() {
            return Err(Error::Conflicts(stops));
        }
        let _lock = self.lock()?;
        let numbers = self.session.numbers();
        let numbers = numbers.map_err(|source| unreadable(&self.session, source))?;
        if numbers.last().copied().unwrap_or(0) != plan.last {
            return Err(Error::WentOn);
        }
        make::make(&self.session, plan, self.places(), self.store.limits())
    }

    fn history(&self) -> Result<History, Error> {
        History::read(&self.session).map_err(|source| unreadable(&self.session, source))
    }

    fn lock(&self) -> Result<Lock, Error> {
        match self.session.lock() {
            Ok(Some(lock)) => Ok(lock),
            Ok(None) => Err(Error::Busy),
            Err(source) => Err(unreadable(&self.session, source)),
        }
    }

    fn places(&self) -> Places<'_> {
        Places {
            root: self.store.root(),
            resolve: self.resolve,
        }
    }
}

fn turn_of(kind: &Kind) -> Option<u64> {
    match kind {
        Kind::Turn { turn, .. } => Some(*turn),
        Kind::Revert { .. } | Kind::Undo { .. } | Kind::Redo { .. } => None,
    }
}

fn no_before_image(command: &str, files: &[PathBuf], more: u64) -> String {
    let named = files.iter().take(NAMED_FILES);
    let mut named: Vec<String> = named.map(|path| path.display().to_string()).collect();
    let more = more + files.len().saturating_sub(NAMED_FILES) as u64;
    if more > 0 {
        named.push(format!("{more} more"));
    }
    match named.is_empty() {
        true => format!("what `{command}` changed is not known and stays"),
        false => format!(
            "no before-image of what `{command}` changed, it stays: {}",
            named.join(", ")
        ),
    }
}
