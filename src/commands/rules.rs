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

use super::policy::{build, kept};
use super::scope::Scope;
use super::{print, wrong};
use crate::config::{self, Paths, Typed, UsageError, utf8};
use crate::headless::out::{complain, exit, note};
use crate::policy::{Entry, Kept};
use crate::text;
use std::fmt::Write as _;

/// Lists or revokes; the exit code.
pub(super) fn run(typed: &Typed) -> Result<u8, UsageError> {
    // Also where settings are broken: they do not change what rules there are.
    let scope = Scope::of(typed.clone(), Paths::find(&config::variable))?;
    match typed.words.as_slice() {
        [] => {
            let permissions = scope.permissions()?;
            scope.say_unused(false);
            let policy = build(&scope, permissions);
            let mut out = String::new();
            if let Some(kept) = kept(&scope.paths, scope.root()) {
                list_kept(&mut out, &kept);
            }
            list_others(&mut out, &policy.rules());
            if out.is_empty() {
                note(
                    "no rules; the answer `k` to a question keeps one, and `zcoder help rules` tells how to write them",
                );
            }
            Ok(print(&out))
        }
        [verb, number] if verb == "revoke" => {
            let number = utf8(number, "the rule's number")?;
            let place = number.parse::<usize>().ok().and_then(|n| n.checked_sub(1));
            let kept = kept(&scope.paths, scope.root());
            Ok(revoke(kept, place, number))
        }
        [verb, ..] if verb != "revoke" => Err(wrong(typed, Some(verb))),
        words => Err(wrong(typed, words.get(2))),
    }
}

fn revoke(kept: Option<Kept>, place: Option<usize>, number: &str) -> u8 {
    let revoked = match (kept, place) {
        (Some(mut kept), Some(place)) => kept.revoke(place),
        (_, _) => Ok(None),
    };
    match revoked {
        Ok(Some(entry)) => print(&format!("revoked: {}\n", shown(&entry))),
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
