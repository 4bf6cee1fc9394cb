//! The real binary, run as a person or a program would: in a folder, with an environment of its own, with or without a terminal.
//!
//! Invariant: a program that is not on a pseudo-terminal has no terminal to ask on, also when the tests were started from one: it is
//! in a background process group.
//! Invariant: waits are for text or for the end, with a limit that nothing in a test reaches.

use std::io::Write;
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::{Child, Command, Output, Stdio};
use std::time::{Duration, Instant};
use zcoder::standin::{Options, Pace, StandIn};
use zcoder::sys::pty::Pty;

const PATIENCE: Duration = Duration::from_secs(30);

/// What a program left behind.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Ran {
    /// Exit code; `None` after a signal.
    pub(crate) code: Option<i32>,
    /// Standard output.
    pub(crate) out: String,
    /// Standard error.
    pub(crate) err: String,
}

/// `zcoder` in `folder` with nothing in its environment but PATH: no HOME, no locale; and as there is no place to keep a session, the wish
/// not to keep one.
pub(crate) fn zcoder(folder: &Path, args: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_zcoder"));
    command.args(args).current_dir(folder).env_clear();
    command.env("PATH", std::env::var_os("PATH").unwrap_or_default());
    command.env("ZCODER_EPHEMERAL", "1");
    command.stdin(Stdio::null());
    command
}

/// Starts it with both outputs as pipes.
pub(crate) fn start(command: &mut Command) -> Child {
    command.process_group(0);
    command.stdout(Stdio::piped()).stderr(Stdio::piped());
    command.spawn().expect("the binary")
}

/// Runs it to its end.
pub(crate) fn run(command: &mut Command) -> Ran {
    ran(start(command).wait_with_output().expect("its output"))
}

/// Runs it to its end with `input` on a pipe.
pub(crate) fn run_with(command: &mut Command, input: &[u8]) -> Ran {
    command.stdin(Stdio::piped());
    let mut child = start(command);
    let mut stdin = child.stdin.take().expect("a pipe");
    let input = input.to_vec();
    // It may leave without reading all of it.
    let writer = std::thread::spawn(move || stdin.write_all(&input).is_ok());
    let output = child.wait_with_output().expect("its output");
    writer.join().expect("the writer");
    ran(output)
}

/// As text.
pub(crate) fn ran(output: Output) -> Ran {
    Ran {
        code: output.status.code(),
        out: String::from_utf8_lossy(&output.stdout).into_owned(),
        err: String::from_utf8_lossy(&output.stderr).into_owned(),
    }
}

/// Sends a signal by name.
pub(crate) fn signal(child: &Child, name: &str) {
    let kill = format!("kill -{name} {}", child.id());
    let status = Command::new("sh").args(["-c", &kill]).status();
    assert!(status.expect("sh").success(), "{kill}");
}

/// Of a stand-in at a free port, as fast as it can.
pub(crate) fn options(scene: Option<&str>) -> Options {
    Options {
        address: ([127, 0, 0, 1], 0).into(),
        pace: Pace::None,
        scene: scene.map(str::to_string),
        script: None,
    }
}

/// A stand-in at a free port, as fast as it can.
pub(crate) fn standin(scene: Option<&str>) -> StandIn {
    StandIn::start(options(scene), None).expect("a stand-in")
}

/// The program on a terminal, and what it has shown so far.
pub(crate) struct Screen {
    pty: Pty,
    child: Child,
    shown: String,
}

impl Screen {
    /// Starts it on a terminal of 80 columns.
    pub(crate) fn start(command: &mut Command) -> Screen {
        Screen::wide(command, 80)
    }

    /// Starts it on a terminal of so many columns.
    pub(crate) fn wide(command: &mut Command, columns: u16) -> Screen {
        let (pty, child) = Pty::spawn(command, columns, 24).expect("a pseudo-terminal");
        let shown = String::new();
        Screen { pty, child, shown }
    }

    /// Reads until `text` was shown, and returns what came since the last call, `text` included.
    #[track_caller]
    pub(crate) fn until(&mut self, text: &str) -> String {
        loop {
            if let Some(at) = self.shown.find(text) {
                return self.shown.drain(..at + text.len()).collect();
            }
            assert!(self.read(), "ended without {text:?}: {}", self.shown);
        }
    }

    /// Types.
    pub(crate) fn write(&self, keys: &str) {
        self.pty.write(keys.as_bytes()).expect("a terminal");
    }

    /// The rest of what is shown, and the exit code.
    pub(crate) fn end(mut self) -> (String, Option<i32>) {
        while self.read() {}
        let status = self.child.wait().expect("its end");
        (self.shown, status.code())
    }

    /// The terminal goes away; the exit code.
    pub(crate) fn hang_up(self) -> Option<i32> {
        let Screen { pty, mut child, .. } = self;
        drop(pty);
        child.wait().expect("its end").code()
    }

    fn read(&mut self) -> bool {
        let mut bytes = [0; 4096];
        let deadline = Instant::now() + PATIENCE;
        let count = self
            .pty
            .read(&mut bytes, Some(deadline))
            .expect("something");
        self.shown
            .push_str(&String::from_utf8_lossy(&bytes[..count]));
        count > 0
    }
}
