//! What a command changed.

use crate::support::temp::Temp;
use std::fs;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::Path;
use std::time::Duration;
use zcoder::undo::{MAX_TIME, Snapshot};

fn take(root: &Path) -> Snapshot {
    Snapshot::take(root, 100, Duration::from_secs(30)).expect("few files")
}

/// What is seen of what `happens` in a tree of three files, one of them ignored.
#[track_caller]
fn check(happens: impl FnOnce(&Path), expected: &[&str]) {
    let temp = Temp::new();
    temp.write("a.txt", "a\n");
    temp.write("src/b.txt", "b\n");
    temp.write(".hidden", "h\n");
    temp.write("build/x.o", "x\n");
    temp.write(".gitignore", "build/\n");
    temp.write(".git/HEAD", "ref: refs/heads/main\n");
    let before = take(temp.path());
    happens(temp.path());
    let changed = before.changed(&take(temp.path()));
    let changed: Vec<String> = changed.iter().map(|p| p.display().to_string()).collect();
    assert_eq!(changed, expected);
}

fn write(path: &Path, name: &str, text: &str) {
    let path = path.join(name);
    fs::create_dir_all(path.parent().expect("a folder")).expect("made");
    fs::write(path, text).expect("written");
}

#[test]
fn nothing_happened() {
    check(|_| {}, &[]);
}

#[test]
fn files_that_changed_came_and_went_are_named_in_order() {
    check(
        |root| {
            write(root, "src/b.txt", "other\n");
            write(root, "new/n.txt", "n\n");
            fs::remove_file(root.join("a.txt")).expect("removed");
        },
        &["a.txt", "new/n.txt", "src/b.txt"],
    );
}

#[test]
fn the_same_size_in_another_file_is_a_change() {
    check(
        |root| {
            write(root, "t", "B\n");
            fs::rename(root.join("t"), root.join("src/b.txt")).expect("renamed");
        },
        &["src/b.txt"],
    );
}

#[test]
fn a_mode_is_a_change_and_hidden_files_count() {
    check(
        |root| {
            let executable = fs::Permissions::from_mode(0o755);
            fs::set_permissions(root.join("a.txt"), executable).expect("mode");
            write(root, ".hidden", "HH\n");
        },
        &[".hidden", "a.txt"],
    );
}

#[test]
fn ignored_files_links_and_git_are_not_looked_at() {
    check(
        |root| {
            write(root, "build/x.o", "xx\n");
            write(root, ".git/index", "i\n");
            symlink("/etc", root.join("link")).expect("a link");
        },
        &[],
    );
}

#[test]
fn more_files_than_the_limit_are_not_looked_at() {
    let temp = Temp::new();
    for number in 0..10 {
        temp.write(&format!("{}/{number}", number % 3), "");
    }
    assert!(Snapshot::take(temp.path(), 10, MAX_TIME * 100).is_some());
    assert!(Snapshot::take(temp.path(), 9, MAX_TIME * 100).is_none());
}

#[test]
fn a_look_that_takes_too_long_is_given_up() {
    let temp = Temp::new();
    temp.write("a", "");
    assert!(Snapshot::take(temp.path(), 10, Duration::ZERO).is_none());
    assert!(Snapshot::take(&temp.path().join("missing"), 10, MAX_TIME).is_none());
}
