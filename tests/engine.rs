//! Tests of `engine`: a real engine, real sockets, real files and commands; only the model at the other end is scripted.

mod cancels;
mod compaction;
mod drive;
mod failures;
mod fake;
mod goals;
mod guidance;
mod policy;
mod queue;
mod requests;
mod saves;
mod shell;
mod turns;
mod undo;
