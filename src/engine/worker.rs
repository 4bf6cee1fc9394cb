//! The thread that may wait for others: for the model server, for a command. The engine hands it a job with all that this needs and hears of
//! it through its own inbox; the worker never sees the engine.
//!
//! ```text
//! engine ── start(job 7, chat) ──▶ thread "worker"
//!        ◀── News::Progress { job: 7, Content "I run" } ──
//!        ◀── News::Replied  { job: 7, Ok(reply) } ────────   exactly one last word
//!        ── start(job 8, command) ──▶ the same thread, or another one if job 7 was given up and still runs
//! ```
//!
//! Invariant: every job sends exactly one last word, also when its thread panics (`News::Lost`). Invariant: news of a job that is no
//! longer waited for are dropped by their id, so a worker can be given up at any time. Invariant: no job waits for another one.
use super::discover::Found;
use crate::model::{self, Backend, Chat, Loaded, Progress, Reply, RequestBody, Shape};
use crate::protocol::{Event, Op, RequestId, Status, ToolOutcome};
use crate::sys::channel::{Sender, channel};
use crate::sys::{Cancel, thread};
use crate::tools::Running;
use crate::undo::{MAX_ENTRIES, MAX_TIME, Snapshot};
use std::io;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

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

/// Runs jobs, on one thread as long as each has ended before the next one begins: a thread that starts and ends costs more than a request.
pub(super) struct Worker {
    inbox: Sender<News>,
    thread: Option<Thread>,
}

/// A thread that takes up what it is sent.
struct Thread {
    work: Sender<Work>,
    is_idle: Arc<AtomicBool>,
}

type Work = Box<dyn FnOnce() + Send>;

impl Worker {
    /// Whose news go there.
    pub(super) fn new(inbox: Sender<News>) -> Worker {
        Worker {
            inbox,
            thread: None,
        }
    }

    /// Runs `work` beside the engine; what it returns is its last word.
    pub(super) fn start(
        &mut self,
        job: JobId,
        work: impl FnOnce(&Sender<News>) -> News + Send + 'static,
    ) -> io::Result<()> {
        // A job that was given up keeps its thread until it ends, and nobody waits for that.
        let idle = self.thread.take();
        let idle = idle.filter(|thread| thread.is_idle.swap(false, Ordering::AcqRel));
        let thread = match idle {
            Some(thread) => thread,
            None => Thread::start()?,
        };
        let last_word = LastWord {
            inbox: self.inbox.clone(),
            news: Some(News::Lost { job }),
            is_idle: None,
        };
        let is_idle = Arc::clone(&thread.is_idle);
        let work = move || {
            let mut last_word = last_word;
            last_word.news = Some(work(&last_word.inbox));
            last_word.is_idle = Some(is_idle);
        };
        // Work that nobody takes is dropped, and says so with its last word.
        let _ = thread.work.send(Box::new(work));
        self.thread = Some(thread);
        Ok(())
    }
}

impl Thread {
    fn start() -> io::Result<Thread> {
        let (work, inbox) = channel::<Work>();
        let run = move || {
            while let Ok(work) = inbox.recv() {
                work();
            }
        };
        thread::start("worker", Box::new(run))?;
        Ok(Thread {
            work,
            is_idle: Arc::default(),
        })
    }
}

/// Sends its news when dropped, by return or by panic.
struct LastWord {
    inbox: Sender<News>,
    news: Option<News>,
    /// Set before the last word is heard, so that whoever hears it finds the thread free; not by a panic, which ends the thread.
    is_idle: Option<Arc<AtomicBool>>,
}

impl Drop for LastWord {
    fn drop(&mut self) {
        if let Some(is_idle) = &self.is_idle {
            is_idle.store(true, Ordering::Release);
        }
        if let Some(news) = self.news.take() {
            tell(&self.inbox, news);
        }
    }
}

/// A closed inbox means that the engine has left: nobody is interested any more.
fn tell(inbox: &Sender<News>, news: News) {
    let _ = inbox.send(news);
}

