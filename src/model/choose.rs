//! Which model, which window, and why: what the user wished and what the server said in, a choice with its reason out. Pure
//! functions; the engine calls them once a session and after each reply.
//!
//! ```text
//! --model qwen3            qwen3:latest installed               → qwen3:latest   "named by --model"
//! --model qwen3            only qwen3:8b installed              → Missing, near: qwen3:8b
//! (nothing)                qwen3:8b [tools], gemma3 []          → qwen3:8b       "the only model with tools here"
//! (nothing)                two with tools, one of them loaded   → the loaded one
//! (nothing)                two with tools, none loaded          → Several: the user must say
//! (nothing)                one model, without tools             → that one, with `--tool-style auto` or `text`
//!
//! window: the user's; else the loaded one from 16,384 on; else min(trained length, 32,768), 16,384 when that is unknown
//! ```
//!
//! Names are compared without regard to case, `:latest` is what a name without tag means. A model that another host runs
//! (`remote_host`, `:cloud`, `-cloud`) is never chosen unasked: prompts would leave the machine.
//!
//! Refused, with the names there are and the next step ([`ChooseError`]): a name the server does not have, no model at all, none
//! with tools, several and none named.
//!
//! Invariant: the same facts give the same choice; nothing is asked and nothing is remembered here.
//!
//! Read next: `ollama/discover.rs`, where the facts come from.

use super::{Card, Loaded, ModelEntry, ToolStyle};
use crate::protocol::Usage;
use crate::sort;
use crate::text::{distance, grouped};
use std::fmt;

/// A window that a coding task fits into; smaller loaded ones are not kept.
const LEAST_KEPT: u64 = 16_384;
/// Asked for when the model can do it.
const WANTED: u64 = 32_768;
/// How many names an error lists.
const MAX_NAMES: usize = 8;

/// What the user wished.
#[derive(Clone, Debug, Default)]
pub struct Wish {
    /// A name, and where it was said (`--model`, `ZCODER_MODEL`, a settings file).
    pub model: Option<(String, &'static str)>,
    /// The model of the session that goes on.
    pub last_used: Option<String>,
    /// The window, in tokens.
    pub num_ctx: Option<u64>,
    /// Whether tools are needed: not when they are described in text.
    pub tool_style: ToolStyle,
}

/// The choice.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Choice {
    /// As the server spells it.
    pub model: String,
    /// "named by --model".
    pub why: String,
}

/// Why none; the text lists the local models and the next step.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ChooseError {
    /// The server has none at all.
    NoModels,
    /// It does not have this one.
    Missing {
        /// As asked for.
        wanted: String,
        /// Where it was said.
        source: &'static str,
        /// Similar names on this server, or all of them when there are few.
        near: Vec<String>,
    },
    /// Several could be meant.
    Several {
        /// Those with tools.
        names: Vec<String>,
    },
    /// Several, and none is known to support tools.
    NoneWithTools {
        /// All of them.
        names: Vec<String>,
    },
    /// All run on other hosts.
    OnlyElsewhere {
        /// All of them.
        names: Vec<String>,
    },
}

impl fmt::Display for ChooseError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            ChooseError::NoModels => f.write_str(
                "the server has no models; get one that supports tools, for example with `ollama pull qwen3`",
            ),
            ChooseError::Missing {
                wanted,
                source,
                near,
            } => {
                write!(f, "the server has no model `{wanted}` (named by {source}); ")?;
                if !near.is_empty() {
                    write!(f, "near names there: {}; or ", near.join(", "))?;
                }
                write!(f, "get it with `ollama pull {wanted}`")
            }
            ChooseError::Several { names } => write!(
                f,
                "several models could be meant and none was named: {}; choose one, for example `--model {}`",
                names.join(", "),
                names.first().map_or("NAME", String::as_str)
            ),
            ChooseError::OnlyElsewhere { names } => write!(
                f,
                "all models of the server run on other hosts: {}; name one with `--model`, or get a local one with `ollama pull qwen3`",
                names.join(", ")
            ),
            ChooseError::NoneWithTools { names } => write!(
                f,
                "no model of the server supports tools: {}; get one with `ollama pull qwen3`, or name one with `--model` and `--tool-style text`",
                names.join(", ")
            ),
        }
    }
}

impl std::error::Error for ChooseError {}

/// Why it is the model of the session that goes on.
pub const OF_SESSION: &str = "as in the session so far";

