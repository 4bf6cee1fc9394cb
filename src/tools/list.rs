//! `list_files`: a folder as a bounded tree. In: a folder, how deep, how many entries, whether hidden ones. Out: the tree as
//! text, with everything that was left out said.
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
//! entries left out (hidden=true shows them).
//! ```
//!
//! Folders are read level by level, so that a large folder early in the order cannot crowd out the others, and shown as a
//! tree. Order is that of the names' bytes. Links are shown, never followed. `.git` is shown with `hidden`, never opened.
//!
//! Limits: depth 3 and 200 entries unless asked, at most 2,000 entries and `Limits::read_bytes`; after 5,000 folders or 50,000 entries no
//! further folder is opened and the total reads "at least". Ignore rules and globs are not applied yet.
//!
//! Invariant: nothing is left out unsaid.
//! Invariant: the same tree gives the same text.

use std::collections::VecDeque;
use std::ffi::OsString;
use std::fs;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::FileTypeExt;
use std::path::{Path, PathBuf};

use crate::protocol::{Facts, ToolOutcome};

use crate::text::grouped;

use super::workspace::{Purpose, Refusal, Workspace};
use super::{done, failed, shown};

const DEPTH: u64 = 3;
const ENTRIES: u64 = 200;
const MAX_ENTRIES: u64 = 2_000;
/// The price of an honest total, bounded.
const REACH: Reach = Reach {
    entries: 50_000,
    folders: 5_000,
};

/// How much is looked at.
#[derive(Clone, Copy)]
struct Reach {
    /// Entries seen, shown or not.
    entries: u64,
    /// Folders opened.
    folders: u64,
}

/// Lists; a refusal is written for the model.
pub(super) fn list(
    workspace: &Workspace,
    path: Option<&str>,
    depth: Option<u64>,
    max_entries: Option<u64>,
    hidden: bool,
    limit: u64,
) -> ToolOutcome {
    let folder = match workspace.resolve(path.unwrap_or("."), Purpose::Folder) {
        Ok(folder) => folder,
        Err(Refusal(text)) => return failed(text),
    };
    let depth = depth.unwrap_or(DEPTH);
    let most = max_entries.unwrap_or(ENTRIES);
    if depth == 0 || most == 0 {
        return failed(
            "depth and max_entries count from 1: depth 1 is the folder's own entries. Leave them out for the usual ones."
                .to_string(),
        );
    }
    let mut walk = Walk::new(depth, most.min(MAX_ENTRIES), limit, hidden, REACH);
    let root = match walk.run(folder.full()) {
        Ok(root) => root,
        Err(error) => {
            return failed(format!(
                "`{}` cannot be listed: {error}. List another folder, or ask the user to mend its permissions.",
                shown(folder.shown())
            ));
        }
    };
    let mut out = format!("{}/\n", shown(folder.shown()));
    walk.render(&root, 1, &mut out);
    out.push_str(&walk.summary());
    let bytes = out.len() as u64;
    let path = folder.shown().to_string();
    done(out, Facts::Read { path, bytes })
}

/// One entry that is shown.
struct Node {
    line: String,
    /// Indices into `Walk::nodes`.
    children: Vec<usize>,
}

struct Walk {
    nodes: Vec<Node>,
    depth: u64,
    most: u64,
    /// Bytes left for the tree.
    room: u64,
    /// Nothing more is shown, for want of entries or bytes.
    full: bool,
    hidden: bool,
    reach: Reach,
    /// Entries seen, shown or not.
    total: u64,
    /// Hidden ones among what was read.
    left_out: u64,
    /// Whether the bounds on looking ended the count.
    cut: bool,
    odd_names: bool,
    /// Whether some folder was not opened.
    closed: bool,
}

/// A folder waiting to be read; `node`: where it is shown, if it is.
struct Waiting {
    path: PathBuf,
    node: Option<usize>,
    level: u64,
}

impl Walk {
    fn new(depth: u64, most: u64, room: u64, hidden: bool, reach: Reach) -> Walk {
        Walk {
            nodes: Vec::new(),
            depth,
            most,
            room,
            full: false,
            hidden,
            reach,
            total: 0,
            left_out: 0,
            cut: false,
            odd_names: false,
            closed: false,
        }
    }

