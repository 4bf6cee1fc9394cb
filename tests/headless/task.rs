//! A whole task: list, read, a failing test, an edit, the passing test, an answer; whatever the stream is cut into.

use super::task;
use crate::support::run::{Screen, run, standin};
use crate::support::temp::Temp;
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
        let ran = run(&mut task(temp.path(), &server, &args));
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
