//! Tests of `session`.

use std::time::{Duration, SystemTime, UNIX_EPOCH};
use zcoder::protocol::{CallId, DecidedBy, Decision, Message};
use zcoder::session::{Log, Record, SessionId};

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
