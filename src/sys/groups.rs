//! The process groups that we started: whom our signals reach, and the list that the way out of the program ends. `process.rs` starts
//! one per command; `end_all` is called from the thread that hears of SIGTERM or SIGHUP.
//!
//! ```text
//! start             setsid: session 4711, group 4711, leader 4711 (sh)          kill(-4711, TERM) reaches sh and its children
//! leader has ended  4711 is a zombie: the number is taken                       signals are safe
//! leader waited for group 4711 lives on while `sleep 300` is in it              safe if no *process* 4711 exists
//! group empty       the kernel may give 4711 to anybody                         never signaled again (only zombies left: as empty)
//! ```
//!
//! Limits: none. An entry goes when its group is empty; each start looks through the list, and through `/proc` for groups left behind.
//!
//! Invariant: a number is signaled only while it is ours: before its leader was waited for, or while the group has members and no process
//! carries the number. (A group of that number made by a stranger has, or had, a leader of that number.)
//! Invariant: a leader is waited for with the list locked, so `end_all` never works with a number that was just given back.
//! Invariant: once `end_all` was called nothing new starts.
//!
//! Read next: `process.rs`.

use super::ffi;
#[cfg(target_os = "linux")]
use std::fs;
use std::io;
#[cfg(target_os = "linux")]
use std::os::unix::ffi::OsStrExt;
use std::process::{Child, Command, ExitStatus};
use std::sync::{Mutex, MutexGuard, PoisonError, TryLockError};
use std::thread;
use std::time::{Duration, Instant};

/// Between TERM and KILL on the way out: whoever closed the terminal is not there to wait.
const LEAVING_GRACE: Duration = Duration::from_millis(300);
/// How often a group is looked at: the kernel reports the end of a child, but of no group.
pub(super) const LOOK: Duration = Duration::from_millis(10);

/// The groups that may have members.
///
/// A static, because a signal may end the program while any thread runs a command, and the thread that hears of the signal owns none of
/// them. Written by `Group` (start, wait, end) and by `end_all`, read by `end_all`. The lock is held for a fork and exec at the longest,
/// so that no child can start unseen.
static LIST: Mutex<List> = Mutex::new(List {
    leaving: false,
    entries: Vec::new(),
});

struct List {
    /// Set by `end_all`.
    leaving: bool,
    entries: Vec<Entry>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Entry {
    /// The leader's process id.
    number: i32,
    /// From then on the number is only ours while the group lives.
    leader_waited_for: bool,
}

fn list() -> MutexGuard<'static, List> {
    // Each change is one assignment or one call of `Vec`: a panic elsewhere in the holder leaves the list whole.
    LIST.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Entry {
    fn is_gone(self) -> bool {
        if !self.leader_waited_for {
            return false;
        }
        ffi::process_exists(self.number)
            || !ffi::group_exists(self.number)
            || !has_living_member(self.number)
    }

    fn signal(self, signal: i32) {
        if !self.is_gone() {
            // Nobody left, or nobody whom we may signal (a set-user-ID program): there is nothing more we could do.
            let _ = ffi::signal_group(self.number, signal);
        }
    }
}

/// Whether some member of an existing group is more than a zombie. Orphans that have ended stay members until the first process of the
/// system waits for them, and in a container that process is often a program that never does.
#[cfg(target_os = "linux")]
fn has_living_member(group: i32) -> bool {
    let Ok(processes) = fs::read_dir("/proc") else {
        return true;
    };
    // "4711 (any name, also with ) in it) S 4710 4711 …": state, parent, group.
    let lives = |stat: &[u8]| {
        let name_end = stat.iter().rposition(|&byte| byte == b')')?;
        let mut fields = stat.get(name_end + 1..)?.split(|&byte| byte == b' ');
        let state = fields.nth(1)?;
        let of = std::str::from_utf8(fields.nth(1)?).ok()?;
        Some(of.parse() == Ok(group) && state != b"Z" && state != b"X")
    };
    processes.flatten().any(|process| {
        let is_number = process
            .file_name()
            .as_bytes()
            .first()
            .is_some_and(u8::is_ascii_digit);
        // A process may end between the two calls: then it is not a living member.
        is_number
            && fs::read(process.path().join("stat")).is_ok_and(|stat| lives(&stat).unwrap_or(false))
    })
}
/// macOS has no `/proc`; its first process waits for every orphan.
#[cfg(target_os = "macos")]
fn has_living_member(_group: i32) -> bool {
    true
}

/// A group that we started, and its leader.
#[derive(Debug)]
pub(super) struct Group {
    leader: Child,
    entry: Entry,
    status: Option<ExitStatus>,
}

impl Group {
    /// Starts `command` as leader of a new session and group. Errors: those of `spawn`; `Interrupted` after `end_all`.
    pub(super) fn start(command: &mut Command) -> io::Result<Group> {
        ffi::lead_new_session(command);
        let mut list = list();
        if list.leaving {
            let text = "the program is ending: nothing new is started";
            return Err(io::Error::new(io::ErrorKind::Interrupted, text));
        }
        list.entries.retain(|entry| !entry.is_gone());
        let leader = command.spawn()?;
        let entry = Entry {
            // `pid_t` is an `int`; std widens it.
            number: leader.id() as i32,
            leader_waited_for: false,
        };
        list.entries.push(entry);
        Ok(Group {
            leader,
            entry,
            status: None,
        })
    }

