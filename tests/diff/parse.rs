//! Patch text read: every refusal in its words, and what the reader makes of numbers, names and ends.

use zcoder::diff::{Action, Hunk, Patch, parse};

#[track_caller]
fn refused(patch: &[u8], text: &str) {
    let error = parse(patch, None).expect_err("a refusal");
    assert_eq!(error.to_string(), text, "{}", patch.escape_ascii());
}

#[test]
fn each_refusal_names_its_line_and_cause() {
    let cases: &[(&[u8], &str)] = &[
        (
            b"please\n",
            "line 1: expected a unified diff or `*** Begin Patch`, found neither",
        ),
        (
            b"x\n@@ -1 +1 @@\n-a\n+b\n",
            "line 2: a hunk comes before any file name",
        ),
        (
            b"--- \n+++ \n@@ -1 +1 @@\n-a\n+b\n",
            "line 1: a file name is missing",
        ),
        (
            b"*** Begin Patch\n*** Add File:\n+a\n*** End Patch\n",
            "line 2: a file name is missing",
        ),
        (
            b"--- a/f\n+++ b/f\n",
            "line 1: a file is named and no change of it follows",
        ),
        (
            b"*** Update File: f\n*** Delete File: g\n",
            "line 1: a file is named and no change of it follows",
        ),
        (
            b"--- a/f\n+++ b/f\n@@ -1 +1 @@\n",
            "line 3: the hunk has no lines",
        ),
        (
            b"--- a/f\n+++ b/f\n@@ -1,2 +1,2 @@\n a\n b\n",
            "line 3: the hunk has no line that begins with `+` or `-`",
        ),
        (
            b"--- a/f\n+++ b/f\n@@ -1,2 +1,2 @@\n a\n-b\nB\n+c\n",
            "line 7: a line that begins with `+` or `-` stands outside a hunk: the line before it begins with neither `+`, `-` nor a blank",
        ),
        (
            b"*** Add File: f\n+a\nb\n",
            "line 3: every line of an added file begins with `+`",
        ),
        (
            b"--- /dev/null\n+++ b/f\n@@ -0,0 +1,2 @@\n+a\n b\n",
            "line 3: every line of a new file begins with `+`",
        ),
        (
            b"--- a/f\n+++ /dev/null\n@@ -1,2 +0,0 @@\n-a\n b\n",
            "line 3: every line of a deleted file begins with `-`",
        ),
        (
            b"*** Begin Patch\n*** Rename File: f\n*** End Patch\n",
            "line 2: expected `*** Add File: `, `*** Delete File: `, `*** Update File: `, `*** Move to: `, `*** End of File` or `*** End Patch`",
        ),
        (
            b"*** Begin Patch\n*** Delete File: f\n",
            "line 2: the patch ends without `*** End Patch`, so it may be cut short",
        ),
        (
            b"--- \"a/f\n+++ b/f\n@@ -1 +1 @@\n-a\n+b\n",
            "line 1: the quoted file name does not end or has an unknown escape",
        ),
        (
            b"--- a/f\n+++ \"b/\\q\"\n@@ -1 +1 @@\n-a\n+b\n",
            "line 2: the quoted file name does not end or has an unknown escape",
        ),
        (
            b"--- a/\xff\n+++ b/\xff\n@@ -1 +1 @@\n-a\n+b\n",
            "line 1: the file name is not UTF-8",
        ),
        (
            b"diff --git a/x b/y\nrename from x\n",
            "line 1: a rename needs both `rename from` and `rename to`",
        ),
        (
            b"diff --git a/x b/y\ncopy from x\ncopy to y\n",
            "line 2: copies are not made by a patch",
        ),
        (
            b"diff --git a/x b/x\nGIT binary patch\nliteral 0\n",
            "line 2: binary patches are not applied",
        ),
        (
            b"diff --git a/x b/x\nnew file mode 120000\n",
            "line 2: links and submodules are not made by a patch",
        ),
        (
            b"*** a/f\n--- b/f\n***************\n*** 1 ****\n",
            "line 3: context diffs are not read, only unified ones",
        ),
        (
            b"diff --cc f\n--- a/f\n+++ b/f\n@@@ -1,3 -1,3 +1,3 @@@\n",
            "line 4: diffs of merges (`@@@`) are not read",
        ),
    ];
    for (patch, text) in cases {
        refused(patch, text);
    }
}

#[track_caller]
fn one<'a>(patch: &'a str, named: Option<&str>) -> Patch<'a> {
    let mut patches = parse(patch.as_bytes(), named).expect("a patch");
    assert_eq!(patches.len(), 1, "{patch}");
    patches.remove(0)
}

#[track_caller]
fn hunk(range: &str) -> Hunk<'static> {
    let patch = format!("--- f\n+++ f\n{range}\n-a\n+b\n").leak();
    one(patch, None).hunks.remove(0)
}

#[test]
fn a_range_gives_a_number_or_a_line_to_look_for() {
    for (range, start, anchor) in [
        ("@@ -12,3 +12,4 @@", Some(12), None),
        ("@@ -12 +12 @@ fn main() {", Some(12), None),
        ("@@-12,1+12,1@@", Some(12), None),
        ("@@ -12,1", Some(12), None),
        ("@@ -999999999999999 +1 @@", Some(999_999_999_999_999), None),
        // More digits than a file has lines.
        ("@@ -9999999999999999 +1 @@", None, None),
        ("@@ -XX,XX +XX,XX @@", None, None),
        ("@@ ... @@", None, None),
        ("@@ … @@", None, None),
        ("@@", None, None),
        ("@@ ... @@ fn main() {", None, Some("fn main() {")),
        ("@@ fn main() { @@", None, Some("fn main() {")),
        ("@@ class A:", None, Some("class A:")),
    ] {
        let hunk = hunk(range);
        let anchors: Vec<&str> = hunk
            .anchors
            .iter()
            .map(|anchor| std::str::from_utf8(anchor).expect("UTF-8"))
            .collect();
        assert_eq!(
            (hunk.start, anchors),
            (start, Vec::from_iter(anchor)),
            "{range}"
        );
    }
}

#[test]
fn names_lose_prefixes_that_both_have_and_times() {
    for (old, new, expected) in [
        ("a/f", "b/f", &["f", "b/f", "a/f"][..]),
        ("f", "f", &["f"]),
        ("f.orig", "f", &["f", "f.orig"]),
        ("a/f", "f", &["f", "a/f"]),
        ("i/f", "w/f", &["f", "w/f", "i/f"]),
        (
            "a/f\t2026-01-02 03:04:05",
            "b/f\t2026-01-02 03:04:05",
            &["f", "b/f", "a/f"],
        ),
        (
            "f 2026-01-02 03:04:05.6 +0100",
            "f 2026-01-02 03:04:05",
            &["f"],
        ),
        (
            "\"a/\\303\\251\\t\\\"\"",
            "\"b/\\303\\251\\t\\\"\"",
            &["é\t\"", "b/é\t\"", "a/é\t\""],
        ),
    ] {
        let patch = format!("--- {old}\n+++ {new}\n@@ -1 +1 @@\n-a\n+b\n");
        let Action::Update { names, moved_to } = one(&patch, None).action else {
            panic!("{patch}");
        };
        assert_eq!(
            (&names[..], moved_to),
            (
                &expected.iter().map(|n| n.to_string()).collect::<Vec<_>>()[..],
                None
            ),
            "{patch}"
        );
    }
    let Action::Update { names, .. } = one("@@\n-a\n+b\n", Some("g")).action else {
        panic!("no update");
    };
    assert_eq!(names, ["g"]);
}
