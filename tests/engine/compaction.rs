//! Conversations that are longer than the window: when they are shortened, what the model sees then, and that it never goes on for ever.

use super::drive::{Run, check_prefixes, show};
use super::fake::{Chat, Scene, call, content, counted, thinking};
use super::guidance::{guide, write_skill};
use crate::support::temp::Temp;
use std::time::Duration;
use zcoder::engine::{Compaction, Setup};
use zcoder::json::{Tree, Value};
use zcoder::model::{Backend, ToolStyle};
use zcoder::policy::Profile;
use zcoder::protocol::{ContextReport, Event, Message, Op, Part, Status, Waiting};
use zcoder::session::Store;

/// One message of a request.
#[derive(Debug)]
struct Seen {
    role: String,
    text: String,
    /// `read_file {"path":"a"}`
    calls: Vec<String>,
}

fn seen(body: &[u8]) -> Vec<Seen> {
    let tree = Tree::parse(body).expect("JSON");
    let messages = tree.root().get("messages").expect("messages").items();
    let text = |value: Option<Value<'_>>| value.and_then(Value::as_str).unwrap_or("").to_string();
    messages
        .map(|message| {
            let calls = message.get("tool_calls").into_iter().flat_map(Value::items);
            let calls = calls.map(|call| {
                let function = call.get("function").expect("function");
                let arguments = function.get("arguments").expect("arguments").to_tree();
                format!("{} {arguments}", text(function.get("name")))
            });
            Seen {
                role: text(message.get("role")),
                text: text(message.get("content")),
                calls: calls.collect(),
            }
        })
        .collect()
}

