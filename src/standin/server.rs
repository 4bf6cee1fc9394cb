//! The stand-in as a server: requests as Ollama takes them, answers as Ollama gives them. `mod.rs` starts it.
//!
//! ```text
//! GET  /              Ollama is running
//! GET  /api/version   {"version":"0.33.0"}
//! GET  /api/tags      the models                       GET /api/ps   the loaded one
//! POST /api/show      a model's card
//! POST /api/chat      records, or one object with "stream":false; no messages: load
//! POST /api/generate  load and unload, nothing else
//! ```
//!
//! Refused: another path (404), another method (405), a trailing slash (redirected, as Ollama does), a prompt to `/api/generate`.
//!
//! Invariant: nothing is kept between requests but which model is loaded with which window, and how many chats there were.

use super::catalog::{self, Model, STAND_IN};
use super::records::{loaded, ordinary, whole};
use super::request::{self, Chat, Refusal};
use super::scenes::Scene;
use super::walk::{Answer, answer};
use super::{Log, Pace};
use crate::http::RequestHead;
use crate::http::server::Responder;
use crate::json::Writer;
use crate::model::script::{self, Script, Step};
use crate::text;
use std::io::{self, Write};
use std::net::Shutdown;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::{Duration, Instant};

/// What `/api/version` says: the version whose manners these are.
const VERSION: &str = "0.33.0";

const JSON: &str = "application/json; charset=utf-8";
const TEXT: &str = "text/plain; charset=utf-8";

/// The window of a model that was loaded without asking for one.
const DEFAULT_WINDOW: u64 = 4096;

/// Between two looks at whether the client has left while the pace makes us wait.
const LOOK: Duration = Duration::from_millis(50);

/// Everything the connections share.
pub(super) struct State {
    pub(super) pace: Pace,
    pub(super) scene: Option<&'static Scene>,
    pub(super) script: Option<Playing>,
    pub(super) log: Option<Log>,
    /// Requests so far, for the log.
    pub(super) requests: AtomicU64,
    pub(super) chats: AtomicU64,
    /// The window of the loaded model (its place in the list is `loaded_model`); 0: none is loaded.
    pub(super) window: AtomicU64,
    pub(super) loaded_model: AtomicU64,
    pub(super) stopping: AtomicBool,
}

/// A script under way. Connections take exchanges from it in turn, hence the lock; nobody waits while it is held.
pub(super) struct Playing {
    script: Script,
    played: Mutex<Vec<bool>>,
}

impl Playing {
    pub(super) fn new(script: Script) -> Playing {
        let played = Mutex::new(vec![false; script.exchanges.len()]);
        Playing { script, played }
    }

    /// The first exchange with this request line (or none, which fits any) that was not played yet. `Some(Err)`: the script has such exchanges, and
    /// all of them were played. `None`: it has none, so the request is answered as usual.
    fn next(&self, line: &str) -> Option<Result<&[Step], ()>> {
        // A thread that panicked in here would have left a list of flags that is still right.
        let mut played = self
            .played
            .lock()
            .unwrap_or_else(|poisoned| poisoned.into_inner());
        let mut known = false;
        for (exchange, played) in self.script.exchanges.iter().zip(played.iter_mut()) {
            if exchange.request_line().is_none_or(|own| own == line) {
                known = true;
                if !std::mem::replace(played, true) {
                    return Some(Ok(&exchange.steps));
                }
            }
        }
        known.then_some(Err(()))
    }
}

