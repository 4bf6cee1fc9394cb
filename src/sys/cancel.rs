//! A one-way switch. One thread turns it (Ctrl+C, `Op::Cancel`, the end of the program); any number of others ask whether it was
//! turned, or wait in `poll` for a descriptor and are woken by it. The engine makes one per turn and hands clones to its workers.
//!
//! ```text
//! new()       pipe: read end ──────── write end       flag = false
//! cancel()    read end <── 1 byte ─── write end       flag = true     (the byte is never read: the end stays readable)
//! ```
//!
//! Limits: two descriptors per switch, shared by its clones, closed with the last one.
//!
//! Invariant: a turned switch stays turned; there is no way back and nothing to forget to reset.
//! Invariant: the flag is set before the byte is written, so whoever is woken also sees the flag.
//!
//! Read next: `poll.rs`, where the read end is waited for.

use super::ffi;
use std::fs::File;
use std::io::{self, Write};
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// The switch. Clones share it.
#[derive(Clone, Debug)]
pub struct Cancel {
    shared: Arc<Shared>,
}

#[derive(Debug)]
struct Shared {
    turned: AtomicBool,
    readable_when_turned: OwnedFd,
    write_end: File,
}

impl Cancel {
    /// A switch that nobody has turned. Errors: no descriptors left.
    pub fn new() -> io::Result<Cancel> {
        let (read_end, write_end) = ffi::new_pipe()?;
        let shared = Shared {
            turned: AtomicBool::new(false),
            readable_when_turned: read_end,
            write_end: File::from(write_end),
        };
        Ok(Cancel {
            shared: Arc::new(shared),
        })
    }

    /// Turns the switch. Callable from any thread; the second call does nothing.
    pub fn cancel(&self) {
        if self.shared.turned.swap(true, Ordering::SeqCst) {
            return;
        }
        // One byte into an empty pipe whose read end we hold ourselves: it can neither block nor fail. If it did, the flag would
        // still be seen by everybody who does not sleep.
        let _ = (&self.shared.write_end).write(&[1]);
    }

    /// Whether it was turned.
    pub fn is_cancelled(&self) -> bool {
        self.shared.turned.load(Ordering::SeqCst)
    }
}

impl AsFd for Cancel {
    /// The end that becomes readable, and stays so, once the switch is turned. For a `poll` of one's own; never read from it.
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.shared.readable_when_turned.as_fd()
    }
}
