//! What a program did to a session, step by step, and what it was promised on the way.
//!
//! ```text
//! Disk(Write log-1.jsonl …)   Disk(SyncData log-1.jsonl)   …   Disk(SyncFolder ID)   Kept ID 2      the commit has returned
//! snapshot 2 of ID: the bytes of `current` and of each log as far as it counts, the records, what is told when it is opened
//! ```
//!
//! A session that was opened is kept, too: somebody has seen what it says.
//!
//! Invariant: snapshots are made from what the writer holds in memory and from the bytes of the files, never by the loader, except of what
//! was damaged.

use super::world::{self, Layout, World};
use crate::session::kit::{Kit, user};
use crate::support::temp::Temp;
use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::time::UNIX_EPOCH;
use zcoder::policy::Profile;
use zcoder::session::{
    Disk, Envelope, Log, Notice, Opened, Operation, Pointer, Record, SessionId, Store, read_line,
    write_line,
};
use zcoder::sha256::digest;
use zcoder::sys::channel::{Receiver, channel};

/// One step.
#[derive(Clone, Debug)]
pub(super) enum Step {
    /// Paths are below the state folder.
    Disk(Operation),
    /// From here on this generation of this session must not be lost.
    Kept(String, u64),
    /// It is being deleted.
    Going(String),
    /// It is deleted.
    Gone(String),
}

/// A session at one generation.
#[derive(Clone, Debug)]
pub(super) struct Snapshot {
    pub(super) generation: u64,
    files: Vec<(String, Vec<u8>)>,
    pub(super) records: Vec<Record>,
    pub(super) notices: Vec<Notice>,
}

/// What a session must not lose.
#[derive(Clone, Copy, Debug)]
pub(super) enum Promise {
    /// Not there, or at least this generation.
    Maybe(u64),
    /// At least this generation.
    Kept(u64),
    /// Not there.
    Gone,
}

/// Of each session.
pub(super) type Promises = BTreeMap<String, Promise>;

/// The generations of each session, oldest first.
pub(super) type Snapshots = BTreeMap<String, Vec<Snapshot>>;

/// A program at work.
pub(super) struct Script {
    pub(super) kit: Kit,
    heard: Receiver<Operation>,
    /// What was on the disk before it.
    pub(super) start: Layout,
    pub(super) steps: Vec<Step>,
    pub(super) snapshots: Snapshots,
    /// The session that it is about: the last one that it began or opened.
    about: Option<SessionId>,
}

impl Step {
    /// What it does to the disk, and what is promised from here on.
    pub(super) fn play(&self, world: &mut World, promises: &mut Promises) {
        let (id, promise) = match self {
            Step::Disk(operation) => return world.play(operation),
            Step::Kept(id, generation) => (id, Promise::Kept(*generation)),
            Step::Going(id) => match promises[id] {
                Promise::Maybe(least) | Promise::Kept(least) => (id, Promise::Maybe(least)),
                Promise::Gone => return,
            },
            Step::Gone(id) => (id, Promise::Gone),
        };
        promises.insert(id.clone(), promise);
    }

    pub(super) fn syncs(&self) -> Option<&Path> {
        match self {
            Step::Disk(
                Operation::SyncData { path }
                | Operation::SyncFile { path }
                | Operation::SyncFolder { path },
            ) => Some(path),
            Step::Disk(_) | Step::Kept(..) | Step::Going(_) | Step::Gone(_) => None,
        }
    }
}

impl Snapshot {
    pub(super) fn of(folder: &Path, records: &[Record], notices: &[Notice]) -> Snapshot {
        let pointer = fs::read(folder.join("current")).expect("a pointer");
        let parsed = Pointer::parse(&pointer).expect("a pointer");
        let mut files = vec![("current".to_string(), pointer)];
        for number in 1..=parsed.log {
            let name = format!("log-{number}.jsonl");
            let mut bytes = fs::read(folder.join(&name)).expect("a log");
            if number == parsed.log {
                bytes.truncate(usize::try_from(parsed.length).expect("small"));
            }
            files.push((name, bytes));
        }
        if parsed.log == 1 && notices.is_empty() {
            assert_eq!(chain(&files[1].1, records), parsed.hash);
        }
        Snapshot {
            generation: parsed.generation,
            files,
            records: records.to_vec(),
            notices: notices.to_vec(),
        }
    }

