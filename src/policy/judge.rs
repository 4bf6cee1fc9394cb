//! A command, part by part, against the rules. In: the command, the rules, what is built in. Out: a [`Judgement`]: what each part comes
//! to and by which rule, what was not understood, and the rules that would have let it pass. `decide` makes a verdict of it,
//! `zcoder policy check` prints it.
//!
//! ```text
//! cd build && cmake --build . 2>&1 | tail -5; rm -r x
//!   cd build                stays in the workspace
//!   cmake --build . 2>&1    allowed by allow cmake (~/.config/zcoder/rules:2)
//!   tail -5                 only reads what it is given
//!   rm -r x                 no rule allows it
//! ```
//!
//! A part passes when nothing about it needs a rule (`builtin`), or when an allow names its first words and the rest holds no surprise:
//! no option that runs or writes something else (`programs`), no path out of the workspace, no pattern that a file's name could turn
//! into an option, no redirection to a file, no here-document. The whole passes when every part does and nothing is in doubt.
//!
//! Invariant: a deny or ask rule is looked for in every part and in everything that a part carries (`carried`).
//! Invariant: where a rule may match and it is not known, a person is asked.

use super::carried::{self, Carried, joined};
use super::place::Place;
use super::programs;
use super::rules::{Action, Match, Rule};
use super::shell::{self, Doubt, Glob, RedirectKind, Script, Simple, Word, base};
use super::{Command, builtin, offer, trail};

/// More words are not checked one by one.
const MAX_WORDS: usize = 512;

/// Where offered rules are said to stand until they are kept.
pub(super) const OFFERED: &str = "this session";

/// What a command comes to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Judgement {
    /// Its simple commands.
    pub parts: Vec<Part>,
    /// What was not understood.
    pub doubts: Vec<Doubt>,
    /// The deny rule that matched.
    pub denied: Option<String>,
    /// Ask rules that matched, and rules that may match.
    pub asked: Vec<String>,
    /// Rules that would let it pass; empty where a yes should stay with this very text.
    pub offers: Vec<Rule>,
}

/// One simple command.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Part {
    /// As it stands in the command.
    pub text: String,
    /// What it comes to.
    pub ruling: Ruling,
}

/// What one part comes to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Ruling {
    /// It needs no rule, and why.
    Neutral(&'static str),
    /// A rule, and where it stands.
    Allowed(String),
    /// No rule names it.
    NoRule,
    /// A rule names it, or would, but for this.
    But(String),
}

/// As questions and `zcoder policy check` show it.
impl std::fmt::Display for Ruling {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Ruling::Neutral(why) => f.write_str(why),
            Ruling::Allowed(rule) => f.write_str(rule),
            Ruling::NoRule => f.write_str("no rule allows it"),
            Ruling::But(why) => f.write_str(why),
        }
    }
}

impl Judgement {
    /// Every part passes and nothing is in doubt.
    pub fn passes(&self) -> bool {
        let passes = |part: &Part| matches!(part.ruling, Ruling::Neutral(_) | Ruling::Allowed(_));
        !self.parts.is_empty()
            && self.parts.iter().all(passes)
            && self.doubts.is_empty()
            && self.denied.is_none()
            && self.asked.is_empty()
    }

    /// What let it pass: its rules, each once, or that none was needed.
    pub(super) fn rules(&self) -> String {
        let mut rules: Vec<&str> = Vec::new();
        for part in &self.parts {
            match &part.ruling {
                Ruling::Allowed(rule) if !rules.contains(&rule.as_str()) => rules.push(rule),
                Ruling::Allowed(_) | Ruling::Neutral(_) | Ruling::NoRule | Ruling::But(_) => {}
            }
        }
        match rules.is_empty() {
            true => "built-in: only reads the workspace".to_string(),
            false => rules.join(", "),
        }
    }
}

