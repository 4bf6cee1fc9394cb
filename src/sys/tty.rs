//! The terminal that we were started from, for questions while stdin and stdout are something else: `cat notes | zcoder -p - > answer`
//! still asks whoever sits there. `headless` opens it for approvals. The terminal stays in the line mode that it is in.
//!
//! ```text
//! open           /dev/tty, an open file description of our own     None without a terminal, or in the background
//! discard_input  "y\n" typed before the question                   is gone
//! write          "run `sh test.sh`? [y/n] "
//! read_line      "y\n" → Some("y")      Ctrl+D → None      switch turned → None
//! ```
//!
//! Limits: a line has at most 4,096 bytes, as the kernel's own line buffer has; a longer one (a terminal left in raw mode) is an error.
//! Untested: macOS, where `poll` refuses `/dev/tty` and the device's real name is opened instead.
//!
//! Invariant: what `read_line` returns was typed after the last `discard_input`; what stands behind the line's end is dropped.
//! Invariant: O_NONBLOCK is set on our description only; stdin, stdout and the shell's copies of them never see it.
//!
//! Read next: `poll.rs`.

use super::Cancel;
use super::ffi;
use super::poll::{self, Wake};
use std::fs::{File, OpenOptions};
use std::io::{self, ErrorKind, Read, Write};
use std::os::fd::AsFd;
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};

/// The kernel's own line buffer (N_TTY_BUF_SIZE).
const MAX_LINE_BYTES: usize = 4096;

/// The terminal device.
#[derive(Debug)]
pub struct Tty {
    device: File,
}

impl Tty {
    /// The controlling terminal, or `None` if there is none or we are in the background (reading would stop us).
    pub fn open() -> Option<Tty> {
        // Opening fails exactly if there is no controlling terminal (ENXIO) or no such device (a bare container).
        let device = open_device(Path::new("/dev/tty")).ok()?;
        if !ffi::is_in_foreground(device.as_fd()) {
            return None;
        }
        by_real_name(device).map(|device| Tty { device })
    }

    /// Discards what was typed before now (TCIFLUSH): a key typed before a question must not answer it.
    pub fn discard_input(&self) -> io::Result<()> {
        ffi::discard_input(self.device.as_fd())
    }

    /// Writes already sanitized text, all of it; waits while the terminal is stopped (Ctrl+S).
    pub fn write(&self, text: &str) -> io::Result<()> {
        let mut rest = text.as_bytes();
        let never = Cancel::new()?;
        while !rest.is_empty() {
            match (&self.device).write(rest) {
                Ok(len) => rest = rest.get(len..).unwrap_or_default(),
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                Err(error) if error.kind() == ErrorKind::WouldBlock => {
                    poll::writable(self.device.as_fd(), &never, None)?;
                }
                Err(error) => return Err(error),
            }
        }
        Ok(())
    }

    /// One line without its end, U+FFFD for what is not UTF-8; `None` at end of file (Ctrl+D) and on cancel. Errors: the terminal is gone
    /// (EIO), the line is too long.
    pub fn read_line(&self, cancel: &Cancel) -> io::Result<Option<String>> {
        let mut line = Vec::new();
        loop {
            if poll::readable(self.device.as_fd(), cancel, None)? == Wake::Cancelled {
                return Ok(None);
            }
            let mut bytes = [0; MAX_LINE_BYTES];
            let read = match (&self.device).read(&mut bytes) {
                Ok(0) => return Ok(None),
                Ok(len) => bytes.get(..len).unwrap_or_default(),
                // Somebody else on this terminal was faster.
                Err(error) if error.kind() == ErrorKind::WouldBlock => continue,
                Err(error) if error.kind() == ErrorKind::Interrupted => continue,
                Err(error) => return Err(error),
            };
            // A terminal left in raw mode sends CR for Enter.
            let end = read.iter().position(|byte| matches!(byte, b'\n' | b'\r'));
            line.extend_from_slice(read.get(..end.unwrap_or(read.len())).unwrap_or_default());
            if line.len() > MAX_LINE_BYTES {
                let text = format!("line longer than {MAX_LINE_BYTES} bytes");
                return Err(io::Error::new(ErrorKind::InvalidData, text));
            }
            if end.is_some() {
                return Ok(Some(String::from_utf8_lossy(&line).into_owned()));
            }
        }
    }

    /// Columns and rows; `None` when the terminal does not know.
    pub fn size(&self) -> Option<(u16, u16)> {
        let size = ffi::window_size(self.device.as_fd()).ok()?;
        (size.0 > 0 && size.1 > 0).then_some(size)
    }
}

/// The device behind the first of our standard streams that is a terminal (`/dev/pts/3`).
pub fn name() -> Option<PathBuf> {
    let (stdin, stdout, stderr) = (io::stdin(), io::stdout(), io::stderr());
    let streams = [stdin.as_fd(), stdout.as_fd(), stderr.as_fd()];
    let mut paths = streams.into_iter().map(ffi::terminal_path);
    paths.find_map(Result::ok)
}

fn open_device(path: &Path) -> io::Result<File> {
    let mut options = OpenOptions::new();
    let options = options.read(true).write(true);
    options.custom_flags(ffi::OPEN_TERMINAL).open(path)
}

/// Linux can wait for `/dev/tty` as it is.
#[cfg(target_os = "linux")]
fn by_real_name(device: File) -> Option<File> {
    Some(device)
}
/// macOS answers `poll` on `/dev/tty` with POLLNVAL; the device's own name is fine. Standard streams know it.
#[cfg(target_os = "macos")]
fn by_real_name(_device: File) -> Option<File> {
    open_device(&name()?).ok()
}
