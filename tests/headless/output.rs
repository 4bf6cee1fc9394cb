//! What is printed where.

use super::{run_task, task};
use crate::support::run::{Screen, options, ran, run, standin, start};
use crate::support::temp::Temp;
use std::fs::{self, File};
use std::io::{BufRead, BufReader};
use zcoder::json::Tree;
use zcoder::model::script::{Script, Step};
use zcoder::standin::{Pace, StandIn};
use zcoder::text;

#[test]
fn a_long_notice_is_shown_with_its_end_which_is_what_to_do_next() {
    let (temp, server) = (Temp::new(), standin(None));
    let home = temp.path().join("h".repeat(200));
    fs::create_dir(&home).expect("a folder");
    fs::write(home.join("sessions"), "").expect("in the way");
    let mut command = task(temp.path(), &server, &["-p", "hello"]);
    command
        .env("ZCODER_HOME", &home)
        .env_remove("ZCODER_EPHEMERAL");
    let ran = run(&mut command);
    let line = ran.err.lines().find(|line| line.starts_with("warning"));
    let end = "(--ephemeral does so without a word)";
    assert!(line.is_some_and(|line| line.ends_with(end)), "{}", ran.err);
    assert_eq!(ran.code, Some(0));
}

#[test]
fn text_is_the_answer_and_nothing_else() {
    let (temp, server) = (Temp::new(), standin(None));
    temp.write("README.md", "# hello\n");
    let ran = run_task(temp.path(), &server, &["-p", "read README.md"]);
    // The same task as JSON has the same answer, without the line feed.
    let json = run_task(
        temp.path(),
        &server,
        &["-q", "--output", "json", "-p", "read README.md"],
    );
    let tree = Tree::parse(json.out.as_bytes()).expect("one JSON text");
    let answer = tree
        .root()
        .get("answer")
        .and_then(|answer| answer.as_str())
        .expect("an answer");
    assert_eq!(ran.out, format!("{answer}\n"));
    assert_eq!(ran.code, Some(0));
    let lines: Vec<&str> = ran.err.lines().collect();
    let at = server.address();
    assert_eq!(
        lines[0],
        format!(
            "model     stand-in:latest at http://{at} (the only model here), window 32,768 (the model could have up to 131,072)"
        )
    );
    let labels: Vec<&str> = lines
        .iter()
        .map(|line| line.split(' ').next().unwrap_or(""))
        .collect();
    assert_eq!(
        labels,
        [
            "model", "request", "reply", "call", "result", "request", "reply", "receipt", ""
        ]
    );
    assert_eq!(lines[3], "call      read_file README.md");
    assert_eq!(lines[4], "result    README.md, 8 bytes");
    assert!(!ran.err.contains('\x1b'), "{}", ran.err);
}

#[test]
fn quiet_says_nothing_of_what_goes_well() {
    let (temp, server) = (Temp::new(), standin(None));
    let ran = run_task(temp.path(), &server, &["-qp", "list files"]);
    assert_eq!((ran.code, ran.err.as_str()), (Some(0), ""));
    assert!(ran.out.ends_with("0 entries.\n"), "{}", ran.out);
}

