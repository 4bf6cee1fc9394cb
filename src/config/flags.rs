//! The one table of commands and flags. Parsing (`typed`), `--help` and `zcoder help` (`help`), the table in README.md and
//! the nearest-name hints all read it, so that none of them can know a flag that the others do not.
//!
//! One row, and what is made of it:
//!
//! ```text
//! Flag { id: Model, long: "--model", short: Some('m'), also: &[], takes: Value("NAME"),
//!        env: &["ZCODER_MODEL"], commands: &[Run], group: Server, help: "model to use; …" }
//!
//! zcoder -m qwen3:8b  ·  zcoder --model=qwen3:8b  ·  ZCODER_MODEL=qwen3:8b zcoder …  → Given { id: Model, value: "qwen3:8b", … }
//! zcoder --help          →   -m, --model NAME      model to use; …
//! zcoder --modle         →   unknown flag `--modle`; the nearest is `--model`
//! ```
//!
//! `KEYS` has rows of the same kind for settings that are no flags: they say more than fits on a command line, or nothing that changes from
//! run to run. Only a settings file says them.
//!
//! ```text
//! {"command_wrapper": ["bwrap", "--bind", "/home/me", "/home/me"]}      every command of the model runs in it
//! {"checks": {"test": "ctest --test-dir build"}}                        run unasked once their text was accepted
//! {"guidance_names": ["CLAUDE.md"]}                                     read where there is no AGENTS.md
//! {"wire": false}                                                       sessions keep no exchanges
//! ```
//!
//! Invariant: `FLAGS[id as usize].id == id`, and `KEYS` goes on where `FLAGS` ends (a test walks the tables).
//! Invariant: `--a-b` has the variable `ZCODER_A_B` wherever a variable makes sense; other names are older or foreign habits.
//!
//! Read next: `typed.rs`, which turns argv and environment into a list of rows with values.

use std::borrow::Cow;
use std::fmt;

/// What the program is asked to do.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Command {
    /// No command word: one prompt, one turn (`-p`).
    #[default]
    Run,
    /// `zcoder models`
    Models,
    /// `zcoder tool NAME JSON`
    Tool,
    /// `zcoder undo [SESSION]`
    Undo,
    /// `zcoder redo [SESSION]`
    Redo,
    /// `zcoder diff [SESSION]`
    Diff,
    /// `zcoder sessions [SUBCOMMAND]`
    Sessions,
    /// `zcoder audit verify|report`
    Audit,
    /// `zcoder policy check CMD`
    Policy,
    /// `zcoder rules [revoke N]`
    Rules,
    /// `zcoder trust`
    Trust,
    /// `zcoder config [KEY]`
    Config,
    /// `zcoder paths`
    Paths,
    /// `zcoder purge`
    Purge,
    /// `zcoder decode STAGE [FILE|-]`
    Decode,
    /// `zcoder wire FILE|SESSION`
    Wire,
    /// `zcoder standin`
    StandIn,
    /// `zcoder demo`
    Demo,
    /// `zcoder man`
    Man,
    /// `zcoder completions SHELL`
    Completions,
    /// `zcoder help [TOPIC]`, `--help`
    Help,
    /// `zcoder version`, `--version`
    Version,
}

/// A row of the table of commands.
#[derive(Debug)]
pub struct CommandRow {
    /// What it is.
    pub command: Command,
    /// The word typed; empty for `Run`.
    pub name: &'static str,
    /// What follows the word, as help shows it.
    pub words: &'static str,
    /// One line.
    pub about: &'static str,
    /// What only its own help says.
    pub more: &'static str,
}

const fn command(
    command: Command,
    name: &'static str,
    words: &'static str,
    about: &'static str,
    more: &'static str,
) -> CommandRow {
    CommandRow {
        command,
        name,
        words,
        about,
        more,
    }
}

