//! The conversation in its two forms, kept in step: the log (what happened) and the request (the same messages as bytes). The engine
//! appends here and nowhere else.
//!
//! ```text
//! append(User "hi")   log: … Message(User)
//! write()             request: …,{"role":"user","content":"hi"}        what is in the log and not yet in the request
//! body()              the bytes so far + `]}`: the earlier request without its `]}` is a prefix of it
//! ```
//!
//! The last answer of a session is never written: nobody asks again.
//!
//! Invariant: a message is in the log before its bytes can be sent. Invariant: bytes once sent are never changed, but for a rebuild: the
//! tool style or `think` had to change, which the server demanded, or the conversation was shortened. What stays of before then goes
//! out without its thinking.
//!
//! Read next: `prompt`, the texts; `model::RequestBody`, the bytes.
use super::compact::trim;
use super::discover::Plan;
use super::meter::Meter;
use super::prompt;
use crate::guidance::Offer;
use crate::model::{Backend, RequestBody, Shape, Think};
use crate::policy::Profile;
use crate::protocol::{Counted, Message, Note};
use crate::session::{self, Checkpoint, Log, ModelRecord, Record, ToolStyle};
use crate::tools::{self, Set};
use std::sync::Arc;

/// Log and request.
#[derive(Debug)]
pub(super) struct Conversation {
    pub(super) log: Log,
    pub(super) meter: Meter,
    pub(super) shape: Arc<Shape>,
    pub(super) text_style: bool,
    /// What the server gives: the window that is asked for, or less.
    pub(super) window: u64,
    /// What the server gave before: it may be told for a while, until the model is loaded anew.
    pub(super) window_before: Option<u64>,
    pub(super) set: Set,
    can_think: bool,
    profile: Profile,
    /// The server's address.
    host: String,
    pub(super) addition: Addition,
    body: Arc<RequestBody>,
    /// Bytes of each message in the body.
    sizes: Vec<u64>,
    /// Records of the log that the body holds already.
    written: usize,
}

impl Conversation {
    /// Begins with the system prompt and the environment note. A log that has them goes on: what is the same now is not said again, so that
    /// the next request begins with the bytes of the last one.
    pub(super) fn open(
        log: Log,
        backend: &Backend,
        host: String,
        mut plan: Plan,
        profile: Profile,
        addition: Addition,
        environment: Message,
    ) -> Conversation {
        if let Some(tools) = &mut plan.shape.native_tools {
            addition.offer_in(tools);
        }
        let mut conversation = Conversation {
            log,
            meter: Meter::default(),
            body: Arc::new(backend.begin(&plan.shape)),
            sizes: Vec::new(),
            window: plan.shape.window,
            window_before: plan.window_before,
            can_think: plan.can_think,
            shape: Arc::new(plan.shape),
            text_style: plan.text_style,
            set: plan.set,
            profile,
            host,
            addition,
            written: 0,
        };
        conversation.record_model();
        let news = [conversation.system(), environment];
        let news = news
            .into_iter()
            .filter(|now| !stands(conversation.log.records(), now));
        let mut news: Vec<_> = news.collect();
        if was_interrupted(conversation.log.records()) {
            let text = "zcoder was ended in the middle of the last turn. What was not finished stays as it is; wait for what the user says next.";
            news.push(prompt::note(Note::Cancelled, text));
        }
        news.into_iter()
            .for_each(|message| conversation.append(message));
        conversation.rebuild(backend);
        if let Some(counted) = counted(conversation.log.records(), &conversation.shape.model) {
            conversation.meter.learn(counted);
        }
        conversation
    }

    /// Appends to the log; the next `write` brings it into the request.
    pub(super) fn append(&mut self, message: Message) {
        self.log.append(Record::Message(message));
    }

    /// Brings the request up to the log.
    pub(super) fn write(&mut self) {
        // A worker that was given up may still hold the old body: then, and only then, this copies it.
        let body = Arc::make_mut(&mut self.body);
        for record in &self.log.records()[self.written..] {
            if let Some(message) = record.message() {
                self.sizes.push(push(body, message));
            }
        }
        self.written = self.log.records().len();
    }

