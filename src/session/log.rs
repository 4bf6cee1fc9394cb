//! The log of a session in memory: the engine appends to it, and commits before it acts on what it has appended. A log that was never
//! meant to be kept is the same thing without a place on the disk.
//!
//! ```text
//! append(Message(User))     seq 2, in memory
//! append(Message(User))     seq 3, in memory
//! commit()                  both are on the disk, or none of them and an error says why
//! ```
//!
//! Invariant: sequence numbers count from 0 without gaps; a record never changes after it was appended.
//! Invariant: after an error of `commit` nothing is lost here: what was unsaved still is, and can be committed again or kept as a fork.
//!
//! There is no limit on the number of records; each is bounded where it is made (replies by the model's limits, results by the tools').
//!
//! Read next: `commit.rs`; `view.rs`, what the model sees of it.

use super::SessionId;
use super::commit::{self, Place, Unsaved};
use super::disk::Disk;
use super::error::CommitError;
use super::lock;
use super::record::{Author, Header, Origin, Record};
use super::view::view;
use crate::policy::Profile;
use crate::protocol::{Message, TurnId};
use crate::sha256::hex;
use crate::sys::clock;
use crate::sys::file::Locked;
use std::path::{Path, PathBuf};
use std::time::SystemTime;
use std::{fs, io};

/// The log.
#[derive(Debug)]
pub struct Log {
    id: SessionId,
    title: Option<String>,
    records: Vec<Record>,
    /// When each was appended.
    times: Vec<SystemTime>,
    /// Index of the first record that is not on the disk.
    unsaved: usize,
    keep: Keep,
    /// While the session is kept and open.
    present: Option<Locked>,
}

/// Where a log goes.
#[derive(Debug)]
enum Keep {
    /// Nowhere.
    Memory,
    /// To a new session, made by the first commit.
    New {
        disk: Disk,
        /// The folder of the workspace's sessions.
        above: PathBuf,
    },
    /// To a session that is there.
    Kept(Place),
}

impl Log {
    /// A new, empty one with a fresh id, kept nowhere. Fails only when the system gives no randomness.
    pub fn in_memory() -> io::Result<Log> {
        let id = SessionId::new(SystemTime::now())?;
        Ok(Log::empty(id, Keep::Memory))
    }

    /// A new one, which its first commit puts into `above`.
    pub(super) fn new(disk: Disk, above: PathBuf, header: Header) -> Log {
        let mut log = Log::empty(header.id.clone(), Keep::New { disk, above });
        log.append(Record::Session(header));
        log
    }

    /// One that was read.
    pub(super) fn loaded(
        id: SessionId,
        records: Vec<Record>,
        times: Vec<SystemTime>,
        place: Place,
    ) -> Log {
        let title = title(&records).map(str::to_string);
        Log {
            title,
            unsaved: records.len(),
            records,
            times,
            present: lock::present(place.folder()),
            ..Log::empty(id, Keep::Kept(place))
        }
    }

    /// Takes the records of another one behind the header, in place of that one's header.
    pub(super) fn take(&mut self, mut records: Vec<Record>, mut times: Vec<SystemTime>) {
        self.title = title(&records).map(str::to_string);
        // The header changes places, and not the hundred thousand behind it.
        let (old, header) = (records.first_mut(), self.records.first_mut());
        let (then, now) = (times.first_mut(), self.times.first_mut());
        if let (Some(old), Some(header), Some(then), Some(now)) = (old, header, then, now) {
            (*old, *then) = (header.clone(), *now);
            (self.records, self.times) = (records, times);
        }
    }

    fn empty(id: SessionId, keep: Keep) -> Log {
        Log {
            id,
            title: None,
            records: Vec::new(),
            times: Vec::new(),
            unsaved: 0,
            keep,
            present: None,
        }
    }

    fn push(&mut self, record: Record) {
        match &record {
            Record::Title { text } => self.title = Some(text.clone()),
            // In a log whose beginning was not read this may be all that tells the title.
            Record::TurnStarted { title, .. } if self.title.is_none() => {
                self.title.clone_from(title)
            }
            _ => {}
        }
        self.records.push(record);
    }

    /// Its id.
    pub fn id(&self) -> &SessionId {
        &self.id
    }

    /// What the session is called.
    pub fn title(&self) -> Option<&str> {
        self.title.as_deref()
    }

    /// Its folder on the disk; `None` before the first commit, and for one that is kept nowhere.
    pub fn folder(&self) -> Option<&Path> {
        match &self.keep {
            Keep::Memory | Keep::New { .. } => None,
            Keep::Kept(place) => Some(place.folder()),
        }
    }

    /// How many commits it has seen; 0 before the first.
    pub fn generation(&self) -> u64 {
        match &self.keep {
            Keep::Memory | Keep::New { .. } => 0,
            Keep::Kept(place) => place.pointer().generation,
        }
    }

