//! `zcoder policy check`, `zcoder rules`, `zcoder trust`: the real binary with files of its own user.

use crate::support::run::{Ran, Screen, run, zcoder};
use crate::support::temp::Temp;
use std::process::Command;

/// `zcoder` in `work`, with its files in `user`.
fn command(temp: &Temp, args: &[&str]) -> Command {
    let mut command = zcoder(&temp.path().join("work"), args);
    command.env("ZCODER_HOME", temp.path().join("user"));
    command
}

fn with(temp: &Temp, args: &[&str]) -> Ran {
    run(&mut command(temp, args))
}

fn project() -> Temp {
    let temp = Temp::new();
    temp.write("work/src/a.c", "x\n");
    temp
}

#[track_caller]
fn check(temp: &Temp, args: &[&str], code: i32, out: &str) {
    let ran = with(temp, &[&["policy", "check"], args].concat());
    assert_eq!(
        (ran.code, ran.out.as_str()),
        (Some(code), out),
        "{}",
        ran.err
    );
}

#[test]
fn a_check_shows_each_part_and_the_verdict() {
    let temp = project();
    temp.write("user/rules", "allow make\ndeny curl\nask git push\n");
    let file = temp.path().join("user/rules").display().to_string();
    check(
        &temp,
        &["cd src && make -j8 2>&1 | tail -5; rm -r x"],
        4,
        &format!(
            "cd src         stays in the workspace\n\
             make -j8 2>&1  allow make ({file}:1)\n\
             tail -5        only reads what it is given\n\
             rm -r x        no rule allows it\n\
             verdict        ask\n"
        ),
    );
    check(
        &temp,
        &["make"],
        0,
        &format!("make     allow make ({file}:1)\nverdict  allow: allow make ({file}:1)\n"),
    );
    check(
        &temp,
        &["ctest $X"],
        4,
        "ctest $X        no rule allows it\nnot understood  byte 6: the words that `$X` stands for are not known\nverdict         ask\n",
    );
    check(
        &temp,
        &["ctest -N"],
        4,
        "ctest -N       no rule allows it\na rule for it  allow ctest\nverdict        ask\n",
    );
    check(
        &temp,
        &["curl x"],
        1,
        &format!("curl x   no rule allows it\nverdict  deny: deny curl ({file}:2)\n"),
    );
    check(
        &temp,
        &["--yes", "rm x"],
        0,
        "rm x     no rule allows it\nverdict  allow: --yes\n",
    );
    check(
        &temp,
        &["--yes", "git push"],
        4,
        &format!(
            "git push  no rule allows it\nasks      asked for by ask git push ({file}:3)\nverdict   ask\n"
        ),
    );
    check(
        &temp,
        &["--read-only", "make"],
        1,
        &format!("make     allow make ({file}:1)\nverdict  deny: --read-only\n"),
    );
    let stop = "rm -rf /  no rule allows it\n";
    let note = "note      danger: rm of / reaches far too much\nnote      names paths outside the workspace: /\n";
    let outside = stop.replace("no rule allows it", "`/` is outside the workspace");
    check(
        &temp,
        &["rm -rf /"],
        4,
        &format!("{outside}{note}verdict   ask\n"),
    );
    check(
        &temp,
        &["--profile", "sysadmin", "rm -rf /"],
        1,
        &format!("{outside}verdict   deny: hard stop\n"),
    );
    let wrong = with(&temp, &["policy", "chekc", "x"]);
    assert_eq!(
        (wrong.code, wrong.err.as_str()),
        (
            Some(2),
            "zcoder: `zcoder policy` does not take `chekc`: zcoder policy check CMD\n"
        )
    );
}

#[test]
fn faults_and_warnings_of_a_rules_file_are_said() {
    let temp = project();
    temp.write("user/rules", "allow python3\nallow 'x\n");
    let file = temp.path().join("user/rules").display().to_string();
    let ran = with(&temp, &["policy", "check", "ls"]);
    assert_eq!(ran.code, Some(0));
    assert_eq!(
        ran.err,
        format!(
            "zcoder: {file}:2: byte 6: the quote `'` is not closed; the line was left out\n\
             zcoder: {file}:1: allow python3: `python3` runs whatever its arguments or its input say: this allows any code\n"
        )
    );
    // A file that is there and cannot be read is no permission.
    std::fs::remove_file(temp.path().join("user/rules")).expect("removed");
    temp.write("user/rules/x", "");
    let ran = with(&temp, &["policy", "check", "ls"]);
    assert_eq!(ran.code, Some(4));
    assert_eq!(
        ran.err,
        format!(
            "zcoder: {file}: is a directory; it cannot be read; every command is asked for until that is mended\n"
        )
    );
}

