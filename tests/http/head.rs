//! `HeadDecoder`: requests and responses, at every cut.
use crate::support::cuts::{Rng, cuts};
use zcoder::http::{Head, HeadDecoder, HeadError, Limits, RequestHead};

const LIMITS: Limits = Limits {
    head_bytes: 200,
    chunk_line_bytes: 32,
    trailer_bytes: 32,
    body_bytes: 100,
};

/// What is left unread behind the head, and the head.
fn response_of(pieces: &[Vec<u8>]) -> Result<(usize, Head), HeadError> {
    let mut decoder = HeadDecoder::response(LIMITS);
    let mut unread = 0;
    for piece in pieces {
        unread += piece.len() - decoder.feed(piece)?.0;
    }
    Ok((unread, decoder.finish_response()?))
}

fn request_of(pieces: &[Vec<u8>]) -> Result<(usize, RequestHead), HeadError> {
    let mut decoder = HeadDecoder::request(LIMITS);
    let mut unread = 0;
    for piece in pieces {
        unread += piece.len() - decoder.feed(piece)?.0;
    }
    Ok((unread, decoder.finish_request()?))
}

fn owned(headers: &[(&str, &str)]) -> Vec<(String, String)> {
    headers
        .iter()
        .map(|(name, value)| ((*name).to_owned(), (*value).to_owned()))
        .collect()
}

#[track_caller]
fn response(bytes: &[u8], status: u16, reason: &str, headers: &[(&str, &str)]) {
    for pieces in cuts(bytes) {
        let (_, head) = response_of(&pieces).expect("a head");
        assert_eq!((head.status, head.reason.as_str()), (status, reason));
        assert_eq!(head.headers, owned(headers), "{pieces:?}");
    }
}

#[track_caller]
fn request(bytes: &[u8], method: &str, target: &str, headers: &[(&str, &str)]) {
    for pieces in cuts(bytes) {
        let (_, head) = request_of(&pieces).expect("a head");
        assert_eq!(
            (head.method.as_str(), head.target.as_str()),
            (method, target)
        );
        assert_eq!(head.headers, owned(headers), "{pieces:?}");
    }
}

#[track_caller]
fn no_response(bytes: &[u8], text: &str) {
    for pieces in cuts(bytes) {
        let error = response_of(&pieces).expect_err("an error");
        assert_eq!(error.to_string(), text, "{pieces:?}");
    }
}

#[track_caller]
fn no_request(bytes: &[u8], text: &str) {
    for pieces in cuts(bytes) {
        let error = request_of(&pieces).expect_err("an error");
        assert_eq!(error.to_string(), text, "{pieces:?}");
    }
}

#[test]
fn responses() {
    response(b"HTTP/1.1 200 OK\r\n\r\n", 200, "OK", &[]);
    response(
        b"HTTP/1.0 404 Not Found\r\nA: b\r\n\r\n",
        404,
        "Not Found",
        &[("A", "b")],
    );
    response(b"HTTP/1.1 200\r\n\r\n", 200, "", &[]);
    response(b"HTTP/1.1 200 \r\n\r\n", 200, "", &[]);
    response(
        b"HTTP/1.1 299 \xD0\x94\xD0\xB0 \xFF\r\n\r\n",
        299,
        "Да \u{FFFD}",
        &[],
    );
    response(
        b"HTTP/1.1 200 OK\nA: b\nC: d\n\n",
        200,
        "OK",
        &[("A", "b"), ("C", "d")],
    );
    response(
        b"HTTP/1.1 200 OK\r\ncOnTeNt-TyPe:text/plain\r\nX-Empty:\r\nX-Blank:  \t\r\nX-Wide: \t a b \t\r\n\r\n",
        200,
        "OK",
        &[("cOnTeNt-TyPe", "text/plain"), ("X-Empty", ""), ("X-Blank", ""), ("X-Wide", "a b")],
    );
    response(
        b"HTTP/1.1 200 OK\r\nA: one\r\n  two\r\n\tthree\r\nB:\r\n b\r\nC: c\r\n \r\n\r\n",
        200,
        "OK",
        &[("A", "one two three"), ("B", "b"), ("C", "c")],
    );
    response(
        b"HTTP/1.1 200 OK\r\nA: x:y\r\nA: z\r\n\r\n",
        200,
        "OK",
        &[("A", "x:y"), ("A", "z")],
    );
}