/// Chooses, in this order: named, that of the session, the only one with tools, a loaded one with tools.
pub fn choose(
    wish: &Wish,
    entries: &[ModelEntry],
    loaded: &[Loaded],
) -> Result<Choice, ChooseError> {
    let find = |name: &str| entries.iter().find(|entry| same_model(&entry.name, name));
    if let Some((wanted, source)) = &wish.model {
        let missing = || ChooseError::Missing {
            wanted: wanted.clone(),
            source,
            near: near(wanted, entries),
        };
        let entry = find(wanted).ok_or_else(missing)?;
        return Ok(chosen(entry, &format!("named by {source}")));
    }
    if entries.is_empty() {
        return Err(ChooseError::NoModels);
    }
    if let Some(entry) = wish.last_used.as_deref().and_then(find) {
        return Ok(chosen(entry, OF_SESSION));
    }
    let local: Vec<&ModelEntry> = entries.iter().filter(|entry| is_local(entry)).collect();
    let able: Vec<&ModelEntry> = match wish.tool_style {
        ToolStyle::Text => local.clone(),
        ToolStyle::Auto | ToolStyle::Native => {
            let local = local.iter().copied();
            local.filter(|entry| may_use_tools(entry)).collect()
        }
    };
    let only = match entries.len() {
        1 => "the only model here",
        _ => "the only local model here",
    };
    let mut by_age = loaded.iter();
    let running = by_age.find_map(|loaded| {
        let mut able = able.iter();
        able.find(|entry| same_model(&entry.name, &loaded.name))
    });
    let of_these = |entries: &[&ModelEntry]| names(entries.iter().copied());
    match (&able[..], &local[..]) {
        ([], []) => Err(ChooseError::OnlyElsewhere {
            names: names(entries.iter()),
        }),
        ([], [entry]) if wish.tool_style == ToolStyle::Auto => {
            let why = format!("{only}; it has no tools, so they are described to it in text");
            Ok(chosen(entry, &why))
        }
        ([], _) => Err(ChooseError::NoneWithTools {
            names: of_these(&local),
        }),
        ([entry], [_]) => Ok(chosen(entry, only)),
        ([entry], _) if entry.capabilities.is_some() => {
            Ok(chosen(entry, "the only model with tools here"))
        }
        ([entry], _) => Ok(chosen(entry, "the only model here that may support tools")),
        _ => match running {
            Some(entry) => Ok(chosen(entry, "already loaded")),
            None => Err(ChooseError::Several {
                names: of_these(&able),
            }),
        },
    }
}

fn chosen(entry: &ModelEntry, why: &str) -> Choice {
    Choice {
        model: entry.name.clone(),
        why: why.to_string(),
    }
}

/// Run by this server itself.
fn is_local(entry: &ModelEntry) -> bool {
    cloud_host(&entry.name, entry.remote_host.as_deref()).is_none()
}

/// With tools as far as is known: old servers do not list capabilities.
fn may_use_tools(entry: &ModelEntry) -> bool {
    let known = entry.capabilities.as_ref();
    known.is_none_or(|names| names.iter().any(|name| name == "tools"))
}

fn names<'a>(entries: impl Iterator<Item = &'a ModelEntry>) -> Vec<String> {
    entries.map(|entry| entry.name.clone()).collect()
}

/// The local models that are known to support tools.
pub(super) fn with_tools(entries: &[ModelEntry]) -> Vec<String> {
    let known = entries.iter().filter(|entry| entry.capabilities.is_some());
    let able = known.filter(|entry| is_local(entry) && may_use_tools(entry));
    names(able.take(MAX_NAMES))
}

/// Names that resemble `wanted`, best first; all of them when none does and there are few.
pub(super) fn near(wanted: &str, entries: &[ModelEntry]) -> Vec<String> {
    let (wanted_base, wanted_tag) = split_name(wanted);
    let mut scored: Vec<(usize, &ModelEntry)> = entries
        .iter()
        .filter_map(|entry| {
            let (base, tag) = split_name(&entry.name);
            let tag_differs = usize::from(tag != wanted_tag);
            let inside = base.starts_with(&wanted_base) || wanted_base.starts_with(&base);
            let distance = distance(&base, &wanted_base);
            let is_near = inside || distance <= wanted_base.chars().count() / 3;
            is_near.then_some((distance * 2 + tag_differs, entry))
        })
        .collect();
    sort::by_key(&mut scored, |(score, _)| *score);
    if scored.is_empty() && entries.len() <= MAX_NAMES {
        return names(entries.iter());
    }
    names(scored.into_iter().map(|(_, entry)| entry).take(MAX_NAMES))
}

/// Whether two names mean one model.
pub(super) fn same_model(one: &str, other: &str) -> bool {
    split_name(one) == split_name(other)
}

/// Name and tag in lower case, without the registry that is meant anyway.
fn split_name(name: &str) -> (String, String) {
    let lower = name.trim().to_lowercase();
    let short = lower.strip_prefix("registry.ollama.ai/").unwrap_or(&lower);
    let short = short.strip_prefix("library/").unwrap_or(short);
    let base_start = short.rfind('/').map_or(0, |slash| slash + 1);
    // A colon before that belongs to a port.
    let colon = short[base_start..].find(':').map(|at| base_start + at);
    let (base, tag) = short.split_at(colon.unwrap_or(short.len()));
    let tag = tag.strip_prefix(':').filter(|tag| !tag.is_empty());
    (base.to_string(), tag.unwrap_or("latest").to_string())
}