    /// The request as last written, shared with the worker that sends it.
    pub(super) fn body(&self) -> Arc<RequestBody> {
        Arc::clone(&self.body)
    }

    /// Bytes of the request as last written.
    pub(super) fn bytes(&self) -> u64 {
        self.body.len() as u64
    }

    /// The names on offer.
    pub(super) fn offered(&self) -> Vec<&'static str> {
        [&tools::names(self.set), self.addition.offer.names()].concat()
    }

    /// From now on without `think`.
    pub(super) fn drop_think(&mut self, backend: &Backend) {
        Arc::make_mut(&mut self.shape).think = None;
        self.record_model();
        self.rebuild(backend);
    }

    /// From now on with the tools described in the system prompt.
    pub(super) fn use_text_style(&mut self, backend: &Backend) {
        Arc::make_mut(&mut self.shape).native_tools = None;
        self.text_style = true;
        self.record_model();
        self.log.append(Record::Message(self.system()));
        self.rebuild(backend);
    }

    /// What the requests from here on are made of.
    fn record_model(&mut self) {
        let model = ModelRecord {
            name: self.shape.model.clone(),
            host: self.host.clone(),
            window: self.shape.window,
            tool_style: match self.text_style {
                true => ToolStyle::Text,
                false => ToolStyle::Native,
            },
            tools: self.offered().iter().map(|name| name.to_string()).collect(),
            think: self.shape.think.map(|think| think.json().to_string()),
        };
        let model = Record::Model(model);
        let last = self.log.records().iter().rev();
        let last = last
            .clone()
            .find(|record| matches!(record, Record::Model(_)));
        if last != Some(&model) {
            self.log.append(model);
        }
    }

    fn rebuild(&mut self, backend: &Backend) {
        let built = Built::new(backend, &self.shape, &session::view(self.log.records()));
        self.adopt(built);
    }

    fn adopt(&mut self, built: Built) {
        self.body = Arc::new(built.body);
        self.sizes = built.sizes;
        self.written = self.log.records().len();
        self.meter.forget();
    }

    /// The request as it would be with this checkpoint.
    pub(super) fn considered(&self, backend: &Backend, checkpoint: &Checkpoint) -> Built {
        let records = self.log.records();
        let view = session::shortened(records, records.len(), checkpoint);
        Built::new(backend, &self.shape, &view)
    }

    /// From now on with this checkpoint. `built`: what `considered` made of it.
    pub(super) fn shorten(&mut self, checkpoint: Checkpoint, built: Built) {
        self.log.append(Record::Checkpoint(checkpoint));
        self.adopt(built);
    }

    /// Tokens of the request as last written.
    pub(super) fn tokens(&self) -> u64 {
        self.meter.estimate(self.bytes())
    }

    /// The messages of the request as last written: sequence number, message, bytes.
    pub(super) fn parts(&self) -> Vec<(u64, &Message, u64)> {
        let view = session::view(self.log.records()).into_iter();
        let parts = view.zip(&self.sizes);
        parts
            .map(|((seq, message), bytes)| (seq, message, *bytes))
            .collect()
    }

    /// For a request whose answer is a checkpoint: bounded, and without thinking where that can be switched off. A level stays as it is: it
    /// stands at the beginning of what the model reads.
    pub(super) fn summary_shape(&self, tokens: u64) -> Shape {
        let think = match self.shape.think {
            Some(Think::Low | Think::Medium | Think::High) => self.shape.think,
            Some(Think::On | Think::Off) => Some(Think::Off),
            None => self.can_think.then_some(Think::Off),
        };
        Shape {
            think,
            max_output: Some(tokens),
            ..(*self.shape).clone()
        }
    }

    /// The request as last written under that shape, or, if it has more than `room` tokens, with its long texts cut. `None`: even so it
    /// has more.
    pub(super) fn summary(
        &self,
        backend: &Backend,
        shape: &Shape,
        room: u64,
    ) -> Option<RequestBody> {
        if self.tokens() <= room {
            return Some(self.body.reshaped(shape));
        }
        let view = session::view(self.log.records());
        trim::CAPS.iter().find_map(|&cap| {
            let mut body = backend.begin(shape);
            for (_, message) in &view {
                body.push(&trim::trimmed(message, cap));
            }
            (self.meter.rough(body.len() as u64) <= room).then_some(body)
        })
    }

    fn system(&self) -> Message {
        let described = self
            .text_style
            .then(|| tools::describe(self.set) + &self.addition.offer.described());
        let Addition { agents, skills, .. } = &self.addition;
        prompt::system(self.profile, described.as_deref(), [agents, skills])
    }
}

