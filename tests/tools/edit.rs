//! Making an edit: what is checked right before, what a failure leaves behind, and the diff that is shown.

use std::io;
use std::os::unix::fs::{MetadataExt, symlink};

use zcoder::policy::{CommandMode, EditMode, Policy, Profile, Verdict};
use zcoder::protocol::{Facts, ToolOutcome, ToolStatus};
use zcoder::tools::Edit;

use super::kit::Kit;

const CHANGED: &str = "`f` changed on disk since this edit was worked out, so it was not touched. Read it again with read_file and make \
    the edit anew.";

fn replacement<'a>(old: &'a str, new: &'a str) -> [(&'a str, &'a str); 3] {
    [("path", "f"), ("old_text", old), ("new_text", new)]
}

/// Applies with a journal of one's own.
fn apply(kit: &mut Kit, edit: Edit, journal: &mut dyn FnMut() -> io::Result<()>) -> ToolOutcome {
    let policy = Policy::new(CommandMode::Ask, EditMode::Auto, Profile::Coding, None);
    let Verdict::Allowed(approved) = policy.edit(edit, &["f"], |_| "", None) else {
        panic!("edits=auto asks");
    };
    kit.toolbox.apply(approved, &mut |_, _| journal())
}

/// Only the files that a workspace should have: no temporary one is left.
#[track_caller]
fn holds(kit: &Kit, names: &[&str]) {
    let entries = std::fs::read_dir(kit.root()).expect("workspace");
    let mut found: Vec<String> = entries
        .map(|e| e.expect("entry").file_name().into_string().expect("UTF-8"))
        .collect();
    found.sort();
    assert_eq!(found, names);
}

#[track_caller]
fn fails(outcome: ToolOutcome, text: &str) {
    assert_eq!(outcome.text, text);
    assert_eq!(
        (outcome.status, outcome.facts),
        (ToolStatus::Failed, Facts::None)
    );
}

#[test]
fn working_out_changes_nothing() {
    let mut kit = Kit::new();
    kit.put("f", "a\n");
    let edit = kit.edit("replace_text", &replacement("a", "b"));
    assert_eq!(edit.diff(), "--- a/f\n+++ b/f\n@@ -1 +1 @@\n-a\n+b\n");
    assert_eq!((edit.paths(), edit.protected()), (vec!["f"], None));
    assert_eq!(kit.get("f"), b"a\n");
    assert!(kit.toolbox.changed().is_empty());
    kit.apply(edit);
    assert_eq!(kit.get("f"), b"b\n");
    assert_eq!(kit.toolbox.changed(), ["f"]);
    holds(&kit, &["f"]);
}

#[test]
fn a_file_that_changed_before_the_yes_is_not_touched() {
    let mut kit = Kit::new();
    kit.put("f", "a\n");
    let edit = kit.edit("replace_text", &replacement("a", "b"));
    kit.put("f", "a and more\n");
    fails(kit.apply(edit), CHANGED);
    assert_eq!(kit.get("f"), b"a and more\n");
    assert!(
        kit.journal.is_empty(),
        "nothing is journaled for an edit that is not made"
    );
    // Cut short: what is left is the beginning of what was read.
    let edit = kit.edit("replace_text", &replacement("more", "less"));
    kit.put("f", "a and");
    fails(kit.apply(edit), CHANGED);
    kit.put("f", "a and more\n");
    // In place, of the same length, at once.
    let edit = kit.edit("replace_text", &replacement("more", "less"));
    kit.put("f", "b and more\n");
    fails(kit.apply(edit), CHANGED);
    kit.put("f", "a and more\n");
    // Saved by rename, as editors do, with the same bytes: the edit still fits, and the mode is the new file's.
    let edit = kit.edit("replace_text", &replacement("a and", "b and"));
    kit.put("g", "a and more\n");
    kit.mode("g", 0o755);
    std::fs::rename(kit.root().join("g"), kit.root().join("f")).expect("renames");
    assert_eq!(kit.apply(edit).text, "changed line 1 of `f`");
    assert_eq!(kit.get("f"), b"b and more\n");
    let mode = std::fs::metadata(kit.root().join("f"))
        .expect("metadata")
        .mode();
    assert_eq!(mode & 0o777, 0o755);
}

