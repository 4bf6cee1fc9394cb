//! Tests of `tools`: the table, the argument check, and each tool on real folders.

mod args;
mod edit;
mod kit;
mod list;
mod patch;
mod prepare;
mod read;
mod replace;
mod run;
mod search;
mod table;
mod workspace;
mod write;
