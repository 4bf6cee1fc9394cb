//! The client against a scripted peer on a real socket: what is sent, what is told, what it does with each kind of answer.
use crate::support::wire::{Act, Peer};
use std::ops::ControlFlow;
use std::time::Duration;
use zcoder::http::client::{Step, Timeouts, exchange, fetch};
use zcoder::http::{Endpoint, Error, Head, Limits, Request, Target};
use zcoder::lines::Ndjson;
use zcoder::sys::Cancel;

pub(super) const CHAT: Request<'static> = Request {
    method: "POST",
    path: "/api/chat",
    body: &[b"{\"model\":\"m\"", b"", b"}", b""],
};

pub(super) const GET: Request<'static> = Request {
    method: "GET",
    path: "/api/tags",
    body: &[],
};

/// Far above what a test takes, far below what a person waits.
pub(super) fn patient() -> Timeouts {
    let limit = Duration::from_secs(20);
    Timeouts {
        connect: limit,
        first_byte: Some(limit),
        gap: Some(limit),
    }
}

/// One exchange; the body also when it fails.
pub(super) fn chat(target: &Target, request: &Request<'_>) -> (Result<Head, Error>, Vec<u8>) {
    let cancel = Cancel::new().expect("a switch");
    let mut body = Vec::new();
    let head = exchange(
        target,
        request,
        &patient(),
        Limits::default(),
        &cancel,
        &mut |step| {
            if let Step::Body { bytes } = step {
                body.extend_from_slice(bytes);
            }
            ControlFlow::Continue(())
        },
    );
    (head, body)
}

/// The error's text with `PEER` for the address.
pub(super) fn text(error: &Error, peer: &Peer) -> String {
    error
        .to_string()
        .replace(&peer.address().to_string(), "PEER")
}

/// The response, whole and byte by byte, gives this status and body.
#[track_caller]
fn answered(response: &[u8], status: u16, body: &[u8]) {
    for act in [
        Act::Send(response.to_vec()),
        Act::Trickle(response.to_vec()),
    ] {
        let peer = Peer::play([Act::Request, act, Act::Close]);
        let (head, got) = chat(&peer.target(), &CHAT);
        assert_eq!((head.expect("an answer").status, &got[..]), (status, body));
        assert_eq!(peer.requests().len(), 1);
    }
}

/// The response, whole and byte by byte, fails with this text, after these body bytes.
#[track_caller]
fn failed(response: &[u8], body: &[u8], expected: &str) {
    for act in [
        Act::Send(response.to_vec()),
        Act::Trickle(response.to_vec()),
    ] {
        let peer = Peer::play([Act::Request, act, Act::Close]);
        let (head, got) = chat(&peer.target(), &CHAT);
        let error = head.expect_err("an error");
        assert_eq!((text(&error, &peer).as_str(), &got[..]), (expected, body));
        assert_eq!(peer.requests().len(), 1);
    }
}

fn chunked(chunks: &[&str]) -> Vec<u8> {
    let mut wire = b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n".to_vec();
    for chunk in chunks {
        wire.extend_from_slice(format!("{:x}\r\n{chunk}\r\n", chunk.len()).as_bytes());
    }
    wire.extend_from_slice(b"0\r\n\r\n");
    wire
}

#[test]
fn the_request_as_it_is_sent() {
    let peer = Peer::serve([
        vec![
            Act::Request,
            Act::Send(b"HTTP/1.1 204 No Content\r\n\r\n".to_vec()),
            Act::Close,
        ],
        vec![
            Act::Request,
            Act::Send(b"HTTP/1.1 204 No Content\r\n\r\n".to_vec()),
            Act::Close,
        ],
        vec![
            Act::Request,
            Act::Send(b"HTTP/1.1 204 No Content\r\n\r\n".to_vec()),
            Act::Close,
        ],
    ]);
    let port = peer.address().port();
    let (endpoint, _) = Endpoint::parse(&format!("127.0.0.1:{port}/proxy/")).expect("address");
    let headers = vec![("Authorization".to_owned(), "Bearer x y".to_owned())];
    let target = Target::new(endpoint, None, headers).expect("target");
    chat(&target, &CHAT).0.expect("an answer");
    chat(&target, &GET).0.expect("an answer");
    let empty = Request {
        method: "POST",
        path: "/x",
        body: &[],
    };
    chat(&target, &empty).0.expect("an answer");
    let version = env!("CARGO_PKG_VERSION");
    let expected = [
        format!(
            "POST /proxy/api/chat HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\nUser-Agent: zcoder/{version}\r\n\
             Content-Type: application/json\r\nContent-Length: 13\r\nConnection: close\r\n\
             Authorization: Bearer x y\r\n\r\n{{\"model\":\"m\"}}"
        ),
        format!(
            "GET /proxy/api/tags HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\nUser-Agent: zcoder/{version}\r\n\
             Connection: close\r\nAuthorization: Bearer x y\r\n\r\n"
        ),
        format!(
            "POST /proxy/x HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\nUser-Agent: zcoder/{version}\r\n\
             Content-Length: 0\r\nConnection: close\r\nAuthorization: Bearer x y\r\n\r\n"
        ),
    ];
    let requests: Vec<String> = peer
        .requests()
        .into_iter()
        .map(|bytes| String::from_utf8(bytes).expect("text"))
        .collect();
    assert_eq!(requests, expected);
}

