//! Depth on both sides of its limit, cut texts, and texts with random damage.
use super::{check, refused, tokens};
use zcoder::json::{MAX_DEPTH, Tokens, Tree, find_object};

#[test]
fn depth_128_is_accepted_and_129_is_not() {
    assert_eq!(MAX_DEPTH, 128);
    for (open, close) in [("[", "]"), ("{\"a\":", "}"), ("[{\"a\":", "}]")] {
        let pair = open.matches(['[', '{']).count();
        let nested = |levels: usize| {
            format!(
                "{}1{}",
                open.repeat(levels / pair),
                close.repeat(levels / pair)
            )
        };
        let fits = nested(128);
        assert_eq!(
            Tree::parse(fits.as_bytes())
                .expect("128 levels")
                .to_string(),
            fits
        );
        let deep = format!("[{}]", nested(128));
        let at = deep.rfind(['[', '{']).expect("the innermost");
        refused(
            &deep,
            &format!("more than 128 levels of nesting at byte {at}"),
        );
    }
}

#[test]
fn depth_counts_what_is_open_and_not_what_was() {
    let wide = format!("[{}1]", "[[[]]],".repeat(1000));
    assert_eq!(
        Tree::parse(wide.as_bytes()).expect("3 deep").to_string(),
        wide
    );
}

#[test]
fn a_hundred_thousand_levels_end_at_the_limit() {
    refused(
        "[".repeat(100_000),
        "more than 128 levels of nesting at byte 128",
    );
    refused(
        "{\"\":".repeat(100_000),
        "more than 128 levels of nesting at byte 512",
    );
    refused(
        "[{\"\":".repeat(50_000),
        "more than 128 levels of nesting at byte 320",
    );
}

#[test]
fn every_beginning_of_a_text_is_cut_and_nothing_else() {
    let text = r#" {"a\n":[1.5e-3,true,false,null,"x\u00e9\ud83e\udd80"],"b":{"c":[]},"d":-0} "#;
    check(
        text,
        "{ a\n: [ 1.5e-3 true false null \"xé🦀\" ] b: { c: [ ] } d: -0 }",
        r#"{"a\n":[1.5e-3,true,false,null,"xé🦀"],"b":{"c":[]},"d":-0}"#,
    );
    for end in 0..text.len() - 1 {
        let error = tokens(&text.as_bytes()[..end]).expect_err("cut");
        assert!(error.is_cut(), "at {end}: {error}");
        assert_eq!(error.offset, end);
    }
}

#[test]
fn a_wrong_byte_is_no_cut() {
    for text in ["[1 2", "{\"a\" ", "\"\\x", "[", "-"] {
        let error = tokens(text.as_bytes()).expect_err("wrong or cut");
        assert_eq!(error.is_cut(), error.offset == text.len(), "{text}");
    }
    let deep = "[".repeat(129);
    assert!(!tokens(deep.as_bytes()).expect_err("too deep").is_cut());
}

#[test]
fn line_and_column_count_characters_from_one() {
    let place = |text: &str| {
        let error = Tree::parse(text.as_bytes()).expect_err("refused");
        error.line_column(text.as_bytes())
    };
    assert_eq!(place(""), (1, 1));
    assert_eq!(place("x"), (1, 1));
    assert_eq!(place("{\n  \"a\": x\n}"), (2, 8));
    assert_eq!(place("[\"日本\", x]"), (1, 8));
    assert_eq!(place("[\n\n"), (3, 1));
    assert_eq!(place("[\r\n1 2"), (2, 3));
}

/// Damage of every sort to good texts: whatever comes out, it comes out, and what is accepted survives the way back.
#[test]
fn random_damage_never_panics_and_what_is_accepted_is_right() {
    let seeds: [&[u8]; 4] = [
        br#"{"model":"qwen3:8b","message":{"role":"assistant","content":"a\n\"b\" \ud83e\udd80"},"done":false}"#,
        br#"[[-65.613616999999977,43.4],[1e5,0,-0.0e+1],true,false,null,{"":[]}]"#,
        "  {\n  \"näme\" : [ \"日本\", \"\\\\\" ]\n}\n".as_bytes(),
        b"{\"a\":\"\xff\xe2\x82\",\"b\":[\"\xf0\x9f\"]}",
    ];
    const BYTES: &[u8] =
        b"\"\\{}[]:,0123456789-+.eEu tfn\n\r\t\0\x1f\x7f\x80\xc3\xe2\xed\xf0\xff/ad";
    let mut state = 0x9e3779b97f4a7c15u64;
    let mut random = |below: usize| {
        // xorshift64*: the upper bits are good enough for a test.
        state ^= state >> 12;
        state ^= state << 25;
        state ^= state >> 27;
        (state.wrapping_mul(0x2545f4914f6cdd1d) >> 33) as usize % below
    };
    let mut accepted = 0;
    for round in 0..20_000 {
        let mut text = seeds[round % seeds.len()].to_vec();
        for _ in 0..1 + random(4) {
            if text.is_empty() {
                break;
            }
            let at = random(text.len());
            match random(5) {
                0 => text[at] = BYTES[random(BYTES.len())],
                1 => text.insert(at, BYTES[random(BYTES.len())]),
                2 => drop(text.remove(at)),
                3 => text.truncate(at + 1),
                _ => {
                    let piece = text[at..(at + 1 + random(8)).min(text.len())].to_vec();
                    let to = random(text.len());
                    text.splice(to..to, piece);
                }
            }
        }
        let as_tokens = tokens(&text);
        let as_tree = Tree::parse(&text);
        assert_eq!(
            as_tokens.clone().err(),
            as_tree.clone().err(),
            "{:?}",
            text.escape_ascii()
        );
        let mut skipper = Tokens::new(&text);
        let skipped = skipper.skip().and_then(|()| skipper.next());
        assert_eq!(
            skipped.err(),
            as_tree.clone().err(),
            "{:?}",
            text.escape_ascii()
        );
        let _ = find_object(&text, text.len());
        if let Ok(tree) = as_tree {
            accepted += 1;
            let again = Tree::parse_strict(tree.to_string().as_bytes()).expect("our own writing");
            assert_eq!(again, tree, "{:?}", text.escape_ascii());
            assert_eq!(tree.root().to_tree(), tree);
        }
    }
    // The seed is fixed, so the share is too; it says that the mutator neither breaks everything nor nothing.
    assert!(
        (2_000..10_000).contains(&accepted),
        "{accepted} of 20000 accepted"
    );
}
