//! The net change of a session, and parts of it taken back.

use super::kit::{Kit, lines};
use std::fs;
use std::process::{Command, Stdio};
use zcoder::undo::{Force, Review};

fn review(kit: &Kit) -> Review {
    kit.past(|past| past.review()).expect("a review")
}

fn patch(kit: &Kit) -> String {
    String::from_utf8(review(kit).patch).expect("UTF-8")
}

#[test]
fn the_net_change_is_one_patch() {
    let mut kit = Kit::with(&[
        ("a.txt", "1\n2\n3\n"),
        ("gone.txt", "x\n"),
        ("same.txt", "s\n"),
    ]);
    kit.turn(&[
        ("a.txt", Some("1\ntwo\n3\n")),
        ("new.txt", Some("n")),
        ("same.txt", Some("S\n")),
    ]);
    kit.turn(&[
        ("gone.txt", None),
        ("a.txt", Some("1\ntwo\n3\n4\n")),
        ("same.txt", Some("s\n")),
    ]);
    let review = review(&kit);
    assert_eq!(
        String::from_utf8(review.patch).expect("UTF-8"),
        "diff --git a/a.txt b/a.txt\n--- a/a.txt\n+++ b/a.txt\n@@ -1,3 +1,4 @@\n 1\n-2\n+two\n 3\n+4\n\
         diff --git a/gone.txt b/gone.txt\ndeleted file mode 100644\n--- a/gone.txt\n+++ /dev/null\n@@ -1 +0,0 @@\n-x\n\
         diff --git a/new.txt b/new.txt\nnew file mode 100644\n--- /dev/null\n+++ b/new.txt\n@@ -0,0 +1 @@\n+n\n\\ No newline at end of file\n"
    );
    let shown: Vec<String> = review.files.iter().map(ToString::to_string).collect();
    assert_eq!(
        shown,
        [
            "a.txt +2 -1, 1 hunk",
            "gone.txt +0 -1, deleted",
            "new.txt +1 -0, new"
        ]
    );
    assert_eq!(review.notes, Vec::<String>::new());
    kit.undo();
    kit.undo();
    assert_eq!(patch(&kit), "");
}

#[test]
fn git_apply_takes_it_all_back() {
    let mut kit = Kit::with(&[
        ("a b.txt", "1\r\n2\r\n"),
        ("ü\"x.txt", "u"),
        ("d/e.txt", ""),
    ]);
    kit.put("bytes.bin", b"\xff\xfe\n\x80\n");
    let before = kit.tree();
    kit.begin();
    kit.edit("a b.txt", Some(b"1\r\n2\r\nthree"));
    kit.edit("\u{fc}\"x.txt", None);
    kit.edit("d/e.txt", Some(b"e\n"));
    kit.edit("empty.txt", Some(b""));
    kit.edit("bytes.bin", Some(b"\xff\xfe\n\x81\n"));
    kit.journal.end_turn();
    let patch = kit.temp.write("all.patch", review(&kit).patch);
    let mut git = Command::new("git");
    git.args(["apply", "-R"]).arg(patch).current_dir(kit.root());
    git.env("GIT_CEILING_DIRECTORIES", kit.temp.path())
        .stdin(Stdio::null());
    match git.output() {
        Ok(output) => {
            let error = String::from_utf8_lossy(&output.stderr).into_owned();
            assert!(output.status.success(), "{error}");
            assert_eq!(kit.tree(), before);
        }
        // No git here: the patch is compared with fixed text above.
        Err(_) => assert!(!review(&kit).patch.is_empty()),
    }
}

#[test]
fn what_others_changed_is_shown_and_said() {
    let mut kit = Kit::with(&[("a.txt", "1\n2\n")]);
    kit.turn(&[("a.txt", Some("1\ntwo\n"))]);
    kit.put("a.txt", "1\ntwo\nmine\n");
    let review = review(&kit);
    assert_eq!(lines(&[review.files[0].change.clone()]), ["a.txt +2 -1"]);
    assert_eq!(
        review.notes,
        ["`a.txt` was changed by others too; that is shown with it"]
    );
}

#[test]
fn a_large_file_that_others_changed_cannot_be_shown() {
    let old = "0123456789abcde\n".repeat(300);
    let mut kit = Kit::with_large("big.txt", &old);
    kit.turn(&[("big.txt", Some(&old.replacen("abc", "ABC", 1)))]);
    assert_eq!(review(&kit).files.len(), 1);
    kit.put("big.txt", "mine\n");
    let review = review(&kit);
    assert_eq!((review.files.len(), review.patch.len()), (0, 0));
    assert_eq!(
        review.notes,
        [
            "not shown: `big.txt` was changed by others, and only parts of what it held before are kept"
        ]
    );
    assert_eq!(
        kit.refused(|past| past.revert("big.txt", None), Force::No),
        "`big.txt` was changed since, not by this session, and only parts of what it held before are kept"
    );
    // Whoever brought back what it held before: there is no difference, and nothing to be said.
    kit.put("big.txt", old.replacen("abc", "ABC", 1));
    kit.turn(&[("big.txt", Some(&old.replacen("cde", "CDE", 1)))]);
    kit.put("big.txt", &old);
    let review = self::review(&kit);
    assert_eq!((review.files.len(), review.notes.len()), (0, 0));
}

