//! From a reply's calls to their results: each call is checked, judged, carried out and answered, in order.
//!
//! ```text
//! ToolCall ─ Guidance::call ─▶ Outcome                                             a tool of Skills
//! ToolCall ─ tools::check ─▶ Call ─ Toolbox::prepare ─▶ Outcome                      it only looked, or refused
//!                                                   ├─▶ Look    ─▶ worker, await_tool
//!                                                   ├─▶ Edit    ─ permit ─▶ Approved<Edit>    ─▶ apply
//!                                                   ├─▶ Command ─ permit ─▶ Approved<Command> ─▶ worker, await_tool
//!                                                   └─▶ Finish                        the turn is over
//! ```
//!
//! Invariant: whatever ends the turn in the middle, each call of the reply has one result in the log, in order, before the turn ends.
//! Invariant: a command or an edit happens only with an `Approved`, which `policy` makes.
use super::decide::TurnEnd;
use super::guard::{self, Repeat};
use super::permit::{Done, Permit};
use super::prompt;
use super::save;
use super::turn::{Engine, Flow, Turn};
use super::worker::{self, News, Touched};
use crate::diff;
use crate::policy::{Approved, Command, Verdict};
use crate::protocol::{
    Doing, Event, Facts, JournalRecord, Level, Message, Note, Stage, Status, ToolCall, ToolOutcome,
    ToolStatus,
};
use crate::session::Record;
use crate::text;
use crate::tools::{self, Call, Edit, Finish, Look, Prepared};
use std::io;
use std::sync::Arc;

/// Characters of an argument in a summary.
const SUMMARY_CHARS: usize = 100;
/// To the calls behind one that was made too often in one reply.
const ENOUGH: &str = "not run: this reply repeats itself; look at the results of its first calls";

impl Engine {
    /// All calls of one reply.
    pub(super) fn run_calls(&mut self, turn: &mut Turn, calls: &[ToolCall]) -> Flow<()> {
        let alone = calls.len() == 1;
        let mut end = None;
        turn.enough = false;
        for call in calls {
            if end.is_none() {
                end = self.catch_up(turn).err();
            }
            match &end {
                None if turn.enough => self.skip(call, ENOUGH),
                None => end = self.run_one(turn, call, alone).err(),
                Some(why) => self.skip(call, not_run(why)),
            }
        }
        self.tell_nearer();
        if let Some(end) = end {
            return Err(end);
        }
        // Nothing may stand between the results of one reply, so the note waits until here.
        if let Some(cycle) = turn.loop_note.take() {
            let what = guard::describe(cycle);
            let times = guard::NOTE_AT;
            self.notice(
                Level::Warning,
                format!("the model made {what} {times} times with the same result; it was told so"),
            );
            self.append(prompt::note(Note::Loop, &guard::note(cycle)));
            turn.guard.told();
        }
        Ok(())
    }

    fn run_one(&mut self, turn: &mut Turn, call: &ToolCall, alone: bool) -> Flow<()> {
        turn.tally.calls += 1;
        let checked = match self.guidance.call(call) {
            Some(outcome) => Err(outcome),
            None => tools::check(call, self.guidance.offer().names()),
        };
        let summary = match &checked {
            Ok(checked) => summary(&checked.call),
            Err(_) => text::clip(&call.name, SUMMARY_CHARS).into_owned(),
        };
        let is_edit = checked.as_ref().is_ok_and(|checked| edits(&checked.call));
        let call_started = Event::CallStarted {
            call: call.clone(),
            summary: summary.clone(),
        };
        self.emit(call_started);
        self.doing = Doing::Running(vec![summary]);
        let (outcome, end) = match checked {
            Err(outcome) => (outcome, None),
            Ok(checked) => {
                let (mut outcome, end) = self.carry_out(turn, call, checked.call, alone);
                for said in checked.said.iter().rev() {
                    outcome.text.insert_str(0, &format!("{said}\n"));
                }
                (outcome, end)
            }
        };
        self.doing = Doing::Between;
        let repeat = turn.guard.observe(call, &outcome);
        turn.tally.ended(&outcome);
        let end = end.or_else(|| self.watch_goal(turn, is_edit, &outcome).err());
        self.record_result(call, &outcome);
        // Nothing comes of a result that is not safe; one that ends the turn is saved with the turn.
        let end = end.or_else(|| self.save().err());
        self.tell_result(call, outcome);
        match (end, repeat) {
            (Some(end), _) => Err(end),
            (None, Repeat::No) => Ok(()),
            (None, Repeat::Note { cycle }) => {
                turn.loop_note = Some(cycle);
                Ok(())
            }
            (None, Repeat::Enough) => {
                turn.enough = true;
                Ok(())
            }
            (None, Repeat::Stop { cycle, times }) => self.ask_about_loop(turn, cycle, times),
        }
    }

