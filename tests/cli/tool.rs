//! `zcoder tool`: one tool with the agent's checks, questions and results.

use crate::support::run::{Screen, ran, run, run_with, signal, start, zcoder};
use crate::support::temp::Temp;
use std::io::{BufRead, BufReader};

#[test]
fn reading_needs_nobody() {
    let temp = Temp::new();
    temp.write("a.txt", "one\n");
    let ran = run(&mut zcoder(
        temp.path(),
        &["tool", "read_file", r#"{"path":"a.txt"}"#],
    ));
    assert_eq!(
        (ran.code, ran.out.as_str(), ran.err.as_str()),
        (Some(0), "one\n", "")
    );
    let ran = run(&mut zcoder(
        temp.path(),
        &["tool", "read_file", r#"{"path":"b.txt"}"#],
    ));
    assert_eq!(ran.code, Some(1));
    assert_eq!(ran.err, "zcoder: the tool's result is: failed\n");
    let ran = run(&mut zcoder(temp.path(), &["tool", "raed_file", "{}"]));
    assert_eq!(ran.code, Some(1));
    assert!(
        ran.out.contains("read_file"),
        "the nearest name: {}",
        ran.out
    );
}

#[test]
fn edits_are_made_asked_for_or_refused() {
    let temp = Temp::new();
    temp.write("a.txt", "one\n");
    let edit = r#"{"path":"a.txt","old_text":"one","new_text":"two"}"#;
    let args = ["tool", "replace_text", edit];
    let with = |more: &[&str]| run(&mut zcoder(temp.path(), &[&args[..], more].concat()));
    assert_eq!(with(&["--read-only"]).code, Some(1));
    assert_eq!(with(&["--edits", "ask"]).code, Some(4), "nobody to ask");
    assert_eq!(with(&["--edits", "ask", "--deny-commands"]).code, Some(1));
    assert_eq!(temp.read("a.txt"), b"one\n");
    let mut command = zcoder(temp.path(), &[&args[..], &["--edits", "ask"]].concat());
    let mut screen = Screen::start(&mut command);
    let shown = screen.until("a reason for the no: ");
    assert!(shown.contains("  | -one\r\n  | +two\r\n"), "{shown}");
    screen.write("y\n");
    assert_eq!(screen.end().1, Some(0));
    assert_eq!(temp.read("a.txt"), b"two\n");
}

#[test]
fn commands_are_asked_for() {
    let temp = Temp::new();
    let args = [
        "tool",
        "run_command",
        r#"{"command":"echo made > made; echo out"}"#,
    ];
    let nobody = run(&mut zcoder(temp.path(), &args));
    assert_eq!((nobody.code, nobody.out.as_str()), (Some(4), ""));
    assert_eq!(
        nobody.err,
        "zcoder: run_command: echo made > made; echo out: needs an approval, and there is no terminal to ask on\n\
         allow it with --yes, or go on without it with --deny-commands\n"
    );
    assert!(!temp.path().join("made").exists());
    let allowed = run(&mut zcoder(temp.path(), &[&args[..], &["--yes"]].concat()));
    assert_eq!((allowed.code, allowed.err.as_str()), (Some(0), ""));
    assert!(allowed.out.ends_with("out\n"), "{}", allowed.out);
    assert_eq!(temp.read("made"), b"made\n");
}

#[test]
fn arguments_from_standard_input_and_arguments_that_are_none() {
    let temp = Temp::new();
    let args = ["tool", "write_file", "-"];
    let input = br#"{"path":"new.txt","content":"text\n"}"#;
    let ran = run_with(&mut zcoder(temp.path(), &args), input);
    assert_eq!(ran.code, Some(0), "{}", ran.err);
    assert_eq!(temp.read("new.txt"), b"text\n");
    let bad = run(&mut zcoder(temp.path(), &["tool", "read_file", "{path:1}"]));
    assert_eq!((bad.code, bad.out.as_str()), (Some(2), ""));
    assert_eq!(
        bad.err,
        "zcoder: `zcoder tool {path:1}`: expected one JSON object; line 1, column 2: expected a quoted name or `}` after `{` at byte 1, found `p`\n"
    );
    let list = run(&mut zcoder(temp.path(), &["tool", "read_file", "[]"]));
    assert_eq!(
        list.err,
        "zcoder: `zcoder tool []`: expected one JSON object, such as {\"path\":\"README.md\"}\n"
    );
}

#[test]
fn signals_end_the_command_and_the_program() {
    for (name, code) in [("INT", 130), ("TERM", 143), ("HUP", 129)] {
        let temp = Temp::new();
        // The FIFO is a rendezvous: reading it waits for the command to run.
        let status = std::process::Command::new("mkfifo")
            .arg(temp.path().join("up"))
            .status();
        assert!(status.expect("mkfifo").success());
        let args = [
            "tool",
            "run_command",
            r#"{"command":"echo $$ > up; sleep 600"}"#,
            "--yes",
        ];
        let child = start(&mut zcoder(temp.path(), &args));
        let fifo = std::fs::File::open(temp.path().join("up")).expect("the FIFO");
        let mut pid = String::new();
        BufReader::new(fifo).read_line(&mut pid).expect("a number");
        signal(&child, name);
        let ran = ran(child.wait_with_output().expect("its end"));
        assert_eq!(ran.code, Some(code), "{name}: {}", ran.err);
        let line = std::fs::read(format!("/proc/{}/cmdline", pid.trim()));
        assert!(
            line.map_or(true, |line| line.is_empty()),
            "{name}: {pid} is still there"
        );
    }
}

#[test]
fn an_approval_that_nobody_can_give_names_the_thing_and_a_flag_that_helps() {
    let temp = Temp::new();
    let check = |tool: &str, arguments: &str, more: &[&str], said: &str| {
        let args = [&["tool", tool, arguments], more].concat();
        let ran = run(&mut zcoder(temp.path(), &args));
        assert_eq!((ran.code, ran.err.as_str()), (Some(4), said));
    };
    check(
        "write_file",
        r#"{"path":".envrc","content":"x"}"#,
        &[],
        "zcoder: write_file: .envrc: needs an approval, and there is no terminal to ask on\n\
         allow it with --yes, or go on without it with --deny-commands\n",
    );
    check(
        "run_command",
        r#"{"command":"rm -rf /"}"#,
        &["--yes"],
        "zcoder: run_command: rm -rf /: is asked for even under --yes, and there is no terminal to ask on\n\
         run zcoder on a terminal, or do this step yourself\n",
    );
}
