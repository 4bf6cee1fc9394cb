//! Prompt commands: texts with a name, which a person uses as `/name` and what follows. In: Markdown files and a prompt. Out: the prompt that is
//! meant. Front ends call [`Prompts::expand`], which looks at nothing but its arguments.
//!
//! ```text
//! .zcoder/commands/fix.md                     of the workspace, if it is trusted; then commands/*.md of our configuration; then our own
//!   ---
//!   description: Mends one failing test
//!   ---
//!   Mend $1. What is known: $ARGUMENTS
//!
//! /fix tests/a.rs "off by one"          → Mend tests/a.rs. What is known: tests/a.rs "off by one"
//! /fixx                                 → unknown
//! /etc/hosts is odd, or " /fix"         → no command: a prompt like any other
//! ```
//!
//! `$1` to `$9` are words (quotes keep blanks), `$ARGUMENTS` is all of it; where a text has none of them, arguments are put behind it. `$$1` is
//! `$1`. With `attach: changes` in its head a command wants what the last session changed.
//!
//! Refused when it is used: a file that cannot be read or is not trusted, a broken head, no text. Limits: those of `source.rs`, and
//! `MAX_FILES` of the user's.
//!
//! Invariant: what is filled in is not looked at again. Invariant: a file that is not usable does not hide one that is.

use super::Places;
use super::frontmatter;
use super::source::{self, Source};
use crate::policy::trust::{self, Kind};
use crate::sort;
use crate::text;
use std::fs;

/// Prompt commands of the user that are looked at.
const MAX_FILES: usize = 256;
/// Characters of a name.
const MAX_NAME: usize = 64;
/// Where a project keeps them.
const PROJECT: &str = ".zcoder/commands/";

/// Our own.
const BUNDLED: [(&str, &str); 3] = [
    ("init", include_str!("bundled/init.md")),
    ("review", include_str!("bundled/review.md")),
    ("commit", include_str!("bundled/commit.md")),
];

/// A text with a name.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Prompt {
    /// Without the slash.
    pub name: String,
    /// Where it comes from.
    pub shown: String,
    /// What it says, or why it cannot be used.
    pub content: Result<Content, String>,
}

/// What it says.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Content {
    /// On one line; may be empty.
    pub description: String,
    /// With `$1` and so on.
    template: String,
    /// It wants what the last session changed.
    attaches_changes: bool,
}

/// All there are, the strongest first.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Prompts {
    /// Of two with one name the first that is usable counts.
    pub all: Vec<Prompt>,
}

/// What a prompt means.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Expansion {
    /// No command.
    Plain,
    /// This text.
    Prompt {
        /// In place of what was typed.
        text: String,
        /// Attach what the last session changed.
        attaches_changes: bool,
    },
    /// It looks like a command, and there is none of this name.
    Unknown {
        /// Without the slash.
        name: String,
    },
    /// There is one, and it cannot be used.
    Unusable {
        /// The file.
        shown: String,
        /// Why.
        why: String,
    },
}

impl Prompts {
    /// Reads what there is.
    pub fn gather(places: &Places) -> Prompts {
        let mut all = Vec::new();
        for found in &places.found {
            if let Some(name) = found.path.strip_prefix(PROJECT) {
                let source = Source::new(found.path.clone(), found, Some(&places.trust));
                all.extend(prompt(name, source));
            }
        }
        let own = places.config.as_ref().and_then(|config| {
            let folder = config.join("commands");
            folder.canonicalize().ok().map(|base| (folder, base))
        });
        if let Some((folder, base)) = own {
            let entries = fs::read_dir(&base).into_iter().flatten().flatten();
            let names = entries.filter_map(|entry| entry.file_name().into_string().ok());
            let mut names: Vec<String> = names.filter(|name| name.ends_with(".md")).collect();
            sort::by(&mut names, Ord::cmp);
            for name in names.iter().take(MAX_FILES) {
                if let Some(found) = trust::find(&base, name, Kind::Guidance) {
                    let shown = source::shown(&folder.join(name), places.home.as_ref());
                    all.extend(prompt(name, Source::new(shown, &found, None)));
                }
            }
        }
        for (name, text) in BUNDLED {
            all.push(Prompt {
                name: name.to_string(),
                shown: "zcoder itself".to_string(),
                content: content(text),
            });
        }
        Prompts { all }
    }

    /// The names that can be used, each once.
    pub fn names(&self) -> Vec<&str> {
        let mut names: Vec<&str> = Vec::new();
        for prompt in self.all.iter().filter(|prompt| prompt.content.is_ok()) {
            if !names.contains(&prompt.name.as_str()) {
                names.push(&prompt.name);
            }
        }
        names
    }

