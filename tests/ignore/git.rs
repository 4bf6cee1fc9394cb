//! The same verdicts as `git check-ignore`: on generated rules and paths, and on the cases of `fixtures/ignore/verdicts.txt`, which hold
//! where there is no git, too.

use super::walk::{files as walked, options};
use crate::support::temp::Temp;
use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::io::Write;
use std::path::Path;
use std::process::{Command, Stdio};

/// Files in the tree, and cases: the tree's files under ever other rules.
const PATHS: usize = 120;
const CASES: usize = 100 * PATHS;

fn git(folder: &Path) -> Command {
    let mut git = Command::new("git");
    git.current_dir(folder)
        .env("GIT_CONFIG_NOSYSTEM", "1")
        .env("GIT_CONFIG_GLOBAL", "/dev/null")
        .env("LC_ALL", "C");
    git
}

/// An empty repository in the folder; false, and said, where there is no git.
fn repository(folder: &Path) -> bool {
    let made = git(folder).args(["init", "-q"]).status();
    let made = made.is_ok_and(|status| status.success());
    if !made {
        let mut err = std::io::stderr().lock();
        let _ = writeln!(err, "SKIPPED: no git here, so nothing was compared with it");
    }
    made
}

/// Which of the files (relative paths) git does not ignore.
fn kept_by_git(root: &Path, files: &BTreeSet<Vec<u8>>) -> BTreeSet<Vec<u8>> {
    let mut child = git(root)
        .args(["check-ignore", "--no-index", "--stdin", "-z"])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .expect("git");
    let mut stdin = child.stdin.take().expect("stdin");
    let input: Vec<u8> = files
        .iter()
        .flat_map(|f| [&f[..], b"\0"].concat())
        .collect();
    let writer = std::thread::spawn(move || stdin.write_all(&input));
    let output = child.wait_with_output().expect("git");
    writer.join().expect("writer").expect("git reads");
    // 1: nothing is ignored.
    assert!(matches!(output.status.code(), Some(0 | 1)), "{output:?}");
    let ignored: BTreeSet<&[u8]> = output.stdout.split(|b| *b == 0).collect();
    let kept = files.iter().filter(|file| !ignored.contains(&file[..]));
    kept.cloned().collect()
}

struct Random(u64);

impl Random {
    fn below(&mut self, bound: usize) -> usize {
        self.0 = self
            .0
            .wrapping_mul(6364136223846793005)
            .wrapping_add(1442695040888963407);
        (self.0 >> 33) as usize % bound
    }

    fn pick<'a>(&mut self, choices: &[&'a str]) -> &'a str {
        choices[self.below(choices.len())]
    }
}

const NAMES: &[&str] = &[
    "a", "b", "ab", "abc", "a.o", "b.c", "foo", "bar", "foobar", "foo.bar", " x", "x ", "[a]", "*",
    "\\x", "#a", "!a", "é", "A", "a-b", "]", "a]", "x\ty", "0", "z9", "-", "^", "a\\",
];

const PIECES: &[&str] = &[
    "*",
    "*",
    "*",
    "?",
    "**",
    "/",
    "/",
    "/",
    "a",
    "a",
    "b",
    "c",
    ".o",
    ".c",
    "[ab]",
    "[!a]",
    "[^b]",
    "[a-c]",
    "[]a]",
    "[!]]",
    "[[:alpha:]]",
    "[[:digit:]x]",
    "[[:space:]]",
    "[[:punct:]]",
    "[a-",
    "[--z]",
    "[a\\]b]",
    "[\\a-c]",
    "[[:x:]]",
    "[[:alpha:",
    "[[]",
    "\\*",
    "\\a",
    "\\",
    "#",
    "!",
    " ",
    "foo",
    "bar",
    "**/",
    "/**",
    "/**/",
    "[",
    "]",
    "\\ ",
    "é",
    "-",
    "x",
    "\\#",
    "\t",
];

fn pattern(random: &mut Random) -> String {
    let mut text = String::new();
    if random.below(6) == 0 {
        text.push('!');
    }
    if random.below(8) == 0 {
        // A real name, or part of a path, so that rules without wildcards match often enough.
        text.push_str(random.pick(NAMES));
        if random.below(2) == 0 {
            text.push('/');
            text.push_str(random.pick(NAMES));
        }
    }
    for _ in 0..1 + random.below(5) {
        text.push_str(random.pick(PIECES));
    }
    text.push_str(random.pick(&["", "", "", "", "/", "/", " ", "  ", "\r", "\\ ", "\t", "/ "]));
    text
}

fn rules(random: &mut Random, most: usize) -> String {
    let lines = (0..1 + random.below(most)).map(|_| pattern(random));
    let lines: Vec<String> = lines.filter(|line| !is_misread(line)).collect();
    let end = random.pick(&["\n", "\n", "", "\r\n"]);
    lines.join("\n") + end
}

