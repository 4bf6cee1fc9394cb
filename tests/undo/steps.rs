//! Back and forth, as long as nobody interferes.

use super::kit::{Kit, lines};
use zcoder::undo::{Error, Force, Past};

#[track_caller]
fn check(kit: &Kit, expected: &[(&str, &str)]) {
    let tree = kit.tree();
    let tree: Vec<(&str, &str)> = tree.iter().map(|(a, b)| (a.as_str(), b.as_str())).collect();
    assert_eq!(tree, expected);
}

#[test]
fn a_turn_is_taken_back_and_made_again() {
    let mut kit = Kit::with(&[("a.txt", "one\ntwo\n")]);
    kit.turn(&[("a.txt", Some("one\n2\n"))]);
    kit.undo();
    check(&kit, &[("a.txt", "one\ntwo\n")]);
    kit.redo();
    check(&kit, &[("a.txt", "one\n2\n")]);
    kit.undo();
    check(&kit, &[("a.txt", "one\ntwo\n")]);
}

#[test]
fn a_plan_lists_what_will_change_before_it_does() {
    let mut kit = Kit::with(&[("a.txt", "1\n2\n3\n"), ("old.txt", "x\ny\n")]);
    kit.turn(&[
        ("a.txt", Some("1\n3\n4\n5\n")),
        ("new.txt", Some("n\n")),
        ("old.txt", None),
    ]);
    let plan = kit.plan_undo();
    assert_eq!(plan.what, "undo turn 1 (task 1)");
    assert_eq!(
        lines(&plan.changes),
        [
            "a.txt +1 -2",
            "new.txt +0 -1, deleted",
            "old.txt +2 -0, new"
        ]
    );
    assert_eq!((plan.conflicts, plan.notes), (vec![], vec![]));
    check(&kit, &[("a.txt", "1\n3\n4\n5\n"), ("new.txt", "n\n")]);
}

#[test]
fn created_and_removed_files_and_folders_come_and_go() {
    let mut kit = Kit::with(&[("old.txt", "x\n")]);
    kit.turn(&[
        ("old.txt", None),
        ("deep/er/a.txt", Some("a\n")),
        ("deep/b.txt", Some("b\n")),
        ("deep/er/c.txt", Some("c\n")),
    ]);
    let made = [
        ("deep/", ""),
        ("deep/b.txt", "b\n"),
        ("deep/er/", ""),
        ("deep/er/a.txt", "a\n"),
        ("deep/er/c.txt", "c\n"),
    ];
    check(&kit, &made);
    kit.undo();
    check(&kit, &[("old.txt", "x\n")]);
    kit.redo();
    check(&kit, &made);
    kit.undo();
    check(&kit, &[("old.txt", "x\n")]);
}

#[test]
fn a_folder_with_something_of_the_users_in_it_stays() {
    let mut kit = Kit::new();
    kit.turn(&[("new/deep/a.txt", Some("a\n"))]);
    kit.put("new/mine.txt", "mine\n");
    kit.undo();
    check(&kit, &[("new/", ""), ("new/mine.txt", "mine\n")]);
}

#[test]
fn a_folder_that_was_there_stays() {
    let mut kit = Kit::with(&[("src/a.txt", "a\n")]);
    kit.turn(&[("src/a.txt", None), ("src/b.txt", Some("b\n"))]);
    kit.undo();
    check(&kit, &[("src/", ""), ("src/a.txt", "a\n")]);
}

#[test]
fn several_edits_of_one_file_are_taken_back_together() {
    let mut kit = Kit::with(&[("a.txt", "1\n2\n3\n")]);
    kit.turn(&[
        ("a.txt", Some("one\n2\n3\n")),
        ("a.txt", Some("one\n2\nthree\n")),
        ("a.txt", Some("one\n")),
    ]);
    kit.undo();
    check(&kit, &[("a.txt", "1\n2\n3\n")]);
    kit.redo();
    check(&kit, &[("a.txt", "one\n")]);
}

