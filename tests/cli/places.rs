//! `zcoder paths` and `zcoder purge`: where things lie, and that nothing but what is ours and was listed is removed.

use crate::support::run::{Ran, run, zcoder};
use crate::support::temp::Temp;
use std::fs::{self, File};
use std::os::unix::fs::symlink;
use std::process::Command;
use zcoder::sys::file::Locked;

/// A home with something of every kind, in one folder.
fn home() -> Temp {
    let temp = Temp::new();
    temp.write("work/.zcoder/rules", "deny git\n");
    temp.write("home/config.json", "{\"quiet\": true}");
    temp.write("home/rules", "allow make\n");
    temp.write("home/sessions/work-0123456789abcdef/s1/lock", "");
    temp.write(
        "home/sessions/work-0123456789abcdef/s1/log-1.jsonl",
        "x".repeat(2_000),
    );
    temp.write("home/undo/work-0123456789abcdef/s1/session", "{}");
    temp.write("home/workspaces/work-0123456789abcdef/trust", "#");
    temp.write("tmp/zcoder-0123456789ab/1", "old");
    temp.write("tmp/zcoder-abcdefghijkl/1", "new");
    temp.write("tmp/zcoder-demo-01234567/1", "kept on purpose");
    for name in ["zcoder-0123456789ab", "zcoder-demo-01234567"] {
        let touched = Command::new("touch")
            .args(["-d", "2020-01-01", name])
            .current_dir(temp.path().join("tmp"))
            .status();
        assert!(touched.expect("touch").success());
    }
    temp
}

fn with(temp: &Temp, args: &[&str], env: &[(&str, &str)]) -> Ran {
    let mut command = zcoder(&temp.path().join("work"), args);
    command.env("HOME", temp.path());
    command.env("ZCODER_HOME", temp.path().join("home"));
    command.env("TMPDIR", temp.path().join("tmp"));
    command.envs(env.iter().copied());
    run(&mut command)
}

fn row(kind: &str, size: &str, path: &str) -> String {
    format!("{kind:9}  {size:24}  {path}\n")
}

/// Names in a folder, sorted.
fn names(temp: &Temp, folder: &str) -> Vec<String> {
    let entries = fs::read_dir(temp.path().join(folder)).expect("a folder");
    let mut names: Vec<String> = entries
        .map(|entry| {
            entry
                .expect("an entry")
                .file_name()
                .into_string()
                .expect("UTF-8")
        })
        .collect();
    names.sort();
    names
}

#[test]
fn paths_lists_what_is_there_and_what_is_not() {
    let temp = home();
    let ran = with(&temp, &["paths"], &[]);
    let expected = [
        row("settings", "none", "/etc/zcoder/config.json"),
        row("settings", "15 bytes", "~/home/config.json"),
        row("rules", "11 bytes", "~/home/rules"),
        row("sessions", "2 files, 2,000 bytes", "~/home/sessions"),
        row("undo", "1 file, 2 bytes", "~/home/undo"),
        row("kept", "1 file, 1 byte", "~/home/workspaces"),
        row("outputs", "1 file, 3 bytes", "~/tmp/zcoder-0123456789ab"),
        row("guidance", "none", "~/home/AGENTS.override.md"),
        row("guidance", "none", "~/home/AGENTS.md"),
        row("commands", "none", "~/home/commands"),
        row("skills", "none", "~/.agents/skills"),
        row("skills", "none", "~/.config/agents/skills"),
        row("git", "none", "~/.config/git/config"),
        row("git", "none", "~/.gitconfig"),
        row("git", "none", "~/.config/git/ignore"),
        row("project", "9 bytes", ".zcoder/rules"),
        row("workspace", "", "~/work"),
    ];
    assert_eq!((ran.code, ran.err.as_str()), (Some(0), ""));
    assert_eq!(ran.out, expected.concat());
    // Without a home there is little; nothing fails.
    let mut bare = zcoder(&temp.path().join("work"), &["paths"]);
    bare.env("TMPDIR", temp.path().join("home"))
        .env("HOME", "home");
    let ran = run(&mut bare);
    let work = temp.path().join("work").display().to_string();
    let expected = [&expected[0], &expected[15], &row("workspace", "", &work)];
    assert_eq!(ran.code, Some(0));
    assert_eq!(
        ran.err,
        "zcoder: HOME is not used: it is no absolute path\n"
    );
    assert_eq!(ran.out, expected.map(String::as_str).concat());
}

