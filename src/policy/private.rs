//! Small private files of ours, one folder a workspace: what was kept and what is trusted there. `kept` and `trust` read and write them.
//!
//! ```text
//! <state>/workspaces/app-5f2c9d04a1b7e386/      0700, named by the folder and the hash of its path
//!   rules                                        0600
//!   checks
//!   trust
//! # zcoder: kept for /home/me/app                the first line names the workspace, so that a file in a wrong place counts for nothing
//! ```
//!
//! Refused: what is not a regular file, not UTF-8, longer than [`MAX_BYTES`], or names another workspace.
//!
//! Invariant: a file is replaced whole or not at all, synced before it gets its name (`sys::file::replace`).
//! Invariant: a change that another process made since the file was read is not lost: the update is done again on what is there now.

use std::fs::{DirBuilder, File, OpenOptions};
use std::io::{self, ErrorKind, Read};
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt};
use std::path::{Path, PathBuf};

use crate::sha256;
use crate::sys::file::{self, Identity};

use super::notes::one_line;

/// A longer one was not written by us.
const MAX_BYTES: u64 = 256 << 10;
/// Updates begin again when another process was faster.
const TRIES: usize = 20;

/// Where the files of a workspace lie. `workspace` is canonical.
pub(super) fn folder(state: &Path, workspace: &Path) -> PathBuf {
    let hash = sha256::hex(&sha256::digest(workspace.as_os_str().as_bytes()));
    let name = workspace.file_name().unwrap_or_default().to_string_lossy();
    let safe = |c: char| {
        if c.is_ascii_alphanumeric() || "-_.".contains(c) {
            c
        } else {
            '_'
        }
    };
    let name: String = name.chars().take(40).map(safe).collect();
    state
        .join("workspaces")
        .join(format!("{name}-{}", &hash[..16]))
}

/// The lines of a file behind its first one; none when there is no file.
pub(super) fn lines(path: &Path, workspace: &Path) -> io::Result<Vec<String>> {
    match read(path) {
        Ok((text, _)) => body(&text, workspace),
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(Vec::new()),
        Err(error) => Err(error),
    }
}

/// The first line: which workspace a file is about.
pub(super) fn heading(workspace: &Path) -> String {
    format!(
        "# zcoder: kept for {}",
        one_line(&workspace.to_string_lossy())
    )
}

/// The workspace that a first line names.
pub(super) fn named(text: &str) -> Option<&str> {
    text.lines().next()?.strip_prefix("# zcoder: kept for ")
}

fn body(text: &str, workspace: &Path) -> io::Result<Vec<String>> {
    let mut lines = text.lines();
    if lines.next() != Some(heading(workspace).as_str()) {
        return Err(io::Error::new(
            ErrorKind::InvalidData,
            "its first line names another workspace",
        ));
    }
    Ok(lines.map(str::to_string).collect())
}

/// The whole text, bounded, with what tells whether it changes.
pub(super) fn read(path: &Path) -> io::Result<(String, Identity)> {
    let file = file::open_regular(path)?;
    let identity = Identity::from(&file.metadata()?);
    let mut bytes = Vec::new();
    file.take(MAX_BYTES + 1).read_to_end(&mut bytes)?;
    if bytes.len() as u64 > MAX_BYTES {
        let text = format!("is longer than {MAX_BYTES} bytes");
        return Err(io::Error::new(ErrorKind::InvalidData, text));
    }
    let text = String::from_utf8(bytes);
    let text = text.map_err(|_| io::Error::new(ErrorKind::InvalidData, "is not UTF-8"))?;
    Ok((text, identity))
}

/// Changes the lines of a file; what is there now comes in, what shall be there goes out. Returns the lines written.
pub(super) fn update(
    path: &Path,
    workspace: &Path,
    change: &mut dyn FnMut(&mut Vec<String>),
) -> io::Result<Vec<String>> {
    if let Some(folder) = path.parent() {
        DirBuilder::new()
            .recursive(true)
            .mode(0o700)
            .create(folder)?;
    }
    for _ in 0..TRIES {
        let file = open_or_create(path)?;
        let before = Identity::from(&file.metadata()?);
        let mut lines = match read(path)? {
            (text, _) if text.is_empty() => Vec::new(),
            (text, _) => body(&text, workspace)?,
        };
        change(&mut lines);
        let mut text = heading(workspace);
        text.push('\n');
        for line in &lines {
            text.push_str(line);
            text.push('\n');
        }
        let mut recheck = || {
            let now = Identity::from(&path.symlink_metadata()?);
            match now == before {
                true => Ok(()),
                false => Err(io::Error::from(ErrorKind::WouldBlock)),
            }
        };
        match file::replace(path, &[text.as_bytes()], Some(&file), &mut recheck) {
            Ok(()) => return Ok(lines),
            Err(error) if error.kind() == ErrorKind::WouldBlock => {}
            Err(error) => return Err(error),
        }
    }
    Err(io::Error::other("another process keeps changing it"))
}

/// Open for reading; made empty and private if it is not there.
fn open_or_create(path: &Path) -> io::Result<File> {
    let made = OpenOptions::new()
        .write(true)
        .create_new(true)
        .mode(0o600)
        .open(path);
    match made {
        Ok(_) => {}
        Err(error) if error.kind() == ErrorKind::AlreadyExists => {}
        Err(error) => return Err(error),
    }
    file::open_regular(path)
}
