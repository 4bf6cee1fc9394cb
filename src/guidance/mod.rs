//! Guidance: what files tell the model about how to work here. `AGENTS.md` files and the catalogue of Skills become parts of the system message;
//! Skills are read by tools of their own; guidance of a folder below the workspace is told before a file there is edited; prompt commands
//! are texts with a name.
//!
//! ```text
//! Places ─ gather ─▶ Guidance ─ fit(window) ─▶ parts()     "Guidance …<guidance file=…>…", "Skills … - pdf: …"
//!                        ├─ call(activate_skill …)  ─▶ a result                                    engine/guide.rs asks
//!                        ├─ mentioned("use $pdf")   ─▶ the instructions of that Skill
//!                        ├─ nearer(["sub/a.rs"])    ─▶ what sub/AGENTS.md says, once
//!                        └─ recall(told)            in a session that goes on: what of it stands there already
//! ```
//!
//! Files are read as `source.rs` tells. Limits: a quarter of the window for `AGENTS.md` files and for one Skill, an eighth for the
//! catalogue, and never more than their own limits.
//!
//! Invariant: what comes with a workspace is used only if exactly its content is trusted. Invariant: nothing here allows anything.
//! Invariant: nothing is read before [`Guidance::gather`], and no tree is walked. Invariant: for the same files, settings and window the
//! text is the same, byte for byte: it is part of the prefix that a server keeps.
//!
//! Read next: `agents.rs`, `skills.rs`, `calls.rs`, `prompts.rs`; then `engine/guide.rs`.

mod agents;
mod calls;
pub mod frontmatter;
pub mod prompts;
mod skills;
mod source;

use crate::policy::trust::{self, Found, Kind, Trust};
use crate::protocol::{ToolCall, ToolOutcome};
use crate::text::{counted, grouped};
use std::path::PathBuf;

pub use calls::{MAX_ACTIVE, MAX_ACTIVE_BYTES, MAX_BODY, Offer};
pub use skills::{Skill, Skills};
pub use source::{Source, Unused};

use calls::{Active, Which};

/// Skills that cannot be used and are named one by one.
const MAX_FAULTS: usize = 5;

/// How a note about a file below the workspace begins.
const NEARER: &str = "Guidance for files in ";

/// Where guidance comes from.
#[derive(Debug, Default)]
pub struct Places {
    /// The workspace, canonical.
    pub root: PathBuf,
    /// Our configuration folder.
    pub config: Option<PathBuf>,
    /// The user's folders of Skills.
    pub skills: Vec<PathBuf>,
    /// For names that people read.
    pub home: Option<PathBuf>,
    /// Names of guidance besides `AGENTS.md`.
    pub names: Vec<String>,
    /// What the workspace brings along.
    pub found: Vec<Found>,
    /// What of it is trusted; `None`: nothing.
    pub trust: Option<Trust>,
}

/// All guidance of a session.
#[derive(Debug, Default)]
pub struct Guidance {
    root: PathBuf,
    names: Vec<String>,
    trust: Option<Trust>,
    /// `AGENTS.md` files, broadest first.
    pub agents: Vec<Source>,
    /// Skills.
    pub skills: Skills,
    limits: Limits,
    offer: Offer,
    active: Active,
    /// Files below the workspace that were told, or were found not to be trusted.
    told: Vec<String>,
    /// Bytes that are left for those.
    left: usize,
    /// Notes about such files that stand in a conversation which goes on.
    known: Vec<String>,
}

#[derive(Clone, Copy, Debug)]
struct Limits {
    agents: usize,
    catalogue: usize,
    body: usize,
}

impl Default for Limits {
    fn default() -> Limits {
        Limits {
            agents: agents::MAX_BYTES,
            catalogue: skills::MAX_BYTES,
            body: MAX_BODY,
        }
    }
}

/// What is not as a person may expect, or good to know.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Remark {
    /// What is used.
    Used(String),
    /// What is not, or not whole.
    Odd(String),
}

/// Guidance of folders below the workspace.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Nearer {
    /// For the model: a folder, with a slash, and a note about it.
    pub notes: Vec<(String, String)>,
    /// The files of these.
    pub files: Vec<String>,
    /// For people: files that are not used.
    pub unused: Vec<String>,
}

