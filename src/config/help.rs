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

use super::flags::{COMMANDS, Command, CommandRow, FLAGS, Files, Flag, Group, Id, KEYS};
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

const fn text(name: &'static str, about: &'static str, text: &'static str) -> Topic {
    Topic { name, about, text }
}

/// All topics, in reading order.
#[rustfmt::skip] // a table: one row reads best in as few lines as it needs
pub const TOPICS: &[Topic] = &[
    text("start", "from nothing to the first task with your own model", include_str!("topics/start.txt")),
    text("security", "every connection, file, variable, child and signal", include_str!("topics/security.txt")),
    text("permissions", "what may happen unasked, and what a question looks like", include_str!("topics/permissions.txt")),
    text("guidance", "AGENTS.md, Skills, /commands: what files tell the model", include_str!("topics/guidance.txt")),
    text("tools", "what the model can do, and `zcoder tool`", include_str!("topics/tools.txt")),
    text("server", "addresses, tunnels, time limits, which model, which window", include_str!("topics/server.txt")),
    text("context", "conversations longer than the window: when and how they are shortened", include_str!("topics/context.txt")),
    text("sessions", "what is kept of a run, where, and how to go on with it", include_str!("topics/sessions.txt")),
    text("goals", "work until a verifier agrees that it is done: /goal", include_str!("topics/goals.txt")),
    text("output", "text, json and jsonl, with their shapes", include_str!("topics/output.txt")),
    text("exit-codes", "what the exit code says", include_str!("topics/exit-codes.txt")),
    text("stages", "a turn in seven stages, and how to watch each one", include_str!("topics/stages.txt")),
    text("settings", "settings files, which keys they know, locks", include_str!("topics/settings.txt")),
    text("environment", "every variable that is read", include_str!("topics/environment.txt")),
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
            out.push_str(&command(row));
        }
        return Some(out);
    }
    if let Some(row) = COMMANDS
        .iter()
        .find(|row| row.name == name && !name.is_empty())
    {
        return Some(command(row));
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
    if let Some(row) = KEYS.iter().find(|row| row.long == name) {
        let mut out = String::new();
        entry(&mut out, row.long, row.help);
        out.push('\n');
        let text = format!("{} (`zcoder help settings`)", who(row.files));
        entry(&mut out, "for", &text);
        return Some(out);
    }
    Id::named(name).map(|id| flag(id.row()))
}

/// All names that `topic` knows, for the nearest one.
pub fn names() -> impl Iterator<Item = &'static str> {
    let topics = TOPICS.iter().map(|topic| topic.name);
    let commands = COMMANDS.iter().map(|row| row.name);
    topics
        .chain(commands)
        .chain(FLAGS.iter().map(|row| row.long))
        .chain(KEYS.iter().map(|row| row.long))
}

/// One command: usage, purpose, its flags, and what only it needs to say.
fn command(row: &CommandRow) -> String {
    let mut out = format!("usage: zcoder {} {}", row.name, row.words);
    out.truncate(out.trim_end().len());
    let _ = write!(out, "\n\n{}\n", row.about); // writing to a String cannot fail
    out.push_str(row.more);
    flags_of(
        &mut out,
        "flags",
        FLAGS
            .iter()
            .filter(|flag| flag.commands.contains(&row.command)),
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
        entry(out, row.long, &format!("{}: {}", who(row.files), row.help));
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
        let _ = writeln!(out, "|  |  | `{}` | {} |", row.long, row.help);
    }
    out
}
