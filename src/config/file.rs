//! One settings file: strict JSON, one object whose members are settings. In: its bytes, and whose it is. Out: what it says, checked and
//! with the place of each value; or the first thing that is wrong, with file, line and column. `layers.rs` calls it.
//!
//! ```text
//! ~/.config/zcoder/config.json
//!   {"model": "qwen3:8b",                   Given { Model, "qwen3:8b", …:1:11 }
//!    "context_window": "32k",               a flag --a-b is the key a_b; numbers may be numbers
//!    "quiet": true,                         flags without a value are true or false
//!    "header": ["Authorization: Bearer x"], repeatable flags may be an array
//!    "command_wrapper": ["bwrap", "--"]}    settings that are no flags
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
use super::flags::{self, Files, Flag, Id, Shape, Takes};
use super::settings;
use super::typed::{Given, list, tightness};
use crate::json::{self, Kind, Tokens, Value};
use crate::policy;
use crate::sys::file;
use std::ffi::OsString;
use std::fs;
use std::io::{self, ErrorKind, Read};
use std::os::unix::ffi::OsStringExt;
use std::path::Path;

/// Thousands of times what anybody writes.
const MAX_BYTES: u64 = 256 << 10;

/// More names of guidance than anybody uses.
const MAX_NAMES: usize = 8;

/// A setting that only the site may set.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Lock {
    /// Which.
    pub id: Id,
    /// Where the lock stands.
    pub place: String,
}

/// What a file says.
#[derive(Clone, Debug, Default)]
pub(super) struct Said {
    pub(super) given: Vec<Given>,
    pub(super) locks: Vec<Lock>,
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
    let rows = flags::settings().filter(|row| row.files != Files::None);
    let names: Vec<String> = rows.map(Flag::key).collect();
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
        let row = self.known(name, at)?;
        if let Some(fault) = self.refused(row, name) {
            return Err(self.fault(at, fault));
        }
        let source = self.source(name, value_at);
        for value in texts(row, value) {
            let value =
                value.map_err(|fault| self.fault(value_at, format!("`{name}`: {fault}")))?;
            let id = row.id;
            said.given.push(Given { id, value, source });
        }
        self.only_tighter(said, row, name, value_at)
    }

    fn known(&self, name: &str, at: usize) -> Result<&'static Flag, UsageError> {
        let id = Id::named(name);
        let id = id.ok_or_else(|| self.fault(at, unknown(name).to_string()))?;
        Ok(id.row())
    }

    /// Why this file may not say it at all.
    fn refused(&self, row: &Flag, name: &str) -> Option<String> {
        match (row.files, self.layer) {
            (Files::None, _) => Some(format!(
                "`{name}` is no setting: it is said for one run, by {}",
                row.long
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
        row: &Flag,
        name: &str,
        value_at: usize,
    ) -> Result<(), UsageError> {
        let Files::Tighten(words) = row.files else {
            return Ok(());
        };
        let last = said.given.last();
        let loose = last.is_some_and(|given| tightness(words, given.word()) == 0);
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
            let row = self.known(name, value_at)?;
            if row.files == Files::None {
                let fault = format!("`lock`: `{name}` is no setting");
                return Err(self.fault(value_at, fault));
            }
            said.locks.push(Lock {
                id: row.id,
                place: self.place(value_at),
            });
        }
        Ok(())
    }
}

/// The value as a flag would have it; several where the flag is repeatable. The error says what is wrong with it.
fn texts(row: &Flag, value: Value<'_>) -> Vec<Result<OsString, String>> {
    match (row.id, value.kind()) {
        (Id::Header, Kind::Array) => value.items().map(|item| text(row, item)).collect(),
        _ => vec![text(row, value)],
    }
}

fn text(row: &Flag, value: Value<'_>) -> Result<OsString, String> {
    let string = value.as_str();
    let expected = |what: &str| format!("expected {what}");
    let word = match row.takes {
        Takes::Nothing => match value.as_bool() {
            Some(true) => Some(""),
            Some(false) => Some(Given::OFF),
            None => return Err(expected("true or false")),
        },
        Takes::OneOf(words) => {
            let switch = value.as_bool().map(|on| if on { "on" } else { "off" });
            match string.or(switch).filter(|word| words.contains(word)) {
                None => return Err(expected(&list(words))),
                word => word,
            }
        }
        Takes::Number(_) => value.as_number().map(|number| number.text).or(string),
        Takes::Value(_) | Takes::File(_) | Takes::Folder(_) => string,
        Takes::Json(shape) => {
            has_shape(shape, value)?;
            let mut json = Vec::new();
            value.write(&mut json);
            return Ok(OsString::from_vec(json));
        }
    };
    let word = word.ok_or_else(|| match row.takes {
        Takes::Number(_) => expected("a number or a string"),
        _ => expected("a string"),
    })?;
    Ok(OsString::from(word))
}

fn has_shape(shape: Shape, value: Value<'_>) -> Result<(), String> {
    let array = value.kind() == Kind::Array;
    let all = |fits: fn(&str) -> bool| value.items().all(|item| item.as_str().is_some_and(fits));
    match shape {
        Shape::Words if array && all(|word| !word.is_empty()) => Ok(()),
        Shape::Words => Err("expected an array of strings, none of them empty".to_string()),
        Shape::Names if array && value.items().count() <= MAX_NAMES && all(is_file_name) => Ok(()),
        Shape::Names => Err(format!(
            "expected an array of at most {MAX_NAMES} names of files, without folders"
        )),
        Shape::Texts => policy::checks_of(value).map(drop),
    }
}

fn is_file_name(name: &str) -> bool {
    !matches!(name, "" | "." | "..") && !name.contains(['/', '\0', '\n'])
}
