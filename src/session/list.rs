//! The sessions of a workspace, for a list: what `current` says of each, and the rest from a cache that is believed only where it was made
//! from exactly that `current`.
//!
//! ```text
//! 20260821-090000123-x1y2z3a4/current      17 log-1.jsonl 48210 5f0c…a9
//! index    {"id":"20260821-…","current":"17 log-1.jsonl 48210 5f0c…a9","title":"the test fails","last":"2026-08-21T…Z","records":94,"prompted":true}⏎
//! ```
//!
//! What is not in the cache is read from the end of the log, back to the last title or turn, which names it. A cache that is lost, damaged
//! or written by two at once costs that time and nothing else.
//!
//! Limits: 4 MiB of a log are read for its title; what a cache that is out of date says of it counts where they hold none.
//!
//! Invariant: a session is listed because its folder is there, never because the cache says so.

use super::SessionId;
use super::back::{Back, Piece};
use super::disk::Disk;
use super::pointer::Pointer;
use super::record::Record;
use crate::json::{Field, FieldError, Tree, Writer};
use crate::protocol::Message;
use crate::sort;
use crate::sys::clock;
use crate::sys::dir::names;
use std::fs;
use std::io;
use std::path::Path;
use std::time::{SystemTime, UNIX_EPOCH};

/// Most turns are shorter.
const MAX_LOOK_BYTES: usize = 4 << 20;
/// Of the cache: some 100,000 sessions.
const MAX_INDEX_BYTES: u64 = 64 << 20;

/// A session of the list.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Listed {
    /// Its id.
    pub id: SessionId,
    /// What it is called, if it is.
    pub title: Option<String>,
    /// When something was recorded last.
    pub last: SystemTime,
    /// How many records it has.
    pub records: u64,
    /// Committed bytes of its last log.
    pub bytes: u64,
    /// Somebody has asked for something in it; others are not for lists.
    pub prompted: bool,
    /// `current` is missing or damaged, or the end of the log is.
    pub damaged: bool,
}

/// What the cache knows of one.
struct Cached {
    current: String,
    listed: Listed,
}

pub(super) fn list(disk: &Disk, folder: &Path) -> io::Result<Vec<Listed>> {
    let cached = cache(disk, folder);
    let (mut all, mut fresh) = (Vec::new(), 0);
    for id in names(folder)?.into_iter().filter(|name| is_id(name)) {
        let path = folder.join(&id);
        let current = match fs::read(path.join("current")) {
            Ok(bytes) => bytes,
            // Files beside the sessions are none; a session that lost its pointer still is one.
            Err(_) if !path.is_dir() => continue,
            Err(_) => Vec::new(),
        };
        let pointer = Pointer::parse(&current);
        let current = String::from_utf8_lossy(&current).trim_end().to_string();
        let known = cached.binary_search_by(|cached| cached.listed.id.0.as_str().cmp(&id));
        let listed = match (known, pointer) {
            (Ok(at), Some(pointer)) if cached[at].current == current => Listed {
                bytes: pointer.length,
                ..cached[at].listed.clone()
            },
            (known, _) => {
                fresh += 1;
                let mut listed = look(disk, &path, SessionId(id));
                let before = known.ok().and_then(|at| cached[at].listed.title.clone());
                listed.title = listed.title.or(before);
                listed
            }
        };
        all.push(Cached { current, listed });
    }
    if fresh > 0 || all.len() != cached.len() {
        // Only a cache: without it the next list takes longer.
        let _ = keep(disk, folder, &all);
    }
    let mut all: Vec<Listed> = all.into_iter().map(|cached| cached.listed).collect();
    sort::by(&mut all, |a, b| (b.last, &b.id).cmp(&(a.last, &a.id)));
    Ok(all)
}

/// Whether a session may be called so. A folder with any other name is none of ours, and could not be opened.
pub(super) fn is_id(name: &str) -> bool {
    let plain = |c: char| c.is_ascii_alphanumeric() || c == '-';
    !name.is_empty() && name.chars().all(plain)
}

/// What the end of a log tells.
fn look(disk: &Disk, path: &Path, id: SessionId) -> Listed {
    let mut listed = Listed {
        id,
        title: None,
        last: UNIX_EPOCH,
        records: 0,
        bytes: 0,
        prompted: false,
        damaged: false,
    };
    let Ok(mut back) = Back::begin(disk, path, MAX_LOOK_BYTES) else {
        listed.damaged = true;
        return listed;
    };
    listed.bytes = back.pointer.length;
    while back.read_bytes < MAX_LOOK_BYTES as u64 {
        let line = match back.next() {
            Ok(Some(Piece::Good(line))) => line,
            Ok(Some(Piece::Bad(_))) => continue,
            Ok(None) | Err(_) => break,
        };
        if listed.records == 0 {
            listed.records = line.envelope.seq + 1;
            listed.last = line.envelope.at;
        }
        match line.record {
            Record::Title { text } => {
                listed.title.get_or_insert(text);
            }
            Record::TurnStarted { title, .. } => {
                listed.prompted = true;
                listed.title = listed.title.or(title);
            }
            Record::Message(Message::User { .. }) => listed.prompted = true,
            _ => {}
        }
        if listed.prompted && listed.title.is_some() {
            break;
        }
    }
    listed.damaged = back.damaged || listed.records == 0;
    listed
}

/// The cache, by id; empty where it cannot be read.
fn cache(disk: &Disk, folder: &Path) -> Vec<Cached> {
    let bytes = disk.read(&folder.join("index"), MAX_INDEX_BYTES);
    let bytes = bytes.unwrap_or_default();
    let lines = bytes.split(|byte| *byte == b'\n');
    let read = |line: &[u8]| {
        let tree = Tree::parse_strict(line).ok()?;
        cached(&Field::root(tree.root())).ok()
    };
    let mut all: Vec<Cached> = lines.filter_map(read).collect();
    sort::by(&mut all, |a, b| a.listed.id.cmp(&b.listed.id));
    all
}

fn cached(line: &Field<'_>) -> Result<Cached, FieldError> {
    let last = line.member("last")?;
    let title = line.optional("title")?.map(|title| title.string());
    let id = line.member("id")?.string()?;
    Ok(Cached {
        current: line.member("current")?.string()?.to_string(),
        listed: Listed {
            id: SessionId(id.to_string()),
            title: title.transpose()?.map(str::to_string),
            last: clock::parse_rfc3339(last.string()?).ok_or_else(|| last.error("a time"))?,
            records: line.member("records")?.u64()?,
            bytes: 0,
            prompted: line.member("prompted")?.bool()?,
            damaged: false,
        },
    })
}

fn keep(disk: &Disk, folder: &Path, all: &[Cached]) -> io::Result<()> {
    let mut bytes = Vec::new();
    // What is damaged is looked at each time: it may have been mended.
    for Cached { current, listed } in all.iter().filter(|cached| !cached.listed.damaged) {
        let mut json = Writer::new();
        json.begin_object().key("id").string(&listed.id.0);
        json.key("current").string(current);
        if let Some(title) = &listed.title {
            json.key("title").string(title);
        }
        json.key("last").string(&clock::rfc3339(listed.last));
        json.key("records").u64(listed.records);
        json.key("prompted").bool(listed.prompted).end_object();
        bytes.extend_from_slice(&json.finish());
        bytes.push(b'\n');
    }
    let (new, index) = (folder.join("index.new"), folder.join("index"));
    disk.create(&new)?.write_at(0, &bytes)?;
    disk.rename(&new, &index)
}
