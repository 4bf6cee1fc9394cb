//! The argument check: what is accepted and said, what fails, with its whole text.

use zcoder::json::Tree;
use zcoder::protocol::{CallId, Facts, ToolCall, ToolOutcome, ToolStatus};
use zcoder::tools::{Call, Checked, Finish};

fn check(name: &str, arguments: &str) -> Result<Checked, ToolOutcome> {
    let call = ToolCall {
        id: CallId("call_1".to_string()),
        name: name.to_string(),
        arguments: Tree::parse(arguments.as_bytes()).expect("JSON"),
    };
    zcoder::tools::check(&call, &[])
}

#[track_caller]
fn accepts(name: &str, arguments: &str, call: Call, said: &[&str]) {
    let checked = check(name, arguments).expect("accepted");
    assert_eq!(checked.call, call);
    assert_eq!(checked.said, said);
}

#[track_caller]
fn refuses(name: &str, arguments: &str, text: &str) {
    let outcome = check(name, arguments).expect_err("refused");
    assert_eq!(outcome.text, text);
    assert_eq!(
        (outcome.status, outcome.facts),
        (ToolStatus::Failed, Facts::None)
    );
}

fn read(path: &str, start_line: Option<u64>, end_line: Option<u64>) -> Call {
    Call::ReadFile {
        path: path.to_string(),
        start_line,
        end_line,
    }
}

fn list(path: Option<&str>, depth: Option<u64>, hidden: bool) -> Call {
    Call::ListFiles {
        path: path.map(str::to_string),
        depth,
        max_entries: None,
        hidden,
    }
}

fn run(command: &str) -> Call {
    Call::RunCommand {
        command: command.to_string(),
        cwd: None,
        timeout_seconds: None,
    }
}

