//! The user's own commands: they run unasked, keep their place among what is said, and are never run again.

use super::drive::{Run, after_opening, check_prefixes, show};
use super::fake::{Chat, Scene, calls, content, says};
use crate::support::temp::Temp;
use zcoder::engine::Setup;
use zcoder::policy::{CommandMode, EditMode, Policy, Profile};
use zcoder::protocol::{Event, Op, Status};
use zcoder::session::{Opened, Record, SessionId, Store};

fn shell(run: &Run, command: &str) {
    own(run, command, command);
}

/// The id is the front end's.
fn own(run: &Run, id: &str, command: &str) {
    let (id, command, in_context) = (id.to_string(), command.to_string(), true);
    run.say(Op::Shell {
        id,
        command,
        in_context,
    });
}

/// A run whose session is on the disk.
fn kept(scene: Vec<Chat>) -> (Run, Store) {
    let mut store = None;
    let run = Run::start(Scene::new(scene), |temp, setup| {
        let root = setup.toolbox.workspace().root().to_path_buf();
        let kept = Store::new(&temp.path().join("state"), &root);
        setup.log = kept.begin(Profile::Coding).expect("log");
        store = Some(kept);
    });
    (run, store.expect("a store"))
}

/// As it is on the disk now, while the first engine goes on.
fn reopened(store: &Store, events: &[Event]) -> Opened {
    let session = events.iter().rev().find_map(|event| match event {
        Event::Saved { session, .. } => Some(SessionId(session.clone())),
        _ => None,
    });
    store.open(&session.expect("saved")).expect("opened")
}

/// What is told of messages, commands, turns and calls; the numbers of turns differ.
fn told(events: &[Event]) -> Vec<String> {
    let mut lines = show(events);
    lines.retain(|line| {
        let begin = [
            "input ",
            "queued",
            "call ",
            "info: 1",
            "info: 2",
            "warning: ",
        ];
        begin.iter().any(|begin| line.starts_with(begin))
    });
    lines
}

fn is_input(event: &Event) -> bool {
    matches!(event, Event::Input { .. })
}

fn receipt(events: &[Event]) -> (Status, String) {
    match events.last() {
        Some(Event::TurnEnded { receipt, .. }) => (receipt.status.clone(), receipt.verdict.clone()),
        other => panic!("{other:?}"),
    }
}

#[test]
fn it_runs_unasked_and_the_model_hears_of_it_with_the_next_request() {
    let run = Run::start(Scene::new(vec![says("hello"), says("I see")]), |_, _| {});
    run.turn("hi");
    shell(&run, "echo made >made; echo said; exit 3");
    let events = run.until_ended();
    let lines = show(&events);
    assert_eq!(
        lines[..3],
        [
            "turn 2",
            "call shell_2: run_command echo made >made; echo said; exit 3",
            "decided - shell_2: Once by Person",
        ]
    );
    assert!(
        !lines.iter().any(|line| line.starts_with("sent")),
        "{lines:#?}"
    );
    assert_eq!(
        receipt(&events),
        (Status::Failed, "failed: exit code 3".to_string())
    );
    assert_eq!(run.temp.read("work/made"), b"made\n");
    let hidden = "echo secret";
    run.say(Op::Shell {
        id: "h".to_string(),
        command: hidden.to_string(),
        in_context: false,
    });
    assert_eq!(
        receipt(&run.until_ended()),
        (Status::Done, "done".to_string())
    );
    run.turn("and now?");
    let chats = run.finish();
    assert_eq!(chats.len(), 2);
    check_prefixes(&chats);
    let last = String::from_utf8_lossy(&chats[1]);
    let note = "[note from zcoder, not from the user] The user ran a command: echo made >made; echo said; exit 3\\nexit code 3";
    assert!(last.contains(note), "{last}");
    assert!(last.contains("said"), "{last}");
    assert!(!last.contains("secret"), "{last}");
}

