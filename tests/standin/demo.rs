//! `zcoder demo`, `zcoder wire` and `zcoder standin` as programs.

use crate::support::temp::Temp;
use std::fs;
use std::io::{BufRead, BufReader, Read};
use std::net::{Ipv4Addr, SocketAddr};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};
use zcoder::model::script::Script;
use zcoder::standin::{Options, Pace, StandIn};
use zcoder::sys::pty::Pty;

fn zcoder(arguments: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_zcoder"));
    command.args(arguments).stdin(Stdio::null());
    command
}

/// The demo in a world with nothing in it; output and exit code.
fn demo(arguments: &[&str]) -> (String, Option<i32>) {
    let folder = Temp::new();
    let mut command = zcoder(&["demo", "--pace", "none"]);
    command
        .args(arguments)
        .env_clear()
        .env("PATH", "/usr/bin:/bin")
        .env("TMPDIR", folder.path());
    let output = command.output().expect("the program");
    assert_eq!(String::from_utf8_lossy(&output.stderr), "");
    let left = fs::read_dir(folder.path()).expect("a folder").count();
    assert_eq!(left, 0, "the sample project is removed");
    let text = String::from_utf8(output.stdout).expect("UTF-8");
    (text, output.status.code())
}

#[test]
fn the_demo_does_a_whole_task() {
    let (text, code) = demo(&[]);
    assert_eq!(code, Some(0), "{text}");
    for line in text.lines() {
        assert!(line.chars().count() <= 80 && line.is_ascii(), "{line}");
    }
    // In this order.
    let milestones = [
        "zcoder demo: a coding agent at work",
        "  1 op        Prompt, ",
        "    model     stand-in:latest: ",
        "  2 request   POST /api/chat HTTP/1.1, then ",
        "  3 socket    HTTP/1.1 200 OK, in chunks",
        "  4 record    {\"model\":\"stand-in:latest\"",
        "  5 thinking  The test fails",
        "    reply     complete: ",
        "  6 call      list_files",
        "  7 record    ",
        "\nRequest 2: ",
        "  call        read_file README.md",
        "  call        run_command sh test.sh",
        "  policy      allowed by rule: exactly this command\n  result      exit code 1 after ",
        "| FAIL  monday: expected 990, found 370 (src/total.sh)",
        "  call        read_file src/total.sh",
        "  call        replace_text src/total.sh",
        "| -    sum=$((sum + price))",
        "| +    sum=$((sum + count * price))",
        "  result      exit code 0 after ",
        "| total 990",
        "`sh test.sh` ends with exit code 0 now.",
        "Receipt\n  status      done\n  changed     src/total.sh +1 -1\n",
        "8 requests, 7 calls",
        "zcoder -p 'The test fails. Find out why, fix it, and run the test again.'",
    ];
    let mut rest = text.as_str();
    for milestone in milestones {
        let Some((_, after)) = rest.split_once(milestone) else {
            panic!("{milestone:?} is missing, or not in its place, in\n{text}");
        };
        rest = after;
    }
}

#[test]
fn steps_are_shown_and_not_waited_for_without_a_terminal() {
    let (text, code) = demo_in_session(&["--step"]);
    assert_eq!(code, Some(0), "{text}");
    assert!(text.contains(
        "There is no terminal to wait for Enter on, so the stops are shown and not waited at.\n"
    ));
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let mut rest = text.as_str();
    for stage in 1..=7 {
        let title = format!("\n== stage {stage} of 7: ");
        let (_, after) = rest
            .split_once(&title)
            .unwrap_or_else(|| panic!("no stage {stage} in\n{text}"));
        let files = after
            .lines()
            .skip(1)
            .take_while(|line| line.starts_with("   src/"));
        let files: Vec<&str> = files.map(str::trim).collect();
        assert!(!files.is_empty(), "stage {stage} names its files");
        for file in files {
            assert!(root.join(file).is_file(), "{file} does not exist");
        }
        rest = after;
    }
}

