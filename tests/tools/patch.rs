//! `apply_patch`: all files or none, what is refused and in which words, and what a failure in the middle leaves behind.

use std::os::unix::fs::{PermissionsExt, symlink};

use zcoder::protocol::{Facts, FileChange, JournalRecord, Span, ToolStatus};
use zcoder::sha256::digest;

use super::kit::Kit;

const FILE: &str = "one\ntwo\nthree\nfour\nfive\nsix\nseven\neight\nnine\nten\n";
const TAIL: &str = "\nCorrect this and send the whole patch again, or change the passages one by one with replace_text.";

fn patch(text: &str) -> [(&str, &str); 1] {
    [("patch", text)]
}

/// A patch of `f`, which holds `FILE`, that makes this of it.
#[track_caller]
fn makes(text: &str, old: &str, new: &str) {
    let mut kit = Kit::new();
    kit.put("f", FILE);
    kit.ok("apply_patch", &patch(text));
    assert_eq!(
        String::from_utf8_lossy(&kit.get("f")),
        FILE.replace(old, new)
    );
}

/// A patch of `f`, which holds `FILE`, that is refused with these words about it.
#[track_caller]
fn refused(text: &str, fault: &str) {
    let mut kit = Kit::new();
    kit.put("f", FILE);
    kit.fails(
        "apply_patch",
        &patch(text),
        &format!("the patch was not applied, nothing was changed.\n- {fault}{TAIL}"),
    );
    assert_eq!(kit.get("f"), FILE.as_bytes());
}

/// A patch that cannot be read.
#[track_caller]
fn unreadable(text: &str, fault: &str) {
    let mut kit = Kit::new();
    kit.put("f", FILE);
    kit.fails(
        "apply_patch",
        &patch(text),
        &format!(
            "the patch cannot be read, so nothing was changed: {fault}. Send all of it again as a unified diff (--- a/FILE, +++ b/FILE, \
             then hunks: @@, lines that stay begin with a blank, removed ones with -, added ones with +)."
        ),
    );
}

#[test]
fn both_forms_change_a_file() {
    makes(
        "--- a/f\n+++ b/f\n@@ -2,3 +2,3 @@\n two\n-three\n+3\n four\n",
        "three",
        "3",
    );
    makes(
        "*** Begin Patch\n*** Update File: f\n@@\n two\n-three\n+3\n*** End Patch",
        "three",
        "3",
    );
    makes(
        "```diff\n--- f\n+++ f\n@@ ... @@\n two\n-three\n+3\n```\nDone.",
        "three",
        "3",
    );
    let mut kit = Kit::new();
    kit.put("f", FILE);
    let text = kit.ok(
        "apply_patch",
        &[("patch", "@@\n two\n-three\n+3\n"), ("path", "f")],
    );
    assert_eq!(text, "patched `f`: 1 line added, 1 line removed");
    assert_eq!(kit.get("f"), FILE.replace("three", "3").as_bytes());
}

