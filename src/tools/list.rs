//! `list_files`: a folder as a bounded tree, or the entries that a path with wildcards means. In: a folder or such a path, how deep, how
//! many entries, whether hidden ones. Out: a [`Listing`], worked out but not run, and from it, on a thread that may take its time, the tree
//! or the paths as text, with everything that was left out said.
//!
//! ```text
//! ./
//!   README.md
//!   build/ ...
//!   docs -> ../elsewhere
//!   pipe (FIFO)
//!   secret/ (Permission denied (os error 13))
//!   src/
//!     main.rs
//! 7 of 3,412 entries shown; give a folder as path, or a larger max_entries, to see more. `...`: not opened. 2 hidden
//! entries left out (hidden=true shows them). 1 ignored entry left out (give it as path to see it).
//! ```
//!
//! Folders are read level by level, so that a large folder early in the order cannot crowd out the others, and shown as a
//! tree. Order is that of the names' bytes. Links are shown, never followed. `.git` is shown with `hidden`, never opened. Ignore rules
//! are those of `ignore/levels.rs`; what is given as path is listed whatever they say of it.
//!
//! Limits: depth 3 and 200 entries unless asked, at most 2,000 entries and `Limits::read_bytes`; after 5,000 folders or 50,000 entries
//! (with wildcards ten times as many) no further folder is opened and the total reads "at least".
//!
//! Invariant: nothing is left out unsaid.
//! Invariant: the same tree gives the same text.

use std::collections::VecDeque;
use std::ffi::OsStr;
use std::fs;
use std::io;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

use crate::ignore::{Found, Levels, Problem, Verdict};
use crate::protocol::{Facts, ToolOutcome};
use crate::sort;
use crate::sys::Cancel;
use crate::sys::dir::{Dir, Kind};
use crate::text::{self, grouped};

use super::globs::{Globs, globs};
use super::problems;
use super::workspace::{Purpose, Refusal, Workspace, WsPath};
use super::{Toolbox, cancelled, done, failed, shown};

const DEPTH: u64 = 3;
const ENTRIES: u64 = 200;
const MAX_ENTRIES: u64 = 2_000;
/// The price of an honest total, bounded.
const REACH: Reach = Reach {
    entries: 50_000,
    folders: 5_000,
};
/// Who gives a pattern looks for something: it is worth a second.
const GLOB_REACH: Reach = Reach {
    entries: 500_000,
    folders: 50_000,
};
/// Room for names while a folder is read.
const BUFFER_BYTES: usize = 32 << 10;

/// How much is looked at.
#[derive(Clone, Copy, Debug, Default)]
struct Reach {
    /// Entries seen, shown or not.
    entries: u64,
    /// Folders opened.
    folders: u64,
}

/// A listing that can be run, on any thread.
#[derive(Debug)]
pub struct Listing {
    /// As asked for.
    path: String,
    folder: WsPath,
    root: PathBuf,
    user_rules: Option<PathBuf>,
    tree: Tree,
}

impl Listing {
    /// Works out a listing.
    pub(super) fn new(
        toolbox: &Toolbox,
        path: Option<String>,
        depth: Option<u64>,
        max_entries: Option<u64>,
        hidden: bool,
    ) -> Result<Listing, Refusal> {
        let most = max_entries.unwrap_or(ENTRIES);
        if depth == Some(0) || most == 0 {
            return Err(Refusal(
                "depth and max_entries count from 1: depth 1 is the folder's own entries. Leave them out for the usual ones."
                    .to_string(),
            ));
        }
        let workspace = &toolbox.workspace;
        let path = path.unwrap_or_else(|| ".".to_string());
        let (folder, globs) = place(workspace, &path)?;
        let (usual, reach) = match &globs {
            None => (DEPTH, REACH),
            Some(globs) => (globs.depth.unwrap_or(u64::MAX), GLOB_REACH),
        };
        Ok(Listing {
            path,
            folder,
            root: workspace.root().to_path_buf(),
            user_rules: toolbox.ignore_rules.clone(),
            tree: Tree {
                depth: depth.unwrap_or(usual),
                most: most.min(MAX_ENTRIES),
                room: toolbox.limits.read_bytes,
                hidden,
                reach,
                globs,
                closed_to_us: workspace.closed(),
                ..Tree::default()
            },
        })
    }

