//! Chat requests: what is decided once ([`Shape`]) and messages in, the bytes of `POST /api/chat` out. The engine begins one
//! body a session and pushes each message once; the exchange (`chat.rs`) writes [`RequestBody::slices`] to the socket.
//!
//! ```text
//! {"model":"qwen3:8b","stream":true,"truncate":false,"shift":false,"think":true,"options":{"num_ctx":32768},
//!  "tools":[{"type":"function","function":{"name":"read_file", ...}}],"messages":[
//!  {"role":"system","content":"..."},
//!  {"role":"user","content":"What is in a.rs?"},
//!  {"role":"assistant","thinking":"Look.","content":"","tool_calls":[{"id":"call_a","function":{"index":0,"name":"read_file","arguments":{"path":"a.rs"}}}]},
//!  {"role":"tool","tool_name":"read_file","tool_call_id":"call_a","content":"fn main() {}"}]}
//! ```
//!
//! (Line breaks only here.) `truncate:false` makes the server refuse a prompt that is too long instead of cutting it silently;
//! `shift:false` makes it stop instead of forgetting the beginning; both, and `num_ctx`, are always sent and never change,
//! because a changed loader option reloads the model. Without native tools (`--tool-style text`) calls and results travel as
//! text: the call in the form in which the model wrote it, the result as a user message.
//!
//! Invariant: the bytes of request n without the closing `]}` are a prefix of request n+1, so the server's cache of the
//! prompt is never invalidated.
//! Invariant: `content` is always a string and `arguments` always an object; anything else is a 400.
//! Invariant: what varies in time (clock, counters) is not added here.
//!
//! Read next: `chat.rs` (sending), `record.rs` (the answer).

use crate::json::{Kind, Value, Writer, quote_str};
use crate::model::Shape;
use crate::protocol::{Message, ToolCall};

const CLOSING: &[u8] = b"]}";

/// The append-only request.
#[derive(Clone, Debug)]
pub struct RequestBody {
    /// Everything but the closing.
    bytes: Vec<u8>,
    /// Bytes before the first message.
    head: usize,
    /// Whether a message was written, so that the next one needs a comma.
    has_message: bool,
    native_tools: bool,
}

impl RequestBody {
    /// Everything before the first message.
    pub fn begin(shape: &Shape) -> RequestBody {
        let mut json = Writer::new();
        json.begin_object();
        json.key("model").string(&shape.model);
        json.key("stream").bool(true);
        write_loader(&mut json, shape);
        if let Some(tools) = &shape.native_tools {
            json.key("tools").raw(tools);
        }
        json.end_object();
        let mut bytes = json.finish();
        bytes.pop(); // the object goes on
        bytes.extend_from_slice(b",\"messages\":[");
        RequestBody {
            head: bytes.len(),
            bytes,
            has_message: false,
            native_tools: shape.native_tools.is_some(),
        }
    }

    /// The same messages, byte for byte, under another shape: what the server has read of them stays read as long as the tools are the
    /// same.
    pub fn reshaped(&self, shape: &Shape) -> RequestBody {
        let mut body = RequestBody::begin(shape);
        body.bytes.extend_from_slice(&self.bytes[self.head..]);
        body.has_message = self.has_message;
        body
    }

    /// Bytes before the first message: options and tools.
    pub fn head_len(&self) -> usize {
        self.head
    }

    /// Appends one message.
    pub fn push(&mut self, message: &Message) {
        if self.has_message {
            self.bytes.push(b',');
        }
        self.has_message = true;
        let out = &mut self.bytes;
        match message {
            Message::System { text } => plain(out, "system", text),
            Message::User { text } | Message::Note { note: _, text } => plain(out, "user", text),
            Message::Assistant {
                content,
                thinking,
                calls,
            } if self.native_tools || calls.is_empty() => assistant(out, content, thinking, calls),
            Message::Assistant {
                content,
                thinking,
                calls,
            } => assistant(out, &calls_as_text(content, calls), thinking, &[]),
            Message::Tool { call, name, text } if self.native_tools => {
                member(out, b"{\"role\":\"tool\",\"tool_name\":", name);
                member(out, b",\"tool_call_id\":", &call.0);
                member(out, b",\"content\":", text);
                out.push(b'}');
            }
            Message::Tool { name, text, .. } => {
                plain(
                    out,
                    "user",
                    &format!("<result of=\"{name}\">\n{text}\n</result>"),
                );
            }
        }
    }

