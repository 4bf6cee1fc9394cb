//! `list_files`: the tree, its order and bounds, and that nothing is left out unsaid.

use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::symlink;
use std::os::unix::net::UnixListener;
use std::process::Command;

use std::time::Duration;

use zcoder::protocol::{Facts, ToolStatus};
use zcoder::sys::Cancel;
use zcoder::tools::{Limits, Prepared, Toolbox, Workspace};

use super::kit::Kit;
use crate::support::temp::Temp;

fn kit(names: &[&str]) -> Kit {
    let kit = Kit::new();
    for name in names {
        match name.strip_suffix('/') {
            Some(folder) => std::fs::create_dir_all(kit.root().join(folder)).expect("folder"),
            None => kit.put(name, ""),
        }
    }
    kit
}

#[track_caller]
fn check(names: &[&str], arguments: &[(&str, &str)], text: &str) {
    assert_eq!(kit(names).ok("list_files", arguments), text);
}

#[test]
fn a_tree_in_the_order_of_names() {
    check(&[], &[], "./\n0 entries.");
    check(&["a"], &[], "./\n  a\n1 entry.");
    let names = ["b.txt", "a/z", "a/b/deep", "a.txt", "B", "empty/"];
    let tree = "  B\n  a/\n    b/\n      deep\n    z\n  a.txt\n  b.txt\n  empty/\n";
    check(&names, &[], &format!("./\n{tree}8 entries."));
    check(
        &names,
        &[("path", "a")],
        "a/\n  b/\n    deep\n  z\n3 entries.",
    );
    check(
        &names,
        &[("path", "a/b/..")],
        "a/\n  b/\n    deep\n  z\n3 entries.",
    );
}

#[test]
fn a_cancelled_listing_says_so_and_shows_nothing() {
    let mut kit = kit(&["a/b", "c"]);
    let cancel = Cancel::new().expect("switch");
    cancel.cancel();
    for path in [".", "**/b"] {
        let Prepared::Look(listing) = kit.prepare("list_files", &[("path", path)]) else {
            panic!("no listing");
        };
        let outcome = listing.run(&cancel);
        assert_eq!(outcome.status, ToolStatus::Cancelled);
        assert_eq!(outcome.text, "the listing was cancelled before its end");
        assert_eq!(outcome.facts, Facts::None);
    }
}

#[test]
fn a_folder_that_is_not_shown_and_cannot_be_read_is_named() {
    // Too long for one path: root may read all else.
    let mut kit = kit(&["a.c"]);
    let name = "n".repeat(250);
    let made = Command::new("sh")
        .arg("-c")
        .arg("for i in 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17; do mkdir $0 && cd -P ./$0 || exit 1; done")
        .arg(&name)
        .current_dir(kit.root())
        .status();
    assert!(made.expect("sh").success());
    let text = kit.ok("list_files", &[("path", "**/*.c")]);
    assert!(
        text.starts_with("a.c\n1 match. Could not be read: `nnn"),
        "{text}"
    );
    assert!(
        text.ends_with("(File name too long (os error 36))."),
        "{text}"
    );
}

#[test]
fn depth_is_bounded_and_said() {
    let names = ["1/2/3/4", "x"];
    let closed = " `...`: not opened; give such a folder as path to see into it.";
    check(
        &names,
        &[],
        &format!("./\n  1/\n    2/\n      3/ ...\n  x\n4 entries.{closed}"),
    );
    check(
        &names,
        &[("depth", "1")],
        &format!("./\n  1/ ...\n  x\n2 entries.{closed}"),
    );
    check(
        &names,
        &[("depth", "4")],
        "./\n  1/\n    2/\n      3/\n        4\n  x\n5 entries.",
    );
    check(
        &names,
        &[("depth", "99")],
        "./\n  1/\n    2/\n      3/\n        4\n  x\n5 entries.",
    );
}

