//! One model call: a request body in, a complete reply or one error out, and deltas on the way. The engine's worker thread runs
//! it; `http::client` moves the bytes, `record.rs` reads each line, `assemble.rs` adds them up.
//!
//! ```text
//! POST /api/chat HTTP/1.1 …                     → Progress::Sent
//! (silence)                                     → Progress::Waiting(Loading | Reading | …)        watch.rs
//! {"message":{"thinking":"Let me"},…}           → Progress::Thinking("Let me")
//! {"message":{"content":"Reading it."},…}       → Progress::Content("Reading it.")
//! {"message":{"tool_calls":[…]},"done":true,…}  → Reply { calls, usage, stop: Stop, … }
//! ```
//!
//! Pieces of one kind that arrive in one read are handed on together, at most [`PIECE_BYTES`] at a time. The reply is complete
//! with its last record: what follows is read to the end of the body (a recorder wants it whole) but changes nothing; the
//! connection may then break without harm, and one that stays open silently is closed by us.
//!
//! Sent again, at most twice a call: once after a connection that was dropped before any byte of an answer; by
//! `Error::resends` after what the server said. Never after a time-out (the load would begin anew), never after a call
//! the server could not read (the same bytes fail the same way), never after part of an answer was cut.
//!
//! Refused: everything in [`Error`]. Partial text stays with the error, for display.
//!
//! Invariant: no call leaves here from a reply without its last record; the one exception is a call that the server itself hands
//! back whole inside its complaint about it.
//!
//! Read next: `assemble.rs`, `watch.rs`, `error.rs`.

use super::watch::Watch;
use super::{Ollama, Record, RequestBody};
use crate::http::client::{Step, exchange};
use crate::http::{self, BodyError, Head, Limits, Request};
use crate::lines::Ndjson;
use crate::model::assemble::{Assembler, Failed};
use crate::model::choose;
use crate::model::classify::{self, Asked, BODY_LIMIT};
use crate::model::leak::{Display, Place};
use crate::model::recover::{self, FoundCall, Recovered, recover};
use crate::model::{Chat, Error, Progress, Reply, Shape};
use crate::protocol::{CallId, Stage, StopReason, ToolCall, Usage, Waiting};
use crate::sys::{Cancel, poll, random};
use std::ops::ControlFlow;
use std::sync::Arc;
use std::time::{Duration, Instant, SystemTime};

/// One record: a whole tool call with a file in it is one line (Ollama's own client stops at 8 MB).
const RECORD_LIMIT: usize = 16 << 20;
/// One piece of text handed on.
const PIECE_BYTES: usize = 32 << 10;
/// Resends in one call, whatever the reasons.
const MAX_RESENDS: u32 = 2;
/// Bytes kept of an answer to show what it was when it turns out to be none.
const START_BYTES: usize = 200;
/// Characters kept of the server's complaint about a call: it quotes the call, which may hold a whole file.
const COMPLAINT_CHARS: usize = 2000;

