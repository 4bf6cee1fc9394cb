//! What can go wrong with a model, told apart. Errors of the wire come in from `http`, refusals of the server through
//! `classify.rs` (the one place that looks at foreign text); every text says what happened, on what, and what to do next.
//!
//! ```text
//! 404 {"error":"model 'qwen3' not found"}                              → ModelMissing { model: "qwen3", near: ["qwen3:8b"], .. }
//! the server at http://127.0.0.1:11434 has no model `qwen3`; near names there: qwen3:8b; or get it with `ollama pull qwen3`
//! ```
//!
//! Invariant: nobody else decides by the text of a message; the variants are what callers look at.
//! Invariant: texts from the server are at most 2,000 characters here and 300 when shown; they are foreign, so a front end
//! sanitizes them.
//!
//! Read next: `classify.rs` (texts to variants), `ollama/chat.rs` (resends).

use super::Delays;
use crate::http;
use crate::json;
use crate::text::grouped;
use std::fmt;
use std::time::Duration;

/// Why there is no usable reply. `address` is the server as the user would type it.
#[derive(Debug)]
pub enum Error {
    /// No exchange took place, or its answer is no HTTP.
    Http(http::Error),
    /// The switch was turned.
    Cancelled,
    /// The reply ended without its last record. `partial` is for display only.
    Incomplete {
        /// What ended it.
        detail: String,
        /// The content so far.
        partial: String,
    },
    /// A record is not JSON: `start` is how the line begins.
    Malformed {
        /// What is wrong with it.
        cause: json::Error,
        /// At most 200 bytes, made visible.
        start: String,
    },
    /// One record is longer than `limit_bytes`.
    RecordTooLong {
        /// The limit.
        limit_bytes: usize,
    },
    /// The prompt does not fit into the window.
    ContextOverflow {
        /// The server's words.
        detail: String,
        /// Tokens of the prompt, if the server told them.
        prompt_tokens: Option<u64>,
        /// Tokens of the window, if the server told them.
        window: Option<u64>,
    },
    /// The server could not read the call that the model wrote. The model must be told; the same bytes would fail again.
    UnreadableCall {
        /// The server's words.
        detail: String,
    },
    /// The server does not have the model.
    ModelMissing {
        /// As asked for.
        model: String,
        /// Similar names on this server.
        near: Vec<String>,
        /// The server.
        address: String,
    },
    /// The name is empty or cannot be a model's name.
    BadModelName {
        /// As asked for.
        model: String,
    },
    /// The model has no template for tools.
    NoTools {
        /// As asked for.
        model: String,
        /// Models on this server that can use tools.
        others: Vec<String>,
    },
    /// `think` was sent to a model that cannot think: send again without it.
    NoThinking {
        /// As asked for.
        model: String,
    },
    /// An embedding model, for example.
    NotAChatModel {
        /// As asked for.
        model: String,
    },
    /// `keep_alive` was refused.
    BadKeepAlive {
        /// The server's words.
        detail: String,
    },
    /// An option has the wrong type.
    BadOption {
        /// The server's words.
        detail: String,
    },
    /// The server found our request wrong: a bug here.
    BadRequest {
        /// The HTTP status.
        status: u16,
        /// The server's words.
        detail: String,
    },
    /// Too many requests wait already.
    QueueFull {
        /// The server's words.
        detail: String,
    },
    /// The model cannot be loaded.
    LoadFailed {
        /// As asked for.
        model: String,
        /// The server's words.
        detail: String,
    },
    /// Loading made no progress for the server's own limit.
    LoadStalled {
        /// As asked for.
        model: String,
        /// The server's words.
        detail: String,
    },
    /// Not enough memory for the model with this window.
    OutOfMemory {
        /// As asked for.
        model: String,
        /// The server's words.
        detail: String,
    },
    /// The process that runs the model died.
    RunnerDied {
        /// The server's words.
        detail: String,
    },
    /// The model's template refuses the messages.
    TemplateRejects {
        /// The server's words.
        detail: String,
    },
    /// The model runs in the cloud and nobody is signed in.
    SignIn {
        /// Where to sign in.
        url: Option<String>,
    },
    /// The server refuses cloud models.
    CloudDisabled {
        /// As asked for.
        model: String,
    },
    /// The server may not forward this model.
    RemoteRefused {
        /// As asked for.
        model: String,
    },
    /// 429.
    Limited {
        /// The server's words.
        detail: String,
    },
    /// 401 or 407 by something in front of the server.
    Unauthorized {
        /// The HTTP status.
        status: u16,
        /// The server.
        address: String,
    },
    /// 403 without a word: the `Host` header was not accepted.
    WrongHost {
        /// The server.
        address: String,
    },
    /// Redirects are not followed.
    Redirect {
        /// The HTTP status.
        status: u16,
        /// The server.
        address: String,
        /// The value of `Location`.
        location: Option<String>,
    },
    /// Something answers that is not Ollama.
    NotOllama {
        /// The HTTP status.
        status: u16,
        /// The server.
        address: String,
        /// The value of `Content-Type`.
        content_type: Option<String>,
        /// At most 200 bytes of the body, made visible.
        start: String,
    },
    /// Anything else the server said.
    Server {
        /// The HTTP status; 200 when it came in the middle of a reply.
        status: u16,
        /// Its words.
        detail: String,
    },
}