#[test]
fn a_file_that_changes_while_it_is_written_is_not_touched() {
    let mut kit = Kit::new();
    kit.put("f", "a\n");
    let edit = kit.edit("replace_text", &replacement("a", "b"));
    let path = kit.root().join("f");
    let outcome = apply(&mut kit, edit, &mut || {
        std::fs::write(&path, "saved meanwhile\n")
    });
    fails(outcome, CHANGED);
    assert_eq!(kit.get("f"), b"saved meanwhile\n");
    holds(&kit, &["f"]);
}

#[test]
fn a_file_that_became_something_else_is_not_touched() {
    for exchange in ["link", "folder", "gone"] {
        let mut kit = Kit::new();
        kit.put("f", "a\n");
        kit.temp.write("outside", "a\n");
        let edit = kit.edit("replace_text", &replacement("a", "b"));
        let path = kit.root().join("f");
        std::fs::remove_file(&path).expect("removes");
        match exchange {
            "link" => symlink(kit.temp.path().join("outside"), &path).expect("link"),
            "folder" => std::fs::create_dir(&path).expect("folder"),
            _ => {}
        }
        fails(kit.apply(edit), CHANGED);
        assert_eq!(kit.temp.read("outside"), b"a\n");
    }
}

#[test]
fn a_parent_that_became_a_link_is_not_followed() {
    let mut kit = Kit::new();
    kit.put("d/f", "a\n");
    kit.temp.write("elsewhere/f", "a\n");
    let edit = kit.edit(
        "replace_text",
        &[("path", "d/f"), ("old_text", "a"), ("new_text", "b")],
    );
    let new = kit.edit("write_file", &[("path", "d/new"), ("content", "x")]);
    std::fs::rename(kit.root().join("d"), kit.root().join("old")).expect("renames");
    symlink(kit.temp.path().join("elsewhere"), kit.root().join("d")).expect("link");
    fails(
        kit.apply(edit),
        "`d/f` changed on disk since this edit was worked out, so it was not touched. Read it again with read_file and make the edit \
         anew.",
    );
    fails(
        kit.apply(new),
        "`d/new` was not changed, its folder could not be made: a folder on the way was exchanged for a link. Try once more; if it fails \
         again, tell the user.",
    );
    assert_eq!(kit.temp.read("elsewhere/f"), b"a\n");
    assert!(!kit.temp.path().join("elsewhere/new").exists());
}

#[test]
fn a_new_file_does_not_replace_one_that_appeared() {
    let text = "`f` appeared on disk since this edit was worked out, so it was not touched. Read it with read_file first.";
    let mut kit = Kit::new();
    let edit = kit.edit("write_file", &[("path", "f"), ("content", "new")]);
    kit.put("f", "appeared");
    fails(kit.apply(edit), text);
    std::fs::remove_file(kit.root().join("f")).expect("removes");
    let edit = kit.edit("write_file", &[("path", "f"), ("content", "new")]);
    let path = kit.root().join("f");
    let outcome = apply(&mut kit, edit, &mut || {
        std::fs::write(&path, "appeared late")
    });
    fails(outcome, text);
    assert_eq!(kit.get("f"), b"appeared late");
    holds(&kit, &["f"]);
}

#[test]
fn without_a_journal_record_nothing_is_written() {
    let mut kit = Kit::new();
    kit.put("f", "a\n");
    let edit = kit.edit("replace_text", &replacement("a", "b"));
    let outcome = apply(&mut kit, edit, &mut || Err(io::Error::other("disk full")));
    fails(
        outcome,
        "`f` was not changed: its journal record could not be written (disk full), and without one the change could not be undone. Tell \
         the user.",
    );
    assert_eq!(kit.get("f"), b"a\n");
    let edit = kit.edit("write_file", &[("path", "new/deep"), ("content", "x")]);
    apply(&mut kit, edit, &mut || Err(io::Error::other("disk full")));
    holds(&kit, &["f"]);
}

#[test]
fn a_workspace_that_vanished_is_not_made_anew() {
    let mut kit = Kit::new();
    kit.put("f", "a\n");
    let root = kit.root().to_path_buf();
    let gone = format!(
        "the workspace {} is not there any more: it was removed, moved or exchanged. No tool can work without it. \
         End the task with finish_task and status failed, and tell the user.",
        root.display()
    );
    let worked_out = kit.edit("write_file", &[("path", "sub/new"), ("content", "x")]);
    std::fs::rename(&root, kit.temp.path().join("moved")).expect("moves");
    fails(
        kit.apply(worked_out),
        "`sub/new` was not changed: the workspace is not there any more. End the task with finish_task and status failed, \
         and tell the user.",
    );
    let calls: [(&str, &[(&str, &str)]); 5] = [
        ("list_files", &[]),
        ("read_file", &[("path", "f")]),
        ("write_file", &[("path", "new"), ("content", "x")]),
        ("replace_text", &replacement("a", "b")),
        ("run_command", &[("command", "pwd")]),
    ];
    for (name, arguments) in calls {
        fails(kit.call(name, arguments), &gone);
    }
    assert!(!root.exists());
    std::os::unix::fs::symlink("moved", &root).expect("link");
    fails(kit.call("list_files", &[]), &gone);
}

