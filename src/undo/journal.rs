//! The journal of a session that runs. The engine hands it each edit before the file is touched and each command's changes after it
//! ran; what it has said to be safe survives a kill and a power cut, and `past.rs` takes it back, now or in another process.
//!
//! ```text
//! begin_turn(3, "make the test pass")     nothing on the disk yet
//! edit(src/a.rs, 9f… → 07…, spans)        000004: turn frame, edit frame, fdatasync, folder synced        then the file is replaced
//! ran("cargo fmt", [src/a.rs])            000004: ran frame with the hash of src/a.rs as it is now
//! end_turn()                              the session's lock is given back
//! ```
//!
//! A small file (`Limits::whole_bytes`) is kept whole the first time a turn edits it, so that it can be shown and brought back whatever
//! happens to it later; of a larger one, and of further edits, the replaced bytes are kept.
//!
//! Without a state folder (no HOME, a read-only disk) edits are made all the same, and one notice says that they cannot be taken
//! back: the alternative would be an agent that cannot work there at all. Once a session has a journal, an edit whose record
//! cannot be written is refused: it was promised that it can be undone.
//!
//! Invariant: when [`Journal::edit`] returns `Ok` and the journal is on, the record is on the disk.
//! Invariant: after a failed append the next one begins where the last good frame ends.
//!
//! Read next: `entry.rs`, `store.rs`.

use super::entry::{Edit, Hash, Kept, Kind, Ran, Span, Step, Touched, kind_frame, step_frame};
use super::frame::Frame;
use super::place::MAX_FILE_BYTES;
use super::store::{Limits, Lock, Removed, Session, Store, new_file};
use crate::protocol::{self, JournalRecord};
use crate::sha256::digest;
use crate::sys::{clock, file};
use crate::text;
use std::borrow::Cow;
use std::collections::HashSet;
use std::fs::{self, File};
use std::io::{self, ErrorKind, Read};
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

/// Of a prompt, in an entry's label.
const LABEL_CHARS: usize = 80;
/// Of a command's text.
const COMMAND_CHARS: usize = 200;
/// Files of one command that are named; the others are counted.
const MAX_TOUCHED: usize = 200;

/// What a command left behind.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CommandChanges<'a> {
    /// Its text.
    pub command: &'a str,
    /// Files that it changed, made or removed, relative to the workspace.
    pub files: &'a [PathBuf],
    /// False: there were too many files to look.
    pub looked: bool,
}

/// The journal.
#[derive(Debug)]
pub struct Journal {
    state: State,
    turn: u64,
    label: String,
    notices: Vec<String>,
}

#[derive(Debug)]
enum State {
    /// Nothing is kept, and nothing is to be said about it.
    Off,
    /// Nothing can be kept: why.
    Unusable(String),
    /// Between entries.
    Idle(Place),
    /// The turn has an entry.
    Open(Place, Open),
}

#[derive(Debug)]
struct Place {
    store: Store,
    session: Session,
    /// Something of this session was written.
    begun: bool,
}

#[derive(Debug)]
struct Open {
    number: u64,
    file: File,
    /// Good bytes in it.
    bytes: u64,
    /// Of the whole session on the disk.
    session_bytes: u64,
    _lock: Lock,
    /// Files edited in this entry.
    edited: HashSet<PathBuf>,
}

impl Journal {
    /// For the session `id`. Touches nothing yet.
    pub fn new(store: Store, id: &str) -> Journal {
        let session = store.session(id);
        Journal::with(State::Idle(Place {
            store,
            session,
            begun: false,
        }))
    }

    /// There is no place for one; `why` completes "there is no undo journal: ".
    pub fn unusable(why: &str) -> Journal {
        Journal::with(State::Unusable(why.to_string()))
    }

    /// None is wanted.
    pub fn off() -> Journal {
        Journal::with(State::Off)
    }

    fn with(state: State) -> Journal {
        Journal {
            state,
            turn: 0,
            label: String::new(),
            notices: Vec::new(),
        }
    }

    /// Where it is, if anywhere, and the session's id.
    pub fn place(&self) -> Option<(&Store, &str)> {
        match &self.state {
            State::Off | State::Unusable(_) => None,
            State::Idle(place) | State::Open(place, _) => Some((&place.store, &place.session.id)),
        }
    }

    /// A turn begins. `prompt` labels it.
    pub fn begin_turn(&mut self, turn: u64, prompt: &str) {
        self.end_turn();
        let line = prompt.trim().lines().next().unwrap_or_default();
        self.turn = turn;
        self.label = text::clip(line, LABEL_CHARS).into_owned();
    }

    /// The turn is over: another process may step back now.
    pub fn end_turn(&mut self) {
        self.state = match std::mem::replace(&mut self.state, State::Off) {
            State::Open(place, _) => State::Idle(place),
            other => other,
        };
    }

    /// What the user has to hear, once each.
    pub fn notices(&mut self) -> Vec<String> {
        std::mem::take(&mut self.notices)
    }

