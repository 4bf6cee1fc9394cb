//! Steps back and forth between turns, and what commands changed.

use super::drive::{Run, allow_commands, show};
use super::fake::{Chat, Scene, calls, says};
use zcoder::protocol::{Act, Event, Level, Op, Step, StepReport, TurnId};
use zcoder::undo::{Journal, Limits, Store};

/// An engine with a journal; the first turn writes `a.txt`.
fn start(mut chats: Vec<Chat>) -> Run {
    let write = r#"{"path":"a.txt","content":"new\n"}"#;
    chats.insert(0, calls(&[("c1", "write_file", write)]));
    chats.insert(1, says("written"));
    Run::start(Scene::new(chats), |temp, setup| {
        allow_commands(setup);
        let root = setup.toolbox.workspace().root().to_path_buf();
        let store = Store::new(&temp.path().join("state"), &root);
        setup.journal = Journal::new(store, &setup.log.id().0);
    })
}

#[track_caller]
fn step(run: &Run, step: Step, act: Act) -> StepReport {
    run.say(Op::Step { step, act });
    let events = run.until(|event| matches!(event, Event::Stepped(_) | Event::Notice { .. }));
    match events.last() {
        Some(Event::Stepped(report)) => report.clone(),
        _ => panic!("{:#?}", show(&events)),
    }
}

const LAST: Step = Step::Undo { turn: None };

#[test]
fn a_step_is_shown_then_made_and_the_model_is_told() {
    let run = start(vec![says("ok")]);
    run.turn("write it");
    let shown = step(&run, LAST, Act::Show);
    assert_eq!(shown.what, "undo turn 1 (write it)");
    assert_eq!((shown.changes.len(), shown.made), (1, false));
    assert_eq!(run.temp.read("work/a.txt"), b"new\n");
    let made = step(&run, LAST, Act::Make);
    assert!(made.made && made.changes[0].deleted);
    assert!(!run.temp.path().join("work/a.txt").exists());
    run.turn("go on");
    let chats = run.finish();
    let last = String::from_utf8(chats.last().expect("a request").clone()).expect("UTF-8");
    assert!(
        last.contains(
            "The user made this step: undo turn 1 (write it). These files are not as you left them: a.txt (gone). \
             Read them again before you edit them, and do not repeat what was taken back unless the user asks for it."
        ),
        "{last}"
    );
}

#[test]
fn a_turn_can_be_named_and_redone() {
    let run = start(vec![]);
    run.turn("write it");
    let turn = Some(TurnId(1));
    assert!(step(&run, Step::Undo { turn }, Act::Make).made);
    assert!(step(&run, Step::Redo, Act::Make).made);
    assert_eq!(run.temp.read("work/a.txt"), b"new\n");
    run.say(Op::Step {
        step: Step::Undo {
            turn: Some(TurnId(7)),
        },
        act: Act::Make,
    });
    let events = run.until(|event| matches!(event, Event::Notice { .. }));
    assert_eq!(
        show(&events),
        ["error: turn 7 has nothing to take back; these have: 1"]
    );
}

#[test]
fn what_had_to_go_for_a_step_is_said() {
    let content = "x".repeat(6_000);
    let write = format!(r#"{{"path":"b.txt","content":"{content}"}}"#);
    let run = Run::start(
        Scene::new(vec![
            calls(&[("c1", "write_file", r#"{"path":"a.txt","content":"a\n"}"#)]),
            says("written"),
            calls(&[("c2", "write_file", &write)]),
            says("written"),
        ]),
        |temp, setup| {
            let root = setup.toolbox.workspace().root().to_path_buf();
            let store = Store::new(&temp.path().join("state"), &root).with_limits(Limits {
                session_bytes: 16 << 10,
                ..Limits::default()
            });
            setup.journal = Journal::new(store, &setup.log.id().0);
        },
    );
    run.turn("write a");
    run.turn("write b");
    run.say(Op::Step {
        step: LAST,
        act: Act::Make,
    });
    let events = run.until(|event| matches!(event, Event::Stepped(_)));
    let [Event::Notice { level, text }, Event::Stepped(report)] = &events[..] else {
        panic!("{:#?}", show(&events));
    };
    assert_eq!(
        (*level, text.as_str(), report.made),
        (
            Level::Warning,
            "the undo journal of this session is full: 1 of its oldest turns can no longer be taken back",
            true
        )
    );
}

#[test]
fn a_review_is_the_patch_of_the_session() {
    let run = start(vec![]);
    run.turn("write it");
    run.say(Op::Review);
    let events = run.until(|event| matches!(event, Event::Reviewed { .. }));
    assert_eq!(
        show(&events),
        [
            r#"reviewed: "diff --git a/a.txt b/a.txt\nnew file mode 100644\n--- /dev/null\n+++ b/a.txt\n@@ -0,0 +1 @@\n+new\n" []"#
        ]
    );
}

#[test]
fn what_a_command_changed_is_told_and_goes_back_with_an_edited_file() {
    let command = r#"{"command":"echo more >> a.txt; echo x > x.log"}"#;
    let edit = r#"{"path":"a.txt","old_text":"new","new_text":"newer"}"#;
    let run = start(vec![
        calls(&[("c2", "replace_text", edit), ("c3", "run_command", command)]),
        says("done"),
    ]);
    run.turn("write it");
    let lines = show(&run.turn("more"));
    assert!(
        lines.contains(&"touched c3: a.txt, x.log +0".to_string()),
        "{lines:#?}"
    );
    let made = step(&run, LAST, Act::Make);
    assert_eq!(
        made.notes,
        ["no before-image of what `echo more >> a.txt; echo x > x.log` changed, it stays: x.log"]
    );
    assert_eq!(run.temp.read("work/a.txt"), b"new\n");
    assert_eq!(run.temp.read("work/x.log"), b"x\n");
}

#[test]
fn without_a_journal_nothing_can_be_taken_back() {
    let run = Run::start(Scene::new(vec![]), |_, _| {});
    run.say(Op::Review);
    let events = run.until(|event| matches!(event, Event::Notice { .. }));
    assert_eq!(
        show(&events),
        ["error: this run keeps no undo journal, so there is nothing to take back or to show"]
    );
}
