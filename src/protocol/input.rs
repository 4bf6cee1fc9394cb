//! Messages of a person that come while a turn runs.
//!
//! ```text
//! Op::Steer { id: "a1", text: "use make" }    Accepted · the reply and all its calls are finished · User "use make" · Consumed
//! Op::Queue { id: "a2", text: "and the docs" } Accepted · the turn is over · a turn of its own · Consumed
//! Op::Drop { id: "a2" }                       Discarded
//! ```
//!
//! The id is the front end's. Invariant: one id is one message: it is never delivered twice, in this process or the next.

/// When a message is delivered.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Way {
    /// Before the next request, within the turn that runs.
    Steer,
    /// After the turn, as one of its own.
    Queue,
}

/// What became of a message.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum InputState {
    /// It is on record and will be delivered.
    Accepted,
    /// It is in the saved history, not yet answered.
    Consumed,
    /// It was dropped.
    Discarded,
    /// It was not taken.
    Refused {
        /// What is wrong and what to do.
        reason: String,
    },
}

/// A message that waits.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Pending {
    /// The front end's.
    pub id: String,
    /// When it is delivered.
    pub way: Way,
    /// The person's words.
    pub text: String,
}