#[test]
fn all_files_of_a_patch_are_one_edit() {
    let mut kit = Kit::new();
    kit.put("f", FILE);
    kit.put("old.txt", "to go\n");
    kit.put("d/from.sh", "a\nb\n");
    kit.mode("d/from.sh", 0o750);
    kit.ok("read_file", &[("path", "old.txt")]);
    let text = "*** Begin Patch\n*** Update File: f\n-one\n+1\n*** Add File: new/n.txt\n+first\n+second\n*** Delete File: old.txt\n\
        *** Update File: d/from.sh\n*** Move to: e/to.sh\n a\n-b\n+c\n*** End Patch\n";
    let edit = kit.edit("apply_patch", &patch(text));
    assert_eq!(
        edit.paths(),
        ["f", "new/n.txt", "old.txt", "e/to.sh", "d/from.sh"]
    );
    let diff = "--- a/f\n+++ b/f\n@@ -1,4 +1,4 @@\n-one\n+1\n two\n three\n four\n--- /dev/null\n+++ b/new/n.txt\n@@ -0,0 +1,2 @@\n+first\n+second\n\
        --- a/old.txt\n+++ /dev/null\n@@ -1 +0,0 @@\n-to go\nrename from d/from.sh\nrename to e/to.sh\n--- a/d/from.sh\n+++ b/e/to.sh\n\
        @@ -1,2 +1,2 @@\n a\n-b\n+c\n";
    assert_eq!(edit.diff(), diff);
    assert_eq!(kit.get("f"), FILE.as_bytes());
    let outcome = kit.apply(edit);
    assert_eq!(
        outcome.text,
        "patched 4 files:\n- patched `f`: 1 line added, 1 line removed\n- created `new/n.txt`: 2 lines\n- deleted `old.txt`\n\
         - moved `d/from.sh` to `e/to.sh`: 1 line added, 1 line removed"
    );
    let file = |path: &str, (added, removed), (created, deleted)| FileChange {
        path: path.to_string(),
        added,
        removed,
        created,
        deleted,
        executable: None,
    };
    let files = vec![
        file("f", (1, 1), (false, false)),
        file("new/n.txt", (2, 0), (true, false)),
        file("old.txt", (0, 1), (false, true)),
        file("e/to.sh", (1, 1), (true, false)),
        file("d/from.sh", (0, 0), (false, true)),
    ];
    assert_eq!(
        outcome.facts,
        Facts::Edited {
            files,
            diff: diff.to_string()
        }
    );
    assert_eq!(kit.get("f"), FILE.replace("one", "1").as_bytes());
    assert_eq!(kit.get("new/n.txt"), b"first\nsecond\n");
    assert_eq!(kit.get("e/to.sh"), b"a\nc\n");
    let mode = std::fs::metadata(kit.root().join("e/to.sh"))
        .expect("metadata")
        .permissions()
        .mode();
    assert_eq!(mode & 0o777, 0o750);
    assert!(!kit.root().join("old.txt").exists() && !kit.root().join("d/from.sh").exists());
    let record = |path: &str,
                  before: Option<&[u8]>,
                  after: Option<&[u8]>,
                  (old, new_len): (&str, u64)| JournalRecord {
        path: path.to_string(),
        before: before.map(digest),
        after: after.map(digest),
        executable: None,
        spans: vec![Span {
            offset: 0,
            old: old.as_bytes().to_vec(),
            new_len,
        }],
    };
    let changed = FILE.replace("one", "1");
    assert_eq!(
        kit.journal,
        [
            record(
                "f",
                Some(FILE.as_bytes()),
                Some(changed.as_bytes()),
                ("one\n", 2)
            ),
            record("new/n.txt", None, Some(b"first\nsecond\n"), ("", 13)),
            record("old.txt", Some(b"to go\n"), None, ("to go\n", 0)),
            record("e/to.sh", None, Some(b"a\nc\n"), ("", 4)),
            record("d/from.sh", Some(b"a\nb\n"), None, ("a\nb\n", 0)),
        ]
    );
    assert_eq!(
        kit.toolbox.changed(),
        ["f", "new/n.txt", "old.txt", "e/to.sh", "d/from.sh"]
    );
}

#[test]
fn one_fault_refuses_the_whole_patch_and_all_faults_are_told() {
    let mut kit = Kit::new();
    kit.put("f", FILE);
    kit.put("g", "alpha beta gamma\nbeta\n");
    kit.put("twice", "x\nsame\ny\nsame\n");
    let text = "--- a/f\n+++ b/f\n@@ -1 +1 @@\n-one\n+1\n--- a/g\n+++ b/g\n@@ -1,2 +1,2 @@\n-alpha beta gama\n+Alpha\n beta\n\
        --- a/twice\n+++ b/twice\n@@ -9 +9 @@\n-same\n+other\n--- a/gone.txt\n+++ b/gone.txt\n@@ -1 +1 @@\n-a\n+b\n\
        --- /dev/null\n+++ b/f\n@@ -0,0 +1 @@\n+x\n";
    kit.fails(
        "apply_patch",
        &patch(text),
        &format!(
            "the patch was not applied, nothing was changed.\n\
             - there is no `gone.txt` in the workspace. list_files shows what is there.\n\
             - `f` exists, so the patch does not create it. Read it with read_file and send hunks that change it.\n\
             - `g`, hunk 1 (line 8 of the patch): its lines do not stand in the file. Nearest: lines 1-2:\nalpha beta gamma\nbeta\n\
             Line 1 is `alpha beta gamma`, the hunk has `alpha beta gama`.\n\
             - `twice`, hunk 1 (line 14 of the patch): its lines stand at line 2 and at line 4, perhaps at more. Give it more lines before or \
             after, until they name one place.{TAIL}"
        ),
    );
    assert_eq!(kit.get("f"), FILE.as_bytes());
    assert!(kit.journal.is_empty());
}

