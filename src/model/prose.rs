//! Where in an answer text is meant and where it is quoted: a position in Markdown in, whether it is plain prose out. Used by
//! the two readers that look for tags in content (`leak.rs`, `recover.rs`), because models also explain tags.
//!
//! ````text
//! Use this form:          plain
//! ```                     a fence (``` or ~~~, three or more), to its closing line or the end
//! <tool_call>             quoted
//! ```
//! > <tool_call>           a block quote: quoted
//!     <tool_call>         four blanks or a tab: an indented code block, quoted
//! write `<tool_call>`     between backticks: quoted
//! <tool_call>             plain, and at the start of a line
//! ````
//!
//! Invariant: when in doubt (an unclosed fence, odd backticks) the answer is "quoted": nothing is run or hidden by guess.
//!
//! Read next: CommonMark 4.4, 4.5, 5.1 and 6.1, of which this is the part that matters here.

/// One line outside fences, block quotes and indented code.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Line<'a> {
    /// Where it begins in the text.
    pub start: usize,
    /// The line without its end.
    pub text: &'a str,
}

/// The plain lines of a text.
pub(super) fn lines(text: &str) -> impl Iterator<Item = Line<'_>> {
    let mut start = 0;
    let mut fence: Option<(u8, usize)> = None;
    text.split_inclusive('\n').filter_map(move |line| {
        let at = start;
        start += line.len();
        let line = line.trim_end_matches(['\n', '\r']);
        let unindented = line.trim_start_matches(' ');
        let indent = line.len() - unindented.len();
        let is_code = fence.is_none() && (indent > 3 || unindented.starts_with('\t'));
        if let Some((mark, length)) = fence_of(unindented).filter(|_| indent <= 3) {
            match fence {
                None => fence = Some((mark, length)),
                Some((open, least)) => {
                    let bare = unindented[length..].trim().is_empty();
                    if open == mark && length >= least && bare {
                        fence = None;
                    }
                }
            }
            return None;
        }
        let is_plain = fence.is_none() && !is_code && !unindented.starts_with('>');
        is_plain.then_some(Line {
            start: at,
            text: line,
        })
    })
}

/// Whether the byte at `at` is in plain prose.
pub(super) fn is_plain(text: &str, at: usize) -> bool {
    lines(text)
        .find(|line| line.start <= at && at < line.start + line.text.len())
        .is_some_and(|line| line.text[..at - line.start].matches('`').count() % 2 == 0)
}

/// The mark and length of a fence that begins the line.
fn fence_of(line: &str) -> Option<(u8, usize)> {
    let mark = *line.as_bytes().first()?;
    if mark != b'`' && mark != b'~' {
        return None;
    }
    let length = line.bytes().take_while(|&byte| byte == mark).count();
    // A backtick fence has no backtick in its info string: otherwise it is inline code.
    let inline = mark == b'`' && line[length..].contains('`');
    (length >= 3 && !inline).then_some((mark, length))
}
