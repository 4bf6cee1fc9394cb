//! What comes in: prompts, pipes, places that cannot be used.

use super::{run_task, task};
use crate::support::run::{Ran, Screen, run, run_with, standin, start, zcoder};
use crate::support::temp::Temp;
use std::ffi::OsStr;
use std::fs;
use std::io::{BufRead, BufReader, Read};
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::PermissionsExt;
use std::process::Stdio;
use zcoder::json::Tree;

/// Refused before anything was sent: exit code 2, nothing on standard output, and this text.
#[track_caller]
fn unusable(ran: &Ran, expected: &str) {
    assert_eq!(
        (ran.code, ran.out.as_str(), ran.err.as_str()),
        (Some(2), "", expected)
    );
}

/// What the last message of the user role in the previewed request says.
fn user_message(shown: &Ran) -> String {
    assert_eq!(shown.code, Some(0), "{}", shown.err);
    let tree = Tree::parse_strict(shown.out.as_bytes()).expect("a request");
    let messages = tree.root().get("messages").expect("messages");
    let last = messages.items().last().expect("a message");
    last.get("content")
        .and_then(|text| text.as_str())
        .expect("text")
        .to_string()
}

const PREVIEW: [&str; 5] = ["-q", "--what-would-be-sent", "--offline", "-m", "m"];

#[test]
fn a_prompt_may_come_from_standard_input() {
    let temp = Temp::new();
    let args = [&PREVIEW[..], &["-p", "-"]].concat();
    let shown = run_with(&mut zcoder(temp.path(), &args), "m\u{fc}de\n".as_bytes());
    assert!(user_message(&shown).contains("m\u{fc}de"), "{}", shown.out);
}

#[test]
fn a_pipe_is_attached_and_a_device_is_not() {
    let temp = Temp::new();
    let args = [&PREVIEW[..], &["-p", "review this"]].concat();
    let shown = run_with(&mut zcoder(temp.path(), &args), b"+added line\n");
    let message = user_message(&shown);
    assert!(
        message.contains("review this") && message.contains("+added line"),
        "{message}"
    );
    let bare = user_message(&run(&mut zcoder(temp.path(), &args)));
    assert!(
        bare.contains("review this") && !bare.contains("attached"),
        "{bare}"
    );
    let empty = user_message(&run_with(&mut zcoder(temp.path(), &args), b""));
    assert_eq!(empty, bare, "an empty pipe attaches nothing");
    let file = temp.write("input", "from a file");
    let mut command = zcoder(temp.path(), &args);
    command.stdin(fs::File::open(file).expect("a file"));
    assert!(user_message(&run(&mut command)).contains("from a file"));
}

#[test]
fn an_attachment_is_bounded_and_that_is_said() {
    let temp = Temp::new();
    let args = [
        &PREVIEW[..],
        &["--context-window", "1000k", "-p", "review this"],
    ]
    .concat();
    let exact = run_with(&mut zcoder(temp.path(), &args), &vec![b'x'; 256 << 10]);
    assert_eq!(exact.err.matches("longer than").count(), 0, "{}", exact.err);
    let message = user_message(&exact);
    assert!(message.contains("[attached, 262144 bytes]"));
    assert!(!message.contains("cut by zcoder"));
    let over = run_with(
        &mut zcoder(temp.path(), &args),
        &vec![b'x'; (256 << 10) + 1],
    );
    assert!(
        over.err.contains(
            "zcoder: standard input is longer than 262,144 bytes; the rest was not attached\n"
        ),
        "{}",
        over.err
    );
    assert!(user_message(&over).contains("[cut by zcoder after 262144 bytes; more followed]"));
}

#[test]
fn an_attachment_that_is_not_text_is_repaired_and_that_is_said() {
    let temp = Temp::new();
    let args = [&PREVIEW[..], &["-p", "review this"]].concat();
    let shown = run_with(&mut zcoder(temp.path(), &args), b"caf\xe9!");
    assert!(user_message(&shown).contains("caf\u{fffd}!"));
    assert!(
        shown
            .err
            .contains("zcoder: what is attached is not UTF-8; the odd bytes were replaced\n"),
        "{}",
        shown.err
    );
}

