//! The decision. In: a command or an edit. Out: a [`Verdict`], by mode, exact rules, what a person allowed for the
//! session, and the hard stops.
//!
//! ```text
//! command   1 hard stop       sysadmin: denied · coding: asked, unless exactly this was allowed by a person or a rule
//!           2 commands=deny   denied, naming the flag that set it
//!           3 sysadmin        asked
//!           4 exact rule, session grant, commands=allow: allowed · else asked
//! edit      1 edits=deny      denied
//!           2 session grant   allowed
//!           3 protected path, edits=ask: asked · else allowed
//! ```
//!
//! Invariant: `deny` wins over every rule and grant.
//! Invariant: denied texts are written for the model and end in what it can do instead.

use std::path::PathBuf;

use crate::protocol::{DecidedBy, Question};
use crate::text;

use super::{Approved, Asking, Command, notes, stops};

/// What happens to commands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CommandMode {
    /// A person is asked, unless a rule or a grant allows exactly this command.
    Ask,
    /// They run.
    Allow,
    /// They are refused.
    Deny,
}

/// What happens to edits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum EditMode {
    /// They are made, shown and journaled; protected paths ask.
    Auto,
    /// A person sees the exact diff first.
    Ask,
    /// They are refused.
    Deny,
}

/// Which agent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Profile {
    /// Works on a project.
    Coding,
    /// Works on the host: every command asks, catastrophic ones never run.
    Sysadmin,
}

/// What the policy says.
#[derive(Debug)]
pub enum Verdict<T> {
    /// Go on with the ticket.
    Allowed(Approved<T>),
    /// A person must say yes first.
    Ask(Asking<T>),
    /// No.
    Denied {
        /// The thing, untouched.
        value: T,
        /// For the model: why, and what to do instead.
        reason: String,
        /// What said no.
        by: DecidedBy,
    },
}

/// What a yes for the session allows.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Grant {
    /// Exactly this text in this folder.
    Command { text: String, cwd: PathBuf },
    /// Edits of these files (shown paths).
    Files(Vec<String>),
}

/// Modes, what set them, exact commands with their rule, and what a person allowed for the session.
#[derive(Clone, Debug)]
pub struct Policy {
    commands: CommandMode,
    edits: EditMode,
    profile: Profile,
    flag: Option<&'static str>,
    exact: Vec<ExactRule>,
    grants: Vec<Grant>,
}

/// One command text that runs unasked in the workspace root, and the rule as it is printed.
#[derive(Clone, Debug)]
struct ExactRule {
    command: String,
    rule: String,
}

impl Policy {
    /// `flag`: what set the command mode (`--yes`, `--deny-commands`, `--read-only`), named when it decides.
    pub fn new(
        commands: CommandMode,
        edits: EditMode,
        profile: Profile,
        flag: Option<&'static str>,
    ) -> Policy {
        Policy {
            commands,
            edits,
            profile,
            flag,
            exact: Vec::new(),
            grants: Vec::new(),
        }
    }

    /// Allows exactly this command text in the workspace root; `rule` is how the rule is printed.
    pub fn allow_exact(&mut self, command: &str, rule: &str) {
        self.exact.push(ExactRule {
            command: command.to_string(),
            rule: rule.to_string(),
        });
    }

    /// Judges a command.
    pub fn command(&self, command: Command) -> Verdict<Command> {
        let stop = stops::find(&command);
        if let (Some(stop), Profile::Sysadmin) = (&stop, self.profile) {
            let reason = format!(
                "refused: {stop}. Such a command is never run here, whatever was approved. \
                 Use a command that names only what has to change, or explain to the user what to do by hand."
            );
            return Verdict::Denied {
                value: command,
                reason,
                by: DecidedBy::Rule("hard stop".to_string()),
            };
        }
        if self.commands == CommandMode::Deny {
            let (named, by) = match self.flag {
                Some(flag) => (flag, DecidedBy::Flag(flag)),
                None => (
                    "commands=deny",
                    DecidedBy::Rule("commands=deny".to_string()),
                ),
            };
            let reason = format!(
                "commands are denied in this run ({named}), so this one was not run. \
                 Work with the other tools, and tell the user which command to run and why."
            );
            return Verdict::Denied {
                value: command,
                reason,
                by,
            };
        }
        match self.standing(&command, stop.is_some()) {
            Some(by) => Verdict::Allowed(Approved::new(command, by)),
            None => Verdict::Ask(self.ask_command(command, stop)),
        }
    }

