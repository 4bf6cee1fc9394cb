//! Runs one command in a session of its own and tells what happens: output as it comes, the end, or that its time is over. `tools/run.rs`
//! drives it from the tool worker's thread; `end_all` is for the way out of the program.
//!
//! ```text
//! start   fork, setsid, exec     stdin /dev/null     stdout and stderr → one pipe → us
//! next    poll { pipe, child's end, cancel } until the deadline
//!           bytes            → Next::Output("   Compiling …\n")
//!           child has ended  → the pipe's rest, for at most 100 ms → Next::Ended
//!           cancel, deadline → TERM to the group, 2 s, KILL to the group → Next::Ended
//! ```
//!
//! The command has ended when the program itself has, not when its pipe closes: `sleep 300 & echo hi` ends at once although the
//! `sleep` holds the pipe. What stays behind is reported (`Ran::child_left`) and ended by `end_all`.
//!
//! A child that makes a session of its own (`setsid`, a daemon, job control inside the command) leaves the group: the deadline still
//! ends our wait, but no signal reaches it. It is reported as long as it holds the pipe.
//!
//! Limits: up to 64 KiB are read at a time into one buffer; nothing else grows. After KILL we wait 2 s and then leave a child that the kernel
//! cannot end (a dead network disk).
//!
//! Invariant: dropping a `Running` before `Ended` ends its group.
//! Invariant: a call of `next` ends by the deadline, plus the two seconds that TERM gives and the two that KILL may need.
//! Invariant: the command gets our environment and three descriptors, and nothing else of ours; std gives it an empty signal mask and
//! the default SIGPIPE.
//!
//! Read next: `groups.rs` (whom signals reach), `poll.rs`; `tools/run.rs`, which makes a result of this.

use super::Cancel;
use super::ffi::{self, PollFd};
pub use super::groups::end_all;
use super::groups::{self, Group};
use super::{poll, thread};
use std::ffi::OsString;
use std::fs::File;
use std::io::{self, Read};
use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::process::ExitStatusExt;
use std::path::Path;
use std::process::{Command, ExitStatus, Stdio};
use std::time::{Duration, Instant};

/// The first read takes up to this much: most commands say little, and a page that nothing touches costs nothing.
const FIRST_READ_BYTES: usize = 4 * 1024;
/// Read at a time once a read was full: the size of a Linux pipe.
const BUFFER_BYTES: usize = 64 * 1024;
/// How long the pipe may bring more once the program has ended. What it wrote itself is in the pipe already; this is for a
/// `tee` or a pager that is still writing its last lines. Paid only when somebody else holds the pipe.
const DRAIN: Duration = Duration::from_millis(100);
/// Between TERM and KILL: enough to remove a lock file, short enough to wait for.
const GRACE: Duration = Duration::from_secs(2);
/// After KILL: a process in an uninterruptible call of the kernel cannot be waited for.
const GIVE_UP: Duration = Duration::from_secs(2);

/// What to run.
#[derive(Debug)]
pub struct Spec<'a> {
    /// Program and arguments. A program without `/` is looked up in `PATH`.
    pub argv: &'a [OsString],
    /// Working folder.
    pub cwd: &'a Path,
    /// Variables set on top of ours; `None` removes one.
    pub env: &'a [(&'a str, Option<&'a str>)],
    /// When the whole group is ended.
    pub deadline: Option<Instant>,
}

/// How it ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum End {
    /// By itself, with this code (0 to 255).
    Exited(i32),
    /// By this signal, which was not ours.
    Signaled(i32),
    /// The deadline passed; the group was ended.
    TimedOut,
    /// The switch was turned; the group was ended.
    Cancelled,
}

/// What is known after the end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Ran {
    /// How it ended.
    pub end: End,
    /// From the start to the end of the program itself, or to the end of its group if we ended it.
    pub elapsed: Duration,
    /// A process that it started is still running: it lives in the group or holds the pipe.
    pub child_left: bool,
}

/// What `Running::next` reports.
#[derive(Debug, PartialEq, Eq)]
pub enum Next<'a> {
    /// Merged output, 1 byte to 64 KiB.
    Output(&'a [u8]),
    /// Nothing came until the moment the caller asked to be woken at.
    Quiet,
    /// The end. Nothing follows.
    Ended(Ran),
}

/// A command that was started.
#[derive(Debug)]
pub struct Running {
    group: Group,
    /// `None` once every holder of the write end has closed it.
    pipe: Option<File>,
    /// Readable, or at its end, as soon as the child has ended.
    ended: OwnedFd,
    buffer: Vec<u8>,
    started: Instant,
    deadline: Option<Instant>,
    phase: Phase,
}

