//! A goal: the model works until a verifier agrees that an objective is met. Set and resumed by a person, it runs as one turn in which only
//! `finish_task` ends the work, and `done` is a claim.
//!
//! ```text
//! /goal make the tests pass    note: how a goal is met · user: make the tests pass · Record::Goal { running }
//!   … finish_task done         result: the verifier looks     verify: another conversation, which may only read
//!       rejected               Record::Goal { rejections: 1 } · note: what is missing, what to do next    … the turn goes on
//!       accepted               Record::Goal { met }           the turn is over
//! /goal resume                 note: the goal, and what was missing last · Record::Goal { running, no limit }
//! ```
//!
//! What stops it: three rejections, a model that says blocked or failed, a loop, five refused edits in a row, a server or a verifier that
//! fails, a limit, a cancel. It is paused then, and the reason is on record. A goal that is on record as running when the session is opened was
//! interrupted: it is paused. `--tokens N` counts what the server counts, in and out, of every request of the turn; after such a stop
//! a resume goes on without the limit.
//!
//! Refused: an objective over [`MAX_OBJECTIVE`] bytes (it is part of every request: longer ones belong into a file).
//!
//! Invariant: the goal is in every request, without changing bytes that were sent: as a note before the turn, and again behind a checkpoint.
//! Invariant: the record says `running` only while a turn works for the goal.
//!
//! Read next: `verify`.
use super::decide::TurnEnd;
use super::prompt;
use super::turn::{Engine, Flow, Turn};
use crate::protocol::{
    Event, Facts, Goal, GoalOp, GoalState, Halt, Level, Message, Note, Opinion, Receipt, Status,
    ToolOutcome, ToolStatus, TurnId, Usage,
};
use crate::session::Record;
use crate::text::{self, grouped};
use std::sync::Arc;

/// Of an objective.
const MAX_OBJECTIVE: usize = 4 << 10;
/// Rejections until it stops.
const MAX_REJECTIONS: u64 = 3;
/// Refused edits in a row until it stops.
const MAX_REFUSED_EDITS: u32 = 5;
/// Commands whose results the verifier is given.
const COMMANDS: usize = 4;
/// Of each such result.
const COMMAND_BYTES: usize = 1_000;
/// Characters of the model's words in a reason.
const REASON_CHARS: usize = 200;

/// How it works; the stand-in looks for the beginning.
const RULES: &str = "Only finish_task ends this task; an answer in plain words does not. Call it with status done when everything \
the goal asks for is done and checked: a verifier, which sees the files and what was run but not this conversation, then looks for itself, and you \
go on if it misses anything. Say in the response how each part can be checked. If something that only the user can change is in the way, call it \
with status blocked and say what.";

/// How a turn for a goal begins.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Start {
    Set {
        objective: String,
        tokens: Option<u64>,
    },
    Resume,
}

/// What a turn for a goal remembers.
#[derive(Debug, Default)]
pub(super) struct Run {
    refused_edits: u32,
    /// The last commands and what came of them.
    pub(super) commands: Vec<String>,
}

/// `/goal …` as typed; `None`: something else. The error is for the person.
pub fn goal_op(typed: &str) -> Option<Result<GoalOp, String>> {
    let rest = typed.trim().strip_prefix("/goal")?;
    if rest.starts_with(|c: char| !c.is_whitespace()) {
        return None;
    }
    let rest = rest.trim();
    Some(match rest {
        "" | "status" => Ok(GoalOp::Status),
        "pause" => Ok(GoalOp::Pause),
        "resume" => Ok(GoalOp::Resume),
        "clear" => Ok(GoalOp::Clear),
        _ => set(rest),
    })
}

fn set(rest: &str) -> Result<GoalOp, String> {
    let usage = "(/goal --tokens N OBJECTIVE)";
    let (tokens, objective) = match rest.strip_prefix("--") {
        None => (None, rest),
        Some(flag) => {
            let mut words = flag.splitn(3, char::is_whitespace);
            let (flag, number) = (words.next(), words.next().unwrap_or_default());
            if flag != Some("tokens") {
                let flag = text::visible(flag.unwrap_or_default()).into_owned();
                return Err(format!("/goal does not know `--{flag}` {usage}"));
            }
            let tokens = number.parse().ok().filter(|tokens| *tokens > 0);
            let Some(tokens) = tokens else {
                let number = text::visible(number).into_owned();
                return Err(format!("`{number}` is not a number of tokens {usage}"));
            };
            (Some(tokens), words.next().unwrap_or_default().trim())
        }
    };
    if objective.is_empty() {
        return Err(format!("/goal needs an objective {usage}"));
    }
    if objective.len() > MAX_OBJECTIVE {
        return Err(format!(
            "the objective has {} bytes and may have {}: it is part of every request; put the details into a file and name it",
            grouped(objective.len() as u64),
            grouped(MAX_OBJECTIVE as u64)
        ));
    }
    let objective = objective.to_string();
    Ok(GoalOp::Set { objective, tokens })
}

