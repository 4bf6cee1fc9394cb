//! The agent. A prompt goes in as `Op::Prompt`; the engine asks the model, runs the tools it calls for, tells every step as `Event`, and
//! ends the turn with a receipt. Front ends hold a `Submit` and receive events; nothing else of the engine is visible to them.
//!
//! ```text
//! front end ── Op ──▶ inbox ──▶ engine thread ── Event ──▶ front end
//!                      ▲  ▲          │ starts
//!           reply, text│  │output    ├──▶ worker "model"    one chat: connect, send, stream, assemble
//!                      └──┴──────────┴──▶ worker "command"  one child: run, read, end
//! ```
//!
//! One thread owns conversation, log, tools, policy and every decision; it has one inbox and no locks. Workers are given what they need,
//! report by id, and can be given up at any time: what they say later is dropped.
//!
//! A turn ends by the model's answer, by `finish_task`, by a failure, a limit, a missing approval or a cancel; `protocol::Status` lists
//! them. Bounds: two notes about unreadable calls, one about an empty or a cut reply, a note after three equal steps and a question after
//! five, `--max-turns`, `--max-seconds`, the window.
//!
//! Invariant: nothing is acted on that is not in the log. Invariant: whatever ends a turn, the history stays valid: every call of an
//! accepted reply has exactly one result, in order. Invariant: within a session a request without its closing brackets is a byte prefix
//! of the next one, but for what `conversation` names.
//!
//! Read next: `turn` (the loop), `save` (what is safe when), `wait` (the inbox), `call` and `permit` (from call to result), `decide` and
//! `failure` (what a reply or its absence means), `compact` (a conversation longer than the window), `goal` and
//! `verify` (work until somebody else agrees), `queue` (what comes
//! meanwhile), `shell` (the user's own commands), `opening` (what happens once), `guide`
//! (what files tell), `prompt` (our words).
mod budget;
mod call;
mod compact;
mod context;
mod conversation;
mod decide;
mod discover;
mod failure;
mod goal;
mod guard;
mod guide;
mod meter;
mod opening;
mod permit;
mod prompt;
mod queue;
mod receipt;
mod review;
mod save;
mod shell;
mod turn;
mod verify;
mod wait;
mod worker;
use crate::guidance::Guidance;
use crate::model::{Backend, Options};
use crate::policy::{Policy, Profile};
use crate::protocol::{Event, GoalOp, Level, Op, Pending, Status, Tap};
use crate::session::Record;
use crate::sys::channel::{Sender, channel};
use crate::sys::{Cancel, thread};
use crate::tools::Toolbox;
pub use budget::Compaction;
pub use goal::goal_op;
use std::sync::Arc;
use std::time::Duration;
use worker::News;

/// Engine → front end. Called on the engine's thread: it must not block.
pub type Emit = Box<dyn Fn(Event) + Send>;

/// Front end → engine. When the last clone is dropped, the engine quits.
pub type Submit = Arc<dyn Fn(Op) + Send + Sync>;

/// Everything the engine is given.
pub struct Setup {
    /// The model server.
    pub backend: Backend,
    /// What the user set about server and model.
    pub model: Options,
    /// The workspace and its tools.
    pub toolbox: Toolbox,
    /// Who may do what.
    pub policy: Policy,
    /// Which agent: chooses the system prompt.
    pub profile: Profile,
    /// What files tell the model.
    pub guidance: Guidance,
    /// Bounds of a turn.
    pub limits: TurnLimits,
    /// When the conversation is shortened.
    pub compaction: Compaction,
    /// Where everything is recorded; empty.
    pub log: crate::session::Log,
    /// Who asks.
    pub author: crate::session::Author,
    /// What takes edits back, of the same session.
    pub journal: crate::undo::Journal,
    /// Watches every boundary.
    pub tap: Tap,
    /// Whether somebody can answer questions.
    pub interactive: bool,
    /// The flag that answers every question with a no, if there is one (`--deny-commands`): the model is told and goes on.
    pub refuses: Option<&'static str>,
    /// Only `finish_task` ends a turn.
    pub strict_finish: bool,
    /// No discovery: assumptions said.
    pub offline: bool,
}

