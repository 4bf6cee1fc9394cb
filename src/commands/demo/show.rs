//! The demo's presenter: what crossed the boundaries in, lines for people out. Pure; `demo.rs` prints them.
//!
//! ```text
//! Op, Event::Model, Request, Wire, Record, Event::Thinking, Reply, Event::CallStarted, Outcome …
//!   1 op        Prompt, 108 bytes of text
//!     model     stand-in:latest (the only model with tools)
//!   2 request   POST /api/chat, 3,912 bytes of JSON
//!   …           the first request stage by stage, the others in short
//! ```
//!
//! Invariant: what the model, the tools and the files say is shown through `text::plain` or `text::visible`.

use super::page::Page;
use crate::commands::wire::chunks;
use crate::headless::status_word;
use crate::protocol::{Event, Facts, Level, Message, Op, Receipt, Stage, Status, ToolOutcome};
use crate::text;
use std::time::Duration;

/// Lines of a command's output and of a diff that are shown.
const EXCERPT_LINES: usize = 8;

/// The presenter.
#[derive(Debug, Default)]
pub(super) struct Show {
    page: Page,
    /// Chats begun.
    request: u64,
    /// Bytes of the request before.
    before: u64,
    /// What the discovery asked.
    asked: Vec<String>,
    /// The exchange under way, if it is a chat.
    chat: Option<Chat>,
    /// How the call under way was allowed.
    verdict: Option<String>,
    /// Output of the command under way.
    output: String,
    /// Whether the first request's stage 7 was shown.
    recorded: bool,
}

/// Counts of one chat.
#[derive(Debug, Default)]
struct Chat {
    /// Slices of the request seen.
    slices: u64,
    /// Whether the first chunk was shown.
    chunk_shown: bool,
    records: u64,
    wire: Vec<u8>,
}

impl Show {
    /// What to print for it.
    pub(super) fn see(&mut self, stage: &Stage<'_>) -> String {
        match stage {
            Stage::Op(op) => self.op(op),
            Stage::ExchangeBegins(what) => self.begins(what),
            Stage::RequestBytes(bytes) => self.request(bytes),
            Stage::WireBytes(bytes) => self.wire(bytes),
            Stage::Record(line) => self.record(line),
            Stage::Reply(message) => self.reply(message),
            Stage::Verdict(text) => self.verdict = Some(text.to_string()),
            Stage::Outcome(outcome) => self.outcome(outcome),
            Stage::Event(event) => self.event(event),
            Stage::BodyBytes(_) | Stage::ExchangeEnds => {}
        }
        self.page.take()
    }

    fn is_first(&self) -> bool {
        self.request <= 1
    }

