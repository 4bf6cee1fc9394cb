//! Wildcard patterns over bytes, as git reads them. In: the text of a pattern. Out: a [`Glob`] that says whether a name or a path is meant.
//! `gitignore.rs` makes one of every rule, the tools one of a path with wildcards in it.
//!
//! ```text
//! *.o             a name: any bytes, then ".o"
//! src/**/*.h      a path: `**/` is nothing or whole folders, `*` and `?` stop at a slash
//! abc/**          a path: everything in abc
//! [a-z0-9_] [!a] [^a] [[:digit:]-]      one byte of a set; `]` as its first byte is an ordinary one
//! \* \[ \\        these characters themselves
//! ```
//!
//! A byte is a character: `?` matches half of an `é`. That is what git does.
//!
//! Refused, with the byte where it begins: a class without its end, an unknown `[:name:]`, a backslash at the end. git takes such
//! patterns and then never finds anything with them.
//!
//! Limits: none of its own. A match takes at most (bytes of the pattern) × (bytes of the path) steps for each folder of the path, and
//! nothing is recursive.
//!
//! Invariant: the answers are those of git's wildmatch, with WM_PATHNAME for [`Scope::Path`] and without for [`Scope::Name`].
//!
//! Read next: `gitignore.rs`.

use crate::sys::simd;
use std::fmt;

/// What a pattern is held against.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Scope {
    /// The last name of a path: there are no slashes, and `**` is no more than `*`.
    Name,
    /// A path, with `/` between its names and none in front.
    Path,
}

/// A compiled pattern.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Glob {
    shape: Shape,
    tail: Tail,
}

/// Why a text is no pattern, and at which of its bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Error {
    /// Why.
    pub cause: Cause,
    /// Offset of the class or the backslash.
    pub at: usize,
}

/// Why a text is no pattern.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Cause {
    /// `[` without `]`.
    OpenClass,
    /// `[[:nonsense:]]`.
    UnknownName,
    /// A backslash with nothing after it.
    LastBackslash,
}

/// The last bytes of a text: by them alone most patterns are told from most names, four bytes at a time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Tail {
    bytes: u32,
    /// Which of them there are, or are known.
    mask: u32,
}

/// Most patterns are of a form that needs no machine.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Shape {
    /// `Makefile`
    Exact(Box<[u8]>),
    /// `*.o`, over names
    Suffix(Box<[u8]>),
    /// Anything else: a beginning without wildcards, then the rest.
    General(Box<[u8]>, Box<[Token]>),
}

#[derive(Clone, Debug, PartialEq, Eq)]
enum Token {
    Byte(u8),
    /// `?`
    One,
    /// `[…]`, a bit for each byte.
    Class(Box<[u64; 4]>),
    /// `*`
    Star,
    /// `**` at the end: slashes too.
    Rest,
    /// `**/`: nothing, or whole folders with their slashes.
    Folders,
}

impl Glob {
    /// Compiles a pattern.
    pub fn new(pattern: &[u8], scope: Scope) -> Result<Glob, Error> {
        let tokens = Parser {
            pattern,
            at: 0,
            scope,
        }
        .run()?;
        let plain = tokens.iter().take_while(|t| matches!(t, Token::Byte(_)));
        let plain = plain.count();
        let tail = Tail::of(tokens.iter().rev().map_while(Token::byte));
        let bytes = |tokens: &[Token]| {
            let bytes = tokens.iter().map(Token::byte);
            bytes.collect::<Option<Box<[u8]>>>()
        };
        let shape = match (bytes(&tokens), tokens.split_first(), scope) {
            (Some(exact), _, _) => Shape::Exact(exact),
            (None, Some((Token::Star, rest)), Scope::Name) => match bytes(rest) {
                Some(suffix) => Shape::Suffix(suffix),
                None => Shape::General(Box::new([]), tokens.into()),
            },
            (None, _, _) => {
                let prefix = bytes(&tokens[..plain]).unwrap_or_default();
                Shape::General(prefix, tokens[plain..].into())
            }
        };
        Ok(Glob { shape, tail })
    }

    /// Whether the whole of `text` is meant.
    pub fn is_match(&self, text: &[u8]) -> bool {
        match &self.shape {
            Shape::Exact(exact) => **exact == *text,
            Shape::Suffix(suffix) => text.ends_with(suffix),
            Shape::General(prefix, tokens) => {
                let rest = text.strip_prefix(&**prefix);
                rest.is_some_and(|rest| run(tokens, rest))
            }
        }
    }

