//! Renaming, removing, forking.

use super::kit::{Kit, header, id, title, turn, two_requests, user};
use crate::support::run::standin;
use std::fs;
use zcoder::policy::Profile;
use zcoder::protocol::{Pending, TurnId, Way};
use zcoder::session::{Author, FrontEnd, Record, SessionId};

fn three() -> Kit {
    let kit = Kit::new();
    for second in [1, 2, 3] {
        let text = format!("task {second}");
        kit.session(
            second,
            &[header(second), title(&text), turn(1, &text), user(&text)],
        );
    }
    kit
}

fn listed(kit: &Kit) -> Vec<String> {
    let out = kit.run(&["sessions"]).out;
    let title = |line: &str| line.rsplit("  ").next().unwrap_or_default().to_string();
    out.lines().map(title).collect()
}

#[test]
fn a_session_gets_another_title() {
    let kit = three();
    kit.check(
        &["sessions", "rename", &id(2), "a \x1b[31mbetter\nname "],
        0,
        "",
        "",
    );
    assert_eq!(listed(&kit), ["a better name", "task 3", "task 1"]);
    kit.check(
        &["sessions", "rename", &id(2), " "],
        2,
        "",
        "zcoder: a title needs words\n",
    );
    let ran = kit.run(&["sessions", "rename", &id(2)]);
    assert!(
        ran.err
            .starts_with("zcoder: `zcoder sessions` needs more words: "),
        "{ran:?}"
    );
}

#[test]
fn what_is_to_be_removed_is_listed_and_only_a_yes_removes_it() {
    let kit = three();
    let journal = kit
        .temp
        .path()
        .join("home/undo")
        .join(kit.store.folder().file_name().expect("a name"));
    for second in [1, 2] {
        let folder = journal.join(id(second));
        fs::create_dir_all(&folder).expect("folders");
        fs::write(folder.join("session"), "").expect("a file");
        fs::write(folder.join("000001"), "secret").expect("a file");
    }
    let row = |second: u64| format!("{}  2025-08-21 09:00        4  task {second}\n", id(second));
    let out = row(2) + &row(1);
    let args = ["sessions", "delete", &id(1), &id(2)];
    let err = "nothing was removed; `zcoder sessions delete … --yes` removes these\n";
    kit.check(&args, 0, &out, err);
    let mut by_variable = kit.command(&args);
    by_variable.env("ZCODER_YES", "1");
    assert_eq!(crate::support::run::run(&mut by_variable).err, err);
    assert_eq!(listed(&kit).len(), 3);
    kit.check(
        &["sessions", "delete", &id(1), &id(2), "--yes"],
        0,
        &out,
        "removed\n",
    );
    assert_eq!(listed(&kit), ["task 3"]);
    assert!(!journal.join(id(1)).exists() && !journal.join(id(2)).exists());
    assert!(!kit.file(&id(1), "").exists());
}

#[test]
fn a_session_at_work_that_goes_on_is_said_to_be_and_not_called_interrupted() {
    let (kit, server) = (three(), standin(None));
    let at_work = kit.store.open(&SessionId(id(2))).expect("a session");
    let host = server.address().to_string();
    let (id, ask) = (id(2), ["-q", "-p", "hello", "--host", &host]);
    let args = [&["--resume", &id], &ask[..]].concat();
    let said = format!(
        "zcoder: another zcoder is at work in session {id}: what it does from now on is not seen here, and whoever keeps something \
         second gets a session of its own\n"
    );
    assert_eq!(kit.run(&args).err, said);
    drop(at_work);
    let ran = kit.run(&args);
    assert!(!ran.err.contains("at work"), "{ran:?}");
}