#[test]
fn before_the_first_prompt_it_needs_no_server_and_stands_in_its_first_request() {
    let run = Run::start(Scene::new(vec![says("I see")]), |_, _| {});
    shell(&run, "echo early");
    assert_eq!(receipt(&run.until_ended()).0, Status::Done);
    assert_eq!(run.fake.lines(), Vec::<String>::new());
    run.turn("what was that?");
    let chats = run.finish();
    let first = String::from_utf8_lossy(&chats[0]);
    let (ran, asked) = (
        first.find("The user ran a command: echo early"),
        first.find("what was that?"),
    );
    assert!(ran.is_some() && ran < asked, "{first}");
}

fn deny(setup: &mut Setup) {
    setup.policy = Policy::new(CommandMode::Deny, EditMode::Auto, Profile::Coding, None);
}

fn sysadmin(setup: &mut Setup) {
    setup.policy = Policy::new(CommandMode::Ask, EditMode::Auto, Profile::Sysadmin, None);
}

#[test]
fn what_is_denied_and_hard_stops_hold_for_it_too() {
    for (prepare, command, why) in [
        (
            deny as fn(&mut Setup),
            "touch made",
            "commands are denied in this run (commands=deny)",
        ),
        (sysadmin, "touch made; mkfs /dev/none", "refused: "),
        (|_| {}, "touch made; mkfs /dev/none", "refused: "),
    ] {
        let run = Run::start(Scene::new(Vec::new()), |_: &Temp, setup| prepare(setup));
        shell(&run, command);
        let events = run.until_ended();
        let (status, verdict) = receipt(&events);
        assert_eq!(status, Status::Failed);
        assert!(
            verdict.starts_with(&format!("failed: not run: {why}")),
            "{verdict}"
        );
        assert!(!run.temp.path().join("work/made").exists());
        run.finish();
    }
}

#[test]
fn it_waits_for_the_turn_and_what_is_said_later_waits_for_it() {
    let scene = vec![
        Chat::Stuck(vec![content("I ")]),
        says("first"),
        says("late"),
        says("last"),
    ];
    let run = Run::start(Scene::new(scene), |_, _| {});
    run.prompt("go");
    run.until(|event| matches!(event, Event::Content { .. }));
    let say = |op: Op| run.say(op);
    let (id, text) = ("q".to_string(), "queued".to_string());
    say(Op::Queue { id, text });
    own(&run, "c", "echo between");
    let (id, text) = ("s".to_string(), "steer".to_string());
    say(Op::Steer { id, text });
    let events = run.until(|event| matches!(event, Event::Input { id, .. } if id == "s"));
    // Within the turn it would come before the command.
    assert_eq!(
        show(&events).last().map(String::as_str),
        Some("input s Queue: Accepted")
    );
    say(Op::Cancel);
    let mut order = Vec::new();
    for _ in 0..4 {
        let lines = show(&run.until_ended());
        order.extend(
            lines
                .into_iter()
                .filter(|line| line.starts_with("input") || line.starts_with("call")),
        );
    }
    assert_eq!(
        order,
        [
            "input q Queue: Consumed",
            "call shell_3: run_command echo between",
            "input c Shell { in_context: true }: Consumed",
            "input s Queue: Consumed",
        ]
    );
    run.finish();
}

#[test]
fn one_without_messages_before_it_runs_right_after_the_turn() {
    let run = Run::start(
        Scene::new(vec![Chat::Stuck(vec![content("I ")]), says("x")]),
        |_, _| {},
    );
    run.prompt("go");
    run.until(|event| matches!(event, Event::Content { .. }));
    shell(&run, "echo between");
    run.prompt("after");
    run.say(Op::Cancel);
    run.until_ended();
    let lines = show(&run.until_ended());
    assert_eq!(lines[1], "call shell_2: run_command echo between");
    assert!(show(&run.until_ended())[0].starts_with("turn 3"));
    run.finish();
}

#[test]
fn a_cancel_ends_it_and_the_model_hears_so() {
    let run = Run::start(Scene::new(vec![says("ok")]), |_, _| {});
    shell(&run, "echo begun; sleep 100");
    run.until(|event| matches!(event, Event::Output { .. }));
    run.say(Op::Cancel);
    assert_eq!(receipt(&run.until_ended()).0, Status::Cancelled);
    run.turn("go on");
    let chats = run.finish();
    let first = String::from_utf8_lossy(&chats[0]);
    assert!(
        first.contains("The user ran a command: echo begun; sleep 100"),
        "{first}"
    );
}

