//! Real processes that are killed, meet in one session, or lose it under their feet; and sessions of sizes that nobody can read whole.

use super::kit::{Kit, header, id, title, turn, two_requests, user};
use crate::support::run::{Screen, run, standin, start};
use std::fs::{self, File};
use std::io::{BufRead, BufReader};
use std::os::unix::fs::FileExt;
use zcoder::json::Tree;
use zcoder::session::{Passed, Pointer, SessionId};
use zcoder::sha256::hex;

/// Kills of each run of the test.
const KILLS: u64 = 200;
/// A session is killed so often before the next one is begun.
const KILLS_OF_ONE: u64 = 10;

/// What a `saved` event said last: session, records, head.
type Saved = (String, u64, String);

fn saved(line: &str) -> Option<Saved> {
    let tree = Tree::parse_strict(line.as_bytes()).ok()?;
    let root = tree.root();
    let text = |key: &str| {
        root.get(key)
            .and_then(|value| value.as_str().map(str::to_string))
    };
    let records = root
        .get("records")
        .and_then(|value| value.as_number()?.as_u64());
    (text("type")? == "saved").then_some(())?;
    Some((text("session")?, records?, text("head")?))
}

/// Hashes of all records of a session that has no flaw.
#[track_caller]
fn hashes(kit: &Kit, id: &str) -> Vec<String> {
    let mut forward = kit
        .store
        .forward(&SessionId(id.to_string()))
        .expect("a session");
    let mut hashes = Vec::new();
    while let Some(passed) = forward.next().expect("readable") {
        match passed {
            Passed::Record(entry) => assert_eq!(entry.seq, hashes.len() as u64),
            Passed::Flaw(flaw) => panic!("{id}: {flaw}"),
        }
        hashes.push(hex(&forward.hash().expect("a hash")));
    }
    hashes
}

#[test]
fn what_was_told_to_be_saved_is_there_after_any_kill() {
    let (kit, server) = (Kit::new(), standin(None));
    let host = server.address().to_string();
    let mut random = 0x9e37_79b9_7f4a_7c15_u64;
    let mut next = |below: u64| {
        random ^= random << 13;
        random ^= random >> 7;
        random ^= random << 17;
        (random >> 33) % below
    };
    let (mut lines, mut told) = (60, 0);
    for kill in 0..KILLS {
        let task = format!("create {kill}.txt with hello and then run ls");
        let goes_on = kill % KILLS_OF_ONE != 0 && told > 0;
        let mut command =
            kit.command(&["-p", &task, "--yes", "--host", &host, "--output", "jsonl"]);
        if goes_on {
            command.arg("--continue");
        }
        let mut child = start(&mut command);
        let out = BufReader::new(child.stdout.take().expect("a pipe"));
        let (mut count, at, mut last) = (0, next(lines), None);
        for line in out.lines() {
            // What stands in the pipe when it is killed was told too.
            let line = line.expect("text");
            last = saved(&line).or(last);
            if count == at {
                child.kill().expect("a process");
            }
            count += 1;
        }
        let status = child.wait().expect("its end");
        if status.success() {
            lines = count;
        }
        let Some((id, records, head)) = last else {
            continue;
        };
        told += 1;
        let hashes = hashes(&kit, &id);
        assert!(
            hashes.len() as u64 >= records,
            "{id}: {} of {records}",
            hashes.len()
        );
        assert_eq!(hashes[records as usize - 1], head, "{id}");
    }
    assert!(told > KILLS / 3, "only {told} told of anything");
    let ran = kit.run(&["--continue", "-p", "list files", "--host", &host, "-q"]);
    assert_eq!(ran.code, Some(0), "{ran:?}");
    let ran = kit.run(&["audit", "verify", "--all"]);
    assert_eq!(ran.code, Some(0), "{ran:?}");
    assert_eq!(
        kit.run(&["sessions"]).out.lines().count() as u64,
        ran.out.lines().count() as u64 / 2
    );
}

/// A run that waits for an answer, and the session that it has begun before.
fn asking(kit: &Kit, host: &str) -> (Screen, String) {
    let ran = kit.run(&["-p", "list files", "--host", host, "-q"]);
    assert_eq!(ran.code, Some(0), "{ran:?}");
    let id = kit.run(&["sessions"]).out[..27].to_string();
    let mut screen = Screen::wide(
        &mut kit.command(&["--resume", &id, "-p", "run touch made", "--host", host]),
        120,
    );
    screen.until("touch made");
    screen.until("or a reason for the no: ");
    (screen, id)
}