/// The goal of a session that is opened: one that ran was interrupted.
pub(super) fn loaded(records: &[Record]) -> Option<Goal> {
    let mut goals = records.iter().rev().filter_map(|record| match record {
        Record::Goal(goal) => Some(goal.clone()),
        _ => None,
    });
    let mut goal = goals.next()?;
    match goal.state {
        GoalState::Running => {
            goal.state = GoalState::Paused;
            goal.reason = "zcoder was ended while it ran".to_string();
        }
        GoalState::Paused | GoalState::Met => {}
        GoalState::Cleared => return None,
    }
    Some(goal)
}

/// Stands before the objective when it is set.
pub(super) fn setting() -> Message {
    note(&format!("The user's next message is a goal. {RULES}"))
}

/// The goal in a note, where it is not the user's last message.
fn telling(goal: &Goal, why: &str) -> Message {
    let (objective, missing) = (&goal.objective, missing(goal));
    note(&format!("{why}\nGoal: {objective}\n{missing}{RULES}"))
}

fn note(text: &str) -> Message {
    prompt::note(Note::Goal, text)
}

/// What the verifier said last, as a line or nothing.
fn missing(goal: &Goal) -> String {
    match goal.feedback.as_str() {
        "" => String::new(),
        feedback => format!("The verifier said last:\n{feedback}\n"),
    }
}

/// What was missed, for the worker and for the record.
fn feedback(opinion: &Opinion) -> String {
    let mut text = format!("Reason: {}", opinion.reason);
    for missing in &opinion.missing {
        text.push_str(&format!("\nMissing evidence: {missing}"));
    }
    if !opinion.next.is_empty() {
        text.push_str(&format!("\nNext action: {}", opinion.next));
    }
    text
}

impl Engine {
    /// Between turns. True: a turn has to begin.
    pub(super) fn goal_between(&mut self, op: GoalOp) -> Option<Start> {
        match op {
            GoalOp::Set { objective, tokens } => return Some(Start::Set { objective, tokens }),
            GoalOp::Resume => match self.goal.as_ref().map(|goal| goal.state) {
                Some(GoalState::Paused) => return Some(Start::Resume),
                Some(GoalState::Met) => {
                    let text = "the goal is met; /goal OBJECTIVE sets a new one";
                    self.notice(Level::Error, text.to_string());
                }
                Some(GoalState::Running | GoalState::Cleared) | None => self.no_goal(),
            },
            GoalOp::Status => {}
            GoalOp::Pause => match self.goal.as_ref().map(|goal| goal.state) {
                Some(GoalState::Paused) => {}
                Some(GoalState::Met | GoalState::Running | GoalState::Cleared) | None => {
                    self.notice(Level::Error, "no goal is running".to_string());
                }
            },
            GoalOp::Clear => match self.goal.take() {
                Some(goal) => self.record_cleared(goal),
                None => self.no_goal(),
            },
        }
        self.tell_goal();
        None
    }

    /// While a turn runs. `Err`: it ends for this.
    pub(super) fn goal_meanwhile(&mut self, op: &GoalOp) -> Flow<()> {
        let runs = self.goal_runs();
        match op {
            GoalOp::Status => self.tell_goal(),
            GoalOp::Pause if runs => return Err(self.cut(Halt::Cancel)),
            GoalOp::Clear if runs => {
                self.clear_goal = true;
                return Err(self.cut(Halt::Cancel));
            }
            GoalOp::Set { .. } | GoalOp::Resume | GoalOp::Pause | GoalOp::Clear => {
                let text = "a turn is running: wait for its end, or stop it, then say it again";
                self.notice(Level::Warning, text.to_string());
            }
        }
        Ok(())
    }

    fn no_goal(&self) {
        let text = "there is no goal in this session; /goal OBJECTIVE sets one";
        self.notice(Level::Error, text.to_string());
    }

    pub(super) fn tell_goal(&self) {
        self.emit(Event::Goal(self.goal.clone()));
    }

    pub(super) fn goal_runs(&self) -> bool {
        let running = |goal: &Goal| goal.state == GoalState::Running;
        self.goal.as_ref().is_some_and(running)
    }

