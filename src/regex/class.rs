//! Sets of characters: what `[a-z_]`, `\w`, `.` and a letter under `(?i)` become. Made by the parser, asked by the machines.
//!
//! ```text
//! [^a-c\d]       Not(Items { ranges: a-c, properties: Digit })
//! (?i)k          Items { ranges: K k, folded }: also the Kelvin sign, whose lower case is k
//! [\w&&[^_]]     And(Items { Word }, Not(Items { _ }))
//! ```
//!
//! Nothing is expanded into a list of code points: a set is a small expression, and whether a character belongs to it is computed by
//! std's `char` methods when that character turns up. Only the 128 ASCII answers are kept as bits.
//!
//! The properties: `\d` is `char::is_numeric` (so ½ and Ⅷ are digits), `\w` is `char::is_alphanumeric` and `_` (so a combining accent is
//! no word character), `\s` is `char::is_whitespace`. POSIX names are ASCII alone.
//!
//! Folding is one character to one: [`fold`] goes to upper case and back to lower, where std gives a single character. So ß stays ß (and
//! is folded with ẞ), s matches ſ, σ matches ς. In a range of more than 1,024 characters a member that std reaches by no case
//! method (ſ, the Kelvin sign) does not pull its letter in.
//!
//! Invariant: `contains` is a function of the character alone.

use std::fmt;

/// A set of characters.
#[derive(Clone, PartialEq, Eq, Hash)]
pub(super) struct Class {
    /// Bit c: whether the ASCII character c belongs to the set.
    ascii: u128,
    others: Others,
    /// The set in the notation of a pattern, for `Debug`.
    set: Set,
}

/// The members beyond ASCII.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
enum Others {
    None,
    All,
    /// The set has to be asked.
    Some,
}

/// A set as an expression.
#[derive(Clone, PartialEq, Eq, Hash)]
pub(super) enum Set {
    Items(Items),
    Not(Box<Set>),
    And(Box<Set>, Box<Set>),
    Or(Vec<Set>),
}

/// Characters and properties: the plain inside of a bracket.
#[derive(Clone, Default, PartialEq, Eq, Hash)]
pub(super) struct Items {
    /// First and last character of each range.
    ranges: Vec<(char, char)>,
    properties: Vec<Property>,
    /// Whether a character belongs to the set if it does in another case.
    folded: bool,
}

/// A property std knows.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) enum Property {
    Any,
    Digit,
    Word,
    Space,
    Alphabetic,
    Uppercase,
    Lowercase,
    Control,
}

impl Property {
    pub(super) fn holds(self, c: char) -> bool {
        match self {
            Property::Any => true,
            Property::Digit => c.is_numeric(),
            Property::Word => c.is_alphanumeric() || c == '_',
            Property::Space => c.is_whitespace(),
            Property::Alphabetic => c.is_alphabetic(),
            Property::Uppercase => c.is_uppercase(),
            Property::Lowercase => c.is_lowercase(),
            Property::Control => c.is_control(),
        }
    }

    /// A property by the name in `\p{name}`. The short names are those of general categories, and stand for the derived property, which
    /// is a little wider (`Lu` has Ⓐ).
    pub(super) fn named(name: &str) -> Option<Property> {
        Some(match name {
            "L" | "Alphabetic" | "alphabetic" => Property::Alphabetic,
            "Lu" | "Uppercase" | "uppercase" => Property::Uppercase,
            "Ll" | "Lowercase" | "lowercase" => Property::Lowercase,
            "N" => Property::Digit,
            "Cc" => Property::Control,
            "White_Space" | "white_space" | "space" => Property::Space,
            _ => return None,
        })
    }
}

/// The ranges of a POSIX name.
pub(super) fn posix(name: &str) -> Option<&'static [(char, char)]> {
    Some(match name {
        "alnum" => &[('0', '9'), ('A', 'Z'), ('a', 'z')],
        "alpha" => &[('A', 'Z'), ('a', 'z')],
        "ascii" => &[('\0', '\x7f')],
        "blank" => &[('\t', '\t'), (' ', ' ')],
        "cntrl" => &[('\0', '\x1f'), ('\x7f', '\x7f')],
        "digit" => &[('0', '9')],
        "graph" => &[('!', '~')],
        "lower" => &[('a', 'z')],
        "print" => &[(' ', '~')],
        "punct" => &[('!', '/'), (':', '@'), ('[', '`'), ('{', '~')],
        "space" => &[('\t', '\r'), (' ', ' ')],
        "upper" => &[('A', 'Z')],
        "word" => &[('0', '9'), ('A', 'Z'), ('_', '_'), ('a', 'z')],
        "xdigit" => &[('0', '9'), ('A', 'F'), ('a', 'f')],
        _ => return None,
    })
}

/// One character for all that differ by case alone.
pub(super) fn fold(c: char) -> char {
    if c.is_ascii() {
        return c.to_ascii_lowercase();
    }
    only(upper(c).to_lowercase()).unwrap_or(upper(c))
}

/// The upper case, if it is one character.
fn upper(c: char) -> char {
    // The dotless ı has I as its upper case and is no i all the same (CaseFolding.txt has it under T, for Turkic).
    if c == 'ı' {
        return c;
    }
    only(c.to_uppercase()).unwrap_or(c)
}

fn only(mut characters: impl ExactSizeIterator<Item = char>) -> Option<char> {
    if characters.len() == 1 {
        characters.next()
    } else {
        None
    }
}

impl Items {
    pub(super) fn new(folded: bool) -> Items {
        Items {
            folded,
            ..Items::default()
        }
    }

    pub(super) fn is_empty(&self) -> bool {
        self.ranges.is_empty() && self.properties.is_empty()
    }

