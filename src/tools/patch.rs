//! `apply_patch`: several places or files at once. In: a unified diff or the envelope form (`diff/parse.rs`). Out: an [`Edit`] of all
//! its files, or a refusal that says of each file and hunk what is wrong with it.
//!
//! ```text
//! *** Update File: src/a.rs      hunks found by their text         → splices
//! *** Add File: b.rs             must not exist                    → a new file
//! *** Delete File: c.rs          read in full, unchanged since     → gone
//! *** Move to: d.rs              must not exist                    → new under that name, gone under the old
//! ```
//!
//! Several sections for one file are one. A deletion that lists the file's lines needs no reading before: they must be all of it.
//! A mode in the patch sets or clears the right to execute.
//!
//! Refused: whatever `diff` refuses; a new file where one is; a deletion of a file that holds more than the patch says or that
//! was not read; text that stands for text left out (`stub.rs`); two things at once with one file. The whole patch is refused with
//! any part of it, and its files are held (`seen.rs`).
//!
//! Invariant: nothing is made here; `commit.rs` makes all files or none.
//! Invariant: every fault of the patch is in the refusal, up to `MAX_FAULTS`, each with real lines of the file where there are any.
//!
//! Read next: `diff/apply.rs` (how a hunk finds its place), `misfit.rs` (what is said when it does not).

use crate::diff::{self, Action, Applied, Hunk, Line, Mark, Match, Patch, Splice};
use crate::protocol::ToolOutcome;
use crate::text;

use super::content::BOM;
use super::edit::{Before, Edit, FileEdit, clip, count_lines};
use super::misfit::{MAX_FAULTS, explain};
use super::seen::{Known, Seen};
use super::stub::{first_stub, is_stub};
use super::workspace::{Purpose, Refusal, Workspace};
use super::{WsPath, failed, shown};

/// Works out a patch. `named`: the file of hunks that stand under no name.
pub(super) fn patch(
    workspace: &Workspace,
    seen: &mut Seen,
    text: &str,
    named: Option<&str>,
) -> Result<Edit, ToolOutcome> {
    let worked_out = match diff::parse(text.as_bytes(), named) {
        Ok(patches) => work_out(workspace, seen, patches),
        Err(error) => Err(unreadable(text, error)),
    };
    worked_out.map_err(|refusal| {
        let mentioned = diff::mentioned(text.as_bytes());
        for name in mentioned.iter().map(String::as_str).chain(named) {
            if let Ok(path) = workspace.resolve(name, Purpose::Read) {
                seen.hold(path.full());
            }
        }
        failed(refusal)
    })
}

fn unreadable(text: &str, error: diff::Error) -> String {
    let line = text.split('\n').nth(error.line - 1).unwrap_or_default();
    let quoted = match line.trim() {
        "" => String::new(),
        line => format!(" (`{}`)", clip(line, 100)),
    };
    format!(
        "the patch cannot be read, so nothing was changed: {error}{quoted}. Send all of it again as a unified diff (--- a/FILE, \
         +++ b/FILE, then hunks: @@, lines that stay begin with a blank, removed ones with -, added ones with +)."
    )
}

fn work_out(workspace: &Workspace, seen: &Seen, patches: Vec<Patch<'_>>) -> Result<Edit, String> {
    let mut faults = Vec::new();
    let mut targets: Vec<Target<'_>> = Vec::new();
    for patch in patches {
        match Target::find(workspace, patch) {
            Err(fault) => faults.push(fault),
            Ok(target) => match targets.iter_mut().find(|known| known.meets(&target)) {
                None => targets.push(target),
                Some(known) if known.takes(&target) => known.hunks.extend(target.hunks),
                Some(_) => faults.push(format!(
                    "`{}` stands in the patch twice, with different actions; give each file one section.",
                    shown(target.path.shown())
                )),
            },
        }
    }
    let mut files = Vec::new();
    let mut reports = Vec::new();
    for target in targets {
        match target.edit(seen, files.len()) {
            Ok((edits, report)) => {
                files.extend(edits);
                reports.push(report);
            }
            Err(fault) => faults.extend(fault),
        }
    }
    match (faults.is_empty(), &reports[..]) {
        (true, [report]) => Ok(Edit::patch(files, report.clone())),
        (true, reports) => {
            let report = format!(
                "patched {} files:\n- {}",
                reports.len(),
                reports.join("\n- ")
            );
            Ok(Edit::patch(files, report))
        }
        (false, _) => Err(refusal(faults)),
    }
}

