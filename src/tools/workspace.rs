//! The folder the user chose, and the only way to a path in it. In: a path as a model writes it. Out: a [`WsPath`], which lies
//! inside the workspace whatever links stand on the way, or a [`Refusal`] written for the model.
//!
//! ```text
//! root /home/me/app; inside it docs -> notes, out -> /etc, draft -> gone
//!   src/../README.md   → README.md              docs/a.md   → notes/a.md
//!   /home/me/app/x     → x                      new/deep/f  → new/deep/f      (only the parent exists)
//!   ../other, /etc/passwd, out/passwd           refused: outside
//!   draft (to write)                            refused: a link to something that does not exist
//!   pipe, /dev/tty, a folder                    refused by name of what it is
//! ```
//!
//! After an open the file is checked again ([`WsPath::open`]): it is regular, the path still has no link in it, and the path's
//! device and inode are those of the opened file. That proves where the opened file lay after the open; it does not lock
//! anything.
//!
//! Refused: leaving the root by `..`, an absolute path or a link; more than 40 links; names above 255 and paths above 4,095
//! bytes; NUL; `~`, which nobody expands; our own configuration and state wherever they lie; everything, once the root itself was
//! removed, moved or exchanged for a link: it is never made anew.
//!
//! Invariant: a `WsPath` comes only from [`Workspace::resolve`].
//! Invariant: what exists outside is not told: everything that leaves the root gets the same refusal.
//!
//! Read next: `walk.rs` (links and `..`, name by name), `protected.rs` (paths that ask), `edit.rs` (writing to one).

use std::ffi::OsStr;
use std::fs::{self, File, FileType};
use std::io;
use std::os::unix::fs::{FileTypeExt, MetadataExt};
use std::path::{Path, PathBuf};

use crate::sort;
use crate::sys;
use crate::text;

use super::nearest::nearest;
use super::walk::{MAX_LINKS, MAX_NAME, MAX_PATH, Stop, Walked, Why, walk};
use super::{protected, shown};

/// Entries of a folder looked at for a nearest name.
const MAX_NEIGHBORS: usize = 2_000;

/// The workspace root, canonical.
#[derive(Clone, Debug)]
pub struct Workspace {
    root: PathBuf,
    /// The root as the user named it, absolute: models repeat it.
    named: PathBuf,
    off_limits: Vec<PathBuf>,
}

/// A path that was resolved inside the workspace.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WsPath {
    root: PathBuf,
    full: PathBuf,
    shown: String,
    protected: Option<&'static str>,
    exists: bool,
}

/// Why not; the text is for the model and names the next step.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Refusal(pub String);

/// What the path is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Purpose {
    /// A file that exists.
    Read,
    /// A file that exists or can be made.
    Write,
    /// A folder that exists.
    Folder,
}

impl Workspace {
    /// `off_limits`: our own configuration and state, never touched by tools (they need not exist yet). Errors, for the
    /// user, who knows which folder: not a folder, unreadable, gone, or itself off limits.
    pub fn open(root: &Path, off_limits: Vec<PathBuf>) -> Result<Workspace, String> {
        let canonical = fs::canonicalize(root).map_err(|error| match error.kind() {
            io::ErrorKind::NotFound => "there is no such folder".to_string(),
            _ => error.to_string(),
        })?;
        if !canonical.is_dir() {
            return Err("it is a file, a folder is wanted".to_string());
        }
        fs::read_dir(&canonical).map_err(|error| format!("it cannot be read: {error}"))?;
        let off_limits: Vec<PathBuf> = off_limits.iter().map(|path| settle(path)).collect();
        if let Some(own) = off_limits.iter().find(|own| canonical.starts_with(own)) {
            return Err(format!(
                "it lies in {}, where zcoder keeps its own files",
                text::visible(&own.to_string_lossy())
            ));
        }
        Ok(Workspace {
            named: std::path::absolute(root).unwrap_or_else(|_| canonical.clone()),
            root: canonical,
            off_limits,
        })
    }

    /// The canonical root.
    pub fn root(&self) -> &Path {
        &self.root
    }

    /// Device and inode of our own folders, as far as they exist: for walks, which meet them by another way than by their path.
    pub(super) fn closed(&self) -> Vec<(u64, u64)> {
        let own = self
            .off_limits
            .iter()
            .filter_map(|own| fs::metadata(own).ok());
        own.map(|own| (own.dev(), own.ino())).collect()
    }

