//! Differences between texts as data: how two files differ, that difference as unified diff text, such text read back, and its place
//! in a file found. `tools` edits with it (`apply_patch`, the diff that is shown of every edit), a review prints with it. All of
//! it works on bytes in memory; nothing here opens a file.
//!
//! ```text
//! old file ─┐                                      ┌─ splices 18..26 → "    let n = 2;\n"
//!           ├─ myers ─ changes ─ unified ─ text ─ parse ─ patches ─ apply ─┤
//! new file ─┘                                      └─ or misfits: which hunk, why
//!
//! --- a/src/a.rs           a file
//! +++ b/src/a.rs
//! @@ -2,3 +2,3 @@          a hunk: 3 lines from line 2 on become 3 lines from line 2 on
//!  fn main() {             a line that stays
//! -    let n = 1;          one that goes
//! +    let n = 2;          one that comes
//!  }
//! ```
//!
//! The format is that of POSIX `diff -u` with the headers of `git diff`; the envelope form (`*** Begin Patch`) is read as well.
//!
//! Invariant: `apply(old, parse(unified(old, new))) == new`, for any two byte strings.
//! Invariant: cost is bounded whatever comes in: by size in `parse`, `unified` and `apply`, by size times a constant in `myers`.
//!
//! Read next: `myers.rs`, `unified.rs`, then `parse.rs` (one form of patch each in `git.rs` and `envelope.rs`), `apply.rs`.

mod apply;
mod envelope;
mod git;
mod lines;
mod myers;
mod name;
mod parse;
mod search;
mod unified;

pub use apply::{Applied, Misfit, Splice, Unfit, apply, content};
pub use lines::{Lines, line_end, line_start};
pub use myers::{Change, changes};
pub use parse::{Action, Error, ErrorKind, Hunk, Line, Mark, Patch, mentioned, parse};
pub use search::Match;
pub use unified::{Block, Counts, Removed, Side, header, hunks, unified};
