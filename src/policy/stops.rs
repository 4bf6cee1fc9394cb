//! Hard stops: commands that wipe a system, a home or the whole workspace. In: a command. Out: what is catastrophic about it, or
//! nothing. `decide` refuses these in the `sysadmin` profile, and asks for them elsewhere whatever is allowed.
//!
//! ```text
//! rm, find -delete, chmod, chown, chgrp   of / /* /etc /usr /var /boot /home /root /dev /opt /srv (also with /*),
//!                                         of ~, $HOME, the whole workspace or a folder above it
//! mkfs* blkdiscard lvremove vgremove pvremove · wipefs -a · zpool destroy
//! dd of=/dev/… · shred /dev/… · > /dev/… (not null, std*, tty, fd)
//! a function that pipes into itself
//! the same after sudo, env, xargs … and inside sh -c '…' and eval, at most four deep
//! ```
//!
//! It is a narrow stop on words as they stand, not a promise: variables, substitutions in quotes, scripts and programs are
//! not understood. What it does not see is still asked for.
//!
//! Invariant: a match never depends on options that merely quiet a command (`-f`), and quoting does not hide one.

use super::Command;
use super::words::{self, Part};

/// Nesting of `sh -c` and `eval` that is followed.
const DEPTH: usize = 4;

/// Folders that hold a system. Each also with `/*`.
const SYSTEM: &[&str] = &[
    "/", "/bin", "/boot", "/dev", "/etc", "/home", "/lib", "/lib64", "/opt", "/proc", "/root",
    "/sbin", "/srv", "/sys", "/usr", "/var",
];

/// Programs that run the command in their arguments.
const CARRIERS: &[&str] = &[
    "busybox", "chroot", "command", "doas", "env", "exec", "ionice", "nice", "nohup", "parallel",
    "setsid", "stdbuf", "sudo", "time", "timeout", "toybox", "xargs",
];

/// Words after which the shell expects a command.
const RESERVED: &[&str] = &[
    "{", "}", "!", "if", "then", "else", "elif", "while", "until", "do",
];

const SHELLS: &[&str] = &["sh", "bash", "zsh", "dash", "ksh", "ash"];

/// What is catastrophic about the command: `"rm of / would delete the whole system"`.
pub(super) fn find(command: &Command) -> Option<String> {
    let place = Place {
        root: command.workspace.to_string_lossy().into_owned(),
        cwd: command.cwd.to_string_lossy().into_owned(),
    };
    search(&command.text, &place, 0)
}

/// Where relative words lead.
struct Place {
    root: String,
    cwd: String,
}

fn search(text: &str, place: &Place, depth: usize) -> Option<String> {
    if is_fork_bomb(text) {
        return Some("it is a fork bomb".to_string());
    }
    let parts = words::parts(text);
    parts.iter().find_map(|part| {
        let device = part.redirects.iter().find(|target| is_device(target));
        if let Some(device) = device {
            return Some(format!("it redirects onto the device {device}"));
        }
        candidates(part).find_map(|words| one(words, place, depth))
    })
}

/// Where a command name may stand: first, or anywhere after a program that carries a command.
fn candidates(part: &Part) -> impl Iterator<Item = &[String]> {
    let skipped = part
        .words
        .iter()
        .take_while(|word| words::is_assignment(word) || RESERVED.contains(&word.as_str()))
        .count();
    let words = &part.words[skipped..];
    let carried = words
        .first()
        .is_some_and(|word| CARRIERS.contains(&words::base(word)));
    let reach = if carried {
        words.len()
    } else {
        words.len().min(1)
    };
    (0..reach).map(move |i| &words[i..])
}