/// Without a controlling terminal, wherever the tests run.
fn demo_in_session(arguments: &[&str]) -> (String, Option<i32>) {
    let mut command = Command::new("setsid");
    command.args([
        "--wait",
        env!("CARGO_BIN_EXE_zcoder"),
        "demo",
        "--pace",
        "none",
    ]);
    let output = command
        .args(arguments)
        .stdin(Stdio::null())
        .output()
        .expect("the program");
    (
        String::from_utf8(output.stdout).expect("UTF-8"),
        output.status.code(),
    )
}

#[test]
fn a_reader_who_leaves_ends_the_demo_quietly() {
    let folder = Temp::new();
    let mut child = zcoder(&["demo", "--pace", "none"])
        .env("TMPDIR", folder.path())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("the program");
    drop(child.stdout.take());
    let output = child.wait_with_output().expect("an end");
    assert_eq!(
        (
            output.status.code(),
            String::from_utf8_lossy(&output.stderr).as_ref()
        ),
        (Some(141), "")
    );
    assert_eq!(fs::read_dir(folder.path()).expect("a folder").count(), 0);
}

#[test]
fn a_recording_is_read_to_people() {
    let folder = Temp::new();
    let work = folder.path().join("work");
    fs::create_dir(&work).expect("a folder");
    fs::write(work.join("a.txt"), "hello\n").expect("a file");
    let standin = super::server::start(None);
    let record = folder.path().join("record");
    let status = zcoder(&["-p", "read a.txt", "--quiet", "--record"])
        .arg(&record)
        .arg("--workspace")
        .arg(&work)
        .env("OLLAMA_HOST", standin.address().to_string())
        .output()
        .expect("the program");
    assert_eq!(String::from_utf8_lossy(&status.stderr), "");
    assert_eq!(
        String::from_utf8_lossy(&status.stdout),
        "I read a.txt: 1 line, beginning with \"hello\"\n"
    );
    let wire = zcoder(&["wire"])
        .arg(&record)
        .output()
        .expect("the program");
    let text = String::from_utf8(wire.stdout).expect("UTF-8");
    assert_eq!(wire.status.code(), Some(0), "{text}");
    for part in [
        "exchange 1   GET /api/tags   +0.000s\n",
        "POST /api/chat",
        "thinking \"cannot \"",
        "call read_file {\"path\":\"a.txt\"}",
        "11 chunks, 11 records; done, stop\n",
    ] {
        assert!(text.contains(part), "{part:?} is missing in\n{text}");
    }
}

#[test]
fn wire_counts_one_as_one() {
    let folder = Temp::new();
    let file = folder.path().join("one");
    let script = "zcoder script 1\nexchange\nrequest\n| GET / HTTP/1.1\\r\\n\\r\\n\nsend\n| HTTP/1.1 200 OK\\r\\n\n\
        | Transfer-Encoding: chunked\\r\\n\n| Content-Type: application/x-ndjson\\r\\n\\r\\n\n\
        | 12\\r\\n{\"response\":\"hi\"}\\n\\r\\n0\\r\\n\\r\\n\n";
    fs::write(&file, script).expect("a file");
    let wire = zcoder(&["wire"]).arg(&file).output().expect("the program");
    let text = String::from_utf8(wire.stdout).expect("UTF-8");
    let line = text.lines().find(|line| line.contains("in all"));
    let line = line.expect("a sum").trim();
    assert!(
        line.starts_with("in all     112 bytes, 1 chunk, 1 record;"),
        "{text}"
    );
}

