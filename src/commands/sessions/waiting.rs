//! `zcoder sessions waiting ID`: what was said in a session while a turn ran and was not delivered, or not run, before zcoder ended.
//!
//! ```text
//! $ zcoder sessions waiting 2026
//! a2  message  and the docs
//! a3  command  make test
//! $ zcoder sessions waiting 2026 --drop a3
//! ```
//!
//! Refused: an id under which nothing waits; dropping in a session that is at work.
//!
//! Invariant: nothing is delivered or run from here.
//!
//! Read next: `engine/queue.rs`.

use super::change::at_work;
use super::{Here, failed, one, one_line, put};
use crate::config::{Id, Typed, UsageError};
use crate::engine;
use crate::headless::out::{complain, exit, note, with_stdout};
use crate::protocol::{Pending, Way};
use crate::session::{Log, OpenError, Record};
use crate::text;
use std::ffi::OsString;

/// In place of an id: all of them.
const ALL: &str = "all";

pub(super) fn waiting(here: &Here, typed: &Typed, words: &[OsString]) -> Result<u8, UsageError> {
    let (store, id) = here.named(one(typed, words)?)?;
    let drops = typed.get(Id::Drop).map(|given| given.text()).transpose()?;
    if drops.is_some() && at_work(store, &id) {
        return Ok(exit::FAILED);
    }
    let mut log = match store.open(&id) {
        Ok(opened) => opened.log,
        Err(error) => return Ok(failed(&error)),
    };
    let mut pending = engine::waiting(log.records());
    let Some(drops) = drops else {
        if pending.is_empty() {
            note(&format!("nothing waits in session {}", id.0));
        }
        return Ok(list(&pending));
    };
    pending.retain(|one| drops == ALL || drops == one.id);
    if pending.is_empty() {
        complain(&format!(
            "nothing waits in session {} under `{}`; `zcoder sessions waiting {0}` lists what does",
            id.0,
            text::line(drops)
        ));
        return Ok(exit::FAILED);
    }
    Ok(match drop_all(&mut log, &pending) {
        Ok(()) => exit::DONE,
        Err(error) => failed(&error),
    })
}

fn list(pending: &[Pending]) -> u8 {
    with_stdout(|out| {
        for one in pending {
            let what = match one.way {
                Way::Steer | Way::Queue => "message",
                Way::Shell { .. } => "command",
            };
            let (id, text) = (one_line(&one.id), one_line(&one.text));
            put(out, &format!("{id}  {what}  {text}\n"))?;
        }
        Ok(exit::DONE)
    })
}

fn drop_all(log: &mut Log, pending: &[Pending]) -> Result<(), OpenError> {
    for one in pending {
        let (id, consumed) = (one.id.clone(), false);
        log.append(Record::Settled { id, consumed });
    }
    log.commit().map_err(OpenError::Commit)
}
