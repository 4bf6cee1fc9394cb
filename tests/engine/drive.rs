//! Drives a real engine against the fake server in a workspace of its own, and writes its events as lines that can be compared.

use super::fake::{Fake, Scene};
use crate::support::temp::Temp;
use std::sync::mpsc::{Receiver, channel};
use std::time::{Duration, Instant};
use zcoder::engine::{self, Compaction, Setup, Submit, TurnLimits};
use zcoder::guidance::Guidance;
use zcoder::http::{Endpoint, Target};
use zcoder::json::{Tree, Value};
use zcoder::model::{Backend, Options};
use zcoder::policy::{CommandMode, EditMode, Policy, Profile};
use zcoder::protocol::{Decision, Event, Level, Op, Tap};
use zcoder::session::{Author, FrontEnd, Log};
use zcoder::tools::{Limits, Toolbox, Workspace};
use zcoder::undo::Journal;

/// No event comes later than this; reached only when a test fails.
const PATIENCE: Duration = Duration::from_secs(30);

/// An engine, its server and its workspace.
pub(crate) struct Run {
    pub(crate) fake: Fake,
    pub(crate) temp: Temp,
    submit: Submit,
    events: Receiver<Event>,
}

/// A setup as the tests want it: commands ask, edits are free, nobody to ask.
pub(crate) fn setup(fake: &Fake, temp: &Temp) -> Setup {
    let (endpoint, _) = Endpoint::parse(&fake.address.to_string()).expect("address");
    let target = Target::new(endpoint, None, Vec::new()).expect("target");
    let model = Options {
        model: Some(("m".to_string(), "--model")),
        ..Options::new(target)
    };
    let limits = Limits {
        read_bytes: 64 * 1024,
        output_bytes: 16 * 1024,
        command_timeout: Duration::from_secs(60),
        command_wrapper: Vec::new(),
    };
    let root = temp.path().join("work");
    std::fs::create_dir_all(&root).expect("workspace");
    let workspace = Workspace::open(&root, Vec::new()).expect("workspace");
    let tap = Tap::default();
    Setup {
        backend: Backend::ollama(&model, tap.clone()),
        model,
        toolbox: Toolbox::new(workspace, limits, temp.path().join("outputs"), true),
        policy: Policy::new(CommandMode::Ask, EditMode::Auto, Profile::Coding, None),
        profile: Profile::Coding,
        guidance: Guidance::default(),
        limits: TurnLimits::default(),
        compaction: Compaction::default(),
        log: Log::in_memory().expect("log"),
        author: Author {
            uid: 0,
            tty: None,
            front: FrontEnd::OneShot,
        },
        journal: Journal::off(),
        tap,
        interactive: false,
        refuses: None,
        strict_finish: false,
        offline: false,
    }
}

pub(crate) fn allow_commands(setup: &mut Setup) {
    setup.policy = Policy::new(
        CommandMode::Allow,
        EditMode::Auto,
        Profile::Coding,
        Some("--yes"),
    );
}

impl Run {
    /// Starts with a workspace that `prepare` filled and a setup that it changed.
    pub(crate) fn start(scene: Scene, prepare: impl FnOnce(&Temp, &mut Setup)) -> Run {
        let fake = Fake::start(scene);
        let temp = Temp::new();
        let mut setup = setup(&fake, &temp);
        prepare(&temp, &mut setup);
        let (sender, events) = channel();
        let emit = Box::new(move |event| {
            let _ = sender.send(event);
        });
        let submit = engine::spawn(setup, emit).expect("engine");
        Run {
            fake,
            temp,
            submit,
            events,
        }
    }

    /// What says it, to be said elsewhere.
    pub(crate) fn submit(&self) -> Submit {
        Submit::clone(&self.submit)
    }

    pub(crate) fn say(&self, op: Op) {
        (self.submit)(op);
    }

    pub(crate) fn prompt(&self, text: &str) {
        let text = text.to_string();
        let attachment = None;
        self.say(Op::Prompt { text, attachment });
    }

