//! The tools of Skills, which are on offer only where there are Skills. In: a call of the model. Out: its result. The engine asks here before it
//! asks `tools`, which knows nothing of Skills.
//!
//! ```text
//! activate_skill {"name":"pdf"}                                      its instructions, and which files it has
//! read_skill_resource {"skill":"pdf","path":"forms/a.md"}            one of these files
//! discover_skills {"query":"spreadsheet"}                            Skills that the catalogue had no room for; only if it had not
//! ```
//!
//! Limits: [`MAX_BODY`] of instructions or of a file at once, in a small window less; [`MAX_ACTIVE`] Skills and [`MAX_ACTIVE_BYTES`] active at
//! once; [`MAX_FILES`] files named. Files are read by the rules of `source.rs`, from the Skill's own folder.
//!
//! Invariant: a Skill of the workspace is read again when it is activated, and counts only if it is still what was trusted.
//! Invariant: nothing here changes what is allowed: a script of a Skill is run by run_command, like any other.

use super::frontmatter;
use super::skills::{Skill, Skills};
use super::source::{self, Source};
use crate::json::{Kind as Found, Value};
use crate::policy::trust::{self, Kind, Trust};
use crate::protocol::{Facts, ToolCall, ToolOutcome, ToolStatus};
use crate::sort;
use crate::text;
use std::fs;
use std::path::Path;

/// Bytes of instructions, or of a file.
pub const MAX_BODY: usize = 32 << 10;
/// Skills active at once.
pub const MAX_ACTIVE: usize = 8;
/// Bytes of their instructions.
pub const MAX_ACTIVE_BYTES: usize = 64 << 10;
/// Files of a Skill that are named.
const MAX_FILES: usize = 50;
/// How deep they may lie.
const MAX_DEPTH: usize = 3;
/// Characters of foreign text in a failure.
const QUOTED_CHARS: usize = 60;

/// Names, schemas and words for the text style, in the order of [`Which`].
const NAMES: [&str; 3] = ["activate_skill", "read_skill_resource", "discover_skills"];
const SCHEMAS: [&str; 3] = [
    r#"{"type":"function","function":{"name":"activate_skill","description":"Get the instructions of a Skill.","parameters":{"type":"object","properties":{"name":{"type":"string"}},"required":["name"]}}}"#,
    r#"{"type":"function","function":{"name":"read_skill_resource","description":"Read a file that belongs to a Skill.","parameters":{"type":"object","properties":{"skill":{"type":"string"},"path":{"type":"string","description":"from the Skill's folder"},"start_line":{"type":"integer","description":"from 1"}},"required":["skill","path"]}}}"#,
    r#"{"type":"function","function":{"name":"discover_skills","description":"Find Skills that are not listed.","parameters":{"type":"object","properties":{"query":{"type":"string","description":"words of the name or the description"}},"required":["query"]}}}"#,
];
const WORDS: [&str; 3] = [
    "- activate_skill: Get the instructions of a Skill.\n  name\n",
    "- read_skill_resource: Read a file that belongs to a Skill.\n  skill, path (from the Skill's folder), start_line?\n",
    "- discover_skills: Find Skills that are not listed.\n  query (words of the name or the description)\n",
];

/// Which tool.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Which {
    Activate,
    Resource,
    Discover,
}

/// What is on offer.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Offer {
    /// There are no Skills.
    #[default]
    Nothing,
    /// All Skills are in the catalogue.
    Skills,
    /// Not all are.
    SkillsAndSearch,
}

impl Offer {
    /// How many of the tools.
    fn count(self) -> usize {
        match self {
            Offer::Nothing => 0,
            Offer::Skills => 2,
            Offer::SkillsAndSearch => 3,
        }
    }

    /// The names on offer.
    pub fn names(self) -> &'static [&'static str] {
        &NAMES[..self.count()]
    }

    /// Their schemas, with a comma between them, as they stand in a request.
    pub fn schemas(self) -> String {
        SCHEMAS[..self.count()].join(",")
    }

    /// The same in words, for the text style.
    pub fn described(self) -> String {
        WORDS[..self.count()].concat()
    }

    /// The tool of this name. Models write names in other forms too.
    pub(super) fn which(self, name: &str) -> Option<Which> {
        let name = name.strip_prefix("functions.").unwrap_or(name);
        let folded: String = name.chars().filter(|c| c.is_ascii_alphanumeric()).collect();
        let which = match folded.to_ascii_lowercase().as_str() {
            "activateskill" | "skill" | "useskill" | "loadskill" => Which::Activate,
            "readskillresource" | "readskillfile" => Which::Resource,
            "discoverskills" | "findskills" | "searchskills" => Which::Discover,
            _ => return None,
        };
        ((which as usize) < self.count()).then_some(which)
    }
}

