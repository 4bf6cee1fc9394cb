//! A tree, folder by folder, without what is to be left out. In: a folder and [`Options`]. Out: one [`Folder`] after the other with the
//! names of its files. `share.rs` hands the files to threads, `tools/search.rs` reads them, `tools/list.rs` shows them.
//!
//! ```text
//! app/              .gitignore: target/
//!   README.md  main.c  src/ a.c  target/ …  .env  .git/ …  out -> /etc
//!
//! Folder ""      README.md main.c
//! Folder "src/"  a.c
//! ignored 1 (target)   hidden 2 (.env, .gitignore)
//! ```
//!
//! Files of a folder come before its folders, both in the order of their bytes. Folders are opened from the folder above and files from
//! theirs, so neither the length of a path nor a folder exchanged for a link matters.
//!
//! Left out: what the rules ignore (`levels.rs`); names with a dot in front unless asked for; `.git` always; links; what is neither file
//! nor folder. Unreadable folders become [`Problem`]s.
//!
//! Limits: memory is that of the names in the folders between the start and where the walk is; [`MAX_HANDLES`] folders are open at most,
//! besides those that a caller holds; [`MAX_PROBLEMS`] problems are kept, the others counted.
//!
//! Invariant: nothing outside the start is reached, whatever links and `..` there are.
//! Invariant: the order depends on the names alone, and there is no recursion.
//!
//! Read next: `share.rs`.

use super::gitignore::Verdict;
use super::glob::Glob;
use super::levels::{Found, Levels, Problem};
use crate::sort;
use crate::sys::dir::{Dir, Kind};
use std::fs::File;
use std::io;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// Folders between the start and the present one that stay open. The others are opened again when it is their turn, from the start.
const MAX_HANDLES: usize = 64;
/// Problems that are kept.
const MAX_PROBLEMS: usize = 20;
/// Room for names while a folder is read.
const BUFFER_BYTES: usize = 32 << 10;

/// What is looked at.
#[derive(Clone, Debug, Default)]
pub struct Options {
    /// The workspace: rules count from here down. Full path.
    pub root: PathBuf,
    /// Names that begin with a dot too.
    pub hidden: bool,
    /// The user's own file of ignore rules.
    pub user_rules: Option<PathBuf>,
    /// Device and inode of folders that are never entered.
    pub closed: Vec<(u64, u64)>,
    /// Only files whose path from the start, or the path of a folder they lie in, is meant by one of these. Empty: all.
    pub only: Vec<Glob>,
}

/// The walk. An iterator in all but the name: [`Walk::next_folder`].
#[derive(Debug)]
pub struct Walk {
    options: Options,
    top: Arc<Dir>,
    /// The full path of where we are; `start` bytes of it, with a slash, are the start's.
    path: Vec<u8>,
    start: usize,
    /// Folders that have folders we have not been to.
    frames: Vec<Frame>,
    /// The start itself, until it was read.
    first: Option<Levels>,
    buffer: Vec<u8>,
    hidden: u64,
    ignored: u64,
    folders: u64,
    problems: Vec<Problem>,
    more_problems: u64,
}

#[derive(Debug)]
struct Frame {
    /// How much of the path it is, with its slash.
    path: usize,
    dir: Option<Arc<Dir>>,
    levels: Levels,
    /// Still to go to, the next one last.
    folders: Names,
    /// Whether all of it is wanted, whatever `only` says.
    wanted: bool,
}

/// A folder with files.
#[derive(Debug)]
pub struct Folder {
    dir: Arc<Dir>,
    /// From the start, with a slash at the end unless empty.
    path: Vec<u8>,
    files: Names,
}

/// Names, one after the other in one piece of memory.
#[derive(Debug, Default)]
pub struct Names {
    bytes: Vec<u8>,
    spans: Vec<(u32, u32)>,
}

impl Walk {
    /// Begins at `start`, a full path without links. Errors: it is no folder, or cannot be opened.
    pub fn new(start: &Path, options: Options) -> io::Result<Walk> {
        let top = Arc::new(Dir::open(start)?);
        let mut problems = Vec::new();
        let user = options.user_rules.as_deref();
        let first = Levels::above(start, &options.root, user, &mut problems);
        let mut path = start.as_os_str().as_bytes().to_vec();
        if !path.ends_with(b"/") {
            path.push(b'/');
        }
        Ok(Walk {
            options,
            top,
            start: path.len(),
            path,
            frames: Vec::new(),
            first: Some(first),
            buffer: vec![0; BUFFER_BYTES],
            hidden: 0,
            ignored: 0,
            folders: 0,
            problems,
            more_problems: 0,
        })
    }

