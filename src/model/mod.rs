//! The model server: which models it has, which window to ask for, and one chat exchange at a time, from a conversation to a
//! complete reply. The engine calls [`Backend`]; nothing above this folder knows the bytes on the wire.
//!
//! ```text
//! Shape, Message…  ──request.rs──▶  {"model":"qwen3:8b","stream":true, … "messages":[ … ]}         one POST
//!                                   {"message":{"thinking":"Let me"},"done":false}                  a record a line
//!                  ◀──record.rs───  {"message":{"content":"","tool_calls":[ … ]},"done":true, … }
//! Reply { content, thinking, calls, stop, usage }  ◀── assemble.rs, leak.rs, recover.rs
//! ```
//!
//! What the server refuses comes out as [`Error`], one variant for each case that somebody treats in its own way; its text says
//! what to do. Limits: a record 16 MiB, an answer 64 MiB, resends 2.
//!
//! Invariant: tool calls come out of complete replies only.
//! Invariant: this folder opens connections and threads, and touches neither files nor the terminal.
//!
//! Read next: `ollama/mod.rs` (the protocol), `choose.rs` (model and window), `script.rs` (recorded exchanges).

mod assemble;
mod choose;
mod classify;
mod error;
mod leak;
pub mod ollama;
mod prose;
mod recover;
pub mod script;

pub use assemble::{Assembler, Failed, Unfinished};
pub use choose::{
    Choice, ChooseError, OF_SESSION, Wish, choose, cloud_host, cpu_notice, cut_notice, window,
};
pub use error::{Error, Why};
pub use ollama::RequestBody;
pub use recover::{FoundCall, Recovered, recover};

use crate::http::Target;
use crate::http::client::Timeouts;
use crate::protocol::{StopReason, Tap, ToolCall, Usage, Waiting};
use crate::sys::Cancel;
use std::sync::Arc;
use std::time::Duration;

/// `--think`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Think {
    /// `"think":true`.
    On,
    /// `"think":false`.
    Off,
    /// `"think":"low"`.
    Low,
    /// `"think":"medium"`.
    Medium,
    /// `"think":"high"`.
    High,
}

impl Think {
    /// From such a value.
    pub fn from_json(json: &str) -> Option<Think> {
        let all = [
            Think::On,
            Think::Off,
            Think::Low,
            Think::Medium,
            Think::High,
        ];
        all.into_iter().find(|think| think.json() == json)
    }

    /// Its value in a request.
    pub fn json(self) -> &'static str {
        match self {
            Think::On => "true",
            Think::Off => "false",
            Think::Low => "\"low\"",
            Think::Medium => "\"medium\"",
            Think::High => "\"high\"",
        }
    }
}

/// How the model is told of tools.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum ToolStyle {
    /// Natively when the model can, else in text.
    #[default]
    Auto,
    /// In the `tools` of the request.
    Native,
    /// In the system message; calls are read from the content.
    Text,
}

/// How long we wait by our own choice before the server is bothered again.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Delays {
    /// Before the same bytes are sent again to a server that is busy or failed; twice that before the second time.
    pub busy: Duration,
    /// Before they are sent again to a server that lacked memory: it may be unloading another model.
    pub unloading: Duration,
    /// Silence between two questions what the server is doing.
    pub status: Duration,
    /// The same behind `--via`, where each question starts a program.
    pub status_via: Duration,
}

impl Default for Delays {
    fn default() -> Delays {
        Delays {
            busy: Duration::from_secs(2),
            unloading: Duration::from_secs(5),
            status: Duration::from_secs(5),
            status_via: Duration::from_secs(30),
        }
    }
}

