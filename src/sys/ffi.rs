//! The system calls that std does not offer, declared by hand, each behind a safe function. Callers are the other files of `sys`;
//! nothing outside this folder sees a raw descriptor number, a C structure or a signal number.
//!
//! ```text
//! poll(2)        struct pollfd { int fd; short events; short revents; }          8 bytes
//! localtime_r(3) struct tm { int sec, min, hour, mday, mon, year, ...; }         56 bytes
//! ioctl(2)       struct winsize { unsigned short row, col, xpixel, ypixel; }     8 bytes
//! getdents64(2)  { u64 ino; i64 off; u16 length; u8 kind; char name[]; }         one after the other
//! sigaction(2)   Linux { handler; mask[128]; int flags; restorer; }              152 bytes
//!                macOS { handler; unsigned mask; int flags; }                    16 bytes
//! ```
//!
//! Limits: x86-64 and aarch64, Linux (glibc and musl) and macOS; the build stops elsewhere. x86-64 Linux with glibc is tested, and the
//! tests have passed with musl. The layouts for aarch64 and macOS come from their headers, their sizes are checked while compiling, and
//! nobody has run them yet.
//!
//! Invariant: every `unsafe` block of the program is here or in `simd.rs` and `simd/x86.rs`, with the fact that makes it sound beside it.
//! Invariant: every descriptor made here is close-on-exec, so no child inherits one it was not given.
//! Invariant: a function with variable arguments is declared with `...`: on Apple's arm64 such arguments travel on the stack.
//!
//! Read next: `poll.rs` (waiting), `process.rs` (children).

use std::ffi::{CStr, CString, OsStr, c_char, c_int, c_long, c_short, c_uint, c_ulong, c_void};
use std::io;
use std::mem::MaybeUninit;
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, FromRawFd, OwnedFd};
use std::os::unix::ffi::OsStrExt;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::atomic::{AtomicI32, Ordering};
use std::time::Duration;

#[cfg(not(all(
    any(target_os = "linux", target_os = "macos"),
    any(target_arch = "x86_64", target_arch = "aarch64"),
    target_pointer_width = "64"
)))]
compile_error!(
    "zcoder runs on Linux and macOS, x86-64 and aarch64; on Windows build it inside WSL (the Windows Subsystem for Linux)"
);

#[cfg(target_os = "linux")]
mod target {
    //! Values of the Linux kernel; glibc and musl agree on all of them.
    use std::ffi::c_int;
    pub(super) const O_NONBLOCK: c_int = 0x800;
    pub(super) const O_CLOEXEC: c_int = 0x80000;
    pub(super) const O_NOCTTY: c_int = 0x100;
    // The only values of this file that differ between the two architectures.
    #[cfg(target_arch = "x86_64")]
    pub(super) const O_NOFOLLOW: c_int = 0x20000;
    #[cfg(target_arch = "aarch64")]
    pub(super) const O_NOFOLLOW: c_int = 0x8000;
    #[cfg(target_arch = "x86_64")]
    pub(super) const O_DIRECTORY: c_int = 0x10000;
    #[cfg(target_arch = "aarch64")]
    pub(super) const O_DIRECTORY: c_int = 0x4000;
    pub(super) const TIOCGWINSZ: u64 = 0x5413;
    pub(super) const TIOCSWINSZ: u64 = 0x5414;
    pub(super) const TIOCSCTTY: u64 = 0x540E;
    pub(super) const OPENPT_FLAGS: c_int = 2 | O_NOCTTY | O_CLOEXEC;
    pub(super) const TCIFLUSH: c_int = 0;
    pub(super) const SA_RESTART: c_int = 0x1000_0000;
    pub(super) const WNOWAIT: c_int = 0x0100_0000;
    pub(super) const SOL_SOCKET: c_int = 1;
    pub(super) const SO_LINGER: c_int = 13;
    pub(super) const ELOOP: i32 = 40;
}
#[cfg(target_os = "macos")]
mod target {
    //! Values of the Darwin kernel. Untested.
    use std::ffi::c_int;
    pub(super) const O_NONBLOCK: c_int = 0x4;
    pub(super) const O_NOCTTY: c_int = 0x20000;
    pub(super) const O_NOFOLLOW: c_int = 0x100;
    pub(super) const O_DIRECTORY: c_int = 0x10_0000;
    pub(super) const O_CLOEXEC: c_int = 0x100_0000;
    pub(super) const TIOCGWINSZ: u64 = 0x4008_7468;
    pub(super) const TIOCSWINSZ: u64 = 0x8008_7467;
    pub(super) const TIOCSCTTY: u64 = 0x2000_7461;
    pub(super) const OPENPT_FLAGS: c_int = 2 | O_NOCTTY;
    pub(super) const TCIFLUSH: c_int = 1;
    pub(super) const SA_RESTART: c_int = 2;
    pub(super) const WNOWAIT: c_int = 0x20;
    pub(super) const SOL_SOCKET: c_int = 0xffff;
    pub(super) const SO_LINGER: c_int = 0x80;
    pub(super) const ELOOP: i32 = 62;
}

