//! `replace_text`: one passage, found once, spliced into the old bytes.

use super::kit::Kit;

/// Replaces in a file and compares the whole result.
#[track_caller]
fn check(before: &[u8], old: &str, new: &str, after: &[u8], text: &str) {
    let mut kit = Kit::new();
    kit.put("f", before);
    let said = kit.ok(
        "replace_text",
        &[("path", "f"), ("old_text", old), ("new_text", new)],
    );
    assert_eq!(
        kit.get("f").escape_ascii().to_string(),
        after.escape_ascii().to_string()
    );
    assert_eq!(said, text);
    // Undo from the journal gives the old bytes back.
    let record = &kit.journal[0];
    let mut undone = kit.get("f");
    for span in record.spans.iter().rev() {
        let at = span.offset as usize;
        undone.splice(at..at + span.new_len as usize, span.old.iter().copied());
    }
    assert_eq!(undone, before);
    assert_eq!(record.before, Some(zcoder::sha256::digest(before)));
    assert_eq!(record.after, Some(zcoder::sha256::digest(after)));
}

#[track_caller]
fn refuses(before: &[u8], old: &str, new: &str, text: &str) {
    let mut kit = Kit::new();
    kit.put("f", before);
    kit.fails(
        "replace_text",
        &[("path", "f"), ("old_text", old), ("new_text", new)],
        text,
    );
    assert_eq!(kit.get("f"), before);
    assert!(kit.journal.is_empty());
}

#[test]
fn one_passage() {
    check(
        b"a\nb\nc\n",
        "b",
        "x",
        b"a\nx\nc\n",
        "changed line 2 of `f`",
    );
    check(
        b"a\nb\nc\n",
        "a\nb\n",
        "a\n",
        b"a\nc\n",
        "changed line 2 of `f`",
    );
    check(
        b"a\nb\nc\n",
        "b\n",
        "b\nx\ny\n",
        b"a\nb\nx\ny\nc\n",
        "changed line 3 of `f`: now 3 lines",
    );
    check(b"abc", "b", "", b"ac", "changed line 1 of `f`");
    check(
        b"one",
        "one",
        "two\nthree\n",
        b"two\nthree\n",
        "changed line 1 of `f`: now 3 lines",
    );
    check(
        "a\nü €\n".as_bytes(),
        "ü",
        "ö",
        "a\nö €\n".as_bytes(),
        "changed line 2 of `f`",
    );
}

#[test]
fn line_ends_stay_and_inserted_lines_follow_their_neighbors() {
    // Passages are written with LF, as models do.
    check(
        b"a\r\nb\r\nc\r\n",
        "a\nb",
        "a\nx\nb",
        b"a\r\nx\r\nb\r\nc\r\n",
        "changed line 2 of `f`: now 2 lines",
    );
    check(
        b"alpha\nbeta\r\ngamma\r\n",
        "alpha",
        "ALPHA",
        b"ALPHA\nbeta\r\ngamma\r\n",
        "changed line 1 of `f`",
    );
    check(
        b"alpha\nbeta\r\ngamma\r\n",
        "alpha\nbeta\ngamma",
        "ALPHA\nbeta\nGAMMA",
        b"ALPHA\nbeta\r\nGAMMA\r\n",
        "changed lines 1-3 of `f`",
    );
    check(
        b"10%\r50%\r100%\nend\n",
        "end",
        "done",
        b"10%\r50%\r100%\ndone\n",
        "changed line 2 of `f`",
    );
    // A passage that ends in a line end, one that begins right after one.
    check(
        b"a\r\nb\r\n",
        "a\n",
        "x\n",
        b"x\r\nb\r\n",
        "changed line 1 of `f`",
    );
    check(
        "a\r\nb\u{a0}c\r\n".as_bytes(),
        "b c\n",
        "b d\n",
        "a\r\nb\u{a0}d\r\n".as_bytes(),
        "changed line 2 of `f`",
    );
    // And the other way round.
    check(
        b"a\nb\n",
        "b",
        "b\r\nc",
        b"a\nb\nc\n",
        "changed line 2 of `f`: now 2 lines",
    );
    // The first line of the file has only a neighbor below.
    check(
        b"a\r\nb\r\n",
        "a",
        "x\na",
        b"x\r\na\r\nb\r\n",
        "changed line 1 of `f`: now 2 lines",
    );
    // No line end anywhere: as given.
    check(
        b"a",
        "a",
        "a\r\nb",
        b"a\r\nb",
        "changed line 1 of `f`: now 2 lines",
    );
}

#[test]
fn what_the_passage_does_not_touch_stays_byte_for_byte() {
    check(
        b"\xef\xbb\xbfa\nb\n",
        "a",
        "x",
        b"\xef\xbb\xbfx\nb\n",
        "changed line 1 of `f`",
    );
    check(
        b"// \xa9 2020\nlet n = 1;\n",
        "n = 1",
        "n = 2",
        b"// \xa9 2020\nlet n = 2;\n",
        "changed line 2 of `f`",
    );
    check(
        b"\xff\xc3\nx\xe2\x82\n",
        "x",
        "y",
        b"\xff\xc3\ny\xe2\x82\n",
        "changed line 2 of `f`",
    );
    // A lookalike blank is matched by a space, and stays where the texts agree.
    check(
        "x\u{a0}= 1; // a\n".as_bytes(),
        "x = 1;",
        "x = 2;",
        "x\u{a0}= 2; // a\n".as_bytes(),
        "changed line 1 of `f`",
    );
    // Exactly matched, it can be changed.
    check(
        "x\u{a0}= 1\n".as_bytes(),
        "x\u{a0}=",
        "x =",
        b"x = 1\n",
        "changed line 1 of `f`",
    );
}

