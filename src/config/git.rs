//! The user's own file of ignore rules, as git finds it. In: where git's settings of the user lie. Out: the path of the file, which need
//! not exist. `commands` hands it to the tools.
//!
//! ```text
//! ~/.config/git/config, then ~/.gitconfig; the last one that says something counts
//!     [core]
//!         excludesFile = ~/.gitignore_global          # comments, "quotes" and \\ \" \t \n as git has them
//! nothing said: ~/.config/git/ignore
//! ```
//!
//! Not followed: `include.path`, and the settings of a repository: what comes with a workspace names no file of ours to read.
//!
//! Limits: 256 KiB of a file. What cannot be read or understood counts as silent: at worst a file is listed that git would ignore.
//!
//! Invariant: git is not run.

use super::paths::Paths;
use std::fs::File;
use std::io::Read;
use std::path::{Path, PathBuf};

const CONFIG_BYTES: u64 = 256 << 10;

/// The path of the file; `None` without a home folder.
pub fn ignore_rules(paths: &Paths) -> Option<PathBuf> {
    let files = paths.git_config.iter().rev();
    let named = files.filter_map(|file| {
        let mut text = String::new();
        let file = File::open(file).ok()?;
        file.take(CONFIG_BYTES).read_to_string(&mut text).ok()?;
        excludes_file(&text, paths.home.as_deref())
    });
    let default = || paths.git_ignore.clone();
    named.into_iter().next().or_else(default)
}

/// The last `core.excludesFile` of a settings file.
fn excludes_file(text: &str, home: Option<&Path>) -> Option<PathBuf> {
    let (mut section, mut found) = (String::new(), None);
    for line in text.lines().map(str::trim) {
        let line = match line.strip_prefix('[').and_then(|rest| rest.split_once(']')) {
            Some((name, rest)) => {
                section = name.trim().to_ascii_lowercase();
                rest.trim()
            }
            None => line,
        };
        let Some((key, value)) = line.split_once('=') else {
            continue;
        };
        if section == "core" && key.trim().eq_ignore_ascii_case("excludesfile") {
            found = Some(unquoted(value.trim()));
        }
    }
    let path = found.filter(|path| !path.is_empty())?;
    match path.strip_prefix("~/") {
        Some(rest) => Some(home?.join(rest)),
        None => Some(PathBuf::from(path)).filter(|path| path.is_absolute()),
    }
}

/// A value without its quotes, escapes and comment.
fn unquoted(value: &str) -> String {
    let mut out = String::new();
    let mut quoted = false;
    let mut kept = 0;
    let mut chars = value.chars();
    while let Some(c) = chars.next() {
        match c {
            '"' => quoted = !quoted,
            '#' | ';' if !quoted => break,
            '\\' => match chars.next() {
                Some('n') => out.push('\n'),
                Some('t') => out.push('\t'),
                Some(c) => out.push(c),
                None => {}
            },
            _ => out.push(c),
        }
        // Blanks at the end do not count, but those in quotes do.
        if quoted || !c.is_whitespace() {
            kept = out.len();
        }
    }
    out.truncate(kept);
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(text: &str, expected: Option<&str>) {
        let found = excludes_file(text, Some(Path::new("/h")));
        assert_eq!(found, expected.map(PathBuf::from));
    }

    #[test]
    fn the_last_value_in_the_section_core() {
        check("", None);
        check("[core]\n\texcludesFile = ~/.ig\n", Some("/h/.ig"));
        check("[core] excludesfile=/a\n[user]\nname = x\n", Some("/a"));
        check("[CORE]\nEXCLUDESFILE=/a\nexcludesFile = /b # c", Some("/b"));
        check(
            "[core]\nexcludesFile = \"/a b # c \" ; d\n",
            Some("/a b # c "),
        );
        check("[core]\nexcludesFile = \"/a\\\\b\\\"\"\n", Some("/a\\b\""));
        check("[user]\nexcludesFile = /a\n", None);
        check("[core \"x\"]\nexcludesFile = /a\n", None);
        check("# [core]\n; excludesFile = /a\n", None);
        check("[core]\nexcludesFile =\n", None);
        check("[core]\nexcludesFile = relative\n", None);
        assert_eq!(excludes_file("[core]\nexcludesFile = ~/a\n", None), None);
    }
}
