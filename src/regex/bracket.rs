//! Brackets: from `[` to `]`. Called by the parser.
//!
//! ```text
//! bracket   = "[" "^"? "-"* "]"? operand (operator operand)* "]"
//! operator  = "&&" (both) | "--" (the first without the second)
//! operand   = ("[:" "^"? name ":]" | bracket | member "-" member | member)*
//! member    = "\" escape | character
//! ```
//!
//! A `-` at the begin, at the end, or behind `\w` and its like is the character. Operators bind weaker than standing side by side, and to
//! the left. Where case is ignored a set is closed under it before it is negated.
//!
//! Invariant: brackets in each other count as levels of nesting.

use super::class::{Items, Set, posix};
use super::error::{Cause, Error};
use super::parse::{Escape, Parser, negated_if};

/// What stands between two operands.
#[derive(Clone, Copy)]
enum Operator {
    And,
    Minus,
}

/// What stands side by side.
struct Operand {
    items: Items,
    /// Brackets and negated properties.
    sets: Vec<Set>,
}

impl Operand {
    fn new(parser: &Parser<'_>) -> Operand {
        Operand {
            items: Items::new(parser.flags.ignore_case),
            sets: Vec::new(),
        }
    }

    fn finish(self) -> Set {
        let mut sets = self.sets;
        if sets.is_empty() || !self.items.is_empty() {
            sets.push(Set::Items(self.items));
        }
        match sets.len() {
            1 => sets.remove(0),
            _ => Set::Or(sets),
        }
    }
}

impl Parser<'_> {
    pub(super) fn bracket(&mut self) -> Result<Set, Error> {
        let open = self.at;
        self.next();
        let negated = self.eat("^");
        let mut left: Option<(Set, Operator)> = None;
        let mut operand = Operand::new(self);
        while self.eat("-") {
            operand.items.push_range('-', '-');
        }
        if operand.items.is_empty() && self.eat("]") {
            operand.items.push_range(']', ']');
        }
        loop {
            self.skip_blanks();
            let operator = match self.peek() {
                None => return Err(self.error_at(Cause::OpenBracket, open)),
                Some(']') => break,
                Some('[') => {
                    let set = match self.posix()? {
                        Some(set) => set,
                        None => self.nested(Parser::bracket)?,
                    };
                    operand.sets.push(set);
                    continue;
                }
                Some(_) if self.eat("&&") => Operator::And,
                Some(_) if self.eat("--") => Operator::Minus,
                Some(_) => {
                    self.member(&mut operand)?;
                    continue;
                }
            };
            let finished = std::mem::replace(&mut operand, Operand::new(self)).finish();
            left = Some((combined(left, finished), operator));
        }
        self.next();
        let set = combined(left, operand.finish());
        if self.lines && !negated && is_line_feed(&set) {
            return Err(self.error_at(Cause::LineFeed, open));
        }
        Ok(negated_if(negated, set))
    }

    /// A character, a range or an escape.
    fn member(&mut self, operand: &mut Operand) -> Result<(), Error> {
        let start = self.at;
        let first = match self.bracket_escape()? {
            Escape::Char(c) => c,
            Escape::Set(set) => {
                operand.sets.push(set);
                return Ok(());
            }
            Escape::Look(_) => return Err(self.look_in_bracket(start)),
        };
        self.skip_blanks();
        let rest = self.rest();
        let is_range = rest.starts_with('-') && !rest.starts_with("--") && !rest.starts_with("-]");
        if !is_range || rest.len() == 1 {
            operand.items.push_range(first, first);
            return Ok(());
        }
        self.next();
        self.skip_blanks();
        let end = self.at;
        match self.bracket_escape()? {
            Escape::Char(last) if last >= first => operand.items.push_range(first, last),
            Escape::Char(_) => return Err(self.error_at(Cause::RangeOrder, start)),
            Escape::Set(_) => return Err(self.error_at(Cause::RangeEnd, end)),
            Escape::Look(_) => return Err(self.look_in_bracket(end)),
        }
        Ok(())
    }

    fn bracket_escape(&mut self) -> Result<Escape, Error> {
        if self.rest().starts_with('\\') {
            return self.escape();
        }
        // The caller has seen that something is there; an end would be reported as the open bracket in the next round.
        Ok(Escape::Char(self.next().unwrap_or_default()))
    }

    /// `\b` and the others are no characters.
    fn look_in_bracket(&self, offset: usize) -> Error {
        let letter = self.rest_from(offset).chars().nth(1).unwrap_or('\\');
        self.error_at(Cause::UnknownEscape(letter), offset)
    }

    /// `[:name:]`; `None` if it is an ordinary bracket.
    fn posix(&mut self) -> Result<Option<Set>, Error> {
        let Some(inside) = self.rest().strip_prefix("[:") else {
            return Ok(None);
        };
        let (negated, name) = match inside.strip_prefix('^') {
            Some(name) => (true, name),
            None => (false, inside),
        };
        let length = name.bytes().take_while(u8::is_ascii_lowercase).count();
        let (name, behind) = name.split_at(length);
        if !behind.starts_with(":]") {
            return Ok(None);
        }
        let Some(ranges) = posix(name) else {
            return Err(self.error(Cause::UnknownPosix));
        };
        let mut items = Items::new(self.flags.ignore_case);
        for &(first, last) in ranges {
            items.push_range(first, last);
        }
        self.at += "[:".len() + usize::from(negated) + length + ":]".len();
        Ok(Some(negated_if(negated, Set::Items(items))))
    }
}

fn combined(left: Option<(Set, Operator)>, right: Set) -> Set {
    match left {
        None => right,
        Some((left, Operator::And)) => Set::And(Box::new(left), Box::new(right)),
        Some((left, Operator::Minus)) => {
            Set::And(Box::new(left), Box::new(Set::Not(Box::new(right))))
        }
    }
}

/// Whether nothing but a line feed is in it: what for single lines would never match.
fn is_line_feed(set: &Set) -> bool {
    match set {
        Set::Items(items) => items.is_only('\n'),
        Set::Not(_) | Set::And(..) | Set::Or(_) => false,
    }
}