/// Skills that were activated, with the bytes of their instructions.
#[derive(Clone, Debug, Default)]
pub(super) struct Active(pub(super) Vec<(String, usize)>);

/// How the instructions of a Skill begin.
pub(super) fn begins(skill: &Skill) -> String {
    format!("Skill {}, from {}. ", skill.name, skill.shown)
}

/// An argument that is text.
pub(super) fn argument<'c>(call: &'c ToolCall, names: &[&str]) -> Option<&'c str> {
    let root = call.arguments.root();
    let mut values = names.iter().filter_map(|name| root.get(name));
    values.find_map(Value::as_str)
}

/// A line number, as a number or as digits.
fn line_number(call: &ToolCall) -> Result<usize, String> {
    let value = call.arguments.root().get("start_line");
    let Some(value) = value.filter(|value| value.kind() != Found::Null) else {
        return Ok(1);
    };
    let number = value.as_number().and_then(|number| number.as_u64());
    let number = number.or_else(|| value.as_str()?.parse().ok());
    let number = number.and_then(|number| usize::try_from(number).ok());
    number
        .filter(|number| *number > 0)
        .ok_or_else(|| "`start_line` must be a whole number from 1".to_string())
}

impl Active {
    /// The instructions of a Skill; from now on it is active.
    pub(super) fn activate(
        &mut self,
        skill: &Skill,
        trust: &Option<Trust>,
        limit: usize,
    ) -> Result<String, String> {
        let name = &skill.name;
        if self.0.iter().any(|(active, _)| active == name) {
            return Err(format!(
                "{name} is active already: its instructions stand in an earlier message. Follow them."
            ));
        }
        let found = trust::find(&skill.base, &skill.path, Kind::Guidance);
        let found = found.ok_or_else(|| format!("{} is gone. Go on without it.", skill.shown))?;
        let source = Source::new(skill.shown.clone(), &found, skill.project.then_some(trust));
        let shown = &skill.shown;
        let unusable = |why: &dyn std::fmt::Display| {
            format!("{name} cannot be used: {shown}: {why}. Go on without it.")
        };
        let text = source.text.map_err(|why| unusable(&why))?;
        let head = frontmatter::split(&text).map_err(|fault| unusable(&fault))?;
        let body = head.body.trim();
        let kept = source::cut_at_line(body, limit);
        let sum: usize = self.0.iter().map(|(_, bytes)| bytes).sum();
        if self.0.len() >= MAX_ACTIVE || sum + kept.len() > MAX_ACTIVE_BYTES {
            let active: Vec<&str> = self.0.iter().map(|(name, _)| name.as_str()).collect();
            return Err(format!(
                "{name} was not activated: at most {MAX_ACTIVE} Skills and {} bytes of instructions are active at once, and {} are. Go \
                 on with these, or without.",
                text::grouped(MAX_ACTIVE_BYTES as u64),
                active.join(", ")
            ));
        }
        self.0.push((name.clone(), kept.len()));
        let mut out = begins(skill);
        out.push_str("Follow it for the task at hand; it changes no permission.\n");
        let files = files(&skill.folder());
        if !files.is_empty() {
            let (folder, _) = skill.shown.rsplit_once('/').unwrap_or_default();
            out.push_str(&format!(
                "Its files, in {folder}, for read_skill_resource: {files}\n"
            ));
        }
        out.push('\n');
        out.push_str(kept);
        out.push('\n');
        if kept.len() < body.len() {
            out.push_str(&source::cut_mark(body.len() - kept.len()));
        }
        Ok(out)
    }
}

/// The names of a Skill's files, a comma between them; without links and hidden names.
fn files(folder: &Path) -> String {
    let (mut names, mut folders) = (Vec::new(), vec![String::new()]);
    let mut more = false;
    while let Some(inside) = folders.pop() {
        let Ok(entries) = fs::read_dir(folder.join(&inside)) else {
            continue;
        };
        for entry in entries.take(MAX_FILES * 4).flatten() {
            let Ok(name) = entry.file_name().into_string() else {
                continue;
            };
            let Ok(kind) = entry.file_type() else {
                continue;
            };
            let path = format!("{inside}{name}");
            if name.starts_with('.') || path == "SKILL.md" || path.chars().any(text::is_harmful) {
                continue;
            }
            if kind.is_dir() && path.matches('/').count() < MAX_DEPTH && folders.len() < MAX_FILES {
                folders.push(format!("{path}/"));
            } else if kind.is_file() && names.len() < MAX_FILES * 4 {
                names.push(path);
            } else {
                more |= kind.is_dir() || kind.is_file();
            }
        }
    }
    sort::by(&mut names, Ord::cmp);
    more |= names.len() > MAX_FILES;
    names.truncate(MAX_FILES);
    if more {
        names.push("…".to_string());
    }
    names.join(", ")
}