    /// Events up to and with the first one that `last` names.
    pub(crate) fn until(&self, last: impl Fn(&Event) -> bool) -> Vec<Event> {
        let mut events = Vec::new();
        // For all of them together: an engine that waits for ever tells so every second.
        let deadline = Instant::now() + PATIENCE;
        loop {
            let left = deadline.saturating_duration_since(Instant::now());
            let event = match self.events.recv_timeout(left) {
                Ok(event) => event,
                Err(error) => panic!("{error} after {:#?}", show(&events)),
            };
            let ends = last(&event);
            events.push(event);
            if ends {
                return events;
            }
        }
    }

    pub(crate) fn until_ended(&self) -> Vec<Event> {
        self.until(|event| matches!(event, Event::TurnEnded { .. }))
    }

    /// One whole turn.
    pub(crate) fn turn(&self, text: &str) -> Vec<Event> {
        self.prompt(text);
        self.until_ended()
    }

    /// One whole turn in which every question is answered with `decision`.
    pub(crate) fn turn_deciding(&self, text: &str, decision: &Decision) -> Vec<Event> {
        self.prompt(text);
        let mut events = Vec::new();
        loop {
            events.extend(
                self.until(|event| matches!(event, Event::TurnEnded { .. } | Event::Asked { .. })),
            );
            match events.last() {
                Some(Event::Asked { ask, .. }) => self.say(Op::Decide {
                    ask: *ask,
                    decision: decision.clone(),
                }),
                _ => return events,
            }
        }
    }

    /// Ends the engine, checks every request that was sent, and returns the chat bodies.
    pub(crate) fn finish(self) -> Vec<Vec<u8>> {
        self.say(Op::Quit);
        self.until(|event| *event == Event::Closed);
        let chats = self.fake.chats();
        chats.iter().for_each(|body| check_history(body));
        chats
    }
}

/// The rule of `message.rs`: one system message, first; each call answered once, in order, with nothing between.
#[track_caller]
pub(crate) fn check_history(body: &[u8]) {
    let text = String::from_utf8_lossy(body);
    let tree = Tree::parse(body).expect("the request is JSON");
    let messages = tree.root().get("messages").expect("messages");
    let mut open: Vec<String> = Vec::new();
    let field = |value: Value<'_>, key: &str| -> String {
        let value = value.get(key).and_then(Value::as_str);
        value.unwrap_or_default().to_string()
    };
    let mut last = String::new();
    for (index, message) in messages.items().enumerate() {
        let role = field(message, "role");
        assert_eq!(role == "system", index == 0, "{text}");
        if role == "tool" {
            assert!(!open.is_empty(), "a result without a call: {text}");
            assert_eq!(field(message, "tool_call_id"), open.remove(0), "{text}");
        } else {
            assert_eq!(open, Vec::<String>::new(), "calls without results: {text}");
        }
        if let Some(calls) = message.get("tool_calls") {
            open = calls.items().map(|call| field(call, "id")).collect();
        }
        last = role;
    }
    assert_eq!(open, Vec::<String>::new(), "calls without results: {text}");
    assert!(last == "user" || last == "tool", "ends with {last}: {text}");
}

/// The prefix rule: each request without its closing brackets begins the next one.
#[track_caller]
pub(crate) fn check_prefixes(chats: &[Vec<u8>]) {
    for (n, pair) in chats.windows(2).enumerate() {
        let open = pair[0].strip_suffix(b"]}").expect("closed by brackets");
        assert!(pair[1].starts_with(open), "request {} is no prefix", n + 1);
        assert!(
            pair[1].len() > pair[0].len(),
            "request {} was sent again",
            n + 1
        );
    }
}

