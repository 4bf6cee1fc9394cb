//! The stand-in's answers, as values: plans walked over conversations.

use zcoder::standin::project::{MENDED, SLIP};
use zcoder::standin::walk::{Answer, Call, Done, Talk, answer};

const TOOLS: &[&str] = &[
    "list_files",
    "read_file",
    "write_file",
    "replace_text",
    "run_command",
    "finish_task",
];

fn talk(prompt: &str, done: &[(&str, &str, &str)]) -> Talk {
    Talk {
        prompt: prompt.to_string(),
        done: done
            .iter()
            .map(|(name, about, result)| call_done(name, about, result))
            .collect(),
        tools: TOOLS.iter().map(|tool| tool.to_string()).collect(),
        ..Talk::default()
    }
}

fn call_done(name: &str, about: &str, result: &str) -> Done {
    Done {
        name: name.to_string(),
        about: about.to_string(),
        result: Some(result.to_string()),
    }
}

#[track_caller]
fn calls(talk: &Talk, name: &'static str, arguments: &[(&'static str, &str)]) {
    let arguments = arguments
        .iter()
        .map(|(key, value)| (*key, value.to_string()))
        .collect();
    assert_eq!(answer(talk).calls, [Call { name, arguments }]);
}

#[track_caller]
fn says(talk: &Talk, content: &str) {
    let Answer {
        content: found,
        calls,
        ..
    } = answer(talk);
    assert_eq!((found.as_str(), calls), (content, Vec::new()));
}

#[test]
fn each_step_becomes_its_call() {
    calls(&talk("list files", &[]), "list_files", &[]);
    calls(
        &talk("list files in src", &[]),
        "list_files",
        &[("path", "src")],
    );
    calls(&talk("read a.txt", &[]), "read_file", &[("path", "a.txt")]);
    let replace = [("path", "x.rs"), ("old_text", "a"), ("new_text", "b")];
    calls(
        &talk("replace 'a' with 'b' in x.rs", &[]),
        "replace_text",
        &replace,
    );
    calls(
        &talk("run make", &[]),
        "run_command",
        &[("command", "make")],
    );
    calls(
        &talk("create n.txt with hi", &[]),
        "write_file",
        &[("path", "n.txt"), ("content", "hi\n")],
    );
}

#[test]
fn results_are_reported_as_they_are() {
    let prompt = "read a.txt, then run make, then list files";
    let a = ("read_file", "a.txt", "one\ntwo\n");
    calls(&talk(prompt, &[a]), "run_command", &[("command", "make")]);
    let run = ("run_command", "make", "no rule\nexit code 2\n");
    calls(&talk(prompt, &[a, run]), "list_files", &[]);
    let all = [a, run, ("list_files", "", "./\n  a.txt\n1 entry.")];
    says(
        &talk(prompt, &all),
        "I read a.txt: 2 lines, beginning with \"one\"\n`make` ended with exit code 2.\nI listed the workspace: 1 entry.",
    );
    let refused = (
        "read_file",
        "a.txt",
        "`a.txt` does not exist. List the folder first.",
    );
    says(
        &talk("read a.txt", &[refused]),
        "I could not read a.txt: `a.txt` does not exist. List the folder first.",
    );
}

#[test]
fn each_result_counts_once() {
    let a = ("read_file", "a.txt", "one");
    calls(
        &talk("read a.txt and b.txt", &[a]),
        "read_file",
        &[("path", "b.txt")],
    );
    says(
        &talk("read a.txt and b.txt", &[a, ("read_file", "b.txt", "two")]),
        "I read a.txt: 1 line, beginning with \"one\"\nI read b.txt: 1 line, beginning with \"two\"",
    );
}

#[test]
fn calls_of_other_names_are_passed_over() {
    let other = ("view_the_file", "", "unknown tool");
    calls(
        &talk("read a.txt", &[other]),
        "read_file",
        &[("path", "a.txt")],
    );
    says(
        &talk("read a.txt", &[other, ("read_file", "a.txt", "x")]),
        "I read a.txt: 1 line, beginning with \"x\"",
    );
}

#[test]
fn a_command_without_an_exit_code_blocks() {
    let denied = ("run_command", "make", "denied by the user");
    let finish = [
        ("status", "blocked"),
        ("response", "`make` gave no exit code: denied by the user"),
    ];
    calls(&talk("run make", &[denied]), "finish_task", &finish);
}

