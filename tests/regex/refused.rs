//! What is refused: the whole message, and the place.
use super::{LINES, TEXT};
use zcoder::regex::{Error, Options, Regex};

#[track_caller]
fn refused_with(options: Options, pattern: &str, expected: &str) {
    let error = Regex::new(pattern, options).expect_err("refused");
    assert_eq!(error.to_string(), expected);
    assert!(pattern.is_char_boundary(error.offset));
}

#[track_caller]
fn refused(pattern: &str, expected: &str) {
    refused_with(TEXT, pattern, expected);
    // Behind other things the place moves along.
    let moved = format!("日{pattern}");
    let error = Regex::new(pattern, TEXT).expect_err("refused");
    let offset = error.offset + 3;
    assert_eq!(
        Regex::new(&moved, TEXT).err(),
        Some(Error { offset, ..error })
    );
}

#[test]
fn every_cause_is_named_with_its_place() {
    let open = r"`(` without its `)`; for the character write `\(`";
    refused("(", &format!("byte 0: {open}"));
    refused("foo(bar", &format!("byte 3: {open}"));
    refused("a(b(c)", &format!("byte 1: {open}"));
    refused("(?i", &format!("byte 0: {open}"));
    refused("(?:a", &format!("byte 0: {open}"));
    let stray = r"`)` without its `(`; for the character write `\)`";
    refused("a)", &format!("byte 1: {stray}"));
    refused("(a))b", &format!("byte 3: {stray}"));
    let bracket = r"`[` without its `]`; for the character write `\[`";
    refused("a[", &format!("byte 1: {bracket}"));
    refused("[a", &format!("byte 0: {bracket}"));
    refused("[]", &format!("byte 0: {bracket}"));
    refused("[^]", &format!("byte 0: {bracket}"));
    refused("[a[b]", &format!("byte 0: {bracket}"));
    refused("[a-", &format!("byte 0: {bracket}"));
    refused("[[:alpha:]", &format!("byte 0: {bracket}"));
    refused(
        "a|*",
        r"byte 2: nothing before `*` to repeat; for the character write `\*`",
    );
    refused(
        "(+)",
        r"byte 1: nothing before `+` to repeat; for the character write `\+`",
    );
    refused(
        "|?",
        r"byte 1: nothing before `?` to repeat; for the character write `\?`",
    );
    refused(
        "({3})",
        r"byte 1: nothing before `{` to repeat; for the character write `\{`",
    );
    refused(
        "(?i)*",
        r"byte 4: nothing before `*` to repeat; for the character write `\*`",
    );
    refused("a{3,2}", "byte 1: the first bound is above the second");
    refused(
        r"a\",
        r"byte 1: a backslash at the end; for the character write `\\`",
    );
    refused(r"a\y", r"byte 1: unknown escape `\y`");
    refused(r"\é", r"byte 0: unknown escape `\é`");
    refused("\\\n", r"byte 0: unknown escape `\\n`");
    refused(r"\Q", r"byte 0: unknown escape `\Q`");
    refused(r"\Z", r"byte 0: unknown escape `\Z`");
    refused(r"[a\b]", r"byte 2: unknown escape `\b`");
    refused(r"[a-\B]", r"byte 3: unknown escape `\B`");
    refused(r"[\A]", r"byte 1: unknown escape `\A`");
    refused(r"(a)\1", "byte 3: back-references are not supported");
    refused(r"\0", "byte 0: back-references are not supported");
    refused(r"(?<n>a)\k<n>", "byte 7: back-references are not supported");
    refused(r"\g{1}", "byte 0: back-references are not supported");
    refused(
        "(?P<n>a)(?P=n)",
        "byte 8: back-references are not supported",
    );
    refused("a(?=b)", "byte 1: look-ahead is not supported");
    refused("a(?!b)", "byte 1: look-ahead is not supported");
    refused("(?<=a)b", "byte 0: look-behind is not supported");
    refused("(?<!a)b", "byte 0: look-behind is not supported");
    refused(
        "(?>a)",
        "byte 0: atomic groups are not supported; use `(?:`",
    );
    refused("(?iu)a", "byte 3: unknown flag `u`; known: i m s x");
    refused("(?U:a)", "byte 2: unknown flag `U`; known: i m s x");
    let group = "unknown kind of group; known: `(?:`, `(?<name>`, `(?P<name>`, `(?i)`, `(?i:`";
    for pattern in [
        "(?)", "(?#a)", "(?|a)", "(?R)", "(?1)", "(?P>a)", "(?i-)", "(?-)", "(?i--m)",
    ] {
        refused(pattern, &format!("byte 1: {group}"));
    }
    let name = "a group's name is a letter or `_`, then letters, digits and `_`";
    refused("(?<>a)", &format!("byte 3: {name}"));
    refused("(?<a-b>a)", &format!("byte 4: {name}"));
    refused("(?P<1>a)", &format!("byte 5: {name}"));
    refused("(?<a", &format!("byte 4: {name}"));
    refused("(?<a>a)(?<a>b)", "byte 10: two groups have this name");
    let digits = r"hexadecimal digits expected, as in `\x41`, `\u00e9`, `\x{1F600}`";
    refused(r"\x", &format!("byte 2: {digits}"));
    refused(r"\x4", &format!("byte 3: {digits}"));
    refused(r"\x4g", &format!("byte 3: {digits}"));
    refused(r"\u00e", &format!("byte 5: {digits}"));
    refused(r"\x{}", &format!("byte 3: {digits}"));
    refused(r"\x{41", &format!("byte 5: {digits}"));
    refused(r"\u{4 1}", &format!("byte 4: {digits}"));
    refused(r"\ud800", "byte 2: no character has this number");
    refused(r"\x{110000}", "byte 3: no character has this number");
    refused(
        r"\u{fffffffffffffffff}",
        "byte 3: no character has this number",
    );
    refused(
        "a[[:alpah:]]",
        "byte 2: unknown POSIX name; known: alnum alpha ascii blank cntrl digit graph lower print punct \
         space upper word xdigit",
    );
    let property =
        "unknown property; known: L Alphabetic Lu Uppercase Ll Lowercase N Cc White_Space";
    refused(r"\p{Greek}", &format!("byte 2: {property}"));
    refused(r"\pX", &format!("byte 2: {property}"));
    refused(r"\p", &format!("byte 2: {property}"));
    refused(r"\p{L", &format!("byte 2: {property}"));
    refused(r"[\P{^L}]", &format!("byte 3: {property}"));
    refused(
        "[z-a]",
        "byte 1: the range's first character is above its last",
    );
    refused(
        r"[a-\d]",
        r"byte 3: a range ends in a character; for a hyphen write `\-`",
    );
}

