//! Small private files of ours, one folder a workspace: what was kept and what is trusted there. `kept` and `trust` read and write them.
//!
//! ```text
//! <state>/workspaces/app-5f2c9d04a1b7e386/      0700, named by the folder and the hash of its path
//!   rules                                        0600
//!   checks
//!   trust
//!   lock                                         empty
//! # zcoder: kept for /home/me/app                the first line names the workspace, so that a file in a wrong place counts for nothing
//! ```
//!
//! Refused: what is not a regular file, not UTF-8, longer than [`MAX_BYTES`], or names another workspace.
//!
//! Invariant: a file is replaced whole or not at all, synced before it gets its name (`sys::file::replace`).
//! Invariant: two processes that change a file at once change it one after the other (`lock`, beside it).

use std::fs::{DirBuilder, File, OpenOptions};
use std::io::{self, ErrorKind, Read};
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt};
use std::path::{Path, PathBuf};
use std::time::Duration;

use crate::sha256;
use crate::sys::file::{self, Identity, Locked};
use crate::text::{counted, one_line};

/// A longer one was not written by us.
const MAX_BYTES: u64 = 256 << 10;
/// An update takes milliseconds; who holds the lock longer hangs.
const PATIENCE: Duration = Duration::from_secs(2);

/// Where the files of a workspace lie. `workspace` is canonical.
pub(super) fn folder(state: &Path, workspace: &Path) -> PathBuf {
    let hash = sha256::hex(&sha256::digest(workspace.as_os_str().as_bytes()));
    let name = workspace.file_name().unwrap_or_default().to_string_lossy();
    let safe = |c: char| match c.is_ascii_alphanumeric() || "-_.".contains(c) {
        true => c,
        false => '_',
    };
    let name: String = name.chars().take(40).map(safe).collect();
    let folder = format!("{name}-{}", &hash[..16]);
    state.join("workspaces").join(folder)
}

/// The lines of a file behind its first one; none when there is no file.
pub(super) fn lines(path: &Path, workspace: &Path) -> io::Result<Vec<String>> {
    match read(path) {
        Ok(text) => body(&text, workspace),
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(Vec::new()),
        Err(error) => Err(error),
    }
}

/// What the first line of a file says before the workspace.
const HEADING: &str = "# zcoder: kept for ";

fn heading(workspace: &Path) -> String {
    format!("{HEADING}{}", one_line(&workspace.to_string_lossy()))
}

/// The workspace that a first line names.
pub(super) fn named(text: &str) -> Option<&str> {
    text.lines().next()?.strip_prefix(HEADING)
}

fn body(text: &str, workspace: &Path) -> io::Result<Vec<String>> {
    // Somebody has made it and not written it yet.
    if text.is_empty() {
        return Ok(Vec::new());
    }
    let mut lines = text.lines();
    if lines.next() != Some(heading(workspace).as_str()) {
        let text = "its first line names another workspace";
        return Err(io::Error::new(ErrorKind::InvalidData, text));
    }
    Ok(lines.map(str::to_string).collect())
}

/// The whole text, bounded.
pub(super) fn read(path: &Path) -> io::Result<String> {
    let invalid = |text: String| io::Error::new(ErrorKind::InvalidData, text);
    let mut bytes = Vec::new();
    let file = file::open_regular(path)?;
    file.take(MAX_BYTES + 1).read_to_end(&mut bytes)?;
    if bytes.len() as u64 > MAX_BYTES {
        let limit = counted(MAX_BYTES, "byte");
        return Err(invalid(format!("is longer than {limit}")));
    }
    String::from_utf8(bytes).map_err(|_| invalid("is not UTF-8".to_string()))
}

/// Changes the lines of a file; what is there now comes in, what shall be there goes out. Returns the lines written.
pub(super) fn update(
    path: &Path,
    workspace: &Path,
    change: &mut dyn FnMut(&mut Vec<String>),
) -> io::Result<Vec<String>> {
    let folder = path.parent().unwrap_or(Path::new("/"));
    DirBuilder::new()
        .recursive(true)
        .mode(0o700)
        .create(folder)?;
    let _lock = lock(&folder.join("lock"))?;
    let file = open_or_create(path)?;
    let before = Identity::from(&file.metadata()?);
    let mut lines = body(&read(path)?, workspace)?;
    change(&mut lines);
    let heading = heading(workspace);
    let mut text = String::new();
    for line in std::iter::once(&heading).chain(&lines) {
        text.push_str(line);
        text.push('\n');
    }
    // A person may have it open in an editor, which takes no lock.
    let mut recheck = || match Identity::from(&path.symlink_metadata()?) == before {
        true => Ok(()),
        false => Err(io::Error::other("it was changed meanwhile")),
    };
    file::replace(path, &[text.as_bytes()], Some(&file), &mut recheck)?;
    Ok(lines)
}

/// The lock of the folder's files, held until it is dropped. `None` where the file system has no locks: what two write at once is whole
/// all the same, and the later one counts.
fn lock(path: &Path) -> io::Result<Option<Locked>> {
    let mut options = OpenOptions::new();
    options.write(true).create(true).truncate(false).mode(0o600);
    match Locked::wait(options.open(path)?, PATIENCE) {
        Ok(Some(lock)) => Ok(Some(lock)),
        Ok(None) => Err(io::Error::other("another zcoder is busy with it")),
        Err(_) => Ok(None),
    }
}

/// Open for reading; made empty and private if it is not there.
fn open_or_create(path: &Path) -> io::Result<File> {
    let mut options = OpenOptions::new();
    options.write(true).create_new(true).mode(0o600);
    match options.open(path) {
        Err(error) if error.kind() != ErrorKind::AlreadyExists => Err(error),
        Ok(_) | Err(_) => file::open_regular(path),
    }
}