/// All commands, in the order of `--help`.
#[rustfmt::skip] // a table: one row reads best in as few lines as it needs
pub const COMMANDS: &[CommandRow] = &[
    command(Command::Run, "", "-p TEXT", "do one task and print the answer",
        ""),
    command(Command::Demo, "demo", "", "watch the whole agent work on a sample project, without any model",
        include_str!("topics/command-demo.txt")),
    command(Command::Models, "models", "", "list the server's models and what they can do",
        include_str!("topics/command-models.txt")),
    command(Command::Tool, "tool", "NAME JSON", "run one tool as the agent would, without a model",
        include_str!("topics/command-tool.txt")),
    command(Command::Undo, "undo", "[SESSION]", "take back what the last turn changed in files of this folder",
        include_str!("topics/command-undo.txt")),
    command(Command::Redo, "redo", "[SESSION]", "make again what was taken back last",
        include_str!("topics/command-undo.txt")),
    command(Command::Diff, "diff", "[SESSION]", "print what a session changed, as a patch, or take a part of it back",
        include_str!("topics/command-diff.txt")),
    command(Command::Sessions, "sessions", "[list|show|rename|delete|prune|export|fork|waiting] …", "list the sessions of this folder; read, copy, name, remove or fork them",
        include_str!("topics/command-sessions.txt")),
    command(Command::Audit, "audit", "verify|report [SESSION]", "check that sessions are what was kept; tell who did what, as a dated table",
        include_str!("topics/command-audit.txt")),
    command(Command::Policy, "policy", "check CMD", "say what would happen to a command, part by part, and why",
        include_str!("topics/command-policy.txt")),
    command(Command::Rules, "rules", "[revoke N]", "list the rules that count here, or take back a kept one",
        include_str!("topics/command-rules.txt")),
    command(Command::Trust, "trust", "", "show what this folder brings along to steer zcoder, and trust it",
        include_str!("topics/command-trust.txt")),
    command(Command::Config, "config", "[KEY]", "print every setting and where it came from",
        include_str!("topics/command-config.txt")),
    command(Command::Paths, "paths", "", "list every file and folder that is read or written here",
        include_str!("topics/command-paths.txt")),
    command(Command::Purge, "purge", "", "list what runs left behind, and remove it",
        include_str!("topics/command-purge.txt")),
    command(Command::Decode, "decode", "STAGE [FILE|-]", "show what one of the decoders makes of some bytes",
        include_str!("topics/command-decode.txt")),
    command(Command::Wire, "wire", "FILE|SESSION", "read a file written by --record, or the last exchanges of a session",
        include_str!("topics/command-wire.txt")),
    command(Command::StandIn, "standin", "", "serve the stand-in model on loopback, as Ollama would",
        include_str!("topics/command-standin.txt")),
    command(Command::Man, "man", "", "write the manual page, as roff",
        include_str!("topics/command-man.txt")),
    command(Command::Completions, "completions", "bash|zsh|fish", "write a completion script for a shell",
        include_str!("topics/command-completions.txt")),
    command(Command::Help, "help", "[TOPIC]", "explain a flag, a command or a topic",
        ""),
    command(Command::Version, "version", "", "print the version",
        ""),
];

impl Command {
    /// Its row.
    pub fn row(self) -> &'static CommandRow {
        let found = COMMANDS.iter().find(|row| row.command == self);
        // Every variant has a row (a test walks them); the first is what a reader of `--help` would see anyway.
        found.unwrap_or(&COMMANDS[0])
    }
}

/// `zcoder models`, or `zcoder -p` for a run.
impl fmt::Display for Command {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Command::Run => f.write_str("zcoder -p"),
            other => write!(f, "zcoder {}", other.row().name),
        }
    }
}

/// What follows a flag.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Takes {
    /// Nothing; from a variable: 1, 0, true, false, yes, no, on, off.
    Nothing,
    /// Free text, named so in help; checked where it is understood.
    Value(&'static str),
    /// A number, or a word in its place; named so in help.
    Number(&'static str),
    /// The name of a file.
    File(&'static str),
    /// The name of a folder.
    Folder(&'static str),
    /// One of these words.
    OneOf(&'static [&'static str]),
    /// What only a settings file can say.
    Json(Shape),
}

/// What stands there in JSON.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Shape {
    /// An array of strings.
    Words,
    /// An array of names of files.
    Names,
    /// An object of strings.
    Texts,
}

impl Takes {
    /// What follows, as help names it; `None`: nothing.
    pub fn name(self) -> Option<Cow<'static, str>> {
        match self {
            Takes::Nothing | Takes::Json(_) => None,
            Takes::Value(name) | Takes::Number(name) | Takes::File(name) | Takes::Folder(name) => {
                Some(Cow::Borrowed(name))
            }
            Takes::OneOf(words) => Some(Cow::Owned(words.join("|"))),
        }
    }
}

