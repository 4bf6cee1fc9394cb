//! Sessions that are opened: whole ones, and what is left of damaged ones.

use super::kit::{Kit, assistant, author, call, result, user};
use std::fs;
use std::path::Path;
use zcoder::protocol::{Cut, Doing, Halt, Message, Status, TurnId};
use zcoder::session::{Log, Notice, OpenError, Opened, Pointer, Record, SessionId, read_line};
use zcoder::sha256::digest;

fn open(kit: &Kit, log: &Log) -> Opened {
    kit.store.open(log.id()).expect("a session")
}

/// Records in short: `S` header, `T` title, `B` begin of a turn, `R` receipt, `G` gap, `-` lost, messages as their text.
fn short(records: &[Record]) -> String {
    let words = records.iter().map(|record| match record {
        Record::Session(_) => "S",
        Record::Title { .. } => "T",
        Record::TurnStarted { .. } => "B",
        Record::Receipt { .. } => "R",
        Record::Gap { .. } => "G",
        Record::Lost { .. } => "-",
        Record::Unknown { .. } => "?",
        Record::Message(Message::User { text } | Message::Tool { text, .. }) => text,
        Record::Message(Message::Assistant { content, .. }) => content.as_str(),
        _ => "other",
    });
    words.collect::<Vec<_>>().join(" ")
}

fn told(notices: &[Notice]) -> Vec<String> {
    notices.iter().map(Notice::to_string).collect()
}

#[test]
fn a_session_comes_back_as_it_was() {
    let kit = Kit::new();
    let mut log = kit.committed(&[]);
    log.begin_turn(TurnId(1), author());
    for record in super::kit::every_record().into_iter().skip(2) {
        log.append(record);
    }
    let text = "the test".to_string();
    log.append(Record::Title { text });
    log.append(Record::Receipt {
        turn: TurnId(1),
        receipt: super::kit::receipt(Status::Done),
    });
    log.commit().expect("a commit");
    let opened = open(&kit, &log);
    assert_eq!(opened.log.records(), log.records());
    assert_eq!(opened.log.times(), log.times());
    assert_eq!(opened.log.saved(), log.records().len());
    assert_eq!((opened.log.id(), opened.log.generation()), (log.id(), 2));
    assert_eq!(opened.interrupted, None);
    assert_eq!(told(&opened.notices), [""; 0]);
    assert_eq!(opened.log.title(), log.title());
    assert_eq!(log.title(), Some("the test"));
}

#[test]
fn a_session_goes_on_where_it_stopped() {
    let kit = Kit::new();
    let mut log = kit.committed(&["one"]);
    for text in ["two", "three"] {
        log = open(&kit, &log).log;
        log.append(user(text));
        log.commit().expect("a commit");
    }
    assert_eq!(short(open(&kit, &log).log.records()), "S one two three");
    assert_eq!(log.generation(), 3);
}

#[test]
fn a_title_can_be_changed_and_is_one_harmless_line() {
    let kit = Kit::new();
    let log = kit.committed(&["one"]);
    kit.store.rename(log.id(), " a\nb\u{7} ").expect("renamed");
    let opened = open(&kit, &log);
    assert_eq!(opened.log.title(), Some("a b"));
    assert_eq!(short(opened.log.records()), "S one T");
}

#[test]
fn an_id_that_is_none_is_refused() {
    let kit = Kit::new();
    let log = kit.committed(&["one"]);
    for id in [
        "20260821-090000123-x1y2z3a4",
        "",
        ".",
        "..",
        "../x",
        ".new-1",
        "a/b",
        "\u{1b}",
    ] {
        let id = SessionId(id.to_string());
        let error = kit.store.open(&id).expect_err("none");
        assert!(matches!(error, OpenError::None { .. }), "{error}");
        assert!(kit.store.delete(&id).is_err());
    }
    let error = kit
        .store
        .open(&SessionId("a\u{1b}".to_string()))
        .expect_err("none");
    assert_eq!(
        error.to_string(),
        "no session `a\\x1b` in this workspace; `zcoder sessions list` shows those there are"
    );
    assert_eq!(short(open(&kit, &log).log.records()), "S one");
}

