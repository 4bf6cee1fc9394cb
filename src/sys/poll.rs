//! Waiting for one descriptor, with a way out. In come a descriptor, a `Cancel` and a deadline; out comes why the wait ended. Sockets,
//! pipes and the terminal are waited for here, so that no thread sits in a `read` that nothing can interrupt.
//!
//! ```text
//! readable(socket, cancel, 14:02:05.250)
//!   poll [{socket, POLLIN}, {cancel, POLLIN}], 1.250 s  →  EINTR after 0.4 s  →  poll …, 0.850 s  →  socket ready  →  Ready
//! ```
//!
//! Limits: none of its own. On Linux the deadline is kept to the nanosecond `ppoll` takes, on macOS it is rounded up to a millisecond.
//!
//! Invariant: a signal never ends a wait, it only shortens what is left of it.
//! Invariant: a turned switch wins over a ready descriptor, a ready descriptor over a passed deadline: with a deadline in the past
//! these functions look once and do not wait.
//! Invariant: hang-up and error count as ready: the read or write that follows says what happened.
//!
//! Read next: `process.rs`, which waits for three things at once.

use super::Cancel;
use super::ffi::{self, PollFd};
use std::io;
use std::os::fd::{AsFd, BorrowedFd};
use std::time::Instant;

/// Why a wait ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Wake {
    /// The descriptor is ready (or at its end, or broken: the read or write will say).
    Ready,
    /// The deadline passed first.
    TimedOut,
    /// The switch was turned. Wins over `Ready`.
    Cancelled,
}

/// Waits for `fd` to become readable. Regular files always are. Errors: those of `poll` (a closed descriptor, no memory).
pub fn readable(
    fd: BorrowedFd<'_>,
    cancel: &Cancel,
    deadline: Option<Instant>,
) -> io::Result<Wake> {
    wait_for(PollFd::readable(fd), cancel, deadline)
}

/// Waits for `fd` to become writable; for a socket under way this also ends its connect. Errors as `readable`.
pub fn writable(
    fd: BorrowedFd<'_>,
    cancel: &Cancel,
    deadline: Option<Instant>,
) -> io::Result<Wake> {
    wait_for(PollFd::writable(fd), cancel, deadline)
}

/// Waits for `fd` to become readable or writable, whichever comes first; the caller tries both, without blocking. For a peer that may
/// answer before it has read everything. Errors as `readable`.
pub fn either(fd: BorrowedFd<'_>, cancel: &Cancel, deadline: Option<Instant>) -> io::Result<Wake> {
    wait_for(PollFd::readable_or_writable(fd), cancel, deadline)
}

/// Whether the switch is turned before the deadline.
pub fn cancelled(cancel: &Cancel, deadline: Instant) -> bool {
    let woken = wait_for(PollFd::nothing(), cancel, Some(deadline));
    matches!(woken, Ok(Wake::Cancelled))
}

fn wait_for(wanted: PollFd, cancel: &Cancel, deadline: Option<Instant>) -> io::Result<Wake> {
    let mut fds = [wanted, PollFd::readable(cancel.as_fd())];
    until(&mut fds, deadline)?;
    // The flag, not the pipe, decides: it is set first, and it also holds when the descriptor woke us.
    if cancel.is_cancelled() {
        return Ok(Wake::Cancelled);
    }
    Ok(if fds[0].is_ready() {
        Wake::Ready
    } else {
        Wake::TimedOut
    })
}

/// `poll` until one of `fds` is ready (true) or the deadline has passed (false), whatever signals arrive meanwhile.
pub(super) fn until(fds: &mut [PollFd], deadline: Option<Instant>) -> io::Result<bool> {
    loop {
        let left = deadline.map(|at| at.saturating_duration_since(Instant::now()));
        match ffi::wait(fds, left) {
            Ok(ready) => return Ok(ready > 0),
            Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
            Err(error) => return Err(error),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs::File;
    use std::io::Read;
    use std::thread;
    use std::time::Duration;

    #[test]
    fn signals_do_not_end_a_wait() {
        let (caught, write_end) = ffi::new_pipe().expect("pipe");
        ffi::catch_signals(&[ffi::SIGHUP], write_end).expect("handler");
        let (silent, _open) = ffi::new_pipe().expect("pipe");
        let deadline = Instant::now() + Duration::from_millis(100);
        let waiting = thread::spawn(move || {
            let cancel = Cancel::new()?;
            readable(silent.as_fd(), &cancel, Some(deadline)).map(|wake| (wake, Instant::now()))
        });
        // As long as it waits, so that at least one arrives in the middle of the wait.
        while !waiting.is_finished() {
            ffi::interrupt(&waiting);
            thread::yield_now();
        }
        let (wake, woken) = waiting.join().expect("no panic").expect("no error");
        assert_eq!(wake, Wake::TimedOut);
        assert!(woken >= deadline);
        let mut byte = [0];
        File::from(caught)
            .read_exact(&mut byte)
            .expect("the handler ran");
        assert_eq!(i32::from(byte[0]), ffi::SIGHUP);
    }
}