/// Which settings files may say it (`file.rs`).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Files {
    /// None: it is said for one run.
    None,
    /// The user's.
    User,
    /// The user's and the site's: a project has no say.
    Machine,
    /// The project's.
    Project,
    /// All of them.
    All,
    /// All of them, the project's and the site's only to tighten: these words, the tightest last. What is none of them is looser.
    Tighten(&'static [&'static str]),
}

/// A heading of `--help`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Group {
    /// What is asked.
    Task,
    /// Which model, where.
    Server,
    /// What may happen to the workspace.
    Workspace,
    /// When to stop.
    Limits,
    /// What is printed and kept.
    Output,
    /// `standin` and `demo`.
    StandIn,
    /// The rest.
    Other,
}

impl Group {
    /// In the order of `--help`.
    pub const ALL: &[Group] = &[
        Group::Task,
        Group::Server,
        Group::Workspace,
        Group::Limits,
        Group::Output,
        Group::StandIn,
        Group::Other,
    ];
    /// The heading.
    pub fn title(self) -> &'static str {
        match self {
            Group::Task => "Task",
            Group::Server => "Model and server",
            Group::Workspace => "Workspace and permission",
            Group::Limits => "Limits",
            Group::Output => "Output and records",
            Group::StandIn => "Stand-in and demo",
            Group::Other => "Other",
        }
    }
}

/// All that a settings file can name.
pub fn settings() -> impl Iterator<Item = &'static Flag> {
    FLAGS.iter().chain(KEYS)
}

/// One flag's or setting's name in the code; also its place in `FLAGS`, or behind it in `KEYS`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(missing_docs)] // the table below documents each for the user, in one line
pub enum Id {
    Prompt,
    Resume,
    Continue,
    WhatWouldBeSent,
    Offline,
    PrintInstructions,
    PrintSkills,
    PrintCommands,
    Model,
    Host,
    Via,
    Header,
    Think,
    NoThink,
    ContextWindow,
    KeepAlive,
    ToolStyle,
    AllowCloud,
    Temperature,
    Seed,
    ConnectTimeout,
    FirstByteTimeout,
    GapTimeout,
    Workspace,
    Profile,
    Edits,
    Commands,
    Yes,
    DenyCommands,
    ReadOnly,
    Last,
    Format,
    Older,
    At,
    Undo,
    Drop,
    All,
    Head,
    Turn,
    Revert,
    Force,
    Trust,
    Revoke,
    Config,
    NoGuidance,
    CommandTimeout,
    MaxToolOutput,
    MaxTurns,
    MaxSeconds,
    CompactAt,
    CompactAbove,
    MaxCompactions,
    StrictFinish,
    Output,
    Quiet,
    Ephemeral,
    Record,
    DebugLog,
    Port,
    Scene,
    Script,
    Pace,
    List,
    Log,
    Step,
    Keep,
    Help,
    Version,
    // No flags; see `KEYS`.
    CommandWrapper,
    Checks,
    GuidanceNames,
    Wire,
}

/// A row of the table of flags.
#[derive(Debug)]
pub struct Flag {
    /// Its name in the code.
    pub id: Id,
    /// `--model`
    pub long: &'static str,
    /// `m` for `-m`
    pub short: Option<char>,
    /// Neighbors' spellings, accepted and answered with our own.
    pub also: &'static [&'static str],
    /// What follows.
    pub takes: Takes,
    /// Variables, the first that is set and not empty counts.
    pub env: &'static [&'static str],
    /// Which commands understand it.
    pub commands: &'static [Command],
    /// Its heading.
    pub group: Group,
    /// The settings files that may say it, as `a_b` for `--a-b`.
    pub files: Files,
    /// What holds where nobody says anything; empty: nothing, or it depends.
    pub default: &'static str,
    /// One or two sentences for the user.
    pub help: &'static str,
}

