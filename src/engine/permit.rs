//! From a verdict of the policy to a ticket, by way of a question where one is due. Commands, edits, loops and forwarded models are all
//! asked about here.
//!
//! ```text
//! Allowed           → Decided { by: --yes | edits=auto | session }                     → the ticket
//! Denied            → Decided { Deny }                                                  → the model hears why
//! Ask, somebody     → Asked, await_decision, Decided { Once | Session | SessionRule | KeptRule | Deny { reason } by: a person }
//! Ask, nobody       → Decided { Nobody }                                                → the turn ends with NeedsApproval
//! Ask, a flag says no → Decided { Deny by: --deny-commands }, nothing is asked          → the model hears why
//! ```
//!
//! Invariant: what is recorded and told as decided was decided on exactly the text that is recorded with it. Invariant: a question that was
//! not answered is a no.
use super::call::{cancelled, denied};
use super::decide::TurnEnd;
use super::guard;
use super::turn::{Engine, Flow, Turn};
use crate::policy::{Approved, Asking, Verdict};
use crate::protocol::{
    AskId, DecidedBy, Decision, Event, Level, Question, Stage, Status, ToolCall, ToolOutcome,
};
use crate::session::Record;

/// What a call came to, and whether the turn is over.
pub(super) type Done = (ToolOutcome, Option<TurnEnd>);

/// What came of a question.
pub(super) struct Answer {
    /// `None`: it was not put to anybody.
    ask: Option<AskId>,
    pub(super) decision: Decision,
    by: DecidedBy,
}

/// The way to a ticket, or what to answer without one.
pub(super) enum Permit<T> {
    Yes(Approved<T>),
    No(Done),
}

impl Engine {
    /// From a verdict to the ticket, asking if need be. `shown` is what was judged; `what` names it in one line.
    pub(super) fn permit<T>(
        &mut self,
        turn: &Turn,
        call: &ToolCall,
        verdict: Verdict<T>,
        shown: &str,
        what: &str,
    ) -> Permit<T> {
        match verdict {
            Verdict::Allowed(approved) => {
                let by = approved.by().clone();
                self.settled(None, Some(call), shown, Decision::Once, by);
                Permit::Yes(approved)
            }
            Verdict::Denied {
                value: _,
                reason,
                by,
            } => {
                let text = format!("not done: {reason}");
                let decision = Decision::Deny {
                    reason: Some(reason),
                };
                self.settled(None, Some(call), shown, decision, by);
                Permit::No((denied(&text), None))
            }
            Verdict::Ask(asking) => self.ask_about(turn, call, asking, shown, what),
        }
    }

    fn ask_about<T>(
        &mut self,
        turn: &Turn,
        call: &ToolCall,
        asking: Asking<T>,
        shown: &str,
        what: &str,
    ) -> Permit<T> {
        let mut answer = match self.ask(turn, Some(call), asking.question().clone()) {
            Ok(answer) => answer,
            Err(end) => {
                let text = "not done: the turn was stopped while the user was asked";
                return Permit::No((cancelled(text), Some(end)));
            }
        };
        answer.decision = self.hold(&asking, answer.decision);
        self.decided(&answer, Some(call), shown);
        match answer.decision {
            Decision::Once | Decision::Session | Decision::SessionRule | Decision::KeptRule => {
                Permit::Yes(asking.accept())
            }
            Decision::Deny { reason } => {
                asking.refuse();
                Permit::No((denied(&refused(reason, &answer.by)), None))
            }
            Decision::Nobody => {
                asking.refuse();
                let what = format!("{}: {what}", call.name);
                let end = TurnEnd::new(Status::NeedsApproval { what });
                let text = "not done: it needs an approval and nobody can be asked";
                Permit::No((denied(text), Some(end)))
            }
        }
    }

    /// Makes a yes hold for what it says, as far as that is on offer; otherwise it counts once.
    fn hold<T>(&mut self, asking: &Asking<T>, decision: Decision) -> Decision {
        let kept = match &decision {
            Decision::Session => self.policy.grant(asking),
            Decision::SessionRule => self.policy.grant_rules(asking),
            Decision::KeptRule => match self.policy.keep(asking) {
                Ok(kept) => kept,
                Err(error) => {
                    let text =
                        format!("the rule could not be kept ({error}); it holds for this session");
                    self.notice(Level::Warning, text);
                    // A check has no rule: its very text then.
                    let held = self.policy.grant_rules(asking) || self.policy.grant(asking);
                    return if held {
                        Decision::SessionRule
                    } else {
                        Decision::Once
                    };
                }
            },
            Decision::Once | Decision::Deny { .. } | Decision::Nobody => true,
        };
        if kept { decision } else { Decision::Once }
    }

