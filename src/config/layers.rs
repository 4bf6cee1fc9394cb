//! The settings files, strongest last: site, user, project. In: what was typed, and where the files are. Out: the same with what the files say
//! below it; `settings.rs` need not know where a value came from.
//!
//! ```text
//! built-in < /etc/zcoder/config.json < ~/.config/zcoder/config.json < .zcoder/config.json < variables < flags
//!            site                      user                           project, if trusted
//! commands   ask                       allow                          deny           → deny
//! commands   ask                       deny                           ask            → deny: a project does not loosen
//! host       a, locked                 b                              may not say it → refused, naming both places
//! ```
//!
//! A lock refuses whoever else says something else, except that a policy may always be tightened; what a project says is left out then, and
//! that is said: its user may not be able to change it.
//!
//! Invariant: one open a file, and none of a project that is not trusted: its bytes come from `policy/trust.rs`.
//!
//! Read next: `settings.rs`.

use super::error::{Layer, Source, UsageError};
use super::file::{self, Said};
use super::flags::{Files, Id, Shape, Takes};
use super::paths::Paths;
use super::typed::{Given, Typed, tightness};
use crate::policy::trust;

/// The files of site and user that there can be, weakest first.
pub fn files(paths: &Paths) -> Vec<(Layer, std::path::PathBuf)> {
    let mut files = vec![(Layer::Site, paths.site.clone())];
    let user = paths.config.as_ref();
    files.extend(user.map(|folder| (Layer::User, folder.join("config.json"))));
    files
}

/// Puts what the files of site and user say below what was typed.
pub fn add_machine(typed: &mut Typed, paths: &Paths) -> Result<(), UsageError> {
    for (layer, path) in files(paths) {
        let name = paths.shown(&path);
        let bytes = file::bytes(&path).map_err(|error| UsageError::SettingsFile {
            file: name.clone(),
            cause: error.to_string(),
        })?;
        if let Some(bytes) = bytes {
            let said = file::read(&bytes, layer, &name)?;
            add(typed, said, layer);
        }
    }
    obey_locks(typed)
}

/// Puts what the file of a trusted project says between the user's and the variables; returns what is left out, as sentences.
pub fn add_project(typed: &mut Typed, bytes: &[u8]) -> Result<Vec<String>, UsageError> {
    let mut said = file::read(bytes, Layer::Project, trust::SETTINGS)?;
    let mut left_out = Vec::new();
    let mut keep = |id: Id, source: Source| {
        let lock = typed.locks.iter().find(|lock| lock.id == id);
        if let Some(lock) = lock {
            let (name, place) = (id.row().key(), &lock.place);
            left_out.push(format!("{}: {place} locks `{name}`", source.name()));
        }
        lock.is_none()
    };
    said.given.retain(|given| match given.id.row().files {
        Files::Tighten(words) => {
            let holds = holds(typed, given, Layer::Project as u8);
            tightness(words, given.word()) > tightness(words, &holds)
        }
        Files::None | Files::User | Files::Machine | Files::Project | Files::All => {
            keep(given.id, given.source)
        }
    });
    add(typed, said, Layer::Project);
    Ok(left_out)
}

/// What a project's file says, a line each, for whoever is asked to trust it.
pub fn lines(bytes: &[u8]) -> Result<Vec<String>, UsageError> {
    let said = file::read(bytes, Layer::Project, trust::SETTINGS)?;
    let mut lines = Vec::new();
    for given in &said.given {
        match given.id.row().takes {
            Takes::Json(Shape::Texts) => lines.extend(
                (given.checks().iter())
                    .map(|check| format!("check {}: {}", check.name, check.text)),
            ),
            _ => lines.push(format!("{}: {}", given.id.row().key(), given.shown())),
        }
    }
    Ok(lines)
}

/// What the weaker ones say to the same thing.
fn holds(typed: &Typed, given: &Given, rank: u8) -> String {
    let weaker = |other: &&Given| other.id == given.id && other.source.rank() < rank;
    match typed.given.iter().rev().find(weaker) {
        Some(given) => given.word().to_string(),
        None => given.id.row().default.to_string(),
    }
}

/// Behind what is weaker, before what is stronger.
fn add(typed: &mut Typed, said: Said, layer: Layer) {
    let weaker = |source: Source| source.rank() <= layer as u8;
    let at = typed.given.iter().take_while(|given| weaker(given.source));
    let tail = typed.given.split_off(at.count());
    typed.given.extend(said.given);
    typed.given.extend(tail);
    typed.locks.extend(said.locks);
}

fn obey_locks(typed: &Typed) -> Result<(), UsageError> {
    for lock in &typed.locks {
        for given in typed.given.iter().filter(|given| given.id == lock.id) {
            let holds = holds(typed, given, Layer::User as u8);
            let fits = match lock.id.row().files {
                Files::Tighten(words) => tightness(words, given.word()) >= tightness(words, &holds),
                _ => given.value == *holds,
            };
            if given.source.rank() != Layer::Site as u8 && !fits {
                return Err(UsageError::Locked {
                    source: given.source,
                    key: lock.id.row().key(),
                    place: lock.place.clone(),
                    holds,
                });
            }
        }
    }
    Ok(())
}
