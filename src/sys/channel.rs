//! Messages from any number of threads to one. What std offers is made of three kinds of queues, each compiled anew for every type of
//! message, some 9 KB a type; this is one kind, a locked queue, with the same names and errors.
//!
//! ```text
//! sender ─ send(a) ─▶┐
//! sender ─ send(b) ─▶│ b a │─▶ receiver: recv() → a, b, and an error once they are gone and the queue is empty
//! ```
//!
//! Limits: none on the length of the queue; the senders are ours and slower than who listens.
//!
//! Invariant: what one sender sends arrives in its order. Invariant: whoever waits hears of a message, of the deadline and of the end of
//! the last sender; a message that nobody will take is given back.
//!
//! Read next: `crate::engine`, whose one inbox is such a queue.

use std::collections::VecDeque;
use std::sync::mpsc::{RecvError, RecvTimeoutError, SendError, TryRecvError};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

/// A sending end. Clones send to the same receiver.
#[derive(Debug)]
pub struct Sender<T>(Arc<Shared<T>>);

/// The receiving end.
#[derive(Debug)]
pub struct Receiver<T>(Arc<Shared<T>>);

#[derive(Debug)]
struct Shared<T> {
    state: Mutex<State<T>>,
    changed: Condvar,
}

#[derive(Debug)]
struct State<T> {
    queue: VecDeque<T>,
    senders: usize,
    /// The receiver is still there.
    open: bool,
    /// The receiver sleeps: waking costs a system call, which nobody needs otherwise.
    asleep: bool,
}

/// Both ends of a new queue.
pub fn channel<T>() -> (Sender<T>, Receiver<T>) {
    let shared = Arc::new(Shared {
        state: Mutex::new(State {
            queue: VecDeque::new(),
            senders: 1,
            open: true,
            asleep: false,
        }),
        changed: Condvar::new(),
    });
    (Sender(Arc::clone(&shared)), Receiver(shared))
}

impl<T> Shared<T> {
    /// Poisoned or not: no step below leaves the state half changed.
    fn locked(&self) -> MutexGuard<'_, State<T>> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn wake(&self, mut state: MutexGuard<'_, State<T>>) {
        let asleep = std::mem::take(&mut state.asleep);
        drop(state);
        if asleep {
            self.changed.notify_one();
        }
    }
}

impl<T> Sender<T> {
    /// Never waits. The error is the message: nobody will receive it.
    pub fn send(&self, message: T) -> Result<(), SendError<T>> {
        let mut state = self.0.locked();
        if !state.open {
            return Err(SendError(message));
        }
        state.queue.push_back(message);
        self.0.wake(state);
        Ok(())
    }
}

impl<T> Clone for Sender<T> {
    fn clone(&self) -> Sender<T> {
        self.0.locked().senders += 1;
        Sender(Arc::clone(&self.0))
    }
}

impl<T> Drop for Sender<T> {
    fn drop(&mut self) {
        let mut state = self.0.locked();
        state.senders -= 1;
        if state.senders == 0 {
            self.0.wake(state);
        }
    }
}

impl<T> Receiver<T> {
    /// The next message, waited for.
    pub fn recv(&self) -> Result<T, RecvError> {
        self.next(None).map_err(|_| RecvError)
    }

    /// The next message, waited for no longer than `limit`.
    pub fn recv_timeout(&self, limit: Duration) -> Result<T, RecvTimeoutError> {
        // A limit beyond all clocks is none.
        self.next(Instant::now().checked_add(limit))
    }

    /// The next message if it has arrived.
    pub fn try_recv(&self) -> Result<T, TryRecvError> {
        let mut state = self.0.locked();
        match state.queue.pop_front() {
            Some(message) => Ok(message),
            None if state.senders == 0 => Err(TryRecvError::Disconnected),
            None => Err(TryRecvError::Empty),
        }
    }

    fn next(&self, until: Option<Instant>) -> Result<T, RecvTimeoutError> {
        let mut state = self.0.locked();
        loop {
            if let Some(message) = state.queue.pop_front() {
                return Ok(message);
            }
            if state.senders == 0 {
                return Err(RecvTimeoutError::Disconnected);
            }
            let left = until.map(|until| until.saturating_duration_since(Instant::now()));
            if left == Some(Duration::ZERO) {
                return Err(RecvTimeoutError::Timeout);
            }
            state.asleep = true;
            let changed = &self.0.changed;
            state = match left {
                None => changed.wait(state).unwrap_or_else(PoisonError::into_inner),
                Some(left) => {
                    let woken = changed.wait_timeout(state, left);
                    woken.unwrap_or_else(PoisonError::into_inner).0
                }
            };
            state.asleep = false;
        }
    }
}

impl<T> Drop for Receiver<T> {
    fn drop(&mut self) {
        let mut state = self.0.locked();
        state.open = false;
        let left = std::mem::take(&mut state.queue);
        // Messages may own senders of this very queue: they go when it is not locked.
        drop(state);
        drop(left);
    }
}
