//! Rules: which commands run, ask or are refused, by their first words. In: the text of a rules file, or words that a person agreed to.
//! Out: [`Rule`]s, and a [`Fault`] for each line that could not be read. `judge` matches them.
//!
//! ```text
//! # ~/.config/zcoder/rules
//! allow cmake --build            cmake --build build -j8          not: cmake -E rm x
//! allow python3 -m pytest        python3 -m pytest -k total       not: python3 -m pip
//! allow timeout * ctest          timeout 60 ctest                 `*` is one word, and no option
//! allow RUST_LOG=debug cargo test
//! ask git push                   also git -C lib push, sudo git push, sh -c 'git push'
//! deny rm -rf                    also /bin/rm -rf x
//! ```
//!
//! One rule a line: `allow`, `ask` or `deny`, then words, quoted as in a shell; `#` begins a comment. The words must be the first ones of
//! a command. Of the rules that match, deny beats ask beats allow; their order means nothing.
//!
//! An allow is read narrowly, a deny and an ask widely: an allow wants the very words; a deny also sees through paths (`/bin/rm`),
//! wrappers, scripts of `sh -c`, options in between, and where a word's value is not known, or an option is a shorter or longer form of the rule's (`--har`,
//! `-fr`, `-r -f`), it may match, so the command asks.
//!
//! A line that cannot be read is reported, and read in the safe way: an `allow` not at all; a `deny` or `ask` by the words before the
//! fault, which match more; with any other first word as `ask` for the words after it. Limits: [`MAX_BYTES`] a file, [`MAX_RULES`] rules;
//! beyond them nothing of the file allows and every command asks.
//!
//! Invariant: a line with a fault never allows anything.
//! Invariant: [`Rule`] as text is read back as the same rule.

use crate::text::{counted, grouped};
use std::fmt;

use super::carried::Carried;
use super::programs;
use super::shell::{self, Simple, Word, base};

/// A rules file that is longer was not written by a person.
pub const MAX_BYTES: usize = 256 << 10;
/// Rules in one file.
pub const MAX_RULES: usize = 2_000;

/// What a rule does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Action {
    /// It runs.
    Allow,
    /// A person is asked, whatever else allows it.
    Ask,
    /// It does not run.
    Deny,
}

impl Action {
    fn word(self) -> &'static str {
        match self {
            Action::Allow => "allow",
            Action::Ask => "ask",
            Action::Deny => "deny",
        }
    }
}

/// One word of a rule.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Pattern {
    /// Exactly this; `home`: it begins with `~`.
    Word { text: String, home: bool },
    /// `*`: one word that is no option.
    Any,
}

/// One rule.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Rule {
    action: Action,
    words: Vec<Pattern>,
    origin: String,
}

/// A line that could not be read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fault {
    /// Counted from 1.
    pub line: usize,
    /// What is wrong, and how it was taken.
    pub text: String,
}

/// Who wrote a rules file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Author {
    /// The user: everything counts.
    User,
    /// The machine's site, and a project: they may only tighten. Of all files together deny beats ask beats allow, so what one of these
    /// asks or denies no other file takes back.
    Site,
    /// As the site.
    Project,
}

/// How a rule and a command meet.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Match {
    No,
    /// A word's value is not known, or an option may take the next word.
    Maybe,
    Yes,
}

/// Reads a rules file; `name` is how it is shown (`~/.config/zcoder/rules`).
pub fn read(text: &str, name: &str, author: Author) -> (Vec<Rule>, Vec<Fault>) {
    let (mut rules, mut faults) = (Vec::new(), Vec::new());
    if text.len() > MAX_BYTES {
        let bytes = counted(text.len() as u64, "byte");
        let limit = grouped(MAX_BYTES as u64);
        let text = format!("the file has {bytes}, at most {limit} are read");
        return all_ask(name, 1, text);
    }
    for (index, line) in text.split('\n').enumerate() {
        let number = index + 1;
        let line = line.strip_suffix('\r').unwrap_or(line);
        let (rule, fault) = rule_of(line, format!("{name}:{number}"), author);
        rules.extend(rule);
        faults.extend(fault.map(|text| Fault { line: number, text }));
        if rules.len() > MAX_RULES {
            return all_ask(name, number, format!("more than {MAX_RULES} rules"));
        }
    }
    (rules, faults)
}

/// What a rules file that exists and cannot be read comes to: every command asks.
pub fn unreadable(name: &str) -> (Vec<Rule>, Fault) {
    let (rules, mut faults) = all_ask(name, 0, "it cannot be read".to_string());
    (rules, faults.remove(0))
}

