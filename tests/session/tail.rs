//! The end of a session, and lists of sessions: what they cost and what they say.

use super::kit::{Kit, author, user};
use std::fs;
use std::io::{Seek, SeekFrom, Write};
use std::os::unix::fs::MetadataExt;
use zcoder::policy::Profile;
use zcoder::protocol::{Message, TurnId};
use zcoder::session::{Entry, Envelope, Listed, Pointer, Record, SessionId, Tail, write_line};
use zcoder::sha256::digest;

fn texts(entries: &[Entry]) -> Vec<String> {
    let text = |entry: &Entry| match &entry.record {
        Record::Message(Message::User { text }) => {
            format!("{}:{}", entry.seq, text.trim_end_matches('.'))
        }
        Record::Lost { bytes, .. } => format!("{}-{bytes}", entry.seq),
        Record::Session(_) => format!("{}S", entry.seq),
        _ => format!("{}?", entry.seq),
    };
    entries.iter().map(text).collect()
}

fn earlier(tail: &mut Tail, bytes: u64) -> Vec<String> {
    texts(&tail.earlier(bytes).expect("readable"))
}

#[test]
fn the_end_comes_first_and_the_rest_as_it_is_asked_for() {
    let kit = Kit::new();
    let log = kit.committed(&["a", "b", "c"]);
    let mut tail = kit.store.tail(log.id()).expect("a session");
    assert_eq!(tail.pointer().generation, 1);
    assert_eq!(earlier(&mut tail, 1), ["3:c"]);
    // The line of `b` is 160 bytes and some; one byte more than that takes the next too.
    assert_eq!(earlier(&mut tail, 200), ["1:a", "2:b"]);
    assert_eq!(earlier(&mut tail, 1), ["0S"]);
    assert_eq!(earlier(&mut tail, 1), [""; 0]);
    let mut whole = kit.store.tail(log.id()).expect("a session");
    assert_eq!(
        earlier(&mut whole, u64::MAX / 2),
        ["0S", "1:a", "2:b", "3:c"]
    );
    assert!(!whole.is_uncertain());
    fs::remove_file(kit.file(&log, "current")).expect("removed");
    let tail = kit.store.tail(log.id()).expect("a session");
    assert!(tail.is_uncertain());
}

#[test]
fn records_longer_than_what_is_read_at_once_are_whole() {
    let kit = Kit::new();
    let long = [1 << 16, (1 << 16) - 170, 300_000, 1].map(|len| ".".repeat(len));
    let log = kit.committed(&long.each_ref().map(String::as_str));
    let mut tail = kit.store.tail(log.id()).expect("a session");
    let entries = tail.earlier(u64::MAX / 2).expect("readable");
    let records: Vec<Record> = entries.into_iter().map(|entry| entry.record).collect();
    assert_eq!(records, log.records());
}

#[test]
fn a_damaged_end_has_its_place_in_a_tail() {
    let kit = Kit::new();
    let log = kit.committed(&["a", "b", "c"]);
    let path = kit.file(&log, "log-1.jsonl");
    let mut bytes = fs::read(&path).expect("a log");
    let length = bytes.len();
    bytes[length - 4] = b'X';
    fs::write(&path, &bytes).expect("damaged");
    let last = bytes[..length - 1]
        .iter()
        .rposition(|byte| *byte == b'\n')
        .expect("lines");
    let mut tail = kit.store.tail(log.id()).expect("a session");
    let lost = format!("3-{}", length - last - 1);
    assert_eq!(earlier(&mut tail, 1), ["2:b".to_string(), lost]);
    assert_eq!(earlier(&mut tail, 1), ["1:a"]);
}

/// A session of a gigabyte, of which only the last records are there: the rest is a hole in the file.
fn gigabyte(kit: &Kit) -> SessionId {
    let log = kit.committed(&["first"]);
    let path = kit.file(&log, "log-1.jsonl");
    let mut bytes = b"\n".to_vec();
    let mut prev = [7; 32];
    for seq in 5_000_000..5_000_010 {
        let at = std::time::UNIX_EPOCH;
        let start = bytes.len();
        let envelope = Envelope { seq, prev, at };
        let record = match seq {
            5_000_004 => Record::TurnStarted {
                turn: TurnId(4),
                by: author(),
                title: Some("title".to_string()),
            },
            _ => user(&seq.to_string()),
        };
        write_line(&mut bytes, &envelope, &record);
        prev = digest(&bytes[start..]);
        bytes.push(b'\n');
    }
    let mut file = fs::File::options().write(true).open(&path).expect("a log");
    file.seek(SeekFrom::Start(1 << 30)).expect("a hole");
    file.write_all(&bytes).expect("written");
    let pointer = Pointer {
        generation: 9,
        log: 1,
        length: (1 << 30) + bytes.len() as u64,
        hash: prev,
    };
    fs::write(kit.file(&log, "current"), pointer.line() + "\n").expect("written");
    assert!(fs::metadata(&path).expect("a log").blocks() < 1000);
    log.id().clone()
}

