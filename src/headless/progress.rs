//! What a person sees on standard error while a turn runs: one harmless line an event, a label and a text.
//!
//! ```text
//! model     qwen3:8b at http://127.0.0.1:11434 (the only one with tools), window 32,768 (its default)
//! request   1: 3,812 bytes, about 950 tokens
//! waiting   loading the model, 0:10
//! reply     1: 80 tokens at 33 tokens/s, prompt 950 tokens
//! call      run_command sh test.sh
//! decided   once, by --yes
//!           | FAIL: 2 + 2 is 5
//! result    exit 1 in 0.3 s, 12 lines
//! ```
//!
//! On a terminal, counters (waiting, thinking, answering, a running command) share one line that is rewritten at most five
//! times a second; elsewhere a counter becomes a line of its own only when it has grown for a while, then ever more rarely.
//!
//! Invariant: no line feed inside an event's line, no control character, no escape sequence unless standard error is a terminal.
//! Invariant: the rewritten line holds no foreign text, so that its width is known.

use super::show::{clock, execution, seconds, speed, tokens_of};
use crate::protocol::{
    ContextReport, DecidedBy, Decision, Event, Facts, FileChange, InputState, Level, Receipt,
    Status, StepReport, StopReason, ToolOutcome, ToolStatus, Usage, Waiting, Way,
};
use crate::text::{self, counted};
use std::io::{self, IsTerminal, Write};
use std::time::{Duration, Instant};

/// Lines of a diff, and of a command's output, that are shown.
const DIFF_LINES: usize = 16;
const TAIL_LINES: usize = 6;
/// Characters of one line of foreign text.
const LINE_CHARS: usize = 200;
/// Of a notice: its end is what to do next.
const NOTICE_CHARS: usize = 2_000;
/// Bytes of live output that are kept for the tail.
const TAIL_BYTES: usize = 4 << 10;
/// Between two rewrites of the live line.
const REWRITE: Duration = Duration::from_millis(200);
/// First line of a counter that cannot be rewritten; the next ones after twice the time each.
const FIRST_LINE: Duration = Duration::from_secs(10);

/// How much is shown.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Shown {
    /// All of it.
    All,
    /// What needs attention.
    Warnings,
}

/// The writer of progress.
#[derive(Debug)]
pub(super) struct Progress {
    shown: Shown,
    live: bool,
    counter: Option<Counter>,
    tail: String,
    lines: u64,
    /// The session and its head, as far as it is saved.
    saved: Option<(String, String)>,
}

/// What is counted at the moment.
#[derive(Debug)]
struct Counter {
    what: What,
    begun: Instant,
    bytes: u64,
    written: Option<Instant>,
    next_line: Duration,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum What {
    Waiting(Waiting),
    Thinking,
    Answering,
    Running,
}

impl Progress {
    /// For this process's standard error.
    pub(super) fn new(shown: Shown) -> Progress {
        let live = shown == Shown::All && io::stderr().is_terminal();
        Progress {
            shown,
            live,
            counter: None,
            tail: String::new(),
            lines: 0,
            saved: None,
        }
    }

    /// How long the caller may sleep before it calls `tick`; `None`: for ever.
    pub(super) fn next_tick(&self) -> Option<Duration> {
        (self.live && self.counter.is_some()).then_some(Duration::from_secs(1))
    }

    /// The clock went on.
    pub(super) fn tick(&mut self) {
        if self.live {
            self.rewrite(Instant::now());
        }
    }