#[test]
fn a_file_made_edited_and_removed_in_one_turn_leaves_nothing() {
    let mut kit = Kit::new();
    kit.turn(&[
        ("a.txt", Some("1\n")),
        ("a.txt", Some("2\n")),
        ("a.txt", None),
        ("b.txt", Some("b\n")),
    ]);
    let plan = kit.plan_undo();
    assert_eq!(lines(&plan.changes), ["b.txt +0 -1, deleted"]);
    kit.undo();
    check(&kit, &[]);
    kit.redo();
    check(&kit, &[("b.txt", "b\n")]);
}

#[test]
fn a_rename_is_taken_back() {
    let mut kit = Kit::with(&[("from.txt", "x\n")]);
    kit.turn(&[("to/to.txt", Some("x\ny\n")), ("from.txt", None)]);
    kit.undo();
    check(&kit, &[("from.txt", "x\n")]);
}

#[test]
fn several_undos_go_back_turn_by_turn_and_redos_forth_again() {
    let mut kit = Kit::with(&[("a.txt", "0\n")]);
    for text in ["1\n", "2\n", "3\n"] {
        kit.turn(&[("a.txt", Some(text))]);
    }
    for text in ["2\n", "1\n", "0\n"] {
        kit.undo();
        assert_eq!(kit.text("a.txt"), text);
    }
    assert_eq!(
        kit.refused(|past| past.undo(None), Force::No),
        "nothing is left to take back in session 20260821-090000123-x1y2z3a4"
    );
    for text in ["1\n", "2\n", "3\n"] {
        kit.redo();
        assert_eq!(kit.text("a.txt"), text);
    }
    assert_eq!(
        kit.refused(|past| past.redo(), Force::No),
        "nothing can be made again in session 20260821-090000123-x1y2z3a4: nothing was taken back, or something new was done since"
    );
}

#[test]
fn back_and_forth_any_number_of_times() {
    let mut kit = Kit::with(&[("a.txt", "0\n")]);
    kit.turn(&[("a.txt", Some("1\n")), ("b.txt", Some("b\n"))]);
    kit.turn(&[("b.txt", None)]);
    for _ in 0..3 {
        kit.undo();
        kit.undo();
        check(&kit, &[("a.txt", "0\n")]);
        kit.redo();
        check(&kit, &[("a.txt", "1\n"), ("b.txt", "b\n")]);
        kit.redo();
        check(&kit, &[("a.txt", "1\n")]);
    }
}

#[test]
fn a_new_turn_after_an_undo_ends_what_can_be_made_again() {
    let mut kit = Kit::with(&[("a.txt", "0\n")]);
    kit.turn(&[("a.txt", Some("1\n"))]);
    kit.undo();
    kit.turn(&[("b.txt", Some("b\n"))]);
    let error = kit.past(|past| past.redo()).expect_err("nothing");
    assert!(matches!(error, Error::NothingUndone { .. }), "{error}");
    kit.undo();
    check(&kit, &[("a.txt", "0\n")]);
    let error = kit.past(|past| past.undo(None)).expect_err("nothing");
    assert!(matches!(error, Error::NothingDone { .. }), "{error}");
}

#[test]
fn a_turn_in_the_middle_can_be_named_if_no_later_one_needs_it() {
    let mut kit = Kit::with(&[("a.txt", "a\n"), ("b.txt", "b\n")]);
    kit.turn(&[("a.txt", Some("A\n"))]);
    kit.turn(&[("b.txt", Some("B\n"))]);
    kit.step(|past| past.undo(Some(1)), Force::No);
    check(&kit, &[("a.txt", "a\n"), ("b.txt", "B\n")]);
    assert_eq!(
        kit.refused(|past| past.undo(Some(1)), Force::No),
        "turn 1 has nothing to take back; these have: 2"
    );
    kit.redo();
    check(&kit, &[("a.txt", "A\n"), ("b.txt", "B\n")]);
    assert_eq!(
        kit.refused(|past| past.undo(Some(9)), Force::No),
        "turn 9 has nothing to take back; these have: 2, 1"
    );
}

