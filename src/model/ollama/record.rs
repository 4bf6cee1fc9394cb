//! One record of a chat answer, read without a tree: the bytes of one line in, a [`Record`] that borrows from them out. The
//! exchange (`chat.rs`) calls it once a line; `stream:false` answers are one record and take the same path.
//!
//! ```text
//! {"model":"m","created_at":"2026-08-21T09:00:00.5Z","message":{"role":"assistant","content":"","thinking":"Let me"},"done":false}
//! {"message":{"role":"assistant","content":"Reading it."},"done":false}
//! {"message":{"role":"assistant","content":"","tool_calls":[{"id":"call_x1","function":{"index":0,"name":"read_file","arguments":{"path":"a.rs"}}}]},"done":false}
//! {"message":{"role":"assistant","content":""},"done":true,"done_reason":"stop","prompt_eval_count":812,"eval_count":57,"eval_duration":1300000000}
//! {"error":"an error was encountered while running the model: unexpected EOF"}
//! ```
//!
//! Refused: what is not one JSON object (RFC 8259), with the cause and the byte offset. Nothing else is: unknown keys are
//! checked and skipped, a value of another type than expected counts as absent, counters that are no whole number that fits
//! are absent, and of duplicate keys the last one wins. Calls are taken as the model made them, however odd: whether a name
//! or arguments can be used is decided by the tools, which answer the model.
//!
//! Invariant: a record of thinking or content alone costs no allocation.
//! Invariant: an [`Record::error`] is set exactly when the server reported a failure in this record.
//!
//! Read next: `model/assemble.rs`, which adds records up.

use crate::json::{self, Text, Token, Tokens, Tree};
use crate::protocol::Usage;
use std::time::Duration;

/// One record. Text is still escaped, as it stands in the line. What few records have is boxed: a stream of 50,000 records moves
/// 50,000 of these.
#[derive(Debug, Default, PartialEq)]
pub struct Record<'a> {
    /// More of the thinking.
    pub thinking: Option<Text<'a>>,
    /// More of the answer.
    pub content: Option<Text<'a>>,
    /// Whole calls, in order.
    pub calls: Vec<RawCall>,
    /// `done:true`: the last record.
    pub done: bool,
    /// Whether any key of a chat record occurred: a stream without one does not come from this protocol.
    pub known: bool,
    /// What the last record tells about the reply.
    pub last: Option<Box<Last>>,
    /// The server failed: its text, or the JSON of its error object.
    pub error: Option<Box<str>>,
}

/// What the last record tells.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Last {
    /// Why it ended; empty when it does not say.
    pub done_reason: String,
    /// Counters; durations on the wire are nanoseconds.
    pub usage: Usage,
}

/// A call as it came.
#[derive(Clone, Debug, PartialEq)]
pub struct RawCall {
    /// The server's id; empty when it sent none.
    pub id: String,
    /// The name; empty when there was none.
    pub name: String,
    /// An object, or whatever else the model wrote. A string that holds an object was parsed; `null` and nothing are `{}`.
    pub arguments: Tree,
}

impl<'a> Record<'a> {
    /// Reads one line.
    pub fn decode(line: &'a [u8]) -> Result<Record<'a>, json::Error> {
        let mut record = Record::default();
        record.read(line)?;
        Ok(record)
    }

    /// Reads one line into an empty record. A stream takes its records this way: to hand a record out moves its hundred bytes, which takes
    /// as long as reading a tenth of it.
    pub(super) fn read(&mut self, line: &'a [u8]) -> Result<(), json::Error> {
        let mut tokens = Tokens::new(line);
        if tokens.object()? {
            self.members(&mut tokens)?;
        }
        tokens.end()
    }

    /// Why the reply ends with this record (empty when it does not say), if it does: by `done:true`, or by a reason alone, since
    /// servers have left `done` out.
    pub fn end(&self) -> Option<&str> {
        let reason = self.last.as_ref().map_or("", |last| &last.done_reason);
        (self.done || !reason.is_empty()).then_some(reason)
    }

    fn members(&mut self, tokens: &mut Tokens<'a>) -> Result<(), json::Error> {
        let mut has_message = false;
        let mut oddly_named = None;
        while let Some(name) = tokens.member()? {
            match Key::of(name) {
                Key::Plain => tokens.skip()?,
                Key::Message => has_message = self.message(tokens)? || has_message,
                Key::Done => {
                    self.done = tokens.boolean()? == Some(true);
                    self.known = true;
                }
                Key::Last(which) => self.last(which, tokens)?,
                Key::Error => self.error = error_text(&tokens.tree()?),
                Key::LikeError => {
                    // Ollama 0.11 wrote the text of an error as the key: {"error parsing tool call":"..."}.
                    let text = error_text(&tokens.tree()?).unwrap_or_default();
                    oddly_named = Some(format!("{}: {text}", name.decode()).into());
                }
            }
        }
        self.known |= has_message;
        if !has_message && self.error.is_none() {
            self.error = oddly_named;
        }
        Ok(())
    }

    #[cold]
    fn last(&mut self, which: LastKey, tokens: &mut Tokens<'a>) -> Result<(), json::Error> {
        let last = self.last.get_or_insert_default();
        match which {
            LastKey::DoneReason => {
                last.done_reason = owned(tokens)?;
                self.known = true;
            }
            LastKey::PromptTokens => last.usage.prompt_tokens = counter(tokens)?,
            LastKey::OutputTokens => last.usage.output_tokens = counter(tokens)?,
            LastKey::Load => last.usage.load = duration(tokens)?,
            LastKey::PromptTime => last.usage.prompt_time = duration(tokens)?,
            LastKey::OutputTime => last.usage.output_time = duration(tokens)?,
        }
        Ok(())
    }

    /// Reads the value of `message`; whether it was an object. A second `message` replaces the first.
    fn message(&mut self, tokens: &mut Tokens<'a>) -> Result<bool, json::Error> {
        self.thinking = None;
        self.content = None;
        self.calls.clear();
        if !tokens.object()? {
            return Ok(false);
        }
        while let Some(name) = tokens.member()? {
            if name.is("content") {
                self.content = tokens.string()?;
            } else if name.is("thinking") {
                self.thinking = tokens.string()?;
            } else if name.is("tool_calls") {
                self.calls.clear();
                calls(tokens, &mut self.calls)?;
            } else {
                tokens.skip()?;
            }
        }
        Ok(true)
    }
}

/// The names at the top of a record.
enum Key {
    Message,
    Done,
    Last(LastKey),
    Error,
    /// Begins with `error`.
    LikeError,
    /// Anything else.
    Plain,
}

/// Those of the last record.
enum LastKey {
    DoneReason,
    PromptTokens,
    OutputTokens,
    Load,
    PromptTime,
    OutputTime,
}

impl Key {
    /// One comparison by length and bytes instead of one for each name: this runs four times a record.
    #[inline]
    fn of(name: Text<'_>) -> Key {
        match Key::of_bytes(name.raw()) {
            // The two plain names that every record has need no second look.
            Key::Plain if matches!(name.raw(), b"model" | b"created_at") => Key::Plain,
            // Only a name that is none of ours can be written with escapes.
            Key::Plain if name.raw().contains(&b'\\') => Key::of_bytes(name.decode().as_bytes()),
            key => key,
        }
    }

