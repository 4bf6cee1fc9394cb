//! Tests of `diff`: the difference of texts, its text form, that form read back, and hunks put in their places.

mod fixtures;
mod git;
mod kit;
mod malformed;
mod mutated;
mod myers;
mod parse;
