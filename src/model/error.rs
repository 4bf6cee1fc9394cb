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
    /// The model has no template for tools.
    NoTools {
        /// As asked for.
        model: String,
        /// Models on this server that can use tools.
        others: Vec<String>,
    },
    /// Another row of the catalogue: its sentence needs no more than the name and the words.
    Refused {
        /// Which.
        why: Why,
        /// As asked for.
        model: String,
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
    /// The model runs in the cloud and nobody is signed in.
    SignIn {
        /// Where to sign in.
        url: Option<String>,
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

/// What the server refuses, where [`Error::Refused`] says all there is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Why {
    /// The name is empty or cannot be a model's name.
    BadModelName,
    /// `think` was sent to a model that cannot think: send again without it.
    NoThinking,
    /// An embedding model, for example.
    NotAChatModel,
    /// `keep_alive` was refused.
    BadKeepAlive,
    /// An option has the wrong type.
    BadOption,
    /// Too many requests wait already.
    QueueFull,
    /// The model cannot be loaded.
    LoadFailed,
    /// Loading made no progress for the server's own limit.
    LoadStalled,
    /// Not enough memory for the model with this window.
    OutOfMemory,
    /// The process that runs the model died.
    RunnerDied,
    /// The model's template refuses the messages.
    TemplateRejects,
    /// The server refuses cloud models.
    CloudDisabled,
    /// The server may not forward this model.
    RemoteRefused,
    /// 429.
    Limited,
}

impl Why {
    /// What a person reads; `$m` is the model, `$d` the server's words.
    #[rustfmt::skip] // a table
    fn sentence(self) -> &'static str {
        match self {
            Why::BadModelName => "`$m` is no name of a model; `zcoder models` lists those of the server",
            Why::NoThinking => "`$m` does not support thinking; leave `--think` out",
            Why::NotAChatModel => "`$m` cannot chat (an embedding model?); choose another with `--model`",
            Why::BadKeepAlive => "the server refuses the value of `--keep-alive` ($d); write seconds or a duration such as `10m`",
            Why::BadOption => "the server refuses an option: $d; correct it in the settings",
            Why::QueueFull => "the server is busy ($d); wait for its other requests, or raise OLLAMA_MAX_QUEUE there",
            Why::LoadFailed => "`$m` cannot be loaded: $d; update Ollama, or get the model again with `ollama pull $m`",
            Why::LoadStalled => "loading `$m` made no progress: $d; check memory and disk of the server, or raise OLLAMA_LOAD_TIMEOUT there",
            Why::OutOfMemory => "not enough memory for `$m`: $d; choose a smaller model with `--model` or a smaller window with `--context-window`",
            Why::RunnerDied => "the process that runs the model ended: $d; the server's log says why; a smaller window (`--context-window`) may help",
            Why::TemplateRejects => "the model's template refuses the messages: $d; `--record FILE` keeps the request for a report; another model may accept it",
            Why::CloudDisabled => "`$m` runs in Ollama's cloud, and this server has the cloud disabled; choose a local model with `--model`",
            Why::RemoteRefused => "this server may not forward `$m` to another host; OLLAMA_REMOTES there lists the allowed ones",
            Why::Limited => "the server limits requests: $d; try again later",
        }
    }
}

impl Error {
    /// How often the same bytes may be sent again in one model call, resends for other reasons counted, and how long to wait
    /// before the first one (twice that before the second).
    pub(super) fn resends(&self, delays: &Delays) -> (u32, Duration) {
        match self {
            // A connection that stood and was dropped before any byte of an answer: the one failure of the wire that may be an
            // accident. Nothing was sent when connecting failed, and a time-out would only begin the same wait (and the load) again.
            Error::Http(http::Error::ClosedEarly { .. }) => (1, Duration::ZERO),
            Error::Refused { why, .. } => match why {
                Why::RunnerDied => (1, Duration::ZERO),
                Why::OutOfMemory => (1, delays.unloading),
                Why::QueueFull | Why::Limited => (2, delays.busy),
                Why::BadModelName
                | Why::NoThinking
                | Why::NotAChatModel
                | Why::BadKeepAlive
                | Why::BadOption
                | Why::LoadFailed
                | Why::LoadStalled
                | Why::TemplateRejects
                | Why::CloudDisabled
                | Why::RemoteRefused => (0, Duration::ZERO),
            },
            Error::Server { status: 500, .. } => (1, delays.busy),
            Error::Server {
                status: 408 | 502 | 503 | 504,
                ..
            } => (2, delays.busy),
            Error::Http(_)
            | Error::Server { .. }
            | Error::Cancelled
            | Error::Incomplete { .. }
            | Error::Malformed { .. }
            | Error::RecordTooLong { .. }
            | Error::ContextOverflow { .. }
            | Error::UnreadableCall { .. }
            | Error::ModelMissing { .. }
            | Error::NoTools { .. }
            | Error::BadRequest { .. }
            | Error::SignIn { .. }
            | Error::Unauthorized { .. }
            | Error::WrongHost { .. }
            | Error::Redirect { .. }
            | Error::NotOllama { .. } => (0, Duration::ZERO),
        }
    }
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
            Error::Incomplete { detail, partial: _ } => write!(
                f,
                "the reply is incomplete: {detail}; nothing of it was run; ask again"
            ),
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
            Error::UnreadableCall { detail } => write!(
                f,
                "the server could not read the tool call that the model wrote: {}",
                short(detail)
            ),
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
            Error::NoTools { model, others } => {
                write!(f, "`{model}` does not support tools; ")?;
                if others.is_empty() {
                    f.write_str("get one that does, for example with `ollama pull qwen3`, ")?;
                } else {
                    write!(f, "these models of the server do: {}; ", others.join(", "))?;
                }
                f.write_str("or describe the tools in text with `--tool-style text`")
            }
            Error::Refused { why, model, detail } => {
                let mut parts = why.sentence().split('$');
                f.write_str(parts.next().unwrap_or_default())?;
                for part in parts {
                    let (what, rest) = part.split_at(1);
                    match what {
                        "m" => f.write_str(model)?,
                        _ => f.write_str(&short(detail))?,
                    }
                    f.write_str(rest)?;
                }
                Ok(())
            }
            Error::BadRequest { status, detail } => write!(
                f,
                "the server finds the request wrong (status {status}: {}); this is a bug in zcoder or a server that is too old: `--record FILE` keeps the request",
                short(detail)
            ),
            Error::SignIn { url: Some(url) } => write!(
                f,
                "this model runs in Ollama's cloud and nobody is signed in; run `ollama signin` or open {}",
                short(url)
            ),
            Error::SignIn { url: None } => f.write_str(
                "this model runs in Ollama's cloud and nobody is signed in; run `ollama signin`",
            ),
            Error::Unauthorized { status, address } => write!(
                f,
                "{address} wants credentials (status {status}); Ollama itself has none, so a proxy stands before it: give it its header with `--header`"
            ),
            Error::WrongHost { address } => write!(
                f,
                "{address} refuses this name (status 403 without a word); a server that listens on loopback accepts only local names: use `localhost` or its IP address, or set OLLAMA_HOST=0.0.0.0 for the server"
            ),
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
            } => write!(
                f,
                "the server failed in the middle of the reply: {}; its log may say more; ask again",
                short(detail)
            ),
            Error::Server { status, detail } if detail.is_empty() => write!(
                f,
                "the server failed without a word (status {status}); its log says why"
            ),
            Error::Server { status, detail } => write!(
                f,
                "the server failed (status {status}): {}; its log may say more",
                short(detail)
            ),
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
