//! Tests of `text`: UTF-8 over every cut, foreign text made harmless, and names compared.
use std::borrow::Cow;
use zcoder::text::{Utf8, clip, distance, holds, line, plain, repair, visible};

/// Decoded in pieces that end at `cuts`.
fn decode(bytes: &[u8], cuts: impl IntoIterator<Item = usize>) -> String {
    let mut decoder = Utf8::default();
    let mut out = String::new();
    let mut from = 0;
    for cut in cuts.into_iter().chain([bytes.len()]) {
        decoder.feed(&bytes[from..cut], &mut out);
        from = cut;
    }
    decoder.finish(&mut out);
    out
}

/// Whole, byte by byte, cut at every place and at every two places.
#[track_caller]
fn decodes(bytes: &[u8], expected: &str) {
    assert_eq!(repair(bytes), expected);
    assert_eq!(decode(bytes, []), expected);
    assert_eq!(decode(bytes, 0..bytes.len()), expected, "byte by byte");
    for first in 0..=bytes.len() {
        assert_eq!(decode(bytes, [first]), expected, "cut at {first}");
        for second in first..=bytes.len() {
            assert_eq!(
                decode(bytes, [first, second]),
                expected,
                "cut at {first} and {second}"
            );
        }
    }
}

#[test]
fn characters_survive_every_cut() {
    decodes(b"", "");
    decodes(b"plain", "plain");
    decodes("é€🦀aé".as_bytes(), "é€🦀aé");
    decodes(
        "\u{7f}\u{80}\u{7ff}\u{800}\u{ffff}\u{10000}\u{10ffff}\0".as_bytes(),
        "\u{7f}\u{80}\u{7ff}\u{800}\u{ffff}\u{10000}\u{10ffff}\0",
    );
}

#[test]
fn each_maximal_bad_part_is_one_replacement() {
    decodes(b"\x80", "\u{fffd}");
    decodes(b"\xff\xfe", "\u{fffd}\u{fffd}");
    decodes(b"a\xc3", "a\u{fffd}");
    decodes(b"\xc3(", "\u{fffd}(");
    decodes(b"\xe2\x82(", "\u{fffd}(");
    decodes(b"\xe2\x82", "\u{fffd}");
    decodes(b"\xf0\x9f\xa6", "\u{fffd}");
    decodes(b"\xf0\x9f\xa6\xf0\x9f\xa6\x80", "\u{fffd}🦀");
    decodes(b"\xe2\xe2\x82\xac", "\u{fffd}€");
    decodes(b"\xc0\xaf", "\u{fffd}\u{fffd}");
    decodes(b"\xed\xa0\x80", "\u{fffd}\u{fffd}\u{fffd}");
    decodes(b"\xf4\x90\x80\x80", "\u{fffd}\u{fffd}\u{fffd}\u{fffd}");
    decodes(b"\xf0\x80\x80", "\u{fffd}\u{fffd}\u{fffd}");
    decodes(b"\xe2\x82\xe2", "\u{fffd}\u{fffd}");
}

#[test]
fn every_pair_and_many_triples_of_bytes_decode_as_std_does() {
    let edges = [
        0x00, 0x41, 0x7f, 0x80, 0x8f, 0x90, 0x9f, 0xa0, 0xbf, 0xc0, 0xc1, 0xc2, 0xdf, 0xe0, 0xe1,
        0xed, 0xef, 0xf0, 0xf1, 0xf4, 0xf5, 0xff,
    ];
    for a in edges {
        for b in edges {
            for c in edges {
                let bytes = [a, b, c, b'z'];
                let expected = String::from_utf8_lossy(&bytes);
                for cut in 0..4 {
                    assert_eq!(decode(&bytes, [cut]), expected, "{bytes:x?} cut at {cut}");
                }
            }
        }
    }
}

