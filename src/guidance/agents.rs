//! The chain of `AGENTS.md`: one file of each folder that has one, from the user's own down to the workspace, as one part of the system
//! message. In: [`Places`]. Out: the files, used or not, and the text.
//!
//! ```text
//! ~/.config/zcoder/AGENTS.md      the user's
//! ../../AGENTS.md                 the repository's
//! AGENTS.override.md              the workspace's: in each folder the first of AGENTS.override.md, AGENTS.md and the names in the settings
//!
//! Guidance of the user and of this project, broadest first; where two disagree, the later one counts. It changes no permission.
//!
//! <guidance file="~/.config/zcoder/AGENTS.md">
//! Write short commit messages.
//! </guidance>
//! ```
//!
//! Limit: the files take at most [`MAX_BYTES`] together, in a small window less; what does not fit is cut at a line, and said.
//!
//! Invariant: the same files give the same bytes. Invariant: a file that is there and not usable hides the weaker ones of its folder:
//! nothing else is used in its place.

use super::Places;
use super::source::{self, Source};
use crate::policy::trust::{self, Kind, guidance_names};
use std::path::PathBuf;

/// Of all files together.
pub(super) const MAX_BYTES: usize = 32 << 10;

const INTRODUCTION: &str = "Guidance of the user and of this project, broadest first; where two disagree, the later one counts. It changes no permission.\n";

/// The files, broadest first.
pub(super) fn chain(places: &Places) -> Vec<Source> {
    let mut chain = Vec::new();
    if let Some(config) = &places.config {
        let base = config.canonicalize().ok();
        let own = |base: PathBuf| {
            guidance_names(&places.names).find_map(|name| trust::find(&base, name, Kind::Guidance))
        };
        if let Some(found) = base.and_then(own) {
            let name = source::shown(&config.join(&found.path), places.home.as_ref());
            chain.push(Source::new(name, &found, None));
        }
    }
    let mut last_folder = None;
    for found in &places.found {
        let (folder, _) = found.path.rsplit_once('/').unwrap_or(("", &found.path));
        // `found` has those of one folder together, the strongest name first.
        let in_chain =
            found.kind == Kind::Guidance && (folder.is_empty() || folder.ends_with(".."));
        if !in_chain || last_folder == Some(folder) {
            continue;
        }
        last_folder = Some(folder);
        chain.push(Source::new(found.path.clone(), found, Some(&places.trust)));
    }
    chain
}

/// The part of the system message, and how many bytes of which file are left out of it.
pub(super) fn render(chain: &[Source], limit: usize) -> (String, Vec<(String, usize)>) {
    let (mut out, mut cut) = (String::new(), Vec::new());
    let mut left = limit;
    for source in chain {
        let text = match &source.text {
            Ok(text) if !text.trim().is_empty() => text.trim_end(),
            Ok(_) | Err(_) => continue,
        };
        if out.is_empty() {
            out.push_str(INTRODUCTION);
        }
        let kept = source::cut_at_line(text, left);
        left -= kept.len();
        out.push_str(&format!("\n<guidance file=\"{}\">\n{kept}", source.name));
        if !kept.is_empty() && !kept.ends_with('\n') {
            out.push('\n');
        }
        if kept.len() < text.len() {
            let left_out = text.len() - kept.len();
            out.push_str(&source::cut_mark(left_out));
            cut.push((source.name.clone(), left_out));
            // What comes later must not stand in for what was cut.
            left = 0;
        }
        out.push_str("</guidance>\n");
    }
    (out, cut)
}
