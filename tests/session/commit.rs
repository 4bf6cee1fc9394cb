//! Commits: what is on the disk after one, in which order it got there, and when nothing is written.

use super::kit::{Kit, user};
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use zcoder::policy::Profile;
use zcoder::session::{CommitError, Conflict, Disk, Log, Operation, Pointer, read_line};
use zcoder::sha256::{digest, hex};
use zcoder::sys::channel::{Receiver, channel};

/// The lines of a session's first log, checked link by link, and the pointer that it must have.
#[track_caller]
fn checked(kit: &Kit, log: &Log, generation: u64) -> usize {
    let bytes = fs::read(kit.file(log, "log-1.jsonl")).expect("a log");
    let pointer = fs::read(kit.file(log, "current")).expect("a pointer");
    let pointer = Pointer::parse(&pointer).expect("a pointer");
    let mut prev = [0; 32];
    let committed = &bytes[..usize::try_from(pointer.length).expect("small")];
    let lines = committed.split_inclusive(|byte| *byte == b'\n');
    let mut count = 0;
    for (seq, (line, record)) in (0..).zip(lines.zip(log.records())) {
        let line = line.strip_suffix(b"\n").expect("a whole line");
        let read = read_line(line).expect("a record");
        assert_eq!((read.envelope.seq, read.envelope.prev), (seq, prev));
        assert_eq!(read.envelope.at, log.times()[count]);
        assert_eq!(&read.record, record);
        prev = digest(line);
        count += 1;
    }
    let length = committed.len() as u64;
    let expected = Pointer {
        generation,
        log: 1,
        length,
        hash: prev,
    };
    assert_eq!(pointer, expected);
    assert_eq!(log.generation(), generation);
    count
}

#[test]
fn commits_append_and_the_chain_holds() {
    let kit = Kit::new();
    let mut log = kit.committed(&["one"]);
    assert_eq!((checked(&kit, &log, 1), log.saved()), (2, 2));
    log.append(user("two"));
    log.append(user("three"));
    assert_eq!((checked(&kit, &log, 1), log.saved()), (2, 2));
    log.commit().expect("a commit");
    assert_eq!((checked(&kit, &log, 2), log.saved()), (4, 4));
    // Nothing to do: the disk is not touched, so what would be a conflict is none.
    fs::remove_file(kit.file(&log, "lock")).expect("removed");
    log.commit().expect("nothing to do");
}

#[test]
fn a_long_record_is_written_in_pieces_between_short_ones() {
    let kit = Kit::new();
    let mut log = kit.committed(&["one"]);
    for bytes in [1, 100_000, 131_071, 131_072, 1_000_000, 1] {
        log.append(user(&"é\n".repeat(bytes / 3 + 1)));
        log.append(user("short"));
    }
    log.commit().expect("a commit");
    assert_eq!((checked(&kit, &log, 2), log.saved()), (14, 14));
    log.append(user("after"));
    log.commit().expect("a commit");
    assert_eq!((checked(&kit, &log, 3), log.saved()), (15, 15));
}

#[test]
fn nothing_is_made_before_the_first_commit_and_everything_is_private() {
    let kit = Kit::new();
    let mut log = kit.store.begin(Profile::Coding).expect("a log");
    assert_eq!((log.folder(), log.generation()), (None, 0));
    assert!(!kit.temp.path().join("sessions").exists());
    log.commit().expect("a commit");
    let folder = kit.store.folder().join(&log.id().0);
    assert_eq!(log.folder(), Some(folder.as_path()));
    let mode = |path: &Path| fs::metadata(path).expect("there").permissions().mode() & 0o7777;
    for folder in [
        &kit.temp.path().join("sessions"),
        kit.store.folder(),
        &folder,
        &folder.join("output"),
    ] {
        assert_eq!(mode(folder), 0o700, "{}", folder.display());
    }
    for name in ["log-1.jsonl", "current", "lock"] {
        assert_eq!(mode(&folder.join(name)), 0o600, "{name}");
    }
    let above: Vec<_> = fs::read_dir(kit.store.folder())
        .expect("a folder")
        .collect();
    assert_eq!(above.len(), 1, "{above:?}");
}

