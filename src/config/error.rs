//! What can be wrong with a command line, a variable or the place we were started in. Each text names the thing as it was
//! given, what was expected, and the next step. All of them end the program with exit code 2, before anything was sent or changed.
//!
//! ```text
//! zcoder: unknown flag `--modle`; the nearest is `--model`
//! zcoder: `--output xml`: expected text, json or jsonl
//! zcoder: ZCODER_SEED is `x`: expected a whole number
//! ```
//!
//! Read next: `typed.rs` and `settings.rs`, where they arise.

use super::flags::Command;
use super::near::nearest;
use crate::text::counted;
use std::fmt;

/// Where a value came from: the name the user knows it by.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Source {
    /// A flag on the command line, by its long name.
    Flag(&'static str),
    /// A variable of the environment.
    Variable(&'static str),
    /// A settings file. It is read once and holds until the program ends, and so does its place.
    File(&'static Origin),
}

/// Where a value stands in a settings file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Origin {
    /// Whose file.
    pub layer: Layer,
    /// `~/.config/zcoder/config.json:3:12`
    pub name: String,
    /// `context_window`
    pub key: String,
}

/// Whose settings, from the weakest.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Layer {
    /// The machine's: `/etc/zcoder/config.json`.
    Site,
    /// The user's: `config.json` in the folder of our configuration.
    User,
    /// The workspace's: `.zcoder/config.json`, once it is trusted.
    Project,
}

impl Source {
    /// `--model`, `ZCODER_MODEL` or `.zcoder/config.json:3:12`.
    pub fn name(self) -> &'static str {
        match self {
            Source::Flag(name) | Source::Variable(name) => name,
            Source::File(origin) => &origin.name,
        }
    }

    /// What a value from here weighs: flags > variables > project > user > site.
    pub fn rank(self) -> u8 {
        match self {
            Source::File(origin) => origin.layer as u8,
            Source::Variable(_) => 3,
            Source::Flag(_) => 4,
        }
    }
}

/// Why the program does not start.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum UsageError {
    /// A name that is none of ours.
    Unknown {
        /// What was said of it: `unknown flag`, `no help on`.
        what: &'static str,
        /// As typed.
        given: String,
        /// The nearest of ours.
        near: Option<String>,
        /// Where to look when none is near.
        instead: &'static str,
    },
    /// A task without `-p`.
    BareTask {
        /// As typed.
        given: String,
    },
    /// A flag at the end, or before another flag.
    MissingValue {
        /// Its long name.
        flag: &'static str,
        /// What help calls the value.
        value: String,
    },
    /// `--yes=now`
    UnwantedValue {
        /// Its long name.
        flag: &'static str,
        /// What followed `=`.
        value: String,
    },
    /// A value that is not understood.
    BadValue {
        /// Who gave it.
        source: Source,
        /// As given, made printable.
        value: String,
        /// What would be.
        expected: String,
    },
    /// Bytes where text is needed.
    NotUtf8 {
        /// `--prompt`, `ZCODER_MODEL`, `the prompt on standard input`.
        what: String,
        /// Offset of the first bad byte.
        offset: usize,
    },
    /// A flag that this command does not understand.
    WrongCommand {
        /// Its long name.
        flag: &'static str,
        /// The command given.
        command: Command,
        /// Those that understand it.
        belongs: &'static [Command],
    },
    /// `/goal …` or `/retry …` that cannot be meant.
    Slash {
        /// What is wrong with it.
        cause: String,
    },
    /// Two wishes that exclude each other.
    Conflict {
        /// The one.
        one: Source,
        /// The other.
        other: Source,
    },
    /// A flag that does nothing without another.
    Needs {
        /// The flag.
        flag: Source,
        /// What it needs.
        needs: &'static str,
    },
    /// A habit from elsewhere whose counterpart does not exist yet.
    Later {
        /// As typed.
        given: String,
        /// What there is today.
        today: &'static str,
    },
    /// Too few or too many words for a command.
    Words {
        /// The command.
        command: Command,
        /// The word that is too much; `None` when one is missing.
        extra: Option<String>,
    },
    /// No such subcommand.
    UnknownVerb {
        /// The command.
        command: Command,
        /// As typed.
        given: String,
        /// The nearest of its own.
        near: Option<&'static str>,
        /// All of them.
        known: Vec<&'static str>,
    },
    /// No folder for what is kept.
    NoState,
    /// `--continue` in a folder without one.
    NoSession,
    /// The folder of sessions cannot be listed.
    Unlisted {
        /// Its path.
        folder: String,
        /// The system's words.
        cause: String,
    },
    /// A prompt of blanks only.
    EmptyPrompt {
        /// `--prompt` or `standard input`.
        source: &'static str,
    },
    /// A prompt on standard input that is too long to be one.
    LongPrompt {
        /// The limit.
        limit_bytes: usize,
    },
    /// Standard input could not be read.
    Stdin {
        /// The system's words.
        cause: String,
    },
    /// `/name` as a prompt, and there is no such prompt command.
    UnknownPrompt {
        /// Without the slash.
        given: String,
        /// The nearest.
        near: Option<String>,
    },
    /// There is one, and it cannot be used.
    UnusablePrompt {
        /// The file.
        file: String,
        /// Why.
        cause: String,
    },
    /// The workspace cannot be used.
    Workspace {
        /// As given or found.
        folder: String,
        /// What is wrong with it.
        cause: String,
    },
    /// The session cannot be told, or not be opened.
    Session {
        /// As given.
        given: String,
        /// What is wrong with it.
        cause: String,
    },
    /// `/` or a home folder without being named.
    BroadWorkspace {
        /// Which.
        folder: String,
    },
    /// A settings file cannot be used.
    SettingsFile {
        /// Its name.
        file: String,
        /// What is wrong with it.
        cause: String,
    },
    /// What a settings file says is wrong.
    Setting {
        /// `~/.config/zcoder/config.json:3:12`
        place: String,
        /// What is wrong there.
        fault: String,
    },
    /// A value that the site has locked.
    Locked {
        /// Who gave it.
        source: Source,
        /// The locked key.
        key: String,
        /// Where the lock stands.
        place: String,
        /// What the site says; empty: nothing.
        holds: String,
    },
    /// A file named by a flag cannot be used.
    File {
        /// Who named it.
        source: Source,
        /// Its name.
        file: String,
        /// What is wrong with it.
        cause: String,
    },
}

