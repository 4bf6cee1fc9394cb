//! What goes wrong with server and model, and how far a turn mends it.

use super::drive::{Run, after_opening, check_prefixes, show};
use super::fake::{Chat, Scene, calls, content, done, says};
use zcoder::model::{Think, ToolStyle};
use zcoder::protocol::{Event, Status};

fn status(events: &[Event]) -> Status {
    match events.last() {
        Some(Event::TurnEnded { receipt, .. }) => receipt.status.clone(),
        other => panic!("not the end of a turn: {other:?}"),
    }
}

/// What an old server says: it lists no capabilities.
const UNKNOWN: &str = r#"{"details":{"family":"t"},"model_info":{}}"#;

#[track_caller]
fn check_server_failed(events: &[Event], holds: &str) {
    match status(events) {
        Status::ServerFailed { reason } => assert!(reason.contains(holds), "{reason}"),
        other => panic!("{other:?}"),
    }
}

fn error(status: u16, text: &str) -> Chat {
    Chat::Status(status, format!(r#"{{"error":"{text}"}}"#))
}

#[test]
fn an_unreadable_call_is_told_to_the_model_twice_and_never_sent_again_as_it_was() {
    let unreadable = || error(500, "XML syntax error on line 3: unexpected EOF");
    let run = Run::start(
        Scene::new(vec![unreadable(), unreadable(), says("ok")]),
        |_, _| {},
    );
    let events = run.turn("go");
    let lines = after_opening(show(&events));
    assert_eq!(
        lines[2..],
        [
            "warning: the server could not read the model's call; the model was told",
            "sent 2",
            lines[4].as_str(),
            "warning: the server could not read the model's call; the model was told; --tool-style text keeps code out of such calls and \
             may suit this model better",
            "sent 3",
            "content 3: ok",
            "replied 3: Stop",
            "turn 1 ended: Done; done",
        ]
    );
    assert!(lines[4].starts_with("discarded 2: "), "{}", lines[4]);
    let chats = run.finish();
    check_prefixes(&chats);
    let second = String::from_utf8_lossy(&chats[1]).into_owned();
    assert!(
        second.contains("XML syntax error on line 3: unexpected EOF"),
        "{second}"
    );

    let run = Run::start(
        Scene::new(vec![unreadable(), unreadable(), unreadable()]),
        |_, _| {},
    );
    check_server_failed(&run.turn("go"), "XML syntax error");
    assert_eq!(run.finish().len(), 3);
}

#[test]
fn unreadable_calls_are_counted_in_a_row() {
    let unreadable = || error(500, "XML syntax error on line 3: unexpected EOF");
    let look = || calls(&[("c1", "list_files", "{}")]);
    let run = Run::start(
        Scene::new(vec![
            unreadable(),
            unreadable(),
            look(),
            unreadable(),
            unreadable(),
            says("ok"),
        ]),
        |_, _| {},
    );
    assert_eq!(status(&run.turn("go")), Status::Done);
    check_prefixes(&run.finish());
}

#[test]
fn thinking_that_the_server_refuses_is_left_out_from_then_on() {
    let mut scene = Scene::new(vec![
        error(400, r#"\"m\" does not support thinking"#),
        says("one"),
        says("two"),
    ]);
    scene.show = UNKNOWN.to_string();
    let run = Run::start(scene, |_, setup| setup.model.think = Some(Think::On));
    assert_eq!(status(&run.turn("first")), Status::Done);
    assert_eq!(status(&run.turn("second")), Status::Done);
    let chats = run.finish();
    let thinks: Vec<bool> = chats
        .iter()
        .map(|body| String::from_utf8_lossy(body).contains(r#""think":true"#))
        .collect();
    assert_eq!(thinks, [true, false, false]);
    check_prefixes(&chats[1..]);
}

#[test]
fn tools_that_the_server_refuses_are_described_in_the_text_when_the_style_is_ours() {
    let refused = || error(400, "registry.ollama.ai/library/m does not support tools");
    let mut scene = Scene::new(vec![refused(), says("one")]);
    scene.show = UNKNOWN.to_string();
    let run = Run::start(scene, |_, _| {});
    let events = run.turn("first");
    assert_eq!(status(&events), Status::Done, "{:#?}", show(&events));
    let chats = run.finish();
    let native: Vec<bool> = chats
        .iter()
        .map(|body| String::from_utf8_lossy(body).contains(r#""tools":["#))
        .collect();
    assert_eq!(native, [true, false]);
    assert!(String::from_utf8_lossy(&chats[1]).contains("<function="));

    let mut scene = Scene::new(vec![refused()]);
    scene.show = UNKNOWN.to_string();
    let run = Run::start(scene, |_, setup| setup.model.tool_style = ToolStyle::Native);
    let events = run.turn("first");
    assert!(
        matches!(status(&events), Status::Unusable { .. }),
        "{:?}",
        status(&events)
    );
    run.finish();
}

#[test]
fn a_prompt_that_does_not_fit_ends_with_a_limit() {
    let too_long = error(400, "the input length exceeds the context length");
    let run = Run::start(Scene::new(vec![too_long]), |_, _| {});
    let events = run.turn("go");
    assert!(
        matches!(status(&events), Status::Limit { .. }),
        "{:?}",
        status(&events)
    );
    run.finish();

    // Our own estimate says so before anything is sent.
    let run = Run::start(Scene::new(vec![]), |_, setup| {
        setup.model.num_ctx = Some(500)
    });
    match status(&run.turn("go")) {
        Status::Limit { which } => {
            assert!(
                which.contains("and the window holds 500; use a larger window (--context-window)"),
                "{which}"
            );
        }
        other => panic!("{other:?}"),
    }
    assert_eq!(run.finish(), Vec::<Vec<u8>>::new());
}

#[test]
fn what_the_server_says_ends_the_turn_and_the_next_prompt_works() {
    let broken = error(400, "invalid character");
    let run = Run::start(Scene::new(vec![broken, says("ok")]), |_, _| {});
    check_server_failed(&run.turn("first"), "invalid character");
    assert_eq!(status(&run.turn("second")), Status::Done);
    check_prefixes(&run.finish());
}

#[test]
fn an_error_in_the_middle_of_a_reply_keeps_nothing_of_it() {
    let midway = Chat::Records(vec![content("par"), r#"{"error":"boom"}"#.to_string()]);
    let run = Run::start(Scene::new(vec![midway.clone(), midway]), |_, _| {});
    let events = run.turn("go");
    check_server_failed(&events, "boom");
    let lines = after_opening(show(&events));
    assert_eq!(lines[..2], ["sent 1", "content 1: par"]);
    assert!(lines[2].starts_with("discarded 1: "), "{lines:#?}");
    run.finish();
}

#[test]
fn no_server_is_said_with_its_address() {
    let run = Run::start(Scene::new(vec![]), |_, setup| {
        // A port that was free a moment ago.
        let listener = std::net::TcpListener::bind("127.0.0.1:0").expect("loopback");
        let address = listener.local_addr().expect("bound").to_string();
        drop(listener);
        let (endpoint, _) = zcoder::http::Endpoint::parse(&address).expect("address");
        setup.model.target = zcoder::http::Target::new(endpoint, None, Vec::new()).expect("target");
        setup.backend = zcoder::model::Backend::ollama(&setup.model, setup.tap.clone());
    });
    let events = run.turn("go");
    check_server_failed(&events, "127.0.0.1:");
    assert_eq!(show(&events).len(), 2);
    run.finish();
}

#[test]
fn a_missing_model_is_a_matter_of_configuration() {
    let mut scene = Scene::new(vec![]);
    scene.show_status = 404;
    scene.show = r#"{"error":"model 'm' not found"}"#.to_string();
    let run = Run::start(scene, |_, _| {});
    match status(&run.turn("go")) {
        Status::Unusable { reason } => assert!(reason.contains("ollama pull m"), "{reason}"),
        other => panic!("{other:?}"),
    }
    run.finish();
}

#[test]
fn without_a_name_the_only_model_is_taken_and_several_are_listed() {
    let run = Run::start(Scene::new(vec![says("ok")]), |_, setup| {
        setup.model.model = None
    });
    let lines = show(&run.turn("go"));
    assert_eq!(
        lines[1],
        "model m:latest: the only model here; 32768: all the model was trained for"
    );
    assert_eq!(
        run.fake.lines(),
        [
            "GET /api/tags",
            "GET /api/ps",
            "POST /api/show",
            "POST /api/chat"
        ]
    );
    run.finish();

    let mut scene = Scene::new(vec![]);
    scene.tags = r#"{"models":[{"name":"a","size":1},{"name":"b","size":1}]}"#.to_string();
    let run = Run::start(scene, |_, setup| setup.model.model = None);
    match status(&run.turn("go")) {
        Status::Unusable { reason } => assert!(reason.contains("a, b"), "{reason}"),
        other => panic!("{other:?}"),
    }
    run.finish();
}

#[test]
fn empty_replies_are_asked_about_once() {
    let empty = Chat::Records(vec![done("stop")]);
    let run = Run::start(Scene::new(vec![empty.clone(), empty]), |_, _| {});
    let events = run.turn("go");
    assert_eq!(
        after_opening(show(&events))[2..],
        [
            "warning: the model gave an empty reply; asking again",
            "sent 2",
            "replied 2: Stop",
            "turn 1 ended: Failed; failed: the model gave an empty reply, also when asked again",
        ]
    );
    check_prefixes(&run.finish());
}

#[test]
fn the_number_of_model_calls_can_be_limited() {
    for (max, which) in [
        (1, "the model was asked 1 time (--max-turns)"),
        (2, "the model was asked 2 times (--max-turns)"),
    ] {
        let look = |id| calls(&[(id, "list_files", "{}")]);
        let chats = vec![look("c1"), look("c2"), look("c3"), says("next turn")];
        let run = Run::start(Scene::new(chats), |_, setup| {
            setup.limits.max_turns = Some(max)
        });
        let events = run.turn("go");
        let which = which.to_string();
        assert_eq!(status(&events), Status::Limit { which });
        assert_eq!(run.fake.chats().len() as u64, max);
        run.finish();
    }
}
