//! The right to execute: set, cleared, taken back, and what others did to it since.

use super::kit::{Kit, lines};
use std::fs;
use std::os::unix::fs::PermissionsExt;
use zcoder::undo::{Error, Force, Past};

const SCRIPT: &str = "echo hello\n";

fn undo(past: &Past<'_>) -> Result<zcoder::undo::Plan, Error> {
    past.undo(None)
}

/// `run.sh` with the mode `before`; a turn sets or clears the right to execute.
fn turned(before: u32, executable: bool) -> Kit {
    let mut kit = Kit::with(&[("run.sh", SCRIPT)]);
    kit.set_mode("run.sh", before);
    kit.begin();
    kit.set_executable("run.sh", executable, None);
    kit.journal.end_turn();
    kit
}

#[test]
fn only_the_mode_goes_back_and_forth() {
    for (before, executable, after) in [
        (0o644, true, 0o755),
        (0o640, true, 0o750),
        (0o600, true, 0o700),
        (0o755, false, 0o644),
        (0o744, false, 0o644),
        (0o711, false, 0o600),
    ] {
        let kit = turned(before, executable);
        assert_eq!(kit.mode("run.sh"), after);
        let bit = |given| {
            if given {
                "executable"
            } else {
                "no longer executable"
            }
        };
        let line = format!("run.sh +0 -0, {}", bit(!executable));
        assert_eq!(lines(&kit.plan_undo().changes), [line]);
        kit.undo();
        assert_eq!(
            (kit.mode("run.sh"), kit.text("run.sh")),
            (before, SCRIPT.into())
        );
        kit.redo();
        assert_eq!(kit.mode("run.sh"), after, "{before:o}");
        kit.undo();
        assert_eq!(kit.mode("run.sh"), before);
    }
}

#[test]
fn text_and_mode_go_back_together() {
    let mut kit = Kit::with(&[("run.sh", SCRIPT)]);
    kit.begin();
    kit.set_executable("run.sh", true, Some("echo bye\n"));
    kit.edit("run.sh", Some(b"echo good bye\n"));
    kit.journal.end_turn();
    assert_eq!(
        lines(&kit.plan_undo().changes),
        ["run.sh +1 -1, no longer executable"]
    );
    kit.undo();
    assert_eq!(
        (kit.mode("run.sh"), kit.text("run.sh")),
        (0o644, SCRIPT.into())
    );
    kit.redo();
    assert_eq!(
        (kit.mode("run.sh"), kit.text("run.sh")),
        (0o755, "echo good bye\n".into())
    );
}

#[test]
fn of_a_large_file_too() {
    let text = "line\n".repeat(1_000);
    let mut kit = Kit::with_large("run.sh", &text);
    kit.begin();
    kit.set_executable("run.sh", true, None);
    kit.set_executable("run.sh", true, Some(&text.replacen("line", "first", 1)));
    kit.journal.end_turn();
    kit.undo();
    assert_eq!((kit.mode("run.sh"), kit.text("run.sh")), (0o644, text));
    kit.redo();
    assert_eq!(kit.mode("run.sh"), 0o755);
    assert!(kit.text("run.sh").starts_with("first\nline\n"));
}

#[test]
fn a_new_script_comes_back_as_executable_as_it_was() {
    let mut kit = Kit::new();
    kit.begin();
    kit.set_executable("run.sh", true, Some(SCRIPT));
    kit.journal.end_turn();
    assert_eq!(lines(&kit.plan_undo().changes), ["run.sh +0 -1, deleted"]);
    // Nothing is lost by taking it away: it comes back with the mode that it has now.
    kit.set_mode("run.sh", 0o700);
    kit.undo();
    assert_eq!(kit.tree(), []);
    kit.redo();
    assert_eq!(
        (kit.mode("run.sh"), kit.text("run.sh")),
        (0o700, SCRIPT.into())
    );
}

#[test]
fn a_mode_that_somebody_else_gave_is_a_conflict_and_force_goes_over_it() {
    let kit = turned(0o644, true);
    kit.set_mode("run.sh", 0o700);
    assert_eq!(
        kit.refused(undo, Force::No),
        "nothing was changed:\n  `run.sh` has the mode 700 now, which this session did not give it\n\
         --force goes over these changes and keeps a copy of each file"
    );
    assert_eq!(kit.mode("run.sh"), 0o700);
    let made = kit.step(undo, Force::Yes);
    assert_eq!(made.copies.len(), 1);
    assert_eq!(kit.mode("run.sh"), 0o644);
    kit.redo();
    assert_eq!(kit.mode("run.sh"), 0o700);
}

