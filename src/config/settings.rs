//! What was said, given its meaning: numbers parsed, paths made absolute, conflicts refused, and one small struct for each
//! part of the program. Nobody receives the whole; each command resolves the parts it uses, so that a bad OLLAMA_HOST does not
//! keep `zcoder decode` from working.
//!
//! ```text
//! --context-window 32k             → num_ctx 32768        --gap-timeout off → None
//! --think on --no-think → Conflict     ZCODER_THINK=on … --no-think → Off: a flag beats a variable
//! ```
//!
//! Invariant: no `Option` here means "use the default"; `None` is a value of its own (no limit, let the server decide).
//! Invariant: nothing is written and nothing connects; the workspace is only looked at.
//!
//! Read next: `paths.rs` and `permissions.rs`, two parts with rules of their own; then `commands/run.rs`, which makes an `engine::Setup` of these.

use super::env::{Env, current_folder};
use super::error::{Source, UsageError};
use super::flags::Id;
use super::paths::Paths;
use super::permissions::{self, Permissions};
use super::typed::{Given, Typed, without_secret};
use crate::engine::{Compaction, TurnLimits};
use crate::headless::Output;
use crate::http::client::Timeouts;
use crate::http::{Endpoint, Target, Via};
use crate::model::{Delays, Options as ModelOptions, Think, ToolStyle};
use crate::policy::Check;
use crate::standin::Pace;
use crate::text::grouped;
use crate::tools::Limits;
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::time::Duration;

/// Window given to a smaller number would not hold our own instructions and one file.
const MIN_WINDOW: u64 = 4_096;
/// No model of today goes beyond; a larger number is a typing error.
const MAX_WINDOW: u64 = 10_485_760;
/// A day: longer limits are "off" or a mistake.
const MAX_SECONDS: u64 = 86_400;

/// Server and model, with warnings to be said.
#[derive(Clone, Debug)]
pub struct Server {
    /// For the model layer.
    pub options: ModelOptions,
    /// Set but not as meant ("port 66000 became 11434").
    pub warnings: Vec<String>,
}

/// Resolves what reaches the server.
pub fn server(typed: &Typed) -> Result<Server, UsageError> {
    let mut warnings = Vec::new();
    let named = typed.get(Id::Model).map(|given| given.source.name());
    let options = ModelOptions {
        target: target(typed, &mut warnings)?,
        timeouts: timeouts(typed)?,
        delays: Delays::default(),
        model: filled(typed, Id::Model, "a model's name")?.zip(named),
        last_used: None,
        num_ctx: window(typed)?,
        think: think(typed)?,
        keep_alive: typed.get(Id::KeepAlive).map(keep_alive).transpose()?,
        tool_style: match typed.word(Id::ToolStyle)? {
            Some("native") => ToolStyle::Native,
            Some("text") => ToolStyle::Text,
            _ => ToolStyle::Auto,
        },
        allow_cloud: typed.is_on(Id::AllowCloud),
        temperature: typed.get(Id::Temperature).map(temperature).transpose()?,
        seed: number(typed, Id::Seed, 0, u64::MAX)?,
    };
    Ok(Server { options, warnings })
}

fn target(typed: &Typed, warnings: &mut Vec<String>) -> Result<Target, UsageError> {
    let host = typed.get(Id::Host);
    let (endpoint, warning) = endpoint(host)?;
    warnings.extend(warning);
    let via =
        |given: &Given| Via::parse(given.text()?).map_err(|error| given.bad(error.to_string()));
    let via = typed.get(Id::Via).map(via).transpose()?;
    let headers = typed
        .all(Id::Header)
        .map(header)
        .collect::<Result<_, _>>()?;
    Target::new(endpoint, via, headers).map_err(|error| no_address(host, &error.to_string()))
}

/// The address, and what is to be said of it.
fn endpoint(host: Option<&Given>) -> Result<(Endpoint, Option<String>), UsageError> {
    let text = host.map(Given::text).transpose()?.unwrap_or("");
    Endpoint::parse(text).map_err(|error| no_address(host, &error.to_string()))
}

fn no_address(host: Option<&Given>, cause: &str) -> UsageError {
    UsageError::File {
        source: host.map_or(Source::Flag("--host"), |given| given.source),
        file: without_secret(host.map_or("", Given::word)),
        cause: cause.to_string(),
    }
}