/// Where a record's line begins and ends (with LF) in a log.
fn line(bytes: &[u8], seq: usize) -> std::ops::Range<usize> {
    let mut start = 0;
    for (number, line) in bytes.split_inclusive(|byte| *byte == b'\n').enumerate() {
        if number == seq {
            return start..start + line.len();
        }
        start += line.len();
    }
    panic!("no line {seq}")
}

/// One damage: what it does to log-1, what is loaded, what is told (`#` for numbers).
type Case = (
    &'static str,
    fn(Vec<u8>) -> Vec<u8>,
    &'static str,
    &'static [&'static str],
);

const CASES: &[Case] = &[
    (
        "a byte of a text was changed",
        |mut log| {
            let at = line(&log, 3).end - 4;
            log[at] = b'X';
            log
        },
        "S a b - d e G",
        &["# bytes at byte # of log-#.jsonl cannot be read: # record is lost"],
    ),
    (
        "the last record was changed",
        |mut log| {
            let at = line(&log, 5).end - 4;
            log[at] = b'X';
            log
        },
        "S a b c d - G",
        &[
            "# bytes at byte # of log-#.jsonl cannot be read: the last records of the session are lost",
        ],
    ),
    (
        "NUL bytes stand in place of a record",
        |mut log| {
            let range = line(&log, 2);
            log[range.start..range.end - 1].fill(0);
            log
        },
        "S a - c d e G",
        &["# bytes at byte # of log-#.jsonl cannot be read: # record is lost"],
    ),
    (
        "NUL bytes stand in place of the end of one and the beginning of the next",
        |mut log| {
            let range = line(&log, 2);
            log[range.end - 9..range.end + 9].fill(0);
            log
        },
        "S a - - d e G",
        &["# bytes at byte # of log-#.jsonl cannot be read: # records are lost"],
    ),
    (
        "a run of NUL bytes was put between two records",
        |mut log| {
            let at = line(&log, 2).end;
            log.splice(at..at, [0; 100]);
            log
        },
        "S a b c d - G",
        // The log counts up to its committed length, so what was pushed behind it is lost.
        &[
            "# bytes at byte # of log-#.jsonl are no record and were passed over; no record of the session is lost",
            "# bytes at byte # of log-#.jsonl cannot be read: the last records of the session are lost",
        ],
    ),
    (
        "half a record, then a whole one on the same line",
        |mut log| {
            let range = line(&log, 3);
            let half = range.start + 100;
            log.drain(half..range.end);
            let more = vec![b' '; range.end - half];
            // As long as it was.
            log.splice(half..half, more);
            log
        },
        "S a b - d e G",
        &["# bytes at byte # of log-#.jsonl cannot be read: # record is lost"],
    ),
    (
        "a line was taken out",
        |mut log| {
            let range = line(&log, 3);
            let text = vec![b'\n'; range.len()];
            log.splice(range, text);
            log
        },
        "S a b - d e G",
        &["# bytes at byte # of log-#.jsonl cannot be read: # record is lost"],
    ),
    (
        "the header is gone",
        |mut log| {
            let range = line(&log, 0);
            log[range].fill(b'#');
            log
        },
        "- a b c d e G",
        &["# bytes at byte # of log-#.jsonl cannot be read: # record is lost"],
    ),
    (
        "the log was cut within its last record",
        |log| log[..log.len() - 7].to_vec(),
        "S a b c d - G",
        &[
            "# bytes at byte # of log-#.jsonl cannot be read: the last records of the session are lost",
        ],
    ),
    (
        "the log was cut between records",
        |log| log[..line(&log, 3).end].to_vec(),
        "S a b c - G",
        &[
            "# bytes at byte # of log-#.jsonl cannot be read: the last records of the session are lost",
        ],
    ),
    (
        "two records were exchanged",
        |log| {
            let (c, d) = (line(&log, 3), line(&log, 4));
            [&log[..c.start], &log[d.clone()], &log[c], &log[d.end..]].concat()
        },
        "S a b c - e G",
        &[
            "# bytes at byte # of log-#.jsonl are no record and were passed over; no record of the session is lost",
            "# record is missing at byte # of log-#.jsonl",
        ],
    ),
];