#[test]
fn a_line_feed_has_no_place_in_a_single_line() {
    let expected = "a line feed in a pattern for single lines never matches";
    for (pattern, offset) in [(r"a\nb", 1), ("a\nb", 1), (r"a\x0a", 1), (r"a[\n]", 1)] {
        refused_with(LINES, pattern, &format!("byte {offset}: {expected}"));
        assert!(Regex::new(pattern, TEXT).is_ok());
    }
    let literal = Regex::literal("a\nb", LINES).expect_err("refused");
    assert_eq!(literal.to_string(), format!("byte 1: {expected}"));
    for pattern in [r"[^\n]", r"[\s\n]", r"[\r\n]", "(?x)a\nb"] {
        assert!(Regex::new(pattern, LINES).is_ok(), "{pattern}");
    }
}

#[track_caller]
fn shown(pattern: &str, expected: &str) {
    let error = Regex::new(pattern, TEXT).expect_err("refused");
    assert_eq!(error.shown(pattern), expected);
}

#[test]
fn a_caret_stands_below_the_place() {
    let open = r"`(` without its `)`; for the character write `\(`";
    shown("foo(bar", &format!("foo(bar\n   ^ {open}"));
    shown("é(", &format!("é(\n ^ {open}"));
    shown("a\t\n(", &format!("a\u{fffd}\u{fffd}(\n   ^ {open}"));
    shown(
        r"ab\",
        "ab\\\n  ^ a backslash at the end; for the character write `\\\\`",
    );
    shown(
        r"a\x4",
        "a\\x4\n    ^ hexadecimal digits expected, as in `\\x41`, `\\u00e9`, `\\x{1F600}`",
    );
    let long = format!("{}({}", "a".repeat(100), "b".repeat(100));
    let line = format!("…{}({}…", "a".repeat(60), "b".repeat(59));
    shown(&long, &format!("{line}\n{}^ {open}", " ".repeat(61)));
    // Of another pattern the error says what it can.
    let error = Regex::new("abc(", TEXT).expect_err("refused");
    assert_eq!(error.shown("日"), format!("日\n ^ {open}"));
    assert_eq!(error.shown(""), format!("\n^ {open}"));
}
