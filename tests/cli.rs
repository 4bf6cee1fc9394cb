//! Tests of `commands`: the real binary's subcommands, help, version, and what a wrong command line comes to.

mod decode;
mod guided;
mod places;
mod policy;
mod sessions;
mod settings;
mod shell;
mod tool;
mod undo;

use crate::support::run::{ran, run, standin, zcoder};
use crate::support::temp::Temp;
use crate::support::wire::{Act, Peer};
use std::fs::File;
use std::process::{Command, Stdio};
use zcoder::config::flags::COMMANDS;
use zcoder::config::help;
use zcoder::json::Tree;

#[test]
fn version_is_one_line() {
    let temp = Temp::new();
    let expected = concat!("zcoder ", env!("CARGO_PKG_VERSION"), "\n");
    for args in [
        &["--version"][..],
        &["-V"],
        &["version"],
        &["--version", "--nonsense"],
    ] {
        let ran = run(&mut zcoder(temp.path(), args));
        assert_eq!(
            (ran.code, ran.out.as_str(), ran.err.as_str()),
            (Some(0), expected, "")
        );
    }
}

#[test]
fn help_is_on_standard_output_and_a_bare_start_is_not_help() {
    let temp = Temp::new();
    for args in [&["--help"][..], &["-h"], &["help"], &["-p", "x", "--help"]] {
        let ran = run(&mut zcoder(temp.path(), args));
        assert_eq!(
            (ran.code, ran.out, ran.err.as_str()),
            (Some(0), help::overview(), "")
        );
    }
    let topic = run(&mut zcoder(temp.path(), &["help", "exit-codes"]));
    assert_eq!(Some(topic.out), help::topic("exit-codes"));
    let flag = run(&mut zcoder(temp.path(), &["help", "--model"]));
    assert_eq!(Some(flag.out), help::topic("--model"));
    for row in COMMANDS.iter().filter(|row| !row.name.is_empty()) {
        let ran = run(&mut zcoder(temp.path(), &[row.name, "--help"]));
        assert_eq!(ran.code, Some(0));
        if row.name != "help" && row.name != "version" {
            assert_eq!(Some(ran.out), help::topic(row.name));
        }
    }
    let bare = run(&mut zcoder(temp.path(), &[]));
    assert_eq!((bare.code, bare.out.as_str()), (Some(2), ""));
    assert!(
        bare.err.contains("zcoder -p") && bare.err.contains("zcoder demo"),
        "{}",
        bare.err
    );
}

#[test]
fn a_wrong_command_line_is_exit_code_2_and_nothing_on_standard_output() {
    let temp = Temp::new();
    for (args, expected) in [
        (
            &["--modle", "x"][..],
            "zcoder: unknown flag `--modle`; the nearest is `--model`\n",
        ),
        (
            &["help", "securty"],
            "zcoder: no help on `securty`; the nearest is `security`\n",
        ),
        (
            &["wire"],
            "zcoder: `zcoder wire` needs more words: zcoder wire FILE|SESSION\n",
        ),
        (
            &["models", "x"],
            "zcoder: `zcoder models` does not take `x`: zcoder models \n",
        ),
        (
            &["tool", "x"],
            "zcoder: `zcoder tool` needs more words: zcoder tool NAME JSON\n",
        ),
        (
            &["decode"],
            "zcoder: `zcoder decode` needs more words: zcoder decode STAGE [FILE|-]\n",
        ),
        (
            &["-p", "x", "--offline"],
            "zcoder: --offline works only with --what-would-be-sent\n",
        ),
        // Foreign bytes of a command line are made harmless like any other.
        (
            &["--\x1b[2Jx"],
            "zcoder: unknown flag `--x`; `zcoder --help` lists all\n",
        ),
    ] {
        let ran = run(&mut zcoder(temp.path(), args));
        assert_eq!((ran.code, ran.out.as_str()), (Some(2), ""), "{args:?}");
        assert_eq!(ran.err, expected, "{args:?}");
    }
}

