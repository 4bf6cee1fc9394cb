//! `/retry`: the last request of a session again, in a session of its own.

use super::kit::{Kit, header, receipt, title, turn, two_requests, user};
use crate::support::run::standin;
use std::fs;
use zcoder::protocol::{Goal, GoalState, Message, Note, Pending, Status, Way};
use zcoder::session::{Passed, Record, SessionId};

/// All records of a session.
fn records(kit: &Kit, id: &str) -> Vec<Record> {
    let mut forward = kit.store.forward(&SessionId(id.to_string())).expect(id);
    let mut records = Vec::new();
    while let Some(Passed::Record(entry)) = forward.next().expect("a record") {
        records.push(entry.record);
    }
    records
}

/// Ids as they are listed, the newest first.
fn ids(kit: &Kit) -> Vec<String> {
    let out = kit.run(&["sessions"]).out;
    let id = |line: &str| line.split(' ').next().unwrap_or_default().to_string();
    out.lines().map(id).collect()
}

/// Where the last request begins, behind what was there before it.
fn last_turn(records: &[Record]) -> &[Record] {
    let begun = |record: &Record| matches!(record, Record::TurnStarted { .. });
    &records[records.iter().rposition(begun).expect("a turn")..]
}

fn run_command(command: &str) -> Record {
    Record::Shell {
        id: "c1".to_string(),
        command: command.to_string(),
        in_context: true,
    }
}

#[test]
fn the_last_request_is_sent_again_in_a_session_that_begins_as_before_it() {
    let (kit, server) = (Kit::new(), standin(None));
    let host = server.address().to_string();
    kit.temp.write("ws/a.txt", "one\n");
    for (goes_on, task) in [
        (&[][..], "read a.txt"),
        (&["--continue"], "replace 'one' with 'two' in a.txt"),
    ] {
        let ran = kit.run(&[goes_on, &["-p", task, "--host", &host, "-q"]].concat());
        assert_eq!(ran.code, Some(0), "{ran:?}");
    }
    let old = ids(&kit).remove(0);
    let log = fs::read(kit.file(&old, "log-1.jsonl")).expect("log");
    let ran = kit.run(&["--continue", "-p", " /retry ", "--host", &host]);
    assert_eq!(ran.code, Some(0), "{ran:?}");
    let new = ids(&kit).remove(0);
    assert_ne!(new, old);
    let said = format!(
        "retry     request 2 of {old} again, in session {new}; what the first try changed in files stays, `zcoder undo {old} --turn 2` \
         takes it back\n"
    );
    assert!(ran.err.starts_with(&said), "{}", ran.err);
    assert!(
        ran.err.contains("old_text was not found"),
        "the file is as the first try left it: {}",
        ran.err
    );
    assert_eq!(fs::read(kit.file(&old, "log-1.jsonl")).expect("log"), log);

    // The same bytes before the request, and the same request.
    let (first, second) = (records(&kit, &old), records(&kit, &new));
    let until = first.len() - last_turn(&first).len();
    assert_eq!(first[1..until], second[1..until]);
    assert_eq!(first[until + 1], second[until + 1]);
    assert_eq!(
        first[until + 1],
        user("replace 'one' with 'two' in a.txt"),
        "{first:?}"
    );
    assert_eq!(kit.run(&["audit", "verify", &new]).code, Some(0));

    // As a person may go on: the first try's change goes, and the request has its effect again.
    let args = ["--resume", &old, "-p", "/retry --undo", "--host", &host];
    let ran = kit.run(&args);
    assert_eq!((ran.code, ran.out.as_str()), (Some(4), ""), "{ran:?}");
    let listing = "undo turn 2 (replace 'one' with 'two' in a.txt)\n  a.txt +1 -1\n";
    assert_eq!(
        ran.err,
        format!(
            "{listing}zcoder: nothing was changed: there is no terminal to ask on; --yes makes the step\n"
        )
    );
    assert_eq!(kit.temp.read("ws/a.txt"), b"two\n");
    let ran = kit.run(&[&args[..], &["--yes"]].concat());
    assert_eq!(ran.code, Some(0), "{ran:?}");
    let newest = ids(&kit).remove(0);
    let said = format!(
        "{listing}turn 2 was taken back\nretry     request 2 of {old} again, in session {newest}\n"
    );
    assert!(ran.err.starts_with(&said), "{}", ran.err);
    assert!(ran.out.contains("changed line 1 of `a.txt`"), "{ran:?}");
    assert_eq!(kit.temp.read("ws/a.txt"), b"two\n");
}