    /// What every match ends in, as far as it is known.
    pub(super) fn tail(&self) -> Tail {
        self.tail
    }
}

impl Token {
    /// If it is one.
    fn byte(&self) -> Option<u8> {
        match self {
            Token::Byte(byte) => Some(*byte),
            Token::One | Token::Class(_) | Token::Star | Token::Rest | Token::Folders => None,
        }
    }
}

impl Tail {
    /// The first four of these bytes, which are those of a text from its end.
    pub(super) fn of(from_end: impl Iterator<Item = u8>) -> Tail {
        let (mut bytes, mut mask) = ([0; 4], [0; 4]);
        for (at, byte) in from_end.take(4).enumerate() {
            (bytes[at], mask[at]) = (byte, 0xff);
        }
        Tail {
            bytes: u32::from_le_bytes(bytes),
            mask: u32::from_le_bytes(mask),
        }
    }

    /// Whether a text with this tail may be one that ends in `wanted`.
    pub(super) fn may_end_in(self, wanted: Tail) -> bool {
        (self.bytes ^ wanted.bytes) & wanted.mask == 0
    }
}

/// Goes through the text with at most two places to come back to. A later `*` makes an earlier one needless: whatever the earlier one
/// could take more, the later one can take as well. The same holds for `**`, and a `*` before a `**`. So there is one of each, and no
/// stack.
fn run(tokens: &[Token], text: &[u8]) -> bool {
    let (mut token, mut at) = (0, 0);
    // Where to go on after the last `*`, and the first byte that it has not taken.
    let mut star: Option<(usize, usize)> = None;
    // The same for the last `**`; the flag says that it takes whole folders only.
    let mut deep: Option<(usize, usize, bool)> = None;
    loop {
        let fits = match (tokens.get(token), text.get(at)) {
            (None, None) => return true,
            (None, Some(_)) => false,
            (Some(Token::Star), _) => {
                star = Some((token + 1, at));
                token += 1;
                continue;
            }
            (Some(kind @ (Token::Rest | Token::Folders)), _) => {
                star = None;
                deep = Some((token + 1, at, *kind == Token::Folders));
                token += 1;
                continue;
            }
            (Some(_), None) => false,
            (Some(Token::Byte(wanted)), Some(byte)) => wanted == byte,
            (Some(Token::One), Some(byte)) => *byte != b'/',
            (Some(Token::Class(set)), Some(byte)) => *byte != b'/' && holds(set, *byte),
        };
        if fits {
            token += 1;
            at += 1;
            continue;
        }
        match (star, deep) {
            (Some((next, from)), _) if text.get(from).is_some_and(|b| *b != b'/') => {
                star = Some((next, from + 1));
                (token, at) = (next, from + 1);
            }
            (_, Some((next, from, folders))) if from < text.len() => {
                let from = match folders {
                    true => simd::find_byte(text, b'/', from) + 1,
                    false => from + 1,
                };
                if from > text.len() {
                    return false;
                }
                // A `*` from before stands at a slash or at the end and can take nothing more.
                deep = Some((next, from, folders));
                (token, at) = (next, from);
            }
            (_, _) => return false,
        }
    }
}

fn holds(set: &[u64; 4], byte: u8) -> bool {
    set[usize::from(byte >> 6)] & (1 << (byte & 63)) != 0
}

struct Parser<'a> {
    pattern: &'a [u8],
    at: usize,
    scope: Scope,
}

