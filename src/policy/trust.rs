//! Folder trust: what a workspace brings along to steer the agent is used only after a person said so, file by file and by exact content. In:
//! a workspace and the state folder. Out: the files that there are, each with its [`State`]; and their bytes, if they are trusted.
//!
//! ```text
//! ../AGENTS.md         guidance       812 bytes  0b1fa2c3d4e5  new                             of the repository that it lies in
//! AGENTS.md            guidance     1,204 bytes  5f2c9d04a1b7  new
//! .zcoder/rules        rules           38 bytes  9f86d081884c  trusted
//! .zcoder/config.json  settings       112 bytes  2c26b46b68ff  changed since it was trusted
//! .mcp.json            MCP servers      a symbolic link that leads out of the workspace: not usable
//!
//! <state>/workspaces/app-5f2c9d04a1b7e386/trust
//!   # zcoder: kept for /home/me/app
//!   9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08 .zcoder/rules
//! ```
//!
//! Guidance counts in the workspace, in the folders above it up to the repository's (the nearest one with a `.git`; git is not run), and in
//! folders below it, which only [`look_below`] looks through: a person asked for that, and a start of the agent never walks a tree.
//!
//! Limits: [`MAX_FILE`] a file, [`MAX_FILES`] files; more is not usable, and said. [`MAX_FOLDERS`] folders below.
//!
//! Invariant: the bytes handed out are the bytes that were hashed; nothing is read twice.
//! Invariant: nothing of a workspace is used because of its name or place alone, and a link out of it is never followed.
//! Invariant: what git ignores is not guidance: a package that was fetched into the tree steers nothing.
//!
//! Read next: `commands/trust.rs`, which shows and asks; `guidance`, which uses most of it.

use std::fs;
use std::io::{self, Read};
use std::path::{Path, PathBuf};

use crate::ignore;
use crate::sha256;
use crate::sort;
use crate::sys::file;
use crate::text::{self, counted};

use super::private;

/// Larger guidance would fill a model's window.
pub const MAX_FILE: u64 = 256 << 10;
/// More files than a person reads.
pub const MAX_FILES: usize = 256;
/// Folders below a workspace that are looked through.
pub const MAX_FOLDERS: u64 = 100_000;
/// Names of guidance, the strongest first; settings can add weaker ones.
pub const GUIDANCE: [&str; 2] = ["AGENTS.override.md", "AGENTS.md"];

/// What a file is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// Instructions for the model.
    Guidance,
    /// Settings, and with them checks.
    Settings,
    /// Rules that tighten.
    Rules,
    /// Programs to start.
    Servers,
}

impl Kind {
    /// One or two words.
    pub fn name(self) -> &'static str {
        match self {
            Kind::Guidance => "guidance",
            Kind::Settings => "settings",
            Kind::Rules => "rules",
            Kind::Servers => "MCP servers",
        }
    }
}

/// Where projects keep them.
const FILES: &[(&str, Kind)] = &[
    (SETTINGS, Kind::Settings),
    (RULES, Kind::Rules),
    (".zcoder/mcp.json", Kind::Servers),
    (".mcp.json", Kind::Servers),
];
/// The project's settings, with its checks.
pub const SETTINGS: &str = ".zcoder/config.json";
/// The project's rules.
pub const RULES: &str = ".zcoder/rules";
/// Folders whose entries count: their name, and what must follow the entry's.
const FOLDERS: &[(&str, &str)] = &[(".zcoder/commands", ""), (".agents/skills", "SKILL.md")];

/// One file that a workspace brings along.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Found {
    /// Relative to the workspace; in a folder above it, it begins with `../`.
    pub path: String,
    /// What it is for.
    pub kind: Kind,
    /// Its bytes, or why it cannot be used.
    pub content: Result<Content, String>,
}

/// What was read, and its hash.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Content {
    /// Whole.
    pub bytes: Vec<u8>,
    /// Of these bytes.
    pub hash: [u8; 32],
}

/// How a file stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum State {
    /// Exactly this content was trusted.
    Trusted,
    /// Nothing under this name was.
    New,
    /// Other content was.
    Changed,
    /// It cannot be read as a file of the workspace.
    Unusable,
}

