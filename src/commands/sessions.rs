//! `zcoder sessions`: the sessions of this folder, listed, read, copied, renamed, removed, begun anew from an earlier request.
//!
//! ```text
//! $ zcoder sessions
//! 20260821-090000123-x1y2z3a4  2026-08-21 11:04       94  make the test pass
//! $ zcoder sessions show 2026 --last 1
//! session    20260821-090000123-x1y2z3a4
//! …
//! $ zcoder sessions fork 2026 --at 2
//! 20260822-081500000-b5c6d7e8
//! now make it fast
//! ```
//!
//! The beginning of an id is enough where only one begins so. Sessions in which nobody asked for anything are not listed.
//!
//! Refused, before anything is touched: a subcommand or a flag that does not belong there, an id that is none; renaming and removing a
//! session that is at work, and dropping what waits in it.
//!
//! Invariant: what is written to standard output is foreign text made harmless, if that is a terminal; on a pipe it is exact.
//! Invariant: what is removed was listed first, and only `--yes` on the command line is a yes.
//!
//! Read next: `sessions/reading.rs`, `session::Store`.

mod change;
mod form;
mod reading;
mod waiting;

use super::scope::workspace;
use super::{said_yes, session};
use crate::config::{self, Id, Paths, Typed, UsageError, nearest, settings, utf8};
use crate::headless::out::{Out, complain, exit, note, with_stdout};
use crate::session::{Entry, Forward, Listed, OpenError, Passed, Record, SessionId, Store, Tail};
use crate::text;
use crate::undo;
use form::Form;
use std::ffi::OsString;
use std::io::{self, IsTerminal, Write};
use std::time::{SystemTime, UNIX_EPOCH};

pub(super) use super::wrong;
pub(super) use crate::text::one_line;
pub(super) use reading::{author, decided, receipt_of};

/// Flaws that are named; the rest are counted.
const NAMED_FLAWS: u64 = 20;

/// A subcommand, and what does it.
type Verb = (
    &'static str,
    fn(&Here, &Typed, &[OsString]) -> Result<u8, UsageError>,
);

const VERBS: &[Verb] = &[
    ("list", list),
    ("show", show),
    ("rename", change::rename),
    ("delete", change::delete),
    ("prune", change::prune),
    ("export", export),
    ("fork", change::fork),
    ("waiting", waiting::waiting),
];

/// Flags that only one of them takes.
const FLAGS: [(Id, &str); 6] = [
    (Id::Last, "show"),
    (Id::Format, "export"),
    (Id::Older, "prune"),
    (Id::At, "fork"),
    (Id::Undo, "fork"),
    (Id::Drop, "waiting"),
];

/// The subcommands' names.
pub(super) fn verbs() -> impl Iterator<Item = &'static str> {
    VERBS.iter().map(|(name, _)| *name)
}

/// `zcoder sessions [SUBCOMMAND]`
pub(super) fn run(typed: &Typed) -> Result<u8, UsageError> {
    let (name, words) = match typed.words.split_first() {
        Some((name, words)) => (utf8(name, "the subcommand")?, words),
        None => ("list", &[][..]),
    };
    let Some((_, verb)) = VERBS.iter().find(|(known, _)| *known == name) else {
        return Err(unknown(typed, name, verbs()));
    };
    for (id, needs) in FLAGS {
        if let Some(given) = typed.get(id).filter(|_| needs != name) {
            let flag = given.source;
            return Err(UsageError::Needs { flag, needs });
        }
    }
    verb(&Here::find(typed)?, typed, words)
}

/// A word that is no subcommand.
pub(super) fn unknown(
    typed: &Typed,
    given: &str,
    verbs: impl Iterator<Item = &'static str>,
) -> UsageError {
    let known: Vec<&str> = verbs.collect();
    UsageError::UnknownVerb {
        command: typed.command,
        given: given.to_string(),
        near: nearest(given, known.iter().copied()),
        known,
    }
}

/// The sessions of the folder that a command line names.
pub(super) struct Here {
    store: Option<Store>,
    /// What undo keeps of them.
    journals: Option<undo::Store>,
}