impl Flag {
    /// `-m, --model NAME`
    pub fn usage(&self) -> String {
        let short = self.short.map(|c| format!("-{c}, ")).unwrap_or_default();
        let value = self.takes.name();
        let value = value.map(|name| format!(" {name}")).unwrap_or_default();
        format!("{short}{}{value}", self.long)
    }

    /// Whether a command understands it. `config` shows what would count in a run, and so takes what a run takes from elsewhere.
    pub fn is_for(&self, command: Command) -> bool {
        let is_setting = self.files != Files::None || !self.env.is_empty();
        self.commands.contains(&command)
            || command == Command::Config && is_setting && self.commands.contains(&Command::Run)
    }

    /// Its name in a settings file: `a_b` for `--a-b`.
    pub fn key(&self) -> String {
        self.long.trim_start_matches('-').replace('-', "_")
    }

    /// Whether this is its name in a settings file.
    fn is_key(&self, name: &str) -> bool {
        let long = self.long.trim_start_matches('-').bytes();
        let long = long.map(|byte| if byte == b'-' { b'_' } else { byte });
        long.eq(name.bytes())
    }
}

impl Id {
    /// Its row.
    pub fn row(self) -> &'static Flag {
        let place = self as usize;
        match place.checked_sub(FLAGS.len()) {
            None => &FLAGS[place],
            Some(place) => &KEYS[place],
        }
    }

    /// By its name in a settings file.
    pub fn named(name: &str) -> Option<Id> {
        let row = settings().find(|row| row.is_key(name));
        row.map(|row| row.id)
    }
}

const RUN: &[Command] = &[Command::Run];
const SERVER: &[Command] = &[Command::Run, Command::Models];
const TOOLS: &[Command] = &[Command::Run, Command::Tool];
const STEPS: &[Command] = &[
    Command::Undo,
    Command::Redo,
    Command::Diff,
    Command::Sessions,
];
const PERMISSIONS: &[Command] = &[Command::Run, Command::Tool, Command::Policy];
const PLACES: &[Command] = &[
    Command::Run,
    Command::Tool,
    Command::Undo,
    Command::Redo,
    Command::Diff,
    Command::Sessions,
    Command::Audit,
    Command::Policy,
    Command::Rules,
    Command::Trust,
    Command::Config,
    Command::Paths,
    Command::Wire,
];
const YES: &[Command] = &[
    Command::Run,
    Command::Tool,
    Command::Undo,
    Command::Redo,
    Command::Diff,
    Command::Sessions,
    Command::Policy,
    Command::Trust,
    Command::Purge,
];

/// A flag without a short form or foreign spellings, which no settings file may say; rows that have more say so by `..`.
const fn flag(
    id: Id,
    long: &'static str,
    takes: Takes,
    env: &'static [&'static str],
    commands: &'static [Command],
    group: Group,
    help: &'static str,
) -> Flag {
    let (short, also) = (None, &[] as &[&str]);
    let (files, default) = (Files::None, "");
    Flag {
        id,
        long,
        short,
        also,
        takes,
        env,
        commands,
        group,
        files,
        default,
        help,
    }
}

use Files::{All, Machine, Tighten, User};
use Group as G;
use Takes::{File, Folder, Json, Nothing, Number, OneOf, Value};