fn without_numbers(text: &str) -> String {
    let mut out = String::new();
    for c in text.chars() {
        match c.is_ascii_digit() {
            true if out.ends_with('#') => {}
            true => out.push('#'),
            false => out.push(c),
        }
    }
    out
}

#[test]
fn what_is_damaged_is_passed_over_and_told_and_left_as_it_is() {
    for (name, damage, expected, notices) in CASES {
        let kit = Kit::new();
        let log = kit.committed(&["a", "b", "c", "d", "e"]);
        let path = kit.file(&log, "log-1.jsonl");
        let damaged = damage(fs::read(&path).expect("a log"));
        fs::write(&path, &damaged).expect("damaged");
        let mut opened = open(&kit, &log);
        assert_eq!(&short(opened.log.records()), expected, "{name}");
        let told: Vec<String> = told(&opened.notices)
            .iter()
            .map(|text| without_numbers(text))
            .collect();
        assert_eq!(&told, notices, "{name}");
        let pointer = fs::read(kit.file(&log, "current")).expect("a pointer");
        let pointer = Pointer::parse(&pointer).expect("a pointer");
        // The next commit opens a new log; the old one keeps every byte.
        opened.log.append(user("on"));
        opened.log.commit().expect("a commit");
        assert_eq!(fs::read(&path).expect("a log"), damaged, "{name}");
        let new = fs::read(kit.file(&log, "log-2.jsonl")).expect("a new log");
        let first = read_line(&new[line(&new, 0).start..line(&new, 0).end - 1]).expect("a record");
        assert_eq!(first.envelope.prev, pointer.hash, "{name}");
        let length = pointer.length.min(damaged.len() as u64);
        let counted = &damaged[..usize::try_from(length).expect("small")];
        let gap = Record::Gap {
            log: "log-1.jsonl".to_string(),
            length,
            hash: digest(counted),
        };
        assert_eq!(first.record, gap, "{name}");
        // It is told again, and the new log is gone on with.
        let mut again = open(&kit, &log);
        assert_eq!(
            short(again.log.records()),
            format!("{expected} on"),
            "{name}"
        );
        again.log.append(user("and on"));
        again.log.commit().expect("a commit");
        assert!(!kit.file(&log, "log-3.jsonl").exists(), "{name}");
        assert_eq!(
            short(open(&kit, &log).log.records()),
            format!("{expected} on and on"),
            "{name}"
        );
    }
}

fn set(path: &Path, bytes: &[u8]) {
    fs::write(path, bytes).expect("written");
}

#[test]
fn without_a_pointer_all_that_the_logs_hold_is_loaded_and_said() {
    let lost = "the session's `current` is missing or damaged: what its logs hold was loaded, and the last records may not have been committed";
    let cases: [fn(&Path); 3] = [
        |current| fs::remove_file(current).expect("removed"),
        |current| set(current, b""),
        |current| set(current, b"17 log-1.jsonl\n"),
    ];
    for damage in cases {
        let kit = Kit::new();
        let mut log = kit.committed(&["a", "b"]);
        log.append(user("c"));
        log.commit().expect("a commit");
        let path = kit.file(&log, "log-1.jsonl");
        let committed = fs::read(&path).expect("a log");
        damage(&kit.file(&log, "current"));
        // The tail of a commit that did not end.
        set(
            &path,
            &[&committed[..], b"{\"seq\":4,\"prev\":\"half"].concat(),
        );
        let mut opened = open(&kit, &log);
        assert_eq!(short(opened.log.records()), "S a b c - G");
        assert_eq!(told(&opened.notices)[0], lost);
        opened.log.append(user("d"));
        opened.log.commit().expect("a commit");
        let again = open(&kit, &log);
        assert_eq!(short(again.log.records()), "S a b c - G d");
        // No generation comes twice: two commits were made before.
        assert!(again.log.generation() > 2);
        assert_eq!(again.notices.len(), 1, "{:?}", again.notices);
    }
}

