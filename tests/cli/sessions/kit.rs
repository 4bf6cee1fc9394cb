//! Sessions on the disk with times that do not change, and commands in their folder.

use crate::support::run::{Ran, run, zcoder};
use crate::support::temp::Temp;
use std::fs;
use std::path::PathBuf;
use std::process::Command;
use std::sync::Arc;
use std::time::{Duration, SystemTime, UNIX_EPOCH};
use zcoder::json::Tree;
use zcoder::policy::Profile;
use zcoder::protocol::{
    CallId, CommandRun, DecidedBy, Decision, FileChange, Message, Note, Receipt, Status, ToolCall,
    TurnId,
};
use zcoder::session::{
    Author, Checkpoint, Edit, Envelope, FrontEnd, Header, ModelRecord, Pointer, Record, SessionId,
    Store, ToolStyle, write_line,
};
use zcoder::sha256::digest;

/// A workspace `ws`, and a home that may have sessions.
pub(crate) struct Kit {
    pub(crate) temp: Temp,
    pub(crate) store: Store,
}

/// 2025-08-21 09:00:00.
const BORN: u64 = 1_755_766_800_000;

fn at(seconds: u64) -> SystemTime {
    UNIX_EPOCH + Duration::from_millis(BORN + 1000 * seconds)
}

/// The id of the session that was begun in that second.
pub(crate) fn id(second: u64) -> String {
    let (minute, second) = (second / 60, second % 60);
    format!("20250821-09{minute:02}{second:02}000-x1y2z3a4")
}

impl Kit {
    pub(crate) fn new() -> Kit {
        let temp = Temp::new();
        fs::create_dir(temp.path().join("ws")).expect("a folder");
        let root = temp.path().join("ws").canonicalize().expect("canonical");
        let store = Store::new(&temp.path().join("home"), &root);
        Kit { temp, store }
    }

    pub(crate) fn command(&self, args: &[&str]) -> Command {
        let mut command = zcoder(&self.temp.path().join("ws"), args);
        command.env("ZCODER_HOME", self.temp.path().join("home"));
        command.env("TZ", "UTC").env_remove("ZCODER_EPHEMERAL");
        command
    }

    pub(crate) fn run(&self, args: &[&str]) -> Ran {
        run(&mut self.command(args))
    }

    /// Exit code, standard output, standard error.
    #[track_caller]
    pub(crate) fn check(&self, args: &[&str], code: i32, out: &str, err: &str) {
        let ran = self.run(args);
        assert_eq!((ran.out.as_str(), ran.err.as_str()), (out, err), "{args:?}");
        assert_eq!(ran.code, Some(code), "{args:?}");
    }

    pub(crate) fn file(&self, id: &str, name: &str) -> PathBuf {
        self.store.folder().join(id).join(name)
    }

    /// Writes a session, each record a second later.
    pub(crate) fn session(&self, second: u64, records: &[Record]) -> String {
        let id = id(second);
        let folder = self.store.folder().join(&id);
        fs::create_dir_all(folder.join("output")).expect("folders");
        let (mut log, mut prev) = (Vec::new(), [0; 32]);
        for (seq, record) in (0..).zip(records) {
            let begin = log.len();
            let at = at(second + seq);
            write_line(&mut log, &Envelope { seq, prev, at }, record);
            prev = digest(&log[begin..]);
            log.push(b'\n');
        }
        let pointer = Pointer {
            generation: 1,
            log: 1,
            length: log.len() as u64,
            hash: prev,
        };
        fs::write(folder.join("log-1.jsonl"), log).expect("log");
        fs::write(folder.join("lock"), "").expect("lock");
        fs::write(folder.join("current"), pointer.line() + "\n").expect("current");
        id
    }
}

pub(crate) fn header(second: u64) -> Record {
    Record::Session(Header {
        id: SessionId(id(second)),
        workspace: "/home/me/app".to_string(),
        profile: Profile::Coding,
        version: "0.1.0".to_string(),
        born: at(second),
        origin: None,
    })
}

pub(crate) fn title(text: &str) -> Record {
    Record::Title {
        text: text.to_string(),
    }
}

