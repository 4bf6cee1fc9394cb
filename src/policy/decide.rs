//! The decision. In: a command or an edit. Out: a [`Verdict`], by mode, exact rules, what a person allowed for the
//! session, and the hard stops.
//!
//! ```text
//! command   1 hard stop       sysadmin: denied · coding: asked, unless exactly this was allowed by a person
//!           2 deny rule       denied, naming the rule
//!           3 commands=deny   denied, naming the flag that set it
//!           4 sysadmin        asked
//!           5 exactly this    allowed: the demo's commands, a yes for the session, an accepted check
//!           6 ask rule        asked, and where a deny rule may be meant
//!           7 commands=allow  allowed
//!           8 rules           allowed when every part passes (`judge`) · else asked
//! edit      1 edits=deny      denied
//!           2 session grant   allowed
//!           3 edits=allow     allowed
//!           4 protected path, edits=ask: asked · else allowed
//! ```
//!
//! Invariant: deny beats ask beats allow, whoever said it; but what a person allowed by its exact text is not asked again.
//! Invariant: denied texts are written for the model and end in what it can do instead.

use std::io;
use std::path::PathBuf;

use crate::protocol::{CommandPart, DecidedBy, Offers, Question};
use crate::text;

use super::checks::Check;
use super::judge::{self, Judgement};
use super::kept::Kept;
use super::place::Place;
use super::rules::Rule;
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
    /// They are made, shown and journaled, protected paths as well.
    Allow,
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
// One verdict at a time, on the stack: a box would only move the question.
#[allow(clippy::large_enum_variant)]
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

/// What a yes may hold for beyond this once.
#[derive(Clone, Debug, Default)]
pub(super) struct Offer {
    /// Exactly this, for the session.
    grant: Option<Grant>,
    /// Rules that let it pass.
    rules: Vec<Rule>,
    /// The project's check whose text it is.
    check: Option<Check>,
}

