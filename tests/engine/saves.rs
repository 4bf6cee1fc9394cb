//! What is on the disk when. The disk is looked at on the engine's own thread, by a tap: at that moment, not a little later.

use super::drive::{Run, allow_commands, check_prefixes, show};
use super::fake::{Scene, calls, says};
use crate::support::temp::Temp;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};
use zcoder::engine::{Compaction, Setup};
use zcoder::policy::Profile;
use zcoder::protocol::{Event, Message, Receipt, Stage, Status, Tap, TurnId};
use zcoder::session::{Author, FrontEnd, Log, Pointer, Record, SessionId, Store, read_line};
use zcoder::sys::file::Locked;

/// Kinds of the committed records of the only session there.
fn kinds(sessions: &Path) -> Vec<String> {
    let Some(folder) = session(sessions) else {
        return Vec::new();
    };
    let pointer = fs::read(folder.join("current")).expect("pointer");
    let pointer = Pointer::parse(&pointer).expect("a pointer");
    let log = fs::read(folder.join("log-1.jsonl")).expect("log");
    let length = usize::try_from(pointer.length).expect("small");
    let lines = log[..length].split_inclusive(|byte| *byte == b'\n');
    let record = |line: &[u8]| {
        let line = line.strip_suffix(b"\n").expect("whole lines");
        kind(&read_line(line).expect("a record").record).to_string()
    };
    lines.map(record).collect()
}

fn kind(record: &Record) -> &'static str {
    match record {
        Record::Session(_) => "session",
        Record::Title { .. } => "title",
        Record::Model(_) => "model",
        Record::TurnStarted { .. } => "turn",
        Record::Message(message) => match message {
            Message::System { .. } => "system",
            Message::User { .. } => "user",
            Message::Note { .. } => "note",
            Message::Assistant { .. } => "assistant",
            Message::Tool { .. } => "tool",
        },
        Record::Decision { .. } => "decision",
        Record::Edit(_) => "edit",
        Record::Receipt { .. } => "receipt",
        other => panic!("{other:?}"),
    }
}

fn session(sessions: &Path) -> Option<PathBuf> {
    let all = fs::read_dir(sessions).ok()?;
    let mut all: Vec<_> = all.map(|entry| entry.expect("entry").path()).collect();
    assert!(all.len() < 2, "{all:?}");
    all.pop()
}

/// Where the sessions lie, and what the tap is given.
type Watch = Box<dyn Fn(&Path, &Stage<'_>) + Send + Sync>;

/// An engine whose session is kept, with commands allowed and a tap that is told where.
fn start(scene: Scene, watch: Watch) -> (Run, PathBuf) {
    start_with(scene, watch, |_| {})
}

fn start_with(scene: Scene, watch: Watch, change: impl FnOnce(&mut Setup)) -> (Run, PathBuf) {
    let mut sessions = PathBuf::new();
    let run = Run::start(scene, |temp, setup| {
        allow_commands(setup);
        change(setup);
        let root = setup.toolbox.workspace().root().to_path_buf();
        let store = Store::new(&temp.path().join("state"), &root);
        sessions = store.folder().to_path_buf();
        setup.log = store.begin(Profile::Coding).expect("log");
        let folder = sessions.clone();
        setup.tap = Tap(Some(Arc::new(move |stage: &Stage<'_>| {
            watch(&folder, stage)
        })));
    });
    (run, sessions)
}

/// From the first reply on nothing can be saved.
fn in_the_way() -> Watch {
    Box::new(|sessions, stage| {
        if let Stage::Reply(_) = stage {
            let folder = session(sessions).expect("kept");
            fs::create_dir_all(folder.join("current.new/x")).expect("in the way");
        }
    })
}

/// Why the last turn was not saved; nothing else was said of it.
#[track_caller]
fn not_saved(events: &[Event]) -> &Receipt {
    let is_notice = |event: &&Event| matches!(event, Event::Notice { .. });
    assert_eq!(events.iter().find(is_notice), None);
    let Some(Event::TurnEnded { receipt, .. }) = events.last() else {
        panic!("{events:#?}");
    };
    let Status::NotSaved { reason } = &receipt.status else {
        panic!("{receipt:#?}");
    };
    assert!(reason.contains("current.new`"), "{reason}");
    receipt
}

const WRITE: &str = r#"{"path":"a.txt","content":"new\n"}"#;

