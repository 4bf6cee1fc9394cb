//! What a session that goes on knows from its records.

use super::kit::{Kit, header, receipt, title, turn, user};
use crate::support::run::{Ran, standin};
use zcoder::protocol::Status;

/// Of the first request: its bytes, the tokens that were expected, and those that the server counted.
#[track_caller]
fn first_request(ran: &Ran) -> [u64; 3] {
    assert_eq!(ran.code, Some(0), "{ran:?}");
    let number = |before: &str, after: &str| {
        let (_, rest) = ran.err.split_once(before).expect(before);
        let (number, _) = rest.split_once(after).expect(after);
        number.replace(',', "").parse().expect(number)
    };
    let bytes = number("request   1: ", " bytes");
    let about = number("bytes, about ", " tokens");
    [bytes, about, number(", prompt ", " tokens")]
}

#[test]
fn the_first_estimate_goes_by_what_the_server_counted_last() {
    let (kit, server) = (Kit::new(), standin(Some("two-models")));
    let host = server.address().to_string();
    let ask = |args: &[&str]| {
        let task = ["-p", "list files", "--host", &host];
        first_request(&kit.run(&[args, &task].concat()))
    };
    let [bytes, about, counted] = ask(&["-m", "stand-in"]);
    assert_eq!(about, bytes.div_ceil(3));
    assert!(about > counted + counted / 5, "{about} for {counted}");
    let [bytes, about, counted] = ask(&["--continue"]);
    assert!(
        (counted..=counted + counted / 10).contains(&about),
        "{about} for {counted} of {bytes} bytes"
    );
    // What was counted for one model says nothing of another one.
    let [bytes, about, _] = ask(&["--continue", "-m", "stand-in-small"]);
    assert_eq!(about, bytes.div_ceil(3));
    // A log of before has no such count.
    let old = [header(1), title("t"), turn(1, "t"), user("hello")];
    let old = kit.session(1, &[&old[..], &[receipt(1, Status::Done)]].concat());
    let [bytes, about, _] = ask(&["--resume", &old, "-m", "stand-in"]);
    assert_eq!(about, bytes.div_ceil(3));
}
