//! Approvals: who is asked, what a yes and a no lead to, and what happens when there is nobody.

use super::drive::{Run, after_opening, check_prefixes, show};
use super::fake::{SHOW, Scene, calls, says};
use zcoder::policy::{CommandMode, EditMode, Policy, Profile};
use zcoder::protocol::{Decision, Event, Question, Status};

const TOUCH: (&str, &str, &str) = ("c1", "run_command", r#"{"command":"touch x"}"#);
const EDIT: (&str, &str, &str) = (
    "c2",
    "replace_text",
    r#"{"path":"a.txt","old_text":"one","new_text":"two"}"#,
);

fn status(events: &[Event]) -> Status {
    match events.last() {
        Some(Event::TurnEnded { receipt, .. }) => receipt.status.clone(),
        other => panic!("not the end of a turn: {other:?}"),
    }
}

#[test]
fn nobody_to_ask_ends_the_run_at_once_and_names_the_command() {
    let scene = Scene::new(vec![
        calls(&[TOUCH, ("c2", "list_files", "{}")]),
        says("second"),
    ]);
    let run = Run::start(scene, |_, _| {});
    let events = run.turn("touch");
    assert_eq!(
        after_opening(show(&events)),
        [
            "sent 1",
            "replied 1: Stop",
            "call c1: run_command touch x",
            "decided - c1: Nobody by Nobody",
            "ended c1 run_command: Denied not done: it needs an approval and nobody can be asked",
            "call c2: list_files",
            "ended c2 list_files: Cancelled not run: the turn ended before this call",
            "turn 1 ended: NeedsApproval { what: \"run_command: touch x\" }; an approval was needed and nobody could answer: \
             run_command: touch x",
        ]
    );
    assert!(!run.temp.path().join("work/x").exists());
    run.turn("again");
    check_prefixes(&run.finish());
}

#[test]
fn a_no_with_its_reason_goes_to_the_model_and_the_turn_goes_on() {
    let run = Run::start(
        Scene::new(vec![calls(&[TOUCH]), says("fine")]),
        |_, setup| {
            setup.interactive = true;
        },
    );
    let reason = Some("not here".to_string());
    let events = run.turn_deciding("touch", &Decision::Deny { reason });
    let lines = after_opening(show(&events));
    assert_eq!(
        lines[3..],
        [
            lines[3].as_str(),
            "decided 1 c1: Deny { reason: Some(\"not here\") } by Person",
            "ended c1 run_command: Denied not done: the user said no: not here",
            "sent 2",
            "content 2: fine",
            "replied 2: Stop",
            "turn 1 ended: Done; done",
        ]
    );
    assert!(
        lines[3].starts_with("asked 1 c1: Command { command: \"touch x\","),
        "{}",
        lines[3]
    );
    assert!(!run.temp.path().join("work/x").exists());
    run.finish();
}

#[test]
fn once_asks_again_and_session_does_not() {
    for (decision, questions) in [
        (Decision::Once, 2),
        (Decision::Session, 1),
        (Decision::SessionRule, 1),
        // There is no folder to keep it in: not on offer, so it counts once.
        (Decision::KeptRule, 2),
    ] {
        let scene = Scene::new(vec![calls(&[TOUCH]), calls(&[TOUCH]), says("ok")]);
        let run = Run::start(scene, |_, setup| setup.interactive = true);
        let events = run.turn_deciding("touch", &decision);
        let asked = events
            .iter()
            .filter(|event| matches!(event, Event::Asked { .. }))
            .count();
        assert_eq!(
            (asked, status(&events)),
            (questions, Status::Done),
            "{decision:?}"
        );
        assert!(run.temp.path().join("work/x").exists());
        run.finish();
    }
}

#[test]
fn an_edit_is_asked_about_with_its_exact_diff() {
    for (decision, text) in [
        (Decision::Once, "two\n"),
        (Decision::Deny { reason: None }, "one\n"),
    ] {
        let scene = Scene::new(vec![
            calls(&[("c1", "read_file", r#"{"path":"a.txt"}"#)]),
            calls(&[EDIT]),
            says("ok"),
        ]);
        let run = Run::start(scene, |temp, setup| {
            temp.write("work/a.txt", "one\n");
            setup.interactive = true;
            setup.policy = Policy::new(CommandMode::Ask, EditMode::Ask, Profile::Coding, None);
        });
        let events = run.turn_deciding("edit", &decision);
        let question = events.iter().find_map(|event| match event {
            Event::Asked {
                question: Question::Edit { path, diff, .. },
                ..
            } => Some((path.clone(), diff.clone())),
            _ => None,
        });
        let (path, diff) = question.expect("an edit was asked about");
        assert_eq!(path, "a.txt");
        assert!(diff.contains("\n-one\n+two\n"), "{diff}");
        assert_eq!(run.temp.read("work/a.txt"), text.as_bytes());
        run.finish();
    }
}

#[test]
fn denied_commands_are_told_to_the_model_and_the_turn_goes_on() {
    let run = Run::start(
        Scene::new(vec![calls(&[TOUCH]), says("run `touch x` yourself")]),
        |_, setup| {
            let flag = Some("--deny-commands");
            setup.policy = Policy::new(CommandMode::Deny, EditMode::Auto, Profile::Coding, flag);
        },
    );
    let events = run.turn("touch");
    let lines = after_opening(show(&events));
    assert!(
        lines[4].starts_with("ended c1 run_command: Denied not done: commands are denied"),
        "{}",
        lines[4]
    );
    assert!(lines[4].contains("--deny-commands"), "{}", lines[4]);
    assert!(
        lines[3].ends_with(" by Flag(\"--deny-commands\")"),
        "{}",
        lines[3]
    );
    assert_eq!(status(&events), Status::Done);
    run.finish();
}

#[test]
fn a_loop_is_asked_about_and_may_go_on() {
    let same = calls(&[("c1", "list_files", "{}")]);
    let mut chats = vec![same; 10];
    chats.push(says("ok"));
    let run = Run::start(Scene::new(chats), |_, setup| setup.interactive = true);
    let events = run.turn_deciding("go", &Decision::Once);
    let lines = show(&events);
    let description = "the model made the same call 5 times with the same result";
    let question = format!("asked 1 -: Loop {{ description: \"{description}\" }}");
    let at = lines
        .iter()
        .position(|line| *line == question)
        .expect("a question");
    assert_eq!(lines[at + 1], "decided 1 -: Once by Person");
    // A yes counts anew: the next question comes five calls later.
    let asked = lines.iter().filter(|line| line.starts_with("asked "));
    assert_eq!(asked.count(), 2, "{lines:#?}");
    assert_eq!(status(&events), Status::Done);
    run.finish();

    let same = calls(&[("c1", "list_files", "{}")]);
    let run = Run::start(Scene::new(vec![same; 6]), |_, setup| {
        setup.interactive = true
    });
    let events = run.turn_deciding("go", &Decision::Deny { reason: None });
    let which = description.to_string();
    assert_eq!(status(&events), Status::Limit { which });
    run.finish();
}

fn cloud() -> Scene {
    let mut scene = Scene::new(vec![says("ok")]);
    scene.show = SHOW.replacen(
        '{',
        r#"{"remote_host":"https://ollama.com","remote_model":"m",  "#,
        1,
    );
    scene
}

#[test]
fn a_forwarded_model_gets_no_byte_of_a_prompt_without_a_yes() {
    let what = "m does not run here: the server forwards every prompt to https://ollama.com";
    let run = Run::start(cloud(), |_, _| {});
    let what_needed = what.to_string();
    assert_eq!(
        status(&run.turn("hi")),
        Status::NeedsApproval { what: what_needed }
    );
    assert_eq!(run.fake.chats(), Vec::<Vec<u8>>::new());
    run.finish();

    let run = Run::start(cloud(), |_, setup| setup.interactive = true);
    let events = run.turn_deciding("hi", &Decision::Deny { reason: None });
    let reason = format!("{what}; nothing was sent; choose a local model (--model)");
    assert_eq!(status(&events), Status::Unusable { reason });
    assert_eq!(run.fake.chats(), Vec::<Vec<u8>>::new());
    run.finish();

    let run = Run::start(cloud(), |_, setup| setup.interactive = true);
    let events = run.turn_deciding("hi", &Decision::Once);
    assert_eq!(status(&events), Status::Done);
    run.finish();

    let run = Run::start(cloud(), |_, setup| setup.model.allow_cloud = true);
    let lines = show(&run.turn("hi"));
    assert_eq!(
        lines[2..4],
        [format!("warning: {what}"), "sent 1".to_string()]
    );
    run.finish();
}
