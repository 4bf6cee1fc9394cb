//! Request and response heads: bytes in at any cut, a head out. The client feeds what it reads from its socket, the
//! server likewise; both use the same decoder, so what one writes the other is tested to read.
//!
//! ```text
//! HTTP/1.1 200 OK\r\n                          version, status, reason (may be missing)
//! Content-Type: application/x-ndjson\r\n       name, colon, value; blanks around the value are dropped
//! transfer-encoding:chunked\r\n                any case, no blank needed
//! X-Long: first part\r\n
//!   second part\r\n                            an old folded line: joined by one space (RFC 9112 5.2)
//! \r\n                                         the end; what follows is body
//! ```
//!
//! Refused: a first line that is not HTTP/1.x (told as soon as 40 bytes or a line of it are there: a banner of another
//! protocol needs no time limit to be noticed), a field line without colon, a name that is not a token (blank before
//! the colon included), control characters in the first line or in a value (NUL, a CR that ends no line), a head over
//! [`Limits::head_bytes`]. Accepted: lines that end in LF alone, blank lines before a request (RFC 9112 2.2).
//! Bytes above 0x7F become text as UTF-8, U+FFFD where they are not.
//!
//! Invariant: the result, errors included, does not depend on how the bytes were cut.
//! Invariant: not more than `head_bytes` are ever kept, and nothing behind the blank line is consumed.
//!
//! Next: [`super::BodyDecoder`], and [`super::Framing`], which reads a body's extent off a head.
use super::HeadError;
use crate::sys::simd::find_byte;

/// Bounds of one message.
#[derive(Clone, Copy, Debug)]
pub struct Limits {
    /// First line, fields and blank line together. 64 KiB: what common servers send fits a hundred times.
    pub head_bytes: usize,
    /// One chunk-size line with its extensions and line end. Nothing in use sends more than a few dozen bytes.
    pub chunk_line_bytes: usize,
    /// The trailer section behind a chunked body; it is read over and dropped.
    pub trailer_bytes: usize,
    /// The body after decoding.
    pub body_bytes: u64,
}

impl Default for Limits {
    fn default() -> Limits {
        Limits {
            head_bytes: 64 << 10,
            chunk_line_bytes: 1 << 10,
            trailer_bytes: 64 << 10,
            body_bytes: 64 << 20,
        }
    }
}

/// A response head.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Head {
    /// The digit behind `HTTP/1.`.
    pub version_minor: u8,
    /// Three digits, 100 to 999.
    pub status: u16,
    /// May be empty.
    pub reason: String,
    /// Name as received and value without outer blanks, in order, repeats kept.
    pub headers: Vec<(String, String)>,
}

impl Head {
    /// The first value of this name (any case).
    pub fn header(&self, name: &str) -> Option<&str> {
        first(&self.headers, name)
    }
}

/// A request head.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RequestHead {
    /// As received; methods have a case.
    pub method: String,
    /// Path and query as sent, nothing decoded.
    pub target: String,
    /// The digit behind `HTTP/1.`.
    pub version_minor: u8,
    /// As in [`Head::headers`].
    pub headers: Vec<(String, String)>,
}

impl RequestHead {
    /// The first value of this name (any case).
    pub fn header(&self, name: &str) -> Option<&str> {
        first(&self.headers, name)
    }
}

fn first<'a>(headers: &'a [(String, String)], name: &str) -> Option<&'a str> {
    headers
        .iter()
        .find(|(have, _)| have.eq_ignore_ascii_case(name))
        .map(|(_, value)| value.as_str())
}

/// What the client sends: `Host`, `Content-Length`, `Content-Type: application/json` (with a body) and
/// `Connection: close` are added, the endpoint's prefix is put before the path.
#[derive(Clone, Copy, Debug)]
pub struct Request<'a> {
    /// `GET`, `POST`, ...
    pub method: &'a str,
    /// Begins with `/`.
    pub path: &'a str,
    /// The body.
    pub body: Body<'a>,
}

/// A request's body: slices written one after the other (so that a constant tail needs no copy of the rest).
pub type Body<'a> = &'a [&'a [u8]];

/// How much of a first line that is not HTTP is kept for the error's text.
const QUOTED_BYTES: usize = 40;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    Response,
    Request,
}

/// Decodes one head; 1xx responses are heads of their own and skipped by the client.
#[derive(Debug)]
pub struct HeadDecoder {
    kind: Kind,
    limit_bytes: usize,
    bytes: Vec<u8>,
    /// Where the first line begins (blank lines before a request are passed over).
    first_line: usize,
    /// Where the line begins that is being read.
    line: usize,
    complete: bool,
}

