//! A turn that a signal ends is told when its session goes on: when, by what, and at what.

use super::kit::Kit;
use crate::support::run::{Screen, ran, signal, standin, start};
use std::io::{BufRead, BufReader};

/// What the next run says of the turn before it, without the time.
#[track_caller]
fn told(kit: &Kit) -> String {
    let server = standin(None);
    let host = server.address().to_string();
    let args = ["--continue", "-p", "list files", "--host", &host];
    let ran = kit.run(&[&args[..], &["-q"]].concat());
    assert_eq!(ran.code, Some(0), "{ran:?}");
    let said = ran.err.split_once("zcoder: turn interrupted ");
    let (_, said) = said.unwrap_or_else(|| panic!("{}", ran.err));
    let (time, said) = said.split_once(' ').expect("a time");
    let digits: Vec<&str> = time.split(':').collect();
    assert!(
        digits.len() == 2 && digits.iter().all(|part| part.len() == 2),
        "{time}"
    );
    // It is told once: the next turn ended by itself.
    let again = kit.run(&args);
    assert!(!again.err.contains("interrupted"), "{}", again.err);
    said.trim_end().to_string()
}

/// Runs a task until it has told `until`, and then sends a signal; the exit code.
fn stopped(kit: &Kit, scene: Option<&str>, task: &str, until: &str, name: &str) -> Option<i32> {
    let server = standin(scene);
    let host = server.address().to_string();
    let args = ["--output", "jsonl", "--yes", "-p", task, "--host", &host];
    let mut child = start(&mut kit.command(&args));
    let mut reader = BufReader::new(child.stdout.take().expect("a pipe"));
    let mut line = String::new();
    while !line.contains(until) {
        line.clear();
        assert!(reader.read_line(&mut line).expect("a line") > 0, "it ended");
    }
    // Its other end must stay open, or the run would end for that reason.
    child.stdout = Some(reader.into_inner());
    signal(&child, name);
    ran(child.wait_with_output().expect("its end")).code
}

#[test]
fn a_signal_is_told_with_the_stage_it_came_at() {
    let up = "echo up; sleep 600";
    let (run, own) = (format!("run `{up}`"), format!("!{up}"));
    let output = r#""type":"output""#;
    for (scene, task, until, name, code, expected) in [
        (
            Some("never-answers"),
            "hello",
            r#""for":"reading""#,
            "HUP",
            Some(129),
            "(hang-up) while reading the prompt",
        ),
        (
            Some("stall"),
            "hello",
            r#""type":"content""#,
            "INT",
            Some(130),
            "(cancel) while the model was answering",
        ),
        (
            Some("stall"),
            "hello",
            r#""type":"content""#,
            "QUIT",
            Some(131),
            "(quit) while the model was answering",
        ),
        (
            None,
            &run,
            output,
            "TERM",
            Some(143),
            "(terminated) while running run_command echo up; sleep 600",
        ),
        (
            None,
            &own,
            output,
            "HUP",
            Some(129),
            "(hang-up) while running your own `echo up; sleep 600`",
        ),
        (
            None,
            &run,
            output,
            "KILL",
            None,
            "(ended without a word) while running run_command",
        ),
        (
            Some("never-answers"),
            "hello",
            r#""for":"reading""#,
            "KILL",
            None,
            "(ended without a word) while the model was reading or answering",
        ),
    ] {
        let kit = Kit::new();
        assert_eq!(stopped(&kit, scene, task, until, name), code, "{expected}");
        let id = kit.run(&["sessions"]).out[..27].to_string();
        let shown = kit.run(&["sessions", "show", &id]).out;
        let line = format!("cancelled {expected};");
        assert_eq!(shown.contains(&line), name != "KILL", "{shown}");
        let ended = "zcoder was ended in the middle of this turn.";
        let says_ended = shown.contains(ended);
        let by_signal = !["INT", "KILL"].contains(&name) && !task.starts_with('!');
        assert_eq!(says_ended, by_signal, "{expected}: {shown}");
        let said = told(&kit);
        let said = said.strip_suffix("; the new request goes on from there");
        let said = said.expect("the next step");
        assert_eq!(said, expected);
    }
}

#[test]
fn a_terminal_that_goes_while_it_asks_is_told() {
    let (kit, server) = (Kit::new(), standin(None));
    let host = server.address().to_string();
    let mut command = kit.command(&["-p", "run touch made", "--host", &host]);
    let mut screen = Screen::wide(&mut command, 120);
    screen.until("or a reason for the no: ");
    assert_eq!(screen.hang_up(), Some(129));
    let expected = "(hang-up) while waiting for your answer; the new request goes on from there";
    assert_eq!(told(&kit), expected);
}
