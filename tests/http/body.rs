//! `BodyDecoder` and `Framing`: chunked, by length, to the close, at every cut (corpus items 3 to 12, 14 and 52 of the stream list).
use crate::support::cuts::{Rng, cuts};
use zcoder::http::{BodyDecoder, BodyError, Framing, HeadDecoder, Limits};

const LIMITS: Limits = Limits {
    head_bytes: 1 << 10,
    chunk_line_bytes: 40,
    trailer_bytes: 30,
    body_bytes: 100,
};

/// What came out (also before an error), how many bytes were left over, and how it ended.
#[derive(Debug, PartialEq)]
struct Decoded {
    body: Vec<u8>,
    unread: usize,
    end: Result<(), BodyError>,
}

fn decode(framing: Framing, limits: Limits, pieces: &[Vec<u8>]) -> Decoded {
    let mut body = Vec::new();
    let mut unread = 0;
    let end = BodyDecoder::new(framing, limits).and_then(|mut decoder| {
        for piece in pieces {
            let mut piece = piece.clone();
            unread += piece.len()
                - decoder.feed(&mut piece, &mut |bytes| {
                    assert!(!bytes.is_empty());
                    body.extend_from_slice(bytes);
                })?;
        }
        let was_done = decoder.is_done();
        decoder.finish()?;
        assert!(was_done || framing == Framing::Close);
        Ok(())
    });
    Decoded { body, unread, end }
}

#[track_caller]
fn sound(framing: Framing, wire: &[u8], body: &[u8], unread: usize) {
    for pieces in cuts(wire) {
        let decoded = decode(framing, LIMITS, &pieces);
        assert_eq!(
            decoded,
            Decoded {
                body: body.to_vec(),
                unread,
                end: Ok(())
            },
            "{pieces:?}"
        );
    }
}

#[track_caller]
fn broken(framing: Framing, wire: &[u8], body: &[u8], text: &str) {
    for pieces in cuts(wire) {
        let decoded = decode(framing, LIMITS, &pieces);
        assert_eq!(
            decoded.end.expect_err("an error").to_string(),
            text,
            "{pieces:?}"
        );
        assert_eq!(decoded.body, body, "{pieces:?}");
    }
}

#[test]
fn chunks() {
    sound(
        Framing::Chunked,
        b"3\r\nabc\r\n2\r\nde\r\n0\r\n\r\n",
        b"abcde",
        0,
    );
    sound(Framing::Chunked, b"0\r\n\r\n", b"", 0);
    sound(
        Framing::Chunked,
        b"1\r\n\r\r\n1\r\n\n\r\n0\r\n\r\n",
        b"\r\n",
        0,
    );
    sound(
        Framing::Chunked,
        b"0001A\r\nabcdefghijklmnopqrstuvwxyz\r\n00\r\n\r\n",
        b"abcdefghijklmnopqrstuvwxyz",
        0,
    );
    sound(
        Framing::Chunked,
        b"a\r\n0123456789\r\nB\r\n0123456789a\r\n0\r\n\r\n",
        b"01234567890123456789a",
        0,
    );
    sound(
        Framing::Chunked,
        b"0000000000000003\r\nabc\r\n0000000000000000\r\n\r\n",
        b"abc",
        0,
    );
}

#[test]
fn extensions_and_trailers_are_read_over() {
    sound(
        Framing::Chunked,
        b"3;a=b;q=\"x;y\"\r\nabc\r\n0;last\r\n\r\n",
        b"abc",
        0,
    );
    sound(
        Framing::Chunked,
        b"3 \t; a\r\nabc\r\n2  \r\nde\r\n0 ;x\r\n\r\n",
        b"abcde",
        0,
    );
    sound(
        Framing::Chunked,
        b"3;q=\"\\\"\\\\;\"\r\nabc\r\n0\r\n\r\n",
        b"abc",
        0,
    );
    sound(
        Framing::Chunked,
        b"3;\xC3\xA4\r\nabc\r\n0\r\nA: b\r\nCheck: \rsum\r\n\r\n",
        b"abc",
        0,
    );
    sound(Framing::Chunked, b"0\r\nA: b\nC: d\n\n", b"", 0);
    sound(Framing::Chunked, b"0\r\n\rA\r\n\r\n", b"", 0);
}

