//! Times as text: the calendar against known days, both sides of 1970, and the zone as a child process sees it.

use std::process::Command;
use std::time::{Duration, SystemTime, UNIX_EPOCH};
use zcoder::sys::clock::{local_date, local_hh_mm, parse_rfc3339, rfc3339, whole_millis};

fn after(millis: u64) -> SystemTime {
    UNIX_EPOCH + Duration::from_millis(millis)
}

#[track_caller]
fn check(time: SystemTime, expected: &str) {
    assert_eq!(rfc3339(time), expected);
    let read = parse_rfc3339(expected).expect("what was written is read");
    assert_eq!(rfc3339(read), expected);
}

#[test]
fn a_time_is_read_as_it_is_written_and_in_no_other_form() {
    let time = after(1_787_302_800_123);
    assert_eq!(parse_rfc3339("2026-08-21T09:00:00.123Z"), Some(time));
    // Every day of 800 years, so every leap rule twice.
    for day in 0..292_194 {
        let time = UNIX_EPOCH - Duration::from_secs(86_400 * 100_000);
        let time = time + Duration::from_secs(86_400 * day);
        assert_eq!(parse_rfc3339(&rfc3339(time)), Some(time));
    }
    let others = [
        "",
        "2026-08-21",
        "2026-08-21T09:00:00Z",
        "2026-08-21T09:00:00.12Z",
        "2026-08-21T09:00:00.1234Z",
        "2026-08-21T09:00:00.123",
        "2026-08-21T09:00:00.123+02:00",
        "2026-08-21 09:00:00.123Z",
        "2026-08-21T9:00:00.123Z",
        "2026-08-21T24:00:00.123Z",
        "2026-08-21T09:60:00.123Z",
        "2026-08-21T09:00:60.123Z",
        "2026-02-29T09:00:00.123Z",
        "2026-13-21T09:00:00.123Z",
        "2026-00-21T09:00:00.123Z",
        "2026-08-00T09:00:00.123Z",
        "2026-08-+1T09:00:00.123Z",
        "+2026-08-21T09:00:00.123Z",
        "26-08-21T09:00:00.123Z",
        "2026-08-21T09:00:00.12\u{663}Z",
        "99999999999999999999-08-21T09:00:00.123Z",
        "-292277022399-01-01T00:00:00.000Z",
    ];
    for text in others {
        assert_eq!(parse_rfc3339(text), None, "{text}");
    }
}

#[test]
fn rfc3339_knows_the_calendar() {
    check(after(0), "1970-01-01T00:00:00.000Z");
    check(after(1), "1970-01-01T00:00:00.001Z");
    check(after(86_399_999), "1970-01-01T23:59:59.999Z");
    check(after(86_400_000), "1970-01-02T00:00:00.000Z");
    check(after(1_787_302_800_123), "2026-08-21T09:00:00.123Z");
    check(after(951_782_400_000), "2000-02-29T00:00:00.000Z");
    check(after(951_868_800_000), "2000-03-01T00:00:00.000Z");
    check(after(1_709_164_800_000), "2024-02-29T00:00:00.000Z");
    check(after(1_735_689_599_000), "2024-12-31T23:59:59.000Z");
    check(after(4_107_542_400_000), "2100-03-01T00:00:00.000Z");
    check(after(4_107_456_000_000), "2100-02-28T00:00:00.000Z");
    check(after(253_402_300_799_999), "9999-12-31T23:59:59.999Z");
}

#[test]
fn times_before_1970_are_cut_in_the_same_direction() {
    let before = |nanos| UNIX_EPOCH - Duration::from_nanos(nanos);
    check(before(1), "1969-12-31T23:59:59.999Z");
    assert_eq!(whole_millis(before(1)), before(1_000_000));
    assert_eq!(
        whole_millis(after(1) + Duration::from_nanos(999_999)),
        after(1)
    );
    check(before(1_000_000), "1969-12-31T23:59:59.999Z");
    check(before(1_000_001), "1969-12-31T23:59:59.998Z");
    check(before(86_400_000_000_000 * 365), "1969-01-01T00:00:00.000Z");
}

#[test]
fn every_day_of_four_centuries_follows_the_one_before() {
    fn days_in(year: u32, month: u32) -> u32 {
        match month {
            4 | 6 | 9 | 11 => 30,
            2 if year % 4 == 0 && (year % 100 != 0 || year % 400 == 0) => 29,
            2 => 28,
            _ => 31,
        }
    }
    let (mut year, mut month, mut day) = (1970, 1, 1);
    for number in 0..146_097_u64 {
        let text = rfc3339(after(number * 86_400_000));
        assert_eq!(text[..10], format!("{year:04}-{month:02}-{day:02}"));
        day += 1;
        if day > days_in(year, month) {
            (month, day) = (month + 1, 1);
        }
        if month > 12 {
            (year, month) = (year + 1, 1);
        }
    }
}

/// Prints a fixed time in the zone that its parent chose; the zone of a running process cannot be changed safely.
#[test]
#[ignore = "run by local_time_follows_the_zone in a process of its own"]
fn helper_local_time() {
    let time = after(1_787_355_000_000);
    println!("<{} {}>", local_date(time), local_hh_mm(time));
}

#[test]
fn local_time_follows_the_zone() {
    #[track_caller]
    fn check(zone: &str, expected: &str) {
        let output = Command::new(std::env::current_exe().unwrap())
            .args(["sys::clock::helper_local_time", "--exact", "--ignored"])
            .arg("--nocapture")
            .env("TZ", zone)
            .output()
            .unwrap();
        let stdout = String::from_utf8(output.stdout).unwrap();
        assert!(stdout.contains(expected), "{zone}: {stdout}");
    }
    check("UTC0", "<2026-08-21 23:30>");
    check("XYZ-05:30", "<2026-08-22 05:00>");
    check("XYZ+08", "<2026-08-21 15:30>");
    check("CET-1CEST,M3.5.0,M10.5.0/3", "<2026-08-22 01:30>");
    check("no such zone", "<2026-08-21 23:30>");
}
