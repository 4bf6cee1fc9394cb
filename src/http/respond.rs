//! Answers: what a handler of [`super::server`] says goes in, response bytes go out.
//!
//! ```text
//! send(404, "text/plain", "404 page not found")
//!   HTTP/1.1 404 Not Found\r\nContent-Type: text/plain\r\nContent-Length: 18\r\nConnection: close\r\n\r\n404 page not found
//! stream(200, "application/x-ndjson") … chunk("{}\n") … finish()
//!   HTTP/1.1 200 OK\r\n…Transfer-Encoding: chunked\r\n…\r\n    3\r\n{}\n\r\n    0\r\n\r\n
//! ```
//!
//! HEAD gets the same head without body. A client that speaks HTTP/1.0 gets no chunks; its body ends with the connection.
//!
//! Invariant: head and body of a whole answer are one write, and so is each chunk: what is sent together arrives together.
//! Invariant: a stream that is dropped without `finish` is cut, and the client can tell.
use super::RequestHead;
use std::io::{self, Write};
use std::net::TcpStream;
use std::sync::Arc;

/// Answers one request, once. Dropped, it closes the connection without an answer.
#[derive(Debug)]
pub struct Responder {
    stream: Arc<TcpStream>,
    is_head: bool,
    knows_chunks: bool,
}

impl Responder {
    pub(super) fn new(stream: Arc<TcpStream>, head: &RequestHead) -> Responder {
        Responder {
            stream,
            is_head: head.method == "HEAD",
            knows_chunks: head.version_minor > 0,
        }
    }

    /// A whole answer with `Content-Length`. Errors: the client has gone, or takes nothing for the server's time limit.
    pub fn send(self, status: u16, content_type: &str, body: &[u8]) -> io::Result<()> {
        if self.is_head {
            let head = head(status, content_type, Extent::Length(body.len()));
            return (&*self.stream).write_all(&head);
        }
        answer(&self.stream, status, content_type, body)
    }

    /// Starts an answer whose end is not known yet. Errors as `send`.
    pub fn stream(self, status: u16, content_type: &str) -> io::Result<Stream> {
        let extent = if self.knows_chunks {
            Extent::Chunked
        } else {
            Extent::Close
        };
        (&*self.stream).write_all(&head(status, content_type, extent))?;
        Ok(Stream {
            stream: self.stream,
            form: match (self.is_head, self.knows_chunks) {
                (true, _) => Form::Nothing,
                (false, true) => Form::Chunks,
                (false, false) => Form::Plain,
            },
            framed: Vec::new(),
        })
    }

    /// The bare socket, for peers that must misbehave on purpose (the fault scenes). It closes when the last `Arc` goes.
    pub fn raw(self) -> Arc<TcpStream> {
        self.stream
    }

    /// Whether the client has gone (closed its side, or reset), without blocking.
    pub fn is_gone(&self) -> bool {
        is_gone(&self.stream)
    }
}

/// A body under way.
#[derive(Debug)]
pub struct Stream {
    stream: Arc<TcpStream>,
    form: Form,
    /// One chunk with its framing; kept for its memory.
    framed: Vec<u8>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Form {
    Chunks,
    Plain,
    /// HEAD.
    Nothing,
}

impl Stream {
    /// One chunk, one write (nothing for an empty one: an empty chunk would be the last). Errors: the client has gone,
    /// or takes nothing for the server's time limit.
    pub fn chunk(&mut self, bytes: &[u8]) -> io::Result<()> {
        match self.form {
            _ if bytes.is_empty() => Ok(()),
            Form::Nothing => Ok(()),
            Form::Plain => (&*self.stream).write_all(bytes),
            Form::Chunks => {
                self.framed.clear();
                write!(self.framed, "{:x}\r\n", bytes.len())?;
                self.framed.extend_from_slice(bytes);
                self.framed.extend_from_slice(b"\r\n");
                (&*self.stream).write_all(&self.framed)
            }
        }
    }

    /// Whether the client has gone, without blocking.
    pub fn is_gone(&self) -> bool {
        is_gone(&self.stream)
    }

    /// The last chunk.
    pub fn finish(self) -> io::Result<()> {
        match self.form {
            Form::Chunks => (&*self.stream).write_all(b"0\r\n\r\n"),
            Form::Plain | Form::Nothing => Ok(()),
        }
    }
}

/// How an answer's body will end.
enum Extent {
    Length(usize),
    Chunked,
    Close,
}

/// A whole answer, in one write.
pub(super) fn answer(
    mut stream: &TcpStream,
    status: u16,
    content_type: &str,
    body: &[u8],
) -> io::Result<()> {
    let mut bytes = head(status, content_type, Extent::Length(body.len()));
    bytes.extend_from_slice(body);
    stream.write_all(&bytes)
}

fn head(status: u16, content_type: &str, extent: Extent) -> Vec<u8> {
    let extent = match extent {
        Extent::Length(length) => format!("Content-Length: {length}\r\n"),
        Extent::Chunked => "Transfer-Encoding: chunked\r\n".to_owned(),
        Extent::Close => String::new(),
    };
    format!(
        "HTTP/1.1 {status} {}\r\nContent-Type: {content_type}\r\n{extent}Connection: close\r\n\r\n",
        reason(status)
    )
    .into_bytes()
}

/// The phrases of RFC 9110 15 for what this program sends; others go without, which is allowed.
fn reason(status: u16) -> &'static str {
    match status {
        200 => "OK",
        307 => "Temporary Redirect",
        400 => "Bad Request",
        403 => "Forbidden",
        404 => "Not Found",
        405 => "Method Not Allowed",
        413 => "Content Too Large",
        417 => "Expectation Failed",
        429 => "Too Many Requests",
        431 => "Request Header Fields Too Large",
        500 => "Internal Server Error",
        501 => "Not Implemented",
        502 => "Bad Gateway",
        503 => "Service Unavailable",
        505 => "HTTP Version Not Supported",
        _ => "",
    }
}

/// A closed socket reads as ended at once, an open one not yet. A client that sends more than its request is still there.
fn is_gone(stream: &TcpStream) -> bool {
    let peeked = stream
        .set_nonblocking(true)
        .and_then(|()| stream.peek(&mut [0]));
    let is_gone = match peeked {
        Ok(0) => true,
        Ok(_) => false,
        Err(error) => error.kind() != io::ErrorKind::WouldBlock,
    };
    is_gone || stream.set_nonblocking(false).is_err()
}
