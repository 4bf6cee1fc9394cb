//! Which session is meant: an id, or the beginning of one, becomes a session of this folder; `--resume` and `--continue` open it.
//!
//! ```text
//! 20260821-090000123-x1y2z3a4      that one
//! 20260821-09                      the only one that begins so; with several the newest are named
//! --continue                       the one that was at work last
//! --continue, /retry               a new one that begins as that one did before its last request
//! ```
//!
//! Refused, with the next step: no session here, none that begins so (another folder's is told with that folder), several that do; one
//! that cannot be opened; to go on where no folder is for sessions.
//!
//! Invariant: what damage was found is told before anything is made of the session.
//!
//! Read next: `session::Store`, `run.rs`.

use super::retry::{Again, Retry};
use super::scope::Scope;
use crate::config::{Id, Settings, Source, UsageError};
use crate::headless::out::note;
use crate::model::{self, Think};
use crate::policy::Profile;
use crate::session::{Listed, Log, Opened, Record, Request, SessionId, Store, ToolStyle};
use crate::sys::random;
use crate::text;
use std::io;
use std::path::{Path, PathBuf};

/// Sessions named when several begin alike.
const NAMED: usize = 5;

/// Where a run is kept, and the session that it goes on with.
#[derive(Debug)]
pub(super) struct Kept {
    /// `None`: nowhere.
    store: Option<Store>,
    log: Option<Log>,
}

impl Kept {
    /// As the command line and the settings have it; what is as it was in the session goes into the settings. A session that is to go
    /// on is kept, whatever a variable or a file says. With a retry one that begins anew, before the request that is found.
    pub(super) fn find(
        scope: &Scope,
        settings: &mut Settings,
        retry: Option<Retry>,
    ) -> Result<(Kept, Option<Again>), UsageError> {
        let typed = &scope.typed;
        let ephemeral = typed.get(Id::Ephemeral);
        let ephemeral = ephemeral.filter(|given| matches!(given.source, Source::Flag(_)));
        let [last, id] = [Id::Continue, Id::Resume].map(|id| typed.get(id));
        let mut given = [ephemeral, last, id].into_iter().flatten();
        if let (Some(one), Some(other)) = (given.next(), given.next()) {
            return Err(UsageError::Conflict {
                one: one.source,
                other: other.source,
            });
        }
        let goes_on = last.is_some() || id.is_some();
        if let (false, Some(_)) = (goes_on, retry) {
            let cause = "`/retry` sends the last request of a session again: name the session with --resume, or take the last one with \
                         --continue";
            let cause = cause.to_string();
            return Err(UsageError::Slash { cause });
        }
        if !goes_on && (settings.ephemeral || settings.preview) {
            let (store, log) = (None, None);
            return Ok((Kept { store, log }, None));
        }
        let store = store(scope, goes_on);
        if goes_on && store.is_none() {
            return Err(UsageError::NoState);
        }
        let mut again = None;
        let log = match &store {
            Some(store) if goes_on => {
                let id = match id {
                    Some(id) => pick(store, id.text()?)?,
                    None => last_one(store)?,
                };
                let log = match retry {
                    None => open(store, &id)?,
                    Some(retry) => {
                        let (log, found) = begin_anew(store, id, retry)?;
                        again = Some(found);
                        log
                    }
                };
                as_before(&log, &mut settings.server.options);
                Some(log)
            }
            Some(_) | None => None,
        };
        Ok((Kept { store, log }, again))
    }

    /// The folder with the sessions of the workspace; `None`: this run is kept nowhere.
    pub(super) fn sessions(&self) -> Option<&Path> {
        self.store.as_ref().map(Store::folder)
    }

    /// The log, the folder for outputs of commands, and whether that goes with the run. The error is the system's (no randomness).
    pub(super) fn begin(self, profile: Profile, temp: &Path) -> io::Result<(Log, PathBuf, bool)> {
        let Some(store) = self.store else {
            let outputs = temp.join(format!("zcoder-{}", random::id(12)?));
            return Ok((Log::in_memory()?, outputs, true));
        };
        let log = match self.log {
            Some(log) => log,
            None => store.begin(profile)?,
        };
        let outputs = store.folder().join(&log.id().0).join("output");
        Ok((log, outputs, false))
    }
}

/// Where the sessions of this folder lie.
fn store(scope: &Scope, goes_on: bool) -> Option<Store> {
    let state = scope.paths.state.as_ref();
    if state.is_none() && !goes_on {
        note(
            "zcoder: this session is kept nowhere: none of HOME, XDG_STATE_HOME and ZCODER_HOME names a folder for it \
             (--ephemeral does without one)",
        );
    }
    Some(Store::new(state?, scope.root()))
}

