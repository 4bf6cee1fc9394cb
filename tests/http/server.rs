//! The server: real sockets, our own client and raw bytes.
use super::exchange::{CHAT, GET, patient};
use std::io::{Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::sync::mpsc;
use std::time::Duration;
use zcoder::http::client::fetch;
use zcoder::http::server::{Responder, Server};
use zcoder::http::{Endpoint, Limits, Request, RequestHead, Target};
use zcoder::sys::Cancel;

const LIMITS: Limits = Limits {
    head_bytes: 300,
    chunk_line_bytes: 32,
    trailer_bytes: 32,
    body_bytes: 1000,
};

fn start(handler: impl Fn(RequestHead, Vec<u8>, Responder) + Send + Sync + 'static) -> Server {
    let address = SocketAddr::from(([127, 0, 0, 1], 0));
    Server::start(address, LIMITS, Duration::from_secs(20), handler).expect("a server")
}

/// Echoes what it got: as a whole, or in chunks for the target `/stream`.
fn echo() -> Server {
    start(|head, body, responder| {
        let text = format!(
            "{} {} {}",
            head.method,
            head.target,
            String::from_utf8_lossy(&body)
        );
        // The client may be gone; the tests look at what it got.
        let _ = if head.target == "/stream" {
            responder.stream(200, "text/plain").and_then(|mut stream| {
                text.as_bytes()
                    .chunks(4)
                    .try_for_each(|chunk| stream.chunk(chunk))?;
                stream.chunk(b"")?;
                stream.finish()
            })
        } else {
            responder.send(201, "text/plain", text.as_bytes())
        };
    })
}

/// Sends bytes, and returns all that comes back.
fn raw(address: SocketAddr, request: &[u8]) -> String {
    let mut stream = TcpStream::connect(address).expect("connected");
    stream
        .set_read_timeout(Some(Duration::from_secs(20)))
        .expect("timeout");
    stream.write_all(request).expect("sent");
    let mut answer = Vec::new();
    stream.read_to_end(&mut answer).expect("an answer");
    String::from_utf8(answer).expect("text")
}

#[track_caller]
fn answers(request: &[u8], expected: &str) {
    let server = echo();
    assert_eq!(raw(server.address(), request), expected);
    server.stop();
}

fn refused(request: &[u8], status: &str, text: &str) {
    let length = text.len() + 1;
    answers(
        request,
        &format!(
            "HTTP/1.1 {status}\r\nContent-Type: text/plain\r\nContent-Length: {length}\r\nConnection: close\r\n\r\n{text}\n"
        ),
    );
}

#[test]
fn whole_answers() {
    answers(
        b"POST /a HTTP/1.1\r\nHost: h\r\nContent-Length: 3\r\n\r\nabc",
        "HTTP/1.1 201 \r\nContent-Type: text/plain\r\nContent-Length: 11\r\nConnection: close\r\n\r\nPOST /a abc",
    );
    answers(
        b"POST /a HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nab\r\n1\r\nc\r\n0\r\n\r\n",
        "HTTP/1.1 201 \r\nContent-Type: text/plain\r\nContent-Length: 11\r\nConnection: close\r\n\r\nPOST /a abc",
    );
    answers(
        b"HEAD /a HTTP/1.1\r\n\r\n",
        "HTTP/1.1 201 \r\nContent-Type: text/plain\r\nContent-Length: 8\r\nConnection: close\r\n\r\n",
    );
}

#[test]
fn streamed_answers() {
    let head = "HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\n";
    answers(
        b"GET /stream HTTP/1.1\r\n\r\n",
        &format!(
            "{head}Transfer-Encoding: chunked\r\nConnection: close\r\n\r\n4\r\nGET \r\n4\r\n/str\r\n4\r\neam \r\n0\r\n\r\n"
        ),
    );
    answers(
        b"GET /stream HTTP/1.0\r\n\r\n",
        &format!("{head}Connection: close\r\n\r\nGET /stream "),
    );
    answers(
        b"HEAD /stream HTTP/1.1\r\n\r\n",
        &format!("{head}Transfer-Encoding: chunked\r\nConnection: close\r\n\r\n"),
    );
}

#[test]
fn expectations() {
    let server = echo();
    let mut stream = TcpStream::connect(server.address()).expect("connected");
    stream
        .write_all(b"POST /a HTTP/1.1\r\nExpect: 100-Continue\r\nContent-Length: 3\r\n\r\n")
        .expect("sent");
    let mut begin = [0; 25];
    stream.read_exact(&mut begin).expect("the go-ahead");
    assert_eq!(&begin, b"HTTP/1.1 100 Continue\r\n\r\n");
    stream.write_all(b"abc").expect("sent");
    let mut answer = String::new();
    stream.read_to_string(&mut answer).expect("an answer");
    assert!(answer.ends_with("\r\n\r\nPOST /a abc"), "{answer}");
    server.stop();
    // Without a body, and in HTTP/1.0, there is nothing to continue.
    answers(
        b"HEAD /a HTTP/1.1\r\nExpect: 100-continue\r\nContent-Length: 0\r\n\r\n",
        "HTTP/1.1 201 \r\nContent-Type: text/plain\r\nContent-Length: 8\r\nConnection: close\r\n\r\n",
    );
    answers(
        b"HEAD /a HTTP/1.0\r\nExpect: 100-continue\r\nContent-Length: 1\r\n\r\nx",
        "HTTP/1.1 201 \r\nContent-Type: text/plain\r\nContent-Length: 9\r\nConnection: close\r\n\r\n",
    );
    refused(
        b"POST /a HTTP/1.1\r\nExpect: the-moon\r\nContent-Length: 1\r\n\r\n",
        "417 Expectation Failed",
        "expectation \"the-moon\" cannot be met",
    );
}

#[test]
fn refused_requests() {
    refused(
        b"GET /\r\n\r\n",
        "400 Bad Request",
        "expected \"METHOD /path HTTP/1.1\", found \"GET /\"",
    );
    refused(
        b"GET / HTTP/2.0\r\n\r\n",
        "505 HTTP Version Not Supported",
        "expected HTTP/1.0 or HTTP/1.1, found \"HTTP/2.0\"",
    );
    refused(
        b"GET / HTTP/1.1\r\nA : b\r\n\r\n",
        "400 Bad Request",
        "bad header name \"A \" at byte 16",
    );
    let long = format!("GET / HTTP/1.1\r\nA: {}\r\n\r\n", "x".repeat(300));
    refused(
        long.as_bytes(),
        "431 Request Header Fields Too Large",
        "header block longer than 300 bytes",
    );
    refused(
        b"POST / HTTP/1.1\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\nab",
        "400 Bad Request",
        "two different Content-Length: \"1\" and \"2\"",
    );
    refused(
        b"POST / HTTP/1.1\r\nTransfer-Encoding: gzip\r\n\r\n",
        "501 Not Implemented",
        "Transfer-Encoding \"gzip\": only \"chunked\" is understood",
    );
    refused(
        b"POST / HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\nx",
        "400 Bad Request",
        "bad chunk size at body byte 0: unexpected 'x'",
    );
}

#[test]
fn both_sides_of_the_body_limit() {
    let request = |length: usize| {
        format!(
            "HEAD / HTTP/1.1\r\nContent-Length: {length}\r\n\r\n{}",
            "x".repeat(length)
        )
    };
    answers(
        request(1000).as_bytes(),
        "HTTP/1.1 201 \r\nContent-Type: text/plain\r\nContent-Length: 1007\r\nConnection: close\r\n\r\n",
    );
    refused(
        request(1001).as_bytes(),
        "413 Content Too Large",
        "body larger than 1,000 bytes",
    );
    // The refusal arrives although far more is under way than the sockets hold.
    let server = echo();
    let body = vec![b'x'; 8 << 20];
    let (endpoint, _) = Endpoint::parse(&server.address().to_string()).expect("address");
    let target = Target::new(endpoint, None, Vec::new()).expect("target");
    let cancel = Cancel::new().expect("a switch");
    let request = Request {
        body: &[&body],
        ..CHAT
    };
    let (head, text) = fetch(&target, &request, &patient(), 1000, &cancel).expect("an answer");
    assert_eq!(
        (head.status, &text[..]),
        (413, &b"body larger than 1,000 bytes\n"[..])
    );
}

#[test]
fn a_cut_request_reaches_no_handler() {
    let server = start(|_, _, responder| drop(responder.send(200, "text/plain", b"handled")));
    for cut in ["", "GE", "GET / HTTP/1.1\r\n"] {
        let mut stream = TcpStream::connect(server.address()).expect("connected");
        stream.write_all(cut.as_bytes()).expect("sent");
        stream.shutdown(std::net::Shutdown::Write).expect("closed");
        let mut answer = String::new();
        stream.read_to_string(&mut answer).expect("the end");
        assert_eq!(answer, "", "{cut:?}");
    }
    let mut stream = TcpStream::connect(server.address()).expect("connected");
    stream
        .write_all(b"POST / HTTP/1.1\r\nContent-Length: 5\r\n\r\nabc")
        .expect("sent");
    stream.shutdown(std::net::Shutdown::Write).expect("closed");
    let mut answer = String::new();
    stream.read_to_string(&mut answer).expect("the end");
    assert!(
        answer.ends_with("connection closed after 3 of 5 body bytes\n"),
        "{answer}"
    );
    server.stop();
}

#[test]
fn a_client_that_vanishes_is_noticed() {
    let (gone, seen) = mpsc::channel();
    let (go, gate) = mpsc::channel::<()>();
    let gate = std::sync::Mutex::new(gate);
    let server = start(move |_, _, responder| {
        assert!(!responder.is_gone());
        let mut stream = responder.stream(200, "text/plain").expect("a head");
        assert!(!stream.is_gone());
        stream.chunk(b"one").expect("a chunk");
        // Until the test has closed its side.
        let _ = gate.lock().expect("the gate").recv();
        while !stream.is_gone() {
            std::thread::yield_now();
        }
        // The kernel may take some before it knows.
        let failed = (0..1000).any(|_| stream.chunk(&[b'x'; 10_000]).is_err());
        let _ = gone.send(failed);
    });
    let mut stream = TcpStream::connect(server.address()).expect("connected");
    stream.write_all(b"GET / HTTP/1.1\r\n\r\n").expect("sent");
    // The chunk comes behind the handler's first looks.
    let mut begin = Vec::new();
    while !begin.ends_with(b"one\r\n") {
        let mut byte = [0];
        stream.read_exact(&mut byte).expect("head and chunk");
        begin.push(byte[0]);
    }
    drop(stream);
    go.send(()).expect("the handler");
    assert_eq!(seen.recv_timeout(Duration::from_secs(20)), Ok(true));
    server.stop();
}

#[test]
fn raw_and_dropped_answers() {
    let server = start(|head, _, responder| {
        if head.target == "/raw" {
            let stream = responder.raw();
            let _ = (&*stream).write_all(b"anything");
        }
    });
    assert_eq!(
        raw(server.address(), b"GET /raw HTTP/1.1\r\n\r\n"),
        "anything"
    );
    assert_eq!(raw(server.address(), b"GET / HTTP/1.1\r\n\r\n"), "");
    server.stop();
}

#[test]
fn a_silent_client_is_dropped() {
    let address = SocketAddr::from(([127, 0, 0, 1], 0));
    let server =
        Server::start(address, LIMITS, Duration::from_millis(50), |_, _, _| {}).expect("a server");
    assert_eq!(raw(server.address(), b"GET /"), "");
}

#[test]
fn more_connections_than_threads_are_told_so() {
    let server = echo();
    let idle: Vec<TcpStream> = (0..64)
        .map(|_| TcpStream::connect(server.address()).expect("connected"))
        .collect();
    assert_eq!(
        raw(server.address(), b"").lines().next(),
        Some("HTTP/1.1 503 Service Unavailable")
    );
    drop(idle);
    server.stop();
}

#[test]
fn stop_ends_open_connections_and_the_listener() {
    let server = echo();
    let address = server.address();
    let mut idle = TcpStream::connect(address).expect("connected");
    // A second one that is answered: the first is accepted by then.
    raw(address, b"GET / HTTP/1.1\r\n\r\n");
    server.stop();
    let mut rest = Vec::new();
    idle.read_to_end(&mut rest).expect("the end");
    assert_eq!(rest, b"");
    assert!(TcpStream::connect(address).is_err());
    // The port is free for the next one.
    let again = Server::start(address, LIMITS, Duration::from_secs(1), |_, _, _| {});
    assert_eq!(again.expect("a server").address(), address);
}

#[test]
fn our_client_and_our_server_understand_each_other() {
    let server = echo();
    let (endpoint, _) = Endpoint::parse(&server.address().to_string()).expect("address");
    let target = Target::new(endpoint, None, Vec::new()).expect("target");
    let cancel = Cancel::new().expect("a switch");
    let (head, body) = fetch(&target, &CHAT, &patient(), 1000, &cancel).expect("an answer");
    assert_eq!(
        (head.status, &body[..]),
        (201, &b"POST /api/chat {\"model\":\"m\"}"[..])
    );
    let stream = Request {
        path: "/stream",
        ..GET
    };
    let (head, body) = fetch(&target, &stream, &patient(), 1000, &cancel).expect("an answer");
    assert_eq!((head.status, &body[..]), (200, &b"GET /stream "[..]));
    server.stop();
}
