//! The one splicer of all editing tools. In: files as they were read and what to put where. Out: an [`Edit`], which is worked out
//! and not made: the policy judges it, a person may see its diff. `write`, `replace` and `patch` build edits, `commit.rs` makes them.
//!
//! ```text
//! before   alpha⏎beta\r⏎gamma\r⏎          splice 0..5 → "ALPHA"
//! written  ALPHA ++ ⏎beta\r⏎gamma\r⏎      what lies outside is the same, byte for byte
//! journal  path, sha256 before and after, [offset 0, old "alpha", new_len 5]
//! ```
//!
//! Refused: files above 256 MiB (they are held in memory once), what is not text, read-only files.
//!
//! Invariant: output = before ++ new ++ after, for every splice; BOM, mode, line ends and odd bytes outside stay.
//! Invariant: an edit is made at most once: it is consumed.
//!
//! Read next: `commit.rs` (all files or none), `unified.rs` (the diff), `seen.rs` (what was read), `write.rs`, `replace.rs`, `patch.rs`.

use std::cell::OnceCell;
use std::fs::Metadata;
use std::io::{self, Read};
use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use crate::diff::Splice;
use crate::policy::{Policy, Verdict};
use crate::protocol::{FileChange, JournalRecord, Span};
use crate::sha256::digest;
use crate::sys::file::Identity;
use crate::text;

use super::content::not_text;
use super::seen::{Known, Seen};
use super::shown;
use super::unified::{Diff, unified};
use super::workspace::{Refusal, WsPath};

/// Larger files are not edited: they are held in memory.
const MAX_BYTES: u64 = 256 << 20;

/// A worked-out change of one file or of several, not yet made.
#[derive(Debug)]
pub struct Edit {
    pub(super) files: Vec<FileEdit>,
    pub(super) diff: String,
    /// For the model, once it is made.
    pub(super) report: String,
    pub(super) is_patch: bool,
}

/// What happens to one of its files.
#[derive(Debug)]
pub(super) struct FileEdit {
    pub(super) path: WsPath,
    pub(super) before: Option<Before>,
    /// In order, apart from each other; a new file is one splice of nothing.
    pub(super) splices: Vec<Splice>,
    /// It loses its name, and with a splice all that it holds.
    pub(super) gone: bool,
    /// Set or clear the right to execute.
    pub(super) executable: Option<bool>,
    /// In a new file: owner and mode come from the file of this number in the edit, which it replaces under another name.
    pub(super) like: Option<usize>,
    pub(super) diff: Diff,
}

/// A file as it was read for an edit.
#[derive(Debug)]
pub(super) struct Before {
    pub(super) bytes: Vec<u8>,
    pub(super) executable: bool,
    /// None: it changed while it was read.
    pub(super) stamp: Option<Stamp>,
    /// Whether the stamp proves that it is untouched: one that is so young may hide a change in the same tick of the clock.
    pub(super) settled: bool,
    hash: OnceCell<[u8; 32]>,
}

/// What tells that a file is untouched without reading it. The time of the last change of the inode cannot be set back.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Stamp {
    identity: Identity,
    changed: (i64, i64),
}

impl From<&Metadata> for Stamp {
    fn from(meta: &Metadata) -> Stamp {
        Stamp {
            identity: Identity::from(meta),
            changed: (meta.ctime(), meta.ctime_nsec()),
        }
    }
}

impl Stamp {
    /// Whether the clock that stamps files has moved on since the last change.
    fn has_settled(&self) -> bool {
        let (seconds, nanos) = self.changed;
        // Some file systems stamp in steps of up to two seconds; where there are fractions it is a tick of the system, 10 ms at most.
        let step = Duration::from_millis(if nanos == 0 { 2_000 } else { 50 });
        let changed = (u64::try_from(seconds), u32::try_from(nanos));
        let (Ok(seconds), Ok(nanos)) = changed else {
            return false;
        };
        let now = SystemTime::now().duration_since(UNIX_EPOCH);
        now.is_ok_and(|now| Duration::new(seconds, nanos).saturating_add(step) < now)
    }
}

