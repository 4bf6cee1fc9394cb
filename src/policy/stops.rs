//! Hard stops: commands that wipe a system, a home or the whole workspace. In: a command. Out: what is catastrophic about it, or
//! nothing. `decide` refuses these in the `sysadmin` profile, and asks for them elsewhere whatever is allowed.
//!
//! ```text
//! rm, find -delete, chmod, chown, chgrp   of / /* /etc /usr /var /boot /home /root /dev /opt /srv (also with /*),
//!                                         of ~, $HOME, the whole workspace or a folder above it
//! mkfs* mke2fs mkswap blkdiscard lvremove vgremove pvremove · wipefs -a · zpool destroy
//! dd of=/dev/… · shred /dev/… · > /dev/… (not null, std*, tty, fd)
//! a function that pipes into itself
//! the same after sudo, env, xargs …, in find -exec, and inside sh -c '…', eval and what is piped into sh, at most four deep;
//! relative paths from every folder that a `cd` before may have led to
//! ```
//!
//! It is a narrow stop on words as they stand, not a promise: values of variables, script files and programs are not understood.
//! What it does not see is still asked for.
//!
//! Invariant: a match never depends on options that merely quiet a command (`-f`), and quoting does not hide one.

use std::path::{Path, PathBuf};

use super::carried::{self, BY_NAME, Carried};
use super::place::{Place, behind, tidy};
use super::shell::{self, base};
use super::trail;
use crate::text::Words;

/// Programs that make a file system, beside `mkfs.*`.
const MAKERS: Words = Words("mkfs mke2fs mkswap mkntfs mkdosfs");

/// Folders that hold a system. Each also with `/*`.
const SYSTEM: Words = Words(
    "/ /bin /boot /dev /etc /home /lib /lib64 /opt /proc /root /sbin /srv /sys /usr /var /Users /System \
    /Library /Applications",
);

/// What is catastrophic about the command: `"rm of / would delete the whole system"`.
pub(super) fn find(text: &str, place: &Place) -> Option<String> {
    if is_fork_bomb(text) {
        return Some("it is a fork bomb".to_string());
    }
    let script = shell::read(text);
    let mut found: Option<String> = None;
    let mut before = None;
    for (simple, place) in script.commands.iter().zip(trail::places(&script, place)) {
        let mut see = |carried: &Carried<'_>| {
            if found.is_none() {
                found = one(carried, &place);
            }
        };
        carried::walk(simple, before, &mut see);
        before = Some(simple);
    }
    found
}

/// Judges one simple command.
fn one(carried: &Carried<'_>, place: &Place) -> Option<String> {
    let mut targets = carried.targets.iter().map(|word| word.text.as_str());
    let is_device = |word: &&str| is_device(word, place);
    if let Some(device) = targets.find(is_device) {
        return Some(format!("it redirects onto the device {device}"));
    }
    let (name, arguments) = carried.words.split_first()?;
    let name = base(&name.text).to_ascii_lowercase();
    let texts = || arguments.iter().map(|word| word.text.as_str());
    // `printf '/\n'`, `printf '/\0'`
    let line = |text: &'_ str| {
        text.trim_end_matches("\\n")
            .trim_end_matches("\\0")
            .to_string()
    };
    let fed: Vec<String> = carried.fed.iter().map(|word| line(&word.text)).collect();
    let has = |option: &str| texts().any(|word| word == option);
    match name.as_str() {
        "rm" | "chmod" | "chown" | "chgrp" => {
            let target = texts()
                .chain(fed.iter().map(String::as_str))
                .find(|word| reaches(word, place, true));
            target.map(|target| format!("{name} of {target} reaches far too much"))
        }
        "find" if has("-delete") => {
            // Then not the whole workspace is meant.
            let selects = BY_NAME.iter().any(has);
            let target = texts().find(|word| reaches(word, place, !selects));
            target.map(|target| format!("find -delete on {target} reaches far too much"))
        }
        "blkdiscard" | "lvremove" | "vgremove" | "pvremove" => {
            Some(format!("{name} destroys a disk or volume"))
        }
        _ if name.starts_with("mkfs.") || MAKERS.contains(&name) => {
            Some(format!("{name} destroys what is on a disk"))
        }
        "wipefs" if texts().any(wipes_all) => {
            Some("wipefs -a destroys what is on a disk".to_string())
        }
        "zpool" if has("destroy") => Some("zpool destroy destroys a pool".to_string()),
        "dd" | "shred" | "tee" | "cp" => {
            let device = match name.as_str() {
                "dd" => texts()
                    .filter_map(|word| word.strip_prefix("of="))
                    .find(is_device),
                "cp" => texts().next_back().filter(is_device),
                _ => texts().find(is_device),
            };
            let does = if name == "shred" {
                "destroys"
            } else {
                "writes onto"
            };
            device.map(|device| format!("{name} {does} the device {device}"))
        }
        _ => None,
    }
}

