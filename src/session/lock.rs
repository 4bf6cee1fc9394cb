//! The lock of a session, held for the milliseconds of a commit. `commit.rs` takes it; nothing else does, so a session that is open in two
//! windows is no conflict until both have something to save.
//!
//! ```text
//! lock          empty; flock(2) on it, waited for up to 2 s
//! output/       shared flock(2) by everybody who has the session open: whoever wants to remove it looks there
//! lock.owner    {"host":"buildbox","boot":"3f0c…","space":"pid:[4026531836]","pid":4711,"start":"882211"}⏎
//! ```
//!
//! The last is made only where the file system answers `flock` with an error: written beside, then linked to its name, which fails where
//! there is one, so that whoever is killed leaves a whole one; create-new where there are no links either. It is removed behind the commit; one
//! that was left by a process that is certainly dead is broken ([`Process::is_dead`]).
//!
//! Invariant: who holds the lock holds that of the file which is at the path now, not of one that was moved away.
//! Invariant: a `lock.owner` that cannot be read counts as held.
//!
//! Read next: `commit.rs`.

use super::disk::Disk;
use super::error::{CommitError, Conflict};
use crate::json::{Field, FieldError, Tree, Writer};
use crate::sys::file::{Identity, Locked};
use crate::sys::host::Process;
use crate::sys::random;
use std::fs::{self, File};
use std::io::{self, ErrorKind};
use std::path::{Path, PathBuf};
use std::thread;
use std::time::{Duration, Instant};

/// How long a commit waits for another: it takes some milliseconds, on a slow disk some hundred.
const WAIT: Duration = Duration::from_secs(2);
/// Between two looks at `lock.owner`.
const POLL: Duration = Duration::from_millis(20);
/// Of `lock.owner`; names of machines are short.
const MAX_OWNER_BYTES: u64 = 4 << 10;

