//! `zcoder tool NAME JSON`: one tool, run as the agent would run it (argument check, policy, approval, the tool itself), without a model.
//! What the model would be told is on standard output.
//!
//! ```text
//! $ zcoder tool read_file '{"path":"README.md"}'            the file
//! $ zcoder tool run_command '{"command":"make"}' --yes      exit status, head and tail of the output
//! $ zcoder tool replace_text '{"path":"a.c",…}' --edits ask  the diff on the terminal, then y
//! ```
//!
//! Invariant: the order is check, prepare, policy, approval, act; `Approved` is the only way to the last.
//! Invariant: exit code 0 the tool did it (whatever a command's own exit code), 1 it failed or was refused, 2 the JSON is not an
//! object, 4 nobody could be asked, 130 interrupted, 128 + n another signal.
//!
//! Read next: `tools/mod.rs`.

use super::run::{STDIN_BYTES, read_stdin};
use super::scope::Scope;
use super::undo;
use crate::config::{Id, Source, Typed, UsageError, git, settings, utf8};
use crate::guidance::Guidance;
use crate::headless::out::{complain, exit, note, with_stdout};
use crate::headless::{self, ask, status_word};
use crate::json::{Kind, Tree};
use crate::policy::{Approved, Policy, Verdict};
use crate::protocol::{CallId, Decision, Facts, JournalRecord, ToolCall, ToolOutcome, ToolStatus};
use crate::session::SessionId;
use crate::sys::signal::{self, Signal};
use crate::sys::tty::Tty;
use crate::sys::{Cancel, process, random};
use crate::text;
use crate::tools::{self, Prepared, Toolbox};
use crate::undo::Journal;
use std::ffi::OsString;
use std::io::{self, IsTerminal, Write};
use std::sync::{Arc, OnceLock};
use std::time::SystemTime;

/// Characters of a command in the message that it needs an approval.
const NAMED_CHARS: usize = 200;

/// Why there is no outcome.
enum Stop {
    Refused(String),
    /// Nobody to ask about this.
    Nobody(String),
    Cancelled,
}

/// Runs it; the exit code.
pub(super) fn run(typed: &Typed, words: &[OsString; 2]) -> Result<u8, UsageError> {
    let [name, arguments] = words;
    let mut scope = Scope::find(typed)?;
    let call = ToolCall {
        id: CallId("call_1".to_string()),
        name: utf8(name, "the tool's name")?.to_string(),
        arguments: read_arguments(arguments)?,
    };
    scope.say_unused(false);
    scope.add_project()?;
    let permissions = scope.permissions()?;
    let limits = settings::tool_limits(&scope.typed)?;
    let policy = super::policy::build(&scope, permissions);
    let guidance = Guidance::gather(scope.places());
    let ids = random::id(12).and_then(|id| Ok((id, SessionId::new(SystemTime::now())?)));
    let (outputs, session) = match ids {
        Ok((id, session)) => (scope.paths.temp.join(format!("zcoder-{id}")), session),
        Err(error) => return Ok(failed(&error)),
    };
    let mut journal = undo::journal(&scope.paths, scope.root(), &session.0);
    journal.begin_turn(1, &format!("zcoder tool {}", call.name));
    let toolbox = Toolbox::new(scope.workspace, limits, outputs, true)
        .with_ignore_rules(git::ignore_rules(&scope.paths));
    let (cancel, first) = match watch_signals() {
        Ok(watch) => watch,
        Err(error) => return Ok(failed(&error)),
    };
    let mut act = Act {
        toolbox,
        policy,
        cancel,
        deny: permissions.deny_questions,
        journal,
        guidance,
    };
    let code = report(act.call(&call), typed.is_on(Id::Yes));
    Ok(match first.get() {
        Some(signal) if code == exit::INTERRUPTED => headless::signal_code(*signal),
        _ => code,
    })
}

fn failed(error: &io::Error) -> u8 {
    complain(&error.to_string());
    exit::FAILED
}

/// `-` reads them from standard input: a file's content may be longer than an argument can be.
fn read_arguments(word: &OsString) -> Result<Tree, UsageError> {
    let bytes = match word == "-" {
        true => read_stdin(64 * STDIN_BYTES, None)?,
        false => utf8(word, "the tool's arguments")?.as_bytes().to_vec(),
    };
    let bad = |expected: String| UsageError::BadValue {
        source: Source::Flag("zcoder tool"),
        value: text::clip(&text::repair(&bytes), 80).into_owned(),
        expected,
    };
    let tree = Tree::parse_strict(&bytes).map_err(|error| {
        let (line, column) = error.line_column(&bytes);
        bad(format!(
            "one JSON object; line {line}, column {column}: {error}"
        ))
    })?;
    match tree.root().kind() {
        Kind::Object => Ok(tree),
        Kind::Array | Kind::String | Kind::Number | Kind::Bool | Kind::Null => Err(bad(
            "one JSON object, such as {\"path\":\"README.md\"}".to_string(),
        )),
    }
}

