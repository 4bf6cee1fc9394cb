//! What can go wrong with a message or an exchange, told apart by type, each with one text for people.
//!
//! ```text
//! HeadError, BodyError   cause and offset, no address: the decoders know none
//! Error                  the stage of an exchange, the address, the cause
//!
//! localhost:11434 refused the connection (tried [::1]:11434, 127.0.0.1:11434)
//! 127.0.0.1:11434: connection closed after 512 of 2048 body bytes
//! 10.0.0.5:11434 accepted the connection but sent nothing for 15 min
//! ```
//!
//! Foreign bytes appear quoted and escaped, so that no text of an error can carry control codes to a terminal.
//!
//! Invariant: no caller needs to look into a text to decide; [`Error::before_response`] and the variants say it all.
use crate::text::{counted, grouped};
use std::fmt;
use std::io;
use std::time::Duration;

/// Why a head was refused. Offsets count from the first byte of the message.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum HeadError {
    /// The answer does not begin with `HTTP/`; the first bytes of it (up to 40, up to the line end).
    NotHttp {
        /// What came instead.
        start: Vec<u8>,
    },
    /// `HTTP/2.0`, `HTTP/1.x` ...
    Version {
        /// As received.
        version: String,
    },
    /// No three-digit status, or control characters in the reason.
    StatusLine {
        /// Its beginning.
        line: String,
    },
    /// Not `METHOD target HTTP/1.x`.
    RequestLine {
        /// Its beginning.
        line: String,
    },
    /// A field line without `:`.
    NoColon {
        /// Where the line begins.
        offset: usize,
        /// Its beginning.
        line: String,
    },
    /// A field name that is empty or holds blanks or other bytes outside of a token.
    Name {
        /// Where the line begins.
        offset: usize,
        /// The name's beginning.
        name: String,
    },
    /// NUL, a CR that ends no line, or another control character in a field.
    Control {
        /// Where it stands.
        offset: usize,
        /// Which one.
        byte: u8,
    },
    /// No end within the limit.
    TooLong {
        /// The limit.
        limit_bytes: usize,
    },
    /// The connection ended inside the head.
    Cut {
        /// What had come of it.
        received_bytes: usize,
    },
}

impl fmt::Display for HeadError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            // A TLS record of type alert or handshake: the port speaks https.
            HeadError::NotHttp { start } if matches!(start[..], [21 | 22, 3, ..]) => {
                f.write_str("answered with TLS, not with plain HTTP: this is an https port")
            }
            HeadError::NotHttp { start } => write!(
                f,
                "not an HTTP server: expected \"HTTP/1.1 ...\", found {:?}",
                String::from_utf8_lossy(start)
            ),
            HeadError::Version { version } => {
                write!(f, "expected HTTP/1.0 or HTTP/1.1, found {version:?}")
            }
            HeadError::StatusLine { line } => {
                write!(f, "expected \"HTTP/1.1 200 OK\" or alike, found {line:?}")
            }
            HeadError::RequestLine { line } => {
                write!(f, "expected \"METHOD /path HTTP/1.1\", found {line:?}")
            }
            HeadError::NoColon { offset, line } => {
                write!(f, "header line without ':' at byte {offset}: {line:?}")
            }
            HeadError::Name { offset, name } => {
                write!(f, "bad header name {name:?} at byte {offset}")
            }
            HeadError::Control { offset, byte } => {
                write!(
                    f,
                    "control character 0x{byte:02x} in a header at byte {offset}"
                )
            }
            HeadError::TooLong { limit_bytes } => {
                write!(f, "header block longer than {}", bytes(*limit_bytes as u64))
            }
            HeadError::Cut { received_bytes } => write!(
                f,
                "connection closed inside the header block, after {}",
                bytes(*received_bytes as u64)
            ),
        }
    }
}

impl std::error::Error for HeadError {}

/// Why a body was refused. Offsets count wire bytes from the first one behind the head.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum BodyError {
    /// Two `Content-Length` that differ.
    TwoLengths {
        /// The first value.
        first: String,
        /// The other one.
        second: String,
    },
    /// `Content-Length` that is not plain digits, or above 64 bits.
    BadLength {
        /// As received.
        value: String,
    },
    /// `Content-Length` next to `Transfer-Encoding: chunked`.
    LengthAndChunked {
        /// The length.
        length: String,
    },
    /// `Transfer-Encoding` other than `chunked`.
    Coding {
        /// As received.
        coding: String,
    },
    /// HTTP/1.0 has no chunks (RFC 9112 6.1).
    ChunkedInHttp10,
    /// A byte that does not belong in a chunk-size line.
    Size {
        /// Where it stands.
        offset: u64,
        /// Which one.
        byte: u8,
    },
    /// More than 16 digits.
    SizeDigits {
        /// Where the 17th stands.
        offset: u64,
    },
    /// A chunk-size line without end.
    SizeLine {
        /// The limit.
        limit_bytes: usize,
    },
    /// Something else than CR LF behind a chunk's data: more (or less) data than the size says.
    DataEnd {
        /// Where it stands.
        offset: u64,
        /// Which byte.
        byte: u8,
    },
    /// Trailers without end.
    Trailers {
        /// The limit.
        limit_bytes: usize,
    },
    /// Far more framing than data.
    Framing {
        /// Where it became too much.
        offset: u64,
        /// The limit.
        limit_bytes: u64,
    },
    /// Larger than allowed, or claims to be.
    TooLarge {
        /// The limit.
        limit_bytes: u64,
    },
    /// Closed before the length was reached.
    CutLength {
        /// What came.
        received_bytes: u64,
        /// What was announced.
        announced_bytes: u64,
    },
    /// Closed inside a chunk's data.
    CutChunk {
        /// Body bytes that came.
        received_bytes: u64,
        /// What the chunk still owed.
        missing_bytes: u64,
    },
    /// Closed between chunks, before the last one.
    CutChunked {
        /// Body bytes that came.
        received_bytes: u64,
    },
}