#[test]
fn a_later_turn_on_the_same_file_has_to_go_first() {
    let mut kit = Kit::with(&[("a.txt", "0\n")]);
    kit.turn(&[("a.txt", Some("1\n"))]);
    kit.turn(&[("a.txt", Some("2\n"))]);
    assert_eq!(
        kit.refused(|past| past.undo(Some(1)), Force::No),
        "nothing was changed:\n  `a.txt` is not as it was left: turn 2 (task 2) changed it again; take that back first\n\
         --force goes over these changes and keeps a copy of each file"
    );
    assert_eq!(kit.text("a.txt"), "2\n");
}

#[test]
fn modes_are_kept_and_come_back() {
    let mut kit = Kit::with(&[("run.sh", "echo 1\n"), ("gone.sh", "echo 2\n")]);
    kit.set_mode("run.sh", 0o755);
    kit.set_mode("gone.sh", 0o700);
    kit.turn(&[("run.sh", Some("echo 3\n")), ("gone.sh", None)]);
    kit.set_mode("run.sh", 0o755);
    kit.undo();
    assert_eq!((kit.mode("run.sh"), kit.mode("gone.sh")), (0o755, 0o700));
    kit.redo();
    kit.set_mode("run.sh", 0o744);
    kit.undo();
    // The mode that it has now is the user's.
    assert_eq!((kit.mode("run.sh"), kit.mode("gone.sh")), (0o744, 0o700));
}

#[test]
fn a_file_that_a_redo_makes_again_has_its_mode() {
    let mut kit = Kit::new();
    kit.turn(&[("s.sh", Some("x\n"))]);
    kit.set_mode("s.sh", 0o750);
    kit.undo();
    kit.redo();
    assert_eq!(
        (kit.mode("s.sh"), kit.text("s.sh").as_str()),
        (0o750, "x\n")
    );
}

#[test]
fn bytes_that_are_no_text_come_back_as_they_were() {
    let old: Vec<u8> = (0..=255).cycle().take(3_000).collect();
    let mut kit = Kit::new();
    kit.put("a.bin", &old);
    kit.begin();
    kit.edit("a.bin", Some(b"\xff\r\n\0"));
    kit.journal.end_turn();
    kit.undo();
    assert_eq!(kit.temp.read("ws/a.bin"), old);
}

#[test]
fn a_name_that_is_strange_is_no_trouble() {
    let name = "a b\n\u{1b}[31m'\"\\ü.txt";
    let mut kit = Kit::with(&[(name, "0\n")]);
    kit.turn(&[(name, Some("1\n"))]);
    kit.undo();
    assert_eq!(kit.text(name), "0\n");
}

#[test]
fn a_large_file_comes_back_from_its_spans() {
    let old = "0123456789abcde\n".repeat(300);
    let mut kit = Kit::with_large("big.txt", &old);
    let first = old.replacen("abc", "ABCDEF", 1);
    let second = first.replacen("0123456789abcde\n", "", 100);
    kit.turn(&[("big.txt", Some(&first)), ("big.txt", Some(&second))]);
    kit.turn(&[("big.txt", Some(&(second.clone() + "end\n")))]);
    let bytes: u64 = [1, 2]
        .map(|number| kit.entry(number).metadata().expect("entry").len())
        .iter()
        .sum();
    assert!(bytes < old.len() as u64, "the whole file was kept: {bytes}");
    kit.undo();
    assert_eq!(kit.text("big.txt"), second);
    kit.undo();
    assert_eq!(kit.text("big.txt"), old);
    kit.redo();
    assert_eq!(kit.text("big.txt"), second);
    kit.redo();
    assert_eq!(kit.text("big.txt"), second + "end\n");
}

#[test]
fn what_a_command_did_to_an_edited_file_is_taken_back_with_it() {
    let mut kit = Kit::with(&[("a.rs", "fn a(){}\n"), ("b.rs", "b\n")]);
    kit.begin();
    kit.edit("a.rs", Some(b"fn  a(){1}\n"));
    kit.ran("cargo fmt", &[("a.rs", "fn a() { 1 }\n"), ("b.rs", "B\n")]);
    kit.journal.end_turn();
    let plan = kit.plan_undo();
    assert_eq!(lines(&plan.changes), ["a.rs +1 -1"]);
    assert_eq!(
        plan.notes,
        ["no before-image of what `cargo fmt` changed, it stays: b.rs"]
    );
    kit.undo();
    check(&kit, &[("a.rs", "fn a(){}\n"), ("b.rs", "B\n")]);
    kit.redo();
    check(&kit, &[("a.rs", "fn a() { 1 }\n"), ("b.rs", "B\n")]);
}

