//! NDJSON: bytes in at any cut, one record at a time out. What Ollama streams (Ollama's API, `/api/chat`).
//!
//! ```text
//! EF BB BF                      a BOM, before the first record only: dropped
//! {"done":false}\r\n            → {"done":false}     the CR is no part of it
//!   {"done":false} \t\n         → {"done":false}     nor are blanks around it
//! \n                            →                    blank lines are nothing
//! {"done":true}                 → {"done":true}      at the end of the input, by `finish`
//! ```
//!
//! Refused: a line above the limit. What a record holds is not looked at: `{"a":1}{"b":2}` is one record, and the JSON
//! parser's to refuse.
//!
//! Next: `model::assemble`, which takes the records.
use super::{Error, Splitter};

/// The record splitter.
#[derive(Debug)]
pub struct Ndjson {
    lines: Splitter,
    /// Whether the next line is the first one.
    first: bool,
}

impl Ndjson {
    /// Records up to `limit_bytes`.
    pub fn new(limit_bytes: usize) -> Ndjson {
        Ndjson {
            lines: Splitter::new(limit_bytes),
            first: true,
        }
    }

    /// Calls `record` for each complete record; an `Err` from it stops and is returned. After an error the splitter is
    /// of no use.
    pub fn feed<E: From<Error>>(
        &mut self,
        bytes: &[u8],
        record: &mut dyn FnMut(&[u8]) -> Result<(), E>,
    ) -> Result<(), E> {
        let first = &mut self.first;
        self.lines.each(bytes, |line| match trimmed(line, first) {
            b"" => Ok(()),
            bytes => record(bytes),
        })
    }

    /// The last record without its line end.
    pub fn finish<E: From<Error>>(
        &mut self,
        record: &mut dyn FnMut(&[u8]) -> Result<(), E>,
    ) -> Result<(), E> {
        let first = &mut self.first;
        self.lines.last(|line| match trimmed(line, first) {
            b"" => Ok(()),
            bytes => record(bytes),
        })
    }
}

/// The record in a line.
fn trimmed<'a>(line: &'a [u8], first: &mut bool) -> &'a [u8] {
    let mut record = line;
    if *first {
        *first = false;
        record = record.strip_prefix(b"\xEF\xBB\xBF").unwrap_or(record);
    }
    while let [b' ' | b'\t' | b'\r', rest @ ..] = record {
        record = rest;
    }
    while let [rest @ .., b' ' | b'\t' | b'\r'] = record {
        record = rest;
    }
    record
}