impl fmt::Display for BodyError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            BodyError::TwoLengths { first, second } => {
                write!(f, "two different Content-Length: {first:?} and {second:?}")
            }
            BodyError::BadLength { value } => {
                write!(f, "bad Content-Length {value:?}: expected digits")
            }
            BodyError::LengthAndChunked { length } => write!(
                f,
                "both Content-Length {length:?} and Transfer-Encoding chunked"
            ),
            BodyError::Coding { coding } => write!(
                f,
                "Transfer-Encoding {coding:?}: only \"chunked\" is understood"
            ),
            BodyError::ChunkedInHttp10 => f.write_str("Transfer-Encoding chunked in HTTP/1.0"),
            BodyError::Size { offset, byte } => write!(
                f,
                "bad chunk size at body byte {offset}: unexpected {}",
                Shown(*byte)
            ),
            BodyError::SizeDigits { offset } => write!(
                f,
                "bad chunk size at body byte {offset}: more than 16 digits"
            ),
            BodyError::SizeLine { limit_bytes } => {
                write!(
                    f,
                    "chunk-size line longer than {}",
                    bytes(*limit_bytes as u64)
                )
            }
            BodyError::DataEnd { offset, byte } => write!(
                f,
                "chunk data does not end at body byte {offset}: expected CR LF, found {}",
                Shown(*byte)
            ),
            BodyError::Trailers { limit_bytes } => {
                write!(f, "trailers longer than {}", bytes(*limit_bytes as u64))
            }
            BodyError::Framing {
                offset,
                limit_bytes,
            } => write!(
                f,
                "chunk framing outweighs the data by more than {} at body byte {offset}",
                bytes(*limit_bytes)
            ),
            BodyError::TooLarge { limit_bytes } => {
                write!(f, "body larger than {}", bytes(*limit_bytes))
            }
            BodyError::CutLength {
                received_bytes,
                announced_bytes,
            } => write!(
                f,
                "connection closed after {} of {}",
                grouped(*received_bytes),
                counted(*announced_bytes, "body byte")
            ),
            BodyError::CutChunk {
                received_bytes,
                missing_bytes,
            } => write!(
                f,
                "connection closed after {}, {} short of the chunk's end",
                counted(*received_bytes, "body byte"),
                grouped(*missing_bytes)
            ),
            BodyError::CutChunked { received_bytes } => write!(
                f,
                "connection closed after {}, before the last chunk",
                counted(*received_bytes, "body byte")
            ),
        }
    }
}

impl std::error::Error for BodyError {}

fn bytes(number: u64) -> String {
    counted(number, "byte")
}

/// A byte as people read it: `'x'`, or `0x0a`.
struct Shown(u8);

impl fmt::Display for Shown {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0 {
            graphic if graphic.is_ascii_graphic() => write!(f, "'{}'", char::from(graphic)),
            other => write!(f, "0x{other:02x}"),
        }
    }
}