/// The files there are, in a fixed order: guidance from the repository down to the workspace, then the workspace's own files. `root` is
/// canonical; `names`: other names of guidance.
pub fn look(root: &Path, names: &[String]) -> Vec<Found> {
    let mut found = Vec::new();
    let repository = repository(root);
    for up in (0..=steps(repository, root)).rev() {
        let above = "../".repeat(up);
        for name in guidance_names(names) {
            let path = format!("{above}{name}");
            found.extend(one(repository, root, &path, Kind::Guidance));
        }
    }
    for (path, kind) in FILES {
        found.extend(one(root, root, path, *kind));
    }
    for (folder, file) in FOLDERS {
        match entries(root, folder, file) {
            Ok(paths) => {
                let paths = paths.iter();
                found.extend(paths.filter_map(|path| one(root, root, path, Kind::Guidance)));
            }
            Err(error) if error.kind() == io::ErrorKind::NotFound => {}
            Err(error) => found.push(Found {
                path: folder.to_string(),
                kind: Kind::Guidance,
                content: Err(error.to_string()),
            }),
        }
    }
    bounded(&mut found);
    found
}

/// The same, and guidance in folders below that git does not ignore; false: there are more than [`MAX_FOLDERS`].
pub fn look_below(root: &Path, names: &[String]) -> (Vec<Found>, bool) {
    let mut found = look(root, names);
    let options = ignore::Options {
        root: root.to_path_buf(),
        ..ignore::Options::default()
    };
    let Ok(mut walk) = ignore::Walk::new(root, options) else {
        return (found, true);
    };
    while let Some(folder) = walk.next_folder() {
        if walk.folders() > MAX_FOLDERS {
            return (found, false);
        }
        let path = String::from_utf8_lossy(folder.path());
        for name in guidance_names(names).filter(|_| !path.is_empty() && is_honest(&path)) {
            if folder.files().iter().any(|file| file == name.as_bytes()) {
                found.extend(one(root, root, &format!("{path}{name}"), Kind::Guidance));
            }
        }
    }
    bounded(&mut found);
    (found, true)
}

/// One file below `base`, canonical, at a path relative to it, if there is one.
pub fn find(base: &Path, path: &str, kind: Kind) -> Option<Found> {
    one(base, base, path, kind)
}

/// The nearest folder from `root` upwards that has a `.git`, a folder or a file; `root` itself, if none has.
pub fn repository(root: &Path) -> &Path {
    let mut folders = root.ancestors();
    let found = folders.find(|folder| {
        let git = fs::metadata(folder.join(".git"));
        git.is_ok_and(|git| git.is_dir() || git.is_file())
    });
    found.unwrap_or(root)
}

/// How many folders `root` lies below `above`.
fn steps(above: &Path, root: &Path) -> usize {
    root.components().count() - above.components().count()
}

/// All names of guidance, the strongest first.
pub fn guidance_names(more: &[String]) -> impl Iterator<Item = &str> {
    GUIDANCE.into_iter().chain(more.iter().map(String::as_str))
}

fn bounded(found: &mut [Found]) {
    for extra in found.iter_mut().skip(MAX_FILES) {
        extra.content = Err(format!("more than {MAX_FILES} such files"));
    }
}

/// A name that would not be shown as it is cannot be listed honestly.
fn is_honest(name: &str) -> bool {
    *text::visible(name) == *name && !name.contains(['\n', char::REPLACEMENT_CHARACTER])
}

/// The paths below a folder, sorted.
fn entries(root: &Path, folder: &str, file: &str) -> io::Result<Vec<String>> {
    let entries = fs::read_dir(root.join(folder))?;
    let names = entries.take(16 * MAX_FILES).filter_map(|entry| {
        let name = entry.ok()?.file_name().into_string().ok()?;
        is_honest(&name).then_some(name)
    });
    let path = |name: String| match file {
        "" => name.ends_with(".md").then(|| format!("{folder}/{name}")),
        file => Some(format!("{folder}/{name}/{file}")),
    };
    let mut paths: Vec<String> = names.filter_map(path).collect();
    sort::by(&mut paths, Ord::cmp);
    Ok(paths)
}

/// `path` is relative to `root`; what is there must lie in `base`.
fn one(base: &Path, root: &Path, path: &str, kind: Kind) -> Option<Found> {
    let full = root.join(path);
    fs::symlink_metadata(&full).ok()?;
    let content = match full.canonicalize() {
        Ok(real) if real.starts_with(base) => content(&real).map_err(|error| error.to_string()),
        Ok(_) => Err(format!("a link that leads out of {}", base.display())),
        Err(error) => Err(error.to_string()),
    };
    Some(Found {
        path: path.to_string(),
        kind,
        content,
    })
}

