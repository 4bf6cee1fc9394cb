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
use crate::config::file;
use crate::config::flags::{self, Files, Flag, Shape, Takes};
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
fn setting(name: &str) -> Result<Id, UsageError> {
    let key = name.trim_start_matches('-').replace('-', "_");
    Id::named(&key).ok_or_else(|| file::unknown(&key))
}

struct Report<'a> {
    typed: &'a Typed,
    lines: String,
    careful: bool,
}

impl Report<'_> {
    fn all(&mut self) -> Result<(), UsageError> {
        for row in flags::settings().filter(|row| row.is_for(Command::Config)) {
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
        Ok(())
    }

    fn one(&mut self, id: Id) {
        self.said(id.row());
        self.built_in(id.row());
    }

    /// All that was said of one flag, the strongest first.
    fn said(&mut self, row: &Flag) {
        let said = self.typed.given.iter().filter(|given| given.id == row.id);
        for given in said.rev() {
            self.given(row, given);
        }
    }

    fn given(&mut self, row: &Flag, given: &Given) {
        let source = given.source.name();
        if row.takes != Takes::Json(Shape::Texts) {
            return self.line(row, &given.shown(), source);
        }
        for check in given.checks() {
            self.line(row, &format!("{}: {}", check.name, check.text), source);
        }
    }

    fn built_in(&mut self, row: &Flag) {
        let (value, source) = match row.id {
            Id::Edits if self.careful => ("ask", "built-in, for / and home folders"),
            Id::Workspace => (".", "built-in"),
            _ if row.takes == Takes::Nothing && row.default.is_empty() => ("off", "built-in"),
            _ => (row.default, "built-in"),
        };
        self.line(row, value, source);
    }

    fn line(&mut self, row: &Flag, value: &str, source: &str) {
        // As a file calls it; what no file may say is called by its flag.
        let name = match row.files {
            Files::None => row.long.to_string(),
            _ => row.key(),
        };
        let value = match value {
            "" => "-".to_string(),
            value => text::one_line(value),
        };
        let mut lock = self.typed.locks.iter();
        let lock = lock.find(|lock| lock.id == row.id);
        let lock = lock.map(|lock| format!(", locked by {}", lock.place));
        let lock = lock.unwrap_or_default();
        self.lines
            .push_str(&format!("{name:18}  {value:24}  {source}{lock}\n"));
    }
}
