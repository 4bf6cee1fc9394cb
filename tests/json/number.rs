//! The grammar of numbers, and what they mean on request.
use super::{check, refused};
use zcoder::json::Number;

#[track_caller]
fn kept(number: &str) {
    check(number, number, number);
    check(
        format!("[{number} ,{number}]"),
        &format!("[ {number} {number} ]"),
        &format!("[{number},{number}]"),
    );
    check(
        format!("{{\"n\":{number}}}"),
        &format!("{{ n: {number} }}"),
        &format!("{{\"n\":{number}}}"),
    );
}

#[test]
fn numbers_keep_their_text() {
    for number in [
        "0", "-0", "7", "-7", "10", "1.5", "-0.25", "0.0", "1e5", "1E5", "1e+5", "1e-5", "0e0",
        "0.1e-7", "1E+2", "20e1", "1.0e00",
    ] {
        kept(number);
    }
    kept("1e999");
    kept("-1e-99999999999999999999");
    kept("9007199254740993");
    kept("1234567890123456789012345678901234567890");
    kept("-65.613616999999977");
    kept(&"9".repeat(300));
    kept(&format!("0.{}", "123".repeat(50)));
}

#[test]
fn malformed_numbers_are_refused() {
    refused("-", "expected a digit after `-` at byte 1, found the end");
    refused("[-]", "expected a digit after `-` at byte 2, found `]`");
    refused("--1", "expected a digit after `-` at byte 1, found `-`");
    refused("-a", "expected a digit after `-` at byte 1, found `a`");
    refused("-.5", "expected a digit after `-` at byte 1, found `.`");
    refused("+1", "expected a value at byte 0, found `+`");
    refused(".5", "expected a value at byte 0, found `.`");
    refused(
        "01",
        "expected no digit after a leading zero at byte 1, found `1`",
    );
    refused(
        "-01",
        "expected no digit after a leading zero at byte 2, found `1`",
    );
    refused(
        "00",
        "expected no digit after a leading zero at byte 1, found `0`",
    );
    refused(
        "[-012]",
        "expected no digit after a leading zero at byte 3, found `1`",
    );
    refused(
        "1.",
        "expected a digit after the decimal point at byte 2, found the end",
    );
    refused(
        "[1.]",
        "expected a digit after the decimal point at byte 3, found `]`",
    );
    refused(
        "1.e1",
        "expected a digit after the decimal point at byte 2, found `e`",
    );
    refused(
        "1.-1",
        "expected a digit after the decimal point at byte 2, found `-`",
    );
    refused(
        "1e",
        "expected a digit in the exponent at byte 2, found the end",
    );
    refused(
        "1e+",
        "expected a digit in the exponent at byte 3, found the end",
    );
    refused(
        "[1E-]",
        "expected a digit in the exponent at byte 4, found `]`",
    );
    refused(
        "1e+-1",
        "expected a digit in the exponent at byte 3, found `-`",
    );
    refused(
        "1.5.2",
        "expected nothing after the value at byte 3, found `.`",
    );
    refused(
        "1e1.5",
        "expected nothing after the value at byte 3, found `.`",
    );
    refused(
        "0x1f",
        "expected nothing after the value at byte 1, found `x`",
    );
    refused(
        "1_000",
        "expected nothing after the value at byte 1, found `_`",
    );
    refused(
        "1 000",
        "expected nothing after the value at byte 2, found `0`",
    );
    refused(
        "[1a]",
        "expected a comma or `]` in an array at byte 2, found `a`",
    );
    refused("\u{ff11}", "expected a value at byte 0, found byte 0xef");
    refused(
        "1\u{ff11}",
        "expected nothing after the value at byte 1, found byte 0xef",
    );
}

#[track_caller]
fn integer(text: &str, unsigned: Option<u64>, signed: Option<i64>) {
    let number = Number { text };
    assert_eq!((number.as_u64(), number.as_i64()), (unsigned, signed));
}

#[test]
fn integers_are_exact_or_refused() {
    integer("0", Some(0), Some(0));
    integer("-0", Some(0), Some(0));
    integer("42", Some(42), Some(42));
    integer("-42", None, Some(-42));
    integer("12.0", Some(12), Some(12));
    integer("-12.000", None, Some(-12));
    integer("12.5", None, None);
    integer("1e2", Some(100), Some(100));
    integer("1E+2", Some(100), Some(100));
    integer("1.25e2", Some(125), Some(125));
    integer("1.25e1", None, None);
    integer("120e-1", Some(12), Some(12));
    integer("125e-1", None, None);
    integer("0.00", Some(0), Some(0));
    integer("0e999999999999999999999", Some(0), Some(0));
    integer("0.003e3", Some(3), Some(3));
    integer("1e-1", None, None);
    integer("1e999999999999999999999", None, None);
    integer("1e9223372036854775807", None, None);
    integer("1e-9223372036854775808", None, None);
    integer("1e999", None, None);
    integer("1e-999", None, None);
}

#[test]
fn integers_end_where_the_types_end() {
    integer("9223372036854775807", Some(i64::MAX as u64), Some(i64::MAX));
    integer("9223372036854775808", Some(1 << 63), None);
    integer("-9223372036854775808", None, Some(i64::MIN));
    integer("-9223372036854775809", None, None);
    integer("18446744073709551615", Some(u64::MAX), None);
    integer("18446744073709551616", None, None);
    integer("-18446744073709551616", None, None);
    integer("184467440737095516150e-1", Some(u64::MAX), None);
    integer("1e19", Some(10_000_000_000_000_000_000), None);
    integer("1e20", None, None);
}

#[test]
fn floats_are_the_nearest_ones() {
    let float = |text| Number { text }.as_f64();
    assert_eq!(float("0.1"), 0.1);
    assert_eq!(float("-1.5e3"), -1500.0);
    assert_eq!(float("9007199254740993"), 9007199254740992.0);
    assert_eq!(float("1e999"), f64::INFINITY);
    assert_eq!(float("-1e999"), f64::NEG_INFINITY);
    assert_eq!(float("1e-999"), 0.0);
    assert!(float("-0").is_sign_negative());
}
