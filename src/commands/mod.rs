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
mod brought;
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
mod session;
mod sessions;
mod standin;
mod taps;
mod tool;
mod trust;
mod undo;
mod wire;

use crate::config::{
    Command, DemoSettings, Paths, StandInSettings, Typed, UsageError, arguments, layers, variable,
};
use crate::headless::out::{complain, exit, note, with_stdout};
use crate::protocol::DecidedBy;
use std::ffi::OsString;
use std::io::Write;
use std::process::ExitCode;

/// The whole program.
pub fn main() -> ExitCode {
    let arguments = arguments();
    let code = Typed::read(&arguments, &variable).and_then(|typed| dispatch(&typed));
    ExitCode::from(code.unwrap_or_else(|error| usage(&error)))
}

/// One function a command.
fn dispatch(typed: &Typed) -> Result<u8, UsageError> {
    for text in &typed.notes {
        note(&format!("zcoder: {text}"));
    }
    match typed.command {
        Command::Run if typed.bare => Ok(help::bare()),
        Command::Run => run::run(typed),
        Command::Models => {
            words::<0>(typed)?;
            models::run(typed)
        }
        Command::Tool => tool::run(typed, words(typed)?),
        Command::Undo => undo::undo(typed),
        Command::Redo => undo::redo(typed),
        Command::Diff => diff::run(typed),
        Command::Sessions => sessions::run(typed),
        Command::Audit => audit::run(typed),
        Command::Policy => policy::run(typed, words(typed)?),
        Command::Rules => rules::run(typed),
        Command::Trust => {
            words::<0>(typed)?;
            trust::run(typed)
        }
        Command::Config => config::run(typed),
        Command::Paths => {
            words::<0>(typed)?;
            places::list(typed)
        }
        Command::Purge => {
            words::<0>(typed)?;
            Ok(places::purge(typed))
        }
        Command::Decode => decode::run(typed),
        Command::Wire => wire::run(typed, words(typed)?),
        Command::StandIn => {
            words::<0>(typed)?;
            Ok(standin::run(&StandInSettings::resolve(typed)?))
        }
        Command::Demo => {
            words::<0>(typed)?;
            Ok(demo::run(&DemoSettings::resolve(typed, &variable)?))
        }
        Command::Man => {
            words::<0>(typed)?;
            Ok(man::run())
        }
        Command::Completions => completions::run(words(typed)?),
        Command::Help => help::run(&typed.words),
        Command::Version => Ok(version()),
    }
}

/// What was typed with the settings of user and site below it, and our folders. Variables that name no folder are said.
fn configured(typed: &Typed) -> Result<(Typed, Paths), UsageError> {
    let paths = Paths::find(&variable);
    for name in &paths.ignored {
        note(&format!(
            "zcoder: {name} is not used: it is no absolute path"
        ));
    }
    let mut typed = typed.clone();
    layers::add_machine(&mut typed, &paths)?;
    Ok((typed, paths))
}

/// Exactly `N` words after the command.
fn words<const N: usize>(typed: &Typed) -> Result<&[OsString; N], UsageError> {
    let wrong = |extra: Option<&OsString>| UsageError::Words {
        command: typed.command,
        extra: extra.map(|word| word.to_string_lossy().into_owned()),
    };
    let words = typed.words.as_slice();
    words.try_into().map_err(|_| wrong(words.get(N)))
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

fn version() -> u8 {
    with_stdout(|out| {
        out.write_all(concat!("zcoder ", env!("CARGO_PKG_VERSION"), "\n").as_bytes())?;
        Ok(exit::DONE)
    })
}
