//! Exchanges as text: what a client asked and what the answering end did, byte for byte. `--record` writes the form, `zcoder wire`
//! reads it to people, the stand-in and the tests play it. There is one format, so what was recorded from a real server can be
//! played to the same client later.
//!
//! ```text
//! zcoder script 1
//! # a comment; blank lines are free
//! exchange 0.000s                        when it began, counted from the first one
//! request                                what the client sent; nothing = any request
//! | POST /api/chat HTTP/1.1\r\n
//! | Host: 127.0.0.1:11434\r\n
//! | \r\n
//! | {"model":"m","messages":[]}
//! pause 0.120s
//! send                                   these bytes in one write
//! | HTTP/1.1 200 OK\r\n
//! | Content-Length: 3\r\n
//! | \r\n
//! | {}\n
//! close                                  also `reset` (RST), `hang` (until the client leaves), `wait` (for the request's end)
//! ```
//!
//! A line `| TEXT` holds bytes: printable ASCII and letters of any script stand for themselves, the rest is `\n`, `\r`, `\t`, `\\` or
//! `\xNN`; a space at the end of a line is `\x20`, so that no editor eats it. Where a line ends means nothing: bytes are joined. (The remarks behind the
//! words above are not part of the form.)
//!
//! Refused, with the line and the cause ([`ScriptError`]): another version, an unknown word, bytes that belong to nothing, a step before
//! the first `exchange`, an unknown escape, a raw control byte, a time that is not `SECONDS[.FRACTION]s`, a step after the end of
//! a connection.
//!
//! Invariant: `parse(write(script)) == script` for every script whose connections end once, with any bytes in it.
//! Invariant: a recording that was stopped at any moment is a readable script of what had happened until then.
//! Invariant: values of headers that carry secrets are never written; their length is.
//!
//! Next: `standin/mod.rs` plays scripts, `commands/wire.rs` reads them.

use crate::sys::net;
use crate::text::{Words, counted};
use std::fmt;
use std::fs::File;
use std::io::{self, Read, Write};
use std::net::{Shutdown, TcpStream};
use std::thread::{self, ThreadId};
use std::time::{Duration, Instant};

/// The first line of every script.
pub const HEADER: &str = "zcoder script 1";

/// Bytes of text after which the writer begins a new line.
const LINE_BYTES: usize = 120;

/// Headers whose values are not recorded (names in lower case).
const SECRET_HEADERS: Words = Words("authorization proxy-authorization cookie x-api-key");

/// A whole script.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Script {
    /// In the order of their beginnings.
    pub exchanges: Vec<Exchange>,
}

/// One connection: a request and what was done about it.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Exchange {
    /// When it began, counted from the beginning of the first one.
    pub at: Duration,
    /// The request as sent, head and body. Empty in a hand-written script: any request.
    pub request: Vec<u8>,
    /// What the answering end does, in order; then it closes.
    pub steps: Vec<Step>,
}

/// One act of the answering end.
#[derive(Clone, Debug, PartialEq)]
pub enum Step {
    /// Writes these bytes in one go.
    Send(Vec<u8>),
    /// Does nothing for so long.
    Pause(Duration),
    /// Reads the request to its end. Where no step says so it was read before the first one.
    Wait,
    /// Closes after what was sent (FIN).
    Close,
    /// Drops the connection (RST): what was sent and not yet read may be lost.
    Reset,
    /// Neither sends nor closes until the other side leaves.
    Hang,
}

impl Step {
    /// Whether nothing can follow it.
    fn ends(&self) -> bool {
        match self {
            Step::Close | Step::Reset | Step::Hang => true,
            Step::Send(_) | Step::Pause(_) | Step::Wait => false,
        }
    }
}

/// What is wrong, and in which line (from 1).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ScriptError {
    /// Line number, from 1.
    pub line: usize,
    /// The cause; each text has one origin.
    pub cause: &'static str,
}

impl fmt::Display for ScriptError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "line {}: {}", self.line, self.cause)
    }
}

impl std::error::Error for ScriptError {}

impl Script {
    /// Reads the text form.
    pub fn parse(text: &[u8]) -> Result<Script, ScriptError> {
        match Script::parse_prefix(text) {
            (script, None) => Ok(script),
            (_, Some(error)) => Err(error),
        }
    }

    /// Reads as far as the text is sound: what was read, and the error that ended it. For recordings that were cut.
    pub fn parse_prefix(text: &[u8]) -> (Script, Option<ScriptError>) {
        let mut reader = Reader::default();
        for (index, line) in text.split(|byte| *byte == b'\n').enumerate() {
            let line = line.strip_suffix(b"\r").unwrap_or(line);
            if let Err(cause) = reader.line(index == 0, line) {
                let line = index + 1;
                return (reader.script, Some(ScriptError { line, cause }));
            }
        }
        (reader.script, None)
    }

