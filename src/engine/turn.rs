//! The turn: a prompt in, events and a receipt out. The engine's thread runs this straight down; wherever it has to wait, it is in `wait`.
//!
//! ```text
//! loop {
//!     reply = ask the model            RequestSent … Replied        (recoveries: an unreadable call, thinking refused)
//!     append to log and request        on record before acted on
//!     decide(reply)                    Finish → the turn is over · Nudge → say what was wrong · Run → each call, in order
//! }
//! ```
//!
//! Limits: `--max-turns` model calls, `--max-seconds`, the window; each ends the turn with its name.
//!
//! Invariant: `Err(TurnEnd)` is the only way out of a turn, good or bad, so nothing is forgotten on the way: the history is valid, the
//! receipt is written, `TurnEnded` is told. Invariant: model calls are tool rounds plus one, plus the bounded recoveries.
//!
//! Read next: `wait`, `call`, `decide`.
use super::budget::Budget;
use super::call;
use super::conversation::Conversation;
use super::decide::{self, Step, Tries, TurnEnd};
use super::failure::{self, Remedy};
use super::goal;
use super::guard::Guard;
use super::guide;
use super::meter::Meter;
use super::prompt;
use super::queue::{self, Queue};
use super::receipt::Tally;
use super::worker::{Ask, ChatJob, JobId, News, Touched, Worker};
use super::{Emit, Setup, TurnLimits};
use crate::guidance::Guidance;
use crate::model::{self, Backend, Loaded, Options, Reply, ToolStyle};
use crate::policy::{Policy, Profile};
use crate::protocol::{
    AskId, Cut, Doing, Event, Goal, Halt, Level, Message, Note, Op, Pending, RequestId, Stage,
    Status, Tap, TurnId, Way,
};
use crate::session::{Author, Log, Record};
use crate::sys::Cancel;
use crate::sys::channel::{Receiver, Sender};
use crate::text::grouped;
use crate::tools::Toolbox;
use crate::undo::Journal;
use std::collections::VecDeque;
use std::convert::Infallible;
use std::sync::Arc;
use std::time::Instant;

/// `Err`: the turn is over, well or not.
pub(super) type Flow<T> = Result<T, TurnEnd>;

/// Unreadable calls in a row that are answered with a note; the next one ends the turn.
const MAX_UNREADABLE: u32 = 2;

/// The owner of all state.
pub(super) struct Engine {
    pub(super) backend: Backend,
    pub(super) options: Options,
    pub(super) toolbox: Toolbox,
    pub(super) policy: Policy,
    pub(super) profile: Profile,
    pub(super) guidance: Guidance,
    /// Guidance that edits of the present reply wait for.
    pub(super) nearer: Vec<guide::Pending>,
    limits: TurnLimits,
    pub(super) tap: Tap,
    pub(super) interactive: bool,
    pub(super) refuses: Option<&'static str>,
    strict_finish: bool,
    pub(super) offline: bool,
    emit: Emit,
    pub(super) inbox: Receiver<News>,
    pub(super) worker: Worker,
    /// What takes edits back.
    pub(super) journal: Journal,
    /// Whether to look what a command changes; false once it was too much.
    pub(super) looks: bool,
    /// What the last command changed.
    pub(super) touched: Touched,
    /// Until the first prompt has settled model and tools: an empty log.
    pub(super) fresh_log: Option<Log>,
    pub(super) conversation: Option<Conversation>,
    /// What came while a turn ran.
    pub(super) waiting: VecDeque<Task>,
    /// Messages and commands that wait.
    pub(super) queue: Queue,
    /// What the model works for, now or when it is resumed.
    pub(super) goal: Option<Goal>,
    /// The goal is to be forgotten when its turn has ended.
    pub(super) clear_goal: bool,
    pub(super) quitting: bool,
    pub(super) cpu_share_said: bool,
    /// When the conversation is shortened.
    pub(super) budget: Budget,
    /// Who asks.
    pub(super) author: Author,
    /// What the turn is at, should it be cut off.
    pub(super) doing: Doing,
    /// The turn whose request is on record.
    pub(super) on_record: Option<TurnId>,
    ids: Ids,
}

