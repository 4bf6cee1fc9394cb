//! One settings file: strict JSON, one object whose members are settings. In: its bytes, and whose it is. Out: what it says, checked and
//! with the place of each value; or the first thing that is wrong, with file, line and column. `layers.rs` calls it.
//!
//! ```text
//! ~/.config/zcoder/config.json
//!   {"model": "qwen3:8b",                   Given { Model, "qwen3:8b", …:1:11 }
//!    "context_window": "32k",               a flag --a-b is the key a_b; numbers may be numbers
//!    "quiet": true,                         flags without a value are true or false
//!    "header": ["Authorization: Bearer x"], repeatable flags may be an array
//!    "command_wrapper": ["bwrap", "--"]}    keys.rs: settings that are no flags
//! /etc/zcoder/config.json
//!   {"host": "gpubox", "lock": ["host"]}    what is locked nobody else may set, or at most tighter
//! .zcoder/config.json
//!   {"host": "x"}                           .zcoder/config.json:1:2: a project may not set `host`; …
//! ```
//!
//! Refused: text that is not UTF-8 or not JSON, unknown keys (with the nearest), keys that stand twice, values of another kind or out of
//! range, and what this file may not say. A byte order mark before the text is skipped. Limit: `MAX_BYTES`.
//!
//! Invariant: what comes out was accepted by the same functions that read flags; a value cannot turn out wrong later.
//! Invariant: an error never shows the value of a header.
//!
//! Read next: `layers.rs`.

use super::error::{Layer, Origin, Source, UsageError};
use super::flags::{FLAGS, Files, Flag, Id, Takes};
use super::keys::{KEYS, Key, KeyRow, Shape};
use super::settings;
use super::typed::{Given, list, tightness};
use crate::json::{self, Kind, Tokens, Value};
use crate::policy::{self, Check};
use crate::sys::file;
use std::ffi::OsString;
use std::fmt;
use std::fs;
use std::io::{self, ErrorKind, Read};
use std::path::Path;

/// Thousands of times what anybody writes.
const MAX_BYTES: u64 = 256 << 10;

/// More names of guidance than anybody uses.
const MAX_NAMES: usize = 8;

/// A setting that is no flag.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Extra {
    /// Which.
    pub key: Key,
    /// What was said.
    pub content: Content,
    /// Where.
    pub source: Source,
}

/// By the shape of its key.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Content {
    /// `["bwrap", "--"]`
    Words(Vec<String>),
    /// `{"test": "make test"}`
    Checks(Vec<Check>),
    /// `true`
    Switch(bool),
}

/// For people.
impl fmt::Display for Content {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Content::Words(words) => f.write_str(&words.join(" ")),
            Content::Checks(checks) => {
                let names: Vec<&str> = checks.iter().map(|check| check.name.as_str()).collect();
                f.write_str(&names.join(", "))
            }
            Content::Switch(true) => f.write_str("on"),
            Content::Switch(false) => f.write_str("off"),
        }
    }
}

/// A setting, of either kind.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Setting {
    /// A flag.
    Flag(Id),
    /// None.
    Key(Key),
}

/// A setting that only the site may set.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Lock {
    /// Which.
    pub setting: Setting,
    /// Where the lock stands.
    pub place: String,
}

/// What a file says.
#[derive(Clone, Debug, Default)]
pub(super) struct Said {
    pub(super) given: Vec<Given>,
    pub(super) extras: Vec<Extra>,
    pub(super) locks: Vec<Lock>,
}

impl Setting {
    /// By its name in a file.
    pub fn named(name: &str) -> Option<Setting> {
        let key = KEYS.iter().find(|row| row.name == name);
        let flag = || FLAGS.iter().find(|row| row.is_key(name));
        match key {
            Some(row) => Some(Setting::Key(row.key)),
            None => flag().map(|row| Setting::Flag(row.id)),
        }
    }

    /// Its name in a file.
    pub fn name(self) -> String {
        match self {
            Setting::Flag(id) => id.row().key(),
            Setting::Key(key) => key.row().name.to_string(),
        }
    }

    /// The files that may say it.
    pub fn files(self) -> Files {
        match self {
            Setting::Flag(id) => id.row().files,
            Setting::Key(key) => key.row().files,
        }
    }
}

/// The bytes of a file of ours; `None`: there is none. A link is followed: the user or the site has put it there. One that leads nowhere is
/// an error: what it should say may forbid something, or name the server.
pub(super) fn bytes(path: &Path) -> io::Result<Option<Vec<u8>>> {
    let is_link = || fs::symlink_metadata(path).is_ok_and(|meta| meta.is_symlink());
    let opened = file::open_regular(path).or_else(|error| match error.kind() {
        ErrorKind::InvalidInput if is_link() => match path.canonicalize() {
            Ok(target) => file::open_regular(&target),
            Err(error) => Err(io::Error::other(format!("the link leads nowhere: {error}"))),
        },
        _ => Err(error),
    });
    let file = match opened {
        Ok(file) => file,
        Err(error) => {
            return match error.kind() {
                ErrorKind::NotFound | ErrorKind::NotADirectory => Ok(None),
                _ => Err(error),
            };
        }
    };
    let mut bytes = Vec::new();
    file.take(MAX_BYTES + 1).read_to_end(&mut bytes)?;
    match bytes.len() as u64 > MAX_BYTES {
        true => Err(io::Error::other(format!("longer than {MAX_BYTES} bytes"))),
        false => Ok(Some(bytes)),
    }
}

