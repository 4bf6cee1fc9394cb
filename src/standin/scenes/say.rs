//! What records say: each function takes the request and gives other lines than the ordinary ones. The table's scenes are made of them.
//!
//! ```text
//! ordinary          thinking "I look. " ∙ tool_calls [list_files {}] ∙ done
//! string-arguments  … "arguments":"{}"                                      a string of JSON in place of an object
//! call-in-content   content "<function=list_files>\n</function>\n</tool_call>"  a call as text, its opening tag lost
//! think-leaked      content "<thi" ∙ "nk>The plan is " ∙ "simple.</thi" ∙ "nk>"   thinking as text, its tags cut
//! error-after-call  tool_calls [run_command …] ∙ {"error":"…"}                a call that must not run
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

/// The error record of a model that was lost.
pub(super) const UNEXPECTED_END: &str =
    "{\"error\":\"an error was encountered while running the model: unexpected EOF\"}";

pub(super) type Lines = Vec<Vec<u8>>;

fn records(chat: &Chat) -> Records<'_> {
    Records::new(chat, Pace::None)
}

/// What `begin` says, then the done record.
pub(super) fn ends(chat: &Chat, reason: &str, begin: fn(&mut Records<'_>)) -> Lines {
    let mut out = records(chat);
    begin(&mut out);
    out.done(reason);
    out.finish()
}

/// What `begin` says, then this line, and nothing more.
pub(super) fn breaks_off(chat: &Chat, line: &str, begin: fn(&mut Records<'_>)) -> Lines {
    let mut out = records(chat);
    begin(&mut out);
    out.line(line.as_bytes().to_vec());
    out.finish()
}

/// Content in one record, then the done record.
pub(super) fn says(chat: &Chat, content: &str) -> Lines {
    let mut out = records(chat);
    out.piece(content);
    out.done("stop");
    out.finish()
}

/// A line written by hand (without model and time), then the done record.
pub(super) fn by_hand(chat: &Chat, line: &str) -> Lines {
    let mut out = records(chat);
    out.with(line);
    out.done("stop");
    out.finish()
}

/// Content as it stands in JSON, a record each, then the done record.
pub(super) fn content(chat: &Chat, texts: &[&str]) -> Lines {
    let mut out = records(chat);
    for text in texts {
        out.with(&format!(
            "\"message\":{{\"role\":\"assistant\",\"content\":\"{text}\"}},\"done\":false"
        ));
    }
    out.done("stop");
    out.finish()
}

pub(super) fn call(name: &'static str, key: &'static str, value: &str) -> Call {
    let arguments = vec![(key, value.to_string())];
    Call { name, arguments }
}

/// The ordinary records, each as text after a change.
pub(super) fn changed(chat: &Chat, answer: &Answer, change: fn(&str) -> String) -> Lines {
    let lines = ordinary(chat, answer, Pace::None).into_iter();
    lines
        .map(|line| change(&String::from_utf8_lossy(&line)).into_bytes())
        .collect()
}

/// The ordinary records but the last one, in whose place `end` speaks.
pub(super) fn ends_otherwise(chat: &Chat, answer: &Answer, end: fn(&mut Records<'_>)) -> Lines {
    let mut lines = ordinary(chat, answer, Pace::None);
    lines.pop();
    let mut out = records(chat);
    end(&mut out);
    lines.extend(out.finish());
    lines
}

/// Arrays in one another.
pub(super) fn nested(depth: usize) -> String {
    format!("{}{}", "[".repeat(depth), "]".repeat(depth))
}

/// The marks in the content become a lone continuation byte, an overlong slash, a surrogate in three bytes.
pub(super) fn bad_utf8(chat: &Chat) -> Lines {
    let mut lines = says(chat, "one @ two @@ three @@@ four");
    for line in &mut lines {
        let mut marks = b"\x80\xc0\xaf\xed\xa0\x80".iter();
        let marked = line.iter_mut().filter(|byte| **byte == b'@');
        for (byte, mark) in marked.zip(&mut marks) {
            *byte = *mark;
        }
    }
    lines
}

/// Counters that are fractions, texts, negative, too long.
pub(super) fn odd_numbers(chat: &Chat) -> Lines {
    let done = "\"message\":{\"role\":\"assistant\",\"content\":\"\"},\"done\":true,\"done_reason\":\"stop\",\"a\":-0,\"b\":1E+2,\"c\":0.1e-7,\
         \"eval_count\":12.0,\"prompt_eval_count\":\"many\",\"total_duration\":-5,\"load_duration\":99999999999999999999999999";
    let mut out = records(chat);
    out.piece("counted");
    out.with(done);
    out.finish()
}

pub(super) fn all_in_done(chat: &Chat, answer: &Answer) -> Lines {
    let mut message =
        "\"role\":\"assistant\",\"thinking\":\"All at once.\",\"content\":".to_string();
    message.push_str(&json(&answer.content));
    let calls = answer.calls.iter();
    let calls: Vec<String> = calls
        .map(|call| function(call.name, &arguments(call)))
        .collect();
    if !calls.is_empty() {
        message.push_str(&format!(",\"tool_calls\":[{}]", calls.join(",")));
    }
    let mut out = records(chat);
    out.with(&format!(
        "\"message\":{{{message}}},\"done\":true,\"done_reason\":\"stop\""
    ));
    out.finish()
}

pub(super) fn full_window(chat: &Chat) -> Lines {
    let mut out = records(chat);
    out.with(&format!(
        "\"message\":{{\"role\":\"assistant\",\"content\":\"\"}},\"done\":true,\"done_reason\":\"length\",\"prompt_eval_count\":{},\"eval_count\":1",
        chat.num_ctx.unwrap_or(4096) - 1
    ));
    out.finish()
}

// ---- calls ----

pub(super) fn json(text: &str) -> String {
    let mut out = Vec::new();
    crate::json::quote(&mut out, text.as_bytes());
    String::from_utf8_lossy(&out).into_owned()
}

pub(super) fn function(name: &str, arguments: &str) -> String {
    format!(
        "{{\"function\":{{\"name\":{},\"arguments\":{arguments}}}}}",
        json(name)
    )
}

/// A record with these `tool_calls`, written by hand.
pub(super) fn calls(chat: &Chat, calls: &str) -> Lines {
    by_hand(
        chat,
        &format!(
            "\"message\":{{\"role\":\"assistant\",\"content\":\"\",\"tool_calls\":[{calls}]}},\"done\":false"
        ),
    )
}

/// A call of `write_file` with so much content, as it stands in JSON.
pub(super) fn writes(chat: &Chat, path: &str, piece: &str, times: usize) -> Lines {
    let content = piece.repeat(times);
    let arguments = format!("{{\"path\":\"{path}\",\"content\":\"{content}\"}}");
    calls(chat, &function("write_file", &arguments))
}

pub(super) fn three_calls(chat: &Chat) -> Lines {
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
pub(super) fn with_calls(chat: &Chat, answer: &Answer, change: fn(&Call) -> String) -> Lines {
    if answer.calls.is_empty() {
        return ordinary(chat, answer, Pace::None);
    }
    let changed: Vec<String> = answer.calls.iter().map(change).collect();
    calls(chat, &changed.join(","))
}

// ---- calls and thinking in the text ----

/// The first call as text.
pub(super) fn call_said(chat: &Chat, answer: &Answer, text: fn(&Answer, &Call) -> String) -> Lines {
    match answer.calls.first() {
        Some(call) => says(chat, &text(answer, call)),
        None => ordinary(chat, answer, Pace::None),
    }
}

/// The opening tag is missing and the closing one is not: as qwen3-coder does it.
pub(super) fn half_tagged(answer: &Answer, call: &Call) -> String {
    format!("{}\n{}\n</tool_call>", answer.content, call_as_text(call))
}

/// These pieces, then the ordinary content and calls.
pub(super) fn after(chat: &Chat, answer: &Answer, pieces: &[&str]) -> Lines {
    let mut out = records(chat);
    pieces.iter().for_each(|piece| out.piece(piece));
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
