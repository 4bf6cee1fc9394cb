//! Following a path name by name. In: a folder to start from, free of links, and the rest of the path. Out: where it leads, free of
//! links as far as it exists, and what is there; or where and why it cannot be followed. `workspace` calls it and judges the place.
//!
//! ```text
//! /ws + docs/../src/new.rs     docs -> notes      /ws/docs is a link: its target comes first
//!       notes/../src/new.rs                       /ws/notes, back to /ws, /ws/src
//!                                                 new.rs does not exist: found nothing, no link led there
//! ```
//!
//! Done by hand rather than by `canonicalize`, since it must be known which name does not exist and whether a link led to it. `..` goes up
//! from where a link led, as the kernel does it.
//!
//! Refused: more than 40 links, names above 255 and paths above 4,095 bytes, `..` after what does not exist, names below a file.
//!
//! Invariant: nothing is opened; every name is looked at with `lstat`.

use std::collections::VecDeque;
use std::ffi::{OsStr, OsString};
use std::fs::{self, Metadata};
use std::io;
use std::path::{Component, Path, PathBuf};

/// Links followed for one path, as Linux does.
pub(super) const MAX_LINKS: usize = 40;
/// Bytes of one name (NAME_MAX of the usual file systems).
pub(super) const MAX_NAME: usize = 255;
/// Bytes of a whole path (PATH_MAX less its NUL).
pub(super) const MAX_PATH: usize = 4095;

/// How far a walk came.
pub(super) struct Walked {
    /// Free of links as far as it exists.
    pub(super) full: PathBuf,
    /// What is there; `None`: nothing.
    pub(super) found: Option<Metadata>,
    /// The link that led to what does not exist.
    pub(super) linked: Option<PathBuf>,
}

/// One name to follow, and the link whose target it stands in.
struct Step {
    name: OsString,
    link: Option<PathBuf>,
}

/// Where and why a walk ended.
pub(super) struct Stop {
    pub(super) at: PathBuf,
    pub(super) why: Why,
}

pub(super) enum Why {
    ParentOfMissing,
    ParentIsNoFolder,
    NameTooLong(usize),
    PathTooLong(usize),
    TooManyLinks,
    Io(io::Error),
}

/// Follows `rest` from `start` name by name.
pub(super) fn walk(start: PathBuf, rest: &Path) -> Result<Walked, Stop> {
    let mut walked = Walked {
        full: start,
        found: None,
        linked: None,
    };
    walked.found = fs::symlink_metadata(&walked.full).ok();
    let mut names: VecDeque<Step> = steps(rest, None);
    let mut links = 0;
    while let Some(step) = names.pop_front() {
        let at = |why: Why, walked: &Walked| {
            Err(Stop {
                at: walked.full.join(&step.name),
                why,
            })
        };
        if step.name == ".." {
            match walked.found {
                Some(_) => walked.full.pop(),
                None => return at(Why::ParentOfMissing, &walked),
            };
            walked.found = fs::symlink_metadata(&walked.full).ok();
            continue;
        }
        if step.name.len() > MAX_NAME {
            return at(Why::NameTooLong(step.name.len()), &walked);
        }
        match &walked.found {
            None => {
                walked.full.push(&step.name);
                continue;
            }
            Some(parent) if !parent.is_dir() => return at(Why::ParentIsNoFolder, &walked),
            Some(_) => {}
        }
        let next = walked.full.join(&step.name);
        match fs::symlink_metadata(&next) {
            Ok(meta) if meta.is_symlink() => {
                links += 1;
                if links > MAX_LINKS {
                    return at(Why::TooManyLinks, &walked);
                }
                let target = match fs::read_link(&next) {
                    Ok(target) => target,
                    Err(error) => return at(Why::Io(error), &walked),
                };
                if target.is_absolute() {
                    walked.full = PathBuf::from("/");
                    walked.found = fs::symlink_metadata("/").ok();
                }
                for step in steps(&target, Some(&next)).into_iter().rev() {
                    names.push_front(step);
                }
            }
            Ok(meta) => {
                walked.full = next;
                walked.found = Some(meta);
            }
            Err(error) if error.kind() == io::ErrorKind::NotFound => {
                walked.full = next;
                walked.found = None;
                walked.linked = step.link.clone();
            }
            Err(error) => return at(Why::Io(error), &walked),
        }
    }
    if walked.full.as_os_str().len() > MAX_PATH {
        return Err(Stop {
            why: Why::PathTooLong(walked.full.as_os_str().len()),
            at: walked.full,
        });
    }
    Ok(walked)
}

fn steps(path: &Path, link: Option<&Path>) -> VecDeque<Step> {
    path.components()
        .filter_map(|component| match component {
            Component::Normal(name) => Some(name),
            Component::ParentDir => Some(OsStr::new("..")),
            Component::RootDir | Component::CurDir | Component::Prefix(_) => None,
        })
        .map(|name| Step {
            name: name.to_os_string(),
            link: link.map(Path::to_path_buf),
        })
        .collect()
}
