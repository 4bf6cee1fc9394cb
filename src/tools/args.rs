//! Name and argument check. In: a [`ToolCall`] as the model made it. Out: a closed [`Call`] and what was accepted on the way,
//! or a failure written for the model. The engine calls it before the policy; nothing runs that did not pass.
//!
//! ```text
//! read_file {"path":"a.txt","start_line":"12"}  → ReadFile{a.txt, 12}   said: `start_line`: "12" was taken as the number 12
//! functions.bash {"cmd":"ls"}                   → RunCommand{ls}        said: `functions.bash` was taken as `run_command`, …
//! read_file {"pth":"a.txt"}                     → failed:
//!     read_file was not run:
//!     - unknown argument `pth`; did you mean `path`?
//!     - missing argument `path`
//!     It takes path (string), start_line? (integer), end_line? (integer).
//!     Call it again with arguments like {"path":"src/main.rs"}
//! search_webs {"pattern":"x"}                   → failed: unknown tool, the list
//! ```
//!
//! Accepted and said: aliases, another spelling of a name (`readFile`), a known prefix (`functions.`), a numeric string where a
//! number is wanted, `"true"` and `"false"` where a boolean is, the arguments as one JSON string. Silently: `null` for "not given".
//! Nothing else is guessed: unknown names, other types, noise after a name (`read_file<|channel|>…`) fail, with the right name.
//!
//! Invariant: a failure names everything that is wrong at once and ends in an example of a right call.
//! Invariant: foreign text quoted in a failure is clipped and made visible.

use crate::json::{Kind as Found, Tree, Value};
use crate::protocol::{ToolCall, ToolOutcome};
use crate::text;

use super::nearest::nearest;
use super::table::{Argument, Kind, Set, TOOLS, Tool, Which, fold, is_alias, names};
use super::{Call, Finish, failed, shown};

/// A call that passed, and what was made of it ("`grep` was taken as `search_text`").
#[derive(Clone, Debug, PartialEq)]
pub struct Checked {
    /// The call.
    pub call: Call,
    /// For the model, a sentence each: what was accepted that was not quite right.
    pub said: Vec<String>,
}

/// Put before a name by some servers and models.
const PREFIXES: &[&str] = &[
    "functions.",
    "function.",
    "functions:",
    "tools.",
    "tool.",
    "default_api.",
];

/// Most characters of foreign text quoted in a failure.
const QUOTED_CHARS: usize = 60;

/// Checks a call; `others` are tools that are on offer and not ours, for the list of names. The failure is written for the model (valid names, nearest name, missing or wrong arguments).
pub fn check(call: &ToolCall, others: &[&str]) -> Result<Checked, ToolOutcome> {
    let mut said = Vec::new();
    let tool = find_tool(&call.name, others, &mut said)?;
    let reparsed = match call.arguments.root().as_str() {
        Some(text) => {
            let tree = Tree::parse(text.as_bytes()).ok();
            tree.filter(|tree| tree.root().kind() == Found::Object)
        }
        None => None,
    };
    if reparsed.is_some() {
        said.push("the arguments came as one string and were read as the object in it".to_string());
    }
    let root = reparsed.as_ref().unwrap_or(&call.arguments).root();
    if !matches!(root.kind(), Found::Object | Found::Null) {
        let fault = format!("the arguments must be an object, found {}", root.kind());
        return Err(refuse(tool, &[fault]));
    }
    let given = Given::read(tool, root, &mut said);
    if !given.faults.is_empty() {
        return Err(refuse(tool, &given.faults));
    }
    let call = given.into_call(tool);
    Ok(Checked { call, said })
}

fn find_tool(
    name: &str,
    others: &[&str],
    said: &mut Vec<String>,
) -> Result<&'static Tool, ToolOutcome> {
    if let Some(tool) = TOOLS.iter().find(|tool| tool.name == name) {
        return Ok(tool);
    }
    let bare = PREFIXES
        .iter()
        .find_map(|prefix| name.strip_prefix(prefix))
        .unwrap_or(name);
    if let Some(tool) = by_other_name(bare) {
        said.push(format!("`{}` was taken as `{}`", quoted(name), tool.name));
        return Ok(tool);
    }
    let all = [&names(Set::Standard), others].concat();
    // Noise after a name (`read_file<|channel|>commentary`, `read_file(path`): name the tool, run nothing.
    let letters = |c: char| !(c.is_ascii_alphanumeric() || matches!(c, '_' | '-'));
    let meant = bare
        .split(letters)
        .find(|part| !part.is_empty())
        .and_then(by_other_name)
        .map(|tool| tool.name)
        .or_else(|| nearest(bare, all.iter().copied()));
    let hint = match meant {
        Some(meant) => format!(" Did you mean `{meant}`? Call it by exactly this name."),
        None => " Use one of these.".to_string(),
    };
    Err(failed(format!(
        "there is no tool `{}`, so nothing was done. The tools are: {}.{hint}",
        quoted(name),
        all.join(", ")
    )))
}

