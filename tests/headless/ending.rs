//! How runs end: each exit code, each signal.

use super::{run_task, task};
use crate::support::run::{Screen, ran, run, signal, standin, start, zcoder};
use crate::support::temp::Temp;
use std::io::{BufRead, BufReader, Read};
use std::net::TcpListener;
use std::path::Path;
use std::process::Child;
use std::time::{Duration, Instant};
use zcoder::standin::StandIn;

/// The last line of standard error must be about the right thing, whole.
#[track_caller]
fn ends(scene: &str, args: &[&str], code: i32, last: &[&str]) {
    let (temp, server) = (Temp::new(), standin(Some(scene)));
    let ran = run_task(temp.path(), &server, args);
    assert_eq!(ran.code, Some(code), "{scene}: {}", ran.err);
    let lines: Vec<&str> = ran.err.lines().collect();
    let at = server.address().to_string();
    let last: Vec<String> = last
        .iter()
        .map(|line| line.replace("ADDRESS", &at))
        .collect();
    assert_eq!(
        &lines[lines.len().saturating_sub(last.len())..],
        last,
        "{scene}"
    );
}

#[test]
fn two_a_model_must_be_chosen() {
    let (temp, server) = (Temp::new(), standin(Some("two-models")));
    let ran = run_task(temp.path(), &server, &["-qp", "hello"]);
    assert_eq!(ran.code, Some(2));
    assert_eq!(ran.out, "");
    assert!(ran.err.starts_with("zcoder: "), "{}", ran.err);
    assert!(ran.err.contains("--model"), "{}", ran.err);
}

#[test]
fn three_no_server() {
    let temp = Temp::new();
    let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
    let address = listener.local_addr().expect("its address").to_string();
    drop(listener);
    let ran = run(&mut zcoder(
        temp.path(),
        &["-qp", "hello", "--host", &address],
    ));
    assert_eq!((ran.code, ran.out.as_str()), (Some(3), ""));
    assert!(ran.err.contains(&address), "{}", ran.err);
    assert!(
        ran.err.contains("ollama serve"),
        "the next step is named: {}",
        ran.err
    );
}

#[test]
fn three_a_reply_that_stays_incomplete() {
    let (temp, server) = (Temp::new(), standin(Some("cut-before-done")));
    let ran = run_task(temp.path(), &server, &["-qp", "hello"]);
    assert_eq!(
        (ran.code, ran.out.as_str()),
        (Some(3), ""),
        "nothing of a cut answer is printed"
    );
}

