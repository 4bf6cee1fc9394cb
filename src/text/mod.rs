//! Text: bytes that arrive in pieces become characters (`utf8.rs`), foreign characters become harmless ones (`sanitize.rs`), and
//! numbers become readable ones.
//!
//! ```text
//! e2 82 | ac 1b 5b 33 31 6d 21       two reads from a program, cut inside a character
//! "€\x1b[31m!"                       decoded
//! "€!"                               plain
//! "€\\x1b[31m!"                      visible
//! ```
//!
//! Nothing is refused and nothing has a limit: bad bytes become U+FFFD, controls are dropped or shown.
//!
//! Invariant: data stays as it came; only what is about to be shown goes through `sanitize.rs`.
//!
//! Read next: `sanitize.rs`.

mod distance;
mod sanitize;
mod utf8;

use crate::sys::simd::{self, Pair};
pub use distance::distance;
pub use sanitize::{clip, is_harmful, line, one_line, plain, visible};
pub use utf8::{Utf8, repair};

/// A fixed list of words, in one string with blanks between them: `Words("sh bash zsh")`. As a slice of strings each word would cost 40
/// bytes more: a pointer, a length, and a note to the loader where the pointer stands.
#[derive(Clone, Copy, Debug)]
pub struct Words(pub &'static str);

impl Words {
    /// One after the other.
    pub fn iter(self) -> impl Iterator<Item = &'static str> {
        self.0.split_ascii_whitespace()
    }

    /// Whether it is one of them, to the letter.
    pub fn contains(self, word: &str) -> bool {
        self.iter().any(|one| one == word)
    }
}

/// Whether `part` stands in `text`. For what is rare in an answer of megabytes: a place is looked at only where its first and its last byte
/// are right, and those are searched for many bytes a step; `str::contains` steps back and forth over marks that are all alike.
pub fn holds(text: &str, part: &str) -> bool {
    let (text, part) = (text.as_bytes(), part.as_bytes());
    let [first, .., last] = part else {
        return part.is_empty() || simd::find_byte(text, part[0], 0) < text.len();
    };
    let ends = Pair {
        first: (*first, 0),
        second: (*last, part.len() - 1),
    };
    let mut at = simd::find_pair(text, ends, 0);
    while at < text.len() {
        if text[at..].starts_with(part) {
            return true;
        }
        at = simd::find_pair(text, ends, at + 1);
    }
    false
}

/// A number for people, in groups of three digits: `1,234,567`.
pub fn grouped(number: u64) -> String {
    let digits = number.to_string();
    let mut out = String::with_capacity(digits.len() + digits.len() / 3);
    for (index, digit) in digits.chars().enumerate() {
        if index > 0 && (digits.len() - index) % 3 == 0 {
            out.push(',');
        }
        out.push(digit);
    }
    out
}

/// `1 line`, `12,345 lines`.
pub fn counted(number: u64, one: &str) -> String {
    let plural = if number == 1 { "" } else { "s" };
    format!("{} {one}{plural}", grouped(number))
}