#[test]
fn the_state_in_words() {
    let mut decoder = BodyDecoder::new(Framing::Chunked, LIMITS).expect("a decoder");
    let mut states = vec![decoder.state()];
    for byte in b"1;a\r\nx\r\n0\r\nA:b\r\n\r\n" {
        decoder
            .feed(&mut [*byte], &mut |_| {})
            .expect("a sound body");
        if states.last() != Some(&decoder.state()) {
            states.push(decoder.state());
        }
    }
    assert_eq!(
        states,
        [
            "size",
            "extension",
            "size",
            "data",
            "data end",
            "size",
            "trailer",
            "done"
        ]
    );
    let state = |framing| {
        BodyDecoder::new(framing, LIMITS)
            .expect("a decoder")
            .state()
    };
    assert_eq!(
        (
            state(Framing::Close),
            state(Framing::Length(1)),
            state(Framing::None)
        ),
        ("data", "data", "done")
    );
}

#[test]
fn what_follows_the_end_is_left() {
    sound(Framing::Chunked, b"1\r\na\r\n0\r\n\r\nHTTP/1.1", b"a", 8);
    sound(Framing::Length(3), b"abcdef", b"abc", 3);
    sound(Framing::Length(0), b"a", b"", 1);
    sound(Framing::None, b"abc", b"", 3);
}

#[test]
fn by_length_and_to_the_close() {
    sound(Framing::Length(3), b"abc", b"abc", 0);
    sound(Framing::Close, b"abc", b"abc", 0);
    sound(Framing::Close, b"", b"", 0);
    broken(
        Framing::Length(2048),
        b"",
        b"",
        "body larger than 100 bytes",
    );
    broken(
        Framing::Length(20),
        b"abc",
        b"abc",
        "connection closed after 3 of 20 body bytes",
    );
    broken(
        Framing::Length(1),
        b"",
        b"",
        "connection closed after 0 of 1 body byte",
    );
}

#[test]
fn broken_chunk_sizes() {
    let bad = |wire: &[u8], body: &[u8], at: usize, found: &str| {
        broken(
            Framing::Chunked,
            wire,
            body,
            &format!("bad chunk size at body byte {at}: unexpected {found}"),
        );
    };
    bad(b"\r\nabc", b"", 0, "0x0d");
    bad(b";a\r\n", b"", 0, "';'");
    bad(b"-1\r\n", b"", 0, "'-'");
    bad(b"+1\r\n", b"", 0, "'+'");
    bad(b" 1\r\n", b"", 0, "0x20");
    bad(b"0x10\r\n", b"", 1, "'x'");
    bad(b"1g\r\n", b"", 1, "'g'");
    bad(b"1\na\r\n", b"", 1, "0x0a");
    bad(b"1\ra\r\n", b"", 2, "'a'");
    bad(b"1 2\r\n", b"", 2, "'2'");
    bad(b"1;a\nb\r\n", b"", 3, "0x0a");
    bad(b"1;a\0\r\n", b"", 3, "0x00");
    bad(b"1;\x7f\r\n", b"", 2, "0x7f");
    bad(b"1;q=\"a\r\n", b"", 6, "0x0d");
    bad(b"1;q=\"a\\\r\n", b"", 7, "0x0d");
    bad(b"1\r\na\r\n{\"", b"a", 6, "'{'");
    broken(
        Framing::Chunked,
        b"00000000000000001\r\na\r\n",
        b"",
        "bad chunk size at body byte 16: more than 16 digits",
    );
    broken(
        Framing::Chunked,
        b"ffffffffffffffff\r\na",
        b"",
        "body larger than 100 bytes",
    );
    broken(
        Framing::Chunked,
        b"1\r\na\r\n10000000000000000\r\n",
        b"a",
        "bad chunk size at body byte 22: more than 16 digits",
    );
}

