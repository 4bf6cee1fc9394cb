//! `zcoder audit`: what was changed is found, wherever it was, and the report says who did what.

use super::kit::{Kit, header, id, turn, two_requests, user};
use std::fs;
use zcoder::session::{Passed, SessionId};
use zcoder::sha256::{digest, hex};

const UNANCHORED: &str = "the chain proves damage and careless edits, not a forger; --head compares it with a head that was printed at the end of a run\n";

/// A session, its id and its log.
fn kept() -> (Kit, String, String) {
    let kit = Kit::new();
    let id = kit.session(0, &two_requests(0));
    let log = fs::read_to_string(kit.file(&id, "log-1.jsonl")).expect("log");
    (kit, id, log)
}

fn hash_of(log: &str, seq: usize) -> String {
    hex(&digest(log.lines().nth(seq).expect("a record").as_bytes()))
}

#[test]
fn a_session_as_it_was_kept_verifies_and_its_head_is_named() {
    let (kit, id, log) = kept();
    let head = hash_of(&log, 17);
    let out = format!("session {id}: 18 records, the chain holds\n  head {head}\n");
    kit.check(&["audit", "verify", "2025"], 0, &out, UNANCHORED);
    // What a crash left behind the committed end does not count.
    fs::write(kit.file(&id, "log-1.jsonl"), format!("{log}{{\"seq\":18,")).expect("written");
    kit.check(&["audit", "verify", &id], 0, &out, UNANCHORED);
    let given = format!("{out}  it is the head that was given\n");
    kit.check(&["audit", "verify", &id, "--head", &head], 0, &given, "");
    kit.check(
        &["audit", "verify", &id, "--head", &head[..8]],
        0,
        &given,
        "",
    );
    let earlier = hash_of(&log, 12);
    let given = format!("{out}  the head that was given is record 12; 5 records came later\n");
    kit.check(&["audit", "verify", &id, "--head", &earlier], 0, &given, "");
    let err = format!(
        "zcoder: no record of session {id} has the head {0}: it is of another session, or records were taken away or changed\n",
        "0".repeat(64)
    );
    kit.check(
        &["audit", "verify", &id, "--head", &"0".repeat(64)],
        1,
        &out,
        &err,
    );
}

#[test]
fn what_is_wrong_is_named_with_its_place() {
    type Edit = fn(&str) -> String;
    let unlinked = |seq: u64, byte: usize| {
        format!(
            "log-1.jsonl, byte {byte}: record {seq} does not name the hash of the line before it: that line was changed, or this record"
        )
    };
    let (_, _, log) = kept();
    let begin = |seq: usize| log.find(&format!("{{\"seq\":{seq},")).expect("a record");
    let swapped: Edit = |log| {
        let mut lines: Vec<&str> = log.lines().collect();
        lines.swap(13, 14);
        lines.join("\n") + "\n"
    };
    let removed: Edit = |log| {
        let mut lines: Vec<&str> = log.lines().collect();
        let gone = lines.remove(14);
        // Of the same length, as a careful hand would do it.
        format!("{}\n{}", lines.join("\n"), " ".repeat(gone.len()) + "\n")
    };
    let cases: &[(&str, Edit, Vec<String>)] = &[
        (
            "a word",
            |log| log.replace("try again", "try twice"),
            vec![unlinked(15, begin(15))],
        ),
        (
            "a hash",
            |log| {
                log.replacen("\"seq\":5,\"prev\":\"", "\"seq\":5,\"prev\":\"0", 1)
                    .replacen(
                        "\",\"at\":\"2025-08-21T09:00:05",
                        ",\"at\":\"2025-08-21T09:00:05",
                        1,
                    )
            },
            vec![format!(
                "log-1.jsonl, byte {}: a line does not begin as records do",
                begin(5)
            )],
        ),
        (
            "a number",
            |log| log.replacen("\"seq\":7,", "\"seq\":8,", 1),
            vec![
                format!(
                    "log-1.jsonl, byte {}: record 8 stands where record 7 is due",
                    begin(7)
                ),
                unlinked(8, begin(8)),
            ],
        ),
        (
            "the last record",
            |log| log.replace("--max-turns 1", "--max-turns 2"),
            vec![format!(
                "log-1.jsonl, byte {}: the last record is not the one that `current` names: it was changed, or others followed it",
                log.len()
            )],
        ),
        (
            "the first record",
            |log| log.replace("/home/me/app", "/home/me/apq"),
            vec![unlinked(1, begin(1))],
        ),
        (
            "two records swapped",
            swapped,
            vec![
                unlinked(14, begin(13)),
                unlinked(13, begin(13) + begin(15) - begin(14)),
                unlinked(15, begin(15)),
            ],
        ),
        (
            "a record taken away",
            removed,
            vec![
                unlinked(15, begin(14)),
                format!(
                    "log-1.jsonl, byte {}: a line does not begin as records do",
                    begin(14) + log.len() - begin(15)
                ),
                format!(
                    "log-1.jsonl, byte {}: the last record is not the one that `current` names: it was changed, or others followed it",
                    log.len()
                ),
            ],
        ),
        (
            "the end cut",
            |log| log[..log.len() - 10].to_string(),
            vec![
                format!("log-1.jsonl, byte {}: a line is no record", begin(17)),
                format!(
                    "log-1.jsonl, byte {}: the last 10 committed bytes are missing",
                    log.len() - 10
                ),
            ],
        ),
    ];
    for (what, edit, flaws) in cases {
        let (kit, id, log) = kept();
        fs::write(kit.file(&id, "log-1.jsonl"), edit(&log)).expect("written");
        let ran = kit.run(&["audit", "verify", &id]);
        assert_eq!(ran.code, Some(1), "{what}");
        let told: Vec<&str> = ran
            .err
            .lines()
            .filter_map(|line| line.strip_prefix("zcoder: "))
            .collect();
        assert_eq!(told.len(), flaws.len(), "{what}: {told:#?}");
        for (told, flaw) in told.iter().zip(flaws) {
            assert!(told.starts_with(flaw.as_str()), "{what}: {told}\n{flaw}");
        }
        assert!(
            ran.out.contains(" records, something is wrong\n"),
            "{what}: {}",
            ran.out
        );
    }
}