    /// A call that is not taken up.
    fn skip(&mut self, call: &ToolCall, why: &str) {
        let summary = text::clip(&call.name, SUMMARY_CHARS).into_owned();
        let call_started = Event::CallStarted {
            call: call.clone(),
            summary,
        };
        self.emit(call_started);
        let outcome = cancelled(why);
        self.record_result(call, &outcome);
        self.tell_result(call, outcome);
    }

    /// The call's one result.
    pub(super) fn record_result(&mut self, call: &ToolCall, outcome: &ToolOutcome) {
        self.append(Message::Tool {
            call: call.id.clone(),
            name: call.name.clone(),
            text: outcome.text.clone(),
        });
    }

    pub(super) fn tell_result(&mut self, call: &ToolCall, outcome: ToolOutcome) {
        self.tap.see(&Stage::Outcome(&outcome));
        self.emit(Event::CallEnded {
            call: call.id.clone(),
            name: call.name.clone(),
            outcome,
        });
        self.tell_touched(&call.id);
    }

    fn carry_out(&mut self, turn: &Turn, call: &ToolCall, checked: Call, alone: bool) -> Done {
        let prepared = self.toolbox.prepare(checked);
        match prepared {
            Prepared::Outcome(outcome) => {
                if self.tap.is_on() {
                    let words = match outcome.status {
                        ToolStatus::Ok => format!("{}: only looks, no approval needed", call.name),
                        ToolStatus::Failed | ToolStatus::Denied | ToolStatus::Cancelled => {
                            format!("{}: refused by the tool itself", call.name)
                        }
                    };
                    self.tap.see(&Stage::Verdict(&words));
                }
                (outcome, None)
            }
            Prepared::Look(look) => self.look(turn, call, look),
            Prepared::Finish { status, response } if alone => {
                let (mut outcome, end) = finish(status, response);
                if turn.goal.is_some() && status == Finish::Done {
                    outcome.text = "taken as a claim: a verifier looks at it now".to_string();
                }
                (outcome, end)
            }
            Prepared::Finish { .. } => {
                let text = "not finished: call finish_task alone, in a reply of its own, after you have seen the results of your other calls";
                (failed(text), None)
            }
            Prepared::Edit(edit) => self.edit(turn, call, edit),
            Prepared::Command(command) => self.command(turn, call, command),
        }
    }

    /// On a worker, so that a cancel is heard while it runs.
    pub(super) fn look(&mut self, turn: &Turn, call: &ToolCall, look: Look) -> Done {
        if self.tap.is_on() {
            let words = format!("{}: only looks, no approval needed", call.name);
            self.tap.see(&Stage::Verdict(&words));
        }
        let job = self.next_job();
        let cancel = turn.cancel.clone();
        let work = move |_: &_| News::Ran {
            job,
            outcome: look.run(&cancel),
            touched: Touched::Unknown,
        };
        match self.worker.start(job, work) {
            Ok(()) => self.await_tool(turn, job, &call.id),
            Err(error) => (
                failed(&format!("no thread for {}: {error}", call.name)),
                None,
            ),
        }
    }

