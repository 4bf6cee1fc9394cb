//! Who we are among all processes: for a lock that is only a file, and must be broken when its owner is dead and not a moment earlier.
//!
//! ```text
//! host   buildbox                              /proc/sys/kernel/hostname
//! boot   3f0c9a41-b2d8-…                       /proc/sys/kernel/random/boot_id
//! space  pid:[4026531836]                      /proc/self/ns/pid: in another container our numbers name others
//! pid    4711        start  882211             field 22 of /proc/4711/stat: a number that was given again has another
//! ```
//!
//! Limits: Linux. Elsewhere boot and space stay unknown, and nobody is ever known to be dead.
//!
//! Invariant: [`Process::is_dead`] says yes only to what is sure: on this host, since this start of it, where we can see it.

use super::ffi;
use std::fs;

/// The user in whose name we act, as the owner of files is counted.
pub fn user() -> u32 {
    ffi::effective_user()
}

/// A process.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Process {
    /// Name of the machine.
    pub host: String,
    /// Of this start of it; empty when unknown.
    pub boot: String,
    /// Where its number counts; empty when unknown.
    pub space: String,
    /// Its number.
    pub pid: u32,
    /// When it started, in the kernel's own measure; empty when unknown.
    pub start: String,
}

impl Process {
    /// This one.
    pub fn this() -> Process {
        let pid = std::process::id();
        let space = fs::read_link("/proc/self/ns/pid").unwrap_or_default();
        Process {
            host: word("/proc/sys/kernel/hostname"),
            boot: word("/proc/sys/kernel/random/boot_id"),
            space: space.to_string_lossy().into_owned(),
            pid,
            start: start(pid),
        }
    }

    /// Whether it has certainly ended.
    pub fn is_dead(&self) -> bool {
        let this = Process::this();
        let known = [&self.boot, &self.space]
            .iter()
            .all(|text| !text.is_empty());
        let here = (&self.host, &self.boot, &self.space) == (&this.host, &this.boot, &this.space);
        if !known || !here {
            return false;
        }
        match i32::try_from(self.pid) {
            Ok(pid) if ffi::process_exists(pid) => {
                let now = start(self.pid);
                // Empty: it ended in between, or may not be looked at; the next look tells.
                !self.start.is_empty() && !now.is_empty() && now != self.start
            }
            _ => true,
        }
    }
}

fn word(path: &str) -> String {
    let text = fs::read_to_string(path).unwrap_or_default();
    text.trim().to_string()
}

/// Behind the name in parentheses, which may hold anything, `start` is the 20th word (proc_pid_stat(5), field 22).
fn start(pid: u32) -> String {
    let stat = fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
    let words = stat.rsplit_once(')').map_or("", |(_, rest)| rest);
    words.split_whitespace().nth(19).unwrap_or("").to_string()
}
