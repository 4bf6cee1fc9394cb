//! Reading a session from its beginning: every committed line in order, each checked against the one before it. For those who want all
//! of it and nothing but it: an audit, a report, an export. Memory is that of one line, however long the log is.
//!
//! ```text
//! log-1   seq 0  prev 0000…   5f0c…      each line must name the hash of the one before
//!         seq 1  prev 5f0c…   07aa…
//!         seq 2# …            garbage    Flaw: is no record
//! log-2   Gap { log-1, length, hash }    what is left of log-1 must still have this length and hash
//!         seq 4  prev c3d1…   9b00…
//! current 17 log-2.jsonl 812 9b00…       the last record must have this hash
//! ```
//!
//! Nothing is refused: what is wrong is told as a [`Flaw`], and the walk goes on with the next line. A record behind the half of another one
//! is taken, and the half is told.
//!
//! Limits: a line of more than [`MAX_LINE_BYTES`] is no record.
//!
//! Invariant: nothing behind the committed length is looked at, unless the pointer is lost. Invariant: a session without a flaw holds
//! exactly the lines that were committed, if `current` itself was not made anew with them: the chain proves damage and careless edits, not
//! a forger. A hash that was kept elsewhere does.
//!
//! Read next: `back.rs`, the same from the end.

use super::back::{committed, last_beginning};
use super::disk::Disk;
use super::line::{self, Fault, Line, MAX_LINE_BYTES};
use super::pointer::{Pointer, log_name};
use super::record::{Hash, Record};
use super::tail::Entry;
use crate::sha256::{Sha256, digest};
use crate::sys::file;
use std::collections::VecDeque;
use std::fmt;
use std::fs::File;
use std::io::{self, BufRead, BufReader, ErrorKind, Read};
use std::path::{Path, PathBuf};

/// Read at once.
const CHUNK_BYTES: usize = 256 << 10;
/// The first line of a log that follows another one is short.
const MAX_GAP_BYTES: u64 = 64 << 10;

/// What comes next.
// Nearly all of them are records: a box would be one allocation for each and save nothing.
#[allow(clippy::large_enum_variant)]
#[derive(Debug)]
pub enum Passed {
    /// A record.
    Record(Entry),
    /// Something is not as it was written.
    Flaw(Flaw),
}

/// What is wrong, and where.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Flaw {
    /// The file.
    pub file: String,
    /// In which byte of it.
    pub offset: u64,
    /// What.
    pub cause: Cause,
}

/// What can be wrong.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Cause {
    /// `current` is missing, or not a pointer.
    Pointer,
    /// The log is not there.
    Missing,
    /// A line is no record.
    NoRecord(Fault),
    /// A record does not name the hash of the line before.
    Unlinked {
        /// Its number.
        seq: u64,
    },
    /// A record has not the number that is due.
    Order {
        /// Its number.
        seq: u64,
        /// The one that is due.
        due: u64,
    },
    /// The log ends before what was committed.
    Cut {
        /// So many bytes are missing.
        bytes: u64,
    },
    /// The last record is not the one that the pointer names.
    Head,
    /// A log does not say which one it follows.
    NoGap,
    /// A log is not what it was when the next one took its place.
    Left,
}

impl fmt::Display for Flaw {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Flaw {
            file,
            offset,
            cause,
        } = self;
        match cause {
            Cause::Pointer => write!(
                f,
                "{file}: missing or damaged; nothing says how far the log counts and what its last record was"
            ),
            Cause::Missing => write!(f, "{file}: it is not there"),
            Cause::NoRecord(Fault::Envelope) => {
                write!(
                    f,
                    "{file}, byte {offset}: a line does not begin as records do"
                )
            }
            Cause::NoRecord(Fault::Json(error)) => {
                write!(f, "{file}, byte {offset}: a line is no record: {error}")
            }
            Cause::Unlinked { seq: 0 } => {
                write!(
                    f,
                    "{file}, byte {offset}: record 0 names a record before it"
                )
            }
            Cause::Unlinked { seq } => write!(
                f,
                "{file}, byte {offset}: record {seq} does not name the hash of the line before it: that line was changed, or this record"
            ),
            Cause::Order { seq, due } => write!(
                f,
                "{file}, byte {offset}: record {seq} stands where record {due} is due"
            ),
            Cause::Cut { bytes } => write!(
                f,
                "{file}, byte {offset}: the last {bytes} committed bytes are missing"
            ),
            Cause::Head => write!(
                f,
                "{file}, byte {offset}: the last record is not the one that `current` names: it was changed, or others followed it"
            ),
            Cause::NoGap => write!(f, "{file}: it does not say which log it follows"),
            Cause::Left => write!(
                f,
                "{file}: it is not what it was when the next log took its place"
            ),
        }
    }
}

