//! Steps back and forth between turns, and what commands left behind. A front end's wish comes in as `Op::Step` or `Op::Review`; the
//! work is done by `undo`, here are the workspace's check of a path, the answer as an event, and the word to the model.
//!
//! ```text
//! Op::Step { Undo { turn: None }, Show }   →  Stepped { "undo turn 3 (…)", changes, conflicts, made: false }
//! Op::Step { Undo { turn: None }, Make }   →  Stepped { …, made: true }, and the model's next request has a note of it
//! Op::Review                               →  Reviewed { patch, files, notes }
//! ```
//!
//! What cannot be done is a notice that says why; so is what had to go from the journal for a step, before its `Stepped`.
//!
//! Invariant: files change only by `Act::Make` and `Act::Force`, and the model is told which ones.
use super::prompt;
use super::turn::Engine;
use super::worker::Touched;
use crate::protocol::{Act, CallId, Event, Level, Note, Step, StepReport};
use crate::text;
use crate::undo::{self, CommandChanges, Force, MAX_ENTRIES, Made, Past, Plan};
use std::path::{Path, PathBuf};

/// Files of a command that an event names; the others are counted.
const NAMED: usize = 50;

impl Engine {
    /// The journal has something to say.
    pub(super) fn journal_notices(&mut self) {
        for text in self.journal.notices() {
            self.notice(Level::Warning, text);
        }
    }

    /// A command ended: what it changed is noted beside the edits of the turn.
    pub(super) fn note_touched(&mut self, command: &str) {
        let (files, looked) = match &self.touched {
            Touched::Files(files) => (&files[..], true),
            Touched::TooMany => (&[][..], false),
            Touched::Unknown if !self.looks => (&[][..], false),
            Touched::Unknown => return,
        };
        let changes = CommandChanges {
            command,
            files,
            looked,
        };
        if let Err(error) = self.journal.ran(&changes) {
            let text = format!("what the command changed could not be noted: {error}");
            self.notice(Level::Warning, text);
        }
        self.journal_notices();
    }

    /// The same for the front end, after the call's result.
    pub(super) fn tell_touched(&mut self, call: &CallId) {
        match std::mem::replace(&mut self.touched, Touched::Unknown) {
            Touched::Files(files) if !files.is_empty() => self.emit(Event::Touched {
                call: call.clone(),
                files: files.iter().take(NAMED).map(|path| shown(path)).collect(),
                more: files.len().saturating_sub(NAMED) as u64,
            }),
            Touched::TooMany => {
                self.looks = false;
                let most = text::grouped(MAX_ENTRIES as u64);
                self.notice(
                    Level::Info,
                    format!(
                        "the workspace has more than {most} files, or is slow: what commands change in it is not looked at"
                    ),
                );
            }
            Touched::Files(_) | Touched::Unknown => {}
        }
    }

    /// `Op::Step`
    pub(super) fn step(&mut self, step: &Step, act: Act) {
        let done = self.with_past(|past| {
            let force = match act {
                Act::Show | Act::Make => Force::No,
                Act::Force => Force::Yes,
            };
            let settled = match act {
                Act::Show => None,
                Act::Make | Act::Force => past.settle(force)?,
            };
            let plan = match step {
                Step::Undo { turn } => past.undo(turn.map(|turn| turn.0))?,
                Step::Redo => past.redo()?,
                Step::Revert { path, hunk } => past.revert(path, *hunk)?,
            };
            let made = match act {
                Act::Show => None,
                Act::Make | Act::Force => Some(past.make(&plan, force)?),
            };
            let room = made.as_ref().and_then(Made::room);
            let copies = made.as_ref().map(|made| &made.copies[..]);
            Ok(([settled, room], report(&plan, copies)))
        });
        let Some((said, report)) = done else {
            return;
        };
        for text in said.into_iter().flatten() {
            self.notice(Level::Warning, text);
        }
        if report.made && self.conversation.is_some() {
            self.append(prompt::note(Note::Stepped, &told(&report)));
        }
        self.emit(Event::Stepped(report));
    }

    /// `Op::Review`
    pub(super) fn review(&mut self) {
        if let Some(review) = self.with_past(|past| past.review()) {
            self.emit(Event::Reviewed {
                patch: text::repair(&review.patch).into_owned(),
                files: review.files.into_iter().map(|file| file.change).collect(),
                notes: review.notes,
            });
        }
    }

    /// Something with this session's past; a failure becomes a notice.
    fn with_past<T>(
        &mut self,
        with: impl FnOnce(&Past<'_>) -> Result<T, undo::Error>,
    ) -> Option<T> {
        let Some((store, id)) = self.journal.place() else {
            let text =
                "this run keeps no undo journal, so there is nothing to take back or to show";
            self.notice(Level::Error, text.to_string());
            return None;
        };
        let workspace = self.toolbox.workspace();
        let resolve = |path: &Path| workspace.writable(path);
        let result = Past::open(store, Some(id), &resolve).and_then(|past| with(&past));
        match result {
            Ok(value) => Some(value),
            Err(error) => {
                self.notice(Level::Error, error.to_string());
                None
            }
        }
    }
}

fn report(plan: &Plan, copies: Option<&[PathBuf]>) -> StepReport {
    let mut changes = plan.changes.clone();
    if copies.is_some() {
        changes.extend(plan.lost());
    }
    StepReport {
        what: plan.what.clone(),
        changes,
        conflicts: plan.conflicts.iter().map(|c| c.text.clone()).collect(),
        notes: plan.notes.clone(),
        copies: copies
            .unwrap_or_default()
            .iter()
            .map(|path| shown(path))
            .collect(),
        made: copies.is_some(),
    }
}

/// For the model: what is not as it left it.
fn told(report: &StepReport) -> String {
    let files = report.changes.iter().map(|change| {
        let path = text::visible(&change.path);
        match (change.created, change.deleted) {
            (_, true) => format!("{path} (gone)"),
            (true, false) => format!("{path} (back)"),
            (false, false) => path.into_owned(),
        }
    });
    let files: Vec<String> = files.take(NAMED).collect();
    format!(
        "The user made this step: {}. These files are not as you left them: {}. Read them again before you edit them, and do not \
         repeat what was taken back unless the user asks for it.",
        text::visible(&report.what),
        match files.is_empty() {
            true => "none".to_string(),
            false => files.join(", "),
        }
    )
}

fn shown(path: &Path) -> String {
    path.to_string_lossy().into_owned()
}
