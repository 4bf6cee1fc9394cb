//! What records say: each function takes the request and the ordinary answer and gives other lines. Called by the table's scenes.
//!
//! ```text
//! ordinary          thinking "I look. " ∙ tool_calls [list_files {}] ∙ done
//! string_arguments  … "arguments":"{}"                                      a string of JSON in place of an object
//! call_in_content   content "<function=list_files>\n</function>\n</tool_call>"  a call as text, its opening tag lost
//! think_leaked      content "<thi" ∙ "nk>The plan is " ∙ "simple.</thi" ∙ "nk>"   thinking as text, its tags cut
//! error_after_call  tool_calls [run_command …] ∙ {"error":"…"}                a call that must not run
//! ```
//!
//! The cases are those that Ollama's parsers let through for one model family or another, and what users report of models.
//!
//! Limits: the largest argument has 12 MB, the longest answer 200,000 records.
//!
//! Invariant: a call that a client must not run would make the file `never-made`, so that a test can look for it.
//!
//! Next: `table.rs`, the names; `records.rs`, the ordinary lines.

use crate::standin::Pace;
use crate::standin::records::{Records, arguments, call_as_text, ordinary};
use crate::standin::request::Chat;
use crate::standin::walk::{Answer, Call};

type Lines = Vec<Vec<u8>>;

fn records(chat: &Chat) -> Records<'_> {
    Records::new(chat, Pace::None)
}

/// Content in one record, then the done record.
fn says(chat: &Chat, content: &str) -> Lines {
    let mut out = records(chat);
    out.piece(content);
    out.done("stop");
    out.finish()
}

/// Lines written by hand (without model and time), then the done record.
fn by_hand(chat: &Chat, lines: &[&str]) -> Lines {
    let mut out = records(chat);
    lines.iter().for_each(|line| out.with(line));
    out.done("stop");
    out.finish()
}

fn call(name: &'static str, key: &'static str, value: &str) -> Call {
    let arguments = vec![(key, value.to_string())];
    Call { name, arguments }
}

// ---- text ----

pub(super) fn characters(chat: &Chat, _: &Answer) -> Lines {
    let text = "Gr\u{fc}\u{df}e \\u00e9 \\ud83d\\ude00 \u{4f60}\u{597d} \u{1f469}\u{200d}\u{1f4bb}";
    let line =
        format!("\"message\":{{\"role\":\"assistant\",\"content\":\"{text}\"}},\"done\":false");
    by_hand(chat, &[&line])
}

pub(super) fn surrogates(chat: &Chat, _: &Answer) -> Lines {
    let piece = |text: &str| {
        format!("\"message\":{{\"role\":\"assistant\",\"content\":\"{text}\"}},\"done\":false")
    };
    by_hand(
        chat,
        &[
            &piece("a\\ud83d "),
            &piece("\\ude00b "),
            &piece("\\ude00\\ud83d "),
            &piece("end \\ud83d"),
            &piece("\\ude00"),
        ],
    )
}

pub(super) fn controls_escaped(chat: &Chat, _: &Answer) -> Lines {
    let text = "before\\u001b[2J\\u001b]0;title\\u0007\\u0000\\u007f\\u202eabc\\u2066 after";
    let line =
        format!("\"message\":{{\"role\":\"assistant\",\"content\":\"{text}\"}},\"done\":false");
    by_hand(chat, &[&line])
}

pub(super) fn controls_raw(chat: &Chat, _: &Answer) -> Lines {
    by_hand(
        chat,
        &["\"message\":{\"role\":\"assistant\",\"content\":\"a\u{1}b\u{1b}[2J\"},\"done\":false"],
    )
}

