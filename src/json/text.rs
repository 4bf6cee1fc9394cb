//! What strings say: a string's inside goes in as it stands in the text, its characters come out. The tokenizer has checked the escapes.
//!
//! ```text
//! raw        a\u00e9\n\ud83e\udd80 b\ud800
//! pieces     a  é  ⏎  🦀  " b"  U+FFFD
//! ```
//!
//! Refused: nothing. Pairs of surrogates become their character, lone ones and bytes that are not UTF-8 U+FFFD (RFC 8259 8.2).
//!
//! Invariant: what comes out is UTF-8, and borrowed where nothing had to change.
//!
//! Read next: `tree.rs`, which unescapes all strings of a document into one.

use crate::sys::simd;
use std::borrow::Cow;

/// A string's inside as it stands in the text: its escapes are checked and not yet replaced.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Text<'a> {
    raw: &'a [u8],
    escaped: bool,
}

impl<'a> Text<'a> {
    /// Of a checked string.
    #[inline(always)]
    pub(super) fn new(raw: &'a [u8], escaped: bool) -> Text<'a> {
        Text { raw, escaped }
    }

    /// Unescaped, repaired UTF-8; borrowed when nothing had to change.
    pub fn decode(&self) -> Cow<'a, str> {
        if self.escaped {
            let mut out = Vec::new();
            decode(self.raw, &mut out);
            // Looked at once and not run by run: that is faster where escapes are many.
            Cow::Owned(
                simd::into_utf8(out)
                    .unwrap_or_else(|bad| String::from_utf8_lossy(&bad).into_owned()),
            )
        } else {
            match simd::utf8(self.raw) {
                Some(text) => Cow::Borrowed(text),
                None => String::from_utf8_lossy(self.raw),
            }
        }
    }

    /// Appends the unescaped text to `out`.
    pub fn push_to(&self, out: &mut String) {
        if self.escaped {
            unescape(self.raw, |piece| match piece {
                Piece::Run(run) => push_repaired(run, out),
                Piece::Character(character) => out.push(character),
            });
        } else {
            push_repaired(self.raw, out);
        }
    }

    /// Whether the unescaped text equals `key`. Bytes that are not UTF-8 equal nothing.
    #[inline]
    pub fn is(&self, key: &str) -> bool {
        if self.escaped {
            self.decode() == key
        } else {
            self.raw == key.as_bytes()
        }
    }

    /// The bytes between the quotes.
    #[inline]
    pub fn raw(&self) -> &'a [u8] {
        self.raw
    }
}

/// A part of a string.
enum Piece<'a> {
    /// Bytes without escapes.
    Run(&'a [u8]),
    /// What an escape stands for.
    Character(char),
}

/// Takes a checked string apart (RFC 8259 7). Pairs of surrogates become their character, lone ones U+FFFD.
#[inline]
fn unescape(raw: &[u8], mut put: impl FnMut(Piece<'_>)) {
    let mut at = 0;
    while at < raw.len() {
        let run = simd::find_byte(raw, b'\\', at);
        if run > at {
            put(Piece::Run(&raw[at..run]));
        }
        let Some(&letter) = raw.get(run + 1) else {
            return;
        };
        let (character, length) = match letter {
            b'b' => ('\u{8}', 2),
            b'f' => ('\u{c}', 2),
            b'n' => ('\n', 2),
            b'r' => ('\r', 2),
            b't' => ('\t', 2),
            b'u' => unicode_escape(&raw[run..]),
            // `"`, `\` and `/` stand for themselves.
            _ => (char::from(letter), 2),
        };
        put(Piece::Character(character));
        at = run + length;
    }
}

/// A string that begins behind its opening quote, decoded while its end is looked for, and the bytes up to behind the closing one. `None`:
/// it is none (RFC 8259 7), or has a `\u` in it, and a tokenizer is to be asked.
pub fn unquote(bytes: &[u8]) -> Option<(String, usize)> {
    let mut out = Vec::new();
    let mut at = 0;
    loop {
        let run = simd::find_string_end(bytes, at);
        if at == 0 && bytes.get(run) != Some(&b'"') {
            // What has escapes is mostly the long text at the end of a line.
            out.reserve_exact(bytes.len());
        }
        out.extend_from_slice(&bytes[at..run]);
        match bytes.get(run)? {
            b'"' => {
                if out.capacity() > 2 * out.len() {
                    out.shrink_to_fit();
                }
                let text = simd::into_utf8(out);
                let text = text.unwrap_or_else(|bad| String::from_utf8_lossy(&bad).into_owned());
                return Some((text, run + 1));
            }
            b'\\' => out.push(match bytes.get(run + 1)? {
                b'n' => b'\n',
                b't' => b'\t',
                b'r' => b'\r',
                b'b' => 8,
                b'f' => 0xc,
                letter @ (b'"' | b'\\' | b'/') => *letter,
                _ => return None,
            }),
            _ => return None,
        }
        at = run + 2;
    }
}

/// Appends a string without its escapes.
#[inline(never)]
pub(super) fn decode(raw: &[u8], out: &mut Vec<u8>) {
    // An escape is never shorter than what it stands for.
    out.reserve(raw.len());
    unescape(raw, |piece| match piece {
        Piece::Run(run) => out.extend_from_slice(run),
        // Nearly all of them are ends of lines and quotes.
        Piece::Character(character) if character.is_ascii() => out.push(character as u8),
        Piece::Character(character) => {
            out.extend_from_slice(character.encode_utf8(&mut [0; 4]).as_bytes());
        }
    });
}

/// The character at the head of `raw`, which begins with a checked `\uXXXX`, and the bytes it takes: 6, or 12 for a pair.
fn unicode_escape(raw: &[u8]) -> (char, usize) {
    let first = hex4(&raw[2..]);
    if let 0xd800..0xdc00 = first {
        if let Some(next) = raw[6..].strip_prefix(b"\\u") {
            let second = hex4(next);
            if let 0xdc00..0xe000 = second {
                let code = 0x10000 + ((first - 0xd800) << 10) + (second - 0xdc00);
                return (
                    char::from_u32(code).unwrap_or(char::REPLACEMENT_CHARACTER),
                    12,
                );
            }
        }
    }
    (
        char::from_u32(first).unwrap_or(char::REPLACEMENT_CHARACTER),
        6,
    )
}

/// Four checked hex digits.
fn hex4(raw: &[u8]) -> u32 {
    raw.iter().take(4).fold(0, |value, &digit| {
        value << 4 | char::from(digit).to_digit(16).unwrap_or_default()
    })
}

/// Appends text that is UTF-8 unless whoever wrote it was wrong.
fn push_repaired(bytes: &[u8], out: &mut String) {
    match simd::utf8(bytes) {
        Some(text) => out.push_str(text),
        None => out.push_str(&String::from_utf8_lossy(bytes)),
    }
}
