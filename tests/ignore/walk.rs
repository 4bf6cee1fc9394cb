//! The walk: what it leaves out, its order, and trees that are hard to walk.

use crate::support::temp::Temp;
use std::ffi::OsStr;
use std::fs;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::{MetadataExt, PermissionsExt, symlink};
use std::path::{Path, PathBuf};
use std::process::Command;
use zcoder::ignore::glob::{Glob, Scope};
use zcoder::ignore::{Options, Problem, Walk};

pub(crate) fn options(root: &Path) -> Options {
    Options {
        root: root.to_path_buf(),
        ..Options::default()
    }
}

/// All files of a walk, in its order.
pub(crate) fn files(start: &Path, options: Options) -> Vec<Vec<u8>> {
    drain(&mut Walk::new(start, options).expect("opens"))
}

fn drain(walk: &mut Walk) -> Vec<Vec<u8>> {
    let mut out = Vec::new();
    while let Some(folder) = walk.next_folder() {
        let names = folder.files().iter();
        out.extend(names.map(|name| [folder.path(), name].concat()));
    }
    out
}

/// A full path as seen from a folder above it.
pub(crate) fn below(path: &[u8], folder: &Path) -> String {
    let path = Path::new(OsStr::from_bytes(path)).strip_prefix(folder);
    path.expect("below").to_string_lossy().into_owned()
}

fn tree(names: &[&str]) -> Temp {
    let temp = Temp::new();
    for name in names {
        temp.write(name, "");
    }
    temp
}

#[track_caller]
fn check(files: &[Vec<u8>], expected: &[&str]) {
    let files: Vec<_> = files.iter().map(|f| String::from_utf8_lossy(f)).collect();
    assert_eq!(files, expected);
}

#[test]
fn files_before_folders_and_both_by_their_bytes() {
    let temp = tree(&["b", "a/z", "a/b/c", "A/x", "a.c", "é", "a/Z", "c/d/e"]);
    let expected = ["a.c", "b", "é", "A/x", "a/Z", "a/z", "a/b/c", "c/d/e"];
    check(&files(temp.path(), options(temp.path())), &expected);
}

#[test]
fn what_is_left_out_is_counted() {
    let temp = tree(&[".env", ".git/config", ".x/a", "a", "b.o", "out/c", "s/.y"]);
    temp.write(".gitignore", "*.o\nout\n");
    let mut walk = Walk::new(temp.path(), options(temp.path())).expect("opens");
    check(&drain(&mut walk), &["a"]);
    assert_eq!((walk.hidden(), walk.ignored(), walk.folders()), (4, 2, 2));
    let mut hidden = options(temp.path());
    hidden.hidden = true;
    let mut walk = Walk::new(temp.path(), hidden).expect("opens");
    let all = [".env", ".gitignore", "a", ".x/a", "s/.y"];
    check(&drain(&mut walk), &all);
    assert_eq!((walk.hidden(), walk.ignored(), walk.folders()), (0, 2, 3));
}

#[test]
fn links_and_special_files_are_passed_over() {
    let temp = tree(&["a/x"]);
    let at = |name: &str| temp.path().join(name);
    symlink("..", at("a/up")).expect("link");
    symlink(".", at("self")).expect("link");
    symlink("a", at("again")).expect("link");
    symlink("a/x", at("file")).expect("link");
    symlink("/etc", at("out")).expect("link");
    let made = Command::new("mkfifo").arg(at("pipe")).status();
    assert!(made.expect("mkfifo").success());
    check(&files(temp.path(), options(temp.path())), &["a/x"]);
    // A link is no start either: who resolved the path knows where it leads.
    let error = Walk::new(&at("again"), options(temp.path())).expect_err("a link");
    assert_eq!(error.kind(), std::io::ErrorKind::NotADirectory);
}

#[test]
fn names_need_not_be_text() {
    let temp = tree(&["a\nb"]);
    let odd = |bytes: &[u8]| temp.path().join(OsStr::from_bytes(bytes));
    fs::create_dir(odd(b"d\xff")).expect("folder");
    fs::write(odd(b"d\xff/\xfe"), "").expect("file");
    let found = files(temp.path(), options(temp.path()));
    assert_eq!(found, [&b"a\nb"[..], &b"d\xff/\xfe"[..]]);
}

#[test]
fn only_what_is_asked_for() {
    let temp = tree(&["a.h", "s/b.h", "s/c.c", "s/t/d.h", "s/t/e", "u/t/f"]);
    let only = |patterns: &[&str]| {
        let mut options = options(temp.path());
        let glob = |p: &&str| Glob::new(p.as_bytes(), Scope::Path).expect("pattern");
        options.only = patterns.iter().map(glob).collect();
        files(temp.path(), options)
    };
    check(&only(&["**/*.h"]), &["a.h", "s/b.h", "s/t/d.h"]);
    check(&only(&["s/*.h", "*.h"]), &["a.h", "s/b.h"]);
    // A folder that is meant is meant with all that is in it.
    check(&only(&["**/t"]), &["s/t/d.h", "s/t/e", "u/t/f"]);
    check(&only(&["s/*"]), &["s/b.h", "s/c.c", "s/t/d.h", "s/t/e"]);
    check(&only(&["x"]), &[]);
}