/// The walk.
#[derive(Debug)]
pub struct Forward {
    folder: PathBuf,
    /// What `current` says; where it says nothing, the last log that is there.
    pointer: Pointer,
    /// `current` says nothing.
    lost: bool,
    number: u64,
    /// The log that is read; `None`: it is not there.
    log: Option<Reading>,
    /// Number and hash of the line before; `None`: it was no record, and nothing can be said of what follows it.
    last: Option<(u64, Hash)>,
    /// Told before the next line is read.
    waiting: VecDeque<Passed>,
    line: Vec<u8>,
}

/// A log that is read.
#[derive(Debug)]
struct Reading {
    file: io::Take<BufReader<File>>,
    offset: u64,
    /// Committed bytes that are not there.
    missing: u64,
    /// Hash of all that was read, and the one that it must have.
    left: Option<(Sha256, Hash)>,
}

impl Forward {
    pub(super) fn begin(disk: &Disk, folder: &Path) -> io::Result<Forward> {
        let (_, pointer, lost) = committed(disk, folder)?;
        let mut forward = Forward {
            folder: folder.to_path_buf(),
            pointer,
            lost,
            number: 1,
            log: None,
            last: None,
            waiting: VecDeque::new(),
            line: Vec::new(),
        };
        if lost {
            forward.flaw("current".to_string(), 0, Cause::Pointer);
        }
        forward.enter()?;
        Ok(forward)
    }

    /// What `current` says; `None`: it says nothing.
    pub fn pointer(&self) -> Option<Pointer> {
        (!self.lost).then_some(self.pointer)
    }

    /// Hash of the record that was returned last.
    pub fn hash(&self) -> Option<Hash> {
        self.last.map(|(_, hash)| hash)
    }

    /// The line of the record that was returned last, as it stands in the log, without LF.
    pub fn line(&self) -> &[u8] {
        &self.line
    }

    /// The next record or flaw; `None`: that was all.
    #[allow(clippy::should_implement_trait)] // `line` borrows it between two calls
    pub fn next(&mut self) -> io::Result<Option<Passed>> {
        loop {
            if let Some(passed) = self.waiting.pop_front() {
                return Ok(Some(passed));
            }
            if self.number > self.pointer.log {
                return Ok(None);
            }
            match self.read()? {
                true => self.judge(),
                false => {
                    self.leave();
                    self.number += 1;
                    if self.number <= self.pointer.log {
                        self.enter()?;
                    }
                }
            }
        }
    }

    /// Opens the log with the current number.
    fn enter(&mut self) -> io::Result<()> {
        let (name, next) = (log_name(self.number), log_name(self.number + 1));
        let file = match file::open_regular(&self.folder.join(&name)) {
            Ok(file) => file,
            Err(error) if error.kind() == ErrorKind::NotFound => {
                self.flaw(name, 0, Cause::Missing);
                (self.log, self.last) = (None, None);
                return Ok(());
            }
            Err(error) => return Err(error),
        };
        let size = file.metadata()?.len();
        let (length, left) = if self.number < self.pointer.log {
            match gap(&self.folder.join(&next))? {
                Some((length, hash)) => (length, Some((Sha256::new(), hash))),
                None => {
                    self.flaw(next, 0, Cause::NoGap);
                    (size, None)
                }
            }
        } else if self.lost {
            (size, None)
        } else {
            (self.pointer.length, None)
        };
        self.log = Some(Reading {
            file: BufReader::with_capacity(CHUNK_BYTES, file).take(length),
            offset: 0,
            missing: length.saturating_sub(size),
            left,
        });
        Ok(())
    }

