//! What was said: argv and the variables of the flags, sorted by the table in `flags.rs`, and nothing looked up or opened. What settings
//! files say is put below it by `layers.rs`.
//!
//! ```text
//! ZCODER_MODEL=a zcoder -m b --edits=ask -p 'fix it'
//!   command Run, words [], given [Model "a" (ZCODER_MODEL), Model "b" (--model), Edits "ask" (--edits), Prompt "fix it" (--prompt)]
//! zcoder decode json - --quiet      command Decode, words ["json", "-"], given [Quiet "" (--quiet)]
//! zcoder exec 'fix it'              a neighbor's habit: as -p 'fix it', with a note that says so
//! zcoder --read-only                given [ReadOnly "", Commands "deny", Edits "deny"], all three by --read-only
//! ```
//!
//! Refused: unknown flags and commands (with the nearest name), a value where none belongs, none where one does, a flag that
//! the command does not understand, habits whose counterpart does not exist yet. `--flag value`, `--flag=value`, `-fvalue`,
//! `-f value` and `--` (what follows is no flag) are understood; flags may stand before and after the command.
//!
//! Invariant: in `given` the weaker comes first (site, user, project, variables, flags), so that the last entry of an id counts.
//! Invariant: `--help` and `--version` end the reading where they stand: what follows cannot make them fail.
//!
//! Read next: `settings.rs`, which gives the values their meaning.

use super::env::Env;
use super::error::{Source, UsageError};
use super::file::Lock;
use super::flags::{COMMANDS, Command, FLAGS, Flag, Id, Shape, Takes};
use crate::json::Tree;
use crate::policy::{self, Check};
use std::ffi::{OsStr, OsString};
use std::os::unix::ffi::{OsStrExt, OsStringExt};

/// One flag, variable or setting with its value. For flags that take none: empty for on, [`Given::OFF`] for off.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Given {
    /// Which flag.
    pub id: Id,
    /// As it came.
    pub value: OsString,
    /// Who said so.
    pub source: Source,
}

impl Given {
    /// A flag that takes nothing, switched off by a variable or a file.
    pub const OFF: &'static str = "off";

    /// Whether it says no more than that something is off.
    pub fn is_off(&self) -> bool {
        self.id.row().takes == Takes::Nothing && self.value == Given::OFF
    }
    /// One of the words of its row; those were checked to be text.
    pub fn word(&self) -> &str {
        self.value.to_str().unwrap_or_default()
    }
    /// For people: `on` for a flag without a value, and nothing that may be a secret.
    pub fn shown(&self) -> String {
        let value = self.value.to_string_lossy();
        match self.id {
            Id::Header => match value.split_once(':') {
                Some((name, _)) => format!("{name}: …"),
                None => "…".to_string(),
            },
            Id::Host => without_secret(&value),
            id => match id.row().takes {
                Takes::Nothing if value.is_empty() => "on".to_string(),
                Takes::Json(Shape::Words | Shape::Names) => self.words().join(" "),
                Takes::Json(Shape::Texts) => {
                    let checks = self.checks();
                    let names: Vec<&str> = checks.iter().map(|check| &*check.name).collect();
                    names.join(", ")
                }
                _ => value.into_owned(),
            },
        }
    }
    /// Of an array in a settings file; it was checked.
    pub fn words(&self) -> Vec<String> {
        let tree = Tree::parse(self.value.as_bytes()).ok();
        let items = tree.iter().flat_map(|tree| tree.root().items());
        items
            .filter_map(|item| Some(item.as_str()?.to_string()))
            .collect()
    }
    /// Of an object with checks; it was checked.
    pub fn checks(&self) -> Vec<Check> {
        let tree = Tree::parse(self.value.as_bytes()).ok();
        let checks = tree.map(|tree| policy::checks_of(tree.root()));
        checks.and_then(Result::ok).unwrap_or_default()
    }
    /// As text.
    pub fn text(&self) -> Result<&str, UsageError> {
        utf8(&self.value, self.source.name())
    }
    /// An error that names flag, value and what is allowed.
    pub fn bad(&self, expected: impl Into<String>) -> UsageError {
        UsageError::BadValue {
            source: self.source,
            value: match self.source {
                Source::File(_) => self.shown(),
                // It stands in plain sight already.
                Source::Flag(_) | Source::Variable(_) => self.value.to_string_lossy().into_owned(),
            },
            expected: expected.into(),
        }
    }
}

/// A whole command line.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Typed {
    /// What to do.
    pub command: Command,
    /// What follows the command and is no flag.
    pub words: Vec<OsString>,
    /// Settings of files, then variables, then flags, in order.
    pub given: Vec<Given>,
    /// What the site keeps for itself.
    pub locks: Vec<Lock>,
    /// What was accepted under another name, to be said.
    pub notes: Vec<String>,
    /// Nothing at all was typed.
    pub bare: bool,
}