#[test]
fn a_decoder_holds_back_only_what_is_undecided_and_starts_afresh_after_the_end() {
    let mut decoder = Utf8::default();
    let mut out = String::new();
    decoder.feed(b"a\xe2\x82", &mut out);
    assert_eq!(out, "a");
    decoder.feed(b"\xacb\xf0", &mut out);
    assert_eq!(out, "a€b");
    decoder.finish(&mut out);
    assert_eq!(out, "a€b\u{fffd}");
    decoder.feed(b"c", &mut out);
    decoder.finish(&mut out);
    assert_eq!(out, "a€b\u{fffd}c");
}

#[track_caller]
fn is_plain(text: &str, expected: &str) {
    assert_eq!(plain(text), expected);
    assert_eq!(
        plain(expected),
        expected,
        "harmless text is not changed again"
    );
}

#[track_caller]
fn stays(text: &str) {
    assert!(matches!(plain(text), Cow::Borrowed(same) if same == text));
    assert!(matches!(visible(text), Cow::Borrowed(same) if same == text));
    assert!(matches!(line(text), Cow::Borrowed(same) if same == text));
}

#[test]
fn ordinary_text_is_given_back_without_a_copy() {
    stays("");
    stays("plain ASCII text, ~ included");
    stays(&"long ".repeat(100));
    stays("日本 naïve 🦀 – עברית العربية");
    assert!(matches!(plain("a\tb\nc"), Cow::Borrowed(_)));
    assert!(matches!(visible("a\nb"), Cow::Borrowed(_)));
}

#[test]
fn escape_sequences_are_dropped() {
    is_plain("\x1b[31mred\x1b[0m", "red");
    is_plain(
        "a\x1b[1;2;38:5:1mb\x1b[?25lc\x1b[>0qd\x1b[2 qe\x1b[!pf",
        "abcdef",
    );
    is_plain("a\x1b[2Jb\x1b[10;20Hc\x1b[200~d", "abcd");
    is_plain("a\x1b7b\x1b8c\x1bcd\x1b=e\x1bMf", "abcdef");
    is_plain("a\x1b(Bb\x1b)0c\x1b#8d\x1b %Ge\x1b([f", "abcdef");
    is_plain("a\x1b]0;title\x07b", "ab");
    is_plain("a\x1b]8;;http://x\x1b\\link\x1b]8;;\x1b\\b", "alinkb");
    is_plain(
        "a\x1bP1$r0m\x1b\\b\x1b_Gq=1\x1b\\c\x1b^pm\x1b\\d\x1bXsos\x1b\\e",
        "abcde",
    );
    is_plain("a\x1b]52;c;ZXZpbA==\x07b", "ab");
    is_plain("\x1b\x1b[31mred", "red");
    is_plain("\x1bOPx", "Px");
}

#[test]
fn c1_characters_are_the_same_sequences() {
    is_plain("a\u{9b}31mb", "ab");
    is_plain("a\u{9d}0;title\u{9c}b", "ab");
    is_plain(
        "a\u{90}q\u{9c}b\u{98}q\u{9c}c\u{9e}q\x1b\\d\u{9f}q\x07e",
        "abcde",
    );
    is_plain("a\u{85}b\u{84}c\u{80}d\u{9c}e", "abcde");
}

#[test]
fn unfinished_sequences_hide_nothing_behind_their_line() {
    is_plain("a\x1b", "a");
    is_plain("a\x1b[", "a");
    is_plain("a\x1b[12;3", "a");
    is_plain("a\x1b(", "a");
    is_plain("a\x1b]0;title", "a");
    is_plain("a\x1b]0;title\x1b", "a");
    is_plain("a\x1b]0;evil\nb\nc", "a\nb\nc");
    is_plain("a\x1bPevil\nb", "a\nb");
    is_plain("a\x1b_evil\nb", "a\nb");
    is_plain("a\x1b^evil\nb", "a\nb");
    is_plain("a\x1bXevil\nb", "a\nb");
    is_plain("a\u{9d}evil\nb", "a\nb");
    is_plain("a\x1b[12\nb", "a\nb");
    is_plain("a\x1b\nb", "a\nb");
}