    /// The group's number, which is its leader's process id.
    pub(super) fn number(&self) -> i32 {
        self.entry.number
    }

    /// How the leader ended, once it was waited for.
    pub(super) fn status(&self) -> Option<ExitStatus> {
        self.status
    }

    /// Collects the status of a leader that has ended; does nothing, also without blocking, if it has not.
    pub(super) fn wait_for_leader(&mut self) -> io::Result<()> {
        let mut list = list();
        self.status = self.leader.try_wait()?;
        if self.status.is_some() {
            self.entry.leader_waited_for = true;
            let number = self.entry.number;
            let own = list.entries.iter_mut();
            own.filter(|entry| entry.number == number)
                .for_each(|entry| entry.leader_waited_for = true);
        }
        Ok(())
    }

    /// Whether the leader was waited for and nobody is left in the group.
    pub(super) fn is_gone(&self) -> bool {
        self.entry.is_gone()
    }

    /// Signals every member that is left.
    pub(super) fn signal(&self, signal: i32) {
        self.entry.signal(signal);
    }
}

impl Drop for Group {
    /// A group with members stays in the list, for `end_all`. A leader that has not ended is ended: nobody would wait for it.
    fn drop(&mut self) {
        if self.status.is_none() {
            self.signal(ffi::SIGKILL);
            // If it cannot be waited for yet it stays a zombie, and its number ours, until we leave.
            let _ = self.wait_for_leader();
        }
        if self.is_gone() {
            list().entries.retain(|entry| *entry != self.entry);
        }
    }
}

/// Ends every group still running, the children left behind by commands that ended included: TERM, then KILL. Returns after 0.3 s at
/// the latest. Nothing new starts from then on. For the way out on SIGTERM and SIGHUP.
pub fn end_all() {
    let give_up = Instant::now() + LEAVING_GRACE;
    loop {
        let time_is_up = Instant::now() >= give_up;
        if let Some(mut list) = try_list() {
            if !list.leaving {
                list.end(ffi::SIGTERM);
            }
            if time_is_up {
                list.end(ffi::SIGKILL);
            }
            if list.is_empty() {
                return;
            }
        }
        if time_is_up {
            return;
        }
        thread::sleep(LOOK);
    }
}

/// `None` while somebody starts a program: on a dead network disk that may take for ever, and the way out must not.
fn try_list() -> Option<MutexGuard<'static, List>> {
    match LIST.try_lock() {
        Ok(list) => Some(list),
        Err(TryLockError::Poisoned(poisoned)) => Some(poisoned.into_inner()),
        Err(TryLockError::WouldBlock) => None,
    }
}

impl List {
    fn end(&mut self, signal: i32) {
        self.leaving = true;
        self.entries.iter().for_each(|entry| entry.signal(signal));
    }

    fn is_empty(&mut self) -> bool {
        self.entries.retain(|entry| !entry.is_gone());
        self.entries.is_empty()
    }
}