impl Here {
    pub(super) fn find(typed: &Typed) -> Result<Here, UsageError> {
        let paths = Paths::find(&config::variable);
        let (workspace, _) = workspace(typed, &paths)?;
        let state = paths.state.as_ref();
        Ok(Here {
            store: state.map(|state| Store::new(state, workspace.root())),
            journals: state.map(|state| undo::Store::new(state, workspace.root())),
        })
    }

    /// Where they lie.
    pub(super) fn store(&self) -> Result<&Store, UsageError> {
        self.store.as_ref().ok_or(UsageError::NoState)
    }

    /// The one that a word means.
    pub(super) fn named(&self, word: &OsString) -> Result<(&Store, SessionId), UsageError> {
        let store = self.store()?;
        let id = session::pick(store, utf8(word, "the session's id")?)?;
        Ok((store, id))
    }
}

/// Exactly one word behind the subcommand.
fn one<'w>(typed: &Typed, words: &'w [OsString]) -> Result<&'w OsString, UsageError> {
    match words {
        [id] => Ok(id),
        _ => Err(wrong(typed, words.get(1))),
    }
}

/// A session that cannot be read; the exit code.
pub(super) fn failed(error: &OpenError) -> u8 {
    complain(&error.to_string());
    exit::FAILED
}

// ---- list ----

fn list(here: &Here, typed: &Typed, words: &[OsString]) -> Result<u8, UsageError> {
    if let Some(extra) = words.first() {
        return Err(wrong(typed, Some(extra)));
    }
    let mut all = session::list(here.store()?)?;
    all.retain(|listed| listed.prompted || listed.damaged);
    if all.is_empty() {
        note("no sessions of this folder");
    }
    Ok(with_stdout(|out| {
        for listed in &all {
            out.write_all(row(listed).as_bytes())?;
        }
        Ok(exit::DONE)
    }))
}

/// A session as a line.
fn row(listed: &Listed) -> String {
    let (id, last) = (text::line(&listed.id.0), reading::day(listed.last));
    let records = text::grouped(listed.records);
    let title = text::line(listed.title.as_deref().unwrap_or("(no title)"));
    let damaged = if listed.damaged { "[damaged] " } else { "" };
    format!("{id}  {last}  {records:>7}  {damaged}{title}\n")
}

// ---- show and export ----

fn show(here: &Here, typed: &Typed, words: &[OsString]) -> Result<u8, UsageError> {
    let last = settings::number(typed, Id::Last, 1, u64::MAX)?;
    let (store, id) = here.named(one(typed, words)?)?;
    Ok(match last {
        Some(last) => show_end(store, &id, last),
        None => whole(store, &id, Form::Text),
    })
}

fn export(here: &Here, typed: &Typed, words: &[OsString]) -> Result<u8, UsageError> {
    let format = typed.word(Id::Format)?.unwrap_or("markdown");
    let (store, id) = here.named(one(typed, words)?)?;
    Ok(match format {
        "html" => whole(store, &id, Form::Html),
        "json" => lines(store, &id, ["[\n", ",\n", "\n]\n"]),
        "jsonl" => lines(store, &id, ["", "\n", "\n"]),
        _ => whole(store, &id, Form::Markdown),
    })
}

/// All of it, as it is read.
fn whole(store: &Store, id: &SessionId, form: Form) -> u8 {
    through(store, id, |out, walk| {
        put(out, &form.head(&id.0))?;
        while let Some(entry) = walk.next() {
            show_entry(out, form, &entry.record, entry.at)?;
        }
        put(out, form.foot())
    })
}

/// Its records as they stand in the log, with what is before, between and behind them.
fn lines(store: &Store, id: &SessionId, [before, between, behind]: [&str; 3]) -> u8 {
    through(store, id, |out, walk| {
        put(out, before)?;
        let mut glue = "";
        while walk.next().is_some() {
            put(out, std::mem::replace(&mut glue, between))?;
            put(out, &text::repair(walk.forward.line()))?;
        }
        put(out, behind)
    })
}

