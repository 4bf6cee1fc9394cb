//! The one splicer of all editing tools. In: a file as it was read and what to put where. Out: first an [`Edit`], which is worked
//! out and not made (the policy judges it, a person may see its diff); then, approved, the change on disk. `write` and
//! `replace` build edits, `Toolbox::apply` makes them.
//!
//! ```text
//! before   alpha⏎beta\r⏎gamma\r⏎          splice 0..5 → "ALPHA"
//! written  ALPHA ++ ⏎beta\r⏎gamma\r⏎      what lies outside is the same, byte for byte
//! journal  path, sha256 before and after, [offset 0, old "alpha", new_len 5]
//! ```
//!
//! Making one: the file must still be the one that was read; the journal record is handed out and must be safe; missing folders
//! are made; a temporary file in the same folder is written and synced; the file is compared once more; rename. A failure at
//! any point leaves the old file (`sys::file::replace`).
//!
//! Refused: files above 64 MiB, what is not text, read-only files, files that changed meanwhile, a new file where one appeared.
//!
//! Invariant: output = before ++ new ++ after, for every splice; BOM, mode, line ends and odd bytes outside stay.
//! Invariant: no byte of a file is written before its journal record is safe.
//! Invariant: an edit is made at most once: it is consumed.
//!
//! Read next: `unified.rs` (the diff), `seen.rs` (what was read), `write.rs`, `replace.rs`.

use std::fs::{self, File};
use std::io::{self, Read};
use std::ops::Range;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

use crate::policy::{Policy, Verdict};
use crate::protocol::{Facts, FileChange, ToolOutcome};
use crate::sha256::{Sha256, digest};
use crate::sys::file;
use crate::text;

use super::content::not_text;
use super::seen::{Known, Seen};
use super::unified::{Diff, unified};
use super::workspace::{Refusal, WsPath};
use super::{done, failed, shown};

/// Larger files are not edited: they are held in memory twice.
const MAX_BYTES: u64 = 64 << 20;

/// A worked-out change of one file, not yet made.
#[derive(Debug)]
pub struct Edit {
    path: WsPath,
    before: Option<Before>,
    splices: Vec<Splice>,
    diff: Diff,
    /// For the model, once it is made.
    report: String,
}

/// Put `new` where `range` of the old bytes is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Splice {
    pub(super) range: Range<usize>,
    pub(super) new: Vec<u8>,
}

/// A file as it was read for an edit.
#[derive(Debug)]
pub(super) struct Before {
    pub(super) bytes: Vec<u8>,
    hash: [u8; 32],
    pub(super) known: Known,
}

/// What undo needs: replaced spans and both hashes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct JournalRecord {
    /// Relative to the workspace.
    pub path: String,
    /// SHA-256 of the old file; `None`: there was none.
    pub before: Option<[u8; 32]>,
    /// SHA-256 of the new file; `None`: it is removed.
    pub after: Option<[u8; 32]>,
    /// In the order of the old file, apart from each other.
    pub spans: Vec<Span>,
}

/// `old` bytes at `offset` of the old file were replaced by `new_len` bytes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Span {
    /// In the old file.
    pub offset: u64,
    /// What stood there.
    pub old: Vec<u8>,
    /// How many bytes stand there now.
    pub new_len: u64,
}

impl Before {
    /// Reads a file to edit it; `None` if there is none yet.
    pub(super) fn load(path: &WsPath, seen: &Seen) -> Result<Option<Before>, Refusal> {
        if !path.exists() {
            return Ok(None);
        }
        let name = shown(path.shown());
        let file = path.open()?;
        let unreadable = |error: io::Error| {
            Refusal(format!(
                "`{name}` cannot be read: {error}. Work on another file, or ask the user to mend this one."
            ))
        };
        let meta = file.metadata().map_err(unreadable)?;
        if meta.permissions().readonly() {
            return Err(Refusal(format!(
                "`{name}` is read-only (mode {:03o}), so it was not changed. If it is meant to change, make it writable \
                 with run_command and chmod u+w, then try again.",
                meta.permissions().mode() & 0o777
            )));
        }
        let mut bytes = Vec::new();
        (&file)
            .take(MAX_BYTES + 1)
            .read_to_end(&mut bytes)
            .map_err(unreadable)?;
        if bytes.len() as u64 > MAX_BYTES {
            return Err(Refusal(format!(
                "`{name}` has {} bytes; files above {} are not edited by this tool. Change it with run_command, for example with sed.",
                text::grouped(meta.len()),
                text::grouped(MAX_BYTES)
            )));
        }
        if let Some(what) = not_text(&bytes) {
            return Err(Refusal(format!(
                "`{name}` is {what}, and this tool edits text only. Use run_command with a program that understands it."
            )));
        }
        let hash = digest(&bytes);
        Ok(Some(Before {
            known: seen.known(path.full(), &hash),
            bytes,
            hash,
        }))
    }
}

