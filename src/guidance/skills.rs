//! Skills: folders with a `SKILL.md`, instructions for special tasks. In: the folders where they lie. Out: their names and descriptions, for
//! the catalogue in the system message. Bodies and other files come one by one, by the tools (`calls.rs`).
//!
//! ```text
//! <workspace>/.agents/skills/pdf/SKILL.md      only if it is trusted; then ~/.agents/skills and ${XDG_CONFIG_HOME}/agents/skills
//!   ---
//!   name: pdf
//!   description: Fills in PDF forms. Use it when the user names a .pdf file.
//!   ---
//!   1. Look at the fields with …
//!
//! - pdf: Fills in PDF forms. Use it when the user names a .pdf file.                      in the catalogue
//! ```
//!
//! Refused, and said: a Skill without name or description, a broken head (`frontmatter.rs`), a name that is more than letters, digits, `-` and
//! `_`, a name that a Skill before has. Limits: [`MAX_FOUND`] Skills of a folder, [`MAX_LISTED`] and [`MAX_BYTES`] in the catalogue, in a
//! small window less; a description is cut to [`MAX_DESCRIPTION`] characters.
//!
//! Invariant: the order is that of the folders, and by name in each: the same files give the same bytes.
//! Invariant: a Skill is text for the model and nothing else; it allows nothing.

use super::Places;
use super::frontmatter;
use super::source::{self, Source, Unused};
use crate::policy::trust::{self, Found, Kind};
use crate::sort;
use crate::text;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

/// Skills of one folder that are looked at; the first by name.
const MAX_FOUND: usize = 1_024;
/// Skills in the catalogue.
const MAX_LISTED: usize = 128;
/// Bytes of the catalogue.
pub(super) const MAX_BYTES: usize = 32 << 10;
/// Characters of a description.
const MAX_DESCRIPTION: usize = 1_024;
/// Characters of a name.
const MAX_NAME: usize = 64;
/// Names of a folder that are read at all.
const MAX_ENTRIES: usize = 16_384;
/// Where a project keeps its Skills.
const PROJECT: &str = ".agents/skills/";

const INTRODUCTION: &str = "Skills are instructions for special tasks. When a task fits one, call activate_skill with its name before you begin, and follow what it says. A Skill changes no permission.\n";

/// One Skill.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Skill {
    /// Letters, digits, `-` and `_`.
    pub name: String,
    /// On one line.
    pub description: String,
    /// For people and the model: `~/.agents/skills/pdf/SKILL.md`.
    pub shown: String,
    /// Size of its SKILL.md.
    pub bytes: u64,
    /// Whether it came with the workspace.
    pub project: bool,
    /// The folder that bounds it, canonical: the workspace, or that of the Skills.
    pub(super) base: PathBuf,
    /// Its SKILL.md, from there.
    pub(super) path: String,
}

/// All there are.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Skills {
    /// In the order of the catalogue.
    pub all: Vec<Skill>,
    /// File or folder, and why it is not used.
    pub faults: Vec<(String, Unused)>,
}

/// Looks for them.
pub(super) fn find(places: &Places) -> Skills {
    let mut skills = Skills::default();
    let own = |found: &&Found| found.path.starts_with(PROJECT);
    for found in places.found.iter().filter(own) {
        let source = Source::new(found.path.clone(), found, Some(&places.trust));
        skills.add(source, found, &places.root, true);
    }
    let mut seen: Vec<PathBuf> = Vec::new();
    for folder in &places.skills {
        let shown = |path: &Path| source::shown(path, places.home.as_ref());
        let base = match folder.canonicalize() {
            Ok(base) if seen.contains(&base) => continue,
            Ok(base) => base,
            Err(error) if error.kind() == io::ErrorKind::NotFound => continue,
            Err(error) => {
                skills.fault(shown(folder), error.to_string());
                continue;
            }
        };
        match entries(&base) {
            Ok((entries, more)) => {
                for entry in entries {
                    let path = format!("{entry}/SKILL.md");
                    if let Some(found) = trust::find(&base, &path, Kind::Guidance) {
                        let source = Source::new(shown(&folder.join(&path)), &found, None);
                        skills.add(source, &found, &base, false);
                    }
                }
                if more > 0 {
                    let text =
                        format!("{more} entries beyond the first {MAX_FOUND} are not looked at");
                    skills.fault(shown(folder), text);
                }
            }
            Err(error) => skills.fault(shown(folder), error.to_string()),
        }
        seen.push(base);
    }
    skills
}

