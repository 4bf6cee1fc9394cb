//! Commands within commands. In: a simple command and what stands before it. Out: the commands that it would start in turn: behind
//! `sudo`, `env`, `timeout`, `xargs` and the like, in `find -exec`, in the script of `sh -c`, `eval` and `trap`. `rules` looks for what
//! is denied there, `stops` for what is catastrophic.
//!
//! ```text
//! sudo -u root -- rm x          Words [rm x], sure
//! find . -exec rm {} +          Words [rm {}], sure
//! sh -ec 'cd x && rm y'         Script "cd x && rm y"
//! sh -c "rm $X"                 Script "rm $X" and Unknown: the value may be more than a word
//! curl u | sh                   Unknown          echo 'rm x' | sh    Script "rm x"
//! unshare -Z x rm y             Words of every suffix, not sure: its options are not all known
//! ```
//!
//! Invariant: what is not listed here is no promise: programs start others for reasons of their own.
//! Invariant: a walk ([`walk`]) goes at most [`DEPTH`] scripts and [`MANY`] wrappers deep and reads at most [`BUDGET`] bytes, then says
//! that what follows is not known.

use super::programs::{self, GIT_VALUES, Wrapper};
use super::shell::{self, Join, RedirectKind, Simple, Word, base};

/// Nesting of `sh -c`, `eval` and the like that is followed.
pub(super) const DEPTH: usize = 4;
/// Bytes of scripts in all: a script may be carried by many words, each of which could begin it.
const BUDGET: usize = 4 * shell::MAX_BYTES;

/// One command that another carries.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Carried {
    /// Its words.
    pub(super) words: Vec<Word>,
    /// Something is started, and it is not known what.
    pub(super) unknown: bool,
    /// Whether it is certainly a command, and not an argument.
    pub(super) sure: bool,
    /// Redirections, where it is a command of a script.
    pub(super) targets: Vec<Word>,
    /// Words that reach it from outside: of `xargs` from the pipe, of `find -exec` its folders.
    pub(super) fed: Vec<Word>,
}

/// Wrappers around wrappers, places where a command may begin, `-exec`s of one find: no honest command has more.
const MANY: usize = 16;

enum Inner {
    Words {
        words: Vec<Word>,
        sure: bool,
        fed: Vec<Word>,
    },
    Script(String),
    Unknown,
}

/// Calls `see` with the command itself and with everything it carries.
pub(super) fn walk(simple: &Simple, before: Option<&Simple>, see: &mut dyn FnMut(&Carried)) {
    let mut walk = Walk {
        budget: BUDGET,
        see,
    };
    walk.simple(simple, before, 0);
}

struct Walk<'s> {
    budget: usize,
    see: &'s mut dyn FnMut(&Carried),
}

/// The simple command that a walk is in: what reaches its input, and how deep it stands.
#[derive(Clone, Copy)]
struct Around<'a> {
    simple: &'a Simple,
    /// The command whose output it reads.
    before: Option<&'a Simple>,
    scripts: usize,
    wrappers: usize,
}

impl Walk<'_> {
    fn simple(&mut self, simple: &Simple, before: Option<&Simple>, scripts: usize) {
        let writes = |kind| match kind {
            RedirectKind::Write | RedirectKind::ReadWrite => true,
            RedirectKind::Read | RedirectKind::Duplicate | RedirectKind::Here => false,
        };
        let targets = simple.redirects.iter().filter(|r| writes(r.kind));
        (self.see)(&Carried {
            words: simple.words.clone(),
            unknown: false,
            sure: true,
            targets: targets.map(|r| r.target.clone()).collect(),
            fed: Vec::new(),
        });
        let around = Around {
            simple,
            before: before.filter(|_| simple.join == Join::Pipe),
            scripts,
            wrappers: 0,
        };
        for inner in inner(&simple.words, around) {
            self.inner(inner, around);
        }
    }

    fn inner(&mut self, inner: Inner, around: Around<'_>) {
        match inner {
            Inner::Unknown => (self.see)(&Carried {
                words: Vec::new(),
                unknown: true,
                sure: false,
                targets: Vec::new(),
                fed: Vec::new(),
            }),
            Inner::Words { words, sure, fed } => {
                // What a suffix carries is found by the next suffix; a command that is sure is looked into.
                let deeper = match sure {
                    true if around.wrappers >= MANY => vec![Inner::Unknown],
                    true => self::inner(&words, around),
                    false => script_of(&words).into_iter().collect(),
                };
                let around = Around {
                    wrappers: around.wrappers + 1,
                    ..around
                };
                for mut inner in deeper {
                    if let Inner::Words { fed: own, .. } = &mut inner {
                        // `find / -exec sudo rm {}`: what reaches the wrapper reaches what it starts.
                        if own.is_empty() {
                            own.clone_from(&fed);
                        }
                    }
                    self.inner(inner, around);
                }
                (self.see)(&Carried {
                    words,
                    unknown: false,
                    sure,
                    targets: Vec::new(),
                    fed,
                });
            }
            Inner::Script(text) => self.script(&text, around),
        }
    }

    fn script(&mut self, text: &str, around: Around<'_>) {
        if around.scripts >= DEPTH || text.len() > self.budget {
            return self.inner(Inner::Unknown, around);
        }
        self.budget -= text.len();
        let script = shell::read(text);
        if script.doubts.iter().any(|doubt| doubt.why.is_structural()) {
            self.inner(Inner::Unknown, around);
        }
        let mut before = None;
        for simple in &script.commands {
            self.simple(simple, before, around.scripts + 1);
            before = Some(simple);
        }
    }
}

