//! `search_text`: what it finds, in which order, what it leaves out and says, and files that are hard to search.

use std::fs::{self, File, OpenOptions};
use std::io::Write;
use std::os::fd::OwnedFd;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::symlink;
use std::os::unix::net::UnixStream;
use std::time::{Duration, Instant};

use zcoder::ignore::{Limits, Stop};
use zcoder::protocol::{Facts, ToolStatus};
use zcoder::regex::{Options, Regex};
use zcoder::sys::Cancel;
use zcoder::tools::{End, Line, Prepared, Scan, Toolbox, Workspace};

use super::kit::Kit;
use crate::support::temp::Temp;

fn kit(files: &[(&str, &str)]) -> Kit {
    let mut kit = Kit::new();
    kit.toolbox.set_read_limit(10_000);
    for (name, text) in files {
        kit.put(name, text);
    }
    kit
}

fn toolbox(workspace: Workspace, temp: &Temp) -> Toolbox {
    let limits = zcoder::tools::Limits {
        read_bytes: 1_000,
        output_bytes: 1_000,
        command_timeout: Duration::from_secs(1),
        command_wrapper: Vec::new(),
    };
    Toolbox::new(workspace, limits, temp.path().join("outputs"), true)
}

const TREE: &[(&str, &str)] = &[
    ("README.md", "# Sum\n\nA total of totals.\n"),
    ("src/main.c", "int main() {\n\treturn total(1);\n}\n"),
    ("src/deep/total.h", "int total(int n);\r\nint TOTAL;\r\n"),
    ("src/deep/x.c", "total"),
    (".hidden/x", "total\n"),
    ("target/x", "total\n"),
    (".gitignore", "target/\n"),
    ("image", "total\0"),
];

#[track_caller]
fn check(arguments: &[(&str, &str)], text: &str) {
    assert_eq!(kit(TREE).ok("search_text", arguments), text);
}

#[test]
fn lines_in_the_order_of_the_walk() {
    check(
        &[("pattern", "total")],
        "README.md:3: A total of totals.\n\
         src/main.c:2: \treturn total(1);\n\
         src/deep/total.h:1: int total(int n);\n\
         src/deep/x.c:1: total\n\
         4 matches in 4 files. Not searched: 1 binary file.",
    );
    check(
        &[("pattern", r"^int\s+\w+\("), ("path", "src")],
        "src/main.c:1: int main() {\nsrc/deep/total.h:1: int total(int n);\n2 matches in 2 files.",
    );
    check(
        &[("pattern", "(?i)total;$")],
        "src/deep/total.h:2: int TOTAL;\n1 match in 1 file. Not searched: 1 binary file.",
    );
}

#[test]
fn a_file_a_folder_or_a_path_with_wildcards() {
    let total = |path| [("pattern", "total"), ("path", path)];
    check(
        &total("src/main.c"),
        "src/main.c:2: \treturn total(1);\n1 match in 1 file.",
    );
    let both = "src/main.c:2: \treturn total(1);\nsrc/deep/x.c:1: total\n2 matches in 2 files.";
    check(&total("*.c"), both);
    check(&total("src/**/*.c"), both);
    check(
        &total("src/{deep,main.c}/**/*.c"),
        "src/deep/x.c:1: total\n1 match in 1 file.",
    );
    check(
        &total("src/*.c"),
        "src/main.c:2: \treturn total(1);\n1 match in 1 file.",
    );
    check(
        &total("**/deep"),
        "src/deep/total.h:1: int total(int n);\nsrc/deep/x.c:1: total\n2 matches in 2 files.",
    );
    check(
        &total("**/*.rs"),
        "no file to search: none is meant by `**/*.rs`. Not searched: 1 ignored by rules and 2 hidden (hidden=true searches them).",
    );
    // What is there goes before what wildcards may mean.
    let mut kit = kit(&[("app/[id]/page", "total\n"), ("app/i/page", "total\n")]);
    assert_eq!(
        kit.ok("search_text", &total("app/[id]/page")),
        "app/[id]/page:1: total\n1 match in 1 file."
    );
    assert_eq!(
        kit.ok("search_text", &total("app/[id]/pag?")),
        "app/i/page:1: total\n1 match in 1 file."
    );
}

