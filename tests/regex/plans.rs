//! How an expression is searched for, and its program: what `Debug` shows.
use super::{LINES, TEXT};
use zcoder::regex::{Options, Regex};

#[track_caller]
fn plan(options: Options, pattern: &str, expected: &str) {
    let regex = Regex::new(pattern, options).expect("a pattern that parses");
    let shown = format!("{regex:?}");
    assert_eq!(shown.lines().next(), Some(expected));
}

#[test]
fn words_are_read_off_the_pattern() {
    plan(LINES, "foo", "is foo");
    plan(LINES, "foo|bar|ba[xz]", "is foo, bar, bax, baz");
    plan(LINES, "(a|ab)(c|bcd)", "is ac, abcd, abc, abbcd");
    plan(LINES, "colou?r", "is colour, color");
    plan(LINES, "colou??r", "is color, colour");
    plan(LINES, "(?:ab){3}", "is ababab");
    plan(LINES, "é", r"is \xc3\xa9");
    plan(LINES, r"fn\s+\w+", "begins with fn");
    plan(LINES, r"^use\b", "begins with use");
    plan(LINES, "(?:todo|fixme).*x", "begins with todo, fixme");
    plan(LINES, "ab{2,}c", "begins with abb");
    plan(LINES, r"\w+_init\(void\)", "lines with _init(void)");
    plan(LINES, r"\w+\s(?:foo|bar)+", "lines with foo, bar");
    plan(LINES, r"(?:[a-z]+xyz|\d+_q)!", "lines with xyz, _q");
    plan(
        LINES,
        "[0-9]{2}:[0-9]",
        "lines with :0, :1, :2, :3, :4, :5, :6, :7, :8, :9",
    );
    plan(LINES, "[QJ@]+[a-z]", "begins with one of 3 bytes");
    plan(LINES, "[QJ@]*[K<|!]", "begins with one of 7 bytes");
    plan(LINES, "[a-z]+", "automaton alone");
    plan(LINES, r"\w*", "automaton alone");
    plan(LINES, "", "automaton alone");
    plan(LINES, "x*", "automaton alone");
    plan(LINES, r"\)\s*\{$", "lines with {");
    // A line is only known where lines are all there is.
    plan(TEXT, r"\w+_init\(void\)", "automaton alone");
    plan(TEXT, "foo", "is foo");
    let any_case = Options {
        ignore_case: true,
        ..LINES
    };
    plan(any_case, "k9", r"is K9, k9, \xe2\x84\xaa9");
    plan(any_case, "ab1", "is AB1, Ab1, aB1, ab1");
    // Six letters in both cases are as many words as are looked for at once.
    let mut words = vec![String::new()];
    for c in "abcdef".chars() {
        let upper = c.to_ascii_uppercase();
        let both = |word: &String| [format!("{word}{upper}"), format!("{word}{c}")];
        words = words.iter().flat_map(both).collect();
    }
    let expected = format!("begins with {}", words.join(", "));
    plan(any_case, "abcdefgh", &expected);
    // Of more words than that only the first bytes are kept, once each.
    plan(
        any_case,
        "[ax]bcdef1|[ax]bcdef2",
        "begins with ABCD, ABCd, ABcD, ABcd, AbCD, AbCd, AbcD, Abcd, XBCD, XBCd, XBcD, XBcd, XbCD, XbCd, XbcD, Xbcd, \
         aBCD, aBCd, aBcD, aBcd, abCD, abCd, abcD, abcd, xBCD, xBCd, xBcD, xBcd, xbCD, xbCd, xbcD, xbcd",
    );
    let numbers: Vec<String> = (100..200).map(|n| n.to_string()).collect();
    let expected = "begins with 10, 11, 12, 13, 14, 15, 16, 17, 18, 19";
    plan(LINES, &numbers.join("|"), expected);
    let numbers: Vec<String> = (1000..9999).map(|n| n.to_string()).collect();
    let tens: Vec<String> = (10..40).map(|n| n.to_string()).collect();
    let expected = format!("begins with {}", tens.join(", "));
    plan(LINES, &numbers[..3000].join("|"), &expected);
}

#[test]
fn a_program_can_be_read() {
    let regex = Regex::new(r"ab*?|\bc{2,3}[^d\d]", TEXT).expect("a pattern that parses");
    let expected = r"begins with one of 2 bytes
  0  split 1 6
  1  char 'a'
  2  split 5 3
  3  char 'b'
  4  jump 2
  5  jump 12
  6  look Boundary
  7  char 'c'
  8  char 'c'
  9  split 10 11
 10  char 'c'
 11  class [^[[\p{Digit}][d]]]
 12  match
";
    assert_eq!(format!("{regex:?}"), expected);
    let regex = Regex::new("(?i)[a-c&&[^b]](?:x|)+", TEXT).expect("a pattern that parses");
    let expected = r"begins with one of 4 bytes
  0  class [[(?i)a-cABC]&&[^[(?i)bB]]]
  1  split 2 4
  2  class [(?i)xX]
  3  jump 4
  4  split 1 5
  5  match
";
    assert_eq!(format!("{regex:?}"), expected);
}
