//! What the engine tells, and in which order.
//!
//! ```text
//! TurnStarted
//! │ first prompt only: Notice* Model [Asked Decided]          model and window are known; a cloud model is asked about
//! │ before a request:  [Compacting, requests for the checkpoint, Compacted or CompactionFailed]
//! │ each request:      RequestSent Waiting* (Thinking|Content)*  then  Replied  or  Discarded
//! │   each call:       CallStarted [Asked] [Decided] Output* CallEnded
//! │   each command:    … CallEnded [Touched]
//! │ for a goal:        Goal, then for each time the model says done: Verifying, requests and calls of the verifier, Verified
//! │ anywhere:          Notice, Saved
//! TurnEnded
//! between turns: Stepped, Reviewed, each the answer to an `Op`, or a Notice that says why not; Compacting … as above
//! at any time:   Input (again when it is delivered); Context, Goal, Queued, each the answer to an `Op`
//! … further turns …
//! Closed
//! ```
//!
//! Invariant: `TurnStarted` and `TurnEnded` come in pairs, `CallStarted` and `CallEnded` too. Invariant: every request that was begun ends
//! in `Replied` or `Discarded`; after a `Discarded` the text shown for that request is partial and was not acted on. Invariant: calls
//! follow only after `Replied`. Invariant: every `Compacting` ends in `Compacted` or `CompactionFailed`; what the model says between them
//! is no answer, and no call in it is taken up. Invariant: nothing follows `Closed`.
use super::{
    AskId, CallId, Cut, Decision, Goal, InputState, Opinion, Pending, Question, RequestId,
    StopReason, ToolCall, ToolOutcome, TurnId, Usage, Way,
};
use std::sync::Arc;
use std::time::Duration;

/// One piece of news, in order.
#[derive(Clone, Debug, PartialEq)]
pub enum Event {
    /// Which model and window were chosen; once, before the first request.
    Model {
        /// As the server names it.
        name: String,
        /// Why this one ("named by --model").
        why: String,
        /// Of the server.
        address: String,
        /// In tokens.
        window: u64,
        /// Why this size ("loaded with 32,768").
        window_why: String,
    },
    /// A sentence of our own.
    Notice {
        /// Its weight.
        level: Level,
        /// What happened, on what, what to do next.
        text: String,
    },
    /// A prompt was taken up.
    TurnStarted {
        /// Which turn.
        turn: TurnId,
    },
    /// A request's bytes left. Comes again for a resend.
    RequestSent {
        /// Which request.
        request: RequestId,
        /// Of the body.
        bytes: u64,
        /// Our guess of the prompt's size.
        estimated_tokens: u64,
    },
    /// What is known while nothing comes.
    Waiting {
        /// Which request.
        request: RequestId,
        /// What is known.
        waiting: Waiting,
    },
    /// A piece of thinking.
    Thinking {
        /// Which request.
        request: RequestId,
        /// To append to what came before.
        text: String,
    },
    /// A piece of the answer.
    Content {
        /// Which request.
        request: RequestId,
        /// To append to what came before.
        text: String,
    },
    /// The reply is complete and recorded.
    Replied {
        /// Which request.
        request: RequestId,
        /// What it cost.
        usage: Usage,
        /// Why it ended.
        stop: StopReason,
        /// Calls were found in its text.
        recovered: bool,
    },
    /// What was shown of the reply is partial and will not be used. A resend may follow under the same id.
    Discarded {
        /// Which request.
        request: RequestId,
        /// Why.
        reason: String,
    },
    /// A call is taken up.
    CallStarted {
        /// As the model made it.
        call: ToolCall,
        /// One line: `read_file src/main.rs`.
        summary: String,
    },
    /// A question is open: the turn waits for `Op::Decide`.
    Asked {
        /// To be named in the answer.
        ask: AskId,
        /// The call it is about; `None` for questions of the engine's own.
        call: Option<CallId>,
        /// Exactly as it must be shown.
        question: Question,
    },
    /// Something was decided, with or without a question.
    Decided {
        /// The question, if one was asked.
        ask: Option<AskId>,
        /// The call it is about.
        call: Option<CallId>,
        /// What.
        decision: Decision,
        /// By whom.
        by: DecidedBy,
    },
    /// Live output of a running command (merged, at most every 50 ms).
    Output {
        /// Which call.
        call: CallId,
        /// To append to what came before.
        text: String,
    },
    /// A call's one result is recorded.
    CallEnded {
        /// Which call.
        call: CallId,
        /// The tool's name as the model wrote it.
        name: String,
        /// What came of it.
        outcome: ToolOutcome,
    },
    /// A command changed files that no tool of ours edited: there is no before-image of them.
    Touched {
        /// Which call.
        call: CallId,
        /// Some of them, relative to the workspace.
        files: Vec<String>,
        /// How many others.
        more: u64,
    },
    /// What a step back or forth would do, or did.
    Stepped(StepReport),
    /// What the session changed in all.
    Reviewed {
        /// As a patch for `git apply`; bytes that are not UTF-8 are repaired in it.
        patch: String,
        /// The files in it.
        files: Vec<FileChange>,
        /// What is not in it, or not by the session.
        notes: Vec<String>,
    },
    /// What the next request holds.
    Context(ContextReport),
    /// The conversation is to be shortened: the model is asked for a checkpoint.
    Compacting {
        /// Tokens of the next request as it stands.
        tokens: u64,
        /// Of the model.
        window: u64,
    },
    /// The conversation was shortened for the model. What a person sees of it stays.
    Compacted {
        /// Tokens of the next request before.
        before: u64,
        /// And now.
        after: u64,
        /// Messages that the model sees no longer.
        left_out: u64,
        /// Which one it is in this session, from 1.
        count: u64,
    },
    /// The conversation stays as it is.
    CompactionFailed {
        /// Why.
        reason: String,
    },
    /// What happened until here is on the disk; no crash can take it back.
    Saved {
        /// The session's id.
        session: String,
        /// How many records it has.
        records: u64,
        /// SHA-256 of the last one, in hex.
        head: String,
    },
    /// What became of a message that came while a turn ran; also the answer when its id comes again.
    Input {
        /// The front end's.
        id: String,
        /// When it is delivered.
        way: Way,
        /// What became of it.
        state: InputState,
    },
    /// What waits.
    Queued {
        /// Nothing of it is delivered by itself.
        held: bool,
        /// In order of arrival.
        pending: Vec<Pending>,
    },
    /// The goal as it is now; `None`: there is none.
    Goal(Option<Goal>),
    /// The model says that the goal is met. A verifier looks; until `Verified` or the end of the turn requests and calls are its own.
    Verifying {
        /// From 1, since the goal was set or resumed.
        attempt: u64,
    },
    /// It has looked.
    Verified(Opinion),
    /// The turn is over.
    TurnEnded {
        /// Which turn.
        turn: TurnId,
        /// What it came to.
        receipt: Receipt,
    },
    /// The engine has ended; nothing follows.
    Closed,
}

