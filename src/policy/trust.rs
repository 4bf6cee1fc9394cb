//! Folder trust: what a workspace brings along to steer the agent is used only after a person said so, file by file and by exact content. In:
//! a workspace and the state folder. Out: the files that there are, each with its [`State`]; and their bytes, if they are trusted.
//!
//! ```text
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
//! Limits: [`MAX_FILE`] a file, [`MAX_FILES`] files; more is not usable, and said.
//!
//! Invariant: the bytes handed out are the bytes that were hashed; nothing is read twice.
//! Invariant: nothing of a workspace is used because of its name or place alone, and a link out of it is never followed.
//!
//! Read next: `commands/trust.rs`, which shows and asks.

use std::fs;
use std::io::{self, Read};
use std::path::{Path, PathBuf};

use crate::sha256;
use crate::sys::file;
use crate::text::{self, counted};

use super::private;

/// Larger guidance would fill a model's window.
pub const MAX_FILE: u64 = 256 << 10;
/// More files than a person reads.
pub const MAX_FILES: usize = 64;

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
    ("AGENTS.override.md", Kind::Guidance),
    ("AGENTS.md", Kind::Guidance),
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
    /// Relative to the workspace.
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

/// The files there are, in a fixed order. `root` is canonical.
pub fn look(root: &Path) -> Vec<Found> {
    let mut found = Vec::new();
    for (path, kind) in FILES {
        found.extend(one(root, path, *kind));
    }
    for (folder, file) in FOLDERS {
        for path in entries(root, folder, file) {
            found.extend(one(root, &path, Kind::Guidance));
        }
    }
    for extra in found.iter_mut().skip(MAX_FILES) {
        extra.content = Err(format!("more than {MAX_FILES} such files"));
    }
    found
}

/// The paths below a folder, sorted. A name that would not be shown as it is cannot be listed honestly.
fn entries(root: &Path, folder: &str, file: &str) -> Vec<String> {
    let Ok(entries) = fs::read_dir(root.join(folder)) else {
        return Vec::new();
    };
    let names = entries.take(16 * MAX_FILES).filter_map(|entry| {
        let name = entry.ok()?.file_name().into_string().ok()?;
        let honest = *text::visible(&name) == *name && !name.contains('\n');
        honest.then_some(name)
    });
    let mut paths: Vec<String> = match file {
        "" => names
            .filter(|name| name.ends_with(".md"))
            .map(|name| format!("{folder}/{name}"))
            .collect(),
        file => names
            .map(|name| format!("{folder}/{name}/{file}"))
            .collect(),
    };
    paths.sort();
    paths
}

fn one(root: &Path, path: &str, kind: Kind) -> Option<Found> {
    let full = root.join(path);
    fs::symlink_metadata(&full).ok()?;
    let content = match full.canonicalize() {
        Ok(real) if real.starts_with(root) => content(&real).map_err(|error| error.to_string()),
        Ok(_) => Err("a link that leads out of the workspace".to_string()),
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
        return Err(io::Error::other(format!(
            "longer than {}",
            counted(MAX_FILE, "byte")
        )));
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
        })
    }

    /// How a file stands.
    pub fn state(&self, found: &Found) -> State {
        let Ok(content) = &found.content else {
            return State::Unusable;
        };
        let hash = sha256::hex(&content.hash);
        let mut known = self.lines.iter().filter_map(|line| line.split_once(' '));
        if known
            .clone()
            .any(|(old, path)| path == found.path && old == hash)
        {
            return State::Trusted;
        }
        match known.any(|(_, path)| path == found.path) {
            true => State::Changed,
            false => State::New,
        }
    }

    /// The bytes of a file, if exactly they are trusted.
    pub fn usable<'f>(&self, found: &'f [Found], path: &str) -> Option<&'f [u8]> {
        let found = found.iter().find(|found| found.path == path)?;
        match (self.state(found), &found.content) {
            (State::Trusted, Ok(content)) => Some(&content.bytes),
            (State::Trusted | State::New | State::Changed | State::Unusable, _) => None,
        }
    }

    /// Trusts these files as they were read, in memory: for this run.
    pub fn trust_now(&mut self, found: &[Found]) {
        self.lines = found.iter().filter_map(line).collect();
    }

    /// Trusts these files as they were read, and nothing else of the workspace; kept.
    pub fn keep(&mut self, found: &[Found]) -> io::Result<()> {
        let new: Vec<String> = found.iter().filter_map(line).collect();
        self.write(new)
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
            let (text, _) = private::read(&entry.ok()?.path().join("trust")).ok()?;
            let workspace = private::named(&text)?.to_string();
            let files = text.lines().skip(1).filter_map(|line| line.split_once(' '));
            let files: Vec<String> = files.map(|(_, path)| path.to_string()).collect();
            (!files.is_empty()).then_some((workspace, files))
        })
        .collect();
    all.sort();
    all
}
