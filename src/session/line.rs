//! Records as lines of JSON, by hand and in both directions. `commit.rs` writes lines, `view.rs` reads them.
//!
//! ```text
//! {"seq":0,"prev":"000…000","at":"2026-08-21T09:00:00.123Z","kind":"session","id":"20260821-…","workspace":"/home/me/app",…}⏎
//! {"seq":1,"prev":"5f0c…a9","at":"2026-08-21T09:00:00.123Z","kind":"user","text":"make the test pass"}⏎
//!  ╰─────────────────── envelope ───────────────────╯
//! ```
//!
//! `prev` is the SHA-256 of the line before without its LF, in hex; of the first record 64 zeros. The envelope stands first, in this order
//! and without blanks, so that it can be read without parsing the rest. The arguments of a call are a string of JSON: exactly the text that
//! goes into requests, however deep it is nested. Times are UTC with milliseconds, durations nanoseconds.
//!
//! Refused ([`Fault`]): another envelope, text that is not JSON or not UTF-8. A kind that is not known, and a known one with a content of
//! another shape, are no faults: a newer version may have written them. They become [`Record::Unknown`], with what was odd beside it.
//!
//! Limits: [`MAX_LINE_BYTES`].
//!
//! Invariant: what is written reads back equal. Invariant: the same record gives the same bytes everywhere.
//!
//! Read next: `line/receipt.rs`, the longest of them; `commit.rs`.

mod receipt;

use super::SessionId;
use super::record::{
    Author, Checkpoint, Edit, FrontEnd, Hash, Header, ModelRecord, Origin, Record, ToolStyle,
};
use super::spoken;
use crate::json::{self, Field, FieldError, MAX_TREE_BYTES, Tree, Writer};
use crate::policy::Profile;
use crate::protocol::{
    CallId, DecidedBy, Decision, Goal, GoalState, Message, Note, Pending, ToolCall, TurnId, Way,
};
use crate::sha256::hex;
use crate::sys::clock;
use std::sync::Arc;
use std::time::SystemTime;

/// A longer line could not be read back.
pub const MAX_LINE_BYTES: usize = MAX_TREE_BYTES;

/// What stands before the content of every line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Envelope {
    /// Counts from 0, and never comes twice.
    pub seq: u64,
    /// SHA-256 of the line before.
    pub prev: Hash,
    /// When it was appended, by the clock of that moment.
    pub at: SystemTime,
}

/// Why a line is no record.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Fault {
    /// It does not begin with `seq`, `prev`, `at` and `kind` as they are written.
    Envelope,
    /// What follows is not JSON.
    Json(json::Error),
}

/// A line that was read.
#[derive(Clone, Debug, PartialEq)]
pub struct Line {
    /// Its envelope.
    pub envelope: Envelope,
    /// Its content.
    pub record: Record,
    /// Why a known kind became [`Record::Unknown`].
    pub odd: Option<FieldError>,
}

/// How every line of ours begins.
pub(super) const BEGINNING: &[u8] = b"{\"seq\":";

/// Appends the line, without LF.
pub fn write(out: &mut Vec<u8>, envelope: &Envelope, record: &Record) {
    write_through(out, envelope, record, &mut |_| {});
}

/// As [`write`]; `drain` may take what is there of a long line already.
pub(super) fn write_through(
    out: &mut Vec<u8>,
    envelope: &Envelope,
    record: &Record,
    drain: &mut dyn FnMut(&mut Vec<u8>),
) {
    let mut json = Writer::through(std::mem::take(out), drain);
    json.begin_object().key("seq").u64(envelope.seq);
    json.key("prev").string(&hex(&envelope.prev));
    json.key("at").string(&clock::rfc3339(envelope.at));
    json.key("kind");
    content(&mut json, record);
    json.end_object();
    *out = json.finish();
}

/// Reads a line without LF.
pub fn read(line: &[u8]) -> Result<Line, Fault> {
    let (envelope, _) = envelope(line).ok_or(Fault::Envelope)?;
    let tree = Tree::parse_strict(line).map_err(Fault::Json)?;
    Ok(parsed(envelope, &tree))
}

