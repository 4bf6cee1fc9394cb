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
