//! Ignore rules and the walk over a tree that honors them. In: a folder. Out: its files, in an order that depends on their names alone,
//! without what the rules of git and `.ignore` leave out. The tools that list and search call it.
//!
//! ```text
//! glob.rs        *.o  src/**/*.h            one pattern, over names or paths
//! gitignore.rs   the lines of one file      → a verdict on a path
//! levels.rs      the files of all folders   which of them decides
//! walk.rs        a tree, folder by folder   what is left of it
//! share.rs       its files, among threads
//! ```
//!
//! Invariant: nothing here runs git or needs a repository.
//!
//! Read next: `glob.rs`, then in the order above.

mod gitignore;
pub mod glob;
mod levels;
mod share;
mod walk;

pub use gitignore::{Fault, MAX_RULES_BYTES, Rules, Verdict};
pub use levels::{Found, Levels, Problem, git_folder, read_pointer};
pub use share::{Entry, Limits, Stop, share};
pub use walk::{Folder, Names, Options, Walk};