#[test]
fn what_came_of_a_reply_that_broke_off_is_not_lost() {
    let (temp, server) = (Temp::new(), standin(Some("error-after-content")));
    let ran = run_task(temp.path(), &server, &["-qp", "hello"]);
    assert_eq!((ran.code, ran.out.as_str()), (Some(3), ""));
    let told = "partial   27 bytes of a reply that broke off; nothing of it was acted on:\nThe beginning of an answer \nzcoder: ";
    assert!(ran.err.starts_with(told), "{}", ran.err);
    let ran = run_task(temp.path(), &server, &["-qp", "hello", "--output", "json"]);
    assert_eq!(ran.code, Some(3));
    let member = r#","partial":"The beginning of an answer ","#;
    assert!(ran.out.contains(member), "{}", ran.out);
    let (temp, server) = (Temp::new(), standin(None));
    let ran = run_task(temp.path(), &server, &["-qp", "hello", "--output", "json"]);
    assert!(ran.out.contains(r#","partial":null,"#), "{}", ran.out);
}

#[test]
fn four_nobody_to_ask() {
    let (temp, server) = (Temp::new(), standin(None));
    let ran = run_task(temp.path(), &server, &["-p", "run touch made"]);
    assert_eq!(ran.code, Some(4), "{}", ran.err);
    assert!(!temp.path().join("made").exists());
    let lines: Vec<&str> = ran.err.lines().collect();
    assert_eq!(
        &lines[lines.len() - 2..],
        [
            "zcoder: run_command: touch made: needs an approval, and there is no terminal to ask on",
            "allow it with --yes, or go on without it with --deny-commands"
        ]
    );
}

#[test]
fn deny_commands_tells_the_model_and_goes_on() {
    let (temp, server) = (Temp::new(), standin(None));
    let args = ["-p", "run touch made", "--deny-commands"];
    let ran = run_task(temp.path(), &server, &args);
    // The stand-in says that it is blocked.
    assert_eq!(ran.code, Some(1), "{}", ran.err);
    assert!(!temp.path().join("made").exists());
    let said = "\ndecided   no, by --deny-commands\n";
    assert!(ran.err.contains(said), "{}", ran.err);
}

#[test]
fn what_deny_commands_refuses_is_not_told_as_a_persons_answer() {
    let (temp, server) = (Temp::new(), standin(None));
    let args = ["-p", "create .envrc with x", "--deny-commands"];
    let ran = run_task(temp.path(), &server, &args);
    assert_eq!(ran.code, Some(0), "{}", ran.err);
    assert!(!temp.path().join(".envrc").exists());
    let said = "\ndecided   no, by --deny-commands\n\
                result    denied: not done: it needs an approval, and in this run --deny-commands refuses whatever does.";
    assert!(ran.err.contains(said), "{}", ran.err);
}

#[test]
fn read_only_refuses_edits_and_yes_allows_all() {
    let (temp, server) = (Temp::new(), standin(None));
    temp.write("a.txt", "one\n");
    let prompt = "replace 'one' with 'two' in a.txt";
    let ran = run_task(temp.path(), &server, &["-p", prompt, "--read-only"]);
    assert_eq!(ran.code, Some(0), "{}", ran.err);
    assert_eq!(temp.read("a.txt"), b"one\n");
    let ran = run_task(temp.path(), &server, &["-p", prompt, "--yes"]);
    assert_eq!(ran.code, Some(0), "{}", ran.err);
    assert_eq!(temp.read("a.txt"), b"two\n");
    let ran = run_task(temp.path(), &server, &["-p", "run touch made", "--yes"]);
    assert_eq!(ran.code, Some(0), "{}", ran.err);
    assert!(temp.path().join("made").exists());
}

#[test]
fn five_limits() {
    ends(
        "same-call",
        &["-qp", "hello", "--max-turns", "2"],
        5,
        &["zcoder: stopped at a limit: the model was asked 2 times (--max-turns)"],
    );
    let (temp, server) = (Temp::new(), standin(Some("same-call")));
    let ran = run_task(temp.path(), &server, &["-qp", "hello"]);
    assert_eq!(ran.code, Some(5), "a model in a circle: {}", ran.err);
    let (temp, server) = (Temp::new(), standin(Some("never-answers")));
    let ran = run_task(
        temp.path(),
        &server,
        &["-qp", "hello", "--max-seconds", "1"],
    );
    assert_eq!(ran.code, Some(5), "{}", ran.err);
}

/// A run that waits for a server which never answers; its first lines were read.
fn waiting(folder: &Path, server: &StandIn) -> (Child, BufReader<impl Read>) {
    let mut child = start(&mut task(folder, server, &["-p", "hello"]));
    let mut reader = BufReader::new(child.stderr.take().expect("a pipe"));
    let mut line = String::new();
    while !line.starts_with("request") {
        line.clear();
        assert!(reader.read_line(&mut line).expect("a line") > 0, "it ended");
    }
    (child, reader)
}

#[test]
fn interrupted_is_130_with_a_receipt() {
    let (temp, server) = (Temp::new(), standin(Some("never-answers")));
    let (child, mut reader) = waiting(temp.path(), &server);
    signal(&child, "INT");
    let mut rest = String::new();
    reader.read_to_string(&mut rest).expect("the rest");
    let ran = ran(child.wait_with_output().expect("its end"));
    assert_eq!(ran.code, Some(130), "{rest}");
    assert!(rest.contains("receipt "), "{rest}");
    assert!(rest.ends_with("zcoder: interrupted\n"), "{rest}");
}

#[test]
fn other_signals_end_it_with_their_number() {
    for (name, code) in [("TERM", 143), ("HUP", 129), ("QUIT", 131)] {
        let (temp, server) = (Temp::new(), standin(Some("stall")));
        let (child, reader) = waiting(temp.path(), &server);
        signal(&child, name);
        let ran = ran(child.wait_with_output().expect("its end"));
        assert_eq!(ran.code, Some(code), "{name}");
        drop(reader);
    }
}

/// A run whose command has told its process id and goes on for ever.
fn running(temp: &Temp, server: &StandIn, command: &str) -> (Child, String) {
    let prompt = format!("run `{command}`");
    let args = ["--output", "jsonl", "--yes", "-p", &prompt];
    let mut child = start(&mut task(temp.path(), server, &args));
    let mut reader = BufReader::new(child.stdout.take().expect("a pipe"));
    let mut line = String::new();
    while !line.starts_with(r#"{"type":"output""#) {
        line.clear();
        assert!(reader.read_line(&mut line).expect("a line") > 0, "it ended");
    }
    // Its other end must stay open, or the run would end for that reason.
    child.stdout = Some(reader.into_inner());
    let pid = String::from_utf8(temp.read("pid")).expect("a number");
    (child, pid.trim().to_string())
}

/// Waits for the end of a process that was ended: a signal needs a moment to arrive. A zombie that nobody has waited for yet has no
/// command line any more.
#[track_caller]
fn ends_soon(pid: &str) {
    let line = Path::new("/proc").join(pid).join("cmdline");
    let limit = Instant::now() + Duration::from_secs(10);
    while std::fs::read(&line).is_ok_and(|line| !line.is_empty()) {
        assert!(Instant::now() < limit, "{pid} is still there");
        std::thread::yield_now();
    }
}

#[test]
fn children_end_with_it() {
    for (name, code) in [("INT", 130), ("TERM", 143), ("HUP", 129)] {
        let (temp, server) = (Temp::new(), standin(None));
        let (child, pid) = running(&temp, &server, "echo $$ > pid; echo up; sleep 600");
        signal(&child, name);
        let ran = ran(child.wait_with_output().expect("its end"));
        assert_eq!(ran.code, Some(code), "{name}: {}", ran.err);
        ends_soon(&pid);
    }
}

#[test]
fn a_stubborn_child_does_not_cost_the_receipt() {
    let (temp, server) = (Temp::new(), standin(None));
    let stubborn = "trap : TERM INT; echo $$ > pid; echo up; while :; do sleep 600; done";
    let (child, pid) = running(&temp, &server, stubborn);
    signal(&child, "TERM");
    let ran = ran(child.wait_with_output().expect("its end"));
    assert_eq!(ran.code, Some(143), "{}", ran.err);
    let ended = r#"{"type":"turn_ended","turn":1,"receipt":{"status":"cancelled","#;
    assert!(ran.out.contains(ended), "{}", ran.out);
    ends_soon(&pid);
}

#[test]
fn a_second_interrupt_ends_even_children_that_will_not() {
    let (temp, server) = (Temp::new(), standin(None));
    let stubborn = "trap : TERM INT; echo $$ > pid; echo up; while :; do sleep 600; done";
    let (mut child, pid) = running(&temp, &server, stubborn);
    // Two signals at once may become one; it leaves at the second one that arrives.
    while child.try_wait().expect("its state").is_none() {
        signal(&child, "INT");
    }
    let ran = ran(child.wait_with_output().expect("its end"));
    assert_eq!(ran.code, Some(130), "{}", ran.err);
    ends_soon(&pid);
}

#[test]
fn a_second_interrupt_leaves_at_once() {
    let (temp, server) = (Temp::new(), standin(Some("never-answers")));
    let (child, _reader) = waiting(temp.path(), &server);
    let pid = child.id();
    let both = format!("kill -INT {pid}; kill -INT {pid}");
    std::process::Command::new("sh")
        .args(["-c", &both])
        .status()
        .expect("sh");
    let ran = ran(child.wait_with_output().expect("its end"));
    assert_eq!(ran.code, Some(130));
}

#[test]
fn ctrl_c_on_a_terminal_is_an_interrupt() {
    let (temp, server) = (Temp::new(), standin(Some("never-answers")));
    let mut screen = Screen::start(&mut task(temp.path(), &server, &["-p", "hello"]));
    screen.until("request");
    screen.write("\x03");
    let (shown, code) = screen.end();
    assert_eq!(code, Some(130), "{shown}");
    assert!(shown.contains("zcoder: interrupted"), "{shown}");
}

#[test]
fn nothing_is_left_in_the_folder_of_temporary_files() {
    let (temp, server) = (Temp::new(), standin(None));
    let tmp = temp.path().join("tmp");
    std::fs::create_dir(&tmp).expect("a folder");
    let many = "run seq 1 100000";
    let mut command = task(temp.path(), &server, &["--yes", "-qp", many]);
    let ran = run(command.env("TMPDIR", &tmp));
    assert_eq!(ran.code, Some(0), "{}", ran.err);
    let left: Vec<_> = std::fs::read_dir(&tmp).expect("a folder").collect();
    assert!(left.is_empty(), "{left:?}");
}
