//! The commit: records that were appended since the last one go to the disk, all of them or none, in an order of calls that leaves a whole
//! session behind wherever the power is cut. `log.rs` calls it.
//!
//! ```text
//! a session that is there                              a new one
//!   flock lock, wait ≤ 2 s                               mkdir    .new-ID, .new-ID/output
//!   lock is still the file at that path                  write    .new-ID/log-1.jsonl        fsync
//!   current is byte for byte the pointer we loaded       create   .new-ID/lock               (empty: its name is all)
//!   log-N.jsonl   cut to its committed length            write    .new-ID/current            fsync
//!                 append, fdatasync                      fsync    .new-ID
//!   current.new   write, fsync                           rename   .new-ID → ID               ◀─ committed
//!                 rename → current  ◀─ committed         fsync    the folder above
//!   fsync the folder
//! ```
//!
//! Why each step: the tail behind the committed length is what a crash left of another commit. The bytes are safe before a pointer names
//! them, and the pointer's bytes before it gets the name: a file system may make a rename safe before the data. The folder is synced last,
//! so that what was promised stays promised. A log that is not the one `current` names (after damage) is synced, and its name too, before
//! a pointer names it. Whoever did any of this may have been killed before the last sync: so a session is opened after its folder and the
//! one above it are synced, and a new one begins with a sync of the two folders that name its own.
//!
//! After the rename the generation is ours whatever the last sync says: its error is returned, and the next commit repeats the sync.
//!
//! Refused ([`CommitError`]): a lock that somebody holds; a session that is not as we left it. Nothing is written then.
//!
//! Invariant: nothing before the committed length of a log is ever written or cut.
//! Invariant: `prev` of the next record is always the hash in `current`.
//! Invariant: the cost is that of the bytes added: no part of the log is read, but for its last record where somebody else has touched it.
//!
//! Read next: `view.rs`, the way back.

use super::disk::{Disk, OpenFile};
use super::error::{CommitError, Conflict};
use super::line::{self, Envelope, MAX_LINE_BYTES};
use super::lock::{self, refused, refused_ours};
use super::pointer::{self, Pointer, log_name};
use super::record::{Hash, Record};
use crate::sha256::{Sha256, digest};
use crate::sys::file::Identity;
use std::io::{self, ErrorKind};
use std::path::{Path, PathBuf};
use std::time::SystemTime;

/// Lines are handed to the disk in pieces of about this size.
const PIECE_BYTES: usize = 128 << 10;

/// Records with their numbers and times.
#[derive(Clone, Copy)]
pub(super) struct Unsaved<'a> {
    /// Number of the first.
    pub(super) first: u64,
    pub(super) records: &'a [Record],
    pub(super) times: &'a [SystemTime],
}

/// Where a session lies, and how we left it.
#[derive(Debug)]
pub(super) struct Place {
    disk: Disk,
    folder: PathBuf,
    /// The bytes in `current`; `None`: there was none.
    found: Option<Vec<u8>>,
    /// What they say, or what is taken for it where they say nothing.
    pointer: Pointer,
    /// The log as our last commit left it; `None`: it was loaded.
    left: Option<Identity>,
    /// Bytes of the last record's line, with its LF.
    last_bytes: u64,
    /// The log is damaged: the next commit opens this one.
    next_log: Option<u64>,
    /// A folder whose sync failed.
    unsynced: Option<PathBuf>,
}

/// The end of what was appended.
struct End {
    length: u64,
    hash: Hash,
    last_bytes: u64,
}

/// Builds a new session whole and gives it its name. `above` is the folder of the workspace.
pub(super) fn create(
    disk: &Disk,
    above: &Path,
    id: &str,
    unsaved: Unsaved<'_>,
) -> Result<Place, CommitError> {
    let building = above.join(format!(".new-{id}"));
    let built = build(disk, above, &building, id, unsaved);
    if built.is_err() {
        // It would only take room that is missing.
        let _ = disk.remove_all(&building);
    }
    built
}