/// `ioctl`'s second argument: musl declares an `int`, glibc and macOS an `unsigned long`.
#[cfg(target_env = "musl")]
type Request = c_int;
#[cfg(not(target_env = "musl"))]
type Request = c_ulong;

/// `nfds_t`.
#[cfg(target_os = "linux")]
type Count = c_ulong;
#[cfg(target_os = "macos")]
type Count = c_uint;

/// `struct pollfd`.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub(super) struct PollFd {
    fd: c_int,
    events: c_short,
    revents: c_short,
}
const _: () = assert!(size_of::<PollFd>() == 8);

/// `struct timespec` on 64-bit targets.
#[repr(C)]
struct TimeSpec {
    seconds: i64,
    nanoseconds: c_long,
}
const _: () = assert!(size_of::<TimeSpec>() == 16);

/// `struct tm`; glibc, musl and macOS agree, the two fields after the standard ones included.
#[repr(C)]
struct Tm {
    sec: c_int,
    min: c_int,
    hour: c_int,
    mday: c_int,
    mon: c_int,
    year: c_int,
    wday: c_int,
    yday: c_int,
    isdst: c_int,
    gmtoff: c_long,
    zone: *const c_char,
}
const _: () = assert!(size_of::<Tm>() == 56);

/// `struct winsize`.
#[repr(C)]
#[derive(Default)]
struct WinSize {
    rows: u16,
    columns: u16,
    x_pixels: u16,
    y_pixels: u16,
}
const _: () = assert!(size_of::<WinSize>() == 8);

/// `struct sigaction` as the C library declares it (the kernel's own differs, the library translates).
#[cfg(target_os = "linux")]
#[repr(C)]
struct SigAction {
    handler: usize,
    mask: [u64; 16],
    flags: c_int,
    restorer: usize,
}
#[cfg(target_os = "linux")]
const _: () = assert!(size_of::<SigAction>() == 152);
#[cfg(target_os = "macos")]
#[repr(C)]
struct SigAction {
    handler: usize,
    mask: u32,
    flags: c_int,
}
#[cfg(target_os = "macos")]
const _: () = assert!(size_of::<SigAction>() == 16);

/// `struct dirent` with 64-bit inode numbers.
#[cfg(target_os = "macos")]
#[repr(C)]
struct DirEntry {
    inode: u64,
    seek_offset: u64,
    record_length: u16,
    name_length: u16,
    kind: u8,
    name: [u8; 1024],
}
#[cfg(target_os = "macos")]
const _: () = assert!(size_of::<DirEntry>() == 1048);

/// `struct linger`.
#[repr(C)]
struct Linger {
    on: c_int,
    seconds: c_int,
}
const _: () = assert!(size_of::<Linger>() == 8);

/// `siginfo_t`: only its size matters, `waitid` fills it and nobody reads it (Linux 128 bytes, macOS 104).
#[repr(C, align(8))]
struct SigInfo([u8; 128]);
const _: () = assert!(size_of::<SigInfo>() == 128);

// The unwinder of a panic, out of gcc's archive and into the program: to find, map and relocate `libgcc_s.so` for it is a sixth of what it
// takes to start a program that does nothing.
#[cfg(all(target_os = "linux", target_env = "gnu"))]
#[link(name = "gcc_eh")]
unsafe extern "C" {}

