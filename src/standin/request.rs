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
    pub(super) new_roles: Vec<&'static str>,
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

/// A member that is text.
pub(super) fn text_of<'v>(value: Value<'v>, key: &str) -> Option<&'v str> {
    value.get(key).and_then(Value::as_str)
}

/// A member that is there and not null.
fn some<'v>(value: Value<'v>, key: &str) -> Option<Value<'v>> {
    value.get(key).filter(|value| !value.is_null())
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
        return unmarshal(root, "ChatRequest", "api.ChatRequest");
    }
    let model = model(root, models)?;
    let messages = messages(root)?;
    let tools = tools(root)?;
    let think = think(root, &model)?;
    if !tools.is_empty() && !model.tools {
        let name = model.name.trim_end_matches(":latest");
        let text = format!("registry.ollama.ai/library/{name} does not support tools");
        return refuse(400, text);
    }
    check_order(&messages)?;
    let num_ctx = num_ctx(root)?;
    let unload = keep_alive_is_zero(root)?;
    let prompt_tokens = prompt_tokens(root);
    check_window(root, num_ctx, prompt_tokens)?;
    let described = match messages.first() {
        Some(first) if first.role == Role::System && tools.is_empty() => {
            described_tools(&first.content)
        }
        Some(_) | None => Vec::new(),
    };
    let (style, tools) = match described.is_empty() {
        true => (Style::Native, tools),
        false => (Style::Text, described),
    };
    let is_answer = |message: &Message| message.role == Role::Assistant;
    let new = messages.iter().rposition(is_answer);
    let new = &messages[new.map_or(0, |last| last + 1)..];
    Ok(Chat {
        model: text_of(root, "model").unwrap_or(model.name).to_string(),
        stream: root.get("stream").and_then(Value::as_bool).unwrap_or(true),
        think,
        style,
        load_only: messages.is_empty(),
        unload,
        num_ctx,
        prompt_tokens,
        messages: messages.len(),
        new_bytes: new.iter().map(|message| message.content.len()).sum(),
        new_roles: new.iter().map(|message| message.role.name()).collect(),
        talk: talk(&messages, tools, style),
    })
}

// ---- fields ----

/// A value of another kind than Go's decoder wants.
fn unmarshal<T>(value: Value<'_>, field: &str, wanted: &str) -> Result<T, Refusal> {
    let found = match value.kind() {
        Kind::Object => "object",
        Kind::Array => "array",
        Kind::String => "string",
        Kind::Number => "number",
        Kind::Bool => "bool",
        Kind::Null => "null",
    };
    let text =
        format!("json: cannot unmarshal {found} into Go struct field {field} of type {wanted}");
    refuse(400, text)
}

fn tools(root: Value<'_>) -> Result<Vec<String>, Refusal> {
    let Some(tools) = some(root, "tools") else {
        return Ok(Vec::new());
    };
    if tools.kind() != Kind::Array {
        return unmarshal(tools, "ChatRequest.tools", "api.Tools");
    }
    let name = |tool: Value<'_>| text_of(tool.get("function")?, "name").map(str::to_string);
    Ok(tools.items().filter_map(name).collect())
}

fn think(root: Value<'_>, model: &Model) -> Result<bool, Refusal> {
    let Some(think) = some(root, "think") else {
        return Ok(model.thinking);
    };
    let words = "\"high\", \"medium\", \"low\", \"max\", true, or false";
    let wanted = match (think.as_bool(), think.as_str()) {
        (Some(wanted), _) => wanted,
        (None, Some("low" | "medium" | "high" | "max")) => true,
        (None, Some(other)) => {
            let text = format!("invalid think value: {other:?} (must be {words})");
            return refuse(400, text);
        }
        (None, None) => {
            let text = format!("think must be a boolean or string ({words})");
            return refuse(400, text);
        }
    };
    if wanted && !model.thinking {
        let name = model.name.trim_end_matches(":latest");
        return refuse(400, format!("{name:?} does not support thinking"));
    }
    Ok(wanted)
}

