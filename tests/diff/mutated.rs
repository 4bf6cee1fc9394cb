//! Patches with seeded damage, and every patch cut short at every line: read or refused, applied or refused, and never a panic.

use super::kit::{later, spliced, text};
use crate::support::cuts::Rng;
use zcoder::diff::{Action, Side, apply, content, mentioned, parse, unified};

const SEEDS: &[&str] = &[
    "*** Begin Patch\n*** Update File: a\n*** Move to: b\n@@ class A\n@@ def f\n x\n-y\n+z\n*** End of File\n*** Add File: c\n+1\n\n+2\n*** Delete File: d\n*** End Patch\n",
    "Prose\n```diff\ndiff --git \"a/\\303\\251\" \"b/\\303\\251\"\nold mode 100644\nnew mode 100755\nindex 1..2\n--- \"a/\\303\\251\"\n+++ \"b/\\303\\251\"\n@@ -1,2 +1,2 @@ fn\n a\n-b\n\\ No newline at end of file\n+c\n```\n",
    "diff --git a/x b/y\nsimilarity index 90%\nrename from x\nrename to y\n--- a/x\n+++ b/y\n@@ -1 +1 @@\n-a\r\n+b\r\n-- \n2.47\n",
    "--- a\t2024-01-01 00:00:00\n+++ /dev/null\n@@ -1,2 +0,0 @@\n-a\n-b\n",
];

fn survives(patch: &[u8], file: &[u8]) {
    mentioned(patch);
    for named in [None, Some("f")] {
        let Ok(patches) = parse(patch, named) else {
            continue;
        };
        for patch in &patches {
            if let Action::Create(_) = patch.action {
                content(&patch.hunks);
            }
            if let Ok(applied) = apply(file, &patch.hunks) {
                spliced(file, &applied.splices);
            }
        }
    }
}

#[test]
fn damaged_patches_are_refused_or_applied() {
    let mut rng = Rng::new(6);
    for round in 0..6_000 {
        let file = text(&mut rng, 12);
        let patch = match round % 2 {
            0 => SEEDS[rng.below(SEEDS.len())].as_bytes().to_vec(),
            _ => {
                let new = later(&mut rng, &file);
                let side = |bytes| Side {
                    name: b"f",
                    bytes,
                    executable: false,
                };
                unified(Some(side(&file)), Some(side(&new))).0
            }
        };
        survives(&rng.mutate(&patch), &file);
        survives(&rng.mutate(&patch), b"x\ny\n");
    }
}

#[test]
fn patches_cut_anywhere_are_refused_or_applied() {
    for seed in SEEDS {
        for end in 0..seed.len() {
            survives(&seed.as_bytes()[..end], b"a\nb");
            survives(&seed.as_bytes()[end..], b"x\ny\n");
        }
    }
}

#[test]
fn ten_megabytes_of_patch_are_read_and_placed() {
    let file: Vec<u8> = (0..200_000)
        .flat_map(|i| format!("line {i} of many\n").into_bytes())
        .collect();
    let new: Vec<u8> = (0..200_000)
        .flat_map(|i| match i % 4 {
            0 => format!("line {i} of many, changed and made longer so that the patch is as large as it should be: {i} {i} {i} {i}\n").into_bytes(),
            _ => format!("line {i} of many\n").into_bytes(),
        })
        .collect();
    let side = |bytes| Side {
        name: b"f",
        bytes,
        executable: false,
    };
    let patch = unified(Some(side(&file)), Some(side(&new))).0;
    assert!(patch.len() > 10_000_000, "{} bytes", patch.len());
    let patches = parse(&patch, None).expect("a patch");
    let applied = apply(&file, &patches[0].hunks).expect("places");
    assert!(spliced(&file, &applied.splices) == new);
}
