//! `--via`: real programs whose stdin and stdout are the connection.
use super::exchange::{CHAT, chat};
use crate::support::temp::Temp;
use std::os::unix::fs::PermissionsExt;
use zcoder::http::{Endpoint, Error, Target, Via};

/// A script that is the program; `{host}` and `{port}` are its arguments.
fn target(folder: &Temp, script: &str, host: &str) -> Target {
    let path = folder.write("via program", format!("#!/bin/sh\n{script}"));
    let mut mode = std::fs::metadata(&path).expect("the script").permissions();
    mode.set_mode(0o755);
    std::fs::set_permissions(&path, mode).expect("executable");
    let text = format!(
        "'{}' {{host}} x{{port}}{{host}} '{{ port}}'",
        path.display()
    );
    let (endpoint, _) = Endpoint::parse(host).expect("address");
    Target::new(
        endpoint,
        Some(Via::parse(&text).expect("words")),
        Vec::new(),
    )
    .expect("target")
}

fn failure(folder: &Temp, script: &str) -> String {
    let error = chat(&target(folder, script, "h"), &CHAT)
        .0
        .expect_err("failed");
    let program = folder.path().join("via program");
    error
        .to_string()
        .replace(&format!("{:?}", program.display().to_string()), "PROGRAM")
}

#[test]
fn words_are_filled_in_and_the_answer_is_read() {
    let folder = Temp::new();
    // Reads the request's head, answers with its own arguments, and waits to be ended.
    let script = "while IFS= read -r line && [ \"$line\" != \"$(printf '\\r')\" ]; do echo \"$line\" >> \"$0.got\"; done
body=\"$1 $2 $3\"
printf 'HTTP/1.1 200 OK\\r\\nContent-Length: %d\\r\\n\\r\\n%s' ${#body} \"$body\"
exec sleep 1000";
    let target = target(&folder, script, "https://gpu.box");
    let (head, body) = chat(&target, &CHAT);
    assert_eq!(head.expect("an answer").status, 200);
    assert_eq!(
        String::from_utf8_lossy(&body),
        "gpu.box x443gpu.box { port}"
    );
    let request = String::from_utf8(folder.read("via program.got")).expect("text");
    assert_eq!(request.lines().nth(1), Some("Host: gpu.box"));
}

#[test]
fn the_program_is_gone_when_the_exchange_is() {
    let folder = Temp::new();
    let script = "echo $$ > \"$0.pid\"
printf 'HTTP/1.1 200 OK\\r\\nContent-Length: 0\\r\\n\\r\\n'
exec sleep 1000";
    chat(&target(&folder, script, "h"), &CHAT)
        .0
        .expect("an answer");
    let pid = String::from_utf8(folder.read("via program.pid")).expect("a number");
    assert!(!std::path::Path::new("/proc").join(pid.trim()).exists());
}

#[test]
fn a_program_that_talks_something_else() {
    let folder = Temp::new();
    let (head, _) = chat(&target(&folder, "echo Welcome to gpubox", "h"), &CHAT);
    let program = folder.path().join("via program").display().to_string();
    assert_eq!(
        head.expect_err("no HTTP")
            .to_string()
            .replace(&program, "PROGRAM"),
        "h:11434 (via PROGRAM): not an HTTP server: expected \"HTTP/1.1 ...\", found \"Welcome to gpubox\""
    );
}

#[test]
fn no_answer_tells_status_and_messages() {
    let folder = Temp::new();
    assert_eq!(
        failure(
            &folder,
            "printf 'no route\\n\\n to the \\033[31mhost\\n' >&2; exit 7"
        ),
        "--via PROGRAM closed the connection without an answer (exit status: 7): no route: to the [31mhost"
    );
    assert_eq!(
        failure(&folder, "exit 0"),
        "--via PROGRAM closed the connection without an answer (exit status: 0)"
    );
    // Much of it: the end counts, and it does not block the program.
    let text = failure(
        &folder,
        "i=0; while [ $i -lt 5000 ]; do echo 'a line of noise that fills pipes' >&2; i=$((i+1)); done; echo last >&2; exit 1",
    );
    assert!(text.ends_with(": last") && text.len() < 4000, "{text}");
}

#[test]
fn a_cut_answer_is_a_cut_answer() {
    let folder = Temp::new();
    let script = "printf 'HTTP/1.1 200 OK\\r\\nContent-Length: 9\\r\\n\\r\\n{}'; exit 3";
    let (head, body) = chat(&target(&folder, script, "h:5"), &CHAT);
    let program = folder.path().join("via program").display().to_string();
    let error = head.expect_err("cut");
    assert_eq!(
        error.to_string().replace(&program, "PROGRAM"),
        "h:5 (via PROGRAM): connection closed after 2 of 9 body bytes"
    );
    assert_eq!(body, b"{}");
}

#[test]
fn a_program_that_does_not_exist() {
    let (endpoint, _) = Endpoint::parse("h").expect("address");
    let via = Via::parse("/no/such/program {host}").expect("words");
    let target = Target::new(endpoint, Some(via), Vec::new()).expect("target");
    let error = chat(&target, &CHAT).0.expect_err("failed");
    assert!(matches!(error, Error::Via { .. }) && error.before_response());
    assert_eq!(
        error.to_string(),
        "--via \"/no/such/program\" cannot be started: No such file or directory (os error 2)"
    );
}
