//! Blocks of a session as text, Markdown or HTML.
//!
//! ```text
//! request 2  2026-08-21 11:00, one shot, user 1000      ## Request 2           <h2>Request 2</h2>
//!   make the test pass                                  > make the test pass   <blockquote>make …
//! call       run_command {"command":"sh test.sh"}       call: `run_comm…`     <p><b>call</b> <code>…
//! result of run_command                                 `result of run_…`     <p><b>result of …
//!   exit code 0                                         ```…                   <pre>exit code 0
//! ```
//!
//! Invariant: in text and Markdown no line of a foreign text begins where ours do: it is indented, quoted or fenced. In HTML every
//! foreign character with a meaning there is escaped; the page has no scripts, loads nothing, and says so to the browser.
//! Invariant: the same session gives the same bytes.

use super::reading::Block;
use crate::text::{self, one_line};

/// What it becomes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Form {
    /// For terminals, and for `diff`.
    Text,
    /// For a person who pastes it somewhere.
    Markdown,
    /// A page of its own.
    Html,
}

/// Width of labels in text.
const LABEL_CHARS: usize = 10;

const PAGE: &str = "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n\
    <meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src 'unsafe-inline'\">\n\
    <style>body{max-width:60rem;margin:2rem auto;padding:0 1rem;font:16px/1.5 sans-serif}\
    pre,blockquote{white-space:pre-wrap;overflow-wrap:anywhere;background:#f4f4f4;color:#111;margin:0 0 1rem;padding:.5rem 1rem}\
    blockquote{border-left:4px solid #888}code{overflow-wrap:anywhere}</style>\n";

impl Form {
    /// What stands before the first block.
    pub(super) fn head(self, id: &str) -> String {
        match self {
            Form::Text => format!("{:<LABEL_CHARS$} {id}\n", "session"),
            Form::Markdown => format!("# Session {id}\n"),
            Form::Html => format!(
                "{PAGE}<title>{0}</title>\n</head>\n<body>\n<h1>Session {0}</h1>\n",
                escaped(id)
            ),
        }
    }

    /// What stands behind the last one.
    pub(super) fn foot(self) -> &'static str {
        match self {
            Form::Text | Form::Markdown => "",
            Form::Html => "</body>\n</html>\n",
        }
    }

    /// One block.
    pub(super) fn block(self, block: &Block) -> String {
        match self {
            Form::Text => plain(block),
            Form::Markdown => markdown(block),
            Form::Html => html(block),
        }
    }
}

fn plain(block: &Block) -> String {
    match block {
        Block::Request { number, when } => {
            let label = format!("request {number}");
            format!("\n{label:<LABEL_CHARS$} {}\n", one_line(when))
        }
        Block::Said { who, text } => match who.is_empty() {
            true => before_each("  ", text),
            false => format!("{who}\n{}", before_each("  ", text)),
        },
        Block::Exact { label, text } => {
            format!("{}\n{}", one_line(label), before_each("  ", text))
        }
        Block::Fact { label, text } => format!("{label:<LABEL_CHARS$} {}\n", one_line(text)),
    }
}

fn before_each(prefix: &str, text: &str) -> String {
    let mut out = String::with_capacity(text.len() + 16);
    for line in text.lines() {
        match line.is_empty() {
            true => out.push_str(prefix.trim_end()),
            false => out.extend([prefix, line]),
        }
        out.push('\n');
    }
    out
}

fn markdown(block: &Block) -> String {
    match block {
        Block::Request { number, when } => {
            format!("\n## Request {number}\n\n{}\n\n", one_line(when))
        }
        Block::Said { who, text } => match who.is_empty() {
            true => format!("{}\n", before_each("> ", text)),
            false => format!("\n{who}\n\n{}\n", before_each("> ", text)),
        },
        Block::Exact { label, text } => {
            let fence = "`".repeat(longest_run(text).max(2) + 1);
            let end = if text.ends_with('\n') || text.is_empty() {
                ""
            } else {
                "\n"
            };
            format!("\n{}\n\n{fence}\n{text}{end}{fence}\n", span(label))
        }
        Block::Fact { label, text } => format!("\n{label}: {}\n", span(text)),
    }
}

/// Code within a line.
fn span(text: &str) -> String {
    let text = one_line(text);
    let fence = "`".repeat(longest_run(&text) + 1);
    // A blank on both sides is taken away again, and keeps a backtick at an end apart from the fence.
    let pad = if text.starts_with('`') || text.ends_with('`') {
        " "
    } else {
        ""
    };
    format!("{fence}{pad}{text}{pad}{fence}")
}

/// Length of the longest row of backticks.
fn longest_run(text: &str) -> usize {
    let runs = text.split(|c| c != '`').map(str::len);
    runs.max().unwrap_or(0)
}

fn html(block: &Block) -> String {
    match block {
        Block::Request { number, when } => {
            format!("<h2>Request {number}</h2>\n<p>{}</p>\n", escaped(when))
        }
        Block::Said { who, text } => format!(
            "<p><b>{}</b></p>\n<blockquote>{}</blockquote>\n",
            if who.is_empty() { "request" } else { who },
            escaped(text)
        ),
        Block::Exact { label, text } => format!(
            "<p><b>{}</b></p>\n<pre>{}</pre>\n",
            escaped(label),
            escaped(text)
        ),
        Block::Fact { label, text } => {
            format!("<p><b>{label}</b> <code>{}</code></p>\n", escaped(text))
        }
    }
}

/// As text of HTML: what a browser would take for markup is named; controls and what changes the order of letters is shown.
fn escaped(text: &str) -> String {
    let mut out = String::with_capacity(text.len() + 16);
    for c in text.chars() {
        match c {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '"' => out.push_str("&quot;"),
            '\'' => out.push_str("&#39;"),
            '\n' | '\t' => out.push(c),
            c if text::is_harmful(c) => out.push_str(&text::visible(c.encode_utf8(&mut [0; 4]))),
            c => out.push(c),
        }
    }
    out
}