unsafe extern "C" {
    #[cfg(target_os = "linux")]
    fn pipe2(fds: *mut c_int, flags: c_int) -> c_int;
    #[cfg(target_os = "linux")]
    fn ppoll(
        fds: *mut PollFd,
        count: Count,
        timeout: *const TimeSpec,
        mask: *const c_void,
    ) -> c_int;
    #[cfg(target_os = "linux")]
    fn syscall(number: c_long, ...) -> c_long;
    #[cfg(target_os = "linux")]
    fn __errno_location() -> *mut c_int;
    #[cfg(all(target_os = "linux", target_env = "gnu"))]
    fn mallopt(parameter: c_int, value: c_int) -> c_int;
    #[cfg(target_os = "macos")]
    fn pipe(fds: *mut c_int) -> c_int;
    #[cfg(target_os = "macos")]
    fn poll(fds: *mut PollFd, count: Count, milliseconds: c_int) -> c_int;
    #[cfg(target_os = "macos")]
    fn __error() -> *mut c_int;
    #[cfg(target_os = "macos")]
    fn fdopendir(fd: c_int) -> *mut c_void;
    #[cfg(target_os = "macos")]
    #[cfg_attr(target_arch = "x86_64", link_name = "readdir$INODE64")]
    fn readdir(stream: *mut c_void) -> *mut DirEntry;
    #[cfg(target_os = "macos")]
    fn closedir(stream: *mut c_void) -> c_int;
    fn fcntl(fd: c_int, command: c_int, ...) -> c_int;
    fn ioctl(fd: c_int, request: Request, ...) -> c_int;
    fn kill(pid: c_int, signal: c_int) -> c_int;
    fn setsid() -> c_int;
    fn getpgrp() -> c_int;
    fn tcgetpgrp(fd: c_int) -> c_int;
    fn tcflush(fd: c_int, queue: c_int) -> c_int;
    fn access(path: *const c_char, mode: c_int) -> c_int;
    fn geteuid() -> u32;
    fn flock(fd: c_int, operation: c_int) -> c_int;
    fn openat(folder: c_int, name: *const c_char, flags: c_int, ...) -> c_int;
    fn localtime_r(time: *const i64, out: *mut Tm) -> *mut Tm;
    fn waitid(id_type: c_uint, id: c_uint, info: *mut SigInfo, options: c_int) -> c_int;
    fn sigaction(signal: c_int, new: *const SigAction, old: *mut SigAction) -> c_int;
    fn setsockopt(fd: c_int, level: c_int, name: c_int, value: *const c_void, len: c_uint)
    -> c_int;
    fn write(fd: c_int, bytes: *const c_void, len: usize) -> isize;
    fn posix_openpt(flags: c_int) -> c_int;
    fn grantpt(fd: c_int) -> c_int;
    fn unlockpt(fd: c_int) -> c_int;
    fn ptsname_r(fd: c_int, name: *mut c_char, len: usize) -> c_int;
    fn ttyname_r(fd: c_int, name: *mut c_char, len: usize) -> c_int;
}

const F_GETFL: c_int = 3;
const F_SETFL: c_int = 4;
const W_OK: c_int = 2;
const P_PID: c_uint = 1;
const WEXITED: c_int = 4;
const SIG_IGN: usize = 1;
const POLLIN: c_short = 1;
const POLLOUT: c_short = 4;
const POLLNVAL: c_short = 0x20;
const EBADF: i32 = 9;
const EPERM: i32 = 1;

/// Flags for `OpenOptionsExt::custom_flags`: the last component is not followed, and a FIFO, a lease or a terminal does not hold us.
pub(super) const OPEN_CAREFULLY: i32 = target::O_NOFOLLOW | target::O_NONBLOCK | target::O_NOCTTY;

/// Flags for a folder: nothing else, and not by a link in the last component.
pub(super) const OPEN_FOLDER: i32 = target::O_DIRECTORY | target::O_NOFOLLOW | target::O_NONBLOCK;

/// Flags for a terminal device of which we want an open file description of our own.
pub(super) const OPEN_TERMINAL: i32 = target::O_NONBLOCK | target::O_NOCTTY;

/// Flags for the far side of a pseudo-terminal: it becomes the child's controlling terminal, not ours.
pub(super) const OPEN_FAR_SIDE: i32 = target::O_NOCTTY;

/// What a read of the near side of a pseudo-terminal returns on Linux once the far side is closed.
pub(super) const EIO: i32 = 5;

pub(super) const SIGHUP: c_int = 1;
pub(super) const SIGINT: c_int = 2;
pub(super) const SIGQUIT: c_int = 3;
pub(super) const SIGKILL: c_int = 9;
pub(super) const SIGTERM: c_int = 15;

/// The usual C convention: -1 means "look at errno".
fn check(result: c_int) -> io::Result<c_int> {
    if result == -1 {
        return Err(io::Error::last_os_error());
    }
    Ok(result)
}

// ---- pipes and waiting

/// A pipe: read end, write end, both close-on-exec.
#[cfg(target_os = "linux")]
pub(super) fn new_pipe() -> io::Result<(OwnedFd, OwnedFd)> {
    let mut fds = [-1; 2];
    // SAFETY: `fds` has room for the two numbers that the call writes.
    check(unsafe { pipe2(fds.as_mut_ptr(), target::O_CLOEXEC) })?;
    // SAFETY: the call succeeded, so both are open and nobody else owns them.
    Ok(unsafe { (OwnedFd::from_raw_fd(fds[0]), OwnedFd::from_raw_fd(fds[1])) })
}
/// A pipe: read end, write end, both close-on-exec. macOS has no `pipe2`: a child started by another thread between the calls
/// would inherit both ends.
#[cfg(target_os = "macos")]
pub(super) fn new_pipe() -> io::Result<(OwnedFd, OwnedFd)> {
    let mut fds = [-1; 2];
    // SAFETY: `fds` has room for the two numbers that the call writes.
    check(unsafe { pipe(fds.as_mut_ptr()) })?;
    // SAFETY: the call succeeded, so both are open and nobody else owns them.
    let ends = unsafe { (OwnedFd::from_raw_fd(fds[0]), OwnedFd::from_raw_fd(fds[1])) };
    set_close_on_exec(ends.0.as_fd())?;
    set_close_on_exec(ends.1.as_fd())?;
    Ok(ends)
}

