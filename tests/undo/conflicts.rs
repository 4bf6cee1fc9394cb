//! What somebody else did since is never lost.

use super::kit::{Kit, lines};
use std::fs;
use std::os::unix::fs::symlink;
use std::path::PathBuf;
use zcoder::undo::{Force, Made};

const FORCE: &str = "\n--force goes over these changes and keeps a copy of each file";

/// Two files edited, then something happens to `b.txt`; the undo stops with `expected` and touches neither.
#[track_caller]
fn check(happens: impl FnOnce(&Kit), expected: &str) -> Kit {
    let mut kit = Kit::with(&[("a.txt", "a\n"), ("b.txt", "b\n")]);
    kit.turn(&[("a.txt", Some("A\n")), ("b.txt", Some("B\n"))]);
    happens(&kit);
    let before = kit.tree();
    let text = kit.refused(|past| past.undo(None), Force::No);
    assert_eq!(text, format!("nothing was changed:\n  {expected}"));
    assert_eq!(kit.tree(), before);
    kit
}

#[test]
fn a_later_change_stops_the_whole_step() {
    let expected = format!("`b.txt` was changed since, not by this session{FORCE}");
    let kit = check(|kit| kit.put("b.txt", "mine\n"), &expected);
    let plan = kit.plan_undo();
    assert_eq!(lines(&plan.changes), ["a.txt +1 -1"]);
    assert_eq!(lines(&plan.lost()), ["b.txt +1 -1"]);
}

#[test]
fn force_goes_over_it_keeps_a_copy_and_can_be_taken_back() {
    let expected = format!("`b.txt` was changed since, not by this session{FORCE}");
    let kit = check(|kit| kit.put("b.txt", "mine\n"), &expected);
    let Made { copies, .. } = kit.step(|past| past.undo(None), Force::Yes);
    assert_eq!(copies, [kit.folder().join("kept/000002-b.txt")]);
    assert_eq!(fs::read(&copies[0]).expect("a copy"), b"mine\n");
    assert_eq!(
        (kit.text("a.txt"), kit.text("b.txt")),
        ("a\n".into(), "b\n".into())
    );
    kit.redo();
    assert_eq!(
        (kit.text("a.txt"), kit.text("b.txt")),
        ("A\n".into(), "mine\n".into())
    );
}

#[test]
fn a_file_that_was_removed_since_comes_back_by_force_only() {
    let expected = format!("`b.txt` was removed since{FORCE}");
    let remove = |kit: &Kit| fs::remove_file(kit.root().join("b.txt")).expect("removed");
    let kit = check(remove, &expected);
    let Made { copies, .. } = kit.step(|past| past.undo(None), Force::Yes);
    assert_eq!(copies, Vec::<PathBuf>::new());
    assert_eq!(kit.text("b.txt"), "b\n");
}

#[test]
fn a_file_that_appeared_where_one_was_removed_is_not_written_over() {
    let mut kit = Kit::with(&[("a.txt", "a\n")]);
    kit.turn(&[("a.txt", None)]);
    kit.put("a.txt", "mine\n");
    assert_eq!(
        kit.refused(|past| past.undo(None), Force::No),
        format!("nothing was changed:\n  `a.txt` was changed since, not by this session{FORCE}")
    );
    let Made { copies, .. } = kit.step(|past| past.undo(None), Force::Yes);
    assert_eq!(fs::read(&copies[0]).expect("a copy"), b"mine\n");
    assert_eq!(kit.text("a.txt"), "a\n");
}

#[test]
fn a_new_file_that_was_worked_on_since_is_not_removed() {
    let mut kit = Kit::new();
    kit.turn(&[("new.txt", Some("1\n"))]);
    kit.put("new.txt", "1\nmine\n");
    assert_eq!(
        kit.refused(|past| past.undo(None), Force::No),
        format!("nothing was changed:\n  `new.txt` was changed since, not by this session{FORCE}")
    );
    let Made { copies, .. } = kit.step(|past| past.undo(None), Force::Yes);
    assert_eq!(fs::read(&copies[0]).expect("a copy"), b"1\nmine\n");
    assert_eq!(kit.tree(), []);
}