#[test]
fn a_session_of_which_nothing_is_left_is_refused() {
    let cases: [fn(&Path); 3] = [
        |folder| fs::remove_file(folder.join("log-1.jsonl")).expect("removed"),
        |folder| set(&folder.join("log-1.jsonl"), b""),
        |folder| set(&folder.join("log-1.jsonl"), &[0; 5000]),
    ];
    for damage in cases {
        let kit = Kit::new();
        let log = kit.committed(&["a"]);
        let folder = kit.file(&log, "");
        damage(&folder);
        let error = kit.store.open(log.id()).expect_err("nothing");
        let expected = format!(
            "no record of the session in `{}` can be read; its files are left as they are",
            folder.display().to_string().trim_end_matches('/')
        );
        assert_eq!(error.to_string(), expected);
    }
}

#[test]
fn a_log_before_the_last_one_may_be_damaged_later() {
    let kit = Kit::new();
    let log = kit.committed(&["a", "b", "c"]);
    let first = kit.file(&log, "log-1.jsonl");
    let mut bytes = fs::read(&first).expect("a log");
    let at = line(&bytes, 1).end - 4;
    bytes[at] = b'X';
    set(&first, &bytes);
    let mut opened = open(&kit, &log);
    opened.log.append(user("d"));
    opened.log.commit().expect("a commit");
    assert_eq!(short(open(&kit, &log).log.records()), "S - b c G d");
    fs::remove_file(&first).expect("removed");
    let mut opened = open(&kit, &log);
    assert_eq!(short(opened.log.records()), "- - - - G d");
    let told = told(&opened.notices);
    assert_eq!(told, ["4 records are missing at byte 0 of log-1.jsonl"]);
    opened.log.append(user("e"));
    opened.log.commit().expect("a commit");
    assert!(!kit.file(&log, "log-3.jsonl").exists());
    assert_eq!(short(open(&kit, &log).log.records()), "- - - - G d e");
}

#[test]
fn a_call_without_a_result_was_interrupted() {
    let kit = Kit::new();
    let mut log = kit.committed(&[]);
    log.begin_turn(TurnId(1), author());
    log.append(user("go"));
    log.append(assistant("", vec![call("x", "{}"), call("y", "{}")]));
    log.append(result("x", "fine"));
    log.commit().expect("a commit");
    let mut opened = open(&kit, &log);
    let interrupted = "interrupted, effects unknown: zcoder ended before the result was on record; look at what is there before you do it again";
    assert_eq!(
        short(opened.log.records()),
        format!("S B go  fine {interrupted}")
    );
    assert_eq!(opened.log.saved(), 5);
    assert_eq!(
        told(&opened.notices),
        [
            "the result of run_command was not on record when zcoder ended: its effects are unknown, and it is not run again"
        ]
    );
    let stopped = opened.interrupted.take().expect("a turn");
    assert_eq!((stopped.turn, stopped.doing), (TurnId(1), Doing::Unseen));
    // It is on record from the next commit on.
    opened.log.commit().expect("a commit");
    let again = open(&kit, &log);
    assert_eq!((again.log.saved(), again.notices), (6, vec![]));
}

