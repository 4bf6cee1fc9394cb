//! Where the journal lies: a folder for each workspace, in it one for each session, in it a file for each entry. `journal.rs` writes a
//! session that runs, `past.rs` reads one and steps back and forth in it.
//!
//! ```text
//! ~/.local/state/zcoder/undo/
//!   room                                     650⏎.....  how much may come, and what came, before all are looked at again
//!   app-3f0c9a41b2d8e675/                    the folder's name and the beginning of the SHA-256 of its full path
//!     20260821-090000123-x1y2z3a4/           the session's id; sorts by time
//!       session                              {"id":…,"workspace":"/home/me/app","started":…}; its lock is the session's
//!       000001  000002                       entries (entry.rs), numbered as they came
//!       kept/000002-a.rs                     what a forced undo wrote over
//! ```
//!
//! Folders are 0700, files 0600. Nothing is made before the first edit of a session.
//!
//! Limits ([`Limits`]): bytes of a session, its oldest entries go first; bytes and sessions in all, the oldest sessions go first, but
//! never one that is at work. An entry counts as at least 4 KiB, which it takes on the disk. To look at all sessions costs more the more
//! there are, so it is done when the limits could be near: `room` says how many sessions, or MiB, were free when it was done last, and each
//! entry and each MiB of one leaves a byte behind it. Where `room` is missing or nonsense, all are looked at.
//!
//! Invariant: the entry that is being written is never removed, nor anything that does not have a name of ours.

use super::entry::Entry;
use crate::json::Writer;
use crate::sha256::{digest, hex};
use crate::sort;
use crate::sys::dir::names;
use crate::sys::{clock, file};
use std::ffi::OsStr;
use std::fs::{self, DirBuilder, File, OpenOptions};
use std::io::{self, ErrorKind, Read, Write};
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt};
use std::path::{Path, PathBuf};
use std::time::SystemTime;

/// What the journals may take.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// Of one session, and so of one turn.
    pub session_bytes: u64,
    /// Of all sessions of all workspaces.
    pub all_bytes: u64,
    /// Sessions of all workspaces.
    pub sessions: usize,
    /// Files up to here are kept whole once a turn.
    pub whole_bytes: u64,
}

/// 256 MiB (a rewrite of 200 files of 1 MiB fits), 1 GiB, 1,000 sessions, 1 MiB.
impl Default for Limits {
    fn default() -> Limits {
        Limits {
            session_bytes: 256 << 20,
            all_bytes: 1 << 30,
            sessions: 1_000,
            whole_bytes: 1 << 20,
        }
    }
}

/// Of an entry that is read: a step back holds as much as what it takes back, and a frame more.
const MAX_ENTRY_BYTES: u64 = 1 << 30;
/// What a small file takes on most disks.
const BLOCK_BYTES: u64 = 4 << 10;
/// What a byte in `room` stands for, at most.
const UNIT_BYTES: u64 = 1 << 20;
/// Of `room`, as far as it is read: more room than this is never said.
const MAX_ROOM_BYTES: u64 = 16 << 10;
/// Characters of the workspace's name in that of its folder.
const NAME_CHARS: usize = 40;

/// The journal of one workspace.
#[derive(Clone, Debug)]
pub struct Store {
    all: PathBuf,
    folder: PathBuf,
    root: PathBuf,
    limits: Limits,
}

/// The folder of one session. It need not exist yet.
#[derive(Clone, Debug)]
pub(super) struct Session {
    pub(super) folder: PathBuf,
    pub(super) id: String,
}

/// While it lives, no other process writes to the session.
#[derive(Debug)]
pub(super) struct Lock {
    /// `None`: the file system has no locks.
    _locked: Option<file::Locked>,
}

/// What was removed to keep within the limits.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Removed {
    pub(super) entries: u64,
    pub(super) sessions: u64,
}

impl Store {
    /// `state`: our state folder. `root`: the workspace, canonical. Touches nothing.
    pub fn new(state: &Path, root: &Path) -> Store {
        let all = state.join("undo");
        let name = root.file_name().unwrap_or(OsStr::new("root"));
        let plain = |c: char| match c.is_ascii_alphanumeric() || "._-".contains(c) {
            true => c,
            false => '_',
        };
        let name = name.to_string_lossy();
        let name: String = name.chars().take(NAME_CHARS).map(plain).collect();
        let hash = hex(&digest(root.as_os_str().as_bytes()));
        Store {
            folder: all.join(format!("{name}-{}", &hash[..16])),
            all,
            root: root.to_path_buf(),
            limits: Limits::default(),
        }
    }

    /// With other limits.
    pub fn with_limits(self, limits: Limits) -> Store {
        Store { limits, ..self }
    }

    /// Its limits.
    pub fn limits(&self) -> Limits {
        self.limits
    }