    /// The next folder that has files; `None` at the end.
    pub fn next_folder(&mut self) -> Option<Folder> {
        if let Some(levels) = self.first.take() {
            let folder = self.enter(Arc::clone(&self.top), &levels, self.options.only.is_empty());
            if folder.is_some() {
                return folder;
            }
        }
        while let Some(index) = self.frames.len().checked_sub(1) {
            let frame = &mut self.frames[index];
            let Some(name) = frame.folders.last() else {
                self.frames.pop();
                continue;
            };
            self.path.truncate(frame.path);
            self.path.extend_from_slice(name);
            let (levels, wanted) = (frame.levels.clone(), frame.wanted || self.is_meant());
            let name = self.frames[index].path..self.path.len();
            let opened = self
                .handle(index)
                .and_then(|dir| dir.open_folder(&self.path[name]));
            let frame = &mut self.frames[index];
            frame.folders.pop();
            if frame.folders.is_empty() {
                // Before its last folder is entered: so a single line of folders takes one frame, however long it is.
                self.frames.pop();
            }
            match opened {
                Ok(dir) => {
                    self.path.push(b'/');
                    let folder = self.enter(Arc::new(dir), &levels, wanted);
                    if folder.is_some() {
                        return folder;
                    }
                }
                Err(error) => self.unreadable(error),
            }
        }
        None
    }

    /// Names left out because of a dot in front; a folder counts once.
    pub fn hidden(&self) -> u64 {
        self.hidden
    }

    /// Names left out by a rule; a folder counts once.
    pub fn ignored(&self) -> u64 {
        self.ignored
    }

    /// Folders read.
    pub fn folders(&self) -> u64 {
        self.folders
    }

    /// What could not be read or understood so far, and how much more of it there was.
    pub fn problems(&self) -> (&[Problem], u64) {
        (&self.problems, self.more_problems)
    }

    /// Reads a folder: `path` is its own, with a slash. Its folders become a frame, its files the result.
    fn enter(&mut self, dir: Arc<Dir>, levels: &Levels, wanted: bool) -> Option<Folder> {
        if self.is_closed(&dir) {
            return None;
        }
        self.folders += 1;
        let (mut files, mut folders) = (Names::default(), Names::default());
        let mut found = Found::default();
        let (shows_hidden, mut hidden) = (self.options.hidden, 0);
        let read = dir.read(&mut self.buffer, &mut |name, kind| {
            found.see(name, kind);
            if name == b".git" {
                return;
            }
            if !shows_hidden && name.starts_with(b".") {
                hidden += 1;
                return;
            }
            match kind {
                Kind::File => files.push(name),
                Kind::Folder => folders.push(name),
                Kind::Link | Kind::Fifo | Kind::Socket | Kind::Device => {}
            }
        });
        self.hidden += hidden;
        let here = self.path.len();
        if let Err(error) = read {
            // What was read before the error is shown.
            self.unreadable(error);
        }
        let folder_path = match &self.path[..here] {
            [rest @ .., b'/'] if !rest.is_empty() => rest,
            path => path,
        };
        let mut problems = Vec::new();
        let levels = levels.enter(&dir, folder_path, found, &mut problems);
        problems
            .into_iter()
            .for_each(|problem| self.problem(problem));
        self.leave_out(&mut files, &levels, false, wanted);
        self.leave_out(&mut folders, &levels, true, true);
        files.sort();
        folders.sort();
        folders.spans.reverse();
        if !folders.is_empty() {
            self.frames.push(Frame {
                path: here,
                dir: Some(Arc::clone(&dir)),
                levels,
                folders,
                wanted,
            });
            if let Some(old) = self.frames.len().checked_sub(MAX_HANDLES + 1) {
                self.frames[old].dir = None;
            }
        }
        if files.is_empty() {
            return None;
        }
        Some(Folder {
            dir,
            path: self.path[self.start..here].to_vec(),
            files,
        })
    }

    /// Drops the names that are ignored or, unless all are wanted, not asked for.
    fn leave_out(&mut self, names: &mut Names, levels: &Levels, is_folder: bool, wanted: bool) {
        let here = self.path.len();
        let mut kept = Vec::with_capacity(names.spans.len());
        for span in &names.spans {
            self.path.truncate(here);
            self.path.extend_from_slice(names.at(*span));
            match levels.verdict(&self.path, is_folder) {
                Some(Verdict::Ignored) => self.ignored += 1,
                Some(Verdict::Kept) | None if wanted || self.is_meant() => kept.push(*span),
                Some(Verdict::Kept) | None => {}
            }
        }
        self.path.truncate(here);
        names.spans = kept;
    }

    /// Whether `only` names the path where we are.
    fn is_meant(&self) -> bool {
        let path = &self.path[self.start..];
        self.options.only.iter().any(|glob| glob.is_match(path))
    }