/// As [`read`], for a line whose envelope was read and whose hash says that it is as we wrote it: UTF-8 is not looked for again.
pub(super) fn read_vouched(envelope: Envelope, line: &[u8]) -> Result<Line, Fault> {
    if let Some(message) = spoken::read(line) {
        return Ok(Line {
            envelope,
            record: Record::Message(message),
            odd: None,
        });
    }
    let tree = Tree::parse(line).map_err(Fault::Json)?;
    Ok(parsed(envelope, &tree))
}

fn parsed(envelope: Envelope, tree: &Tree) -> Line {
    let root = Field::root(tree.root());
    let (record, odd) = match record(&root) {
        Ok(Some(record)) => (record, None),
        Ok(None) => (unknown(tree), None),
        Err(error) => (unknown(tree), Some(error)),
    };
    Line {
        envelope,
        record,
        odd,
    }
}

/// The envelope and the kind, without looking at the rest.
pub(super) fn envelope(line: &[u8]) -> Option<(Envelope, &[u8])> {
    let rest = line.strip_prefix(BEGINNING)?;
    let digits = rest.iter().position(|byte| !byte.is_ascii_digit())?;
    let (seq, rest) = rest.split_at(digits);
    let seq: u64 = std::str::from_utf8(seq).ok()?.parse().ok()?;
    let (prev, rest) = rest.strip_prefix(b",\"prev\":\"")?.split_at_checked(64)?;
    let prev = from_hex(std::str::from_utf8(prev).ok()?)?;
    let (at, rest) = until_quote(rest.strip_prefix(b"\",\"at\":\"")?)?;
    let at = clock::parse_rfc3339(std::str::from_utf8(at).ok()?)?;
    let (kind, _) = until_quote(rest.strip_prefix(b",\"kind\":\"")?)?;
    Some((Envelope { seq, prev, at }, kind))
}

/// Up to the next quote, and what follows it.
fn until_quote(text: &[u8]) -> Option<(&[u8], &[u8])> {
    let quote = text.iter().position(|byte| *byte == b'"')?;
    Some((&text[..quote], &text[quote + 1..]))
}

/// What a hexadecimal digit as we write it stands for; 16 and more: it is none.
const DIGITS: [u8; 256] = {
    let mut digits = [u8::MAX; 256];
    let mut value = 0;
    while value < 16 {
        digits[b"0123456789abcdef"[value] as usize] = value as u8;
        value += 1;
    }
    digits
};

/// 64 digits as we write them.
pub(super) fn from_hex(text: &str) -> Option<Hash> {
    let text = text.as_bytes();
    if text.len() != 64 {
        return None;
    }
    // No branch a digit: each line of a session has 64 of them.
    let (mut hash, mut all) = ([0; 32], 0);
    for (byte, pair) in hash.iter_mut().zip(text.chunks_exact(2)) {
        let (high, low) = (DIGITS[usize::from(pair[0])], DIGITS[usize::from(pair[1])]);
        all |= high | low;
        *byte = high << 4 | low;
    }
    (all < 16).then_some(hash)
}

/// Members that a line has whatever its kind.
const ENVELOPE_KEYS: [&str; 4] = ["seq", "prev", "at", "kind"];