impl Typed {
    /// Sorts a command line.
    pub fn read(arguments: &[OsString], env: Env<'_>) -> Result<Typed, UsageError> {
        let mut reader = Reader {
            rest: arguments.iter(),
            command: None,
            words: Vec::new(),
            flags: Vec::new(),
            notes: Vec::new(),
        };
        let ended = reader.read()?;
        let command = reader.command.unwrap_or(Command::Run);
        if let Some(instead) = ended {
            // `zcoder models --help` is `zcoder help models`; a bare `--help` has no words.
            reader.words = match (instead, command) {
                (Command::Version, _) | (_, Command::Run | Command::Help) => Vec::new(),
                (_, command) => vec![OsString::from(command.row().name)],
            };
            return Ok(reader.finish(instead, Vec::new(), arguments));
        }
        let foreign = reader.flags.iter().find(|g| !g.id.row().is_for(command));
        if let Some(given) = foreign {
            let row = given.id.row();
            return Err(UsageError::WrongCommand {
                flag: row.long,
                command,
                belongs: row.commands,
            });
        }
        let given = variables(command, env)?;
        Ok(reader.finish(command, given, arguments))
    }

    /// The value that counts; none for a flag without a value that is off.
    pub fn get(&self, id: Id) -> Option<&Given> {
        let last = self.given.iter().rev().find(|given| given.id == id);
        last.filter(|given| !given.is_off())
    }

    /// As [`Typed::get`], where several flags have a say (`--yes`, `--edits`): of two of the same weight under different names that mean
    /// different things none wins silently.
    pub fn settled(&self, id: Id) -> Result<Option<&Given>, UsageError> {
        let mut best: Option<&Given> = None;
        for given in self.given.iter().filter(|given| given.id == id) {
            if let Some(other) = best {
                let equals = other.source.rank() == given.source.rank()
                    && other.source.name() != given.source.name();
                if equals && other.value != given.value {
                    return Err(UsageError::Conflict {
                        one: other.source,
                        other: given.source,
                    });
                }
            }
            best = Some(given);
        }
        Ok(best)
    }

    /// The words of a setting that is a list.
    pub fn words_of(&self, id: Id) -> Vec<String> {
        self.get(id).map(Given::words).unwrap_or_default()
    }

    /// The word of a flag that takes one of several; which ones was checked against the table.
    pub fn word(&self, id: Id) -> Result<Option<&str>, UsageError> {
        self.get(id).map(Given::text).transpose()
    }

    /// All values, for flags that may be repeated.
    pub fn all(&self, id: Id) -> impl Iterator<Item = &Given> {
        self.given.iter().filter(move |given| given.id == id)
    }

    /// Whether a flag that takes nothing is on.
    pub fn is_on(&self, id: Id) -> bool {
        self.get(id).is_some()
    }
}

/// Text, or where it stops being text.
pub fn utf8<'a>(value: &'a OsStr, what: &str) -> Result<&'a str, UsageError> {
    std::str::from_utf8(value.as_bytes()).map_err(|error| UsageError::NotUtf8 {
        what: what.to_string(),
        offset: error.valid_up_to(),
    })
}

/// The variables of the flags that `command` understands.
fn variables(command: Command, env: Env<'_>) -> Result<Vec<Given>, UsageError> {
    let mut out = Vec::new();
    for row in FLAGS.iter().filter(|row| row.is_for(command)) {
        let mut set = row.env.iter().filter_map(|&name| Some((name, env(name)?)));
        let Some((name, value)) = set.find(|(_, value)| !value.is_empty()) else {
            continue;
        };
        let mut given = Given {
            id: row.id,
            value,
            source: Source::Variable(name),
        };
        match row.takes {
            Takes::Value(_)
            | Takes::Number(_)
            | Takes::File(_)
            | Takes::Folder(_)
            | Takes::Json(_) => {}
            Takes::OneOf(words) => {
                // What is on or off may be said in the words of a flag without a value.
                let word = match (words.contains(&"on"), switch(given.text()?)) {
                    (true, Some(true)) => Some("on"),
                    (true, Some(false)) => Some("off"),
                    (_, _) => None,
                };
                if let Some(word) = word {
                    given.value = OsString::from(word);
                }
                one_of(&given, words)?;
            }
            Takes::Nothing => {
                given.value = match switch(given.text()?) {
                    Some(true) => OsString::new(),
                    Some(false) => OsString::from(Given::OFF),
                    None => return Err(given.bad("1, true, yes, on, 0, false, no or off")),
                };
            }
        }
        out.push(given);
    }
    Ok(out)
}

