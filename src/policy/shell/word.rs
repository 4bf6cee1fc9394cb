//! One word: quotes taken off, expansions recognized (POSIX.1-2024, XCU 2.2 and 2.6).
//!
//! ```text
//! a'b c'"d"\ e     → `ab cd e`, literal
//! "$HOME"/x        → `$HOME/x`, home                 ~/x, --to=~/x     → as they stand, home
//! src/*.c          → `src/*.c`, glob after 4         *.c               → leading glob
//! $X "${X:-y}" $(id) `id` $'\n' {a,b}                → as they stand, unknown, each with its doubt
//! ```
//!
//! Invariant: a word takes at least one byte, or the caller would wait for ever.

use super::read::Reader;
use super::{Glob, MAX_NESTING, Why, Word, is_name, known};

/// A word as it was written.
pub(super) struct Read {
    pub(super) word: Word,
    /// No quote, no backslash, no expansion: its letters are the text's.
    pub(super) raw: bool,
    /// A quote or backslash somewhere: what makes a here-document's body plain text.
    pub(super) quoted: bool,
    /// Where in `text` the first unquoted `=` stands, if all before it is unquoted.
    pub(super) equals: Option<usize>,
}

impl Reader<'_> {
    /// The word that begins here.
    pub(super) fn word(&mut self) -> Read {
        let mut read = Read {
            word: Word {
                at: self.at,
                ..Word::default()
            },
            raw: true,
            quoted: false,
            equals: None,
        };
        let mut brace = None;
        while let Some(c) = self.peek() {
            let at = self.at;
            match c {
                ' ' | '\t' | '\n' | ';' | '&' | '|' | ')' => break,
                '(' if at > read.word.at => break,
                '<' | '>' if self.text[at + 1..].starts_with('(') && at == read.word.at => {
                    self.at += 2;
                    self.doubt(at, Why::ProcessSubstitution);
                    self.substitution(at, &mut read.word);
                    read.raw = false;
                }
                '<' | '>' => break,
                '\\' | '\'' | '"' => {
                    self.bump();
                    read.raw = false;
                    read.quoted = true;
                    match c {
                        '\'' => self.single(at, &mut read.word),
                        '"' => self.double(at, &mut read.word),
                        _ => match self.bump() {
                            Some('\n') => self.doubt(at, Why::Continued),
                            Some(c) => read.word.text.push(c),
                            None => self.doubt(at, Why::Unclosed("backslash")),
                        },
                    }
                }
                '`' => {
                    read.raw = false;
                    self.backquotes(&mut read.word);
                }
                '$' => {
                    read.raw = false;
                    self.dollar(false, &mut read.word);
                }
                _ => {
                    self.bump();
                    self.plain(c, &mut read, &mut brace);
                }
            }
        }
        read.word.end = self.at;
        // `[` is a command's name, and `a[` no pattern.
        if !read.word.text.contains(['*', '?', ']']) {
            read.word.glob = None;
        }
        read
    }

    /// An unquoted character that is none of the shell's quotes and operators.
    fn plain(&mut self, c: char, read: &mut Read, brace: &mut Option<usize>) {
        let word = &mut read.word;
        let here = word.text.len();
        match c {
            '*' | '?' | '[' if word.glob.is_none() => {
                word.glob = Some(match here {
                    0 => Glob::Leading,
                    _ => Glob::After(here),
                });
            }
            '~' if here == 0 || word.text.ends_with(['=', ':']) => word.home = true,
            '=' if read.raw && read.equals.is_none() => read.equals = Some(here),
            '{' if brace.is_none() => *brace = Some(here),
            '}' => {
                let inner = brace.map_or("", |from| &word.text[from..]);
                if inner.contains(',') || inner.contains("..") {
                    word.unknown = true;
                    *brace = None;
                    let at = word.at;
                    self.doubt(at, Why::Braces);
                }
            }
            _ => {}
        }
        read.word.text.push(c);
    }

    /// Behind `'`.
    fn single(&mut self, at: usize, word: &mut Word) {
        match self.text[self.at..].find('\'') {
            Some(length) => {
                word.text.push_str(&self.text[self.at..self.at + length]);
                self.at += length + 1;
            }
            None => {
                word.text.push_str(&self.text[self.at..]);
                self.at = self.text.len();
                self.doubt(at, Why::Unclosed("quote `'`"));
            }
        }
    }

    /// Behind `"`.
    fn double(&mut self, at: usize, word: &mut Word) {
        while !self.eat("\"") {
            if self.peek().is_none() {
                return self.doubt(at, Why::Unclosed("quote `\"`"));
            }
            self.in_double(word);
        }
    }

    /// One step where only `$`, backquotes and some backslashes mean something: in double quotes and in here-documents.
    fn in_double(&mut self, word: &mut Word) {
        match self.peek() {
            Some('\\') => {
                self.bump();
                match self.peek() {
                    Some('\n') => {
                        self.bump();
                    }
                    Some(c @ ('"' | '\\' | '$' | '`')) => {
                        self.bump();
                        word.text.push(c);
                    }
                    Some(_) | None => word.text.push('\\'),
                }
            }
            Some('$') => self.dollar(true, word),
            Some('`') => self.backquotes(word),
            Some(c) => {
                self.bump();
                word.text.push(c);
            }
            None => {}
        }
    }

    /// At `$`.
    fn dollar(&mut self, quoted: bool, word: &mut Word) {
        let at = self.at;
        self.bump();
        match self.peek() {
            Some('(') => {
                self.bump();
                let why = match self.peek() {
                    Some('(') => Why::Arithmetic,
                    Some(_) | None => Why::Substitution,
                };
                self.doubt(at, why);
                self.substitution(at, word);
            }
            Some('[') => {
                word.unknown = true;
                word.text.push('$');
                self.doubt(at, Why::Arithmetic);
            }
            Some('{') => {
                self.bump();
                self.parameter(at, quoted, word);
            }
            Some('\'' | '"') if !quoted => {
                word.unknown = true;
                self.doubt(at, Why::DollarQuote);
                if self.eat("'") {
                    self.ansi(at, word);
                }
            }
            Some('?') => {
                self.bump();
                word.text.push_str("$?");
            }
            Some(c) if c.is_ascii_digit() || "@*#$!-".contains(c) => {
                self.bump();
                word.text.extend(['$', c]);
                self.variable(at, quoted, &c.to_string(), word);
            }
            Some(c) if c.is_ascii_alphabetic() || c == '_' => {
                let rest = &self.text[self.at..];
                let end = rest.find(|c: char| !c.is_ascii_alphanumeric() && c != '_');
                let name = rest[..end.unwrap_or(rest.len())].to_string();
                self.at += name.len();
                word.text.push('$');
                word.text.push_str(&name);
                self.variable(at, quoted, &name, word);
            }
            Some(_) | None => word.text.push('$'),
        }
    }

    /// Unquoted, even a value that is known is split into words and matched against files.
    fn variable(&mut self, at: usize, quoted: bool, name: &str, word: &mut Word) {
        word.home |= name == "HOME";
        word.variable = true;
        if !quoted || !known(name) {
            word.unknown = true;
            self.doubt(at, Why::Variable(name.to_string()));
        }
    }

    /// Behind `${`.
    fn parameter(&mut self, at: usize, quoted: bool, word: &mut Word) {
        let rest = &self.text[self.at..];
        let name = rest.split('}').next().unwrap_or("");
        let status = name
            .strip_prefix("PIPESTATUS[")
            .and_then(|n| n.strip_suffix(']'));
        let counted = status.is_some_and(|n| n.len() == 1 && n.bytes().all(|b| b.is_ascii_digit()));
        if rest.len() > name.len() && (is_name(name) || counted || name == "?") {
            let name = name.to_string();
            self.at += name.len() + 1;
            word.text.push_str(&format!("${{{name}}}"));
            // In a shell that has no such array it is nothing at all.
            word.variable |= counted;
            if !counted && name != "?" {
                self.variable(at, quoted, &name, word);
            }
            return;
        }
        self.doubt(at, Why::Parameter);
        word.unknown = true;
        word.text.push_str("${");
        if self.deeper(at) {
            return;
        }
        // Up to the brace that ends it; substitutions inside are read for what they run.
        loop {
            match self.peek() {
                None => {
                    self.doubt(at, Why::Unclosed("brace `${`"));
                    break;
                }
                Some('}') => {
                    self.bump();
                    word.text.push('}');
                    break;
                }
                Some('\'') if !quoted => {
                    let from = self.at;
                    self.bump();
                    self.single(from, word);
                }
                Some('"') => {
                    let from = self.at;
                    self.bump();
                    self.double(from, word);
                }
                Some(_) => self.in_double(word),
            }
        }
        self.level -= 1;
    }

    /// Behind `$'`: the usual escapes, so that a stop sees the letters.
    fn ansi(&mut self, at: usize, word: &mut Word) {
        loop {
            match self.bump() {
                None => return self.doubt(at, Why::Unclosed("quote `$'`")),
                Some('\'') => return,
                Some('\\') => match self.bump() {
                    Some('n') => word.text.push('\n'),
                    Some('t') => word.text.push('\t'),
                    Some('x') => self.code(16, 2, word),
                    Some('u') => self.code(16, 4, word),
                    Some('U') => self.code(16, 8, word),
                    Some(c) if c.is_digit(8) => {
                        self.at -= 1;
                        self.code(8, 3, word);
                    }
                    Some(c) => word.text.push(c),
                    None => {}
                },
                Some(c) => word.text.push(c),
            }
        }
    }

    /// Up to `most` digits as a character.
    fn code(&mut self, radix: u32, most: usize, word: &mut Word) {
        let rest = &self.text[self.at..];
        let length = rest
            .chars()
            .take(most)
            .take_while(|c| c.is_digit(radix))
            .count();
        let value = u32::from_str_radix(&rest[..length], radix).ok();
        self.at += length;
        word.text.extend(value.and_then(char::from_u32));
    }

    /// Behind `$(`, `<(` or `>(`: its commands, up to its `)`. The word keeps the text.
    fn substitution(&mut self, at: usize, word: &mut Word) {
        word.unknown = true;
        if self.deeper(at) {
            return;
        }
        self.commands(true);
        self.level -= 1;
        word.text.push_str(&self.text[at..self.at]);
    }

    /// At a backquote: what is inside is unquoted once, then read as a text of its own.
    fn backquotes(&mut self, word: &mut Word) {
        let at = self.at;
        self.bump();
        self.doubt(at, Why::Backquotes);
        word.unknown = true;
        let mut inner = String::new();
        loop {
            match self.bump() {
                None => {
                    self.doubt(at, Why::Unclosed("backquote"));
                    break;
                }
                Some('`') => break,
                Some('\\') => match self.bump() {
                    Some(c @ ('`' | '\\' | '$')) => inner.push(c),
                    Some(c) => inner.extend(['\\', c]),
                    None => {}
                },
                Some(c) => inner.push(c),
            }
        }
        word.text.push_str(&self.text[at..self.at]);
        if !self.deeper(at) {
            let mut reader = Reader::new(&inner, self.level);
            reader.commands(false);
            self.level -= 1;
            self.adopt(reader, at);
        }
    }

    /// The substitutions in the body of a here-document.
    pub(super) fn expansions_of(&mut self, body: &str, at: usize) {
        let mut reader = Reader::new(body, self.level);
        let mut word = Word::default();
        while reader.at < body.len() {
            reader.in_double(&mut word);
        }
        self.adopt(reader, at);
    }

    /// One substitution further in, or a doubt and the end of reading.
    fn deeper(&mut self, at: usize) -> bool {
        if self.level >= MAX_NESTING {
            self.doubt(at, Why::TooDeep);
            self.at = self.text.len();
            return true;
        }
        self.level += 1;
        false
    }

    /// What was read from another text belongs to byte `at` of this one.
    fn adopt(&mut self, reader: Reader<'_>, at: usize) {
        let doubts = reader.script.doubts.into_iter();
        let doubts: Vec<Why> = doubts.map(|doubt| doubt.why).collect();
        for why in doubts {
            self.doubt(at, why);
        }
        for mut simple in reader.script.commands {
            simple.span = at..at;
            self.script.commands.push(simple);
        }
    }
}