#[test]
fn a_workspace_has_a_folder_of_its_name() {
    let kit = Kit::new();
    let hash = hex(&digest(b"/home/me/app"));
    let expected = kit
        .temp
        .path()
        .join(format!("sessions/app-{}", &hash[..16]));
    assert_eq!(kit.store.folder(), expected);
}

#[test]
fn a_log_that_is_kept_nowhere_commits_to_nowhere() {
    let mut log = Log::in_memory().expect("a log");
    log.append(user("x"));
    log.commit().expect("nothing to do");
    assert_eq!((log.folder(), log.generation(), log.saved()), (None, 0, 1));
}

/// The operations as lines, paths below the workspace's folder of sessions, the id replaced.
fn operations(kit: &Kit, log: &Log, heard: &Receiver<Operation>) -> Vec<String> {
    let short = |path: &PathBuf| {
        let path = path.strip_prefix(kit.temp.path()).expect("below");
        let path = path.to_str().expect("UTF-8").replace(&log.id().0, "ID");
        let folder = kit.store.folder().file_name().expect("a name");
        path.replace(folder.to_str().expect("UTF-8"), "W")
    };
    let word = |operation: Operation| match &operation {
        Operation::Create { path } => format!("create {}", short(path)),
        Operation::Write { path, offset, .. } => format!("write {} {offset}", short(path)),
        Operation::Truncate { path, len } => format!("cut {} {len}", short(path)),
        Operation::SyncData { path } => format!("sync data {}", short(path)),
        Operation::SyncFile { path } => format!("sync {}", short(path)),
        Operation::Rename { from, to } => format!("rename {} {}", short(from), short(to)),
        Operation::Mkdir { path } => format!("mkdir {}", short(path)),
        Operation::SyncFolder { path } => format!("sync folder {}", short(path)),
        Operation::Unlink { path } => format!("unlink {}", short(path)),
        Operation::Committed { folder, generation } => {
            format!("committed {} {generation}", short(folder))
        }
    };
    std::iter::from_fn(|| heard.try_recv().ok())
        .map(word)
        .collect()
}

#[test]
fn every_step_has_its_place() {
    let mut kit = Kit::new();
    let (recorder, heard) = channel();
    kit.store = kit.store.with_disk(Disk::recorded(recorder));
    let mut log = kit.committed(&["one"]);
    let new = "sessions/W/.new-ID";
    let expected = [
        "mkdir sessions".to_string(),
        "mkdir sessions/W".to_string(),
        "sync folder sessions".to_string(),
        "sync folder ".to_string(),
        format!("mkdir {new}"),
        format!("mkdir {new}/output"),
        format!("create {new}/log-1.jsonl"),
        format!("write {new}/log-1.jsonl 0"),
        format!("sync {new}/log-1.jsonl"),
        format!("create {new}/lock"),
        format!("create {new}/current"),
        format!("write {new}/current 0"),
        format!("sync {new}/current"),
        format!("sync folder {new}"),
        format!("rename {new} sessions/W/ID"),
        "sync folder sessions/W".to_string(),
        "committed sessions/W/ID 1".to_string(),
    ];
    assert_eq!(operations(&kit, &log, &heard), expected);
    let length = fs::metadata(kit.file(&log, "log-1.jsonl"))
        .expect("a log")
        .len();
    log.append(user("two"));
    log.commit().expect("a commit");
    let commit = [
        format!("write sessions/W/ID/log-1.jsonl {length}"),
        "sync data sessions/W/ID/log-1.jsonl".to_string(),
        "create sessions/W/ID/current.new".to_string(),
        "write sessions/W/ID/current.new 0".to_string(),
        "sync sessions/W/ID/current.new".to_string(),
        "rename sessions/W/ID/current.new sessions/W/ID/current".to_string(),
        "sync folder sessions/W/ID".to_string(),
        "committed sessions/W/ID 2".to_string(),
    ];
    assert_eq!(operations(&kit, &log, &heard), commit);
}

