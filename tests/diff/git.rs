//! Beside git, where it is installed: diffs that git made are applied as git applies them, and ours are applied by git.

use super::kit::{Tree, later, patched_file, patched_tree, text};
use crate::support::cuts::Rng;
use crate::support::temp::Temp;
use std::path::Path;
use std::process::{Command, Stdio};
use zcoder::diff::{Side, parse, unified};

/// `git` in a folder with nothing of the user's settings; its output. None where there is no git.
pub(super) fn git(folder: &Path, arguments: &[&str], input: &[u8]) -> Option<(bool, Vec<u8>)> {
    let mut command = Command::new("git");
    command.args(arguments).current_dir(folder).env_clear();
    command.env("PATH", std::env::var_os("PATH").unwrap_or_default());
    for (name, value) in [
        ("HOME", "/nonexistent"),
        ("GIT_CONFIG_NOSYSTEM", "1"),
        ("GIT_CEILING_DIRECTORIES", "/"),
        ("GIT_AUTHOR_NAME", "n"),
        ("GIT_AUTHOR_EMAIL", "e"),
        ("GIT_COMMITTER_NAME", "n"),
        ("GIT_COMMITTER_EMAIL", "e"),
    ] {
        command.env(name, value);
    }
    command
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::null());
    let mut child = match command.spawn() {
        Ok(child) => child,
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => {
            eprintln!("SKIPPED: there is no git to compare with");
            return None;
        }
        Err(error) => panic!("git: {error}"),
    };
    let mut stdin = child.stdin.take().expect("a pipe");
    let input = input.to_vec();
    let writer = std::thread::spawn(move || std::io::Write::write_all(&mut stdin, &input).is_ok());
    let output = child.wait_with_output().expect("its end");
    writer.join().expect("the writer");
    Some((output.status.success(), output.stdout))
}

fn write(folder: &Path, tree: &Tree) {
    for (name, bytes) in tree {
        let path = folder.join(name);
        std::fs::create_dir_all(path.parent().expect("a folder")).expect("folders");
        std::fs::write(path, bytes).expect("a file");
    }
}

fn read(folder: &Path) -> Tree {
    fn walk(root: &Path, folder: &Path, tree: &mut Tree) {
        for entry in std::fs::read_dir(folder).expect("a folder") {
            let path = entry.expect("an entry").path();
            if path.ends_with(".git") {
                continue;
            }
            match path.is_dir() {
                true => walk(root, &path, tree),
                false => {
                    let name = path
                        .strip_prefix(root)
                        .expect("below")
                        .to_str()
                        .expect("UTF-8");
                    tree.insert(name.to_string(), std::fs::read(&path).expect("readable"));
                }
            }
        }
    }
    let mut tree = Tree::new();
    walk(folder, folder, &mut tree);
    tree
}

/// A history step of many files: changed, new, gone, renamed, empty; names with blanks, quotes and accents among them.
fn step(rng: &mut Rng, files: usize) -> (Tree, Tree) {
    let (mut old, mut new) = (Tree::new(), Tree::new());
    for i in 0..files {
        let name = match i % 9 {
            0 => format!("d{}/two words {i}.c", i % 4),
            1 => format!("d{}/é\"{i}\\.c", i % 4),
            2 => format!("a/f{i}"),
            3 => format!("b/b/f{i}"),
            _ => format!("d{}/f{i}.rs", i % 4),
        };
        let lines = rng.below(90);
        let before = text(rng, lines);
        let after = later(rng, &before);
        match rng.below(12) {
            0 => drop(new.insert(name, after)),
            1 => drop(old.insert(name, before)),
            2 => {
                new.insert(format!("moved/{name}"), after);
                old.insert(name, before);
            }
            _ => {
                old.insert(name.clone(), before);
                new.insert(name, after);
            }
        }
    }
    (old, new)
}

