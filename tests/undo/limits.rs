//! Both sides of each limit.

use super::kit::{Kit, keep, record};
use std::fs;
use zcoder::undo::{Journal, Limits};

const SMALL: Limits = Limits {
    session_bytes: 40_000,
    all_bytes: 100_000,
    sessions: 5,
    whole_bytes: 1_000,
};

fn entries(kit: &Kit) -> Vec<String> {
    let names = fs::read_dir(kit.folder()).expect("the session");
    let mut names: Vec<String> = names
        .map(|entry| {
            entry
                .expect("readable")
                .file_name()
                .into_string()
                .expect("text")
        })
        .filter(|name| name != "session")
        .collect();
    names.sort();
    names
}

#[test]
fn a_file_is_kept_whole_up_to_the_limit() {
    for (size, kept) in [(1_000, "whole"), (1_001, "spans")] {
        let mut kit = Kit::limited(SMALL);
        kit.put("a.txt", "x".repeat(size));
        kit.begin();
        kit.edit(
            "a.txt",
            Some(format!("y{}", "x".repeat(size - 1)).as_bytes()),
        );
        kit.journal.end_turn();
        let text = fs::read_to_string(kit.entry(1)).expect("text");
        assert!(
            text.contains(&format!("\"kept\":\"{kept}\"")),
            "{size}: {text}"
        );
    }
}

#[test]
fn the_oldest_turns_go_when_a_session_has_too_much() {
    let mut kit = Kit::limited(SMALL);
    // 4 KiB a turn on the disk and the file `session`: nine turns are 40,960 bytes, and one too many.
    for turn in 1..=8 {
        kit.turn(&[("a.txt", Some(&format!("{turn}\n")))]);
    }
    assert_eq!(entries(&kit).len(), 8);
    kit.begin();
    let record = record(&kit.root(), "a.txt", Some(b"9\n"));
    keep(&kit.root(), &mut kit.journal, &record).expect("kept");
    assert_eq!(
        kit.journal.notices(),
        [
            "the undo journal of this session holds 40,000 bytes at most: its 1 oldest turn went and can no longer be taken back"
        ]
    );
    kit.journal.end_turn();
    kit.put("a.txt", "9\n");
    assert_eq!(entries(&kit).first().map(String::as_str), Some("000002"));
    // What is left can be taken back, though each step needs room too; and a review says that it does not go to the beginning.
    for turn in (5..=8).rev() {
        assert_eq!(kit.undo().removed, 1);
        assert_eq!(kit.text("a.txt"), format!("{turn}\n"));
    }
    assert_eq!(entries(&kit).first().map(String::as_str), Some("000006"));
    let review = kit.past(|past| past.review()).expect("a review");
    assert_eq!(
        review.notes,
        ["the oldest turns are no longer kept; the difference is to what followed them"]
    );
}

#[test]
fn a_turn_that_is_too_much_alone_is_refused() {
    let mut kit = Kit::limited(SMALL);
    kit.put("a.txt", "x".repeat(30_000));
    kit.put("b.txt", "x".repeat(30_000));
    kit.begin();
    kit.edit("a.txt", Some(b"1\n"));
    let second = record(&kit.root(), "b.txt", Some(b"1\n"));
    let error = keep(&kit.root(), &mut kit.journal, &second).expect_err("refused");
    assert_eq!(
        error.to_string(),
        "the undo journal of one turn holds 40,000 bytes at most"
    );
    // It is the last frame that counts: smaller ones still fit.
    kit.edit("c.txt", Some(b"1\n"));
    kit.journal.end_turn();
    kit.undo();
    assert_eq!(kit.text("a.txt").len(), 30_000);
    assert!(!kit.root().join("c.txt").exists());
}

fn session(kit: &mut Kit, number: u32) {
    let id = format!("2026082{number}-000000000-aaaaaaaa");
    kit.new_session(&id);
    kit.begin();
    let record = record(&kit.root(), "a.txt", Some(format!("{number}\n").as_bytes()));
    keep(&kit.root(), &mut kit.journal, &record).expect("kept");
    kit.change("a.txt", Some(format!("{number}\n").as_bytes()));
    kit.journal.end_turn();
}

#[test]
fn the_oldest_sessions_go_when_there_are_too_many() {
    let mut kit = Kit::limited(SMALL);
    for number in 1..=5 {
        session(&mut kit, number);
        assert_eq!(kit.journal.notices(), Vec::<String>::new());
    }
    assert_eq!(kit.store().sessions().expect("readable").len(), 5);
    session(&mut kit, 6);
    assert_eq!(
        kit.journal.notices(),
        [
            "the undo journals hold 100,000 bytes of 5 sessions at most: those of the 1 oldest session went"
        ]
    );
    let left = kit.store().sessions().expect("readable");
    assert_eq!(left.len(), 5);
    assert_eq!(
        left.last().map(String::as_str),
        Some("20260822-000000000-aaaaaaaa")
    );
}