impl Parser<'_> {
    fn run(mut self) -> Result<Vec<Token>, Error> {
        let mut tokens = Vec::with_capacity(self.pattern.len());
        while let Some(&byte) = self.pattern.get(self.at) {
            let token = match byte {
                b'*' => self.stars(),
                b'?' => {
                    self.at += 1;
                    Token::One
                }
                b'[' => self.class()?,
                b'\\' => Token::Byte(self.escaped()?),
                _ => {
                    self.at += 1;
                    Token::Byte(byte)
                }
            };
            tokens.push(token);
        }
        Ok(tokens)
    }

    /// `**` is special where it is a whole name: between slashes or the ends.
    fn stars(&mut self) -> Token {
        let begin = self.at;
        while self.pattern.get(self.at) == Some(&b'*') {
            self.at += 1;
        }
        let whole_name = begin == 0 || self.pattern[begin - 1] == b'/';
        if self.at - begin == 1 || self.scope == Scope::Name || !whole_name {
            return Token::Star;
        }
        match &self.pattern[self.at..] {
            [b'/', ..] => {
                self.at += 1;
                Token::Folders
            }
            [] | [b'\\', b'/', ..] => Token::Rest,
            _ => Token::Star,
        }
    }

    /// The byte behind a backslash.
    fn escaped(&mut self) -> Result<u8, Error> {
        let byte = self.pattern.get(self.at + 1);
        let error = Error {
            cause: Cause::LastBackslash,
            at: self.at,
        };
        self.at += 2;
        byte.copied().ok_or(error)
    }

    fn class(&mut self) -> Result<Token, Error> {
        let begin = self.at;
        let open = Error {
            cause: Cause::OpenClass,
            at: begin,
        };
        self.at += 1;
        let negated = matches!(self.pattern.get(self.at), Some(b'!' | b'^'));
        self.at += usize::from(negated);
        let mut set = [0_u64; 4];
        let mut put = |range: std::ops::RangeInclusive<u8>| {
            range.for_each(|byte| set[usize::from(byte >> 6)] |= 1 << (byte & 63));
        };
        // What a `-` may begin its range with; a range or a name leaves nothing. A NUL could not.
        let mut before: Option<u8> = None;
        let mut first = true;
        loop {
            let rest = &self.pattern[self.at.min(self.pattern.len())..];
            match rest {
                [] => return Err(open),
                [b']', ..] if !first => break,
                [b'\\', ..] => {
                    let byte = self.escaped().map_err(|_| open)?;
                    put(byte..=byte);
                    before = Some(byte);
                }
                [b'-', end, ..] if before.is_some() && *end != b']' => {
                    self.at += 1;
                    let end = match end {
                        b'\\' => self.escaped().map_err(|_| open)?,
                        _ => {
                            self.at += 1;
                            *end
                        }
                    };
                    if let Some(start) = before.take() {
                        put(start..=end);
                    }
                }
                [b'[', b':', name @ ..] => {
                    let end = name.iter().position(|b| *b == b']').ok_or(open)?;
                    match name[..end].split_last() {
                        Some((b':', name)) => {
                            let is_in = named(name).ok_or(Error {
                                cause: Cause::UnknownName,
                                at: begin,
                            })?;
                            (0..=255).filter(is_in).for_each(|byte| put(byte..=byte));
                            self.at += end + 3;
                            before = None;
                        }
                        // No `:]`: the bracket is an ordinary byte.
                        Some(_) | None => {
                            put(b'['..=b'[');
                            self.at += 1;
                            before = Some(b'[');
                        }
                    }
                }
                [byte, ..] => {
                    put(*byte..=*byte);
                    self.at += 1;
                    before = Some(*byte);
                }
            }
            first = false;
        }
        self.at += 1;
        if negated {
            set.iter_mut().for_each(|bits| *bits = !*bits);
        }
        Ok(Token::Class(Box::new(set)))
    }
}

/// POSIX class names, over ASCII. A blank in a line is what git calls space: no vertical tab, no form feed.
fn named(name: &[u8]) -> Option<fn(&u8) -> bool> {
    Some(match name {
        b"alnum" => u8::is_ascii_alphanumeric,
        b"alpha" => u8::is_ascii_alphabetic,
        b"blank" => |b| matches!(b, b' ' | b'\t'),
        b"cntrl" => u8::is_ascii_control,
        b"digit" => u8::is_ascii_digit,
        b"graph" => u8::is_ascii_graphic,
        b"lower" => u8::is_ascii_lowercase,
        b"print" => |b| matches!(b, b' '..=b'~'),
        b"punct" => u8::is_ascii_punctuation,
        b"space" => |b| matches!(b, b' ' | b'\t' | b'\n' | b'\r'),
        b"upper" => u8::is_ascii_uppercase,
        b"xdigit" => u8::is_ascii_hexdigit,
        _ => return None,
    })
}

impl fmt::Display for Cause {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Cause::OpenClass => "`[` has no `]`",
            Cause::UnknownName => {
                "unknown class name; known are alnum, alpha, blank, cntrl, digit, graph, lower, print, punct, space, upper, xdigit"
            }
            Cause::LastBackslash => "`\\` at the end has nothing to escape",
        })
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "byte {}: {}", self.at + 1, self.cause)
    }
}
