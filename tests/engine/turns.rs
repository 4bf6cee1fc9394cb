//! Whole turns: every event, in order.

use super::drive::{Run, after_opening, allow_commands, check_prefixes, show};
use super::fake::{Chat, Scene, call, calls, content, done, says, thinking};
use std::sync::{Arc, Mutex};
use zcoder::protocol::{Event, FileChange, Message, Op, Receipt, Stage, Status, Tap};

fn receipt(events: &[Event]) -> &Receipt {
    match events.last() {
        Some(Event::TurnEnded { receipt, .. }) => receipt,
        other => panic!("not the end of a turn: {other:?}"),
    }
}

#[test]
fn an_answer_without_calls() {
    let reply = Chat::Records(vec![
        thinking("A greet"),
        thinking("ing."),
        content("Hel"),
        content("lo."),
        done("stop"),
    ]);
    let run = Run::start(Scene::new(vec![reply]), |_, _| {});
    let events = run.turn("hi");
    assert_eq!(
        show(&events),
        [
            "turn 1",
            "model m: named by --model; 32768: all the model was trained for",
            "sent 1",
            "thinking 1: A greeting.",
            "content 1: Hello.",
            "replied 1: Stop",
            "turn 1 ended: Done; done",
        ]
    );
    let receipt = receipt(&events);
    assert_eq!(*receipt.answer, "Hello.");
    assert_eq!((receipt.calls, receipt.requests), (0, 1));
    assert_eq!((receipt.prompt_tokens, receipt.output_tokens), (900, 40));
    assert_eq!(
        run.fake.lines(),
        ["POST /api/show", "GET /api/ps", "POST /api/chat"]
    );
    run.finish();
}

#[test]
fn a_search_needs_no_approval_and_its_result_is_sent() {
    let arguments = r#"{"pattern":"one|two","path":"*.txt"}"#;
    let scene = Scene::new(vec![calls(&[("c1", "search_text", arguments)]), says("ok")]);
    let run = Run::start(scene, |temp, _| {
        temp.write("work/a.txt", "one\n\ntwo\n");
    });
    assert_eq!(
        after_opening(show(&run.turn("where is it"))),
        [
            "sent 1",
            "replied 1: Stop",
            "call c1: search_text one|two in *.txt",
            "ended c1 search_text: Ok a.txt:1: one\na.txt:3: two\n2 matches in 1 file.",
            "sent 2",
            "content 2: ok",
            "replied 2: Stop",
            "turn 1 ended: Done; done",
        ]
    );
    check_prefixes(&run.finish());
}