/// Judges one simple command; `words` is not empty.
fn one(words: &[String], place: &Place, depth: usize) -> Option<String> {
    let (name, arguments) = words.split_first()?;
    let name = words::base(name);
    let broad = || arguments.iter().find_map(|word| broad(word, place));
    let has = |option: &str| arguments.iter().any(|word| word == option);
    match name {
        "rm" | "chmod" | "chown" | "chgrp" => {
            broad().map(|target| format!("{name} of {target} reaches far too much"))
        }
        "find" if has("-delete") => {
            broad().map(|target| format!("find -delete on {target} reaches far too much"))
        }
        "blkdiscard" | "lvremove" | "vgremove" | "pvremove" => {
            Some(format!("{name} destroys a disk or volume"))
        }
        _ if name == "mkfs" || name.starts_with("mkfs.") => {
            Some(format!("{name} destroys what is on a disk"))
        }
        "wipefs" if arguments.iter().any(|word| wipes_all(word)) => {
            Some("wipefs -a destroys what is on a disk".to_string())
        }
        "zpool" if has("destroy") => Some("zpool destroy destroys a pool".to_string()),
        "dd" => arguments
            .iter()
            .filter_map(|word| word.strip_prefix("of="))
            .find(|target| is_device(target))
            .map(|target| format!("dd writes onto the device {target}")),
        "shred" => arguments
            .iter()
            .find(|word| is_device(word))
            .map(|target| format!("shred destroys the device {target}")),
        "eval" if depth < DEPTH => search(&arguments.join(" "), place, depth + 1),
        _ if SHELLS.contains(&name) && depth < DEPTH => {
            let at = arguments.iter().position(|word| is_command_option(word))?;
            search(arguments.get(at + 1)?, place, depth + 1)
        }
        _ => None,
    }
}

/// `-c`, also among others: `-ec`, `-lc`.
fn is_command_option(word: &str) -> bool {
    word.strip_prefix('-')
        .is_some_and(|letters| !letters.starts_with('-') && letters.contains('c'))
}

fn wipes_all(word: &str) -> bool {
    let short = word.strip_prefix('-').filter(|rest| !rest.starts_with('-'));
    word == "--all" || short.is_some_and(|letters| letters.contains('a'))
}

/// The target as it stands, if it is a system folder, a home, the workspace, or something above the workspace.
fn broad<'w>(word: &'w str, place: &Place) -> Option<&'w str> {
    let path = word.strip_suffix("/*").unwrap_or(word);
    let homes = ["~", "$HOME", "${HOME}"];
    if word == "/*" || homes.contains(&path.trim_end_matches('/')) {
        return Some(word);
    }
    let path = match path {
        "*" => ".",
        path => path,
    };
    let here = ["$PWD", "${PWD}"]
        .iter()
        .find_map(|pwd| path.strip_prefix(pwd));
    let full = match here {
        Some(rest) => words::tidy(&format!("{}/{rest}", place.cwd)),
        None if path.starts_with('/') => words::tidy(path),
        None if path.is_empty() || path.starts_with('-') => return None,
        None => words::tidy(&format!("{}/{path}", place.cwd)),
    };
    let above = full == "/" || place.root == full || place.root.starts_with(&format!("{full}/"));
    (above || SYSTEM.contains(&full.as_str())).then_some(word)
}

fn is_device(word: &str) -> bool {
    let Some(rest) = word.strip_prefix('/').map(|_| words::tidy(word)) else {
        return false;
    };
    rest.strip_prefix("/dev/").is_some_and(|name| {
        !["null", "stdin", "stdout", "stderr", "tty"].contains(&name) && !name.starts_with("fd/")
    })
}

/// `NAME(){ NAME|NAME& };NAME` in any spelling of blanks: a function whose body pipes it into itself.
fn is_fork_bomb(text: &str) -> bool {
    let text: String = text.chars().filter(|c| !c.is_whitespace()).collect();
    text.match_indices("(){").any(|(at, mark)| {
        let before = &text[..at];
        let name = before
            .rsplit([';', '&', '|', '{', '('])
            .next()
            .unwrap_or("");
        let name = name.strip_prefix("function").unwrap_or(name);
        let body = text[at + mark.len()..].split('}').next().unwrap_or("");
        !name.is_empty() && body.contains(&format!("{name}|{name}"))
    })
}
