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
use super::disk::Disk;
use super::log::Log;
use super::record::Header;
use crate::policy::Profile;
use crate::sha256::{digest, hex};
use crate::sys::clock;
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
}