/// An exchange that did not succeed, by stage. Each text says what happened, on what address.
#[derive(Debug)]
pub enum Error {
    /// Name not found.
    Resolve {
        /// The name.
        host: String,
        /// What the resolver said.
        source: io::Error,
    },
    /// Nothing listens: an address refused, and none accepted.
    Refused {
        /// Host and port, with the addresses tried.
        address: String,
    },
    /// No route, network down, host down.
    Unreachable {
        /// Host and port, with the addresses tried.
        address: String,
        /// The last address's failure.
        source: io::Error,
    },
    /// Connecting took longer than its limit on every address.
    ConnectTimeout {
        /// Host and port, with the addresses tried.
        address: String,
        /// Of each address.
        limit: Duration,
    },
    /// `--via` could not be started, or ended before any byte of a response.
    Via {
        /// Its first word.
        program: String,
        /// How it ended and what it said.
        detail: String,
    },
    /// Closed or reset before any response byte.
    ClosedEarly {
        /// The peer.
        address: String,
        /// `None` for an orderly close.
        source: Option<io::Error>,
    },
    /// No byte for so long.
    Silent {
        /// The peer.
        address: String,
        /// The limit that passed.
        limit: Duration,
        /// Whether it was the gap inside a response.
        after_first_byte: bool,
    },
    /// The response head is not HTTP, or over a limit.
    Head {
        /// The peer.
        address: String,
        /// What is wrong with it.
        source: HeadError,
    },
    /// The body is framed wrongly, too large, or cut.
    Body {
        /// The peer.
        address: String,
        /// What is wrong with it.
        source: BodyError,
    },
    /// Connection lost (reset) inside the response.
    Lost {
        /// The peer.
        address: String,
        /// What the socket said.
        source: io::Error,
    },
    /// Compressed though not asked for.
    Encoding {
        /// The peer.
        address: String,
        /// `Content-Encoding` or `Transfer-Encoding`, as received.
        coding: String,
    },
    /// The switch was turned.
    Cancelled,
    /// The callback stopped the exchange (not shown to users).
    Stopped,
    /// Any other failure on our side: what was attempted.
    Io {
        /// `polling the connection` ...
        doing: &'static str,
        /// What the system said.
        source: io::Error,
    },
}

impl Error {
    /// Whether it happened before any byte of a response: only then can the server not have begun to answer.
    pub fn before_response(&self) -> bool {
        match self {
            Error::Resolve { .. }
            | Error::Refused { .. }
            | Error::Unreachable { .. }
            | Error::ConnectTimeout { .. }
            | Error::Via { .. }
            | Error::ClosedEarly { .. } => true,
            Error::Silent {
                after_first_byte, ..
            } => !after_first_byte,
            Error::Head { .. }
            | Error::Body { .. }
            | Error::Lost { .. }
            | Error::Encoding { .. }
            | Error::Cancelled
            | Error::Stopped
            | Error::Io { .. } => false,
        }
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Error::Resolve { host, source } => {
                write!(f, "no address found for {host:?}: {source}")
            }
            Error::Refused { address } => write!(f, "{address} refused the connection"),
            Error::Unreachable { address, source } => {
                write!(f, "{address} cannot be reached: {source}")
            }
            Error::ConnectTimeout { address, limit } => write!(
                f,
                "{address} did not accept the connection within {}",
                Limit(*limit)
            ),
            Error::Via { program, detail } => write!(f, "--via {program:?} {detail}"),
            Error::ClosedEarly {
                address,
                source: None,
            } => write!(f, "{address} closed the connection without an answer"),
            Error::ClosedEarly {
                address,
                source: Some(source),
            } => write!(
                f,
                "{address} dropped the connection without an answer: {source}"
            ),
            Error::Silent {
                address,
                limit,
                after_first_byte: false,
            } => write!(
                f,
                "{address} accepted the connection but sent nothing for {}",
                Limit(*limit)
            ),
            Error::Silent {
                address,
                limit,
                after_first_byte: true,
            } => write!(
                f,
                "{address} sent nothing more for {} in the middle of its answer",
                Limit(*limit)
            ),
            Error::Head { address, source } => write!(f, "{address}: {source}"),
            Error::Body { address, source } => write!(f, "{address}: {source}"),
            Error::Lost { address, source } => {
                write!(
                    f,
                    "{address}: connection lost in the middle of the answer: {source}"
                )
            }
            Error::Encoding { address, coding } => write!(
                f,
                "{address}: answer compressed with {coding:?} though nothing of the kind was asked for (a proxy in between?)"
            ),
            Error::Cancelled => f.write_str("cancelled"),
            Error::Stopped => f.write_str("stopped"),
            Error::Io { doing, source } => write!(f, "{doing}: {source}"),
        }
    }
}

impl std::error::Error for Error {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            Error::Resolve { source, .. }
            | Error::Unreachable { source, .. }
            | Error::Lost { source, .. }
            | Error::Io { source, .. } => Some(source),
            Error::ClosedEarly { source, .. } => match source {
                Some(source) => Some(source),
                None => None,
            },
            Error::Head { source, .. } => Some(source),
            Error::Body { source, .. } => Some(source),
            Error::Refused { .. }
            | Error::ConnectTimeout { .. }
            | Error::Via { .. }
            | Error::Silent { .. }
            | Error::Encoding { .. }
            | Error::Cancelled
            | Error::Stopped => None,
        }
    }
}

/// A time limit as people say it: `15 min`, `5 s`, `250 ms`.
struct Limit(Duration);

impl fmt::Display for Limit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let millis = self.0.as_millis();
        if millis % 60_000 == 0 && millis > 0 {
            write!(f, "{} min", millis / 60_000)
        } else if millis % 1000 == 0 {
            write!(f, "{} s", millis / 1000)
        } else {
            write!(f, "{millis} ms")
        }
    }
}