#[test]
fn requests() {
    request(
        b"GET / HTTP/1.1\r\nHost: h\r\n\r\n",
        "GET",
        "/",
        &[("Host", "h")],
    );
    request(
        b"\r\n\nPOST /a?b=%20c HTTP/1.0\n\n",
        "POST",
        "/a?b=%20c",
        &[],
    );
    request(b"M-SEARCH * HTTP/1.1\r\n\r\n", "M-SEARCH", "*", &[]);
}

#[test]
fn nothing_behind_the_head_is_taken() {
    let mut decoder = HeadDecoder::response(LIMITS);
    assert_eq!(decoder.feed(b"HTTP/1.1 200 OK\r\n\r\n{}\n"), Ok((19, true)));
    assert_eq!(decoder.feed(b"{}\n"), Ok((0, true)));
    let mut decoder = HeadDecoder::request(LIMITS);
    assert_eq!(decoder.feed(b"GET / HTTP/1.1\r\n\r"), Ok((17, false)));
    assert_eq!(decoder.feed(b"\n\r\n"), Ok((1, true)));
}

#[test]
fn first_of_several_headers_in_any_case() {
    let head = response_of(&[b"HTTP/1.1 200 OK\r\nVia: a\r\nVIA: b\r\n\r\n".to_vec()]);
    let (_, head) = head.expect("a head");
    assert_eq!((head.header("via"), head.header("vi")), (Some("a"), None));
    let head = request_of(&[b"GET / HTTP/1.1\r\nExpect: x\r\n\r\n".to_vec()]);
    let (_, head) = head.expect("a head");
    assert_eq!((head.header("EXPECT"), head.header("")), (Some("x"), None));
}

#[test]
fn refused_responses() {
    no_response(
        b"",
        "connection closed inside the header block, after 0 bytes",
    );
    no_response(
        b"HTT",
        "connection closed inside the header block, after 3 bytes",
    );
    no_response(
        b"HTTP/1.1 200 OK\r\nA: b\r\n",
        "connection closed inside the header block, after 23 bytes",
    );
    no_response(
        b"SSH-2.0-OpenSSH_9.2\r\n",
        "not an HTTP server: expected \"HTTP/1.1 ...\", found \"SSH-2.0-OpenSSH_9.2\"",
    );
    no_response(
        b"SSH",
        "not an HTTP server: expected \"HTTP/1.1 ...\", found \"SSH\"",
    );
    no_response(
        b"220 \x1b[31mmail.example.org ESMTP Postfix, no junk please",
        "not an HTTP server: expected \"HTTP/1.1 ...\", found \"220 \\u{1b}[31mmail.example.org ESMTP Postfix,\"",
    );
    no_response(
        b"\x15\x03\x01\x00\x02\x02\x46",
        "answered with TLS, not with plain HTTP: this is an https port",
    );
    no_response(
        b"\r\nHTTP/1.1 200 OK\r\n\r\n",
        "not an HTTP server: expected \"HTTP/1.1 ...\", found \"\"",
    );
    no_response(
        b"HTTP/2.0 200 OK\r\n\r\n",
        "expected HTTP/1.0 or HTTP/1.1, found \"HTTP/2.0\"",
    );
    no_response(
        b"HTTP/1.10 200 OK\r\n\r\n",
        "expected HTTP/1.0 or HTTP/1.1, found \"HTTP/1.10\"",
    );
    for line in [
        "HTTP/1.1",
        "HTTP/1.1 20",
        "HTTP/1.1 2000",
        "HTTP/1.1  200",
        "HTTP/1.1 +20 x",
        "HTTP/1.1 099 x",
        "HTTP/1.1 200 a\\u{1b}b",
    ] {
        let bytes = line.replace("\\u{1b}", "\u{1b}");
        no_response(
            format!("{bytes}\r\n\r\n").as_bytes(),
            &format!("expected \"HTTP/1.1 200 OK\" or alike, found \"{line}\""),
        );
    }
}

