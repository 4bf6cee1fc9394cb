//! What a workspace brings along, as far as it is trusted: read once at the start of a run, for the policy and for guidance. What is not used
//! is said in one line.
//!
//! ```text
//! zcoder: not used, since it is not trusted: AGENTS.md, .zcoder/rules (changed); `zcoder trust` shows and accepts it, --trust does for one run
//! ```
//!
//! Invariant: where the list of what is trusted cannot be read, nothing is.
//!
//! Read next: `policy/trust.rs`.

use super::policy::faulty;
use crate::config::{Id, Key, Paths, Typed, UsageError, layers};
use crate::guidance::Places;
use crate::headless::out::note;
use crate::policy::rules::{self, Author};
use crate::policy::trust::{self, Found, Kind, State, Trust};
use crate::policy::{Check, Policy};
use std::path::Path;

/// What `zcoder -p` uses.
pub(super) const ALL: [Kind; 3] = [Kind::Guidance, Kind::Settings, Kind::Rules];
/// What decides about permissions.
pub(super) const PERMISSIONS: [Kind; 2] = [Kind::Settings, Kind::Rules];
/// Files named; the others are counted.
const NAMED: usize = 12;

/// The files, and which of them count.
pub(super) struct Brought {
    pub(super) found: Vec<Found>,
    /// `None`: it cannot be read, so nothing is trusted.
    pub(super) trust: Option<Trust>,
}

impl Brought {
    /// `root` is canonical; with `--trust` everything counts, for this run. `typed` has the settings of the machine, which name guidance.
    pub(super) fn look(paths: &Paths, root: &Path, typed: &Typed) -> Brought {
        let found = trust::look(root, &typed.words_of(Key::GuidanceNames));
        let mut trust = match Trust::open(paths.state.as_deref(), root) {
            Ok(trust) => Some(trust),
            Err(error) => {
                note(&format!(
                    "zcoder: what is trusted here cannot be read ({error}); nothing is"
                ));
                None
            }
        };
        if let (Some(trust), true) = (&mut trust, typed.is_on(Id::Trust)) {
            trust.trust_now();
        }
        Brought { found, trust }
    }

    /// The bytes of a file, if exactly they are trusted.
    pub(super) fn usable(&self, path: &str) -> Option<&[u8]> {
        self.trust.as_ref()?.usable(&self.found, path)
    }

    /// One line about all files of these kinds that are not used.
    pub(super) fn say_unused(&self, kinds: &[Kind]) {
        let Some(trust) = &self.trust else {
            return;
        };
        let ours = self
            .found
            .iter()
            .filter(|found| kinds.contains(&found.kind));
        let mut unused: Vec<String> = ours
            .filter_map(|found| match trust.state(found) {
                State::Trusted => None,
                State::New => Some(found.path.clone()),
                State::Changed => Some(format!("{} (changed)", found.path)),
                State::Unusable => Some(format!("{} (cannot be read)", found.path)),
            })
            .collect();
        if unused.is_empty() {
            return;
        }
        let more = unused.len().saturating_sub(NAMED);
        unused.truncate(NAMED);
        let more = match more {
            0 => String::new(),
            more => format!(" and {more} more"),
        };
        note(&format!(
            "zcoder: not used, since it is not trusted: {}{more}; `zcoder trust` shows and accepts it, --trust does for one run",
            unused.join(", ")
        ));
    }

    /// Puts the project's settings below what was typed, if they are trusted.
    pub(super) fn settings(&self, typed: &mut Typed) -> Result<(), UsageError> {
        let Some(bytes) = self.usable(trust::SETTINGS) else {
            return Ok(());
        };
        for left_out in layers::add_project(typed, bytes)? {
            note(&format!(
                "zcoder: {left_out}; what the project says is not used"
            ));
        }
        Ok(())
    }

    /// The project's rules and checks.
    pub(super) fn add_to(&self, policy: &mut Policy, checks: Vec<Check>) {
        if let Some(bytes) = self.usable(trust::RULES) {
            let text = String::from_utf8_lossy(bytes);
            let (rules, faults) = rules::read(&text, trust::RULES, Author::Project);
            for fault in &faults {
                note(&format!("zcoder: {}", faulty(trust::RULES, fault)));
            }
            policy.add_rules(rules);
        }
        policy.add_checks(checks);
    }

    /// Where guidance is looked for.
    pub(super) fn places(self, paths: &Paths, names: &[String], root: &Path) -> Places {
        Places {
            root: root.to_path_buf(),
            config: paths.config.clone(),
            skills: paths.skills.clone(),
            home: paths.home.clone(),
            names: names.to_vec(),
            found: self.found,
            trust: self.trust,
        }
    }
}
