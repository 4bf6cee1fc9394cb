//! The machines against each other, on random patterns and texts: the same spans whatever finds them.
use super::generate::{pattern, text};
use super::{LINES, TEXT, spans};
use crate::support::cuts::Rng;
use zcoder::regex::{Cache, Options, Regex};

/// The options a round number stands for.
fn options(round: usize) -> Options {
    Options {
        ignore_case: round % 5 == 0,
        ..if round % 2 == 0 { TEXT } else { LINES }
    }
}

#[test]
fn the_automaton_finds_what_the_pike_vm_finds() {
    let mut rng = Rng::new(7);
    let mut cache = Cache::default();
    for round in 0..3000 {
        let pattern = pattern(&mut rng);
        let regex = match Regex::new(&pattern, options(round)) {
            Ok(regex) => regex,
            Err(error) => panic!("{}", error.shown(&pattern)),
        };
        for longest in [4, 12, 60] {
            let text = text(&mut rng, longest);
            // The comparison is in there, for every place a search goes on from.
            spans(&regex, &mut cache, &text);
        }
    }
}

#[test]
fn many_words_are_found_as_few_are() {
    let mut rng = Rng::new(11);
    let mut cache = Cache::default();
    for round in 0..60 {
        let word = |rng: &mut Rng| -> String {
            let letters = ["a", "b", "A", "é", "k", "ſ", "_", "ab"];
            (0..1 + rng.below(6))
                .map(|_| letters[rng.below(8)])
                .collect()
        };
        let words: Vec<String> = (0..rng.below(150)).map(|_| word(&mut rng)).collect();
        let pattern = format!("{}{}", words.join("|"), ["", "|x+", "|_y?"][round % 3]);
        let regex = Regex::new(&pattern, options(round)).expect("a pattern that parses");
        let text: Vec<String> = (0..30).map(|_| word(&mut rng)).collect();
        spans(&regex, &mut cache, text.join(" \n").as_bytes());
    }
}

#[test]
fn a_search_may_begin_anywhere() {
    let mut rng = Rng::new(8);
    let mut cache = Cache::default();
    for round in 0..600 {
        let pattern = pattern(&mut rng);
        let regex = Regex::new(&pattern, options(round)).expect("a pattern that parses");
        let text = text(&mut rng, 12);
        // Inside of a character, and behind the end, as well.
        for start in 0..text.len() + 2 {
            let expected = regex.find_slowly(&text, start);
            let found = regex.find_at(&mut cache, &text, start);
            assert_eq!(found, expected, "{pattern} in {text:?} from {start}");
        }
    }
}

#[test]
fn with_lines_a_buffer_is_its_lines_one_by_one() {
    let mut rng = Rng::new(9);
    let mut cache = Cache::default();
    for round in 0..1500 {
        let pattern = pattern(&mut rng);
        let regex = Regex::new(&pattern, options(2 * round + 1)).expect("a pattern that parses");
        let text = text(&mut rng, 30);
        let mut expected = Vec::new();
        let mut start = 0;
        for line in text.split_inclusive(|&b| b == b'\n') {
            // An empty line needs its end to be one.
            for span in spans(&regex, &mut cache, line) {
                expected.push(start + span.start..start + span.end);
            }
            start += line.len();
        }
        assert_eq!(
            spans(&regex, &mut cache, &text),
            expected,
            "{pattern} in {text:?}"
        );
    }
}

#[test]
fn a_literal_is_its_escaped_pattern() {
    let mut rng = Rng::new(10);
    let mut cache = Cache::default();
    for round in 0..500 {
        // A pattern is full of characters that mean something.
        let literal = pattern(&mut rng);
        let mut escaped = String::new();
        for c in literal.chars() {
            if c.is_ascii_punctuation() {
                escaped += &format!("\\x{:02x}", u32::from(c));
            } else {
                escaped.push(c);
            }
        }
        let regex = Regex::literal(&literal, options(round)).expect("a literal");
        let same = Regex::new(&escaped, options(round)).expect("a pattern that parses");
        let mut text = text(&mut rng, 6);
        text.extend_from_slice(literal.as_bytes());
        text.extend_from_slice(b" and more");
        assert_eq!(
            spans(&regex, &mut cache, &text),
            spans(&same, &mut cache, &text),
            "{literal}"
        );
        assert!(regex.is_match(&mut cache, &text));
    }
}