/// Where a command stands.
#[derive(Clone, Copy, Debug)]
enum Phase {
    /// Neither ended nor to be ended.
    Working,
    /// TERM was sent; KILL follows at `kill_at` unless the group is gone.
    Ending { why: End, kill_at: Instant },
    /// KILL was sent; at `give_up` we leave what the kernel cannot end.
    Killed { why: End, give_up: Instant },
    /// The program has ended; the pipe may bring more until then.
    Draining {
        end: End,
        elapsed: Duration,
        until: Instant,
    },
    /// The end was reported.
    Over(Ran),
}

impl Running {
    /// Starts a command. Errors: an empty `argv`, a NUL byte in it, no such program or folder, no descriptors or processes left, the
    /// program is on its way out.
    pub fn start(spec: &Spec<'_>) -> io::Result<Running> {
        let Some((program, arguments)) = spec.argv.split_first() else {
            return Err(io::Error::new(
                io::ErrorKind::InvalidInput,
                "no program to run",
            ));
        };
        let (read_end, write_end) = ffi::new_pipe()?;
        let mut command = Command::new(program);
        command
            .args(arguments)
            .current_dir(spec.cwd)
            .stdin(Stdio::null())
            .stdout(write_end.try_clone()?)
            .stderr(write_end);
        for &(name, value) in spec.env {
            match value {
                Some(value) => command.env(name, value),
                None => command.env_remove(name),
            };
        }
        let started = Instant::now();
        let group = Group::start(&mut command)?;
        // `command` holds our copies of the write end: with them open the pipe would never end.
        drop(command);
        // An error drops the group, and that ends it.
        let ended = end_of_child(group.number())?;
        Ok(Running {
            group,
            pipe: Some(File::from(read_end)),
            ended,
            buffer: vec![0; FIRST_READ_BYTES],
            started,
            deadline: spec.deadline,
            phase: Phase::Working,
        })
    }

    /// Waits for the next thing to report; `Quiet` at `wake_at` if nothing came by then. After `Ended` it reports the same again.
    /// Errors: those of `poll`, `read` and `wait`; the group is ended when `self` is dropped.
    pub fn next(&mut self, cancel: &Cancel, wake_at: Option<Instant>) -> io::Result<Next<'_>> {
        loop {
            while self.advance(cancel) {}
            if let Phase::Over(ran) = self.phase {
                return Ok(Next::Ended(ran));
            }
            let pipe = self.pipe.as_ref();
            let mut fds = [
                pipe.map_or_else(PollFd::nothing, |pipe| PollFd::readable(pipe.as_fd())),
                PollFd::nothing(),
                PollFd::nothing(),
            ];
            if self.group.status().is_none() {
                fds[1] = PollFd::readable(self.ended.as_fd());
            }
            if let Phase::Working = self.phase {
                fds[2] = PollFd::readable(cancel.as_fd());
            }
            poll::until(&mut fds, earlier(self.look_at(), wake_at))?;
            if fds[1].is_ready() {
                self.group.wait_for_leader()?;
            }
            if fds[0].is_ready() {
                if let Some(len) = self.read()? {
                    return Ok(Next::Output(&self.buffer[..len]));
                }
            } else if wake_at.is_some_and(|at| Instant::now() >= at) {
                return Ok(Next::Quiet);
            }
        }
    }

    /// Moves to the next phase if it is time (true). An end by itself counts before a cancel or a deadline of the same moment.
    fn advance(&mut self, cancel: &Cancel) -> bool {
        let now = Instant::now();
        match self.phase {
            Phase::Working => {
                if let Some(status) = self.group.status() {
                    self.drain(end_of(status), now);
                } else if cancel.is_cancelled() {
                    self.terminate(End::Cancelled, now);
                } else if self.deadline.is_some_and(|deadline| now >= deadline) {
                    self.terminate(End::TimedOut, now);
                } else {
                    return false;
                }
            }
            Phase::Ending { why, kill_at } => {
                if self.group.is_gone() {
                    self.drain(why, now);
                } else if now >= kill_at {
                    self.group.signal(ffi::SIGKILL);
                    let give_up = now + GIVE_UP;
                    self.phase = Phase::Killed { why, give_up };
                } else {
                    return false;
                }
            }
            Phase::Killed { why, give_up } => {
                if self.group.is_gone() {
                    self.drain(why, now);
                } else if now >= give_up {
                    self.finish(why, self.started.elapsed());
                } else {
                    return false;
                }
            }
            Phase::Draining {
                end,
                elapsed,
                until,
            } => {
                // A process is still there for a moment after its end of the pipe was closed: so the group is looked at until then, too.
                if (self.pipe.is_none() && self.group.is_gone()) || now >= until {
                    self.finish(end, elapsed);
                } else {
                    return false;
                }
            }
            Phase::Over(_) => return false,
        }
        true
    }

    fn terminate(&mut self, why: End, now: Instant) {
        self.group.signal(ffi::SIGTERM);
        let kill_at = now + GRACE;
        self.phase = Phase::Ending { why, kill_at };
    }

    fn drain(&mut self, end: End, now: Instant) {
        self.phase = Phase::Draining {
            end,
            elapsed: self.started.elapsed(),
            until: now + DRAIN,
        };
    }

    fn finish(&mut self, end: End, elapsed: Duration) {
        let child_left = self.pipe.is_some() || !self.group.is_gone();
        self.phase = Phase::Over(Ran {
            end,
            elapsed,
            child_left,
        });
    }

    /// When `advance` has to be asked again although no descriptor is ready.
    fn look_at(&self) -> Option<Instant> {
        let limit = match self.phase {
            Phase::Working => self.deadline,
            Phase::Ending { kill_at, .. } => Some(kill_at),
            Phase::Killed { give_up, .. } => Some(give_up),
            Phase::Draining { until, .. } => Some(until),
            Phase::Over(_) => None,
        };
        let look_at_group = self
            .group
            .status()
            .is_some()
            .then(|| Instant::now() + groups::LOOK);
        earlier(limit, look_at_group)
    }

    /// One read of a ready pipe into the buffer; `None` when there was nothing after all, or it is at its end.
    fn read(&mut self) -> io::Result<Option<usize>> {
        let Some(pipe) = &mut self.pipe else {
            return Ok(None);
        };
        match pipe.read(&mut self.buffer) {
            Ok(0) => {
                self.pipe = None;
                Ok(None)
            }
            Ok(len) => {
                if len == self.buffer.len() {
                    self.buffer.resize(BUFFER_BYTES, 0);
                }
                Ok(Some(len))
            }
            Err(error) if error.kind() == io::ErrorKind::Interrupted => Ok(None),
            Err(error) => Err(error),
        }
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        if let Phase::Over(_) = self.phase {
            return;
        }
        self.group.signal(ffi::SIGKILL);
        if self.group.status().is_none() {
            let mut fds = [PollFd::readable(self.ended.as_fd())];
            // Whatever the answer: the group itself waits for its leader if that has ended.
            let _ = poll::until(&mut fds, Some(Instant::now() + GIVE_UP));
        }
    }
}