impl Error {
    /// How often the same bytes may be sent again in one model call, resends for other reasons counted, and how long to wait
    /// before the first one (twice that before the second).
    pub(super) fn resends(&self, delays: &Delays) -> (u32, Duration) {
        match self {
            Error::Http(error) => (u32::from(closed_early(error)), Duration::ZERO),
            Error::RunnerDied { .. } => (1, Duration::ZERO),
            Error::OutOfMemory { .. } => (1, delays.unloading),
            Error::QueueFull { .. } | Error::Limited { .. } => (2, delays.busy),
            Error::Server { status: 500, .. } => (1, delays.busy),
            Error::Server {
                status: 408 | 502 | 503 | 504,
                ..
            } => (2, delays.busy),
            Error::Server { .. }
            | Error::Cancelled
            | Error::Incomplete { .. }
            | Error::Malformed { .. }
            | Error::RecordTooLong { .. }
            | Error::ContextOverflow { .. }
            | Error::UnreadableCall { .. }
            | Error::ModelMissing { .. }
            | Error::BadModelName { .. }
            | Error::NoTools { .. }
            | Error::NoThinking { .. }
            | Error::NotAChatModel { .. }
            | Error::BadKeepAlive { .. }
            | Error::BadOption { .. }
            | Error::BadRequest { .. }
            | Error::LoadFailed { .. }
            | Error::LoadStalled { .. }
            | Error::TemplateRejects { .. }
            | Error::SignIn { .. }
            | Error::CloudDisabled { .. }
            | Error::RemoteRefused { .. }
            | Error::Unauthorized { .. }
            | Error::WrongHost { .. }
            | Error::Redirect { .. }
            | Error::NotOllama { .. } => (0, Duration::ZERO),
        }
    }
}

/// A connection that stood and was dropped before any byte of an answer: the one failure of the wire that may be an accident.
/// Nothing was sent when connecting failed, and a time-out would only begin the same wait (and the load) again.
fn closed_early(error: &http::Error) -> bool {
    matches!(error, http::Error::ClosedEarly { .. })
}

impl From<http::Error> for Error {
    fn from(error: http::Error) -> Error {
        match error {
            http::Error::Cancelled => Error::Cancelled,
            other => Error::Http(other),
        }
    }
}

impl From<crate::lines::Error> for Error {
    fn from(error: crate::lines::Error) -> Error {
        match error {
            crate::lines::Error::TooLong { limit_bytes } => Error::RecordTooLong { limit_bytes },
        }
    }
}

impl std::error::Error for Error {}

