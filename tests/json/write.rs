//! Writing: commas, escapes, numbers, and misuse.
use zcoder::json::{Tree, Writer, quote};

#[track_caller]
fn written(
    write: impl for<'w> FnOnce(&'w mut Writer<'static>) -> &'w mut Writer<'static>,
) -> String {
    let mut writer = Writer::new();
    write(&mut writer);
    let text = String::from_utf8(writer.finish()).expect("UTF-8");
    let tree = Tree::parse_strict(text.as_bytes()).expect("JSON");
    assert_eq!(tree.to_string(), text);
    text
}

#[test]
fn commas_and_colons_stand_where_they_belong() {
    let text = written(|w| {
        w.begin_object();
        w.key("a")
            .begin_array()
            .u64(1)
            .i64(-2)
            .begin_array()
            .end_array()
            .begin_object()
            .end_object()
            .end_array();
        w.key("b").begin_object().key("c").null().end_object();
        w.key("d")
            .bool(true)
            .key("e")
            .bool(false)
            .key("f")
            .string("x")
            .key("g")
            .raw("[0,1]")
            .key("h")
            .f64(0.5);
        w.end_object()
    });
    assert_eq!(
        text,
        r#"{"a":[1,-2,[],{}],"b":{"c":null},"d":true,"e":false,"f":"x","g":[0,1],"h":0.5}"#
    );
}

#[test]
fn every_kind_can_be_the_root() {
    assert_eq!(written(|w| w.string("a")), "\"a\"");
    assert_eq!(written(|w| w.u64(u64::MAX)), "18446744073709551615");
    assert_eq!(written(|w| w.i64(i64::MIN)), "-9223372036854775808");
    assert_eq!(written(|w| w.null()), "null");
    assert_eq!(written(|w| w.begin_array().end_array()), "[]");
}

#[test]
fn floats_read_back_as_the_same() {
    for n in [
        0.0,
        -0.0,
        0.1,
        1.0,
        -1.5,
        1e21,
        1e-7,
        f64::MAX,
        f64::MIN_POSITIVE,
        5e-324,
    ] {
        let text = written(|w| w.f64(n));
        assert_eq!(
            text.parse::<f64>().map(f64::to_bits),
            Ok(n.to_bits()),
            "{text}"
        );
    }
    for n in [f64::NAN, f64::INFINITY, f64::NEG_INFINITY] {
        assert_eq!(written(|w| w.f64(n)), "null");
    }
}

#[test]
fn parsed_values_are_written_compactly() {
    let tree = Tree::parse(br#" { "n" : [ 1.50 , 1e999 ] , "s" : "\u0041\/\u001f\ud83d" } "#)
        .expect("good");
    let text = written(|w| {
        w.begin_array()
            .value(tree.root())
            .value(tree.root())
            .end_array()
    });
    let once = "{\"n\":[1.50,1e999],\"s\":\"A/\\u001f\u{fffd}\"}";
    assert_eq!(text, format!("[{once},{once}]"));
}

#[track_caller]
fn quoted(text: impl AsRef<[u8]>, expected: &str) {
    let mut out = b"x".to_vec();
    quote(&mut out, text.as_ref());
    assert_eq!(
        String::from_utf8(out).as_deref(),
        Ok(format!("x{expected}").as_str())
    );
}

#[test]
fn json_demands_these_escapes_and_no_others() {
    quoted("", "\"\"");
    quoted("plain", "\"plain\"");
    quoted("\"\\/", r#""\"\\/""#);
    quoted("\u{8}\u{9}\u{a}\u{c}\u{d}", r#""\b\t\n\f\r""#);
    quoted(
        "\0\u{1}\u{b}\u{e}\u{1b}\u{1f}",
        r#""\u0000\u0001\u000b\u000e\u001b\u001f""#,
    );
    quoted(
        "\u{7f}\u{80}\u{2028}\u{202e}é日🦀",
        "\"\u{7f}\u{80}\u{2028}\u{202e}é日🦀\"",
    );
    quoted(b"a\xffb\xe2\x82", "\"a\u{fffd}b\u{fffd}\"");
    quoted(b"\xed\xa0\x80", "\"\u{fffd}\u{fffd}\u{fffd}\"");
}

#[test]
fn escapes_are_found_at_every_place() {
    for before in 0..70 {
        for after in [0, 1, 15, 16, 17, 40] {
            let (a, b) = ("x".repeat(before), "y".repeat(after));
            quoted(format!("{a}\n{b}"), &format!("\"{a}\\n{b}\""));
            quoted(
                format!("{a}\"\u{1}{b}\\"),
                &format!("\"{a}\\\"\\u0001{b}\\\\\""),
            );
        }
    }
}

#[test]
fn every_character_of_the_first_planes_comes_back() {
    let all: String = (0..0x3000)
        .chain(0xf000..0x10400)
        .filter_map(char::from_u32)
        .collect();
    let text = written(|w| w.string(&all));
    let tree = Tree::parse_strict(text.as_bytes()).expect("JSON");
    assert_eq!(tree.root().as_str(), Some(all.as_str()));
}

#[test]
fn a_document_that_is_drained_has_the_same_bytes_and_takes_no_more_room() {
    let text: String = ('\0'..'\u{200}').chain(['€', '🦀']).collect();
    let text = text.repeat(1_000);
    let write = |json: &mut Writer| {
        json.begin_object().key("a").string("short");
        json.key("b").string(&text).key("n").u64(3);
        json.end_object();
    };
    let mut whole = Writer::new();
    write(&mut whole);
    let whole = whole.finish();
    for held in [1, 100, 100_000, usize::MAX] {
        let (mut drained, mut most) = (Vec::new(), 0);
        let mut drain = |out: &mut Vec<u8>| {
            most = most.max(out.len());
            if out.len() >= held {
                drained.append(out);
            }
        };
        let mut json = Writer::through(Vec::new(), &mut drain);
        write(&mut json);
        let rest = json.finish();
        drained.extend(rest);
        assert_eq!(drained, whole, "{held}");
        // A piece of a text at a time, each of its bytes escaped at worst.
        assert!(most < held.saturating_add(6 * (64 << 10)), "{held}: {most}");
    }
}

#[cfg(debug_assertions)]
mod misuse {
    use super::Writer;

    #[track_caller]
    fn panics(write: for<'w> fn(&'w mut Writer<'static>) -> &'w mut Writer<'static>) {
        let mut writer = Writer::new();
        let result = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| {
            write(&mut writer);
            writer.finish()
        }));
        assert!(result.is_err(), "was not noticed");
    }

    #[test]
    fn misuse_is_noticed_in_debug_builds() {
        panics(|w| w.begin_array().key("a"));
        panics(|w| w.key("a"));
        panics(|w| w.begin_object().u64(1));
        panics(|w| w.begin_object().key("a").key("b"));
        panics(|w| w.begin_object().key("a").end_object());
        panics(|w| w.begin_object().end_array());
        panics(|w| w.end_object());
        panics(|w| w.u64(1).u64(2));
        panics(|w| w.begin_array().end_array().begin_array());
        panics(|w| w.begin_array());
        panics(|w| (0..129).fold(w, |w, _| w.begin_array()));
    }
}
