//! Records of every kind, and stores in temporary folders.

use crate::support::temp::Temp;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, UNIX_EPOCH};
use zcoder::json::Tree;
use zcoder::policy::Profile;
use zcoder::protocol::{
    CallId, CommandRun, Counted, Cut, DecidedBy, Decision, Doing, FileChange, Goal, GoalState,
    Halt, Message, Note, Pending, Receipt, Status, ToolCall, TurnId, Way,
};
use zcoder::session::{
    Author, Checkpoint, Edit, FrontEnd, Header, Log, ModelRecord, Origin, Record, SessionId, Store,
    ToolStyle,
};

/// A state folder and the sessions of one workspace in it.
pub(crate) struct Kit {
    pub(crate) temp: Temp,
    pub(crate) store: Store,
}

impl Kit {
    pub(crate) fn new() -> Kit {
        Kit::inside(Temp::new())
    }

    pub(crate) fn inside(temp: Temp) -> Kit {
        let store = Store::new(temp.path(), Path::new("/home/me/app"));
        Kit { temp, store }
    }

    /// A session with its header and these texts as user messages, committed.
    pub(crate) fn committed(&self, texts: &[&str]) -> Log {
        let mut log = self.store.begin(Profile::Coding).expect("a log");
        for text in texts {
            log.append(user(text));
        }
        log.commit().expect("a commit");
        log
    }

    /// A file in a session's folder.
    pub(crate) fn file(&self, log: &Log, name: &str) -> PathBuf {
        self.store.folder().join(&log.id().0).join(name)
    }
}

pub(crate) fn user(text: &str) -> Record {
    Record::Message(Message::User {
        text: text.to_string(),
    })
}

pub(crate) fn call(id: &str, arguments: &str) -> ToolCall {
    ToolCall {
        id: CallId(id.to_string()),
        name: "run_command".to_string(),
        arguments: Tree::parse(arguments.as_bytes()).expect("JSON"),
    }
}

pub(crate) fn assistant(content: &str, calls: Vec<ToolCall>) -> Record {
    Record::Message(Message::Assistant {
        content: Arc::new(content.to_string()),
        thinking: Arc::default(),
        calls,
    })
}

pub(crate) fn result(id: &str, text: &str) -> Record {
    Record::Message(Message::Tool {
        call: CallId(id.to_string()),
        name: "run_command".to_string(),
        text: text.to_string(),
    })
}

pub(crate) fn author() -> Author {
    Author {
        uid: 1000,
        tty: Some("/dev/pts/3".to_string()),
        front: FrontEnd::Terminal,
    }
}

pub(crate) fn receipt(status: Status) -> Receipt {
    Receipt {
        cut: None,
        status,
        answer: Arc::new("all\u{0}\n".to_string()),
        verdict: "model says done; last command failed: ctest (exit 8)".to_string(),
        files: vec![FileChange {
            path: "src/a.rs".to_string(),
            added: 3,
            removed: u64::MAX,
            created: true,
            deleted: false,
            executable: Some(false),
        }],
        commands: vec![
            CommandRun {
                command: "sh test.sh".to_string(),
                exit: Some(-1),
                elapsed: Duration::from_nanos(1_234_567_891),
            },
            CommandRun {
                command: "sleep 9".to_string(),
                exit: None,
                elapsed: Duration::ZERO,
            },
        ],
        calls: 7,
        requests: 4,
        elapsed: Duration::from_millis(61_001),
        prompt_tokens: 12,
        output_tokens: 0,
        output_time: Duration::from_secs(3),
        counted: None,
    }
}

