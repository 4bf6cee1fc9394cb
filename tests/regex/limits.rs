//! Both sides of each limit, and patterns that would take for ever where time is not linear.
use super::{LINES, TEXT, spans};
use std::ops::Range;
use zcoder::regex::{
    Cache, MAX_BOUND, MAX_INSTRUCTIONS, MAX_NESTING, MAX_PATTERN_BYTES, Options, Regex,
};

#[track_caller]
fn accepted(pattern: &str) {
    if let Err(error) = Regex::new(pattern, TEXT) {
        panic!("{error}");
    }
}

#[track_caller]
fn refused(pattern: &str, expected: &str) {
    let error = Regex::new(pattern, TEXT).expect_err("refused");
    assert_eq!(error.to_string(), expected);
}

#[test]
fn a_pattern_has_a_greatest_length() {
    assert_eq!(MAX_PATTERN_BYTES, 65536);
    let comment = |length: usize| format!("(?x)a#{}", "é".repeat((length - 6) / 2));
    accepted(&comment(65536));
    refused(
        &comment(65538),
        "byte 65536: a pattern of more than 65,536 bytes",
    );
    let mut odd = comment(65536);
    odd.insert(6, 'e');
    refused(&odd, "byte 65535: a pattern of more than 65,536 bytes");
    let literal = Regex::literal(&"é".repeat(32769), TEXT).expect_err("refused");
    assert_eq!(
        literal.to_string(),
        "byte 65536: a pattern of more than 65,536 bytes"
    );
}

#[test]
fn nesting_has_a_limit() {
    assert_eq!(MAX_NESTING, 128);
    let groups = |depth| format!("{}a{}", "(".repeat(depth), ")".repeat(depth));
    accepted(&groups(128));
    let too_deep = "more than 128 levels of nesting";
    refused(&groups(129), &format!("byte 128: {too_deep}"));
    let brackets = |depth| format!("{}a{}", "[".repeat(depth), "]".repeat(depth));
    accepted(&brackets(128));
    refused(&brackets(129), &format!("byte 128: {too_deep}"));
    let operators = |depth| format!("a{}", "*".repeat(depth));
    accepted(&operators(128));
    refused(&operators(129), &format!("byte 129: {too_deep}"));
    // Together they count together.
    let both = |depth| format!("{}a{}", "(".repeat(depth), ")*".repeat(depth));
    accepted(&both(64));
    refused(&both(65), &format!("byte 195: {too_deep}"));
}

#[test]
fn a_program_has_a_greatest_size() {
    assert_eq!(MAX_INSTRUCTIONS, 32768);
    let too_big = "a pattern of more than 32,768 instructions";
    accepted(&"a".repeat(32767));
    refused(&"a".repeat(32768), &format!("byte 32767: {too_big}"));
    let literal = |length: usize| Regex::literal(&"a".repeat(length), TEXT);
    assert!(literal(32767).is_ok());
    let error = literal(32768).expect_err("refused");
    assert_eq!(error.to_string(), format!("byte 32767: {too_big}"));
    accepted("(?:a{1000}){16}");
    refused("(?:a{1000}){17}", &format!("byte 11: {too_big}"));
    refused(
        "x(?:(?:(?:a{999}){999}){999}){999}",
        &format!("byte 17: {too_big}"),
    );
    // What reads nothing is repeated as little.
    refused(
        "(?:(?:(?:){999}){999}){999}",
        &format!("byte 16: {too_big}"),
    );
    let words = |count: usize| vec!["ab"; count].join("|");
    accepted(&words(6000));
    refused(&words(12000), &format!("byte 19661: {too_big}"));
}

#[test]
fn a_bound_has_a_limit() {
    assert_eq!(MAX_BOUND, 1000);
    accepted("a{1000}b{0,1000}");
    refused("a{1001}", "byte 1: a bound above 1000");
    refused("ab{1,1001}", "byte 2: a bound above 1000");
    refused("a{99999999999999999999,}", "byte 1: a bound above 1000");
}

