//! Listing, showing, exporting.

use super::kit::{Kit, header, id, title, turn, two_requests, user};
use crate::support::run::{Screen, run, standin};
use std::fs;
use zcoder::json::Tree;

#[test]
fn the_newest_is_listed_first_and_what_nobody_asked_for_is_not() {
    let kit = Kit::new();
    kit.check(&["sessions"], 0, "", "no sessions of this folder\n");
    kit.session(1, &[header(1), title("one"), turn(1, "one"), user("one")]);
    kit.session(3, &[header(3)]);
    kit.session(5, &two_requests(5));
    kit.session(50, &[header(50), turn(1, "\u{1b}[31mred"), user("x")]);
    fs::write(kit.file(&id(50), "current"), "").expect("written");
    let out = "20250821-090050000-x1y2z3a4  2025-08-21 09:00        3  [damaged] red\n\
               20250821-090005000-x1y2z3a4  2025-08-21 09:00       18  make the test pass\n\
               20250821-090001000-x1y2z3a4  2025-08-21 09:00        4  one\n";
    for args in [&["sessions"][..], &["sessions", "list"], &["sessions"]] {
        kit.check(args, 0, out, "");
    }
}

#[test]
fn a_session_is_found_by_the_beginning_of_its_id() {
    let kit = Kit::new();
    kit.session(1, &[header(1), turn(1, "one"), user("one")]);
    kit.session(2, &[header(2), turn(1, "two"), user("two")]);
    let found = kit.run(&["sessions", "show", "20250821-090002"]);
    assert!(found.out.ends_with("  two\n"), "{found:?}");
    for (given, cause) in [
        (
            "2025",
            "several begin so: 20250821-090002000-x1y2z3a4, 20250821-090001000-x1y2z3a4",
        ),
        ("", "this folder has none whose id begins so"),
        ("../x", "this folder has none whose id begins so"),
        ("x", "this folder has none whose id begins so"),
    ] {
        let err = format!(
            "zcoder: no session `{given}`: {cause}\n`zcoder sessions` lists those of this folder\n"
        );
        kit.check(&["sessions", "show", given], 2, "", &err);
    }
}

#[test]
fn a_session_of_another_folder_is_named_with_that_folder() {
    let kit = Kit::new();
    for second in [1, 2] {
        kit.session(second, &[header(second), turn(1, "one"), user("one")]);
    }
    let other = kit.temp.path().join("other");
    fs::create_dir(&other).expect("a folder");
    let none = "this folder has none whose id begins so";
    let place = "is one of `/home/me/app`: go there, or name that folder with --workspace";
    let list = "`zcoder sessions` lists those of this folder";
    for (given, more) in [
        ("20250821-090001", format!("; {} {place}", id(1))),
        // Two of them.
        ("20250821-09000", String::new()),
        ("", String::new()),
        ("..", String::new()),
    ] {
        let args: [&[&str]; 2] = [
            &["sessions", "show", given],
            &["-p", "x", "--resume", given],
        ];
        for args in args {
            let ran = run(kit.command(args).current_dir(&other));
            let err = format!("zcoder: no session `{given}`: {none}{more}\n{list}\n");
            assert_eq!((ran.code, ran.err), (Some(2), err), "{args:?}");
        }
    }
}

#[test]
fn where_there_is_nothing_to_go_on_with_no_other_session_is_begun_and_no_file_is_made() {
    let kit = Kit::new();
    let file = kit.temp.path().join("ws/r");
    let none = "zcoder: this folder has no session to go on with; drop --continue to begin one\n";
    kit.check(&["-c", "-p", "x", "--record", "r"], 2, "", none);
    let nowhere = "zcoder: there are no sessions: none of HOME, XDG_STATE_HOME and ZCODER_HOME names a folder for them\n";
    for more in [&["--continue"][..], &["--resume", "2026"]] {
        let mut bare = kit.command(&[&["-p", "x", "--debug-log", "r"], more].concat());
        let ran = run(bare.env_remove("ZCODER_HOME"));
        assert_eq!((ran.code, ran.err.as_str()), (Some(2), nowhere));
    }
    assert!(!file.exists());
}

#[test]
fn a_session_that_goes_on_says_that_its_model_is_gone() {
    let (kit, server) = (Kit::new(), standin(None));
    kit.session(5, &two_requests(5));
    let host = server.address().to_string();
    let ran = kit.run(&["-c", "-p", "hello", "--host", &host]);
    let why = "(the only model here; the session's model, qwen3:8b, is not)";
    assert!(ran.err.contains(why), "{}", ran.err);
}