    /// The workspace.
    pub fn root(&self) -> &Path {
        &self.root
    }

    /// Ids of the sessions that have entries, newest first.
    pub fn sessions(&self) -> io::Result<Vec<String>> {
        let mut ids = names(&self.folder)?;
        ids.retain(|id| matches!(self.session(id).numbers(), Ok(numbers) if !numbers.is_empty()));
        sort::by(&mut ids, |a, b| b.cmp(a));
        Ok(ids)
    }

    /// Removes the journal of a session, if there is one.
    pub fn forget(&self, id: &str) -> io::Result<()> {
        let session = self.session(id);
        match session.lock() {
            Ok(Some(_)) => fs::remove_dir_all(&session.folder),
            Ok(None) => Err(ErrorKind::ResourceBusy.into()),
            Err(error) if error.kind() == ErrorKind::NotFound => Ok(()),
            Err(error) => Err(error),
        }
    }

    pub(super) fn session(&self, id: &str) -> Session {
        Session {
            folder: self.folder.join(id),
            id: id.to_string(),
        }
    }

    /// Makes the folder of a session, so that a power cut does not take it away again.
    pub(super) fn create(&self, session: &Session) -> io::Result<()> {
        let path = session.folder.join("session");
        if fs::symlink_metadata(&path).is_ok() {
            return Ok(());
        }
        let above: Vec<&Path> = session.folder.ancestors().collect();
        let missing = above.iter().take_while(|folder| !folder.exists()).count();
        DirBuilder::new()
            .recursive(true)
            .mode(0o700)
            .create(&session.folder)?;
        let mut json = Writer::new();
        json.begin_object().key("id").string(&session.id);
        let root = self.root.to_string_lossy();
        json.key("workspace").string(&root);
        let started = clock::rfc3339(SystemTime::now());
        json.key("started").string(&started).end_object();
        let mut bytes = json.finish();
        bytes.push(b'\n');
        let mut file = new_file(&path)?;
        file.write_all(&bytes)?;
        file.sync_all()?;
        for folder in &above[..(missing + 1).min(above.len())] {
            file::sync_folder(folder);
        }
        Ok(())
    }

    /// Removes the oldest sessions, if it must, so that the others keep within the limits with one that is new. `own` stays.
    pub(super) fn make_room(&self, own: &Session) -> Removed {
        match self.has_room() {
            true => Removed::default(),
            false => self.sweep(own),
        }
    }

    /// Whether less has come since the last sweep than there was room for.
    fn has_room(&self) -> bool {
        let mut bytes = Vec::new();
        let read = file::open_regular(&self.all.join("room"));
        let read = read.and_then(|file| file.take(MAX_ROOM_BYTES).read_to_end(&mut bytes));
        let line = bytes.iter().position(|byte| *byte == b'\n');
        let (Ok(_), Some(line)) = (read, line) else {
            return false;
        };
        let room = std::str::from_utf8(&bytes[..line]);
        let room = room.ok().and_then(|room| room.parse::<usize>().ok());
        room.is_some_and(|room| bytes.len() - line - 1 <= room)
    }

    /// Looks at all sessions.
    fn sweep(&self, own: &Session) -> Removed {
        let mut sessions = Vec::new();
        // What cannot be read is not counted: there is nothing else to be done about it here.
        for workspace in names(&self.all).unwrap_or_default() {
            let folder = self.all.join(&workspace);
            for id in names(&folder).unwrap_or_default() {
                let session = Session {
                    folder: folder.join(&id),
                    id,
                };
                let bytes = session.bytes();
                sessions.push((session, bytes));
            }
        }
        sort::by(&mut sessions, |a, b| a.0.id.cmp(&b.0.id));
        let mut bytes: u64 = sessions.iter().map(|(_, bytes)| bytes).sum();
        let mut count = sessions.len() + 1;
        let mut removed = Removed::default();
        for (session, size) in &sessions {
            if bytes <= self.limits.all_bytes && count <= self.limits.sessions {
                break;
            }
            let at_work = session.folder == own.folder || !matches!(session.lock(), Ok(Some(_)));
            if at_work || fs::remove_dir_all(&session.folder).is_err() {
                continue;
            }
            bytes -= size;
            count -= 1;
            removed.sessions += 1;
            if let Some(workspace) = session.folder.parent() {
                // Only an empty one goes.
                let _ = fs::remove_dir(workspace);
            }
        }
        let bytes = self.limits.all_bytes.saturating_sub(bytes) / (UNIT_BYTES + BLOCK_BYTES);
        let room = bytes.min(self.limits.sessions.saturating_sub(count) as u64);
        let room = room.min(MAX_ROOM_BYTES / 2);
        // If it cannot be written, the next session looks again.
        let path = self.all.join("room");
        let _ = fs::remove_file(&path);
        let _ = new_file(&path).and_then(|mut file| file.write_all(format!("{room}\n").as_bytes()));
        removed
    }
}

