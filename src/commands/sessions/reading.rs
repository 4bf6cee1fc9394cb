//! What a record says to a reader: records in, blocks out, whatever form they take then (`form.rs`). `audit.rs` has its own table.
//!
//! ```text
//! TurnStarted{2, one shot}            Request { number: 2, "2026-08-21 11:00, one shot" }
//! User "make the test pass"           Said { "", … }
//! Assistant{content, calls}           Exact { "thinking", … }, Said { "answer", … }, Fact { "call", "run_command {…}" }
//! Decision{shown, by}                 Exact { "decision: yes, by rule …", what was shown }
//! Tool{name, text}                    Exact { "result of run_command", … }
//! ```
//!
//! The system prompt is told by its size only, and so are lists of tools: `--format json` has them.
//!
//! Invariant: a record gives the same blocks each time; the only times in them are those of requests.

use crate::commands::{by, undo};
use crate::headless::show;
use crate::protocol::{Decision, Message, Note, Receipt, Status, Way};
use crate::session::{Author, FrontEnd, Hash, ModelRecord, Record, ToolStyle, cut};
use crate::sha256::hex;
use crate::sys::clock;
use crate::text::{self, counted};
use std::time::SystemTime;

/// Hex digits of a hash that name a file's state to people.
const HASH_CHARS: usize = 12;

