//! Tests of `undo`.

mod kit;
mod steps;
