//! What is on the disk when. The disk is looked at on the engine's own thread, by a tap: at that moment, not a little later.

use super::drive::{Run, allow_commands, show};
use super::fake::{Scene, calls, says};
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};
use zcoder::policy::Profile;
use zcoder::protocol::{Event, Stage, Status, Tap};
use zcoder::session::{Pointer, Record, Store, read_line};

/// Kinds of the committed records of the only session below `state`.
fn kinds(sessions: &Path) -> Vec<String> {
    let Some(folder) = session(sessions) else {
        return Vec::new();
    };
    let pointer = fs::read(folder.join("current")).expect("pointer");
    let pointer = Pointer::parse(&pointer).expect("a pointer");
    let log = fs::read(folder.join("log-1.jsonl")).expect("log");
    let length = usize::try_from(pointer.length).expect("small");
    let lines = log[..length].split_inclusive(|byte| *byte == b'\n');
    let kind = |line: &[u8]| {
        let line = line.strip_suffix(b"\n").expect("whole lines");
        match read_line(line).expect("a record").record {
            Record::Session(_) => "session",
            Record::Title { .. } => "title",
            Record::Model(_) => "model",
            Record::TurnStarted { .. } => "turn",
            Record::Message(message) => match message {
                zcoder::protocol::Message::System { .. } => "system",
                zcoder::protocol::Message::User { .. } => "user",
                zcoder::protocol::Message::Note { .. } => "note",
                zcoder::protocol::Message::Assistant { .. } => "assistant",
                zcoder::protocol::Message::Tool { .. } => "tool",
            },
            Record::Decision { .. } => "decision",
            Record::Edit(_) => "edit",
            Record::Receipt { .. } => "receipt",
            other => panic!("{other:?}"),
        }
        .to_string()
    };
    lines.map(kind).collect()
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
    let mut sessions = PathBuf::new();
    let run = Run::start(scene, |temp, setup| {
        allow_commands(setup);
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
    assert_eq!(
        *seen.lock().expect("lock"),
        [
            format!("sent: {asked}"),
            format!("replied: {replied}"),
            format!("call ended: {written}"),
            format!("call ended: {ran}"),
            format!("sent: {ran}"),
            format!("replied: {ran} assistant"),
            format!("turn ended: {end}"),
        ]
    );
    let saved = events.iter().rev().find_map(|event| match event {
        Event::Saved {
            session, records, ..
        } => Some((session.clone(), *records)),
        _ => None,
    });
    let folder = session(&sessions).expect("kept");
    let name = folder
        .file_name()
        .expect("name")
        .to_string_lossy()
        .into_owned();
    assert_eq!(saved, Some((name, end.split(' ').count() as u64)));
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
            assert!(
                reason.ends_with("fork the session to keep what is unsaved"),
                "{reason}"
            );
        }
        other => panic!("{other:?}"),
    }
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
