//! Thinking that leaked into the content: the assembled content in, thinking and answer apart out. [`Display`] decides on the growing
//! text what is shown where, [`split`] on the whole text what is stored: by the same reader, and by lone closing tags.
//!
//! ```text
//! "<think>Look first.</think>\n\nDone."     thinking "Look first."   answer "Done."
//! "<thi" "nk>Look" ... never closed         thinking "Look ..."      answer ""       (unfinished)
//! "Look first.</think>Done."                thinking "Look first."   answer "Done."  (the opener was in the prompt)
//! "Tags look like `<think>`."               nothing: a tag that is not at the start is text
//! ```
//!
//! A lone closing tag counts when the server sent no thinking of its own, and not inside a code fence or between backticks:
//! models explain tags too. [`Display`] cannot take back what it showed before such a tag; the stored text is right.
//!
//! Invariant: content without a leading or lone tag is left exactly as it came.
//! Invariant: what [`Display`] shows as answer is what [`split`] stores, the lone closing tag aside.
//!
//! Read next: `assemble.rs` (the caller of `split`), `ollama/chat.rs` (the caller of `Display`).

use super::prose;
use crate::sys::simd::find_byte;

/// Opening and closing tags that models use.
const TAGS: [(&str, &str); 5] = [
    ("<think>", "</think>"),
    ("<thinking>", "</thinking>"),
    ("<thought>", "</thought>"),
    ("<reasoning>", "</reasoning>"),
    ("[THINK]", "[/THINK]"),
];

/// The parts of a content with thinking in it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Split<'a> {
    pub thinking: String,
    pub content: &'a str,
    /// An opening tag was never closed: all after it is thinking.
    pub is_unfinished: bool,
}

/// Finds leaked thinking in a whole content; `None` when there is none.
pub(super) fn split(content: &str, has_thinking: bool) -> Option<Split<'_>> {
    let mut thinking = String::new();
    let mut display = Display::default();
    display.advance(content, true, &mut |place, text| match place {
        Place::Thinking => thinking.push_str(text),
        Place::Content => {}
    });
    let answer = match display.state {
        _ if !display.after_block => {
            let (at, closer) = lone_closer(content)?;
            let before = &content[..at];
            if has_thinking && !before.trim().is_empty() {
                return None;
            }
            thinking.push_str(before);
            content[at + closer.len()..].trim_start()
        }
        State::Start => "",
        State::Answer(from) => &content[from..],
        State::Inside(_) => {
            return Some(Split {
                thinking,
                content: "",
                is_unfinished: true,
            });
        }
    };
    Some(Split {
        thinking: thinking.trim().to_string(),
        content: answer,
        is_unfinished: false,
    })
}

/// The first closing tag in plain prose, if no opening tag stands before it.
fn lone_closer(content: &str) -> Option<(usize, &'static str)> {
    let bytes = content.as_bytes();
    // All of them have a slash behind their bracket: one search through what may be megabytes, and not one for each tag.
    let mut slash = find_byte(bytes, b'/', 0);
    while slash < bytes.len() {
        let at = slash.saturating_sub(1);
        let is_closer = |tag: &&(&str, &str)| bytes[at..].starts_with(tag.1.as_bytes());
        if let Some((opener, closer)) = TAGS.iter().find(is_closer) {
            let is_plain = !content[..at].contains(opener) && prose::is_plain(content, at);
            return is_plain.then_some((at, closer));
        }
        slash = find_byte(bytes, b'/', slash + 1);
    }
    None
}

/// Where a piece of content is shown.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Place {
    Thinking,
    Content,
}

/// The incremental matcher over a growing content: remembers how far it was shown.
#[derive(Debug, Default)]
pub(super) struct Display {
    state: State,
    shown: usize,
    /// A block was seen: blanks before the answer belong to nobody.
    after_block: bool,
}

#[derive(Debug, Default)]
enum State {
    /// An opening tag may begin here.
    #[default]
    Start,
    /// Inside a block that this tag closes.
    Inside(&'static str),
    /// The answer, from this byte on.
    Answer(usize),
}

impl Display {
    /// Whether some of `content` was not shown yet.
    pub(super) fn is_behind(&self, content: &str) -> bool {
        self.shown < content.len()
    }

