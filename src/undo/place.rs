//! Files of the workspace as an undo sees them: looked at without following links, changed only where the workspace's own check still
//! leads to the same place. `plan.rs` looks, `make.rs` changes.
//!
//! ```text
//! src/a.rs      the check says /home/me/app/src/a.rs, a regular file of 812 bytes      Some(Content)
//! new.txt       the check says /home/me/app/new.txt, nothing is there                  None
//! src -> /etc   the check refuses src/a.rs, or leads elsewhere                         Trouble::Link("src")
//! ```
//!
//! Journalled paths have no links in them, so one that stands on the way now was put there since.
//!
//! Limits: a file of at most [`MAX_FILE_BYTES`] is read.
//!
//! Invariant: a path is checked anew right before each change.

use super::journal::missing_folders;
use crate::sys::file::{self, Staged, sync_folder};
use crate::text;
use std::fs::{self, File};
use std::io::{self, ErrorKind, Read};
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

/// Larger files are not edited by any tool.
pub const MAX_FILE_BYTES: u64 = 256 << 20;

/// The workspace's check: where a relative path leads for writing, or `None` if it may not be written.
pub type Resolve<'a> = &'a dyn Fn(&Path) -> Option<PathBuf>;

/// A file of the workspace.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Content {
    pub(super) bytes: Vec<u8>,
    /// Permission bits.
    pub(super) mode: u32,
}

/// Why a file cannot be looked at or changed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Trouble {
    /// A link stands on the way, or in its place.
    Link(PathBuf),
    /// A file stands where a folder was.
    NoFolder(PathBuf),
    /// A folder or something else stands in its place.
    NoFile,
    /// The workspace does not allow it.
    Closed,
    /// It is marked so.
    ReadOnly,
    /// Of so many bytes.
    TooLarge(u64),
    /// The system's words.
    Io(String),
}

/// The workspace, for reading and changing.
#[derive(Clone, Copy)]
pub(super) struct Places<'a> {
    pub(super) root: &'a Path,
    pub(super) resolve: Resolve<'a>,
}