/// Judges one command. `builtin`: whether commands may pass without a rule.
pub(super) fn judge(command: &Command, place: &Place, rules: &[Rule], builtin: bool) -> Judgement {
    let script = shell::read(&command.text);
    let (denied, asked) = forbidding(&script, rules);
    let mut offers: Option<Vec<Rule>> = script.doubts.is_empty().then(Vec::new);
    let mut parts = Vec::with_capacity(script.commands.len());
    for (simple, place) in script.commands.iter().zip(trail::places(&script, place)) {
        let ruling = rule_on(simple, &place, rules, builtin);
        match &ruling {
            Ruling::Neutral(_) | Ruling::Allowed(_) => {}
            Ruling::But(_) => offers = None,
            Ruling::NoRule => match (offer::rule(simple, OFFERED), &mut offers) {
                (Some(rule), Some(offers)) if allows(&rule, simple, &place) => {
                    if !offers.iter().any(|known| known.is_same(&rule)) {
                        offers.push(rule);
                    }
                }
                _ => offers = None,
            },
        }
        parts.push(Part {
            text: text_of(&command.text, simple),
            ruling,
        });
    }
    // A rule that allows does not help where another one asks.
    let offers = offers.filter(|_| denied.is_none() && asked.is_empty());
    Judgement {
        parts,
        doubts: script.doubts,
        denied,
        asked,
        offers: offers.unwrap_or_default(),
    }
}

/// Whether the command passes by this rule alone.
fn allows(rule: &Rule, simple: &Simple, place: &Place) -> bool {
    let ruling = rule_on(simple, place, std::slice::from_ref(rule), false);
    matches!(ruling, Ruling::Allowed(_))
}

/// The part as it was written; what came out of backquotes, by its words.
fn text_of(text: &str, simple: &Simple) -> String {
    match text.get(simple.span.clone()) {
        Some(part) if !part.is_empty() => part.to_string(),
        Some(_) | None => joined(simple.assignments.iter().chain(&simple.words)),
    }
}

/// The deny rule that matches, and all ask rules and maybes.
fn forbidding(script: &Script, rules: &[Rule]) -> (Option<String>, Vec<String>) {
    let rules: Vec<&Rule> = rules
        .iter()
        .filter(|rule| rule.action() != Action::Allow)
        .collect();
    if rules.is_empty() {
        return (None, Vec::new());
    }
    // Something may be read as other commands than those listed: any rule may match.
    let unclear = script.doubts.iter().any(|doubt| doubt.why.is_structural());
    let least = if unclear { Match::Maybe } else { Match::No };
    let mut matches = vec![least; rules.len()];
    let mut before = None;
    for simple in &script.commands {
        let mut see = |carried: &Carried<'_>| {
            for (rule, found) in rules.iter().zip(&mut matches) {
                *found = (*found).max(rule.meets(&simple.assignments, carried));
            }
        };
        carried::walk(simple, before, &mut see);
        before = Some(simple);
    }
    let (mut denied, mut asked) = (None, Vec::new());
    for (rule, found) in rules.iter().zip(matches) {
        match (rule.action(), found) {
            (_, Match::No) | (Action::Allow, _) => {}
            (Action::Deny, Match::Yes) => {
                denied.get_or_insert_with(|| rule.with_origin());
            }
            (Action::Ask, Match::Yes) => asked.push(format!("asked for by {}", rule.with_origin())),
            (Action::Deny | Action::Ask, Match::Maybe) => {
                asked.push(format!("may be meant by {}", rule.with_origin()));
            }
        }
    }
    (denied, asked)
}