#[test]
fn what_does_not_belong_to_a_sequence_aborts_it() {
    is_plain("a\x1bé", "aé");
    is_plain("a\x1b[1é", "aé");
    is_plain("a\x1b[1\x1b[31mb", "ab");
    is_plain("a\x1b]x\x1b[31mb", "ab");
    is_plain("a\x1b]x\x18b", "ab");
    is_plain("a\x1b[1\x1ab", "ab");
    is_plain("a\x1b]x\x1b]y\x07b", "ab");
    is_plain("a\x1b]x\x1b\x1b\\b", "ab");
}

#[test]
fn other_controls_are_removed() {
    let controls: String = (0..0x20u8)
        .filter(|b| !b"\n\t\r\x1b".contains(b))
        .map(char::from)
        .collect();
    is_plain(&format!("a{controls}b\x7fc"), "abc");
    is_plain("a\tb\nc\x0bd\x0ce\x08f", "a\tb\ncdef");
}

#[test]
fn a_carriage_return_overwrites_its_line_and_no_other() {
    is_plain("a\r\nb\r\n", "a\nb\n");
    is_plain("10 %\r50 %\r100 %\n", "100 %\n");
    is_plain("kept\n10 %\r100 %", "kept\n100 %");
    is_plain("50 %\r", "50 %");
    is_plain("a\r\r\nb", "a\nb");
    is_plain("a\r\x1b[Kb", "b");
    is_plain("a\r\x1b[0m\nb", "a\nb");
    is_plain("\rb", "b");
    is_plain("日本\rb\r\n", "b\n");
}

#[test]
fn characters_that_deceive_are_shown() {
    is_plain("a\u{202e}b", "a\\u{202e}b");
    is_plain("\u{2066}x\u{2069}", "\\u{2066}x\\u{2069}");
    is_plain("\u{200e}\u{200f}\u{61c}", "\\u{200e}\\u{200f}\\u{61c}");
    is_plain(
        "\u{e0001}\u{e0041}\u{e007f}",
        "\\u{e0001}\\u{e0041}\\u{e007f}",
    );
    is_plain("👩\u{200d}👧 ❤\u{fe0f}", "👩\u{200d}👧 ❤\u{fe0f}");
}

#[test]
fn one_line_has_no_line_ends_and_no_tabs() {
    assert_eq!(line("a\nb\tc\r\nd"), "a b c d");
    assert_eq!(line("a\u{2028}b\u{2029}c\u{85}d"), "a b cd");
    assert_eq!(line("\x1b[31ma\x1b[0m"), "a");
    assert_eq!(line("x\ry"), "y");
}

#[test]
fn everything_unseen_becomes_visible() {
    assert_eq!(visible("rm\x1b[1A\x1b[2K ls"), "rm\\x1b[1A\\x1b[2K ls");
    assert_eq!(
        visible("a\tb\r\nc\rd\0e\x7ff"),
        "a\\tb\\r\nc\\rd\\x00e\\x7ff"
    );
    assert_eq!(visible("\u{80}\u{9b}\u{85}"), "\\u{80}\\u{9b}\\u{85}");
    assert_eq!(
        visible("\u{202e}\u{200b}\u{200d}\u{2060}\u{feff}\u{ad}"),
        "\\u{202e}\\u{200b}\\u{200d}\\u{2060}\\u{feff}\\u{ad}"
    );
    assert_eq!(
        visible("\u{e0041}\u{e0100}\u{fe0f}\u{3164}\u{2028}"),
        "\\u{e0041}\\u{e0100}\\u{fe0f}\\u{3164}\\u{2028}"
    );
    let padded = format!("{}\u{200b}", "x".repeat(100));
    assert_eq!(visible(&padded), format!("{}\\u{{200b}}", "x".repeat(100)));
}

#[test]
fn a_clipped_text_ends_in_an_ellipsis_and_fits() {
    assert_eq!(clip("abc", 3), "abc");
    assert_eq!(clip("abcd", 3), "ab…");
    assert_eq!(clip("日本語", 3), "日本語");
    assert_eq!(clip("日本語x", 3), "日本…");
    assert_eq!(clip("ab", 1), "…");
    assert_eq!(clip("ab", 0), "");
    assert_eq!(clip("", 0), "");
    assert!(matches!(clip("日本語", 3), Cow::Borrowed(_)));
}

