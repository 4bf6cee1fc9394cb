//! `run_command`: an approved command through `/bin/sh -c`, and its result. In: `Approved<Command>` and a place for its output. Out: live
//! output for front ends while it runs, then text for the model. The engine makes a [`Running`] and waits for it on the tool worker's
//! thread.
//!
//! ```text
//! command      sh test.sh                     in the workspace, stdin /dev/null, limit 120 s
//! program      /bin/sh -c -- "sh test.sh"     or, with `command_wrapper`, bwrap … /bin/sh -c -- "sh test.sh"
//! result       exit code 1 after 12 s; 41,233 lines, 2,480,113 bytes: read_file output:12
//!              running 1,204 tests⏎…⏎[41,100 lines, 2,463,800 bytes not shown: …]⏎…⏎1 test failed⏎
//! ```
//!
//! The first line says how it ended and, from one second on, how long it took; what follows is output alone, so two runs with the
//! same output differ in their first line at most. Other first lines: `exit code 0; no output`,
//! `killed by signal 9 (SIGKILL)`, `timed out after 120 s: the command and its children were ended. …`,
//! `cancelled by the user: …`; each says so if a child process is still running.
//!
//! The environment says that nobody can answer: [`ENVIRONMENT`]. What only we should know is taken out of it.
//!
//! Limits: `Limits::output_bytes` of output in the result, memory of a few times that (`capture.rs`), 16 MiB on disk, live output at
//! most every 50 ms and 16 KiB at a time; what comes faster is left out and counted.
//!
//! Invariant: only an `Approved<Command>` runs, with exactly the text and folder that were approved.
//! Invariant: no output, endless output, output that is not text: the command's end alone ends the wait.
//!
//! Read next: `capture.rs`, `outputs.rs`, `sys/process.rs`.

use std::ffi::OsString;
use std::io::{self, ErrorKind};
use std::time::{Duration, Instant};

use crate::policy::{Approved, Command};
use crate::protocol::{Facts, ToolOutcome, ToolStatus};
use crate::sys::Cancel;
use crate::sys::process::{self, End, Next, Ran, Spec};
use crate::text::{self, Utf8};

use super::capture::{Capture, Captured, Kept, ceil};
use super::failed;
use super::outputs::Outputs;

/// Between two calls of `on_output`: nobody reads faster.
const LIVE_INTERVAL: Duration = Duration::from_millis(50);
/// Handed to `on_output` at a time: more than a screen.
const LIVE_BYTES: usize = 16 << 10;
/// Not looked up in `PATH`: a workspace may have put a folder of its own there.
const SHELL: &str = "/bin/sh";

/// Set or removed for every command. First: no terminal, no colors, no pager, no editor, no question. Last: our secrets, and a
/// `--yes` that would travel on to a zcoder started by the command.
pub(super) const ENVIRONMENT: &[(&str, Option<&str>)] = &[
    ("TERM", Some("dumb")),
    ("NO_COLOR", Some("1")),
    ("COLORTERM", None),
    ("CLICOLOR_FORCE", None),
    ("FORCE_COLOR", None),
    ("CI", Some("1")),
    ("PAGER", Some("cat")),
    ("GIT_PAGER", Some("cat")),
    ("MANPAGER", Some("cat")),
    ("SYSTEMD_PAGER", Some("cat")),
    ("EDITOR", Some("true")),
    ("VISUAL", Some("true")),
    ("GIT_EDITOR", Some("true")),
    ("GIT_SEQUENCE_EDITOR", Some("true")),
    ("GIT_TERMINAL_PROMPT", Some("0")),
    ("GIT_ASKPASS", Some("true")),
    ("GCM_INTERACTIVE", Some("never")),
    ("SSH_ASKPASS_REQUIRE", Some("never")),
    ("SUDO_ASKPASS", None),
    // `cd src` means the one in the current folder.
    ("CDPATH", None),
    ("DEBIAN_FRONTEND", Some("noninteractive")),
    ("PIP_NO_INPUT", Some("1")),
    ("PYTHONUNBUFFERED", Some("1")),
    ("ZCODER_HEADER", None),
    ("ZCODER_TOKEN", None),
    ("ZCODER_VIA", None),
    ("ZCODER_YES", None),
    ("ZCODER_COMMANDS", None),
    ("ZCODER_COMMAND_POLICY", None),
];

/// A command about to run; moves to the worker thread.
#[derive(Debug)]
pub struct Running {
    command: Command,
    capture: Capture,
}

