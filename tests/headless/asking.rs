//! Questions on a terminal: what is shown, which answers count.

use super::task;
use crate::support::run::{Screen, standin};
use crate::support::temp::Temp;
use zcoder::headless::ask::{answers, read, render};
use zcoder::protocol::{CommandPart, Decision, Offers, Question};

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
    assert!(rest.contains("yes, by you"), "{rest}");
    assert!(temp.path().join("made").exists());
}

#[test]
fn enter_alone_and_a_sentence_are_a_no() {
    for (answer, said) in [
        ("\n", "no, by you"),
        ("use make\n", "no (use make), by you"),
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
    assert!(rest.contains("no, by you"), "{rest}");
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
fn what_an_answer_means() {
    let no = |reason: Option<&str>| Decision::Deny {
        reason: reason.map(str::to_string),
    };
    let everything = question(Offers {
        exact: true,
        session: true,
        keep: true,
        rules: vec!["allow make".to_string()],
    });
    for (line, expected) in [
        ("y", Decision::Once),
        (" YES ", Decision::Once),
        ("a", Decision::Session),
        ("always", Decision::Session),
        ("r", Decision::SessionRule),
        (" K", Decision::KeptRule),
        ("kk", no(Some("kk"))),
        ("", no(None)),
        ("n", no(None)),
        ("No", no(None)),
        ("yes please", no(Some("yes please"))),
        ("yy", no(Some("yy"))),
        ("\x1b[Ay", no(Some("y"))),
    ] {
        assert_eq!(read(line, &everything), expected, "{line:?}");
    }
    // A letter that is not among the answers shown is no yes.
    let nothing = question(Offers::default());
    for line in ["a", "r", "k"] {
        assert_eq!(read(line, &nothing), no(Some(line)), "{line:?}");
    }
    assert_eq!(read("y", &nothing), Decision::Once);
    assert_eq!(
        answers(&everything),
        "y yes, once · a exactly this, for this run · r rule, for this run · k keep rule · n no · or a reason for the no: "
    );
    assert_eq!(
        answers(&nothing),
        "y yes, once · n no · or a reason for the no: "
    );
}

fn question(offers: Offers) -> Question {
    let part = |text: &str, ruling: &str| CommandPart {
        text: text.to_string(),
        ruling: ruling.to_string(),
    };
    Question::Command {
        command: "make 2>&1 | tail -5".to_string(),
        cwd: ".".to_string(),
        timeout_seconds: 120,
        wrapper: Vec::new(),
        parts: vec![
            part("make 2>&1", "no rule allows it"),
            part("tail -5", "only reads what it is given"),
        ],
        reasons: Vec::new(),
        notes: Vec::new(),
        offers,
    }
}

#[test]
fn a_question_lists_the_parts_and_the_rule_that_would_be_kept() {
    let offers = Offers {
        exact: true,
        session: true,
        keep: true,
        rules: vec!["allow make".to_string()],
    };
    let expected = "
run this command?
  folder   .
  limit    120 s
  part     make 2>&1: no rule allows it
  part     tail -5: only reads what it is given
  rule     allow make
  | make 2>&1 | tail -5
";
    assert_eq!(render(&question(offers), 80), expected);
}

#[test]
fn nothing_of_a_question_is_hidden() {
    let question = Question::Command {
        command: format!("rm \u{202e}x\x1b[8m{}END\necho\ttab", " ".repeat(60)),
        cwd: "sub".to_string(),
        timeout_seconds: 120,
        wrapper: vec!["bwrap".to_string(), "--ro".to_string()],
        parts: vec![CommandPart {
            text: "rm x".to_string(),
            ruling: "no rule allows it".to_string(),
        }],
        reasons: vec!["not understood: byte 3".to_string()],
        notes: vec!["runs test.sh, which the model changed".to_string()],
        offers: Offers::default(),
    };
    let expected = "
run this command?
  folder   sub
  limit    120 s
  wrapper  bwrap --ro
  note     runs test.sh, which the model
  \\         changed
  asks     no rule allows it
  asks     not understood: byte 3
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