#[test]
fn the_text_is_sent_word_for_word_and_means_nothing_else_now() {
    let server = standin(None);
    let host = server.address().to_string();
    for text in [
        "/goal x\n  $pdf !y ",
        "!rm -r x",
        "/retry",
        "look\n\n[attached, 4 bytes]\nabc\n\n[end of attachment]",
    ] {
        let kit = Kit::new();
        kit.session(1, &[header(1), title("t"), turn(1, "t"), user(text)]);
        let ran = kit.run(&["-c", "-p", "/retry", "--host", &host, "-q"]);
        assert_eq!((ran.code, ran.err.as_str()), (Some(0), ""), "{text}");
        let new = ids(&kit).remove(0);
        assert_eq!(last_turn(&records(&kit, &new))[1], user(text));
    }
}

#[test]
fn turns_without_a_request_are_passed_over_and_a_goal_is_set_again() {
    let server = standin(None);
    let host = server.address().to_string();
    let kit = Kit::new();
    let own = [turn(2, "t"), run_command("true"), receipt(2, Status::Done)];
    let first = [header(1), title("t"), turn(1, "t"), user("read a.txt")];
    let ended = [receipt(1, Status::Done)];
    let old = kit.session(1, &[&first[..], &ended, &own].concat());
    let ran = kit.run(&["-r", &old, "-p", "/retry", "--host", &host]);
    assert_eq!(ran.code, Some(0), "{ran:?}");
    let said = format!("retry     request 1 of {old} again, in session ");
    assert!(ran.err.starts_with(&said), "{}", ran.err);
    let new = records(&kit, &ids(&kit)[0]);
    assert_eq!(last_turn(&new)[1], user("read a.txt"));
    assert!(!new.contains(&run_command("true")), "{new:?}");

    let goal = |state| {
        Record::Goal(Goal {
            objective: "create x.txt with y".to_string(),
            limit: Some(900_000),
            tokens: 0,
            rejections: 0,
            state,
            reason: String::new(),
            feedback: String::new(),
        })
    };
    let set = [
        header(3),
        title("t"),
        turn(1, "t"),
        user("create x.txt with y"),
        goal(GoalState::Running),
        goal(GoalState::Paused),
        receipt(1, Status::Cancelled),
    ];
    let old = kit.session(3, &set);
    let ran = kit.run(&["-r", &old, "-p", "/retry", "--host", &host]);
    assert_eq!(ran.code, Some(0), "{ran:?}");
    let new = records(&kit, &ids(&kit)[0]);
    assert_eq!(last_turn(&new)[1..3], set[3..5]);
    assert!(kit.temp.path().join("ws/x.txt").exists());
}

#[test]
fn what_a_later_turn_or_a_drop_says_is_not_of_the_request() {
    let server = standin(None);
    let host = server.address().to_string();
    let kit = Kit::new();
    let goal = |state| {
        Record::Goal(Goal {
            objective: "create x.txt with y".to_string(),
            limit: None,
            tokens: 0,
            rejections: 0,
            state,
            reason: String::new(),
            feedback: String::new(),
        })
    };
    let resumed = Record::Message(Message::Note {
        note: Note::Goal,
        text: "The user resumed the goal.".to_string(),
    });
    let dropped = Record::Settled {
        id: "m1".to_string(),
        consumed: false,
    };
    let waiting = Record::Accepted(Pending {
        id: "m1".to_string(),
        way: Way::Queue,
        text: "list files".to_string(),
    });
    let old = kit.session(
        1,
        &[
            header(1),
            title("t"),
            goal(GoalState::Paused),
            waiting,
            turn(1, "t"),
            user("read a.txt"),
            dropped,
            receipt(1, Status::Done),
            turn(2, "t"),
            resumed,
            goal(GoalState::Running),
            receipt(2, Status::Cancelled),
        ],
    );
    let ran = kit.run(&["-r", &old, "-p", "/retry", "--host", &host]);
    assert_eq!(ran.code, Some(0), "{ran:?}");
    let new = records(&kit, &ids(&kit)[0]);
    assert_eq!(last_turn(&new)[1], user("read a.txt"));
    let goes_on = |record: &Record| matches!(record, Record::Goal(_) | Record::Settled { .. });
    assert!(!last_turn(&new).iter().any(goes_on), "{new:?}");
    assert!(!kit.temp.path().join("ws/x.txt").exists());
    assert!(
        ran.err.contains("1 message of an earlier run"),
        "{}",
        ran.err
    );
}