pub(super) fn bad_utf8(chat: &Chat, _: &Answer) -> Lines {
    let mut lines = says(chat, "one @ two @@ three @@@ four");
    // A lone continuation byte, an overlong slash, a surrogate in three bytes.
    for line in &mut lines {
        let mut marks: [&[u8]; 6] = [b"\x80", b"\xc0", b"\xaf", b"\xed", b"\xa0", b"\x80"];
        marks.reverse();
        let mut marks = marks.to_vec();
        *line = line
            .iter()
            .flat_map(|byte| match byte {
                b'@' => marks.pop().unwrap_or(b"").to_vec(),
                other => vec![*other],
            })
            .collect();
    }
    lines
}

pub(super) fn many_records(chat: &Chat, _: &Answer) -> Lines {
    let mut out = records(chat);
    for _ in 0..200_000 {
        out.piece("ab ");
    }
    out.done("stop");
    out.finish()
}

// ---- JSON ----

pub(super) fn duplicate_keys(chat: &Chat, _: &Answer) -> Lines {
    by_hand(
        chat,
        &[
            "\"message\":{\"content\":\"first\"},\"message\":{\"role\":\"assistant\",\"content\":\"a\",\"content\":\"last wins\"},\"done\":false",
        ],
    )
}

pub(super) fn odd_order(chat: &Chat, _: &Answer) -> Lines {
    let deep = format!("{}{}", "[".repeat(50), "]".repeat(50));
    let line = format!(
        "\"done\":false,\"x\":{deep},\"logprobs\":[{{\"token\":\"a\"}}],\"message\":{{\"content\":\"in any order\",\"role\":\"assistant\"}}"
    );
    by_hand(chat, &[&line])
}

pub(super) fn odd_numbers(chat: &Chat, _: &Answer) -> Lines {
    let done = "\"message\":{\"role\":\"assistant\",\"content\":\"\"},\"done\":true,\"done_reason\":\"stop\",\"a\":-0,\"b\":1E+2,\"c\":0.1e-7,\
         \"eval_count\":12.0,\"prompt_eval_count\":\"many\",\"total_duration\":-5,\"load_duration\":99999999999999999999999999";
    let mut out = records(chat);
    out.piece("counted");
    out.with(done);
    out.finish()
}

pub(super) fn bad_number(chat: &Chat, _: &Answer) -> Lines {
    by_hand(
        chat,
        &["\"message\":{\"role\":\"assistant\",\"content\":\"a\"},\"n\":01,\"done\":false"],
    )
}

pub(super) fn deep(chat: &Chat, _: &Answer) -> Lines {
    let deep = format!("{}{}", "[".repeat(10_000), "]".repeat(10_000));
    by_hand(
        chat,
        &[&format!(
            "\"x\":{deep},\"message\":{{\"content\":\"a\"}},\"done\":false"
        )],
    )
}

// ---- errors ----

pub(super) fn error_after_content(chat: &Chat, _: &Answer) -> Lines {
    let mut out = records(chat);
    out.content("The beginning of an answer ");
    out.line(
        b"{\"error\":\"an error was encountered while running the model: unexpected EOF\"}"
            .to_vec(),
    );
    out.finish()
}

pub(super) fn error_after_call(chat: &Chat, _: &Answer) -> Lines {
    let mut out = records(chat);
    out.call(&call("run_command", "command", "touch never-made"));
    out.line(
        b"{\"error\":\"an error was encountered while running the model: unexpected EOF\"}"
            .to_vec(),
    );
    out.finish()
}

pub(super) fn error_first(chat: &Chat, _: &Answer) -> Lines {
    let mut out = records(chat);
    out.line(b"{\"error\":\"model runner has unexpectedly stopped\"}".to_vec());
    out.finish()
}

pub(super) fn error_key(chat: &Chat, _: &Answer) -> Lines {
    let mut out = records(chat);
    out.line(
        b"{\"error parsing tool call\":\"raw='{\\\"path\\\":' err=unexpected end of JSON input\"}"
            .to_vec(),
    );
    out.finish()
}

pub(super) fn error_object(chat: &Chat, _: &Answer) -> Lines {
    let mut out = records(chat);
    out.line(b"{\"error\":{\"message\":\"the error is an object\"}}".to_vec());
    out.finish()
}

