//! The policy of a run, put together from its flags and all files that have a say; and `zcoder policy check CMD`, which shows what it makes of a
//! command without running it.
//!
//! ```text
//! $ zcoder policy check 'cd build && ctest 2>&1 | tail -5; rm -r x'
//! cd build             stays in the workspace
//! ctest 2>&1           allow ctest (~/.config/zcoder/rules:2)
//! tail -5              only reads what it is given
//! rm -r x              no rule allows it
//! verdict              ask
//! ```
//!
//! Invariant: a file that cannot be read never loosens anything, and is named on standard error.
//! Invariant: what a workspace brings along counts only as far as it is trusted, and never allows.
//!
//! Read next: `policy/judge.rs`, `policy/rules.rs`.

use super::scope::Scope;
use super::wrong;
use crate::config::permissions::Permissions;
use crate::config::{self, Paths, Typed, UsageError, settings, utf8};
use crate::headless::out::{exit, note, with_stdout};
use crate::policy::rules::{self, Author, Fault, Rule};
use crate::policy::{Command, Kept, Policy, Verdict, trust};
use crate::protocol::Question;
use crate::sys::file;
use crate::text;
use std::ffi::OsString;
use std::io::{self, Read, Write};
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::path::{Path, PathBuf};

/// `zcoder policy check CMD`
pub(super) fn run(typed: &Typed, words: &[OsString; 2]) -> Result<u8, UsageError> {
    let [verb, text] = words;
    if verb != "check" {
        return Err(wrong(typed, Some(verb)));
    }
    let text = utf8(text, "the command")?;
    let mut scope = Scope::find(typed)?;
    scope.say_unused(false);
    scope.add_project()?;
    let permissions = scope.permissions()?;
    let limits = settings::tool_limits(&scope.typed)?;
    let policy = build(&scope, permissions);
    let command = Command {
        text: text.to_string(),
        cwd: scope.root().to_path_buf(),
        shown_cwd: ".".to_string(),
        timeout: limits.command_timeout,
        wrapper: limits.command_wrapper,
        workspace: scope.root().to_path_buf(),
        changed: Vec::new(),
    };
    let (report, code) = report(&policy, command);
    Ok(with_stdout(|out| {
        out.write_all(report.as_bytes())?;
        Ok(code)
    }))
}

/// What is printed, and the exit code.
fn report(policy: &Policy, command: Command) -> (String, u8) {
    let judgement = policy.judge(&command);
    let line = text::one_line;
    let mut rows: Vec<(String, String)> = Vec::new();
    for part in &judgement.parts {
        rows.push((line(&part.text), line(&part.ruling.to_string())));
    }
    for doubt in &judgement.doubts {
        rows.push(("not understood".to_string(), line(&doubt.to_string())));
    }
    for reason in &judgement.asked {
        rows.push(("asks".to_string(), line(reason)));
    }
    for rule in &judgement.offers {
        rows.push(("a rule for it".to_string(), line(&rule.to_string())));
    }
    let (verdict, code) = match policy.command(command) {
        Verdict::Allowed(approved) => {
            let by = line(&super::by(approved.by()));
            (format!("allow: {by}"), exit::DONE)
        }
        Verdict::Ask(asking) => {
            if let Question::Command { notes, .. } = asking.question() {
                rows.extend(notes.iter().map(|text| ("note".to_string(), line(text))));
            }
            ("ask".to_string(), exit::NOBODY)
        }
        Verdict::Denied { by, .. } => (format!("deny: {}", line(&super::by(&by))), exit::FAILED),
    };
    rows.push(("verdict".to_string(), verdict));
    let wide = rows
        .iter()
        .map(|(left, _)| left.chars().count())
        .max()
        .unwrap_or(0)
        .min(40);
    let rows = rows.iter().map(|(left, right)| {
        // A long part does not push everything to the right.
        match left.chars().count() > wide {
            true => format!("{left}\n{:wide$}  {right}\n", ""),
            false => format!("{left:wide$}  {right}\n"),
        }
    });
    (rows.collect(), code)
}