    #[inline(always)]
    fn of_bytes(name: &[u8]) -> Key {
        match name {
            b"message" => Key::Message,
            b"done" => Key::Done,
            b"done_reason" => Key::Last(LastKey::DoneReason),
            b"prompt_eval_count" => Key::Last(LastKey::PromptTokens),
            b"eval_count" => Key::Last(LastKey::OutputTokens),
            b"load_duration" => Key::Last(LastKey::Load),
            b"prompt_eval_duration" => Key::Last(LastKey::PromptTime),
            b"eval_duration" => Key::Last(LastKey::OutputTime),
            b"error" => Key::Error,
            other if other.starts_with(b"error") => Key::LikeError,
            _ => Key::Plain,
        }
    }
}

/// Reads the value of `tool_calls`: each item becomes a call, so that none is lost without a word.
fn calls(tokens: &mut Tokens<'_>, out: &mut Vec<RawCall>) -> Result<(), json::Error> {
    let first = tokens.next()?;
    if !matches!(first, Token::BeginArray) {
        return tokens.skip_rest(first);
    }
    loop {
        let item = tokens.next()?;
        if let Token::EndArray = item {
            return Ok(());
        }
        let mut call = RawCall {
            id: String::new(),
            name: String::new(),
            arguments: Tree::empty_object(),
        };
        if !opens_object(item) {
            tokens.skip_rest(item)?;
            out.push(call);
            continue;
        }
        while let Some(key) = tokens.member()? {
            if key.is("id") {
                call.id = owned(tokens)?;
            } else if key.is("function") {
                function(tokens, &mut call)?;
            } else {
                tokens.skip()?;
            }
        }
        out.push(call);
    }
}

/// Reads the value of `function`.
fn function(tokens: &mut Tokens<'_>, call: &mut RawCall) -> Result<(), json::Error> {
    if !tokens.object()? {
        return Ok(());
    }
    while let Some(key) = tokens.member()? {
        if key.is("name") {
            call.name = owned(tokens)?;
        } else if key.is("arguments") {
            call.arguments = arguments(tokens.tree()?);
        } else {
            tokens.skip()?;
        }
    }
    Ok(())
}

/// Some servers send the object as a string that holds it, and nothing as `null` or `""`.
pub(in crate::model) fn arguments(tree: Tree) -> Tree {
    if tree.root().is_null() {
        return Tree::empty_object();
    }
    let Some(text) = tree.root().as_str() else {
        return tree;
    };
    if text.trim().is_empty() {
        return Tree::empty_object();
    }
    match Tree::parse(text.as_bytes()) {
        Ok(inner) if inner.root().kind() == json::Kind::Object => inner,
        Ok(_) | Err(_) => tree,
    }
}

/// What the value of `error` says; `null` and `""` say that there is none.
fn error_text(tree: &Tree) -> Option<Box<str>> {
    let value = tree.root();
    if value.is_null() {
        return None;
    }
    match value.as_str() {
        Some("") => None,
        Some(text) => Some(text.into()),
        None => Some(tree.to_string().into()),
    }
}

fn owned(tokens: &mut Tokens<'_>) -> Result<String, json::Error> {
    let text = tokens.string()?;
    Ok(text
        .map(|text| text.decode().into_owned())
        .unwrap_or_default())
}

/// A counter that is negative, fractional, a string or too large is as good as none.
fn counter(tokens: &mut Tokens<'_>) -> Result<Option<u64>, json::Error> {
    let token = tokens.next()?;
    if let Token::Number(number) = token {
        return Ok(number.as_u64());
    }
    tokens.skip_rest(token)?;
    Ok(None)
}

fn duration(tokens: &mut Tokens<'_>) -> Result<Option<Duration>, json::Error> {
    Ok(counter(tokens)?.map(Duration::from_nanos))
}

/// By pattern and not by `==`: the comparison of whole tokens costs more than reading one.
fn opens_object(token: Token<'_>) -> bool {
    matches!(token, Token::BeginObject)
}
