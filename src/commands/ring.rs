//! The last exchanges with the server, kept beside the session's log, for `zcoder wire SESSION`. The tap hands over what crosses the wire;
//! it is put into the form of a script and written when a turn has ended.
//!
//! ```text
//! wire      zcoder script 1
//!           # the last exchanges of the session
//!           # dropped 12 exchanges, 4,711,000 bytes: at most 8 MiB are kept
//!
//!           exchange 0.000s
//!           request
//!           | POST /api/chat HTTP/1.1\r\n
//!           …
//! ```
//!
//! Times count from the first exchange of the run that had it. A run that is killed in a turn leaves that turn's exchanges out.
//!
//! Limits: [`RING_BYTES`] of text; when it would be more, the oldest go until half of it is left. Of an exchange the first and the last
//! [`SIDE_BYTES`] are kept, and a comment says how much is left out between. When the exchanges of a turn pass [`HELD_BYTES`], they are
//! written before it has ended.
//!
//! Invariant: while a turn runs nothing is done but copying: no text is made, no file is touched, and never is one synced.
//! Invariant: nothing is written for a session that is not on the disk.
//!
//! Read next: `model/script.rs`, the form; `wire.rs`, which reads it.

use crate::model::script::{HEADER, Recorder};
use crate::protocol::{Event, Stage};
use crate::sys::file;
use crate::text;
use std::collections::VecDeque;
use std::fs::{self, OpenOptions};
use std::io::{self, ErrorKind, Read, Seek, SeekFrom, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};
use std::thread::{self, ThreadId};
use std::time::Instant;

/// Of the file.
const RING_BYTES: usize = 8 << 20;
/// Of a turn, in memory, between two exchanges.
const HELD_BYTES: usize = 2 << 20;
/// Of an exchange, at its beginning and at its end: a long answer must not stand in memory once more.
const SIDE_BYTES: usize = 128 << 10;
/// A shorter file has no exchange in it.
const HEAD_BYTES: u64 = 256;
/// Its name, beside the log.
pub(super) const NAME: &str = "wire";
/// How an exchange begins. Nothing else does: bytes stand behind `| `.
const BEGINNING: &[u8] = b"\nexchange ";
/// How the line about what was dropped begins.
pub(super) const DROPPED: &str = "# dropped ";

/// The ring of one run.
#[derive(Debug)]
pub(super) struct Ring {
    /// Where the sessions of the workspace lie.
    sessions: PathBuf,
    /// The session, as soon as it is on the disk.
    session: Option<String>,
    held: Vec<Held>,
    recorder: Recorder,
}

/// What is not yet in the file of an exchange.
#[derive(Debug)]
struct Held {
    thread: ThreadId,
    /// Taken once its beginning was written.
    begun: Option<Instant>,
    first: Vec<Piece>,
    first_bytes: usize,
    /// Behind `first`, once that is full; what was between is left out.
    last: VecDeque<Piece>,
    last_bytes: usize,
    left_out: usize,
    ended: bool,
}

/// What crossed the wire at once.
#[derive(Debug)]
struct Piece {
    at: Instant,
    sent: bool,
    bytes: Vec<u8>,
}

impl Ring {
    pub(super) fn new(sessions: &Path) -> Ring {
        Ring {
            sessions: sessions.to_path_buf(),
            session: None,
            held: Vec::new(),
            recorder: Recorder::in_memory(),
        }
    }

    /// Looks at what crosses a boundary.
    pub(super) fn see(&mut self, stage: &Stage<'_>, at: Instant) -> io::Result<()> {
        let thread = thread::current().id();
        match stage {
            Stage::ExchangeBegins(_) => self.held.push(Held {
                thread,
                begun: Some(at),
                first: Vec::new(),
                first_bytes: 0,
                last: VecDeque::new(),
                last_bytes: 0,
                left_out: 0,
                ended: false,
            }),
            Stage::RequestBytes(bytes) => self.hold(thread, at, true, bytes),
            Stage::WireBytes(bytes) => self.hold(thread, at, false, bytes),
            Stage::ExchangeEnds => {
                if let Some(held) = self.latest(thread) {
                    held.ended = true;
                }
                if self.held.iter().map(Held::bytes).sum::<usize>() > HELD_BYTES {
                    return self.write();
                }
            }
            Stage::Event(Event::Saved { session, .. }) => {
                if self.session.as_ref() != Some(session) {
                    self.session = Some(session.clone());
                }
            }
            Stage::Event(Event::TurnEnded { .. }) => return self.write(),
            Stage::Op(_)
            | Stage::BodyBytes(_)
            | Stage::Record(_)
            | Stage::Reply(_)
            | Stage::Verdict(_)
            | Stage::Outcome(_)
            | Stage::Event(_) => {}
        }
        Ok(())
    }

    /// The exchange that runs on a thread. They may nest.
    fn latest(&mut self, thread: ThreadId) -> Option<&mut Held> {
        let mut running = self.held.iter_mut().rev();
        running.find(|held| held.thread == thread && !held.ended)
    }

    fn hold(&mut self, thread: ThreadId, at: Instant, sent: bool, bytes: &[u8]) {
        if let Some(held) = self.latest(thread) {
            held.take(at, sent, bytes);
        }
    }

