//! Standard output and standard error, written so that a reader who leaves never makes us panic or go on for nobody.
//!
//! ```text
//! zcoder -p … --output jsonl | head -1
//!   write → EPIPE (Rust ignores SIGPIPE) → io::ErrorKind::BrokenPipe → exit code 141, as a shell shows it for SIGPIPE
//! zcoder decode json big > /dev/full
//!   write → ENOSPC → "zcoder: cannot write to standard output: No space left on device" → exit code 1
//! ```
//!
//! Invariant: an `io::Error` of the functions here is about standard output, nothing else.
//! Invariant: a standard error that is gone stops nothing: progress is for whoever looks.

use crate::text;
use std::io::{self, BufWriter, ErrorKind, Write};

/// Exit codes; `zcoder help exit-codes` explains them.
pub mod exit {
    /// The task is done.
    pub const DONE: u8 = 0;
    /// The task failed or is blocked.
    pub const FAILED: u8 = 1;
    /// Usage or configuration.
    pub const USAGE: u8 = 2;
    /// The model server cannot be used, or its reply stayed incomplete.
    pub const SERVER: u8 = 3;
    /// An approval was needed and nobody could answer.
    pub const NOBODY: u8 = 4;
    /// A limit was reached.
    pub const LIMIT: u8 = 5;
    /// Ctrl-C.
    pub const INTERRUPTED: u8 = 130;
    /// The reader of standard output left (128 + SIGPIPE).
    pub const READER_LEFT: u8 = 141;
}

/// Standard output behind a buffer: a record in the stream must not cost a system call.
pub type Out = BufWriter<io::Stdout>;

/// Size of that buffer: what a pipe holds on Linux.
const BUFFER_BYTES: usize = 64 << 10;

/// A buffered standard output.
pub fn stdout() -> Out {
    BufWriter::with_capacity(BUFFER_BYTES, io::stdout())
}

/// Runs `write` with standard output, flushes it, and turns what went wrong into an exit code.
pub fn with_stdout(write: impl FnOnce(&mut Out) -> io::Result<u8>) -> u8 {
    let mut out = stdout();
    let result = write(&mut out);
    finished(out, result)
}

/// One copy for all callers.
fn finished(mut out: Out, result: io::Result<u8>) -> u8 {
    // What was written before an error is still owed to the reader.
    let flushed = flush(&mut out);
    let code = exit_code(result.and_then(|code| flushed.map(|()| code)));
    // Without this a failed flush would be tried again on drop, and its error lost.
    let (_, _) = out.into_parts();
    code
}

/// Empties our buffer and the one inside `io::Stdout`.
pub fn flush(out: &mut Out) -> io::Result<()> {
    out.flush()
}

/// The exit code for an error of standard output; says what needs saying.
pub fn exit_code(result: io::Result<u8>) -> u8 {
    match result {
        Ok(code) => code,
        Err(error) if error.kind() == ErrorKind::BrokenPipe => exit::READER_LEFT,
        Err(error) => {
            complain(&format!("cannot write to standard output: {error}"));
            exit::FAILED
        }
    }
}

/// One line on standard error: `zcoder: …`, made harmless.
pub fn complain(text: &str) {
    note(&format!("zcoder: {text}"));
}

/// Lines on standard error, made harmless.
pub fn note(text: &str) {
    let mut line = text::plain(text).into_owned();
    line.push('\n');
    // Nobody may be reading; see the invariant above. One write, so that lines of two processes do not mix.
    let _ = io::stderr().write_all(line.as_bytes());
}
