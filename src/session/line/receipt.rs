//! A receipt within its line, and back.
//!
//! ```text
//! {…,"kind":"receipt","turn":1,"status":"done","answer":"","verdict":"done","files":[{"path":"src/a.rs","added":1,…}],
//!  "commands":[{"command":"sh test.sh","exit":0,"elapsed_ns":…}],"calls":2,"requests":3,"elapsed_ns":…,"prompt_tokens":…,…}
//! {…,"status":"cancelled","cut":{"by":"hang_up","doing":"running","what":["run_command make"]},…}      what a signal or a person ended
//! ```
//!
//! Read next: `line.rs`.

use super::{all, optional, optional_bool, text};
use crate::json::{Field, FieldError, Writer};
use crate::protocol::{CommandRun, Counted, Cut, Doing, FileChange, Halt, Receipt, Status};
use std::sync::Arc;
use std::time::Duration;

pub(super) fn write(json: &mut Writer, receipt: &Receipt) {
    let (status, why) = match &receipt.status {
        Status::Done => ("done", None),
        Status::Blocked => ("blocked", None),
        Status::Failed => ("failed", None),
        Status::ServerFailed { reason } => ("server_failed", Some(reason)),
        Status::Unusable { reason } => ("unusable", Some(reason)),
        Status::NeedsApproval { what } => ("needs_approval", Some(what)),
        Status::Limit { which } => ("limit", Some(which)),
        Status::NotSaved { reason } => ("not_saved", Some(reason)),
        Status::Cancelled => ("cancelled", None),
    };
    json.key("status").string(status);
    optional(json, "why", why.map(String::as_str));
    if let Some(cut) = &receipt.cut {
        write_cut(json, cut);
    }
    json.key("answer").string(&receipt.answer);
    json.key("verdict").string(&receipt.verdict);
    json.key("files").begin_array();
    for file in &receipt.files {
        json.begin_object().key("path").string(&file.path);
        json.key("added").u64(file.added);
        json.key("removed").u64(file.removed);
        json.key("created").bool(file.created);
        json.key("deleted").bool(file.deleted);
        if let Some(executable) = file.executable {
            json.key("executable").bool(executable);
        }
        json.end_object();
    }
    json.end_array().key("commands").begin_array();
    for run in &receipt.commands {
        json.begin_object().key("command").string(&run.command);
        if let Some(exit) = run.exit {
            json.key("exit").i64(i64::from(exit));
        }
        write_duration(json, "elapsed_ns", run.elapsed);
        json.end_object();
    }
    json.end_array().key("calls").u64(receipt.calls);
    json.key("requests").u64(receipt.requests);
    write_duration(json, "elapsed_ns", receipt.elapsed);
    json.key("prompt_tokens").u64(receipt.prompt_tokens);
    json.key("output_tokens").u64(receipt.output_tokens);
    write_duration(json, "output_ns", receipt.output_time);
    if let Some(Counted { bytes, tokens }) = receipt.counted {
        json.key("counted").begin_object();
        json.key("bytes").u64(bytes).key("tokens").u64(tokens);
        json.end_object();
    }
}

fn write_cut(json: &mut Writer, cut: &Cut) {
    json.key("cut")
        .begin_object()
        .key("by")
        .string(match cut.by {
            Halt::Cancel => "cancel",
            Halt::HangUp => "hang_up",
            Halt::Terminate => "terminate",
            Halt::Quit => "quit",
        });
    let (doing, what): (_, &[String]) = match &cut.doing {
        Doing::Between => ("between", &[]),
        Doing::Waiting => ("waiting", &[]),
        Doing::Loading => ("loading", &[]),
        Doing::Reading => ("reading", &[]),
        Doing::Answering => ("answering", &[]),
        Doing::Unseen => ("unseen", &[]),
        Doing::Asking => ("asking", &[]),
        Doing::Running(names) => ("running", names),
        Doing::Own(command) => ("own", std::slice::from_ref(command)),
    };
    json.key("doing").string(doing).key("what").begin_array();
    for what in what {
        json.string(what);
    }
    json.end_array().end_object();
}

