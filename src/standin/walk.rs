//! Carries a plan out: a conversation in, the next answer out. Pure.
//!
//! The stand-in keeps nothing between requests, as a model does not. At each request the plan is walked again from its start:
//! `Walk::call` gives a call's result if the conversation holds one, and else stops the walk with that call as the answer.
//!
//! ```text
//! plan [Read a, Run t]   done []                → answer: call read_file a
//!                        done [read_file]       → answer: call run_command t
//!                        done [read_file, run]  → answer: text about both results
//! ```
//!
//! So the steps below read like a program that waits for its calls, and a step may look at earlier results (a failing test is read,
//! mended and run again).
//!
//! As the verifier of a goal (the client's system message says so) it looks for a test, and demands that its last run passed; as the worker it does
//! what a verifier demanded after the sentences of the goal.
//!
//! Asked for a checkpoint, because the conversation grew too long, it writes one; calls that the client left out since count as done,
//! though nothing can be said of their results.
//!
//! Invariant: the answer depends on the conversation alone, and says nothing about a result that the result does not say.
//!
//! Next: `sentences.rs` makes the plan, `request.rs` the conversation, `records.rs` sends the answer.

use super::project;
use super::sentences::{EXAMPLES, Step, TEST, plan};
use crate::json::Writer;
use crate::text::counted;
use std::borrow::Cow;

/// Entries of one list in a checkpoint.
const LIST_ENTRIES: usize = 4;

/// A call as the stand-in makes it: all arguments are texts.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Call {
    /// The tool.
    pub name: &'static str,
    /// Keys and values, in order.
    pub arguments: Vec<(&'static str, String)>,
}

/// What the stand-in says next.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Answer {
    /// Shown as thinking, if the request wants it.
    pub thinking: String,
    /// Text.
    pub content: String,
    /// Calls; their results come with the next request.
    pub calls: Vec<Call>,
}

/// A call of the conversation with its result.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Done {
    /// The tool.
    pub name: String,
    /// Its most telling argument: the command, else the path.
    pub about: String,
    /// The result's text; `None`: the client left it out to make room.
    pub result: Option<String>,
}

/// The conversation, as far as the stand-in looks at it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Talk {
    /// The latest message of the user (notes of the client are none).
    pub prompt: String,
    /// Calls since then.
    pub done: Vec<Done>,
    /// Whether an answer without calls was given since then: the client wants more than text.
    pub answered: bool,
    /// Whether the client added a note of its own since then: something went wrong with a reply.
    pub noted: bool,
    /// What a verifier is to decide on: the client's note, if the system message says that this is one.
    pub case: Option<String>,
    /// The turn is for a goal: only `finish_task` ends it.
    pub goal: bool,
    /// What the verifier of the goal asked to do next, each time.
    pub demands: Vec<String>,
    /// The last message asks for a checkpoint: what has to be known to go on without the messages above.
    pub checkpoint_wanted: bool,
    /// The prompt before, and what was done for it.
    pub before: Option<(String, Vec<Done>)>,
    /// Names of the tools that were offered.
    pub tools: Vec<String>,
}

/// The next answer.
pub fn answer(talk: &Talk) -> Answer {
    if talk.checkpoint_wanted {
        return checkpoint(talk);
    }
    let mut walk = Walk {
        talk,
        at: 0,
        report: String::new(),
        end: End::Done,
    };
    if let Some(case) = &talk.case {
        return match walk.judge(case) {
            Err(Next(answer)) => *answer,
            Ok(answer) => answer,
        };
    }
    let mut steps = plan(&talk.prompt);
    steps.extend(talk.demands.iter().flat_map(|demand| plan(demand)));
    match walk.steps(&steps) {
        Err(Next(answer)) => *answer,
        Ok(()) => walk.finish(),
    }
}

