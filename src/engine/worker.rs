//! The threads that may wait for others: one for a question to the model server, one for a command. The engine starts them with all
//! they need and hears of them through its own inbox; they never see the engine.
//!
//! ```text
//! engine ── start(job 7, chat) ──▶ worker "model"
//!        ◀── News::Progress { job: 7, Content "I run" } ──
//!        ◀── News::Replied  { job: 7, Ok(reply) } ────────   exactly one last word
//! ```
//!
//! Invariant: every job sends exactly one last word, also when its thread panics (`News::Lost`). Invariant: news of a job that is no
//! longer waited for are dropped by their id, so a worker can be given up at any time.
use super::discover::Found;
use crate::model::{self, Backend, Chat, Loaded, Progress, Reply, RequestBody, Shape};
use crate::protocol::{Event, Op, RequestId, Status, ToolOutcome};
use crate::sys::channel::Sender;
use crate::sys::{Cancel, thread};
use crate::tools::Running;
use crate::undo::{MAX_ENTRIES, MAX_TIME, Snapshot};
use std::path::PathBuf;
use std::sync::Arc;

/// One piece of work on another thread. Never used again.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct JobId(pub(super) u64);

/// All that can reach the engine.
#[derive(Debug)]
pub(super) enum News {
    /// From a front end.
    Op(Op),
    /// Last word of a discovery.
    Found {
        job: JobId,
        result: Result<Box<Found>, Status>,
    },
    /// A chat goes on; already an event.
    Progress { job: JobId, event: Event },
    /// The server loaded the model while the chat waited.
    Loaded { job: JobId, loaded: Loaded },
    /// Last word of a chat.
    Replied {
        job: JobId,
        result: Result<Reply, model::Error>,
    },
    /// Live output of a command.
    Output { job: JobId, text: String },
    /// Last word of a command, and the files that it changed.
    Ran {
        job: JobId,
        outcome: ToolOutcome,
        touched: Touched,
    },
    /// Last word of a thread that panicked: a bug of ours.
    Lost { job: JobId },
}

/// Runs `work` on a thread of its own; what it returns is its last word.
pub(super) fn start(
    name: &'static str,
    inbox: &Sender<News>,
    job: JobId,
    work: impl FnOnce(&Sender<News>) -> News + Send + 'static,
) -> std::io::Result<()> {
    let last_word = LastWord {
        sender: inbox.clone(),
        news: Some(News::Lost { job }),
    };
    let work = move || {
        let mut last_word = last_word;
        let news = work(&last_word.sender);
        last_word.news = Some(news);
    };
    thread::start(name, Box::new(work)).map(drop)
}

/// Sends its news when dropped, by return or by panic.
struct LastWord {
    sender: Sender<News>,
    news: Option<News>,
}

impl Drop for LastWord {
    fn drop(&mut self) {
        if let Some(news) = self.news.take() {
            tell(&self.sender, news);
        }
    }
}

/// A closed inbox means that the engine has left: nobody is interested any more.
fn tell(inbox: &Sender<News>, news: News) {
    let _ = inbox.send(news);
}

/// All that a chat needs, moved to its thread.
pub(super) struct ChatJob {
    pub(super) backend: Backend,
    pub(super) shape: Arc<Shape>,
    pub(super) body: Arc<RequestBody>,
    pub(super) offered: Vec<&'static str>,
    pub(super) text_style: bool,
    pub(super) request: RequestId,
    pub(super) estimated_tokens: u64,
    pub(super) new_tokens: u64,
    pub(super) prompt_speed: Option<f64>,
    pub(super) cancel: Cancel,
}

impl ChatJob {
    /// Talks to the server until the reply is complete or lost.
    pub(super) fn run(self, job: JobId, inbox: &Sender<News>) -> News {
        let chat = Chat {
            offered: &self.offered,
            text_style: self.text_style,
            new_tokens: self.new_tokens,
            prompt_speed: self.prompt_speed,
        };
        let mut on = |progress: Progress<'_>| tell(inbox, self.news(job, progress));
        let result = self
            .backend
            .chat(&self.shape, &self.body, &chat, &self.cancel, &mut on);
        // `self` and with it our share of the body is dropped before the last word: the engine then extends the body in place.
        News::Replied { job, result }
    }

    fn news(&self, job: JobId, progress: Progress<'_>) -> News {
        let request = self.request;
        let event = match progress {
            Progress::Loaded(loaded) => {
                let loaded = loaded.clone();
                return News::Loaded { job, loaded };
            }
            Progress::Sent { bytes } => Event::RequestSent {
                request,
                bytes,
                estimated_tokens: self.estimated_tokens,
            },
            Progress::Waiting(waiting) => Event::Waiting { request, waiting },
            Progress::Thinking(text) => Event::Thinking {
                request,
                text: text.to_string(),
            },
            Progress::Content(text) => Event::Content {
                request,
                text: text.to_string(),
            },
            Progress::Resending { why, attempt } => Event::Discarded {
                request,
                reason: format!("{why}; sending again (attempt {attempt})"),
            },
        };
        News::Progress { job, event }
    }
}

/// What a look at the workspace before and after a command showed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Touched {
    /// These files are not as they were.
    Files(Vec<PathBuf>),
    /// There are too many files to look.
    TooMany,
    /// It was not tried.
    Unknown,
}

/// Where to look; `None`: it was too much the last time.
pub(super) type Look = Option<PathBuf>;

/// Runs an approved command to its end, and looks what it changed.
pub(super) fn run_command(
    running: Running,
    look: Look,
    cancel: &Cancel,
    job: JobId,
    inbox: &Sender<News>,
) -> News {
    let take = |root: &PathBuf| Snapshot::take(root, MAX_ENTRIES, MAX_TIME);
    let before = look.as_ref().map(take);
    let mut on_output = |text: &str| {
        let text = text.to_string();
        tell(inbox, News::Output { job, text });
    };
    let outcome = running.wait(cancel, &mut on_output);
    let touched = match (before, look.as_ref()) {
        (Some(Some(before)), Some(root)) => match take(root) {
            Some(after) => Touched::Files(before.changed(&after)),
            None => Touched::TooMany,
        },
        (Some(None), _) => Touched::TooMany,
        (None, _) | (_, None) => Touched::Unknown,
    };
    News::Ran {
        job,
        outcome,
        touched,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sys::channel::channel;

    #[test]
    fn a_job_that_panics_still_has_a_last_word() {
        let (sender, inbox) = channel();
        let work = |_: &Sender<News>| -> News { panic!("on purpose: the test of the last word") };
        start("test", &sender, JobId(7), work).unwrap();
        let news = inbox.recv().unwrap();
        assert!(matches!(news, News::Lost { job: JobId(7) }), "{news:?}");
    }

    #[test]
    fn the_last_word_comes_after_all_others() {
        let (sender, inbox) = channel();
        let job = JobId(1);
        let work = move |inbox: &Sender<News>| {
            let text = "x".to_string();
            tell(inbox, News::Output { job, text });
            News::Op(Op::Quit)
        };
        start("test", &sender, job, work).unwrap();
        drop(sender);
        let all = std::iter::from_fn(|| inbox.recv().ok());
        let all: Vec<String> = all.map(|news| format!("{news:?}")).collect();
        assert_eq!(all, ["Output { job: JobId(1), text: \"x\" }", "Op(Quit)"]);
    }
}