#[test]
fn what_is_named_is_searched_whatever_rules_say() {
    let total = |path| [("pattern", "total"), ("path", path)];
    check(&total("target"), "target/x:1: total\n1 match in 1 file.");
    check(&total("target/x"), "target/x:1: total\n1 match in 1 file.");
    check(&total(".hidden"), ".hidden/x:1: total\n1 match in 1 file.");
    let hidden = [("pattern", "total"), ("hidden", "true"), ("path", "**/x")];
    check(&hidden, ".hidden/x:1: total\n1 match in 1 file.");
}

#[test]
fn where_nothing_is_found_it_says_what_was_not_searched_and_what_may_be_meant() {
    check(
        &[("pattern", "Totals")],
        "no match for `Totals` in 4 files. Upper and lower case differ; (?i) in front of the pattern ignores that. Not searched: \
         1 binary file, 1 ignored by rules and 2 hidden (hidden=true searches them).",
    );
    check(
        &[("pattern", "total(1)"), ("path", "src")],
        "no match for `total(1)` in 3 files. It was read as a regular expression; literal=true finds the text as it stands.",
    );
    check(
        &[
            ("pattern", "total(2)"),
            ("path", "src"),
            ("literal", "true"),
        ],
        "no match for `total(2)` in 3 files.",
    );
    check(
        &[
            ("pattern", "total(1)"),
            ("path", "src"),
            ("literal", "true"),
        ],
        "src/main.c:2: \treturn total(1);\n1 match in 1 file.",
    );
    check(
        &[("pattern", "12"), ("path", "src/deep/x.c")],
        "no match for `12` in 1 file.",
    );
    let mut empty = kit(&[]);
    assert_eq!(
        empty.ok("search_text", &[("pattern", "x")]),
        "no file to search in `.`."
    );
}

#[test]
fn totals_are_those_of_everything() {
    let lines = |n: usize| "x\n".repeat(n);
    let files = [("a", 30), ("b/c", 40), ("b/d", 500), ("e/f", 664)];
    let files: Vec<(&str, String)> = files.iter().map(|(name, n)| (*name, lines(*n))).collect();
    let files: Vec<(&str, &str)> = files
        .iter()
        .map(|(name, text)| (*name, &text[..]))
        .collect();
    let mut kit = kit(&files);
    let text = kit.ok("search_text", &[("pattern", "x")]);
    let shown: Vec<&str> = text.lines().collect();
    assert_eq!(shown.len(), 51);
    assert_eq!(
        (shown[0], shown[29], shown[30]),
        ("a:1: x", "a:30: x", "b/c:1: x")
    );
    assert_eq!(
        shown[50],
        "50 of 1,234 matches in 4 files shown; name a smaller path or more of the text, or set max_results (up to 1,000), to see others. \
         Most are in `e/f` (664), `b/d` (500) and `b/c` (40)."
    );
    let more = kit.ok(
        "search_text",
        &[("pattern", "x"), ("max_results", "99999"), ("path", "e")],
    );
    assert!(
        more.ends_with("e/f:664: x\n664 matches in 1 file."),
        "{more}"
    );
    kit.toolbox.set_read_limit(100);
    assert_eq!(
        kit.ok("search_text", &[("pattern", "x"), ("path", "e/f")]),
        format!(
            "{}10 of 664 matches in 1 file shown; name a smaller path or more of the text to see others.",
            (1..=10)
                .map(|n| format!("e/f:{n}: x\n"))
                .collect::<String>()
        )
    );
}