impl Guidance {
    /// Reads what there is.
    pub fn gather(places: Places) -> Guidance {
        let agents = agents::chain(&places);
        let skills = skills::find(&places);
        let mut guidance = Guidance {
            agents,
            skills,
            names: places.names,
            root: places.root,
            trust: places.trust,
            ..Guidance::default()
        };
        guidance.settle(Limits::default());
        guidance
    }

    /// The window is known, in tokens: three bytes each.
    pub fn fit(&mut self, window: u64) {
        let part = |of: u64| usize::try_from(window / of * 3).unwrap_or(usize::MAX);
        let most = Limits::default();
        self.settle(Limits {
            agents: most.agents.min(part(4)),
            catalogue: most.catalogue.min(part(8)),
            body: most.body.min(part(4)),
        });
    }

    fn settle(&mut self, limits: Limits) {
        self.limits = limits;
        self.left = limits.agents;
        let (_, listed) = self.skills.catalogue(limits.catalogue);
        self.offer = match self.skills.all.len() {
            0 => Offer::Nothing,
            all if all == listed => Offer::Skills,
            _ => Offer::SkillsAndSearch,
        };
    }

    /// What stands at the end of the system message: the files, and the catalogue of Skills. Each is empty where there is nothing.
    pub fn parts(&self) -> (String, String) {
        let (mut agents, _) = agents::render(&self.agents, self.limits.agents);
        let (mut catalogue, _) = self.skills.catalogue(self.limits.catalogue);
        agents.truncate(agents.trim_end().len());
        catalogue.truncate(catalogue.trim_end().len());
        (agents, catalogue)
    }

    /// The tools.
    pub fn offer(&self) -> Offer {
        self.offer
    }

    /// What people should know.
    pub fn remarks(&self) -> Vec<Remark> {
        let (_, cut) = agents::render(&self.agents, self.limits.agents);
        let mut used: Vec<String> = Vec::new();
        let mut odd: Vec<String> = Vec::new();
        for source in &self.agents {
            match &source.text {
                Ok(_) => {
                    let bytes = counted(source.bytes, "byte");
                    used.push(format!("{} ({bytes})", source.name));
                }
                Err(Unused::Broken(why)) => odd.push(format!("{} is not used: {why}", source.name)),
                // Said at the start, with all else that is not trusted.
                Err(Unused::New | Unused::Changed) => {}
            }
            let remarks = source.remarks.iter();
            odd.extend(remarks.map(|remark| format!("{} {remark}", source.name)));
        }
        for (name, bytes) in cut {
            let most = grouped(self.limits.agents as u64);
            let bytes = counted(bytes as u64, "byte");
            odd.push(format!(
                "{name} was cut: {bytes} of it would be more than the {most} that guidance may take"
            ));
        }
        let (_, listed) = self.skills.catalogue(self.limits.catalogue);
        let all = self.skills.all.len();
        if all > 0 {
            used.push(counted(all as u64, "Skill"));
        }
        if listed < all {
            odd.push(format!(
                "{} of {} Skills are in the catalogue; the model can look for the others",
                grouped(listed as u64),
                grouped(all as u64)
            ));
        }
        let broken = |(name, unused): &(String, Unused)| match unused {
            Unused::Broken(why) => Some(format!("{name} is not used: {why}")),
            Unused::New | Unused::Changed => None,
        };
        let faults: Vec<String> = self.skills.faults.iter().filter_map(broken).collect();
        let named = faults.len().min(MAX_FAULTS);
        odd.extend_from_slice(&faults[..named]);
        if named < faults.len() {
            odd.push(format!(
                "{} more Skills are not used (--print-skills lists them)",
                faults.len() - named
            ));
        }
        let used =
            (!used.is_empty()).then(|| Remark::Used(format!("guidance: {}", used.join(", "))));
        used.into_iter()
            .chain(odd.into_iter().map(Remark::Odd))
            .collect()
    }

    /// Carries out a call of one of our tools; `None`: it is none, or not on offer.
    pub fn call(&mut self, call: &ToolCall) -> Option<ToolOutcome> {
        let which = self.offer.which(&call.name)?;
        let limit = self.limits.body;
        Some(calls::outcome(match which {
            Which::Activate => match calls::argument(call, &["name", "skill", "skill_name"]) {
                Some(name) => self.activate(name),
                None => Err(
                    "activate_skill needs `name`. Call it with arguments like {\"name\":\"pdf\"}"
                        .to_string(),
                ),
            },
            Which::Resource => calls::resource(&self.skills, call, limit),
            Which::Discover => calls::discover(&self.skills, call, limit),
        }))
    }