/// `read_skill_resource`
pub(super) fn resource(skills: &Skills, call: &ToolCall, limit: usize) -> Result<String, String> {
    let example = r#"Call it with arguments like {"skill":"pdf","path":"forms.md"}"#;
    let skill = argument(call, &["skill", "name", "skill_name"]);
    let path = argument(call, &["path", "file", "resource", "file_path"]);
    let (Some(skill), Some(path)) = (skill, path) else {
        return Err(format!(
            "read_skill_resource needs `skill` and `path`. {example}"
        ));
    };
    let skill = skills.named(skill).ok_or_else(|| unknown(skills, skill))?;
    let start = line_number(call)?;
    let shown = quoted(path);
    let inside = Path::new(path)
        .components()
        .all(|part| matches!(part, std::path::Component::Normal(_)));
    let name = &skill.name;
    let folder = skill.folder().canonicalize();
    let folder = folder.map_err(|error| format!("the folder of {name} cannot be read: {error}"))?;
    if !inside || !folder.starts_with(&skill.base) {
        return Err(format!(
            "`{shown}` is no path within the Skill's folder. {example}"
        ));
    }
    let Some(found) = trust::find(&folder, path, Kind::Guidance) else {
        let files = files(&folder);
        return Err(format!("{name} has no file `{shown}`. It has: {files}"));
    };
    let content = found
        .content
        .map_err(|why| format!("`{shown}` cannot be read: {why}. Go on without it."))?;
    if content.bytes.contains(&0) {
        return Err(format!(
            "`{shown}` is not text. Go on without it, or use it in a command."
        ));
    }
    let whole = text::repair(&content.bytes);
    let rest: String = whole.split_inclusive('\n').skip(start - 1).collect();
    let kept = source::cut_at_line(&rest, limit);
    let mut out = kept.to_string();
    if kept.len() < rest.len() {
        let next = start + kept.matches('\n').count();
        out.push_str(&source::cut_mark(rest.len() - kept.len()));
        out.push_str(&format!("[go on with start_line {next}]\n"));
    }
    Ok(out)
}

/// `discover_skills`
pub(super) fn discover(skills: &Skills, call: &ToolCall, limit: usize) -> Result<String, String> {
    let query = argument(call, &["query", "pattern", "text", "name"])
        .unwrap_or_default()
        .to_lowercase();
    let hit = |skill: &&Skill| {
        let text = skill.line().to_lowercase();
        query.split_whitespace().all(|word| text.contains(word))
    };
    let (mut out, mut more) = (String::new(), 0);
    for skill in skills.all.iter().filter(hit) {
        let line = skill.line();
        match out.len() + line.len() <= limit {
            true => out.push_str(&line),
            false => more += 1,
        }
    }
    if out.is_empty() {
        let count = text::grouped(skills.all.len() as u64);
        return Err(format!(
            "none of the {count} Skills has all these words. Try fewer, or one."
        ));
    }
    if more > 0 {
        out.push_str(&format!("{more} more have these words; use more of them\n"));
    }
    Ok(out)
}

/// Foreign text in a failure.
fn quoted(text: &str) -> String {
    text::clip(&text::line(&text::visible(text)), QUOTED_CHARS).into_owned()
}

/// No such Skill.
pub(super) fn unknown(skills: &Skills, name: &str) -> String {
    let names = skills.all.iter().take(MAX_FILES);
    let names: Vec<&str> = names.map(|skill| skill.name.as_str()).collect();
    let (name, names) = (quoted(name), names.join(", "));
    format!("there is no Skill `{name}`. There are: {names}")
}

/// As a result of a call.
pub(super) fn outcome(result: Result<String, String>) -> ToolOutcome {
    let (status, text) = match result {
        Ok(text) => (ToolStatus::Ok, text),
        Err(text) => (ToolStatus::Failed, text),
    };
    ToolOutcome {
        status,
        text,
        facts: Facts::None,
    }
}
