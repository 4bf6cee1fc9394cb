//! The files of a walk, shared among threads. In: a [`Walk`], what to do with a file, and when to stop. Out: when all is done, the workers
//! and why it ended early, if it did. `tools/search.rs` and the benchmarks call it.
//!
//! ```text
//!             ┌─ lock ──────────────────────────┐
//! worker 1 ◀──┤ Folder "src/"   next file 16    ├──▶ worker 2
//! files 0-15  │ Walk            next number 116 │    files 16-31
//!             └─────────────────────────────────┘
//! ```
//!
//! There is no queue and no thread that fills one: who needs files takes the next ones of the present folder, and who finds none left
//! reads the next folder while the others wait. Reading a folder takes a small part of the time that its files take.
//!
//! Every file has a number in the order of the walk, so results can be put in order whoever found them.
//!
//! Limits: memory is that of the walk and, for each worker, the folder whose files it has.
//!
//! Invariant: each file is handed out once. Invariant: after a stop no worker begins another file.
//!
//! The lock: each worker takes it for a moment between files. An owner with a channel would have to run ahead of the workers, which needs
//! a bound and a queue, and would cost two switches of threads for every file.

use super::walk::{Folder, Walk};
use crate::sys::Cancel;
use std::fs::File;
use std::io;
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;
use std::time::Instant;

/// Files taken at once: few enough that the last ones are shared, too.
const TAKEN: usize = 16;

/// When to stop before the end.
#[derive(Debug)]
pub struct Limits<'a> {
    /// Turned from elsewhere.
    pub cancel: &'a Cancel,
    /// Not later than this.
    pub deadline: Option<Instant>,
}

/// Why it ended early.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stop {
    /// The switch was turned.
    Cancelled,
    /// The time was over.
    TimeUp,
}

/// A file of the walk.
#[derive(Debug)]
pub struct Entry<'a> {
    folder: &'a Folder,
    name: &'a [u8],
    number: u64,
}

struct Source<'w> {
    walk: &'w mut Walk,
    folder: Option<Arc<Folder>>,
    /// Of the folder's files.
    next: usize,
    /// Of the walk's files.
    number: u64,
    stop: Option<Stop>,
}

impl Limits<'_> {
    /// Whether it is time. Asked between files and, in large ones, between blocks.
    pub fn reached(&self) -> Option<Stop> {
        if self.cancel.is_cancelled() {
            return Some(Stop::Cancelled);
        }
        let over = self.deadline.is_some_and(|end| Instant::now() >= end);
        over.then_some(Stop::TimeUp)
    }
}

impl Entry<'_> {
    /// Its place in the order of the walk, from 0.
    pub fn number(&self) -> u64 {
        self.number
    }

    /// From the start of the walk.
    pub fn path(&self) -> Vec<u8> {
        [self.folder.path(), self.name].concat()
    }

    /// Opens it, without following links and without waiting.
    pub fn open(&self) -> io::Result<File> {
        self.folder.open(self.name)
    }
}

/// Calls `work` with every file, on as many threads as there are `workers`, this one among them. Gives the workers back, and the reason if
/// it ended early. Where the system has no thread left, the others do the work.
pub fn share<W: Send>(
    walk: &mut Walk,
    limits: &Limits<'_>,
    mut workers: Vec<W>,
    work: &(dyn Fn(&mut W, &Entry<'_>) + Sync),
) -> (Vec<W>, Option<Stop>) {
    let source = Mutex::new(Source {
        walk,
        folder: None,
        next: 0,
        number: 0,
        stop: None,
    });
    thread::scope(|scope| {
        let mut own = None;
        for worker in &mut workers {
            if own.is_none() {
                own = Some(worker);
                continue;
            }
            let source = &source;
            let thread = thread::Builder::new().name("search".to_string());
            let run = move || run(source, limits, worker, work);
            // Not started: one worker less.
            let _ = thread.spawn_scoped(scope, run);
        }
        if let Some(worker) = own {
            run(&source, limits, worker, work);
        }
    });
    let source = source.into_inner().unwrap_or_else(PoisonError::into_inner);
    (workers, source.stop)
}

fn run<W>(
    source: &Mutex<Source<'_>>,
    limits: &Limits<'_>,
    worker: &mut W,
    work: &(dyn Fn(&mut W, &Entry<'_>) + Sync),
) {
    loop {
        // A worker that panicked left nothing half done in here; its panic ends the scope.
        let taken = source
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .take(limits);
        let Some((folder, files, first)) = taken else {
            return;
        };
        for (number, index) in (first..).zip(files) {
            if limits.reached().is_some() {
                // Said by whoever asks for files next.
                break;
            }
            let name = folder.files().get(index);
            let entry = Entry {
                folder: &folder,
                name,
                number,
            };
            work(worker, &entry);
        }
    }
}

impl Source<'_> {
    /// The next files: their folder, which of its files, and the number of the first.
    fn take(&mut self, limits: &Limits<'_>) -> Option<(Arc<Folder>, std::ops::Range<usize>, u64)> {
        loop {
            self.stop = self.stop.or_else(|| limits.reached());
            if self.stop.is_some() {
                return None;
            }
            if let Some(folder) = &self.folder {
                let files = self.next..(self.next + TAKEN).min(folder.files().len());
                if !files.is_empty() {
                    let first = self.number;
                    self.next = files.end;
                    self.number += files.len() as u64;
                    return Some((Arc::clone(folder), files, first));
                }
            }
            self.folder = Some(Arc::new(self.walk.next_folder()?));
            self.next = 0;
        }
    }
}
