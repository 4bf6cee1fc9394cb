//! House rules as tests: layers, unsafe, environment, file size, module docs, whitespace, one package.
//!
//! Each rule is a function from the tree to a list of `file:line: text`; a rule fails with that list.

use std::fs;
use std::path::{Path, PathBuf};

/// Layers from the ground up (lib.rs and design). A file may use lower rows and its own folder, not its neighbors in a row.
const LAYERS: &[&[&str]] = &[
    &["sys"],
    &["text", "sha256", "sort"],
    &["json", "http", "lines", "regex", "ignore", "diff"],
    &["protocol"],
    &["policy"],
    &["model", "tools", "session", "undo", "guidance"],
    &["engine"],
    &["headless", "standin"],
    &["config"],
    &["commands"],
];

/// The only files that may say `unsafe`.
const UNSAFE: &[&str] = &["src/sys/ffi.rs", "src/sys/simd.rs", "src/sys/simd/x86.rs"];

/// Non-test lines above which a file must be split (style 2.9); tables are exempt.
const MAX_LINES: usize = 800;
const TABLES: &[&str] = &[];

pub(crate) fn sources(folder: &str) -> Vec<(String, String)> {
    fn walk(path: &Path, out: &mut Vec<PathBuf>) {
        for entry in fs::read_dir(path).expect("folder of the tree") {
            let path = entry.expect("entry of the tree").path();
            if path.is_dir() {
                walk(&path, out);
            } else if path.extension().is_some_and(|e| e == "rs") {
                out.push(path);
            }
        }
    }
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let mut paths = Vec::new();
    walk(&root.join(folder), &mut paths);
    paths.sort();
    paths
        .into_iter()
        .map(|path| {
            let name = path.strip_prefix(root).expect("below the root");
            let name = name.to_str().expect("UTF-8 name").to_string();
            (name, fs::read_to_string(&path).expect("UTF-8 source"))
        })
        .collect()
}

/// Lines that are code: comment lines may name anything.
fn code_lines(source: &str) -> impl Iterator<Item = (usize, &str)> {
    let lines = source.lines().enumerate();
    lines
        .map(|(i, line)| (i + 1, line))
        .filter(|(_, line)| !line.trim_start().starts_with("//"))
}

/// The line without what stands in its string literals: words of other languages are data, not code.
fn without_strings(line: &str) -> String {
    let (mut out, mut inside, mut escaped) = (String::new(), false, false);
    for character in line.chars() {
        match character {
            '"' if !escaped => inside = !inside,
            _ if inside => {}
            other => out.push(other),
        }
        escaped = inside && character == '\\' && !escaped;
    }
    out
}

fn layer(module: &str) -> Option<usize> {
    LAYERS.iter().position(|row| row.contains(&module))
}

/// `src/http/client.rs` → `http`; `src/lib.rs` and `src/main.rs` belong to no layer.
fn module_of(name: &str) -> Option<&str> {
    let rest = name.strip_prefix("src/")?;
    let first = rest.split('/').next()?;
    let module = first.strip_suffix(".rs").unwrap_or(first);
    (module != "lib" && module != "main").then_some(module)
}

fn words_after<'a>(line: &'a str, mark: &str) -> Vec<&'a str> {
    line.match_indices(mark)
        .map(|(i, _)| {
            let rest = &line[i + mark.len()..];
            let end = rest.find(|c: char| !c.is_alphanumeric() && c != '_');
            &rest[..end.unwrap_or(rest.len())]
        })
        .collect()
}

#[track_caller]
fn report(rule: &str, faults: Vec<String>) {
    assert!(faults.is_empty(), "{rule}:\n{}", faults.join("\n"));
}

#[test]
fn a_file_uses_lower_layers_and_its_own_folder_only() {
    let mut faults = Vec::new();
    for (name, source) in sources("src") {
        let Some(own) = module_of(&name) else {
            continue;
        };
        let Some(rank) = layer(own) else {
            faults.push(format!("{name}: module `{own}` has no layer"));
            continue;
        };
        for (number, line) in code_lines(&source) {
            for used in words_after(&without_strings(line), "crate::") {
                if used.is_empty() || used == own || used == "bug" {
                    continue;
                }
                match layer(used) {
                    Some(below) if below < rank => {}
                    _ => faults.push(format!("{name}:{number}: `{own}` uses `{used}`")),
                }
            }
            // One `super::super` from a file in a folder reaches the crate root: the same thing by another name.
            if line.contains("super::super") {
                faults.push(format!(
                    "{name}:{number}: write `crate::` for `super::super`"
                ));
            }
        }
    }
    report("layers", faults);
}

#[test]
fn unsafe_occurs_in_two_files_only() {
    let mut faults = Vec::new();
    for (name, source) in sources("src").into_iter().chain(sources("tests")) {
        if UNSAFE.contains(&name.as_str()) || name == "tests/tidy.rs" {
            continue;
        }
        for (number, line) in code_lines(&source) {
            let code = without_strings(line);
            let has = code.split(|c: char| !c.is_alphanumeric() && c != '_');
            if has.into_iter().any(|word| word == "unsafe") {
                faults.push(format!("{name}:{number}: {}", line.trim()));
            }
        }
    }
    report("unsafe", faults);
}

#[test]
fn only_sys_knows_the_operating_system() {
    let mut faults = Vec::new();
    for (name, source) in sources("src") {
        for (number, line) in code_lines(&source) {
            if line.contains("target_os") && !name.starts_with("src/sys/") {
                faults.push(format!("{name}:{number}: target_os outside sys"));
            }
            let reads = ["env::var", "env::vars", "env::args"];
            if reads.iter().any(|read| line.contains(read)) && name != "src/config/env.rs" {
                faults.push(format!(
                    "{name}:{number}: environment read outside config/env.rs"
                ));
            }
            if line.contains("set_current_dir") {
                faults.push(format!("{name}:{number}: set_current_dir"));
            }
            if line.contains("println!") || line.contains("eprint!") || line.contains(" print!") {
                faults.push(format!(
                    "{name}:{number}: print macros panic on a closed pipe"
                ));
            }
        }
    }
    report("operating system", faults);
}

#[test]
fn every_file_starts_with_a_module_doc_and_is_not_too_long() {
    let mut faults = Vec::new();
    for (name, source) in sources("src").into_iter().chain(sources("tests")) {
        if !source.starts_with("//! ") {
            faults.push(format!("{name}: no module doc"));
        }
        let body = source.split("#[cfg(test)]").next().unwrap_or(&source);
        let lines = body.lines().count();
        if lines > MAX_LINES && !TABLES.contains(&name.as_str()) && name.starts_with("src/") {
            faults.push(format!("{name}: {lines} lines, at most {MAX_LINES}"));
        }
        for (number, line) in source.lines().enumerate() {
            if line.ends_with(' ') || line.ends_with('\t') {
                faults.push(format!("{name}:{}: trailing blank", number + 1));
            }
        }
    }
    report("files", faults);
}

#[test]
fn the_lock_file_names_one_package() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let lock = fs::read_to_string(root.join("Cargo.lock")).expect("Cargo.lock");
    assert_eq!(lock.matches("[[package]]").count(), 1);
    let manifest = fs::read_to_string(root.join("Cargo.toml")).expect("Cargo.toml");
    assert!(
        !manifest.contains("dependencies]"),
        "Cargo.toml names dependencies"
    );
}
