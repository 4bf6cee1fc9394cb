//! Calls found in content, and what is left alone: a table of whole contents.

use super::OFFERED;
use super::peer::Peer;
use super::{calls, plain_chat, talk, talk_as};
use zcoder::model::{Chat, Recovered, recover};

/// What is found, as one string: `NAME ARGS; NAME ARGS | CONTENT`, `-` for nothing, `tried: WHAT`.
fn shown(content: &str, text_style: bool) -> String {
    match recover(content, OFFERED, text_style) {
        Recovered::None => "-".to_string(),
        Recovered::Tried { what } => format!("tried: {what}"),
        Recovered::Calls { calls, content } => {
            let calls = calls.iter();
            let calls: Vec<String> = calls
                .map(|call| format!("{} {}", call.name, call.arguments))
                .collect();
            format!("{} | {content}", calls.join("; "))
        }
    }
}

#[track_caller]
fn check(content: &str, expected: &str) {
    assert_eq!(shown(content, false), expected);
}

#[track_caller]
fn check_text_style(content: &str, expected: &str) {
    assert_eq!(shown(content, true), expected);
}

const FOUND: &str = r#"read_file {"path":"a.txt"} | "#;

#[test]
fn the_known_forms() {
    check(
        r#"<tool_call>{"name":"read_file","arguments":{"path":"a.txt"}}</tool_call>"#,
        FOUND,
    );
    check(
        "<tool_call>\n{\"name\":\"read_file\",\"arguments\":{\"path\":\"a.txt\"}}\n</tool_call>\n",
        FOUND,
    );
    check(
        "<tool_call>\n<function=read_file>\n<parameter=path>\na.txt\n</parameter>\n</function>\n</tool_call>",
        FOUND,
    );
    check(
        "<function=read_file>\n<parameter=path>\na.txt\n</parameter>\n</function>\n</tool_call>\n",
        FOUND,
    );
    check(
        "<function=read_file><parameter=path>a.txt</parameter></function>",
        FOUND,
    );
    check(
        r#"{"name":"read_file","arguments":{"path":"a.txt"}}"#,
        FOUND,
    );
    check(
        "\n {\"name\": \"read_file\", \"parameters\": {\"path\": \"a.txt\"}} \n",
        r#"read_file {"path":"a.txt"} | "#,
    );
    check(
        r#"{"type":"function","name":"read_file","arguments":"{\"path\":\"a.txt\"}"}"#,
        FOUND,
    );
    check(
        r#"[TOOL_CALLS][{"name":"read_file","arguments":{"path":"a.txt"}}]"#,
        FOUND,
    );
    check("<function=list_files>\n</function>", "list_files {} | ");
}

#[test]
fn several_calls_and_the_prose_before_them() {
    check(
        "I read both.\n\n<function=read_file>\n<parameter=path>\na\n</parameter>\n</function>\n</tool_call>\n<tool_call>\n<function=read_file>\n<parameter=path>\nb\n</parameter>\n</function>\n</tool_call>",
        r#"read_file {"path":"a"}; read_file {"path":"b"} | I read both."#,
    );
    check(
        r#"Both:
[TOOL_CALLS] [{"name":"read_file","arguments":{"path":"a"}}, {"name":"list_files","arguments":{}}]"#,
        r#"read_file {"path":"a"}; list_files {} | Both:"#,
    );
}