/// Answers one request. An error means that the client has left.
pub(super) fn serve(
    state: &State,
    head: &RequestHead,
    body: &[u8],
    responder: Responder,
) -> io::Result<()> {
    let number = state.requests.fetch_add(1, Ordering::Relaxed) + 1;
    let line = format!("{} {}", head.method, head.target);
    let note = |text: &str| {
        if let Some(log) = &state.log {
            log(text);
        }
    };
    note(&format!("#{number} {line}, {} bytes", body.len()));
    if let Some(playing) = &state.script {
        match playing.next(&line) {
            Some(Ok(steps)) => {
                note("   played from the script");
                return play(state, steps, responder);
            }
            Some(Err(())) => {
                let text = format!("the script has no further exchange for {line}");
                note(&format!("   {text}"));
                return responder.send(500, JSON, &object("error", &text));
            }
            None => {}
        }
    }
    let models = state.scene.map_or(&[STAND_IN][..], Scene::models);
    let path = head.target.split('?').next().unwrap_or("");
    let get = head.method == "GET" || head.method == "HEAD";
    let post = head.method == "POST";
    match path {
        "/" if get => responder.send(200, TEXT, b"Ollama is running"),
        "/api/version" if get => responder.send(200, JSON, &object("version", VERSION)),
        "/api/tags" if get => responder.send(200, JSON, &catalog::tags(models)),
        "/api/ps" if get => responder.send(200, JSON, &catalog::ps(state.loaded(models))),
        "/api/show" | "/api/generate" if post => {
            let answer = match path {
                "/api/show" => show(body, models),
                _ => state.generate(body, models),
            };
            match answer {
                Ok(answer) => responder.send(200, JSON, &answer),
                Err(refusal) => refuse(&refusal, &note, responder),
            }
        }
        "/api/chat" if post => match request::chat(body, models) {
            Ok(chat) => {
                note(&about(&chat));
                chat_with(state, &chat, models, &note, responder)
            }
            Err(refusal) => refuse(&refusal, &note, responder),
        },
        "/" | "/api/version" | "/api/tags" | "/api/ps" | "/api/show" | "/api/generate"
        | "/api/chat" => responder.send(405, TEXT, b"405 method not allowed"),
        slash if slash.len() > 1 && slash.ends_with('/') => redirect(slash, get, responder),
        _ => responder.send(404, TEXT, b"404 page not found"),
    }
}

fn refuse(refusal: &Refusal, note: &dyn Fn(&str), responder: Responder) -> io::Result<()> {
    note(&format!("   refused: {} {}", refusal.status, refusal.error));
    responder.send(refusal.status, JSON, &object("error", &refusal.error))
}

/// An object with one text.
fn object(key: &str, text: &str) -> Vec<u8> {
    let mut json = Writer::new();
    json.begin_object().key(key).string(text).end_object();
    json.finish()
}

fn show(body: &[u8], models: &[Model]) -> Result<Vec<u8>, Refusal> {
    let tree = request::body(body)?;
    request::model(tree.root(), models).map(|model| catalog::show(&model))
}

/// A trailing slash: the way without it, 307 so that a POST stays one.
fn redirect(path: &str, get: bool, responder: Responder) -> io::Result<()> {
    let status = if get {
        "301 Moved Permanently"
    } else {
        "307 Temporary Redirect"
    };
    let path = path.trim_end_matches('/');
    let head = format!(
        "HTTP/1.1 {status}\r\nLocation: {path}\r\nContent-Length: 0\r\nConnection: close\r\n\r\n"
    );
    let stream = responder.raw();
    (&*stream).write_all(head.as_bytes())?;
    stream.shutdown(Shutdown::Write)
}

impl State {
    fn loaded(&self, models: &[Model]) -> Option<(Model, u64)> {
        let window = self.window.load(Ordering::Relaxed);
        let place = usize::try_from(self.loaded_model.load(Ordering::Relaxed)).ok()?;
        let model = models.get(place).copied();
        model.filter(|_| window > 0).map(|model| (model, window))
    }

    fn load(&self, name: &str, window: Option<u64>, models: &[Model]) {
        let model = catalog::find(models, name);
        let place = models.iter().position(|listed| Some(*listed) == model);
        let window = window
            .unwrap_or(DEFAULT_WINDOW)
            .min(catalog::CONTEXT_LENGTH);
        self.loaded_model
            .store(place.unwrap_or(0) as u64, Ordering::Relaxed);
        self.window.store(window, Ordering::Relaxed);
    }

    fn unload(&self) {
        self.window.store(0, Ordering::Relaxed);
    }

    /// `/api/generate` without a prompt.
    fn generate(&self, body: &[u8], models: &[Model]) -> Result<Vec<u8>, Refusal> {
        let tree = request::body(body)?;
        let root = tree.root();
        let name = request::model(root, models)?.name;
        let prompt = request::text_of(root, "prompt");
        if prompt.is_some_and(|prompt| !prompt.is_empty()) {
            let error =
                "stand-in: /api/generate only loads and unloads; chat at /api/chat".to_string();
            return Err(Refusal { status: 400, error });
        }
        let asked = request::text_of(root, "model").unwrap_or(name);
        if request::keep_alive_is_zero(root)? {
            self.unload();
            return Ok(loaded(asked, "unload", false));
        }
        self.load(name, request::num_ctx(root)?, models);
        Ok(loaded(asked, "load", false))
    }

