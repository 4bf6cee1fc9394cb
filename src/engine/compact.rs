//! Shortening the conversation: before a request that would be too large, or when a person asks, the model writes a checkpoint, which then
//! stands for most of what was before. What is left out stays in the log, and what a person saw of it stays visible.
//!
//! ```text
//! due? (budget)  ─▶  what may go? (keep)  ─▶  ask: the request so far and an instruction    Compacting, RequestSent … Replied
//!                                             two corrections, then plain words             (checkpoint)
//!                ─▶  enough freed?        ─▶  Record::Checkpoint, a new request             Compacted, or CompactionFailed
//! ```
//!
//! The request for the checkpoint goes on from the bytes that the server has read already, without thinking and with a bound for the
//! answer. Where it would not fit, long results are cut in it (`trim`). An answer that was cut by its bound is not asked for again: plain
//! words are shorter. What fails, and what would free too little, changes nothing.
//!
//! Invariant: at most five requests a compaction, none of whose replies is acted on. Invariant: nothing changes before the checkpoint is
//! in the log.
//!
//! Read next: `budget` (when), `keep` (what stays), `checkpoint` (the words), `session::view` (what the model sees then).
pub(super) mod checkpoint;
mod keep;
pub(super) mod trim;
use super::budget;
use super::call;
use super::decide::TurnEnd;
use super::turn::{Engine, Flow, Turn};
use super::worker::Ask;
use crate::model::{self, Reply, RequestBody, Shape};
use crate::protocol::{Event, Level, Message, Status, StopReason};
use crate::session::Checkpoint;
use crate::sys::Cancel;
use crate::text::{counted, grouped};
use keep::Entry;
use std::sync::Arc;
use std::time::Instant;

/// Corrections of an answer that could not be used.
const MAX_CORRECTIONS: u32 = 2;
/// Room for instruction and corrections, in tokens.
const INSTRUCTION_TOKENS: u64 = 512;
/// A model that thinks although it was asked not to has so many times the bound the last time: its thinking counts.
const THINKING_SHARE: u64 = 4;
/// Of a checkpoint's text, as for any other before it is counted.
const BYTES_PER_TOKEN: u64 = 3;

/// What stays, and what the others come to.
struct Plan {
    kept: Vec<u64>,
    left_out: u64,
    freed_tokens: u64,
    /// The user's latest one.
    message: String,
    /// Made since then and left out.
    calls: Vec<String>,
}

impl Engine {
    /// Before a request: shortens the conversation if that is due.
    pub(super) fn make_room(&mut self, turn: &mut Turn) -> Flow<()> {
        if std::mem::take(&mut self.budget.asked) {
            self.compact(turn)?;
        }
        let conversation = self.open_one()?;
        conversation.write();
        let (tokens, window) = (conversation.tokens(), conversation.window);
        if self.budget.is_due(tokens, window) {
            self.compact_by_itself(turn)?;
        }
        Ok(())
    }

    /// The server refused the request as too long: `end` is how the turn ends if nothing can be left out.
    pub(super) fn shorten_refused(
        &mut self,
        turn: &mut Turn,
        error: &model::Error,
        end: TurnEnd,
    ) -> Flow<()> {
        let conversation = self.open_one()?;
        let bytes = conversation.bytes();
        if let model::Error::ContextOverflow {
            prompt_tokens,
            window,
            ..
        } = error
        {
            // Without a number it had at least more than the window.
            let tokens = prompt_tokens.unwrap_or(conversation.window + 1);
            conversation.meter.refused(bytes, tokens);
            if let Some(window) = *window {
                self.window_is(window);
            }
        }
        let window = self.open_one()?.window;
        match self.budget.begins_at(window) {
            Some(_) if self.compact_by_itself(turn)? => Ok(()),
            Some(_) | None => Err(end),
        }
    }

    /// The server gives so many tokens.
    pub(super) fn window_is(&mut self, window: u64) {
        let Some(conversation) = &mut self.conversation else {
            return;
        };
        let asked = conversation.window;
        if window >= asked || window == 0 {
            return;
        }
        conversation.window = window;
        let text = format!(
            "the server gives the model a window of {} tokens, not {}; from now on the smaller one counts",
            grouped(window),
            grouped(asked)
        );
        self.notice(Level::Warning, text);
    }