#[test]
fn of_one_that_is_kept_from_the_model_it_does_not_hear_the_cancel_either() {
    let run = Run::start(Scene::new(vec![says("ok"), says("ok")]), |_, _| {});
    run.turn("hello");
    run.say(Op::Shell {
        id: "h".to_string(),
        command: "echo begun; sleep 100".to_string(),
        in_context: false,
    });
    run.until(|event| matches!(event, Event::Output { .. }));
    run.say(Op::Cancel);
    assert_eq!(receipt(&run.until_ended()).0, Status::Cancelled);
    run.turn("go on");
    let chats = run.finish();
    let second = String::from_utf8_lossy(&chats[1]);
    assert!(!second.contains("stopped this turn"), "{second}");
}

#[test]
fn it_is_on_the_disk_before_it_runs_and_is_not_run_again() {
    let (run, store) = kept(Vec::new());
    shell(&run, "echo x >>made; echo begun; sleep 100");
    let events = run.until(|event| matches!(event, Event::Output { .. }));
    let opened = reopened(&store, &events);
    let claimed = opened.log.records().iter().any(|record| {
        matches!(record, Record::Shell { command, in_context: true, .. } if command.starts_with("echo x"))
    });
    assert!(claimed);
    let again = Run::start(Scene::new(vec![says("ok")]), |_, setup| {
        setup.log = opened.log
    });
    let lines = after_opening(show(&again.turn("go on")));
    assert!(
        !lines.iter().any(|line| line.starts_with("call")),
        "{lines:#?}"
    );
    assert_eq!(run.temp.read("work/made"), b"x\n");
    let chats = again.finish();
    let first = String::from_utf8_lossy(&chats[0]);
    assert!(
        first.contains("zcoder was ended in the middle of the last turn"),
        "{first}"
    );
    run.say(Op::Quit);
    run.until(|event| *event == Event::Closed);
}

#[test]
fn its_end_is_on_the_disk_also_before_the_first_prompt() {
    let (run, store) = kept(Vec::new());
    shell(&run, "echo early");
    let events = run.until_ended();
    let opened = reopened(&store, &events);
    assert_eq!(opened.interrupted, None);
    assert_eq!(opened.log.title(), Some("!echo early"));
    let last = opened.log.records().last();
    assert!(matches!(last, Some(Record::Receipt { .. })), "{last:?}");
    let heard = opened.log.messages().count();
    assert_eq!(heard, 1, "the note");
    run.finish();
}

#[test]
fn an_empty_one_is_refused() {
    let run = Run::start(Scene::new(vec![calls(&[])]), |_, _| {});
    shell(&run, " ");
    let reason = "the command is empty".to_string();
    assert_eq!(receipt(&run.until_ended()).0, Status::Unusable { reason });
    run.finish();
}

