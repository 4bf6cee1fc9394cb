//! Lines that stand for text that was left out: `// ... rest of the file unchanged ...`. In: a line. Out: whether it is such a
//! line. `write` and `replace` refuse text that brings one, since it would take the place of the real lines.
//!
//! ```text
//! // ... rest of the code remains the same ...      yes
//! # (existing functions here)                       no: nothing says that something was left out
//! # existing functions unchanged                    yes
//! /* the rest of the file is parsed lazily */       no: a word that such lines do not use
//! ...                                               no: Python's own
//! ```
//!
//! A line counts only if every word of it is one that such lines are made of: a thing that is left out, and that it is. A line that was
//! in the old file is never refused; the callers see to that.
//!
//! Invariant: a line of more than 16 words, or without a letter, is never one.

use crate::sort;

const MAX_WORDS: usize = 16;
/// The longest of the words below.
const MAX_WORD_BYTES: usize = 15;

/// What a word of such a line is.
enum Word {
    /// What is left out, as opposed to what is there: a thing, too.
    Rest,
    /// What is left out.
    Thing,
    /// That it is.
    State,
    /// `of`.
    Of,
    /// What else these lines are glued with.
    Glue,
}

/// Whether the line stands for others.
pub(super) fn is_stub(line: &str) -> bool {
    let (mut count, mut thing, mut state, mut rest, mut of) = (0, false, false, false, false);
    let words = line.split(|c: char| !c.is_alphanumeric() && c != '_' && c != '\'');
    for word in words.filter(|word| !word.is_empty()) {
        // Nearly every line of a file ends here, at its first word.
        let Some(word) = kind(word) else {
            return false;
        };
        count += 1;
        match word {
            Word::Rest => (rest, thing) = (true, true),
            Word::Thing => thing = true,
            Word::State => state = true,
            Word::Of => of = true,
            Word::Glue => {}
        }
    }
    if count > MAX_WORDS {
        return false;
    }
    let elided = is_elided(line);
    // "... rest of the code ...", "code unchanged", "(unchanged) ...".
    let marked = line.trim_start().starts_with([
        '/', '#', '-', '*', '<', ';', '%', '(', '[', '.', '…', '"', '\'',
    ]);
    let left_out = rest && thing && count >= 2 && (elided || (of && line.contains("...")));
    left_out || (state && thing && (marked || elided || rest)) || (state && elided)
}

fn kind(word: &str) -> Option<Word> {
    if word.len() > MAX_WORD_BYTES {
        return None;
    }
    match word.to_ascii_lowercase().as_str() {
        "rest" | "remainder" | "remaining" | "existing" | "previous" | "original" => {
            Some(Word::Rest)
        }
        "everything" | "other" | "others" | "file" | "code" | "function" | "functions"
        | "class" | "classes" | "method" | "methods" | "content" | "contents" | "module"
        | "implementation" | "implementations" | "import" | "imports" | "line" | "lines"
        | "test" | "tests" | "script" | "document" | "logic" | "section" | "sections"
        | "component" | "body" | "text" | "part" | "parts" | "definitions" | "fields" | "above"
        | "below" | "before" | "stuff" | "entries" | "rules" | "styles" | "setup" => {
            Some(Word::Thing)
        }
        "unchanged" | "same" | "omitted" | "truncated" | "untouched" | "intact" | "elided"
        | "unmodified" | "snip" | "skipped" => Some(Word::State),
        "the" | "this" | "your" | "is" | "are" | "remain" | "remains" | "stay" | "stays"
        | "left" | "goes" | "go" | "here" | "as" | "was" | "for" | "brevity" | "all" | "and"
        | "in" | "from" | "that" | "else" | "continues" | "follows" | "with" | "no" | "change"
        | "changes" | "exactly" | "kept" | "keep" | "it" | "to" | "be" | "etc" | "current"
        | "full" => Some(Word::Glue),
        "of" => Some(Word::Of),
        _ => None,
    }
}

/// Whether dots stand on their own; `...rest` is a language's spread.
fn is_elided(line: &str) -> bool {
    let alone = |(at, dots): (usize, &str)| {
        let after = line[at + dots.len()..].chars().next();
        !after.is_some_and(|c| c.is_alphanumeric() || c == '_')
    };
    line.contains('…') || line.match_indices("...").any(alone)
}

/// The number (from 1) and text of the first such line of `new` that `old` does not have.
pub(super) fn first_stub<'a>(new: &'a str, old: &[u8]) -> Option<(usize, &'a str)> {
    let mut stubs = new
        .lines()
        .enumerate()
        .filter(|(_, line)| is_stub(line))
        .peekable();
    stubs.peek()?;
    let mut had: Vec<&[u8]> = old.split(|b| *b == b'\n').map(<[u8]>::trim_ascii).collect();
    sort::by(&mut had, Ord::cmp);
    stubs
        .find(|(_, line)| had.binary_search(&line.trim().as_bytes()).is_err())
        .map(|(i, line)| (i + 1, line))
}
