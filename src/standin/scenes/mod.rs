//! Scenes: what can go wrong between a client and a model server, one name each. A scene changes how `/api/chat` is answered; everything
//! else stays as it is.
//!
//! ```text
//! zcoder standin --list                       all names
//! zcoder standin --scene one-byte-chunks      the ordinary answer, one byte a chunk
//! zcoder standin --scene error-after-call     the answer breaks off with an error record
//! ```
//!
//! A scene works at one of three places: on the list of models ([`Act::Models`]), on the records of an answer ([`Act::Say`]), or on the bytes that
//! carry them ([`Act::Carry`]: the steps of a script, played on the bare socket). Scenes that are harmless to a correct client do so at
//! every answer, so that a whole task can be done over them; the others once for each prompt or for the first requests only, so that
//! one sees how the client goes on.
//!
//! Invariant: a scene's bytes depend on the request and on the number of chats before it, on nothing else.
//!
//! Next: `carry.rs` (transport), `say.rs` (records), `table.rs` (the list).

mod carry;
mod say;
mod table;

use super::Pace;
use super::catalog::{Model, STAND_IN};
use super::records::ordinary;
use super::request::Chat;
use super::walk::Answer;
use crate::model::script::Step;
use carry::{chunked, error};
pub(super) use table::SCENES;

/// One scene.
#[derive(Clone, Copy, Debug)]
pub(super) struct Scene {
    /// What `--scene` takes.
    pub(super) name: &'static str,
    /// One line.
    pub(super) about: &'static str,
    when: When,
    act: Act,
}

/// At which chats.
#[derive(Clone, Copy, Debug)]
enum When {
    /// At each.
    Always,
    /// At the first after each prompt.
    First,
    /// At the first so many since the start.
    Times(u64),
}

#[derive(Clone, Copy, Debug)]
enum Act {
    /// These models are listed.
    Models(&'static [Model]),
    /// These records are sent.
    Say(fn(&Chat, &Answer) -> say::Lines),
    /// The ordinary records go out like this.
    Carry(fn(carry::Lines<'_>) -> Vec<Step>),
    /// This status, this `{"error":…}`.
    Refuse(&'static str, &'static str),
}

/// The scene of this name.
pub(super) fn find(name: &str) -> Option<&'static Scene> {
    SCENES.iter().find(|scene| scene.name == name)
}

impl Scene {
    /// The models that are listed.
    pub(super) fn models(&self) -> &'static [Model] {
        match self.act {
            Act::Models(models) => models,
            Act::Say(_) | Act::Carry(_) | Act::Refuse(..) => &[STAND_IN],
        }
    }

    /// What the `before`-th chat (from 0) is answered with; `None`: the ordinary way.
    pub(super) fn steps(&self, chat: &Chat, answer: &Answer, before: u64) -> Option<Vec<Step>> {
        let now = match self.when {
            When::Always => true,
            When::First => {
                let talk = &chat.talk;
                talk.done.is_empty() && !talk.answered && !talk.noted
            }
            When::Times(times) => before < times,
        };
        if !now {
            return None;
        }
        match self.act {
            Act::Models(_) => None,
            Act::Refuse(status, text) => Some(error(status, text, "")),
            Act::Say(say) => Some(chunked(&say(chat, answer))),
            Act::Carry(carry) => Some(carry(&ordinary(chat, answer, Pace::None))),
        }
    }
}
