//! What watches a turn for the user: `--record` (every byte, playable), `--debug-log` (every stage, readable), and the session's ring of
//! exchanges (`ring.rs`). Made here, called by the model and the engine at each boundary.
//!
//! ```text
//! +0.004 1 op         prompt: fix it
//! +0.006 2 request    POST /api/chat HTTP/1.1 (142 bytes of head)
//! +0.006 2 request    {"model":"qwen3:8b","stream":true,…
//! +0.412 3 wire       HTTP/1.1 200 OK\r\n…
//! +0.413 4 record     {"model":"qwen3:8b","message":{"role":"assistant","content":"I"},"done":false}
//! +1.870 5 reply      thinking 0 bytes, content: I run the test.; call run_command {"command":"sh test.sh"}
//! +1.871 6 verdict    run_command: allowed by --yes
//! +1.902 7 event      {"type":"call_ended","call":"call_a",…
//! ```
//!
//! Limit: a line of the debug log shows at most 2,000 characters of its bytes; the record has all of them.
//!
//! Invariant: the log shows no header but the request line: headers may carry secrets (`--header`).
//! Invariant: a disk that is full stops the record or the log, says so once, and never the turn.
//!
//! Read next: `model/script.rs`, the format of the record.

use super::ring::Ring;
use crate::headless::{self, out::complain};
use crate::model::script::Recorder;
use crate::protocol::{Decision, Event, Message, Op, Stage, Tap};
use crate::text;
use std::fs::File;
use std::io::{self, Write};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::Instant;

const LINE_CHARS: usize = 2_000;

/// All watchers in one tap; off when there is none.
pub(super) fn tap(record: Option<File>, log: Option<File>, ring: Option<Ring>) -> io::Result<Tap> {
    let record = record.map(Recorder::new).transpose()?;
    if record.is_none() && log.is_none() && ring.is_none() {
        return Ok(Tap::default());
    }
    let began = Instant::now();
    let all = log.is_some();
    // The engine, the model's worker and the front end call from their own threads; nobody holds the lock for longer than a write.
    let record = Mutex::new(record);
    let log = Mutex::new(log);
    let ring = Mutex::new(ring);
    Ok(Tap(Some(Arc::new(move |stage: &Stage<'_>| {
        // Fifty thousand records of an answer cost neither a look at the clock nor a lock.
        if !all && !is_of_the_wire(stage) {
            return;
        }
        let now = Instant::now();
        watch(&record, "--record", |recorder| keep(recorder, stage, now));
        watch(&ring, "the record of exchanges", |ring| {
            ring.see(stage, now)
        });
        watch(&log, "--debug-log", |file| {
            file.write_all(line(stage, now.duration_since(began).as_secs_f64()).as_bytes())
        });
    }))))
}

/// What a record of exchanges, or the ring, has use for.
fn is_of_the_wire(stage: &Stage<'_>) -> bool {
    match stage {
        Stage::ExchangeBegins(_)
        | Stage::RequestBytes(_)
        | Stage::WireBytes(_)
        | Stage::ExchangeEnds => true,
        Stage::Event(event) => matches!(event, Event::Saved { .. } | Event::TurnEnded { .. }),
        Stage::Op(_)
        | Stage::BodyBytes(_)
        | Stage::Record(_)
        | Stage::Reply(_)
        | Stage::Verdict(_)
        | Stage::Outcome(_) => false,
    }
}

/// Does it, and stops doing it after the first failure.
fn watch<T>(sink: &Mutex<Option<T>>, flag: &str, write: impl FnOnce(&mut T) -> io::Result<()>) {
    let mut sink = lock(sink);
    let Some(open) = sink.as_mut() else {
        return;
    };
    if let Err(error) = write(open) {
        complain(&format!("{flag} stops here: {error}"));
        *sink = None;
    }
}

/// A thread that panicked while it held the lock left nothing half done that matters here.
fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

fn keep(recorder: &mut Recorder, stage: &Stage<'_>, now: Instant) -> io::Result<()> {
    let here = thread::current().id();
    match stage {
        Stage::ExchangeBegins(_) => recorder.begin(here, now),
        Stage::RequestBytes(bytes) => recorder.request(here, bytes, now),
        Stage::WireBytes(bytes) => recorder.received(here, bytes, now),
        Stage::ExchangeEnds => recorder.end(here),
        Stage::Op(_)
        | Stage::BodyBytes(_)
        | Stage::Record(_)
        | Stage::Reply(_)
        | Stage::Verdict(_)
        | Stage::Outcome(_)
        | Stage::Event(_) => Ok(()),
    }
}

