//! Which branch the workspace is on, for headers and receipts. Read from the files of git; git itself is never run, since it would run
//! programs that a repository names.
//!
//! ```text
//! .git/HEAD                  ref: refs/heads/main⏎                             Branch::Named("main")
//! .git (a file)              gitdir: /home/me/app/.git/worktrees/fix⏎          HEAD is read there (worktrees, submodules)
//! HEAD                       8f3c1d…⏎ (40 or 64 hex digits)                    Branch::Detached("8f3c1d2")
//! ```
//!
//! The folders above the workspace are asked too, as git does. Whatever is not understood gives nothing. Where the repository lies is told by
//! `ignore/levels.rs`.

use crate::ignore::{git_folder, read_pointer};
use std::fs;
use std::path::Path;

/// Digits of a commit that people are shown.
const SHORT: usize = 7;
const HEADS: &str = "refs/heads/";

/// What HEAD names.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Branch {
    /// Without `refs/heads/`; foreign text.
    Named(String),
    /// A commit, shortened.
    Detached(String),
}

/// The branch of the repository that `root` lies in.
pub fn branch(root: &Path) -> Option<Branch> {
    let mut folders = root.ancestors();
    let folder = folders.find(|folder| fs::metadata(folder.join(".git")).is_ok())?;
    let head = git_folder(folder).join("HEAD");
    let text = match fs::read_link(&head) {
        // As git wrote it long ago.
        Ok(target) => format!("ref: {}", target.to_str()?),
        Err(_) => String::from_utf8(read_pointer(&head)?).ok()?,
    };
    if let Some(name) = text.strip_prefix("ref:") {
        let name = name.trim_start().strip_prefix(HEADS)?;
        // What a repository with another store of references has there instead of a name.
        let is_name = !name.is_empty() && name != ".invalid";
        return is_name.then(|| Branch::Named(name.to_string()));
    }
    let is_hash = matches!(text.len(), 40 | 64) && text.bytes().all(|b| b.is_ascii_hexdigit());
    is_hash.then(|| Branch::Detached(text[..SHORT].to_string()))
}

/// `main`, `8f3c1d2 (no branch)`.
impl std::fmt::Display for Branch {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Branch::Named(name) => f.write_str(name),
            Branch::Detached(commit) => write!(f, "{commit} (no branch)"),
        }
    }
}
