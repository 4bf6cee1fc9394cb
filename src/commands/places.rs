//! `zcoder paths`: every file and folder that zcoder reads or writes here, and what is there; `zcoder purge`: what of it can be removed.
//!
//! ```text
//! $ zcoder paths
//! settings    none                    /etc/zcoder/config.json
//! settings    112 bytes               ~/.config/zcoder/config.json
//! sessions    12 files, 48,210 bytes  ~/.local/state/zcoder/sessions
//! project     17 bytes                .zcoder/rules
//! $ zcoder purge
//! sessions    12 files, 48,210 bytes  ~/.local/state/zcoder/sessions
//! nothing was removed; `zcoder purge --yes` removes these
//! ```
//!
//! Refused: a purge while a session is at work (its lock is held), without a home; what is a link, or belongs to somebody else, stays and is
//! named. Only `--yes` on the command line is a yes.
//!
//! Invariant: what is removed is a name of the table below in a folder of ours, listed before it goes; of sessions, undo and what was kept
//! only folders that are named as ours are (`app-5f2c9d04a1b7e386`): a variable may point to a folder with other things in it.
//! Invariant: links are not followed.
//! Invariant: what a person wrote or decided (settings, rules, trust) goes only with `--config`.
//!
//! Read next: `config/paths.rs`.

use super::scope::folders;
use super::{print, said_yes};
use crate::config::{self, Id, Paths, Typed, UsageError, current_folder, layers, paths};
use crate::headless::out::{complain, exit, note};
use crate::policy::trust;
use crate::sort;
use crate::sys::file::{self, Locked};
use crate::sys::host;
use crate::text::{self, counted};
use std::fs::{self, File, Metadata};
use std::io;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

/// Deeper than any tree of ours.
const MAX_DEPTH: usize = 12;
/// A run that has kept no output for so long has ended, or will not miss it.
const LEFT_BEHIND: Duration = Duration::from_secs(24 * 3600);
/// Kinds whose folder has one for each workspace.
const BY_WORKSPACE: &[&str] = &["sessions", "undo", "kept"];
/// Characters behind `zcoder-` in the name of a folder of outputs.
const ID_CHARS: usize = 12;
/// Characters of the hash in the name of a workspace's folder.
const HASH_CHARS: usize = 16;

/// What a place is to a purge.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Class {
    /// Not ours to remove.
    Read,
    /// What runs left behind.
    State,
    /// What a person wrote or decided.
    Configuration,
}

/// A file or folder.
struct Place {
    kind: &'static str,
    class: Class,
    path: PathBuf,
}

/// `zcoder paths`
pub(super) fn list(typed: &Typed) -> Result<u8, UsageError> {
    let paths = folders();
    let mut places = ours(&paths);
    let read = |kind, path: &Path| Place {
        kind,
        class: Class::Read,
        path: path.to_path_buf(),
    };
    if let Some(folder) = &paths.config {
        for name in trust::GUIDANCE {
            places.push(read("guidance", &folder.join(name)));
        }
        places.push(read("commands", &folder.join("commands")));
    }
    places.extend(paths.skills.iter().map(|path| read("skills", path)));
    places.extend(paths.git_config.iter().map(|path| read("git", path)));
    places.extend(config::git::ignore_rules(&paths).map(|path| read("git", &path)));
    let mut out: String = places.iter().map(|place| line(place, &paths)).collect();
    let folder = paths::place(typed, &paths, current_folder().as_deref())?.folder;
    for found in trust::look(&folder.canonicalize().unwrap_or(folder.clone()), &[]) {
        let size = match &found.content {
            Ok(content) => counted(content.bytes.len() as u64, "byte"),
            Err(why) => why.clone(),
        };
        out.push_str(&row("project", &size, &text::visible(&found.path)));
    }
    out.push_str(&row("workspace", "", &paths.shown(&folder)));
    Ok(print(&out))
}

/// `zcoder purge`
pub(super) fn purge(typed: &Typed) -> u8 {
    let paths = Paths::find(&config::variable);
    let with_config = typed.is_on(Id::Config);
    let mut places = ours(&paths);
    places.retain(|place| match place.class {
        Class::Read => false,
        Class::State => true,
        Class::Configuration => with_config,
    });
    places.retain(|place| match removable(&place.path) {
        Ok(there) => there,
        Err(why) => {
            complain(&format!("`{}` stays: {why}", paths.shown(&place.path)));
            false
        }
    });
    if places.is_empty() {
        note("there is nothing to remove");
        return exit::DONE;
    }
    let listing: String = places.iter().map(|place| line(place, &paths)).collect();
    let printed = print(&listing);
    if printed != exit::DONE {
        return printed;
    }
    if !said_yes(typed) {
        note("nothing was removed; `zcoder purge --yes` removes these");
        return exit::DONE;
    }
    match remove(&places, &paths) {
        Ok(()) => {
            note("removed");
            exit::DONE
        }
        Err(text) => {
            complain(&text);
            exit::FAILED
        }
    }
}

/// Everything of ours on this machine, there or not.
fn ours(paths: &Paths) -> Vec<Place> {
    let mut places = Vec::new();
    let mut add = |kind, class, path| places.push(Place { kind, class, path });
    for (layer, path) in layers::files(paths) {
        let class = match layer {
            config::Layer::User => Class::Configuration,
            config::Layer::Site | config::Layer::Project => Class::Read,
        };
        add("settings", class, path);
    }
    if let Some(folder) = &paths.config {
        add("rules", Class::Configuration, folder.join("rules"));
    }
    if let Some(folder) = &paths.state {
        add("sessions", Class::State, folder.join("sessions"));
        add("undo", Class::State, folder.join("undo"));
        add("kept", Class::Configuration, folder.join("workspaces"));
    }
    for path in outputs(&paths.temp) {
        add("outputs", Class::State, path);
    }
    places
}

