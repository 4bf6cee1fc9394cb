//! Every fault of the stream corpus, through the whole program: each ends with a defined code, errors print no answer, harmless oddities
//! do, and no control code reaches standard error.

use super::task;
use crate::support::run::{run, standin};
use crate::support::temp::Temp;
use std::sync::Mutex;
use std::thread;
use zcoder::standin::scenes;

/// These wait 5 or 6 seconds between resends and show nothing that `busy-once` does not; `model` has them with short waits.
const RESENT: &[&str] = &["busy", "error-html", "out-of-memory"];

/// Runs at a time: most of the time is waiting for time limits.
const AT_ONCE: usize = 8;

#[test]
fn every_scene_ends_with_a_defined_code() {
    let all = scenes().filter(|(name, _)| !RESENT.contains(name));
    let todo: Mutex<Vec<(&str, &str)>> = Mutex::new(all.collect());
    let faults = Mutex::new(Vec::new());
    thread::scope(|scope| {
        for _ in 0..AT_ONCE {
            scope.spawn(|| {
                loop {
                    let next = todo.lock().expect("no panic").pop();
                    let Some((name, about)) = next else { break };
                    if let Err(fault) = scene(name, about) {
                        faults
                            .lock()
                            .expect("no panic")
                            .push(format!("{name}: {fault}"));
                    }
                }
            });
        }
    });
    let faults = faults.into_inner().expect("no panic");
    assert!(faults.is_empty(), "{}", faults.join("\n\n"));
}

fn scene(name: &str, about: &str) -> Result<(), String> {
    let (temp, server) = (Temp::new(), standin(Some(name)));
    let limits = [
        "--first-byte-timeout",
        "4",
        "--gap-timeout",
        "2",
        "--max-turns",
        "12",
    ];
    let args = [&["-p", "hello", "--read-only"][..], &limits].concat();
    let ran = run(&mut task(temp.path(), &server, &args));
    let control = |c: char| c.is_control() && c != '\n';
    if ran.err.contains(control) {
        return Err(format!("a control code: {:?}", ran.err));
    }
    let code = ran.code.ok_or("ended by a signal")?;
    let right = if about.contains("(an error)") {
        code == 3 && ran.out.is_empty()
    } else if about.contains("(harmless)") {
        code == 0 && !ran.out.is_empty()
    } else {
        // Usage errors come before a server is asked; what is missing on the server counts as one.
        (0..=5).contains(&code) && (code == 0 || code == 1 || ran.out.is_empty())
    };
    let last = ran.err.lines().last().unwrap_or("");
    let said =
        code == 0 || code == 1 || ran.err.contains("\nzcoder: ") || ran.err.starts_with("zcoder: ");
    match right && said && !last.is_empty() {
        true => Ok(()),
        false => Err(format!("code {code}, {about}\n{}{}", ran.out, ran.err)),
    }
}
