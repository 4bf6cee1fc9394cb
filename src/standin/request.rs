//! `POST /api/chat` as the stand-in reads it: the body's bytes in, a checked [`Chat`] with its [`Talk`] out, or the refusal that Ollama
//! would send. Pure.
//!
//! ```text
//! {"model":"stand-in","stream":true,"tools":[{"type":"function","function":{"name":"read_file",…}}],"messages":[
//!  {"role":"user","content":"read a.txt"},                                        → prompt
//!  {"role":"assistant","content":"","tool_calls":[{"function":{"name":"read_file","arguments":{"path":"a.txt"}}}]},
//!  {"role":"tool","tool_name":"read_file","content":"hello"}]}                    → done: read_file a.txt → hello
//! ```
//!
//! In the text protocol (no `tools`, `<function=` described in the system message) calls stand in the content and results are user
//! messages `<result of="read_file">…</result>`.
//!
//! Refused as Ollama does it (its API documentation, and its texts): no body, no JSON, no model, an unknown model, types it cannot read (`content` that
//! is no string, `arguments` that are no object), a `think` it does not know, tools or thinking for a model without, a window that is
//! exceeded with `truncate:false`. Refused here, though Ollama takes it, because models get less than the client meant: a
//! role it does not know, a system message that is not the first, calls without a result each in their order. Those texts begin with `stand-in:`.
//!
//! Invariant: every body gives a `Chat` or a refusal.

use super::catalog::{Model, find};
use super::walk::{Done, Talk};
use crate::json::{Kind, Tree, Value};
use crate::text;

/// What follows in a user message came through a pipe and is no sentence.
const ATTACHMENT: &str = "\n\n[attached, ";

/// The beginning of user messages that the client wrote itself.
const NOTE: &str = "[note from zcoder";

/// In a note: what the client wants is a summary of the conversation.
const CHECKPOINT_WANTED: &str = "the conversation is about to be shortened";

/// In a note, a line: which calls were made for a message and are no longer shown.
const CALLS: &str = "Calls made since the message \"";

/// The beginning of the system message of a goal's verifier.
const VERIFIER: &str = "You are an independent verifier.";

/// In a note: the turn is for a goal.
const GOAL: &str = "Only finish_task ends this task";

/// In such a note, a line: the goal, where it is not the next message of the user.
const RESUMED: &str = "Goal: ";

/// In a note about a goal, a line: what its verifier demands.
const DEMAND: &str = "Next action: ";

/// Characters of the message there.
const MESSAGE_CHARS: usize = 60;

/// A request to answer.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Chat {
    /// As asked: answers repeat it.
    pub(super) model: String,
    /// Records, or one object at the end.
    pub(super) stream: bool,
    /// Whether thinking is wanted and the model can.
    pub(super) think: bool,
    /// How calls are written.
    pub(super) style: Style,
    /// No messages: only load the model.
    pub(super) load_only: bool,
    /// `keep_alive` of zero: unload after the answer.
    pub(super) unload: bool,
    /// The window asked for, if any.
    pub(super) num_ctx: Option<u64>,
    /// A guess of the prompt's length: a token for four bytes of text.
    pub(super) prompt_tokens: u64,
    /// Number of messages.
    pub(super) messages: usize,
    /// Bytes of text in the messages that came after the last answer (for the log).
    pub(super) new_bytes: usize,
    /// Roles of those messages (for the log).
    pub(super) new_roles: Vec<String>,
    /// What was said.
    pub(super) talk: Talk,
}

/// How calls are written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Style {
    /// As `tool_calls`.
    Native,
    /// As `<function=…>` in the content.
    Text,
}

/// An answer with `{"error":…}`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Refusal {
    /// HTTP status.
    pub(super) status: u16,
    /// The text.
    pub(super) error: String,
}

fn refuse<T>(status: u16, error: impl Into<String>) -> Result<T, Refusal> {
    let error = error.into();
    Err(Refusal { status, error })
}

/// Reads the body's JSON.
pub(super) fn body(bytes: &[u8]) -> Result<Tree, Refusal> {
    if bytes.trim_ascii().is_empty() {
        return refuse(400, "missing request body");
    }
    Tree::parse(bytes).or_else(|error| refuse(400, error.to_string()))
}

