//! One-shot: a prompt in, one turn, its answer out; or a question about the goal, and its answer. `commands/run.rs` brings a finished `engine::Setup`; what leaves is text, one JSON
//! object or JSON lines on standard output, progress on standard error, questions on the terminal device, and an exit code.
//!
//! ```text
//! Op::Prompt ──▶ engine ──Event──▶ inbox ─┬─▶ progress.rs  standard error, one harmless line an event
//!   ▲   ▲                    ▲  ▲         ├─▶ json.rs      standard output with --output json, jsonl
//!   │   └──Op::Cancel, Quit  │  │         └─▶ ask.rs       the terminal, in a thread of its own
//!   └─────────── Op::Decide ─┴──┼────────────── answer ◀────┘
//!                               └── Ctrl-C, SIGTERM, SIGHUP, SIGQUIT
//! ```
//!
//! With `--output text` standard output gets the final answer and nothing else, byte for byte as the model wrote it, but for blanks at
//! its ends, and a line feed; on a terminal it is made harmless first. Nothing of an unfinished reply is printed there: what had come of it
//! when it broke off is told on standard error, and is the member `partial` with `--output json`.
//!
//! The first Ctrl-C cancels the turn (its receipt follows, exit code 130), a second one ends the program at once. SIGTERM, SIGHUP and
//! SIGQUIT end the children and the program, exit code 128 + number; the receipt says by which of them, and at what. A reader of standard output that leaves ends it with 141.
//!
//! Invariant: one inbox, read by one thread; the other threads (engine, signals, the one question) only send to it.
//! Invariant: whatever ends the turn, its children are ended before the program is.
//!
//! Read next: `json.rs` for the shapes, `ask.rs` for the questions, `engine` for the other end.

pub mod ask;
mod json;
pub mod out;
mod progress;
pub mod show;

use crate::engine::{self, Setup, Submit};
use crate::protocol::{
    AskId, Decision, Event, Halt, Level, Op, Question, Receipt, Status, ToolStatus,
};
use crate::sys::channel::{Receiver, Sender, channel};
use crate::sys::signal::{self, Signal};
use crate::sys::tty::Tty;
use crate::sys::{Cancel, process, thread};
use crate::text;
use out::{Out, complain, exit, note};
use progress::{Progress, Shown};
use std::io::{self, IsTerminal, Write};
use std::sync::Arc;
use std::sync::mpsc::RecvTimeoutError;
use std::thread::sleep;
use std::time::Duration;

pub use json::event as event_line;

/// What a signal leaves the engine to end its turn and its children by itself, and to write the receipt. A command that does not
/// listen is killed after 2 s of it (`sys/process.rs`).
const GRACE: Duration = Duration::from_secs(3);

/// `--output`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Output {
    /// The answer.
    Text,
    /// One object at the end.
    Json,
    /// One object an event.
    JsonLines,
}

/// What it needs.
#[derive(Debug)]
pub struct Options {
    /// The task: a prompt, or something about the goal.
    pub op: Op,
    /// What is written to standard output.
    pub output: Output,
    /// No progress on standard error, only what needs attention.
    pub quiet: bool,
    /// `--yes` was given: what is asked nevertheless needs a person.
    pub yes: bool,
    /// Where questions are asked; must be there when `Setup::interactive` is set and nothing refuses beforehand.
    pub tty: Option<Tty>,
}

/// What arrives in the inbox.
enum News {
    Engine(Event),
    /// The engine's thread has let go of us, with or without `Event::Closed` before.
    EngineGone,
    Signal(Signal),
    Answer(AskId, Decision),
}

/// The engine's end of the inbox. Its drop tells when the engine's thread ended in a panic: the inbox has other senders, so it
/// would not be closed by that.
struct EngineEnd(Sender<News>);

impl EngineEnd {
    /// An error only means that this front end has left.
    fn say(&self, news: News) {
        let _ = self.0.send(news);
    }
}

impl Drop for EngineEnd {
    fn drop(&mut self) {
        self.say(News::EngineGone);
    }
}

