//! Sessions: a commit beside the same calls by hand, the last screen of a long log, its whole replay, a list, and the hash.

use crate::measure::{Case, Effort, Seeded, compare};
use std::fs::{self, File};
use std::io::{self, Write};
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use zcoder::json::Tree;
use zcoder::policy::Profile;
use zcoder::protocol::{Message, TurnId};
use zcoder::session::{Author, FrontEnd, Log, Record, SessionId, Store};
use zcoder::sha256::digest;
use zcoder::sys::random;

/// Some fifty records; a screen has as many lines.
const SCREEN_BYTES: u64 = 24 << 10;

/// The group of `cargo bench`.
pub(crate) fn group(out: &mut dyn Write, effort: Effort) -> io::Result<()> {
    let folder = Folder::new()?;
    let (records, sessions) = match effort {
        Effort::Smoke => (2_000, 50),
        Effort::Long | Effort::Full => (100_000, 2_000),
    };
    hash(out, effort)?;
    let store = Store::new(&folder.path, Path::new("/home/me/app"));
    let mut long = session(&store, records)?;
    reading(out, effort, &store, &long)?;
    commits(out, effort, &folder.path, &store, &mut long)?;
    let many = Store::new(&folder.path, Path::new("/home/me/many"));
    for _ in 0..sessions {
        session(&many, 1)?;
    }
    listing(out, effort, &many)
}

/// A folder that goes with the value.
struct Folder {
    path: PathBuf,
}

impl Folder {
    fn new() -> io::Result<Folder> {
        let name = format!("zcoder-bench-{}", random::id(12)?);
        let path = std::env::temp_dir().join(name);
        fs::create_dir(&path)?;
        Ok(Folder { path })
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        // What cannot be removed stays in the folder for temporary files.
        let _ = fs::remove_dir_all(&self.path);
    }
}

fn failed(error: impl std::fmt::Display) -> io::Error {
    io::Error::other(error.to_string())
}

/// A session of so many records, some 500 bytes each.
fn session(store: &Store, records: usize) -> io::Result<Log> {
    let mut random = Seeded::new(7);
    let mut log = store.begin(Profile::Coding)?;
    let text = "the test".to_string();
    log.append(Record::Title { text });
    let by = Author {
        uid: 1000,
        tty: None,
        front: FrontEnd::OneShot,
    };
    log.begin_turn(TurnId(1), by);
    for index in 0..records {
        log.append(Record::Message(message(&mut random, index)));
    }
    log.commit().map_err(failed)?;
    Ok(log)
}

fn message(random: &mut Seeded, index: usize) -> Message {
    let words = [
        "fn ",
        "main",
        "()",
        " {\n",
        "    ",
        "let total = ",
        "\"sum\"",
        ";\n",
        "é ",
        "the test ",
    ];
    let mut text = String::new();
    let length = 100 + random.below(500);
    while text.len() < length {
        text.push_str(random.pick(&words));
    }
    match index % 2 {
        0 => Message::User { text },
        _ => Message::Assistant {
            content: Arc::new(text),
            thinking: Arc::default(),
            calls: Vec::new(),
        },
    }
}

fn hash(out: &mut dyn Write, effort: Effort) -> io::Result<()> {
    let mut random = Seeded::new(8);
    let bytes: Vec<u8> = (0..effort.corpus_bytes())
        .map(|_| random.below(256) as u8)
        .collect();
    if plain(&bytes) != digest(&bytes) {
        return Err(failed("the hashes differ"));
    }
    let mut cases = [
        Case::new("the plainest loop", || usize::from(plain(&bytes)[0])),
        Case::new("sha256::digest", || usize::from(digest(&bytes)[0])),
    ];
    compare(out, effort, "session: SHA-256", bytes.len(), &mut cases)
}

/// Opening and replaying.
fn reading(out: &mut dyn Write, effort: Effort, store: &Store, log: &Log) -> io::Result<()> {
    let folder = log.folder().ok_or_else(|| failed("no folder"))?;
    let path = folder.join("log-1.jsonl");
    let bytes = fs::read(&path)?;
    let file = File::open(&path)?;
    let megabyte = bytes.len().min(1 << 20);
    let mut cases = [
        Case::new("reading its last megabyte", || {
            let mut tail = vec![0; megabyte];
            let offset = (bytes.len() - megabyte) as u64;
            usize::from(file.read_exact_at(&mut tail, offset).is_ok())
        }),
        Case::new("to its last screen", || {
            let tail = store.tail(log.id());
            let entries = tail.map(|mut tail| tail.earlier(SCREEN_BYTES));
            entries.map_or(0, |entries| entries.map_or(0, |entries| entries.len()))
        }),
    ];
    compare(
        out,
        effort,
        "session: opening a long one",
        megabyte,
        &mut cases,
    )?;
    let lines: Vec<&[u8]> = bytes
        .split(|byte| *byte == b'\n')
        .filter(|line| !line.is_empty())
        .collect();
    let mut cases = [
        Case::new("SHA-256 of each line", || {
            lines.iter().map(|line| usize::from(digest(line)[0])).sum()
        }),
        Case::new("each line to a tree", || {
            lines
                .iter()
                .filter(|line| Tree::parse(line).is_ok())
                .count()
        }),
        Case::new("both, one after the other", || {
            let both = |line: &&[u8]| {
                usize::from(digest(line)[0]) + usize::from(Tree::parse(line).is_ok())
            };
            lines.iter().map(both).sum()
        }),
        // A fork is the same replay without the sync of a folder that an open for writing begins with.
        Case::new("whole replay", || {
            let fork = store.fork(log.id(), None);
            fork.map_or(0, |opened| opened.log.records().len())
        }),
    ];
    let effort = match effort {
        Effort::Smoke => Effort::Smoke,
        Effort::Long | Effort::Full => Effort::Long,
    };
    compare(
        out,
        effort,
        "session: replaying it",
        bytes.len(),
        &mut cases,
    )
}