/// What the conversation holds, as one JSON object: the lists that the client asks for.
fn checkpoint(talk: &Talk) -> Answer {
    let files = talk.done.iter().filter(|done| done.name == "read_file");
    let mut files: Vec<String> = files.map(|done| done.about.clone()).collect();
    files.dedup();
    let verified = talk.done.iter().rev().filter(|done| done.result.is_some());
    let verified = verified.map(|done| format!("{} {}: {}", done.name, done.about, said_by(done)));
    let next = match talk.answered {
        true => "wait for the next message",
        false => "go on with the message",
    };
    let lists: [(&str, Vec<String>); 4] = [
        ("goal", vec![first_line(&talk.prompt).to_string()]),
        ("files", files),
        ("verified", verified.collect()),
        ("next", vec![next.to_string()]),
    ];
    let mut json = Writer::new();
    json.begin_object();
    for (key, entries) in &lists {
        json.key(key).begin_array();
        for entry in entries.iter().take(LIST_ENTRIES) {
            json.string(entry);
        }
        json.end_array();
    }
    json.end_object();
    Answer {
        thinking: "The client wants to shorten the conversation. I write down what it holds."
            .to_string(),
        content: String::from_utf8_lossy(&json.finish()).into_owned(),
        calls: Vec::new(),
    }
}

/// What came of a call, in a few words.
fn said_by(done: &Done) -> String {
    let Some(result) = &done.result else {
        return "its result is no longer shown".to_string();
    };
    match exit_code(result).filter(|_| done.name == "run_command") {
        Some(exit) => format!("exit code {exit}"),
        None => count_lines(result),
    }
}

/// How the plan ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum End {
    Done,
    Blocked,
    Failed,
}

/// The walk stops here, with this answer.
struct Next(Box<Answer>);

struct Walk<'t> {
    talk: &'t Talk,
    /// How many of `talk.done` were taken.
    at: usize,
    /// What the results said, one line each.
    report: String,
    end: End,
}

impl<'t> Walk<'t> {
    fn steps(&mut self, steps: &[Step]) -> Result<(), Next> {
        for step in steps {
            // What builds on a step that went wrong is not done.
            if self.end == End::Failed {
                break;
            }
            match step {
                Step::List { folder } => self.list(folder.as_deref())?,
                Step::Read { path } => self.read(path)?,
                Step::Find { pattern, folder } => self.find(pattern, folder.as_deref())?,
                Step::Replace { old, new, path } => self.replace(old, new, path)?,
                Step::Run { command } => self.run(command)?,
                Step::Create { path, content } => self.create(path, content)?,
                Step::Explain => self.explain(),
                Step::Mend => self.mend()?,
                Step::Unknown { text } => self.unknown(text),
            }
        }
        Ok(())
    }

