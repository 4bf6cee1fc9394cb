//! Tests of `undo`.

mod branch;
mod conflicts;
mod damage;
mod journal;
mod killed;
mod kit;
mod limits;
mod modes;
mod review;
mod snapshot;
mod steps;
