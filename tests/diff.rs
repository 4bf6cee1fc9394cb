//! Tests of `diff`: the difference of texts, its text form, that form read back, and hunks put in their places.

mod git;
mod kit;
mod mutated;
mod myers;