fn build(
    disk: &Disk,
    above: &Path,
    building: &Path,
    id: &str,
    unsaved: Unsaved<'_>,
) -> Result<Place, CommitError> {
    let io = |what: &'static str, path: &Path| {
        let path = path.to_path_buf();
        move |error| CommitError::Io { what, path, error }
    };
    disk.make_folders(above).map_err(io("make", above))?;
    // What an attempt before this one has left.
    if building.exists() {
        disk.remove_all(building).map_err(io("empty", building))?;
    }
    let folders = [building.to_path_buf(), building.join("output")];
    for folder in &folders {
        disk.make_folder(folder).map_err(io("make", folder))?;
    }
    let path = building.join(log_name(1));
    let log = disk.create_new(&path).map_err(io("make", &path))?;
    let end = append(&log, 0, [0; 32], unsaved)?;
    log.sync_file().map_err(io("sync", &path))?;
    let path = building.join("lock");
    disk.create_new(&path).map_err(io("make", &path))?;
    let pointer = Pointer {
        generation: 1,
        log: 1,
        length: end.length,
        hash: end.hash,
    };
    let path = building.join("current");
    let file = disk.create_new(&path).map_err(io("make", &path))?;
    let line = pointer.line() + "\n";
    file.write_at(0, line.as_bytes())
        .map_err(io("write", &path))?;
    file.sync_file().map_err(io("sync", &path))?;
    disk.sync_folder(building).map_err(io("sync", building))?;
    let folder = above.join(id);
    disk.rename(building, &folder)
        .map_err(io("name", &folder))?;
    Ok(Place {
        disk: disk.clone(),
        folder,
        found: Some(line.into_bytes()),
        pointer,
        left: log.identity().ok(),
        last_bytes: end.last_bytes,
        next_log: None,
        unsynced: Some(above.to_path_buf()),
    })
}

impl Place {
    /// A session that was read. `found`: the bytes in `current`. `next_log`: the number of the log that the next commit opens, if the
    /// one that the pointer names is damaged.
    pub(super) fn loaded(
        disk: &Disk,
        folder: &Path,
        found: Option<Vec<u8>>,
        pointer: Pointer,
        last_bytes: u64,
        next_log: Option<u64>,
    ) -> Place {
        Place {
            disk: disk.clone(),
            folder: folder.to_path_buf(),
            found,
            pointer,
            left: None,
            last_bytes,
            next_log,
            unsynced: None,
        }
    }

    /// What a session beside this one needs.
    pub(super) fn beside(&self) -> (Disk, PathBuf) {
        let above = self.folder.parent().unwrap_or(Path::new("."));
        (self.disk.clone(), above.to_path_buf())
    }

    /// The folder of the session.
    pub(super) fn folder(&self) -> &Path {
        &self.folder
    }

    /// What is committed.
    pub(super) fn pointer(&self) -> Pointer {
        self.pointer
    }

    /// Commits. An error after which `pointer` has changed is one of the last sync alone.
    pub(super) fn commit(&mut self, unsaved: Unsaved<'_>) -> Result<(), CommitError> {
        let _guard = lock::take(&self.disk, &self.folder)?;
        self.refuse_moved()?;
        let (log, number, start) = self.log()?;
        let end = append(&log, start, self.pointer.hash, unsaved)?;
        let path = log.path();
        let synced = log.sync_data();
        synced.map_err(|error| refused("sync", path, error))?;
        if self.next_log.is_some() {
            self.sync_folder(&self.folder)?;
        }
        let pointer = Pointer {
            generation: self.pointer.generation + 1,
            log: number,
            length: end.length,
            hash: end.hash,
        };
        let line = (pointer.line() + "\n").into_bytes();
        self.publish(&line)?;
        self.found = Some(line);
        self.pointer = pointer;
        self.left = log.identity().ok();
        self.last_bytes = end.last_bytes;
        self.next_log = None;
        self.unsynced = Some(self.folder.clone());
        Ok(())
    }

    /// The last step of a commit; does nothing once it has succeeded.
    pub(super) fn sync_again(&mut self) -> Result<(), CommitError> {
        if let Some(folder) = &self.unsynced {
            self.sync_folder(folder)?;
            self.unsynced = None;
            self.disk.committed(&self.folder, self.pointer.generation);
        }
        Ok(())
    }

    fn sync_folder(&self, folder: &Path) -> Result<(), CommitError> {
        let synced = self.disk.sync_folder(folder);
        synced.map_err(|error| refused("sync", folder, error))
    }

    fn refuse_moved(&self) -> Result<(), CommitError> {
        let path = self.folder.join("current");
        // A pointer was there or was not; either must still be so.
        let now = match self.disk.read(&path, pointer::MAX_BYTES) {
            Ok(bytes) => Some(bytes),
            Err(error) if error.kind() == ErrorKind::NotFound && self.found.is_none() => None,
            Err(error) => return Err(refused_ours("read", &path, error)),
        };
        if now == self.found {
            return Ok(());
        }
        Err(CommitError::Conflict(Conflict::Moved {
            found: now.as_deref().and_then(Pointer::parse),
            ours: self.pointer,
        }))
    }

