//! Every help text: `--help`, `zcoder help TOPIC`, and the README's table, all rendered from the tables in `flags.rs` and the
//! texts in `topics/`.
//!
//! ```text
//! overview()          what `zcoder help` and `--help` print: usage, commands, flags by group, examples
//! topic("security")   Some(the text)          topic("--model"), topic("model")   Some(that flag, with its variables)
//! topic("demo")       Some(that command)      topic("nonsense")                  None
//! ```
//!
//! Invariant: each topic that a message anywhere in the source names (`zcoder help …`) exists; a test greps for them.
//!
//! Read next: `topics/security.txt`, the longest promise of the program.

use super::flags::{COMMANDS, Command, FLAGS, Files, Flag, Group};
use super::keys::KEYS;
use std::fmt::Write;

/// Columns of all help texts: the oldest terminal.
const COLUMNS: usize = 80;
/// Where explanations start.
const INDENT: usize = 26;

/// A text of its own.
#[derive(Debug)]
pub struct Topic {
    /// What is typed.
    pub name: &'static str,
    /// One line.
    pub about: &'static str,
    text: &'static str,
}

/// All topics, in reading order.
pub const TOPICS: &[Topic] = &[
    Topic {
        name: "start",
        about: "from nothing to the first task with your own model",
        text: include_str!("topics/start.txt"),
    },
    Topic {
        name: "security",
        about: "every connection, file, variable, child and signal",
        text: include_str!("topics/security.txt"),
    },
    Topic {
        name: "permissions",
        about: "what may happen unasked, and what a question looks like",
        text: include_str!("topics/permissions.txt"),
    },
    Topic {
        name: "guidance",
        about: "AGENTS.md, Skills, /commands: what files tell the model",
        text: include_str!("topics/guidance.txt"),
    },
    Topic {
        name: "tools",
        about: "what the model can do, and `zcoder tool`",
        text: include_str!("topics/tools.txt"),
    },
    Topic {
        name: "server",
        about: "addresses, tunnels, time limits, which model, which window",
        text: include_str!("topics/server.txt"),
    },
    Topic {
        name: "context",
        about: "conversations longer than the window: when and how they are shortened",
        text: include_str!("topics/context.txt"),
    },
    Topic {
        name: "sessions",
        about: "what is kept of a run, where, and how to go on with it",
        text: include_str!("topics/sessions.txt"),
    },
    Topic {
        name: "goals",
        about: "work until a verifier agrees that it is done: /goal",
        text: include_str!("topics/goals.txt"),
    },
    Topic {
        name: "output",
        about: "text, json and jsonl, with their shapes",
        text: include_str!("topics/output.txt"),
    },
    Topic {
        name: "exit-codes",
        about: "what the exit code says",
        text: include_str!("topics/exit-codes.txt"),
    },
    Topic {
        name: "stages",
        about: "a turn in seven stages, and how to watch each one",
        text: include_str!("topics/stages.txt"),
    },
    Topic {
        name: "settings",
        about: "settings files, which keys they know, locks",
        text: include_str!("topics/settings.txt"),
    },
    Topic {
        name: "environment",
        about: "every variable that is read",
        text: include_str!("topics/environment.txt"),
    },
];

/// What `zcoder help` and `zcoder --help` print.
pub fn overview() -> String {
    let mut out = String::from(
        "zcoder: a coding agent in the terminal for local models\n\n\
         usage: zcoder -p TEXT [FLAGS]      one task in the current folder\n       \
         zcoder COMMAND [FLAGS]\n\ncommands\n",
    );
    for row in COMMANDS {
        let usage = [row.name, row.words].join(" ");
        entry(&mut out, usage.trim(), row.about);
    }
    for &group in Group::ALL {
        flags_of(
            &mut out,
            group.title(),
            FLAGS.iter().filter(|row| row.group == group),
        );
    }
    out.push_str("\ntopics (zcoder help TOPIC)\n");
    for topic in TOPICS {
        entry(&mut out, topic.name, topic.about);
    }
    out.push_str(EXAMPLES);
    out
}