/// Reads and writes on this open file description return `WouldBlock` from now on.
pub(super) fn set_nonblocking(fd: BorrowedFd<'_>) -> io::Result<()> {
    // SAFETY: F_GETFL takes no further argument and touches no memory of ours.
    let flags = check(unsafe { fcntl(fd.as_raw_fd(), F_GETFL) })?;
    // SAFETY: F_SETFL takes one int and touches no memory of ours.
    check(unsafe { fcntl(fd.as_raw_fd(), F_SETFL, flags | target::O_NONBLOCK) })?;
    Ok(())
}

impl PollFd {
    /// Waits for bytes, an end or an error to read.
    pub(super) fn readable(fd: BorrowedFd<'_>) -> PollFd {
        PollFd {
            fd: fd.as_raw_fd(),
            events: POLLIN,
            revents: 0,
        }
    }
    /// Waits for room to write, or an error.
    pub(super) fn writable(fd: BorrowedFd<'_>) -> PollFd {
        PollFd {
            fd: fd.as_raw_fd(),
            events: POLLOUT,
            revents: 0,
        }
    }
    /// Waits for either, or an error.
    pub(super) fn readable_or_writable(fd: BorrowedFd<'_>) -> PollFd {
        PollFd {
            fd: fd.as_raw_fd(),
            events: POLLIN | POLLOUT,
            revents: 0,
        }
    }
    /// A place in the list that never becomes ready.
    pub(super) fn nothing() -> PollFd {
        PollFd {
            fd: -1,
            events: 0,
            revents: 0,
        }
    }
    /// Whether the last `wait` found anything: what was asked for, a hang-up or an error.
    pub(super) fn is_ready(&self) -> bool {
        self.revents != 0
    }
}

/// One `poll`, as long as `timeout` says (`None`: until something happens). The number of ready entries; 0 after the time.
/// `Interrupted` comes through: the caller knows how much of the time is left.
pub(super) fn wait(fds: &mut [PollFd], timeout: Option<Duration>) -> io::Result<usize> {
    let ready = check(poll_once(fds, timeout))?;
    if fds.iter().any(|fd| fd.revents & POLLNVAL != 0) {
        return Err(io::Error::from_raw_os_error(EBADF));
    }
    Ok(usize::try_from(ready).unwrap_or(0))
}
#[cfg(target_os = "linux")]
fn poll_once(fds: &mut [PollFd], timeout: Option<Duration>) -> c_int {
    let time = timeout.map(|timeout| TimeSpec {
        seconds: i64::try_from(timeout.as_secs()).unwrap_or(i64::MAX),
        nanoseconds: c_long::from(timeout.subsec_nanos()),
    });
    let time = time.as_ref().map_or(std::ptr::null(), std::ptr::from_ref);
    // SAFETY: pointer and count describe one live slice; `time` is null or points to a live value; a null mask changes no signals.
    unsafe { ppoll(fds.as_mut_ptr(), fds.len() as Count, time, std::ptr::null()) }
}
#[cfg(target_os = "macos")]
fn poll_once(fds: &mut [PollFd], timeout: Option<Duration>) -> c_int {
    // Rounded up: waking before the deadline would make the caller spin.
    let time = timeout.map_or(-1, |timeout| {
        c_int::try_from(timeout.as_micros().div_ceil(1000)).unwrap_or(c_int::MAX)
    });
    // SAFETY: pointer and count describe one live slice.
    unsafe { poll(fds.as_mut_ptr(), fds.len() as Count, time) }
}

// ---- time

/// A point in local time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Local {
    pub(super) year: i64,
    pub(super) month: u32,
    pub(super) day: u32,
    pub(super) hour: u32,
    pub(super) minute: u32,
}

/// Seconds since 1970 in the zone of `TZ` or `/etc/localtime`; `None` when the year does not fit.
pub(super) fn local_time(seconds: i64) -> Option<Local> {
    let mut tm = MaybeUninit::<Tm>::uninit();
    // SAFETY: both pointers are to live values of the declared layouts.
    let filled = unsafe { localtime_r(&seconds, tm.as_mut_ptr()) };
    if filled.is_null() {
        return None;
    }
    // SAFETY: a non-null result means that the structure was filled; every bit pattern of its fields is valid.
    let tm = unsafe { tm.assume_init() };
    Some(Local {
        year: i64::from(tm.year) + 1900,
        month: u32::try_from(tm.mon).ok()? + 1,
        day: u32::try_from(tm.mday).ok()?,
        hour: u32::try_from(tm.hour).ok()?,
        minute: u32::try_from(tm.min).ok()?,
    })
}

// ---- children