#[test]
fn data_must_end_where_the_size_says() {
    broken(
        Framing::Chunked,
        b"3\r\nabcd\r\n",
        b"abc",
        "chunk data does not end at body byte 6: expected CR LF, found 'd'",
    );
    broken(
        Framing::Chunked,
        b"3\r\nabc\n",
        b"abc",
        "chunk data does not end at body byte 6: expected CR LF, found 0x0a",
    );
    broken(
        Framing::Chunked,
        b"3\r\nabc\rd",
        b"abc",
        "chunk data does not end at body byte 7: expected CR LF, found 'd'",
    );
    broken(
        Framing::Chunked,
        b"3\r\nab\r\n0\r\n\r\n",
        b"ab\r",
        "chunk data does not end at body byte 6: expected CR LF, found 0x0a",
    );
}

#[test]
fn cut_chunks() {
    broken(
        Framing::Chunked,
        b"",
        b"",
        "connection closed after 0 body bytes, before the last chunk",
    );
    broken(
        Framing::Chunked,
        b"3",
        b"",
        "connection closed after 0 body bytes, before the last chunk",
    );
    broken(
        Framing::Chunked,
        b"3;a=\"b",
        b"",
        "connection closed after 0 body bytes, before the last chunk",
    );
    broken(
        Framing::Chunked,
        b"3\r",
        b"",
        "connection closed after 0 body bytes, before the last chunk",
    );
    broken(
        Framing::Chunked,
        b"3\r\n",
        b"",
        "connection closed after 0 body bytes, 3 short of the chunk's end",
    );
    broken(
        Framing::Chunked,
        b"3\r\nab",
        b"ab",
        "connection closed after 2 body bytes, 1 short of the chunk's end",
    );
    broken(
        Framing::Chunked,
        b"3\r\nabc",
        b"abc",
        "connection closed after 3 body bytes, before the last chunk",
    );
    broken(
        Framing::Chunked,
        b"3\r\nabc\r",
        b"abc",
        "connection closed after 3 body bytes, before the last chunk",
    );
    broken(
        Framing::Chunked,
        b"3\r\nabc\r\n",
        b"abc",
        "connection closed after 3 body bytes, before the last chunk",
    );
    broken(
        Framing::Chunked,
        b"3\r\nabc\r\n0",
        b"abc",
        "connection closed after 3 body bytes, before the last chunk",
    );
    broken(
        Framing::Chunked,
        b"3\r\nabc\r\n0\r\n",
        b"abc",
        "connection closed after 3 body bytes, before the last chunk",
    );
    broken(
        Framing::Chunked,
        b"3\r\nabc\r\n0\r\nA: b\r\n",
        b"abc",
        "connection closed after 3 body bytes, before the last chunk",
    );
}

#[test]
fn both_sides_of_each_limit() {
    // A size line of 40 bytes, line end included, and one of 41.
    let line = |length: usize| format!("1;{}\r\na\r\n0\r\n\r\n", "x".repeat(length - 4));
    sound(Framing::Chunked, line(40).as_bytes(), b"a", 0);
    broken(
        Framing::Chunked,
        line(41).as_bytes(),
        b"",
        "chunk-size line longer than 40 bytes",
    );
    // Trailers, their line ends and the last line included.
    let trailers = |length: usize| format!("0\r\nA: {}\r\n\r\n", "x".repeat(length - 7));
    sound(Framing::Chunked, trailers(30).as_bytes(), b"", 0);
    broken(
        Framing::Chunked,
        trailers(31).as_bytes(),
        b"",
        "trailers longer than 30 bytes",
    );
    // The body, in one chunk, in two, by length, to the close.
    let body = vec![b'x'; 101];
    let chunk = |length: usize| {
        [
            format!("{length:x}\r\n").as_bytes(),
            &body[..length],
            b"\r\n",
        ]
        .concat()
    };
    sound(
        Framing::Chunked,
        &[&chunk(100)[..], b"0\r\n\r\n"].concat(),
        &body[..100],
        0,
    );
    broken(
        Framing::Chunked,
        &[&chunk(101)[..], b"0\r\n\r\n"].concat(),
        b"",
        "body larger than 100 bytes",
    );
    sound(
        Framing::Chunked,
        &[&chunk(60)[..], &chunk(40)[..], b"0\r\n\r\n"].concat(),
        &body[..100],
        0,
    );
    broken(
        Framing::Chunked,
        &[&chunk(60)[..], &chunk(41)[..], b"0\r\n\r\n"].concat(),
        &body[..60],
        "body larger than 100 bytes",
    );
    sound(Framing::Length(100), &body[..100], &body[..100], 0);
    broken(
        Framing::Length(101),
        &body,
        b"",
        "body larger than 100 bytes",
    );
    sound(Framing::Close, &body[..100], &body[..100], 0);
    broken(
        Framing::Close,
        &body,
        &body[..100],
        "body larger than 100 bytes",
    );
}

