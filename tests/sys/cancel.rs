//! The switch, and waiting with it: what wakes a wait, what wins, what a signal may not do.

use std::io::{Read, Write};
use std::os::fd::AsFd;
use std::os::unix::net::UnixStream;
use std::thread;
use std::time::{Duration, Instant};
use zcoder::sys::poll::{self, Wake};
use zcoder::sys::{Cancel, random};

/// Long enough that only a hang reaches it.
fn never() -> Option<Instant> {
    Some(Instant::now() + Duration::from_secs(60))
}

fn pair() -> (UnixStream, UnixStream, Cancel) {
    let (near, far) = UnixStream::pair().expect("socket pair");
    (near, far, Cancel::new().expect("switch"))
}

#[test]
fn bytes_and_hang_up_are_ready() {
    let (near, mut far, cancel) = pair();
    far.write_all(b"x").unwrap();
    let wake = poll::readable(near.as_fd(), &cancel, never()).unwrap();
    assert_eq!(wake, Wake::Ready);
    (&near).read_exact(&mut [0]).unwrap();
    drop(far);
    let wake = poll::readable(near.as_fd(), &cancel, never()).unwrap();
    assert_eq!(wake, Wake::Ready);
}

#[test]
fn nothing_to_read_until_the_deadline_is_timed_out_and_not_before_it() {
    let (near, _far, cancel) = pair();
    let start = Instant::now();
    let deadline = start + Duration::from_micros(12_300);
    let wake = poll::readable(near.as_fd(), &cancel, Some(deadline)).unwrap();
    assert_eq!(wake, Wake::TimedOut);
    assert!(Instant::now() >= deadline);
}

#[test]
fn a_deadline_in_the_past_looks_once() {
    let (near, mut far, cancel) = pair();
    let past = Some(Instant::now());
    let wake = poll::readable(near.as_fd(), &cancel, past).unwrap();
    assert_eq!(wake, Wake::TimedOut);
    far.write_all(b"x").unwrap();
    let wake = poll::readable(near.as_fd(), &cancel, past).unwrap();
    assert_eq!(wake, Wake::Ready);
}

#[test]
fn a_switch_turned_by_another_thread_wakes_the_wait() {
    let (near, _far, cancel) = pair();
    let other = cancel.clone();
    let turner = thread::spawn(move || other.cancel());
    let wake = poll::readable(near.as_fd(), &cancel, never()).unwrap();
    assert_eq!(wake, Wake::Cancelled);
    assert!(cancel.is_cancelled());
    turner.join().unwrap();
}

#[test]
fn a_turned_switch_wins_over_ready_and_stays_turned() {
    let (near, mut far, cancel) = pair();
    far.write_all(b"x").unwrap();
    assert!(!cancel.is_cancelled());
    // More often than a pipe holds bytes: only the first call writes one.
    for _ in 0..100_000 {
        cancel.cancel();
    }
    for _ in 0..3 {
        let wake = poll::readable(near.as_fd(), &cancel, never()).unwrap();
        assert_eq!(wake, Wake::Cancelled);
        let wake = poll::writable(near.as_fd(), &cancel, never()).unwrap();
        assert_eq!(wake, Wake::Cancelled);
    }
}

#[test]
fn a_full_socket_is_not_writable_until_it_is_read() {
    let (near, mut far, cancel) = pair();
    near.set_nonblocking(true).unwrap();
    while (&near).write(&[0; 4096]).is_ok() {}
    let soon = Instant::now() + Duration::from_millis(2);
    let wake = poll::writable(near.as_fd(), &cancel, Some(soon)).unwrap();
    assert_eq!(wake, Wake::TimedOut);
    let reader = thread::spawn(move || far.read_to_end(&mut Vec::new()));
    let wake = poll::writable(near.as_fd(), &cancel, never()).unwrap();
    assert_eq!(wake, Wake::Ready);
    drop(near);
    reader.join().unwrap().unwrap();
}

#[test]
fn identifiers_have_the_asked_length_and_use_the_whole_alphabet() {
    for len in [0, 1, 8, 31, 32, 33, 200] {
        assert_eq!(random::id(len).unwrap().len(), len);
    }
    // Of 200,000 fair draws each of 36 characters gets 5,556, give or take 74; taking bytes modulo 36 would give four of them 6,250.
    let id = random::id(200_000).unwrap();
    for character in ('a'..='z').chain('0'..='9') {
        let count = id.matches(character).count();
        assert!((5_106..6_006).contains(&count), "{character}: {count}");
    }
}

#[test]
fn random_bytes_differ() {
    let (mut one, mut two) = ([0; 32], [0; 32]);
    random::fill(&mut one).unwrap();
    random::fill(&mut two).unwrap();
    assert_ne!(one, two);
}