fn write_and_run() -> Scene {
    Scene::new(vec![
        calls(&[
            ("c1", "write_file", WRITE),
            ("c2", "run_command", r#"{"command":"cat a.txt"}"#),
        ]),
        says("done"),
    ])
}

#[test]
fn each_step_is_on_the_disk_before_the_next_is_made() {
    let seen = Arc::new(Mutex::new(Vec::new()));
    let seen_there = Arc::clone(&seen);
    let watch: Watch = Box::new(move |sessions, stage| {
        let what = match stage {
            Stage::Event(Event::RequestSent { .. }) => "sent",
            Stage::Event(Event::Replied { .. }) => "replied",
            Stage::Event(Event::CallEnded { .. }) => "call ended",
            Stage::Event(Event::TurnEnded { .. }) => "turn ended",
            _ => return,
        };
        let on_disk = kinds(sessions).join(" ");
        seen_there
            .lock()
            .expect("lock")
            .push(format!("{what}: {on_disk}"));
    });
    let (run, sessions) = start(write_and_run(), watch);
    let events = run.turn("write it\nand more");
    let asked = "session model system note title turn user";
    let replied = format!("{asked} assistant");
    let written = format!("{replied} decision edit tool");
    let ran = format!("{written} decision tool");
    let end = format!("{ran} assistant receipt");
    let folder = session(&sessions).expect("kept");
    run.finish();
    assert_eq!(
        *seen.lock().expect("lock"),
        [
            format!("sent: {asked}"),
            format!("replied: {replied}"),
            format!("call ended: {written}"),
            format!("call ended: {ran}"),
            format!("sent: {ran}"),
            // A reply that calls nothing comes to the disk with the receipt.
            format!("replied: {ran}"),
            format!("turn ended: {end}"),
        ]
    );
    let saved = events.iter().rev().find_map(|event| match event {
        Event::Saved {
            session, records, ..
        } => Some((session.clone(), *records)),
        _ => None,
    });
    let name = folder
        .file_name()
        .expect("name")
        .to_string_lossy()
        .into_owned();
    assert_eq!(saved, Some((name, end.split(' ').count() as u64)));
}

#[test]
fn a_prompt_is_on_the_disk_before_a_request_for_a_checkpoint_leaves() {
    let seen = Arc::new(Mutex::new(Vec::new()));
    let seen_there = Arc::clone(&seen);
    let watch: Watch = Box::new(move |sessions, stage| {
        if let Stage::Event(Event::Compacting { .. }) = stage {
            let on_disk = kinds(sessions).join(" ");
            seen_there.lock().expect("lock").push(on_disk);
        }
    });
    let scene = Scene::new(vec![says("ok")]);
    let (run, _) = start_with(scene, watch, |setup| {
        setup.compaction = Compaction {
            tokens: Some(1),
            ..Compaction::default()
        }
    });
    run.turn("hello");
    let asked = "session model system note title turn user";
    assert_eq!(*seen.lock().expect("lock"), [asked]);
    run.finish();
}

#[test]
fn nothing_is_done_for_a_session_that_somebody_else_went_on_with() {
    let watch: Watch = Box::new(|sessions, stage| {
        if let Stage::Reply(_) = stage {
            let folder = session(sessions).expect("kept");
            fs::write(folder.join("current"), b"9 log-1.jsonl 10 00\n").expect("written");
        }
    });
    let (run, _) = start(write_and_run(), watch);
    let events = run.turn("write it");
    assert!(!run.temp.path().join("work/a.txt").exists());
    let lines = show(&events);
    let discarded = "discarded 1: the session could not be saved".to_string();
    assert!(lines.contains(&discarded), "{lines:#?}");
    let Some(Event::TurnEnded { receipt, .. }) = events.last() else {
        panic!("{lines:#?}");
    };
    match &receipt.status {
        Status::NotSaved { reason } => {
            assert!(
                reason.starts_with("another zcoder went on with this session"),
                "{reason}"
            );
            assert!(reason.ends_with("nothing was written there"), "{reason}");
        }
        other => panic!("{other:?}"),
    }
    let said = "warning: what could not be saved is kept as a session of its own, with all that was before: --resume ";
    let mut forks = lines.iter().filter_map(|line| line.strip_prefix(said));
    let fork = forks
        .next()
        .and_then(|line| line.strip_suffix(" goes on with it"));
    let fork = SessionId(fork.expect("a fork").to_string());
    let root = run.temp.path().join("work");
    let store = Store::new(&run.temp.path().join("state"), &root);
    let opened = store.open(&fork).expect("opened");
    assert_eq!((opened.notices, opened.interrupted), (Vec::new(), None));
    let asked = "session model system note title turn user";
    let kept: Vec<_> = opened.log.records().iter().map(kind).collect();
    assert_eq!(
        kept.join(" "),
        format!("{asked} assistant tool tool receipt")
    );
    run.finish();
}

#[test]
fn what_cannot_be_saved_is_said_once() {
    let (run, _) = start(write_and_run(), in_the_way());
    let events = run.turn("write it");
    not_saved(&events);
    run.finish();
}

#[test]
fn an_answer_that_cannot_be_saved_is_told_and_the_turn_says_that_it_is_not() {
    let (run, _) = start(Scene::new(vec![says("forty-two")]), in_the_way());
    let events = run.turn("what is it?");
    assert_eq!(not_saved(&events).answer.as_str(), "forty-two");
    run.finish();
}

#[test]
fn what_a_session_that_somebody_holds_does_not_take_becomes_one_of_its_own() {
    let held = Mutex::new(None);
    let watch: Watch = Box::new(move |sessions, stage| {
        if let Stage::Reply(_) = stage {
            let folder = session(sessions).expect("kept");
            let file = fs::File::open(folder.join("lock")).expect("a lock");
            *held.lock().expect("lock") = Locked::take(file).expect("locks");
        }
    });
    let (run, sessions) = start(write_and_run(), watch);
    let lines = show(&run.turn("write it"));
    let said = "warning: what could not be saved is kept as a session of its own, with all that was before: --resume ";
    let fork = lines.iter().find_map(|line| line.strip_prefix(said));
    let fork = fork.and_then(|line| line.strip_suffix(" goes on with it"));
    let fork = fork.unwrap_or_else(|| panic!("{lines:#?}"));
    assert!(sessions.join(fork).join("current").exists());
    run.finish();
}

#[test]
fn where_no_session_can_be_made_the_work_goes_on_and_says_so() {
    let watch: Watch = Box::new(|sessions, stage| {
        // The folder for all sessions is a file.
        if let Stage::Op(_) = stage {
            let above = sessions.parent().expect("above");
            fs::create_dir_all(above.parent().expect("state")).expect("state");
            fs::write(above, b"").expect("written");
        }
    });
    let (run, _) = start(write_and_run(), watch);
    let lines = show(&run.turn("write it"));
    assert_eq!(run.temp.read("work/a.txt"), b"new\n");
    let told = lines.iter().filter(|line| line.contains("kept nowhere"));
    let told: Vec<_> = told.collect();
    assert_eq!(told.len(), 1, "{lines:#?}");
    assert!(
        told[0].starts_with(
            "warning: this session is kept nowhere and ends with zcoder: cannot make `"
        ),
        "{told:?}"
    );
    assert!(
        !lines.iter().any(|line| line.starts_with("saved")),
        "{lines:#?}"
    );
    run.finish();
}

#[test]
fn a_session_that_goes_on_sends_the_bytes_that_it_sent() {
    let state = Temp::new();
    let store = Store::new(state.path(), Path::new("/work"));
    let log = store.begin(Profile::Coding).expect("log");
    let id = log.id().clone();
    let go_on = |log: Log, replies: &[&str]| {
        let chats = replies.iter().map(|reply| says(reply)).collect();
        let run = Run::start(Scene::new(chats), |_, setup| setup.log = log);
        let turn = |reply: &&str| match run.turn(reply).last() {
            Some(Event::TurnEnded { turn, .. }) => turn.0,
            other => panic!("{other:?}"),
        };
        let turns: Vec<u64> = replies.iter().map(turn).collect();
        (turns, run.finish())
    };
    let (turns, mut chats) = go_on(log, &["one", "two"]);
    assert_eq!(turns, [1, 2]);
    let opened = store.open(&id).expect("opened");
    assert_eq!((opened.notices, opened.interrupted), (Vec::new(), None));
    let (turns, more) = go_on(opened.log, &["three"]);
    assert_eq!(turns, [3]);
    chats.extend(more);
    check_prefixes(&chats);
}

#[test]
fn the_model_hears_that_the_last_turn_was_cut_off() {
    let state = Temp::new();
    let store = Store::new(state.path(), Path::new("/work"));
    let mut log = store.begin(Profile::Coding).expect("log");
    let by = Author {
        uid: 0,
        tty: None,
        front: FrontEnd::OneShot,
    };
    log.begin_turn(TurnId(1), by);
    log.append(Record::Message(Message::User {
        text: "long ago".to_string(),
    }));
    log.commit().expect("committed");
    let opened = store.open(log.id()).expect("opened");
    let run = Run::start(Scene::new(vec![says("ok")]), |_, setup| {
        setup.log = opened.log;
    });
    run.turn("carry it further");
    let chats = run.finish();
    let sent = String::from_utf8_lossy(&chats[0]);
    let parts = [
        "long ago",
        "zcoder was ended in the middle of the last turn",
        "carry it further",
    ];
    let at: Vec<_> = parts.iter().map(|part| sent.find(part)).collect();
    assert!(at.is_sorted() && at[0].is_some(), "{sent}");
}