    /// Runs it: to its end, or until `cancel` is turned.
    pub(super) fn run(mut self, cancel: &Cancel) -> ToolOutcome {
        let (folder, tree) = (&self.folder, &mut self.tree);
        let rules = self.user_rules.as_deref();
        let levels = Levels::above(folder.full(), &self.root, rules, &mut tree.problems);
        let top = match tree.run(folder.full(), levels, cancel) {
            Ok(top) => top,
            Err(error) => {
                return failed(format!(
                    "`{}` cannot be listed: {error}. List another folder, or ask the user to mend its permissions.",
                    shown(folder.shown())
                ));
            }
        };
        if cancel.is_cancelled() {
            return cancelled("the listing was cancelled before its end");
        }
        let mut out = String::new();
        if tree.globs.is_some() {
            tree.paths(folder, &mut out);
        } else {
            out.push_str(&format!("{}/\n", shown(folder.shown())));
            tree.render(&top, 1, &mut out);
        }
        out.push_str(&tree.summary(&self.path));
        for said in problems::said(&tree.problems, 0, &self.root, Vec::new()) {
            out.push_str(&format!(" {said}"));
        }
        let bytes = out.len() as u64;
        let path = folder.shown().to_string();
        done(out, Facts::Read { path, bytes })
    }
}

/// The folder at the path, or where its wildcards begin and what they mean.
fn place(workspace: &Workspace, path: &str) -> Result<(WsPath, Option<Globs>), Refusal> {
    let refused = match workspace.resolve(path, Purpose::Folder) {
        Ok(folder) => return Ok((folder, None)),
        Err(refused) => refused,
    };
    // A file that is there is no pattern, whatever its name.
    let is_file = workspace.resolve(path, Purpose::Read).is_ok();
    let globs = globs(path).filter(|_| !is_file).ok_or(refused)??;
    let folder = workspace.resolve(&globs.folder, Purpose::Folder)?;
    Ok((folder, Some(globs)))
}

/// One entry that is shown.
#[derive(Debug)]
struct Node {
    line: String,
    /// From the folder that is listed; for wildcards.
    path: Vec<u8>,
    /// Indices into `Tree::nodes`.
    children: Vec<usize>,
}

#[derive(Debug, Default)]
struct Tree {
    nodes: Vec<Node>,
    depth: u64,
    most: u64,
    /// Bytes left for the tree.
    room: u64,
    /// Nothing more is shown, for want of entries or bytes.
    full: bool,
    hidden: bool,
    reach: Reach,
    /// Only what these mean is shown and counted.
    globs: Option<Globs>,
    /// Device and inode of folders of our own.
    closed_to_us: Vec<(u64, u64)>,
    problems: Vec<Problem>,
    /// Room for names while a folder is read.
    buffer: Vec<u8>,
    /// Entries seen, meant or not.
    seen: u64,
    /// Entries to be shown, whether there is room or not.
    total: u64,
    /// Hidden ones among what was read.
    left_out: u64,
    /// Ignored ones among what was read.
    ignored: u64,
    /// Whether the bounds on looking ended the count.
    cut: bool,
    odd_names: bool,
    /// Whether some folder was not opened.
    closed: bool,
}

/// A folder waiting to be read; `node`: where it is shown, if it is.
struct Waiting {
    path: PathBuf,
    levels: Levels,
    node: Option<usize>,
    level: u64,
}

/// What a folder has, in order, and the rules for what its folders have.
struct Content {
    entries: Vec<(Vec<u8>, Kind)>,
    levels: Levels,
}

impl Tree {
    /// Level by level, until it is cancelled; returns the entries of the folder itself.
    fn run(&mut self, folder: &Path, levels: Levels, cancel: &Cancel) -> io::Result<Vec<usize>> {
        self.buffer.resize(BUFFER_BYTES, 0);
        let below = with_slash(folder).len();
        let (mut top, mut opened) = (Vec::new(), 0);
        let mut queue = VecDeque::from([Waiting {
            path: folder.to_path_buf(),
            levels,
            node: None,
            level: 1,
        }]);
        while let Some(waiting) = queue.pop_front() {
            if cancel.is_cancelled() {
                break;
            }
            if opened >= self.reach.folders || self.seen >= self.reach.entries {
                self.cut = true;
                self.mark(waiting.node, " ...");
                continue;
            }
            opened += 1;
            match self.read(&waiting.path, &waiting.levels, cancel) {
                Ok(Some(content)) => {
                    let children = self.take(content, &waiting, below, &mut queue);
                    match waiting.node {
                        Some(node) => self.nodes[node].children = children,
                        None if waiting.level == 1 => top = children,
                        None => {}
                    }
                }
                Ok(None) => self.mark(waiting.node, " ..."),
                Err(error) if waiting.level == 1 => return Err(error),
                Err(error) if waiting.node.is_some() => {
                    self.mark(waiting.node, &format!(" ({error})"));
                }
                Err(error) => {
                    let path = waiting.path.as_os_str().as_bytes().to_vec();
                    self.problems.push(Problem::Unreadable { path, error });
                }
            }
        }
        Ok(top)
    }

    fn mark(&mut self, node: Option<usize>, mark: &str) {
        if let Some(node) = node {
            self.closed |= mark == " ...";
            self.nodes[node].line.push_str(mark);
        }
    }