/// A piece of a session.
pub(super) enum Block {
    /// A request begins.
    Request { number: u64, when: String },
    /// Somebody's words.
    Said { who: &'static str, text: String },
    /// Text that must stand as it is.
    Exact { label: String, text: String },
    /// One line.
    Fact { label: &'static str, text: String },
}

fn said(who: &'static str, text: &str) -> Block {
    let text = text.to_string();
    Block::Said { who, text }
}

fn exact(label: &str, text: &str) -> Block {
    let (label, text) = (label.to_string(), text.to_string());
    Block::Exact { label, text }
}

fn fact(label: &'static str, text: &str) -> Block {
    let text = text.to_string();
    Block::Fact { label, text }
}

/// `2026-08-21 11:00`
pub(super) fn day(at: SystemTime) -> String {
    format!("{} {}", clock::local_date(at), clock::local_hh_mm(at))
}

/// What a record says.
pub(super) fn blocks(record: &Record, at: SystemTime) -> Vec<Block> {
    let one = match record {
        Record::Session(header) => {
            let begun = format!("{}, zcoder {}", day(header.born), header.version);
            let mut out = vec![fact("workspace", &header.workspace), fact("begun", &begun)];
            if let Some(origin) = &header.origin {
                let text = format!("{} up to record {}", origin.session.0, origin.seq);
                out.push(fact("forked", &text));
            }
            return out;
        }
        Record::Title { text } => fact("title", text),
        Record::Model(model) => fact("model", &model_of(model)),
        Record::TurnStarted { turn, by, title: _ } => Block::Request {
            number: turn.0,
            when: format!("{}, {}", day(at), author(by)),
        },
        Record::Message(message) => return message_blocks(message),
        Record::Decision {
            shown,
            decision,
            by: who,
            call: _,
        } => exact(&format!("decision: {}", decided(decision, &by(who))), shown),
        Record::Edit(edit) => {
            let [before, after] = [&edit.before, &edit.after].map(|hash| short(hash.as_ref()));
            fact("edit", &format!("{}: {before} -> {after}", edit.path))
        }
        Record::Receipt { receipt, .. } => fact("receipt", &receipt_of(receipt)),
        Record::Checkpoint(checkpoint) => {
            let kept = counted(checkpoint.kept.len() as u64, "message");
            let [before, after] = [checkpoint.before, checkpoint.after].map(text::grouped);
            let label =
                format!("checkpoint: {before} tokens became {after}; {kept} stay word for word");
            exact(&label, words(&checkpoint.note))
        }
        Record::Accepted(pending) => match pending.way {
            Way::Steer | Way::Queue => exact("said meanwhile", &pending.text),
            Way::Shell { .. } => exact("own command meanwhile, waits", &pending.text),
        },
        Record::Shell {
            id: _,
            command,
            in_context,
        } => match in_context {
            true => exact("own command", command),
            false => exact("own command, not for the model", command),
        },
        Record::Settled { id, consumed } => match consumed {
            true => fact("delivered", id),
            false => fact("dropped", id),
        },
        Record::Goal(goal) => exact("goal", &show::goal(Some(goal))),
        Record::Gap { log, .. } => fact("damage", &format!("{log} was left as it is")),
        Record::Lost { log, offset, bytes } => {
            let bytes = counted(*bytes, "byte");
            fact("damage", &format!("{bytes} lost at byte {offset} of {log}"))
        }
        Record::Unknown { kind, .. } => fact("unknown", &format!("a record of kind {kind}")),
    };
    vec![one]
}

fn message_blocks(message: &Message) -> Vec<Block> {
    let one = match message {
        Message::System { text } => fact("system", &counted(text.len() as u64, "byte")),
        Message::User { text } => said("", text),
        Message::Note { note, text } => {
            exact(&format!("note to the model: {}", note_name(*note)), text)
        }
        Message::Assistant {
            content,
            thinking,
            calls,
        } => {
            let mut out = Vec::new();
            if !thinking.trim().is_empty() {
                out.push(exact("thinking", thinking));
            }
            if !content.trim().is_empty() {
                out.push(said("answer", content));
            }
            let calls = calls.iter();
            out.extend(
                calls.map(|call| fact("call", &format!("{} {}", call.name, call.arguments))),
            );
            return out;
        }
        Message::Tool { name, text, .. } => exact(&format!("result of {name}"), text),
    };
    vec![one]
}

/// Its text.
pub(super) fn words(message: &Message) -> &str {
    match message {
        Message::System { text }
        | Message::User { text }
        | Message::Note { text, .. }
        | Message::Tool { text, .. } => text,
        Message::Assistant { content, .. } => content,
    }
}

/// `one shot on /dev/pts/3, user 1000`
pub(in crate::commands) fn author(by: &Author) -> String {
    let front = match by.front {
        FrontEnd::Terminal => "terminal",
        FrontEnd::Lines => "plain lines",
        FrontEnd::OneShot => "one shot",
        FrontEnd::Editor => "editor",
        FrontEnd::Remote => "remote client",
    };
    let tty = by.tty.as_ref().map(|tty| format!(" on {tty}"));
    format!("{front}{}, user {}", tty.unwrap_or_default(), by.uid)
}

/// `yes, by --yes`
pub(in crate::commands) fn decided(decision: &Decision, by: &str) -> String {
    match decision {
        Decision::Once => format!("yes, by {by}"),
        Decision::Session => format!("yes for the session, by {by}"),
        Decision::SessionRule => format!("yes and its rules for the session, by {by}"),
        Decision::KeptRule => format!("yes and its rules are kept, by {by}"),
        Decision::Deny { reason: None } => format!("no, by {by}"),
        Decision::Deny { reason: Some(why) } => format!("no, by {by}: {why}"),
        Decision::Nobody => "no, nobody to ask".to_string(),
    }
}

fn short(hash: Option<&Hash>) -> String {
    match hash {
        Some(hash) => hex(hash)[..HASH_CHARS].to_string(),
        None => "nothing".to_string(),
    }
}

fn model_of(model: &ModelRecord) -> String {
    let style = match model.tool_style {
        ToolStyle::Native => "native",
        ToolStyle::Text => "text",
    };
    let window = text::grouped(model.window);
    let tools = counted(model.tools.len() as u64, "tool");
    let think = model.think.as_ref().map(|think| format!(", think {think}"));
    format!(
        "{} at {}, window {window}, {tools} ({style}){}",
        model.name,
        model.host,
        think.unwrap_or_default()
    )
}

/// `done; src/a.rs +1 -3; sh test.sh (exit code 0); 4 requests, 7 calls`
pub(in crate::commands) fn receipt_of(receipt: &Receipt) -> String {
    let mut out = match &receipt.status {
        Status::Done => "done".to_string(),
        Status::Blocked => "blocked".to_string(),
        Status::Failed => "failed".to_string(),
        Status::ServerFailed { reason } => format!("the server failed: {reason}"),
        Status::Unusable { reason } => format!("the replies were unusable: {reason}"),
        Status::NeedsApproval { what } => format!("an approval was needed: {what}"),
        Status::Limit { which } => format!("a limit was reached: {which}"),
        Status::NotSaved { reason } => format!("it could not be saved: {reason}"),
        Status::Cancelled => match &receipt.cut {
            Some(end) => format!("cancelled {}", cut(Some(end.by), &end.doing)),
            None => "cancelled".to_string(),
        },
    };
    if !receipt.verdict.is_empty() && !out.starts_with(&receipt.verdict) {
        out.push_str(&format!("; {}", receipt.verdict));
    }
    for file in &receipt.files {
        out.push_str(&format!("; {}", undo::line(file)));
    }
    for run in &receipt.commands {
        let exit = match run.exit {
            Some(exit) => format!("exit code {exit}"),
            None => "no exit code".to_string(),
        };
        out.push_str(&format!("; {} ({exit})", run.command));
    }
    let requests = counted(receipt.requests, "request");
    let calls = counted(receipt.calls, "call");
    out.push_str(&format!("; {requests}, {calls}"));
    out
}

fn note_name(note: Note) -> &'static str {
    match note {
        Note::Environment => "environment",
        Note::Recovery => "recovery",
        Note::Loop => "loop",
        Note::Cancelled => "cancelled",
        Note::Guidance => "guidance",
        Note::Stepped => "stepped",
        Note::Checkpoint => "checkpoint",
        Note::Goal => "goal",
        Note::Shell => "own command",
    }
}