/// Weight of a notice.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Level {
    /// Good to know.
    Info,
    /// The result may be worse than it could be.
    Warning,
    /// Something failed.
    Error,
}

/// Who decided.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum DecidedBy {
    /// Somebody answered the question.
    Person,
    /// A flag, named (`--yes`).
    Flag(String),
    /// A rule, quoted, or a built-in mode.
    Rule(String),
    /// An earlier answer "for this session".
    Session,
    /// There was nobody to ask.
    Nobody,
}

/// Why nothing comes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Waiting {
    /// No connection yet.
    Connecting,
    /// Not listed by `/api/ps`: loading, or queued behind another request.
    Loading {
        /// Since the request left.
        elapsed: Duration,
    },
    /// Listed: reading the prompt.
    Reading {
        /// Since the request left.
        elapsed: Duration,
        /// Our guess of what is new to the server.
        new_tokens: u64,
        /// From the last known speed.
        left: Option<Duration>,
    },
    /// Between two records.
    Generating {
        /// Since the last one.
        elapsed: Duration,
    },
    /// The server did not answer the second question: nothing known.
    Unknown {
        /// Since the request left.
        elapsed: Duration,
    },
    /// Waiting before a resend.
    Resending {
        /// Counted from 1.
        attempt: u32,
        /// Until it is sent.
        delay: Duration,
    },
}

/// How a turn ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Status {
    /// The model answered, or finished with `done`.
    Done,
    /// The model says that it cannot go on.
    Blocked,
    /// The model says that it failed, or gave no usable answer.
    Failed,
    /// The model server cannot be used or its reply stayed incomplete.
    ServerFailed {
        /// What happened and what to do next.
        reason: String,
    },
    /// Wrong usage or configuration found late (no model chosen ...).
    Unusable {
        /// What is wrong and what to do next.
        reason: String,
    },
    /// An approval was needed and nobody could answer.
    NeedsApproval {
        /// What was wanted (`run_command: sh test.sh`); the front end names the flag that allows it.
        what: String,
    },
    /// A limit was reached.
    Limit {
        /// Which one, with its value.
        which: String,
    },
    /// The session could not be saved, so nothing more was done.
    NotSaved {
        /// What happened and what to do next.
        reason: String,
    },
    /// The user stopped it.
    Cancelled,
}

