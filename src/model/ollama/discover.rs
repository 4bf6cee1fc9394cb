//! The small calls: which version, which models, which are loaded, what one can do, and loading it. A JSON answer in, the few
//! facts that are used out. Called by the engine before the first chat, by `zcoder models`, and by the watch during silence.
//!
//! ```text
//! {"models":[{"name":"qwen3:8b","model":"qwen3:8b","size":5200000000,"details":{"parameter_size":"8.2B",
//!   "quantization_level":"Q4_K_M","context_length":40960},"capabilities":["completion","tools","thinking"]}]}
//!     → ModelEntry { name: "qwen3:8b", size: 5200000000, parameter_size: "8.2B", context_length: 40960, … }
//! {"parameters":"num_ctx                        8192\nstop    \"<|im_end|>\"","model_info":{"general.architecture":"qwen3",
//!   "qwen3.context_length":40960},"capabilities":["completion","tools"]}
//!     → Card { context_length: 40960, num_ctx: 8192, capabilities: ["completion","tools"], … }
//! ```
//!
//! Refused: an answer that is no JSON or lacks the one thing asked for is [`Error::NotOllama`] (llama-server and LM Studio answer
//! some of these paths in forms of their own). Fields of another type count as absent, items without a name are left out.
//! Limits: 16 MiB an answer; `/api/show` is read token by token, its thousands of tensors are never kept.
//!
//! Read next: `model/choose.rs`, which decides by these facts.

use super::request::load_body;
use super::{Ollama, Record};
use crate::http::client::{Step, Timeouts, exchange};
use crate::http::{self, Limits, Request};
use crate::json::{Kind, Token, Tokens, Tree, Value, Writer};
use crate::model::classify::{self, Asked, BODY_LIMIT};
use crate::model::{Card, Error, Loaded, ModelEntry, Shape};
use crate::protocol::Stage;
use crate::sys::Cancel;
use std::ops::ControlFlow;
use std::time::Duration;

/// Bytes of one answer.
const ANSWER_LIMIT: usize = 16 << 20;
/// Silence before the answer to a question that needs no model. Listing waits for the start of the server, hence not less.
const LISTING: Duration = Duration::from_secs(30);
/// The same for `/api/ps`, which hangs while a model of MLX loads; a program behind `--via` has to start first.
const STATUS: Duration = Duration::from_secs(3);
const STATUS_VIA: Duration = Duration::from_secs(15);

impl Ollama {
    /// `GET /api/version`.
    pub fn version(&self, cancel: &Cancel) -> Result<String, Error> {
        let answer = self.ask("/api/version", &[], "", Some(LISTING), cancel)?;
        let tree = Tree::parse(&answer).ok();
        let version = tree.as_ref().and_then(|tree| text(tree.root(), "version"));
        version.ok_or_else(|| self.not_ollama(&answer))
    }

    /// `GET /api/tags`: what is installed.
    pub fn models(&self, cancel: &Cancel) -> Result<Vec<ModelEntry>, Error> {
        let answer = self.ask("/api/tags", &[], "", Some(LISTING), cancel)?;
        self.listed(&answer, entry)
    }

    /// `GET /api/ps`: what is loaded, longest-lived first. While a model of MLX loads the server may not answer: that ends as
    /// [`Error::Http`] after a few seconds.
    pub fn loaded(&self, cancel: &Cancel) -> Result<Vec<Loaded>, Error> {
        let limit = match self.target.via() {
            Some(_) => STATUS_VIA,
            None => STATUS,
        };
        let answer = self.ask("/api/ps", &[], "", Some(limit), cancel)?;
        self.listed(&answer, loaded)
    }

    /// `POST /api/show`.
    pub fn show(&self, model: &str, cancel: &Cancel) -> Result<Card, Error> {
        let mut json = Writer::new();
        json.begin_object().key("model").string(model).end_object();
        let body = json.finish();
        let answer = self.ask("/api/show", &[&body], model, Some(LISTING), cancel)?;
        card(&answer).ok_or_else(|| self.not_ollama(&answer))
    }

