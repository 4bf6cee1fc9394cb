//! Tests of `sys`: real pipes, files, children, signals and terminals.

mod cancel;
mod channel;
mod clock;
mod dir;
mod file;
mod host;
mod process;
mod simd;
mod terminal;
