//! The disk under the store: every change that a session makes to it is one of these calls, on a file or a folder named by its path. A
//! recorder can listen, so that a test can play each state that a crash could have left.
//!
//! ```text
//! file.write_at(812, b"{\"seq\":7,…}\n")    Write { path: "…/log-1.jsonl", offset: 812, bytes: … }
//! file.sync_data()                        SyncData { path: "…/log-1.jsonl" }
//! disk.create("…/current.new")            Create { path: "…/current.new" }
//! disk.rename(…, …)                       Rename { from: "…/current.new", to: "…/current" }
//! disk.sync_folder("…")                   SyncFolder { path: "…" }
//! ```
//!
//! Refused: anything but a regular file where a file is opened, links too; a missing name is an error and makes nothing.
//!
//! Invariant: an operation is recorded when it has succeeded, a write as far as it did; reading is not recorded.
//! Invariant: files are made 0600 and folders 0700, and nothing is made readable for others later.
//!
//! Read next: `commit.rs`, which says in which order these calls come and why.

use crate::sys::channel::Sender;
use crate::sys::file::{self, Identity};
use std::fs::{self, DirBuilder, File, OpenOptions};
use std::io::{self, ErrorKind, Read};
use std::os::unix::fs::{DirBuilderExt, FileExt, OpenOptionsExt};
use std::path::{Path, PathBuf};

/// What happened to the disk.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Operation {
    /// A new, empty file got its name.
    Create {
        /// Which.
        path: PathBuf,
    },
    /// Bytes were written.
    Write {
        /// To which file.
        path: PathBuf,
        /// From this byte on.
        offset: u64,
        /// What.
        bytes: Vec<u8>,
    },
    /// A file was cut.
    Truncate {
        /// Which.
        path: PathBuf,
        /// To so many bytes.
        len: u64,
    },
    /// `fdatasync`: the file's bytes and its length are safe.
    SyncData {
        /// Which.
        path: PathBuf,
    },
    /// `fsync` of a file; not of its name.
    SyncFile {
        /// Which.
        path: PathBuf,
    },
    /// A name took the place of another.
    Rename {
        /// The old name.
        from: PathBuf,
        /// The new one.
        to: PathBuf,
    },
    /// A folder was made.
    Mkdir {
        /// Which.
        path: PathBuf,
    },
    /// `fsync` of a folder: the names in it are safe.
    SyncFolder {
        /// Which.
        path: PathBuf,
    },
    /// A file, or an empty folder, lost its name.
    Unlink {
        /// Which.
        path: PathBuf,
    },
    /// A commit returned: from here on a crash must not lose it.
    Committed {
        /// The folder of the session.
        folder: PathBuf,
        /// Its generation.
        generation: u64,
    },
}

/// The disk.
#[derive(Clone, Debug, Default)]
pub struct Disk {
    recorder: Option<Sender<Operation>>,
}

/// An open file of ours.
#[derive(Debug)]
pub struct OpenFile {
    file: File,
    path: PathBuf,
    disk: Disk,
}

impl Disk {
    /// That tells each change to somebody.
    pub fn recorded(recorder: Sender<Operation>) -> Disk {
        Disk {
            recorder: Some(recorder),
        }
    }

    /// Opens for writing and reading what must exist, without following a link. Tells which file that is.
    pub fn open(&self, path: &Path) -> io::Result<(OpenFile, Identity)> {
        let (file, metadata) = file::open_own_to_write(path)?;
        Ok((self.opened(file, path), Identity::from(&metadata)))
    }

    /// A new, empty file. What is left of an older attempt is emptied.
    pub fn create(&self, path: &Path) -> io::Result<OpenFile> {
        match self.create_new(path) {
            Err(error) if error.kind() == ErrorKind::AlreadyExists => {
                let (file, _) = self.open(path)?;
                file.truncate(0)?;
                Ok(file)
            }
            made => made,
        }
    }

    /// A new, empty file, of which there must be none.
    pub fn create_new(&self, path: &Path) -> io::Result<OpenFile> {
        let mut options = OpenOptions::new();
        options.read(true).write(true).create_new(true).mode(0o600);
        let file = options.open(path)?;
        self.tell(|| Operation::Create {
            path: path.to_path_buf(),
        });
        Ok(self.opened(file, path))
    }

    /// The bytes of a file, at most `limit` of them.
    pub fn read(&self, path: &Path, limit: u64) -> io::Result<Vec<u8>> {
        let (file, metadata) = file::open_own(path)?;
        // With room for one more byte, one call reads all and the next finds the end.
        let room = metadata.len().min(limit) as usize + 1;
        let mut bytes = Vec::with_capacity(room);
        file.take(limit).read_to_end(&mut bytes)?;
        Ok(bytes)
    }

    /// Gives the name `to`, whatever has it.
    pub fn rename(&self, from: &Path, to: &Path) -> io::Result<()> {
        fs::rename(from, to)?;
        self.tell(|| Operation::Rename {
            from: from.to_path_buf(),
            to: to.to_path_buf(),
        });
        Ok(())
    }

