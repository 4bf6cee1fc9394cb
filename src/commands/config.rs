//! `zcoder config [KEY]`: what counts in this folder, and who said so.
//!
//! ```text
//! $ zcoder config
//! model               qwen3:8b                  ~/.config/zcoder/config.json:2:12
//! host                127.0.0.1:11434           built-in, locked by /etc/zcoder/config.json:1:10
//! commands            allow                     --yes
//! …
//! $ zcoder config commands
//! commands            allow                     --yes
//! commands            ask                       ~/.config/zcoder/config.json:3:15
//! commands            ask                       built-in
//! ```
//!
//! Invariant: one line a value, in the order of the tables, so that two outputs can be compared. Invariant: no value of a header.
//!
//! Read next: `config/layers.rs`.

use super::scope::Scope;
use super::{at_most_one, print};
use crate::config::file::{self, Content, Extra, Setting};
use crate::config::flags::{FLAGS, Files, Flag};
use crate::config::keys::{KEYS, KeyRow};
use crate::config::{Command, Given, Id, Typed, UsageError, utf8};
use crate::policy::EditMode;
use crate::text;

/// Prints; the exit code.
pub(super) fn run(typed: &Typed) -> Result<u8, UsageError> {
    let only = match at_most_one(typed)? {
        Some(word) => Some(setting(utf8(word, "the key")?)?),
        None => None,
    };
    let mut scope = Scope::find(typed)?;
    scope.say_unused(false);
    scope.add_project()?;
    let edits = scope.permissions()?.edits;
    let mut report = Report {
        typed: &scope.typed,
        lines: String::new(),
        // A broad workspace is careful of its own accord.
        careful: scope.broad && edits == EditMode::Ask,
    };
    match only {
        Some(setting) => report.one(setting),
        None => report.all()?,
    }
    Ok(print(&report.lines))
}

/// By its key or its flag.
fn setting(name: &str) -> Result<Setting, UsageError> {
    let key = name.trim_start_matches('-').replace('-', "_");
    Setting::named(&key).ok_or_else(|| file::unknown(&key))
}

struct Report<'a> {
    typed: &'a Typed,
    lines: String,
    careful: bool,
}

impl Report<'_> {
    fn all(&mut self) -> Result<(), UsageError> {
        for row in FLAGS.iter().filter(|row| row.is_for(Command::Config)) {
            // Headers add up; of all others one counts, whatever other flags say of it.
            let settled = self.typed.settled(row.id)?;
            match (row.id, settled) {
                (Id::Header, Some(_)) => self.said(row),
                (Id::Edits, Some(given)) if self.careful && given.word() == "auto" => {
                    self.built_in(row);
                }
                (_, Some(given)) => self.given(row, given),
                (_, None) => self.built_in(row),
            }
        }
        for row in KEYS {
            match self.typed.extra(row.key) {
                Some(extra) => self.extra(row, extra),
                None => self.line(row.name, row.default, "built-in", Setting::Key(row.key)),
            }
        }
        Ok(())
    }

    fn one(&mut self, setting: Setting) {
        match setting {
            Setting::Flag(id) => {
                self.said(id.row());
                self.built_in(id.row());
            }
            Setting::Key(key) => {
                let row = key.row();
                let said = self.typed.extras.iter().filter(|extra| extra.key == key);
                for extra in said.rev() {
                    self.extra(row, extra);
                }
                self.line(row.name, row.default, "built-in", setting);
            }
        }
    }

    /// All that was said of one flag, the strongest first.
    fn said(&mut self, row: &Flag) {
        let said = self.typed.given.iter().filter(|given| given.id == row.id);
        for given in said.rev() {
            self.given(row, given);
        }
    }

    fn given(&mut self, row: &Flag, given: &Given) {
        let (value, source) = (given.shown(), given.source.name());
        self.line(&name(row), &value, source, Setting::Flag(row.id));
    }

    fn built_in(&mut self, row: &Flag) {
        let (value, source) = match row.id {
            Id::Edits if self.careful => ("ask", "built-in, for / and home folders"),
            Id::Workspace => (".", "built-in"),
            _ if row.takes.name().is_none() => ("off", "built-in"),
            _ => (row.default, "built-in"),
        };
        self.line(&name(row), value, source, Setting::Flag(row.id));
    }

    fn extra(&mut self, row: &KeyRow, extra: &Extra) {
        let (source, setting) = (extra.source.name(), Setting::Key(row.key));
        match &extra.content {
            Content::Checks(checks) => {
                for check in checks {
                    let value = format!("{}: {}", check.name, check.text);
                    self.line(row.name, &value, source, setting);
                }
            }
            content => self.line(row.name, &content.to_string(), source, setting),
        }
    }

    fn line(&mut self, name: &str, value: &str, source: &str, setting: Setting) {
        let value = match value {
            "" => "-".to_string(),
            value => text::one_line(value),
        };
        let mut lock = self.typed.locks.iter();
        let lock = lock.find(|lock| lock.setting == setting);
        let lock = lock.map(|lock| format!(", locked by {}", lock.place));
        let lock = lock.unwrap_or_default();
        self.lines
            .push_str(&format!("{name:18}  {value:24}  {source}{lock}\n"));
    }
}

/// As a file calls it; what no file may say is called by its flag.
fn name(row: &Flag) -> String {
    match row.files {
        Files::None => row.long.to_string(),
        _ => row.key(),
    }
}
