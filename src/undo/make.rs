//! Makes a plan: all of its files or none. `past.rs` calls it with the session locked.
//!
//! ```text
//! 000005: {"entry":"undo","of":3} {"edit":"src/a.rs",…} {"edit":"new.txt",…}     fdatasync, folder synced
//! src/a.rs replaced, new.txt removed                                             each looked at once more right before
//! 000005: {"done":true}                                                          fdatasync
//! ```
//!
//! If a file cannot be changed, those before it get back what they held, and the entry ends in `void`. After a kill in between there is
//! neither `done` nor `void`: [`settle`] finds out by the hashes what was made, and puts it back, or adds the missing `done`.
//!
//! Invariant: what a file held is on the disk, in the entry, before the file is changed; by force also as a copy beside it.
//! Invariant: an entry with `done` was made as a whole, one with `void` not at all.

use super::entry::{Edit, Entry, Kept, Kind, Span, Step, edit_frame, kind_frame, step_frame};
use super::frame::Frame;
use super::history::{History, title};
use super::journal::missing_folders;
use super::place::{Content, Places};
use super::plan;
use super::plan::{FilePlan, Plan};
use super::store::{Limits, Session, new_file};
use super::{Error, Made};
use crate::sha256::digest;
use crate::sort;
use crate::sys::clock;
use crate::sys::file::sync_folder;
use crate::text;
use std::borrow::Cow;
use std::fs::{self, DirBuilder, File, OpenOptions};
use std::io::{self, Write};
use std::os::unix::fs::DirBuilderExt;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

/// Records the plan and changes the files.
pub(super) fn make(
    session: &Session,
    plan: &Plan,
    places: Places<'_>,
    limits: Limits,
) -> Result<Made, Error> {
    let number = plan.last + 1;
    let copies = keep(session, number, plan)?;
    let edits: Vec<Edit<'_>> = plan
        .files
        .iter()
        .map(|file| edit(file, places.root, limits.whole_bytes))
        .collect();
    let (mut file, removed) = begin(session, number, &plan.kind, &edits, limits.session_bytes)?;
    for (index, step) in plan.files.iter().enumerate() {
        let changed = places.change(&step.path, step.now.as_ref(), step.then.as_ref());
        let Err(source) = changed else { continue };
        let mut left = Vec::new();
        for (step, edit) in plan.files[..index].iter().zip(&edits).rev() {
            match places.change(&step.path, step.then.as_ref(), step.now.as_ref()) {
                Ok(()) => places.remove_folders(&edit.folders),
                Err(_) => left.push(step.path.clone()),
            }
        }
        if left.is_empty() {
            end(&mut file, &session.path(number), &Step::Void)?;
        }
        let path = step.path.clone();
        return Err(Error::Stopped { path, source, left });
    }
    places.remove_folders(&outermost_first(&plan.folders));
    end(&mut file, &session.path(number), &Step::Done)?;
    Ok(Made { copies, removed })
}

/// Brings a step that was interrupted to an end; what was done about it, in words. Errors: conflicts, which `force` leaves as they are.
pub(super) fn settle(
    session: &Session,
    places: Places<'_>,
    force: bool,
) -> Result<Option<String>, Error> {
    let history = History::read(session).map_err(|source| unreadable(session, source))?;
    let Some(entry) = history.interrupted() else {
        return Ok(None);
    };
    let path = session.path(entry.number);
    let options = OpenOptions::new().append(true).open(&path);
    let mut file = options.map_err(|source| unwritable(&path, source))?;
    // The end of a frame that was cut must not spoil the one that follows.
    file.set_len(entry.good as u64)
        .map_err(|source| unwritable(&path, source))?;
    if entry.damaged.is_none() && all_made(entry, places) {
        end(&mut file, &path, &Step::Done)?;
        return Ok(Some(format!(
            "{} was interrupted right at its end; it stands",
            title(entry)
        )));
    }
    let back = plan::plan(
        &history,
        entry,
        Kind::Undo { of: entry.number },
        title(entry),
        places,
    )?;
    if !back.conflicts.is_empty() && !force {
        return Err(Error::Conflicts(back.conflicts));
    }
    for file in back.files.iter().filter(|file| !file.forced) {
        places
            .change(&file.path, file.now.as_ref(), file.then.as_ref())
            .map_err(|source| Error::Stopped {
                path: file.path.clone(),
                source,
                left: Vec::new(),
            })?;
    }
    end(&mut file, &path, &Step::Void)?;
    Ok(Some(format!(
        "{} was interrupted; what it had changed was put back ({})",
        title(entry),
        text::counted(back.files.len() as u64, "file")
    )))
}

fn all_made(entry: &Entry, places: Places<'_>) -> bool {
    let made = |edit: &Edit<'_>| match places.look(&edit.path) {
        Ok(now) => {
            let has_mode = match (&now, edit.mode_after) {
                (Some(now), Some(mode)) => now.mode == mode,
                (Some(_) | None, _) => true,
            };
            has_mode && now.map(|content| digest(&content.bytes)) == edit.after
        }
        Err(_) => false,
    };
    entry.edits().all(made) && entry.edits().next().is_some()
}

