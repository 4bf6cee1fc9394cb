//! `zcoder completions bash|zsh|fish`: a script for that shell, written from the tables of commands and flags, so that it knows exactly what
//! this binary knows.
//!
//! ```text
//! $ source <(zcoder completions bash)
//! $ zcoder mo⇥                models
//! $ zcoder --think ⇥          on off low medium high
//! $ zcoder --record ⇥         files
//! $ zcoder decode ⇥           chunked ndjson sse json sanitize
//! $ zcoder sessions show ⇥    20260821-090000123-x1y2z3a4
//! ```
//!
//! Each script does the same: find the command among the words, skipping the values of flags; behind a flag complete its value; behind a dash
//! the flags of the command; else its words. Where a session is meant, `zcoder sessions` is asked for those of the folder, and nothing is
//! offered when it says nothing. Nothing else is run to complete but what the shell has itself.
//!
//! Invariant: every word of the scripts is from a table and made of letters, digits and `-_.:`, so that nothing needs to be quoted;
//! descriptions are quoted.
//!
//! Read next: `config/flags.rs`.

use super::{audit, decode, sessions};
use crate::config::flags::{self, COMMANDS, CommandRow, FLAGS, Files, Flag, Takes};
use crate::config::{Command, UsageError, help, utf8};
use crate::headless::out::{exit, with_stdout};
use crate::tools::{self, Set};
use std::ffi::OsString;
use std::io::Write as _;

/// A shell, and what writes for it.
type Shell = (&'static str, fn() -> String);

const SHELLS: [Shell; 3] = [("bash", bash), ("zsh", zsh), ("fish", fish)];

/// Prints the script; the exit code.
pub(super) fn run(words: &[OsString; 1]) -> Result<u8, UsageError> {
    let given = utf8(&words[0], "the shell")?;
    let shell = SHELLS.iter().find(|(name, _)| *name == given);
    let Some((_, write)) = shell else {
        let names = SHELLS.iter().map(|(name, _)| *name);
        let instead = "there are bash, zsh and fish";
        return Err(UsageError::unknown(
            "no completions for",
            given,
            names,
            instead,
        ));
    };
    let script = write();
    Ok(with_stdout(|out| {
        out.write_all(script.as_bytes())?;
        Ok(exit::DONE)
    }))
}

/// The words that may follow a command.
fn first_words(command: Command) -> Vec<String> {
    let all = |words: &[&str]| words.iter().map(|word| word.to_string()).collect();
    match command {
        Command::Run => commands().map(|row| row.name.to_string()).collect(),
        Command::Help => help::names()
            .filter(|name| !name.is_empty())
            .map(str::to_string)
            .collect(),
        Command::Decode => decode::stages().map(str::to_string).collect(),
        Command::Sessions => sessions::verbs().map(str::to_string).collect(),
        Command::Audit => all(&audit::VERBS),
        Command::Policy => all(&["check"]),
        Command::Rules => all(&["revoke"]),
        Command::Completions => SHELLS.iter().map(|(name, _)| name.to_string()).collect(),
        Command::Tool => all(&tools::names(Set::Standard)),
        Command::Config => {
            let rows = flags::settings().filter(|row| row.files != Files::None);
            rows.map(Flag::key).collect()
        }
        Command::Models
        | Command::Undo
        | Command::Redo
        | Command::Diff
        | Command::Trust
        | Command::Paths
        | Command::Purge
        | Command::Wire
        | Command::StandIn
        | Command::Demo
        | Command::Man
        | Command::Version => Vec::new(),
    }
}

/// Where a file may stand: the command, how many words stand behind it, the first of them.
const FILES_AT: &[&str] = &["decode:1:*", "wire:0:*"];
/// Where a session may stand, likewise.
const SESSIONS_AT: &[&str] = &[
    "sessions:1:show:*",
    "sessions:1:rename:*",
    "sessions:*:delete:*",
    "sessions:1:export:*",
    "sessions:1:fork:*",
    "sessions:1:waiting:*",
    "audit:1:*",
    "undo:0:*",
    "redo:0:*",
    "diff:0:*",
    "wire:0:*",
];

fn commands() -> impl Iterator<Item = &'static CommandRow> {
    COMMANDS.iter().filter(|row| !row.name.is_empty())
}