impl Session {
    /// Numbers of its entries, ascending; none if there is no such session.
    pub(super) fn numbers(&self) -> io::Result<Vec<u64>> {
        let number = |name: &String| {
            let number: u64 = name.parse().ok()?;
            (entry_name(number) == *name).then_some(number)
        };
        let mut numbers: Vec<u64> = names(&self.folder)?.iter().filter_map(number).collect();
        sort::by(&mut numbers, Ord::cmp);
        Ok(numbers)
    }

    /// Notes that an entry grows from so many bytes to so many, before it does.
    pub(super) fn count(&self, before: u64, after: u64) {
        let units = after.div_ceil(UNIT_BYTES) - before.div_ceil(UNIT_BYTES);
        if let (1.., Some(all)) = (units, self.folder.ancestors().nth(2)) {
            let room = all.join("room");
            let file = OpenOptions::new().append(true).open(&room);
            let bytes = vec![b'.'; usize::try_from(units).unwrap_or(0)];
            let counted = file.and_then(|mut file| file.write_all(&bytes));
            if counted.is_err() {
                // Without it all are looked at.
                let _ = fs::remove_file(&room);
            }
        }
    }

    /// Where an entry lies.
    pub(super) fn path(&self, number: u64) -> PathBuf {
        self.folder.join(entry_name(number))
    }

    /// Where a forced undo keeps what it writes over.
    pub(super) fn kept(&self, number: u64, index: usize, path: &Path) -> PathBuf {
        let name = path.file_name().unwrap_or(OsStr::new("file"));
        let mut kept = entry_name(number);
        if index > 0 {
            kept.push_str(&format!(".{index}"));
        }
        let mut kept = std::ffi::OsString::from(kept + "-");
        kept.push(name);
        // A name of 255 bytes has no room for ours before it.
        let kept = &kept.as_bytes()[..kept.len().min(255)];
        self.folder.join("kept").join(OsStr::from_bytes(kept))
    }

    /// An entry; `None` when it is damaged from the beginning.
    pub(super) fn read(&self, number: u64) -> io::Result<Option<Entry>> {
        let mut bytes = Vec::new();
        let file = file::open_regular(&self.path(number))?;
        file.take(MAX_ENTRY_BYTES).read_to_end(&mut bytes)?;
        Ok(Entry::read(number, &bytes))
    }

    /// Takes the lock; `None`: another process has it.
    pub(super) fn lock(&self) -> io::Result<Option<Lock>> {
        let file = file::open_regular(&self.folder.join("session"))?;
        match file::Locked::take(file) {
            Ok(Some(locked)) => Ok(Some(Lock {
                _locked: Some(locked),
            })),
            Ok(None) => Ok(None),
            // Without locks on this file system the hashes alone have to keep us from harm.
            Err(_) => Ok(Some(Lock { _locked: None })),
        }
    }

    /// What it takes on the disk.
    pub(super) fn bytes(&self) -> u64 {
        let size = |folder: &Path, name: &String| {
            let meta = fs::symlink_metadata(folder.join(name));
            meta.map_or(0, |meta| meta.len().max(BLOCK_BYTES))
        };
        let sum = |folder: &Path| -> u64 {
            let names = names(folder).unwrap_or_default();
            names.iter().map(|name| size(folder, name)).sum()
        };
        sum(&self.folder) + sum(&self.folder.join("kept"))
    }

    /// Removes its oldest entries, but never `own`, until it keeps within `limit_bytes` with `need` bytes more. One that does not exist
    /// yet needs a block at least.
    pub(super) fn make_room(&self, own: u64, need: u64, limit_bytes: u64) -> Removed {
        let mut removed = Removed::default();
        let need = match fs::symlink_metadata(self.path(own)) {
            Ok(_) => need,
            Err(_) => need.max(BLOCK_BYTES),
        };
        let mut bytes = self.bytes().saturating_add(need);
        for number in self.numbers().unwrap_or_default() {
            if bytes <= limit_bytes || number == own {
                break;
            }
            let path = self.path(number);
            let size = fs::symlink_metadata(&path).map_or(0, |meta| meta.len().max(BLOCK_BYTES));
            if fs::remove_file(&path).is_ok() {
                bytes = bytes.saturating_sub(size);
                removed.entries += 1;
            }
        }
        removed
    }
}

/// `000012`; sorts as the numbers do up to a million.
fn entry_name(number: u64) -> String {
    format!("{number:06}")
}

/// A file of ours that must not exist yet, to append to.
pub(super) fn new_file(path: &Path) -> io::Result<File> {
    let mut options = OpenOptions::new();
    options.append(true).create_new(true).mode(0o600);
    options.open(path)
}
