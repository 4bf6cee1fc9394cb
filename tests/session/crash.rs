//! Every state that a power cut could leave of a session, and what is found in it by the ordinary loader.
//!
//! ```text
//! a scenario           a commit, a new session, a fork, … on a recorded disk
//! its steps            Create current.new · Write current.new "2 log-1…" · SyncFile current.new · Rename … · SyncFolder ID · kept 2
//! a crash after each   none, all, each single and any mixture of what is not synced there: world.rs
//! each such state      laid out in memory, opened, compared, gone on with, opened again: judge.rs
//! ```
//!
//! The tool is tested by the same means: with each sync left out in turn, and with steps in the wrong order, it must find what is lost.
//!
//! Few states at a step are all looked at, of many a seeded sample; the counts are printed (`--nocapture`). All of the scenarios with more
//! of both, for some minutes: `cargo test --test main crash -- --ignored --nocapture`.
//!
//! Limits: sectors are written whole; no bytes change that were safe.
//!
//! Read next: `world.rs`, `script.rs`, `judge.rs`.

mod judge;
mod mutants;

mod script;
mod world;

use crate::session::kit::{Kit, user};
use crate::support::temp::Temp;
use judge::{Judge, Limits};
use script::{Script, Step, plain, text_for};
use std::fs;
use world::{Layout, SECTOR, World};
use zcoder::session::{Log, Operation, SessionId};
use zcoder::sys::file::Locked;

const DAILY: Limits = Limits {
    all: 128,
    samples: 64,
};

/// A disk with one session of these texts, and its id.
fn with_session(texts: &[&str]) -> (Layout, SessionId) {
    let kit = Kit::new();
    let log = kit.committed(texts);
    (world::read(kit.temp.path()), log.id().clone())
}

/// The bytes of the first log.
fn log_of(layout: &mut Layout) -> &mut Vec<u8> {
    let found = layout
        .iter_mut()
        .find(|(path, _)| path.ends_with("log-1.jsonl"));
    found
        .and_then(|(_, content)| content.as_mut())
        .expect("a log")
}

fn new_session() -> Script {
    let mut script = Script::on(&Layout::new());
    let mut log = script.begin();
    script.say(&mut log, "one");
    script
}

/// An attempt before it was refused halfway, for want of room.
fn second_attempt() -> Script {
    let mut script = Script::on(&Layout::new());
    let mut log = script.begin();
    let name = format!(".new-{}", log.id().0);
    let left = script.kit.store.folder().join(name);
    fs::create_dir_all(left.join("output")).expect("left over");
    fs::write(left.join("log-1.jsonl"), "{\"seq\":0,\"prev\":\"half").expect("left over");
    fs::write(left.join("current"), "1 log-1.jsonl").expect("left over");
    script.start = world::read(script.kit.temp.path());
    script.say(&mut log, "one");
    script
}

fn second_session() -> Script {
    let (start, other) = with_session(&["one"]);
    let mut script = Script::on(&start);
    script.open(&other);
    let mut log = script.begin();
    script.say(&mut log, "two");
    script
}

/// Opens the session and commits once.
fn goes_on(start: &Layout, id: &SessionId) -> Script {
    let mut script = Script::on(start);
    let mut log = script.open(id).log;
    script.say(&mut log, "two");
    script
}

fn commit() -> Script {
    let (start, id) = with_session(&["one"]);
    goes_on(&start, &id)
}

/// Logs that end at a sector, a byte behind and before one, and after many.
fn sizes() -> Script {
    let (start, id) = with_session(&["one"]);
    let mut script = Script::on(&start);
    let mut log = script.open(&id).log;
    let path = script.kit.file(&log, "log-1.jsonl");
    for over in [0, 1, SECTOR - 1, 0, 9 * SECTOR + 1] {
        let length = usize::try_from(fs::metadata(&path).expect("a log").len()).expect("small");
        let end = (length + 300 - over % SECTOR).next_multiple_of(SECTOR) + over;
        let text = text_for(&log, end - length);
        script.say(&mut log, &text);
        assert_eq!(
            fs::metadata(&path).expect("a log").len() as usize,
            end,
            "{over}"
        );
    }
    script
}

/// On what a commit that did not end has left.
fn tail() -> Script {
    let (mut start, id) = with_session(&["one"]);
    let half = b"{\"seq\":2,\"prev\":\"half a record, or what a crash left of it";
    log_of(&mut start).extend_from_slice(&half.repeat(20));
    goes_on(&start, &id)
}

fn damage() -> Script {
    let (mut start, id) = with_session(&["one", "two", "three"]);
    let log = log_of(&mut start);
    let at = log.len() - 200;
    log[at] ^= 1;
    let mut script = goes_on(&start, &id);
    let mut log = script.open(&id).log;
    script.say(&mut log, "five");
    script
}