impl Before {
    /// Reads a file to edit it; `None` if there is none yet.
    pub(super) fn load(path: &WsPath) -> Result<Option<Before>, Refusal> {
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
        let too_large = |bytes: u64| {
            Refusal(format!(
                "`{name}` has {} bytes; files above {} are not edited by this tool. Change it with run_command, for example with sed.",
                text::grouped(bytes),
                text::grouped(MAX_BYTES)
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
        if meta.len() > MAX_BYTES {
            return Err(too_large(meta.len()));
        }
        let mut bytes = Vec::with_capacity(usize::try_from(meta.len()).unwrap_or(0) + 1);
        (&file)
            .take(MAX_BYTES + 1)
            .read_to_end(&mut bytes)
            .map_err(unreadable)?;
        // It grew while it was read.
        if bytes.len() as u64 > MAX_BYTES {
            return Err(too_large(bytes.len() as u64));
        }
        if let Some(what) = not_text(&bytes) {
            return Err(Refusal(format!(
                "`{name}` is {what}, and this tool edits text only. Use run_command with a program that understands it."
            )));
        }
        let stamp = Stamp::from(&meta);
        let after = file.metadata().map_err(unreadable)?;
        Ok(Some(Before {
            stamp: Some(stamp).filter(|stamp| *stamp == Stamp::from(&after)),
            settled: stamp.has_settled(),
            bytes,
            executable: meta.permissions().mode() & 0o100 != 0,
            hash: OnceCell::new(),
        }))
    }

    /// Computed when first needed: for a large file it is most of the work.
    pub(super) fn hash(&self) -> [u8; 32] {
        *self.hash.get_or_init(|| digest(&self.bytes))
    }

    pub(super) fn set_hash(&self, hash: [u8; 32]) {
        // Whoever was first computed the same.
        let _ = self.hash.set(hash);
    }

    /// What the model knows of it.
    pub(super) fn known(&self, path: &WsPath, seen: &Seen) -> Known {
        seen.known(path.full(), &|| self.hash())
    }
}

impl Edit {
    /// One file. `splices`: in order, apart from each other, inside the old bytes. `report`: what the model is told once it is made.
    pub(super) fn new(
        path: WsPath,
        before: Option<Before>,
        splices: Vec<Splice>,
        report: impl FnOnce(&Diff) -> String,
    ) -> Edit {
        let mut file = FileEdit::spliced(path, before, splices);
        Edit {
            report: report(&file.diff),
            diff: std::mem::take(&mut file.diff.text),
            files: vec![file],
            is_patch: false,
        }
    }

    /// The files of a patch.
    pub(super) fn patch(mut files: Vec<FileEdit>, report: String) -> Edit {
        let texts = files
            .iter_mut()
            .map(|file| std::mem::take(&mut file.diff.text));
        Edit {
            diff: texts.collect(),
            files,
            report,
            is_patch: true,
        }
    }

    /// Which files, relative to the workspace.
    pub fn paths(&self) -> Vec<&str> {
        self.files.iter().map(|file| file.path.shown()).collect()
    }

    /// What the policy says to exactly this change.
    pub fn judge(self, policy: &Policy) -> Verdict<Edit> {
        let paths: Vec<String> = self.paths().into_iter().map(String::from).collect();
        let paths: Vec<&str> = paths.iter().map(String::as_str).collect();
        let protected = self.protected();
        policy.edit(self, &paths, Edit::diff, protected)
    }

    /// The exact change as unified diff text (what a question shows; the caller makes it visible).
    pub fn diff(&self) -> &str {
        &self.diff
    }

    /// Why it asks even under `edits=auto`, if so.
    pub fn protected(&self) -> Option<&'static str> {
        self.files.iter().find_map(|file| file.path.protected())
    }
}

impl FileEdit {
    fn new(path: WsPath, before: Option<Before>, splices: Vec<Splice>, diff: Diff) -> FileEdit {
        FileEdit {
            path,
            before,
            splices,
            gone: false,
            executable: None,
            like: None,
            diff,
        }
    }

    /// A file that changes or is new.
    pub(super) fn spliced(path: WsPath, before: Option<Before>, splices: Vec<Splice>) -> FileEdit {
        let (from, old) = match &before {
            Some(before) => (Some(path.shown()), &before.bytes[..]),
            None => (None, &b""[..]),
        };
        let diff = unified(from, Some(path.shown()), old, &splices);
        FileEdit::new(path, before, splices, diff)
    }

    /// A file that goes.
    pub(super) fn gone(path: WsPath, before: Before) -> FileEdit {
        let all = all_of(&before);
        let diff = unified(Some(path.shown()), None, &before.bytes, &all);
        FileEdit {
            gone: true,
            ..FileEdit::new(path, Some(before), all, diff)
        }
    }

    /// A file that changes and gets another name: the new file, then the old one, which stands at `number` + 1 in the edit.
    pub(super) fn moved(
        from: WsPath,
        before: Before,
        splices: &[Splice],
        to: WsPath,
        number: usize,
    ) -> [FileEdit; 2] {
        let diff = unified(Some(from.shown()), Some(to.shown()), &before.bytes, splices);
        let parts = parts(&before.bytes, splices);
        let whole = Splice {
            range: 0..0,
            new: parts.concat(),
        };
        let new = FileEdit {
            like: Some(number + 1),
            ..FileEdit::new(to, None, vec![whole], diff)
        };
        let all = all_of(&before);
        let old = FileEdit {
            gone: true,
            ..FileEdit::new(from, Some(before), all, Diff::default())
        };
        [new, old]
    }

    /// Sets or clears the right to execute, and says so at the head of the diff, as git does: a yes is to what was shown.
    pub(super) fn set_executable(&mut self, executable: Option<bool>) {
        self.executable = executable;
        let lines = match (executable, self.before.is_some() || self.like.is_some()) {
            (None, _) => return,
            (Some(true), false) => "new file mode 100755\n",
            (Some(false), false) => "new file mode 100644\n",
            (Some(true), true) => "old mode 100644\nnew mode 100755\n",
            (Some(false), true) => "old mode 100755\nnew mode 100644\n",
        };
        self.diff.text.insert_str(0, lines);
    }

    pub(super) fn old_bytes(&self) -> &[u8] {
        self.before
            .as_ref()
            .map_or(&b""[..], |before| &before.bytes)
    }

    /// The new file as slices of the old one and of the splices; `None`: there is none.
    pub(super) fn parts(&self) -> Option<Vec<&[u8]>> {
        (!self.gone).then(|| parts(self.old_bytes(), &self.splices))
    }

    pub(super) fn record(&self, after: Option<[u8; 32]>) -> JournalRecord {
        let old = self.old_bytes();
        let spans = self.splices.iter().map(|splice| Span {
            offset: splice.range.start as u64,
            old: old[splice.range.clone()].to_vec(),
            new_len: splice.new.len() as u64,
        });
        JournalRecord {
            path: self.path.shown().to_string(),
            before: self.before.as_ref().map(Before::hash),
            after,
            executable: self.executable,
            spans: spans.collect(),
        }
    }

    pub(super) fn change(&self) -> FileChange {
        FileChange {
            path: self.path.shown().to_string(),
            added: self.diff.added,
            removed: self.diff.removed,
            created: self.before.is_none(),
            deleted: self.gone,
            executable: self.executable,
        }
    }
}

fn all_of(before: &Before) -> Vec<Splice> {
    vec![Splice {
        range: 0..before.bytes.len(),
        new: Vec::new(),
    }]
}

fn parts<'a>(old: &'a [u8], splices: &'a [Splice]) -> Vec<&'a [u8]> {
    let mut parts = Vec::with_capacity(splices.len() * 2 + 1);
    let mut at = 0;
    for splice in splices {
        parts.push(&old[at..splice.range.start]);
        parts.push(&splice.new[..]);
        at = splice.range.end;
    }
    parts.push(&old[at..]);
    parts
}

/// `1 line`, `12 lines`.
pub(super) fn count_lines(count: u64) -> String {
    text::counted(count, "line")
}

/// `line 3`, `lines 3-5`.
pub(super) fn line_numbers(first: u64, last: u64) -> String {
    match first == last {
        true => format!("line {first}"),
        false => format!("lines {first}-{last}"),
    }
}

/// Bytes for a failure text, clipped.
pub(super) fn clip(text: &str, chars: usize) -> String {
    text::clip(&shown(text), chars).into_owned()
}