fn content(path: &Path) -> io::Result<Content> {
    let file = file::open_regular(path)?;
    let mut bytes = Vec::new();
    file.take(MAX_FILE + 1).read_to_end(&mut bytes)?;
    if bytes.len() as u64 > MAX_FILE {
        let limit = counted(MAX_FILE, "byte");
        return Err(io::Error::other(format!("longer than {limit}")));
    }
    let hash = sha256::digest(&bytes);
    Ok(Content { bytes, hash })
}

/// What is trusted in one workspace.
#[derive(Clone, Debug)]
pub struct Trust {
    workspace: PathBuf,
    /// Its file; `None`: what is trusted for this run only.
    file: Option<PathBuf>,
    /// `HEX PATH`
    lines: Vec<String>,
    /// Whatever there is, for this run.
    everything: bool,
}

impl Trust {
    /// Reads what is trusted in `workspace` (canonical). Without a state folder nothing is, and nothing can be kept.
    pub fn open(state: Option<&Path>, workspace: &Path) -> io::Result<Trust> {
        let file = state.map(|state| private::folder(state, workspace).join("trust"));
        let lines = match &file {
            Some(file) => private::lines(file, workspace)?,
            None => Vec::new(),
        };
        Ok(Trust {
            workspace: workspace.to_path_buf(),
            file,
            lines,
            everything: false,
        })
    }

    /// How a file stands.
    pub fn state(&self, found: &Found) -> State {
        let Some(line) = line(found) else {
            return State::Unusable;
        };
        let names_it = |known: &String| {
            let known = known.split_once(' ');
            known.is_some_and(|(_, path)| path == found.path)
        };
        if self.everything || self.lines.contains(&line) {
            State::Trusted
        } else if self.lines.iter().any(names_it) {
            State::Changed
        } else {
            State::New
        }
    }

    /// The bytes of a file, if exactly they are trusted.
    pub fn usable<'f>(&self, found: &'f [Found], path: &str) -> Option<&'f [u8]> {
        let found = found.iter().find(|found| found.path == path)?;
        let content = found.content.as_ref().ok()?;
        (self.state(found) == State::Trusted).then_some(&content.bytes)
    }

    /// Trusts what the workspace brings along, as it is when it is read: for this run.
    pub fn trust_now(&mut self) {
        self.everything = true;
    }

    /// Trusts these files as they were read, and nothing else of the workspace; kept.
    pub fn keep(&mut self, found: &[Found]) -> io::Result<()> {
        self.write(found.iter().filter_map(line).collect())
    }

    /// Trusts nothing of the workspace any more; returns how many files were.
    pub fn revoke(&mut self) -> io::Result<usize> {
        let count = self.lines.len();
        if count > 0 {
            self.write(Vec::new())?;
        }
        Ok(count)
    }

    fn write(&mut self, new: Vec<String>) -> io::Result<()> {
        let Some(file) = &self.file else {
            let text = "there is no folder for state: HOME and XDG_STATE_HOME are not set";
            return Err(io::Error::other(text));
        };
        self.lines = private::update(file, &self.workspace, &mut |lines| {
            lines.clone_from(&new);
        })?;
        Ok(())
    }
}

fn line(found: &Found) -> Option<String> {
    let content = found.content.as_ref().ok()?;
    Some(format!("{} {}", sha256::hex(&content.hash), found.path))
}

/// Every workspace in which something is trusted, with its files, sorted. What cannot be read is left out.
pub fn all(state: &Path) -> Vec<(String, Vec<String>)> {
    let Ok(entries) = fs::read_dir(state.join("workspaces")) else {
        return Vec::new();
    };
    let mut all: Vec<(String, Vec<String>)> = entries
        .filter_map(|entry| {
            let text = private::read(&entry.ok()?.path().join("trust")).ok()?;
            let workspace = private::named(&text)?.to_string();
            let files = text.lines().skip(1).filter_map(|line| line.split_once(' '));
            let files: Vec<String> = files.map(|(_, path)| path.to_string()).collect();
            (!files.is_empty()).then_some((workspace, files))
        })
        .collect();
    sort::by(&mut all, Ord::cmp);
    all
}