fn by_other_name(name: &str) -> Option<&'static Tool> {
    let folded = fold(name);
    TOOLS
        .iter()
        .find(|tool| fold(tool.name) == folded || is_alias(tool.aliases, &folded))
}

/// Values in the order of the tool's arguments, and what is wrong with them.
struct Given {
    values: Vec<Option<Accepted>>,
    faults: Vec<String>,
}

enum Accepted {
    Text(String),
    Count(u64),
    Flag(bool),
}

impl Given {
    fn read(tool: &'static Tool, root: Value<'_>, said: &mut Vec<String>) -> Given {
        let mut faults = Vec::new();
        let mut sources: Vec<Option<(String, Value<'_>)>> =
            tool.arguments.iter().map(|_| None).collect();
        for (key, value) in root.members().filter(|(_, value)| !value.is_null()) {
            let Some(index) = find_argument(tool, key) else {
                faults.push(unknown(tool, key));
                continue;
            };
            match &sources[index] {
                // The same key twice is JSON's business (the last one counts); two names for one argument are not.
                Some((earlier, other)) if earlier != key && *other != value => {
                    faults.push(format!(
                        "`{}` and `{}` are the same argument with two values; send only `{}`",
                        quoted(earlier),
                        quoted(key),
                        tool.arguments[index].name
                    ))
                }
                Some(_) | None => sources[index] = Some((key.to_string(), value)),
            }
        }
        let mut values = Vec::with_capacity(sources.len());
        for (argument, source) in tool.arguments.iter().zip(sources) {
            let value = match source {
                None if argument.required => Err(format!("missing argument `{}`", argument.name)),
                None => Ok(None),
                Some((key, value)) => {
                    if key != argument.name {
                        said.push(format!(
                            "`{}` was taken as `{}`",
                            quoted(&key),
                            argument.name
                        ));
                    }
                    accept(argument, value, said).map(Some)
                }
            };
            match value {
                Ok(value) => values.push(value),
                Err(fault) => faults.push(fault),
            }
        }
        Given { values, faults }
    }

    /// Only without faults: then every required value is there, and an absent one is `None`.
    fn into_call(self, tool: &'static Tool) -> Call {
        let mut values = self.values.into_iter();
        let mut next = || values.next().flatten();
        match tool.which {
            Which::List => Call::ListFiles {
                path: text_of(next()),
                depth: count_of(next()),
                max_entries: count_of(next()),
                hidden: is_set(next()),
            },
            Which::Read => Call::ReadFile {
                path: text_of(next()).unwrap_or_default(),
                start_line: count_of(next()),
                end_line: count_of(next()),
            },
            Which::Search => Call::SearchText {
                pattern: text_of(next()).unwrap_or_default(),
                path: text_of(next()),
                literal: is_set(next()),
                hidden: is_set(next()),
                max_results: count_of(next()),
            },
            Which::Write => Call::WriteFile {
                path: text_of(next()).unwrap_or_default(),
                content: text_of(next()).unwrap_or_default(),
            },
            Which::Replace => Call::ReplaceText {
                path: text_of(next()).unwrap_or_default(),
                old_text: text_of(next()).unwrap_or_default(),
                new_text: text_of(next()).unwrap_or_default(),
            },
            Which::Patch => Call::ApplyPatch {
                patch: text_of(next()).unwrap_or_default(),
                path: text_of(next()),
            },
            Which::Run => Call::RunCommand {
                command: text_of(next()).unwrap_or_default(),
                cwd: text_of(next()),
                timeout_seconds: count_of(next()),
            },
            Which::Finish => Call::FinishTask {
                status: match text_of(next()).as_deref() {
                    Some("blocked") => Finish::Blocked,
                    Some("failed") => Finish::Failed,
                    Some(_) | None => Finish::Done,
                },
                response: text_of(next()).unwrap_or_default(),
            },
        }
    }
}

fn text_of(value: Option<Accepted>) -> Option<String> {
    match value {
        Some(Accepted::Text(text)) => Some(text),
        Some(Accepted::Count(_) | Accepted::Flag(_)) | None => None,
    }
}

fn count_of(value: Option<Accepted>) -> Option<u64> {
    match value {
        Some(Accepted::Count(count)) => Some(count),
        Some(Accepted::Text(_) | Accepted::Flag(_)) | None => None,
    }
}

fn is_set(value: Option<Accepted>) -> bool {
    matches!(value, Some(Accepted::Flag(true)))
}

fn find_argument(tool: &Tool, key: &str) -> Option<usize> {
    let exact = tool
        .arguments
        .iter()
        .position(|argument| argument.name == key);
    exact.or_else(|| {
        let folded = fold(key);
        tool.arguments
            .iter()
            .position(|a| fold(a.name) == folded || is_alias(a.aliases, &folded))
    })
}

fn unknown(tool: &Tool, key: &str) -> String {
    let names = tool.arguments.iter().map(|argument| argument.name);
    match nearest(key, names) {
        Some(name) => format!("unknown argument `{}`; did you mean `{name}`?", quoted(key)),
        None => format!("unknown argument `{}`", quoted(key)),
    }
}

fn accept(
    argument: &Argument,
    value: Value<'_>,
    said: &mut Vec<String>,
) -> Result<Accepted, String> {
    let name = argument.name;
    let wrong = |expected: &str| {
        Err(format!(
            "`{name}` must be {expected}, found {}",
            as_json(value)
        ))
    };
    match argument.kind {
        Kind::Text | Kind::Name => match value.as_str() {
            Some(text) if argument.kind == Kind::Name && text.contains('\0') => Err(format!(
                "`{name}` must not hold a NUL character, found {}",
                as_json(value)
            )),
            Some(text) => Ok(Accepted::Text(text.to_string())),
            None => wrong("a string"),
        },
        Kind::Count => {
            if let Some(count) = value.as_number().and_then(|number| number.as_u64()) {
                return Ok(Accepted::Count(count));
            }
            let digits = |text: &&str| !text.is_empty() && text.bytes().all(|b| b.is_ascii_digit());
            match value
                .as_str()
                .filter(digits)
                .and_then(|text| text.parse().ok())
            {
                Some(count) => {
                    said.push(format!(
                        "`{name}`: {} was taken as the number {count}",
                        as_json(value)
                    ));
                    Ok(Accepted::Count(count))
                }
                None => wrong("a whole number"),
            }
        }
        Kind::Flag => match (value.as_bool(), value.as_str()) {
            (Some(flag), _) => Ok(Accepted::Flag(flag)),
            (None, Some(word @ ("true" | "false"))) => {
                said.push(format!(
                    "`{name}`: \"{word}\" was taken as the boolean {word}"
                ));
                Ok(Accepted::Flag(word == "true"))
            }
            (None, _) => wrong("true or false"),
        },
        Kind::Choice(words) => match value.as_str().filter(|text| words.contains(text)) {
            Some(word) => Ok(Accepted::Text(word.to_string())),
            None => wrong(&format!("one of {}", words.join(", "))),
        },
    }
}

/// The failure of a known tool: faults, what it takes, an example.
fn refuse(tool: &Tool, faults: &[String]) -> ToolOutcome {
    let mut text = format!("{} was not run:\n", tool.name);
    for fault in faults {
        text.push_str(&format!("- {fault}\n"));
    }
    let takes: Vec<String> = tool
        .arguments
        .iter()
        .map(|argument| {
            let mark = if argument.required { "" } else { "?" };
            format!("{}{mark} ({})", argument.name, argument.kind.schema_type())
        })
        .collect();
    text.push_str(&format!(
        "It takes {}.\nCall it again with arguments like {}",
        takes.join(", "),
        tool.example
    ));
    failed(text)
}

fn quoted(text: &str) -> String {
    text::clip(&shown(text), QUOTED_CHARS).into_owned()
}

fn as_json(value: Value<'_>) -> String {
    let mut json = Vec::new();
    value.write(&mut json);
    quoted(&text::repair(&json))
}
