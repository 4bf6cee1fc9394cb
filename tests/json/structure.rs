//! Arrays, objects, blanks, words, one value a text.
use super::{check, refused};

#[test]
fn every_kind_of_value_stands_alone() {
    check("{}", "{ }", "{}");
    check("[]", "[ ]", "[]");
    check("\"\"", "\"\"", "\"\"");
    check("0", "0", "0");
    check("true", "true", "true");
    check("false", "false", "false");
    check("null", "null", "null");
}

#[test]
fn arrays_and_objects_nest() {
    check("[1,[2,[]],{}]", "[ 1 [ 2 [ ] ] { } ]", "[1,[2,[]],{}]");
    check(
        r#"{"a":{"b":[{"c":null}]},"d":1}"#,
        "{ a: { b: [ { c: null } ] } d: 1 }",
        r#"{"a":{"b":[{"c":null}]},"d":1}"#,
    );
    check("[[],[],{},{}]", "[ [ ] [ ] { } { } ]", "[[],[],{},{}]");
}

#[test]
fn blanks_may_stand_around_every_token() {
    let spaced = " \t\r\n{ \n\"a\"\t:\r[ 1 , 2 ] , \"b\" : { } }\n\n";
    check(spaced, "{ a: [ 1 2 ] b: { } }", r#"{"a":[1,2],"b":{}}"#);
    let indent = " ".repeat(100);
    check(format!("[\n{indent}1\n{indent}]"), "[ 1 ]", "[1]");
}

#[test]
fn other_blanks_are_refused() {
    refused("\u{c}1", "expected a value at byte 0, found byte 0x0c");
    refused(
        "[\u{b}1]",
        "expected a value or `]` after `[` at byte 1, found byte 0x0b",
    );
    refused(
        "[1,\u{a0}2]",
        "expected a value after a comma in an array at byte 3, found byte 0xc2",
    );
    refused(
        "1\u{2028}",
        "expected nothing after the value at byte 1, found byte 0xe2",
    );
    refused(
        "1\0",
        "expected nothing after the value at byte 1, found byte 0x00",
    );
}

#[test]
fn a_text_is_one_value() {
    refused("", "expected a value at byte 0, found the end");
    refused(" \n", "expected a value at byte 2, found the end");
    refused(
        "1 2",
        "expected nothing after the value at byte 2, found `2`",
    );
    refused(
        "{}{}",
        "expected nothing after the value at byte 2, found `{`",
    );
    refused(
        "{}\n{}",
        "expected nothing after the value at byte 3, found `{`",
    );
    refused(
        "[]]",
        "expected nothing after the value at byte 2, found `]`",
    );
    refused(
        "1,",
        "expected nothing after the value at byte 1, found `,`",
    );
    refused(
        "null}",
        "expected nothing after the value at byte 4, found `}`",
    );
}

#[test]
fn arrays_have_a_comma_between_items_and_nowhere_else() {
    refused(
        "[",
        "expected a value or `]` after `[` at byte 1, found the end",
    );
    refused(
        "[,1]",
        "expected a value or `]` after `[` at byte 1, found `,`",
    );
    refused(
        "[1",
        "expected a comma or `]` in an array at byte 2, found the end",
    );
    refused(
        "[1 2]",
        "expected a comma or `]` in an array at byte 3, found `2`",
    );
    refused(
        "[1;2]",
        "expected a comma or `]` in an array at byte 2, found `;`",
    );
    refused(
        "[1}",
        "expected a comma or `]` in an array at byte 2, found `}`",
    );
    refused(
        "[1,",
        "expected a value after a comma in an array at byte 3, found the end",
    );
    refused(
        "[1,]",
        "expected a value after a comma in an array at byte 3, found `]`",
    );
    refused(
        "[1,,2]",
        "expected a value after a comma in an array at byte 3, found `,`",
    );
    refused(
        "[\"a\":1]",
        "expected a comma or `]` in an array at byte 4, found `:`",
    );
    refused("]", "expected a value at byte 0, found `]`");
    refused(
        "[}",
        "expected a value or `]` after `[` at byte 1, found `}`",
    );
    refused(
        "[[1]",
        "expected a comma or `]` in an array at byte 4, found the end",
    );
}

#[test]
fn objects_have_names_colons_and_commas() {
    refused(
        "{",
        "expected a quoted name or `}` after `{` at byte 1, found the end",
    );
    refused(
        "{,}",
        "expected a quoted name or `}` after `{` at byte 1, found `,`",
    );
    refused(
        "{a:1}",
        "expected a quoted name or `}` after `{` at byte 1, found `a`",
    );
    refused(
        "{'a':1}",
        "expected a quoted name or `}` after `{` at byte 1, found `'`",
    );
    refused(
        "{1:1}",
        "expected a quoted name or `}` after `{` at byte 1, found `1`",
    );
    refused(
        "{]",
        "expected a quoted name or `}` after `{` at byte 1, found `]`",
    );
    refused(
        "{\"a\"",
        "expected a colon after a name at byte 4, found the end",
    );
    refused(
        "{\"a\" 1}",
        "expected a colon after a name at byte 5, found `1`",
    );
    refused(
        "{\"a\",1}",
        "expected a colon after a name at byte 4, found `,`",
    );
    refused(
        "{\"a\"}",
        "expected a colon after a name at byte 4, found `}`",
    );
    refused(
        "{\"a\" \"b\":1}",
        "expected a colon after a name at byte 5, found `\"`",
    );
    refused(
        "{\"a\":",
        "expected a value after a colon at byte 5, found the end",
    );
    refused(
        "{\"a\":}",
        "expected a value after a colon at byte 5, found `}`",
    );
    refused(
        "{\"a\"::1}",
        "expected a value after a colon at byte 5, found `:`",
    );
    refused(
        "{\"a\":1",
        "expected a comma or `}` in an object at byte 6, found the end",
    );
    refused(
        "{\"a\":1 \"b\":2}",
        "expected a comma or `}` in an object at byte 7, found `\"`",
    );
    refused(
        "{\"a\":1]",
        "expected a comma or `}` in an object at byte 6, found `]`",
    );
    refused(
        "{\"a\":1,",
        "expected a quoted name after a comma in an object at byte 7, found the end",
    );
    refused(
        "{\"a\":1,}",
        "expected a quoted name after a comma in an object at byte 7, found `}`",
    );
    refused(
        "{\"a\":1,,\"b\":2}",
        "expected a quoted name after a comma in an object at byte 7, found `,`",
    );
    refused(
        "{\"a\":1,b:2}",
        "expected a quoted name after a comma in an object at byte 7, found `b`",
    );
}

#[test]
fn words_are_whole_and_lower_case() {
    refused("tru", "expected `true` at byte 3, found the end");
    refused("[truth]", "expected `true` at byte 4, found `t`");
    refused("[fals]", "expected `false` at byte 5, found `]`");
    refused("nul", "expected `null` at byte 3, found the end");
    refused("nill", "expected `null` at byte 1, found `i`");
    refused("True", "expected a value at byte 0, found `T`");
    refused(
        "[NULL]",
        "expected a value or `]` after `[` at byte 1, found `N`",
    );
    refused(
        "truefalse",
        "expected nothing after the value at byte 4, found `f`",
    );
    refused(
        "[true1]",
        "expected a comma or `]` in an array at byte 5, found `1`",
    );
    refused("undefined", "expected a value at byte 0, found `u`");
}

#[test]
fn extensions_are_refused() {
    refused("// c\n1", "expected a value at byte 0, found `/`");
    refused(
        "[1/* c */]",
        "expected a comma or `]` in an array at byte 2, found `/`",
    );
    refused("#1", "expected a value at byte 0, found `#`");
    refused("'a'", "expected a value at byte 0, found `'`");
    refused(
        "[NaN]",
        "expected a value or `]` after `[` at byte 1, found `N`",
    );
    refused(
        "-Infinity",
        "expected a digit after `-` at byte 1, found `I`",
    );
}

#[test]
fn one_byte_order_mark_may_stand_before_the_text() {
    check("\u{feff}{}", "{ }", "{}");
    check("\u{feff} [1]", "[ 1 ]", "[1]");
    refused("\u{feff}", "expected a value at byte 3, found the end");
    refused(
        "\u{feff}\u{feff}1",
        "expected a value at byte 3, found byte 0xef",
    );
    refused(" \u{feff}1", "expected a value at byte 1, found byte 0xef");
    refused(
        "1\u{feff}",
        "expected nothing after the value at byte 1, found byte 0xef",
    );
    refused(b"\xef\xbb1", "expected a value at byte 0, found byte 0xef");
}

#[test]
fn utf_16_is_refused() {
    refused(
        b"\xff\xfe[\0]\0",
        "expected a value at byte 0, found byte 0xff",
    );
    refused(b"\0[\0]", "expected a value at byte 0, found byte 0x00");
    refused(
        b"[\0]\0",
        "expected a value or `]` after `[` at byte 1, found byte 0x00",
    );
}