/// A repository without files: two commits, `old` and `new`, fed to `git fast-import`.
fn repository(old: &Tree, new: &Tree) -> Option<Temp> {
    let temp = Temp::new();
    git(temp.path(), &["init", "-q", "--bare"], b"")?;
    let mut stream = Vec::new();
    for (branch, tree) in [("old", old), ("new", new)] {
        let head =
            format!("commit refs/heads/{branch}\ncommitter n <e> 0 +0000\ndata 0\ndeleteall\n");
        stream.extend_from_slice(head.as_bytes());
        for (name, bytes) in tree {
            let name = name
                .replace('\\', "\\\\")
                .replace('"', "\\\"")
                .replace('\n', "\\n");
            let file = format!("M 100644 inline \"{name}\"\ndata {}\n", bytes.len());
            stream.extend_from_slice(file.as_bytes());
            stream.extend_from_slice(bytes);
            stream.push(b'\n');
        }
    }
    let (ok, _) = git(temp.path(), &["fast-import", "--quiet", "--force"], &stream)?;
    assert!(ok, "git fast-import");
    Some(temp)
}

/// What git says is the difference.
fn git_diff(repository: &Temp, options: &[&str]) -> Vec<u8> {
    let arguments = [&["diff", "--text", "--no-color", "old", "new"], options].concat();
    let (ok, diff) = git(repository.path(), &arguments, b"").expect("it was there before");
    assert!(ok, "git diff");
    diff
}

/// Whether git makes `new` of `old` with this patch.
fn git_agrees(repository: &Temp, patch: &[u8]) -> bool {
    let run = |arguments: &[&str], input: &[u8]| {
        git(repository.path(), arguments, input).expect("it was there before")
    };
    let (ok, _) = run(&["read-tree", "old"], b"");
    assert!(ok, "git read-tree");
    let (applied, _) = run(&["apply", "--cached", "--whitespace=nowarn"], patch);
    applied && run(&["write-tree"], b"").1 == run(&["rev-parse", "new^{tree}"], b"").1
}

/// What git makes of a tree and a patch; hunks that do not fit go to `.rej` files.
fn git_apply(tree: &Tree, patch: &[u8]) -> Tree {
    let temp = Temp::new();
    write(temp.path(), tree);
    let arguments = ["apply", "--whitespace=nowarn", "--reject"];
    git(temp.path(), &arguments, patch).expect("it was there before");
    read(temp.path())
}

const STYLES: &[&[&str]] = &[
    &[],
    &["-M"],
    &["-U1"],
    &["-U8", "--patience"],
    &["--histogram", "-M50%"],
    &["--minimal", "--full-index"],
    &["--inter-hunk-context=4", "--anchored=}"],
    &["--src-prefix=i/", "--dst-prefix=w/"],
];

#[test]
fn diffs_made_by_git_give_what_git_gives() {
    let mut rng = Rng::new(3);
    let mut diffs = 0;
    for options in STYLES {
        let (old, new) = step(&mut rng, 160);
        let Some(repository) = repository(&old, &new) else {
            return;
        };
        let diff = git_diff(&repository, options);
        diffs += parse(&diff, None).expect("a patch").len();
        assert!(
            git_agrees(&repository, &diff),
            "git does not take its own diff: {options:?}"
        );
        let ours = patched_tree(&old, &diff).expect("applies");
        assert!(ours == new, "{options:?}: {:?}", differing(&ours, &new));
    }
    assert!(diffs > 1_000, "{diffs}");
}

fn differing<'a>(a: &'a Tree, b: &'a Tree) -> Vec<&'a String> {
    let names = a.keys().chain(b.keys());
    names.filter(|name| a.get(*name) != b.get(*name)).collect()
}

/// A few lines more or less in one place, so that most hunks still fit.
fn drifted(rng: &mut Rng, bytes: &[u8]) -> Vec<u8> {
    let mut lines: Vec<&[u8]> = bytes.split_inclusive(|b| *b == b'\n').collect();
    let at = rng.below(lines.len() + 1);
    match rng.below(4) {
        0 => lines
            .splice(at..at, [&b"drift 1\n"[..], b"drift 2\n"])
            .count(),
        1 => lines.drain(at..(at + 2).min(lines.len())).count(),
        2 => lines.splice(0..0, [&b"drift at the top\n"[..]]).count(),
        _ => lines.splice(0..0, [&b"}\n"[..]; 12]).count(),
    };
    lines.concat()
}

