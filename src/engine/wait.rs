//! The waits of a turn. Wherever the turn stops, it stops in one of these functions, and each of them reads the one inbox: so a cancel, a
//! quit, a new prompt or a late result is treated alike at every point, by `absorb`.
//!
//! ```text
//! await_reply(job 7)      takes Replied{7}, shows Progress{7}
//! await_decision(ask 2)   takes Decide{2}
//! await_tool(job 8)       takes Ran{8}, shows Output{8}
//! anything else           absorb: Cancel, Quit → the turn ends · Prompt → waits · another id → dropped
//! ```
//!
//! (`await_found` is `await_reply` before the first request, for the discovery.)
//!
//! Invariant: no wait is longer than the turn's time limit. Invariant: a job or question that is no longer waited for is never answered.
use super::call::cancelled;
use super::decide::TurnEnd;
use super::discover::Found;
use super::turn::{Engine, Flow, Task, Turn};
use super::worker::{JobId, News};
use crate::model::{self, Reply};
use crate::protocol::{
    AskId, CallId, Decision, Doing, Event, Halt, Level, Op, Stage, Status, ToolOutcome, Waiting,
    Way,
};
use std::sync::mpsc::RecvTimeoutError;
use std::time::{Duration, Instant};

/// How long a cancelled command may take to end: its group gets TERM, then KILL. Longer, and it is given up.
const TOOL_GRACE: Duration = Duration::from_secs(5);

impl Engine {
    /// The first answer of a session: which model.
    pub(super) fn await_found(
        &mut self,
        turn: &Turn,
        job: JobId,
    ) -> Flow<Result<Box<Found>, Status>> {
        loop {
            match self.next(turn)? {
                News::Found { job: from, result } if from == job => return Ok(result),
                News::Lost { job: from } if from == job => return Err(lost("discovery")),
                other => self.absorb(other)?,
            }
        }
    }

    /// A complete reply, or why there is none.
    pub(super) fn await_reply(
        &mut self,
        turn: &Turn,
        job: JobId,
    ) -> Flow<Result<Reply, model::Error>> {
        loop {
            match self.next(turn)? {
                News::Replied { job: from, result } if from == job => return Ok(result),
                News::Progress { job: from, event } if from == job => {
                    self.follow(&event);
                    self.emit(event);
                }
                News::Loaded { job: from, loaded } if from == job => self.loaded(&loaded),
                News::Lost { job: from } if from == job => return Err(lost("model request")),
                other => self.absorb(other)?,
            }
        }
    }

    /// What the model is doing, as far as it shows.
    fn follow(&mut self, event: &Event) {
        let doing = match event {
            Event::Thinking { .. } | Event::Content { .. } => Doing::Answering,
            Event::Waiting { waiting, .. } => match waiting {
                Waiting::Loading { .. } => Doing::Loading,
                Waiting::Reading { .. } => Doing::Reading,
                Waiting::Generating { .. } => Doing::Answering,
                Waiting::Connecting | Waiting::Unknown { .. } | Waiting::Resending { .. } => {
                    Doing::Waiting
                }
            },
            _ => return,
        };
        self.doing = doing;
    }

    /// The turn ends here, because of this.
    pub(super) fn cut(&self, by: Halt) -> TurnEnd {
        TurnEnd::cut(by, self.doing.clone())
    }

    /// A person's answer.
    pub(super) fn await_decision(&mut self, turn: &Turn, ask: AskId) -> Flow<Decision> {
        let before = std::mem::replace(&mut self.doing, Doing::Asking);
        loop {
            match self.next(turn)? {
                News::Op(Op::Decide { ask: to, decision }) if to == ask => {
                    self.doing = before;
                    return Ok(decision);
                }
                other => self.absorb(other)?,
            }
        }
    }

    /// A command's end. It has an outcome whatever happens; the second value says that the turn is over.
    pub(super) fn await_tool(
        &mut self,
        turn: &Turn,
        job: JobId,
        call: &CallId,
    ) -> (ToolOutcome, Option<TurnEnd>) {
        let end = loop {
            let news = match self.next(turn) {
                Ok(news) => news,
                Err(end) => break end,
            };
            match news {
                News::Ran {
                    job: from,
                    outcome,
                    touched,
                } if from == job => {
                    self.touched = touched;
                    return (outcome, None);
                }
                News::Output { job: from, text } if from == job => self.output(call, text),
                News::Lost { job: from } if from == job => break lost("command"),
                other => {
                    if let Err(end) = self.absorb(other) {
                        break end;
                    }
                }
            }
        };
        turn.cancel.cancel();
        let outcome = self.let_end(job, call);
        (outcome, Some(end))
    }