impl Places<'_> {
    /// What is there; `None`: nothing.
    pub(super) fn look(&self, path: &Path) -> Result<Option<Content>, Trouble> {
        let Some((file, meta)) = self.open(path)? else {
            return Ok(None);
        };
        if meta.len() > MAX_FILE_BYTES {
            return Err(Trouble::TooLarge(meta.len()));
        }
        let mut bytes = Vec::new();
        (&file)
            .take(MAX_FILE_BYTES + 1)
            .read_to_end(&mut bytes)
            .map_err(trouble)?;
        let mode = meta.permissions().mode() & 0o777;
        Ok(Some(Content { bytes, mode }))
    }

    /// Makes `then` of a file that must still hold `now`.
    pub(super) fn change(
        &self,
        path: &Path,
        now: Option<&Content>,
        then: Option<&Content>,
    ) -> io::Result<()> {
        let full = self.full(path).map_err(refused)?;
        match (now, then) {
            (None, None) => Ok(()),
            (Some(now), Some(then)) => {
                let Some((file, _)) = self.open(path).map_err(refused)? else {
                    return Err(moved_on());
                };
                let staged = Staged::write(&full, &[&then.bytes], Some(&file), None)?;
                // A new file gets the mode: the old one may have other names elsewhere.
                if now.mode != then.mode {
                    staged.set_mode(then.mode)?;
                }
                self.still(path, Some(now))?;
                staged.replace()
            }
            (None, Some(then)) => {
                let made = self.make_folders(path)?;
                let created = self
                    .still(path, None)
                    .and_then(|()| file::create_as(&full, &[&then.bytes], then.mode));
                if created.is_err() {
                    self.remove_folders(&made);
                }
                created
            }
            (Some(now), None) => {
                self.still(path, Some(now))?;
                file::remove(&full)
            }
        }
    }

    /// Removes folders (named outermost first) that are empty.
    pub(super) fn remove_folders(&self, folders: &[PathBuf]) {
        for folder in folders.iter().rev() {
            // A name in it is asked for: a folder itself is nothing to be written.
            let Ok(inside) = self.full(&folder.join("x")) else {
                continue;
            };
            let full = inside.parent().unwrap_or(&inside);
            // Not empty: something else lies in it now, and it stays.
            if fs::remove_dir(full).is_ok() {
                sync_folder(full.parent().unwrap_or(self.root));
            }
        }
    }

    fn make_folders(&self, path: &Path) -> io::Result<Vec<PathBuf>> {
        let mut made = Vec::new();
        for folder in missing_folders(self.root, path) {
            let full = self.root.join(&folder);
            match fs::create_dir(&full) {
                Ok(()) => {
                    sync_folder(full.parent().unwrap_or(self.root));
                    made.push(folder);
                }
                Err(error) if error.kind() == ErrorKind::AlreadyExists => {}
                Err(error) => {
                    self.remove_folders(&made);
                    return Err(error);
                }
            }
        }
        Ok(made)
    }

    fn still(&self, path: &Path, now: Option<&Content>) -> io::Result<()> {
        let there = self.look(path).map_err(refused)?;
        let there = there.as_ref().map(|content| &content.bytes);
        match there == now.map(|content| &content.bytes) {
            true => Ok(()),
            false => Err(moved_on()),
        }
    }

    fn open(&self, path: &Path) -> Result<Option<(File, fs::Metadata)>, Trouble> {
        let full = self.full(path)?;
        let file = match file::open_regular(&full) {
            Ok(file) => file,
            Err(error) if error.kind() == ErrorKind::NotFound => return Ok(None),
            Err(error) if error.kind() == ErrorKind::PermissionDenied => {
                return Err(trouble(error));
            }
            Err(error) => return Err(self.explain(path).unwrap_or_else(|| trouble(error))),
        };
        let meta = file.metadata().map_err(trouble)?;
        Ok(Some((file, meta)))
    }

    /// The place of a path, if it is the very one that was journalled.
    fn full(&self, path: &Path) -> Result<PathBuf, Trouble> {
        let full = self.root.join(path);
        match (self.resolve)(path) {
            Some(resolved) if resolved == full => Ok(full),
            Some(_) | None => Err(self.explain(path).unwrap_or(Trouble::Closed)),
        }
    }

    /// What stands in the way, name by name.
    fn explain(&self, path: &Path) -> Option<Trouble> {
        let mut here = PathBuf::new();
        let mut parts = path.components().peekable();
        while let Some(part) = parts.next() {
            here.push(part);
            let kind = fs::symlink_metadata(self.root.join(&here))
                .ok()?
                .file_type();
            if kind.is_symlink() {
                return Some(Trouble::Link(here));
            }
            match parts.peek() {
                Some(_) if !kind.is_dir() => return Some(Trouble::NoFolder(here)),
                None if !kind.is_file() => return Some(Trouble::NoFile),
                Some(_) | None => {}
            }
        }
        None
    }
}

fn trouble(error: io::Error) -> Trouble {
    Trouble::Io(error.to_string())
}

fn refused(trouble: Trouble) -> io::Error {
    io::Error::other(trouble.to_string())
}

fn moved_on() -> io::Error {
    io::Error::other("it changed in this moment")
}

/// Completes "`src/a.rs` ".
impl std::fmt::Display for Trouble {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Trouble::Link(at) => write!(f, "cannot be reached: `{}` is a link now", at.display()),
            Trouble::NoFolder(at) => {
                write!(f, "cannot be reached: `{}` is no folder now", at.display())
            }
            Trouble::NoFile => f.write_str("is no regular file now"),
            Trouble::Closed => f.write_str("may not be written in this workspace"),
            Trouble::ReadOnly => f.write_str("is read-only now"),
            Trouble::TooLarge(bytes) => write!(
                f,
                "has {} now, more than the {} that are read",
                text::counted(*bytes, "byte"),
                text::grouped(MAX_FILE_BYTES)
            ),
            Trouble::Io(error) => write!(f, "cannot be read: {error}"),
        }
    }
}