/// Its last requests, read from the end.
fn show_end(store: &Store, id: &SessionId, requests: u64) -> u8 {
    let found = store.tail(id).map_err(|error| failed(&error));
    let entries = found
        .and_then(|tail| last_requests(tail, requests).map_err(|error| unreadable(id, &error)));
    let entries = match entries {
        Ok(entries) => entries,
        Err(code) => return code,
    };
    with_stdout(|out| {
        put(out, &Form::Text.head(&id.0))?;
        let mut titles = entries.iter().filter_map(|entry| match &entry.record {
            Record::TurnStarted { title, .. } => title.clone(),
            _ => None,
        });
        if let Some(text) = titles.next() {
            show_entry(out, Form::Text, &Record::Title { text }, UNIX_EPOCH)?;
        }
        for entry in &entries {
            show_entry(out, Form::Text, &entry.record, entry.at)?;
        }
        Ok(exit::DONE)
    })
}

fn last_requests(mut tail: Tail, requests: u64) -> io::Result<Vec<Entry>> {
    let (mut begun, mut entries) = (0, Vec::new());
    while begun < requests {
        // One after the other: what stands before the first request may be long.
        let earlier = tail.earlier(1)?;
        if earlier.is_empty() {
            break;
        }
        for entry in earlier.into_iter().rev() {
            begun += u64::from(matches!(entry.record, Record::TurnStarted { .. }));
            entries.push(entry);
        }
    }
    entries.reverse();
    Ok(entries)
}

/// A walk through a session, told on standard output.
pub(super) fn through(
    store: &Store,
    id: &SessionId,
    tell: impl FnOnce(&mut Out, &mut Walk) -> io::Result<()>,
) -> u8 {
    let mut walk = match store.forward(id) {
        Ok(forward) => Walk {
            forward,
            before: String::new(),
            flaws: 0,
            failed: None,
        },
        Err(error) => return failed(&error),
    };
    let code = with_stdout(|out| {
        tell(out, &mut walk)?;
        Ok(exit::DONE)
    });
    if walk.flaws > NAMED_FLAWS {
        note(&format!("{} flaws in all", text::grouped(walk.flaws)));
    }
    match (walk.failed, walk.flaws) {
        (Some(error), _) => unreadable(id, &error),
        (None, 0) => code,
        (None, _) => code.max(exit::FAILED),
    }
}

/// The records of a session; flaws are told as they come.
pub(super) struct Walk {
    pub(super) forward: Forward,
    /// Stands before each flaw: which session, where several are told of.
    pub(super) before: String,
    flaws: u64,
    failed: Option<io::Error>,
}

impl Walk {
    /// Whether nothing was wrong so far.
    pub(super) fn is_whole(&self) -> bool {
        self.flaws == 0 && self.failed.is_none()
    }

    pub(super) fn next(&mut self) -> Option<Entry> {
        loop {
            match self.forward.next() {
                Ok(Some(Passed::Record(entry))) => return Some(entry),
                Ok(Some(Passed::Flaw(flaw))) => {
                    self.flaws += 1;
                    if self.flaws <= NAMED_FLAWS {
                        complain(&format!("{}{flaw}", self.before));
                    }
                }
                Ok(None) => return None,
                Err(error) => {
                    self.failed = Some(error);
                    return None;
                }
            }
        }
    }
}

fn unreadable(id: &SessionId, error: &io::Error) -> u8 {
    complain(&format!(
        "session {} cannot be read to its end: {error}",
        id.0
    ));
    exit::FAILED
}

fn show_entry(out: &mut Out, form: Form, record: &Record, at: SystemTime) -> io::Result<()> {
    for block in reading::blocks(record, at) {
        put(out, &form.block(&block))?;
    }
    Ok(())
}

/// Exact on a pipe, harmless on a terminal.
pub(super) fn put(out: &mut Out, text: &str) -> io::Result<()> {
    match io::stdout().is_terminal() {
        true => out.write_all(text::plain(text).as_bytes()),
        false => out.write_all(text.as_bytes()),
    }
}
