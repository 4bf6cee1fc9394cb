//! What was typed: argv and the variables of the flags, sorted by the table in `flags.rs`, and nothing looked up or opened.
//!
//! ```text
//! ZCODER_MODEL=a zcoder -m b --edits=ask -p 'fix it'
//!   command Run, words [], given [Model "a" (ZCODER_MODEL), Model "b" (--model), Edits "ask" (--edits), Prompt "fix it" (--prompt)]
//! zcoder decode json - --quiet      command Decode, words ["json", "-"], given [Quiet "" (--quiet)]
//! zcoder exec 'fix it'              a neighbor's habit: as -p 'fix it', with a note that says so
//! ```
//!
//! Refused: unknown flags and commands (with the nearest name), a value where none belongs, none where one does, a flag that
//! the command does not understand, habits whose counterpart does not exist yet. `--flag value`, `--flag=value`, `-fvalue`,
//! `-f value` and `--` (what follows is no flag) are understood; flags may stand before and after the command.
//!
//! Invariant: variables come before flags in `given`, so that the last entry of an id is the one that counts.
//! Invariant: `--help` and `--version` end the reading where they stand: what follows cannot make them fail.
//!
//! Read next: `settings.rs`, which gives the values their meaning.

use super::env::Env;
use super::error::{Source, UsageError};
use super::flags::{COMMANDS, Command, FLAGS, Flag, Id, Takes};
use super::near::nearest;
use std::ffi::{OsStr, OsString};
use std::os::unix::ffi::{OsStrExt, OsStringExt};

/// One flag or variable with its value (empty for flags that take none).
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
    /// As text.
    pub fn text(&self) -> Result<&str, UsageError> {
        utf8(&self.value, self.source.name())
    }
    /// An error that names flag, value and what is allowed.
    pub fn bad(&self, expected: impl Into<String>) -> UsageError {
        UsageError::BadValue {
            source: self.source,
            value: self.value.to_string_lossy().into_owned(),
            expected: expected.into(),
        }
    }
}

/// A whole command line.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Typed {
    /// What to do.
    pub command: Command,
    /// What follows the command and is no flag.
    pub words: Vec<OsString>,
    /// Variables, then flags, in order.
    pub given: Vec<Given>,
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
        if ended == Ended::ByVersion {
            return Ok(reader.finish(Command::Version, Vec::new(), arguments));
        }
        if ended == Ended::ByHelp {
            // `zcoder models --help` is `zcoder help models`; a bare `--help` has no words.
            let topic = command.row().name;
            reader.words = match command {
                Command::Run | Command::Help => Vec::new(),
                _ => vec![OsString::from(topic)],
            };
            return Ok(reader.finish(Command::Help, Vec::new(), arguments));
        }
        let foreign = reader
            .flags
            .iter()
            .find(|g| !g.id.row().commands.contains(&command));
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

    /// The value that counts.
    pub fn get(&self, id: Id) -> Option<&Given> {
        self.given.iter().rev().find(|given| given.id == id)
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
    for row in FLAGS.iter().filter(|row| row.commands.contains(&command)) {
        let mut set = row.env.iter().filter_map(|&name| Some((name, env(name)?)));
        let Some((name, value)) = set.find(|(_, value)| !value.is_empty()) else {
            continue;
        };
        let given = Given {
            id: row.id,
            value,
            source: Source::Variable(name),
        };
        match row.takes {
            Takes::Value(_) => out.push(given),
            Takes::OneOf(words) => {
                one_of(&given, words)?;
                out.push(given);
            }
            Takes::Nothing => match given.text()? {
                "1" | "true" | "yes" | "on" => out.push(given),
                "0" | "false" | "no" | "off" => {}
                _ => return Err(given.bad("1, true, yes, on, 0, false, no or off")),
            },
        }
    }
    Ok(out)
}