/// The model that a request names.
pub(super) fn model(root: Value<'_>, models: &[Model]) -> Result<Model, Refusal> {
    let name = root.get("model").or_else(|| root.get("name"));
    match name.and_then(Value::as_str) {
        None | Some("") => refuse(400, "model is required"),
        Some(name) => match find(models, name) {
            Some(model) => Ok(model),
            None => refuse(404, format!("model '{name}' not found")),
        },
    }
}

/// Reads a chat request.
pub(super) fn chat(bytes: &[u8], models: &[Model]) -> Result<Chat, Refusal> {
    let tree = body(bytes)?;
    let root = tree.root();
    if root.kind() != Kind::Object {
        let kind = go_kind(root.kind());
        return refuse(400, unmarshal(kind, "ChatRequest", "api.ChatRequest"));
    }
    let model = model(root, models)?;
    let messages = messages(root)?;
    let tools = tools(root)?;
    let think = think(root, &model)?;
    if !tools.is_empty() && !model.tools {
        let name = model.name.trim_end_matches(":latest");
        return refuse(
            400,
            format!("registry.ollama.ai/library/{name} does not support tools"),
        );
    }
    check_order(&messages)?;
    let num_ctx = num_ctx(root)?;
    let unload = keep_alive_is_zero(root)?;
    let prompt_tokens = prompt_tokens(root);
    check_window(root, num_ctx, prompt_tokens)?;
    let system = messages
        .first()
        .filter(|message| message.role == Role::System);
    let described = match system {
        Some(system) if tools.is_empty() => described_tools(&system.content),
        Some(_) | None => Vec::new(),
    };
    let style = if described.is_empty() {
        Style::Native
    } else {
        Style::Text
    };
    let tools = if described.is_empty() {
        tools
    } else {
        described
    };
    let new = messages
        .iter()
        .rposition(|message| message.role == Role::Assistant);
    let new = &messages[new.map_or(0, |last| last + 1)..];
    Ok(Chat {
        model: root
            .get("model")
            .and_then(Value::as_str)
            .unwrap_or(model.name)
            .to_string(),
        stream: root.get("stream").and_then(Value::as_bool).unwrap_or(true),
        think,
        style,
        load_only: messages.is_empty(),
        unload,
        num_ctx,
        prompt_tokens,
        messages: messages.len(),
        new_bytes: new.iter().map(|message| message.content.len()).sum(),
        new_roles: new
            .iter()
            .map(|message| message.role.name().to_string())
            .collect(),
        talk: talk(&messages, tools, style),
    })
}

// ---- fields ----

fn go_kind(kind: Kind) -> &'static str {
    match kind {
        Kind::Object => "object",
        Kind::Array => "array",
        Kind::String => "string",
        Kind::Number => "number",
        Kind::Bool => "bool",
        Kind::Null => "null",
    }
}

fn unmarshal(found: &str, field: &str, wanted: &str) -> String {
    format!("json: cannot unmarshal {found} into Go struct field {field} of type {wanted}")
}

fn tools(root: Value<'_>) -> Result<Vec<String>, Refusal> {
    let Some(tools) = root.get("tools").filter(|tools| !tools.is_null()) else {
        return Ok(Vec::new());
    };
    if tools.kind() != Kind::Array {
        let found = go_kind(tools.kind());
        return refuse(400, unmarshal(found, "ChatRequest.tools", "api.Tools"));
    }
    let name = |tool: Value<'_>| {
        let name = tool.get("function")?.get("name")?;
        name.as_str().map(str::to_string)
    };
    Ok(tools.items().filter_map(name).collect())
}

fn think(root: Value<'_>, model: &Model) -> Result<bool, Refusal> {
    let Some(think) = root.get("think").filter(|think| !think.is_null()) else {
        return Ok(model.thinking);
    };
    let wanted = match (think.as_bool(), think.as_str()) {
        (Some(wanted), _) => wanted,
        (None, Some("low" | "medium" | "high" | "max")) => true,
        (None, Some(other)) => {
            return refuse(
                400,
                format!(
                    "invalid think value: {other:?} (must be \"high\", \"medium\", \"low\", \"max\", true, or false)"
                ),
            );
        }
        (None, None) => {
            return refuse(
                400,
                "think must be a boolean or string (\"high\", \"medium\", \"low\", \"max\", true, or false)",
            );
        }
    };
    if wanted && !model.thinking {
        let name = model.name.trim_end_matches(":latest");
        return refuse(400, format!("{name:?} does not support thinking"));
    }
    Ok(wanted)
}