    /// Shows one event.
    pub(super) fn event(&mut self, event: &Event) {
        match event {
            Event::Notice { level, text } => self.notice(*level, text),
            _ if self.shown == Shown::Warnings => {}
            Event::Model {
                name,
                why,
                address,
                window,
                window_why,
            } => {
                let window = text::grouped(*window);
                self.line(
                    "model",
                    &format!("{name} at {address} ({why}), window {window} ({window_why})"),
                );
            }
            Event::RequestSent {
                request,
                bytes,
                estimated_tokens,
            } => {
                let (bytes, tokens) = (text::grouped(*bytes), text::grouped(*estimated_tokens));
                let request = request.0;
                self.line(
                    "request",
                    &format!("{request}: {bytes} bytes, about {tokens} tokens"),
                );
            }
            Event::Waiting { waiting, .. } => self.count(What::Waiting(*waiting), 0),
            Event::Thinking { text, .. } => self.count(What::Thinking, text.len()),
            Event::Content { text, .. } => self.count(What::Answering, text.len()),
            Event::Replied {
                request,
                usage,
                stop,
                recovered,
            } => self.line("reply", &replied(request.0, usage, stop, *recovered)),
            Event::Discarded { reason, .. } => self.line("dropped", reason),
            Event::CallStarted { summary, .. } => {
                self.tail.clear();
                self.lines = 0;
                self.line("call", summary);
            }
            Event::Decided { decision, by, .. } => self.line("decided", &decided(decision, by)),
            Event::Output { text, .. } => self.output(text),
            Event::CallEnded { outcome, .. } => self.outcome(outcome),
            Event::Touched { files, more, .. } => self.line("touched", &touched(files, *more)),
            Event::Stepped(report) => self.step(report),
            Event::Reviewed { files, notes, .. } => {
                let files: Vec<String> = files.iter().map(|f| changed(f, ", new")).collect();
                self.line("review", &files.join("; "));
                notes.iter().for_each(|note| self.line("", note));
            }
            Event::Context(report) => self.context(report),
            Event::Compacting { tokens, window } => {
                let (tokens, window) = (text::grouped(*tokens), text::grouped(*window));
                self.line(
                    "compact",
                    &format!(
                        "about {tokens} tokens of {window}: asking the model for a checkpoint"
                    ),
                );
            }
            Event::Compacted {
                before,
                after,
                left_out,
                count,
            } => {
                let (before, after) = (text::grouped(*before), text::grouped(*after));
                let left_out = counted(*left_out, "message");
                self.line(
                    "compacted",
                    &format!("{before} tokens to about {after}, {left_out} left out; number {count} in this session"),
                );
            }
            Event::CompactionFailed { reason } => {
                self.line(
                    "compact",
                    &format!("not made, all stays as it is: {reason}"),
                );
            }
            // The command itself is shown when it begins.
            Event::Input {
                way: Way::Shell { .. },
                state: InputState::Consumed,
                ..
            } => {}
            Event::Input { id, state, .. } => {
                let (word, reason) = super::show::input_state(state);
                let reason = reason.map(|reason| format!(": {reason}"));
                let reason = reason.unwrap_or_default();
                self.line("message", &format!("{id} {word}{reason}"));
            }
            Event::Queued { held, pending } => {
                let held = if *held { ", held" } else { "" };
                let count = counted(pending.len() as u64, "message");
                self.line("queued", &format!("{count}{held}"));
                for one in pending {
                    let way = super::show::way(one.way);
                    self.line("", &format!("{} ({way}) {}", one.id, one.text));
                }
            }
            Event::Goal(goal) => {
                // The rest of it stands above, or in the receipt.
                let goal = super::show::goal(goal.as_ref());
                self.line("goal", goal.lines().next().unwrap_or_default());
            }
            Event::Verifying { attempt } => {
                self.line("verify", &format!("a verifier looks, attempt {attempt}"));
            }
            Event::Verified(opinion) => {
                let verdict = if opinion.accepted {
                    "accepted"
                } else {
                    "rejected"
                };
                self.line("verified", &format!("{verdict}: {}", opinion.reason));
                for missing in &opinion.missing {
                    self.line("", &format!("missing: {missing}"));
                }
                if !opinion.next.is_empty() {
                    self.line("", &format!("next: {}", opinion.next));
                }
            }
            Event::Saved { session, head, .. } => {
                self.saved = Some((session.clone(), head.clone()))
            }
            Event::TurnEnded { receipt, .. } => {
                self.receipt(receipt);
                if let Some((session, head)) = self.saved.take() {
                    self.line("session", &session);
                    self.line("", &format!("head {head}"));
                }
            }
            // A question is shown by whoever asks it; the rest is of no interest to a reader of lines.
            Event::Asked { .. } | Event::TurnStarted { .. } | Event::Closed => self.clear(),
        }
    }

