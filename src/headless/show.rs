//! Numbers and times as people read them.
//!
//! ```text
//! clock(72 s) → "1:12"     seconds(1.234 s) → "1.2 s"     speed(80, 2 s) → Some("40 tokens/s")
//! ```

use crate::protocol::{FileChange, Goal, GoalState, InputState, Way};
use crate::text::{counted, grouped};
use std::time::Duration;

/// `0:42`, `1:02:03`.
pub fn clock(time: Duration) -> String {
    let all = time.as_secs();
    let (hours, minutes, seconds) = (all / 3600, all / 60 % 60, all % 60);
    match hours {
        0 => format!("{minutes}:{seconds:02}"),
        _ => format!("{hours}:{minutes:02}:{seconds:02}"),
    }
}

/// `12 ms` below a second, `1.2 s` below a minute, then as a clock.
pub fn seconds(time: Duration) -> String {
    match time.as_secs() {
        0 => format!("{} ms", time.as_millis()),
        1..60 => format!("{:.1} s", time.as_secs_f64()),
        _ => clock(time),
    }
}

/// When a message is delivered, in one word.
pub fn way(way: Way) -> &'static str {
    match way {
        Way::Steer => "steer",
        Way::Queue => "queue",
        Way::Shell { in_context: true } => "shell",
        Way::Shell { in_context: false } => "shell_apart",
    }
}

/// What became of a message, in one word, and why it was refused.
pub fn input_state(state: &InputState) -> (&'static str, Option<&str>) {
    match state {
        InputState::Accepted => ("accepted", None),
        InputState::Consumed => ("consumed", None),
        InputState::Discarded => ("discarded", None),
        InputState::Refused { reason } => ("refused", Some(reason)),
    }
}

/// In one word.
pub fn goal_state(state: GoalState) -> &'static str {
    match state {
        GoalState::Running => "running",
        GoalState::Paused => "paused",
        GoalState::Met => "met",
        GoalState::Cleared => "cleared",
    }
}

/// State, cost and reason on one line, then the objective and what the verifier missed last.
pub fn goal(goal: Option<&Goal>) -> String {
    let Some(goal) = goal else {
        return "no goal".to_string();
    };
    let mut out = format!(
        "{}, {} tokens",
        goal_state(goal.state),
        grouped(goal.tokens)
    );
    if let Some(limit) = goal.limit {
        out.push_str(&format!(" of {}", grouped(limit)));
    }
    if goal.rejections > 0 {
        out.push_str(&format!(", rejected {}", counted(goal.rejections, "time")));
    }
    for more in [&goal.reason, &goal.objective, &goal.feedback] {
        if !more.is_empty() {
            let mark = if std::ptr::eq(more, &goal.reason) {
                ": "
            } else {
                "\n"
            };
            out.push_str(mark);
            out.push_str(more);
        }
    }
    out
}

/// Below this a time is no measurement but a placeholder (a server that reports 1 ns), or the clock's step.
const LEAST_TIME: Duration = Duration::from_millis(1);

/// Tokens per second, when the server said how long it took.
pub fn speed(tokens: u64, time: Duration) -> Option<String> {
    if tokens == 0 || time < LEAST_TIME {
        return None;
    }
    // Both are far below 2^52: the quotient is exact enough for two digits.
    let speed = tokens as f64 / time.as_secs_f64();
    Some(format!("{} tokens/s", grouped(speed.round() as u64)))
}

/// What to add to a file's line where the right to execute changes.
pub fn execution(file: &FileChange) -> &'static str {
    match file.executable {
        Some(true) => ", executable",
        Some(false) => ", no longer executable",
        None => "",
    }
}

/// A server rarely tells how many tokens a piece of text was; four bytes a token is the usual mean of English and code.
pub fn tokens_of(bytes: u64) -> u64 {
    bytes.div_ceil(4)
}
