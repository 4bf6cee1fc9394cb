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
use super::file::{self, Content, Extra, Said, Setting};
use super::flags::Files;
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
    let mut keep = |setting: Setting, source: Source| {
        let lock = typed.locks.iter().find(|lock| lock.setting == setting);
        if let Some(lock) = lock {
            let (name, place) = (setting.name(), &lock.place);
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
            keep(Setting::Flag(given.id), given.source)
        }
    });
    said.extras.retain(|extra| match extra.key.row().files {
        // The only value it may have is the tightest.
        Files::Tighten(_) => true,
        Files::None | Files::User | Files::Machine | Files::Project | Files::All => {
            keep(Setting::Key(extra.key), extra.source)
        }
    });
    add(typed, said, Layer::Project);
    Ok(left_out)
}

/// What a project's file says, a line each, for whoever is asked to trust it.
pub fn lines(bytes: &[u8]) -> Result<Vec<String>, UsageError> {
    let said = file::read(bytes, Layer::Project, trust::SETTINGS)?;
    let given = said.given.iter();
    let mut lines: Vec<String> = given
        .map(|given| format!("{}: {}", given.id.row().key(), given.shown()))
        .collect();
    for extra in &said.extras {
        match &extra.content {
            Content::Checks(checks) => lines.extend(
                checks
                    .iter()
                    .map(|check| format!("check {}: {}", check.name, check.text)),
            ),
            other => lines.push(format!("{}: {other}", extra.key.row().name)),
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
    typed.extras.extend(said.extras);
    typed.locks.extend(said.locks);
}

fn obey_locks(typed: &Typed) -> Result<(), UsageError> {
    for lock in &typed.locks {
        let refused = |source: Source, holds: String| {
            Err(UsageError::Locked {
                source,
                key: lock.setting.name(),
                place: lock.place.clone(),
                holds,
            })
        };
        match lock.setting {
            Setting::Flag(id) => {
                for given in typed.given.iter().filter(|given| given.id == id) {
                    let holds = holds(typed, given, Layer::User as u8);
                    let fits = match id.row().files {
                        Files::Tighten(words) => {
                            tightness(words, given.word()) >= tightness(words, &holds)
                        }
                        _ => given.value == *holds,
                    };
                    if given.source.rank() != Layer::Site as u8 && !fits {
                        return refused(given.source, holds);
                    }
                }
            }
            Setting::Key(key) => {
                let mut all = typed.extras.iter().filter(|extra| extra.key == key);
                let from_site = |extra: &&Extra| extra.source.rank() == Layer::Site as u8;
                let holds = all.clone().find(from_site);
                let differs = |extra: &&Extra| match holds {
                    Some(holds) => extra.content != holds.content,
                    None => true,
                };
                if let Some(extra) = all.find(differs) {
                    return refused(extra.source, String::new());
                }
            }
        }
    }
    Ok(())
}