impl HeadDecoder {
    /// For a response.
    pub fn response(limits: Limits) -> HeadDecoder {
        HeadDecoder::new(Kind::Response, limits)
    }

    /// For a request.
    pub fn request(limits: Limits) -> HeadDecoder {
        HeadDecoder::new(Kind::Request, limits)
    }

    fn new(kind: Kind, limits: Limits) -> HeadDecoder {
        HeadDecoder {
            kind,
            limit_bytes: limits.head_bytes,
            bytes: Vec::new(),
            first_line: 0,
            line: 0,
            complete: false,
        }
    }

    /// Takes bytes up to the end of the head; returns how many it took and whether the head is complete.
    pub fn feed(&mut self, bytes: &[u8]) -> Result<(usize, bool), HeadError> {
        let mut used = 0;
        while used < bytes.len() && !self.complete {
            let end = find_byte(bytes, b'\n', used);
            let whole = end < bytes.len();
            let next = if whole { end + 1 } else { end };
            let room = self.limit_bytes - self.bytes.len();
            let fits = next - used <= room;
            let next = if fits { next } else { used + room };
            self.bytes.extend_from_slice(&bytes[used..next]);
            used = next;
            // Before the limit: that a banner is also too long is not what is wrong with it.
            if self.line == self.first_line {
                self.check_start(whole)?;
            }
            if !fits {
                return Err(HeadError::TooLong {
                    limit_bytes: self.limit_bytes,
                });
            }
            if whole {
                self.end_line();
            }
        }
        Ok((used, self.complete))
    }

    /// The response head; an error when it is not complete.
    pub fn finish_response(self) -> Result<Head, HeadError> {
        let (line, fields) = self.split()?;
        let (version_minor, status, reason) = status_line(line)?;
        Ok(Head {
            version_minor,
            status,
            reason,
            headers: read_fields(&self.bytes, fields)?,
        })
    }

    /// The request head; an error when it is not complete.
    pub fn finish_request(self) -> Result<RequestHead, HeadError> {
        let (line, fields) = self.split()?;
        let (method, target, version_minor) = request_line(line)?;
        Ok(RequestHead {
            method,
            target,
            version_minor,
            headers: read_fields(&self.bytes, fields)?,
        })
    }

    /// Whether any byte has come.
    pub fn is_empty(&self) -> bool {
        self.bytes.is_empty()
    }

    /// A response must begin with `HTTP/`. Other bytes are gathered up to [`QUOTED_BYTES`] or a line end, whichever
    /// comes first, so that the text of the error does not depend on the cuts.
    fn check_start(&self, line_is_whole: bool) -> Result<(), HeadError> {
        let wanted = b"HTTP/";
        let have = &self.bytes[self.first_line..];
        let common = have.len().min(wanted.len());
        let fits = self.kind == Kind::Request || have[..common] == wanted[..common];
        if fits || (have.len() < QUOTED_BYTES && !line_is_whole) {
            return Ok(());
        }
        Err(self.not_http())
    }

    fn not_http(&self) -> HeadError {
        let start = &self.bytes[self.first_line..];
        let line = &start[..find_byte(start, b'\n', 0)];
        HeadError::NotHttp {
            start: trim_cr(line)[..trim_cr(line).len().min(QUOTED_BYTES)].to_vec(),
        }
    }

    fn end_line(&mut self) {
        let blank = matches!(&self.bytes[self.line..], b"\n" | b"\r\n");
        if blank && self.line > self.first_line {
            self.complete = true;
        }
        self.line = self.bytes.len();
        if blank && !self.complete {
            self.first_line = self.line;
        }
    }

    /// The first line without its end, and where the field lines begin.
    fn split(&self) -> Result<(&[u8], usize), HeadError> {
        if !self.complete {
            let start = &self.bytes[self.first_line..];
            let common = start.len().min(5);
            if self.kind == Kind::Response && start[..common] != b"HTTP/"[..common] {
                return Err(self.not_http());
            }
            return Err(HeadError::Cut {
                received_bytes: self.bytes.len(),
            });
        }
        let end = find_byte(&self.bytes, b'\n', self.first_line);
        Ok((trim_cr(&self.bytes[self.first_line..end]), end + 1))
    }
}