    /// What a prompt means.
    pub fn expand(&self, typed: &str) -> Expansion {
        let Some(rest) = typed.strip_prefix('/') else {
            return Expansion::Plain;
        };
        let name = rest.split(char::is_whitespace).next().unwrap_or_default();
        if !is_name(name) {
            return Expansion::Plain;
        }
        let mut named = self.all.iter().filter(|prompt| prompt.name == name);
        let first = named.clone().next();
        match (named.find_map(|prompt| prompt.content.as_ref().ok()), first) {
            (Some(content), _) => Expansion::Prompt {
                text: fill(&content.template, rest[name.len()..].trim()),
                attaches_changes: content.attaches_changes,
            },
            (None, Some(prompt)) => Expansion::Unusable {
                shown: prompt.shown.clone(),
                why: prompt.content.as_ref().err().cloned().unwrap_or_default(),
            },
            (None, None) => Expansion::Unknown {
                name: name.to_string(),
            },
        }
    }
}

fn is_name(name: &str) -> bool {
    let letters = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_');
    !name.is_empty() && name.len() <= MAX_NAME && name.chars().all(letters)
}

/// A file whose name is one that can be typed.
fn prompt(file: &str, source: Source) -> Option<Prompt> {
    let name = file.strip_suffix(".md").filter(|name| is_name(name))?;
    let text = source.text.map_err(|why| why.to_string());
    Some(Prompt {
        name: name.to_string(),
        shown: source.name,
        content: text.and_then(|text| content(&text)),
    })
}

fn content(text: &str) -> Result<Content, String> {
    let head = frontmatter::split(text).map_err(|fault| fault.to_string())?;
    let field = |key: &str| head.text(key).map_err(|fault| fault.to_string());
    let template = head.body.trim();
    if template.is_empty() {
        return Err("it has no text".to_string());
    }
    Ok(Content {
        description: text::line(field("description")?.unwrap_or_default())
            .trim()
            .to_string(),
        template: template.to_string(),
        attaches_changes: field("attach")? == Some("changes"),
    })
}

/// A text with its arguments in it.
fn fill(template: &str, arguments: &str) -> String {
    let words = words(arguments);
    let (mut out, mut rest, mut used) = (String::new(), template, false);
    while let Some(at) = rest.find('$') {
        out.push_str(&rest[..at]);
        rest = &rest[at..];
        match (placeholder(rest), placeholder(&rest[1..])) {
            (Some((length, number)), _) => {
                used = true;
                out.push_str(match number {
                    0 => arguments,
                    number => words.get(number - 1).map_or("", String::as_str),
                });
                rest = &rest[length..];
            }
            // The first dollar protects the second.
            (None, Some((length, _))) => {
                out.push_str(&rest[1..=length]);
                rest = &rest[1 + length..];
            }
            (None, None) => {
                out.push('$');
                rest = &rest[1..];
            }
        }
    }
    out.push_str(rest);
    if !used && !arguments.is_empty() {
        out.push_str("\n\n");
        out.push_str(arguments);
    }
    out
}

/// At the beginning of a text: the bytes of `$3` and its number; 0 for `$ARGUMENTS`. In `$100` and `$1a` there is none.
fn placeholder(text: &str) -> Option<(usize, usize)> {
    let rest = text.strip_prefix('$')?;
    let (length, number) = match rest.strip_prefix("ARGUMENTS") {
        Some(_) => ("ARGUMENTS".len(), 0),
        None => match rest.bytes().next()? {
            digit @ b'1'..=b'9' => (1, usize::from(digit - b'0')),
            _ => return None,
        },
    };
    let next = rest[length..].chars().next();
    let ends = next.is_none_or(|c| !c.is_alphanumeric() && c != '_');
    ends.then_some((1 + length, number))
}

/// Words, parted by blanks; quotes of either kind keep blanks together.
fn words(text: &str) -> Vec<String> {
    let (mut words, mut word, mut quote) = (Vec::new(), None::<String>, None);
    for c in text.chars() {
        match quote {
            Some(open) if c == open => quote = None,
            Some(_) => word.get_or_insert_default().push(c),
            None if matches!(c, '"' | '\'') => {
                quote = Some(c);
                word.get_or_insert_default();
            }
            None if c.is_whitespace() => words.extend(word.take()),
            None => word.get_or_insert_default().push(c),
        }
    }
    words.extend(word);
    words
}