/// The host that would run the model instead of this server, if any: its own word, or the name that Ollama's cloud uses.
pub fn cloud_host(model: &str, remote_host: Option<&str>) -> Option<String> {
    if let Some(host) = remote_host.filter(|host| !host.is_empty()) {
        return Some(host.to_string());
    }
    let (_, tag) = split_name(model);
    let is_cloud = tag == "cloud" || tag.ends_with("-cloud");
    is_cloud.then(|| "ollama.com".to_string())
}

/// The window and why ("loaded with 32,768"; "the model will reload").
pub fn window(wish: &Wish, card: &Card, loaded: Option<&Loaded>) -> (u64, String) {
    let running = loaded.and_then(|loaded| loaded.context_length);
    let (mut window, mut why) = match (wish.num_ctx, running) {
        (Some(wished), _) => (wished, "as set".to_string()),
        (None, Some(running)) if running >= LEAST_KEPT => {
            return (running, format!("loaded with {}", grouped(running)));
        }
        (None, _) => match card.context_length {
            Some(trained) if trained <= WANTED => {
                (trained, "all the model was trained for".to_string())
            }
            Some(trained) => {
                let why = format!("the model could have up to {}", grouped(trained));
                (WANTED, why)
            }
            None => (
                LEAST_KEPT,
                "the model does not say what it was trained for".to_string(),
            ),
        },
    };
    if let Some(trained) = card.context_length.filter(|&trained| trained < window) {
        why = format!(
            "{} {why}, but the model was trained for {} only, and no server gives it more",
            grouped(window),
            grouped(trained)
        );
        window = trained;
    }
    if let Some(running) = running.filter(|&running| running != window) {
        why.push_str(&format!(
            "; the model will reload, it is loaded with {}",
            grouped(running)
        ));
    }
    (window, why)
}

/// What to say when part of a loaded model runs on the CPU; `None` when all of it is in video memory or nothing is known.
pub fn cpu_notice(loaded: &Loaded, window: u64) -> Option<String> {
    let Loaded {
        name,
        size,
        size_vram,
        ..
    } = loaded;
    if *size == 0 || size_vram >= size {
        return None;
    }
    if *size_vram == 0 {
        return Some(format!(
            "`{name}` runs on the CPU alone ({} of memory); a smaller model will be faster",
            gigabytes(*size)
        ));
    }
    let percent = ((size - size_vram) as f64 / *size as f64 * 100.0)
        .round()
        .max(1.0);
    let mut notice = format!(
        "{percent:.0} % of `{name}` runs on the CPU ({} of {} are in video memory)",
        gigabytes(*size_vram),
        gigabytes(*size)
    );
    let smaller = window.next_power_of_two() / 2;
    if smaller >= 8192 && smaller < window {
        notice.push_str(&format!(
            "; a smaller window needs less: `--context-window {smaller}`"
        ));
    } else {
        notice.push_str("; a smaller model will be faster");
    }
    Some(notice)
}

/// What to say when the server seems to have cut the prompt or forgotten its beginning. `estimate` is our own count of the
/// request's tokens, `previous` the server's count of the request before, which was a part of this one.
pub fn cut_notice(
    estimate: u64,
    previous: Option<u64>,
    usage: &Usage,
    window: u64,
) -> Option<String> {
    let prompt = usage.prompt_tokens?;
    let output = usage.output_tokens.unwrap_or(0);
    let half = window / 2 + 2;
    let at_half = prompt.abs_diff(half) <= 4 && estimate > window.saturating_mul(3) / 4;
    // The estimate is a rule of thumb: only a count far below it means something.
    let far_below = estimate >= 2000 && prompt < estimate / 3;
    let shrunk = previous.is_some_and(|previous| prompt + 64 < previous);
    if at_half || far_below || shrunk {
        return Some(format!(
            "the server read {} tokens of a prompt of about {}: it has probably cut the beginning; set a larger window with `--context-window` or start afresh",
            grouped(prompt),
            grouped(estimate.max(previous.unwrap_or(0)))
        ));
    }
    (prompt + output > window).then(|| {
        format!(
            "prompt and reply together ({} tokens) were larger than the window ({}): the server has probably forgotten the beginning; set a larger one with `--context-window`",
            grouped(prompt + output),
            grouped(window)
        )
    })
}

/// `9.4 GB`, as the vendors of memory count.
fn gigabytes(bytes: u64) -> String {
    format!("{:.1} GB", bytes as f64 / 1e9)
}
