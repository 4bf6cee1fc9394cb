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
//! tool style or `think` had to change, which the server demanded.
//!
//! Read next: `prompt`, the texts; `model::RequestBody`, the bytes.
use super::discover::Plan;
use super::meter::Meter;
use super::prompt;
use crate::model::{Backend, RequestBody, Shape};
use crate::policy::Profile;
use crate::protocol::Message;
use crate::session::{Log, Record};
use crate::tools::{self, Set};
use std::sync::Arc;

/// Log and request.
#[derive(Debug)]
pub(super) struct Conversation {
    pub(super) log: Log,
    pub(super) meter: Meter,
    pub(super) shape: Arc<Shape>,
    pub(super) text_style: bool,
    set: Set,
    profile: Profile,
    body: Arc<RequestBody>,
    /// Records of the log that the body holds already.
    written: usize,
}

impl Conversation {
    /// Begins with the system prompt and the environment note.
    pub(super) fn open(
        log: Log,
        backend: &Backend,
        plan: Plan,
        profile: Profile,
        environment: Message,
    ) -> Conversation {
        let mut conversation = Conversation {
            log,
            meter: Meter::default(),
            body: Arc::new(backend.begin(&plan.shape)),
            shape: Arc::new(plan.shape),
            text_style: plan.text_style,
            set: plan.set,
            profile,
            written: 0,
        };
        conversation.append(conversation.system());
        conversation.append(environment);
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
                body.push(message);
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
    pub(super) fn offered(&self) -> &'static [&'static str] {
        tools::names(self.set)
    }

    /// From now on without `think`.
    pub(super) fn drop_think(&mut self, backend: &Backend) {
        Arc::make_mut(&mut self.shape).think = None;
        self.rebuild(backend);
    }

    /// From now on with the tools described in the system prompt.
    pub(super) fn use_text_style(&mut self, backend: &Backend) {
        Arc::make_mut(&mut self.shape).native_tools = None;
        self.text_style = true;
        self.log.append(Record::Message(self.system()));
        self.rebuild(backend);
    }

    fn rebuild(&mut self, backend: &Backend) {
        let mut body = backend.begin(&self.shape);
        self.log.messages().for_each(|message| body.push(message));
        self.body = Arc::new(body);
        self.written = self.log.records().len();
        self.meter.forget();
    }

    fn system(&self) -> Message {
        let described = self.text_style.then(|| tools::describe(self.set));
        prompt::system(self.profile, described.as_deref())
    }
}
