//! Calls found in content: the assembled content of a complete reply without calls in, the calls that it spells out. Small
//! models and servers without the right parser leave calls in the text; the exchange (`ollama/chat.rs`) asks here once, after
//! leaked thinking was taken out.
//!
//! ```text
//! I'll read it.                                                  (prose before is kept as content)
//! <tool_call>{"name":"read_file","arguments":{"path":"a.txt"}}</tool_call>
//!
//! <function=read_file>                                           (opening <tool_call> left out, closing one orphaned)
//! <parameter=path>
//! a.txt
//! </parameter>
//! </function>
//! </tool_call>
//!
//! {"name":"read_file","parameters":{"path":"a.txt"}}             (the whole answer)
//!
//! [TOOL_CALLS][{"name":"read_file","arguments":{"path":"a.txt"}}]
//! ```
//!
//! All of these must hold, or nothing is run: the form begins a line of plain prose (not in a fence, a quote or indented code);
//! the name is one that was offered; everything parses completely; only blanks and orphan closing tags follow. In the text
//! protocol only `<function=…>` counts, so that code never travels inside a JSON string. What clearly tried and failed is
//! [`Recovered::Tried`] with what was wrong, written for the model. Values of `<parameter=…>` are strings with one line end cut
//! at each side; the tools turn them into numbers where one is wanted.
//!
//! Invariant: text in thinking or in tool results never gets here.
//! Invariant: a recovered call is a call like any other for policy and approval.
//!
//! Read next: `prose.rs` (what is quoted), `tools/args.rs` (the check of what was found).

use super::ollama::arguments;
use super::prose;
use crate::json::{Kind, Tree, Value, Writer};

/// A call spelled out in text; it has no id yet.
#[derive(Clone, Debug, PartialEq)]
pub struct FoundCall {
    /// One of the offered names.
    pub name: String,
    /// An object.
    pub arguments: Tree,
}

/// What was found.
#[derive(Clone, Debug, PartialEq)]
pub enum Recovered {
    /// Nothing that looks like a call.
    None,
    /// Calls, and the content without them.
    Calls {
        /// In order.
        calls: Vec<FoundCall>,
        /// The prose before them.
        content: String,
    },
    /// The content clearly tried to make a call.
    Tried {
        /// What was wrong, for the model: "`<parameter=path>` is not closed".
        what: String,
    },
}

/// How a call begins a line.
const TOOL_CALL: &str = "<tool_call>";
const FUNCTION: &str = "<function=";
const MARKER: &str = "[TOOL_CALLS]";
/// How many closing tags inside one JSON text are tried before giving up: each try parses from the start.
const MAX_ENDS: usize = 16;
/// What may stand around calls without meaning: the servers' parsers and the models' own habits leave them behind.
const ORPHANS: [&str; 3] = ["</tool_call>", "</function>", "</tool_calls>"];

/// Looks at the assembled content of a complete reply without calls.
pub fn recover(content: &str, offered: &[&str], text_style: bool) -> Recovered {
    let marks = [TOOL_CALL, FUNCTION, MARKER];
    let first_marked = || {
        prose::lines(content).find_map(|line| {
            let text = line.text.trim_start();
            let begins = marks.iter().any(|mark| text.starts_with(mark));
            begins.then(|| line.start + line.text.len() - text.len())
        })
    };
    // Asked first, since that is a search, and to read an answer of megabytes line by line is not.
    let is_marked = marks.iter().any(|mark| crate::text::holds(content, mark));
    let begin = is_marked.then(first_marked).flatten();
    let found = match begin {
        Some(begin) => sequence(&content[begin..], offered, text_style).map(|calls| (calls, begin)),
        None => match whole_answer(content, offered, text_style) {
            Some(found) => found.map(|call| (vec![call], 0)),
            None => return Recovered::None,
        },
    };
    match found {
        Ok((calls, begin)) => Recovered::Calls {
            calls,
            content: content[..begin].trim_end().to_string(),
        },
        Err(what) => Recovered::Tried { what },
    }
}