/// On or off, as variables say it.
fn switch(word: &str) -> Option<bool> {
    match word {
        "1" | "true" | "yes" | "on" => Some(true),
        "0" | "false" | "no" | "off" => Some(false),
        _ => None,
    }
}

fn one_of(given: &Given, words: &[&str]) -> Result<(), UsageError> {
    let text = given.text()?;
    if words.contains(&text) {
        return Ok(());
    }
    Err(given.bad(list(words)))
}

/// An address without `user:password@`, which no text must repeat.
pub(super) fn without_secret(address: &str) -> String {
    let Some((before, host)) = address.rsplit_once('@') else {
        return address.to_string();
    };
    match before.split_once("://") {
        Some((scheme, _)) => format!("{scheme}://…@{host}"),
        None => format!("…@{host}"),
    }
}

/// `auto, ask or deny`
pub(super) fn list(words: &[&str]) -> String {
    match words.split_last() {
        Some((last, first)) if !first.is_empty() => format!("{} or {last}", first.join(", ")),
        _ => words.concat(),
    }
}

/// How tight a word is, of those that tighten: 0 for one that is none of them.
pub(super) fn tightness(words: &[&str], word: &str) -> usize {
    let place = words.iter().position(|known| *known == word);
    place.map_or(0, |place| place + 1)
}

/// What a flag says of others, in their words.
fn stands_for(id: Id) -> &'static [(Id, &'static str)] {
    match id {
        Id::Yes => &[(Id::Commands, "allow"), (Id::Edits, "allow")],
        Id::ReadOnly => &[(Id::Commands, "deny"), (Id::Edits, "deny")],
        Id::DenyCommands => &[(Id::Commands, "deny")],
        Id::NoThink => &[(Id::Think, "off")],
        _ => &[],
    }
}

/// The command that a flag stands for, which ends the reading.
type Ended = Option<Command>;

struct Reader<'a> {
    rest: std::slice::Iter<'a, OsString>,
    command: Option<Command>,
    words: Vec<OsString>,
    flags: Vec<Given>,
    notes: Vec<String>,
}