#[test]
fn wrong_words_are_answered_with_the_right_ones() {
    let kit = Kit::new();
    for (args, err) in [
        (
            &["sessions", "lsit"][..],
            "`zcoder sessions` does not know `lsit`; the nearest is `list`",
        ),
        (
            &["sessions", "list", "--last", "2"],
            "--last works only with show",
        ),
        (
            &["sessions", "show", "x", "--format", "html"],
            "--format works only with export",
        ),
        (
            &["sessions", "show", "x", "--last", "0"],
            "`--last 0`: expected a whole number from 1 on",
        ),
    ] {
        kit.check(args, 2, "", &format!("zcoder: {err}\n"));
    }
    let mut bare = kit.command(&["sessions"]);
    bare.env_remove("ZCODER_HOME");
    let ran = run(&mut bare);
    assert_eq!(
        (ran.code, ran.err.as_str()),
        (
            Some(2),
            "zcoder: there are no sessions: none of HOME, XDG_STATE_HOME and ZCODER_HOME names a folder for them\n"
        )
    );
}

const HEAD: &str = "session    20250821-090000000-x1y2z3a4\n";

const FIRST: &str = "workspace  /home/me/app
begun      2025-08-21 09:00, zcoder 0.1.0
model      qwen3:8b at http://127.0.0.1:11434, window 32,768, 2 tools (native), think true
system     15 bytes
note to the model: environment
  Date: 2025-08-21.
title      make the test pass

request 1  2025-08-21 09:00, one shot on /dev/pts/3, user 1000
  make the test pass
  # not a heading
  <b>&
thinking
  I look first.
