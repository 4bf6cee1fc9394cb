//! `zcoder demo`: the whole agent at work on a sample project, without a model. It starts the stand-in on loopback, writes the project into a
//! temporary folder, runs the ordinary engine over TCP, and shows every stage as it happens.
//!
//! ```text
//! stand-in ◀── TCP ──▶ engine (its own threads) ── tap ──▶ show.rs ──▶ standard output
//!                         ▲                         └─▶ inbox: the turn has ended ◀── signals
//!                         └── Op
//! ```
//!
//! With `--step` the tap waits at seven places until Enter is pressed on the terminal; without a terminal it says so and goes on.
//!
//! Invariant: nothing of the demo is special to the engine: same backend, same tools, same policy, and a rule that allows two exact commands.
//! Invariant: whatever ends it, the temporary folder is removed (unless `--keep`) and no child is left.
//!
//! Next: `show.rs` (what is printed), `stops.rs` (`--step`), `standin/project.rs` (the project).

mod page;
mod show;
mod stops;

use crate::config::DemoSettings;
use crate::engine::{self, Compaction, Setup, Submit, TurnLimits};
use crate::guidance::Guidance;
use crate::headless::out::{complain, exit, exit_code};
use crate::http::{Endpoint, Target};
use crate::model::{self, Backend};
use crate::policy::{CommandMode, EditMode, Policy, Profile};
use crate::protocol::{Event, Op, Stage, Tap};
use crate::session::Log;
use crate::standin::{Options, StandIn, project};
use crate::sys::channel::{Receiver, Sender, channel};
use crate::sys::signal::{self, Signal};
use crate::sys::tty::Tty;
use crate::sys::{Cancel, process, random};
use crate::tools::{Limits, Toolbox, Workspace};
use crate::undo::Journal;
use page::Page;
use show::Show;
use std::fs;
use std::io::{self, Write};
use std::net::{Ipv4Addr, SocketAddr};
use std::os::unix::fs::DirBuilderExt;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;
use stops::Stops;

/// A limit for a task that takes seconds: the demo must end.
const MAX_TIME: Duration = Duration::from_secs(600);

pub(super) fn run(settings: &DemoSettings) -> u8 {
    match Demo::start(settings) {
        Ok(demo) => demo.run(settings),
        Err(text) => {
            complain(&text);
            exit::FAILED
        }
    }
}

/// What reaches the demo's thread.
enum News {
    /// The turn has ended, well or not.
    Ended(bool),
    /// Standard output takes no more.
    Output(io::Error),
    Signal(Signal),
    /// The engine's thread has ended, in whichever way.
    Gone,
}

/// Held by the engine's sink for events: its end tells ours.
struct Presence(Sender<News>);

impl Drop for Presence {
    fn drop(&mut self) {
        // Fails when the demo is over.
        let _ = self.0.send(News::Gone);
    }
}

struct Demo {
    standin: StandIn,
    folder: Folder,
    prompt: String,
    commands: [String; 2],
    /// `--step`, and nobody to press Enter.
    unattended: bool,
    inbox: Receiver<News>,
    submit: Submit,
}

impl Demo {
    fn start(settings: &DemoSettings) -> Result<Demo, String> {
        let failed = |what: &'static str| move |error: io::Error| format!("{what}: {error}");
        let folder = Folder::make(settings)?;
        let (prompt, commands) = project::write(&folder.project()).map_err(|error| {
            let shown = settings.temp.display();
            format!(
                "cannot write the sample project in {shown}: {error}; TMPDIR chooses another place"
            )
        })?;
        let options = Options {
            address: SocketAddr::from((Ipv4Addr::LOCALHOST, 0)),
            pace: settings.pace,
            scene: None,
            script: None,
        };
        let standin = StandIn::start(options, None).map_err(failed("cannot start the stand-in"))?;
        let cancel = Cancel::new().map_err(failed("cannot make a pipe"))?;
        let (tell, inbox) = channel();
        watch_signals(tell.clone(), cancel.clone()).map_err(failed("cannot watch for signals"))?;
        let presence = Presence(tell.clone());
        let screen = Screen::open(settings.step, cancel);
        let unattended = settings.step && screen.tty.is_none();
        let setup = setup(&standin, &folder, &commands, tap(screen, tell))?;
        // The tap sees every event already, so all that is left here is that there is an engine.
        let emit: engine::Emit = Box::new(move |_| {
            let _ = &presence;
        });
        let submit = engine::spawn(setup, emit).map_err(failed("cannot start the engine"))?;
        Ok(Demo {
            standin,
            folder,
            prompt,
            commands,
            unattended,
            inbox,
            submit,
        })
    }

