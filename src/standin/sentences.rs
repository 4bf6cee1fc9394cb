//! What the stand-in understands: a user message in, a plan of steps out. Pure; `walk.rs` carries the plan out.
//!
//! ```text
//! Read README.md, then replace 'a' with 'b' in src/x.rs and run sh test.sh.
//!      └ Read              └ Replace                       └ Run
//! ```
//!
//! Words are cut at blanks; `'…'`, `"…"` and backquotes keep one together. A clause ends at `.`, `;`, `!`, `?` or a line's end (where a blank or nothing
//! follows, so that `test.sh` stays whole) and at `,`, `and`, `then` if a verb we know follows: `with salt and pepper` is not cut.
//! The first verb of a clause decides; polite words before it are skipped. Everything else becomes [`Step::Unknown`] and is answered kindly.
//!
//! `The test fails. Find out why, fix it, and run the test again.` is one step, [`Step::Mend`].
//!
//! Refused: nothing. Limits: the first [`MAX_BYTES`] of a message and the first [`MAX_STEPS`] steps count.
//!
//! Invariant: the plan depends on the message alone.

use crate::text::Words;

/// A message is read this far.
pub const MAX_BYTES: usize = 8 << 10;

/// Steps beyond these are dropped.
pub const MAX_STEPS: usize = 24;

/// The command that "the test" means.
pub const TEST: &str = "sh test.sh";

/// One thing to do.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Step {
    /// List a folder, or the workspace.
    List {
        /// Where; the workspace if not said.
        folder: Option<String>,
    },
    /// Read a file.
    Read {
        /// Which.
        path: String,
    },
    /// Look for text.
    Find {
        /// What.
        pattern: String,
        /// Where; the workspace if not said.
        folder: Option<String>,
    },
    /// Replace text in a file.
    Replace {
        /// What stands there.
        old: String,
        /// What shall stand there.
        new: String,
        /// Where.
        path: String,
    },
    /// Run a command.
    Run {
        /// The command.
        command: String,
    },
    /// Write a file.
    Create {
        /// Which.
        path: String,
        /// Its text, ending in a line feed if it is not empty.
        content: String,
    },
    /// Tell what happened in the turn before.
    Explain,
    /// Find out why the test fails, fix it, run the test again.
    Mend,
    /// Not understood; the words as they stand in the message.
    Unknown {
        /// The clause.
        text: String,
    },
}

/// The sentences, for the kind answer and for `--list`.
pub const EXAMPLES: &[&str] = &[
    "list files in src",
    "read README.md",
    "find 'TODO' in src",
    "replace 'old text' with 'new text' in src/main.rs",
    "run sh test.sh",
    "create notes.txt with 'remember the milk'",
    "explain what just happened",
    "the test fails, find out why and fix it",
];

/// The plan in a message.
pub fn plan(message: &str) -> Vec<Step> {
    let mut end = message.len().min(MAX_BYTES);
    while !message.is_char_boundary(end) {
        end -= 1;
    }
    let source = &message[..end];
    let tokens = tokens(source);
    let mut steps = Vec::new();
    for clause in clauses(&tokens) {
        steps_of(source, clause, &mut steps);
        steps.truncate(MAX_STEPS);
    }
    steps
}

// ---- words ----

/// A word or a mark between clauses, and where it stands in the message.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Token<'a> {
    /// Without its quotes.
    text: &'a str,
    kind: Kind,
    start: usize,
    end: usize,
}

#[derive(Clone, Copy, Debug, PartialEq)]
enum Kind {
    Word,
    Quoted,
    /// `,`
    Comma,
    /// `.`, `;`, `!`, `?`, a line's end
    Stop,
}

impl Token<'_> {
    fn is(&self, words: &'static str) -> bool {
        let is = |word: &str| self.text.eq_ignore_ascii_case(word);
        self.kind == Kind::Word && Words(words).iter().any(is)
    }
}

fn token(text: &str, kind: Kind, start: usize, end: usize) -> Token<'_> {
    Token {
        text,
        kind,
        start,
        end,
    }
}

fn tokens(source: &str) -> Vec<Token<'_>> {
    let mut out = Vec::new();
    let mut at = 0;
    while let Some(first) = source[at..].chars().next() {
        if first == '\n' {
            let end = at + 1;
            out.push(token("", Kind::Stop, at, end));
            at = end;
        } else if first.is_whitespace() {
            at += first.len_utf8();
        } else if let Some((text, end)) = quoted(source, at, first) {
            out.push(token(text, Kind::Quoted, at, end));
            at = end;
        } else {
            let blank = source[at..].find(char::is_whitespace);
            let end = blank.map_or(source.len(), |blank| at + blank);
            word(source, at, end, &mut out);
            at = end;
        }
    }
    out
}