/// The bytes of the messages.
fn messages(body: &[u8]) -> &[u8] {
    let text = std::str::from_utf8(body).expect("UTF-8");
    let start = text.find(r#""messages":["#).expect("messages");
    body[start..].strip_suffix(b"]}").expect("closed")
}

fn is_for_checkpoint(body: &[u8]) -> bool {
    let seen = seen(body);
    let last = seen.last().expect("a message");
    last.role == "user"
        && last
            .text
            .contains("the conversation is about to be shortened")
        || last.text.contains("Write the checkpoint again")
}

const CHECKPOINT: &str =
    r#"{"goal":["read them all"],"files":["f.txt: a number"],"next":["read the next one"]}"#;

/// A reply of a server for which four bytes are a token.
fn reply(record: String, body: &[u8]) -> Chat {
    Chat::Records(vec![record, counted("stop", body.len() / 4)])
}

fn small_window(setup: &mut Setup) {
    setup.model.num_ctx = Some(8_192);
}

fn compactions(events: &[Event]) -> Vec<String> {
    let lines = show(events).into_iter();
    let told = |line: &String| {
        let begin = ["compact", "not compacted", "warning: two"];
        begin.iter().any(|begin| line.starts_with(begin))
    };
    lines.filter(told).collect()
}

fn status(events: &[Event]) -> &Status {
    match events.last() {
        Some(Event::TurnEnded { receipt, .. }) => &receipt.status,
        other => panic!("{other:?}"),
    }
}

// ---- long conversations ----

/// Reads the file that the user names; asked for the beginning, says what the first request was.
fn reader(number: usize, body: &[u8]) -> Chat {
    let seen = seen(body);
    let last = seen.last().expect("a message");
    if is_for_checkpoint(body) {
        return reply(content(CHECKPOINT), body);
    }
    if last.role == "tool" {
        return reply(content(&format!("It says {}.", last.text)), body);
    }
    if let Some(file) = last.text.strip_prefix("read ") {
        let arguments = format!(r#"{{"path":"{file}"}}"#);
        return reply(call(&format!("c{number}"), "read_file", &arguments), body);
    }
    let mut users = seen.iter().filter(|message| message.role == "user");
    let first = users.find(|message| !message.text.starts_with("[note"));
    reply(content(&first.expect("a request").text), body)
}

#[test]
fn four_hundred_turns_on_a_small_window_end_with_the_first_request_in_the_prompt() {
    let first = "Remember «this», word for word: \"ü\" \\ 42.";
    let run = Run::start(Scene::played_by(reader), |temp, setup| {
        small_window(setup);
        for n in 0..400 {
            temp.write(
                &format!("work/f{n}.txt"),
                format!("the number {n} {}", "and more ".repeat(20)),
            );
        }
    });
    run.turn(first);
    let mut count = 0;
    for n in 0..400 {
        let events = run.turn(&format!("read f{n}.txt"));
        assert_eq!(status(&events), &Status::Done, "{n}: {:#?}", show(&events));
        for event in &events {
            match event {
                Event::Compacted {
                    before,
                    after,
                    count: number,
                    ..
                } => {
                    count += 1;
                    assert_eq!(*number, count);
                    assert!(after + 2_048 <= *before, "{before} to {after}");
                }
                Event::CompactionFailed { reason } => panic!("{n}: {reason}"),
                _ => {}
            }
        }
    }
    let events = run.turn("what was first?");
    let Some(Event::TurnEnded { receipt, .. }) = events.last() else {
        panic!("{events:?}");
    };
    assert_eq!(
        (&receipt.status, receipt.answer.as_str()),
        (&Status::Done, first)
    );
    assert!(count >= 10, "{count} compactions");
    let chats = run.finish();
    for body in &chats {
        assert!(body.len() / 4 <= 8_192, "{} bytes", body.len());
        let seen = seen(body);
        let users = seen
            .iter()
            .filter(|m| m.role == "user" && !m.text.starts_with("[note"));
        let users: Vec<&str> = users.map(|message| message.text.as_str()).collect();
        assert_eq!(users.first(), Some(&first));
    }
}

#[test]
fn each_window_has_room_for_long_work() {
    for (window, files, bytes, least) in [
        (8_192, 40, 1_000, 2),
        (32_768, 40, 6_000, 2),
        (131_072, 24, 24_000, 2),
    ] {
        let run = Run::start(Scene::played_by(worker), |temp, setup| {
            setup.model.num_ctx = Some(window);
            for n in 0..files {
                temp.write(
                    &format!("work/f{n}.txt"),
                    format!("{n} {}", "word ".repeat(bytes / 5)),
                );
            }
            temp.write(&format!("work/f{}.txt", files - 1), "the end");
        });
        let events = run.turn("read f0.txt, then the next one, until one says that it is the end");
        assert_eq!(
            status(&events),
            &Status::Done,
            "{window}: {:#?}",
            compactions(&events)
        );
        let told = compactions(&events);
        let made = told
            .iter()
            .filter(|line| line.starts_with("compacted "))
            .count();
        assert!(made >= least, "{window}: {told:#?}");
        assert_eq!(told.len(), made * 2, "{window}: {told:#?}");
        for body in run.finish() {
            assert!(
                body.len() / 4 <= window as usize,
                "{window}: {} bytes",
                body.len()
            );
        }
    }
}

/// Reads one file after the other in one turn. Where it was it finds in the calls that it sees, or in the checkpoint.
fn worker(number: usize, body: &[u8]) -> Chat {
    let seen = seen(body);
    if is_for_checkpoint(body) {
        return reply(content(CHECKPOINT), body);
    }
    let last = seen.last().expect("a message");
    if last.text.contains("the end") && last.role == "tool" {
        return reply(content("All read."), body);
    }
    let made = seen.iter().flat_map(|message| &message.calls);
    let numbers = made.filter_map(|call| number_in(call));
    let noted = seen
        .iter()
        .filter(|message| message.text.contains("Checkpoint:"));
    let noted = noted.filter_map(|message| number_in(message.text.rsplit("read_file ").next()?));
    let next = numbers.chain(noted).max().map_or(0, |number| number + 1);
    let arguments = format!(r#"{{"path":"f{next}.txt"}}"#);
    reply(call(&format!("c{number}"), "read_file", &arguments), body)
}

/// The number of the last file that is named.
fn number_in(text: &str) -> Option<u64> {
    let (before, _) = text.rsplit_once(".txt")?;
    before.rsplit_once('f')?.1.parse().ok()
}

// ---- never for ever ----

/// Wants to see three files at once and reads again whichever it does not see. Three bytes are a token.
fn forgetful(number: usize, body: &[u8]) -> Chat {
    let done = counted("stop", body.len() / 3);
    if is_for_checkpoint(body) {
        return Chat::Records(vec![content(CHECKPOINT), done]);
    }
    let text = String::from_utf8_lossy(body);
    for name in ["a", "b", "c"] {
        if !text.contains(&format!("begin {name}")) {
            let arguments = format!(r#"{{"path":"{name}.txt"}}"#);
            let call = call(&format!("c{number}"), "read_file", &arguments);
            return Chat::Records(vec![call, done]);
        }
    }
    Chat::Records(vec![content("Seen all three."), done])
}

fn three_files(temp: &Temp, bytes: usize) {
    for name in ["a", "b", "c"] {
        let text = format!("begin {name} {}", "word ".repeat(bytes / 5));
        temp.write(&format!("work/{name}.txt"), &text);
    }
}

#[test]
fn three_files_that_fit_are_read_once() {
    let run = Run::start(Scene::played_by(forgetful), |temp, setup| {
        small_window(setup);
        three_files(temp, 4_000);
    });
    let events = run.turn("compare a.txt, b.txt and c.txt");
    assert_eq!(status(&events), &Status::Done, "{:#?}", show(&events));
    assert_eq!(run.finish().len(), 4);
}

#[test]
fn three_files_that_do_not_fit_together_end_the_turn_and_not_the_patience() {
    let run = Run::start(Scene::played_by(forgetful), |temp, setup| {
        small_window(setup);
        // Each is as large as a whole read may be.
        three_files(temp, 6_100);
    });
    let events = run.turn("compare a.txt, b.txt and c.txt");
    let Status::Limit { which } = status(&events) else {
        panic!("{:#?}", show(&events));
    };
    assert!(which.contains("the same"), "{which}");
    let chats = run.finish();
    assert!(chats.len() < 40, "{} requests", chats.len());
    assert!(chats.iter().any(|body| is_for_checkpoint(body)));
}

#[test]
fn a_turn_that_needs_too_many_ends() {
    let run = Run::start(Scene::played_by(worker), |temp, setup| {
        small_window(setup);
        setup.compaction = Compaction {
            per_turn: 2,
            ..Compaction::default()
        };
        for n in 0..60 {
            temp.write(
                &format!("work/f{n}.txt"),
                format!("{n} {}", "word ".repeat(200)),
            );
        }
    });
    let events = run.turn("read f0.txt, then the next one");
    let which = "the conversation was compacted 2 times in this turn (--max-compactions); a larger window (--context-window) needs fewer, \
                 and so does a smaller task";
    assert_eq!(
        status(&events),
        &Status::Limit {
            which: which.to_string()
        }
    );
    // The next turn may do it again.
    let events = run.turn("go on");
    let made = compactions(&events).len();
    assert_eq!(made, 4, "{:#?}", compactions(&events));
    run.finish();
}

#[test]
fn two_that_come_to_nothing_are_the_last_ones() {
    // The model answers, but never with a checkpoint.
    fn mute(number: usize, body: &[u8]) -> Chat {
        match is_for_checkpoint(body) {
            true => reply(content(" "), body),
            false => worker(number, body),
        }
    }
    let run = Run::start(Scene::played_by(mute), |temp, setup| {
        setup.model.num_ctx = Some(32_768);
        setup.compaction = Compaction {
            percent: Some(20),
            ..Compaction::default()
        };
        for n in 0..60 {
            temp.write(
                &format!("work/f{n}.txt"),
                format!("{n} {}", "word ".repeat(600)),
            );
        }
    });
    let events = run.turn("read f0.txt, then the next one");
    let Status::Limit { which } = status(&events) else {
        panic!("{:#?}", show(&events));
    };
    assert!(
        which.starts_with("the next request has about 3")
            && which.contains(" tokens and the window holds 32,768; use a larger window"),
        "{which}"
    );
    let told = compactions(&events);
    let nothing = "not compacted: the model wrote no checkpoint, also in plain words";
    assert!(told[0].starts_with("compacting 6"), "{told:#?}");
    assert_eq!(told[1], nothing);
    // Armed above the size at which it failed.
    assert!(
        told[2].starts_with("compacting 9") || told[2].starts_with("compacting 8"),
        "{told:#?}"
    );
    assert_eq!(told[3], nothing);
    assert_eq!(
        told[4],
        "warning: two compactions in a row came to nothing, so it is not tried again by itself; when the window of 32,768 tokens is full, \
         the turn ends. A larger window helps (--context-window), or a new session with a smaller task"
    );
    assert_eq!(told.len(), 5, "{told:#?}");
    // The history stayed as it was.
    let chats = run.finish();
    let (asked, worked): (Vec<_>, Vec<_>) =
        chats.into_iter().partition(|body| is_for_checkpoint(body));
    // Each: three tries for an object, one in plain words.
    assert_eq!(asked.len(), 8);
    check_prefixes(&worked);
}

// ---- what the model is asked, and what comes of its answers ----

/// Answers two prompts at such length that an 8k window has no room for a third one.
fn filled(chats: Vec<Chat>) -> Vec<Chat> {
    let long = |tokens| {
        Chat::Records(vec![
            content(&"long answer ".repeat(650)),
            counted("stop", tokens),
        ])
    };
    let mut all = vec![long(1_450), long(4_090)];
    all.extend(chats);
    all
}

/// Two prompts with long answers, then a third one: what is told of the compaction before it, and the requests from there on.
fn third_turn(chats: Vec<Chat>) -> (Vec<String>, Vec<Vec<u8>>) {
    let run = Run::start(Scene::new(filled(chats)), |_, setup| small_window(setup));
    run.turn("the first request");
    run.turn("the second one");
    let told = compactions(&run.turn("the third one"));
    let chats = run.finish();
    (told, chats[2..].to_vec())
}

fn answered(text: &str, reason: &str) -> Chat {
    Chat::Records(vec![content(text), counted(reason, 6_900)])
}

fn last_text(body: &[u8]) -> String {
    seen(body).pop().expect("a message").text
}

#[test]
fn the_request_for_a_checkpoint_goes_on_from_the_one_before() {
    let (told, chats) = third_turn(vec![answered(CHECKPOINT, "stop"), answered("ok", "stop")]);
    assert_eq!(told.len(), 2, "{told:#?}");
    let [asked, after] = &chats[..] else {
        panic!("{} requests", chats.len());
    };
    let text = String::from_utf8_lossy(asked);
    assert!(
        text.contains(r#""num_ctx":8192,"num_predict":819}"#),
        "{text}"
    );
    assert!(last_text(asked).starts_with("[note from zcoder, not from the user] Stop here:"));
    // All that the model saw so far, and the third request.
    let texts: Vec<String> = seen(asked)
        .into_iter()
        .map(|message| message.text)
        .collect();
    assert_eq!(texts[2], "the first request");
    assert_eq!(
        texts[4..7].iter().map(String::len).collect::<Vec<_>>(),
        [14, 7_800, 13]
    );
    let shown: Vec<String> = seen(after)
        .into_iter()
        .map(|message| message.text)
        .collect();
    assert_eq!(shown.len(), 6, "{shown:#?}");
    assert_eq!(shown[0..3], texts[0..3]);
    assert!(
        shown[3].starts_with("[note from zcoder, not from the user] Checkpoint: the messages that stood here were left out"),
        "{}",
        shown[3]
    );
    assert!(
        shown[3].contains(
            "\n\nGoal\n- read them all\nFiles\n- f.txt: a number\nNext\n- read the next one\n\n"
        ),
        "{}",
        shown[3]
    );
    assert_eq!(shown[4..], ["the second one", "the third one"]);
    assert!(!String::from_utf8_lossy(after).contains("num_predict"));
}

#[test]
fn an_answer_that_cannot_be_used_is_corrected_twice_and_then_plain_words_do() {
    let broken = |text: &str| answered(text, "stop");
    let (told, chats) = third_turn(vec![
        broken("Sure, here it comes."),
        broken(r#"{"goal":["all"]}"#),
        broken(CHECKPOINT),
        broken("ok"),
    ]);
    assert!(told[1].starts_with("compacted"), "{told:#?}");
    let corrections: Vec<String> = chats[1..3].iter().map(|body| last_text(body)).collect();
    let begin = "[note from zcoder, not from the user] That could not be used: ";
    assert!(corrections[0].starts_with(&format!("{begin}it holds no JSON object. ")));
    assert!(corrections[1].starts_with(&format!("{begin}`next` is missing or empty. ")));
    check_prefixes(&chats[..3]);

    let (told, chats) = third_turn(vec![
        broken("No."),
        broken(""),
        broken(r#"{"goal":["all"],"next":"go"} {"goal":1}"#),
        broken("The goal is to read them all."),
        broken("ok"),
    ]);
    assert!(told[1].starts_with("compacted"), "{told:#?}");
    assert_eq!(chats.len(), 5);
    assert!(last_text(&chats[3]).contains("150 plain words"));
    assert!(
        String::from_utf8_lossy(&chats[4]).contains(r"before:\n\nThe goal is to read them all.\n")
    );
}

#[test]
fn an_answer_cut_by_its_bound_is_not_asked_for_again() {
    let (told, chats) = third_turn(vec![
        answered(r#"{"goal":["all"],"next":["rea"#, "length"),
        answered("Read them a", "length"),
        answered("ok", "stop"),
    ]);
    assert!(told[1].starts_with("compacted"), "{told:#?}");
    assert_eq!(chats.len(), 3);
    assert!(last_text(&chats[1]).contains("150 plain words"));
    assert!(String::from_utf8_lossy(&chats[1]).contains(r#""num_predict":819"#));
    // The bound went to thinking that could not be switched off.
    let (told, chats) = third_turn(vec![
        Chat::Records(vec![thinking("hm"), counted("length", 6_900)]),
        answered("Read them all.", "stop"),
        answered("ok", "stop"),
    ]);
    assert!(told[1].starts_with("compacted"), "{told:#?}");
    assert!(String::from_utf8_lossy(&chats[1]).contains(r#""num_predict":3276"#));
    // A whole object is one, whatever ended the answer.
    let (told, chats) = third_turn(vec![answered(CHECKPOINT, "length"), answered("ok", "stop")]);
    assert!(told[1].starts_with("compacted"), "{told:#?}");
    assert_eq!(chats.len(), 2);
}

#[test]
fn no_call_of_such_an_answer_is_taken_up() {
    let write = call("c1", "write_file", r#"{"path":"made.txt","content":"x"}"#);
    let (told, chats) = third_turn(vec![
        Chat::Records(vec![write, counted("stop", 6_900)]),
        answered(CHECKPOINT, "stop"),
        answered("ok", "stop"),
    ]);
    assert!(told[1].starts_with("compacted"), "{told:#?}");
    assert!(last_text(&chats[1]).contains("it calls a tool"));
    assert_eq!(chats.len(), 3);
}

#[test]
fn a_server_that_fails_leaves_all_as_it_is() {
    let run = Run::start(
        Scene::new(filled(vec![
            Chat::Status(404, r#"{"error":"model 'm' not found"}"#.to_string()),
            answered("ok", "stop"),
        ])),
        |_, setup| small_window(setup),
    );
    run.turn("the first request");
    run.turn("the second one");
    let events = run.turn("the third one");
    assert_eq!(status(&events), &Status::Done);
    let told = compactions(&events);
    assert!(
        told[1].starts_with("not compacted: the model gave no checkpoint: "),
        "{told:#?}"
    );
    let chats = run.finish();
    let worked: Vec<Vec<u8>> = chats
        .into_iter()
        .filter(|body| !is_for_checkpoint(body))
        .collect();
    check_prefixes(&worked);
}

#[test]
fn thinking_is_switched_off_for_a_checkpoint_and_left_out_after_it() {
    let show = r#"{"capabilities":["completion","tools","thinking"],"details":{"parameter_size":"32B"},"model_info":{"general.architecture":"t","t.context_length":32768}}"#;
    let chats = vec![
        Chat::Records(vec![
            thinking("deep thought"),
            call("c1", "read_file", r#"{"path":"a.txt"}"#),
            counted("stop", 1_450),
        ]),
        Chat::Records(vec![content("a"), counted("stop", 1_500)]),
        Chat::Records(vec![content(&"b".repeat(16_000)), counted("stop", 1_550)]),
        Chat::Records(vec![
            thinking("second thought"),
            content("c"),
            counted("stop", 6_500),
        ]),
        answered(CHECKPOINT, "stop"),
        answered("d", "stop"),
    ];
    let mut scene = Scene::new(chats);
    scene.show = show.to_string();
    let run = Run::start(scene, |temp, setup| {
        small_window(setup);
        setup.compaction.percent = None;
        temp.write("work/a.txt", "text");
    });
    for text in ["one", "two", "three"] {
        run.turn(text);
    }
    run.say(Op::Compact);
    run.until(|event| matches!(event, Event::Compacted { .. }));
    run.turn("four");
    let chats = run.finish();
    let text = |n: usize| String::from_utf8_lossy(&chats[n]).into_owned();
    assert!(!text(3).contains(r#""think":"#) && text(3).contains("deep thought"));
    assert!(text(4).contains(r#""think":false"#), "{}", text(4));
    // The same bytes from the first message on, as far as there were any.
    assert!(messages(&chats[4]).starts_with(messages(&chats[3])));
    let last = text(5);
    assert!(
        !last.contains("thought") && !last.contains(r#""think":"#),
        "{last}"
    );
    assert!(
        last.contains(r#"{"role":"assistant","content":"c"}"#),
        "{last}"
    );
}

#[test]
fn long_results_are_cut_where_the_request_for_a_checkpoint_would_not_fit() {
    // Three whole reads in one reply: far more than the window.
    let reads = ["a", "b", "c"].map(|name| {
        let arguments = format!(r#"{{"path":"{name}.txt"}}"#);
        call(&format!("c{name}"), "read_file", &arguments)
    });
    let mut records = reads.to_vec();
    records.push(counted("stop", 4_000));
    let chats = vec![
        Chat::Records(vec![
            content(&"long answer ".repeat(600)),
            counted("stop", 900),
        ]),
        Chat::Records(records),
        answered(CHECKPOINT, "stop"),
        answered("ok", "stop"),
    ];
    let run = Run::start(Scene::new(chats), |temp, setup| {
        small_window(setup);
        three_files(temp, 6_100);
    });
    run.turn("the first request");
    let events = run.turn("compare them");
    assert_eq!(
        status(&events),
        &Status::Done,
        "{:#?}",
        compactions(&events)
    );
    let chats = run.finish();
    let asked = String::from_utf8_lossy(&chats[2]);
    assert!(
        asked.contains("begin a") && asked.contains("bytes left out here]"),
        "{asked}"
    );
    assert!(asked.len() / 3 < 8_192, "{} bytes", asked.len());
    let after = String::from_utf8_lossy(&chats[3]);
    assert!(!after.contains("begin a"), "{after}");
    assert!(
        after.contains(r#"since the message \"compare them\": read_file a.txt; read_file b.txt; read_file c.txt\n"#),
        "{after}"
    );
}

#[test]
fn a_request_that_the_server_finds_too_long_is_shortened_and_sent_again() {
    let refusal = r#"{"error":"{\"error\":{\"code\":400,\"message\":\"request (8400 tokens) exceeds the available context size (8192 tokens), try increasing it\",\"type\":\"exceed_context_size_error\",\"n_prompt_tokens\":8400,\"n_ctx\":8192}}"}"#;
    let refused = || Chat::Status(400, refusal.to_string());
    let long = || {
        Chat::Records(vec![
            content(&"1234567 ".repeat(1_000)),
            counted("stop", 900),
        ])
    };
    // One token a byte, nearly: more than was thought.
    let chats = vec![
        long(),
        refused(),
        refused(),
        answered(CHECKPOINT, "stop"),
        answered("ok", "stop"),
    ];
    let run = Run::start(Scene::new(chats), |_, setup| small_window(setup));
    run.turn("the first request");
    let events = run.turn("the second one");
    assert_eq!(status(&events), &Status::Done, "{:#?}", show(&events));
    let told = compactions(&events);
    assert_eq!(told[0], "compacting 8400 of 8192");
    assert!(told[1].starts_with("compacted 8400 to "), "{told:#?}");
    let chats = run.finish();
    assert!(is_for_checkpoint(&chats[2]) && is_for_checkpoint(&chats[3]));
    // The first try at it was refused as well: the second one holds less.
    assert!(chats[3].len() < chats[2].len());
}

#[test]
fn a_checkpoint_as_long_as_what_it_stands_for_is_not_used() {
    let answer = |bytes: usize, tokens| {
        Chat::Records(vec![content(&"x".repeat(bytes)), counted("stop", tokens)])
    };
    let long = "much to say ".repeat(180);
    let object = format!(r#"{{"goal":["{long}"],"next":["go on"]}}"#);
    let chats = vec![
        answer(6_500, 1_450),
        answer(2_900, 3_650),
        answered(&object, "stop"),
        answered("ok", "stop"),
    ];
    let run = Run::start(Scene::new(chats), |_, setup| {
        small_window(setup);
        setup.compaction.percent = Some(50);
    });
    run.turn("the first request");
    run.turn("the second one");
    let told = compactions(&run.turn("the third one"));
    assert!(
        told[1].starts_with("not compacted: it would free only about 1,"),
        "{told:#?}"
    );
    let chats = run.finish();
    check_prefixes(&[chats[1].clone(), chats[3].clone()]);
}

/// A server that lists the model with this window, when nothing comes from it; what is said of it.
fn listed_with(before: &str, later: u64) -> Vec<String> {
    let ps = |window: u64| {
        format!(r#"{{"models":[{{"name":"m","size":1,"size_vram":1,"context_length":{window}}}]}}"#)
    };
    let mut scene = Scene::new(vec![Chat::Stuck(Vec::new())]);
    scene.ps = match before {
        "" => scene.ps,
        before => ps(before.parse().expect("a window")),
    };
    scene.ps_later = Some(ps(later));
    let run = Run::start(scene, |_, setup| {
        setup.model.delays.status = Duration::ZERO;
        setup.backend = Backend::ollama(&setup.model, setup.tap.clone());
    });
    run.prompt("hello");
    let reading = |event: &Event| {
        let waiting = match event {
            Event::Waiting { waiting, .. } => waiting,
            _ => return false,
        };
        matches!(waiting, Waiting::Reading { .. })
    };
    let told = show(&run.until(reading));
    let window = context(&run).window;
    run.say(Op::Cancel);
    run.until_ended();
    let mut said: Vec<String> = told
        .into_iter()
        .filter(|line| line.starts_with("warning: "))
        .collect();
    said.push(window.to_string());
    said
}

#[test]
fn a_smaller_window_than_asked_for_is_said_and_counts() {
    assert_eq!(listed_with("", 32_768), ["32768"]);
    let said = "warning: the server gives the model a window of 20,480 tokens, not 32,768; from now on the smaller one counts";
    assert_eq!(listed_with("", 20_480), [said, "20480"]);
    // Still the one that will make room for ours.
    assert_eq!(listed_with("8192", 8_192), ["32768"]);
}

#[test]
fn the_text_style_is_shortened_too() {
    fn reads(number: usize, body: &[u8]) -> Chat {
        let seen = seen(body);
        let results = seen
            .iter()
            .filter(|message| message.text.starts_with("<result of=\"read_file\">"));
        let shown = results.count();
        let text = if is_for_checkpoint(body) {
            CHECKPOINT.to_string()
        } else if number > 12 {
            format!("{shown} are shown.")
        } else {
            format!(
                "<function=read_file>\n<parameter=path>\nf{number}.txt\n</parameter>\n</function>"
            )
        };
        reply(content(&text), body)
    }
    let run = Run::start(Scene::played_by(reads), |temp, setup| {
        small_window(setup);
        setup.model.tool_style = ToolStyle::Text;
        for n in 0..13 {
            temp.write(
                &format!("work/f{n}.txt"),
                format!("{n} {}", "word ".repeat(600)),
            );
        }
    });
    let events = run.turn("read them");
    assert_eq!(status(&events), &Status::Done, "{:#?}", show(&events));
    let told = compactions(&events);
    assert!(
        told.len() >= 2 && told.iter().all(|line| !line.starts_with("not")),
        "{told:#?}"
    );
    for body in run.fake.chats() {
        let roles: Vec<String> = seen(&body)
            .into_iter()
            .map(|message| message.role)
            .collect();
        assert!(!roles.contains(&"tool".to_string()), "{roles:?}");
        assert!(body.len() / 4 <= 8_192);
    }
}

// ---- asked for ----

#[test]
fn a_person_may_ask_for_one_and_is_told_why_not() {
    let run = Run::start(
        Scene::new(filled(vec![answered(CHECKPOINT, "stop")])),
        |_, setup| {
            setup.compaction.percent = None;
        },
    );
    run.say(Op::Compact);
    let told = show(&run.until(|event| matches!(event, Event::Notice { .. })));
    assert_eq!(
        told,
        ["info: nothing is in the context yet, so there is nothing to compact"]
    );
    run.turn("the first request");
    run.say(Op::Compact);
    let told = show(&run.until(|event| matches!(event, Event::CompactionFailed { .. })));
    // The answer itself is recent.
    assert_eq!(told.len(), 2, "{told:#?}");
    assert!(
        told[1].contains("it would free only about 0 tokens, fewer than 2,048"),
        "{told:#?}"
    );
    run.turn("the second one");
    run.say(Op::Compact);
    let told = show(&run.until(|event| matches!(event, Event::Compacted { .. })));
    assert!(
        told.last().is_some_and(|line| line.ends_with("number 1")),
        "{told:#?}"
    );
    run.finish();
}

#[test]
fn one_that_is_stopped_changes_nothing() {
    let run = Run::start(
        Scene::new(filled(vec![
            Chat::Stuck(Vec::new()),
            answered("ok", "stop"),
        ])),
        |_, setup| {
            small_window(setup);
            setup.compaction.percent = None;
        },
    );
    run.turn("the first request");
    run.turn("the second one");
    run.say(Op::Compact);
    run.until(|event| matches!(event, Event::RequestSent { .. }));
    run.say(Op::Cancel);
    let told = show(&run.until(|event| matches!(event, Event::CompactionFailed { .. })));
    assert_eq!(
        told,
        [
            "discarded 3: the turn was stopped",
            "not compacted: it was stopped"
        ]
    );
    run.turn("the third one");
    let chats = run.finish();
    let worked: Vec<Vec<u8>> = chats
        .into_iter()
        .filter(|body| !is_for_checkpoint(body))
        .collect();
    check_prefixes(&worked);
}

#[test]
fn skills_that_were_active_are_named_after_it() {
    let chats = vec![answered(CHECKPOINT, "stop"), reply(content("ok"), b"")];
    let run = Run::start(Scene::new(filled(chats)), |temp, setup| {
        setup.compaction.percent = None;
        temp.write("work/AGENTS.md", "Use tabs.\n");
        write_skill(temp);
        guide(temp, setup);
    });
    run.turn("the first request, with $pdf");
    run.turn("the second one");
    let parts: Vec<Part> = context(&run).rows.iter().map(|row| row.part).collect();
    assert!(
        parts.contains(&Part::Guidance) && parts.contains(&Part::Skills),
        "{parts:?}"
    );
    run.say(Op::Compact);
    run.until(|event| matches!(event, Event::Compacted { .. }));
    run.turn("$pdf and the third one");
    let chats = run.finish();
    let texts: Vec<String> = seen(&chats[3]).into_iter().map(|seen| seen.text).collect();
    let said = "[note from zcoder, not from the user] Skills that were active: pdf. Their instructions may be left out above; activate what you \
        still need again.";
    let at = texts
        .iter()
        .position(|text| text == said)
        .expect("the note");
    assert!(
        texts[at + 1].contains("Skill pdf, from ~/skills/pdf/SKILL.md."),
        "{texts:#?}"
    );
    assert!(
        texts[0].ends_with("- pdf: Fills in forms."),
        "guidance stays"
    );
}

#[test]
fn a_session_is_read_back_as_the_model_saw_it() {
    let mut kept = None;
    let chats = filled(vec![answered(CHECKPOINT, "stop"), answered("ok", "stop")]);
    let run = Run::start(Scene::new(chats), |temp, setup| {
        small_window(setup);
        let root = setup.toolbox.workspace().root().to_path_buf();
        let store = Store::new(&temp.path().join("state"), &root);
        setup.log = store.begin(Profile::Coding).expect("log");
        kept = Some((store, setup.log.id().clone()));
    });
    for text in ["the first request", "the second one", "the third one"] {
        run.turn(text);
    }
    run.say(Op::Quit);
    run.until(|event| *event == Event::Closed);
    let (store, id) = kept.expect("a session");
    let opened = store.open(&id).expect("a session");
    let text = |message: &Message| match message {
        Message::System { text }
        | Message::User { text }
        | Message::Note { text, .. }
        | Message::Tool { text, .. } => text.clone(),
        Message::Assistant { content, .. } => content.to_string(),
    };
    let saved: Vec<String> = opened.log.messages().map(text).collect();
    let last = run.fake.chats().pop().expect("a request");
    let mut sent: Vec<String> = seen(&last)
        .into_iter()
        .map(|message| message.text)
        .collect();
    sent.push("ok".to_string());
    assert_eq!(saved, sent);
    // What was left out is still there.
    let records = opened
        .log
        .records()
        .iter()
        .filter_map(|record| record.message());
    assert!(
        records
            .map(text)
            .any(|text| text.starts_with("long answer "))
    );
    // It goes on from there.
    let again = Run::start(Scene::new(vec![answered("so do I", "stop")]), |_, setup| {
        small_window(setup);
        setup.log = opened.log;
    });
    again.turn("the fourth one");
    assert_eq!(context(&again).compactions, 1);
    let next = again.finish().remove(0);
    let next: Vec<String> = seen(&next)
        .into_iter()
        .map(|message| message.text)
        .collect();
    assert_eq!(next[..saved.len()], saved);
}

// ---- the parts ----

fn context(run: &Run) -> ContextReport {
    run.say(Op::Context);
    match run.until(|event| matches!(event, Event::Context(_))).pop() {
        Some(Event::Context(report)) => report,
        other => panic!("{other:?}"),
    }
}

#[test]
fn every_byte_of_the_next_request_has_its_row() {
    let read =
        |id: &str, lines: &str| call(id, "read_file", &format!(r#"{{"path":"a.txt"{lines}}}"#));
    let chats = vec![
        Chat::Records(vec![
            content("I look."),
            thinking("Where is it?"),
            read("c1", ""),
            read("c2", r#","start_line":1,"end_line":2"#),
            call("c3", "search_text", r#"{"pattern":"number"}"#),
            call("c4", "nonsense", "{}"),
            counted("stop", 1_500),
        ]),
        Chat::Records(vec![content("Found."), counted("stop", 2_000)]),
    ];
    let run = Run::start(Scene::new(chats), |temp, setup| {
        temp.write("work/a.txt", "a number\n".repeat(100));
        setup.compaction.tokens = Some(10_000);
    });
    run.say(Op::Context);
    let told = show(&run.until(|event| matches!(event, Event::Notice { .. })));
    assert_eq!(
        told,
        ["info: nothing is in the context yet: it begins with the first prompt"]
    );
    run.turn("where is the number?");
    let report = context(&run);
    let rows: Vec<(Part, &str)> = report
        .rows
        .iter()
        .map(|row| (row.part, row.what.as_str()))
        .collect();
    assert_eq!(
        rows,
        [
            (Part::Options, ""),
            (Part::Tools, ""),
            (Part::System, ""),
            (Part::Environment, ""),
            (Part::User, ""),
            (Part::Thinking, ""),
            (Part::Answers, ""),
            (Part::Calls, ""),
            (Part::Results, "read_file a.txt"),
            (Part::Results, "search_text number"),
            (Part::Results, "nonsense"),
        ]
    );
    assert_eq!(
        report.rows.iter().map(|row| row.bytes).sum::<u64>(),
        report.bytes
    );
    assert_eq!(
        report.rows.iter().map(|row| row.tokens).sum::<u64>(),
        report.tokens
    );
    assert_eq!(
        (
            report.window,
            report.counted,
            report.compacts_at,
            report.compactions
        ),
        (32_768, Some(2_000), Some(10_000), 0)
    );
    assert!(
        report.tokens >= 2_000 && report.tokens < 2_100,
        "{}",
        report.tokens
    );
    let bytes = report.bytes;
    let chats = run.finish();
    // The answer is new since the last request.
    let answer = r#",{"role":"assistant","content":"Found."}"#.len() as u64;
    assert_eq!(bytes, chats[1].len() as u64 + answer);
}
