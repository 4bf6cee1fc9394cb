//! Chats over real sockets: the stream corpus, every cut of a recorded stream, resends, and what is shown on the way.

use super::peer::{Peer, chunk, chunked, chunked_head, json, send};
use super::{Seen, calls, options, plain_chat, shape, talk};
use std::io::Read;
use std::sync::Arc;
use std::sync::Mutex;
use std::sync::mpsc::channel;
use std::time::Duration;
use zcoder::model::ollama::Record;
use zcoder::model::{Assembler, Backend, Chat, Error, Progress, Reply};
use zcoder::protocol::{Message, Stage, StopReason, Tap, Usage};
use zcoder::sys::Cancel;

/// What a stream must come to: thinking, content, calls, stop.
fn reply(result: Result<Reply, Error>) -> (String, String, Vec<String>, StopReason) {
    let reply = result.expect("a reply");
    let calls = calls(&reply);
    let texts = [reply.thinking, reply.content].map(|text| text.to_string());
    let [thinking, content] = texts;
    (thinking, content, calls, reply.stop)
}

#[track_caller]
fn check(lines: &[&str], thinking: &str, content: &str, calls: &[&str]) {
    let (result, seen) = talk(&Peer::streaming(lines.join("\n").as_bytes()));
    let calls: Vec<String> = calls.iter().map(|call| call.to_string()).collect();
    let expected = (
        thinking.to_string(),
        content.to_string(),
        calls,
        StopReason::Stop,
    );
    assert_eq!(reply(result), expected);
    // What was shown is what is stored, up to blanks at the edges of thinking that leaked.
    assert_eq!(seen.thinking.trim(), thinking.trim());
    assert_eq!(seen.content, content);
}

#[track_caller]
fn check_error(lines: &[&str], expected: &str) {
    let (result, _) = talk(&Peer::streaming(lines.join("\n").as_bytes()));
    assert_eq!(result.expect_err("an error").to_string(), expected);
}

const DONE: &str =
    r#"{"message":{"role":"assistant","content":""},"done":true,"done_reason":"stop"}"#;

#[test]
fn row_24_two_hundred_thousand_records() {
    let record = r#"{"model":"m","created_at":"2026-08-21T09:00:00Z","message":{"role":"assistant","content":"abc"},"done":false}"#;
    let mut body = format!("{record}\n").repeat(200_000);
    body.push_str(DONE);
    let (result, seen) = talk(&Peer::streaming(body.as_bytes()));
    let content = "abc".repeat(200_000);
    assert!(reply(result).1 == content && seen.content == content);
}

