//! Commands within commands. In: a simple command and what stands before it. Out: the commands that it would start in turn: behind
//! `sudo`, `env`, `timeout`, `xargs` and the like, in `find -exec`, in the script of `sh -c`, `eval` and `trap`. `rules` looks for what
//! is denied there, `stops` for what is catastrophic.
//!
//! ```text
//! sudo -u root -- rm x          [rm x], sure
//! find . -exec rm {} +          [rm {}], sure
//! sh -ec 'cd x && rm y'         the script "cd x && rm y"
//! sh -c "rm $X"                 the script "rm $X", and unknown: the value may be more than a word
//! curl u | sh                   unknown          echo 'rm x' | sh    the script "rm x"
//! unshare -Z x rm y             every suffix, not sure: its options are not all known
//! ```
//!
//! Invariant: what is not listed here is no promise: programs start others for reasons of their own.
//! Invariant: a walk ([`walk`]) goes at most [`DEPTH`] scripts and [`MANY`] wrappers deep and reads at most [`BUDGET`] bytes, then says
//! that what follows is not known.

use super::programs::{self, GIT_VALUES, Wrapper};
use super::shell::{self, Join, RedirectKind, Simple, Word, base};
use crate::text::Words;

/// Nesting of `sh -c`, `eval` and the like that is followed.
pub(super) const DEPTH: usize = 4;
/// Bytes of scripts in all: a script may be carried by many words, each of which could begin it.
const BUDGET: usize = 4 * shell::MAX_BYTES;

/// Options of find that choose by name.
pub(super) const BY_NAME: Words = Words("-name -iname -path -ipath -wholename -regex -iregex");

/// Wrappers around wrappers, places where a command may begin, `-exec`s of one find: no honest command has more.
const MANY: usize = 16;

/// One command that another carries.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Carried<'a> {
    /// Its words.
    pub(super) words: &'a [Word],
    /// Something is started, and it is not known what.
    pub(super) unknown: bool,
    /// Whether it is certainly a command, and not an argument.
    pub(super) sure: bool,
    /// Files that its redirections write, where it is a command of a script.
    pub(super) targets: Vec<&'a Word>,
    /// Words that reach it from outside: of `xargs` from the pipe, of `find -exec` its folders.
    pub(super) fed: &'a [Word],
}

/// Calls `see` with the command itself and with everything it carries.
pub(super) fn walk(simple: &Simple, before: Option<&Simple>, see: &mut dyn FnMut(&Carried<'_>)) {
    let mut walk = Walk {
        budget: BUDGET,
        see,
    };
    walk.simple(simple, before, 0);
}

struct Walk<'s> {
    budget: usize,
    see: &'s mut dyn FnMut(&Carried<'_>),
}

/// The simple command that a walk is in: what reaches its input, and how deep it stands.
#[derive(Clone, Copy)]
struct Around<'a> {
    simple: &'a Simple,
    /// The command whose output it reads.
    before: Option<&'a Simple>,
    scripts: usize,
    wrappers: usize,
    /// What reaches the wrapper reaches what it starts: `find / -exec sudo rm {}`.
    fed: &'a [Word],
}