/// What a file says; `name` is how messages call it.
pub(super) fn read(bytes: &[u8], layer: Layer, name: &str) -> Result<Said, UsageError> {
    let text = Text { bytes, layer, name };
    if let Err(error) = std::str::from_utf8(bytes) {
        let fault = "a byte that begins no character: the file is not UTF-8";
        return Err(text.fault(error.valid_up_to(), fault));
    }
    let mut tokens = Tokens::new(bytes);
    let begun = text.blanks(tokens.offset());
    if !tokens.object().map_err(|error| text.json(error))? {
        let fault = "expected one object, such as {\"model\": \"qwen3:8b\"}";
        return Err(text.fault(begun, fault));
    }
    let mut said = Said::default();
    let mut seen: Vec<(String, usize)> = Vec::new();
    while let Some(key) = tokens.member().map_err(|error| text.json(error))? {
        // The name is a piece of the text; its quote stands before it.
        let at = key.raw().as_ptr() as usize - bytes.as_ptr() as usize - 1;
        let key = key.decode().into_owned();
        let value_at = text.blanks(tokens.offset());
        let value = tokens.tree().map_err(|error| text.json(error))?;
        if let Some((_, first)) = seen.iter().find(|(known, _)| *known == key) {
            let (line, _) = json::line_column(bytes, *first);
            let fault = format!("`{key}` stands twice, first in line {line}");
            return Err(text.fault(at, fault));
        }
        text.member(&mut said, &key, at, value.root(), value_at)?;
        seen.push((key, at));
    }
    tokens.end().map_err(|error| text.json(error))?;
    settings::check(&said.given)?;
    Ok(said)
}

/// What is said of a key that there is not.
pub fn unknown(name: &str) -> UsageError {
    let flags = FLAGS.iter().filter(|row| row.files != Files::None);
    let mut names: Vec<String> = flags.map(Flag::key).collect();
    names.extend(KEYS.iter().map(|row| row.name.to_string()));
    let names = names.iter().map(String::as_str);
    let instead = "`zcoder help settings` lists all";
    UsageError::unknown("unknown key", name, names, instead)
}

/// The text of a file under the name that its user knows.
struct Text<'a> {
    bytes: &'a [u8],
    layer: Layer,
    name: &'a str,
}