/// The kind and what belongs to it.
fn content(json: &mut Writer, record: &Record) {
    match record {
        Record::Session(header) => {
            json.string("session").key("id").string(&header.id.0);
            json.key("workspace").string(&header.workspace);
            json.key("profile").string(profile_name(header.profile));
            json.key("version").string(&header.version);
            json.key("born").string(&clock::rfc3339(header.born));
            if let Some(origin) = &header.origin {
                json.key("origin").begin_object();
                json.key("session").string(&origin.session.0);
                json.key("seq").u64(origin.seq).end_object();
            }
        }
        Record::Title { text } => drop(json.string("title").key("text").string(text)),
        Record::Model(model) => {
            json.string("model").key("name").string(&model.name);
            json.key("host").string(&model.host);
            json.key("window").u64(model.window);
            json.key("tool_style").string(match model.tool_style {
                ToolStyle::Native => "native",
                ToolStyle::Text => "text",
            });
            json.key("tools").begin_array();
            for tool in &model.tools {
                json.string(tool);
            }
            json.end_array();
            optional(json, "think", model.think.as_deref());
        }
        Record::TurnStarted { turn, by, title } => {
            json.string("turn").key("turn").u64(turn.0);
            json.key("uid").u64(u64::from(by.uid));
            optional(json, "tty", by.tty.as_deref());
            json.key("front").string(front_name(by.front));
            optional(json, "title", title.as_deref());
        }
        Record::Message(message) => write_message(json, message),
        Record::Decision {
            call,
            shown,
            decision,
            by,
        } => {
            json.string("decision");
            optional(json, "call", call.as_ref().map(|CallId(id)| id.as_str()));
            json.key("shown").string(shown);
            let (name, reason) = match decision {
                Decision::Once => ("once", None),
                Decision::Session => ("session", None),
                Decision::SessionRule => ("session_rule", None),
                Decision::KeptRule => ("kept_rule", None),
                Decision::Deny { reason } => ("deny", reason.as_deref()),
                Decision::Nobody => ("nobody", None),
            };
            json.key("decision").string(name);
            optional(json, "reason", reason);
            let (name, which) = match by {
                DecidedBy::Person => ("person", None),
                DecidedBy::Flag(flag) => ("flag", Some(flag.as_str())),
                DecidedBy::Rule(rule) => ("rule", Some(rule.as_str())),
                DecidedBy::Session => ("session", None),
                DecidedBy::Nobody => ("nobody", None),
            };
            json.key("by").string(name);
            optional(json, "which", which);
        }
        Record::Edit(edit) => {
            json.string("edit").key("path").string(&edit.path);
            let hashes = [("before", &edit.before), ("after", &edit.after)];
            for (key, hash) in hashes {
                optional(json, key, hash.as_ref().map(hex).as_deref());
            }
            if let Some(executable) = edit.executable {
                json.key("executable").bool(executable);
            }
        }
        Record::Receipt { turn, receipt } => {
            json.string("receipt").key("turn").u64(turn.0);
            receipt::write(json, receipt);
        }
        Record::Checkpoint(checkpoint) => {
            json.string("checkpoint")
                .key("note")
                .begin_object()
                .key("kind");
            write_message(json, &checkpoint.note);
            json.end_object().key("kept").begin_array();
            for seq in &checkpoint.kept {
                json.u64(*seq);
            }
            json.end_array().key("before").u64(checkpoint.before);
            json.key("after").u64(checkpoint.after);
        }
        Record::Accepted(pending) => {
            json.string("accepted").key("id").string(&pending.id);
            json.key("way").string(match pending.way {
                Way::Steer => "steer",
                Way::Queue => "queue",
                Way::Shell { .. } => "shell",
            });
            json.key("text").string(&pending.text);
            if let Way::Shell { in_context } = pending.way {
                json.key("in_context").bool(in_context);
            }
        }
        Record::Shell {
            id,
            command,
            in_context,
        } => {
            json.string("shell").key("id").string(id);
            json.key("command").string(command);
            json.key("in_context").bool(*in_context);
        }
        Record::Settled { id, consumed } => {
            json.string("settled").key("id").string(id);
            json.key("consumed").bool(*consumed);
        }
        Record::Goal(goal) => {
            json.string("goal").key("objective").string(&goal.objective);
            if let Some(limit) = goal.limit {
                json.key("limit").u64(limit);
            }
            json.key("tokens").u64(goal.tokens);
            json.key("rejections").u64(goal.rejections);
            json.key("state").string(match goal.state {
                GoalState::Running => "running",
                GoalState::Paused => "paused",
                GoalState::Met => "met",
                GoalState::Cleared => "cleared",
            });
            json.key("reason").string(&goal.reason);
            json.key("feedback").string(&goal.feedback);
        }
        Record::Gap { log, length, hash } => {
            json.string("gap").key("log").string(log);
            json.key("length").u64(*length);
            json.key("hash").string(&hex(hash));
        }
        Record::Lost { log, offset, bytes } => {
            json.string("lost").key("log").string(log);
            json.key("offset").u64(*offset).key("bytes").u64(*bytes);
        }
        Record::Unknown { kind, line } => {
            json.string(kind);
            let members = line.root().members();
            for (key, value) in members.filter(|(key, _)| !ENVELOPE_KEYS.contains(key)) {
                json.key(key).value(value);
            }
        }
    }
}