/// What a turn is for.
#[derive(Debug)]
pub(super) enum Task {
    Prompt {
        text: String,
        attachment: Option<String>,
    },
    Goal(goal::Start),
    /// A command of the person's own.
    Shell(Pending),
    /// A message that waited.
    Input {
        id: String,
        text: String,
    },
}

impl Task {
    /// Whether it is the command with this id.
    pub(super) fn is(&self, id: &str) -> bool {
        matches!(self, Task::Shell(shell) if shell.id == id)
    }
}

/// The last ids given out.
#[derive(Debug, Default)]
struct Ids {
    turn: u64,
    request: u64,
    ask: u64,
    job: u64,
}

/// State of one turn.
pub(super) struct Turn {
    pub(super) cancel: Cancel,
    pub(super) deadline: Option<Instant>,
    limits: TurnLimits,
    pub(super) tally: Tally,
    pub(super) guard: Guard,
    tries: Tries,
    unreadable: u32,
    pub(super) loop_note: Option<usize>,
    /// The reply that is being carried out repeats itself: its other calls are not run.
    pub(super) enough: bool,
    /// Requests for a checkpoint and of a verifier: they are not counted against `--max-turns`.
    pub(super) summaries: u64,
    /// The turn is for a goal.
    pub(super) goal: Option<goal::Run>,
}

impl Turn {
    /// One that only a cancel ends.
    pub(super) fn unlimited(cancel: Cancel, started: Instant) -> Turn {
        Turn {
            cancel,
            deadline: None,
            limits: TurnLimits::default(),
            tally: Tally::new(started),
            guard: Guard::default(),
            tries: Tries::default(),
            unreadable: 0,
            loop_note: None,
            enough: false,
            summaries: 0,
            goal: None,
        }
    }

    /// Whether time is left.
    pub(super) fn in_time(&self) -> Flow<()> {
        match self.deadline {
            Some(deadline) if Instant::now() >= deadline => Err(self.out_of_time()),
            Some(_) | None => Ok(()),
        }
    }

    pub(super) fn out_of_time(&self) -> TurnEnd {
        let seconds = self.limits.max_time.unwrap_or_default().as_secs_f64();
        let plural = if seconds == 1.0 { "" } else { "s" };
        TurnEnd::limit(format!(
            "the turn took {seconds} second{plural} (--max-seconds)"
        ))
    }

    /// Whether the model may be asked once more.
    fn may_ask(&self) -> Flow<()> {
        match self.limits.max_turns {
            Some(max) if self.tally.requests - self.summaries >= max => {
                let times = if max == 1 { "time" } else { "times" };
                let which = format!("the model was asked {max} {times} (--max-turns)");
                Err(TurnEnd::limit(which))
            }
            Some(_) | None => Ok(()),
        }
    }
}

impl Engine {
    pub(super) fn new(
        setup: Setup,
        emit: Emit,
        inbox: Receiver<News>,
        to_self: Sender<News>,
    ) -> Engine {
        let turns = setup.log.records().iter().rev();
        let mut turns = turns.filter_map(|record| match record {
            Record::TurnStarted { turn, .. } => Some(turn.0),
            _ => None,
        });
        let ids = Ids {
            turn: turns.next().unwrap_or(0),
            ..Ids::default()
        };
        let goal = goal::loaded(setup.log.records());
        let queue = Queue::loaded(setup.log.records());
        Engine {
            backend: setup.backend,
            options: setup.model,
            toolbox: setup.toolbox,
            policy: setup.policy,
            profile: setup.profile,
            guidance: setup.guidance,
            nearer: Vec::new(),
            limits: setup.limits,
            tap: setup.tap,
            interactive: setup.interactive,
            refuses: setup.refuses,
            strict_finish: setup.strict_finish,
            offline: setup.offline,
            emit,
            inbox,
            worker: Worker::new(to_self),
            journal: setup.journal,
            looks: true,
            touched: Touched::Unknown,
            fresh_log: Some(setup.log),
            conversation: None,
            waiting: VecDeque::new(),
            queue,
            goal,
            clear_goal: false,
            quitting: false,
            cpu_share_said: false,
            budget: Budget::new(setup.compaction),
            author: setup.author,
            doing: Doing::Between,
            on_record: None,
            ids,
        }
    }

