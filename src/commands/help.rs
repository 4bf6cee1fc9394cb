//! `zcoder help`, `--help`, and what a bare `zcoder` says. The texts are in `config/help.rs`.

use super::print;
use crate::config::{UsageError, help, utf8};
use crate::headless::out::{exit, note};
use std::ffi::OsString;

/// `zcoder help [TOPIC]`; without a topic the same as `zcoder --help`.
pub(super) fn run(words: &[OsString]) -> Result<u8, UsageError> {
    let text = match words {
        [] => help::overview(),
        [word, ..] => {
            let name = utf8(word, "the topic")?;
            let instead = "`zcoder help` lists the topics";
            let unknown = || UsageError::unknown("no help on", name, help::names(), instead);
            help::topic(name).ok_or_else(unknown)?
        }
    };
    Ok(print(&text))
}

/// Nothing was typed. The interface comes later; until then the way is shown, and the exit code says that nothing was done.
pub(super) fn bare() -> u8 {
    note(
        "zcoder: a coding agent in the terminal for local models\n\
         \n\
         \x20 zcoder demo                       see it work on a sample project, no model needed\n\
         \x20 zcoder -p 'what is in here?'      one task in this folder, with your Ollama\n\
         \x20 zcoder --help                     everything else\n\
         \n\
         the interface that opens without a task is not built yet",
    );
    exit::USAGE
}