#[test]
fn one_that_waits_is_kept_and_after_a_restart_offered_and_not_run() {
    let (run, store) = kept(vec![Chat::Stuck(vec![content("I ")])]);
    run.prompt("go");
    let mut events = run.until(|event| matches!(event, Event::Content { .. }));
    let queue = |id: &str| {
        let (id, text) = (id.to_string(), id.to_string());
        run.say(Op::Queue { id, text });
        run.until(is_input)
    };
    events.extend(queue("q"));
    own(&run, "c", "echo x >>made");
    events.extend(run.until(is_input));
    own(&run, "gone", "echo gone >>made");
    events.extend(run.until(is_input));
    let id = "gone".to_string();
    run.say(Op::Drop { id });
    events.extend(run.until(is_input));
    assert_eq!(
        told(&events),
        [
            "input q Queue: Accepted",
            "input c Shell { in_context: true }: Accepted",
            "input gone Shell { in_context: true }: Accepted",
            "input gone Shell { in_context: true }: Discarded",
        ]
    );
    let opened = reopened(&store, &events);
    let id = opened.log.id().0.clone();
    let made = run.temp.path().join("work/made");
    let again = Run::start(
        Scene::new(vec![says("to new"), says("to q")]),
        |_, setup| {
            setup.log = opened.log;
        },
    );
    let held = |event: &Event| matches!(event, Event::Notice { text, .. } if text.contains("kept"));
    let expected = format!(
        "info: 1 message and 1 command of your own of an earlier run: kept, and not delivered or run by itself; \
         `zcoder sessions waiting {id}` lists and drops"
    );
    assert_eq!(told(&again.until(held)), [expected]);
    // Something new lets the message go, and not the command; nor does the message wait for it.
    let (id, text) = ("n".to_string(), "new".to_string());
    again.say(Op::Steer { id, text });
    assert_eq!(
        told(&again.until_ended()),
        ["input n Steer: Accepted", "input n Steer: Consumed"]
    );
    assert_eq!(told(&again.until_ended()), ["input q Queue: Consumed"]);
    again.say(Op::Queued);
    let listed = told(&again.until(|event| matches!(event, Event::Queued { .. })));
    assert_eq!(listed, ["queued: c Shell { in_context: true }"]);
    assert!(!made.exists());
    // Said again, as by a front end that lost its receipt, it is not another one.
    own(&again, "c", "echo x >>made");
    let known = "input c Shell { in_context: true }: Accepted";
    assert_eq!(told(&again.until(is_input)), [known]);
    again.say(Op::Deliver);
    assert_eq!(
        told(&again.until_ended()),
        [
            "call shell_4: run_command echo x >>made",
            "input c Shell { in_context: true }: Consumed"
        ]
    );
    assert_eq!(again.temp.read("work/made"), b"x\n");
    own(&again, "c", "echo x >>made");
    let known = "input c Shell { in_context: true }: Consumed";
    assert_eq!(told(&again.until(is_input)), [known]);
    again.finish();
    run.say(Op::Quit);
    run.until(|event| *event == Event::Closed);
}

#[test]
fn one_that_had_begun_is_not_offered_after_a_restart() {
    let (run, store) = kept(vec![Chat::Stuck(vec![content("I ")])]);
    run.prompt("go");
    let mut events = run.until(|event| matches!(event, Event::Content { .. }));
    own(&run, "c", "echo begun; sleep 100");
    events.extend(run.until(is_input));
    run.say(Op::Cancel);
    events.extend(run.until(|event| matches!(event, Event::Output { .. })));
    let opened = reopened(&store, &events);
    assert_eq!(zcoder::engine::waiting(opened.log.records()), []);
    let again = Run::start(Scene::new(Vec::new()), |_, setup| setup.log = opened.log);
    again.say(Op::Deliver);
    own(&again, "c", "echo begun; sleep 100");
    let known = "input c Shell { in_context: true }: Consumed";
    assert_eq!(told(&again.until(is_input)), [known]);
    again.finish();
    run.say(Op::Quit);
    run.until(|event| *event == Event::Closed);
}

#[test]
fn a_server_that_fails_holds_one_behind_messages_and_not_one_before_them() {
    let scene = vec![Chat::Stuck(Vec::new()), Chat::Cut(vec![content("I ")])];
    let run = Run::start(Scene::new(scene), |_, _| {});
    run.prompt("go");
    run.until(|event| matches!(event, Event::RequestSent { .. }));
    for step in ["first", "message", "second"] {
        match step {
            "message" => {
                let (id, text) = ("m".to_string(), "m".to_string());
                run.say(Op::Queue { id, text });
            }
            id => own(&run, id, "true"),
        }
        run.until(is_input);
    }
    run.say(Op::Cancel);
    run.until_ended();
    assert_eq!(
        told(&run.until_ended()),
        [
            "call shell_2: run_command true",
            "input first Shell { in_context: true }: Consumed"
        ]
    );
    let held = |event: &Event| matches!(event, Event::Notice { text, .. } if text.contains("kept"));
    let lines = told(&run.until(held));
    let last = "warning: 1 command of your own that came meanwhile: kept, and not run by itself after this";
    assert_eq!(lines.last().map(String::as_str), Some(last), "{lines:#?}");
    run.say(Op::Deliver);
    assert_eq!(
        told(&run.until_ended()),
        [
            "call shell_4: run_command true",
            "input second Shell { in_context: true }: Consumed"
        ]
    );
    run.finish();
}
