//! What may happen unasked: four flags that say nearly the same, made two modes.
//!
//! ```text
//! (nothing)                    commands ask    edits auto
//! --yes                        commands allow  edits allow   also of protected paths
//! --read-only                  commands deny   edits deny
//! --deny-commands              commands deny   edits auto    and whatever is asked is refused
//! ZCODER_YES=1 --edits ask     commands allow  edits ask     a flag beats a variable
//! --yes --read-only            refused: they exclude each other
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

/// Resolves the permissions. Of two contradicting wishes a flag beats a variable; two of the same weight are refused.
pub fn permissions(typed: &Typed, broad: bool) -> Result<Permissions, UsageError> {
    let profile = match typed.word(Id::Profile)? {
        Some("sysadmin") => Profile::Sysadmin,
        _ => Profile::Coding,
    };
    let yes = typed.get(Id::Yes);
    let deny = typed.get(Id::DenyCommands);
    let read_only = typed.get(Id::ReadOnly);
    let commands = [deny, read_only, yes, typed.get(Id::Commands)];
    let edits = [read_only, yes, typed.get(Id::Edits)];
    let commands = strongest(&commands, |given| match given.id {
        Id::Commands => given.text(),
        Id::Yes => Ok("allow"),
        _ => Ok("deny"),
    })?;
    let edits = strongest(&edits, |given| match given.id {
        Id::Edits => given.text(),
        Id::Yes => Ok("allow"),
        _ => Ok("deny"),
    })?;
    Ok(Permissions {
        commands: match commands.map(|(word, _)| word) {
            Some("allow") => CommandMode::Allow,
            Some("deny") => CommandMode::Deny,
            _ => CommandMode::Ask,
        },
        edits: match edits.map(|(word, _)| word) {
            Some("allow") => EditMode::Allow,
            Some("auto") => EditMode::Auto,
            Some("deny") => EditMode::Deny,
            Some(_) => EditMode::Ask,
            None if broad => EditMode::Ask,
            None => EditMode::Auto,
        },
        profile,
        flag: commands.or(edits).map(|(_, given)| given.source.name()),
        deny_questions: commands.is_some_and(|(_, given)| given.id == Id::DenyCommands),
    })
}

/// The wish that counts among those about one thing: flags before variables; equal weight must mean the same.
fn strongest<'a>(
    wishes: &[Option<&'a Given>],
    meaning: impl Fn(&'a Given) -> Result<&'a str, UsageError>,
) -> Result<Option<(&'a str, &'a Given)>, UsageError> {
    let mut best: Option<(&str, &Given)> = None;
    for &given in wishes.iter().flatten() {
        let word = meaning(given)?;
        match best {
            Some((other, holder)) if same_rank(holder.source, given.source) => {
                if other != word {
                    return Err(UsageError::Conflict {
                        one: holder.source,
                        other: given.source,
                    });
                }
            }
            Some((_, holder)) if matches!(holder.source, Source::Flag(_)) => {}
            _ => best = Some((word, given)),
        }
    }
    Ok(best)
}

/// Whether two wishes have the same weight: both flags or both variables.
pub(super) fn same_rank(a: Source, b: Source) -> bool {
    matches!(a, Source::Flag(_)) == matches!(b, Source::Flag(_))
}
