//! The user's own commands: they run unasked, keep their place among what is said, and are never run again.

use super::drive::{Run, after_opening, check_prefixes, show};
use super::fake::{Chat, Scene, calls, content, says};
use crate::support::temp::Temp;
use zcoder::engine::Setup;
use zcoder::policy::{CommandMode, EditMode, Policy, Profile};
use zcoder::protocol::{Event, Op, Status};
use zcoder::session::{Record, SessionId, Store};

fn shell(run: &Run, command: &str) {
    let (command, in_context) = (command.to_string(), true);
    run.say(Op::Shell {
        command,
        in_context,
    });
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
    shell(&run, "echo between");
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
    let mut store = None;
    let run = Run::start(Scene::new(Vec::new()), |temp, setup| {
        let root = setup.toolbox.workspace().root().to_path_buf();
        let kept = Store::new(&temp.path().join("state"), &root);
        setup.log = kept.begin(Profile::Coding).expect("log");
        store = Some(kept);
    });
    let store = store.expect("a store");
    shell(&run, "echo x >>made; echo begun; sleep 100");
    let events = run.until(|event| matches!(event, Event::Output { .. }));
    let session = events.iter().find_map(|event| match event {
        Event::Saved { session, .. } => Some(SessionId(session.clone())),
        _ => None,
    });
    let opened = store.open(&session.expect("saved")).expect("opened");
    let claimed = opened.log.records().iter().any(|record| {
        matches!(record, Record::Shell { command, in_context: true } if command.starts_with("echo x"))
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
    let mut store = None;
    let run = Run::start(Scene::new(Vec::new()), |temp, setup| {
        let root = setup.toolbox.workspace().root().to_path_buf();
        let kept = Store::new(&temp.path().join("state"), &root);
        setup.log = kept.begin(Profile::Coding).expect("log");
        store = Some(kept);
    });
    let store = store.expect("a store");
    shell(&run, "echo early");
    let events = run.until_ended();
    let session = events.iter().find_map(|event| match event {
        Event::Saved { session, .. } => Some(SessionId(session.clone())),
        _ => None,
    });
    let opened = store.open(&session.expect("saved")).expect("opened");
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