const EXAMPLES: &str = "
examples
  zcoder demo                                      see it work, no model needed
  zcoder -p 'what does this project do?'           only reads: nothing is asked
  zcoder -p 'make the tests pass' --yes            may edit and run commands
  git diff | zcoder -p 'review this' --read-only   the diff is attached
  zcoder -p 'hello' --what-would-be-sent           the exact bytes, not sent
  zcoder -m qwen3:8b --host gpubox -p 'fix the typo in README.md'
  zcoder -p 'list the TODOs' --output json | jq -r .answer
";

/// A topic, a command (`models`), a flag (`--model`, `model`, `-m`), or a setting (`context_window`).
pub fn topic(name: &str) -> Option<String> {
    if let Some(topic) = TOPICS.iter().find(|topic| topic.name == name) {
        let mut out = topic.text.to_string();
        match name {
            "environment" => variables(&mut out),
            "settings" => keys(&mut out),
            _ => {}
        }
        // A subject may have the name of the command for it.
        if let Some(row) = COMMANDS.iter().find(|row| row.name == name) {
            out.push('\n');
            out.push_str(&command(row.command));
        }
        return Some(out);
    }
    if let Some(row) = COMMANDS
        .iter()
        .find(|row| row.name == name && !name.is_empty())
    {
        return Some(command(row.command));
    }
    let bare = name.trim_start_matches('-');
    let named = |row: &&Flag| {
        let short = row.short.is_some_and(|c| bare.chars().eq([c]));
        let long = |long: &str| long.trim_start_matches('-') == bare;
        short || long(row.long) || row.also.iter().any(|also| long(also))
    };
    if let Some(row) = FLAGS.iter().find(named) {
        return Some(flag(row));
    }
    if let Some(row) = KEYS.iter().find(|row| row.name == name) {
        let mut out = String::new();
        entry(&mut out, row.name, row.help);
        out.push('\n');
        let text = format!("{} (`zcoder help settings`)", who(row.files));
        entry(&mut out, "for", &text);
        return Some(out);
    }
    FLAGS.iter().find(|row| row.is_key(name)).map(flag)
}

/// All names that `topic` knows, for the nearest one.
pub fn names() -> impl Iterator<Item = &'static str> {
    let topics = TOPICS.iter().map(|topic| topic.name);
    let commands = COMMANDS.iter().map(|row| row.name);
    topics
        .chain(commands)
        .chain(FLAGS.iter().map(|row| row.long))
        .chain(KEYS.iter().map(|row| row.name))
}

/// One command: usage, purpose, its flags, and what only it needs to say.
fn command(command: Command) -> String {
    let row = command.row();
    let mut out = format!("usage: zcoder {} {}", row.name, row.words);
    out.truncate(out.trim_end().len());
    let _ = write!(out, "\n\n{}\n", row.about); // writing to a String cannot fail
    out.push_str(match command {
        Command::Tool => include_str!("topics/command-tool.txt"),
        Command::Undo | Command::Redo => include_str!("topics/command-undo.txt"),
        Command::Diff => include_str!("topics/command-diff.txt"),
        Command::Decode => include_str!("topics/command-decode.txt"),
        Command::Wire => include_str!("topics/command-wire.txt"),
        Command::StandIn => include_str!("topics/command-standin.txt"),
        Command::Demo => include_str!("topics/command-demo.txt"),
        Command::Models => include_str!("topics/command-models.txt"),
        Command::Sessions => include_str!("topics/command-sessions.txt"),
        Command::Audit => include_str!("topics/command-audit.txt"),
        Command::Policy => include_str!("topics/command-policy.txt"),
        Command::Rules => include_str!("topics/command-rules.txt"),
        Command::Trust => include_str!("topics/command-trust.txt"),
        Command::Config => include_str!("topics/command-config.txt"),
        Command::Paths => include_str!("topics/command-paths.txt"),
        Command::Purge => include_str!("topics/command-purge.txt"),
        Command::Man => include_str!("topics/command-man.txt"),
        Command::Completions => include_str!("topics/command-completions.txt"),
        Command::Run | Command::Help | Command::Version => "",
    });
    flags_of(
        &mut out,
        "flags",
        FLAGS.iter().filter(|row| row.commands.contains(&command)),
    );
    out
}