    /// `POST /api/chat` without messages: loads the model and waits until it is loaded.
    pub fn load(&self, shape: &Shape, cancel: &Cancel) -> Result<(), Error> {
        let body = load_body(shape);
        let answer = self.ask("/api/chat", &[&body], &shape.model, None, cancel)?;
        match Record::decode(answer.trim_ascii()) {
            Ok(Record {
                error: Some(text), ..
            }) => Err(classify::record(self.asked(&shape.model), &text)),
            Ok(record) if record.done => Ok(()),
            Ok(_) | Err(_) => Err(self.not_ollama(&answer)),
        }
    }

    fn listed<T>(&self, answer: &[u8], read: fn(Value<'_>) -> Option<T>) -> Result<Vec<T>, Error> {
        let tree = Tree::parse(answer).ok();
        let models = tree.as_ref().and_then(|tree| tree.root().get("models"));
        match models {
            // A server without models has written `null` for an empty list.
            Some(models) if models.is_null() || models.kind() == Kind::Array => {
                Ok(models.items().filter_map(read).collect())
            }
            Some(_) | None => Err(self.not_ollama(answer)),
        }
    }

    fn not_ollama(&self, answer: &[u8]) -> Error {
        classify::not_ollama(&self.address, 200, None, answer)
    }

    /// What a refusal is about.
    pub(super) fn asked<'a>(&'a self, model: &'a str) -> Asked<'a> {
        Asked {
            model,
            address: &self.address,
        }
    }

    /// One question, one whole answer. With a body it is a POST; without a limit of `silence` those of a chat hold.
    fn ask(
        &self,
        path: &str,
        body: &[&[u8]],
        model: &str,
        silence: Option<Duration>,
        cancel: &Cancel,
    ) -> Result<Vec<u8>, Error> {
        let method = if body.is_empty() { "GET" } else { "POST" };
        let request = Request { method, path, body };
        let limits = Limits {
            body_bytes: ANSWER_LIMIT as u64,
            ..Limits::default()
        };
        let timeouts = match silence {
            Some(silence) => Timeouts {
                connect: self.timeouts.connect.min(silence),
                first_byte: Some(silence),
                gap: Some(silence),
            },
            None => self.timeouts,
        };
        let mut answer = Vec::new();
        let mut refused = None;
        let mut on = |step: Step<'_>| {
            self.watch(&step);
            match step {
                Step::Head { head } if head.status != 200 => refused = Some(head.clone()),
                Step::Body { bytes } => {
                    answer.extend_from_slice(bytes);
                    if refused.is_some() && answer.len() > BODY_LIMIT {
                        return ControlFlow::Break(());
                    }
                }
                Step::Head { .. }
                | Step::Connected { .. }
                | Step::Sending { .. }
                | Step::Sent
                | Step::Silent { .. }
                | Step::Received { .. } => {}
            }
            ControlFlow::Continue(())
        };
        let what = format!("{method} {path}");
        self.tap.see(&Stage::ExchangeBegins(&what));
        let result = exchange(&self.target, &request, &timeouts, limits, cancel, &mut on);
        self.tap.see(&Stage::ExchangeEnds);
        match (result, refused) {
            (Err(http::Error::Cancelled), _) => Err(Error::Cancelled),
            (_, Some(head)) => {
                answer.truncate(BODY_LIMIT);
                Err(classify::refusal(self.asked(model), &head, &answer))
            }
            (result, None) => {
                result?;
                Ok(answer)
            }
        }
    }

    /// Tells the tap what the wire does.
    pub(super) fn watch(&self, step: &Step<'_>) {
        if !self.tap.is_on() {
            return;
        }
        match step {
            Step::Sending { bytes } => self.tap.see(&Stage::RequestBytes(bytes)),
            Step::Received { bytes } => self.tap.see(&Stage::WireBytes(bytes)),
            Step::Body { bytes } => self.tap.see(&Stage::BodyBytes(bytes)),
            Step::Connected { .. } | Step::Sent | Step::Silent { .. } | Step::Head { .. } => {}
        }
    }
}