    /// The result of a call, or the end of the walk with this call. `None`: the tool was not offered, or the result is no longer shown;
    /// the report says which.
    fn call(
        &mut self,
        thinking: &str,
        content: &str,
        name: &'static str,
        arguments: &[(&'static str, &str)],
    ) -> Result<Option<&'t str>, Next> {
        // Calls of other names are skipped: a scene or another model may have made them.
        let rest = &self.talk.done[self.at..];
        if let Some(offset) = rest.iter().position(|done| done.name == name) {
            self.at += offset + 1;
            let done = &rest[offset];
            if done.result.is_none() {
                let what = format!("{} {}", done.name, done.about);
                self.say(&format!("Before the checkpoint I called {what}."));
            }
            return Ok(done.result.as_deref());
        }
        if !self.talk.tools.iter().any(|tool| tool == name) {
            self.say(&format!(
                "This needs the tool {name}, which was not offered to me."
            ));
            self.end = End::Blocked;
            return Ok(None);
        }
        Err(Next(Box::new(Answer {
            thinking: thinking.to_string(),
            content: content.to_string(),
            calls: vec![call(name, arguments)],
        })))
    }

    /// One line of the report.
    fn say(&mut self, line: &str) {
        self.report.push_str(line);
        self.report.push('\n');
    }

    // ---- steps ----

    fn list(&mut self, folder: Option<&str>) -> Result<(), Next> {
        let place = folder.unwrap_or("the workspace");
        let thinking = format!("The user wants to see what is in {place}. list_files shows it.");
        let arguments = folder.map(|folder| ("path", folder));
        if let Some(result) = self.call(&thinking, "", "list_files", arguments.as_slice())? {
            // A tree, then one line that counts it; a refusal is one line.
            self.say(&format!("I listed {place}: {}", last_line(result)));
        }
        Ok(())
    }

    fn read(&mut self, path: &str) -> Result<(), Next> {
        let thinking = format!("I cannot know what {path} says. I read it.");
        if let Some(result) = self.call(&thinking, "", "read_file", &[("path", path)])? {
            let (begin, lines) = (first_line(result), count_lines(result));
            // A refusal begins with the name in backquotes.
            let refused = begin.strip_prefix('`');
            self.say(&match refused.is_some_and(|rest| rest.starts_with(path)) {
                true => format!("I could not read {path}: {begin}"),
                false => format!("I read {path}: {lines}, beginning with {}", quote(&begin)),
            });
        }
        Ok(())
    }

    fn find(&mut self, pattern: &str, folder: Option<&str>) -> Result<(), Next> {
        let thinking = format!("search_text finds every line with {}.", quote(pattern));
        let escaped = as_pattern(pattern);
        let mut arguments = vec![("pattern", escaped.as_str())];
        arguments.extend(folder.map(|folder| ("path", folder)));
        if let Some(result) = self.call(&thinking, "", "search_text", &arguments)? {
            // The lines, then one that counts them; where there are none, or after a refusal, that one alone.
            let lines: Vec<&str> = result.trim_end().lines().collect();
            let first = match lines[..] {
                [first, .., _] => format!(" The first is {}", clip(Some(first))),
                [_] | [] => String::new(),
            };
            let (what, end) = (quote(pattern), last_line(result));
            self.say(&format!("I searched for {what}: {end}{first}"));
        }
        Ok(())
    }

    fn replace(&mut self, old: &str, new: &str, path: &str) -> Result<(), Next> {
        let thinking = format!(
            "In {path}, {} has to become {}. replace_text does it if the old text is there exactly once.",
            quote(old),
            quote(new)
        );
        let arguments = [("path", path), ("old_text", old), ("new_text", new)];
        if let Some(result) = self.call(&thinking, "", "replace_text", &arguments)? {
            let said = first_line(result);
            self.say(&format!("I asked for a replacement in {path}: {said}"));
        }
        Ok(())
    }

    fn create(&mut self, path: &str, content: &str) -> Result<(), Next> {
        let thinking = format!("{path} shall hold {} bytes. I write it.", content.len());
        let arguments = [("path", path), ("content", content)];
        if let Some(result) = self.call(&thinking, "", "write_file", &arguments)? {
            let said = first_line(result);
            self.say(&format!("I asked for {path} to be written: {said}"));
        }
        Ok(())
    }

    fn run(&mut self, command: &str) -> Result<(), Next> {
        let thinking = format!("{} has to be run to know what it does.", quote(command));
        let ran = self.run_command(&thinking, "", command)?;
        if let Some(exit) = ran.and_then(|ran| ran.exit) {
            self.say(&format!("`{command}` ended with exit code {exit}."));
        }
        Ok(())
    }

    /// Runs a command; one that did not run to its end is reported here.
    fn run_command(
        &mut self,
        thinking: &str,
        content: &str,
        command: &str,
    ) -> Result<Option<Ran<'t>>, Next> {
        let arguments = [("command", command)];
        let Some(output) = self.call(thinking, content, "run_command", &arguments)? else {
            return Ok(None);
        };
        let exit = exit_code(output);
        if exit.is_none() {
            let said = first_line(output);
            self.say(&format!("`{command}` gave no exit code: {said}"));
            self.end = End::Blocked;
        }
        Ok(Some(Ran { exit, output }))
    }

    /// What was done so far for this prompt, or else for the one before.
    fn explain(&mut self) {
        let so_far = &self.talk.done[..self.at];
        let (prompt, done) = match &self.talk.before {
            Some((prompt, done)) if so_far.is_empty() => (prompt, &done[..]),
            Some(_) | None if !so_far.is_empty() => (&self.talk.prompt, so_far),
            Some(_) | None => {
                self.say("Nothing happened before in this conversation.");
                return;
            }
        };
        let mut lines = vec![format!("You asked: {}", quote(&first_line(prompt)))];
        if done.is_empty() {
            lines.push("I answered without calling a tool.".to_string());
        }
        for (index, call) in done.iter().enumerate() {
            let (number, said) = (index + 1, said_by(call));
            lines.push(format!("{number}. {} {}: {said}", call.name, call.about));
        }
        self.say(&lines.join("\n"));
    }