#[test]
fn a_change_between_two_edits_of_a_turn_counts_too() {
    let mut kit = Kit::with(&[("a.txt", "1\n2\n")]);
    kit.begin();
    kit.edit("a.txt", Some(b"one\n2\n"));
    kit.put("a.txt", "one\n2\nmine\n");
    kit.edit("a.txt", Some(b"one\ntwo\nmine\n"));
    kit.journal.end_turn();
    assert_eq!(
        kit.refused(|past| past.undo(None), Force::No),
        format!("nothing was changed:\n  `a.txt` was changed since, not by this session{FORCE}")
    );
    kit.step(|past| past.undo(None), Force::Yes);
    assert_eq!(kit.text("a.txt"), "1\n2\n");
}

#[test]
fn a_file_that_is_as_it_was_is_left_alone() {
    let mut kit = Kit::with(&[("a.txt", "a\n"), ("b.txt", "b\n")]);
    kit.turn(&[("a.txt", Some("A\n")), ("b.txt", Some("B\n"))]);
    kit.put("b.txt", "b\n");
    assert_eq!(lines(&kit.plan_undo().changes), ["a.txt +1 -1"]);
    kit.undo();
    kit.redo();
    // Only what the undo changed is made again.
    assert_eq!(
        (kit.text("a.txt"), kit.text("b.txt")),
        ("A\n".into(), "b\n".into())
    );
}

#[test]
fn saving_the_same_bytes_again_is_no_change() {
    let mut kit = Kit::with(&[("a.txt", "a\n")]);
    kit.turn(&[("a.txt", Some("A\n"))]);
    fs::remove_file(kit.root().join("a.txt")).expect("removed");
    kit.put("a.txt", "A\n");
    kit.undo();
    assert_eq!(kit.text("a.txt"), "a\n");
}

#[test]
fn a_command_is_named_as_the_one_that_changed_it() {
    let mut kit = Kit::with(&[("a.txt", "a\n")]);
    kit.turn(&[("a.txt", Some("A\n"))]);
    kit.begin();
    kit.ran("sed -i s/A/X/ a.txt", &[("a.txt", "X\n")]);
    kit.journal.end_turn();
    assert_eq!(
        kit.refused(|past| past.undo(None), Force::No),
        format!(
            "nothing was changed:\n  `a.txt` is not as it was left: `sed -i s/A/X/ a.txt` changed it (turn 2 (task 2)){FORCE}"
        )
    );
}

#[test]
fn a_link_in_its_place_is_not_followed() {
    let kit = check(
        |kit| {
            let outside = kit.temp.write("outside.txt", "B\n");
            fs::remove_file(kit.root().join("b.txt")).expect("removed");
            symlink(outside, kit.root().join("b.txt")).expect("a link");
        },
        "`b.txt` cannot be reached: `b.txt` is a link now",
    );
    let text = kit.refused(|past| past.undo(None), Force::Yes);
    assert_eq!(
        text,
        "nothing was changed:\n  `b.txt` cannot be reached: `b.txt` is a link now"
    );
    assert_eq!(kit.temp.read("outside.txt"), b"B\n");
}

#[test]
fn a_link_on_the_way_is_not_followed_not_even_inside() {
    for outside in [true, false] {
        let mut kit = Kit::with(&[("src/a.txt", "a\n")]);
        kit.turn(&[("src/a.txt", Some("A\n"))]);
        let target = kit
            .temp
            .path()
            .join(if outside { "out" } else { "ws/other" });
        fs::rename(kit.root().join("src"), &target).expect("moved");
        symlink(&target, kit.root().join("src")).expect("a link");
        let text = kit.refused(|past| past.undo(None), Force::Yes);
        assert_eq!(
            text,
            "nothing was changed:\n  `src/a.txt` cannot be reached: `src` is a link now"
        );
        assert_eq!(fs::read(target.join("a.txt")).expect("there"), b"A\n");
    }
}

#[test]
fn a_removed_file_does_not_come_back_through_a_link() {
    let mut kit = Kit::with(&[("src/a.txt", "a\n")]);
    kit.turn(&[("src/a.txt", None)]);
    fs::remove_dir(kit.root().join("src")).expect("empty");
    let out = kit.temp.path().join("out");
    fs::create_dir(&out).expect("a folder");
    symlink(&out, kit.root().join("src")).expect("a link");
    let text = kit.refused(|past| past.undo(None), Force::Yes);
    assert_eq!(
        text,
        "nothing was changed:\n  `src/a.txt` cannot be reached: `src` is a link now"
    );
    assert_eq!(fs::read_dir(&out).expect("readable").count(), 0);
}

