//! Messages that come while a turn runs: when they are delivered, what is told of them, and what of them survives.

use super::drive::{Run, allow_commands, check_prefixes, show};
use super::fake::{Chat, Scene, calls, content, says};
use zcoder::json::{Tree, Value};
use zcoder::policy::Profile;
use zcoder::protocol::{Event, InputState, Op};
use zcoder::session::Store;

fn steer(run: &Run, id: &str, text: &str) {
    let (id, text) = (id.to_string(), text.to_string());
    run.say(Op::Steer { id, text });
}

fn queue(run: &Run, id: &str, text: &str) {
    let (id, text) = (id.to_string(), text.to_string());
    run.say(Op::Queue { id, text });
}

/// What is told of turns, messages and notices.
fn told(events: &[Event]) -> Vec<String> {
    let mut lines = show(events);
    lines.retain(|line| {
        let begin = [
            "turn ",
            "input ",
            "queued",
            "ended",
            "warning: ",
            "info: 1 m",
            "error",
        ];
        begin.iter().any(|begin| line.starts_with(begin))
    });
    lines
}

fn is_input(event: &Event) -> bool {
    matches!(event, Event::Input { .. })
}

/// The next thing told of a message.
fn receipt(run: &Run) -> String {
    let events = run.until(is_input);
    show(&events).pop().expect("a line")
}

/// What stands in a request behind the system prompt and the first note, notes clipped.
fn said(body: &[u8]) -> Vec<String> {
    let tree = Tree::parse(body).expect("JSON");
    let messages = tree.root().get("messages").expect("messages");
    let text = |message: Value<'_>, key: &str| {
        let text = message.get(key).and_then(Value::as_str);
        text.unwrap_or_default().to_string()
    };
    let all = messages.items().skip(2).map(|message| {
        let content: String = text(message, "content").chars().take(20).collect();
        format!("{}: {content}", text(message, "role"))
    });
    all.collect()
}

const LOOK: &str = "{}";

