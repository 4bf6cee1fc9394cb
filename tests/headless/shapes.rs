//! `zcoder help output` against what is written: one row for each event, with the members that it has.

use zcoder::config::help;
use zcoder::headless::event_line;
use zcoder::json::Tree;
use zcoder::protocol::{
    AskId, CallId, ContextReport, DecidedBy, Decision, Event, Facts, InputState, Level, Opinion,
    Question, Receipt, RequestId, Status, StepReport, StopReason, ToolCall, ToolOutcome,
    ToolStatus, TurnId, Usage, Waiting, Way,
};

/// What follows an event here. Exhaustive: a new event does not build before it has a place, and then it needs a row.
fn next(event: Option<&Event>) -> Option<Event> {
    let (turn, request, ask) = (TurnId(1), RequestId(1), AskId(1));
    let call = CallId("call_a".to_string());
    let word = || "x".to_string();
    Some(match event {
        None => Event::TurnStarted { turn },
        Some(Event::TurnStarted { .. }) => Event::Notice {
            level: Level::Info,
            text: word(),
        },
        Some(Event::Notice { .. }) => Event::Model {
            name: word(),
            why: word(),
            address: word(),
            window: 1,
            window_why: word(),
        },
        Some(Event::Model { .. }) => Event::RequestSent {
            request,
            bytes: 1,
            estimated_tokens: 1,
        },
        Some(Event::RequestSent { .. }) => Event::Waiting {
            request,
            waiting: Waiting::Connecting,
        },
        Some(Event::Waiting { .. }) => Event::Thinking {
            request,
            text: word(),
        },
        Some(Event::Thinking { .. }) => Event::Content {
            request,
            text: word(),
        },
        Some(Event::Content { .. }) => Event::Replied {
            request,
            usage: Usage::default(),
            stop: StopReason::Stop,
            recovered: false,
        },
        Some(Event::Replied { .. }) => Event::Discarded {
            request,
            reason: word(),
        },
        Some(Event::Discarded { .. }) => Event::CallStarted {
            call: ToolCall {
                id: call,
                name: word(),
                arguments: Tree::parse(b"{}").expect("JSON"),
            },
            summary: word(),
        },
        Some(Event::CallStarted { .. }) => Event::Asked {
            ask,
            call: None,
            question: Question::Loop {
                description: word(),
            },
        },
        Some(Event::Asked { .. }) => Event::Decided {
            ask: None,
            call: None,
            decision: Decision::Once,
            by: DecidedBy::Person,
        },
        Some(Event::Decided { .. }) => Event::Output { call, text: word() },
        Some(Event::Output { .. }) => Event::CallEnded {
            call,
            name: word(),
            outcome: ToolOutcome {
                status: ToolStatus::Ok,
                text: word(),
                facts: Facts::None,
            },
        },
        Some(Event::CallEnded { .. }) => Event::Touched {
            call,
            files: Vec::new(),
            more: 0,
        },
        Some(Event::Touched { .. }) => Event::Saved {
            session: word(),
            records: 1,
            head: word(),
        },
        Some(Event::Saved { .. }) => Event::TurnEnded {
            turn,
            receipt: Receipt {
                cut: None,
                status: Status::Done,
                answer: Default::default(),
                verdict: word(),
                files: Vec::new(),
                commands: Vec::new(),
                calls: 0,
                requests: 0,
                elapsed: Default::default(),
                prompt_tokens: 0,
                output_tokens: 0,
                output_time: Default::default(),
                counted: None,
            },
        },
        Some(Event::TurnEnded { .. }) => Event::Stepped(StepReport {
            what: word(),
            changes: Vec::new(),
            conflicts: Vec::new(),
            notes: Vec::new(),
            copies: Vec::new(),
            made: false,
        }),
        Some(Event::Stepped(_)) => Event::Reviewed {
            patch: word(),
            files: Vec::new(),
            notes: Vec::new(),
        },
        Some(Event::Reviewed { .. }) => Event::Compacting {
            tokens: 1,
            window: 1,
        },
        Some(Event::Compacting { .. }) => Event::Compacted {
            before: 2,
            after: 1,
            left_out: 1,
            count: 1,
        },
        Some(Event::Compacted { .. }) => Event::CompactionFailed { reason: word() },
        Some(Event::CompactionFailed { .. }) => Event::Context(ContextReport {
            window: 1,
            bytes: 1,
            tokens: 1,
            counted: None,
            compacts_at: None,
            compactions: 0,
            rows: Vec::new(),
        }),
        Some(Event::Context(_)) => Event::Input {
            id: word(),
            way: Way::Steer,
            state: InputState::Accepted,
        },
        Some(Event::Input { .. }) => Event::Queued {
            held: false,
            pending: Vec::new(),
        },
        Some(Event::Queued { .. }) => Event::Goal(None),
        Some(Event::Goal(_)) => Event::Verifying { attempt: 1 },
        Some(Event::Verifying { .. }) => Event::Verified(Opinion {
            accepted: false,
            reason: word(),
            next: word(),
            missing: Vec::new(),
        }),
        Some(Event::Verified(_)) => Event::Closed,
        Some(Event::Closed) => return None,
    })
}

