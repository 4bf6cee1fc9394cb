//! Tests of `sys::channel`: order, deadlines, and what either end hears of the end of the other.
use std::any::Any;
use std::sync::mpsc::{RecvError, RecvTimeoutError, SendError, TryRecvError};
use std::thread;
use std::time::Duration;

use zcoder::sys::channel::channel;

const NOW: Duration = Duration::ZERO;
const LONG: Duration = Duration::from_secs(60);

#[test]
fn each_sender_keeps_its_order_and_nothing_is_lost() {
    let (sender, inbox) = channel();
    let threads: Vec<_> = (0..4)
        .map(|name| {
            let sender = sender.clone();
            thread::spawn(move || (0..5_000).for_each(|n| sender.send((name, n)).unwrap()))
        })
        .collect();
    drop(sender);
    let mut next = [0; 4];
    while let Ok((name, n)) = inbox.recv() {
        let expected: &mut i32 = &mut next[name];
        assert_eq!(n, *expected);
        *expected += 1;
    }
    assert_eq!(next, [5_000; 4]);
    threads
        .into_iter()
        .for_each(|thread| thread.join().unwrap());
}

#[test]
fn an_empty_queue_and_one_without_senders_are_told_apart() {
    let (sender, inbox) = channel();
    assert_eq!(inbox.try_recv(), Err(TryRecvError::Empty));
    assert_eq!(inbox.recv_timeout(NOW), Err(RecvTimeoutError::Timeout));
    let limit = Duration::from_millis(5);
    assert_eq!(inbox.recv_timeout(limit), Err(RecvTimeoutError::Timeout));
    let other = sender.clone();
    other.send(1).unwrap();
    drop(other);
    drop(sender);
    // What was sent is still received.
    assert_eq!(inbox.recv_timeout(NOW), Ok(1));
    assert_eq!(inbox.try_recv(), Err(TryRecvError::Disconnected));
    assert_eq!(
        inbox.recv_timeout(LONG),
        Err(RecvTimeoutError::Disconnected)
    );
    assert_eq!(inbox.recv(), Err(RecvError));
}

#[test]
fn who_waits_is_woken_by_a_message_and_by_the_last_sender() {
    for limit in [LONG, Duration::MAX] {
        let (sender, inbox) = channel();
        let (answer, answers) = channel();
        let waiting = thread::spawn(move || {
            while let Ok(message) = inbox.recv_timeout(limit) {
                answer.send(message).unwrap();
            }
        });
        // Each is sent when the one before was received: it often sleeps by then.
        for n in 0..200 {
            sender.send(n).unwrap();
            assert_eq!(answers.recv(), Ok(n));
        }
        drop(sender);
        waiting.join().unwrap();
        assert_eq!(answers.recv(), Err(RecvError));
    }
}

#[test]
fn a_message_for_nobody_is_given_back_and_one_that_waits_is_dropped_with_the_receiver() {
    let (sender, inbox) = channel::<Box<dyn Any>>();
    let (inner, inner_inbox) = channel::<()>();
    // It holds a sender of the queue it waits in, too.
    let owner = Box::new((inner, sender.clone()));
    assert!(sender.send(owner).is_ok());
    drop(inbox);
    assert_eq!(inner_inbox.recv(), Err(RecvError));
    let Err(SendError(message)) = sender.send(Box::new(7)) else {
        panic!("nobody receives any more");
    };
    assert_eq!(message.downcast_ref(), Some(&7));
}