#[test]
fn closed_folders_are_never_entered() {
    let temp = tree(&["a/x", "b/y", "c/b/z"]);
    let closed = |folder: &str| {
        let meta = fs::metadata(temp.path().join(folder)).expect("folder");
        let mut options = options(temp.path());
        options.closed = vec![(meta.dev(), meta.ino())];
        files(temp.path(), options)
    };
    check(&closed("b"), &["a/x", "c/b/z"]);
    check(&closed("c"), &["a/x", "b/y"]);
    check(&closed("."), &[]);
}

/// Folders cannot be made unreadable for root, but everybody can see one vanish.
#[test]
fn what_cannot_be_read_is_said_and_the_rest_is_walked() {
    let temp = tree(&["a/x", "b/y", "c/z", "d/w"]);
    let locked = temp.path().join("c");
    let mode = |mode| fs::set_permissions(&locked, fs::Permissions::from_mode(mode));
    mode(0).expect("mode");
    let is_root = fs::read_dir(&locked).is_ok();
    let mut walk = Walk::new(temp.path(), options(temp.path())).expect("opens");
    let first = walk.next_folder().expect("a");
    assert_eq!(first.path(), b"a/");
    fs::remove_dir_all(temp.path().join("b")).expect("removes");
    let rest = drain(&mut walk);
    mode(0o700).expect("mode");
    let mut expected = vec![("b", "No such file or directory (os error 2)")];
    if is_root {
        check(&rest, &["c/z", "d/w"]);
    } else {
        check(&rest, &["d/w"]);
        expected.push(("c", "Permission denied (os error 13)"));
    }
    let (problems, more) = walk.problems();
    assert_eq!((problems.len(), more), (expected.len(), 0));
    for (problem, (name, text)) in problems.iter().zip(expected) {
        let Problem::Unreadable { path, error } = problem else {
            panic!("{problem:?}");
        };
        assert_eq!(below(path, temp.path()), name);
        assert_eq!(error.to_string(), text);
    }
}

#[test]
fn problems_beyond_the_limit_are_counted() {
    let names: Vec<String> = (10..35).map(|n| format!("{n}/x")).collect();
    let names: Vec<&str> = names.iter().map(String::as_str).collect();
    let temp = tree(&names);
    let mut walk = Walk::new(temp.path(), options(temp.path())).expect("opens");
    assert!(walk.next_folder().is_some());
    for name in &names[1..] {
        fs::remove_dir_all(temp.path().join(&name[..2])).expect("removes");
    }
    assert!(walk.next_folder().is_none());
    let (problems, more) = walk.problems();
    assert_eq!((problems.len(), more), (20, 4));
}

/// A folder `levels` deep, made of pieces that are short enough to be named: each is put in the end of the next. In every `side`-th of the
/// levels, a folder `z` with a file beside the way down.
fn deep(root: &Path, levels: usize, side: usize) {
    const PIECE: usize = 200;
    let (top, next) = (root.join("d"), root.join("next"));
    fs::create_dir(&top).expect("folder");
    fs::write(top.join("end"), "").expect("file");
    for piece in 1..=levels / PIECE {
        let mut at = next.clone();
        for level in 1..PIECE {
            fs::create_dir(&at).expect("folder");
            if level % side == 0 {
                fs::create_dir(at.join("z")).expect("folder");
                fs::write(at.join("z").join(format!("{piece}")), "").expect("file");
            }
            at.push("d");
        }
        fs::create_dir(&at).expect("folder");
        fs::rename(&top, at.join("d")).expect("moves");
        fs::rename(&next, &top).expect("moves");
    }
}

/// The standard library's `remove_dir_all` is recursive.
fn remove(path: PathBuf) {
    let removed = Command::new("rm").arg("-rf").arg(path).status();
    assert!(removed.expect("rm").success());
}

#[test]
fn ten_thousand_folders_in_each_other() {
    let temp = Temp::in_memory();
    deep(temp.path(), 10_000, 50);
    let mut walk = Walk::new(temp.path(), options(temp.path())).expect("opens");
    let found = drain(&mut walk);
    let (problems, more) = walk.problems();
    assert_eq!((problems.len(), more), (0, 0), "{problems:?}");
    remove(temp.path().join("d"));
    let level = |file: &Vec<u8>| file.iter().filter(|b| **b == b'/').count();
    assert_eq!(
        found[0],
        "d/".repeat(10_001)
            .into_bytes()
            .into_iter()
            .chain(*b"end")
            .collect::<Vec<u8>>()
    );
    // Then the folders beside the way, from the lowest up.
    assert_eq!(found.len(), 1 + 150);
    let levels: Vec<usize> = found[1..].iter().map(level).collect();
    assert!(levels.is_sorted_by(|a, b| a > b), "{levels:?}");
    assert_eq!((levels[0], levels[149]), (9_951, 51));
}

#[test]
fn a_folder_of_many_files() {
    let temp = Temp::in_memory();
    let mut expected: Vec<Vec<u8>> = (0..30_000).map(|n| format!("{n}").into_bytes()).collect();
    for name in &expected {
        fs::write(temp.path().join(OsStr::from_bytes(name)), "").expect("file");
    }
    expected.sort();
    assert_eq!(files(temp.path(), options(temp.path())), expected);
}
