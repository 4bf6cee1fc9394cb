//! Events as JSON lines and the one object of `--output json`: the translator at this edge, written by hand so that the wire
//! stays visible and changes only on purpose. `zcoder help output` shows the shapes to users.
//!
//! ```text
//! {"type":"start","format":1,"zcoder":"0.1.0"}
//! {"type":"content","request":1,"text":"I run the test."}
//! {"type":"call_ended","call":"call_a","name":"run_command","status":"ok","text":"exit status 0 …","facts":{"kind":"ran",…}}
//! {"type":"turn_ended","turn":1,"receipt":{"status":"done","exit_code":0,"answer":"…",…}}
//! ```
//!
//! Invariant: one object a line, `type` first; fields are added, never renamed or removed, within one `format`.
//! Invariant: times are seconds as numbers, sizes bytes, unknown values `null`; a field does not come and go.
//! Invariant: beyond what JSON demands, DEL, C1 controls, bidi controls and tag characters are escaped, so that a line that ends up on
//! a terminal is harmless.

use super::exit_code;
use crate::json::Writer;
use crate::protocol::{
    CallId, ContextReport, DecidedBy, Decision, Event, Facts, FileChange, Goal, Level, Part,
    Question, Receipt, Status, StepReport, StopReason, Usage, Waiting,
};
use crate::text;
use std::time::Duration;

/// Version of the shapes.
const FORMAT: u64 = 1;

/// The first line.
pub(super) fn start() -> Vec<u8> {
    line(|w| {
        w.key("type").string("start");
        w.key("format").u64(FORMAT);
        w.key("zcoder").string(env!("CARGO_PKG_VERSION"));
    })
}

/// One event, as one line.
pub fn event(event: &Event) -> Vec<u8> {
    line(|w| write_event(w, event))
}

/// What `--output json` prints: the receipt with what there was of a reply that broke off, the model, the session and the notices of the run.
pub(super) fn summary(
    receipt: &Receipt,
    partial: &str,
    model: Option<&Event>,
    saved: Option<&Event>,
    notices: &[Event],
) -> Vec<u8> {
    let object = |w: &mut Writer, event: Option<&Event>| match event {
        Some(event) => {
            w.begin_object();
            write_event(w, event);
            w.end_object();
        }
        None => {
            w.null();
        }
    };
    line(|w| {
        w.key("format").u64(FORMAT);
        write_receipt(w, receipt);
        optional_text(w, "partial", non_empty(partial));
        w.key("model");
        object(w, model);
        w.key("session");
        object(w, saved);
        w.key("notices").begin_array();
        for notice in notices {
            object(w, Some(notice));
        }
        w.end_array();
    })
}

fn line(write: impl FnOnce(&mut Writer)) -> Vec<u8> {
    let mut writer = Writer::new();
    writer.begin_object();
    write(&mut writer);
    writer.end_object();
    let mut bytes = harmless(writer.finish());
    bytes.push(b'\n');
    bytes
}

/// What drives a terminal or reorders its text as `\u009b`. It can only stand inside strings, so the text stays the same JSON value.
fn harmless(bytes: Vec<u8>) -> Vec<u8> {
    // Everything below DEL that is a control was escaped by the writer already.
    if bytes.iter().all(|&byte| byte < 0x7f) {
        return bytes;
    }
    let json = match String::from_utf8(bytes) {
        Ok(json) => json,
        // Cannot be: the writer repairs.
        Err(error) => return error.into_bytes(),
    };
    if !json.contains(text::is_harmful) {
        return json.into_bytes();
    }
    let mut out = String::with_capacity(json.len() + 16);
    for c in json.chars() {
        if text::is_harmful(c) {
            let units = c.encode_utf16(&mut [0; 2]).to_vec();
            out.extend(units.iter().map(|unit| format!("\\u{unit:04x}")));
        } else {
            out.push(c);
        }
    }
    out.into_bytes()
}