/// The rows of the topic: from `{"type":` to the bracket that closes it.
fn rows(topic: &str) -> Vec<String> {
    let mut rows: Vec<String> = Vec::new();
    let start = topic.find("\njsonl, ").expect("the part on jsonl");
    for line in topic[start..].lines() {
        let open = |row: &String| row.matches('{').count() > row.matches('}').count();
        match rows.last_mut() {
            _ if line.starts_with("  {\"type\":") => rows.push(line.trim().to_string()),
            Some(row) if open(row) => row.push_str(line.trim()),
            Some(_) | None => {}
        }
    }
    rows
}

#[test]
fn each_event_has_a_row_with_its_members() {
    let rows = rows(&help::topic("output").expect("a topic"));
    let mut event = next(None);
    let mut seen = vec!["start".to_string()];
    while let Some(now) = event {
        let line = event_line(&now);
        let tree = Tree::parse(&line).expect("one JSON text");
        let kind = tree.root().get("type").and_then(|kind| kind.as_str());
        let kind = kind.expect("a type");
        let row = rows
            .iter()
            .find(|row| row.starts_with(&format!("{{\"type\":\"{kind}\"")));
        let Some(row) = row else {
            panic!("`zcoder help output` has no row for {kind}");
        };
        // A row that ends in `,…}` leaves members out, or names them elsewhere.
        let open = row.ends_with("…}");
        for (key, _) in tree.root().members() {
            assert!(
                open || row.contains(&format!("\"{key}\":")),
                "the row of {kind} lacks {key}: {row}"
            );
        }
        // The other way round: what the row names on its own level is written.
        for key in keys(row) {
            assert!(
                tree.root().get(&key).is_some() || kind == "waiting",
                "the row of {kind} names {key}, which is not written"
            );
        }
        seen.push(kind.to_string());
        event = next(Some(&now));
    }
    for row in &rows {
        let kind = row.split('"').nth(3).expect("a type");
        assert!(seen.contains(&kind.to_string()), "no event is a {kind}");
    }
}

/// The names of members on the outer level of a row.
fn keys(row: &str) -> Vec<String> {
    let (mut depth, mut keys, mut word, mut quoted) = (0, Vec::new(), String::new(), false);
    for c in row.chars() {
        match c {
            '"' => {
                quoted = !quoted;
                if quoted {
                    word.clear();
                }
            }
            c if quoted => word.push(c),
            '{' | '[' => depth += 1,
            '}' | ']' => depth -= 1,
            ':' if depth == 1 => keys.push(word.clone()),
            _ => {}
        }
    }
    keys
}

#[test]
fn a_speed_needs_a_time_that_was_measured() {
    use std::time::Duration;
    use zcoder::headless::show::speed;
    for (tokens, time, expected) in [
        (80, Duration::from_secs(2), Some("40 tokens/s")),
        (1, Duration::from_millis(1), Some("1,000 tokens/s")),
        (10, Duration::from_nanos(1), None),
        (10, Duration::from_micros(999), None),
        (10, Duration::ZERO, None),
        (0, Duration::from_secs(1), None),
    ] {
        assert_eq!(speed(tokens, time).as_deref(), expected, "{time:?}");
    }
}
