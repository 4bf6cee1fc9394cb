//! What the stand-in understands, as a table.

use zcoder::standin::sentences::{MAX_BYTES, MAX_STEPS, Step, plan};

#[track_caller]
fn check(message: &str, expected: &[Step]) {
    assert_eq!(plan(message), expected, "{message}");
}

fn list(folder: Option<&str>) -> Step {
    let folder = folder.map(str::to_string);
    Step::List { folder }
}

fn read(path: &str) -> Step {
    let path = path.to_string();
    Step::Read { path }
}

fn find(pattern: &str, folder: Option<&str>) -> Step {
    let (pattern, folder) = (pattern.to_string(), folder.map(str::to_string));
    Step::Find { pattern, folder }
}

fn replace(old: &str, new: &str, path: &str) -> Step {
    let (old, new, path) = (old.to_string(), new.to_string(), path.to_string());
    Step::Replace { old, new, path }
}

fn run(command: &str) -> Step {
    let command = command.to_string();
    Step::Run { command }
}

fn create(path: &str, content: &str) -> Step {
    let (path, content) = (path.to_string(), content.to_string());
    Step::Create { path, content }
}

fn unknown(text: &str) -> Step {
    let text = text.to_string();
    Step::Unknown { text }
}

#[test]
fn each_sentence_alone() {
    check("list files", &[list(None)]);
    check("List the files in src.", &[list(Some("src"))]);
    check("list src/http", &[list(Some("src/http"))]);
    check("list files in .", &[list(Some("."))]);
    check("show all files", &[list(None)]);
    check("read README.md", &[read("README.md")]);
    check("Please read the file 'my notes'.", &[read("my notes")]);
    check("read a.txt and b.txt", &[read("a.txt"), read("b.txt")]);
    check("open LICENSE", &[read("LICENSE")]);
    check("find TODO", &[find("TODO", None)]);
    check(
        "search for \"fn main\" in src",
        &[find("fn main", Some("src"))],
    );
    check(
        "replace 'a' with 'b' in src/x.rs",
        &[replace("a", "b", "src/x.rs")],
    );
    check(
        "change foo to bar baz in x.txt",
        &[replace("foo", "bar baz", "x.txt")],
    );
    check(
        "replace 'it's' by 'it is, then' in x.txt",
        &[replace("it's", "it is, then", "x.txt")],
    );
    check("run sh test.sh", &[run("sh test.sh")]);
    check(
        "Run `cargo test --all; echo $?`!",
        &[run("cargo test --all; echo $?")],
    );
    check("run the tests again", &[run("sh test.sh")]);
    check("run make again", &[run("make")]);
    check(
        "create notes.txt with salt and pepper",
        &[create("notes.txt", "salt and pepper\n")],
    );
    check("create a file a.txt", &[create("a.txt", "")]);
    check(
        "write 'hello, world' to b.txt",
        &[create("b.txt", "hello, world\n")],
    );
    check("explain what just happened", &[Step::Explain]);
    check("what happened?", &[Step::Explain]);
}

#[test]
fn sentences_are_joined() {
    check(
        "Read README.md, then replace 'a' with 'b' in src/x.rs and run sh test.sh.",
        &[
            read("README.md"),
            replace("a", "b", "src/x.rs"),
            run("sh test.sh"),
        ],
    );
    check(
        "list files. read a.txt; run make\nfind x",
        &[list(None), read("a.txt"), run("make"), find("x", None)],
    );
    check(
        "list files, read a.txt, and finally run make",
        &[list(None), read("a.txt"), run("make")],
    );
}

#[test]
fn a_failing_test_is_one_step() {
    let task = "The test fails. Find out why, fix it, and run the test again.";
    check(task, &[Step::Mend]);
    check("the test fails, find out why and fix it", &[Step::Mend]);
    check(
        "List the files, then fix the failing test",
        &[list(None), Step::Mend],
    );
    check(
        &format!("{task} Then run sh bill.sh a.txt."),
        &[Step::Mend, run("sh bill.sh a.txt")],
    );
}

#[test]
fn the_rest_is_unknown_word_for_word() {
    check("", &[]);
    check(" ,. and then!", &[]);
    check("hello", &[unknown("hello")]);
    check("Delete everything, please", &[unknown("Delete everything")]);
    check(
        "list files and delete src",
        &[list(None), unknown("delete src")],
    );
    check("replace a", &[unknown("replace a")]);
    check("find", &[unknown("find")]);
    check("\u{1f600}\u{202e}", &[unknown("\u{1f600}\u{202e}")]);
}

#[test]
fn limits_hold_on_both_sides() {
    let many = "run a. ".repeat(MAX_STEPS + 1);
    assert_eq!(plan(&many).len(), MAX_STEPS);
    assert_eq!(plan(&many[7..]).len(), MAX_STEPS);
    assert_eq!(plan(&many[14..]).len(), MAX_STEPS - 1);
    let long = |blanks: usize| format!("{}read a.b", " ".repeat(blanks));
    assert_eq!(plan(&long(MAX_BYTES - 8)), [read("a.b")]);
    assert_eq!(plan(&long(MAX_BYTES - 7)), [unknown("read a")]);
    assert_eq!(plan(&"\u{e9}".repeat(MAX_BYTES)).len(), 1);
}
