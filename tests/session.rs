//! Tests of `session`.
mod apart;
mod commit;
mod crash;
mod killed;
mod kit;
mod line;
mod open;
mod race;
mod tail;
mod trouble;

use std::sync::Arc;
use std::time::{Duration, SystemTime, UNIX_EPOCH};
use zcoder::json::Tree;
use zcoder::protocol::{CallId, DecidedBy, Decision, Message, Note, ToolCall};
use zcoder::session::{Checkpoint, Log, Record, SessionId, view};

fn id_at(millis: u64) -> SessionId {
    SessionId::new(UNIX_EPOCH + Duration::from_millis(millis)).expect("randomness")
}

#[test]
fn an_id_is_time_and_random_part() {
    let SessionId(text) = id_at(1_787_302_800_123);
    let parts: Vec<&str> = text.split('-').collect();
    assert_eq!(parts[..2], ["20260821", "090000123"], "{text}");
    assert_eq!(parts.len(), 3, "{text}");
    assert_eq!(parts[2].len(), 8, "{text}");
    let of_ours = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit();
    assert!(parts[2].chars().all(of_ours), "{text}");
}

#[test]
fn ids_sort_by_time_and_differ_within_a_millisecond() {
    let times = [
        0,
        1,
        999,
        1000,
        86_400_000,
        1_787_302_800_123,
        4_102_444_800_000,
    ];
    let ids: Vec<SessionId> = times.into_iter().map(id_at).collect();
    let mut sorted = ids.clone();
    sorted.sort();
    assert_eq!(ids, sorted);
    assert_ne!(id_at(5), id_at(5));
}

#[test]
fn a_new_log_has_an_id_of_now_and_nothing_in_it() {
    let before = SessionId::new(SystemTime::now()).expect("randomness");
    let log = Log::in_memory().expect("log");
    let after = SessionId::new(SystemTime::now()).expect("randomness");
    let stamp = |id: &SessionId| id.0[..18].to_string();
    assert!(stamp(&before) <= stamp(log.id()) && stamp(log.id()) <= stamp(&after));
    assert_eq!(log.records(), []);
}

fn system(text: &str) -> Message {
    Message::System {
        text: text.to_string(),
    }
}

fn user(text: &str) -> Message {
    Message::User {
        text: text.to_string(),
    }
}

#[test]
fn records_are_numbered_from_zero_and_kept_in_order() {
    let mut log = Log::in_memory().expect("log");
    let decision = Record::Decision {
        call: Some(CallId("c1".to_string())),
        shown: "ls".to_string(),
        decision: Decision::Once,
        by: DecidedBy::Person,
    };
    let records = [
        Record::Message(user("a")),
        decision,
        Record::Message(user("b")),
    ];
    for (seq, record) in (0..).zip(records.clone()) {
        assert_eq!(log.append(record), seq);
    }
    assert_eq!(log.records(), records);
}

#[test]
fn the_last_system_message_comes_first_and_the_others_are_left_out() {
    let mut log = Log::in_memory().expect("log");
    for message in [system("old"), user("a"), system("new"), user("b")] {
        log.append(Record::Message(message));
    }
    let messages: Vec<&Message> = log.messages().collect();
    assert_eq!(messages, [&system("new"), &user("a"), &user("b")]);
}

/// A log in one line: `s` system, `u` user, `n` note, `a` answer, `c` a call, `t` its result, `d` a decision; `[1 2]` a checkpoint that
/// keeps these.
fn records(log: &str) -> Vec<Record> {
    let mut out = Vec::new();
    let mut words = log.split_whitespace();
    while let Some(word) = words.next() {
        let text = out.len().to_string();
        let call = CallId("c".to_string());
        let note = |note, text| Message::Note { note, text };
        let message = match &word[..1] {
            "s" => system(&text),
            "u" => user(&text),
            "n" => note(Note::Environment, text),
            "a" | "c" => Message::Assistant {
                content: Arc::new(text),
                thinking: Arc::default(),
                calls: match word {
                    "c" => vec![ToolCall {
                        id: call,
                        name: "read_file".to_string(),
                        arguments: Tree::empty_object(),
                    }],
                    _ => Vec::new(),
                },
            },
            "t" => Message::Tool {
                call,
                name: "read_file".to_string(),
                text,
            },
            "d" => {
                out.push(Record::Decision {
                    call: None,
                    shown: text,
                    decision: Decision::Once,
                    by: DecidedBy::Person,
                });
                continue;
            }
            _ => {
                let mut kept = Vec::new();
                let mut word = word.trim_start_matches('[');
                while let Ok(seq) = word.trim_end_matches(']').parse() {
                    kept.push(seq);
                    if word.ends_with(']') {
                        break;
                    }
                    word = words.next().expect("]");
                }
                out.push(Record::Checkpoint(Checkpoint {
                    note: note(Note::Checkpoint, text),
                    kept,
                    before: 2,
                    after: 1,
                }));
                continue;
            }
        };
        out.push(Record::Message(message));
    }
    out
}

#[track_caller]
fn check_view(log: &str, expected: &str) {
    let records = records(log);
    let seen: Vec<String> = view(&records)
        .iter()
        .map(|(seq, message)| {
            let (kind, text): (&str, &String) = match message {
                Message::System { text } => ("s", text),
                Message::User { text } => ("u", text),
                Message::Note { note, text } if *note == Note::Checkpoint => ("k", text),
                Message::Note { text, .. } => ("n", text),
                Message::Assistant { content, calls, .. } if calls.is_empty() => ("a", content),
                Message::Assistant { content, .. } => ("c", content),
                Message::Tool { text, .. } => ("t", text),
            };
            assert_eq!(text, &seq.to_string(), "{log}");
            format!("{kind}{seq}")
        })
        .collect();
    assert_eq!(seen.join(" "), expected, "{log}");
}

#[test]
fn the_view_is_what_the_last_checkpoint_keeps_and_all_that_follows() {
    check_view("", "");
    check_view("s n u d c t a", "s0 n1 u2 c4 t5 a6");
    check_view("s n u c t u c t [1 2 5] a", "s0 n1 u2 k8 u5 a9");
    // The request itself is the latest message too.
    check_view("s n u c t c t [1 2 5 6] c t", "s0 n1 u2 k7 c5 t6 c8 t9");
    // A second checkpoint keeps what the first one kept, and its own note alone stays.
    check_view("s n u c t [1 2] c t u [1 2 8] a", "s0 n1 u2 k9 u8 a10");
    // The system message is the last one, wherever it stands.
    check_view("s u a [1] s u", "s4 u1 k3 u5");
    check_view("s u a s [1] u", "s3 u1 k4 u5");
    // Nothing of the user's is kept: the note comes before what follows.
    check_view("s n a [1] u", "s0 n1 k3 u4");
    // Numbers of a damaged log.
    check_view("s u d [1 2 0 77] u", "s0 u1 k3 u4");
}