    /// The engine's thread: turns, one after the other, until somebody says quit.
    pub(super) fn run(mut self) {
        self.say_held();
        while !self.quitting {
            if let Some(task) = self.waiting.pop_front() {
                self.turn(&task);
                continue;
            }
            if let Some(next) = self.queue.next() {
                let task = queue::task(next.clone());
                self.turn(&task);
                continue;
            }
            let Ok(news) = self.inbox.recv() else {
                break;
            };
            self.see(&news);
            match news {
                News::Op(Op::Prompt { text, attachment }) => {
                    self.waiting.push_back(Task::Prompt { text, attachment })
                }
                News::Op(Op::Shell {
                    id,
                    command,
                    in_context,
                }) => self.take_input(id, Way::Shell { in_context }, command, true),
                News::Op(Op::Steer { id, text }) => self.take_input(id, Way::Steer, text, true),
                News::Op(Op::Queue { id, text }) => self.take_input(id, Way::Queue, text, true),
                News::Op(Op::Drop { id }) => self.drop_input(id),
                News::Op(Op::Queued) => self.tell_queued(),
                News::Op(Op::Deliver) => self.queue.deliver(),
                News::Op(Op::Goal(op)) => {
                    let start = self.goal_between(op);
                    self.waiting.extend(start.map(Task::Goal));
                }
                News::Op(Op::Quit | Op::End(_)) => self.quitting = true,
                News::Op(Op::Step { step, act }) => self.step(&step, act),
                News::Op(Op::Review) => self.review(),
                News::Op(Op::Context) => self.tell_context(),
                News::Op(Op::Compact) => self.compact_now(),
                // Nothing runs: nothing to cancel, no question open, no job waited for.
                News::Op(Op::Cancel | Op::Decide { .. })
                | News::Found { .. }
                | News::Progress { .. }
                | News::Loaded { .. }
                | News::Replied { .. }
                | News::Output { .. }
                | News::Ran { .. }
                | News::Lost { .. } => {}
            }
        }
        self.emit(Event::Closed);
    }

    fn turn(&mut self, task: &Task) {
        self.ids.turn += 1;
        let id = TurnId(self.ids.turn);
        self.emit(Event::TurnStarted { turn: id });
        self.doing = Doing::Between;
        let objective = self.goal.as_ref().map(|goal| goal.objective.as_str());
        self.journal.begin_turn(
            id.0,
            match task {
                Task::Prompt { text, .. } | Task::Input { text, .. } => text,
                Task::Shell(shell) => &shell.text,
                Task::Goal(goal::Start::Set { objective, .. }) => objective,
                Task::Goal(goal::Start::Resume) => objective.unwrap_or_default(),
            },
        );
        let started = Instant::now();
        let (end, tally) = match Cancel::new() {
            Ok(cancel) => {
                let max_time = self.limits.max_time;
                let mut turn = Turn {
                    deadline: max_time.and_then(|time| started.checked_add(time)),
                    limits: self.limits,
                    ..Turn::unlimited(cancel, started)
                };
                self.budget.begin_turn();
                let Err(end) = self.work(&mut turn, id, task);
                // Whatever still works for this turn is given up.
                turn.cancel.cancel();
                (end, turn.tally)
            }
            Err(error) => {
                let why = format!("no pipe for cancelling: {error}");
                (TurnEnd::failed(why), Tally::new(started))
            }
        };
        let status = end.status.clone();
        self.end(id, end, tally);
        let begun = match task {
            Task::Input { id, .. } | Task::Shell(Pending { id, .. }) => !self.queue.waits(id),
            Task::Prompt { .. } | Task::Goal(_) => true,
        };
        self.hold_after(&status, begun);
    }

