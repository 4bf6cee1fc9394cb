//! `zcoder rules`: every rule that counts in the workspace, and where it stands; `zcoder rules revoke N`: one kept rule or accepted check
//! taken back.
//!
//! ```text
//! $ zcoder rules
//! kept for this workspace
//!   1  allow cmake
//!   2  check test
//! ~/.config/zcoder/rules
//!      deny git push
//! $ zcoder rules revoke 1
//! revoked: allow cmake
//! ```
//!
//! Invariant: only what an answer kept has a number; files that people write are changed by people.
//!
//! Read next: `policy/kept.rs`.

use super::brought::{Brought, PERMISSIONS};
use super::policy::{build, kept};
use super::run::open_workspace;
use crate::config::{self, Paths, Typed, UsageError, current_folder, paths, permissions, utf8};
use crate::headless::out::{complain, exit, note, with_stdout};
use crate::policy::{Entry, Kept};
use crate::text;
use std::fmt::Write as _;
use std::io::Write;

/// Lists or revokes; the exit code.
pub(super) fn run(typed: &Typed) -> Result<u8, UsageError> {
    let paths = Paths::find(&config::variable);
    let place = paths::place(typed, &paths, current_folder().as_deref())?;
    let workspace = open_workspace(&place.folder, paths.off_limits())?;
    let wrong = |extra: Option<String>| UsageError::Words {
        command: typed.command,
        extra,
    };
    match typed.words.as_slice() {
        [] => {
            let permissions = permissions::permissions(typed, place.broad)?;
            let brought = Brought::look(&paths, workspace.root(), typed);
            brought.say_unused(&PERMISSIONS);
            let policy = build(permissions, &paths, workspace.root(), &brought, Vec::new());
            let mut out = String::new();
            if let Some(kept) = kept(&paths, workspace.root()) {
                list_kept(&mut out, &kept);
            }
            list_others(&mut out, &policy.rules());
            if out.is_empty() {
                note(
                    "no rules; the answer `k` to a question keeps one, and `zcoder help rules` tells how to write them",
                );
            }
            Ok(with_stdout(|stdout| {
                stdout.write_all(out.as_bytes())?;
                Ok(exit::DONE)
            }))
        }
        [verb, number] if verb == "revoke" => {
            let number = utf8(number, "the rule's number")?;
            let place = number.parse::<usize>().ok().and_then(|n| n.checked_sub(1));
            let kept = kept(&paths, workspace.root());
            Ok(revoke(kept, place, number))
        }
        [verb] if verb == "revoke" => Err(wrong(None)),
        [verb, ..] if verb != "revoke" => Err(wrong(Some(verb.to_string_lossy().into_owned()))),
        [_, _, extra, ..] => Err(wrong(Some(extra.to_string_lossy().into_owned()))),
        [_] | [_, _] => Err(wrong(None)),
    }
}

fn revoke(kept: Option<Kept>, place: Option<usize>, number: &str) -> u8 {
    let (Some(mut kept), Some(place)) = (kept, place) else {
        complain(&format!(
            "no kept rule `{number}`; `zcoder rules` lists them"
        ));
        return exit::FAILED;
    };
    match kept.revoke(place) {
        Ok(Some(entry)) => with_stdout(|out| {
            writeln!(out, "revoked: {}", shown(&entry))?;
            Ok(exit::DONE)
        }),
        Ok(None) => {
            complain(&format!(
                "no kept rule `{number}`; `zcoder rules` lists them"
            ));
            exit::FAILED
        }
        Err(error) => {
            complain(&format!("the rule could not be revoked: {error}"));
            exit::FAILED
        }
    }
}

fn shown(entry: &Entry) -> String {
    let line = match entry {
        Entry::Rule(rule) => rule.to_string(),
        Entry::Check(name) => format!("check {name}"),
    };
    text::visible(&line).into_owned()
}

fn list_kept(out: &mut String, kept: &Kept) {
    let entries = kept.entries();
    if !entries.is_empty() {
        out.push_str("kept for this workspace\n");
    }
    for (at, entry) in entries.iter().enumerate() {
        let _ = writeln!(out, "{:3}  {}", at + 1, shown(entry)); // writing to a String cannot fail
    }
}

/// The rules of files, under the names of their files.
fn list_others(out: &mut String, rules: &[crate::policy::rules::Rule]) {
    let mut file = "";
    for rule in rules {
        let Some((name, _)) = rule.origin().rsplit_once(':') else {
            continue;
        };
        if name != file {
            file = name;
            let _ = writeln!(out, "{file}"); // as above
        }
        let _ = writeln!(out, "     {}", text::visible(&rule.to_string())); // as above
    }
}