/// Runs one turn; returns the exit code.
pub fn run(setup: Setup, options: Options) -> u8 {
    let (sender, inbox) = channel();
    let started = start(setup, &sender);
    let (submit, leaving) = match started {
        Ok(started) => started,
        Err(error) => {
            complain(&format!("cannot start the engine: {error}"));
            return exit::FAILED;
        }
    };
    submit(options.op);
    let shown = match options.output {
        // The events say it all.
        Output::JsonLines => Shown::Warnings,
        Output::Text | Output::Json if options.quiet => Shown::Warnings,
        Output::Text | Output::Json => Shown::All,
    };
    let run = Run {
        submit,
        sender,
        leaving,
        out: out::stdout(),
        progress: Progress::new(shown),
        tty: options.tty.map(Arc::new),
        output: options.output,
        yes: options.yes,
        partial: Partial::default(),
        model: None,
        saved: None,
        notices: Vec::new(),
        in_turn: false,
        complained: false,
        goal: None,
        receipt: None,
        ended_by: None,
        unwritable: None,
    };
    run.until_closed(&inbox)
}

/// The engine and the watch for signals; the switch is turned by the first of them.
fn start(setup: Setup, sender: &Sender<News>) -> io::Result<(Submit, Cancel)> {
    let leaving = Cancel::new()?;
    let end = EngineEnd(sender.clone());
    let submit = engine::spawn(setup, Box::new(move |event| end.say(News::Engine(event))))?;
    watch_signals(sender, &submit, &leaving)?;
    Ok((submit, leaving))
}

/// Ctrl-C cancels, anything further ends the program. Runs on the signal thread, so that it works while the main one is
/// held up by a full pipe.
fn watch_signals(sender: &Sender<News>, submit: &Submit, leaving: &Cancel) -> io::Result<()> {
    let (sender, submit, leaving) = (sender.clone(), Arc::clone(submit), leaving.clone());
    signal::watch(Box::new(move |signal| {
        let first = !leaving.is_cancelled();
        leaving.cancel();
        if first {
            // The main thread has left when this fails, and the program with it.
            let _ = sender.send(News::Signal(signal));
        }
        if first && signal == Signal::Interrupt {
            submit(Op::Cancel);
            return;
        }
        submit(Op::End(match signal {
            Signal::Hangup => Halt::HangUp,
            Signal::Interrupt => Halt::Cancel,
            Signal::Terminate => Halt::Terminate,
            Signal::Quit => Halt::Quit,
        }));
        if first {
            // The main thread ends the program as soon as the engine has closed; this is for when it cannot.
            sleep(GRACE);
        }
        process::end_all();
        std::process::exit(128 + signal.number());
    }))
}

struct Run {
    submit: Submit,
    sender: Sender<News>,
    leaving: Cancel,
    out: Out,
    progress: Progress,
    tty: Option<Arc<Tty>>,
    output: Output,
    yes: bool,
    /// Of the reply under way, or of the last one if it broke off.
    partial: Partial,
    model: Option<Event>,
    /// How far the session is safe.
    saved: Option<Event>,
    notices: Vec<Event>,
    in_turn: bool,
    /// A notice said that something failed.
    complained: bool,
    /// The answer to a question about the goal: no turn is needed for it.
    goal: Option<Event>,
    receipt: Option<Receipt>,
    ended_by: Option<Signal>,
    unwritable: Option<io::Error>,
}

impl Run {
    /// The loop: until the engine has ended.
    fn until_closed(mut self, inbox: &Receiver<News>) -> u8 {
        if self.output == Output::JsonLines {
            self.write(&json::start());
        }
        loop {
            let news = match inbox.try_recv() {
                Ok(news) => news,
                // Nothing more for now: what is buffered must not wait for it.
                Err(_) => {
                    self.flush();
                    match self.wait(inbox) {
                        Some(news) => news,
                        // Cannot be: we hold a sender ourselves.
                        None => break,
                    }
                }
            };
            match news {
                News::Engine(event) => self.take(event),
                // Not at `Closed` already: only now are its children ended and its temporary files removed.
                News::EngineGone => break,
                News::Signal(signal) => self.ended_by = Some(signal),
                News::Answer(ask, decision) => (self.submit)(Op::Decide { ask, decision }),
            }
        }
        self.finish()
    }

    /// The next news; a counter on the screen goes on meanwhile.
    fn wait(&mut self, inbox: &Receiver<News>) -> Option<News> {
        loop {
            let Some(limit) = self.progress.next_tick() else {
                return inbox.recv().ok();
            };
            match inbox.recv_timeout(limit) {
                Ok(news) => return Some(news),
                Err(RecvTimeoutError::Timeout) => self.progress.tick(),
                Err(RecvTimeoutError::Disconnected) => return None,
            }
        }
    }

