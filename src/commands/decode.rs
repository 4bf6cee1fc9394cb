//! `zcoder decode STAGE [FILE|-]`: bytes in, the steps of a shipped decoder out. The same code that reads a model's reply reads the
//! file here, so what is printed is what would have happened.
//!
//! ```text
//! $ printf '1a;x=y\r\n{"a":1,"b":[true,null],"c"\r\n0\r\n\r\n' | zcoder decode chunked
//!   offset   bytes  state      what
//!        0       3  size       1a;
//!        3       4  extension  x=y\r
//!        7       1  size       \n
//!        8      26  data       {"a":1,"b":[true,null],"c"
//!       34       2  data end   \r\n
//!       36       3  size       0\r\n
//!       39       2  trailer    \r\n
//! complete: 26 body bytes
//! $ printf '[1,2 x]' | zcoder decode json -q
//! refused: line 1, column 6: expected a comma or `]` in an array at byte 5, found `x`
//! ```
//!
//! Limits are those of the program. `json` reads the whole text first (a document is one value), at most 64 MiB of it, the size of
//! the largest response; the others take a file of any size in pieces.
//!
//! Invariant: exit code 0 for accepted, 1 for refused or cut, 2 when the file cannot be read.
//!
//! Read next: the module named by the stage: `http/body.rs`, `lines/ndjson.rs`, `lines/sse.rs`, `json/token.rs`, `text/sanitize.rs`.

use super::wrong;
use crate::config::{Id, Source, Typed, UsageError, current_folder, nearest, settings, utf8};
use crate::headless::out::{Out, exit, with_stdout};
use crate::http::{BodyDecoder, Framing, Limits};
use crate::json::{Token, Tokens};
use crate::lines::{self, Event, Ndjson, Sse};
use crate::text::{self, Utf8, counted};
use std::ffi::OsString;
use std::fmt::Display;
use std::fs::File;
use std::io::{self, Read, Write};

/// One read.
const READ_BYTES: usize = 64 << 10;
/// Records as the client bounds them.
const RECORD_BYTES: usize = 16 << 20;
/// A document as the client bounds a whole response: what never ends must not fill the memory.
const DOCUMENT_BYTES: usize = 64 << 20;
/// Characters of the last column.
const SHOWN_CHARS: usize = 64;

/// A decoder.
struct Stage {
    name: &'static str,
    /// What its third column has.
    column: &'static str,
    /// Shows the steps; the verdict.
    decode: fn(&mut Input, &mut Rows<'_>) -> Result<String, Stop>,
}

const fn stage(
    name: &'static str,
    column: &'static str,
    decode: fn(&mut Input, &mut Rows<'_>) -> Result<String, Stop>,
) -> Stage {
    Stage {
        name,
        column,
        decode,
    }
}

const STAGES: &[Stage] = &[
    stage("chunked", "state", chunked),
    stage("ndjson", "record", ndjson),
    stage("sse", "event", sse),
    stage("json", "token", json),
    stage("sanitize", "line", sanitize),
];

/// Their names.
pub(super) fn stages() -> impl Iterator<Item = &'static str> {
    STAGES.iter().map(|stage| stage.name)
}

/// Reads what is to be decoded, and shows it.
pub(super) fn run(typed: &Typed) -> Result<u8, UsageError> {
    let (stage, file) = match typed.words.as_slice() {
        [stage] => (stage, None),
        [stage, file] => (stage, Some(file)),
        words => return Err(wrong(typed, words.get(2))),
    };
    let stage = find(utf8(stage, "the stage")?)?;
    let quiet = typed.is_on(Id::Quiet);
    let mut input = Input::open(file)?;
    let mut fault = None;
    let code = with_stdout(|out| {
        let mut rows = Rows { out, quiet };
        rows.head(stage.column)?;
        match (stage.decode)(&mut input, &mut rows) {
            Ok(text) => {
                rows.verdict(&text)?;
                Ok(exit::DONE)
            }
            Err(Stop::Refused(why)) => {
                rows.verdict(&format!("refused: {why}"))?;
                Ok(exit::FAILED)
            }
            Err(Stop::Output(error)) => Err(error),
            Err(Stop::Input(error)) => {
                fault = Some(error);
                Ok(exit::USAGE)
            }
        }
    });
    match fault {
        Some(error) => Err(unreadable(&input.name, &error)),
        None => Ok(code),
    }
}

fn find(name: &str) -> Result<&'static Stage, UsageError> {
    let known = STAGES.iter().find(|stage| stage.name == name);
    known.ok_or_else(|| {
        let names: Vec<&str> = stages().collect();
        let near = nearest(name, stages()).map(|near| format!("; the nearest is {near}"));
        UsageError::BadValue {
            source: Source::Flag("zcoder decode"),
            value: name.to_string(),
            expected: format!("one of {}{}", names.join(", "), near.unwrap_or_default()),
        }
    })
}