#[test]
fn what_is_said_of_a_hunk_without_a_place() {
    let at = |line: usize| format!("`f`, hunk 1 (line {line} of the patch): ");
    refused(
        "--- a/f\n+++ b/f\n@@ -1 +1,2 @@\n-nothing of the kind, nowhere\n+x\n",
        &(at(3)
            + "its lines do not stand in the file. Nothing in it is near. Read it with read_file."),
    );
    refused(
        "--- a/f\n+++ b/f\n@@ -2,2 +2,2 @@\n-twenty-two\n-twenty-three\n+three\n+four five\n",
        &(at(3)
            + "its lines do not stand in the file. Nothing in it is near. Read it with read_file."),
    );
    refused(
        "--- a/f\n+++ b/f\n@@ -2,2 +2,2 @@\n seven\n-ate\n+eight\n nine\n",
        &(at(3) + "what it would make stands already at line 7. Leave this hunk out."),
    );
    refused(
        "--- a/f\n+++ b/f\n@@ -3,0 +4 @@\n+new\n",
        &(at(3)
            + "it only adds lines and does not say where. Give it the lines before and after them, each with a blank before it."),
    );
    refused(
        "--- a/f\n+++ b/f\n@@ -3,2 +3,2 @@\n three\n-  four\n+4\n",
        &(at(3)
            + "its lines do not stand in the file. Nearest: lines 3-4, which differ only in blanks:\nthree\nfour\nLine 4 is `four`, the hunk has `  four`."),
    );
    // The hunk goes on behind the last line of the file.
    refused(
        "--- a/f\n+++ b/f\n@@ -9,3 +9,3 @@\n nine\n ten\n-eleven\n+11\n",
        &(at(3) + "its lines do not stand in the file. Nearest: lines 9-10:\nnine\nten"),
    );
    refused(
        "--- a/f\n+++ b/f\n@@ -3,2 +3,2 @@\n three\n-four\n+4\n@@ -4,2 +4,2 @@\n-four\n+vier\n five\n",
        "`f`, hunk 2 (line 7 of the patch): it changes lines that hunk 1 changes. Make one hunk of both.",
    );
    refused(
        "--- a/f\n+++ b/f\n@@ -1,2 +1,2 @@\n-\u{fffd}ne\n+1\n two\n",
        &(at(3)
            + "its lines do not stand in the file. They hold U+FFFD, which stands for bytes that are not UTF-8; choose lines without it."),
    );
    refused(
        "--- a/f\n+++ b/f\n@@ -1,2 +1,2 @@\n-one\n+// ... rest of the code unchanged ...\n two\n",
        "`f`, hunk at line 3 of the patch: an added line stands for text that was left out (`// ... rest of the code unchanged ...`). Give every line.",
    );
    refused(
        "*** Update File: f\n-one\n+1\n*** Delete File: f\n",
        "`f` stands in the patch twice, with different actions; give each file one section.",
    );
}

#[test]
fn the_file_that_repeats_itself_is_told_apart_from_one_that_takes_too_long() {
    let mut kit = Kit::new();
    kit.put("f", "}\n".repeat(20_000));
    let text = format!(
        "--- a/f\n+++ b/f\n@@ -30000 +30000 @@\n{}-}}\n+x\n{}+y\n",
        " }\n".repeat(9_000),
        " }\n".repeat(9_000)
    );
    kit.fails(
        "apply_patch",
        &patch(&text),
        &format!(
            "the patch was not applied, nothing was changed.\n- `f`, hunk 1 (line 3 of the patch): its lines stand at line 1 and at line 2, \
             perhaps at more. Give it more lines before or after, until they name one place.{TAIL}"
        ),
    );
    kit.put(
        "f",
        [[b'}', b'\n'].repeat(60_000), b"]\n".to_vec()].concat(),
    );
    let text = format!(
        "--- a/f\n+++ b/f\n@@ -90000 +90000 @@\n{}-}}\n+x\n{} ]x\n",
        " }\n".repeat(9_000),
        " }\n".repeat(9_000)
    );
    let outcome = kit.call("apply_patch", &patch(&text));
    assert!(
        outcome.text.contains("its lines do not stand in the file"),
        "{}",
        outcome.text
    );
}