    fn run(self, settings: &DemoSettings) -> u8 {
        let shown = self.show(settings);
        // Whatever ended the show: nothing may be left running. The stand-in and the folder go with us.
        (self.submit)(Op::Quit);
        process::end_all();
        exit_code(shown)
    }

    /// Waits until the turn has ended. The error is one of standard output.
    fn show(&self, settings: &DemoSettings) -> io::Result<u8> {
        say(&self.title())?;
        if self.unattended {
            say(
                "There is no terminal to wait for Enter on, so the stops are shown and not waited at.\n\n",
            )?;
        }
        (self.submit)(Op::Prompt {
            text: self.prompt.clone(),
            attachment: None,
        });
        let mut signaled = None;
        let mut code = exit::FAILED;
        loop {
            // The signal watcher holds a sender for ever, so this does not fail.
            match self.inbox.recv() {
                Ok(News::Signal(signal)) if signaled.is_some() => return Ok(signal_code(signal)),
                Ok(News::Signal(signal)) => {
                    signaled = Some(signal);
                    (self.submit)(Op::Quit);
                }
                Ok(News::Output(error)) => return Err(error),
                Ok(News::Ended(done)) => {
                    code = if done { exit::DONE } else { exit::FAILED };
                    (self.submit)(Op::Quit);
                }
                Ok(News::Gone) | Err(_) => break,
            }
        }
        if let Some(signal) = signaled {
            return Ok(signal_code(signal));
        }
        say(&self.ending(settings))?;
        Ok(code)
    }

    fn title(&self) -> String {
        let mut page = Page::default();
        page.line("zcoder demo: a coding agent at work, each step as it happens");
        page.line("");
        let address = self.standin.address();
        page.entry("model", &format!("none is needed: a stand-in at http://{address} speaks Ollama's protocol and understands a few sentences"));
        page.entry(
            "agent",
            "the ordinary one: same requests, same tools, same rules, over TCP",
        );
        page.entry(
            "project",
            &format!(
                "{}: a till in shell scripts, with a failing test",
                self.folder.project().display()
            ),
        );
        let [test, bill] = &self.commands;
        page.entry("allowed", test);
        page.entry("", bill);
        page.entry(
            "",
            "(a rule for these two exact commands; no other would run)",
        );
        page.entry("task", &self.prompt);
        page.line("");
        page.take()
    }

    fn ending(&self, settings: &DemoSettings) -> String {
        let mut page = Page::default();
        page.line("");
        page.line("The same with a real model");
        page.line("  ollama pull qwen3:8b");
        page.line("  cd your-project");
        page.line("  zcoder -p 'The test fails. Find out why, fix it, and run the test again.'");
        page.line("");
        if settings.keep {
            page.line(&format!(
                "The project is kept in {}",
                self.folder.project().display()
            ));
        }
        if !settings.step {
            page.line(
                "zcoder demo --step stops at each stage and shows its bytes and its source files.",
            );
        }
        page.take()
    }
}

fn signal_code(signal: Signal) -> u8 {
    u8::try_from(128 + signal.number()).unwrap_or(exit::FAILED)
}

fn watch_signals(tell: Sender<News>, cancel: Cancel) -> io::Result<()> {
    signal::watch(Box::new(move |signal| {
        cancel.cancel();
        // Fails when the demo is over.
        let _ = tell.send(News::Signal(signal));
    }))
}

/// Shows what crosses each boundary, on the thread that works there: it goes on when it was shown.
fn tap(screen: Screen, tell: Sender<News>) -> Tap {
    let screen = Mutex::new(screen);
    Tap(Some(Arc::new(move |stage| {
        // A thread that panicked meanwhile left a page that is half printed; the engine says so.
        let mut screen = screen.lock().unwrap_or_else(PoisonError::into_inner);
        let news = match (screen.see(stage), stage) {
            (Err(error), _) => News::Output(error),
            (Ok(()), Stage::Event(Event::TurnEnded { receipt, .. })) => {
                News::Ended(show::is_done(receipt))
            }
            (Ok(()), _) => return,
        };
        // Fails when the demo is over.
        let _ = tell.send(news);
    })))
}

