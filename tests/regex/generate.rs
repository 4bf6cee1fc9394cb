//! Random patterns and texts over a small alphabet, so that matches, near misses and odd combinations are common.
use crate::support::cuts::Rng;

/// A pattern that parses.
pub(crate) fn pattern(rng: &mut Rng) -> String {
    let mut out = String::new();
    if rng.below(8) == 0 {
        out += ["(?i)", "(?m)", "(?s)", "(?im)"][rng.below(4)];
    }
    alternation(rng, 3, &mut out);
    out
}

fn alternation(rng: &mut Rng, depth: usize, out: &mut String) {
    concat(rng, depth, out);
    while rng.below(3) == 0 {
        // Twice in a row: a branch that is empty.
        out.push_str(["|", "|", "|", "||"][rng.below(4)]);
        concat(rng, depth, out);
    }
}

fn concat(rng: &mut Rng, depth: usize, out: &mut String) {
    for _ in 0..rng.below(4) + usize::from(rng.below(8) > 0) {
        atom(rng, depth, out);
        if rng.below(3) == 0 {
            out.push_str(
                ["*", "+", "?", "{2}", "{1,3}", "{2,}", "{0}", "{0,2}", "{3}"][rng.below(9)],
            );
            if rng.below(3) == 0 {
                out.push('?');
            }
        }
    }
}

fn atom(rng: &mut Rng, depth: usize, out: &mut String) {
    match rng.below(14) {
        0..=4 => out.push_str(LITERALS[rng.below(LITERALS.len())]),
        5..=7 => out.push_str(SETS[rng.below(SETS.len())]),
        8..=9 => out.push_str(LOOKS[rng.below(LOOKS.len())]),
        _ if depth == 0 => out.push('a'),
        _ => {
            out.push_str(["(", "(?:", "(?i:", "(?s-i:", "(?m:"][rng.below(5)]);
            alternation(rng, depth - 1, out);
            out.push(')');
        }
    }
}

const LITERALS: &[&str] = &[
    "a", "b", "c", "ab", "abc", "foo", "bar_", "é", "日", "Z", "_", "-", r"\.", "k", "1", r"\x61",
    "сло",
];

const SETS: &[&str] = &[
    ".",
    "[ab]",
    "[a-c]",
    "[^a]",
    r"\w",
    r"\W",
    r"\d",
    r"\s",
    r"\S",
    "[é-ü]",
    "[^é\\n]",
    "[ab-]",
    r"[\w&&[^a]]",
    r"[\w--[0-9]]",
    "[[:alpha:]_]",
    r"[^\s]",
    "[а-я]",
    r"\D",
    "[kS]",
];

const LOOKS: &[&str] = &["^", "$", r"\b", r"\B", r"\A", r"\z", r"\<", r"\>"];

/// Up to `longest` pieces: mostly words of the patterns, sometimes bytes that are no text.
pub(crate) fn text(rng: &mut Rng, longest: usize) -> Vec<u8> {
    let mut text = Vec::new();
    for _ in 0..rng.below(longest + 1) {
        match rng.below(10) {
            0..=5 => text.extend_from_slice(VALID[rng.below(VALID.len())].as_bytes()),
            6 => text.push(b'\n'),
            7 => text.extend_from_slice(b"   "),
            8 => text.extend_from_slice(b"foobar_"),
            _ => text.extend_from_slice(INVALID[rng.below(INVALID.len())]),
        }
    }
    text
}

const VALID: &[&str] = &[
    "a",
    "b",
    "c",
    "aa",
    "ab",
    "abc",
    "foo",
    "bar_",
    "é",
    "日本",
    "Z",
    "_",
    "-",
    ".",
    "k",
    "K",
    "\u{212a}",
    "1",
    "A",
    "É",
    " ",
    "\r\n",
    "слово",
    "ſ",
];

const INVALID: &[&[u8]] = &[
    b"\xff",
    b"\xc3",
    b"\xe6\x97",
    b"\xa5",
    b"\xf0\x9f\x98",
    b"\xed\xa0\x80",
    b"\xc0\xaf",
    b"\xf4\x90\x80\x80",
    b"\0",
];
