//! `zcoder undo`, `redo`, `diff` as a person types them.

use crate::support::run::{Ran, Screen, run, zcoder};
use crate::support::temp::Temp;
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::process::Command;

/// A workspace in which a tool replaced a word.
fn edited() -> Temp {
    let temp = Temp::new();
    temp.write("ws/a.txt", "one\ntwo\n");
    let json = r#"{"path":"a.txt","old_text":"two","new_text":"zwei"}"#;
    assert_eq!(
        run(&mut command(&temp, &["tool", "replace_text", json])).code,
        Some(0)
    );
    temp
}

fn command(temp: &Temp, args: &[&str]) -> Command {
    let mut command = zcoder(&temp.path().join("ws"), args);
    command.env("ZCODER_HOME", temp.path().join("home"));
    command
}

/// Ids replaced.
#[track_caller]
fn check(temp: &Temp, args: &[&str], code: i32, out: &str, err: &str) {
    let Ran {
        code: got,
        out: stdout,
        err: stderr,
    } = run(&mut command(temp, args));
    let clean = |text: String| {
        let mut words: Vec<String> = text.split(' ').map(String::from).collect();
        for word in &mut words {
            let stamp = word.split(['\n', ',', '/']).next().unwrap_or_default();
            if stamp.len() == 27 && stamp.starts_with("20") {
                *word = word.replace(&stamp.to_string(), "ID");
            }
        }
        words
            .join(" ")
            .replace(&temp.path().display().to_string(), "TEMP")
    };
    assert_eq!(
        (clean(stdout), clean(stderr)),
        (out.to_string(), err.to_string())
    );
    assert_eq!(got, Some(code));
}

const LISTED: &str = "session ID\nundo turn 1 (zcoder tool replace_text)\n  a.txt +1 -1\n";

#[test]
fn without_a_terminal_the_step_is_listed_and_not_made() {
    let temp = edited();
    let err = "zcoder: nothing was changed: there is no terminal to ask on; --yes makes the step\n";
    check(&temp, &["undo"], 4, LISTED, err);
    assert_eq!(temp.read("ws/a.txt"), b"one\nzwei\n");
}

#[test]
fn back_and_forth_with_yes() {
    let temp = edited();
    let out = format!("{LISTED}done; `zcoder redo` takes this step back\n");
    check(&temp, &["undo", "--yes"], 0, &out, "");
    assert_eq!(temp.read("ws/a.txt"), b"one\ntwo\n");
    let out = out
        .replace("undo turn", "redo turn")
        .replace("`zcoder redo`", "`zcoder undo`");
    check(&temp, &["redo", "--yes"], 0, &out, "");
    assert_eq!(temp.read("ws/a.txt"), b"one\nzwei\n");
}

#[test]
fn a_patch_of_the_mode_alone_is_taken_back_and_made_again() {
    let temp = Temp::new();
    temp.write("ws/run.sh", "exit\n");
    let path = temp.path().join("ws/run.sh");
    let mode = || fs::metadata(&path).expect("there").permissions().mode() & 0o777;
    fs::set_permissions(&path, fs::Permissions::from_mode(0o640)).expect("mode");
    let json = r#"{"patch":"diff --git a/run.sh b/run.sh\nold mode 100644\nnew mode 100755\n"}"#;
    let ran = run(&mut command(&temp, &["tool", "apply_patch", json]));
    assert_eq!((ran.code, mode()), (Some(0), 0o750), "{}", ran.err);
    let step = |word: &str, line: &str, back: &str| {
        let out = format!(
            "session ID\n{word} turn 1 (zcoder tool apply_patch)\n  {line}\ndone; `zcoder {back}` takes this step back\n"
        );
        check(&temp, &[word, "--yes"], 0, &out, "");
    };
    step("undo", "run.sh +0 -0, no longer executable", "redo");
    assert_eq!(mode(), 0o640);
    step("redo", "run.sh +0 -0, executable", "undo");
    assert_eq!(mode(), 0o750);
}

#[test]
fn a_person_is_asked_and_only_a_yes_counts() {
    for (typed, made) in [
        ("y\r", true),
        ("n\r", false),
        ("\r", false),
        ("yesno\r", false),
    ] {
        let temp = edited();
        let mut screen = Screen::start(&mut command(&temp, &["undo"]));
        screen.until("make this step? y or n: ");
        screen.write(typed);
        let (_, code) = screen.end();
        assert_eq!(code, Some(if made { 0 } else { 1 }), "{typed:?}");
        let text = if made { "one\ntwo\n" } else { "one\nzwei\n" };
        assert_eq!(temp.read("ws/a.txt"), text.as_bytes(), "{typed:?}");
    }
}