    /// A label with the stage's number in the first request, without it later.
    fn label(&self, first: &'static str, later: &'static str) -> &'static str {
        if self.is_first() { first } else { later }
    }

    fn op(&mut self, op: &Op) {
        if let Op::Prompt { text, .. } = op {
            self.page.line("The first request, in its seven stages");
            self.page
                .entry("1 op", &format!("Prompt, {} bytes of text", text.len()));
        }
    }

    fn begins(&mut self, what: &str) {
        if what != "POST /api/chat" {
            self.asked.push(what.to_string());
            return;
        }
        self.request += 1;
        self.chat = Some(Chat::default());
    }

    fn request(&mut self, bytes: &[u8]) {
        let Some(chat) = &mut self.chat else {
            return;
        };
        // The head comes first, then the body in slices, the first of which is nearly all of it.
        let slice = chat.slices;
        chat.slices += 1;
        if !self.is_first() {
            return;
        }
        let shown = String::from_utf8_lossy(bytes);
        match slice {
            0 => {
                let first = shown.lines().next().unwrap_or_default().to_string();
                let length = shown
                    .lines()
                    .find_map(|line| line.strip_prefix("Content-Length: "));
                let length = length.and_then(|length| length.parse().ok()).unwrap_or(0);
                let text = format!("{first}, then {} bytes of JSON", text::grouped(length));
                self.page.excerpt("2 request", &text);
            }
            1 => self.page.excerpt("", &shown),
            _ => {}
        }
    }

    fn wire(&mut self, bytes: &[u8]) {
        let first = self.is_first();
        let Some(chat) = &mut self.chat else {
            return;
        };
        let begins = chat.wire.is_empty();
        chat.wire.extend_from_slice(bytes);
        if !first {
            return;
        }
        if begins {
            let status = bytes.split(|byte| *byte == b'\r').next().unwrap_or(bytes);
            let status = String::from_utf8_lossy(status).into_owned();
            let text = format!("{status}, in chunks: a size, its data, and so on");
            self.page.excerpt("3 socket", &text);
        }
        // The head may come alone.
        let head = chat.wire.windows(4).position(|four| four == b"\r\n\r\n");
        let body = head.map_or(&b""[..], |end| &chat.wire[end + 4..]);
        if !body.is_empty() && !std::mem::replace(&mut chat.chunk_shown, true) {
            let shown = String::from_utf8_lossy(body).replace('\r', "\\r");
            self.page.excerpt("", &shown);
        }
    }

    fn record(&mut self, line: &[u8]) {
        let first = self.is_first();
        let Some(chat) = &mut self.chat else {
            return;
        };
        chat.records += 1;
        if first && chat.records == 1 {
            let shown = String::from_utf8_lossy(line).into_owned();
            self.page.excerpt("4 record", &shown);
        }
    }

    fn reply(&mut self, message: &Message) {
        let Message::Assistant { calls, .. } = message else {
            return;
        };
        let Some(chat) = self.chat.take() else {
            return;
        };
        if self.is_first() {
            let chunks = text::counted(chunks(&chat.wire).len() as u64, "chunk");
            let bytes = text::counted(chat.wire.len() as u64, "byte");
            let records = text::counted(chat.records, "record");
            let what = match calls.len() {
                0 => "no call: an answer".to_string(),
                1 => "one call".to_string(),
                count => format!("{count} calls"),
            };
            self.page.entry(
                "  reply",
                &format!("complete: {records} in {chunks}, {bytes}; {what}"),
            );
        }
    }

    fn outcome(&mut self, outcome: &ToolOutcome) {
        let label = self.label("  result", "result");
        let looked = match &outcome.facts {
            Facts::None | Facts::Read { .. } => true,
            Facts::Ran { .. } | Facts::Edited { .. } => false,
        };
        let verdict = self.verdict.take().filter(|_| self.is_first() || !looked);
        if let Some(verdict) = verdict {
            // The call's name stands in the line before.
            let words = verdict
                .split_once(": ")
                .map_or(verdict.as_str(), |(_, words)| words);
            self.page.entry(self.label("  policy", "policy"), words);
        }
        let output = std::mem::take(&mut self.output);
        match &outcome.facts {
            Facts::Ran { exit, elapsed, .. } => {
                let text = format!("{} after {}", end(*exit), time(*elapsed));
                self.page.entry(label, &text);
                self.lines(output.lines());
            }
            Facts::Edited { files, diff } => {
                for file in files {
                    let (path, added, removed) =
                        (text::visible(&file.path), file.added, file.removed);
                    self.page
                        .entry(label, &format!("{path} changed: +{added} -{removed}"));
                }
                let changed = diff.lines().filter(|line| {
                    let is_name = line.starts_with("--- ") || line.starts_with("+++ ");
                    !is_name && line.starts_with(['-', '+'])
                });
                self.lines(changed);
            }
            Facts::None | Facts::Read { .. } => {
                let bytes = text::counted(outcome.text.len() as u64, "byte");
                let lines = text::counted(outcome.text.lines().count() as u64, "line");
                let status = status_word(outcome.status);
                self.page
                    .entry(label, &format!("{status}, {lines}, {bytes} for the model"));
            }
        }
    }

    /// The first lines of foreign text, each behind a bar.
    fn lines<'l>(&mut self, lines: impl Iterator<Item = &'l str>) {
        let lines: Vec<&str> = lines.collect();
        for line in lines.iter().take(EXCERPT_LINES) {
            self.page.excerpt("", &format!("| {line}"));
        }
        if lines.len() > EXCERPT_LINES {
            let more = lines.len() - EXCERPT_LINES;
            self.page.entry("", &format!("| ({more} more lines)"));
        }
    }

    fn event(&mut self, event: &Event) {
        match event {
            Event::Model {
                name,
                why,
                window,
                window_why,
                ..
            } => {
                self.page.entry("  asked", &self.asked.join(", "));
                let window = text::grouped(*window);
                self.page.entry(
                    "  model",
                    &format!("{name}: {why}; window {window} tokens: {window_why}"),
                );
            }
            Event::Notice { level, text } => {
                let label = match level {
                    Level::Info => "note",
                    Level::Warning => "warning",
                    Level::Error => "error",
                };
                self.page.entry(label, text);
            }
            Event::RequestSent { bytes, .. } => self.sent(*bytes),
            Event::Thinking { text, .. } => {
                let label = self.label("5 thinking", "thinking");
                self.page.flow(label, text);
            }
            Event::Content { text, .. } => {
                let label = self.label("  text", "text");
                self.page.flow(label, text);
            }
            Event::Discarded { reason, .. } => self.page.entry("discarded", reason),
            Event::CallStarted { summary, .. } => {
                let label = self.label("6 call", "call");
                self.page.entry(label, &text::visible(summary));
            }
            Event::Asked { .. } => self
                .page
                .entry("asked", "an approval that nobody can give here"),
            Event::Output { text, .. } => self.output.push_str(text),
            Event::CallEnded { .. } => {
                if !std::mem::replace(&mut self.recorded, true) {
                    self.page.entry(
                        "7 record",
                        "the call has its one result in the session; each line here was an event",
                    );
                }
            }
            Event::TurnEnded { receipt, .. } => self.receipt(receipt),
            Event::TurnStarted { .. }
            | Event::Waiting { .. }
            | Event::Replied { .. }
            | Event::Decided { .. }
            | Event::Touched { .. }
            | Event::Saved { .. }
            | Event::Stepped(_)
            | Event::Reviewed { .. }
            | Event::Context(_)
            | Event::Compacting { .. }
            | Event::Compacted { .. }
            | Event::CompactionFailed { .. }
            | Event::Input { .. }
            | Event::Queued { .. }
            | Event::Goal(_)
            | Event::Verifying { .. }
            | Event::Verified(_)
            | Event::Closed => {}
        }
    }

    fn sent(&mut self, bytes: u64) {
        let new = bytes.saturating_sub(std::mem::replace(&mut self.before, bytes));
        if self.is_first() {
            return;
        }
        if self.request == 2 {
            self.page.line("");
            self.page.line(
                "The other requests go the same way: what was sent stays as it is, news is added",
            );
        }
        let (number, bytes, new) = (self.request, text::grouped(bytes), text::grouped(new));
        self.page.line(&format!(
            "Request {number}: {bytes} bytes, {new} of them new"
        ));
    }

    fn receipt(&mut self, receipt: &Receipt) {
        self.page.line("");
        self.page.line("Receipt");
        self.page.entry("status", &receipt.verdict);
        for file in &receipt.files {
            let path = text::visible(&file.path);
            self.page.entry(
                "changed",
                &format!("{path} +{} -{}", file.added, file.removed),
            );
        }
        for run in &receipt.commands {
            let command = text::visible(&run.command);
            let text = format!("{command} ({})", end(run.exit));
            self.page.entry("ran", &text);
        }
        let time = time(receipt.elapsed);
        let (requests, calls) = (receipt.requests, receipt.calls);
        self.page.entry(
            "work",
            &format!("{requests} requests, {calls} calls, {time}"),
        );
    }
}

/// The exit code of the demo.
pub(super) fn is_done(receipt: &Receipt) -> bool {
    receipt.status == Status::Done
}

fn end(exit: Option<i32>) -> String {
    exit.map_or("ended early".to_string(), |code| {
        format!("exit code {code}")
    })
}

/// `4 ms`, `6.3 s`
fn time(time: Duration) -> String {
    match time.as_secs() {
        0 => format!("{} ms", time.as_millis()),
        _ => format!("{:.1} s", time.as_secs_f64()),
    }
}
