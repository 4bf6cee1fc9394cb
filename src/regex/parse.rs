//! Pattern to tree, by recursive descent: one function a level of the grammar. Called by `Regex::new`.
//!
//! ```text
//! alternation  = concat ("|" concat)*
//! concat       = repetition*
//! repetition   = atom (("*" | "+" | "?" | "{" n? ("," m?)? "}") "?"?)*
//! atom         = "(" group ")" | "[" bracket "]" | "." | "^" | "$" | "\" escape | character
//! group        = ("?:" | "?<" name ">" | "?P<" name ">" | "?" flags ":")? alternation
//!              | "?" flags                                      (up to the end of the group around it)
//! flags        = [imsx]* ("-" [imsx]+)?
//! escape       = [tnrfva] | "x" hex hex | "u" hex{4} | "U" hex{8} | ("x" | "u" | "U") "{" hex+ "}"
//!              | [dDwWsS] | ("p" | "P") (letter | "{" name "}") | [AzbB<>] | sign
//! ```
//!
//! Brackets are in `bracket.rs`. A `{` that begins no bounds is the character (so `fn main() {` can be searched), as are a lone `}` and
//! `]`. With the flag `x` blanks and `#` comments are skipped. In a pattern for single lines `^`, `$`, `\A`, `\z` are about the line.
//!
//! Refused: everything a search of linear time cannot do (look-around, back-references, atomic groups) by name; unknown escapes,
//! flags and groups; patterns beyond the limits.
//!
//! Invariant: the parser reads each character once and stops at the first fault.
//! Invariant: recursion is bounded by `MAX_NESTING`, for operators stacked on each other as well.

use super::class::{Class, Items, Property, Set};
use super::error::{Cause, Error};
use super::look::Look;
use super::tree::{Bounds, Node, Tree};
use super::{MAX_BOUND, MAX_INSTRUCTIONS, MAX_NESTING, MAX_PATTERN_BYTES, Options};
use crate::sort;
use std::collections::HashMap;

/// Parses a whole pattern.
pub(super) fn parse(pattern: &str, options: Options) -> Result<Tree, Error> {
    let mut parser = Parser::new(pattern, options)?;
    let root = parser.alternation()?.node;
    if parser.peek().is_some() {
        return Err(parser.error(Cause::StrayClose));
    }
    Ok(parser.finish(root))
}

/// The tree of a text in which no character means anything but itself.
pub(super) fn literal(text: &str, options: Options) -> Result<Tree, Error> {
    let mut parser = Parser::new(text, options)?;
    let mut nodes = Vec::new();
    while let Some(c) = parser.peek() {
        if nodes.len() + 1 >= MAX_INSTRUCTIONS {
            return Err(parser.error(Cause::TooBig));
        }
        nodes.push(parser.character(c, parser.at)?);
        parser.next();
    }
    Ok(parser.finish(Node::Concat(nodes)))
}

pub(super) struct Parser<'p> {
    pattern: &'p str,
    /// Byte offset of what is read next.
    pub(super) at: usize,
    pub(super) flags: Flags,
    /// Whether the pattern is for single lines.
    pub(super) lines: bool,
    /// Groups and brackets that are open.
    depth: usize,
    names: Vec<&'p str>,
    /// Each set and its index.
    classes: HashMap<Class, usize>,
}

/// The flags that hold where the parser is.
#[derive(Clone, Copy)]
pub(super) struct Flags {
    pub(super) ignore_case: bool,
    multi_line: bool,
    dot_all: bool,
    pub(super) verbose: bool,
}

/// A node with what the limits are about.
struct Piece {
    node: Node,
    /// Instructions it compiles to, at most.
    size: usize,
    /// Groups and operators in each other.
    height: usize,
}

/// What a backslash and the characters behind it stand for.
pub(super) enum Escape {
    Char(char),
    Set(Set),
    Look(Look),
}