/// One record a commit; the rate is in records, 1 MB/s means a million of them.
fn commits(
    out: &mut dyn Write,
    effort: Effort,
    folder: &Path,
    store: &Store,
    long: &mut Log,
) -> io::Result<()> {
    let mut short = session(store, 7)?;
    let text = "x".repeat(300);
    let append = |log: &mut Log| {
        let text = text.clone();
        log.append(Record::Message(Message::User { text }));
        usize::from(log.commit().is_ok())
    };
    let by_hand = folder.join("by-hand");
    fs::create_dir(&by_hand)?;
    let log = File::create(by_hand.join("log"))?;
    let line = [b'x'; 500];
    let mut offset = 0;
    let mut hand = || -> io::Result<()> {
        log.write_all_at(&line, offset)?;
        offset += line.len() as u64;
        log.sync_data()?;
        let new = by_hand.join("current.new");
        let mut pointer = File::create(&new)?;
        pointer.write_all(&line[..90])?;
        pointer.sync_all()?;
        fs::rename(&new, by_hand.join("current"))?;
        File::open(&by_hand)?.sync_all()
    };
    let mut cases = [
        Case::new("an append and the same syncs by hand", || {
            usize::from(hand().is_ok())
        }),
        Case::new("to a session of 10 records", || append(&mut short)),
        Case::new("to a long session", || append(long)),
    ];
    compare(
        out,
        effort,
        "session: a commit (bytes of a record)",
        500,
        &mut cases,
    )
}

/// The rate is that of pointers.
fn listing(out: &mut dyn Write, effort: Effort, store: &Store) -> io::Result<()> {
    let ids: Vec<SessionId> = store.list()?.into_iter().map(|listed| listed.id).collect();
    let mut cases = [
        Case::new("reading the pointers", || {
            let read =
                |id: &&SessionId| fs::read(store.folder().join(&id.0).join("current")).is_ok();
            ids.iter().filter(read).count()
        }),
        Case::new("the list", || store.list().map_or(0, |list| list.len())),
    ];
    compare(
        out,
        effort,
        "session: a list (bytes of pointers)",
        ids.len() * 90,
        &mut cases,
    )
}

/// SHA-256 as the standard says it (FIPS 180-4), with nothing done for speed.
fn plain(bytes: &[u8]) -> [u8; 32] {
    let mut message = bytes.to_vec();
    message.push(0x80);
    while message.len() % 64 != 56 {
        message.push(0);
    }
    message.extend_from_slice(&(bytes.len() as u64 * 8).to_be_bytes());
    let (mut state, k) = constants();
    for block in message.chunks_exact(64) {
        let mut w = [0u32; 64];
        for t in 0..64 {
            w[t] = match t {
                0..16 => u32::from_be_bytes([
                    block[4 * t],
                    block[4 * t + 1],
                    block[4 * t + 2],
                    block[4 * t + 3],
                ]),
                _ => {
                    let (x, y) = (w[t - 15], w[t - 2]);
                    let s0 = x.rotate_right(7) ^ x.rotate_right(18) ^ (x >> 3);
                    let s1 = y.rotate_right(17) ^ y.rotate_right(19) ^ (y >> 10);
                    s1.wrapping_add(w[t - 7])
                        .wrapping_add(s0)
                        .wrapping_add(w[t - 16])
                }
            };
        }
        let mut v = state;
        for t in 0..64 {
            let [a, b, c, d, e, f, g, h] = v;
            let s1 = e.rotate_right(6) ^ e.rotate_right(11) ^ e.rotate_right(25);
            let s0 = a.rotate_right(2) ^ a.rotate_right(13) ^ a.rotate_right(22);
            let t1 = h
                .wrapping_add(s1)
                .wrapping_add((e & f) ^ (!e & g))
                .wrapping_add(k[t])
                .wrapping_add(w[t]);
            let t2 = s0.wrapping_add((a & b) ^ (a & c) ^ (b & c));
            v = [t1.wrapping_add(t2), a, b, c, d.wrapping_add(t1), e, f, g];
        }
        for (word, add) in state.iter_mut().zip(v) {
            *word = word.wrapping_add(add);
        }
    }
    let mut hash = [0; 32];
    for (bytes, word) in hash.chunks_exact_mut(4).zip(state) {
        bytes.copy_from_slice(&word.to_be_bytes());
    }
    hash
}

/// The first 32 bits of the fractional parts of the square roots of the first 8 primes, and of the cube roots of the first 64.
fn constants() -> ([u32; 8], [u32; 64]) {
    let (mut state, mut k) = ([0; 8], [0; 64]);
    let is_prime = |n: &u128| (2..*n).all(|d| n % d != 0);
    for (index, prime) in (2u128..).filter(is_prime).take(64).enumerate() {
        // floor(root · 2^32), by halving.
        let root = |power: u32| {
            let mut root = 0u128;
            for bit in (0..36).rev() {
                let next = root | 1 << bit;
                if next.pow(power) <= prime << (32 * power) {
                    root = next;
                }
            }
            root as u32
        };
        if index < 8 {
            state[index] = root(2);
        }
        k[index] = root(3);
    }
    (state, k)
}