pub(super) fn error_null(chat: &Chat, answer: &Answer) -> Lines {
    let mut lines = ordinary(chat, answer, Pace::None);
    for line in &mut lines {
        let text = String::from_utf8_lossy(line).into_owned();
        *line = text.replacen('{', "{\"error\":null,", 1).into_bytes();
    }
    lines
}

pub(super) fn unreadable_call(chat: &Chat, _: &Answer) -> Lines {
    let mut out = records(chat);
    out.thinking("I call a tool. ");
    out.line(
        b"{\"error\":\"XML syntax error on line 4: invalid character entity & (no semicolon)\"}"
            .to_vec(),
    );
    out.finish()
}

// ---- ends ----

pub(super) fn reason_only(chat: &Chat, answer: &Answer) -> Lines {
    let mut lines = ordinary(chat, answer, Pace::None);
    if let Some(last) = lines.last_mut() {
        let text = String::from_utf8_lossy(last).into_owned();
        *last = text.replacen("\"done\":true,", "", 1).into_bytes();
    }
    lines
}

pub(super) fn no_reason(chat: &Chat, answer: &Answer) -> Lines {
    let mut lines = ordinary(chat, answer, Pace::None);
    lines.pop();
    let mut out = records(chat);
    out.with("\"message\":{\"role\":\"assistant\",\"content\":\"\"},\"done\":true");
    lines.extend(out.finish());
    lines
}

pub(super) fn other_reason(chat: &Chat, answer: &Answer) -> Lines {
    let mut lines = ordinary(chat, answer, Pace::None);
    lines.pop();
    let mut out = records(chat);
    out.done("tired");
    lines.extend(out.finish());
    lines
}

pub(super) fn after_done(chat: &Chat, answer: &Answer) -> Lines {
    let mut lines = ordinary(chat, answer, Pace::None);
    lines.extend(says(chat, "this came after the end"));
    lines
}

pub(super) fn all_in_done(chat: &Chat, answer: &Answer) -> Lines {
    let mut out = records(chat);
    let mut message =
        "\"role\":\"assistant\",\"thinking\":\"All at once.\",\"content\":".to_string();
    message.push_str(&json(&answer.content));
    let calls: Vec<String> = answer
        .calls
        .iter()
        .map(|call| function(call.name, &arguments(call)))
        .collect();
    if !calls.is_empty() {
        message.push_str(&format!(",\"tool_calls\":[{}]", calls.join(",")));
    }
    out.with(&format!(
        "\"message\":{{{message}}},\"done\":true,\"done_reason\":\"stop\""
    ));
    out.finish()
}

pub(super) fn cut_by_length(chat: &Chat, _: &Answer) -> Lines {
    let mut out = records(chat);
    out.content("This answer ends in the mid");
    out.done("length");
    out.finish()
}

pub(super) fn cut_in_call(chat: &Chat, _: &Answer) -> Lines {
    let mut out = records(chat);
    out.content("<tool_call>\n<function=write_file>\n<parameter=path>\nnotes.txt\n</parameter>\n<parameter=content>\nhalf a");
    out.done("length");
    out.finish()
}

// ---- calls ----

fn json(text: &str) -> String {
    let mut out = Vec::new();
    crate::json::quote(&mut out, text.as_bytes());
    String::from_utf8_lossy(&out).into_owned()
}

fn function(name: &str, arguments: &str) -> String {
    format!(
        "{{\"function\":{{\"name\":{},\"arguments\":{arguments}}}}}",
        json(name)
    )
}

/// A record with these `tool_calls`, written by hand.
fn calls(chat: &Chat, calls: &str) -> Lines {
    let line = format!(
        "\"message\":{{\"role\":\"assistant\",\"content\":\"\",\"tool_calls\":[{calls}]}},\"done\":false"
    );
    by_hand(chat, &[&line])
}

