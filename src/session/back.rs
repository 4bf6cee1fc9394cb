//! Reading a session from its end: record after record, newest first, each checked against the chain. So the last screen of a log of 1 GB
//! costs what is on that screen, and a whole replay is the same walk to its end. `open.rs` and `tail.rs` are its users.
//!
//! ```text
//! current   17 log-2.jsonl 812 5f0c…          the last record must hash to 5f0c…
//! log-2     seq 41  prev 07aa…   5f0c… ✓      the one before it to 07aa…
//!           seq 40  prev c3d1…   07aa… ✓      a Gap, the first of its log: log-1 counts up to the length it names
//! log-1     seq 39  prev 9b00…   c3d1… ✓
//!           seq 3#  …            garbage      Bad: neither a record nor the one that 9b00… promises
//!           seq 37  prev …       unvouched    taken: it is a record, and not the one that is promised (38)
//! ```
//!
//! A line that ends in a whole record, after the half of another one or a run of NUL bytes, is that record; what stands before it is bad.
//! A record with the number that is due but another hash was changed, and is bad. Where records are missing, what stands before the hole
//! is taken as it is, if it is a record: nothing vouches for it, and the hole is told.
//!
//! Limits: the caller's for a line; a longer one is bad.
//!
//! Invariant: nothing behind the committed length is looked at, unless the pointer is lost.
//! Invariant: every committed byte is in a record or in a bad piece.

use super::disk::Disk;
use super::line::{self, BEGINNING, Line};
use super::pointer::{self, Pointer, log_name, log_number};
use super::record::{Hash, Record};
use crate::sha256::digest;
use crate::sys::{file, simd};
use std::fs::File;
use std::io::{self, ErrorKind};
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};

/// Read at once; a last screen fits, and a long replay is not slower for it.
const CHUNK_BYTES: u64 = 32 << 10;

/// What comes next, going back.
// Nearly all of them are records: a box would be one allocation for each and save nothing.
#[allow(clippy::large_enum_variant)]
#[derive(Debug)]
pub(super) enum Piece {
    /// A record.
    Good(Line),
    /// Bytes that are none, or records that are not there (no bytes).
    Bad(Bad),
}

/// A damaged stretch.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Bad {
    pub(super) log: String,
    pub(super) offset: u64,
    pub(super) bytes: u64,
}

/// The walk.
#[derive(Debug)]
pub(super) struct Back {
    folder: PathBuf,
    /// What `current` holds; `None`: there is none.
    pub(super) found: Option<Vec<u8>>,
    /// What it says; where it says nothing, what the logs show.
    pub(super) pointer: Pointer,
    /// `current` says nothing.
    pub(super) lost: bool,
    /// Something is wrong with the log that the pointer names.
    pub(super) damaged: bool,
    /// Bytes of the newest record's line, with its LF.
    pub(super) last_bytes: u64,
    /// The log that is read, and its lines.
    number: u64,
    lines: Lines,
    /// Hash of the record that is due; `None`: nothing is known of it.
    due: Option<Hash>,
    /// Number of the record that was read last.
    later: Option<u64>,
    /// Found together with what was returned last, the newest last.
    waiting: Vec<Piece>,
    /// Whether anything bad was found since the last record.
    broken: bool,
    /// Where the log before this one ends, when its first record has been read.
    before: Option<u64>,
    /// Of all lines so far.
    pub(super) read_bytes: u64,
    max_bytes: usize,
}

impl Back {
    /// Begins at the end; a line of more than `max_bytes` counts as bad. Errors: there is no such session, or its last log cannot be read.
    pub(super) fn begin(disk: &Disk, folder: &Path, max_bytes: usize) -> io::Result<Back> {
        let (found, pointer, lost) = committed(disk, folder)?;
        let mut back = Back {
            folder: folder.to_path_buf(),
            found,
            pointer,
            lost,
            damaged: lost,
            last_bytes: 0,
            number: pointer.log,
            lines: Lines::default(),
            due: (!lost).then_some(pointer.hash),
            later: None,
            waiting: Vec::new(),
            broken: lost,
            before: None,
            read_bytes: 0,
            max_bytes,
        };
        match back.enter(pointer.length) {
            // The one that counts is gone; those before it may be there.
            Err(error) if error.kind() == ErrorKind::NotFound => {
                back.broken = true;
                back.damaged = true;
            }
            entered => entered?,
        }
        if lost {
            back.pointer.length = back.lines.end();
        }
        Ok(back)
    }