    /// Makes a folder.
    pub fn make_folder(&self, path: &Path) -> io::Result<()> {
        DirBuilder::new().mode(0o700).create(path)?;
        self.tell(|| Operation::Mkdir {
            path: path.to_path_buf(),
        });
        Ok(())
    }

    /// Makes a folder and those above it that are missing, so that a power cut does not take them away again. The names of the folder and
    /// of the one above it are made safe in any case: whoever made them may have been killed before they were.
    pub fn make_folders(&self, path: &Path) -> io::Result<()> {
        let missing: Vec<&Path> = path.ancestors().take_while(|path| !path.exists()).collect();
        for folder in missing.iter().rev() {
            match self.make_folder(folder) {
                // Another session begins at the same time.
                Err(error) if error.kind() == ErrorKind::AlreadyExists => {}
                made => made?,
            }
        }
        let new = path.ancestors().take(missing.len().max(2));
        for folder in new.filter_map(Path::parent) {
            self.sync_folder(folder)?;
        }
        Ok(())
    }

    /// Makes the names in a folder safe.
    pub fn sync_folder(&self, path: &Path) -> io::Result<()> {
        match File::open(path)?.sync_all() {
            // Some network file systems know no such thing; there is nothing else to be done then.
            Err(error)
                if matches!(
                    error.kind(),
                    ErrorKind::InvalidInput | ErrorKind::Unsupported
                ) => {}
            synced => synced?,
        }
        self.tell(|| Operation::SyncFolder {
            path: path.to_path_buf(),
        });
        Ok(())
    }

    /// Takes a file's name away.
    pub fn remove(&self, path: &Path) -> io::Result<()> {
        fs::remove_file(path)?;
        self.tell(|| Operation::Unlink {
            path: path.to_path_buf(),
        });
        Ok(())
    }

    /// Removes a folder and all that is in it. Links are removed, not followed.
    pub fn remove_all(&self, folder: &Path) -> io::Result<()> {
        for entry in fs::read_dir(folder)? {
            let entry = entry?;
            match entry.file_type()?.is_dir() {
                true => self.remove_all(&entry.path())?,
                false => self.remove(&entry.path())?,
            }
        }
        fs::remove_dir(folder)?;
        self.tell(|| Operation::Unlink {
            path: folder.to_path_buf(),
        });
        Ok(())
    }

    /// A commit is about to return.
    pub(super) fn committed(&self, folder: &Path, generation: u64) {
        self.tell(|| Operation::Committed {
            folder: folder.to_path_buf(),
            generation,
        });
    }

    fn opened(&self, file: File, path: &Path) -> OpenFile {
        OpenFile {
            file,
            path: path.to_path_buf(),
            disk: self.clone(),
        }
    }

    fn tell(&self, operation: impl FnOnce() -> Operation) {
        if let Some(recorder) = &self.recorder {
            // Nobody listens any more: then it need not be told.
            let _ = recorder.send(operation());
        }
    }
}

impl OpenFile {
    /// Its path.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Which file it is, how long, and when it changed last.
    pub fn identity(&self) -> io::Result<Identity> {
        Ok(Identity::from(&self.file.metadata()?))
    }

    /// The bytes from `offset` on, as many as `bytes` has room for. A file that ends before is an error.
    pub fn read_at(&self, offset: u64, bytes: &mut [u8]) -> io::Result<()> {
        self.file.read_exact_at(bytes, offset)
    }

    /// Writes all of `bytes`.
    pub fn write_at(&self, mut offset: u64, mut bytes: &[u8]) -> io::Result<()> {
        while !bytes.is_empty() {
            let written = match self.file.write_at(bytes, offset) {
                Ok(0) => return Err(ErrorKind::WriteZero.into()),
                Ok(written) => written,
                Err(error) if error.kind() == ErrorKind::Interrupted => continue,
                Err(error) => return Err(error),
            };
            self.disk.tell(|| Operation::Write {
                path: self.path.clone(),
                offset,
                bytes: bytes[..written].to_vec(),
            });
            offset += written as u64;
            bytes = &bytes[written..];
        }
        Ok(())
    }

    /// Cuts it.
    pub fn truncate(&self, len: u64) -> io::Result<()> {
        self.file.set_len(len)?;
        self.disk.tell(|| Operation::Truncate {
            path: self.path.clone(),
            len,
        });
        Ok(())
    }

    /// Makes its bytes safe.
    pub fn sync_data(&self) -> io::Result<()> {
        self.file.sync_data()?;
        self.disk.tell(|| Operation::SyncData {
            path: self.path.clone(),
        });
        Ok(())
    }

    /// Makes its bytes and its attributes safe.
    pub fn sync_file(&self) -> io::Result<()> {
        self.file.sync_all()?;
        self.disk.tell(|| Operation::SyncFile {
            path: self.path.clone(),
        });
        Ok(())
    }

    /// The file itself, to lock it.
    pub(super) fn into_file(self) -> File {
        self.file
    }
}