pub(super) fn num_ctx(root: Value<'_>) -> Result<Option<u64>, Refusal> {
    let window = root
        .get("options")
        .and_then(|options| options.get("num_ctx"));
    let Some(window) = window.filter(|window| !window.is_null()) else {
        return Ok(None);
    };
    match window.as_number() {
        // Ollama raises what is below 4.
        Some(number) => Ok(number.as_u64().map(|window| window.max(4))),
        None => refuse(500, "option \"num_ctx\" must be of type integer"),
    }
}

pub(super) fn keep_alive_is_zero(root: Value<'_>) -> Result<bool, Refusal> {
    let Some(keep_alive) = root.get("keep_alive") else {
        return Ok(false);
    };
    if let Some(number) = keep_alive.as_number() {
        return Ok(number.as_f64() == 0.0);
    }
    match keep_alive.as_str() {
        Some("0") => Ok(true),
        Some(text) if text.ends_with(|c: char| c.is_ascii_digit()) => {
            refuse(400, format!("time: missing unit in duration {text:?}"))
        }
        Some(text) => Ok(text.trim_end_matches(|c: char| c.is_ascii_alphabetic()) == "0"),
        None => Ok(false),
    }
}

/// A token for four bytes of all text that the model would see.
fn prompt_tokens(root: Value<'_>) -> u64 {
    let bytes = |key: &str| {
        let mut out = Vec::new();
        if let Some(value) = root.get(key) {
            value.write(&mut out);
        }
        out.len()
    };
    (bytes("messages") + bytes("tools")).div_ceil(4) as u64
}

/// With `truncate:false` a prompt that is too long is refused, in the words of the runner inside Ollama.
fn check_window(root: Value<'_>, window: Option<u64>, tokens: u64) -> Result<(), Refusal> {
    let cut = root
        .get("truncate")
        .and_then(Value::as_bool)
        .unwrap_or(true);
    match window {
        Some(window) if tokens > window && !cut => refuse(400, overflow(tokens, window)),
        Some(_) | None => Ok(()),
    }
}

/// The error of an exceeded window: JSON in a string, as Ollama hands it on.
pub(super) fn overflow(tokens: u64, window: u64) -> String {
    format!(
        "{{\"error\":{{\"code\":400,\"message\":\"request ({tokens} tokens) exceeds the available context size ({window} tokens), try \
         increasing it\",\"type\":\"exceed_context_size_error\",\"n_prompt_tokens\":{tokens},\"n_ctx\":{window}}}}}"
    )
}

// ---- messages ----

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Role {
    System,
    User,
    Assistant,
    Tool,
}

impl Role {
    fn name(self) -> &'static str {
        match self {
            Role::System => "system",
            Role::User => "user",
            Role::Assistant => "assistant",
            Role::Tool => "tool",
        }
    }
}

#[derive(Debug)]
struct Message {
    role: Role,
    content: String,
    /// Id, tool, most telling argument.
    calls: Vec<(Option<String>, String, String)>,
    /// What a result answers.
    call_id: Option<String>,
}

fn messages(root: Value<'_>) -> Result<Vec<Message>, Refusal> {
    let Some(messages) = root.get("messages").filter(|messages| !messages.is_null()) else {
        return Ok(Vec::new());
    };
    if messages.kind() != Kind::Array {
        let found = go_kind(messages.kind());
        return refuse(
            400,
            unmarshal(found, "ChatRequest.messages", "[]api.Message"),
        );
    }
    messages.items().map(message).collect()
}