    fn unknown(&mut self, text: &str) {
        let mut said = format!(
            "I do not understand {}. I am the stand-in model: no language model, but a small program that understands sentences like these \
             and carries them out with the tools it is offered:\n",
            quote(text)
        );
        for example in EXAMPLES {
            said.push_str(&format!("- {example}\n"));
        }
        said.push_str("Join them with \", then\".");
        // Once is enough, however many clauses were not understood.
        if !self.report.contains("I am the stand-in model") {
            self.say(&said);
        }
    }

    /// A failing test: look, run, read what it names, change the line, run again.
    fn mend(&mut self) -> Result<(), Next> {
        let thinking =
            "The test fails and I am to find out why. First I need to know what is here.";
        let content = "I look at what is here.";
        let Some(listing) = self.call(thinking, content, "list_files", &[])? else {
            return Ok(());
        };
        if listing.contains("README.md") {
            let thinking = "A README often says how the tests are run.";
            self.call(thinking, "", "read_file", &[("path", "README.md")])?;
        }
        let thinking = "Before I change anything I want to see the failure myself.";
        let content = "I run the test to see how it fails.";
        let Some(before) = self.run_command(thinking, content, TEST)? else {
            return Ok(());
        };
        match before.exit {
            None => return Ok(()),
            Some(0) => {
                self.say(&format!(
                    "`{TEST}` passes as it is (exit code 0), so I changed nothing."
                ));
                return Ok(());
            }
            Some(exit) => {
                let failing = before.output.lines().find(|line| line.contains("FAIL"));
                let failing = failing.map_or(String::new(), |line| format!(": {}", line.trim()));
                self.say(&format!("`{TEST}` failed with exit code {exit}{failing}"));
            }
        }
        let Some(path) = named_file(before.output) else {
            self.end = End::Failed;
            self.say("Its output names no file that I could look at, so I changed nothing.");
            return Ok(());
        };
        let thinking = format!("The output of the test names {path}. I read it.");
        let content = format!("The test names {path}; I read it.");
        let source = self.call(&thinking, &content, "read_file", &[("path", path)])?;
        let Some(source) = source else {
            return Ok(());
        };
        if !source.contains(project::SLIP) {
            self.end = End::Failed;
            self.say(&format!(
                "I read {path} and changed nothing: the only mistake I know is the one of the demo's sample project."
            ));
            return Ok(());
        }
        let content = format!("{} I change that line.", project::DIAGNOSIS);
        let (old, new) = (project::SLIP, project::MENDED);
        let arguments = [("path", path), ("old_text", old), ("new_text", new)];
        let said = self.call(project::REASONING, &content, "replace_text", &arguments)?;
        let thinking = "A change is worth something once the test says so.";
        let content = "Now the test again.";
        let after = self.run_command(thinking, content, TEST)?;
        if let (Some(said), Some(after)) = (said, after) {
            let (diagnosis, said) = (project::DIAGNOSIS, first_line(said));
            self.say(&format!("{diagnosis} Now it multiplies: {said}"));
            if let Some(exit) = after.exit {
                self.say(&format!("`{TEST}` ends with exit code {exit} now."));
            }
            if after.exit != Some(0) {
                self.end = End::Failed;
            }
        }
        Ok(())
    }

    // ---- the verifier of a goal ----

    /// Whether a goal is met: where there is a test, its last run has to have passed.
    fn judge(&mut self, case: &str) -> Result<Answer, Next> {
        let thinking = "Somebody claims that a goal is met. I look what is here.";
        let listing = self.call(thinking, "", "list_files", &[])?;
        let file = TEST.rsplit(' ').next().unwrap_or(TEST);
        let has_test = listing.is_some_and(|listing| listing.contains(file));
        let (_, ran) = case.rsplit_once(&format!("$ {TEST}\n")).unzip();
        let missing = "a run of the test that passes";
        Ok(match ran.map(exit_code) {
            None if has_test => {
                let reason = format!("there is a test, and `{TEST}` was not run");
                opinion("reject", &reason, &format!("run {TEST}"), missing)
            }
            Some(exit) if exit != Some(0) => {
                let reason = format!("the last run of `{TEST}` did not pass");
                opinion("reject", &reason, "fix the failing test", missing)
            }
            Some(_) => opinion("accept", &format!("`{TEST}` passes"), "", ""),
            None => opinion("accept", "nothing speaks against it", "", ""),
        })
    }

    // ---- the end ----

