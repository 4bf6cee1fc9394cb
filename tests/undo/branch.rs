//! The branch, from files alone.

use crate::support::temp::Temp;
use std::fs;
use std::os::unix::fs::symlink;
use zcoder::undo::branch;

/// What is read from a repository in `app` with these files, from the folder `from`.
#[track_caller]
fn check(files: &[(&str, &str)], from: &str, expected: Option<&str>) {
    let temp = Temp::new();
    for (name, text) in files {
        let text = text.replace("TEMP", &temp.path().display().to_string());
        temp.write(name, text);
    }
    let root = temp.path().join(from);
    fs::create_dir_all(&root).expect("a workspace");
    let found = branch(&root).map(|branch| branch.to_string());
    assert_eq!(found.as_deref(), expected);
}

const HASH: &str = "8f3c1d2b8f3c1d2b8f3c1d2b8f3c1d2b8f3c1d2b";

#[test]
fn a_branch_is_named_without_its_place() {
    check(
        &[("app/.git/HEAD", "ref: refs/heads/main\n")],
        "app",
        Some("main"),
    );
    check(
        &[("app/.git/HEAD", "ref: refs/heads/a/b-ü\n")],
        "app",
        Some("a/b-ü"),
    );
    check(&[("app/.git/HEAD", "ref:refs/heads/x")], "app", Some("x"));
}

#[test]
fn a_folder_below_has_the_branch_of_its_repository() {
    check(
        &[("app/.git/HEAD", "ref: refs/heads/main\n")],
        "app/src/deep",
        Some("main"),
    );
}

#[test]
fn the_innermost_repository_counts() {
    let files = [
        ("app/.git/HEAD", "ref: refs/heads/outer\n"),
        ("app/sub/.git/HEAD", "ref: refs/heads/inner\n"),
    ];
    check(&files, "app/sub/src", Some("inner"));
}

#[test]
fn a_commit_without_a_branch_is_shortened() {
    let head = format!("{HASH}\n");
    check(
        &[("app/.git/HEAD", &head)],
        "app",
        Some("8f3c1d2 (no branch)"),
    );
    let long = format!("{HASH}{}\n", "0".repeat(24));
    check(
        &[("app/.git/HEAD", &long)],
        "app",
        Some("8f3c1d2 (no branch)"),
    );
}

#[test]
fn a_file_leads_to_the_folder_of_a_worktree_or_submodule() {
    let head = ("app/.git/worktrees/fix/HEAD", "ref: refs/heads/fix\n");
    check(
        &[head, ("fix/.git", "gitdir: TEMP/app/.git/worktrees/fix\n")],
        "fix",
        Some("fix"),
    );
    check(
        &[head, ("fix/.git", "gitdir: ../app/.git/worktrees/fix\n")],
        "fix/src",
        Some("fix"),
    );
}

#[test]
fn what_is_not_understood_gives_nothing() {
    for head in [
        "",
        "\n",
        "ref: refs/heads/\n",
        "ref: refs/heads/.invalid\n",
        "ref: refs/tags/v1\n",
        "abcdef\n",
        "zz3c1d2b8f3c1d2b8f3c1d2b8f3c1d2b8f3c1d2b\n",
    ] {
        check(&[("app/.git/HEAD", head)], "app", None);
    }
    check(&[("app/.git", "nonsense\n")], "app", None);
    check(&[("app/.git", "gitdir: ../missing\n")], "app", None);
    check(&[("app/.git/config", "")], "app", None);
}

#[test]
fn a_head_that_is_a_link_is_read_as_git_once_wrote_it() {
    let temp = Temp::new();
    temp.write("app/.git/refs/heads/old", "");
    symlink("refs/heads/old", temp.path().join("app/.git/HEAD")).expect("a link");
    let found = branch(&temp.path().join("app")).map(|branch| branch.to_string());
    assert_eq!(found.as_deref(), Some("old"));
}
