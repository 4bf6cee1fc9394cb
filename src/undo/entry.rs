//! Entries: one file of the journal each, a turn of the model or a step back or forth. `journal.rs` and `make.rs` append the frames,
//! `history.rs` reads whole entries.
//!
//! ```text
//! {"entry":"turn","turn":3,"label":"make the test pass","at":"2026-08-21T09:00:00.123Z"}      first frame: what it is
//! {"edit":"src/a.rs","before":"9f…","after":"07…","mode":420,"size":6,"folders":[],"spans":[[0,5,5]],"kept":"whole"}   body: alpha⏎
//! {"ran":"cargo fmt","files":[{"path":"src/a.rs","after":"c3…"},{"path":"x.log"}],"more":0,"looked":true}
//! {"entry":"undo","of":3,"at":…}  {"edit":…}  {"done":true}                               a step back, complete
//! ```
//!
//! `before` or `after` is null where there was or will be no file. `kept` says what the body is: the whole file before the edit, or
//! only the replaced bytes of the spans, one after the other. `mode` is that before; `mode_after` stands beside it only where the edit
//! changes it. A path that is not UTF-8 stands as hex under `edit_hex`, `path_hex`.
//!
//! Refused: a frame whose JSON has another shape, as if it were damaged; a mode with more than permission bits is such.
//!
//! Invariant: the first frame of an entry is its kind; a step back or forth without `done` or `void` was interrupted.
//! Invariant: a frame is appended before what it tells of happens, but for `ran`, `done` and `void`.

use super::frame::{self, Frame, Next};
use crate::json::{Tree, Value, Writer};
use crate::sha256::{digest, hex};
use std::borrow::Cow;
use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

/// SHA-256 of a file.
pub(super) type Hash = [u8; 32];

/// What an entry is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    /// What the model did in a turn.
    Turn {
        /// Its number in the session.
        turn: u64,
        /// The beginning of the prompt.
        label: String,
    },
    /// What a person took back from a review.
    Revert {
        /// `src/a.rs`, `src/a.rs:2`.
        what: String,
    },
    /// An entry was taken back.
    Undo {
        /// Its number.
        of: u64,
    },
    /// An entry was made again.
    Redo {
        /// Its number.
        of: u64,
    },
}

/// One frame after the first.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Step<'a> {
    /// A file is about to change.
    Edit(Edit<'a>),
    /// A command ran.
    Ran(Ran),
    /// All edits of this step were made.
    Done,
    /// None of them stands: they were taken back after an interruption.
    Void,
}

/// A change of one file, enough to take it back.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Edit<'a> {
    /// Relative to the workspace.
    pub(super) path: PathBuf,
    /// `None`: there was no file.
    pub(super) before: Option<Hash>,
    /// `None`: it is removed.
    pub(super) after: Option<Hash>,
    /// Permission bits before.
    pub(super) mode: Option<u32>,
    /// Permission bits after, if the edit changes those of a file that was there and stays.
    pub(super) mode_after: Option<u32>,
    /// Bytes before.
    pub(super) size: u64,
    /// Folders that are made for it, outermost first, relative to the workspace.
    pub(super) folders: Vec<PathBuf>,
    /// In order, apart from each other; empty when the whole file is kept.
    pub(super) spans: Vec<Span>,
    /// What the body holds.
    pub(super) kept: Kept<'a>,
}

/// `old_len` bytes at `offset` of the file before became `new_len` bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Span {
    pub(super) offset: u64,
    pub(super) old_len: u64,
    pub(super) new_len: u64,
}

/// Bytes that an edit leaves behind.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Kept<'a> {
    /// All of the file before.
    Whole(Cow<'a, [u8]>),
    /// The old bytes of the spans.
    Spans(Cow<'a, [u8]>),
}

/// What a command changed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Ran {
    /// Its text, shortened.
    pub(super) command: String,
    /// Files that it changed. `after` is known for those that this entry had edited before.
    pub(super) files: Vec<(PathBuf, Touched)>,
    /// How many others.
    pub(super) more: u64,
    /// False: there were too many files to look.
    pub(super) looked: bool,
}

/// What is known of a file that a command changed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Touched {
    /// That it changed.
    Changed,
    /// What it held right after the command; `None`: it was gone.
    Known(Option<Hash>),
}

/// An entry as read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Entry {
    pub(super) number: u64,
    pub(super) kind: Kind,
    /// RFC 3339.
    pub(super) at: String,
    pub(super) steps: Vec<Step<'static>>,
    /// Where it stops to be what was written, if it does.
    pub(super) damaged: Option<usize>,
    /// Bytes that are good; what follows is the end of an append that was cut.
    pub(super) good: usize,
}

