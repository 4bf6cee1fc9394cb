//! Where words lead. In: a word of a command and the folders it may be run in. Out: the piece of it that leads out of the workspace, if
//! one does. `judge` asks before a rule counts, `notes` tells a person.
//!
//! ```text
//! workspace /home/me/app
//!   ../x  /etc/passwd  ~/x  $HOME  --file=/x  -I/opt/include  of=/x  host:/x      out
//!   src/../x  /home/me/app/x  ./x  a..b  https://host/x  /dev/null                not out
//!   docs/x, where docs is a link to /srv                                         out
//! ```
//!
//! Paths are judged twice: by their letters, and by what is on the disk now, links followed (`..` goes up from where a link leads, as
//! it does for programs). What does not exist is judged by its deepest folder that does.
//!
//! A pattern is judged by the folder it stands in: `src/*.c` leads out when `src` has any link that does.
//!
//! Invariant: this looks at names on the disk and opens no file.
//! Invariant: a word that is not a path may be taken for one (`'/regex/'`); the other way round it is a defect, but for what only a program
//! knows: paths inside of files, in variables, or behind letters of an option of its own.

use std::path::{Path, PathBuf};

use super::Command;
use super::shell::{Glob, Word};
use crate::text::Words;

/// No file that anybody could mean to protect.
const HARMLESS: Words = Words("/dev/null /dev/stdin /dev/stdout /dev/stderr");

/// A longer one is no path to anything.
const MAX_PATH: usize = 4_096;
/// Entries of a folder looked at for links.
const MAX_ENTRIES: usize = 4_096;

/// A workspace, and the folders that a command may be run in.
#[derive(Clone, Debug)]
pub(super) struct Place {
    root: PathBuf,
    own: Vec<PathBuf>,
    /// At least one. Absolute, tidy.
    pub(super) folders: Vec<PathBuf>,
}

impl Place {
    /// The folder the command starts in. `own`: what is closed even inside the workspace.
    pub(super) fn of(command: &Command, own: &[PathBuf]) -> Place {
        Place {
            root: command.workspace.clone(),
            own: own.to_vec(),
            folders: vec![command.cwd.clone()],
        }
    }

    /// The workspace.
    pub(super) fn root(&self) -> &Path {
        &self.root
    }

    /// The same workspace, in these folders.
    pub(super) fn in_folders(&self, folders: &[PathBuf]) -> Place {
        Place {
            root: self.root.clone(),
            own: self.own.clone(),
            folders: folders.to_vec(),
        }
    }

    /// The piece of the word that leads out.
    pub(super) fn leaves(&self, word: &Word) -> Option<String> {
        let text = &word.text;
        if let Some((scheme, _)) = text.split_once("://") {
            // An address, not a path; but for programs that take `file:///etc/passwd`.
            let file = scheme.to_ascii_lowercase().ends_with("file");
            return file.then(|| text.clone());
        }
        // The value of a variable may end in the middle of a name; only `$PWD/…` is plain.
        let plain = part_behind(text, "PWD").is_some_and(|rest| !rest.contains('$'));
        if word.variable && !word.unknown && !plain
            || !text.starts_with('-') && self.is_out(text, word.glob)
        {
            return Some(text.clone());
        }
        // `--file=/x`, `of=/x`, `-I/x`, `host:/x`: the path begins later in the word. `@/x`: a file named by an argument.
        text.split(['=', ',', ':', '@']).find_map(|piece| {
            let piece = match piece.strip_prefix('-') {
                Some(option) => option
                    .find(['/', '~', '.', '$'])
                    .map_or("", |at| &option[at..]),
                None => piece,
            };
            let out = !piece.is_empty() && self.is_out(piece, word.glob);
            out.then(|| piece.to_string())
        })
    }

    fn is_out(&self, piece: &str, glob: Option<Glob>) -> bool {
        if piece.len() > MAX_PATH {
            // A name alone, and none that can exist; or a path that nobody resolves.
            return piece.contains('/');
        }
        if piece.starts_with('~') || part_behind(piece, "HOME").is_some() {
            return true;
        }
        if HARMLESS.contains(piece) {
            return false;
        }
        let piece = match part_behind(piece, "PWD") {
            Some(rest) => format!(".{rest}"),
            None => piece.to_string(),
        };
        match glob {
            None => self
                .folders
                .iter()
                .any(|folder| !self.holds_path(&folder.join(&piece))),
            Some(Glob::Leading | Glob::After(_)) => self.may_find_outside(&piece),
        }
    }