    fn notice(&mut self, level: Level, text: &str) {
        let label = match level {
            Level::Info if self.shown == Shown::Warnings => return,
            Level::Info => "note",
            Level::Warning => "warning",
            Level::Error => "error",
        };
        self.put(label, text, NOTICE_CHARS);
    }

    /// A line of its own.
    pub(super) fn line(&mut self, label: &str, text: &str) {
        self.put(label, text, LINE_CHARS);
    }

    fn put(&mut self, label: &str, text: &str, most: usize) {
        self.clear();
        self.counter = None;
        let mut out = String::new();
        for (i, part) in text.lines().enumerate() {
            let label = if i == 0 { label } else { "" };
            push(&mut out, label, part, most);
        }
        write(&out);
    }

    fn output(&mut self, text: &str) {
        self.tail.push_str(text);
        self.lines += text.bytes().filter(|b| *b == b'\n').count() as u64;
        if self.tail.len() > TAIL_BYTES {
            let mut cut = self.tail.len() - TAIL_BYTES / 2;
            while !self.tail.is_char_boundary(cut) {
                cut += 1;
            }
            self.tail.drain(..cut);
        }
        self.count(What::Running, text.len());
    }

    fn outcome(&mut self, outcome: &ToolOutcome) {
        self.clear();
        self.counter = None;
        let mut out = String::new();
        match &outcome.facts {
            Facts::Ran { .. } => {
                let tail = text::plain(&self.tail);
                let lines: Vec<&str> = tail.lines().collect();
                for line in &lines[lines.len().saturating_sub(TAIL_LINES)..] {
                    push(&mut out, "", &format!("| {line}"), LINE_CHARS);
                }
            }
            Facts::Edited { files, diff } => {
                // Of one file the first two lines only name it again.
                let names = if files.len() == 1 { 2 } else { 0 };
                let lines: Vec<&str> = diff.lines().skip(names).collect();
                for line in lines.iter().take(DIFF_LINES) {
                    push(&mut out, "", &format!("| {line}"), LINE_CHARS);
                }
                if lines.len() > DIFF_LINES {
                    let more = counted((lines.len() - DIFF_LINES) as u64, "more line");
                    push(&mut out, "", &format!("| … {more}"), LINE_CHARS);
                }
            }
            Facts::None | Facts::Read { .. } => {}
        }
        write(&out);
        self.line("result", &result(outcome));
    }

    fn receipt(&mut self, receipt: &Receipt) {
        let elapsed = seconds(receipt.elapsed);
        let verdict = match &receipt.status {
            Status::Done | Status::Blocked | Status::Failed => receipt.verdict.as_str(),
            // Why is said in full at the very end.
            Status::ServerFailed { .. } => "the model server failed",
            Status::Unusable { .. } => "nothing could be done",
            Status::NeedsApproval { .. } => "an approval was needed",
            Status::Limit { .. } => "stopped at a limit",
            Status::NotSaved { .. } => "the session could not be saved",
            Status::Cancelled => "interrupted",
        };
        self.line("receipt", &format!("{verdict} ({elapsed})"));
        for file in &receipt.files {
            self.line("", &format!("changed {}", changed(file, ", new")));
        }
        for run in &receipt.commands {
            let exit = match run.exit {
                Some(code) => format!("exit {code}"),
                None => "no exit code".to_string(),
            };
            self.line(
                "",
                &format!("ran {} ({exit}, {})", run.command, seconds(run.elapsed)),
            );
        }
        if receipt.requests == 0 {
            return;
        }
        let speed = speed(receipt.output_tokens, receipt.output_time);
        let speed = speed.map(|s| format!(" ({s})")).unwrap_or_default();
        self.line(
            "",
            &format!(
                "{}, {}, {} tokens in, {} out{speed}",
                counted(receipt.requests, "request"),
                counted(receipt.calls, "call"),
                text::grouped(receipt.prompt_tokens),
                text::grouped(receipt.output_tokens),
            ),
        );
    }

    fn context(&mut self, report: &ContextReport) {
        let [bytes, tokens, window] =
            [report.bytes, report.tokens, report.window].map(text::grouped);
        let at = match report.compacts_at {
            Some(at) => format!(", compacted at {}", text::grouped(at)),
            None => String::new(),
        };
        self.line(
            "context",
            &format!("{bytes} bytes, about {tokens} tokens of {window}{at}"),
        );
        for row in &report.rows {
            let [bytes, tokens] = [row.bytes, row.tokens].map(text::grouped);
            let part = super::json::part_word(row.part);
            let text = format!(
                "{part:<11} {bytes:>9} bytes {tokens:>8} tokens  {}",
                row.what
            );
            self.line("", text.trim_end());
        }
    }