    /// Keeps what takes a change back. `old`: all of the file before it, nothing for a new one. An error: the change must not be made.
    pub fn edit(&mut self, record: &JournalRecord, old: &[u8]) -> io::Result<()> {
        if !self.is_on() {
            return Ok(());
        }
        let first = match &self.state {
            State::Open(_, open) => !open.edited.contains(Path::new(&record.path)),
            State::Off | State::Unusable(_) | State::Idle(_) => true,
        };
        let edit = self.look_up(record, old, first)?;
        self.append(&step_frame(&Step::Edit(edit)))?;
        if let State::Open(_, open) = &mut self.state {
            open.edited.insert(PathBuf::from(&record.path));
        }
        Ok(())
    }

    /// Notes what a command changed. Nothing is lost if this fails: it only tells.
    pub fn ran(&mut self, changes: &CommandChanges<'_>) -> io::Result<()> {
        if changes.files.is_empty() && changes.looked || self.place().is_none() {
            return Ok(());
        }
        // Those that matter for taking edits back are named in any case, with what they hold now.
        let mut files = Vec::new();
        let mut more = 0;
        for path in changes.files {
            match &self.state {
                State::Open(place, open) if open.edited.contains(path) => {
                    let hash = read_hash(&place.store.root().join(path));
                    files.push((path.clone(), hash.map_or(Touched::Changed, Touched::Known)));
                }
                _ if files.len() < MAX_TOUCHED => files.push((path.clone(), Touched::Changed)),
                _ => more += 1,
            }
        }
        let ran = Ran {
            command: text::clip(changes.command.trim(), COMMAND_CHARS).into_owned(),
            files,
            more,
            looked: changes.looked,
        };
        self.append(&step_frame(&Step::Ran(ran)))
    }

    /// Whether there is a place for it; the first time there is none, that is said.
    pub fn is_on(&mut self) -> bool {
        match &self.state {
            State::Off => false,
            State::Idle(_) | State::Open(..) => true,
            State::Unusable(why) => {
                self.notices.push(unusable(why));
                self.state = State::Off;
                false
            }
        }
    }

    /// What the record needs besides: mode, folders to be made, the file itself if it is to be kept whole.
    fn look_up<'a>(
        &self,
        record: &JournalRecord,
        old: &'a [u8],
        first: bool,
    ) -> io::Result<Edit<'a>> {
        let Some((store, _)) = self.place() else {
            return Err(io::Error::other("there is no journal"));
        };
        let root = store.root();
        let path = Path::new(&record.path);
        let mut edit = Edit {
            path: path.to_path_buf(),
            before: record.before,
            after: record.after,
            mode: None,
            mode_after: None,
            size: old.len() as u64,
            folders: Vec::new(),
            spans: Vec::new(),
            kept: Kept::Spans(Cow::default()),
        };
        if record.before.is_none() {
            // A name that lost its odd bytes on the way would not be found again.
            if record.path.contains('\u{fffd}') {
                return Err(io::Error::other("its name is not UTF-8"));
            }
            edit.folders = missing_folders(root, path);
            return Ok(edit);
        }
        let mode = fs::symlink_metadata(root.join(path))?.permissions().mode() & 0o777;
        edit.mode = Some(mode);
        let mode_after = record.executable.map(|bit| file::with_execution(mode, bit));
        edit.mode_after = mode_after.filter(|after| *after != mode);
        let replaced: usize = record.spans.iter().map(|span| span.old.len()).sum();
        if replaced == old.len() || first && edit.size <= store.limits().whole_bytes {
            edit.kept = Kept::Whole(old.into());
            return Ok(edit);
        }
        let span = |span: &protocol::Span| Span {
            offset: span.offset,
            old_len: span.old.len() as u64,
            new_len: span.new_len,
        };
        edit.spans = record.spans.iter().map(span).collect();
        let old: Vec<&[u8]> = record.spans.iter().map(|span| &span.old[..]).collect();
        edit.kept = Kept::Spans(old.concat().into());
        Ok(edit)
    }

    fn append(&mut self, frame: &Frame<'_>) -> io::Result<()> {
        let mut taken = std::mem::replace(&mut self.state, State::Off);
        if let State::Idle(place) = taken {
            match Open::start(&place, self.turn, &self.label, frame.len()) {
                Ok((open, removed)) => {
                    self.said(removed, place.store.limits());
                    let place = Place {
                        begun: true,
                        ..place
                    };
                    taken = State::Open(place, open);
                }
                Err(error) if !place.begun && is_no_place(&error) => {
                    let folder = place.session.folder.display();
                    self.notices
                        .push(unusable(&format!("{folder} cannot be made: {error}")));
                    return Ok(());
                }
                Err(error) => {
                    self.state = State::Idle(place);
                    return Err(error);
                }
            }
        }
        let mut result = Ok(());
        if let State::Open(place, open) = &mut taken {
            let (appended, removed) = open.append(place, frame);
            self.said(removed, place.store.limits());
            result = appended;
        }
        self.state = taken;
        result
    }

    fn said(&mut self, removed: Removed, limits: Limits) {
        if removed.entries > 0 {
            self.notices.push(format!(
                "the undo journal of this session holds {} bytes at most: its {} went and can no longer be taken back",
                text::grouped(limits.session_bytes),
                text::counted(removed.entries, "oldest turn")
            ));
        }
        if removed.sessions > 0 {
            self.notices.push(format!(
                "the undo journals hold {} bytes of {} sessions at most: those of the {} went",
                text::grouped(limits.all_bytes),
                text::grouped(limits.sessions as u64),
                text::counted(removed.sessions, "oldest session")
            ));
        }
    }
}

