//! Opening without surprises, and writing without loss. Comes in: a path that the caller has settled (a `WsPath`, a file of our own
//! state). Goes out: an open regular file, or a file whose bytes were replaced whole.
//!
//! ```text
//! replace("src/a.rs", ["fn ", "main", "() {}\n"], like the old file)
//!   create  src/.zcoder-7k2m9xq4tb  0600      owner, group, then mode of the old file
//!   write   "fn " "main" "() {}\n"            fsync
//!   recheck the caller looks at src/a.rs once more
//!   rename  src/.zcoder-7k2m9xq4tb → src/a.rs           fsync src
//! ```
//!
//! Refused: opening anything but a regular file, by name ("is a FIFO"), before it is opened, since opening some devices acts on them;
//! replacing a file that is marked read-only (no write bit, or `access` says no), though a rename would get around the mark.
//!
//! Not kept: access control lists and extended attributes, the inode and so other hard links to it, the times, and whatever of owner and
//! group we may not set (then the set-id bits go, and group rights shrink to those of others). A kill in the middle may leave a
//! `.zcoder-…` file behind.
//!
//! Invariant: whoever opens the path at any moment reads the old bytes whole or the new bytes whole.
//! Invariant: after an error the old file is there byte for byte, and the temporary file is not.
//! Invariant: the new bytes are on the disk before they get the name.
//!
//! Read next: `tools/edit.rs`, which splices the bytes; `random.rs`, which names the temporary file.

use super::{ffi, random};
use std::fs::{self, File, FileType, Metadata, OpenOptions, Permissions};
use std::io::{self, ErrorKind, IoSlice, Write};
use std::os::fd::AsFd;
use std::os::unix::fs::{FileTypeExt, MetadataExt, OpenOptionsExt, PermissionsExt, fchown};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

/// What tells one state of a file from another without reading it: equal before and after means untouched (by anybody who does not set
/// the times back). Made from the metadata of an open file, or of a path whose last component was not followed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Identity {
    /// Device number.
    pub device: u64,
    /// Inode number on that device.
    pub inode: u64,
    /// Bytes.
    pub size: u64,
    /// Last change of the bytes: seconds since 1970, nanoseconds.
    pub modified: (i64, i64),
}

impl From<&Metadata> for Identity {
    fn from(metadata: &Metadata) -> Identity {
        Identity {
            device: metadata.dev(),
            inode: metadata.ino(),
            size: metadata.size(),
            modified: (metadata.mtime(), metadata.mtime_nsec()),
        }
    }
}

/// Opens for reading, without following a link in the last component and without waiting (O_NOFOLLOW, O_NONBLOCK, O_NOCTTY, O_CLOEXEC).
/// Anything but a regular file is refused with its kind: `is a directory`, `is a FIFO`. Other errors: those of `open`.
pub fn open_regular(path: &Path) -> io::Result<File> {
    open_carefully(path, OpenOptions::new().read(true))
}

/// As [`open_regular`], for a file of our own state, where nobody puts a device: it is looked at once, when it is open, and what was seen
/// is returned with it.
pub fn open_own(path: &Path) -> io::Result<(File, Metadata)> {
    open_and_look(path, OpenOptions::new().read(true))
}

/// As [`open_own`], for reading and writing.
pub fn open_own_to_write(path: &Path) -> io::Result<(File, Metadata)> {
    open_and_look(path, OpenOptions::new().read(true).write(true))
}

fn open_and_look(path: &Path, options: &mut OpenOptions) -> io::Result<(File, Metadata)> {
    let opened = options.custom_flags(ffi::OPEN_CAREFULLY).open(path);
    let file = opened.map_err(|error| {
        // A link, a folder, a socket: what it is says more than that it cannot be opened.
        let kind = fs::symlink_metadata(path).map(|found| found.file_type());
        kind.and_then(refuse_unless_regular)
            .map_or_else(|refused| refused, |()| error)
    })?;
    let metadata = file.metadata()?;
    refuse_unless_regular(metadata.file_type())?;
    Ok((file, metadata))
}