/// The child will lead a session of its own, without a controlling terminal, and a process group that carries its process id.
pub(super) fn lead_new_session(command: &mut Command) {
    // SAFETY: the closure runs in the forked child, where only async-signal-safe functions are allowed; `setsid` is one, and the
    // error is made of a number, without allocating.
    unsafe {
        command.pre_exec(|| check(setsid()).map(drop));
    }
}

/// The child will lead a session of its own whose controlling terminal is its standard input.
pub(super) fn lead_new_session_on_stdin(command: &mut Command) {
    // SAFETY: as above; `ioctl` is one system call here, and TIOCSCTTY takes an int and touches no memory of ours.
    unsafe {
        command.pre_exec(|| {
            check(setsid())?;
            check(ioctl(0, target::TIOCSCTTY as Request, 0)).map(drop)
        });
    }
}

/// A descriptor that becomes readable when the child `pid` has ended, also before anyone waited for it. Errors: `Unsupported`, or
/// what an old kernel (before 5.3) or a sandbox answers.
#[cfg(target_os = "linux")]
pub(super) fn pidfd_open(pid: i32) -> io::Result<OwnedFd> {
    const SYS_PIDFD_OPEN: c_long = 434;
    // SAFETY: two integers, no memory of ours; the kernel sets close-on-exec.
    let fd = unsafe { syscall(SYS_PIDFD_OPEN, c_long::from(pid), 0 as c_long) };
    let fd = check(c_int::try_from(fd).unwrap_or(-1))?;
    // SAFETY: the call succeeded, so the descriptor is open and nobody else owns it.
    Ok(unsafe { OwnedFd::from_raw_fd(fd) })
}
/// macOS has no such descriptor.
#[cfg(target_os = "macos")]
pub(super) fn pidfd_open(_pid: i32) -> io::Result<OwnedFd> {
    Err(io::ErrorKind::Unsupported.into())
}

/// Blocks until the child `pid` has ended, and leaves it to be waited for: its number cannot be given to another process yet.
pub(super) fn wait_until_ended(pid: i32) -> io::Result<()> {
    let id = c_uint::try_from(pid).map_err(|_| io::ErrorKind::InvalidInput)?;
    let mut info = MaybeUninit::<SigInfo>::uninit();
    loop {
        // SAFETY: `info` has room for the structure that the call writes; nobody reads it.
        let result = unsafe { waitid(P_PID, id, info.as_mut_ptr(), WEXITED | target::WNOWAIT) };
        match check(result) {
            Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
            result => return result.map(drop),
        }
    }
}

/// Sends `signal` to every member of the process group. Errors: nobody left (ESRCH), nobody that we may signal (EPERM).
pub(super) fn signal_group(group: i32, signal: c_int) -> io::Result<()> {
    // 0 and -1 would reach our own group and everybody: no group that we started has such a number.
    if group <= 1 {
        return Err(io::ErrorKind::InvalidInput.into());
    }
    // SAFETY: two integers, no memory of ours.
    check(unsafe { kill(-group, signal) }).map(drop)
}

/// Whether the group has a member (a dead one that nobody waited for counts).
pub(super) fn group_exists(group: i32) -> bool {
    exists(signal_group(group, 0))
}

/// Whether there is a process of this number (a dead one that nobody waited for counts).
pub(super) fn process_exists(pid: i32) -> bool {
    // SAFETY: two integers, no memory of ours; signal 0 is never delivered.
    pid > 0 && exists(check(unsafe { kill(pid, 0) }).map(drop))
}

/// `kill`'s answer read as a question: "not permitted" means that somebody is there.
fn exists(answer: io::Result<()>) -> bool {
    match answer {
        Ok(()) => true,
        Err(error) => error.raw_os_error() == Some(EPERM),
    }
}

// ---- sockets

/// SO_LINGER on with 0 seconds: closing the socket sends a reset and drops what is unsent.
pub(super) fn linger_zero(fd: BorrowedFd<'_>) -> io::Result<()> {
    let linger = Linger { on: 1, seconds: 0 };
    // SAFETY: pointer and length describe one live value of the layout that this option takes.
    let result = unsafe {
        setsockopt(
            fd.as_raw_fd(),
            target::SOL_SOCKET,
            target::SO_LINGER,
            (&raw const linger).cast(),
            size_of::<Linger>() as c_uint,
        )
    };
    check(result).map(drop)
}

// ---- files

/// The effective user id.
pub(super) fn effective_user() -> u32 {
    // SAFETY: takes nothing and cannot fail.
    unsafe { geteuid() }
}

/// Whether `access(2)` finds us allowed to write what is at `path` (the file system included: not mounted read-only). Errors: there is
/// nothing at `path`, or the path has a NUL byte.
pub(super) fn may_write(path: &Path) -> io::Result<bool> {
    let path = CString::new(path.as_os_str().as_bytes())?;
    // SAFETY: `path` is a live string that ends in NUL.
    match check(unsafe { access(path.as_ptr(), W_OK) }) {
        Ok(_) => Ok(true),
        Err(error) => match error.kind() {
            io::ErrorKind::PermissionDenied | io::ErrorKind::ReadOnlyFilesystem => Ok(false),
            // A program that is running can be replaced, only not written into.
            io::ErrorKind::ExecutableFileBusy => Ok(true),
            _ => Err(error),
        },
    }
}

