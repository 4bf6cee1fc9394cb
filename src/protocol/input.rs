//! Messages of a person that come while a turn runs.
//!
//! ```text
//! Op::Steer { id: "a1", text: "use make" }    Accepted · the reply and all its calls are finished · User "use make" · Consumed
//! Op::Queue { id: "a2", text: "and the docs" } Accepted · the turn is over · a turn of its own · Consumed
//! Op::Shell { id: "a3", command: "make" }      Accepted · the turn is over · Consumed: it is on record that it begins · it runs
//! Op::Drop { id: "a2" }                       Discarded
//! ```
//!
//! The id is the front end's. Invariant: one id is one message, or one command: it is never delivered or begun twice, in this process or
//! the next.

/// When a message is delivered.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Way {
    /// Before the next request, within the turn that runs.
    Steer,
    /// After the turn, as one of its own.
    Queue,
    /// Not to the model: a command of the person's own, which runs after the turn.
    Shell {
        /// Whether the model hears of it.
        in_context: bool,
    },
}

/// What became of a message.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum InputState {
    /// It is on record and will be delivered.
    Accepted,
    /// It is in the saved history, not yet answered; of a command, that it begins.
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
    /// The person's words; the command, without `!`.
    pub text: String,
}