pub(super) fn three_calls(chat: &Chat, _: &Answer) -> Lines {
    let call = |id: &str, path: &str| {
        format!(
            "{{{id}\"function\":{{\"index\":0,\"name\":\"list_files\",\"arguments\":{{\"path\":\"{path}\"}}}}}}"
        )
    };
    let with = |content: &str, calls: &str| {
        format!(
            "\"message\":{{\"role\":\"assistant\",\"content\":\"{content}\",\"tool_calls\":[{calls}]}}"
        )
    };
    let two = [call("\"id\":\"same\",", "."), call("", "./")].join(",");
    let last = with("", &call("\"id\":\"same\",", "./."));
    let mut out = records(chat);
    out.piece("Three at once: ");
    out.with(&format!("{},\"done\":false", with("two here, ", &two)));
    out.piece("one at the end.");
    out.with(&format!("{last},\"done\":true,\"done_reason\":\"stop\""));
    out.finish()
}

/// The ordinary answer with its calls changed.
fn with_calls(chat: &Chat, answer: &Answer, change: impl Fn(&Call) -> String) -> Lines {
    if answer.calls.is_empty() {
        return ordinary(chat, answer, Pace::None);
    }
    let changed: Vec<String> = answer.calls.iter().map(change).collect();
    calls(chat, &changed.join(","))
}

pub(super) fn string_arguments(chat: &Chat, answer: &Answer) -> Lines {
    with_calls(chat, answer, |call| {
        function(call.name, &json(&arguments(call)))
    })
}

pub(super) fn prefixed_name(chat: &Chat, answer: &Answer) -> Lines {
    with_calls(chat, answer, |call| {
        function(&format!("functions.{}", call.name), &arguments(call))
    })
}

pub(super) fn channel_name(chat: &Chat, answer: &Answer) -> Lines {
    with_calls(chat, answer, |call| {
        function(
            &format!("{}<|channel|>commentary", call.name),
            &arguments(call),
        )
    })
}

pub(super) fn null_arguments(chat: &Chat, _: &Answer) -> Lines {
    calls(chat, &function("list_files", "null"))
}

pub(super) fn missing_arguments(chat: &Chat, _: &Answer) -> Lines {
    calls(chat, "{\"function\":{\"name\":\"list_files\"}}")
}

pub(super) fn array_arguments(chat: &Chat, _: &Answer) -> Lines {
    calls(chat, &function("read_file", "[]"))
}

pub(super) fn wrong_arguments(chat: &Chat, _: &Answer) -> Lines {
    calls(
        chat,
        &function(
            "run_command",
            "{\"command\":{\"cmd\":\"ls\"},\"timeout_seconds\":\"ten\"}",
        ),
    )
}

pub(super) fn no_name(chat: &Chat, _: &Answer) -> Lines {
    calls(chat, &function("", "{}"))
}

pub(super) fn unknown_tool(chat: &Chat, _: &Answer) -> Lines {
    calls(chat, &function("view_the_file", "{\"path\":\"README.md\"}"))
}

pub(super) fn no_function(chat: &Chat, _: &Answer) -> Lines {
    calls(chat, "{\"id\":\"call_empty\"}")
}

pub(super) fn odd_keys(chat: &Chat, _: &Answer) -> Lines {
    calls(
        chat,
        &function(
            "list_files",
            "{\"a.b\":1,\"two words\":2,\"gr\u{fc}n\":3,\"path\":\".\"}",
        ),
    )
}

pub(super) fn nul_path(chat: &Chat, _: &Answer) -> Lines {
    calls(chat, &function("read_file", "{\"path\":\"a\\u0000b\"}"))
}

pub(super) fn many_newlines(chat: &Chat, _: &Answer) -> Lines {
    let content = "\\n".repeat(100_000);
    calls(
        chat,
        &function(
            "write_file",
            &format!("{{\"path\":\"newlines.txt\",\"content\":\"{content}\"}}"),
        ),
    )
}