/// `-m|--model`
fn spellings(row: &Flag, joint: &str) -> String {
    let short = row.short.map(|c| format!("-{c}{joint}"));
    let also = row.also.iter().map(|also| format!("{joint}{also}"));
    let also: String = also.collect();
    format!("{}{}{also}", short.unwrap_or_default(), row.long)
}

/// All flags of a command, and those that stand everywhere.
fn flags_of(command: Command) -> impl Iterator<Item = &'static Flag> {
    FLAGS
        .iter()
        .filter(move |row| row.is_for(command) || row.commands.is_empty())
}

/// The flags with a value of one kind, as a pattern of `case`.
fn pattern(is: fn(Takes) -> bool) -> String {
    let rows = FLAGS.iter().filter(|row| is(row.takes));
    let rows: Vec<String> = rows.map(|row| spellings(row, "|")).collect();
    rows.join("|")
}

fn is_file(takes: Takes) -> bool {
    matches!(takes, Takes::File(_))
}

fn is_folder(takes: Takes) -> bool {
    matches!(takes, Takes::Folder(_))
}

fn is_session(takes: Takes) -> bool {
    matches!(takes, Takes::Value("SESSION"))
}

fn is_text(takes: Takes) -> bool {
    matches!(takes, Takes::Value(_) | Takes::Number(_)) && !is_session(takes)
}

fn has_value(takes: Takes) -> bool {
    takes.name().is_some()
}

fn bash() -> String {
    let mut out = format!(
        "# bash completion of zcoder. For all shells to come:\n\
         #   zcoder completions bash > ~/.local/share/bash-completion/completions/zcoder\n\
         _zcoder_sessions() {{\n\
         \x20   # compgen expands its words: nothing but ids may be among them.\n\
         \x20   local id more\n\
         \x20   compopt -o nosort 2>/dev/null\n\
         \x20   words+=\" $(\"${{COMP_WORDS[0]/#\\~\\//$HOME/}}\" sessions 2>/dev/null </dev/null | while read -r id more; do\n\
         \x20       [[ $id == *[!0-9A-Za-z-]* ]] || echo \"$id\"\n\
         \x20   done)\"\n\
         }}\n\
         _zcoder() {{\n\
         \x20   local word=${{COMP_WORDS[COMP_CWORD]}} before=${{COMP_WORDS[COMP_CWORD - 1]}}\n\
         \x20   local command='' behind=0 first='' at=1 words='' IFS=$' \\n'\n\
         \x20   COMPREPLY=()\n\
         \x20   # --flag=value comes as three words.\n\
         \x20   if [[ $word == = ]]; then\n\
         \x20       word=''\n\
         \x20   elif [[ $before == = ]]; then\n\
         \x20       before=${{COMP_WORDS[COMP_CWORD - 2]}}\n\
         \x20   fi\n\
         \x20   while ((at < COMP_CWORD)); do\n\
         \x20       case ${{COMP_WORDS[at]}} in\n\
         \x20           {}) [[ ${{COMP_WORDS[at + 1]}} == = ]] && ((at += 1)); ((at += 1)) ;;\n\
         \x20           -*) ;;\n\
         \x20           *)\n\
         \x20               if [[ -z $command ]]; then\n\
         \x20                   command=${{COMP_WORDS[at]}}\n\
         \x20               else\n\
         \x20                   ((behind += 1))\n\
         \x20                   first=${{first:-${{COMP_WORDS[at]}}}}\n\
         \x20               fi ;;\n\
         \x20       esac\n\
         \x20       ((at += 1))\n\
         \x20   done\n\
         \x20   case $before in\n",
        pattern(has_value)
    );
    for row in FLAGS {
        if let Takes::OneOf(words) = row.takes {
            let (names, words) = (spellings(row, "|"), words.join(" "));
            out.push_str(&format!("        {names}) words='{words}' ;;\n"));
        }
    }
    out.push_str(&format!(
        "        {}) compopt -o default 2>/dev/null; return ;;\n\
         \x20       {}) compopt -o dirnames 2>/dev/null; return ;;\n\
         \x20       {}) _zcoder_sessions ;;\n\
         \x20       {}) return ;;\n\
         \x20       *) case $command:$behind:$first:$word in\n",
        pattern(is_file),
        pattern(is_folder),
        pattern(is_session),
        pattern(is_text)
    ));
    for row in COMMANDS {
        let flags: Vec<&str> = flags_of(row.command).map(|flag| flag.long).collect();
        let (name, flags) = (row.name, flags.join(" "));
        out.push_str(&format!("            {name}:*:-*) words='{flags}' ;;\n"));
        let words = first_words(row.command).join(" ");
        if !words.is_empty() {
            out.push_str(&format!("            {name}:0:*) words='{words}' ;;\n"));
        }
    }
    let (sessions, files) = (SESSIONS_AT.join("|"), FILES_AT.join("|"));
    out.push_str(&format!(
        "        esac\n\
         \x20       case $command:$behind:$first:$word in *:-*) ;; {sessions}) _zcoder_sessions ;; esac\n\
         \x20       case $command:$behind:$first:$word in *:-*) ;; {files}) compopt -o default 2>/dev/null ;; esac ;;\n"
    ));
    out.push_str(
        "    esac\n    COMPREPLY=($(compgen -W \"$words\" -- \"$word\"))\n}\ncomplete -F _zcoder zcoder\n",
    );
    out
}

