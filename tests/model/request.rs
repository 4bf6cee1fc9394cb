//! The bytes of requests.

use super::{shape, tree};
use std::sync::Arc;
use zcoder::model::{Backend, RequestBody, Shape, Think};
use zcoder::protocol::{CallId, Message, Note, Tap, ToolCall};

fn begin(shape: &Shape) -> RequestBody {
    Backend::ollama(&super::options(1), Tap::default()).begin(shape)
}

fn text(body: &RequestBody) -> String {
    let bytes = body.slices().concat();
    assert_eq!(bytes.len(), body.len());
    String::from_utf8(bytes).expect("UTF-8")
}

fn call(id: &str, name: &str, arguments: &str) -> ToolCall {
    ToolCall {
        id: CallId(id.to_string()),
        name: name.to_string(),
        arguments: tree(arguments),
    }
}

fn conversation() -> Vec<Message> {
    let call = call(
        "call_a",
        "read_file",
        r#"{"path":"a \"b\".rs","deep":{"n":[1,2.50]}}"#,
    );
    vec![
        Message::System {
            text: "Be brief.".to_string(),
        },
        Message::Note {
            note: Note::Environment,
            text: "[note] folder: /w".to_string(),
        },
        Message::User {
            text: "What is in a.rs?\u{2028}</x>\u{7f}".to_string(),
        },
        Message::Assistant {
            content: Arc::default(),
            thinking: Arc::new("Look.".to_string()),
            calls: vec![call],
        },
        Message::Tool {
            call: CallId("call_a".to_string()),
            name: "read_file".to_string(),
            text: "fn main() {}\n".to_string(),
        },
        Message::Assistant {
            content: Arc::new("A program.".to_string()),
            thinking: Arc::default(),
            calls: Vec::new(),
        },
    ]
}

#[test]
fn the_whole_request_byte_for_byte() {
    let mut shape = shape();
    shape.model = "qwen3:8b".to_string();
    shape.think = Some(Think::On);
    shape.native_tools = Some(r#"[{"type":"function"}]"#.to_string());
    shape.keep_alive = Some("10m".to_string());
    let mut body = begin(&shape);
    for message in conversation() {
        body.push(&message);
    }
    let expected = concat!(
        r#"{"model":"qwen3:8b","stream":true,"truncate":false,"shift":false,"think":true,"options":{"num_ctx":32768},"keep_alive":"10m","#,
        r#""tools":[{"type":"function"}],"messages":["#,
        r#"{"role":"system","content":"Be brief."},"#,
        r#"{"role":"user","content":"[note] folder: /w"},"#,
        "{\"role\":\"user\",\"content\":\"What is in a.rs?\u{2028}</x>\u{7f}\"},",
        r#"{"role":"assistant","thinking":"Look.","content":"","tool_calls":[{"id":"call_a","function":{"index":0,"name":"read_file","arguments":{"path":"a \"b\".rs","deep":{"n":[1,2.50]}}}}]},"#,
        r#"{"role":"tool","tool_name":"read_file","tool_call_id":"call_a","content":"fn main() {}\n"},"#,
        r#"{"role":"assistant","content":"A program."}]}"#,
    );
    assert_eq!(text(&body), expected);
}

#[test]
fn each_request_without_its_closing_begins_the_next_one() {
    for native_tools in [Some("[]".to_string()), None] {
        let mut shape = shape();
        shape.native_tools = native_tools;
        let mut body = begin(&shape);
        let mut earlier = body.slices()[0].to_vec();
        for message in conversation() {
            body.push(&message);
            let now = body.slices().concat();
            assert!(now.starts_with(&earlier), "{message:?}");
            let open = now.strip_suffix(b"]}").expect("the closing");
            zcoder::json::Tree::parse(&now).expect("JSON");
            earlier = open.to_vec();
        }
    }
}

#[track_caller]
fn check_options(change: impl Fn(&mut Shape), expected: &str) {
    let mut shape = shape();
    shape.native_tools = None;
    change(&mut shape);
    let before = r#"{"model":"m","stream":true,"truncate":false,"shift":false"#;
    assert_eq!(
        text(&begin(&shape)),
        format!(r#"{before}{expected},"messages":[]}}"#)
    );
}

#[test]
fn options_are_sent_when_set() {
    check_options(|_| {}, r#","options":{"num_ctx":32768}"#);
    check_options(
        |s| s.think = Some(Think::Off),
        r#","think":false,"options":{"num_ctx":32768}"#,
    );
    check_options(
        |s| s.think = Some(Think::Low),
        r#","think":"low","options":{"num_ctx":32768}"#,
    );
    check_options(
        |s| s.think = Some(Think::Medium),
        r#","think":"medium","options":{"num_ctx":32768}"#,
    );
    check_options(
        |s| s.think = Some(Think::High),
        r#","think":"high","options":{"num_ctx":32768}"#,
    );
    check_options(
        |s| (s.temperature, s.seed) = (Some(0.5), Some(7)),
        r#","options":{"num_ctx":32768,"temperature":0.5,"seed":7}"#,
    );
    // A bare number must be a number: the server wants a unit in strings.
    check_options(
        |s| s.keep_alive = Some("300".to_string()),
        r#","options":{"num_ctx":32768},"keep_alive":300"#,
    );
    check_options(
        |s| s.keep_alive = Some("-1".to_string()),
        r#","options":{"num_ctx":32768},"keep_alive":-1"#,
    );
}

#[test]
fn arguments_that_are_no_object_are_sent_back_as_one() {
    let mut body = begin(&shape());
    body.push(&Message::Assistant {
        content: Arc::new("x".to_string()),
        thinking: Arc::default(),
        calls: vec![call("c1", "", "[1]"), call("c2", "read_file", r#""a""#)],
    });
    assert!(
        text(&body).ends_with(
            r#"{"role":"assistant","content":"x","tool_calls":[{"id":"c1","function":{"index":0,"name":"","arguments":{}}},{"id":"c2","function":{"index":1,"name":"read_file","arguments":{}}}]}]}"#
        ),
        "{}",
        text(&body)
    );
}

#[test]
fn without_native_tools_calls_and_results_travel_as_text() {
    let mut shape = shape();
    shape.native_tools = None;
    let mut body = begin(&shape);
    body.push(&Message::Assistant {
        content: Arc::new("I look.".to_string()),
        thinking: Arc::default(),
        calls: vec![call("c1", "read_file", r#"{"path":"a.rs","start_line":3}"#)],
    });
    body.push(&Message::Tool {
        call: CallId("c1".to_string()),
        name: "read_file".to_string(),
        text: "fn main() {}".to_string(),
    });
    let expected = concat!(
        r#""messages":[{"role":"assistant","content":"I look.\n<function=read_file>\n<parameter=path>\na.rs\n</parameter>\n<parameter=start_line>\n3\n</parameter>\n</function>"},"#,
        r#"{"role":"user","content":"<result of=\"read_file\">\nfn main() {}\n</result>"}]}"#,
    );
    assert!(text(&body).ends_with(expected), "{}", text(&body));
}