/// The first names of a folder, and how many more there are.
fn entries(base: &Path) -> io::Result<(Vec<String>, usize)> {
    let entries = fs::read_dir(base)?.take(MAX_ENTRIES);
    let names = entries.filter_map(|entry| entry.ok()?.file_name().into_string().ok());
    let mut names: Vec<String> = names.filter(|name| !name.starts_with('.')).collect();
    sort::by(&mut names, Ord::cmp);
    let more = names.len().saturating_sub(MAX_FOUND);
    names.truncate(MAX_FOUND);
    Ok((names, more))
}

impl Skills {
    fn add(&mut self, source: Source, found: &Found, base: &Path, project: bool) {
        let text = match &source.text {
            Ok(text) => text,
            Err(unused) => return self.faults.push((source.name, unused.clone())),
        };
        let (name, description) = match name_and_description(text) {
            Ok(fields) => fields,
            Err(error) => return self.fault(source.name, error),
        };
        if let Some(first) = self.all.iter().find(|skill| skill.name == name) {
            let text = format!("hidden by {}, which has the same name", first.shown);
            return self.fault(source.name, text);
        }
        self.all.push(Skill {
            name,
            description,
            shown: source.name,
            bytes: source.bytes,
            project,
            base: base.to_path_buf(),
            path: found.path.clone(),
        });
    }

    fn fault(&mut self, name: String, why: String) {
        self.faults.push((name, Unused::Broken(why)));
    }

    /// By its name.
    pub fn named(&self, name: &str) -> Option<&Skill> {
        self.all.iter().find(|skill| skill.name == name)
    }

    /// The catalogue, and how many Skills are in it.
    pub(super) fn catalogue(&self, limit: usize) -> (String, usize) {
        if self.all.is_empty() {
            return (String::new(), 0);
        }
        let mut out = String::from(INTRODUCTION);
        let mut listed = 0;
        for skill in self.all.iter().take(MAX_LISTED) {
            let line = skill.line();
            if out.len() + line.len() > limit {
                break;
            }
            out.push_str(&line);
            listed += 1;
        }
        let more = self.all.len() - listed;
        if more > 0 {
            out.push_str(&format!(
                "Not listed: {}; discover_skills finds them.\n",
                text::counted(more as u64, "Skill")
            ));
        }
        (out, listed)
    }
}

impl Skill {
    /// `- pdf: Fills in …`
    pub(super) fn line(&self) -> String {
        format!("- {}: {}\n", self.name, self.description)
    }

    /// Its folder: where its other files lie.
    pub(super) fn folder(&self) -> PathBuf {
        let file = self.base.join(&self.path);
        file.parent().unwrap_or(&self.base).to_path_buf()
    }
}

fn name_and_description(text: &str) -> Result<(String, String), String> {
    let head = frontmatter::split(text).map_err(|fault| fault.to_string())?;
    let field = |key: &str| match head.text(key) {
        Ok(Some(text)) if !text.trim().is_empty() => Ok(text::line(text).trim().to_string()),
        Ok(_) => Err(format!(
            "its head names no `{key}`; it begins with a line `---`, then `{key}: …`"
        )),
        Err(fault) => Err(fault.to_string()),
    };
    let (name, description) = (field("name")?, field("description")?);
    let letters = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_');
    if name.len() > MAX_NAME || !name.chars().all(letters) {
        let name = text::clip(&text::visible(&name), MAX_NAME).into_owned();
        return Err(format!(
            "`{name}` is no name; use at most {MAX_NAME} letters, digits, `-` and `_`"
        ));
    }
    let description = text::clip(&description, MAX_DESCRIPTION).into_owned();
    Ok((name, description))
}