#[test]
fn a_turn_that_did_not_end_is_told() {
    let begin = |log: &mut Log| {
        log.begin_turn(TurnId(7), author());
        log.append(user("go"));
    };
    let receipt = || Record::Receipt {
        turn: TurnId(7),
        receipt: super::kit::receipt(Status::Done),
    };
    type Steps = fn(&mut Log);
    let cases: [(Steps, Option<&str>); 5] = [
        (|_| (), Some("while the model was reading or answering")),
        (
            |log| {
                log.append(assistant("", vec![call("x", "{}")]));
            },
            Some("while running run_command"),
        ),
        (
            |log| {
                log.append(assistant("done", vec![]));
            },
            Some("after the model's answer"),
        ),
        (
            |log| {
                log.append(Record::Shell {
                    id: "s1".to_string(),
                    command: "make\n\u{1b}[2Jx".to_string(),
                    in_context: false,
                });
            },
            Some(
                "while running your own `make \\x1b[2Jx`: its effects are unknown, and it is not run again",
            ),
        ),
        (|_| (), None),
    ];
    for (steps, expected) in cases {
        let kit = Kit::new();
        let mut log = kit.committed(&[]);
        begin(&mut log);
        steps(&mut log);
        if expected.is_none() {
            log.append(receipt());
        }
        log.commit().expect("a commit");
        let told = open(&kit, &log)
            .interrupted
            .map(|stopped| stopped.to_string());
        let time = zcoder::sys::clock::local_hh_mm(*log.times().last().expect("a time"));
        let expected = expected
            .map(|expected| format!("turn interrupted {time} (ended without a word) {expected}"));
        assert_eq!(told, expected);
    }
}

#[test]
fn a_turn_that_was_cut_off_tells_by_what_and_where() {
    let run = || Doing::Running(vec!["run_command make \u{1b}[2J".to_string()]);
    for (by, doing, expected) in [
        (Halt::Cancel, Doing::Between, "(cancel) between two steps"),
        (
            Halt::HangUp,
            Doing::Waiting,
            "(hang-up) while waiting for the model",
        ),
        (
            Halt::Terminate,
            Doing::Loading,
            "(terminated) while the model was being loaded",
        ),
        (
            Halt::HangUp,
            Doing::Reading,
            "(hang-up) while reading the prompt",
        ),
        (
            Halt::Quit,
            Doing::Answering,
            "(quit) while the model was answering",
        ),
        (
            Halt::Cancel,
            Doing::Asking,
            "(cancel) while waiting for your answer",
        ),
        (
            Halt::Cancel,
            run(),
            "(cancel) while running run_command make \\x1b[2J",
        ),
        (
            Halt::Cancel,
            Doing::Own("make\nx".to_string()),
            "(cancel) while running your own `make x`",
        ),
    ] {
        let kit = Kit::new();
        let mut log = kit.committed(&[]);
        log.begin_turn(TurnId(7), author());
        log.append(user("go"));
        let mut receipt = super::kit::receipt(Status::Cancelled);
        receipt.cut = Some(Box::new(Cut { by, doing }));
        let turn = TurnId(7);
        log.append(Record::Receipt { turn, receipt });
        log.append(Record::Title {
            text: "later".to_string(),
        });
        log.commit().expect("a commit");
        let stopped = open(&kit, &log).interrupted.expect("a turn");
        assert_eq!((stopped.turn, stopped.at), (turn, log.times()[3]));
        let time = zcoder::sys::clock::local_hh_mm(log.times()[3]);
        let expected = format!("turn interrupted {time} {expected}");
        assert_eq!(stopped.to_string(), expected);
        // The next turn ended by itself.
        log.begin_turn(TurnId(8), author());
        log.append(Record::Receipt {
            turn: TurnId(8),
            receipt: super::kit::receipt(Status::Done),
        });
        log.commit().expect("a commit");
        assert_eq!(open(&kit, &log).interrupted, None);
    }
}

/// Changes the text of records so that they are damaged.
fn spoil(kit: &Kit, log: &Log, seqs: &[usize]) {
    let path = kit.file(log, "log-1.jsonl");
    let mut bytes = fs::read(&path).expect("a log");
    for seq in seqs {
        let at = line(&bytes, *seq).end - 3;
        bytes[at] ^= 1;
    }
    set(&path, &bytes);
}