/// The invariant of the module: nothing a terminal would act on, from any mixture, at every place in a block.
#[test]
fn no_mixture_leaves_a_control_behind() {
    const PIECES: [&str; 24] = [
        "\x1b",
        "[",
        "]",
        "(",
        "P",
        "\\",
        "31m",
        ";",
        "\x07",
        "\u{9c}",
        "\u{9b}",
        "\u{9d}",
        "\r",
        "\n",
        "\t",
        "\x18",
        "text",
        "é",
        "\u{202e}",
        "\u{200b}",
        "\u{e0041}",
        "\x7f",
        "\0",
        "a long run of plain text over a block",
    ];
    let mut state = 88172645463325252u64;
    for _ in 0..20_000 {
        let mut text = String::new();
        for _ in 0..1 + state % 9 {
            state ^= state << 13;
            state ^= state >> 7;
            state ^= state << 17;
            text.push_str(PIECES[(state >> 32) as usize % PIECES.len()]);
        }
        let deceives = |c: char| matches!(c, '\u{202e}' | '\u{e0041}');
        let safe = plain(&text);
        assert!(
            !safe
                .chars()
                .any(|c| c.is_control() && c != '\n' && c != '\t' || deceives(c)),
            "{text:?} gives {safe:?}"
        );
        assert_eq!(
            safe.matches('\n').count(),
            text.matches('\n').count(),
            "{text:?} gives {safe:?}"
        );
        assert_eq!(plain(&safe), safe);
        let one = line(&text);
        assert!(
            !one.chars().any(|c| c.is_control() || deceives(c)),
            "{text:?} gives {one:?}"
        );
        let seen = visible(&text);
        assert!(
            !seen
                .chars()
                .any(|c| c.is_control() && c != '\n' || deceives(c) || c == '\u{200b}'),
            "{text:?} gives {seen:?}"
        );
    }
}

#[test]
fn one_is_counted_without_an_s() {
    for (number, expected) in [(0, "0 records"), (1, "1 record"), (1_234, "1,234 records")] {
        assert_eq!(zcoder::text::counted(number, "record"), expected);
    }
}

#[test]
fn numbers_are_grouped_by_three() {
    for (number, expected) in [
        (0, "0"),
        (999, "999"),
        (1_000, "1,000"),
        (12_345, "12,345"),
        (u64::MAX, "18,446,744,073,709,551,615"),
    ] {
        assert_eq!(zcoder::text::grouped(number), expected);
    }
}

#[test]
fn names_are_as_far_from_each_other_as_the_edits_between_them() {
    #[track_caller]
    fn check(one: &str, other: &str, expected: usize) {
        assert_eq!(distance(one, other), expected);
        assert_eq!(distance(other, one), expected);
    }
    check("", "", 0);
    check("", "abc", 3);
    check("read_file", "read_file", 0);
    check("read_fil", "read_file", 1);
    check("modle", "model", 1);
    check("kitten", "sitting", 3);
    // A pair that was swapped is not edited once more.
    check("ca", "abc", 3);
    check("\u{e4}b", "ab", 1);
    // What lies behind 64 characters is the same or not.
    let long = |start: &str, end: &str| format!("{start}{}{end}", "x".repeat(64));
    check(&long("", "yz"), &long("", "yz"), 0);
    check(&long("", "abc"), &long("", "d"), 3);
    check(&long("a", "bc"), &long("d", "bc"), 1);
}

#[test]
fn a_part_is_found_at_every_place_and_half_a_part_is_not() {
    for part in ["```", "<function=", "ab", "x", ""] {
        for at in 0..70 {
            let text = format!("{}{part}{}", ".".repeat(at), ".".repeat(70 - at));
            assert!(holds(&text, part), "{part} at {at}");
            let half = part.get(1..).unwrap_or_default();
            let text = format!("{}{half}{half}{}", ".".repeat(at), ".".repeat(70 - at));
            assert_eq!(holds(&text, part), text.contains(part), "{text}");
        }
        assert!(holds(part, part));
        assert_eq!(holds("", part), part.is_empty());
    }
}