#[test]
fn json_is_one_object_at_the_end() {
    let (temp, server) = (Temp::new(), standin(None));
    temp.write("a.txt", "one two\n");
    let args = [
        "-q",
        "--output",
        "json",
        "--yes",
        "-p",
        "replace 'two' with 'three' in a.txt and run sh -c 'exit 3'",
    ];
    let state = Temp::new();
    let mut command = task(temp.path(), &server, &args);
    let ran = run(command.env("XDG_STATE_HOME", state.path()));
    assert_eq!(temp.read("a.txt"), b"one three\n");
    assert_eq!(ran.out.lines().count(), 1);
    let tree = Tree::parse(ran.out.as_bytes()).expect("one JSON text");
    let get = |key: &str| {
        tree.root()
            .get(key)
            .map(|value| value.to_tree().to_string())
    };
    assert_eq!(get("format").as_deref(), Some("1"));
    assert_eq!(get("status").as_deref(), Some("\"done\""));
    assert_eq!(get("exit_code").as_deref(), Some("0"));
    assert_eq!(get("reason").as_deref(), Some("null"));
    assert_eq!(
        get("files").as_deref(),
        Some(
            r#"[{"path":"a.txt","added":1,"removed":1,"created":false,"deleted":false,"executable":null}]"#
        )
    );
    let commands = get("commands").expect("commands");
    assert!(
        commands.starts_with(r#"[{"command":"sh -c 'exit 3'","exit":3,"seconds":"#),
        "{commands}"
    );
    assert_eq!(get("notices").as_deref(), Some("[]"));
    let model = tree.root().get("model").and_then(|model| model.get("name"));
    assert_eq!(
        model.and_then(|name| name.as_str()),
        Some("stand-in:latest")
    );
}

#[test]
fn jsonl_is_one_object_an_event_in_order() {
    let (temp, server) = (Temp::new(), standin(None));
    temp.write("a.txt", "one\n");
    let args = [
        "--output",
        "jsonl",
        "--yes",
        "-p",
        "read a.txt, then run echo hi",
    ];
    let ran = run_task(temp.path(), &server, &args);
    assert_eq!((ran.code, ran.err.as_str()), (Some(0), ""));
    let mut types: Vec<String> = Vec::new();
    for line in ran.out.lines() {
        let tree = Tree::parse_strict(line.as_bytes()).expect("one object a line");
        let first = tree.root().members().next().expect("a member");
        assert_eq!(first.0, "type");
        let name = first.1.as_str().expect("a word").to_string();
        // However the pieces are cut.
        if !(types.last() == Some(&name)
            && matches!(name.as_str(), "thinking" | "content" | "output"))
        {
            types.push(name);
        }
    }
    let turn = |call: &[&str]| -> Vec<String> {
        let words = [
            "request_sent",
            "thinking",
            "content",
            "replied",
            "call_started",
        ];
        words
            .iter()
            .chain(call)
            .map(|word| word.to_string())
            .collect()
    };
    let mut expected: Vec<String> = ["start", "turn_started", "model"]
        .iter()
        .map(|word| word.to_string())
        .collect();
    expected.extend(turn(&["call_ended"]));
    expected.extend(turn(&["decided", "output", "call_ended"]));
    expected.extend(["request_sent", "thinking", "content", "replied"].map(String::from));
    expected.extend(["turn_ended", "closed"].map(String::from));
    // The stand-in may think and talk as it likes; waiting depends on the machine.
    let free = |word: &String| !matches!(word.as_str(), "thinking" | "content" | "waiting");
    types.retain(free);
    expected.retain(free);
    assert_eq!(types, expected);
}

#[test]
fn control_codes_of_a_model_stay_out_of_a_terminal_but_not_out_of_a_pipe() {
    let (temp, server) = (Temp::new(), standin(Some("controls-escaped")));
    let piped = run_task(temp.path(), &server, &["-p", "hello"]);
    assert!(
        piped.out.contains('\x1b'),
        "exact on a pipe: {:?}",
        piped.out
    );
    let control = |c: char| c.is_control() && c != '\n';
    assert!(!piped.err.contains(control), "{:?}", piped.err);
    let mut lines = task(temp.path(), &server, &["-p", "hello", "--output", "jsonl"]);
    let lines = run(&mut lines);
    let harmful = |c: char| control(c) || zcoder::text::is_harmful(c) && c != '\n';
    assert!(!lines.out.contains(harmful), "{:?}", lines.out);
    assert!(
        lines.out.contains("\\u202e"),
        "escaped, not lost: {:?}",
        lines.out
    );
    let (shown, code) = Screen::start(&mut task(temp.path(), &server, &["-qp", "hello"])).end();
    assert_eq!(code, Some(0));
    // The terminal itself turns line feeds into CR LF.
    assert!(!shown.replace("\r\n", "\n").contains(control), "{shown:?}");
}

#[test]
fn a_terminal_gets_counters_that_leave_no_trace() {
    let mut paced = options(None);
    paced.pace = Pace::Model;
    let (temp, server) = (
        Temp::new(),
        StandIn::start(paced, None).expect("a stand-in"),
    );
    let (shown, code) = Screen::start(&mut task(temp.path(), &server, &["-p", "list files"])).end();
    assert_eq!(code, Some(0));
    let counters = ["waiting", "thinking", "answering", "running"];
    let counted = |text: &str| counters.iter().any(|label| text.starts_with(label));
    assert!(
        shown.split("\r\x1b[K").any(counted),
        "no counter: {shown:?}"
    );
    // Whatever stood in a line is taken away before a line that stays is written there.
    for line in shown.split("\r\n") {
        let stays = line.rsplit("\r\x1b[K").next().unwrap_or("");
        assert!(
            !counted(stays) && !stays.contains(['\r', '\x1b']),
            "{line:?}"
        );
    }
}

#[test]
fn a_reader_that_leaves_ends_the_turn() {
    let (temp, server) = (Temp::new(), standin(Some("many-records")));
    let args = ["--output", "jsonl", "-p", "hello"];
    let mut child = start(&mut task(temp.path(), &server, &args));
    let mut reader = BufReader::new(child.stdout.take().expect("a pipe"));
    let mut first = String::new();
    reader.read_line(&mut first).expect("a line");
    assert_eq!(
        first,
        concat!(
            r#"{"type":"start","format":1,"zcoder":""#,
            env!("CARGO_PKG_VERSION"),
            "\"}\n"
        )
    );
    drop(reader);
    let ran = ran(child.wait_with_output().expect("its end"));
    assert_eq!((ran.code, ran.err.as_str()), (Some(141), ""));
}

#[test]
fn an_answer_that_cannot_be_written_is_an_error() {
    let (temp, server) = (Temp::new(), standin(None));
    let mut command = task(temp.path(), &server, &["-qp", "list files"]);
    let full = File::create("/dev/full").expect("/dev/full");
    let child = command
        .stdout(full)
        .stderr(std::process::Stdio::piped())
        .spawn()
        .expect("zcoder");
    let ran = ran(child.wait_with_output().expect("its end"));
    assert_eq!(ran.code, Some(1));
    assert_eq!(
        ran.err,
        "zcoder: cannot write to standard output: No space left on device (os error 28)\n"
    );
}

#[test]
fn what_would_be_sent_is_the_first_request_and_is_not_sent() {
    let (temp, server) = (Temp::new(), standin(None));
    let shown = run_task(
        temp.path(),
        &server,
        &["-p", "hello", "--what-would-be-sent"],
    );
    assert_eq!(shown.code, Some(0));
    let tree = Tree::parse_strict(shown.out.as_bytes()).expect("one JSON text");
    let model = tree.root().get("model").and_then(|model| model.as_str());
    assert_eq!(model, Some("stand-in:latest"));
    // The same bytes leave when it is meant.
    let file = temp.path().join("record");
    let record = file.to_str().expect("UTF-8");
    let sent = run_task(temp.path(), &server, &["-p", "hello", "--record", record]);
    assert_eq!(sent.code, Some(0));
    let script = Script::parse(&temp.read("record")).expect("a script");
    let chat = script
        .exchanges
        .iter()
        .find(|exchange| exchange.request_line() == Some("POST /api/chat"));
    let request = &chat.expect("a chat").request;
    let body = request
        .windows(4)
        .position(|w| w == b"\r\n\r\n")
        .expect("a head")
        + 4;
    assert_eq!(&request[body..], shown.out.trim_end().as_bytes());
    assert!(shown.out.len() <= 5_000, "{} bytes", shown.out.len());
}

#[test]
fn offline_asks_nobody() {
    let temp = Temp::new();
    let args = [
        "-m",
        "m",
        "--host",
        "127.0.0.1:1",
        "--offline",
        "-p",
        "hello",
        "--what-would-be-sent",
    ];
    let ran = run(&mut crate::support::run::zcoder(temp.path(), &args));
    assert_eq!(ran.code, Some(0), "{}", ran.err);
    assert!(
        ran.out.starts_with(r#"{"model":"m","stream":true,"#),
        "{}",
        ran.out
    );
    assert!(!ran.err.is_empty(), "the assumptions are said");
}

#[test]
fn a_debug_log_shows_the_stages_and_no_header() {
    let (temp, server) = (Temp::new(), standin(None));
    let log = temp.path().join("log");
    let args = [
        "-qp",
        "list files",
        "--header",
        "Authorization: Bearer tinker",
        "--debug-log",
    ];
    let mut command = task(temp.path(), &server, &args);
    let ran = run(command.arg(&log));
    assert_eq!(ran.code, Some(0), "{}", ran.err);
    let log = String::from_utf8(temp.read("log")).expect("UTF-8");
    for stage in [
        "1 op",
        "2 request",
        "3 wire",
        "3 body",
        "4 record",
        "5 reply",
        "6 outcome",
        "7 event",
    ] {
        assert!(log.contains(&format!(" {stage} ")), "no {stage} in {log}");
    }
    assert!(!log.contains("tinker"));
    let control = |c: char| c.is_control() && c != '\n';
    assert!(!log.contains(control));
}

#[test]
fn a_log_on_a_full_disk_stops_and_the_turn_does_not() {
    let (temp, server) = (Temp::new(), standin(None));
    let args = ["-qp", "list files", "--debug-log", "/dev/full"];
    let ran = run_task(temp.path(), &server, &args);
    assert_eq!(ran.code, Some(0));
    assert_eq!(
        ran.err,
        "zcoder: --debug-log stops here: No space left on device (os error 28)\n"
    );
}

#[test]
fn a_record_plays_as_it_was() {
    let (temp, server) = (Temp::new(), standin(Some("odd-chunks")));
    temp.write("ws/a.txt", "one\n");
    let folder = temp.path().join("ws");
    let record = temp.path().join("record");
    let args = [
        "-q",
        "--yes",
        "-p",
        "read a.txt, then run `echo hi`",
        "--record",
    ];
    let first = run(task(&folder, &server, &args).arg(&record));
    assert_eq!((first.code, first.err.as_str()), (Some(0), ""));
    let script = Script::parse(&temp.read("record")).expect("a script");
    let mut options = options(None);
    options.script = Some(script);
    let server = StandIn::start(options, None).expect("a stand-in");
    let again = run_task(&folder, &server, &args[..4]);
    assert_eq!(again, first);
}

/// A stand-in whose chat is these records.
fn saying(temp: &Temp, records: &str) -> StandIn {
    let record = temp.path().join("record");
    let server = standin(None);
    let args = ["-qp", "hello", "--record"];
    run(task(temp.path(), &server, &args).arg(&record));
    let mut script = Script::parse(&temp.read("record")).expect("a script");
    let chat = script.exchanges.last_mut().expect("the chat");
    let head = "HTTP/1.1 200 OK\r\nContent-Type: application/x-ndjson\r\n\r\n";
    chat.steps = vec![Step::Send(format!("{head}{records}").into_bytes())];
    let mut options = options(None);
    options.script = Some(script);
    StandIn::start(options, None).expect("a stand-in")
}

#[test]
fn an_answer_is_printed_as_it_came_but_for_blanks_at_its_ends() {
    let temp = Temp::new();
    let records = concat!(
        r#"{"message":{"content":" \n  two  \u001b[1m"}}"#,
        "\n",
        r#"{"message":{"content":"lines\n\n é \n\n"},"done":true}"#
    );
    let answer = "two  \u{1b}[1mlines\n\n é";
    let server = saying(&temp, records);
    let text = run_task(temp.path(), &server, &["-qp", "hello"]);
    assert_eq!((text.code, text.out), (Some(0), format!("{answer}\n")));
    let server = saying(&temp, records);
    let json = run_task(temp.path(), &server, &["-qp", "hello", "--output", "json"]);
    let tree = Tree::parse(json.out.as_bytes()).expect("one JSON text");
    let told = tree.root().get("answer");
    assert_eq!(told.and_then(|told| told.as_str()), Some(answer));
}

#[test]
fn of_a_long_reply_that_broke_off_the_beginning_is_told() {
    let temp = Temp::new();
    for (bytes, beginning) in [(65_536, ""), (65_537, ", which began")] {
        let record = format!(
            "{{\"message\":{{\"content\":\"{}\"}}}}\n",
            "x".repeat(bytes)
        );
        let ran = run_task(temp.path(), &saying(&temp, &record), &["-qp", "hello"]);
        assert_eq!((ran.code, ran.out.as_str()), (Some(3), ""));
        let told = format!(
            "partial   {} bytes of a reply that broke off{beginning}; nothing of it was acted on:\n",
            text::grouped(bytes as u64)
        );
        let rest = ran
            .err
            .strip_prefix(&told)
            .unwrap_or_else(|| panic!("{}", &ran.err[..100]));
        assert!(rest.starts_with(&format!("{}\n", "x".repeat(65_536))));
    }
}
