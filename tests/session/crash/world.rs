//! A disk as a power cut sees it: what is safe, what the program sees, and every mixture of the two that may be found afterwards.
//!
//! ```text
//! Create a, Write a "x…" (600 bytes), SyncData a, Rename a → b          nothing of the folder is synced
//! a's name    not there │ there          its bytes are safe: no choice
//! the rename  not done  │ done           4 states: {}, {a}, {b}, {b}
//! ```
//!
//! A file's unsynced bytes: each sector as it was safe, or as any change since has left it, or, where nothing was safe, bytes of a file that
//! is long gone; its length any that it has had, or any number of whole sectors between those. A folder's unsynced changes: any subset,
//! in their order. Syncing a file makes its bytes safe and not its name; syncing a folder makes names safe and no bytes.
//!
//! Invariant: a choice's first value is "nothing of it is safe", its last one "all of it".

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use zcoder::session::Operation;

/// Written whole or not at all.
pub(super) const SECTOR: usize = 512;

/// Files with their bytes; `None`: a folder.
pub(super) type Layout = BTreeMap<PathBuf, Option<Vec<u8>>>;

type Names = BTreeMap<String, usize>;

/// The disk.
#[derive(Clone, Debug)]
pub(super) struct World {
    nodes: Vec<Node>,
}

#[derive(Clone, Debug)]
enum Node {
    Folder {
        safe: Names,
        now: Names,
        pending: Vec<Change>,
    },
    File {
        safe: Vec<u8>,
        now: Vec<u8>,
        /// As each change since the last sync has left it.
        pending: Vec<Vec<u8>>,
    },
}

#[derive(Clone, Debug)]
enum Change {
    Add(String, usize),
    Move(String, String, usize),
    Drop(String),
}

/// One thing that may have happened or not.
#[derive(Debug)]
pub(super) enum Choice {
    Name(usize, usize),
    Size(usize, Vec<usize>),
    Sector(usize, usize, Vec<Vec<u8>>),
}

impl Choice {
    pub(super) fn values(&self) -> usize {
        match self {
            Choice::Name(..) => 2,
            Choice::Size(_, sizes) => sizes.len(),
            Choice::Sector(_, _, versions) => versions.len(),
        }
    }
}

impl World {
    /// A disk on which all of this is safe.
    pub(super) fn of(layout: &Layout) -> World {
        let mut world = World {
            nodes: vec![folder()],
        };
        for (path, content) in layout {
            let node = match content {
                Some(bytes) => file(bytes.clone()),
                None => folder(),
            };
            world.add(path, node);
        }
        for node in &mut world.nodes {
            node.sync();
        }
        world
    }

    fn add(&mut self, path: &Path, node: Node) {
        self.nodes.push(node);
        let new = self.nodes.len() - 1;
        self.change(path, Change::Add(name(path), new));
    }

    fn change(&mut self, path: &Path, change: Change) {
        let above = self.find(path.parent().expect("not the root"));
        let Node::Folder { now, pending, .. } = &mut self.nodes[above] else {
            panic!("{} lies in a file", path.display());
        };
        apply(now, &change);
        pending.push(change);
    }

    fn find(&self, path: &Path) -> usize {
        path.iter().fold(0, |at, part| match &self.nodes[at] {
            Node::Folder { now, .. } => *now
                .get(part.to_str().expect("UTF-8"))
                .unwrap_or_else(|| panic!("{} is not there", path.display())),
            Node::File { .. } => panic!("{} lies in a file", path.display()),
        })
    }

    fn write(&mut self, path: &Path, edit: impl FnOnce(&mut Vec<u8>)) {
        let at = self.find(path);
        let Node::File { now, pending, .. } = &mut self.nodes[at] else {
            panic!("{} is a folder", path.display());
        };
        edit(now);
        pending.push(now.clone());
    }

    /// What an operation does.
    pub(super) fn play(&mut self, operation: &Operation) {
        match operation {
            Operation::Create { path } => self.add(path, file(Vec::new())),
            Operation::Mkdir { path } => self.add(path, folder()),
            Operation::Write {
                path,
                offset,
                bytes,
            } => self.write(path, |now| {
                let start = usize::try_from(*offset).expect("small");
                let end = start + bytes.len();
                now.resize(now.len().max(end), 0);
                now[start..end].copy_from_slice(bytes);
            }),
            Operation::Truncate { path, len } => {
                let len = usize::try_from(*len).expect("small");
                self.write(path, |now| now.resize(len, 0));
            }
            Operation::SyncData { path }
            | Operation::SyncFile { path }
            | Operation::SyncFolder { path } => {
                let at = self.find(path);
                self.nodes[at].sync();
            }
            Operation::Rename { from, to } => {
                assert_eq!(from.parent(), to.parent(), "a rename within one folder");
                let moved = self.find(from);
                self.change(from, Change::Move(name(from), name(to), moved));
            }
            Operation::Unlink { path } => self.change(path, Change::Drop(name(path))),
            Operation::Committed { .. } => {}
        }
    }

