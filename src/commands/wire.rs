//! `zcoder wire FILE`: a recorded or hand-written script in, a reading for people out: each exchange with its times, offsets, chunks, records and
//! what the records say.
//!
//! ```text
//! exchange 4   POST /api/chat   +0.018s
//!   request    171 bytes of head, 3,673 bytes of body
//!              POST /api/chat HTTP/1.1
//!              {"model":"stand-in:latest","stream":true,…
//!   +0.250s    offset 0, 256 bytes, chunks: 143
//!     head     HTTP/1.1 200 OK
//!     record 1 143 bytes: thinking "The "
//!   +0.530s    closed: 26 chunks, 26 records, 4,038 bytes; done, stop
//! ```
//!
//! The bytes go through the same decoders as in a turn, so an error here is the error there. A script that is cut or damaged is shown as far as
//! it can be read; then the line and the cause, and exit code 1.
//!
//! Limits: excerpts of 160 characters; a file of at most 256 MiB.
//!
//! Invariant: everything foreign is shown through `text::visible`: reading a recording cannot change the terminal.
//!
//! Next: `model/script.rs`, the format.

use super::ring;
use super::sessions::Here;
use crate::config::{Typed, UsageError, current_folder, settings};
use crate::headless::out::{complain, exit, note, with_stdout};
use crate::http::{BodyDecoder, Framing, Head, HeadDecoder, Limits};
use crate::lines::{self, Ndjson};
use crate::model::ollama::Record;
use crate::model::script::{Exchange, Script, Step};
use crate::sys::file as files;
use crate::text::{self, counted};
use std::ffi::OsString;
use std::io::{self, Read, Write};
use std::os::unix::ffi::OsStrExt;
use std::path::Path;
use std::time::Duration;

/// Characters of foreign text in a line.
const EXCERPT: usize = 160;

/// A larger file is not a recording of ours: a session's exchanges stay far below.
const FILE_BYTES: u64 = 256 << 20;

/// Remarks about the whole stand within these.
const HEAD_BYTES: usize = 256;

/// One record at most.
const RECORD_BYTES: usize = 16 << 20;

/// `zcoder wire FILE|SESSION`
pub(super) fn run(typed: &Typed, words: &[OsString; 1]) -> Result<u8, UsageError> {
    let [word] = words;
    let path = settings::absolute(word, current_folder().as_deref());
    if path.exists() || !is_like_an_id(word) {
        return Ok(file(&path));
    }
    let here = Here::find(typed)?;
    let (store, id) = here.named(word)?;
    let path = store.folder().join(&id.0).join(ring::NAME);
    if !path.exists() {
        complain(&format!(
            "session {} has kept no exchanges: none of its turns has ended, or the setting `wire` is off",
            id.0
        ));
        return Ok(exit::FAILED);
    }
    Ok(file(&path))
}

/// A date, or the beginning of one, and what may follow it in the id of a session.
fn is_like_an_id(word: &OsString) -> bool {
    let bytes = word.as_bytes();
    let plain = |byte: &u8| byte.is_ascii_alphanumeric() || *byte == b'-';
    bytes.iter().take(2).all(u8::is_ascii_digit) && bytes.iter().all(plain)
}

fn file(path: &Path) -> u8 {
    let shown = text::visible(&path.to_string_lossy()).into_owned();
    let bytes = match read(path) {
        Ok(bytes) => bytes,
        Err(error) => {
            complain(&format!("cannot read {shown}: {error}"));
            return exit::FAILED;
        }
    };
    let head = String::from_utf8_lossy(&bytes[..bytes.len().min(HEAD_BYTES)]);
    for line in head.lines().filter(|line| line.starts_with(ring::DROPPED)) {
        note(line.trim_start_matches("# "));
    }
    let (script, error) = Script::parse_prefix(&bytes);
    let code = with_stdout(|out| {
        for (index, exchange) in script.exchanges.iter().enumerate() {
            out.write_all(reading(index + 1, exchange).as_bytes())?;
        }
        Ok(exit::DONE)
    });
    match error {
        Some(error) if code == exit::DONE => {
            complain(&format!("{shown}: {error}"));
            exit::FAILED
        }
        Some(_) | None => code,
    }
}