/// The ordinary parts, put together as `zcoder -p` does it.
fn setup(
    standin: &StandIn,
    folder: &Folder,
    commands: &[String; 2],
    tap: Tap,
) -> Result<Setup, String> {
    let address = standin.address().to_string();
    let (endpoint, _) = Endpoint::parse(&address).map_err(|error| error.to_string())?;
    let target = Target::new(endpoint, None, Vec::new()).map_err(|error| error.to_string())?;
    let model = model::Options::new(target);
    let workspace = Workspace::open(&folder.project(), Vec::new())?;
    let limits = Limits {
        read_bytes: 64 << 10,
        output_bytes: 32 << 10,
        command_timeout: Duration::from_secs(60),
        command_wrapper: Vec::new(),
    };
    let mut policy = Policy::new(CommandMode::Ask, EditMode::Auto, Profile::Coding, None);
    for command in commands {
        policy.allow_exact(command, "exactly this command");
    }
    Ok(Setup {
        backend: Backend::ollama(&model, tap.clone()),
        model,
        toolbox: Toolbox::new(workspace, limits, folder.output(), true),
        policy,
        profile: Profile::Coding,
        guidance: Guidance::default(),
        limits: TurnLimits {
            max_turns: None,
            max_time: Some(MAX_TIME),
        },
        compaction: Compaction::default(),
        author: super::run::author(),
        log: Log::in_memory().map_err(|error| format!("cannot name a session: {error}"))?,
        // The sample project goes when the demo ends.
        journal: Journal::off(),
        tap,
        interactive: false,
        refuses: None,
        strict_finish: false,
        offline: false,
    })
}

/// What is printed, and with `--step` the key that goes on.
struct Screen {
    show: Show,
    stops: Option<Stops>,
    tty: Option<Tty>,
    /// Turned by a signal: ends the wait for a key.
    cancel: Cancel,
}

impl Screen {
    fn open(step: bool, cancel: Cancel) -> Screen {
        Screen {
            show: Show::default(),
            stops: step.then(Stops::default),
            tty: if step { Tty::open() } else { None },
            cancel,
        }
    }

    fn see(&mut self, stage: &Stage<'_>) -> io::Result<()> {
        say(&self.show.see(stage))?;
        let Some(block) = self.stops.as_mut().and_then(|stops| stops.see(stage)) else {
            return Ok(());
        };
        say(&block)?;
        let Some(tty) = &self.tty else {
            return Ok(());
        };
        let asked = tty
            .discard_input()
            .and_then(|()| tty.write("   [Enter goes on, Ctrl-C ends] "));
        // A terminal that is gone cannot be waited for: go on without it.
        if asked.and_then(|()| tty.read_line(&self.cancel)).is_err() {
            self.tty = None;
        }
        say("\n")
    }
}

/// Text at once: people watch.
fn say(text: &str) -> io::Result<()> {
    if text.is_empty() {
        return Ok(());
    }
    let mut out = io::stdout().lock();
    out.write_all(text.as_bytes())?;
    out.flush()
}

/// The temporary folder: the project, and the kept outputs of commands beside it.
struct Folder {
    path: PathBuf,
    keep: bool,
}

impl Folder {
    fn make(settings: &DemoSettings) -> Result<Folder, String> {
        let id = random::id(8).map_err(|error| format!("no randomness: {error}"))?;
        let path = settings.temp.join(format!("zcoder-demo-{id}"));
        let mut private = fs::DirBuilder::new();
        private.mode(0o700);
        let made = private
            .create(&path)
            .and_then(|()| private.create(path.join("project")));
        made.map_err(|error| {
            let shown = settings.temp.display();
            format!("cannot make a folder in {shown}: {error}; TMPDIR chooses another place")
        })?;
        Ok(Folder {
            path,
            keep: settings.keep,
        })
    }

    fn project(&self) -> PathBuf {
        self.path.join("project")
    }

    fn output(&self) -> PathBuf {
        self.path.join("output")
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        if self.keep {
            return;
        }
        if let Err(error) = fs::remove_dir_all(&self.path) {
            complain(&format!("cannot remove the sample project: {error}"));
        }
    }
}
