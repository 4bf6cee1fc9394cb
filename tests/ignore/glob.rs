//! Patterns alone: what they find, what is refused and where.

use std::time::{Duration, Instant};
use zcoder::ignore::glob::{Cause, Error, Glob, Scope};

#[track_caller]
fn check(scope: Scope, pattern: &str, yes: &[&str], no: &[&str]) {
    let glob = Glob::new(pattern.as_bytes(), scope).expect("a pattern");
    for text in yes {
        assert!(glob.is_match(text.as_bytes()), "{pattern} misses {text}");
    }
    for text in no {
        assert!(!glob.is_match(text.as_bytes()), "{pattern} finds {text}");
    }
}

#[test]
fn names() {
    let name = |pattern, yes: &[&str], no: &[&str]| check(Scope::Name, pattern, yes, no);
    name("a.c", &["a.c"], &["a_c", "a.cc", "aa.c", ""]);
    name("*", &["", "a", ".a"], &[]);
    name("*.c", &[".c", "a.c", "a.b.c"], &["a.cc", "c"]);
    name("a*", &["a", "ab"], &["ba", ""]);
    name("a*c", &["ac", "abc", "acc"], &["a", "ab", "cac"]);
    name("*a*b*", &["ab", "xaxbx", "aab"], &["ba", "a"]);
    name("*aab", &["aab", "aaab", "aabaab"], &["aaba"]);
    name("a**b", &["ab", "axb"], &["a"]);
    name("?", &["a"], &["", "ab", "é"]);
    name("??", &["ab", "é"], &["a"]);
    name("[a-c]x", &["ax", "cx"], &["dx", "x"]);
    name("[!a-c]", &["d", "-"], &["a", ""]);
    name("[^a-c]", &["d"], &["b"]);
    name("[]-]", &["]", "-"], &["a"]);
    name("[!]]", &["a"], &["]"]);
    name("[a-]", &["a", "-"], &["b"]);
    name("[--0]", &["-", ".", "0"], &[",", "1"]);
    name("[c-a]", &["c"], &["a", "b", "-"]);
    name("[\\]a]", &["]", "a"], &["\\"]);
    name("[a\\-c]", &["a", "-", "c"], &["b"]);
    name("[[:digit:]-z]", &["5", "-", "z"], &["a"]);
    name("[[:digit:]x]", &["5", "x"], &["y"]);
    name("[[]", &["["], &["]"]);
    name("[[:]", &["[", ":"], &["]"]);
    name("\\*\\a", &["*a"], &["xa", "\\*a"]);
}

#[test]
fn paths() {
    let path = |pattern, yes: &[&str], no: &[&str]| check(Scope::Path, pattern, yes, no);
    path("a/b", &["a/b"], &["a", "b", "a/b/c", "x/a/b"]);
    path("a/*", &["a/b", "a/"], &["a/b/c", "a"]);
    path("*/b", &["a/b"], &["b", "a/a/b"]);
    path("a?b", &["axb"], &["a/b"]);
    path("a[!x]b", &["ayb"], &["a/b", "axb"]);
    path("a[/]b", &[], &["a/b"]);
    path("**/b", &["b", "a/b", "a/a/b"], &["ab", "a/ab", "b/a"]);
    path("a/**", &["a/b", "a/b/c"], &["a", "b/a"]);
    path("a/**/b", &["a/b", "a/x/b", "a/x/y/b"], &["ab", "a/xb"]);
    path("**/a/**/b", &["a/b", "x/a/y/b"], &["a", "ab"]);
    path("a**/b", &["a/b", "ab/b"], &["ab", "a/x/b"]);
    path("a/**b", &["a/b", "a/xb"], &["a/x/b"]);
    path("**", &["a", "a/b"], &[]);
    path("***/b", &["b", "a/b"], &["ab"]);
    path("**\\/b", &["a/b"], &["b"]);
    path("src/**/*.h", &["src/a.h", "src/x/a.h"], &["src/a.c", "a.h"]);
}

#[test]
fn what_is_no_pattern_is_named_with_its_place() {
    let refused = |pattern: &str, cause, at, text: &str| {
        let error = Glob::new(pattern.as_bytes(), Scope::Path).expect_err(pattern);
        assert_eq!(error, Error { cause, at }, "{pattern}");
        assert_eq!(error.to_string(), text);
    };
    let open = "byte 3: `[` has no `]`";
    refused("ab[", Cause::OpenClass, 2, open);
    refused("ab[]", Cause::OpenClass, 2, open);
    refused("ab[!", Cause::OpenClass, 2, open);
    refused("ab[a-", Cause::OpenClass, 2, open);
    refused("ab[a\\", Cause::OpenClass, 2, open);
    refused("ab[a-\\", Cause::OpenClass, 2, open);
    refused("ab[[:alpha:", Cause::OpenClass, 2, open);
    refused("ab[[:alpha:]", Cause::OpenClass, 2, open);
    refused(
        "[[:word:]]",
        Cause::UnknownName,
        0,
        "byte 1: unknown class name; known are alnum, alpha, blank, cntrl, digit, graph, lower, print, punct, space, upper, xdigit",
    );
    refused(
        "a\\",
        Cause::LastBackslash,
        1,
        "byte 2: `\\` at the end has nothing to escape",
    );
}

#[test]
fn evil_patterns_take_no_longer_than_plain_ones() {
    let begin = Instant::now();
    let deep = "a/".repeat(2_000) + "b";
    let many = |piece: &str| piece.repeat(100) + "c";
    for pattern in [many("*a"), many("**/a/"), many("*a*/"), "**/*a".repeat(50)] {
        let glob = Glob::new(pattern.as_bytes(), Scope::Path).expect("a pattern");
        assert!(!glob.is_match(deep.as_bytes()));
        assert!(!glob.is_match("a".repeat(4_000).as_bytes()));
    }
    // Some hundred milliseconds without optimization; a stack of choices would take years.
    assert!(begin.elapsed() < Duration::from_secs(20));
}
