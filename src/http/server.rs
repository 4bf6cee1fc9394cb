//! A small server: requests in from a listening socket, one thread a connection, one answer each, then the connection
//! closes. The stand-in model is served by it.
//!
//! ```text
//! POST /api/chat HTTP/1.1\r\n…Expect: 100-continue\r\n\r\n      curl, before a large body
//! HTTP/1.1 100 Continue\r\n\r\n                                  so that it sends the body
//! {"model":…
//! HTTP/1.1 200 OK\r\n
//! Content-Type: application/x-ndjson\r\n
//! Transfer-Encoding: chunked\r\n                                 Responder::stream; Content-Length with ::send
//! Connection: close\r\n\r\n
//! 2f\r\n{"message":…}\n\r\n                                      Stream::chunk: one chunk, one write
//! 0\r\n\r\n                                                      Stream::finish
//! ```
//!
//! Refused, each with a line of text: a head that is not HTTP/1.x (400) or too long (431), a body whose framing is
//! broken (400), compressed (501) or too large (413), an `Expect` that is not `100-continue` (417), more than
//! `MAX_CONNECTIONS` at a time (503). A peer that sends nothing for the read time limit is dropped.
//!
//! Invariant: the handler sees complete requests only.
//! Invariant: a [`Responder`] answers once: every way to use it consumes it, and a dropped one closes the connection.
//! Invariant: after [`Server::stop`] nothing is accepted, and every connection is shut down: handlers find their
//! clients gone.
//!
//! Next: `respond.rs` for the answers; [`super::client`], the other end.
use super::respond::answer;
pub use super::respond::{Responder, Stream};
use super::{BodyDecoder, BodyError, Framing, HeadDecoder, HeadError, Limits, RequestHead};
use crate::sys::thread;
use std::io::{self, Read, Write};
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, Shutdown, SocketAddr, TcpListener, TcpStream};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Weak};
use std::thread::{JoinHandle, sleep};
use std::time::Duration;

/// More connections at a time than this get a 503: each one is a thread.
const MAX_CONNECTIONS: usize = 64;

/// One read takes up to this much.
const READ_BYTES: usize = 64 << 10;

/// How long, and how far, a refused client is still read, so that closing does not destroy the answer under way to it.
const LINGER: Duration = Duration::from_secs(1);
const LINGER_BYTES: usize = 1 << 20;

/// A pause when no connection can be accepted (no descriptors left): the one thing that helps is that others end.
const ACCEPT_PAUSE: Duration = Duration::from_millis(50);

/// A running server; dropping it stops it.
#[derive(Debug)]
pub struct Server {
    address: SocketAddr,
    stopping: Arc<AtomicBool>,
    accepting: Option<JoinHandle<()>>,
}

impl Server {
    /// Binds (port 0 picks one) and serves; `handler` gets each complete request with its body, on the connection's
    /// thread. `read_timeout` limits the silence while a request is read, and each write of an answer.
    pub fn start(
        address: SocketAddr,
        limits: Limits,
        read_timeout: Duration,
        handler: impl Fn(RequestHead, Vec<u8>, Responder) + Send + Sync + 'static,
    ) -> io::Result<Server> {
        let listener = TcpListener::bind(address)?;
        let address = listener.local_addr()?;
        let stopping = Arc::new(AtomicBool::new(false));
        let seen = Arc::clone(&stopping);
        let handler = Arc::new(handler);
        let accepting = move || {
            accept(&listener, &seen, &|stream| {
                let handler = Arc::clone(&handler);
                let serving = move || serve(stream, limits, read_timeout, &*handler);
                thread::start("http connection", Box::new(serving)).map(drop)
            });
        };
        let accepting = thread::start("http accept", Box::new(accepting))?;
        Ok(Server {
            address,
            stopping,
            accepting: Some(accepting),
        })
    }

    /// Where it listens.
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// Stops accepting, shuts open connections down and waits for the accepting thread. Handlers still at work find
    /// their clients gone; they are not waited for.
    pub fn stop(self) {
        drop(self);
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        self.stopping.store(true, Ordering::SeqCst);
        let loopback = match self.address.ip() {
            IpAddr::V4(ip) if ip.is_unspecified() => IpAddr::V4(Ipv4Addr::LOCALHOST),
            IpAddr::V6(ip) if ip.is_unspecified() => IpAddr::V6(Ipv6Addr::LOCALHOST),
            ip => ip,
        };
        let address = SocketAddr::new(loopback, self.address.port());
        // `accept` has no other alarm clock than a connection. If even that fails the thread cannot be waited for.
        if TcpStream::connect_timeout(&address, LINGER).is_ok() {
            if let Some(accepting) = self.accepting.take() {
                // It has nothing that could panic; if it did, it is gone all the same.
                let _ = accepting.join();
            }
        }
    }
}

fn accept(
    listener: &TcpListener,
    stopping: &AtomicBool,
    start: &dyn Fn(Arc<TcpStream>) -> io::Result<()>,
) {
    // Weak: the connection must close when its own thread is through with it.
    let mut open: Vec<Weak<TcpStream>> = Vec::new();
    for accepted in listener.incoming() {
        if stopping.load(Ordering::SeqCst) {
            break;
        }
        open.retain(|stream| stream.strong_count() > 0);
        let Ok(stream) = accepted else {
            sleep(ACCEPT_PAUSE);
            continue;
        };
        let stream = Arc::new(stream);
        if open.len() < MAX_CONNECTIONS {
            open.push(Arc::downgrade(&stream));
            // No thread for it: the connection closes, and the client says so.
            let _ = start(stream);
        } else {
            // The client may be gone already.
            let _ = answer(&stream, 503, "text/plain", b"too many connections\n");
        }
    }
    for stream in open.iter().filter_map(Weak::upgrade) {
        // Fails when the client has left.
        let _ = stream.shutdown(Shutdown::Both);
    }
}