/// A file with three hunks: lines 2, 12 and 22 of 25.
fn three_hunks() -> (Kit, String) {
    let old: String = (1..=25).map(|line| format!("line {line}\n")).collect();
    let new = old
        .replace("line 2\n", "LINE 2\n")
        .replace("line 12\n", "")
        .replace("line 22\n", "line 22\nmore\n");
    let mut kit = Kit::with(&[("a.txt", &old)]);
    kit.turn(&[("a.txt", Some(&new))]);
    (kit, old)
}

#[test]
fn each_hunk_can_be_taken_back() {
    let (kit, old) = three_hunks();
    assert_eq!(review(&kit).files[0].to_string(), "a.txt +2 -2, 3 hunks");
    kit.step(|past| past.revert("a.txt", Some(2)), Force::No);
    let now = kit.text("a.txt");
    assert_eq!(
        now,
        old.replace("line 2\n", "LINE 2\n")
            .replace("line 22\n", "line 22\nmore\n")
    );
    kit.step(|past| past.revert("a.txt", Some(2)), Force::No);
    kit.step(|past| past.revert("a.txt", Some(1)), Force::No);
    assert_eq!(kit.text("a.txt"), old);
    assert_eq!(
        kit.refused(|past| past.revert("a.txt", Some(1)), Force::No),
        "`a.txt` is as it was when the session began; so is every other file"
    );
    // A revert is a step like any other.
    kit.undo();
    kit.undo();
    kit.undo();
    assert!(kit.text("a.txt").contains("LINE 2") && !kit.text("a.txt").contains("line 12"));
    kit.redo();
    assert!(kit.text("a.txt").contains("line 12"));
}

#[test]
fn hunks_are_those_of_the_patch() {
    // Six lines between two changes are one hunk, seven are two.
    for (between, hunks) in [(6, 1), (7, 2)] {
        let old = format!("a\n{}b\n", "x\n".repeat(between));
        let mut kit = Kit::with(&[("a.txt", &old)]);
        kit.turn(&[("a.txt", Some(&old.to_uppercase().replace('X', "x")))]);
        let review = review(&kit);
        assert_eq!(review.files[0].hunks, hunks);
        let patch = String::from_utf8(review.patch).expect("UTF-8");
        assert_eq!(patch.matches("\n@@ ").count(), hunks);
    }
}

#[test]
fn a_file_can_be_brought_back_and_its_revert_taken_back() {
    let mut kit = Kit::with(&[("gone.txt", "x\n")]);
    kit.turn(&[("d/new.txt", Some("n\n")), ("gone.txt", None)]);
    let plan = kit
        .past(|past| past.revert("./d/new.txt", None))
        .expect("a plan");
    assert_eq!(plan.what, "revert ./d/new.txt");
    assert_eq!(lines(&plan.changes), ["d/new.txt +0 -1, deleted"]);
    kit.step(|past| past.revert("d/new.txt", None), Force::No);
    kit.step(|past| past.revert("gone.txt", None), Force::No);
    assert_eq!(kit.tree(), [("gone.txt".to_string(), "x\n".to_string())]);
    let plan = kit.plan_undo();
    assert_eq!(plan.what, "undo the revert of gone.txt");
    kit.undo();
    kit.undo();
    assert_eq!(kit.text("d/new.txt"), "n\n");
    assert!(!kit.root().join("gone.txt").exists());
}

#[test]
fn the_only_hunk_of_a_new_file_is_the_file() {
    let mut kit = Kit::new();
    kit.turn(&[("new.txt", Some("n\n"))]);
    kit.step(|past| past.revert("new.txt", Some(1)), Force::No);
    assert_eq!(kit.tree(), []);
}

#[test]
fn a_revert_of_a_file_that_others_changed_needs_force() {
    let (kit, old) = three_hunks();
    kit.put("a.txt", kit.text("a.txt") + "mine\n");
    assert_eq!(
        kit.refused(|past| past.revert("a.txt", None), Force::No),
        "nothing was changed:\n  `a.txt` was changed by others too\n\
         --force goes over these changes and keeps a copy of each file"
    );
    // One hunk does not touch the others.
    kit.step(|past| past.revert("a.txt", Some(1)), Force::No);
    assert!(kit.text("a.txt").ends_with("mine\n"));
    let made = kit.step(|past| past.revert("a.txt", None), Force::Yes);
    assert_eq!(kit.text("a.txt"), old);
    let copy = fs::read_to_string(&made.copies[0]).expect("a copy");
    assert!(copy.ends_with("mine\n"));
}

#[test]
fn what_cannot_be_reverted_is_said() {
    let (kit, _) = three_hunks();
    for (path, hunk, expected) in [
        ("a.txt", Some(4), "`a.txt` has no hunk 4; it has 3"),
        ("a.txt", Some(0), "`a.txt` has no hunk 0; it has 3"),
        (
            "b.txt",
            None,
            "`b.txt` is as it was when the session began; these differ: a.txt",
        ),
    ] {
        assert_eq!(
            kit.refused(|past| past.revert(path, hunk), Force::No),
            expected
        );
    }
}