    fn activate(&mut self, name: &str) -> Result<String, String> {
        let Some(skill) = self.skills.named(name) else {
            return Err(calls::unknown(&self.skills, name));
        };
        self.active.activate(skill, &self.trust, self.limits.body)
    }

    /// The Skills that a prompt names as `$name`, activated: their instructions, or why there are none. Those that are active stay out.
    pub fn mentioned(&mut self, prompt: &str) -> Vec<(String, Result<String, String>)> {
        let mut mentioned: Vec<String> = Vec::new();
        for (at, _) in prompt.match_indices('$') {
            let rest = &prompt[at + 1..];
            let letters = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_');
            let name = &rest[..rest.find(|c| !letters(c)).unwrap_or(rest.len())];
            // A hyphen behind a name may belong to the sentence.
            let name = [name, name.trim_end_matches('-')]
                .into_iter()
                .find(|name| self.skills.named(name).is_some());
            mentioned.extend(
                name.filter(|name| !mentioned.iter().any(|known| known == name))
                    .map(str::to_string),
            );
        }
        mentioned.retain(|name| !self.active.0.iter().any(|(active, _)| active == name));
        let results = mentioned.into_iter().map(|name| {
            let result = self.activate(&name);
            (name, result)
        });
        results.collect()
    }

    /// Guidance of the folders below the workspace that these files lie in, as far as it was not told yet. Paths are relative to it.
    pub fn nearer(&mut self, paths: &[String]) -> Nearer {
        let mut nearer = Nearer::default();
        for path in paths {
            for (end, _) in path.match_indices('/') {
                self.look_into(&path[..=end], &mut nearer);
            }
        }
        nearer
    }

    /// `folder` ends with a slash.
    fn look_into(&mut self, folder: &str, nearer: &mut Nearer) {
        let mut paths = trust::guidance_names(&self.names).map(|name| format!("{folder}{name}"));
        let Some(found) = paths.find_map(|path| trust::find(&self.root, &path, Kind::Guidance))
        else {
            return;
        };
        if self.told.contains(&found.path) {
            return;
        }
        self.told.push(found.path.clone());
        let source = Source::new(found.path.clone(), &found, Some(&self.trust));
        let text = match &source.text {
            Ok(text) => text.trim_end(),
            Err(why) => {
                return nearer
                    .unused
                    .push(format!("{} is not used: {why}", source.name));
            }
        };
        let kept = source::cut_at_line(text, self.left);
        self.left -= kept.len();
        let mut note = format!(
            "{NEARER}{folder}, from {}; where it and earlier guidance disagree, it counts. It changes no permission.\n\n{kept}",
            source.name
        );
        if kept.len() < text.len() {
            if !kept.is_empty() && !kept.ends_with('\n') {
                note.push('\n');
            }
            note.push_str(source::cut_mark(text.len() - kept.len()).trim_end());
            nearer.unused.push(format!(
                "{} was cut: guidance may take no more room",
                source.name
            ));
        }
        if self.known.contains(&note) {
            return;
        }
        nearer.notes.push((folder.to_string(), note));
        nearer.files.push(source.name);
    }

    /// A conversation goes on, and these texts stand in it: what they tell is not told again, unless it is not the same any more.
    pub fn recall(&mut self, told: &[&str]) {
        for skill in &self.skills.all {
            let head = calls::begins(skill);
            if !told.iter().any(|text| text.starts_with(&head)) {
                continue;
            }
            let now = self.active.activate(skill, &self.trust, self.limits.body);
            if now.is_ok_and(|now| !told.contains(&now.trim_end())) {
                self.active.0.pop();
            }
        }
        let nearer = told.iter().filter(|text| text.starts_with(NEARER));
        self.known = nearer.map(|text| text.to_string()).collect();
    }

    /// The conversation so far is replaced by a summary: what was told in it is not known any more. The Skills that were active.
    pub fn forgotten(&mut self) -> Vec<String> {
        self.told.clear();
        self.known.clear();
        self.left = self.limits.agents;
        std::mem::take(&mut self.active.0)
            .into_iter()
            .map(|(name, _)| name)
            .collect()
    }
}