/// Takes the advisory lock of an open file without waiting (`flock(2)`); false: another open file of it has the lock. It goes with the
/// last copy of the descriptor, however the process ends. Errors: the file system knows no locks (ENOLCK, ENOTSUP).
pub(super) fn try_lock(file: BorrowedFd<'_>) -> io::Result<bool> {
    lock_now(file, 2)
}

/// As [`try_lock`], for a lock that several may have at once, and nobody beside the exclusive one.
pub(super) fn try_lock_shared(file: BorrowedFd<'_>) -> io::Result<bool> {
    lock_now(file, 1)
}

/// All threads allocate from one heap. To be called before there are any.
pub(super) fn share_heap() {
    #[cfg(all(target_os = "linux", target_env = "gnu"))]
    {
        const M_ARENA_MAX: c_int = -8;
        // SAFETY: two integers; glibc takes its own lock. It can only refuse, and then heaps stay as they are.
        unsafe { mallopt(M_ARENA_MAX, 1) };
    }
}

/// `how`: LOCK_SH or LOCK_EX, which have the same numbers on Linux and macOS.
fn lock_now(file: BorrowedFd<'_>, how: c_int) -> io::Result<bool> {
    const LOCK_NB: c_int = 4;
    // SAFETY: an open descriptor and an integer, no memory of ours.
    match check(unsafe { flock(file.as_raw_fd(), how | LOCK_NB) }) {
        Ok(_) => Ok(true),
        Err(error) if error.kind() == io::ErrorKind::WouldBlock => Ok(false),
        Err(error) => Err(error),
    }
}

