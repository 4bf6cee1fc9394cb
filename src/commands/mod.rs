//! The commands, one function each in a file of its own, and the way from argv to an exit code.
//!
//! ```text
//! main → Typed::read → dispatch ─┬─ Run      run.rs      prompt, settings → engine::Setup → headless::run
//!                                ├─ Models   models.rs   /api/tags, /api/ps → a table
//!                                ├─ Tool     tool.rs     one tool through check, policy and approval
//!                                ├─ Undo     undo.rs     a turn taken back or made again; Redo too
//!                                ├─ Diff     diff.rs     what a session changed, as a patch; hunks taken back
//!                                ├─ Sessions sessions.rs listed, read, copied, renamed, removed, forked
//!                                ├─ Audit    audit.rs    sessions verified, and told as a table
//!                                ├─ Policy   policy.rs   what would happen to a command, and why
//!                                ├─ Rules    rules.rs    the rules that count here; revoking one
//!                                ├─ Trust    trust.rs    what a folder may bring along
//!                                ├─ Config   config.rs   every setting and where it came from
//!                                ├─ Paths    places.rs   where everything lies; Purge too: removing what runs left
//!                                ├─ Decode   decode.rs   bytes → a shipped decoder → its steps
//!                                ├─ Wire     wire.rs     a recorded file, or what a session kept of its exchanges, readable
//!                                ├─ StandIn  standin.rs  the stand-in model, for curl and for ourselves
//!                                ├─ Demo     demo.rs     stand-in + ordinary agent on a sample project
//!                                ├─ Man      man.rs      the manual page
//!                                ├─ Completions completions.rs
//!                                └─ Help, Version
//! ```
//!
//! Invariant: a usage error ends with exit code 2 before anything was connected, written or started.
//! Invariant: `--version` and `--help` look at nothing but argv.
//!
//! Read next: `run.rs`, the main job.

mod audit;
mod completions;
mod config;
mod decode;
mod demo;
mod diff;
mod guided;
mod help;
mod man;
mod models;
mod places;
mod policy;
mod retry;
mod ring;
mod rules;
mod run;
mod scope;
mod session;
mod sessions;
mod standin;
mod taps;
mod tool;
mod trust;
mod undo;
mod wire;

use crate::config::{
    Command, DemoSettings, Id, Source, StandInSettings, Typed, UsageError, arguments, variable,
};
use crate::headless::out::{complain, exit, note, with_stdout};
use crate::protocol::DecidedBy;
use std::ffi::OsString;
use std::io::Write;
use std::process::ExitCode;

/// The whole program.
pub fn main() -> ExitCode {
    crate::sys::thread::share_heap();
    let arguments = arguments();
    let code = Typed::read(&arguments, &variable).and_then(|typed| dispatch(&typed));
    ExitCode::from(code.unwrap_or_else(|error| usage(&error)))
}

/// One function a command.
fn dispatch(typed: &Typed) -> Result<u8, UsageError> {
    for text in &typed.notes {
        note(&format!("zcoder: {text}"));
    }
    if typed.command.row().words.is_empty() {
        words::<0>(typed)?;
    }
    match typed.command {
        Command::Run if typed.bare => Ok(help::bare()),
        Command::Run => run::run(typed),
        Command::Models => models::run(typed),
        Command::Tool => tool::run(typed, words(typed)?),
        Command::Undo => undo::undo(typed),
        Command::Redo => undo::redo(typed),
        Command::Diff => diff::run(typed),
        Command::Sessions => sessions::run(typed),
        Command::Audit => audit::run(typed),
        Command::Policy => policy::run(typed, words(typed)?),
        Command::Rules => rules::run(typed),
        Command::Trust => trust::run(typed),
        Command::Config => config::run(typed),
        Command::Paths => places::list(typed),
        Command::Purge => Ok(places::purge(typed)),
        Command::Decode => decode::run(typed),
        Command::Wire => wire::run(typed, words(typed)?),
        Command::StandIn => Ok(standin::run(&StandInSettings::resolve(typed)?)),
        Command::Demo => Ok(demo::run(&DemoSettings::resolve(typed, &variable)?)),
        Command::Man => Ok(print(&man::page())),
        Command::Completions => completions::run(words(typed)?),
        Command::Help => help::run(&typed.words),
        Command::Version => Ok(print(concat!("zcoder ", env!("CARGO_PKG_VERSION"), "\n"))),
    }
}

/// Exactly `N` words after the command.
fn words<const N: usize>(typed: &Typed) -> Result<&[OsString; N], UsageError> {
    let words = typed.words.as_slice();
    words.try_into().map_err(|_| wrong(typed, words.get(N)))
}

/// One word after the command, or none.
fn at_most_one(typed: &Typed) -> Result<Option<&OsString>, UsageError> {
    match typed.words.get(1) {
        None => Ok(typed.words.first()),
        extra => Err(wrong(typed, extra)),
    }
}

/// A word too many, or one too few.
fn wrong(typed: &Typed, extra: Option<&OsString>) -> UsageError {
    UsageError::Words {
        command: typed.command,
        extra: extra.map(|word| word.to_string_lossy().into_owned()),
    }
}

/// Whether `--yes` was typed: a variable that is set for all runs is no yes to what is listed now.
fn said_yes(typed: &Typed) -> bool {
    let given = typed.get(Id::Yes);
    given.is_some_and(|given| matches!(given.source, Source::Flag(_)))
}

/// A text on standard output; the exit code.
fn print(text: &str) -> u8 {
    with_stdout(|out| {
        out.write_all(text.as_bytes())?;
        Ok(exit::DONE)
    })
}

/// Who decided, in words.
fn by(by: &DecidedBy) -> String {
    match by {
        DecidedBy::Person => "a person".to_string(),
        DecidedBy::Flag(flag) => flag.clone(),
        DecidedBy::Rule(rule) => rule.clone(),
        DecidedBy::Session => "an earlier answer".to_string(),
        DecidedBy::Nobody => "nobody".to_string(),
    }
}

fn usage(error: &UsageError) -> u8 {
    complain(&error.to_string());
    exit::USAGE
}