fn serve(
    stream: Arc<TcpStream>,
    limits: Limits,
    read_timeout: Duration,
    handler: &dyn Fn(RequestHead, Vec<u8>, Responder),
) {
    let request = prepare(&stream, read_timeout)
        .map_err(Refusal::from)
        .and_then(|()| read_request(&stream, limits));
    match request {
        Ok((head, body)) => {
            let responder = Responder::new(stream, &head);
            handler(head, body, responder);
        }
        // Nobody is there to be told.
        Err(Refusal::Gone) => {}
        Err(Refusal::Answer { status, text }) => {
            // Fails when the client has left meanwhile.
            let _ = refuse(&stream, status, &text);
        }
    }
}

fn prepare(stream: &TcpStream, read_timeout: Duration) -> io::Result<()> {
    stream.set_nodelay(true)?;
    stream.set_read_timeout(Some(read_timeout))?;
    stream.set_write_timeout(Some(read_timeout))
}

/// Why there is no request.
enum Refusal {
    /// The client left, or said nothing for too long.
    Gone,
    /// It gets this answer.
    Answer { status: u16, text: String },
}

impl From<io::Error> for Refusal {
    fn from(_: io::Error) -> Refusal {
        Refusal::Gone
    }
}

impl From<HeadError> for Refusal {
    fn from(error: HeadError) -> Refusal {
        let status = match error {
            HeadError::TooLong { .. } => 431,
            HeadError::Version { .. } => 505,
            HeadError::NotHttp { .. }
            | HeadError::StatusLine { .. }
            | HeadError::RequestLine { .. }
            | HeadError::NoColon { .. }
            | HeadError::Name { .. }
            | HeadError::Control { .. }
            | HeadError::Cut { .. } => 400,
        };
        let text = error.to_string();
        Refusal::Answer { status, text }
    }
}

impl From<BodyError> for Refusal {
    fn from(error: BodyError) -> Refusal {
        let status = match error {
            BodyError::TooLarge { .. } => 413,
            BodyError::Coding { .. } => 501,
            BodyError::TwoLengths { .. }
            | BodyError::BadLength { .. }
            | BodyError::LengthAndChunked { .. }
            | BodyError::ChunkedInHttp10
            | BodyError::Size { .. }
            | BodyError::SizeDigits { .. }
            | BodyError::SizeLine { .. }
            | BodyError::DataEnd { .. }
            | BodyError::Trailers { .. }
            | BodyError::Framing { .. }
            | BodyError::CutLength { .. }
            | BodyError::CutChunk { .. }
            | BodyError::CutChunked { .. } => 400,
        };
        let text = error.to_string();
        Refusal::Answer { status, text }
    }
}

fn read_request(stream: &TcpStream, limits: Limits) -> Result<(RequestHead, Vec<u8>), Refusal> {
    let mut buffer = vec![0; READ_BYTES];
    let mut decoder = HeadDecoder::request(limits);
    // What was read behind the head: the beginning of the body.
    let mut behind = loop {
        let count = read(stream, &mut buffer)?;
        let (used, complete) = decoder.feed(&buffer[..count])?;
        if complete {
            break used..count;
        }
        if count == 0 {
            return Err(Refusal::Gone);
        }
    };
    let head = decoder.finish_request()?;
    let mut decoder = BodyDecoder::new(Framing::of_request(&head)?, limits)?;
    if !decoder.is_done() {
        expected(stream, &head)?;
    }
    let mut body = Vec::new();
    loop {
        decoder.feed(&mut buffer[behind], &mut |bytes| {
            body.extend_from_slice(bytes);
        })?;
        if decoder.is_done() {
            return Ok((head, body));
        }
        behind = 0..read(stream, &mut buffer)?;
        if behind.is_empty() {
            decoder.finish()?;
        }
    }
}

/// Answers `Expect` (RFC 9110 10.1.1), which HTTP/1.0 does not know.
fn expected(mut stream: &TcpStream, head: &RequestHead) -> Result<(), Refusal> {
    match head.header("expect") {
        Some(expectation) if head.version_minor > 0 => {
            if !expectation.eq_ignore_ascii_case("100-continue") {
                return Err(Refusal::Answer {
                    status: 417,
                    text: format!("expectation {expectation:?} cannot be met"),
                });
            }
            Ok(stream.write_all(b"HTTP/1.1 100 Continue\r\n\r\n")?)
        }
        Some(_) | None => Ok(()),
    }
}

fn read(mut stream: &TcpStream, buffer: &mut [u8]) -> io::Result<usize> {
    loop {
        match stream.read(buffer) {
            Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
            result => return result,
        }
    }
}

/// Answers, then reads on for a moment: closing over unread bytes would reset the connection, and the client might never
/// see the answer.
fn refuse(stream: &TcpStream, status: u16, text: &str) -> io::Result<()> {
    answer(stream, status, "text/plain", format!("{text}\n").as_bytes())?;
    stream.shutdown(Shutdown::Write)?;
    stream.set_read_timeout(Some(LINGER))?;
    let mut buffer = vec![0; READ_BYTES];
    let mut left = LINGER_BYTES;
    while left > 0 {
        let count = read(stream, &mut buffer)?;
        if count == 0 {
            break;
        }
        left = left.saturating_sub(count);
    }
    Ok(())
}