/// A request as it is to be sent.
pub(super) struct Ask {
    pub(super) shape: Arc<Shape>,
    pub(super) body: Arc<RequestBody>,
    /// Tools whose calls are looked for in the reply.
    pub(super) offered: Vec<&'static str>,
    /// So many, about.
    pub(super) tokens: u64,
    /// Those of them that the server has not read yet.
    pub(super) new_tokens: u64,
}

/// All that a chat needs, moved to its thread.
pub(super) struct ChatJob {
    pub(super) ask: Ask,
    pub(super) backend: Backend,
    pub(super) text_style: bool,
    pub(super) request: RequestId,
    pub(super) prompt_speed: Option<f64>,
    pub(super) cancel: Cancel,
}

impl ChatJob {
    /// Talks to the server until the reply is complete or lost.
    pub(super) fn run(self, job: JobId, inbox: &Sender<News>) -> News {
        let chat = Chat {
            offered: &self.ask.offered,
            text_style: self.text_style,
            new_tokens: self.ask.new_tokens,
            prompt_speed: self.prompt_speed,
        };
        let mut on = |progress: Progress<'_>| tell(inbox, self.news(job, progress));
        let result = self.backend.chat(
            &self.ask.shape,
            &self.ask.body,
            &chat,
            &self.cancel,
            &mut on,
        );
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
                estimated_tokens: self.ask.tokens,
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
    use crate::sys::channel::Receiver;
    use std::thread::current;

    fn worker() -> (Worker, Receiver<News>) {
        let (sender, inbox) = channel();
        (Worker::new(sender), inbox)
    }

    /// Starts a job whose last word names its thread.
    fn start(worker: &mut Worker) {
        let work = |_: &Sender<News>| {
            let text = format!("{:?}", current().id());
            News::Output {
                job: JobId(0),
                text,
            }
        };
        worker.start(JobId(0), work).unwrap();
    }

    #[test]
    fn a_job_that_panics_still_has_a_last_word_and_the_next_one_a_thread() {
        let (mut worker, inbox) = worker();
        let work = |_: &Sender<News>| -> News { panic!("on purpose: the test of the last word") };
        worker.start(JobId(7), work).unwrap();
        let news = inbox.recv().unwrap();
        assert!(matches!(news, News::Lost { job: JobId(7) }), "{news:?}");
        start(&mut worker);
        let news = inbox.recv().unwrap();
        assert!(matches!(news, News::Output { .. }), "{news:?}");
    }

    #[test]
    fn the_last_word_comes_after_all_others() {
        let (mut worker, inbox) = worker();
        let job = JobId(1);
        let work = move |inbox: &Sender<News>| {
            let text = "x".to_string();
            tell(inbox, News::Output { job, text });
            News::Op(Op::Quit)
        };
        worker.start(job, work).unwrap();
        drop(worker);
        let all = std::iter::from_fn(|| inbox.recv().ok());
        let all: Vec<String> = all.map(|news| format!("{news:?}")).collect();
        assert_eq!(all, ["Output { job: JobId(1), text: \"x\" }", "Op(Quit)"]);
    }

    #[test]
    fn jobs_share_a_thread_until_one_is_given_up() {
        let (mut worker, inbox) = worker();
        let ran_on = |inbox: &Receiver<News>| match inbox.recv().unwrap() {
            News::Output { text, .. } => text,
            other => panic!("{other:?}"),
        };
        start(&mut worker);
        let first = ran_on(&inbox);
        start(&mut worker);
        assert_eq!(ran_on(&inbox), first);
        // This one ends when it is told to, behind all that comes later.
        let (go_on, told) = channel::<()>();
        let stuck = move |_: &Sender<News>| {
            let _ = told.recv();
            News::Op(Op::Quit)
        };
        worker.start(JobId(1), stuck).unwrap();
        start(&mut worker);
        assert_ne!(ran_on(&inbox), first);
        go_on.send(()).unwrap();
        assert!(matches!(inbox.recv().unwrap(), News::Op(Op::Quit)));
    }
}