    fn take(&mut self, event: Event) {
        if self.output == Output::JsonLines {
            self.write(&json::event(&event));
        }
        if matches!(event, Event::Goal(_)) && !self.in_turn && self.goal.is_none() {
            self.goal = Some(event);
            return (self.submit)(Op::Quit);
        }
        self.progress.event(&event);
        match event {
            Event::TurnStarted { .. } => self.in_turn = true,
            Event::Asked { ask, question, .. } => self.ask(ask, question),
            Event::TurnEnded { receipt, .. } => {
                self.receipt = Some(receipt);
                (self.submit)(Op::Quit);
            }
            Event::Content { text, .. } => self.partial.push(&text),
            Event::RequestSent { .. }
            | Event::Replied { .. }
            | Event::Compacted { .. }
            | Event::CompactionFailed { .. } => self.partial = Partial::default(),
            Event::Model { .. } => self.model = Some(event),
            Event::Saved { .. } => self.saved = Some(event),
            Event::Notice { level, .. } => {
                self.complained |= level == Level::Error;
                if self.output == Output::Json {
                    self.notices.push(event);
                }
            }
            Event::Waiting { .. }
            | Event::Thinking { .. }
            | Event::Discarded { .. }
            | Event::CallStarted { .. }
            | Event::Decided { .. }
            | Event::Output { .. }
            | Event::CallEnded { .. }
            | Event::Touched { .. }
            | Event::Stepped(_)
            | Event::Reviewed { .. }
            | Event::Context(_)
            | Event::Compacting { .. }
            | Event::Input { .. }
            | Event::Queued { .. }
            | Event::Goal(_)
            | Event::Verifying { .. }
            | Event::Verified(_)
            | Event::Closed => {}
        }
    }

    /// In a thread of its own, so that a cancel or a deadline ends the turn also while nobody answers.
    fn ask(&mut self, ask: AskId, question: Question) {
        let nobody = Op::Decide {
            ask,
            decision: Decision::Nobody,
        };
        let Some(tty) = self.tty.clone() else {
            return (self.submit)(nobody);
        };
        let (sender, leaving) = (self.sender.clone(), self.leaving.clone());
        let asking = move || {
            if let Some(decision) = ask::ask(&tty, &question, &leaving) {
                // The run has ended when this fails: nobody needs the answer.
                let _ = sender.send(News::Answer(ask, decision));
            }
        };
        // Without a thread left nobody is asked.
        if thread::start("question", Box::new(asking)).is_err() {
            (self.submit)(nobody);
        }
    }

    fn write(&mut self, bytes: &[u8]) {
        if self.unwritable.is_none() {
            if let Err(error) = self.out.write_all(bytes) {
                self.unwritable(error);
            }
        }
    }

    fn flush(&mut self) {
        if self.unwritable.is_none() {
            if let Err(error) = out::flush(&mut self.out) {
                self.unwritable(error);
            }
        }
    }

    /// Nobody reads what the turn is for: end it.
    fn unwritable(&mut self, error: io::Error) {
        self.unwritable = Some(error);
        (self.submit)(Op::Quit);
    }

    /// The answer and the exit code.
    fn finish(mut self) -> u8 {
        self.progress.clear();
        let code = match &self.receipt {
            Some(receipt) => {
                // A reader that left did the interrupting, and knows.
                if self.unwritable.is_none() {
                    if self.output == Output::Text {
                        self.partial.tell();
                    }
                    explain(&receipt.status, self.yes);
                }
                exit_code(&receipt.status)
            }
            None if self.goal.is_some() && self.complained => exit::FAILED,
            None if self.goal.is_some() => exit::DONE,
            None => {
                if self.ended_by.is_none() && self.unwritable.is_none() {
                    complain("the engine ended without a receipt; this is a defect of zcoder");
                }
                exit::FAILED
            }
        };
        if let Some(receipt) = self.receipt.take() {
            match self.output {
                Output::Text => self.answer(receipt.answer.trim()),
                Output::Json => {
                    let line = json::summary(
                        &receipt,
                        &self.partial.text,
                        self.model.as_ref(),
                        self.saved.as_ref(),
                        &self.notices,
                    );
                    self.write(&line);
                }
                Output::JsonLines => {}
            }
        }
        if let Some(event) = self.goal.take() {
            match (self.output, &event) {
                (Output::Text, Event::Goal(goal)) => self.answer(&show::goal(goal.as_ref())),
                (Output::Json, _) => self.write(&json::event(&event)),
                (Output::Text | Output::JsonLines, _) => {}
            }
        }
        self.flush();
        // After a failed write there is nothing to be gained from the second try on drop.
        let (_, _) = self.out.into_parts();
        match (self.unwritable, self.ended_by) {
            (Some(error), _) => out::exit_code(Err(error)),
            (None, Some(signal)) => signal_code(signal),
            (None, None) => code,
        }
    }