#[test]
fn refused_requests() {
    no_request(
        b"",
        "connection closed inside the header block, after 0 bytes",
    );
    no_request(
        b"GET /a b HTTP/1.1\r\n\r\n",
        "expected \"METHOD /path HTTP/1.1\", found \"GET /a b HTTP/1.1\"",
    );
    no_request(
        b"GET /\r\n\r\n",
        "expected \"METHOD /path HTTP/1.1\", found \"GET /\"",
    );
    no_request(
        b"GET  HTTP/1.1\r\n\r\n",
        "expected \"METHOD /path HTTP/1.1\", found \"GET  HTTP/1.1\"",
    );
    no_request(
        b"G(T / HTTP/1.1\r\n\r\n",
        "expected \"METHOD /path HTTP/1.1\", found \"G(T / HTTP/1.1\"",
    );
    no_request(
        b"GET /\x7f HTTP/1.1\r\n\r\n",
        "expected \"METHOD /path HTTP/1.1\", found \"GET /\\u{7f} HTTP/1.1\"",
    );
    no_request(
        b"GET / HTTP/3\r\n\r\n",
        "expected HTTP/1.0 or HTTP/1.1, found \"HTTP/3\"",
    );
    no_request(
        b"\x16\x03\x01\x02\x00\x01\n\n",
        "expected \"METHOD /path HTTP/1.1\", found \"\\u{16}\\u{3}\\u{1}\\u{2}\\0\\u{1}\"",
    );
}

#[test]
fn refused_fields() {
    let check = |fields: &str, text: &str| {
        no_response(
            format!("HTTP/1.1 200 OK\r\n{fields}\r\n\r\n").as_bytes(),
            text,
        );
        // The same code reads requests; this first line is as long.
        no_request(
            format!("PUT /a HTTP/1.1\r\n{fields}\r\n\r\n").as_bytes(),
            text,
        );
    };
    check(
        "A: b\r\nno colon here",
        "header line without ':' at byte 23: \"no colon here\"",
    );
    check(": b", "bad header name \"\" at byte 17");
    check("A : b", "bad header name \"A \" at byte 17");
    check("A\tB: b", "bad header name \"A\\tB\" at byte 17");
    check("\u{e4}: b", "bad header name \"\u{e4}\" at byte 17");
    check(" A: b", "bad header name \" A\" at byte 17");
    check("A: b\0c", "control character 0x00 in a header at byte 21");
    check(
        "A: b\rC: d",
        "control character 0x0d in a header at byte 21",
    );
    check(
        "A: b\r\r\n",
        "control character 0x0d in a header at byte 21",
    );
    check(
        "A: b\r\n \u{1b}",
        "control character 0x1b in a header at byte 24",
    );
    check(
        "A\u{7f}: b",
        "control character 0x7f in a header at byte 18",
    );
}

#[test]
fn both_sides_of_the_limit() {
    let head = |length: usize| {
        let frame = "HTTP/1.1 200 OK\r\nA: \r\n\r\n".len();
        format!(
            "HTTP/1.1 200 OK\r\nA: {}\r\n\r\n",
            "x".repeat(length - frame)
        )
    };
    response(head(200).as_bytes(), 200, "OK", &[("A", &"x".repeat(176))]);
    no_response(head(201).as_bytes(), "header block longer than 200 bytes");
    no_response(
        &[b'H'; 300],
        "not an HTTP server: expected \"HTTP/1.1 ...\", found \"HHHHHHHHHHHHHHHHHHHHHHHHHHHHHHHHHHHHHHHH\"",
    );
    no_request(&[b'\n'; 201], "header block longer than 200 bytes");
    no_request(&[b'H'; 201], "header block longer than 200 bytes");
    let megabyte = format!("HTTP/1.1 200 OK\r\n{}\r\n", "A: b\r\n".repeat(180_000));
    let mut decoder = HeadDecoder::response(Limits::default());
    let error = decoder.feed(megabyte.as_bytes()).expect_err("too long");
    assert_eq!(error.to_string(), "header block longer than 65,536 bytes");
}

#[test]
fn ten_thousand_small_headers_within_the_limit_are_fine() {
    let head = format!("HTTP/1.1 200 OK\r\n{}\r\n", "a:b\r\n".repeat(10_000));
    let mut decoder = HeadDecoder::response(Limits::default());
    assert_eq!(decoder.feed(head.as_bytes()), Ok((head.len(), true)));
    let head = decoder.finish_response().expect("a head");
    assert_eq!(head.headers.len(), 10_000);
}

#[test]
fn damaged_heads_end_and_do_not_depend_on_cuts() {
    let sound = b"HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\nA:b\r\n  c\r\n\r\nrest";
    for seed in 0..3000 {
        let mut rng = Rng::new(seed);
        let bytes = rng.mutate(sound);
        let pieces = rng.pieces(&bytes, 9);
        let whole = response_of(&[bytes]);
        assert_eq!(response_of(&pieces), whole, "seed {seed}");
        assert!(request_of(&pieces).is_err(), "seed {seed}");
    }
}
