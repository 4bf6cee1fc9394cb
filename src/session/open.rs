//! A session as it is taken up again: all its records, what is to be said about them, and where it stopped. `store.rs` asks for it.
//!
//! ```text
//! pieces, newest first        records, numbered
//! Good 41, Good 40            40, 41
//! Bad 120 bytes               38 Lost { 120 bytes }, 39 Lost        two numbers are missing, so two records are lost
//! Good 37                     37
//! ```
//!
//! What the model is shown stays valid whatever is lost: a call whose result is lost gets one that says so, in a place of a lost record; a
//! result whose call is lost counts as lost too. A call at the end without a result was running when the program ended: it gets the result
//! "interrupted, effects unknown" and is never run again.
//!
//! After damage of the log that `current` names the next commit opens a new one, whose first record tells length and hash of what was left
//! behind. Nothing of the old one is ever changed.
//!
//! Refused: a session of which no record can be read, or with more than [`MAX_LOST`] numbers missing.
//!
//! Invariant: a record's sequence number is its index, lost ones included.
//!
//! Read next: `back.rs`.

use super::SessionId;
use super::back::{Back, Bad, Piece};
use super::commit::Place;
use super::disk::Disk;
use super::line::{Envelope, MAX_LINE_BYTES};
use super::log::Log;
use super::notice::{Interrupted, Notice, OpenError};
use super::pointer::{Pointer, log_name};
use super::record::{Hash, Record};
use crate::protocol::{CallId, Cut, Doing, Message, ToolCall};
use crate::sha256::Sha256;
use crate::sys::file;
use std::collections::VecDeque;
use std::io::{self, Read};
use std::path::Path;
use std::time::SystemTime;

/// A hole of more records is no damage that a disk makes.
pub const MAX_LOST: u64 = 1_000_000;

/// A session that was opened.
#[derive(Debug)]
pub struct Opened {
    /// To go on with.
    pub log: Log,
    /// What a person must be told.
    pub notices: Vec<Notice>,
    /// Where its last turn stopped, if it did not end.
    pub interrupted: Option<Interrupted>,
}

/// All records of a session.
pub(super) struct Loaded {
    pub(super) records: Vec<Record>,
    pub(super) times: Vec<SystemTime>,
    pub(super) notices: Vec<Notice>,
}

/// Reads all of a session and makes it ready to go on.
pub(super) fn open(disk: &Disk, folder: &Path, id: SessionId) -> Result<Opened, OpenError> {
    let io = |what, error| OpenError::of(what, folder, &id, error);
    let mut back = Back::begin(disk, folder, MAX_LINE_BYTES).map_err(|error| io("read", error))?;
    // The pointer that was read just now, or the session itself, must not vanish once something is built on it: whoever named it may have
    // been killed before the last sync.
    for folder in folder.ancestors().take(2) {
        disk.sync_folder(folder)
            .map_err(|error| io("sync", error))?;
    }
    let loaded = load(&mut back, folder, &id)?;
    let gap = match back.damaged {
        true => Some(gap(folder, &mut back).map_err(|error| io("read", error))?),
        false => None,
    };
    if back.lost {
        // Each commit has added a record at least, so no generation was higher.
        back.pointer.generation = loaded.records.len() as u64;
    }
    let next_log = gap.as_ref().map(|(_, next)| *next);
    let found = back.found.take();
    let place = Place::loaded(disk, folder, found, back.pointer, back.last_bytes, next_log);
    let interrupted = interrupted(&loaded.records, &loaded.times);
    let mut log = Log::loaded(id, loaded.records, loaded.times, place);
    if let Some((gap, _)) = gap {
        log.append(gap);
    }
    let mut notices = loaded.notices;
    for result in unanswered(log.records()) {
        if let Message::Tool { name, .. } = &result {
            notices.push(Notice::Unanswered { name: name.clone() });
        }
        log.append(Record::Message(result));
    }
    Ok(Opened {
        log,
        notices,
        interrupted,
    })
}