/// What ends a decoder early. The two ends can fail, and only one of them is the user's file.
enum Stop {
    Input(io::Error),
    Output(io::Error),
    Refused(String),
}

impl From<io::Error> for Stop {
    fn from(error: io::Error) -> Stop {
        Stop::Output(error)
    }
}

impl From<lines::Error> for Stop {
    fn from(error: lines::Error) -> Stop {
        refused(error)
    }
}

fn refused(error: impl Display) -> Stop {
    Stop::Refused(error.to_string())
}

/// A file, or standard input.
struct Input {
    name: String,
    reader: Box<dyn Read>,
    buffer: Vec<u8>,
}

impl Input {
    fn open(file: Option<&OsString>) -> Result<Input, UsageError> {
        let (name, reader): (String, Box<dyn Read>) = match file {
            Some(file) if file != "-" => {
                let path = settings::absolute(file, current_folder().as_deref());
                let name = path.display().to_string();
                match File::open(&path) {
                    Ok(file) => (name, Box::new(file)),
                    Err(error) => return Err(unreadable(&name, &error)),
                }
            }
            _ => ("-".to_string(), Box::new(io::stdin())),
        };
        Ok(Input {
            name,
            reader,
            buffer: vec![0; READ_BYTES],
        })
    }

    /// The next piece; empty at the end.
    fn read(&mut self) -> Result<&mut [u8], Stop> {
        loop {
            match self.reader.read(&mut self.buffer) {
                Ok(n) => return Ok(&mut self.buffer[..n]),
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return Err(Stop::Input(error)),
            }
        }
    }
}

fn unreadable(name: &str, error: &io::Error) -> UsageError {
    UsageError::File {
        source: Source::Flag("zcoder decode"),
        file: name.to_string(),
        cause: error.to_string(),
    }
}

/// The table on standard output.
struct Rows<'o> {
    out: &'o mut Out,
    quiet: bool,
}

impl Rows<'_> {
    fn head(&mut self, column: &str) -> io::Result<()> {
        if self.quiet {
            return Ok(());
        }
        writeln!(
            self.out,
            "{:>8} {:>7}  {column:<10} what",
            "offset", "bytes"
        )
    }

    fn row(&mut self, offset: usize, bytes: usize, state: &str, what: &[u8]) -> io::Result<()> {
        if self.quiet {
            return Ok(());
        }
        writeln!(
            self.out,
            "{offset:>8} {bytes:>7}  {state:<10} {}",
            shown(what)
        )
    }

    fn verdict(&mut self, text: &str) -> io::Result<()> {
        writeln!(self.out, "{}", text::line(text))
    }
}

/// Bytes as they can be shown in one line: line ends as escapes, cut to the column.
fn shown(bytes: &[u8]) -> String {
    // A character has at most four bytes, so this many hold all that will be shown.
    let bytes = &bytes[..bytes.len().min(4 * SHOWN_CHARS + 4)];
    let visible = text::repair(bytes);
    let visible = text::one_line(&visible);
    text::clip(&visible, SHOWN_CHARS).into_owned()
}

/// One byte at a time, so that the decoder's state before each can be shown; it gives the same at any cut.
fn chunked(input: &mut Input, rows: &mut Rows<'_>) -> Result<String, Stop> {
    let decoder = BodyDecoder::new(Framing::Chunked, Limits::default());
    let mut decoder = decoder.map_err(refused)?;
    let (mut offset, mut body) = (0, 0);
    // Bytes that were read in the same state.
    let (mut run, mut state) = (Vec::new(), decoder.state());
    loop {
        let piece = input.read()?;
        if piece.is_empty() {
            break;
        }
        for byte in piece {
            if decoder.state() != state || decoder.is_done() {
                rows.row(offset - run.len(), run.len(), state, &run)?;
                run.clear();
                state = decoder.state();
            }
            if decoder.is_done() {
                return Ok(format!(
                    "complete: {body} body bytes; more bytes follow at {offset}"
                ));
            }
            run.push(*byte);
            let fed = decoder.feed(std::slice::from_mut(byte), &mut |data| body += data.len());
            offset += 1;
            if let Err(error) = fed {
                rows.row(offset - run.len(), run.len(), state, &run)?;
                return Err(refused(error));
            }
        }
    }
    if !run.is_empty() {
        rows.row(offset - run.len(), run.len(), state, &run)?;
    }
    decoder.finish().map_err(refused)?;
    Ok(format!("complete: {body} body bytes"))
}