#[test]
fn a_closed_standard_output_is_quiet() {
    let temp = Temp::new();
    let mut shell = Command::new("sh");
    let script = format!(
        "{0} --help | true; {0} --version >&-",
        env!("CARGO_BIN_EXE_zcoder")
    );
    let out = shell
        .args(["-c", &script])
        .current_dir(temp.path())
        .output()
        .expect("sh");
    assert_eq!(ran(out).err, "");
    let full = File::create("/dev/full").expect("/dev/full");
    let mut command = zcoder(temp.path(), &["--help"]);
    let child = command
        .stdout(full)
        .stderr(Stdio::piped())
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
fn models_are_listed_by_a_server_that_does_not_say_what_is_loaded() {
    let answer = |status: &str, body: &str| {
        let length = body.len();
        let text = format!("HTTP/1.1 {status}\r\nContent-Length: {length}\r\n\r\n{body}");
        vec![Act::Request, Act::Send(text.into_bytes()), Act::Close]
    };
    let tags = r#"{"models":[{"name":"m:8b","size":5200000000,"capabilities":["tools"]}]}"#;
    let peer = Peer::serve([
        answer("200 OK", tags),
        answer("500 Internal Server Error", r#"{"error":"busy loading"}"#),
    ]);
    let (temp, address) = (Temp::new(), peer.address().to_string());
    let ran = run(&mut zcoder(temp.path(), &["models", "--host", &address]));
    assert_eq!(
        (ran.code, ran.err.as_str()),
        (
            Some(0),
            "zcoder: what is loaded is not known: the server failed (status 500): busy loading; its log may say more\n"
        )
    );
    let row: Vec<&str> = ran
        .out
        .lines()
        .last()
        .expect("a row")
        .split_whitespace()
        .collect();
    assert_eq!(row, ["m:8b", "5.2", "GB", "-", "-", "-", "tools", "-"]);
}

#[test]
fn models_as_a_table_and_as_json() {
    let (temp, server) = (Temp::new(), standin(Some("two-models")));
    let address = server.address().to_string();
    let table = run(&mut zcoder(temp.path(), &["models", "--host", &address]));
    assert_eq!((table.code, table.err.as_str()), (Some(0), ""));
    let lines: Vec<&str> = table.out.lines().collect();
    assert_eq!(lines.len(), 3, "{}", table.out);
    let head: Vec<&str> = lines[0].split_whitespace().collect();
    assert_eq!(
        head,
        [
            "NAME",
            "SIZE",
            "PARAMETERS",
            "QUANTIZATION",
            "WINDOW",
            "CAN",
            "LOADED"
        ]
    );
    assert!(lines[1].starts_with("stand-in:latest "), "{}", table.out);
    assert!(lines[1].contains("tools, thinking"), "{}", table.out);
    let json = run(&mut zcoder(
        temp.path(),
        &["models", "--host", &address, "--output", "json"],
    ));
    let tree = Tree::parse_strict(json.out.as_bytes()).expect("one JSON text");
    let models = tree.root().get("models").expect("models");
    assert_eq!(models.items().count(), 2);
    let lines = run(&mut zcoder(
        temp.path(),
        &["models", "--host", &address, "--output", "jsonl"],
    ));
    assert_eq!(lines.out.lines().count(), 2);
}

#[test]
fn models_without_a_server_or_without_models() {
    let temp = Temp::new();
    let ran = run(&mut zcoder(
        temp.path(),
        &["models", "--host", "127.0.0.1:1"],
    ));
    assert_eq!((ran.code, ran.out.as_str()), (Some(3), ""));
    assert!(
        ran.err
            .starts_with("zcoder: 127.0.0.1:1 refused the connection"),
        "{}",
        ran.err
    );
    let server = standin(Some("no-models"));
    let address = server.address().to_string();
    let ran = run(&mut zcoder(temp.path(), &["models", "--host", &address]));
    assert_eq!(ran.code, Some(0));
    assert_eq!(ran.err, "no models; get one with: ollama pull qwen3:8b\n");
}