    /// Shows what can be decided of `content`, which only ever grows between calls; `at_end` shows the rest too.
    pub(super) fn advance(
        &mut self,
        content: &str,
        at_end: bool,
        show: &mut dyn FnMut(Place, &str),
    ) {
        while self.shown < content.len() {
            let new = &content[self.shown..];
            match self.state {
                State::Start => {
                    let rest = new.trim_start();
                    let blanks = new.len() - rest.len();
                    if let Some((opener, closer)) = TAGS.iter().find(|(o, _)| rest.starts_with(o)) {
                        if self.after_block {
                            show(Place::Thinking, "\n"); // blocks are lines, as `split` stores them
                        }
                        self.state = State::Inside(closer);
                        self.shown += blanks + opener.len();
                        self.after_block = true;
                    } else if !at_end && TAGS.iter().any(|(opener, _)| opener.starts_with(rest)) {
                        return; // perhaps half a tag
                    } else {
                        self.shown += if self.after_block { blanks } else { 0 };
                        self.state = State::Answer(self.shown);
                    }
                }
                State::Inside(closer) => {
                    if let Some(end) = new.find(closer) {
                        piece(show, Place::Thinking, &new[..end]);
                        self.shown += end + closer.len();
                        self.state = State::Start;
                        continue;
                    }
                    let held = if at_end { 0 } else { half_tag(new, closer) };
                    piece(show, Place::Thinking, &new[..new.len() - held]);
                    self.shown += new.len() - held;
                    return;
                }
                State::Answer(_) => {
                    piece(show, Place::Content, new);
                    self.shown = content.len();
                }
            }
        }
    }
}

fn piece(show: &mut dyn FnMut(Place, &str), place: Place, text: &str) {
    if !text.is_empty() {
        show(place, text);
    }
}

/// How many bytes at the end of `text` are the beginning of `tag`.
fn half_tag(text: &str, tag: &str) -> usize {
    let longest = tag.len().min(text.len() + 1) - 1;
    (1..=longest)
        .rev()
        .find(|&len| text.ends_with(&tag[..len]))
        .unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::{Display, Place, split};

    /// What is shown of `content` when it grows by `step` bytes (to the next character).
    fn shown(content: &str, step: impl Fn(usize) -> usize) -> (String, String) {
        let (mut thinking, mut answer) = (String::new(), String::new());
        let mut display = Display::default();
        let mut end = 0;
        while end < content.len() {
            end = (end + step(end)).min(content.len());
            while !content.is_char_boundary(end) {
                end += 1;
            }
            let at_end = end == content.len();
            display.advance(&content[..end], at_end, &mut |place, text| match place {
                Place::Thinking => thinking.push_str(text),
                Place::Content => answer.push_str(text),
            });
        }
        (thinking.trim().to_string(), answer)
    }

    #[track_caller]
    fn check(content: &str) {
        let expected = match split(content, true) {
            Some(split) => (split.thinking.trim().to_string(), split.content.to_string()),
            None => (String::new(), content.to_string()),
        };
        assert_eq!(shown(content, |_| content.len()), expected);
        assert_eq!(shown(content, |_| 1), expected);
        for cut in 1..content.len() {
            let step = |end| if end == 0 { cut } else { content.len() };
            assert_eq!(shown(content, step), expected, "cut at {cut}");
        }
    }

    #[test]
    fn what_is_shown_at_any_cut_is_what_is_stored() {
        check("");
        check("  plain < answer\n");
        check("<think>plan é</think>answer");
        check(
            " \n<thinking>a </think> b</thinking>\n\n <reasoning>c</reasoning> answer <think>x</think>",
        );
        check("<thought>never closed </though");
        check("[THINK]a[/THINK]b");
        check("<thin");
        check("<thinner>");
        check("<think>");
        check("<think>a</think>   ");
    }

    #[test]
    fn the_first_closing_tag_is_found_among_other_slashes() {
        let answer = |content| split(content, false).map(|split| split.content);
        for none in ["", "/", "</", "/think>", "<//think>", "a/b </thin> c/"] {
            assert_eq!(answer(none), None, "{none}");
        }
        assert_eq!(answer("</think>a"), Some("a"));
        assert_eq!(answer("a/b, </ or <//think>[/THINK]c"), Some("c"));
        let first = answer("one</thinking>two</think>three");
        assert_eq!(first, Some("two</think>three"));
    }
}