impl Ollama {
    /// `POST /api/chat`, resent by the rules.
    pub fn chat(
        &self,
        shape: &Shape,
        body: &RequestBody,
        chat: &Chat<'_>,
        cancel: &Cancel,
        on: &mut dyn FnMut(Progress<'_>),
    ) -> Result<Reply, Error> {
        let mut resent = 0;
        loop {
            let error = match attempt(self, &shape.model, body, chat, cancel, on) {
                Ok(reply) => return Ok(reply),
                Err(error) => error,
            };
            let (allowed, first_delay) = error.resends(&self.delays);
            if resent >= allowed.min(MAX_RESENDS) {
                return Err(with_names(self, error, cancel));
            }
            resent += 1;
            let delay = first_delay * resent;
            let why = error.to_string();
            on(Progress::Resending {
                why: &why,
                attempt: resent,
            });
            if !delay.is_zero() {
                on(Progress::Waiting(Waiting::Resending {
                    attempt: resent,
                    delay,
                }));
                pause(delay, cancel)?;
            }
        }
    }
}

/// Waits, or ends at once when the switch is turned.
fn pause(delay: Duration, cancel: &Cancel) -> Result<(), Error> {
    use std::os::fd::AsFd;
    // The switch's own descriptor becomes ready with the switch and at no other time.
    match poll::readable(cancel.as_fd(), cancel, Some(Instant::now() + delay)) {
        Ok(poll::Wake::TimedOut | poll::Wake::Ready) => Ok(()),
        Ok(poll::Wake::Cancelled) => Err(Error::Cancelled),
        Err(source) => Err(Error::Http(http::Error::Io {
            doing: "waiting before sending again",
            source,
        })),
    }
}

/// Adds the names that help to an error that lacks them.
fn with_names(server: &Ollama, error: Error, cancel: &Cancel) -> Error {
    let others = |model: &str| {
        // A failure to list models is no news here: the error stands without.
        let mut entries = server.models(cancel).unwrap_or_default();
        // Without the model itself: the server lists it and yet does not give it, so it is no way out.
        entries.retain(|entry| !choose::same_model(&entry.name, model));
        entries
    };
    match error {
        Error::ModelMissing { model, address, .. } => Error::ModelMissing {
            near: choose::near(&model, &others(&model)),
            model,
            address,
        },
        Error::NoTools { model, .. } => Error::NoTools {
            others: choose::with_tools(&others(&model)),
            model,
        },
        other => other,
    }
}

/// One exchange.
fn attempt(
    server: &Ollama,
    model: &str,
    body: &RequestBody,
    chat: &Chat<'_>,
    cancel: &Cancel,
    on: &mut dyn FnMut(Progress<'_>),
) -> Result<Reply, Error> {
    let slices = body.slices();
    let request = Request {
        method: "POST",
        path: "/api/chat",
        body: &slices,
    };
    let mut lines = Ndjson::new(RECORD_LIMIT);
    let mut watch = Watch::new(server, model, chat);
    let mut live = Live {
        server,
        asked: server.asked(model),
        offered: chat.offered,
        on,
        head: None,
        start: Vec::new(),
        assembler: Assembler::default(),
        display: Display::default(),
        shown_thinking: 0,
        end: None,
    };
    let begin = Stage::ExchangeBegins("POST /api/chat");
    server.tap.see(&begin);
    let limits = Limits::default();
    let result = exchange(
        &server.target,
        &request,
        &server.timeouts,
        limits,
        cancel,
        &mut |step| {
            server.watch(&step);
            match step {
                Step::Sent => (live.on)(Progress::Sent {
                    bytes: body.len() as u64,
                }),
                Step::Silent {
                    elapsed,
                    after_first_byte,
                } => return live.silent(&mut watch, elapsed, after_first_byte),
                Step::Head { head } => return live.head(head),
                Step::Body { bytes } => return live.body(&mut lines, bytes),
                Step::Connected { .. } | Step::Sending { .. } | Step::Received { .. } => {}
            }
            ControlFlow::Continue(())
        },
    );
    let reply = live.finish(&mut lines, result.map(drop));
    server.tap.see(&Stage::ExchangeEnds);
    reply.map(|reply| usable(reply, chat))
}

/// How an exchange ended before its time.
enum End {
    Failed(Error),
    /// The server handed a call back whole inside its complaint.
    HandedBack(FoundCall),
    /// Nothing more is wanted of this connection.
    Enough,
}

/// The state of one exchange.
struct Live<'a, 'o> {
    server: &'a Ollama,
    asked: Asked<'a>,
    offered: &'a [&'a str],
    on: &'o mut dyn FnMut(Progress<'_>),
    head: Option<Head>,
    /// How the body begins: of an answer that is no stream of records all of it, as far as it is read.
    start: Vec<u8>,
    assembler: Assembler,
    display: Display,
    shown_thinking: usize,
    end: Option<End>,
}

impl Live<'_, '_> {
    fn silent(&mut self, watch: &mut Watch<'_>, elapsed: Duration, after: bool) -> ControlFlow<()> {
        if self.assembler.is_complete() {
            return self.stop(End::Enough);
        }
        if after {
            (self.on)(Progress::Waiting(Waiting::Generating { elapsed }));
            return ControlFlow::Continue(());
        }
        let (waiting, loaded) = watch.before_first_byte(elapsed);
        if let Some(loaded) = &loaded {
            (self.on)(Progress::Loaded(loaded));
        }
        (self.on)(Progress::Waiting(waiting));
        ControlFlow::Continue(())
    }

    fn head(&mut self, head: &Head) -> ControlFlow<()> {
        self.head = Some(head.clone());
        if (300..400).contains(&head.status) {
            return self.stop(End::Enough);
        }
        ControlFlow::Continue(())
    }

    /// Whether the head announces something else than records.
    fn is_refusal(&self) -> bool {
        let Some(head) = &self.head else {
            return false;
        };
        head.status != 200 || self.content_type().contains("html")
    }

