//! The rules that are in force in a folder: those of its own files, of the folders above it, of the repository, of the user. In: folders as
//! a walk enters them. Out: a [`Verdict`] on what lies in them. `walk.rs` and `tools/list.rs` keep one [`Levels`] for each folder they are in.
//!
//! ```text
//! for app/src/x.o, the first that says something decides:
//!   app/src/.ignore        app/.ignore                         for searching only, unknown to git
//!   app/src/.gitignore     app/.gitignore                      up to where the repository begins
//!   app/.git/info/exclude                                      of this copy of the repository
//!   ~/.config/git/ignore                                       of the user (core.excludesFile)
//! ```
//!
//! A folder with `.git` in it is a repository of its own: the `.gitignore` files above it do not reach into it. Without any `.git` the
//! files count all the same, from the workspace down.
//!
//! Refused: rule files that are links (git does not follow them either). Unreadable files and faulty lines become [`Problem`]s.
//!
//! Invariant: nothing is looked for that the listing of the folder did not show, but above the place where a walk begins.
//! Invariant: a level is made once and never changes; folders without rule files share the level of the folder above.
//!
//! Read next: `walk.rs`.

use super::gitignore::{Fault, MAX_RULES_BYTES, Rules, Verdict};
use crate::sys::dir::{Dir, Kind};
use crate::sys::file::open_regular;
use std::ffi::OsStr;
use std::fs::{self, File};
use std::io::{self, ErrorKind, Read};
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// Bytes of a `.git` file, `commondir` or `HEAD` that count: a path, or a reference.
const MAX_POINTER_BYTES: u64 = 8 << 10;

/// All rules in force in a folder. Cheap to clone.
#[derive(Clone, Debug, Default)]
pub struct Levels {
    lowest: Option<Arc<Level>>,
    user: Arc<Rules>,
    /// Where paths begin for the user's rules as long as there is no repository.
    user_base: usize,
}

/// One folder with rule files, or with `.git`.
#[derive(Debug)]
struct Level {
    above: Option<Arc<Level>>,
    /// How much of a full path is the folder and its slash.
    base: usize,
    ignore: Rules,
    gitignore: Rules,
    /// `info/exclude`; its presence says that a repository begins here.
    exclude: Option<Rules>,
}

/// Which of the names that matter here a folder has.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Found {
    gitignore: bool,
    ignore: bool,
    git: bool,
}

/// What could not be read or understood on the way. None of it ends a walk.
#[derive(Debug)]
pub enum Problem {
    /// A folder or a file of rules.
    Unreadable {
        /// Full path.
        path: Vec<u8>,
        /// Why.
        error: io::Error,
    },
    /// A line of a file of rules; the others count.
    Rule {
        /// Full path of the file.
        path: Vec<u8>,
        /// Line and reason.
        fault: Fault,
    },
    /// A file of rules that is too large; what comes after the first [`MAX_RULES_BYTES`] does not count.
    LongRules {
        /// Full path of the file.
        path: Vec<u8>,
    },
}

impl Found {
    /// Takes note of a name of the folder.
    pub fn see(&mut self, name: &[u8], kind: Kind) {
        match (name, kind) {
            (b".gitignore", Kind::File) => self.gitignore = true,
            (b".ignore", Kind::File) => self.ignore = true,
            (b".git", Kind::File | Kind::Folder | Kind::Link) => self.git = true,
            (_, _) => {}
        }
    }
}

impl Levels {
    /// The rules for what lies beside and above `start`, a full path: from the workspace `root` down or, if that is higher, from where
    /// the repository begins. Those of `start` itself come with [`Levels::enter`]. `user`: the user's own file of rules.
    pub fn above(
        start: &Path,
        root: &Path,
        user: Option<&Path>,
        problems: &mut Vec<Problem>,
    ) -> Levels {
        let mut levels = Levels::default();
        if let Some(user) = user {
            levels.user = Arc::new(read_path(user, problems));
        }
        let is_repository = |folder: &&Path| fs::symlink_metadata(folder.join(".git")).is_ok();
        let repository = start.ancestors().find(is_repository);
        let top = match repository {
            Some(repository) if root.starts_with(repository) => repository,
            Some(_) | None => root,
        };
        levels.user_base = base_of(top.as_os_str().as_bytes());
        let above = start.ancestors().skip(1);
        let above: Vec<_> = above.take_while(|a| a.starts_with(top)).collect();
        for folder in above.into_iter().rev() {
            let is_file = |name| fs::symlink_metadata(folder.join(name)).is_ok_and(|m| m.is_file());
            let found = Found {
                gitignore: is_file(".gitignore"),
                ignore: is_file(".ignore"),
                git: is_repository(&folder),
            };
            let path = folder.as_os_str().as_bytes();
            match Dir::open(folder) {
                Ok(dir) => levels = levels.enter(&dir, path, found, problems),
                Err(error) => problems.push(Problem::Unreadable {
                    path: path.to_vec(),
                    error,
                }),
            }
        }
        levels
    }

