//! Where sessions lie: a folder for each workspace, in it one for each session.
//!
//! ```text
//! ~/.local/state/zcoder/sessions/
//!   app-3f0c9a41b2d8e675/                    as undo names it: the folder's name, the beginning of the SHA-256 of its full path
//!     20260821-090000123-x1y2z3a4/           the session's id; sorts by time
//!     .new-20260821-…/                       one that is being built, or was when the power went
//! ```
//!
//! Invariant: nothing is made before the first commit of a session.
//!
//! Read next: `commit.rs`.

use super::SessionId;
use super::back::Back;
use super::disk::Disk;
use super::error::CommitError;
use super::forward::{Forward, Passed};
use super::line::MAX_LINE_BYTES;
use super::list::{self, Listed};
use super::lock;
use super::log::{self, Log};
use super::notice::OpenError;
use super::open::{self, Opened};
use super::record::{Header, Record};
use super::request::Request;
use super::tail::Tail;
use crate::policy::Profile;
use crate::sha256::{digest, hex};
use crate::sort;
use crate::sys::clock;
use crate::sys::dir::names;
use crate::text;
use std::ffi::OsStr;
use std::io;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

/// Characters of the workspace's name in that of its folder.
const NAME_CHARS: usize = 40;

/// The sessions of one workspace.
#[derive(Clone, Debug)]
pub struct Store {
    disk: Disk,
    folder: PathBuf,
    root: PathBuf,
}

impl Store {
    /// `state`: our state folder. `root`: the workspace, canonical. Touches nothing.
    pub fn new(state: &Path, root: &Path) -> Store {
        let name = root.file_name().unwrap_or(OsStr::new("root"));
        let plain = |c: char| match c.is_ascii_alphanumeric() || "._-".contains(c) {
            true => c,
            false => '_',
        };
        let name = name.to_string_lossy();
        let name: String = name.chars().take(NAME_CHARS).map(plain).collect();
        let hash = hex(&digest(root.as_os_str().as_bytes()));
        let folder = format!("{name}-{}", &hash[..16]);
        Store {
            disk: Disk::default(),
            folder: state.join("sessions").join(folder),
            root: root.to_path_buf(),
        }
    }

    /// The sessions of each workspace that has some, to be read.
    pub fn everywhere(state: &Path) -> io::Result<Vec<Store>> {
        let all = state.join("sessions");
        let mut names = names(&all)?;
        sort::by(&mut names, |a, b| a.cmp(b));
        let store = |name: String| Store {
            disk: Disk::default(),
            folder: all.join(name),
            root: PathBuf::new(),
        };
        let stores = names.into_iter().map(store);
        Ok(stores.filter(|store| store.folder.is_dir()).collect())
    }

    /// Through this disk.
    pub fn with_disk(self, disk: Disk) -> Store {
        Store { disk, ..self }
    }

    /// The folder with all of them; it need not exist yet.
    pub fn folder(&self) -> &Path {
        &self.folder
    }

    /// A new session, whose header is its first record. Its first commit makes it; until then nothing is on the disk. Fails only when
    /// the system gives no randomness.
    pub fn begin(&self, profile: Profile) -> io::Result<Log> {
        let born = clock::whole_millis(SystemTime::now());
        let header = Header {
            id: SessionId::new(born)?,
            workspace: self.root.to_string_lossy().into_owned(),
            profile,
            version: env!("CARGO_PKG_VERSION").to_string(),
            born,
            origin: None,
        };
        Ok(Log::new(self.disk.clone(), self.folder.clone(), header))
    }

    /// A session to go on with, read whole.
    pub fn open(&self, id: &SessionId) -> Result<Opened, OpenError> {
        open::open(&self.disk, &self.path(id)?, id.clone())
    }

    /// The end of a session, to be shown.
    pub fn tail(&self, id: &SessionId) -> Result<Tail, OpenError> {
        let folder = self.path(id)?;
        let back = Back::begin(&self.disk, &folder, MAX_LINE_BYTES);
        Ok(Tail::new(back.map_err(|error| {
            OpenError::of("read", &folder, id, error)
        })?))
    }

    /// All of a session from its beginning, to be checked, told or copied.
    pub fn forward(&self, id: &SessionId) -> Result<Forward, OpenError> {
        let folder = self.path(id)?;
        Forward::begin(&self.disk, &folder)
            .map_err(|error| OpenError::of("read", &folder, id, error))
    }