#[test]
fn texts_that_are_no_patch() {
    unreadable(
        "",
        "line 1: expected a unified diff or `*** Begin Patch`, found neither",
    );
    unreadable(
        "change one to two please",
        "line 1: expected a unified diff or `*** Begin Patch`, found neither (`change one to two please`)",
    );
    unreadable(
        "@@\n-one\n+1\n",
        "line 1: a hunk comes before any file name (`@@`)",
    );
    unreadable(
        "*** Begin Patch\n*** Update File: f\n-one\n+1\n",
        "line 4: the patch ends without `*** End Patch`, so it may be cut short (`+1`)",
    );
    unreadable(
        "diff --git a/x.png b/x.png\nBinary files a/x.png and b/x.png differ\n",
        "line 2: binary patches are not applied (`Binary files a/x.png and b/x.png differ`)",
    );
}

#[test]
fn creation_refuses_what_exists_and_deletion_what_is_not_known() {
    let mut kit = Kit::new();
    kit.put("f", FILE);
    let fault =
        |text: &str| format!("the patch was not applied, nothing was changed.\n- {text}{TAIL}");
    let exists = fault(
        "`f` exists, so the patch does not create it. Read it with read_file and send hunks that change it.",
    );
    kit.fails("apply_patch", &patch("*** Add File: f\n+x\n"), &exists);
    kit.fails(
        "apply_patch",
        &patch("*** Update File: f\n*** Move to: f\n-one\n+1\n"),
        &exists,
    );
    let delete = "*** Delete File: f\n";
    kit.fails(
        "apply_patch",
        &patch(delete),
        &fault("`f` was not deleted: it was not read in full in this session. Read it with read_file first."),
    );
    kit.ok("read_file", &[("path", "f")]);
    kit.put("f", format!("{FILE}more\n"));
    kit.fails(
        "apply_patch",
        &patch(delete),
        &fault("`f` was not deleted: it changed on disk after you read it. Read it again with read_file."),
    );
    let listed: String = FILE.lines().map(|line| format!("-{line}\n")).collect();
    let listed = format!("--- a/f\n+++ /dev/null\n@@ -1,10 +0,0 @@\n{listed}");
    kit.fails(
        "apply_patch",
        &patch(&listed),
        &fault(
            "`f` was not deleted: it holds lines that the patch does not list, so it is not the file that was meant. Read it with read_file.",
        ),
    );
    kit.put("f", FILE);
    assert_eq!(kit.ok("apply_patch", &patch(&listed)), "deleted `f`");
    assert!(!kit.root().join("f").exists());
    kit.put("f", FILE);
    kit.ok("read_file", &[("path", "f")]);
    assert_eq!(kit.ok("apply_patch", &patch(delete)), "deleted `f`");
}

#[test]
fn places_outside_the_workspace_and_protected_ones() {
    let mut kit = Kit::new();
    let outcome = kit.call("apply_patch", &patch("*** Add File: ../x\n+x\n"));
    assert!(
        outcome.text.contains("`../x` leads outside the workspace"),
        "{}",
        outcome.text
    );
    kit.put("f", FILE);
    let text = "*** Update File: f\n-one\n+1\n*** Add File: .git/hooks/x\n+x\n";
    let edit = kit.edit("apply_patch", &patch(text));
    assert_eq!(
        edit.protected(),
        Some("version control runs programs named in its own files")
    );
}