    /// Names and kinds, in order; hidden ones are counted and dropped unless wanted, ignored ones always. `None`: a folder of our own.
    fn read(
        &mut self,
        path: &Path,
        levels: &Levels,
        cancel: &Cancel,
    ) -> io::Result<Option<Content>> {
        let dir = Dir::open(path)?;
        if !self.closed_to_us.is_empty() && self.closed_to_us.contains(&dir.identity()?) {
            return Ok(None);
        }
        let mut entries = Vec::new();
        let mut found = Found::default();
        let (hidden, mut left_out) = (self.hidden, 0);
        dir.read(&mut self.buffer, &mut |name, kind| {
            found.see(name, kind);
            match !hidden && name.starts_with(b".") {
                true => left_out += 1,
                false => entries.push((name.to_vec(), kind)),
            }
        })?;
        self.left_out += left_out;
        let levels = levels.enter(&dir, path.as_os_str().as_bytes(), found, &mut self.problems);
        let mut full = with_slash(path);
        let here = full.len();
        let all = entries.len() as u64;
        entries.retain(|(name, kind)| {
            if cancel.is_cancelled() {
                // Nothing of it will be shown.
                return false;
            }
            full.truncate(here);
            full.extend_from_slice(name);
            let verdict = levels.verdict(&full, *kind == Kind::Folder);
            verdict != Some(Verdict::Ignored)
        });
        self.ignored += all - entries.len() as u64;
        sort::by(&mut entries, |a, b| a.0.cmp(&b.0));
        Ok(Some(Content { entries, levels }))
    }

    /// Makes nodes of entries while there is room and queues folders below the depth; all are counted. `below`: where in a full path that
    /// begins which is shown.
    fn take(
        &mut self,
        content: Content,
        waiting: &Waiting,
        below: usize,
        queue: &mut VecDeque<Waiting>,
    ) -> Vec<usize> {
        let mut children = Vec::new();
        let mut path = with_slash(&waiting.path);
        let here = path.len();
        for (name, kind) in content.entries {
            self.seen += 1;
            path.truncate(here);
            path.extend_from_slice(&name);
            let is_folder = kind == Kind::Folder;
            let opens = is_folder && waiting.level < self.depth && name != b".git";
            let mut node = None;
            if self.is_meant(&path[below..]) {
                self.total += 1;
                node = self.place(&name, kind, &path, below, waiting.level);
                children.extend(node);
                if is_folder && !opens && self.globs.is_none() {
                    self.mark(node, " ...");
                }
            }
            if opens {
                queue.push_back(Waiting {
                    path: PathBuf::from(OsStr::from_bytes(&path)),
                    levels: content.levels.clone(),
                    node,
                    level: waiting.level + 1,
                });
            }
        }
        children
    }

    fn is_meant(&self, path: &[u8]) -> bool {
        match &self.globs {
            None => true,
            Some(globs) => globs.globs.iter().any(|glob| glob.is_match(path)),
        }
    }

    /// A new node, if there is room.
    fn place(
        &mut self,
        name: &[u8],
        kind: Kind,
        path: &[u8],
        below: usize,
        level: u64,
    ) -> Option<usize> {
        self.full |= self.nodes.len() as u64 >= self.most;
        if self.full {
            return None;
        }
        let line = line(name, kind, path);
        // Its path or its indentation, its line end, and a mark that may come.
        let (before, path) = match self.globs {
            Some(_) => ((path.len() - below) as u64, path[below..].to_vec()),
            None => (2 * level, Vec::new()),
        };
        let cost = line.len() as u64 + before + 5;
        let Some(room) = self.room.checked_sub(cost) else {
            self.full = true;
            return None;
        };
        self.room = room;
        self.odd_names |= std::str::from_utf8(name).is_err();
        self.nodes.push(Node {
            line,
            path,
            children: Vec::new(),
        });
        Some(self.nodes.len() - 1)
    }

    fn render(&self, nodes: &[usize], level: usize, out: &mut String) {
        for node in nodes.iter().map(|index| &self.nodes[*index]) {
            for _ in 0..level {
                out.push_str("  ");
            }
            out.push_str(&node.line);
            out.push('\n');
            self.render(&node.children, level + 1, out);
        }
    }

    /// What wildcards mean, a path a line, in the order of their bytes.
    fn paths(&mut self, folder: &WsPath, out: &mut String) {
        sort::by(&mut self.nodes, |a, b| a.path.cmp(&b.path));
        let start = match folder.shown() {
            "." => Path::new(""),
            shown => Path::new(shown),
        };
        for node in &self.nodes {
            let folder = start.join(OsStr::from_bytes(&node.path));
            let folder = folder.parent().unwrap_or(Path::new(""));
            let folder = shown(&folder.to_string_lossy());
            let slash = if folder.is_empty() { "" } else { "/" };
            out.push_str(&format!("{folder}{slash}{}\n", node.line));
        }
    }