#[test]
fn a_write_that_fails_leaves_the_old_file_and_no_folders() {
    let mut kit = Kit::new();
    kit.put("f", "a\n");
    // /proc takes no files, whoever asks.
    std::fs::remove_file(kit.root().join("f")).expect("removes");
    let workspace =
        zcoder::tools::Workspace::open(std::path::Path::new("/proc"), Vec::new()).expect("opens");
    let limits = zcoder::tools::Limits {
        read_bytes: 1_000,
        output_bytes: 1_000,
        command_timeout: std::time::Duration::from_secs(1),
        command_wrapper: Vec::new(),
    };
    kit.toolbox = zcoder::tools::Toolbox::new(workspace, limits, kit.temp.path().join("o"), true);
    let edit = kit.edit("write_file", &[("path", "new.txt"), ("content", "x")]);
    let outcome = kit.apply(edit);
    assert_eq!(outcome.status, ToolStatus::Failed);
    assert!(
        outcome
            .text
            .starts_with("`new.txt` was not changed, it could not be written: "),
        "{}",
        outcome.text
    );
    assert!(kit.toolbox.changed().is_empty());
}

#[test]
fn a_write_that_fails_takes_its_new_folders_away() {
    // The path is just short enough; that of the temporary file beside it is not.
    let mut kit = Kit::new();
    let mut folder = String::new();
    while kit.root().as_os_str().len() + folder.len() < 4_085 {
        let room = 4_085 - kit.root().as_os_str().len() - folder.len();
        folder.push_str(&"d".repeat(room.min(200)));
        folder.push('/');
    }
    let path = format!("{folder}x");
    let outcome = kit.call("write_file", &[("path", &path), ("content", "x")]);
    assert!(
        outcome.text.ends_with(
            "x` was not changed, it could not be written: File name too long (os error 36). Try once more; if it fails again, tell the user."
        ),
        "{}",
        outcome.text
    );
    holds(&kit, &[]);
}

#[test]
fn hard_links_and_neighbors_are_left_alone() {
    let mut kit = Kit::new();
    kit.put("f", "a\n");
    std::fs::hard_link(kit.root().join("f"), kit.root().join("twin")).expect("hard link");
    kit.ok("replace_text", &replacement("a", "b"));
    assert_eq!(kit.get("twin"), b"a\n");
    let inode = |name: &str| {
        std::fs::metadata(kit.root().join(name))
            .expect("metadata")
            .ino()
    };
    assert_ne!(inode("f"), inode("twin"));
}

#[test]
fn protected_paths_reach_the_policy() {
    let mut kit = Kit::new();
    let edit = kit.edit(
        "write_file",
        &[("path", ".git/hooks/pre-commit"), ("content", "x")],
    );
    assert_eq!(
        edit.protected(),
        Some("version control runs programs named in its own files")
    );
}

#[track_caller]
fn diff(before: &[u8], old: &str, new: &str, expected: &str) {
    let mut kit = Kit::new();
    kit.put("f", before);
    let edit = kit.edit("replace_text", &replacement(old, new));
    assert_eq!(edit.diff(), format!("--- a/f\n+++ b/f\n{expected}"));
}

