//! What a turn came to: the tally is fed with every outcome and reply, and becomes the receipt at the end.
//!
//! ```text
//! replace_text src/a.c +2 −1, replace_text src/a.c +1 −1, run_command ctest exit 8, "All done!"
//!   files      src/a.c +3 −2
//!   commands   ctest (exit 8)
//!   verdict    model says done; last command failed: ctest (exit 8)
//! ```
//!
//! Invariant: the verdict of a turn that ended well repeats what the model claims only beside what was seen to happen.
use super::decide::TurnEnd;
use crate::protocol::{CommandRun, Facts, FileChange, Receipt, Status, ToolOutcome, Usage};
use crate::text;
use std::time::{Duration, Instant};

/// Characters of a command in a verdict.
const COMMAND_CHARS: usize = 60;

/// Sums of one turn.
#[derive(Debug)]
pub(super) struct Tally {
    started: Instant,
    files: Vec<FileChange>,
    commands: Vec<CommandRun>,
    pub(super) calls: u64,
    pub(super) requests: u64,
    prompt_tokens: u64,
    output_tokens: u64,
    output_time: Duration,
    /// A person's own command: nobody claims anything.
    pub(super) own: bool,
}

impl Tally {
    /// Nothing yet.
    pub(super) fn new(started: Instant) -> Tally {
        Tally {
            started,
            files: Vec::new(),
            commands: Vec::new(),
            calls: 0,
            requests: 0,
            prompt_tokens: 0,
            output_tokens: 0,
            output_time: Duration::ZERO,
            own: false,
        }
    }

    /// Files changed so far.
    pub(super) fn files(&self) -> &[FileChange] {
        &self.files
    }

    /// Takes a reply's counters.
    pub(super) fn replied(&mut self, usage: &Usage) {
        let add = |sum: &mut u64, n: Option<u64>| *sum = sum.saturating_add(n.unwrap_or(0));
        add(&mut self.prompt_tokens, usage.prompt_tokens);
        add(&mut self.output_tokens, usage.output_tokens);
        let time = usage.output_time.unwrap_or(Duration::ZERO);
        self.output_time = self.output_time.saturating_add(time);
    }

    /// Takes a call's outcome.
    pub(super) fn ended(&mut self, outcome: &ToolOutcome) {
        match &outcome.facts {
            Facts::None | Facts::Read { .. } => {}
            Facts::Edited { files, diff: _ } => files.iter().for_each(|file| self.changed(file)),
            Facts::Ran {
                command,
                exit,
                elapsed,
                output: _,
                child_left: _,
                lines: _,
            } => self.commands.push(CommandRun {
                command: command.clone(),
                exit: *exit,
                elapsed: *elapsed,
            }),
        }
    }

    fn changed(&mut self, change: &FileChange) {
        match self.files.iter_mut().find(|file| file.path == change.path) {
            Some(file) => {
                file.added += change.added;
                file.removed += change.removed;
                file.deleted = change.deleted;
                file.executable = change.executable.or(file.executable);
            }
            None => self.files.push(change.clone()),
        }
    }

    /// The end.
    pub(super) fn receipt(self, end: TurnEnd) -> Receipt {
        let verdict = self.verdict(&end);
        Receipt {
            status: end.status,
            cut: end.cut.map(Box::new),
            answer: end.answer,
            verdict,
            files: self.files,
            commands: self.commands,
            calls: self.calls,
            requests: self.requests,
            elapsed: self.started.elapsed(),
            prompt_tokens: self.prompt_tokens,
            output_tokens: self.output_tokens,
            output_time: self.output_time,
            counted: None,
        }
    }

    fn verdict(&self, end: &TurnEnd) -> String {
        match &end.status {
            Status::Done => match self.doubt(&end.answer) {
                Some(doubt) => format!("model says done; {doubt}"),
                None => "done".to_string(),
            },
            Status::Blocked => "model says blocked".to_string(),
            Status::Failed => match &end.why {
                Some(why) => format!("failed: {why}"),
                None => "model says failed".to_string(),
            },
            Status::ServerFailed { reason } => format!("model server failed: {reason}"),
            Status::Unusable { reason } => reason.clone(),
            Status::NeedsApproval { what } => {
                format!("an approval was needed and nobody could answer: {what}")
            }
            Status::Limit { which } => format!("stopped by a limit: {which}"),
            Status::NotSaved { reason } => format!("not saved: {reason}"),
            Status::Cancelled => "cancelled".to_string(),
        }
    }