/// The server's words, short enough for one message.
fn short(detail: &str) -> std::borrow::Cow<'_, str> {
    crate::text::clip(detail.trim(), 300)
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Error::Http(error) => write!(f, "{error}{}", next_step(error)),
            Error::Cancelled => f.write_str("cancelled"),
            Error::Incomplete { detail, partial: _ } => {
                write!(
                    f,
                    "the reply is incomplete: {detail}; nothing of it was run; ask again"
                )
            }
            Error::Malformed { cause, start } => {
                write!(
                    f,
                    "the server sent a record that is not JSON ({cause}); it begins `{start}`"
                )?;
                if start.starts_with("data:") {
                    f.write_str("; that is the form of an OpenAI-compatible server, here Ollama's own is expected: check the address")
                } else {
                    f.write_str("; ask again, and look at all of it with `--record FILE` and `zcoder wire FILE`")
                }
            }
            Error::RecordTooLong { limit_bytes } => {
                let mib = limit_bytes >> 20;
                write!(
                    f,
                    "the server sent a record longer than {mib} MiB; the reply was given up; ask for less at once"
                )
            }
            Error::ContextOverflow {
                detail,
                prompt_tokens,
                window,
            } => {
                f.write_str("the prompt does not fit into the window")?;
                match (prompt_tokens.map(grouped), window.map(grouped)) {
                    (Some(tokens), Some(window)) => {
                        write!(f, ": {tokens} tokens are needed, the window has {window}")?;
                    }
                    (Some(tokens), None) => write!(f, ": {tokens} tokens are needed")?,
                    (None, Some(window)) => write!(f, " of {window} tokens")?,
                    (None, None) => write!(f, " (the server says: {})", short(detail))?,
                }
                f.write_str(
                    "; compact the conversation or set a larger window with `--context-window`",
                )
            }
            Error::UnreadableCall { detail } => {
                write!(
                    f,
                    "the server could not read the tool call that the model wrote: {}",
                    short(detail)
                )
            }
            Error::ModelMissing {
                model,
                near,
                address,
            } => {
                write!(f, "the server at {address} has no model `{model}`; ")?;
                if !near.is_empty() {
                    write!(f, "near names there: {}; or ", near.join(", "))?;
                }
                write!(f, "get it with `ollama pull {model}`")
            }
            Error::BadModelName { model } => {
                write!(
                    f,
                    "`{model}` is no name of a model; `zcoder models` lists those of the server"
                )
            }
            Error::NoTools { model, others } => {
                write!(f, "`{model}` does not support tools; ")?;
                if others.is_empty() {
                    f.write_str("get one that does, for example with `ollama pull qwen3`, ")?;
                } else {
                    write!(f, "these models of the server do: {}; ", others.join(", "))?;
                }
                f.write_str("or describe the tools in text with `--tool-style text`")
            }
            Error::NoThinking { model } => {
                write!(
                    f,
                    "`{model}` does not support thinking; leave `--think` out"
                )
            }
            Error::NotAChatModel { model } => {
                write!(
                    f,
                    "`{model}` cannot chat (an embedding model?); choose another with `--model`"
                )
            }
            Error::BadKeepAlive { detail } => {
                write!(
                    f,
                    "the server refuses the value of `--keep-alive` ({}); write seconds or a duration such as `10m`",
                    short(detail)
                )
            }
            Error::BadOption { detail } => {
                write!(
                    f,
                    "the server refuses an option: {}; correct it in the settings",
                    short(detail)
                )
            }
            Error::BadRequest { status, detail } => {
                write!(
                    f,
                    "the server finds the request wrong (status {status}: {}); this is a bug in zcoder or a server that is too old: `--record FILE` keeps the request",
                    short(detail)
                )
            }
            Error::QueueFull { detail } => {
                write!(
                    f,
                    "the server is busy ({}); wait for its other requests, or raise OLLAMA_MAX_QUEUE there",
                    short(detail)
                )
            }
            Error::LoadFailed { model, detail } => {
                write!(
                    f,
                    "`{model}` cannot be loaded: {}; update Ollama, or get the model again with `ollama pull {model}`",
                    short(detail)
                )
            }
            Error::LoadStalled { model, detail } => {
                write!(
                    f,
                    "loading `{model}` made no progress: {}; check memory and disk of the server, or raise OLLAMA_LOAD_TIMEOUT there",
                    short(detail)
                )
            }
            Error::OutOfMemory { model, detail } => {
                write!(
                    f,
                    "not enough memory for `{model}`: {}; choose a smaller model with `--model` or a smaller window with `--context-window`",
                    short(detail)
                )
            }
            Error::RunnerDied { detail } => {
                write!(
                    f,
                    "the process that runs the model ended: {}; the server's log says why; a smaller window (`--context-window`) may help",
                    short(detail)
                )
            }
            Error::TemplateRejects { detail } => {
                write!(
                    f,
                    "the model's template refuses the messages: {}; `--record FILE` keeps the request for a report; another model may accept it",
                    short(detail)
                )
            }
            Error::SignIn { url: Some(url) } => {
                write!(
                    f,
                    "this model runs in Ollama's cloud and nobody is signed in; run `ollama signin` or open {}",
                    short(url)
                )
            }
            Error::SignIn { url: None } => f.write_str(
                "this model runs in Ollama's cloud and nobody is signed in; run `ollama signin`",
            ),
            Error::CloudDisabled { model } => {
                write!(
                    f,
                    "`{model}` runs in Ollama's cloud, and this server has the cloud disabled; choose a local model with `--model`"
                )
            }
            Error::RemoteRefused { model } => {
                write!(
                    f,
                    "this server may not forward `{model}` to another host; OLLAMA_REMOTES there lists the allowed ones"
                )
            }
            Error::Limited { detail } => {
                write!(
                    f,
                    "the server limits requests: {}; try again later",
                    short(detail)
                )
            }
            Error::Unauthorized { status, address } => {
                write!(
                    f,
                    "{address} wants credentials (status {status}); Ollama itself has none, so a proxy stands before it: give it its header with `--header`"
                )
            }
            Error::WrongHost { address } => {
                write!(
                    f,
                    "{address} refuses this name (status 403 without a word); a server that listens on loopback accepts only local names: use `localhost` or its IP address, or set OLLAMA_HOST=0.0.0.0 for the server"
                )
            }
            Error::Redirect {
                status,
                address,
                location,
            } => {
                write!(f, "{address} redirects (status {status})")?;
                if let Some(location) = location {
                    write!(f, " to {}", short(location))?;
                }
                f.write_str("; redirects are not followed: give the final address with `--host`")
            }
            Error::NotOllama {
                status,
                address,
                content_type,
                start,
            } => {
                let kind = content_type.as_deref().unwrap_or("no content type");
                write!(
                    f,
                    "what answers at {address} does not speak Ollama's protocol (status {status}, {}",
                    short(kind)
                )?;
                if start.is_empty() {
                    f.write_str(", empty body)")?;
                } else {
                    write!(f, ": `{start}`)")?;
                }
                f.write_str("; check `--host` and OLLAMA_HOST")
            }
            Error::Server {
                status: 200,
                detail,
            } => {
                write!(
                    f,
                    "the server failed in the middle of the reply: {}; its log may say more; ask again",
                    short(detail)
                )
            }
            Error::Server { status, detail } if detail.is_empty() => {
                write!(
                    f,
                    "the server failed without a word (status {status}); its log says why"
                )
            }
            Error::Server { status, detail } => {
                write!(
                    f,
                    "the server failed (status {status}): {}; its log may say more",
                    short(detail)
                )
            }
        }
    }
}