#[test]
fn line_ends_and_what_a_model_does_not_see_are_kept() {
    let mut kit = Kit::new();
    kit.put("f", b"\xef\xbb\xbfone\r\ntwo  \r\nthree\r\nfour");
    let text = kit.ok(
        "apply_patch",
        &patch("--- a/f\n+++ b/f\n@@ -1,4 +1,6 @@\n-one\n+1\n+1.5\n two\n three\n-four\n+4\n+5\n"),
    );
    assert_eq!(
        text,
        "patched `f`: 4 lines added, 2 lines removed; blanks at line ends were matched loosely and kept"
    );
    assert_eq!(
        kit.get("f"),
        b"\xef\xbb\xbf1\r\n1.5\r\ntwo  \r\nthree\r\n4\r\n5"
    );
    kit.put("f", b"a\xa9\none\n");
    kit.ok(
        "apply_patch",
        &patch("--- a/f\n+++ b/f\n@@ -2 +2 @@\n-one\n+1\n"),
    );
    assert_eq!(kit.get("f"), b"a\xa9\n1\n");
}

#[test]
fn modes_set_and_clear_the_right_to_execute() {
    let mut kit = Kit::new();
    kit.put("f", "a\n");
    kit.mode("f", 0o640);
    let mode = |kit: &Kit, name: &str| {
        std::fs::metadata(kit.root().join(name))
            .expect("metadata")
            .permissions()
            .mode()
            & 0o777
    };
    let to = |old: &str, new: &str| format!("diff --git a/f b/f\nold mode {old}\nnew mode {new}\n");
    assert_eq!(
        kit.ok("apply_patch", &patch(&to("100644", "100755"))),
        "patched `f`: 0 lines added, 0 lines removed, made executable"
    );
    assert_eq!(mode(&kit, "f"), 0o750);
    assert_eq!(kit.journal[0].executable, Some(true));
    // What a person says yes to names it.
    let shown = kit.edit("apply_patch", &patch(&to("100755", "100644")));
    assert_eq!(
        shown.diff(),
        "old mode 100755\nnew mode 100644\n--- a/f\n+++ b/f\n"
    );
    kit.fails(
        "apply_patch",
        &patch(&to("100644", "100755")),
        &format!("the patch was not applied, nothing was changed.\n- `f` has this mode already, and the patch changes nothing else in it.{TAIL}"),
    );
    kit.ok("apply_patch", &patch(&to("100755", "100644")));
    assert_eq!(mode(&kit, "f"), 0o640);
    let new = "diff --git a/n.sh b/n.sh\nnew file mode 100755\n--- /dev/null\n+++ b/n.sh\n@@ -0,0 +1 @@\n+exit\n";
    let shown = kit.edit("apply_patch", &patch(new));
    assert_eq!(
        shown.diff(),
        "new file mode 100755\n--- /dev/null\n+++ b/n.sh\n@@ -0,0 +1 @@\n+exit\n"
    );
    assert_eq!(
        kit.ok("apply_patch", &patch(new)),
        "created `n.sh`: 1 line, executable"
    );
    assert_eq!(
        mode(&kit, "n.sh") & 0o111,
        0o111 & mode(&kit, "n.sh") >> 2 & 0o111
    );
    assert!(mode(&kit, "n.sh") & 0o100 != 0);
}

#[test]
fn a_file_named_with_or_without_prefix() {
    let mut kit = Kit::new();
    kit.put("a/f", "x\n");
    kit.ok(
        "apply_patch",
        &patch("--- a/f\n+++ b/f\n@@ -1 +1 @@\n-x\n+y\n"),
    );
    assert_eq!(kit.get("a/f"), b"y\n");
    kit.put("f", "y\n");
    kit.ok(
        "apply_patch",
        &patch("--- a/f\n+++ b/f\n@@ -1 +1 @@\n-y\n+z\n"),
    );
    assert_eq!(
        (kit.get("f"), kit.get("a/f")),
        (b"z\n".to_vec(), b"y\n".to_vec())
    );
    kit.ok(
        "apply_patch",
        &patch("--- f.orig\n+++ f\n@@ -1 +1 @@\n-z\n+last\n"),
    );
    assert_eq!(kit.get("f"), b"last\n");
    kit.ok(
        "apply_patch",
        &patch("--- a/new\n+++ b/new\n@@ -0,0 +1 @@\n+made\n"),
    );
    assert_eq!(kit.get("new"), b"made\n");
}