impl<'p> Parser<'p> {
    fn new(pattern: &'p str, options: Options) -> Result<Parser<'p>, Error> {
        if pattern.len() > MAX_PATTERN_BYTES {
            let mut offset = MAX_PATTERN_BYTES;
            while !pattern.is_char_boundary(offset) {
                offset -= 1;
            }
            let cause = Cause::TooLong;
            return Err(Error { cause, offset });
        }
        Ok(Parser {
            pattern,
            at: 0,
            flags: Flags {
                ignore_case: options.ignore_case,
                multi_line: options.multi_line,
                dot_all: false,
                verbose: false,
            },
            lines: options.lines,
            depth: 0,
            names: Vec::new(),
            classes: HashMap::new(),
        })
    }

    fn finish(self, root: Node) -> Tree {
        let mut classes: Vec<(Class, usize)> = self.classes.into_iter().collect();
        sort::by_key(&mut classes, |(_, index)| *index);
        let classes = classes.into_iter().map(|(class, _)| class).collect();
        Tree { root, classes }
    }

    pub(super) fn rest(&self) -> &'p str {
        self.rest_from(self.at)
    }

    pub(super) fn rest_from(&self, offset: usize) -> &'p str {
        self.pattern.get(offset..).unwrap_or_default()
    }

    pub(super) fn peek(&self) -> Option<char> {
        self.rest().chars().next()
    }

    pub(super) fn next(&mut self) -> Option<char> {
        let c = self.peek()?;
        self.at += c.len_utf8();
        Some(c)
    }

    /// Reads `text`, if it stands here.
    pub(super) fn eat(&mut self, text: &str) -> bool {
        let eaten = self.rest().starts_with(text);
        if eaten {
            self.at += text.len();
        }
        eaten
    }

    /// An error about the character that is next.
    pub(super) fn error(&self, cause: Cause) -> Error {
        self.error_at(cause, self.at)
    }

    pub(super) fn error_at(&self, cause: Cause, offset: usize) -> Error {
        Error { cause, offset }
    }

    /// Under the flag `x`: over blanks and comments.
    pub(super) fn skip_blanks(&mut self) {
        while self.flags.verbose {
            let blanks = self.rest().trim_start();
            self.at = self.pattern.len() - blanks.len();
            if !blanks.starts_with('#') {
                return;
            }
            self.at += blanks.find('\n').unwrap_or(blanks.len());
        }
    }

    /// One level deeper, for as long as `parse` takes.
    pub(super) fn nested<T>(
        &mut self,
        parse: impl FnOnce(&mut Parser<'p>) -> Result<T, Error>,
    ) -> Result<T, Error> {
        if self.depth == MAX_NESTING {
            return Err(self.error(Cause::TooDeep));
        }
        self.depth += 1;
        let parsed = parse(self);
        self.depth -= 1;
        parsed
    }

    fn alternation(&mut self) -> Result<Piece, Error> {
        let Piece {
            node,
            mut size,
            mut height,
        } = self.concat()?;
        let mut branches = vec![node];
        while self.peek() == Some('|') {
            let offset = self.at;
            self.next();
            let branch = self.concat()?;
            // A split before the branch and a jump behind it.
            size += branch.size + 2;
            height = height.max(branch.height);
            branches.push(branch.node);
            if size > MAX_INSTRUCTIONS {
                return Err(self.error_at(Cause::TooBig, offset));
            }
        }
        let node = match branches.len() {
            1 => branches.remove(0),
            _ => Node::Alternate(branches),
        };
        Ok(Piece { node, size, height })
    }

    fn concat(&mut self) -> Result<Piece, Error> {
        let mut nodes = Vec::new();
        let (mut size, mut height) = (1, 0);
        loop {
            self.skip_blanks();
            let offset = self.at;
            let Some(c) = self.peek().filter(|c| !matches!(c, '|' | ')')) else {
                break;
            };
            let Some(atom) = self.atom(c)? else {
                continue;
            };
            let piece = self.repetition(atom)?;
            size += piece.size;
            height = height.max(piece.height);
            nodes.push(piece.node);
            if size > MAX_INSTRUCTIONS {
                return Err(self.error_at(Cause::TooBig, offset));
            }
        }
        let node = match nodes.len() {
            0 => Node::Empty,
            1 => nodes.remove(0),
            _ => Node::Concat(nodes),
        };
        Ok(Piece { node, size, height })
    }

    /// The operators behind an atom.
    fn repetition(&mut self, atom: Piece) -> Result<Piece, Error> {
        let mut piece = atom;
        loop {
            self.skip_blanks();
            let offset = self.at;
            let (min, max) = match self.peek() {
                Some('*') => (0, None),
                Some('+') => (1, None),
                Some('?') => (0, Some(1)),
                Some('{') => match self.bounds()? {
                    Some(bounds) => bounds,
                    None => return Ok(piece),
                },
                _ => return Ok(piece),
            };
            self.next();
            let greedy = !self.eat("?");
            let bounds = Bounds { min, max, greedy };
            // As the compiler does it: the least number of copies, then a loop or the copies that may be left out, a split each.
            let copies = max.unwrap_or(min.max(1)).max(1) as usize;
            let size = copies.saturating_mul(piece.size + 1).saturating_add(2);
            piece = Piece {
                node: Node::Repeat(Box::new(piece.node), bounds),
                size,
                height: piece.height + 1,
            };
            if piece.size > MAX_INSTRUCTIONS {
                return Err(self.error_at(Cause::TooBig, offset));
            }
            if piece.height > MAX_NESTING {
                return Err(self.error_at(Cause::TooDeep, offset));
            }
        }
    }

    /// Bounds, up to the `}`, which is next then; `None` if the `{` begins none.
    fn bounds(&mut self) -> Result<Option<(u32, Option<u32>)>, Error> {
        let inside = &self.rest()[1..];
        let end = inside.find(|c: char| !c.is_ascii_digit() && c != ',');
        let (inside, behind) = inside.split_at(end.unwrap_or(inside.len()));
        let (min, max) = inside.split_once(',').unwrap_or((inside, inside));
        let is_bounds = behind.starts_with('}') && !max.contains(',') && inside != ",";
        if !is_bounds || inside.is_empty() {
            return Ok(None);
        }
        let number = |digits: &str, missing| match digits {
            "" => Ok(missing),
            digits => match digits.parse() {
                Ok(number) if number <= MAX_BOUND => Ok(Some(number)),
                Ok(_) | Err(_) => Err(self.error(Cause::BoundTooBig)),
            },
        };
        let (min, max) = (number(min, Some(0))?.unwrap_or(0), number(max, None)?);
        if max.is_some_and(|max| max < min) {
            return Err(self.error(Cause::BoundOrder));
        }
        self.at += 1 + inside.len();
        Ok(Some((min, max)))
    }

    /// What begins with `c`, or `None` if it was flags only.
    fn atom(&mut self, c: char) -> Result<Option<Piece>, Error> {
        let offset = self.at;
        let node = match c {
            '(' => return self.nested(Parser::group),
            '[' => {
                let set = self.nested(Parser::bracket)?;
                self.class(set)
            }
            '*' | '+' | '?' => return Err(self.error(Cause::NothingToRepeat(c))),
            '{' if self.bounds()?.is_some() => {
                return Err(self.error_at(Cause::NothingToRepeat(c), offset));
            }
            '.' => {
                self.next();
                let set = self.dot();
                self.class(set)
            }
            '^' => {
                self.next();
                Node::Look(self.start_look(self.flags.multi_line))
            }
            '$' => {
                self.next();
                Node::Look(self.end_look(self.flags.multi_line))
            }
            '\\' => match self.escape()? {
                Escape::Char(c) => self.character(c, offset)?,
                Escape::Set(set) => self.class(set),
                Escape::Look(look) => Node::Look(look),
            },
            _ => {
                self.next();
                self.character(c, offset)?
            }
        };
        let (size, height) = (1, 0);
        Ok(Some(Piece { node, size, height }))
    }

    fn class(&mut self, set: Set) -> Node {
        let without: &[char] = if self.lines { &['\n'] } else { &[] };
        self.indexed(Class::new(set, without))
    }

    fn indexed(&mut self, class: Class) -> Node {
        let new = self.classes.len();
        Node::Class(*self.classes.entry(class).or_insert(new))
    }

    /// A character that stands for itself, and for its other cases where case is ignored.
    fn character(&mut self, c: char, offset: usize) -> Result<Node, Error> {
        if self.lines && c == '\n' {
            return Err(self.error_at(Cause::LineFeed, offset));
        }
        let cases = if self.flags.ignore_case {
            Class::cases(c)
        } else {
            None
        };
        Ok(match cases {
            Some(class) => self.indexed(class),
            None => Node::Char(c),
        })
    }

    /// Never half a line end: in a pattern for single lines no carriage return either, unless `s` asks for it.
    fn dot(&self) -> Set {
        let mut items = Items::default();
        if self.flags.dot_all {
            items.push_property(Property::Any);
            return Set::Items(items);
        }
        items.push_range('\n', '\n');
        if self.lines {
            items.push_range('\r', '\r');
        }
        Set::Not(Box::new(Set::Items(items)))
    }

    /// In a pattern for single lines every place is about the line.
    fn start_look(&self, multi_line: bool) -> Look {
        match self.lines || multi_line {
            true => Look::LineStart,
            false => Look::TextStart,
        }
    }

    fn end_look(&self, multi_line: bool) -> Look {
        match (self.lines, multi_line) {
            (true, _) => Look::LineEndOrReturn,
            (false, true) => Look::LineEnd,
            (false, false) => Look::TextEnd,
        }
    }

    /// From `(` to `)`.
    fn group(&mut self) -> Result<Option<Piece>, Error> {
        let open = self.at;
        let outer = self.flags;
        self.next();
        let kind = self.at;
        if self.eat("?") {
            let refused = [
                ("=", Cause::LookAhead),
                ("!", Cause::LookAhead),
                ("<=", Cause::LookBehind),
                ("<!", Cause::LookBehind),
                (">", Cause::Atomic),
                ("P=", Cause::BackReference),
            ];
            if let Some((_, cause)) = refused.iter().find(|(mark, _)| self.eat(mark)) {
                return Err(self.error_at(*cause, open));
            }
            if self.eat("P<") || self.eat("<") {
                self.group_name()?;
            } else if !self.eat(":") && self.flags(open, kind)? {
                return Ok(None);
            }
        }
        let mut piece = self.alternation()?;
        if !self.eat(")") {
            return Err(self.error_at(Cause::OpenGroup, open));
        }
        self.flags = outer;
        piece.height += 1;
        Ok(Some(piece))
    }

    fn group_name(&mut self) -> Result<(), Error> {
        let start = self.at;
        let rest = self.rest();
        let is_word = |c: char| c == '_' || c.is_alphanumeric();
        let name = &rest[..rest.find(|c| !is_word(c)).unwrap_or(rest.len())];
        self.at += name.len();
        if name.is_empty() || name.starts_with(char::is_numeric) || !self.eat(">") {
            return Err(self.error(Cause::GroupName));
        }
        if self.names.contains(&name) {
            return Err(self.error_at(Cause::RepeatedName, start));
        }
        self.names.push(name);
        Ok(())
    }

    /// Flags and the `:` or `)` behind them: whether it was the `)`, so that they hold for the rest of the group around.
    fn flags(&mut self, open: usize, kind: usize) -> Result<bool, Error> {
        let mut on = true;
        let mut count = 0;
        loop {
            let Some(c) = self.peek() else {
                return Err(self.error_at(Cause::OpenGroup, open));
            };
            match c {
                'i' => self.flags.ignore_case = on,
                'm' => self.flags.multi_line = on,
                's' => self.flags.dot_all = on,
                'x' => self.flags.verbose = on,
                '-' if on => {
                    on = false;
                    count = 0;
                }
                ':' | ')' if count > 0 => {
                    self.next();
                    return Ok(c == ')');
                }
                _ if c.is_alphabetic() && c != 'P' && c != 'R' => {
                    return Err(self.error(Cause::UnknownFlag(c)));
                }
                _ => return Err(self.error_at(Cause::UnknownGroup, kind)),
            }
            if c != '-' {
                count += 1;
            }
            self.next();
        }
    }

    /// From the backslash on.
    pub(super) fn escape(&mut self) -> Result<Escape, Error> {
        let start = self.at;
        self.next();
        let Some(c) = self.next() else {
            return Err(self.error_at(Cause::LoneBackslash, start));
        };
        let property = |property, negated| Ok(Escape::Set(property_set(property, negated)));
        let character = |c| Ok(Escape::Char(c));
        let look = |look| Ok(Escape::Look(look));
        match c {
            'n' => character('\n'),
            't' => character('\t'),
            'r' => character('\r'),
            'f' => character('\x0c'),
            'v' => character('\x0b'),
            'a' => character('\x07'),
            'x' => self.hexadecimal(2).map(Escape::Char),
            'u' => self.hexadecimal(4).map(Escape::Char),
            'U' => self.hexadecimal(8).map(Escape::Char),
            'd' | 'D' => property(Property::Digit, c == 'D'),
            'w' | 'W' => property(Property::Word, c == 'W'),
            's' | 'S' => property(Property::Space, c == 'S'),
            'p' | 'P' => self.named_property(c == 'P'),
            'A' => look(self.start_look(false)),
            'z' => look(self.end_look(false)),
            'b' => look(Look::Boundary),
            'B' => look(Look::NoBoundary),
            '<' => look(Look::WordStart),
            '>' => look(Look::WordEnd),
            '0'..='9' | 'k' | 'g' => Err(self.error_at(Cause::BackReference, start)),
            _ if c.is_ascii_punctuation() || c == ' ' => character(c),
            _ => Err(self.error_at(Cause::UnknownEscape(c), start)),
        }
    }

    /// So many digits, or any number of them in braces.
    fn hexadecimal(&mut self, length: usize) -> Result<char, Error> {
        let braces = self.eat("{");
        let start = self.at;
        let mut number: u32 = 0;
        while braces || self.at < start + length {
            let Some(digit) = self.peek().and_then(|c| c.to_digit(16)) else {
                break;
            };
            // Beyond the last character it stays there.
            number = number.saturating_mul(16).saturating_add(digit);
            self.next();
        }
        let complete = if braces {
            self.at > start && self.rest().starts_with('}')
        } else {
            self.at == start + length
        };
        if !complete {
            return Err(self.error(Cause::HexDigits));
        }
        if braces {
            self.next();
        }
        char::from_u32(number).ok_or(self.error_at(Cause::NotACharacter, start))
    }

    /// Behind `\p` or `\P`.
    fn named_property(&mut self, negated: bool) -> Result<Escape, Error> {
        let start = self.at;
        let rest = self.rest();
        let name = match rest.strip_prefix('{') {
            Some(rest) => rest.split_once('}').map(|(name, _)| name),
            None => rest.chars().next().map(|c| &rest[..c.len_utf8()]),
        };
        let Some((name, property)) = name.and_then(|n| Some((n, Property::named(n)?))) else {
            return Err(self.error_at(Cause::UnknownProperty, start));
        };
        self.at += name.len() + if rest.starts_with('{') { 2 } else { 0 };
        let cased = matches!(property, Property::Uppercase | Property::Lowercase);
        let mut items = Items::new(cased && self.flags.ignore_case);
        items.push_property(property);
        Ok(Escape::Set(negated_if(negated, Set::Items(items))))
    }
}

fn property_set(property: Property, negated: bool) -> Set {
    let mut items = Items::default();
    items.push_property(property);
    negated_if(negated, Set::Items(items))
}

pub(super) fn negated_if(negated: bool, set: Set) -> Set {
    if negated {
        Set::Not(Box::new(set))
    } else {
        set
    }
}