    /// Writes the text form.
    pub fn write(&self) -> Vec<u8> {
        let mut out = format!("{HEADER}\n").into_bytes();
        for exchange in &self.exchanges {
            write_exchange_line(&mut out, exchange.at);
            write_bytes(&mut out, "request", &exchange.request);
            for step in &exchange.steps {
                write_step(&mut out, step);
            }
        }
        out
    }
}

impl Exchange {
    /// Method and target of the request (`POST /api/chat`), if it has a request line.
    pub fn request_line(&self) -> Option<&str> {
        let line = self.request.split(|byte| *byte == b'\r').next()?;
        let line = std::str::from_utf8(line).ok()?;
        line.rsplit_once(" HTTP/").map(|(line, _)| line)
    }

    /// Everything the answering end sends, joined.
    pub fn response(&self) -> Vec<u8> {
        let mut out = Vec::new();
        for step in &self.steps {
            if let Step::Send(bytes) = step {
                out.extend_from_slice(bytes);
            }
        }
        out
    }
}

// ---- reading ----

#[derive(Debug, Default)]
struct Reader {
    script: Script,
    /// Whether `| …` lines may follow: behind `request` and `send`.
    takes_bytes: bool,
}

impl Reader {
    fn line(&mut self, first: bool, line: &[u8]) -> Result<(), &'static str> {
        if first {
            return match line == HEADER.as_bytes() {
                true => Ok(()),
                false => Err("expected `zcoder script 1`"),
            };
        }
        if let Some(text) = line.strip_prefix(b"|") {
            return self.text(text.strip_prefix(b" ").unwrap_or(text));
        }
        let line = line.trim_ascii();
        if line.is_empty() || line.starts_with(b"#") {
            return Ok(());
        }
        let (word, rest) = match line.iter().position(|byte| *byte == b' ') {
            Some(at) => (&line[..at], line[at..].trim_ascii()),
            None => (line, &b""[..]),
        };
        self.takes_bytes = matches!(word, b"request" | b"send");
        let step = match word {
            b"exchange" => {
                let at = match rest {
                    b"" => Duration::ZERO,
                    time => parse_time(time)?,
                };
                self.script.exchanges.push(Exchange {
                    at,
                    ..Exchange::default()
                });
                return Ok(());
            }
            b"pause" => Step::Pause(parse_time(rest)?),
            _ if !rest.is_empty() => return Err("only `exchange` and `pause` take a value"),
            b"request" => {
                return match self.script.exchanges.last() {
                    None => Err("`request` before the first `exchange`"),
                    Some(exchange) if exchange.request.is_empty() && exchange.steps.is_empty() => {
                        Ok(())
                    }
                    Some(_) => Err("`request` stands once, right after `exchange`"),
                };
            }
            b"send" => Step::Send(Vec::new()),
            b"wait" => Step::Wait,
            b"close" => Step::Close,
            b"reset" => Step::Reset,
            b"hang" => Step::Hang,
            _ => {
                return Err(
                    "expected exchange, request, send, pause, wait, close, reset, hang, `| bytes` or `# comment`",
                );
            }
        };
        let Some(exchange) = self.script.exchanges.last_mut() else {
            return Err("a step before the first `exchange`");
        };
        if exchange.steps.last().is_some_and(Step::ends) {
            return Err("a step after the connection's end");
        }
        exchange.steps.push(step);
        Ok(())
    }

    fn text(&mut self, text: &[u8]) -> Result<(), &'static str> {
        let exchange = self.script.exchanges.last_mut();
        let Some(exchange) = exchange.filter(|_| self.takes_bytes) else {
            return Err("`| bytes` belongs under `request` or `send`");
        };
        if let Some(Step::Send(bytes)) = exchange.steps.last_mut() {
            return unescape(text, bytes);
        }
        unescape(text, &mut exchange.request)
    }
}