#[test]
fn purge_removes_what_it_lists_and_only_with_a_yes() {
    let temp = home();
    let listed = [
        row("sessions", "2 files, 2,000 bytes", "~/home/sessions"),
        row("undo", "1 file, 2 bytes", "~/home/undo"),
        row("outputs", "1 file, 3 bytes", "~/tmp/zcoder-0123456789ab"),
    ];
    for env in [&[][..], &[("ZCODER_YES", "1")]] {
        let ran = with(&temp, &["purge"], env);
        assert_eq!((ran.code, ran.out), (Some(0), listed.concat()));
        assert_eq!(
            ran.err,
            "nothing was removed; `zcoder purge --yes` removes these\n"
        );
    }
    assert_eq!(names(&temp, "home").len(), 5);
    let ran = with(&temp, &["purge", "--yes"], &[]);
    assert_eq!((ran.code, ran.out), (Some(0), listed.concat()));
    assert_eq!(ran.err, "removed\n");
    assert_eq!(names(&temp, "home"), ["config.json", "rules", "workspaces"]);
    assert_eq!(
        names(&temp, "tmp"),
        ["zcoder-abcdefghijkl", "zcoder-demo-01234567"]
    );
    let ran = with(&temp, &["purge", "--yes"], &[]);
    assert_eq!((ran.code, ran.out.as_str()), (Some(0), ""));
    assert_eq!(ran.err, "there is nothing to remove\n");
    let ran = with(&temp, &["purge", "--yes", "--config"], &[]);
    assert_eq!(
        ran.out,
        [
            row("settings", "15 bytes", "~/home/config.json"),
            row("rules", "11 bytes", "~/home/rules"),
            row("kept", "1 file, 1 byte", "~/home/workspaces"),
        ]
        .concat()
    );
    assert_eq!((ran.code, names(&temp, "home").len()), (Some(0), 0));
    assert_eq!(names(&temp, "work/.zcoder"), ["rules"], "a project's own");
}

#[test]
fn a_session_at_work_keeps_everything() {
    for lock in [
        "home/sessions/work-0123456789abcdef/s1/lock",
        "home/undo/work-0123456789abcdef/s1/session",
    ] {
        let temp = home();
        let file = File::open(temp.path().join(lock)).expect("a lock");
        let held = Locked::take(file).expect("locks").expect("free");
        let ran = with(&temp, &["purge", "--yes"], &[]);
        let folder = lock.rsplit_once('/').expect("a folder").0;
        assert_eq!(
            (ran.code, ran.err),
            (
                Some(1),
                format!(
                    "zcoder: a session is at work in `~/{folder}`; nothing was removed: end it, and try again\n"
                )
            )
        );
        assert_eq!(names(&temp, "home").len(), 5);
        assert_eq!(names(&temp, "tmp").len(), 3);
        drop(held);
        assert_eq!(with(&temp, &["purge", "--yes"], &[]).code, Some(0));
    }
}

#[test]
fn links_and_what_is_not_of_zcoder_stay() {
    let temp = home();
    fs::rename(temp.path().join("home/undo"), temp.path().join("elsewhere")).expect("moved");
    symlink("../elsewhere", temp.path().join("home/undo")).expect("a link");
    symlink(
        "../../elsewhere",
        temp.path().join("home/sessions/work-0123456789abcdef/out"),
    )
    .expect("a link");
    temp.write("home/sessions/novel/chapter-1.txt", "mine");
    let ran = with(&temp, &["purge", "--yes"], &[]);
    assert_eq!(ran.code, Some(1));
    assert_eq!(
        ran.err,
        "zcoder: `~/home/undo` stays: it is a link\n\
         zcoder: `~/home/sessions` could not be removed whole: something in it is not of zcoder\n"
    );
    assert_eq!(names(&temp, "home/sessions"), ["novel"]);
    assert_eq!(temp.read("home/sessions/novel/chapter-1.txt"), b"mine");
    assert_eq!(names(&temp, "elsewhere"), ["work-0123456789abcdef"]);
}