#[test]
fn a_folder_or_a_file_in_the_way_stops_it() {
    check(
        |kit| {
            fs::remove_file(kit.root().join("b.txt")).expect("removed");
            fs::create_dir(kit.root().join("b.txt")).expect("a folder");
        },
        "`b.txt` is no regular file now",
    );
    let mut kit = Kit::with(&[("src/a.txt", "a\n")]);
    kit.turn(&[("src/a.txt", None)]);
    fs::remove_dir(kit.root().join("src")).expect("empty");
    kit.put("src", "a file\n");
    assert_eq!(
        kit.refused(|past| past.undo(None), Force::Yes),
        "nothing was changed:\n  `src/a.txt` cannot be reached: `src` is no folder now"
    );
}

#[test]
fn a_read_only_file_stops_it() {
    let kit = check(
        |kit| kit.set_mode("b.txt", 0o444),
        "`b.txt` is read-only now",
    );
    kit.set_mode("b.txt", 0o644);
    kit.undo();
    assert_eq!(kit.text("b.txt"), "b\n");
}

#[test]
fn of_a_large_file_that_was_changed_only_parts_are_kept() {
    let old = "0123456789abcde\n".repeat(300);
    let mut kit = Kit::with_large("big.txt", &old);
    let new = old.replacen("abc", "ABC", 1);
    kit.turn(&[("big.txt", Some(&new))]);
    kit.put("big.txt", new.clone() + "mine\n");
    for force in [Force::No, Force::Yes] {
        assert_eq!(
            kit.refused(|past| past.undo(None), force),
            "nothing was changed:\n  `big.txt` was changed since, not by this session; only parts of what it held before are kept"
        );
    }
}

#[test]
fn a_change_between_the_list_and_the_step_puts_all_back() {
    let mut kit = Kit::with(&[("a.txt", "a\n"), ("b.txt", "b\n")]);
    kit.turn(&[
        ("a.txt", Some("A\n")),
        ("new/c.txt", Some("c\n")),
        ("b.txt", Some("B\n")),
    ]);
    let plan = kit.plan_undo();
    kit.put("b.txt", "mine\n");
    let error = kit
        .past(|past| past.make(&plan, Force::No))
        .expect_err("stopped");
    assert_eq!(
        error.to_string(),
        "`b.txt` could not be changed: it changed in this moment; all other files were put back as they were"
    );
    let tree = [
        ("a.txt", "A\n"),
        ("b.txt", "mine\n"),
        ("new/", ""),
        ("new/c.txt", "c\n"),
    ];
    let tree = tree.map(|(name, text)| (name.to_string(), text.to_string()));
    assert_eq!(kit.tree(), tree);
    // It does not count as made.
    kit.put("b.txt", "B\n");
    kit.undo();
    assert_eq!(
        (kit.text("a.txt"), kit.text("b.txt")),
        ("a\n".into(), "b\n".into())
    );
}

#[test]
fn a_redo_stops_at_a_change_as_well() {
    let mut kit = Kit::with(&[("a.txt", "a\n")]);
    kit.turn(&[("a.txt", Some("A\n"))]);
    kit.undo();
    kit.put("a.txt", "mine\n");
    assert_eq!(
        kit.refused(|past| past.redo(), Force::No),
        format!("nothing was changed:\n  `a.txt` was changed since, not by this session{FORCE}")
    );
    kit.step(|past| past.redo(), Force::Yes);
    assert_eq!(kit.text("a.txt"), "A\n");
}

#[test]
fn a_session_at_work_is_not_stepped_in() {
    let mut kit = Kit::with(&[("a.txt", "a\n")]);
    kit.turn(&[("a.txt", Some("A\n"))]);
    kit.begin();
    kit.edit("a.txt", Some(b"B\n"));
    assert_eq!(
        kit.refused(|past| past.undo(None), Force::No),
        "the session is at work in another zcoder; try again when its turn has ended"
    );
    kit.journal.end_turn();
    kit.undo();
    assert_eq!(kit.text("a.txt"), "A\n");
}

#[test]
fn a_session_that_went_on_since_the_list_is_looked_at_again() {
    let mut kit = Kit::with(&[("a.txt", "a\n")]);
    kit.turn(&[("a.txt", Some("A\n"))]);
    let plan = kit.plan_undo();
    kit.turn(&[("b.txt", Some("b\n"))]);
    let error = kit
        .past(|past| past.make(&plan, Force::No))
        .expect_err("refused");
    assert_eq!(
        error.to_string(),
        "the session went on meanwhile, so nothing was changed; look again"
    );
    assert_eq!(kit.text("a.txt"), "A\n");
}