#[test]
fn wire_shows_what_is_there_and_what_is_wrong() {
    let folder = Temp::new();
    let file = folder.path().join("cut");
    let script = "zcoder script 1\nexchange 1.5s\nrequest\n| GET / HTTP/1.1\\r\\n\\r\\n\\x1b[2J\npause 0.25s\nsend\n| HTTP/1.1 200 OK\\r\\n\n| Transfer-Encoding: chunked\\r\\n\n\
        | Content-Type: application/x-ndjson\\r\\n\\r\\n\n| 2\\r\\n{}\\r\\nzz\\r\\n\\x1b[2J\nreset\nsen";
    fs::write(&file, script).expect("a file");
    let wire = zcoder(&["wire"]).arg(&file).output().expect("the program");
    let text = String::from_utf8(wire.stdout).expect("UTF-8");
    let expected = "\
exchange 1   GET /   +1.500s
  request    18 bytes of head, 4 bytes of body
             GET / HTTP/1.1
             \\x1b[2J
  +0.250s    offset 0, 98 bytes, chunks: 2
    head     HTTP/1.1 200 OK
             Transfer-Encoding: chunked
             Content-Type: application/x-ndjson
    error    ";
    assert!(text.starts_with(expected), "{text}");
    assert!(text.contains("  0.250s     reset\n"), "{text}");
    assert!(!text.contains('\u{1b}'), "{text}");
    let error = String::from_utf8_lossy(&wire.stderr).into_owned();
    let words = "line 12: expected exchange, request, send, pause, wait, close, reset, hang, `| bytes` or `# comment`\n";
    assert_eq!(error, format!("zcoder: {}: {words}", file.display()));
    assert_eq!(wire.status.code(), Some(1));
    let missing = zcoder(&["wire", "/nowhere/at/all"])
        .output()
        .expect("the program");
    assert_eq!(missing.status.code(), Some(1));
}

#[test]
fn the_stand_in_prints_its_port_and_ends_on_an_interrupt() {
    let mut child = zcoder(&["standin", "--port", "0"])
        .stdout(Stdio::piped())
        .spawn()
        .expect("the program");
    let mut out = BufReader::new(child.stdout.take().expect("a pipe"));
    let mut line = String::new();
    out.read_line(&mut line).expect("a line");
    let rest = line
        .strip_prefix("stand-in model at http://127.0.0.1:")
        .expect("an address");
    let (port, about) = rest.split_once(' ').expect("a port");
    assert!(port.parse::<u16>().is_ok_and(|port| port > 0), "{line}");
    assert_eq!(about, "(pace model); Ctrl-C ends it\n");
    let kill = Command::new("kill")
        .args(["-INT", &child.id().to_string()])
        .status();
    assert!(kill.expect("kill").success());
    assert_eq!(child.wait().expect("an end").code(), Some(0));
    let mut rest = String::new();
    out.read_to_string(&mut rest).expect("the rest");
    assert_eq!(rest, "");
}

#[test]
fn scenes_are_listed() {
    let list = zcoder(&["standin", "--list"])
        .output()
        .expect("the program");
    let text = String::from_utf8(list.stdout).expect("UTF-8");
    let scenes = zcoder::standin::scenes();
    let mut count = 0;
    for (line, (name, about)) in text.lines().zip(scenes) {
        assert!(line.starts_with(name) && line.ends_with(about), "{line}");
        count += 1;
    }
    assert_eq!(count, zcoder::standin::scenes().count());
    let unknown = zcoder(&["standin", "--scene", "nope"])
        .output()
        .expect("the program");
    let error = String::from_utf8_lossy(&unknown.stderr).into_owned();
    assert_eq!(
        error,
        "zcoder: no scene is named \"nope\"; `zcoder standin --list` shows all\n"
    );
    assert_eq!(unknown.status.code(), Some(2));
}

/// What stands on the terminal when `wanted` has come, or everything at the end.
fn read_until(pty: &Pty, wanted: &str) -> String {
    let deadline = Some(Instant::now() + Duration::from_secs(60));
    let mut seen = Vec::new();
    let mut buffer = [0; 4096];
    loop {
        let count = pty.read(&mut buffer, deadline).expect("output in time");
        seen.extend_from_slice(&buffer[..count]);
        let text = String::from_utf8_lossy(&seen);
        if count == 0 || text.contains(wanted) {
            return text.into_owned();
        }
    }
}

fn stepping() -> (Pty, Child, Temp) {
    let folder = Temp::new();
    let mut command = Command::new(env!("CARGO_BIN_EXE_zcoder"));
    command
        .args(["demo", "--step", "--pace", "none"])
        .env("TMPDIR", folder.path());
    let (pty, child) = Pty::spawn(&mut command, 80, 24).expect("a terminal");
    (pty, child, folder)
}

#[test]
fn each_step_waits_for_enter_on_the_terminal() {
    let (pty, mut child, folder) = stepping();
    for stage in 1..=7 {
        let text = read_until(&pty, "[Enter goes on, Ctrl-C ends]");
        assert_eq!(
            text.matches(" of 7: ").count(),
            1,
            "stage {stage}: one stop at a time\n{text}"
        );
        assert!(text.contains(&format!("== stage {stage} of 7: ")), "{text}");
        pty.write(b"\r").expect("a key");
    }
    let text = read_until(&pty, "zcoder -p 'The test fails.");
    assert!(text.contains("  status      done"), "{text}");
    drop(pty);
    assert_eq!(child.wait().expect("an end").code(), Some(0));
    assert_eq!(fs::read_dir(folder.path()).expect("a folder").count(), 0);
}

#[test]
fn an_interrupt_at_a_step_ends_the_demo_and_leaves_nothing() {
    let (pty, mut child, folder) = stepping();
    read_until(&pty, "[Enter goes on, Ctrl-C ends]");
    pty.write(b"\x03").expect("a key");
    read_until(&pty, "never comes");
    assert_eq!(child.wait().expect("an end").code(), Some(130));
    assert_eq!(fs::read_dir(folder.path()).expect("a folder").count(), 0);
}

#[test]
fn the_text_protocol_works_as_well() {
    let folder = Temp::new();
    folder.write("a.txt", b"hello\n");
    let standin = super::server::start(Some("no-tools"));
    let output = zcoder(&[
        "-p",
        "read a.txt, then create b.txt with hi",
        "--tool-style",
        "text",
        "--model",
        "stand-in",
        "--workspace",
    ])
    .arg(folder.path())
    .env("OLLAMA_HOST", standin.address().to_string())
    .output()
    .expect("the program");
    let error = String::from_utf8_lossy(&output.stderr).into_owned();
    assert_eq!(output.status.code(), Some(0), "{error}");
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    assert_eq!(
        text,
        "I read a.txt: 1 line, beginning with \"hello\"\nI asked for b.txt to be written: created `b.txt`: 1 line\n"
    );
    assert_eq!(folder.read("b.txt"), b"hi\n");
}

/// The scripts in `fixtures/turns/`: each is what a model server did, its first comment says what the client makes of it.
#[test]
fn recorded_turns_end_as_their_first_line_says() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("fixtures/turns");
    let mut count = 0;
    for entry in fs::read_dir(root).expect("fixtures/turns") {
        let path = entry.expect("an entry").path();
        let name = path.display().to_string();
        let text = fs::read(&path).expect("a script");
        let script = Script::parse(&text).unwrap_or_else(|error| panic!("{name}: {error}"));
        assert_eq!(
            Script::parse(&script.write()).as_ref(),
            Ok(&script),
            "{name}"
        );
        let text = String::from_utf8(text).expect("UTF-8");
        let expected = text.lines().nth(1).and_then(|line| line.strip_prefix("# "));
        let (code, answer) = expected
            .and_then(|line| line.split_once(": "))
            .expect("`# exit CODE: ANSWER`");
        let options = Options {
            address: SocketAddr::from((Ipv4Addr::LOCALHOST, 0)),
            pace: Pace::None,
            scene: None,
            script: Some(script),
        };
        let standin = StandIn::start(options, None).expect("a stand-in");
        let folder = Temp::new();
        folder.write("a.txt", b"hello\n");
        let output = zcoder(&["-p", "what is in a.txt?", "--quiet", "--workspace"])
            .arg(folder.path())
            .env("OLLAMA_HOST", standin.address().to_string())
            .output()
            .expect("the program");
        let found = format!("exit {}", output.status.code().unwrap_or(-1));
        let said = match output.stdout.is_empty() {
            true => {
                let said = String::from_utf8_lossy(&output.stderr)
                    .replace(&standin.address().to_string(), "ADDRESS");
                // Before it stands what had come of a reply that broke off.
                let last = said.rfind("zcoder: ").unwrap_or(0);
                said[last..].to_string()
            }
            false => String::from_utf8_lossy(&output.stdout).into_owned(),
        };
        assert_eq!((found.as_str(), said.trim_end()), (code, answer), "{name}");
        count += 1;
    }
    assert_eq!(count, 4);
}
