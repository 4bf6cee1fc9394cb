//! `zcoder -p TEXT`: the main job. Reads the prompt and what is attached to it, opens the workspace, makes an `engine::Setup`
//! of the settings, and hands it to `headless::run`; or, with `--what-would-be-sent`, prints the request instead.
//!
//! ```text
//! zcoder -p 'fix it'                    prompt "fix it"
//! git diff | zcoder -p 'review this'    prompt "review this", attachment = the diff, at most 256 KiB
//! zcoder -p - < task.txt                prompt = the file
//! zcoder -p 'fix it' < /dev/null        nothing attached
//! zcoder -p '!make test'                no prompt: your own command (`engine/shell.rs`)
//! zcoder -p '/goal make it pass'        no prompt: a goal (`engine/goal.rs`)
//! zcoder --continue -p /retry           the last request again (`retry.rs`)
//! ```
//!
//! Refused: an empty prompt, one that is not UTF-8, one on standard input over 256 KiB (a task must not lose its end unseen). An
//! attachment over the limit is cut, and that is said to the user and to the model; its bytes that are not UTF-8 become U+FFFD.
//!
//! Invariant: standard input is read only when it is a pipe, a socket or a file, never when it is a terminal or a device.
//!
//! Read next: `headless/mod.rs`, then `engine/turn.rs`.

use super::retry::Retry;
use super::ring::Ring;
use super::scope::Scope;
use super::session::Kept;
use super::{guided, taps, undo};
use crate::config::{Id, Settings, Source, Typed, UsageError, git, utf8};
use crate::engine::{self, Setup};
use crate::guidance::Guidance;
use crate::guidance::prompts::Prompts;
use crate::headless::out::{complain, exit, note, with_stdout};
use crate::headless::{self, Options};
use crate::model::Backend;
use crate::policy::Policy;
use crate::protocol::{Op, Status, Tap};
use crate::session::{Author, FrontEnd};
use crate::sys::Cancel;
use crate::sys::host;
use crate::sys::poll::{self, Wake};
use crate::sys::tty::{self, Tty};
use crate::text;
use crate::tools::Toolbox;
use std::ffi::OsString;
use std::fs::{File, OpenOptions};
use std::io::{self, Read, Write};
use std::os::fd::AsFd;
use std::os::unix::fs::{FileTypeExt, OpenOptionsExt};
use std::path::Path;
use std::time::{Duration, Instant, SystemTime};

/// A prompt that would be longer belongs into a file; an attachment is cut. Twice the largest whole-file read.
pub(super) const STDIN_BYTES: usize = 256 << 10;
/// How long standard input may be silent before we say that we wait for it.
const SILENCE: Duration = Duration::from_secs(2);

/// Runs the task; the exit code.
pub(super) fn run(typed: &Typed) -> Result<u8, UsageError> {
    let prints = guided::prints(typed);
    let Some(given) = typed.get(Id::Prompt).filter(|_| !prints) else {
        if prints {
            return guided::print(typed);
        }
        return Err(UsageError::MissingValue {
            flag: "--prompt",
            value: "TEXT".to_string(),
        });
    };
    let mut scope = Scope::find(typed)?;
    scope.say_unused(!scope.typed.is_on(Id::NoGuidance));
    scope.add_project()?;
    let mut settings = Settings::resolve(&scope.typed, scope.broad)?;
    let mut task = Task::read(&given.value, settings.quiet)?;
    for warning in &settings.server.warnings {
        note(&format!("zcoder: {warning}"));
    }
    let policy = super::policy::build(&scope, settings.permissions);
    let places = scope.places();
    let retry = Retry::of(&task.prompt).transpose()?;
    task.expand(&Prompts::gather(&places), &scope)?;
    let mut op = task.op()?;
    let guidance = match settings.guidance {
        true => Guidance::gather(places),
        false => Guidance::default(),
    };
    let (kept, again) = Kept::find(&scope, &mut settings, retry)?;
    if let Some(again) = again {
        let code = again.prepare(&scope.typed, &settings)?;
        if code != exit::DONE {
            return Ok(code);
        }
        op = again.op();
    }
    let ring = kept.sessions().map(Ring::new).filter(|_| settings.wire);
    // Last: a refusal leaves no file behind that would stand in the way of the next try.
    let tap = open_tap(&settings, ring)?;
    let tty = Tty::open();
    let yes = scope.typed.is_on(Id::Yes);
    let setup = setup(&settings, scope, policy, guidance, kept, tap, tty.is_some());
    let setup = match setup {
        Ok(setup) => setup,
        Err(error) => {
            complain(&error.to_string());
            return Ok(exit::FAILED);
        }
    };
    if settings.preview {
        return Ok(preview(setup, op, settings.quiet));
    }
    let options = Options {
        op,
        output: settings.output,
        quiet: settings.quiet,
        yes,
        tty,
    };
    Ok(headless::run(setup, options))
}

