//! Sees a model that goes round in circles: each finished call comes in, a verdict goes out. The turn asks it after every call.
//!
//! ```text
//! read_file {"path":"a"}  → "x"      1
//! read_file {"path":"a"}  → "x"      2
//! read_file {"path":"a"}  → "x"      3   Repeat::Note: the model is told
//! read_file {"path":"a"}  → "x"      5   Repeat::Stop: the user is asked, or the turn ends
//!
//! edit a→b, test fails, edit b→a, test fails, edit a→b, …    the same with a cycle of four calls
//! ```
//!
//! A step counts as repeated only when name, arguments (whatever the order of their keys) and result are all the same: polling
//! something that changes is no loop. Calls of one reply count like those of several, but nobody is stopped for what he could not know: the
//! fifth time within one reply is `Repeat::Enough`, its other calls are not run, and the stop comes with the next repetition after the
//! note. Cycles longer than `MAX_CYCLE` are not seen; `--max-turns` bounds those.
//!
//! Invariant: the verdict depends on nothing but the calls since the turn began or the guard was reset.
use crate::json::{Kind, Value};
use crate::protocol::{Facts, ToolCall, ToolOutcome};
use crate::sort;
use std::hash::{DefaultHasher, Hash, Hasher};

/// Repetitions after which the model is told.
pub(super) const NOTE_AT: usize = 3;
/// Repetitions after which somebody must decide.
pub(super) const STOP_AT: usize = 5;
/// The longest cycle that is seen, in calls.
const MAX_CYCLE: usize = 4;

/// What the last calls amount to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Repeat {
    /// Something new.
    No,
    /// The same `cycle` calls for the third time.
    Note { cycle: usize },
    /// The same `cycle` calls for the fifth time, and the model was not told yet.
    Enough,
    /// The same `cycle` calls for the fifth time or more, after the note.
    Stop { cycle: usize, times: usize },
}

/// The last calls, as fingerprints.
#[derive(Debug, Default)]
pub(super) struct Guard {
    recent: Vec<u64>,
    /// The last note went out.
    told: bool,
}

impl Guard {
    /// Takes one finished call.
    pub(super) fn observe(&mut self, call: &ToolCall, outcome: &ToolOutcome) -> Repeat {
        self.push(fingerprint(call, outcome))
    }

    /// The model was told of the last repetition.
    pub(super) fn told(&mut self) {
        self.told = true;
    }

    /// Somebody said "go on": counting starts anew.
    pub(super) fn reset(&mut self) {
        *self = Guard::default();
    }

    fn push(&mut self, step: u64) -> Repeat {
        // One more than the longest stretch that matters, so that a stretch which has grown past it is not counted again.
        if self.recent.len() > MAX_CYCLE * STOP_AT {
            self.recent.remove(0);
        }
        self.recent.push(step);
        let mut shorter = 0;
        for cycle in 1..=MAX_CYCLE {
            let run = self.run_length(cycle);
            // The same stretch also has every multiple of its period: only the shortest counts.
            if run > shorter && run == NOTE_AT * cycle {
                self.told = false;
                return Repeat::Note { cycle };
            }
            if run > shorter && run >= STOP_AT * cycle {
                return match self.told {
                    true => Repeat::Stop {
                        cycle,
                        times: run / cycle,
                    },
                    false => Repeat::Enough,
                };
            }
            shorter = shorter.max(run);
        }
        Repeat::No
    }

    /// How many of the last steps repeat with this period, the first round included.
    fn run_length(&self, cycle: usize) -> usize {
        let steps = self.recent.iter().rev();
        let before = self.recent.iter().rev().skip(cycle);
        let same = steps.zip(before).take_while(|(a, b)| a == b).count();
        if same == 0 { 0 } else { same + cycle }
    }
}

/// The guard's words to the model.
pub(super) fn note(cycle: usize) -> String {
    let what = describe(cycle);
    format!(
        "You made {what} {NOTE_AT} times with the same result. Doing it again will not change \
         anything. Look at what the results say and try a different step, or finish with a plain answer that says what stops you."
    )
}

/// "the same call" or "the same 2 calls in turn".
pub(super) fn describe(cycle: usize) -> String {
    match cycle {
        1 => "the same call".to_string(),
        n => format!("the same {n} calls in turn"),
    }
}