impl Entry {
    /// Reads one; `None` when not even its first frame is whole.
    pub(super) fn read(number: u64, file: &[u8]) -> Option<Entry> {
        let Next::Frame { head, body: _, end } = frame::next(file, 0) else {
            return None;
        };
        let tree = Tree::parse_strict(head).ok()?;
        let mut entry = Entry {
            number,
            kind: kind(tree.root())?,
            at: tree.root().get("at")?.as_str()?.to_string(),
            steps: Vec::new(),
            damaged: None,
            good: end,
        };
        loop {
            match frame::next(file, entry.good) {
                Next::Frame { head, body, end } => {
                    let tree = Tree::parse_strict(head).ok();
                    match tree.and_then(|tree| step(tree.root(), body)) {
                        Some(step) => entry.steps.push(step),
                        None => {
                            entry.damaged = Some(entry.good);
                            return Some(entry);
                        }
                    }
                    entry.good = end;
                }
                Next::End | Next::Cut => return Some(entry),
                Next::Damaged => {
                    entry.damaged = Some(entry.good);
                    return Some(entry);
                }
            }
        }
    }

    /// The edits, in order.
    pub(super) fn edits(&self) -> impl Iterator<Item = &Edit<'static>> {
        self.steps.iter().filter_map(|step| match step {
            Step::Edit(edit) => Some(edit),
            Step::Ran(_) | Step::Done | Step::Void => None,
        })
    }

    /// Whether it was taken back after an interruption.
    pub(super) fn is_void(&self) -> bool {
        self.steps.contains(&Step::Void)
    }

    /// Whether a step back or forth stopped in the middle.
    pub(super) fn is_interrupted(&self) -> bool {
        match self.kind {
            Kind::Turn { .. } => false,
            Kind::Revert { .. } | Kind::Undo { .. } | Kind::Redo { .. } => {
                let ended = |step: &Step<'_>| matches!(step, Step::Done | Step::Void);
                !self.steps.iter().any(ended)
            }
        }
    }
}

/// The first frame.
pub(super) fn kind_frame(kind: &Kind, at: &str) -> Frame<'static> {
    let mut json = Writer::new();
    json.begin_object().key("entry");
    match kind {
        Kind::Turn { turn, label } => {
            json.string("turn").key("turn").u64(*turn);
            json.key("label").string(label);
        }
        Kind::Revert { what } => drop(json.string("revert").key("what").string(what)),
        Kind::Undo { of } => drop(json.string("undo").key("of").u64(*of)),
        Kind::Redo { of } => drop(json.string("redo").key("of").u64(*of)),
    }
    json.key("at").string(at).end_object();
    bare(json)
}

/// A frame without a body.
fn bare(json: Writer) -> Frame<'static> {
    Frame::new(&json.finish(), b"", &digest(b""))
}

/// Any other frame.
pub(super) fn step_frame<'a>(step: &'a Step<'_>) -> Frame<'a> {
    let mut json = Writer::new();
    json.begin_object();
    match step {
        Step::Edit(edit) => return edit_frame(edit),
        Step::Ran(ran) => write_ran(&mut json, ran),
        Step::Done => drop(json.key("done").bool(true)),
        Step::Void => drop(json.key("void").bool(true)),
    }
    json.end_object();
    bare(json)
}

/// The frame of an edit.
pub(super) fn edit_frame<'a>(edit: &'a Edit<'_>) -> Frame<'a> {
    let mut json = Writer::new();
    json.begin_object();
    write_path(&mut json, ["edit", "edit_hex"], &edit.path);
    for (key, hash) in [("before", &edit.before), ("after", &edit.after)] {
        json.key(key);
        write_hash(&mut json, hash.as_ref());
    }
    for (key, mode) in [("mode", edit.mode), ("mode_after", edit.mode_after)] {
        if let Some(mode) = mode {
            json.key(key).u64(u64::from(mode));
        }
    }
    json.key("size").u64(edit.size).key("folders").begin_array();
    for folder in &edit.folders {
        json.begin_object();
        write_path(&mut json, ["path", "path_hex"], folder);
        json.end_object();
    }
    json.end_array().key("spans").begin_array();
    for span in &edit.spans {
        json.begin_array().u64(span.offset).u64(span.old_len);
        json.u64(span.new_len).end_array();
    }
    json.end_array().key("kept");
    let (kept, body, known) = match &edit.kept {
        Kept::Whole(bytes) => ("whole", bytes, edit.before),
        Kept::Spans(bytes) => ("spans", bytes, None),
    };
    json.string(kept).end_object();
    let hash = known.unwrap_or_else(|| digest(body));
    Frame::new(&json.finish(), body, &hash)
}

fn write_ran(json: &mut Writer, ran: &Ran) {
    json.key("ran").string(&ran.command);
    json.key("files").begin_array();
    for (path, touched) in &ran.files {
        json.begin_object();
        write_path(json, ["path", "path_hex"], path);
        match touched {
            Touched::Changed => {}
            Touched::Known(hash) => {
                json.key("after");
                write_hash(json, hash.as_ref());
            }
        }
        json.end_object();
    }
    json.end_array().key("more").u64(ran.more);
    json.key("looked").bool(ran.looked);
}

fn write_hash(json: &mut Writer, hash: Option<&Hash>) {
    match hash {
        Some(hash) => json.string(&hex(hash)),
        None => json.null(),
    };
}