#[test]
fn a_pipe_that_nobody_closes_is_named() {
    let temp = Temp::new();
    let mut command = zcoder(temp.path(), &["-p", "hello", "--host", "127.0.0.1:1"]);
    let mut child = start(command.stdin(Stdio::piped()));
    let mut reader = BufReader::new(child.stderr.take().expect("a pipe"));
    let mut line = String::new();
    reader.read_line(&mut line).expect("a line");
    assert_eq!(
        line,
        "waiting for the end of standard input, which is attached to the prompt (start with </dev/null to attach nothing)\n"
    );
    drop(child.stdin.take());
    let mut rest = String::new();
    reader.read_to_string(&mut rest).expect("the rest");
    assert_eq!(child.wait().expect("its end").code(), Some(3), "{rest}");
}

#[test]
fn prompts_that_are_none() {
    let temp = Temp::new();
    let folder = temp.path();
    unusable(
        &run(&mut zcoder(folder, &["-p", " \n"])),
        "zcoder: the prompt from --prompt is empty; say what to do: zcoder -p 'explain this project'\n",
    );
    unusable(
        &run_with(&mut zcoder(folder, &["-p", "-"]), b""),
        "zcoder: the prompt from standard input is empty; say what to do: zcoder -p 'explain this project'\n",
    );
    let mut command = zcoder(folder, &["-p"]);
    unusable(
        &run(command.arg(OsStr::from_bytes(b"caf\xe9"))),
        "zcoder: the prompt is not UTF-8: byte 3 begins no character\nconvert it, e.g. with iconv -f latin1 -t utf8\n",
    );
    unusable(
        &run_with(&mut zcoder(folder, &["-p", "-"]), b"ab\xff"),
        "zcoder: the prompt on standard input is not UTF-8: byte 2 begins no character\nconvert it, e.g. with iconv -f latin1 -t utf8\n",
    );
    unusable(
        &run_with(
            &mut zcoder(folder, &["-p", "-"]),
            &vec![b'x'; (256 << 10) + 1],
        ),
        "zcoder: the prompt on standard input is longer than 262,144 bytes\nput it into a file of the workspace and name the file in a short prompt\n",
    );
    unusable(
        &run(&mut zcoder(folder, &["-m", "x"])),
        "zcoder: `--prompt` needs a value: --prompt TEXT\n`-p -` reads the prompt from standard input\n",
    );
}

#[test]
fn workspaces_that_are_none() {
    let temp = Temp::new();
    let file = temp.write("file", "");
    let name = file.to_str().expect("UTF-8");
    let ran = run(&mut zcoder(temp.path(), &["-p", "x", "-w", name]));
    assert_eq!(ran.code, Some(2));
    assert!(
        ran.err
            .starts_with(&format!("zcoder: cannot use the workspace `{name}`: ")),
        "{}",
        ran.err
    );
    let ran = run(&mut zcoder(temp.path(), &["-p", "x", "-w", "missing"]));
    assert_eq!(ran.code, Some(2));
    let missing = temp.path().join("missing");
    let missing = missing.to_str().expect("UTF-8");
    assert!(
        ran.err
            .starts_with(&format!("zcoder: cannot use the workspace `{missing}`: ")),
        "{}",
        ran.err
    );
    unusable(
        &run(zcoder(temp.path(), &["-p", "x"]).env("HOME", temp.path())),
        &format!(
            "zcoder: `{0}` is too broad to become the workspace by accident\n\
             go to the project's folder, or name it: --workspace '{0}' (edits are then asked for)\n",
            temp.path().display()
        ),
    );
}

/// The folder goes away between the shell's `cd` and our start.
#[test]
fn a_workspace_that_has_vanished() {
    let temp = Temp::new();
    let script = format!(
        "mkdir gone; cd gone; rmdir ../gone; exec {} -p x",
        env!("CARGO_BIN_EXE_zcoder")
    );
    let mut command = std::process::Command::new("sh");
    command
        .args(["-c", &script])
        .current_dir(temp.path())
        .stdin(Stdio::null());
    let ran = run(&mut command);
    unusable(
        &ran,
        "zcoder: cannot use the workspace `.`: the current folder has vanished or may not be read\n\
         name a folder that exists and that you may read: --workspace FOLDER\n",
    );
}

