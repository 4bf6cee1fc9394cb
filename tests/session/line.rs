//! Records as lines: there and back for every kind, and what is no line or of a newer version.

use super::kit::{every_record, user};
use crate::support::cuts::Rng;
use std::time::{Duration, SystemTime, UNIX_EPOCH};
use zcoder::json::Tree;
use zcoder::session::{Envelope, Fault, Record, read_line, write_line};

fn at() -> SystemTime {
    UNIX_EPOCH + Duration::from_millis(1_787_302_800_123)
}

fn envelope(seq: u64) -> Envelope {
    Envelope {
        seq,
        prev: [0x5f; 32],
        at: at(),
    }
}

fn written(record: &Record) -> Vec<u8> {
    let mut line = Vec::new();
    write_line(&mut line, &envelope(12), record);
    line
}

#[test]
fn every_record_is_one_line_and_comes_back_equal() {
    for record in every_record() {
        let line = written(&record);
        let shown = String::from_utf8(line.clone()).expect("UTF-8");
        assert!(!line.contains(&b'\n'), "{shown}");
        let read = read_line(&line).expect("a line");
        assert_eq!(read.envelope, envelope(12), "{shown}");
        assert_eq!((read.record, read.odd), (record, None), "{shown}");
    }
}

#[test]
fn a_line_looks_like_this() {
    let hex = "5f".repeat(32);
    let expected = format!(
        r#"{{"seq":12,"prev":"{hex}","at":"2026-08-21T09:00:00.123Z","kind":"user","text":"a \"b\"\n"}}"#
    );
    let line = written(&user("a \"b\"\n"));
    assert_eq!(String::from_utf8(line).as_deref(), Ok(expected.as_str()));
}

#[test]
fn arguments_of_a_call_are_their_own_text() {
    let call = super::kit::call("a", r#"{"n": 1.50, "s":"\u0041"}"#);
    let line = written(&super::kit::assistant("", vec![call]));
    let line = String::from_utf8(line).expect("UTF-8");
    let calls =
        r#""calls":[{"id":"a","name":"run_command","arguments":"{\"n\":1.50,\"s\":\"A\"}"}]"#;
    assert!(line.contains(calls), "{line}");
}

/// What a line of the given kind and members is read as.
fn read(rest: &str) -> (Record, Option<String>) {
    let hex = "00".repeat(32);
    let line = format!(r#"{{"seq":0,"prev":"{hex}","at":"2026-08-21T09:00:00.123Z",{rest}}}"#);
    let read = read_line(line.as_bytes()).expect("a line");
    (read.record, read.odd.map(|odd| odd.to_string()))
}

#[test]
fn a_kind_of_a_newer_version_is_kept_as_it_is() {
    let (record, odd) = read(r#""kind":"hologram","size":[1.0],"text":"x""#);
    assert_eq!(odd, None);
    let Record::Unknown { kind, .. } = &record else {
        panic!("{record:?}");
    };
    assert_eq!(kind, "hologram");
    // Written again it has its own number, and says the same.
    let line = written(&record);
    let again = read_line(&line).expect("a line");
    let tree = Tree::parse(&line).expect("JSON");
    assert_eq!(
        again.record,
        Record::Unknown {
            kind: "hologram".to_string(),
            line: tree.clone(),
        }
    );
    let members: Vec<&str> = tree.root().members().map(|(key, _)| key).collect();
    assert_eq!(members, ["seq", "prev", "at", "kind", "size", "text"]);
    let size = tree.root().get("size").map(|size| size.to_string());
    assert_eq!(size.as_deref(), Some("[1.0]"));
}

#[test]
fn a_known_kind_of_another_shape_is_kept_and_said() {
    let hash = "0".repeat(63);
    let cases = [
        (
            r#""kind":"user""#.to_string(),
            "text: expected a value, found nothing",
        ),
        (
            r#""kind":"user","text":7"#.to_string(),
            "text: expected a string, found a number",
        ),
        (
            r#""kind":"note","note":"mood","text":"x""#.to_string(),
            "note: expected a kind of note that this version knows, found a string",
        ),
        (
            r#""kind":"assistant","content":"","thinking":"","calls":[{"id":"a","name":"b","arguments":"{"}]"#.to_string(),
            "calls[0].arguments: expected JSON in a string, found a string",
        ),
        (
            r#""kind":"turn","turn":1,"uid":4294967296,"front":"terminal""#.to_string(),
            "uid: expected a user's number, found a number",
        ),
        (
            r#""kind":"turn","turn":1,"uid":0,"front":"dream""#.to_string(),
            "front: expected a front end that this version knows, found a string",
        ),
        (
            format!(r#""kind":"edit","path":"a","before":"{hash}""#),
            "before: expected 64 hex digits, found a string",
        ),
        (
            r#""kind":"decision","shown":"ls","decision":"perhaps","by":"person""#.to_string(),
            "decision: expected a decision that this version knows, found a string",
        ),
        (
            r#""kind":"decision","shown":"ls","decision":"once","by":"flag""#.to_string(),
            "which: expected a value, found nothing",
        ),
    ];
    for (rest, expected) in cases {
        let (record, odd) = read(&rest);
        assert!(matches!(record, Record::Unknown { .. }), "{rest}");
        assert_eq!(odd.as_deref(), Some(expected), "{rest}");
    }
}

#[test]
fn another_envelope_is_no_record() {
    let line = String::from_utf8(written(&user("x"))).expect("UTF-8");
    let others = [
        String::new(),
        line.replacen("\"seq\"", " \"seq\"", 1),
        line.replacen("12", "\"12\"", 1),
        line.replacen("12", "-12", 1),
        line.replacen("12", "99999999999999999999", 1),
        line.replacen("5f5f", "5F5f", 1),
        line.replacen("5f5f", "5f5", 1),
        line.replacen(".123Z", "Z", 1),
        line.replacen("\"kind\"", "\"kin\"", 1),
        line[..40].to_string(),
    ];
    for other in others {
        assert_eq!(read_line(other.as_bytes()), Err(Fault::Envelope), "{other}");
    }
    let cut = &line.as_bytes()[..line.len() - 1];
    assert!(matches!(read_line(cut), Err(Fault::Json(_))));
    let mut not_text = line.into_bytes();
    let at = not_text.len() - 3;
    not_text[at] = 0xff;
    assert!(matches!(read_line(&not_text), Err(Fault::Json(_))));
}

#[test]
fn a_line_cut_anywhere_is_no_record_and_a_damaged_one_is_no_panic() {
    let mut rng = Rng::new(4);
    let mut known = 0;
    for record in every_record() {
        let line = written(&record);
        for end in 0..line.len() {
            assert!(read_line(&line[..end]).is_err(), "cut at {end}");
        }
        for _ in 0..300 {
            let damaged = rng.mutate(&line);
            let Ok(read) = read_line(&damaged) else {
                continue;
            };
            // Whatever it says now is a record, and can be written and read again.
            let mut again = Vec::new();
            write_line(&mut again, &read.envelope, &read.record);
            let second = read_line(&again).expect("a line");
            if !matches!(read.record, Record::Unknown { .. }) {
                assert_eq!(second.record, read.record);
                known += 1;
            }
        }
    }
    // The seed is fixed, so the share is too: the damage neither breaks everything nor nothing.
    assert!((100..9_000).contains(&known), "{known}");
}