impl Text<'_> {
    fn place(&self, offset: usize) -> String {
        let (line, column) = json::line_column(self.bytes, offset);
        format!("{}:{line}:{column}", self.name)
    }

    fn fault(&self, offset: usize, fault: impl Into<String>) -> UsageError {
        UsageError::Setting {
            place: self.place(offset),
            fault: fault.into(),
        }
    }

    fn json(&self, error: json::Error) -> UsageError {
        self.fault(error.offset, error.to_string())
    }

    /// Where the next token begins.
    fn blanks(&self, from: usize) -> usize {
        let is_blank = |byte: &&u8| b" \t\r\n".contains(byte);
        from + self.bytes[from..].iter().take_while(is_blank).count()
    }

    fn source(&self, key: &str, at: usize) -> Source {
        // Read once, and asked for until the program ends.
        Source::File(Box::leak(Box::new(Origin {
            layer: self.layer,
            name: self.place(at),
            key: key.to_string(),
        })))
    }

    /// One member; `at` is its name's place, `value_at` its value's.
    fn member(
        &self,
        said: &mut Said,
        name: &str,
        at: usize,
        value: Value<'_>,
        value_at: usize,
    ) -> Result<(), UsageError> {
        if name == "lock" {
            return self.lock(said, at, value, value_at);
        }
        let setting = self.known(name, at)?;
        if let Some(fault) = self.refused(setting, name) {
            return Err(self.fault(at, fault));
        }
        let source = self.source(name, value_at);
        match setting {
            Setting::Flag(id) => {
                for value in texts(id.row(), value) {
                    let value = value.map_err(|expected| {
                        let fault = format!("`{name}`: expected {expected}");
                        self.fault(value_at, fault)
                    })?;
                    said.given.push(Given { id, value, source });
                }
            }
            Setting::Key(key) => {
                let content = content(key.row(), value).map_err(|fault| {
                    let fault = format!("`{name}`: {fault}");
                    self.fault(value_at, fault)
                })?;
                said.extras.push(Extra {
                    key,
                    content,
                    source,
                });
            }
        }
        self.only_tighter(said, setting, name, value_at)
    }

    fn known(&self, name: &str, at: usize) -> Result<Setting, UsageError> {
        Setting::named(name).ok_or_else(|| self.fault(at, unknown(name).to_string()))
    }

    /// Why this file may not say it at all.
    fn refused(&self, setting: Setting, name: &str) -> Option<String> {
        match (setting.files(), self.layer) {
            (Files::None, _) => Some(format!(
                "`{name}` is no setting: it is said for one run, by --{}",
                name.replace('_', "-")
            )),
            (Files::User | Files::Machine, Layer::Project) => Some(format!(
                "a project may not set `{name}`; it belongs into a config.json of your own"
            )),
            (Files::User, Layer::Site) => {
                Some(format!("a site may not set `{name}`: it is each user's"))
            }
            (Files::Project, Layer::Site | Layer::User) => Some(format!(
                "`{name}` belongs into the .zcoder/config.json of a project"
            )),
            _ => None,
        }
    }

    /// Policy: what a project or a site says may be stricter than what holds without it, never looser.
    fn only_tighter(
        &self,
        said: &Said,
        setting: Setting,
        name: &str,
        value_at: usize,
    ) -> Result<(), UsageError> {
        let Files::Tighten(words) = setting.files() else {
            return Ok(());
        };
        let loose = match setting {
            Setting::Flag(_) => said
                .given
                .last()
                .map(|given| tightness(words, given.word())),
            Setting::Key(_) => said.extras.last().map(|extra| match extra.content {
                Content::Switch(false) => 1,
                Content::Switch(true) | Content::Words(_) | Content::Checks(_) => 0,
            }),
        } == Some(0);
        if !loose || self.layer == Layer::User {
            return Ok(());
        }
        let who = match self.layer {
            Layer::Project => "project",
            Layer::Site | Layer::User => "site",
        };
        let words: Vec<&str> = match words {
            ["off"] => vec!["false"],
            words => words.to_vec(),
        };
        let fault = format!(
            "a {who} may only tighten `{name}`: expected {}",
            list(&words)
        );
        Err(self.fault(value_at, fault))
    }

    fn lock(
        &self,
        said: &mut Said,
        at: usize,
        value: Value<'_>,
        value_at: usize,
    ) -> Result<(), UsageError> {
        if self.layer != Layer::Site {
            return Err(self.fault(at, "only the site's settings can lock"));
        }
        let expected = "`lock`: expected an array of keys, such as [\"host\"]";
        if value.kind() != Kind::Array {
            return Err(self.fault(value_at, expected));
        }
        for item in value.items() {
            let Some(name) = item.as_str() else {
                return Err(self.fault(value_at, expected));
            };
            let setting = self.known(name, value_at)?;
            if setting.files() == Files::None {
                let fault = format!("`lock`: `{name}` is no setting");
                return Err(self.fault(value_at, fault));
            }
            said.locks.push(Lock {
                setting,
                place: self.place(value_at),
            });
        }
        Ok(())
    }
}

/// The value as a flag would have it; several where the flag is repeatable. The error says what was expected.
fn texts(row: &Flag, value: Value<'_>) -> Vec<Result<OsString, String>> {
    match (row.id, value.kind()) {
        (Id::Header, Kind::Array) => value.items().map(|item| text(row, item)).collect(),
        _ => vec![text(row, value)],
    }
}

fn text(row: &Flag, value: Value<'_>) -> Result<OsString, String> {
    let string = value.as_str();
    let word = match row.takes {
        Takes::Nothing => match value.as_bool() {
            Some(true) => Some(""),
            Some(false) => Some(Given::OFF),
            None => return Err("true or false".to_string()),
        },
        Takes::OneOf(words) => {
            let switch = value.as_bool().map(|on| if on { "on" } else { "off" });
            match string.or(switch).filter(|word| words.contains(word)) {
                None => return Err(list(words)),
                word => word,
            }
        }
        Takes::Number(_) => value.as_number().map(|number| number.text).or(string),
        Takes::Value(_) | Takes::File(_) | Takes::Folder(_) => string,
    };
    let word = word.ok_or_else(|| match row.takes {
        Takes::Number(_) => "a number or a string".to_string(),
        _ => "a string".to_string(),
    })?;
    Ok(OsString::from(word))
}

/// The error completes "`command_wrapper`: ".
fn content(row: &KeyRow, value: Value<'_>) -> Result<Content, String> {
    let words = |fits: fn(&str) -> bool| -> Option<Vec<String>> {
        let word = |item: Value<'_>| item.as_str().filter(|word| fits(word)).map(str::to_string);
        let words = value.items().map(word).collect::<Option<Vec<String>>>();
        words.filter(|_| value.kind() == Kind::Array)
    };
    match row.shape {
        Shape::Words => words(|word| !word.is_empty())
            .map(Content::Words)
            .ok_or_else(|| "expected an array of strings, none of them empty".to_string()),
        Shape::Names => words(is_file_name)
            .filter(|names| names.len() <= MAX_NAMES)
            .map(Content::Words)
            .ok_or_else(|| {
                format!("expected an array of at most {MAX_NAMES} names of files, without folders")
            }),
        Shape::Texts => policy::checks_of(value).map(Content::Checks),
        Shape::Switch => match value.as_bool() {
            Some(on) => Ok(Content::Switch(on)),
            None => Err("expected true or false".to_string()),
        },
    }
}

fn is_file_name(name: &str) -> bool {
    !matches!(name, "" | "." | "..") && !name.contains(['/', '\0', '\n'])
}