    fn content_type(&self) -> &str {
        let head = self.head.as_ref();
        head.and_then(|head| head.header("content-type"))
            .unwrap_or_default()
    }

    fn body(&mut self, lines: &mut Ndjson, bytes: &[u8]) -> ControlFlow<()> {
        let is_refusal = self.is_refusal();
        let most = if is_refusal { BODY_LIMIT } else { START_BYTES };
        let room = bytes.len().min(most - self.start.len());
        self.start.extend_from_slice(&bytes[..room]);
        if self.start.len() == BODY_LIMIT {
            return self.stop(End::Enough);
        }
        if is_refusal {
            return ControlFlow::Continue(());
        }
        let result = lines.feed(bytes, &mut |line| self.record(line));
        self.show(false);
        match result {
            Ok(()) => ControlFlow::Continue(()),
            Err(error) => self.stop(End::Failed(error)),
        }
    }

    fn stop(&mut self, end: End) -> ControlFlow<()> {
        // A call handed back was set before the error that carried it.
        self.end.get_or_insert(end);
        ControlFlow::Break(())
    }

    fn record(&mut self, line: &[u8]) -> Result<(), Error> {
        self.server.tap.see(&Stage::Record(line));
        if self.assembler.is_complete() {
            return Ok(());
        }
        let mut record = Record::default();
        if let Err(cause) = record.read(line) {
            return Err(self.malformed(cause, line));
        }
        if record.thinking.is_some() && self.display.is_behind(self.assembler.content()) {
            // Interleaved: what came before is shown before.
            self.show(false);
        }
        match self.assembler.feed(&mut record) {
            Ok(()) => Ok(()),
            Err(Failed { text }) => {
                let error = classify::record(self.asked, &text);
                Err(self.keep_call(error))
            }
        }
    }

    /// Keeps a call that the server could not read but hands back, and that we can read.
    fn keep_call(&mut self, error: Error) -> Error {
        let Error::UnreadableCall { detail } = error else {
            return error;
        };
        if let Some(call) = recover::from_complaint(&detail, self.offered) {
            self.end = Some(End::HandedBack(call));
        }
        Error::UnreadableCall {
            detail: crate::text::clip(&detail, COMPLAINT_CHARS).into_owned(),
        }
    }

    fn malformed(&self, cause: crate::json::Error, line: &[u8]) -> Error {
        let is_json = self.content_type().contains("json");
        if !self.assembler.has_known_record() && !is_json {
            return self.not_ollama();
        }
        Error::Malformed {
            cause,
            start: classify::start_of(line),
        }
    }

    fn not_ollama(&self) -> Error {
        let status = self.head.as_ref().map_or(200, |head| head.status);
        let content_type = Some(self.content_type()).filter(|text| !text.is_empty());
        classify::not_ollama(self.asked.address, status, content_type, &self.start)
    }

    /// Hands on what is new of the texts, thinking first: within a record that is its place.
    fn show(&mut self, at_end: bool) {
        let on = &mut *self.on;
        let thinking = &self.assembler.thinking()[self.shown_thinking..];
        pieces(thinking, &mut |piece| on(Progress::Thinking(piece)));
        self.shown_thinking += thinking.len();
        self.display
            .advance(self.assembler.content(), at_end, &mut |place, text| {
                pieces(text, &mut |piece| match place {
                    Place::Thinking => on(Progress::Thinking(piece)),
                    Place::Content => on(Progress::Content(piece)),
                });
            });
    }