    /// Puts a question, if it is not answered beforehand and there is somebody to answer.
    pub(super) fn ask(
        &mut self,
        turn: &Turn,
        call: Option<&ToolCall>,
        question: Question,
    ) -> Flow<Answer> {
        let unasked = match (self.refuses, self.interactive) {
            (Some(flag), _) => Some((
                Decision::Deny { reason: None },
                DecidedBy::Flag(flag.to_string()),
            )),
            (None, false) => Some((Decision::Nobody, DecidedBy::Nobody)),
            (None, true) => None,
        };
        if let Some((decision, by)) = unasked {
            let ask = None;
            return Ok(Answer { ask, decision, by });
        }
        let ask = self.next_ask();
        self.emit(Event::Asked {
            ask,
            call: call.map(|call| call.id.clone()),
            question,
        });
        let decision = self.await_decision(turn, ask)?;
        let by = match decision {
            Decision::Once
            | Decision::Session
            | Decision::SessionRule
            | Decision::KeptRule
            | Decision::Deny { .. } => DecidedBy::Person,
            Decision::Nobody => DecidedBy::Nobody,
        };
        let ask = Some(ask);
        Ok(Answer { ask, decision, by })
    }

    /// A question was answered, or there was nobody to answer it.
    pub(super) fn decided(&mut self, answer: &Answer, call: Option<&ToolCall>, shown: &str) {
        let (decision, by) = (answer.decision.clone(), answer.by.clone());
        self.settled(answer.ask, call, shown, decision, by);
    }

    /// On record, then told.
    pub(super) fn settled(
        &mut self,
        ask: Option<AskId>,
        call: Option<&ToolCall>,
        shown: &str,
        decision: Decision,
        by: DecidedBy,
    ) {
        if let (true, Some(call)) = (self.tap.is_on(), call) {
            self.tap
                .see(&Stage::Verdict(&in_words(&call.name, &decision, &by)));
        }
        let call = call.map(|call| call.id.clone());
        self.record(Record::Decision {
            call: call.clone(),
            shown: shown.to_string(),
            decision: decision.clone(),
            by: by.clone(),
        });
        self.emit(Event::Decided {
            ask,
            call,
            decision,
            by,
        });
    }

    pub(super) fn ask_about_loop(
        &mut self,
        turn: &mut Turn,
        cycle: usize,
        times: usize,
    ) -> Flow<()> {
        let what = guard::describe(cycle);
        let description = format!("the model made {what} {times} times with the same result");
        let question = Question::Loop {
            description: description.clone(),
        };
        let answer = self.ask(turn, None, question)?;
        self.decided(&answer, None, &description);
        match answer.decision {
            Decision::Once | Decision::Session | Decision::SessionRule | Decision::KeptRule => {
                turn.guard.reset();
                Ok(())
            }
            Decision::Deny { .. } | Decision::Nobody => Err(TurnEnd::limit(description)),
        }
    }
}

/// A no, for the model.
fn refused(reason: Option<String>, by: &DecidedBy) -> String {
    match (by, reason) {
        (DecidedBy::Flag(flag), _) => format!(
            "not done: it needs an approval, and in this run {flag} refuses whatever does. Go on without it, and tell the user \
             what to do by hand and why."
        ),
        (DecidedBy::Person | DecidedBy::Rule(_) | DecidedBy::Session | DecidedBy::Nobody, Some(reason)) => format!("not done: the user said no: {reason}"),
        (DecidedBy::Person | DecidedBy::Rule(_) | DecidedBy::Session | DecidedBy::Nobody, None) => "not done: the user said no. Do not try to reach the same end another way; go on without it or say what you need".to_string(),
    }
}

fn in_words(name: &str, decision: &Decision, by: &DecidedBy) -> String {
    let decision = match decision {
        Decision::Once | Decision::Session | Decision::SessionRule | Decision::KeptRule => {
            "allowed"
        }
        Decision::Deny { .. } | Decision::Nobody => "denied",
    };
    match by {
        DecidedBy::Person => format!("{name}: {decision} by the user"),
        DecidedBy::Flag(flag) => format!("{name}: {decision} by {flag}"),
        DecidedBy::Rule(rule) => format!("{name}: {decision} by rule: {rule}"),
        DecidedBy::Session => format!("{name}: {decision} for this session"),
        DecidedBy::Nobody => format!("{name}: {decision}, nobody to ask"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_verdict_in_words_names_who_decided() {
        let no = Decision::Deny { reason: None };
        let rule = DecidedBy::Rule("edits=auto".to_string());
        for (decision, by, words) in [
            (Decision::Once, DecidedBy::Person, "t: allowed by the user"),
            (
                Decision::Once,
                DecidedBy::Flag("--yes".to_string()),
                "t: allowed by --yes",
            ),
            (
                Decision::Session,
                DecidedBy::Session,
                "t: allowed for this session",
            ),
            (no, rule, "t: denied by rule: edits=auto"),
            (
                Decision::Nobody,
                DecidedBy::Nobody,
                "t: denied, nobody to ask",
            ),
        ] {
            assert_eq!(in_words("t", &decision, &by), words);
        }
    }
}