    /// The rules in a folder of the one that these are for. `path`: its full path, without a slash at the end.
    pub fn enter(
        &self,
        dir: &Dir,
        path: &[u8],
        found: Found,
        problems: &mut Vec<Problem>,
    ) -> Levels {
        if found == Found::default() {
            return self.clone();
        }
        let mut rules = |wanted, name: &str| match wanted {
            true => {
                let file = [path, name.as_bytes()].join(&b'/');
                read_rules(dir.open_file(name.as_bytes()), &file, problems)
            }
            false => Rules::default(),
        };
        let ignore = rules(found.ignore, ".ignore");
        let gitignore = rules(found.gitignore, ".gitignore");
        let exclude = match found.git {
            true => {
                let folder = Path::new(OsStr::from_bytes(path));
                Some(read_path(
                    &common_folder(folder).join("info/exclude"),
                    problems,
                ))
            }
            false => None,
        };
        let level = Level {
            above: self.lowest.clone(),
            base: base_of(path),
            ignore,
            gitignore,
            exclude,
        };
        Levels {
            lowest: Some(Arc::new(level)),
            user: Arc::clone(&self.user),
            user_base: self.user_base,
        }
    }

    /// What the rules say of a full path, which lies in the folder that these are for.
    pub fn verdict(&self, path: &[u8], is_folder: bool) -> Option<Verdict> {
        let levels = || std::iter::successors(self.lowest.as_deref(), |l| l.above.as_deref());
        let below = |base: usize| path.get(base..).unwrap_or_default();
        for level in levels().filter(|level| !level.ignore.is_empty()) {
            let verdict = level.ignore.verdict(below(level.base), is_folder);
            if verdict.is_some() {
                return verdict;
            }
        }
        let mut user_base = self.user_base;
        for level in levels() {
            let path = below(level.base);
            let verdict = level.gitignore.verdict(path, is_folder);
            if verdict.is_some() {
                return verdict;
            }
            if let Some(exclude) = &level.exclude {
                let verdict = exclude.verdict(path, is_folder);
                if verdict.is_some() {
                    return verdict;
                }
                user_base = level.base;
                break;
            }
        }
        self.user.verdict(below(user_base), is_folder)
    }
}

impl Drop for Level {
    /// One after the other: left to itself, a chain of ten thousand levels would be dropped by a recursion as deep.
    fn drop(&mut self) {
        let mut above = self.above.take();
        while let Some(level) = above {
            above = match Arc::into_inner(level) {
                Some(mut level) => level.above.take(),
                None => None,
            };
        }
    }
}

/// How long a folder's path is with its slash.
fn base_of(folder: &[u8]) -> usize {
    folder.len() + usize::from(!folder.ends_with(b"/"))
}

/// Where the repository of a folder keeps what is this working copy's own. `.git` may be a file that names the place (working copies
/// beside the first, submodules).
pub fn git_folder(folder: &Path) -> PathBuf {
    let own = folder.join(".git");
    let pointer = read_pointer(&own).unwrap_or_default();
    match pointer.strip_prefix(b"gitdir:") {
        Some(place) => folder.join(OsStr::from_bytes(place.trim_ascii())),
        None => own,
    }
}

/// Where it keeps what its working copies share: `commondir` may name another place.
fn common_folder(folder: &Path) -> PathBuf {
    let own = git_folder(folder);
    match read_pointer(&own.join("commondir")) {
        Some(common) => own.join(OsStr::from_bytes(&common)),
        None => own,
    }
}

/// The text of a small file of git, without blanks around it.
pub fn read_pointer(path: &Path) -> Option<Vec<u8>> {
    let mut bytes = Vec::new();
    let file = open_regular(path).ok()?;
    file.take(MAX_POINTER_BYTES).read_to_end(&mut bytes).ok()?;
    Some(bytes.trim_ascii().to_vec())
}

fn read_path(path: &Path, problems: &mut Vec<Problem>) -> Rules {
    read_rules(open_regular(path), path.as_os_str().as_bytes(), problems)
}

fn read_rules(file: io::Result<File>, path: &[u8], problems: &mut Vec<Problem>) -> Rules {
    let mut bytes = Vec::new();
    let read = file.and_then(|file| {
        let limit = MAX_RULES_BYTES as u64 + 1;
        file.take(limit).read_to_end(&mut bytes)
    });
    if let Err(error) = read {
        // A repository need not have its file, nor the user.
        if !matches!(error.kind(), ErrorKind::NotFound | ErrorKind::NotADirectory) {
            let path = path.to_vec();
            problems.push(Problem::Unreadable { path, error });
        }
        return Rules::default();
    }
    let (rules, faults) = Rules::parse(&bytes);
    if bytes.len() > MAX_RULES_BYTES {
        let path = path.to_vec();
        problems.push(Problem::LongRules { path });
    }
    problems.extend(faults.into_iter().map(|fault| Problem::Rule {
        path: path.to_vec(),
        fault,
    }));
    rules
}