/// The lock, until it is dropped.
#[derive(Debug)]
pub(super) enum Guard {
    /// Of the file system.
    Locked(#[allow(dead_code)] Locked),
    /// A file that says so.
    Owner(#[allow(dead_code)] Owner),
}

/// Takes the lock of a session's folder.
pub(super) fn take(disk: &Disk, folder: &Path) -> Result<Guard, CommitError> {
    let path = folder.join("lock");
    let failed = |error: io::Error| refused_ours("open", &path, error);
    let (file, ours) = disk.open(&path).map_err(failed)?;
    let guard = match Locked::wait(file.into_file(), WAIT) {
        Ok(Some(locked)) => Guard::Locked(locked),
        Ok(None) => return Err(CommitError::Busy { path }),
        Err(_) => Guard::Owner(Owner::take(disk, folder, WAIT)?),
    };
    let now = fs::symlink_metadata(&path).map_err(failed)?;
    let now = Identity::from(&now);
    match (now.device, now.inode) == (ours.device, ours.inode) {
        true => Ok(guard),
        false => Err(CommitError::Conflict(Conflict::Replaced { path })),
    }
}

/// Says that somebody has the session open, until it is dropped: a shared lock of its `output`. `None`: that cannot be said here.
pub(super) fn present(folder: &Path) -> Option<Locked> {
    let output = File::open(folder.join("output")).ok()?;
    Locked::share(output).ok().flatten()
}

/// Whether somebody has it open, as far as that can be known.
pub(super) fn is_present(folder: &Path) -> bool {
    let output = File::open(folder.join("output"));
    matches!(output.and_then(Locked::take), Ok(None))
}

/// What an error of the disk means for a session: what was there and is not, is a conflict.
pub(super) fn refused(what: &'static str, path: &Path, error: io::Error) -> CommitError {
    let path = path.to_path_buf();
    match error.kind() {
        ErrorKind::NotFound | ErrorKind::NotADirectory => {
            CommitError::Conflict(Conflict::Gone { path })
        }
        _ => CommitError::Io { what, path, error },
    }
}

/// The same for a file that this session has written: what is no file any more is a conflict, too.
pub(super) fn refused_ours(what: &'static str, path: &Path, error: io::Error) -> CommitError {
    // The system says "invalid" of much else; what is no regular file `sys::file` has found out itself.
    match (error.kind(), error.raw_os_error()) {
        (ErrorKind::InvalidInput | ErrorKind::IsADirectory, None) => {
            let path = path.to_path_buf();
            CommitError::Conflict(Conflict::Replaced { path })
        }
        _ => refused(what, path, error),
    }
}

/// The lock where there are no locks.
#[derive(Debug)]
pub(super) struct Owner {
    disk: Disk,
    path: PathBuf,
}

impl Owner {
    /// Waits up to `limit` for whoever has it.
    pub(super) fn take(disk: &Disk, folder: &Path, limit: Duration) -> Result<Owner, CommitError> {
        let path = folder.join("lock.owner");
        let deadline = Instant::now() + limit;
        loop {
            match make(disk, &path) {
                Ok(()) => {
                    let disk = disk.clone();
                    return Ok(Owner { disk, path });
                }
                Err(error) if error.kind() == ErrorKind::AlreadyExists => {}
                Err(error) => return Err(refused("make", &path, error)),
            }
            let owner = read(disk, &path);
            match owner {
                Some(owner) if owner.is_dead() => break_it(disk, &path, &owner),
                owner if Instant::now() >= deadline => {
                    let owner = match owner {
                        Some(owner) => format!("process {} on {}", owner.pid, owner.host),
                        None => "somebody".to_string(),
                    };
                    return Err(CommitError::Owned { path, owner });
                }
                _ => thread::sleep(POLL),
            }
        }
    }
}

impl Drop for Owner {
    fn drop(&mut self) {
        // If it cannot be removed, it names a process that will be dead.
        let _ = self.disk.remove(&self.path);
    }
}

/// Makes the file, unless there is one.
fn make(disk: &Disk, path: &Path) -> io::Result<()> {
    if fs::symlink_metadata(path).is_ok() {
        return Err(ErrorKind::AlreadyExists.into());
    }
    let aside = path.with_extension(random::id(8)?);
    let line = line(&Process::this());
    let written = disk.create_new(&aside)?.write_at(0, &line);
    let linked = written.and_then(|()| fs::hard_link(&aside, path));
    let _ = disk.remove(&aside);
    match linked.as_ref().map_err(io::Error::kind) {
        Err(ErrorKind::PermissionDenied | ErrorKind::Unsupported) => {}
        Ok(()) | Err(_) => return linked,
    }
    let file = disk.create_new(path)?;
    file.write_at(0, &line).inspect_err(|_| {
        // It would keep everybody out.
        let _ = disk.remove(path);
    })
}

/// Takes a dead owner's file away. Two processes may do so at once, and the second must not remove what the first has put there since: it
/// is moved aside first, looked at again, and put back if it is another one's.
fn break_it(disk: &Disk, path: &Path, dead: &Process) {
    let Ok(suffix) = random::id(8) else {
        return;
    };
    let aside = path.with_extension(suffix);
    // Whatever fails here: the loop looks again.
    if disk.rename(path, &aside).is_err() {
        return;
    }
    if read(disk, &aside).as_ref() != Some(dead) {
        let _ = fs::hard_link(&aside, path);
    }
    let _ = disk.remove(&aside);
}

fn read(disk: &Disk, path: &Path) -> Option<Process> {
    let bytes = disk.read(path, MAX_OWNER_BYTES).ok()?;
    let tree = Tree::parse_strict(&bytes).ok()?;
    process(&Field::root(tree.root())).ok()
}

fn process(owner: &Field<'_>) -> Result<Process, FieldError> {
    let text = |key: &str| Ok(owner.member(key)?.string()?.to_string());
    let pid = owner.member("pid")?;
    Ok(Process {
        host: text("host")?,
        boot: text("boot")?,
        space: text("space")?,
        pid: u32::try_from(pid.u64()?).map_err(|_| pid.error("a process's number"))?,
        start: text("start")?,
    })
}

fn line(process: &Process) -> Vec<u8> {
    let mut json = Writer::new();
    json.begin_object().key("host").string(&process.host);
    json.key("boot").string(&process.boot);
    json.key("space").string(&process.space);
    json.key("pid").u64(u64::from(process.pid));
    json.key("start").string(&process.start).end_object();
    let mut bytes = json.finish();
    bytes.push(b'\n');
    bytes
}

#[cfg(test)]
mod tests {
    //! File systems without locks are rare where tests run, so the file that takes their place is tested alone.

    use super::*;
    use std::sync::atomic::{AtomicBool, Ordering};

    fn folder() -> PathBuf {
        let name = format!("zcoder-test-{}", random::id(12).unwrap());
        let folder = std::env::temp_dir().join(name);
        fs::create_dir(&folder).unwrap();
        folder
    }

    fn take_now(folder: &Path) -> Result<Owner, String> {
        let owner = Owner::take(&Disk::default(), folder, Duration::ZERO);
        owner.map_err(|error| {
            error
                .to_string()
                .replace(&folder.display().to_string(), "F")
        })
    }

    fn busy(owner: &str) -> String {
        format!(
            "the session is busy: `F/lock.owner` says that {owner} works on it; nothing was saved and nothing is lost: try again, \
             fork the session, or remove that file if it is wrong"
        )
    }

    #[test]
    fn an_owner_keeps_others_out_until_it_goes() {
        let folder = folder();
        let this = Process::this();
        let owner = take_now(&folder).unwrap();
        let path = folder.join("lock.owner");
        assert_eq!(fs::read(&path).unwrap(), line(&this));
        let expected = busy(&format!("process {} on {}", this.pid, this.host));
        assert_eq!(take_now(&folder).err(), Some(expected));
        drop(owner);
        assert!(!path.exists());
        drop(take_now(&folder).unwrap());
        fs::remove_dir(&folder).unwrap();
    }

    #[test]
    fn whoever_is_killed_leaves_no_file_that_says_nothing() {
        let folder = folder();
        let (path, whole) = (folder.join("lock.owner"), line(&Process::this()));
        let enough = AtomicBool::new(false);
        let mut seen = Vec::new();
        thread::scope(|scope| {
            scope.spawn(|| {
                while !enough.load(Ordering::Relaxed) {
                    drop(take_now(&folder));
                }
            });
            // What a kill at that moment would leave.
            while seen.len() < 600 {
                seen.extend(fs::read(&path).ok());
            }
            enough.store(true, Ordering::Relaxed);
        });
        assert!(seen.iter().all(|bytes| *bytes == whole));
        assert_eq!(fs::read_dir(&folder).unwrap().count(), 0);
        fs::remove_dir(&folder).unwrap();
    }

    #[test]
    fn only_the_file_of_a_dead_process_is_broken() {
        let folder = folder();
        let path = folder.join("lock.owner");
        let this = Process::this();
        let dead = Process {
            pid: 0,
            ..this.clone()
        };
        fs::write(&path, line(&dead)).unwrap();
        let owner = take_now(&folder).unwrap();
        assert_eq!(fs::read(&path).unwrap(), line(&this));
        drop(owner);
        let foreign = Process {
            host: "elsewhere".to_string(),
            ..dead
        };
        fs::write(&path, line(&foreign)).unwrap();
        assert_eq!(
            take_now(&folder).err(),
            Some(busy("process 0 on elsewhere"))
        );
        // Made a moment ago by somebody who has not written yet, or nonsense: held.
        for text in ["", "nonsense", "{}"] {
            fs::write(&path, text).unwrap();
            assert_eq!(take_now(&folder).err(), Some(busy("somebody")));
        }
        // Nothing is left beside it.
        assert_eq!(fs::read_dir(&folder).unwrap().count(), 1);
        fs::remove_dir_all(&folder).unwrap();
    }
}
