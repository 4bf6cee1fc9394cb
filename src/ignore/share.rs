//! The files of a walk, shared among threads. In: a [`Walk`], what to do with a file, and when to stop. Out: when all is done, the workers
//! and why it ended early, if it did. `tools/search.rs` and the benchmarks call it.
//!
//! ```text
//!             ┌─ walk ──────┐     ┌─ files ──────────────────────────┐
//! worker 1 ◀──┤ next folder ├──▶  │ "src/" from file 16, "src/x/", … ├──▶ worker 2
//!             └─────────────┘     │ next number 116                  │    files 16-31
//!                                 └──────────────────────────────────┘
//! ```
//!
//! There is no thread that reads folders for the others: who takes files and sees that there are fewer than [`AHEAD`] left reads one more
//! folder first, if nobody else does. So the others seldom find nothing and have to wait, which would cost them a tenth of their time.
//!
//! Every file has a number in the order of the walk, so results can be put in order whoever found them.
//!
//! Limits: memory is that of the walk, of the folder whose files each worker has, and of less than [`AHEAD`] files and one folder beyond.
//!
//! Invariant: each file is handed out once. Invariant: after a stop no worker begins another file.
//!
//! The locks: that of the files is taken for a moment between files, that of the walk while a folder is read. An owner with a channel
//! would cost two switches of threads for every few files.

use super::walk::{Folder, Walk};
use crate::sys::Cancel;
use std::collections::VecDeque;
use std::fs::File;
use std::io;
use std::ops::Range;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::Instant;

/// Files taken at once: few enough that the last ones are shared, too.
const TAKEN: usize = 16;
/// With fewer files left the next folder is read: enough for the time that takes, few enough that no folder waits open for long.
const AHEAD: usize = 32;

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
    /// Whoever reads folders has this.
    walk: Mutex<&'w mut Walk>,
    files: Mutex<Files>,
}

/// What was read and not handed out yet.
#[derive(Default)]
struct Files {
    folders: VecDeque<Arc<Folder>>,
    /// Of the first folder's files.
    next: usize,
    /// Of the walk's files.
    number: u64,
    /// No folder will follow.
    complete: bool,
    stop: Option<Stop>,
}

/// Some files: their folder, which of its files, and the number of the first.
struct Taken {
    folder: Arc<Folder>,
    files: Range<usize>,
    first: u64,
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
    let source = Source {
        walk: Mutex::new(walk),
        files: Mutex::default(),
    };
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
    let stop = locked(&source.files).stop;
    (workers, stop)
}

fn run<W>(
    source: &Source<'_>,
    limits: &Limits<'_>,
    worker: &mut W,
    work: &(dyn Fn(&mut W, &Entry<'_>) + Sync),
) {
    while let Some(taken) = source.take(limits) {
        for (number, index) in (taken.first..).zip(taken.files) {
            if limits.reached().is_some() {
                // Said by whoever asks for files next.
                break;
            }
            let folder = &taken.folder;
            let name = folder.files().get(index);
            let entry = Entry {
                folder,
                name,
                number,
            };
            work(worker, &entry);
        }
    }
}

impl Source<'_> {
    /// The next files; `None`: there are no more, or it is time to stop.
    fn take(&self, limits: &Limits<'_>) -> Option<Taken> {
        loop {
            let mut files = locked(&self.files);
            files.stop = files.stop.or_else(|| limits.reached());
            if files.stop.is_some() {
                return None;
            }
            let taken = files.take();
            let (few, complete) = (files.are_few(), files.complete);
            drop(files);
            match taken {
                Some(taken) => {
                    if few && !complete {
                        if let Ok(mut walk) = self.walk.try_lock() {
                            self.read_on(&mut walk);
                        }
                    }
                    return Some(taken);
                }
                None if complete => return None,
                None => {
                    let mut walk = locked(&self.walk);
                    // Whoever had the walk until now may have read enough.
                    if locked(&self.files).are_few() {
                        self.read_on(&mut walk);
                    }
                }
            }
        }
    }

    /// Reads a folder. The lock of the walk is held, so that folders come in their order.
    fn read_on(&self, walk: &mut Walk) {
        let folder = walk.next_folder().map(Arc::new);
        let mut files = locked(&self.files);
        files.complete = folder.is_none();
        files.folders.extend(folder);
    }
}

impl Files {
    fn take(&mut self) -> Option<Taken> {
        let folder = Arc::clone(self.folders.front()?);
        let files = self.next..(self.next + TAKEN).min(folder.files().len());
        let first = self.number;
        self.number += files.len() as u64;
        self.next = files.end;
        if self.next == folder.files().len() {
            self.folders.pop_front();
            self.next = 0;
        }
        Some(Taken {
            folder,
            files,
            first,
        })
    }

    fn are_few(&self) -> bool {
        let files = self.folders.iter().map(|folder| folder.files().len());
        files.sum::<usize>() - self.next < AHEAD
    }
}

/// A worker that panicked left nothing half done in here; its panic ends the scope.
fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