/// What the user set about the server and the model.
#[derive(Clone, Debug)]
pub struct Options {
    /// Where the server is.
    pub target: Target,
    /// Limits of silence.
    pub timeouts: Timeouts,
    /// Waits of our own choice.
    pub delays: Delays,
    /// A model, and where it was named.
    pub model: Option<(String, &'static str)>,
    /// The model of the session that goes on.
    pub last_used: Option<String>,
    /// The window in tokens.
    pub num_ctx: Option<u64>,
    /// Whether and how much to think; `None` leaves it to the model.
    pub think: Option<Think>,
    /// How long the model stays loaded: seconds or a duration as Go writes it; `None` leaves it to the server.
    pub keep_alive: Option<String>,
    /// How calls travel.
    pub tool_style: ToolStyle,
    /// Whether prompts may go to a model that another host runs.
    pub allow_cloud: bool,
    /// Sampling temperature; `None` leaves it to the model.
    pub temperature: Option<f64>,
    /// Sampling seed; `None` leaves it to the server.
    pub seed: Option<u64>,
}

impl Options {
    /// This server, and nothing else set.
    pub fn new(target: Target) -> Options {
        Options {
            target,
            timeouts: Timeouts::default(),
            delays: Delays::default(),
            model: None,
            last_used: None,
            num_ctx: None,
            think: None,
            keep_alive: None,
            tool_style: ToolStyle::default(),
            allow_cloud: false,
            temperature: None,
            seed: None,
        }
    }
}

/// One installed model.
#[derive(Clone, Debug, PartialEq)]
pub struct ModelEntry {
    /// With its tag.
    pub name: String,
    /// Bytes on the server's disk.
    pub size: u64,
    /// `8.2B`.
    pub parameter_size: Option<String>,
    /// `Q4_K_M`.
    pub quantization: Option<String>,
    /// Tokens it was trained for.
    pub context_length: Option<u64>,
    /// `completion`, `tools`, `thinking`, …; `None` when the server does not list them.
    pub capabilities: Option<Vec<String>>,
    /// The host that runs it, when it is not this server.
    pub remote_host: Option<String>,
}

/// One loaded model.
#[derive(Clone, Debug, PartialEq)]
pub struct Loaded {
    /// With its tag.
    pub name: String,
    /// Bytes of memory in all.
    pub size: u64,
    /// Bytes of it in video memory.
    pub size_vram: u64,
    /// Tokens of the allocated window.
    pub context_length: Option<u64>,
}

/// What `/api/show` says that we use.
#[derive(Clone, Debug, PartialEq, Default)]
pub struct Card {
    /// As in [`ModelEntry`].
    pub capabilities: Option<Vec<String>>,
    /// Tokens it was trained for.
    pub context_length: Option<u64>,
    /// The window its maker set.
    pub num_ctx: Option<u64>,
    /// `8.2B`.
    pub parameter_size: Option<String>,
    /// The host that runs it, when it is not this server.
    pub remote_host: Option<String>,
}

/// What is decided once a session and constant in each request.
#[derive(Clone, Debug, PartialEq)]
pub struct Shape {
    /// As the server spells it.
    pub model: String,
    /// Tokens; sent as `num_ctx`.
    pub window: u64,
    /// Tokens of the reply; sent as `num_predict`. `None`: not sent.
    pub max_output: Option<u64>,
    /// `None`: not sent.
    pub think: Option<Think>,
    /// The `tools` array as JSON text; `None`: the text protocol, or no tools at all.
    pub native_tools: Option<String>,
    /// `None`: not sent.
    pub keep_alive: Option<String>,
    /// `None`: not sent.
    pub temperature: Option<f64>,
    /// `None`: not sent.
    pub seed: Option<u64>,
}

/// A complete, validated reply.
#[derive(Clone, Debug, PartialEq)]
pub struct Reply {
    /// The answer, without calls and thinking that stood in it.
    pub content: Arc<String>,
    /// The thinking.
    pub thinking: Arc<String>,
    /// In order, each with an id of its own. Names and arguments are as the model made them.
    pub calls: Vec<ToolCall>,
    /// Why it ended.
    pub stop: StopReason,
    /// Counters.
    pub usage: Usage,
    /// The calls were found in text.
    pub recovered: bool,
    /// The content clearly tried a call that could not be read: what was wrong, for the model.
    pub tried: Option<String>,
    /// What was odd, for people.
    pub notes: Vec<String>,
}

/// News while a chat runs.
#[derive(Debug)]
pub enum Progress<'a> {
    /// The whole request was written.
    Sent {
        /// Bytes of its body.
        bytes: u64,
    },
    /// Told once a second while nothing comes.
    Waiting(Waiting),
    /// The model was seen loaded while waiting (at most once a chat).
    Loaded(&'a Loaded),
    /// More thinking.
    Thinking(&'a str),
    /// More of the answer.
    Content(&'a str),
    /// What was shown so far is void: the request is sent again.
    Resending {
        /// What went wrong.
        why: &'a str,
        /// 1 or 2.
        attempt: u32,
    },
}

/// What a chat needs to know beyond the bytes.
#[derive(Clone, Copy, Debug)]
pub struct Chat<'a> {
    /// Tool names that calls found in text may name.
    pub offered: &'a [&'a str],
    /// Text protocol: only `<function=…>` counts.
    pub text_style: bool,
    /// Estimate of tokens new to the server, for the waiting line.
    pub new_tokens: u64,
    /// Last known prompt speed, tokens per second.
    pub prompt_speed: Option<f64>,
}

/// The kinds of server. Cheap to clone; calls from several threads do not disturb each other.
#[derive(Clone, Debug)]
pub enum Backend {
    /// Ollama's native protocol.
    Ollama(ollama::Ollama),
}

impl Backend {
    /// Ollama at the target of `options`. Connects to nothing.
    pub fn ollama(options: &Options, tap: Tap) -> Backend {
        Backend::Ollama(ollama::Ollama::new(options, tap))
    }

    /// The server's version.
    pub fn version(&self, cancel: &Cancel) -> Result<String, Error> {
        match self {
            Backend::Ollama(server) => server.version(cancel),
        }
    }

    /// What is installed.
    pub fn models(&self, cancel: &Cancel) -> Result<Vec<ModelEntry>, Error> {
        match self {
            Backend::Ollama(server) => server.models(cancel),
        }
    }

    /// What is loaded, longest-lived first. May fail where everything else works (see [`ollama::Ollama::loaded`]).
    pub fn loaded(&self, cancel: &Cancel) -> Result<Vec<Loaded>, Error> {
        match self {
            Backend::Ollama(server) => server.loaded(cancel),
        }
    }

    /// What one model can do.
    pub fn show(&self, model: &str, cancel: &Cancel) -> Result<Card, Error> {
        match self {
            Backend::Ollama(server) => server.show(model, cancel),
        }
    }

    /// Loads the model with the options of the chat (warm-up), and returns when it is loaded.
    pub fn load(&self, shape: &Shape, cancel: &Cancel) -> Result<(), Error> {
        match self {
            Backend::Ollama(server) => server.load(shape, cancel),
        }
    }

    /// Starts a request whose answer is streamed: everything before the first message.
    pub fn begin(&self, shape: &Shape) -> RequestBody {
        match self {
            Backend::Ollama(_) => RequestBody::begin(shape),
        }
    }

    /// One model call: sends, streams, assembles, resends by the rules, recovers calls found in content when `chat.offered` names
    /// them. A turned `cancel` ends it at once with [`Error::Cancelled`].
    pub fn chat(
        &self,
        shape: &Shape,
        body: &RequestBody,
        chat: &Chat<'_>,
        cancel: &Cancel,
        on: &mut dyn FnMut(Progress<'_>),
    ) -> Result<Reply, Error> {
        match self {
            Backend::Ollama(server) => server.chat(shape, body, chat, cancel, on),
        }
    }
}