/// The members of one event.
fn write_event(w: &mut Writer, event: &Event) {
    w.key("type");
    match event {
        Event::Model {
            name,
            why,
            address,
            window,
            window_why,
        } => {
            w.string("model")
                .key("name")
                .string(name)
                .key("why")
                .string(why);
            w.key("address").string(address).key("window").u64(*window);
            w.key("window_why").string(window_why);
        }
        Event::Notice { level, text } => {
            w.string("notice").key("level").string(match level {
                Level::Info => "info",
                Level::Warning => "warning",
                Level::Error => "error",
            });
            w.key("text").string(text);
        }
        Event::TurnStarted { turn } => {
            w.string("turn_started").key("turn").u64(turn.0);
        }
        Event::RequestSent {
            request,
            bytes,
            estimated_tokens,
        } => {
            w.string("request_sent").key("request").u64(request.0);
            w.key("bytes")
                .u64(*bytes)
                .key("estimated_tokens")
                .u64(*estimated_tokens);
        }
        Event::Waiting { request, waiting } => {
            w.string("waiting").key("request").u64(request.0);
            write_waiting(w, *waiting);
        }
        Event::Thinking { request, text } => {
            w.string("thinking")
                .key("request")
                .u64(request.0)
                .key("text")
                .string(text);
        }
        Event::Content { request, text } => {
            w.string("content")
                .key("request")
                .u64(request.0)
                .key("text")
                .string(text);
        }
        Event::Replied {
            request,
            usage,
            stop,
            recovered,
        } => {
            w.string("replied")
                .key("request")
                .u64(request.0)
                .key("stop");
            w.string(match stop {
                StopReason::Stop => "stop",
                StopReason::Length => "length",
                StopReason::Other(reason) => reason,
            });
            w.key("recovered").bool(*recovered);
            write_usage(w, usage);
        }
        Event::Discarded { request, reason } => {
            w.string("discarded")
                .key("request")
                .u64(request.0)
                .key("reason")
                .string(reason);
        }
        Event::CallStarted { call, summary } => {
            w.string("call_started").key("call").string(&call.id.0);
            w.key("name")
                .string(&call.name)
                .key("arguments")
                .value(call.arguments.root());
            w.key("summary").string(summary);
        }
        Event::Asked {
            ask,
            call,
            question,
        } => {
            w.string("asked").key("ask").u64(ask.0);
            optional_text(w, "call", call.as_ref().map(|CallId(id)| id.as_str()));
            w.key("question").begin_object();
            write_question(w, question);
            w.end_object();
        }
        Event::Decided {
            ask,
            call,
            decision,
            by,
        } => {
            w.string("decided");
            optional(w, "ask", ask.map(|ask| ask.0));
            optional_text(w, "call", call.as_ref().map(|CallId(id)| id.as_str()));
            write_decision(w, decision, by);
        }
        Event::Output { call, text } => {
            w.string("output")
                .key("call")
                .string(&call.0)
                .key("text")
                .string(text);
        }
        Event::CallEnded {
            call,
            name,
            outcome,
        } => {
            w.string("call_ended")
                .key("call")
                .string(&call.0)
                .key("name")
                .string(name);
            w.key("status").string(super::status_word(outcome.status));
            w.key("text").string(&outcome.text);
            w.key("facts");
            write_facts(w, &outcome.facts);
        }
        Event::Touched { call, files, more } => {
            w.string("touched").key("call").string(&call.0);
            strings(w, "files", files);
            w.key("more").u64(*more);
        }
        Event::Stepped(report) => write_step(w, report),
        Event::Reviewed {
            patch,
            files,
            notes,
        } => {
            w.string("reviewed").key("patch").string(patch);
            w.key("files");
            changes(w, files);
            strings(w, "notes", notes);
        }
        Event::Context(report) => write_context(w, report),
        Event::Compacting { tokens, window } => {
            w.string("compacting").key("tokens").u64(*tokens);
            w.key("window").u64(*window);
        }
        Event::Compacted {
            before,
            after,
            left_out,
            count,
        } => {
            w.string("compacted").key("before").u64(*before);
            w.key("after").u64(*after);
            w.key("left_out").u64(*left_out).key("count").u64(*count);
        }
        Event::CompactionFailed { reason } => {
            w.string("compaction_failed").key("reason").string(reason);
        }
        Event::Input { id, way, state } => {
            w.string("input").key("id").string(id);
            w.key("way").string(super::show::way(*way));
            let (word, reason) = super::show::input_state(state);
            w.key("state").string(word);
            optional_text(w, "reason", reason);
        }
        Event::Queued { held, pending } => {
            w.string("queued").key("held").bool(*held);
            w.key("pending").begin_array();
            for one in pending {
                w.begin_object().key("id").string(&one.id);
                w.key("way").string(super::show::way(one.way));
                w.key("text").string(&one.text).end_object();
            }
            w.end_array();
        }
        Event::Goal(goal) => write_goal(w, goal.as_ref()),
        Event::Verifying { attempt } => {
            w.string("verifying").key("attempt").u64(*attempt);
        }
        Event::Verified(opinion) => {
            w.string("verified").key("accepted").bool(opinion.accepted);
            w.key("reason").string(&opinion.reason);
            w.key("next").string(&opinion.next);
            strings(w, "missing", &opinion.missing);
        }
        Event::Saved {
            session,
            records,
            head,
        } => {
            w.string("saved").key("session").string(session);
            w.key("records").u64(*records).key("head").string(head);
        }
        Event::TurnEnded { turn, receipt } => {
            w.string("turn_ended").key("turn").u64(turn.0);
            w.key("receipt").begin_object();
            write_receipt(w, receipt);
            w.end_object();
        }
        Event::Closed => {
            w.string("closed");
        }
    }
}