call       run_command {\"command\":\"sh test.sh\"}
decision: yes, by --yes
  sh test.sh
result of run_command
  exit code 8
  ```
  \u{1b}[31mFAIL
edit       src/a.rs: abababababab -> nothing
answer
  It *fails*.
receipt    done; src/a.rs +1 -1; sh test.sh (exit code 8); 1 request, 2 calls
";

const SECOND: &str = "
request 2  2025-08-21 09:00, one shot on /dev/pts/3, user 1000
  try again
checkpoint: 30,000 tokens became 2,000; 2 messages stay word for word
  Goal: a passing test.
decision: no, by a person: not that
  rm -rf /
receipt    a limit was reached: --max-turns 1; src/a.rs +1 -1; sh test.sh (exit code 8); 1 request, 2 calls
";

#[test]
fn a_session_is_shown_whole_or_from_its_end() {
    let kit = Kit::new();
    let id = kit.session(0, &two_requests(0));
    let whole = format!("{HEAD}{FIRST}{SECOND}");
    kit.check(&["sessions", "show", &id], 0, &whole, "");
    let end = format!("{HEAD}title      make the test pass\n{SECOND}");
    kit.check(&["sessions", "show", &id, "--last", "1"], 0, &end, "");
    let first = FIRST.split_once("\n\n").expect("a blank line").1;
    let both = format!("{HEAD}title      make the test pass\n\n{first}{SECOND}");
    kit.check(&["sessions", "show", &id, "--last", "2"], 0, &both, "");
    let all = format!("{HEAD}title      make the test pass\n{FIRST}{SECOND}");
    kit.check(&["sessions", "show", &id, "--last", "3"], 0, &all, "");
}

#[test]
fn a_terminal_gets_no_control_codes() {
    let kit = Kit::new();
    let id = kit.session(0, &two_requests(0));
    let screen = Screen::wide(&mut kit.command(&["sessions", "show", &id]), 120);
    let (shown, code) = screen.end();
    assert_eq!(code, Some(0));
    assert!(!shown.contains('\x1b'), "{shown:?}");
    assert!(shown.contains("  FAIL\r\n"), "{shown:?}");
}

#[test]
fn what_is_damaged_is_told_and_the_rest_is_shown() {
    let kit = Kit::new();
    let id = kit.session(0, &two_requests(0));
    let log = fs::read_to_string(kit.file(&id, "log-1.jsonl")).expect("log");
    let offset = log.find("{\"seq\":14,").expect("there");
    let damaged = log.replacen("{\"seq\":14,", "{\"seq\":1#,", 1);
    fs::write(kit.file(&id, "log-1.jsonl"), damaged).expect("written");
    let shown = format!("{HEAD}{FIRST}{SECOND}").replace("  try again\n", "");
    let err = format!("zcoder: log-1.jsonl, byte {offset}: a line does not begin as records do\n");
    kit.check(&["sessions", "show", &id], 1, &shown, &err);
}

#[test]
fn markdown_cannot_be_broken_out_of() {
    let kit = Kit::new();
    let id = kit.session(0, &two_requests(0));
    let ran = kit.run(&["sessions", "export", &id]);
    assert_eq!((ran.code, ran.err.as_str()), (Some(0), ""));
    let expected = "\n## Request 1\n\n2025-08-21 09:00, one shot on /dev/pts/3, user 1000\n\n\
        > make the test pass\n> # not a heading\n> <b>&\n\n\n`thinking`\n\n```\nI look first.\n```\n\n\
        call: `run_command {\"command\":\"sh test.sh\"}`\n\n`decision: yes, by --yes`\n\n```\nsh test.sh\n```\n\n\
        `result of run_command`\n\n````\nexit code 8\n```\n\u{1b}[31mFAIL\n````\n\n\
        edit: `src/a.rs: abababababab -> nothing`\n\nanswer\n\n> It *fails*.\n\n\n\
        receipt: `done; src/a.rs +1 -1; sh test.sh (exit code 8); 1 request, 2 calls`\n";
    let from = ran.out.find("\n## Request 1").expect("a heading");
    let to = ran.out.find("\n## Request 2").expect("a heading");
    assert_eq!(&ran.out[from..to], expected);
    let head = "# Session 20250821-090000000-x1y2z3a4\n\nworkspace: `/home/me/app`\n";
    assert!(ran.out.starts_with(head), "{}", ran.out);
}

#[test]
fn a_page_has_no_markup_but_its_own() {
    let kit = Kit::new();
    let id = kit.session(0, &two_requests(0));
    let ran = kit.run(&["sessions", "export", &id, "--format", "html"]);
    assert_eq!((ran.code, ran.err.as_str()), (Some(0), ""));
    for part in [
        "<!DOCTYPE html>\n",
        "content=\"default-src 'none'; style-src 'unsafe-inline'\"",
        "<title>20250821-090000000-x1y2z3a4</title>",
        "<h2>Request 1</h2>",
        "<blockquote>make the test pass\n# not a heading\n&lt;b&gt;&amp;\n</blockquote>",
        "<code>run_command {&quot;command&quot;:&quot;sh test.sh&quot;}</code>",
        "<pre>exit code 8\n```\n\\x1b[31mFAIL\n</pre>",
        "</body>\n</html>\n",
    ] {
        assert!(ran.out.contains(part), "{part}\n{}", ran.out);
    }
    for never in ["<script", "<b>&\n", "http-equiv=\"refresh", "src=", "href="] {
        assert!(!ran.out.contains(never), "{never}");
    }
}

#[test]
fn records_are_exported_as_they_stand_in_the_log() {
    let kit = Kit::new();
    let id = kit.session(0, &two_requests(0));
    let log = fs::read_to_string(kit.file(&id, "log-1.jsonl")).expect("log");
    kit.check(
        &["sessions", "export", &id, "--format", "jsonl"],
        0,
        &log,
        "",
    );
    let ran = kit.run(&["sessions", "export", &id, "--format", "json"]);
    let tree = Tree::parse_strict(ran.out.as_bytes()).expect("one array");
    assert_eq!(tree.root().items().count(), 18);
    let lines: Vec<&str> = log.lines().collect();
    assert_eq!(ran.out, format!("[\n{}\n]\n", lines.join(",\n")));
}

#[test]
fn sessions_that_cannot_be_listed_are_not_told_to_be_none() {
    let kit = Kit::new();
    let folder = kit.store.folder();
    fs::create_dir_all(folder.parent().expect("a folder")).expect("folders");
    std::os::unix::fs::symlink(folder, folder).expect("a link to itself");
    let expected = format!(
        "zcoder: cannot list `{}`: Too many levels of symbolic links (os error 40)\n",
        folder.display()
    );
    for args in [
        &["sessions"][..],
        &["sessions", "show", "2025"],
        &["undo", "2025"],
        &["--continue", "-p", "x"],
    ] {
        kit.check(args, 2, "", &expected);
    }
}