/// The inside of quotes that open at `at`, and the end of the token. `it's` opens none (a quote opens a word), and one that is not
/// closed before a blank, a mark or the end is an ordinary character.
fn quoted(source: &str, at: usize, first: char) -> Option<(&str, usize)> {
    let close = match first {
        '\'' | '"' | '`' => first,
        '\u{201c}' => '\u{201d}',
        '\u{2018}' => '\u{2019}',
        _ => return None,
    };
    let inside = at + first.len_utf8();
    for (offset, _) in source[inside..].match_indices(close) {
        let end = inside + offset + close.len_utf8();
        let next = source[end..].chars().next();
        if next.is_none_or(|next| next.is_whitespace() || ".,;!?)".contains(next)) {
            return Some((&source[inside..inside + offset], end));
        }
    }
    None
}

/// One run of non-blanks: the word, then the marks at its end. `.` and `..` between blanks are folders.
fn word<'a>(source: &'a str, start: usize, end: usize, out: &mut Vec<Token<'a>>) {
    let run = &source[start..end];
    let text = match run {
        "." | ".." if out.last().is_none_or(|before| before.end < start) => run,
        _ => run.trim_end_matches([',', '.', ';', '!', '?', ':']),
    };
    let middle = start + text.len();
    if !text.is_empty() {
        out.push(token(text, Kind::Word, start, middle));
    }
    for (offset, mark) in source[middle..end].char_indices() {
        let start = middle + offset;
        out.push(token(
            "",
            if mark == ',' { Kind::Comma } else { Kind::Stop },
            start,
            start + 1,
        ));
    }
}

// ---- clauses ----

/// Words that may stand before a verb and mean nothing to us.
const POLITE: &str = "please now then also and finally first next can could would will you just to i want \
    let's us me";

/// Words that begin a step.
const VERBS: &str = "list ls show read open cat look find search grep replace change run execute create \
    write make explain summarize describe fix mend repair delete remove rename move copy commit install";

/// Tokens between two ends of a clause, without polite words in front.
fn clauses<'t, 'a>(tokens: &'t [Token<'a>]) -> Vec<&'t [Token<'a>]> {
    let mut out = Vec::new();
    let mut start = 0;
    for at in 0..=tokens.len() {
        let Some(token) = tokens.get(at) else {
            push_clause(&tokens[start..], &mut out);
            break;
        };
        let joins = token.kind == Kind::Comma || token.is("and then");
        if token.kind == Kind::Stop || (joins && begins_step(&tokens[at..])) {
            push_clause(&tokens[start..at], &mut out);
            start = at + 1;
        }
    }
    out
}

/// Whether a verb follows the joining words at the front.
fn begins_step(tokens: &[Token<'_>]) -> bool {
    let joining = |token: &&Token<'_>| token.kind == Kind::Comma || token.is(POLITE);
    let next = tokens.iter().find(|token| !joining(token));
    next.is_some_and(|token| token.is(VERBS))
}

fn push_clause<'t, 'a>(clause: &'t [Token<'a>], out: &mut Vec<&'t [Token<'a>]>) {
    let skipped = |token: &Token<'_>| token.kind == Kind::Comma || token.is(POLITE);
    let first = clause.iter().position(|token| !skipped(token));
    let last = clause.iter().rposition(|token| !skipped(token));
    if let (Some(first), Some(last)) = (first, last) {
        out.push(&clause[first..=last]);
    }
}

// ---- steps ----