#[test]
fn a_turn_that_only_ran_commands_is_no_step_of_its_own() {
    let mut kit = Kit::with(&[("a.txt", "0\n"), ("x.log", "")]);
    kit.turn(&[("a.txt", Some("1\n"))]);
    kit.begin();
    kit.ran("make", &[("x.log", "built\n")]);
    kit.journal.end_turn();
    let plan = kit.plan_undo();
    assert_eq!(plan.what, "undo turn 1 (task 1)");
    assert_eq!(
        plan.notes,
        ["no before-image of what `make` changed, it stays: x.log"]
    );
}

#[test]
fn an_edit_that_left_things_as_they_were_is_a_step_that_changes_nothing() {
    let mut kit = Kit::with(&[("a.txt", "0\n")]);
    kit.turn(&[("b.txt", Some("b\n"))]);
    kit.turn(&[("a.txt", Some("1\n")), ("a.txt", Some("0\n"))]);
    assert_eq!(lines(&kit.plan_undo().changes), Vec::<String>::new());
    kit.undo();
    kit.undo();
    check(&kit, &[("a.txt", "0\n")]);
}

#[test]
fn another_process_finds_the_newest_session() {
    let mut kit = Kit::with(&[("a.txt", "0\n")]);
    kit.turn(&[("a.txt", Some("1\n"))]);
    kit.new_session("20260822-100000000-aaaaaaaa");
    kit.turn(&[("b.txt", Some("b\n"))]);
    kit.new_session("20260823-100000000-bbbbbbbb");
    assert_eq!(
        kit.store().sessions().expect("readable"),
        ["20260822-100000000-aaaaaaaa", "20260821-090000123-x1y2z3a4"]
    );
    kit.undo();
    check(&kit, &[("a.txt", "1\n")]);
}

#[test]
fn a_session_is_named_by_the_beginning_of_its_id() {
    let mut kit = Kit::with(&[("a.txt", "0\n")]);
    kit.turn(&[("a.txt", Some("1\n"))]);
    kit.new_session("20260821-100000000-aaaaaaaa");
    kit.turn(&[("b.txt", Some("b\n"))]);
    let root = kit.root();
    let resolve = |path: &std::path::Path| Some(root.join(path));
    let open = |id: &str| match Past::open(&kit.store(), Some(id), &resolve) {
        Ok(past) => past.id().to_string(),
        Err(error) => error
            .to_string()
            .replace(&kit.temp.path().display().to_string(), "TEMP"),
    };
    assert_eq!(open("20260821-09"), "20260821-090000123-x1y2z3a4");
    assert_eq!(
        open("20260821-100000000-aaaaaaaa"),
        "20260821-100000000-aaaaaaaa"
    );
    let known = "20260821-100000000-aaaaaaaa, 20260821-090000123-x1y2z3a4";
    assert_eq!(
        open("20260821"),
        format!("no session `20260821` has edited files in TEMP/ws; the newest are {known}")
    );
    assert_eq!(
        open("x"),
        format!("no session `x` has edited files in TEMP/ws; the newest are {known}")
    );
}

#[test]
fn a_workspace_without_a_session_says_so() {
    let kit = Kit::new();
    let resolve = |_: &std::path::Path| None;
    for (id, expected) in [
        (
            None,
            "no session has edited files in TEMP/ws; nothing to take back (name the folder of the session with --workspace)",
        ),
        (
            Some("x"),
            "no session `x` has edited files in TEMP/ws; none has",
        ),
    ] {
        let Err(error) = Past::open(&kit.store(), id, &resolve) else {
            panic!("a session");
        };
        let text = error.to_string();
        assert_eq!(
            text.replace(&kit.temp.path().display().to_string(), "TEMP"),
            expected
        );
    }
}