/// Opens `name` in `folder` for reading, close-on-exec, with more `flags`. A name with NUL bytes is an error.
pub(super) fn open_at(folder: BorrowedFd<'_>, name: &[u8], flags: i32) -> io::Result<OwnedFd> {
    // Names are short, and there are many of them: no allocation for the NUL at their end.
    let mut short = [0_u8; 512];
    let long;
    let name = match short.get_mut(..name.len() + 1) {
        Some(room) => {
            room[..name.len()].copy_from_slice(name);
            CStr::from_bytes_with_nul(room).map_err(|_| io::ErrorKind::InvalidInput)?
        }
        None => {
            long = CString::new(name)?;
            &long
        }
    };
    loop {
        // SAFETY: `name` is a live string that ends in NUL; without O_CREAT no further argument is read.
        let fd = unsafe { openat(folder.as_raw_fd(), name.as_ptr(), flags | target::O_CLOEXEC) };
        match check(fd) {
            // SAFETY: the call succeeded, so the descriptor is open and nobody else owns it.
            Ok(fd) => return Ok(unsafe { OwnedFd::from_raw_fd(fd) }),
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
}

/// Whether an open with O_NOFOLLOW failed because of a link.
pub(super) fn is_link_error(error: &io::Error) -> bool {
    error.raw_os_error() == Some(target::ELOOP)
}

/// Calls `each` with the name and the kind (`DT_…`) of everything in an open folder, `.` and `..` included, in the order of the disk.
/// `buffer` is where the system puts them: 32 KiB hold some hundred at once.
#[cfg(target_os = "linux")]
pub(super) fn read_folder(
    folder: BorrowedFd<'_>,
    buffer: &mut [u8],
    each: &mut dyn FnMut(&[u8], u8),
) -> io::Result<()> {
    #[cfg(target_arch = "x86_64")]
    const SYS_GETDENTS64: c_long = 217;
    #[cfg(target_arch = "aarch64")]
    const SYS_GETDENTS64: c_long = 61;
    /// Where the name begins: behind inode, offset, record length and kind.
    const NAME: usize = 8 + 8 + 2 + 1;
    loop {
        // SAFETY: pointer and length describe one live buffer, and the call writes no more than that.
        let filled = unsafe {
            syscall(
                SYS_GETDENTS64,
                c_long::from(folder.as_raw_fd()),
                buffer.as_mut_ptr(),
                buffer.len(),
            )
        };
        let mut rest = match usize::try_from(filled) {
            Ok(0) => return Ok(()),
            Ok(filled) => &buffer[..filled.min(buffer.len())],
            Err(_) => return Err(io::Error::last_os_error()),
        };
        while let Some(head) = rest.first_chunk::<NAME>() {
            let length = usize::from(u16::from_ne_bytes([head[16], head[17]]));
            let Some(record) = rest.get(..length).filter(|record| record.len() > NAME) else {
                // A kernel that writes such records is none that we know.
                return Err(io::ErrorKind::InvalidData.into());
            };
            let name = &record[NAME..];
            let end = name.iter().position(|b| *b == 0).unwrap_or(name.len());
            each(&name[..end], head[18]);
            rest = &rest[length..];
        }
    }
}
/// Calls `each` with the name and the kind (`DT_…`) of everything in an open folder, `.` and `..` included, in the order of the disk.
/// The C library has a buffer of its own.
#[cfg(target_os = "macos")]
pub(super) fn read_folder(
    folder: BorrowedFd<'_>,
    _buffer: &mut [u8],
    each: &mut dyn FnMut(&[u8], u8),
) -> io::Result<()> {
    use std::os::fd::IntoRawFd;
    let copy = folder.try_clone_to_owned()?;
    // SAFETY: the descriptor is open; on success the stream owns it.
    let stream = unsafe { fdopendir(copy.as_raw_fd()) };
    if stream.is_null() {
        return Err(io::Error::last_os_error());
    }
    let _ = copy.into_raw_fd();
    let result = loop {
        // SAFETY: the location of errno is valid in every thread. The call tells an error from the end by errno alone.
        unsafe { *errno_location() = 0 };
        // SAFETY: the stream is open and ours alone.
        let entry = unsafe { readdir(stream) };
        if entry.is_null() {
            let error = io::Error::last_os_error();
            break match error.raw_os_error() {
                Some(0) | None => Ok(()),
                Some(_) => Err(error),
            };
        }
        // SAFETY: not null, so it points to a record that stays until the next call; a record may be shorter than the structure, so
        // only its fields and the bytes of the name are looked at.
        let (name, kind) = unsafe {
            let name = (&raw const (*entry).name).cast::<u8>();
            let length = usize::from((*entry).name_length);
            (std::slice::from_raw_parts(name, length), (*entry).kind)
        };
        each(name, kind);
    };
    // SAFETY: opened above and used no more.
    unsafe { closedir(stream) };
    result
}

/// Gives a lock back at once. Closing is not enough while another thread starts a process: the child has a copy until its `exec`.
pub(super) fn unlock(file: BorrowedFd<'_>) -> io::Result<()> {
    // LOCK_UN, everywhere.
    const UNLOCK: c_int = 8;
    // SAFETY: an open descriptor and an integer, no memory of ours.
    check(unsafe { flock(file.as_raw_fd(), UNLOCK) }).map(drop)
}

// ---- signals

/// Where the handler writes; -1 before `catch_signals`.
///
/// A static because a handler gets nothing but the signal's number. Written once, by `catch_signals`; read by the handler.
static SIGNAL_PIPE: AtomicI32 = AtomicI32::new(-1);

/// From now on each of `signals` writes its number as one byte into `pipe` (made non-blocking here, kept open for ever). A signal that
/// is ignored when we start stays ignored: `nohup` and shells that start us in the background mean it. Errors: called before.
pub(super) fn catch_signals(signals: &[c_int], pipe: OwnedFd) -> io::Result<()> {
    set_nonblocking(pipe.as_fd())?;
    let number = pipe.as_raw_fd();
    let first = SIGNAL_PIPE.compare_exchange(-1, number, Ordering::SeqCst, Ordering::SeqCst);
    if first.is_err() {
        return Err(io::ErrorKind::AlreadyExists.into());
    }
    // The handler uses the number from here on: it must never be closed.
    std::mem::forget(pipe);
    for &signal in signals {
        let mut old = MaybeUninit::<SigAction>::zeroed();
        // SAFETY: a null pointer for the new action only asks; `old` has room for the answer.
        check(unsafe { sigaction(signal, std::ptr::null(), old.as_mut_ptr()) })?;
        // SAFETY: the call succeeded and filled it; every bit pattern of its fields is valid.
        if unsafe { old.assume_init() }.handler == SIG_IGN {
            continue;
        }
        // SAFETY: all fields are integers, for which zero is valid: an empty mask, no restorer.
        let mut new = unsafe { MaybeUninit::<SigAction>::zeroed().assume_init() };
        new.handler = on_signal as extern "C" fn(c_int) as usize;
        // Calls that can go on do; `poll` never does, and `poll.rs` looks after that.
        new.flags = target::SA_RESTART;
        // SAFETY: `new` is a live value of the declared layout; its handler does async-signal-safe things only.
        check(unsafe { sigaction(signal, &new, std::ptr::null_mut()) })?;
    }
    Ok(())
}

/// Runs in whatever the signal interrupted: one `write`, with errno as it was.
extern "C" fn on_signal(signal: c_int) {
    let byte = signal as u8;
    // SAFETY: the location of errno is valid in every thread; `write` reads one live byte; both are async-signal-safe. A full pipe loses
    // the byte: 64 KiB of signals nobody has read yet say enough.
    unsafe {
        let errno = errno_location();
        let saved = *errno;
        write(
            SIGNAL_PIPE.load(Ordering::SeqCst),
            (&raw const byte).cast(),
            1,
        );
        *errno = saved;
    }
}

/// Sends SIGHUP to one thread: `kill` leaves the choice of the thread to the kernel.
#[cfg(test)]
pub(super) fn interrupt<T>(thread: &std::thread::JoinHandle<T>) {
    use std::os::unix::thread::{JoinHandleExt, RawPthread};
    unsafe extern "C" {
        fn pthread_kill(thread: RawPthread, signal: c_int) -> c_int;
    }
    // SAFETY: the handle keeps the thread's number valid until it is joined; nothing happens to a thread that has ended.
    unsafe { pthread_kill(thread.as_pthread_t(), SIGHUP) };
}

/// The address of this thread's errno.
#[cfg(target_os = "linux")]
fn errno_location() -> *mut c_int {
    // SAFETY: takes nothing, cannot fail.
    unsafe { __errno_location() }
}
/// The address of this thread's errno.
#[cfg(target_os = "macos")]
fn errno_location() -> *mut c_int {
    // SAFETY: takes nothing, cannot fail.
    unsafe { __error() }
}

// ---- terminals

/// Whether we are in the foreground of the terminal `fd`: in the background a read would stop us.
pub(super) fn is_in_foreground(fd: BorrowedFd<'_>) -> bool {
    // SAFETY: integers only.
    unsafe { tcgetpgrp(fd.as_raw_fd()) == getpgrp() }
}

/// Throws away what was typed and not yet read.
pub(super) fn discard_input(fd: BorrowedFd<'_>) -> io::Result<()> {
    // SAFETY: integers only.
    check(unsafe { tcflush(fd.as_raw_fd(), target::TCIFLUSH) }).map(drop)
}

/// Columns and rows; both 0 when nobody said.
pub(super) fn window_size(fd: BorrowedFd<'_>) -> io::Result<(u16, u16)> {
    let mut size = WinSize::default();
    // SAFETY: TIOCGWINSZ fills one `struct winsize`, and `size` is one.
    check(unsafe { ioctl(fd.as_raw_fd(), target::TIOCGWINSZ as Request, &raw mut size) })?;
    Ok((size.columns, size.rows))
}

/// Sets columns and rows; the foreground group gets SIGWINCH if they differ.
pub(super) fn set_window_size(fd: BorrowedFd<'_>, columns: u16, rows: u16) -> io::Result<()> {
    let size = WinSize {
        rows,
        columns,
        ..WinSize::default()
    };
    // SAFETY: TIOCSWINSZ reads one `struct winsize`, and `size` is one.
    let result = unsafe {
        ioctl(
            fd.as_raw_fd(),
            target::TIOCSWINSZ as Request,
            &raw const size,
        )
    };
    check(result).map(drop)
}

/// A new pseudo-terminal: the near side, and the path of the far side.
pub(super) fn open_pty() -> io::Result<(OwnedFd, PathBuf)> {
    // SAFETY: integers only.
    let fd = check(unsafe { posix_openpt(target::OPENPT_FLAGS) })?;
    // SAFETY: the call succeeded, so the descriptor is open and nobody else owns it.
    let near = unsafe { OwnedFd::from_raw_fd(fd) };
    // Where the call could not do it: a child started by another thread before this line inherits the near side.
    set_close_on_exec(near.as_fd())?;
    // SAFETY: integers only.
    check(unsafe { grantpt(fd) })?;
    // SAFETY: integers only.
    check(unsafe { unlockpt(fd) })?;
    // SAFETY: pointer and length describe one live buffer, which the call ends with NUL.
    let path = name_of(|name, len| unsafe { ptsname_r(fd, name, len) })?;
    Ok((near, path))
}

fn set_close_on_exec(fd: BorrowedFd<'_>) -> io::Result<()> {
    const F_SETFD: c_int = 2;
    const FD_CLOEXEC: c_int = 1;
    // SAFETY: F_SETFD takes one int and touches no memory of ours.
    check(unsafe { fcntl(fd.as_raw_fd(), F_SETFD, FD_CLOEXEC) }).map(drop)
}

/// The device path of an open terminal.
pub(super) fn terminal_path(fd: BorrowedFd<'_>) -> io::Result<PathBuf> {
    // SAFETY: pointer and length describe one live buffer, which the call ends with NUL.
    name_of(|name, len| unsafe { ttyname_r(fd.as_raw_fd(), name, len) })
}

/// Calls with a buffer for a path. These two functions return the error instead of setting errno.
fn name_of(call: impl FnOnce(*mut c_char, usize) -> c_int) -> io::Result<PathBuf> {
    let mut name = [0_u8; 1024];
    match call(name.as_mut_ptr().cast(), name.len()) {
        0 => {
            let name = CStr::from_bytes_until_nul(&name).map_err(io::Error::other)?;
            Ok(PathBuf::from(OsStr::from_bytes(name.to_bytes())))
        }
        error => Err(io::Error::from_raw_os_error(error)),
    }
}
