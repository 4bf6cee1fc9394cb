//! A shell command as plain words. In: the text that `sh -c` would get. Out: its simple commands, each a list of words with
//! quotes taken off and the targets of its redirections. `stops` and `notes` read it.
//!
//! ```text
//! cd src && sudo rm -rf "/etc" > log 2>&1; echo done
//!   [cd src]  [sudo rm -rf /etc] > [log]  [echo done]
//! ```
//!
//! It finds things to warn of; it is not the splitter that decides what may run unasked. Expansions stay as they stand (`$HOME`,
//! `*`), a substitution inside double quotes stays part of its word, here documents are read as if they were commands,
//! and what a variable holds is not known.
//!
//! Invariant: every byte of the text is looked at once, without recursion; any text gives some list.

/// One simple command.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Part {
    /// Assignments, the command name and its arguments.
    pub(super) words: Vec<String>,
    /// Files written or read by `>`, `>>`, `>|`, `<`, `&>`.
    pub(super) redirects: Vec<String>,
}

/// Splits at `;`, `&`, `|`, line ends, parentheses and backquotes.
pub(super) fn parts(command: &str) -> Vec<Part> {
    let mut split = Split::default();
    let mut chars = command.chars().peekable();
    while let Some(c) = chars.next() {
        match c {
            '\\' => {
                // A backslash at a line end joins the lines.
                if let Some(next) = chars.next().filter(|c| *c != '\n') {
                    split.push(next);
                }
            }
            '\'' => {
                split.begin();
                for quoted in chars.by_ref().take_while(|c| *c != '\'') {
                    split.push(quoted);
                }
            }
            '"' => {
                split.begin();
                while let Some(quoted) = chars.next().filter(|c| *c != '"') {
                    let escaped = quoted == '\\'
                        && matches!(chars.peek(), Some('"' | '\\' | '$' | '`' | '\n'));
                    match if escaped { chars.next() } else { Some(quoted) } {
                        Some('\n') if escaped => {}
                        Some(c) => split.push(c),
                        None => {}
                    }
                }
            }
            '#' if split.word.is_none() => while chars.next_if(|c| *c != '\n').is_some() {},
            '>' | '<' => {
                split.end_descriptor();
                while chars
                    .next_if(|c| matches!(c, '>' | '<' | '|' | '&'))
                    .is_some()
                {}
                split.redirect = true;
            }
            ';' | '&' | '|' | '\n' | '(' | ')' | '`' => split.end_part(),
            c if c.is_whitespace() => split.end_word(),
            c => split.push(c),
        }
    }
    split.end_part();
    split.parts
}

#[derive(Default)]
struct Split {
    parts: Vec<Part>,
    part: Part,
    word: Option<String>,
    redirect: bool,
}

impl Split {
    /// A word has begun, even if it stays empty (`''`).
    fn begin(&mut self) {
        self.word.get_or_insert_default();
    }

    fn push(&mut self, c: char) {
        self.word.get_or_insert_default().push(c);
    }

    /// The digits right before `>` are no word.
    fn end_descriptor(&mut self) {
        let digits = |word: &String| word.chars().all(|c| c.is_ascii_digit());
        if self.word.as_ref().is_some_and(digits) {
            self.word = None;
        }
        self.end_word();
    }

    fn end_word(&mut self) {
        let Some(word) = self.word.take() else {
            return;
        };
        if !self.redirect {
            self.part.words.push(word);
        } else if !word.chars().all(|c| c.is_ascii_digit() || c == '-') {
            self.part.redirects.push(word);
        }
        self.redirect = false;
    }

    fn end_part(&mut self) {
        self.end_word();
        self.redirect = false;
        let part = std::mem::take(&mut self.part);
        if part != Part::default() {
            self.parts.push(part);
        }
    }
}

/// The command's name without its folder: `/bin/rm` → `rm`.
pub(super) fn base(word: &str) -> &str {
    word.rsplit('/').next().unwrap_or(word)
}

/// Whether the word is `NAME=value` before a command.
pub(super) fn is_assignment(word: &str) -> bool {
    word.split_once('=').is_some_and(|(name, _)| {
        let mut chars = name.chars();
        chars
            .next()
            .is_some_and(|c| c.is_ascii_alphabetic() || c == '_')
            && chars.all(|c| c.is_ascii_alphanumeric() || c == '_')
    })
}

/// `/a//b/./c/..` → `/a/b`: by the letters alone, links are not followed. `path` must be absolute.
pub(super) fn tidy(path: &str) -> String {
    let mut kept: Vec<&str> = Vec::new();
    for part in path.split('/') {
        match part {
            "" | "." => {}
            ".." => {
                kept.pop();
            }
            part => kept.push(part),
        }
    }
    format!("/{}", kept.join("/"))
}
