//! Messages of the user, the model and its tools, read straight from their lines, which `line.rs` wrote byte for byte like this. Most of a
//! long session consists of them, and a tree for each would take half of the time of its replay. `line.rs` asks here first, and makes a
//! tree where this is not enough.
//!
//! ```text
//! {"seq":1,"prev":"5f0c…a9","at":"…","kind":"user","text":"make the test pass"}       User
//! {"seq":1,"prev":"5f0c…a9","at":"…","kind":"user","text":"…","mood":"new"}           None: a member that we do not write
//! ```
//!
//! Nothing is refused: a line with blanks, with members missing, in another order, more of them or of another type is `line.rs`'s, and so is
//! one with `\u` in it, which stands for controls.
//!
//! Invariant: what is read here is what `line.rs` would have read.

use crate::json::{Tree, unquote};
use crate::protocol::{CallId, Message, ToolCall};
use crate::sys::simd;
use std::sync::Arc;

/// The message of a line; `None`: it is something else, or written in another way.
pub(super) fn read(line: &[u8]) -> Option<Message> {
    // `seq`, `prev` and `at` have no comma in them.
    let comma = |from| simd::find_byte(line, b',', from) + 1;
    let mut rest = Rest(line.get(comma(comma(comma(0)))..)?);
    rest.skip(b"\"kind\":\"")?;
    let message = if rest.skip(b"user\"").is_some() {
        Message::User {
            text: rest.text(b",\"text\":\"")?,
        }
    } else if rest.skip(b"tool\"").is_some() {
        Message::Tool {
            call: CallId(rest.text(b",\"call\":\"")?),
            name: rest.text(b",\"name\":\"")?,
            text: rest.text(b",\"text\":\"")?,
        }
    } else if rest.skip(b"assistant\"").is_some() {
        Message::Assistant {
            content: Arc::new(rest.text(b",\"content\":\"")?),
            thinking: Arc::new(rest.text(b",\"thinking\":\"")?),
            calls: rest.calls()?,
        }
    } else {
        return None;
    };
    (rest.0 == b"}").then_some(message)
}

/// What of a line was not read yet.
struct Rest<'a>(&'a [u8]);

impl Rest<'_> {
    /// Only if it begins so.
    fn skip(&mut self, beginning: &[u8]) -> Option<()> {
        self.0 = self.0.strip_prefix(beginning)?;
        Some(())
    }

    /// The string whose opening quote ends `beginning`.
    fn text(&mut self, beginning: &[u8]) -> Option<String> {
        self.skip(beginning)?;
        let (text, length) = unquote(self.0)?;
        self.0 = &self.0[length..];
        Some(text)
    }

    fn calls(&mut self) -> Option<Vec<ToolCall>> {
        let mut calls = Vec::new();
        self.skip(b",\"calls\":[")?;
        while self.skip(b"]").is_none() {
            if !calls.is_empty() {
                self.skip(b",")?;
            }
            calls.push(ToolCall {
                id: CallId(self.text(b"{\"id\":\"")?),
                name: self.text(b",\"name\":\"")?,
                arguments: Tree::parse(self.text(b",\"arguments\":\"")?.as_bytes()).ok()?,
            });
            self.skip(b"}")?;
        }
        Some(calls)
    }
}

#[cfg(test)]
mod tests {
    //! That both ways read the same can be seen only here.

    use super::read;
    use crate::session::{Record, read_line};

    const ENVELOPE: &str = r#"{"seq":1,"prev":"0000000000000000000000000000000000000000000000000000000000000000","at":"2026-08-21T09:00:00.123Z","#;

    #[test]
    fn a_message_is_read_as_from_a_tree_or_not_at_all() {
        let cases = [
            (true, r#""kind":"user","text":""}"#),
            (true, r#""kind":"user","text":"a\nb é🦀 \\\"\/\b\f\r\t\\"}"#),
            (
                true,
                r#""kind":"tool","call":"c1","name":"read_file","text":"1\tx"}"#,
            ),
            (
                true,
                r#""kind":"assistant","content":"a","thinking":"b","calls":[]}"#,
            ),
            (
                true,
                r#""kind":"assistant","content":"","thinking":"","calls":[{"id":"c1","name":"n","arguments":"{\"a\":[1]}"},{"id":"c2","name":"","arguments":"3"}]}"#,
            ),
            // What we do not write, or seldom.
            (false, r#""kind":"user" , "text" : "blanks" }"#),
            (
                false,
                r#""kind":"user","text":"\u00e9 \ud83e\udd80 \ud800"}"#,
            ),
            (
                false,
                r#""kind":"assistant","content":"","thinking":"","calls":[,{"id":"c1","name":"n","arguments":"{}"}]}"#,
            ),
            (
                false,
                r#""kind":"assistant","content":"","thinking":"","calls":[{"id":"c1","name":"n","arguments":"{}"},]}"#,
            ),
            // Another kind, and what a newer version could write.
            (false, r#""kind":"system","text":"a"}"#),
            (false, r#""kind":"user"}"#),
            (false, r#""kind":"user","text":3}"#),
            (false, r#""kind":"user","text":"a","mood":"new"}"#),
            (false, r#""kind":"user","text":"a","text":"b"}"#),
            (false, r#""kind":"user","text":"a","kind":"note"}"#),
            (false, r#""kind":"tool","name":"n","call":"c","text":"a"}"#),
            (
                false,
                r#""kind":"assistant","content":"a","thinking":"b","calls":{}}"#,
            ),
            (
                false,
                r#""kind":"assistant","content":"a","thinking":"b","calls":[3]}"#,
            ),
            (
                false,
                r#""kind":"assistant","content":"a","thinking":"b","calls":[{"id":"c1","name":"n","arguments":"{"}]}"#,
            ),
            (
                false,
                r#""kind":"assistant","content":"a","thinking":"b","calls":[{"id":"c1","name":"n","arguments":"{}","more":1}]}"#,
            ),
            // No JSON.
            (false, r#""kind":"user","text":"a""#),
            (false, r#""kind":"user","text":"a"}}"#),
            (false, r#""kind":"user","text":"\x"}"#),
        ];
        for (is_read, rest) in cases {
            let line = format!("{ENVELOPE}{rest}");
            let message = read(line.as_bytes());
            assert_eq!(message.is_some(), is_read, "{rest}");
            if let Some(message) = message {
                let whole = read_line(line.as_bytes()).map(|line| line.record);
                assert_eq!(whole, Ok(Record::Message(message)), "{rest}");
            }
        }
    }
}
