//! What undo needs to know of one edit. The tools work it out, the engine appends it to the log, and only then the file is touched.
//!
//! ```text
//! src/total.sh   sha256 before and after   [offset 214, old "sum + price", new_len 19]
//! ```
//!
//! Invariant: spans stand in the order of the old file and apart from each other, so that they can be put back one by one.

/// The journal of one edit: what stood where, and both hashes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct JournalRecord {
    /// Relative to the workspace.
    pub path: String,
    /// SHA-256 of the old file; `None`: there was none.
    pub before: Option<[u8; 32]>,
    /// SHA-256 of the new file; `None`: it is removed.
    pub after: Option<[u8; 32]>,
    /// The right to execute after the edit, if the edit sets or clears it.
    pub executable: Option<bool>,
    /// In the order of the old file, apart from each other.
    pub spans: Vec<Span>,
}

/// `old` bytes at `offset` of the old file were replaced by `new_len` bytes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Span {
    /// In bytes of the old file.
    pub offset: u64,
    /// What stood there.
    pub old: Vec<u8>,
    /// How many bytes stand there now.
    pub new_len: u64,
}