/// What one command carries.
fn inner(words: &[Word], around: Around<'_>) -> Vec<Inner> {
    let Some(first) = words.first() else {
        return Vec::new();
    };
    let name = base(&first.text).to_ascii_lowercase();
    if programs::is_shell(&name) {
        return shell_script(words, around);
    }
    if let Some(wrapper) = programs::wrapper(&name) {
        return wrapped(wrapper, words, around.before);
    }
    match name.as_str() {
        "find" | "gfind" => find(words),
        "fd" | "fdfind" => after(words, &["-x", "-X", "--exec", "--exec-batch"]),
        "git" => git(words),
        _ => script_of(words).into_iter().collect(),
    }
}

/// Programs that take a script as words.
fn script_of(words: &[Word]) -> Option<Inner> {
    let (first, arguments) = words.split_first()?;
    let join = |words: &[Word]| {
        let texts: Vec<&str> = words.iter().map(|word| word.text.as_str()).collect();
        Inner::Script(texts.join(" "))
    };
    let name = base(&first.text).to_ascii_lowercase();
    match name.as_str() {
        "eval" => Some(join(arguments)),
        "trap" => Some(join(arguments.get(..1)?)),
        "alias" => {
            let value = arguments.iter().find_map(|word| word.text.split_once('='));
            value.map(|(_, value)| Inner::Script(value.to_string()))
        }
        _ if programs::is_shell(&name) => {
            let at = words
                .iter()
                .position(|word| is_command_option(&word.text))?;
            let script = operand_after(words, at)?;
            Some(Inner::Script(script.text.clone()))
        }
        _ => None,
    }
}

/// `-c`, also among others: `-ec`, `-lc`.
fn is_command_option(word: &str) -> bool {
    word.strip_prefix('-')
        .is_some_and(|letters| !letters.starts_with('-') && letters.contains('c'))
}

/// The first word behind `at` that is no option: `sh -c -e 'script'`.
fn operand_after(words: &[Word], at: usize) -> Option<&Word> {
    let rest = words.get(at + 1..)?;
    rest.iter()
        .find(|word| !word.text.starts_with('-') && !word.text.starts_with('+'))
}

fn shell_script(words: &[Word], around: Around<'_>) -> Vec<Inner> {
    let mut found = Vec::new();
    if let Some(at) = words.iter().position(|word| is_command_option(&word.text)) {
        if let Some(script) = operand_after(words, at) {
            if script.unknown {
                found.push(Inner::Unknown);
            }
            found.push(Inner::Script(script.text.clone()));
        }
        return found;
    }
    let reads_input = words
        .get(1)
        .is_none_or(|word| word.text == "-s" || word.text == "-")
        || words[1..].iter().all(|word| word.text.starts_with('-'));
    if !reads_input {
        return found;
    }
    for redirect in &around.simple.redirects {
        match redirect.kind {
            RedirectKind::Here => found.push(Inner::Script(redirect.target.text.clone())),
            RedirectKind::Read | RedirectKind::ReadWrite => found.push(Inner::Unknown),
            RedirectKind::Write | RedirectKind::Duplicate => {}
        }
    }
    if let Some(before) = around.before {
        found.push(match printed(before) {
            Some(words) => {
                let texts: Vec<&str> = words.iter().map(|word| word.text.as_str()).collect();
                Inner::Script(texts.join(" "))
            }
            None => Inner::Unknown,
        });
    }
    found
}