#[test]
fn a_session_at_work_is_neither_removed_nor_renamed() {
    let kit = three();
    let at_work = kit.store.open(&SessionId(id(2))).expect("a session");
    let err = format!(
        "zcoder: session {} is at work in another zcoder; it stays as it is\n",
        id(2)
    );
    kit.check(
        &["sessions", "delete", &id(1), &id(2), "--yes"],
        1,
        "",
        &err,
    );
    kit.check(&["sessions", "rename", &id(2), "x"], 1, "", &err);
    let ran = kit.run(&["purge", "--yes"]);
    assert_eq!(ran.code, Some(1));
    assert!(ran.err.contains("a session is at work"), "{ran:?}");
    let ran = kit.run(&["sessions", "prune", "--older", "1h", "--yes"]);
    assert_eq!((ran.code, ran.err), (Some(0), format!("{err}removed\n")));
    assert_eq!(listed(&kit), ["task 2"]);
    drop(at_work);
    kit.check(
        &["sessions", "delete", &id(2), "--yes"],
        0,
        &format!("{}  2025-08-21 09:00        4  task 2\n", id(2)),
        "removed\n",
    );
}

#[test]
fn what_is_older_goes_and_what_is_damaged_stays() {
    let kit = three();
    let mut fresh = kit.store.begin(Profile::Coding).expect("a log");
    let by = Author {
        uid: 0,
        tty: None,
        front: FrontEnd::OneShot,
    };
    fresh.append(title("fresh"));
    fresh.begin_turn(TurnId(1), by);
    fresh.commit().expect("a commit");
    let fresh_id = fresh.id().clone();
    drop(fresh);
    fs::write(kit.file(&id(2), "current"), "").expect("written");
    let folder = kit.store.folder();
    fs::create_dir(folder.join(".new-20250821-090000000-abcdefgh")).expect("a folder");
    let row = |second: u64| format!("{}  2025-08-21 09:00        4  task {second}\n", id(second));
    let out = row(3) + &row(1);
    let stays = "zcoder: 1 damaged session is left out; `zcoder sessions delete ID` removes one\n";
    kit.check(
        &["sessions", "prune", "--older", "30d"],
        0,
        &out,
        &format!("{stays}nothing was removed; `zcoder sessions prune … --yes` removes these\n"),
    );
    kit.check(
        &["sessions", "prune", "--older", "30d", "--yes"],
        0,
        &out,
        &format!("{stays}removed\n"),
    );
    let left = kit.run(&["sessions"]).out;
    assert!(
        left.starts_with(&fresh_id.0) && left.contains("[damaged] task 2"),
        "{left}"
    );
    kit.check(
        &["sessions", "prune", "--older", "30d", "--yes"],
        0,
        "",
        &format!("{stays}there is nothing to remove\n"),
    );
    for bad in ["30", "d", "+1d", "1y", "99999999999999999w", ""] {
        let ran = kit.run(&["sessions", "prune", "--older", bad]);
        assert_eq!(ran.code, Some(2), "{bad}");
        assert!(
            ran.err.ends_with("expected an age: 30d, 12h or 4w\n"),
            "{}",
            ran.err
        );
    }
}

#[test]
fn a_fork_ends_before_a_request_and_prints_it() {
    let kit = Kit::new();
    let old = kit.session(0, &two_requests(0));
    let before = fs::read(kit.file(&old, "log-1.jsonl")).expect("log");
    let ran = kit.run(&["sessions", "fork", &old, "--at", "2"]);
    assert_eq!(ran.code, Some(0), "{ran:?}");
    let (new, text) = ran.out.split_once('\n').expect("two lines");
    assert_eq!(text, "try again\n");
    assert_eq!(
        ran.err,
        format!(
            "session {new} begins as {old}, before its request 2; `zcoder --resume {new} -p TEXT` goes on with it\n"
        )
    );
    let shown = kit.run(&["sessions", "show", new]);
    assert_eq!(shown.code, Some(0), "{shown:?}");
    assert!(
        shown
            .out
            .contains(&format!("forked     {old} up to record 12\n")),
        "{}",
        shown.out
    );
    assert!(
        shown.out.ends_with("1 request, 2 calls\n") && !shown.out.contains("request 2"),
        "{}",
        shown.out
    );
    assert_eq!(kit.run(&["audit", "verify", new]).code, Some(0));
    assert_eq!(
        fs::read(kit.file(&old, "log-1.jsonl")).expect("log"),
        before
    );
    let whole = kit.run(&["sessions", "fork", &old]);
    assert_eq!(whole.out.lines().count(), 1, "{whole:?}");
    kit.check(
        &["sessions", "fork", &old, "--at", "3"],
        1,
        "",
        &format!("zcoder: session {old} has no request 3; it has 2\n"),
    );
    kit.check(
        &["sessions", "fork", &old, "--undo"],
        2,
        "",
        "zcoder: --undo works only with --at\n",
    );
}