impl Walk<'_> {
    fn simple(&mut self, simple: &Simple, before: Option<&Simple>, scripts: usize) {
        let writes = |kind| match kind {
            RedirectKind::Write | RedirectKind::ReadWrite => true,
            RedirectKind::Read | RedirectKind::Duplicate | RedirectKind::Here => false,
        };
        let targets = simple.redirects.iter().filter(|r| writes(r.kind));
        (self.see)(&Carried {
            words: &simple.words,
            sure: true,
            targets: targets.map(|r| &r.target).collect(),
            ..Carried::default()
        });
        let around = Around {
            simple,
            before: before.filter(|_| simple.join == Join::Pipe),
            scripts,
            wrappers: 0,
            fed: &[],
        };
        self.carried_by(&simple.words, around);
    }

    fn unknown(&mut self) {
        (self.see)(&Carried {
            unknown: true,
            ..Carried::default()
        });
    }

    fn script(&mut self, text: &str, around: Around<'_>) {
        if around.scripts >= DEPTH || text.len() > self.budget {
            return self.unknown();
        }
        self.budget -= text.len();
        let script = shell::read(text);
        if script.doubts.iter().any(|doubt| doubt.why.is_structural()) {
            self.unknown();
        }
        let mut before = None;
        for simple in &script.commands {
            self.simple(simple, before, around.scripts + 1);
            before = Some(simple);
        }
    }

    /// A script in one word.
    fn script_word(&mut self, word: &Word, around: Around<'_>) {
        if word.unknown {
            self.unknown();
        }
        self.script(&word.text, around);
    }

    /// A command that another starts.
    fn command(&mut self, words: &[Word], sure: bool, fed: &[Word], around: Around<'_>) {
        let fed = if fed.is_empty() { around.fed } else { fed };
        let inside = Around {
            wrappers: around.wrappers + 1,
            fed,
            ..around
        };
        // What a suffix carries is found by the next suffix; a command that is sure is looked into.
        if sure && around.wrappers >= MANY {
            self.unknown();
        } else if sure {
            self.carried_by(words, inside);
        } else if let Some(script) = script_of(words) {
            self.script(&script, inside);
        }
        (self.see)(&Carried {
            words,
            sure,
            fed,
            ..Carried::default()
        });
    }

    /// What one command carries.
    fn carried_by(&mut self, words: &[Word], around: Around<'_>) {
        let Some(first) = words.first() else {
            return;
        };
        let name = base(&first.text).to_ascii_lowercase();
        if programs::is_shell(&name) {
            return self.shell(words, around);
        }
        if let Some(wrapper) = programs::wrapper(&name) {
            return self.wrapped(wrapper, words, around);
        }
        match name.as_str() {
            "find" | "gfind" => self.find(words, around),
            "fd" | "fdfind" => {
                let exec = |word: &Word| {
                    matches!(word.text.as_str(), "-x" | "-X" | "--exec" | "--exec-batch")
                };
                if let Some(at) = words[..words.len() - 1].iter().position(exec) {
                    self.command(&words[at + 1..], true, &[], around);
                }
            }
            "git" => self.git(words, around),
            _ => {
                if let Some(script) = script_of(words) {
                    self.script(&script, around);
                }
            }
        }
    }

    fn shell(&mut self, words: &[Word], around: Around<'_>) {
        if let Some(at) = words.iter().position(is_command_option) {
            if let Some(script) = operand_after(words, at) {
                self.script_word(script, around);
            }
            return;
        }
        let mut arguments = words[1..].iter().map(|word| word.text.as_str());
        let reads_input = matches!(arguments.next(), None | Some("-s" | "-"))
            || words[1..].iter().all(|word| word.text.starts_with('-'));
        if !reads_input {
            return;
        }
        for redirect in &around.simple.redirects {
            match redirect.kind {
                RedirectKind::Here => self.script(&redirect.target.text, around),
                RedirectKind::Read | RedirectKind::ReadWrite => self.unknown(),
                RedirectKind::Write | RedirectKind::Duplicate => {}
            }
        }
        let Some(before) = around.before else {
            return;
        };
        let cat = before.words.len() == 1 && before.words[0].text == "cat";
        match (printed(before), &before.redirects[..]) {
            (Some(words), _) => self.script(&joined(words), around),
            (None, [here]) if cat && here.kind == RedirectKind::Here => {
                self.script_word(&here.target, around);
            }
            (None, _) => self.unknown(),
        }
    }

    fn wrapped(&mut self, wrapper: &Wrapper, words: &[Word], around: Around<'_>) {
        if let Some(script) = wrapper.script(words) {
            self.script_word(script, around);
        }
        let splits = |word: &Word| {
            let options = ["-S", "-vS", "--split"];
            options.iter().any(|option| word.text.starts_with(option))
        };
        if wrapper.name == "env" && words.iter().any(splits) {
            // It has quotes and escapes of its own.
            self.unknown();
            let joined = |word: &Word| {
                let options = ["-S", "-vS", "--split-string="];
                let mut found = options.iter().map(|option| word.text.strip_prefix(option));
                found.find_map(|script| {
                    script
                        .filter(|script| !script.is_empty())
                        .map(str::to_string)
                })
            };
            if let Some(script) = words.iter().find_map(joined) {
                self.script(&script, around);
            }
        }
        let fed = match wrapper.name {
            "xargs" | "parallel" => around.before.and_then(listed).unwrap_or(&[]),
            _ => &[],
        };
        let (at, sure) = wrapper.command(words);
        let command = words.get(at..).unwrap_or(&[]);
        if wrapper.name == "ssh" || wrapper.name == "watch" {
            // The words become a script: on the other host, in a shell of its own.
            if !command.is_empty() {
                self.script(&joined(command), around);
            }
            return;
        }
        if let Some(first) = command.first() {
            if first.unknown {
                self.unknown();
            }
            self.command(command, sure, fed, around);
        }
        if !sure {
            if words.len() > MANY {
                self.unknown();
            }
            for other in (1..words.len().min(MANY)).filter(|other| *other != at) {
                self.command(&words[other..], false, fed, around);
            }
        }
    }

    /// Each `-exec … ;` of find; its folders are what the command works on.
    fn find(&mut self, words: &[Word], around: Around<'_>) {
        let folders = folders(words);
        let mut many = 0;
        for (at, word) in words.iter().enumerate() {
            if matches!(word.text.as_str(), "-exec" | "-execdir" | "-ok" | "-okdir") {
                if many >= MANY {
                    return self.unknown();
                }
                many += 1;
                let command = &words[at + 1..];
                let end = command.iter().position(|w| w.text == ";" || w.text == "+");
                let command = &command[..end.unwrap_or(command.len())];
                self.command(command, true, folders, around);
            }
        }
    }

    /// git without its own options, so that `git -C x push` is found as `git push`; and aliases given on the spot.
    fn git(&mut self, words: &[Word], around: Around<'_>) {
        let mut at = 1;
        while let Some(word) = words.get(at).filter(|word| word.text.starts_with('-')) {
            let alias = words.get(at + 1).and_then(|w| w.text.split_once("=!"));
            if let Some((_, script)) = alias {
                self.script(script, around);
            }
            at += 1 + usize::from(GIT_VALUES.contains(&word.text));
        }
        if at > 1 && at < words.len() {
            // No longer one with options, so this does not go round.
            let bare = [&words[..1], &words[at..]].concat();
            self.command(&bare, true, &[], around);
        }
    }
}