fn refusal(mut faults: Vec<String>) -> String {
    let all = faults.len();
    faults.truncate(MAX_FAULTS);
    let mut text = String::from("the patch was not applied, nothing was changed.");
    for fault in &faults {
        text.push_str(&format!("\n- {}", fault.trim_end()));
    }
    if all > faults.len() {
        text.push_str(&format!("\n- and {} more", all - faults.len()));
    }
    text.push_str("\nCorrect this and send the whole patch again, or change the passages one by one with replace_text.");
    text
}

/// A file of the patch and what shall happen to it.
struct Target<'a> {
    path: WsPath,
    action: What,
    hunks: Vec<Hunk<'a>>,
    executable: Option<bool>,
}

enum What {
    Create,
    Delete,
    Update,
    Move(WsPath),
}

impl<'a> Target<'a> {
    fn find(workspace: &Workspace, patch: Patch<'a>) -> Result<Target<'a>, String> {
        let text = |Refusal(text): Refusal| text;
        let new = |name: &str| {
            let path = workspace.resolve(name, Purpose::Write).map_err(text)?;
            match path.exists() {
                true => Err(format!(
                    "`{}` exists, so the patch does not create it. Read it with read_file and send hunks that change it.",
                    shown(path.shown())
                )),
                false => Ok(path),
            }
        };
        let (path, action) = match &patch.action {
            Action::Create(name) => (new(name)?, What::Create),
            Action::Delete(names) => (existing(workspace, names)?, What::Delete),
            Action::Update {
                names,
                moved_to: Some(to),
            } => {
                let path = existing(workspace, names)?;
                let to = new(to)?;
                (path, What::Move(to))
            }
            Action::Update {
                names,
                moved_to: None,
            } => match existing(workspace, names) {
                Ok(path) => (path, What::Update),
                // `@@ -0,0 +1,3 @@` without `/dev/null`.
                Err(_) if adds_only(&patch.hunks) => (new(&names[0])?, What::Create),
                Err(text) => return Err(text),
            },
        };
        Ok(Target {
            path,
            action,
            hunks: patch.hunks,
            executable: patch.executable,
        })
    }

    /// Whether both touch one file.
    fn meets(&self, other: &Target<'_>) -> bool {
        let paths = |target: &'_ Target<'_>| match &target.action {
            What::Move(to) => vec![target.path.full().to_path_buf(), to.full().to_path_buf()],
            What::Create | What::Delete | What::Update => vec![target.path.full().to_path_buf()],
        };
        let others = paths(other);
        paths(self).iter().any(|path| others.contains(path))
    }

    /// Whether the other's hunks can simply be added.
    fn takes(&self, other: &Target<'_>) -> bool {
        let changes = matches!((&self.action, &other.action), (What::Update, What::Update));
        changes && self.path == other.path && self.executable == other.executable
    }

    /// The edits (two for a move) and their report. `number`: how many edits stand before.
    fn edit(self, seen: &Seen, number: usize) -> Result<(Vec<FileEdit>, String), Vec<String>> {
        let name = shown(self.path.shown());
        let before = Before::load(&self.path).map_err(|Refusal(text)| vec![text])?;
        let old = before.as_ref().map_or(&b""[..], |before| &before.bytes);
        if let Some(fault) = stub(&name, &self.hunks, old) {
            return Err(vec![fault]);
        }
        let Some(before) = before else {
            return Ok(created(self.path, &name, &self.hunks, self.executable));
        };
        let old = &before.bytes;
        let applied = diff::apply(old, &self.hunks)
            .map_err(|misfits| explain(&name, old, &self.hunks, &misfits))?;
        let loose = loose(&applied);
        let executable = self.executable.filter(|bit| *bit != before.executable);
        match self.action {
            What::Delete => {
                may_go(&self, &name, &before, &applied, seen).map_err(|fault| vec![fault])?;
                let file = FileEdit::gone(self.path, before);
                Ok((vec![file], format!("deleted `{name}`")))
            }
            What::Move(to) => {
                let new_name = shown(to.shown());
                let [mut new, old] =
                    FileEdit::moved(self.path, before, &applied.splices, to, number);
                new.set_executable(executable);
                let counts = counts(&new);
                Ok((
                    vec![new, old],
                    format!(
                        "moved `{name}` to `{new_name}`: {counts}{}{loose}",
                        became(executable)
                    ),
                ))
            }
            What::Create | What::Update => {
                if applied.splices.is_empty() && executable.is_none() {
                    return Err(vec![format!(
                        "`{name}` has this mode already, and the patch changes nothing else in it."
                    )]);
                }
                let mut file = FileEdit::spliced(self.path, Some(before), applied.splices);
                file.set_executable(executable);
                let mode = became(executable);
                let report = format!("patched `{name}`: {}{mode}{loose}", counts(&file));
                Ok((vec![file], report))
            }
        }
    }
}

/// The first of the names under which there is a file; else what is to be said about the likeliest.
fn existing(workspace: &Workspace, names: &[String]) -> Result<WsPath, String> {
    let resolve = |name: &String| workspace.resolve(name, Purpose::Write);
    let found = names
        .iter()
        .filter_map(|name| resolve(name).ok())
        .find(WsPath::exists);
    match (found, names.first()) {
        (Some(path), _) => Ok(path),
        (None, Some(first)) => match workspace.resolve(first, Purpose::Read) {
            Err(Refusal(text)) => Err(text),
            // It appeared in between.
            Ok(path) => Ok(path),
        },
        (None, None) => Err("a section of the patch names no file.".to_string()),
    }
}

fn became(executable: Option<bool>) -> &'static str {
    match executable {
        Some(true) => ", made executable",
        Some(false) => ", no longer executable",
        None => "",
    }
}