#[test]
fn the_same_text_every_time() {
    let files: Vec<(String, String)> = (0..300)
        .map(|n| {
            (
                format!("{}/{n}", n % 7),
                format!("x\n{}", "y\n".repeat(n % 5)),
            )
        })
        .collect();
    let files: Vec<(&str, &str)> = files.iter().map(|(a, b)| (&a[..], &b[..])).collect();
    let mut kit = kit(&files);
    let arguments = [("pattern", "x|y"), ("max_results", "20")];
    let first = kit.ok("search_text", &arguments);
    assert!(
        first.contains("\n20 of 900 matches in 300 files shown;"),
        "{first}"
    );
    for _ in 0..20 {
        assert_eq!(kit.ok("search_text", &arguments), first);
    }
}

#[test]
fn names_and_lines_are_made_visible() {
    let mut kit = kit(&[("a\nb\x1b[2J", "hit \x1b[31m \u{202e}\t|\n")]);
    let odd = std::ffi::OsStr::from_bytes(b"odd\xff");
    fs::write(kit.root().join(odd), b"hit \xfe\n").expect("file");
    assert_eq!(
        kit.ok("search_text", &[("pattern", "hit")]),
        "a\\nb\\x1b[2J:1: hit \\x1b[31m \\u{202e}\t|\nodd\u{fffd}:1: hit \u{fffd}\n2 matches in 2 files."
    );
}

#[test]
fn what_cannot_be_searched_is_refused_with_the_next_step() {
    let mut kit = kit(TREE);
    let mut refused =
        |arguments: &[(&str, &str)], text: &str| kit.fails("search_text", arguments, text);
    refused(
        &[("pattern", "total(")],
        "the pattern cannot be used:\n  total(\n       ^ `(` without its `)`; for the character write `\\(`\n\
         Mend it, or set literal=true to find the text as it stands.",
    );
    refused(
        &[("pattern", "a(?=b)")],
        "the pattern cannot be used:\n  a(?=b)\n   ^ look-ahead is not supported\n\
         Mend it, or set literal=true to find the text as it stands.",
    );
    refused(
        &[("pattern", "a\nb"), ("literal", "true")],
        "the pattern cannot be used:\n  a\u{fffd}b\n   ^ a line feed in a pattern for single lines never matches\n\
         search_text looks at one line at a time: give text of one line.",
    );
    refused(
        &[("pattern", "")],
        "the pattern is empty. Give the text to look for, or a regular expression.",
    );
    refused(
        &[("pattern", "x"), ("max_results", "0")],
        "max_results counts from 1. Leave it out for the usual 50.",
    );
    refused(
        &[("pattern", "x"), ("path", "image")],
        "`image` is binary data (it holds NUL bytes), and search_text searches text only. Use run_command with a program that \
         understands it.",
    );
    refused(
        &[("pattern", "x"), ("path", "gone/*.c")],
        "there is no `gone` in the workspace. list_files shows what is there.",
    );
    refused(
        &[("pattern", "x"), ("path", "gone")],
        "there is no `gone` in the workspace. list_files shows what is there.",
    );
    refused(
        &[("pattern", "x"), ("path", "src/[a")],
        "`src/[a` is neither a path that exists nor a pattern: `[` has no `]`. Wildcards are *, **, ?, [a-z] and {a,b}; a backslash \
         takes their meaning away.",
    );
    refused(
        &[("pattern", "x"), ("path", "output:7")],
        "there is no output:7: no output was kept so far. An output is kept when it is too long to be shown whole; run_command then \
         gives its number.",
    );
    for path in ["..", "/etc", "../*", "/etc/*.conf"] {
        let outcome = kit.call("search_text", &[("pattern", "x"), ("path", path)]);
        assert_eq!(outcome.status, ToolStatus::Failed);
        assert!(
            outcome.text.contains("leads outside the workspace"),
            "{}",
            outcome.text
        );
    }
}