#[test]
fn limits_narrower_than_the_fast_path_hold() {
    let limits = Limits {
        chunk_line_bytes: 4,
        ..LIMITS
    };
    for pieces in cuts(b"01\r\na\r\n001\r\nb\r\n0\r\n\r\n") {
        let decoded = decode(Framing::Chunked, limits, &pieces);
        assert_eq!(
            decoded.end,
            Err(BodyError::SizeLine { limit_bytes: 4 }),
            "{pieces:?}"
        );
        assert_eq!(decoded.body, b"a");
    }
}

#[test]
fn size_lines_like_the_one_before() {
    // Data like a size line, in a chunk whose size begins like the line before.
    let data = "2\r\n".repeat(11);
    let wire = format!("2\r\nab\r\n2\r\ncd\r\n21\r\n{data}\r\n2\r\nef\r\n0\r\n\r\n");
    let body = format!("abcd{data}ef");
    sound(Framing::Chunked, wire.as_bytes(), body.as_bytes(), 0);
    let runs: [(&[u8], &[u8]); 4] = [
        // The same size, differently written; with an extension; as long as a word, and longer.
        (
            b"3\r\nabc\r\n03\r\ndef\r\n3\r\nghi\r\n3;x\r\njkl\r\n3\r\nmno\r\n0\r\n\r\n",
            b"abcdefghijklmno",
        ),
        (
            b"00002\r\nab\r\n00002\r\ncd\r\n00003\r\nefg\r\n0\r\n\r\n",
            b"abcdefg",
        ),
        (
            b"000002\r\nab\r\n000002\r\ncd\r\n000003\r\nefg\r\n0\r\n\r\n",
            b"abcdefg",
        ),
        (
            b"00000002\r\nab\r\n00000002\r\ncd\r\n00000003\r\nefg\r\n0\r\n\r\n",
            b"abcdefg",
        ),
    ];
    for (wire, body) in runs {
        sound(Framing::Chunked, wire, body, 0);
    }
    // Fewer bytes behind it than a word has.
    broken(
        Framing::Chunked,
        b"1\r\na\r\n1\r\nb\r\n1\r\nc\r\n",
        b"abc",
        "connection closed after 3 body bytes, before the last chunk",
    );
    broken(
        Framing::Chunked,
        b"1\r\na\r\n1\r\nb\r\n1\r\ncd\r\n1\r\ne\r\n",
        b"abc",
        "chunk data does not end at body byte 16: expected CR LF, found 'd'",
    );
}

#[test]
fn a_claimed_size_costs_nothing() {
    let limits = Limits {
        body_bytes: u64::MAX,
        ..LIMITS
    };
    let wire = b"fffffffffffffffe\r\nabc".to_vec();
    let decoded = decode(Framing::Chunked, limits, &[wire]);
    assert_eq!(decoded.body, b"abc");
    assert_eq!(
        decoded.end.expect_err("cut").to_string(),
        "connection closed after 3 body bytes, 18,446,744,073,709,551,611 short of the chunk's end"
    );
    // The sum of two sizes does not wrap.
    let wire = b"3\r\nabc\r\nfffffffffffffffe\r\n".to_vec();
    let end = decode(Framing::Chunked, limits, &[wire]).end;
    assert_eq!(
        end,
        Err(BodyError::TooLarge {
            limit_bytes: u64::MAX
        })
    );
}

