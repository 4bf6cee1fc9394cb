//! What a front end asks of the engine.
//!
//! Invariant: sending an `Op` never blocks and never fails visibly; one that comes at the wrong time (a cancel while nothing runs, an
//! answer to a question that is no longer open) is dropped.
use super::{AskId, GoalOp, Halt, TurnId};

/// One wish.
#[derive(Clone, Debug, PartialEq)]
pub enum Op {
    /// A new user turn. One that comes while a turn runs waits until that has ended.
    Prompt {
        /// What the person typed.
        text: String,
        /// Text from a pipe; the engine bounds and labels it.
        attachment: Option<String>,
    },
    /// Stop the current operation.
    Cancel,
    /// The answer to a question.
    Decide {
        /// Which question.
        ask: AskId,
        /// The answer.
        decision: Decision,
    },
    /// A step back or forth in what this session did to files. Between turns only: while one runs, a notice is all that comes of it.
    Step {
        /// Which.
        step: Step,
        /// How far to go.
        act: Act,
    },
    /// What did this session change? Answered by `Event::Reviewed`.
    Review,
    /// What does the next request hold, and what does it cost? Answered at once by `Event::Context`.
    Context,
    /// Shorten the conversation for the model: now, or while a turn runs before its next request.
    Compact,
    /// A message for the turn that runs: delivered before its next request. Answered by `Event::Input`, as the next three are.
    Steer {
        /// The front end's, never used for another message.
        id: String,
        /// What the person typed.
        text: String,
    },
    /// A message for after the turn.
    Queue {
        /// The front end's, never used for another message.
        id: String,
        /// What the person typed.
        text: String,
    },
    /// A command of the person's own, which nobody else has to approve. While a turn runs it waits for its end.
    Shell {
        /// The front end's, never used for another command or message.
        id: String,
        /// For `sh -c`.
        command: String,
        /// Whether the model hears of it.
        in_context: bool,
    },
    /// Take a message or a command back that still waits.
    Drop {
        /// Which.
        id: String,
    },
    /// What waits? Answered by `Event::Queued`.
    Queued,
    /// Go on with what is held, commands of an earlier run included.
    Deliver,
    /// About the goal.
    Goal(GoalOp),
    /// End the engine (cancels what runs).
    Quit,
    /// The same because of a signal: the record tells which.
    End(Halt),
}

/// An answer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Decision {
    /// Yes, this once.
    Once,
    /// Yes to exactly this for the rest of the session.
    Session,
    /// Yes to the rules that were shown, for the rest of the session.
    SessionRule,
    /// Yes to the rules that were shown, kept for this workspace.
    KeptRule,
    /// No; the reason goes to the model.
    Deny {
        /// In the person's words.
        reason: Option<String>,
    },
    /// No, and nobody could be asked: the run ends with exit code 4.
    Nobody,
}

/// A step back or forth.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Step {
    /// Take back what a turn changed.
    Undo {
        /// `None`: the last one that is not taken back.
        turn: Option<TurnId>,
    },
    /// Make again what was taken back last.
    Redo,
    /// Bring a file back to what it was when the session began.
    Revert {
        /// Relative to the workspace.
        path: String,
        /// Only this hunk of its difference, from 1.
        hunk: Option<usize>,
    },
}

/// How far a step goes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Act {
    /// Say what would change.
    Show,
    /// Change it, unless somebody else changed a file since.
    Make,
    /// Change it also then, and keep a copy of such files.
    Force,
}

/// What is asked, exactly as it must be shown (already made visible: no raw control characters).
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Question {
    /// Run this command?
    Command {
        /// The whole text.
        command: String,
        /// Where, relative to the workspace.
        cwd: String,
        /// When it is ended at the latest.
        timeout_seconds: u64,
        /// Words put before it by the user's own setting.
        wrapper: Vec<String>,
        /// Its simple commands, and what the rules say to each.
        parts: Vec<CommandPart>,
        /// Why it asks beyond that: what was not understood, rules that say so.
        reasons: Vec<String>,
        /// What deserves attention ("runs a file that the model changed").
        notes: Vec<String>,
        /// What a yes may hold for.
        offers: Offers,
    },
    /// Make this change?
    Edit {
        /// Relative to the workspace.
        path: String,
        /// The exact change as unified diff text.
        diff: String,
        /// What deserves attention ("a shell start-up file").
        notes: Vec<String>,
    },
    /// The model loops: go on?
    Loop {
        /// What it repeats and how often.
        description: String,
    },
    /// The model is forwarded to another host: send?
    Cloud {
        /// The model's name.
        model: String,
        /// Where the server says it forwards to.
        remote_host: String,
    },
}

/// A simple command within a command.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CommandPart {
    /// As it stands in the command.
    pub text: String,
    /// Which rule allows it, why none is needed, or what is missing.
    pub ruling: String,
}

/// What a yes to a command may hold for beyond this once.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Offers {
    /// `Decision::Session` is one of the answers.
    pub exact: bool,
    /// `Decision::SessionRule` is one of the answers.
    pub session: bool,
    /// `Decision::KeptRule` is one of the answers.
    pub keep: bool,
    /// The lines that would be kept, exactly.
    pub rules: Vec<String>,
}