#[test]
fn on_files_that_have_moved_on_no_result_differs_from_gits() {
    let mut rng = Rng::new(4);
    let (mut same, mut stricter, mut better, mut neither) = (0, 0, 0, 0);
    for _ in 0..4 {
        let (mut old, mut new) = step(&mut rng, 150);
        // Only changes; the rest is the other test's.
        old.retain(|name, _| new.contains_key(name));
        new.retain(|name, _| old.contains_key(name));
        let Some(repository) = repository(&old, &new) else {
            return;
        };
        let diff = git_diff(&repository, &[]);
        let moved_on: Tree = old
            .iter()
            .map(|(name, bytes)| (name.clone(), drifted(&mut rng, bytes)))
            .collect();
        let by_git = git_apply(&moved_on, &diff);
        for patch in parse(&diff, None).expect("a patch") {
            let mut ours = moved_on.clone();
            let applied = patched_file(&mut ours, &patch);
            let zcoder::diff::Action::Update { names, .. } = &patch.action else {
                continue;
            };
            let name = names
                .iter()
                .find(|name| old.contains_key(*name))
                .expect("known");
            let rejected = by_git.contains_key(&format!("{name}.rej"));
            match (applied, rejected) {
                (Ok(()), false) => {
                    assert!(
                        ours[name] == by_git[name],
                        "{name}:\n{}\n--- git\n{}",
                        String::from_utf8_lossy(&ours[name]),
                        String::from_utf8_lossy(&by_git[name])
                    );
                    same += 1;
                }
                (Err(_), false) => stricter += 1,
                (Ok(()), true) => better += 1,
                (Err(_), true) => neither += 1,
            }
        }
    }
    eprintln!("same {same}, only git {stricter}, only we {better}, neither {neither}");
    assert!(
        same > 200 && stricter * 10 < same,
        "same {same}, only git {stricter}, only we {better}, neither {neither}"
    );
}

#[test]
fn git_applies_what_we_write_whatever_the_files_hold() {
    let mut rng = Rng::new(5);
    let (mut old, mut new) = step(&mut rng, 120);
    for i in 0..60 {
        // Any bytes; NUL, CR and line feeds often.
        let mut noise = |length: usize| -> Vec<u8> {
            (0..length)
                .map(|_| match rng.below(6) {
                    0 => b'\n',
                    1 => b'\r',
                    2 => 0,
                    _ => u8::try_from(rng.below(256)).expect("a byte"),
                })
                .collect()
        };
        let (before, after) = (noise(i * 3), noise(i * 2));
        old.insert(format!("noise/{i}\n\t"), before.clone());
        new.insert(
            format!("noise/{i}\n\t"),
            if i % 2 == 0 {
                after
            } else {
                [&before[..i], &after, &before[i..]].concat()
            },
        );
    }
    old.insert("empty".to_string(), Vec::new());
    new.insert("new and empty".to_string(), Vec::new());
    let mut patch = Vec::new();
    for name in old
        .keys()
        .chain(new.keys().filter(|name| !old.contains_key(*name)))
    {
        let side = |bytes| Side {
            name: name.as_bytes(),
            bytes,
            executable: false,
        };
        let (before, after) = (
            old.get(name).map(Vec::as_slice),
            new.get(name).map(Vec::as_slice),
        );
        patch.extend_from_slice(&unified(before.map(side), after.map(side)).0);
    }
    assert_eq!(patched_tree(&old, &patch).as_ref(), Ok(&new));
    let Some(repository) = repository(&old, &new) else {
        return;
    };
    assert!(git_agrees(&repository, &patch));
}
