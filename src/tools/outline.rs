//! The outline of a file that is too large to be read whole: lines that begin a function, a type, a section. In: the name of the file and its
//! bytes, cut anywhere. Out: at most [`LINES`] lines with their numbers, spread over the file, for the refusal of `read_file`.
//!
//! ```text
//! src/engine/turn.rs                          kernel/fork.c
//! 41: pub(super) struct Turn {                164: static inline struct task_struct *alloc_task_struct_node(int node)
//! 88: impl Engine {                           980: void __init fork_init(void)
//! 92:     pub(super) fn turn(                 …
//! ```
//!
//! The language is told by the name alone, its lines by their first words: no parser, so a line in a comment or a string may be taken
//! for one. Lines without indentation come first; if there is room, others fill it. Of too many every second one is dropped, until
//! they fit.
//!
//! Limits: 40 lines of 100 characters; of each line of the file the first 400 bytes are looked at.
//!
//! Invariant: cuts in the input change nothing. Invariant: memory does not depend on the file.

use super::shown;
use crate::sort;
use crate::sys::simd;
use crate::text::{self, Words};

/// Lines of an outline.
pub(super) const LINES: usize = 40;
const LINE_CHARS: usize = 100;
const LINE_BYTES: usize = 400;

/// How a language is read.
#[derive(Clone, Copy, Debug)]
enum Reader {
    /// One of the words begins the line, perhaps behind some of the others.
    Words { before: Words, words: Words },
    /// The same, or a method: behind a word that may stand before, there are parentheses and no semicolon at the end.
    Members { before: Words, words: Words },
    /// C and what came of it: definitions begin at the left margin.
    Margin,
    /// `name() {`
    Shell,
    /// `# Title`
    Markdown,
    /// `[section]`
    Sections,
    /// `name:` at the left margin.
    Keys,
    /// `selector {` at the left margin.
    Braces,
}

const fn words(before: &'static str, words: &'static str) -> Reader {
    Reader::Words {
        before: Words(before),
        words: Words(words),
    }
}

const fn members(before: &'static str, words: &'static str) -> Reader {
    Reader::Members {
        before: Words(before),
        words: Words(words),
    }
}

/// By the ending of a file's name, or its name if it has none.
const READERS: &[(Words, Reader)] = &[
    (
        Words("rs"),
        words(
            "pub async unsafe default extern \"C\" const",
            "fn struct enum union trait impl impl< mod type static macro_rules!",
        ),
    ),
    (Words("py pyi pyx"), words("async", "def class")),
    (Words("go"), words("", "func type")),
    (
        Words("rb rake"),
        words("private protected", "def class module"),
    ),
    (
        Words("ex exs"),
        words("", "def defp defmodule defmacro defprotocol defimpl"),
    ),
    (Words("lua"), words("local", "function")),
    (Words("pl pm"), words("", "sub package")),
    (Words("zig"), words("pub export inline", "fn")),
    (Words("sql"), words("", "create CREATE alter ALTER")),
    (
        Words("tex"),
        words("", "\\part{ \\chapter{ \\section{ \\subsection{"),
    ),
    (
        Words("js jsx mjs cjs ts tsx mts cts vue svelte"),
        members(
            "export default declare abstract async public private protected static readonly override",
            "function function* class interface enum namespace type",
        ),
    ),
    (
        Words("java kt kts cs scala swift dart php groovy"),
        members(
            "public private protected internal static final abstract sealed open override suspend inline data virtual async partial case \
             fileprivate mutating",
            "class interface enum record struct trait object protocol extension fun func function def namespace package actor",
        ),
    ),
    (
        Words("c h cc cpp cxx hh hpp hxx m mm cu cuh ino"),
        Reader::Margin,
    ),
    (Words("sh bash zsh ksh"), Reader::Shell),
    (Words("md markdown"), Reader::Markdown),
    (Words("ini cfg conf toml"), Reader::Sections),
    (Words("yaml yml mk makefile"), Reader::Keys),
    (Words("css scss less"), Reader::Braces),
];

/// What stands at the left margin of C and begins a type, or a statement.
const TYPES: Words =
    Words("struct class union enum namespace template @interface @implementation @protocol");