/// All records of the walk, oldest first.
pub(super) fn load(back: &mut Back, folder: &Path, id: &SessionId) -> Result<Loaded, OpenError> {
    let hopeless = || OpenError::Hopeless {
        folder: folder.to_path_buf(),
    };
    // Newest first, until all is read.
    let mut loaded = Loaded {
        records: Vec::new(),
        times: Vec::new(),
        notices: Vec::new(),
    };
    let mut bad = Vec::new();
    // Number and time of the record that was read last.
    let mut later = None;
    while let Some(piece) = back
        .next()
        .map_err(|error| OpenError::of("read", folder, id, error))?
    {
        let line = match piece {
            Piece::Bad(stretch) => {
                bad.push(stretch);
                continue;
            }
            Piece::Good(line) => line,
        };
        let Envelope { seq, at, .. } = line.envelope;
        match later {
            Some((later, lost_at)) => {
                let missing = u64::saturating_sub(later, seq + 1);
                if missing > MAX_LOST {
                    return Err(hopeless());
                }
                lose(&mut loaded, &mut bad, missing, lost_at, false);
            }
            // How many there were nobody knows: one stands for all.
            None => lose(&mut loaded, &mut bad, 1, at, true),
        }
        if let Some(error) = line.odd {
            loaded.notices.push(Notice::Odd { seq, error });
        }
        loaded.records.push(line.record);
        loaded.times.push(at);
        later = Some((seq, at));
    }
    let (first, at) = later.ok_or_else(hopeless)?;
    if first > MAX_LOST {
        return Err(hopeless());
    }
    lose(&mut loaded, &mut bad, first, at, false);
    if back.lost {
        loaded.notices.push(Notice::NoPointer);
    }
    loaded.records.reverse();
    loaded.times.reverse();
    loaded.notices.reverse();
    let mut kinds: Vec<String> = Vec::new();
    for record in &loaded.records {
        match record {
            Record::Unknown { kind, .. } if !kinds.contains(kind) => kinds.push(kind.clone()),
            _ => {}
        }
    }
    if !kinds.is_empty() {
        loaded.notices.push(Notice::Unknown { kinds });
    }
    if loaded
        .notices
        .iter()
        .any(|notice| matches!(notice, Notice::Skipped { .. }))
    {
        mend(&mut loaded.records);
    }
    Ok(loaded)
}

/// Fills the numbers that are missing, and tells the stretch: what is bad since the record that was read last, newest first.
fn lose(loaded: &mut Loaded, bad: &mut Vec<Bad>, missing: u64, at: SystemTime, at_end: bool) {
    let bytes = bad.iter().map(|bad| bad.bytes).sum();
    let Some(Bad { log, offset, .. }) = bad.drain(..).next_back() else {
        return;
    };
    for index in (0..missing).rev() {
        loaded.records.push(Record::Lost {
            log: log.clone(),
            offset,
            bytes: if index == 0 { bytes } else { 0 },
        });
        loaded.times.push(at);
    }
    loaded.notices.push(Notice::Skipped {
        log,
        offset,
        bytes,
        records: missing,
        at_end,
    });
}

/// Keeps calls and results together where records are lost.
fn mend(records: &mut [Record]) {
    let mut open: VecDeque<(CallId, String)> = VecDeque::new();
    let mut lost: VecDeque<usize> = VecDeque::new();
    for index in 0..records.len() {
        match &records[index] {
            Record::Lost { .. } => lost.push_back(index),
            Record::Message(Message::Tool { call, .. }) => {
                match open.iter().position(|(id, _)| id == call) {
                    Some(at) => {
                        // The results of those before it stood in what is lost.
                        for (call, name) in open.drain(..=at).take(at) {
                            if let Some(slot) = lost.pop_front() {
                                records[slot] = Record::Message(lost_result(call, name));
                            }
                        }
                    }
                    None => {
                        records[index] = Record::Lost {
                            log: String::new(),
                            offset: 0,
                            bytes: 0,
                        }
                    }
                }
            }
            Record::Message(message) => {
                let calls = calls(message);
                for (call, name) in open.drain(..) {
                    if let Some(slot) = lost.pop_front() {
                        records[slot] = Record::Message(lost_result(call, name));
                    }
                }
                lost.clear();
                open.extend(calls);
            }
            Record::Session(_)
            | Record::Title { .. }
            | Record::Model(_)
            | Record::TurnStarted { .. }
            | Record::Decision { .. }
            | Record::Edit(_)
            | Record::Receipt { .. }
            | Record::Checkpoint(_)
            | Record::Goal(_)
            | Record::Accepted(_)
            | Record::Settled { .. }
            | Record::Shell { .. }
            | Record::Gap { .. }
            | Record::Unknown { .. } => {}
        }
    }
}