fn end_of(status: ExitStatus) -> End {
    match (status.code(), status.signal()) {
        (Some(code), _) => End::Exited(code),
        (None, Some(signal)) => End::Signaled(signal),
        // `wait` reports no other ends.
        (None, None) => End::Exited(0),
    }
}

fn earlier(one: Option<Instant>, other: Option<Instant>) -> Option<Instant> {
    match (one, other) {
        (Some(one), Some(other)) => Some(one.min(other)),
        (one, None) => one,
        (None, other) => other,
    }
}

/// A descriptor that is ready as soon as the child `pid` has ended. Where the kernel has none to offer, a thread waits and closes a pipe.
fn end_of_child(pid: i32) -> io::Result<OwnedFd> {
    ffi::pidfd_open(pid).or_else(|_| end_of_child_by_thread(pid))
}

fn end_of_child_by_thread(pid: i32) -> io::Result<OwnedFd> {
    let (read_end, write_end) = ffi::new_pipe()?;
    let wait = move || {
        // Fails only if the child was waited for already: it has ended then, too.
        let _ = ffi::wait_until_ended(pid);
        drop(write_end);
    };
    thread::start("child", Box::new(wait))?;
    Ok(read_end)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_thread_reports_an_end_and_leaves_the_child_to_be_waited_for() {
        let mut child = Command::new("cat")
            .stdin(Stdio::piped())
            .spawn()
            .expect("cat");
        let ended = end_of_child_by_thread(child.id() as i32).expect("thread");
        let mut fds = [PollFd::readable(ended.as_fd())];
        assert!(!poll::until(&mut fds, Some(Instant::now())).expect("poll"));
        // The end of its input is the end of `cat`.
        drop(child.stdin.take());
        let give_up = Instant::now() + Duration::from_secs(20);
        assert!(poll::until(&mut fds, Some(give_up)).expect("poll"));
        assert!(
            child
                .try_wait()
                .expect("wait")
                .expect("it has ended")
                .success()
        );
    }
}
