//! What the next request costs and why: its parts in bytes, exactly, and in tokens, as their share of the whole. Asked for by a person
//! (`Op::Context`, `--what-would-be-sent`); nothing on the way of a request needs it.
//!
//! ```text
//! tools                            3,061 bytes    732 tokens
//! system                           1,630 bytes    390
//! user                               120 bytes     29
//! results  read_file src/main.rs  12,004 bytes  2,871
//! results  run_command make        2,200 bytes    526
//! ```
//!
//! The tokens of the whole are the server's count of the last request and an estimate of what is new (`meter`). Reads of one file add up,
//! whichever lines they were of; beyond the largest ones results are told together.
//!
//! Invariant: the bytes of all rows are the bytes of the body, and their tokens the estimate for it.
use super::budget::Budget;
use super::call;
use super::conversation::Conversation;
use super::turn::Engine;
use crate::protocol::{ContextReport, ContextRow, Event, Level, Message, Note, Part, ToolCall};
use crate::sort;
use crate::tools;

/// Rows of results; the others are one row together.
const MAX_RESULTS: usize = 12;

impl Engine {
    /// Answers `Op::Context`.
    pub(super) fn tell_context(&mut self) {
        let Some(conversation) = &mut self.conversation else {
            let text = "nothing is in the context yet: it begins with the first prompt".to_string();
            return self.notice(Level::Info, text);
        };
        conversation.write();
        let report = report(conversation, &self.budget);
        self.emit(Event::Context(report));
    }
}

/// Of the request as last written.
pub(super) fn report(conversation: &Conversation, budget: &Budget) -> ContextReport {
    let bytes = conversation.bytes();
    let tokens = conversation.tokens();
    let mut rows = rows(conversation);
    let told: u64 = rows.iter().map(|row| row.bytes).sum();
    rows[0].bytes += bytes - told.min(bytes);
    // Options are no part of what the model reads.
    let read = (bytes - rows[0].bytes).max(1);
    let mut left = tokens;
    for row in &mut rows[1..] {
        row.tokens = tokens * row.bytes / read;
        left -= row.tokens;
    }
    if let Some(largest) = rows[1..].iter_mut().max_by_key(|row| row.tokens) {
        largest.tokens += left;
    }
    ContextReport {
        window: conversation.window,
        bytes,
        tokens,
        counted: conversation.meter.counted(),
        compacts_at: budget.begins_at(conversation.window),
        compactions: budget.count,
        rows,
    }
}

/// Options first, then what there is of the other parts.
fn rows(conversation: &Conversation) -> Vec<ContextRow> {
    let mut rows = Rows::default();
    rows.add(Part::Options, "", 0);
    let native = conversation.shape.native_tools.as_ref();
    rows.add(Part::Tools, "", native.map_or(0, String::len));
    let mut calls: &[ToolCall] = &[];
    for (_, message, bytes) in conversation.parts() {
        let mut left = usize::try_from(bytes).unwrap_or(usize::MAX);
        let mut take = |most: usize| {
            let taken = most.min(left);
            left -= taken;
            taken
        };
        match message {
            Message::System { .. } => {
                if conversation.text_style {
                    let tools = take(
                        tools::describe(conversation.set).len()
                            + conversation.addition.offer.described().len(),
                    );
                    rows.add(Part::Tools, "", tools);
                }
                let addition = &conversation.addition;
                let (guidance, skills) = (take(addition.agents.len()), take(addition.skills.len()));
                rows.add(Part::System, "", left);
                rows.add(Part::Guidance, "", guidance);
                rows.add(Part::Skills, "", skills);
            }
            Message::User { .. } => rows.add(Part::User, "", left),
            Message::Note { note, .. } => {
                let part = match note {
                    Note::Environment => Part::Environment,
                    Note::Checkpoint => Part::Checkpoint,
                    Note::Guidance => Part::Guidance,
                    Note::Recovery
                    | Note::Loop
                    | Note::Cancelled
                    | Note::Stepped
                    | Note::Shell
                    | Note::Goal => Part::Notes,
                };
                rows.add(part, "", left);
            }
            Message::Assistant {
                content,
                thinking,
                calls: made,
            } => {
                calls = made;
                rows.add(Part::Thinking, "", take(thinking.len()));
                if calls.is_empty() {
                    rows.add(Part::Answers, "", left);
                } else {
                    rows.add(Part::Answers, "", take(content.len()));
                    rows.add(Part::Calls, "", left);
                }
            }
            Message::Tool { name, .. } => {
                let what = match calls.split_first() {
                    Some((call, rest)) => {
                        calls = rest;
                        call::subject(call)
                    }
                    None => name.clone(),
                };
                rows.add(Part::Results, &what, left);
            }
        }
    }
    rows.finish()
}

#[derive(Default)]
struct Rows(Vec<ContextRow>);

impl Rows {
    fn add(&mut self, part: Part, what: &str, bytes: usize) {
        let bytes = bytes as u64;
        let same = |row: &&mut ContextRow| row.part == part && row.what == what;
        match self.0.iter_mut().find(same) {
            Some(row) => row.bytes += bytes,
            None if bytes == 0 && part != Part::Options => {}
            None => self.0.push(ContextRow {
                part,
                what: what.to_string(),
                bytes,
                tokens: 0,
            }),
        }
    }

    /// Results last, the largest first and the smallest together.
    fn finish(self) -> Vec<ContextRow> {
        let (mut results, mut rows): (Vec<_>, Vec<_>) = self
            .0
            .into_iter()
            .partition(|row| row.part == Part::Results);
        sort::by_key(&mut results, |row| std::cmp::Reverse(row.bytes));
        if results.len() > MAX_RESULTS {
            let others = results.split_off(MAX_RESULTS - 1);
            results.push(ContextRow {
                part: Part::Results,
                what: format!("{} others", others.len()),
                bytes: others.iter().map(|row| row.bytes).sum(),
                tokens: 0,
            });
        }
        rows.extend(results);
        rows
    }
}