impl Open {
    /// Makes the entry and its first frame.
    fn start(place: &Place, turn: u64, label: &str, need: u64) -> io::Result<(Open, Removed)> {
        let mut removed = Removed::default();
        if !place.begun {
            removed = place.store.make_room(&place.session);
        }
        place.store.create(&place.session)?;
        let Some(lock) = place.session.lock()? else {
            return Err(io::Error::new(
                ErrorKind::ResourceBusy,
                "another zcoder steps back or forth in this session; try again when it has ended",
            ));
        };
        let number = place.session.numbers()?.last().copied().unwrap_or(0) + 1;
        let limits = place.store.limits();
        let room = place.session.make_room(number, need, limits.session_bytes);
        removed.entries += room.entries;
        let session_bytes = place.session.bytes();
        let kind = Kind::Turn {
            turn,
            label: label.to_string(),
        };
        let first = kind_frame(&kind, &clock::rfc3339(SystemTime::now()));
        place.session.count(0, first.len());
        let mut file = new_file(&place.session.path(number))?;
        if let Err(error) = first.write(&mut file) {
            // An entry without its first frame tells nobody anything.
            let _ = fs::remove_file(place.session.path(number));
            return Err(error);
        }
        file::sync_folder(&place.session.folder);
        let open = Open {
            number,
            file,
            bytes: first.len(),
            session_bytes: session_bytes + first.len(),
            _lock: lock,
            edited: HashSet::new(),
        };
        Ok((open, removed))
    }

    /// One frame, on the disk when it returns.
    fn append(&mut self, place: &Place, frame: &Frame<'_>) -> (io::Result<()>, Removed) {
        let need = frame.len();
        let limit = place.store.limits().session_bytes;
        if self.bytes + need > limit {
            let limit = text::grouped(limit);
            let text = format!("the undo journal of one turn holds {limit} bytes at most");
            return (
                Err(io::Error::new(ErrorKind::QuotaExceeded, text)),
                Removed::default(),
            );
        }
        let mut removed = Removed::default();
        // Counted here: to look at all entries for each edit would make a thousand edits expensive.
        self.session_bytes += need;
        if self.session_bytes > limit {
            removed = place.session.make_room(self.number, need, limit);
            self.session_bytes = place.session.bytes() + need;
        }
        place.session.count(self.bytes, self.bytes + need);
        let written = frame.write(&mut self.file);
        let written = written.and_then(|()| self.file.sync_data());
        match written {
            Ok(()) => self.bytes += need,
            // Appended to, the rest of a frame would spoil the next one. If this fails too, so will the next append.
            Err(_) => drop(self.file.set_len(self.bytes)),
        }
        (written, removed)
    }
}

/// The folder is not for us, whatever we write.
fn is_no_place(error: &io::Error) -> bool {
    matches!(
        error.kind(),
        ErrorKind::PermissionDenied
            | ErrorKind::ReadOnlyFilesystem
            | ErrorKind::NotADirectory
            | ErrorKind::NotFound
    )
}

fn unusable(why: &str) -> String {
    format!("there is no undo journal, so the edits of this run cannot be taken back: {why}")
}

/// Folders above a new file that do not exist yet, outermost first.
pub(super) fn missing_folders(root: &Path, path: &Path) -> Vec<PathBuf> {
    let above = path.ancestors().skip(1);
    let above = above.filter(|folder| !folder.as_os_str().is_empty());
    let missing = above.take_while(|folder| fs::symlink_metadata(root.join(folder)).is_err());
    let mut folders: Vec<PathBuf> = missing.map(Path::to_path_buf).collect();
    folders.reverse();
    folders
}

/// The hash of a file as it is; `Some(None)`: there is none. `None`: it cannot be told.
fn read_hash(path: &Path) -> Option<Option<Hash>> {
    match file::open_regular(path) {
        Ok(file) => {
            let mut bytes = Vec::new();
            file.take(MAX_FILE_BYTES + 1).read_to_end(&mut bytes).ok()?;
            (bytes.len() as u64 <= MAX_FILE_BYTES).then(|| Some(digest(&bytes)))
        }
        Err(error) if error.kind() == ErrorKind::NotFound => Some(None),
        Err(_) => None,
    }
}
