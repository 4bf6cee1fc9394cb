//! A number as it was written, and what it means on request. JSON's numbers have no size (RFC 8259 6); ids of 19 digits and `1e999`
//! pass through unharmed because nobody converts them on the way.
//!
//! ```text
//! 12   12.0   1.2e1   120e-1      all are the integer 12
//! 12.5  1e-1                      no integers
//! 18446744073709551616            no u64, the nearest f64 is 1.8446744073709552e19
//! ```
//!
//! Invariant: integers are exact or refused; nothing is rounded, clamped or wrapped.

/// A number as it was written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Number<'t> {
    /// Its text, by the grammar of RFC 8259 6.
    pub text: &'t str,
}

impl Number<'_> {
    /// Exact non-negative integer that fits (also `12.0`, `1e2`, `-0`).
    pub fn as_u64(self) -> Option<u64> {
        match self.integer()? {
            (_, 0) => Some(0),
            (true, _) => None,
            (false, magnitude) => Some(magnitude),
        }
    }

    /// Exact integer that fits.
    pub fn as_i64(self) -> Option<i64> {
        match self.integer()? {
            (true, magnitude) => 0i64.checked_sub_unsigned(magnitude),
            (false, magnitude) => i64::try_from(magnitude).ok(),
        }
    }

    /// Nearest float (may be infinite).
    pub fn as_f64(self) -> f64 {
        self.text.parse().unwrap_or(f64::NAN)
    }

    /// Sign and magnitude, if it is an integer whose magnitude fits.
    fn integer(self) -> Option<(bool, u64)> {
        let (negative, text) = match self.text.strip_prefix('-') {
            Some(text) => (true, text),
            None => (false, self.text),
        };
        let (mantissa, exponent) = text.split_once(['e', 'E']).unwrap_or((text, "0"));
        let (whole, fraction) = mantissa.split_once('.').unwrap_or((mantissa, ""));
        let digits = || whole.bytes().chain(fraction.bytes());
        if digits().all(|digit| digit == b'0') {
            return Some((negative, 0));
        }
        // Not zero: an exponent too long for an i64 moves the point out of reach of any text that fits in memory.
        let exponent: i64 = exponent.parse().ok()?;
        // Digits before the decimal point once the exponent is applied.
        let whole_digits = exponent.checked_add_unsigned(whole.len() as u64)?;
        let mut magnitude: u64 = 0;
        let mut place = 0;
        for digit in digits() {
            let digit = u64::from(digit - b'0');
            if place < whole_digits {
                magnitude = magnitude.checked_mul(10)?.checked_add(digit)?;
            } else if digit != 0 {
                return None;
            }
            place += 1;
        }
        while place < whole_digits {
            magnitude = magnitude.checked_mul(10)?; // ends after 20 rounds: it is not zero
            place += 1;
        }
        Some((negative, magnitude))
    }
}