#[test]
fn row_25_the_last_duplicate_wins() {
    check(
        &[r#"{"message":{"content":"a","content":"b"}}"#, DONE],
        "",
        "b",
        &[],
    );
    check(
        &[
            r#"{"message":{"content":"a","thinking":"t"},"message":{"content":"b"}}"#,
            DONE,
        ],
        "",
        "b",
        &[],
    );
    check(
        &[
            r#"{"message":{"tool_calls":[{"function":{"name":"read_file","arguments":{"path":"a","path":"b"}}}]},"done":true}"#,
        ],
        "",
        "",
        &[r#"read_file {"path":"a","path":"b"}"#],
    );
}

#[test]
fn row_26_keys_in_any_order_and_unknown_ones() {
    let nested = format!("{}{}", "[".repeat(50), "]".repeat(50));
    let line = format!(
        r#"{{"x":{nested},"done":false,"y":{{"message":{{"content":"no"}}}},"message":{{"z":{nested},"content":"yes"}}}}"#
    );
    check(&[&line, DONE], "", "yes", &[]);
}

#[test]
fn row_27_lone_surrogates_become_replacement_characters() {
    check(
        &[
            r#"{"message":{"content":"a\ud83d b\ude00 c\ude00\ud83d d\ud83d\ude00"}}"#,
            r#"{"message":{"content":"\ud83d"}}"#,
            r#"{"message":{"content":"\ude00"}}"#,
            DONE,
        ],
        "",
        "a\u{fffd} b\u{fffd} c\u{fffd}\u{fffd} d\u{1f600}\u{fffd}\u{fffd}",
        &[],
    );
}

#[test]
fn row_28_escaped_controls_are_kept_and_raw_ones_refused() {
    check(
        &[
            r#"{"message":{"content":"\u0000\u001b[2J\u007f\u202e"}}"#,
            DONE,
        ],
        "",
        "\0\u{1b}[2J\u{7f}\u{202e}",
        &[],
    );
    check_error(
        &["{\"message\":{\"content\":\"a\u{1b}[2J\"}}", DONE],
        "the server sent a record that is not JSON (expected an escape in place of a control character at byte 24, found byte 0x1b); it begins `{\"message\":{\"content\":\"a\\x1b[2J\"}}`; ask again, and look at all of it with `--record FILE` and `zcoder wire FILE`",
    );
}

#[test]
fn row_29_bad_utf8_is_repaired() {
    let mut line = b"{\"message\":{\"content\":\"a\x80b\xc0\xafc\xed\xa0\x80d\"}}\n".to_vec();
    line.extend_from_slice(DONE.as_bytes());
    let (result, seen) = talk(&Peer::streaming(&line));
    let content = "a\u{fffd}b\u{fffd}\u{fffd}c\u{fffd}\u{fffd}\u{fffd}d";
    assert_eq!(reply(result).1, content);
    assert_eq!(seen.content, content);
}

#[test]
fn row_30_numbers_in_counters_and_arguments() {
    for number in [
        "1e999",
        "-0",
        "1E+2",
        "0.1e-7",
        "1234567890123456789012345678901234567890",
        "9007199254740993",
    ] {
        let call = format!(
            r#"{{"message":{{"tool_calls":[{{"function":{{"name":"read_file","arguments":{{"n":{number}}}}}}}]}},"done":true,"eval_count":{number}}}"#
        );
        check(
            &[&call],
            "",
            "",
            &[&format!(r#"read_file {{"n":{number}}}"#)],
        );
    }
    for number in ["01", "+1", ".5", "1.", "NaN", "Infinity"] {
        let line = format!(r#"{{"done":true,"eval_count":{number}}}"#);
        let (result, _) = talk(&Peer::streaming(line.as_bytes()));
        assert!(
            matches!(result, Err(Error::Malformed { .. })),
            "{number}: {result:?}"
        );
    }
}

#[test]
fn row_31_odd_counters_cost_nothing_but_themselves() {
    let line = r#"{"message":{"content":"x"},"done":true,"prompt_eval_count":-1,"eval_count":12.0,"load_duration":"9","prompt_eval_duration":99999999999999999999,"eval_duration":1.5}"#;
    let (result, _) = talk(&Peer::streaming(line.as_bytes()));
    let usage = Usage {
        output_tokens: Some(12),
        ..Usage::default()
    };
    assert_eq!(result.expect("a reply").usage, usage);
}

#[test]
fn row_32_deep_nesting_is_refused() {
    for deep in [
        format!(r#"{{"x":{}"#, "[".repeat(10_000)),
        format!(
            r#"{{"message":{{"tool_calls":[{{"function":{{"name":"read_file","arguments":{}"#,
            r#"{"a":"#.repeat(10_000)
        ),
    ] {
        let (result, _) = talk(&Peer::streaming(deep.as_bytes()));
        let text = result.expect_err("an error").to_string();
        assert!(text.contains("more than 128 levels of nesting"), "{text}");
    }
}

#[test]
fn row_33_an_error_record_ends_the_reply_wherever_it_comes() {
    let error = r#"{"error":"boom"}"#;
    let text =
        "the server failed in the middle of the reply: boom; its log may say more; ask again";
    let call = r#"{"message":{"content":"","tool_calls":[{"function":{"name":"read_file","arguments":{}}}]},"done":false}"#;
    check_error(&[r#"{"message":{"content":"x"}}"#, error], text);
    check_error(&[call, error, DONE], text);
    check_error(&[error], text);
}

#[test]
fn row_34_forms_of_an_error_record() {
    check_error(
        &[r#"{"error":{"message":"x"}}"#],
        "the server failed in the middle of the reply: x; its log may say more; ask again",
    );
    check(
        &[
            r#"{"error":null,"message":{"content":"a"}}"#,
            r#"{"error":""}"#,
            DONE,
        ],
        "",
        "a",
        &[],
    );
    check_error(
        &[r#"{"error":true}"#],
        "the server failed in the middle of the reply: true; its log may say more; ask again",
    );
    // Ollama 0.11 wrote the text as the key.
    check_error(
        &[r#"{"error parsing tool call":"raw='x', err=y"}"#],
        "the server could not read the tool call that the model wrote: error parsing tool call: raw='x', err=y",
    );
    // Such a key beside a message is some field of a later version.
    check(
        &[r#"{"errors_seen":3,"message":{"content":"a"}}"#, DONE],
        "",
        "a",
        &[],
    );
}

#[test]
fn row_35_malformed_lines() {
    let good = r#"{"message":{"content":"x"}}"#;
    check_error(
        &[good, "nonsense", DONE],
        "the server sent a record that is not JSON (expected `null` at byte 1, found `o`); it begins `nonsense`; ask again, and look at all of it with `--record FILE` and `zcoder wire FILE`",
    );
    let sse = format!("data: {good}");
    check_error(
        &[&sse],
        "the server sent a record that is not JSON (expected a value at byte 0, found `d`); it begins `data: {\"message\":{\"content\":\"x\"}}`; that is the form of an OpenAI-compatible server, here Ollama's own is expected: check the address",
    );
    // Two objects on a line, and one over two lines.
    let (result, _) = talk(&Peer::streaming(format!("{good}{DONE}").as_bytes()));
    assert!(matches!(result, Err(Error::Malformed { .. })), "{result:?}");
    let (result, _) = talk(&Peer::streaming(
        b"{\"message\":\n{\"content\":\"x\"},\"done\":true}",
    ));
    assert!(matches!(result, Err(Error::Malformed { .. })), "{result:?}");
}

#[test]
fn row_36_ends() {
    let good = r#"{"message":{"content":"x"},"done":false}"#;
    check_error(
        &[good],
        "the reply is incomplete: the server ended it before its last record; nothing of it was run; ask again",
    );
    check(&[good, r#"{"done_reason":"stop"}"#], "", "x", &[]);
    check_error(
        &[good, r#"{"done":false,"done_reason":""}"#],
        "the reply is incomplete: the server ended it before its last record; nothing of it was run; ask again",
    );
    check(&[good, r#"{"done":true}"#], "", "x", &[]);
    check(
        &[
            good,
            DONE,
            r#"{"message":{"content":"late"}}"#,
            r#"{"error":"late"}"#,
            "not even JSON",
        ],
        "",
        "x",
        &[],
    );
}

#[test]
fn row_37_the_last_record_counts_like_any_other() {
    let last = r#"{"message":{"content":"c","thinking":"t","tool_calls":[{"function":{"name":"read_file","arguments":{"path":"a"}}}]},"done":true,"eval_count":5}"#;
    let again = r#"{"message":{"content":"c","thinking":"t","tool_calls":[{"function":{"name":"read_file","arguments":{}}}]},"done":true,"eval_count":9}"#;
    check(&[last, again], "t", "c", &[r#"read_file {"path":"a"}"#]);
    let (result, _) = talk(&Peer::streaming(format!("{last}\n{again}").as_bytes()));
    assert_eq!(result.expect("a reply").usage.output_tokens, Some(5));
}

#[test]
fn what_follows_the_last_record_is_not_added() {
    let mut assembler = Assembler::default();
    for line in [
        DONE,
        r#"{"message":{"content":"late"}}"#,
        r#"{"error":"late"}"#,
        r#"{"done_reason":"length"}"#,
    ] {
        let mut record = Record::decode(line.as_bytes()).expect("a record");
        assembler.feed(&mut record).expect("no failure");
    }
    let reply = assembler
        .finish(&mut || "id".to_string())
        .expect("complete");
    assert_eq!((reply.content.as_str(), reply.stop), ("", StopReason::Stop));
}

#[test]
fn row_38_calls_keep_their_order_and_get_ids_of_their_own() {
    let call = |id: &str, path: &str| {
        format!(
            r#"{{{id}"function":{{"index":0,"name":"read_file","arguments":{{"path":"{path}"}}}}}}"#
        )
    };
    let (same, none) = (r#""id":"call_1","#, "");
    let record = |text: &str, calls: &[String]| {
        format!(
            r#"{{"message":{{"content":"{text}","tool_calls":[{}]}}}}"#,
            calls.join(",")
        )
    };
    for ids in [
        [same, same, same],
        [none, none, none],
        [same, none, same],
        ["\"id\":null,", "\"id\":7,", "\"id\":\"\","],
    ] {
        let apart = [
            record("a", &[call(ids[0], "1")]),
            record("b", &[call(ids[1], "2")]),
            record("c", &[call(ids[2], "3")]),
            DONE.to_string(),
        ];
        let last = record("c", &[call(ids[2], "3")]).replace("}}]}}", r#"}}]},"done":true}"#);
        let together = [record("ab", &[call(ids[0], "1"), call(ids[1], "2")]), last];
        for lines in [&apart[..], &together[..]] {
            let (result, _) = talk(&Peer::streaming(lines.join("\n").as_bytes()));
            let reply = result.expect("a reply");
            assert_eq!(*reply.content, "abc");
            assert_eq!(
                calls(&reply),
                [
                    r#"read_file {"path":"1"}"#,
                    r#"read_file {"path":"2"}"#,
                    r#"read_file {"path":"3"}"#
                ]
            );
            let ids: std::collections::BTreeSet<_> =
                reply.calls.iter().map(|call| &call.id.0).collect();
            assert_eq!(ids.len(), 3, "{ids:?}");
            assert!(ids.iter().all(|id| id.starts_with("call_")), "{ids:?}");
        }
    }
}

#[test]
fn row_39_odd_calls_arrive_as_they_are() {
    let cases = [
        (
            r#"{"function":{"name":"read_file","arguments":"{\"path\":\"a\"}"}}"#,
            r#"read_file {"path":"a"}"#,
        ),
        (
            r#"{"function":{"name":"read_file","arguments":null}}"#,
            "read_file {}",
        ),
        (r#"{"function":{"name":"read_file"}}"#, "read_file {}"),
        (
            r#"{"function":{"name":"read_file","arguments":""}}"#,
            "read_file {}",
        ),
        (
            r#"{"function":{"name":"read_file","arguments":[]}}"#,
            "read_file []",
        ),
        (
            r#"{"function":{"name":"read_file","arguments":"not JSON"}}"#,
            r#"read_file "not JSON""#,
        ),
        (r#"{"function":{"name":"","arguments":{}}}"#, " {}"),
        (r#"{"function":{"name":null,"arguments":{}}}"#, " {}"),
        (
            r#"{"function":{"name":"nonsense","arguments":{"a":1}}}"#,
            r#"nonsense {"a":1}"#,
        ),
        (
            r#"{"function":{"name":"functions.read_file","arguments":{}}}"#,
            "functions.read_file {}",
        ),
        (
            r#"{"function":{"name":"read_file<|channel|>","arguments":{}}}"#,
            "read_file<|channel|> {}",
        ),
        (r#"{"id":"x"}"#, " {}"),
        (r#"{"function":[]}"#, " {}"),
        ("null", " {}"),
        ("[1,[2]]", " {}"),
    ];
    for (call, expected) in cases {
        let line = format!(r#"{{"message":{{"content":"","tool_calls":[{call}]}},"done":true}}"#);
        check(&[&line], "", "", &[expected]);
    }
}

#[test]
fn row_40_argument_keys_and_values() {
    let arguments = format!(
        r#"{{"a.b c":"é","path":"a\u0000b","text":"{}"}}"#,
        r"\n".repeat(100_000)
    );
    let line = format!(
        r#"{{"message":{{"tool_calls":[{{"function":{{"name":"read_file","arguments":{arguments}}}}}]}},"done":true}}"#
    );
    check(&[&line], "", "", &[&format!("read_file {arguments}")]);
}

#[test]
fn row_22_a_call_of_ten_megabytes() {
    let text = "line\\n\\\"q\\\"\\u003c".repeat(700_000);
    let line = format!(
        r#"{{"message":{{"tool_calls":[{{"function":{{"name":"read_file","arguments":{{"text":"{text}"}}}}}}]}},"done":true}}"#
    );
    assert!(line.len() > 10 << 20);
    let (result, _) = talk(&Peer::streaming(line.as_bytes()));
    let reply = result.expect("a reply");
    let value = reply.calls[0]
        .arguments
        .root()
        .get("text")
        .and_then(|text| text.as_str());
    assert_eq!(value.map(str::len), Some("line\n\"q\"<".len() * 700_000));
}

#[test]
fn a_record_over_the_limit_is_given_up() {
    // Both sides of the 16 MiB: the line without its end counts.
    let frame = r#"{"message":{"content":""},"done":true}"#.len();
    for (bytes, fits) in [((16 << 20) - frame, true), ((16 << 20) - frame + 1, false)] {
        let line = format!(
            r#"{{"message":{{"content":"{}"}},"done":true}}"#,
            "x".repeat(bytes)
        );
        let (result, _) = talk(&Peer::streaming(format!("{line}\n").as_bytes()));
        match result {
            Ok(reply) => assert!(fits && reply.content.len() == bytes),
            Err(error) => {
                assert!(!fits);
                assert_eq!(
                    error.to_string(),
                    "the server sent a record longer than 16 MiB; the reply was given up; ask for less at once"
                );
            }
        }
    }
}

#[test]
fn row_41_thinking_and_content_in_any_order() {
    check(
        &[
            r#"{"message":{"content":"a","thinking":"1"}}"#,
            r#"{"message":{"thinking":"2"}}"#,
            r#"{"message":{"content":"b"}}"#,
            DONE,
        ],
        "12",
        "ab",
        &[],
    );
    check(
        &[r#"{"message":{"content":"","thinking":"only"}}"#, DONE],
        "only",
        "",
        &[],
    );
}

#[test]
fn the_order_in_which_thinking_and_content_came_is_the_order_shown() {
    let lines = [
        r#"{"message":{"thinking":"1","content":"a"}}"#,
        r#"{"message":{"content":"b"}}"#,
        r#"{"message":{"thinking":"2"}}"#,
        r#"{"message":{"content":"c"}}"#,
        DONE,
    ];
    let peer = Peer::streaming(lines.join("\n").as_bytes());
    let backend = Backend::ollama(&options(peer.port()), Tap::default());
    let cancel = Cancel::new().expect("a switch");
    let mut shown = Vec::new();
    let body = backend.begin(&shape());
    let result =
        backend.chat(
            &shape(),
            &body,
            &plain_chat(),
            &cancel,
            &mut |progress| match progress {
                Progress::Thinking(text) => shown.push(format!("t:{text}")),
                Progress::Content(text) => shown.push(format!("c:{text}")),
                _ => {}
            },
        );
    result.expect("a reply");
    assert_eq!(shown, ["t:1", "c:ab", "t:2", "c:c"]);
}

#[test]
fn row_42_thinking_tags_in_content() {
    check(
        &[
            r#"{"message":{"content":"<thi"}}"#,
            r#"{"message":{"content":"nk>plan</thi"}}"#,
            r#"{"message":{"content":"nk>\n\nanswer"}}"#,
            DONE,
        ],
        "plan",
        "answer",
        &[],
    );
    check(
        &[
            r#"{"message":{"content":"<thought>a</thought><think>b</think>c"}}"#,
            DONE,
        ],
        "a\nb",
        "c",
        &[],
    );
}

#[test]
fn row_43_reasons_to_end() {
    let ending = |reason: &str| {
        let line = format!(r#"{{"message":{{"content":"x"}},"done":true{reason}}}"#);
        let (result, _) = talk(&Peer::streaming(line.as_bytes()));
        let reply = result.expect("a reply");
        (reply.stop, reply.notes)
    };
    assert_eq!(
        ending(r#","done_reason":"length""#),
        (StopReason::Length, Vec::new())
    );
    assert_eq!(ending(""), (StopReason::Stop, Vec::new()));
    assert_eq!(
        ending(r#","done_reason":"novel""#),
        (
            StopReason::Other("novel".to_string()),
            vec!["the reply ended for a reason unknown here: `novel`".to_string()]
        )
    );
}

/// A reply with everything in it: two-byte and four-byte characters, escapes, a pair, thinking, content and two calls.
const RECORDED: &str = concat!(
    r#"{"model":"m","created_at":"2026-08-21T09:00:00.5Z","message":{"role":"assistant","content":"","thinking":"L\u00e9t me é"},"done":false}"#,
    "\n",
    r#"{"model":"m","message":{"role":"assistant","content":"<thi"},"done":false}"#,
    "\r\n\n",
    r#"{"model":"m","message":{"role":"assistant","content":"nk>x</think>\u003ca\u003e \ud83d\ude00 😀"},"done":false}"#,
    "\n",
    r#"{"message":{"content":"","tool_calls":[{"id":"call_x1y2z3a4","function":{"index":0,"name":"read_file","arguments":{"path":"ä\n"}}}]},"done":false}"#,
    "\n",
    r#"{"message":{"content":" end","tool_calls":[{"id":"call_b","function":{"name":"list_files","arguments":{"n":1.50}}}]},"done":true,"done_reason":"stop","load_duration":41000000,"prompt_eval_count":812,"prompt_eval_duration":400000000,"eval_count":57,"eval_duration":1300000000}"#,
);

#[track_caller]
fn check_recorded(result: Result<Reply, Error>, seen: &Seen) {
    let reply = result.expect("a reply");
    assert_eq!(*reply.thinking, "Lét me é\nx");
    assert_eq!(*reply.content, "<a> 😀 😀 end");
    assert_eq!(
        calls(&reply),
        [r#"read_file {"path":"ä\n"}"#, r#"list_files {"n":1.50}"#]
    );
    assert_eq!(reply.calls[0].id.0, "call_x1y2z3a4");
    let usage = Usage {
        prompt_tokens: Some(812),
        output_tokens: Some(57),
        load: Some(Duration::from_millis(41)),
        prompt_time: Some(Duration::from_millis(400)),
        output_time: Some(Duration::from_millis(1300)),
    };
    assert_eq!(reply.usage, usage);
    assert_eq!(reply.notes, Vec::<String>::new());
    assert_eq!(seen.thinking, "Lét me éx");
    assert_eq!(seen.content, "<a> 😀 😀 end");
}

#[test]
fn every_cut_of_a_recorded_stream_gives_the_same_reply() {
    let bytes = RECORDED.as_bytes();
    // Cut by cut, each cut two chunks; the peer walks through the cuts, one a request.
    let peer = Peer::start(move |asked, stream| {
        let (before, after) = RECORDED.as_bytes().split_at(asked.earlier);
        send(stream, &chunked(&[before, after]));
    });
    for _ in 0..=bytes.len() {
        let (result, seen) = talk(&peer);
        check_recorded(result, &seen);
    }
    let single: Vec<&[u8]> = bytes.chunks(1).collect();
    let (result, seen) = talk(&Peer::answering(vec![chunked(&single)]));
    check_recorded(result, &seen);
}

#[test]
fn two_hundred_seeded_cut_patterns_give_the_same_reply() {
    // Each pattern: pieces of 1 to 40 bytes, every piece a chunk, several writes, so that reads see other cuts than chunks.
    let peer = Peer::start(move |asked, stream| {
        let mut seed = asked.earlier as u64 * 2 + 1;
        let mut next = move |below: u64| {
            seed ^= seed << 13;
            seed ^= seed >> 7;
            seed ^= seed << 17;
            (seed % below) as usize
        };
        let mut rest = RECORDED.as_bytes();
        let mut wire = chunked_head();
        while !rest.is_empty() {
            let (piece, after) = rest.split_at((1 + next(40)).min(rest.len()));
            wire.extend_from_slice(&chunk(piece));
            rest = after;
            if next(3) == 0 {
                let (sent, kept) = wire.split_at(next(wire.len() as u64 + 1));
                send(stream, sent);
                wire = kept.to_vec();
            }
        }
        wire.extend_from_slice(b"0\r\n\r\n");
        send(stream, &wire);
    });
    for _ in 0..200 {
        let (result, seen) = talk(&peer);
        check_recorded(result, &seen);
    }
}

#[test]
fn a_reply_cut_at_any_byte_is_no_reply() {
    let whole = chunked(&[RECORDED.as_bytes()]);
    let end_of_last_record = whole.len() - b"\r\n0\r\n\r\n".len();
    let cut = whole.clone();
    let peer = Peer::start(move |asked, stream| send(stream, &cut[..asked.earlier]));
    let mut earlier = 0;
    while earlier < whole.len() {
        let (result, _) = talk(&peer);
        earlier = peer.count("POST /api/chat"); // closed before any byte, it is asked once more
        let at = earlier - 1;
        match result {
            Ok(reply) => {
                assert!(
                    at >= end_of_last_record,
                    "complete after {at} of {} bytes",
                    whole.len()
                );
                assert_eq!(calls(&reply).len(), 2);
                assert_eq!(reply.notes.len(), 1, "{:?}", reply.notes);
            }
            Err(Error::Incomplete { .. } | Error::Http(_)) => {
                assert!(at < end_of_last_record, "{at}")
            }
            Err(other) => panic!("after {at} bytes: {other:?}"),
        }
    }
}

#[test]
fn a_connection_that_breaks_after_content_is_told_and_not_tried_again() {
    let peer = Peer::start(|_, stream| {
        send(stream, &chunked_head());
        send(
            stream,
            &chunk(b"{\"message\":{\"content\":\"half\"}}\n{\"mess"),
        );
    });
    let (result, seen) = talk(&peer);
    let Err(Error::Incomplete { detail, partial }) = result else {
        panic!("{result:?}");
    };
    assert_eq!((partial.as_str(), seen.content.as_str()), ("half", "half"));
    assert!(
        detail.ends_with("connection closed after 37 body bytes, before the last chunk"),
        "{detail}"
    );
    assert_eq!(peer.count("POST /api/chat"), 1);
}

#[test]
fn a_connection_dropped_before_any_answer_is_tried_once_more() {
    let peer = Peer::start(|asked, stream| {
        if asked.earlier == 1 {
            send(stream, &chunked(&[RECORDED.as_bytes()]));
        }
    });
    let (result, seen) = talk(&peer);
    check_recorded(
        result,
        &Seen {
            resends: Vec::new(),
            ..seen
        },
    );
    let peer = Peer::start(|_, _| {});
    let (result, seen) = talk(&peer);
    assert!(
        matches!(
            result,
            Err(Error::Http(zcoder::http::Error::ClosedEarly { .. }))
        ),
        "{result:?}"
    );
    assert_eq!(peer.count("POST /api/chat"), 2);
    assert_eq!(seen.resends.len(), 1);
}

#[test]
fn two_resends_are_all_whatever_the_reasons() {
    // Dropped, then busy, then dropped: the third failure is final.
    let busy = json("503 Service Unavailable", r#"{"error":"server busy"}"#);
    let peer = Peer::answering(vec![Vec::new(), busy, Vec::new()]);
    let (result, _) = talk(&peer);
    assert!(matches!(result, Err(Error::Http(_))), "{result:?}");
    assert_eq!(peer.count("POST /api/chat"), 3);
}

#[test]
fn a_busy_server_that_recovers_answers() {
    let busy = json("503 Service Unavailable", r#"{"error":"server busy"}"#);
    let peer = Peer::answering(vec![busy, chunked(&[RECORDED.as_bytes()])]);
    let (result, seen) = talk(&peer);
    assert_eq!(
        seen.resends,
        [
            "1: the server is busy (server busy); wait for its other requests, or raise OLLAMA_MAX_QUEUE there"
        ]
    );
    check_recorded(result, &seen);
}

#[test]
fn an_answer_in_one_piece_is_read_like_a_stream_of_one() {
    let body = r#"{"model":"m","message":{"role":"assistant","content":"all","thinking":"t"},"done":true,"done_reason":"stop","eval_count":3}"#;
    let (result, _) = talk(&Peer::answering(vec![json("200 OK", body)]));
    assert_eq!(
        reply(result),
        (
            "t".to_string(),
            "all".to_string(),
            Vec::new(),
            StopReason::Stop
        )
    );
}

#[test]
fn a_call_that_the_server_hands_back_is_used() {
    let raw = "{\"name\":\"read_file\",\"arguments\":{\"path\":\"a\",\"text\":\"1\n2\t'x'\"}}";
    let complaint = |raw: &str| {
        let mut quoted = Vec::new();
        let text = format!(
            "error parsing tool call: raw='{raw}', err=invalid character '\\n' in string literal"
        );
        zcoder::json::quote(&mut quoted, text.as_bytes());
        format!(
            r#"{{"error":{}}}"#,
            String::from_utf8(quoted).expect("UTF-8")
        )
    };
    let record = r#"{"message":{"thinking":"t","content":"c"}}"#;
    let as_status = json("500 Internal Server Error", &complaint(raw));
    let as_record = chunked(&[record.as_bytes(), b"\n", complaint(raw).as_bytes()]);
    for (answer, content) in [(as_status, ""), (as_record, "c")] {
        let (result, _) = talk(&Peer::answering(vec![answer]));
        let reply = result.expect("a reply");
        assert_eq!(
            calls(&reply),
            [r#"read_file {"path":"a","text":"1\n2\t'x'"}"#]
        );
        assert_eq!((reply.content.as_str(), reply.recovered), (content, true));
        assert_eq!(
            reply.notes,
            ["the call was read from the server's complaint about it"]
        );
    }
    // Cut, unnamed, not offered: the model is told, and nothing is sent again.
    for raw in [
        r#"{"name":"read_file","arguments":{"path":"a"#,
        r#"{"path":"a"}"#,
        r#"{"name":"fly","arguments":{}}"#,
    ] {
        let peer = Peer::answering(vec![json("500 Internal Server Error", &complaint(raw))]);
        let (result, _) = talk(&peer);
        assert!(
            matches!(result, Err(Error::UnreadableCall { .. })),
            "{result:?}"
        );
        assert_eq!(peer.count("POST /api/chat"), 1);
    }
}

/// A chat on a thread of its own, and what it says on the way.
fn start(
    peer: &Peer,
    cancel: &Cancel,
    said: std::sync::mpsc::Sender<String>,
) -> std::thread::JoinHandle<Result<Reply, Error>> {
    let backend = Backend::ollama(&options(peer.port()), Tap::default());
    let cancel = cancel.clone();
    std::thread::spawn(move || {
        let chat = Chat {
            new_tokens: 9400,
            prompt_speed: Some(100.0),
            ..plain_chat()
        };
        let body = backend.begin(&shape());
        backend.chat(&shape(), &body, &chat, &cancel, &mut |progress| {
            // The test may have seen enough.
            let _ = said.send(format!("{progress:?}"));
        })
    })
}

/// The first thing said that begins so.
fn wait_for(said: &std::sync::mpsc::Receiver<String>, start: &str) -> String {
    loop {
        let text = said.recv_timeout(Duration::from_secs(30)).expect(start);
        if text.starts_with(start) {
            return text;
        }
    }
}

#[test]
fn a_cancel_ends_the_chat_at_once_in_every_phase() {
    let (hold, held) = channel::<()>();
    let held = Mutex::new(held);
    let (arrive, arrived) = channel();
    let arrive = Mutex::new(arrive);
    let peer = Peer::start(move |asked, stream| {
        arrive
            .lock()
            .expect("not poisoned")
            .send(())
            .expect("the test listens");
        match asked.earlier {
            0 => {}                             // silent before the answer
            1 => send(stream, &chunked_head()), // silent after the head
            2 => send(
                stream,
                &[
                    chunked_head(),
                    chunk(b"{\"message\":{\"content\":\"x\"}}\n"),
                ]
                .concat(),
            ),
            _ => {
                return send(
                    stream,
                    &json("503 Service Unavailable", "{\"error\":\"busy\"}"),
                );
            }
        }
        // Until the test is over: a closed channel is as good.
        let _ = held.lock().expect("not poisoned").recv();
    });
    for phase in ["Sent", "Sent", "Content", "Waiting(Resending"] {
        let cancel = Cancel::new().expect("a switch");
        let (say, said) = channel();
        let chat = start(&peer, &cancel, say);
        wait_for(&said, phase);
        // The peer counts what arrives: a cancel before that would leave the next phase to the wrong answer.
        arrived.recv().expect("the peer was asked");
        cancel.cancel();
        let result = chat.join().expect("no panic");
        assert!(
            matches!(result, Err(Error::Cancelled)),
            "{phase}: {result:?}"
        );
        hold.send(()).unwrap_or(());
    }
    drop(hold);
}

#[test]
fn a_connection_that_stays_open_after_the_reply_is_closed_by_us() {
    let (gone, left) = channel();
    let gone = Mutex::new(gone);
    let peer = Peer::start(move |_, stream| {
        send(
            stream,
            &[chunked_head(), chunk(RECORDED.as_bytes()), chunk(b"\n")].concat(),
        );
        // Ends when the client closes.
        let read = stream.read(&mut [0; 16]);
        gone.lock()
            .expect("not poisoned")
            .send(read.is_ok())
            .expect("the test listens");
    });
    let (result, seen) = talk(&peer);
    check_recorded(result, &seen);
    left.recv_timeout(Duration::from_secs(10))
        .expect("the client closes");
}

#[test]
fn while_the_server_is_silent_a_second_connection_tells_what_it_does() {
    let (go, gate) = channel::<()>();
    let gate = Mutex::new(gate);
    let peer = Peer::start(move |asked, stream| match asked.what.as_str() {
        "GET /api/ps" if asked.earlier == 0 => send(
            stream,
            &json("200 OK", r#"{"models":[{"name":"other:latest","size":1}]}"#),
        ),
        "GET /api/ps" => send(
            stream,
            &json(
                "200 OK",
                r#"{"models":[{"name":"m:latest","size":10,"size_vram":4,"context_length":32768}]}"#,
            ),
        ),
        _ => {
            gate.lock()
                .expect("not poisoned")
                .recv()
                .expect("the test says when");
            send(stream, &chunked(&[RECORDED.as_bytes()]));
        }
    });
    let cancel = Cancel::new().expect("a switch");
    let (say, said) = channel();
    let chat = start(&peer, &cancel, say);
    wait_for(&said, "Waiting(Unknown { elapsed: ");
    wait_for(&said, "Waiting(Loading { elapsed: ");
    let loaded = wait_for(&said, "Loaded(");
    assert_eq!(
        loaded,
        r#"Loaded(Loaded { name: "m:latest", size: 10, size_vram: 4, context_length: Some(32768) })"#
    );
    let reading = wait_for(&said, "Waiting(Reading { elapsed: ");
    assert!(
        reading.contains("new_tokens: 9400, left: Some(9"),
        "{reading}"
    );
    go.send(()).expect("the peer waits");
    chat.join().expect("no panic").expect("a reply");
    assert_eq!(peer.count("POST /api/chat"), 1);
    // It goes on asking while it waits, as long as that takes here.
    assert!(peer.count("GET /api/ps") >= 2);
}

#[test]
fn the_tap_sees_every_boundary() {
    let peer = Peer::answering(vec![chunked(&[RECORDED.as_bytes()])]);
    let log = Arc::new(Mutex::new(Vec::new()));
    let kept = log.clone();
    let tap = Tap(Some(Arc::new(move |stage: &Stage<'_>| {
        let mut log = kept.lock().expect("not poisoned");
        let (name, bytes): (&str, Vec<u8>) = match stage {
            Stage::ExchangeBegins(what) => ("begins", what.as_bytes().to_vec()),
            Stage::RequestBytes(bytes) => ("request", bytes.to_vec()),
            Stage::WireBytes(bytes) => ("wire", bytes.to_vec()),
            Stage::BodyBytes(bytes) => ("body", bytes.to_vec()),
            Stage::Record(bytes) => ("record", bytes.to_vec()),
            Stage::ExchangeEnds => ("ends", Vec::new()),
            other => panic!("{other:?} is not of this folder"),
        };
        log.push((name.to_string(), bytes));
    })));
    let backend = Backend::ollama(&options(peer.port()), tap);
    let cancel = Cancel::new().expect("a switch");
    let mut body = backend.begin(&shape());
    body.push(&Message::User {
        text: "go".to_string(),
    });
    backend
        .chat(&shape(), &body, &plain_chat(), &cancel, &mut |_| {})
        .expect("a reply");
    let log = log.lock().expect("not poisoned");
    let all = |name: &str| -> Vec<u8> {
        let parts = log.iter().filter(|(kind, _)| kind == name);
        parts.flat_map(|(_, bytes)| bytes.clone()).collect()
    };
    assert_eq!(log.first().map(|(name, _)| name.as_str()), Some("begins"));
    assert_eq!(log.last().map(|(name, _)| name.as_str()), Some("ends"));
    assert_eq!(all("begins"), b"POST /api/chat");
    assert_eq!(
        all("request"),
        [peer.asked()[0].head.as_bytes(), &body.slices().concat()].concat()
    );
    assert_eq!(all("wire"), chunked(&[RECORDED.as_bytes()]));
    assert_eq!(all("body"), RECORDED.as_bytes());
    assert_eq!(log.iter().filter(|(name, _)| name == "record").count(), 5);
}

#[test]
fn pieces_handed_on_are_at_most_32_kib_and_whole_characters() {
    let text = "aé".repeat(50_000);
    let record = format!(r#"{{"message":{{"content":"{text}"}},"done":true}}"#);
    let peer = Peer::streaming(record.as_bytes());
    let backend = Backend::ollama(&options(peer.port()), Tap::default());
    let cancel = Cancel::new().expect("a switch");
    let mut pieces = Vec::new();
    let body = backend.begin(&shape());
    let result = backend.chat(&shape(), &body, &plain_chat(), &cancel, &mut |progress| {
        if let Progress::Content(piece) = progress {
            pieces.push(piece.to_string());
        }
    });
    result.expect("a reply");
    assert!(pieces.iter().all(|piece| piece.len() <= 32 << 10) && pieces.len() > 1);
    assert_eq!(pieces.concat(), text);
}

#[test]
fn a_time_out_is_final() {
    let (hold, held) = channel::<()>();
    let held = Mutex::new(held);
    let peer = Peer::start(move |_, _| {
        // Until the test is over: a closed channel is as good.
        let _ = held.lock().expect("not poisoned").recv();
    });
    let mut options = options(peer.port());
    options.timeouts.first_byte = Some(Duration::from_millis(300));
    let backend = Backend::ollama(&options, Tap::default());
    let cancel = Cancel::new().expect("a switch");
    let body = backend.begin(&shape());
    let result = backend.chat(&shape(), &body, &plain_chat(), &cancel, &mut |_| {});
    let text = result.expect_err("an error").to_string();
    assert!(
        text.ends_with("; if the model is only slow, set `--first-byte-timeout` higher or `off`"),
        "{text}"
    );
    assert_eq!(peer.count("POST /api/chat"), 1);
    drop(hold);
}

#[test]
fn a_lone_closing_tag_and_an_unfinished_thought() {
    let ending = |content: &str, thinking: &str| {
        let line = format!(
            r#"{{"message":{{"content":"{content}","thinking":"{thinking}"}},"done":true}}"#
        );
        let reply = talk(&Peer::streaming(line.as_bytes())).0.expect("a reply");
        (reply.thinking, reply.content, reply.notes.len())
    };
    let expect = |thinking: &str, content: &str, notes: usize| {
        let text = |text: &str| Arc::new(text.to_string());
        (text(thinking), text(content), notes)
    };
    assert_eq!(
        ending("plan...</think>answer", ""),
        expect("plan...", "answer", 0)
    );
    assert_eq!(
        ending("</think>\\n\\nanswer", "t"),
        expect("t", "answer", 0)
    );
    assert_eq!(
        ending("<think>never closed", ""),
        expect("never closed", "", 1)
    );
    // A mention is no tag.
    for mention in [
        "Close it with `</think>` always.",
        "> It wrote </think> there.",
        "```\\n</think>\\n```",
        "say <think>x</think>",
    ] {
        assert_eq!(
            ending(mention, ""),
            expect("", &mention.replace("\\n", "\n"), 0)
        );
    }
    assert_eq!(ending("a </think> b", "t"), expect("t", "a </think> b", 0));
}