    fn end(&mut self, turn: TurnId, end: TurnEnd, tally: Tally) {
        self.toolbox.turn_ended();
        self.journal.end_turn();
        // Of a command of the person's own the model hears nothing but its result, if that.
        if end.status == Status::Cancelled && self.conversation.is_some() && !tally.own {
            let stopped = match &end.cut {
                None
                | Some(Cut {
                    by: Halt::Cancel, ..
                }) => "The user stopped this turn.",
                Some(_) => "zcoder was ended in the middle of this turn.",
            };
            let text = format!(
                "{stopped} What was not finished stays as it is; wait for what the user says next."
            );
            self.append(prompt::note(Note::Cancelled, &text));
        }
        let mut receipt = tally.receipt(end);
        let meter = self.conversation.as_ref().map(|open| &open.meter);
        receipt.counted = meter.and_then(Meter::rate);
        self.end_goal(&receipt);
        // The answer is in the log already, as the model's last message.
        let answer = std::mem::take(&mut receipt.answer);
        let saved = self.record_receipt(turn, receipt.clone());
        receipt.answer = answer;
        match (saved, &receipt.status) {
            (Ok(()), _) => {}
            // The answer is told in any case.
            (Err(reason), Status::Done) => receipt.status = Status::NotSaved { reason },
            // The turn ended for exactly this, and says so.
            (Err(reason), Status::NotSaved { reason: told }) if reason == *told => {}
            (Err(text), _) => self.notice(Level::Error, text),
        }
        // Told first: what a tap writes at the end of a turn, nobody waits for.
        let ended = Event::TurnEnded { turn, receipt };
        (self.emit)(ended.clone());
        self.tap.see(&Stage::Event(&ended));
    }

    fn work(&mut self, turn: &mut Turn, id: TurnId, task: &Task) -> Flow<Infallible> {
        let window = match task {
            Task::Prompt { text, attachment } => {
                self.begin_prompt(turn, id, text, attachment.as_deref())?
            }
            Task::Shell(own) => return Err(self.shell(turn, id, own)),
            Task::Input { id: input, text } => {
                let window = self.begin_prompt(turn, id, text, None)?;
                self.consumed(input);
                window
            }
            Task::Goal(start) => {
                let window = self.open(turn)?;
                self.begin_goal(turn, id, start);
                window
            }
        };
        loop {
            let reply = self.ask_model(turn)?;
            let strict = self.strict_finish || turn.goal.is_some();
            let ended = match decide::decide(reply, strict, window, &mut turn.tries) {
                Step::Finish(end) => Err(end),
                Step::Nudge(nudge) => {
                    self.notice(Level::Warning, nudge.notice);
                    self.append(prompt::note(Note::Recovery, &nudge.note));
                    Ok(())
                }
                Step::Run(calls) => self.run_calls(turn, &calls),
            };
            if let Err(end) = ended {
                self.settle(turn, end)?;
            }
        }
    }

    /// Puts the person's request on record. Returns the window.
    fn begin_prompt(
        &mut self,
        turn: &Turn,
        id: TurnId,
        text: &str,
        attachment: Option<&str>,
    ) -> Flow<u64> {
        if text.trim().is_empty() && attachment.is_none_or(|attached| attached.trim().is_empty()) {
            let reason = "the prompt is empty".to_string();
            return Err(TurnEnd::new(Status::Unusable { reason }));
        }
        let window = self.open(turn)?;
        let limit = prompt::attachment_limit(window);
        if let Some(cut) = prompt::cut_notice(attachment, limit) {
            self.notice(Level::Warning, cut);
        }
        self.activate_mentioned(text);
        self.record_request(id, prompt::user(text, attachment, limit));
        Ok(window)
    }

    /// One complete reply, recorded; failures that another request may mend are mended here.
    fn ask_model(&mut self, turn: &mut Turn) -> Flow<Reply> {
        loop {
            self.catch_up(turn)?;
            turn.may_ask()?;
            self.goal_may_ask()?;
            self.deliver_steers();
            self.make_room(turn)?;
            self.save()?;
            self.tell_consumed();
            let (request, bytes, answer) = self.send(turn)?;
            match answer {
                Ok(reply) => {
                    turn.unreadable = 0;
                    self.accept(turn, request, bytes, &reply)?;
                    return Ok(reply);
                }
                Err(error) => {
                    let reason = error.to_string();
                    self.emit(Event::Discarded { request, reason });
                    self.mend(turn, &error)?;
                }
            }
        }
    }

