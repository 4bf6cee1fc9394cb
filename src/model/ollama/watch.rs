//! What a silent server is doing: the time of silence in, [`Waiting`] out. The chat asks once a second while nothing comes; every
//! few seconds of that a thread of its own asks `/api/ps` on a second connection, so that reading is never held up.
//!
//! ```text
//! 0:01  Unknown
//! 0:05  GET /api/ps → {"models":[]}                                     Loading { elapsed: 5 s }
//! 0:10  GET /api/ps → {"models":[{"name":"qwen3:8b", …}]}               Reading { new_tokens: 9400, left: 45 s }
//! 0:55  first byte; later silence, e.g. while a call is held back       Generating
//! ```
//!
//! Limits: one question at a time, every 5 s, with `--via` (which starts a program) every 30 s, each given up after a few seconds.
//! After the first byte nothing is asked: the model generates.
//!
//! Invariant: the chat never waits for an answer to this; one that comes too late is dropped.
//!
//! Read next: `chat.rs`.

use super::Ollama;
use crate::model::choose::same_model;
use crate::model::{Chat, Loaded};
use crate::protocol::Waiting;
use crate::sys::channel::{Receiver, channel};
use crate::sys::{Cancel, thread};
use std::sync::mpsc::TryRecvError;
use std::time::Duration;

/// One chat's watch.
pub(super) struct Watch<'a> {
    server: &'a Ollama,
    model: &'a str,
    chat: &'a Chat<'a>,
    next: Duration,
    question: Option<Question>,
    known: Known,
}

/// What the last answer said.
enum Known {
    Nothing,
    NotListed,
    /// Listed since this much silence.
    Listed {
        since: Duration,
    },
}

struct Question {
    answer: Receiver<Option<Vec<Loaded>>>,
    stop: Cancel,
}

/// A question nobody waits for any more is given up.
impl Drop for Question {
    fn drop(&mut self) {
        self.stop.cancel();
    }
}

impl<'a> Watch<'a> {
    pub(super) fn new(server: &'a Ollama, model: &'a str, chat: &'a Chat<'a>) -> Watch<'a> {
        Watch {
            server,
            model,
            chat,
            next: Watch::interval(server),
            question: None,
            known: Known::Nothing,
        }
    }

    fn interval(server: &Ollama) -> Duration {
        match server.target.via() {
            Some(_) => server.delays.status_via,
            None => server.delays.status,
        }
    }

    /// What is known after `elapsed` of silence before the first byte; the entry of the model when it was just seen loaded.
    pub(super) fn before_first_byte(&mut self, elapsed: Duration) -> (Waiting, Option<Loaded>) {
        let seen = self.collect(elapsed);
        if self.question.is_none() && elapsed >= self.next {
            self.next = elapsed + Watch::interval(self.server);
            self.question = ask(self.server);
        }
        let waiting = match self.known {
            Known::Nothing => Waiting::Unknown { elapsed },
            Known::NotListed => Waiting::Loading { elapsed },
            Known::Listed { since } => Waiting::Reading {
                elapsed,
                new_tokens: self.chat.new_tokens,
                left: left(self.chat, elapsed.saturating_sub(since)),
            },
        };
        (waiting, seen)
    }

    /// Takes the answer, if it came.
    fn collect(&mut self, elapsed: Duration) -> Option<Loaded> {
        let question = self.question.as_ref()?;
        let answer = match question.answer.try_recv() {
            Ok(answer) => answer,
            Err(TryRecvError::Empty) => return None,
            Err(TryRecvError::Disconnected) => None,
        };
        self.question = None;
        // A question without an answer changes nothing of what was known.
        let mut models = answer?.into_iter();
        let Some(entry) = models.find(|loaded| same_model(&loaded.name, self.model)) else {
            self.known = Known::NotListed;
            return None;
        };
        let since = match self.known {
            Known::Listed { .. } => return None,
            Known::NotListed => elapsed,
            // Loaded all along, as far as anybody can tell.
            Known::Nothing => Duration::ZERO,
        };
        self.known = Known::Listed { since };
        Some(entry)
    }
}

/// Starts a question; without threads or descriptors there is just no answer.
fn ask(server: &Ollama) -> Option<Question> {
    let stop = Cancel::new().ok()?;
    let (sender, answer) = channel();
    let (server, cancel) = (server.clone(), stop.clone());
    let asking = move || {
        // Nobody listens any more when the chat went on: then the answer is of no use.
        let _ = sender.send(server.loaded(&cancel).ok());
    };
    // Not joined: it ends by itself within its limit, and at once when it is stopped.
    thread::start("watch", Box::new(asking)).ok()?;
    Some(Question { answer, stop })
}

/// The time left by the speed of earlier prompts; none when it has passed already.
fn left(chat: &Chat<'_>, reading: Duration) -> Option<Duration> {
    let speed = chat.prompt_speed.filter(|&speed| speed >= 0.1)?;
    let seconds = chat.new_tokens as f64 / speed - reading.as_secs_f64();
    (1.0..1e9)
        .contains(&seconds)
        .then(|| Duration::from_secs_f64(seconds))
}
