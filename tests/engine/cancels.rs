//! Stopping a turn at each place where it can wait; afterwards the history is valid and the next prompt works.

use super::drive::{Run, after_opening, allow_commands, check_prefixes, show};
use super::fake::{Chat, Scene, calls, content, says};
use std::sync::{Arc, OnceLock};
use std::time::Duration;
use zcoder::engine::Submit;
use zcoder::protocol::{Cut, Decision, Doing, Event, Halt, Op, Stage, Status, Tap};

/// Prompts, cancels at the first event that `at` names, and checks that a second turn works. The lines of the first turn.
fn cancel_at(run: &Run, at: impl Fn(&Event) -> bool) -> Vec<String> {
    run.prompt("first");
    let mut events = run.until(at);
    run.say(Op::Cancel);
    events.extend(run.until_ended());
    let second = show(&run.turn("second"));
    assert_eq!(second.last().unwrap(), "turn 2 ended: Done; done");
    after_opening(show(&events))
}

/// What a cancelled turn leaves in the next request.
fn note_in(body: &[u8]) -> bool {
    String::from_utf8_lossy(body).contains("The user stopped this turn.")
}

#[test]
fn before_the_first_byte() {
    let run = Run::start(Scene::new(vec![Chat::Stuck(vec![]), says("ok")]), |_, _| {});
    let lines = cancel_at(&run, |event| matches!(event, Event::RequestSent { .. }));
    assert_eq!(
        lines,
        [
            "sent 1",
            "discarded 1: the turn was stopped",
            "turn 1 ended: Cancelled; cancelled"
        ]
    );
    run.fake.client_left();
    let chats = run.finish();
    check_prefixes(&chats);
    assert_eq!((chats.len(), note_in(&chats[1])), (2, true));
}

#[test]
fn in_the_middle_of_the_stream() {
    let stuck = Chat::Stuck(vec![content("par")]);
    let run = Run::start(Scene::new(vec![stuck, says("ok")]), |_, _| {});
    let lines = cancel_at(&run, |event| matches!(event, Event::Content { .. }));
    assert_eq!(
        lines,
        [
            "sent 1",
            "content 1: par",
            "discarded 1: the turn was stopped",
            "turn 1 ended: Cancelled; cancelled",
        ]
    );
    run.fake.client_left();
    let chats = run.finish();
    check_prefixes(&chats);
    assert!(note_in(&chats[1]));
    assert!(
        !String::from_utf8_lossy(&chats[1]).contains("par\""),
        "partial text is not history"
    );
}

#[test]
fn a_cancel_behind_a_whole_reply_is_between_two_steps() {
    let look = calls(&[("c1", "list_files", "{}")]);
    let submit: Arc<OnceLock<Submit>> = Arc::default();
    let late = Arc::clone(&submit);
    let run = Run::start(Scene::new(vec![look, says("ok")]), |_, setup| {
        // On the engine's thread: the cancel is there before the calls are taken up.
        setup.tap = Tap(Some(Arc::new(move |stage| {
            if let Stage::Event(Event::Replied { .. }) = stage {
                (late.get().expect("an engine"))(Op::Cancel);
            }
        })));
    });
    assert!(submit.set(run.submit()).is_ok());
    let events = run.turn("first");
    let Some(Event::TurnEnded { receipt, .. }) = events.last() else {
        panic!("{events:?}");
    };
    let (by, doing) = (Halt::Cancel, Doing::Between);
    assert_eq!(receipt.cut, Some(Box::new(Cut { by, doing })));
    check_prefixes(&run.finish());
}