    /// Whether these files hold it, whatever stands behind what counts.
    pub(super) fn is_in(&self, folder: &Path) -> bool {
        self.files.iter().all(|(name, bytes)| {
            let now = fs::read(folder.join(name)).unwrap_or_default();
            match name.as_str() {
                "current" => now == *bytes,
                _ => now.starts_with(bytes),
            }
        })
    }
}

/// The hash that the last line must have; each line is that record, and linked to the one before.
fn chain(bytes: &[u8], records: &[Record]) -> [u8; 32] {
    let lines: Vec<&[u8]> = bytes.split_inclusive(|byte| *byte == b'\n').collect();
    assert_eq!(lines.len(), records.len());
    let mut prev = [0; 32];
    for (seq, (line, record)) in (0..).zip(lines.into_iter().zip(records)) {
        let line = line.strip_suffix(b"\n").expect("a whole line");
        let read = read_line(line).expect("a record");
        assert_eq!((read.envelope.seq, read.envelope.prev), (seq, prev));
        assert_eq!(&read.record, record);
        prev = digest(line);
    }
    prev
}

impl Script {
    /// On a disk that holds this.
    pub(super) fn on(start: &Layout) -> Script {
        let mut kit = Kit::inside(Temp::in_memory());
        world::write(kit.temp.path(), start);
        let (recorder, heard) = channel();
        kit.store = kit.store.with_disk(Disk::recorded(recorder));
        Script {
            kit,
            heard,
            start: start.clone(),
            steps: Vec::new(),
            snapshots: Snapshots::new(),
            about: None,
        }
    }

    /// A new session.
    pub(super) fn begin(&self) -> Log {
        self.kit.store.begin(Profile::Coding).expect("a log")
    }

    pub(super) fn open(&mut self, id: &SessionId) -> Opened {
        let opened = self.kit.store.open(id).expect("a session");
        self.hear();
        let generation = opened.log.generation();
        self.steps.push(Step::Kept(id.0.clone(), generation));
        let records = &opened.log.records()[..opened.log.saved()];
        self.keep(id, records, &opened.notices);
        opened
    }

    pub(super) fn commit(&mut self, log: &mut Log) {
        log.commit().expect("a commit");
        self.hear();
        // Damage stays and is told each time.
        let told = self.snapshots.get(&log.id().0).and_then(|all| all.last());
        let notices = told.map(|last| last.notices.clone()).unwrap_or_default();
        self.keep(log.id(), log.records(), &notices);
    }

    pub(super) fn say(&mut self, log: &mut Log, text: &str) {
        log.append(user(text));
        self.commit(log);
    }

    pub(super) fn rename(&mut self, id: &SessionId, title: &str) {
        self.kit.store.rename(id, title).expect("renamed");
        self.hear();
        let log = plain(&self.kit).open(id).expect("a session").log;
        self.keep(id, log.records(), &[]);
    }

    pub(super) fn delete(&mut self, id: &SessionId) {
        self.steps.push(Step::Going(id.0.clone()));
        self.kit.store.delete(id).expect("deleted");
        self.hear();
        self.steps.push(Step::Gone(id.0.clone()));
    }

    /// A snapshot of it as it is now, unless there is one of this generation.
    pub(super) fn keep(&mut self, id: &SessionId, records: &[Record], notices: &[Notice]) {
        let folder = self.kit.store.folder().join(&id.0);
        let snapshot = Snapshot::of(&folder, records, notices);
        self.about = Some(id.clone());
        let all = self.snapshots.entry(id.0.clone()).or_default();
        if all
            .last()
            .is_none_or(|last| last.generation < snapshot.generation)
        {
            all.push(snapshot);
        }
    }

    /// What is promised before the first step: what is on the disk.
    pub(super) fn promises(&self) -> Promises {
        let promise = |(id, snapshots): (&String, &Vec<Snapshot>)| {
            let there = self.start.keys().any(|path| path.ends_with(id));
            let promise = match there {
                true => Promise::Kept(snapshots[0].generation),
                false => Promise::Maybe(0),
            };
            (id.clone(), promise)
        };
        self.snapshots.iter().map(promise).collect()
    }

