//! The clock of what does not happen: when the client has to look up from waiting, and what it says then.
//!
//! ```text
//! request written 14:02:00, limit 15 min     looks at 14:02:01, :02, :03 ... "nothing for 3 s"
//! first byte      14:05:30, limit 5 min      looks at 14:05:31 ...
//! nothing more    14:10:30                   Error::Silent
//! ```
//!
//! Invariant: any byte received, and any the peer takes from us, starts it anew; there is no total limit.
use super::Error;
use super::step::{Step, Timeouts};
use std::time::{Duration, Instant};

/// The clock.
pub(super) struct Silence<'a> {
    timeouts: &'a Timeouts,
    since: Instant,
    seconds_told: u64,
    after_first_byte: bool,
}

impl Silence<'_> {
    pub(super) fn new(timeouts: &Timeouts) -> Silence<'_> {
        Silence {
            timeouts,
            since: Instant::now(),
            seconds_told: 0,
            after_first_byte: false,
        }
    }

    pub(super) fn progress(&mut self) {
        self.since = Instant::now();
        self.seconds_told = 0;
    }

    pub(super) fn received(&mut self) {
        self.progress();
        self.after_first_byte = true;
    }

    pub(super) fn limit(&self) -> Option<Duration> {
        if self.after_first_byte {
            self.timeouts.gap
        } else {
            self.timeouts.first_byte
        }
    }

    pub(super) fn next_look(&self) -> Instant {
        let second = Duration::from_secs(self.seconds_told + 1);
        self.since + self.limit().map_or(second, |limit| limit.min(second))
    }

    pub(super) fn look(&mut self, address: &str) -> Result<Step<'static>, Error> {
        let elapsed = self.since.elapsed();
        match self.limit() {
            Some(limit) if elapsed >= limit => Err(Error::Silent {
                address: address.to_owned(),
                limit,
                after_first_byte: self.after_first_byte,
            }),
            Some(_) | None => {
                self.seconds_told = elapsed.as_secs();
                Ok(Step::Silent {
                    elapsed,
                    after_first_byte: self.after_first_byte,
                })
            }
        }
    }
}
