//! Sessions renamed, removed, and begun anew from an earlier request.
//!
//! ```text
//! rename ID TITLE        one more record
//! delete ID…             listed; --yes removes them, with what undo keeps of them
//! prune --older 30d      the same for all that are older; damaged ones stay
//! fork ID --at 3         a new session that ends before request 3, whose text is printed for editing;
//!                        --undo takes back what requests 3, 4, … changed in files, after a listing
//! ```
//!
//! Refused: a session that is at work, but for a fork of it; a request that it does not have.
//!
//! Invariant: a fork changes nothing of the session that it comes from.

use super::{Here, failed, one, row, said_yes, wrong};
use crate::commands::{session, undo};
use crate::config::{Id, Typed, UsageError, utf8};
use crate::headless::out::{complain, exit, note, with_stdout};
use crate::protocol::TurnId;
use crate::session::{Listed, Request, SessionId, Store};
use crate::text::counted;
use std::ffi::OsString;
use std::io::Write;
use std::time::{Duration, SystemTime};

/// What nobody ever asked anything in goes after this time.
const HIDDEN: Duration = Duration::from_secs(7 * 24 * 3600);

pub(super) fn rename(here: &Here, typed: &Typed, words: &[OsString]) -> Result<u8, UsageError> {
    let [id, title] = words else {
        return Err(wrong(typed, words.get(2)));
    };
    let title = utf8(title, "the title")?;
    let (store, id) = here.named(id)?;
    if title.trim().is_empty() {
        complain("a title needs words");
        return Ok(exit::USAGE);
    }
    if at_work(store, &id) {
        return Ok(exit::FAILED);
    }
    Ok(match store.rename(&id, title) {
        Ok(()) => exit::DONE,
        Err(error) => failed(&error),
    })
}

pub(super) fn delete(here: &Here, typed: &Typed, words: &[OsString]) -> Result<u8, UsageError> {
    if words.is_empty() {
        return Err(wrong(typed, None));
    }
    let mut ids = Vec::new();
    for word in words {
        let (_, id) = here.named(word)?;
        if !ids.contains(&id) {
            ids.push(id);
        }
    }
    let store = here.store()?;
    let mut all = session::list(store)?;
    all.retain(|listed| ids.contains(&listed.id));
    if all.iter().any(|listed| at_work(store, &listed.id)) {
        return Ok(exit::FAILED);
    }
    Ok(remove(here, store, typed, &all, "delete"))
}

pub(super) fn prune(here: &Here, typed: &Typed, words: &[OsString]) -> Result<u8, UsageError> {
    if let Some(extra) = words.first() {
        return Err(wrong(typed, Some(extra)));
    }
    let Some(given) = typed.get(Id::Older) else {
        return Err(UsageError::MissingValue {
            flag: "--older",
            value: "AGE".to_string(),
        });
    };
    let older = age(given.text()?);
    let older = older.ok_or_else(|| given.bad("an age: 30d, 12h or 4w"))?;
    let now = SystemTime::now();
    let is_older = |listed: &Listed| {
        let age = now.duration_since(listed.last).unwrap_or_default();
        age > older || !listed.prompted && age > HIDDEN
    };
    let store = here.store()?;
    let mut all = session::list(store)?;
    let damaged = all.iter().filter(|listed| listed.damaged).count();
    if damaged > 0 {
        let are = if damaged == 1 { "is" } else { "are" };
        let damaged = counted(damaged as u64, "damaged session");
        note(&format!(
            "zcoder: {damaged} {are} left out; `zcoder sessions delete ID` removes one"
        ));
    }
    all.retain(|listed| is_older(listed) && !listed.damaged && !at_work(store, &listed.id));
    let code = remove(here, store, typed, &all, "prune");
    if let (exit::DONE, true) = (code, said_yes(typed)) {
        // What kills have left of sessions that were being made or deleted.
        let before = now
            .checked_sub(older.max(HIDDEN))
            .unwrap_or(SystemTime::UNIX_EPOCH);
        if let Err(error) = store.sweep(before) {
            complain(&format!(
                "what earlier runs left could not be removed: {error}"
            ));
            return Ok(exit::FAILED);
        }
    }
    Ok(code)
}

/// `30d`
fn age(text: &str) -> Option<Duration> {
    let (number, unit) = text.split_at(text.len().checked_sub(1)?);
    let hours = match unit {
        "h" => 1,
        "d" => 24,
        "w" => 7 * 24,
        _ => return None,
    };
    if number.is_empty() || !number.bytes().all(|byte| byte.is_ascii_digit()) {
        return None;
    }
    let hours = number.parse::<u64>().ok()?.checked_mul(hours)?;
    Some(Duration::from_secs(hours.checked_mul(3600)?))
}