/// Copies of the files that force goes over.
fn keep(session: &Session, number: u64, plan: &Plan) -> Result<Vec<PathBuf>, Error> {
    let mut copies = Vec::new();
    for (index, file) in plan.files.iter().filter(|file| file.forced).enumerate() {
        let Some(now) = &file.now else { continue };
        let path = session.kept(number, index, &file.path);
        let folder = path.parent().unwrap_or(Path::new("/"));
        let written = DirBuilder::new()
            .recursive(true)
            .mode(0o700)
            .create(folder)
            .and_then(|()| fs::symlink_metadata(folder))
            .and_then(|meta| match meta.is_dir() {
                true => new_file(&path),
                false => Err(io::Error::other("its folder is a link")),
            })
            .and_then(|mut copy| copy.write_all(&now.bytes).and_then(|()| copy.sync_all()));
        written.map_err(|source| unwritable(&path, source))?;
        session.count(0, now.bytes.len() as u64);
        sync_folder(folder);
        copies.push(path);
    }
    Ok(copies)
}

/// The entry with all its edits, on the disk.
fn begin(
    session: &Session,
    number: u64,
    kind: &Kind,
    edits: &[Edit<'_>],
    limit_bytes: u64,
) -> Result<(File, u64), Error> {
    let mut frames = vec![kind_frame(kind, &clock::rfc3339(SystemTime::now()))];
    frames.extend(edits.iter().map(edit_frame));
    // What this step takes back may have to go for it: it holds the same bytes.
    let need = frames.iter().map(Frame::len).sum();
    let removed = session.make_room(number, need, limit_bytes);
    session.count(0, need);
    let path = session.path(number);
    let mut file = match new_file(&path) {
        Ok(file) => file,
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => return Err(Error::WentOn),
        Err(source) => return Err(unwritable(&path, source)),
    };
    let mut written = frames.iter().map(|frame| frame.write(&mut file));
    if let Err(source) = written
        .try_for_each(|done| done)
        .and_then(|()| file.sync_data())
    {
        // Half an entry; the next one would have to take the same number.
        let _ = fs::remove_file(&path);
        return Err(unwritable(&path, source));
    }
    sync_folder(&session.folder);
    Ok((file, removed.entries))
}

fn end(file: &mut File, path: &Path, step: &Step<'_>) -> Result<(), Error> {
    let written = step_frame(step).write(file).and_then(|()| file.sync_data());
    written.map_err(|source| unwritable(path, source))
}

/// What takes this change back in turn.
fn edit<'a>(file: &'a FilePlan, root: &Path, whole_bytes: u64) -> Edit<'a> {
    let now = file.now.as_ref().map_or(&b""[..], |content| &content.bytes);
    let hash = |content: &Option<Content>| content.as_ref().map(|content| digest(&content.bytes));
    let mode = |content: &Option<Content>| content.as_ref().map(|content| content.mode);
    let mut edit = Edit {
        path: file.path.clone(),
        before: hash(&file.now),
        after: hash(&file.then),
        mode: mode(&file.now),
        mode_after: match (mode(&file.now), mode(&file.then)) {
            (Some(now), Some(then)) if now != then => Some(then),
            _ => None,
        },
        size: now.len() as u64,
        folders: Vec::new(),
        spans: Vec::new(),
        kept: Kept::Spans(Cow::default()),
    };
    match (&file.now, &file.then) {
        (None, _) => edit.folders = missing_folders(root, &file.path),
        (Some(_), Some(then)) if now.len() as u64 > whole_bytes && !file.forced => {
            let span = difference(now, &then.bytes);
            let start = span.offset as usize;
            edit.kept = Kept::Spans(now[start..start + span.old_len as usize].into());
            edit.spans = vec![span];
        }
        (Some(_), _) => edit.kept = Kept::Whole(now.into()),
    }
    edit
}

/// What lies between the common beginning and the common end.
fn difference(old: &[u8], new: &[u8]) -> Span {
    let same = |(a, b): &(&u8, &u8)| a == b;
    let start = old.iter().zip(new).take_while(same).count();
    let (rest, new_rest) = (&old[start..], &new[start..]);
    let end = rest.iter().rev().zip(new_rest.iter().rev());
    let end = end.take_while(same).count();
    Span {
        offset: start as u64,
        old_len: (rest.len() - end) as u64,
        new_len: (new_rest.len() - end) as u64,
    }
}

fn outermost_first(folders: &[PathBuf]) -> Vec<PathBuf> {
    let mut folders = folders.to_vec();
    sort::by_key(&mut folders, |folder| folder.components().count());
    folders.dedup();
    folders
}

pub(super) fn unreadable(session: &Session, source: io::Error) -> Error {
    Error::Io {
        what: "read the journal in",
        path: session.folder.clone(),
        source,
    }
}

pub(super) fn unwritable(path: &Path, source: io::Error) -> Error {
    Error::Io {
        what: "write the journal",
        path: path.to_path_buf(),
        source,
    }
}