/// The session whose id begins so.
pub(super) fn pick(store: &Store, given: &str) -> Result<SessionId, UsageError> {
    let all = list(store)?;
    let ids: Vec<&str> = all.iter().map(|listed| listed.id.0.as_str()).collect();
    match among(&ids, given)? {
        Some(id) => Ok(SessionId(id.to_string())),
        None => Err(refused(given, none(store, given))),
    }
}

/// The id that begins so; several are refused.
pub(super) fn among<'i>(ids: &[&'i str], given: &str) -> Result<Option<&'i str>, UsageError> {
    if let Some(exact) = ids.iter().find(|id| **id == given) {
        return Ok(Some(exact));
    }
    let like = ids
        .iter()
        .filter(|id| !given.is_empty() && id.starts_with(given));
    let like: Vec<&str> = like.copied().collect();
    match like[..] {
        [] => Ok(None),
        [one] => Ok(Some(one)),
        _ => {
            let more = match like.len() > NAMED {
                true => " and others",
                false => "",
            };
            let named = like[..like.len().min(NAMED)].join(", ");
            Err(refused(given, format!("several begin so: {named}{more}")))
        }
    }
}

/// Why no session of this folder is meant, and whose it is if it is another one's.
fn none(store: &Store, given: &str) -> String {
    let none = "this folder has none whose id begins so";
    match store.elsewhere(given) {
        None => none.to_string(),
        Some((id, workspace)) => format!(
            "{none}; {} is one of `{}`: go there, or name that folder with --workspace",
            id.0,
            text::line(&workspace)
        ),
    }
}

/// The session that was at work last.
fn last_one(store: &Store) -> Result<SessionId, UsageError> {
    let all = list(store)?;
    let last = all.into_iter().find(|listed| listed.prompted);
    last.map(|listed| listed.id).ok_or(UsageError::NoSession)
}

/// All of this folder, the one that was at work last first.
pub(super) fn list(store: &Store) -> Result<Vec<Listed>, UsageError> {
    let listed = store.list();
    listed.map_err(|error| UsageError::Unlisted {
        folder: store.folder().display().to_string(),
        cause: error.to_string(),
    })
}

fn refused(given: &str, cause: String) -> UsageError {
    UsageError::Session {
        given: given.to_string(),
        cause,
    }
}

/// Opens it to go on with, and tells what there is to tell.
fn open(store: &Store, id: &SessionId) -> Result<Log, UsageError> {
    let at_work = store.is_open(id);
    if at_work {
        note(&format!(
            "zcoder: another zcoder is at work in session {}: what it does from now on is not seen here, and whoever keeps something \
             second gets a session of its own",
            id.0
        ));
    }
    let opened = store.open(id);
    let Opened {
        log,
        notices,
        interrupted,
    } = opened.map_err(|error| refused(&id.0, error.to_string()))?;
    for notice in notices {
        note(&format!("zcoder: {notice}"));
    }
    // A turn that still runs there was not interrupted.
    if let Some(interrupted) = interrupted.filter(|_| !at_work) {
        note(&format!(
            "zcoder: {interrupted}; the new request goes on from there"
        ));
    }
    Ok(log)
}

/// A session that begins as this one did before its last request.
fn begin_anew(store: &Store, id: SessionId, retry: Retry) -> Result<(Log, Again), UsageError> {
    let failed = |error: String| refused(&id.0, error);
    let forward = store.forward(&id);
    let mut forward = forward.map_err(|error| failed(error.to_string()))?;
    let found = Request::find(&mut forward, None);
    let found = found.map_err(|error| failed(format!("it cannot be read to its end: {error}")))?;
    let Ok(request) = found else {
        let cause = format!("nothing to send again: session {} has no request", id.0);
        return Err(UsageError::Slash { cause });
    };
    let opened = store.before(&id, &request);
    let Opened { log, notices, .. } = opened.map_err(|error| failed(error.to_string()))?;
    for notice in notices {
        note(&format!("zcoder: {notice}"));
    }
    let again = Again {
        retry,
        of: id,
        request,
        to: log.id().clone(),
    };
    Ok((log, again))
}

/// What the user did not set now stays as it was in the session, so that its next request begins like its last one.
fn as_before(log: &Log, options: &mut model::Options) {
    let mut records = log.records().iter().rev();
    let last = records.find_map(|record| match record {
        Record::Model(model) => Some(model),
        _ => None,
    });
    let Some(last) = last else {
        return;
    };
    let name = &last.name;
    let other = options.model.as_ref();
    let other = other.is_some_and(|(model, _)| model != name);
    options.last_used = Some(name.clone());
    // Another model has a window and habits of its own.
    if other {
        return;
    }
    options.num_ctx = options.num_ctx.or(Some(last.window));
    if (options.tool_style, last.tool_style) == (model::ToolStyle::Auto, ToolStyle::Text) {
        options.tool_style = model::ToolStyle::Text;
    }
    let think = last.think.as_deref().and_then(Think::from_json);
    options.think = options.think.or(think);
}
