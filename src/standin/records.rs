//! Answers as Ollama sends them: an [`Answer`] in, NDJSON records with their waits out. Pure.
//!
//! ```text
//! {"model":"stand-in","created_at":"2026-01-01T00:00:00.000Z","message":{"role":"assistant","content":"","thinking":"The "},"done":false}
//! {"model":"stand-in","created_at":"2026-01-01T00:00:00.020Z","message":{"role":"assistant","content":"I "},"done":false}
//! {"model":"stand-in","created_at":"2026-01-01T00:00:00.040Z","message":{"role":"assistant","content":"","tool_calls":[{"id":"call_00000300",
//!  "function":{"index":0,"name":"list_files","arguments":{}}}]},"done":false}
//! {"model":"stand-in","created_at":"2026-01-01T00:00:00.060Z","message":{"role":"assistant","content":""},"done":true,"done_reason":"stop",
//!  "total_duration":60000000,"prompt_eval_count":812,"eval_count":57}
//! ```
//!
//! A piece of text is a word with the blank behind it. `<`, `>`, `&` are escaped as Go escapes them. Times count from a fixed
//! moment, 20 ms a piece, and durations are those of the pace that was asked for: none at all without one.
//!
//! Invariant: the same request gives the same bytes.

use super::Pace;
use super::request::{Chat, Style};
use super::walk::{Answer, Call};
use crate::json::Writer;
use crate::sys::clock;
use std::time::{Duration, SystemTime};

/// 2026-01-01T00:00:00Z, the one moment of the stand-in.
const EPOCH_SECONDS: u64 = 1_767_225_600;

/// Between the times of two records.
const PIECE: Duration = Duration::from_millis(20);

impl Pace {
    /// The wait before the first record.
    pub(super) fn first(self) -> Duration {
        match self {
            Pace::None => Duration::ZERO,
            Pace::Model => Duration::from_millis(250),
            Pace::Slow => Duration::from_secs(2),
        }
    }

    /// The wait between two records.
    pub(super) fn piece(self) -> Duration {
        match self {
            Pace::None => Duration::ZERO,
            Pace::Model => PIECE,
            Pace::Slow => Duration::from_millis(200),
        }
    }
}

/// Records of one answer under way.
#[derive(Debug)]
pub(super) struct Records<'c> {
    chat: &'c Chat,
    pace: Pace,
    lines: Vec<Vec<u8>>,
    calls: usize,
}

impl<'c> Records<'c> {
    /// None yet.
    pub(super) fn new(chat: &'c Chat, pace: Pace) -> Records<'c> {
        Records {
            chat,
            pace,
            lines: Vec::new(),
            calls: 0,
        }
    }

    /// Thinking, in pieces, if it is wanted.
    pub(super) fn thinking(&mut self, text: &str) {
        if self.chat.think {
            for piece in text.split_inclusive(' ') {
                self.record(&|json| {
                    json.key("content").string("");
                    json.key("thinking").string(piece);
                });
            }
        }
    }

    /// Content, in pieces.
    pub(super) fn content(&mut self, text: &str) {
        for piece in text.split_inclusive([' ', '\n']) {
            self.piece(piece);
        }
    }

    /// Content in one record.
    pub(super) fn piece(&mut self, text: &str) {
        self.record(&|json| {
            json.key("content").string(text);
        });
    }

    /// A call in a record of its own.
    pub(super) fn call(&mut self, call: &Call) {
        self.raw_call(call.name, &arguments(call));
    }

    /// A call with these arguments (any JSON).
    pub(super) fn raw_call(&mut self, name: &str, arguments: &str) {
        let (messages, index) = (self.chat.messages, self.calls);
        self.calls += 1;
        self.record(&|json| {
            json.key("content").string("");
            json.key("tool_calls").begin_array();
            tool_call(json, messages, index, name, arguments);
            json.end_array();
        });
    }

    /// The last record.
    pub(super) fn done(&mut self, reason: &str) {
        let count = self.lines.len() as u64;
        let time = nanos(self.pace.piece()) * count;
        let first = nanos(self.pace.first());
        let mut json = self.message(&|json| {
            json.key("content").string("");
        });
        json.key("done").bool(true);
        json.key("done_reason").string(reason);
        json.key("total_duration").u64(first + time + 1);
        json.key("prompt_eval_count")
            .u64(self.chat.prompt_tokens.max(1));
        if first > 0 {
            json.key("prompt_eval_duration").u64(first);
        }
        json.key("eval_count").u64(count.max(1));
        if time > 0 {
            json.key("eval_duration").u64(time);
        }
        json.end_object();
        self.line(json.finish());
    }

    /// Any line; its line feed is added.
    pub(super) fn line(&mut self, bytes: Vec<u8>) {
        let mut line = escape_as_go(bytes);
        line.push(b'\n');
        self.lines.push(line);
    }

    /// `{"model":…,"created_at":…,` + `rest` + `}`: a record whose other members are written by hand.
    pub(super) fn with(&mut self, rest: &str) {
        let mut json = Writer::new();
        json.begin_object();
        self.front(&mut json);
        json.end_object();
        let mut line = json.finish();
        line.pop();
        line.extend_from_slice(format!(",{rest}}}").as_bytes());
        self.line(line);
    }

    /// All lines so far.
    pub(super) fn finish(self) -> Vec<Vec<u8>> {
        self.lines
    }

    fn record(&mut self, message: &dyn Fn(&mut Writer)) {
        let mut json = self.message(message);
        json.key("done").bool(false);
        json.end_object();
        self.line(json.finish());
    }

    /// An open object with a message in it.
    fn message(&self, message: &dyn Fn(&mut Writer)) -> Writer<'static> {
        let mut json = Writer::new();
        json.begin_object();
        self.front(&mut json);
        json.key("message").begin_object();
        json.key("role").string("assistant");
        message(&mut json);
        json.end_object();
        json
    }