/// What the turn came to.
#[derive(Clone, Debug, PartialEq)]
pub struct Receipt {
    /// How it ended.
    pub status: Status,
    /// Where and by what, if it was cancelled.
    pub cut: Option<Box<Cut>>,
    /// The model's last words as they came, blanks around them included; empty when it had none.
    pub answer: Arc<String>,
    /// One line: "model says done; last command failed: ctest (exit 8)".
    pub verdict: String,
    /// Each changed file once, in order of first change.
    pub files: Vec<FileChange>,
    /// Each command that ran, in order.
    pub commands: Vec<CommandRun>,
    /// Tool calls taken up.
    pub calls: u64,
    /// Model requests begun (resends not counted).
    pub requests: u64,
    /// From the prompt to here, waiting for answers included.
    pub elapsed: Duration,
    /// Sum over the requests, as far as the server said.
    pub prompt_tokens: u64,
    /// Sum over the requests, as far as the server said.
    pub output_tokens: u64,
    /// Time the server spent generating; with `output_tokens` the speed.
    pub output_time: Duration,
    /// What the server counted last: estimates of a session that goes on begin with it.
    pub counted: Option<Counted>,
}

/// The size of a request, twice.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Counted {
    /// Of its body.
    pub bytes: u64,
    /// Of its prompt, by the server's count.
    pub tokens: u64,
}

/// A changed file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FileChange {
    /// Relative to the workspace.
    pub path: String,
    /// Lines added; in a receipt summed over the turn's edits.
    pub added: u64,
    /// Lines removed; in a receipt summed over the turn's edits.
    pub removed: u64,
    /// Whether it is new.
    pub created: bool,
    /// Whether it is gone.
    pub deleted: bool,
    /// The right to execute afterwards, if that changes; a new file that has it counts.
    pub executable: Option<bool>,
}

/// A step back or forth in what a session did to files.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StepReport {
    /// `undo turn 3 (make the test pass)`
    pub what: String,
    /// What changes, file by file.
    pub changes: Vec<FileChange>,
    /// What stands in the way, a sentence each; by force it is gone over.
    pub conflicts: Vec<String>,
    /// What the step does not cover.
    pub notes: Vec<String>,
    /// Copies that were kept of files which force went over.
    pub copies: Vec<String>,
    /// False: it is only shown.
    pub made: bool,
}

/// What the next request holds, by our count; calibrated by the server's for the last one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ContextReport {
    /// In tokens.
    pub window: u64,
    /// Of the request's body.
    pub bytes: u64,
    /// Of the prompt: the sum of the rows.
    pub tokens: u64,
    /// What the server counted for the last request that this one goes on from.
    pub counted: Option<u64>,
    /// The conversation is shortened when it reaches so many tokens; `None`: not by itself.
    pub compacts_at: Option<u64>,
    /// How often it was shortened in this session.
    pub compactions: u64,
    /// In the order of the request, results by size.
    pub rows: Vec<ContextRow>,
}

/// A part of the request.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ContextRow {
    /// Which kind.
    pub part: Part,
    /// Of a result: what was called (`read_file src/main.rs`); else empty.
    pub what: String,
    /// In the body.
    pub bytes: u64,
    /// Its share of the tokens.
    pub tokens: u64,
}

/// Kinds of parts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Part {
    /// Model, window and other options: no tokens.
    Options,
    /// The tools, as schemas or described.
    Tools,
    /// The system prompt.
    System,
    /// What files tell: AGENTS.md.
    Guidance,
    /// The catalogue of Skills.
    Skills,
    /// Date and folder.
    Environment,
    /// Other notes of ours.
    Notes,
    /// What stands for messages that were left out.
    Checkpoint,
    /// What the person said.
    User,
    /// What the model said.
    Answers,
    /// What it thought.
    Thinking,
    /// What it called.
    Calls,
    /// What came of calls; one row for each file or command, the smaller ones together.
    Results,
}

/// A command that ran.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CommandRun {
    /// As approved.
    pub command: String,
    /// Exit code; `None` when a signal, the deadline or a cancel ended it.
    pub exit: Option<i32>,
    /// How long it ran.
    pub elapsed: Duration,
}
