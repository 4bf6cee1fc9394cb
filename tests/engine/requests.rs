//! The bytes that go out: how many, which ones, and that they stay.

use super::drive::{Run, allow_commands, check_history, check_prefixes, setup};
use super::fake::{Fake, Scene, calls, says};
use crate::support::temp::Temp;
use zcoder::engine::preview;
use zcoder::model::ToolStyle;
use zcoder::policy::Profile;
use zcoder::protocol::{Event, Level, Op, Status};

fn prompt(text: &str, attachment: Option<&str>) -> Op {
    Op::Prompt {
        text: text.to_string(),
        attachment: attachment.map(str::to_string),
    }
}

#[test]
fn the_first_request_is_small() {
    for profile in [Profile::Coding, Profile::Sysadmin] {
        let run = Run::start(Scene::new(vec![says("ok")]), |_, setup| {
            setup.profile = profile
        });
        run.turn("fix the failing test");
        let chats = run.finish();
        let bytes = chats[0].len();
        assert!(bytes <= 5000, "{profile:?}: {bytes} bytes");
    }
    let run = Run::start(Scene::new(vec![says("ok")]), |_, setup| {
        setup.model.tool_style = ToolStyle::Text;
    });
    run.turn("fix the failing test");
    let bytes = run.finish()[0].len();
    assert!(bytes <= 5000, "text style: {bytes} bytes");
}

#[test]
fn a_preview_is_the_request_to_the_byte() {
    let temp = Temp::new();
    let fake = Fake::start(Scene::new(vec![]));
    let mut told = Vec::new();
    let op = prompt("hello", Some("attached\n"));
    let bytes = preview(setup(&fake, &temp), op.clone(), &mut |event| {
        told.push(event)
    })
    .expect("a request");
    assert_eq!(fake.lines(), ["POST /api/show", "GET /api/ps"]);
    assert!(
        matches!(told[..], [Event::Model { .. }, Event::Context(_)]),
        "{told:?}"
    );
    check_history(&bytes);

    let run = Run::start(Scene::new(vec![says("ok")]), |_, _| {});
    run.say(op);
    run.until_ended();
    assert_eq!(run.finish(), [bytes]);
}

#[test]
fn a_preview_says_that_a_checkpoint_would_come_first() {
    for (most, warned) in [(1, 1), (100_000, 0)] {
        let temp = Temp::new();
        let fake = Fake::start(Scene::new(vec![]));
        let mut given = setup(&fake, &temp);
        given.compaction.tokens = Some(most);
        let mut told = Vec::new();
        preview(given, prompt("hello", None), &mut |event| told.push(event)).expect("a request");
        let text = "this request would be shortened before it is sent: the model would be asked for a checkpoint first".to_string();
        let level = Level::Warning;
        let notice = Event::Notice { level, text };
        let found = told.iter().filter(|event| **event == notice).count();
        assert_eq!(found, warned, "{told:?}");
    }
}

#[test]
fn an_offline_preview_asks_nobody_and_says_what_it_assumes() {
    let temp = Temp::new();
    let fake = Fake::start(Scene::new(vec![]));
    let mut given = setup(&fake, &temp);
    given.offline = true;
    let mut told = Vec::new();
    let bytes =
        preview(given, prompt("hello", None), &mut |event| told.push(event)).expect("a request");
    check_history(&bytes);
    assert_eq!(fake.lines(), Vec::<String>::new());
    assert!(
        matches!(
            told[..],
            [Event::Model { .. }, Event::Notice { .. }, Event::Context(_)]
        ),
        "{told:?}"
    );

    let mut given = setup(&fake, &temp);
    given.offline = true;
    given.model.model = None;
    let reason =
        "no model is named and the server may not be asked; name one (--model)".to_string();
    let refused = preview(given, prompt("hello", None), &mut |_| {});
    assert_eq!(refused, Err(Status::Unusable { reason }));
}

#[test]
fn system_prompt_and_tools_are_the_same_bytes_in_every_session() {
    let first = |text: &str| {
        let run = Run::start(Scene::new(vec![says("ok")]), |temp, _| {
            temp.write("work/some/file", "x");
        });
        run.turn(text);
        run.finish().remove(0)
    };
    let (one, two) = (first("one"), first("another prompt"));
    let stable = |body: &[u8]| {
        let text = String::from_utf8_lossy(body).into_owned();
        let end = text
            .find("[note from zcoder")
            .expect("the environment note");
        text[..end].to_string()
    };
    assert_eq!(stable(&one), stable(&two));
}

#[test]
fn the_prefix_holds_over_turns_with_every_kind_of_message() {
    let scene = Scene::new(vec![
        calls(&[(
            "c1",
            "write_file",
            r#"{"path":"n.txt","content":"é \" \\ \u0001\n"}"#,
        )]),
        calls(&[
            ("c2", "run_command", r#"{"command":"cat n.txt; exit 1"}"#),
            ("c3", "nonsense", "[]"),
        ]),
        super::fake::Chat::Records(vec![super::fake::done("stop")]),
        says("first answer"),
        says("second answer"),
    ]);
    let run = Run::start(scene, |_, setup| allow_commands(setup));
    run.turn("first");
    run.turn("second");
    let chats = run.finish();
    assert_eq!(chats.len(), 5);
    check_prefixes(&chats);
}

#[test]
fn a_long_attachment_keeps_head_and_tail() {
    let run = Run::start(Scene::new(vec![says("ok")]), |_, setup| {
        setup.model.num_ctx = Some(4096)
    });
    let long = format!("HEAD{}TAIL", "x".repeat(100_000));
    run.say(prompt("what is this?", Some(&long)));
    let events = run.until_ended();
    let text = "the attachment has 100,008 bytes; the model is given its first and last 1,536; for more, put it into a file of the workspace and name that".to_string();
    let level = Level::Warning;
    assert!(
        events.contains(&Event::Notice { level, text }),
        "{events:?}"
    );
    let body = String::from_utf8(run.finish().remove(0)).expect("UTF-8");
    let attached = r"what is this?\n\n[attached, 100008 bytes]\nHEADxxx";
    assert!(body.contains(attached), "{body}");
    assert!(
        body.contains(r"xxx\n[96936 bytes left out here]\nxxx"),
        "{body}"
    );
    assert!(body.contains(r"xTAIL\n[end of attachment]"), "{body}");
}

#[test]
fn the_text_style_makes_whole_rounds() {
    let call = "I look.\n<function=read_file>\n<parameter=path>\na.txt\n</parameter>\n</function>";
    let run = Run::start(
        Scene::new(vec![says(call), says("It says: text.")]),
        |temp, setup| {
            temp.write("work/a.txt", "text\n");
            setup.model.tool_style = ToolStyle::Text;
        },
    );
    let events = run.turn("what is in a.txt?");
    let Some(Event::TurnEnded { receipt, .. }) = events.last() else {
        panic!("{events:?}");
    };
    assert_eq!((&receipt.status, receipt.calls), (&Status::Done, 1));
    let chats = run.finish();
    check_prefixes(&chats);
    let second = String::from_utf8_lossy(&chats[1]).into_owned();
    assert!(!second.contains(r#""tools":"#), "{second}");
    assert!(
        second.contains(r#"<result of=\"read_file\">\ntext\n"#),
        "{second}"
    );
}