/// Says so if somebody works in it.
pub(super) fn at_work(store: &Store, id: &SessionId) -> bool {
    let at_work = store.is_open(id);
    if at_work {
        complain(&format!(
            "session {} is at work in another zcoder; it stays as it is",
            id.0
        ));
    }
    at_work
}

/// Lists sessions and, told so, removes them.
fn remove(here: &Here, store: &Store, typed: &Typed, all: &[Listed], verb: &str) -> u8 {
    if all.is_empty() {
        note("there is nothing to remove");
        return exit::DONE;
    }
    let listing: String = all.iter().map(row).collect();
    let listed = say(&listing);
    if listed != exit::DONE {
        return listed;
    }
    if !said_yes(typed) {
        note(&format!(
            "nothing was removed; `zcoder sessions {verb} … --yes` removes these"
        ));
        return exit::DONE;
    }
    let mut code = exit::DONE;
    for listed in all {
        if let Err(error) = store.delete(&listed.id) {
            code = failed(&error);
            continue;
        }
        let journal = here
            .journals
            .as_ref()
            .map(|journals| journals.forget(&listed.id.0));
        if let Some(Err(error)) = journal {
            complain(&format!(
                "what undo keeps of session {} stays: {error}",
                listed.id.0
            ));
            code = exit::FAILED;
        }
    }
    if code == exit::DONE {
        note("removed");
    }
    code
}

pub(super) fn fork(here: &Here, typed: &Typed, words: &[OsString]) -> Result<u8, UsageError> {
    let number = match typed.get(Id::At) {
        Some(given) => {
            let number = given
                .text()?
                .parse::<u64>()
                .ok()
                .filter(|number| *number > 0);
            Some(number.ok_or_else(|| {
                given.bad("the number of a request, as `zcoder sessions show` prints it")
            })?)
        }
        None => None,
    };
    if let (Some(given), None) = (typed.get(Id::Undo), number) {
        let (flag, needs) = (given.source, "--at");
        return Err(UsageError::Needs { flag, needs });
    }
    let (store, id) = here.named(one(typed, words)?)?;
    let request = match number {
        None => None,
        Some(number) => match request(store, &id, Some(TurnId(number))) {
            Ok(Ok(request)) => Some(request),
            Ok(Err(TurnId(last))) => {
                let has = match last {
                    0 => "it has none".to_string(),
                    last => format!("it has {last}"),
                };
                complain(&format!("session {} has no request {number}; {has}", id.0));
                return Ok(exit::FAILED);
            }
            Err(code) => return Ok(code),
        },
    };
    if let (true, Some(number)) = (typed.is_on(Id::Undo), number) {
        let code = undo::Session::of(typed, &id.0)?.take_back(typed, number);
        if code != exit::DONE {
            return Ok(code);
        }
    }
    let opened = match &request {
        Some(request) => store.before(&id, request),
        None => store.fork(&id, None),
    };
    let mut opened = match opened {
        Ok(opened) => opened,
        Err(error) => return Ok(failed(&error)),
    };
    for notice in &opened.notices {
        note(&format!("zcoder: {notice}"));
    }
    if let Err(error) = opened.log.commit() {
        complain(&error.to_string());
        return Ok(exit::FAILED);
    }
    let new = &opened.log.id().0;
    let where_it_ends = number.map(|number| format!(", before its request {number}"));
    note(&format!(
        "session {new} begins as {}{}; `zcoder --resume {new} -p TEXT` goes on with it",
        id.0,
        where_it_ends.unwrap_or_default()
    ));
    let mut out = format!("{new}\n");
    if let Some(Request { text, .. }) = request {
        out.push_str(&text);
        if !text.ends_with('\n') {
            out.push('\n');
        }
    }
    Ok(say(&out))
}

/// A request of a session, or the number of its last turn. What cannot be read is told; the exit code.
pub(in crate::commands) fn request(
    store: &Store,
    id: &SessionId,
    turn: Option<TurnId>,
) -> Result<Result<Request, TurnId>, u8> {
    let mut forward = store.forward(id).map_err(|error| failed(&error))?;
    Request::find(&mut forward, turn).map_err(|error| super::unreadable(id, &error))
}

fn say(text: &str) -> u8 {
    with_stdout(|out| {
        super::put(out, text)?;
        out.flush()?;
        Ok(exit::DONE)
    })
}