    /// The session that it is about.
    pub(super) fn id(&self) -> &SessionId {
        self.about.as_ref().expect("a session")
    }

    /// A step as a line of a table; the session is told as `ID`, its workspace's folder as `W`.
    pub(super) fn told(&self, step: &Step) -> String {
        let folder = self.kit.store.folder().file_name().expect("a name");
        let folder = folder.to_str().expect("UTF-8");
        let short = |path: &Path| {
            let path = path
                .to_str()
                .expect("UTF-8")
                .replace(self.about.as_ref().map_or("?", |id| &id.0), "ID");
            let path = path.replace(folder, "W").replace("sessions/W/", "");
            match path.is_empty() {
                true => ".".to_string(),
                false => path,
            }
        };
        match step {
            Step::Kept(_, generation) => format!("kept {generation}"),
            Step::Going(_) => "delete".to_string(),
            Step::Gone(_) => "gone".to_string(),
            Step::Disk(operation) => match operation {
                Operation::Create { path } => format!("create {}", short(path)),
                Operation::Write { path, .. } => format!("write {}", short(path)),
                Operation::Truncate { path, len } => format!("cut {} to {len}", short(path)),
                Operation::SyncData { path } => format!("sync data {}", short(path)),
                Operation::SyncFile { path } => format!("sync {}", short(path)),
                Operation::Rename { from, to } => format!("rename {} {}", short(from), short(to)),
                Operation::Mkdir { path } => format!("mkdir {}", short(path)),
                Operation::SyncFolder { path } => format!("sync folder {}", short(path)),
                Operation::Unlink { path } => format!("unlink {}", short(path)),
                Operation::Committed { .. } => "committed".to_string(),
            },
        }
    }

    /// Puts the first steps of another one before it: what it was begun on is what they have left.
    pub(super) fn follow(&mut self, first: &Script, steps: usize) {
        self.start.clone_from(&first.start);
        self.steps.splice(0..0, first.steps[..steps].to_vec());
        self.know(first);
    }

    /// Takes over the snapshots of what another one did before it.
    pub(super) fn know(&mut self, first: &Script) {
        for (id, snapshots) in &first.snapshots {
            let later = self.snapshots.entry(id.clone()).or_default();
            let until = later.first().map_or(u64::MAX, |first| first.generation);
            let before = |snapshot: &&Snapshot| snapshot.generation < until;
            let before: Vec<_> = snapshots.iter().filter(before).cloned().collect();
            later.splice(0..0, before);
        }
        if self.about.is_none() {
            self.about.clone_from(&first.about);
        }
    }

    /// Puts what happened among the steps.
    pub(super) fn hear(&mut self) {
        while let Ok(operation) = self.heard.try_recv() {
            self.steps.push(match operation {
                Operation::Committed { folder, generation } => {
                    let id = folder.file_name().and_then(|name| name.to_str());
                    Step::Kept(id.expect("an id").to_string(), generation)
                }
                operation => Step::Disk(below(operation, self.kit.temp.path())),
            });
        }
    }
}

/// The store without a recorder.
pub(super) fn plain(kit: &Kit) -> Store {
    Store::new(kit.temp.path(), Path::new("/home/me/app"))
}

/// The same operation with its paths below the root.
fn below(mut operation: Operation, root: &Path) -> Operation {
    let cut = |path: &mut PathBuf| *path = path.strip_prefix(root).expect("below").to_path_buf();
    match &mut operation {
        Operation::Rename { from, to } => {
            cut(from);
            cut(to);
        }
        Operation::Create { path }
        | Operation::Write { path, .. }
        | Operation::Truncate { path, .. }
        | Operation::SyncData { path }
        | Operation::SyncFile { path }
        | Operation::SyncFolder { path }
        | Operation::Mkdir { path }
        | Operation::Unlink { path }
        | Operation::Committed { folder: path, .. } => cut(path),
    }
    operation
}

/// A text that, appended to a log, makes a line of so many bytes, LF included.
pub(super) fn text_for(log: &Log, bytes: usize) -> String {
    let mut line = Vec::new();
    let envelope = Envelope {
        seq: log.records().len() as u64,
        prev: [0; 32],
        at: UNIX_EPOCH,
    };
    write_line(&mut line, &envelope, &user(""));
    "x".repeat(bytes - line.len() - 1)
}