#[test]
fn a_turn_without_a_request_gives_no_other_ones_text() {
    let kit = Kit::new();
    let own = Record::Shell {
        id: "c1".to_string(),
        command: "true".to_string(),
        in_context: false,
    };
    let first = [header(1), title("t"), turn(1, "t"), user("one")];
    let more = [turn(2, "t"), own, turn(3, "t"), user("three")];
    let old = kit.session(1, &[first, more].concat());
    kit.check(
        &["sessions", "fork", &old, "--at", "2"],
        1,
        "",
        &format!("zcoder: session {old} has no request 2; it has 3\n"),
    );
    let ran = kit.run(&["sessions", "fork", &old, "--at", "3"]);
    assert!(ran.out.ends_with("\nthree\n"), "{ran:?}");
}

#[test]
fn a_message_that_waited_is_given_back_and_waits_no_longer_in_a_fork() {
    let kit = Kit::new();
    let waits = Record::Accepted(Pending {
        id: "m1".to_string(),
        way: Way::Queue,
        text: "list files".to_string(),
    });
    let settled = Record::Settled {
        id: "m1".to_string(),
        consumed: true,
    };
    let first = [header(1), title("t"), turn(1, "t"), user("one"), waits];
    let more = [turn(2, "t"), user("list files"), settled.clone()];
    let old = kit.session(1, &[&first[..], &more].concat());
    let ran = kit.run(&["sessions", "fork", &old, "--at", "2"]);
    let (new, text) = ran.out.split_once('\n').expect("two lines");
    assert_eq!(text, "list files\n");
    let fork = kit.store.open(&SessionId(new.to_string())).expect("a fork");
    assert_eq!(fork.log.records().last(), Some(&settled));
}

#[test]
fn a_fork_can_take_back_what_later_requests_changed() {
    let (kit, server) = (Kit::new(), standin(None));
    let host = server.address().to_string();
    kit.temp.write("ws/a.txt", "one\n");
    for (goes_on, task) in [
        (&[][..], "replace 'one' with 'two' in a.txt"),
        (&["--continue"], "replace 'two' with 'three' in a.txt"),
        (&["--continue"], "replace 'three' with 'four' in a.txt"),
    ] {
        let ran = kit.run(&[goes_on, &["-p", task, "--host", &host, "-q"]].concat());
        assert_eq!(ran.code, Some(0), "{ran:?}");
    }
    assert_eq!(kit.temp.read("ws/a.txt"), b"four\n");
    let args = ["sessions", "fork", "20", "--at", "2", "--undo"];
    let ran = kit.run(&args);
    assert_eq!((ran.code, ran.out.as_str()), (Some(4), ""), "{ran:?}");
    let listing = "undo turn 3 (replace 'three' with 'four' in a.txt)\n  a.txt +1 -1\n\
                   undo turn 2 (replace 'two' with 'three' in a.txt)\n  a.txt\n";
    assert_eq!(
        ran.err,
        format!(
            "{listing}zcoder: nothing was changed: there is no terminal to ask on; --yes makes the step\n"
        )
    );
    assert_eq!(kit.temp.read("ws/a.txt"), b"four\n");
    let ran = kit.run(&[&args[..], &["--yes"]].concat());
    assert_eq!(ran.code, Some(0), "{ran:?}");
    assert_eq!(kit.temp.read("ws/a.txt"), b"two\n");
    assert!(
        ran.out.ends_with("\nreplace 'two' with 'three' in a.txt\n"),
        "{ran:?}"
    );
    let new = ran.out.lines().next().expect("an id");
    let ran = kit.run(&[
        "--resume",
        new,
        "-p",
        "replace 'two' with 'zwei' in a.txt",
        "--host",
        &host,
        "-q",
    ]);
    assert_eq!(ran.code, Some(0), "{ran:?}");
    assert_eq!(kit.temp.read("ws/a.txt"), b"zwei\n");
}