#[test]
fn a_gigabyte_opens_to_its_last_screen() {
    let kit = Kit::new();
    let id = gigabyte(&kit);
    let mut tail = kit.store.tail(&id).expect("a session");
    let shown = earlier(&mut tail, 600);
    assert_eq!(shown.last().map(String::as_str), Some("5000009:5000009"));
    assert!((3..=4).contains(&shown.len()), "{shown:?}");
}

#[test]
fn a_list_says_what_each_session_is_and_believes_no_stale_cache() {
    let kit = Kit::new();
    assert_eq!(kit.store.list().expect("a list"), []);
    let unprompted = kit.committed(&[]);
    let mut log = kit.store.begin(Profile::Coding).expect("a log");
    let text = "make the test pass".to_string();
    log.append(Record::Title { text });
    log.begin_turn(TurnId(1), author());
    log.append(user("make the test pass"));
    log.commit().expect("a commit");
    let bytes = |name: &SessionId| {
        let log = kit.store.folder().join(&name.0).join("log-1.jsonl");
        fs::metadata(log).expect("a log").len()
    };
    let expected = |log: &zcoder::session::Log, title: Option<&str>, prompted| Listed {
        id: log.id().clone(),
        title: title.map(str::to_string),
        last: *log.times().last().expect("a time"),
        records: log.records().len() as u64,
        bytes: bytes(log.id()),
        prompted,
        damaged: false,
    };
    let both = |log: &zcoder::session::Log, title| {
        let mut both = [
            expected(&unprompted, None, false),
            expected(log, Some(title), true),
        ];
        both.sort_by(|a, b| (b.last, &b.id).cmp(&(a.last, &a.id)));
        both
    };
    // Without a cache, from it, and with one that is nonsense.
    for cache in [None, Some(""), Some("nonsense\n{}\n")] {
        if let Some(text) = cache.filter(|text| !text.is_empty()) {
            fs::write(kit.store.folder().join("index"), text).expect("written");
        }
        assert_eq!(
            kit.store.list().expect("a list"),
            both(&log, "make the test pass")
        );
    }
    assert!(kit.store.folder().join("index").exists());
    // It changed since.
    log.append(Record::Title {
        text: "other".to_string(),
    });
    log.begin_turn(TurnId(2), author());
    log.append(user("more"));
    log.commit().expect("a commit");
    assert_eq!(kit.store.list().expect("a list"), both(&log, "other"));
    // Of a long turn at the end only that turn is read.
    for _ in 0..100 {
        log.append(Record::Message(Message::System {
            text: "x".to_string(),
        }));
    }
    log.commit().expect("a commit");
    assert_eq!(kit.store.list().expect("a list"), both(&log, "other"));
    // What is no session, and one that is being built, are none; a damaged one is there.
    fs::create_dir(kit.store.folder().join(".new-x")).expect("a folder");
    fs::write(kit.store.folder().join("file"), "").expect("a file");
    fs::remove_file(kit.file(&unprompted, "current")).expect("removed");
    let list = kit.store.list().expect("a list");
    let damaged: Vec<_> = list
        .iter()
        .map(|listed| (&listed.id, listed.damaged))
        .collect();
    assert!(damaged.contains(&(unprompted.id(), true)), "{damaged:?}");
    assert_eq!(damaged.len(), 2);
    kit.store.delete(unprompted.id()).expect("deleted");
    assert_eq!(
        kit.store.list().expect("a list"),
        [expected(&log, Some("other"), true)]
    );
}

#[test]
fn a_list_of_two_hundred_long_sessions_reads_little_of_them() {
    let kit = Kit::new();
    let first = gigabyte(&kit);
    for index in 0..199 {
        let to = kit.store.folder().join(format!("2026-{index}"));
        fs::create_dir(&to).expect("a folder");
        let from = kit.store.folder().join(&first.0);
        for name in ["log-1.jsonl", "current", "lock"] {
            fs::hard_link(from.join(name), to.join(name)).expect("linked");
        }
    }
    let list = kit.store.list().expect("a list");
    assert_eq!(list.len(), 200);
    assert!(list.iter().all(|listed| listed.records == 5_000_010));
}