    /// Puts the next line, with its LF, where `judge` looks; false: the log has ended.
    fn read(&mut self) -> io::Result<bool> {
        let Some(log) = &mut self.log else {
            return Ok(false);
        };
        self.line.clear();
        let limit = MAX_LINE_BYTES as u64 + 1;
        (&mut log.file)
            .take(limit)
            .read_until(b'\n', &mut self.line)?;
        if let Some((hasher, _)) = &mut log.left {
            hasher.feed(&self.line);
        }
        Ok(!self.line.is_empty())
    }

    /// Says what the line is.
    fn judge(&mut self) {
        let Some(log) = &mut self.log else {
            return;
        };
        let mut offset = log.offset;
        log.offset += self.line.len() as u64;
        let name = log_name(self.number);
        let ended = self.line.last() == Some(&b'\n');
        self.line.truncate(self.line.len() - usize::from(ended));
        let read = match (ended, line::read(&self.line)) {
            (true, Ok(read)) => read,
            (_, read) => {
                let fault = read.err().unwrap_or(Fault::Envelope);
                self.flaw(name.clone(), offset, Cause::NoRecord(fault));
                self.last = None;
                let Some((start, read)) = inner(&self.line).filter(|_| ended) else {
                    return;
                };
                self.line.drain(..start);
                offset += start as u64;
                read
            }
        };
        let Line {
            envelope, record, ..
        } = read;
        let begins = self.number == 1 && offset == 0;
        let due = match self.last {
            Some((seq, hash)) => Some((seq + 1, hash)),
            None => begins.then_some((0, [0; 32])),
        };
        if let Some((due, hash)) = due {
            let seq = envelope.seq;
            if envelope.prev != hash {
                self.flaw(name, offset, Cause::Unlinked { seq });
            } else if seq != due {
                self.flaw(name, offset, Cause::Order { seq, due });
            }
        }
        self.last = Some((envelope.seq, digest(&self.line)));
        self.waiting.push_back(Passed::Record(Entry {
            seq: envelope.seq,
            at: envelope.at,
            record,
        }));
    }

    /// What can only be said at the end of a log.
    fn leave(&mut self) {
        let Some(log) = self.log.take() else {
            return;
        };
        let (name, end) = (log_name(self.number), log.offset);
        let is_last = self.number == self.pointer.log && !self.lost;
        if log.missing > 0 {
            let bytes = log.missing;
            self.flaw(name, end, Cause::Cut { bytes });
        } else if log.left.is_some_and(|(hasher, due)| hasher.finish() != due) {
            self.flaw(name, 0, Cause::Left);
        } else if is_last && self.hash() != Some(self.pointer.hash) {
            self.flaw(name, end, Cause::Head);
        }
    }

    fn flaw(&mut self, file: String, offset: u64, cause: Cause) {
        self.waiting.push_back(Passed::Flaw(Flaw {
            file,
            offset,
            cause,
        }));
    }
}

/// A whole record at the end of a line that is none.
fn inner(line: &[u8]) -> Option<(usize, Line)> {
    let start = last_beginning(line)?;
    let read = line::read(&line[start..]).ok()?;
    (start > 0).then_some((start, read))
}

/// Length and hash of the log before, as the first line of this one tells them.
fn gap(path: &Path) -> io::Result<Option<(u64, Hash)>> {
    let file = match file::open_regular(path) {
        Ok(file) => file,
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(None),
        Err(error) => return Err(error),
    };
    let mut first = Vec::new();
    BufReader::new(file.take(MAX_GAP_BYTES)).read_until(b'\n', &mut first)?;
    let whole = first.strip_suffix(b"\n").unwrap_or(&first);
    Ok(match line::read(whole).map(|line| line.record) {
        Ok(Record::Gap { length, hash, .. }) => Some((length, hash)),
        Ok(_) | Err(_) => None,
    })
}
