//! Characters: what is one, what std says about it, and what case does to it.
use super::{TEXT, spans};
use zcoder::regex::{Cache, Options, Regex};

/// The characters that a one-character pattern matches, of these.
#[track_caller]
fn matched(pattern: &str, options: Options, characters: &[char]) -> Vec<char> {
    let regex = Regex::new(pattern, options).expect("a pattern that parses");
    let mut cache = Cache::default();
    let text: String = characters.iter().collect();
    let mut matched = Vec::new();
    let mut at = 0;
    while let Some(found) = regex.find_at(&mut cache, text.as_bytes(), at) {
        at = found.end;
        matched.extend(text[found].chars());
    }
    matched
}

#[track_caller]
fn is_std(pattern: &str, holds: impl Fn(char) -> bool) {
    let characters: Vec<char> = ('\0'..'\u{3100}').chain('\u{1d400}'..'\u{1d900}').collect();
    let expected: Vec<char> = characters.iter().copied().filter(|&c| holds(c)).collect();
    assert_eq!(matched(pattern, TEXT, &characters), expected, "{pattern}");
}

#[test]
fn classes_are_what_std_says() {
    is_std(r"\w", |c| c.is_alphanumeric() || c == '_');
    is_std(r"\W", |c| !c.is_alphanumeric() && c != '_');
    is_std(r"\d", char::is_numeric);
    is_std(r"\s", char::is_whitespace);
    is_std(r"\pL", char::is_alphabetic);
    is_std(r"\p{Lu}", char::is_uppercase);
    is_std(r"\p{Ll}", char::is_lowercase);
    is_std(r"\p{Cc}", char::is_control);
    is_std(".", |c| c != '\n');
    is_std("(?s).", |_| true);
    is_std("[^é]", |c| c != 'é');
}

/// All characters that have a case.
fn cased() -> Vec<char> {
    let has_other = |c: &char| {
        let lower = c.to_lowercase().next() != Some(*c);
        lower || c.to_uppercase().next() != Some(*c) || c.is_lowercase() || c.is_uppercase()
    };
    ('\0'..=char::MAX).filter(has_other).collect()
}

#[test]
fn only_two_characters_beyond_ascii_are_letters_of_it() {
    let any_case = Options {
        ignore_case: true,
        ..TEXT
    };
    let beyond: Vec<char> = cased().into_iter().filter(|c| !c.is_ascii()).collect();
    assert_eq!(matched("[a-z]", any_case, &beyond), ['ſ', '\u{212a}']);
    assert_eq!(
        matched(r"[\x00-\x7f]", any_case, &beyond),
        ['ſ', '\u{212a}']
    );
}

#[test]
fn a_letter_matches_its_cases() {
    let any_case = Options {
        ignore_case: true,
        ..TEXT
    };
    let single = |mut cases: Box<dyn Iterator<Item = char>>| match (cases.next(), cases.next()) {
        (Some(c), None) => Some(c),
        _ => None,
    };
    // Every seventh is enough to see each alphabet, and quick.
    for c in cased().into_iter().step_by(7) {
        let regex = Regex::literal(&c.to_string(), any_case).expect("a literal");
        let lower = single(Box::new(c.to_lowercase()));
        let upper = single(Box::new(c.to_uppercase()));
        for other in [Some(c), lower, upper].into_iter().flatten() {
            // The exception is in `class.rs`.
            let expected = c != 'ı' || other == 'ı';
            let text = other.to_string();
            let found = regex.find_slowly(text.as_bytes(), 0);
            assert_eq!(found.is_some(), expected, "{c} and {other}");
        }
    }
}

#[test]
fn sequences_are_those_of_utf_8() {
    let regex = Regex::new(r"(?s)\A.\z", TEXT).expect("a pattern that parses");
    let mut cache = Cache::default();
    let edges = [0x00, 0x7f, 0x80, 0x8f, 0x90, 0x9f, 0xa0, 0xbf, 0xc0, 0xff];
    let mut check = |bytes: &[u8]| {
        let text = std::str::from_utf8(bytes);
        let expected = text.is_ok_and(|text| text.chars().count() == 1);
        assert_eq!(regex.is_match(&mut cache, bytes), expected, "{bytes:x?}");
    };
    for a in 0..=0xff {
        check(&[a]);
        for b in edges {
            check(&[a, b]);
            for c in edges {
                check(&[a, b, c]);
                if a >= 0xe0 {
                    edges.iter().for_each(|&d| check(&[a, b, c, d]));
                }
            }
        }
    }
}

#[test]
fn bytes_that_are_no_text_are_searched_around() {
    #[track_caller]
    fn check(pattern: &str, text: &[u8], expected: &[(usize, usize)]) {
        let regex = Regex::new(pattern, TEXT).expect("a pattern that parses");
        let spans = spans(&regex, &mut Cache::default(), text);
        let ends: Vec<(usize, usize)> = spans.iter().map(|s| (s.start, s.end)).collect();
        assert_eq!(ends, expected);
    }
    check("a.b", b"a\xffb axb", &[(4, 7)]);
    check("a[^c]b", b"a\xffb", &[]);
    check("(?s).+", b"ab\xffcd\xe6\x97", &[(0, 2), (3, 5)]);
    check(r"\W", b"\xff\xc3 \xc3", &[(2, 3)]);
    check(r"\b", b"\xffa\xff", &[(1, 1), (2, 2)]);
    check(r"\B", b"\xff\xff", &[(0, 0), (1, 1), (2, 2)]);
    check("foo", b"\xfffoo\xff\xffoo", &[(1, 4)]);
    check(
        "",
        b"\xe6\x97\xa5\xe6\x97",
        &[(0, 0), (3, 3), (4, 4), (5, 5)],
    );
    check("$", b"a\xff", &[(2, 2)]);
    check("日", b"\xe6\x97\xe6\x97\xa5", &[(2, 5)]);
    check("é*", b"\xc3\xc3\xa9\xa9", &[(0, 0), (1, 3), (4, 4)]);
}