fn calls(message: &Message) -> Vec<(CallId, String)> {
    match message {
        Message::Assistant { calls, .. } => {
            let call = |call: &ToolCall| (call.id.clone(), call.name.clone());
            calls.iter().map(call).collect()
        }
        Message::System { .. }
        | Message::User { .. }
        | Message::Note { .. }
        | Message::Tool { .. } => Vec::new(),
    }
}

fn lost_result(call: CallId, name: String) -> Message {
    let text = "the result was lost when the session's file was damaged, effects unknown; look at what is there before you do it again";
    let text = text.to_string();
    Message::Tool { call, name, text }
}

/// A result for each call at the end that has none.
pub(super) fn unanswered(records: &[Record]) -> Vec<Message> {
    let mut answered = Vec::new();
    for message in records.iter().rev().filter_map(Record::message) {
        match message {
            Message::Tool { call, .. } => answered.push(call),
            Message::Assistant { .. }
            | Message::System { .. }
            | Message::User { .. }
            | Message::Note { .. } => {
                let open = calls(message).into_iter();
                let open = open.filter(|(call, _)| !answered.contains(&call));
                return open.map(interrupted_result).collect();
            }
        }
    }
    Vec::new()
}

fn interrupted_result((call, name): (CallId, String)) -> Message {
    let text = "interrupted, effects unknown: zcoder ended before the result was on record; look at what is there before you do it again";
    let text = text.to_string();
    Message::Tool { call, name, text }
}

/// The last turn, if it was cut off: what its receipt says, or, where there is none, what can be told from the last record.
fn interrupted(records: &[Record], times: &[SystemTime]) -> Option<Interrupted> {
    let is_edge =
        |record: &Record| matches!(record, Record::TurnStarted { .. } | Record::Receipt { .. });
    let begun = records.iter().rposition(is_edge)?;
    let turn = match &records[begun] {
        Record::TurnStarted { turn, .. } => *turn,
        Record::Receipt { turn, receipt } => {
            let Cut { by, doing } = *receipt.cut.clone()?;
            return Some(Interrupted {
                turn: *turn,
                at: *times.get(begun)?,
                by: Some(by),
                doing,
            });
        }
        _ => return None,
    };
    let doing = |record: &Record| match record {
        Record::Shell { command, .. } => Some(Doing::Own(command.clone())),
        Record::Message(message @ Message::Assistant { .. }) => {
            let names = calls(message).into_iter().map(|(_, name)| name);
            Some(Doing::Running(names.collect()))
        }
        Record::Message(_) => Some(Doing::Unseen),
        _ => None,
    };
    let doing = records[begun..].iter().rev().find_map(doing);
    let doing = doing.unwrap_or(Doing::Unseen);
    Some(Interrupted {
        turn,
        at: times.last().copied()?,
        by: None,
        doing,
    })
}

/// What the new log says of the damaged one, and its number.
fn gap(folder: &Path, back: &mut Back) -> io::Result<(Record, u64)> {
    let Pointer {
        log: number,
        length,
        ..
    } = back.pointer;
    let log = log_name(number);
    let path = folder.join(&log);
    let (length, hash) = match file::open_regular(&path) {
        Ok(file) => hash_of(file.take(length))?,
        Err(error) if error.kind() == io::ErrorKind::NotFound => hash_of(io::empty())?,
        Err(error) => return Err(error),
    };
    Ok((Record::Gap { log, length, hash }, number + 1))
}

/// Bytes and hash of what can be read.
fn hash_of(mut from: impl Read) -> io::Result<(u64, Hash)> {
    let mut buffer = vec![0; 256 << 10];
    let (mut length, mut hasher) = (0, Sha256::new());
    loop {
        let read = match from.read(&mut buffer) {
            Ok(0) => return Ok((length, hasher.finish())),
            Ok(read) => read,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
            Err(error) => return Err(error),
        };
        hasher.feed(&buffer[..read]);
        length += read as u64;
    }
}
