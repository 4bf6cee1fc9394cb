//! Folders that are open: what is in them, and what is opened from them by a name alone. In: the path of a folder, once; then names. Out:
//! names with their kinds, open files, open folders. `ignore/walk.rs` and `tools/list.rs` look at trees with it.
//!
//! ```text
//! Dir::open("/home/me/app")            open(path, O_DIRECTORY | O_NOFOLLOW)
//!   read(…)                            getdents64:  "src" Folder, "a.c" File, "out" Link
//!   open_folder("src")                 openat(…, "src", O_DIRECTORY | O_NOFOLLOW)
//!     open_file("main.c")              openat(…, "main.c", O_NOFOLLOW | O_NONBLOCK)
//! ```
//!
//! Opening by name costs the kernel one look-up, however deep the folder lies, and works where the whole path would be longer than
//! PATH_MAX. It also means that nobody can lead us elsewhere by exchanging a folder on the way for a link.
//!
//! Refused: what is no folder where one is wanted, and links. Limits: none of its own.
//!
//! Invariant: an open is never held up by a FIFO or a device, and never follows a link in the name it is given.
//! Invariant: a kind is what the folder says of the name; only where it says nothing the name is looked at.
//!
//! Read next: `ignore/walk.rs`.

use super::ffi;
use std::fs::{self, File, FileType, OpenOptions};
use std::io::{self, ErrorKind};
use std::os::fd::AsFd;
use std::os::unix::fs::{FileTypeExt, MetadataExt, OpenOptionsExt};
use std::path::Path;

/// Names in a folder of ours: those that are UTF-8, as all of ours are; none if there is no such folder.
pub fn names(folder: &Path) -> io::Result<Vec<String>> {
    let entries = match fs::read_dir(folder) {
        Ok(entries) => entries,
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(Vec::new()),
        Err(error) => return Err(error),
    };
    let mut names = Vec::new();
    for entry in entries {
        names.extend(entry?.file_name().into_string());
    }
    Ok(names)
}

/// An open folder.
#[derive(Debug)]
pub struct Dir {
    file: File,
}

/// What a name in a folder is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// A regular file.
    File,
    /// A folder.
    Folder,
    /// A symbolic link.
    Link,
    /// A named pipe.
    Fifo,
    /// A socket.
    Socket,
    /// A device.
    Device,
}

impl Dir {
    /// By its path; a link in the last component is refused, on the way there it is followed.
    pub fn open(path: &Path) -> io::Result<Dir> {
        let mut options = OpenOptions::new();
        options.read(true).custom_flags(ffi::OPEN_FOLDER);
        let file = options.open(path)?;
        Ok(Dir { file })
    }

    /// A folder in this one.
    pub fn open_folder(&self, name: &[u8]) -> io::Result<Dir> {
        let fd = ffi::open_at(self.file.as_fd(), name, ffi::OPEN_FOLDER)?;
        Ok(Dir {
            file: File::from(fd),
        })
    }

    /// A file in this folder, for reading. What it is was said by [`Dir::read`] and is not asked again: that would be one more call
    /// into the system for each file of a tree. If it was exchanged meanwhile for something that is no file, the open does not
    /// wait, and a read says so or finds nothing.
    pub fn open_file(&self, name: &[u8]) -> io::Result<File> {
        let fd = ffi::open_at(self.file.as_fd(), name, ffi::OPEN_CAREFULLY)?;
        Ok(File::from(fd))
    }

    /// Calls `each` with every name but `.` and `..` and its kind, in no particular order. `buffer` is room for the system: 32 KiB will
    /// do. What vanishes while we look is left out. To read a folder twice, open it twice.
    pub fn read(&self, buffer: &mut [u8], each: &mut dyn FnMut(&[u8], Kind)) -> io::Result<()> {
        ffi::read_folder(self.file.as_fd(), buffer, &mut |name, kind| {
            if name == b"." || name == b".." {
                return;
            }
            if let Some(kind) = self.kind(kind, name) {
                each(name, kind);
            }
        })
    }

