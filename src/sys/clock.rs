//! Points in time as text: UTC for disk and wire, local time for people. Takes a `SystemTime`, so tests and callers say which; reads no
//! clock itself.
//!
//! ```text
//! 1_787_302_800.123 s after 1970  →  20,686 days and 32,400.123 s  →  2026-08-21 and 09:00:00.123
//! rfc3339     2026-08-21T09:00:00.123Z      (RFC 3339 5.6, always three decimals, always Z)
//! parse_rfc3339                             the way back
//! local_date  2026-08-21                    local_hh_mm  11:00    (in Berlin)
//! ```
//!
//! Limits: years 0 to 9999 have four digits as the RFC wants; others keep their sign and digits. Times before 1970 work.
//!
//! Invariant: text of two times compares as the times do (within four-digit years), so names made of it sort.
//!
//! Read next: `ffi.rs` (`localtime_r`), the only part that asks the system.

use super::ffi;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

/// `2026-08-21T09:00:00.123Z`: milliseconds, cut and not rounded.
pub fn rfc3339(time: SystemTime) -> String {
    let millis = millis_since_1970(time);
    let (seconds, millis) = (millis.div_euclid(1000), millis.rem_euclid(1000));
    let (days, of_day) = (seconds.div_euclid(86_400), seconds.rem_euclid(86_400));
    let (year, month, day) = civil(days);
    let (hour, minute, second) = (of_day / 3600, of_day / 60 % 60, of_day % 60);
    format!("{year:04}-{month:02}-{day:02}T{hour:02}:{minute:02}:{second:02}.{millis:03}Z")
}

/// Reads what [`rfc3339`] writes, to the millisecond; `None` for anything else (other precisions and zones too).
pub fn parse_rfc3339(text: &str) -> Option<SystemTime> {
    let (year, rest) = text.split_at_checked(text.len().checked_sub(20)?)?;
    let rest = rest.as_bytes();
    let fits = |(byte, like): (&u8, &u8)| match like {
        b'0' => byte.is_ascii_digit(),
        _ => byte == like,
    };
    if !rest.iter().zip(b"-00-00T00:00:00.000Z").all(fits) {
        return None;
    }
    let digits = |from: usize, to: usize, below: u32| {
        let digits = rest[from..to].iter();
        let number = digits.fold(0, |sum, digit| sum * 10 + u32::from(digit - b'0'));
        (number < below).then_some(number)
    };
    let date = (year.parse().ok()?, digits(1, 3, 13)?, digits(4, 6, 32)?);
    let days = days_since_1970(date)?;
    // A 30 February comes out as something else.
    if civil(days) != date || year.len() < 4 || year.starts_with('+') {
        return None;
    }
    let of_day = digits(7, 9, 24)? * 3600 + digits(10, 12, 60)? * 60 + digits(13, 15, 60)?;
    let seconds = days.checked_mul(86_400)?.checked_add(i64::from(of_day))?;
    let millis = i64::from(digits(16, 19, 1000)?);
    after_1970(seconds.checked_mul(1000)?.checked_add(millis)?)
}

/// The time as [`rfc3339`] writes it, without what it cuts off.
pub fn whole_millis(time: SystemTime) -> SystemTime {
    after_1970(millis_since_1970(time)).unwrap_or(time)
}

/// `None`: no clock of this system can show it.
fn after_1970(millis: i64) -> Option<SystemTime> {
    match u64::try_from(millis) {
        Ok(after) => UNIX_EPOCH.checked_add(Duration::from_millis(after)),
        Err(_) => UNIX_EPOCH.checked_sub(Duration::from_millis(millis.unsigned_abs())),
    }
}

/// `14:02` in the user's zone (UTC when the zone cannot be read).
pub fn local_hh_mm(time: SystemTime) -> String {
    let local = local(time);
    format!("{:02}:{:02}", local.hour, local.minute)
}

/// `2026-08-21` in the user's zone (UTC when the zone cannot be read).
pub fn local_date(time: SystemTime) -> String {
    let local = local(time);
    format!("{:04}-{:02}-{:02}", local.year, local.month, local.day)
}

fn local(time: SystemTime) -> ffi::Local {
    let seconds = millis_since_1970(time).div_euclid(1000);
    ffi::local_time(seconds).unwrap_or_else(|| {
        let (year, month, day) = civil(seconds.div_euclid(86_400));
        let of_day = seconds.rem_euclid(86_400) as u32;
        ffi::Local {
            year,
            month,
            day,
            hour: of_day / 3600,
            minute: of_day / 60 % 60,
        }
    })
}

/// Negative before 1970; a time beyond 292 million years sticks to the end.
fn millis_since_1970(time: SystemTime) -> i64 {
    match time.duration_since(UNIX_EPOCH) {
        Ok(after) => i64::try_from(after.as_millis()).unwrap_or(i64::MAX),
        // Toward the past, so that the cut is in the same direction on both sides of 1970.
        Err(before) => {
            let millis = before.duration().as_nanos().div_ceil(1_000_000);
            i64::try_from(millis).map_or(i64::MIN, |millis| -millis)
        }
    }
}

/// Days since 1970-01-01 to year, month, day of the Gregorian calendar, carried back before its start. Years are counted from March:
/// the leap day is then the last day of a year, and month lengths follow 153 days per 5 months.
fn civil(days: i64) -> (i64, u32, u32) {
    const DAYS_OF_400_YEARS: i64 = 146_097;
    // From 0000-03-01.
    let days = days + 719_468;
    let (era, day) = (
        days.div_euclid(DAYS_OF_400_YEARS),
        days.rem_euclid(DAYS_OF_400_YEARS),
    );
    let year = (day - day / 1460 + day / 36_524 - day / 146_096) / 365;
    let day = day - (365 * year + year / 4 - year / 100);
    let month = (5 * day + 2) / 153;
    let day = day - (153 * month + 2) / 5 + 1;
    let (month, next_year) = if month < 10 {
        (month + 3, 0)
    } else {
        (month - 9, 1)
    };
    (era * 400 + year + next_year, month as u32, day as u32)
}

/// The way back of [`civil`]; `None` for years that no clock shows.
fn days_since_1970((year, month, day): (i64, u32, u32)) -> Option<i64> {
    if month == 0 || year.unsigned_abs() > 1_000_000_000 {
        return None;
    }
    let (year, month) = match month {
        1 | 2 => (year - 1, month + 9),
        _ => (year, month - 3),
    };
    let (era, year) = (year.div_euclid(400), year.rem_euclid(400));
    let day = i64::from((153 * month + 2) / 5 + day) - 1;
    Some(era * 146_097 + year * 365 + year / 4 - year / 100 + day - 719_468)
}