#[test]
fn a_later_change_is_named_and_force_keeps_a_copy() {
    let temp = edited();
    temp.write("ws/a.txt", "mine\n");
    check(
        &temp,
        &["undo", "--yes"],
        1,
        "session ID\nundo turn 1 (zcoder tool replace_text)\n",
        "zcoder: nothing was changed:\n  `a.txt` was changed since, not by this session\n\
         --force goes over these changes and keeps a copy of each file\n",
    );
    let ran = run(&mut command(&temp, &["undo", "--yes", "--force"]));
    assert_eq!((ran.code, ran.err.as_str()), (Some(0), ""));
    let kept = ran.out.lines().find_map(|line| line.strip_prefix("kept "));
    assert_eq!(
        std::fs::read(kept.expect("a copy")).expect("readable"),
        b"mine\n"
    );
    assert!(ran.out.contains("  a.txt +2 -1, by force\n"), "{}", ran.out);
    assert_eq!(temp.read("ws/a.txt"), b"one\ntwo\n");
}

#[test]
fn a_diff_is_a_patch_and_the_rest_goes_to_standard_error() {
    let temp = edited();
    temp.write("ws/.git/HEAD", "ref: refs/heads/main\n");
    check(
        &temp,
        &["diff"],
        0,
        "diff --git a/a.txt b/a.txt\n--- a/a.txt\n+++ b/a.txt\n@@ -1,2 +1,2 @@\n one\n-two\n+zwei\n",
        "session ID, branch main\n  a.txt +1 -1, 1 hunk\n",
    );
}

#[test]
fn a_hunk_is_reverted_and_the_revert_undone() {
    let temp = edited();
    check(
        &temp,
        &["diff", "--revert", "a.txt:1", "--yes"],
        0,
        "session ID\nrevert a.txt:1\n  a.txt +1 -1\ndone; `zcoder undo` takes this step back\n",
        "",
    );
    assert_eq!(temp.read("ws/a.txt"), b"one\ntwo\n");
    check(
        &temp,
        &["undo", "--yes"],
        0,
        "session ID\nundo the revert of a.txt:1\n  a.txt +1 -1\ndone; `zcoder redo` takes this step back\n",
        "",
    );
    assert_eq!(temp.read("ws/a.txt"), b"one\nzwei\n");
}

#[test]
fn what_is_wrong_with_the_words_is_said() {
    let temp = edited();
    check(
        &temp,
        &["undo", "--turn", "0"],
        2,
        "",
        "zcoder: `--turn 0`: expected a whole number from 1 on\n",
    );
    check(
        &temp,
        &["diff", "--force"],
        2,
        "",
        "zcoder: --force works only with --revert\n",
    );
    check(
        &temp,
        &["diff", "a", "b"],
        2,
        "",
        "zcoder: `zcoder diff` does not take `b`: zcoder diff [SESSION]\n",
    );
    check(
        &temp,
        &["diff", "--revert", ":1"],
        2,
        "",
        "zcoder: `--revert :1`: expected a file, or a file and the number of a hunk: src/main.rs:2\n",
    );
}

#[test]
fn without_a_home_edits_are_made_and_undo_says_why_not() {
    let temp = Temp::new();
    let json = r#"{"path":"a.txt","content":"x\n"}"#;
    let ran = run(&mut zcoder(temp.path(), &["tool", "write_file", json]));
    assert_eq!(
        ran.err,
        "zcoder: there is no undo journal, so the edits of this run cannot be taken back: \
         none of HOME, XDG_STATE_HOME and ZCODER_HOME names a folder for it\n"
    );
    assert_eq!((ran.code, temp.read("a.txt")), (Some(0), b"x\n".to_vec()));
    let ran = run(&mut zcoder(temp.path(), &["undo"]));
    assert_eq!(
        (ran.code, ran.err.as_str()),
        (
            Some(1),
            "zcoder: there is no undo journal: none of HOME, XDG_STATE_HOME and ZCODER_HOME names a folder for it\n"
        )
    );
}