#[test]
fn sections_of_one_file_are_one() {
    let mut kit = Kit::new();
    kit.put("f", FILE);
    kit.ok(
        "apply_patch",
        &patch("*** Update File: f\n-one\n+1\n*** Update File: ./f\n-ten\n+10\n"),
    );
    assert_eq!(
        kit.get("f"),
        FILE.replace("one", "1").replace("ten", "10").as_bytes()
    );
    assert_eq!(kit.journal.len(), 1);
}

#[test]
fn after_a_refused_patch_the_whole_file_tool_is_no_way_around_it() {
    let held = "`f` was not written: a patch for it was refused, and rewriting the whole file is no way around that. Read the file with \
        read_file, then send a corrected patch, or change the passage with replace_text.";
    let write = [("path", "f"), ("content", "all new\n")];
    let bad = "--- a/f\n+++ b/f\n@@ -1 +1 @@\n-no such line\n+x\n";
    let good = "--- a/f\n+++ b/f\n@@ -1,2 +1,2 @@\n-one\n+1\n two\n";
    let refused = |text: &str| {
        let mut kit = Kit::new();
        kit.put("f", FILE);
        kit.put("g", FILE);
        kit.ok("read_file", &[("path", "f")]);
        kit.ok("read_file", &[("path", "g")]);
        assert_eq!(
            kit.call("apply_patch", &patch(text)).status,
            ToolStatus::Failed
        );
        kit
    };
    let mut kit = refused(bad);
    kit.fails("write_file", &write, held);
    kit.ok(
        "write_file",
        &[("path", "g"), ("content", "another file\n")],
    );
    kit.ok("apply_patch", &patch(good));
    kit.ok("write_file", &write);

    let mut kit = refused("*** Begin Patch\n*** Update File: f\n-one\n");
    kit.fails("write_file", &write, held);
    kit.ok(
        "replace_text",
        &[("path", "f"), ("old_text", "two"), ("new_text", "2")],
    );
    kit.ok("write_file", &write);

    let mut kit = refused(bad);
    kit.toolbox.turn_ended();
    kit.ok("write_file", &write);

    // What does not exist yet is made all the same.
    let mut kit = refused("*** Update File: f\n-no such line\n+x\n*** Add File: new\n+x\n");
    kit.ok("write_file", &[("path", "new"), ("content", "x\n")]);
    kit.fails("write_file", &write, held);
}

#[test]
fn a_failure_in_the_middle_puts_back_what_was_made() {
    let mut kit = Kit::new();
    kit.put("f", FILE);
    kit.mode("f", 0o640);
    kit.put("gone", "x\n");
    kit.ok("read_file", &[("path", "gone")]);
    // `d` shall be a file and a folder: seen when the second gets its name, and `f` has its new content then.
    let text = "*** Update File: f\n-one\n+1\n*** Add File: d\n+file\n*** Add File: d/x\n+in it\n*** Delete File: gone\n";
    kit.fails(
        "apply_patch",
        &patch(text),
        "`d` appeared on disk since this edit was worked out, so it was not touched. Read it with read_file first. The other files of the \
         patch are as they were before: it is made as a whole or not at all.",
    );
    assert_eq!(kit.get("f"), FILE.as_bytes());
    let mode = std::fs::metadata(kit.root().join("f"))
        .expect("metadata")
        .permissions()
        .mode();
    assert_eq!(mode & 0o777, 0o640);
    let mut names: Vec<String> = std::fs::read_dir(kit.root())
        .expect("workspace")
        .map(|entry| {
            entry
                .expect("entry")
                .file_name()
                .into_string()
                .expect("UTF-8")
        })
        .collect();
    names.sort();
    assert_eq!(names, ["f", "gone"], "no temporary file, no folder");
    assert!(kit.toolbox.changed().is_empty());
    // Held as after any refusal.
    kit.ok("read_file", &[("path", "f")]);
    assert_eq!(
        kit.call("write_file", &[("path", "f"), ("content", "x\n")])
            .status,
        ToolStatus::Failed
    );
}