#[test]
fn the_diff_is_exactly_the_change_in_whole_lines() {
    let ten = b"1\n2\n3\n4\n5\n6\n7\n8\n9\n10\n";
    diff(
        ten,
        "5",
        "five",
        "@@ -2,7 +2,7 @@\n 2\n 3\n 4\n-5\n+five\n 6\n 7\n 8\n",
    );
    diff(
        ten,
        "1\n2",
        "one\n2",
        "@@ -1,4 +1,4 @@\n-1\n+one\n 2\n 3\n 4\n",
    );
    diff(ten, "9\n", "", "@@ -6,5 +6,4 @@\n 6\n 7\n 8\n-9\n 10\n");
    diff(
        ten,
        "9\n",
        "9\nx\ny\n",
        "@@ -7,4 +7,6 @@\n 7\n 8\n 9\n+x\n+y\n 10\n",
    );
    diff(
        ten,
        "10\n",
        "10",
        "@@ -7,4 +7,4 @@\n 7\n 8\n 9\n-10\n+10\n\\ No newline at end of file\n",
    );
    diff(
        ten,
        "4\n5",
        "45",
        "@@ -1,8 +1,7 @@\n 1\n 2\n 3\n-4\n-5\n+45\n 6\n 7\n 8\n",
    );
    diff(
        b"a",
        "a",
        "b",
        "@@ -1 +1 @@\n-a\n\\ No newline at end of file\n+b\n\\ No newline at end of file\n",
    );
    diff(b"a\n", "a\n", "", "@@ -1 +0,0 @@\n-a\n");
    diff(
        b"a\r\nb\r\n",
        "b",
        "c",
        "@@ -1,2 +1,2 @@\n a\r\n-b\r\n+c\r\n",
    );
    diff(b"\xa9 x\n", "x", "y", "@@ -1 +1 @@\n-\\xA9 x\n+\\xA9 y\n");
}

#[test]
fn a_rewrite_shows_the_lines_that_differ() {
    let mut kit = Kit::new();
    kit.put("f", "1\n2\n3\n4\n5\n6\n7\n8\n9\n");
    kit.ok("read_file", &[("path", "f")]);
    let edit = kit.edit(
        "write_file",
        &[("path", "f"), ("content", "1\n2\n3\n4\nx\n6\ny\n8\n9\n")],
    );
    assert_eq!(
        edit.diff(),
        "--- a/f\n+++ b/f\n@@ -2,8 +2,8 @@\n 2\n 3\n 4\n-5\n+x\n 6\n-7\n+y\n 8\n 9\n"
    );
}

#[test]
fn a_line_put_in_shows_as_that_line() {
    // The bytes that are new are `0⏎x`; the line that is new is `x0`.
    let mut kit = Kit::new();
    kit.put("f", "x1\nx2\n");
    kit.ok("read_file", &[("path", "f")]);
    let edit = kit.edit("write_file", &[("path", "f"), ("content", "x0\nx1\nx2\n")]);
    assert_eq!(
        edit.diff(),
        "--- a/f\n+++ b/f\n@@ -1,2 +1,3 @@\n+x0\n x1\n x2\n"
    );
}

#[test]
fn a_large_removal_is_shown_by_its_ends() {
    let mut kit = Kit::new();
    kit.toolbox.set_read_limit(10_000_000);
    let line = "x".repeat(99);
    let file: String = (0..10_000).map(|_| format!("{line}\n")).collect();
    kit.put("f", &file);
    kit.ok("read_file", &[("path", "f")]);
    let edit = kit.edit("write_file", &[("path", "f"), ("content", "short\n")]);
    assert!(edit.diff().len() < 140_000, "{}", edit.diff().len());
    let marks: Vec<&str> = edit
        .diff()
        .lines()
        .filter(|line| line.starts_with('\\'))
        .collect();
    assert_eq!(
        marks,
        ["\\ 8688 removed lines (868800 bytes) are not shown here"]
    );
    let outcome = kit.apply(edit);
    assert_eq!(
        outcome.text,
        "replaced `f`: 1 line added, 10,000 lines removed"
    );
}

#[test]
fn a_large_file_is_edited_in_place_and_a_larger_one_refused() {
    let mut kit = Kit::new();
    let mut file = "line of some length\n".repeat(100_000);
    file.push_str("the end\n");
    kit.put("f", &file);
    let edit = kit.edit("replace_text", &replacement("the end", "The End"));
    assert!(edit.diff().len() < 300);
    assert_eq!(kit.apply(edit).text, "changed line 100001 of `f`");
    assert_eq!(kit.journal[0].spans.len(), 1);
    assert_eq!(kit.journal[0].spans[0].old, b"the e");
    let sparse = std::fs::File::create(kit.root().join("f")).expect("creates");
    sparse.set_len((256 << 20) + 1).expect("grows");
    kit.fails(
        "replace_text",
        &replacement("a", "b"),
        "`f` has 268,435,457 bytes; files above 268,435,456 are not edited by this tool. Change it with run_command, for example with sed.",
    );
    // One byte less is looked at.
    sparse.set_len(256 << 20).expect("shrinks");
    kit.fails(
        "replace_text",
        &replacement("a", "b"),
        "`f` is binary data (it holds NUL bytes), and this tool edits text only. Use run_command with a program that understands it.",
    );
}
