//! The user's own commands: `!make test`. Typed by a person they are their own approval; rules that deny and hard stops hold all the same.
//!
//! ```text
//! !make test     TurnStarted · Record::Shell, decision   committed, then it runs    CallStarted Output* CallEnded
//!                note: the user ran `make test`, and its result                      for the model, when it is asked the next time
//!                TurnEnded                                                           nobody is asked now
//! !!make test    the same without the note: the model never hears of it
//! ```
//!
//! One that comes while a turn runs waits for its end, behind what was queued before it; what is said later waits for it in turn, also what would
//! have been heard within the turn.
//!
//! Invariant: the command is on record before it runs, and nothing that is read from a record runs it: one whose result was lost is never run again
//! by itself. Invariant: one that only waits is kept nowhere, and goes with the process.
//!
//! Read next: `call`, `queue`.
use super::call::{self, failed};
use super::decide::TurnEnd;
use super::permit::Done;
use super::prompt;
use super::save;
use super::turn::{Engine, Task, Turn};
use crate::json::{self, Tree, Writer};
use crate::policy::{Command, Verdict};
use crate::protocol::{
    CallId, DecidedBy, Decision, Event, Facts, Note, Status, ToolCall, ToolOutcome, ToolStatus,
    TurnId,
};
use crate::session::Record;
use crate::text;
use crate::tools::{Call, Prepared};
use std::sync::Arc;

/// A command that waits behind messages.
#[derive(Debug)]
pub(super) struct Waiting {
    /// Ids of the messages before it.
    behind: Vec<String>,
    command: String,
    in_context: bool,
}

impl Engine {
    /// While a turn runs: after it, and after what was said before.
    pub(super) fn shell_later(&mut self, command: String, in_context: bool) {
        let behind = self.queue.waiting_ids();
        if behind.is_empty() {
            self.waiting.push_back(Task::Shell {
                command,
                in_context,
            });
            return;
        }
        self.shells.push_back(Waiting {
            behind,
            command,
            in_context,
        });
    }

    /// Whether one waits: what is said now comes after it.
    pub(super) fn shell_waits(&self) -> bool {
        let is_shell = |task: &Task| matches!(task, Task::Shell { .. });
        !self.shells.is_empty() || self.waiting.iter().any(is_shell)
    }

    /// The one that waits for nothing any more.
    pub(super) fn next_shell(&mut self) -> Option<Task> {
        let first = self.shells.front()?;
        if first.behind.iter().any(|id| self.queue.waits(id)) {
            return None;
        }
        let Waiting {
            command,
            in_context,
            ..
        } = self.shells.pop_front()?;
        Some(Task::Shell {
            command,
            in_context,
        })
    }

    /// Runs it; the end of its turn.
    pub(super) fn shell(
        &mut self,
        turn: &mut Turn,
        id: TurnId,
        command: &str,
        in_context: bool,
    ) -> TurnEnd {
        if command.trim().is_empty() {
            let reason = "the command is empty".to_string();
            return TurnEnd::new(Status::Unusable { reason });
        }
        let call = match call_of(id, command) {
            Ok(call) => call,
            Err(error) => return TurnEnd::failed(error.to_string()),
        };
        self.record_shell(id, command, in_context);
        self.emit(Event::CallStarted {
            call: call.clone(),
            summary: call::subject(&call),
        });
        turn.tally.own = true;
        turn.tally.calls += 1;
        let prepared = self.toolbox.prepare(Call::RunCommand {
            command: command.to_string(),
            cwd: None,
            timeout_seconds: None,
        });
        let (outcome, end) = match prepared {
            Prepared::Command(command) => self.own_command(turn, &call, command),
            Prepared::Outcome(outcome) => (outcome, None),
            // Cannot be: this call is a command.
            Prepared::Look(_) | Prepared::Edit(_) | Prepared::Finish { .. } => {
                (failed("not run: this is a bug in zcoder"), None)
            }
        };
        turn.tally.ended(&outcome);
        if in_context {
            let text = format!("The user ran a command: {command}\n{}", outcome.text);
            self.record(Record::Message(prompt::note(Note::Shell, &text)));
        }
        let end = end.unwrap_or_else(|| end_of(&outcome));
        self.tell_result(&call, outcome);
        end
    }

    fn own_command(&mut self, turn: &Turn, call: &ToolCall, command: Command) -> Done {
        let shown = command.text.clone();
        let approved = match self.policy.own(command) {
            Verdict::Allowed(approved) => approved,
            Verdict::Ask(asking) => asking.accept(),
            Verdict::Denied {
                value: _,
                reason,
                by,
            } => {
                let text = format!("not run: {reason}");
                let reason = Some(reason);
                self.settled(None, Some(call), &shown, Decision::Deny { reason }, by);
                return (call::denied(&text), None);
            }
        };
        // Typed by a person: whatever else allows it, that does.
        let by = DecidedBy::Person;
        self.settled(None, Some(call), &shown, Decision::Once, by);
        self.run_approved(turn, call, approved, &shown)
    }

    fn record_shell(&mut self, turn: TurnId, command: &str, in_context: bool) {
        let author = self.author.clone();
        let Some(log) = self.log() else {
            return;
        };
        if log.title().is_none() {
            let text = save::titled(&format!("!{command}"));
            log.append(Record::Title { text });
        }
        log.begin_turn(turn, author);
        log.append(Record::Shell {
            command: command.to_string(),
            in_context,
        });
        self.on_record = Some(turn);
    }
}

/// As if the model had called it; the id is one that no model gives.
fn call_of(turn: TurnId, command: &str) -> Result<ToolCall, json::Error> {
    let mut json = Writer::new();
    json.begin_object().key("command").string(command);
    json.end_object();
    Ok(ToolCall {
        id: CallId(format!("shell_{}", turn.0)),
        name: "run_command".to_string(),
        arguments: Tree::parse(&json.finish())?,
    })
}

fn end_of(outcome: &ToolOutcome) -> TurnEnd {
    let exit = match &outcome.facts {
        Facts::Ran { exit, .. } => *exit,
        Facts::None | Facts::Read { .. } | Facts::Edited { .. } => None,
    };
    let end = match (outcome.status, exit) {
        (ToolStatus::Ok, Some(0)) => TurnEnd::new(Status::Done),
        (_, Some(exit)) => TurnEnd::failed(format!("exit code {exit}")),
        (_, None) => {
            let first = outcome.text.lines().next().unwrap_or_default();
            TurnEnd::failed(text::clip(first, 200).into_owned())
        }
    };
    TurnEnd {
        answer: Arc::new(outcome.text.clone()),
        ..end
    }
}