#[test]
fn framing_may_not_outweigh_the_data() {
    let limits = Limits {
        chunk_line_bytes: 1 << 10,
        body_bytes: 1 << 20,
        ..LIMITS
    };
    // A line of 1,000 bytes before each byte: 17 of them are forgiven, so the 67th one is beyond 64 KiB.
    let chunk = format!("1;{}\r\nx\r\n", "e".repeat(996));
    let wire = |count: usize| [chunk.repeat(count).as_bytes(), b"0\r\n\r\n"].concat();
    let expected = BodyError::Framing {
        offset: 66 * 1003 + 1000,
        limit_bytes: 64 << 10,
    };
    for longest in [1, 7, 5000, 1 << 20] {
        let fine = Rng::new(1).pieces(&wire(66), longest);
        assert_eq!(decode(Framing::Chunked, limits, &fine).end, Ok(()));
        let pieces = Rng::new(1).pieces(&wire(67), longest);
        let decoded = decode(Framing::Chunked, limits, &pieces);
        assert_eq!(
            (decoded.body.len(), decoded.end),
            (66, Err(expected.clone()))
        );
    }
    assert_eq!(
        expected.to_string(),
        "chunk framing outweighs the data by more than 65,536 bytes at body byte 67198"
    );
    // One byte a chunk, as small as a chunk can be, is fine for ever.
    let wire = [&b"1\r\nx\r\n".repeat(200_000)[..], b"0\r\n\r\n"].concat();
    assert_eq!(
        decode(Framing::Chunked, limits, &[wire]).body.len(),
        200_000
    );
}

#[test]
fn chunks_of_all_sizes_in_pieces_of_all_sizes() {
    let limits = Limits {
        body_bytes: 1 << 20,
        ..LIMITS
    };
    for seed in 0..60 {
        let mut rng = Rng::new(seed);
        let mut body = Vec::new();
        let mut wire = Vec::new();
        for _ in 0..rng.below(40) {
            let size = 1 + match rng.below(4) {
                0 => rng.below(3),
                1 => rng.below(100),
                2 => rng.below(5_000),
                _ => rng.below(20_000),
            };
            let data: Vec<u8> = (0..size).map(|_| b"ab\r\n0"[rng.below(5)]).collect();
            wire.extend_from_slice(format!("{size:x}\r\n").as_bytes());
            wire.extend_from_slice(&data);
            wire.extend_from_slice(b"\r\n");
            body.extend_from_slice(&data);
        }
        wire.extend_from_slice(b"0\r\n\r\n");
        for longest in [13, 300, 6_000, 1 << 20] {
            let pieces = rng.pieces(&wire, longest);
            let decoded = decode(Framing::Chunked, limits, &pieces);
            assert!(
                decoded.end == Ok(()) && decoded.body == body,
                "seed {seed}, pieces up to {longest}"
            );
        }
    }
}

#[test]
fn damaged_bodies_end_and_do_not_depend_on_cuts() {
    let sound = b"3;a=\"b\"\r\nabc\r\n1f\r\n0123456789012345678901234567890\r\n0\r\nA: b\r\n\r\n";
    for seed in 0..5000 {
        let mut rng = Rng::new(seed);
        let bytes = rng.mutate(sound);
        let pieces = rng.pieces(&bytes, 7);
        let whole = decode(Framing::Chunked, LIMITS, &[bytes]);
        assert!(whole.body.len() <= 100);
        let decoded = decode(Framing::Chunked, LIMITS, &pieces);
        assert_eq!(
            (decoded.body, decoded.end),
            (whole.body, whole.end),
            "seed {seed}"
        );
    }
}

/// The framing of a response with these header lines.
fn framing(method: &str, first_line: &str, fields: &str) -> Result<Framing, String> {
    let mut decoder = HeadDecoder::response(LIMITS);
    let bytes = format!("{first_line}\r\n{fields}\r\n");
    decoder.feed(bytes.as_bytes()).expect("a head");
    let head = decoder.finish_response().expect("a head");
    Framing::of_response(method, &head).map_err(|error| error.to_string())
}

