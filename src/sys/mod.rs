//! The operating system, as safe functions and guards: the lowest layer, used by every other. What std offers is used as it is; here is
//! what it lacks (waiting with a way out, sessions and groups of processes, signals, terminals) or what has to be done with more care than
//! a single call shows (opening, replacing, randomness).
//!
//! ```text
//! cancel.rs   the switch that Ctrl+C turns           poll.rs     waiting for a descriptor, the switch, a deadline
//! process.rs  one command and its output             groups.rs   whom signals reach; the way out
//! file.rs     regular files only; whole or not       dir.rs      folders, and what is opened from them
//! random.rs   bytes and names nobody guesses   host.rs     which process, which machine
//! signal.rs   SIGTERM and the others as calls        clock.rs    times as text
//! tty.rs      the terminal, for a question           pty.rs      a terminal for a child, for tests
//! net.rs      a connection reset                     simd.rs     byte kernels
//! channel.rs  messages from thread to thread         thread.rs   starting one
//! ffi.rs      the declarations of all of these
//! ```
//!
//! Runs on Linux and macOS, x86-64 and aarch64; the build stops elsewhere and names WSL. Tested on x86-64 Linux with glibc. With musl the
//! tests have passed as well; for aarch64 and macOS the code is compiled only, layouts and constants come from the headers.
//!
//! Invariant: nothing here starts, opens or reads anything before it is called; a program that prints its version pays for none of it.
//! Invariant: `unsafe` is in `ffi.rs`, `simd.rs` and `simd/x86.rs`, `cfg(target_os)` in this folder, and neither anywhere else.
//! Invariant: every descriptor made here is close-on-exec.
//!
//! Read next: `cancel.rs` and `poll.rs`, on which the rest stands.

pub mod cancel;
pub mod channel;
pub mod clock;
pub mod dir;
#[allow(unsafe_code)]
mod ffi;
pub mod file;
mod groups;
pub mod host;
pub mod net;
pub mod poll;
pub mod process;
pub mod pty;
pub mod random;
pub mod signal;
#[allow(unsafe_code)]
pub mod simd;
pub mod thread;
pub mod tty;

pub use cancel::Cancel;
