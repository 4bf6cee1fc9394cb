//! A request of the person's within a session, found again: to begin anew before it, with its text.
//!
//! ```text
//! 4 Title   5 TurnStarted 1   6 User "make the test pass"   …   13 TurnStarted 2   14 User "try again"   …
//!
//! request 2, or the last one     text "try again"     a session that begins anew before it ends with record 12
//! ```
//!
//! Turns without a request (a command of the person's own, a goal that is resumed) are passed over. A message that was said while an earlier
//! turn ran, and waited, is settled in the session that begins anew: its text is given back, and must not wait there as well.
//!
//! Refused: a number that no request has.
//!
//! Invariant: the session that the request comes from is only read.
//!
//! Read next: `store.rs`, for `fork`.

use super::forward::{Forward, Passed};
use super::log::Log;
use super::record::Record;
use crate::protocol::{Goal, Message, TurnId};
use std::io;

/// What was asked, and where.
#[derive(Clone, Debug, PartialEq)]
pub struct Request {
    /// Its turn.
    pub turn: TurnId,
    /// The last record before it.
    pub before: u64,
    /// Word for word, as the model got it.
    pub text: String,
    /// The goal that was set with it.
    pub goal: Option<Goal>,
    /// The message that waited, if it was one.
    waited: Option<String>,
}

impl Request {
    /// Finds the one of this turn; `None`: the last. `Err`: there is none, and the last turn's number.
    pub fn find(
        forward: &mut Forward,
        turn: Option<TurnId>,
    ) -> io::Result<Result<Request, TurnId>> {
        let (mut found, mut begun, mut last) = (None::<Request>, None, TurnId(0));
        while let Some(passed) = forward.next()? {
            let Passed::Record(entry) = passed else {
                continue;
            };
            let seq = entry.seq;
            match entry.record {
                Record::TurnStarted { turn: number, .. } => {
                    last = TurnId(last.0.max(number.0));
                    let wanted = turn.is_none_or(|turn| turn == number);
                    begun = wanted.then_some((number, seq));
                }
                Record::Message(Message::User { text }) => {
                    if let Some((turn, at)) = begun.filter(|(_, at)| seq == at + 1) {
                        found = Some(Request {
                            turn,
                            // The header stands before the first turn.
                            before: at.saturating_sub(1),
                            text,
                            goal: None,
                            waited: None,
                        });
                    }
                }
                Record::Settled { id, consumed: true } => {
                    if let Some(request) = right_before(&mut found, seq) {
                        request.waited = Some(id);
                    }
                }
                Record::Goal(goal) => {
                    if let Some(request) = right_before(&mut found, seq) {
                        request.goal = Some(goal);
                    }
                }
                _ => {}
            }
        }
        Ok(found.ok_or(last))
    }

    /// In a session that begins anew before it: it waits no longer.
    pub(super) fn settle(&self, log: &mut Log) {
        if let Some(id) = self.waited.clone() {
            let consumed = true;
            log.append(Record::Settled { id, consumed });
        }
    }
}

/// The request, if this record follows it: of another turn, it says nothing of this one.
fn right_before(found: &mut Option<Request>, seq: u64) -> Option<&mut Request> {
    found.as_mut().filter(|request| seq == request.before + 3)
}