/// The beginning of a help text, for a menu: without quotes of any kind.
fn brief(help: &str) -> String {
    let end = ["; ", ". "].iter().filter_map(|mark| help.find(mark));
    let brief = &help[..end.min().unwrap_or(help.len())];
    brief.replace('\'', "’").replace('`', "")
}

fn zsh() -> String {
    let mut out = format!(
        "#compdef zcoder\n\
         # zsh completion of zcoder. For all shells to come, in a folder of $fpath:\n\
         #   zcoder completions zsh > ~/.zfunc/_zcoder\n\
         _zcoder_sessions() {{\n\
         \x20   local id more\n\
         \x20   local -a all\n\
         \x20   _call_program sessions $words[1] sessions </dev/null | while read -r id more; do all+=(\"$id:${{more//\\\\/\\\\\\\\}}\"); done\n\
         \x20   _describe -V session all\n\
         }}\n\
         _zcoder() {{\n\
         \x20   local before=$words[CURRENT-1] command='' behind=0 first='' at=2\n\
         \x20   local -a all\n\
         \x20   if [[ $words[CURRENT] == --*=* ]]; then\n\
         \x20       before=${{words[CURRENT]%%=*}}\n\
         \x20       compset -P '--*='\n\
         \x20   fi\n\
         \x20   while ((at < CURRENT)); do\n\
         \x20       case $words[at] in\n\
         \x20           ({}) ((at += 1)) ;;\n\
         \x20           (-*) ;;\n\
         \x20           (*)\n\
         \x20               if [[ -z $command ]]; then\n\
         \x20                   command=$words[at]\n\
         \x20               else\n\
         \x20                   ((behind += 1))\n\
         \x20                   first=${{first:-$words[at]}}\n\
         \x20               fi ;;\n\
         \x20       esac\n\
         \x20       ((at += 1))\n\
         \x20   done\n\
         \x20   case $before in\n",
        pattern(has_value)
    );
    for row in FLAGS {
        if let Takes::OneOf(words) = row.takes {
            let (names, words) = (spellings(row, "|"), words.join(" "));
            out.push_str(&format!(
                "        ({names}) compadd -- {words}; return ;;\n"
            ));
        }
    }
    out.push_str(&format!(
        "        ({}) _files; return ;;\n\
         \x20       ({}) _files -/; return ;;\n\
         \x20       ({}) _zcoder_sessions; return ;;\n\
         \x20       ({}) _message value; return ;;\n\
         \x20   esac\n\
         \x20   case $command:$behind:$first:$words[CURRENT] in\n",
        pattern(is_file),
        pattern(is_folder),
        pattern(is_session),
        pattern(is_text)
    ));
    let described = |name: &str, about: &str| format!(" '{name}:{}'", brief(about));
    for row in COMMANDS {
        let flags = flags_of(row.command).map(|flag| described(flag.long, flag.help));
        let (name, flags) = (row.name, flags.collect::<String>());
        out.push_str(&format!(
            "        ({name}:*:-*) all=({flags} ); _describe flag all ;;\n"
        ));
        let words: String = match row.command {
            Command::Run => commands()
                .map(|row| described(row.name, row.about))
                .collect(),
            command => first_words(command)
                .iter()
                .map(|word| format!(" {word}"))
                .collect(),
        };
        if !words.is_empty() {
            out.push_str(&format!(
                "        ({name}:0:*) all=({words} ); _describe word all ;;\n"
            ));
        }
    }
    let (sessions, files) = (SESSIONS_AT.join("|"), FILES_AT.join("|"));
    out.push_str(&format!(
        "    esac\n\
         \x20   case $command:$behind:$first:$words[CURRENT] in (*:-*) ;; ({sessions}) _zcoder_sessions ;; esac\n\
         \x20   case $command:$behind:$first:$words[CURRENT] in (*:-*) ;; ({files}) _files ;; esac\n"
    ));
    // Sourced, it has to be told; from a folder of $fpath it is the function.
    out.push_str(
        "}\nif [[ $zsh_eval_context[-1] == loadautofunc ]]; then\n    _zcoder \"$@\"\nelse\n    compdef _zcoder zcoder\nfi\n",
    );
    out
}

