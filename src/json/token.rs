//! The pull tokenizer: the bytes of one JSON text go in, tokens come out, nothing is allocated. `model/ollama/record.rs` reads stream records
//! with it field by field; [`Tree`] is built from it; `zcoder decode json` prints it.
//!
//! ```text
//! {"message":{"content":"a\n"},"done":false}
//! ^          ^                 ^     ^     ^
//! BeginObject
//!  Key(message) BeginObject Key(content) String(a\n) EndObject
//!                              Key(done) Bool(false) EndObject End
//! ```
//!
//! The grammar is RFC 8259's, nothing more: no comments, no trailing commas, no single quotes, no `NaN`, no raw control characters in
//! strings, no second value. What the RFC leaves open is decided so: one UTF-8 byte order mark before the text is skipped (8.1 allows
//! it); more than [`MAX_DEPTH`] levels are refused (9); numbers of any size are accepted and keep their text (6); names may repeat (4);
//! a lone surrogate escape and bytes in a string that are not UTF-8 are accepted and read as U+FFFD (8.2). UTF-16 is refused.
//!
//! Invariant: a reader that pulls until [`Token::End`] has checked the whole text, also what it skipped.
//! Invariant: the same bytes give the same tokens, whatever is done with them in between.
//! Invariant: work is linear in the bytes; the only state besides the position is one bit per open array or object.
//!
//! Read next: `tree.rs` for whole documents, `write.rs` for the way back.

use super::{Cause, Error, MAX_DEPTH, Number, Tree};
use crate::sys::simd;
use std::borrow::Cow;
use std::ops::Range;

/// One token. `Key` is a member's name; its colon is consumed.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Token<'a> {
    /// `{`
    BeginObject,
    /// `}`
    EndObject,
    /// `[`
    BeginArray,
    /// `]`
    EndArray,
    /// A member's name and its colon.
    Key(Text<'a>),
    /// A string.
    String(Text<'a>),
    /// A number, as it was written.
    Number(Number<'a>),
    /// `true` or `false`.
    Bool(bool),
    /// `null`
    Null,
    /// The end of the text, after its one value.
    End,
}

/// The kind of a value, for error texts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// `{…}`
    Object,
    /// `[…]`
    Array,
    /// `"…"`
    String,
    /// `-1.5e3`
    Number,
    /// `true`, `false`
    Bool,
    /// `null`
    Null,
}

/// A string's inside as it stands in the text: its escapes are checked and not yet replaced.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Text<'a> {
    raw: &'a [u8],
    escaped: bool,
}

impl<'a> Text<'a> {
    /// Unescaped, repaired UTF-8; borrowed when nothing had to change.
    pub fn decode(&self) -> Cow<'a, str> {
        if self.escaped {
            let mut out = String::with_capacity(self.raw.len());
            self.push_to(&mut out);
            Cow::Owned(out)
        } else {
            String::from_utf8_lossy(self.raw)
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

/// What the grammar allows next, given everything read so far.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Due {
    /// The text's one value: at the start.
    Value,
    /// A value or `]`: after `[`.
    ItemOrEnd,
    /// A comma and a value, or `]`: after an item.
    CommaOrArrayEnd,
    /// A name and a colon, or `}`: after `{`.
    NameOrEnd,
    /// A value: after a name and its colon.
    MemberValue,
    /// A comma, a name and a colon, or `}`: after a member.
    CommaOrObjectEnd,
    /// The end: after the value.
    TextEnd,
    /// Nothing: after an error.
    Nothing,
}

/// A token's kind: what [`Token`] and [`Tree`] are both made from. Its place is in the tokenizer.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Lexeme {
    BeginObject,
    EndObject,
    BeginArray,
    EndArray,
    Key,
    EscapedKey,
    String,
    EscapedString,
    Number,
    True,
    False,
    Null,
    End,
}