/// The call inside a server's complaint about it: `error parsing tool call: raw='{"name":…}', err=…`. Models write line ends
/// as such into JSON strings, which is what most of these complaints are about, so those are escaped before parsing.
pub(super) fn from_complaint(text: &str, offered: &[&str]) -> Option<FoundCall> {
    let (_, rest) = text.split_once("raw='")?;
    let (raw, _) = rest.rsplit_once("', err=")?;
    let tree = Tree::parse(escape_controls(raw).as_bytes()).ok()?;
    named_call(tree.root(), offered)?.ok()
}

/// Calls one after the other to the end of the text.
fn sequence(text: &str, offered: &[&str], text_style: bool) -> Result<Vec<FoundCall>, String> {
    let mut calls = Vec::new();
    let mut rest = text;
    while !rest.is_empty() {
        if let Some(array) = rest.strip_prefix(MARKER) {
            if text_style {
                return Err(wrong_style());
            }
            calls.extend(marked(array, offered)?);
            return Ok(calls);
        }
        let inner = rest.strip_prefix(TOOL_CALL).map(str::trim_start);
        let body = inner.unwrap_or(rest);
        let (call, after) = if body.starts_with(FUNCTION) {
            function(body, offered)?
        } else if inner.is_none() {
            let start = clip(body);
            return Err(format!("text follows the call: `{start}`"));
        } else if text_style {
            return Err(wrong_style());
        } else {
            tagged_json(body, offered)?
        };
        calls.push(call);
        rest = skip_orphans(after);
    }
    Ok(calls)
}

/// `<function=NAME><parameter=KEY>VALUE</parameter>…</function>`.
fn function<'t>(text: &'t str, offered: &[&str]) -> Result<(FoundCall, &'t str), String> {
    let (name, mut rest) =
        tag_name(&text[FUNCTION.len()..]).ok_or("`<function=` has no name and `>` on its line")?;
    let name = offered_name(name, offered)?;
    let mut json = Writer::new();
    json.begin_object();
    loop {
        rest = rest.trim_start();
        if let Some(after) = rest.strip_prefix("</function>") {
            json.end_object();
            let arguments = Tree::parse(&json.finish()).map_err(|error| error.to_string())?;
            return Ok((FoundCall { name, arguments }, after));
        }
        let Some(parameter) = rest.strip_prefix("<parameter=") else {
            return Err(match rest {
                "" => format!("`<function={name}>` is not closed by `</function>`"),
                _ => format!("between parameters stands `{}`", clip(rest)),
            });
        };
        let (key, after) =
            tag_name(parameter).ok_or("`<parameter=` has no name and `>` on its line")?;
        let Some(end) = value_end(after) else {
            return Err(match after.contains("</parameter>") {
                true => format!("`<function={name}>` is not closed by `</function>`"),
                false => format!("`<parameter={key}>` is not closed by `</parameter>`"),
            });
        };
        json.key(key).string(unframed(&after[..end]));
        rest = &after[end + "</parameter>".len()..];
    }
}

/// `NAME>` on one line: the name, and what follows.
fn tag_name(text: &str) -> Option<(&str, &str)> {
    let (name, rest) = text.split_once('>')?;
    (!name.contains(['\n', '<'])).then(|| (name.trim(), rest))
}

/// Where the value ends: at the first closing tag after which the next parameter or the end of the function follows, because a
/// file that is written may itself contain the tag.
fn value_end(text: &str) -> Option<usize> {
    let mut ends = text.match_indices("</parameter>").map(|(at, _)| at);
    ends.find(|at| {
        let after = text[at + "</parameter>".len()..].trim_start();
        after.starts_with("<parameter=") || after.starts_with("</function>")
    })
}

/// A value without the one line end that the form puts at each side.
fn unframed(value: &str) -> &str {
    let start = value.strip_prefix("\r\n").or(value.strip_prefix('\n'));
    let value = start.unwrap_or(value);
    let end = value.strip_suffix("\r\n").or(value.strip_suffix('\n'));
    end.unwrap_or(value)
}

