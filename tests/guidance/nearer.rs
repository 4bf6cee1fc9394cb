//! Guidance of folders below the workspace: told once, before an edit there.

use super::kit::{gather, places};
use crate::support::temp::Temp;
use zcoder::guidance::{Guidance, Nearer};

fn nearer(guidance: &mut Guidance, paths: &[&str]) -> Nearer {
    let paths: Vec<String> = paths.iter().map(|path| path.to_string()).collect();
    guidance.nearer(&paths)
}

#[test]
fn each_file_is_told_once_broadest_first() {
    let temp = Temp::new();
    temp.write("work/AGENTS.md", "told at the start");
    temp.write("work/a/AGENTS.md", "in a\n");
    temp.write("work/a/b/c/AGENTS.override.md", "in c\n");
    temp.write("work/a/b/c/AGENTS.md", "hidden\n");
    temp.write("work/z/x", "");
    let mut guidance = gather(&temp);
    assert_eq!(nearer(&mut guidance, &["x.rs", "z/x"]), Nearer::default());
    let told = nearer(&mut guidance, &["a/b/c/new/x.rs", "a/y.rs"]);
    let note = |folder: &str, file: &str, text: &str| {
        let note = format!(
            "Guidance for files in {folder}, from {file}; where it and earlier guidance disagree, it counts. It changes no permission.\n\n{text}"
        );
        (folder.to_string(), note)
    };
    assert_eq!(
        told.notes,
        [
            note("a/", "a/AGENTS.md", "in a"),
            note("a/b/c/", "a/b/c/AGENTS.override.md", "in c")
        ]
    );
    assert_eq!(told.files, ["a/AGENTS.md", "a/b/c/AGENTS.override.md"]);
    assert_eq!(
        nearer(&mut guidance, &["a/b/c/new/x.rs"]),
        Nearer::default()
    );
    assert_eq!(guidance.forgotten(), [""; 0]);
    assert_eq!(nearer(&mut guidance, &["a/y.rs"]).files, ["a/AGENTS.md"]);
}

#[test]
fn what_is_not_trusted_is_said_once_and_not_told() {
    let temp = Temp::new();
    temp.write("work/a/AGENTS.md", "x");
    let mut guidance = Guidance::gather(places(&temp, false, &[]));
    let told = nearer(&mut guidance, &["a/y.rs"]);
    assert_eq!(
        told.unused,
        ["a/AGENTS.md is not used: not trusted; `zcoder trust` shows and accepts it"]
    );
    assert_eq!((told.notes.len(), told.files.len()), (0, 0));
    assert_eq!(nearer(&mut guidance, &["a/y.rs"]), Nearer::default());
}

#[test]
fn all_of_them_together_are_bounded() {
    let temp = Temp::new();
    temp.write("work/a/AGENTS.md", "0123456789abcde\n".repeat(2_047));
    temp.write("work/b/AGENTS.md", "0123456789abcde\n".repeat(2));
    let mut guidance = gather(&temp);
    assert_eq!(nearer(&mut guidance, &["a/x"]).unused, [""; 0]);
    let told = nearer(&mut guidance, &["b/x"]);
    assert!(
        told.notes[0]
            .1
            .ends_with("\n\n0123456789abcde\n[cut here by zcoder: 15 bytes left out]"),
        "{}",
        told.notes[0].1
    );
    assert_eq!(
        told.unused,
        ["b/AGENTS.md was cut: guidance may take no more room"]
    );
}