fn unescape(text: &[u8], out: &mut Vec<u8>) -> Result<(), &'static str> {
    let mut rest = text;
    while let Some((&byte, after)) = rest.split_first() {
        rest = after;
        if byte != b'\\' {
            if byte < 0x20 || byte == 0x7f {
                return Err("a raw control byte; write it as an escape");
            }
            out.push(byte);
            continue;
        }
        let (escape, after) = match rest.split_first() {
            Some((escape, after)) => (*escape, after),
            None => return Err("a lone `\\` at the end of the line"),
        };
        rest = after;
        match escape {
            b'n' => out.push(b'\n'),
            b'r' => out.push(b'\r'),
            b't' => out.push(b'\t'),
            b'\\' => out.push(b'\\'),
            b'x' => {
                let digits = rest.get(..2).and_then(|two| std::str::from_utf8(two).ok());
                // from_str_radix takes a sign, which is no digit here.
                let digits = digits.filter(|two| !two.starts_with('+'));
                match digits.map(|two| u8::from_str_radix(two, 16)) {
                    Some(Ok(byte)) => out.push(byte),
                    Some(Err(_)) | None => return Err("`\\x` needs two hexadecimal digits"),
                }
                rest = &rest[2..];
            }
            _ => return Err("an unknown escape; known are \\n \\r \\t \\\\ \\xNN"),
        }
    }
    Ok(())
}

/// `1.25s`: at most nine decimals.
fn parse_time(text: &[u8]) -> Result<Duration, &'static str> {
    const CAUSE: &str = "expected a time like `0.250s`";
    let text = std::str::from_utf8(text).map_err(|_| CAUSE)?;
    let number = text.strip_suffix('s').ok_or(CAUSE)?;
    let (whole, fraction) = number.split_once('.').unwrap_or((number, ""));
    let digits = |text: &str| text.bytes().all(|byte| byte.is_ascii_digit());
    if whole.is_empty() || fraction.len() > 9 || !digits(whole) || !digits(fraction) {
        return Err(CAUSE);
    }
    let seconds = whole.parse().map_err(|_| CAUSE)?;
    let nanos = format!("{fraction:0<9}").parse().map_err(|_| CAUSE)?;
    Ok(Duration::new(seconds, nanos))
}

// ---- writing ----

fn time_text(time: Duration) -> String {
    let text = format!("{}.{:09}", time.as_secs(), time.subsec_nanos());
    // Three decimals at least: times below each other line up.
    let keep = text.trim_end_matches('0').len();
    let least = text.len() - 6;
    format!("{}s", &text[..keep.max(least)])
}

fn write_exchange_line(out: &mut Vec<u8>, at: Duration) {
    out.extend_from_slice(format!("\nexchange {}\n", time_text(at)).as_bytes());
}

fn write_step(out: &mut Vec<u8>, step: &Step) {
    match step {
        Step::Send(bytes) => write_bytes(out, "send", bytes),
        Step::Pause(time) => {
            out.extend_from_slice(format!("pause {}\n", time_text(*time)).as_bytes());
        }
        Step::Wait => out.extend_from_slice(b"wait\n"),
        Step::Close => out.extend_from_slice(b"close\n"),
        Step::Reset => out.extend_from_slice(b"reset\n"),
        Step::Hang => out.extend_from_slice(b"hang\n"),
    }
}

/// `word`, then the bytes in lines that end after a line feed or when they are long.
fn write_bytes(out: &mut Vec<u8>, word: &str, bytes: &[u8]) {
    out.extend_from_slice(word.as_bytes());
    out.push(b'\n');
    write_text(out, bytes);
}

fn write_text(out: &mut Vec<u8>, bytes: &[u8]) {
    let mut begin = out.len();
    for chunk in bytes.utf8_chunks() {
        let mut rest = chunk.valid();
        while let Some(character) = rest.chars().next() {
            begin = open_line(out, begin);
            // Most of it stands for itself: as much of that as the line takes goes over at once.
            let room = LINE_BYTES - (out.len() - begin);
            let plain = |byte: &u8| matches!(byte, b' '..=b'~') && *byte != b'\\';
            let run = rest.bytes().take(room).take_while(plain).count();
            if run > 0 {
                out.extend_from_slice(&rest.as_bytes()[..run]);
                rest = &rest[run..];
                continue;
            }
            rest = &rest[character.len_utf8()..];
            match character {
                '\n' => {
                    out.extend_from_slice(b"\\n");
                    end_line(out);
                    begin = out.len();
                }
                '\r' => out.extend_from_slice(b"\\r"),
                '\t' => out.extend_from_slice(b"\\t"),
                '\\' => out.extend_from_slice(b"\\\\"),
                // What has no look of its own, or an unexpected one (controls, bidi marks, joiners), is written as bytes.
                shown if shown == ' ' || shown.is_ascii_graphic() || shown.is_alphanumeric() => {
                    out.extend_from_slice(shown.encode_utf8(&mut [0; 4]).as_bytes());
                }
                hidden => write_hex(out, hidden.encode_utf8(&mut [0; 4]).as_bytes()),
            }
        }
        for byte in chunk.invalid() {
            begin = open_line(out, begin);
            write_hex(out, &[*byte]);
        }
    }
    if out.len() > begin {
        end_line(out);
    }
}

