//! The head of a Markdown file: `key: value` lines between two lines `---`. In: the text of a Skill or a prompt command, made harmless. Out:
//! its fields and where its body begins. `skills.rs` and `prompts.rs` ask for `name` and `description`.
//!
//! ```text
//! ---                                  line 1, or there is no head
//! name: pdf-forms                      name = "pdf-forms"
//! description: >                       description = "Fills in forms. Use it for PDF files."
//!   Fills in forms.                      > joins lines with a blank, | keeps them; blank lines are line ends in both
//!   Use it for PDF files.
//! license: 'MIT'  # comment            quoted: '' is one ', \n \t \" \\ \/ \xhh \uhhhh within "…"
//! allowed-tools: [Read, Bash]          a list or a map, in any form: passed over, nobody may ask for it
//! metadata:
//!   author: me
//! ---
//! body
//! ```
//!
//! It is the part of YAML that such heads use; there is no YAML library behind it. A plain value may go on over indented lines, and may hold
//! `: ` (YAML would refuse it; what is meant is clear). A byte order mark and `\r\n` were taken away before.
//!
//! Refused, with the line: a head without its end, lines that are no `key: value`, tabs as indentation, a key that stands there twice, quotes
//! that are not closed on their line, unknown escapes, and a list, a map, an alias or a tag where text is asked for.
//!
//! Invariant: a fault names one line, counted from 1 in the whole file. Linear in the text, no recursion.
//!
//! Read next: `skills.rs`.

use crate::text;
use std::fmt;

/// What is wrong, and where.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fault {
    /// From 1.
    pub line: usize,
    /// What.
    pub cause: Cause,
}

/// What can be wrong.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Cause {
    /// No second `---`.
    Open,
    /// Not `key: value`.
    NoKey(String),
    /// Indentation by tabs.
    Tab,
    /// A key for the second time.
    Twice(String),
    /// No closing quote on the line.
    Quote,
    /// Text behind a closing quote.
    AfterQuote,
    /// `\` and this.
    Escape(String),
    /// Not text.
    NoText(String),
}

/// Most characters of foreign text in a fault.
const QUOTED_CHARS: usize = 40;

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "line {}: ", self.line)?;
        match &self.cause {
            Cause::Open => f.write_str("the head that begins here is not closed by a line `---`"),
            Cause::NoKey(line) => write!(f, "expected `key: value`, found `{line}`"),
            Cause::Tab => f.write_str("a tab begins the line; indent with blanks"),
            Cause::Twice(key) => write!(f, "`{key}` stands there twice"),
            Cause::Quote => f.write_str("the quoted text is not closed on its line"),
            Cause::AfterQuote => f.write_str("text follows the closing quote"),
            Cause::Escape(what) => write!(f, "`\\{what}` is no escape of quoted text"),
            Cause::NoText(key) => {
                write!(
                    f,
                    "`{key}` must be text; a list, a map or a mark of YAML stands there; put text into quotes"
                )
            }
        }
    }
}

/// The fields, in order, and the rest.
#[derive(Debug, PartialEq, Eq)]
pub struct Head<'t> {
    fields: Vec<Field>,
    /// What follows the head; all of it, if there is none.
    pub body: &'t str,
}

#[derive(Debug, PartialEq, Eq)]
struct Field {
    line: usize,
    key: String,
    /// `None`: something else than text.
    text: Option<String>,
}

impl Head<'_> {
    /// The text under a key, if the key is there.
    pub fn text(&self, key: &str) -> Result<Option<&str>, Fault> {
        let Some(field) = self.fields.iter().find(|field| field.key == key) else {
            return Ok(None);
        };
        match &field.text {
            Some(text) => Ok(Some(text)),
            None => Err(Fault {
                line: field.line,
                cause: Cause::NoText(key.to_string()),
            }),
        }
    }
}

/// Reads the head of a text.
pub fn split(text: &str) -> Result<Head<'_>, Fault> {
    let mut lines = Lines {
        rest: text,
        line: 0,
    };
    let mut fields: Vec<Field> = Vec::new();
    if lines.next().is_none_or(|first| first.trim_end() != "---") {
        return Ok(Head { fields, body: text });
    }
    loop {
        let Some(line) = lines.next() else {
            return Err(fault(1, Cause::Open));
        };
        if line.trim_end() == "---" {
            let body = lines.rest;
            return Ok(Head { fields, body });
        }
        if line.trim().is_empty() || line.starts_with('#') {
            continue;
        }
        let number = lines.line;
        if line.starts_with('\t') {
            return Err(fault(number, Cause::Tab));
        }
        let Some((key, value)) = key_and_value(line) else {
            return Err(fault(number, Cause::NoKey(quoted(line))));
        };
        if fields.iter().any(|field| field.key == key) {
            return Err(fault(number, Cause::Twice(key.to_string())));
        }
        fields.push(Field {
            line: number,
            key: key.to_string(),
            text: value_text(value, &mut lines)?,
        });
    }
}

fn fault(line: usize, cause: Cause) -> Fault {
    Fault { line, cause }
}

fn quoted(text: &str) -> String {
    text::clip(&text::visible(text), QUOTED_CHARS).into_owned()
}

/// Lines with their numbers.
struct Lines<'t> {
    rest: &'t str,
    /// Of the last one that was given out.
    line: usize,
}