    fn step(&mut self, report: &StepReport) {
        let done = if report.made { "done" } else { "would change" };
        self.line("step", &format!("{}: {done}", report.what));
        for file in &report.changes {
            self.line("", &changed(file, ", made again"));
        }
        for text in report.conflicts.iter().chain(&report.notes) {
            self.line("", text);
        }
        for copy in &report.copies {
            self.line("", &format!("kept {copy}"));
        }
    }

    /// Another piece of the same thing, or the first of another.
    fn count(&mut self, what: What, bytes: usize) {
        let now = Instant::now();
        let same = |counter: &Counter| {
            std::mem::discriminant(&counter.what) == std::mem::discriminant(&what)
        };
        match &mut self.counter {
            Some(counter) if same(counter) => {
                counter.what = what;
                counter.bytes += bytes as u64;
            }
            other => {
                *other = Some(Counter {
                    what,
                    begun: now,
                    bytes: bytes as u64,
                    written: None,
                    next_line: FIRST_LINE,
                });
            }
        }
        if self.live {
            self.rewrite(now);
        } else {
            self.sparse(now);
        }
    }

    /// The live line, unless it is too early for another.
    fn rewrite(&mut self, now: Instant) {
        let lines = self.lines;
        let Some(counter) = &mut self.counter else {
            return;
        };
        let early = |written: Instant| now.duration_since(written) < REWRITE;
        if counter.written.is_some_and(early) {
            return;
        }
        counter.written = Some(now);
        let (label, text) = counter.text(now, lines);
        write(&format!("\r\x1b[K{label:<9} {text}"));
    }

    /// Where nothing can be rewritten.
    fn sparse(&mut self, now: Instant) {
        let lines = self.lines;
        let Some(counter) = &mut self.counter else {
            return;
        };
        if now.duration_since(counter.begun) < counter.next_line {
            return;
        }
        counter.next_line *= 2;
        let (label, text) = counter.text(now, lines);
        let mut out = String::new();
        push(&mut out, label, &text, LINE_CHARS);
        write(&out);
    }

