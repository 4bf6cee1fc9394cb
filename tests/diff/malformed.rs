//! Patches as models write them, which `git apply` refuses, and what they were meant to do. Where git is installed it is seen refusing.

use super::git::git;
use super::kit::{Tree, patched_tree};
use crate::support::temp::Temp;

const OLD: &str = "fn a() {\n    one();\n    two();\n}\n\nfn b() {\n    three();\n    four();\n}\n\nfn c() {\n    five();\n}\n";

/// What is wrong, the patch, and which words it was meant to change.
const CASES: &[(&str, &str, (&str, &str))] = &[
    (
        "both counts too small",
        "--- a/f\n+++ b/f\n@@ -1,2 +1,2 @@\n fn a() {\n-    one();\n+    1();\n     two();\n }\n",
        ("one", "1"),
    ),
    (
        "both counts too large",
        "--- a/f\n+++ b/f\n@@ -1,9 +1,9 @@\n fn a() {\n-    one();\n+    1();\n     two();\n",
        ("one", "1"),
    ),
    (
        "no numbers",
        "--- a/f\n+++ b/f\n@@ @@\n fn a() {\n-    one();\n+    1();\n",
        ("one", "1"),
    ),
    (
        "dots for numbers",
        "--- a/f\n+++ b/f\n@@ ... @@\n-    three();\n+    3();\n     four();\n",
        ("three", "3"),
    ),
    (
        "a function for numbers",
        "--- a/f\n+++ b/f\n@@ fn b() { @@\n-    three();\n+    3();\n",
        ("three", "3"),
    ),
    (
        "a range without its end",
        "--- a/f\n+++ b/f\n@@ -6,3 +6,3\n fn b() {\n-    three();\n+    3();\n     four();\n",
        ("three", "3"),
    ),
    (
        "no range at all",
        "--- a/f\n+++ b/f\n fn b() {\n-    three();\n+    3();\n",
        ("three", "3"),
    ),
    (
        "no first name",
        "+++ b/f\n@@ -2 +2 @@\n-    one();\n+    1();\n",
        ("one", "1"),
    ),
    (
        "names without prefixes",
        "--- f\n+++ f\n@@ -2 +2 @@\n-    one();\n+    1();\n",
        ("one", "1"),
    ),
    (
        "numbers far off and no context before",
        "--- a/f\n+++ b/f\n@@ -1,2 +1,2 @@\n-    five();\n+    5();\n }\n",
        ("five", "5"),
    ),
    (
        "context cut to nothing",
        "--- a/f\n+++ b/f\n@@ -9 +9 @@\n-    two();\n+    2();\n",
        ("two", "2"),
    ),
    (
        "the blank of empty lines stripped, counts wrong",
        "--- a/f\n+++ b/f\n@@ -3,5 +3,5 @@\n-    two();\n+    2();\n }\n\n fn b() {\n",
        ("two", "2"),
    ),
    (
        "blanks at line ends",
        "--- a/f\n+++ b/f\n@@ -1,3 +1,3 @@\n fn a() {  \n-    one();\t\n+    1();\n     two();\n",
        ("one", "1"),
    ),
    (
        "carried with CR LF",
        "--- a/f\r\n+++ b/f\r\n@@ -1,3 +1,3 @@\r\n fn a() {\r\n-    one();\r\n+    1();\r\n     two();\r\n",
        ("one", "1"),
    ),
    (
        "a fence before the counted lines are over",
        "Here:\n```diff\n--- a/f\n+++ b/f\n@@ -2,9 +2,9 @@\n     one();\n-    two();\n+    2();\n }\n```\nDone.\n",
        ("two", "2"),
    ),
    (
        "an envelope",
        "*** Begin Patch\n*** Update File: f\n@@ fn c() {\n-    five();\n+    5();\n*** End Patch\n",
        ("five", "5"),
    ),
];

#[test]
fn what_was_meant_is_done_where_git_refuses() {
    let old = Tree::from([("f".to_string(), OLD.as_bytes().to_vec())]);
    for (what, patch, (from, to)) in CASES {
        let new = Tree::from([("f".to_string(), OLD.replace(from, to).into_bytes())]);
        assert_ne!(old, new, "{what}");
        assert_eq!(patched_tree(&old, patch.as_bytes()), Ok(new), "{what}");
        let temp = Temp::new();
        temp.write("f", OLD);
        if let Some((taken, _)) = git(temp.path(), &["apply"], patch.as_bytes()) {
            assert!(!taken, "{what}: git takes it");
        }
    }
}

/// The first places come from reading the lines, those of later hunks from an index of them.
#[test]
fn any_number_of_hunks_finds_its_places_without_their_numbers() {
    for hunks in [1, 15, 16, 17, 18, 60] {
        let line = |i: usize| format!("    let v{i} = {};", i / 3);
        let (mut old, mut new) = (
            "\u{feff}first\r\n".to_string(),
            "\u{feff}1st\r\n".to_string(),
        );
        let mut patch = "--- a/f\n+++ b/f\n@@ -70 +70 @@\n-first\n+1st\n".to_string();
        for i in 0..hunks * 5 {
            let (before, after) = (line(i), line(i) + " // changed");
            // Blanks at the end, which no hunk has.
            old.push_str(&format!("{before}  \n"));
            match i % 5 {
                2 => new.push_str(&format!("{after}\n")),
                _ => new.push_str(&format!("{before}  \n")),
            }
            if i % 5 == 2 {
                let (above, number) = (line(i - 1), i * 7 % 300 + 1);
                patch.push_str(&format!(
                    "@@ -{number},2 +{number},2 @@\n {above}\n-{before}\n+{after}\n"
                ));
            }
        }
        let tree = |text: String| Tree::from([("f".to_string(), text.into_bytes())]);
        assert_eq!(
            patched_tree(&tree(old), patch.as_bytes()),
            Ok(tree(new)),
            "{hunks}"
        );
    }
}
