//! The other end of the wire for the tests of `model`: a real listener whose answers are bytes chosen by the test. A handler gets
//! each request on a thread of its own and writes what it likes to the socket; all requests are kept.

use std::io::{Read, Write};
use std::net::{Shutdown, TcpListener, TcpStream};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::thread::JoinHandle;

/// One request as it arrived.
#[derive(Clone, Debug)]
pub(super) struct Asked {
    /// `POST /api/chat`.
    pub what: String,
    pub head: String,
    pub body: Vec<u8>,
    /// How many requests for the same came before.
    pub earlier: usize,
}

/// A running peer; dropping it stops it.
pub(super) struct Peer {
    port: u16,
    asked: Arc<Mutex<Vec<Asked>>>,
    stopped: Arc<AtomicBool>,
    thread: Option<JoinHandle<()>>,
}

impl Peer {
    /// Serves every connection by `handler`, until dropped.
    pub(super) fn start(handler: impl Fn(&Asked, &mut TcpStream) + Send + Sync + 'static) -> Peer {
        let listener = TcpListener::bind("127.0.0.1:0").expect("a free port");
        let port = listener.local_addr().expect("address").port();
        let asked = Arc::new(Mutex::new(Vec::new()));
        let stopped = Arc::new(AtomicBool::new(false));
        let (kept, stop) = (asked.clone(), stopped.clone());
        let handler = Arc::new(handler);
        let thread = std::thread::spawn(move || {
            let mut threads = Vec::new();
            for stream in listener.incoming() {
                if stop.load(Ordering::SeqCst) {
                    break;
                }
                let Ok(mut stream) = stream else { continue };
                let (kept, handler) = (kept.clone(), handler.clone());
                threads.push(std::thread::spawn(move || {
                    let Some(mut asked) = read_request(&mut stream) else {
                        return;
                    };
                    {
                        let mut all = kept.lock().expect("not poisoned");
                        asked.earlier =
                            all.iter().filter(|a: &&Asked| a.what == asked.what).count();
                        all.push(asked.clone());
                    }
                    handler(&asked, &mut stream);
                    // Orderly: the client sees the end, and its last bytes do not turn it into a reset.
                    let _ = stream.shutdown(Shutdown::Write);
                    let _ = std::io::copy(&mut stream, &mut std::io::sink());
                }));
            }
            for thread in threads {
                thread.join().expect("a handler panicked");
            }
        });
        Peer {
            port,
            asked,
            stopped,
            thread: Some(thread),
        }
    }

    /// Answers every chat by these body bytes in one chunk, and `/api/tags` by no models.
    pub(super) fn streaming(body: &[u8]) -> Peer {
        let body = body.to_vec();
        Peer::start(move |_, stream| send(stream, &chunked(&[&body])))
    }

    /// Answers by whole responses, one for each request in order; the last one again and again.
    pub(super) fn answering(responses: Vec<Vec<u8>>) -> Peer {
        Peer::start(move |asked, stream| {
            let at = asked.earlier.min(responses.len() - 1);
            send(stream, &responses[at]);
        })
    }

    pub(super) fn port(&self) -> u16 {
        self.port
    }

    pub(super) fn address(&self) -> String {
        format!("http://127.0.0.1:{}", self.port)
    }

    /// What was asked so far.
    pub(super) fn asked(&self) -> Vec<Asked> {
        self.asked.lock().expect("not poisoned").clone()
    }

    /// How often this was asked.
    pub(super) fn count(&self, what: &str) -> usize {
        self.asked()
            .iter()
            .filter(|asked| asked.what == what)
            .count()
    }
}

impl Drop for Peer {
    fn drop(&mut self) {
        self.stopped.store(true, Ordering::SeqCst);
        let _ = TcpStream::connect(("127.0.0.1", self.port));
        if let Some(thread) = self.thread.take() {
            let result = thread.join();
            if !std::thread::panicking() {
                result.expect("the peer's thread");
            }
        }
    }
}

/// Writes; a client that has gone is the test's business, not the peer's.
pub(super) fn send(stream: &mut TcpStream, bytes: &[u8]) {
    let _ = stream.write_all(bytes);
}

/// A whole streamed answer, one chunk for each piece.
pub(super) fn chunked(pieces: &[&[u8]]) -> Vec<u8> {
    let mut out = chunked_head();
    for piece in pieces {
        out.extend_from_slice(&chunk(piece));
    }
    out.extend_from_slice(b"0\r\n\r\n");
    out
}

pub(super) fn chunked_head() -> Vec<u8> {
    b"HTTP/1.1 200 OK\r\nContent-Type: application/x-ndjson\r\nTransfer-Encoding: chunked\r\n\r\n"
        .to_vec()
}

pub(super) fn chunk(piece: &[u8]) -> Vec<u8> {
    if piece.is_empty() {
        return Vec::new();
    }
    [format!("{:x}\r\n", piece.len()).as_bytes(), piece, b"\r\n"].concat()
}

/// A whole answer with its length.
pub(super) fn response(status: &str, content_type: &str, body: &str) -> Vec<u8> {
    format!(
        "HTTP/1.1 {status}\r\nContent-Type: {content_type}\r\nContent-Length: {}\r\n\r\n{body}",
        body.len()
    )
    .into_bytes()
}

/// A whole JSON answer.
pub(super) fn json(status: &str, body: &str) -> Vec<u8> {
    response(status, "application/json; charset=utf-8", body)
}

fn read_request(stream: &mut TcpStream) -> Option<Asked> {
    let mut bytes = Vec::new();
    let mut buffer = [0; 64 << 10];
    let head_end = loop {
        if let Some(at) = bytes.windows(4).position(|four| four == b"\r\n\r\n") {
            break at + 4;
        }
        match stream.read(&mut buffer) {
            Ok(0) | Err(_) => return None,
            Ok(read) => bytes.extend_from_slice(&buffer[..read]),
        }
    };
    let head = String::from_utf8(bytes[..head_end].to_vec()).expect("an ASCII head");
    let length = head
        .lines()
        .find_map(|line| line.strip_prefix("Content-Length: "))
        .map_or(0, |length| length.parse().expect("a number"));
    let mut body = bytes[head_end..].to_vec();
    while body.len() < length {
        match stream.read(&mut buffer) {
            Ok(0) | Err(_) => return None,
            Ok(read) => body.extend_from_slice(&buffer[..read]),
        }
    }
    let mut words = head.split(' ');
    let what = format!("{} {}", words.next()?, words.next()?);
    Some(Asked {
        what,
        head,
        body,
        earlier: 0,
    })
}