    /// The turn for it begins.
    pub(super) fn begin_goal(&mut self, turn: &mut Turn, id: TurnId, start: &Start) {
        let goal = match (start, self.goal.take()) {
            (Start::Resume, Some(goal)) => Goal {
                // What stopped it must not stop it again at once.
                limit: goal.limit.filter(|limit| goal.tokens < *limit),
                rejections: 0,
                state: GoalState::Running,
                reason: String::new(),
                ..goal
            },
            (Start::Set { objective, tokens }, _) => new(objective, *tokens),
            // Cannot be: it was looked at before, and only turns change it.
            (Start::Resume, None) => new("", None),
        };
        turn.goal = Some(Run::default());
        match start {
            Start::Set { objective, .. } => {
                self.activate_mentioned(objective);
                self.append(setting());
                let text = objective.clone();
                self.record_request(id, Message::User { text });
            }
            Start::Resume => {
                self.record_request(id, telling(&goal, "The user resumed the goal."));
            }
        }
        self.goal_is(goal);
    }

    /// On record, then told.
    fn goal_is(&mut self, goal: Goal) {
        self.record(Record::Goal(goal.clone()));
        self.goal = Some(goal);
        self.tell_goal();
    }

    fn record_cleared(&mut self, mut goal: Goal) {
        goal.state = GoalState::Cleared;
        self.record(Record::Goal(goal));
        if let Err(reason) = self.keep() {
            self.notice(Level::Error, reason);
        }
    }

    /// The turn for it is over.
    pub(super) fn end_goal(&mut self, receipt: &Receipt) {
        let Some(mut goal) = self.goal.take_if(|goal| goal.state == GoalState::Running) else {
            return;
        };
        if std::mem::take(&mut self.clear_goal) {
            goal.state = GoalState::Cleared;
            self.record(Record::Goal(goal));
            return self.tell_goal();
        }
        let words = || text::clip(receipt.answer.trim(), REASON_CHARS).into_owned();
        (goal.state, goal.reason) = match &receipt.status {
            Status::Done => (GoalState::Met, words()),
            Status::Blocked => (
                GoalState::Paused,
                format!("{}: {}", receipt.verdict, words()),
            ),
            Status::Failed
            | Status::ServerFailed { .. }
            | Status::Unusable { .. }
            | Status::NeedsApproval { .. }
            | Status::Limit { .. }
            | Status::NotSaved { .. }
            | Status::Cancelled => (GoalState::Paused, receipt.verdict.clone()),
        };
        self.goal_is(goal);
    }

    /// What a request of the turn cost.
    pub(super) fn count_for_goal(&mut self, estimated_tokens: u64, usage: &Usage) {
        if let Some(goal) = self.goal.as_mut().filter(|g| g.state == GoalState::Running) {
            let prompt = usage.prompt_tokens.unwrap_or(estimated_tokens);
            let output = usage.output_tokens.unwrap_or(0);
            goal.tokens = goal.tokens.saturating_add(prompt).saturating_add(output);
        }
    }

    /// Whether the goal may cost another request.
    pub(super) fn goal_may_ask(&self) -> Flow<()> {
        let Some(goal) = self.goal.as_ref().filter(|_| self.goal_runs()) else {
            return Ok(());
        };
        match goal.limit {
            Some(limit) if goal.tokens >= limit => Err(TurnEnd::limit(format!(
                "the goal has cost {} tokens of {} (/goal --tokens); /goal resume goes on without the limit",
                grouped(goal.tokens),
                grouped(limit)
            ))),
            Some(_) | None => Ok(()),
        }
    }

    /// A call of the worker has ended. `Err`: the goal stops here.
    pub(super) fn watch_goal(
        &mut self,
        turn: &mut Turn,
        is_edit: bool,
        outcome: &ToolOutcome,
    ) -> Flow<()> {
        let Some(run) = &mut turn.goal else {
            return Ok(());
        };
        if let Facts::Ran { command, .. } = &outcome.facts {
            let result = prompt::bounded(&outcome.text, COMMAND_BYTES);
            run.commands.push(format!("$ {command}\n{result}"));
            if run.commands.len() > COMMANDS {
                run.commands.remove(0);
            }
        }
        match outcome.status {
            ToolStatus::Ok if is_edit => run.refused_edits = 0,
            ToolStatus::Failed if is_edit => run.refused_edits += 1,
            ToolStatus::Ok | ToolStatus::Failed | ToolStatus::Denied | ToolStatus::Cancelled => {}
        }
        match run.refused_edits >= MAX_REFUSED_EDITS {
            true => Err(TurnEnd::failed(format!(
                "{MAX_REFUSED_EDITS} edits in a row were refused"
            ))),
            false => Ok(()),
        }
    }

