//! What the journal writes, and when it does not.

use super::kit::{Kit, SESSION, keep, record, sealed};
use crate::support::temp::Temp;
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use zcoder::protocol::JournalRecord;
use zcoder::undo::{CommandChanges, Journal, Store};

/// The heads of an entry, hashes and time replaced.
fn heads(path: &Path) -> Vec<String> {
    let text = String::from_utf8_lossy(&fs::read(path).expect("an entry")).into_owned();
    let heads = text.lines().filter(|line| line.starts_with('{'));
    heads
        .map(|line| {
            let mut words: Vec<String> = line.split('"').map(String::from).collect();
            for word in &mut words {
                if word.len() == 64 && word.bytes().all(|b| b.is_ascii_hexdigit()) {
                    word.replace_range(2.., "…");
                } else if word.len() == 24 && word.ends_with('Z') {
                    *word = "TIME".to_string();
                }
            }
            words.join("\"")
        })
        .collect()
}

#[test]
fn an_entry_is_what_the_module_doc_shows() {
    let mut kit = Kit::with(&[("src/a.rs", "alpha\n"), ("old.txt", "x\n")]);
    kit.begin();
    kit.edit("src/a.rs", Some(b"beta\n"));
    kit.edit("src/a.rs", Some(b"betas\n"));
    kit.edit("d/new.txt", Some(b""));
    kit.edit("old.txt", None);
    kit.ran("cargo fmt", &[("src/a.rs", "BETA\n"), ("x.log", "")]);
    kit.journal.end_turn();
    assert_eq!(
        heads(&kit.entry(1)),
        [
            r#"{"entry":"turn","turn":1,"label":"task 1","at":"TIME"}"#,
            r#"{"edit":"src/a.rs","before":"b6…","after":"f2…","mode":420,"size":6,"folders":[],"spans":[],"kept":"whole"}"#,
            r#"{"edit":"src/a.rs","before":"f2…","after":"bc…","mode":420,"size":5,"folders":[],"spans":[[4,0,1]],"kept":"spans"}"#,
            r#"{"edit":"d/new.txt","before":null,"after":"e3…","size":0,"folders":[{"path":"d"}],"spans":[],"kept":"spans"}"#,
            r#"{"edit":"old.txt","before":"73…","after":null,"mode":420,"size":2,"folders":[],"spans":[],"kept":"whole"}"#,
            r#"{"ran":"cargo fmt","files":[{"path":"src/a.rs","after":"a0…"},{"path":"x.log"}],"more":0,"looked":true}"#,
        ]
    );
    kit.undo();
    assert_eq!(
        heads(&kit.entry(2)),
        [
            r#"{"entry":"undo","of":1,"at":"TIME"}"#,
            r#"{"edit":"src/a.rs","before":"a0…","after":"b6…","mode":420,"size":5,"folders":[],"spans":[],"kept":"whole"}"#,
            r#"{"edit":"d/new.txt","before":"e3…","after":null,"mode":420,"size":0,"folders":[],"spans":[],"kept":"whole"}"#,
            r#"{"edit":"old.txt","before":null,"after":"73…","size":0,"folders":[],"spans":[],"kept":"spans"}"#,
            r#"{"done":true}"#,
        ]
    );
}

#[test]
fn frames_are_a_hash_two_lengths_a_head_and_a_body() {
    let mut kit = Kit::with(&[("a.txt", "one\n")]);
    kit.turn(&[("a.txt", Some("two\n"))]);
    let text = fs::read_to_string(kit.entry(1)).expect("text");
    let second = text.find("\n\n").expect("the end of an empty body") + 2;
    let (_, hashed) = text[second..].split_once(' ').expect("a hash");
    assert_eq!(text[second..], sealed(hashed));
    let mut lines = hashed.lines();
    let head_length = lines.clone().nth(1).expect("a head").len();
    assert_eq!(lines.next(), Some(&format!("{head_length} 4")[..]));
    assert_eq!(lines.nth(1), Some("one"));
    assert_eq!(
        hashed.split('\n').rev().take(2).collect::<Vec<_>>(),
        ["", ""]
    );
}

