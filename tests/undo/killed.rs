//! Kills and full disks at every point: afterwards there is all of a step or nothing of it, and the next one goes on from there.

use super::kit::Kit;
use crate::support::run::zcoder;
use std::fs;
use std::os::unix::process::ExitStatusExt;
use std::path::Path;
use std::process::{Command, ExitStatus, Stdio};
use zcoder::undo::Force;

/// The files of the turn in `stepped`, before and after.
const FILES: [(&str, Option<&str>, Option<&str>); 4] = [
    ("a.txt", Some("a\n"), Some("A\n")),
    ("deep/new.txt", None, Some("new\n")),
    ("gone.txt", Some("gone\n"), None),
    ("z.txt", Some("z\n"), Some("Z\n")),
];

fn stepped() -> Kit {
    let mut kit = Kit::new();
    for (name, before, _) in FILES {
        before.iter().for_each(|text| kit.put(name, text));
    }
    let edits: Vec<_> = FILES
        .iter()
        .map(|(name, _, after)| (*name, *after))
        .collect();
    kit.turn(&edits);
    kit
}

/// The file as it is before (false) or after (true) the turn.
fn set(kit: &Kit, index: usize, after: bool) {
    let (name, old, new) = FILES[index];
    match if after { new } else { old } {
        Some(text) => kit.put(name, text),
        // It may be gone already.
        None => drop(fs::remove_file(kit.root().join(name))),
    }
}

fn texts(kit: &Kit) -> Vec<(String, String)> {
    let mut tree = kit.tree();
    tree.retain(|(name, _)| !name.ends_with('/'));
    tree
}

fn expected(after: bool) -> Vec<(String, String)> {
    let text = |(name, old, new): &(&str, Option<&str>, Option<&str>)| {
        let text = if after { new } else { old };
        text.map(|text| (name.to_string(), text.to_string()))
    };
    FILES.iter().filter_map(text).collect()
}

#[test]
fn an_edit_cut_off_anywhere_was_made_or_not() {
    let mut kit = Kit::with(&[("a.txt", "0\n")]);
    kit.begin();
    kit.edit("a.txt", Some(b"1\n"));
    let first = fs::read(kit.entry(1)).expect("an entry").len();
    kit.edit("a.txt", Some(b"2\n"));
    kit.journal.end_turn();
    let whole = fs::read(kit.entry(1)).expect("an entry");
    // Each thirteenth length, and the whole.
    for cut in (first..whole.len()).step_by(13).chain([whole.len()]) {
        // Killed while the second record was appended: the file was not touched. Killed after it: touched or not.
        for text in ["1\n", "2\n"] {
            if text == "2\n" && cut < whole.len() {
                continue;
            }
            fs::write(kit.entry(1), &whole[..cut]).expect("cut");
            kit.put("a.txt", text);
            kit.undo();
            assert_eq!(kit.text("a.txt"), "0\n", "cut at {cut}");
            kit.redo();
            assert_eq!(kit.text("a.txt"), text, "cut at {cut}");
            fs::remove_file(kit.entry(2)).expect("the undo");
            fs::remove_file(kit.entry(3)).expect("the redo");
        }
    }
}

#[test]
fn a_tail_of_nul_bytes_is_a_tail_that_was_cut() {
    let mut kit = Kit::with(&[("a.txt", "0\n")]);
    kit.turn(&[("a.txt", Some("1\n"))]);
    let mut bytes = fs::read(kit.entry(1)).expect("an entry");
    bytes.extend_from_slice(&[0; 600]);
    fs::write(kit.entry(1), bytes).expect("longer");
    kit.undo();
    assert_eq!(kit.text("a.txt"), "0\n");
}