/// `Name: value` with a token for a name (RFC 9110 5.1), no control characters, and none of the headers that frame a message.
fn header(given: &Given) -> Result<(String, String), UsageError> {
    const OURS: [&str; 5] = [
        "host",
        "content-length",
        "transfer-encoding",
        "connection",
        "content-type",
    ];
    let wanted = "`Name: value` in ASCII, and none of the headers that zcoder sets itself";
    let token = |c: char| c.is_ascii_alphanumeric() || "!#$%&'*+-.^_`|~".contains(c);
    let (name, value) = given
        .text()?
        .split_once(':')
        .ok_or_else(|| given.bad(wanted))?;
    let value = value.trim();
    let fits = !name.is_empty()
        && name.chars().all(token)
        && value.chars().all(|c| (' '..='~').contains(&c));
    if !fits || OURS.contains(&name.to_ascii_lowercase().as_str()) {
        return Err(given.bad(wanted));
    }
    Ok((name.to_string(), value.to_string()))
}

fn timeouts(typed: &Typed) -> Result<Timeouts, UsageError> {
    let mut timeouts = Timeouts::default();
    if let Some(seconds) = number(typed, Id::ConnectTimeout, 1, 3_600)? {
        timeouts.connect = Duration::from_secs(seconds);
    }
    let silence = |id| {
        let expected = "seconds from 1 to 86,400, or off";
        or_off(typed, id, 1, MAX_SECONDS, expected)
    };
    if let Some(seconds) = silence(Id::FirstByteTimeout)? {
        timeouts.first_byte = seconds.map(Duration::from_secs);
    }
    if let Some(seconds) = silence(Id::GapTimeout)? {
        timeouts.gap = seconds.map(Duration::from_secs);
    }
    Ok(timeouts)
}

/// A whole number within bounds, if one was said.
pub fn number(typed: &Typed, id: Id, least: u64, most: u64) -> Result<Option<u64>, UsageError> {
    let Some(given) = typed.get(id) else {
        return Ok(None);
    };
    let expected = || match most {
        u64::MAX => format!("a whole number from {least} on"),
        most => format!("a whole number from {least} to {most}"),
    };
    within(given.text()?, least, most)
        .map(Some)
        .ok_or_else(|| given.bad(expected()))
}

/// The same, where `off` is `None`.
fn or_off(
    typed: &Typed,
    id: Id,
    least: u64,
    most: u64,
    expected: &str,
) -> Result<Option<Option<u64>>, UsageError> {
    let Some(given) = typed.get(id) else {
        return Ok(None);
    };
    let text = given.text()?;
    match within(text, least, most) {
        None if text != "off" => Err(given.bad(expected)),
        number => Ok(Some(number)),
    }
}

fn within(text: &str, least: u64, most: u64) -> Option<u64> {
    let number = text.parse().ok();
    number.filter(|n| (least..=most).contains(n))
}

/// Text that is not blank.
fn filled(typed: &Typed, id: Id, expected: &str) -> Result<Option<String>, UsageError> {
    let Some(given) = typed.get(id) else {
        return Ok(None);
    };
    match given.text()?.trim() {
        "" => Err(given.bad(expected)),
        text => Ok(Some(text.to_string())),
    }
}

/// `auto`, `32768` or `32k`.
pub fn window(typed: &Typed) -> Result<Option<u64>, UsageError> {
    let Some(given) = typed.get(Id::ContextWindow) else {
        return Ok(None);
    };
    let text = given.text()?;
    if text == "auto" {
        return Ok(None);
    }
    let tokens = match text.strip_suffix(['k', 'K']) {
        Some(thousands) => thousands
            .parse()
            .ok()
            .and_then(|n: u64| n.checked_mul(1024)),
        None => text.parse().ok(),
    };
    let (least, most) = (grouped(MIN_WINDOW), grouped(MAX_WINDOW));
    let expected = format!("auto, or tokens from {least} to {most} such as 32768 or 32k");
    let fits = tokens.filter(|n| (MIN_WINDOW..=MAX_WINDOW).contains(n));
    fits.map(Some).ok_or_else(|| given.bad(expected))
}

fn think(typed: &Typed) -> Result<Option<Think>, UsageError> {
    let given = typed.settled(Id::Think)?;
    Ok(given.map(|given| match given.word() {
        "on" => Think::On,
        "low" => Think::Low,
        "medium" => Think::Medium,
        "high" => Think::High,
        _ => Think::Off,
    }))
}

/// A duration as Ollama reads it (Go's `ParseDuration`); bare numbers are seconds, which Ollama takes only as JSON numbers, so
/// they get their unit here. A negative one means for ever.
fn keep_alive(given: &Given) -> Result<String, UsageError> {
    let text = given.text()?;
    let unsigned = text.strip_prefix('-').unwrap_or(text);
    if !unsigned.is_empty() && unsigned.bytes().all(|b| b.is_ascii_digit()) {
        return Ok(format!("{text}s"));
    }
    match is_duration(unsigned) {
        true => Ok(text.to_string()),
        false => Err(given.bad("a time such as 10m, 1h30m, 90 (seconds), 0, or -1 for ever")),
    }
}