#[test]
fn steps_in_order_and_every_byte_told() {
    let response = chunked(&["ab", "c"]);
    let peer = Peer::play([Act::Request, Act::Send(response.clone()), Act::Close]);
    let cancel = Cancel::new().expect("a switch");
    let (mut names, mut sent, mut received, mut body) =
        (Vec::new(), Vec::new(), Vec::new(), Vec::new());
    let head = exchange(
        &peer.target(),
        &CHAT,
        &patient(),
        Limits::default(),
        &cancel,
        &mut |step| {
            let name = match step {
                Step::Connected { peer } => format!("connected {peer}"),
                Step::Sending { bytes } => {
                    sent.extend_from_slice(bytes);
                    "sending".to_owned()
                }
                Step::Sent => "sent".to_owned(),
                Step::Silent { .. } => return ControlFlow::Continue(()),
                Step::Received { bytes } => {
                    received.extend_from_slice(bytes);
                    "received".to_owned()
                }
                Step::Head { head } => format!("head {}", head.status),
                Step::Body { bytes } => {
                    body.extend_from_slice(bytes);
                    "body".to_owned()
                }
            };
            if names.last() != Some(&name) {
                names.push(name);
            }
            ControlFlow::Continue(())
        },
    );
    assert_eq!(head.expect("an answer").status, 200);
    let connected = format!("connected {}", peer.address());
    assert_eq!(
        names,
        [
            connected.as_str(),
            "sending",
            "sent",
            "received",
            "head 200",
            "body"
        ]
    );
    assert_eq!((received, body), (response, b"abc".to_vec()));
    assert_eq!(peer.requests(), [sent]);
}

#[test]
fn a_break_at_any_step_stops_and_closes() {
    for stop_at in 0..7 {
        let peer = Peer::play([Act::Request, Act::Send(chunked(&["ab"])), Act::Await]);
        let cancel = Cancel::new().expect("a switch");
        let mut seen = 0;
        let result = exchange(
            &peer.target(),
            &CHAT,
            &patient(),
            Limits::default(),
            &cancel,
            &mut |_| {
                seen += 1;
                if seen > stop_at {
                    ControlFlow::Break(())
                } else {
                    ControlFlow::Continue(())
                }
            },
        );
        let error = result.expect_err("stopped");
        assert!(matches!(error, Error::Stopped), "{stop_at}: {error}");
        assert_eq!(
            (seen, error.to_string()),
            (stop_at + 1, "stopped".to_owned())
        );
        // Returns only because the client closed.
        peer.requests();
    }
}

#[test]
fn corpus_1_to_5_and_7_chunks_anywhere() {
    let text = "{\"a\":\"\u{e9} \\u00e9 \\ud83d\\ude00 \u{1f600}\",\"n\":12.5,\"t\":true}\n";
    let bytes = text.as_bytes();
    // Every boundary, those inside of characters and escapes included, and a chunk a byte.
    for at in 1..bytes.len() {
        let head = b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n";
        let (one, two) = bytes.split_at(at);
        let wire = [
            &head[..],
            format!("{:x}\r\n", one.len()).as_bytes(),
            one,
            format!("\r\n{:X}\r\n", two.len()).as_bytes(),
            two,
            b"\r\n0\r\n\r\n",
        ]
        .concat();
        let peer = Peer::answer(&wire);
        let (head, body) = chat(&peer.target(), &CHAT);
        assert_eq!(
            (head.expect("an answer").status, &body[..]),
            (200, bytes),
            "cut at {at}"
        );
    }
    let singles: Vec<String> = text.chars().map(String::from).collect();
    let singles: Vec<&str> = singles.iter().map(String::as_str).collect();
    answered(&chunked(&singles), 200, bytes);
    answered(&chunked(&["{}\n{}\n{}\n"]), 200, b"{}\n{}\n{}\n");
    answered(
        b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n0001A;a=b;q=\"x;y\"\r\nabcdefghijklmnopqrstuvwxyz\r\n2 ; x\r\n{}\r\n0;last\r\nSum: 1\r\n\r\n",
        200,
        b"abcdefghijklmnopqrstuvwxyz{}",
    );
}

