//! A shell command, split as a POSIX shell would split it. In: the text that `sh -c` would get. Out: a [`Script`]: the simple commands in
//! it, wherever they stand, and every reason to doubt that this is what a shell would run. `judge` decides on it, `stops` and `notes`
//! look through it.
//!
//! ```text
//! cd src && grep -n 'a b' *.c 2>&1 | head -5; echo $?
//!   [cd] [src]   && [grep] [-n] [a b] [*.c] 2>&1   | [head] [-5]   ; [echo] [$?]           no doubts: understood
//! cat <<'E'⏎$(rm x)⏎E⏎                     [cat] with a here-document; its body is text
//! cat <<E⏎$(rm x)⏎E⏎                       [cat], [rm] [x], doubt at byte 8: `$(…)` runs a command of its own
//! ls $X                                    [ls] [$X], doubt at byte 3: the words that `$X` stands for are not known
//! for f in *; do rm $f; done               [for] [f] [in] [*], [rm] [$f], doubts at byte 0 and 20
//! ls &>/dev/null rm x                      doubt at byte 3: `&>` is one thing in bash and another in dash
//! ```
//!
//! Reserved words that only join commands (`if then elif else fi while until do done { } !`) are understood and skipped: each command
//! between them is listed, and one of them at a wrong place only makes the shell refuse. What has a grammar of its own (`case`, `for`,
//! functions, `[[`, `((`), what shells read differently and what only running can tell (values, substitutions) is doubted.
//!
//! Not refused but doubted beyond: [`MAX_BYTES`] of text (the rest is not read), [`MAX_NESTING`] of substitutions.
//!
//! Invariant: reading never fails and never panics; a text without doubts is read as every POSIX shell reads it.
//! Invariant: without doubts, each command that the shell could start is in `commands`, with these words (globs, `~` and the few
//! variables of `known` as they stand). `tests/policy/shells.rs` compares with the shells of the machine.
//! Invariant: time and memory are linear in the text, whatever it holds; recursion goes at most [`MAX_NESTING`] deep.
//!
//! Read next: `read.rs` (operators and commands), `word.rs` (quotes and expansions), `doubt.rs`.

mod doubt;
mod read;
mod word;

pub use doubt::{Doubt, Why};
pub use read::read;

use std::ops::Range;

/// More is no command that anybody reads before saying yes.
pub const MAX_BYTES: usize = 64 << 10;
/// Substitutions within substitutions.
pub const MAX_NESTING: usize = 16;

/// What was read.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Script {
    /// In the order in which they end; those of a substitution come before the command it belongs to.
    pub commands: Vec<Simple>,
    /// In the order of the text. Empty: understood.
    pub doubts: Vec<Doubt>,
}

/// A command name with its arguments, or redirections or assignments alone.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Simple {
    /// Where it stands in the text, from its first to its last byte. Empty inside backquotes and the like, where the text was unquoted
    /// before it was read.
    pub span: Range<usize>,
    /// `NAME=value` before the command.
    pub assignments: Vec<Word>,
    /// The command name and its arguments.
    pub words: Vec<Word>,
    /// Where its descriptors lead.
    pub redirects: Vec<Redirect>,
    /// What stands before it.
    pub join: Join,
    /// It stands behind `!`: what follows `&&` runs when it failed.
    pub negated: bool,
    /// Commands with equal numbers stand next to each other with nothing but operators between.
    pub group: usize,
    /// Inside how many substitutions.
    pub level: usize,
}

/// One word, quotes taken off.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Word {
    /// Its characters; expansions as they stand.
    pub text: String,
    /// Its first byte in the text.
    pub at: usize,
    /// Behind its last byte.
    pub end: usize,
    /// It holds something whose value is not known here: what the program gets may be any words.
    pub unknown: bool,
    /// It begins with `~`, or holds `$HOME`, or `~` after `=` or `:`.
    pub home: bool,
    /// It holds a variable whose value is known in kind, but not here.
    pub variable: bool,
    /// It holds a pattern that may stand for names of files.
    pub glob: Option<Glob>,
}

/// Where the first unquoted `*`, `?` or `[` stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Glob {
    /// First in the word: a file's name may turn it into an option.
    Leading,
    /// Behind so many bytes of `text`.
    After(usize),
}

impl Word {
    /// The program gets exactly `text`.
    pub fn is_literal(&self) -> bool {
        !self.unknown && !self.home && !self.variable && self.glob.is_none()
    }

    /// A word of a text that was taken apart already.
    pub(super) fn literal(text: &str) -> Word {
        Word {
            text: text.to_string(),
            ..Word::default()
        }
    }
}

/// A redirection.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Redirect {
    /// What it does.
    pub kind: RedirectKind,
    /// The file, the descriptor, or the body of the here-document.
    pub target: Word,
}

/// What a redirection does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RedirectKind {
    /// `<`
    Read,
    /// `>`, `>>`, `>|`, and `&>` where it is one
    Write,
    /// `<>`
    ReadWrite,
    /// `>&2`, `<&0`, `>&-`: another descriptor, no file
    Duplicate,
    /// `<<` and `<<-`: text of the command itself; and `<<<`
    Here,
}

/// What stands before a command.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Join {
    /// Nothing.
    #[default]
    Start,
    /// `;`, a line end, or a reserved word.
    Then,
    /// `&`: what came before runs on.
    Background,
    /// `&&`
    And,
    /// `||`
    Or,
    /// `|`
    Pipe,
}

/// The variables whose value, in double quotes, may be taken for granted: set by the login, not by a command's text.
pub(super) fn known(name: &str) -> bool {
    matches!(name, "HOME" | "PWD" | "USER" | "LOGNAME")
}

/// Letters, digits and `_`, not beginning with a digit.
pub(super) fn is_name(text: &str) -> bool {
    let first = text.bytes().next();
    first.is_some_and(|b| b.is_ascii_alphabetic() || b == b'_')
        && text.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'_')
}

/// The command's name without its folder: `/bin/rm` → `rm`.
pub(super) fn base(word: &str) -> &str {
    word.rsplit('/').next().unwrap_or(word)
}