    /// What the program sees, and what is left when it is killed.
    pub(super) fn now(&self) -> Layout {
        let found = self.nodes.iter().map(|node| match node {
            Node::Folder { now, .. } => Found::Folder(now.clone()),
            Node::File { now, .. } => Found::File(now.clone()),
        });
        laid_out(&found.collect::<Vec<_>>())
    }

    /// Whether a sync of this has anything to do.
    pub(super) fn is_pending(&self, path: &Path) -> bool {
        match &self.nodes[self.find(path)] {
            Node::Folder { pending, .. } => !pending.is_empty(),
            Node::File { pending, .. } => !pending.is_empty(),
        }
    }

    /// What may or may not be safe. A thing that has one value only is no choice.
    pub(super) fn choices(&self) -> Vec<Choice> {
        let mut choices = Vec::new();
        for (at, node) in self.nodes.iter().enumerate() {
            match node {
                Node::Folder { pending, .. } => {
                    choices.extend((0..pending.len()).map(|change| Choice::Name(at, change)));
                }
                Node::File { safe, pending, .. } if !pending.is_empty() => {
                    choices.push(Choice::Size(at, sizes(safe, pending)));
                    for sector in 0..extent(safe, pending).div_ceil(SECTOR) {
                        let versions = versions(safe, pending, sector);
                        choices.push(Choice::Sector(at, sector, versions));
                    }
                }
                Node::File { .. } => {}
            }
        }
        choices.retain(|choice| choice.values() > 1);
        choices
    }

    /// What is found after a crash that left these values of the choices.
    pub(super) fn state(&self, choices: &[Choice], values: &[usize]) -> Layout {
        let mut found: Vec<Found> = self.nodes.iter().map(Node::found).collect();
        let mut sizes = BTreeMap::new();
        for (choice, value) in choices.iter().zip(values.iter().copied()) {
            match choice {
                Choice::Name(at, change) => {
                    if let (Found::Folder(names), Node::Folder { pending, .. }, 1) =
                        (&mut found[*at], &self.nodes[*at], value)
                    {
                        apply(names, &pending[*change]);
                    }
                }
                Choice::Size(at, all) => drop(sizes.insert(*at, all[value])),
                Choice::Sector(at, sector, versions) => {
                    if let Found::File(bytes) = &mut found[*at] {
                        let start = sector * SECTOR;
                        bytes.resize(bytes.len().max(start + SECTOR), 0);
                        bytes[start..start + SECTOR].copy_from_slice(&versions[value]);
                    }
                }
            }
        }
        for (at, node) in self.nodes.iter().enumerate() {
            if let (Found::File(bytes), Node::File { safe, .. }) = (&mut found[at], node) {
                bytes.resize(sizes.get(&at).copied().unwrap_or(safe.len()), 0);
            }
        }
        laid_out(&found)
    }

    /// What values mean, for a person.
    pub(super) fn told(&self, choices: &[Choice], values: &[usize]) -> String {
        let mut told = Vec::new();
        for (choice, value) in choices.iter().zip(values.iter().copied()) {
            let last = choice.values() - 1;
            match choice {
                Choice::Name(at, change) if value < last => {
                    if let Node::Folder { pending, .. } = &self.nodes[*at] {
                        told.push(format!("{:?} not done", pending[*change]));
                    }
                }
                Choice::Size(at, sizes) if value < last => {
                    told.push(format!("node {at} has {} bytes", sizes[value]));
                }
                Choice::Sector(at, sector, _) if value < last => {
                    told.push(format!("sector {sector} of node {at} is version {value}"));
                }
                _ => {}
            }
        }
        told.join(", ")
    }
}

impl Node {
    fn sync(&mut self) {
        match self {
            Node::Folder { safe, now, pending } => {
                safe.clone_from(now);
                pending.clear();
            }
            Node::File { safe, now, pending } => {
                safe.clone_from(now);
                pending.clear();
            }
        }
    }

    /// Nothing of what is pending.
    fn found(&self) -> Found {
        match self {
            Node::Folder { safe, .. } => Found::Folder(safe.clone()),
            Node::File { safe, .. } => Found::File(safe.clone()),
        }
    }
}

enum Found {
    Folder(Names),
    File(Vec<u8>),
}