/// The policy of a run. What is odd about its files is said on standard error.
pub(super) fn build(scope: &Scope, permissions: Permissions) -> Policy {
    let (paths, root) = (&scope.paths, scope.root());
    let mut policy = Policy::new(
        permissions.commands,
        permissions.edits,
        permissions.profile,
        permissions.flag,
    );
    let closed = paths.off_limits().into_iter();
    policy.close(
        closed
            .map(|path| path.canonicalize().unwrap_or(path))
            .collect(),
    );
    if let Some(folder) = searched_inside(root) {
        let folder = match folder.as_os_str().is_empty() {
            true => "an empty entry".to_string(),
            false => paths.shown(&folder),
        };
        note(&format!(
            "zcoder: PATH has {folder}, which may hold programs of the workspace: no command passes without a rule"
        ));
        policy.without_builtin();
    }
    let own = paths.config.as_ref().map(|folder| folder.join("rules"));
    let site = paths.site.with_file_name("rules");
    for (path, author) in own
        .map(|path| (path, Author::User))
        .into_iter()
        .chain([(site, Author::Site)])
    {
        let (rules, warnings) = rules_of(&path, paths, author);
        for warning in warnings {
            note(&format!("zcoder: {warning}"));
        }
        policy.add_rules(rules);
    }
    if let Some(kept) = kept(paths, root) {
        policy.keep_in(kept);
    }
    if let Some(bytes) = scope.usable(trust::RULES) {
        let text = String::from_utf8_lossy(bytes);
        let (rules, faults) = rules::read(&text, trust::RULES, Author::Project);
        for fault in &faults {
            note(&format!("zcoder: {}", faulty(trust::RULES, fault)));
        }
        policy.add_rules(rules);
    }
    policy.add_checks(settings::checks(&scope.typed));
    policy
}

/// The first entry of PATH that lies in the workspace or depends on the current folder.
fn searched_inside(root: &Path) -> Option<PathBuf> {
    let path = config::variable("PATH")?;
    let entries = path.as_bytes().split(|&byte| byte == b':');
    let mut entries = entries.map(|entry| PathBuf::from(OsString::from_vec(entry.to_vec())));
    entries.find(|entry| {
        let real = entry.canonicalize();
        !entry.is_absolute()
            || entry.starts_with(root)
            || real.is_ok_and(|real| real.starts_with(root))
    })
}

/// The rules of the user or the site, and what there is to say about them.
fn rules_of(path: &Path, paths: &Paths, author: Author) -> (Vec<Rule>, Vec<String>) {
    let name = paths.shown(path);
    let text = match read(path) {
        Ok(None) => return (Vec::new(), Vec::new()),
        Ok(Some(bytes)) => String::from_utf8_lossy(&bytes).into_owned(),
        Err(error) => {
            let (rules, fault) = rules::unreadable(&name);
            return (rules, vec![format!("{name}: {error}; {}", fault.text)]);
        }
    };
    let (rules, faults) = rules::read(&text, &name, author);
    let mut warnings: Vec<String> = faults.iter().map(|fault| faulty(&name, fault)).collect();
    for rule in &rules {
        if let Some(warning) = rule.warning() {
            warnings.push(format!("{}: {rule}: {warning}", rule.origin()));
        }
    }
    (rules, warnings)
}

fn faulty(name: &str, fault: &Fault) -> String {
    format!("{name}:{}: {}", fault.line, fault.text)
}

/// A file of ours; `None` where there is none. One byte more than is read is enough to be refused.
fn read(path: &Path) -> io::Result<Option<Vec<u8>>> {
    let file = match file::open_regular(path) {
        Ok(file) => file,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
        Err(error) => return Err(error),
    };
    let mut bytes = Vec::new();
    file.take(rules::MAX_BYTES as u64 + 1)
        .read_to_end(&mut bytes)?;
    Ok(Some(bytes))
}

/// What was kept for the workspace; `None` where nothing can be.
pub(super) fn kept(paths: &Paths, root: &Path) -> Option<Kept> {
    match Kept::open(paths.state.as_ref()?, root) {
        Ok((kept, faults)) => {
            for fault in &faults {
                note(&format!(
                    "zcoder: {}",
                    faulty("rules kept for this workspace", fault)
                ));
            }
            Some(kept)
        }
        Err(error) => {
            note(&format!(
                "zcoder: the rules kept for this workspace cannot be read ({error}); none of them counts"
            ));
            None
        }
    }
}