    /// A new session that begins as another one did, up to the record `until`, or whole. Its first commit makes it. A call without a
    /// result at its end gets one, as in a session that is opened.
    pub fn fork(&self, id: &SessionId, until: Option<u64>) -> Result<Opened, OpenError> {
        let folder = self.path(id)?;
        let failed = |error| OpenError::of("read", &folder, id, error);
        let mut back = Back::begin(&self.disk, &folder, MAX_LINE_BYTES).map_err(failed)?;
        let mut loaded = open::load(&mut back, &folder, id)?;
        if let Some(until) = until {
            let length = usize::try_from(until)
                .unwrap_or(usize::MAX)
                .saturating_add(1);
            loaded.records.truncate(length);
            loaded.times.truncate(length);
        }
        let header = log::forked(id, &loaded.records).map_err(failed)?;
        let mut log = Log::new(self.disk.clone(), self.folder.clone(), header);
        log.take(loaded.records, loaded.times);
        for result in open::unanswered(log.records()) {
            log.append(Record::Message(result));
        }
        Ok(Opened {
            log,
            notices: loaded.notices,
            interrupted: None,
        })
    }

    /// A new session that begins as another one did before this request of it.
    pub fn before(&self, id: &SessionId, request: &Request) -> Result<Opened, OpenError> {
        let mut opened = self.fork(id, Some(request.before))?;
        request.settle(&mut opened.log);
        Ok(opened)
    }

    /// Gives a session another title.
    pub fn rename(&self, id: &SessionId, title: &str) -> Result<(), OpenError> {
        let mut log = self.open(id)?.log;
        let text = text::line(title).trim().to_string();
        log.append(Record::Title { text });
        log.commit().map_err(OpenError::Commit)
    }

    /// Whether another zcoder, or another log of this one, has a session open; false where the file system has no locks.
    pub fn is_open(&self, id: &SessionId) -> bool {
        self.path(id).is_ok_and(|folder| lock::is_present(&folder))
    }

    /// Removes a session with all that belongs to it. Another zcoder that has it open gets a conflict.
    pub fn delete(&self, id: &SessionId) -> Result<(), OpenError> {
        let folder = self.path(id)?;
        let failed = |error| OpenError::of("remove", &folder, id, error);
        // What is damaged can be removed without a lock.
        let _guard = match lock::take(&self.disk, &folder) {
            Err(error @ (CommitError::Busy { .. } | CommitError::Owned { .. })) => {
                return Err(OpenError::Commit(error));
            }
            taken => taken,
        };
        // The name goes at once; what a kill leaves of the rest is swept later.
        let gone = self.folder.join(format!(".old-{}", id.0));
        self.disk.rename(&folder, &gone).map_err(failed)?;
        self.disk.sync_folder(&self.folder).map_err(failed)?;
        self.disk.remove_all(&gone).map_err(failed)
    }

    /// Removes what kills have left of sessions that were being made or deleted, if it is older than `before`. Returns how many.
    pub fn sweep(&self, before: SystemTime) -> io::Result<usize> {
        let mut swept = 0;
        for name in names(&self.folder)? {
            let left = name.starts_with(".new-") || name.starts_with(".old-");
            let path = self.folder.join(&name);
            let changed = std::fs::symlink_metadata(&path).and_then(|meta| meta.modified());
            if left && changed.is_ok_and(|changed| changed < before) {
                self.disk.remove_all(&path)?;
                swept += 1;
            }
        }
        Ok(swept)
    }

    /// The sessions, the one that was at work last first.
    pub fn list(&self) -> io::Result<Vec<Listed>> {
        list::list(&self.disk, &self.folder)
    }

    /// Their ids, the oldest first.
    pub fn ids(&self) -> io::Result<Vec<SessionId>> {
        let mut names = names(&self.folder)?;
        names.retain(|name| list::is_id(name) && self.folder.join(name).is_dir());
        sort::by(&mut names, |a, b| a.cmp(b));
        Ok(names.into_iter().map(SessionId).collect())
    }

    /// The one session of all other workspaces whose id begins so, and its workspace.
    pub fn elsewhere(&self, beginning: &str) -> Option<(SessionId, String)> {
        let all = self.folder.parent().filter(|_| !beginning.is_empty())?;
        let mut found = None;
        for name in names(all).ok()? {
            let folder = all.join(name);
            if folder == self.folder {
                continue;
            }
            // A file beside the folders has no names in it.
            for id in names(&folder).unwrap_or_default() {
                if !id.starts_with(beginning) || id.starts_with('.') {
                    continue;
                }
                if found.replace((folder.join(&id), SessionId(id))).is_some() {
                    return None;
                }
            }
        }
        let (folder, id) = found?;
        match Forward::begin(&self.disk, &folder).ok()?.next() {
            Ok(Some(Passed::Record(entry))) => match entry.record {
                Record::Session(header) => Some((id, header.workspace)),
                _ => None,
            },
            _ => None,
        }
    }

    /// Where a session lies; an id that is no plain name is none.
    fn path(&self, id: &SessionId) -> Result<PathBuf, OpenError> {
        match list::is_id(&id.0) {
            true => Ok(self.folder.join(&id.0)),
            false => Err(OpenError::None { id: id.clone() }),
        }
    }
}
