//! Disks that refuse: no room at each write of a new session and of a commit in turn, and a home that became read-only. Nothing that was
//! committed is lost, the error says what to do, and when there is room again the same log goes on.
//!
//! A file system of its own needs root (`unshare -m`); without it these tests look at nothing.

use super::kit::user;
use crate::support::temp::Temp;
use std::fs;
use std::path::Path;
use std::process::Command;
use zcoder::policy::Profile;
use zcoder::session::{Log, OpenError, Store};

/// Of the small file system.
const PAGE: usize = 4096;

fn store() -> Store {
    Store::new(
        &std::env::current_dir().expect("a folder"),
        Path::new("/home/me/app"),
    )
}

/// Takes all room but so many pages.
fn fill(pages: usize) {
    use std::io::Write;
    let mut file = fs::File::create("ballast").expect("a file");
    while file.write_all(&[b'x'; PAGE]).is_ok() {}
    let size = file.metadata().expect("a file").len();
    let left = (pages * PAGE) as u64;
    let size = size.next_multiple_of(PAGE as u64);
    file.set_len(size - left).expect("shorter");
}

/// An error in words that do not depend on the id.
fn told(log: &Log, error: &dyn std::fmt::Display) -> String {
    let root = std::env::current_dir().expect("a folder");
    let text = error
        .to_string()
        .replace(&format!("{}/", root.display()), "");
    let folder = store().folder().file_name().expect("a name").to_owned();
    let text = text.replace(folder.to_str().expect("UTF-8"), "W");
    text.replace(&log.id().0, "ID")
}

/// In a folder of 256 KiB: commits with room for 0, 1, 2, … pages until one succeeds at once; the others must when there is room again.
/// First of new sessions, then of sessions that are there.
#[test]
#[ignore = "run with little room in a process of its own"]
fn helper_commits_without_room() {
    if !crate::support::is_apart() {
        return;
    }
    for (name, generation) in [("new", 0), ("commit", 1)] {
        let mut pages = 0;
        loop {
            let mut log = store().begin(Profile::Coding).expect("a log");
            log.append(user("one"));
            let saved = match generation {
                0 => 0,
                _ => log.commit().map(|()| 2).expect("a commit"),
            };
            log.append(user(&"two".repeat(PAGE)));
            fill(pages);
            let committed = log.commit();
            if let Err(error) = &committed {
                println!("{name} {pages} <{}>", told(&log, error));
                assert_eq!((log.generation(), log.saved()), (generation, saved));
                // What is there can be read without any room; what is half made is no session.
                match store().open(log.id()) {
                    Ok(opened) => {
                        assert_eq!(opened.log.records(), &log.records()[..saved]);
                        assert_eq!(opened.notices, []);
                    }
                    Err(error) => assert!(
                        saved == 0 && matches!(error, OpenError::None { .. }),
                        "{error}"
                    ),
                }
                assert_eq!(store().list().expect("a list").len(), saved.min(1));
                // Nor does it keep room that is missing.
                let beside = fs::read_dir(store().folder()).expect("a folder");
                let beside = beside.map(|entry| entry.expect("an entry").file_name());
                assert!(
                    beside
                        .into_iter()
                        .all(|name| name != *format!(".new-{}", log.id().0))
                );
            }
            fs::remove_file("ballast").expect("room");
            log.commit().expect("there is room");
            let opened = store().open(log.id()).expect("a session");
            assert_eq!(opened.log.records(), log.records());
            assert_eq!(opened.notices, []);
            store().delete(log.id()).expect("deleted");
            if committed.is_ok() {
                println!("{name} {pages} <saved>");
                break;
            }
            pages += 1;
        }
    }
}

