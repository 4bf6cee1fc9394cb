//! Tests of `regex`: what matches, what is refused and with which words, the machines against each other, and the limits.
//!
//! In `all` the spans are marks in the text: `all("a+", "b«aa»c«a»")`.

mod agree;
mod generate;
mod limits;
mod plans;
mod refused;
mod syntax;
mod unicode;

use std::ops::Range;
use zcoder::regex::{Cache, Options, Regex, resume};

/// A pattern for whole texts.
const TEXT: Options = Options {
    ignore_case: false,
    multi_line: false,
    lines: false,
};
/// A pattern for single lines.
const LINES: Options = Options {
    ignore_case: false,
    multi_line: false,
    lines: true,
};

/// Every match, one after the other: an empty one is dropped where the last one ended.
fn spans(regex: &Regex, cache: &mut Cache, text: &[u8]) -> Vec<Range<usize>> {
    let mut spans: Vec<Range<usize>> = Vec::new();
    let mut at = 0;
    while let Some(span) = regex.find_at(cache, text, at) {
        assert!(span.start >= at && span.end <= text.len(), "{span:?}");
        assert_eq!(
            regex.find_slowly(text, at),
            Some(span.clone()),
            "the Pike VM, from {at}"
        );
        at = resume(text, &span);
        if !span.is_empty() || spans.last().is_none_or(|last| last.end != span.start) {
            spans.push(span);
        }
    }
    assert_eq!(regex.find_slowly(text, at), None);
    spans
}

#[track_caller]
fn all_with(options: Options, pattern: &str, marked: &str) {
    let regex = match Regex::new(pattern, options) {
        Ok(regex) => regex,
        Err(error) => panic!("{}", error.shown(pattern)),
    };
    let text = marked.replace(['«', '»'], "");
    let mut shown = String::new();
    let mut at = 0;
    for Range { start, end } in spans(&regex, &mut Cache::default(), text.as_bytes()) {
        shown += &format!("{}«{}»", &text[at..start], &text[start..end]);
        at = end;
    }
    shown += &text[at..];
    assert_eq!(shown, marked, "{pattern}\n{regex:?}");
}

#[track_caller]
fn all(pattern: &str, marked: &str) {
    all_with(TEXT, pattern, marked);
}

#[track_caller]
fn lines(pattern: &str, marked: &str) {
    all_with(LINES, pattern, marked);
}