impl Running {
    /// Starts nothing yet.
    pub(super) fn new(
        command: Approved<Command>,
        outputs: &mut Outputs,
        output_bytes: usize,
    ) -> Running {
        Running {
            command: command.into_value(),
            capture: Capture::new(output_bytes, outputs.next()),
        }
    }

    /// Runs to the end; `on_output` gets merged output as text, at most every 50 ms. Whatever happens is told by the outcome.
    pub fn wait(self, cancel: &Cancel, on_output: &mut dyn FnMut(&str)) -> ToolOutcome {
        if cancel.is_cancelled() {
            return not_run(
                ToolStatus::Cancelled,
                "cancelled by the user before it started".to_string(),
            );
        }
        let Running { command, capture } = self;
        match run(&command, capture, cancel, on_output) {
            Ok((ran, captured)) => outcome(&command, &ran, captured),
            Err(error) => not_run(ToolStatus::Failed, why_not(&command, &error)),
        }
    }
}

fn run(
    command: &Command,
    mut capture: Capture,
    cancel: &Cancel,
    on_output: &mut dyn FnMut(&str),
) -> io::Result<(Ran, Captured)> {
    let argv = argv(command);
    let mut running = process::Running::start(&Spec {
        argv: &argv,
        cwd: &command.cwd,
        env: ENVIRONMENT,
        deadline: Instant::now().checked_add(command.timeout),
    })?;
    let mut live = Live::new();
    loop {
        match running.next(cancel, live.due())? {
            Next::Output(bytes) => {
                capture.feed(bytes);
                live.feed(bytes);
            }
            Next::Quiet => {}
            Next::Ended(ran) => {
                live.finish(on_output);
                return Ok((ran, capture.finish()));
            }
        }
        if live.due().is_some_and(|due| Instant::now() >= due) {
            live.hand_out(on_output);
        }
    }
}

fn argv(command: &Command) -> Vec<OsString> {
    let words = command.wrapper.iter().map(String::as_str);
    // Without `--` a text that begins with `-` or `+` would be taken for options.
    let words = words.chain([SHELL, "-c", "--", &command.text]);
    words.map(OsString::from).collect()
}

fn not_run(status: ToolStatus, text: String) -> ToolOutcome {
    ToolOutcome {
        status,
        ..failed(text)
    }
}

/// For the model: what could not be started, and the next step.
fn why_not(command: &Command, error: &io::Error) -> String {
    let folder = text::visible(&command.shown_cwd);
    if !command.cwd.is_dir() {
        return format!(
            "the folder `{folder}` is not there any more. Call run_command again with a cwd that list_files shows."
        );
    }
    match error.kind() {
        ErrorKind::ArgumentListTooLong => format!(
            "the command is too long for the system: {} bytes. Write it to a file with write_file and run that file.",
            text::grouped(command.text.len() as u64)
        ),
        ErrorKind::InvalidInput if command.text.contains('\0') => {
            "the command contains a NUL character, which no shell can take. Call run_command again without it.".to_string()
        }
        _ => {
            let program = command.wrapper.first().map_or(SHELL, String::as_str);
            format!(
                "`{}` could not be run in `{folder}`: {error}. Tell the user; no command can run until this is mended.",
                text::visible(program)
            )
        }
    }
}

fn outcome(command: &Command, ran: &Ran, captured: Captured) -> ToolOutcome {
    let (status, exit) = match ran.end {
        End::Exited(0) => (ToolStatus::Ok, Some(0)),
        End::Exited(code) => (ToolStatus::Failed, Some(code)),
        End::Signaled(_) | End::TimedOut => (ToolStatus::Failed, None),
        End::Cancelled => (ToolStatus::Cancelled, None),
    };
    let output = match captured.kept {
        Kept::Whole(number) | Kept::Beginning(number) => Some(number),
        Kept::No | Kept::Failed(_) => None,
    };
    let mut text = first_line(command, ran, &captured);
    if !captured.text.is_empty() {
        text.push('\n');
        text.push_str(&captured.text);
    }
    ToolOutcome {
        status,
        text,
        facts: Facts::Ran {
            command: command.text.clone(),
            exit,
            elapsed: ran.elapsed,
            output,
            child_left: ran.child_left,
            lines: captured.lines,
        },
    }
}