#[test]
fn an_undo_killed_between_any_two_files_is_put_back_and_can_be_made() {
    let kit = stepped();
    kit.undo();
    let entry = fs::read(kit.entry(2)).expect("an entry");
    let done = entry.windows(13).rposition(|w| w == b"{\"done\":true}");
    let head = done.expect("an end") - "64 hex".len() - 64;
    let cut = entry[..head]
        .iter()
        .rposition(|b| *b == b'\n')
        .expect("a line")
        + 1;
    for made in 0..=FILES.len() {
        fs::write(kit.entry(2), &entry[..cut]).expect("no end");
        for index in 0..FILES.len() {
            set(&kit, index, index >= made);
        }
        let settled = kit.past(|past| past.settle(Force::No)).expect("settled");
        let (text, after) = match made {
            0 => (
                "an undo was interrupted; what it had changed was put back (0 files)",
                true,
            ),
            1 => (
                "an undo was interrupted; what it had changed was put back (1 file)",
                true,
            ),
            4 => ("an undo was interrupted right at its end; it stands", false),
            n => {
                let text = format!(
                    "an undo was interrupted; what it had changed was put back ({n} files)"
                );
                assert_eq!(settled.as_deref(), Some(&text[..]));
                (settled.as_deref().unwrap_or_default(), true)
            }
        };
        assert_eq!(settled.as_deref(), Some(text));
        assert_eq!(texts(&kit), expected(after), "{made} made");
        assert_eq!(
            kit.past(|past| past.settle(Force::No)).expect("settled"),
            None
        );
        if after {
            kit.undo();
            assert_eq!(texts(&kit), expected(false), "{made} made");
            fs::remove_file(kit.entry(3)).expect("the undo");
        }
    }
}

#[test]
fn an_undo_killed_while_it_was_recorded_changed_nothing() {
    let kit = stepped();
    kit.undo();
    let entry = fs::read(kit.entry(2)).expect("an entry");
    for index in 0..FILES.len() {
        set(&kit, index, true);
    }
    for cut in (0..entry.len() - 100).step_by(13) {
        fs::write(kit.entry(2), &entry[..cut]).expect("cut");
        kit.past(|past| past.settle(Force::No)).expect("settled");
        assert_eq!(texts(&kit), expected(true), "cut at {cut}");
    }
    kit.undo();
    assert_eq!(texts(&kit), expected(false));
}

#[test]
fn an_interrupted_undo_does_not_go_over_a_change_either() {
    let kit = stepped();
    kit.undo();
    let entry = fs::read(kit.entry(2)).expect("an entry");
    let cut = entry.len() - 100;
    let cut = entry[..cut]
        .iter()
        .rposition(|b| *b == b'\n')
        .expect("a line")
        + 1;
    fs::write(kit.entry(2), &entry[..cut]).expect("no end");
    set(&kit, 3, true);
    kit.put("a.txt", "mine\n");
    let error = kit
        .past(|past| past.settle(Force::No))
        .expect_err("stopped");
    assert_eq!(
        error.to_string(),
        "nothing was changed:\n  `a.txt` was changed since, not by this session\n\
         --force goes over these changes and keeps a copy of each file"
    );
    // Forced, that file stays as it is; the others are put back.
    kit.past(|past| past.settle(Force::Yes)).expect("settled");
    assert_eq!(kit.text("a.txt"), "mine\n");
    assert_eq!(kit.text("deep/new.txt"), "new\n");
}

/// Runs zcoder with at most so many blocks of 512 bytes in any file it writes: the kernel kills it at the first byte over, or, with
/// `ignored`, the write fails.
fn limited(folder: &Path, home: &Path, blocks: usize, ignored: bool, args: &str) -> ExitStatus {
    let trap = if ignored { "trap '' XFSZ; " } else { "" };
    let binary = env!("CARGO_BIN_EXE_zcoder");
    let script = format!("ulimit -c 0; ulimit -f {blocks}; {trap}exec {binary} {args}");
    let mut command = Command::new("sh");
    command.args(["-c", &script]).current_dir(folder);
    command.env_clear().env("HOME", home);
    command
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null());
    command.status().expect("sh")
}