    /// Level by level; returns the entries of the folder itself.
    fn run(&mut self, folder: &Path) -> std::io::Result<Vec<usize>> {
        let mut queue = VecDeque::new();
        let top = self.read(folder)?;
        let top = self.take(top, 1, folder, &mut queue);
        let mut opened = 1;
        while let Some(waiting) = queue.pop_front() {
            if opened >= self.reach.folders || self.total >= self.reach.entries {
                self.cut = true;
                self.mark(waiting.node, " ...");
                continue;
            }
            opened += 1;
            match self.read(&waiting.path) {
                Ok(entries) => {
                    let children = self.take(entries, waiting.level, &waiting.path, &mut queue);
                    if let Some(node) = waiting.node {
                        self.nodes[node].children = children;
                    }
                }
                Err(error) => self.mark(waiting.node, &format!(" ({error})")),
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

    /// Names and kinds, in order, hidden ones counted and dropped unless wanted.
    fn read(&mut self, folder: &Path) -> std::io::Result<Vec<(OsString, fs::FileType)>> {
        let mut entries = Vec::new();
        for entry in fs::read_dir(folder)? {
            let entry = entry?;
            let name = entry.file_name();
            if !self.hidden && name.as_bytes().starts_with(b".") {
                self.left_out += 1;
                continue;
            }
            // An entry that vanished meanwhile is no entry.
            if let Ok(kind) = entry.file_type() {
                entries.push((name, kind));
            }
        }
        entries.sort_by(|a, b| a.0.cmp(&b.0));
        Ok(entries)
    }

    /// Makes nodes of entries while there is room and queues folders below the depth; all are counted.
    fn take(
        &mut self,
        entries: Vec<(OsString, fs::FileType)>,
        level: u64,
        folder: &Path,
        queue: &mut VecDeque<Waiting>,
    ) -> Vec<usize> {
        let mut shown = Vec::new();
        for (name, kind) in entries {
            self.total += 1;
            let path = folder.join(&name);
            let opens = kind.is_dir() && level < self.depth && name != ".git";
            let mut node = None;
            self.full |= self.nodes.len() as u64 >= self.most;
            if !self.full {
                let line = self.line(&name, kind, &path);
                // Its indentation, its line end, and a mark that may come.
                let cost = line.len() as u64 + 2 * level + 5;
                match self.room.checked_sub(cost) {
                    None => self.full = true,
                    Some(room) => {
                        self.room = room;
                        node = Some(self.nodes.len());
                        shown.push(self.nodes.len());
                        self.nodes.push(Node {
                            line,
                            children: Vec::new(),
                        });
                        if kind.is_dir() && !opens {
                            self.mark(node, " ...");
                        }
                    }
                }
            }
            if opens {
                queue.push_back(Waiting {
                    path,
                    node,
                    level: level + 1,
                });
            }
        }
        shown
    }

    fn line(&mut self, name: &OsString, kind: fs::FileType, path: &Path) -> String {
        let readable = name.to_str();
        let shown = shown(&name.to_string_lossy());
        let mut line = if kind.is_dir() {
            format!("{shown}/")
        } else if kind.is_symlink() {
            match fs::read_link(path) {
                Ok(target) => format!("{shown} -> {}", super::shown(&target.to_string_lossy())),
                Err(error) => format!("{shown} -> ({error})"),
            }
        } else if kind.is_fifo() {
            format!("{shown} (FIFO)")
        } else if kind.is_socket() {
            format!("{shown} (socket)")
        } else if kind.is_char_device() || kind.is_block_device() {
            format!("{shown} (device)")
        } else {
            shown
        };
        if readable.is_none() {
            self.odd_names = true;
            line.push_str(" (not UTF-8)");
        }
        line
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

    fn summary(&self) -> String {
        let shown = self.nodes.len() as u64;
        let mut text = match (self.cut, shown == self.total) {
            (false, true) if shown == 1 => "1 entry.".to_string(),
            (false, true) => format!("{} entries.", grouped(shown)),
            (false, false) => format!(
                "{} of {} entries shown; give a folder as path{} to see more.",
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
                "{} of at least {} entries shown; give a folder as path to see more.",
                grouped(shown),
                grouped(self.total)
            ),
        };
        if self.closed {
            text.push_str(" `...`: not opened; give such a folder as path to see into it.");
        }
        if self.left_out > 0 {
            let noun = if self.left_out == 1 {
                "entry"
            } else {
                "entries"
            };
            text.push_str(&format!(
                " {} hidden {noun} left out (hidden=true shows them).",
                grouped(self.left_out)
            ));
        }
        if self.odd_names {
            text.push_str(" Names that are not UTF-8 are shown repaired; tools cannot open them, a command can.");
        }
        text
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
        let mut walk = Walk::new(9, 2, 1_000, false, Reach { entries, folders });
        let top = walk.run(&root);
        fs::remove_dir_all(&root).expect("removes");
        let mut out = String::new();
        walk.render(&top.expect("reads"), 0, &mut out);
        assert_eq!(format!("{out}{}", walk.summary()), expected);
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
