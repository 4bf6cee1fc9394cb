//! Lines of at most 80 columns with a label in front, and text that flows into them as it comes. What is written is plain ASCII but for what the
//! model, the tools and the files say, which is made harmless first.
//!
//! ```text
//!   5 thinking  The test fails and I am to find out why. First I need to know what
//!               is here.
//!   ^ number    ^ text: from column 14
//! ```
//!
//! Invariant: no line of ours is wider than [`WIDTH`] characters, unless one word is.

use crate::text;

/// Columns.
pub(super) const WIDTH: usize = 80;

/// Where text begins.
const INDENT: usize = 14;

/// The page so far; `take` hands it out.
#[derive(Debug, Default)]
pub(super) struct Page {
    out: String,
    /// A text that is flowing: its label, the column, and the word that is not whole yet.
    flow: Option<Flow>,
}

#[derive(Debug)]
struct Flow {
    label: &'static str,
    column: usize,
    word: String,
}

impl Page {
    /// What was written since the last time.
    pub(super) fn take(&mut self) -> String {
        std::mem::take(&mut self.out)
    }

    /// A line as it is. Ends a flowing text.
    pub(super) fn line(&mut self, line: &str) {
        self.end_flow();
        self.out.push_str(line.trim_end());
        self.out.push('\n');
    }

    /// A label and a text, wrapped at blanks.
    pub(super) fn entry(&mut self, label: &'static str, text: &str) {
        self.end_flow();
        self.flow(label, text);
        self.end_flow();
    }

    /// A label and as much of a text as fits into one line.
    pub(super) fn excerpt(&mut self, label: &str, text: &str) {
        let text = text::one_line(text);
        let text = match text.chars().count() > WIDTH - INDENT {
            true => format!(
                "{}...",
                text::clip(&text, WIDTH - INDENT - 3).trim_end_matches('\u{2026}')
            ),
            false => text,
        };
        self.line(&format!("{}{text}", front(label)));
    }

    /// More of the text that flows under `label`; another label ends the one before.
    pub(super) fn flow(&mut self, label: &'static str, text: &str) {
        if self.flow.as_ref().is_some_and(|flow| flow.label != label) {
            self.end_flow();
        }
        let mut flow = self.flow.take().unwrap_or_else(|| {
            self.out.push_str(&front(label));
            Flow {
                label,
                column: INDENT,
                word: String::new(),
            }
        });
        for character in text::plain(text).chars() {
            match character {
                '\n' => {
                    flow.end_word(&mut self.out);
                    flow.new_line(&mut self.out);
                }
                blank if blank.is_whitespace() => flow.end_word(&mut self.out),
                other => flow.word.push(other),
            }
        }
        self.flow = Some(flow);
    }

    /// Ends a flowing text.
    pub(super) fn end_flow(&mut self) {
        if let Some(mut flow) = self.flow.take() {
            flow.end_word(&mut self.out);
            let kept = self.out.trim_end().len();
            self.out.truncate(kept);
            self.out.push('\n');
        }
    }
}

impl Flow {
    fn end_word(&mut self, out: &mut String) {
        if self.word.is_empty() {
            return;
        }
        let word = std::mem::take(&mut self.word);
        let width = word.chars().count();
        if self.column > INDENT {
            if self.column + 1 + width > WIDTH {
                self.new_line(out);
            } else {
                out.push(' ');
                self.column += 1;
            }
        }
        out.push_str(&word);
        self.column += width;
    }

    fn new_line(&mut self, out: &mut String) {
        out.push('\n');
        out.push_str(&" ".repeat(INDENT));
        self.column = INDENT;
    }
}

fn front(label: &str) -> String {
    format!("  {label:<width$}", width = INDENT - 2)
}
