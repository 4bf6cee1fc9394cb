//! Messages and commands that wait, and what became of the earlier ones. In: what a person says while a turn runs. Out: each at the right
//! moment, once. The engine's part stands below: what it takes is on the disk before it says so.
//!
//! ```text
//! Steer a1, Queue a2       Record::Accepted a1, a2                    committed, then told
//! Shell a3                 Record::Accepted a3                        the same
//! … before a request …     Message::User (a1), Record::Settled a1     one commit, then told: consumed
//! … the turn is over …     TurnStarted, Message::User (a2), Record::Settled a2
//!                          TurnStarted, Record::Shell a3              committed, told: consumed; then it runs
//! ```
//!
//! The same id with the same text again is answered with what became of it; with another text it is refused. A steer that comes too late for the
//! turn begins one. A cancel stops the turn alone. A turn that could not begin, or ended because of server, session or a limit, would only lose
//! the next message too: the others are held until somebody says `Op::Deliver`, or something new while nothing runs. So are those of a session
//! that is opened; its commands are only offered: nothing but `Op::Deliver` lets them begin, and nobody waits for them.
//!
//! A command keeps its place: what is said after it waits for it, also what would have been heard within the turn. One that comes while nothing
//! runs begins at once and is never accepted first.
//!
//! Limits: [`MAX_PENDING`] waiting, [`MAX_BYTES`] each, ids up to [`MAX_ID`] bytes, the last [`MAX_RECEIPTS`] remembered.
//!
//! Invariant: a message is in the history and settled in the same commit, so no crash delivers it twice or loses it. Invariant: a command's
//! `Record::Shell` is what settles it, so one that may have begun is never begun again.
//!
//! Read next: `turn`.
use super::turn::{Engine, Task};
use crate::protocol::{Event, InputState, Level, Message, Pending, Status, Way};
use crate::session::Record;
use crate::text::{counted, grouped};
use std::collections::VecDeque;

/// Messages that wait.
const MAX_PENDING: usize = 100;
/// Of one message.
const MAX_BYTES: usize = 64 << 10;
/// Messages of which is known what became of them.
const MAX_RECEIPTS: usize = 1_000;
/// Of an id.
const MAX_ID: usize = 128;

/// What waits, and what is known of the rest.
#[derive(Debug, Default)]
pub(super) struct Queue {
    pending: VecDeque<Pending>,
    /// Settled ones, the oldest first, and whether they were consumed.
    settled: VecDeque<(Pending, bool)>,
    /// Nothing is delivered by itself.
    pub(super) held: bool,
    /// Commands of an earlier run.
    offered: Vec<String>,
    /// In the history, and not yet told.
    delivered: Vec<(String, Way)>,
}

impl Queue {
    /// Of a session that is opened.
    pub(super) fn loaded(records: &[Record]) -> Queue {
        let mut queue = Queue::default();
        for record in records {
            match record {
                Record::Accepted(pending) => queue.pending.push_back(pending.clone()),
                Record::Settled { id, consumed } => drop(queue.settle(id, *consumed)),
                Record::Shell {
                    id,
                    command,
                    in_context,
                } => queue.begun(Pending {
                    id: id.clone(),
                    way: Way::Shell {
                        in_context: *in_context,
                    },
                    text: command.clone(),
                }),
                _ => {}
            }
        }
        let (shells, messages): (Vec<_>, Vec<_>) = queue.pending.iter().partition(|p| is_shell(p));
        queue.held = !messages.is_empty();
        queue.offered = shells.into_iter().map(|shell| shell.id.clone()).collect();
        queue
    }

    /// All that waits, in order.
    pub(super) fn into_pending(self) -> Vec<Pending> {
        self.pending.into()
    }

    /// What became of the message with this id.
    fn known(&self, id: &str) -> Option<(&Pending, InputState)> {
        let pending = self.pending.iter().find(|pending| pending.id == id);
        let pending = pending.map(|pending| (pending, InputState::Accepted));
        pending.or_else(|| {
            let mut settled = self.settled.iter().rev();
            let (pending, consumed) = settled.find(|(pending, _)| pending.id == id)?;
            let state = match consumed {
                true => InputState::Consumed,
                false => InputState::Discarded,
            };
            Some((pending, state))
        })
    }