#[test]
fn framing_of_responses() {
    let of = |fields: &str| framing("POST", "HTTP/1.1 200 OK", fields);
    assert_eq!(of(""), Ok(Framing::Close));
    assert_eq!(of("Content-Length: 5\r\n"), Ok(Framing::Length(5)));
    assert_eq!(of("content-length:005\r\n"), Ok(Framing::Length(5)));
    assert_eq!(
        of("Content-Length: 5\r\nContent-Length: 5\r\n"),
        Ok(Framing::Length(5))
    );
    assert_eq!(
        of("Content-Length: 18446744073709551615\r\n"),
        Ok(Framing::Length(u64::MAX))
    );
    assert_eq!(of("Transfer-Encoding: Chunked\r\n"), Ok(Framing::Chunked));
    let refused = |fields: &str, text: &str| assert_eq!(of(fields), Err(text.to_owned()));
    refused(
        "Content-Length: 5\r\nContent-Length: 7\r\n",
        "two different Content-Length: \"5\" and \"7\"",
    );
    refused(
        "Content-Length: 5\r\nContent-Length: 05\r\n",
        "two different Content-Length: \"5\" and \"05\"",
    );
    for value in [
        "+5",
        "-5",
        "5,5",
        "5 5",
        "0x5",
        "5.0",
        "",
        "99999999999999999999",
        "18446744073709551616",
    ] {
        refused(
            &format!("Content-Length: {value}\r\n"),
            &format!("bad Content-Length \"{value}\": expected digits"),
        );
    }
    refused(
        "Content-Length: 5\r\nTransfer-Encoding: chunked\r\n",
        "both Content-Length \"5\" and Transfer-Encoding chunked",
    );
    for coding in [
        "gzip, chunked",
        "chunked, gzip",
        "chunked, chunked",
        "identity",
        "gzip",
    ] {
        refused(
            &format!("Transfer-Encoding: {coding}\r\n"),
            &format!("Transfer-Encoding \"{coding}\": only \"chunked\" is understood"),
        );
    }
    refused(
        "Transfer-Encoding: gzip\r\nTransfer-Encoding: chunked\r\n",
        "Transfer-Encoding \"gzip, chunked\": only \"chunked\" is understood",
    );
    assert_eq!(
        framing("GET", "HTTP/1.0 200 OK", "Transfer-Encoding: chunked\r\n"),
        Err("Transfer-Encoding chunked in HTTP/1.0".to_owned())
    );
}

#[test]
fn responses_without_a_body() {
    let length = "Content-Length: 5\r\n";
    assert_eq!(
        framing("HEAD", "HTTP/1.1 200 OK", length),
        Ok(Framing::None)
    );
    assert_eq!(
        framing("HEAD", "HTTP/1.1 200 OK", "Transfer-Encoding: chunked\r\n"),
        Ok(Framing::None)
    );
    for status in ["100", "103", "199", "204", "304"] {
        assert_eq!(
            framing("GET", &format!("HTTP/1.1 {status}"), length),
            Ok(Framing::None)
        );
    }
    for status in ["200", "205", "303", "500"] {
        assert_eq!(
            framing("GET", &format!("HTTP/1.1 {status}"), length),
            Ok(Framing::Length(5))
        );
    }
}

#[test]
fn framing_of_requests() {
    let of = |fields: &str| {
        let mut decoder = HeadDecoder::request(LIMITS);
        decoder
            .feed(format!("POST / HTTP/1.1\r\n{fields}\r\n").as_bytes())
            .expect("a head");
        Framing::of_request(&decoder.finish_request().expect("a head"))
    };
    assert_eq!(of(""), Ok(Framing::None));
    assert_eq!(of("Content-Length: 7\r\n"), Ok(Framing::Length(7)));
    assert_eq!(of("Transfer-Encoding: chunked\r\n"), Ok(Framing::Chunked));
    assert_eq!(
        of("Content-Length: 7\r\nTransfer-Encoding: chunked\r\n"),
        Err(BodyError::LengthAndChunked {
            length: "7".to_owned()
        })
    );
}
