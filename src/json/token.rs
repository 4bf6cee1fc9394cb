//! The pull tokenizer: the bytes of one JSON text go in, tokens come out, nothing is allocated. `model/ollama/record.rs` reads stream
//! records with it field by field; [`Tree`] is built from it; `zcoder decode json` prints it.
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
//! Readers that know what to expect ask for it ([`Tokens::member`], [`Tokens::string`], ...): the same steps without the choices, at
//! half the cost of [`Tokens::next`].
//!
//! Invariant: a reader that pulls until [`Token::End`] has checked the whole text, also what it skipped.
//! Invariant: the same bytes give the same tokens, whatever is done with them in between.
//! Invariant: work is linear in the bytes; the only state besides the position is one bit per open array or object.
//!
//! Read next: `text.rs` for what strings say, `tree.rs` for whole documents, `write.rs` for the way back.

use super::{Cause, Error, MAX_DEPTH, Number, Text, Tree};
use crate::sys::simd;
use std::fmt;
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

/// With its article: `a string`.
impl fmt::Display for Kind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Kind::Object => "an object",
            Kind::Array => "an array",
            Kind::String => "a string",
            Kind::Number => "a number",
            Kind::Bool => "a boolean",
            Kind::Null => "null",
        })
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

    /// The name of the next member of the innermost object, `None` at its end: as `next` where a name may come, and as fast as can be.
    #[inline(always)]
    pub fn member(&mut self) -> Result<Option<Text<'a>>, Error> {
        // Here and in the functions below: without blanks and in the place they are for, they go straight ahead. All else is `step`'s.
        let lexeme = match (self.due, self.byte()) {
            (Due::CommaOrObjectEnd, b',') if self.byte_behind() == b'"' => {
                self.at += 1;
                self.name(b'"', Cause::NameAfterComma)
            }
            (Due::NameOrEnd, b'"') => self.name(b'"', Cause::NameOrEnd),
            (Due::CommaOrObjectEnd, b'}') => Ok(self.close(Lexeme::EndObject)),
            _ => self.step_apart(),
        };
        match lexeme {
            Ok(Lexeme::Key) => Ok(Some(self.text(false))),
            Ok(Lexeme::EscapedKey) => Ok(Some(self.text(true))),
            Ok(_) => Ok(None),
            Err(Failed) => Err(self.error),
        }
    }

    /// The value due, if it is a string; any other is skipped whole.
    #[inline(always)]
    pub fn string(&mut self) -> Result<Option<Text<'a>>, Error> {
        let lexeme = match (self.due, self.byte()) {
            (Due::MemberValue, b'"') => self.value(b'"', Cause::MemberValue),
            _ => self.step_apart(),
        };
        match lexeme {
            Ok(Lexeme::String) => Ok(Some(self.text(false))),
            Ok(Lexeme::EscapedString) => Ok(Some(self.text(true))),
            Ok(other) => self.skip_begun(other).map(|()| None),
            Err(Failed) => Err(self.error),
        }
    }

    /// Whether the value due is an object, which has begun then; any other is skipped whole.
    #[inline(always)]
    pub fn object(&mut self) -> Result<bool, Error> {
        let lexeme = match (self.due, self.byte()) {
            (Due::Value | Due::MemberValue, b'{') => self.value(b'{', Cause::Value),
            _ => self.step_apart(),
        };
        match lexeme {
            Ok(Lexeme::BeginObject) => Ok(true),
            Ok(other) => self.skip_begun(other).map(|()| false),
            Err(Failed) => Err(self.error),
        }
    }

    /// The value due, if it is `true` or `false`; any other is skipped whole.
    #[inline(always)]
    pub fn boolean(&mut self) -> Result<Option<bool>, Error> {
        let lexeme = match (self.due, self.byte()) {
            (Due::MemberValue, b'f') => self.word(b"false", Lexeme::False, Cause::False),
            _ => self.step_apart(),
        };
        match lexeme {
            Ok(Lexeme::True) => Ok(Some(true)),
            Ok(Lexeme::False) => Ok(Some(false)),
            Ok(other) => self.skip_begun(other).map(|()| None),
            Err(Failed) => Err(self.error),
        }
    }

    /// Nothing may follow the text's value but blanks.
    #[inline(always)]
    pub fn end(&mut self) -> Result<(), Error> {
        if self.due == Due::TextEnd && self.at == self.bytes.len() {
            return Ok(());
        }
        self.step_apart().map(drop).map_err(|Failed| self.error)
    }

    /// Skips one whole value (after a `Key`, or where a value is due), validating it. It is an error if there is none.
    #[inline(always)]
    pub fn skip(&mut self) -> Result<(), Error> {
        let skipped = match (self.due, self.byte()) {
            (Due::MemberValue, b'"') => self.value(b'"', Cause::MemberValue).map(drop),
            _ => self.skip_apart(),
        };
        skipped.map_err(|Failed| self.error)
    }

    /// Skips what is left of the value that began with `token`: nothing for a scalar, all up to its end for an array or object.
    pub fn skip_rest(&mut self, token: Token<'_>) -> Result<(), Error> {
        match token {
            Token::BeginObject | Token::BeginArray => self.skip_begun(Lexeme::BeginArray),
            Token::EndObject | Token::EndArray | Token::Key(_) | Token::End => Ok(()),
            Token::String(_) | Token::Number(_) | Token::Bool(_) | Token::Null => Ok(()),
        }
    }

    /// Skips what is left of the value that the last step began.
    #[cold]
    fn skip_begun(&mut self, lexeme: Lexeme) -> Result<(), Error> {
        if let Lexeme::BeginObject | Lexeme::BeginArray = lexeme {
            let skipped = self.skip_down_to(self.depth.saturating_sub(1));
            return skipped.map_err(|Failed| self.error);
        }
        Ok(())
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
        // All ways to a value meet at the end, so that the code for one is there once wherever this is inlined.
        let (byte, cause) = match self.due {
            Due::Value => (byte, Cause::Value),
            Due::ItemOrEnd => match byte {
                b']' => return Ok(self.close(Lexeme::EndArray)),
                _ => (byte, Cause::ItemOrEnd),
            },
            Due::CommaOrArrayEnd => match byte {
                b',' => (self.pass(), Cause::ItemAfterComma),
                b']' => return Ok(self.close(Lexeme::EndArray)),
                _ => return Err(self.fail(Cause::CommaOrArrayEnd, self.at)),
            },
            Due::NameOrEnd => match byte {
                b'}' => return Ok(self.close(Lexeme::EndObject)),
                _ => return self.name(byte, Cause::NameOrEnd),
            },
            Due::MemberValue => (byte, Cause::MemberValue),
            Due::CommaOrObjectEnd => match byte {
                b',' => {
                    let byte = self.pass();
                    return self.name(byte, Cause::NameAfterComma);
                }
                b'}' => return Ok(self.close(Lexeme::EndObject)),
                _ => return Err(self.fail(Cause::CommaOrObjectEnd, self.at)),
            },
            Due::TextEnd if self.at == self.bytes.len() => return Ok(Lexeme::End),
            Due::TextEnd => return Err(self.fail(Cause::TextEnd, self.at)),
            Due::Nothing => return Err(Failed),
        };
        self.value(byte, cause)
    }

    /// The step behind a name, where only a value can be due.
    #[inline(always)]
    pub(super) fn member_value(&mut self) -> Result<Lexeme, Failed> {
        let byte = self.peek();
        self.value(byte, Cause::MemberValue)
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

    /// The next byte, blank or not; NUL at the end.
    #[inline(always)]
    fn byte(&self) -> u8 {
        self.bytes.get(self.at).copied().unwrap_or(0)
    }

    /// The one behind it.
    #[inline(always)]
    fn byte_behind(&self) -> u8 {
        self.bytes.get(self.at + 1).copied().unwrap_or(0)
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
        let lexeme = self.quoted(Lexeme::Key, Lexeme::EscapedKey)?;
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
                let lexeme = self.quoted(Lexeme::String, Lexeme::EscapedString)?;
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
    fn quoted(&mut self, plain: Lexeme, escaped: Lexeme) -> Result<Lexeme, Failed> {
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
        Text::new(&self.bytes[self.place()], escaped)
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