    /// Why it cannot be taken; `Ok(Some)`: it was taken before, and that became of it.
    pub(super) fn look(
        &self,
        id: &str,
        way: Way,
        text: &str,
    ) -> Result<Option<(Way, InputState)>, String> {
        let what = match way {
            Way::Steer | Way::Queue => "message",
            Way::Shell { .. } => "command",
        };
        if let Some((known, state)) = self.known(id) {
            return match known.text == text {
                true => Ok(Some((known.way, state))),
                false => Err(format!("another {what} has this id")),
            };
        }
        if id.is_empty() || id.len() > MAX_ID {
            return Err(format!("an id has 1 to {MAX_ID} bytes"));
        }
        if text.trim().is_empty() {
            return Err(format!("the {what} is empty"));
        }
        if text.len() > MAX_BYTES {
            return Err(format!(
                "the {what} has {} bytes and may have {}; put it into a file and name that",
                grouped(text.len() as u64),
                grouped(MAX_BYTES as u64)
            ));
        }
        if self.pending.len() >= MAX_PENDING {
            return Err(format!(
                "{MAX_PENDING} messages wait already; wait, or drop one"
            ));
        }
        Ok(None)
    }

    fn settle(&mut self, id: &str, consumed: bool) -> Option<Pending> {
        let at = self.pending.iter().position(|pending| pending.id == id)?;
        let pending = self.pending.remove(at)?;
        self.offered.retain(|offered| offered != id);
        self.remember(pending.clone(), consumed);
        Some(pending)
    }

    fn remember(&mut self, pending: Pending, consumed: bool) {
        self.settled.push_back((pending, consumed));
        if self.settled.len() + self.pending.len() > MAX_RECEIPTS {
            self.settled.pop_front();
        }
    }

    /// A command begins, or did: whether it waited or not.
    fn begun(&mut self, shell: Pending) {
        if self.settle(&shell.id, true).is_none() {
            self.remember(shell, true);
        }
    }

    /// What waits and is not only offered.
    fn due(&self) -> impl Iterator<Item = &Pending> {
        let offered = |pending: &&Pending| !self.offered.contains(&pending.id);
        self.pending.iter().filter(offered)
    }

    /// What a turn should begin with: what came too late for the last one, then the rest in order.
    pub(super) fn next(&self) -> Option<&Pending> {
        let mut steers = self.due().filter(|p| p.way == Way::Steer);
        let next = steers.next().or(self.due().next());
        next.filter(|_| !self.held)
    }

    /// Nothing is held any more.
    pub(super) fn deliver(&mut self) {
        self.held = false;
        self.offered.clear();
    }

    /// Whether one waits.
    pub(super) fn waits(&self, id: &str) -> bool {
        self.pending.iter().any(|pending| pending.id == id)
    }
}

impl Engine {
    /// Takes a message. `idle`: no turn runs.
    pub(super) fn take_input(&mut self, id: String, way: Way, text: String, idle: bool) {
        let way = match way {
            Way::Steer if self.queue.due().any(is_shell) => Way::Queue,
            Way::Steer | Way::Queue | Way::Shell { .. } => way,
        };
        let (way, state) = match self.queue.look(&id, way, &text) {
            Ok(Some(known)) => known,
            // What is wrong with it the turn tells.
            Ok(None) | Err(_) if idle && matches!(way, Way::Shell { .. }) => {
                return self.waiting.push_back(task(Pending { id, way, text }));
            }
            Ok(None) => {
                let pending = Pending {
                    id: id.clone(),
                    way,
                    text,
                };
                let first = self.queue.held || self.left_behind().is_empty();
                self.queue.pending.push_back(pending.clone());
                self.record(Record::Accepted(pending.clone()));
                match self.keep() {
                    Ok(()) => {
                        // Before the prompts that come later, and whatever becomes of this turn.
                        if first && is_shell(&pending) {
                            self.waiting.push_back(task(pending));
                        }
                        self.queue.held &= !idle;
                        (way, InputState::Accepted)
                    }
                    Err(reason) => {
                        self.queue.settle(&id, false);
                        self.record(Record::Settled {
                            id: id.clone(),
                            consumed: false,
                        });
                        (way, InputState::Refused { reason })
                    }
                }
            }
            Err(reason) => (way, InputState::Refused { reason }),
        };
        self.emit(Event::Input { id, way, state });
    }

    /// What waits for its turn: not what is only offered, and not a command that stands among the tasks already.
    fn left_behind(&self) -> Vec<&Pending> {
        let is_task = |pending: &&Pending| self.waiting.iter().any(|task| task.is(&pending.id));
        self.queue.due().filter(|one| !is_task(one)).collect()
    }

    /// Takes one back that waits.
    pub(super) fn drop_input(&mut self, id: String) {
        if let Some(pending) = self.queue.settle(&id, false) {
            self.waiting.retain(|task| !task.is(&id));
            let (way, consumed) = (pending.way, false);
            self.record(Record::Settled {
                id: id.clone(),
                consumed,
            });
            // Where that cannot be kept it waits again when the session is opened, and is held there.
            if let Err(reason) = self.keep() {
                self.notice(Level::Error, reason);
            }
            let state = InputState::Discarded;
            return self.emit(Event::Input { id, way, state });
        }
        let (way, state) = match self.queue.known(&id) {
            Some((known, state)) => (known.way, state),
            None => {
                let reason = "nothing has this id".to_string();
                (Way::Queue, InputState::Refused { reason })
            }
        };
        self.emit(Event::Input { id, way, state });
    }

