//! Which files of rules are in force where, and what is said of those that cannot be used.

use super::walk::{below, files, options};
use crate::support::temp::Temp;
use std::fs;
use std::os::unix::fs::symlink;
use std::path::Path;
use zcoder::ignore::{MAX_RULES_BYTES, Options, Problem, Walk};

fn tree(entries: &[(&str, &str)]) -> Temp {
    let temp = Temp::new();
    for (name, text) in entries {
        temp.write(name, text);
    }
    temp
}

#[track_caller]
fn check(start: &Path, options: Options, expected: &[&str]) {
    let files = files(start, options);
    let files: Vec<_> = files.iter().map(|f| String::from_utf8_lossy(f)).collect();
    assert_eq!(files, expected);
}

#[test]
fn without_a_repository_the_rules_count_from_the_workspace_down() {
    let entries = [
        (".gitignore", "a\n"),
        ("ws/.gitignore", "b\n"),
        ("ws/s/a", ""),
        ("ws/s/b", ""),
        ("ws/s/c", ""),
    ];
    let temp = tree(&entries);
    let ws = temp.path().join("ws");
    check(&ws.join("s"), options(&ws), &["a", "c"]);
    check(&ws, options(&ws), &["s/a", "s/c"]);
}

#[test]
fn in_a_repository_from_where_it_begins() {
    let entries = [
        (".gitignore", "a\n"),
        ("repo/.git/info/exclude", "/ws/s/x\n"),
        ("repo/.gitignore", "b\n/ws/s/y\n"),
        ("repo/.ignore", "c\n"),
        ("repo/ws/s/a", ""),
        ("repo/ws/s/b", ""),
        ("repo/ws/s/c", ""),
        ("repo/ws/s/x", ""),
        ("repo/ws/s/y", ""),
    ];
    let temp = tree(&entries);
    let ws = temp.path().join("repo/ws");
    check(&ws.join("s"), options(&ws), &["a"]);
    check(&ws, options(&ws), &["s/a"]);
}

#[test]
fn a_repository_in_the_tree_has_rules_of_its_own() {
    let entries = [
        (".git/info/exclude", "e\n"),
        (".gitignore", "a\n"),
        (".ignore", "i\n"),
        ("sub/.git/info/exclude", "b\n"),
        ("sub/a", ""),
        ("sub/b", ""),
        ("sub/e", ""),
        ("sub/i", ""),
        ("x/a", ""),
        ("x/b", ""),
    ];
    let temp = tree(&entries);
    let expected = ["sub/a", "sub/e", "x/b"];
    check(temp.path(), options(temp.path()), &expected);
    check(&temp.path().join("sub"), options(temp.path()), &["a", "e"]);
}

#[test]
fn working_copies_share_the_exclude_file_of_their_repository() {
    let entries = [
        ("main/.git/info/exclude", "a\n"),
        ("main/.git/worktrees/w/commondir", "../..\n"),
        ("copy/.git", "gitdir: ../main/.git/worktrees/w\n"),
        ("copy/a", ""),
        ("copy/b", ""),
        ("main/.git/modules/m/info/exclude", "b\n"),
        ("main/m/.git", "gitdir: ../.git/modules/m"),
        ("main/m/a", ""),
        ("main/m/b", ""),
        ("odd/.git", "nonsense\n"),
        ("odd/a", ""),
    ];
    let temp = tree(&entries);
    let at = |name: &str| temp.path().join(name);
    check(&at("copy"), options(&at("copy")), &["b"]);
    check(&at("main/m"), options(&at("main/m")), &["a"]);
    check(&at("odd"), options(&at("odd")), &["a"]);
}

#[test]
fn ignore_files_go_before_those_of_git() {
    let entries = [
        (".ignore", "!a\nb\n"),
        (".gitignore", "a\n"),
        ("s/.gitignore", "!b\na\n"),
        ("s/a", ""),
        ("s/b", ""),
        ("s/c", ""),
    ];
    let temp = tree(&entries);
    check(temp.path(), options(temp.path()), &["s/a", "s/c"]);
}

#[test]
fn the_users_own_rules_come_last() {
    let entries = [
        ("rules", "a\n/b\nws/c\n/s/d\n"),
        ("ws/.gitignore", "!keep.a\n"),
        ("ws/s/a", ""),
        ("ws/b", ""),
        ("ws/s/b", ""),
        ("ws/s/d", ""),
    ];
    let temp = tree(&entries);
    let ws = temp.path().join("ws");
    let user = |name: &str| Options {
        user_rules: Some(temp.path().join(name)),
        ..options(&ws)
    };
    check(&ws, user("rules"), &["s/b"]);
    check(&ws.join("s"), user("rules"), &["b"]);
    check(&ws.join("s"), user("gone"), &["a", "b", "d"]);
}

#[test]
fn rules_behind_a_link_are_not_read() {
    let temp = tree(&[("a", ""), ("rules", "a\n")]);
    symlink("rules", temp.path().join(".gitignore")).expect("link");
    check(temp.path(), options(temp.path()), &["a", "rules"]);
}

#[test]
fn what_cannot_be_used_is_said() {
    let temp = tree(&[("a", ""), ("s/b", ""), ("s/.ignore", "[b\n\nx\\\n")]);
    let long = "a\n".repeat(MAX_RULES_BYTES / 2);
    temp.write(".gitignore", format!("{long}b\n"));
    // A folder, so it opens and cannot be read.
    fs::create_dir_all(temp.path().join(".git/info/exclude")).expect("folder");
    let mut walk = Walk::new(temp.path(), options(temp.path())).expect("opens");
    let folder = walk.next_folder().expect("a folder");
    assert_eq!(folder.path(), b"s/");
    let said = |problem: &Problem| match problem {
        Problem::Unreadable { path, error } => (path.clone(), error.to_string()),
        Problem::Rule { path, fault } => (path.clone(), format!("{}: {}", fault.line, fault.error)),
        Problem::LongRules { path } => (path.clone(), "long".to_string()),
    };
    let said: Vec<_> = walk.problems().0.iter().map(said).collect();
    let said: Vec<_> = said
        .iter()
        .map(|(path, text)| (below(path, temp.path()), text.as_str()))
        .collect();
    let expected = [
        (".gitignore".to_string(), "long"),
        (".git/info/exclude".to_string(), "is a directory"),
        ("s/.ignore".to_string(), "1: byte 1: `[` has no `]`"),
        (
            "s/.ignore".to_string(),
            "3: byte 2: `\\` at the end has nothing to escape",
        ),
    ];
    assert_eq!(said, expected);
    // One byte less, and nothing is left out.
    temp.write(".gitignore", &long[1..]);
    let mut walk = Walk::new(temp.path(), options(temp.path())).expect("opens");
    assert!(walk.next_folder().is_some());
    let long = |problem: &Problem| matches!(problem, Problem::LongRules { .. });
    assert!(!walk.problems().0.iter().any(long));
}
