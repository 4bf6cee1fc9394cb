//! Heads of Markdown files: what is understood, and what is said of the rest.

use zcoder::guidance::frontmatter::split;

/// `key=value` of the keys that are asked for, `|`, the body; or the fault.
#[track_caller]
fn check(text: &str, expected: &str) {
    let shown = match split(text) {
        Err(fault) => fault.to_string(),
        Ok(head) => {
            let field = |key: &str| match head.text(key) {
                Ok(Some(text)) => format!("{key}={text:?} "),
                Ok(None) => String::new(),
                Err(fault) => format!("{fault} "),
            };
            format!("{}{}|{}", field("name"), field("description"), head.body)
        }
    };
    assert_eq!(shown, expected, "{text}");
}

/// One field and nothing else.
#[track_caller]
fn value(lines: &str, expected: &str) {
    let text = format!("---\nname: {lines}\n---\n");
    match split(&text) {
        Ok(head) => assert_eq!(
            head.text("name").map(Option::unwrap_or_default),
            Ok(expected),
            "{text}"
        ),
        Err(fault) => panic!("{text}{fault}"),
    }
}

#[test]
fn fields_and_the_body() {
    check(
        "---\nname: a\ndescription: b c\n---\nbody\n",
        "name=\"a\" description=\"b c\" |body\n",
    );
    check(
        "--- \nname:a: b\n---\n",
        "line 2: expected `key: value`, found `name:a: b`",
    );
    check("---\n# comment\n\nname: a\n---", "name=\"a\" |");
    check("---\n---\nx", "|x");
    check("no head\n---\n", "|no head\n---\n");
    check("", "|");
    check(
        "---",
        "line 1: the head that begins here is not closed by a line `---`",
    );
    check(
        "---\nname: a\n",
        "line 1: the head that begins here is not closed by a line `---`",
    );
    check(
        "---\nname: a\n----\n---\n",
        "line 3: expected `key: value`, found `----`",
    );
    // A rule in the body is no second head.
    check("---\nname: a\n---\nx\n---\n", "name=\"a\" |x\n---\n");
}

#[test]
fn plain_values() {
    value("a  # comment", "a");
    value("a#b", "a#b");
    value("use it: when asked", "use it: when asked");
    value("one\n  two\n\n  three", "one two three");
    value("- a", "- a");
    value("", "");
    value("# only a comment", "");
    value("true", "true");
    value("1.0", "1.0");
}

#[test]
fn quoted_values() {
    value(r#""a \"b\" \\ \n\t\x41\u00e9" # c"#, "a \"b\" \\ \n\tAé");
    value("'it''s: # \\n'", "it's: # \\n");
    value("\"\"", "");
    check(
        "---\nname: \"a\n---\n",
        "line 2: the quoted text is not closed on its line",
    );
    check(
        "---\n\nname: 'a''\n---\n",
        "line 3: the quoted text is not closed on its line",
    );
    check(
        "---\nname: 'a' b\n---\n",
        "line 2: text follows the closing quote",
    );
    check(
        "---\nname: \"\\q\"\n---\n",
        "line 2: `\\q` is no escape of quoted text",
    );
    check(
        "---\nname: \"\\ud800\"\n---\n",
        "line 2: `\\ud800` is no escape of quoted text",
    );
    check(
        "---\nname: \"\\u00\"\n---\n",
        "line 2: `\\u` is no escape of quoted text",
    );
    check(
        "---\nname: \"\\u+123\"\n---\n",
        "line 2: `\\u+123` is no escape of quoted text",
    );
}

#[test]
fn blocks() {
    value("|\n  one\n    two\n\n  three\n", "one\n  two\n\nthree");
    value(">\n  one\n  two\n\n  three\n", "one two\nthree");
    value(">-\n  one\n  # not a comment", "one # not a comment");
    value("|2+\n  one\n\n\n", "one");
    value("|\ndescription: b", "");
    value(">\n  é\n é", "é é");
}

#[test]
fn what_nobody_asks_for_is_passed_over() {
    let head = "---\nname: a\nallowed-tools: [Read,\n  Bash]\nmetadata:\n  author: x\n  deep:\n    - y\ntags:\n- a\n-\n- b: c\nmap: {a: b}\nref: *a\nnote: |\n  x: y\n  ---x\ndescription: d\n---\n";
    check(head, "name=\"a\" description=\"d\" |");
    let no_text =
        "must be text; a list, a map or a mark of YAML stands there; put text into quotes";
    check(
        "---\nname: [a]\n---\n",
        &format!("line 2: `name` {no_text} |"),
    );
    check(
        "---\nx: y\nname:\n  - a\n---\n",
        &format!("line 3: `name` {no_text} |"),
    );
    check(
        "---\nname: &a b\ndescription: !!str c\n---\n",
        &format!("line 2: `name` {no_text} line 3: `description` {no_text} |"),
    );
}

#[test]
fn what_is_no_head_is_said_with_its_line() {
    check(
        "---\nname: a\n\tx: y\n---\n",
        "line 3: a tab begins the line; indent with blanks",
    );
    check(
        "---\nname: a\nname: b\n---\n",
        "line 3: `name` stands there twice",
    );
    check(
        "---\nname: a\n- b\n---\n",
        "line 3: expected `key: value`, found `- b`",
    );
    check(
        "---\n  name: a\n---\n",
        "line 2: expected `key: value`, found `  name: a`",
    );
    check(
        "---\n\u{202e}x\n---\n",
        "line 2: expected `key: value`, found `\\u{202e}x`",
    );
    let long = format!("---\n{}\n---\n", "x".repeat(100));
    check(
        &long,
        &format!("line 2: expected `key: value`, found `{}…`", "x".repeat(39)),
    );
}

#[test]
fn no_text_makes_it_panic_or_loop() {
    let whole = "---\nname: \"a\\u00e9\" # c\ndescription: >\n  é\n x\nl:\n- a\nm: 'q'\n---\nbody";
    for from in 0..whole.len() {
        for to in from..=whole.len() {
            if let Some(part) = whole.get(from..to) {
                let _ = split(&format!("---\n{part}"));
            }
        }
    }
}
