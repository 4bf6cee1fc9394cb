//! Operators, redirections, here-documents, reserved words: from text to simple commands (POSIX.1-2024, XCU 2.3, 2.4, 2.7, 2.9, 2.10).
//!
//! ```text
//! a>x 2>&1|b    word `a`, redirection `>` x, redirection 2>&1, operator `|`, word `b`
//! (a; b) && c   group 0 ends, group 1: a then b, group 2: c joined by `&&`
//! a <<E⏎x⏎E⏎b   the body is taken at the line end, before `b` is read
//! ```
//!
//! The reader keeps no grammar of nesting: it lists what stands in the place of a command, and that is enough, since a text whose
//! parentheses and reserved words do not fit is refused by the shell.
//!
//! Invariant: reading goes on after every doubt: what a stop looks for is found behind a syntax error as well.

use super::{Doubt, Join, MAX_BYTES, Redirect, RedirectKind, Script, Simple, Why, Word, base};
use crate::sort;
use crate::text::{self, Words};
use std::borrow::Cow;
use std::ops::Range;

/// Words that only join commands.
const JOINING: Words = Words("! { } if then elif else fi while until do done");
/// Words that begin something with a grammar of its own.
const COMPOUND: Words = Words("case esac for select function coproc [[ in");

/// Reads a whole text.
pub fn read(text: &str) -> Script {
    let mut end = text.len().min(MAX_BYTES);
    while !text.is_char_boundary(end) {
        end -= 1;
    }
    let mut reader = Reader::new(&text[..end], 0);
    reader.invisible();
    reader.commands(false);
    if end < text.len() {
        reader.doubt(end, Why::TooLong);
    }
    sort::by_key(&mut reader.script.doubts, |doubt| doubt.at);
    reader.script
}

/// A position in a text, and what was read so far.
pub(super) struct Reader<'t> {
    pub(super) text: &'t str,
    pub(super) at: usize,
    pub(super) script: Script,
    /// Substitutions around this text.
    pub(super) level: usize,
    group: usize,
    bodies: Vec<Body>,
}

/// A here-document whose body comes after the line.
struct Body {
    delimiter: String,
    strip_tabs: bool,
    /// The delimiter was not quoted: the body is expanded.
    expands: bool,
    /// The body goes to this command (an index once it is finished) and redirection.
    command: usize,
    redirect: usize,
}

/// The command being read.
#[derive(Default)]
struct Current {
    simple: Simple,
    begun: bool,
}

impl Current {
    /// What stands there belongs to it.
    fn take(&mut self, span: Range<usize>) {
        if !std::mem::replace(&mut self.begun, true) {
            self.simple.span.start = span.start;
        }
        self.simple.span.end = span.end;
    }
}