#[test]
fn links_are_not_followed_and_our_own_files_not_searched() {
    let mut kit = kit(&[("a", "hit\n")]);
    let outside = kit.temp.write("outside/x", "hit\n");
    symlink(outside, kit.root().join("link")).expect("link");
    symlink("..", kit.root().join("up")).expect("link");
    assert_eq!(
        kit.ok("search_text", &[("pattern", "hit")]),
        "a:1: hit\n1 match in 1 file."
    );
    // The state folder inside of the workspace.
    let temp = Temp::new();
    temp.write("state/x", "hit\n");
    temp.write("y", "hit\n");
    let workspace = Workspace::open(temp.path(), vec![temp.path().join("state")]);
    kit.toolbox = toolbox(workspace.expect("opens"), &temp);
    assert_eq!(
        kit.ok("search_text", &[("pattern", "hit")]),
        "y:1: hit\n1 match in 1 file."
    );
}

#[test]
fn faults_of_rules_and_places_that_cannot_be_read_are_said() {
    let mut kit = kit(&[
        ("a", "hit\n"),
        (".gitignore", "[x\n"),
        ("b/.ignore", "y\\\n"),
        ("b/c", ""),
    ]);
    assert_eq!(
        kit.ok("search_text", &[("pattern", "hit")]),
        "a:1: hit\n1 match in 1 file. Without effect among the ignore rules: line 1 of `.gitignore` (`[` has no `]`) and line 1 of \
         `b/.ignore` (`\\` at the end has nothing to escape)."
    );
    // Root may read everything; others get a sentence.
    kit.put("b/.ignore", "");
    kit.put(".gitignore", "");
    kit.mode("b/c", 0);
    let is_root = File::open(kit.root().join("b/c")).is_ok();
    let text = kit.ok("search_text", &[("pattern", "hit")]);
    let said = match is_root {
        true => "",
        false => " Could not be read: `b/c` (Permission denied (os error 13)).",
    };
    assert_eq!(text, format!("a:1: hit\n1 match in 1 file.{said}"));
}

#[test]
fn a_cancelled_search_says_so() {
    let mut kit = kit(TREE);
    let cancel = Cancel::new().expect("switch");
    cancel.cancel();
    let mut run = |path| match kit.prepare("search_text", &[("pattern", "x"), ("path", path)]) {
        Prepared::Look(search) => search.run(&cancel),
        other => panic!("no search: {other:?}"),
    };
    let outcome = run(".");
    assert_eq!(outcome.status, ToolStatus::Cancelled);
    assert_eq!(outcome.text, "the search was cancelled before its end");
    assert_eq!(outcome.facts, Facts::None);
    // A file that fits in the buffer was searched before anybody asked.
    assert_eq!(run("src/main.c").status, ToolStatus::Ok);
}

#[test]
fn the_users_own_rules_count() {
    let mut kit = kit(&[("a.log", "hit\n"), ("b", "hit\n")]);
    let rules = kit.temp.write("rules", "*.log\n");
    let workspace = kit.toolbox.workspace().clone();
    kit.toolbox = toolbox(workspace, &kit.temp).with_ignore_rules(Some(rules));
    assert_eq!(
        kit.ok("search_text", &[("pattern", "hit")]),
        "b:1: hit\n1 match in 1 file."
    );
}

// ---- one file

/// Number and text of the matching lines, and what else was said.
fn scan(file: &File, pattern: &str) -> (Vec<(u64, String)>, End) {
    let options = Options {
        lines: true,
        ..Options::default()
    };
    let regex = Regex::new(pattern, options).expect("a pattern");
    let cancel = Cancel::new().expect("switch");
    let limits = Limits {
        cancel: &cancel,
        deadline: None,
    };
    let mut lines = Vec::new();
    let mut each = |line: Line<'_>| {
        let found = String::from_utf8_lossy(&line.text[line.found.clone()]).into_owned();
        lines.push((line.number, found));
    };
    let end = Scan::default().file(file, &regex, &limits, Some(&mut each));
    (lines, end.expect("reads"))
}