#[test]
fn calls_and_results_stay_together_whatever_is_lost() {
    let lost = "the result was lost when the session's file was damaged, effects unknown; look at what is there before you do it again";
    let cases: [(&[usize], String); 5] = [
        // The answer with the calls: its results go with it.
        (&[2], "S go - - - next G".to_string()),
        (&[3], format!("S go  {lost} two next G")),
        (&[4], format!("S go  one {lost} next G")),
        (&[3, 4], format!("S go  {lost} {lost} next G")),
        (&[5], "S go  one two - G".to_string()),
    ];
    for (seqs, expected) in cases {
        let kit = Kit::new();
        let mut log = kit.committed(&["go"]);
        log.append(assistant("", vec![call("x", "{}"), call("y", "{}")]));
        log.append(result("x", "one"));
        log.append(result("y", "two"));
        log.append(user("next"));
        log.commit().expect("a commit");
        spoil(&kit, &log, seqs);
        assert_eq!(short(open(&kit, &log).log.records()), expected, "{seqs:?}");
    }
}

#[test]
fn a_fork_has_its_own_id_and_the_same_numbers() {
    let kit = Kit::new();
    let mut log = kit.committed(&["a", "b"]);
    log.append(assistant("", vec![call("x", "{}")]));
    log.append(result("x", "fine"));
    log.commit().expect("a commit");
    let before = fs::read(kit.file(&log, "log-1.jsonl")).expect("a log");
    let cases = [
        (None, "S a b  fine"),
        (Some(4), "S a b  fine"),
        (Some(99), "S a b  fine"),
        (Some(2), "S a b"),
        (Some(0), "S"),
        (
            Some(3),
            "S a b  interrupted, effects unknown: zcoder ended before the result was on record; look at what is there before you do it again",
        ),
    ];
    for (until, expected) in cases {
        let mut fork = kit.store.fork(log.id(), until).expect("a fork").log;
        assert_eq!(fork.saved(), 0);
        fork.commit().expect("a commit");
        assert_ne!(fork.id(), log.id());
        let opened = open(&kit, &fork);
        assert_eq!(
            (short(opened.log.records()).as_str(), opened.notices.len()),
            (expected, 0)
        );
        let Record::Session(header) = &opened.log.records()[0] else {
            panic!("no header");
        };
        let origin = header.origin.as_ref().expect("an origin");
        assert_eq!((&header.id, &origin.session), (fork.id(), log.id()));
        assert_eq!(origin.seq, until.unwrap_or(4).min(4));
        assert_eq!(opened.log.times()[1..], fork.times()[1..]);
    }
    assert_eq!(
        fs::read(kit.file(&log, "log-1.jsonl")).expect("a log"),
        before
    );
}

#[test]
fn what_commands_said_at_length_is_there_for_a_fork() {
    let kit = Kit::new();
    let log = kit.committed(&["a"]);
    let output = kit.file(&log, "output");
    fs::write(output.join("3"), "a build log").expect("an output");
    let mut fork = kit.store.fork(log.id(), None).expect("a fork").log;
    fork.commit().expect("a commit");
    let there = kit.file(&fork, "output");
    assert_eq!(fs::read(there.join("3")).expect("read"), b"a build log");
    // The one may be deleted, and the other goes on counting by itself.
    fs::remove_file(output.join("3")).expect("removed");
    assert_eq!(fs::read(there.join("3")).expect("read"), b"a build log");
    fs::write(there.join("4"), "another").expect("written");
    assert!(!output.join("4").exists());
    // A fork of a session that is gone has none, and is one.
    let mut fork = kit.store.fork(log.id(), None).expect("a fork").log;
    fs::remove_dir_all(&output).expect("removed");
    fork.commit().expect("a commit");
    assert_eq!(
        fs::read_dir(kit.file(&fork, "output"))
            .expect("read")
            .count(),
        0
    );
}