/// What to do about a failure of the wire, as the end of the sentence.
fn next_step(error: &http::Error) -> &'static str {
    match error {
        http::Error::Refused { .. } => {
            "; is Ollama running? start it with `ollama serve`, or set OLLAMA_HOST or `--host` to where it listens"
        }
        http::Error::Resolve { .. } => "; check the name in `--host` or OLLAMA_HOST",
        http::Error::Unreachable { .. } | http::Error::ConnectTimeout { .. } => {
            "; check the address in `--host` or OLLAMA_HOST, the network and its firewall"
        }
        http::Error::Via { .. } => "; check the program in `--via`",
        http::Error::ClosedEarly { .. } => "; the server's log says why",
        http::Error::Silent {
            after_first_byte: false,
            ..
        } => "; if the model is only slow, set `--first-byte-timeout` higher or `off`",
        http::Error::Silent {
            after_first_byte: true,
            ..
        } => "; if the model is only slow, set `--gap-timeout` higher or `off`",
        http::Error::Head { .. } => {
            "; is that the address of an Ollama server? check `--host` and OLLAMA_HOST"
        }
        http::Error::Body { .. } => "; a proxy before the server may be at fault",
        http::Error::Lost { .. } => "; ask again",
        http::Error::Encoding { .. } => "; a proxy stands before the server: it must not compress",
        http::Error::Cancelled | http::Error::Stopped | http::Error::Io { .. } => "",
    }
}