#[test]
fn calls_as_they_should_be() {
    accepts("read_file", r#"{"path":"a"}"#, read("a", None, None), &[]);
    accepts(
        "read_file",
        r#"{"end_line":3,"path":"a","start_line":2}"#,
        read("a", Some(2), Some(3)),
        &[],
    );
    accepts("list_files", "{}", list(None, None, false), &[]);
    accepts("list_files", "null", list(None, None, false), &[]);
    accepts(
        "list_files",
        r#"{"path":"s","depth":2,"hidden":true}"#,
        list(Some("s"), Some(2), true),
        &[],
    );
    accepts("run_command", r#"{"command":"ls"}"#, run("ls"), &[]);
    let call = Call::WriteFile {
        path: "a".into(),
        content: "\u{0}x".into(),
    };
    accepts(
        "write_file",
        r#"{"path":"a","content":"\u0000x"}"#,
        call,
        &[],
    );
    let call = Call::ReplaceText {
        path: "a".into(),
        old_text: "b".into(),
        new_text: String::new(),
    };
    accepts(
        "replace_text",
        r#"{"path":"a","old_text":"b","new_text":""}"#,
        call,
        &[],
    );
    let search = |path: Option<&str>, literal, max_results| Call::SearchText {
        pattern: "x".to_string(),
        path: path.map(str::to_string),
        literal,
        hidden: false,
        max_results,
    };
    accepts(
        "search_text",
        r#"{"pattern":"x"}"#,
        search(None, false, None),
        &[],
    );
    accepts(
        "search_text",
        r#"{"max_results":9,"literal":true,"path":"s","pattern":"x"}"#,
        search(Some("s"), true, Some(9)),
        &[],
    );
    accepts(
        "Grep",
        r#"{"pattern":"x","include":"*.rs","head_limit":9}"#,
        search(Some("*.rs"), false, Some(9)),
        &[
            "`Grep` was taken as `search_text`",
            "`include` was taken as `path`",
            "`head_limit` was taken as `max_results`",
        ],
    );
    accepts(
        "glob",
        r#"{"pattern":"**/*.rs"}"#,
        list(Some("**/*.rs"), None, false),
        &[
            "`glob` was taken as `list_files`",
            "`pattern` was taken as `path`",
        ],
    );
    for (word, status) in [
        ("done", Finish::Done),
        ("blocked", Finish::Blocked),
        ("failed", Finish::Failed),
    ] {
        let call = Call::FinishTask {
            status,
            response: "r".into(),
        };
        accepts(
            "finish_task",
            &format!(r#"{{"status":"{word}","response":"r"}}"#),
            call,
            &[],
        );
    }
    // `null` is "not given", the last of two equal keys counts.
    accepts(
        "read_file",
        r#"{"path":"x","path":"a","start_line":null}"#,
        read("a", None, None),
        &[],
    );
    accepts(
        "read_file",
        r#"{"path":"a","start_line":2.0}"#,
        read("a", Some(2), None),
        &[],
    );
}

#[test]
fn other_names_are_accepted_and_said() {
    let said = "`ls` was taken as `list_files`";
    accepts("ls", "{}", list(None, None, false), &[said]);
    for name in [
        "bash",
        "shell",
        "Bash",
        "execute_command",
        "run_shell_command",
        "exec",
    ] {
        let said = format!("`{name}` was taken as `run_command`");
        accepts(name, r#"{"command":"ls"}"#, run("ls"), &[&said]);
    }
    for name in [
        "cat",
        "view_file",
        "Read",
        "read",
        "open_file",
        "readFile",
        "read-file",
        "functions.read_file",
        "functions.cat",
    ] {
        let said = format!("`{name}` was taken as `read_file`");
        accepts(name, r#"{"path":"a"}"#, read("a", None, None), &[&said]);
    }
    let call = Call::ReplaceText {
        path: "a".into(),
        old_text: "b".into(),
        new_text: "c".into(),
    };
    accepts(
        "str_replace",
        r#"{"file_path":"a","old_str":"b","newString":"c"}"#,
        call,
        &[
            "`str_replace` was taken as `replace_text`",
            "`file_path` was taken as `path`",
            "`old_str` was taken as `old_text`",
            "`newString` was taken as `new_text`",
        ],
    );
    let call = Call::WriteFile {
        path: "a".into(),
        content: "b".into(),
    };
    accepts(
        "create_file",
        r#"{"filename":"a","contents":"b"}"#,
        call,
        &[
            "`create_file` was taken as `write_file`",
            "`filename` was taken as `path`",
            "`contents` was taken as `content`",
        ],
    );
    accepts(
        "run_command",
        r#"{"cmd":"ls"}"#,
        run("ls"),
        &["`cmd` was taken as `command`"],
    );
    accepts(
        "read_file",
        r#"{"path":"a","file_path":"a"}"#,
        read("a", None, None),
        &["`file_path` was taken as `path`"],
    );
}

#[test]
fn text_becomes_the_wanted_kind_when_it_reads_cleanly() {
    accepts(
        "read_file",
        r#"{"path":"a","start_line":"12"}"#,
        read("a", Some(12), None),
        &[r#"`start_line`: "12" was taken as the number 12"#],
    );
    accepts(
        "list_files",
        r#"{"hidden":"true"}"#,
        list(None, None, true),
        &[r#"`hidden`: "true" was taken as the boolean true"#],
    );
    accepts(
        "list_files",
        r#"{"hidden":"false"}"#,
        list(None, None, false),
        &[r#"`hidden`: "false" was taken as the boolean false"#],
    );
    accepts(
        "read_file",
        r#""{\"path\":\"a\"}""#,
        read("a", None, None),
        &["the arguments came as one string and were read as the object in it"],
    );
}

#[test]
fn what_is_wrong_is_named_with_a_right_example() {
    refuses(
        "read_file",
        r#"{"pth":"a.txt"}"#,
        "read_file was not run:\n\
         - unknown argument `pth`; did you mean `path`?\n\
         - missing argument `path`\n\
         It takes path (string), start_line? (integer), end_line? (integer).\n\
         Call it again with arguments like {\"path\":\"src/main.rs\"}",
    );
    refuses(
        "run_command",
        r#"{"command":{"cmd":"ls"},"description":"x"}"#,
        "run_command was not run:\n\
         - unknown argument `description`\n\
         - `command` must be a string, found {\"cmd\":\"ls\"}\n\
         It takes command (string), cwd? (string), timeout_seconds? (integer).\n\
         Call it again with arguments like {\"command\":\"cargo test\"}",
    );
    refuses(
        "read_file",
        r#"{"path":null,"start_line":"2 ","end_line":-1}"#,
        "read_file was not run:\n\
         - missing argument `path`\n\
         - `start_line` must be a whole number, found \"2 \"\n\
         - `end_line` must be a whole number, found -1\n\
         It takes path (string), start_line? (integer), end_line? (integer).\n\
         Call it again with arguments like {\"path\":\"src/main.rs\"}",
    );
    refuses(
        "read_file",
        r#"{"path":"a\u0000b","start_line":99999999999999999999,"end_line":1.5}"#,
        "read_file was not run:\n\
         - `path` must not hold a NUL character, found \"a\\u0000b\"\n\
         - `start_line` must be a whole number, found 99999999999999999999\n\
         - `end_line` must be a whole number, found 1.5\n\
         It takes path (string), start_line? (integer), end_line? (integer).\n\
         Call it again with arguments like {\"path\":\"src/main.rs\"}",
    );
    refuses(
        "finish_task",
        r#"{"status":"complete","response":1}"#,
        "finish_task was not run:\n\
         - `status` must be one of done, blocked, failed, found \"complete\"\n\
         - `response` must be a string, found 1\n\
         It takes status (string), response (string).\n\
         Call it again with arguments like {\"status\":\"done\",\"response\":\"The test passes now.\"}",
    );
    refuses(
        "list_files",
        r#"{"hidden":"yes"}"#,
        "list_files was not run:\n\
         - `hidden` must be true or false, found \"yes\"\n\
         It takes path? (string), depth? (integer), max_entries? (integer), hidden? (boolean).\n\
         Call it again with arguments like {\"path\":\"src\"}",
    );
    refuses(
        "read_file",
        r#"{"path":"a","file_path":"b"}"#,
        "read_file was not run:\n\
         - `path` and `file_path` are the same argument with two values; send only `path`\n\
         It takes path (string), start_line? (integer), end_line? (integer).\n\
         Call it again with arguments like {\"path\":\"src/main.rs\"}",
    );
}

#[test]
fn arguments_that_are_no_object() {
    let text = |found: &str| {
        format!(
            "list_files was not run:\n\
             - the arguments must be an object, found {found}\n\
             It takes path? (string), depth? (integer), max_entries? (integer), hidden? (boolean).\n\
             Call it again with arguments like {{\"path\":\"src\"}}"
        )
    };
    refuses("list_files", "[]", &text("an array"));
    refuses("list_files", "3", &text("a number"));
    refuses("list_files", "true", &text("a boolean"));
    refuses("list_files", r#""src""#, &text("a string"));
    refuses("list_files", r#""[1]""#, &text("a string"));
    refuses("list_files", r#""{\"path\":""#, &text("a string"));
}

#[test]
fn unknown_tools_are_answered_with_the_list_and_the_nearest() {
    const LIST: &str = "The tools are: list_files, read_file, search_text, write_file, replace_text, apply_patch, run_command, finish_task.";
    let unknown = |shown: &str, hint: &str| {
        format!("there is no tool `{shown}`, so nothing was done. {LIST} {hint}")
    };
    let meant = |name: &str| format!("Did you mean `{name}`? Call it by exactly this name.");
    refuses("deploy", "{}", &unknown("deploy", "Use one of these."));
    refuses("", "{}", &unknown("", "Use one of these."));
    refuses(
        "web_fetch",
        r#"{"url":"x"}"#,
        &unknown("web_fetch", "Use one of these."),
    );
    refuses(
        "read_fil",
        r#"{"path":"a"}"#,
        &unknown("read_fil", &meant("read_file")),
    );
    refuses(
        "list_filess",
        "{}",
        &unknown("list_filess", &meant("list_files")),
    );
    // Noise after a name never runs.
    let noisy = "read_file<|channel|>commentary";
    refuses(
        noisy,
        r#"{"path":"a"}"#,
        &unknown(noisy, &meant("read_file")),
    );
    refuses(
        "functions.bash<|x|>",
        r#"{"command":"ls"}"#,
        &unknown("functions.bash<|x|>", &meant("run_command")),
    );
    refuses(
        "read_file(path)",
        r#"{"path":"a"}"#,
        &unknown("read_file(path)", &meant("read_file")),
    );
    refuses(
        "read_file\u{1b}[2J",
        "{}",
        &unknown("read_file\\x1b[2J", &meant("read_file")),
    );
    let long = "x".repeat(5000);
    let clipped = format!("{}…", "x".repeat(59));
    refuses(&long, "{}", &unknown(&clipped, "Use one of these."));
}