/// All flags, grouped as in `--help`.
#[rustfmt::skip] // a table: one row reads best in as few lines as it needs
pub const FLAGS: &[Flag] = &[
    Flag { short: Some('p'), also: &["--print"], ..flag(Id::Prompt, "--prompt", Value("TEXT"), &[], RUN, G::Task,
        "the task; `-` reads it from standard input. A pipe or file on standard input is attached to it: head and tail of at most 64 KiB, less in a small window") },
    Flag { short: Some('r'), ..flag(Id::Resume, "--resume", Value("SESSION"), &[], RUN, G::Task,
        "go on with this session of the folder: its id, or the beginning of it. `zcoder sessions` lists them") },
    Flag { short: Some('c'), ..flag(Id::Continue, "--continue", Nothing, &[], RUN, G::Task,
        "go on with the session of the folder that was at work last") },
    Flag { also: &["--dry-run"], ..flag(Id::WhatWouldBeSent, "--what-would-be-sent", Nothing, &[], RUN, G::Task,
        "print the exact next request (with --continue or --resume of that session) and send no prompt; the server is only asked about its models") },
    flag(Id::Offline, "--offline", Nothing, &["ZCODER_OFFLINE"], RUN, G::Task,
        "with --what-would-be-sent: ask the server nothing, and say on standard error what was assumed"),
    flag(Id::PrintInstructions, "--print-instructions", Nothing, &[], RUN, G::Task,
        "print the guidance that the model would be given (AGENTS.md), which files it comes from and which are not used, and do nothing else"),
    flag(Id::PrintSkills, "--print-skills", Nothing, &[], RUN, G::Task,
        "list the Skills that the model would be given, and those that cannot be used, and do nothing else"),
    flag(Id::PrintCommands, "--print-commands", Nothing, &[], RUN, G::Task,
        "list the prompt commands (`/review`, `/retry`) that -p understands, and do nothing else"),

    Flag { short: Some('m'), files: All, ..flag(Id::Model, "--model", Value("NAME"), &["ZCODER_MODEL"], RUN, G::Server,
        "the model; without it the only one that has tools, or the one that is loaded. `zcoder models` lists them") },
    Flag { files: Machine, default: "127.0.0.1:11434", ..flag(Id::Host, "--host", Value("ADDRESS"), &["ZCODER_HOST", "OLLAMA_HOST"], SERVER, G::Server,
        "where Ollama listens, as in OLLAMA_HOST: `gpubox`, `10.0.0.7:11434`, `http://box/ollama`. Default 127.0.0.1:11434") },
    Flag { files: Machine, ..flag(Id::Via, "--via", Value("COMMAND"), &["ZCODER_VIA"], SERVER, G::Server,
        "a program whose standard input and output are the connection, e.g. `ssh -W {host}:{port} gpubox`. No shell is used") },
    Flag { files: Machine, ..flag(Id::Header, "--header", Value("'NAME: VALUE'"), &["ZCODER_HEADER"], SERVER, G::Server,
        "send this header with each request (repeatable); a secret belongs into the variable, where other users cannot see it") },
    Flag { files: All, ..flag(Id::Think, "--think", OneOf(&["on", "off", "low", "medium", "high"]), &["ZCODER_THINK"], RUN, G::Server,
        "ask a model that can think to do so, or not to. Without it the model's own default holds") },
    flag(Id::NoThink, "--no-think", Nothing, &[], RUN, G::Server,
        "the same as --think off"),
    Flag { files: All, default: "auto", ..flag(Id::ContextWindow, "--context-window", Number("N|auto"), &["ZCODER_CONTEXT_WINDOW"], RUN, G::Server,
        "the window in tokens (`32768`, `32k`), sent as num_ctx with each request. `auto` keeps a loaded window of 16,384 or more, else takes up to 32,768") },
    Flag { files: All, ..flag(Id::KeepAlive, "--keep-alive", Number("TIME"), &["ZCODER_KEEP_ALIVE"], RUN, G::Server,
        "how long the server keeps the model loaded: `10m`, `1h30m`, seconds, or `-1` for ever. Without it the server decides") },
    Flag { files: All, default: "auto", ..flag(Id::ToolStyle, "--tool-style", OneOf(&["auto", "native", "text"]), &["ZCODER_TOOL_STYLE"], RUN, G::Server,
        "how the model is told of tools: by the server's own means, or described in the prompt. `auto` asks the server what the model can do") },
    Flag { files: Tighten(&["off"]), default: "off", ..flag(Id::AllowCloud, "--allow-cloud", Nothing, &["ZCODER_ALLOW_CLOUD"], RUN, G::Server,
        "send the prompt also when the server forwards the model to another host") },
    Flag { files: All, ..flag(Id::Temperature, "--temperature", Number("N"), &["ZCODER_TEMPERATURE"], RUN, G::Server,
        "sampling temperature, 0 to 2. Without it the model's own default holds") },
    Flag { files: All, ..flag(Id::Seed, "--seed", Number("N"), &["ZCODER_SEED"], RUN, G::Server,
        "seed of the sampling, for runs that can be repeated") },
    Flag { files: Machine, default: "5", ..flag(Id::ConnectTimeout, "--connect-timeout", Number("SECONDS"), &["ZCODER_CONNECT_TIMEOUT"], SERVER, G::Server,
        "limit for one connection attempt, 1 to 3,600. Default 5") },
    Flag { files: Machine, default: "900", ..flag(Id::FirstByteTimeout, "--first-byte-timeout", Number("SECONDS|off"), &["ZCODER_FIRST_BYTE_TIMEOUT", "ZCODER_HTTP_READ_TIMEOUT"], SERVER, G::Server,
        "limit for silence before the first byte of a reply: the model may be loading. Default 900") },
    Flag { files: Machine, default: "300", ..flag(Id::GapTimeout, "--gap-timeout", Number("SECONDS|off"), &["ZCODER_GAP_TIMEOUT"], SERVER, G::Server,
        "limit for silence within a reply. Default 300") },

    Flag { short: Some('w'), ..flag(Id::Workspace, "--workspace", Folder("FOLDER"), &["ZCODER_WORKSPACE"], PLACES, G::Workspace,
        "the only folder that tools may read and change. Default: the current one; `/` and a home folder must be named here") },
    Flag { files: Tighten(&["sysadmin"]), default: "coding", ..flag(Id::Profile, "--profile", OneOf(&["coding", "sysadmin"]), &["ZCODER_PROFILE"], PERMISSIONS, G::Workspace,
        "which agent: `sysadmin` diagnoses first, asks for each exact command and refuses what destroys a machine") },
    Flag { files: Tighten(&["auto", "ask", "deny"]), default: "auto", ..flag(Id::Edits, "--edits", OneOf(&["auto", "ask", "deny"]), &["ZCODER_EDITS"], PERMISSIONS, G::Workspace,
        "what happens to changes of files. Default auto: made and shown") },
    Flag { files: Tighten(&["ask", "deny"]), default: "ask", ..flag(Id::Commands, "--commands", OneOf(&["ask", "allow", "deny"]), &["ZCODER_COMMANDS", "ZCODER_COMMAND_POLICY"], PERMISSIONS, G::Workspace,
        "what happens to commands that no rule settles. Default ask: on the terminal, or exit code 4 when there is none") },
    flag(Id::Yes, "--yes", Nothing, &["ZCODER_YES"], YES, G::Workspace,
        "allow commands and edits of this run, unasked, but for commands that destroy a machine or a whole workspace, and those that a rule asks for or forbids; for undo, redo, diff --revert and purge: do what was listed"),
    flag(Id::DenyCommands, "--deny-commands", Nothing, &["ZCODER_DENY_COMMANDS"], PERMISSIONS, G::Workspace,
        "refuse commands, and whatever else would be asked; the model is told and goes on"),
    flag(Id::ReadOnly, "--read-only", Nothing, &["ZCODER_READ_ONLY"], PERMISSIONS, G::Workspace,
        "refuse commands and edits"),
    flag(Id::Last, "--last", Number("N"), &[], &[Command::Sessions], G::Workspace,
        "only the last N requests of the session and what came of them; the log is read from its end"),
    flag(Id::Format, "--format", OneOf(&["markdown", "html", "json", "jsonl"]), &[], &[Command::Sessions], G::Workspace,
        "what a session is exported as. Default markdown; `json` is an array of its records as they are kept, `jsonl` one a line"),
    flag(Id::Older, "--older", Value("AGE"), &[], &[Command::Sessions], G::Workspace,
        "remove sessions in which nothing was recorded for so long: `30d`, `12h`, `4w`"),
    flag(Id::At, "--at", Number("N"), &[], &[Command::Sessions], G::Workspace,
        "begin the new session before this request of the old one, and print the request"),
    flag(Id::Undo, "--undo", Nothing, &[], &[Command::Sessions], G::Workspace,
        "with --at: take back what that request and later ones changed in files, too"),
    flag(Id::Drop, "--drop", Value("ID"), &[], &[Command::Sessions], G::Workspace,
        "take back what waits in the session under this id; `all`: everything"),
    flag(Id::All, "--all", Nothing, &[], &[Command::Audit], G::Workspace,
        "verify every session of every folder"),
    flag(Id::Head, "--head", Value("HASH"), &[], &[Command::Audit], G::Workspace,
        "the session must have a record with this hash, which a run printed at its end"),
    flag(Id::Turn, "--turn", Number("N"), &[], &[Command::Undo], G::Workspace,
        "take back this turn of the session instead of the last one"),
    flag(Id::Revert, "--revert", File("FILE[:HUNK]"), &[], &[Command::Diff], G::Workspace,
        "bring this file, or one hunk of its difference (counted from 1), back to what it was when the session began"),
    flag(Id::Force, "--force", Nothing, &[], STEPS, G::Workspace,
        "go over what somebody else changed since, and keep a copy of each such file"),
    flag(Id::Trust, "--trust", Nothing, &["ZCODER_TRUST"], PERMISSIONS, G::Workspace,
        "use, for this run, the guidance, rules, settings and checks that the workspace brings along; `zcoder trust` does so for good"),
    flag(Id::Revoke, "--revoke", Nothing, &[], &[Command::Trust], G::Workspace,
        "trust nothing of the workspace any more"),
    flag(Id::Config, "--config", Nothing, &[], &[Command::Purge], G::Workspace,
        "remove your settings and rules, kept rules and trust as well"),
    Flag { files: Machine, default: "off", ..flag(Id::NoGuidance, "--no-guidance", Nothing, &["ZCODER_NO_GUIDANCE"], RUN, G::Workspace,
        "use no AGENTS.md and no Skills, neither yours nor the workspace's") },
    Flag { files: All, default: "120", ..flag(Id::CommandTimeout, "--command-timeout", Number("SECONDS"), &["ZCODER_COMMAND_TIMEOUT"], TOOLS, G::Workspace,
        "limit for a command that names none itself, 1 to 86,400. Default 120") },
    Flag { files: All, default: "16384", ..flag(Id::MaxToolOutput, "--max-tool-output", Number("BYTES"), &["ZCODER_MAX_TOOL_OUTPUT"], TOOLS, G::Workspace,
        "how much of a command's output the model is given, head and tail, 1,024 to 1,048,576. Default 16,384") },

    Flag { files: Machine, ..flag(Id::MaxTurns, "--max-turns", Number("N"), &["ZCODER_MAX_TURNS"], RUN, G::Limits,
        "end with exit code 5 when the task needs more than this many replies of the model") },
    Flag { files: Machine, ..flag(Id::MaxSeconds, "--max-seconds", Number("N"), &["ZCODER_MAX_SECONDS"], RUN, G::Limits,
        "end with exit code 5 when the task takes longer") },
    Flag { files: All, default: "80", ..flag(Id::CompactAt, "--compact-at", Number("PERCENT|off"), &["ZCODER_COMPACT_AT", "ZCODER_COMPACT_PERCENT"], RUN, G::Limits,
        "shorten the conversation for the model when it fills this much of the window, 20 to 95: a checkpoint that the model writes stands for most of it. Default 80") },
    Flag { files: All, default: "49152", ..flag(Id::CompactAbove, "--compact-above", Number("TOKENS|off"), &["ZCODER_COMPACT_ABOVE"], RUN, G::Limits,
        "the same at so many tokens, however large the window is: most models get unreliable long before a large one is full. Default 49,152") },
    Flag { files: Machine, default: "32", ..flag(Id::MaxCompactions, "--max-compactions", Number("N"), &["ZCODER_MAX_COMPACTIONS"], RUN, G::Limits,
        "end with exit code 5 when one task needs more than this many of them. Default 32") },
    Flag { files: All, default: "off", ..flag(Id::StrictFinish, "--strict-finish", Nothing, &["ZCODER_STRICT_FINISH", "ZCODER_REQUIRE_FINISH_TOOL"], RUN, G::Limits,
        "only the tool finish_task ends a task, not a plain answer") },

    Flag { files: User, default: "text", ..flag(Id::Output, "--output", OneOf(&["text", "json", "jsonl"]), &["ZCODER_OUTPUT"], &[Command::Run, Command::Models], G::Output,
        "`text`: the answer; `json`: one object at the end; `jsonl`: one object an event, as it comes. `zcoder help output` shows them") },
    Flag { short: Some('q'), files: User, default: "off", ..flag(Id::Quiet, "--quiet", Nothing, &["ZCODER_QUIET"], &[Command::Run, Command::Decode], G::Output,
        "no progress on standard error, only what needs attention; for `decode`: only the verdict") },
    Flag { files: User, default: "off", ..flag(Id::Ephemeral, "--ephemeral", Nothing, &["ZCODER_EPHEMERAL"], RUN, G::Output,
        "keep no session: nothing of this run can be taken up, shown or verified later") },
    flag(Id::Record, "--record", File("FILE"), &["ZCODER_RECORD"], RUN, G::Output,
        "write every byte sent and received to a new file that `zcoder wire` reads and `zcoder standin --script` plays"),
    Flag { also: &["--debug"], ..flag(Id::DebugLog, "--debug-log", File("FILE"), &["ZCODER_DEBUG_LOG"], RUN, G::Output,
        "append what crosses each of the seven stages, as text") },

    flag(Id::Port, "--port", Number("N"), &[], &[Command::StandIn], G::StandIn,
        "port on loopback. Default 11435; 0 takes a free one and prints it"),
    flag(Id::Scene, "--scene", Value("NAME"), &[], &[Command::StandIn], G::StandIn,
        "always play this scene instead of understanding the prompt"),
    flag(Id::Script, "--script", File("FILE"), &[], &[Command::StandIn], G::StandIn,
        "play a file written by --record"),
    flag(Id::Pace, "--pace", OneOf(&["none", "model", "slow"]), &[], &[Command::StandIn, Command::Demo], G::StandIn,
        "how fast it speaks. Default model, about 60 tokens a second"),
    flag(Id::List, "--list", Nothing, &[], &[Command::StandIn, Command::Trust], G::StandIn,
        "list the scenes; for `trust`: what is trusted, in every folder"),
    flag(Id::Log, "--log", Nothing, &[], &[Command::StandIn], G::StandIn,
        "print each request, annotated"),
    flag(Id::Step, "--step", Nothing, &[], &[Command::Demo], G::StandIn,
        "stop at each of the seven stages and show its bytes and the file that implements it"),
    flag(Id::Keep, "--keep", Nothing, &[], &[Command::Demo], G::StandIn,
        "keep the sample project and say where it is"),

    Flag { short: Some('h'), ..flag(Id::Help, "--help", Nothing, &[], &[], G::Other,
        "this text; after a command: that command's") },
    Flag { short: Some('V'), ..flag(Id::Version, "--version", Nothing, &[], &[], G::Other,
        "print the version and do nothing else") },
];

/// All settings that are no flags.
#[rustfmt::skip] // as above
pub const KEYS: &[Flag] = &[
    Flag { files: User, ..flag(Id::CommandWrapper, "command_wrapper", Json(Shape::Words), &[], RUN, G::Other,
        "words put before `sh -c COMMAND` of every command of the model, such as those of a sandbox; each question shows them") },
    Flag { files: Files::Project, ..flag(Id::Checks, "checks", Json(Shape::Texts), &[], RUN, G::Other,
        "named commands that prove the project's state; each runs unasked once you accepted its exact text") },
    Flag { files: Machine, ..flag(Id::GuidanceNames, "guidance_names", Json(Shape::Names), &[], RUN, G::Other,
        "names of files that are read as guidance where a folder has no AGENTS.md") },
    Flag { files: Tighten(&["off"]), default: "on", ..flag(Id::Wire, "wire", Nothing, &[], RUN, G::Other,
        "whether a session keeps its last exchanges with the server") },
];