    /// The next piece; `None`: the beginning was reached.
    pub(super) fn next(&mut self) -> io::Result<Option<Piece>> {
        loop {
            if let Some(piece) = self.waiting.pop() {
                return Ok(Some(piece));
            }
            let Some((offset, line)) = self.lines.next()? else {
                if self.number == 1 {
                    return Ok(self.beginning());
                }
                self.number -= 1;
                // Without a Gap nobody says how far the log before counts.
                let length = self.before.take().unwrap_or(u64::MAX);
                match self.enter(length) {
                    Ok(()) => continue,
                    Err(error) if error.kind() == ErrorKind::NotFound => {
                        let log = log_name(self.number);
                        let bad = Bad {
                            log,
                            offset: 0,
                            bytes: 0,
                        };
                        return Ok(Some(self.bad(bad)));
                    }
                    Err(error) => return Err(error),
                }
            };
            let bytes = line.len() as u64;
            self.read_bytes += bytes;
            let whole = line.strip_suffix(b"\n").unwrap_or(line);
            let verdict = judge(whole, self.due, self.later, self.broken);
            let Some((start, read, hash)) = verdict else {
                let log = log_name(self.number);
                return Ok(Some(self.bad(Bad { log, offset, bytes })));
            };
            let hole = self
                .later
                .is_some_and(|later| later != read.envelope.seq + 1);
            let was_broken = self.broken;
            let good = self.good(read, hash, bytes - start as u64, offset);
            if start > 0 {
                let (log, bytes) = (log_name(self.number), start as u64);
                let bad = self.bad(Bad { log, offset, bytes });
                self.waiting.push(bad);
            }
            if hole && !was_broken {
                // Nothing bad stands there: the records themselves are gone.
                self.waiting.push(good);
                self.damaged |= self.number == self.pointer.log;
                let log = log_name(self.number);
                let (offset, bytes) = (offset + bytes, 0);
                return Ok(Some(Piece::Bad(Bad { log, offset, bytes })));
            }
            return Ok(Some(good));
        }
    }

    fn good(&mut self, read: Line, hash: Hash, bytes: u64, offset: u64) -> Piece {
        if self.later.is_none() {
            self.last_bytes = bytes;
            if self.lost {
                self.pointer.hash = hash;
            }
        }
        let seq = read.envelope.seq;
        if self.number == self.pointer.log && self.due != Some(hash) {
            self.damaged = true;
        }
        if let (Record::Gap { length, .. }, 0) = (&read.record, offset) {
            self.before = Some(*length);
        }
        self.due = Some(read.envelope.prev);
        self.later = Some(seq);
        self.broken = false;
        Piece::Good(read)
    }

    fn bad(&mut self, bad: Bad) -> Piece {
        self.broken = true;
        self.damaged |= self.number == self.pointer.log;
        Piece::Bad(bad)
    }

    /// Records that are missing before the first one are told once.
    fn beginning(&mut self) -> Option<Piece> {
        let missing = self.later.is_some_and(|later| later > 0) && !self.broken;
        missing.then(|| {
            let log = log_name(1);
            self.later = None;
            self.bad(Bad {
                log,
                offset: 0,
                bytes: 0,
            })
        })
    }

    /// Goes on in log `number`, of which `length` bytes count.
    fn enter(&mut self, length: u64) -> io::Result<()> {
        let path = self.folder.join(log_name(self.number));
        let file = file::open_regular(&path)?;
        let size = file.metadata()?.len();
        if size < length && length != u64::MAX {
            // Cut: the record that is due is not the last one that is there.
            let log = log_name(self.number);
            let (offset, bytes) = (size, length - size);
            let bad = self.bad(Bad { log, offset, bytes });
            self.waiting.push(bad);
        }
        self.lines = Lines::of(file, size.min(length), self.max_bytes);
        Ok(())
    }
}