    /// Whether `c` is all there is.
    pub(super) fn is_only(&self, c: char) -> bool {
        let ranges = self.ranges.iter().all(|range| *range == (c, c));
        ranges && !self.ranges.is_empty() && self.properties.is_empty()
    }

    pub(super) fn push_property(&mut self, property: Property) {
        self.properties.push(property);
    }

    pub(super) fn push_range(&mut self, first: char, last: char) {
        /// Above this a range is taken to hold a letter's common forms itself.
        const MAX_FOLDED: u32 = 1024;
        self.ranges.push((first, last));
        if !self.folded || u32::from(last) - u32::from(first) >= MAX_FOLDED {
            return;
        }
        for c in first..=last {
            let folded = fold(c);
            for other in [folded, upper(folded)] {
                if !(first..=last).contains(&other) {
                    self.ranges.push((other, other));
                }
            }
        }
    }

    fn contains(&self, c: char) -> bool {
        let has = |c: char| {
            let between = |&(first, last): &(char, char)| first <= c && c <= last;
            self.ranges.iter().any(between) || self.properties.iter().any(|p| p.holds(c))
        };
        has(c) || self.folded && (has(fold(c)) || has(upper(fold(c))))
    }

    fn is_ascii(&self) -> bool {
        // Two letters have a form beyond ASCII; they are looked for, so that `(?i)error` is not slowed down for their sake.
        let pulls = self.folded && ['k', 's', 'K', 'S'].iter().any(|&c| self.contains(c));
        let ascii = self.ranges.iter().all(|(_, last)| last.is_ascii());
        ascii && self.properties.is_empty() && !pulls
    }
}

impl Set {
    fn contains(&self, c: char) -> bool {
        match self {
            Set::Items(items) => items.contains(c),
            Set::Not(set) => !set.contains(c),
            Set::And(a, b) => a.contains(c) && b.contains(c),
            Set::Or(sets) => sets.iter().any(|set| set.contains(c)),
        }
    }

    fn others(&self) -> Others {
        match self {
            Set::Items(items) if items.is_ascii() => Others::None,
            Set::Items(items) if items.properties.contains(&Property::Any) => Others::All,
            Set::Items(_) => Others::Some,
            Set::Not(set) => match set.others() {
                Others::None => Others::All,
                Others::All => Others::None,
                Others::Some => Others::Some,
            },
            Set::And(a, b) => match (a.others(), b.others()) {
                (Others::None, _) | (_, Others::None) => Others::None,
                (Others::All, other) | (other, Others::All) => other,
                (Others::Some, Others::Some) => Others::Some,
            },
            Set::Or(sets) => sets
                .iter()
                .fold(Others::None, |all, set| match set.others() {
                    _ if all == Others::All => Others::All,
                    Others::None => all,
                    other => other,
                }),
        }
    }
}

impl Class {
    /// `without` are ASCII characters that are taken out, as the line feed in a pattern for single lines.
    pub(super) fn new(set: Set, without: &[char]) -> Class {
        let mut ascii = 0;
        for c in '\0'..='\x7f' {
            if set.contains(c) && !without.contains(&c) {
                ascii |= 1 << u32::from(c);
            }
        }
        Class {
            ascii,
            others: set.others(),
            set,
        }
    }

    /// A letter in all its cases; `None` if it has one only.
    pub(super) fn cases(c: char) -> Option<Class> {
        let mut items = Items::new(true);
        items.push_range(c, c);
        // ß has no other case of one character, yet ẞ is folded to it.
        if items.ranges.len() == 1 && !c.is_lowercase() && !c.is_uppercase() {
            return None;
        }
        Some(Class::new(Set::Items(items), &[]))
    }

    pub(super) fn contains(&self, c: char) -> bool {
        if c.is_ascii() {
            return self.ascii >> u32::from(c) & 1 == 1;
        }
        match self.others {
            Others::None => false,
            Others::All => true,
            Others::Some => self.set.contains(c),
        }
    }

    /// Bit c for the ASCII character c.
    pub(super) fn ascii(&self) -> u128 {
        self.ascii
    }

    /// Whether a character beyond ASCII may belong to the set.
    pub(super) fn has_others(&self) -> bool {
        self.others != Others::None
    }

    /// All members, if they are few.
    pub(super) fn members(&self, at_most: usize) -> Option<Vec<char>> {
        let ascii = ('\0'..='\x7f').filter(|&c| self.contains(c));
        let mut members: Vec<char> = ascii.take(at_most + 1).collect();
        if self.others != Others::None {
            // Beyond ASCII only the two forms that folded ASCII letters have are known without looking at every character there is.
            let Set::Items(items) = &self.set else {
                return None;
            };
            let plain = items.ranges.iter().all(|(_, last)| last.is_ascii());
            if !plain || !items.properties.is_empty() {
                return None;
            }
            members.extend(['ſ', '\u{212a}'].into_iter().filter(|&c| self.contains(c)));
        }
        (members.len() <= at_most).then_some(members)
    }
}

impl fmt::Debug for Class {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "[{:?}]", self.set)
    }
}

impl fmt::Debug for Set {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Set::Items(items) => {
                if items.folded {
                    f.write_str("(?i)")?;
                }
                for (first, last) in &items.ranges {
                    write!(f, "{}", first.escape_debug())?;
                    if first != last {
                        write!(f, "-{}", last.escape_debug())?;
                    }
                }
                items
                    .properties
                    .iter()
                    .try_for_each(|p| write!(f, "\\p{{{p:?}}}"))
            }
            Set::Not(set) => write!(f, "^[{set:?}]"),
            Set::And(a, b) => write!(f, "[{a:?}]&&[{b:?}]"),
            Set::Or(sets) => sets.iter().try_for_each(|set| write!(f, "[{set:?}]")),
        }
    }
}