    /// The turn would end so. For a goal that is said to be met a verifier looks first. `Ok`: it goes on.
    pub(super) fn settle(&mut self, turn: &mut Turn, end: TurnEnd) -> Flow<()> {
        if end.status != Status::Done || turn.goal.is_none() {
            return Err(end);
        }
        // The claim is in the log before anybody looks at it.
        self.save()?;
        let opinion = self.verify(turn, &end.answer)?;
        self.emit(Event::Verified(opinion.clone()));
        let Some(mut goal) = self.goal.clone().filter(|_| !opinion.accepted) else {
            return Err(end);
        };
        goal.rejections += 1;
        goal.feedback = feedback(&opinion);
        let text = format!(
            "The verifier rejected this: the goal is not met yet.\n{}\nGo on with it, then call finish_task again.",
            goal.feedback
        );
        let rejections = goal.rejections;
        self.append(note(&text));
        self.goal_is(goal);
        if rejections >= MAX_REJECTIONS {
            let why = format!(
                "the verifier rejected it {MAX_REJECTIONS} times, the last time because: {}",
                text::clip(&opinion.reason, REASON_CHARS)
            );
            return Err(TurnEnd {
                answer: Arc::clone(&end.answer),
                ..TurnEnd::failed(why)
            });
        }
        Ok(())
    }

    /// The conversation was shortened: the goal is told again.
    pub(super) fn remind_of_goal(&mut self) {
        if let Some(goal) = self.goal.as_ref().filter(|_| self.goal_runs()) {
            let note = telling(goal, "This turn is for a goal.");
            self.append(note);
        }
    }
}

fn new(objective: &str, limit: Option<u64>) -> Goal {
    Goal {
        objective: objective.to_string(),
        limit,
        tokens: 0,
        rejections: 0,
        state: GoalState::Running,
        reason: String::new(),
        feedback: String::new(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(typed: &str, expected: Option<Result<GoalOp, &str>>) {
        let found = goal_op(typed);
        let expected = expected.map(|expected| expected.map_err(str::to_string));
        assert_eq!(found, expected, "{typed}");
    }

    fn set_to(objective: &str, tokens: Option<u64>) -> Option<Result<GoalOp, &'static str>> {
        let objective = objective.to_string();
        Some(Ok(GoalOp::Set { objective, tokens }))
    }

    #[test]
    fn what_is_typed_is_an_objective_or_one_of_five_words() {
        check("/goal", Some(Ok(GoalOp::Status)));
        check(" /goal status\n", Some(Ok(GoalOp::Status)));
        check("/goal pause", Some(Ok(GoalOp::Pause)));
        check("/goal resume", Some(Ok(GoalOp::Resume)));
        check("/goal clear", Some(Ok(GoalOp::Clear)));
        check("/goal clear the cache", set_to("clear the cache", None));
        check("/goal\nall\ngreen", set_to("all\ngreen", None));
        check("/goal --tokens 5 all green", set_to("all green", Some(5)));
        check("/goals", None);
        check("say /goal", None);
    }

    #[test]
    fn what_cannot_be_meant_is_said() {
        let usage = |what| Some(Err(what));
        check(
            "/goal --tokens all green",
            usage("`all` is not a number of tokens (/goal --tokens N OBJECTIVE)"),
        );
        check(
            "/goal --tokens 0 x",
            usage("`0` is not a number of tokens (/goal --tokens N OBJECTIVE)"),
        );
        check(
            "/goal --token 5 x",
            usage("/goal does not know `--token` (/goal --tokens N OBJECTIVE)"),
        );
        check(
            "/goal --tokens 5 ",
            usage("/goal needs an objective (/goal --tokens N OBJECTIVE)"),
        );
        check(
            &format!("/goal {}", "x".repeat(4_096)),
            set_to(&"x".repeat(4_096), None),
        );
        check(
            &format!("/goal {}", "x".repeat(4_097)),
            usage(
                "the objective has 4,097 bytes and may have 4,096: it is part of every request; put the details into a file and name it",
            ),
        );
    }

    #[test]
    fn a_goal_that_ran_is_paused_when_it_is_loaded() {
        let record = |state| {
            Record::Goal(Goal {
                state,
                ..new("all green", Some(5))
            })
        };
        let state = |records: &[Record]| loaded(records).map(|goal| (goal.state, goal.reason));
        let interrupted = "zcoder was ended while it ran".to_string();
        assert_eq!(state(&[]), None);
        assert_eq!(
            state(&[record(GoalState::Met), record(GoalState::Running)]),
            Some((GoalState::Paused, interrupted))
        );
        assert_eq!(
            state(&[record(GoalState::Running), record(GoalState::Met)]),
            Some((GoalState::Met, String::new()))
        );
        assert_eq!(
            state(&[record(GoalState::Running), record(GoalState::Cleared)]),
            None
        );
    }
}