pub(super) fn big_argument(chat: &Chat, _: &Answer) -> Lines {
    let content = "a line with \\\"quotes\\\" and a \\\\ in it\\n".repeat(10 << 20 >> 5);
    calls(
        chat,
        &function(
            "write_file",
            &format!("{{\"path\":\"big.txt\",\"content\":\"{content}\"}}"),
        ),
    )
}

pub(super) fn same_call(chat: &Chat, _: &Answer) -> Lines {
    let mut out = records(chat);
    out.content("I list the files again, to be sure.");
    out.raw_call("list_files", "{}");
    out.done("stop");
    out.finish()
}

// ---- calls and thinking in the text ----

pub(super) fn call_in_content(chat: &Chat, answer: &Answer) -> Lines {
    match answer.calls.first() {
        // The opening tag is missing and the closing one is not: as qwen3-coder does it.
        Some(call) => says(
            chat,
            &format!("{}\n{}\n</tool_call>", answer.content, call_as_text(call)),
        ),
        None => ordinary(chat, answer, Pace::None),
    }
}

pub(super) fn call_as_json(chat: &Chat, answer: &Answer) -> Lines {
    match answer.calls.first() {
        Some(call) => says(
            chat,
            &format!(
                "{{\"name\":{},\"arguments\":{}}}",
                json(call.name),
                arguments(call)
            ),
        ),
        None => ordinary(chat, answer, Pace::None),
    }
}

pub(super) fn call_in_fence(chat: &Chat, _: &Answer) -> Lines {
    let text = "A call looks like this:\n\n```\n<function=run_command>\n<parameter=command>\ntouch never-made\n</parameter>\n</function>\n```\n";
    says(chat, text)
}

pub(super) fn call_garbled(chat: &Chat, _: &Answer) -> Lines {
    says(
        chat,
        "<tool_call>\n<function=read_file>\n<parameter=path>README.md\n",
    )
}

pub(super) fn think_leaked(chat: &Chat, answer: &Answer) -> Lines {
    let mut out = records(chat);
    for piece in ["<thi", "nk>The plan is ", "simple.</thi", "nk>\n\n"] {
        out.piece(piece);
    }
    rest_of(answer, out)
}

pub(super) fn think_unopened(chat: &Chat, answer: &Answer) -> Lines {
    let mut out = records(chat);
    for piece in ["The plan is ", "simple.", "</think>", "\n\n"] {
        out.piece(piece);
    }
    rest_of(answer, out)
}

fn rest_of(answer: &Answer, mut out: Records<'_>) -> Lines {
    out.content(&answer.content);
    answer.calls.iter().for_each(|call| out.call(call));
    out.done("stop");
    out.finish()
}

pub(super) fn late_thinking(chat: &Chat, answer: &Answer) -> Lines {
    let mut out = records(chat);
    out.content(&answer.content);
    out.with("\"message\":{\"role\":\"assistant\",\"content\":\" \",\"thinking\":\"After the text.\"},\"done\":false");
    answer.calls.iter().for_each(|call| out.call(call));
    out.thinking("And once more.");
    out.done("stop");
    out.finish()
}

pub(super) fn thinking_only(chat: &Chat, _: &Answer) -> Lines {
    let mut out = records(chat);
    out.thinking("I think and think, and then my budget is spent.");
    out.done("stop");
    out.finish()
}

pub(super) fn empty_reply(chat: &Chat, _: &Answer) -> Lines {
    let mut out = records(chat);
    out.done("stop");
    out.finish()
}

pub(super) fn full_window(chat: &Chat, _: &Answer) -> Lines {
    let window = chat.num_ctx.unwrap_or(4096);
    let mut out = records(chat);
    out.with(&format!(
        "\"message\":{{\"role\":\"assistant\",\"content\":\"\"}},\"done\":true,\"done_reason\":\"length\",\"prompt_eval_count\":{},\"eval_count\":1",
        window - 1
    ));
    out.finish()
}