#[test]
fn a_session_at_work_stays_however_old_it_is() {
    let mut kit = Kit::limited(SMALL);
    let mut old = Journal::new(kit.store(), "20260101-000000000-aaaaaaaa");
    old.begin_turn(1, "long");
    let record = record(&kit.root(), "b.txt", Some(b"b"));
    keep(&kit.root(), &mut old, &record).expect("kept");
    for number in 1..=6 {
        session(&mut kit, number);
    }
    let left = kit.store().sessions().expect("readable");
    assert_eq!(
        left.last().map(String::as_str),
        Some("20260101-000000000-aaaaaaaa")
    );
    assert_eq!(left.len(), 5);
    old.end_turn();
}

#[test]
fn the_oldest_sessions_go_when_they_take_too_much() {
    let limits = Limits {
        sessions: 1_000,
        // Two files of 4 KiB a session: three of them are 24,576 bytes.
        all_bytes: 24_576,
        ..SMALL
    };
    let mut kit = Kit::limited(limits);
    let mut said = Vec::new();
    for number in 1..=5 {
        let id = format!("2026082{number}-000000000-aaaaaaaa");
        kit.new_session(&id);
        kit.begin();
        let record = record(&kit.root(), "a.txt", Some(b"x"));
        keep(&kit.root(), &mut kit.journal, &record).expect("kept");
        said.extend(kit.journal.notices());
    }
    // Before a session begins the others are within the limit: three and the new one.
    assert_eq!(kit.store().sessions().expect("readable").len(), 4);
    assert_eq!(
        said,
        [
            "the undo journals hold 24,576 bytes of 1,000 sessions at most: those of the 1 oldest session went"
        ]
    );
}

#[test]
fn many_edits_of_one_file_keep_it_once_and_then_what_changed() {
    let mut kit = Kit::with(&[("a.txt", &"line\n".repeat(500))]);
    kit.begin();
    for number in 0..100 {
        let text = format!("{number}\n{}", "line\n".repeat(500));
        kit.edit("a.txt", Some(text.as_bytes()));
    }
    kit.journal.end_turn();
    // One whole file, then spans only.
    let bytes = fs::metadata(kit.entry(1)).expect("an entry").len();
    assert!(bytes < 2_500 + 100 * 400, "{bytes}");
    kit.undo();
    assert_eq!(kit.text("a.txt"), "line\n".repeat(500));
}

#[test]
fn the_sessions_are_looked_at_only_when_the_limits_could_be_near() {
    let mut kit = Kit::limited(Limits {
        sessions: 6,
        all_bytes: 100 << 20,
        ..Limits::default()
    });
    let room = kit.temp.path().join("state/undo/room");
    let mut number = 0;
    let mut session = |kit: &mut Kit, bytes: usize| {
        number += 1;
        kit.new_session(&format!("202608{number:02}-000000000-aaaaaaaa"));
        kit.put("a.txt", vec![b'x'; bytes]);
        kit.begin();
        let record = record(&kit.root(), "a.txt", Some(b"y"));
        keep(&kit.root(), &mut kit.journal, &record).expect("kept");
        kit.put("a.txt", "y");
        kit.journal.end_turn();
        (
            fs::read_to_string(&room).unwrap_or_default(),
            kit.store().sessions().expect("readable").len(),
        )
    };
    let said = |text: &str, sessions: usize| (text.to_string(), sessions);
    // The first one finds no folder to note anything in.
    assert_eq!(session(&mut kit, 1), said("", 1));
    // Looked at: of six there are two with it, so four may come; it is counted, too.
    assert_eq!(session(&mut kit, 1), said("4\n.", 2));
    // A MiB counts as a session, at most.
    assert_eq!(session(&mut kit, 1 << 20), said("4\n...", 3));
    // What somebody else notes.
    fs::write(&room, "4\n....").expect("written");
    assert_eq!(session(&mut kit, 1), said("4\n.....", 4));
    // One more than there was room for.
    assert_eq!(session(&mut kit, 1), said("1\n.", 5));
    for nonsense in ["", "4", "four\n", "-1\n"] {
        fs::write(&room, nonsense).expect("written");
        assert_eq!(session(&mut kit, 1), said("0\n.", 6), "{nonsense}");
    }
    assert_eq!(session(&mut kit, 1), said("0\n.", 6));
    // As long as it says so, nothing is looked at.
    fs::write(&room, "1000\n").expect("written");
    assert_eq!(session(&mut kit, 1), said("1000\n.", 7));
    // A step back is an entry.
    kit.undo();
    assert_eq!(
        fs::read_to_string(&room).expect("there"),
        "1000\n..".to_string()
    );
}
