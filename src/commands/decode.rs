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

use crate::config::{Id, Source, Typed, UsageError, current_folder, nearest, settings, utf8};
use crate::headless::out::{Out, exit, with_stdout};
use crate::http::{BodyDecoder, Framing, Limits};
use crate::json::{Token, Tokens};
use crate::lines::{self, Ndjson, Sse};
use crate::text::{self, Utf8, counted};
use std::ffi::OsString;
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

/// The decoders, by name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Stage {
    Chunked,
    Ndjson,
    Sse,
    Json,
    Sanitize,
}

const STAGES: &[(&str, Stage)] = &[
    ("chunked", Stage::Chunked),
    ("ndjson", Stage::Ndjson),
    ("sse", Stage::Sse),
    ("json", Stage::Json),
    ("sanitize", Stage::Sanitize),
];

/// Their names.
pub(super) fn stages() -> impl Iterator<Item = &'static str> {
    STAGES.iter().map(|(name, _)| *name)
}

/// Reads what is to be decoded, and shows it.
pub(super) fn run(typed: &Typed) -> Result<u8, UsageError> {
    let (stage, file) = match typed.words.as_slice() {
        [stage] => (stage, None),
        [stage, file] => (stage, Some(file)),
        words => {
            return Err(UsageError::Words {
                command: typed.command,
                extra: words.get(2).map(|word| word.to_string_lossy().into_owned()),
            });
        }
    };
    let stage = find(utf8(stage, "the stage")?)?;
    let quiet = typed.is_on(Id::Quiet);
    let mut input = Input::open(file)?;
    let mut fault = None;
    let code = with_stdout(|out| {
        let mut rows = Rows { out, quiet };
        rows.head(stage)?;
        let shown = match stage {
            Stage::Chunked => chunked(&mut input, &mut rows),
            Stage::Ndjson => ndjson(&mut input, &mut rows),
            Stage::Sse => sse(&mut input, &mut rows),
            Stage::Json => json(&mut input, &mut rows),
            Stage::Sanitize => sanitize(&mut input, &mut rows),
        };
        match shown {
            Ok(accepted) => Ok(if accepted { exit::DONE } else { exit::FAILED }),
            Err(Trouble::Output(error)) => Err(error),
            Err(Trouble::Input(error)) => {
                fault = Some(error);
                Ok(exit::USAGE)
            }
        }
    });
    match fault {
        Some(error) => Err(input.fault(&error)),
        None => Ok(code),
    }
}

fn find(name: &str) -> Result<Stage, UsageError> {
    let known = STAGES.iter().find(|(known, _)| *known == name);
    known.map(|(_, stage)| *stage).ok_or_else(|| {
        let names: Vec<&str> = STAGES.iter().map(|(name, _)| *name).collect();
        let near = nearest(name, STAGES.iter().map(|(name, _)| *name));
        let near = near
            .map(|near| format!("; the nearest is {near}"))
            .unwrap_or_default();
        UsageError::BadValue {
            source: Source::Flag("zcoder decode"),
            value: name.to_string(),
            expected: format!("one of {}{near}", names.join(", ")),
        }
    })
}

/// The two ends can fail, and only one of them is the user's file.
enum Trouble {
    Input(io::Error),
    Output(io::Error),
}

impl From<io::Error> for Trouble {
    fn from(error: io::Error) -> Trouble {
        Trouble::Output(error)
    }
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
                    Err(error) => return Err(fault(&name, &error)),
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
    fn read(&mut self) -> Result<&mut [u8], Trouble> {
        loop {
            match self.reader.read(&mut self.buffer) {
                Ok(n) => return Ok(&mut self.buffer[..n]),
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return Err(Trouble::Input(error)),
            }
        }
    }

    fn fault(&self, error: &io::Error) -> UsageError {
        fault(&self.name, error)
    }
}

fn fault(name: &str, error: &io::Error) -> UsageError {
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
    fn head(&mut self, stage: Stage) -> io::Result<()> {
        let state = match stage {
            Stage::Chunked => "state",
            Stage::Ndjson => "record",
            Stage::Sse => "event",
            Stage::Json => "token",
            Stage::Sanitize => "line",
        };
        if self.quiet {
            return Ok(());
        }
        writeln!(self.out, "{:>8} {:>7}  {state:<10} what", "offset", "bytes")
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
fn chunked(input: &mut Input, rows: &mut Rows<'_>) -> Result<bool, Trouble> {
    let mut decoder = match BodyDecoder::new(Framing::Chunked, Limits::default()) {
        Ok(decoder) => decoder,
        Err(error) => return refused(rows, &error.to_string()),
    };
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
                rows.verdict(&format!(
                    "complete: {body} body bytes; more bytes follow at {offset}"
                ))?;
                return Ok(true);
            }
            run.push(*byte);
            let fed = decoder.feed(std::slice::from_mut(byte), &mut |data| body += data.len());
            offset += 1;
            if let Err(error) = fed {
                rows.row(offset - run.len(), run.len(), state, &run)?;
                return refused(rows, &error.to_string());
            }
        }
    }
    if !run.is_empty() {
        rows.row(offset - run.len(), run.len(), state, &run)?;
    }
    match decoder.finish() {
        Ok(()) => {
            rows.verdict(&format!("complete: {body} body bytes"))?;
            Ok(true)
        }
        Err(error) => refused(rows, &error.to_string()),
    }
}

fn refused(rows: &mut Rows<'_>, why: &str) -> Result<bool, Trouble> {
    rows.verdict(&format!("refused: {why}"))?;
    Ok(false)
}

