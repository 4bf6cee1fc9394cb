//! Kept command outputs: what was too long to be shown whole, in files that `read_file output:N` reads. `run.rs` takes a [`Place`] for each
//! command and fills it when it must; `read.rs` opens by number.
//!
//! ```text
//! <session>/output/        0700, made with the first kept output
//! <session>/output/12      0600, the bytes of command 12 as they came, at most 16 MiB       read_file output:12
//! ```
//!
//! Numbers count commands, kept or not, and go on from the highest kept one when a session is resumed.
//!
//! Limits: 16 MiB an output, cut there without a word in the file; the result of the command says it.
//!
//! Invariant: nothing is made on disk before an output has to be kept, and no kept output is ever overwritten.
//! Invariant: an ephemeral folder goes with its [`Outputs`], but only what has the name of an output is removed from it.
//!
//! Read next: `capture.rs`, which decides what is kept.

use std::fs::{self, DirBuilder, File, OpenOptions};
use std::io::{self, ErrorKind};
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt};
use std::path::{Path, PathBuf};

use crate::sort;
use crate::sys::dir::names;
use crate::sys::file::open_regular;

use super::workspace::Refusal;

/// Of one output on disk: a build log fits, a runaway does not fill the disk.
pub(super) const MAX_KEPT_BYTES: u64 = 16 << 20;
/// Numbers named when a wrong one was asked for.
const NAMED: usize = 8;

/// The folder of kept outputs.
#[derive(Debug)]
pub(super) struct Outputs {
    folder: PathBuf,
    ephemeral: bool,
    /// The last number given out; `None` until the folder was looked at.
    last: Option<u64>,
}

/// Where the output of one command goes if it has to be kept. Owns nothing: it moves to the worker thread.
#[derive(Clone, Debug)]
pub(super) struct Place {
    folder: PathBuf,
    number: u64,
}

impl Outputs {
    /// Touches nothing yet. An `ephemeral` folder is emptied and removed on drop.
    pub(super) fn new(folder: PathBuf, ephemeral: bool) -> Outputs {
        Outputs {
            folder,
            ephemeral,
            last: None,
        }
    }

    /// The place of the next command. A folder that cannot be read counts as empty: `Place::create` will say what is wrong, and only
    /// if this output has to be kept.
    pub(super) fn next(&mut self) -> Place {
        let last = self
            .last
            .unwrap_or_else(|| kept(&self.folder).last().copied().unwrap_or(0));
        let number = last + 1;
        self.last = Some(number);
        let folder = self.folder.clone();
        Place { folder, number }
    }

    /// Opens a kept output for reading.
    pub(super) fn open(&self, number: u64) -> Result<File, Refusal> {
        match open_regular(&self.folder.join(number.to_string())) {
            Ok(file) => Ok(file),
            Err(error) if error.kind() == ErrorKind::NotFound => Err(Refusal(self.missing(number))),
            Err(error) => Err(Refusal(format!(
                "output:{number} cannot be read: {error}. Run the command again if its output is still needed."
            ))),
        }
    }

    fn missing(&self, number: u64) -> String {
        let kept = kept(&self.folder);
        let named: Vec<_> = kept.iter().rev().take(NAMED).rev().collect();
        let named: Vec<_> = named
            .iter()
            .map(|number| format!("output:{number}"))
            .collect();
        if named.is_empty() {
            return format!(
                "there is no output:{number}: no output was kept so far. An output is kept when it is too long to be shown whole; run_command then gives its number."
            );
        }
        let latest = if kept.len() > named.len() {
            "the latest are"
        } else {
            "kept are"
        };
        format!(
            "there is no output:{number}; {latest} {}. Shorter outputs were shown whole and not kept.",
            named.join(", ")
        )
    }
}

impl Drop for Outputs {
    fn drop(&mut self) {
        if !self.ephemeral || self.last.is_none() {
            return;
        }
        // What cannot be removed stays in a temporary folder that the system empties; nobody is left to tell.
        for number in kept(&self.folder) {
            let _ = fs::remove_file(self.folder.join(number.to_string()));
        }
        let _ = fs::remove_dir(&self.folder);
    }
}

impl Place {
    /// N of `output:N`.
    pub(super) fn number(&self) -> u64 {
        self.number
    }

    /// Makes the file, and the folder if it is not there yet; not what it stands in, which may be a mistyped `TMPDIR`.
    pub(super) fn create(&self) -> io::Result<File> {
        match DirBuilder::new().mode(0o700).create(&self.folder) {
            Ok(()) => {}
            Err(error) if error.kind() == ErrorKind::AlreadyExists && self.folder.is_dir() => {}
            Err(error) => return Err(error),
        }
        let mut options = OpenOptions::new();
        options.write(true).create_new(true).mode(0o600);
        options.open(self.folder.join(self.number.to_string()))
    }
}

/// The numbers of kept outputs, ascending. A folder that cannot be read counts as empty.
fn kept(folder: &Path) -> Vec<u64> {
    // `007` and `+7` are not names that we give.
    let number = |name: &String| {
        let number: u64 = name.parse().ok()?;
        (number.to_string() == *name).then_some(number)
    };
    let names = names(folder).unwrap_or_default();
    let mut numbers: Vec<u64> = names.iter().filter_map(number).collect();
    sort::by(&mut numbers, Ord::cmp);
    numbers
}