fn read(path: &Path) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    let file = files::open_regular(path)?;
    file.take(FILE_BYTES + 1).read_to_end(&mut bytes)?;
    match bytes.len() as u64 > FILE_BYTES {
        true => Err(io::Error::other(
            "it is longer than 256 MiB, the most that is read",
        )),
        false => Ok(bytes),
    }
}

/// One exchange as lines.
fn reading(number: usize, exchange: &Exchange) -> String {
    let mut out = String::new();
    let line = exchange.request_line().unwrap_or("any request");
    out.push_str(&format!(
        "exchange {number:<3} {}   +{}\n",
        excerpt(line),
        seconds(exchange.at)
    ));
    request(&exchange.request, &mut out);
    let mut response = Response::new(exchange);
    let mut time = Duration::ZERO;
    let mut closed = false;
    for step in &exchange.steps {
        let what = match step {
            Step::Send(bytes) => {
                response.feed(time, bytes, &mut out);
                continue;
            }
            Step::Pause(pause) => {
                time += *pause;
                continue;
            }
            Step::Wait => "waits for the end of the request",
            Step::Close => "closed",
            Step::Reset => "reset",
            Step::Hang => "hangs",
        };
        closed |= *step != Step::Wait;
        row(&mut out, &seconds(time), what);
    }
    if !closed {
        row(&mut out, &seconds(time), "the recording ends here");
    }
    response.finish(&mut out);
    out.push('\n');
    out
}

fn request(bytes: &[u8], out: &mut String) {
    if bytes.is_empty() {
        return;
    }
    let head = bytes.windows(4).position(|four| four == b"\r\n\r\n");
    let (head, body) = bytes.split_at(head.map_or(bytes.len(), |end| end + 4));
    let sizes = format!(
        "{} of head, {} of body",
        bytes_of(head.len()),
        bytes_of(body.len())
    );
    row(out, "request", &sizes);
    for line in String::from_utf8_lossy(head)
        .lines()
        .filter(|line| !line.is_empty())
    {
        row(out, "", &excerpt(line));
    }
    if !body.is_empty() {
        row(out, "", &excerpt(&String::from_utf8_lossy(body)));
    }
}

/// A label and a text, which is harmless already.
fn row(out: &mut String, label: &str, text: &str) {
    out.push_str(format!("  {label:<10} {text}").trim_end());
    out.push('\n');
}

fn excerpt(text: &str) -> String {
    text::clip(&text::one_line(text), EXCERPT).into_owned()
}

fn seconds(time: Duration) -> String {
    format!("{:.3}s", time.as_secs_f64())
}

// ---- responses ----

/// How far the decoders are.
enum Part {
    Head(HeadDecoder),
    Body(Box<BodyDecoder>, Ndjson),
    /// After the end, or after an error.
    Over,
}

struct Response<'e> {
    exchange: &'e Exchange,
    part: Part,
    /// Offset and size of each chunk.
    chunks: Vec<(usize, usize)>,
    offset: usize,
    /// The body of an answer that is no stream.
    plain: Option<Vec<u8>>,
    records: usize,
    end: Option<String>,
}