fn fork() -> Script {
    let (start, id) = with_session(&["one", "two"]);
    let mut script = Script::on(&start);
    script.open(&id);
    let fork = script.kit.store.fork(&id, Some(1));
    script.commit(&mut fork.expect("a fork").log);
    script
}

fn delete() -> Script {
    let (start, id) = with_session(&["one", "two"]);
    let mut script = Script::on(&start);
    script.open(&id);
    script.delete(&id);
    script
}

fn rename() -> Script {
    let (start, id) = with_session(&["one", "two"]);
    let mut script = Script::on(&start);
    script.open(&id);
    script.rename(&id, "another title");
    script
}

/// A commit on a file system without locks: `lock.owner` lies there while it runs. Where tests run there are locks, so its steps are put
/// in by hand.
fn without_locks() -> Script {
    let mut script = commit();
    let owner = script
        .kit
        .store
        .folder()
        .join(&script.id().0)
        .join("lock.owner");
    let path = owner.strip_prefix(script.kit.temp.path()).expect("below");
    let path = path.to_path_buf();
    let bytes =
        b"{\"host\":\"h\",\"boot\":\"b\",\"space\":\"s\",\"pid\":1,\"start\":\"2\"}\n".to_vec();
    let at = position(&script, "write ID/log-1.jsonl");
    let write = Operation::Write {
        path: path.clone(),
        offset: 0,
        bytes,
    };
    let create = Operation::Create { path: path.clone() };
    let behind = position(&script, "rename ") + 1;
    let unlink = Step::Disk(Operation::Unlink { path });
    script.steps.insert(behind, unlink);
    script
        .steps
        .splice(at..at, [Step::Disk(create), Step::Disk(write)]);
    script
}

/// The first step that begins so.
#[track_caller]
fn position(script: &Script, beginning: &str) -> usize {
    let mut steps = script.steps.iter();
    let found = steps.position(|step| script.told(step).starts_with(beginning));
    found.unwrap_or_else(|| panic!("no step `{beginning}`"))
}