fn open_carefully(path: &Path, options: &mut OpenOptions) -> io::Result<File> {
    refuse_unless_regular(fs::symlink_metadata(path)?.file_type())?;
    // What was looked at and what was opened may differ: the opened one counts.
    open_and_look(path, options).map(|(file, _)| file)
}

fn refuse_unless_regular(kind: FileType) -> io::Result<()> {
    let (error, text) = if kind.is_file() {
        return Ok(());
    } else if kind.is_dir() {
        (ErrorKind::IsADirectory, "is a directory")
    } else if kind.is_symlink() {
        (ErrorKind::InvalidInput, "is a symbolic link")
    } else if kind.is_fifo() {
        (ErrorKind::InvalidInput, "is a FIFO")
    } else if kind.is_socket() {
        (ErrorKind::InvalidInput, "is a socket")
    } else if kind.is_block_device() || kind.is_char_device() {
        (ErrorKind::InvalidInput, "is a device")
    } else {
        (ErrorKind::InvalidInput, "is not a regular file")
    };
    Err(io::Error::new(error, text))
}

/// Puts `parts`, one after the other, in place of what is at `path`. With `like` (the old file, open) owner, group and mode become its
/// own and a read-only file is refused; without, the mode is 0666 less umask and anything at `path` is replaced. `recheck` is called
/// when the new bytes are safe and before they get the name: its error stops the replacement and comes back.
pub fn replace(
    path: &Path,
    parts: &[&[u8]],
    like: Option<&File>,
    recheck: &mut dyn FnMut() -> io::Result<()>,
) -> io::Result<()> {
    let like = like.map(File::metadata).transpose()?;
    if let Some(like) = &like {
        refuse_read_only(path, like)?;
    }
    let attributes = like.as_ref().map_or(Attributes::New, Attributes::Like);
    let temporary = Temporary::write(path, parts, attributes)?;
    recheck()?;
    fs::rename(&temporary.path, path)?;
    temporary.folder_changed();
    Ok(())
}

/// Makes a new file with mode 0666 less umask. Errors: `AlreadyExists` if anything is at `path`, a dangling link too, and also if it
/// appeared while we were writing; otherwise as `replace`.
pub fn create(path: &Path, parts: &[&[u8]]) -> io::Result<()> {
    refuse_existing(path)?;
    name_new(Temporary::write(path, parts, Attributes::New)?, path)
}

/// As [`create`], with exactly this mode (permission bits, no set-id bits), for a file that comes back.
pub fn create_as(path: &Path, parts: &[&[u8]], mode: u32) -> io::Result<()> {
    refuse_existing(path)?;
    name_new(
        Temporary::write(path, parts, Attributes::Mode(mode & 0o777))?,
        path,
    )
}

/// Between two looks at a lock that somebody has: they hold it for some milliseconds.
const LOCK_POLL: Duration = Duration::from_millis(5);

/// An open file, or folder, that nobody else can lock.
#[derive(Debug)]
pub struct Locked {
    file: File,
}

impl Locked {
    /// Takes the lock of an open file, without waiting; `None`: somebody else has it. It is given back on drop, or when its process
    /// ends in any way. Errors: the file system has no locks.
    pub fn take(file: File) -> io::Result<Option<Locked>> {
        let taken = ffi::try_lock(file.as_fd())?;
        Ok(taken.then_some(Locked { file }))
    }

    /// As [`Locked::take`], but several may have it so at once; `None`: somebody has it alone.
    pub fn share(file: File) -> io::Result<Option<Locked>> {
        let taken = ffi::try_lock_shared(file.as_fd())?;
        Ok(taken.then_some(Locked { file }))
    }