fn laid_out(found: &[Found]) -> Layout {
    fn walk(found: &[Found], at: usize, path: &Path, layout: &mut Layout) {
        if let Found::Folder(names) = &found[at] {
            for (name, below) in names {
                let path = path.join(name);
                let content = match &found[*below] {
                    Found::Folder(_) => None,
                    Found::File(bytes) => Some(bytes.clone()),
                };
                layout.insert(path.clone(), content);
                walk(found, *below, &path, layout);
            }
        }
    }
    let mut layout = Layout::new();
    walk(found, 0, Path::new(""), &mut layout);
    layout
}

fn folder() -> Node {
    Node::Folder {
        safe: Names::new(),
        now: Names::new(),
        pending: Vec::new(),
    }
}

fn file(bytes: Vec<u8>) -> Node {
    Node::File {
        safe: Vec::new(),
        pending: Vec::new(),
        now: bytes,
    }
}

fn name(path: &Path) -> String {
    let name = path.file_name().and_then(|name| name.to_str());
    name.expect("UTF-8").to_string()
}

/// A rename takes the place of what was there in one step, and of nothing that its old name may mean by now.
fn apply(names: &mut Names, change: &Change) {
    match change {
        Change::Add(name, node) => drop(names.insert(name.clone(), *node)),
        Change::Move(from, to, node) => {
            names.remove(from);
            names.insert(to.clone(), *node);
        }
        Change::Drop(name) => drop(names.remove(name)),
    }
}

fn extent(safe: &[u8], pending: &[Vec<u8>]) -> usize {
    let images = pending.iter().map(Vec::len);
    images.max().unwrap_or(0).max(safe.len())
}

/// The lengths that a file has had, and those in between that end at a sector.
fn sizes(safe: &[u8], pending: &[Vec<u8>]) -> Vec<usize> {
    let had = || std::iter::once(safe.len()).chain(pending.iter().map(Vec::len));
    let (least, most) = (had().min().unwrap_or(0), had().max().unwrap_or(0));
    let between = (least..most).filter(|size| size % SECTOR == 0);
    distinct(had().take(pending.len()).chain(between), had().last())
}

/// What a sector may hold.
fn versions(safe: &[u8], pending: &[Vec<u8>], sector: usize) -> Vec<Vec<u8>> {
    let start = sector * SECTOR;
    let of = |image: &[u8]| {
        let mut bytes = image.get(start..).unwrap_or_default().to_vec();
        bytes.resize(SECTOR, 0);
        bytes
    };
    let foreign = (safe.len() <= start).then(|| {
        let line = b"{\"seq\":0,\"prev\":\"bytes of a file that was deleted long ago\"}\n";
        line.iter().copied().cycle().take(SECTOR).collect()
    });
    let images = std::iter::once(safe).chain(pending.iter().map(Vec::as_slice));
    let last = pending.last().map(|image| of(image));
    distinct(images.map(of).take(pending.len()).chain(foreign), last)
}

/// Each value once, `last` at the end; the first stays the first unless it is the last one, too.
fn distinct<T: PartialEq>(values: impl Iterator<Item = T>, last: Option<T>) -> Vec<T> {
    let mut out: Vec<T> = Vec::new();
    for value in values.filter(|value| Some(value) != last.as_ref()) {
        if !out.contains(&value) {
            out.push(value);
        }
    }
    out.extend(last);
    out
}

/// What is on the disk.
pub(super) fn read(root: &Path) -> Layout {
    fn walk(root: &Path, below: &Path, layout: &mut Layout) {
        for entry in fs::read_dir(root.join(below)).expect("a folder") {
            let path = below.join(entry.expect("an entry").file_name());
            if root.join(&path).is_dir() {
                layout.insert(path.clone(), None);
                walk(root, &path, layout);
            } else {
                let bytes = fs::read(root.join(&path)).expect("a file");
                layout.insert(path, Some(bytes));
            }
        }
    }
    let mut layout = Layout::new();
    walk(root, Path::new(""), &mut layout);
    layout
}

/// Puts it on the disk: files get these bytes, what is not named goes.
pub(super) fn write(root: &Path, layout: &Layout) {
    for path in read(root).keys() {
        if !layout.contains_key(path) {
            fs::remove_file(root.join(path)).expect("removed");
        }
    }
    for (path, content) in layout {
        let path = root.join(path);
        match content {
            // The same file stays what it is: somebody may hold its lock.
            Some(bytes) => fs::write(path, bytes).expect("a file"),
            None if path.is_dir() => {}
            None => fs::create_dir(path).expect("a folder"),
        }
    }
}