/// What `echo` or `printf` with known words prints.
fn printed(simple: &Simple) -> Option<&[Word]> {
    let (first, words) = simple.words.split_first()?;
    let prints = matches!(first.text.as_str(), "echo" | "printf");
    (prints && words.iter().all(|word| !word.unknown)).then_some(words)
}

fn wrapped(wrapper: &Wrapper, words: &[Word], before: Option<&Simple>) -> Vec<Inner> {
    let mut found = Vec::new();
    if let Some(script) = wrapper.script(words) {
        if script.unknown {
            found.push(Inner::Unknown);
        }
        found.push(Inner::Script(script.text.clone()));
    }
    let split = |word: &Word| {
        ["-S", "-vS", "--split"]
            .iter()
            .any(|s| word.text.starts_with(s))
    };
    if wrapper.name == "env" && words.iter().any(split) {
        // It has quotes and escapes of its own.
        found.push(Inner::Unknown);
    }
    let fed = match wrapper.name {
        "xargs" | "parallel" => before.and_then(printed).unwrap_or(&[]).to_vec(),
        _ => Vec::new(),
    };
    let (at, sure) = wrapper.command(words);
    if wrapper.name == "ssh" || wrapper.name == "watch" {
        // The words become a script: on the other host, in a shell of its own.
        let texts: Vec<&str> = words
            .iter()
            .skip(at)
            .map(|word| word.text.as_str())
            .collect();
        if !texts.is_empty() {
            found.push(Inner::Script(texts.join(" ")));
        }
        return found;
    }
    if let Some(command) = words.get(at..).filter(|command| !command.is_empty()) {
        if command[0].unknown {
            found.push(Inner::Unknown);
        }
        found.push(Inner::Words {
            words: command.to_vec(),
            sure,
            fed: fed.clone(),
        });
    }
    if !sure {
        if words.len() > MANY {
            found.push(Inner::Unknown);
        }
        let others = (1..words.len().min(MANY)).filter(|other| *other != at);
        found.extend(others.map(|other| Inner::Words {
            words: words[other..].to_vec(),
            sure: false,
            fed: fed.clone(),
        }));
    }
    found
}

/// Each `-exec … ;` of find; its folders are what the command works on.
fn find(words: &[Word]) -> Vec<Inner> {
    let options = words.iter().skip(1);
    let fed: Vec<Word> = options
        .skip_while(|word| matches!(word.text.as_str(), "-H" | "-L" | "-P"))
        .take_while(|word| !word.text.starts_with(['-', '(', '!']))
        .cloned()
        .collect();
    let mut found = Vec::new();
    for (at, word) in words.iter().enumerate() {
        if matches!(word.text.as_str(), "-exec" | "-execdir" | "-ok" | "-okdir") {
            if found.len() >= MANY {
                found.push(Inner::Unknown);
                return found;
            }
            let command: Vec<Word> = words[at + 1..]
                .iter()
                .take_while(|word| word.text != ";" && word.text != "+")
                .cloned()
                .collect();
            found.push(Inner::Words {
                words: command,
                sure: true,
                fed: fed.clone(),
            });
        }
    }
    found
}

/// The words behind one of these options.
fn after(words: &[Word], options: &[&str]) -> Vec<Inner> {
    let at = words
        .iter()
        .position(|word| options.contains(&word.text.as_str()));
    let command = at.and_then(|at| words.get(at + 1..)).unwrap_or(&[]);
    match command.is_empty() {
        true => Vec::new(),
        false => vec![Inner::Words {
            words: command.to_vec(),
            sure: true,
            fed: Vec::new(),
        }],
    }
}

/// git without its own options, so that `git -C x push` is found as `git push`; and aliases given on the spot.
fn git(words: &[Word]) -> Vec<Inner> {
    let mut at = 1;
    let mut found = Vec::new();
    while let Some(word) = words.get(at).filter(|word| word.text.starts_with('-')) {
        if let Some((_, script)) = words
            .get(at + 1)
            .and_then(|value| value.text.split_once("=!"))
        {
            found.push(Inner::Script(script.to_string()));
        }
        at += if GIT_VALUES.contains(&word.text) {
            2
        } else {
            1
        };
    }
    if at > 1 && at < words.len() {
        let mut bare = vec![words[0].clone()];
        bare.extend_from_slice(&words[at..]);
        // No longer one with options, so this does not go round.
        found.push(Inner::Words {
            words: bare,
            sure: true,
            fed: Vec::new(),
        });
    }
    found
}
