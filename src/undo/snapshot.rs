//! What a command changed: the files of the workspace before it and after it, by what `stat` says of them. The engine takes one around each
//! command, on the command's own thread.
//!
//! ```text
//! before   src/a.rs 812 bytes 09:00:00.1   x.log 0 bytes
//! after    src/a.rs 820 bytes 09:00:07.3                    new.o 96 bytes
//! changed  new.o, src/a.rs, x.log                           there is no before-image of them
//! ```
//!
//! Hidden files count, what the ignore rules leave out does not (a build's output is no loss), nor do links and `.git`.
//!
//! Limits: [`MAX_ENTRIES`] files and [`MAX_TIME`] for each look; beyond, nothing was looked at, and that is said.
//!
//! Invariant: nothing is read but names and `stat`; a change that sets size and time back is not seen.

use crate::ignore::{Options, Walk};
use crate::sort;
use crate::sys::file::Identity;
use std::collections::HashMap;
use std::ffi::OsStr;
use std::fs;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

/// Files that are looked at: about 50 ms of work.
pub const MAX_ENTRIES: usize = 20_000;
/// For one look; a person waits for the command meanwhile.
pub const MAX_TIME: Duration = Duration::from_millis(300);

/// The files of a workspace at one moment.
#[derive(Debug)]
pub struct Snapshot {
    files: HashMap<PathBuf, Stamp>,
}

#[derive(Debug, PartialEq, Eq)]
struct Stamp {
    identity: Identity,
    mode: u32,
}

impl Snapshot {
    /// Looks; `None`: there is too much to look at, or nothing can be seen.
    pub fn take(root: &Path, max_entries: usize, max_time: Duration) -> Option<Snapshot> {
        let deadline = Instant::now() + max_time;
        let options = Options {
            root: root.to_path_buf(),
            hidden: true,
            ..Options::default()
        };
        let mut walk = Walk::new(root, options).ok()?;
        let mut files = HashMap::new();
        while let Some(folder) = walk.next_folder() {
            if files.len() + folder.files().len() > max_entries {
                return None;
            }
            let below = Path::new(OsStr::from_bytes(folder.path()));
            for name in folder.files().iter() {
                let path = below.join(OsStr::from_bytes(name));
                // Gone in this moment: not there, then.
                let Ok(meta) = fs::symlink_metadata(root.join(&path)) else {
                    continue;
                };
                let stamp = Stamp {
                    identity: Identity::from(&meta),
                    mode: meta.mode(),
                };
                files.insert(path, stamp);
            }
            if Instant::now() > deadline {
                return None;
            }
        }
        Some(Snapshot { files })
    }

    /// Files that are not as they were, made and removed ones too, in order of their paths.
    pub fn changed(&self, after: &Snapshot) -> Vec<PathBuf> {
        let mut changed = Vec::new();
        for (path, stamp) in &self.files {
            if after.files.get(path) != Some(stamp) {
                changed.push(path.clone());
            }
        }
        let new = |path: &&PathBuf| !self.files.contains_key(*path);
        changed.extend(after.files.keys().filter(new).cloned());
        sort::by(&mut changed, Ord::cmp);
        changed
    }
}
