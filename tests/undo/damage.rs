//! A journal that is not what was written: nothing panics, nothing is restored that was not there, and what can be said is said.

use super::kit::{Kit, sealed};
use crate::support::cuts::Rng;
use std::fs;
use std::os::unix::fs::symlink;
use zcoder::undo::Force;

#[test]
fn damage_before_the_end_stops_the_undo_and_says_where() {
    let mut kit = Kit::with(&[("a.txt", "0\n"), ("b.txt", "0\n")]);
    kit.turn(&[("a.txt", Some("1\n"))]);
    let good = fs::read(kit.entry(1)).expect("an entry").len();
    kit.turn(&[("a.txt", Some("2\n")), ("b.txt", Some("2\n"))]);
    let mut bytes = fs::read(kit.entry(2)).expect("an entry");
    let first = bytes
        .windows(6)
        .position(|w| w == b"\"edit\"")
        .expect("a frame");
    bytes[first + 9] ^= 1;
    let line = bytes[..first]
        .iter()
        .rposition(|b| *b == b'\n')
        .expect("a line");
    let frame = bytes[..line]
        .iter()
        .rposition(|b| *b == b'\n')
        .expect("a line")
        + 1;
    fs::write(kit.entry(2), bytes).expect("damaged");
    assert_eq!(
        kit.refused(|past| past.undo(None), Force::Yes),
        format!(
            "the journal of turn 2 (task 2) is damaged at byte {frame}, so it cannot be taken back as a whole; \
             `zcoder diff` shows what is left of it"
        )
    );
    assert!(frame < good);
    // The other turn is whole, and its file has the state before the damaged one only if that is taken back by hand.
    kit.put("a.txt", "1\n");
    kit.step(|past| past.undo(Some(1)), Force::No);
    assert_eq!(kit.text("a.txt"), "0\n");
}

#[test]
fn the_line_feeds_around_a_body_belong_to_its_frame() {
    let mut kit = Kit::with(&[("a.txt", "0\n"), ("b.txt", "0\n")]);
    kit.turn(&[("a.txt", Some("1\n")), ("b.txt", Some("1\n"))]);
    let good = fs::read(kit.entry(1)).expect("an entry");
    let body = good.windows(5).position(|w| w == b"}\n0\n\n");
    let body = body.expect("the first body") + 2;
    for place in [body - 1, body + 2] {
        let mut bytes = good.clone();
        bytes[place] = b' ';
        fs::write(kit.entry(1), bytes).expect("damaged");
        let refused = kit.refused(|past| past.undo(None), Force::Yes);
        let start = "the journal of turn 1 (task 1) is damaged at byte ";
        assert!(refused.starts_with(start), "{place}: {refused}");
    }
}

#[test]
fn an_entry_without_a_beginning_is_passed_over() {
    let mut kit = Kit::with(&[("a.txt", "0\n")]);
    kit.turn(&[("a.txt", Some("1\n"))]);
    kit.turn(&[("b.txt", Some("b\n"))]);
    fs::write(kit.entry(2), "nonsense\n").expect("damaged");
    kit.undo();
    assert_eq!(kit.text("a.txt"), "0\n");
    let review = kit.past(|past| past.review()).expect("a review");
    assert_eq!(
        review.notes,
        ["entry 2 of the journal cannot be read; its edits are missing here"]
    );
}

#[test]
fn a_whole_file_that_was_exchanged_is_not_brought_back() {
    let mut kit = Kit::with(&[("a.txt", "0000\n")]);
    kit.turn(&[("a.txt", Some("1\n"))]);
    // With a hash that fits: somebody wrote it on purpose.
    let bytes = fs::read(kit.entry(1)).expect("an entry");
    let text = String::from_utf8(bytes)
        .expect("text")
        .replace("0000\n", "evil\n");
    let second = text.find("\n\n").expect("a frame") + 2;
    let hashed = &text[second + 65..];
    fs::write(kit.entry(1), text[..second].to_string() + &sealed(hashed)).expect("forged");
    assert_eq!(
        kit.refused(|past| past.undo(None), Force::Yes),
        "nothing was changed:\n  `a.txt` is damaged in the journal"
    );
}

/// Another text in the frame of the first edit, with a hash that fits. Where the frame begins.
fn forge(kit: &Kit, from: &str, to: &str) -> usize {
    let text = fs::read_to_string(kit.entry(1)).expect("text");
    let second = text.find("\n\n").expect("a frame") + 2;
    let (lengths, rest) = text[second + 65..].split_once('\n').expect("a line");
    assert!(rest.contains(from), "{rest}");
    let rest = rest.replace(from, to);
    let body = lengths.split(' ').nth(1).expect("a length");
    let head = rest.find('\n').expect("a head");
    let hashed = format!("{head} {body}\n{rest}");
    fs::write(kit.entry(1), text[..second].to_string() + &sealed(&hashed)).expect("forged");
    second
}