    /// As [`Locked::take`], but waits for it up to `limit`.
    pub fn wait(file: File, limit: Duration) -> io::Result<Option<Locked>> {
        let deadline = Instant::now() + limit;
        loop {
            if ffi::try_lock(file.as_fd())? {
                return Ok(Some(Locked { file }));
            }
            let left = deadline.saturating_duration_since(Instant::now());
            if left.is_zero() {
                return Ok(None);
            }
            // The system waits for a lock for ever or not at all, and tells nobody that one came free.
            std::thread::sleep(left.min(LOCK_POLL));
        }
    }
}

impl Drop for Locked {
    fn drop(&mut self) {
        // Closing the file comes next and gives it back as well, only not always at once.
        let _ = ffi::unlock(self.file.as_fd());
    }
}

fn refuse_existing(path: &Path) -> io::Result<()> {
    match fs::symlink_metadata(path) {
        Ok(_) => Err(ErrorKind::AlreadyExists.into()),
        Err(_) => Ok(()),
    }
}

fn name_new(temporary: Temporary, path: &Path) -> io::Result<()> {
    // A hard link never replaces anything. Where the file system has none, a rename has to do: what appears in between is lost.
    match fs::hard_link(&temporary.path, path) {
        Ok(()) => fs::remove_file(&temporary.path)?,
        Err(error) if error.kind() == ErrorKind::AlreadyExists => return Err(error),
        Err(_) => fs::rename(&temporary.path, path)?,
    }
    temporary.folder_changed();
    Ok(())
}

/// A new file's bytes, safe on the disk in the folder where they will have their name. Several can be made before the first gets it:
/// what usually goes wrong, no room or no right to write, goes wrong here, when nothing has changed yet. Dropped, it is removed.
#[derive(Debug)]
pub struct Staged {
    temporary: Temporary,
    path: PathBuf,
}

impl Staged {
    /// Writes `parts` beside `path`. With `like` owner, group and mode are those of that open file; `executable` then sets or clears the
    /// right to execute, for everybody who may read.
    pub fn write(
        path: &Path,
        parts: &[&[u8]],
        like: Option<&File>,
        executable: Option<bool>,
    ) -> io::Result<Staged> {
        let like = like.map(File::metadata).transpose()?;
        let attributes = like.as_ref().map_or(Attributes::New, Attributes::Like);
        let temporary = Temporary::write(path, parts, attributes)?;
        if let Some(executable) = executable {
            let mode = fs::symlink_metadata(&temporary.path)?.mode() & 0o7777;
            let mode = with_execution(mode, executable);
            fs::set_permissions(&temporary.path, Permissions::from_mode(mode))?;
        }
        Ok(Staged {
            temporary,
            path: path.to_path_buf(),
        })
    }

    /// Gives it exactly this mode (permission bits).
    pub fn set_mode(&self, mode: u32) -> io::Result<()> {
        fs::set_permissions(&self.temporary.path, Permissions::from_mode(mode & 0o777))
    }

    /// Takes the place of the file at the path, unless that is marked read-only.
    pub fn replace(self) -> io::Result<()> {
        refuse_read_only(&self.path, &fs::symlink_metadata(&self.path)?)?;
        fs::rename(&self.temporary.path, &self.path)?;
        self.temporary.folder_changed();
        Ok(())
    }

    /// Takes the name, if nothing has it.
    pub fn create(self) -> io::Result<()> {
        refuse_existing(&self.path)?;
        name_new(self.temporary, &self.path)
    }
}

/// A mode with the right to execute, for everybody who may read, or without it for anybody.
pub fn with_execution(mode: u32, executable: bool) -> u32 {
    match executable {
        true => mode | (mode & 0o444) >> 2,
        false => mode & !0o111,
    }
}

/// Takes a file's name away, and makes that survive a power cut.
pub fn remove(path: &Path) -> io::Result<()> {
    fs::remove_file(path)?;
    if let Some(folder) = path.parent() {
        sync_folder(folder);
    }
    Ok(())
}

/// Makes names in a folder survive a power cut, as far as the file system can.
pub fn sync_folder(folder: &Path) {
    if let Ok(folder) = File::open(folder) {
        // Some network file systems cannot; the files are no less whole for it.
        let _ = folder.sync_all();
    }
}