/// Modes, what set them, rules, and what a person allowed.
#[derive(Debug)]
pub struct Policy {
    commands: CommandMode,
    edits: EditMode,
    profile: Profile,
    flag: Option<&'static str>,
    /// Command texts that run unasked in the workspace root, each with its rule as it is printed.
    exact: Vec<(String, String)>,
    grants: Vec<Grant>,
    rules: Vec<Rule>,
    checks: Vec<Check>,
    kept: Option<Kept>,
    builtin: bool,
    closed: Vec<PathBuf>,
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
            rules: Vec::new(),
            checks: Vec::new(),
            kept: None,
            builtin: true,
            closed: Vec::new(),
        }
    }

    /// Allows exactly this command text in the workspace root; `rule` is how the rule is printed.
    pub fn allow_exact(&mut self, command: &str, rule: &str) {
        self.exact.push((command.to_string(), rule.to_string()));
    }

    /// More rules, of a file that was read.
    pub fn add_rules(&mut self, rules: Vec<Rule>) {
        self.rules.extend(rules);
    }

    /// The checks of a project that is trusted.
    pub fn add_checks(&mut self, checks: Vec<Check>) {
        self.checks.extend(checks);
    }

    /// What was kept for this workspace, and where a new yes can be kept.
    pub fn keep_in(&mut self, kept: Kept) {
        self.kept = Some(kept);
    }

    /// Folders of our own that no command may read unasked, even inside the workspace.
    pub fn close(&mut self, folders: Vec<PathBuf>) {
        self.closed = folders;
    }

    /// Nothing passes without a rule: the folders where programs are looked for include one of the workspace.
    pub fn without_builtin(&mut self) {
        self.builtin = false;
    }

    /// Every rule that counts, in no order of weight.
    pub fn rules(&self) -> Vec<Rule> {
        let kept = self.kept.iter().flat_map(|kept| kept.rules().to_vec());
        self.rules.iter().cloned().chain(kept).collect()
    }

    /// What the rules say to a command, part by part.
    pub fn judge(&self, command: &Command) -> Judgement {
        let place = Place::of(command, &self.closed);
        judge::judge(command, &place, &self.rules(), self.builtin)
    }

    /// Judges a command.
    pub fn command(&self, command: Command) -> Verdict<Command> {
        let stop = stops::find(&command.text, &Place::of(&command, &self.closed));
        if let (Some(stop), Profile::Sysadmin) = (&stop, self.profile) {
            let reason = format!(
                "refused: {stop}. Such a command is never run here, whatever was approved. \
                 Use a command that names only what has to change, or explain to the user what to do by hand."
            );
            return denied(command, reason, rule("hard stop"));
        }
        let judgement = self.judge(&command);
        if let Some(rule) = judgement.denied {
            let reason = format!(
                "a rule of the user forbids this command: {rule}. Do not try to reach the same end another way; go on without it, \
                 or tell the user what you would need it for."
            );
            return denied(command, reason, DecidedBy::Rule(rule));
        }
        if self.commands == CommandMode::Deny {
            let reason = format!(
                "commands are denied in this run ({}), so this one was not run. \
                 Work with the other tools, and tell the user which command to run and why.",
                self.flag.unwrap_or("commands=deny")
            );
            return denied(command, reason, self.set_by("commands=deny"));
        }
        match self.standing(&command, &judgement, stop.is_some()) {
            Some(by) => Verdict::Allowed(Approved::new(command, by)),
            None => Verdict::Ask(self.ask_command(command, judgement, stop)),
        }
    }

    /// Judges a command that the user typed. It is its own approval, but a slip of the hand that destroys a machine stays one, in every
    /// profile.
    pub fn own(&self, command: Command) -> Verdict<Command> {
        match stops::find(&command.text, &Place::of(&command, &self.closed)) {
            Some(stop) => {
                let reason = format!(
                    "refused: {stop}. zcoder does not run such a command, whoever typed it; a shell of your own does"
                );
                denied(command, reason, rule("hard stop"))
            }
            None => self.command(command),
        }
    }

    /// What set a mode: the flag, or else this setting.
    fn set_by(&self, setting: &str) -> DecidedBy {
        match self.flag {
            Some(flag) => DecidedBy::Flag(flag.to_string()),
            None => rule(setting),
        }
    }

    /// Judges an edit of all `paths` (a grant counts if it covers each); what `diff` gives is shown in a question; `protected` says why
    /// it asks even under `auto`.
    pub fn edit<T>(
        &self,
        value: T,
        paths: &[&str],
        diff: fn(&T) -> &str,
        protected: Option<&str>,
    ) -> Verdict<T> {
        let granted = |path: &&str| {
            self.grants.iter().any(|grant| match grant {
                Grant::Files(files) => files.iter().any(|file| file == path),
                Grant::Command { .. } => false,
            })
        };
        let shown = || {
            let shown: Vec<String> = paths.iter().map(|path| text::one_line(path)).collect();
            shown.join(", ")
        };
        let allowed = |value, by| Verdict::Allowed(Approved::new(value, by));
        match self.edits {
            EditMode::Deny => {
                let reason = format!(
                    "edits are denied in this run, so {} was not changed. \
                     Tell the user what to change and why, with the new text.",
                    shown()
                );
                denied(value, reason, rule("edits=deny"))
            }
            EditMode::Allow | EditMode::Auto | EditMode::Ask if paths.iter().all(granted) => {
                allowed(value, DecidedBy::Session)
            }
            EditMode::Allow => allowed(value, self.set_by("edits=allow")),
            EditMode::Auto if protected.is_none() => allowed(value, rule("edits=auto")),
            EditMode::Auto | EditMode::Ask => {
                let diff = diff(&value);
                let question = Question::Edit {
                    path: shown(),
                    diff: text::visible(diff).into_owned(),
                    notes: notes::edit(&paths.concat(), diff, protected),
                };
                let files = paths.iter().map(ToString::to_string);
                let offer = Offer {
                    grant: Some(Grant::Files(files.collect())),
                    ..Offer::default()
                };
                Verdict::Ask(Asking::new(value, question, offer))
            }
        }
    }

    /// A person allowed what is asked for the rest of the session: this exact command in this folder, or edits of this
    /// file. Returns false, and keeps nothing, where such a yes is not on offer (`sysadmin` commands).
    pub fn grant<T>(&mut self, asking: &Asking<T>) -> bool {
        match &asking.offered().grant {
            Some(grant) => {
                if !self.grants.contains(grant) {
                    self.grants.push(grant.clone());
                }
                true
            }
            None => false,
        }
    }

    /// A person allowed the offered rules for the rest of the session. Returns false, and keeps nothing, where none are on offer.
    pub fn grant_rules<T>(&mut self, asking: &Asking<T>) -> bool {
        let rules = &asking.offered().rules;
        self.rules.extend(rules.iter().cloned());
        !rules.is_empty()
    }

    /// A person had the offered rules, or the check, kept for this workspace. `Ok(false)` where that is not on offer. After an error nothing
    /// was kept, here or on the disk.
    pub fn keep<T>(&mut self, asking: &Asking<T>) -> io::Result<bool> {
        let Some(kept) = &mut self.kept else {
            return Ok(false);
        };
        let offer = asking.offered();
        match &offer.check {
            Some(check) => kept.accept(check)?,
            None if offer.rules.is_empty() => return Ok(false),
            None => kept.keep(&offer.rules)?,
        }
        Ok(true)
    }

    /// Who allowed this command beforehand, if anybody did. `stopped`: only an exact yes counts, no blanket one.
    fn standing(
        &self,
        command: &Command,
        judgement: &Judgement,
        stopped: bool,
    ) -> Option<DecidedBy> {
        if self.profile == Profile::Sysadmin {
            return None;
        }
        let in_root = command.cwd == command.workspace;
        let mut exact = self.exact.iter();
        if let Some((_, named)) = exact.find(|(text, _)| in_root && *text == command.text) {
            return Some(rule(named));
        }
        if self.grants.contains(&exactly(command)) {
            return Some(DecidedBy::Session);
        }
        if let (Some(check), Some(kept)) = (self.check(command), &self.kept) {
            if kept.accepts(check) {
                let rule = format!("check {} (its exact text was accepted)", check.name);
                return Some(DecidedBy::Rule(rule));
            }
        }
        if stopped || !judgement.asked.is_empty() {
            return None;
        }
        match self.commands {
            CommandMode::Allow => Some(self.set_by("commands=allow")),
            CommandMode::Ask if judgement.passes() => Some(DecidedBy::Rule(judgement.rules())),
            CommandMode::Ask | CommandMode::Deny => None,
        }
    }

    /// The check whose text this is, in the root.
    fn check(&self, command: &Command) -> Option<&Check> {
        let in_root = command.cwd == command.workspace;
        self.checks
            .iter()
            .find(|check| in_root && check.text == command.text)
    }

    fn ask_command(
        &self,
        command: Command,
        judgement: Judgement,
        stop: Option<String>,
    ) -> Asking<Command> {
        let place = Place::of(&command, &self.closed);
        let mut notes = notes::command(&command, &place);
        let mut reasons = judgement.asked;
        let doubts = judgement.doubts.iter();
        reasons.extend(doubts.map(|doubt| format!("not understood: {doubt}")));
        let check = self.check(&command);
        if let Some(check) = check {
            let name = text::one_line(&check.name);
            reasons.push(format!("the project's check `{name}`, not accepted yet"));
        }
        // A rule does not get around a stop, nor the profile that asks for each command.
        let coding = self.profile == Profile::Coding;
        let rules = match &stop {
            None if coding && check.is_none() => judgement.offers,
            None | Some(_) => Vec::new(),
        };
        if let Some(stop) = stop {
            notes.insert(0, format!("danger: {stop}"));
        }
        notes.extend(rules.iter().filter_map(Rule::warning));
        let check = check.filter(|_| coding).cloned();
        let shown = |rule: &Rule| text::visible(&rule.to_string()).into_owned();
        let lines = match &check {
            Some(check) => vec![format!("check {}", text::one_line(&check.name))],
            None => rules.iter().map(shown).collect(),
        };
        let one_lines = |texts: &[String]| texts.iter().map(|text| text::one_line(text)).collect();
        let part = |part: &judge::Part| CommandPart {
            text: text::visible(&part.text).into_owned(),
            ruling: text::one_line(&part.ruling.to_string()),
        };
        let question = Question::Command {
            command: text::visible(&command.text).into_owned(),
            cwd: text::one_line(&command.shown_cwd),
            timeout_seconds: command.timeout.as_secs(),
            wrapper: one_lines(&command.wrapper),
            parts: judgement.parts.iter().map(part).collect(),
            reasons: one_lines(&reasons),
            notes,
            offers: Offers {
                exact: coding,
                session: !rules.is_empty(),
                keep: !lines.is_empty() && self.kept.is_some(),
                rules: lines,
            },
        };
        let offer = Offer {
            grant: coding.then(|| exactly(&command)),
            rules,
            check,
        };
        Asking::new(command, question, offer)
    }
}

/// A yes to this text in this folder.
fn exactly(command: &Command) -> Grant {
    Grant::Command {
        text: command.text.clone(),
        cwd: command.cwd.clone(),
    }
}

fn denied<T>(value: T, reason: String, by: DecidedBy) -> Verdict<T> {
    Verdict::Denied { value, reason, by }
}

fn rule(text: &str) -> DecidedBy {
    DecidedBy::Rule(text.to_string())
}
