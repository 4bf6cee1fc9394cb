//! The settings that are no flags: they say more than fits on a command line, or nothing that changes from run to run. With `FLAGS`, whose
//! rows name the settings that are, this is all a settings file may say.
//!
//! ```text
//! {"command_wrapper": ["bwrap", "--bind", "/home/me", "/home/me"]}      every command of the model runs in it
//! {"checks": {"test": "ctest --test-dir build"}}                        run unasked once their text was accepted
//! {"guidance_names": ["CLAUDE.md"]}                                     read where there is no AGENTS.md
//! {"wire": false}                                                       sessions keep no exchanges
//! ```
//!
//! Invariant: `KEYS[key as usize].key == key` (a test walks the table).
//!
//! Read next: `file.rs`, which reads them.

use super::flags::Files;

/// A setting that is no flag; also its place in `KEYS`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Key {
    /// Words put before `sh -c …`.
    CommandWrapper,
    /// Named commands of a project.
    Checks,
    /// Names of files with guidance.
    GuidanceNames,
    /// Whether sessions keep their exchanges.
    Wire,
}

/// What stands there in JSON.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Shape {
    /// An array of strings.
    Words,
    /// An array of names of files.
    Names,
    /// An object of strings.
    Texts,
    /// `true` or `false`.
    Switch,
}

/// A row of the table.
#[derive(Debug)]
pub struct KeyRow {
    /// Its name in the code.
    pub key: Key,
    /// Its name in a file.
    pub name: &'static str,
    /// What stands there.
    pub shape: Shape,
    /// The files that may say it.
    pub files: Files,
    /// What holds where nobody says anything; empty: nothing.
    pub default: &'static str,
    /// One or two sentences for the user.
    pub help: &'static str,
}

/// All of them.
#[rustfmt::skip] // a table: one row reads best in as few lines as it needs
pub const KEYS: &[KeyRow] = &[
    KeyRow { key: Key::CommandWrapper, name: "command_wrapper", shape: Shape::Words, files: Files::User, default: "",
        help: "words put before `sh -c COMMAND` of every command of the model, such as those of a sandbox; each question shows them" },
    KeyRow { key: Key::Checks, name: "checks", shape: Shape::Texts, files: Files::Project, default: "",
        help: "named commands that prove the project's state; each runs unasked once you accepted its exact text" },
    KeyRow { key: Key::GuidanceNames, name: "guidance_names", shape: Shape::Names, files: Files::Machine, default: "",
        help: "names of files that are read as guidance where a folder has no AGENTS.md" },
    KeyRow { key: Key::Wire, name: "wire", shape: Shape::Switch, files: Files::Tighten(&["off"]), default: "on",
        help: "whether a session keeps its last exchanges with the server" },
];

impl Key {
    /// Its row.
    pub fn row(self) -> &'static KeyRow {
        &KEYS[self as usize]
    }
}
