//! What else happens on a machine: two who write at once, a disk that is full at any write, a home that cannot be written.

use super::kit::{Kit, user};
use crate::support::temp::Temp;
use std::fs::{self, File};
use std::io::Write;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::process::Command;
use zcoder::policy::Profile;
use zcoder::protocol::Message;
use zcoder::session::{CommitError, Log, Record, SessionId, Store};

/// Each writer commits so many records, one by one.
const RECORDS: usize = 25;

fn store(state: &Path) -> Store {
    Store::new(state, Path::new("/home/me/app"))
}

/// Commits, and makes a fork of what is in conflict; how many forks it took.
fn commit(log: &mut Log) -> usize {
    for forks in 0..9 {
        loop {
            match log.commit() {
                Ok(()) => return forks,
                Err(CommitError::Busy { .. }) => {}
                Err(CommitError::Conflict(_)) => break,
                Err(error) => panic!("{error}"),
            }
        }
        log.fork().expect("a fork");
    }
    panic!("a fork of its own is in conflict");
}

fn write(state: &Path, id: &SessionId, name: &str) -> usize {
    let mut log = store(state).open(id).expect("a session").log;
    let mut forks = 0;
    for number in 0..RECORDS {
        log.append(user(&format!("{name}:{number}")));
        forks += commit(&mut log);
    }
    forks
}

fn texts(log: &Log) -> Vec<String> {
    let texts = log.records().iter().filter_map(|record| match record {
        Record::Message(Message::User { text }) => Some(text.clone()),
        _ => None,
    });
    texts.collect()
}

/// Each writer's records stand together, in order, in one session; each session is whole.
#[track_caller]
fn nothing_is_lost(kit: &Kit, names: &[String]) {
    let mut sessions = Vec::new();
    for listed in kit.store.list().expect("a list") {
        let opened = kit.store.open(&listed.id).expect("a session");
        assert_eq!(opened.notices, []);
        sessions.push(texts(&opened.log));
    }
    for name in names {
        let own: Vec<String> = (0..RECORDS)
            .map(|number| format!("{name}:{number}"))
            .collect();
        let holds = |texts: &Vec<String>| {
            let theirs = texts
                .iter()
                .filter(|text| text.starts_with(&format!("{name}:")));
            theirs.eq(&own)
        };
        assert!(sessions.iter().any(holds), "{name}: {sessions:?}");
    }
    assert_eq!(
        sessions.len(),
        names.len(),
        "one goes on, the others fork: {sessions:?}"
    );
}

#[test]
fn threads_that_write_to_one_session_overwrite_nothing() {
    let kit = Kit::new();
    let log = kit.committed(&["start"]);
    let names: Vec<String> = (0..4).map(|number| format!("t{number}")).collect();
    // All of them load the same state before the first commits.
    let barrier = std::sync::Barrier::new(names.len());
    let forks: usize = std::thread::scope(|scope| {
        let (store, id, barrier) = (&kit.store, log.id(), &barrier);
        let threads = names.iter().map(|name| {
            scope.spawn(move || {
                let mut log = store.open(id).expect("a session").log;
                barrier.wait();
                let mut forks = 0;
                for number in 0..RECORDS {
                    log.append(user(&format!("{name}:{number}")));
                    forks += commit(&mut log);
                }
                forks
            })
        });
        let threads: Vec<_> = threads.collect();
        threads
            .into_iter()
            .map(|thread| thread.join().expect("a thread"))
            .sum()
    });
    assert_eq!(forks, names.len() - 1);
    nothing_is_lost(&kit, &names);
}

#[test]
#[ignore = "run by processes_that_write_to_one_session_overwrite_nothing in processes of its own"]
fn helper_write() {
    if !crate::support::is_apart() {
        return;
    }
    let state = std::env::current_dir().expect("a folder");
    let id = fs::read_to_string(state.join("id")).expect("an id");
    let name = format!("p{}", std::process::id());
    write(&state, &SessionId(id), &name);
}

fn helper(name: &str) -> Command {
    let mut command = Command::new(std::env::current_exe().expect("this program"));
    command.args([&format!("session::apart::{name}"), "--exact", "--ignored"]);
    command
}

#[test]
fn processes_that_write_to_one_session_overwrite_nothing() {
    let kit = Kit::new();
    let log = kit.committed(&["start"]);
    fs::write(kit.temp.path().join("id"), &log.id().0).expect("written");
    let start = |_| {
        let mut command = helper("helper_write");
        command
            .current_dir(kit.temp.path())
            .stdout(std::process::Stdio::piped());
        command.spawn().expect("a process")
    };
    let children: Vec<_> = (0..3).map(start).collect();
    let names: Vec<String> = children
        .iter()
        .map(|child| format!("p{}", child.id()))
        .collect();
    for child in children {
        let output = child.wait_with_output().expect("its end");
        let out = String::from_utf8_lossy(&output.stdout);
        assert!(output.status.success(), "{out}");
    }
    let mut whole = 0;
    let mut all = Vec::new();
    for listed in kit.store.list().expect("a list") {
        let opened = kit.store.open(&listed.id).expect("a session");
        assert_eq!(opened.notices, []);
        all.push(texts(&opened.log));
    }
    for name in &names {
        let own: Vec<String> = (0..RECORDS)
            .map(|number| format!("{name}:{number}"))
            .collect();
        let holds = |texts: &&Vec<String>| own.iter().all(|text| texts.contains(text));
        whole += usize::from(all.iter().any(|texts| holds(&texts)));
    }
    assert_eq!(whole, names.len(), "{all:?}");
}

