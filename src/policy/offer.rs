//! Which rule is offered for a command: the shortest one that says what the command does, and no more. In: a simple command that no rule
//! allows. Out: the rule, or nothing where a yes should stay with the very text.
//!
//! ```text
//! cmake --build build -j8        allow cmake              its options are no subcommands
//! git diff --stat HEAD~1         allow git diff           a program of subcommands: the subcommand counts
//! npm run test -- -v             allow npm run test
//! python3 -m pytest -k x         allow python3 -m pytest
//! python3 tools/gen.py a         allow python3 tools/gen.py
//! timeout 60 ctest               allow timeout '*' ctest
//! RUST_LOG=debug cargo test      allow RUST_LOG=debug cargo test
//! rm x · python3 -c '…' · sudo … nothing
//! ```
//!
//! Invariant: what is offered allows the command it was offered for (`judge` checks by asking again).

use super::programs;
use super::rules::Rule;
use super::shell::{Simple, Word, base};
use crate::text::Words;

/// Wrappers that only change how long or how loud a command runs.
const PLAIN_WRAPPERS: Words = Words("timeout nohup time nice stdbuf xvfb-run");
/// `npm run test`: the script's name is what counts.
const RUN_SCRIPT: Words = Words("npm pnpm yarn bun pdm hatch composer just task");

/// The rule for one command.
pub(super) fn rule(simple: &Simple, origin: &str) -> Option<Rule> {
    let plain =
        |word: &Word| word.is_literal() && !word.text.is_empty() && !word.text.contains('\n');
    if !simple.assignments.iter().all(plain) {
        return None;
    }
    let mut words: Vec<Option<&Word>> = simple.assignments.iter().map(Some).collect();
    command(&simple.words, &mut words, 0)?;
    if words.iter().flatten().any(|word| !plain(word)) {
        return None;
    }
    Some(Rule::allowing(&words, origin))
}

/// Appends the words that name the command.
fn command<'w>(words: &'w [Word], out: &mut Vec<Option<&'w Word>>, depth: usize) -> Option<()> {
    let (first, rest) = words.split_first()?;
    let name = base(&first.text);
    if depth > 4
        || programs::DESTRUCTIVE.contains(name)
        || programs::CHANGERS.contains(name)
        || first.text.starts_with('-')
    {
        return None;
    }
    out.push(Some(first));
    if let Some(wrapper) = programs::wrapper(name) {
        let (at, sure) = wrapper.command(words);
        // Options of a wrapper are not worth a rule: `nice -n 5 make` asks each time, or is written down.
        let operands = at - 1;
        let plain = words[1..at.min(words.len())]
            .iter()
            .all(|word| !word.text.starts_with('-'));
        if !sure || !plain || !PLAIN_WRAPPERS.contains(name) {
            return None;
        }
        out.extend(std::iter::repeat_n(None, operands));
        return command(words.get(at..)?, out, depth + 1);
    }
    if programs::is_interpreter(name) {
        return script(rest, out);
    }
    if RUN_SCRIPT.contains(name) && rest.first().is_some_and(|word| word.text == "run") {
        let script = rest.get(1).filter(|word| !word.text.starts_with('-'))?;
        out.extend([Some(&rest[0]), Some(script)]);
        return Some(());
    }
    if programs::SUBCOMMANDS.contains(name) {
        let subcommand = rest
            .first()
            .filter(|word| !word.text.starts_with('-') || is_question(&word.text))?;
        out.push(Some(subcommand));
    }
    Some(())
}

/// `python3 -m pytest`, `sh test.sh`, `node --version`.
fn script<'w>(rest: &'w [Word], out: &mut Vec<Option<&'w Word>>) -> Option<()> {
    let first = rest.first()?;
    match first.text.as_str() {
        "-m" => {
            let operand = |at| {
                rest.get(at)
                    .filter(|word: &&Word| !word.text.starts_with('-'))
            };
            let module = operand(1)?;
            out.extend([Some(first), Some(module)]);
            // `python3 -m pip install` is not `python3 -m pip list`.
            if matches!(module.text.as_str(), "pip" | "venv" | "uv" | "poetry") {
                out.push(Some(operand(2)?));
            }
            Some(())
        }
        text => {
            let is_file = !text.starts_with('-') && text.contains(['/', '.']);
            let named = is_file || is_question(text) && rest.len() == 1;
            named.then(|| out.push(Some(first)))
        }
    }
}

fn is_question(option: &str) -> bool {
    matches!(option, "--version" | "-V" | "--help" | "-v")
}
