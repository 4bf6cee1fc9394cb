//! One object in prose.
use zcoder::json::{Cause, Error, Found, find_object};

const ALL: usize = usize::MAX;

/// `text` has the object between `«` and `»`; cut or limited anywhere before its end it is not found.
#[track_caller]
fn one(text: &str) {
    let start = text.find('«').expect("a mark");
    let end = text.find('»').expect("a mark") - '«'.len_utf8();
    let text = text.replace(['«', '»'], "").into_bytes();
    assert_eq!(find_object(&text, ALL), Found::One(start..end));
    assert_eq!(find_object(&text, end), Found::One(start..end));
    for cut in 0..end {
        let expected = if cut > start { Found::Cut } else { Found::None };
        assert_eq!(find_object(&text[..cut], ALL), expected, "cut at {cut}");
        assert_eq!(find_object(&text, cut), expected, "limit {cut}");
    }
}

#[track_caller]
fn finds(text: &str, expected: Found) {
    assert_eq!(find_object(text.as_bytes(), ALL), expected);
}

#[test]
fn one_object_is_found_in_prose_and_fences() {
    one(r#"«{"name":"ls"}»"#);
    one(
        "I will look.\n«{\"name\": \"ls\", \"arguments\": {\"path\": \"a}b\", \"x\": [{}]}}» Then more.",
    );
    one("```json\n«{\n  \"a\" : 1\n}»\n```\n");
    one(r#"a } b ] "quoted" «{"a":"{\"b\":1}"}» end"#);
    one("日本 «{\"a\":\"日本\"}» 日本");
}

#[test]
fn braces_in_prose_begin_nothing() {
    finds("", Found::None);
    finds("no brace", Found::None);
    finds("fn main() { println!(\"{}\", x); }", Found::None);
    finds("{a: 1} {'b': 2} {{ x }} { } {}", Found::None);
    finds("{\"just a string\"}", Found::None);
    finds("} ] :", Found::None);
    finds("use {x} and {\"a\":1}", Found::One(12..19));
    finds("{{\"a\":1}}", Found::One(1..8));
    finds("{} {\"a\":{}} {}", Found::One(3..11));
}

#[test]
fn two_objects_are_refused() {
    finds(r#"{"a":1}{"b":2}"#, Found::Several);
    finds(r#"{"a":1} or {"a":1}"#, Found::Several);
    finds(r#"{"a":1} {"b":2} {"#, Found::Several);
}

#[test]
fn one_object_and_the_beginning_of_another_is_a_cut() {
    finds(r#"{"a":1} {"b":"#, Found::Cut);
    finds(r#"{"a":1} {"#, Found::Cut);
}

#[test]
fn an_inner_object_is_never_taken_for_a_broken_or_cut_outer_one() {
    finds(r#"{"a":{"b":1}"#, Found::Cut);
    let broken = |cause, found, offset| {
        Found::Broken(Error {
            cause,
            found: Some(found),
            offset,
        })
    };
    finds(
        r#"x {"a":{"b":1} y}"#,
        broken(Cause::CommaOrObjectEnd, b'y', 15),
    );
    finds(
        "{\"a\":\"line\n{\\\"b\\\":1}\"} {\"c\":1}",
        broken(Cause::RawControl, b'\n', 10),
    );
    finds(r#"{"a":1} {"b":x}"#, broken(Cause::MemberValue, b'x', 13));
    let deep = format!("{{\"a\":{}1{}}}", "[".repeat(128), "]".repeat(128));
    finds(&deep, broken(Cause::Depth, b'[', 132));
}

#[test]
fn a_limit_hides_what_lies_behind_it() {
    let text = br#"{"a":1} {"b":2}"#;
    assert_eq!(find_object(text, 8), Found::One(0..7));
    assert_eq!(find_object(text, 9), Found::Cut);
    assert_eq!(find_object(text, 0), Found::None);
}

#[test]
fn work_is_linear_in_the_text() {
    // Quadratic attempts would take minutes here.
    let braces = "{".repeat(4_000_000);
    finds(&braces, Found::Cut);
    let names = "{\"a\" ".repeat(1_000_000);
    finds(&names, Found::Cut);
    let quotes = "{\"".repeat(2_000_000);
    finds(&quotes, Found::Cut);
}
