//! What happens once, before the first request: the server is asked, the session is settled and told, a forwarded model is allowed or not,
//! and the conversation begins. If it fails, nothing was recorded and the next prompt tries again.
//!
//! ```text
//! find (worker: discover) → plan → Event::Model, notices → allow_forwarding → guidance → Conversation: system prompt, environment note
//! ```
//!
//! Invariant: no byte of a prompt leaves before this has succeeded.
use super::conversation::{Addition, Conversation};
use super::decide::TurnEnd;
use super::discover::{self, Found, Plan};
use super::guide;
use super::prompt;
use super::turn::{Engine, Flow, Turn, no_thread};
use super::worker::News;
use crate::model::{Backend, Options};
use crate::policy::Profile;
use crate::protocol::{Decision, Event, Level, Question, Status};
use crate::session::Log;
use crate::sys::channel::Sender;
use crate::sys::clock;
use crate::text;
use crate::tools::Toolbox;
use std::time::SystemTime;

impl Engine {
    /// Model, window and tools are settled at the first prompt. Returns the window.
    pub(super) fn open(&mut self, turn: &Turn) -> Flow<u64> {
        if let Some(conversation) = &self.conversation {
            return Ok(conversation.window);
        }
        let found = self.find(turn)?;
        let plan = discover::plan(&found, &self.options);
        self.emit(model_event(&found, &self.options));
        for (level, text) in &plan.notices {
            self.notice(*level, text.clone());
        }
        self.cpu_share_said = plan.cpu_share_said;
        self.allow_forwarding(turn, &found)?;
        let window = plan.shape.window;
        self.toolbox.set_read_limit(read_limit(window));
        let Some(log) = self.fresh_log.take() else {
            return Err(TurnEnd::failed(
                "the session's log is gone; this is a bug in zcoder".to_string(),
            ));
        };
        let host = self.options.target.endpoint().to_string();
        let (addition, notices) = guide::fit(&mut self.guidance, window, log.records());
        for (level, text) in notices {
            self.notice(level, text);
        }
        let conversation = open_conversation(
            log,
            &self.backend,
            host,
            plan,
            self.profile,
            addition,
            &self.toolbox,
        );
        self.budget.goes_on(conversation.log.records());
        self.conversation = Some(conversation);
        Ok(window)
    }

    fn find(&mut self, turn: &Turn) -> Flow<Box<Found>> {
        let job = self.next_job();
        let (backend, options, offline) =
            (self.backend.clone(), self.options.clone(), self.offline);
        let cancel = turn.cancel.clone();
        let work = move |_: &Sender<News>| News::Found {
            job,
            result: discover::discover(&backend, &options, offline, &cancel).map(Box::new),
        };
        self.worker.start(job, work).map_err(no_thread)?;
        self.await_found(turn, job)?.map_err(TurnEnd::new)
    }

    /// A model that runs elsewhere is announced before the first byte of a prompt leaves.
    fn allow_forwarding(&mut self, turn: &Turn, found: &Found) -> Flow<()> {
        let Some(host) = found.forwarded_to() else {
            return Ok(());
        };
        let model = found.model.clone();
        let what = format!("{model} does not run here: the server forwards every prompt to {host}");
        if self.options.allow_cloud {
            self.notice(Level::Warning, what);
            return Ok(());
        }
        let question = Question::Cloud {
            model,
            remote_host: host.to_string(),
        };
        let answer = self.ask(turn, None, question)?;
        self.decided(&answer, None, &what);
        match answer.decision {
            Decision::Once | Decision::Session | Decision::SessionRule | Decision::KeptRule => {
                Ok(())
            }
            Decision::Deny { .. } => {
                let reason = format!("{what}; nothing was sent; choose a local model (--model)");
                Err(TurnEnd::new(Status::Unusable { reason }))
            }
            Decision::Nobody => Err(TurnEnd::new(Status::NeedsApproval { what })),
        }
    }
}

/// System prompt and environment note are the first messages of every session.
pub(super) fn open_conversation(
    log: Log,
    backend: &Backend,
    host: String,
    plan: Plan,
    profile: Profile,
    addition: Addition,
    toolbox: &Toolbox,
) -> Conversation {
    let date = clock::local_date(SystemTime::now());
    let root = toolbox.workspace().root();
    let folder = root
        .file_name()
        .unwrap_or(root.as_os_str())
        .to_string_lossy();
    // A name may hold line ends and worse; it goes into a sentence.
    let folder = text::visible(&folder);
    let environment = prompt::environment(&date, &text::line(&folder));
    Conversation::open(log, backend, host, plan, profile, addition, environment)
}

pub(super) fn model_event(found: &Found, options: &Options) -> Event {
    Event::Model {
        name: found.model.clone(),
        why: found.why.clone(),
        address: options.target.endpoint().to_string(),
        window: found.window,
        window_why: found.window_why.clone(),
    }
}

/// A whole file may take a quarter of the window, at three bytes a token, and never more than 64 KiB.
fn read_limit(window: u64) -> u64 {
    (window / 4 * 3).min(64 * 1024)
}
