//! The splitter beside the shells of this machine: random scripts that it claims to understand are run, with programs that only write
//! down their arguments, and every command that a shell started must be one of those that were listed.
//!
//! ```text
//! p 'a b' | q* && ! r~ 2>&1     dash, bash, zsh start: [p] [a b] · [q*] …       listed: [p] [a b], [q*], [r~]
//! ```

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use crate::support::cuts::Rng;
use crate::support::temp::Temp;
use zcoder::policy::shell::{self, RedirectKind, Script, Word};

/// Pieces of scripts. None of them loops, sources a file, or names a program of the machine.
#[rustfmt::skip] // a table
const PIECES: &[&str] = &[
    "p", "q", "r", "p ", "q ", "r ", "p a", "q 'b c'", "r \"d\"", " ", " ", " ", "\t", "\n", ";", "; ", " & ", " && ", " || ",
    " | ", "&", "&&", "||", "|", "(", ")", " { ", "; }", "! ", " if ", "; then ", "; else ", "; fi", "'", "\"", "''", "\\",
    "\\\n", " \\\n", "#", " # x", ">", ">> ", "< ", " 2>&1", " >/dev/null", " >&2", " &>", "|&", " <<E\nx '\nE\n",
    "<<'E'\n$(q)\nE\n", "$?", "$HOME", "\"$HOME\"", "~", "~/", "*", "?", "[a]", "[", "]", "a", "b c", "-x", "=", "A=1 ", "a=",
    "{a,b}", "{", "}", "`", "$(", "$X", "$'", "1", "12>f", "{n}>f", "%", "@", ":", ",", "é", "function ", "case ", "for ", " in ",
    "[[", "((", "time ", "exit ", "true", "false", "echo ", "cd .", "$", "$((", "${X:-p}", "<(", ";;", "!", "^", "coproc ",
    "select ", "+=", "a[", "2", ">|f", "<>f", "<<<a", "&>>f",
];

#[rustfmt::skip] // a table
const STARTS: &[&str] = &[
    "p", "q", "r", "p a", "q ", "! p", "(p", "{ q", "if p; then r", "A=1 p", "'p'", "\\q", "\"r\"", "p\t", "",
];
#[rustfmt::skip] // a table
const ARGUMENTS: &[&str] = &[
    " a", " 'b c'", " \"d\"", "'e'", "\"f \\\" g\"", " -x", " \\;", "\\ ", " *", " ~/x", " $?", " \"$HOME\"", " >/dev/null",
    " 2>&1", " 2>f", " <f", " #h", " a#b", " \\\n", " ''", " =", " a=b", " }", " if", " !", " {}", " é", " 'i\nj'",
    " <<E\nk\nE\n",
];
#[rustfmt::skip] // a table
const OPERATORS: &[&str] = &[
    "", ";", "; ", " & ", "&&", " && ", "||", " || ", "|", " | ", "\n", " )", "; }", "; fi", ")|", "; }&&", " &&\n", "\n\n",
];

/// A folder with three programs, and one to run in.
struct Stage {
    temp: Temp,
    runs: usize,
}

impl Stage {
    fn new() -> Stage {
        let temp = Temp::new();
        // `q` fails, so that `||` and `!` go both ways.
        for (name, code) in [("p", 0), ("q", 1), ("r", 0)] {
            let script = format!(
                "#!/bin/sh\ns=\nfor a in {name} \"$@\"; do s=\"$s$a\x1f\"; done\nprintf '%s\\036' \"$s\" >> \"$LOG\"\nexit {code}\n"
            );
            let path = temp.write(&format!("bin/{name}"), script);
            fs::set_permissions(path, fs::Permissions::from_mode(0o755)).expect("mode");
        }
        fs::create_dir(temp.path().join("home")).expect("home");
        Stage { temp, runs: 0 }
    }