/// Rules that git reads otherwise than its manual says: it cuts off what stands before the first wildcard, and then takes `**/` for the
/// beginning of the pattern (`ab**/c` finds `abc`).
fn is_misread(line: &str) -> bool {
    let line = line.trim_start_matches('!');
    let plain = line.split(['*', '?', '[', '\\']).next().unwrap_or_default();
    line[plain.len()..].starts_with("**") && !plain.is_empty() && !plain.ends_with('/')
}

#[test]
fn generated_rules_get_the_verdicts_of_git() {
    let temp = Temp::new();
    let root = temp.path();
    if !repository(root) {
        return;
    }
    let mut random = Random(20260821);
    let mut files = BTreeSet::new();
    let mut folders = BTreeSet::new();
    while files.len() < PATHS {
        let names: Vec<&str> = (0..1 + random.below(4))
            .map(|_| random.pick(NAMES))
            .collect();
        let path = names.join("/");
        let parent = Path::new(&path).parent().expect("parent").to_path_buf();
        // A file may stand where a folder would have to.
        if fs::create_dir_all(root.join(&parent)).is_ok() && fs::write(root.join(&path), "").is_ok()
        {
            files.insert(path.into_bytes());
            folders.insert(parent);
        }
    }
    let folders: Vec<_> = folders.into_iter().collect();
    let (mut kept, mut wrong) = (0, Vec::new());
    for _ in 0..CASES / PATHS {
        let places = [".gitignore", ".git/info/exclude"];
        let place = root.join(places[random.below(2)]);
        let mut written = BTreeMap::from([(place, rules(&mut random, 4))]);
        for _ in 0..random.below(4) {
            let folder = &folders[random.below(folders.len())];
            written.insert(root.join(folder).join(".gitignore"), rules(&mut random, 3));
        }
        for (file, text) in &written {
            fs::write(file, text).expect("rules");
        }
        let theirs = kept_by_git(root, &files);
        let mut walk = options(root);
        walk.hidden = true;
        let ours = walked(root, walk)
            .into_iter()
            .filter(|file| !file.ends_with(b".gitignore"));
        let ours: BTreeSet<Vec<u8>> = ours.collect();
        kept += theirs.len();
        wrong.extend(ours.symmetric_difference(&theirs).map(|path| {
            let path = String::from_utf8_lossy(path).into_owned();
            let kept = theirs.contains(path.as_bytes());
            format!("{path:?} is kept by git: {kept}; {written:?}")
        }));
        for file in written.keys() {
            fs::remove_file(file).expect("rules");
        }
    }
    assert!(
        wrong.is_empty(),
        "{} of {CASES} differ:\n{}",
        wrong.len(),
        wrong[..wrong.len().min(10)].join("\n")
    );
    assert!(
        kept > CASES / 20 && kept < CASES * 19 / 20,
        "one-sided: {kept} of {CASES} kept"
    );
}

/// One case of the fixture.
#[derive(Default)]
struct Case {
    title: String,
    rules: BTreeMap<String, String>,
    ignored: BTreeSet<Vec<u8>>,
    kept: BTreeSet<Vec<u8>>,
}

fn cases(text: &str) -> Vec<Case> {
    let real = |text: &str| {
        let text = text.replace('\u{2420}', " ").replace('\u{240d}', "\r");
        text.replace('\u{2409}', "\t").replace('\u{240a}', "\n")
    };
    let mut cases: Vec<Case> = Vec::new();
    for line in text.lines() {
        if let Some(title) = line.strip_prefix("= ") {
            let title = title.to_string();
            cases.push(Case {
                title,
                ..Case::default()
            });
        } else if let Some(case) = cases.last_mut() {
            if let Some(path) = line.strip_prefix("- ") {
                case.ignored.insert(real(path).into_bytes());
            } else if let Some(path) = line.strip_prefix("+ ") {
                case.kept.insert(real(path).into_bytes());
            } else if let Some((file, rule)) = line.split_once("| ") {
                let rules = case.rules.entry(file.to_string()).or_default();
                rules.push_str(&real(rule));
                rules.push('\n');
            } else {
                assert_eq!(line, "", "a line of no kind in {}", case.title);
            }
        }
    }
    cases
}

#[test]
fn the_cases_of_the_fixture() {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/fixtures/ignore/verdicts.txt");
    let cases = cases(&fs::read_to_string(path).expect("fixture"));
    assert_eq!(cases.len(), 18);
    for case in &cases {
        let temp = Temp::new();
        let root = temp.path();
        // Where there is no git, our side needs the folder all the same.
        let has_git = repository(root);
        fs::create_dir_all(root.join(".git/info")).expect("folder");
        let files: BTreeSet<Vec<u8>> = case.ignored.union(&case.kept).cloned().collect();
        for file in &files {
            temp.write(std::str::from_utf8(file).expect("UTF-8"), "");
        }
        for (file, rules) in &case.rules {
            temp.write(file, rules);
        }
        if has_git {
            let theirs = kept_by_git(root, &files);
            assert_eq!(theirs, case.kept, "{}: git", case.title);
        }
        let ours: BTreeSet<Vec<u8>> = walked(root, options(root)).into_iter().collect();
        assert_eq!(ours, case.kept, "{}", case.title);
    }
}
