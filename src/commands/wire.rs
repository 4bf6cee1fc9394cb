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
use std::fmt::Display;
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
    let line = exchange.request_line();
    let mut out = Reading {
        out: format!(
            "exchange {number:<3} {}   +{}\n",
            excerpt(line.unwrap_or("any request")),
            seconds(exchange.at)
        ),
        method: line.and_then(|line| line.split(' ').next()),
        part: Part::Head(HeadDecoder::response(Limits::default())),
        chunks: chunks(&exchange.response()),
        offset: 0,
        plain: None,
        records: 0,
        end: None,
    };
    out.request(&exchange.request);
    let mut time = Duration::ZERO;
    let mut closed = false;
    for step in &exchange.steps {
        let what = match step {
            Step::Send(bytes) => {
                out.received(time, bytes);
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
        out.row(&seconds(time), what);
    }
    if !closed {
        out.row(&seconds(time), "the recording ends here");
    }
    out.finish();
    out.out + "\n"
}

fn excerpt(text: &str) -> String {
    text::clip(&text::one_line(text), EXCERPT).into_owned()
}

fn excerpt_of(bytes: &[u8]) -> String {
    excerpt(&String::from_utf8_lossy(bytes))
}

fn seconds(time: Duration) -> String {
    format!("{:.3}s", time.as_secs_f64())
}

fn bytes_of(number: usize) -> String {
    counted(number as u64, "byte")
}

fn told(error: impl Display) -> String {
    error.to_string()
}

/// How far the decoders are.
enum Part {
    Head(HeadDecoder),
    Body(Box<BodyDecoder>, Ndjson),
    /// After the end, or after an error.
    Over,
}

/// An exchange as it is read; errors of the decoders are texts to be shown.
struct Reading<'e> {
    out: String,
    method: Option<&'e str>,
    part: Part,
    /// Offset and size of each chunk.
    chunks: Vec<(usize, usize)>,
    offset: usize,
    /// The body of an answer that is no stream.
    plain: Option<Vec<u8>>,
    records: usize,
    end: Option<String>,
}