#[test]
fn names_that_a_killed_program_gave_are_made_safe_before_something_is_built_on_them() {
    let mut kit = Kit::new();
    let log = kit.committed(&["one"]);
    let (recorder, heard) = channel();
    kit.store = kit.store.with_disk(Disk::recorded(recorder));
    kit.store.open(log.id()).expect("a session");
    let opened = ["sync folder sessions/W/ID", "sync folder sessions/W"];
    assert_eq!(operations(&kit, &log, &heard), opened);
    let new = kit.committed(&["two"]);
    let begun = ["sync folder sessions", "sync folder "];
    assert_eq!(operations(&kit, &new, &heard)[..2], begun);
}

#[test]
fn the_tail_of_a_commit_that_did_not_end_is_cut_off() {
    let kit = Kit::new();
    let mut log = kit.committed(&["one"]);
    let path = kit.file(&log, "log-1.jsonl");
    let mut bytes = fs::read(&path).expect("a log");
    bytes.extend_from_slice(b"{\"seq\":2,\"prev\":\"half");
    fs::write(&path, &bytes).expect("longer");
    fs::write(kit.file(&log, "current.new"), "7 log-9").expect("left over");
    log.append(user("two"));
    log.commit().expect("a commit");
    assert_eq!(checked(&kit, &log, 2), 3);
}

#[test]
fn what_a_building_that_did_not_end_has_left_is_no_obstacle() {
    let kit = Kit::new();
    let mut log = kit.store.begin(Profile::Coding).expect("a log");
    let left = kit.store.folder().join(format!(".new-{}", log.id().0));
    fs::create_dir_all(left.join("output")).expect("left over");
    fs::write(left.join("log-1.jsonl"), "half").expect("left over");
    log.commit().expect("a commit");
    assert_eq!(checked(&kit, &log, 1), 1);
    assert!(!left.exists());
}

#[track_caller]
fn refused(log: &mut Log) -> Conflict {
    log.append(user("unsaved"));
    let saved = log.saved();
    match log.commit() {
        Err(CommitError::Conflict(conflict)) => {
            assert_eq!(log.saved(), saved);
            conflict
        }
        other => panic!("{other:?}"),
    }
}

/// As some programs keep files together: the bytes elsewhere, a link where they stood.
fn link_in_place_of(path: &Path) {
    let elsewhere = path.with_extension("elsewhere");
    fs::rename(path, &elsewhere).expect("moved");
    std::os::unix::fs::symlink(&elsewhere, path).expect("a link");
}

