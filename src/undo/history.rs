//! A session's entries as a whole: what is done, what was taken back and could be made again. `past.rs` asks it what comes next.
//!
//! ```text
//! 1 turn 1   2 turn 2   3 undo of 2              done: 1           taken back: 2 (by 3)
//! … 4 undo of 1                                  done:             taken back: 2 (by 3), 1 (by 4)       redo makes 1 again
//! … 5 redo of 1                                  done: 1           taken back: 2 (by 3)
//! … 6 turn 3                                     done: 1, 6        taken back: none: what follows starts anew
//! ```
//!
//! Steps that were interrupted and put back do not count. Numbers that are missing were removed to make room, the oldest first.
//!
//! Invariant: an entry is done or taken back, never both.

use super::entry::{Entry, Kind, Step};
use super::restore::Move;
use super::store::Session;
use std::io;
use std::path::{Path, PathBuf};

/// All entries of a session, in order.
#[derive(Debug)]
pub(super) struct History {
    pub(super) entries: Vec<Entry>,
    /// Entries that are damaged from their beginning.
    pub(super) unreadable: Vec<u64>,
    /// The highest number, readable or not; 0: there is none.
    pub(super) last: u64,
    /// Whether the first entries were removed.
    pub(super) shortened: bool,
}

/// What can be taken back and made again; the last one comes first.
#[derive(Debug, Default)]
pub(super) struct Stacks<'a> {
    pub(super) done: Vec<&'a Entry>,
    /// What was taken back, and the step that did it.
    pub(super) undone: Vec<(u64, &'a Entry)>,
}

impl History {
    pub(super) fn read(session: &Session) -> io::Result<History> {
        let numbers = session.numbers()?;
        let mut history = History {
            entries: Vec::with_capacity(numbers.len()),
            unreadable: Vec::new(),
            last: numbers.last().copied().unwrap_or(0),
            shortened: numbers.first().is_some_and(|first| *first > 1),
        };
        for number in numbers {
            match session.read(number) {
                Ok(Some(entry)) => history.entries.push(entry),
                Ok(None) => history.unreadable.push(number),
                // Removed in this moment by another process that makes room.
                Err(error) if error.kind() == io::ErrorKind::NotFound => history.shortened = true,
                Err(error) => return Err(error),
            }
        }
        Ok(history)
    }

    pub(super) fn entry(&self, number: u64) -> Option<&Entry> {
        self.entries.iter().find(|entry| entry.number == number)
    }

    /// The step that stopped in the middle, if the last one did.
    pub(super) fn interrupted(&self) -> Option<&Entry> {
        let last = self.entries.last()?;
        (last.number == self.last && last.is_interrupted()).then_some(last)
    }

    pub(super) fn stacks(&self) -> Stacks<'_> {
        let mut stacks = Stacks::default();
        let counts = |entry: &&Entry| !entry.is_void();
        for entry in self.entries.iter().filter(counts) {
            match entry.kind {
                Kind::Turn { .. } | Kind::Revert { .. } => {
                    // A turn whose commands changed files and that edited none has nothing to take back.
                    if entry.edits().next().is_some() || entry.damaged.is_some() {
                        stacks.done.push(entry);
                        stacks.undone.clear();
                    }
                }
                Kind::Undo { of } => {
                    stacks.done.retain(|done| done.number != of);
                    stacks.undone.push((of, entry));
                }
                Kind::Redo { of } => {
                    stacks.undone.retain(|(undone, _)| *undone != of);
                    stacks.done.extend(self.entry(of));
                }
            }
        }
        stacks
    }

    /// The files that the session edited, in order of the first time, each with all that happened to it.
    pub(super) fn files(&self) -> Vec<(&Path, Vec<Move<'_>>)> {
        files(self.entries.iter())
    }

    /// What changed a file after the entry `since`, in words; nothing if it was nobody of this session.
    pub(super) fn blame(&self, since: &Entry, path: &Path) -> Option<String> {
        let done = self.stacks().done;
        for entry in done.iter().filter(|entry| entry.number > since.number) {
            if entry.edits().any(|edit| edit.path == path) {
                return Some(format!(
                    "{} changed it again; take that back first",
                    title(entry)
                ));
            }
        }
        let since = |entry: &&Entry| entry.number >= since.number;
        self.entries.iter().filter(since).rev().find_map(|entry| {
            entry.steps.iter().rev().find_map(|step| match step {
                Step::Ran(ran) if ran.files.iter().any(|(file, _)| file == path) => {
                    Some(format!("`{}` changed it ({})", ran.command, title(entry)))
                }
                Step::Ran(_) | Step::Edit(_) | Step::Done | Step::Void => None,
            })
        })
    }

    /// Files that commands of this entry changed and no edit of it did: there is nothing to bring them back from.
    pub(super) fn no_before_image(entry: &Entry) -> Vec<(&str, Vec<PathBuf>, u64)> {
        let mut all = Vec::new();
        for step in &entry.steps {
            let Step::Ran(ran) = step else { continue };
            let edited = |path: &Path| entry.edits().any(|edit| edit.path == path);
            let files = ran.files.iter().map(|(path, _)| path.clone());
            let files: Vec<PathBuf> = files.filter(|path| !edited(path)).collect();
            if !files.is_empty() || ran.more > 0 || !ran.looked {
                all.push((ran.command.as_str(), files, ran.more));
            }
        }
        all
    }
}

/// The files of these entries in order of their first edit, each with all that happened to it from then on.
pub(super) fn files<'a>(
    entries: impl Iterator<Item = &'a Entry>,
) -> Vec<(&'a Path, Vec<Move<'a>>)> {
    let mut files: Vec<(&Path, Vec<Move<'_>>)> = Vec::new();
    // By path: a turn may edit thousands of files.
    let mut places = std::collections::HashMap::new();
    for step in entries.flat_map(|entry| &entry.steps) {
        match step {
            Step::Edit(edit) => {
                let place = *places.entry(edit.path.as_path()).or_insert_with(|| {
                    files.push((edit.path.as_path(), Vec::new()));
                    files.len() - 1
                });
                files[place].1.push(Move::Edit(edit));
            }
            Step::Ran(ran) => {
                for (path, touched) in &ran.files {
                    if let Some(place) = places.get(path.as_path()) {
                        files[*place].1.push(Move::Ran(*touched));
                    }
                }
            }
            Step::Done | Step::Void => {}
        }
    }
    files
}

/// `turn 3 (make the test pass)`
pub(super) fn title(entry: &Entry) -> String {
    match &entry.kind {
        Kind::Turn { turn, label } if label.is_empty() => format!("turn {turn}"),
        Kind::Turn { turn, label } => format!("turn {turn} ({label})"),
        Kind::Revert { what } => format!("the revert of {what}"),
        Kind::Undo { .. } => "an undo".to_string(),
        Kind::Redo { .. } => "a redo".to_string(),
    }
}
