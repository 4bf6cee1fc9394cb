//! The request for a checkpoint, made to fit: the whole conversation as it stands, or, where that leaves no room for instruction and answer,
//! the same with long results cut. Results are the bulk of a conversation, and what they hold can be read again.
//!
//! ```text
//! {"role":"tool",…,"content":"first 2,048 bytes\n[96,000 bytes left out here]\nlast 2,048 bytes"}
//! ```
//!
//! Cut to head and tail: results, replies, and long arguments of calls. Left out: thinking. What the user said stays whole.
//!
//! Invariant: such a text is in the request for a checkpoint alone; nothing that is replayed later is cut.
use crate::engine::prompt;
use crate::json::{Tree, Writer};
use crate::protocol::{Message, ToolCall};
use std::sync::Arc;

/// The most that a text may have, in bytes, tried from the largest on.
pub(in crate::engine) const CAPS: [usize; 7] = [8_192, 4_096, 2_048, 1_024, 512, 256, 128];

/// The message with no long text of more than `cap` bytes.
pub(in crate::engine) fn trimmed(message: &Message, cap: usize) -> Message {
    match message {
        Message::System { .. } | Message::User { .. } | Message::Note { .. } => message.clone(),
        Message::Assistant { content, calls, .. } => Message::Assistant {
            content: Arc::new(cut(content, cap)),
            thinking: Arc::default(),
            calls: calls.iter().map(|call| short_call(call, cap)).collect(),
        },
        Message::Tool { call, name, text } => Message::Tool {
            call: call.clone(),
            name: name.clone(),
            text: cut(text, cap),
        },
    }
}

fn cut(text: &str, cap: usize) -> String {
    prompt::bounded(text, cap).into_owned()
}

fn short_call(call: &ToolCall, cap: usize) -> ToolCall {
    let mut json = Writer::new();
    json.begin_object();
    for (key, value) in call.arguments.root().members() {
        json.key(key);
        match value.as_str() {
            Some(text) => json.string(&prompt::bounded(text, cap)),
            None => json.value(value),
        };
    }
    json.end_object();
    let arguments = Tree::parse(&json.finish()).unwrap_or_else(|_| Tree::empty_object());
    let (id, name) = (call.id.clone(), call.name.clone());
    ToolCall {
        id,
        name,
        arguments,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::protocol::CallId;

    fn call(arguments: &str) -> Message {
        let arguments = Tree::parse(arguments.as_bytes()).unwrap();
        let (id, name) = (CallId("c".to_string()), "write_file".to_string());
        Message::Assistant {
            content: Arc::new("0123456789".to_string()),
            thinking: Arc::new("hm".to_string()),
            calls: vec![ToolCall {
                id,
                name,
                arguments,
            }],
        }
    }

    #[test]
    fn long_texts_keep_head_and_tail_and_the_user_is_left_alone() {
        let Message::Assistant {
            content,
            thinking,
            calls,
        } = trimmed(&call(r#"{"path":"a","content":"0123456789","n":3}"#), 4)
        else {
            panic!("not a reply");
        };
        let cut = "01\n[6 bytes left out here]\n89";
        assert_eq!((content.as_str(), thinking.as_str()), (cut, ""));
        let arguments = calls[0].arguments.to_string();
        let expected = r#"{"path":"a","content":"01\n[6 bytes left out here]\n89","n":3}"#;
        assert_eq!(arguments, expected);
        let text = "0123456789".to_string();
        let user = Message::User { text };
        assert_eq!(trimmed(&user, 4), user);
    }
}