impl Reader<'_> {
    fn finish(self, command: Command, variables: Vec<Given>, arguments: &[OsString]) -> Typed {
        let mut given = Vec::new();
        for said in variables.into_iter().chain(self.flags) {
            let (id, source) = (said.id, said.source);
            let others = match said.is_off() {
                true => &[],
                false => stands_for(id),
            };
            given.push(said);
            for &(id, word) in others {
                let value = OsString::from(word);
                given.push(Given { id, value, source });
            }
        }
        Typed {
            command,
            words: self.words,
            given,
            locks: Vec::new(),
            notes: self.notes,
            bare: arguments.is_empty(),
        }
    }

    fn read(&mut self) -> Result<Ended, UsageError> {
        while let Some(argument) = self.rest.next() {
            let bytes = argument.as_bytes();
            if self.command == Some(Command::Help) {
                // `zcoder help -m` asks about the flag.
                self.words.push(argument.clone());
                continue;
            }
            if bytes == b"--" {
                let rest: Vec<OsString> = self.rest.by_ref().cloned().collect();
                for word in rest {
                    self.word(word)?;
                }
                return Ok(None);
            }
            let ended = if bytes.starts_with(b"--") {
                self.long(bytes)?
            } else if bytes.starts_with(b"-") && bytes.len() > 1 {
                self.short(bytes)?
            } else {
                self.word(argument.clone())?;
                None
            };
            if ended.is_some() {
                return Ok(ended);
            }
        }
        Ok(None)
    }

    /// `--flag` or `--flag=value`.
    fn long(&mut self, bytes: &[u8]) -> Result<Ended, UsageError> {
        let cut = bytes.iter().position(|&b| b == b'=');
        let (name, value) = match cut {
            Some(cut) => (&bytes[..cut], Some(&bytes[cut + 1..])),
            None => (bytes, None),
        };
        let Some(row) = by_long(name) else {
            return Err(unknown(&String::from_utf8_lossy(name)));
        };
        if name != row.long.as_bytes() {
            let name = String::from_utf8_lossy(name);
            self.notes
                .push(format!("`{name}` was taken as `{}`", row.long));
        }
        self.take(row, value.map(|value| OsString::from_vec(value.to_vec())))
    }

    /// `-m NAME`, `-mNAME`, `-qm NAME`.
    fn short(&mut self, bytes: &[u8]) -> Result<Ended, UsageError> {
        let text = String::from_utf8_lossy(bytes);
        for (at, letter) in text.char_indices().skip(1) {
            let Some(row) = FLAGS.iter().find(|row| row.short == Some(letter)) else {
                return Err(unknown(&format!("-{letter}")));
            };
            // Every letter so far was ASCII, so the offset in the repaired text is the offset in the bytes.
            let rest = &bytes[at + letter.len_utf8()..];
            if row.takes != Takes::Nothing {
                let value = (!rest.is_empty()).then(|| OsString::from_vec(rest.to_vec()));
                return self.take(row, value);
            }
            let ended = self.take(row, None)?;
            if ended.is_some() {
                return Ok(ended);
            }
        }
        Ok(None)
    }

    fn take(&mut self, row: &'static Flag, value: Option<OsString>) -> Result<Ended, UsageError> {
        let source = Source::Flag(row.long);
        let value = match (row.takes.name(), value) {
            (None, None) => OsString::new(),
            (None, Some(value)) => {
                return Err(UsageError::UnwantedValue {
                    flag: row.long,
                    value: value.to_string_lossy().into_owned(),
                });
            }
            (Some(_), Some(value)) => value,
            (Some(name), None) => self.next_value(row, &name)?,
        };
        match row.id {
            Id::Help => return Ok(Some(Command::Help)),
            Id::Version => return Ok(Some(Command::Version)),
            id => self.flags.push(Given { id, value, source }),
        }
        if let (Takes::OneOf(words), Some(given)) = (row.takes, self.flags.last()) {
            one_of(given, words)?;
        }
        Ok(None)
    }

    /// The next argument, unless it is one of our flags: `--model --yes` forgot the model. `--flag=--yes` gets around it.
    fn next_value(&mut self, row: &Flag, name: &str) -> Result<OsString, UsageError> {
        match self.rest.as_slice().first() {
            Some(next) if by_long(next.as_bytes()).is_none() => {
                self.rest.next();
                Ok(next.clone())
            }
            _ => Err(UsageError::MissingValue {
                flag: row.long,
                value: name.to_string(),
            }),
        }
    }

    /// The command, or a word after it.
    fn word(&mut self, word: OsString) -> Result<(), UsageError> {
        if self.command.is_some() {
            self.words.push(word);
            return Ok(());
        }
        let text = word.to_string_lossy();
        if let Some(row) = COMMANDS
            .iter()
            .find(|row| row.name == text && !text.is_empty())
        {
            self.command = Some(row.command);
            return Ok(());
        }
        if text == "exec" || text == "run" {
            let Some(task) = self.rest.next() else {
                return Err(UsageError::MissingValue {
                    flag: "--prompt",
                    value: "TEXT".to_string(),
                });
            };
            self.notes
                .push(format!("`{text} TEXT` was taken as `-p TEXT`"));
            self.flags.push(Given {
                id: Id::Prompt,
                value: task.clone(),
                source: Source::Flag("--prompt"),
            });
            return Ok(());
        }
        if let Some(today) = later(&text) {
            let given = text.into_owned();
            return Err(UsageError::Later { given, today });
        }
        Err(no_command(&text))
    }
}

/// A word that is no command: a typo of one, or a task.
fn no_command(given: &str) -> UsageError {
    let names = COMMANDS.iter().map(|row| row.name);
    let instead = "a task is given with -p, and `zcoder --help` lists the commands";
    match UsageError::unknown("unknown command", given, names, instead) {
        UsageError::Unknown {
            given, near: None, ..
        } if given.contains(char::is_whitespace) => UsageError::BareTask { given },
        error => error,
    }
}

fn by_long(name: &[u8]) -> Option<&'static Flag> {
    FLAGS.iter().find(|row| {
        row.long.as_bytes() == name || row.also.iter().any(|also| also.as_bytes() == name)
    })
}

fn unknown(given: &str) -> UsageError {
    if let Some(today) = later(given) {
        let given = given.to_string();
        return UsageError::Later { given, today };
    }
    let names = FLAGS.iter().map(|row| row.long);
    UsageError::unknown("unknown flag", given, names, "`zcoder --help` lists all")
}

/// Habits from neighbors and from zcoder.zsh whose counterpart is not built yet.
fn later(given: &str) -> Option<&'static str> {
    match given {
        "--settings" => {
            Some("settings are read from files of fixed names (`zcoder help settings`)")
        }
        "resume" => Some("a session goes on with --continue, or with --resume and its id"),
        "mcp" => Some("MCP servers are not supported yet"),
        "--acp" | "acp" | "--server" | "--connect" => {
            Some("other programs cannot drive zcoder yet, except through -p with --output jsonl")
        }
        "--no-warmup" | "--tool-exposure" => {
            Some("this setting of zcoder.zsh has no counterpart yet")
        }
        "login" | "auth" => Some("there is no account; name a model server with --host"),
        _ => None,
    }
}
