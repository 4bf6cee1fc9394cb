//! `--step`: the seven stops. At its first time in the first chat each stage is shown with its bytes and with the files that
//! implement it. Pure; `demo.rs` waits for the key.
//!
//! ```text
//! == stage 4 of 7: body bytes become records ==============================
//!    src/lines/ndjson.rs
//!    {"model":"stand-in:latest","created_at":"2026-01-01T00:00:00.000Z","message":{"role":"assistant","content":"","thinking":"The "},"done":false}
//! ```
//!
//! Invariant: every file that is named exists (a test looks).

use super::page::WIDTH;
use crate::protocol::{Event, Message, Stage};
use crate::text;

/// Characters of a stage's bytes that are shown.
const EXCERPT_CHARS: usize = 900;

/// What happens at each, and where: source files, in reading order.
const STAGES: [(&str, &[&str]); 7] = [
    (
        "a wish becomes an Op for the engine",
        &["src/protocol/op.rs", "src/engine/wait.rs"],
    ),
    (
        "the conversation becomes request bytes",
        &[
            "src/engine/prompt.rs",
            "src/model/ollama/request.rs",
            "src/http/client.rs",
        ],
    ),
    (
        "the socket's bytes become body bytes",
        &["src/http/head.rs", "src/http/body.rs"],
    ),
    (
        "body bytes become records",
        &["src/lines/ndjson.rs", "src/model/ollama/record.rs"],
    ),
    (
        "records become one complete reply",
        &["src/model/assemble.rs", "src/engine/decide.rs"],
    ),
    (
        "a call is checked, judged, carried out",
        &[
            "src/tools/args.rs",
            "src/policy/decide.rs",
            "src/tools/list.rs",
        ],
    ),
    (
        "the outcome is recorded and becomes an Event",
        &[
            "src/session/mod.rs",
            "src/protocol/event.rs",
            "src/commands/demo/show.rs",
        ],
    ),
];

/// Which stages were shown.
#[derive(Debug, Default)]
pub(super) struct Stops {
    next: usize,
    in_chat: bool,
    head: String,
}

impl Stops {
    /// The stop at this boundary, if it is the next one.
    pub(super) fn see(&mut self, stage: &Stage<'_>) -> Option<String> {
        let bytes = match (self.next, stage) {
            (_, Stage::ExchangeBegins(what)) => {
                self.in_chat = *what == "POST /api/chat";
                return None;
            }
            (0, Stage::Op(op)) => format!("{op:?}"),
            (1, Stage::RequestBytes(bytes)) if self.in_chat => {
                // The head comes alone; the body completes it.
                let shown = escaped(bytes);
                if self.head.is_empty() {
                    self.head = shown;
                    return None;
                }
                format!("{}\n{shown}", self.head)
            }
            (2, Stage::WireBytes(bytes)) if self.in_chat => escaped(bytes),
            (3, Stage::Record(line)) => escaped(line),
            (4, Stage::Reply(message @ Message::Assistant { .. })) => format!("{message:#?}"),
            (5, Stage::Outcome(outcome)) => format!("{outcome:#?}"),
            (6, Stage::Event(event @ Event::CallEnded { .. })) => format!("{event:?}"),
            (_, _) => return None,
        };
        let (title, files) = STAGES.get(self.next)?;
        self.next += 1;
        Some(block(self.next, title, files, &bytes))
    }
}

fn block(number: usize, title: &str, files: &[&str], bytes: &str) -> String {
    let title = format!("== stage {number} of 7: {title} ");
    let mut out = format!("\n{title:=<WIDTH$}\n");
    for file in files {
        out.push_str(&format!("   {file}\n"));
    }
    out.push('\n');
    let shown = text::visible(bytes);
    let clipped = text::clip(&shown, EXCERPT_CHARS);
    for line in clipped.replace('\u{2026}', "...").lines() {
        let characters: Vec<char> = line.chars().collect();
        for part in characters.chunks(WIDTH - 3) {
            let part: String = part.iter().collect();
            out.push_str(format!("   {part}").trim_end());
            out.push('\n');
        }
    }
    out
}

/// Bytes as text, line ends visible and kept.
fn escaped(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes)
        .replace('\r', "\\r")
        .replace('\n', "\\n\n")
}