    /// What would be sent now, as slices (body so far, closing).
    pub fn slices(&self) -> [&[u8]; 2] {
        [&self.bytes, CLOSING]
    }

    /// Bytes of it, closing included.
    pub fn len(&self) -> usize {
        self.bytes.len() + CLOSING.len()
    }

    /// Never empty.
    pub fn is_empty(&self) -> bool {
        false
    }
}

/// The body of a load without a prompt: the loader options of the chat, or the model would be loaded twice.
pub(super) fn load_body(shape: &Shape) -> Vec<u8> {
    let mut json = Writer::new();
    json.begin_object();
    json.key("model").string(&shape.model);
    json.key("stream").bool(false);
    write_loader(&mut json, shape);
    json.key("messages").begin_array().end_array();
    json.end_object();
    json.finish()
}

fn write_loader(json: &mut Writer, shape: &Shape) {
    json.key("truncate").bool(false);
    json.key("shift").bool(false);
    if let Some(think) = shape.think {
        json.key("think").raw(think.json());
    }
    json.key("options").begin_object();
    json.key("num_ctx").u64(shape.window);
    // Per request, not for the loader: the model stays as it is loaded.
    if let Some(tokens) = shape.max_output {
        json.key("num_predict").u64(tokens);
    }
    if let Some(temperature) = shape.temperature {
        json.key("temperature").f64(temperature);
    }
    if let Some(seed) = shape.seed {
        json.key("seed").u64(seed);
    }
    json.end_object();
    if let Some(keep_alive) = &shape.keep_alive {
        json.key("keep_alive");
        // A number is seconds; the same digits in a string are refused for want of a unit.
        match keep_alive.parse::<i64>() {
            Ok(seconds) => json.i64(seconds),
            Err(_) => json.string(keep_alive),
        };
    }
}

fn plain(out: &mut Vec<u8>, role: &str, text: &str) {
    out.extend_from_slice(b"{\"role\":\"");
    out.extend_from_slice(role.as_bytes());
    member(out, b"\",\"content\":", text);
    out.push(b'}');
}

fn assistant(out: &mut Vec<u8>, content: &str, thinking: &str, calls: &[ToolCall]) {
    out.extend_from_slice(b"{\"role\":\"assistant\"");
    if !thinking.is_empty() {
        member(out, b",\"thinking\":", thinking);
    }
    member(out, b",\"content\":", content);
    if !calls.is_empty() {
        out.extend_from_slice(b",\"tool_calls\":[");
        for (index, call) in calls.iter().enumerate() {
            if index > 0 {
                out.push(b',');
            }
            member(out, b"{\"id\":", &call.id.0);
            out.extend_from_slice(format!(",\"function\":{{\"index\":{index}").as_bytes());
            member(out, b",\"name\":", &call.name);
            out.extend_from_slice(b",\"arguments\":");
            write_object(out, call.arguments.root());
            out.extend_from_slice(b"}}");
        }
        out.push(b']');
    }
    out.push(b'}');
}

/// Arguments that are no object cannot be sent back as they were; the call's result says what was wrong with them.
fn write_object(out: &mut Vec<u8>, arguments: Value<'_>) {
    if arguments.kind() == Kind::Object {
        arguments.write(out);
    } else {
        out.extend_from_slice(b"{}");
    }
}

fn member(out: &mut Vec<u8>, before: &[u8], text: &str) {
    out.extend_from_slice(before);
    quote_str(out, text);
}

/// The text protocol's own form, so that the model sees what it is asked to write.
fn calls_as_text(content: &str, calls: &[ToolCall]) -> String {
    let mut text = content.to_string();
    for call in calls {
        if !text.is_empty() {
            text.push('\n');
        }
        text.push_str(&format!("<function={}>\n", call.name));
        for (key, value) in call.arguments.root().members() {
            let shown = match value.as_str() {
                Some(string) => string.to_string(),
                None => value.to_tree().to_string(),
            };
            text.push_str(&format!("<parameter={key}>\n{shown}\n</parameter>\n"));
        }
        text.push_str("</function>");
    }
    text
}