#[test]
fn in_the_middle_of_a_search() {
    let search = calls(&[("c1", "search_text", r#"{"pattern":"absent"}"#)]);
    let run = Run::start(Scene::new(vec![search, says("ok")]), |temp, _| {
        let path = temp.write("work/large", "x\n".repeat(5_000));
        // Text by its beginning, then a hole of more than can be searched before the cancel is heard.
        let file = std::fs::File::options().write(true).open(path);
        file.expect("opens").set_len(1 << 40).expect("a hole");
    });
    let lines = cancel_at(&run, |event| matches!(event, Event::CallStarted { .. }));
    assert_eq!(
        lines,
        [
            "sent 1",
            "replied 1: Stop",
            "call c1: search_text absent",
            "ended c1 search_text: Cancelled the search was cancelled before its end",
            "turn 1 ended: Cancelled; cancelled",
        ]
    );
    check_prefixes(&run.finish());
}

#[test]
fn in_the_middle_of_a_listing() {
    let list = calls(&[("c1", "list_files", r#"{"path":"**/absent"}"#)]);
    let run = Run::start(Scene::new(vec![list, says("ok")]), |temp, _| {
        // Each name is held against all the rules: more of that than can be done before the cancel is heard.
        temp.write("work/.gitignore", "*a*a*a*a*b*x\n".repeat(5_000));
        for folder in 0..500 {
            temp.write(&format!("work/{}{folder}x/b", "a".repeat(30)), "");
        }
    });
    let lines = cancel_at(&run, |event| matches!(event, Event::CallStarted { .. }));
    assert_eq!(
        lines,
        [
            "sent 1",
            "replied 1: Stop",
            "call c1: list_files **/absent",
            "ended c1 list_files: Cancelled the listing was cancelled before its end",
            "turn 1 ended: Cancelled; cancelled",
        ]
    );
    check_prefixes(&run.finish());
}

#[test]
fn a_late_result_is_not_taken_for_that_of_the_next_request() {
    let stuck = Chat::Stuck(vec![content("par")]);
    let run = Run::start(Scene::new(vec![stuck, says("ok")]), |_, _| {});
    run.prompt("first");
    run.until(|event| matches!(event, Event::Content { .. }));
    // Queued, so that the second request is under way when the first worker has its last word.
    run.prompt("second");
    run.say(Op::Cancel);
    run.until_ended();
    assert_eq!(
        show(&run.until_ended()),
        [
            "turn 2",
            "sent 2",
            "content 2: ok",
            "replied 2: Stop",
            "turn 2 ended: Done; done",
        ]
    );
    check_prefixes(&run.finish());
}

#[test]
fn during_a_command_whose_processes_end() {
    let command = r#"{"command":"echo $$ > pid; echo started; sleep 1000"}"#;
    let scene = Scene::new(vec![
        calls(&[
            ("c1", "run_command", command),
            ("c2", "read_file", r#"{"path":"pid"}"#),
        ]),
        says("ok"),
    ]);
    let run = Run::start(scene, |_, setup| allow_commands(setup));
    let lines = cancel_at(&run, |event| matches!(event, Event::Output { .. }));
    let ended = lines
        .iter()
        .position(|line| line.starts_with("ended c1 run_command: Cancelled"));
    let ended = ended.unwrap_or_else(|| panic!("{lines:#?}"));
    assert_eq!(
        lines[ended + 1..]
            .iter()
            .map(|line| line.lines().next().unwrap_or_default())
            .collect::<Vec<_>>(),
        [
            "touched c1: pid +0",
            "call c2: read_file",
            "ended c2 read_file: Cancelled not run: the user stopped the turn before this call",
            "turn 1 ended: Cancelled; cancelled",
        ]
    );
    let pid = String::from_utf8(run.temp.read("work/pid")).expect("a number");
    let proc = format!("/proc/{}", pid.trim());
    assert!(!std::path::Path::new(&proc).exists(), "{proc} still runs");
    let chats = run.finish();
    check_prefixes(&chats);
    assert!(
        String::from_utf8_lossy(&chats[1]).contains("started"),
        "what it wrote is in its result"
    );
}

#[test]
fn during_a_question() {
    let scene = Scene::new(vec![
        calls(&[("c1", "run_command", r#"{"command":"touch x"}"#)]),
        says("ok"),
    ]);
    let run = Run::start(scene, |_, setup| setup.interactive = true);
    let lines = cancel_at(&run, |event| matches!(event, Event::Asked { .. }));
    assert_eq!(
        lines[lines.len() - 2..],
        [
            "ended c1 run_command: Cancelled not done: the turn was stopped while the user was asked",
            "turn 1 ended: Cancelled; cancelled",
        ]
    );
    assert!(!run.temp.path().join("work/x").exists());
    check_prefixes(&run.finish());
}

#[test]
fn an_answer_to_a_question_that_was_cancelled_does_nothing() {
    let scene = Scene::new(vec![
        calls(&[("c1", "run_command", r#"{"command":"touch one"}"#)]),
        calls(&[("c2", "run_command", r#"{"command":"touch two"}"#)]),
        says("ok"),
    ]);
    let run = Run::start(scene, |_, setup| setup.interactive = true);
    run.prompt("first");
    let asked = run.until(|event| matches!(event, Event::Asked { .. }));
    let Some(Event::Asked { ask: old, .. }) = asked.last() else {
        panic!("{asked:?}");
    };
    run.say(Op::Cancel);
    run.until_ended();
    run.prompt("second");
    let asked = run.until(|event| matches!(event, Event::Asked { .. }));
    let Some(Event::Asked { ask: new, .. }) = asked.last() else {
        panic!("{asked:?}");
    };
    let decide = |ask, decision| run.say(Op::Decide { ask, decision });
    decide(*old, Decision::Once);
    decide(*new, Decision::Deny { reason: None });
    run.until_ended();
    assert!(!run.temp.path().join("work/one").exists());
    assert!(!run.temp.path().join("work/two").exists());
    run.finish();
}

#[test]
fn while_the_server_is_asked_about_the_model() {
    let mut scene = Scene::new(vec![]);
    scene.show_status = 0;
    let run = Run::start(scene, |_, _| {});
    run.prompt("first");
    // Nothing is told before the answer: the cancel may come at any point of the question.
    run.until(|event| matches!(event, Event::TurnStarted { .. }));
    run.say(Op::Cancel);
    assert_eq!(
        show(&run.until_ended()),
        ["turn 1 ended: Cancelled; cancelled"]
    );
    assert_eq!(run.fake.chats(), Vec::<Vec<u8>>::new());
    run.finish();
}

#[test]
fn quit_in_the_middle_ends_the_turn_and_the_engine() {
    let stuck = Chat::Stuck(vec![content("par")]);
    let run = Run::start(Scene::new(vec![stuck]), |_, _| {});
    run.prompt("first");
    run.until(|event| matches!(event, Event::Content { .. }));
    run.say(Op::Quit);
    let events = run.until(|event| *event == Event::Closed);
    assert_eq!(
        show(&events),
        [
            "discarded 1: the turn was stopped",
            "turn 1 ended: Cancelled; cancelled",
            "closed"
        ]
    );
    run.fake.client_left();
}

#[test]
fn the_time_limit_stops_a_wait() {
    let stuck = Chat::Stuck(vec![content("par")]);
    let run = Run::start(Scene::new(vec![stuck, says("ok")]), |_, setup| {
        setup.limits.max_time = Some(Duration::from_millis(300));
    });
    let events = run.turn("first");
    let Some(Event::TurnEnded { receipt, .. }) = events.last() else {
        panic!("{events:?}");
    };
    let which = "the turn took 0.3 seconds (--max-seconds)".to_string();
    assert_eq!(receipt.status, Status::Limit { which });
    run.fake.client_left();
    run.finish();
}