pub(crate) fn turn(number: u64, title: &str) -> Record {
    Record::TurnStarted {
        turn: TurnId(number),
        by: Author {
            uid: 1000,
            tty: Some("/dev/pts/3".to_string()),
            front: FrontEnd::OneShot,
        },
        title: Some(title.to_string()),
    }
}

pub(crate) fn user(text: &str) -> Record {
    Record::Message(Message::User {
        text: text.to_string(),
    })
}

pub(crate) fn says(content: &str, thinking: &str, calls: &[(&str, &str, &str)]) -> Record {
    let calls = calls.iter().map(|(id, name, arguments)| ToolCall {
        id: CallId((*id).to_string()),
        name: (*name).to_string(),
        arguments: Tree::parse(arguments.as_bytes()).expect("JSON"),
    });
    Record::Message(Message::Assistant {
        content: Arc::new(content.to_string()),
        thinking: Arc::new(thinking.to_string()),
        calls: calls.collect(),
    })
}

pub(crate) fn result(id: &str, name: &str, text: &str) -> Record {
    Record::Message(Message::Tool {
        call: CallId(id.to_string()),
        name: name.to_string(),
        text: text.to_string(),
    })
}

pub(crate) fn decision(id: &str, shown: &str, decision: Decision, by: DecidedBy) -> Record {
    Record::Decision {
        call: Some(CallId(id.to_string())),
        shown: shown.to_string(),
        decision,
        by,
    }
}

pub(crate) fn receipt(turn: u64, status: Status) -> Record {
    Record::Receipt {
        turn: TurnId(turn),
        receipt: Receipt {
            cut: None,
            status,
            answer: Arc::default(),
            verdict: String::new(),
            files: vec![FileChange {
                path: "src/a.rs".to_string(),
                added: 1,
                removed: 1,
                created: false,
                deleted: false,
                executable: None,
            }],
            commands: vec![CommandRun {
                command: "sh test.sh".to_string(),
                exit: Some(8),
                elapsed: Duration::from_millis(12),
            }],
            calls: 2,
            requests: 1,
            elapsed: Duration::from_secs(3),
            prompt_tokens: 100,
            output_tokens: 20,
            output_time: Duration::from_secs(1),
            counted: None,
        },
    }
}

/// Two requests with one of nearly everything, and what a terminal must not get.
pub(crate) fn two_requests(second: u64) -> Vec<Record> {
    let model = ModelRecord {
        name: "qwen3:8b".to_string(),
        host: "http://127.0.0.1:11434".to_string(),
        window: 32_768,
        tool_style: ToolStyle::Native,
        tools: vec!["read_file".to_string(), "run_command".to_string()],
        think: Some("true".to_string()),
    };
    let note = |note, text: &str| Message::Note {
        note,
        text: text.to_string(),
    };
    vec![
        header(second),
        Record::Model(model),
        Record::Message(Message::System {
            text: "You are zcoder.".to_string(),
        }),
        Record::Message(note(Note::Environment, "Date: 2025-08-21.")),
        title("make the test pass"),
        turn(1, "make the test pass"),
        user("make the test pass\n# not a heading\n<b>&\n"),
        says(
            "",
            "I look first.",
            &[("c1", "run_command", r#"{"command":"sh test.sh"}"#)],
        ),
        decision(
            "c1",
            "sh test.sh",
            Decision::Once,
            DecidedBy::Flag("--yes".to_string()),
        ),
        result("c1", "run_command", "exit code 8\n```\n\x1b[31mFAIL\n"),
        Record::Edit(Edit {
            path: "src/a.rs".to_string(),
            before: Some([0xab; 32]),
            after: None,
            executable: None,
        }),
        says("It *fails*.", "", &[]),
        receipt(1, Status::Done),
        turn(2, "make the test pass"),
        user("try again"),
        Record::Checkpoint(Checkpoint {
            note: note(Note::Checkpoint, "Goal: a passing test."),
            kept: vec![6, 14],
            before: 30_000,
            after: 2_000,
        }),
        decision(
            "c2",
            "rm -rf /",
            Decision::Deny {
                reason: Some("not that".to_string()),
            },
            DecidedBy::Person,
        ),
        receipt(
            2,
            Status::Limit {
                which: "--max-turns 1".to_string(),
            },
        ),
    ]
}
