//! How many tokens a request will be: a guess from its bytes, calibrated by what the server counted for the last one. The turn asks
//! before it sends (does it fit?) and compares after the reply (was anything dropped?).
//!
//! ```text
//! first request          3,812 bytes                          → 3,812 / 3 = 1,271 tokens
//! server: prompt_eval_count 905
//! next request           5,012 bytes, 1,200 of them new       → 905 + 1,200 / 3 = 1,305
//! after a rebuild        4,000 bytes, all of them new         → 4,000 · 905 / 3,812 and 5 % for safety = 998
//! session taken up again 4,000 bytes; its last receipt says 905 tokens for 3,812 bytes: the same
//! ```
//!
//! Three bytes a token is on the safe side: prose and code have 3.5 to 4.5 in common vocabularies, JSON escapes less. What the server
//! counted once says more: it is kept as a rate, unless it is one that no vocabulary has (a server that counts only what it read anew).
//!
//! Invariant: a guess never shrinks while the request grows.
use crate::model::cut_notice;
use crate::protocol::{Counted, Usage};
use std::time::Duration;

const BYTES_PER_TOKEN: u64 = 3;
/// Below this a time is no measurement: some servers report 1 ns for what they do not know.
const LEAST_TIME: Duration = Duration::from_millis(1);
/// A count of fewer tokens than this for the bytes is no rate.
const MOST_BYTES_PER_TOKEN: u64 = 8;

/// The estimate and its calibration.
#[derive(Debug, Default)]
pub(super) struct Meter {
    counted: Option<Counted>,
    /// The last count that can be carried over to other requests.
    rate: Option<Counted>,
    speed: Option<f64>,
    warned: bool,
}

impl Meter {
    /// Tokens of a request of this many bytes.
    pub(super) fn estimate(&self, bytes: u64) -> u64 {
        match self.counted {
            Some(counted) if bytes >= counted.bytes => {
                counted.tokens + (bytes - counted.bytes).div_ceil(BYTES_PER_TOKEN)
            }
            Some(_) | None => self.rough(bytes),
        }
    }

    /// Tokens of so many bytes that the server has not seen as they stand.
    pub(super) fn rough(&self, bytes: u64) -> u64 {
        match self.rate {
            Some(rate) => (bytes * rate.tokens * 21).div_ceil(rate.bytes * 20),
            None => bytes.div_ceil(BYTES_PER_TOKEN),
        }
    }

    /// Tokens of it that the server has not read yet.
    pub(super) fn new_tokens(&self, bytes: u64) -> u64 {
        let known = self.counted.map_or(0, |counted| counted.tokens);
        self.estimate(bytes).saturating_sub(known)
    }

    /// Last known reading speed, in tokens per second.
    pub(super) fn speed(&self) -> Option<f64> {
        self.speed
    }

    /// The server's count for a request of `bytes`. Returns what to say, once, when it looks as if part of the prompt was dropped.
    pub(super) fn count(&mut self, bytes: u64, usage: &Usage, window: u64) -> Option<String> {
        let tokens = usage.prompt_tokens?;
        let estimate = self.estimate(bytes);
        let new = self.new_tokens(bytes);
        let previous = self.counted.map(|counted| counted.tokens);
        if let Some(time) = usage.prompt_time.filter(|time| *time >= LEAST_TIME) {
            self.speed = Some(new as f64 / time.as_secs_f64());
        }
        let counted = Counted { bytes, tokens };
        self.counted = Some(counted);
        let notice = cut_notice(estimate, previous, usage, window);
        if notice.is_none() {
            self.learn(counted);
        }
        let said = self.warned;
        self.warned |= notice.is_some();
        notice.filter(|_| !said)
    }

    /// The server refused a request of `bytes` and said how many tokens it has.
    pub(super) fn refused(&mut self, bytes: u64, tokens: u64) {
        let counted = Counted { bytes, tokens };
        self.counted = Some(counted);
        self.learn(counted);
    }

    /// What an estimate of another request goes by.
    pub(super) fn rate(&self) -> Option<Counted> {
        self.rate
    }