const STATEMENTS: Words = Words("if for while switch return else do goto case default extern");

fn reader(name: &str) -> Option<Reader> {
    let file = name.rsplit('/').next().unwrap_or(name);
    let ending = file.rsplit_once('.').map_or(file, |(_, ending)| ending);
    let ending = ending.to_ascii_lowercase();
    let row = READERS.iter().find(|row| row.0.contains(&ending));
    row.map(|row| row.1)
}

impl Reader {
    /// Whether a line belongs into the outline; it has no line end.
    fn wants(self, line: &str) -> bool {
        let trimmed = line.trim_start();
        let at_margin = trimmed.len() == line.len() && !line.is_empty();
        match self {
            Reader::Words { before, words } => begins(trimmed, before, words).1,
            Reader::Members { before, words } => {
                let (some_before, word) = begins(trimmed, before, words);
                let is_method = some_before && trimmed.contains('(') && !trimmed.ends_with(';');
                word || is_method
            }
            Reader::Margin => at_margin && is_definition(line),
            Reader::Shell => {
                let name = trimmed.strip_prefix("function ").unwrap_or(trimmed);
                let end = name.find(|c: char| !c.is_alphanumeric() && !"_-:.".contains(c));
                let (name, rest) = name.split_at(end.unwrap_or(name.len()));
                !name.is_empty()
                    && (rest.starts_with("()") || name.len() + rest.len() < trimmed.len())
            }
            Reader::Markdown => {
                let title = line.trim_start_matches('#');
                (1..=6).contains(&(line.len() - title.len())) && title.starts_with(' ')
            }
            Reader::Sections => at_margin && line.starts_with('['),
            Reader::Keys => {
                let name = |c: char| c.is_alphanumeric() || "_-./%$(){}\"' ".contains(c);
                at_margin
                    && !line.starts_with(['#', '-', ' '])
                    && line
                        .split_once(':')
                        .is_some_and(|(key, rest)| key.chars().all(name) && !rest.starts_with('='))
            }
            Reader::Braces => at_margin && line.trim_end().ends_with('{'),
        }
    }

    /// Whether it is one of the lines that come first.
    fn is_top(self, line: &str) -> bool {
        match self {
            Reader::Markdown => !line.starts_with("###"),
            Reader::Words { .. }
            | Reader::Members { .. }
            | Reader::Margin
            | Reader::Shell
            | Reader::Sections
            | Reader::Keys
            | Reader::Braces => !line.starts_with([' ', '\t']),
        }
    }
}

/// Whether the line begins with words that may stand before, and whether one of the words follows.
fn begins(line: &str, before: Words, words: Words) -> (bool, bool) {
    let (mut rest, mut some_before) = (line, false);
    loop {
        let end = rest.find([' ', '\t', '(', ':', ';']).unwrap_or(rest.len());
        let (word, after) = rest.split_at(end);
        let starts = |w: &str| w == word || (w.ends_with(['{', '<', '!']) && rest.starts_with(w));
        if words.iter().any(starts) {
            return (some_before, true);
        }
        if !before.contains(word) {
            return (some_before, false);
        }
        some_before = true;
        // `pub(crate)`
        let after = match (word, after.strip_prefix('(')) {
            ("pub", Some(inner)) => inner.split_once(')').map_or("", |(_, after)| after),
            (_, _) => after,
        };
        rest = after.trim_start();
        if rest.is_empty() {
            return (some_before, false);
        }
    }
}

/// A function's head, or a type: at the margin, no statement, no declaration, no label.
fn is_definition(line: &str) -> bool {
    let line = line.trim_end();
    let first = line
        .split([' ', '\t', '(', ':', '{', ';'])
        .next()
        .unwrap_or_default();
    let is_name = first.starts_with(|c: char| c.is_alphabetic() || c == '_');
    if line.ends_with(';') || STATEMENTS.contains(first) {
        return false;
    }
    if TYPES.contains(first) || (first == "typedef" && line.ends_with('{')) {
        return true;
    }
    is_name && line.contains('(') && !line.ends_with('\\')
}