    fn answer(&mut self, answer: &str) {
        if answer.is_empty() {
            return;
        }
        if io::stdout().is_terminal() {
            self.write(text::plain(answer).as_bytes());
        } else {
            self.write(answer.as_bytes());
        }
        self.write(b"\n");
    }
}

/// What came of a reply that may never be complete. A reply may be 64 MiB; this much of it says what was under way.
#[derive(Default)]
struct Partial {
    text: String,
    bytes: usize,
}

impl Partial {
    const MAX_BYTES: usize = 64 << 10;

    fn push(&mut self, piece: &str) {
        let whole = self.bytes == self.text.len();
        self.bytes += piece.len();
        if whole && self.bytes <= Self::MAX_BYTES {
            self.text.push_str(piece);
        }
    }

    /// On standard error: the answer is what stands on the other one, and this is none.
    fn tell(&self) {
        if self.text.is_empty() {
            return;
        }
        let (bytes, shown) = (text::grouped(self.bytes as u64), &self.text);
        let beginning = match self.bytes > shown.len() {
            true => ", which began",
            false => "",
        };
        note(&format!(
            "partial   {bytes} bytes of a reply that broke off{beginning}; nothing of it was acted on:\n{shown}"
        ));
    }
}

/// Why it did not end well and what to do next; the progress lines may have been switched off.
fn explain(status: &Status, yes: bool) {
    match status {
        Status::Done | Status::Blocked | Status::Failed => {}
        Status::Cancelled => complain("interrupted"),
        Status::ServerFailed { reason }
        | Status::Unusable { reason }
        | Status::NotSaved { reason } => complain(reason),
        Status::NeedsApproval { what } => complain(&needs_approval(what, yes)),
        Status::Limit { which } => complain(&format!("stopped at a limit: {which}")),
    }
}

/// Why nothing came of what needs an approval, and what to do next. `yes`: `--yes` was given and is not enough.
pub fn needs_approval(what: &str, yes: bool) -> String {
    match yes {
        true => format!(
            "{what}: is asked for even under --yes, and there is no terminal to ask on\n\
             run zcoder on a terminal, or do this step yourself"
        ),
        false => format!(
            "{what}: needs an approval, and there is no terminal to ask on\n\
             allow it with --yes, or go on without it with --deny-commands"
        ),
    }
}

/// The exit code for the way a turn ended.
pub fn exit_code(status: &Status) -> u8 {
    match status {
        Status::Done => exit::DONE,
        Status::Blocked | Status::Failed | Status::NotSaved { .. } => exit::FAILED,
        Status::Unusable { .. } => exit::USAGE,
        Status::ServerFailed { .. } => exit::SERVER,
        Status::NeedsApproval { .. } => exit::NOBODY,
        Status::Limit { .. } => exit::LIMIT,
        Status::Cancelled => exit::INTERRUPTED,
    }
}

/// 128 + its number, as shells have it.
pub fn signal_code(signal: Signal) -> u8 {
    // The numbers are 1, 2, 3 and 15.
    u8::try_from(128 + signal.number()).unwrap_or(exit::INTERRUPTED)
}

/// A call's end in one word, as `jsonl` and `zcoder tool` say it.
pub fn status_word(status: ToolStatus) -> &'static str {
    match status {
        ToolStatus::Ok => "ok",
        ToolStatus::Failed => "failed",
        ToolStatus::Denied => "denied",
        ToolStatus::Cancelled => "cancelled",
    }
}

/// Shows the events of a preview; what happens before a prompt is sent is told by the same lines.
pub fn show_notice(event: &Event, quiet: bool) {
    let shown = if quiet { Shown::Warnings } else { Shown::All };
    Progress::new(shown).event(event);
}