fn one_of(given: &Given, words: &[&str]) -> Result<(), UsageError> {
    let text = given.text()?;
    if words.contains(&text) {
        return Ok(());
    }
    let (last, first) = words.split_last().unwrap_or((&"", &[]));
    Err(given.bad(format!("{} or {last}", first.join(", "))))
}

#[derive(PartialEq, Eq)]
enum Ended {
    AtEnd,
    ByHelp,
    ByVersion,
}

struct Reader<'a> {
    rest: std::slice::Iter<'a, OsString>,
    command: Option<Command>,
    words: Vec<OsString>,
    flags: Vec<Given>,
    notes: Vec<String>,
}

impl Reader<'_> {
    fn finish(self, command: Command, mut given: Vec<Given>, arguments: &[OsString]) -> Typed {
        given.extend(self.flags);
        Typed {
            command,
            words: self.words,
            given,
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
                return Ok(Ended::AtEnd);
            }
            let ended = if bytes.starts_with(b"--") {
                self.long(bytes)?
            } else if bytes.starts_with(b"-") && bytes.len() > 1 {
                self.short(bytes)?
            } else {
                self.word(argument.clone())?;
                Ended::AtEnd
            };
            if ended != Ended::AtEnd {
                return Ok(ended);
            }
        }
        Ok(Ended::AtEnd)
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
            if ended != Ended::AtEnd {
                return Ok(ended);
            }
        }
        Ok(Ended::AtEnd)
    }

    fn take(&mut self, row: &'static Flag, value: Option<OsString>) -> Result<Ended, UsageError> {
        let source = Source::Flag(row.long);
        let value = match (row.takes, value) {
            (Takes::Nothing, None) => OsString::new(),
            (Takes::Nothing, Some(value)) => {
                return Err(UsageError::UnwantedValue {
                    flag: row.long,
                    value: value.to_string_lossy().into_owned(),
                });
            }
            (Takes::Value(_) | Takes::OneOf(_), Some(value)) => value,
            (Takes::Value(name), None) => self.next_value(row, name)?,
            (Takes::OneOf(words), None) => self.next_value(row, &words.join("|"))?,
        };
        match row.id {
            Id::Help => return Ok(Ended::ByHelp),
            Id::Version => return Ok(Ended::ByVersion),
            id => self.flags.push(Given { id, value, source }),
        }
        if let (Takes::OneOf(words), Some(given)) = (row.takes, self.flags.last()) {
            one_of(given, words)?;
        }
        Ok(Ended::AtEnd)
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
        Err(no_command(text.into_owned()))
    }
}

/// A word that is no command: a typo of one, or a task.
fn no_command(given: String) -> UsageError {
    let near = nearest(&given, COMMANDS.iter().map(|row| row.name));
    if near.is_none() && given.contains(char::is_whitespace) {
        return UsageError::BareTask { given };
    }
    UsageError::UnknownCommand { given, near }
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
    let near = nearest(given, FLAGS.iter().map(|row| row.long));
    let given = given.to_string();
    UsageError::UnknownFlag { given, near }
}

/// Habits from neighbors and from zcoder.zsh whose counterpart is not built yet.
fn later(given: &str) -> Option<&'static str> {
    match given {
        "-c" | "--continue" | "-r" | "--resume" | "resume" | "sessions" => {
            Some("sessions are not kept yet; each `zcoder -p` starts afresh")
        }
        "config" | "--config" | "--settings" => Some(
            "settings files are not read yet; use flags or variables (`zcoder help environment`)",
        ),
        "mcp" => Some("MCP servers are not supported yet"),
        "--acp" | "acp" | "--server" | "--connect" => {
            Some("other programs cannot drive zcoder yet, except through -p with --output jsonl")
        }
        "--compact-at" | "--no-warmup" | "--tool-exposure" => {
            Some("this setting of zcoder.zsh has no counterpart yet")
        }
        "login" | "auth" => Some("there is no account; name a model server with --host"),
        _ => None,
    }
}
