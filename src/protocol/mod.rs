//! The vocabulary between the engine and its front ends: plain data that both sides name alike. `Op`s go in, `Event`s come out;
//! messages, calls and outcomes are what they speak of. Terminal, headless, remote and editor front ends all use these types and
//! no others, so whoever shows a turn never touches the conversation, the files or the sockets behind it.
//!
//! ```text
//! Op::Prompt { text: "run the test" }                         front end → engine
//! Event::TurnStarted { turn: 1 }                              engine → front end
//! Event::RequestSent { request: 1, bytes: 3812, … }
//! Event::Content { request: 1, text: "I run it." }
//! Event::Replied { request: 1, usage, stop: Stop, … }
//! Event::CallStarted { call: run_command {"command":"sh test.sh"} }
//! Event::Asked { ask: 1, question: Command { "sh test.sh" } }
//! Op::Decide { ask: 1, decision: Once }                       front end → engine
//! Event::Decided { ask: 1, decision: Once, by: Person }
//! Event::CallEnded { outcome: Ok, "exit status 0 …" }
//! … Event::TurnEnded { turn: 1, receipt }
//! ```
//!
//! Nothing is parsed or refused here and there are no limits: what makes a value bounds it.
//!
//! Invariant: no behavior, no I/O, no wire form; a front end that needs JSON translates by hand at its own edge. Invariant: `Op` and
//! `Event` are closed: who matches on them lists every variant, so a new one breaks the build where it matters. Invariant: strings are
//! foreign text unless a field says otherwise; whoever shows them passes them through `text` first.
//!
//! Read next: `event.rs` for the order of events, then `engine`.
mod call;
mod cut;
mod event;
mod goal;
mod ids;
mod input;
mod journal;
mod message;
mod op;
mod tap;
pub use call::{Facts, ToolCall, ToolOutcome, ToolStatus};
pub use cut::{Cut, Doing, Halt};
pub use event::{
    CommandRun, ContextReport, ContextRow, Counted, DecidedBy, Event, FileChange, Level, Part,
    Receipt, Status, StepReport, Waiting,
};
pub use goal::{Goal, GoalOp, GoalState, Opinion};
pub use ids::{AskId, CallId, RequestId, TurnId};
pub use input::{InputState, Pending, Way};
pub use journal::{JournalRecord, Span};
pub use message::{Message, Note, StopReason, Usage};
pub use op::{Act, CommandPart, Decision, Offers, Op, Question, Step};
pub use tap::{Stage, Tap};