fn all_ask(name: &str, line: usize, text: String) -> (Vec<Rule>, Vec<Fault>) {
    let rule = Rule {
        action: Action::Ask,
        words: Vec::new(),
        origin: name.to_string(),
    };
    let text = ask_all(&text);
    (vec![rule], vec![Fault { line, text }])
}

/// One line: the rule that it is or is taken for, and what is wrong with it.
fn rule_of(line: &str, origin: String, author: Author) -> (Option<Rule>, Option<String>) {
    let (mut words, fault) = words_of(line);
    let rule = |action, words| Rule {
        action,
        words,
        origin,
    };
    if words.is_empty() {
        // A fault before any word: nobody knows what was meant.
        return match fault {
            None => (None, None),
            Some(fault) => (Some(rule(Action::Ask, words)), Some(ask_all(&fault))),
        };
    }
    let first = words.remove(0);
    let (action, fault) = match first.text() {
        "allow" => (Action::Allow, fault),
        "ask" => (Action::Ask, fault),
        "deny" => (Action::Deny, fault),
        _ => {
            let first = shown(&[first]);
            let fault = format!("`{first}` is none of allow, ask and deny");
            (Action::Ask, Some(fault))
        }
    };
    let fault = match fault {
        None if words.is_empty() => Some("the words of a command are missing".to_string()),
        other => other,
    };
    let who = match author {
        Author::User => None,
        Author::Site => Some("a site"),
        Author::Project => Some("a project"),
    };
    match (action, who, fault) {
        (Action::Allow, Some(who), _) => (
            None,
            Some(format!(
                "{who} cannot allow anything; the line was left out (put it into your own rules)"
            )),
        ),
        (_, _, None) => (Some(rule(action, words)), None),
        (Action::Allow, _, Some(fault)) => (None, Some(format!("{fault}; the line was left out"))),
        (Action::Ask | Action::Deny, _, Some(fault)) => {
            let rule = rule(action, words);
            let taken = match rule.words.is_empty() {
                true => format!("`{}` for every command", action.word()),
                false => format!("`{rule}`"),
            };
            let fault = format!("{fault}; the line was taken as {taken}");
            (Some(rule), Some(fault))
        }
    }
}

fn ask_all(fault: &str) -> String {
    format!("{fault}; every command is asked for until that is mended")
}

/// The words of a line, up to the first that cannot be one.
fn words_of(line: &str) -> (Vec<Pattern>, Option<String>) {
    let script = shell::read(line);
    let mut words = Vec::new();
    let Some(simple) = script.commands.iter().find(|simple| simple.level == 0) else {
        let comment = line.trim_start();
        let fault = match script.doubts.first() {
            Some(doubt) => Some(doubt.to_string()),
            None if comment.is_empty() || comment.starts_with('#') => None,
            None => Some("this is no rule".to_string()),
        };
        return (words, fault);
    };
    let (end, mut fault) = first_fault(line, &script, simple);
    for word in simple.assignments.iter().chain(&simple.words) {
        if word.end > end || word.unknown {
            break;
        }
        if word.text == "*" && word.glob.is_some() {
            words.push(Pattern::Any);
        } else if word.glob.is_some() {
            fault.get_or_insert_with(|| {
                format!(
                    "in `{}` a pattern stands within a word; `*` is one whole word, and `'*'` the character",
                    word.text
                )
            });
            break;
        } else {
            words.push(Pattern::of(word));
        }
    }
    (words, fault)
}

/// Where a line stops being the words of one command, and why.
fn first_fault(line: &str, script: &shell::Script, simple: &Simple) -> (usize, Option<String>) {
    if let Some(doubt) = script.doubts.first() {
        return (doubt.at, Some(doubt.to_string()));
    }
    if let Some(redirect) = simple.redirects.first() {
        let fault = "a rule cannot name a redirection; quote `>` and `<` to mean the characters";
        return (redirect.target.at, Some(fault.to_string()));
    }
    let after = line[simple.span.end..].trim_start();
    if !line[..simple.span.start].trim().is_empty() || !after.is_empty() && !after.starts_with('#')
    {
        let fault =
            "a rule is about one command, and here is an operator; quote it to mean the character";
        return (simple.span.end, Some(fault.to_string()));
    }
    (line.len(), None)
}

impl Pattern {
    fn of(word: &Word) -> Pattern {
        Pattern::Word {
            text: word.text.clone(),
            home: word.home,
        }
    }

    fn text(&self) -> &str {
        match self {
            Pattern::Word { text, .. } => text,
            Pattern::Any => "*",
        }
    }
}

fn shown(words: &[Pattern]) -> String {
    let text_of = |pattern: &Pattern| match pattern {
        Pattern::Any => "*".to_string(),
        Pattern::Word { text, home } => quoted(text, *home),
    };
    let words: Vec<String> = words.iter().map(text_of).collect();
    words.join(" ")
}