impl Reading<'_> {
    /// A label and a text, which is harmless already.
    fn row(&mut self, label: &str, text: &str) {
        self.out
            .push_str(format!("  {label:<10} {text}").trim_end());
        self.out.push('\n');
    }

    fn request(&mut self, bytes: &[u8]) {
        if bytes.is_empty() {
            return;
        }
        let head = bytes.windows(4).position(|four| four == b"\r\n\r\n");
        let (head, body) = bytes.split_at(head.map_or(bytes.len(), |end| end + 4));
        let (head_bytes, body_bytes) = (bytes_of(head.len()), bytes_of(body.len()));
        self.row(
            "request",
            &format!("{head_bytes} of head, {body_bytes} of body"),
        );
        let head = String::from_utf8_lossy(head);
        for line in head.lines().filter(|line| !line.is_empty()) {
            self.row("", &excerpt(line));
        }
        if !body.is_empty() {
            self.row("", &excerpt_of(body));
        }
    }

    fn received(&mut self, time: Duration, bytes: &[u8]) {
        let range = self.offset..self.offset + bytes.len();
        let sizes = self.chunks.iter().filter(|(at, _)| range.contains(at));
        let sizes: Vec<String> = sizes.map(|(_, size)| size.to_string()).collect();
        let mut what = format!("offset {}, {}", self.offset, bytes_of(bytes.len()));
        if !sizes.is_empty() {
            what.push_str(&format!(", chunks: {}", sizes.join(" ")));
        }
        self.row(&format!("+{}", seconds(time)), &what);
        self.offset = range.end;
        let mut bytes = bytes.to_vec();
        let mut rest = &mut bytes[..];
        while !rest.is_empty() {
            match self.decode(rest) {
                Ok(0) => {
                    let left = bytes_of(rest.len());
                    self.row("  after", &format!("{left} that belong to nothing"));
                    return;
                }
                Ok(used) => rest = &mut rest[used..],
                Err(text) => {
                    self.row("  error", &excerpt(&text));
                    self.part = Part::Over;
                    return;
                }
            }
        }
    }

    /// Gives the decoder at work its bytes; returns how many it took.
    fn decode(&mut self, bytes: &mut [u8]) -> Result<usize, String> {
        match std::mem::replace(&mut self.part, Part::Over) {
            Part::Head(mut decoder) => {
                let (used, complete) = decoder.feed(bytes).map_err(told)?;
                self.part = match complete {
                    true => self.head(&decoder.finish_response().map_err(told)?)?,
                    false => Part::Head(decoder),
                };
                Ok(used)
            }
            Part::Body(mut decoder, mut ndjson) => {
                let mut data = Vec::new();
                let used = decoder.feed(bytes, &mut |bytes| data.extend_from_slice(bytes));
                let used = used.map_err(told)?;
                match &mut self.plain {
                    Some(plain) => plain.extend_from_slice(&data),
                    None => ndjson
                        .feed(&data, &mut |line| self.record(line))
                        .map_err(told)?,
                }
                match decoder.is_done() {
                    true => self.records_end(ndjson)?,
                    false => self.part = Part::Body(decoder, ndjson),
                }
                Ok(used)
            }
            Part::Over => Ok(0),
        }
    }

    fn head(&mut self, head: &Head) -> Result<Part, String> {
        let (version, status) = (head.version_minor, head.status);
        let line = format!("HTTP/1.{version} {status} {}", head.reason);
        self.row("  head", &excerpt(&line));
        for (name, value) in &head.headers {
            self.row("", &excerpt(&format!("{name}: {value}")));
        }
        if (100..200).contains(&status) {
            return Ok(Part::Head(HeadDecoder::response(Limits::default())));
        }
        let kind = head.header("content-type");
        let is_stream = kind.is_some_and(|kind| kind.starts_with("application/x-ndjson"));
        self.plain = (!is_stream).then(Vec::new);
        let framing = Framing::of_response(self.method.unwrap_or("GET"), head).map_err(told)?;
        let decoder = BodyDecoder::new(framing, Limits::default()).map_err(told)?;
        Ok(match decoder.is_done() {
            true => Part::Over,
            false => Part::Body(Box::new(decoder), Ndjson::new(RECORD_BYTES)),
        })
    }

    fn records_end(&mut self, mut ndjson: Ndjson) -> Result<(), String> {
        ndjson.finish(&mut |line| self.record(line)).map_err(told)
    }

    fn record(&mut self, line: &[u8]) -> Result<(), lines::Error> {
        self.records += 1;
        let what = match Record::decode(line) {
            Ok(record) => self.says(&record),
            Err(error) => format!("{error}: {}", excerpt_of(line)),
        };
        let label = format!("  record {}", self.records);
        self.row(&label, &format!("{} bytes: {what}", line.len()));
        Ok(())
    }

    /// The deltas of a record.
    fn says(&mut self, record: &Record<'_>) -> String {
        let mut parts = Vec::new();
        for (name, text) in [("thinking", record.thinking), ("content", record.content)] {
            let text = text.map(|text| text.decode()).unwrap_or_default();
            if !text.is_empty() {
                parts.push(format!("{name} \"{}\"", excerpt(&text)));
            }
        }
        for call in &record.calls {
            let arguments = excerpt(&call.arguments.to_string());
            parts.push(format!("call {} {arguments}", excerpt(&call.name)));
        }
        if let Some(error) = &record.error {
            parts.push(format!("error {}", excerpt(error)));
        }
        if let Some(reason) = record.end() {
            let end = match reason {
                "" => "done, no reason".to_string(),
                reason => format!("done, {}", excerpt(reason)),
            };
            self.end.get_or_insert_with(|| end.clone());
            parts.push(end);
        }
        match parts.is_empty() {
            true => "nothing".to_string(),
            false => parts.join("; "),
        }
    }

    /// What it came to.
    fn finish(&mut self) {
        if let Some(plain) = self.plain.take() {
            let text = format!("{} bytes: {}", plain.len(), excerpt_of(&plain));
            self.row("  body", &text);
        }
        let ended = match std::mem::replace(&mut self.part, Part::Over) {
            Part::Head(decoder) => decoder.finish_response().map(drop).map_err(told),
            Part::Body(mut decoder, ndjson) => match decoder.finish() {
                Ok(()) => self.records_end(ndjson),
                Err(error) => Err(told(error)),
            },
            Part::Over => Ok(()),
        };
        if let Err(text) = ended {
            self.row("  error", &excerpt(&text));
        }
        let mut what = format!(
            "{}, {}, {}",
            bytes_of(self.offset),
            counted(self.chunks.len() as u64, "chunk"),
            counted(self.records as u64, "record")
        );
        if self.records > 0 {
            let end = self.end.as_deref();
            what.push_str("; ");
            what.push_str(end.unwrap_or("no last record: incomplete"));
        }
        self.row("in all", &what);
    }
}

/// Offset and size of the chunks in a response (RFC 9112 7.1), as far as its bytes are sound; none if it is not chunked.
pub(super) fn chunks(response: &[u8]) -> Vec<(usize, usize)> {
    let head = response.windows(4).position(|four| four == b"\r\n\r\n");
    let head = &response[..head.unwrap_or(0)].to_ascii_lowercase();
    if !head.windows(7).any(|window| window == b"chunked") {
        return Vec::new();
    }
    let mut out = Vec::new();
    let mut at = head.len() + 4;
    loop {
        let rest = response.get(at..).unwrap_or_default();
        let Some(end) = rest.windows(2).position(|two| two == b"\r\n") else {
            return out;
        };
        let digits = rest[..end].split(|byte| *byte == b';').next();
        let digits = std::str::from_utf8(digits.unwrap_or_default().trim_ascii());
        let size = digits.map(|digits| usize::from_str_radix(digits, 16));
        let Ok(Ok(size @ 1..)) = size else {
            return out;
        };
        let Some(next) = (at + end + 4).checked_add(size) else {
            return out;
        };
        out.push((at, size));
        at = next;
    }
}
