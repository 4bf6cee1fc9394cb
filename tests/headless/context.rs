//! A task that is longer than the window, through the whole program.

use super::task;
use crate::support::run::{run, standin};
use crate::support::temp::Temp;

#[test]
fn a_task_longer_than_the_window_is_done() {
    let (temp, server) = (Temp::new(), standin(None));
    let mut prompt = String::new();
    for n in 0..10 {
        temp.write(
            &format!("f{n}.txt"),
            format!("file {n}\n{}", "a line\n".repeat(600)),
        );
        prompt.push_str(&format!("read f{n}.txt, then "));
    }
    let args = ["-p", &prompt, "--context-window", "8k"];
    let ran = run(&mut task(temp.path(), &server, &args));
    assert_eq!(ran.code, Some(0), "{}", ran.err);
    let lines = |begin: &str| {
        ran.err
            .lines()
            .filter(|line| line.starts_with(begin))
            .count()
    };
    let (begun, made) = (lines("compact   about "), lines("compacted "));
    assert!(made >= 2 && begun == made, "{}", ran.err);
    assert_eq!(lines("call      read_file"), 10, "{}", ran.err);
    assert!(
        ran.err.contains("; number 2 in this session"),
        "{}",
        ran.err
    );
    assert!(
        ran.out
            .contains("Before the checkpoint I called read_file f0.txt."),
        "{}",
        ran.out
    );
    assert!(
        ran.out
            .ends_with("I read f9.txt: 601 lines, beginning with \"file 9\"\n"),
        "{}",
        ran.out
    );
}

#[test]
fn a_preview_lists_what_the_request_holds() {
    let (temp, server) = (Temp::new(), standin(None));
    let args = [
        "-p",
        "hello",
        "--what-would-be-sent",
        "--offline",
        "-m",
        "m",
    ];
    let ran = run(&mut task(temp.path(), &server, &args));
    assert_eq!(ran.code, Some(0), "{}", ran.err);
    let total = format!(
        "context   {} bytes, about ",
        zcoder::text::grouped(ran.out.len() as u64 - 1)
    );
    assert!(ran.err.contains(&total), "{}", ran.err);
    assert!(
        ran.err.contains("tokens of 16,384, compacted at 13,107\n"),
        "{}",
        ran.err
    );
    for part in ["options", "tools", "system", "environment", "user"] {
        assert!(
            ran.err.contains(&format!("\n          {part} ")),
            "{part}: {}",
            ran.err
        );
    }
    let quiet = [&args[..], &["-q"]].concat();
    let ran = run(&mut task(temp.path(), &server, &quiet));
    assert!(!ran.err.contains("context "), "{}", ran.err);
}