/// One or more numbers, each with a unit.
fn is_duration(mut text: &str) -> bool {
    if text.is_empty() {
        return false;
    }
    while !text.is_empty() {
        let rest = text.trim_start_matches(|c: char| c.is_ascii_digit() || c == '.');
        let number = &text[..text.len() - rest.len()];
        let units = ["ms", "us", "ns", "h", "m", "s"];
        let unit = units.iter().find(|unit| rest.starts_with(**unit));
        let (Some(unit), Ok(_)) = (unit, number.parse::<f64>()) else {
            return false;
        };
        text = &rest[unit.len()..];
    }
    true
}

fn temperature(given: &Given) -> Result<f64, UsageError> {
    let parsed: Option<f64> = given.text()?.parse().ok();
    let fits = parsed.filter(|n| (0.0..=2.0).contains(n));
    fits.ok_or_else(|| given.bad("a number from 0 to 2"))
}

/// Bounds of the tools.
pub fn tool_limits(typed: &Typed) -> Result<Limits, UsageError> {
    let seconds = number(typed, Id::CommandTimeout, 1, MAX_SECONDS)?;
    let output = number(typed, Id::MaxToolOutput, 1 << 10, 1 << 20)?;
    Ok(Limits {
        // Until the window is known; the engine then sets a quarter of it.
        read_bytes: 64 << 10,
        output_bytes: usize::try_from(output.unwrap_or(16 << 10)).unwrap_or(16 << 10),
        command_timeout: Duration::from_secs(seconds.unwrap_or(120)),
        command_wrapper: typed.words_of(Id::CommandWrapper),
    })
}

/// The project's checks.
pub fn checks(typed: &Typed) -> Vec<Check> {
    let given = typed.get(Id::Checks);
    given.map(Given::checks).unwrap_or_default()
}

/// Bounds of the turn.
pub fn turn_limits(typed: &Typed) -> Result<TurnLimits, UsageError> {
    let seconds = number(typed, Id::MaxSeconds, 1, u64::from(u32::MAX))?;
    Ok(TurnLimits {
        max_turns: number(typed, Id::MaxTurns, 1, u64::MAX)?,
        max_time: seconds.map(Duration::from_secs),
    })
}

/// When the conversation is shortened.
pub fn compaction(typed: &Typed) -> Result<Compaction, UsageError> {
    let default = Compaction::default();
    let expected = "a whole number from 20 to 95, or off";
    let percent = or_off(typed, Id::CompactAt, 20, 95, expected)?;
    let expected = "a whole number from 1024 to 10485760, or off";
    let tokens = or_off(typed, Id::CompactAbove, 1_024, MAX_WINDOW, expected)?;
    let per_turn = number(typed, Id::MaxCompactions, 1, 1_000_000)?;
    Ok(Compaction {
        percent: percent.unwrap_or(default.percent),
        tokens: tokens.unwrap_or(default.tokens),
        per_turn: per_turn.unwrap_or(default.per_turn),
    })
}

/// `--output`.
pub fn output(typed: &Typed) -> Result<Output, UsageError> {
    Ok(match typed.word(Id::Output)? {
        Some("json") => Output::Json,
        Some("jsonl") => Output::JsonLines,
        _ => Output::Text,
    })
}

/// A file named by a flag: made absolute, so that nothing later depends on the current folder.
pub fn file(typed: &Typed, id: Id, start: Option<&Path>) -> Result<Option<PathBuf>, UsageError> {
    let Some(given) = typed.get(id) else {
        return Ok(None);
    };
    if given.value.is_empty() {
        return Err(given.bad("a file's name"));
    }
    Ok(Some(absolute(&given.value, start)))
}

/// Relative names are taken from where the program was started.
pub fn absolute(name: &OsString, start: Option<&Path>) -> PathBuf {
    match start {
        Some(start) => start.join(name),
        None => PathBuf::from(name),
    }
}

/// Whether values of a settings file mean something, also those that a flag beats today.
pub(super) fn check(given: &[Given]) -> Result<(), UsageError> {
    let mut typed = Typed::default();
    for given in given {
        match given.id {
            // Whether it needs a program in between, and has one, is known when all was read.
            Id::Host => drop(endpoint(Some(given))?),
            _ => typed.given.push(given.clone()),
        }
    }
    server(&typed)?;
    tool_limits(&typed)?;
    turn_limits(&typed)?;
    compaction(&typed)?;
    Ok(())
}

