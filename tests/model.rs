//! Tests of `src/model`: the request's bytes, the stream corpus against the assembler and over real sockets, calls found in
//! content, the choice of model and window, and every text of the error catalogue.

mod catalogue;
mod chat;
mod choose;
mod discover;
mod peer;
mod recover;
mod request;

use peer::Peer;
use std::time::Duration;
use zcoder::http::client::Timeouts;
use zcoder::http::{Endpoint, Target};
use zcoder::json::Tree;
use zcoder::model::{Backend, Chat, Delays, Error, Options, Progress, Reply, Shape};
use zcoder::protocol::{Message, Tap, Waiting};
use zcoder::sys::Cancel;

/// The tools that calls may name.
const OFFERED: &[&str] = &["read_file", "list_files", "run_command"];

/// Short, and each of its own length.
const DELAYS: Delays = Delays {
    busy: Duration::from_millis(20),
    unloading: Duration::from_millis(30),
    status: Duration::from_millis(40),
    status_via: Duration::from_millis(50),
};

fn options(port: u16) -> Options {
    let (endpoint, _) = Endpoint::parse(&format!("127.0.0.1:{port}")).expect("an address");
    let target = Target::new(endpoint, None, Vec::new()).expect("a target");
    Options {
        timeouts: Timeouts {
            connect: Duration::from_secs(5),
            first_byte: Some(Duration::from_secs(30)),
            gap: Some(Duration::from_secs(30)),
        },
        delays: DELAYS,
        ..Options::new(target)
    }
}

fn shape() -> Shape {
    Shape {
        model: "m".to_string(),
        window: 32768,
        think: None,
        max_output: None,
        native_tools: Some("[]".to_string()),
        keep_alive: None,
        temperature: None,
        seed: None,
    }
}

fn plain_chat() -> Chat<'static> {
    Chat {
        offered: OFFERED,
        text_style: false,
        new_tokens: 0,
        prompt_speed: None,
    }
}

/// What a front end saw: thinking, content, and resends.
#[derive(Debug, Default, PartialEq)]
struct Seen {
    thinking: String,
    content: String,
    resends: Vec<String>,
    /// What was waited before each resend that was not made at once.
    delays: Vec<Duration>,
}

/// One chat with this peer.
fn talk(peer: &Peer) -> (Result<Reply, Error>, Seen) {
    talk_as(peer, &plain_chat())
}

fn talk_as(peer: &Peer, chat: &Chat<'_>) -> (Result<Reply, Error>, Seen) {
    let backend = Backend::ollama(&options(peer.port()), Tap::default());
    let cancel = Cancel::new().expect("a switch");
    let mut body = backend.begin(&shape());
    body.push(&Message::User {
        text: "go".to_string(),
    });
    let mut seen = Seen::default();
    let result = backend.chat(
        &shape(),
        &body,
        chat,
        &cancel,
        &mut |progress| match progress {
            Progress::Thinking(text) => seen.thinking.push_str(text),
            Progress::Content(text) => seen.content.push_str(text),
            Progress::Resending { why, attempt } => {
                let delays = std::mem::take(&mut seen.delays);
                seen = Seen {
                    resends: vec![format!("{attempt}: {why}")],
                    delays,
                    ..Seen::default()
                };
            }
            Progress::Waiting(Waiting::Resending { delay, .. }) => seen.delays.push(delay),
            Progress::Sent { .. } | Progress::Waiting(_) | Progress::Loaded(_) => {}
        },
    );
    (result, seen)
}

fn tree(json: &str) -> Tree {
    Tree::parse(json.as_bytes()).expect("JSON of the test")
}

/// Calls as `name arguments`, one each.
fn calls(reply: &Reply) -> Vec<String> {
    let calls = reply.calls.iter();
    calls
        .map(|call| format!("{} {}", call.name, call.arguments))
        .collect()
}