fn wipes_all(word: &str) -> bool {
    let short = word.strip_prefix('-').filter(|rest| !rest.starts_with('-'));
    word.starts_with("--a") || short.is_some_and(|letters| letters.contains('a'))
}

/// Whether the word is a system folder, a home, the workspace (where that counts), or something above it, or all that lies in one of
/// these.
fn reaches(word: &str, place: &Place, workspace_too: bool) -> bool {
    if word.is_empty() || word.starts_with('-') {
        return false;
    }
    let path = word.trim_end_matches('/');
    if path.is_empty() {
        return true;
    }
    // `/etc/*` and `/etc/**/*` are `/etc`; `/[a-z]*`, `/e*` and `/{bin,etc}` are `/`; `*` is the folder itself.
    let mut path = path;
    while let Some((folder, last)) = path.rsplit_once('/') {
        match folder {
            "" if last.contains(['*', '?', '[', '{']) => return true,
            _ if is_all(last) => path = folder,
            _ => break,
        }
    }
    let path = if is_all(path) { "." } else { path };
    let (home, here) = (behind(path, "HOME"), behind(path, "PWD"));
    place.folders.iter().any(|folder| {
        let full = match (home, here) {
            (Some(rest), _) => PathBuf::from(format!("{}{rest}", trail::HOME)),
            (None, Some(rest)) => folder.join(rest.trim_start_matches('/')),
            (None, None) if path.starts_with('~') => PathBuf::from(format!("/{path}")),
            (None, None) => folder.join(path),
        };
        let full = behind_proc(&tidy(&full), folder);
        let root = place.root();
        let above = root.starts_with(&full) && (workspace_too || root != full);
        let is_home = full == Path::new(trail::HOME) || full == Path::new("/~root");
        above || is_home || SYSTEM.iter().any(|system| full == Path::new(system))
    })
}

/// `/proc/self/root/etc` is `/etc`, `/proc/1/cwd/x` perhaps `x` of this folder.
fn behind_proc(path: &Path, folder: &Path) -> PathBuf {
    let mut parts = path.strip_prefix("/proc").into_iter().flatten();
    let link = parts.nth(1).and_then(|name| name.to_str());
    match link {
        Some("root") => Path::new("/").join(parts.collect::<PathBuf>()),
        Some("cwd") => folder.join(parts.collect::<PathBuf>()),
        Some(_) | None => path.to_path_buf(),
    }
}

/// A pattern for every name: `*`, `.*`, `?*`, `[!.]*`, `{*,.*}`, `[[:alnum:]]*`.
fn is_all(name: &str) -> bool {
    let rest = match name.split_once(']') {
        Some((class, rest)) if class.starts_with('[') => rest,
        Some(_) | None => name,
    };
    name.contains(['*', '?']) && rest.chars().all(|c| "*?.{,}]".contains(c))
}

/// A file of `/dev`, from any folder that a `cd` before led to.
fn is_device(word: &str, place: &Place) -> bool {
    let is_one = |path: &Path| {
        path.strip_prefix("/dev").is_ok_and(|name| {
            let harmless = ["", "null", "stdin", "stdout", "stderr", "tty"];
            !harmless.iter().any(|harmless| name == Path::new(harmless)) && !name.starts_with("fd")
        })
    };
    let mut folders = place.folders.iter();
    !word.is_empty()
        && !word.starts_with('-')
        && folders.any(|folder| is_one(&tidy(&folder.join(word))))
}

/// `NAME(){ NAME|NAME& };NAME` in any spelling of blanks: a function whose body pipes it into itself.
fn is_fork_bomb(text: &str) -> bool {
    let text: String = text.chars().filter(|c| !c.is_whitespace()).collect();
    text.match_indices('{').any(|(at, mark)| {
        let before = text[..at].strip_suffix("()");
        let named = before.unwrap_or(&text[..at]);
        let named = named.rsplit([';', '&', '|', '{', '(']).next().unwrap_or("");
        let name = match (named.strip_prefix("function"), before) {
            (Some(name), _) => name,
            (None, Some(_)) => named,
            (None, None) => return false,
        };
        let body = text[at + mark.len()..].split('}').next().unwrap_or("");
        !name.is_empty() && body.contains(&format!("{name}|{name}"))
    })
}