fn write_goal(w: &mut Writer, goal: Option<&Goal>) {
    w.string("goal").key("goal");
    let Some(goal) = goal else {
        w.null();
        return;
    };
    w.begin_object().key("objective").string(&goal.objective);
    w.key("state").string(super::show::goal_state(goal.state));
    w.key("reason").string(&goal.reason);
    w.key("tokens").u64(goal.tokens);
    optional(w, "limit", goal.limit);
    w.key("rejections").u64(goal.rejections);
    w.key("feedback").string(&goal.feedback).end_object();
}

fn write_context(w: &mut Writer, report: &ContextReport) {
    w.string("context").key("window").u64(report.window);
    w.key("bytes").u64(report.bytes);
    w.key("tokens").u64(report.tokens);
    optional(w, "counted", report.counted);
    optional(w, "compacts_at", report.compacts_at);
    w.key("compactions").u64(report.compactions);
    w.key("rows").begin_array();
    for row in &report.rows {
        w.begin_object();
        w.key("part").string(part_word(row.part));
        optional_text(w, "what", non_empty(&row.what));
        w.key("bytes").u64(row.bytes).key("tokens").u64(row.tokens);
        w.end_object();
    }
    w.end_array();
}

/// A part of a request in one word, here and on lines.
pub(super) fn part_word(part: Part) -> &'static str {
    match part {
        Part::Options => "options",
        Part::Tools => "tools",
        Part::System => "system",
        Part::Guidance => "guidance",
        Part::Skills => "skills",
        Part::Environment => "environment",
        Part::Notes => "notes",
        Part::Checkpoint => "checkpoint",
        Part::User => "user",
        Part::Answers => "answers",
        Part::Thinking => "thinking",
        Part::Calls => "calls",
        Part::Results => "results",
    }
}

