//! Tests of `keep`: conversations in one line, what stays of them in another.
use super::*;
use crate::json::Tree;
use crate::protocol::{CallId, ToolCall};
use std::sync::Arc;

/// `e20` the environment, `u5` a user message of 5 tokens, `n` another note, `k` a checkpoint, `a` an answer, `c` a reply with calls,
/// `t` a result.
fn messages(log: &str) -> Vec<(Message, u64)> {
    let text = String::new;
    let note = |note| Message::Note { note, text: text() };
    let reply = |calls| Message::Assistant {
        content: Arc::default(),
        thinking: Arc::default(),
        calls,
    };
    let call = || ToolCall {
        id: CallId(text()),
        name: text(),
        arguments: Tree::empty_object(),
    };
    log.split_whitespace()
        .map(|word| {
            let message = match &word[..1] {
                "e" => note(Note::Environment),
                "n" => note(Note::Loop),
                "k" => note(Note::Checkpoint),
                "u" => Message::User { text: text() },
                "a" => reply(Vec::new()),
                "c" => reply(vec![call()]),
                _ => Message::Tool {
                    call: CallId(text()),
                    name: text(),
                    text: text(),
                },
            };
            (message, word[1..].parse().expect("tokens"))
        })
        .collect()
}

/// With a window of 8,192: 1,024 for recent messages, 512 for the user's, 2,048 for the last round.
#[track_caller]
fn check(log: &str, expected: &str) {
    let messages = messages(log);
    let entries: Vec<Entry<'_>> = (1..)
        .zip(&messages)
        .map(|(seq, (message, tokens))| Entry {
            seq,
            message,
            tokens: *tokens,
        })
        .collect();
    let kept = keep(&entries, 8_192);
    let words: Vec<&str> = log.split_whitespace().collect();
    let shown: Vec<&str> = kept.iter().map(|seq| words[*seq as usize - 1]).collect();
    assert_eq!(shown.join(" "), expected, "{log}");
}

#[test]
fn first_request_latest_message_and_what_is_in_force_stay_whatever_they_cost() {
    check("", "");
    check("e9000 u9000 a2000 u9001 a2000", "e9000 u9000 u9001");
    check("u9000 c9 t2000 a9", "u9000 a9");
}

#[test]
fn recent_messages_stay_as_far_as_there_is_room() {
    check("u1 c24 t1000 a0", "u1 c24 t1000 a0");
    check("u1 c25 t1000 a0", "u1 a0");
    check("u1 a900 c24 t500 c0 t500", "u1 c24 t500 c0 t500");
    // What stands before the first that has no room goes too.
    check("u1 a1 c1 t2000 n1 a1", "u1 n1 a1");
}

#[test]
fn a_round_that_was_not_answered_yet_may_be_a_quarter_of_the_window() {
    check("u1 a10 c48 t2000", "u1 c48 t2000");
    check("u1 a10 c49 t2000", "u1");
    check("u1 c8 t1000 t1000 t40", "u1 c8 t1000 t1000 t40");
    // It used up the room of the others.
    check("u1 c0 t10 c48 t1000", "u1 c48 t1000");
}

#[test]
fn further_messages_of_the_user_have_room_of_their_own() {
    check("u1 a2000 u300 a2000 u212 a2000 u7 a2000", "u1 u300 u212 u7");
    check("u1 a2000 u300 a2000 u213 a2000 u7 a2000", "u1 u213 u7");
}

#[test]
fn an_earlier_checkpoint_goes_and_is_no_border() {
    check("e1 u1 k300 u2 c1 t1", "e1 u1 u2 c1 t1");
    check("u1 k300 a1 k300 a1", "u1 a1 a1");
}

#[test]
fn results_never_stay_without_their_calls() {
    for size in (0..2400).step_by(50) {
        let log = format!("u1 c10 t{size} t10 c10 t{size} t10 t20 a5 c10 t{size} t10");
        let messages = messages(&log);
        let entries: Vec<Entry<'_>> = (0..)
            .zip(&messages)
            .map(|(seq, (message, tokens))| Entry {
                seq,
                message,
                tokens: *tokens,
            })
            .collect();
        let kept = keep(&entries, 8_192);
        for round in [vec![1, 2, 3], vec![4, 5, 6, 7], vec![9, 10, 11]] {
            let here = round.iter().filter(|seq| kept.contains(seq)).count();
            assert!(here == 0 || here == round.len(), "{size}: {kept:?}");
        }
    }
}
