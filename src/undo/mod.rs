//! Taking back: the journal of what a session did to the files of a workspace, steps back and forth in it, and the net change to review.
//! The engine writes it while a turn runs; `zcoder undo`, `redo` and `diff` read it, in the same process or weeks later.
//!
//! ```text
//! journal.rs   an edit, before it is made        ─▶  entry.rs, frame.rs  bytes   ─▶  store.rs  files, limits
//! past.rs      undo, redo, review                ◀─  history.rs  done and taken back
//!   plan.rs    what would change, what conflicts     restore.rs  what a file held before
//!   make.rs    all of it or nothing                  place.rs    the workspace's files
//!   review.rs  the net change, its hunks
//! snapshot.rs  what a command changed                branch.rs   the name of the git branch
//! ```
//!
//! The rule that all of it serves: nothing that a person wrote is lost. A file that is not as the session left it is not touched unless
//! that is demanded by name, and then a copy is kept; what an undo changes can be made again.
//!
//! Limits: `store.rs` (disk), `journal.rs` (what is kept whole), `plan.rs` and `place.rs` (memory), `snapshot.rs` (files looked at).
//!
//! Invariant: git is never run and its folder never written.
//! Invariant: this module does not know the tools; who calls it hands in the workspace's check of a path.
//!
//! Read next: `entry.rs` (what is kept), then `past.rs`.

mod branch;
mod entry;
mod error;
mod frame;
mod history;
mod journal;
mod make;
mod past;
mod place;
mod plan;
mod restore;
mod review;
mod snapshot;
mod store;

pub use branch::{Branch, branch};
pub use error::Error;
pub use journal::{CommandChanges, Journal};
pub use past::{Made, Past};
pub use place::{MAX_FILE_BYTES, Resolve};
pub use plan::{Conflict, MAX_PLAN_BYTES, Plan};
pub use review::{Review, ReviewedFile};
pub use snapshot::{MAX_ENTRIES, MAX_TIME, Snapshot};
pub use store::{Limits, Store};

/// Whether a step may go over what somebody else changed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Force {
    /// It stops.
    No,
    /// It does, and keeps a copy.
    Yes,
}