    /// The one way to a `WsPath`.
    pub fn resolve(&self, path: &str, purpose: Purpose) -> Result<WsPath, Refusal> {
        check_text(path)?;
        if !is_there(&self.root) {
            return Err(self.gone());
        }
        let named = Path::new(path);
        let below_named = named.strip_prefix(&self.named).ok();
        let (start, rest) = match below_named.or_else(|| named.strip_prefix(&self.root).ok()) {
            Some(rest) => (self.root.clone(), rest),
            None if named.is_absolute() => (PathBuf::from("/"), named),
            None => (self.root.clone(), named),
        };
        let walked = match walk(start, rest) {
            Ok(walked) => walked,
            Err(stop) => return Err(self.explain(path, &stop, purpose)),
        };
        if !walked.full.starts_with(&self.root) {
            return Err(self.outside(path));
        }
        self.check_own(path, &walked.full)?;
        self.check_kind(path, &walked, purpose)?;
        let below = walked
            .full
            .strip_prefix(&self.root)
            .unwrap_or(Path::new(""));
        let shown = match below.to_string_lossy() {
            empty if empty.is_empty() => ".".to_string(),
            shown => shown.into_owned(),
        };
        // `.vscode -> settings`: the name protects as much as the place.
        let protected =
            protected::reason(&shown).or_else(|| protected::reason(&rest.to_string_lossy()));
        Ok(WsPath {
            root: self.root.clone(),
            exists: walked.found.is_some(),
            full: walked.full,
            shown,
            protected,
        })
    }

    /// Where a relative path leads for writing, if it may be written; for callers that want to know no more than that.
    pub fn writable(&self, path: &Path) -> Option<PathBuf> {
        let resolved = self.resolve(path.to_str()?, Purpose::Write).ok()?;
        Some(resolved.full)
    }

    fn gone(&self) -> Refusal {
        Refusal(format!(
            "the workspace {} is not there any more: it was removed, moved or exchanged. No tool can work without it. \
             End the task with finish_task and status failed, and tell the user.",
            text::visible(&self.root.to_string_lossy())
        ))
    }

    fn outside(&self, path: &str) -> Refusal {
        Refusal(format!(
            "`{}` leads outside the workspace {}, and tools work only inside it. Use a path relative to the workspace; \
             list_files shows what is there.",
            quoted(path),
            text::visible(&self.root.to_string_lossy())
        ))
    }

    fn explain(&self, path: &str, stop: &Stop, purpose: Purpose) -> Refusal {
        if !stop.at.starts_with(&self.root) {
            return self.outside(path);
        }
        let place = self.shown(&stop.at);
        let path = quoted(path);
        Refusal(match &stop.why {
            Why::ParentOfMissing => format!(
                "`{path}` goes up with `..` from a folder that does not exist. Write the path without `..`."
            ),
            Why::ParentIsNoFolder => {
                let parent = self.shown(stop.at.parent().unwrap_or(&self.root));
                let step = match purpose {
                    Purpose::Read | Purpose::Folder => {
                        "Give a path that exists; list_files shows them"
                    }
                    Purpose::Write => "Choose another path",
                };
                format!("`{path}` goes through `{parent}`, which is a file, not a folder. {step}.")
            }
            Why::NameTooLong(length) => format!(
                "`{path}` has a name of {}; at most {MAX_NAME} are possible. Choose a shorter name.",
                text::counted(*length as u64, "byte")
            ),
            Why::PathTooLong(length) => format!(
                "`{path}` is a path of {}; at most {} are possible. Choose a shorter path.",
                text::counted(*length as u64, "byte"),
                text::grouped(MAX_PATH as u64)
            ),
            Why::TooManyLinks => format!(
                "`{path}` goes through more than {MAX_LINKS} links (at `{place}`), probably in a circle. \
                 Use the path of a real file; list_files shows where links lead."
            ),
            Why::Io(error) => format!(
                "`{path}` cannot be reached: {error} (at `{place}`). Use another path, or ask the user to mend this one."
            ),
        })
    }

