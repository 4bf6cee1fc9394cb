//! Paths with wildcards in them, as `list_files` and `search_text` take them. In: a path as a model writes it. Out: the folder where to
//! begin, still to be resolved, and the patterns for paths below it; or nothing, if there is no wildcard.
//!
//! ```text
//! src/**/*.h         src     **/*.h                     src/*.{c,h}     src     *.c  *.h
//! *.rs               .       **/*.rs     in any folder: that is what is meant nine times out of ten
//! ./*.rs             .       *.rs        here only
//! app/[id]/page.tsx  the caller looks first whether there is such a file
//! ```
//!
//! Refused: what is no pattern (`ignore/glob.rs`), and braces that make more than [`MAX_GLOBS`] patterns.
//!
//! Invariant: the folder has no wildcard, so whether it lies in the workspace is decided where all paths are.

use crate::ignore::glob::{Glob, Scope};

use super::shown;
use super::workspace::Refusal;

/// Patterns that braces may make.
const MAX_GLOBS: usize = 64;

/// A path with wildcards.
#[derive(Debug)]
pub(super) struct Globs {
    /// Where to begin.
    pub(super) folder: String,
    /// Over paths from there.
    pub(super) globs: Vec<Glob>,
    /// How many names a path that they mean has; `None`: any number.
    pub(super) depth: Option<u64>,
}

/// `None`: no wildcard in it. The error is written for the model.
pub(super) fn globs(path: &str) -> Option<Result<Globs, Refusal>> {
    let names: Vec<&str> = path.split('/').collect();
    let first = names.iter().position(|name| is_wild(name))?;
    let folder = match &names[..first] {
        [] => ".".to_string(),
        [""] => "/".to_string(),
        names => names.join("/"),
    };
    let anywhere = if names.len() == 1 { "**/" } else { "" };
    let pattern = format!("{anywhere}{}", names[first..].join("/"));
    let depth = match pattern.contains("**") {
        true => None,
        false => Some(pattern.split('/').count() as u64),
    };
    let globs = compile(path, &pattern);
    Some(globs.map(|globs| Globs {
        folder,
        globs,
        depth,
    }))
}

fn is_wild(name: &str) -> bool {
    name.contains(['*', '?', '[']) || (name.contains('{') && name.contains('}'))
}

fn compile(path: &str, pattern: &str) -> Result<Vec<Glob>, Refusal> {
    let mut patterns = vec![pattern.to_string()];
    let mut at = 0;
    // Each pattern with braces is replaced by those that its first braces make; inner ones come later.
    while at < patterns.len() {
        match alternatives(&patterns[at]) {
            None => at += 1,
            Some(made) => {
                patterns.splice(at..=at, made);
            }
        }
        if patterns.len() > MAX_GLOBS {
            return Err(Refusal(format!(
                "the braces in `{}` make more than {MAX_GLOBS} patterns. Use a simpler path, such as src/**/*.rs.",
                shown(path)
            )));
        }
    }
    let globs = patterns.iter().map(|pattern| {
        Glob::new(pattern.as_bytes(), Scope::Path).map_err(|error| {
            Refusal(format!(
                "`{}` is neither a path that exists nor a pattern: {}. Wildcards are *, **, ?, [a-z] and {{a,b}}; a backslash takes their meaning away.",
                shown(path),
                error.cause
            ))
        })
    });
    globs.collect()
}

/// `a{b,c}d` → `abd`, `acd`, for the first pair of braces without others in it; `None`: there is no such pair.
fn alternatives(pattern: &str) -> Option<Vec<String>> {
    let close = pattern.find('}')?;
    let open = pattern[..close].rfind('{')?;
    let (before, after) = (&pattern[..open], &pattern[close + 1..]);
    let words = pattern[open + 1..close].split(',');
    Some(words.map(|word| format!("{before}{word}{after}")).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(path: &str, folder: &str, yes: &[&str], no: &[&str]) {
        let globs = globs(path).expect("wildcards").expect("a pattern");
        assert_eq!(globs.folder, folder);
        let is_match = |text: &&str| globs.globs.iter().any(|g| g.is_match(text.as_bytes()));
        assert!(yes.iter().all(is_match), "{path} misses one of {yes:?}");
        assert!(!no.iter().any(is_match), "{path} finds one of {no:?}");
    }

    #[test]
    fn a_folder_and_patterns_below_it() {
        check("src/**/*.h", "src", &["a.h", "x/a.h"], &["a.c"]);
        check("src/*.{c,h}", "src", &["a.c", "a.h"], &["a.o", "x/a.c"]);
        check("*.rs", ".", &["a.rs", "x/a.rs"], &["a.c"]);
        check("./*.rs", ".", &["a.rs"], &["x/a.rs"]);
        check("/ws/a/?", "/ws/a", &["b"], &["bc"]);
        check("/*", "/", &["a"], &["a/b"]);
        check("a/{b,c{d,e}}/f", "a", &["b/f", "cd/f", "ce/f"], &["c/f"]);
        check("{a,b}", ".", &["a", "x/b"], &["c"]);
        check("a}/{b}", "a}", &["b"], &["{b}"]);
    }

    #[test]
    fn how_deep_they_reach() {
        let depth = |path| globs(path).expect("wildcards").expect("a pattern").depth;
        assert_eq!(depth("src/*.rs"), Some(1));
        assert_eq!(depth("src/*/{a,b}"), Some(2));
        assert_eq!(depth("*.rs"), None);
        assert_eq!(depth("src/**/a"), None);
    }

    #[test]
    fn what_has_no_wildcard_or_is_no_pattern() {
        assert!(globs("src/a.rs").is_none());
        assert!(globs("a{b").is_none());
        let refused = |path: &str| globs(path).expect("wildcards").expect_err("no pattern").0;
        assert_eq!(
            refused("a/[b"),
            "`a/[b` is neither a path that exists nor a pattern: `[` has no `]`. Wildcards are *, **, ?, [a-z] and {a,b}; \
             a backslash takes their meaning away."
        );
        let six = "{a,b}".repeat(6);
        assert_eq!(globs(&six).expect("wildcards").expect("64").globs.len(), 64);
        assert_eq!(
            refused(&format!("{six}{{c,d}}")),
            format!(
                "the braces in `{six}{{c,d}}` make more than 64 patterns. Use a simpler path, such as src/**/*.rs."
            )
        );
    }
}
