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
//! Invariant: this looks at names on the disk and opens nothing.
//! Invariant: a word that is not a path may be taken for one (`'/regex/'`); the other way round it is a defect, but for what only a program
//! knows: paths inside of files, in variables, or behind letters of an option of its own.

use std::path::{Path, PathBuf};

use super::Command;
use super::shell::{Glob, Word};

/// No file that anybody could mean to protect.
const HARMLESS: [&str; 4] = ["/dev/null", "/dev/stdin", "/dev/stdout", "/dev/stderr"];

/// A longer one is no path to anything.
const MAX_PATH: usize = 4_096;

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
        if piece.starts_with('~') || starts_with_variable(piece, "HOME") {
            return true;
        }
        if HARMLESS.contains(&piece) {
            return false;
        }
        let piece = match piece
            .strip_prefix("${PWD}")
            .or_else(|| piece.strip_prefix("$PWD"))
        {
            Some(rest) if rest.is_empty() || rest.starts_with('/') => format!(".{rest}"),
            Some(_) | None => piece.to_string(),
        };
        // Only the folders before a pattern are known.
        let fixed = match glob {
            Some(Glob::Leading | Glob::After(_)) => {
                let end = piece.find(['*', '?', '[']).unwrap_or(piece.len());
                match piece[..end].rfind('/') {
                    Some(slash) => piece[..=slash].to_string(),
                    None => ".".to_string(),
                }
            }
            None => piece.clone(),
        };
        let beyond = piece[fixed.len().min(piece.len())..]
            .split('/')
            .any(|part| part == "..");
        beyond
            || self.folders.iter().any(|folder| {
                let path = folder.join(&fixed);
                !self.holds(&tidy(&path)) || !self.holds(&settle(&path))
            })
    }

    /// Whether an absolute path without links or `..` lies in the workspace and not in what is closed.
    pub(super) fn holds(&self, path: &Path) -> bool {
        path.starts_with(&self.root) && !self.own.iter().any(|own| path.starts_with(own))
    }

    /// Where `cd` leads from each folder: absolute, tidy, with whether it may be gone to unasked (inside, no link on the way, so that
    /// `cd ..` goes where it seems to).
    pub(super) fn changed(&self, target: &str) -> Vec<(PathBuf, bool)> {
        let to = |folder: &PathBuf| {
            let path = tidy(&folder.join(target));
            let inside = self.holds(&path) && settle(&path) == path;
            (path, inside)
        };
        self.folders.iter().map(to).collect()
    }
}

fn starts_with_variable(piece: &str, name: &str) -> bool {
    let rest = piece
        .strip_prefix(&format!("${{{name}}}"))
        .or_else(|| piece.strip_prefix(&format!("${name}")));
    rest.is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
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
        if let Ok(real) = head.canonicalize() {
            let rest: PathBuf = parts[end..].iter().collect();
            return tidy(&real.join(rest));
        }
        if head
            .symlink_metadata()
            .is_ok_and(|found| found.is_symlink())
        {
            // A link to nothing: what is written through it is made wherever it points.
            return PathBuf::from("/");
        }
    }
    tidy(path)
}