fn fingerprint(call: &ToolCall, outcome: &ToolOutcome) -> u64 {
    let mut hash = DefaultHasher::new();
    call.name.hash(&mut hash);
    hash_value(call.arguments.root(), &mut hash);
    result(outcome).hash(&mut hash);
    hash.finish()
}

/// What makes two results the same. The first line of a command's result counts seconds and numbers its output: left out.
fn result(outcome: &ToolOutcome) -> (Option<i32>, &str) {
    match &outcome.facts {
        Facts::Ran { exit, .. } => {
            let output = outcome
                .text
                .split_once('\n')
                .map_or("", |(_, output)| output);
            (*exit, output)
        }
        Facts::None | Facts::Read { .. } | Facts::Edited { .. } => (None, &outcome.text),
    }
}

/// Objects by sorted keys, so that the order in which a model writes them does not matter.
fn hash_value(value: Value<'_>, hash: &mut DefaultHasher) {
    match value.kind() {
        Kind::Object => {
            let mut members: Vec<_> = value.members().collect();
            sort::by_key(&mut members, |(key, _)| *key);
            members.len().hash(hash);
            for (key, member) in members {
                key.hash(hash);
                hash_value(member, hash);
            }
        }
        Kind::Array => {
            let items: Vec<_> = value.items().collect();
            items.len().hash(hash);
            items.into_iter().for_each(|item| hash_value(item, hash));
        }
        Kind::String => value.as_str().hash(hash),
        Kind::Number => value.as_number().map(|number| number.text).hash(hash),
        Kind::Bool => value.as_bool().hash(hash),
        Kind::Null => 0u8.hash(hash),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Each letter is one finished call; the answer has one letter for each: `.` no, `n` note, `e` enough, `s` stop. A `|` ends a reply;
    /// without any each call is one.
    #[track_caller]
    fn check(calls: &str, expected: &str) {
        let mut guard = Guard::default();
        let mut verdicts = String::new();
        for call in calls.bytes() {
            if call == b'|' {
                guard.told();
                continue;
            }
            verdicts.push(match guard.push(u64::from(call)) {
                Repeat::No => '.',
                Repeat::Note { .. } => 'n',
                Repeat::Enough => 'e',
                Repeat::Stop { .. } => 's',
            });
            if !calls.contains('|') {
                guard.told();
            }
        }
        assert_eq!(verdicts, expected, "{calls}");
    }

    #[test]
    fn nobody_is_stopped_before_he_was_told() {
        check("aaaaa|a", "..n.es");
        check("aaaa|a|a", "..n.ss");
        check("aaaaaaaa|b|a", "..n.eeee..");
        check("a|a|aaa|a", "..n.es");
        check("ababababab|a", ".....n...es");
        // Told of one loop is not told of the next.
        check("aaa|bbbbb|b", "..n..n.es");
    }

    #[test]
    fn the_third_time_is_noted_and_the_fifth_stops() {
        check("aaaaa", "..n.s");
        check("xaaaaa", "...n.s");
        check("aabaab", "......");
        check("aabaabaab", "........n");
        check("baabaabaa", "........n");
    }

    #[test]
    fn cycles_up_to_four_calls_are_seen() {
        check("ababab", ".....n");
        check("abababab", ".....n..");
        check("ababababab", ".....n...s");
        check("abcdabcdabcd", "...........n");
        check("abcdabcdabcdabcdabcd", "...........n.......s");
        check("abcdeabcdeabcde", "...............");
    }

    #[test]
    fn something_new_breaks_the_count() {
        check("aabaaa", ".....n");
        check("aaaabaaaa", "..n....n.");
    }

    #[test]
    fn a_loop_that_goes_on_is_noted_once_and_stopped_each_time() {
        check(&"a".repeat(30), &format!("..n.{}", "s".repeat(26)));
    }

    #[test]
    fn go_on_counts_anew() {
        let mut guard = Guard::default();
        for _ in 0..4 {
            guard.push(1);
        }
        guard.told();
        let stop = Repeat::Stop { cycle: 1, times: 5 };
        assert_eq!(guard.push(1), stop);
        guard.reset();
        assert_eq!(guard.push(1), Repeat::No);
        assert_eq!(guard.push(1), Repeat::No);
        assert_eq!(guard.push(1), Repeat::Note { cycle: 1 });
    }
}
