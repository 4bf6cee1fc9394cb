//! Strings: escapes, surrogates, control characters, encodings, and every length and place of what ends them.
use super::{check, refused};
use std::borrow::Cow;
use zcoder::json::{Text, Token, Tokens, Tree, unquote};

/// `inside` is what stands between the quotes.
#[track_caller]
fn reads(inside: impl AsRef<[u8]>, expected: &str) {
    let text = [b"\"", inside.as_ref(), b"\""].concat();
    with_text(&text, |token| {
        assert_eq!(token.decode(), expected);
        let mut out = String::from("before ");
        token.push_to(&mut out);
        assert_eq!(out, format!("before {expected}"));
        assert_eq!(token.raw(), inside.as_ref());
    });
    let tree = Tree::parse(&text).expect("accepted");
    assert_eq!(tree.root().as_str(), Some(expected));
    // As a member's name it is the same text.
    let object = [b"{", &text[..], b":1}"].concat();
    let tree = Tree::parse(&object).expect("accepted");
    assert_eq!(
        tree.root()
            .members()
            .map(|(name, _)| name)
            .collect::<Vec<_>>(),
        [expected]
    );
}

#[track_caller]
fn with_text(text: &[u8], look: impl FnOnce(Text<'_>)) {
    match Tokens::new(text).next() {
        Ok(Token::String(token)) => look(token),
        other => panic!("a string was expected, found {other:?}"),
    }
}

#[test]
fn escapes_become_their_character() {
    reads(r#"\"\\\/\b\f\n\r\t"#, "\"\\/\u{8}\u{c}\n\r\t");
    reads(r"\u0041\u00e9\u20ac", "Aé€");
    reads(r"\u00E9\u00e9", "éé");
    reads(r"\u0000", "\0");
    reads(r"\u001b[2J", "\u{1b}[2J");
    reads(r"a\nb\nc", "a\nb\nc");
    reads(r"\\n", "\\n");
    reads(r"\\\\", "\\\\");
    reads(r"\\u0041", "\\u0041");
    reads(r"\uffff\ufffe\ufffd", "\u{ffff}\u{fffe}\u{fffd}");
}

#[test]
fn surrogate_pairs_are_one_character() {
    reads(r"\ud83e\udd80", "🦀");
    reads(r"\uD83E\uDD80", "🦀");
    reads(r"a\ud834\udd1eb", "a𝄞b");
    reads(r"\ud800\udc00\udbff\udfff", "\u{10000}\u{10ffff}");
}

#[test]
fn lone_surrogates_become_a_replacement_each() {
    reads(r"\ud83d", "\u{fffd}");
    reads(r"\ude00", "\u{fffd}");
    reads(r"\ude00\ud83d", "\u{fffd}\u{fffd}");
    reads(r"\ud83dx", "\u{fffd}x");
    reads(r"\ud83d\n", "\u{fffd}\n");
    reads(
        r"\ud83d\ue000\ud83d\udbff",
        "\u{fffd}\u{e000}\u{fffd}\u{fffd}",
    );
    reads(r"\ud7ff\udc00\ue000", "\u{d7ff}\u{fffd}\u{e000}");
    reads(r"\ud83d\u0041", "\u{fffd}A");
    reads(r"\ud83d\ud83d\ude00", "\u{fffd}😀");
    reads(r"\ud83d\\ude00", "\u{fffd}\\ude00");
}

#[test]
fn other_escapes_are_refused() {
    refused(
        r#""\x41""#,
        "expected one of `\"\\/bfnrtu` after a backslash at byte 2, found `x`",
    );
    refused(
        r#"["\a"]"#,
        "expected one of `\"\\/bfnrtu` after a backslash at byte 3, found `a`",
    );
    refused(
        r#""\N""#,
        "expected one of `\"\\/bfnrtu` after a backslash at byte 2, found `N`",
    );
    refused(
        r#""\'""#,
        "expected one of `\"\\/bfnrtu` after a backslash at byte 2, found `'`",
    );
    refused(
        "\"\\\n\"",
        "expected one of `\"\\/bfnrtu` after a backslash at byte 2, found byte 0x0a",
    );
    refused(
        "\"\\\u{e9}\"",
        "expected one of `\"\\/bfnrtu` after a backslash at byte 2, found byte 0xc3",
    );
    refused(
        r#""\"#,
        "expected one of `\"\\/bfnrtu` after a backslash at byte 2, found the end",
    );
    refused(
        r#""\u00a""#,
        "expected four hex digits after `\\u` at byte 6, found `\"`",
    );
    refused(
        r#""\u00gg""#,
        "expected four hex digits after `\\u` at byte 5, found `g`",
    );
    refused(
        r#""\u{41}""#,
        "expected four hex digits after `\\u` at byte 3, found `{`",
    );
    refused(
        r#""\u+041""#,
        "expected four hex digits after `\\u` at byte 3, found `+`",
    );
    refused(
        r#""\U0041""#,
        "expected one of `\"\\/bfnrtu` after a backslash at byte 2, found `U`",
    );
    refused(
        r#""\u12"#,
        "expected four hex digits after `\\u` at byte 5, found the end",
    );
    refused(
        r#""\ud83d\ude0""#,
        "expected four hex digits after `\\u` at byte 12, found `\"`",
    );
    refused(
        r#"{"\u12":1}"#,
        "expected four hex digits after `\\u` at byte 6, found `\"`",
    );
}

#[test]
fn every_raw_control_character_is_refused() {
    for byte in 0..0x20u8 {
        let expected = format!(
            "expected an escape in place of a control character at byte 3, found byte 0x{byte:02x}"
        );
        refused([b'"', b'a', b'b', byte, b'"'], &expected);
        let long = [b"\"", &[b'x'; 50][..], &[byte], b"\""].concat();
        refused(long, &expected.replace("byte 3", "byte 51"));
    }
    refused(
        "\"\\n\n\"",
        "expected an escape in place of a control character at byte 3, found byte 0x0a",
    );
    refused(
        "{\"a\tb\":1}",
        "expected an escape in place of a control character at byte 3, found byte 0x09",
    );
}

#[test]
fn what_json_allows_raw_is_read_as_it_is() {
    reads("\u{7f}", "\u{7f}");
    reads("\u{80}\u{9f}", "\u{80}\u{9f}");
    reads("\u{2028}\u{2029}", "\u{2028}\u{2029}");
    reads("\u{202e}\u{200b}", "\u{202e}\u{200b}");
    reads("日本 🦀 naïve", "日本 🦀 naïve");
    reads("/ ' {}[]:,", "/ ' {}[]:,");
    reads("\u{feff}", "\u{feff}");
}

#[test]
fn strings_must_end() {
    refused("\"", "expected a closing quote at byte 1, found the end");
    refused("\"abc", "expected a closing quote at byte 4, found the end");
    refused(
        "[\"a\\\"]",
        "expected a closing quote at byte 6, found the end",
    );
    refused("{\"a", "expected a closing quote at byte 3, found the end");
    refused(
        format!("\"{}", "x".repeat(100)),
        "expected a closing quote at byte 101, found the end",
    );
}

#[test]
fn bytes_that_are_not_utf8_are_repaired_or_refused_by_choice() {
    let cases: [(&[u8], &str); 9] = [
        (b"\x80", "\u{fffd}"),
        (b"\xff\xfe", "\u{fffd}\u{fffd}"),
        (b"a\xe9b", "a\u{fffd}b"),
        (b"\xc0\xaf", "\u{fffd}\u{fffd}"),
        (b"\xed\xa0\x80", "\u{fffd}\u{fffd}\u{fffd}"),
        (b"\xf4\x90\x80\x80", "\u{fffd}\u{fffd}\u{fffd}\u{fffd}"),
        (b"\xe2\x82", "\u{fffd}"),
        (b"\xf0\x9f\xa6", "\u{fffd}"),
        (b"ok \\n \xc3 \\u00e9", "ok \n \u{fffd} é"),
    ];
    for (inside, expected) in cases {
        reads(inside, expected);
        let text = [b"[\"", inside, b"\"]"].concat();
        let offset = std::str::from_utf8(&text)
            .expect_err("not UTF-8")
            .valid_up_to();
        let error = Tree::parse_strict(&text).expect_err("strict");
        assert_eq!(
            error.to_string(),
            format!("bytes that are not UTF-8 at byte {offset}")
        );
    }
}

#[test]
fn a_repaired_text_keeps_its_other_values_and_its_error_offsets() {
    let tree =
        Tree::parse(b"{\"a\":\"\xff\",\"b\\n\":[1,\"\xe2\x82\",\"\\u0041\"]}").expect("repaired");
    assert_eq!(
        tree.to_string(),
        "{\"a\":\"\u{fffd}\",\"b\\n\":[1,\"\u{fffd}\",\"A\"]}"
    );
    refused(
        b"[\"\xff\xff\", x]",
        "expected a value after a comma in an array at byte 7, found `x`",
    );
    refused(
        b"[\xff]",
        "expected a value or `]` after `[` at byte 1, found byte 0xff",
    );
}

#[test]
fn a_grammar_error_before_bad_utf8_is_the_one_reported() {
    refused(
        b"[1 2,\"\xff\"]",
        "expected a comma or `]` in an array at byte 3, found `2`",
    );
}

/// The kernels work in blocks of 16 and 32: each length of string at each place in a block, ended in each way.
#[test]
fn strings_of_every_length_at_every_place() {
    for before in 0..40 {
        for length in 0..70 {
            let blanks = " ".repeat(before);
            let inside = "abcdefghij".repeat(7)[..length].to_owned();
            check(
                format!("{blanks}\"{inside}\""),
                &format!("\"{inside}\""),
                &format!("\"{inside}\""),
            );
            let escaped = format!("{blanks}\"{inside}\\n{inside}\"");
            check(&escaped, &format!("\"{inside}\n{inside}\""), escaped.trim());
            let end = before + 1 + length;
            refused(
                format!("{blanks}\"{inside}"),
                &format!("expected a closing quote at byte {end}, found the end"),
            );
        }
    }
}

#[test]
fn plain_strings_are_borrowed() {
    for (text, borrowed) in [("\"plain é\"", true), ("\"a\\nb\"", false)] {
        with_text(text.as_bytes(), |token| {
            assert_eq!(matches!(token.decode(), Cow::Borrowed(_)), borrowed)
        });
    }
    with_text(b"\"\xff\"", |token| {
        assert!(matches!(token.decode(), Cow::Owned(_)))
    });
}

#[test]
fn names_are_compared_unescaped() {
    with_text(b"\"role\"", |token| {
        assert!(token.is("role"));
        assert!(!token.is("rol") && !token.is("roles") && !token.is(""));
    });
    with_text(br#""r\u006fle""#, |token| {
        assert!(token.is("role"));
        assert!(!token.is(r"r\u006fle"));
    });
    with_text(b"\"\xff\"", |token| assert!(!token.is("\u{fffd}")));
    with_text(b"\"\"", |token| assert!(token.is("")));
}

#[test]
fn a_string_is_unquoted_as_its_tree_has_it_or_not_at_all() {
    let long = format!(r#""{}\n{}""#, "x".repeat(100), "é".repeat(60));
    let cases: &[(&str, bool)] = &[
        (r#""""#, true),
        (r#""plain""#, true),
        (r#""a\nb\tc\rd\be\ff\"g\\h\/i""#, true),
        (&long, true),
        // A tokenizer is to be asked.
        (r#""\u00e9""#, false),
        (r#""\ud83e\udd80""#, false),
        (r#""\x""#, false),
        ("\"\n\"", false),
    ];
    for (text, is_read) in cases {
        // Whatever stands behind the closing quote is not looked at.
        let line = format!("{text},\"more\\u0000");
        let read = unquote(&line.as_bytes()[1..]);
        assert_eq!(read.is_some(), *is_read, "{text}");
        if let Some((string, length)) = read {
            let tree = Tree::parse(text.as_bytes()).expect("a string");
            assert_eq!(tree.root().as_str(), Some(string.as_str()), "{text}");
            assert_eq!(length + 1, text.len(), "{text}");
        }
        for cut in 1..text.len() {
            assert_eq!(
                unquote(&text.as_bytes()[1..cut]),
                None,
                "{text} cut at {cut}"
            );
        }
    }
    let repaired = unquote(b"a\xff\\n\"").expect("a string");
    assert_eq!(repaired, ("a\u{fffd}\n".to_string(), 5));
}
