//! Diffs that git made, of `fixtures/diff/*.case`, applied where there is no git: files, names and rights must come out as git had them.
//!
//! ```text
//! # git diff --no-color -M HEAD~1 HEAD      how it was made
//! patch 205⏎ 205 bytes ⏎                    blocks: what, how many bytes, the bytes
//! old two words.c 644 565⏎ … ⏎              a file before: name (`\t`, `\\` written so), mode
//! new lib/b.c 755 565⏎ … ⏎                  a file after
//! error 38⏎ … ⏎                             or why the patch is refused
//! ```

use super::kit::{Tree, patched_tree};
use std::collections::BTreeMap;
use std::path::Path;
use zcoder::diff::{Action, Patch, parse};

#[derive(Default)]
struct Case {
    patch: Vec<u8>,
    old: Tree,
    new: Tree,
    /// Which may be executed, before and after.
    modes: [BTreeMap<String, bool>; 2],
    error: Option<String>,
}

fn read(bytes: &[u8]) -> Case {
    let line = |rest: &[u8]| rest.iter().position(|b| *b == b'\n').expect("a line");
    let mut case = Case::default();
    let mut rest = &bytes[line(bytes) + 1..];
    while !rest.is_empty() {
        let (head, after) = rest.split_at(line(rest));
        let head = String::from_utf8(head.to_vec()).expect("UTF-8");
        let (head, length) = head.rsplit_once(' ').expect("a length");
        let (body, after) = after[1..].split_at(length.parse().expect("a number"));
        rest = after.strip_prefix(b"\n").expect("the end of a block");
        let (kind, file) = head.split_once(' ').unwrap_or((head, ""));
        match kind {
            "patch" => case.patch = body.to_vec(),
            "error" => case.error = Some(String::from_utf8(body.to_vec()).expect("UTF-8")),
            _ => {
                let (name, mode) = file.rsplit_once(' ').expect("a mode");
                let name = name.replace("\\t", "\t").replace("\\\\", "\\");
                let (tree, modes) = match kind {
                    "old" => (&mut case.old, &mut case.modes[0]),
                    "new" => (&mut case.new, &mut case.modes[1]),
                    other => panic!("a block {other}"),
                };
                tree.insert(name.clone(), body.to_vec());
                modes.insert(name, mode == "755");
            }
        }
    }
    case
}

/// What a patch does to the right to execute.
fn change_mode(modes: &mut BTreeMap<String, bool>, patch: &Patch<'_>) {
    let found = |names: &[String]| names.iter().find(|name| modes.contains_key(*name)).cloned();
    let (before, after) = match &patch.action {
        Action::Create(name) => (None, Some(name.clone())),
        Action::Delete(names) => (found(names), None),
        Action::Update { names, moved_to } => (found(names), moved_to.clone().or(found(names))),
    };
    let before = before.and_then(|name| modes.remove(&name));
    if let Some(name) = after {
        modes.insert(name, patch.executable.or(before).unwrap_or(false));
    }
}

#[test]
fn diffs_made_by_git_give_what_git_had() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("fixtures/diff");
    let (mut applied, mut refused) = (0, 0);
    for entry in std::fs::read_dir(folder).expect("the fixtures") {
        let path = entry.expect("an entry").path();
        let name = path.file_name().expect("a name").to_string_lossy();
        let mut case = read(&std::fs::read(&path).expect("readable"));
        if let Some(error) = case.error {
            let found = parse(&case.patch, None).expect_err("a refusal");
            assert_eq!(found.to_string(), error, "{name}");
            refused += 1;
            continue;
        }
        assert_eq!(patched_tree(&case.old, &case.patch), Ok(case.new), "{name}");
        for patch in parse(&case.patch, None).expect("a patch") {
            change_mode(&mut case.modes[0], &patch);
        }
        assert_eq!(case.modes[0], case.modes[1], "{name}");
        applied += 1;
    }
    assert_eq!((applied, refused), (34, 6));
}
