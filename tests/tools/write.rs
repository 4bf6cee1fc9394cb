//! `write_file`: new files, deliberate replacements, the guard against stale ones, and text that stands for text left out.

use std::os::unix::fs::PermissionsExt;

use zcoder::protocol::{Facts, FileChange, ToolStatus};

use super::kit::Kit;

const UNREAD: &str = "`f` exists and was not read in full in this session, so it was not replaced. Read it with read_file first, or \
    change only a part with replace_text.";
const STALE: &str = "`f` changed on disk after you read it, so it was not replaced. Read it again with read_file and keep what is \
    new in it.";

fn write(content: &str) -> [(&str, &str); 2] {
    [("path", "f"), ("content", content)]
}

/// Reads, replaces, compares.
#[track_caller]
fn check(before: &[u8], content: &str, after: &[u8], text: &str) {
    let mut kit = Kit::new();
    kit.put("f", before);
    kit.ok("read_file", &[("path", "f")]);
    assert_eq!(kit.ok("write_file", &write(content)), text);
    assert_eq!(
        kit.get("f").escape_ascii().to_string(),
        after.escape_ascii().to_string()
    );
}

#[test]
fn a_new_file_is_made_with_its_folders() {
    let mut kit = Kit::new();
    let outcome = kit.call(
        "write_file",
        &[("path", "a/b/new.txt"), ("content", "one\ntwo\n")],
    );
    assert_eq!(outcome.text, "created `a/b/new.txt`: 2 lines");
    assert_eq!(
        outcome.facts,
        Facts::Edited {
            files: vec![FileChange {
                path: "a/b/new.txt".to_string(),
                added: 2,
                removed: 0,
                created: true,
                deleted: false,
                executable: None,
            }],
            diff: "--- /dev/null\n+++ b/a/b/new.txt\n@@ -0,0 +1,2 @@\n+one\n+two\n".to_string(),
        }
    );
    assert_eq!(kit.get("a/b/new.txt"), b"one\ntwo\n");
    let record = &kit.journal[0];
    assert_eq!((record.path.as_str(), record.before), ("a/b/new.txt", None));
    assert_eq!(
        kit.ok("write_file", &[("path", "x"), ("content", "a\r\nb")]),
        "created `x`: 2 lines; its last line has no line end"
    );
    assert_eq!(kit.get("x"), b"a\r\nb");
    assert_eq!(
        kit.ok("write_file", &[("path", "y"), ("content", "")]),
        "created `y`: 0 lines"
    );
    assert_eq!(kit.get("y"), b"");
    assert_eq!(kit.toolbox.changed(), ["a/b/new.txt", "x", "y"]);
}

#[test]
fn a_replacement_keeps_what_a_model_does_not_see() {
    check(
        b"a\nb\n",
        "a\nc\n",
        b"a\nc\n",
        "replaced `f`: 1 line added, 1 line removed",
    );
    check(
        b"a\r\nb\r\n",
        "a\nc\n",
        b"a\r\nc\r\n",
        "replaced `f`: 1 line added, 1 line removed; CRLF line ends kept",
    );
    check(
        b"a\r\nb\r\n",
        "a\r\nc\r\n",
        b"a\r\nc\r\n",
        "replaced `f`: 1 line added, 1 line removed",
    );
    check(
        b"a\r\nb\n",
        "x\ny\n",
        b"x\ny\n",
        "replaced `f`: 2 lines added, 2 lines removed",
    );
    check(
        b"\xef\xbb\xbfa\n",
        "b\n",
        b"\xef\xbb\xbfb\n",
        "replaced `f`: 1 line added, 1 line removed; byte-order mark kept",
    );
    check(
        b"\xef\xbb\xbfa\n",
        "\u{feff}b\n",
        b"\xef\xbb\xbfb\n",
        "replaced `f`: 1 line added, 1 line removed",
    );
    check(
        b"a\n",
        "b",
        b"b\n",
        "replaced `f`: 1 line added, 1 line removed; line end at the end kept",
    );
    check(
        b"a",
        "b",
        b"b",
        "replaced `f`: 1 line added, 1 line removed",
    );
    check(
        b"\xef\xbb\xbfa\r\nb\r\n",
        "c",
        b"\xef\xbb\xbfc\r\n",
        "replaced `f`: 1 line added, 2 lines removed; byte-order mark kept; line end at the end kept; CRLF line ends kept",
    );
    check(
        b"a\n",
        "",
        b"",
        "replaced `f`: 0 lines added, 1 line removed",
    );
    // Bytes that are not UTF-8 can be given up only knowingly.
    check(
        b"caf\xe9\n",
        "cafe\n",
        b"cafe\n",
        "replaced `f`: 1 line added, 1 line removed",
    );
}

#[test]
fn mode_stays() {
    let mut kit = Kit::new();
    kit.put("f", "#!/bin/sh\n");
    kit.mode("f", 0o750);
    kit.ok("read_file", &[("path", "f")]);
    kit.ok("write_file", &write("#!/bin/sh\nexit\n"));
    let mode = std::fs::metadata(kit.root().join("f"))
        .expect("metadata")
        .permissions()
        .mode();
    assert_eq!(mode & 0o7777, 0o750);
}

#[test]
fn the_same_content_writes_nothing() {
    let mut kit = Kit::new();
    kit.put("f", "a\r\n");
    kit.ok("read_file", &[("path", "f")]);
    let outcome = kit.call("write_file", &write("a\n"));
    assert_eq!(
        outcome.text,
        "`f` already has exactly this content; nothing was written."
    );
    assert_eq!(
        (outcome.status, outcome.facts),
        (ToolStatus::Ok, Facts::None)
    );
    assert!(kit.journal.is_empty());
}