/// Everything `zcoder -p` needs but the prompt itself.
#[derive(Clone, Debug)]
pub struct Settings {
    /// Server and model.
    pub server: Server,
    /// Policy.
    pub permissions: Permissions,
    /// Bounds of the tools.
    pub tools: Limits,
    /// Bounds of the turn.
    pub turn: TurnLimits,
    /// When the conversation is shortened.
    pub compaction: Compaction,
    /// `--strict-finish`
    pub strict_finish: bool,
    /// `--output`
    pub output: Output,
    /// `--quiet`
    pub quiet: bool,
    /// `--what-would-be-sent`
    pub preview: bool,
    /// `--offline`
    pub offline: bool,
    /// `--ephemeral`
    pub ephemeral: bool,
    /// `--record`
    pub record: Option<PathBuf>,
    /// `--debug-log`
    pub debug_log: Option<PathBuf>,
    /// Whether guidance is read (`--no-guidance`).
    pub guidance: bool,
    /// Whether the session keeps its last exchanges.
    pub wire: bool,
}

impl Settings {
    /// Resolves all of it, for a workspace that was found and may be `/` or a home folder.
    pub fn resolve(typed: &Typed, broad: bool) -> Result<Settings, UsageError> {
        let start = current_folder();
        let start = start.as_deref();
        if let (Some(offline), false) = (typed.get(Id::Offline), typed.is_on(Id::WhatWouldBeSent)) {
            return Err(UsageError::Needs {
                flag: offline.source,
                needs: "--what-would-be-sent",
            });
        }
        Ok(Settings {
            server: server(typed)?,
            permissions: permissions::permissions(typed, broad)?,
            tools: tool_limits(typed)?,
            turn: turn_limits(typed)?,
            compaction: compaction(typed)?,
            strict_finish: typed.is_on(Id::StrictFinish),
            output: output(typed)?,
            quiet: typed.is_on(Id::Quiet),
            preview: typed.is_on(Id::WhatWouldBeSent),
            offline: typed.is_on(Id::Offline),
            ephemeral: typed.is_on(Id::Ephemeral),
            record: file(typed, Id::Record, start)?,
            debug_log: file(typed, Id::DebugLog, start)?,
            guidance: !typed.is_on(Id::NoGuidance),
            wire: !typed.settled(Id::Wire)?.is_some_and(Given::is_off),
        })
    }
}

/// What `zcoder standin` is told.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StandInSettings {
    /// On loopback; 0 picks one.
    pub port: u16,
    /// Always this scene.
    pub scene: Option<String>,
    /// Plays this file.
    pub script: Option<PathBuf>,
    /// How fast.
    pub pace: Pace,
    /// Only list the scenes.
    pub list: bool,
    /// Print each request.
    pub log: bool,
}

impl StandInSettings {
    /// Resolves them.
    pub fn resolve(typed: &Typed) -> Result<StandInSettings, UsageError> {
        if let (Some(scene), Some(script)) = (typed.get(Id::Scene), typed.get(Id::Script)) {
            return Err(UsageError::Conflict {
                one: scene.source,
                other: script.source,
            });
        }
        let port = number(typed, Id::Port, 0, u64::from(u16::MAX))?.unwrap_or(11_435);
        Ok(StandInSettings {
            port: u16::try_from(port).unwrap_or(u16::MAX),
            scene: filled(typed, Id::Scene, "a scene's name (`zcoder standin --list`)")?,
            script: file(typed, Id::Script, current_folder().as_deref())?,
            pace: pace(typed)?,
            list: typed.is_on(Id::List),
            log: typed.is_on(Id::Log),
        })
    }
}

/// What `zcoder demo` is told.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DemoSettings {
    /// Stop at each stage.
    pub step: bool,
    /// How fast the stand-in speaks.
    pub pace: Pace,
    /// Keep the sample project.
    pub keep: bool,
    /// Where temporary folders are made.
    pub temp: PathBuf,
}

impl DemoSettings {
    /// Resolves them.
    pub fn resolve(typed: &Typed, env: Env<'_>) -> Result<DemoSettings, UsageError> {
        Ok(DemoSettings {
            step: typed.is_on(Id::Step),
            pace: pace(typed)?,
            keep: typed.is_on(Id::Keep),
            temp: Paths::find(env).temp,
        })
    }
}

fn pace(typed: &Typed) -> Result<Pace, UsageError> {
    Ok(match typed.word(Id::Pace)? {
        Some("none") => Pace::None,
        Some("slow") => Pace::Slow,
        _ => Pace::Model,
    })
}