    fn summary(&self, path: &str) -> String {
        let shown = self.nodes.len() as u64;
        let (one, many, narrower) = match self.globs {
            None => ("entry", "entries", "give a folder as path"),
            Some(_) => ("match", "matches", "use a narrower path"),
        };
        let mut text = match (self.cut, shown == self.total) {
            (false, true) if shown == 0 && self.globs.is_some() => {
                format!("no match for `{}`.", super::shown(path))
            }
            (false, true) if shown == 1 => format!("1 {one}."),
            (false, true) => format!("{} {many}.", grouped(shown)),
            (false, false) => format!(
                "{} of {} {many} shown; {narrower}{} to see more.",
                grouped(shown),
                grouped(self.total),
                match shown < self.most {
                    true => String::new(),
                    false => format!(
                        ", or a larger max_entries (up to {}),",
                        grouped(MAX_ENTRIES)
                    ),
                }
            ),
            (true, _) => format!(
                "{} of at least {} {many} shown; {narrower} to see more.",
                grouped(shown),
                grouped(self.total)
            ),
        };
        if self.closed {
            text.push_str(" `...`: not opened; give such a folder as path to see into it.");
        }
        // Who gives a pattern and finds something does not ask for the rest.
        if self.globs.is_none() || self.total == 0 {
            text.push_str(&left_out(self.left_out, "hidden", "hidden=true shows them"));
            text.push_str(&left_out(
                self.ignored,
                "ignored",
                "give one as path to see it",
            ));
        }
        if self.odd_names {
            text.push_str(" Names that are not UTF-8 are shown repaired; tools cannot open them, a command can.");
        }
        text
    }
}

/// A folder's path as names are put behind it.
fn with_slash(folder: &Path) -> Vec<u8> {
    let mut path = folder.as_os_str().as_bytes().to_vec();
    if !path.ends_with(b"/") {
        path.push(b'/');
    }
    path
}

fn line(name: &[u8], kind: Kind, path: &[u8]) -> String {
    let mut line = shown(&text::repair(name));
    match kind {
        Kind::File => {}
        Kind::Folder => line.push('/'),
        Kind::Link => match fs::read_link(OsStr::from_bytes(path)) {
            Ok(target) => {
                let target = shown(&text::repair(target.as_os_str().as_bytes()));
                line.push_str(&format!(" -> {target}"));
            }
            Err(error) => line.push_str(&format!(" -> ({error})")),
        },
        Kind::Fifo => line.push_str(" (FIFO)"),
        Kind::Socket => line.push_str(" (socket)"),
        Kind::Device => line.push_str(" (device)"),
    }
    if std::str::from_utf8(name).is_err() {
        line.push_str(" (not UTF-8)");
    }
    line
}

fn left_out(count: u64, what: &str, step: &str) -> String {
    match count {
        0 => String::new(),
        1 => format!(" 1 {what} entry left out ({step})."),
        _ => format!(" {} {what} entries left out ({step}).", grouped(count)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sys::random;

    /// A tree of five folders with one file each, looked at as far as `reach` goes.
    #[track_caller]
    fn check(entries: u64, folders: u64, expected: &str) {
        let root = std::env::temp_dir().join(random::id(12).expect("random name"));
        for name in ["a", "b", "c", "d", "e"] {
            fs::create_dir_all(root.join(name)).expect("folder");
            fs::write(root.join(name).join("x"), "").expect("file");
        }
        let mut tree = Tree {
            depth: 9,
            most: 2,
            room: 1_000,
            reach: Reach { entries, folders },
            ..Tree::default()
        };
        let top = tree.run(&root, Levels::default(), &Cancel::new().expect("switch"));
        fs::remove_dir_all(&root).expect("removes");
        let mut out = String::new();
        tree.render(&top.expect("reads"), 0, &mut out);
        assert_eq!(format!("{out}{}", tree.summary(".")), expected);
    }

    #[test]
    fn the_total_is_honest_on_both_sides_of_the_reach() {
        let all = "2 of 10 entries shown; give a folder as path, or a larger max_entries (up to 2,000), to see more.";
        let least =
            |n: u64| format!("2 of at least {n} entries shown; give a folder as path to see more.");
        check(99, 6, &format!("a/\nb/\n{all}"));
        check(99, 5, &format!("a/\nb/\n{}", least(9)));
        check(11, 99, &format!("a/\nb/\n{all}"));
        check(10, 99, &format!("a/\nb/\n{all}"));
        check(9, 99, &format!("a/\nb/\n{}", least(9)));
        // A folder that was begun is read whole, or the order of the disk would show.
        check(
            3,
            99,
            &format!(
                "a/ ...\nb/ ...\n{} `...`: not opened; give such a folder as path to see into it.",
                least(5)
            ),
        );
    }
}