#[test]
fn a_pointer_or_a_log_that_is_gone_is_named() {
    for (name, put, err) in [
        (
            "current",
            None,
            "current: missing or damaged; nothing says how far the log counts and what its last record was",
        ),
        (
            "current",
            Some("1 log-1.jsonl 10"),
            "current: missing or damaged; nothing says how far the log counts and what its last record was",
        ),
        ("log-1.jsonl", None, "log-1.jsonl: it is not there"),
    ] {
        let (kit, id, _) = kept();
        match put {
            Some(text) => fs::write(kit.file(&id, name), text).expect("written"),
            None => fs::remove_file(kit.file(&id, name)).expect("removed"),
        }
        let ran = kit.run(&["audit", "verify", &id]);
        assert_eq!(
            (ran.code, ran.err),
            (Some(1), format!("zcoder: {err}\n{UNANCHORED}"))
        );
    }
}

#[test]
fn no_byte_of_a_log_can_change_unseen() {
    let (kit, id, log) = kept();
    let session = SessionId(id.clone());
    let flaws = || {
        let mut forward = kit.store.forward(&session).expect("a session");
        let mut flaws = 0;
        while let Some(passed) = forward.next().expect("readable") {
            flaws += usize::from(matches!(passed, Passed::Flaw(_)));
        }
        flaws
    };
    assert_eq!(flaws(), 0);
    for at in (0..log.len()).step_by(13) {
        let mut bytes = log.clone().into_bytes();
        bytes[at] ^= 1;
        fs::write(kit.file(&id, "log-1.jsonl"), &bytes).expect("written");
        assert_ne!(flaws(), 0, "byte {at}");
    }
}

