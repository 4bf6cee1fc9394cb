//! Ids. The engine numbers turns, requests and questions from 1; within a process they only grow, and news that names one which is
//! no longer current is dropped. Calls keep the name they have on the wire.
//!
//! Invariant: an id is never used again within a process.

/// One turn: a prompt and all that it led to.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct TurnId(pub u64);

/// One model request. A resend of the same bytes keeps its id.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct RequestId(pub u64);

/// One question to the user.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct AskId(pub u64);

/// One tool call, as the wire names it (`call_x1y2z3a4`); unique within a reply.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct CallId(pub String);
