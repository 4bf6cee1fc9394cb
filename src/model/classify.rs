//! The server's own words, once: a status and a body (or the `error` of a record) in, an [`Error`] out. Called by the exchange
//! and the discovery calls; nobody else looks at foreign text to decide anything.
//!
//! ```text
//! 400 {"error":"registry.ollama.ai/library/x does not support tools"}                       → NoTools
//! 400 {"error":"{\"error\":{\"code\":400,\"type\":\"exceed_context_size_error\",\"n_prompt_tokens\":9000,\"n_ctx\":4096}}"}
//!                                                       JSON in a string in JSON            → ContextOverflow, 9000, 4096
//! 401 {"error":"unauthorized","signin_url":"https://…"}                                     → SignIn
//! 200 {"error":"error parsing tool call: raw='…', err=…"}   in the middle of a stream        → UnreadableCall
//! 200 {"error":"Unexpected endpoint or method. (POST /api/chat)"}   LM Studio               → NotOllama
//! 404 404 page not found   text/plain                                                       → NotOllama
//! 403 (empty)                                                                               → WrongHost
//! ```
//!
//! Bodies are capped at [`BODY_LIMIT`] by the caller; texts are matched without regard to case, loosely where servers differ.
//!
//! Invariant: any bytes give an error, never a panic.
//!
//! Read next: `error.rs`.

use super::{Error, Why};
use crate::http::Head;
use crate::json::{Tree, Value};
use crate::text;

/// Bytes read of the body of a refusal.
pub(super) const BODY_LIMIT: usize = 64 << 10;
/// Bytes shown of a body that is not understood.
const START_BYTES: usize = 200;
/// Characters kept of the server's words.
const DETAIL_CHARS: usize = 2000;
/// JSON in a string in JSON in …: how deep to look.
const MAX_NESTING: usize = 4;

/// What was asked, for the texts.
#[derive(Clone, Copy, Debug)]
pub(super) struct Asked<'a> {
    pub model: &'a str,
    pub address: &'a str,
}

/// What is wrong with an answer that is not 200, or is 200 but not of this protocol.
pub(super) fn refusal(asked: Asked<'_>, head: &Head, body: &[u8]) -> Error {
    let status = head.status;
    let address = asked.address.to_string();
    if (300..400).contains(&status) {
        return Error::Redirect {
            status,
            address,
            location: head.header("location").map(str::to_string),
        };
    }
    if let Ok(tree) = Tree::parse(body) {
        let mut said = Said::default();
        said.read(tree.root(), MAX_NESTING);
        if said.is_error {
            return words(asked, status, &said);
        }
    }
    match status {
        401 | 407 => Error::Unauthorized { status, address },
        403 if body.is_empty() => Error::WrongHost { address },
        429 => refused(Why::Limited, asked.model, &start_of(body)),
        408 | 500..=599 => Error::Server {
            status,
            detail: start_of(body),
        },
        _ => not_ollama(asked.address, status, head.header("content-type"), body),
    }
}

/// Something else answers there.
pub(super) fn not_ollama(
    address: &str,
    status: u16,
    content_type: Option<&str>,
    body: &[u8],
) -> Error {
    Error::NotOllama {
        status,
        address: address.to_string(),
        content_type: content_type.map(str::to_string),
        start: start_of(body),
    }
}

fn refused(why: Why, model: &str, detail: &str) -> Error {
    Error::Refused {
        why,
        model: model.to_string(),
        detail: detail.to_string(),
    }
}

/// What the `error` of a record means; `text` is its string, or the JSON of its object.
pub(super) fn record(asked: Asked<'_>, text: &str) -> Error {
    let mut said = Said::default();
    said.read_text(text, MAX_NESTING);
    words(asked, 200, &said)
}

/// The beginning of foreign bytes, harmless.
pub(super) fn start_of(bytes: &[u8]) -> String {
    let start = &bytes[..bytes.len().min(START_BYTES)];
    text::visible(text::repair(start).trim()).into_owned()
}

/// What an error body holds, unwrapped.
#[derive(Debug, Default)]
struct Said {
    is_error: bool,
    message: String,
    kind: String,
    prompt_tokens: Option<u64>,
    window: Option<u64>,
    signin_url: Option<String>,
}

impl Said {
    /// Any of `{"error":"text"}`, `{"error":{"message":…}}`, `{"error":"{\"error\":…}"}`, `{"object":"error","message":…}`.
    fn read(&mut self, value: Value<'_>, nesting: usize) {
        if let Some(url) = value.get("signin_url").and_then(|url| url.as_str()) {
            self.signin_url = Some(url.to_string());
        }
        if let Some(error) = value.get("error") {
            self.is_error |= !error.is_null() && error.as_str() != Some("");
            match error.as_str() {
                Some(text) => self.read_text(text, nesting),
                None => self.read_object(error, nesting),
            }
        } else if value.get("object").and_then(|object| object.as_str()) == Some("error") {
            self.is_error = true;
            self.read_object(value, nesting);
        }
    }

