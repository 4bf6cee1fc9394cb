//! A workspace, a state folder and the journal of a session, driven as the engine drives it: the record first, then the file.

use crate::support::temp::Temp;
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use zcoder::protocol::{FileChange, JournalRecord, Span};
use zcoder::sha256::{digest, hex};
use zcoder::sys::file;
use zcoder::tools::Workspace;
use zcoder::undo::{CommandChanges, Error, Force, Journal, Limits, Made, Past, Plan, Store};

/// Ids sort: this is the first session, others are newer.
pub(crate) const SESSION: &str = "20260821-090000123-x1y2z3a4";

/// The whole of it.
pub(crate) struct Kit {
    pub(crate) temp: Temp,
    pub(crate) journal: Journal,
    limits: Limits,
    turn: u64,
}

impl Kit {
    pub(crate) fn new() -> Kit {
        Kit::limited(Limits::default())
    }

    /// An empty workspace, a journal with these limits.
    pub(crate) fn limited(limits: Limits) -> Kit {
        let temp = Temp::new();
        fs::create_dir(temp.path().join("ws")).expect("workspace");
        let mut kit = Kit {
            temp,
            journal: Journal::off(),
            limits,
            turn: 0,
        };
        kit.new_session(SESSION);
        kit
    }

    /// One with a file that is too large to be kept whole.
    pub(crate) fn with_large(name: &str, text: &str) -> Kit {
        let kit = Kit::limited(Limits {
            whole_bytes: 1_000,
            ..Limits::default()
        });
        assert!(text.len() > 1_000);
        kit.put(name, text);
        kit
    }

    /// A workspace with these files.
    pub(crate) fn with(files: &[(&str, &str)]) -> Kit {
        let kit = Kit::new();
        files.iter().for_each(|(name, text)| kit.put(name, text));
        kit
    }

    /// The next session of the same workspace.
    pub(crate) fn new_session(&mut self, id: &str) {
        self.journal = Journal::new(self.store(), id);
        self.turn = 0;
    }

    pub(crate) fn root(&self) -> PathBuf {
        self.temp.path().join("ws")
    }

    pub(crate) fn store(&self) -> Store {
        let state = self.temp.path().join("state");
        Store::new(&state, &self.root()).with_limits(self.limits)
    }

    /// The folder of the session.
    pub(crate) fn folder(&self) -> PathBuf {
        let undo = self.temp.path().join("state/undo");
        let workspaces = fs::read_dir(undo).expect("the journals");
        let mut workspaces = workspaces.map(|entry| entry.expect("readable").path());
        let workspace = workspaces.find(|path| path.is_dir());
        workspace.expect("one").join(SESSION)
    }

    pub(crate) fn entry(&self, number: u64) -> PathBuf {
        self.folder().join(format!("{number:06}"))
    }

    pub(crate) fn put(&self, name: &str, bytes: impl AsRef<[u8]>) {
        self.temp.write(&format!("ws/{name}"), bytes);
    }

    pub(crate) fn text(&self, name: &str) -> String {
        String::from_utf8(self.temp.read(&format!("ws/{name}"))).expect("UTF-8")
    }

    pub(crate) fn mode(&self, name: &str) -> u32 {
        let meta = fs::metadata(self.root().join(name)).expect("there");
        meta.permissions().mode() & 0o777
    }

    pub(crate) fn set_mode(&self, name: &str, mode: u32) {
        let permissions = fs::Permissions::from_mode(mode);
        fs::set_permissions(self.root().join(name), permissions).expect("mode");
    }

    /// All files of the workspace with their texts, in order.
    pub(crate) fn tree(&self) -> Vec<(String, String)> {
        fn walk(folder: &Path, root: &Path, out: &mut Vec<(String, String)>) {
            for entry in fs::read_dir(folder).expect("folder") {
                let path = entry.expect("entry").path();
                let name = path.strip_prefix(root).expect("below");
                let name = name.to_string_lossy().into_owned();
                if path.is_dir() {
                    out.push((format!("{name}/"), String::new()));
                    walk(&path, root, out);
                } else {
                    let bytes = fs::read(&path).expect("file");
                    out.push((name, String::from_utf8_lossy(&bytes).into_owned()));
                }
            }
        }
        let mut out = Vec::new();
        walk(&self.root(), &self.root(), &mut out);
        out.sort();
        out
    }

    pub(crate) fn begin(&mut self) {
        self.turn += 1;
        self.journal
            .begin_turn(self.turn, &format!("task {}", self.turn));
    }

    /// One turn that gives each file its new text (`None`: removes it).
    pub(crate) fn turn(&mut self, edits: &[(&str, Option<&str>)]) {
        self.begin();
        for (name, text) in edits {
            self.edit(name, text.map(str::as_bytes));
        }
        self.journal.end_turn();
    }

    /// One edit of the turn.
    #[track_caller]
    pub(crate) fn edit(&mut self, name: &str, new: Option<&[u8]>) {
        self.record(name, new);
        self.change(name, new);
    }

    /// Only its record: the edit was not made.
    #[track_caller]
    pub(crate) fn record(&mut self, name: &str, new: Option<&[u8]>) {
        let record = record(&self.root(), name, new);
        keep(&self.root(), &mut self.journal, &record).expect("journalled");
        assert_eq!(self.journal.notices(), Vec::<String>::new());
    }

    /// An edit that sets or clears the right to execute, with a new text or without.
    #[track_caller]
    pub(crate) fn set_executable(&mut self, name: &str, executable: bool, new: Option<&str>) {
        self.record_executable(name, executable, new);
        if let Some(text) = new {
            self.put(name, text);
        }
        let mode = file::with_execution(self.mode(name), executable);
        self.set_mode(name, mode);
    }