fn write_path(json: &mut Writer, [plain, coded]: [&str; 2], path: &Path) {
    match path.to_str() {
        Some(path) => json.key(plain).string(path),
        None => {
            let bytes = path.as_os_str().as_bytes();
            let digits: String = bytes.iter().map(|byte| format!("{byte:02x}")).collect();
            json.key(coded).string(&digits)
        }
    };
}

fn kind(value: Value<'_>) -> Option<Kind> {
    let number = |key: &str| value.get(key)?.as_number()?.as_u64();
    let text = |key: &str| Some(value.get(key)?.as_str()?.to_string());
    Some(match value.get("entry")?.as_str()? {
        "turn" => Kind::Turn {
            turn: number("turn")?,
            label: text("label")?,
        },
        "revert" => Kind::Revert {
            what: text("what")?,
        },
        "undo" => Kind::Undo { of: number("of")? },
        "redo" => Kind::Redo { of: number("of")? },
        _ => return None,
    })
}

fn step(value: Value<'_>, body: &[u8]) -> Option<Step<'static>> {
    if value.get("done").is_some() {
        return Some(Step::Done);
    }
    if value.get("void").is_some() {
        return Some(Step::Void);
    }
    match value.get("ran") {
        Some(command) => Some(Step::Ran(Ran {
            command: command.as_str()?.to_string(),
            files: all(value.get("files")?, touched)?,
            more: value.get("more")?.as_number()?.as_u64()?,
            looked: value.get("looked")?.as_bool()?,
        })),
        None => edit(value, body).map(Step::Edit),
    }
}

fn edit(value: Value<'_>, body: &[u8]) -> Option<Edit<'static>> {
    let edit = Edit {
        path: path(value, ["edit", "edit_hex"])?,
        before: hash(value.get("before")?)?,
        after: hash(value.get("after")?)?,
        mode: mode(value, "mode")?,
        mode_after: mode(value, "mode_after")?,
        size: value.get("size")?.as_number()?.as_u64()?,
        folders: all(value.get("folders")?, |folder| {
            path(folder, ["path", "path_hex"])
        })?,
        spans: all(value.get("spans")?, span)?,
        kept: match value.get("kept")?.as_str()? {
            "whole" => Kept::Whole(body.to_vec().into()),
            "spans" => Kept::Spans(body.to_vec().into()),
            _ => return None,
        },
    };
    let fits = match &edit.kept {
        Kept::Whole(bytes) => bytes.len() as u64 == edit.size,
        Kept::Spans(bytes) => {
            let sum = |sum: u64, span: &Span| sum.checked_add(span.old_len);
            edit.spans.iter().try_fold(0, sum) == Some(bytes.len() as u64)
        }
    };
    fits.then_some(edit)
}

/// `Some(None)`: none is given.
fn mode(value: Value<'_>, key: &str) -> Option<Option<u32>> {
    let Some(mode) = value.get(key) else {
        return Some(None);
    };
    let mode = u32::try_from(mode.as_number()?.as_u64()?).ok()?;
    (mode <= 0o777).then_some(Some(mode))
}

fn span(value: Value<'_>) -> Option<Span> {
    let numbers = all(value, |number| number.as_number()?.as_u64())?;
    let [offset, old_len, new_len] = numbers.try_into().ok()?;
    Some(Span {
        offset,
        old_len,
        new_len,
    })
}

fn touched(value: Value<'_>) -> Option<(PathBuf, Touched)> {
    let path = path(value, ["path", "path_hex"])?;
    let touched = match value.get("after") {
        Some(after) => Touched::Known(hash(after)?),
        None => Touched::Changed,
    };
    Some((path, touched))
}

/// All items, or nothing if one is not what it should be.
fn all<T>(value: Value<'_>, read: impl Fn(Value<'_>) -> Option<T>) -> Option<Vec<T>> {
    value.items().map(read).collect()
}

/// `Some(None)` for null.
fn hash(value: Value<'_>) -> Option<Option<Hash>> {
    if value.is_null() {
        return Some(None);
    }
    let bytes = from_hex(value.as_str()?)?;
    Some(Some(bytes.try_into().ok()?))
}

/// A path that stays below where it starts, whatever wrote it.
fn path(value: Value<'_>, [plain, coded]: [&str; 2]) -> Option<PathBuf> {
    let path = match value.get(plain) {
        Some(path) => PathBuf::from(path.as_str()?),
        None => {
            let bytes = from_hex(value.get(coded)?.as_str()?)?;
            PathBuf::from(OsStr::from_bytes(&bytes))
        }
    };
    let plain = |part: std::path::Component<'_>| matches!(part, std::path::Component::Normal(_));
    (!path.as_os_str().is_empty() && path.components().all(plain)).then_some(path)
}

fn from_hex(text: &str) -> Option<Vec<u8>> {
    let digit = |byte: u8| char::from(byte).to_digit(16);
    let pairs = text.as_bytes().chunks(2);
    pairs
        .map(|pair| match pair {
            [high, low] => u8::try_from(digit(*high)? << 4 | digit(*low)?).ok(),
            _ => None,
        })
        .collect()
}