/// One or two lines, without a final period.
impl fmt::Display for UsageError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            UsageError::Unknown {
                what,
                given,
                near,
                instead,
            } => match near {
                Some(near) => write!(f, "{what} `{given}`; the nearest is `{near}`"),
                None => write!(f, "{what} `{given}`; {instead}"),
            },
            UsageError::BareTask { given } => {
                let given = given.replace('\'', "'\\''");
                write!(
                    f,
                    "the interface that opens with a task is not built yet\n\
                     give the task with -p: zcoder -p '{given}'"
                )
            }
            UsageError::MissingValue { flag, value } => {
                write!(f, "`{flag}` needs a value: {flag} {value}")?;
                if *flag == "--prompt" {
                    f.write_str("\n`-p -` reads the prompt from standard input")?;
                }
                Ok(())
            }
            UsageError::UnwantedValue { flag, value } => {
                write!(f, "`{flag}={value}`: `{flag}` takes no value")
            }
            UsageError::BadValue {
                source,
                value,
                expected,
            } => match source {
                Source::Flag(name) => write!(f, "`{name} {value}`: expected {expected}"),
                Source::Variable(name) => write!(f, "{name} is `{value}`: expected {expected}"),
                Source::File(origin) => write!(
                    f,
                    "{}: `{}` is `{value}`: expected {expected}",
                    origin.name, origin.key
                ),
            },
            UsageError::NotUtf8 { what, offset } => write!(
                f,
                "{what} is not UTF-8: byte {offset} begins no character\n\
                 convert it, e.g. with iconv -f latin1 -t utf8"
            ),
            UsageError::WrongCommand {
                flag,
                command,
                belongs,
            } => {
                write!(f, "`{flag}` has no meaning for `{command}`; it belongs to ")?;
                for (i, command) in belongs.iter().enumerate() {
                    let joint = if i == 0 { "" } else { " and " };
                    write!(f, "{joint}`{command}`")?;
                }
                Ok(())
            }
            UsageError::Conflict { one, other } => write!(
                f,
                "{} and {} exclude each other; drop one",
                one.name(),
                other.name()
            ),
            UsageError::Needs { flag, needs } => {
                write!(f, "{} works only with {needs}", flag.name())
            }
            UsageError::Later { given, today } => write!(f, "`{given}`: {today}"),
            UsageError::Words { command, extra } => {
                match extra {
                    Some(extra) => write!(f, "`{command}` does not take `{extra}`")?,
                    None => write!(f, "`{command}` needs more words")?,
                }
                write!(f, ": {command} {}", command.row().words)
            }
            UsageError::UnknownVerb {
                command,
                given,
                near,
                known,
            } => match near {
                Some(near) => write!(
                    f,
                    "`{command}` does not know `{given}`; the nearest is `{near}`"
                ),
                None => {
                    let known = super::typed::list(known);
                    write!(f, "`{command}` does not know `{given}`: expected {known}")
                }
            },
            UsageError::NoState => f.write_str(
                "there are no sessions: none of HOME, XDG_STATE_HOME and ZCODER_HOME names a folder for them",
            ),
            UsageError::NoSession => f.write_str(
                "this folder has no session to go on with; drop --continue to begin one",
            ),
            UsageError::Slash { cause } => f.write_str(cause),
            UsageError::EmptyPrompt { source } => write!(
                f,
                "the prompt from {source} is empty; say what to do: zcoder -p 'explain this project'"
            ),
            UsageError::LongPrompt { limit_bytes } => write!(
                f,
                "the prompt on standard input is longer than {}\n\
                 put it into a file of the workspace and name the file in a short prompt",
                counted(*limit_bytes as u64, "byte")
            ),
            UsageError::Stdin { cause } => write!(f, "cannot read standard input: {cause}"),
            UsageError::UnknownPrompt { given, near } => {
                write!(f, "there is no prompt command `/{given}`")?;
                match near {
                    Some(near) => write!(f, "; the nearest is `/{near}`")?,
                    None => f.write_str("; --print-commands lists them")?,
                }
                f.write_str("\na prompt that begins with a slash: put a blank before it")
            }
            UsageError::UnusablePrompt { file, cause } => {
                write!(f, "this prompt command cannot be used: {file}: {cause}")
            }
            UsageError::Workspace { folder, cause } => {
                writeln!(f, "cannot use the workspace `{folder}`: {cause}")?;
                f.write_str("name a folder that exists and that you may read: --workspace FOLDER")
            }
            UsageError::Unlisted { folder, cause } => write!(f, "cannot list `{folder}`: {cause}"),
            UsageError::Session { given, cause } => write!(
                f,
                "no session `{given}`: {cause}\n`zcoder sessions` lists those of this folder"
            ),
            UsageError::BroadWorkspace { folder } => write!(
                f,
                "`{folder}` is too broad to become the workspace by accident\n\
                 go to the project's folder, or name it: --workspace '{folder}' (edits are then asked for)"
            ),
            UsageError::SettingsFile { file, cause } => write!(
                f,
                "cannot use `{file}`: {cause}\nmend it or move it away; `zcoder help settings` tells what may stand there"
            ),
            UsageError::Setting { place, fault } => write!(f, "{place}: {fault}"),
            UsageError::Locked {
                source,
                key,
                place,
                holds,
            } => {
                write!(f, "{}: {place} locks `{key}`", source.name())?;
                match holds.as_str() {
                    "" => f.write_str("; leave it unset"),
                    holds => write!(f, " at `{holds}`"),
                }
            }
            UsageError::File {
                source,
                file,
                cause,
            } => {
                let colon = match source {
                    Source::Flag(_) | Source::Variable(_) => "",
                    Source::File(_) => ":",
                };
                write!(f, "{}{colon} `{file}`: {cause}", source.name())
            }
        }
    }
}

impl std::error::Error for UsageError {}

impl UsageError {
    /// A name that is none of these.
    pub fn unknown<'n>(
        what: &'static str,
        given: &str,
        names: impl Iterator<Item = &'n str>,
        instead: &'static str,
    ) -> UsageError {
        UsageError::Unknown {
            what,
            given: given.to_string(),
            near: nearest(given, names).map(str::to_string),
            instead,
        }
    }
}