/// `{json}</tool_call>`.
fn tagged_json<'t>(body: &'t str, offered: &[&str]) -> Result<(FoundCall, &'t str), String> {
    // The end is looked for from the first closing tag on: a string inside the JSON may hold one too.
    for (at, _) in body.match_indices("</tool_call>").take(MAX_ENDS) {
        let Ok(tree) = Tree::parse(&body.as_bytes()[..at]) else {
            continue;
        };
        let call = named_call(tree.root(), offered)
            .ok_or("`<tool_call>` holds no object with `name` and `arguments`")?;
        return Ok((call?, &body[at..]));
    }
    let Some((first, _)) = body.split_once("</tool_call>") else {
        return Err("`<tool_call>` is not closed by `</tool_call>`".to_string());
    };
    Err(match Tree::parse(first.as_bytes()) {
        Ok(_) => "`<tool_call>` could not be read".to_string(),
        Err(error) => format!("the JSON in `<tool_call>` could not be read: {error}"),
    })
}

/// `[TOOL_CALLS]` and an array of calls to the end.
fn marked(array: &str, offered: &[&str]) -> Result<Vec<FoundCall>, String> {
    let tree = Tree::parse(array.as_bytes())
        .map_err(|error| format!("the JSON after `{MARKER}` could not be read: {error}"))?;
    let odd = || format!("an item after `{MARKER}` has no `name` and `arguments`");
    let mut calls = Vec::new();
    for item in tree.root().items() {
        calls.push(named_call(item, offered).ok_or_else(odd)??);
    }
    match calls.is_empty() {
        true => Err(format!("`{MARKER}` is not followed by an array of calls")),
        false => Ok(calls),
    }
}

/// The whole answer is one object that is a call; `None` for any other text.
fn whole_answer(
    content: &str,
    offered: &[&str],
    text_style: bool,
) -> Option<Result<FoundCall, String>> {
    let text = content.trim();
    if !text.starts_with('{') {
        return None;
    }
    let tree = Tree::parse(text.as_bytes()).ok()?;
    let found = named_call(tree.root(), offered)?;
    Some(match text_style {
        true => Err(wrong_style()),
        false => found,
    })
}

/// `{"name":NAME,"arguments"|"parameters":{…}}`, with nothing beside it but a `type` and an `id`; `None` for another shape.
fn named_call(value: Value<'_>, offered: &[&str]) -> Option<Result<FoundCall, String>> {
    let known = ["name", "arguments", "parameters", "type", "id"];
    if value.kind() != Kind::Object || value.members().any(|(key, _)| !known.contains(&key)) {
        return None;
    }
    let name = value.get("name")?.as_str()?;
    let object = match (value.get("arguments"), value.get("parameters")) {
        (Some(object), None) | (None, Some(object)) => arguments(object.to_tree()),
        (Some(_), Some(_)) | (None, None) => return None,
    };
    if object.root().kind() != Kind::Object {
        return None;
    }
    Some(offered_name(name, offered).map(|name| FoundCall {
        name,
        arguments: object,
    }))
}

fn offered_name(name: &str, offered: &[&str]) -> Result<String, String> {
    if offered.contains(&name) {
        return Ok(name.to_string());
    }
    Err(format!(
        "there is no tool `{}`; the tools are {}",
        clip(name),
        offered.join(", ")
    ))
}

fn wrong_style() -> String {
    "a call must be written as <function=NAME><parameter=KEY>value</parameter></function>, not as JSON".to_string()
}

fn skip_orphans(text: &str) -> &str {
    let mut rest = text.trim_start();
    while let Some(after) = ORPHANS.iter().find_map(|tag| rest.strip_prefix(tag)) {
        rest = after.trim_start();
    }
    rest
}

/// The first line of `text`, short enough to be quoted.
fn clip(text: &str) -> std::borrow::Cow<'_, str> {
    crate::text::clip(text.lines().next().unwrap_or_default(), 60)
}

/// Line ends, tabs and other controls inside strings, written as JSON wants them.
fn escape_controls(json: &str) -> String {
    let mut out = String::with_capacity(json.len() + 16);
    let (mut in_string, mut escaped) = (false, false);
    for char in json.chars() {
        if in_string && u32::from(char) < 0x20 {
            out.push_str(&format!("\\u{:04x}", u32::from(char)));
        } else {
            out.push(char);
        }
        match char {
            _ if escaped => escaped = false,
            '\\' if in_string => escaped = true,
            '"' => in_string = !in_string,
            _ => {}
        }
    }
    out
}