#[test]
fn list_read_test_edit_test_answer() {
    let scene = Scene::new(vec![
        calls(&[("c1", "list_files", "{}")]),
        calls(&[("c2", "read_file", r#"{"path":"a.txt"}"#)]),
        calls(&[("c3", "run_command", r#"{"command":"sh test.sh"}"#)]),
        calls(&[(
            "c4",
            "replace_text",
            r#"{"path":"a.txt","old_text":"one","new_text":"two"}"#,
        )]),
        calls(&[("c5", "run_command", r#"{"command":"sh test.sh"}"#)]),
        says("I changed one to two; the test passes."),
    ]);
    let run = Run::start(scene, |temp, setup| {
        temp.write("work/a.txt", "one\n");
        temp.write(
            "work/test.sh",
            "grep two a.txt || { echo 'no two'; exit 3; }\n",
        );
        allow_commands(setup);
    });
    let events = run.turn("make the test pass");
    let lines = after_opening(show(&events));
    assert_eq!(
        lines,
        [
            "sent 1",
            "replied 1: Stop",
            "call c1: list_files .",
            "ended c1 list_files: Ok ./\n  a.txt\n  test.sh\n2 entries.",
            "sent 2",
            "replied 2: Stop",
            "call c2: read_file a.txt",
            "ended c2 read_file: Ok one\n",
            "sent 3",
            "replied 3: Stop",
            "call c3: run_command sh test.sh",
            "decided - c3: Once by Flag(\"--yes\")",
            "output c3: no two\n",
            "ended c3 run_command: Failed exit code 3\nno two\n",
            "sent 4",
            "replied 4: Stop",
            "call c4: replace_text a.txt",
            "decided - c4: Once by Rule(\"edits=auto\")",
            "ended c4 replace_text: Ok changed line 1 of `a.txt`",
            "sent 5",
            "replied 5: Stop",
            "call c5: run_command sh test.sh",
            "decided - c5: Once by Flag(\"--yes\")",
            "output c5: two\n",
            "ended c5 run_command: Ok exit code 0\ntwo\n",
            "sent 6",
            "content 6: I changed one to two; the test passes.",
            "replied 6: Stop",
            "turn 1 ended: Done; done",
        ]
    );
    let receipt = receipt(&events);
    let file = FileChange {
        path: "a.txt".to_string(),
        added: 1,
        removed: 1,
        created: false,
        deleted: false,
        executable: None,
    };
    assert_eq!(receipt.files, [file]);
    let commands: Vec<_> = receipt
        .commands
        .iter()
        .map(|run| (run.command.as_str(), run.exit))
        .collect();
    assert_eq!(commands, [("sh test.sh", Some(3)), ("sh test.sh", Some(0))]);
    assert_eq!((receipt.calls, receipt.requests), (5, 6));
    assert_eq!((receipt.prompt_tokens, receipt.output_tokens), (5400, 240));
    assert_eq!(run.temp.read("work/a.txt"), b"two\n");
    // Model calls are tool rounds plus one; nothing else but one show and one ps.
    let mut lines = run.fake.lines();
    lines.retain(|line| line != "POST /api/chat");
    assert_eq!(lines, ["POST /api/show", "GET /api/ps"]);
    let chats = run.finish();
    assert_eq!(chats.len(), 6);
    check_prefixes(&chats);
}

#[test]
fn two_calls_in_one_reply_run_in_order_and_one_may_fail() {
    let scene = Scene::new(vec![
        calls(&[
            ("c1", "read_file", r#"{"path":"missing.txt"}"#),
            ("c2", "read_file", r#"{"path":"a.txt"}"#),
        ]),
        says("ok"),
    ]);
    let run = Run::start(scene, |temp, _| {
        temp.write("work/a.txt", "text\n");
    });
    let lines = after_opening(show(&run.turn("read")));
    assert_eq!(lines[2], "call c1: read_file missing.txt");
    assert!(
        lines[3].starts_with("ended c1 read_file: Failed "),
        "{}",
        lines[3]
    );
    assert_eq!(lines[4], "call c2: read_file a.txt");
    assert!(
        lines[5].starts_with("ended c2 read_file: Ok text"),
        "{}",
        lines[5]
    );
    assert_eq!(lines.len(), 10, "{lines:#?}");
    run.finish();
}

#[test]
fn unknown_tools_and_bad_arguments_are_answered_and_the_turn_goes_on() {
    let scene = Scene::new(vec![
        calls(&[
            ("c1", "frobnicate", "{}"),
            ("c2", "read_file", r#"{"path":{"a":1}}"#),
        ]),
        says("sorry"),
    ]);
    let run = Run::start(scene, |_, _| {});
    let lines = after_opening(show(&run.turn("go")));
    assert_eq!(lines[2], "call c1: frobnicate");
    assert!(
        lines[3].starts_with("ended c1 frobnicate: Failed "),
        "{}",
        lines[3]
    );
    assert!(
        lines[3].contains("read_file"),
        "lists the tools: {}",
        lines[3]
    );
    assert!(
        lines[5].starts_with("ended c2 read_file: Failed "),
        "{}",
        lines[5]
    );
    assert_eq!(lines.last().unwrap(), "turn 1 ended: Done; done");
    run.finish();
}

#[test]
fn a_call_found_in_the_text_is_run_and_marked() {
    let scene = Scene::new(vec![
        says(r#"{"name":"read_file","arguments":{"path":"a.txt"}}"#),
        says("done"),
    ]);
    let run = Run::start(scene, |temp, _| {
        temp.write("work/a.txt", "text\n");
    });
    let lines = after_opening(show(&run.turn("read")));
    assert!(
        lines.contains(&"replied 1: Stop, recovered".to_string()),
        "{lines:#?}"
    );
    assert!(
        lines.iter().any(|line| line.ends_with(": read_file a.txt")),
        "{lines:#?}"
    );
    let chats = run.finish();
    assert_eq!(chats.len(), 2);
    check_prefixes(&chats);
}

#[test]
fn finish_task_ends_the_turn_alone_and_is_refused_beside_other_calls() {
    let finish = r#"{"status":"blocked","response":"no compiler"}"#;
    let scene = Scene::new(vec![
        calls(&[("c1", "list_files", "{}"), ("c2", "finish_task", finish)]),
        calls(&[("c3", "finish_task", finish)]),
        says("second turn"),
    ]);
    let run = Run::start(scene, |_, _| {});
    let events = run.turn("build");
    let lines = after_opening(show(&events));
    assert_eq!(
        lines[4..],
        [
            "call c2: finish_task blocked",
            "ended c2 finish_task: Failed not finished: call finish_task alone, in a reply of its own, after you have seen the results of \
             your other calls",
            "sent 2",
            "replied 2: Stop",
            "call c3: finish_task blocked",
            "ended c3 finish_task: Ok the turn is over",
            "turn 1 ended: Blocked; model says blocked",
        ]
    );
    assert_eq!(*receipt(&events).answer, "no compiler");
    assert_eq!(
        show(&run.turn("again")).last().unwrap(),
        "turn 2 ended: Done; done"
    );
    check_prefixes(&run.finish());
}

#[test]
fn strict_completion_needs_finish_task() {
    let scene = Scene::new(vec![
        says("done"),
        calls(&[(
            "c1",
            "finish_task",
            r#"{"status":"done","response":"all good"}"#,
        )]),
    ]);
    let run = Run::start(scene, |_, setup| setup.strict_finish = true);
    let events = run.turn("go");
    assert_eq!(
        after_opening(show(&events)),
        [
            "sent 1",
            "content 1: done",
            "replied 1: Stop",
            "warning: the model answered without finish_task; asking for it",
            "sent 2",
            "replied 2: Stop",
            "call c1: finish_task done",
            "ended c1 finish_task: Ok the turn is over",
            "turn 1 ended: Done; done",
        ]
    );
    assert_eq!(*receipt(&events).answer, "all good");
    run.finish();
}

#[test]
fn the_same_call_is_noted_at_three_and_ends_the_turn_at_five() {
    let same = calls(&[("c1", "read_file", r#"{"path":"a.txt"}"#)]);
    let run = Run::start(Scene::new(vec![same; 9]), |temp, _| {
        temp.write("work/a.txt", "text\n");
    });
    let events = run.turn("go");
    let lines = after_opening(show(&events));
    let note = "warning: the model made the same call 3 times with the same result; it was told so";
    let noted = lines.iter().position(|line| line == note).expect("a note");
    assert_eq!(lines[noted + 1], "sent 4");
    let which = "the model made the same call 5 times with the same result".to_string();
    assert_eq!(receipt(&events).status, Status::Limit { which });
    assert_eq!((receipt(&events).calls, receipt(&events).requests), (5, 5));
    let chats = run.finish();
    check_prefixes(&chats);
    let fourth = String::from_utf8_lossy(&chats[3]).into_owned();
    assert!(
        fourth.ends_with(
            "{\"role\":\"user\",\"content\":\"[note from zcoder, not from the user] You made the same call 3 times with the same \
             result. Doing it again will not change anything. Look at what the results say and try a different step, or finish with a \
             plain answer that says what stops you.\"}]}"
        ),
        "{fourth}"
    );
}

#[test]
fn a_reply_that_repeats_itself_is_cut_short_and_the_model_told_before_anything_ends() {
    let same = r#"{"path":"a.txt"}"#;
    let many: Vec<_> = ["c1", "c2", "c3", "c4", "c5", "c6", "c7"]
        .map(|id| (id, "read_file", same))
        .to_vec();
    let again = calls(&[("c8", "read_file", same)]);
    for (then, status) in [
        (says("I see"), Status::Done),
        (
            again,
            Status::Limit {
                which: "the model made the same call 6 times with the same result".to_string(),
            },
        ),
    ] {
        let run = Run::start(Scene::new(vec![calls(&many), then]), |temp, _| {
            temp.write("work/a.txt", "text\n");
        });
        let events = run.turn("go");
        let lines = after_opening(show(&events));
        let ended = |id: &str| {
            let start = format!("ended {id} ");
            let line = lines.iter().find(|line| line.starts_with(&start));
            line.expect("one result for each call").clone()
        };
        assert!(ended("c5").contains("Ok"), "{}", ended("c5"));
        for id in ["c6", "c7"] {
            assert_eq!(
                ended(id),
                format!(
                    "ended {id} read_file: Cancelled not run: this reply repeats itself; look at the results of its first calls"
                )
            );
        }
        let note =
            "warning: the model made the same call 3 times with the same result; it was told so";
        let noted = lines.iter().position(|line| line == note).expect("a note");
        assert_eq!(lines[noted + 1], "sent 2");
        assert_eq!(receipt(&events).status, status);
        run.finish();
    }
}

#[test]
fn a_prompt_that_comes_while_a_turn_runs_waits_for_its_end() {
    let run = Run::start(Scene::new(vec![says("one"), says("two")]), |_, _| {});
    run.prompt("first");
    run.prompt("second");
    let first = show(&run.until_ended());
    let second = show(&run.until_ended());
    assert_eq!(first.last().unwrap(), "turn 1 ended: Done; done");
    assert_eq!(
        second,
        [
            "turn 2",
            "sent 2",
            "content 2: two",
            "replied 2: Stop",
            "turn 2 ended: Done; done"
        ]
    );
    check_prefixes(&run.finish());
}

#[test]
fn what_is_said_in_the_wrong_moment_is_dropped() {
    let run = Run::start(Scene::new(vec![says("one")]), |_, _| {});
    run.say(Op::Cancel);
    run.say(Op::Decide {
        ask: zcoder::protocol::AskId(7),
        decision: zcoder::protocol::Decision::Once,
    });
    assert_eq!(
        show(&run.turn("go")).last().unwrap(),
        "turn 1 ended: Done; done"
    );
    run.finish();
}

#[test]
fn an_empty_prompt_is_refused_without_a_request() {
    let run = Run::start(Scene::new(vec![]), |_, _| {});
    assert_eq!(
        show(&run.turn(" \n")),
        [
            "turn 1",
            "turn 1 ended: Unusable { reason: \"the prompt is empty\" }; the prompt is empty"
        ]
    );
    assert_eq!(run.fake.lines(), Vec::<String>::new());
    run.finish();
}

#[test]
fn dropping_the_last_submit_ends_the_engine() {
    let fake = super::fake::Fake::start(Scene::new(vec![]));
    let temp = crate::support::temp::Temp::new();
    let (sender, events) = std::sync::mpsc::channel();
    let emit = Box::new(move |event| sender.send(event).expect("the test listens"));
    let submit = zcoder::engine::spawn(super::drive::setup(&fake, &temp), emit).expect("engine");
    let second = std::sync::Arc::clone(&submit);
    drop(submit);
    drop(second);
    assert_eq!(events.recv().expect("an event"), Event::Closed);
}

#[test]
fn a_reply_without_its_end_never_runs_its_calls() {
    let cut = Chat::Cut(vec![call(
        "c1",
        "write_file",
        r#"{"path":"x","content":"y"}"#,
    )]);
    let run = Run::start(Scene::new(vec![cut]), |_, _| {});
    let events = run.turn("write");
    let status = &receipt(&events).status;
    assert!(matches!(status, Status::ServerFailed { .. }), "{status:?}");
    assert_eq!(receipt(&events).calls, 0);
    assert!(!run.temp.path().join("work/x").exists());
    let lines = after_opening(show(&events));
    assert!(lines[1].starts_with("discarded 1: "), "{lines:#?}");
    run.finish();
}

#[test]
fn a_tap_sees_each_stage_in_order() {
    let seen = Arc::new(Mutex::new(Vec::new()));
    let sink = Arc::clone(&seen);
    let scene = Scene::new(vec![
        calls(&[
            ("c1", "list_files", "{}"),
            ("c2", "run_command", r#"{"command":"true"}"#),
        ]),
        says("ok"),
    ]);
    let run = Run::start(scene, |_, setup| {
        allow_commands(setup);
        setup.tap = Tap(Some(Arc::new(move |stage: &Stage<'_>| {
            let line = match stage {
                Stage::Op(Op::Prompt { .. }) => "op prompt".to_string(),
                Stage::Op(_) => return,
                Stage::Reply(message) => match message {
                    Message::Assistant { calls, .. } => format!("reply with {} calls", calls.len()),
                    other => format!("reply {other:?}"),
                },
                Stage::Verdict(words) => format!("verdict {words}"),
                Stage::Outcome(outcome) => format!("outcome {:?}", outcome.status),
                Stage::Event(Event::Replied { .. }) => "event replied".to_string(),
                Stage::Event(Event::CallStarted { .. }) => "event started".to_string(),
                Stage::Event(Event::CallEnded { .. }) => "event ended".to_string(),
                // Everything else has its tests elsewhere: the wire's stages are the model layer's.
                _ => return,
            };
            sink.lock().expect("not poisoned").push(line);
        })));
    });
    run.turn("go");
    run.finish();
    let seen = seen.lock().expect("not poisoned");
    assert_eq!(
        *seen,
        [
            "op prompt",
            "reply with 2 calls",
            "event replied",
            "event started",
            "verdict list_files: only looks, no approval needed",
            "outcome Ok",
            "event ended",
            "event started",
            "verdict run_command: allowed by --yes",
            "outcome Ok",
            "event ended",
            "reply with 0 calls",
            "event replied",
        ]
    );
}

#[test]
fn what_the_model_said_is_kept_once() {
    let said = Arc::new(Mutex::new(None));
    let sink = Arc::clone(&said);
    let run = Run::start(Scene::new(vec![says(" an answer\n")]), |_, setup| {
        setup.tap = Tap(Some(Arc::new(move |stage: &Stage<'_>| {
            if let Stage::Reply(Message::Assistant { content, .. }) = stage {
                *sink.lock().expect("not poisoned") = Some(Arc::clone(content));
            }
        })));
    });
    let events = run.turn("go");
    let recorded = said.lock().expect("not poisoned").take().expect("a reply");
    // The same string, not an equal one: it may be megabytes.
    assert!(Arc::ptr_eq(&recorded, &receipt(&events).answer));
    assert_eq!(*recorded, " an answer\n");
    run.finish();
}
