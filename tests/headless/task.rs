//! A whole task: list, read, a failing test, an edit, the passing test, an answer; whatever the stream is cut into.

use super::task;
use crate::support::run::{Screen, run, standin};
use crate::support::temp::Temp;
use std::path::Path;
use zcoder::json::Tree;
use zcoder::standin::project;

#[test]
fn the_sample_task_is_done_at_any_cut() {
    let mut answers = Vec::new();
    for scene in [
        None,
        Some("one-byte-chunks"),
        Some("one-byte-writes"),
        Some("odd-chunks"),
    ] {
        let (temp, server) = (Temp::new(), standin(scene));
        let (prompt, _) = project::write(temp.path()).expect("a project");
        let args = ["-q", "--yes", "--output", "json", "-p", &prompt];
        let state = Temp::new();
        let mut command = task(temp.path(), &server, &args);
        let ran = run(command.env("XDG_STATE_HOME", state.path()));
        assert_eq!((ran.code, ran.err.as_str()), (Some(0), ""), "{scene:?}");
        let tree = Tree::parse(ran.out.as_bytes()).expect("one JSON text");
        let member = |key: &str| tree.root().get(key).expect(key).to_tree();
        let exits: Vec<u64> = member("commands")
            .root()
            .items()
            .map(|run| {
                run.get("exit")
                    .and_then(|exit| exit.as_number())
                    .and_then(|n| n.as_u64())
            })
            .map(|exit| exit.expect("an exit code"))
            .collect();
        assert_eq!(exits, [1, 0, 0], "failing, mended, used: {scene:?}");
        assert_eq!(member("files").root().items().count(), 1);
        answers.push(member("answer"));
    }
    assert!(
        answers.windows(2).all(|two| two[0] == two[1]),
        "{answers:?}"
    );
}

#[test]
fn the_sample_task_is_done_with_a_person_at_the_terminal() {
    let (temp, server) = (Temp::new(), standin(None));
    let (prompt, commands) = project::write(temp.path()).expect("a project");
    let mut screen = Screen::start(&mut task(temp.path(), &server, &["-p", &prompt]));
    for command in [&commands[0], &commands[0], &commands[1]] {
        let shown = screen.until("or a reason for the no: ");
        assert!(shown.contains(&format!("  | {command}\r\n")), "{shown}");
        screen.write("y\n");
    }
    let (rest, code) = screen.end();
    assert_eq!(code, Some(0), "{rest}");
    assert!(rest.contains("receipt   done"), "{rest}");
}

/// Forty tasks of six replies on a copy of a real repository (our own), each reply cut into chunks in a way of its own.
#[test]
fn a_task_on_a_real_repository_is_done_under_two_hundred_and_forty_seeded_cuts() {
    let temp = Temp::new();
    copy(
        &Path::new(env!("CARGO_MANIFEST_DIR")).join("src"),
        &temp.path().join("src"),
    );
    let (server, state) = (standin(Some("random-cuts")), Temp::new());
    for seed in 0..40 {
        let file = format!("seed-{seed}.txt");
        let prompt = format!(
            "list files in src, then read src/main.rs, then create {file} with 'cut {seed} of many', \
             then replace 'many' with 'forty' in {file}, then run cat {file}"
        );
        let args = ["--yes", "--output", "json", "-qp", &prompt];
        let mut command = task(temp.path(), &server, &args);
        let ran = run(command.env("XDG_STATE_HOME", state.path()));
        assert_eq!((ran.code, ran.err.as_str()), (Some(0), ""), "{seed}");
        let tree = Tree::parse(ran.out.as_bytes()).expect("one JSON text");
        let count = |key: &str| tree.root().get(key).and_then(|n| n.as_number()?.as_u64());
        assert_eq!(
            (count("requests"), count("calls")),
            (Some(6), Some(5)),
            "{}",
            ran.out
        );
        let written = std::fs::read_to_string(temp.path().join(&file)).expect("written");
        assert_eq!(written.trim_end(), format!("cut {seed} of forty"));
    }
}

fn copy(from: &Path, to: &Path) {
    std::fs::create_dir(to).expect("a folder");
    for entry in std::fs::read_dir(from).expect("a folder of ours") {
        let path = entry.expect("an entry of ours").path();
        let to = to.join(path.file_name().expect("a name"));
        if path.is_dir() {
            copy(&path, &to);
        } else {
            std::fs::copy(&path, &to).expect("a copy");
        }
    }
}
