//! Where the commands of a script may run: `cd` changes it for those behind it, if it worked, if it ran, if it was not in a subshell. In:
//! a script and the folder it starts in. Out: for each command the folders it may run in.
//!
//! ```text
//! cd src && make && cat ../x      make, cat: src                 `&&` in the same list: only if `cd` worked
//! cd src; cat ../x                cat: . and src                 it may have failed
//! (cd src && make); ls            make: src      ls: . and src   all that was seen so far
//! cd $X                           everything behind it: / too    unknown
//! ```
//!
//! Invariant: the folder in which a command really runs is among those given, or `/` is (where nothing relative is inside).
//! Invariant: at most [`MANY`] folders are followed; more are `/`.

use std::path::PathBuf;

use super::place::{Place, part_behind};
use super::shell::{Join, Script, Simple, Word};

/// No honest command changes its folder more often.
const MANY: usize = 8;

/// What stands for the home folder, whose path is not known here.
pub(super) const HOME: &str = "/~";

/// The workspace and the folders of each command of the script, in order.
pub(super) fn places(script: &Script, place: &Place) -> Vec<Place> {
    let mut seen = place.folders.clone();
    let mut now = seen.clone();
    // Whether `now` is what a `cd` before left, joined by nothing but `&&` and the pipes of one command.
    let mut chained = false;
    let mut before: Option<&Simple> = None;
    let mut all = Vec::with_capacity(script.commands.len());
    for simple in &script.commands {
        let next_to = before
            .is_some_and(|before| before.group == simple.group && before.level == simple.level);
        let goes_on = match simple.join {
            Join::And => next_to && chained,
            // `cd x | a`: the `cd` is in a process of its own.
            Join::Pipe => {
                next_to && chained && before.is_some_and(|before| target(before).is_none())
            }
            Join::Start | Join::Then | Join::Background | Join::Or => false,
        };
        if !goes_on {
            now.clone_from(&seen);
            chained = false;
        }
        let here = place.in_folders(&now);
        if let Some(target) = target(simple) {
            let reached: Vec<PathBuf> = match target {
                Target::Path(path) => here.changed(&path),
                Target::Home(rest) => vec![PathBuf::from(format!("{HOME}{rest}"))],
                Target::Unknown => vec![PathBuf::from("/")],
            };
            for folder in &reached {
                if !seen.contains(folder) {
                    seen.push(folder.clone());
                }
            }
            if seen.len() > MANY {
                seen = vec![PathBuf::from("/")];
            }
            chained =
                !simple.negated && !matches!(simple.join, Join::Or | Join::Pipe) && seen.len() > 1;
            now = if chained { reached } else { seen.clone() };
        }
        all.push(here);
        before = Some(simple);
    }
    all
}

enum Target {
    Path(String),
    /// What follows `~`.
    Home(String),
    Unknown,
}

/// Where a `cd` leads.
fn target(simple: &Simple) -> Option<Target> {
    let prefix = |word: &&Word| matches!(word.text.as_str(), "command" | "builtin" | "time" | "-p");
    let prefixes = simple.words.iter().take_while(prefix).count();
    let (name, arguments) = simple.words[prefixes..].split_first()?;
    match name.text.as_str() {
        "cd" | "pushd" | "chdir" => {}
        "popd" => return Some(Target::Unknown),
        _ => return None,
    }
    let mut operands = arguments
        .iter()
        .filter(|word| !matches!(word.text.as_str(), "--" | "-P" | "-L" | "-e"));
    Some(match operands.next() {
        None => Target::Home(String::new()),
        Some(Word { text, .. }) if text == "-" => Target::Unknown,
        Some(Word {
            text, home: true, ..
        }) => {
            let tilde = text.strip_prefix('~');
            let tilde = tilde.filter(|rest| rest.is_empty() || rest.starts_with('/'));
            match tilde.or_else(|| part_behind(text, "HOME")) {
                Some(rest) => Target::Home(rest.to_string()),
                None => Target::Unknown,
            }
        }
        Some(word) if word.is_literal() => Target::Path(word.text.clone()),
        Some(_) => Target::Unknown,
    })
}