/// The parts of the program, put together. The error is the system's (no randomness, no pipes).
fn setup(
    settings: &Settings,
    scope: Scope,
    policy: Policy,
    guidance: Guidance,
    kept: Kept,
    tap: Tap,
    interactive: bool,
) -> io::Result<Setup> {
    let permissions = settings.permissions;
    let paths = &scope.paths;
    let (log, outputs, passing) = kept.begin(permissions.profile, &paths.temp)?;
    Ok(Setup {
        journal: undo::journal(paths, scope.root(), &log.id().0),
        backend: Backend::ollama(&settings.server.options, tap.clone()),
        model: settings.server.options.clone(),
        toolbox: Toolbox::new(scope.workspace, settings.tools.clone(), outputs, passing)
            .with_ignore_rules(git::ignore_rules(paths)),
        policy,
        profile: permissions.profile,
        guidance,
        limits: settings.turn,
        compaction: settings.compaction,
        log,
        author: author(),
        tap,
        interactive,
        refuses: permissions.deny_questions.then_some("--deny-commands"),
        strict_finish: settings.strict_finish,
        offline: settings.offline,
    })
}

/// Who asks.
pub(super) fn author() -> Author {
    Author {
        uid: host::user(),
        tty: tty::name().map(|path| path.to_string_lossy().into_owned()),
        front: FrontEnd::OneShot,
    }
}

/// What is asked.
struct Task {
    prompt: String,
    attachment: Option<String>,
}

impl Task {
    /// A prompt command becomes its text. What is attached already stays in the place of what it would attach.
    fn expand(&mut self, prompts: &Prompts, scope: &Scope) -> Result<(), UsageError> {
        if engine::goal_op(&self.prompt).is_some() || Retry::of(&self.prompt).is_some() {
            return Ok(());
        }
        let text = guided::expand(&self.prompt, prompts, &mut self.attachment, scope)?;
        if let Some(text) = text {
            self.prompt = text;
        }
        Ok(())
    }

    fn read(value: &OsString, quiet: bool) -> Result<Task, UsageError> {
        if value != "-" {
            let prompt = utf8(value, "the prompt")?.to_string();
            let attachment = attachment(quiet)?;
            return Task::new(prompt, attachment, "--prompt");
        }
        let bytes = read_stdin(STDIN_BYTES + 1, None)?;
        if bytes.len() > STDIN_BYTES {
            return Err(UsageError::LongPrompt {
                limit_bytes: STDIN_BYTES,
            });
        }
        let prompt = String::from_utf8(bytes).map_err(|error| UsageError::NotUtf8 {
            what: "the prompt on standard input".to_string(),
            offset: error.utf8_error().valid_up_to(),
        })?;
        Task::new(prompt, None, "standard input")
    }

    fn new(
        prompt: String,
        attachment: Option<String>,
        source: &'static str,
    ) -> Result<Task, UsageError> {
        match prompt.trim().is_empty() {
            true => Err(UsageError::EmptyPrompt { source }),
            false => Ok(Task { prompt, attachment }),
        }
    }

    /// What it asks for: `/goal …` is about the goal, anything else a prompt; `/retry` until the request is found that it means.
    fn op(self) -> Result<Op, UsageError> {
        let left_out = |what: &str| {
            if self.attachment.is_some() {
                note(&format!(
                    "zcoder: what comes on standard input is no part of {what} and is left out; put it into a file and name it"
                ));
            }
        };
        if let Some((command, in_context)) = own_command(&self.prompt) {
            left_out("a command of your own");
            let command = command.to_string();
            return match command.is_empty() {
                true => Err(UsageError::EmptyPrompt { source: "--prompt" }),
                false => Ok(Op::Shell {
                    id: own_id(),
                    command,
                    in_context,
                }),
            };
        }
        if Retry::of(&self.prompt).is_some() {
            left_out("a request that is sent again");
        }
        let Some(goal) = engine::goal_op(&self.prompt) else {
            return Ok(Op::Prompt {
                text: self.prompt,
                attachment: self.attachment,
            });
        };
        left_out("a goal");
        let goal = goal.map_err(|cause| UsageError::Slash { cause })?;
        Ok(Op::Goal(goal))
    }
}

/// An id that no other run uses.
fn own_id() -> String {
    let now = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH);
    let nanos = now.unwrap_or_default().as_nanos();
    format!("{nanos}-{}", std::process::id())
}

/// `!make test`: the command, and whether the model hears of it (not with `!!`).
fn own_command(prompt: &str) -> Option<(&str, bool)> {
    let command = prompt.trim_start().strip_prefix('!')?;
    Some(match command.strip_prefix('!') {
        Some(command) => (command.trim(), false),
        None => (command.trim(), true),
    })
}