    /// Hash of the last committed record, in hex; `None` before the first commit.
    pub fn head(&self) -> Option<String> {
        match &self.keep {
            Keep::Memory | Keep::New { .. } => None,
            Keep::Kept(place) => Some(hex(&place.pointer().hash)),
        }
    }

    /// From now on it is kept nowhere.
    pub fn keep_in_memory(&mut self) {
        self.keep = Keep::Memory;
    }

    /// Appends; returns the record's sequence number.
    pub fn append(&mut self, record: Record) -> u64 {
        let seq = self.records.len() as u64;
        self.times.push(clock::whole_millis(SystemTime::now()));
        self.push(record);
        seq
    }

    /// Appends the beginning of a turn, with the session's title.
    pub fn begin_turn(&mut self, turn: TurnId, by: Author) -> u64 {
        let title = self.title.clone();
        self.append(Record::TurnStarted { turn, by, title })
    }

    /// Makes it a session of its own, with a new id and all its records unsaved: the way out of a conflict. The next commit puts it
    /// beside the other one, which stays as it is. One that is kept nowhere stays what it is. Fails only when the system gives no
    /// randomness.
    pub fn fork(&mut self) -> io::Result<()> {
        let (disk, above) = match &self.keep {
            Keep::Memory => return Ok(()),
            Keep::New { disk, above } => (disk.clone(), above.clone()),
            Keep::Kept(place) => place.beside(),
        };
        let header = forked(&self.id, &self.records)?;
        self.id = header.id.clone();
        match self.records.first_mut() {
            Some(first) => *first = Record::Session(header),
            None => drop(self.append(Record::Session(header))),
        }
        self.unsaved = 0;
        self.present = None;
        self.keep = Keep::New { disk, above };
        Ok(())
    }

    /// Puts what was appended since the last commit on the disk; see `commit.rs`. Nothing to do is no error, and costs nothing.
    pub fn commit(&mut self) -> Result<(), CommitError> {
        let unsaved = Unsaved {
            first: self.unsaved as u64,
            records: &self.records[self.unsaved..],
            times: &self.times[self.unsaved..],
        };
        match &mut self.keep {
            Keep::Memory => {}
            Keep::New { disk, above } => {
                let place = commit::create(disk, above, &self.id.0, unsaved)?;
                if let Some(Record::Session(Header {
                    origin: Some(origin),
                    ..
                })) = self.records.first()
                {
                    link_outputs(&above.join(&origin.session.0), place.folder());
                }
                self.present = lock::present(place.folder());
                self.keep = Keep::Kept(place);
            }
            Keep::Kept(place) => {
                if !unsaved.records.is_empty() {
                    place.commit(unsaved)?;
                }
            }
        }
        self.unsaved = self.records.len();
        match &mut self.keep {
            Keep::Memory | Keep::New { .. } => Ok(()),
            Keep::Kept(place) => place.sync_again(),
        }
    }

    /// All records so far. A record's sequence number is its index.
    pub fn records(&self) -> &[Record] {
        &self.records
    }

    /// When each of them was appended, by the clock of that moment: it may go backward.
    pub fn times(&self) -> &[SystemTime] {
        &self.times
    }

    /// How many of the records are on the disk.
    pub fn saved(&self) -> usize {
        self.unsaved
    }

    /// The conversation as the model must see it (`view.rs`).
    pub fn messages(&self) -> impl Iterator<Item = &Message> {
        view(&self.records).into_iter().map(|(_, message)| message)
    }
}

/// What commands said at length goes on to be there for a fork, by links: nothing in such a file changes any more. One that cannot be linked
/// is missing there, as one is that was taken away, and whoever asks for it is told.
fn link_outputs(origin: &Path, fork: &Path) {
    let Ok(outputs) = fs::read_dir(origin.join("output")) else {
        return;
    };
    for output in outputs.flatten() {
        let _ = fs::hard_link(output.path(), fork.join("output").join(output.file_name()));
    }
}

/// The header of a fork of these records.
pub(super) fn forked(origin: &SessionId, records: &[Record]) -> io::Result<Header> {
    let born = clock::whole_millis(SystemTime::now());
    let (workspace, profile) = match records.first() {
        Some(Record::Session(header)) => (header.workspace.clone(), header.profile),
        // It was lost.
        _ => (String::new(), Profile::Coding),
    };
    Ok(Header {
        id: SessionId::new(born)?,
        workspace,
        profile,
        version: env!("CARGO_PKG_VERSION").to_string(),
        born,
        origin: Some(Origin {
            session: origin.clone(),
            seq: (records.len() as u64).saturating_sub(1),
        }),
    })
}

/// What records call their session.
fn title(records: &[Record]) -> Option<&str> {
    records.iter().rev().find_map(|record| match record {
        Record::Title { text } => Some(text.as_str()),
        _ => None,
    })
}
