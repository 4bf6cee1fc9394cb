//! Where a command works: what was typed with the settings below it, our folders, the workspace, and what that brings along, as far as it is
//! trusted. All of it is looked at once, at the start. What is not used is said in one line.
//!
//! ```text
//! zcoder: not used, since it is not trusted: AGENTS.md, .zcoder/rules (changed); `zcoder trust` shows and accepts it, --trust does for one run
//! ```
//!
//! Invariant: where the list of what is trusted cannot be read, nothing is.
//!
//! Read next: `policy/trust.rs`, `config/layers.rs`.

use crate::config::permissions::{self, Permissions};
use crate::config::{self, Id, Paths, Typed, UsageError, current_folder, layers, paths};
use crate::guidance::Places;
use crate::headless::out::note;
use crate::policy::trust::{self, Found, Kind, State, Trust};
use crate::tools::Workspace;
use std::path::Path;

/// Files named; the others are counted.
const NAMED: usize = 12;

/// What one command works with.
pub(super) struct Scope {
    pub(super) typed: Typed,
    pub(super) paths: Paths,
    pub(super) workspace: Workspace,
    /// It is `/` or a home folder.
    pub(super) broad: bool,
    found: Vec<Found>,
    /// `None`: it cannot be read, so nothing is trusted.
    trust: Option<Trust>,
}

impl Scope {
    /// With the settings of the machine, which name guidance; with `--trust` everything counts, for this run.
    pub(super) fn find(typed: &Typed) -> Result<Scope, UsageError> {
        let (typed, paths) = configured(typed)?;
        Scope::of(typed, paths)
    }

    /// With what was typed alone.
    pub(super) fn of(typed: Typed, paths: Paths) -> Result<Scope, UsageError> {
        let (workspace, broad) = workspace(&typed, &paths)?;
        let root = workspace.root();
        let found = trust::look(root, &typed.words_of(Id::GuidanceNames));
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
        Ok(Scope {
            typed,
            paths,
            workspace,
            broad,
            found,
            trust,
        })
    }

    /// Canonical.
    pub(super) fn root(&self) -> &Path {
        self.workspace.root()
    }

    /// What may happen unasked.
    pub(super) fn permissions(&self) -> Result<Permissions, UsageError> {
        permissions::permissions(&self.typed, self.broad)
    }

    /// The bytes of a file that the workspace brings along, if exactly they are trusted.
    pub(super) fn usable(&self, path: &str) -> Option<&[u8]> {
        self.trust.as_ref()?.usable(&self.found, path)
    }

    /// One line about what decides about permissions, or also about guidance, and is not used.
    pub(super) fn say_unused(&self, guidance: bool) {
        let Some(trust) = &self.trust else {
            return;
        };
        let ours = |found: &&Found| match found.kind {
            Kind::Settings | Kind::Rules => true,
            Kind::Guidance => guidance,
            Kind::Servers => false,
        };
        let mut unused: Vec<String> = (self.found.iter().filter(ours))
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
    pub(super) fn add_project(&mut self) -> Result<(), UsageError> {
        let trust = self.trust.as_ref();
        let bytes = trust.and_then(|trust| trust.usable(&self.found, trust::SETTINGS));
        let Some(bytes) = bytes else {
            return Ok(());
        };
        for left_out in layers::add_project(&mut self.typed, bytes)? {
            note(&format!(
                "zcoder: {left_out}; what the project says is not used"
            ));
        }
        Ok(())
    }

    /// Where guidance is looked for. Hands over what the workspace brings along: the policy comes first.
    pub(super) fn places(&mut self) -> Places {
        Places {
            root: self.root().to_path_buf(),
            config: self.paths.config.clone(),
            skills: self.paths.skills.clone(),
            home: self.paths.home.clone(),
            names: self.typed.words_of(Id::GuidanceNames),
            found: std::mem::take(&mut self.found),
            trust: self.trust.take(),
        }
    }
}

/// Our folders. Variables that name none are said.
pub(super) fn folders() -> Paths {
    let paths = Paths::find(&config::variable);
    for name in &paths.ignored {
        note(&format!(
            "zcoder: {name} is not used: it is no absolute path"
        ));
    }
    paths
}

/// What was typed with the settings of user and site below it, and our folders.
pub(super) fn configured(typed: &Typed) -> Result<(Typed, Paths), UsageError> {
    let paths = folders();
    let mut typed = typed.clone();
    layers::add_machine(&mut typed, &paths)?;
    Ok((typed, paths))
}

/// The workspace that a command line names, and whether it is `/` or a home folder.
pub(super) fn workspace(typed: &Typed, paths: &Paths) -> Result<(Workspace, bool), UsageError> {
    let place = paths::place(typed, paths, current_folder().as_deref())?;
    let opened = Workspace::open(&place.folder, paths.off_limits());
    let workspace = opened.map_err(|cause| UsageError::Workspace {
        folder: place.folder.display().to_string(),
        cause,
    })?;
    Ok((workspace, place.broad))
}
