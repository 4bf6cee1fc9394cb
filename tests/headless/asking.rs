//! Questions on a terminal: what is shown, which answers count.

use super::task;
use crate::support::run::{Screen, standin};
use crate::support::temp::Temp;
use zcoder::headless::ask::{read, render};
use zcoder::protocol::{Decision, Question};

const PROMPT: &str = "or a reason for the no: ";

#[test]
fn yes_runs_exactly_what_was_shown() {
    let (temp, server) = (Temp::new(), standin(None));
    let mut screen = Screen::start(&mut task(temp.path(), &server, &["-p", "run touch made"]));
    let shown = screen.until(PROMPT);
    assert!(shown.contains("run this command?\r\n"), "{shown}");
    assert!(shown.contains("  | touch made\r\n"), "{shown}");
    assert!(!temp.path().join("made").exists());
    screen.write("y\n");
    let (rest, code) = screen.end();
    assert_eq!(code, Some(0), "{rest}");
    assert!(rest.contains("yes, on the terminal"), "{rest}");
    assert!(temp.path().join("made").exists());
}

#[test]
fn enter_alone_and_a_sentence_are_a_no() {
    for (answer, said) in [
        ("\n", "no, on the terminal"),
        ("use make\n", "no (use make), on the terminal"),
    ] {
        let (temp, server) = (Temp::new(), standin(None));
        let mut screen = Screen::start(&mut task(temp.path(), &server, &["-p", "run touch made"]));
        screen.until(PROMPT);
        screen.write(answer);
        let (rest, code) = screen.end();
        assert_eq!(
            code,
            Some(1),
            "the model is told and says that it is blocked: {rest}"
        );
        assert!(rest.contains(said), "{rest}");
        assert!(!temp.path().join("made").exists());
    }
}

#[test]
fn what_was_typed_before_the_question_does_not_answer_it() {
    let (temp, server) = (Temp::new(), standin(None));
    let mut command = task(temp.path(), &server, &["-p", "run touch made"]);
    let mut screen = Screen::start(&mut command);
    screen.write("y\ny\n");
    screen.until(PROMPT);
    screen.write("n\n");
    let (rest, code) = screen.end();
    assert_eq!(code, Some(1), "{rest}");
    assert!(rest.contains("no, on the terminal"), "{rest}");
    assert!(!temp.path().join("made").exists());
}

#[test]
fn always_holds_for_the_same_text_until_the_end() {
    let (temp, server) = (Temp::new(), standin(None));
    let prompt = "run `echo x >> log`, then run `echo x >> log`";
    let mut screen = Screen::start(&mut task(temp.path(), &server, &["-p", prompt]));
    screen.until(PROMPT);
    screen.write("a\n");
    let (rest, code) = screen.end();
    assert_eq!(code, Some(0), "{rest}");
    assert!(rest.contains("by an earlier answer"), "{rest}");
    assert_eq!(temp.read("log"), b"x\nx\n");
}

#[test]
fn an_edit_is_shown_as_the_exact_diff() {
    let (temp, server) = (Temp::new(), standin(None));
    temp.write("a.txt", "one\ntwo\n");
    let prompt = "replace 'two' with 'three' in a.txt";
    let mut screen = Screen::start(&mut task(
        temp.path(),
        &server,
        &["-p", prompt, "--edits", "ask"],
    ));
    let shown = screen.until(PROMPT);
    assert!(shown.contains("make this change?\r\n"), "{shown}");
    assert!(shown.contains("  | -two\r\n  | +three\r\n"), "{shown}");
    assert_eq!(temp.read("a.txt"), b"one\ntwo\n");
    screen.write("yes\n");
    let (rest, code) = screen.end();
    assert_eq!(code, Some(0), "{rest}");
    assert_eq!(temp.read("a.txt"), b"one\nthree\n");
}