fn write_waiting(w: &mut Writer, waiting: Waiting) {
    let (kind, elapsed) = match waiting {
        Waiting::Connecting => ("connecting", None),
        Waiting::Loading { elapsed } => ("loading", Some(elapsed)),
        Waiting::Reading { elapsed, .. } => ("reading", Some(elapsed)),
        Waiting::Generating { elapsed } => ("generating", Some(elapsed)),
        Waiting::Unknown { elapsed } => ("unknown", Some(elapsed)),
        Waiting::Resending { .. } => ("resending", None),
    };
    w.key("for").string(kind);
    optional_seconds(w, "seconds", elapsed);
    match waiting {
        Waiting::Reading {
            new_tokens, left, ..
        } => {
            w.key("new_tokens").u64(new_tokens);
            optional_seconds(w, "seconds_left", left);
        }
        Waiting::Resending { attempt, delay } => {
            w.key("attempt").u64(u64::from(attempt));
            seconds(w, "delay", delay);
        }
        Waiting::Connecting
        | Waiting::Loading { .. }
        | Waiting::Generating { .. }
        | Waiting::Unknown { .. } => {}
    }
}

fn write_usage(w: &mut Writer, usage: &Usage) {
    optional(w, "prompt_tokens", usage.prompt_tokens);
    optional(w, "output_tokens", usage.output_tokens);
    optional_seconds(w, "load_seconds", usage.load);
    optional_seconds(w, "prompt_seconds", usage.prompt_time);
    optional_seconds(w, "output_seconds", usage.output_time);
}

fn write_question(w: &mut Writer, question: &Question) {
    w.key("kind");
    match question {
        Question::Command {
            command,
            cwd,
            timeout_seconds,
            wrapper,
            parts,
            reasons,
            notes,
            offers,
        } => {
            w.string("command")
                .key("command")
                .string(command)
                .key("cwd")
                .string(cwd);
            w.key("timeout_seconds").u64(*timeout_seconds);
            strings(w, "wrapper", wrapper);
            w.key("parts").begin_array();
            for part in parts {
                w.begin_object();
                w.key("text").string(&part.text);
                w.key("ruling").string(&part.ruling);
                w.end_object();
            }
            w.end_array();
            strings(w, "reasons", reasons);
            strings(w, "notes", notes);
            strings(w, "rules", &offers.rules);
        }
        Question::Edit { path, diff, notes } => {
            w.string("edit")
                .key("path")
                .string(path)
                .key("diff")
                .string(diff);
            strings(w, "notes", notes);
        }
        Question::Loop { description } => {
            w.string("loop").key("description").string(description);
        }
        Question::Cloud { model, remote_host } => {
            w.string("cloud")
                .key("model")
                .string(model)
                .key("remote_host")
                .string(remote_host);
        }
    }
}

fn write_decision(w: &mut Writer, decision: &Decision, by: &DecidedBy) {
    let (word, reason) = match decision {
        Decision::Once => ("once", None),
        Decision::Session => ("session", None),
        Decision::SessionRule => ("session_rule", None),
        Decision::KeptRule => ("kept_rule", None),
        Decision::Deny { reason } => ("deny", reason.as_deref()),
        Decision::Nobody => ("nobody", None),
    };
    w.key("decision").string(word);
    optional_text(w, "reason", reason);
    let (kind, name) = match by {
        DecidedBy::Person => ("person", None),
        DecidedBy::Flag(flag) => ("flag", Some(flag.as_str())),
        DecidedBy::Rule(rule) => ("rule", Some(rule.as_str())),
        DecidedBy::Session => ("session", None),
        DecidedBy::Nobody => ("nobody", None),
    };
    w.key("by").string(kind);
    optional_text(w, "by_name", name);
}

/// The members of a step back or forth.
fn write_step(w: &mut Writer, report: &StepReport) {
    w.string("stepped").key("what").string(&report.what);
    w.key("made").bool(report.made).key("changes");
    changes(w, &report.changes);
    strings(w, "conflicts", &report.conflicts);
    strings(w, "notes", &report.notes);
    strings(w, "copies", &report.copies);
}

/// Changed files as one array.
fn changes(w: &mut Writer, files: &[FileChange]) {
    w.begin_array();
    for file in files {
        w.begin_object().key("path").string(&file.path);
        w.key("added").u64(file.added);
        w.key("removed").u64(file.removed);
        w.key("created").bool(file.created);
        w.key("deleted").bool(file.deleted).key("executable");
        match file.executable {
            Some(executable) => w.bool(executable),
            None => w.null(),
        };
        w.end_object();
    }
    w.end_array();
}