#[track_caller]
fn finds(bytes: &[u8], pattern: &str, expected: &[(u64, &str)]) {
    let temp = Temp::new();
    let path = temp.write("f", bytes);
    let (lines, end) = scan(&File::open(&path).expect("opens"), pattern);
    let lines: Vec<(u64, &str)> = lines.iter().map(|(n, text)| (*n, &text[..])).collect();
    assert_eq!(lines, expected);
    let lines = expected.len() as u64;
    assert_eq!(end, End::Searched { lines });
}

#[test]
fn lines_of_all_kinds() {
    finds(b"", "x*", &[]);
    finds(b"\n", "x*", &[(1, "")]);
    finds(b"a\nb", "b", &[(2, "b")]);
    finds(b"a\nb\n", "^", &[(1, ""), (2, "")]);
    finds(b"ab\r\nb\r\n", "b$", &[(1, "b"), (2, "b")]);
    finds(b"\xef\xbb\xbfa\na\n", "^a", &[(1, "a"), (2, "a")]);
    finds(b"aa aa\n\naa", "aa", &[(1, "aa"), (3, "aa")]);
    finds(b"a\n\nb\n", r"a\s+b|b", &[(3, "b")]);
}

#[test]
fn wherever_the_buffer_ends() {
    // Around a page and around the buffer, with and without a line feed at the end.
    for length in [
        4_095, 4_096, 4_097, 8_192, 131_071, 131_072, 131_073, 262_144,
    ] {
        for end in ["hit\n", "hit"] {
            let filler = "twelve bytes";
            let mut text = format!("{filler}\n").repeat(length / 13);
            text.push_str(&"y".repeat(length - text.len() - end.len().min(length - text.len())));
            text.truncate(length - end.len());
            text.push_str(end);
            assert_eq!(text.len(), length);
            let line = text.lines().count() as u64;
            finds(text.as_bytes(), "hit$", &[(line, "hit")]);
        }
    }
}

#[test]
fn lines_longer_than_the_buffer() {
    const MIB: usize = 1 << 20;
    let x = |n| "x".repeat(n);
    // Whole up to a mebibyte.
    let text = format!("a\n{}hit\nhit\n", x(MIB - 100));
    finds(
        text.as_bytes(),
        "x+hit|^hit",
        &[(2, &format!("{}hit", x(MIB - 100))), (3, "hit")],
    );
    // Then in pieces: found wherever it is, once, and the next line has its number.
    for at in [0, 5, MIB - 2, MIB - 1, MIB, 3 * MIB - 2] {
        let text = format!("\n{}hit{}hit\nhit\n", x(at), x(3 * MIB - at));
        finds(text.as_bytes(), "hit", &[(2, "hit"), (3, "hit")]);
    }
    // What reaches the end of a piece is looked at again with what follows.
    for at in MIB - 4..MIB + 4 {
        let text = format!("{}hit{}", x(at), x(MIB));
        finds(text.as_bytes(), "h(?:it?)?", &[(1, "hit")]);
    }
    // A piece does not end a line or a word, and begins none, wherever it cuts a character.
    finds(format!("{}y", x(3 * MIB)).as_bytes(), "x$", &[]);
    for before in ["", "a", "aa"] {
        let text = format!("{before}{}a", "é".repeat(MIB * 6 / 10));
        finds(text.as_bytes(), r"é\b", &[]);
        finds(format!("a{text}").as_bytes(), r"\bé", &[]);
    }
    // A later piece does not begin a line.
    let text = format!("{}\nx\n", x(3 * MIB));
    finds(text.as_bytes(), "^x$", &[(2, "x")]);
    finds(format!("a{}", x(3 * MIB)).as_bytes(), "^x", &[]);
    finds(x(3 * MIB).as_bytes(), "^x{3}", &[(1, "xxx")]);
    finds(
        format!("{}hit", x(3 * MIB)).as_bytes(),
        "hit$",
        &[(1, "hit")],
    );
}

