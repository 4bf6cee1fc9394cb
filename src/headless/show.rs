//! Numbers and times as people read them.
//!
//! ```text
//! counted(1, "call") → "1 call"     clock(72 s) → "1:12"     seconds(1.234 s) → "1.2 s"     speed(80, 2 s) → Some("40 tokens/s")
//! ```

use crate::protocol::FileChange;
use crate::text::grouped;
use std::time::Duration;

/// `3 calls`, `1 call`.
pub fn counted(n: u64, one: &str) -> String {
    let plural = if n == 1 { "" } else { "s" };
    format!("{} {one}{plural}", grouped(n))
}

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

/// Tokens per second, when the server said how long it took.
pub fn speed(tokens: u64, time: Duration) -> Option<String> {
    if tokens == 0 || time.is_zero() {
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