    /// The command was told to end. What it wrote until then belongs into its result, and nothing of it should outlive the turn.
    fn let_end(&mut self, job: JobId, call: &CallId) -> ToolOutcome {
        let until = Instant::now() + TOOL_GRACE;
        while let Ok(news) = self
            .inbox
            .recv_timeout(until.saturating_duration_since(Instant::now()))
        {
            match news {
                News::Ran {
                    job: from,
                    outcome,
                    touched,
                } if from == job => {
                    self.touched = touched;
                    return outcome;
                }
                News::Output { job: from, text } if from == job => self.output(call, text),
                News::Lost { job: from } if from == job => break,
                // The turn ends already; only what outlives it matters (a prompt, the wish to quit).
                other => {
                    self.see(&other);
                    let _ = self.absorb(other);
                }
            }
        }
        cancelled("the command was told to end and did not do so in time; it may still be running")
    }

    fn output(&self, call: &CallId, text: String) {
        let call = call.clone();
        self.emit(Event::Output { call, text });
    }

    /// Takes note of what has arrived while the turn was busy by itself.
    pub(super) fn catch_up(&mut self, turn: &Turn) -> Flow<()> {
        while let Ok(news) = self.inbox.try_recv() {
            self.see(&news);
            self.absorb(news)?;
        }
        turn.in_time()
    }

    fn next(&mut self, turn: &Turn) -> Flow<News> {
        let received = match turn.deadline {
            None => self
                .inbox
                .recv()
                .map_err(|_| RecvTimeoutError::Disconnected),
            Some(deadline) => {
                let left = deadline.saturating_duration_since(Instant::now());
                self.inbox.recv_timeout(left)
            }
        };
        match received {
            Ok(news) => {
                self.see(&news);
                Ok(news)
            }
            Err(RecvTimeoutError::Timeout) => Err(turn.out_of_time()),
            // Cannot be: the engine holds a sender itself.
            Err(RecvTimeoutError::Disconnected) => Err(self.cut(Halt::Quit)),
        }
    }

    pub(super) fn see(&self, news: &News) {
        if let News::Op(op) = news {
            self.tap.see(&Stage::Op(op));
        }
    }

    /// What does not belong to the wait that received it.
    fn absorb(&mut self, news: News) -> Flow<()> {
        match news {
            News::Op(Op::Cancel) => Err(self.cut(Halt::Cancel)),
            News::Op(Op::Quit) => {
                self.quitting = true;
                Err(self.cut(Halt::Quit))
            }
            News::Op(Op::End(by)) => {
                self.quitting = true;
                Err(self.cut(by))
            }
            News::Op(Op::Prompt { text, attachment }) => {
                self.waiting.push_back(Task::Prompt { text, attachment });
                Ok(())
            }
            News::Op(Op::Goal(op)) => self.goal_meanwhile(&op),
            News::Op(Op::Shell {
                id,
                command,
                in_context,
            }) => {
                self.take_input(id, Way::Shell { in_context }, command, false);
                Ok(())
            }
            News::Op(Op::Steer { id, text }) => {
                self.take_input(id, Way::Steer, text, false);
                Ok(())
            }
            News::Op(Op::Queue { id, text }) => {
                self.take_input(id, Way::Queue, text, false);
                Ok(())
            }
            News::Op(Op::Drop { id }) => {
                self.drop_input(id);
                Ok(())
            }
            News::Op(Op::Queued) => {
                self.tell_queued();
                Ok(())
            }
            News::Op(Op::Deliver) => {
                self.queue.deliver();
                Ok(())
            }
            News::Op(Op::Context) => {
                self.tell_context();
                Ok(())
            }
            News::Op(Op::Compact) => {
                self.budget.asked = true;
                Ok(())
            }
            // An answer to a question that is no longer open.
            News::Op(Op::Decide { .. }) => Ok(()),
            News::Op(Op::Step { .. } | Op::Review) => {
                let text = "a turn is running: wait for its end, or stop it, then ask again";
                self.notice(Level::Warning, text.to_string());
                Ok(())
            }
            // Of a job that was given up.
            News::Found { .. }
            | News::Progress { .. }
            | News::Loaded { .. }
            | News::Replied { .. }
            | News::Output { .. }
            | News::Ran { .. }
            | News::Lost { .. } => Ok(()),
        }
    }
}

fn lost(what: &str) -> TurnEnd {
    TurnEnd::failed(format!(
        "the thread of the {what} ended without a result; this is a bug in zcoder"
    ))
}