#[test]
fn folders_are_for_us_alone_and_files_too() {
    let mut kit = Kit::new();
    kit.turn(&[("a.txt", Some("1\n"))]);
    let mode = |path: &Path| fs::metadata(path).expect("there").permissions().mode() & 0o777;
    let folder = kit.folder();
    let state = kit.temp.path().join("state");
    for above in folder
        .ancestors()
        .take_while(|above| above.starts_with(&state))
    {
        assert_eq!(mode(above), 0o700, "{}", above.display());
    }
    assert_eq!(mode(&kit.entry(1)), 0o600);
    assert_eq!(mode(&folder.join("session")), 0o600);
    let session = fs::read_to_string(folder.join("session")).expect("text");
    let root = kit.root().display().to_string();
    let head = format!(r#"{{"id":"{SESSION}","workspace":"{root}","started":""#);
    assert!(session.starts_with(&head), "{session}");
}

#[test]
fn nothing_is_written_before_the_first_edit() {
    let mut kit = Kit::new();
    kit.begin();
    kit.journal.end_turn();
    kit.begin();
    let nothing = CommandChanges {
        command: "ls",
        files: &[],
        looked: true,
    };
    kit.journal.ran(&nothing).expect("nothing to note");
    assert!(!kit.temp.path().join("state").exists());
}

#[test]
fn a_label_is_the_first_line_of_the_prompt_shortened() {
    let mut kit = Kit::new();
    let prompt = format!("\n  {}\nmore", "é".repeat(100));
    kit.journal.begin_turn(7, &prompt);
    kit.edit("a.txt", Some(b"1\n"));
    kit.journal.end_turn();
    let expected = format!("undo turn 7 ({}…)", "é".repeat(79));
    assert_eq!(kit.plan_undo().what, expected);
}

#[test]
fn without_a_place_edits_are_made_and_it_is_said_once() {
    let kit = Kit::with(&[("a.txt", "0\n")]);
    let mut journal = Journal::unusable("HOME is not set");
    for _ in 0..2 {
        let record = record(&kit.root(), "a.txt", Some(b"1\n"));
        keep(&kit.root(), &mut journal, &record).expect("not refused");
    }
    assert_eq!(
        journal.notices(),
        [
            "there is no undo journal, so the edits of this run cannot be taken back: HOME is not set"
        ]
    );
    assert_eq!(journal.notices(), Vec::<String>::new());
    assert!(journal.place().is_none());
}

#[test]
fn a_state_folder_that_cannot_be_one_is_survived() {
    let mut kit = Kit::with(&[("a.txt", "0\n")]);
    kit.temp.write("state", "a file\n");
    kit.begin();
    let record = record(&kit.root(), "a.txt", Some(b"1\n"));
    keep(&kit.root(), &mut kit.journal, &record).expect("not refused");
    keep(&kit.root(), &mut kit.journal, &record).expect("not refused");
    let notices = kit.journal.notices();
    assert_eq!(notices.len(), 1, "{notices:?}");
    let text = notices[0].replace(&kit.temp.path().display().to_string(), "TEMP");
    let (head, rest) = text.split_once("TEMP/state/undo/ws-").expect("the folder");
    assert_eq!(
        head,
        "there is no undo journal, so the edits of this run cannot be taken back: "
    );
    assert!(
        rest.ends_with(" cannot be made: Not a directory (os error 20)"),
        "{rest}"
    );
}

#[test]
fn once_begun_an_edit_without_a_record_is_refused() {
    let mut kit = Kit::with(&[("a.txt", "0\n")]);
    kit.turn(&[("a.txt", Some("1\n"))]);
    let folder = kit.folder();
    fs::remove_dir_all(&folder).expect("removed");
    fs::write(&folder, "a file\n").expect("in its place");
    kit.begin();
    let record = record(&kit.root(), "a.txt", Some(b"2\n"));
    let error = keep(&kit.root(), &mut kit.journal, &record).expect_err("refused");
    assert_eq!(error.kind(), std::io::ErrorKind::AlreadyExists);
    assert_eq!(kit.journal.notices(), Vec::<String>::new());
}

#[test]
fn a_session_that_another_process_steps_in_takes_no_edits() {
    let mut kit = Kit::with(&[("a.txt", "0\n")]);
    kit.turn(&[("a.txt", Some("1\n"))]);
    let mut other = Journal::new(kit.store(), SESSION);
    other.begin_turn(9, "other");
    let record = record(&kit.root(), "a.txt", Some(b"2\n"));
    keep(&kit.root(), &mut other, &record).expect("the other one is first");
    kit.begin();
    let error = keep(&kit.root(), &mut kit.journal, &record).expect_err("refused");
    assert_eq!(
        error.to_string(),
        "another zcoder steps back or forth in this session; try again when it has ended"
    );
    other.end_turn();
    keep(&kit.root(), &mut kit.journal, &record).expect("free again");
}

#[test]
fn a_record_of_a_file_that_is_not_there_is_refused() {
    let mut kit = Kit::new();
    kit.begin();
    let record = JournalRecord {
        path: "lost.txt".to_string(),
        before: Some([7; 32]),
        after: Some([8; 32]),
        executable: None,
        spans: Vec::new(),
    };
    let error = keep(&kit.root(), &mut kit.journal, &record).expect_err("refused");
    assert_eq!(error.kind(), std::io::ErrorKind::NotFound);
    let record = JournalRecord {
        path: "caf\u{fffd}.txt".to_string(),
        before: None,
        ..record
    };
    let error = keep(&kit.root(), &mut kit.journal, &record).expect_err("refused");
    assert_eq!(error.to_string(), "its name is not UTF-8");
}

#[test]
fn workspaces_of_one_name_have_folders_of_their_own() {
    let temp = Temp::new();
    let state = temp.path().join("state");
    for place in ["one/app", "two/app", "odd/\u{1b}[1m x"] {
        let root = temp.path().join(place);
        fs::create_dir_all(&root).expect("a workspace");
        let mut journal = Journal::new(Store::new(&state, &root), SESSION);
        journal.begin_turn(1, "x");
        let record = record(&root, "a.txt", Some(b"1"));
        keep(&root, &mut journal, &record).expect("kept");
    }
    let names = fs::read_dir(state.join("undo")).expect("the journals");
    let mut names: Vec<String> = names
        .map(|entry| {
            entry
                .expect("readable")
                .file_name()
                .into_string()
                .expect("text")
        })
        .filter(|name| name != "room")
        .map(|name| name[..name.len() - 16].to_string())
        .collect();
    names.sort();
    assert_eq!(names, ["__1m_x-", "app-", "app-"]);
}