/// Events as lines. Times, sizes and waiting lines are left out; pieces of one text are joined.
pub(crate) fn show(events: &[Event]) -> Vec<String> {
    let mut lines: Vec<String> = Vec::new();
    for event in events {
        let line = match event {
            Event::Waiting { .. } => continue,
            Event::Model {
                name,
                why,
                address: _,
                window,
                window_why,
            } => format!("model {name}: {why}; {window}: {window_why}"),
            Event::Notice { level, text } => {
                let level = match level {
                    Level::Info => "info",
                    Level::Warning => "warning",
                    Level::Error => "error",
                };
                format!("{level}: {text}")
            }
            Event::TurnStarted { turn } => format!("turn {}", turn.0),
            Event::RequestSent { request, .. } => format!("sent {}", request.0),
            Event::Thinking { request, text } => format!("thinking {}: {text}", request.0),
            Event::Content { request, text } => format!("content {}: {text}", request.0),
            Event::Replied {
                request,
                usage: _,
                stop,
                recovered,
            } => {
                let recovered = if *recovered { ", recovered" } else { "" };
                format!("replied {}: {stop:?}{recovered}", request.0)
            }
            Event::Discarded { request, reason } => format!("discarded {}: {reason}", request.0),
            Event::CallStarted { call, summary } => format!("call {}: {summary}", call.id.0),
            Event::Asked {
                ask,
                call,
                question,
            } => {
                let call = call.as_ref().map_or("-", |call| &call.0);
                format!("asked {} {call}: {question:?}", ask.0)
            }
            Event::Decided {
                ask,
                call,
                decision,
                by,
            } => {
                let ask = ask.map_or("-".to_string(), |ask| ask.0.to_string());
                let call = call.as_ref().map_or("-", |call| &call.0);
                format!("decided {ask} {call}: {decision:?} by {by:?}")
            }
            Event::Output { call, text } => format!("output {}: {text}", call.0),
            Event::CallEnded {
                call,
                name,
                outcome,
            } => format!(
                "ended {} {name}: {:?} {}",
                call.0, outcome.status, outcome.text
            ),
            Event::Touched { call, files, more } => {
                format!("touched {}: {} +{more}", call.0, files.join(", "))
            }
            Event::Context(report) => format!("context: {report:?}"),
            Event::Compacting { tokens, window } => format!("compacting {tokens} of {window}"),
            Event::Compacted {
                before,
                after,
                left_out,
                count,
            } => format!("compacted {before} to {after}, {left_out} left out, number {count}"),
            Event::CompactionFailed { reason } => format!("not compacted: {reason}"),
            Event::Saved { records, .. } => format!("saved {records}"),
            Event::Input { id, way, state } => format!("input {id} {way:?}: {state:?}"),
            Event::Queued { held, pending } => {
                let pending = pending.iter().map(|p| format!("{} {:?}", p.id, p.way));
                let pending = pending.collect::<Vec<_>>().join(", ");
                let held = if *held { " held" } else { "" };
                format!("queued{held}: {pending}")
            }
            Event::Goal(None) => "no goal".to_string(),
            Event::Goal(Some(goal)) => format!(
                "goal {:?}, rejected {}: {}",
                goal.state, goal.rejections, goal.reason
            ),
            Event::Verifying { attempt } => format!("verifying {attempt}"),
            Event::Verified(opinion) => format!("verified: {opinion:?}"),
            Event::Stepped(report) => format!("stepped: {report:?}"),
            Event::Reviewed {
                patch,
                files: _,
                notes,
            } => format!("reviewed: {patch:?} {notes:?}"),
            Event::TurnEnded { turn, receipt } => {
                format!(
                    "turn {} ended: {:?}; {}",
                    turn.0, receipt.status, receipt.verdict
                )
            }
            Event::Closed => "closed".to_string(),
        };
        let joins = matches!(
            event,
            Event::Content { .. } | Event::Thinking { .. } | Event::Output { .. }
        );
        let head = line.split_inclusive(": ").next().unwrap_or_default();
        match lines.last_mut() {
            Some(last) if joins && last.starts_with(head) => last.push_str(&line[head.len()..]),
            _ => lines.push(line),
        }
    }
    lines
}

/// From the first event of the turn proper on: model and window are told before.
pub(crate) fn after_opening(lines: Vec<String>) -> Vec<String> {
    let start = lines
        .iter()
        .position(|line| line.starts_with("sent "))
        .unwrap_or(0);
    lines[start..].to_vec()
}