fn write_message(json: &mut Writer, message: &Message) {
    match message {
        Message::System { text } => drop(json.string("system").key("text").string(text)),
        Message::User { text } => drop(json.string("user").key("text").string(text)),
        Message::Note { note, text } => {
            json.string("note").key("note").string(match note {
                Note::Environment => "environment",
                Note::Recovery => "recovery",
                Note::Loop => "loop",
                Note::Cancelled => "cancelled",
                Note::Stepped => "stepped",
                Note::Checkpoint => "checkpoint",
                Note::Guidance => "guidance",
                Note::Goal => "goal",
                Note::Shell => "shell",
            });
            json.key("text").string(text);
        }
        Message::Assistant {
            content,
            thinking,
            calls,
        } => {
            json.string("assistant").key("content").string(content);
            json.key("thinking").string(thinking);
            json.key("calls").begin_array();
            for call in calls {
                json.begin_object().key("id").string(&call.id.0);
                json.key("name").string(&call.name);
                let mut arguments = Vec::new();
                call.arguments.root().write(&mut arguments);
                json.key("arguments");
                json.string(&String::from_utf8_lossy(&arguments))
                    .end_object();
            }
            json.end_array();
        }
        Message::Tool { call, name, text } => {
            json.string("tool").key("call").string(&call.0);
            json.key("name").string(name).key("text").string(text);
        }
    }
}

fn optional(json: &mut Writer, key: &str, text: Option<&str>) {
    if let Some(text) = text {
        json.key(key).string(text);
    }
}

fn unknown(tree: &Tree) -> Record {
    let kind = tree.root().get("kind").and_then(|kind| kind.as_str());
    Record::Unknown {
        kind: kind.unwrap_or_default().to_string(),
        line: tree.clone(),
    }
}

/// `None`: a kind that is not ours.
fn record(line: &Field<'_>) -> Result<Option<Record>, FieldError> {
    let text = |key: &str| text(line, key);
    let number = |key: &str| line.member(key)?.u64();
    Ok(Some(match line.member("kind")?.string()? {
        "session" => Record::Session(header(line)?),
        "title" => Record::Title {
            text: text("text")?,
        },
        "model" => Record::Model(model(line)?),
        "turn" => Record::TurnStarted {
            turn: TurnId(number("turn")?),
            by: author(line)?,
            title: optional_text(line, "title")?,
        },
        "decision" => Record::Decision {
            call: optional_text(line, "call")?.map(CallId),
            shown: text("shown")?,
            decision: decision(line)?,
            by: decided_by(line)?,
        },
        "edit" => Record::Edit(Edit {
            path: text("path")?,
            before: optional_hash(line, "before")?,
            after: optional_hash(line, "after")?,
            executable: optional_bool(line, "executable")?,
        }),
        "receipt" => Record::Receipt {
            turn: TurnId(number("turn")?),
            receipt: receipt::read(line)?,
        },
        "checkpoint" => Record::Checkpoint(checkpoint(line)?),
        "goal" => Record::Goal(goal(line)?),
        "accepted" => {
            let way = line.member("way")?;
            Record::Accepted(Pending {
                id: text("id")?,
                way: match way.string()? {
                    "steer" => Way::Steer,
                    "queue" => Way::Queue,
                    "shell" => Way::Shell {
                        in_context: line.member("in_context")?.bool()?,
                    },
                    _ => return Err(way.error("`steer`, `queue` or `shell`")),
                },
                text: text("text")?,
            })
        }
        "shell" => Record::Shell {
            id: text("id")?,
            command: text("command")?,
            in_context: line.member("in_context")?.bool()?,
        },
        "settled" => Record::Settled {
            id: text("id")?,
            consumed: line.member("consumed")?.bool()?,
        },
        "gap" => Record::Gap {
            log: text("log")?,
            length: number("length")?,
            hash: hash(&line.member("hash")?)?,
        },
        "lost" => Record::Lost {
            log: text("log")?,
            offset: number("offset")?,
            bytes: number("bytes")?,
        },
        kind => return Ok(message(line, kind)?.map(Record::Message)),
    }))
}

