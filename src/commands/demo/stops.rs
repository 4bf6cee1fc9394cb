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
use super::seen::Seen;
use crate::protocol::{Event, Message};
use crate::text;

/// Characters of a stage's bytes that are shown.
const EXCERPT_CHARS: usize = 900;

/// A stage: what happens, and where.
#[derive(Debug)]
pub(super) struct Stage {
    /// What happens.
    pub(super) title: &'static str,
    /// Source files, in reading order.
    pub(super) files: &'static [&'static str],
}

/// All seven.
pub(super) const STAGES: [Stage; 7] = [
    Stage {
        title: "a wish becomes an Op for the engine",
        files: &["src/protocol/op.rs", "src/engine/wait.rs"],
    },
    Stage {
        title: "the conversation becomes request bytes",
        files: &[
            "src/engine/prompt.rs",
            "src/model/ollama/request.rs",
            "src/http/client.rs",
        ],
    },
    Stage {
        title: "the socket's bytes become body bytes",
        files: &["src/http/head.rs", "src/http/body.rs"],
    },
    Stage {
        title: "body bytes become records",
        files: &["src/lines/ndjson.rs", "src/model/ollama/record.rs"],
    },
    Stage {
        title: "records become one complete reply",
        files: &["src/model/assemble.rs", "src/engine/decide.rs"],
    },
    Stage {
        title: "a call is checked, judged, carried out",
        files: &[
            "src/tools/args.rs",
            "src/policy/decide.rs",
            "src/tools/list.rs",
        ],
    },
    Stage {
        title: "the outcome is recorded and becomes an Event",
        files: &[
            "src/session/mod.rs",
            "src/protocol/event.rs",
            "src/commands/demo/show.rs",
        ],
    },
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
    pub(super) fn see(&mut self, seen: &Seen) -> Option<String> {
        let bytes = match (self.next, seen) {
            (_, Seen::Begins(what)) => {
                self.in_chat = what == "POST /api/chat";
                return None;
            }
            (0, Seen::Op(op)) => format!("{op:?}"),
            (1, Seen::Request(bytes)) if self.in_chat => {
                // The head comes alone; the body completes it.
                let shown = escaped(bytes);
                if self.head.is_empty() {
                    self.head = shown;
                    return None;
                }
                format!("{}\n{shown}", self.head)
            }
            (2, Seen::Wire(bytes)) if self.in_chat => escaped(bytes),
            (3, Seen::Record(line)) => escaped(line),
            (4, Seen::Reply(message @ Message::Assistant { .. })) => format!("{message:#?}"),
            (5, Seen::Outcome(outcome)) => format!("{outcome:#?}"),
            (6, Seen::Event(event @ Event::CallEnded { .. })) => format!("{event:?}"),
            (
                _,
                Seen::Op(_)
                | Seen::Request(_)
                | Seen::Wire(_)
                | Seen::Body(_)
                | Seen::Record(_)
                | Seen::Reply(_)
                | Seen::Verdict(_)
                | Seen::Outcome(_)
                | Seen::Event(_)
                | Seen::Ends,
            ) => return None,
        };
        let stage = STAGES.get(self.next)?;
        self.next += 1;
        Some(block(self.next, stage, &bytes))
    }
}

fn block(number: usize, stage: &Stage, bytes: &str) -> String {
    let title = format!("== stage {number} of 7: {} ", stage.title);
    let mut out = format!("\n{title:=<WIDTH$}\n");
    for file in stage.files {
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
