//! A tap watches every boundary of a turn and costs one branch when off. The debug log, `--record`, and the demo's steps are its users.
//!
//! ```text
//! 1 Op   2 RequestBytes   3 WireBytes, BodyBytes   4 Record   5 Reply   6 Verdict, Outcome   7 Event
//! ```
//!
//! Invariant: a tap sees and cannot change. Invariant: it is called on the thread that works at the boundary, so it must not block for long
//! (the demo's `--step` does so on purpose).
use std::sync::Arc;

/// The boundary and what crosses it (the seven stages of a turn).
#[derive(Debug)]
pub enum Stage<'a> {
    /// 1: an `Op` reached the engine.
    Op(&'a super::Op),
    /// 2: request bytes as written to the socket.
    RequestBytes(&'a [u8]),
    /// 3: bytes as read from the socket.
    WireBytes(&'a [u8]),
    /// 3: body bytes after chunk decoding.
    BodyBytes(&'a [u8]),
    /// 4: one record.
    Record(&'a [u8]),
    /// 5: the complete reply (already recorded).
    Reply(&'a super::Message),
    /// 6: a call after check and policy, in words ("run_command: allowed by --yes").
    Verdict(&'a str),
    /// 6: what came of it.
    Outcome(&'a super::ToolOutcome),
    /// 7: an event.
    Event(&'a super::Event),
    /// An exchange began: method and path.
    ExchangeBegins(&'a str),
    /// The exchange ended, well or not.
    ExchangeEnds,
}

/// Called on whichever thread works at the boundary.
type Watcher = dyn Fn(&Stage<'_>) + Send + Sync;

/// The watcher, if any. Clones share it.
#[derive(Clone, Default)]
pub struct Tap(pub Option<Arc<Watcher>>);

impl Tap {
    /// Calls the watcher, if any.
    pub fn see(&self, stage: &Stage<'_>) {
        if let Some(watch) = &self.0 {
            watch(stage);
        }
    }

    /// Whether somebody watches: ask before building what only a watcher needs.
    pub fn is_on(&self) -> bool {
        self.0.is_some()
    }
}

impl std::fmt::Debug for Tap {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(if self.is_on() { "Tap(on)" } else { "Tap(off)" })
    }
}