    /// What a shell starts, and the files it makes.
    fn run(&mut self, shell: &[String], text: &str) -> (Vec<Vec<String>>, Vec<PathBuf>) {
        // A file of its own: what a subshell left in the background may still write.
        self.runs += 1;
        let log = self.temp.path().join(format!("log{}", self.runs));
        let work = self.temp.path().join("work");
        fs::write(&log, "").expect("log");
        let _ = fs::remove_dir_all(&work); // the first time there is none
        fs::create_dir(&work).expect("work");
        let status = Command::new(&shell[0])
            .args(&shell[1..])
            .args(["-c", &format!("{text}\nwait\n")])
            .current_dir(&work)
            .env_clear()
            .env("PATH", self.temp.path().join("bin"))
            .env("LOG", &log)
            .env("HOME", self.temp.path().join("home"))
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .status();
        status.expect("a shell");
        let log = fs::read_to_string(&log).expect("log");
        let started = log.split_terminator('\x1e').map(|argv| {
            let words = argv.split_terminator('\x1f');
            words.map(str::to_string).collect()
        });
        let made = fs::read_dir(&work)
            .expect("work")
            .map(|entry| entry.expect("entry").file_name().into());
        (started.collect(), made.collect())
    }
}

/// Those of this machine.
fn shells() -> Vec<Vec<String>> {
    let candidates: &[&[&str]] = &[
        &["/bin/sh"],
        &["/usr/bin/dash"],
        &["/usr/bin/bash"],
        &["/usr/bin/bash", "--posix"],
        &["/usr/bin/zsh", "--emulate", "sh", "-f"],
        &["/usr/bin/busybox", "sh"],
    ];
    let there = candidates
        .iter()
        .filter(|words| Path::new(words[0]).exists());
    there
        .map(|words| words.iter().map(ToString::to_string).collect())
        .collect()
}

/// Whether the word may be what the program got.
fn fits(word: &Word, actual: &str) -> bool {
    let expands = word.home || word.text.contains('$');
    expands || word.text == actual
}

fn listed(script: &Script, argv: &[String]) -> bool {
    script.commands.iter().any(|simple| {
        let mut words = simple.words.iter();
        let mut actual = argv.iter();
        loop {
            match (words.next(), actual.next()) {
                (None, None) => return true,
                // It may have become any number of names.
                (Some(word), _) if word.glob.is_some() => return true,
                (Some(word), Some(actual)) if fits(word, actual) => {}
                (Some(_) | None, Some(_) | None) => return false,
            }
        }
    })
}

/// Commands with arguments and operators, and now and then any piece at all.
fn script(rng: &mut Rng) -> String {
    let mut text = String::new();
    for _ in 0..=rng.below(4) {
        text.push_str(STARTS[rng.below(STARTS.len())]);
        for _ in 0..rng.below(4) {
            let pieces = if rng.below(3) == 0 { PIECES } else { ARGUMENTS };
            text.push_str(pieces[rng.below(pieces.len())]);
        }
        text.push_str(OPERATORS[rng.below(OPERATORS.len())]);
    }
    text
}

/// Runs `count` understood scripts; returns how many were tried.
fn compare(seed: u64, count: usize) -> usize {
    let (mut stage, shells) = (Stage::new(), shells());
    let mut rng = Rng::new(seed);
    let mut tried = 0;
    let mut understood = 0;
    let mut started = 0;
    while understood < count {
        tried += 1;
        let text = script(&mut rng);
        let script = shell::read(&text);
        if !script.doubts.is_empty() {
            continue;
        }
        understood += 1;
        for shell in &shells {
            let (ran, made) = stage.run(shell, &text);
            started += ran.len();
            for argv in ran {
                assert!(
                    listed(&script, &argv),
                    "{shell:?} started {argv:?} of {text:?}; listed: {:?}",
                    script.commands
                );
            }
            for file in made {
                let mut writes = script
                    .commands
                    .iter()
                    .flat_map(|simple| &simple.redirects)
                    .filter(|redirect| match redirect.kind {
                        RedirectKind::Write | RedirectKind::ReadWrite => true,
                        RedirectKind::Read | RedirectKind::Duplicate | RedirectKind::Here => false,
                    });
                assert!(
                    writes.any(|redirect| fits(&redirect.target, &file.to_string_lossy())),
                    "{shell:?} made {file:?} of {text:?}"
                );
            }
        }
    }
    assert!(
        started > count,
        "only {started} programs were started by {count} scripts"
    );
    tried
}

#[test]
fn what_is_understood_is_what_shells_start() {
    compare(1, 40);
}

/// `cargo test --test main policy::shells -- --ignored`
#[test]
#[ignore = "takes minutes"]
fn helper_many_scripts() {
    for seed in 2..22 {
        compare(seed, 1_000);
    }
}