fn steps_of(source: &str, clause: &[Token<'_>], steps: &mut Vec<Step>) {
    let Some((verb, rest)) = clause.split_first() else {
        return;
    };
    let text = &source[verb.start..clause[clause.len() - 1].end];
    let unknown = || Step::Unknown {
        text: text.to_string(),
    };
    let before = steps.len();
    if is_mend(clause) {
        if !steps.contains(&Step::Mend) {
            steps.push(Step::Mend);
        }
        return;
    }
    if verb.is("list ls") || (verb.is("show") && is_files(rest)) {
        steps.push(Step::List {
            folder: folder(rest),
        });
    } else if verb.is("read open cat show look") {
        let names = rest.iter().filter(|token| is_path(token));
        steps.extend(names.map(|token| Step::Read {
            path: token.text.to_string(),
        }));
    } else if verb.is("find search grep") {
        let (what, place) = split_at_word(rest, "in");
        let what = skip(what, "for the text word all");
        if let Some(pattern) = span(source, what) {
            steps.push(Step::Find {
                pattern,
                folder: place.and_then(folder),
            });
        }
    } else if verb.is("replace change") {
        steps.extend(replace(source, rest));
    } else if verb.is("run execute") {
        steps.extend(run(source, rest, steps));
    } else if verb.is("create write make") {
        steps.extend(create(source, rest));
    } else if verb.is("explain summarize describe") || is_what_happened(clause) {
        steps.push(Step::Explain);
    }
    // "Run the test again" after a mend is part of it and adds nothing.
    let absorbed = verb.is("run execute") && steps.contains(&Step::Mend) && is_test(rest);
    if steps.len() == before && !absorbed {
        steps.push(unknown());
    }
}

/// `The test fails`, `find out why`, `fix it`.
fn is_mend(clause: &[Token<'_>]) -> bool {
    let has = |words: &'static str| clause.iter().any(|token| token.is(words));
    let verb = &clause[0];
    let fails = has("test tests test.sh") && has("fail fails failed failing broken red");
    fails && !verb.is("explain run create write")
        || verb.is("fix mend repair")
        || verb.is("find") && has("why")
}

fn is_what_happened(clause: &[Token<'_>]) -> bool {
    let has = |words: &'static str| clause.iter().any(|token| token.is(words));
    clause[0].is("what") && has("happened did done")
}

fn is_files(rest: &[Token<'_>]) -> bool {
    rest.iter().any(|token| token.is("files folder folders"))
}

/// `the test`, `the tests again`, `it again`, `sh test.sh`.
fn is_test(rest: &[Token<'_>]) -> bool {
    let words = skip(rest, "the it sh that");
    words
        .iter()
        .all(|token| token.is("test tests test.sh again once more"))
}

/// The folder in `files in src`, `src`, `the files of src/`.
fn folder(rest: &[Token<'_>]) -> Option<String> {
    let filler = "all the files file folder folders in of under directory here this workspace \
        project";
    let name = rest
        .iter()
        .find(|token| token.kind == Kind::Quoted || !token.is(filler));
    let name = name.filter(|token| token.kind != Kind::Comma)?;
    Some(name.text.to_string())
}

/// A quoted word, or one that looks like a file's name.
fn is_path(token: &Token<'_>) -> bool {
    let named = token.text.contains(['.', '/']) || token.text.starts_with(char::is_uppercase);
    token.kind == Kind::Quoted || (token.kind == Kind::Word && named)
}

/// `A with B in PATH`, `A by B in PATH`, `A to B in PATH`.
fn replace(source: &str, rest: &[Token<'_>]) -> Option<Step> {
    let (old, rest) = split_at_word(rest, "with by to");
    let rest = rest?;
    // The last `in` names the file; one inside an unquoted text does not.
    let at = rest.iter().rposition(|token| token.is("in"))?;
    let path = rest.get(at + 1)?;
    Some(Step::Replace {
        old: span(source, old)?,
        new: span(source, &rest[..at])?,
        path: path.text.to_string(),
    })
}

/// The rest of the clause as it stands; `the test` is [`TEST`].
fn run(source: &str, rest: &[Token<'_>], steps: &[Step]) -> Option<Step> {
    if is_test(rest) {
        let mends = steps.contains(&Step::Mend);
        let command = TEST.to_string();
        return (!mends).then_some(Step::Run { command });
    }
    let mut command = rest;
    while let [start @ .., last] = command {
        match last.is("again") {
            true => command = start,
            false => break,
        }
    }
    span(source, command).map(|command| Step::Run { command })
}

/// `PATH with TEXT`, `a file PATH with TEXT`, `TEXT to PATH`.
fn create(source: &str, rest: &[Token<'_>]) -> Option<Step> {
    let rest = skip(rest, "a an the new empty file called named");
    let (name, text) = split_at_word(rest, "with containing saying");
    let (name, text) = match (name, text) {
        ([path, ..], Some(text)) => (path, skip(text, "the text content")),
        ([path], None) => (path, &rest[..0]),
        _ => {
            let at = rest.iter().rposition(|token| token.is("to into in"))?;
            (rest.get(at + 1)?, &rest[..at])
        }
    };
    if !is_path(name) {
        return None;
    }
    let mut content = span(source, text).unwrap_or_default();
    if !content.is_empty() && !content.ends_with('\n') {
        content.push('\n');
    }
    Some(Step::Create {
        path: name.text.to_string(),
        content,
    })
}

fn skip<'t, 'a>(tokens: &'t [Token<'a>], words: &'static str) -> &'t [Token<'a>] {
    let first = tokens.iter().position(|token| !token.is(words));
    &tokens[first.unwrap_or(tokens.len())..]
}

/// Before and after the first of these words.
fn split_at_word<'t, 'a>(
    tokens: &'t [Token<'a>],
    words: &'static str,
) -> (&'t [Token<'a>], Option<&'t [Token<'a>]>) {
    match tokens.iter().position(|token| token.is(words)) {
        Some(at) => (&tokens[..at], Some(&tokens[at + 1..])),
        None => (tokens, None),
    }
}

/// One quoted token's inside, or the message's own text from the first token to the last.
fn span(source: &str, tokens: &[Token<'_>]) -> Option<String> {
    match tokens {
        [] => None,
        [one] => Some(one.text.to_string()),
        [first, .., last] => Some(source[first.start..last.end].to_string()),
    }
}