/// The text is wrong; [`Tokens::error`] says how. As a result of a step it fits in a register with the lexeme, an [`Error`] does not.
#[derive(Clone, Copy)]
pub(super) struct Failed;

/// The tokenizer.
#[derive(Clone, Debug)]
pub struct Tokens<'a> {
    bytes: &'a [u8],
    /// The next unread byte.
    at: usize,
    /// Where the last token stands, a string's or name's inside.
    start: usize,
    end: usize,
    due: Due,
    /// What is due after a value in the innermost array or object.
    after_value: Due,
    /// Open arrays and objects.
    depth: usize,
    /// One bit for each of them, the innermost lowest: 1 is an object. `MAX_DEPTH` is what fits.
    is_object: u128,
    /// What is wrong, once `due` is `Nothing`.
    error: Error,
}

impl<'a> Tokens<'a> {
    /// Over one complete JSON text.
    pub fn new(bytes: &'a [u8]) -> Tokens<'a> {
        const BYTE_ORDER_MARK: &[u8] = b"\xef\xbb\xbf";
        let skipped = bytes.starts_with(BYTE_ORDER_MARK);
        Tokens {
            bytes,
            at: if skipped { BYTE_ORDER_MARK.len() } else { 0 },
            start: 0,
            end: 0,
            due: Due::Value,
            after_value: Due::TextEnd,
            depth: 0,
            is_object: 0,
            error: Error {
                cause: Cause::Value,
                found: None,
                offset: 0,
            },
        }
    }

    /// The next token; `End` (again and again) after the value. After an error the same error comes again.
    // Inlined, so that the token is taken apart where it is made: writing one to memory and reading it back costs more than the step.
    #[allow(clippy::should_implement_trait)]
    #[inline(always)]
    pub fn next(&mut self) -> Result<Token<'a>, Error> {
        let Ok(lexeme) = self.step_apart() else {
            return Err(self.error);
        };
        Ok(match lexeme {
            Lexeme::BeginObject => Token::BeginObject,
            Lexeme::EndObject => Token::EndObject,
            Lexeme::BeginArray => Token::BeginArray,
            Lexeme::EndArray => Token::EndArray,
            Lexeme::Key => Token::Key(self.text(false)),
            Lexeme::EscapedKey => Token::Key(self.text(true)),
            Lexeme::String => Token::String(self.text(false)),
            Lexeme::EscapedString => Token::String(self.text(true)),
            Lexeme::Number => Token::Number(self.number_text()),
            Lexeme::True => Token::Bool(true),
            Lexeme::False => Token::Bool(false),
            Lexeme::Null => Token::Null,
            Lexeme::End => Token::End,
        })
    }

    /// Skips one whole value (after a `Key`, or where a value is due), validating it. It is an error if there is none.
    #[inline]
    pub fn skip(&mut self) -> Result<(), Error> {
        self.skip_apart().map_err(|Failed| self.error)
    }

    /// Skips what is left of the value that began with `token`: nothing for a scalar, all up to its end for an array or object.
    pub fn skip_rest(&mut self, token: Token<'_>) -> Result<(), Error> {
        let skipped = match token {
            Token::BeginObject | Token::BeginArray => {
                self.skip_down_to(self.depth.saturating_sub(1))
            }
            Token::EndObject | Token::EndArray | Token::Key(_) | Token::End => Ok(()),
            Token::String(_) | Token::Number(_) | Token::Bool(_) | Token::Null => Ok(()),
        };
        skipped.map_err(|Failed| self.error)
    }

    /// The offset of the next unread byte.
    pub fn offset(&self) -> usize {
        self.at
    }

    /// Reads one whole value into a tree (after a `Key`, or where a value is due). It is an error if there is none.
    pub fn tree(&mut self) -> Result<Tree, Error> {
        Tree::read(self)
    }

    /// What is wrong, after [`Failed`].
    pub(super) fn error(&self) -> Error {
        self.error
    }