    /// Puts what is held into the file.
    fn write(&mut self) -> io::Result<()> {
        for held in &mut self.held {
            held.hand_over(&mut self.recorder)?;
        }
        self.held.retain(|held| !held.ended);
        let text = self.recorder.take();
        let Some(session) = &self.session else {
            return Ok(());
        };
        match add(&self.sessions.join(session), &text) {
            // The session was removed while it was at work; its next commit says so.
            Err(error) if error.kind() == ErrorKind::NotFound => Ok(()),
            added => added,
        }
    }
}

impl Held {
    fn bytes(&self) -> usize {
        self.first_bytes + self.last_bytes
    }

    fn take(&mut self, at: Instant, sent: bool, bytes: &[u8]) {
        if self.last.is_empty() && self.first_bytes + bytes.len() <= SIDE_BYTES {
            self.first_bytes += bytes.len();
            let bytes = bytes.to_vec();
            self.first.push(Piece { at, sent, bytes });
            return;
        }
        // What is left out makes room: a long answer passes through the same few buffers.
        let mut room = Vec::new();
        while self.last_bytes + bytes.len() > SIDE_BYTES {
            let Some(oldest) = self.last.pop_front() else {
                break;
            };
            self.last_bytes -= oldest.bytes.len();
            self.left_out += oldest.bytes.len();
            room = oldest.bytes;
        }
        room.clear();
        room.extend_from_slice(bytes);
        self.last_bytes += room.len();
        self.last.push_back(Piece {
            at,
            sent,
            bytes: room,
        });
    }

    fn hand_over(&mut self, recorder: &mut Recorder) -> io::Result<()> {
        let thread = self.thread;
        if let Some(begun) = self.begun.take() {
            recorder.begin(thread, begun)?;
        }
        let put = |piece: Piece, recorder: &mut Recorder| match piece.sent {
            true => recorder.request(thread, &piece.bytes, piece.at),
            false => recorder.received(thread, &piece.bytes, piece.at),
        };
        for piece in self.first.drain(..) {
            put(piece, recorder)?;
        }
        if self.left_out > 0 {
            recorder.left_out(thread, self.left_out)?;
        }
        for piece in self.last.drain(..) {
            put(piece, recorder)?;
        }
        (self.first_bytes, self.last_bytes, self.left_out) = (0, 0, 0);
        if self.ended {
            recorder.end(thread)?;
        }
        Ok(())
    }
}

/// Adds exchanges to the ring in a session's folder.
fn add(folder: &Path, text: &[u8]) -> io::Result<()> {
    let path = folder.join(NAME);
    let old = match file::open_own_to_write(&path) {
        Ok((mut file, metadata)) => {
            let size = metadata.len();
            if size > HEAD_BYTES && size + text.len() as u64 <= RING_BYTES as u64 {
                file.seek(SeekFrom::End(0))?;
                return file.write_all(text);
            }
            let mut old = Vec::new();
            file.take(2 * RING_BYTES as u64).read_to_end(&mut old)?;
            old
        }
        Err(error) if error.kind() == ErrorKind::NotFound => Vec::new(),
        Err(error) => return Err(error),
    };
    let new = folder.join("wire.new");
    // Of a run that was killed; or put there by somebody else, and then perhaps a link.
    let _ = fs::remove_file(&new);
    let mut options = OpenOptions::new();
    options.write(true).create_new(true).mode(0o600);
    let written = options
        .open(&new)
        .and_then(|mut file| file.write_all(&turned(&old, text)));
    if let Err(error) = written {
        // It would only take room that is missing.
        let _ = fs::remove_file(&new);
        return Err(error);
    }
    fs::rename(&new, &path)
}

/// The ring with new exchanges, and without the oldest where it would be too long.
fn turned(old: &[u8], text: &[u8]) -> Vec<u8> {
    let begins = next(old, 0).unwrap_or(old.len());
    let (head, rest) = old.split_at(begins);
    let (mut exchanges, mut bytes) = dropped(head);
    let mut body = rest.to_vec();
    body.extend_from_slice(text);
    // What belongs to an exchange that was dropped goes with it.
    let mut from = next(&body, 0).unwrap_or(body.len());
    if body.len() > RING_BYTES - 1024 {
        while body.len() - from > RING_BYTES / 2 {
            exchanges += 1;
            from = next(&body, from + 1).unwrap_or(body.len());
        }
        bytes += from as u64;
    }
    let mut out = format!("{HEADER}\n# the last exchanges of the session\n");
    if exchanges > 0 {
        let (exchanges, bytes) = (
            text::counted(exchanges, "exchange"),
            text::counted(bytes, "byte"),
        );
        out.push_str(&format!(
            "{DROPPED}{exchanges}, {bytes}: at most 8 MiB are kept\n"
        ));
    }
    let mut out = out.into_bytes();
    out.extend_from_slice(&body[from..]);
    out
}

/// Where the next exchange begins.
fn next(bytes: &[u8], from: usize) -> Option<usize> {
    let rest = bytes.get(from..)?;
    let found = rest
        .windows(BEGINNING.len())
        .position(|piece| piece == BEGINNING);
    found.map(|at| from + at)
}

/// Exchanges and bytes that were dropped before, as the head tells them.
fn dropped(head: &[u8]) -> (u64, u64) {
    let head = String::from_utf8_lossy(head);
    let line = head.lines().find_map(|line| line.strip_prefix(DROPPED));
    let number = |text: Option<&str>| {
        let digits = text
            .unwrap_or_default()
            .split(' ')
            .next()
            .unwrap_or_default();
        digits.replace(',', "").parse().unwrap_or(0)
    };
    let mut parts = line.unwrap_or_default().split(", ");
    (number(parts.next()), number(parts.next()))
}
