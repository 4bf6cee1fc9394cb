//! What may happen unasked: four flags that say nearly the same, and what settings files say, made two modes.
//!
//! ```text
//! (nothing)                    commands ask    edits auto
//! --yes                        commands allow  edits allow   also of protected paths
//! --read-only                  commands deny   edits deny
//! --deny-commands              commands deny   edits auto    and whatever is asked is refused
//! ZCODER_YES=1 --edits ask     commands allow  edits ask     a flag beats a variable
//! --yes --read-only            refused: they exclude each other
//! {"commands": "deny"}         commands deny   edits auto    and a flag or variable beats it, unless the site has locked it
//! ```
//!
//! Invariant: of two wishes of the same weight that mean different things none wins silently.
//!
//! Read next: `policy/decide.rs`, which judges by these modes.

use super::error::{Source, UsageError};
use super::flags::Id;
use super::typed::{Given, Typed};
use crate::policy::{CommandMode, EditMode, Profile};

/// What may happen without asking.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Permissions {
    /// Commands.
    pub commands: CommandMode,
    /// Edits.
    pub edits: EditMode,
    /// Which agent.
    pub profile: Profile,
    /// What set the modes, for messages.
    pub flag: Option<&'static str>,
    /// Whatever would be asked is refused, and the model is told.
    pub deny_questions: bool,
}

/// Resolves the permissions. A broad workspace asks before edits unless this very run says otherwise.
pub fn permissions(typed: &Typed, broad: bool) -> Result<Permissions, UsageError> {
    let profile = match typed.word(Id::Profile)? {
        Some("sysadmin") => Profile::Sysadmin,
        _ => Profile::Coding,
    };
    let commands = typed.settled(Id::Commands)?;
    let edits = typed.settled(Id::Edits)?;
    let of_this_run = |given: &&Given| !matches!(given.source, Source::File(_));
    let careful = broad && !edits.as_ref().is_some_and(of_this_run);
    // Where it is as strong as what holds it says the same, and more: nobody is asked.
    let deny_questions = match (typed.get(Id::DenyCommands), commands) {
        (Some(deny), Some(holds)) => deny.source.rank() == holds.source.rank(),
        (_, _) => false,
    };
    Ok(Permissions {
        commands: match commands.map(Given::word) {
            Some("allow") => CommandMode::Allow,
            Some("deny") => CommandMode::Deny,
            _ => CommandMode::Ask,
        },
        edits: match edits.map(Given::word) {
            Some("deny") => EditMode::Deny,
            Some("ask") => EditMode::Ask,
            _ if careful => EditMode::Ask,
            Some("allow") => EditMode::Allow,
            _ => EditMode::Auto,
        },
        profile,
        flag: commands.or(edits).map(|given| given.source.name()),
        deny_questions,
    })
}
