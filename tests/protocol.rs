//! Tests of `protocol`: plain data has nothing to test; the tap does.

use std::sync::{Arc, Mutex};
use zcoder::protocol::{Op, Stage, Tap};

#[test]
fn a_tap_that_is_off_sees_nothing_and_says_so() {
    let tap = Tap::default();
    tap.see(&Stage::Op(&Op::Quit));
    assert!(!tap.is_on());
    assert_eq!(format!("{tap:?}"), "Tap(off)");
}

#[test]
fn clones_of_a_tap_share_the_watcher() {
    let seen = Arc::new(Mutex::new(Vec::new()));
    let sink = Arc::clone(&seen);
    let tap = Tap(Some(Arc::new(move |stage: &Stage<'_>| {
        let line = format!("{stage:?}");
        sink.lock().expect("not poisoned").push(line);
    })));
    assert!(tap.is_on());
    assert_eq!(format!("{tap:?}"), "Tap(on)");
    tap.clone().see(&Stage::Op(&Op::Cancel));
    tap.see(&Stage::RequestBytes(b"{}"));
    let seen = seen.lock().expect("not poisoned");
    assert_eq!(*seen, ["Op(Cancel)", "RequestBytes([123, 125])"]);
}