    /// Our own files stay out of reach, by path and by what the folders on the way are.
    fn check_own(&self, path: &str, full: &Path) -> Result<(), Refusal> {
        let same = |own: &PathBuf| {
            full.starts_with(own)
                || fs::metadata(own).is_ok_and(|own| {
                    let folders = full.ancestors().take_while(|a| a.starts_with(&self.root));
                    folders
                        .filter_map(|folder| fs::symlink_metadata(folder).ok())
                        .any(|meta| meta.dev() == own.dev() && meta.ino() == own.ino())
                })
        };
        if self.off_limits.iter().any(same) {
            return Err(Refusal(format!(
                "`{}` belongs to zcoder itself (its configuration or state), which tools never read or write. \
                 Tell the user what you need to know or to have changed there.",
                quoted(path)
            )));
        }
        Ok(())
    }

    fn check_kind(&self, named: &str, walked: &Walked, purpose: Purpose) -> Result<(), Refusal> {
        let slash = named.ends_with('/') || named.ends_with("/.");
        let path = quoted(named);
        let refuse = |text: String| Err(Refusal(text));
        let Some(meta) = &walked.found else {
            if let Some(link) = &walked.linked {
                let link = self.shown(link);
                return refuse(format!(
                    "`{path}` cannot be used: `{link}` is a link to something that does not exist. \
                     Use the path of a real file, or a new name that is no link."
                ));
            }
            return match purpose {
                Purpose::Read | Purpose::Folder => refuse(self.missing(&path, &walked.full)),
                Purpose::Write if slash => refuse(format!(
                    "`{path}` ends in a slash and so names a folder. Give the path of a file; its folders are made as needed."
                )),
                Purpose::Write if has_odd_letters(named) => refuse(format!(
                    "`{path}` holds a backslash or a character that does not show. \
                     Write `/` between folders and plain letters in names."
                )),
                Purpose::Write => Ok(()),
            };
        };
        let kind = meta.file_type();
        match (purpose, kind.is_dir()) {
            (Purpose::Folder, true) => Ok(()),
            (Purpose::Folder, false) => refuse(format!(
                "`{path}` is {}, not a folder. Give the path of a folder{}.",
                kind_name(kind),
                if kind.is_file() {
                    "; read_file reads files"
                } else {
                    ""
                }
            )),
            (Purpose::Read, true) => refuse(format!(
                "`{path}` is a folder. list_files shows what is in it; give read_file the path of a file."
            )),
            (Purpose::Write, true) => refuse(format!(
                "`{path}` is a folder. Give the path of a file in it."
            )),
            (Purpose::Read | Purpose::Write, false) if !kind.is_file() => refuse(format!(
                "`{path}` is {}; tools read and write regular files only. Use the path of a regular file.",
                kind_name(kind)
            )),
            (Purpose::Read | Purpose::Write, false) if slash => refuse(format!(
                "`{path}` ends in a slash, but it is a file. Leave the slash off."
            )),
            (Purpose::Read | Purpose::Write, false) => Ok(()),
        }
    }

    /// "There is no …", with the nearest name in the deepest folder that exists.
    fn missing(&self, path: &str, full: &Path) -> String {
        let hint = if path.contains('\\') {
            " Write `/` between folders.".to_string()
        } else {
            let existing = full.ancestors().skip(1).find(|folder| folder.is_dir());
            let wanted = full.ancestors().find(|a| a.parent() == existing);
            let wanted = wanted.and_then(Path::file_name).unwrap_or(OsStr::new(""));
            let near = existing.and_then(|folder| near(folder, &wanted.to_string_lossy()));
            match near {
                Some(near) => format!(" Did you mean `{}`?", text::visible(&self.shown(&near))),
                None => String::new(),
            }
        };
        format!("there is no `{path}` in the workspace.{hint} list_files shows what is there.")
    }

    /// A full path as people see it: relative to the root where it lies inside.
    fn shown(&self, full: &Path) -> String {
        let path = full.strip_prefix(&self.root).unwrap_or(full);
        text::visible(&path.to_string_lossy()).into_owned()
    }
}

impl WsPath {
    /// For the operating system.
    pub fn full(&self) -> &Path {
        &self.full
    }

    /// For people and the model: relative, `/` between parts, `.` for the root. Foreign text: show it through `text::visible`.
    pub fn shown(&self) -> &str {
        &self.shown
    }