    /// What waits.
    pub(super) fn tell_queued(&self) {
        self.emit(Event::Queued {
            held: self.queue.held,
            pending: self.queue.pending.iter().cloned().collect(),
        });
    }

    /// Before a request: what is to be heard within this turn becomes part of the history.
    pub(super) fn deliver_steers(&mut self) {
        if self.queue.held {
            return;
        }
        let steers = self.queue.pending.iter().filter(|p| p.way == Way::Steer);
        let steers: Vec<Pending> = steers.cloned().collect();
        for Pending { id, text, .. } in steers {
            self.activate_mentioned(&text);
            self.append(Message::User { text });
            self.consumed(&id);
        }
    }

    /// It is in the history.
    pub(super) fn consumed(&mut self, id: &str) {
        if let Some(pending) = self.queue.settle(id, true) {
            let (id, consumed) = (pending.id.clone(), true);
            self.record(Record::Settled { id, consumed });
            self.queue.delivered.push((pending.id, pending.way));
        }
    }

    /// A command begins: on record.
    pub(super) fn shell_begins(&mut self, shell: &Pending) {
        self.queue.begun(shell.clone());
        self.queue.delivered.push((shell.id.clone(), shell.way));
    }

    /// The history is saved.
    pub(super) fn tell_consumed(&mut self) {
        for (id, way) in std::mem::take(&mut self.queue.delivered) {
            let state = InputState::Consumed;
            self.emit(Event::Input { id, way, state });
        }
    }

    /// The session was opened with something that waits.
    pub(super) fn say_held(&self) {
        if self.queue.pending.is_empty() {
            return;
        }
        let (waiting, done) = said(&self.queue.pending.iter().collect::<Vec<_>>());
        let id = self.fresh_log.as_ref().map_or("", |log| &log.id().0);
        let text = format!(
            "{waiting} of an earlier run: kept, and not {done} by itself; `zcoder sessions waiting {id}` lists and drops"
        );
        self.notice(Level::Info, text);
    }

    /// A turn is over. `begun`: for a message, whether it got into the history.
    pub(super) fn hold_after(&mut self, status: &Status, begun: bool) {
        let stays = match status {
            Status::Done | Status::Blocked | Status::Failed | Status::Cancelled => false,
            Status::ServerFailed { .. }
            | Status::Unusable { .. }
            | Status::NeedsApproval { .. }
            | Status::Limit { .. }
            | Status::NotSaved { .. } => true,
        };
        let left = self.left_behind();
        if (stays || !begun) && !left.is_empty() && !self.queue.held {
            let (waiting, done) = said(&left);
            self.queue.held = true;
            let text =
                format!("{waiting} that came meanwhile: kept, and not {done} by itself after this");
            self.notice(Level::Warning, text);
        }
    }
}

/// A turn for it.
pub(super) fn task(pending: Pending) -> Task {
    match pending.way {
        Way::Steer | Way::Queue => Task::Input {
            id: pending.id,
            text: pending.text,
        },
        Way::Shell { .. } => Task::Shell(pending),
    }
}

fn is_shell(pending: &Pending) -> bool {
    matches!(pending.way, Way::Shell { .. })
}

/// How many of each, and what does not happen to them.
fn said(pending: &[&Pending]) -> (String, &'static str) {
    let shells = pending.iter().filter(|one| is_shell(one)).count();
    let messages = counted((pending.len() - shells) as u64, "message");
    let commands = counted(shells as u64, "command");
    match shells {
        0 => (messages, "delivered"),
        _ if shells == pending.len() => (format!("{commands} of your own"), "run"),
        _ => (
            format!("{messages} and {commands} of your own"),
            "delivered or run",
        ),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The first `count` messages, each settled.
    fn settled(count: usize) -> Queue {
        let mut queue = Queue::default();
        for n in 0..count {
            let (id, text) = (n.to_string(), "x".to_string());
            queue.pending.push_back(Pending {
                id: id.clone(),
                way: Way::Queue,
                text,
            });
            queue.settle(&id, true);
        }
        queue
    }

    #[test]
    fn the_oldest_of_more_than_a_thousand_is_forgotten() {
        let consumed = Ok(Some((Way::Queue, InputState::Consumed)));
        assert_eq!(settled(1_000).look("0", Way::Queue, "x"), consumed);
        let queue = settled(1_001);
        assert_eq!(queue.look("0", Way::Queue, "x"), Ok(None));
        assert_eq!(queue.look("1", Way::Queue, "x"), consumed);
    }
}