    fn read_object(&mut self, error: Value<'_>, nesting: usize) {
        let number = |key| error.get(key)?.as_number()?.as_u64();
        self.prompt_tokens = number("n_prompt_tokens").or(self.prompt_tokens);
        self.window = number("n_ctx").or(self.window);
        if let Some(kind) = error.get("type").and_then(|kind| kind.as_str()) {
            self.kind = kind.to_string();
        }
        match error.get("message").and_then(|message| message.as_str()) {
            Some(message) => self.read_text(message, nesting),
            None => self.message = error.to_tree().to_string(),
        }
    }

    fn read_text(&mut self, message: &str, nesting: usize) {
        let looks_nested = nesting > 0 && message.trim_start().starts_with('{');
        if let Some(tree) = looks_nested
            .then(|| Tree::parse(message.as_bytes()).ok())
            .flatten()
        {
            let value = tree.root();
            if value.get("error").is_some() {
                return self.read(value, nesting - 1);
            }
            if value.get("message").is_some() {
                return self.read_object(value, nesting - 1);
            }
        }
        self.message = message.to_string();
    }
}

/// What texts mean that one sentence answers: any of these, of which every part between two `…` must be there. Order matters where a
/// text fits two rows.
#[rustfmt::skip] // a table
const CATALOGUE: &[(Why, &[&str])] = &[
    (Why::NoThinking, &["does not support thinking"]),
    (Why::NotAChatModel, &["does not support chat", "does not support generate"]),
    (Why::BadModelName, &["model is required", "invalid model name"]),
    (Why::CloudDisabled, &["ollama cloud is disabled"]),
    (Why::RemoteRefused, &["cannot run this remote model"]),
    (Why::OutOfMemory, &["out of memory", "cudamalloc failed", "failed to allocate", "unable to load full model on gpu",
        "model requires…available"]),
    (Why::LoadStalled, &["timed out waiting for"]),
    (Why::LoadFailed, &["process has terminated", "error loading model", "incompatible with your version of ollama",
        "unable to load model", "failed to load model"]),
    (Why::RunnerDied, &["runner has unexpectedly stopped", "an error was encountered while running the model"]),
    (Why::BadOption, &["option…must be of type"]),
    (Why::TemplateRejects, &["jinja", "raise_exception", "roles must alternate", "template:", "chat template"]),
];

/// The server's parser gave up on what the model wrote.
#[rustfmt::skip] // a table
const UNREADABLE_CALL: &[&str] = &["error parsing tool call", "failed to parse tool call", "xml syntax error", "failed to parse json",
    "failed to parse xml", "mismatched arg_key", "invalid tool call arguments", "expected element type", "tool '…not found"];

/// What the server said. What the engine acts on comes first.
fn words(asked: Asked<'_>, status: u16, said: &Said) -> Error {
    let lower = said.message.to_lowercase();
    let has = |text: &str| text.split('…').all(|part| lower.contains(part));
    let any = |texts: &[&str]| texts.iter().any(|text| has(text));
    let not_ollama = || not_ollama(asked.address, status, None, said.message.as_bytes());
    let detail = text::clip(&said.message, DETAIL_CHARS).into_owned();
    // Many words only mean something before the first record or in a stream; 200 is a record.
    let is_refused = status == 400 || status == 200;
    let too_long = any(&["exceed", "longer", "too long", "too large"]);
    if said.kind == "exceed_context_size_error"
        || has("exceed_context_size_error")
        || (is_refused && has("context") && too_long)
        || has("maximum context length")
        || any(&["no user query", "no user message"])
    {
        // The last: an old server cut the only user message away and then missed it.
        return Error::ContextOverflow {
            detail,
            prompt_tokens: said.prompt_tokens,
            window: said.window,
        };
    }
    if any(UNREADABLE_CALL) {
        return Error::UnreadableCall {
            detail: said.message.clone(), // whole: it may hold the call
        };
    }
    if has("does not support tools") {
        return Error::NoTools {
            model: asked.model.to_string(),
            others: Vec::new(),
        };
    }
    if has("unexpected endpoint or method") {
        return not_ollama();
    }
    if status == 404 && has("model…not found") {
        return Error::ModelMissing {
            model: asked.model.to_string(),
            near: Vec::new(),
            address: asked.address.to_string(),
        };
    }
    if said.signin_url.is_some() || (status == 401 && has("unauthorized")) {
        return Error::SignIn {
            url: said.signin_url.clone(),
        };
    }
    let refused = |why| refused(why, asked.model, &detail);
    if let Some((why, _)) = CATALOGUE.iter().find(|(_, texts)| any(texts)) {
        return refused(*why);
    }
    match status {
        400 if lower.starts_with("time: ") => refused(Why::BadKeepAlive),
        404 | 405 => not_ollama(),
        400..=407 | 409..=428 | 430..=499 => Error::BadRequest { status, detail },
        429 => refused(Why::Limited),
        503 => refused(Why::QueueFull),
        _ => Error::Server { status, detail },
    }
}
