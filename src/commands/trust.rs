//! `zcoder trust`: what the workspace brings along to steer the agent, shown, and trusted by a yes; `--list` what is trusted in all folders,
//! `--revoke` nothing here any more.
//!
//! ```text
//! $ zcoder trust
//! /home/me/app
//!   .zcoder/config.json   settings      112 bytes  2c26b46b68ff  changed
//!     check test: ctest --test-dir build
//!   .zcoder/rules         rules          17 bytes  9f86d081884c  trusted
//!     deny git push
//! trust exactly these contents? y yes · n no:
//! ```
//!
//! Invariant: what is kept are the contents that were shown, however the files look by then.
//! Invariant: without a terminal and without `--yes` on the command line nothing is trusted; a variable is no yes.
//!
//! Read next: `policy/trust.rs`.

use super::scope::{configured, workspace};
use super::{print, said_yes};
use crate::config::{self, Id, Paths, Typed, UsageError, layers};
use crate::headless::out::{complain, exit, note};
use crate::policy::rules::{self, Author};
use crate::policy::trust::{self, Found, State, Trust};
use crate::sha256;
use crate::sys::Cancel;
use crate::sys::tty::Tty;
use crate::text;
use std::fmt::Write as _;
use std::io;

/// Shows and asks, lists, or revokes; the exit code.
pub(super) fn run(typed: &Typed) -> Result<u8, UsageError> {
    let paths = &Paths::find(&config::variable);
    if typed.is_on(Id::List) {
        return Ok(list(paths));
    }
    let (workspace, _) = workspace(typed, paths)?;
    let root = workspace.root();
    let trust = Trust::open(paths.state.as_deref(), root);
    let mut trust = match trust {
        Ok(trust) => trust,
        Err(error) => {
            complain(&format!("what is trusted here cannot be read: {error}"));
            return Ok(exit::FAILED);
        }
    };
    if typed.is_on(Id::Revoke) {
        return Ok(done(trust.revoke().map(|count| match count {
            0 => "nothing was trusted here".to_string(),
            1 => "1 file is no longer trusted".to_string(),
            count => format!(
                "{} are no longer trusted",
                text::counted(count as u64, "file")
            ),
        })));
    }
    // A broken settings file keeps nobody from looking at what a folder brings along.
    let names = match configured(typed) {
        Ok((typed, _)) => typed.words_of(Id::GuidanceNames),
        Err(error) => {
            note(&format!(
                "zcoder: {error}; names of guidance that it may set are not looked for"
            ));
            Vec::new()
        }
    };
    let (found, complete) = trust::look_below(root, &names);
    if !complete {
        note(&format!(
            "zcoder: more than {} folders: guidance below the others was not looked for",
            trust::MAX_FOLDERS
        ));
    }
    if found.is_empty() {
        note("nothing here wants to be trusted");
        return Ok(exit::DONE);
    }
    let listing = format!("{}\n{}", paths.shown(root), listing(&trust, &found));
    let settled = found.iter().all(|found| match trust.state(found) {
        State::Trusted | State::Unusable => true,
        State::New | State::Changed => false,
    });
    if settled || said_yes(typed) {
        let code = print(&listing);
        return Ok(match settled || code != exit::DONE {
            true => code,
            false => keep(&mut trust, &found),
        });
    }
    let Some(tty) = Tty::open() else {
        note(listing.trim_end());
        complain("there is no terminal to ask on; `zcoder trust --yes` trusts exactly this");
        return Ok(exit::NOBODY);
    };
    Ok(match asked(&tty, &listing) {
        Ok(true) => keep(&mut trust, &found),
        Ok(false) => {
            note("not trusted");
            exit::FAILED
        }
        Err(error) => {
            complain(&error.to_string());
            exit::FAILED
        }
    })
}

fn keep(trust: &mut Trust, found: &[Found]) -> u8 {
    done(trust.keep(found).map(|()| "trusted".to_string()))
}

fn done(result: io::Result<String>) -> u8 {
    match result {
        Ok(text) => {
            note(&text);
            exit::DONE
        }
        Err(error) => {
            complain(&error.to_string());
            exit::FAILED
        }
    }
}

/// A yes typed after everything was shown.
fn asked(tty: &Tty, listing: &str) -> io::Result<bool> {
    tty.write(listing)?;
    tty.discard_input()?;
    tty.write("trust exactly these contents? y yes · n no: ")?;
    let line = tty.read_line(&Cancel::new()?)?;
    let line = line.unwrap_or_default().trim().to_ascii_lowercase();
    Ok(line == "y" || line == "yes")
}

/// One line a file; of rules and settings also what they say.
fn listing(trust: &Trust, found: &[Found]) -> String {
    let mut out = String::new();
    let wide = found
        .iter()
        .map(|found| found.path.chars().count())
        .max()
        .unwrap_or(0);
    for found in found {
        let (path, kind) = (&found.path, found.kind.name());
        // Writing to a String cannot fail.
        let _ = write!(out, "  {path:wide$}  {kind:11}  ");
        match &found.content {
            Ok(content) => {
                let state = match trust.state(found) {
                    State::Trusted => "trusted",
                    State::New => "new",
                    State::Changed => "changed",
                    State::Unusable => "not usable",
                };
                let hash = &sha256::hex(&content.hash)[..12];
                let _ = writeln!(out, "{:7} bytes  {hash}  {state}", content.bytes.len());
                for line in inside(path, &content.bytes) {
                    let _ = writeln!(out, "    {}", text::one_line(&line));
                }
            }
            Err(why) => {
                let _ = writeln!(out, "not usable: {why}");
            }
        }
    }
    out
}

/// What a file of rules or settings says.
fn inside(path: &str, bytes: &[u8]) -> Vec<String> {
    if path == trust::RULES {
        let (rules, faults) = rules::read(&String::from_utf8_lossy(bytes), path, Author::Project);
        let faults = faults
            .iter()
            .map(|fault| format!("line {}: {}", fault.line, fault.text));
        return rules
            .iter()
            .map(|rule| rule.to_string())
            .chain(faults)
            .collect();
    }
    if path != trust::SETTINGS {
        return Vec::new();
    }
    match layers::lines(bytes) {
        Ok(lines) => lines,
        Err(error) => vec![error.to_string()],
    }
}

fn list(paths: &Paths) -> u8 {
    let all = paths.state.as_deref().map(trust::all).unwrap_or_default();
    if all.is_empty() {
        note("nothing is trusted in any folder");
    }
    let mut out = String::new();
    for (workspace, files) in &all {
        let _ = writeln!(out, "{workspace}"); // writing to a String cannot fail
        for file in files {
            let _ = writeln!(out, "  {file}"); // as above
        }
    }
    print(&out)
}