    /// Whether a pattern may find what lies outside: it begins outside, goes through folders that are not known, or stands in a folder
    /// that has a link out.
    fn may_find_outside(&self, piece: &str) -> bool {
        let end = piece.find(['*', '?', '[']).unwrap_or(piece.len());
        let (fixed, rest) = match piece[..end].rfind('/') {
            Some(slash) => piece.split_at(slash + 1),
            None => (".", piece),
        };
        // `.*` finds `..` in some shells.
        let goes_on = rest.contains('/') || rest.starts_with('.');
        goes_on
            || self.folders.iter().any(|folder| {
                let folder = folder.join(fixed);
                !self.holds_path(&folder) || self.has_link_out(&folder)
            })
    }

    fn has_link_out(&self, folder: &Path) -> bool {
        let Ok(entries) = folder.read_dir() else {
            return false;
        };
        let mut count = 0;
        for entry in entries {
            count += 1;
            let out = entry.is_ok_and(|entry| {
                let link = entry.file_type().is_ok_and(|kind| kind.is_symlink());
                link && !self.holds(&settle(&entry.path()))
            });
            if out || count > MAX_ENTRIES {
                return true;
            }
        }
        false
    }

    /// By its letters, and by what is there.
    fn holds_path(&self, path: &Path) -> bool {
        self.holds(&tidy(path)) && self.holds(&settle(path))
    }

    /// Whether an absolute path without links or `..` lies in the workspace and not in what is closed.
    pub(super) fn holds(&self, path: &Path) -> bool {
        path.starts_with(&self.root) && !self.own.iter().any(|own| path.starts_with(own))
    }

    /// Whether git, started in one of the folders, may take a folder for a repository that is none by its name: one with `HEAD` in it, and
    /// `objects` and `refs` beside it or where its `commondir` says. Whoever may write files there may name programs in its `config`. A
    /// `.git` in the same folder does not help: git passes by one that is no repository.
    pub(super) fn has_bare_repository(&self) -> bool {
        self.folders.iter().any(|folder| {
            let mut up = folder
                .ancestors()
                .take_while(|above| above.starts_with(&self.root));
            let found = up.find_map(|folder| {
                let has = |name: &str| folder.join(name).symlink_metadata().is_ok();
                let bare = has("HEAD") && (has("commondir") || has("objects") && has("refs"));
                (bare || has(".git")).then_some(bare)
            });
            found == Some(true)
        })
    }

    /// Whether something closed lies in the workspace, where a program that goes through folders comes to it.
    pub(super) fn has_closed(&self) -> bool {
        self.own.iter().any(|own| own.starts_with(&self.root))
    }

    /// Where `cd` leads from each folder: absolute, tidy.
    pub(super) fn changed(&self, target: &str) -> Vec<PathBuf> {
        let to = |folder: &PathBuf| tidy(&folder.join(target));
        self.folders.iter().map(to).collect()
    }

    /// Whether such a folder may be gone to unasked: inside, no link on the way, so that `cd ..` goes where it seems to.
    pub(super) fn may_enter(&self, folder: &Path) -> bool {
        self.holds(folder) && settle(folder) == folder
    }
}

/// What follows `$NAME` or `${NAME}`.
pub(super) fn behind<'t>(text: &'t str, name: &str) -> Option<&'t str> {
    let rest = text.strip_prefix('$')?;
    let braced = || {
        rest.strip_prefix('{')?
            .strip_prefix(name)?
            .strip_prefix('}')
    };
    rest.strip_prefix(name).or_else(braced)
}

/// The same, where the variable is a whole part of a path.
pub(super) fn part_behind<'t>(text: &'t str, name: &str) -> Option<&'t str> {
    behind(text, name).filter(|rest| rest.is_empty() || rest.starts_with('/'))
}

/// `/a//b/./c/..` → `/a/b`: by the letters alone, links are not followed. `path` must be absolute.
pub(super) fn tidy(path: &Path) -> PathBuf {
    let mut kept = PathBuf::from("/");
    for part in path.components() {
        match part {
            std::path::Component::ParentDir => {
                kept.pop();
            }
            std::path::Component::Normal(name) => kept.push(name),
            std::path::Component::CurDir
            | std::path::Component::RootDir
            | std::path::Component::Prefix(_) => {}
        }
    }
    kept
}

/// Where the path leads, links followed, as far as it exists; the rest by its letters.
fn settle(path: &Path) -> PathBuf {
    let parts: Vec<_> = path.components().collect();
    for end in (1..=parts.len()).rev() {
        let head: PathBuf = parts[..end].iter().collect();
        // One question for what is not there, where following it takes one for each folder on the way.
        let Ok(found) = head.symlink_metadata() else {
            continue;
        };
        if let Ok(real) = head.canonicalize() {
            let rest: PathBuf = parts[end..].iter().collect();
            return tidy(&real.join(rest));
        }
        if found.is_symlink() {
            // A link to nothing: what is written through it is made wherever it points.
            return PathBuf::from("/");
        }
    }
    tidy(path)
}