    /// All steps have results: the report, as text or as `finish_task`.
    fn finish(self) -> Answer {
        let mut response = self.report.trim_end().to_string();
        if response.is_empty() {
            response = "There was nothing to do in that message.".to_string();
        }
        let thinking = match self.at {
            0 => "No tool helps here. I answer at once.",
            _ => "Every step has its result. I say what the results were, no more.",
        };
        let thinking = thinking.to_string();
        let offered = self.talk.tools.iter().any(|tool| tool == "finish_task");
        let status = match self.end {
            End::Done => "done",
            End::Blocked => "blocked",
            End::Failed => "failed",
        };
        // An answer in plain text ends a turn that went well; a client that asks again after one wants the tool.
        let wanted = self.talk.answered || self.talk.goal;
        if offered && (wanted || self.end != End::Done) {
            return Answer {
                thinking,
                content: String::new(),
                calls: vec![call(
                    "finish_task",
                    &[("status", status), ("response", &response)],
                )],
            };
        }
        Answer {
            thinking,
            content: response,
            calls: Vec::new(),
        }
    }
}

/// A verifier's answer.
fn opinion(verdict: &str, reason: &str, next: &str, missing: &str) -> Answer {
    let mut json = Writer::new();
    json.begin_object().key("verdict").string(verdict);
    json.key("reason").string(reason);
    json.key("next").string(next);
    json.key("missing").begin_array();
    if !missing.is_empty() {
        json.string(missing);
    }
    json.end_array().end_object();
    Answer {
        thinking: "I have seen what there is to see.".to_string(),
        content: String::from_utf8_lossy(&json.finish()).into_owned(),
        calls: Vec::new(),
    }
}

/// A command that ran, or did not (`exit` is `None`).
struct Ran<'t> {
    exit: Option<i64>,
    output: &'t str,
}

/// A regular expression that finds the text.
fn as_pattern(text: &str) -> String {
    let special = |c| "\\.+*?()|[]{}^$".contains(c);
    let escaped = |c| special(c).then_some('\\').into_iter().chain([c]);
    text.chars().flat_map(escaped).collect()
}

fn call(name: &'static str, arguments: &[(&'static str, &str)]) -> Call {
    let arguments = arguments
        .iter()
        .map(|(key, value)| (*key, value.to_string()));
    Call {
        name,
        arguments: arguments.collect(),
    }
}

// ---- reading results ----

/// The number in the line `exit code N…`, which comes first or behind a remark about the call.
fn exit_code(result: &str) -> Option<i64> {
    let rest = result
        .lines()
        .find_map(|line| line.strip_prefix("exit code "))?;
    let end = rest.find(|c: char| !c.is_ascii_digit() && c != '-');
    rest[..end.unwrap_or(rest.len())].parse().ok()
}

/// The first word of a failing check that looks like a file in a folder, other than the test itself.
fn named_file(output: &str) -> Option<&str> {
    let failing = output.lines().skip_while(|line| !line.contains("FAIL"));
    let words = failing.flat_map(str::split_whitespace);
    let names = words.map(|word| word.trim_matches(|c: char| !c.is_alphanumeric()));
    names
        .filter(|name| name.contains('/') && name.contains('.'))
        .find(|name| !TEST.ends_with(name))
}

fn count_lines(text: &str) -> String {
    counted(text.lines().count() as u64, "line")
}

/// The first line that is not blank, clipped.
fn first_line(text: &str) -> Cow<'_, str> {
    clip(text.lines().find(|line| !line.trim().is_empty()))
}

fn last_line(text: &str) -> Cow<'_, str> {
    clip(text.lines().rfind(|line| !line.trim().is_empty()))
}

/// The end of a word where there is one, and the mark of a cut.
fn clip(line: Option<&str>) -> Cow<'_, str> {
    const CHARS: usize = 100;
    let line = line.unwrap_or("").trim();
    let Some((end, _)) = line.char_indices().nth(CHARS) else {
        return Cow::Borrowed(line);
    };
    let end = match line[..end].rfind(' ') {
        Some(blank) if blank >= end / 2 => blank,
        Some(_) | None => end,
    };
    Cow::Owned(format!("{}…", line[..end].trim_end()))
}

fn quote(text: &str) -> String {
    format!("\"{text}\"")
}
