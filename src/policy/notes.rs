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

use crate::sort;
use crate::text::{self, Words, one_line};

use super::Command;
use super::place::Place;
use super::shell::{self, RedirectKind, Script, Word, base};

/// Programs that run code of the project they are started in.
#[rustfmt::skip] // a table
const RUNNERS: Words = Words("ant bazel bun bundle cargo cmake composer ctest deno dotnet go gradle gradlew jest just make meson mix \
    mvn ninja node npm npx perl php pip pnpm poetry pre-commit pytest python python3 rake ruby rspec sbt swift task tox uv vitest \
    yarn zig");

/// At most so many names in one note; the rest is counted.
const NAMES: usize = 6;

/// Words looked at for paths, and programs and names for files that changed.
const WORDS: usize = 1_000;

/// Notes on a command.
pub(super) fn command(command: &Command, place: &Place) -> Vec<String> {
    let mut notes = Vec::from_iter(invisible(&[&command.text, &command.shown_cwd]));
    let script = shell::read(&command.text);
    let outside = outside(&script, place);
    if !outside.is_empty() {
        let outside = list(&outside);
        notes.push(format!("names paths outside the workspace: {outside}"));
    }
    notes.extend(changed(command, &script));
    notes
}

/// All words of a script, targets of redirections after the words of their command.
fn words(script: &Script) -> impl Iterator<Item = &Word> {
    let words = script.commands.iter().flat_map(|simple| {
        let files = simple
            .redirects
            .iter()
            .filter(|r| r.kind != RedirectKind::Here);
        let words = simple.assignments.iter().chain(&simple.words);
        words.chain(files.map(|r| &r.target))
    });
    words.take(WORDS)
}

/// Notes on an edit.
pub(super) fn edit(path: &str, diff: &str, protected: Option<&str>) -> Vec<String> {
    let protected = protected.map(|why| format!("protected: {why}"));
    protected
        .into_iter()
        .chain(invisible(&[path, diff]))
        .collect()
}

/// Names the characters that would not show: controls but line ends and tabs, and what reorders or hides text.
fn invisible(texts: &[&str]) -> Option<String> {
    let mut found: Vec<String> = Vec::new();
    for text in texts {
        // One pass over a clean text, nothing else.
        if matches!(text::visible(text), std::borrow::Cow::Borrowed(_)) {
            continue;
        }
        let mut one = [0; 4];
        let shows = |c: &char| c.is_ascii_graphic() || matches!(c, ' ' | '\n' | '\t');
        for c in text.chars().filter(|c| !shows(c)) {
            let raw: &str = c.encode_utf8(&mut one);
            let shown = text::visible(raw);
            if *shown != *raw && !found.iter().any(|one| *one == *shown) {
                found.push(shown.into_owned());
            }
        }
    }
    sort::by(&mut found, Ord::cmp);
    let found = (!found.is_empty()).then(|| list(&found))?;
    Some(format!(
        "holds characters that do not show; they are spelled out: {found}"
    ))
}

/// Pieces of words that lead out, as they stand in the command.
fn outside(script: &Script, place: &Place) -> Vec<String> {
    let mut found = Vec::new();
    for piece in words(script).filter_map(|word| place.leaves(word)) {
        if !found.contains(&piece) {
            found.push(piece);
        }
    }
    found
}

fn changed(command: &Command, script: &Script) -> Option<String> {
    if command.changed.is_empty() {
        return None;
    }
    let is_named = |path: &&String| words(script).any(|word| base(&word.text) == base(path));
    let named: Vec<String> = command.changed.iter().filter(is_named).cloned().collect();
    if !named.is_empty() {
        let noun = if named.len() == 1 { "a file" } else { "files" };
        let named = list(&named);
        return Some(format!("names {noun} changed in this session: {named}"));
    }
    let runner = words(script).find(|word| RUNNERS.contains(base(&word.text)))?;
    Some(format!(
        "{} may run files changed in this session: {}",
        base(&runner.text),
        list(&command.changed)
    ))
}

/// `a, b and 4 more`, made visible.
fn list(names: &[String]) -> String {
    let shown: Vec<String> = names
        .iter()
        .take(NAMES)
        .map(|name| one_line(name))
        .collect();
    let mut text = shown.join(", ");
    if names.len() > NAMES {
        text.push_str(&format!(" and {} more", names.len() - NAMES));
    }
    text
}