    fn front(&self, json: &mut Writer) {
        json.key("model").string(&self.chat.model);
        let time = PIECE * u32::try_from(self.lines.len()).unwrap_or(u32::MAX);
        json.key("created_at").string(&time_text(time));
    }
}

/// The records of an ordinary answer.
pub(super) fn ordinary(chat: &Chat, answer: &Answer, pace: Pace) -> Vec<Vec<u8>> {
    let mut records = Records::new(chat, pace);
    records.thinking(&answer.thinking);
    records.content(&answer.content);
    match chat.style {
        Style::Native => answer.calls.iter().for_each(|call| records.call(call)),
        Style::Text => {
            if !answer.content.is_empty() && !answer.calls.is_empty() {
                records.piece("\n");
            }
            for call in &answer.calls {
                records.content(&call_as_text(call));
            }
        }
    }
    records.done("stop");
    records.finish()
}

/// The one object of `stream:false`.
pub(super) fn whole(chat: &Chat, answer: &Answer, pace: Pace) -> Vec<u8> {
    let mut content = answer.content.clone();
    if chat.style == Style::Text {
        for call in &answer.calls {
            content.push('\n');
            content.push_str(&call_as_text(call));
        }
    }
    let records = Records::new(chat, pace);
    let mut json = records.message(&|json| {
        json.key("content").string(&content);
        if chat.think && !answer.thinking.is_empty() {
            json.key("thinking").string(&answer.thinking);
        }
        if chat.style == Style::Native && !answer.calls.is_empty() {
            json.key("tool_calls").begin_array();
            for (index, call) in answer.calls.iter().enumerate() {
                tool_call(json, chat.messages, index, call.name, &arguments(call));
            }
            json.end_array();
        }
    });
    json.key("done").bool(true);
    json.key("done_reason").string("stop");
    json.key("total_duration").u64(nanos(pace.first()) + 1);
    json.key("prompt_eval_count").u64(chat.prompt_tokens.max(1));
    let words = answer
        .thinking
        .split_whitespace()
        .chain(answer.content.split_whitespace());
    json.key("eval_count").u64(words.count() as u64 + 1);
    json.end_object();
    escape_as_go(json.finish())
}

/// The call's id tells the request and the place, so no two of a conversation are equal.
fn tool_call(json: &mut Writer, messages: usize, index: usize, name: &str, arguments: &str) {
    let id = format!("call_{messages:06}{index:02}");
    json.begin_object().key("id").string(&id);
    json.key("function").begin_object();
    json.key("index").u64(index as u64);
    json.key("name").string(name);
    json.key("arguments").raw(arguments);
    json.end_object().end_object();
}

/// The one object after a load or an unload without messages.
pub(super) fn loaded(model: &str, reason: &str, chat: bool) -> Vec<u8> {
    let mut json = Writer::new();
    json.begin_object();
    json.key("model").string(model);
    json.key("created_at").string(&time_text(Duration::ZERO));
    if chat {
        json.key("message").begin_object();
        json.key("role").string("assistant");
        json.key("content").string("");
        json.end_object();
    } else {
        json.key("response").string("");
    }
    json.key("done").bool(true);
    json.key("done_reason").string(reason);
    json.end_object();
    json.finish()
}

fn time_text(after: Duration) -> String {
    clock::rfc3339(SystemTime::UNIX_EPOCH + Duration::from_secs(EPOCH_SECONDS) + after)
}

fn nanos(time: Duration) -> u64 {
    u64::try_from(time.as_nanos()).unwrap_or(u64::MAX)
}

/// The arguments as JSON.
pub(super) fn arguments(call: &Call) -> String {
    let mut json = Writer::new();
    json.begin_object();
    for (key, value) in &call.arguments {
        json.key(key).string(value);
    }
    json.end_object();
    String::from_utf8_lossy(&json.finish()).into_owned()
}

/// The call in the form of the text protocol.
pub(super) fn call_as_text(call: &Call) -> String {
    let mut text = format!("<function={}>\n", call.name);
    for (key, value) in &call.arguments {
        text.push_str(&format!("<parameter={key}>\n{value}\n</parameter>\n"));
    }
    text.push_str("</function>");
    text
}

/// `<`, `>` and `&` occur in strings only, so they may be replaced anywhere.
fn escape_as_go(json: Vec<u8>) -> Vec<u8> {
    if !json.iter().any(|byte| b"<>&".contains(byte)) {
        return json;
    }
    let mut out = Vec::with_capacity(json.len() + 64);
    for byte in json {
        match byte {
            b'<' => out.extend_from_slice(b"\\u003c"),
            b'>' => out.extend_from_slice(b"\\u003e"),
            b'&' => out.extend_from_slice(b"\\u0026"),
            _ => out.push(byte),
        }
    }
    out
}