    /// Between turns, for a person.
    pub(super) fn compact_now(&mut self) {
        if self.conversation.is_none() {
            let text = "nothing is in the context yet, so there is nothing to compact".to_string();
            return self.notice(Level::Info, text);
        }
        let mut turn = match Cancel::new() {
            Ok(cancel) => Turn::unlimited(cancel, Instant::now()),
            Err(error) => {
                return self.notice(Level::Error, format!("no pipe for cancelling: {error}"));
            }
        };
        // Whatever else ends it was told by its events.
        if let Err(TurnEnd {
            status: Status::NotSaved { reason },
            ..
        }) = self.compact(&mut turn)
        {
            self.notice(Level::Error, reason);
        }
        turn.cancel.cancel();
    }

    /// True: it is shorter now. Not more often than the turn allows; what comes to nothing counts.
    fn compact_by_itself(&mut self, turn: &mut Turn) -> Flow<bool> {
        let conversation = self.open_one()?;
        let (tokens, window) = (conversation.tokens(), conversation.window);
        if let Some(most) = self.budget.spent() {
            return Err(TurnEnd::limit(format!(
                "the conversation was compacted {} in this turn (--max-compactions); a larger window (--context-window) needs fewer, and so \
                 does a smaller task",
                counted(most, "time")
            )));
        }
        let shortened = self.compact(turn)?;
        if !shortened && self.budget.in_vain(tokens, window) {
            let text = format!(
                "two compactions in a row came to nothing, so it is not tried again by itself; when the window of {} tokens is full, the \
                 turn ends. A larger window helps (--context-window), or a new session with a smaller task",
                grouped(window)
            );
            self.notice(Level::Warning, text);
        }
        Ok(shortened)
    }

    /// One compaction, told from beginning to end. True: the conversation is shorter now.
    fn compact(&mut self, turn: &mut Turn) -> Flow<bool> {
        // The request for a checkpoint is one too: what it holds is on the disk before it leaves.
        self.save()?;
        let conversation = self.open_one()?;
        conversation.write();
        let (tokens, window) = (conversation.tokens(), conversation.window);
        self.emit(Event::Compacting { tokens, window });
        let (event, result) = match self.shorten(turn, tokens, window) {
            Ok(Ok(event)) => (event, Ok(true)),
            Ok(Err(reason)) => (Event::CompactionFailed { reason }, Ok(false)),
            Err(end) => {
                let reason = match &end.status {
                    Status::Cancelled => "it was stopped".to_string(),
                    _ => "the turn is over".to_string(),
                };
                (Event::CompactionFailed { reason }, Err(end))
            }
        };
        self.emit(event);
        if let Ok(true) = result {
            self.save()?;
        }
        result
    }

    /// The inner error says why the conversation stays as it is.
    fn shorten(
        &mut self,
        turn: &mut Turn,
        tokens: u64,
        window: u64,
    ) -> Flow<Result<Event, String>> {
        let least = budget::least_yield(window);
        let too_little = |freed: u64| {
            format!(
                "it would free only about {} tokens, fewer than {}",
                grouped(freed),
                grouped(least)
            )
        };
        let plan = self.plan_compaction(window)?;
        if plan.freed_tokens < least {
            return Ok(Err(too_little(plan.freed_tokens)));
        }
        let summary = match self.ask_for_checkpoint(turn, window)? {
            Ok(summary) => summary,
            Err(reason) => return Ok(Err(reason)),
        };
        let calls = checkpoint::calls_line(&plan.message, &plan.calls, budget::checkpoint(window));
        let mut checkpoint = Checkpoint {
            note: checkpoint::for_model(&summary, &calls),
            kept: plan.kept,
            before: tokens,
            after: 0,
        };
        let backend = self.backend.clone();
        let conversation = self.open_one()?;
        let built = conversation.considered(&backend, &checkpoint);
        let after = conversation.meter.rough(built.body.len() as u64);
        let freed = tokens.saturating_sub(after);
        if freed < least {
            return Ok(Err(too_little(freed)));
        }
        checkpoint.after = after;
        conversation.shorten(checkpoint, built);
        self.budget.shortened(after, window);
        self.remind_of_skills();
        self.remind_of_goal();
        Ok(Ok(Event::Compacted {
            before: tokens,
            after,
            left_out: plan.left_out,
            count: self.budget.count,
        }))
    }

