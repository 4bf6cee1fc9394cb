//! The next request of a long conversation: what is new is appended to the bytes of the last one. Only what shortens the conversation or
//! resumes it builds a request from its messages.
//!
//! The bound is a copy of the request, which is what sending it costs at least.

use crate::measure::{Case, Effort, compare};
use std::hint::black_box;
use std::io::{self, Write};
use std::sync::Arc;
use zcoder::json::Tree;
use zcoder::model::{RequestBody, Shape};
use zcoder::protocol::{CallId, Message, ToolCall};
use zcoder::session::{Log, Record, view};

/// Of the history, at four bytes a token.
const TOKENS: usize = 100_000;

/// The group of `cargo bench`.
pub(crate) fn group(out: &mut dyn Write, effort: Effort) -> io::Result<()> {
    let shape = Shape {
        model: "m".to_string(),
        window: 131_072,
        max_output: None,
        think: None,
        native_tools: Some("[]".to_string()),
        keep_alive: None,
        temperature: None,
        seed: None,
    };
    let log = history(TOKENS * 4)?;
    let mut body = RequestBody::begin(&shape);
    log.messages().for_each(|message| body.push(message));
    let text = "and what does the other one say?".to_string();
    let next = Message::User { text };
    let bytes = body.len();
    let mut copy = vec![0; bytes];
    let mut cases = [
        Case::new("copy of the request", || {
            let [messages, closing] = black_box(body.slices());
            copy[..messages.len()].copy_from_slice(messages);
            copy[messages.len()..].copy_from_slice(closing);
            usize::from(copy[bytes / 2])
        }),
        Case::new("a copy with one message more", || {
            let mut body = body.clone();
            body.push(&next);
            body.len()
        }),
        Case::new("all of it anew, from the log", || {
            let mut body = RequestBody::begin(&shape);
            for (_, message) in view(log.records()) {
                body.push(message);
            }
            body.len()
        }),
    ];
    compare(out, effort, "context: the next request", bytes, &mut cases)
}

/// What the results hold: code, as an agent reads it.
const SOURCE: &str = include_str!("../../src/engine/turn.rs");

/// Rounds of a call and a result of 4,000 bytes, of so many bytes in all.
fn history(bytes: usize) -> io::Result<Log> {
    let mut log = Log::in_memory()?;
    let text = |text: &str| text.to_string();
    let system = text("You are zcoder.");
    log.append(Record::Message(Message::System { text: system }));
    let request = text("read them all");
    log.append(Record::Message(Message::User { text: request }));
    let mut written = 0;
    while written < bytes {
        let call = ToolCall {
            id: CallId(text("call_a")),
            name: text("read_file"),
            arguments: Tree::parse(br#"{"path":"src/main.rs"}"#).map_err(io::Error::other)?,
        };
        let at = written % (SOURCE.len() - 4_000);
        let result = SOURCE.as_bytes()[at..at + 4_000].to_vec();
        let result = String::from_utf8_lossy(&result).into_owned();
        written += result.len() + 200;
        let id = call.id.clone();
        log.append(Record::Message(Message::Assistant {
            content: Arc::default(),
            thinking: Arc::default(),
            calls: vec![call],
        }));
        log.append(Record::Message(Message::Tool {
            call: id,
            name: text("read_file"),
            text: result,
        }));
    }
    Ok(log)
}