/// Makes room for one more character; returns where the line begins.
fn open_line(out: &mut Vec<u8>, begin: usize) -> usize {
    let mut begin = begin;
    if out.len() - begin >= LINE_BYTES {
        end_line(out);
        begin = out.len();
    }
    if out.len() == begin {
        out.extend_from_slice(b"| ");
    }
    begin
}

fn end_line(out: &mut Vec<u8>) {
    if out.last() == Some(&b' ') {
        out.pop();
        out.extend_from_slice(b"\\x20");
    }
    out.push(b'\n');
}

fn write_hex(out: &mut Vec<u8>, bytes: &[u8]) {
    for byte in bytes {
        out.extend_from_slice(format!("\\x{byte:02x}").as_bytes());
    }
}

// ---- playing ----

/// How long a wait lasts between two looks at whether to stop.
const LOOK: Duration = Duration::from_millis(50);

/// Plays `steps` on a connection and ends it. `wait` reads the request to its end (nothing, where that was done before); `stop`
/// ends pauses and hangs early. An error means that the other side has left. After a `reset` the caller closes its handle.
pub fn play(
    steps: &[Step],
    mut stream: &TcpStream,
    wait: &mut dyn FnMut(&TcpStream) -> io::Result<()>,
    stop: &dyn Fn() -> bool,
) -> io::Result<()> {
    if !steps.contains(&Step::Wait) {
        wait(stream)?;
    }
    for step in steps {
        match step {
            Step::Send(bytes) => stream.write_all(bytes)?,
            Step::Pause(time) => pause(*time, stop),
            Step::Wait => wait(stream)?,
            Step::Close => break,
            Step::Reset => return net::reset(stream.try_clone()?),
            Step::Hang => return hang(stream, stop),
        }
    }
    // A FIN, then whatever the client still sends: closing with unread bytes would turn the FIN into a RST.
    stream.shutdown(Shutdown::Write)?;
    hang(stream, stop)
}

fn pause(time: Duration, stop: &dyn Fn() -> bool) {
    let end = Instant::now() + time;
    while !stop() {
        let left = end.saturating_duration_since(Instant::now());
        if left.is_zero() {
            return;
        }
        thread::sleep(left.min(LOOK));
    }
}

/// Until the other side has closed.
fn hang(mut stream: &TcpStream, stop: &dyn Fn() -> bool) -> io::Result<()> {
    stream.set_read_timeout(Some(LOOK))?;
    let mut buffer = [0; 4096];
    while !stop() {
        match stream.read(&mut buffer) {
            Ok(0) => break,
            Ok(_) => {}
            Err(error) => match error.kind() {
                io::ErrorKind::WouldBlock
                | io::ErrorKind::TimedOut
                | io::ErrorKind::Interrupted => {}
                _ => return Err(error),
            },
        }
    }
    Ok(())
}

// ---- recording ----

/// Writes exchanges while they happen. Threads are told apart by their id and exchanges may nest on one (a question on a second
/// connection while the first is silent): the exchange that began first goes straight to the file, one that began while it
/// runs is kept and follows it, so that each stands in one piece.
#[derive(Debug)]
pub struct Recorder {
    /// `None`: to `text`, until somebody takes it.
    file: Option<File>,
    text: Vec<u8>,
    first: Option<Instant>,
    /// The streaming one at 0. An exchange that is over but has to wait for it stays in the list.
    open: Vec<Open>,
}

#[derive(Debug)]
struct Open {
    thread: ThreadId,
    ended: bool,
    /// Time of the last step, for the pause before the next.
    last: Instant,
    /// The request's head until it is whole: secrets are taken out before anything is written.
    head: Option<Vec<u8>>,
    /// Text not yet in the file.
    text: Vec<u8>,
}

impl Recorder {
    /// Begins a script in `file`, which should be empty and private.
    pub fn new(mut file: File) -> io::Result<Recorder> {
        file.write_all(format!("{HEADER}\n").as_bytes())?;
        Ok(Recorder {
            file: Some(file),
            ..Recorder::in_memory()
        })
    }

    /// Writes to memory, and without the first line of a script.
    pub fn in_memory() -> Recorder {
        Recorder {
            file: None,
            text: Vec::new(),
            first: None,
            open: Vec::new(),
        }
    }

    /// What was written to memory since the last call.
    pub fn take(&mut self) -> Vec<u8> {
        std::mem::take(&mut self.text)
    }