    fn plan_compaction(&mut self, window: u64) -> Flow<Plan> {
        let conversation = self.open_one()?;
        let (tokens, bytes) = (conversation.tokens(), conversation.bytes());
        let parts = conversation.parts();
        let entries: Vec<Entry<'_>> = parts
            .iter()
            .filter(|(_, message, _)| !matches!(message, Message::System { .. }))
            .map(|&(seq, message, size)| Entry {
                seq,
                message,
                tokens: tokens * size / bytes,
            })
            .collect();
        let kept = keep::keep(&entries, window);
        let gone = |entry: &&Entry<'_>| !kept.contains(&entry.seq);
        let left_out = entries.iter().filter(gone).count() as u64;
        let freed_tokens = entries.iter().filter(gone).map(|entry| entry.tokens).sum();
        let (mut message, mut calls) = ("", Vec::new());
        for (seq, record) in (0..).zip(conversation.log.records()) {
            match record.message() {
                Some(Message::User { text }) => {
                    message = text;
                    calls.clear();
                }
                Some(Message::Assistant { calls: made, .. }) if !kept.contains(&seq) => {
                    calls.extend(made.iter().map(call::subject));
                }
                Some(
                    Message::System { .. }
                    | Message::Note { .. }
                    | Message::Assistant { .. }
                    | Message::Tool { .. },
                )
                | None => {}
            }
        }
        Ok(Plan {
            kept,
            left_out,
            freed_tokens,
            message: message.to_string(),
            calls,
        })
    }

    /// The text of a checkpoint, or why there is none.
    fn ask_for_checkpoint(&mut self, turn: &mut Turn, window: u64) -> Flow<Result<String, String>> {
        let most = budget::checkpoint(window);
        let limit_bytes = most * BYTES_PER_TOKEN;
        let mut room = window.saturating_sub(most + INSTRUCTION_TOKENS);
        let backend = self.backend.clone();
        let conversation = self.open_one()?;
        let mut shape = Arc::new(conversation.summary_shape(most));
        let no_room = || "not even the request for a checkpoint fits into the window".to_string();
        let Some(mut base) = conversation.summary(&backend, &shape, room) else {
            return Ok(Err(no_room()));
        };
        let mut body = with(&base, &[checkpoint::instruction()]);
        let mut corrections = 0;
        let mut cut_smaller = false;
        let mut thought = false;
        while corrections <= MAX_CORRECTIONS {
            let reply = match self.summarize(turn, &shape, &body)? {
                Ok(reply) => reply,
                // Our estimate was wrong: once more with much less.
                Err(model::Error::ContextOverflow { .. }) if !cut_smaller => {
                    cut_smaller = true;
                    room /= 2;
                    match self.open_one()?.summary(&backend, &shape, room) {
                        Some(smaller) => base = smaller,
                        None => return Ok(Err(no_room())),
                    }
                    body = with(&base, &[checkpoint::instruction()]);
                    continue;
                }
                Err(error) => return Ok(Err(no_answer(&error))),
            };
            thought |= !reply.thinking.is_empty();
            let what = match checkpoint::read(&reply.content, limit_bytes) {
                Ok(text) => return Ok(Ok(text)),
                Err(_) if reply.stop == StopReason::Length => break,
                Err(_) if !reply.calls.is_empty() => "it calls a tool".to_string(),
                Err(what) => what,
            };
            corrections += 1;
            let body = Arc::make_mut(&mut body);
            if !reply.content.trim().is_empty() {
                body.push(&Message::Assistant {
                    content: reply.content,
                    thinking: Arc::default(),
                    calls: Vec::new(),
                });
            }
            body.push(&checkpoint::correction(&what));
        }
        if thought {
            shape = Arc::new(self.open_one()?.summary_shape(most * THINKING_SHARE));
            base = base.reshaped(&shape);
        }
        let body = with(&base, &[checkpoint::plain_instruction()]);
        Ok(match self.summarize(turn, &shape, &body)? {
            Ok(reply) => checkpoint::read_plain(&reply.content, limit_bytes)
                .ok_or_else(|| "the model wrote no checkpoint, also in plain words".to_string()),
            Err(error) => Err(no_answer(&error)),
        })
    }

    /// One request for a checkpoint and what came of it.
    fn summarize(
        &mut self,
        turn: &mut Turn,
        shape: &Arc<Shape>,
        body: &Arc<RequestBody>,
    ) -> Flow<Result<Reply, model::Error>> {
        turn.in_time()?;
        let meter = &self.open_one()?.meter;
        let bytes = body.len() as u64;
        let ask = Ask {
            shape: Arc::clone(shape),
            body: Arc::clone(body),
            // No call is wanted, so none is looked for in the text.
            offered: Vec::new(),
            tokens: meter.estimate(bytes),
            new_tokens: meter.new_tokens(bytes),
        };
        self.ask_beside(turn, ask)
    }
}

/// A request for a checkpoint that goes on from `base`.
fn with(base: &RequestBody, messages: &[Message]) -> Arc<RequestBody> {
    let mut body = base.clone();
    messages.iter().for_each(|message| body.push(message));
    Arc::new(body)
}

fn no_answer(error: &model::Error) -> String {
    format!("the model gave no checkpoint: {error}")
}