    /// What speaks against a claimed success.
    fn doubt(&self, answer: &str) -> Option<String> {
        if self.own {
            return None;
        }
        let failed = self.commands.last().filter(|run| run.exit != Some(0));
        if let Some(run) = failed {
            let command = text::visible(run.command.trim());
            let command =
                text::clip(command.lines().next().unwrap_or_default(), COMMAND_CHARS).into_owned();
            return Some(match run.exit {
                Some(code) => format!("last command failed: {command} (exit {code})"),
                None => format!("last command was ended early: {command}"),
            });
        }
        // Searched for before an answer of megabytes is read line by line.
        let begins = |line: &str| line.trim_start().starts_with("```");
        let has_code = text::holds(answer, "```") && answer.lines().any(begins);
        (has_code && self.files.is_empty()).then(|| "nothing was changed".to_string())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::protocol::ToolStatus;
    use std::sync::Arc;

    fn outcome(facts: Facts) -> ToolOutcome {
        ToolOutcome {
            status: ToolStatus::Ok,
            text: String::new(),
            facts,
        }
    }

    fn edited(path: &str, added: u64, removed: u64, created: bool) -> ToolOutcome {
        outcome(Facts::Edited {
            files: vec![FileChange {
                path: path.to_string(),
                added,
                removed,
                created,
                deleted: false,
                executable: None,
            }],
            diff: String::new(),
        })
    }

    fn ran(command: &str, exit: Option<i32>) -> ToolOutcome {
        outcome(Facts::Ran {
            command: command.to_string(),
            exit,
            elapsed: Duration::ZERO,
            output: None,
            child_left: false,
            lines: 0,
        })
    }

    fn end(status: Status, answer: &str) -> TurnEnd {
        TurnEnd {
            answer: Arc::new(answer.to_string()),
            ..TurnEnd::new(status)
        }
    }

    #[track_caller]
    fn check(outcomes: &[ToolOutcome], end: TurnEnd, expected: &str) {
        let mut tally = Tally::new(Instant::now());
        outcomes.iter().for_each(|outcome| tally.ended(outcome));
        assert_eq!(tally.receipt(end).verdict, expected);
    }

    #[test]
    fn a_claim_of_success_is_held_against_what_happened() {
        let done = |answer| end(Status::Done, answer);
        let code = "do this:\n```sh\nx\n```";
        check(&[], done("hello"), "done");
        check(
            &[ran("make", Some(0)), ran("ctest", Some(8))],
            done("all good"),
            "model says done; last command failed: ctest (exit 8)",
        );
        check(
            &[ran("ctest", Some(8)), ran("ctest", Some(0))],
            done("ok"),
            "done",
        );
        check(
            &[ran("sleep 9\necho", None)],
            done("ok"),
            "model says done; last command was ended early: sleep 9",
        );
        check(&[], done(code), "model says done; nothing was changed");
        check(&[edited("a", 1, 0, true)], done(code), "done");
    }

    #[test]
    fn every_status_has_its_line() {
        let reason = "why".to_string();
        let what = "x".to_string();
        let which = "y".to_string();
        check(&[], end(Status::Blocked, ""), "model says blocked");
        check(&[], end(Status::Failed, ""), "model says failed");
        let why = Some("gave no answer".to_string());
        check(
            &[],
            TurnEnd {
                why,
                ..end(Status::Failed, "")
            },
            "failed: gave no answer",
        );
        check(
            &[],
            end(
                Status::ServerFailed {
                    reason: reason.clone(),
                },
                "",
            ),
            "model server failed: why",
        );
        check(&[], end(Status::Unusable { reason }, ""), "why");
        check(
            &[],
            end(Status::NeedsApproval { what }, ""),
            "an approval was needed and nobody could answer: x",
        );
        check(
            &[],
            end(Status::Limit { which }, ""),
            "stopped by a limit: y",
        );
        check(&[], end(Status::Cancelled, ""), "cancelled");
    }

    #[test]
    fn changes_of_one_file_are_summed() {
        let mut tally = Tally::new(Instant::now());
        tally.ended(&edited("a", 2, 1, true));
        tally.ended(&edited("b", 1, 1, false));
        tally.ended(&edited("a", 1, 2, false));
        let file = |path: &str, added, removed, created| FileChange {
            path: path.to_string(),
            added,
            removed,
            created,
            deleted: false,
            executable: None,
        };
        let files = tally.receipt(end(Status::Done, "")).files;
        assert_eq!(files, [file("a", 3, 3, true), file("b", 1, 1, false)]);
    }
}