/// One flag with everything the table knows of it.
fn flag(row: &Flag) -> String {
    let mut out = String::new();
    flags_of(&mut out, "", std::iter::once(row)); // writing to a String cannot fail
    out.push('\n');
    if !row.commands.is_empty() {
        let commands: Vec<String> = row.commands.iter().map(Command::to_string).collect();
        entry(&mut out, "for", &commands.join(", "));
    }
    if !row.env.is_empty() {
        entry(&mut out, "variable", &row.env.join(", "));
    }
    if row.files != Files::None {
        let text = format!("{} ({}; `zcoder help settings`)", row.key(), who(row.files));
        entry(&mut out, "setting", &text);
    }
    if !row.also.is_empty() {
        entry(&mut out, "also accepted", &row.also.join(", "));
    }
    out
}

fn flags_of<'a>(out: &mut String, title: &str, rows: impl Iterator<Item = &'a Flag>) {
    let mut rows = rows.peekable();
    if rows.peek().is_none() {
        return;
    }
    if !title.is_empty() {
        let _ = writeln!(out, "\n{}", title.to_lowercase());
    }
    for row in rows {
        // Flags without a short form line up with those that have one.
        let usage = match row.short {
            Some(_) => row.usage(),
            None => format!("    {}", row.usage()),
        };
        entry(out, &usage, row.help);
    }
}

/// The variables of the flags.
fn variables(out: &mut String) {
    for row in FLAGS.iter().filter(|row| !row.env.is_empty()) {
        entry(out, &row.env.join(", "), &format!("as {}", row.long));
    }
}

/// The keys of settings files.
fn keys(out: &mut String) {
    for row in FLAGS.iter().filter(|row| row.files != Files::None) {
        entry(
            out,
            &row.key(),
            &format!("{}: as {}", who(row.files), row.long),
        );
    }
    for row in KEYS {
        entry(out, row.name, &format!("{}: {}", who(row.files), row.help));
    }
}

/// Whose files may say it.
fn who(files: Files) -> &'static str {
    match files {
        Files::None => "nobody",
        Files::User => "you",
        Files::Machine => "you, site",
        Files::Project => "project",
        Files::All => "you, site, project",
        Files::Tighten(_) => "you; site and project to tighten",
    }
}

/// `  usage                       explanation, wrapped and indented`
fn entry(out: &mut String, usage: &str, about: &str) {
    let mut line = format!("  {usage}");
    if line.chars().count() + 2 > INDENT {
        let _ = writeln!(out, "{line}");
        line.clear();
    }
    let mut column = line.chars().count();
    let pad = |line: &mut String, column: &mut usize| {
        line.extend(std::iter::repeat_n(' ', INDENT - *column));
        *column = INDENT;
    };
    pad(&mut line, &mut column);
    for word in about.split(' ') {
        let wide = word.chars().count();
        if column > INDENT && column + 1 + wide > COLUMNS {
            let _ = writeln!(out, "{line}");
            line.clear();
            column = 0;
            pad(&mut line, &mut column);
        }
        if column > INDENT {
            line.push(' ');
            column += 1;
        }
        line.push_str(word);
        column += wide;
    }
    let _ = writeln!(out, "{line}");
}

/// The table of flags as README.md has it.
pub fn readme_table() -> String {
    let mut out =
        String::from("| flag | variable | setting | what it does |\n| --- | --- | --- | --- |\n");
    for row in FLAGS {
        let usage = row.usage().replace('|', "\\|");
        let variables: Vec<String> = row.env.iter().map(|name| format!("`{name}`")).collect();
        let help = row.help.replace('|', "\\|");
        let variables = variables.join(", ");
        let key = match row.files {
            Files::None => String::new(),
            _ => format!("`{}`", row.key()),
        };
        let _ = writeln!(out, "| `{usage}` | {variables} | {key} | {help} |");
    }
    for row in KEYS {
        let _ = writeln!(out, "|  |  | `{}` | {} |", row.name, row.help);
    }
    out
}