#[test]
fn a_file_that_moved_on_refuses_the_whole_patch_before_anything_is_written() {
    let mut kit = Kit::new();
    kit.put("f", FILE);
    kit.put("g", FILE);
    let edit = kit.edit(
        "apply_patch",
        &patch("*** Update File: f\n-one\n+1\n*** Update File: g\n-one\n+1\n"),
    );
    kit.put("g", "saved meanwhile\n");
    let outcome = kit.apply(edit);
    assert_eq!(
        outcome.text,
        "`g` changed on disk since this edit was worked out, so it was not touched. Read it again with read_file and make the edit anew."
    );
    assert_eq!(kit.get("f"), FILE.as_bytes());
    assert!(kit.journal.is_empty());
}

#[test]
fn no_form_of_a_patch_leads_out_or_past_what_is_protected() {
    let mut kit = Kit::new();
    kit.put("a.txt", "hi\n");
    kit.put(".git/config", "cfg\n");
    let outside = kit.root().parent().expect("a folder").join("outside");
    std::fs::create_dir(&outside).expect("a folder");
    std::fs::write(outside.join("s"), "hi\n").expect("a file");
    symlink(&outside, kit.root().join("out")).expect("a link");
    symlink(".git", kit.root().join("g")).expect("a link");
    symlink("/proc/self/root", kit.root().join("all")).expect("a link");
    let new = |name: &str| format!("--- /dev/null\n+++ {name}\n@@ -0,0 +1 @@\n+x\n");
    let renamed =
        |to: &str| format!("diff --git a/a.txt b/{to}\nrename from a.txt\nrename to {to}\n");
    let envelope = |lines: &str| format!("*** Begin Patch\n{lines}\n*** End Patch\n");
    let absolute = outside.join("n").display().to_string();
    for text in [
        new("b/../outside/n"),
        new("../outside/n"),
        new("b/new/../../outside/n"),
        new("b/out/n"),
        new(&absolute),
        new(&format!("b/all{absolute}")),
        new("\"b/\\056\\056/outside/n\""),
        renamed("../outside/n"),
        renamed("out/n"),
        "--- a/out/s\n+++ b/out/s\n@@ -1 +1 @@\n-hi\n+ho\n".to_string(),
        "--- a/out/s\n+++ /dev/null\n@@ -1 +0,0 @@\n-hi\n".to_string(),
        "diff --git a/out/s b/out/s\nold mode 100644\nnew mode 100755\n".to_string(),
        "diff --git a/a.txt b/a.txt\nold mode 100644\nnew mode 104755\n".to_string(),
        "diff --git a/l b/l\nnew file mode 120000\n--- /dev/null\n+++ b/l\n@@ -0,0 +1 @@\n+/etc\n"
            .to_string(),
        envelope("*** Add File: ../outside/n\n+x"),
        envelope("*** Update File: a.txt\n*** Move to: ../outside/n\n@@\n-hi\n+ho"),
        envelope("*** Delete File: out/s"),
    ] {
        let outcome = kit.call("apply_patch", &patch(&text));
        assert_eq!(outcome.status, ToolStatus::Failed, "{text}");
    }
    for text in [
        new("b/.git/hooks/x"),
        new("b/g/hooks/x"),
        new("b/src/.git"),
        new("b/.GIT/config"),
        renamed("src/.git"),
        "--- a/g/config\n+++ b/g/config\n@@ -1 +1 @@\n-cfg\n+evil\n".to_string(),
        "diff --git a/.git/config b/.git/config\nold mode 100644\nnew mode 100755\n".to_string(),
        envelope("*** Update File: a.txt\n*** Move to: .git/hooks/x\n@@\n-hi\n+ho"),
    ] {
        let edit = kit.edit("apply_patch", &patch(&text));
        assert!(edit.protected().is_some(), "{text}");
    }
    assert_eq!(std::fs::read(outside.join("s")).expect("there"), b"hi\n");
    assert_eq!(std::fs::read_dir(&outside).expect("readable").count(), 1);
    assert_eq!(
        std::fs::read(kit.root().join("a.txt")).expect("there"),
        b"hi\n"
    );
}