#[test]
fn all_sessions_of_all_folders_are_verified() {
    let kit = Kit::new();
    let all = ["audit", "verify", "--all"];
    let told = |what: &str| format!("{what}\n{UNANCHORED}");
    let none = "0 sessions of 0 folders: nothing is wrong";
    kit.check(&all, 0, "", &told(none));
    kit.session(1, &[header(1), turn(1, "one"), user("one")]);
    kit.session(9, &[header(9), turn(1, "two"), user("two")]);
    // Another workspace's, and what is no session in it.
    let others = kit.store.folder().with_file_name("a-other");
    fs::create_dir_all(others.join("odd name")).expect("folders");
    fs::write(others.join("index"), "").expect("a file");
    fs::rename(kit.store.folder().join(id(9)), others.join(id(9))).expect("moved");
    let out = |first: &str| {
        let head = |id: &str, folder: &std::path::Path| {
            let current = fs::read_to_string(folder.join(id).join("current")).expect("current");
            let hash = current.trim_end().rsplit(' ').next().unwrap_or_default();
            format!("  head {hash}\n")
        };
        format!(
            "session {} in /home/me/app: 3 records, the chain holds\n{}session {} in /home/me/app: {first}\n{}",
            id(9),
            head(&id(9), &others),
            id(1),
            head(&id(1), kit.store.folder())
        )
    };
    let fine = "2 sessions of 2 folders: nothing is wrong";
    kit.check(&all, 0, &out("3 records, the chain holds"), &told(fine));
    // From anywhere, and no list is written.
    assert!(!kit.store.folder().join("index").exists());
    let log = fs::read_to_string(kit.file(&id(1), "log-1.jsonl")).expect("log");
    let changed = log.replacen("/home/me/app", "/home/me/apq", 1);
    fs::write(kit.file(&id(1), "log-1.jsonl"), changed).expect("written");
    let ran = kit.run(&all);
    let before = format!("zcoder: session {}: log-1.jsonl, byte ", id(1));
    assert!(ran.err.starts_with(&before), "{ran:?}");
    let wrong = told("2 sessions of 2 folders: something is wrong with 1 session");
    assert!(ran.err.ends_with(&wrong), "{ran:?}");
    assert_eq!(ran.code, Some(1));
    fs::remove_file(others.join(id(9)).join("current")).expect("removed");
    let wrong = told("2 sessions of 2 folders: something is wrong with 2 sessions");
    assert!(kit.run(&all).err.ends_with(&wrong));
}

#[test]
fn the_report_tells_who_did_what_on_which_word() {
    let (kit, id, log) = kept();
    let out = format!(
        "session {id}, times are UTC
2025-08-21T09:00:00Z      0  begun     zcoder 0.1.0 in /home/me/app
2025-08-21T09:00:01Z      1  model     qwen3:8b at http://127.0.0.1:11434
2025-08-21T09:00:05Z      5  asked     request 1: one shot on /dev/pts/3, user 1000
2025-08-21T09:00:06Z      6  request   make the test pass\\n# not a heading\\n<b>&\\n
2025-08-21T09:00:07Z      7  called    run_command {{\"command\":\"sh test.sh\"}}
2025-08-21T09:00:08Z      8  decided   yes, by --yes
2025-08-21T09:00:08Z      8  shown     sh test.sh
2025-08-21T09:00:09Z      9  result    run_command: exit code 8
2025-08-21T09:00:10Z     10  edit      src/a.rs
2025-08-21T09:00:10Z     10  before    {}
2025-08-21T09:00:10Z     10  after     none
2025-08-21T09:00:12Z     12  ended     done; src/a.rs +1 -1; sh test.sh (exit code 8); 1 request, 2 calls
2025-08-21T09:00:13Z     13  asked     request 2: one shot on /dev/pts/3, user 1000
2025-08-21T09:00:14Z     14  request   try again
2025-08-21T09:00:15Z     15  shortened for the model, from 30000 tokens to 2000
2025-08-21T09:00:16Z     16  decided   no, by a person: not that
2025-08-21T09:00:16Z     16  shown     rm -rf /
2025-08-21T09:00:17Z     17  ended     a limit was reached: --max-turns 1; src/a.rs +1 -1; sh test.sh (exit code 8); 1 request, 2 calls
",
        "ab".repeat(32)
    );
    kit.check(&["audit", "report", &id], 0, &out, "");
    kit.check(&["audit", "report"], 0, &out, "");
    assert_eq!(log.lines().count(), 18);
}

#[test]
fn where_there_is_no_session_the_report_says_so() {
    let kit = Kit::new();
    kit.session(1, &[header(1)]);
    kit.check(
        &["audit", "report"],
        1,
        "",
        "zcoder: no session of this folder\n",
    );
}

#[test]
fn wrong_words_are_answered_with_the_right_ones() {
    let (kit, id, _) = kept();
    for (args, err) in [
        (
            &["audit"][..],
            "`zcoder audit` needs more words: zcoder audit verify|report [SESSION]",
        ),
        (
            &["audit", "verify"],
            "`zcoder audit` needs more words: zcoder audit verify|report [SESSION]",
        ),
        (
            &["audit", "verfy", "x"],
            "`zcoder audit` does not know `verfy`; the nearest is `verify`",
        ),
        (
            &["audit", "report", &id, "--all"],
            "--all works only with verify",
        ),
        (
            &["audit", "verify", "--all", "--head", "00000000"],
            "--head works only with one SESSION",
        ),
        (
            &["audit", "verify", &id, "--head", "0000000"],
            "`--head 0000000`: expected 8 to 64 hexadecimal digits, as a run prints them at its end",
        ),
    ] {
        kit.check(args, 2, "", &format!("zcoder: {err}\n"));
    }
}