/// The decoder.
#[derive(Debug)]
pub(super) struct Outline {
    reader: Option<Reader>,
    /// The number of the line that is coming in, and its first bytes.
    number: u64,
    line: Vec<u8>,
    top: Spread,
    others: Spread,
}

impl Outline {
    /// For a file of this name.
    pub(super) fn new(name: &str) -> Outline {
        Outline {
            reader: reader(name),
            number: 1,
            line: Vec::new(),
            top: Spread::default(),
            others: Spread::default(),
        }
    }

    /// The next bytes of the file.
    pub(super) fn feed(&mut self, bytes: &[u8]) {
        if self.reader.is_none() {
            return;
        }
        let mut at = 0;
        while at < bytes.len() {
            let end = simd::find_byte(bytes, b'\n', at);
            let room = LINE_BYTES.saturating_sub(self.line.len());
            self.line.extend_from_slice(&bytes[at..end.min(at + room)]);
            if end < bytes.len() {
                self.end_line();
            }
            at = end + 1;
        }
    }

    fn end_line(&mut self) {
        let Some(reader) = self.reader else {
            return;
        };
        let line = text::repair(&self.line);
        let line = line.trim_end();
        if reader.wants(line) {
            let spread = match reader.is_top(line) {
                true => &mut self.top,
                false => &mut self.others,
            };
            spread.add(self.number, line);
        }
        self.line.clear();
        self.number += 1;
    }

    /// The lines, `number: text`, each with a line end, and how many there were to choose from; `None`: there is none.
    pub(super) fn finish(mut self) -> Option<(String, u64)> {
        self.end_line();
        let total = self.top.seen + self.others.seen;
        self.top.thin(LINES);
        let mut lines = self.top.lines;
        // Where all of the first kind fit, others fill up.
        if let (true, room @ 1..) = (self.top.stride == 1, LINES - lines.len()) {
            self.others.thin(room);
            lines.extend(self.others.lines);
        }
        sort::by(&mut lines, Ord::cmp);
        let lines = lines
            .iter()
            .map(|(number, text)| format!("{number}: {text}\n"));
        (total > 0).then(|| (lines.collect(), total))
    }
}

/// Lines spread evenly over all that were seen.
#[derive(Debug)]
struct Spread {
    lines: Vec<(u64, String)>,
    /// Each so many-th is kept.
    stride: u64,
    seen: u64,
}

impl Default for Spread {
    fn default() -> Spread {
        Spread {
            lines: Vec::new(),
            stride: 1,
            seen: 0,
        }
    }
}

impl Spread {
    fn add(&mut self, number: u64, line: &str) {
        if self.seen % self.stride == 0 {
            let line = text::clip(line, LINE_CHARS);
            let tabs = line.replace('\t', "    ");
            self.lines.push((number, shown(&tabs)));
            self.thin(2 * LINES);
        }
        self.seen += 1;
    }