    /// Judges an edit of all `paths` (a grant counts if it covers each); `diff` is shown in a question; `protected` says why it
    /// asks even under `auto`.
    pub fn edit<T>(
        &self,
        value: T,
        paths: &[&str],
        diff: &str,
        protected: Option<&str>,
    ) -> Verdict<T> {
        let file_granted = |path: &&str| {
            self.grants.iter().any(|grant| match grant {
                Grant::Files(files) => files.iter().any(|file| file == path),
                Grant::Command { .. } => false,
            })
        };
        let granted = || paths.iter().all(file_granted);
        let shown = || {
            paths
                .iter()
                .map(|path| notes::one_line(path))
                .collect::<Vec<String>>()
                .join(", ")
        };
        match self.edits {
            EditMode::Deny => Verdict::Denied {
                value,
                reason: format!(
                    "edits are denied in this run, so {} was not changed. \
                     Tell the user what to change and why, with the new text.",
                    shown()
                ),
                by: DecidedBy::Rule("edits=deny".to_string()),
            },
            EditMode::Auto | EditMode::Ask if granted() => {
                Verdict::Allowed(Approved::new(value, DecidedBy::Session))
            }
            EditMode::Auto if protected.is_none() => Verdict::Allowed(Approved::new(
                value,
                DecidedBy::Rule("edits=auto".to_string()),
            )),
            EditMode::Auto | EditMode::Ask => {
                let question = Question::Edit {
                    path: shown(),
                    diff: text::visible(diff).into_owned(),
                    notes: notes::edit(&paths.concat(), diff, protected),
                };
                let files = paths.iter().map(ToString::to_string);
                let grant = Grant::Files(files.collect());
                Verdict::Ask(Asking::new(value, question, Some(grant)))
            }
        }
    }

    /// A person allowed what is asked for the rest of the session: this exact command in this folder, or edits of this
    /// file. Returns false, and keeps nothing, where such a yes is not on offer (`sysadmin` commands).
    pub fn grant<T>(&mut self, asking: &Asking<T>) -> bool {
        match asking.offered() {
            Some(grant) => {
                if !self.grants.contains(grant) {
                    self.grants.push(grant.clone());
                }
                true
            }
            None => false,
        }
    }

    /// Who allowed this command beforehand, if anybody did. `stopped`: only an exact yes counts, no blanket one.
    fn standing(&self, command: &Command, stopped: bool) -> Option<DecidedBy> {
        if self.profile == Profile::Sysadmin {
            return None;
        }
        let in_root = command.cwd == command.workspace;
        if let Some(exact) = self.exact.iter().find(|e| e.command == command.text) {
            if in_root {
                return Some(DecidedBy::Rule(exact.rule.clone()));
            }
        }
        let granted = self.grants.iter().any(|grant| match grant {
            Grant::Command { text, cwd } => *text == command.text && *cwd == command.cwd,
            Grant::Files(_) => false,
        });
        if granted {
            return Some(DecidedBy::Session);
        }
        match self.commands {
            CommandMode::Allow if !stopped => Some(match self.flag {
                Some(flag) => DecidedBy::Flag(flag),
                None => DecidedBy::Rule("commands=allow".to_string()),
            }),
            CommandMode::Allow | CommandMode::Ask | CommandMode::Deny => None,
        }
    }

    fn ask_command(&self, command: Command, stop: Option<String>) -> Asking<Command> {
        let mut notes = notes::command(&command);
        if let Some(stop) = stop {
            notes.insert(0, format!("danger: {stop}"));
        }
        let question = Question::Command {
            command: text::visible(&command.text).into_owned(),
            cwd: notes::one_line(&command.shown_cwd),
            timeout_seconds: command.timeout.as_secs(),
            wrapper: command
                .wrapper
                .iter()
                .map(|word| notes::one_line(word))
                .collect(),
            notes,
        };
        let grant = match self.profile {
            Profile::Coding => Some(Grant::Command {
                text: command.text.clone(),
                cwd: command.cwd.clone(),
            }),
            Profile::Sysadmin => None,
        };
        Asking::new(command, question, grant)
    }
}