#[test]
fn a_large_folder_does_not_crowd_out_the_others() {
    let mut names: Vec<String> = (0..250).map(|n| format!("a/{n:03}")).collect();
    names.push("b/x".to_string());
    names.push("z".to_string());
    let names: Vec<&str> = names.iter().map(String::as_str).collect();
    let more =
        "entries shown; give a folder as path, or a larger max_entries (up to 2,000), to see more.";
    check(
        &names,
        &[("max_entries", "5")],
        &format!("./\n  a/\n    000\n    001\n  b/\n  z\n5 of 254 {more}"),
    );
    check(
        &names,
        &[("max_entries", "2")],
        &format!("./\n  a/\n  b/\n2 of 254 {more}"),
    );
    let mut kit = kit(&names);
    kit.toolbox.set_read_limit(10_000);
    let shown = kit.ok("list_files", &[]);
    assert_eq!(shown.lines().count(), 202);
    assert!(shown.ends_with(&format!("200 of 254 {more}")), "{shown}");
    let all = kit.ok("list_files", &[("max_entries", "99999")]);
    assert!(all.ends_with("\n254 entries."));
}

#[test]
fn the_tree_is_bounded_in_bytes() {
    // 100 bytes of name and 7 beside it: nine fit in 1,000. A short name after them would fit, and leave a gap unseen.
    let names: Vec<String> = (0..20)
        .map(|n| format!("{n:02}{}", "x".repeat(98)))
        .collect();
    let mut names: Vec<&str> = names.iter().map(String::as_str).collect();
    names.push("z");
    let shown: String = names[..9]
        .iter()
        .map(|name| format!("  {name}\n"))
        .collect();
    check(
        &names,
        &[],
        &format!("./\n{shown}9 of 21 entries shown; give a folder as path to see more."),
    );
}

#[test]
fn hidden_entries_are_counted_and_git_is_never_opened() {
    let names = [".git/config", ".env", "a/.x", "a/y"];
    check(
        &names,
        &[],
        "./\n  a/\n    y\n2 entries. 3 hidden entries left out (hidden=true shows them).",
    );
    check(
        &["a", ".b"],
        &[],
        "./\n  a\n1 entry. 1 hidden entry left out (hidden=true shows them).",
    );
    check(
        &names,
        &[("hidden", "true")],
        "./\n  .env\n  .git/ ...\n  a/\n    .x\n    y\n5 entries. `...`: not opened; give such a folder as path to see into it.",
    );
}

#[test]
fn ignored_entries_are_left_out_and_counted() {
    let mut kit = kit(&["a.o", "b", "out/x", "s/a.o", "s/out/y"]);
    kit.put(".gitignore", "*.o\n/out/\n");
    kit.put("s/.ignore", "out\n");
    let hidden = "1 hidden entry left out (hidden=true shows them).";
    assert_eq!(
        kit.ok("list_files", &[]),
        format!(
            "./\n  b\n  s/\n2 entries. 2 hidden entries left out (hidden=true shows them). 4 ignored entries left out \
             (give one as path to see it)."
        )
    );
    // What is named is listed, with the rules from above for what is in it.
    assert_eq!(
        kit.ok("list_files", &[("path", "out")]),
        "out/\n  x\n1 entry."
    );
    assert_eq!(
        kit.ok("list_files", &[("path", "s")]),
        format!("s/\n0 entries. {hidden} 2 ignored entries left out (give one as path to see it).")
    );
    // In a repository its own rules as well.
    kit.put(".git/info/exclude", "b\n");
    kit.put("s/.ignore", "[\n");
    assert_eq!(
        kit.ok("list_files", &[("depth", "1")]),
        "./\n  s/ ...\n1 entry. `...`: not opened; give such a folder as path to see into it. 2 hidden entries left out (hidden=true shows \
         them). 3 ignored entries left out (give one as path to see it)."
    );
    let text = kit.ok("list_files", &[("path", "s")]);
    let said = " Without effect among the ignore rules: line 1 of `s/.ignore` (`[` has no `]`).";
    assert!(text.ends_with(said), "{text}");
}