    /// Drops every second one until at most so many are left.
    fn thin(&mut self, most: usize) {
        while self.lines.len() > most {
            let mut index = 0;
            self.lines.retain(|_| {
                index += 1;
                index % 2 == 1
            });
            self.stride *= 2;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn outline(name: &str, text: &str) -> Option<(String, u64)> {
        let whole = || {
            let mut outline = Outline::new(name);
            outline.feed(text.as_bytes());
            outline.finish()
        };
        let mut bytes = Outline::new(name);
        text.as_bytes().chunks(1).for_each(|b| bytes.feed(b));
        assert_eq!(bytes.finish(), whole(), "byte by byte");
        whole()
    }

    /// Each line belongs into the outline as marked: `+` or ` ` in front.
    #[track_caller]
    fn check(name: &str, marked: &[&str]) {
        let text: Vec<&str> = marked.iter().map(|line| &line[1..]).collect();
        let wanted = marked
            .iter()
            .enumerate()
            .filter(|(_, line)| line.starts_with('+'));
        let wanted: String = wanted
            .map(|(i, line)| format!("{}: {}\n", i + 1, line[1..].replace('\t', "    ")))
            .collect();
        let (lines, _) = outline(name, &text.join("\n")).unwrap_or_default();
        assert_eq!(lines, wanted, "{name}");
    }

    #[test]
    fn lines_of_many_languages() {
        check(
            "a/b.rs",
            &[
                "+pub(crate) struct A {",
                "     field: u8,",
                " }",
                "+impl<T> A<T> {",
                "+    pub const unsafe fn f(&self) {",
                "         let fnord = 1;",
                "+macro_rules! m {",
                "+type X = u8;",
                " // fn no",
                " pub use x;",
                "+pub(in crate::a) async fn g()",
            ],
        );
        check(
            "x.py",
            &[
                "+class A(B):",
                "+    async def f(self):",
                "         definitely = 1",
                "+def g():",
            ],
        );
        check(
            "x.go",
            &[
                "+func (t *T) F() error {",
                "+type T struct {",
                " \tfunction()",
                " var x",
            ],
        );
        check(
            "fork.c",
            &[
                " #include <x.h>",
                "+static int f(struct a *b,",
                " \t       int c)",
                " {",
                " \tif (x)",
                " int proto(void);",
                "+struct x {",
                " out:",
                " \treturn g();",
                "+SYSCALL_DEFINE0(fork)",
                "+typedef struct {",
                " MODULE_LICENSE(\"GPL\");",
                " #define F(x) \\",
                "+void A::f()",
                " }  // namespace (x)",
            ],
        );
        check(
            "x.ts",
            &[
                "+export default class A {",
                "+  private async run(x: number) {",
                "   this.run(1);",
                "+interface B {",
                "+export const f = (x) => {",
                " const x = 1;",
            ],
        );
        check(
            "x.java",
            &[
                "+public class A {",
                "+    public void f(int x) {",
                "     private int y;",
                "     f(1);",
                " @Test",
            ],
        );
        check(
            "x.sh",
            &[
                "+main() {",
                "     echo \"$(x)\"",
                "+function f {",
                " x=1",
                " if true; then",
            ],
        );
        check(
            "x.md",
            &[
                "+# A",
                " text",
                "+## B",
                "+### C",
                " #nothing",
                " ####### seven",
            ],
        );
        check("x.toml", &["+[package]", " name = 1", "+[[test]]"]);
        check(
            "x.yml",
            &["+jobs:", "   build:", " # no: comment", " - a: b"],
        );
        check(
            "Makefile",
            &["+all: a b", " \tcc a", " X := 1", "+%.o: %.c"],
        );
        check("x.css", &["+.a, b {", "   color: red;", " }"]);
        check("x.rb", &["+class A", "+  def f", "     define"]);
        check("x.tex", &["+\\section{A}", " \\sectionx"]);
        assert_eq!(outline("x.txt", "fn main() {}\n"), None);
        assert_eq!(outline("x.rs", "\n\n"), None);
    }

    #[test]
    fn too_many_are_spread_over_the_file() {
        let functions = |n: usize| "fn f() {\n}\n".repeat(n);
        let count = |text: &str| {
            let (lines, total) = outline("x.rs", text).expect("an outline");
            (lines.lines().count(), total)
        };
        assert_eq!(count(&functions(40)), (40, 40));
        assert_eq!(count(&functions(41)), (21, 41));
        assert_eq!(count(&functions(80)), (40, 80));
        assert_eq!(count(&functions(1_000)), (32, 1_000));
        let (lines, _) = outline("x.rs", &functions(1_000)).expect("an outline");
        assert!(
            lines.starts_with("1: fn f() {\n65: fn f() {\n129: "),
            "{lines}"
        );
        // Others fill what is left.
        let text = functions(30) + &"  fn g() {}\n".repeat(25);
        assert_eq!(count(&text), (30 + 7, 55));
        let text = functions(30) + &"  fn g() {}\n".repeat(10);
        assert_eq!(count(&text), (40, 40));
        // A long line is cut, and a control character shown.
        let (lines, _) =
            outline("x.rs", &format!("fn \x1b{}", "x".repeat(1_000))).expect("an outline");
        assert_eq!(lines, format!("1: fn \\x1b{}…\n", "x".repeat(95)));
    }
}