    /// Whether the workspace is still where it was. Nothing is written where it is not.
    pub(super) fn has_workspace(&self) -> bool {
        is_there(&self.root)
    }

    /// Whether something was there when the path was resolved.
    pub fn exists(&self) -> bool {
        self.exists
    }

    /// Why a write asks even under `edits=auto`, if it does.
    pub fn protected(&self) -> Option<&'static str> {
        self.protected
    }

    /// Opens the file for reading and checks what was opened: a regular file, at this very path, with no link on the way.
    pub fn open(&self) -> Result<File, Refusal> {
        let shown = text::visible(&self.shown);
        let file = sys::file::open_regular(&self.full).map_err(|error| {
            Refusal(format!(
                "`{shown}` cannot be read: {error}. Use another file, or ask the user to mend this one."
            ))
        })?;
        if !self.still_is(&file) {
            return Err(Refusal(format!(
                "`{shown}` was exchanged while it was opened. Look at the folder with list_files and try again."
            )));
        }
        Ok(file)
    }

    /// Whether the path, free of links, leads to this opened file.
    fn still_is(&self, file: &File) -> bool {
        let there = fs::canonicalize(&self.full).is_ok_and(|canonical| canonical == self.full);
        let same = match (file.metadata(), fs::symlink_metadata(&self.full)) {
            (Ok(opened), Ok(there)) => opened.dev() == there.dev() && opened.ino() == there.ino(),
            (Ok(_), Err(_)) | (Err(_), _) => false,
        };
        there && same
    }
}

/// Whether a canonical folder is still one: there, a folder, and with no link on the way to it.
fn is_there(root: &Path) -> bool {
    root.is_dir() && fs::canonicalize(root).is_ok_and(|canonical| canonical == root)
}

fn check_text(path: &str) -> Result<(), Refusal> {
    if path.is_empty() {
        return Err(Refusal(
            "the path is empty. Give a path relative to the workspace, such as src/main.rs; `.` is the workspace itself."
                .to_string(),
        ));
    }
    if path.contains('\0') {
        return Err(Refusal(format!(
            "`{}` holds a NUL character, which no file name can. Give the path without it.",
            quoted(path)
        )));
    }
    if path == "~" || path.starts_with("~/") {
        return Err(Refusal(format!(
            "`{}` begins with `~`, which is not expanded here, and a home folder is outside the workspace. \
             Use a path relative to the workspace.",
            quoted(path)
        )));
    }
    Ok(())
}

/// The real place of a path that need not exist: its deepest existing part canonical, the rest as it stands.
fn settle(path: &Path) -> PathBuf {
    // One question for what is not there, where following it takes one for each folder on the way.
    let there = |path: &&Path| fs::symlink_metadata(path).is_ok();
    for existing in path.ancestors().filter(there) {
        if let Ok(canonical) = fs::canonicalize(existing) {
            let rest = path.strip_prefix(existing).unwrap_or(Path::new(""));
            // `join("")` would add a slash.
            return rest
                .components()
                .fold(canonical, |full, name| full.join(name));
        }
    }
    path.to_path_buf()
}

fn near(folder: &Path, wanted: &str) -> Option<PathBuf> {
    let entries = fs::read_dir(folder).ok()?;
    let mut names: Vec<String> = entries
        .take(MAX_NEIGHBORS)
        .filter_map(|entry| entry.ok()?.file_name().into_string().ok())
        .collect();
    sort::by(&mut names, Ord::cmp);
    nearest(wanted, names.iter().map(String::as_str)).map(|name| folder.join(name))
}

/// What a file is, with its article.
pub(super) fn kind_name(kind: FileType) -> &'static str {
    if kind.is_file() {
        "a file"
    } else if kind.is_dir() {
        "a folder"
    } else if kind.is_symlink() {
        "a link"
    } else if kind.is_fifo() {
        "a FIFO"
    } else if kind.is_socket() {
        "a socket"
    } else if kind.is_char_device() || kind.is_block_device() {
        "a device"
    } else {
        "not a regular file"
    }
}

/// What a new name should not have: nobody can type it, or sees it.
fn has_odd_letters(path: &str) -> bool {
    path.contains(['\\', '\n']) || text::visible(path) != path
}

fn quoted(path: &str) -> String {
    text::clip(&shown(path), 200).into_owned()
}