/// Every kind of record, and every variant of what is in it.
pub(crate) fn every_record() -> Vec<Record> {
    let text = |text: &str| text.to_string();
    let odd = "a\u{0}\"\\\n\u{1b}[31m\u{2028}é日本🦀";
    let header = |origin| Header {
        id: SessionId(text("20260821-090000123-x1y2z3a4")),
        workspace: text("/home/me/app"),
        profile: Profile::Coding,
        version: text("0.1.0"),
        born: UNIX_EPOCH + Duration::from_millis(1_787_302_800_123),
        origin,
    };
    let origin = Origin {
        session: SessionId(text("20260820-090000123-x1y2z3a4")),
        seq: 17,
    };
    let model = |tool_style, think: Option<&str>| ModelRecord {
        name: text("qwen3:8b"),
        host: text("http://127.0.0.1:11434"),
        window: 32_768,
        tool_style,
        tools: vec![text("read_file"), text("run_command")],
        think: think.map(str::to_string),
    };
    let turn = |front, tty: Option<&str>, title: Option<&str>| Record::TurnStarted {
        turn: TurnId(3),
        by: Author {
            uid: u32::MAX,
            tty: tty.map(str::to_string),
            front,
        },
        title: title.map(str::to_string),
    };
    let decision = |call: Option<&str>, decision, by| Record::Decision {
        call: call.map(|call| CallId(text(call))),
        shown: text(odd),
        decision,
        by,
    };
    let edit = |before, after, executable| {
        Record::Edit(Edit {
            path: text("src/a.rs"),
            before,
            after,
            executable,
        })
    };
    let deep = format!("{}1.0{}", "[".repeat(128), "]".repeat(128));
    let mut records = vec![
        Record::Session(header(None)),
        Record::Session(Header {
            profile: Profile::Sysadmin,
            ..header(Some(origin))
        }),
        Record::Title { text: text(odd) },
        Record::Model(model(ToolStyle::Native, None)),
        Record::Model(model(ToolStyle::Text, Some("\"low\""))),
        turn(FrontEnd::Terminal, Some("/dev/pts/3"), Some("the test")),
        turn(FrontEnd::Lines, None, None),
        turn(FrontEnd::OneShot, None, None),
        turn(FrontEnd::Editor, None, None),
        turn(FrontEnd::Remote, None, None),
        Record::Message(Message::System { text: text(odd) }),
        user(odd),
        user(""),
        assistant(odd, vec![]),
        assistant("", vec![call("a", "{}"), call("b", &deep)]),
        assistant("", vec![call("c", r#"{"n":1.50,"e":1e999,"n":0}"#)]),
        Record::Message(Message::Assistant {
            content: Arc::default(),
            thinking: Arc::new(text(odd)),
            calls: vec![call("d", r#""not an object""#)],
        }),
        result("a", odd),
        decision(Some("a"), Decision::Once, DecidedBy::Person),
        decision(
            None,
            Decision::Session,
            DecidedBy::Flag(text("--of-the-future")),
        ),
        decision(None, Decision::SessionRule, DecidedBy::Rule(text(odd))),
        decision(None, Decision::KeptRule, DecidedBy::Session),
        decision(None, Decision::Deny { reason: None }, DecidedBy::Nobody),
        decision(
            None,
            Decision::Deny {
                reason: Some(text(odd)),
            },
            DecidedBy::Person,
        ),
        decision(None, Decision::Nobody, DecidedBy::Nobody),
        edit(None, Some([0xff; 32]), Some(true)),
        edit(Some([1; 32]), None, Some(false)),
        edit(Some([1; 32]), Some([0; 32]), None),
        Record::Checkpoint(Checkpoint {
            note: Message::Note {
                note: Note::Checkpoint,
                text: text(odd),
            },
            kept: vec![1, 2, u64::MAX],
            before: 31_000,
            after: 4_000,
        }),
        Record::Accepted(Pending {
            id: text("a1"),
            way: Way::Steer,
            text: text(odd),
        }),
        Record::Accepted(Pending {
            id: text("a2"),
            way: Way::Queue,
            text: text(""),
        }),
        Record::Accepted(Pending {
            id: text("a3"),
            way: Way::Shell { in_context: true },
            text: text(odd),
        }),
        Record::Settled {
            id: text("a1"),
            consumed: true,
        },
        Record::Shell {
            id: text(odd),
            command: text(odd),
            in_context: false,
        },
        Record::Goal(Goal {
            objective: text(odd),
            limit: None,
            tokens: 0,
            rejections: 0,
            state: GoalState::Cleared,
            reason: String::new(),
            feedback: String::new(),
        }),
        Record::Gap {
            log: text("log-1.jsonl"),
            length: u64::MAX,
            hash: [0xab; 32],
        },
        Record::Lost {
            log: text("log-1.jsonl"),
            offset: 0,
            bytes: 1,
        },
    ];
    let notes = [
        Note::Environment,
        Note::Recovery,
        Note::Loop,
        Note::Cancelled,
        Note::Stepped,
        Note::Goal,
        Note::Shell,
        Note::Checkpoint,
        Note::Guidance,
    ];
    records.extend(notes.map(|note| {
        Record::Message(Message::Note {
            note,
            text: text(odd),
        })
    }));
    let why = || text("because");
    let statuses = [
        Status::Done,
        Status::Blocked,
        Status::Failed,
        Status::ServerFailed { reason: why() },
        Status::Unusable { reason: why() },
        Status::NeedsApproval { what: why() },
        Status::Limit { which: why() },
        Status::NotSaved { reason: why() },
        Status::Cancelled,
    ];
    records.extend(statuses.map(|status| Record::Receipt {
        turn: TurnId(3),
        receipt: receipt(status),
    }));
    let by = [Halt::Cancel, Halt::HangUp, Halt::Terminate, Halt::Quit];
    let doing = [
        Doing::Between,
        Doing::Waiting,
        Doing::Loading,
        Doing::Reading,
        Doing::Answering,
        Doing::Unseen,
        Doing::Asking,
        Doing::Running(vec![text(odd), text("list_files .")]),
        Doing::Own(text(odd)),
    ];
    let cuts = by.into_iter().cycle().zip(doing);
    records.extend(cuts.map(|(by, doing)| Record::Receipt {
        turn: TurnId(3),
        receipt: Receipt {
            cut: Some(Box::new(Cut { by, doing })),
            counted: Some(Counted {
                bytes: 3812,
                tokens: 905,
            }),
            ..receipt(Status::Cancelled)
        },
    }));
    records
}
