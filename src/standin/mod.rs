//! The stand-in model: a small server that speaks Ollama's native protocol on loopback, for the demo, for tests, and for people who want to
//! see the protocol with `curl`. No language model is in it: it understands a handful of English sentences and carries them
//! out with the tools that the client offers.
//!
//! ```text
//! $ zcoder standin --port 11435 &
//! $ curl http://127.0.0.1:11435/api/chat -d '{"model":"stand-in","think":false,"messages":[{"role":"user","content":"hello"}]}'
//! {"model":"stand-in","created_at":"2026-01-01T00:00:00.000Z","message":{"role":"assistant","content":"I "},"done":false}
//! …
//! {"model":"stand-in",…,"message":{"role":"assistant","content":""},"done":true,"done_reason":"stop",…}
//!
//! body → request.rs → Chat ─ Talk → walk.rs (plan of sentences.rs) → Answer → records.rs → lines → HTTP
//!                                                                      └ scenes/: other lines, other bytes
//! ```
//!
//! Refused: what Ollama refuses, in its words, and a few things that it takes though they are mistakes (see `request.rs`).
//!
//! Invariant: the same request gives the same bytes; there is no clock and no chance in an answer.
//! Invariant: it opens no connection, reads and writes no file, starts no program.
//!
//! Next: `server.rs` (the paths), `sentences.rs` and `walk.rs` (the "model"), `scenes/` (what can go wrong).

mod catalog;
pub mod project;
mod records;
mod request;
mod scenes;
pub mod sentences;
mod server;
pub mod walk;

use crate::http::Limits;
use crate::http::server::Server;
use crate::model::script::Script;
use server::{Playing, State};
use std::io;
use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::Duration;

/// A client may be this long silent while it sends its request.
const READ_TIMEOUT: Duration = Duration::from_secs(30);

/// Where lines about requests go.
pub type Log = Box<dyn Fn(&str) + Send + Sync>;

/// How it answers.
#[derive(Clone, Debug)]
pub struct Options {
    /// Where it listens; port 0 picks one.
    pub address: SocketAddr,
    /// How fast it speaks.
    pub pace: Pace,
    /// What goes wrong: a name of [`scenes`].
    pub scene: Option<String>,
    /// Exchanges to play instead.
    pub script: Option<Script>,
}

/// How fast it speaks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Pace {
    /// As fast as it can.
    None,
    /// Like a small model: a quarter of a second to the first word, then 50 pieces a second.
    Model,
    /// Slow enough to read along: two seconds to the first word, then 5 pieces a second.
    Slow,
}

/// A running stand-in; it stops when dropped.
pub struct StandIn {
    server: Server,
    state: Arc<State>,
}

impl std::fmt::Debug for StandIn {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "StandIn({})", self.server.address())
    }
}

impl StandIn {
    /// Binds and serves. `log` gets lines about each request: foreign text in them is as it came. An unknown scene is an
    /// error of kind `InvalidInput`.
    pub fn start(options: Options, log: Option<Log>) -> io::Result<StandIn> {
        let scene = match &options.scene {
            None => None,
            Some(name) => match scenes::find(name) {
                Some(scene) => Some(scene),
                None => {
                    let text =
                        format!("no scene is named {name:?}; `zcoder standin --list` shows all");
                    return Err(io::Error::new(io::ErrorKind::InvalidInput, text));
                }
            },
        };
        let state = Arc::new(State {
            pace: options.pace,
            scene,
            script: options.script.map(Playing::new),
            log,
            requests: AtomicU64::new(0),
            chats: AtomicU64::new(0),
            window: AtomicU64::new(0),
            loaded_model: AtomicU64::new(0),
            stopping: AtomicBool::new(false),
        });
        let shared = Arc::clone(&state);
        let limits = Limits::default();
        let server = Server::start(
            options.address,
            limits,
            READ_TIMEOUT,
            move |head, body, responder| {
                // An error says that the client has left: there is nobody to tell.
                let _ = server::serve(&shared, &head, &body, responder);
            },
        )?;
        Ok(StandIn { server, state })
    }

    /// Where it listens.
    pub fn address(&self) -> SocketAddr {
        self.server.address()
    }

    /// Stops: nothing more is accepted, open connections are closed.
    pub fn stop(self) {
        drop(self);
    }
}

impl Drop for StandIn {
    fn drop(&mut self) {
        self.state.stopping.store(true, Ordering::Relaxed);
    }
}

/// Names of the scenes, each with a line about it.
pub fn scenes() -> impl Iterator<Item = (&'static str, &'static str)> {
    scenes::SCENES.iter().map(|scene| (scene.name, scene.about))
}