#[test]
fn a_message_that_waited_is_sent_and_waits_no_longer() {
    let server = standin(None);
    let host = server.address().to_string();
    let kit = Kit::new();
    let waits = |id: &str, text: &str| {
        Record::Accepted(Pending {
            id: id.to_string(),
            way: Way::Queue,
            text: text.to_string(),
        })
    };
    let settled = Record::Settled {
        id: "m1".to_string(),
        consumed: true,
    };
    let old = kit.session(
        1,
        &[
            header(1),
            title("t"),
            turn(1, "t"),
            user("first"),
            waits("m1", "list files"),
            receipt(1, Status::Done),
            turn(2, "t"),
            user("list files"),
            settled.clone(),
        ],
    );
    let ran = kit.run(&["-r", &old, "-p", "/retry", "--host", &host]);
    assert_eq!(ran.code, Some(0), "{ran:?}");
    assert!(!ran.err.contains("of an earlier run"), "{}", ran.err);
    let new = records(&kit, &ids(&kit)[0]);
    let count = new.iter().filter(|record| **record == settled).count();
    assert_eq!(count, 1, "{new:?}");
    assert_eq!(last_turn(&new)[1], user("list files"));
}

#[test]
fn where_nothing_can_be_sent_again_nothing_is_made() {
    let kit = Kit::new();
    let name = "`/retry` sends the last request of a session again: name the session with --resume, or take the last one with --continue";
    let takes = |what: &str| {
        format!(
            "`/retry` does not take `{what}`: it sends the last request as it was; with --undo its file changes are taken back first"
        )
    };
    let none = "this folder has no session to go on with; drop --continue to begin one";
    let unlike = "there is no prompt command `/retr`; the nearest is `/retry`\n\
                  a prompt that begins with a slash: put a blank before it";
    for (args, said) in [
        (&["-p", "/retry"][..], name.to_string()),
        (&["--ephemeral", "-p", "/retry"], name.to_string()),
        (
            &["--ephemeral", "--continue", "-p", "/retry"],
            "--ephemeral and --continue exclude each other; drop one".to_string(),
        ),
        (&["-c", "-p", "/retry"], none.to_string()),
        (&["-c", "-p", "/retry 2"], takes("2")),
        (&["-c", "-p", "/retry --undo \x1b"], takes("--undo \\x1b")),
        (&["-c", "-p", "/retr"], unlike.to_string()),
    ] {
        kit.check(args, 2, "", &format!("zcoder: {said}\n"));
    }
    assert!(!kit.temp.path().join("home").exists());

    let empty = kit.session(
        1,
        &[header(1), title("t"), turn(1, "t"), run_command("true")],
    );
    kit.check(
        &["-c", "-p", "/retry"],
        2,
        "",
        &format!("zcoder: nothing to send again: session {empty} has no request\n"),
    );
    // A server that cannot be used leaves no session behind.
    kit.session(2, &two_requests(2));
    let before = ids(&kit);
    let gone = ["-c", "-p", "/retry", "-q", "--host", "127.0.0.1:1"];
    let ran = kit.run(&gone);
    assert_eq!(ran.code, Some(3), "{ran:?}");
    assert_eq!(ids(&kit), before);
}

#[test]
fn what_would_be_sent_again_is_shown_without_a_change() {
    let (kit, server) = (Kit::new(), standin(None));
    let host = server.address().to_string();
    kit.temp.write("ws/a.txt", "one\n");
    let task = "replace 'one' with 'two' in a.txt";
    assert_eq!(kit.run(&["-p", task, "--host", &host]).code, Some(0));
    let before = ids(&kit);
    let args = ["-c", "-p", "/retry --undo", "--yes", "--dry-run"];
    let ran = kit.run(&[&args[..], &["--host", &host]].concat());
    assert_eq!(ran.code, Some(0), "{ran:?}");
    let last = format!("{{\"role\":\"user\",\"content\":\"{task}\"}}]}}\n");
    assert!(ran.out.ends_with(&last), "{}", ran.out);
    assert_eq!(
        (ids(&kit), kit.temp.read("ws/a.txt")),
        (before, b"two\n".to_vec())
    );
}