    /// One request and what came of it.
    fn send(&mut self, turn: &mut Turn) -> Flow<(RequestId, u64, Result<Reply, model::Error>)> {
        let conversation = self.open_one()?;
        conversation.write();
        let (bytes, window) = (conversation.bytes(), conversation.window);
        let tokens = conversation.meter.estimate(bytes);
        if tokens > window {
            return Err(does_not_fit(tokens, window));
        }
        let ask = Ask {
            shape: conversation.shape.clone(),
            body: conversation.body(),
            offered: conversation.offered(),
            tokens,
            new_tokens: conversation.meter.new_tokens(bytes),
        };
        let (request, answer) = self.exchange(turn, ask)?;
        Ok((request, bytes, answer))
    }

    /// A request beside the turn, for a checkpoint or of a verifier: its reply is told and counted, and is nobody's history.
    pub(super) fn ask_beside(
        &mut self,
        turn: &mut Turn,
        ask: Ask,
    ) -> Flow<Result<Reply, model::Error>> {
        turn.summaries += 1;
        let (request, answer) = self.exchange(turn, ask)?;
        self.emit(match &answer {
            Ok(reply) => {
                turn.tally.replied(&reply.usage);
                replied(request, reply)
            }
            Err(error) => {
                let reason = error.to_string();
                Event::Discarded { request, reason }
            }
        });
        Ok(answer)
    }

    /// One chat, on a worker, to its end.
    fn exchange(
        &mut self,
        turn: &mut Turn,
        ask: Ask,
    ) -> Flow<(RequestId, Result<Reply, model::Error>)> {
        let (job, request) = (self.next_job(), self.next_request());
        let estimated_tokens = ask.tokens;
        let backend = self.backend.clone();
        let conversation = self.open_one()?;
        let chat = ChatJob {
            ask,
            text_style: conversation.text_style,
            request,
            prompt_speed: conversation.meter.speed(),
            backend,
            cancel: turn.cancel.clone(),
        };
        turn.tally.requests += 1;
        self.doing = Doing::Waiting;
        let work = move |inbox: &_| chat.run(job, inbox);
        self.worker.start(job, work).map_err(no_thread)?;
        let answer = self.await_reply(turn, job).inspect_err(|_| {
            let reason = "the turn was stopped".to_string();
            self.emit(Event::Discarded { request, reason });
        })?;
        self.doing = Doing::Between;
        if let Ok(reply) = &answer {
            self.count_for_goal(estimated_tokens, &reply.usage);
        }
        Ok((request, answer))
    }

    /// A reply gets on record, and on the disk. If it cannot, it counts as one that never came, but for the log.
    fn accept(
        &mut self,
        turn: &mut Turn,
        request: RequestId,
        bytes: u64,
        reply: &Reply,
    ) -> Flow<()> {
        turn.tally.replied(&reply.usage);
        let message = Message::Assistant {
            content: Arc::clone(&reply.content),
            thinking: Arc::clone(&reply.thinking),
            calls: reply.calls.clone(),
        };
        self.append(message);
        self.see_reply();
        // Of one without calls nothing comes but the end of the turn, or another request: either is saved.
        let saved = match reply.calls.is_empty() {
            true => Ok(()),
            false => self.save(),
        };
        if let Err(end) = saved {
            let reason = "the session could not be saved".to_string();
            for call in &reply.calls {
                self.record_result(call, &call::cancelled(&format!("not run: {reason}")));
            }
            self.emit(Event::Discarded { request, reason });
            return Err(end);
        }
        self.emit(replied(request, reply));
        for note in &reply.notes {
            self.notice(Level::Info, note.clone());
        }
        let disagreement = match &mut self.conversation {
            Some(open) => open.meter.count(bytes, &reply.usage, open.window),
            None => None,
        };
        if let Some(text) = disagreement {
            self.notice(Level::Warning, text);
        }
        Ok(())
    }

    fn see_reply(&self) {
        let records = self.conversation.as_ref().map(|open| open.log.records());
        if let Some(Record::Message(message)) = records.and_then(<[Record]>::last) {
            self.tap.see(&Stage::Reply(message));
        }
    }

    /// The model was loaded for this session: how much of it runs on the CPU?
    pub(super) fn loaded(&mut self, loaded: &Loaded) {
        let before = self
            .conversation
            .as_ref()
            .and_then(|open| open.window_before);
        if let Some(window) = loaded
            .context_length
            .filter(|window| Some(*window) != before)
        {
            self.window_is(window);
        }
        let window = self.conversation.as_ref().map_or(0, |open| open.window);
        let Some(text) = model::cpu_notice(loaded, window) else {
            return;
        };
        // Once a session: it is told again by every request that waits.
        if !std::mem::replace(&mut self.cpu_share_said, true) {
            self.notice(Level::Warning, text);
        }
    }