    fn edit(&mut self, turn: &Turn, call: &ToolCall, edit: Edit) -> Done {
        let paths: Vec<String> = edit.paths().into_iter().map(String::from).collect();
        let diff = edit.diff().to_string();
        let verdict = edit.judge(&self.policy);
        let refused = matches!(verdict, Verdict::Denied { .. });
        if let (false, Some(why)) = (refused, self.hold_for_guidance(&paths)) {
            return (failed(&why), None);
        }
        let approved = match self.permit(turn, call, verdict, &diff, &paths.join(", ")) {
            Permit::Yes(approved) => approved,
            Permit::No(done) => return done,
        };
        let Some(conversation) = &mut self.conversation else {
            return (failed("no session is open"), None);
        };
        let (log, journal) = (&mut conversation.log, &mut self.journal);
        let mut told = Vec::new();
        let mut record = |record: &dyn Fn() -> JournalRecord, old: &[u8]| {
            let record = record();
            journal.edit(&record, old)?;
            log.append(Record::Edit((&record).into()));
            told.extend(save::commit(log).map_err(io::Error::other)?);
            Ok(())
        };
        let outcome = self.toolbox.apply(approved, &mut record);
        told.into_iter().for_each(|event| self.emit(event));
        self.journal_notices();
        (outcome, None)
    }

    fn command(&mut self, turn: &Turn, call: &ToolCall, command: Command) -> Done {
        let shown = command.text.clone();
        let verdict = self.policy.command(command);
        let approved = match self.permit(turn, call, verdict, &shown, &shown) {
            Permit::Yes(approved) => approved,
            Permit::No(done) => return done,
        };
        self.run_approved(turn, call, approved, &shown)
    }

    /// On a worker, once it is on record.
    pub(super) fn run_approved(
        &mut self,
        turn: &Turn,
        call: &ToolCall,
        approved: Approved<Command>,
        shown: &str,
    ) -> Done {
        if let Err(end) = self.save() {
            let text = "not run: the session could not be saved";
            return (cancelled(text), Some(end));
        }
        self.tell_consumed();
        let running = self.toolbox.start(approved);
        let job = self.next_job();
        let cancel = turn.cancel.clone();
        let look = self
            .looks
            .then(|| self.toolbox.workspace().root().to_path_buf());
        let work = move |inbox: &_| worker::run_command(running, look, &cancel, job, inbox);
        match self.worker.start(job, work) {
            Ok(()) => {
                let done = self.await_tool(turn, job, &call.id);
                self.note_touched(shown);
                done
            }
            Err(error) => (failed(&format!("no thread for the command: {error}")), None),
        }
    }
}

/// To the calls behind the end of the turn.
fn not_run(why: &TurnEnd) -> &'static str {
    match &why.status {
        Status::Cancelled => "not run: the user stopped the turn before this call",
        Status::Done
        | Status::Blocked
        | Status::Failed
        | Status::ServerFailed { .. }
        | Status::Unusable { .. }
        | Status::NeedsApproval { .. }
        | Status::NotSaved { .. }
        | Status::Limit { .. } => "not run: the turn ended before this call",
    }
}

fn finish(status: Finish, response: String) -> Done {
    let status = match status {
        Finish::Done => Status::Done,
        Finish::Blocked => Status::Blocked,
        Finish::Failed => Status::Failed,
    };
    let end = TurnEnd {
        answer: Arc::new(response),
        ..TurnEnd::new(status)
    };
    let outcome = ToolOutcome {
        status: ToolStatus::Ok,
        text: "the turn is over".to_string(),
        facts: Facts::None,
    };
    (outcome, Some(end))
}

fn outcome(status: ToolStatus, text: &str) -> ToolOutcome {
    ToolOutcome {
        status,
        text: text.to_string(),
        facts: Facts::None,
    }
}

pub(super) fn failed(text: &str) -> ToolOutcome {
    outcome(ToolStatus::Failed, text)
}

pub(super) fn denied(text: &str) -> ToolOutcome {
    outcome(ToolStatus::Denied, text)
}

pub(super) fn cancelled(text: &str) -> ToolOutcome {
    outcome(ToolStatus::Cancelled, text)
}