#[test]
fn a_session_that_is_not_as_we_left_it_is_a_conflict_and_stays_as_it_is() {
    type Damage = fn(&Path);
    let gone = |name: &str| format!("`{name}` is gone; nothing was written there");
    let replaced = |name: &str| {
        format!("`{name}` is not the file that this session wrote; nothing was written there")
    };
    let moved = |now: &str| {
        format!(
            "another zcoder went on with this session, or another state of it was put back ({now}, ours was 1); \
             nothing was written there"
        )
    };
    let cases: [(Damage, String); 11] = [
        (
            |folder| fs::remove_dir_all(folder).expect("removed"),
            gone("lock"),
        ),
        (
            |folder| fs::remove_file(folder.join("lock")).expect("removed"),
            gone("lock"),
        ),
        (
            |folder| fs::remove_file(folder.join("current")).expect("removed"),
            gone("current"),
        ),
        (
            |folder| fs::remove_file(folder.join("log-1.jsonl")).expect("removed"),
            gone("log-1.jsonl"),
        ),
        (
            |folder| {
                let pointer = fs::read_to_string(folder.join("current")).expect("a pointer");
                let mut pointer = Pointer::parse(pointer.as_bytes()).expect("a pointer");
                pointer.hash[0] ^= 1;
                fs::write(folder.join("current"), pointer.line() + "\n").expect("written");
            },
            moved("its generation is 1"),
        ),
        (
            |folder| fs::write(folder.join("current"), "nonsense\n").expect("written"),
            moved("its pointer cannot be read"),
        ),
        (
            |folder| {
                let log = fs::read(folder.join("log-1.jsonl")).expect("a log");
                fs::write(folder.join("log-1.jsonl"), &log[..log.len() - 1]).expect("cut");
            },
            replaced("log-1.jsonl"),
        ),
        (
            |folder| {
                let path = folder.join("log-1.jsonl");
                let log = fs::read_to_string(&path).expect("a log");
                fs::write(&path, log.replace("one", "two")).expect("changed");
            },
            replaced("log-1.jsonl"),
        ),
        (
            |folder| link_in_place_of(&folder.join("log-1.jsonl")),
            replaced("log-1.jsonl"),
        ),
        (
            |folder| link_in_place_of(&folder.join("current")),
            replaced("current"),
        ),
        (
            |folder| {
                fs::remove_file(folder.join("lock")).expect("removed");
                fs::create_dir(folder.join("lock")).expect("a folder");
            },
            replaced("lock"),
        ),
    ];
    for (damage, expected) in cases {
        let kit = Kit::new();
        let mut log = kit.committed(&["one"]);
        let folder = kit.store.folder().join(&log.id().0);
        damage(&folder);
        let files = |folder: &Path| -> Vec<(PathBuf, Vec<u8>)> {
            let names = [
                "log-1.jsonl",
                "current",
                "lock",
                "current.new",
                "log-2.jsonl",
            ];
            let read = |name| Some((folder.join(name), fs::read(folder.join(name)).ok()?));
            names.into_iter().filter_map(read).collect()
        };
        let before = files(&folder);
        let conflict = refused(&mut log);
        let text = CommitError::Conflict(conflict).to_string();
        let text = text.replace(&format!("{}/", folder.display()), "");
        assert_eq!(text, expected);
        assert_eq!(files(&folder), before, "{expected}");
    }
}

#[test]
fn a_copy_put_in_its_place_is_the_same_session_if_it_is_the_same() {
    let kit = Kit::new();
    let mut log = kit.committed(&["one"]);
    let folder = kit.store.folder().join(&log.id().0);
    let aside = kit.temp.path().join("aside");
    fs::rename(&folder, &aside).expect("moved");
    fs::create_dir(&folder).expect("a folder");
    for name in ["log-1.jsonl", "current", "lock"] {
        fs::copy(aside.join(name), folder.join(name)).expect("copied");
    }
    log.append(user("two"));
    log.commit().expect("a commit");
    assert_eq!(checked(&kit, &log, 2), 3);
    let pointer = fs::read(aside.join("current")).expect("a pointer");
    assert_eq!(
        Pointer::parse(&pointer).map(|pointer| pointer.generation),
        Some(1)
    );
}

#[test]
fn a_lock_that_somebody_holds_is_waited_for_and_then_busy() {
    let kit = Kit::new();
    let mut log = kit.committed(&["one"]);
    let path = kit.file(&log, "lock");
    let held = fs::File::open(&path).expect("a lock");
    let held = zcoder::sys::file::Locked::take(held)
        .expect("locks")
        .expect("free");
    log.append(user("two"));
    let error = log.commit().expect_err("busy");
    assert_eq!(
        error.to_string(),
        format!(
            "the session is busy: another zcoder holds `{}`; nothing was saved and nothing is lost: try again, or fork the session",
            path.display()
        )
    );
    assert_eq!(log.saved(), 2);
    drop(held);
    log.commit().expect("free again");
    assert_eq!(checked(&kit, &log, 2), 3);
}