/// In a file system of its own, 256 KiB large: full, and then with a page more room each time.
#[test]
#[ignore = "run by a_full_disk_loses_nothing_at_any_write in a file system of its own"]
fn helper_full_disk() {
    if !crate::support::is_apart() {
        return;
    }
    let state = std::env::current_dir().expect("a folder");
    let mut log = store(&state).begin(Profile::Coding).expect("a log");
    log.append(user("first"));
    log.commit().expect("room");
    let mut filler = File::create("filler").expect("room");
    let mut filled = 0;
    for size in [4096, 1] {
        while filler.write_all(&vec![b'x'; size]).is_ok() {
            filled += size as u64;
        }
    }
    log.append(user(&"y".repeat(9000)));
    let mut refused = 0;
    loop {
        match log.commit() {
            Ok(()) => break,
            Err(CommitError::Io { what, error, .. }) => {
                assert_eq!(
                    (what, error.kind()),
                    ("write", std::io::ErrorKind::StorageFull)
                );
            }
            Err(error) => panic!("{error}"),
        }
        refused += 1;
        let opened = store(&state).open(log.id()).expect("a session");
        assert_eq!(opened.notices, []);
        assert_eq!(
            (texts(&opened.log), opened.log.generation()),
            (vec!["first".to_string()], 1)
        );
        filled -= 4096;
        filler.set_len(filled).expect("shorter");
    }
    // Two more pages for the log, one for the pointer.
    assert!(refused >= 3, "{refused}");
    let opened = store(&state).open(log.id()).expect("a session");
    assert_eq!(opened.log.records(), log.records());
    assert_eq!(opened.log.generation(), 2);
    println!("refused {refused} times");
}

#[test]
fn a_full_disk_loses_nothing_at_any_write() {
    let temp = Temp::new();
    let script = "unshare -m sh -c 'mount -t tmpfs -o size=256k none . || exit 99
        cd \"$PWD\"; exec \"$0\" \"$@\"' \"$0\" \"$@\"";
    let mut command = Command::new("sh");
    command
        .args(["-c", script])
        .arg(std::env::current_exe().expect("this program"));
    command.args([
        "session::apart::helper_full_disk",
        "--exact",
        "--ignored",
        "--nocapture",
    ]);
    let output = command.current_dir(temp.path()).output().expect("a shell");
    let out = String::from_utf8_lossy(&output.stdout).into_owned();
    // Mounting needs root; the limit on the length of a file does not, and is tested below.
    if !out.contains("running") {
        return;
    }
    assert!(out.contains("refused") && output.status.success(), "{out}");
}

#[test]
#[ignore = "run by a_file_that_may_not_grow_loses_nothing with a limit"]
fn helper_limited() {
    if !crate::support::is_apart() {
        return;
    }
    let state = std::env::current_dir().expect("a folder");
    let mut log = store(&state).begin(Profile::Coding).expect("a log");
    let error = loop {
        log.append(user(&"z".repeat(700)));
        if let Err(error) = log.commit() {
            break error;
        }
    };
    let text = error.to_string();
    let folder = log.folder().expect("a folder").display().to_string();
    let log_file = format!("cannot write `{folder}/log-1.jsonl`: ");
    assert!(text.starts_with(&log_file), "{text}");
    let end = "; what was saved before is safe: mend that and try again";
    assert!(text.ends_with(end), "{text}");
    let opened = store(&state).open(log.id()).expect("a session");
    assert_eq!(opened.notices, []);
    assert_eq!(opened.log.records(), &log.records()[..log.saved()]);
    assert_eq!(log.saved() + 1, log.records().len());
    println!("kept {}", log.saved());
}

#[test]
fn a_file_that_may_not_grow_loses_nothing() {
    let temp = Temp::new();
    let mut command = Command::new("sh");
    let script = "trap '' XFSZ; ulimit -f 16; exec \"$0\" \"$@\"";
    command
        .args(["-c", script])
        .arg(std::env::current_exe().expect("this program"));
    command.args([
        "session::apart::helper_limited",
        "--exact",
        "--ignored",
        "--nocapture",
    ]);
    let output = command.current_dir(temp.path()).output().expect("a shell");
    let out = String::from_utf8_lossy(&output.stdout);
    assert!(out.contains("kept") && output.status.success(), "{out}");
}

#[test]
fn where_nothing_can_be_made_the_first_commit_says_so() {
    let temp = Temp::new();
    // A file stands where the folder of sessions would be: no right of root's gets around that.
    temp.write("sessions", "");
    let mut log = store(temp.path()).begin(Profile::Coding).expect("a log");
    log.append(user("x"));
    let error = log.commit().expect_err("no folder").to_string();
    assert!(error.starts_with("cannot make `"), "{error}");
    assert_eq!((log.saved(), log.folder()), (0, None));
    fs::remove_file(temp.path().join("sessions")).expect("removed");
    log.commit().expect("a commit");
    assert_eq!(log.saved(), 2);
    // Without the right to write nobody but root is kept out: root has nothing to see here.
    let folder = log.folder().expect("a folder").to_path_buf();
    fs::set_permissions(&folder, fs::Permissions::from_mode(0o500)).expect("closed");
    let may_write = File::create(folder.join("probe")).is_ok();
    log.append(user("y"));
    match log.commit() {
        Ok(()) => assert!(may_write),
        Err(error) => assert!(
            !may_write && error.to_string().starts_with("cannot write `"),
            "{error}"
        ),
    }
    fs::set_permissions(&folder, fs::Permissions::from_mode(0o700)).expect("open");
}