/// What files add to our own words, for the whole session.
#[derive(Clone, Debug, Default)]
pub(super) struct Addition {
    /// Guidance, at the end of the system message.
    pub(super) agents: String,
    /// The catalogue of Skills, behind it.
    pub(super) skills: String,
    /// Tools besides those of `tools`.
    pub(super) offer: Offer,
}

impl Addition {
    /// Into the array of tools.
    fn offer_in(&self, tools: &mut String) {
        let more = self.offer.schemas();
        if let (Some(']'), false) = (tools.chars().last(), more.is_empty()) {
            tools.pop();
            tools.push(',');
            tools.push_str(&more);
            tools.push(']');
        }
    }
}

/// A view as bytes.
pub(super) struct Built {
    pub(super) body: RequestBody,
    sizes: Vec<u64>,
}

impl Built {
    fn new(backend: &Backend, shape: &Shape, view: &[(u64, &Message)]) -> Built {
        let mut body = backend.begin(shape);
        let is_checkpoint = |message: &Message| {
            let checkpoint = Note::Checkpoint;
            matches!(message, Message::Note { note, .. } if *note == checkpoint)
        };
        let checkpoint = view.iter().find(|(_, message)| is_checkpoint(message));
        let shortened_at = checkpoint.map_or(0, |(seq, _)| *seq);
        let sizes = view.iter().map(|(seq, message)| match message {
            Message::Assistant { content, calls, .. } if *seq < shortened_at => {
                let message = Message::Assistant {
                    content: Arc::clone(content),
                    thinking: Arc::default(),
                    calls: calls.clone(),
                };
                push(&mut body, &message)
            }
            message => push(&mut body, message),
        });
        let sizes = sizes.collect();
        Built { body, sizes }
    }
}

/// The bytes that it has there.
fn push(body: &mut RequestBody, message: &Message) -> u64 {
    let before = body.len();
    body.push(message);
    (body.len() - before) as u64
}

/// Whether the last message of this kind says the same.
fn stands(records: &[Record], now: &Message) -> bool {
    let same_kind = |message: &&Message| match (message, now) {
        (Message::System { .. }, Message::System { .. }) => true,
        (Message::Note { note: one, .. }, Message::Note { note: other, .. }) => one == other,
        (_, _) => false,
    };
    let mut messages = records.iter().rev().filter_map(Record::message);
    messages.find(same_kind) == Some(now)
}

/// What a server counted last, if it was for this model.
fn counted(records: &[Record], model: &str) -> Option<Counted> {
    let tagless = |name: &str| name.trim_end_matches(":latest").to_string();
    let mut counted = None;
    for record in records.iter().rev() {
        match (record, counted) {
            (Record::Receipt { receipt, .. }, None) => counted = receipt.counted,
            (Record::Model(of), Some(_)) => {
                return counted.filter(|_| tagless(&of.name) == tagless(model));
            }
            _ => {}
        }
    }
    None
}

/// Whether the last turn on record has no end there.
fn was_interrupted(records: &[Record]) -> bool {
    let mut turns = records.iter().rev().filter_map(|record| match record {
        Record::TurnStarted { .. } => Some(true),
        Record::Receipt { .. } => Some(false),
        _ => None,
    });
    turns.next().unwrap_or(false)
}