#[test]
fn a_workspace_that_may_not_be_read() {
    let temp = Temp::new();
    let closed = temp.path().join("closed");
    fs::create_dir(&closed).expect("a folder");
    fs::set_permissions(&closed, fs::Permissions::from_mode(0o000)).expect("its mode");
    // Root may read everything.
    let is_root = fs::read_dir(&closed).is_ok();
    let ran = run(&mut zcoder(
        temp.path(),
        &["-p", "x", "-w", "closed", "--host", "127.0.0.1:1"],
    ));
    assert_eq!(ran.code, Some(if is_root { 3 } else { 2 }), "{}", ran.err);
    fs::set_permissions(&closed, fs::Permissions::from_mode(0o700)).expect("its mode");
}

#[test]
fn the_home_folder_named_asks_for_edits() {
    let (temp, server) = (Temp::new(), standin(None));
    temp.write("a.txt", "one\n");
    let prompt = "replace 'one' with 'two' in a.txt";
    let mut command = task(temp.path(), &server, &["-qp", prompt, "-w", "."]);
    let ran = run(command.env("HOME", temp.path()));
    assert_eq!(ran.code, Some(4), "{}", ran.err);
    assert_eq!(temp.read("a.txt"), b"one\n");
}

#[test]
fn a_host_with_tls_and_one_that_is_none() {
    let temp = Temp::new();
    let ran = run(&mut zcoder(
        temp.path(),
        &["-p", "x", "--host", "https://box"],
    ));
    assert_eq!((ran.code, ran.out.as_str()), (Some(2), ""));
    assert!(
        ran.err.contains("ssh -L") && ran.err.contains("--via"),
        "{}",
        ran.err
    );
    let ran = run(zcoder(temp.path(), &["-p", "x"]).env("OLLAMA_HOST", "http://user:hunter2@box"));
    assert_eq!(ran.code, Some(2));
    assert!(ran.err.starts_with("zcoder: OLLAMA_HOST `"), "{}", ran.err);
    assert!(
        !ran.err.contains("hunter2"),
        "a secret is not repeated: {}",
        ran.err
    );
}

#[test]
fn a_record_never_overwrites() {
    let (temp, server) = (Temp::new(), standin(None));
    let file = temp.write("record", "precious");
    let name = file.to_str().expect("UTF-8");
    unusable(
        &run_task(temp.path(), &server, &["-p", "x", "--record", name]),
        &format!("zcoder: --record `{name}`: exists already; name a new file\n"),
    );
    assert_eq!(temp.read("record"), b"precious");
}

#[test]
fn a_task_on_a_terminal_reads_no_keys() {
    let (temp, server) = (Temp::new(), standin(None));
    let screen = Screen::start(&mut task(temp.path(), &server, &["-qp", "list files"]));
    let (shown, code) = screen.end();
    assert_eq!(code, Some(0), "{shown}");
    assert!(shown.ends_with("0 entries.\r\n"), "{shown}");
}

#[test]
fn a_command_of_ones_own_runs_without_a_model_and_its_exit_code_counts() {
    let temp = Temp::new();
    for (prompt, code) in [
        ("!echo own >a; echo said", 0),
        ("!!echo own >b", 0),
        ("!exit 7", 1),
        ("!", 2),
        ("!! ", 2),
    ] {
        let ran = run(&mut zcoder(
            temp.path(),
            &["--host", "127.0.0.1:1", "-qp", prompt],
        ));
        assert_eq!(ran.code, Some(code), "{prompt}: {}", ran.err);
        if prompt.contains("said") {
            assert!(ran.out.contains("\nsaid\n"), "{}", ran.out);
        }
    }
    assert_eq!(temp.read("a"), b"own\n");
    assert_eq!(temp.read("b"), b"own\n");
}

#[test]
fn a_yes_is_not_said_to_come_from_a_terminal_where_there_was_none() {
    let temp = Temp::new();
    let args = ["--host", "127.0.0.1:1", "-p", "!true"];
    let ran = run(&mut zcoder(temp.path(), &args));
    assert!(ran.err.contains("decided   yes, by you\n"), "{}", ran.err);
}