/// Whether a line is a record: where it begins in the line, what it says, its hash.
fn judge(
    line: &[u8],
    due: Option<Hash>,
    later: Option<u64>,
    broken: bool,
) -> Option<(usize, Line, Hash)> {
    // A second beginning is looked for only in what is not good as it is: in a record of ours every quote within a text is escaped.
    let inner = std::iter::once_with(|| last_beginning(line)).flatten();
    let starts = std::iter::once(0).chain(inner);
    for start in starts {
        let record = &line[start..];
        let hash = digest(record);
        let Some((envelope, _)) = line::envelope(record) else {
            continue;
        };
        let in_order = later.is_none_or(|later| envelope.seq < later);
        // Where nothing vouches for it: not the one that is due, or something stands in between that is no record.
        let unvouched = || match later {
            Some(later) => envelope.seq + 1 < later,
            None => broken,
        };
        let read = match in_order {
            true if due == Some(hash) => line::read_vouched(envelope, record),
            true if unvouched() => line::read(record),
            _ => continue,
        };
        if let Ok(read) = read {
            return Some((start, read, hash));
        }
    }
    None
}

/// Where in a line the last record begins.
pub(super) fn last_beginning(line: &[u8]) -> Option<usize> {
    let mut starts = line.windows(BEGINNING.len());
    starts.rposition(|piece| piece == BEGINNING)
}

/// What `current` holds, and what it says. Where it says nothing (true), all of the last log that is there counts.
pub(super) fn committed(
    disk: &Disk,
    folder: &Path,
) -> io::Result<(Option<Vec<u8>>, Pointer, bool)> {
    let found = match disk.read(&folder.join("current"), pointer::MAX_BYTES) {
        Ok(bytes) => Some(bytes),
        Err(error) if error.kind() == ErrorKind::NotFound && folder.is_dir() => None,
        Err(error) => return Err(error),
    };
    if let Some(pointer) = found.as_deref().and_then(Pointer::parse) {
        return Ok((found, pointer, false));
    }
    let pointer = Pointer {
        generation: 0,
        log: last_log(folder)?,
        length: u64::MAX,
        hash: [0; 32],
    };
    Ok((found, pointer, true))
}

/// The log with the highest number.
fn last_log(folder: &Path) -> io::Result<u64> {
    let mut last = 0;
    for entry in std::fs::read_dir(folder)? {
        let name = entry?.file_name();
        last = last.max(name.to_str().and_then(log_number).unwrap_or(0));
    }
    match last {
        0 => Err(ErrorKind::NotFound.into()),
        last => Ok(last),
    }
}

/// The lines of a file, last one first.
#[derive(Debug, Default)]
struct Lines {
    file: Option<File>,
    /// Where `buffer` begins in the file.
    start: u64,
    buffer: Vec<u8>,
    /// Where the lines in `buffer` begin that were not read yet; what is before the first is the end of a longer line.
    starts: Vec<usize>,
    /// End of the unread part of `buffer`.
    end: usize,
    /// Of a line.
    max_bytes: usize,
}

impl Lines {
    fn of(file: File, length: u64, max_bytes: usize) -> Lines {
        Lines {
            file: Some(file),
            start: length,
            max_bytes,
            ..Lines::default()
        }
    }

    /// Unread bytes.
    fn end(&self) -> u64 {
        self.start + self.end as u64
    }

    /// Offset and bytes of the next line, with its LF.
    fn next(&mut self) -> io::Result<Option<(u64, &[u8])>> {
        while self.starts.is_empty() {
            if self.start == 0 && self.end == 0 {
                return Ok(None);
            }
            self.fill()?;
        }
        let start = self.starts.pop().unwrap_or(0);
        let line = &self.buffer[start..self.end];
        self.end = start;
        Ok(Some((self.start + start as u64, line)))
    }

    /// Puts bytes before those that are there. A line longer than the chunk doubles it each time, so that none is copied often.
    fn fill(&mut self) -> io::Result<()> {
        let Some(file) = &self.file else {
            return Ok(());
        };
        let more = CHUNK_BYTES.max(self.end as u64).min(self.start);
        let more = usize::try_from(more).unwrap_or(usize::MAX);
        let end = more + self.end;
        if self.buffer.len() < end {
            self.buffer.resize(end, 0);
        }
        self.buffer.copy_within(..self.end, more);
        file.read_exact_at(&mut self.buffer[..more], self.start - more as u64)?;
        self.start -= more as u64;
        self.end = end;
        let body = match self.buffer[..end].last() {
            Some(b'\n') => end - 1,
            _ => end,
        };
        // The first line may begin before the buffer.
        if self.start == 0 || self.end > self.max_bytes {
            self.starts.push(0);
        }
        let mut at = simd::find_byte(&self.buffer[..body], b'\n', 0);
        while at < body {
            self.starts.push(at + 1);
            at = simd::find_byte(&self.buffer[..body], b'\n', at + 1);
        }
        Ok(())
    }
}