impl Edit {
    /// `splices`: in order, apart from each other, inside the old bytes. `report`: what the model is told once it is made.
    pub(super) fn new(
        path: WsPath,
        before: Option<Before>,
        splices: Vec<Splice>,
        report: impl FnOnce(&Diff) -> String,
    ) -> Edit {
        let bytes = before.as_ref().map(|before| &before.bytes[..]);
        let diff = unified(path.shown(), bytes, &splices);
        let report = report(&diff);
        Edit {
            path,
            before,
            splices,
            diff,
            report,
        }
    }

    /// Which files, relative to the workspace.
    pub fn paths(&self) -> Vec<&str> {
        vec![self.path.shown()]
    }

    /// What the policy says to exactly this change.
    pub fn judge(self, policy: &Policy) -> Verdict<Edit> {
        let paths: Vec<String> = self.paths().into_iter().map(String::from).collect();
        let paths: Vec<&str> = paths.iter().map(String::as_str).collect();
        let (diff, protected) = (self.diff().to_string(), self.protected());
        policy.edit(self, &paths, &diff, protected)
    }

    /// The exact change as unified diff text (what a question shows; the caller makes it visible).
    pub fn diff(&self) -> &str {
        &self.diff.text
    }

    /// Why it asks even under `edits=auto`, if so.
    pub fn protected(&self) -> Option<&'static str> {
        self.path.protected()
    }

    /// The new file as slices of the old one and of the splices.
    fn parts(&self) -> Vec<&[u8]> {
        let old = self
            .before
            .as_ref()
            .map_or(&b""[..], |before| &before.bytes);
        let mut parts = Vec::with_capacity(self.splices.len() * 2 + 1);
        let mut at = 0;
        for splice in &self.splices {
            parts.push(&old[at..splice.range.start]);
            parts.push(&splice.new[..]);
            at = splice.range.end;
        }
        parts.push(&old[at..]);
        parts
    }

    fn record(&self, after: [u8; 32]) -> JournalRecord {
        let old = self
            .before
            .as_ref()
            .map_or(&b""[..], |before| &before.bytes);
        let spans = self.splices.iter().map(|splice| Span {
            offset: splice.range.start as u64,
            old: old[splice.range.clone()].to_vec(),
            new_len: splice.new.len() as u64,
        });
        JournalRecord {
            path: self.path.shown().to_string(),
            before: self.before.as_ref().map(|before| before.hash),
            after: Some(after),
            spans: spans.collect(),
        }
    }

    /// Makes it. On success the file counts as read as far as it was before.
    pub(super) fn make(
        self,
        seen: &mut Seen,
        journal: &mut dyn FnMut(JournalRecord) -> io::Result<()>,
    ) -> ToolOutcome {
        let name = shown(self.path.shown());
        if !self.path.has_workspace() {
            return failed(format!(
                "`{name}` was not changed: the workspace is not there any more. End the task with finish_task and status \
                 failed, and tell the user."
            ));
        }
        let parts = self.parts();
        let mut hasher = Sha256::new();
        parts.iter().for_each(|part| hasher.feed(part));
        let after = hasher.finish();
        let Ok(old_file) = self.current() else {
            return failed(changed_meanwhile(&name, self.before.is_some()));
        };
        if let Err(error) = journal(self.record(after)) {
            return failed(format!(
                "`{name}` was not changed: its journal record could not be written ({error}), and without one the change \
                 could not be undone. Tell the user."
            ));
        }
        let made = match Folders::make(self.path.full()) {
            Ok(made) => made,
            Err(error) => {
                return failed(not_written(&name, "its folder could not be made", &error));
            }
        };
        let mut moved_on = false;
        let mut recheck = || {
            self.current().map(|_| ()).map_err(|MovedOn| {
                moved_on = true;
                io::Error::other("the file changed meanwhile")
            })
        };
        let written = match &old_file {
            Some(like) => file::replace(self.path.full(), &parts, Some(like), &mut recheck),
            None => file::create(self.path.full(), &parts),
        };
        if let Err(error) = written {
            made.remove();
            let appeared = self.before.is_none() && error.kind() == io::ErrorKind::AlreadyExists;
            return failed(match moved_on || appeared {
                true => changed_meanwhile(&name, self.before.is_some()),
                false => not_written(&name, "it could not be written", &error),
            });
        }
        let known = self
            .before
            .as_ref()
            .map_or(Known::Current, |before| before.known);
        seen.record(self.path.full(), after, known);
        let created = self.before.is_none();
        done(
            self.report,
            Facts::Edited {
                files: vec![FileChange {
                    path: self.path.shown().to_string(),
                    added: self.diff.added,
                    removed: self.diff.removed,
                    created,
                    deleted: false,
                }],
                diff: self.diff.text,
            },
        )
    }

    /// The file as it is now, if it is still what the edit was worked out for: the same bytes (touched or saved again is the same
    /// file), or nothing where there was nothing.
    fn current(&self) -> Result<Option<File>, MovedOn> {
        let Some(before) = &self.before else {
            return match fs::symlink_metadata(self.path.full()) {
                Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
                Err(_) | Ok(_) => Err(MovedOn),
            };
        };
        let file = self.path.open().map_err(|_| MovedOn)?;
        match holds(&file, &before.bytes) {
            Ok(true) => Ok(Some(file)),
            Ok(false) | Err(_) => Err(MovedOn),
        }
    }
}