#[test]
fn what_was_not_read_in_full_is_not_replaced() {
    let mut kit = Kit::new();
    kit.put("f", "one\ntwo\nthree\n");
    kit.fails("write_file", &write("x"), UNREAD);
    kit.ok("read_file", &[("path", "f"), ("start_line", "2")]);
    kit.fails("write_file", &write("x"), UNREAD);
    kit.ok("read_file", &[("path", "f"), ("end_line", "2")]);
    kit.fails("write_file", &write("x"), UNREAD);
    // A replaced passage does not make the rest known.
    kit.ok(
        "replace_text",
        &[("path", "f"), ("old_text", "two"), ("new_text", "2")],
    );
    kit.fails("write_file", &write("x"), UNREAD);
    // A range that shows every line does.
    kit.ok(
        "read_file",
        &[("path", "f"), ("start_line", "1"), ("end_line", "3")],
    );
    kit.ok("write_file", &write("x\n"));
    // And a file that the model wrote is known.
    kit.ok("write_file", &write("y\n"));
    kit.ok(
        "replace_text",
        &[("path", "f"), ("old_text", "y"), ("new_text", "z")],
    );
    kit.ok("write_file", &write("w\n"));
    assert_eq!(kit.get("f"), b"w\n");
    // An empty file has nothing to lose.
    kit.put("g", "");
    kit.ok("write_file", &[("path", "g"), ("content", "x")]);
}

#[test]
fn what_changed_since_it_was_read_is_not_replaced() {
    let mut kit = Kit::new();
    kit.put("f", "one\n");
    kit.ok("read_file", &[("path", "f")]);
    kit.put("f", "one and more\n");
    kit.fails("write_file", &write("two\n"), STALE);
    assert_eq!(kit.get("f"), b"one and more\n");
    // An edit of a stale file does not make it known.
    kit.ok(
        "replace_text",
        &[("path", "f"), ("old_text", "more"), ("new_text", "less")],
    );
    kit.fails("write_file", &write("two\n"), UNREAD);
    kit.ok("read_file", &[("path", "f")]);
    kit.ok("write_file", &write("two\n"));
    // Saved again with the same bytes, by a new file: not stale.
    std::fs::remove_file(kit.root().join("f")).expect("removes");
    kit.put("f", "two\n");
    kit.ok("write_file", &write("three\n"));
    // A save in place, of the same length, within one tick of the file system's clock.
    kit.put("f", "eerht\n");
    kit.fails("write_file", &write("four\n"), STALE);
}

#[test]
fn text_for_text_left_out_is_refused() {
    for line in [
        "// ... rest of the file unchanged ...",
        "// rest of the code remains the same",
        "# ... existing code ...",
        "# existing functions unchanged",
        "/* ... remaining methods ... */",
        "<!-- rest of the content stays the same -->",
        "    // (rest of implementation unchanged)",
        "... rest of code unchanged ...",
        "// … existing imports …",
        "-- code omitted for brevity --",
        "// ... (unchanged)",
        "[rest of the file is unchanged]",
        "# ... previous code remains the same ...",
        "//...rest of the code",
        "// all other functions remain unchanged",
    ] {
        let mut kit = Kit::new();
        kit.put("f", "fn a() {}\n");
        kit.ok("read_file", &[("path", "f")]);
        let content = format!("fn b() {{}}\n{line}\n");
        kit.fails(
            "write_file",
            &write(&content),
            &format!(
                "`f` was not written: line 2 of the content stands for text that was left out (`{}`). Call write_file again with every \
                 line of the file, or change only a part with replace_text.",
                line.trim()
            ),
        );
        assert_eq!(kit.get("f"), b"fn a() {}\n");
        // The line was there before: it may stay.
        kit.put("f", format!("fn a() {{}}\n{line}\n"));
        kit.ok("read_file", &[("path", "f")]);
        kit.ok("write_file", &write(&content));
    }
}

#[test]
fn lines_that_only_look_like_it_are_written() {
    for line in [
        "...",
        "// ...rest",
        "    ...",
        "def f(): ...",
        "// the rest of the file is parsed lazily",
        "# Existing users keep their token.",
        "the file is unchanged since 2020",
        "assert_eq!(rest, \"unchanged\");",
        "let existing = code;",
        "// rest",
        "## Other functions",
        "file unchanged",
        "let [first, ...rest] = lines;",
        "// remaining",
        "/* same */",
        "return { ...original };",
        "function(...rest)",
    ] {
        let mut kit = Kit::new();
        let content = format!("{line}\n");
        kit.ok("write_file", &write(&content));
        assert_eq!(kit.get("f"), content.as_bytes(), "{line}");
    }
}

#[test]
fn odd_bytes_are_not_lost_to_a_rewrite() {
    let mut kit = Kit::new();
    kit.put("f", b"// \xa9 2020\nlet n = 1;\n");
    kit.ok("read_file", &[("path", "f")]);
    kit.fails(
        "write_file",
        &write("// \u{fffd} 2020\nlet n = 2;\n"),
        "`f` was not written: it holds bytes that are not UTF-8, which were shown as U+FFFD, and this content would destroy them. Change \
         only the lines that need it with replace_text.",
    );
    assert_eq!(kit.get("f"), b"// \xa9 2020\nlet n = 1;\n");
}