    /// Takes the live line away before something else is written.
    pub(super) fn clear(&mut self) {
        let written = self
            .counter
            .as_mut()
            .and_then(|counter| counter.written.take());
        if self.live && written.is_some() {
            write("\r\x1b[K");
        }
    }
}

impl Counter {
    fn text(&self, now: Instant, lines: u64) -> (&'static str, String) {
        let since = clock(now.duration_since(self.begun));
        let tokens = text::grouped(tokens_of(self.bytes));
        match self.what {
            What::Waiting(waiting) => ("waiting", waiting_text(waiting)),
            What::Thinking => ("thinking", format!("{since}, about {tokens} tokens")),
            What::Answering => ("answering", format!("{since}, about {tokens} tokens")),
            What::Running => ("running", format!("{since}, {}", counted(lines, "line"))),
        }
    }
}

fn waiting_text(waiting: Waiting) -> String {
    match waiting {
        Waiting::Connecting => "connecting".to_string(),
        Waiting::Loading { elapsed } => format!("loading the model, {}", clock(elapsed)),
        Waiting::Reading {
            elapsed,
            new_tokens,
            left,
        } => {
            let left = left
                .map(|l| format!(", about {} left", clock(l)))
                .unwrap_or_default();
            let tokens = text::grouped(new_tokens);
            format!(
                "reading about {tokens} new tokens, {}{left}",
                clock(elapsed)
            )
        }
        Waiting::Generating { elapsed } => format!("for the next piece, {}", clock(elapsed)),
        Waiting::Unknown { elapsed } => {
            format!("the server does not say for what, {}", clock(elapsed))
        }
        Waiting::Resending { attempt, delay } => {
            format!("sending again in {} (attempt {attempt})", seconds(delay))
        }
    }
}

fn replied(request: u64, usage: &Usage, stop: &StopReason, recovered: bool) -> String {
    let mut out = format!("{request}:");
    match usage.output_tokens {
        Some(tokens) => {
            out += &format!(" {}", counted(tokens, "token"));
            let speed = usage.output_time.and_then(|time| speed(tokens, time));
            out += &speed.map(|s| format!(" at {s}")).unwrap_or_default();
        }
        None => out += " complete",
    }
    if let Some(tokens) = usage.prompt_tokens {
        out += &format!(", prompt {}", counted(tokens, "token"));
    }
    match stop {
        StopReason::Stop => {}
        StopReason::Length => out += ", cut by the output limit",
        StopReason::Other(reason) => out += &format!(", ended by {reason}"),
    }
    if recovered {
        out += ", with a call found in its text";
    }
    out
}

fn decided(decision: &Decision, by: &DecidedBy) -> String {
    let what = match decision {
        Decision::Once => "yes".to_string(),
        Decision::Session => "yes, for this run".to_string(),
        Decision::SessionRule => "yes, and the rule for this run".to_string(),
        Decision::KeptRule => "yes, and the rule is kept".to_string(),
        // A person's own words; a rule's are in the result that follows.
        Decision::Deny { reason: Some(why) } if *by == DecidedBy::Person => format!("no ({why})"),
        Decision::Deny { .. } | Decision::Nobody => "no".to_string(),
    };
    match by {
        DecidedBy::Person => format!("{what}, by you"),
        DecidedBy::Flag(flag) => format!("{what}, by {flag}"),
        DecidedBy::Rule(rule) => format!("{what}, by {rule}"),
        DecidedBy::Session => format!("{what}, by an earlier answer"),
        DecidedBy::Nobody => format!("{what}, nobody to ask"),
    }
}

fn result(outcome: &ToolOutcome) -> String {
    let first = outcome.text.lines().next().unwrap_or("");
    match (&outcome.facts, outcome.status) {
        (
            Facts::Ran {
                exit,
                elapsed,
                child_left,
                lines,
                ..
            },
            ToolStatus::Ok,
        ) => {
            let exit = match exit {
                Some(code) => format!("exit {code}"),
                None => first.to_string(),
            };
            let left = if *child_left {
                ", a child still runs"
            } else {
                ""
            };
            format!(
                "{exit} in {}, {}{left}",
                seconds(*elapsed),
                counted(*lines, "line")
            )
        }
        (Facts::Edited { files, .. }, _) => {
            let files = files.iter().map(|file| changed(file, ", new file"));
            files.collect::<Vec<String>>().join("; ")
        }
        (Facts::Read { path, bytes }, ToolStatus::Ok) => {
            format!("{path}, {} bytes", text::grouped(*bytes))
        }
        (_, ToolStatus::Ok) => first.to_string(),
        (_, ToolStatus::Failed) => format!("failed: {first}"),
        (_, ToolStatus::Denied) => format!("denied: {first}"),
        (_, ToolStatus::Cancelled) => "cancelled".to_string(),
    }
}

/// `src/a.rs, x.log and 3 more, by the command; no before-image`
fn touched(files: &[String], more: u64) -> String {
    let more = match more {
        0 => String::new(),
        more => format!(" and {} more", text::grouped(more)),
    };
    format!(
        "{}{more}, by the command; no before-image",
        files.join(", ")
    )
}

/// `src/a.rs +3 -1`; `new` marks one that was created.
fn changed(file: &FileChange, new: &str) -> String {
    let mark = match (file.created, file.deleted) {
        (_, true) => ", deleted",
        (true, false) => new,
        (false, false) => "",
    };
    let bit = execution(file);
    format!("{} +{} -{}{mark}{bit}", file.path, file.added, file.removed)
}

/// `label     text`, harmless and bounded.
fn push(out: &mut String, label: &str, text: &str, most: usize) {
    let shown = text::visible(text);
    let shown = text::clip(&shown, most);
    out.push_str(&format!("{label:<9} {shown}").replace('\n', " "));
    out.push('\n');
}

/// One write, so that lines of two processes do not mix. Nobody may be reading, and that stops nothing.
fn write(text: &str) {
    let _ = io::stderr().write_all(text.as_bytes());
}