#[test]
fn corpus_6_to_8_broken_and_cut_chunks() {
    let wire =
        |chunks: &str| format!("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n{chunks}");
    failed(
        wire("\r\nabc").as_bytes(),
        b"",
        "PEER: bad chunk size at body byte 0: unexpected 0x0d",
    );
    failed(
        wire("2\r\n{}\r\n-2\r\n").as_bytes(),
        b"{}",
        "PEER: bad chunk size at body byte 7: unexpected '-'",
    );
    failed(
        wire("11111111111111111\r\n").as_bytes(),
        b"",
        "PEER: bad chunk size at body byte 16: more than 16 digits",
    );
    failed(
        wire("ffffffffffff\r\nabc").as_bytes(),
        b"",
        "PEER: body larger than 67,108,864 bytes",
    );
    failed(
        wire("2\r\n{}}\r\n").as_bytes(),
        b"{}",
        "PEER: chunk data does not end at body byte 5: expected CR LF, found '}'",
    );
    failed(
        wire(&format!("0\r\nA: {}\r\n\r\n", "x".repeat(100 << 10))).as_bytes(),
        b"",
        "PEER: trailers longer than 65,536 bytes",
    );
    failed(
        wire("4\r\n{}").as_bytes(),
        b"{}",
        "PEER: connection closed after 2 body bytes, 2 short of the chunk's end",
    );
    failed(
        wire("2\r\n{}").as_bytes(),
        b"{}",
        "PEER: connection closed after 2 body bytes, before the last chunk",
    );
    failed(
        wire("2\r\n{}\r\n").as_bytes(),
        b"{}",
        "PEER: connection closed after 2 body bytes, before the last chunk",
    );
}

#[test]
fn corpus_9_to_12_lengths() {
    answered(
        b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n{}",
        200,
        b"{}",
    );
    answered(
        b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n{}HTTP/1.1 500 No\r\n\r\n",
        200,
        b"{}",
    );
    // In bytes, not characters.
    answered(
        "HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\n\u{e9}\u{e9}".as_bytes(),
        200,
        "\u{e9}\u{e9}".as_bytes(),
    );
    failed(
        b"HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\n{}",
        b"{}",
        "PEER: connection closed after 2 of 9 body bytes",
    );
    answered(b"HTTP/1.1 200 OK\r\n\r\n{}", 200, b"{}");
    answered(b"HTTP/1.0 200 OK\r\n\r\n{}", 200, b"{}");
    failed(
        b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\nTransfer-Encoding: chunked\r\n\r\n2\r\n{}\r\n0\r\n\r\n",
        b"",
        "PEER: both Content-Length \"2\" and Transfer-Encoding chunked",
    );
    failed(
        b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\nContent-Length: 3\r\n\r\n{}",
        b"",
        "PEER: two different Content-Length: \"2\" and \"3\"",
    );
    failed(
        b"HTTP/1.1 200 OK\r\nContent-Length: 5,5\r\n\r\n{}",
        b"",
        "PEER: bad Content-Length \"5,5\": expected digits",
    );
    answered(
        b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\nContent-Length: 2\r\n\r\n{}",
        200,
        b"{}",
    );
}

#[test]
fn corpus_13_informational_heads_are_skipped() {
    answered(
        b"HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 103 Early Hints\r\nLink: </a>\r\n\r\nHTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n{}",
        200,
        b"{}",
    );
    failed(
        b"HTTP/1.1 100 Continue\r\n\r\n",
        b"",
        "PEER closed the connection without an answer",
    );
}

