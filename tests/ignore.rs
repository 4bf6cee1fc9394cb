//! Tests of `ignore`: verdicts beside git's own, and the walk over trees that are hard to walk.

mod git;
mod glob;
mod levels;
mod share;
mod walk;
