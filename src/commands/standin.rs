//! `zcoder standin`: settings in, the stand-in model as a server until a signal ends it.
//!
//! ```text
//! $ zcoder standin --port 0 --log
//! stand-in model at http://127.0.0.1:40123 (pace model); Ctrl-C ends it
//! #1 POST /api/chat, 91 bytes
//!    stand-in: 1 message, new: user (5 bytes); no tools, no thinking, no num_ctx
//! ```
//!
//! Refused: an unknown scene (the nearest name is not guessed: `--list` shows all), a script that does not read, a port that is taken.
//!
//! Invariant: it listens on loopback, nowhere else.

use super::print;
use crate::config::StandInSettings;
use crate::headless::out::{complain, exit};
use crate::model::script::Script;
use crate::standin::{Options, Pace, StandIn, scenes};
use crate::sys::channel::channel;
use crate::sys::signal::{self, Signal};
use crate::text;
use std::fs;
use std::io::{self, Write};
use std::net::{Ipv4Addr, SocketAddr};
use std::path::Path;

pub(super) fn run(settings: &StandInSettings) -> u8 {
    if settings.list {
        return list();
    }
    let script = match settings.script.as_deref().map(read_script).transpose() {
        Ok(script) => script,
        Err(text) => {
            complain(&text);
            return exit::USAGE;
        }
    };
    // News of both kinds end in one place: a signal, or standard output that nobody reads any more.
    let (tell, ended) = channel();
    let on_signal = tell.clone();
    let watching = signal::watch(Box::new(move |signal| {
        // Fails when we are on the way out already.
        let _ = on_signal.send(End::Signal(signal));
    }));
    if let Err(error) = watching {
        complain(&format!("cannot watch for signals: {error}"));
        return exit::FAILED;
    }
    let options = Options {
        address: SocketAddr::from((Ipv4Addr::LOCALHOST, settings.port)),
        pace: settings.pace,
        scene: settings.scene.clone(),
        script,
    };
    let log = settings.log.then(|| -> crate::standin::Log {
        Box::new(move |line| {
            if let Err(error) = say(&text::line(line)) {
                let _ = tell.send(End::Output(error));
            }
        })
    });
    let standin = match StandIn::start(options, log) {
        Ok(standin) => standin,
        Err(error) if error.kind() == io::ErrorKind::InvalidInput => {
            complain(&error.to_string());
            return exit::USAGE;
        }
        Err(error) => {
            let port = settings.port;
            complain(&format!(
                "cannot listen on 127.0.0.1:{port}: {error}; choose another with --port, or let --port 0 find one"
            ));
            return exit::FAILED;
        }
    };
    let first = format!(
        "stand-in model at http://{} ({}); Ctrl-C ends it",
        standin.address(),
        about(settings)
    );
    if let Err(error) = say(&first) {
        return end(&End::Output(error));
    }
    match ended.recv() {
        Ok(why) => {
            standin.stop();
            end(&why)
        }
        // Every sender is gone: cannot happen while the signal watcher lives.
        Err(_) => exit::FAILED,
    }
}

/// Why it ends.
enum End {
    Signal(Signal),
    Output(io::Error),
}

fn end(why: &End) -> u8 {
    match why {
        End::Signal(Signal::Interrupt) => exit::DONE,
        End::Signal(signal @ (Signal::Hangup | Signal::Quit | Signal::Terminate)) => {
            u8::try_from(128 + signal.number()).unwrap_or(exit::FAILED)
        }
        End::Output(error) if error.kind() == io::ErrorKind::BrokenPipe => exit::READER_LEFT,
        End::Output(error) => {
            complain(&format!("cannot write to standard output: {error}"));
            exit::FAILED
        }
    }
}

/// One whole line, at once: a pipe's reader waits for it.
fn say(line: &str) -> io::Result<()> {
    let mut out = io::stdout().lock();
    out.write_all(format!("{line}\n").as_bytes())?;
    out.flush()
}

fn about(settings: &StandInSettings) -> String {
    let pace = match settings.pace {
        Pace::None => "no pace",
        Pace::Model => "pace model",
        Pace::Slow => "pace slow",
    };
    match (&settings.scene, &settings.script) {
        (Some(scene), _) => format!("scene {}", text::line(scene)),
        (None, Some(script)) => format!(
            "script {}, else {pace}",
            text::line(&script.to_string_lossy())
        ),
        (None, None) => pace.to_string(),
    }
}

fn read_script(path: &Path) -> Result<Script, String> {
    let shown = path.display();
    let bytes =
        fs::read(path).map_err(|error| format!("cannot read the script {shown}: {error}"))?;
    Script::parse(&bytes).map_err(|error| format!("{shown}: {error}"))
}

fn list() -> u8 {
    let width = scenes().map(|(name, _)| name.len()).max().unwrap_or(0);
    let rows = scenes().map(|(name, about)| format!("{name:width$}  {about}\n"));
    print(&rows.collect::<String>())
}