/// 584 years fit.
fn write_duration(json: &mut Writer, key: &str, duration: Duration) {
    let nanos = u64::try_from(duration.as_nanos()).unwrap_or(u64::MAX);
    json.key(key).u64(nanos);
}

pub(super) fn read(line: &Field<'_>) -> Result<Receipt, FieldError> {
    let status = line.member("status")?;
    let why = || text(line, "why");
    Ok(Receipt {
        status: match status.string()? {
            "done" => Status::Done,
            "blocked" => Status::Blocked,
            "failed" => Status::Failed,
            "server_failed" => Status::ServerFailed { reason: why()? },
            "unusable" => Status::Unusable { reason: why()? },
            "needs_approval" => Status::NeedsApproval { what: why()? },
            "limit" => Status::Limit { which: why()? },
            "not_saved" => Status::NotSaved { reason: why()? },
            "cancelled" => Status::Cancelled,
            _ => return Err(status.error("a status that this version knows")),
        },
        cut: line
            .optional("cut")?
            .map(|field| cut(&field).map(Box::new))
            .transpose()?,
        answer: Arc::new(text(line, "answer")?),
        verdict: text(line, "verdict")?,
        files: all(line, "files", |file| {
            Ok(FileChange {
                path: text(file, "path")?,
                added: file.member("added")?.u64()?,
                removed: file.member("removed")?.u64()?,
                created: file.member("created")?.bool()?,
                deleted: file.member("deleted")?.bool()?,
                executable: optional_bool(file, "executable")?,
            })
        })?,
        commands: all(line, "commands", |run| {
            Ok(CommandRun {
                command: text(run, "command")?,
                exit: run
                    .optional("exit")?
                    .map(|exit| exit_code(&exit))
                    .transpose()?,
                elapsed: duration(run, "elapsed_ns")?,
            })
        })?,
        calls: line.member("calls")?.u64()?,
        requests: line.member("requests")?.u64()?,
        elapsed: duration(line, "elapsed_ns")?,
        prompt_tokens: line.member("prompt_tokens")?.u64()?,
        output_tokens: line.member("output_tokens")?.u64()?,
        output_time: duration(line, "output_ns")?,
        counted: match line.optional("counted")? {
            Some(counted) => Some(Counted {
                bytes: counted.member("bytes")?.u64()?,
                tokens: counted.member("tokens")?.u64()?,
            }),
            None => None,
        },
    })
}

fn cut(field: &Field<'_>) -> Result<Cut, FieldError> {
    let (by, doing) = (field.member("by")?, field.member("doing")?);
    let what = all(field, "what", |what| Ok(what.string()?.to_string()))?;
    Ok(Cut {
        by: match by.string()? {
            "cancel" => Halt::Cancel,
            "hang_up" => Halt::HangUp,
            "terminate" => Halt::Terminate,
            "quit" => Halt::Quit,
            _ => return Err(by.error("an end that this version knows")),
        },
        doing: match doing.string()? {
            "between" => Doing::Between,
            "waiting" => Doing::Waiting,
            "loading" => Doing::Loading,
            "reading" => Doing::Reading,
            "answering" => Doing::Answering,
            "unseen" => Doing::Unseen,
            "asking" => Doing::Asking,
            "running" => Doing::Running(what),
            "own" => Doing::Own(what.concat()),
            _ => return Err(doing.error("a stage that this version knows")),
        },
    })
}

fn exit_code(field: &Field<'_>) -> Result<i32, FieldError> {
    let number = field.value().as_number().and_then(|number| number.as_i64());
    let exit = number.and_then(|number| i32::try_from(number).ok());
    exit.ok_or_else(|| field.error("an exit code"))
}

fn duration(field: &Field<'_>, key: &str) -> Result<Duration, FieldError> {
    Ok(Duration::from_nanos(field.member(key)?.u64()?))
}