/// What a pipe or file on standard input holds.
fn attachment(quiet: bool) -> Result<Option<String>, UsageError> {
    // A copy of the descriptor, to look at what it is; no standard input at all means nothing attached.
    let kind = io::stdin().as_fd().try_clone_to_owned().map(File::from);
    let kind = kind.and_then(|file| file.metadata()).map(|m| m.file_type());
    let attached = kind.is_ok_and(|kind| kind.is_fifo() || kind.is_socket() || kind.is_file());
    if !attached {
        return Ok(None);
    }
    let waiting = "waiting for the end of standard input, which is attached to the prompt \
                   (start with </dev/null to attach nothing)";
    let mut bytes = read_stdin(STDIN_BYTES + 1, Some(waiting))?;
    let cut = bytes.len() > STDIN_BYTES;
    bytes.truncate(STDIN_BYTES);
    let text = text::repair(&bytes);
    let repaired = std::str::from_utf8(&bytes).is_err();
    if text.is_empty() {
        return Ok(None);
    }
    let mut text = text.into_owned();
    if cut {
        text.push_str(&format!(
            "\n[cut by zcoder after {STDIN_BYTES} bytes; more followed]"
        ));
        note(&format!(
            "zcoder: standard input is longer than {}; the rest was not attached",
            text::counted(STDIN_BYTES as u64, "byte")
        ));
    } else if !quiet {
        note(&format!(
            "attached  {} from standard input",
            text::counted(bytes.len() as u64, "byte")
        ));
    }
    if repaired && !cut {
        note("zcoder: what is attached is not UTF-8; the odd bytes were replaced");
    }
    Ok(Some(text))
}

/// At most `limit` bytes. `waiting` is said once when nothing comes for a while: an open pipe that nobody ever closes would
/// otherwise look like a hang of ours.
pub(super) fn read_stdin(limit: usize, waiting: Option<&str>) -> Result<Vec<u8>, UsageError> {
    let failed = |error: io::Error| UsageError::Stdin {
        cause: error.to_string(),
    };
    let stdin = io::stdin();
    let cancel = Cancel::new().map_err(failed)?;
    let mut deadline = waiting.map(|_| Instant::now() + SILENCE);
    let mut bytes = Vec::new();
    let mut buffer = vec![0; 64 << 10];
    while bytes.len() < limit {
        let woke = poll::readable(stdin.as_fd(), &cancel, deadline).map_err(failed)?;
        if let (Wake::TimedOut, Some(text)) = (woke, waiting) {
            note(text);
            deadline = None;
            continue;
        }
        let room = buffer.len().min(limit - bytes.len());
        match stdin.lock().read(&mut buffer[..room]) {
            Ok(0) => break,
            Ok(n) => bytes.extend_from_slice(&buffer[..n]),
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(failed(error)),
        }
        deadline = None;
    }
    Ok(bytes)
}

/// The files of `--record` and `--debug-log`. A record never overwrites: it may be the only copy of an hour's work.
fn open_tap(settings: &Settings, ring: Option<Ring>) -> Result<Tap, UsageError> {
    let open = |path: &Path, flag: &'static str, options: &mut OpenOptions| {
        let opened = options.mode(0o600).open(path);
        opened.map_err(|error| UsageError::File {
            source: Source::Flag(flag),
            file: path.display().to_string(),
            cause: match error.kind() {
                io::ErrorKind::AlreadyExists => "exists already; name a new file".to_string(),
                _ => error.to_string(),
            },
        })
    };
    let mut new = OpenOptions::new();
    let record = settings.record.as_deref();
    let record = record.map(|path| open(path, "--record", new.write(true).create_new(true)));
    let mut behind = OpenOptions::new();
    let log = settings.debug_log.as_deref();
    let log = log.map(|path| open(path, "--debug-log", behind.append(true).create(true)));
    let (record, log) = (record.transpose()?, log.transpose()?);
    taps::tap(record, log, ring).map_err(|error| UsageError::File {
        source: Source::Flag("--record"),
        file: settings
            .record
            .as_deref()
            .unwrap_or(Path::new(""))
            .display()
            .to_string(),
        cause: error.to_string(),
    })
}

/// `--what-would-be-sent`: the request's body on standard output, what was found out or assumed on standard error.
fn preview(setup: Setup, op: Op, quiet: bool) -> u8 {
    let mut notice = |event| headless::show_notice(&event, quiet);
    match engine::preview(setup, op, &mut notice) {
        Ok(bytes) => with_stdout(|out| {
            out.write_all(&bytes)?;
            out.write_all(b"\n")?;
            Ok(exit::DONE)
        }),
        Err(status) => {
            match &status {
                Status::ServerFailed { reason }
                | Status::Unusable { reason }
                | Status::NotSaved { reason } => complain(reason),
                Status::NeedsApproval { what } | Status::Limit { which: what } => complain(what),
                Status::Done | Status::Blocked | Status::Failed | Status::Cancelled => {}
            }
            headless::exit_code(&status)
        }
    }
}
