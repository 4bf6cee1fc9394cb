//! What the tests of `diff` share: patching with the parts in a row, and texts that look like a history.

use crate::support::cuts::Rng;
use std::collections::BTreeMap;
use zcoder::diff::{Action, Patch, Splice, apply, changes, content, parse};

/// `old` with all splices made.
pub(crate) fn spliced(old: &[u8], splices: &[Splice]) -> Vec<u8> {
    let mut out = Vec::new();
    let mut at = 0;
    for splice in splices {
        out.extend_from_slice(&old[at..splice.range.start]);
        out.extend_from_slice(&splice.new);
        at = splice.range.end;
    }
    out.extend_from_slice(&old[at..]);
    out
}

/// The old text with the changes that lead to the new one.
pub(crate) fn changed(old: &[u8], new: &[u8]) -> Vec<u8> {
    let changes = changes(old, new).into_iter();
    let splices = changes.map(|change| Splice {
        range: change.old,
        new: new[change.new].to_vec(),
    });
    spliced(old, &splices.collect::<Vec<Splice>>())
}

/// Text of a few kinds of lines that repeat, as source code does.
pub(crate) fn text(rng: &mut Rng, lines: usize) -> Vec<u8> {
    let end: &[u8] = if rng.below(5) == 0 { b"\r\n" } else { b"\n" };
    let mut text = Vec::new();
    for i in 0..lines {
        match rng.below(6) {
            0 => text.extend_from_slice(b"}"),
            1 => {}
            2 => text.extend_from_slice(format!("    let v{} = {i};", rng.below(9)).as_bytes()),
            3 => text.extend_from_slice(format!("fn f{}() {{", rng.below(30)).as_bytes()),
            4 => text.extend_from_slice(b"\t- x\xff "),
            _ => text.extend_from_slice(format!("// {i}").as_bytes()),
        }
        text.extend_from_slice(end);
    }
    if rng.below(4) == 0 {
        text.truncate(text.len().saturating_sub(end.len()));
    }
    text
}

/// A later state of it: lines taken out, put in, changed, moved, the last line end lost or won.
pub(crate) fn later(rng: &mut Rng, old: &[u8]) -> Vec<u8> {
    let mut lines: Vec<Vec<u8>> = old
        .split_inclusive(|b| *b == b'\n')
        .map(<[u8]>::to_vec)
        .collect();
    for _ in 0..=rng.below(6) {
        let at = rng.below(lines.len() + 1);
        match rng.below(5) {
            0 if at < lines.len() => drop(lines.remove(at)),
            1 if at < lines.len() => {
                let end = (at + 1 + rng.below(4)).min(lines.len());
                lines.drain(at..end);
            }
            2 if at < lines.len() => lines[at].insert(0, b'~'),
            3 if at < lines.len() => {
                let line = lines.remove(at);
                let to = rng.below(lines.len() + 1);
                lines.insert(to, line);
            }
            _ => {
                let count = 1 + rng.below(3);
                let new = (0..count).map(|i| format!("new {} {i}\n", rng.below(50)).into_bytes());
                lines.splice(at..at, new.collect::<Vec<Vec<u8>>>());
            }
        }
    }
    let mut new = lines.concat();
    if rng.below(8) == 0 {
        match new.ends_with(b"\n") {
            true => drop(new.pop()),
            false => new.push(b'\n'),
        }
    }
    new
}

/// Files by name.
pub(crate) type Tree = BTreeMap<String, Vec<u8>>;

/// A tree with a whole patch applied, or why not.
pub(crate) fn patched_tree(tree: &Tree, patch: &[u8]) -> Result<Tree, String> {
    let mut out = tree.clone();
    for patch in parse(patch, None).map_err(|error| error.to_string())? {
        patched_file(&mut out, &patch)?;
    }
    Ok(out)
}

/// One file of a tree patched; nothing changes if it cannot be.
pub(crate) fn patched_file(tree: &mut Tree, patch: &Patch<'_>) -> Result<(), String> {
    let find = |names: &[String]| {
        let known = names.iter().find(|name| tree.contains_key(*name));
        known.cloned().ok_or(format!("none of {names:?}"))
    };
    match &patch.action {
        Action::Create(name) => {
            if tree.insert(name.clone(), content(&patch.hunks)).is_some() {
                return Err(format!("{name} exists"));
            }
        }
        Action::Delete(names) => {
            let name = find(names)?;
            let old = &tree[&name];
            let applied =
                apply(old, &patch.hunks).map_err(|misfits| format!("{name}: {misfits:?}"))?;
            if !spliced(old, &applied.splices).is_empty() {
                return Err(format!("{name} is not empty"));
            }
            tree.remove(&name);
        }
        Action::Update { names, moved_to } => {
            let name = find(names)?;
            let old = &tree[&name];
            let applied =
                apply(old, &patch.hunks).map_err(|misfits| format!("{name}: {misfits:?}"))?;
            let new = spliced(old, &applied.splices);
            tree.remove(&name);
            tree.insert(moved_to.clone().unwrap_or(name), new);
        }
    }
    Ok(())
}