/// The owner of the file asked for it not to be changed; that the folder lets us put another in its place is no permission.
fn refuse_read_only(path: &Path, like: &Metadata) -> io::Result<()> {
    let marked = like.mode() & 0o222 == 0;
    if marked || !ffi::may_write(path)? {
        return Err(io::Error::new(ErrorKind::PermissionDenied, "is read-only"));
    }
    Ok(())
}

/// What a new file's owner and mode become.
#[derive(Clone, Copy)]
enum Attributes<'a> {
    /// As the system makes them.
    New,
    /// Those of the file it replaces.
    Like(&'a Metadata),
    /// This mode.
    Mode(u32),
}

/// A finished file that waits for its name, in the folder where it will have it (a rename works only within a file system).
#[derive(Debug)]
struct Temporary {
    path: PathBuf,
    folder: File,
    /// Cleared once the file has its name.
    to_remove: bool,
}

impl Temporary {
    fn write(target: &Path, parts: &[&[u8]], attributes: Attributes<'_>) -> io::Result<Temporary> {
        let parent = match target.parent() {
            Some(parent) if !parent.as_os_str().is_empty() => parent,
            _ => Path::new("."),
        };
        let folder = File::open(parent)?;
        // The name does not contain the target's: that may be as long as a name can be.
        let path = parent.join(format!(".zcoder-{}", random::id(10)?));
        let mut options = OpenOptions::new();
        options.write(true).create_new(true);
        match attributes {
            Attributes::New => {}
            // Nobody else reads a secret file's new bytes before it has its final mode.
            Attributes::Like(_) | Attributes::Mode(_) => {
                options.mode(0o600);
            }
        }
        let file = options.open(&path)?;
        let temporary = Temporary {
            path,
            folder,
            to_remove: true,
        };
        match attributes {
            Attributes::New => {}
            Attributes::Like(like) => keep_attributes(&file, like)?,
            Attributes::Mode(mode) => file.set_permissions(Permissions::from_mode(mode))?,
        }
        write_parts(&file, parts)?;
        file.sync_all()?;
        Ok(temporary)
    }

    /// The file has its name; makes that survive a power cut.
    fn folder_changed(mut self) {
        self.to_remove = false;
        // Nothing is undone if this fails (some network file systems do not support it): old or new bytes, either is found whole.
        let _ = self.folder.sync_all();
    }
}

impl Drop for Temporary {
    fn drop(&mut self) {
        if self.to_remove {
            // An error is on its way up already; this one would hide it.
            let _ = fs::remove_file(&self.path);
        }
    }
}

/// As one call gathers them, as many as it takes: copied together first they would take memory that costs more than the call.
fn write_parts(mut file: &File, parts: &[&[u8]]) -> io::Result<()> {
    let mut slices: Vec<IoSlice<'_>> = parts.iter().map(|part| IoSlice::new(part)).collect();
    let mut left = &mut slices[..];
    // Empty ones at the front go, so what is left has a byte to write.
    IoSlice::advance_slices(&mut left, 0);
    while !left.is_empty() {
        match file.write_vectored(left) {
            Ok(0) => return Err(ErrorKind::WriteZero.into()),
            Ok(written) => IoSlice::advance_slices(&mut left, written),
            Err(error) if error.kind() == ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
    Ok(())
}

/// Owner and group first: setting them clears the set-id bits.
fn keep_attributes(file: &File, like: &Metadata) -> io::Result<()> {
    let own = file.metadata()?;
    let mut mode = like.mode() & 0o7777;
    let same_owner = own.uid() == like.uid() || fchown(file, Some(like.uid()), None).is_ok();
    let same_group = own.gid() == like.gid() || fchown(file, None, Some(like.gid())).is_ok();
    if !same_group {
        // The rights were given to another group: ours gets no more than everybody has.
        mode = mode & !0o070 | (mode & 0o007) << 3;
    }
    if !same_owner || !same_group {
        mode &= 0o777;
    }
    file.set_permissions(Permissions::from_mode(mode))
}