#[test]
fn paths_that_lead_out_and_modes_that_are_none_are_damage() {
    let name = "\"a.txt\"";
    for (from, to) in [
        (name, "\"../x\""),
        (name, "\"/etc/x\""),
        (name, "\"a/../../x\""),
        (name, "\"\""),
        (name, "\".\""),
        (name, "\"a\\u0000.txt/..\""),
        ("\"mode\":420", "\"mode\":2541"),
        ("\"mode\":420", "\"mode\":420,\"mode_after\":512"),
        ("\"mode\":420", "\"mode\":-1"),
        ("\"folders\":[]", "\"folders\":[{\"path\":\"../ws\"}]"),
        ("\"folders\":[]", "\"folders\":[{\"path\":\"/\"}]"),
    ] {
        let mut kit = Kit::with(&[("a.txt", "0\n")]);
        kit.turn(&[("a.txt", Some("1\n"))]);
        let second = forge(&kit, from, to);
        let refused = kit.refused(|past| past.undo(None), Force::Yes);
        assert_eq!(
            refused,
            format!(
                "the journal of turn 1 (task 1) is damaged at byte {second}, so it cannot be taken back as a whole; \
                 `zcoder diff` shows what is left of it"
            )
        );
    }
}

#[test]
fn mutated_entries_never_panic_and_never_restore_anything_else() {
    let mut kit = Kit::with(&[("a.txt", "0\n0\n"), ("b.txt", "b\n")]);
    kit.begin();
    kit.edit("a.txt", Some(b"1\n0\n"));
    kit.edit("b.txt", None);
    kit.edit("a.txt", Some(b"1\n2\n"));
    kit.ran("cmd", &[("a.txt", "3\n"), ("x\u{fffd}.log", "")]);
    kit.edit("new/n.txt", Some(b"n\n"));
    kit.journal.end_turn();
    let entry = fs::read(kit.entry(1)).expect("an entry");
    let after = kit.tree();
    let mut rng = Rng::new(7);
    for round in 0..150 {
        fs::write(kit.entry(1), rng.mutate(&entry)).expect("mutated");
        let made = kit.try_step(|past| past.undo(None), Force::Yes);
        let known = ["0\n0\n", "1\n0\n", "1\n2\n", "3\n"];
        assert!(known.contains(&kit.text("a.txt").as_str()), "round {round}");
        if made.is_err() {
            assert_eq!(kit.tree(), after, "round {round}");
        }
        for name in ["a.txt", "b.txt", "new/n.txt"] {
            // What is not there is as good as removed.
            let _ = fs::remove_file(kit.root().join(name));
        }
        kit.put("a.txt", "3\n");
        kit.put("new/n.txt", "n\n");
        for number in 2..4 {
            let _ = fs::remove_file(kit.entry(number));
        }
    }
}

#[test]
fn links_in_the_folder_of_the_journal_are_not_followed() {
    let told = |kit: &Kit| {
        let folder = kit.folder().display().to_string();
        let error = kit.try_step(|past| past.undo(None), Force::Yes);
        let text = error.expect_err("a refusal").to_string();
        text.replace(&folder, "FOLDER")
    };
    // An entry, and the file with the lock, exchanged for links to copies of themselves.
    for (name, text) in [
        (
            "000001",
            "cannot read the journal in FOLDER: is a symbolic link",
        ),
        (
            "session",
            "cannot read the journal in FOLDER: is a symbolic link",
        ),
    ] {
        let mut kit = Kit::with(&[("a.txt", "0\n")]);
        kit.turn(&[("a.txt", Some("1\n"))]);
        let (path, copy) = (kit.folder().join(name), kit.temp.path().join("copy"));
        fs::rename(&path, &copy).expect("moved");
        symlink(&copy, &path).expect("a link");
        assert_eq!(told(&kit), text);
        assert_eq!(kit.text("a.txt"), "1\n");
    }
    // The folder of the copies.
    let mut kit = Kit::with(&[("a.txt", "0\n")]);
    kit.turn(&[("a.txt", Some("1\n"))]);
    kit.put("a.txt", "mine\n");
    let elsewhere = kit.temp.path().join("elsewhere");
    fs::create_dir(&elsewhere).expect("a folder");
    symlink(&elsewhere, kit.folder().join("kept")).expect("a link");
    assert_eq!(
        told(&kit),
        "cannot write the journal FOLDER/kept/000002-a.txt: its folder is a link"
    );
    assert_eq!(kit.text("a.txt"), "mine\n");
    assert_eq!(fs::read_dir(&elsewhere).expect("readable").count(), 0);
    // A name that the next entry would take.
    let mut kit = Kit::with(&[("a.txt", "0\n")]);
    kit.turn(&[("a.txt", Some("1\n"))]);
    symlink(kit.temp.path().join("made"), kit.entry(2)).expect("a link");
    told(&kit);
    assert_eq!(kit.text("a.txt"), "1\n");
    assert!(!kit.temp.path().join("made").exists());
}
