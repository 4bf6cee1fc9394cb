//! What crossed a boundary, as a value of its own: the tap is called on the threads at work, the demo prints on its own thread.

use crate::protocol::{Event, Message, Op, Stage, ToolOutcome};

/// An owned `Stage`.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Seen {
    /// 1
    Op(Op),
    /// 2
    Request(Vec<u8>),
    /// 3
    Wire(Vec<u8>),
    /// 3, decoded
    Body(Vec<u8>),
    /// 4
    Record(Vec<u8>),
    /// 5
    Reply(Message),
    /// 6
    Verdict(String),
    /// 6
    Outcome(ToolOutcome),
    /// 7
    Event(Event),
    /// An exchange begins: method and path.
    Begins(String),
    /// It ended.
    Ends,
}

impl From<&Stage<'_>> for Seen {
    fn from(stage: &Stage<'_>) -> Seen {
        match stage {
            Stage::Op(op) => Seen::Op((*op).clone()),
            Stage::RequestBytes(bytes) => Seen::Request(bytes.to_vec()),
            Stage::WireBytes(bytes) => Seen::Wire(bytes.to_vec()),
            Stage::BodyBytes(bytes) => Seen::Body(bytes.to_vec()),
            Stage::Record(bytes) => Seen::Record(bytes.to_vec()),
            Stage::Reply(message) => Seen::Reply((*message).clone()),
            Stage::Verdict(text) => Seen::Verdict((*text).to_string()),
            Stage::Outcome(outcome) => Seen::Outcome((*outcome).clone()),
            Stage::Event(event) => Seen::Event((*event).clone()),
            Stage::ExchangeBegins(what) => Seen::Begins((*what).to_string()),
            Stage::ExchangeEnds => Seen::Ends,
        }
    }
}