/// As a shell would read it back.
fn quoted(text: &str, home: bool) -> String {
    let plain = |c: char| {
        c.is_ascii_alphanumeric()
            || "-_./=:,+@%^".contains(c)
            || !c.is_ascii()
            || home && "~${}".contains(c)
    };
    match !text.is_empty() && text.chars().all(plain) {
        true => text.to_string(),
        false => format!("'{}'", text.replace('\'', "'\\''")),
    }
}

/// `allow cmake --build`, as a line of a rules file.
impl fmt::Display for Rule {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.words.is_empty() {
            true => write!(f, "{} (every command)", self.action.word()),
            false => write!(f, "{} {}", self.action.word(), shown(&self.words)),
        }
    }
}

impl Rule {
    /// A rule that allows commands with these first words; `*` is `None`.
    pub(super) fn allowing(words: &[Option<&Word>], origin: &str) -> Rule {
        let pattern = |word: &Option<&Word>| word.map_or(Pattern::Any, Pattern::of);
        Rule {
            action: Action::Allow,
            words: words.iter().map(pattern).collect(),
            origin: origin.to_string(),
        }
    }

    /// What it does.
    pub fn action(&self) -> Action {
        self.action
    }

    /// Where it stands: `~/.config/zcoder/rules:3`, `kept for this workspace, 2`, `this session`.
    pub fn origin(&self) -> &str {
        &self.origin
    }

    /// `allow ctest (~/.config/zcoder/rules:3)`
    pub(super) fn with_origin(&self) -> String {
        format!("{self} ({})", self.origin)
    }

    /// The same rule, standing elsewhere.
    pub(super) fn at(&self, origin: String) -> Rule {
        Rule {
            origin,
            ..self.clone()
        }
    }

    /// Whether two rules are about the same words.
    pub(super) fn is_same(&self, other: &Rule) -> bool {
        self.action == other.action && self.words == other.words
    }

    /// For an allow: how many words of the command (assignments included) the rule names, if it matches.
    pub(super) fn allows(&self, simple: &Simple) -> Option<usize> {
        if self.action != Action::Allow || self.words.is_empty() {
            return None;
        }
        let mut words = simple.assignments.iter().chain(&simple.words);
        let all = self.words.iter().all(|pattern| {
            words.next().is_some_and(|word| match pattern {
                _ if word.unknown => false,
                Pattern::Any => {
                    !word.text.starts_with('-') && word.glob != Some(shell::Glob::Leading)
                }
                Pattern::Word { text, home } => {
                    word.text == *text && word.home == *home && word.glob.is_none()
                }
            })
        });
        // Assignments change what a program does: a rule must name all of them, and the program.
        let named = self.words.len();
        (all && named > simple.assignments.len()).then_some(named)
    }

    /// For a deny or an ask: whether the command, or one that it carries, is meant.
    pub(super) fn meets(&self, assignments: &[Word], carried: &Carried<'_>) -> Match {
        if self.words.is_empty() {
            return Match::Yes;
        }
        let is_command = |pattern: &Pattern| !is_assignment(pattern);
        let given = self.words.iter().position(is_command);
        let (given, words) = self.words.split_at(given.unwrap_or(self.words.len()));
        let named = |pattern: &Pattern| {
            let found = assignments.iter().map(|word| compare(pattern, word));
            found.max().unwrap_or(Match::No)
        };
        let set = given.iter().map(named).min().unwrap_or(Match::Yes);
        let Some((first, rest)) = words.split_first() else {
            return set;
        };
        let found = match carried.words.split_first() {
            None if carried.unknown => Match::Maybe,
            // Redirections or assignments alone.
            None => Match::No,
            Some((word, others)) => command(first, word).min(follow(rest, others)),
        };
        let sure = match carried.sure {
            true => Match::Yes,
            false => Match::Maybe,
        };
        found.min(set).min(sure)
    }

    /// What a person should know before keeping it: that it allows any code, or far more than it seems.
    pub fn warning(&self) -> Option<String> {
        if self.action != Action::Allow {
            return None;
        }
        let words: Vec<&str> = self
            .words
            .iter()
            .skip_while(|pattern| is_assignment(pattern))
            .map(Pattern::text)
            .collect();
        warning(&words, 0)
    }
}