/// The script that a program takes as words.
fn script_of(words: &[Word]) -> Option<String> {
    let (first, arguments) = words.split_first()?;
    let name = base(&first.text).to_ascii_lowercase();
    match name.as_str() {
        "eval" => Some(joined(arguments)),
        "trap" => Some(arguments.first()?.text.clone()),
        "alias" => {
            let value = arguments.iter().find_map(|word| word.text.split_once('='));
            value.map(|(_, value)| value.to_string())
        }
        _ if programs::is_shell(&name) => {
            let at = words.iter().position(is_command_option)?;
            Some(operand_after(words, at)?.text.clone())
        }
        _ => None,
    }
}

/// The words with a blank between them.
pub(super) fn joined<'w>(words: impl IntoIterator<Item = &'w Word>) -> String {
    let texts: Vec<&str> = words.into_iter().map(|word| word.text.as_str()).collect();
    texts.join(" ")
}

/// `-c`, also among others: `-ec`, `-lc`.
fn is_command_option(word: &Word) -> bool {
    let letters = word.text.strip_prefix('-');
    letters.is_some_and(|letters| !letters.starts_with('-') && letters.contains('c'))
}

/// The first word behind `at` that is no option: `sh -c -e 'script'`.
fn operand_after(words: &[Word], at: usize) -> Option<&Word> {
    let mut rest = words[at + 1..].iter();
    rest.find(|word| !word.text.starts_with(['-', '+']))
}

/// Where a find begins.
fn folders(words: &[Word]) -> &[Word] {
    let follows = |word: &&Word| matches!(word.text.as_str(), "-H" | "-L" | "-P");
    let folders = &words[1 + words[1..].iter().take_while(follows).count()..];
    let is_folder = |word: &&Word| !word.text.starts_with(['-', '(', '!']);
    &folders[..folders.iter().take_while(is_folder).count()]
}

/// What `xargs` gets: the words of `echo`, and where a find begins that does not choose by name.
fn listed(before: &Simple) -> Option<&[Word]> {
    let chooses = |word: &Word| BY_NAME.contains(&word.text);
    match before.words.first()?.text.as_str() {
        "find" if !before.words.iter().any(chooses) => Some(folders(&before.words)),
        _ => printed(before),
    }
}

/// What `echo` or `printf` with known words prints.
fn printed(simple: &Simple) -> Option<&[Word]> {
    let (first, words) = simple.words.split_first()?;
    let prints = matches!(first.text.as_str(), "echo" | "printf");
    (prints && words.iter().all(|word| !word.unknown)).then_some(words)
}
