//! The models that the stand-in lists, and what it says of them: `/api/tags`, `/api/ps`, `/api/show`. Pure.
//!
//! ```text
//! GET /api/tags   {"models":[{"name":"stand-in:latest","model":"stand-in:latest","modified_at":…,"size":…,"digest":…,
//!                  "details":{…,"context_length":131072},"capabilities":["completion","tools","thinking"]}]}
//! POST /api/show  {"details":{…},"model_info":{"general.architecture":"standin","standin.context_length":131072},
//!                  "capabilities":[…],"modified_at":…}
//! ```
//!
//! Names are taken as Ollama takes them: without regard to case, `:latest` if no tag is given.
//!
//! Invariant: every answer is the same in every run; times are [`EPOCH`], since the stand-in has no clock.

use crate::json::Writer;
use crate::sha256;

/// The one moment of the stand-in.
pub(super) const EPOCH: &str = "2026-01-01T00:00:00Z";

/// The length that the model says it was trained for.
pub(super) const CONTEXT_LENGTH: u64 = 131_072;

/// Bytes of the model file it says it has.
const SIZE: u64 = 1_000_000_000;

/// One listed model.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Model {
    /// Name with its tag.
    pub(super) name: &'static str,
    /// What it can do besides chatting.
    pub(super) tools: bool,
    /// Whether it can think.
    pub(super) thinking: bool,
    /// Set: the server forwards to this host.
    pub(super) remote_host: Option<&'static str>,
}

/// The one that is always there, unless a scene says otherwise.
pub(super) const STAND_IN: Model = Model {
    name: "stand-in:latest",
    tools: true,
    thinking: true,
    remote_host: None,
};

/// The model of this name.
pub(super) fn find(models: &[Model], name: &str) -> Option<Model> {
    let tagged = |name: &str| {
        let last = name.rsplit('/').next().unwrap_or(name);
        match last.contains(':') {
            true => name.to_ascii_lowercase(),
            false => format!("{}:latest", name.to_ascii_lowercase()),
        }
    };
    let wanted = tagged(name);
    models.iter().copied().find(|model| model.name == wanted)
}

/// `/api/tags`.
pub(super) fn tags(models: &[Model]) -> Vec<u8> {
    let mut json = Writer::new();
    json.begin_object().key("models").begin_array();
    for model in models {
        json.begin_object();
        named(&mut json, model);
        json.key("modified_at").string(EPOCH);
        json.key("size").u64(SIZE);
        json.key("digest").string(&digest(model));
        json.key("details");
        details(&mut json);
        remote(&mut json, model);
        json.key("capabilities");
        capabilities(&mut json, model);
        json.end_object();
    }
    json.end_array().end_object();
    json.finish()
}

/// `/api/ps`: the one loaded model with its window, if there is one.
pub(super) fn ps(loaded: Option<(Model, u64)>) -> Vec<u8> {
    let mut json = Writer::new();
    json.begin_object().key("models").begin_array();
    if let Some((model, window)) = loaded {
        json.begin_object();
        named(&mut json, &model);
        json.key("size").u64(SIZE);
        json.key("digest").string(&digest(&model));
        json.key("details");
        details(&mut json);
        json.key("expires_at").string(EPOCH);
        json.key("size_vram").u64(SIZE);
        json.key("context_length").u64(window);
        json.end_object();
    }
    json.end_array().end_object();
    json.finish()
}

/// `/api/show`.
pub(super) fn show(model: &Model) -> Vec<u8> {
    let mut json = Writer::new();
    json.begin_object();
    json.key("details");
    details(&mut json);
    remote(&mut json, model);
    json.key("model_info").begin_object();
    json.key("general.architecture").string("standin");
    json.key("standin.context_length").u64(CONTEXT_LENGTH);
    json.end_object();
    json.key("capabilities");
    capabilities(&mut json, model);
    json.key("modified_at").string(EPOCH);
    json.end_object();
    json.finish()
}

fn named(json: &mut Writer, model: &Model) {
    json.key("name").string(model.name);
    json.key("model").string(model.name);
}

fn details(json: &mut Writer) {
    json.begin_object();
    json.key("parent_model").string("");
    json.key("format").string("gguf");
    json.key("family").string("standin");
    json.key("families")
        .begin_array()
        .string("standin")
        .end_array();
    json.key("parameter_size").string("0.0B");
    json.key("quantization_level").string("none");
    json.key("context_length").u64(CONTEXT_LENGTH);
    json.end_object();
}

fn remote(json: &mut Writer, model: &Model) {
    if let Some(host) = model.remote_host {
        json.key("remote_model").string(model.name);
        json.key("remote_host").string(host);
    }
}

fn capabilities(json: &mut Writer, model: &Model) {
    json.begin_array().string("completion");
    if model.tools {
        json.string("tools");
    }
    if model.thinking {
        json.string("thinking");
    }
    json.end_array();
}

/// 64 digits, as of a SHA-256; a name is all there is to digest.
fn digest(model: &Model) -> String {
    sha256::hex(&sha256::digest(model.name.as_bytes()))
}
