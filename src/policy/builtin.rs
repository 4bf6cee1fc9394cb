//! What needs no rule: commands that change nothing, start nothing, and read nothing but the workspace. In: a simple command and the
//! folders it may run in. Out: why it needs none, or nothing.
//!
//! ```text
//! cd src    echo "done $?"    true    false    :    pwd    set -e    exit 1        change nothing beyond this command
//! head -5    tail -n +2    wc -l    cut -d: -f1    tr a-z A-Z    grep -v x          read what a pipe gives them
//! find src -name '*.c'    sed -n '1,40p' src/a.c                                     only look
//! cat a.c    ls -la src    grep -rn TODO src    wc -l src/a.c                      read files that read_file may read
//! ```
//!
//! Not so: a path that leads out, also by a link; a pattern that may find a link out, or a name that is an option; options that are not
//! listed here; redirections to files; assignments. Programs are found by PATH: where that has a folder of the workspace, nothing is built in.
//!
//! Invariant: nothing of git is here, whose settings in the folder name programs that it starts.
//! Invariant: what these commands read, the reading tools may read unasked.

use super::place::Place;
use super::programs;
use super::shell::{Glob, RedirectKind, Simple, Word};
use crate::text::Words;

/// A program that reads, by its options.
struct Reader {
    name: &'static str,
    /// Letters without a value.
    flags: &'static str,
    /// Letters with one.
    values: &'static str,
    /// Long options that change neither what is read nor where it goes.
    long: Words,
    operands: Operands,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Operands {
    Files,
    /// A pattern first, unless `-e` gave it.
    PatternThenFiles,
    /// None is a file.
    Sets,
}

#[rustfmt::skip] // a table
const READERS: &[Reader] = &[
    Reader { name: "head", flags: "qvz0123456789", values: "nc", long: Words("--quiet --silent --verbose"), operands: Operands::Files },
    Reader { name: "tail", flags: "qvz0123456789", values: "nc", long: Words("--quiet --silent --verbose"), operands: Operands::Files },
    Reader { name: "wc", flags: "lwcmL", values: "", long: Words("--lines --words --bytes --chars --max-line-length"), operands: Operands::Files },
    Reader { name: "cut", flags: "snz", values: "bcdf", long: Words("--complement --only-delimited"), operands: Operands::Files },
    Reader { name: "tr", flags: "cCdst", values: "", long: Words("--complement --delete --squeeze-repeats --truncate-set1"), operands: Operands::Sets },
    Reader { name: "cat", flags: "AbeEnstTuv", values: "", long: Words("--number --number-nonblank --show-all --show-ends \
        --show-tabs --squeeze-blank"), operands: Operands::Files },
    Reader { name: "ls", flags: "aAbBcCdfFgGhiklmnNopqQrRsStuUvxXZ1", values: "ITw", operands: Operands::Files, long: Words("--all \
        --almost-all --color --directory --classify --full-time --group-directories-first --human-readable --inode --recursive \
        --reverse --size") },
    // Not `-R`, which follows links out; not `-f`, which reads patterns from a file.
    Reader { name: "grep", flags: "cEFGHhilLnoPqrsvwxyzaZ0123456789", values: "eABCm", operands: Operands::PatternThenFiles, long: Words("--recursive \
        --line-number --ignore-case --count --color --include --exclude --exclude-dir --word-regexp --line-regexp \
        --fixed-strings --extended-regexp --perl-regexp --basic-regexp --files-with-matches --files-without-match --no-messages \
        --invert-match --only-matching --quiet --no-filename --with-filename --text --context --before-context --after-context \
        --max-count --byte-offset --null") },
];

/// Long options of [`READERS`] whose value may be the next word.
const LONG_VALUES: Words = Words(
    "--include --exclude --exclude-dir --context --before-context --after-context --max-count",
);

/// Tests and actions of find that only look, and their joints.
#[rustfmt::skip] // a table
const LOOKING: Words = Words("-name -iname -path -ipath -wholename -regex -iregex -type -size -empty -mtime -mmin -newer \
        -maxdepth -mindepth -depth -prune -print -print0 -printf -ls -quit -not ! -o -or -a -and ( )");

/// Why the command needs no rule.
pub(super) fn neutral(simple: &Simple, place: &Place) -> Option<&'static str> {
    if !simple.assignments.is_empty() || !harmless_redirects(simple, place) {
        return None;
    }
    if simple.words.is_empty() && !simple.redirects.is_empty() {
        // `{ …; } 2>&1`: of what stands in the braces.
        return Some("changes nothing");
    }
    let (name, arguments) = simple.words.split_first()?;
    if !name.is_literal() || simple.words.iter().any(|word| word.unknown) {
        return None;
    }
    match name.text.as_str() {
        "cd" => cd(arguments, place).then_some("stays in the workspace"),
        "echo" => {
            let plain = |word: &Word| word.glob.is_none() && !word.text.starts_with('~');
            arguments.iter().all(plain).then_some("only prints")
        }
        "true" | "false" | ":" | "pwd" if arguments.is_empty() => Some("changes nothing"),
        "exit" => {
            let number =
                |word: &Word| word.text.bytes().all(|b| b.is_ascii_digit()) || word.text == "$?";
            (arguments.len() <= 1 && arguments.iter().all(number)).then_some("changes nothing")
        }
        "sed" => prints_lines(simple, place).then_some("only reads the workspace"),
        "find" if place.has_closed() => None,
        "find" => lists_names(arguments, place).then_some("only reads the workspace"),
        "set" => is_strict_mode(arguments).then_some("changes nothing"),
        other => {
            let reader = READERS.iter().find(|reader| reader.name == other)?;
            let goes_on =
                place.has_closed() && arguments.iter().any(|word| is_recursive(reader, word));
            reads_inside(reader, arguments, place).filter(|_| !goes_on)
        }
    }
}