#[test]
fn files_that_are_no_text_are_named() {
    let temp = Temp::new();
    let is = |bytes: &[u8], what| {
        let path = temp.write("f", bytes);
        let (lines, end) = scan(&File::open(&path).expect("opens"), "x");
        assert_eq!((lines, end), (Vec::new(), End::Binary(what)));
    };
    is(b"x\0", "binary data (it holds NUL bytes)");
    is(b"\x89PNG\r\n\x1a\nx", "a PNG image");
    is(b"\xff\xfex\0", "UTF-16 text (or other 16-bit data)");
    // A NUL further on does not make it binary.
    let late = ["x\n".repeat(4_000), "a\0b\n".to_string()].concat();
    finds(late.as_bytes(), r"a\x00", &[(4_001, "a\0")]);
    is(&late.as_bytes()[3..], "binary data (it holds NUL bytes)");
}

#[test]
fn a_file_that_grows_ends_where_it_ended() {
    let temp = Temp::new();
    let line = "0123456789abcde\n";
    let path = temp.write("f", line.repeat(20_000));
    let file = File::open(&path).expect("opens");
    let mut more = OpenOptions::new().append(true).open(&path).expect("opens");
    let regex = Regex::new(
        "^0",
        Options {
            lines: true,
            ..Options::default()
        },
    )
    .expect("a pattern");
    let cancel = Cancel::new().expect("switch");
    let limits = Limits {
        cancel: &cancel,
        deadline: None,
    };
    let mut lines = 0;
    // Each line that is seen adds one: who looks for the end would never find it.
    let mut each = |_: Line<'_>| {
        lines += 1;
        more.write_all(line.as_bytes()).expect("writes");
    };
    let end = Scan::default().file(&file, &regex, &limits, Some(&mut each));
    assert_eq!(end.expect("reads"), End::Searched { lines: 20_000 });
    assert_eq!(lines, 20_000);
}

#[test]
fn a_read_that_ends_with_a_page_is_not_taken_for_the_last() {
    // A socket gives what it has: here a page, and the rest once the lines of the page were seen.
    let (near, mut far) = UnixStream::pair().expect("a pair");
    let file = File::from(OwnedFd::from(near));
    far.write_all("hit\n".repeat(1_024).as_bytes())
        .expect("writes");
    let mut far = Some(far);
    let regex = Regex::new(
        "^hit",
        Options {
            lines: true,
            ..Options::default()
        },
    )
    .expect("a pattern");
    let cancel = Cancel::new().expect("switch");
    let limits = Limits {
        cancel: &cancel,
        deadline: None,
    };
    let mut last = 0;
    let mut each = |line: Line<'_>| {
        last = line.number;
        if let Some(mut far) = far.take_if(|_| line.number == 1_024) {
            far.write_all(b"no\nhit\n").expect("writes");
        }
    };
    let end = Scan::default().file(&file, &regex, &limits, Some(&mut each));
    assert_eq!(end.expect("reads"), End::Searched { lines: 1_025 });
    assert_eq!(last, 1_026);
}

#[test]
fn a_deadline_ends_the_search_of_a_file() {
    let temp = Temp::new();
    let path = temp.write("f", "x\n".repeat(1 << 20));
    let regex = Regex::new(
        "y",
        Options {
            lines: true,
            ..Options::default()
        },
    )
    .expect("a pattern");
    let cancel = Cancel::new().expect("switch");
    let limits = Limits {
        cancel: &cancel,
        deadline: Some(Instant::now()),
    };
    let end = Scan::default().file(&File::open(&path).expect("opens"), &regex, &limits, None);
    assert_eq!(end.expect("reads"), End::Stopped(Stop::TimeUp));
}