#[test]
fn of_two_that_go_on_with_a_session_the_second_to_save_gets_a_fork() {
    let (kit, server) = (Kit::new(), standin(None));
    let host = server.address().to_string();
    let (screen, id) = asking(&kit, &host);
    let other = kit.run(&["--resume", &id, "-p", "read a.txt", "--host", &host, "-q"]);
    assert_eq!(other.code, Some(0), "{other:?}");
    let of_other = fs::read(kit.file(&id, "log-1.jsonl")).expect("log");
    screen.write("y\r");
    let (shown, code) = screen.end();
    assert_eq!(code, Some(1), "{shown}");
    assert!(!kit.temp.path().join("ws/made").exists());
    let (_, fork) = shown
        .split_once("is kept as a session of its own, with all that was before: --resume ")
        .expect("a fork");
    let fork = &fork[..27];
    assert_eq!(
        fs::read(kit.file(&id, "log-1.jsonl")).expect("log"),
        of_other
    );
    let show = |id: &str| kit.run(&["sessions", "show", id]).out;
    assert!(show(&id).contains("\n  read a.txt\n"), "{}", show(&id));
    let of_fork = show(fork);
    assert!(of_fork.contains("\n  run touch made\n"), "{of_fork}");
    assert!(!of_fork.contains("read a.txt"), "{of_fork}");
    assert!(
        of_fork.contains(&format!("\nforked     {id} up to record ")),
        "{of_fork}"
    );
    assert_eq!(kit.run(&["audit", "verify", "--all"]).code, Some(0));
    let ran = kit.run(&["--resume", fork, "-p", "list files", "--host", &host, "-q"]);
    assert_eq!(ran.code, Some(0), "{ran:?}");
}

#[test]
fn a_session_whose_folder_goes_while_it_is_at_work_becomes_another_one() {
    let (kit, server) = (Kit::new(), standin(None));
    let host = server.address().to_string();
    let (screen, id) = asking(&kit, &host);
    // With the command it stays.
    let ran = kit.run(&["sessions", "delete", &id, "--yes"]);
    assert_eq!((ran.code, ran.out.as_str()), (Some(1), ""), "{ran:?}");
    fs::remove_dir_all(kit.file(&id, "")).expect("removed");
    screen.write("y\r");
    let (shown, code) = screen.end();
    assert_eq!(code, Some(1), "{shown}");
    assert!(!kit.temp.path().join("ws/made").exists());
    let listed = kit.run(&["sessions"]).out;
    assert_eq!(listed.lines().count(), 1, "{listed}");
    assert!(
        shown.contains(&listed[..27]) && listed[..27] != id,
        "{shown}"
    );
    let show = kit.run(&["sessions", "show", &listed[..27]]);
    assert_eq!(show.code, Some(0));
    assert!(show.out.contains("\n  run touch made\n"), "{}", show.out);
}

/// Puts a hole of so many bytes behind the first record of a session.
fn stretch(kit: &Kit, id: &str, hole: u64) {
    let path = kit.file(id, "log-1.jsonl");
    let log = fs::read_to_string(&path).expect("log");
    let (first, rest) = log.split_once('\n').expect("two records");
    let file = File::create(&path).expect("log");
    file.write_all_at(format!("{first}\n").as_bytes(), 0)
        .expect("written");
    let at = first.len() as u64 + 1 + hole;
    file.write_all_at(format!("\n{rest}").as_bytes(), at)
        .expect("written");
    let pointer = fs::read(kit.file(id, "current")).expect("current");
    let pointer = Pointer::parse(&pointer).expect("a pointer");
    let length = pointer.length + hole + 1;
    fs::write(
        kit.file(id, "current"),
        Pointer { length, ..pointer }.line() + "\n",
    )
    .expect("written");
}

#[test]
fn the_end_of_a_session_of_a_gigabyte_is_shown_without_the_rest() {
    let kit = Kit::new();
    let id = kit.session(0, &two_requests(0));
    let small = kit.run(&["sessions", "show", &id, "--last", "1"]);
    stretch(&kit, &id, 1 << 30);
    let large = kit.run(&["sessions", "show", &id, "--last", "1"]);
    assert_eq!(large, small);
    assert_eq!((large.code, large.err.as_str()), (Some(0), ""));
    let row = format!("{id}  2025-08-21 09:00       18  make the test pass\n");
    kit.check(&["sessions"], 0, &row, "");
}

#[test]
fn two_hundred_sessions_of_fifty_megabytes_are_listed() {
    let kit = Kit::new();
    let mut rows = Vec::new();
    for second in 0..200 {
        let text = format!("task {second}");
        let records = [header(second), title(&text), turn(1, &text), user(&text)];
        let id = kit.session(second, &records);
        stretch(&kit, &id, 50 << 20);
        rows.push(format!(
            "{id}  2025-08-21 09:0{}        4  {text}\n",
            (second + 3) / 60
        ));
    }
    rows.reverse();
    for _ in 0..2 {
        kit.check(&["sessions"], 0, &rows.concat(), "");
    }
    assert!(kit.store.folder().join("index").exists());
    let mut found = kit.command(&["sessions", "show", &id(77), "--last", "1"]);
    assert!(run(&mut found).out.ends_with("  task 77\n"));
}