/// The facts of an outcome as one object, or `null`.
fn write_facts(w: &mut Writer, facts: &Facts) {
    match facts {
        Facts::None => {
            w.null();
        }
        Facts::Read { path, bytes } => {
            w.begin_object().key("kind").string("read");
            w.key("path")
                .string(path)
                .key("bytes")
                .u64(*bytes)
                .end_object();
        }
        Facts::Edited { files, diff } => {
            w.begin_object().key("kind").string("edited");
            changes(w.key("files"), files);
            w.key("diff").string(diff).end_object();
        }
        Facts::Ran {
            command,
            exit,
            elapsed,
            output,
            child_left,
            lines,
        } => {
            w.begin_object().key("kind").string("ran");
            w.key("command").string(command);
            optional_exit(w, *exit);
            seconds(w, "seconds", *elapsed);
            optional(w, "output", *output);
            w.key("child_left")
                .bool(*child_left)
                .key("lines")
                .u64(*lines)
                .end_object();
        }
    }
}

/// The members of a receipt.
fn write_receipt(w: &mut Writer, receipt: &Receipt) {
    let (word, reason) = status(&receipt.status);
    w.key("status").string(word);
    w.key("exit_code")
        .u64(u64::from(exit_code(&receipt.status)));
    optional_text(w, "reason", reason);
    w.key("answer")
        .string(receipt.answer.trim())
        .key("verdict")
        .string(&receipt.verdict);
    changes(w.key("files"), &receipt.files);
    w.key("commands").begin_array();
    for run in &receipt.commands {
        w.begin_object().key("command").string(&run.command);
        optional_exit(w, run.exit);
        seconds(w, "seconds", run.elapsed);
        w.end_object();
    }
    w.end_array();
    w.key("calls")
        .u64(receipt.calls)
        .key("requests")
        .u64(receipt.requests);
    seconds(w, "seconds", receipt.elapsed);
    w.key("prompt_tokens").u64(receipt.prompt_tokens);
    w.key("output_tokens").u64(receipt.output_tokens);
    seconds(w, "output_seconds", receipt.output_time);
}

fn status(status: &Status) -> (&'static str, Option<&str>) {
    match status {
        Status::Done => ("done", None),
        Status::Blocked => ("blocked", None),
        Status::Failed => ("failed", None),
        Status::ServerFailed { reason } => ("server_failed", Some(reason)),
        Status::Unusable { reason } => ("unusable", Some(reason)),
        Status::NeedsApproval { what } => ("needs_approval", Some(what)),
        Status::Limit { which } => ("limit", Some(which)),
        Status::NotSaved { reason } => ("not_saved", Some(reason)),
        Status::Cancelled => ("cancelled", None),
    }
}

fn strings(w: &mut Writer, key: &str, all: &[String]) {
    w.key(key).begin_array();
    for one in all {
        w.string(one);
    }
    w.end_array();
}

fn optional(w: &mut Writer, key: &str, n: Option<u64>) {
    w.key(key);
    match n {
        Some(n) => w.u64(n),
        None => w.null(),
    };
}

fn optional_text(w: &mut Writer, key: &str, text: Option<&str>) {
    w.key(key);
    match text {
        Some(text) => w.string(text),
        None => w.null(),
    };
}

fn non_empty(text: &str) -> Option<&str> {
    (!text.is_empty()).then_some(text)
}

fn optional_exit(w: &mut Writer, exit: Option<i32>) {
    w.key("exit");
    match exit {
        Some(code) => w.i64(i64::from(code)),
        None => w.null(),
    };
}

/// Milliseconds are enough, and keep the numbers short.
fn seconds(w: &mut Writer, key: &str, time: Duration) {
    w.key(key)
        .f64((time.as_secs_f64() * 1000.0).round() / 1000.0);
}

fn optional_seconds(w: &mut Writer, key: &str, time: Option<Duration>) {
    match time {
        Some(time) => seconds(w, key, time),
        None => {
            w.key(key).null();
        }
    }
}