/// Bounds of one turn.
#[derive(Clone, Copy, Debug, Default)]
pub struct TurnLimits {
    /// Model requests.
    pub max_turns: Option<u64>,
    /// From prompt to receipt, waiting for answers included.
    pub max_time: Option<Duration>,
}

/// Starts the engine thread. Without one (no memory for a stack) it fails as the system says.
pub fn spawn(setup: Setup, emit: Emit) -> std::io::Result<Submit> {
    let (sender, inbox) = channel();
    let line = Line(sender.clone());
    let run = move || turn::Engine::new(setup, emit, inbox, sender).run();
    thread::start("engine", Box::new(run))?;
    Ok(Arc::new(move |op| line.say(op)))
}

/// A front end's end of the inbox.
struct Line(Sender<News>);

impl Line {
    /// A closed inbox means that the engine has ended: it said `Closed`, so whoever speaks to it knows.
    fn say(&self, op: Op) {
        let _ = self.0.send(News::Op(op));
    }
}

impl Drop for Line {
    fn drop(&mut self) {
        self.say(Op::Quit);
    }
}

/// What waits in a session with these records: messages that are not in its history, commands that never began.
pub fn waiting(records: &[Record]) -> Vec<Pending> {
    queue::Queue::loaded(records).into_pending()
}

/// `--what-would-be-sent`: the exact next request for this prompt. Only the discovery talks to the server (with `offline` nothing does);
/// `notice` gets what it found and what had to be assumed. `Err` says why there is no request.
pub fn preview(setup: Setup, prompt: Op, notice: &mut dyn FnMut(Event)) -> Result<Vec<u8>, Status> {
    let (text, attachment, note) = match prompt {
        Op::Prompt { text, attachment } => (text, attachment, None),
        Op::Goal(GoalOp::Set { objective, .. }) => (objective, None, Some(goal::setting())),
        _ => {
            let reason = "only a prompt or a new goal can be previewed".to_string();
            return Err(Status::Unusable { reason });
        }
    };
    let cancel = Cancel::new().map_err(|error| Status::Unusable {
        reason: format!("no pipe for cancelling: {error}"),
    })?;
    let found = discover::discover(&setup.backend, &setup.model, setup.offline, &cancel)?;
    let plan = discover::plan(&found, &setup.model);
    notice(opening::model_event(&found, &setup.model));
    for (level, text) in &plan.notices {
        let (level, text) = (*level, text.clone());
        notice(Event::Notice { level, text });
    }
    if let Some(host) = found.forwarded_to() {
        let model = &found.model;
        let text = format!("{model} does not run here: the server forwards every prompt to {host}");
        let level = Level::Warning;
        notice(Event::Notice { level, text });
    }
    let limit = prompt::attachment_limit(plan.shape.window);
    if let Some(text) = prompt::cut_notice(attachment.as_deref(), limit) {
        let level = Level::Warning;
        notice(Event::Notice { level, text });
    }
    let mut guidance = setup.guidance;
    let (addition, notices) = guide::fit(&mut guidance, plan.shape.window, setup.log.records());
    let (mut notes, more) = guide::mentioned(&mut guidance, &text);
    notes.extend(note);
    for (level, text) in notices.into_iter().chain(more) {
        notice(Event::Notice { level, text });
    }
    let mut conversation = opening::open_conversation(
        setup.log,
        &setup.backend,
        setup.model.target.endpoint().to_string(),
        plan,
        setup.profile,
        addition,
        &setup.toolbox,
    );
    notes.into_iter().for_each(|note| conversation.append(note));
    conversation.append(prompt::user(&text, attachment.as_deref(), limit));
    conversation.write();
    let mut budget = budget::Budget::new(setup.compaction);
    budget.goes_on(conversation.log.records());
    if budget.is_due(conversation.tokens(), conversation.window) {
        let text = "this request would be shortened before it is sent: the model would be asked for a checkpoint first".to_string();
        let level = Level::Warning;
        notice(Event::Notice { level, text });
    }
    notice(Event::Context(context::report(&conversation, &budget)));
    Ok(conversation.body().slices().concat())
}