/// Four files of different sizes in one turn: the limit hits the record first, then one file after the other.
fn sized() -> Kit {
    let mut kit = Kit::new();
    let names = ["a.txt", "b.txt", "c.txt", "d.txt"];
    kit.begin();
    for (index, name) in names.iter().enumerate() {
        kit.put(name, format!("{index}").repeat(1_000 * (index + 1)));
        kit.edit(name, Some(b"short\n"));
    }
    kit.journal.end_turn();
    kit
}

/// The same, with a home that the program finds the journal in.
fn at_home(kit: &Kit) -> std::path::PathBuf {
    let home = kit.temp.path().join("home");
    fs::create_dir_all(home.join(".local/state/zcoder")).expect("a home");
    let state = kit.temp.path().join("state/undo");
    let moved = home.join(".local/state/zcoder/undo");
    fs::rename(state, moved).expect("moved");
    home
}

#[test]
fn a_real_kill_at_each_point_of_an_undo_leaves_all_or_nothing_after_the_next() {
    let mut killed = 0;
    for blocks in 0..9 {
        let kit = sized();
        let before = kit.tree();
        let home = at_home(&kit);
        let status = limited(&kit.root(), &home, blocks, false, "undo --yes");
        killed += u32::from(status.signal().is_some());
        let whole = || {
            zcoder(&kit.root(), &["undo", "--yes"])
                .env("HOME", &home)
                .output()
                .expect("runs")
        };
        let redo = || {
            zcoder(&kit.root(), &["redo", "--yes"])
                .env("HOME", &home)
                .output()
                .expect("runs")
        };
        if status.success() {
            redo();
        }
        let output = whole();
        assert!(
            output.status.success(),
            "{blocks}: {}",
            String::from_utf8_lossy(&output.stderr)
        );
        // A kill while a file was written may leave its new bytes behind, under a name that says so (sys/file.rs).
        let tree = || {
            let mut tree = kit.tree();
            tree.retain(|(name, _)| !name.starts_with(".zcoder-"));
            tree
        };
        let lengths: Vec<usize> = tree().iter().map(|(_, text)| text.len()).collect();
        assert_eq!(lengths, [1_000, 2_000, 3_000, 4_000], "{blocks} blocks");
        redo();
        assert_eq!(tree(), before, "{blocks} blocks");
    }
    assert!(killed >= 5, "killed {killed} times");
}

#[test]
fn a_write_that_fails_at_any_point_of_an_undo_changes_nothing() {
    let mut failed = 0;
    for blocks in 0..9 {
        let kit = sized();
        let before = kit.tree();
        let home = at_home(&kit);
        let status = limited(&kit.root(), &home, blocks, true, "undo --yes");
        if status.success() {
            continue;
        }
        failed += 1;
        assert_eq!(status.code(), Some(1), "{blocks} blocks");
        assert_eq!(kit.tree(), before, "{blocks} blocks");
        let output = zcoder(&kit.root(), &["undo", "--yes"])
            .env("HOME", &home)
            .output()
            .expect("runs");
        assert!(
            output.status.success(),
            "{blocks}: {}",
            String::from_utf8_lossy(&output.stderr)
        );
        assert_ne!(kit.tree(), before);
    }
    assert!(failed >= 5, "failed {failed} times");
}

#[test]
fn an_agent_killed_between_record_and_file_edited_nothing() {
    let kit = Kit::with(&[("a.txt", "old\n")]);
    let home = kit.temp.path().join("home");
    fs::create_dir(&home).expect("a home");
    let content = "x".repeat(3_000);
    let json = format!("{{\"path\":\"b.txt\",\"content\":\"{content}\"}}");
    let args = format!("tool write_file '{json}'");
    let status = limited(&kit.root(), &home, 4, false, &args);
    assert!(status.signal().is_some(), "{status:?}");
    let output = zcoder(&kit.root(), &["undo", "--yes"])
        .env("HOME", &home)
        .output()
        .expect("runs");
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    assert!(
        text.ends_with(
            "undo turn 1 (zcoder tool write_file)\n  no file changes: they are all as they were before it\n\
             done; `zcoder redo` takes this step back\n"
        ),
        "{text}"
    );
    assert_eq!(kit.text("a.txt"), "old\n");
}
