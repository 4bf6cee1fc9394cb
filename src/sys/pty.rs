//! A pseudo-terminal with a program on its far side: we are its screen and its keyboard. The tests of everything that needs a terminal
//! start the real program here.
//!
//! ```text
//! spawn   /dev/ptmx ── near side: ours          /dev/pts/7 ── far side: stdin, stdout, stderr and controlling terminal of the child
//! write   "y\n"  → echo and line editing by the kernel → the child's read
//! read    what the child wrote, "\n" as "\r\n" (OPOST)
//! end     the last holder of the far side closes it → read returns 0 bytes (EIO)
//! ```
//!
//! Limits: what the child writes waits in the kernel (4 KiB on Linux) until it is read.
//!
//! Invariant: the child leads a session, so a hang-up, Ctrl+C and Ctrl+Z reach it as from a real terminal.
//! Invariant: dropping the near side hangs up: the child's session gets SIGHUP.
//!
//! Read next: `tty.rs`, which is what the far side opens.

use super::Cancel;
use super::ffi;
use super::poll::{self, Wake};
use std::fs::{File, OpenOptions};
use std::io::{self, ErrorKind, Read, Write};
use std::os::fd::AsFd;
use std::os::unix::fs::OpenOptionsExt;
use std::process::{Child, Command, Stdio};
use std::time::Instant;

/// The near side.
#[derive(Debug)]
pub struct Pty {
    near: File,
}

impl Pty {
    /// Starts `command` as session leader on a new terminal of `columns` x `rows`. Errors: no pseudo-terminals left, those of `spawn`.
    pub fn spawn(command: &mut Command, columns: u16, rows: u16) -> io::Result<(Pty, Child)> {
        let (near, path) = ffi::open_pty()?;
        ffi::set_window_size(near.as_fd(), columns, rows)?;
        let mut options = OpenOptions::new();
        let options = options.read(true).write(true);
        let far = options.custom_flags(ffi::OPEN_FAR_SIDE).open(path)?;
        command
            .stdin(far.try_clone()?)
            .stdout(far.try_clone()?)
            .stderr(far);
        ffi::lead_new_session_on_stdin(command);
        let child = command.spawn();
        // `command` would keep the far side open, and we would never see its end.
        command
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::null());
        let pty = Pty {
            near: File::from(near),
        };
        Ok((pty, child?))
    }

    /// What the child wrote, at least one byte; 0 when the far side is closed. Errors: `TimedOut` when nothing came by `deadline`.
    pub fn read(&self, bytes: &mut [u8], deadline: Option<Instant>) -> io::Result<usize> {
        let never = Cancel::new()?;
        if poll::readable(self.near.as_fd(), &never, deadline)? == Wake::TimedOut {
            return Err(ErrorKind::TimedOut.into());
        }
        match (&self.near).read(bytes) {
            // Linux reports the hang-up of the far side as an I/O error, macOS as an end of file.
            Err(error) if error.raw_os_error() == Some(ffi::EIO) => Ok(0),
            result => result,
        }
    }

    /// Types all of `bytes`.
    pub fn write(&self, bytes: &[u8]) -> io::Result<()> {
        (&self.near).write_all(bytes)
    }

    /// Changes the size; the foreground of the terminal gets SIGWINCH.
    pub fn resize(&self, columns: u16, rows: u16) -> io::Result<()> {
        ffi::set_window_size(self.near.as_fd(), columns, rows)
    }
}