fn loaded(item: Value<'_>) -> Option<Loaded> {
    Some(Loaded {
        name: text(item, "name").or_else(|| text(item, "model"))?,
        size: number(item, "size").unwrap_or(0),
        size_vram: number(item, "size_vram").unwrap_or(0),
        context_length: number(item, "context_length"),
    })
}

fn entry(item: Value<'_>) -> Option<ModelEntry> {
    let details = item.get("details");
    let detail = |key| details.and_then(|details| text(details, key));
    Some(ModelEntry {
        name: text(item, "name").or_else(|| text(item, "model"))?,
        size: number(item, "size").unwrap_or(0),
        parameter_size: detail("parameter_size"),
        quantization: detail("quantization_level"),
        context_length: details.and_then(|details| number(details, "context_length")),
        capabilities: names(item.get("capabilities")),
        remote_host: text(item, "remote_host"),
    })
}

/// Reads the answer of `/api/show`; `None` when it is no JSON object or none of its keys is known.
fn card(answer: &[u8]) -> Option<Card> {
    let mut tokens = Tokens::new(answer);
    let mut card = Card::default();
    let mut is_known = false;
    if tokens.next().ok()? != Token::BeginObject {
        return None;
    }
    while let Token::Key(key) = tokens.next().ok()? {
        if key.is("capabilities") {
            card.capabilities = names(Some(tokens.tree().ok()?.root()));
        } else if key.is("details") {
            let details = tokens.tree().ok()?;
            card.parameter_size = text(details.root(), "parameter_size");
            let length = number(details.root(), "context_length");
            card.context_length = card.context_length.or(length);
        } else if key.is("model_info") {
            let info = tokens.tree().ok()?;
            card.context_length = trained_length(info.root()).or(card.context_length);
        } else if key.is("parameters") {
            let parameters = tokens.tree().ok()?;
            card.num_ctx = parameters.root().as_str().and_then(window_parameter);
        } else if key.is("remote_host") {
            let host = tokens.tree().ok()?;
            card.remote_host = host.root().as_str().map(str::to_string);
        } else {
            tokens.skip().ok()?;
            continue;
        }
        is_known = true;
    }
    tokens.next().ok()?;
    is_known.then_some(card)
}

/// `<architecture>.context_length`, or the only key with that end.
fn trained_length(info: Value<'_>) -> Option<u64> {
    let by_architecture = text(info, "general.architecture")
        .and_then(|architecture| number(info, &format!("{architecture}.context_length")));
    by_architecture.or_else(|| {
        let mut members = info.members();
        let (_, value) = members.find(|(key, _)| key.ends_with(".context_length"))?;
        value.as_number()?.as_u64()
    })
}

/// `num_ctx` in the lines of `parameters`: a key, blanks, a value.
fn window_parameter(parameters: &str) -> Option<u64> {
    let mut lines = parameters.lines();
    lines.find_map(|line| {
        let (key, value) = line.trim().split_once(char::is_whitespace)?;
        (key == "num_ctx").then(|| value.trim().parse().ok())?
    })
}

fn text(value: Value<'_>, key: &str) -> Option<String> {
    let text = value.get(key)?.as_str()?;
    (!text.is_empty()).then(|| text.to_string())
}

fn number(value: Value<'_>, key: &str) -> Option<u64> {
    value.get(key)?.as_number()?.as_u64()
}

/// An array of strings; `None` when it is missing, which means "unknown", not "none".
fn names(value: Option<Value<'_>>) -> Option<Vec<String>> {
    let value = value.filter(|value| value.kind() == Kind::Array)?;
    let names = value.items().filter_map(|item| item.as_str());
    Some(names.map(str::to_string).collect())
}
