//! Temporary folders of tests: one each, removed with everything in them when the value goes, also when the test fails.

use std::fs;
use std::path::{Path, PathBuf};
use zcoder::sys::random;

/// A folder of its own.
#[derive(Debug)]
pub(crate) struct Temp {
    path: PathBuf,
}

impl Temp {
    /// Makes an empty folder; its path is canonical (`/tmp` is a link on some systems).
    pub(crate) fn new() -> Temp {
        Temp::inside(&std::env::temp_dir())
    }

    /// In memory where the system has such a place: for tests that make tens of thousands of entries.
    pub(crate) fn in_memory() -> Temp {
        let memory = Path::new("/dev/shm");
        match memory.is_dir() {
            true => Temp::inside(memory),
            false => Temp::new(),
        }
    }

    fn inside(folder: &Path) -> Temp {
        let name = format!("zcoder-test-{}", random::id(12).expect("random name"));
        let path = folder.join(name);
        fs::create_dir(&path).expect("temporary folder");
        let path = path.canonicalize().expect("temporary folder");
        Temp { path }
    }

    /// The folder.
    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    /// Writes a file below the folder, with the folders it needs, and returns its path.
    pub(crate) fn write(&self, name: &str, bytes: impl AsRef<[u8]>) -> PathBuf {
        let path = self.path.join(name);
        if let Some(parent) = path.parent() {
            fs::create_dir_all(parent).expect("folder of a test file");
        }
        fs::write(&path, bytes).expect("test file");
        path
    }

    /// The bytes of a file below the folder.
    pub(crate) fn read(&self, name: &str) -> Vec<u8> {
        fs::read(self.path.join(name)).expect("test file")
    }
}

impl Drop for Temp {
    fn drop(&mut self) {
        // A test that took permissions away must give them back; otherwise the folder stays behind and nothing else fails.
        let _ = fs::remove_dir_all(&self.path);
    }
}