#[test]
fn several_places_are_refused_with_their_lines() {
    refuses(
        b"x\na\nx\n\nx\n",
        "x",
        "y",
        "old_text stands in `f` 3 times (lines 1, 3, 5), so nothing was changed. Add lines before or after it to old_text and \
         new_text until it names one place.",
    );
    // Places that overlap count.
    refuses(
        b"aaa\n",
        "aa",
        "b",
        "old_text stands in `f` 2 times (lines 1, 1), so nothing was changed. Add lines before or after it to old_text and \
         new_text until it names one place.",
    );
    refuses(
        &b"x\n".repeat(1234),
        "x",
        "y",
        "old_text stands in `f` 1,234 times (lines 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, …), so nothing was changed. Add lines before or \
         after it to old_text and new_text until it names one place.",
    );
}

#[test]
fn no_place_is_refused_with_the_nearest_lines() {
    refuses(
        b"fn a() {\n    let total = 1;\n    run();\n}\n",
        "let tota = 1;",
        "let total = 2;",
        "old_text was not found in `f`, so nothing was changed. Nearest: line 2:\n    let total = 1;\n\
         Copy old_text exactly from the file and try again.",
    );
    refuses(
        b"if x  {\n\trun();\n}\nend\n",
        "if x {\n    run();\n}",
        "if y {\n}",
        "old_text was not found in `f`, so nothing was changed. Nearest: lines 1-3, which differ only in blanks:\nif x  {\n\trun();\n}\n\
         Copy old_text exactly from the file and try again.",
    );
    refuses(
        b"alpha\nbeta\n",
        "something else",
        "x",
        "old_text was not found in `f`, so nothing was changed. Nothing in it is near. Read the file with read_file and copy the \
         passage exactly.",
    );
    refuses(
        b"let n = 1;\nlet m = 1;\n",
        "1\tlet n = 1;\n2\tlet m = 1;\n",
        "1\tlet n = 2;\n",
        "old_text was not found in `f`, so nothing was changed. It is there without the line numbers: leave them out of old_text \
         and new_text.",
    );
    refuses(
        b"let n = 22222;\n",
        "let n = 11111;",
        "let n = 22222;",
        "old_text was not found in `f`, so nothing was changed. But new_text already stands at line 1: the change may have been \
         made before. Read the file with read_file to see.",
    );
    refuses(
        b"caf\xe9\n",
        "caf\u{fffd}",
        "tea",
        "old_text was not found in `f`, so nothing was changed. It holds U+FFFD, which stands for bytes that are not UTF-8; choose a \
         passage without it.",
    );
}

#[test]
fn what_changes_nothing_is_refused() {
    refuses(
        b"a\n",
        "",
        "x",
        "old_text is empty, so there is no place to change. To insert, give a line that is there as old_text and the same line with \
         the new ones as new_text; to make a file, use write_file.",
    );
    refuses(
        b"a\n",
        "a",
        "a",
        "old_text and new_text are the same, so there is nothing to change. Give the new text as new_text.",
    );
    refuses(
        b"a\r\nb\r\n",
        "a\r\nb",
        "a\nb",
        "old_text and new_text differ only in line ends or blanks, which replace_text keeps as they are in `f`. If these shall \
         change, use run_command.",
    );
}

#[test]
fn text_for_text_left_out_is_refused() {
    refuses(
        b"fn a() {\n    1\n}\n",
        "fn a() {\n    1\n}",
        "fn a() {\n    // ... rest of the code unchanged ...\n}",
        "`f` was not changed: line 2 of new_text stands for text that was left out (`// ... rest of the code unchanged ...`). Give \
         every line of the passage in new_text, or choose a smaller passage.",
    );
    // It was there before: then it is a line as any other.
    check(
        b"# rest of the file unchanged\nx\n",
        "# rest of the file unchanged\nx",
        "# rest of the file unchanged\ny",
        b"# rest of the file unchanged\ny\n",
        "changed line 2 of `f`",
    );
}

#[test]
fn missing_files_and_files_that_are_no_text() {
    let mut kit = Kit::new();
    let arguments = [("path", "gone"), ("old_text", "a"), ("new_text", "b")];
    kit.fails(
        "replace_text",
        &arguments,
        "there is no `gone` in the workspace. list_files shows what is there; write_file makes a new file.",
    );
    kit.put("gone", b"\x89PNG\r\n\x1a\nrest");
    kit.fails(
        "replace_text",
        &arguments,
        "`gone` is a PNG image, and this tool edits text only. Use run_command with a program that understands it.",
    );
    kit.put("gone", "a");
    kit.mode("gone", 0o444);
    kit.fails(
        "replace_text",
        &arguments,
        "`gone` is read-only (mode 444), so it was not changed. If it is meant to change, make it writable with run_command and \
         chmod u+w, then try again.",
    );
}

#[test]
fn a_repetitive_file_is_searched_in_linear_time() {
    // Quadratic search would compare 2 million times 2,000 bytes here.
    let mut kit = Kit::new();
    let mut file = "a".repeat(2_000_000);
    file.push_str("\nend\n");
    kit.put("f", &file);
    let old = format!("{}b", "a".repeat(2_000));
    let outcome = kit.call(
        "replace_text",
        &[("path", "f"), ("old_text", &old), ("new_text", "x")],
    );
    assert_eq!(
        outcome.text,
        "old_text was not found in `f`, so nothing was changed. Nothing in it is near. Read the file with read_file and copy the \
         passage exactly."
    );
}