fn message(value: Value<'_>) -> Result<Message, Refusal> {
    let role = value.get("role").and_then(Value::as_str).unwrap_or("");
    let role = match role.to_ascii_lowercase().as_str() {
        "system" => Role::System,
        "user" => Role::User,
        "assistant" => Role::Assistant,
        "tool" => Role::Tool,
        _ => return refuse(400, format!("stand-in: no model knows the role {role:?}")),
    };
    let content = match value.get("content") {
        None => String::new(),
        Some(content) if content.is_null() => String::new(),
        Some(content) => match content.as_str() {
            Some(text) => text.to_string(),
            None => {
                let found = go_kind(content.kind());
                return refuse(400, unmarshal(found, "Message.messages.content", "string"));
            }
        },
    };
    let calls = value
        .get("tool_calls")
        .map(|calls| calls.items().map(call).collect());
    let call_id = value.get("tool_call_id").and_then(Value::as_str);
    Ok(Message {
        role,
        content,
        calls: calls.unwrap_or_else(|| Ok(Vec::new()))?,
        call_id: call_id.map(str::to_string),
    })
}

fn call(value: Value<'_>) -> Result<(Option<String>, String, String), Refusal> {
    let function = value.get("function");
    let name = function
        .and_then(|function| function.get("name"))
        .and_then(Value::as_str);
    let arguments = function.and_then(|function| function.get("arguments"));
    let arguments = arguments.filter(|arguments| !arguments.is_null());
    if let Some(arguments) = arguments.filter(|arguments| arguments.kind() != Kind::Object) {
        let field = "ToolCallFunction.messages.tool_calls.function.arguments";
        let found = go_kind(arguments.kind());
        return refuse(
            400,
            unmarshal(found, field, "api.ToolCallFunctionArguments"),
        );
    }
    let about = |key| {
        arguments
            .and_then(|arguments| arguments.get(key))
            .and_then(Value::as_str)
    };
    let about = about("command")
        .or_else(|| about("path"))
        .or_else(|| about("pattern"));
    let id = value.get("id").and_then(Value::as_str).map(str::to_string);
    Ok((
        id,
        name.unwrap_or("").to_string(),
        about.unwrap_or("").to_string(),
    ))
}

/// One system message, first; after calls their results, each once, in order, with nothing between.
fn check_order(messages: &[Message]) -> Result<(), Refusal> {
    let mut due: &[(Option<String>, String, String)] = &[];
    for (index, message) in messages.iter().enumerate() {
        if message.role == Role::System && index > 0 {
            return refuse(
                400,
                format!("stand-in: message {index} is a system message and not the first"),
            );
        }
        match (message.role, due.split_first()) {
            (Role::Tool, None) => {
                return refuse(
                    400,
                    format!("stand-in: message {index} is a result without a call"),
                );
            }
            (Role::Tool, Some(((id, name, _), rest))) => {
                if message.call_id.is_some() && id.is_some() && message.call_id != *id {
                    return refuse(
                        400,
                        format!(
                            "stand-in: message {index} is not the result of the call that is due ({name})"
                        ),
                    );
                }
                due = rest;
            }
            (_, Some(((_, name, _), _))) => {
                return refuse(
                    400,
                    format!(
                        "stand-in: message {index} stands before the result of a call ({name})"
                    ),
                );
            }
            (_, None) => {}
        }
        if message.role == Role::Assistant {
            due = &message.calls;
        }
    }
    match due.first() {
        Some((_, name, _)) => refuse(
            400,
            format!("stand-in: the result of the last call is missing ({name})"),
        ),
        None => Ok(()),
    }
}

/// Tools of ours.
const KNOWN: &[&str] = &[
    "list_files",
    "read_file",
    "search_text",
    "write_file",
    "replace_text",
    "apply_patch",
    "run_command",
    "finish_task",
];

/// Tools that a system message describes in the text protocol: those of ours that it names.
fn described_tools(system: &str) -> Vec<String> {
    if !system.contains("<function=") {
        return Vec::new();
    }
    let named = KNOWN.iter().filter(|name| system.contains(**name));
    named.map(|name| name.to_string()).collect()
}