fn fish() -> String {
    let mut out = format!(
        "# fish completion of zcoder. For all shells to come:\n\
         #   zcoder completions fish > ~/.config/fish/completions/zcoder.fish\n\
         complete -c zcoder -f\n\
         function __zcoder_at\n\
         \x20   set -l command ''; set -l behind 0; set -l first ''; set -l value 0\n\
         \x20   for word in (commandline -opc)[2..]\n\
         \x20       if test $value = 1\n\
         \x20           set value 0\n\
         \x20           continue\n\
         \x20       end\n\
         \x20       switch $word\n\
         \x20           case {}\n\
         \x20               set value 1\n\
         \x20           case '-*'\n\
         \x20           case '*'\n\
         \x20               if test -z $command\n\
         \x20                   set command $word\n\
         \x20                   continue\n\
         \x20               end\n\
         \x20               set behind (math $behind + 1)\n\
         \x20               test -n $first; or set first $word\n\
         \x20       end\n\
         \x20   end\n\
         \x20   for place in $argv\n\
         \x20       string match -q -- $place $command:$behind:$first:; and return\n\
         \x20   end\n\
         \x20   return 1\n\
         end\n\
         function __zcoder_sessions\n\
         \x20   set -l words (commandline -opc)\n\
         \x20   type -q $words[1]; or return\n\
         \x20   command $words[1] sessions 2>/dev/null </dev/null | string replace -r ' +' \\t\n\
         end\n",
        pattern(has_value).replace('|', " ")
    );
    for row in COMMANDS {
        let name = row.name;
        let words = first_words(row.command);
        if row.command == Command::Run {
            for row in commands() {
                let (name, about) = (row.name, brief(row.about));
                out.push_str(&format!(
                    "complete -c zcoder -n \"__zcoder_at ':0:*'\" -a {name} -d '{about}'\n"
                ));
            }
        } else if !words.is_empty() {
            let words = words.join(" ");
            out.push_str(&format!(
                "complete -c zcoder -n \"__zcoder_at '{name}:0:*'\" -a '{words}'\n"
            ));
        }
    }
    let (sessions, files) = (SESSIONS_AT.join("' '"), FILES_AT.join("' '"));
    out.push_str(&format!(
        "complete -c zcoder -n \"__zcoder_at '{sessions}'\" -k -a '(__zcoder_sessions)'\n\
         complete -c zcoder -n \"__zcoder_at '{files}'\" -F\n"
    ));
    for row in FLAGS {
        let commands = COMMANDS
            .iter()
            .filter(|command| row.is_for(command.command) || row.commands.is_empty());
        let names: Vec<String> = commands.map(|row| format!("'{}:*'", row.name)).collect();
        let when = names.join(" ");
        let short = row.short.map(|c| format!(" -s {c}")).unwrap_or_default();
        let value = match row.takes {
            Takes::Nothing | Takes::Json(_) => String::new(),
            takes if is_session(takes) => " -x -k -a '(__zcoder_sessions)'".to_string(),
            Takes::Value(_) | Takes::Number(_) => " -x".to_string(),
            Takes::OneOf(words) => format!(" -x -a '{}'", words.join(" ")),
            Takes::File(_) => " -r -F".to_string(),
            Takes::Folder(_) => " -x -a '(__fish_complete_directories)'".to_string(),
        };
        let (long, about) = (&row.long[2..], brief(row.help));
        out.push_str(&format!(
            "complete -c zcoder -n \"__zcoder_at {when}\"{short} -l {long}{value} -d '{about}'\n"
        ));
    }
    out
}