    /// The log to append to, its number, and where.
    fn log(&self) -> Result<(OpenFile, u64, u64), CommitError> {
        if let Some(number) = self.next_log {
            let path = self.folder.join(log_name(number));
            let log = self.disk.create(&path);
            let log = log.map_err(|error| refused("make", &path, error))?;
            return Ok((log, number, 0));
        }
        let Pointer {
            log: number,
            length,
            hash,
            ..
        } = self.pointer;
        let path = self.folder.join(log_name(number));
        let opened = self.disk.open(&path);
        let (log, now) = opened.map_err(|error| refused_ours("open", &path, error))?;
        let last = match self.left == Some(now) {
            true => Ok(hash),
            false => self.last_hash(&log, now.size),
        };
        if last.map_err(|error| refused("read", &path, error))? != hash {
            return Err(CommitError::Conflict(Conflict::Replaced { path }));
        }
        if now.size > length {
            let cut = log.truncate(length);
            cut.map_err(|error| refused("cut", &path, error))?;
        }
        Ok((log, number, length))
    }

    /// Of the last committed record as it stands in the log now; of nothing if the log is too short to hold it.
    fn last_hash(&self, log: &OpenFile, size: u64) -> io::Result<Hash> {
        let length = self.pointer.length;
        let mut line = Vec::new();
        if size >= length {
            line.resize(usize::try_from(self.last_bytes).unwrap_or(0), 0);
            log.read_at(length - self.last_bytes, &mut line)?;
            line.pop();
        }
        Ok(digest(&line))
    }

    fn publish(&self, line: &[u8]) -> Result<(), CommitError> {
        let (new, current) = (self.folder.join("current.new"), self.folder.join("current"));
        let written = || {
            let file = self.disk.create(&new)?;
            file.write_at(0, line)?;
            file.sync_file()
        };
        if let Err(error) = written() {
            // It would only take room that is missing.
            let _ = self.disk.remove(&new);
            // What stands in the way of a new name is no other session.
            return Err(match error.raw_os_error() {
                Some(_) => refused("write", &new, error),
                None => CommitError::Io {
                    what: "write",
                    path: new,
                    error,
                },
            });
        }
        match self.disk.rename(&new, &current) {
            Ok(()) => Ok(()),
            // The answer got lost on the way from a server: what is there counts.
            Err(_)
                if self
                    .disk
                    .read(&current, pointer::MAX_BYTES)
                    .is_ok_and(|now| now == line) =>
            {
                Ok(())
            }
            Err(error) => Err(refused("replace", &current, error)),
        }
    }
}

/// Appends the records as lines from `offset` on. Of a long line no more than a piece is held.
fn append(
    log: &OpenFile,
    offset: u64,
    mut prev: Hash,
    unsaved: Unsaved<'_>,
) -> Result<End, CommitError> {
    let mut out = Vec::new();
    let mut pieces = Pieces {
        log,
        offset,
        hash: Sha256::new(),
        line_start: 0,
        line_bytes: 0,
        failed: None,
    };
    let timed = unsaved.records.iter().zip(unsaved.times);
    for (seq, (record, at)) in (unsaved.first..).zip(timed) {
        let envelope = Envelope { seq, prev, at: *at };
        (pieces.line_start, pieces.line_bytes) = (out.len(), 0);
        line::write_through(&mut out, &envelope, record, &mut |out| pieces.drain(out));
        pieces.hash_held(&out);
        if pieces.line_bytes > MAX_LINE_BYTES {
            let bytes = pieces.line_bytes;
            return Err(CommitError::TooLong { seq, bytes });
        }
        prev = std::mem::take(&mut pieces.hash).finish();
        out.push(b'\n');
    }
    pieces.write(&mut out);
    match pieces.failed {
        Some(error) => Err(error),
        None => Ok(End {
            length: pieces.offset,
            hash: prev,
            last_bytes: pieces.line_bytes as u64 + 1,
        }),
    }
}

/// Lines on their way to the log.
struct Pieces<'l> {
    log: &'l OpenFile,
    offset: u64,
    /// Of the line that is being written, as far as it was drained.
    hash: Sha256,
    /// Where the rest of that line begins in what is held.
    line_start: usize,
    line_bytes: usize,
    /// The first error; nothing is written after it.
    failed: Option<CommitError>,
}

impl Pieces<'_> {
    fn drain(&mut self, out: &mut Vec<u8>) {
        if out.len() >= PIECE_BYTES {
            self.hash_held(out);
            self.write(out);
        }
    }

    /// What is held of the line.
    fn hash_held(&mut self, out: &[u8]) {
        self.hash.feed(&out[self.line_start..]);
        self.line_bytes += out.len() - self.line_start;
        self.line_start = out.len();
    }

    fn write(&mut self, out: &mut Vec<u8>) {
        if self.failed.is_none() {
            let written = self.log.write_at(self.offset, out);
            let written = written.map_err(|error| refused("write", self.log.path(), error));
            self.failed = written.err();
        }
        self.offset += out.len() as u64;
        self.line_start = 0;
        out.clear();
    }
}
