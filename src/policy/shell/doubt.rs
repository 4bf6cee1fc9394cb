//! Why a text is not understood: one value for each cause, each made at one place of the reader. Shown by questions and by
//! `zcoder policy check`.
//!
//! ```text
//! echo $(id)     byte 5: `$(…)` runs a command of its own
//! ls $X          byte 3: the words that `$X` stands for are not known
//! echo 'a        byte 5: the quote `'` is not closed
//! ```
//!
//! Invariant: a doubt names its byte, counted from 0.

use crate::text::counted;
use std::fmt;

/// One reason to ask.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Doubt {
    /// The byte where it begins.
    pub at: usize,
    /// What it is.
    pub why: Why,
}

/// What is not understood.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Why {
    /// `$(…)`
    Substitution,
    /// A command between backquotes.
    Backquotes,
    /// `<(…)` or `>(…)`
    ProcessSubstitution,
    /// `$((…))`, `$[…]`: may assign, and run commands by its subscripts.
    Arithmetic,
    /// A variable, named.
    Variable(String),
    /// `${…}` with more than a name.
    Parameter,
    /// `$'…'` or `$"…"`
    DollarQuote,
    /// `{a,b}`
    Braces,
    /// A word that begins a command with a grammar of its own.
    Compound(String),
    /// `name() …`
    Function,
    /// `name=(…)`, `name[…]=…`, `name+=…`
    Array,
    /// An operator that shells read differently.
    NotEverywhere(&'static str),
    /// An operator or reserved word where none can stand.
    Unexpected(&'static str),
    /// A quote, a parenthesis or a here-document that does not end.
    Unclosed(&'static str),
    /// A redirection without its file.
    NoTarget,
    /// A backslash and a line end within a word or an operator.
    Continued,
    /// A character that does not show, a blank of another script, a control.
    Invisible(char),
    /// Letters that look like others in a command's name.
    Foreign(String),
    /// Too many substitutions within each other.
    TooDeep,
    /// More text than is read.
    TooLong,
}

impl Why {
    /// Whether what follows may be read as other commands than those listed; otherwise only the value of a word is in doubt.
    pub fn is_structural(&self) -> bool {
        match self {
            Why::Compound(_)
            | Why::Function
            | Why::Array
            | Why::NotEverywhere(_)
            | Why::Unexpected(_)
            | Why::Unclosed(_)
            | Why::NoTarget
            | Why::Continued
            | Why::Invisible(_)
            | Why::TooDeep
            | Why::TooLong => true,
            Why::Substitution
            | Why::Backquotes
            | Why::ProcessSubstitution
            | Why::Arithmetic
            | Why::Variable(_)
            | Why::Parameter
            | Why::DollarQuote
            | Why::Braces
            | Why::Foreign(_) => false,
        }
    }
}

impl fmt::Display for Why {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Why::Substitution => f.write_str("`$(…)` runs a command of its own"),
            Why::Backquotes => f.write_str("backquotes run a command of their own"),
            Why::ProcessSubstitution => f.write_str("`<(…)` and `>(…)` run a command of their own"),
            Why::Arithmetic => f.write_str("arithmetic may assign variables and run commands"),
            Why::Variable(name) => write!(f, "the words that `${name}` stands for are not known"),
            Why::Parameter => f.write_str("`${…}` with more than a name may stand for anything"),
            Why::DollarQuote => f.write_str("`$'…'` and `$\"…\"` are not the same in every shell"),
            Why::Braces => f.write_str("`{…}` stands for several words in some shells"),
            Why::Compound(word) => {
                write!(f, "`{word}` begins a command with a grammar of its own")
            }
            Why::Function => f.write_str("a function is defined, or `(` follows a word"),
            Why::Array => f.write_str("an assignment that not every shell has"),
            Why::NotEverywhere(operator) => {
                write!(f, "`{operator}` is not the same in every shell")
            }
            Why::Unexpected(what) => write!(f, "`{what}` cannot stand here"),
            Why::Unclosed(what) => write!(f, "the {what} is not closed"),
            Why::NoTarget => f.write_str("a redirection without a file"),
            Why::Continued => f.write_str("a line that goes on within a word or an operator"),
            Why::Invisible(c) => {
                write!(f, "the character \\u{{{:x}}} does not show", u32::from(*c))
            }
            Why::Foreign(name) => {
                write!(
                    f,
                    "the command's name `{name}` has letters that look like others"
                )
            }
            Why::TooDeep => write!(
                f,
                "more than {} substitutions within each other",
                super::MAX_NESTING
            ),
            Why::TooLong => {
                let limit = counted(super::MAX_BYTES as u64, "byte");
                write!(f, "the text is longer than {limit}")
            }
        }
    }
}

/// `byte 5: …`
impl fmt::Display for Doubt {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "byte {}: {}", self.at, self.why)
    }
}