#[test]
fn values_lose_one_line_end_at_each_side_and_nothing_else() {
    let call = |value: &str| {
        format!("<function=run_command><parameter=command>{value}</parameter></function>")
    };
    check(
        &call("\n\n  a < b && c \n\n"),
        r#"run_command {"command":"\n  a < b && c \n"} | "#,
    );
    check(&call("\r\nx\r\n"), r#"run_command {"command":"x"} | "#);
    check(&call(""), r#"run_command {"command":""} | "#);
    check(&call("\n"), r#"run_command {"command":""} | "#);
    check(&call("null"), r#"run_command {"command":"null"} | "#);
    // A value may hold fences and the form's own tags, as long as its end is clear.
    check(
        &call("\n```\n<tool_call>\n</parameter> \"q\" \\\n```\n"),
        r#"run_command {"command":"```\n<tool_call>\n</parameter> \"q\" \\\n```"} | "#,
    );
}

#[test]
fn a_json_string_may_hold_the_closing_tag() {
    check(
        r#"<tool_call>{"name":"run_command","arguments":{"command":"echo '</tool_call>'"}}</tool_call>"#,
        r#"run_command {"command":"echo '</tool_call>'"} | "#,
    );
}

#[test]
fn what_is_quoted_is_not_a_call() {
    let call = "<function=read_file>\n<parameter=path>\na.txt\n</parameter>\n</function>";
    for quoted in [
        format!("```\n{call}\n```"),
        format!("```xml\n{call}\n```\n"),
        format!("Write:\n\n~~~~\n```\n{call}\n~~~~"),
        format!("````\n```\n{call}\n````"),
        format!("```\n```xml\n{call}\n```"),
        format!("```\n{call}"),
        format!("> {}", call.replace('\n', "\n> ")),
        format!("    {}", call.replace('\n', "\n    ")),
        format!("\t{call}"),
        format!("Use `{call}`"),
        format!("For example {call}"),
        "```json\n{\"name\":\"read_file\",\"arguments\":{\"path\":\"a.txt\"}}\n```".to_string(),
        r#"Use {"name":"read_file","arguments":{"path":"a.txt"}}"#.to_string(),
    ] {
        check(&quoted, "-");
    }
    // After a closed fence prose is prose again.
    check(
        &format!("```\nx\n```\n{call}"),
        r#"read_file {"path":"a.txt"} | ```
x
```"#,
    );
}

#[test]
fn other_json_is_an_answer() {
    for answer in [
        r#"{"name":"read_file"}"#,
        r#"{"name":"read_file","arguments":["a"]}"#,
        r#"{"name":"read_file","arguments":{},"parameters":{}}"#,
        r#"{"name":"read_file","arguments":{},"result":1}"#,
        r#"{"arguments":{}}"#,
        r#"[{"name":"read_file","arguments":{}}]"#,
        r#"{"name":"read_file","arguments":{"path":"a"}"#,
        "{}",
        "",
        "plain",
    ] {
        check(answer, "-");
    }
}

#[test]
fn what_clearly_tried_is_explained() {
    check(
        "<function=read_file>\n<parameter=path>\na.txt",
        "tried: `<parameter=path>` is not closed by `</parameter>`",
    );
    check(
        "<function=read_file>\n<parameter=path>\na.txt\n</parameter>\n",
        "tried: `<function=read_file>` is not closed by `</function>`",
    );
    check(
        "<function=read_file>\n",
        "tried: `<function=read_file>` is not closed by `</function>`",
    );
    check(
        "<function=read_file>\npath=a\n</function>",
        "tried: between parameters stands `path=a`",
    );
    check(
        "<function=read_file",
        "tried: `<function=` has no name and `>` on its line",
    );
    check(
        "<function=list_files>\n<parameter=path\n>x</parameter></function>",
        "tried: `<parameter=` has no name and `>` on its line",
    );
    check(
        "<function=fly>\n</function>",
        "tried: there is no tool `fly`; the tools are read_file, list_files, run_command",
    );
    check(
        r#"{"name":"fly","arguments":{}}"#,
        "tried: there is no tool `fly`; the tools are read_file, list_files, run_command",
    );
    check(
        "<function=list_files>\n</function>\nThen I will answer.",
        "tried: text follows the call: `Then I will answer.`",
    );
    check(
        r#"<tool_call>{"name":"list_files","arguments":{}}"#,
        "tried: `<tool_call>` is not closed by `</tool_call>`",
    );
    check(
        r#"<tool_call>{"name":"list_files","arguments":{}</tool_call>"#,
        "tried: the JSON in `<tool_call>` could not be read: expected a comma or `}` in an object at byte 35, found the end",
    );
    check(
        r#"<tool_call>{"name":"list_files"}</tool_call>"#,
        "tried: `<tool_call>` holds no object with `name` and `arguments`",
    );
    check(
        "[TOOL_CALLS]read_file[ARGS]{}",
        "tried: the JSON after `[TOOL_CALLS]` could not be read: expected a value at byte 0, found `r`",
    );
    check(
        "[TOOL_CALLS][]",
        "tried: `[TOOL_CALLS]` is not followed by an array of calls",
    );
    check(
        "[TOOL_CALLS][1]",
        "tried: an item after `[TOOL_CALLS]` has no `name` and `arguments`",
    );
}

#[test]
fn the_text_protocol_takes_one_form_only() {
    let other = "tried: a call must be written as <function=NAME><parameter=KEY>value</parameter></function>, not as JSON";
    check_text_style(
        "Now.\n<function=read_file>\n<parameter=path>\na.txt\n</parameter>\n</function>",
        r#"read_file {"path":"a.txt"} | Now."#,
    );
    check_text_style(
        "<tool_call>\n<function=read_file>\n<parameter=path>\na.txt\n</parameter>\n</function>\n</tool_call>",
        FOUND,
    );
    check_text_style(
        r#"<tool_call>{"name":"read_file","arguments":{}}</tool_call>"#,
        other,
    );
    check_text_style(r#"{"name":"read_file","arguments":{}}"#, other);
    check_text_style(
        r#"[TOOL_CALLS][{"name":"read_file","arguments":{}}]"#,
        other,
    );
    check_text_style("An answer.", "-");
}

#[test]
fn hostile_content_takes_no_quadratic_time() {
    let closers = format!("<tool_call>{{\"a\":\"{}", "</tool_call>".repeat(200_000));
    assert!(shown(&closers, false).starts_with("tried:"));
    let parameters = format!(
        "<function=read_file><parameter=path>{}",
        "</parameter>  ".repeat(100_000)
    );
    assert!(shown(&parameters, false).starts_with("tried:"));
    assert_eq!(shown(&"`\n".repeat(500_000), false), "-");
}

fn stream(content: &str, rest: &str) -> Peer {
    let mut quoted = Vec::new();
    zcoder::json::quote(&mut quoted, content.as_bytes());
    let quoted = String::from_utf8(quoted).expect("UTF-8");
    Peer::streaming(format!(r#"{{"message":{{"content":{quoted}{rest}"#).as_bytes())
}

const CALL: &str = "Now.\n<function=read_file>\n<parameter=path>\na.txt\n</parameter>\n</function>";

#[test]
fn a_reply_gets_the_calls_that_its_content_spells_out() {
    let (result, _) = talk(&stream(CALL, r#"},"done":true}"#));
    let reply = result.expect("a reply");
    assert_eq!(calls(&reply), [r#"read_file {"path":"a.txt"}"#]);
    assert!(reply.calls[0].id.0.starts_with("call_"));
    assert_eq!((reply.content.as_str(), reply.recovered), ("Now.", true));
}

#[test]
fn nothing_is_recovered_from_a_cut_reply_or_beside_real_calls_or_from_thinking() {
    let untouched = |peer: &Peer| {
        let reply = talk(peer).0.expect("a reply");
        assert!(!reply.recovered && reply.tried.is_none());
        (reply.content.to_string(), calls(&reply).len())
    };
    let length = stream(CALL, r#"},"done":true,"done_reason":"length"}"#);
    assert_eq!(untouched(&length), (CALL.to_string(), 0));
    let real = stream(
        CALL,
        r#","tool_calls":[{"function":{"name":"list_files","arguments":{}}}]},"done":true}"#,
    );
    assert_eq!(untouched(&real), (CALL.to_string(), 1));
    let thinking = stream(
        "",
        r#","thinking":"\n<function=list_files>\n</function>"},"done":true}"#,
    );
    assert_eq!(untouched(&thinking), (String::new(), 0));
    let leaked = stream(
        "<think>\n<function=list_files>\n</function>\n</think>Hm.",
        r#"},"done":true}"#,
    );
    assert_eq!(untouched(&leaked), ("Hm.".to_string(), 0));
}

#[test]
fn a_try_is_told_and_without_tools_nothing_is_looked_for() {
    let (result, _) = talk(&stream("<function=fly>\n</function>", r#"},"done":true}"#));
    let reply = result.expect("a reply");
    let what = "there is no tool `fly`; the tools are read_file, list_files, run_command";
    assert_eq!(reply.tried.as_deref(), Some(what));
    let chat = Chat {
        offered: &[],
        ..plain_chat()
    };
    let (result, _) = talk_as(&stream(CALL, r#"},"done":true}"#), &chat);
    let reply = result.expect("a reply");
    assert_eq!(
        (reply.content.as_str(), reply.calls.len(), reply.tried),
        (CALL, 0, None)
    );
}

#[test]
fn in_the_text_protocol_a_call_in_the_content_is_no_repair() {
    let chat = Chat {
        text_style: true,
        ..plain_chat()
    };
    let (result, _) = talk_as(&stream(CALL, r#"},"done":true}"#), &chat);
    let reply = result.expect("a reply");
    assert_eq!((calls(&reply).len(), reply.recovered), (1, false));
}
