//! Server-sent events (WHATWG HTML 9.2.6): bytes in at any cut, whole events out. What OpenAI-compatible servers stream.
//!
//! ```text
//! : keep-alive\n                 a comment: nothing
//! event: error\r\n               names the event
//! data: {"a":\r                  lines end in LF, CR LF or CR
//! data:1}\n                      one blank behind the colon is dropped; data lines are joined by LF
//! \n                             the end      → Event { name: "error", data: "{\"a\":\n1}" }
//! data: [DONE]                   at the end of the input, by `finish`
//!                                              → Event { name: "message", data: "[DONE]" }
//! ```
//!
//! `id`, `retry` and unknown fields are read over. An event without a data line is none. Bad UTF-8 becomes U+FFFD, a BOM at the
//! start is dropped. One leniency: the standard throws away an event that the end of the input cut off before its blank
//! line; here it counts, because servers forget that line behind the last event.
//!
//! Refused: an event (its data and the line being read) above the limit.
//!
//! Invariant: every byte is looked at once, and not more than the limit is kept.
use super::Error;

/// One event.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Event {
    /// `message` when the event did not say.
    pub name: String,
    /// The data lines, joined by LF.
    pub data: String,
}

/// The decoder.
#[derive(Debug)]
pub struct Sse {
    limit_bytes: usize,
    /// The line begun in earlier input.
    begun: Vec<u8>,
    /// Whether the last byte was a CR: a LF next to it ends no other line.
    after_cr: bool,
    /// Whether the next line is the first one.
    first: bool,
    name: String,
    data: String,
    /// Whether any data line came: `data:` alone makes an event with empty data, no such line makes none.
    has_data: bool,
}

impl Sse {
    /// Events up to `limit_bytes`.
    pub fn new(limit_bytes: usize) -> Sse {
        Sse {
            limit_bytes,
            begun: Vec::new(),
            after_cr: false,
            first: true,
            name: String::new(),
            data: String::new(),
            has_data: false,
        }
    }

    /// Appends complete events. After an error the decoder is of no use.
    pub fn feed(&mut self, bytes: &[u8], out: &mut Vec<Event>) -> Result<(), Error> {
        let mut rest = bytes;
        while let Some(first) = rest.first() {
            if std::mem::take(&mut self.after_cr) && *first == b'\n' {
                rest = &rest[1..];
                continue;
            }
            let end = rest.iter().position(|byte| matches!(byte, b'\n' | b'\r'));
            let length = end.unwrap_or(rest.len());
            if self.begun.len() + self.data.len() + length > self.limit_bytes {
                return Err(Error::TooLong {
                    limit_bytes: self.limit_bytes,
                });
            }
            let Some(end) = end else {
                self.begun.extend_from_slice(rest);
                return Ok(());
            };
            if self.begun.is_empty() {
                self.line(&rest[..end], out);
            } else {
                let mut line = std::mem::take(&mut self.begun);
                line.extend_from_slice(&rest[..end]);
                self.line(&line, out);
            }
            self.after_cr = rest[end] == b'\r';
            rest = &rest[end + 1..];
        }
        Ok(())
    }

    /// An event at the end without its blank line counts.
    pub fn finish(&mut self, out: &mut Vec<Event>) -> Result<(), Error> {
        let line = std::mem::take(&mut self.begun);
        if !line.is_empty() {
            self.line(&line, out);
        }
        self.dispatch(out);
        Ok(())
    }

    fn line(&mut self, line: &[u8], out: &mut Vec<Event>) {
        let mut line = line;
        if std::mem::take(&mut self.first) {
            line = line.strip_prefix(b"\xEF\xBB\xBF").unwrap_or(line);
        }
        if line.is_empty() {
            self.dispatch(out);
            return;
        }
        let colon = line.iter().position(|byte| *byte == b':');
        let (field, value) = match colon {
            Some(colon) => (&line[..colon], &line[colon + 1..]),
            None => (line, &line[line.len()..]),
        };
        let value = String::from_utf8_lossy(value.strip_prefix(b" ").unwrap_or(value));
        match field {
            b"event" => self.name = value.into_owned(),
            b"data" => {
                if self.has_data {
                    self.data.push('\n');
                }
                self.data.push_str(&value);
                self.has_data = true;
            }
            // Comments (no field name), `id`, `retry`, and what later versions may add.
            _ => {}
        }
    }

    fn dispatch(&mut self, out: &mut Vec<Event>) {
        let name = std::mem::take(&mut self.name);
        let data = std::mem::take(&mut self.data);
        if std::mem::take(&mut self.has_data) {
            out.push(Event {
                name: if name.is_empty() {
                    "message".to_owned()
                } else {
                    name
                },
                data,
            });
        }
    }
}