/// What a call is about: the file that was read, whichever lines of it; the command.
pub(super) fn subject(call: &ToolCall) -> String {
    match tools::check(call, &[]) {
        Ok(checked) => match &checked.call {
            Call::ReadFile { path, .. } => format!("read_file {}", text::clip(path, SUMMARY_CHARS)),
            other => summary(other),
        },
        Err(_) => text::clip(&call.name, SUMMARY_CHARS).into_owned(),
    }
}

/// Whether a call is to change a file.
fn edits(call: &Call) -> bool {
    match call {
        Call::WriteFile { .. } | Call::ReplaceText { .. } | Call::ApplyPatch { .. } => true,
        Call::ListFiles { .. }
        | Call::ReadFile { .. }
        | Call::SearchText { .. }
        | Call::RunCommand { .. }
        | Call::FinishTask { .. } => false,
    }
}

/// One line for people: the tool and the argument that matters.
fn summary(call: &Call) -> String {
    let short = |text: &str| {
        let line = text.lines().next().unwrap_or_default();
        let clipped = text::clip(line, SUMMARY_CHARS);
        let more = if line.len() < text.trim_end().len() {
            " …"
        } else {
            ""
        };
        format!("{clipped}{more}")
    };
    match call {
        Call::ListFiles { path, .. } => {
            let path = path.as_deref().unwrap_or(".");
            format!("list_files {}", short(path))
        }
        Call::ReadFile {
            path,
            start_line,
            end_line,
        } => match (start_line, end_line) {
            (None, None) => format!("read_file {}", short(path)),
            (Some(start), Some(end)) => format!("read_file {} lines {start}-{end}", short(path)),
            (Some(start), None) => format!("read_file {} from line {start}", short(path)),
            (None, Some(end)) => format!("read_file {} to line {end}", short(path)),
        },
        Call::SearchText { pattern, path, .. } => match path {
            None => format!("search_text {}", short(pattern)),
            Some(path) => format!("search_text {} in {}", short(pattern), short(path)),
        },
        Call::WriteFile { path, content } => {
            format!("write_file {} ({} bytes)", short(path), content.len())
        }
        Call::ReplaceText { path, .. } => format!("replace_text {}", short(path)),
        Call::ApplyPatch { patch, path } => {
            let mut files = diff::mentioned(patch.as_bytes());
            files.extend(path.clone().filter(|_| files.is_empty()));
            match &files[..] {
                [] => "apply_patch".to_string(),
                [file] => format!("apply_patch {}", short(file)),
                [file, more @ ..] => format!("apply_patch {} and {} more", short(file), more.len()),
            }
        }
        Call::RunCommand { command, .. } => format!("run_command {}", short(command)),
        Call::FinishTask { status, .. } => {
            let status = match status {
                Finish::Done => "done",
                Finish::Blocked => "blocked",
                Finish::Failed => "failed",
            };
            format!("finish_task {status}")
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(call: &Call, expected: &str) {
        assert_eq!(summary(call), expected);
    }

    #[test]
    fn a_summary_is_one_line_with_the_argument_that_matters() {
        let read = |start_line, end_line| Call::ReadFile {
            path: "a.rs".to_string(),
            start_line,
            end_line,
        };
        check(&read(None, None), "read_file a.rs");
        check(&read(Some(3), Some(9)), "read_file a.rs lines 3-9");
        check(&read(Some(3), None), "read_file a.rs from line 3");
        check(&read(None, Some(9)), "read_file a.rs to line 9");
        let run = |command: &str| Call::RunCommand {
            command: command.to_string(),
            cwd: None,
            timeout_seconds: None,
        };
        check(&run("make\n"), "run_command make");
        check(&run("make\nmake test"), "run_command make …");
        let long = format!("run_command {}…", "x".repeat(SUMMARY_CHARS - 1));
        check(&run(&"x".repeat(SUMMARY_CHARS + 1)), &long);
        let write = Call::WriteFile {
            path: "n.txt".to_string(),
            content: "é".to_string(),
        };
        check(&write, "write_file n.txt (2 bytes)");
    }
}