/// `None`: no kind of message.
fn message(line: &Field<'_>, kind: &str) -> Result<Option<Message>, FieldError> {
    let text = |key: &str| text(line, key);
    Ok(Some(match kind {
        "system" => Message::System {
            text: text("text")?,
        },
        "user" => Message::User {
            text: text("text")?,
        },
        "note" => Message::Note {
            note: note(&line.member("note")?)?,
            text: text("text")?,
        },
        "assistant" => Message::Assistant {
            content: Arc::new(text("content")?),
            thinking: Arc::new(text("thinking")?),
            calls: all(line, "calls", call)?,
        },
        "tool" => Message::Tool {
            call: CallId(text("call")?),
            name: text("name")?,
            text: text("text")?,
        },
        _ => return Ok(None),
    }))
}

fn author(line: &Field<'_>) -> Result<Author, FieldError> {
    let uid = line.member("uid")?;
    Ok(Author {
        uid: u32::try_from(uid.u64()?).map_err(|_| uid.error("a user's number"))?,
        tty: optional_text(line, "tty")?,
        front: front(&line.member("front")?)?,
    })
}

fn checkpoint(line: &Field<'_>) -> Result<Checkpoint, FieldError> {
    let note = line.member("note")?;
    let kind = note.member("kind")?;
    Ok(Checkpoint {
        note: message(&note, kind.string()?)?.ok_or_else(|| kind.error("a kind of message"))?,
        kept: all(line, "kept", |seq| seq.u64())?,
        before: line.member("before")?.u64()?,
        after: line.member("after")?.u64()?,
    })
}

fn goal(line: &Field<'_>) -> Result<Goal, FieldError> {
    let state = line.member("state")?;
    Ok(Goal {
        objective: text(line, "objective")?,
        limit: line
            .optional("limit")?
            .map(|limit| limit.u64())
            .transpose()?,
        tokens: line.member("tokens")?.u64()?,
        rejections: line.member("rejections")?.u64()?,
        state: match state.string()? {
            "running" => GoalState::Running,
            "paused" => GoalState::Paused,
            "met" => GoalState::Met,
            "cleared" => GoalState::Cleared,
            _ => return Err(state.error("a state that this version knows")),
        },
        reason: text(line, "reason")?,
        feedback: text(line, "feedback")?,
    })
}

fn header(line: &Field<'_>) -> Result<Header, FieldError> {
    let origin = match line.optional("origin")? {
        Some(origin) => Some(Origin {
            session: SessionId(text(&origin, "session")?),
            seq: origin.member("seq")?.u64()?,
        }),
        None => None,
    };
    let born = line.member("born")?;
    let expected = "a time (`2026-08-21T09:00:00.123Z`)";
    Ok(Header {
        id: SessionId(text(line, "id")?),
        workspace: text(line, "workspace")?,
        profile: profile(&line.member("profile")?)?,
        version: text(line, "version")?,
        born: clock::parse_rfc3339(born.string()?).ok_or_else(|| born.error(expected))?,
        origin,
    })
}

fn model(line: &Field<'_>) -> Result<ModelRecord, FieldError> {
    let style = line.member("tool_style")?;
    Ok(ModelRecord {
        name: text(line, "name")?,
        host: text(line, "host")?,
        window: line.member("window")?.u64()?,
        tool_style: match style.string()? {
            "native" => ToolStyle::Native,
            "text" => ToolStyle::Text,
            _ => return Err(style.error("`native` or `text`")),
        },
        tools: all(line, "tools", |tool| Ok(tool.string()?.to_string()))?,
        think: optional_text(line, "think")?,
    })
}

