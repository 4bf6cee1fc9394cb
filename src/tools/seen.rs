//! What the tools remember of files: the guard against writing over what was never read or has changed since. `read` and
//! `edit` report to it, `write` is refused by it.
//!
//! ```text
//! read_file a.txt (whole)     a.txt: sha256 9f…   full
//! an editor saves a.txt       other bytes: stale
//! write_file a.txt            refused: read it again
//! replace_text a.txt          recorded anew; stays full only if it was neither partial nor stale
//! ```
//!
//! **Held files.** After a refused patch the whole-file tool is no way around it: until the turn ends, or a corrected patch or a focused
//! edit of the file succeeds, `write_file` is refused for the files that the patch named. `replace_text` is not: it changes nothing
//! that it does not quote, and for a model that cannot get a patch right it is the better way.
//!
//! Files are compared by what they hold. Sizes and times would be cheaper and miss a save within one tick of the clock; an
//! edit reads the whole file anyway.
//!
//! Invariant: a file counts as current only if the model was shown, or wrote, exactly its bytes.

use std::collections::HashMap;
use std::path::{Path, PathBuf};

/// Files read or written in this session.
#[derive(Debug, Default)]
pub struct Seen {
    /// With the hash of what they held then if the model knows all of it.
    files: HashMap<PathBuf, Option<[u8; 32]>>,
    /// Named by a patch that was refused.
    held: Vec<PathBuf>,
}

/// What is known of a file as it is now.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Known {
    /// Never looked at, or only parts of it.
    NotInFull,
    /// Read in full, and changed since.
    Stale,
    /// Read in full, and the same now.
    Current,
}

impl Seen {
    /// The whole file was shown.
    pub(super) fn whole(&mut self, path: &Path, hash: [u8; 32]) {
        self.files.insert(path.to_path_buf(), Some(hash));
    }

    /// A tool wrote it; `hash`: of the new content, if right before it was known as it was.
    pub(super) fn record(&mut self, path: &Path, hash: Option<[u8; 32]>) {
        self.files.insert(path.to_path_buf(), hash);
    }

    /// It is gone.
    pub(super) fn forget(&mut self, path: &Path) {
        self.files.remove(path);
    }

    /// A patch for it was refused.
    pub(super) fn hold(&mut self, path: &Path) {
        if !self.is_held(path) {
            self.held.push(path.to_path_buf());
        }
    }

    /// Whether a patch for it was refused.
    pub(super) fn is_held(&self, path: &Path) -> bool {
        self.held.iter().any(|held| held == path)
    }

    /// It was edited after all.
    pub(super) fn release(&mut self, path: &Path) {
        self.held.retain(|held| held != path);
    }

    /// A patch succeeded, or the turn is over.
    pub(super) fn release_all(&mut self) {
        self.held.clear();
    }

    /// Compares with the hash of the file as it is now, which is asked for if that decides.
    pub(super) fn known(&self, path: &Path, hash: &dyn Fn() -> [u8; 32]) -> Known {
        match self.files.get(path) {
            Some(Some(known)) if *known == hash() => Known::Current,
            Some(Some(_)) => Known::Stale,
            Some(None) | None => Known::NotInFull,
        }
    }
}