#[test]
fn a_deleted_session_is_gone_and_what_a_kill_leaves_is_swept() {
    let kit = Kit::new();
    let mut log = kit.committed(&["a"]);
    let other = kit.committed(&["b"]);
    fs::write(kit.file(&log, "output/1"), "text").expect("an output");
    kit.store.delete(log.id()).expect("deleted");
    assert!(matches!(
        kit.store.open(log.id()),
        Err(OpenError::None { .. })
    ));
    log.append(user("c"));
    assert!(log.commit().is_err());
    // The way out of it.
    log.fork().expect("a fork");
    log.commit().expect("a commit");
    assert_eq!(short(open(&kit, &log).log.records()), "S a c");
    assert_eq!(short(open(&kit, &other).log.records()), "S b");
    for name in [".new-1", ".old-1"] {
        fs::create_dir(kit.store.folder().join(name)).expect("left over");
    }
    let now = std::time::SystemTime::now() + std::time::Duration::from_secs(9);
    let hour = std::time::Duration::from_secs(3600);
    assert_eq!(kit.store.sweep(now - hour).expect("swept"), 0);
    assert_eq!(kit.store.sweep(now).expect("swept"), 2);
    assert_eq!(kit.store.list().expect("a list").len(), 2);
    // A session that is committing is not deleted under its hands.
    let held = fs::File::open(kit.file(&other, "lock")).expect("a lock");
    let held = zcoder::sys::file::Locked::take(held)
        .expect("locks")
        .expect("free");
    let error = kit.store.delete(other.id()).expect_err("busy");
    assert!(
        error.to_string().starts_with("the session is busy"),
        "{error}"
    );
    drop(held);
}

#[test]
fn records_of_a_newer_version_are_kept_passed_over_and_told() {
    let kit = Kit::new();
    let mut log = kit.committed(&["a"]);
    let hex = "00".repeat(32);
    for rest in [
        r#""kind":"hologram","size":3"#,
        r#""kind":"user","texts":[]"#,
    ] {
        let line = format!(r#"{{"seq":0,"prev":"{hex}","at":"2026-08-21T09:00:00.123Z",{rest}}}"#);
        log.append(read_line(line.as_bytes()).expect("a record").record);
    }
    log.append(user("b"));
    log.commit().expect("a commit");
    let opened = open(&kit, &log);
    assert_eq!(short(opened.log.records()), "S a ? ? b");
    assert_eq!(
        told(&opened.notices),
        [
            "record 3 is kept and passed over: text: expected a value, found nothing",
            "a newer zcoder wrote records that this one does not know (`hologram`, `user`); they are kept and passed over",
        ]
    );
    assert!(!kit.file(&log, "log-2.jsonl").exists());
    let mut fork = kit.store.fork(log.id(), None).expect("a fork").log;
    fork.commit().expect("a commit");
    let bytes = fs::read(kit.file(&fork, "log-1.jsonl")).expect("a log");
    let line = &bytes[line(&bytes, 2)];
    assert!(line.ends_with(b"\"kind\":\"hologram\",\"size\":3}\n"));
}

#[test]
fn a_clock_that_goes_back_changes_no_order() {
    let kit = Kit::new();
    let mut log = kit.committed(&["a", "b"]);
    log.append(user("c"));
    log.commit().expect("a commit");
    // As a clock would have left it: each record an hour before the one before it.
    let path = kit.file(&log, "log-1.jsonl");
    let bytes = fs::read(&path).expect("a log");
    let mut prev = [0; 32];
    let mut out = Vec::new();
    for (seq, line) in (0..).zip(
        bytes
            .split(|byte| *byte == b'\n')
            .filter(|line| !line.is_empty()),
    ) {
        let mut read = read_line(line).expect("a record");
        read.envelope.prev = prev;
        read.envelope.at -= std::time::Duration::from_secs(3600 * seq);
        let start = out.len();
        zcoder::session::write_line(&mut out, &read.envelope, &read.record);
        prev = digest(&out[start..]);
        out.push(b'\n');
    }
    let pointer = Pointer {
        generation: 2,
        log: 1,
        length: out.len() as u64,
        hash: prev,
    };
    set(&path, &out);
    set(
        &kit.file(&log, "current"),
        (pointer.line() + "\n").as_bytes(),
    );
    let mut opened = open(&kit, &log);
    assert_eq!(short(opened.log.records()), "S a b c");
    assert!(opened.notices.is_empty());
    assert!(opened.log.times()[3] < opened.log.times()[0]);
    opened.log.append(user("d"));
    opened.log.commit().expect("a commit");
    assert_eq!(short(open(&kit, &log).log.records()), "S a b c d");
}