impl<'t> Reader<'t> {
    pub(super) fn new(text: &'t str, level: usize) -> Reader<'t> {
        Reader {
            text,
            at: 0,
            script: Script::default(),
            level,
            group: 0,
            bodies: Vec::new(),
        }
    }

    pub(super) fn doubt(&mut self, at: usize, why: Why) {
        self.script.doubts.push(Doubt { at, why });
    }

    pub(super) fn peek(&self) -> Option<char> {
        self.text[self.at..].chars().next()
    }

    pub(super) fn bump(&mut self) -> Option<char> {
        let c = self.peek()?;
        self.at += c.len_utf8();
        Some(c)
    }

    /// Passes over `text` if it comes next.
    pub(super) fn eat(&mut self, text: &str) -> bool {
        let found = self.text[self.at..].starts_with(text);
        if found {
            self.at += text.len();
        }
        found
    }

    /// Characters that do not show, anywhere, and blanks of other scripts: shells, locales and people disagree about them.
    fn invisible(&mut self) {
        let odd = self.text.char_indices().find(|&(_, c)| {
            let harmless = matches!(c, '\n' | '\t');
            let control = c.is_control() || c.is_whitespace() && !c.is_ascii();
            let mut one = [0; 4];
            let shows = matches!(text::visible(c.encode_utf8(&mut one)), Cow::Borrowed(_));
            !harmless && (control || !shows)
        });
        if let Some((at, c)) = odd {
            self.doubt(at, Why::Invisible(c));
        }
    }

    /// Commands up to the end of the text or, `inside` a substitution, up to its `)`.
    pub(super) fn commands(&mut self, inside: bool) {
        let at = self.at;
        let outer = std::mem::take(&mut self.bodies);
        self.list(inside);
        if !std::mem::replace(&mut self.bodies, outer).is_empty() {
            self.doubt(at, Why::Unclosed("here-document"));
        }
    }

    fn list(&mut self, inside: bool) {
        let mut current = Current::default();
        let mut open: usize = 0;
        loop {
            self.blanks();
            let at = self.at;
            let Some(c) = self.peek() else { break };
            match c {
                '\n' => {
                    self.bump();
                    self.finish(&mut current, Join::Then);
                    self.here_documents();
                }
                '#' => self.comment(),
                ';' => {
                    self.bump();
                    if self.eat(";") {
                        self.doubt(at, Why::Unexpected(";;"));
                    }
                    self.operator_end();
                    self.finish(&mut current, Join::Then);
                }
                '&' => self.ampersand(&mut current),
                '|' => self.pipe(&mut current),
                '(' => {
                    self.bump();
                    self.parenthesis(at, &mut current);
                    open += 1;
                }
                ')' if inside && open == 0 => {
                    self.bump();
                    self.finish(&mut current, Join::Then);
                    return;
                }
                ')' => {
                    self.bump();
                    match open.checked_sub(1) {
                        Some(less) => open = less,
                        None => self.doubt(at, Why::Unexpected(")")),
                    }
                    self.finish(&mut current, Join::Then);
                    self.group += 1;
                }
                '<' | '>' if !self.text[at + 1..].starts_with('(') => {
                    self.redirection(&mut current, at);
                }
                _ => self.word_of(&mut current),
            }
        }
        self.finish(&mut current, Join::Then);
        if open > 0 || inside {
            self.doubt(self.text.len(), Why::Unclosed("parenthesis"));
        }
        self.here_documents();
    }

    /// Blanks, and line ends that a backslash takes away between words.
    fn blanks(&mut self) {
        while matches!(self.peek(), Some(' ' | '\t')) || self.text[self.at..].starts_with("\\\n") {
            self.at += if self.peek() == Some('\\') { 2 } else { 1 };
        }
    }

    fn comment(&mut self) {
        let rest = &self.text[self.at..];
        self.at += rest.find('\n').unwrap_or(rest.len());
    }

    /// `&`, `|`, `;` and a joined line: some shells see one operator, others two.
    fn operator_end(&mut self) {
        if self.text[self.at..].starts_with("\\\n") {
            let after = self.text[self.at + 2..].trim_start_matches("\\\n");
            if after.starts_with(['&', '|', ';', '>', '<', '(']) {
                self.doubt(self.at, Why::Continued);
            }
        }
    }

    fn ampersand(&mut self, current: &mut Current) {
        let at = self.at;
        if self.eat("&&") {
            self.finish(current, Join::And);
        } else {
            self.bump();
            if self.peek() == Some('>') {
                // bash: both outputs. dash: run in the background, then a redirection of what follows. Read as dash does: a stop
                // sees the words as a command of their own.
                self.doubt(at, Why::NotEverywhere("&>"));
            }
            self.operator_end();
            self.finish(current, Join::Background);
        }
    }

    fn pipe(&mut self, current: &mut Current) {
        let at = self.at;
        let join = if self.eat("||") { Join::Or } else { Join::Pipe };
        if join == Join::Pipe {
            self.bump();
            if self.peek() == Some('&') {
                self.bump();
                self.doubt(at, Why::NotEverywhere("|&"));
            }
            self.operator_end();
        }
        self.finish(current, join);
    }

    /// A subshell, or what only looks like one.
    fn parenthesis(&mut self, at: usize, current: &mut Current) {
        if !current.simple.words.is_empty() {
            self.doubt(at, Why::Function);
        } else if !current.simple.assignments.is_empty() {
            self.doubt(at, Why::Array);
        } else if self.peek() == Some('(') {
            self.doubt(at, Why::NotEverywhere("(("));
        }
        let join = current.simple.join;
        self.finish(current, join);
        self.group += 1;
    }

    fn word_of(&mut self, current: &mut Current) {
        let read = self.word();
        let simple = &mut current.simple;
        let bare =
            simple.words.is_empty() && simple.assignments.is_empty() && simple.redirects.is_empty();
        let redirected = matches!(self.peek(), Some('<' | '>'));
        if redirected && read.raw && read.word.text.bytes().all(|b| b.is_ascii_digit()) {
            if read.word.text.len() > 1 {
                // A word in dash.
                self.doubt(read.word.at, Why::NotEverywhere("10>"));
            }
            return self.redirection(current, read.word.at);
        }
        if redirected && read.word.text.starts_with('{') && read.word.text.ends_with('}') {
            self.doubt(read.word.at, Why::NotEverywhere("{name}>"));
        }
        if bare && read.raw && JOINING.contains(&read.word.text) {
            self.group += 1;
            simple.negated |= read.word.text == "!";
            return;
        }
        if bare && read.raw && COMPOUND.contains(&read.word.text) {
            self.doubt(read.word.at, Why::Compound(read.word.text.clone()));
            match read.word.text.as_str() {
                // What follows stands in the place of a command.
                "coproc" => return,
                "function" => {
                    self.blanks();
                    self.word();
                    return;
                }
                _ => {}
            }
        }
        current.take(read.word.at..self.at);
        let simple = &mut current.simple;
        if simple.words.is_empty() {
            if let Some(equals) = read.equals {
                let name = &read.word.text[..equals];
                let array = !super::is_name(name);
                if !array || name.ends_with(['+', ']']) {
                    if array {
                        self.doubt(read.word.at, Why::Array);
                    }
                    return simple.assignments.push(read.word);
                }
            }
            let name = base(&read.word.text);
            if !name.is_ascii() {
                let why = Why::Foreign(name.to_string());
                self.doubt(read.word.at, why);
            }
        }
        current.simple.words.push(read.word);
    }

    /// `<` or `>` is next; `from` is where the descriptor before it begins.
    fn redirection(&mut self, current: &mut Current, from: usize) {
        let at = self.at;
        let reads = self.peek() == Some('<');
        let plain = match reads {
            true => RedirectKind::Read,
            false => RedirectKind::Write,
        };
        let mut kind = plain;
        self.bump();
        let mut here = None;
        if reads && self.eat("<<") {
            self.doubt(at, Why::NotEverywhere("<<<"));
            kind = RedirectKind::Here;
        } else if reads && self.eat("<") {
            kind = RedirectKind::Here;
            here = Some(self.eat("-"));
        } else if reads && self.eat(">") {
            kind = RedirectKind::ReadWrite;
        } else if self.eat("&") {
            kind = RedirectKind::Duplicate;
        } else if !reads && !self.eat(">") {
            self.eat("|");
        }
        self.blanks();
        let next = self.peek();
        if next.is_none_or(|c| matches!(c, '\n' | ';' | '&' | '|' | '(' | ')' | '<' | '>' | '#')) {
            self.doubt(at, Why::NoTarget);
            return;
        }
        let read = self.word();
        let descriptor = read.word.text.trim_end_matches('-');
        let is_descriptor = read.raw
            && read.word.text.len() - descriptor.len() <= 1
            && !read.word.text.is_empty()
            && descriptor.bytes().all(|b| b.is_ascii_digit());
        if kind == RedirectKind::Duplicate && !is_descriptor {
            self.doubt(at, Why::NotEverywhere(if reads { "<&" } else { ">&" }));
            kind = plain;
        }
        current.take(from..self.at);
        let simple = &mut current.simple;
        if let Some(strip_tabs) = here {
            self.bodies.push(Body {
                delimiter: read.word.text.clone(),
                strip_tabs,
                expands: !read.quoted,
                // Substitutions inside the words of this command come before it; its own place is known at its end.
                command: usize::MAX,
                redirect: simple.redirects.len(),
            });
        }
        simple.redirects.push(Redirect {
            kind,
            target: read.word,
        });
    }

    /// The command ends; the next one stands behind `join`.
    fn finish(&mut self, current: &mut Current, join: Join) {
        if !current.begun {
            // A line may end behind `&&`, `||` and `|`.
            let open = matches!(current.simple.join, Join::And | Join::Or | Join::Pipe);
            if !(open && join == Join::Then) {
                current.simple.join = join;
            }
            return;
        }
        let index = self.script.commands.len();
        let pending = self.bodies.iter_mut().rev();
        for body in pending.take_while(|body| body.command == usize::MAX) {
            body.command = index;
        }
        let mut simple = std::mem::take(&mut current.simple);
        current.begun = false;
        current.simple.join = join;
        simple.group = self.group;
        simple.level = self.level;
        self.script.commands.push(simple);
    }

    /// The bodies of the here-documents of the line that just ended.
    fn here_documents(&mut self) {
        for body in std::mem::take(&mut self.bodies) {
            let begin = self.at;
            let mut text = String::new();
            let mut closed = false;
            while self.at < self.text.len() && !closed {
                let rest = &self.text[self.at..];
                let line = rest.split('\n').next().unwrap_or("");
                self.at += (line.len() + 1).min(rest.len());
                let line = if body.strip_tabs {
                    line.trim_start_matches('\t')
                } else {
                    line
                };
                closed = line == body.delimiter;
                if body.expands && line.ends_with('\\') {
                    // Joined with the next line, which then ends nothing.
                    self.doubt(begin, Why::Continued);
                }
                if !closed {
                    text.push_str(line);
                    text.push('\n');
                }
            }
            if !closed {
                self.doubt(begin, Why::Unclosed("here-document"));
            }
            if body.expands {
                self.expansions_of(&text, begin);
            }
            let command = self.script.commands.get_mut(body.command);
            if let Some(redirect) = command.and_then(|c| c.redirects.get_mut(body.redirect)) {
                redirect.target = Word {
                    at: begin,
                    ..Word::literal(&text)
                };
            }
        }
    }
}