fn rule_on(simple: &Simple, place: &Place, rules: &[Rule], builtin: bool) -> Ruling {
    if simple.words.len() > MAX_WORDS {
        return Ruling::But(format!("more than {MAX_WORDS} words"));
    }
    if builtin {
        if let Some(why) = builtin::neutral(simple, place) {
            return Ruling::Neutral(why);
        }
    }
    let mut rest = None;
    for rule in rules {
        let Some(named) = rule.allows(simple) else {
            continue;
        };
        match surprise(simple, place, named) {
            None => return Ruling::Allowed(rule.with_origin()),
            Some(why) => rest = Some(why),
        }
    }
    // Without a rule the surprise still tells why none is offered.
    match rest.or_else(|| surprise(simple, place, 0)) {
        Some(why) => Ruling::But(why),
        None => Ruling::NoRule,
    }
}

/// What about the command its first `named` words (assignments included) do not tell.
fn surprise(simple: &Simple, place: &Place, named: usize) -> Option<String> {
    let Some(name) = simple.words.first() else {
        return match simple.assignments.first() {
            Some(word) => {
                let name = word.text.split('=').next().unwrap_or("");
                Some(format!("sets `{name}` for what follows"))
            }
            None => written(simple, place).or_else(|| Some("only redirections".to_string())),
        };
    };
    if !name.is_literal() {
        return Some("which command it is, is not known".to_string());
    }
    let program = base(&name.text);
    if programs::CHANGERS.contains(program) {
        return Some(format!("`{program}` changes what later commands mean"));
    }
    if program == "zcoder" {
        return Some("it can change what zcoder may do".to_string());
    }
    if named == 0 && name.text.contains('/') && place.leaves(name).is_some() {
        return Some(format!("`{}` is outside the workspace", name.text));
    }
    if program == "git" && place.has_bare_repository() {
        let why =
            "the folder looks like the inside of a git repository, whose settings git would obey";
        return Some(why.to_string());
    }
    let named = named.saturating_sub(simple.assignments.len()).max(1);
    if let Some(option) = inner_option(&simple.words, named) {
        return Some(format!("`{option}` runs, writes or reads something else"));
    }
    let pattern = programs::pattern(&simple.words);
    for (at, word) in simple.words.iter().enumerate().skip(named) {
        if word.glob == Some(Glob::Leading) || word.glob.is_some() && word.text.starts_with('-') {
            return Some(format!(
                "`{}` may stand for a file's name that is an option",
                word.text
            ));
        }
        // The shell may put files' names in the place of a pattern of its own.
        if Some(at) == pattern && word.glob.is_none() {
            continue;
        }
        if let Some(piece) = place.leaves(word) {
            return Some(match word.glob {
                Some(_) => format!("`{piece}` may find a file outside the workspace"),
                None => format!("`{piece}` is outside the workspace"),
            });
        }
    }
    written(simple, place)
}

/// The option of the program, or of the one that a plain wrapper starts, that does more than it says.
fn inner_option(words: &[Word], named: usize) -> Option<String> {
    let mut words = words;
    let mut named = named;
    // A wrapper in front: its options belong to the rule, what it starts is looked at by itself.
    for _ in 0..4 {
        let wrapper = programs::wrapper(base(&words.first()?.text));
        let Some(wrapper) = wrapper else { break };
        let (at, sure) = wrapper.command(words);
        if at >= words.len() || !sure || wrapper.script(words).is_some() {
            break;
        }
        words = &words[at..];
        named = named.saturating_sub(at).max(1);
    }
    programs::exec_option(words, named).map(str::to_string)
}

/// A redirection that needs a yes of its own.
fn written(simple: &Simple, place: &Place) -> Option<String> {
    simple.redirects.iter().find_map(|redirect| {
        let target = &redirect.target;
        match redirect.kind {
            RedirectKind::Write | RedirectKind::ReadWrite if target.text == "/dev/null" => None,
            RedirectKind::Write | RedirectKind::ReadWrite => {
                Some(format!("writes to `{}`", target.text))
            }
            RedirectKind::Read => {
                let out = !target.is_literal() || place.leaves(target).is_some();
                out.then(|| format!("reads `{}`", target.text))
            }
            RedirectKind::Here => Some("is given a here-document".to_string()),
            RedirectKind::Duplicate => None,
        }
    })
}
