//! UTF-8 over cut points: bytes arrive in pieces, whole characters leave. Used for what a command prints and for anything else that is
//! read in blocks.
//!
//! ```text
//! feed e2 82        nothing yet: the head of a character of three bytes
//! feed ac 41        "€A"
//! feed ff           "\u{fffd}"
//! feed e2, finish   "\u{fffd}"
//! ```
//!
//! Nothing is refused: each longest beginning of a character that does not become one, and each byte that cannot begin one, is replaced by
//! one U+FFFD (Unicode 3.9, "maximal subpart"), as std's lossy conversion does.
//!
//! Invariant: the text is the same however the bytes were cut, and the same as [`repair`] of them all.
//! Invariant: at most three bytes are held back.

use std::borrow::Cow;

/// An incremental decoder: bytes in, whole characters out, U+FFFD for what is not UTF-8.
#[derive(Clone, Debug, Default)]
pub struct Utf8 {
    /// The head of a character.
    pending: [u8; 4],
    /// How many bytes of `pending` count: at most 3 between calls.
    used: usize,
}

impl Utf8 {
    /// Appends what is decided so far to `out`.
    pub fn feed(&mut self, bytes: &[u8], out: &mut String) {
        let mut rest = bytes;
        while self.used > 0 {
            let Some((&byte, tail)) = rest.split_first() else {
                return;
            };
            self.pending[self.used] = byte;
            match std::str::from_utf8(&self.pending[..self.used + 1]) {
                Ok(character) => {
                    out.push_str(character);
                    self.used = 0;
                    rest = tail;
                }
                Err(e) if e.error_len().is_none() => {
                    self.used += 1;
                    rest = tail;
                }
                // The byte does not go on with the character: it is looked at again as the beginning of the next.
                Err(_) => {
                    out.push(char::REPLACEMENT_CHARACTER);
                    self.used = 0;
                }
            }
        }
        loop {
            match std::str::from_utf8(rest) {
                Ok(text) => {
                    out.push_str(text);
                    return;
                }
                Err(e) => {
                    let (valid, tail) = rest.split_at(e.valid_up_to());
                    out.push_str(std::str::from_utf8(valid).unwrap_or_default());
                    let Some(length) = e.error_len() else {
                        self.pending[..tail.len()].copy_from_slice(tail);
                        self.used = tail.len();
                        return;
                    };
                    out.push(char::REPLACEMENT_CHARACTER);
                    rest = &tail[length..];
                }
            }
        }
    }

    /// A character cut by the end becomes U+FFFD.
    pub fn finish(&mut self, out: &mut String) {
        if self.used > 0 {
            out.push(char::REPLACEMENT_CHARACTER);
            self.used = 0;
        }
    }
}

/// Whole bytes to text; U+FFFD for each maximal invalid part (as std's lossy conversion).
pub fn repair(bytes: &[u8]) -> Cow<'_, str> {
    String::from_utf8_lossy(bytes)
}