/// Whether the redirections lead nowhere, to another descriptor, or from a file of the workspace.
pub(super) fn harmless_redirects(simple: &Simple, place: &Place) -> bool {
    simple.redirects.iter().all(|redirect| {
        let target = &redirect.target;
        match redirect.kind {
            RedirectKind::Duplicate => true,
            RedirectKind::Write => target.is_literal() && target.text == "/dev/null",
            RedirectKind::Read => target.is_literal() && place.leaves(target).is_none(),
            RedirectKind::ReadWrite | RedirectKind::Here => false,
        }
    })
}

/// One folder inside the workspace, without a link on the way.
fn cd(arguments: &[Word], place: &Place) -> bool {
    let target = match arguments {
        [target] if !target.text.starts_with('-') => target,
        [dashes, target] if dashes.text == "--" && !target.text.starts_with('-') => target,
        _ => return false,
    };
    let mut folders = place.changed(&target.text).into_iter();
    target.is_literal() && !target.text.is_empty() && folders.all(|to| place.may_enter(&to))
}

/// `set -e`, `-eu`, `-euo pipefail`, `-x`: only ends the script earlier, or says more.
fn is_strict_mode(arguments: &[Word]) -> bool {
    let mut words = arguments.iter().map(|word| word.text.as_str());
    while let Some(word) = words.next() {
        let letters = word.strip_prefix('-').unwrap_or_default();
        if letters.is_empty() || !letters.chars().all(|c| "euxo".contains(c)) {
            return false;
        }
        for _ in letters.matches('o') {
            if words.next() != Some("pipefail") {
                return false;
            }
        }
    }
    !arguments.is_empty()
}

/// `sed -n '1,40p' file`: a script that neither writes nor runs (`programs`), and files inside.
fn prints_lines(simple: &Simple, place: &Place) -> bool {
    let script = programs::pattern(&simple.words);
    let inside = |(at, word): (usize, &Word)| {
        let path = Some(at) != script && !word.text.starts_with('-');
        word.glob != Some(Glob::Leading) && !word.home && (!path || is_inside(word, place))
    };
    script.is_some()
        && programs::exec_option(&simple.words, 1).is_none()
        && simple.words.iter().enumerate().skip(1).all(inside)
}

/// `find src -name '*.c' -type f`: tests that only look, below folders that are inside.
fn lists_names(arguments: &[Word], place: &Place) -> bool {
    arguments.iter().all(|word| {
        let test = word.text.starts_with(['-', '!', '(', ')']);
        (!test || LOOKING.contains(&word.text)) && is_inside(word, place)
    })
}

/// A file, or a pattern for files, that does not lead out and cannot become an option.
fn is_inside(word: &Word, place: &Place) -> bool {
    let plain = !word.home && !word.variable && word.glob != Some(Glob::Leading);
    plain && place.leaves(word).is_none()
}

fn reads_inside(reader: &Reader, arguments: &[Word], place: &Place) -> Option<&'static str> {
    let mut operands = Vec::new();
    let mut pattern_given = false;
    let mut words = arguments.iter();
    while let Some(word) = words.next() {
        let text = word.text.as_str();
        if text == "--" {
            operands.extend(words.by_ref());
        } else if text.starts_with("--") {
            // An option whose value may follow as a word of its own must have it behind `=`: otherwise it could be taken for a file,
            // or a file for it.
            let option = text.split('=').next().unwrap_or(text);
            let whole = !LONG_VALUES.contains(text);
            if !reader.long.contains(option) || !whole {
                return None;
            }
        } else if let Some(letters) = text.strip_prefix('-').filter(|letters| !letters.is_empty()) {
            for (at, letter) in letters.char_indices() {
                if reader.values.contains(letter) {
                    pattern_given |= letter == 'e';
                    if at + letter.len_utf8() == letters.len() {
                        // A pattern of the shell here would be several words.
                        words.next().filter(|value| value.glob.is_none())?;
                    }
                    break;
                }
                if !reader.flags.contains(letter) {
                    return None;
                }
            }
        } else {
            operands.push(word);
        }
        if word.glob.is_some() && text.starts_with('-') {
            return None;
        }
    }
    let files = match reader.operands {
        Operands::Sets if operands.iter().any(|word| word.glob.is_some()) => return None,
        Operands::Sets => &[],
        Operands::PatternThenFiles if !pattern_given => {
            // Unquoted `foo*`: a file's name could come instead, and then another file be the pattern.
            let first = operands.split_first();
            first.filter(|(pattern, _)| pattern.glob.is_none())?.1
        }
        Operands::PatternThenFiles | Operands::Files => &operands[..],
    };
    if !files.iter().all(|word| is_inside(word, place)) {
        return None;
    }
    let reads_files = !files.is_empty()
        || reader.name == "ls"
        || arguments.iter().any(|word| is_recursive(reader, word));
    Some(match reads_files {
        true => "only reads the workspace",
        false => "only reads what it is given",
    })
}

/// `grep -r` without a file reads the current folder, `ls -R` what lies below it.
fn is_recursive(reader: &Reader, word: &Word) -> bool {
    let letter = match reader.name {
        "grep" => 'r',
        "ls" => 'R',
        _ => return false,
    };
    let letters = word.text.strip_prefix('-').unwrap_or("");
    letters == "-recursive" || !letters.starts_with('-') && letters.contains(letter)
}