#[test]
fn a_client_that_wants_more_than_text_gets_finish_task() {
    let mut asked = talk("run true", &[("run_command", "true", "exit code 0")]);
    asked.answered = true;
    let finish = [
        ("status", "done"),
        ("response", "`true` ended with exit code 0."),
    ];
    calls(&asked, "finish_task", &finish);
}

#[test]
fn without_tools_it_says_so() {
    let mut bare = talk("list files and find x", &[]);
    bare.tools.clear();
    says(
        &bare,
        "This needs the tool list_files, which was not offered to me.\nThis needs the tool search_text, which was not offered to me.",
    );
}

#[test]
fn searching_is_done_when_it_is_offered() {
    let offered = |done: &[(&'static str, &'static str, &'static str)]| {
        let mut search = talk("find 'x(' in src", done);
        search.tools.push("search_text".to_string());
        search
    };
    let arguments = [("pattern", "x\\("), ("path", "src")];
    calls(&offered(&[]), "search_text", &arguments);
    let found = "src/a:1: x()\nsrc/b:7: x(1)\n2 matches in 2 files.\n";
    says(
        &offered(&[("search_text", "x", found)]),
        "I searched for \"x(\": 2 matches in 2 files. The first is src/a:1: x()",
    );
    says(
        &offered(&[("search_text", "x", "no match for `x` in 2 files.")]),
        "I searched for \"x(\": no match for `x` in 2 files.",
    );
}

const TASK: &str = "The test fails. Find out why, fix it, and run the test again.";
const FAILS: &str = "FAIL  monday: expected 990, found 370 (src/total.sh)\nexit code 1";

fn so_far(count: usize) -> Vec<(&'static str, &'static str, &'static str)> {
    let all = [
        ("list_files", "", "./\n  README.md\n  test.sh\n2 entries."),
        ("read_file", "README.md", "# Till\n"),
        ("run_command", "sh test.sh", FAILS),
        ("read_file", "src/total.sh", "sum=0\nsum=$((sum + price))\n"),
        ("replace_text", "src/total.sh", "changed line 2"),
        (
            "run_command",
            "sh test.sh",
            "ok    monday: 990\nexit code 0",
        ),
    ];
    all[..count].to_vec()
}

#[test]
fn a_failing_test_is_found_mended_and_run_again() {
    calls(&talk(TASK, &so_far(0)), "list_files", &[]);
    calls(
        &talk(TASK, &so_far(1)),
        "read_file",
        &[("path", "README.md")],
    );
    calls(
        &talk(TASK, &so_far(2)),
        "run_command",
        &[("command", "sh test.sh")],
    );
    calls(
        &talk(TASK, &so_far(3)),
        "read_file",
        &[("path", "src/total.sh")],
    );
    let replace = [
        ("path", "src/total.sh"),
        ("old_text", SLIP),
        ("new_text", MENDED),
    ];
    calls(&talk(TASK, &so_far(4)), "replace_text", &replace);
    calls(
        &talk(TASK, &so_far(5)),
        "run_command",
        &[("command", "sh test.sh")],
    );
    says(
        &talk(TASK, &so_far(6)),
        "`sh test.sh` failed with exit code 1: FAIL  monday: expected 990, found 370 (src/total.sh)\n\
         src/total.sh adds each price once and forgets how many were ordered. Now it multiplies: changed line 2\n\
         `sh test.sh` ends with exit code 0 now.",
    );
}

#[test]
fn a_test_that_cannot_be_mended_is_not_called_mended() {
    let mut done = so_far(3);
    done[2].2 = "ok\nexit code 0";
    says(
        &talk(TASK, &done),
        "`sh test.sh` passes as it is (exit code 0), so I changed nothing.",
    );
    done[2].2 = "FAIL somewhere\nexit code 1";
    let no_name = "`sh test.sh` failed with exit code 1: FAIL somewhere\nIts output names no file that I could look at, so I changed nothing.";
    calls(
        &talk(TASK, &done),
        "finish_task",
        &[("status", "failed"), ("response", no_name)],
    );
    let mut done = so_far(4);
    done[3].2 = "fn main() {}\n";
    let Answer { calls: found, .. } = answer(&talk(TASK, &done));
    assert_eq!(found[0].arguments[0], ("status", "failed".to_string()));
    let mut done = so_far(6);
    done[5].2 = FAILS;
    let Answer { calls: found, .. } = answer(&talk(TASK, &done));
    assert_eq!(found[0].arguments[0], ("status", "failed".to_string()));
    assert!(
        found[0].arguments[1]
            .1
            .ends_with("`sh test.sh` ends with exit code 1 now.")
    );
    // What was to follow is not done.
    let Answer { calls: found, .. } = answer(&talk(&format!("{TASK} Then run make."), &done));
    assert_eq!(found[0].name, "finish_task");
}

#[test]
fn what_happened_before_is_told_from_the_conversation() {
    says(
        &talk("explain what just happened", &[]),
        "Nothing happened before in this conversation.",
    );
    let mut asked = talk("what happened?", &[]);
    let done = vec![
        call_done("read_file", "a.txt", "one\ntwo"),
        call_done("run_command", "make", "exit code 2"),
    ];
    asked.before = Some(("read a.txt and run make".to_string(), done));
    says(
        &asked,
        "You asked: \"read a.txt and run make\"\n1. read_file a.txt: 2 lines\n2. run_command make: exit code 2",
    );
}

#[test]
fn what_happened_just_now_counts_first() {
    let mut asked = talk(
        "read a.txt, then explain what just happened",
        &[("read_file", "a.txt", "one")],
    );
    asked.before = Some(("list files".to_string(), Vec::new()));
    says(
        &asked,
        "I read a.txt: 1 line, beginning with \"one\"\nYou asked: \"read a.txt, then explain what just happened\"\n1. read_file a.txt: 1 line",
    );
}

#[test]
fn what_is_not_understood_is_answered_kindly_and_once() {
    let Answer { content, calls, .. } = answer(&talk("delete a. dance. sing.", &[]));
    assert_eq!(calls, []);
    assert!(
        content.starts_with(
            "I do not understand \"delete a\". I am the stand-in model: no language model,"
        ),
        "{content}"
    );
    assert!(content.ends_with("Join them with \", then\"."), "{content}");
    assert_eq!(content.matches("stand-in model").count(), 1);
    says(&talk("", &[]), "There was nothing to do in that message.");
}

#[test]
fn what_is_quoted_ends_with_a_word_and_shows_that_it_was_cut() {
    let begins = |text: &str| {
        let read = talk("read a.txt", &[("read_file", "a.txt", text)]);
        let said = answer(&read).content;
        let (_, quoted) = said.split_once("beginning with ").expect("a quotation");
        quoted.to_string()
    };
    let hundred = "words ".repeat(16) + "and";
    assert_eq!(hundred.len(), 99);
    // Both sides of the limit.
    assert_eq!(begins(&format!("{hundred}s\n")), format!("\"{hundred}s\""));
    let words = "words ".repeat(16);
    assert_eq!(
        begins(&format!("{hundred} so on\n")),
        format!("\"{hundred}…\"")
    );
    assert_eq!(
        begins(&format!("{hundred}anything\n")),
        format!("\"{}…\"", words.trim_end())
    );
    // Without a blank in its second half it is cut where it is.
    assert_eq!(
        begins(&"x".repeat(101)),
        format!("\"{}…\"", "x".repeat(100))
    );
    assert_eq!(
        begins(&"é".repeat(101)),
        format!("\"{}…\"", "é".repeat(100))
    );
}

#[test]
fn a_checkpoint_is_one_object_of_what_was_done() {
    let mut asked = talk(
        "read a.txt, then run sh test.sh",
        &[
            ("read_file", "a.txt", "one\ntwo\n"),
            ("run_command", "sh test.sh", "exit code 3 in 0.1 s\nx"),
        ],
    );
    asked.checkpoint_wanted = true;
    let answer = zcoder::standin::walk::answer(&asked);
    assert_eq!(
        answer.content,
        r#"{"goal":["read a.txt, then run sh test.sh"],"files":["a.txt"],"verified":["run_command sh test.sh: exit code 3","read_file a.txt: 2 lines"],"next":["go on with the message"]}"#
    );
    assert_eq!(answer.calls, []);
}

#[test]
fn calls_that_were_left_out_count_as_done() {
    let mut after = talk("read a.txt, then read b.txt", &[("read_file", "a.txt", "")]);
    after.done[0].result = None;
    calls(&after, "read_file", &[("path", "b.txt")]);
    after.done.push(call_done("read_file", "b.txt", "one\n"));
    let answer = zcoder::standin::walk::answer(&after);
    assert_eq!(
        answer.content,
        "Before the checkpoint I called read_file a.txt.\nI read b.txt: 1 line, beginning with \"one\""
    );
}
