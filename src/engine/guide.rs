//! Guidance within a session: what it adds to the first messages, Skills that a prompt names, and guidance of folders below the workspace, which
//! is told before something there is edited.
//!
//! ```text
//! open           guidance fits the window → system message, tools of Skills, one notice what is used
//! "use $pdf"     note: the instructions of pdf          before the user's message
//! edit sub/a.rs  result: not done yet …                 sub/AGENTS.md was not told so far
//!                note: Guidance for files in sub/ …     after the results of that reply; the same call then goes through
//! ```
//!
//! In a session that goes on, what still stands in the conversation word for word counts as told; what a checkpoint left out, or what says
//! something else by now, is told again.
//!
//! Invariant: guidance decides nothing: it is told, and policy is asked as always.
//!
//! Read next: `guidance`.
use super::conversation::Addition;
use super::prompt;
use super::turn::Engine;
use crate::guidance::{Guidance, Remark};
use crate::protocol::{Level, Message, Note};
use crate::session::{self, Record};

/// What guidance adds to a conversation that goes on from these records, for a window of this many tokens; with what people should know
/// of it.
pub(super) fn fit(
    guidance: &mut Guidance,
    window: u64,
    records: &[Record],
) -> (Addition, Vec<(Level, String)>) {
    guidance.fit(window);
    guidance.recall(&told(records));
    let (agents, skills) = guidance.parts();
    let addition = Addition {
        agents,
        skills,
        offer: guidance.offer(),
    };
    let notices = guidance.remarks().into_iter().map(|remark| match remark {
        Remark::Used(text) => (Level::Info, text),
        Remark::Odd(text) => (Level::Warning, text),
    });
    (addition, notices.collect())
}

/// What the model still sees of what it was told: notes about guidance, and results, for a Skill may have been activated by a call.
fn told(records: &[Record]) -> Vec<&str> {
    let view = session::view(records).into_iter();
    let told = view.filter_map(|(_, message)| match message {
        Message::Note {
            note: Note::Guidance,
            text,
        } => Some(prompt::unlabelled(text)),
        Message::Tool { text, .. } => Some(text.trim_end()),
        Message::System { .. }
        | Message::User { .. }
        | Message::Note { .. }
        | Message::Assistant { .. } => None,
    });
    told.collect()
}

/// Notes with the instructions of the Skills that a prompt names, and what people should know of it.
pub(super) fn mentioned(
    guidance: &mut Guidance,
    prompt: &str,
) -> (Vec<Message>, Vec<(Level, String)>) {
    let (mut notes, mut notices) = (Vec::new(), Vec::new());
    for (name, result) in guidance.mentioned(prompt) {
        match result {
            Ok(text) => {
                notes.push(prompt::note(Note::Guidance, text.trim_end()));
                notices.push((
                    Level::Info,
                    format!("the prompt activates the Skill {name}"),
                ));
            }
            Err(why) => notices.push((Level::Warning, why)),
        }
    }
    (notes, notices)
}

impl Engine {
    /// Activates the Skills that a prompt names.
    pub(super) fn activate_mentioned(&mut self, prompt: &str) {
        let (notes, notices) = mentioned(&mut self.guidance, prompt);
        for (level, text) in notices {
            self.notice(level, text);
        }
        notes.into_iter().for_each(|note| self.append(note));
    }

    /// Before an edit of these files: why it has to wait, if there is guidance for them that the model has not seen.
    pub(super) fn hold_for_guidance(&mut self, paths: &[String]) -> Option<String> {
        let nearer = self.guidance.nearer(paths);
        for text in nearer.unused {
            self.notice(Level::Warning, text);
        }
        if nearer.files.is_empty() && self.nearer.iter().all(|note| !note.concerns(paths)) {
            return None;
        }
        for (folder, text) in nearer.notes {
            self.nearer.push(Pending { folder, text });
        }
        for file in &nearer.files {
            let text = format!("the model is told {file} before it edits there");
            self.notice(Level::Info, text);
        }
        Some(
            "not done yet: there is guidance for this folder that you have not seen; it follows these results. Read it, change the call \
             if need be, and make it again."
                .to_string(),
        )
    }

    /// The conversation was shortened: what was told in it counts as not told, and Skills that were active can be activated again.
    pub(super) fn remind_of_skills(&mut self) {
        let active = self.guidance.forgotten();
        if !active.is_empty() {
            let text = format!(
                "Skills that were active: {}. Their instructions may be left out above; activate what you still need again.",
                active.join(", ")
            );
            self.append(prompt::note(Note::Guidance, &text));
        }
    }

    /// The results of a reply are complete: guidance that one of its edits waits for.
    pub(super) fn tell_nearer(&mut self) {
        for pending in std::mem::take(&mut self.nearer) {
            self.append(prompt::note(Note::Guidance, &pending.text));
        }
    }
}

/// Guidance that will be told after the results of this reply.
pub(super) struct Pending {
    folder: String,
    text: String,
}

impl Pending {
    /// Whether one of these files lies in its folder.
    fn concerns(&self, paths: &[String]) -> bool {
        paths.iter().any(|path| path.starts_with(&self.folder))
    }
}