/// The first signal cancels, the next one ends the program. The cell tells which signal was the first.
fn watch_signals() -> io::Result<(Cancel, Arc<OnceLock<Signal>>)> {
    let (cancel, first) = (Cancel::new()?, Arc::new(OnceLock::new()));
    let (watched, told) = (cancel.clone(), Arc::clone(&first));
    signal::watch(Box::new(move |signal| {
        if told.set(signal).is_err() {
            process::end_all();
            std::process::exit(128 + signal.number());
        }
        watched.cancel();
    }))?;
    Ok((cancel, first))
}

struct Act {
    toolbox: Toolbox,
    policy: Policy,
    cancel: Cancel,
    deny: bool,
    journal: Journal,
    guidance: Guidance,
}

impl Act {
    fn call(&mut self, call: &ToolCall) -> Result<ToolOutcome, Stop> {
        if let Some(outcome) = self.guidance.call(call) {
            return Ok(outcome);
        }
        let checked = match tools::check(call, self.guidance.offer().names()) {
            Ok(checked) => checked,
            Err(outcome) => return Ok(outcome),
        };
        for said in &checked.said {
            note(&format!("zcoder: {said}"));
        }
        match self.toolbox.prepare(checked.call) {
            Prepared::Outcome(outcome) => Ok(outcome),
            Prepared::Look(look) => Ok(look.run(&self.cancel)),
            Prepared::Edit(edit) => {
                let what = format!("{}: {}", call.name, edit.paths().join(", "));
                let approved = self.approve(&what, edit.judge(&self.policy))?;
                let journal = &mut self.journal;
                let mut keep =
                    |record: &dyn Fn() -> JournalRecord, old: &[u8]| match journal.is_on() {
                        true => journal.edit(&record(), old),
                        false => Ok(()),
                    };
                let outcome = self.toolbox.apply(approved, &mut keep);
                journal.notices().iter().for_each(|text| complain(text));
                Ok(outcome)
            }
            Prepared::Command(command) => {
                let what = format!("{}: {}", call.name, command.text);
                let approved = self.approve(&what, self.policy.command(command))?;
                let running = self.toolbox.start(approved);
                Ok(running.wait(&self.cancel, &mut |_| {}))
            }
            Prepared::Finish { response, .. } => Ok(ToolOutcome {
                status: ToolStatus::Ok,
                text: response,
                facts: Facts::None,
            }),
        }
    }

    /// The ticket, by the policy or by a person.
    fn approve<T>(&mut self, what: &str, verdict: Verdict<T>) -> Result<Approved<T>, Stop> {
        let asking = match verdict {
            Verdict::Allowed(approved) => return Ok(approved),
            Verdict::Denied { reason, .. } => return Err(Stop::Refused(reason)),
            Verdict::Ask(asking) => asking,
        };
        if self.deny {
            return Err(Stop::Refused("refused by --deny-commands".to_string()));
        }
        let nobody = || Stop::Nobody(text::clip(&text::visible(what), NAMED_CHARS).into_owned());
        let tty = Tty::open().ok_or_else(nobody)?;
        match ask::ask(&tty, asking.question(), &self.cancel) {
            Some(Decision::Once | Decision::Session | Decision::SessionRule) => Ok(asking.accept()),
            Some(Decision::KeptRule) => {
                if let Err(error) = self.policy.keep(&asking) {
                    note(&format!("zcoder: the rule could not be kept: {error}"));
                }
                Ok(asking.accept())
            }
            Some(Decision::Deny { reason }) => {
                let reason = reason.unwrap_or_else(|| "refused on the terminal".to_string());
                Err(Stop::Refused(reason))
            }
            Some(Decision::Nobody) => Err(nobody()),
            None => Err(Stop::Cancelled),
        }
    }
}

fn report(done: Result<ToolOutcome, Stop>, yes: bool) -> u8 {
    let outcome = match done {
        Ok(outcome) => outcome,
        Err(Stop::Refused(reason)) => {
            complain(&format!("not done: {reason}"));
            return exit::FAILED;
        }
        Err(Stop::Nobody(what)) => {
            complain(&headless::needs_approval(&what, yes));
            return exit::NOBODY;
        }
        Err(Stop::Cancelled) => return exit::INTERRUPTED,
    };
    let code = match outcome.status {
        ToolStatus::Ok => exit::DONE,
        ToolStatus::Failed | ToolStatus::Denied => exit::FAILED,
        ToolStatus::Cancelled => exit::INTERRUPTED,
    };
    if outcome.status != ToolStatus::Ok {
        complain(&format!(
            "the tool's result is: {}",
            status_word(outcome.status)
        ));
    }
    let mut text = match io::stdout().is_terminal() {
        true => text::plain(&outcome.text).into_owned(),
        false => outcome.text,
    };
    if !text.is_empty() && !text.ends_with('\n') {
        text.push('\n');
    }
    with_stdout(|out| {
        out.write_all(text.as_bytes())?;
        Ok(code)
    })
}
