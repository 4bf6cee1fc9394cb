//! Threads: a name and a piece of work in, a running thread out. `thread::spawn` is compiled anew for every piece of work, and all that
//! starts a thread with it; behind a box it is not.
//!
//! ```text
//! start("watch", Box::new(move || …))?
//! ```
//!
//! Invariant: a system without a thread left is an error here, never a panic.
//!
//! Read next: `channel.rs`, by which threads speak.

use super::ffi;
use std::io;
use std::thread::{Builder, JoinHandle};

/// Has all threads allocate from one heap, before there are any. glibc gives each its own, mapped at its start and grown page by page; here
/// one fills what another empties, and two are seldom at work at once: a short turn takes a fortieth less of the processor.
pub fn share_heap() {
    ffi::share_heap();
}

/// Starts `work` on a thread of that name. Dropping the handle leaves the thread to itself.
pub fn start(name: &str, work: Box<dyn FnOnce() + Send>) -> io::Result<JoinHandle<()>> {
    Builder::new().name(name.to_string()).spawn(work)
}