/// Finds by both machines; the reference gets the last `slow` bytes of the text.
#[track_caller]
fn finds(pattern: &str, text: &str, slow: usize, expected: Option<Range<usize>>) {
    let mut cache = Cache::default();
    for options in [TEXT, LINES] {
        let regex = Regex::new(pattern, options).expect("a pattern that parses");
        assert_eq!(regex.find_at(&mut cache, text.as_bytes(), 0), expected);
        let tail = &text.as_bytes()[text.len().saturating_sub(slow)..];
        assert_eq!(
            regex.find_slowly(tail, 0),
            regex.find_at(&mut cache, tail, 0)
        );
    }
}

#[test]
fn no_pattern_makes_a_search_take_for_ever() {
    let text = "a".repeat(200_000);
    for pattern in [
        "(a*)*b",
        "(a+)+b",
        "(a|a)*b",
        "(a|aa)+$b",
        "((a*)*)*b",
        "(a?){50}b",
        "(.*)(.*)(.*)(.*)(.*)b",
        "(?:a{0,30}){0,30}b",
        r"(\w+\s?)+!",
        "(a|b|ab)*c",
        "^(a+)*$b",
        "(x+x+)+y",
        "a*a*a*a*a*a*b",
        "(?:a+){10}(?:a+){10}b",
    ] {
        finds(pattern, &text, 3000, None);
    }
    let n = 60;
    finds(&format!("a{{0,{n}}}a{{{n}}}"), &text, 3000, Some(0..2 * n));
    let nested = format!("{}a{}b", "(".repeat(60), "*)".repeat(60));
    finds(&nested, &text, 3000, None);
    let long = "a?".repeat(200) + &"a".repeat(200);
    finds(&long, &text, 1000, Some(0..400));
}

#[test]
fn candidates_side_by_side_take_no_longer() {
    // Each is the begin of what goes on to the end: searches from each of them would be quadratic.
    let mut text = "foo(".repeat(50_000);
    finds("foo.*b", &text, 4000, None);
    finds("(?:foo|bar).*b", &text, 4000, None);
    finds("[fb].*z", &text, 4000, None);
    finds("o.*foo.*b", &text, 4000, None);
    text.push('b');
    finds("foo.*b", &text, 4000, Some(0..200_001));
    finds(".*foo.b", &text, 4000, Some(0..200_001));
    finds("[a-z]+\\(b", &text, 4000, Some(199_996..200_001));
}

#[test]
fn a_cache_serves_one_expression_after_the_other() {
    let mut cache = Cache::default();
    let patterns = ["[ab]+c", "[bc]+a", r"\w+\s", "[ab]+c"];
    for (round, expected) in [0..3, 1..4, 0..6, 0..3].into_iter().enumerate() {
        let regex = Regex::new(patterns[round], TEXT).expect("a pattern that parses");
        assert_eq!(
            regex.find_at(&mut cache, b"abcac x", 0),
            Some(expected.clone())
        );
        let same = regex.clone();
        assert_eq!(same.find_at(&mut cache, b"abcac x", 0), Some(expected));
    }
}

#[test]
fn long_texts_are_cut_nowhere() {
    // The match lies across every place where a block of a kernel ends.
    let any_case = Options {
        ignore_case: true,
        ..LINES
    };
    for (pattern, options, found) in [
        ("needle", LINES, "needle"),
        ("needle", any_case, "NeeDle"),
        ("needle|thread", LINES, "thread"),
        ("[0-9]+x", LINES, "123x"),
        (r"\w+_init\(void\)", LINES, "some_init(void)"),
        ("é+ö", LINES, "ééö"),
    ] {
        let regex = Regex::new(pattern, options).expect("a pattern that parses");
        let mut cache = Cache::default();
        for before in 0..140 {
            for behind in [0, 1, 31, 70] {
                let text = format!("{}{found}{}", " ".repeat(before), "-".repeat(behind));
                let span = before..before + found.len();
                assert_eq!(spans(&regex, &mut cache, text.as_bytes()), [span]);
            }
        }
    }
}