fn line(stage: &Stage<'_>, seconds: f64) -> String {
    let (name, what) = match stage {
        Stage::Op(op) => ("1 op", operation(op)),
        Stage::ExchangeBegins(what) => ("2 begin", (*what).to_string()),
        Stage::RequestBytes(bytes) => ("2 request", request(bytes)),
        Stage::WireBytes(bytes) => ("3 wire", shown(bytes)),
        Stage::BodyBytes(bytes) => ("3 body", shown(bytes)),
        Stage::ExchangeEnds => ("3 end", String::new()),
        Stage::Record(bytes) => ("4 record", shown(bytes)),
        Stage::Reply(message) => ("5 reply", reply(message)),
        Stage::Verdict(text) => ("6 verdict", (*text).to_string()),
        Stage::Outcome(outcome) => {
            let status = headless::status_word(outcome.status);
            ("6 outcome", format!("{status}: {}", outcome.text))
        }
        // As `--output jsonl` has it.
        Stage::Event(event) => (
            "7 event",
            shown(headless::event_line(event).trim_ascii_end()),
        ),
    };
    let what = text::visible(&what).replace('\n', "\\n");
    let what = text::clip(&what, LINE_CHARS);
    let line = format!("+{seconds:.3} {name:<10} {what}");
    format!("{}\n", line.trim_end())
}

fn operation(op: &Op) -> String {
    match op {
        Op::Prompt { text, attachment } => {
            let attached = attachment
                .as_ref()
                .map(|text| format!(", {} bytes attached", text.len()));
            format!("prompt: {text}{}", attached.unwrap_or_default())
        }
        Op::Cancel => "cancel".to_string(),
        Op::Step { step, act } => format!("step: {step:?}, {act:?}"),
        Op::Review => "review".to_string(),
        Op::Context => "context".to_string(),
        Op::Compact => "compact".to_string(),
        Op::Steer { id, text } => format!("steer {id}: {text}"),
        Op::Queue { id, text } => format!("queue {id}: {text}"),
        Op::Drop { id } => format!("drop {id}"),
        Op::Queued => "what waits".to_string(),
        Op::Deliver => "deliver".to_string(),
        Op::Shell {
            id,
            command,
            in_context,
        } => match in_context {
            true => format!("shell {id}: {command}"),
            false => format!("shell {id}, not for the model: {command}"),
        },
        Op::Goal(op) => format!("goal: {op:?}"),
        Op::Decide { ask, decision } => match decision {
            Decision::Once => format!("question {}: once", ask.0),
            Decision::Session => format!("question {}: for the session", ask.0),
            Decision::SessionRule => format!("question {}: its rules for the session", ask.0),
            Decision::KeptRule => format!("question {}: its rules are kept", ask.0),
            Decision::Deny { .. } => format!("question {}: no", ask.0),
            Decision::Nobody => format!("question {}: nobody to ask", ask.0),
        },
        Op::Quit => "quit".to_string(),
        Op::End(_) => "quit, because of a signal".to_string(),
    }
}

fn reply(message: &Message) -> String {
    match message {
        Message::Assistant {
            content,
            thinking,
            calls,
        } => {
            let mut out = format!("thinking {} bytes, content: {content}", thinking.len());
            for call in calls {
                out += &format!("; call {} {}", call.name, call.arguments);
            }
            out
        }
        Message::System { text }
        | Message::User { text }
        | Message::Note { text, .. }
        | Message::Tool { text, .. } => text.clone(),
    }
}

/// A head is cut down to its first line; what follows it, and later slices, are body.
fn request(bytes: &[u8]) -> String {
    let end = bytes.windows(4).position(|four| four == b"\r\n\r\n");
    match end {
        // Inside JSON a line end is always escaped, so this can only be the end of a head.
        Some(end) => {
            let head = &bytes[..end + 4];
            let first = head.split(|b| *b == b'\r').next().unwrap_or(head);
            let body = shown(&bytes[end + 4..]);
            format!("{} ({} bytes of head) {body}", shown(first), head.len())
        }
        None => shown(bytes),
    }
}

fn shown(bytes: &[u8]) -> String {
    let all = bytes.len();
    let bytes = &bytes[..all.min(4 * LINE_CHARS)];
    text::visible(&text::repair(bytes)).into_owned()
}