fn first_line(command: &Command, ran: &Ran, captured: &Captured) -> String {
    let mut line = how_it_ended(command, ran);
    match &captured.kept {
        Kept::No if captured.bytes == 0 => line.push_str("; no output"),
        Kept::No => {}
        Kept::Whole(number) => {
            line.push_str(&format!("; {}: read_file output:{number}", size(captured)))
        }
        Kept::Beginning(number) => line.push_str(&format!(
            "; {}, the first 16 MiB: read_file output:{number}",
            size(captured)
        )),
        Kept::Failed(_) => line.push_str(&format!("; {}", size(captured))),
    }
    if ran.child_left {
        line.push_str(match ran.end {
            End::Exited(_) | End::Signaled(_) => "; a child process is still running",
            // It left the group (a session of its own), or the kernel cannot end it.
            End::TimedOut | End::Cancelled => {
                "; one of them could not be ended and is still running"
            }
        });
    }
    if let End::TimedOut = ran.end {
        line.push_str(". For more time set timeout_seconds; start what shall go on in the background with `&` and its output in a file.");
    }
    line
}

fn how_it_ended(command: &Command, ran: &Ran) -> String {
    let took = match ran.elapsed.as_secs() {
        0 => String::new(),
        seconds => format!(" after {} s", text::grouped(seconds)),
    };
    match ran.end {
        End::Exited(code) => {
            // The shell's own codes (POSIX 2.8.2).
            let meaning = match code {
                126 => " (found, but cannot be executed)",
                127 => " (command not found)",
                _ => "",
            };
            format!("exit code {code}{meaning}{took}")
        }
        End::Signaled(number) => format!("killed by signal {number}{}{took}", signal_name(number)),
        End::TimedOut => format!(
            "timed out after {} s: the command and its children were ended",
            text::grouped(command.timeout.as_secs())
        ),
        End::Cancelled => {
            format!("cancelled by the user{took}: the command and its children were ended")
        }
    }
}

/// Those whose numbers are the same on Linux and macOS.
fn signal_name(number: i32) -> &'static str {
    match number {
        1 => " (SIGHUP)",
        2 => " (SIGINT)",
        3 => " (SIGQUIT)",
        4 => " (SIGILL)",
        6 => " (SIGABRT)",
        8 => " (SIGFPE)",
        9 => " (SIGKILL)",
        11 => " (SIGSEGV)",
        13 => " (SIGPIPE)",
        15 => " (SIGTERM)",
        _ => "",
    }
}

fn size(captured: &Captured) -> String {
    let lines = text::counted(captured.lines, "line");
    format!("{lines}, {} bytes", text::grouped(captured.bytes))
}

/// Output on its way to a front end: merged by time, bounded by dropping the oldest.
#[derive(Debug)]
struct Live {
    decoder: Utf8,
    waiting: String,
    /// Bytes of text dropped from the front of `waiting`.
    dropped: u64,
    /// When `on_output` may be called again.
    free_at: Instant,
}

impl Live {
    fn new() -> Live {
        Live {
            decoder: Utf8::default(),
            waiting: String::new(),
            dropped: 0,
            free_at: Instant::now(),
        }
    }

    /// When to hand out; `None` while nothing waits.
    fn due(&self) -> Option<Instant> {
        (!self.waiting.is_empty()).then_some(self.free_at)
    }

    fn feed(&mut self, bytes: &[u8]) {
        self.decoder.feed(bytes, &mut self.waiting);
        if self.waiting.len() > LIVE_BYTES {
            let cut = ceil(&self.waiting, self.waiting.len() - LIVE_BYTES);
            // From a line's beginning, if that is not far.
            let line_end = self.waiting[cut..]
                .find('\n')
                .map_or(cut, |end| cut + end + 1);
            let cut = if line_end - cut < LIVE_BYTES / 2 {
                line_end
            } else {
                cut
            };
            self.waiting.drain(..cut);
            self.dropped += cut as u64;
        }
    }

    fn hand_out(&mut self, on_output: &mut dyn FnMut(&str)) {
        if self.dropped > 0 {
            let note = format!("[{} bytes not shown]\n", text::grouped(self.dropped));
            self.waiting.insert_str(0, &note);
            self.dropped = 0;
        }
        on_output(&self.waiting);
        self.waiting.clear();
        self.free_at = Instant::now() + LIVE_INTERVAL;
    }

    fn finish(&mut self, on_output: &mut dyn FnMut(&str)) {
        self.decoder.finish(&mut self.waiting);
        if !self.waiting.is_empty() {
            self.hand_out(on_output);
        }
    }
}
