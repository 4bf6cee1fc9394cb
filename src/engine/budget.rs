//! When the conversation is shortened, and what its parts may then take: figures in tokens, from the window and the settings. Pure; `compact`
//! asks here.
//!
//! ```text
//! window   begins at   checkpoint   recent   user   last round   least yield
//!  8,192       6,553          819    1,024     512        2,048         2,048
//! 32,768      26,214        2,048    4,096   2,048        8,192         2,048
//! 131,072     49,152        2,048   16,384   4,096       32,768         2,048      the limit in tokens decides
//! ```
//!
//! A compaction that would free less than the least yield is not made. Then, and after one that was made, the next one waits until the
//! request has grown by the least yield beyond what it was; two that came to nothing, one after the other, end the automatic ones until a
//! person asks for one that succeeds.
//!
//! Invariant: between two automatic compactions the request grows by at least the least yield, so they cannot follow each other without work
//! in between.

use crate::session::Record;

/// When to shorten by ourselves.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Compaction {
    /// Of the window; `None`: never by ourselves.
    pub percent: Option<u64>,
    /// Whatever the window; `None`: the percentage alone decides.
    pub tokens: Option<u64>,
    /// In one turn.
    pub per_turn: u64,
}

impl Default for Compaction {
    /// Most models get unreliable somewhere past 25,000 tokens, long before a large window is full. Twice that is where a user who gave
    /// the model such a window is better off with a summary. Up to the window that is taken without being asked for, 32,768, the percentage
    /// is reached first.
    fn default() -> Compaction {
        Compaction {
            percent: Some(80),
            tokens: Some(49_152),
            per_turn: 32,
        }
    }
}

/// Compactions in a row that came to nothing before they are no longer tried.
const MAX_POOR: u32 = 2;

/// The state of a session.
#[derive(Debug)]
pub(super) struct Budget {
    settings: Compaction,
    /// Not below this.
    armed_at: u64,
    poor: u32,
    /// In this session.
    pub(super) count: u64,
    /// In this turn.
    in_turn: u64,
    /// Somebody wants one before the next request.
    pub(super) asked: bool,
}

impl Budget {
    pub(super) fn new(settings: Compaction) -> Budget {
        Budget {
            settings,
            armed_at: 0,
            poor: 0,
            count: 0,
            in_turn: 0,
            asked: false,
        }
    }

    /// A session that is taken up again goes on counting.
    pub(super) fn goes_on(&mut self, records: &[Record]) {
        let made = |record: &&Record| matches!(record, Record::Checkpoint(_));
        self.count = records.iter().filter(made).count() as u64;
    }

    pub(super) fn begin_turn(&mut self) {
        self.in_turn = 0;
    }

    /// The size of a request that is not sent before the conversation was shortened; `None`: any is.
    pub(super) fn begins_at(&self, window: u64) -> Option<u64> {
        let percent = self.settings.percent.filter(|_| self.poor < MAX_POOR)?;
        let share = window.saturating_mul(percent) / 100;
        let limit = self.settings.tokens.unwrap_or(u64::MAX);
        Some(share.min(limit).max(self.armed_at))
    }

    /// Whether a request of so many tokens has to be shortened first.
    pub(super) fn is_due(&self, tokens: u64, window: u64) -> bool {
        self.begins_at(window).is_some_and(|at| tokens >= at)
    }

    /// The limit for one turn, when it is reached.
    pub(super) fn spent(&self) -> Option<u64> {
        let most = self.settings.per_turn;
        (self.in_turn >= most).then_some(most)
    }

    /// The conversation has so many tokens now.
    pub(super) fn shortened(&mut self, after: u64, window: u64) {
        self.count += 1;
        self.in_turn += 1;
        self.poor = 0;
        self.armed_at = after + least_yield(window);
    }

    /// It came to nothing, at so many tokens. True when this was the last try by ourselves.
    pub(super) fn in_vain(&mut self, tokens: u64, window: u64) -> bool {
        self.in_turn += 1;
        self.poor += 1;
        self.armed_at = tokens + least_yield(window);
        self.poor == MAX_POOR
    }
}

/// What the model may write about what is left out.
pub(super) fn checkpoint(window: u64) -> u64 {
    (window / 10).min(2_048)
}

/// The last messages that stay word for word.
pub(super) fn recent(window: u64) -> u64 {
    (window / 8).min(16_384)
}

/// Further messages of the user.
pub(super) fn user(window: u64) -> u64 {
    (window / 16).min(4_096)
}

/// Calls and results that the model has not answered yet: a whole read (a quarter of the window) must not be lost before it was used.
pub(super) fn last_round(window: u64) -> u64 {
    window / 4
}

/// A compaction that frees less is not worth its price: a request, and the prompt read anew.
pub(super) fn least_yield(window: u64) -> u64 {
    (window / 4).min(2_048)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(window: u64, settings: Compaction, expected: Option<u64>) {
        assert_eq!(Budget::new(settings).begins_at(window), expected);
    }

    #[test]
    fn the_smaller_of_share_and_limit_counts() {
        let default = Compaction::default();
        check(8_192, default, Some(6_553));
        check(32_768, default, Some(26_214));
        check(61_440, default, Some(49_152));
        check(131_072, default, Some(49_152));
        let tokens = None;
        check(131_072, Compaction { tokens, ..default }, Some(104_857));
        let percent = None;
        check(131_072, Compaction { percent, ..default }, None);
    }

    #[test]
    fn parts_fit_into_the_smallest_window() {
        for window in [4_096, 8_192, 16_384, 32_768, 131_072] {
            // System prompt and tools have about 1,250 tokens.
            let stays = 1_250 + checkpoint(window) + user(window) + last_round(window);
            let begins = Budget::new(Compaction::default()).begins_at(window);
            let left = begins.map(|begins| begins.saturating_sub(stays));
            assert!(left >= Some(least_yield(window) / 4), "{window}: {left:?}");
        }
    }

    #[test]
    fn the_threshold_is_armed_above_the_new_size() {
        let mut budget = Budget::new(Compaction::default());
        assert!(!budget.is_due(6_552, 8_192));
        assert!(budget.is_due(6_553, 8_192));
        budget.shortened(3_000, 8_192);
        assert!(!budget.is_due(6_552, 8_192));
        assert!(budget.is_due(6_553, 8_192));
        // Much that cannot be left out.
        budget.shortened(5_500, 8_192);
        assert!(!budget.is_due(7_547, 8_192));
        assert!(budget.is_due(7_548, 8_192));
        assert_eq!(budget.count, 2);
    }

    #[test]
    fn two_in_vain_in_a_row_are_the_last_ones() {
        let mut budget = Budget::new(Compaction::default());
        assert!(!budget.in_vain(6_600, 8_192));
        assert!(!budget.is_due(8_647, 8_192));
        assert!(budget.is_due(8_648, 8_192));
        budget.shortened(4_000, 8_192);
        assert!(!budget.in_vain(6_600, 8_192));
        assert!(budget.in_vain(6_600, 8_192));
        assert_eq!(budget.begins_at(8_192), None);
        budget.shortened(3_000, 8_192);
        assert_eq!(budget.begins_at(8_192), Some(6_553));
    }

    #[test]
    fn a_turn_has_a_limit() {
        let per_turn = 2;
        let mut budget = Budget::new(Compaction {
            per_turn,
            ..Compaction::default()
        });
        budget.shortened(1, 8_192);
        assert_eq!(budget.spent(), None);
        budget.in_vain(1, 8_192);
        assert_eq!(budget.spent(), Some(2));
        budget.begin_turn();
        assert_eq!(budget.spent(), None);
    }
}