    /// The bytes that [`Tokens::place`] is about.
    pub(super) fn bytes(&self) -> &'a [u8] {
        self.bytes
    }

    /// Where the last token stands, a string's or name's inside.
    #[inline(always)]
    pub(super) fn place(&self) -> Range<usize> {
        self.start..self.end
    }

    /// An error unless the next token begins a value. The position is then on the value, or on the comma before it.
    #[inline(always)]
    pub(super) fn expect_value(&mut self) -> Result<(), Failed> {
        let byte = self.peek();
        match self.due {
            Due::Value | Due::MemberValue => Ok(()),
            Due::ItemOrEnd | Due::CommaOrArrayEnd if byte != b']' => Ok(()),
            Due::ItemOrEnd | Due::CommaOrArrayEnd => Err(self.fail(Cause::Value, self.at)),
            Due::NameOrEnd | Due::CommaOrObjectEnd | Due::TextEnd => {
                Err(self.fail(Cause::Value, self.at))
            }
            Due::Nothing => Err(Failed),
        }
    }

    /// [`Tokens::skip`], apart for the same reason as [`Tokens::step_apart`].
    #[inline(never)]
    fn skip_apart(&mut self) -> Result<(), Failed> {
        self.expect_value()?;
        self.skip_down_to(self.depth)
    }

    /// At least one step, and more until no more than `depth` arrays and objects are open.
    #[inline(always)]
    fn skip_down_to(&mut self, depth: usize) -> Result<(), Failed> {
        loop {
            self.step()?;
            if self.depth <= depth {
                return Ok(());
            }
        }
    }

    /// [`Tokens::step`] as a function of its own, for callers that are inlined in many places.
    #[inline(never)]
    fn step_apart(&mut self) -> Result<Lexeme, Failed> {
        self.step()
    }

    /// One step of the grammar: the state machine of this file. What may stand before a name or value is seen to here, and what
    /// comes in their place.
    #[inline(always)]
    pub(super) fn step(&mut self) -> Result<Lexeme, Failed> {
        let byte = self.peek();
        match self.due {
            Due::Value => self.value(byte, Cause::Value),
            Due::ItemOrEnd => match byte {
                b']' => Ok(self.close(Lexeme::EndArray)),
                _ => self.value(byte, Cause::ItemOrEnd),
            },
            Due::CommaOrArrayEnd => match byte {
                b',' => {
                    let byte = self.pass();
                    self.value(byte, Cause::ItemAfterComma)
                }
                b']' => Ok(self.close(Lexeme::EndArray)),
                _ => Err(self.fail(Cause::CommaOrArrayEnd, self.at)),
            },
            Due::NameOrEnd => match byte {
                b'}' => Ok(self.close(Lexeme::EndObject)),
                _ => self.name(byte, Cause::NameOrEnd),
            },
            Due::MemberValue => self.value(byte, Cause::MemberValue),
            Due::CommaOrObjectEnd => match byte {
                b',' => {
                    let byte = self.pass();
                    self.name(byte, Cause::NameAfterComma)
                }
                b'}' => Ok(self.close(Lexeme::EndObject)),
                _ => Err(self.fail(Cause::CommaOrObjectEnd, self.at)),
            },
            Due::TextEnd if self.at == self.bytes.len() => Ok(Lexeme::End),
            Due::TextEnd => Err(self.fail(Cause::TextEnd, self.at)),
            Due::Nothing => Err(Failed),
        }
    }

    /// The next byte that is no blank (RFC 8259 2). At the end it is NUL, which begins and ends no token either.
    #[inline(always)]
    fn peek(&mut self) -> u8 {
        match self.bytes.get(self.at) {
            Some(&byte) if byte > b' ' => byte,
            Some(_) => {
                // Inlined as well: as a function of its own it cost an indented document a third of its rate.
                self.at = simd::find_non_blank(self.bytes, self.at);
                self.bytes.get(self.at).copied().unwrap_or(0)
            }
            None => 0,
        }
    }

    /// Passes over the byte at hand; the next one that is no blank.
    #[inline(always)]
    fn pass(&mut self) -> u8 {
        self.at += 1;
        self.peek()
    }

    /// A name and its colon.
    #[inline(always)]
    fn name(&mut self, byte: u8, due: Cause) -> Result<Lexeme, Failed> {
        if byte != b'"' {
            return Err(self.fail(due, self.at));
        }
        let lexeme = self.string(Lexeme::Key, Lexeme::EscapedKey)?;
        if self.peek() != b':' {
            return Err(self.fail(Cause::Colon, self.at));
        }
        self.at += 1;
        self.due = Due::MemberValue;
        Ok(lexeme)
    }

    /// A scalar or the beginning of an array or object.
    #[inline(always)]
    fn value(&mut self, byte: u8, due: Cause) -> Result<Lexeme, Failed> {
        match byte {
            b'"' => {
                let lexeme = self.string(Lexeme::String, Lexeme::EscapedString)?;
                self.due = self.after_value;
                Ok(lexeme)
            }
            b'-' | b'0'..=b'9' => self.number(),
            b'{' => self.open(Lexeme::BeginObject),
            b'[' => self.open(Lexeme::BeginArray),
            b't' => self.word(b"true", Lexeme::True, Cause::True),
            b'f' => self.word(b"false", Lexeme::False, Cause::False),
            b'n' => self.word(b"null", Lexeme::Null, Cause::Null),
            _ => Err(self.fail(due, self.at)),
        }
    }

    #[inline(always)]
    fn open(&mut self, lexeme: Lexeme) -> Result<Lexeme, Failed> {
        if self.depth == MAX_DEPTH {
            return Err(self.fail(Cause::Depth, self.at));
        }
        self.take(1);
        self.depth += 1;
        self.is_object <<= 1;
        if lexeme == Lexeme::BeginObject {
            self.is_object |= 1;
            self.due = Due::NameOrEnd;
            self.after_value = Due::CommaOrObjectEnd;
        } else {
            self.due = Due::ItemOrEnd;
            self.after_value = Due::CommaOrArrayEnd;
        }
        Ok(lexeme)
    }

    /// The end of the innermost array or object, which is then a finished value of the one around it.
    #[inline(always)]
    fn close(&mut self, lexeme: Lexeme) -> Lexeme {
        self.take(1);
        self.depth -= 1;
        self.is_object >>= 1;
        self.after_value = if self.depth == 0 {
            Due::TextEnd
        } else if self.is_object & 1 == 1 {
            Due::CommaOrObjectEnd
        } else {
            Due::CommaOrArrayEnd
        };
        self.due = self.after_value;
        lexeme
    }

    /// `true`, `false`, `null`.
    #[inline(always)]
    fn word(&mut self, word: &[u8], lexeme: Lexeme, cause: Cause) -> Result<Lexeme, Failed> {
        if !self.bytes[self.at..].starts_with(word) {
            let same = |(i, byte): &(usize, &u8)| self.bytes.get(self.at + i) == Some(byte);
            let right = word.iter().enumerate().take_while(same).count();
            return Err(self.fail(cause, self.at + right));
        }
        self.take(word.len());
        self.due = self.after_value;
        Ok(lexeme)
    }

    /// `-`? int frac? exp? (RFC 8259 6); its value is nobody's business here.
    #[inline(always)]
    fn number(&mut self) -> Result<Lexeme, Failed> {
        let start = self.at;
        let byte = |at: usize| self.bytes.get(at).copied();
        let mut at = start + usize::from(byte(start) == Some(b'-'));
        let digits = at;
        at = simd::find_non_digit(self.bytes, at);
        if at == digits {
            return Err(self.fail(Cause::DigitAfterMinus, at));
        }
        if byte(digits) == Some(b'0') && at > digits + 1 {
            return Err(self.fail(Cause::LeadingZero, digits + 1));
        }
        if byte(at) == Some(b'.') {
            let digits = at + 1;
            at = simd::find_non_digit(self.bytes, digits);
            if at == digits {
                return Err(self.fail(Cause::DigitAfterPoint, at));
            }
        }
        if let Some(b'e' | b'E') = byte(at) {
            let signed = matches!(byte(at + 1), Some(b'+' | b'-'));
            let digits = at + 1 + usize::from(signed);
            at = simd::find_non_digit(self.bytes, digits);
            if at == digits {
                return Err(self.fail(Cause::DigitInExponent, at));
            }
        }
        self.take(at - start);
        self.due = self.after_value;
        Ok(Lexeme::Number)
    }

    /// A string from the quote on.
    #[inline(always)]
    fn string(&mut self, plain: Lexeme, escaped: Lexeme) -> Result<Lexeme, Failed> {
        let start = self.at + 1;
        let mut end = simd::find_string_end(self.bytes, start);
        let mut lexeme = plain;
        if self.bytes.get(end) != Some(&b'"') {
            end = self.escaped_string_end(end)?;
            lexeme = escaped;
        }
        self.start = start;
        self.end = end;
        self.at = end + 1;
        Ok(lexeme)
    }

    /// The closing quote of a string that goes on at `at` with something else: an escape, or what it must not have.
    #[inline(never)]
    fn escaped_string_end(&mut self, mut at: usize) -> Result<usize, Failed> {
        loop {
            match self.bytes.get(at) {
                Some(b'"') => return Ok(at),
                Some(b'\\') => at += self.escape(at)?,
                Some(_) => return Err(self.fail(Cause::RawControl, at)),
                None => return Err(self.fail(Cause::StringEnd, at)),
            }
            at = simd::find_string_end(self.bytes, at);
        }
    }

    /// The length of the escape at `at`.
    fn escape(&mut self, at: usize) -> Result<usize, Failed> {
        match self.bytes.get(at + 1) {
            Some(b'"' | b'\\' | b'/' | b'b' | b'f' | b'n' | b'r' | b't') => Ok(2),
            Some(b'u') => {
                for at in at + 2..at + 6 {
                    if !self.bytes.get(at).is_some_and(u8::is_ascii_hexdigit) {
                        return Err(self.fail(Cause::HexDigit, at));
                    }
                }
                Ok(6)
            }
            _ => Err(self.fail(Cause::Escape, at + 1)),
        }
    }

    /// The token is the next `length` bytes.
    #[inline(always)]
    fn take(&mut self, length: usize) {
        self.start = self.at;
        self.at += length;
        self.end = self.at;
    }

    #[inline(always)]
    fn text(&self, escaped: bool) -> Text<'a> {
        let raw = &self.bytes[self.place()];
        Text { raw, escaped }
    }

    fn number_text(&self) -> Number<'a> {
        // Digits, signs, a point, an `e`: always ASCII.
        let text = simd::ascii(&self.bytes[self.place()]).unwrap_or_default();
        Number { text }
    }

    /// Out of the way of the branches that go on.
    #[cold]
    pub(super) fn fail(&mut self, cause: Cause, offset: usize) -> Failed {
        self.due = Due::Nothing;
        self.error = Error {
            cause,
            found: self.bytes.get(offset).copied(),
            offset,
        };
        Failed
    }
}

/// A part of a string.
pub(super) enum Piece<'a> {
    /// Bytes without escapes.
    Run(&'a [u8]),
    /// What an escape stands for.
    Character(char),
}

/// Takes a checked string apart (RFC 8259 7). Pairs of surrogates become their character, lone ones U+FFFD.
#[inline]
pub(super) fn unescape(raw: &[u8], mut put: impl FnMut(Piece<'_>)) {
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
    if let Some(text) = simd::ascii(bytes) {
        out.push_str(text);
        return;
    }
    match std::str::from_utf8(bytes) {
        Ok(text) => out.push_str(text),
        Err(_) => out.push_str(&String::from_utf8_lossy(bytes)),
    }
}