/// The path no longer holds what an edit was worked out for.
struct MovedOn;

/// Whether the file holds exactly these bytes.
fn holds(mut file: &File, bytes: &[u8]) -> io::Result<bool> {
    let mut rest = bytes;
    let mut chunk = vec![0; 64 << 10];
    loop {
        let n = match file.read(&mut chunk) {
            Ok(0) => return Ok(rest.is_empty()),
            Ok(n) => n,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
            Err(error) => return Err(error),
        };
        match rest.strip_prefix(&chunk[..n]) {
            Some(after) => rest = after,
            None => return Ok(false),
        }
    }
}

fn changed_meanwhile(name: &str, existed: bool) -> String {
    match existed {
        true => format!(
            "`{name}` changed on disk since this edit was worked out, so it was not touched. Read it again with read_file and \
             make the edit anew."
        ),
        false => format!(
            "`{name}` appeared on disk since this edit was worked out, so it was not touched. Read it with read_file first."
        ),
    }
}

fn not_written(name: &str, what: &str, error: &io::Error) -> String {
    let step = match error.kind() {
        io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded => {
            "Tell the user that there is no room left on the disk."
        }
        io::ErrorKind::PermissionDenied | io::ErrorKind::ReadOnlyFilesystem => {
            "Choose a place that can be written, or ask the user to change the permissions."
        }
        _ => "Try once more; if it fails again, tell the user.",
    };
    format!("`{name}` was not changed, {what}: {error}. {step}")
}

/// Folders that were made for a new file.
struct Folders(Vec<PathBuf>);

impl Folders {
    /// Makes what is missing above `file` and checks that no link slipped in.
    fn make(file: &Path) -> io::Result<Folders> {
        let parent = file.parent().unwrap_or(Path::new("/"));
        let missing: Vec<&Path> = parent
            .ancestors()
            .take_while(|folder| !folder.exists())
            .collect();
        let mut made = Folders(Vec::new());
        for folder in missing.into_iter().rev() {
            match fs::create_dir(folder) {
                Ok(()) => {
                    made.0.push(folder.to_path_buf());
                    sync_folder(folder.parent());
                }
                // Somebody else made it meanwhile: as good.
                Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
                Err(error) => {
                    made.remove();
                    return Err(error);
                }
            }
        }
        match fs::canonicalize(parent) {
            Ok(canonical) if canonical == parent => Ok(made),
            Ok(_) => {
                made.remove();
                Err(io::Error::other(
                    "a folder on the way was exchanged for a link",
                ))
            }
            Err(error) => {
                made.remove();
                Err(error)
            }
        }
    }

    /// After a failure: takes away what was made, as far as it is still empty.
    fn remove(self) {
        for folder in self.0.into_iter().rev() {
            // Not empty any more, or gone: then it is not ours to remove.
            let _ = fs::remove_dir(folder);
        }
    }
}

/// Makes the entry of a new folder survive a power cut, as far as the file system can.
fn sync_folder(folder: Option<&Path>) {
    if let Some(Ok(folder)) = folder.map(File::open) {
        // Some network file systems cannot; the new file is no less whole for it.
        let _ = folder.sync_all();
    }
}

/// `1 line`, `12 lines`.
pub(super) fn count_lines(count: u64) -> String {
    format!(
        "{} {}",
        text::grouped(count),
        if count == 1 { "line" } else { "lines" }
    )
}

/// Bytes for a failure text, clipped.
pub(super) fn clip(text: &str, chars: usize) -> String {
    text::clip(&shown(text), chars).into_owned()
}
