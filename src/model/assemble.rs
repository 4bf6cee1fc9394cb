//! Records to one reply: increments in, the whole thinking, content and calls out, and whether the reply is complete. The
//! exchange (`ollama/chat.rs`) feeds it while it shows the same text as it grows.
//!
//! ```text
//! thinking "Let me"                          thinking  "Let me look."
//! thinking " look."                          content   "Reading it."
//! content "Reading", content " it."     →    calls     read_file {"path":"a.rs"}
//! call read_file {"path":"a.rs"}             stop      Stop
//! done, done_reason "stop", eval_count 57    usage     output_tokens 57
//! ```
//!
//! Complete means `done:true`, or a `done_reason` that is not empty (servers have left `done` out). The last record counts like
//! any other: its text and calls belong to the reply. What follows it does not. An error record ends the reply as failed, even
//! after calls. Thinking that leaked into the content is moved where it belongs at the end (`leak.rs`), on the whole text.
//!
//! Refused: nothing by size; the exchange bounds records (16 MiB) and the answer (64 MiB).
//!
//! Invariant: calls leave only [`Assembler::finish`] of a complete reply; partial text is for display.
//! Invariant: every call has an id that no other call of the reply has.
//!
//! Read next: `leak.rs`, `recover.rs`, `ollama/chat.rs`.

use super::Reply;
use super::leak;
use super::ollama::{RawCall, Record};
use crate::protocol::{CallId, StopReason, ToolCall, Usage};
use std::sync::Arc;

/// Adds records up. Pure: no I/O, no clock.
#[derive(Debug, Default)]
pub struct Assembler {
    thinking: String,
    content: String,
    calls: Vec<RawCall>,
    usage: Usage,
    /// Set by the last record.
    stop: Option<StopReason>,
    has_known_record: bool,
}

/// The server said in a record that it failed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Failed {
    /// Its words (or the JSON of its error object).
    pub text: String,
}

/// The records ended before the last one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Unfinished {
    /// What there was of the answer, for display only.
    pub content: String,
    /// How many calls were thrown away with it.
    pub calls: usize,
}

impl Assembler {
    /// Takes from one record what it adds; whatever follows the last one is ignored.
    pub fn feed(&mut self, record: &mut Record<'_>) -> Result<(), Failed> {
        if self.is_complete() {
            return Ok(());
        }
        if let Some(text) = record.error.take() {
            return Err(Failed { text: text.into() });
        }
        self.has_known_record |= record.known;
        let stop = record.end().map(|reason| match reason {
            "" | "stop" => StopReason::Stop,
            "length" => StopReason::Length,
            other => StopReason::Other(other.to_string()),
        });
        if let Some(text) = &record.thinking {
            text.push_to(&mut self.thinking);
        }
        if let Some(text) = &record.content {
            text.push_to(&mut self.content);
        }
        self.calls.append(&mut record.calls);
        if let Some(stop) = stop {
            self.usage = record.last.take().unwrap_or_default().usage;
            self.stop = Some(stop);
        }
        Ok(())
    }

    /// Whether the last record came.
    pub fn is_complete(&self) -> bool {
        self.stop.is_some()
    }

    /// Whether any record looked like one of a chat.
    pub fn has_known_record(&self) -> bool {
        self.has_known_record
    }

    /// The thinking so far.
    pub fn thinking(&self) -> &str {
        &self.thinking
    }

    /// The content so far, as it came.
    pub fn content(&self) -> &str {
        &self.content
    }

    /// The reply, if complete. `fresh_id` makes ids for calls that came without one or share one.
    pub fn finish(self, fresh_id: &mut dyn FnMut() -> String) -> Result<Reply, Unfinished> {
        let Some(stop) = self.stop else {
            return Err(Unfinished {
                content: self.content,
                calls: self.calls.len(),
            });
        };
        let mut notes = Vec::new();
        if let StopReason::Other(reason) = &stop {
            notes.push(format!(
                "the reply ended for a reason unknown here: `{reason}`"
            ));
        }
        let mut thinking = self.thinking;
        let mut content = self.content;
        if let Some(split) = leak::split(&content, !thinking.is_empty()) {
            if split.is_unfinished {
                notes.push("the thinking was not finished".to_string());
            }
            if !thinking.is_empty() && !split.thinking.is_empty() {
                thinking.push('\n');
            }
            thinking.push_str(&split.thinking);
            content = split.content.to_string();
        }
        Ok(Reply {
            content: Arc::new(content),
            thinking: Arc::new(thinking),
            calls: identify(self.calls, fresh_id),
            stop,
            usage: self.usage,
            recovered: false,
            tried: None,
            notes,
        })
    }
}

/// Gives each call an id of its own: the server's, unless it is missing or an earlier call has it.
fn identify(raw: Vec<RawCall>, fresh_id: &mut dyn FnMut() -> String) -> Vec<ToolCall> {
    let mut calls: Vec<ToolCall> = Vec::with_capacity(raw.len());
    for RawCall {
        id,
        name,
        arguments,
    } in raw
    {
        let mut id = CallId(id);
        while id.0.is_empty() || calls.iter().any(|call| call.id == id) {
            id = CallId(fresh_id());
        }
        calls.push(ToolCall {
            id,
            name,
            arguments,
        });
    }
    calls
}