fn warning(words: &[&str], depth: usize) -> Option<String> {
    let (first, rest) = words.split_first()?;
    let name = base(first);
    if let Some(wrapper) = programs::wrapper(name) {
        let stand_ins: Vec<Word> = words.iter().map(|word| Word::literal(word)).collect();
        let (at, sure) = wrapper.command(&stand_ins);
        let inner = words.get(at..).unwrap_or(&[]);
        let any = inner.is_empty() || !sure || depth > 4 || wrapper.script(&stand_ins).is_some();
        return match name {
            _ if any => Some(format!(
                "`{name}` runs the command in its arguments: this allows any command"
            )),
            "xargs" | "parallel" => Some(format!(
                "`{name}` takes arguments from its input, where no rule sees them"
            )),
            _ => warning(inner, depth + 1),
        };
    }
    let named = match rest {
        // `python3 -m pytest`, `sh test.sh`
        ["-m", module, ..] => !module.starts_with('-'),
        [word, ..] => !word.starts_with('-'),
        [] => false,
    };
    if programs::is_interpreter(name) && !named {
        return Some(format!(
            "`{name}` runs whatever its arguments or its input say: this allows any code"
        ));
    }
    if programs::SUBCOMMANDS.contains(name) && !named {
        return Some(format!("this allows every subcommand of `{name}`"));
    }
    None
}

fn is_assignment(pattern: &Pattern) -> bool {
    let name = pattern.text().split_once('=').map(|(name, _)| name);
    name.is_some_and(shell::is_name)
}

fn compare(pattern: &Pattern, word: &Word) -> Match {
    match pattern {
        _ if word.unknown => Match::Maybe,
        Pattern::Any => Match::Yes,
        Pattern::Word { text, .. } if *text == word.text => Match::Yes,
        Pattern::Word { .. } if word.glob.is_some() => Match::Maybe,
        Pattern::Word { text, .. } if is_longer(text, &word.text) => Match::Maybe,
        Pattern::Word { .. } => Match::No,
    }
}

/// `--har` and `--hard=x` for `--hard`: programs take both.
fn is_longer(option: &str, word: &str) -> bool {
    let name = word.split('=').next().unwrap_or(word);
    name.starts_with("--") && name.len() > 3 && option.starts_with(name)
}

/// Letters of `-rf`; none of `--force`, `-` and `-1`.
fn letters(word: &str) -> &str {
    let letters = word.strip_prefix('-').unwrap_or("");
    match letters.bytes().all(|b| b.is_ascii_alphabetic()) {
        true => letters,
        false => "",
    }
}

/// A command's name: `rm` is `/bin/rm` too, and `RM` where file systems do not care.
fn command(pattern: &Pattern, word: &Word) -> Match {
    match pattern {
        Pattern::Word { text, .. } if text.contains('/') => compare(pattern, word),
        Pattern::Word { text, .. }
            if base(&word.text).eq_ignore_ascii_case(text) && !word.unknown =>
        {
            Match::Yes
        }
        Pattern::Word { .. } | Pattern::Any => compare(pattern, word),
    }
}

/// The rest of the rule's words in order, options of the command in between; a word behind an option may be its value.
fn follow(patterns: &[Pattern], words: &[Word]) -> Match {
    // best[n]: how sure it is that the first n patterns have been met so far, with nothing but options since.
    let mut best = vec![Match::No; patterns.len() + 1];
    best[0] = Match::Yes;
    // `-fr`, `-rfv` and `-r -f` for `-rf`.
    let given: String = words.iter().map(|word| letters(&word.text)).collect();
    let among = |pattern: &Pattern, word: &Word| match pattern {
        Pattern::Word { text, .. } => {
            let wanted = letters(text);
            !wanted.is_empty()
                && wanted.chars().all(|c| given.contains(c))
                && letters(&word.text).contains(|c| wanted.contains(c))
        }
        Pattern::Any => false,
    };
    let compare = |pattern: &Pattern, word: &Word| match compare(pattern, word) {
        Match::No if among(pattern, word) => Match::Maybe,
        found => found,
    };
    let mut met = best[patterns.len()];
    for (at, word) in words.iter().enumerate() {
        let is_option = word.text.starts_with('-');
        let after_option = at > 0 && words[at - 1].text.starts_with('-');
        let skipped = match is_option {
            true if !word.unknown => Match::Yes,
            false if !word.unknown && !after_option => Match::No,
            true | false => Match::Maybe,
        };
        // `rm src -rf`: most programs take options behind what they work on.
        let passed = |n: usize| match patterns.get(n) {
            Some(Pattern::Word { text, .. }) if text.starts_with('-') => skipped.max(Match::Maybe),
            Some(_) | None => skipped,
        };
        for n in (0..patterns.len()).rev() {
            let taken = best[n].min(compare(&patterns[n], word));
            best[n + 1] = best[n + 1].min(passed(n + 1)).max(taken);
        }
        best[0] = best[0].min(passed(0));
        met = met.max(best[patterns.len()]);
    }
    met
}