/// Folders of outputs that runs have left behind: by their name, and touched by nobody for a day.
fn outputs(temp: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(temp).into_iter().flatten().flatten();
    let left_behind = |path: &PathBuf| {
        let id = path.file_name().and_then(|name| name.to_str());
        let id = id.and_then(|name| name.strip_prefix("zcoder-"));
        let named = id.is_some_and(|id| {
            id.len() == ID_CHARS && id.bytes().all(|byte| byte.is_ascii_alphanumeric())
        });
        let old = |meta: Metadata| {
            let age = SystemTime::now().duration_since(meta.modified().ok()?);
            Some(meta.is_dir() && meta.uid() == host::user() && age.ok()? > LEFT_BEHIND)
        };
        named && fs::symlink_metadata(path).ok().and_then(old) == Some(true)
    };
    let mut found: Vec<PathBuf> = entries
        .map(|entry| entry.path())
        .filter(left_behind)
        .collect();
    sort::by(&mut found, Ord::cmp);
    found
}

/// Whether there is something to remove; the error says why it stays.
fn removable(path: &Path) -> Result<bool, String> {
    let meta = match fs::symlink_metadata(path) {
        Ok(meta) => meta,
        Err(error) if is_none(&error) => return Ok(false),
        Err(error) => return Err(error.to_string()),
    };
    if meta.is_symlink() {
        return Err("it is a link".to_string());
    }
    match meta.uid() == host::user() {
        true => Ok(true),
        false => Err("it belongs to somebody else".to_string()),
    }
}

/// Removes the places, unless a session is at work.
fn remove(places: &[Place], paths: &Paths) -> Result<(), String> {
    for place in places.iter().filter(|place| place.class == Class::State) {
        nobody_works(&place.path, paths, 0)?;
    }
    for place in places {
        let removed = match (BY_WORKSPACE.contains(&place.kind), place.path.is_dir()) {
            (true, _) => remove_workspaces(&place.path),
            (false, true) => fs::remove_dir_all(&place.path),
            (false, false) => fs::remove_file(&place.path),
        };
        removed.map_err(|error| {
            let path = paths.shown(&place.path);
            format!("`{path}` could not be removed whole: {error}")
        })?;
    }
    Ok(())
}

/// Removes the folders of workspaces in one of ours, and it when nothing else is in it.
fn remove_workspaces(folder: &Path) -> io::Result<()> {
    let mut others = false;
    for entry in fs::read_dir(folder)? {
        let entry = entry?;
        let name = entry.file_name();
        let hash = name.to_str().and_then(|name| name.rsplit_once('-'));
        let is_ours = hash.is_some_and(|(_, hash)| {
            hash.len() == HASH_CHARS && hash.bytes().all(|byte| byte.is_ascii_hexdigit())
        });
        match is_ours && entry.file_type()?.is_dir() {
            true => fs::remove_dir_all(entry.path())?,
            false => others = true,
        }
    }
    match others {
        true => Err(io::Error::other("something in it is not of zcoder")),
        false => fs::remove_dir(folder),
    }
}

/// Looks at every lock below a folder: `lock` and `output` of a session, `session` of a journal.
fn nobody_works(folder: &Path, paths: &Paths, depth: usize) -> Result<(), String> {
    for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
        let path = entry.path();
        let Ok(kind) = entry.file_type() else {
            continue;
        };
        let name = entry.file_name();
        let held = if kind.is_dir() && name == "output" {
            // Of a session that somebody has open.
            matches!(File::open(&path).and_then(Locked::take), Ok(None))
        } else if kind.is_dir() && depth < MAX_DEPTH {
            nobody_works(&path, paths, depth + 1)?;
            false
        } else if kind.is_file() && (name == "lock" || name == "session") {
            // An error: the file system has no locks, and nobody can say who works there.
            let taken = file::open_regular(&path).and_then(Locked::take);
            matches!(taken, Ok(None))
        } else {
            name == "lock.owner"
        };
        if held {
            return Err(format!(
                "a session is at work in `{}`; nothing was removed: end it, and try again",
                paths.shown(folder)
            ));
        }
    }
    Ok(())
}

fn line(place: &Place, paths: &Paths) -> String {
    let size = match fs::symlink_metadata(&place.path) {
        Ok(meta) if meta.is_dir() => {
            let (mut files, mut all) = (0, 0);
            measure(&place.path, 0, &mut files, &mut all);
            format!("{}, {}", counted(files, "file"), counted(all, "byte"))
        }
        Ok(meta) if meta.is_symlink() => "a link".to_string(),
        Ok(meta) if meta.is_file() => counted(meta.len(), "byte"),
        Ok(_) => "not a file".to_string(),
        Err(error) if is_none(&error) => "none".to_string(),
        Err(error) => error.to_string(),
    };
    row(place.kind, &size, &paths.shown(&place.path))
}

fn is_none(error: &io::Error) -> bool {
    use io::ErrorKind::{NotADirectory, NotFound};
    matches!(error.kind(), NotFound | NotADirectory)
}

fn row(kind: &str, size: &str, path: &str) -> String {
    format!("{kind:9}  {size:24}  {path}\n")
}

/// Files and bytes below a folder; links count as themselves.
fn measure(folder: &Path, depth: usize, files: &mut u64, all: &mut u64) {
    for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
        match entry.metadata() {
            Ok(meta) if meta.is_dir() => {
                if depth < MAX_DEPTH {
                    measure(&entry.path(), depth + 1, files, all);
                }
            }
            Ok(meta) => {
                *files += 1;
                *all += meta.len();
            }
            Err(_) => {}
        }
    }
}