    /// Only its record.
    #[track_caller]
    pub(crate) fn record_executable(&mut self, name: &str, executable: bool, new: Option<&str>) {
        let new = match new {
            Some(text) => text.as_bytes().to_vec(),
            None => self.text(name).into_bytes(),
        };
        let mut record = record(&self.root(), name, Some(&new));
        record.executable = Some(executable);
        keep(&self.root(), &mut self.journal, &record).expect("journalled");
    }

    /// Only the file.
    pub(crate) fn change(&self, name: &str, new: Option<&[u8]>) {
        match new {
            Some(bytes) => self.put(name, bytes),
            None => fs::remove_file(self.root().join(name)).expect("removed"),
        }
    }

    /// A command that gives files new texts, noted as the engine notes it.
    pub(crate) fn ran(&mut self, command: &str, files: &[(&str, &str)]) {
        files.iter().for_each(|(name, text)| self.put(name, text));
        let files: Vec<PathBuf> = files.iter().map(|(name, _)| PathBuf::from(name)).collect();
        let changes = CommandChanges {
            command,
            files: &files,
            looked: true,
        };
        self.journal.ran(&changes).expect("noted");
    }

    /// Something with the past of the newest session.
    pub(crate) fn past<T>(&self, with: impl FnOnce(&Past<'_>) -> T) -> T {
        let workspace = Workspace::open(&self.root(), vec![self.temp.path().join("state")]);
        let workspace = workspace.expect("a workspace");
        let resolve = |path: &Path| workspace.writable(path);
        let past = Past::open(&self.store(), None, &resolve).expect("a session");
        with(&past)
    }

    #[track_caller]
    pub(crate) fn plan_undo(&self) -> Plan {
        self.past(|past| past.undo(None)).expect("a plan")
    }

    #[track_caller]
    pub(crate) fn undo(&self) -> Made {
        self.step(|past| past.undo(None), Force::No)
    }

    #[track_caller]
    pub(crate) fn redo(&self) -> Made {
        self.step(|past| past.redo(), Force::No)
    }

    #[track_caller]
    pub(crate) fn step(
        &self,
        plan: impl FnOnce(&Past<'_>) -> Result<Plan, Error>,
        force: Force,
    ) -> Made {
        self.try_step(plan, force).expect("made")
    }

    pub(crate) fn try_step(
        &self,
        plan: impl FnOnce(&Past<'_>) -> Result<Plan, Error>,
        force: Force,
    ) -> Result<Made, Error> {
        self.past(|past| {
            past.settle(force)?;
            past.make(&plan(past)?, force)
        })
    }

    /// The text of the error that a step ends with.
    #[track_caller]
    pub(crate) fn refused(
        &self,
        plan: impl FnOnce(&Past<'_>) -> Result<Plan, Error>,
        force: Force,
    ) -> String {
        let error = self.try_step(plan, force).expect_err("a refusal");
        error
            .to_string()
            .replace(&self.temp.path().display().to_string(), "TEMP")
    }
}

/// Hands a record to a journal, with the file as it is, as the tools do.
pub(crate) fn keep(
    root: &Path,
    journal: &mut Journal,
    record: &JournalRecord,
) -> std::io::Result<()> {
    let old = fs::read(root.join(&record.path)).unwrap_or_default();
    journal.edit(record, &old)
}

/// The record of the smallest splice that makes `new` of the file.
pub(crate) fn record(root: &Path, name: &str, new: Option<&[u8]>) -> JournalRecord {
    let old = fs::read(root.join(name)).ok();
    let bytes = old.clone().unwrap_or_default();
    let after = new.unwrap_or_default();
    let same = |(a, b): &(&u8, &u8)| a == b;
    let mut start = bytes.iter().zip(after).take_while(same).count();
    let ends = bytes[start..].iter().rev().zip(after[start..].iter().rev());
    let mut end = ends.take_while(same).count();
    if new.is_none() || old.is_none() {
        (start, end) = (0, 0);
    }
    JournalRecord {
        path: name.to_string(),
        before: old.map(|old| digest(&old)),
        after: new.map(digest),
        executable: None,
        spans: vec![Span {
            offset: start as u64,
            old: bytes[start..bytes.len() - end].to_vec(),
            new_len: (after.len() - start - end) as u64,
        }],
    }
}

/// A frame: lengths, head and body with the hash that fits.
#[track_caller]
pub(crate) fn sealed(frame: &str) -> String {
    let (lengths, rest) = frame.split_once('\n').expect("lengths");
    let (head, body) = lengths.split_once(' ').expect("two");
    let head = &rest[..head.parse().expect("a number")];
    let body = &rest[head.len() + 1..][..body.parse().expect("a number")];
    let body = digest(body.as_bytes());
    let hashed = [lengths.as_bytes(), b"\n", head.as_bytes(), b"\n", &body].concat();
    format!("{} {frame}", hex(&digest(&hashed)))
}

/// A change as a list shows it.
pub(crate) fn lines(changes: &[FileChange]) -> Vec<String> {
    let line = |change: &FileChange| {
        let mark = match (change.created, change.deleted) {
            (true, _) => ", new",
            (_, true) => ", deleted",
            (false, false) => "",
        };
        let bit = match change.executable {
            Some(true) => ", executable",
            Some(false) => ", no longer executable",
            None => "",
        };
        format!(
            "{} +{} -{}{mark}{bit}",
            change.path, change.added, change.removed
        )
    };
    changes.iter().map(line).collect()
}
