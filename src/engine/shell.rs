//! The user's own commands: `!make test`. Typed by a person they are their own approval; rules that deny and hard stops hold all the same.
//!
//! ```text
//! !make test     TurnStarted · Record::Shell, decision   committed, then it runs    CallStarted Output* CallEnded
//!                note: the user ran `make test`, and its result                      for the model, when it is asked the next time
//!                TurnEnded                                                           nobody is asked now
//! !!make test    the same without the note: the model never hears of it
//! ```
//!
//! One that comes while a turn runs waits for its end in the `queue`.
//!
//! Invariant: the command is on record before it runs, and nothing that is read from a record runs it: one whose result was lost is never run again
//! by itself, and one that only waited is offered, not run.
//!
//! Read next: `call`, `queue`.
use super::call::{self, failed};
use super::decide::TurnEnd;
use super::permit::Done;
use super::prompt;
use super::save;
use super::turn::{Engine, Turn};
use crate::json::{self, Tree, Writer};
use crate::policy::{Command, Verdict};
use crate::protocol::{
    CallId, DecidedBy, Decision, Doing, Event, Facts, Note, Pending, Status, ToolCall, ToolOutcome,
    ToolStatus, TurnId, Way,
};
use crate::session::Record;
use crate::text;
use crate::tools::{Call, Prepared};
use std::sync::Arc;

impl Engine {
    /// Runs it; the end of its turn.
    pub(super) fn shell(&mut self, turn: &mut Turn, id: TurnId, own: &Pending) -> TurnEnd {
        if let Err(reason) = self.queue.look(&own.id, own.way, &own.text) {
            return TurnEnd::new(Status::Unusable { reason });
        }
        let command = own.text.as_str();
        let in_context = own.way == Way::Shell { in_context: true };
        let call = match call_of(id, command) {
            Ok(call) => call,
            Err(error) => return TurnEnd::failed(error.to_string()),
        };
        self.record_shell(id, own, in_context);
        self.doing = Doing::Own(own.text.clone());
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

    fn record_shell(&mut self, turn: TurnId, own: &Pending, in_context: bool) {
        let author = self.author.clone();
        let Some(log) = self.log() else {
            return;
        };
        if log.title().is_none() {
            let text = save::titled(&format!("!{}", own.text));
            log.append(Record::Title { text });
        }
        log.begin_turn(turn, author);
        log.append(Record::Shell {
            id: own.id.clone(),
            command: own.text.clone(),
            in_context,
        });
        self.shell_begins(own);
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