    /// What the exchange came to.
    fn finish(
        mut self,
        lines: &mut Ndjson,
        result: Result<(), http::Error>,
    ) -> Result<Reply, Error> {
        if let Err(http::Error::Cancelled) = result {
            return Err(Error::Cancelled);
        }
        if self.is_refusal() {
            let error = self.refusal();
            let error = self.keep_call(error);
            // A call that was handed back stays; "enough was read" does not.
            if !matches!(self.end, Some(End::HandedBack(_))) {
                self.end = Some(End::Failed(error));
            }
        } else if self.end.is_none() {
            // The last line may lack its end. Where the connection broke it may be half a line, which counts for nothing.
            let last = lines.finish(&mut |line| self.record(line));
            if let (Ok(()), Err(error)) = (&result, last) {
                self.end.get_or_insert(End::Failed(error));
            }
        }
        self.show(true);
        match self.end.take() {
            Some(End::HandedBack(call)) => return Ok(handed_back(self.assembler, call)),
            Some(End::Failed(error)) => return Err(error),
            Some(End::Enough) | None => {}
        }
        let is_foreign = !self.start.is_empty() && !self.assembler.has_known_record();
        if result.is_ok() && is_foreign {
            return Err(self.not_ollama());
        }
        let detail = match self.start.is_empty() {
            true => "the server sent an empty answer",
            false => "the server ended it before its last record",
        };
        let broke = match result {
            Ok(()) | Err(http::Error::Stopped) => None,
            Err(error) => Some(error),
        };
        match (self.assembler.finish(&mut fresh_id), broke) {
            (Ok(mut reply), broke) => {
                let note = broke.map(|error| format!("after the complete reply: {error}"));
                reply.notes.extend(note);
                Ok(reply)
            }
            (Err(_), Some(error)) if !is_cut(&error) => Err(Error::Http(error)),
            (Err(unfinished), broke) => Err(Error::Incomplete {
                detail: broke.map_or(detail.to_string(), |error| error.to_string()),
                partial: unfinished.content,
            }),
        }
    }

    /// Why an answer that is no stream of records is none.
    fn refusal(&self) -> Error {
        match &self.head {
            Some(head) => classify::refusal(self.asked, head, &self.start),
            None => self.not_ollama(),
        }
    }
}

/// A reply whose call came back in the server's complaint.
fn handed_back(assembler: Assembler, call: FoundCall) -> Reply {
    Reply {
        content: Arc::new(assembler.content().to_string()),
        thinking: Arc::new(assembler.thinking().to_string()),
        calls: vec![identified(call)],
        stop: StopReason::Stop,
        usage: Usage::default(),
        recovered: true,
        tried: None,
        notes: vec!["the call was read from the server's complaint about it".to_string()],
    }
}

/// Looks for calls in the content of a complete reply without any.
fn usable(mut reply: Reply, chat: &Chat<'_>) -> Reply {
    if reply.recovered
        || !reply.calls.is_empty()
        || reply.stop != StopReason::Stop
        || chat.offered.is_empty()
    {
        return reply;
    }
    match recover(&reply.content, chat.offered, chat.text_style) {
        Recovered::None => {}
        Recovered::Calls { calls, content } => {
            reply.calls = calls.into_iter().map(identified).collect();
            reply.content = Arc::new(content);
            // In the text protocol calls in the content are the rule, not a repair.
            reply.recovered = !chat.text_style;
        }
        Recovered::Tried { what } => reply.tried = Some(what),
    }
    reply
}

fn identified(call: FoundCall) -> ToolCall {
    ToolCall {
        id: CallId(fresh_id()),
        name: call.name,
        arguments: call.arguments,
    }
}

/// An id in the form of the server's own.
fn fresh_id() -> String {
    let unique = random::id(8).unwrap_or_else(|_| {
        // Without a random device the clock tells two calls apart.
        let since = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH);
        format!("{:x}", since.unwrap_or_default().as_nanos())
    });
    format!("call_{unique}")
}

/// Whether the answer was cut, as opposed to framed wrongly or never begun.
fn is_cut(error: &http::Error) -> bool {
    match error {
        http::Error::Lost { .. } => true,
        http::Error::Body { source, .. } => matches!(
            source,
            BodyError::CutLength { .. }
                | BodyError::CutChunk { .. }
                | BodyError::CutChunked { .. }
                | BodyError::TooLarge { .. }
        ),
        http::Error::Refused { .. }
        | http::Error::Resolve { .. }
        | http::Error::Unreachable { .. }
        | http::Error::ConnectTimeout { .. }
        | http::Error::Via { .. }
        | http::Error::ClosedEarly { .. }
        | http::Error::Silent { .. }
        | http::Error::Head { .. }
        | http::Error::Encoding { .. }
        | http::Error::Cancelled
        | http::Error::Stopped
        | http::Error::Io { .. } => false,
    }
}

/// Cuts a text into pieces of at most [`PIECE_BYTES`], between characters.
fn pieces(text: &str, piece: &mut dyn FnMut(&str)) {
    let mut rest = text;
    while !rest.is_empty() {
        let mut end = rest.len().min(PIECE_BYTES);
        while !rest.is_char_boundary(end) {
            end -= 1;
        }
        piece(&rest[..end]);
        rest = &rest[end..];
    }
}