/// `HTTP/1.1 200 OK`, the reason optional (RFC 9112 4).
fn status_line(line: &[u8]) -> Result<(u8, u16, String), HeadError> {
    let refused = || HeadError::StatusLine { line: quoted(line) };
    let (version, rest) = match line.iter().position(|byte| *byte == b' ') {
        Some(blank) => (&line[..blank], &line[blank + 1..]),
        None => return Err(refused()),
    };
    let minor = version_minor(version)?;
    let (digits, reason) = match rest {
        [a, b, c] => ([*a, *b, *c], &rest[3..]),
        [a, b, c, b' ', ..] => ([*a, *b, *c], &rest[4..]),
        _ => return Err(refused()),
    };
    if !digits.iter().all(u8::is_ascii_digit) || digits[0] == b'0' || has_control(reason) {
        return Err(refused());
    }
    let status = digits
        .iter()
        .fold(0, |value, digit| value * 10 + u16::from(digit - b'0'));
    Ok((minor, status, text(reason)))
}

/// `POST /api/chat HTTP/1.1`, single blanks between the three (RFC 9112 3).
fn request_line(line: &[u8]) -> Result<(String, String, u8), HeadError> {
    let mut words = line.split(|byte| *byte == b' ');
    let (Some(method), Some(target), Some(version), None) =
        (words.next(), words.next(), words.next(), words.next())
    else {
        return Err(HeadError::RequestLine { line: quoted(line) });
    };
    let target_is_plain = !target.is_empty() && target.iter().all(u8::is_ascii_graphic);
    if !is_token(method) || !target_is_plain {
        return Err(HeadError::RequestLine { line: quoted(line) });
    }
    Ok((text(method), text(target), version_minor(version)?))
}

fn version_minor(version: &[u8]) -> Result<u8, HeadError> {
    match version {
        [b'H', b'T', b'T', b'P', b'/', b'1', b'.', minor] if minor.is_ascii_digit() => {
            Ok(minor - b'0')
        }
        _ => Err(HeadError::Version {
            version: quoted(version),
        }),
    }
}

/// The field lines from `at` to the blank line. `bytes` ends with that line.
fn read_fields(bytes: &[u8], mut at: usize) -> Result<Vec<(String, String)>, HeadError> {
    let mut fields: Vec<(String, String)> = Vec::new();
    while at < bytes.len() {
        let end = find_byte(bytes, b'\n', at);
        let line = trim_cr(&bytes[at..end]);
        if let Some(control) = line.iter().position(|byte| is_control(*byte)) {
            return Err(HeadError::Control {
                offset: at + control,
                byte: line[control],
            });
        }
        match (line.first(), fields.last_mut()) {
            (None, _) => break,
            (Some(b' ' | b'\t'), Some((_, value))) => {
                let more = text(trim_blanks(line));
                if !value.is_empty() && !more.is_empty() {
                    value.push(' ');
                }
                value.push_str(&more);
            }
            (Some(_), _) => fields.push(field(line, at)?),
        }
        at = end + 1;
    }
    Ok(fields)
}

fn field(line: &[u8], offset: usize) -> Result<(String, String), HeadError> {
    let Some(colon) = line.iter().position(|byte| *byte == b':') else {
        return Err(HeadError::NoColon {
            offset,
            line: quoted(line),
        });
    };
    let (name, value) = (&line[..colon], &line[colon + 1..]);
    if !is_token(name) {
        return Err(HeadError::Name {
            offset,
            name: quoted(name),
        });
    }
    Ok((text(name), text(trim_blanks(value))))
}

/// Whether this is a token (RFC 9110 5.6.2): what names and methods are made of.
pub(super) fn is_token(bytes: &[u8]) -> bool {
    !bytes.is_empty()
        && bytes
            .iter()
            .all(|byte| byte.is_ascii_alphanumeric() || b"!#$%&'*+-.^_`|~".contains(byte))
}

/// Whether a control character that no value may hold is inside (RFC 9110 5.5).
pub(super) fn has_control(bytes: &[u8]) -> bool {
    bytes.iter().any(|byte| is_control(*byte))
}

fn is_control(byte: u8) -> bool {
    byte.is_ascii_control() && byte != b'\t'
}

fn trim_cr(line: &[u8]) -> &[u8] {
    line.strip_suffix(b"\r").unwrap_or(line)
}

fn trim_blanks(mut bytes: &[u8]) -> &[u8] {
    while let [b' ' | b'\t', rest @ ..] = bytes {
        bytes = rest;
    }
    while let [rest @ .., b' ' | b'\t'] = bytes {
        bytes = rest;
    }
    bytes
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

/// The beginning of a refused piece, for an error's text.
fn quoted(bytes: &[u8]) -> String {
    text(&bytes[..bytes.len().min(QUOTED_BYTES)])
}