#[test]
fn ctrl_c_at_a_question_ends_the_turn() {
    let (temp, server) = (Temp::new(), standin(None));
    let mut screen = Screen::start(&mut task(temp.path(), &server, &["-p", "run touch made"]));
    screen.until(PROMPT);
    screen.write("\x03");
    let (rest, code) = screen.end();
    assert_eq!(code, Some(130), "{rest}");
    assert!(!temp.path().join("made").exists());
}

#[test]
fn end_of_input_at_a_question_is_a_no() {
    let (temp, server) = (Temp::new(), standin(None));
    let mut screen = Screen::start(&mut task(temp.path(), &server, &["-p", "run touch made"]));
    screen.until(PROMPT);
    screen.write("\x04");
    let (rest, code) = screen.end();
    assert_eq!(code, Some(1), "{rest}");
    assert!(!temp.path().join("made").exists());
}

#[test]
fn a_deadline_ends_the_turn_while_nobody_answers() {
    let (temp, server) = (Temp::new(), standin(None));
    let args = ["-p", "run touch made", "--max-seconds", "1"];
    let mut screen = Screen::start(&mut task(temp.path(), &server, &args));
    screen.until(PROMPT);
    let (rest, code) = screen.end();
    assert_eq!(code, Some(5), "{rest}");
}

#[test]
fn answers() {
    let no = |reason: Option<&str>| Decision::Deny {
        reason: reason.map(str::to_string),
    };
    for (line, expected) in [
        ("y", Decision::Once),
        (" YES ", Decision::Once),
        ("a", Decision::Session),
        ("always", Decision::Session),
        ("", no(None)),
        ("n", no(None)),
        ("No", no(None)),
        ("yes please", no(Some("yes please"))),
        ("yy", no(Some("yy"))),
        ("\x1b[Ay", no(Some("y"))),
    ] {
        assert_eq!(read(line), expected, "{line:?}");
    }
}

#[test]
fn nothing_of_a_question_is_hidden() {
    let question = Question::Command {
        command: format!("rm \u{202e}x\x1b[8m{}END\necho\ttab", " ".repeat(60)),
        cwd: "sub".to_string(),
        timeout_seconds: 120,
        wrapper: vec!["bwrap".to_string(), "--ro".to_string()],
        notes: vec!["runs test.sh, which the model changed".to_string()],
    };
    let expected = "
run this command?
  folder   sub
  limit    120 s
  wrapper  bwrap --ro
  note     runs test.sh, which the model
  \\         changed
  | rm \\u{202e}x\\x1b[8m                \x20
  \\                                    \x20
  \\        END
  | echo\\ttab
";
    assert_eq!(render(&question, 40), expected);
    for line in render(&question, 40).lines() {
        assert!(line.chars().count() <= 40, "{line:?}");
    }
}

#[test]
fn the_other_questions() {
    let edit = Question::Edit {
        path: ".envrc".to_string(),
        diff: "--- a/.envrc\n+++ b/.envrc\n@@ -0,0 +1 @@\n+export A=1\n".to_string(),
        notes: vec!["a shell start-up file".to_string()],
    };
    let expected = "
make this change?
  file     .envrc
  note     a shell start-up file
  | --- a/.envrc
  | +++ b/.envrc
  | @@ -0,0 +1 @@
  | +export A=1
";
    assert_eq!(render(&edit, 80), expected);
    let looping = Question::Loop {
        description: "read_file a.txt, 5 times with the same result".to_string(),
    };
    let expected = "
the model repeats itself: go on?
  | read_file a.txt, 5 times with the same result
";
    assert_eq!(render(&looping, 80), expected);
    let cloud = Question::Cloud {
        model: "big:cloud".to_string(),
        remote_host: "https://example.com".to_string(),
    };
    let expected = "
the server forwards this model to another host: send it the prompt and the files it reads?
  model    big:cloud
  host     https://example.com
";
    assert_eq!(render(&cloud, 80), expected);
}