fn talk(messages: &[Message], tools: Vec<String>, style: Style) -> Talk {
    let mut talk = Talk {
        tools,
        ..Talk::default()
    };
    let mut due: Vec<(String, String)> = Vec::new();
    let mut left_out = None;
    let mut goal_follows = false;
    let verifies = messages
        .first()
        .is_some_and(|m| m.content.starts_with(VERIFIER));
    for message in messages {
        talk.checkpoint_wanted = false;
        match message.role {
            Role::System => {}
            Role::User => match text_result(&message.content, style) {
                Some(result) => take_result(&mut talk, &mut due, result),
                None if message.content.starts_with(NOTE) => {
                    let calls = message.content.lines().find_map(|l| l.strip_prefix(CALLS));
                    left_out = calls.or(left_out);
                    talk.checkpoint_wanted = message.content.contains(CHECKPOINT_WANTED);
                    talk.noted = calls.is_none();
                    if verifies && talk.case.is_none() {
                        talk.case = Some(message.content.clone());
                    }
                    let line = |begin: &str| {
                        let mut lines = message.content.lines();
                        lines.find_map(|line| line.strip_prefix(begin))
                    };
                    let demand = line(DEMAND).map(str::to_string);
                    if message.content.contains(GOAL) {
                        let told = line(RESUMED).filter(|goal| !talk.prompt.starts_with(goal));
                        match told {
                            // Of another message than the last one: from the beginning.
                            Some(goal) => {
                                begin(&mut talk, goal);
                                talk.goal = true;
                            }
                            None if line(RESUMED).is_some() => talk.goal = true,
                            None => goal_follows = true,
                        }
                    }
                    talk.demands.extend(demand);
                    talk.demands.dedup();
                }
                None => {
                    let said = message.content.split(ATTACHMENT).next().unwrap_or("");
                    begin(&mut talk, said);
                    talk.goal = std::mem::take(&mut goal_follows);
                }
            },
            Role::Assistant => {
                due = match style {
                    Style::Native => message
                        .calls
                        .iter()
                        .map(|(_, name, about)| (name.clone(), about.clone()))
                        .collect(),
                    Style::Text => text_calls(&message.content),
                };
                due.reverse();
                talk.answered |= due.is_empty() && !message.content.trim().is_empty();
            }
            Role::Tool => take_result(&mut talk, &mut due, &message.content),
        }
    }
    let first = talk.prompt.lines().next().unwrap_or_default();
    let begin = format!("{}\": ", text::clip(first, MESSAGE_CHARS));
    let calls = left_out.and_then(|line| line.strip_prefix(&begin));
    let calls = calls.into_iter().flat_map(|calls| calls.split("; "));
    let known = calls.filter_map(|call| {
        let (name, about) = call.split_once(' ')?;
        KNOWN.contains(&name).then(|| Done {
            name: name.to_string(),
            about: about.to_string(),
            result: None,
        })
    });
    talk.done.splice(0..0, known);
    talk
}

/// The user says something new.
fn begin(talk: &mut Talk, said: &str) {
    let prompt = std::mem::replace(&mut talk.prompt, said.to_string());
    let done = std::mem::take(&mut talk.done);
    talk.before = (!prompt.is_empty()).then_some((prompt, done));
    talk.answered = false;
    talk.noted = false;
    talk.demands.clear();
}

fn take_result(talk: &mut Talk, due: &mut Vec<(String, String)>, result: &str) {
    if let Some((name, about)) = due.pop() {
        let result = Some(result.to_string());
        talk.done.push(Done {
            name: bare(&name).to_string(),
            about,
            result,
        });
    }
}

/// The tool in a name with the prefix that clients accept: histories keep it.
fn bare(name: &str) -> &str {
    name.strip_prefix("functions.").unwrap_or(name)
}

/// The inside of `<result of="read_file">\n…\n</result>`.
fn text_result(content: &str, style: Style) -> Option<&str> {
    if style == Style::Native {
        return None;
    }
    let (_, rest) = content.strip_prefix("<result of=\"")?.split_once(">\n")?;
    rest.strip_suffix("\n</result>")
}

/// Names and first arguments of the calls in a text.
fn text_calls(content: &str) -> Vec<(String, String)> {
    let mut calls = Vec::new();
    let mut rest = content;
    while let Some((_, after)) = rest.split_once("<function=") {
        let Some((name, body)) = after.split_once('>') else {
            break;
        };
        let argument = body
            .split_once("<parameter=")
            .and_then(|(_, value)| value.split_once('>'));
        let argument = argument.and_then(|(_, value)| value.split_once("</parameter>"));
        let about = argument.map_or("", |(value, _)| value.trim());
        calls.push((name.to_string(), about.to_string()));
        rest = body;
    }
    calls
}