/// In a folder that can be made read-only.
#[test]
#[ignore = "run on a file system of its own"]
fn helper_commits_to_a_home_that_became_read_only() {
    if !crate::support::is_apart() {
        return;
    }
    let remount = |how: &str| {
        let option = format!("remount,{how}");
        let mut mount = Command::new("mount");
        assert!(
            mount
                .args(["-o", &option, "."])
                .status()
                .expect("mount")
                .success()
        );
    };
    let mut log = store().begin(Profile::Coding).expect("a log");
    let mut other = store().begin(Profile::Coding).expect("a log");
    log.append(user("one"));
    log.commit().expect("a commit");
    remount("ro");
    log.append(user("two"));
    let error = log.commit().expect_err("read-only");
    println!("commit <{}>", told(&log, &error));
    let error = other.commit().expect_err("read-only");
    println!("new <{}>", told(&other, &error));
    let opened = store().open(log.id()).expect("it can still be read");
    assert_eq!(opened.log.records(), &log.records()[..2]);
    assert_eq!(store().list().expect("a list").len(), 1);
    let error = store().delete(log.id()).expect_err("read-only");
    println!("delete <{}>", told(&log, &error));
    remount("rw");
    log.commit().expect("a commit");
    other.commit().expect("a commit");
    assert_eq!(
        store().open(log.id()).expect("a session").log.records(),
        log.records()
    );
}

/// What the helper prints on a small file system of its own; `None` where we may not make one.
fn on_a_small_disk(helper: &str) -> Option<String> {
    let temp = Temp::new();
    let script = "unshare -m sh -c 'mkdir m && mount -t tmpfs -o size=256k none m || exit 99
        cd m; exec \"$0\" \"$@\"' \"$0\" \"$@\"";
    let output = Command::new("sh")
        .args(["-c", script])
        .arg(std::env::current_exe().expect("this program"))
        .args([helper, "--exact", "--ignored", "--nocapture"])
        .current_dir(temp.path())
        .output()
        .expect("sh");
    let stdout = String::from_utf8(output.stdout).expect("UTF-8");
    let stderr = String::from_utf8_lossy(&output.stderr);
    let ran = stdout.contains("running 1 test");
    assert!(!ran || output.status.success(), "{stdout}{stderr}");
    ran.then_some(stdout)
}

/// What the helper says, a line each.
fn lines(stdout: &str) -> Vec<&str> {
    stdout.lines().filter(|line| line.ends_with('>')).collect()
}

#[test]
fn whichever_write_finds_no_room_the_error_names_it_and_the_next_try_saves() {
    let Some(stdout) = on_a_small_disk("session::trouble::helper_commits_without_room") else {
        return;
    };
    let refused = |name: &str, pages: usize, path: &str| {
        format!(
            "{name} {pages} <cannot write `sessions/W/{path}`: No space left on device (os error 28); what was saved \
             before is safe: mend that and try again>"
        )
    };
    let new = (0..4).map(|pages| refused("new", pages, ".new-ID/log-1.jsonl"));
    let mut expected: Vec<String> = new.collect();
    expected.push(refused("new", 4, ".new-ID/current"));
    expected.push("new 5 <saved>".to_string());
    // The log has a page that is not full.
    expected.extend((0..3).map(|pages| refused("commit", pages, "ID/log-1.jsonl")));
    expected.push(refused("commit", 3, "ID/current.new"));
    expected.push("commit 4 <saved>".to_string());
    assert_eq!(lines(&stdout), expected);
}

#[test]
fn a_home_that_became_read_only_loses_nothing() {
    let helper = "session::trouble::helper_commits_to_a_home_that_became_read_only";
    let Some(stdout) = on_a_small_disk(helper) else {
        return;
    };
    let kept = "Read-only file system (os error 30); what was saved before is safe: mend that and try again>";
    assert_eq!(
        lines(&stdout),
        [
            format!("commit <cannot open `sessions/W/ID/lock`: {kept}"),
            format!("new <cannot make `sessions/W/.new-ID`: {kept}"),
            "delete <cannot remove `sessions/W/ID`: Read-only file system (os error 30)>"
                .to_string(),
        ]
    );
}
