//! What happened goes to the disk before anything is made of it. The turn calls `save` at each point from which there is no way back; `Event::Saved`
//! tells how far a crash can no longer reach.
//!
//! ```text
//! Title, TurnStarted, User …   save     then the request leaves, or the one for a checkpoint
//! Assistant with calls         save     then they are taken up
//! Decision                     save     then the command runs
//! Edit                         save     then the file is replaced
//! Tool                         save     then its result is told
//! Assistant, Receipt           save     then the turn has ended
//! ```
//!
//! A new session that cannot be made (a read-only disk) is said once and kept in memory.
//!
//! Refused: to go on when a commit failed. The turn ends before the step, the records stay in memory, and the end of the turn tries once
//! more. What a session cannot take because somebody else went on with it, or holds it, becomes a fork, whose id is told.
//!
//! Invariant: what was told by `Saved` is there when the session is opened again, whatever happens to this process.
//!
//! Read next: `session::Log::commit`.
use super::decide::TurnEnd;
use super::turn::{Engine, Flow};
use crate::protocol::{Event, Level, Message, Receipt, Status, TurnId};
use crate::session::{CommitError, Log, Record};
use crate::text;

/// Characters of the first request that make a title.
const TITLE_CHARS: usize = 60;

impl Engine {
    /// What is on record goes to the disk. `Err`: nothing may be made of it.
    pub(super) fn save(&mut self) -> Flow<()> {
        self.keep()
            .map_err(|reason| TurnEnd::new(Status::NotSaved { reason }))
    }

    /// The same outside a turn. The error is for a person.
    pub(super) fn keep(&mut self) -> Result<(), String> {
        let Some(log) = self.log() else {
            return Ok(());
        };
        let told = commit(log).map_err(|error| error.to_string())?;
        told.into_iter().for_each(|event| self.emit(event));
        Ok(())
    }

    /// The log, before the first prompt and after.
    pub(super) fn log(&mut self) -> Option<&mut Log> {
        match &mut self.conversation {
            Some(conversation) => Some(&mut conversation.log),
            None => self.fresh_log.as_mut(),
        }
    }

    /// A turn begins on record. A session is called after its first request.
    pub(super) fn record_request(&mut self, turn: TurnId, request: Message) {
        let Some(conversation) = &mut self.conversation else {
            return;
        };
        let log = &mut conversation.log;
        if log.title().is_none() {
            let text = title(&request);
            log.append(Record::Title { text });
        }
        log.begin_turn(turn, self.author.clone());
        conversation.append(request);
        self.on_record = Some(turn);
    }

    /// The turn has ended; its last reply, if that made no calls, comes to the disk with the receipt. A request that never got on record has
    /// no end there either. `Err`: what is on record is not safe.
    pub(super) fn record_receipt(&mut self, turn: TurnId, receipt: Receipt) -> Result<(), String> {
        if self.on_record != Some(turn) {
            return Ok(());
        }
        self.record(Record::Receipt { turn, receipt });
        let Some(log) = self.log() else {
            return Ok(());
        };
        let told = commit(log).or_else(|error| beside(log, error))?;
        told.into_iter().for_each(|event| self.emit(event));
        self.tell_consumed();
        Ok(())
    }
}

/// The way out where somebody else is at work: what the session on the disk does not take becomes one of its own.
fn beside(log: &mut Log, error: CommitError) -> Result<Vec<Event>, String> {
    match &error {
        CommitError::Conflict(_) | CommitError::Busy { .. } | CommitError::Owned { .. } => {}
        CommitError::TooLong { .. } | CommitError::Io { .. } => return Err(error.to_string()),
    }
    log.fork()
        .map_err(|failed| format!("{error}; no id for a fork: {failed}"))?;
    let mut told = commit(log).map_err(|failed| format!("{error}; and as a fork: {failed}"))?;
    told.push(Event::Notice {
        level: Level::Warning,
        text: format!(
            "what could not be saved is kept as a session of its own, with all that was before: --resume {} goes on with it",
            log.id().0
        ),
    });
    Ok(told)
}

/// Commits. What to tell: how much is safe now, if that is news, and what went wrong without harm.
pub(super) fn commit(log: &mut Log) -> Result<Vec<Event>, CommitError> {
    let before = log.saved();
    let mut told = Vec::new();
    match log.commit() {
        Ok(()) => {}
        // The new pointer has its name, so the records count; only the last sync failed, and the next commit repeats it.
        Err(error) if before < log.saved() => told.push(Event::Notice {
            level: Level::Warning,
            text: error.to_string(),
        }),
        // A place where nothing can be kept at all must not keep anybody from working there.
        Err(CommitError::Io { what, path, error }) if log.folder().is_none() => {
            log.keep_in_memory();
            let path = path.display();
            told.push(Event::Notice {
                level: Level::Warning,
                text: format!(
                    "this session is kept nowhere and ends with zcoder: cannot {what} `{path}`: {error} (--ephemeral does so without a word)"
                ),
            });
        }
        Err(error) => return Err(error),
    }
    if let Some(head) = log.head().filter(|_| before < log.saved()) {
        told.push(Event::Saved {
            session: log.id().0.clone(),
            records: log.saved() as u64,
            head,
        });
    }
    Ok(told)
}

/// The first line of it that says something.
fn title(request: &Message) -> String {
    let text = match request {
        Message::User { text } => text.as_str(),
        Message::System { .. }
        | Message::Note { .. }
        | Message::Assistant { .. }
        | Message::Tool { .. } => "",
    };
    titled(text)
}

/// What a session is called that begins with this text.
pub(super) fn titled(text: &str) -> String {
    let line = text.lines().map(str::trim).find(|line| !line.is_empty());
    text::clip(&text::line(line.unwrap_or("untitled")), TITLE_CHARS).into_owned()
}