#[test]
fn corpus_14_no_body_is_waited_for() {
    for status in ["204 No Content", "304 Not Modified"] {
        let response = format!("HTTP/1.1 {status}\r\nContent-Length: 10\r\n\r\n");
        let peer = Peer::play([Act::Request, Act::Send(response.into_bytes()), Act::Await]);
        let (head, body) = chat(&peer.target(), &CHAT);
        assert_eq!(head.expect("an answer").reason, status[4..]);
        assert_eq!(body, b"");
    }
    let response = b"HTTP/1.1 200 OK\r\nContent-Length: 10\r\nContent-Encoding: gzip\r\n\r\n";
    let peer = Peer::play([Act::Request, Act::Send(response.to_vec()), Act::Await]);
    let (head, body) = chat(
        &peer.target(),
        &Request {
            method: "HEAD",
            ..GET
        },
    );
    assert_eq!(
        (head.expect("an answer").status, &body[..]),
        (200, &b""[..])
    );
}

#[test]
fn corpus_15_and_16_heads() {
    answered(
        b"HTTP/1.1 200\nCONTENT-length:2\nX-Folded: a\n b\n\n{}",
        200,
        b"{}",
    );
    let big = format!(
        "HTTP/1.1 200 OK\r\n{}\r\n",
        "X-Header: value\r\n".repeat(64_000)
    );
    let peer = Peer::answer(big.as_bytes());
    let error = chat(&peer.target(), &CHAT).0.expect_err("too long");
    assert_eq!(
        text(&error, &peer),
        "PEER: header block longer than 65,536 bytes"
    );
    failed(
        b"HTTP/1.1 200 OK\r\nno colon\r\n\r\n",
        b"",
        "PEER: header line without ':' at byte 17: \"no colon\"",
    );
    failed(
        b"HTTP/1.1 200 OK\r\nA: \0\r\n\r\n",
        b"",
        "PEER: control character 0x00 in a header at byte 20",
    );
    failed(
        b"HTTP/1.1 200 OK\r\nA: b\r\n",
        b"",
        "PEER: connection closed inside the header block, after 23 bytes",
    );
    failed(
        b"SSH-2.0-OpenSSH_9.2\r\n",
        b"",
        "PEER: not an HTTP server: expected \"HTTP/1.1 ...\", found \"SSH-2.0-OpenSSH_9.2\"",
    );
}

#[test]
fn corpus_17_and_52_compression_is_named() {
    failed(
        b"HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\nContent-Length: 3\r\n\r\n\x1f\x8b\x08",
        b"",
        "PEER: answer compressed with \"gzip\" though nothing of the kind was asked for (a proxy in between?)",
    );
    failed(
        b"HTTP/1.1 200 OK\r\nTransfer-Encoding: gzip, chunked\r\n\r\n3\r\n\x1f\x8b\x08\r\n0\r\n\r\n",
        b"",
        "PEER: answer compressed with \"gzip, chunked\" though nothing of the kind was asked for (a proxy in between?)",
    );
    answered(
        b"HTTP/1.1 200 OK\r\nContent-Encoding: Identity\r\nContent-Length: 2\r\n\r\n{}",
        200,
        b"{}",
    );
}

#[test]
fn corpus_18_redirects_are_told_and_not_followed() {
    for status in [301, 302, 307, 308] {
        let response =
            format!("HTTP/1.1 {status} Moved\r\nLocation: /elsewhere\r\nContent-Length: 0\r\n\r\n");
        let peer = Peer::serve([
            vec![Act::Request, Act::Send(response.into_bytes()), Act::Close],
            vec![Act::Request],
        ]);
        let (head, _) = chat(&peer.target(), &CHAT);
        let head = head.expect("an answer");
        assert_eq!(
            (head.status, head.header("location")),
            (status, Some("/elsewhere"))
        );
        assert_eq!(peer.requests().len(), 1);
    }
}

#[test]
fn corpus_19_other_bodies_pass_as_they_are() {
    answered(
        b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nContent-Length: 6\r\n\r\n<html>",
        200,
        b"<html>",
    );
    answered(b"HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n", 200, b"");
    answered(
        b"HTTP/1.1 404 Not Found\r\nContent-Length: 18\r\n\r\n404 page not found",
        404,
        b"404 page not found",
    );
}

