//! Messages of the user, the model and its tools, read straight from their lines. Most of a long session consists of them, and a tree for
//! each would take half of the time of its replay. `line.rs` asks here first, and makes a tree where this is not enough.
//!
//! ```text
//! {"seq":1,"prev":"5f0c…a9","at":"…","kind":"user","text":"make the test pass"}       User
//! {"seq":1,"prev":"5f0c…a9","at":"…","kind":"user","text":"…","mood":"new"}           None: a member that we do not write
//! ```
//!
//! Nothing is refused: a line with members missing, in another order, more of them or of another type is `line.rs`'s.
//!
//! Invariant: what is read here is what `line.rs` would have read.

use crate::json::{Token, Tokens, Tree};
use crate::protocol::{CallId, Message, ToolCall};
use std::sync::Arc;

/// The message of a line; `None`: it is something else, or written in another way.
pub(super) fn read(line: &[u8]) -> Option<Message> {
    let mut tokens = Tokens::new(line);
    tokens.object().ok()?.then_some(())?;
    // `seq`, `prev` and `at`.
    for _ in 0..3 {
        tokens.member().ok()??;
        tokens.skip().ok()?;
    }
    tokens.member().ok()??;
    let message = match tokens.string().ok()??.raw() {
        b"user" => Message::User {
            text: next_text(&mut tokens, "text")?,
        },
        b"tool" => Message::Tool {
            call: CallId(next_text(&mut tokens, "call")?),
            name: next_text(&mut tokens, "name")?,
            text: next_text(&mut tokens, "text")?,
        },
        b"assistant" => Message::Assistant {
            content: Arc::new(next_text(&mut tokens, "content")?),
            thinking: Arc::new(next_text(&mut tokens, "thinking")?),
            calls: next_calls(&mut tokens)?,
        },
        _ => return None,
    };
    match tokens.member() {
        Ok(None) => tokens.end().ok().map(|()| message),
        Ok(Some(_)) | Err(_) => None,
    }
}

fn next_text(tokens: &mut Tokens<'_>, key: &str) -> Option<String> {
    let named = tokens.member().ok()??.is(key);
    let text = tokens.string().ok()??;
    named.then(|| text.decode().into_owned())
}

fn next_calls(tokens: &mut Tokens<'_>) -> Option<Vec<ToolCall>> {
    let mut calls = Vec::new();
    if !tokens.member().ok()??.is("calls") || tokens.next() != Ok(Token::BeginArray) {
        return None;
    }
    loop {
        match tokens.next() {
            Ok(Token::EndArray) => return Some(calls),
            Ok(Token::BeginObject) => {}
            Ok(_) | Err(_) => return None,
        }
        let call = ToolCall {
            id: CallId(next_text(tokens, "id")?),
            name: next_text(tokens, "name")?,
            arguments: Tree::parse(next_text(tokens, "arguments")?.as_bytes()).ok()?,
        };
        if tokens.next() != Ok(Token::EndObject) {
            return None;
        }
        calls.push(call);
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
            (
                true,
                r#""kind":"user","text":"a\nb \u00e9é \ud83e\udd80 \ud800 \\"}"#,
            ),
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
            (true, r#""kind":"user" , "text" : "blanks" }"#),
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
