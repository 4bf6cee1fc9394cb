//! Where things are: our own folders by the XDG rules, and the workspace.
//!
//! ```text
//! HOME=/h                         config /h/.config/zcoder   state /h/.local/state/zcoder   temp /tmp
//! ZCODER_HOME=/z TMPDIR=/t        config /z                  state /z                       temp /t
//! (nothing)                       no config, no state        temp /tmp
//! XDG_CONFIG_HOME=conf            as if it were not set, and named in `ignored`
//! --workspace sub, started in /h  the workspace /h/sub
//! started in /h                   refused: a home folder must be named
//! ```
//!
//! Refused: `/` or the home folder as a workspace that nobody named, a start folder that has vanished.
//!
//! Invariant: every path here is absolute. Invariant: nothing is made, and only the workspace is looked at.
//!
//! Read next: `tools/workspace.rs`, which opens it.

use super::env::Env;
use super::error::UsageError;
use super::flags::Id;
use super::typed::Typed;
use crate::text;
use std::path::{Path, PathBuf};

/// Where things are on this machine.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Paths {
    /// The user's home folder, if there is one.
    pub home: Option<PathBuf>,
    /// Our configuration: rules, guidance, prompt commands. Closed to tools.
    pub config: Option<PathBuf>,
    /// The user's folders of Skills, which other agents read too.
    pub skills: Vec<PathBuf>,
    /// Our state: what was kept and trusted. Closed to tools.
    pub state: Option<PathBuf>,
    /// Where temporary folders are made.
    pub temp: PathBuf,
    /// The user's settings of git, the stronger ones last.
    pub git_config: Vec<PathBuf>,
    /// The user's own ignore rules, if those settings name no other file.
    pub git_ignore: Option<PathBuf>,
    /// The site's settings. No variable names it: what it locks must not be got around by one.
    pub site: PathBuf,
    /// Variables that name no absolute path, and so no folder at all.
    pub ignored: Vec<&'static str>,
}

/// Where the site's settings are.
const SITE: &str = "/etc/zcoder/config.json";

/// The variables that name folders of ours.
const FOLDERS: &[&str] = &[
    "HOME",
    "ZCODER_HOME",
    "XDG_CONFIG_HOME",
    "XDG_STATE_HOME",
    "TMPDIR",
];

impl Paths {
    /// By the XDG rules; relative values are ignored as the rules demand. A missing HOME only means fewer folders.
    pub fn find(env: Env<'_>) -> Paths {
        let absolute = |name: &str| {
            env(name)
                .map(PathBuf::from)
                .filter(|path| path.is_absolute())
        };
        let relative = |name: &&str| {
            env(name).is_some_and(|path| !path.is_empty() && absolute(name).is_none())
        };
        let home = absolute("HOME");
        let ours = absolute("ZCODER_HOME");
        let below = |variable: &str, fallback: &str| {
            let base = absolute(variable).or_else(|| Some(home.as_ref()?.join(fallback)));
            Some(base?.join("zcoder"))
        };
        let xdg = absolute("XDG_CONFIG_HOME").or_else(|| Some(home.as_ref()?.join(".config")));
        let agents = home.as_ref().map(|home| home.join(".agents/skills"));
        let shared = xdg.as_ref().map(|config| config.join("agents/skills"));
        let git = xdg.map(|config| config.join("git"));
        let git_config = match absolute("GIT_CONFIG_GLOBAL") {
            Some(only) => vec![only],
            None => {
                let xdg = git.as_ref().map(|git| git.join("config"));
                let own = home.as_ref().map(|home| home.join(".gitconfig"));
                xdg.into_iter().chain(own).collect()
            }
        };
        Paths {
            skills: agents.into_iter().chain(shared).collect(),
            git_config,
            git_ignore: git.map(|git| git.join("ignore")),
            config: ours.clone().or_else(|| below("XDG_CONFIG_HOME", ".config")),
            state: ours.or_else(|| below("XDG_STATE_HOME", ".local/state")),
            temp: absolute("TMPDIR").unwrap_or_else(|| PathBuf::from("/tmp")),
            site: PathBuf::from(SITE),
            ignored: FOLDERS.iter().copied().filter(relative).collect(),
            home,
        }
    }

    /// A path for people: `~` for the home folder.
    pub fn shown(&self, path: &Path) -> String {
        let below = self
            .home
            .as_ref()
            .and_then(|home| path.strip_prefix(home).ok());
        let shown = match below {
            Some(below) => format!("~/{}", below.display()),
            None => path.display().to_string(),
        };
        text::one_line(&shown)
    }

    /// What tools may never touch.
    pub fn off_limits(&self) -> Vec<PathBuf> {
        self.config.iter().chain(&self.state).cloned().collect()
    }
}

/// The folder that tools work in.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Place {
    /// Absolute, not yet opened.
    pub folder: PathBuf,
    /// `/` or a home folder: edits are asked for unless said otherwise.
    pub broad: bool,
}

/// Resolves the workspace. `start` is the folder the program was started in.
pub fn place(typed: &Typed, paths: &Paths, start: Option<&Path>) -> Result<Place, UsageError> {
    let given = typed.get(Id::Workspace);
    let folder = match (given, start) {
        (Some(given), _) if Path::new(&given.value).is_absolute() => PathBuf::from(&given.value),
        (Some(given), Some(start)) if !given.value.is_empty() => start.join(&given.value),
        (Some(given), Some(_)) => return Err(given.bad("a folder")),
        (None, Some(start)) => start.to_path_buf(),
        (_, None) => {
            return Err(UsageError::Workspace {
                folder: ".".to_string(),
                cause: "the current folder has vanished or may not be read".to_string(),
            });
        }
    };
    let same = |other: &Path| match (folder.canonicalize(), other.canonicalize()) {
        (Ok(folder), Ok(other)) => folder == other,
        // What cannot be resolved is compared as written; opening it will say what is wrong.
        _ => folder == other,
    };
    let broad = same(Path::new("/")) || paths.home.as_deref().is_some_and(same);
    if broad && given.is_none() {
        let folder = folder.display().to_string();
        return Err(UsageError::BroadWorkspace { folder });
    }
    Ok(Place { folder, broad })
}