    /// After a failed request: `Ok` when another, different one is worth sending.
    fn mend(&mut self, turn: &mut Turn, error: &model::Error) -> Flow<()> {
        let auto = self.options.tool_style == ToolStyle::Auto;
        let conversation = self.open_one()?;
        let think_sent = conversation.shape.think.is_some();
        let may_use_text = auto && !conversation.text_style;
        match failure::remedy(error, think_sent, may_use_text) {
            Remedy::End(end) => Err(end),
            Remedy::Shorten(end) => self.shorten_refused(turn, error, end),
            Remedy::Tell(detail) => self.tell_unreadable(turn, &detail, error),
            Remedy::WithoutThink => {
                let backend = self.backend.clone();
                self.open_one()?.drop_think(&backend);
                self.notice(Level::Info, format!("{error}; sending again without it"));
                Ok(())
            }
            Remedy::TextStyle => {
                let backend = self.backend.clone();
                self.open_one()?.use_text_style(&backend);
                let text =
                    format!("{error}; the tools are now described in the text (--tool-style text)");
                self.notice(Level::Info, text);
                Ok(())
            }
        }
    }

    /// The server could not read the model's call. The model hears so; the same bytes would fail the same way.
    fn tell_unreadable(&mut self, turn: &mut Turn, detail: &str, error: &model::Error) -> Flow<()> {
        turn.unreadable += 1;
        if turn.unreadable > MAX_UNREADABLE {
            return Err(TurnEnd::new(failure::status(error)));
        }
        let more = if turn.unreadable == MAX_UNREADABLE {
            "; --tool-style text keeps code out of such calls and may suit this model better"
        } else {
            ""
        };
        self.notice(
            Level::Warning,
            format!("the server could not read the model's call; the model was told{more}"),
        );
        let text = format!(
            "The server could not read the tool call in your last reply, so nothing was run: {detail}. Make the call again with \
             complete, valid arguments; write long text in smaller pieces."
        );
        self.append(prompt::note(Note::Recovery, &text));
        Ok(())
    }

    pub(super) fn open_one(&mut self) -> Flow<&mut Conversation> {
        let gone =
            || TurnEnd::failed("no conversation is open; this is a bug in zcoder".to_string());
        self.conversation.as_mut().ok_or_else(gone)
    }

    /// Appends to log and request.
    pub(super) fn append(&mut self, message: Message) {
        if let Some(conversation) = &mut self.conversation {
            conversation.append(message);
        }
    }

    /// Appends to the log alone.
    pub(super) fn record(&mut self, record: Record) {
        if let Some(log) = self.log() {
            log.append(record);
        }
    }

    /// Tells the front end.
    pub(super) fn emit(&self, event: Event) {
        self.tap.see(&Stage::Event(&event));
        (self.emit)(event);
    }

    pub(super) fn notice(&self, level: Level, text: String) {
        self.emit(Event::Notice { level, text });
    }

    pub(super) fn next_job(&mut self) -> JobId {
        self.ids.job += 1;
        JobId(self.ids.job)
    }

    pub(super) fn next_request(&mut self) -> RequestId {
        self.ids.request += 1;
        RequestId(self.ids.request)
    }

    pub(super) fn next_ask(&mut self) -> AskId {
        self.ids.ask += 1;
        AskId(self.ids.ask)
    }
}

fn replied(request: RequestId, reply: &Reply) -> Event {
    Event::Replied {
        request,
        usage: reply.usage,
        stop: reply.stop.clone(),
        recovered: reply.recovered,
    }
}

pub(super) fn no_thread(error: std::io::Error) -> TurnEnd {
    TurnEnd::failed(format!("no thread for the request: {error}"))
}

fn does_not_fit(tokens: u64, window: u64) -> TurnEnd {
    TurnEnd::limit(format!(
        "the next request has about {} tokens and the window holds {}; use a larger window (--context-window) or start a \
         new session with a shorter prompt",
        grouped(tokens),
        grouped(window)
    ))
}
