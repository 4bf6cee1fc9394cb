//! `zcoder --continue -p /retry`: the last request of a session again. A new session begins as that one did before the request, and the same
//! text is sent there; what came of the first try stays in its own session, as it is.
//!
//! ```text
//! $ zcoder --continue -p /retry
//! retry     request 2 of 20260821-090000123-x1y2z3a4 again, in session 20260822-081500000-b5c6d7e8; what the first try changed in files
//!           stays, `zcoder undo 20260821-090000123-x1y2z3a4 --turn 2` takes it back
//! $ zcoder --continue -p '/retry --undo'
//! undo turn 2 (now make it fast)                          listed, and taken back after a yes
//!   src/a.rs +1 -1
//! ```
//!
//! It is `zcoder sessions fork --at N` and a prompt in one. A goal that was set is set again; commands of the person's own and a goal that
//! was resumed are no requests, and passed over.
//!
//! Refused: anything else behind `/retry`; without `--continue` or `--resume`; a session without a request. Then nothing was made or changed.
//!
//! Invariant: the new session is made by its first commit: a server that cannot be used leaves none behind.
//! Invariant: with `--what-would-be-sent` no file is changed.
//!
//! Read next: `session::Request`; `undo.rs`, for what is taken back.

use super::undo;
use crate::config::{Settings, Typed, UsageError};
use crate::headless::out::{exit, note};
use crate::protocol::{GoalOp, Op};
use crate::session::{Request, SessionId};
use crate::text;

/// `/retry`, as typed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Retry {
    /// File changes of the first try are taken back.
    undo: bool,
}

impl Retry {
    /// `None`: the prompt is something else.
    pub(super) fn of(prompt: &str) -> Option<Result<Retry, UsageError>> {
        let rest = prompt.trim().strip_prefix("/retry")?;
        if rest.starts_with(|c: char| !c.is_whitespace()) {
            return None;
        }
        let undo = match rest.trim() {
            "" => false,
            "--undo" => true,
            other => {
                let other = text::visible(other);
                let cause = format!(
                    "`/retry` does not take `{other}`: it sends the last request as it was; with --undo its file changes are taken back first"
                );
                return Some(Err(UsageError::Slash { cause }));
            }
        };
        Some(Ok(Retry { undo }))
    }
}

/// What is asked again.
#[derive(Debug)]
pub(super) struct Again {
    pub(super) retry: Retry,
    /// The session it was asked in.
    pub(super) of: SessionId,
    pub(super) request: Request,
    /// The one it goes to.
    pub(super) to: SessionId,
}

impl Again {
    /// Says so, and takes back what is to be taken back; the exit code if it is not to be gone on.
    pub(super) fn prepare(&self, typed: &Typed, settings: &Settings) -> Result<u8, UsageError> {
        let (of, turn) = (&self.of.0, self.request.turn.0);
        let session = undo::Session::of(typed, of)?;
        let mut stays = String::new();
        match (settings.preview, self.retry.undo) {
            (true, _) => {}
            (false, true) => {
                let code = session.take_back(typed, turn);
                if code != exit::DONE {
                    return Ok(code);
                }
            }
            (false, false) => {
                let turns = session.edited(turn);
                let turns: Vec<String> = turns.iter().map(u64::to_string).collect();
                if !turns.is_empty() {
                    let turns = turns.join("`, then `--turn ");
                    stays = format!(
                        "; what the first try changed in files stays, `zcoder undo {of} --turn {turns}` takes it back"
                    );
                }
            }
        }
        if !settings.quiet {
            note(&format!(
                "retry     request {turn} of {of} again, in session {}{stays}",
                self.to.0
            ));
        }
        Ok(exit::DONE)
    }

    /// The same wish.
    pub(super) fn op(self) -> Op {
        let Request { text, goal, .. } = self.request;
        match goal {
            None => Op::Prompt {
                text,
                attachment: None,
            },
            Some(goal) => Op::Goal(GoalOp::Set {
                objective: text,
                tokens: goal.limit,
            }),
        }
    }
}