impl<'t> Lines<'t> {
    fn next(&mut self) -> Option<&'t str> {
        if self.rest.is_empty() {
            return None;
        }
        let (line, rest) = self.rest.split_once('\n').unwrap_or((self.rest, ""));
        self.rest = rest;
        self.line += 1;
        Some(line)
    }

    /// The next line, if it is blank or begins with a blank: then it belongs to the value before.
    fn indented(&mut self) -> Option<&'t str> {
        let line = self.rest.split('\n').next()?;
        let belongs = line.starts_with(' ') || line.trim().is_empty();
        (belongs && !self.rest.is_empty()).then(|| self.next())?
    }
}

/// `key: value`; a key is made of letters, digits, `-` and `_`.
fn key_and_value(line: &str) -> Option<(&str, &str)> {
    let (key, value) = line.split_once(':')?;
    let key = key.trim_end();
    let letters = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_');
    let is_key = !key.is_empty() && !key.starts_with('-') && key.chars().all(letters);
    let parted = value.is_empty() || value.starts_with([' ', '\t']);
    (is_key && parted).then(|| (key, value.trim()))
}

/// A value, with the lines that belong to it; `None`: no text.
fn value_text(value: &str, lines: &mut Lines<'_>) -> Result<Option<String>, Fault> {
    let number = lines.line;
    let text = match value.chars().next() {
        None | Some('#') => return nested(lines),
        Some('|') => block(lines, '\n'),
        Some('>') => block(lines, ' '),
        Some('"') => double_quoted(&value[1..]).map_err(|cause| fault(number, cause))?,
        Some('\'') => single_quoted(&value[1..]).map_err(|cause| fault(number, cause))?,
        Some('[' | '{' | '&' | '*' | '!' | '@' | '`' | '%') => {
            while lines.indented().is_some() {}
            return Ok(None);
        }
        Some(_) => {
            let mut text = without_comment(value).to_string();
            while let Some(line) = lines.indented() {
                let more = without_comment(line.trim());
                if !more.is_empty() {
                    text.push(' ');
                    text.push_str(more);
                }
            }
            text
        }
    };
    Ok(Some(text))
}

/// Nothing, or a list or a map on the following lines. The dashes of a list may stand at the margin.
fn nested(lines: &mut Lines<'_>) -> Result<Option<String>, Fault> {
    let mut empty = true;
    loop {
        if let Some(line) = lines.indented() {
            empty &= line.trim().is_empty();
        } else if lines.rest.starts_with("- ") || lines.rest.starts_with("-\n") {
            empty = false;
            lines.next();
        } else {
            return Ok(empty.then(String::new));
        }
    }
}

/// The indented lines below `|` or `>`, joined; without blank lines at the end, whatever the mark behind it says of them.
fn block(lines: &mut Lines<'_>, join: char) -> String {
    let (mut out, mut margin) = (String::new(), None);
    while let Some(line) = lines.indented() {
        let blanks = line.len() - line.trim_start_matches(' ').len();
        let line = match line.trim().is_empty() {
            true => "",
            false => &line[blanks.min(*margin.get_or_insert(blanks))..],
        };
        match (join, line, out.is_empty() || out.ends_with('\n')) {
            ('\n', line, _) => {
                out.push_str(line);
                out.push('\n');
            }
            (_, "", _) => out.push('\n'),
            (_, line, true) => out.push_str(line),
            (_, line, false) => {
                out.push(join);
                out.push_str(line);
            }
        }
    }
    out.trim_end().to_string()
}

/// A plain value ends where ` #` begins a comment.
fn without_comment(value: &str) -> &str {
    let end = value.find(" #").or_else(|| value.find("\t#"));
    value[..end.unwrap_or(value.len())].trim_end()
}

fn after_quote(rest: &str) -> Result<(), Cause> {
    match rest.trim_start() {
        "" => Ok(()),
        comment if comment.starts_with('#') => Ok(()),
        _ => Err(Cause::AfterQuote),
    }
}

fn single_quoted(text: &str) -> Result<String, Cause> {
    let (mut out, mut rest) = (String::new(), text);
    loop {
        let (part, after) = rest.split_once('\'').ok_or(Cause::Quote)?;
        out.push_str(part);
        match after.strip_prefix('\'') {
            Some(after) => {
                out.push('\'');
                rest = after;
            }
            None => return after_quote(after).map(|()| out),
        }
    }
}

fn double_quoted(text: &str) -> Result<String, Cause> {
    let mut out = String::new();
    let mut chars = text.chars();
    loop {
        match chars.next().ok_or(Cause::Quote)? {
            '"' => return after_quote(chars.as_str()).map(|()| out),
            '\\' => {
                let letter = chars.next().ok_or(Cause::Quote)?;
                let digits = match letter {
                    'x' => 2,
                    'u' => 4,
                    'U' => 8,
                    _ => 0,
                };
                let code = chars.as_str().get(..digits).unwrap_or_default();
                let unknown = || Cause::Escape(quoted(&format!("{letter}{code}")));
                out.push(match letter {
                    'n' => '\n',
                    't' => '\t',
                    'r' => '\r',
                    '0' => '\0',
                    '"' | '\\' | '/' | ' ' => letter,
                    _ if code.bytes().all(|b| b.is_ascii_hexdigit()) => {
                        let code = u32::from_str_radix(code, 16).map_err(|_| unknown())?;
                        char::from_u32(code).ok_or_else(unknown)?
                    }
                    _ => return Err(unknown()),
                });
                chars = chars.as_str()[digits..].chars();
            }
            other => out.push(other),
        }
    }
}
