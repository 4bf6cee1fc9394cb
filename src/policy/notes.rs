//! What a question says besides the exact text: things a person should know before a yes. In: the command or the edit. Out: short
//! sentences, already made visible.
//!
//! ```text
//! cp ~/.ssh/id_rsa . ; sh test.sh     names paths outside the workspace: ~/.ssh/id_rsa
//!                                     names a file changed in this session: test.sh
//! rm U+202E x                         holds characters that do not show; they are spelled out: \u{202e}
//! cargo test                          cargo may run files changed in this session: src/a.rs
//! ```
//!
//! Notes warn, they decide nothing: a path can be built from variables and a program can run what it likes.
//!
//! Invariant: a missing note is no promise.

use std::collections::BTreeSet;

use crate::text;

use super::Command;
use super::words::{self, Part};

/// Programs that run code of the project they are started in.
const RUNNERS: &[&str] = &[
    "ant",
    "bazel",
    "bun",
    "bundle",
    "cargo",
    "cmake",
    "composer",
    "ctest",
    "deno",
    "dotnet",
    "go",
    "gradle",
    "gradlew",
    "jest",
    "just",
    "make",
    "meson",
    "mix",
    "mvn",
    "ninja",
    "node",
    "npm",
    "npx",
    "perl",
    "php",
    "pip",
    "pnpm",
    "poetry",
    "pre-commit",
    "pytest",
    "python",
    "python3",
    "rake",
    "ruby",
    "rspec",
    "sbt",
    "swift",
    "task",
    "tox",
    "uv",
    "vitest",
    "yarn",
    "zig",
];

/// At most so many names in one note; the rest is counted.
const NAMES: usize = 6;

/// Notes on a command.
pub(super) fn command(command: &Command) -> Vec<String> {
    let mut notes = Vec::new();
    if let Some(note) = invisible(&[&command.text, &command.shown_cwd]) {
        notes.push(note);
    }
    let parts = words::parts(&command.text);
    let outside = outside(command, &parts);
    if !outside.is_empty() {
        notes.push(format!(
            "names paths outside the workspace: {}",
            list(&outside)
        ));
    }
    if let Some(note) = changed(command, &parts) {
        notes.push(note);
    }
    notes
}

/// Notes on an edit.
pub(super) fn edit(path: &str, diff: &str, protected: Option<&str>) -> Vec<String> {
    let mut notes = Vec::new();
    if let Some(why) = protected {
        notes.push(format!("protected: {why}"));
    }
    if let Some(note) = invisible(&[path, diff]) {
        notes.push(note);
    }
    notes
}

/// Names the characters that would not show: controls but line ends and tabs, and what reorders or hides text.
fn invisible(texts: &[&str]) -> Option<String> {
    let mut found = BTreeSet::new();
    for text in texts {
        // One pass over a clean text, nothing else.
        if matches!(text::visible(text), std::borrow::Cow::Borrowed(_)) {
            continue;
        }
        let mut one = [0; 4];
        for c in text
            .chars()
            .filter(|c| !c.is_ascii_graphic() && !matches!(c, ' ' | '\n' | '\t'))
        {
            let raw: &str = c.encode_utf8(&mut one);
            let shown = text::visible(raw);
            if *shown != *raw {
                found.insert(shown.into_owned());
            }
        }
    }
    let found: Vec<String> = found.into_iter().collect();
    (!found.is_empty()).then(|| {
        format!(
            "holds characters that do not show; they are spelled out: {}",
            list(&found)
        )
    })
}

/// Words that name a place outside, as they stand in the command.
fn outside(command: &Command, parts: &[Part]) -> Vec<String> {
    let root = command.workspace.to_string_lossy();
    let cwd = command.cwd.to_string_lossy();
    let mut found = Vec::new();
    let words = parts
        .iter()
        .flat_map(|p| p.words.iter().chain(&p.redirects));
    for word in words.filter(|word| !word.contains("://")) {
        // `--file=/x`, `of=/x`, `-I/x`, `host:/x`: the path begins later in the word.
        for piece in word.split(['=', ',', ':']) {
            let piece = match piece.strip_prefix('-') {
                Some(option) => option.find(['/', '~']).map_or("", |at| &option[at..]),
                None => piece,
            };
            if leaves(piece, &root, &cwd) && !found.contains(&piece.to_string()) {
                found.push(piece.to_string());
            }
        }
    }
    found
}

fn leaves(piece: &str, root: &str, cwd: &str) -> bool {
    const HARMLESS: [&str; 4] = ["/dev/null", "/dev/stdin", "/dev/stdout", "/dev/stderr"];
    let home = ["~", "$HOME", "${HOME}"]
        .iter()
        .any(|home| piece == *home || piece.strip_prefix(home).is_some_and(|r| r.starts_with('/')))
        || (piece.starts_with('~') && piece.len() > 1);
    if home {
        return true;
    }
    let full = match piece.starts_with('/') {
        true if HARMLESS.contains(&piece) => return false,
        true => words::tidy(piece),
        false if piece.split('/').any(|part| part == "..") => {
            words::tidy(&format!("{cwd}/{piece}"))
        }
        false => return false,
    };
    let below = full.strip_prefix(root);
    root != "/" && !below.is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
}

fn changed(command: &Command, parts: &[Part]) -> Option<String> {
    if command.changed.is_empty() {
        return None;
    }
    let mut words = parts.iter().flat_map(|p| &p.words);
    let named: Vec<String> = command
        .changed
        .iter()
        .filter(|path| {
            let name = words::base(path);
            words.clone().any(|word| words::base(word) == name)
        })
        .cloned()
        .collect();
    if !named.is_empty() {
        let noun = if named.len() == 1 { "a file" } else { "files" };
        return Some(format!(
            "names {noun} changed in this session: {}",
            list(&named)
        ));
    }
    let runner = words.find(|word| RUNNERS.contains(&words::base(word)))?;
    Some(format!(
        "{} may run files changed in this session: {}",
        words::base(runner),
        list(&command.changed)
    ))
}

/// Foreign text in one line, with everything that does not show spelled out.
pub(super) fn one_line(text: &str) -> String {
    text::visible(text).replace('\n', "\\n")
}

/// `a, b and 4 more`, made visible.
fn list(names: &[String]) -> String {
    let mut text = names
        .iter()
        .take(NAMES)
        .map(|name| one_line(name))
        .collect::<Vec<_>>()
        .join(", ");
    if names.len() > NAMES {
        text.push_str(&format!(" and {} more", names.len() - NAMES));
    }
    text
}
