//! Writing JSON: commas and escapes by the writer, order and meaning by the caller.
//!
//! ```text
//! begin_object key("model") string("a\"b") key("n") u64(3) end_object
//! {"model":"a\"b","n":3}
//! ```
//!
//! Escaped is what RFC 8259 7 demands and nothing else: `"`, `\` and characters below 0x20, with the short forms where there are any.
//! Everything else goes out as UTF-8. No blanks are written.
//!
//! Invariant: the same calls give the same bytes, on every machine and in every locale.
//! Invariant: bytes only get appended, so two documents that begin with the same calls begin with the same bytes.

use super::{MAX_DEPTH, Value};
use crate::sys::simd;
use std::io::Write;

/// Empties a buffer, or leaves it.
type Drain<'d> = dyn FnMut(&mut Vec<u8>) + 'd;

/// Of a text, between two drains.
const TEXT_BYTES: usize = 64 << 10;

/// Appends to its buffer. Misuse (a key in an array, two roots) is a bug and panics in debug builds.
#[derive(Default)]
pub struct Writer<'d> {
    out: Vec<u8>,
    /// Takes what is there whenever a long text has made it longer.
    drain: Option<&'d mut Drain<'d>>,
    /// Whether something stands before the next value or name that a comma must part from it.
    comma: bool,
    /// Whether a name was written and its value was not.
    named: bool,
    /// Open arrays and objects.
    depth: usize,
    /// One bit for each of them, the innermost lowest: 1 is an object.
    is_object: u128,
}

impl<'d> Writer<'d> {
    /// An empty buffer.
    pub fn new() -> Self {
        Writer::default()
    }

    /// Into this buffer, which `drain` may empty: after each piece of a text it is given all that stands there. So a document can be
    /// longer than the room that it takes.
    pub fn through(out: Vec<u8>, drain: &'d mut Drain<'d>) -> Writer<'d> {
        Writer {
            out,
            drain: Some(drain),
            ..Writer::default()
        }
    }

    /// `{`
    pub fn begin_object(&mut self) -> &mut Self {
        self.open(b'{', 1)
    }

    /// `}`
    pub fn end_object(&mut self) -> &mut Self {
        self.close(b'}', 1)
    }

    /// `[`
    pub fn begin_array(&mut self) -> &mut Self {
        self.open(b'[', 0)
    }

    /// `]`
    pub fn end_array(&mut self) -> &mut Self {
        self.close(b']', 0)
    }

    /// A member's name.
    pub fn key(&mut self, key: &str) -> &mut Self {
        debug_assert!(self.in_object() && !self.named, "a name has no place here");
        if self.comma {
            self.out.push(b',');
        }
        quote_str(&mut self.out, key);
        self.out.push(b':');
        self.comma = false;
        self.named = true;
        self
    }

    /// A string.
    pub fn string(&mut self, text: &str) -> &mut Self {
        self.before_value();
        let Some(drain) = &mut self.drain else {
            quote_str(&mut self.out, text);
            return self;
        };
        self.out.push(b'"');
        for piece in text.as_bytes().chunks(TEXT_BYTES) {
            escape(&mut self.out, piece);
            drain(&mut self.out);
        }
        self.out.push(b'"');
        self
    }

    /// An integer.
    pub fn u64(&mut self, n: u64) -> &mut Self {
        self.display(n)
    }

    /// A signed integer.
    pub fn i64(&mut self, n: i64) -> &mut Self {
        self.display(n)
    }

    /// A float, in the shortest form that reads back as the same; `null` when not finite.
    pub fn f64(&mut self, n: f64) -> &mut Self {
        if n.is_finite() {
            self.display(n)
        } else {
            self.null()
        }
    }

    /// A boolean.
    pub fn bool(&mut self, b: bool) -> &mut Self {
        self.raw(if b { "true" } else { "false" })
    }

    /// `null`.
    pub fn null(&mut self) -> &mut Self {
        self.raw("null")
    }

    /// A parsed value.
    pub fn value(&mut self, value: Value<'_>) -> &mut Self {
        self.before_value();
        value.write(&mut self.out);
        self
    }

    /// Text that is one JSON value already (a constant schema).
    pub fn raw(&mut self, json: &str) -> &mut Self {
        self.before_value();
        self.out.extend_from_slice(json.as_bytes());
        self
    }

    /// The bytes, as far as they were not drained.
    pub fn finish(self) -> Vec<u8> {
        debug_assert!(self.depth == 0, "{} arrays or objects are open", self.depth);
        self.out
    }

    fn open(&mut self, byte: u8, is_object: u128) -> &mut Self {
        self.before_value();
        debug_assert!(self.depth < MAX_DEPTH, "deeper than a reader allows");
        self.out.push(byte);
        self.depth += 1;
        self.is_object = self.is_object << 1 | is_object;
        self.comma = false;
        self
    }

    fn close(&mut self, byte: u8, is_object: u128) -> &mut Self {
        debug_assert!(
            self.depth > 0 && self.is_object & 1 == is_object && !self.named,
            "`{}` closes nothing here",
            char::from(byte)
        );
        self.out.push(byte);
        self.depth = self.depth.saturating_sub(1);
        self.is_object >>= 1;
        self.comma = true;
        self
    }

    fn before_value(&mut self) {
        debug_assert!(self.named == self.in_object(), "a member needs its name");
        debug_assert!(self.depth > 0 || !self.comma, "a second root");
        if self.comma {
            self.out.push(b',');
        }
        self.comma = true;
        self.named = false;
    }

    fn in_object(&self) -> bool {
        self.depth > 0 && self.is_object & 1 == 1
    }

    fn display(&mut self, n: impl std::fmt::Display) -> &mut Self {
        self.before_value();
        // A Vec takes everything, so there is no error to report.
        let _ = write!(self.out, "{n}");
        self
    }
}

/// Appends `"…"` with what JSON demands escaped (`"` `\` and below 0x20) and bad UTF-8 repaired.
pub fn quote(out: &mut Vec<u8>, text: &[u8]) {
    quote_str(out, &String::from_utf8_lossy(text));
}

/// As [`quote`], for text that is known to be UTF-8.
pub fn quote_str(out: &mut Vec<u8>, text: &str) {
    out.reserve(text.len() + 2);
    out.push(b'"');
    escape(out, text.as_bytes());
    out.push(b'"');
}

/// Text as it stands between quotes. Any piece of it will do: what is escaped is one byte long.
fn escape(out: &mut Vec<u8>, text: &[u8]) {
    let mut at = 0;
    loop {
        // What ends a run in a JSON string is exactly what has to be escaped.
        let run = simd::find_string_end(text, at);
        out.extend_from_slice(&text[at..run]);
        let Some(&byte) = text.get(run) else {
            break;
        };
        match byte {
            b'"' => out.extend_from_slice(b"\\\""),
            b'\\' => out.extend_from_slice(b"\\\\"),
            0x08 => out.extend_from_slice(b"\\b"),
            0x0c => out.extend_from_slice(b"\\f"),
            b'\n' => out.extend_from_slice(b"\\n"),
            b'\r' => out.extend_from_slice(b"\\r"),
            b'\t' => out.extend_from_slice(b"\\t"),
            _ => {
                const HEX: &[u8; 16] = b"0123456789abcdef";
                out.extend_from_slice(b"\\u00");
                out.push(HEX[usize::from(byte >> 4)]);
                out.push(HEX[usize::from(byte & 15)]);
            }
        }
        at = run + 1;
    }
}
