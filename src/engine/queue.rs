//! Messages that wait, and what became of the earlier ones. In: what a person says while a turn runs. Out: messages at the right moment, each
//! once. The engine's part stands below: what it takes is on the disk before it says so.
//!
//! ```text
//! Steer a1, Queue a2       Record::Accepted a1, a2                    committed, then told
//! … before a request …     Message::User (a1), Record::Settled a1     one commit, then told: consumed
//! … the turn is over …     TurnStarted, Message::User (a2), Record::Settled a2
//! ```
//!
//! The same id with the same text again is answered with what became of it; with another text it is refused. A steer that comes too late for the
//! turn begins one. A cancel stops the turn alone. A turn that could not begin, or ended because of server, session or a limit, would only lose
//! the next message too: the others are held until somebody says `Op::Deliver`, or something new while nothing runs. So are those of a session
//! that is opened.
//!
//! Limits: [`MAX_PENDING`] waiting, [`MAX_BYTES`] each, ids up to [`MAX_ID`] bytes, the last [`MAX_RECEIPTS`] remembered.
//!
//! Invariant: a message is in the history and settled in the same commit, so no crash delivers it twice or loses it.
//!
//! Read next: `turn`.
use super::turn::Engine;
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
                _ => {}
            }
        }
        queue.held = !queue.pending.is_empty();
        queue
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
    fn look(&self, id: &str, text: &str) -> Result<Option<(Way, InputState)>, String> {
        if let Some((known, state)) = self.known(id) {
            return match known.text == text {
                true => Ok(Some((known.way, state))),
                false => Err("another message has this id".to_string()),
            };
        }
        if id.is_empty() || id.len() > MAX_ID {
            return Err(format!("an id has 1 to {MAX_ID} bytes"));
        }
        if text.trim().is_empty() {
            return Err("the message is empty".to_string());
        }
        if text.len() > MAX_BYTES {
            return Err(format!(
                "the message has {} bytes and may have {}; put it into a file and name that",
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
        self.settled.push_back((pending.clone(), consumed));
        if self.settled.len() + self.pending.len() > MAX_RECEIPTS {
            self.settled.pop_front();
        }
        Some(pending)
    }

    /// What a turn should begin with: what came too late for the last one, then the rest in order.
    pub(super) fn next(&self) -> Option<&Pending> {
        let mut steers = self.pending.iter().filter(|p| p.way == Way::Steer);
        let next = steers.next().or(self.pending.front());
        next.filter(|_| !self.held)
    }

    /// All that will be delivered before what comes now.
    pub(super) fn waiting_ids(&self) -> Vec<String> {
        match self.held {
            true => Vec::new(),
            false => self.pending.iter().map(|one| one.id.clone()).collect(),
        }
    }

    /// Whether one waits.
    pub(super) fn waits(&self, id: &str) -> bool {
        self.pending.iter().any(|pending| pending.id == id)
    }
}

impl Engine {
    /// Takes a message. `idle`: no turn runs.
    pub(super) fn take_input(&mut self, id: String, way: Way, text: String, idle: bool) {
        let way = match self.shell_waits() {
            true => Way::Queue,
            false => way,
        };
        let (way, state) = match self.queue.look(&id, &text) {
            Ok(Some(known)) => known,
            Ok(None) => {
                let pending = Pending {
                    id: id.clone(),
                    way,
                    text,
                };
                self.queue.pending.push_back(pending.clone());
                self.record(Record::Accepted(pending));
                match self.keep() {
                    Ok(()) => {
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

    /// Takes one back that waits.
    pub(super) fn drop_input(&mut self, id: String) {
        if let Some(pending) = self.queue.settle(&id, false) {
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
                let reason = "no message has this id".to_string();
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

    /// The history is saved.
    pub(super) fn tell_consumed(&mut self) {
        for (id, way) in std::mem::take(&mut self.queue.delivered) {
            let state = InputState::Consumed;
            self.emit(Event::Input { id, way, state });
        }
    }

    /// The session was opened with messages that wait.
    pub(super) fn say_held(&self) {
        if self.queue.held {
            let waiting = counted(self.queue.pending.len() as u64, "message");
            let text = format!("{waiting} of an earlier run: kept, and not delivered by itself");
            self.notice(Level::Info, text);
        }
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
        if (stays || !begun) && !self.queue.pending.is_empty() && !self.queue.held {
            self.queue.held = true;
            let waiting = counted(self.queue.pending.len() as u64, "message");
            let text = format!(
                "{waiting} that came meanwhile: kept, and not delivered by itself after this"
            );
            self.notice(Level::Warning, text);
        }
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
        assert_eq!(settled(1_000).look("0", "x"), consumed);
        let queue = settled(1_001);
        assert_eq!(queue.look("0", "x"), Ok(None));
        assert_eq!(queue.look("1", "x"), consumed);
    }
}