#[test]
fn a_mode_that_is_back_already_needs_nothing() {
    let kit = turned(0o644, true);
    kit.set_mode("run.sh", 0o644);
    assert_eq!(kit.plan_undo().changes, []);
}

#[test]
fn text_that_others_wrote_since_stays_where_only_the_mode_goes_back() {
    let kit = turned(0o644, true);
    kit.put("run.sh", "mine\n");
    kit.undo();
    assert_eq!(
        (kit.mode("run.sh"), kit.text("run.sh")),
        (0o644, "mine\n".into())
    );
}

#[test]
fn a_mode_that_the_session_did_not_change_stays() {
    let mut kit = Kit::with(&[("run.sh", SCRIPT)]);
    kit.turn(&[("run.sh", Some("echo bye\n"))]);
    kit.set_mode("run.sh", 0o755);
    assert_eq!(lines(&kit.plan_undo().changes), ["run.sh +1 -1"]);
    kit.undo();
    assert_eq!(
        (kit.mode("run.sh"), kit.text("run.sh")),
        (0o755, SCRIPT.into())
    );
}

#[test]
fn removed_and_made_anew_in_one_turn_it_gets_its_old_mode_back() {
    let mut kit = Kit::with(&[("run.sh", SCRIPT)]);
    kit.set_mode("run.sh", 0o755);
    kit.turn(&[("run.sh", None), ("run.sh", Some("echo bye\n"))]);
    kit.set_mode("run.sh", 0o644);
    kit.undo();
    assert_eq!(
        (kit.mode("run.sh"), kit.text("run.sh")),
        (0o755, SCRIPT.into())
    );
}

#[test]
fn an_edit_that_was_journalled_and_not_made_is_no_change() {
    let mut kit = Kit::with(&[("run.sh", SCRIPT)]);
    kit.begin();
    kit.record_executable("run.sh", true, None);
    kit.journal.end_turn();
    assert_eq!(kit.plan_undo().changes, []);
}

#[test]
fn an_undo_killed_in_the_middle_is_put_back_or_stands() {
    let kit = turned(0o644, true);
    kit.undo();
    let entry = fs::read(kit.entry(2)).expect("an entry");
    let end = entry.windows(13).rposition(|w| w == b"{\"done\":true}");
    // The line with the hash stands before it.
    let line = "64 hex".len() + 64;
    let cut = entry[..end.expect("an end") - line]
        .iter()
        .rposition(|b| *b == b'\n');
    for (mode, said) in [
        (
            0o755,
            "an undo was interrupted; what it had changed was put back (0 files)",
        ),
        (0o644, "an undo was interrupted right at its end; it stands"),
    ] {
        fs::write(kit.entry(2), &entry[..cut.expect("a line") + 1]).expect("no end");
        kit.set_mode("run.sh", mode);
        let settled = kit.past(|past| past.settle(Force::No)).expect("settled");
        assert_eq!(settled.as_deref(), Some(said));
        assert_eq!(kit.mode("run.sh"), mode);
    }
}

#[test]
fn a_review_shows_the_mode_and_a_revert_puts_it_back() {
    let kit = turned(0o644, true);
    let review = kit.past(|past| past.review()).expect("a review");
    assert_eq!(
        String::from_utf8(review.patch).expect("UTF-8"),
        "diff --git a/run.sh b/run.sh\nold mode 100644\nnew mode 100755\n"
    );
    assert_eq!(review.files[0].to_string(), "run.sh +0 -0, executable");
    kit.step(|past| past.revert("run.sh", None), Force::No);
    assert_eq!(kit.mode("run.sh"), 0o644);
    kit.undo();
    assert_eq!(kit.mode("run.sh"), 0o755);
    kit.set_mode("run.sh", 0o711);
    assert_eq!(
        kit.refused(|past| past.revert("run.sh", None), Force::No),
        "nothing was changed:\n  `run.sh` was changed by others too\n\
         --force goes over these changes and keeps a copy of each file"
    );
}

#[test]
fn a_file_with_another_name_elsewhere_keeps_its_mode_there() {
    let kit = turned(0o644, true);
    let other = kit.temp.path().join("elsewhere");
    fs::hard_link(kit.root().join("run.sh"), &other).expect("a link");
    kit.undo();
    let mode = fs::metadata(&other).expect("there").permissions().mode() & 0o777;
    assert_eq!((kit.mode("run.sh"), mode), (0o644, 0o755));
}