    /// An exchange begins on a thread.
    pub fn begin(&mut self, thread: ThreadId, now: Instant) -> io::Result<()> {
        let first = *self.first.get_or_insert(now);
        let mut text = Vec::new();
        write_exchange_line(&mut text, now.saturating_duration_since(first));
        text.extend_from_slice(b"request\n");
        self.open.push(Open {
            thread,
            ended: false,
            last: now,
            head: Some(Vec::new()),
            text,
        });
        self.write_streaming()
    }

    /// Request bytes were sent by the thread's latest exchange.
    pub fn request(&mut self, thread: ThreadId, bytes: &[u8], now: Instant) -> io::Result<()> {
        let Some(open) = self.current(thread) else {
            return Ok(());
        };
        open.last = now;
        match &mut open.head {
            Some(head) => {
                head.extend_from_slice(bytes);
                if let Some(end) = find(head, b"\r\n\r\n") {
                    let whole = open.head.take().unwrap_or_default();
                    write_text(&mut open.text, &without_secrets(&whole[..end]));
                    write_text(&mut open.text, &whole[end..]);
                }
            }
            None => write_text(&mut open.text, bytes),
        }
        self.write_streaming()
    }

    /// Response bytes came in one read.
    pub fn received(&mut self, thread: ThreadId, bytes: &[u8], now: Instant) -> io::Result<()> {
        let Some(open) = self.current(thread) else {
            return Ok(());
        };
        open.flush_head();
        let pause = now.saturating_duration_since(open.last);
        open.last = now;
        write_step(&mut open.text, &Step::Pause(pause));
        write_bytes(&mut open.text, "send", bytes);
        self.write_streaming()
    }

    /// So many bytes of the thread's latest exchange are left out here.
    pub fn left_out(&mut self, thread: ThreadId, bytes: usize) -> io::Result<()> {
        if let Some(open) = self.current(thread) {
            let bytes = counted(bytes as u64, "byte");
            let line = format!("# {bytes} of this exchange are left out here\n");
            open.text.extend_from_slice(line.as_bytes());
        }
        self.write_streaming()
    }

    /// The thread's latest exchange is over. Its bytes are on the disk when this returns, unless one that began before
    /// it still runs.
    pub fn end(&mut self, thread: ThreadId) -> io::Result<()> {
        let Some(open) = self.current(thread) else {
            return Ok(());
        };
        open.flush_head();
        open.ended = true;
        write_step(&mut open.text, &Step::Close);
        self.write_streaming()?;
        while self.open.first().is_some_and(|open| open.ended) {
            self.open.remove(0);
            self.write_streaming()?;
        }
        self.file.as_ref().map_or(Ok(()), File::sync_data)
    }

    fn current(&mut self, thread: ThreadId) -> Option<&mut Open> {
        let mut open = self.open.iter_mut().rev();
        open.find(|open| open.thread == thread && !open.ended)
    }

    fn write_streaming(&mut self) -> io::Result<()> {
        let Some(open) = self.open.first_mut() else {
            return Ok(());
        };
        match &mut self.file {
            Some(file) => {
                file.write_all(&open.text)?;
                open.text.clear();
            }
            None => self.text.append(&mut open.text),
        }
        Ok(())
    }
}

impl Open {
    /// A response before the request's head was whole: what there is of it, without secrets.
    fn flush_head(&mut self) {
        if let Some(head) = self.head.take() {
            write_text(&mut self.text, &without_secrets(&head));
        }
    }
}

fn find(bytes: &[u8], what: &[u8]) -> Option<usize> {
    bytes.windows(what.len()).position(|window| window == what)
}

/// The head with the values of secret headers replaced by their length.
fn without_secrets(head: &[u8]) -> Vec<u8> {
    let mut out = Vec::with_capacity(head.len());
    for line in head.split_inclusive(|byte| *byte == b'\n') {
        let colon = line.iter().position(|byte| *byte == b':');
        let name = &line[..colon.unwrap_or(0)];
        let mut secrets = SECRET_HEADERS.iter();
        let secret = secrets.any(|secret| name.eq_ignore_ascii_case(secret.as_bytes()));
        match colon {
            Some(colon) if secret => {
                let value = line[colon + 1..].trim_ascii();
                let end = if line.ends_with(b"\r\n") { "\r\n" } else { "" };
                out.extend_from_slice(&line[..=colon]);
                out.extend_from_slice(
                    format!(
                        " ({}, not recorded){end}",
                        counted(value.len() as u64, "byte")
                    )
                    .as_bytes(),
                );
            }
            Some(_) | None => out.extend_from_slice(line),
        }
    }
    out
}