pub(super) fn num_ctx(root: Value<'_>) -> Result<Option<u64>, Refusal> {
    let options = root.get("options");
    let Some(window) = options.and_then(|options| some(options, "num_ctx")) else {
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
    let cut = root.get("truncate").and_then(Value::as_bool);
    match window {
        Some(window) if tokens > window && cut == Some(false) => {
            refuse(400, overflow(tokens, window))
        }
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
    calls: Vec<Call>,
    /// What a result answers.
    call_id: Option<String>,
}

/// A call of the history.
#[derive(Clone, Debug)]
struct Call {
    id: Option<String>,
    name: String,
    /// The most telling argument.
    about: String,
}

fn messages(root: Value<'_>) -> Result<Vec<Message>, Refusal> {
    let Some(messages) = some(root, "messages") else {
        return Ok(Vec::new());
    };
    if messages.kind() != Kind::Array {
        return unmarshal(messages, "ChatRequest.messages", "[]api.Message");
    }
    messages.items().map(message).collect()
}

fn message(value: Value<'_>) -> Result<Message, Refusal> {
    let role = text_of(value, "role").unwrap_or("");
    let role = match role.to_ascii_lowercase().as_str() {
        "system" => Role::System,
        "user" => Role::User,
        "assistant" => Role::Assistant,
        "tool" => Role::Tool,
        _ => return refuse(400, format!("stand-in: no model knows the role {role:?}")),
    };
    let content = match some(value, "content").map(|content| (content, content.as_str())) {
        None => "",
        Some((_, Some(text))) => text,
        Some((content, None)) => {
            return unmarshal(content, "Message.messages.content", "string");
        }
    };
    let calls = value.get("tool_calls").into_iter();
    let calls = calls.flat_map(|calls| calls.items().map(call));
    Ok(Message {
        role,
        content: content.to_string(),
        calls: calls.collect::<Result<_, _>>()?,
        call_id: text_of(value, "tool_call_id").map(str::to_string),
    })
}

fn call(value: Value<'_>) -> Result<Call, Refusal> {
    let function = value.get("function");
    let name = function.and_then(|function| text_of(function, "name"));
    let arguments = function.and_then(|function| some(function, "arguments"));
    if let Some(arguments) = arguments.filter(|arguments| arguments.kind() != Kind::Object) {
        let field = "ToolCallFunction.messages.tool_calls.function.arguments";
        return unmarshal(arguments, field, "api.ToolCallFunctionArguments");
    }
    let about = arguments.and_then(|arguments| {
        let mut keys = ["command", "path", "pattern"].into_iter();
        keys.find_map(|key| text_of(arguments, key))
    });
    Ok(Call {
        id: text_of(value, "id").map(str::to_string),
        name: name.unwrap_or("").to_string(),
        about: about.unwrap_or("").to_string(),
    })
}

/// One system message, first; after calls their results, each once, in order, with nothing between.
fn check_order(messages: &[Message]) -> Result<(), Refusal> {
    let mut due: &[Call] = &[];
    for (index, message) in messages.iter().enumerate() {
        let fault = match (message.role, due) {
            (Role::System, _) if index > 0 => "is a system message and not the first".to_string(),
            (Role::Tool, []) => "is a result without a call".to_string(),
            (Role::Tool, [call, ..])
                if message.call_id.is_some() && call.id.is_some() && message.call_id != call.id =>
            {
                format!("is not the result of the call that is due ({})", call.name)
            }
            (Role::Tool, [_, rest @ ..]) => {
                due = rest;
                continue;
            }
            (Role::System | Role::User | Role::Assistant, [call, ..]) => {
                format!("stands before the result of a call ({})", call.name)
            }
            (Role::Assistant, []) => {
                due = &message.calls;
                continue;
            }
            (Role::System | Role::User, []) => continue,
        };
        return refuse(400, format!("stand-in: message {index} {fault}"));
    }
    match due.first() {
        Some(call) => refuse(
            400,
            format!(
                "stand-in: the result of the last call is missing ({})",
                call.name
            ),
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
    let mut due: Vec<Done> = Vec::new();
    let mut left_out = None;
    let mut goal_follows = false;
    let first = messages.first();
    let verifies = first.is_some_and(|message| message.content.starts_with(VERIFIER));
    for message in messages {
        talk.checkpoint_wanted = false;
        match message.role {
            Role::System => {}
            Role::User => match text_result(&message.content, style) {
                Some(result) => take_result(&mut talk, &mut due, result),
                None if message.content.starts_with(NOTE) => {
                    let line = |begin: &str| {
                        let mut lines = message.content.lines();
                        lines.find_map(|line| line.strip_prefix(begin))
                    };
                    let calls = line(CALLS);
                    left_out = calls.or(left_out);
                    talk.checkpoint_wanted = message.content.contains(CHECKPOINT_WANTED);
                    talk.noted = calls.is_none();
                    if verifies && talk.case.is_none() {
                        talk.case = Some(message.content.clone());
                    }
                    if message.content.contains(GOAL) {
                        let resumed = line(RESUMED);
                        // Of another message than the last one: from the beginning.
                        if let Some(goal) = resumed.filter(|goal| !talk.prompt.starts_with(goal)) {
                            begin(&mut talk, goal);
                        }
                        talk.goal |= resumed.is_some();
                        goal_follows |= resumed.is_none();
                    }
                    talk.demands.extend(line(DEMAND).map(str::to_string));
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
                    Style::Native => {
                        let calls = message.calls.iter();
                        calls.map(|call| made(&call.name, &call.about)).collect()
                    }
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
        KNOWN.contains(&name).then(|| made(name, about))
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

fn take_result(talk: &mut Talk, due: &mut Vec<Done>, result: &str) {
    if let Some(done) = due.pop() {
        let result = Some(result.to_string());
        talk.done.push(Done { result, ..done });
    }
}

/// A call without its result. Histories keep a prefix of names that clients accept.
fn made(name: &str, about: &str) -> Done {
    let name = name.strip_prefix("functions.").unwrap_or(name);
    Done {
        name: name.to_string(),
        about: about.to_string(),
        result: None,
    }
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
fn text_calls(content: &str) -> Vec<Done> {
    let parts = content.split("<function=").skip(1);
    let calls = parts.filter_map(|part| {
        let (name, body) = part.split_once('>')?;
        let argument = body.split_once("<parameter=").map_or("", |(_, rest)| rest);
        let value = argument.split_once('>').map_or("", |(_, value)| value);
        let about = value
            .split_once("</parameter>")
            .map_or("", |(about, _)| about);
        Some(made(name, about.trim()))
    });
    calls.collect()
}