    fn stopping(&self) -> bool {
        self.stopping.load(Ordering::Relaxed)
    }
}

fn chat_with(
    state: &State,
    chat: &Chat,
    models: &[Model],
    note: &dyn Fn(&str),
    responder: Responder,
) -> io::Result<()> {
    if chat.load_only && chat.unload {
        state.unload();
        return responder.send(200, JSON, &loaded(&chat.model, "unload", true));
    }
    state.load(&chat.model, chat.num_ctx, models);
    if chat.load_only {
        return responder.send(200, JSON, &loaded(&chat.model, "load", true));
    }
    let answer = answer(&chat.talk);
    let before = state.chats.fetch_add(1, Ordering::Relaxed);
    if let Some(scene) = state.scene {
        if let Some(steps) = scene.steps(chat, &answer, before) {
            note(&format!("   scene {}: {}", scene.name, scene.about));
            return play(state, &steps, responder);
        }
    }
    note(&format!("   {}", about_answer(&answer)));
    let result = if chat.stream {
        stream(state, chat, &answer, responder)
    } else {
        wait(state, state.pace.first(), &|| responder.is_gone())
            .and_then(|()| responder.send(200, JSON, &whole(chat, &answer, state.pace)))
    };
    if chat.unload {
        state.unload();
    }
    result
}

fn stream(state: &State, chat: &Chat, answer: &Answer, responder: Responder) -> io::Result<()> {
    // As Ollama: not a byte, not even the status line, before the first record is there.
    wait(state, state.pace.first(), &|| responder.is_gone())?;
    let mut stream = responder.stream(200, "application/x-ndjson")?;
    for (index, line) in ordinary(chat, answer, state.pace).iter().enumerate() {
        if index > 0 {
            wait(state, state.pace.piece(), &|| stream.is_gone())?;
        }
        stream.chunk(line)?;
    }
    stream.finish()
}

/// Waits at the pace of the model; an error if the client leaves or the server stops meanwhile.
fn wait(state: &State, time: Duration, gone: &dyn Fn() -> bool) -> io::Result<()> {
    let end = Instant::now() + time;
    loop {
        let left = end.saturating_duration_since(Instant::now());
        if left.is_zero() {
            return Ok(());
        }
        if state.stopping() || gone() {
            return Err(io::ErrorKind::ConnectionAborted.into());
        }
        std::thread::sleep(left.min(LOOK));
    }
}

fn play(state: &State, steps: &[Step], responder: Responder) -> io::Result<()> {
    let stream = responder.raw();
    // The request was read before we were called, so there is nothing to wait for.
    script::play(steps, &stream, &mut |_| Ok(()), &|| state.stopping())
}

/// One line about a request, for the log.
fn about(chat: &Chat) -> String {
    let window = match chat.num_ctx {
        Some(window) => format!("num_ctx {window}"),
        None => "no num_ctx".to_string(),
    };
    let thinking = if chat.think {
        "thinking"
    } else {
        "no thinking"
    };
    let tools = match chat.talk.tools.len() {
        0 => "no tools".to_string(),
        count => text::counted(count as u64, "tool"),
    };
    let new = match chat.new_roles.is_empty() {
        true => "nothing new".to_string(),
        false => format!(
            "new: {} ({})",
            chat.new_roles.join(", "),
            text::counted(chat.new_bytes as u64, "byte")
        ),
    };
    format!(
        "   {}: {}, {new}; {tools}, {thinking}, {window}",
        chat.model,
        text::counted(chat.messages as u64, "message")
    )
}

fn about_answer(answer: &Answer) -> String {
    let calls = answer.calls.iter().map(|call| {
        let about = call.arguments.first();
        format!("{} {}", call.name, about.map_or("", |(_, value)| value))
    });
    let calls: Vec<String> = calls.collect();
    match calls.is_empty() {
        true => format!("answers: {}", answer.content),
        false => format!("calls {}", calls.join(", ")),
    }
}