    fn is_closed(&self, dir: &Dir) -> bool {
        // Without the list there is nothing to ask the system for.
        let closed = &self.options.closed;
        !closed.is_empty() && dir.identity().is_ok_and(|own| closed.contains(&own))
    }

    /// The open folder of a frame. One that was closed is opened again from the start, name by name, and those right above it with it:
    /// on the way back they are needed next.
    fn handle(&mut self, index: usize) -> io::Result<Arc<Dir>> {
        if let Some(dir) = &self.frames[index].dir {
            return Ok(Arc::clone(dir));
        }
        let kept_open = index.saturating_sub(MAX_HANDLES / 2);
        let mut dir = Arc::clone(&self.top);
        let mut at = self.start;
        let mut frame = kept_open;
        loop {
            while frame < index && self.frames[frame].path < at {
                frame += 1;
            }
            if self.frames[frame].path == at {
                self.frames[frame].dir = Some(Arc::clone(&dir));
            }
            let rest = &self.path[at..self.frames[index].path];
            let Some(end) = rest.iter().position(|b| *b == b'/') else {
                return Ok(dir);
            };
            dir = Arc::new(dir.open_folder(&rest[..end])?);
            at += end + 1;
        }
    }

    /// Takes note that where we are cannot be read.
    fn unreadable(&mut self, error: io::Error) {
        let path = self.path.clone();
        self.problem(Problem::Unreadable { path, error });
    }

    fn problem(&mut self, problem: Problem) {
        match self.problems.len() < MAX_PROBLEMS {
            true => self.problems.push(problem),
            false => self.more_problems += 1,
        }
    }
}

impl Folder {
    /// From the start, with a slash at the end unless it is the start itself.
    pub fn path(&self) -> &[u8] {
        &self.path
    }

    /// The names of its files, in order.
    pub fn files(&self) -> &Names {
        &self.files
    }

    /// Opens one of its files, which may have been exchanged meanwhile: see [`Dir::open_file`].
    pub fn open(&self, name: &[u8]) -> io::Result<File> {
        self.dir.open_file(name)
    }
}

impl Names {
    /// How many.
    pub fn len(&self) -> usize {
        self.spans.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.spans.is_empty()
    }

    /// One of them; empty behind the last.
    pub fn get(&self, index: usize) -> &[u8] {
        self.spans.get(index).map_or(&[], |span| self.at(*span))
    }

    /// All of them.
    pub fn iter(&self) -> impl Iterator<Item = &[u8]> {
        self.spans.iter().map(|span| self.at(*span))
    }

    fn at(&self, (begin, end): (u32, u32)) -> &[u8] {
        &self.bytes[begin as usize..end as usize]
    }

    /// Names of one folder beyond 4 GiB are left out; no file system has such folders.
    fn push(&mut self, name: &[u8]) {
        let begin = u32::try_from(self.bytes.len());
        let end = u32::try_from(self.bytes.len() + name.len());
        if let (Ok(begin), Ok(end)) = (begin, end) {
            self.bytes.extend_from_slice(name);
            self.spans.push((begin, end));
        }
    }

    fn sort(&mut self) {
        let Names { bytes, spans } = self;
        let at = |span: &(u32, u32)| &bytes[span.0 as usize..span.1 as usize];
        sort::by(spans, |a, b| at(a).cmp(at(b)));
    }

    fn last(&self) -> Option<&[u8]> {
        self.spans.last().map(|span| self.at(*span))
    }

    fn pop(&mut self) {
        self.spans.pop();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sys::random;
    use std::fs;

    /// A way down with a folder beside it at each level: the frames of all levels wait until the way back.
    #[test]
    fn few_folders_stay_open_however_deep_the_walk_is() {
        const LEVELS: usize = 3 * MAX_HANDLES;
        let root = std::env::temp_dir().join(random::id(12).expect("random name"));
        let mut at = root.clone();
        for _ in 0..LEVELS {
            fs::create_dir_all(at.join("z")).expect("folder");
            fs::write(at.join("z/file"), "").expect("file");
            at.push("d");
        }
        let options = Options {
            root: root.clone(),
            ..Options::default()
        };
        let mut walk = Walk::new(&root, options).expect("opens");
        let (mut files, mut deepest, mut most) = (0, 0, 0);
        while walk.next_folder().is_some() {
            files += 1;
            let open = walk.frames.iter().filter(|frame| frame.dir.is_some());
            deepest = deepest.max(walk.frames.len());
            most = most.max(open.count());
        }
        fs::remove_dir_all(&root).expect("removes");
        let (problems, _) = walk.problems();
        assert_eq!((problems.len(), files), (0, LEVELS));
        assert_eq!(deepest, LEVELS - 1);
        assert!((MAX_HANDLES / 2..=MAX_HANDLES).contains(&most), "{most}");
    }
}