/// The records of a stream, as `model` reads them.
fn records(peer: &Peer, limit_bytes: usize) -> Result<Vec<Vec<u8>>, String> {
    let cancel = Cancel::new().expect("a switch");
    let mut lines = Ndjson::new(limit_bytes);
    let mut records = Vec::new();
    let mut fault: Option<zcoder::lines::Error> = None;
    let head = exchange(
        &peer.target(),
        &CHAT,
        &patient(),
        Limits::default(),
        &cancel,
        &mut |step| {
            if let Step::Body { bytes } = step {
                let fed = lines.feed(bytes, &mut |record| {
                    records.push(record.to_vec());
                    Ok(())
                });
                if let Err(error) = fed {
                    fault = Some(error);
                    return ControlFlow::Break(());
                }
            }
            ControlFlow::Continue(())
        },
    );
    if let Some(fault) = fault {
        return Err(fault.to_string());
    }
    head.map_err(|error| text(&error, peer))?;
    let ended: Result<(), zcoder::lines::Error> = lines.finish(&mut |record| {
        records.push(record.to_vec());
        Ok(())
    });
    ended.map_err(|error| error.to_string())?;
    Ok(records)
}

#[test]
fn corpus_20_and_21_record_ends() {
    let peer = Peer::answer(&chunked(&[
        "\u{feff}{\"a\":1}\r",
        "\n\n \t\r\n",
        "  {\"b\":2}\t \n{\"c\"",
        ":3}{\"d\":4}",
    ]));
    let expected: Vec<Vec<u8>> = [&b"{\"a\":1}"[..], b"{\"b\":2}", b"{\"c\":3}{\"d\":4}"]
        .map(<[u8]>::to_vec)
        .to_vec();
    assert_eq!(records(&peer, 100), Ok(expected));
}

#[test]
fn corpus_22_a_line_of_12_megabytes() {
    let line = format!("{{\"a\":\"{}\"}}", "\\n\u{e9}".repeat(3 << 20));
    assert!(line.len() > 12_000_000);
    let pieces: Vec<&[u8]> = line.as_bytes().chunks(1000).collect();
    let mut wire = b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n".to_vec();
    for piece in pieces {
        wire.extend_from_slice(format!("{:x}\r\n", piece.len()).as_bytes());
        wire.extend_from_slice(piece);
        wire.extend_from_slice(b"\r\n");
    }
    wire.extend_from_slice(b"1\r\n\n\r\n0\r\n\r\n");
    let peer = Peer::answer(&wire);
    assert!(records(&peer, 16 << 20) == Ok(vec![line.into_bytes()]));
}

#[test]
fn corpus_23_a_line_without_end() {
    let piece = [b"10000\r\n".to_vec(), vec![b'x'; 1 << 16], b"\r\n".to_vec()].concat();
    let peer = Peer::play([
        Act::Request,
        Act::Send(b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n".to_vec()),
        Act::Repeat(piece, 16_384),
        Act::Close,
    ]);
    assert_eq!(
        records(&peer, 16 << 20),
        Err("line longer than 16,777,216 bytes".to_owned())
    );
    // Without lines it ends at the limit of the body.
    let peer = Peer::play([
        Act::Request,
        Act::Send(b"HTTP/1.1 200 OK\r\n\r\n".to_vec()),
        Act::Repeat(vec![b'x'; 1 << 16], 16_384),
        Act::Close,
    ]);
    let (head, body) = chat(&peer.target(), &CHAT);
    let error = head.expect_err("too large");
    assert_eq!(
        text(&error, &peer),
        "PEER: body larger than 67,108,864 bytes"
    );
    assert_eq!(body.len(), 64 << 20);
}

#[test]
fn corpus_24_two_hundred_thousand_records() {
    let record = b"e\r\n{\"a\":\"x y\"}\r\n\n\r\n";
    assert_eq!(record.len(), 19);
    let peer = Peer::play([
        Act::Request,
        Act::Send(b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n".to_vec()),
        Act::Repeat(record.repeat(1000), 200),
        Act::Send(b"0\r\n\r\n".to_vec()),
        Act::Close,
    ]);
    let records = records(&peer, 100).expect("records");
    assert_eq!(records.len(), 200_000);
    assert!(records.iter().all(|record| record == b"{\"a\":\"x y\"}"));
}

#[test]
fn fetch_takes_the_body_up_to_its_limit() {
    let cancel = Cancel::new().expect("a switch");
    let response =
        b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n2\r\nde\r\n0\r\n\r\n";
    let peer = Peer::answer(response);
    let (head, body) = fetch(&peer.target(), &GET, &patient(), 5, &cancel).expect("an answer");
    assert_eq!((head.status, &body[..]), (200, &b"abcde"[..]));
    let peer = Peer::answer(response);
    let error = fetch(&peer.target(), &GET, &patient(), 4, &cancel).expect_err("too large");
    assert_eq!(text(&error, &peer), "PEER: body larger than 4 bytes");
}
