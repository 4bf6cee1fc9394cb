//! What `zcoder -p` does with guidance beside handing it on: `--print-instructions`, `--print-skills` and `--print-commands` show it, and a prompt
//! `/name …` becomes the text of that prompt command.
//!
//! ```text
//! $ zcoder --print-instructions
//! ~/.config/zcoder/AGENTS.md  used        812 bytes
//! AGENTS.md                   not used    not trusted; `zcoder trust` shows and accepts it
//!
//! Guidance of the user and of this project, …            the text, exactly as it would be sent
//! ```
//!
//! Invariant: nothing is connected and nothing is written; exit code 0 whatever there is.
//!
//! Read next: `guidance`.

use super::scope::Scope;
use crate::config::{Id, Typed, UsageError, nearest, settings};
use crate::guidance::prompts::{Expansion, Prompts};
use crate::guidance::{Guidance, Remark};
use crate::headless::out::note;
use crate::text;
use crate::undo::{Past, Store};
use std::path::Path;

/// Where a command wants changes and there are none.
const NO_CHANGES: &str = "\n\nNo session has changed files here, so nothing is attached. Look at the work tree, for instance with git diff.";

/// What begins with a slash and is no text; it hides a text of that name.
const BUILT_IN: [(&str, &str); 2] = [
    ("goal", "Works until a verifier agrees (zcoder help goals)"),
    (
        "retry",
        "Sends the last request of a session again (zcoder help sessions)",
    ),
];

/// Whether one of the flags is given.
pub(super) fn prints(typed: &Typed) -> bool {
    let flags = [Id::PrintInstructions, Id::PrintSkills, Id::PrintCommands];
    flags.iter().any(|id| typed.is_on(*id))
}

/// What one of the flags asks for; the exit code.
pub(super) fn print(typed: &Typed) -> Result<u8, UsageError> {
    let mut scope = Scope::find(typed)?;
    let places = scope.places();
    let out = if typed.is_on(Id::PrintCommands) {
        commands(&Prompts::gather(&places))
    } else {
        let mut guidance = Guidance::gather(places);
        if let Some(window) = settings::window(&scope.typed)? {
            guidance.fit(window);
        }
        match typed.is_on(Id::PrintSkills) {
            true => skills(&guidance),
            false => instructions(&guidance),
        }
    };
    Ok(super::print(&out))
}

fn instructions(guidance: &Guidance) -> String {
    let rows = guidance.agents.iter().map(|source| match &source.text {
        Ok(_) => (
            source.name.clone(),
            text::counted(source.bytes, "byte"),
            true,
        ),
        Err(why) => (source.name.clone(), why.to_string(), false),
    });
    let mut out = table(rows.collect());
    for remark in guidance.remarks() {
        match remark {
            Remark::Used(_) => {}
            Remark::Odd(text) => note(&format!("zcoder: {text}")),
        }
    }
    let (agents, _) = guidance.parts();
    if agents.is_empty() {
        note("there is no guidance for the model here");
    } else {
        out.push('\n');
        out.push_str(&agents);
        out.push('\n');
    }
    out
}

fn skills(guidance: &Guidance) -> String {
    let skills = &guidance.skills;
    let used = skills.all.iter().map(|skill| {
        let what = format!("{}, {}", skill.shown, text::counted(skill.bytes, "byte"));
        (skill.name.clone(), what, true)
    });
    let faults = skills
        .faults
        .iter()
        .map(|(name, why)| (name.clone(), why.to_string(), false));
    let out = table(used.chain(faults).collect());
    let (_, catalogue) = guidance.parts();
    match catalogue.as_str() {
        "" => note("there are no Skills for the model here"),
        text => return format!("{out}\n{text}\n"),
    }
    out
}

fn commands(prompts: &Prompts) -> String {
    let mut names = BUILT_IN.map(|(name, _)| name).to_vec();
    let built_in = BUILT_IN.map(|(name, what)| (format!("/{name}"), what.to_string(), true));
    let rows = prompts.all.iter().map(|prompt| {
        let name = format!("/{}", prompt.name);
        match &prompt.content {
            Ok(_) if names.contains(&prompt.name.as_str()) => (
                name,
                format!("hidden by the one above: {}", prompt.shown),
                false,
            ),
            Ok(content) => {
                names.push(&prompt.name);
                (
                    name,
                    format!("{} ({})", content.description, prompt.shown),
                    true,
                )
            }
            Err(why) => (name, format!("{}: {why}", prompt.shown), false),
        }
    });
    table(built_in.into_iter().chain(rows).collect())
}

/// Name, whether it is used, and what there is to say.
fn table(rows: Vec<(String, String, bool)>) -> String {
    let wide = rows
        .iter()
        .map(|(name, ..)| name.chars().count())
        .max()
        .unwrap_or(0)
        .min(40);
    let rows = rows.iter().map(|(name, what, used)| {
        let used = if *used { "used" } else { "not used" };
        let what = text::one_line(what);
        format!("{name:wide$}  {used:8}  {what}\n")
    });
    rows.collect()
}

/// The text that a prompt means, if it is a prompt command. What that wants is attached, unless something is.
pub(super) fn expand(
    typed: &str,
    prompts: &Prompts,
    attachment: &mut Option<String>,
    scope: &Scope,
) -> Result<Option<String>, UsageError> {
    let (mut text, attaches) = match prompts.expand(typed) {
        Expansion::Plain => return Ok(None),
        // `/tmp is full` names a folder.
        Expansion::Unknown { name } if Path::new("/").join(&name).exists() => return Ok(None),
        Expansion::Unknown { name } => {
            let names = prompts.names().into_iter();
            let names = names.chain(BUILT_IN.map(|(name, _)| name));
            let near = nearest(&name, names).map(str::to_string);
            return Err(UsageError::UnknownPrompt { given: name, near });
        }
        Expansion::Unusable { shown, why } => {
            return Err(UsageError::UnusablePrompt {
                file: shown,
                cause: why,
            });
        }
        Expansion::Prompt {
            text,
            attaches_changes,
        } => (text, attaches_changes && attachment.is_none()),
    };
    if attaches {
        match changes(scope) {
            Some((id, patch)) => {
                let bytes = text::counted(patch.len() as u64, "byte");
                note(&format!("attached  {bytes}: what session {id} changed"));
                *attachment = Some(patch);
            }
            None => text.push_str(NO_CHANGES),
        }
    }
    Ok(Some(text))
}

/// What the last session of this workspace changed, as far as it still differs.
fn changes(scope: &Scope) -> Option<(String, String)> {
    let store = Store::new(scope.paths.state.as_ref()?, scope.root());
    let resolve = |path: &Path| scope.workspace.writable(path);
    let past = Past::open(&store, None, &resolve).ok()?;
    let review = past.review().ok()?;
    let patch = text::repair(&review.patch).into_owned();
    (!patch.trim().is_empty()).then(|| (past.id().to_string(), patch))
}