    /// Takes a count over, if it can be one.
    pub(super) fn learn(&mut self, counted: Counted) {
        let Counted { bytes, tokens } = counted;
        if tokens <= bytes && bytes <= tokens.saturating_mul(MOST_BYTES_PER_TOKEN) {
            self.rate = Some(counted);
        }
    }

    /// The last count of the request as it stands now.
    pub(super) fn counted(&self) -> Option<u64> {
        self.counted.map(|counted| counted.tokens)
    }

    /// The request was rebuilt: its prefix is new to the server.
    pub(super) fn forget(&mut self) {
        self.counted = None;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn usage(tokens: u64, millis: u64) -> Usage {
        Usage {
            prompt_tokens: Some(tokens),
            prompt_time: Some(Duration::from_millis(millis)),
            ..Usage::default()
        }
    }

    #[test]
    fn the_first_guess_is_three_bytes_a_token() {
        let meter = Meter::default();
        assert_eq!(meter.estimate(0), 0);
        assert_eq!(meter.estimate(1), 1);
        assert_eq!(meter.estimate(3000), 1000);
        assert_eq!(meter.new_tokens(3000), 1000);
    }

    #[test]
    fn a_time_that_was_not_measured_gives_no_speed() {
        for (time, speed) in [
            (Duration::from_nanos(1), None),
            (Duration::from_micros(999), None),
            (Duration::from_millis(1), Some(1_000_000.0)),
        ] {
            let mut meter = Meter::default();
            let usage = Usage {
                prompt_time: Some(time),
                ..usage(1_000, 0)
            };
            meter.count(3_000, &usage, 16_384);
            assert_eq!(meter.speed(), speed, "{time:?}");
        }
    }

    #[test]
    fn a_count_replaces_the_guess_for_what_was_counted() {
        let mut meter = Meter::default();
        assert_eq!(meter.count(3000, &usage(800, 400), 16_384), None);
        assert_eq!(meter.estimate(3000), 800);
        assert_eq!(meter.estimate(3300), 900);
        assert_eq!(meter.new_tokens(3300), 100);
        assert_eq!(meter.speed(), Some(2500.0));
        meter.forget();
        // 3300 bytes at 800 tokens for 3000, and 5 %.
        assert_eq!(meter.estimate(3300), 924);
        assert_eq!(meter.new_tokens(3300), 924);
    }

    #[test]
    fn a_rate_that_no_vocabulary_has_is_not_carried_over() {
        let mut meter = Meter::default();
        assert_eq!(meter.count(3000, &usage(375, 0), 16_384), None);
        assert_eq!(meter.rough(3000), 394);
        assert_eq!(meter.count(3000, &usage(374, 0), 16_384), None);
        assert_eq!(meter.rough(3000), 394);
        meter.refused(3000, 3001);
        assert_eq!(meter.rough(3000), 394);
        assert_eq!(meter.estimate(3000), 3001);
        meter.refused(3000, 3000);
        assert_eq!(meter.rough(3000), 3150);
    }

    #[test]
    fn a_prompt_that_was_cut_teaches_no_rate() {
        let mut meter = Meter::default();
        // Half of the window, where three quarters were expected.
        assert!(meter.count(9400, &usage(2050, 0), 4096).is_some());
        meter.forget();
        assert_eq!(meter.estimate(3000), 1000);
    }

    #[test]
    fn a_prompt_that_was_cut_is_said_once() {
        let mut meter = Meter::default();
        assert_eq!(meter.count(6000, &usage(1500, 0), 16_384), None);
        let said = meter.count(9000, &usage(1400, 0), 16_384);
        assert_eq!(
            said.as_deref(),
            Some(
                "the server read 1,400 tokens of a prompt of about 2,500: it has probably cut the beginning; set a larger window with \
                 `--context-window` or start afresh"
            )
        );
        assert_eq!(meter.count(12_000, &usage(1, 0), 16_384), None);
    }

    #[test]
    fn a_server_that_does_not_count_changes_nothing() {
        let mut meter = Meter::default();
        assert_eq!(meter.count(3000, &Usage::default(), 16_384), None);
        assert_eq!(meter.estimate(3000), 1000);
    }
}