/// Line by line, so that the offset of each record's line is known.
fn ndjson(input: &mut Input, rows: &mut Rows<'_>) -> Result<String, Stop> {
    let mut splitter = Ndjson::new(RECORD_BYTES);
    let (mut offset, mut start, mut records) = (0, 0, 0);
    let mut show = |start: usize, record: &[u8]| -> Result<(), Stop> {
        records += 1;
        rows.row(start, record.len(), &records.to_string(), record)?;
        let mut tokens = Tokens::new(record);
        loop {
            match tokens.next() {
                Ok(Token::End) => return Ok(()),
                Ok(_) => {}
                Err(error) => return Err(refused(format!("record {records}: {error}"))),
            }
        }
    };
    loop {
        let piece = input.read()?;
        if piece.is_empty() {
            splitter.finish(&mut |record| show(start, record))?;
            return Ok(format!("complete: {records} records"));
        }
        for line in piece.split_inclusive(|b| *b == b'\n') {
            offset += line.len();
            splitter.feed(line, &mut |record| show(start, record))?;
            if line.ends_with(b"\n") {
                start = offset;
            }
        }
    }
}

fn sse(input: &mut Input, rows: &mut Rows<'_>) -> Result<String, Stop> {
    let mut decoder = Sse::new(RECORD_BYTES);
    let (mut offset, mut start, mut count) = (0, 0, 0);
    let mut events = Vec::new();
    let mut show = |offset: usize, events: &mut Vec<Event>| -> io::Result<()> {
        for event in events.drain(..) {
            count += 1;
            rows.row(start, offset - start, &event.name, event.data.as_bytes())?;
            start = offset;
        }
        Ok(())
    };
    loop {
        let piece = input.read()?;
        if piece.is_empty() {
            decoder.finish(&mut events).map_err(refused)?;
            show(offset, &mut events)?;
            return Ok(format!("complete: {}", counted(count, "event")));
        }
        for line in piece.split_inclusive(|b| *b == b'\n' || *b == b'\r') {
            offset += line.len();
            decoder.feed(line, &mut events).map_err(refused)?;
            show(offset, &mut events)?;
        }
    }
}

/// The whole text: a document is one value, and its error may be at the end.
fn json(input: &mut Input, rows: &mut Rows<'_>) -> Result<String, Stop> {
    let mut document = Vec::new();
    let mut bounded = (&mut input.reader).take(DOCUMENT_BYTES as u64 + 1);
    bounded.read_to_end(&mut document).map_err(Stop::Input)?;
    if document.len() > DOCUMENT_BYTES {
        let limit = counted(DOCUMENT_BYTES as u64, "byte");
        return Err(refused(format!("more than {limit}")));
    }
    let mut tokens = Tokens::new(&document);
    let mut count = 0u64;
    loop {
        let before = tokens.offset();
        let token = tokens.next().map_err(|error| {
            let (line, column) = error.line_column(&document);
            refused(format!("line {line}, column {column}: {error}"))
        })?;
        if token == Token::End {
            let bytes = counted(document.len() as u64, "byte");
            return Ok(format!("accepted: {}, {bytes}", counted(count, "token")));
        }
        count += 1;
        // White space, the comma before a value and the colon after a name are consumed with it.
        let skip = |b: &u8| matches!(b, b' ' | b'\t' | b'\n' | b'\r' | b',' | b':');
        let raw = &document[before..tokens.offset()];
        let lead = raw.iter().take_while(|b| skip(b)).count();
        let tail = raw[lead..].iter().rev().take_while(|b| skip(b)).count();
        let shown = &raw[lead..raw.len() - tail];
        rows.row(before + lead, shown.len(), kind(token), shown)?;
    }
}

fn kind(token: Token<'_>) -> &'static str {
    match token {
        Token::BeginObject => "object",
        Token::EndObject => "object end",
        Token::BeginArray => "array",
        Token::EndArray => "array end",
        Token::Key(_) => "name",
        Token::String(_) => "string",
        Token::Number(_) => "number",
        Token::Bool(_) => "boolean",
        Token::Null => "null",
        Token::End => "end",
    }
}

/// Line by line: what came, and what a terminal would get.
fn sanitize(input: &mut Input, rows: &mut Rows<'_>) -> Result<String, Stop> {
    let mut decoder = Utf8::default();
    let mut text = String::new();
    let (mut offset, mut number, mut changed) = (0, 0u64, 0u64);
    loop {
        let piece = input.read()?;
        let last = piece.is_empty();
        match last {
            true => decoder.finish(&mut text),
            false => decoder.feed(piece, &mut text),
        }
        // A line without an end waits for the next piece, unless it is longer than anyone would look at.
        let whole = match text.rfind('\n') {
            Some(end) if !last => end + 1,
            None if !last && text.len() < RECORD_BYTES => 0,
            _ => text.len(),
        };
        let rest = text.split_off(whole);
        for line in text.split_inclusive('\n') {
            number += 1;
            rows.row(offset, line.len(), &number.to_string(), line.as_bytes())?;
            let plain = text::plain(line);
            if plain != line {
                changed += 1;
                rows.row(offset, plain.len(), "  plain", plain.as_bytes())?;
            }
            offset += line.len();
        }
        text = rest;
        if last {
            return Ok(format!(
                "complete: {number} lines, {changed} of them changed"
            ));
        }
    }
}