#[test]
fn a_steer_is_heard_after_the_reply_and_all_its_calls() {
    let two = [
        ("c1", "list_files", LOOK),
        ("c2", "run_command", r#"{"command":"cat <fifo"}"#),
    ];
    let scene = Scene::new(vec![calls(&two), says("ok")]);
    let run = Run::start(scene, |temp, setup| {
        allow_commands(setup);
        let made = std::process::Command::new("mkfifo")
            .arg(temp.path().join("work/fifo"))
            .status();
        assert!(made.expect("mkfifo").success());
    });
    run.prompt("go");
    run.until(|event| matches!(event, Event::CallStarted { call, .. } if call.id.0 == "c2"));
    steer(&run, "s1", "use make");
    assert_eq!(receipt(&run), "input s1 Steer: Accepted");
    std::fs::write(run.temp.path().join("work/fifo"), "x").expect("the command reads");
    let events = run.until_ended();
    let lines = told(&events);
    assert!(
        lines[0].starts_with("ended c2 run_command: Ok"),
        "{lines:#?}"
    );
    assert_eq!(lines[1], "input s1 Steer: Consumed");
    assert_eq!(lines[2], "turn 1 ended: Done; done");
    let chats = run.finish();
    check_prefixes(&chats);
    let last = said(&chats[1]);
    assert_eq!(
        last.last().map(String::as_str),
        Some("user: use make"),
        "{last:#?}"
    );
}

#[test]
fn a_queued_message_is_a_turn_of_its_own_and_so_is_a_steer_that_came_too_late() {
    let run = Run::start(
        Scene::new(vec![
            Chat::Stuck(vec![content("I ")]),
            says("to the steer"),
            says("to the first"),
            says("to the second"),
        ]),
        |_, _| {},
    );
    run.prompt("go");
    run.until(|event| matches!(event, Event::Content { .. }));
    queue(&run, "q1", "first");
    queue(&run, "q2", "second");
    steer(&run, "s1", "steer");
    for id in ["q1 Queue", "q2 Queue", "s1 Steer"] {
        assert_eq!(receipt(&run), format!("input {id}: Accepted"));
    }
    run.say(Op::Queued);
    let listed = run.until(|event| matches!(event, Event::Queued { .. }));
    assert_eq!(told(&listed), ["queued: q1 Queue, q2 Queue, s1 Steer"]);
    // What waits is kept, and goes on.
    run.say(Op::Cancel);
    let mut lines = Vec::new();
    for _ in 0..4 {
        lines.extend(told(&run.until_ended()));
    }
    assert_eq!(
        lines,
        [
            "turn 1 ended: Cancelled; cancelled",
            "turn 2",
            "input s1 Steer: Consumed",
            "turn 2 ended: Done; done",
            "turn 3",
            "input q1 Queue: Consumed",
            "turn 3 ended: Done; done",
            "turn 4",
            "input q2 Queue: Consumed",
            "turn 4 ended: Done; done",
        ]
    );
    run.finish();
}

#[test]
fn one_id_is_one_message() {
    let run = Run::start(
        Scene::new(vec![Chat::Stuck(Vec::new()), says("ok")]),
        |_, _| {},
    );
    run.prompt("go");
    run.until(|event| matches!(event, Event::RequestSent { .. }));
    queue(&run, "a", "once");
    assert_eq!(receipt(&run), "input a Queue: Accepted");
    queue(&run, "a", "once");
    assert_eq!(receipt(&run), "input a Queue: Accepted");
    queue(&run, "a", "twice");
    let conflict = r#"input a Queue: Refused { reason: "another message has this id" }"#;
    assert_eq!(receipt(&run), conflict);
    let drop_it = |id: &str| run.say(Op::Drop { id: id.to_string() });
    drop_it("b");
    assert_eq!(
        receipt(&run),
        r#"input b Queue: Refused { reason: "nothing has this id" }"#
    );
    drop_it("a");
    assert_eq!(receipt(&run), "input a Queue: Discarded");
    queue(&run, "a", "once");
    assert_eq!(receipt(&run), "input a Queue: Discarded");
    drop_it("a");
    assert_eq!(receipt(&run), "input a Queue: Discarded");
    run.say(Op::Cancel);
    assert_eq!(
        told(&run.until_ended()),
        ["turn 1 ended: Cancelled; cancelled"]
    );
    // While nothing runs it begins a turn.
    queue(&run, "c", "now");
    let lines = told(&run.until_ended());
    assert_eq!(lines[..2], ["input c Queue: Accepted", "turn 2"]);
    queue(&run, "c", "now");
    assert_eq!(receipt(&run), "input c Queue: Consumed");
    run.finish();
}

#[test]
fn each_limit_has_two_sides() {
    let run = Run::start(Scene::new(vec![Chat::Stuck(Vec::new())]), |_, _| {});
    run.prompt("go");
    run.until(|event| matches!(event, Event::RequestSent { .. }));
    let refused = |id: &str, text: &str| {
        queue(&run, id, text);
        match run.until(is_input).pop() {
            Some(Event::Input {
                state: InputState::Refused { reason },
                ..
            }) => Some(reason),
            Some(Event::Input {
                state: InputState::Accepted,
                ..
            }) => None,
            other => panic!("{other:?}"),
        }
    };
    let ids = Some("an id has 1 to 128 bytes".to_string());
    assert_eq!(refused(&"i".repeat(128), "x"), None);
    assert_eq!(refused(&"i".repeat(129), "x"), ids);
    assert_eq!(refused("", "x"), ids);
    assert_eq!(
        refused("e", " \n"),
        Some("the message is empty".to_string())
    );
    assert_eq!(refused("big", &"x".repeat(65_536)), None);
    let reason =
        "the message has 65,537 bytes and may have 65,536; put it into a file and name that";
    assert_eq!(
        refused("bigger", &"x".repeat(65_537)),
        Some(reason.to_string())
    );
    for n in 2..100 {
        assert_eq!(refused(&format!("n{n}"), "x"), None, "{n}");
    }
    let full = "100 messages wait already; wait, or drop one".to_string();
    assert_eq!(refused("one more", "x"), Some(full));
    run.say(Op::Drop {
        id: "big".to_string(),
    });
    assert_eq!(receipt(&run), "input big Queue: Discarded");
    assert_eq!(refused("one more", "x"), None);
    run.say(Op::Quit);
    run.until(|event| *event == Event::Closed);
}

#[test]
fn after_a_server_that_fails_the_others_are_held() {
    let cut = || Chat::Cut(vec![content("I ")]);
    let run = Run::start(
        Scene::new(vec![
            Chat::Stuck(Vec::new()),
            cut(),
            says("one"),
            says("two"),
        ]),
        |_, _| {},
    );
    run.prompt("go");
    run.until(|event| matches!(event, Event::RequestSent { .. }));
    for id in ["a", "b"] {
        queue(&run, id, id);
        run.until(is_input);
    }
    run.say(Op::Cancel);
    run.until_ended();
    let lines = told(
        &run.until(|event| matches!(event, Event::Notice { text, .. } if text.contains("kept"))),
    );
    let held =
        "warning: 1 message that came meanwhile: kept, and not delivered by itself after this";
    assert_eq!(lines.last().map(String::as_str), Some(held), "{lines:#?}");
    // A prompt does not touch it.
    let events = run.turn("hello");
    assert_eq!(told(&events), ["turn 3", "turn 3 ended: Done; done"]);
    run.say(Op::Deliver);
    let events = run.until_ended();
    assert_eq!(told(&events)[..2], ["turn 4", "input b Queue: Consumed"]);
    run.finish();
}

#[test]
fn what_waits_is_there_when_the_session_is_opened_again() {
    let mut store = None;
    let run = Run::start(Scene::new(vec![Chat::Stuck(Vec::new())]), |temp, setup| {
        let root = setup.toolbox.workspace().root().to_path_buf();
        let kept = Store::new(&temp.path().join("state"), &root);
        setup.log = kept.begin(Profile::Coding).expect("log");
        store = Some(kept);
    });
    run.prompt("go");
    run.until(|event| matches!(event, Event::RequestSent { .. }));
    for id in ["a", "b", "c"] {
        queue(&run, id, id);
        run.until(is_input);
    }
    run.say(Op::Drop {
        id: "b".to_string(),
    });
    let saved = run.until(is_input);
    let session = saved.iter().find_map(|event| match event {
        Event::Saved { session, .. } => Some(session.clone()),
        _ => None,
    });
    let (store, session) = (store.expect("a store"), session.expect("saved"));
    // As it is on the disk now: the first engine goes on, in vain.
    let id = zcoder::session::SessionId(session);
    let opened = store.open(&id).expect("opened");
    let again = Run::start(Scene::new(vec![says("to a"), says("to c")]), |_, setup| {
        setup.log = opened.log;
    });
    let lines = told(&again.until(|event| matches!(event, Event::Notice { .. })));
    assert_eq!(lines, Vec::<String>::new());
    again.say(Op::Queued);
    let lines = told(&again.until(|event| matches!(event, Event::Queued { .. })));
    assert_eq!(lines, ["queued held: a Queue, c Queue"]);
    queue(&again, "b", "b");
    assert_eq!(receipt(&again), "input b Queue: Discarded");
    again.say(Op::Deliver);
    let mut lines = told(&again.until_ended());
    lines.extend(told(&again.until_ended()));
    let consumed: Vec<&String> = lines.iter().filter(|l| l.starts_with("input")).collect();
    assert_eq!(
        consumed,
        ["input a Queue: Consumed", "input c Queue: Consumed"]
    );
    run.say(Op::Quit);
    again.finish();
}