    /// Device and inode: what tells this folder from all others, whatever its path.
    pub fn identity(&self) -> io::Result<(u64, u64)> {
        let meta = self.file.metadata()?;
        Ok((meta.dev(), meta.ino()))
    }

    /// What the folder says of a name or, if that is nothing, what a look at it says.
    fn kind(&self, said: u8, name: &[u8]) -> Option<Kind> {
        known(said).or_else(|| self.look(name))
    }

    /// The kind of a name of which the folder said nothing, as some network file systems do. A link cannot be opened and a socket
    /// neither: the first is told by its error, the second is left out.
    fn look(&self, name: &[u8]) -> Option<Kind> {
        match ffi::open_at(self.file.as_fd(), name, ffi::OPEN_CAREFULLY) {
            Ok(fd) => kind_of(File::from(fd).metadata().ok()?.file_type()),
            Err(error) if ffi::is_link_error(&error) => Some(Kind::Link),
            // It may well be a file that is closed to us: who opens it will hear why.
            Err(error) if error.kind() == io::ErrorKind::PermissionDenied => Some(Kind::File),
            Err(_) => None,
        }
    }
}

fn kind_of(kind: FileType) -> Option<Kind> {
    if kind.is_file() {
        Some(Kind::File)
    } else if kind.is_dir() {
        Some(Kind::Folder)
    } else if kind.is_fifo() {
        Some(Kind::Fifo)
    } else if kind.is_char_device() || kind.is_block_device() {
        Some(Kind::Device)
    } else {
        None
    }
}

/// From `d_type`, the same numbers on Linux and macOS.
fn known(kind: u8) -> Option<Kind> {
    match kind {
        1 => Some(Kind::Fifo),
        2 | 6 => Some(Kind::Device),
        4 => Some(Kind::Folder),
        8 => Some(Kind::File),
        10 => Some(Kind::Link),
        12 => Some(Kind::Socket),
        // 0: the file system does not say; others are unknown to us.
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sys::random;
    use std::fs;
    use std::os::unix::fs::symlink;
    use std::os::unix::net::UnixListener;
    use std::process::Command;

    #[test]
    fn what_a_folder_says_nothing_of_is_looked_at() {
        let root = std::env::temp_dir().join(random::id(12).expect("random name"));
        let at = |name: &str| root.join(name);
        fs::create_dir_all(at("folder")).expect("folder");
        fs::write(at("file"), "").expect("file");
        symlink("file", at("link")).expect("link");
        symlink("absent", at("broken")).expect("link");
        let made = Command::new("mkfifo").arg(at("pipe")).status();
        let socket = UnixListener::bind(at("socket"));
        let dir = Dir::open(&root).expect("opens");
        let names = [
            "folder", "file", "link", "broken", "pipe", "socket", "absent",
        ];
        // DT_UNKNOWN, and a number that nobody has given out.
        let looked = [0, 99].map(|said| names.map(|name| dir.kind(said, name.as_bytes())));
        // What is said is believed.
        let told = [1, 2, 4, 6, 8, 10, 12].map(|said| dir.kind(said, b"absent"));
        fs::remove_dir_all(&root).expect("removes");
        assert!(made.expect("mkfifo").success() && socket.is_ok());
        let (file, folder, link, fifo) = (Kind::File, Kind::Folder, Kind::Link, Kind::Fifo);
        // A socket cannot be opened, so it is not told from what has vanished.
        let expected = [folder, file, link, link, fifo].map(Some);
        for looked in looked {
            assert_eq!(looked[..5], expected);
            assert_eq!(looked[5..], [None, None]);
        }
        let device = Dir::open(Path::new("/dev")).expect("opens");
        assert_eq!(device.kind(0, b"null"), Some(Kind::Device));
        let (device, socket) = (Kind::Device, Kind::Socket);
        let expected = [fifo, device, folder, device, file, link, socket];
        assert_eq!(told, expected.map(Some));
    }
}