/// Line by line, so that the offset of each record's line is known.
fn ndjson(input: &mut Input, rows: &mut Rows<'_>) -> Result<bool, Trouble> {
    enum Stop {
        Lines(lines::Error),
        Trouble(Trouble),
        Json(String),
    }
    impl From<lines::Error> for Stop {
        fn from(error: lines::Error) -> Stop {
            Stop::Lines(error)
        }
    }
    let mut splitter = Ndjson::new(RECORD_BYTES);
    let (mut offset, mut start, mut records) = (0, 0, 0);
    let mut show = |start: usize, record: &[u8]| -> Result<(), Stop> {
        records += 1;
        let number = records.to_string();
        rows.row(start, record.len(), &number, record)
            .map_err(|e| Stop::Trouble(e.into()))?;
        let mut tokens = Tokens::new(record);
        loop {
            match tokens.next() {
                Ok(Token::End) => return Ok(()),
                Ok(_) => {}
                Err(error) => return Err(Stop::Json(format!("record {number}: {error}"))),
            }
        }
    };
    let mut feed = || -> Result<(), Stop> {
        loop {
            let piece = input.read().map_err(Stop::Trouble)?;
            if piece.is_empty() {
                return splitter.finish(&mut |record| show(start, record));
            }
            for line in piece.split_inclusive(|b| *b == b'\n') {
                offset += line.len();
                splitter.feed(line, &mut |record| show(start, record))?;
                if line.ends_with(b"\n") {
                    start = offset;
                }
            }
        }
    };
    match feed() {
        Ok(()) => {
            rows.verdict(&format!("complete: {records} records"))?;
            Ok(true)
        }
        Err(Stop::Trouble(trouble)) => Err(trouble),
        Err(Stop::Lines(error)) => refused(rows, &error.to_string()),
        Err(Stop::Json(why)) => refused(rows, &why),
    }
}

fn sse(input: &mut Input, rows: &mut Rows<'_>) -> Result<bool, Trouble> {
    let mut decoder = Sse::new(RECORD_BYTES);
    let (mut offset, mut start, mut count) = (0, 0, 0);
    let mut events = Vec::new();
    loop {
        let piece = input.read()?;
        let last = piece.is_empty();
        let fed = match last {
            true => decoder.finish(&mut events),
            false => Ok(()),
        };
        let mut lines = piece.split_inclusive(|b| *b == b'\n' || *b == b'\r');
        let mut fed = fed;
        loop {
            if let Err(error) = fed {
                return refused(rows, &error.to_string());
            }
            for event in events.drain(..) {
                count += 1;
                rows.row(start, offset - start, &event.name, event.data.as_bytes())?;
                start = offset;
            }
            let Some(line) = lines.next() else {
                break;
            };
            offset += line.len();
            fed = decoder.feed(line, &mut events);
        }
        if last {
            rows.verdict(&format!("complete: {}", counted(count, "event")))?;
            return Ok(true);
        }
    }
}

/// The whole text: a document is one value, and its error may be at the end.
fn json(input: &mut Input, rows: &mut Rows<'_>) -> Result<bool, Trouble> {
    let mut document = Vec::new();
    (&mut input.reader)
        .take(DOCUMENT_BYTES as u64 + 1)
        .read_to_end(&mut document)
        .map_err(Trouble::Input)?;
    if document.len() > DOCUMENT_BYTES {
        return refused(
            rows,
            &format!("more than {}", counted(DOCUMENT_BYTES as u64, "byte")),
        );
    }
    let mut tokens = Tokens::new(&document);
    let mut count = 0u64;
    loop {
        let before = tokens.offset();
        match tokens.next() {
            Ok(Token::End) => {
                rows.verdict(&format!(
                    "accepted: {}, {}",
                    counted(count, "token"),
                    counted(document.len() as u64, "byte")
                ))?;
                return Ok(true);
            }
            Ok(token) => {
                count += 1;
                let end = tokens.offset();
                // White space, the comma before a value and the colon after a name are consumed with it.
                let skip = |b: &u8| matches!(b, b' ' | b'\t' | b'\n' | b'\r' | b',' | b':');
                let raw = &document[before..end];
                let lead = raw.iter().take_while(|b| skip(b)).count();
                let tail = raw[lead..].iter().rev().take_while(|b| skip(b)).count();
                let shown = &raw[lead..raw.len() - tail];
                rows.row(before + lead, shown.len(), kind(token), shown)?;
            }
            Err(error) => {
                let (line, column) = error.line_column(&document);
                return refused(rows, &format!("line {line}, column {column}: {error}"));
            }
        }
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
fn sanitize(input: &mut Input, rows: &mut Rows<'_>) -> Result<bool, Trouble> {
    let mut decoder = Utf8::default();
    let mut text = String::new();
    let (mut offset, mut number) = (0, 0u64);
    let mut changed = 0u64;
    let mut show = |line: &str, offset: &mut usize, rows: &mut Rows<'_>| -> io::Result<()> {
        number += 1;
        let plain = text::plain(line);
        if plain != line {
            changed += 1;
            rows.row(*offset, line.len(), &number.to_string(), line.as_bytes())?;
            rows.row(*offset, plain.len(), "  plain", plain.as_bytes())?;
        } else {
            rows.row(*offset, line.len(), &number.to_string(), line.as_bytes())?;
        }
        *offset += line.len();
        Ok(())
    };
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
            show(line, &mut offset, rows)?;
        }
        text = rest;
        if last {
            break;
        }
    }
    rows.verdict(&format!(
        "complete: {number} lines, {changed} of them changed"
    ))?;
    Ok(true)
}