fn call(field: &Field<'_>) -> Result<ToolCall, FieldError> {
    let arguments = field.member("arguments")?;
    let tree = Tree::parse(arguments.string()?.as_bytes());
    Ok(ToolCall {
        id: CallId(text(field, "id")?),
        name: text(field, "name")?,
        arguments: tree.map_err(|_| arguments.error("JSON in a string"))?,
    })
}

fn decision(line: &Field<'_>) -> Result<Decision, FieldError> {
    let field = line.member("decision")?;
    Ok(match field.string()? {
        "once" => Decision::Once,
        "session" => Decision::Session,
        "session_rule" => Decision::SessionRule,
        "kept_rule" => Decision::KeptRule,
        "deny" => Decision::Deny {
            reason: optional_text(line, "reason")?,
        },
        "nobody" => Decision::Nobody,
        _ => return Err(field.error("a decision that this version knows")),
    })
}

fn decided_by(line: &Field<'_>) -> Result<DecidedBy, FieldError> {
    let field = line.member("by")?;
    Ok(match field.string()? {
        "person" => DecidedBy::Person,
        "flag" => DecidedBy::Flag(text(line, "which")?),
        "rule" => DecidedBy::Rule(text(line, "which")?),
        "session" => DecidedBy::Session,
        "nobody" => DecidedBy::Nobody,
        _ => return Err(field.error("somebody that this version knows")),
    })
}

fn note(field: &Field<'_>) -> Result<Note, FieldError> {
    Ok(match field.string()? {
        "environment" => Note::Environment,
        "recovery" => Note::Recovery,
        "loop" => Note::Loop,
        "cancelled" => Note::Cancelled,
        "stepped" => Note::Stepped,
        "checkpoint" => Note::Checkpoint,
        "guidance" => Note::Guidance,
        "goal" => Note::Goal,
        "shell" => Note::Shell,
        _ => return Err(field.error("a kind of note that this version knows")),
    })
}

fn profile_name(profile: Profile) -> &'static str {
    match profile {
        Profile::Coding => "coding",
        Profile::Sysadmin => "sysadmin",
    }
}

fn profile(field: &Field<'_>) -> Result<Profile, FieldError> {
    Ok(match field.string()? {
        "coding" => Profile::Coding,
        "sysadmin" => Profile::Sysadmin,
        _ => return Err(field.error("a profile that this version knows")),
    })
}

fn front_name(front: FrontEnd) -> &'static str {
    match front {
        FrontEnd::Terminal => "terminal",
        FrontEnd::Lines => "lines",
        FrontEnd::OneShot => "one_shot",
        FrontEnd::Editor => "editor",
        FrontEnd::Remote => "remote",
    }
}

fn front(field: &Field<'_>) -> Result<FrontEnd, FieldError> {
    Ok(match field.string()? {
        "terminal" => FrontEnd::Terminal,
        "lines" => FrontEnd::Lines,
        "one_shot" => FrontEnd::OneShot,
        "editor" => FrontEnd::Editor,
        "remote" => FrontEnd::Remote,
        _ => return Err(field.error("a front end that this version knows")),
    })
}

fn hash(field: &Field<'_>) -> Result<Hash, FieldError> {
    from_hex(field.string()?).ok_or_else(|| field.error("64 hex digits"))
}

fn optional_hash(line: &Field<'_>, key: &str) -> Result<Option<Hash>, FieldError> {
    line.optional(key)?.map(|field| hash(&field)).transpose()
}

fn optional_bool(line: &Field<'_>, key: &str) -> Result<Option<bool>, FieldError> {
    line.optional(key)?.map(|field| field.bool()).transpose()
}

fn text(field: &Field<'_>, key: &str) -> Result<String, FieldError> {
    Ok(field.member(key)?.string()?.to_string())
}

fn optional_text(field: &Field<'_>, key: &str) -> Result<Option<String>, FieldError> {
    let text = field.optional(key)?.map(|field| field.string());
    Ok(text.transpose()?.map(str::to_string))
}

fn all<T>(
    field: &Field<'_>,
    key: &str,
    read: impl Fn(&Field<'_>) -> Result<T, FieldError>,
) -> Result<Vec<T>, FieldError> {
    field.member(key)?.items()?.iter().map(read).collect()
}
