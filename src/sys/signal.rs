//! The signals that ask the program to stop, as calls on an ordinary thread. `headless` and, later, the terminal interface call `watch`
//! once; what the function does (turn a switch, end children, leave) needs no care for what a signal interrupted.
//!
//! ```text
//! kill -TERM us   handler: write(pipe, 0x0f)    thread "signals": read 0x0f → on_signal(Signal::Terminate)
//! Ctrl+C twice    0x02 0x02                     two calls
//! ```
//!
//! A signal that is ignored when we start stays ignored: `nohup zcoder …` survives the end of its terminal, and `zcoder … &` in a shell
//! without job control the Ctrl+C meant for others.
//!
//! Limits: at most 64 KiB of signals wait to be read; more of the same are dropped. Handlers do not survive `exec`: no child inherits them.
//!
//! Invariant: the handler makes one `write` to a pipe that does not block, and leaves errno as it was.
//!
//! Read next: `ffi.rs` (`catch_signals`), `groups.rs` (`end_all`).

use super::{ffi, thread};
use std::fs::File;
use std::io::{self, Read};

/// The signals we act on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Signal {
    /// SIGHUP: the terminal is gone.
    Hangup,
    /// SIGINT: Ctrl+C, or `kill -INT`.
    Interrupt,
    /// SIGQUIT: Ctrl+\.
    Quit,
    /// SIGTERM: somebody wants us to end.
    Terminate,
}

const ALL: [Signal; 4] = [
    Signal::Hangup,
    Signal::Interrupt,
    Signal::Quit,
    Signal::Terminate,
];

impl Signal {
    /// Its number, for exit code 128+n: 1, 2, 3 or 15.
    pub fn number(self) -> i32 {
        match self {
            Signal::Hangup => ffi::SIGHUP,
            Signal::Interrupt => ffi::SIGINT,
            Signal::Quit => ffi::SIGQUIT,
            Signal::Terminate => ffi::SIGTERM,
        }
    }
}

/// Installs the handlers and starts the thread that calls `on_signal` for each signal that arrives, one after the other. Errors: called
/// before (`AlreadyExists`), no descriptors or threads left.
pub fn watch(on_signal: Box<dyn Fn(Signal) + Send>) -> io::Result<()> {
    let (read_end, write_end) = ffi::new_pipe()?;
    let mut signals = File::from(read_end);
    // The thread first: what arrives as soon as the handlers stand is heard.
    let listen = move || {
        let mut byte = [0];
        // The write end is never closed and a read of a pipe has no other reason to fail.
        while signals.read_exact(&mut byte).is_ok() {
            let number = i32::from(byte[0]);
            if let Some(signal) = ALL.into_iter().find(|signal| signal.number() == number) {
                on_signal(signal);
            }
        }
    };
    thread::start("signals", Box::new(listen))?;
    ffi::catch_signals(&ALL.map(Signal::number), write_end)
}