fn adds_only(hunks: &[Hunk<'_>]) -> bool {
    let mut lines = hunks.iter().flat_map(|hunk| &hunk.lines);
    hunks.len() == 1 && lines.all(|line| line.mark == Mark::Add)
}

fn created(
    path: WsPath,
    name: &str,
    hunks: &[Hunk<'_>],
    executable: Option<bool>,
) -> (Vec<FileEdit>, String) {
    let splice = Splice {
        range: 0..0,
        new: diff::content(hunks),
    };
    let mut file = FileEdit::spliced(path, None, vec![splice]);
    file.set_executable(executable.filter(|bit| *bit));
    let mode = match file.executable {
        Some(_) => ", executable",
        None => "",
    };
    let report = format!("created `{name}`: {}{mode}", count_lines(file.diff.added));
    (vec![file], report)
}

/// Whether a deletion means this file as it is.
fn may_go(
    target: &Target<'_>,
    name: &str,
    before: &Before,
    applied: &Applied,
    seen: &Seen,
) -> Result<(), String> {
    let removed: usize = applied
        .splices
        .iter()
        .map(|splice| splice.range.len())
        .sum();
    let bom = before.bytes.starts_with(BOM) && removed + BOM.len() == before.bytes.len();
    if removed == before.bytes.len() || (bom && !target.hunks.is_empty()) {
        return Ok(());
    }
    if !target.hunks.is_empty() {
        return Err(format!(
            "`{name}` was not deleted: it holds lines that the patch does not list, so it is not the file that was meant. Read it with \
             read_file."
        ));
    }
    match before.known(&target.path, seen) {
        Known::Current => Ok(()),
        Known::NotInFull => Err(format!(
            "`{name}` was not deleted: it was not read in full in this session. Read it with read_file first."
        )),
        Known::Stale => Err(format!(
            "`{name}` was not deleted: it changed on disk after you read it. Read it again with read_file."
        )),
    }
}

/// What is wrong with an added line that stands for others.
fn stub(name: &str, hunks: &[Hunk<'_>], old: &[u8]) -> Option<String> {
    for hunk in hunks {
        let added = hunk.lines.iter().filter(|line| line.mark == Mark::Add);
        // Nearly every hunk ends here.
        let may_be = |line: &Line<'_>| std::str::from_utf8(line.text).map_or(true, is_stub);
        if !added.clone().any(may_be) {
            continue;
        }
        let added: Vec<u8> = added.flat_map(|line| [line.text, b"\n"].concat()).collect();
        if let Some((_, line)) = first_stub(&text::repair(&added), old) {
            return Some(format!(
                "`{name}`, hunk at line {} of the patch: an added line stands for text that was left out (`{}`). Give every line.",
                hunk.line,
                clip(line.trim(), 100)
            ));
        }
    }
    None
}

/// `3 lines added, 1 line removed`.
fn counts(file: &FileEdit) -> String {
    let (added, removed) = (count_lines(file.diff.added), count_lines(file.diff.removed));
    format!("{added} added, {removed} removed")
}

fn loose(applied: &Applied) -> &'static str {
    match applied.places.iter().map(|(_, how)| *how).max() {
        None | Some(Match::Exact) => "",
        Some(Match::Ends) => "; line ends were matched loosely and kept",
        Some(Match::Blanks) => "; blanks at line ends were matched loosely and kept",
    }
}