#[test]
fn programs_found_in_the_workspace_are_no_known_programs() {
    let temp = project();
    for path in [".", "", "bin", "/bin:"] {
        let mut command = command(&temp, &["policy", "check", "ls"]);
        command.env("PATH", path);
        let ran = run(&mut command);
        assert_eq!(ran.code, Some(4), "{path:?}: {}", ran.err);
    }
    let mut inside = command(&temp, &["policy", "check", "ls"]);
    inside.env(
        "PATH",
        format!("/bin:{}/tools", temp.path().join("work").display()),
    );
    let ran = run(&mut inside);
    assert_eq!(ran.code, Some(4));
    let folder = temp.path().join("work/tools").display().to_string();
    assert_eq!(
        ran.err,
        format!(
            "zcoder: PATH has {folder}, which may hold programs of the workspace: no command passes without a rule\n"
        )
    );
}

#[test]
fn a_rule_kept_by_an_answer_is_listed_and_revoked() {
    let temp = project();
    let none = with(&temp, &["rules"]);
    assert_eq!((none.code, none.out.as_str()), (Some(0), ""));
    let tool = [
        "tool",
        "run_command",
        r#"{"command":"touch made && touch made2"}"#,
    ];
    let mut screen = Screen::wide(&mut command(&temp, &tool), 200);
    let shown = screen.until("a reason for the no: ");
    assert!(shown.contains("  part     touch made: no rule allows it\r\n  part     touch made2: no rule allows it\r\n"), "{shown}");
    assert!(shown.contains("  rule     allow touch\r\n"), "{shown}");
    assert!(shown.ends_with("y yes, once · a exactly this, for this run · r rule, for this run · k keep rule · n no · or a reason for the no: "), "{shown}");
    screen.write("k\n");
    assert_eq!(screen.end().1, Some(0));
    assert!(temp.path().join("work/made2").exists());
    // Now it runs with nobody to ask.
    let again = with(
        &temp,
        &["tool", "run_command", r#"{"command":"touch made3"}"#],
    );
    assert_eq!((again.code, again.err.as_str()), (Some(0), ""));
    temp.write("user/rules", "deny curl\n");
    let file = temp.path().join("user/rules").display().to_string();
    let list = with(&temp, &["rules"]);
    assert_eq!(
        list.out,
        format!("kept for this workspace\n  1  allow touch\n{file}\n     deny curl\n")
    );
    for (args, err) in [
        (
            &["rules", "revoke", "2"][..],
            "zcoder: no kept rule `2`; `zcoder rules` lists them\n",
        ),
        (
            &["rules", "revoke", "0"],
            "zcoder: no kept rule `0`; `zcoder rules` lists them\n",
        ),
        (
            &["rules", "revoke", "x"],
            "zcoder: no kept rule `x`; `zcoder rules` lists them\n",
        ),
    ] {
        let ran = with(&temp, args);
        assert_eq!((ran.code, ran.err.as_str()), (Some(1), err));
    }
    for args in [
        &["rules", "revoke"][..],
        &["rules", "forget", "1"],
        &["rules", "revoke", "1", "2"],
    ] {
        assert_eq!(with(&temp, args).code, Some(2), "{args:?}");
    }
    let revoked = with(&temp, &["rules", "revoke", "1"]);
    assert_eq!(
        (revoked.code, revoked.out.as_str()),
        (Some(0), "revoked: allow touch\n")
    );
    assert_eq!(
        with(
            &temp,
            &["tool", "run_command", r#"{"command":"touch made4"}"#]
        )
        .code,
        Some(4)
    );
}

#[test]
fn what_a_folder_brings_along_is_used_once_it_is_trusted() {
    let temp = project();
    temp.write("work/.zcoder/rules", "deny touch\nallow rm\n");
    temp.write(
        "work/.zcoder/config.json",
        r#"{"checks":{"test":"true && make test"}}"#,
    );
    let touch = ["policy", "check", "touch x"];
    let unused = "zcoder: not used, since it is not trusted: .zcoder/config.json, .zcoder/rules; `zcoder trust` shows and accepts it, --trust does for one run\n";
    let before = with(&temp, &touch);
    assert_eq!((before.code, before.err.as_str()), (Some(4), unused));
    // A flag for one run.
    let fault = "zcoder: .zcoder/rules:2: a project cannot allow anything; the line was left out (put it into your own rules)\n";
    let once = with(&temp, &[&touch[..], &["--trust"]].concat());
    assert_eq!((once.code, once.err.as_str()), (Some(1), fault));
    assert_eq!(
        once.out,
        "touch x  no rule allows it\nverdict  deny: deny touch (.zcoder/rules:1)\n"
    );
    assert_eq!(with(&temp, &touch).err, unused);
    // Nobody to ask, and a variable is no yes.
    let mut variable = command(&temp, &["trust"]);
    variable.env("ZCODER_YES", "1");
    let nobody = run(&mut variable);
    assert_eq!((nobody.code, nobody.out.as_str()), (Some(4), ""));
    assert!(
        nobody.err.ends_with(
            "zcoder: there is no terminal to ask on; `zcoder trust --yes` trusts exactly this\n"
        ),
        "{}",
        nobody.err
    );
    // No, then yes, on a terminal.
    for (answer, code) in [("\n", 1), ("n\n", 1), ("y\n", 0)] {
        let mut screen = Screen::wide(&mut command(&temp, &["trust"]), 200);
        let shown = screen.until("trust exactly these contents? y yes · n no: ");
        assert!(
            shown.contains("  .zcoder/config.json  settings          39 bytes  "),
            "{shown}"
        );
        assert!(
            shown.contains("    check test: true && make test\r\n"),
            "{shown}"
        );
        assert!(
            shown.contains("    deny touch\r\n    line 2: a project cannot allow anything"),
            "{shown}"
        );
        screen.write(answer);
        assert_eq!(screen.end().1, Some(code), "{answer:?}");
    }
    let after = with(&temp, &touch);
    assert_eq!((after.code, after.err.as_str()), (Some(1), fault));
    let list = with(&temp, &["trust", "--list"]);
    let work = temp.path().join("work").display().to_string();
    assert_eq!(
        list.out,
        format!("{work}\n  .zcoder/config.json\n  .zcoder/rules\n")
    );
    // A change is not used.
    temp.write("work/.zcoder/rules", "deny make\n");
    let changed = with(&temp, &touch);
    assert_eq!(
        (changed.code, changed.err.as_str()),
        (
            Some(4),
            "zcoder: not used, since it is not trusted: .zcoder/rules (changed); `zcoder trust` shows and accepts it, --trust does for one run\n"
        )
    );
    let yes = with(&temp, &["trust", "--yes"]);
    assert_eq!((yes.code, yes.err.as_str()), (Some(0), "trusted\n"));
    assert_eq!(with(&temp, &["policy", "check", "make"]).code, Some(1));
    // Nothing new: nothing is asked.
    let settled = with(&temp, &["trust"]);
    assert_eq!((settled.code, settled.err.as_str()), (Some(0), ""));
    let revoked = with(&temp, &["trust", "--revoke"]);
    assert_eq!(
        (revoked.code, revoked.err.as_str()),
        (Some(0), "2 files are no longer trusted\n")
    );
    assert_eq!(
        with(&temp, &["trust", "--list"]).err,
        "nothing is trusted in any folder\n"
    );
    assert_eq!(with(&temp, &["policy", "check", "make"]).code, Some(4));
}

#[test]
fn a_folder_that_brings_nothing_needs_no_trust() {
    let temp = project();
    let ran = with(&temp, &["trust"]);
    assert_eq!(
        (ran.code, ran.err.as_str()),
        (Some(0), "nothing here wants to be trusted\n")
    );
    assert!(!temp.path().join("user").exists());
}

#[test]
fn an_accepted_check_runs_unasked() {
    let temp = project();
    temp.write(
        "work/.zcoder/config.json",
        r#"{"checks":{"test":"touch made > log"}}"#,
    );
    let tool = [
        "tool",
        "run_command",
        r#"{"command":"touch made > log"}"#,
        "--trust",
    ];
    let mut screen = Screen::wide(&mut command(&temp, &tool), 200);
    let shown = screen.until("a reason for the no: ");
    assert!(
        shown.contains(
            "  asks     the project's check `test`, not accepted yet\r\n  rule     check test\r\n"
        ),
        "{shown}"
    );
    assert!(
        shown.contains("a exactly this, for this run · k keep rule"),
        "{shown}"
    );
    screen.write("k\n");
    assert_eq!(screen.end().1, Some(0));
    assert_eq!(with(&temp, &tool).code, Some(0));
    assert_eq!(
        with(&temp, &tool[..3]).code,
        Some(4),
        "a folder that is not trusted has no checks"
    );
    assert_eq!(
        with(&temp, &["rules"]).out,
        "kept for this workspace\n  1  check test\n"
    );
}
