//! Goals: an objective that the model works for until somebody else agrees that it is met.
//!
//! ```text
//! /goal --tokens 200000 make the tests pass   Op::Goal(Set)     → Event::Goal { state: Running }
//!   the model says done                                        → Verifying, requests and calls of the verifier, Verified { accepted: false }
//!   the model goes on, says done                               → Verifying …, Verified { accepted: true }
//!                                                              → Event::Goal { state: Met }, TurnEnded
//! ```
//!
//! Invariant: a goal runs only within a turn; between turns it is paused or met.

/// What a person wants of the goal.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum GoalOp {
    /// A new one, in place of the one before; the turn for it begins.
    Set {
        /// As typed.
        objective: String,
        /// It stops when requests and replies for it come to so many.
        tokens: Option<u64>,
    },
    /// How is it? Answered by `Event::Goal`, as all of these are.
    Status,
    /// Stop the work for it, and keep it.
    Pause,
    /// Go on with it.
    Resume,
    /// Forget it.
    Clear,
}

/// An objective and how far it is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Goal {
    /// In the person's words.
    pub objective: String,
    /// The limit.
    pub limit: Option<u64>,
    /// Tokens so far, in and out, those of the verifier included.
    pub tokens: u64,
    /// Times that the verifier did not agree, since it was set or resumed.
    pub rejections: u64,
    /// Whether it runs.
    pub state: GoalState,
    /// Why it is paused, or by what it is met; empty while it runs.
    pub reason: String,
    /// What the verifier missed last; empty when it did not.
    pub feedback: String,
}

/// Whether a goal runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum GoalState {
    /// A turn works for it.
    Running,
    /// It can be resumed.
    Paused,
    /// The verifier agreed.
    Met,
    /// It is forgotten.
    Cleared,
}

/// What the verifier says.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Opinion {
    /// Whether the goal is met.
    pub accepted: bool,
    /// Why.
    pub reason: String,
    /// What to do next; may be empty.
    pub next: String,
    /// What would show that the goal is met and was not found.
    pub missing: Vec<String>,
}