type Scenario = (&'static str, fn() -> Script);

const SCENARIOS: [Scenario; 11] = [
    ("new session", new_session),
    ("second attempt", second_attempt),
    ("second session", second_session),
    ("commit", commit),
    ("sizes", sizes),
    ("tail", tail),
    ("damage", damage),
    ("fork", fork),
    ("delete", delete),
    ("rename", rename),
    ("without locks", without_locks),
];

/// What a program does on what one has left that was killed after so many steps.
fn after(first: &Script, killed: usize, act: impl FnOnce(&mut Script)) -> Script {
    let mut world = World::of(&first.start);
    for step in &first.steps[..killed] {
        step.play(&mut world, &mut first.promises());
    }
    let mut script = Script::on(&world.now());
    act(&mut script);
    script.follow(first, killed);
    script
}

/// Takes up what is there, if it is.
fn take_up(script: &mut Script, id: &SessionId) {
    if plain(&script.kit).open(id).is_ok() {
        let mut log = script.open(id).log;
        script.say(&mut log, "by another one");
    }
}

/// A program that takes the session up when one has been killed behind the first step that begins so.
fn taken_up(first: &Script, beginning: &str) -> (Script, usize) {
    let killed = position(first, beginning) + 1;
    let script = after(first, killed, |script| take_up(script, first.id()));
    (script, killed)
}

/// A program that begins a session in folders that one has made which was killed before they were safe.
fn begun() -> (Script, usize) {
    let first = new_session();
    let killed = position(&first, "sync folder sessions");
    let script = after(&first, killed, |script| {
        let mut log = script.begin();
        script.say(&mut log, "another session");
    });
    (script, killed)
}

/// A commit that stands still.
pub(super) struct Stopped {
    pub(super) kit: Kit,
    pub(super) id: SessionId,
    /// What it holds, for as long as it lives.
    pub(super) lock: Option<Locked>,
    /// Opened by another one before the commit began.
    pub(super) other: Option<Log>,
    /// Which of its steps is the rename of the pointer.
    pub(super) rename: usize,
    whole: Layout,
}

/// A commit of "two" to a session of "one" that stands still behind so many steps.
pub(super) fn stopped_commit(steps: usize) -> Stopped {
    let (start, id) = with_session(&["one"]);
    let script = goes_on(&start, &id);
    let first = position(&script, "write ID/log-1.jsonl");
    let kit = Kit::inside(Temp::in_memory());
    world::write(kit.temp.path(), &start);
    let other = kit.store.open(&id).expect("a session").log;
    let lock = fs::File::open(kit.file(&other, "lock")).expect("a lock");
    let lock = Locked::take(lock).expect("locks").expect("free");
    let mut world = World::of(&start);
    let now = |world: &mut World, steps: &[Step]| {
        for step in steps {
            step.play(world, &mut script.promises());
        }
        world.now()
    };
    let now_layout = now(&mut world, &script.steps[..first + steps]);
    world::write(kit.temp.path(), &now_layout);
    let whole = now(&mut world, &script.steps[first + steps..]);
    Stopped {
        kit,
        id,
        lock: Some(lock),
        other: Some(other),
        rename: position(&script, "rename ") - first,
        whole,
    }
}

impl Stopped {
    /// All files.
    pub(super) fn files(&self) -> Layout {
        world::read(self.kit.temp.path())
    }

    /// It goes on, and lets the lock go.
    pub(super) fn finish(&mut self) {
        world::write(self.kit.temp.path(), &self.whole);
        self.lock = None;
    }
}

/// Judges all crashes from a step on; tells the counts.
#[track_caller]
fn passes(name: &str, limits: Limits, script: &Script, from: usize) {
    let mut judge = Judge::new(limits);
    match judge.play(script, from) {
        Ok(counts) => println!("{name}: {counts:?}, {} distinct", judge.distinct()),
        Err(loss) => panic!("{name}: {loss}"),
    }
}

#[track_caller]
fn kills_pass(name: &str, limits: Limits, first: &Script) {
    for killed in 0..=first.steps.len() {
        let script = after(first, killed, |script| take_up(script, first.id()));
        let name = format!("{name}, killed after {killed}, taken up");
        passes(&name, limits, &script, killed);
    }
}

/// Crashes of the program that takes up what a crash has left, for each `nth` of these.
#[track_caller]
fn second_crashes_pass(name: &str, limits: Limits, first: &Script, nth: usize) {
    let left = Judge::new(limits).left(first);
    for (at, layout) in left.iter().enumerate().step_by(nth) {
        let mut script = Script::on(layout);
        take_up(&mut script, first.id());
        if script.steps.is_empty() {
            continue;
        }
        script.know(first);
        passes(&format!("{name}, crash {at}, taken up"), limits, &script, 0);
    }
}

#[test]
fn no_crash_loses_what_was_committed() {
    for (name, scenario) in SCENARIOS {
        passes(name, DAILY, &scenario(), 0);
    }
}

#[test]
fn no_crash_loses_what_was_built_on_what_a_killed_program_has_left() {
    kills_pass("new session", DAILY, &new_session());
    kills_pass("commit", DAILY, &commit());
    kills_pass("damage", DAILY, &damage());
    kills_pass("delete", DAILY, &delete());
    kills_pass("without locks", DAILY, &without_locks());
    let (script, killed) = begun();
    passes("another session in new folders", DAILY, &script, killed);
}

#[test]
fn no_second_crash_loses_what_the_first_one_has_left() {
    let daily: [(Scenario, usize); 5] = [
        (("new session", new_session), 5),
        (("commit", commit), 1),
        (("tail", tail), 9),
        (("damage", damage), 2),
        (("without locks", without_locks), 6),
    ];
    for ((name, scenario), nth) in daily {
        second_crashes_pass(name, DAILY, &scenario(), nth);
    }
}

/// Where the pointer is lost nobody knows what was committed: what the log holds must stay, and more may be there.
#[test]
fn no_crash_loses_what_was_found_without_a_pointer() {
    let (mut start, id) = with_session(&["one", "two"]);
    start.retain(|path, _| !path.ends_with("current"));
    let mut script = Script::on(&start);
    let mut log = script.kit.store.open(&id).expect("a session").log;
    let found = log.records()[..log.saved()].to_vec();
    assert_eq!(found.len(), 3);
    log.append(user(&"three".repeat(300)));
    log.commit().expect("a commit");
    script.hear();
    let left = Judge::new(DAILY).left(&script);
    println!("without a pointer: {} states", left.len());
    for layout in left {
        let kit = Kit::inside(Temp::in_memory());
        world::write(kit.temp.path(), &layout);
        let mut log = kit.store.open(&id).expect("a session").log;
        assert_eq!(log.records()[..3], found);
        log.append(user("after the crash"));
        log.commit().expect("a commit");
        let again = kit.store.open(&id).expect("a session").log;
        assert_eq!(again.records(), log.records());
    }
}

#[test]
#[ignore = "takes minutes"]
fn no_crash_of_very_many_loses_anything() {
    let limits = Limits {
        all: 20_000,
        samples: 2_000,
    };
    for (name, scenario) in SCENARIOS {
        let script = scenario();
        passes(name, limits, &script, 0);
        kills_pass(name, limits, &script);
        second_crashes_pass(name, DAILY, &script, 1);
    }
}