#[test]
fn wildcards_give_paths() {
    let names = [
        "a.rs",
        "src/b.rs",
        "src/c.c",
        "src/deep/d.rs",
        "src/deep/e/f.rs",
        "tests/deep/g",
        ".h/i.rs",
    ];
    let path = |path| [("path", path)];
    check(
        &names,
        &path("*.rs"),
        "a.rs\nsrc/b.rs\nsrc/deep/d.rs\nsrc/deep/e/f.rs\n4 matches.",
    );
    check(&names, &path("./*.rs"), "a.rs\n1 match.");
    check(
        &names,
        &path("src/*"),
        "src/b.rs\nsrc/c.c\nsrc/deep/\n3 matches.",
    );
    check(
        &names,
        &path("**/deep"),
        "src/deep/\ntests/deep/\n2 matches.",
    );
    check(
        &names,
        &path("src/**/*.{rs,c}"),
        "src/b.rs\nsrc/c.c\nsrc/deep/d.rs\nsrc/deep/e/f.rs\n4 matches.",
    );
    check(
        &names,
        &[("path", "**/i.rs"), ("hidden", "true")],
        ".h/i.rs\n1 match.",
    );
    check(
        &names,
        &path("**/i.rs"),
        "no match for `**/i.rs`. 1 hidden entry left out (hidden=true shows them).",
    );
    check(
        &names,
        &[("path", "**/*.rs"), ("max_entries", "2")],
        "a.rs\nsrc/b.rs\n2 of 4 matches shown; use a narrower path, or a larger max_entries (up to 2,000), to see more.",
    );
    check(&["[x]/a", "x/b"], &path("[x]"), "[x]/\n  a\n1 entry.");
}

#[test]
fn our_own_folders_are_not_opened() {
    let temp = Temp::new();
    temp.write("ws/state/secret", "");
    let root = temp.path().join("ws");
    let workspace = Workspace::open(&root, vec![root.join("state")]).expect("opens");
    let limits = Limits {
        read_bytes: 1_000,
        output_bytes: 1_000,
        command_timeout: Duration::from_secs(1),
        command_wrapper: Vec::new(),
    };
    let mut kit = Kit::new();
    kit.toolbox = Toolbox::new(workspace, limits, temp.path().join("outputs"), true);
    assert_eq!(
        kit.ok("list_files", &[]),
        "./\n  state/ ...\n1 entry. `...`: not opened; give such a folder as path to see into it."
    );
    assert_eq!(
        kit.ok("list_files", &[("path", "**/secret")]),
        "no match for `**/secret`."
    );
}

#[test]
fn links_and_special_files_are_named_and_not_followed() {
    let mut kit = kit(&["real/x"]);
    let at = |name: &str| kit.root().join(name);
    symlink("real", at("link")).expect("link");
    symlink("/etc", at("out")).expect("link");
    symlink("gone\x1b[2J", at("dangling")).expect("link");
    symlink(".", at("self")).expect("link");
    assert!(
        Command::new("mkfifo")
            .arg(at("pipe"))
            .status()
            .expect("mkfifo")
            .success()
    );
    let _socket = UnixListener::bind(at("sock")).expect("socket");
    assert_eq!(
        kit.ok("list_files", &[("depth", "9")]),
        "./\n  dangling -> gone\\x1b[2J\n  link -> real\n  out -> /etc\n  pipe (FIFO)\n  real/\n    x\n  self -> .\n  sock (socket)\n\
         8 entries."
    );
}

#[test]
fn names_are_made_visible() {
    let mut kit = kit(&["a\nb", "c\x1b[31m", "d\u{202e}e"]);
    std::fs::write(kit.root().join(OsStr::from_bytes(b"odd\xff")), "").expect("writes");
    assert_eq!(
        kit.ok("list_files", &[]),
        "./\n  a\\nb\n  c\\x1b[31m\n  d\\u{202e}e\n  odd\u{fffd} (not UTF-8)\n4 entries. Names that are not UTF-8 are shown repaired; tools cannot \
         open them, a command can."
    );
}

#[test]
fn what_cannot_be_listed() {
    let mut kit = kit(&["f"]);
    kit.fails(
        "list_files",
        &[("path", "f")],
        "`f` is a file, not a folder. Give the path of a folder; read_file reads files.",
    );
    kit.fails(
        "list_files",
        &[("path", "gone/*.c")],
        "there is no `gone` in the workspace. list_files shows what is there.",
    );
    kit.fails(
        "list_files",
        &[("path", "a[b")],
        "`a[b` is neither a path that exists nor a pattern: `[` has no `]`. Wildcards are *, **, ?, [a-z] and {a,b}; a backslash takes \
         their meaning away.",
    );
    kit.fails(
        "list_files",
        &[("path", "gone")],
        "there is no `gone` in the workspace. list_files shows what is there.",
    );
    let zero = "depth and max_entries count from 1: depth 1 is the folder's own entries. Leave them out for the usual ones.";
    kit.fails("list_files", &[("depth", "0")], zero);
    kit.fails("list_files", &[("max_entries", "0")], zero);
}