impl<'e> Response<'e> {
    fn new(exchange: &'e Exchange) -> Response<'e> {
        Response {
            exchange,
            part: Part::Head(HeadDecoder::response(Limits::default())),
            chunks: chunks(&exchange.response()),
            offset: 0,
            plain: None,
            records: 0,
            end: None,
        }
    }

    fn feed(&mut self, time: Duration, bytes: &[u8], out: &mut String) {
        let range = self.offset..self.offset + bytes.len();
        let sizes = self.chunks.iter().filter(|(at, _)| range.contains(at));
        let sizes: Vec<String> = sizes.map(|(_, size)| size.to_string()).collect();
        let mut what = format!("offset {}, {}", self.offset, bytes_of(bytes.len()));
        if !sizes.is_empty() {
            what.push_str(&format!(", chunks: {}", sizes.join(" ")));
        }
        row(out, &format!("+{}", seconds(time)), &what);
        self.offset = range.end;
        let mut bytes = bytes.to_vec();
        let mut rest = &mut bytes[..];
        while !rest.is_empty() {
            let used = match self.decode(rest, out) {
                Ok(used) => used,
                Err(text) => {
                    row(out, "  error", &excerpt(&text));
                    self.part = Part::Over;
                    return;
                }
            };
            if used == 0 {
                row(
                    out,
                    "  after",
                    &format!("{} that belong to nothing", bytes_of(rest.len())),
                );
                return;
            }
            rest = &mut rest[used..];
        }
    }

    /// Gives the decoder at work its bytes; returns how many it took.
    fn decode(&mut self, bytes: &mut [u8], out: &mut String) -> Result<usize, String> {
        match std::mem::replace(&mut self.part, Part::Over) {
            Part::Head(mut decoder) => {
                let (used, complete) = decoder.feed(bytes).map_err(|error| error.to_string())?;
                self.part = match complete {
                    true => self.head(
                        &decoder
                            .finish_response()
                            .map_err(|error| error.to_string())?,
                        out,
                    )?,
                    false => Part::Head(decoder),
                };
                Ok(used)
            }
            Part::Body(mut decoder, mut ndjson) => {
                let mut data = Vec::new();
                let used = decoder.feed(bytes, &mut |bytes| data.extend_from_slice(bytes));
                let used = used.map_err(|error| error.to_string())?;
                self.body(&data, &mut ndjson, out)?;
                if decoder.is_done() {
                    self.records_end(&mut ndjson, out)?;
                } else {
                    self.part = Part::Body(decoder, ndjson);
                }
                Ok(used)
            }
            Part::Over => Ok(0),
        }
    }

    fn head(&mut self, head: &Head, out: &mut String) -> Result<Part, String> {
        row(
            out,
            "  head",
            &excerpt(&format!(
                "HTTP/1.{} {} {}",
                head.version_minor, head.status, head.reason
            )),
        );
        for (name, value) in &head.headers {
            row(out, "", &excerpt(&format!("{name}: {value}")));
        }
        if (100..200).contains(&head.status) {
            return Ok(Part::Head(HeadDecoder::response(Limits::default())));
        }
        let is_stream = head
            .header("content-type")
            .is_some_and(|kind| kind.starts_with("application/x-ndjson"));
        self.plain = (!is_stream).then(Vec::new);
        let method = self
            .exchange
            .request_line()
            .and_then(|line| line.split(' ').next());
        let framing = Framing::of_response(method.unwrap_or("GET"), head);
        let framing = framing.map_err(|error| error.to_string())?;
        let decoder = BodyDecoder::new(framing, Limits::default());
        let decoder = decoder.map_err(|error| error.to_string())?;
        match decoder.is_done() {
            true => Ok(Part::Over),
            false => Ok(Part::Body(Box::new(decoder), Ndjson::new(RECORD_BYTES))),
        }
    }

    fn body(&mut self, data: &[u8], ndjson: &mut Ndjson, out: &mut String) -> Result<(), String> {
        if let Some(plain) = &mut self.plain {
            plain.extend_from_slice(data);
            return Ok(());
        }
        let result: Result<(), lines::Error> = ndjson.feed(data, &mut |line| {
            self.record(line, out);
            Ok(())
        });
        result.map_err(|error| error.to_string())
    }

    fn records_end(&mut self, ndjson: &mut Ndjson, out: &mut String) -> Result<(), String> {
        let result: Result<(), lines::Error> = ndjson.finish(&mut |line| {
            self.record(line, out);
            Ok(())
        });
        result.map_err(|error| error.to_string())
    }

    fn record(&mut self, line: &[u8], out: &mut String) {
        self.records += 1;
        let what = match Record::decode(line) {
            Ok(record) => self.says(&record),
            Err(error) => format!("{error}: {}", excerpt(&String::from_utf8_lossy(line))),
        };
        row(
            out,
            &format!("  record {}", self.records),
            &format!("{} bytes: {what}", line.len()),
        );
    }

    /// The deltas of a record.
    fn says(&mut self, record: &Record<'_>) -> String {
        let mut parts = Vec::new();
        if let Some(thinking) = record
            .thinking
            .map(|text| text.decode())
            .filter(|text| !text.is_empty())
        {
            parts.push(format!("thinking \"{}\"", excerpt(&thinking)));
        }
        if let Some(content) = record
            .content
            .map(|text| text.decode())
            .filter(|text| !text.is_empty())
        {
            parts.push(format!("content \"{}\"", excerpt(&content)));
        }
        for call in &record.calls {
            parts.push(format!(
                "call {} {}",
                excerpt(&call.name),
                excerpt(&call.arguments.to_string())
            ));
        }
        if let Some(error) = &record.error {
            parts.push(format!("error {}", excerpt(error)));
        }
        if let Some(reason) = record.end() {
            let reason = if reason.is_empty() {
                "no reason"
            } else {
                reason
            };
            let end = format!("done, {}", excerpt(reason));
            self.end.get_or_insert_with(|| end.clone());
            parts.push(end);
        }
        match parts.is_empty() {
            true => "nothing".to_string(),
            false => parts.join("; "),
        }
    }

    /// What it came to.
    fn finish(mut self, out: &mut String) {
        if let Some(plain) = self.plain.take() {
            let shown = excerpt(&String::from_utf8_lossy(&plain));
            row(out, "  body", &format!("{} bytes: {shown}", plain.len()));
        }
        let cut = match std::mem::replace(&mut self.part, Part::Over) {
            Part::Head(decoder) => decoder
                .finish_response()
                .err()
                .map(|error| error.to_string()),
            Part::Body(mut decoder, mut ndjson) => match decoder.finish() {
                Ok(()) => self.records_end(&mut ndjson, out).err(),
                Err(error) => Some(error.to_string()),
            },
            Part::Over => None,
        };
        if let Some(text) = cut {
            row(out, "  error", &excerpt(&text));
        }
        let mut what = format!(
            "{}, {}, {}",
            bytes_of(self.offset),
            counted(self.chunks.len() as u64, "chunk"),
            counted(self.records as u64, "record")
        );
        if self.records > 0 {
            what.push_str(&format!(
                "; {}",
                self.end.as_deref().unwrap_or("no last record: incomplete")
            ));
        }
        row(out, "in all", &what);
    }
}

fn bytes_of(number: usize) -> String {
    counted(number as u64, "byte")
}

/// Offset and size of the chunks in a response (RFC 9112 7.1), as far as its bytes are sound; none if it is not chunked.
pub(super) fn chunks(response: &[u8]) -> Vec<(usize, usize)> {
    let find = |from: usize, what: &[u8]| {
        let rest = response.get(from..)?;
        rest.windows(what.len())
            .position(|window| window == what)
            .map(|at| from + at)
    };
    let mut out = Vec::new();
    let Some(head) = find(0, b"\r\n\r\n") else {
        return out;
    };
    if !response[..head]
        .to_ascii_lowercase()
        .windows(7)
        .any(|window| window == b"chunked")
    {
        return out;
    }
    let mut at = head + 4;
    while let Some(end) = find(at, b"\r\n") {
        let digits = response[at..end]
            .split(|byte| *byte == b';')
            .next()
            .unwrap_or(b"");
        let digits = std::str::from_utf8(digits.trim_ascii());
        let size = digits
            .ok()
            .and_then(|digits| usize::from_str_radix(digits, 16).ok());
        let next = size.and_then(|size| end.checked_add(size)?.checked_add(4));
        match (size, next) {
            (Some(size), Some(next)) if size > 0 => {
                out.push((at, size));
                at = next;
            }
            _ => break,
        }
    }
    out
}
