//! The one table of tools: names, what the model is told of them, argument kinds, and the other names that are
//! understood. `schemas` and `describe` write it for the two ways of telling a model; `args` checks calls against it.
//!
//! ```text
//! {"type":"function","function":{"name":"read_file","description":"Read a text file, or a range of its lines.",
//!  "parameters":{"type":"object","properties":{"path":{"type":"string","description":"file, or output:N"},…},
//!  "required":["path"]}}}
//!
//! read_file: Read a text file, or a range of its lines.
//!   path (file, or output:N), start_line?, end_line?
//! ```
//!
//! Only what Ollama hands on to templates is used: `type`, `properties`, `required`, `description`, `enum`; limits stand in the
//! description. Names are lower case with an underscore and no common words, since a server may look for them in
//! running text. Order is preference: small models weigh it.
//!
//! Limits: `schemas` at most 3,200 bytes and `describe` at most 1,800, so that a first request stays within 5,000.
//!
//! Invariant: no name is the beginning of another, and no alias is a name or the alias of a second tool.
//! Invariant: the text of one set never changes within a version: it is part of the cached prompt prefix.

use crate::json::Writer;

/// Which tools are offered.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Set {
    /// All of them.
    Standard,
    /// For models below 10B parameters: without `apply_patch`, whose format they rarely get right.
    Lean,
    /// Those that only look.
    Reading,
}

/// Which call a row becomes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Which {
    List,
    Read,
    Search,
    Write,
    Replace,
    Patch,
    Run,
    Finish,
}

/// One row.
#[derive(Debug)]
pub(super) struct Tool {
    pub(super) which: Which,
    pub(super) name: &'static str,
    pub(super) description: &'static str,
    pub(super) arguments: &'static [Argument],
    /// A right call's arguments, shown when one was wrong.
    pub(super) example: &'static str,
    /// Other names, folded (`fold`), a blank between them.
    pub(super) aliases: &'static str,
}

/// One argument.
#[derive(Debug)]
pub(super) struct Argument {
    pub(super) name: &'static str,
    pub(super) kind: Kind,
    pub(super) required: bool,
    pub(super) description: &'static str,
    /// Other names, folded (`fold`), a blank between them.
    pub(super) aliases: &'static str,
}

/// What an argument holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    /// Any string.
    Text,
    /// A string without NUL: it goes to the operating system.
    Name,
    /// A whole number, not negative.
    Count,
    /// A boolean.
    Flag,
    /// One of these strings.
    Choice(&'static [&'static str]),
}

impl Kind {
    /// The JSON Schema type.
    pub(super) fn schema_type(self) -> &'static str {
        match self {
            Kind::Text | Kind::Name | Kind::Choice(_) => "string",
            Kind::Count => "integer",
            Kind::Flag => "boolean",
        }
    }
}

const PATH_ALIASES: &str =
    "filepath filename file targetfile absolutepath relativepath relativeworkspacepath";

const fn required(
    name: &'static str,
    kind: Kind,
    description: &'static str,
    aliases: &'static str,
) -> Argument {
    Argument {
        name,
        kind,
        required: true,
        description,
        aliases,
    }
}

const fn optional(
    name: &'static str,
    kind: Kind,
    description: &'static str,
    aliases: &'static str,
) -> Argument {
    Argument {
        name,
        kind,
        required: false,
        description,
        aliases,
    }
}

pub(super) static TOOLS: &[Tool] = &[
    Tool {
        which: Which::List,
        name: "list_files",
        description: "List a folder as a tree.",
        arguments: &[
            optional(
                "path",
                Kind::Name,
                "folder or glob, default: all",
                "pattern glob globpattern dir directory folder dirpath directorypath folderpath filepath targetdirectory",
            ),
            optional("depth", Kind::Count, "levels, default 3", "maxdepth"),
            optional(
                "max_entries",
                Kind::Count,
                "default 200",
                "limit maxresults",
            ),
            optional(
                "hidden",
                Kind::Flag,
                "dot files too",
                "showhidden includehidden all",
            ),
        ],
        example: r#"{"path":"src"}"#,
        aliases: "ls dir tree listdirectory listdir listfolder listallfiles listfile glob globfiles findfiles findfile filesearch",
    },
    Tool {
        which: Which::Read,
        name: "read_file",
        description: "Read a text file, or a range of its lines (with numbers).",
        arguments: &[
            required(
                "path",
                Kind::Name,
                "file, or output:N of a command",
                PATH_ALIASES,
            ),
            optional(
                "start_line",
                Kind::Count,
                "from 1",
                "linestart fromline from",
            ),
            optional("end_line", Kind::Count, "included", "lineend toline to"),
        ],
        example: r#"{"path":"src/main.rs"}"#,
        aliases: "cat read view viewfile openfile open getfile showfile readtextfile readfilecontent readfilecontents",
    },
    Tool {
        which: Which::Search,
        name: "search_text",
        description: "Find lines by regular expression.",
        arguments: &[
            required(
                "pattern",
                Kind::Text,
                "",
                "query regex regexp expression search searchterm searchstring searchpattern text string needle",
            ),
            optional(
                "path",
                Kind::Name,
                "folder, file, glob or output:N",
                "dir directory folder dirpath directorypath folderpath filepath file targetdirectory include includepattern glob",
            ),
            optional(
                "literal",
                Kind::Flag,
                "plain text",
                "fixedstrings fixedstring fixed plain isliteral",
            ),
            optional(
                "hidden",
                Kind::Flag,
                "dot files too",
                "showhidden includehidden",
            ),
            optional(
                "max_results",
                Kind::Count,
                "default 50",
                "limit maxcount maxmatches headlimit",
            ),
        ],
        example: r#"{"pattern":"TODO","path":"src"}"#,
        aliases: "grep rg ripgrep search searchfiles searchfile searchcode searchcontent searchfilecontent codesearch grepsearch textsearch greptool find findtext findinfiles searchincode",
    },
    Tool {
        which: Which::Write,
        name: "write_file",
        description: "Create a file, or replace a whole one you have read.",
        arguments: &[
            required("path", Kind::Name, "", PATH_ALIASES),
            required(
                "content",
                Kind::Text,
                "complete, nothing left out",
                "contents text filetext filecontent filecontents data body newcontent",
            ),
        ],
        example: r#"{"path":"notes.txt","content":"first line\nsecond line\n"}"#,
        aliases: "write createfile create newfile savefile save writetofile overwritefile writefilecontent",
    },
    Tool {
        which: Which::Replace,
        name: "replace_text",
        description: "Replace one passage of a file. Best for changes.",
        arguments: &[
            required("path", Kind::Name, "", PATH_ALIASES),
            required(
                "old_text",
                Kind::Text,
                "copied exactly, without line numbers; must occur once",
                "oldstring oldstr old search searchtext oldcontent find original",
            ),
            required(
                "new_text",
                Kind::Text,
                "",
                "newstring newstr new replace replacement replacetext newcontent replacewith",
            ),
        ],
        example: r#"{"path":"src/main.rs","old_text":"let n = 1;","new_text":"let n = 2;"}"#,
        aliases: "edit editfile strreplace replace searchreplace searchandreplace replaceinfile strreplaceeditor strreplacebasededittool replacestring replacestringinfile modifyfile updatefile",
    },
    Tool {
        which: Which::Patch,
        name: "apply_patch",
        description: "Change several places or files at once: all hunks or none.",
        arguments: &[
            required(
                "patch",
                Kind::Text,
                "unified diff or *** Begin Patch; hunks are found by their lines, not by numbers",
                "diff input patchtext patchcontent unifieddiff changes content text",
            ),
            optional("path", Kind::Name, "", PATH_ALIASES),
        ],
        example: r#"{"patch":"--- a/f.txt\n+++ b/f.txt\n@@\n line before\n-old line\n+new line\n"}"#,
        aliases: "patch applydiff patchfile applypatches gitapply",
    },
    Tool {
        which: Which::Run,
        name: "run_command",
        description: "Run a shell command. No keyboard input.",
        arguments: &[
            required(
                "command",
                Kind::Name,
                "",
                "cmd commandline shellcommand script input",
            ),
            optional(
                "cwd",
                Kind::Name,
                "folder",
                "workdir workingdir workingdirectory directory dir path",
            ),
            optional(
                "timeout_seconds",
                Kind::Count,
                "",
                "timeoutsec timeoutsecs timeouts",
            ),
        ],
        example: r#"{"command":"cargo test"}"#,
        aliases: "bash shell sh exec execute run terminal executecommand executebash execcommand runshellcommand runterminalcmd runterminalcommand runinterminal shellcommand shellexec runshell runbash bashcommand localshell command executeshell executeshellcommand",
    },
    Tool {
        which: Which::Finish,
        name: "finish_task",
        description: "End the task. Call it alone.",
        arguments: &[
            required(
                "status",
                Kind::Choice(&["done", "blocked", "failed"]),
                "",
                "state",
            ),
            required(
                "response",
                Kind::Text,
                "answer for the user",
                "message answer result summary text finalanswer output content",
            ),
        ],
        example: r#"{"status":"done","response":"The test passes now."}"#,
        aliases: "finish done complete completetask taskcomplete taskdone attemptcompletion submit finalanswer final endtask exit",
    },
];

/// The rows of a set.
fn rows(set: Set) -> impl Iterator<Item = &'static Tool> {
    TOOLS.iter().filter(move |tool| match set {
        Set::Standard => true,
        Set::Lean => tool.which != Which::Patch,
        Set::Reading => matches!(tool.which, Which::List | Which::Read | Which::Search),
    })
}

/// The names of a set, in order of preference.
pub fn names(set: Set) -> Vec<&'static str> {
    rows(set).map(|tool| tool.name).collect()
}

/// A name as compared: lower case, without `_`, `-` and blanks. `Read_File`, `readFile` and `read-file` are one name.
pub(super) fn fold(name: &str) -> String {
    name.chars()
        .filter(|c| !matches!(c, '_' | '-' | ' '))
        .flat_map(char::to_lowercase)
        .collect()
}

/// Whether a folded name is among the aliases.
pub(super) fn is_alias(aliases: &str, folded: &str) -> bool {
    aliases.split(' ').any(|alias| alias == folded)
}

/// The `tools` array for a request, as JSON text.
pub fn schemas(set: Set) -> String {
    let mut json = Writer::new();
    json.begin_array();
    for tool in rows(set) {
        json.begin_object().key("type").string("function");
        json.key("function").begin_object();
        json.key("name").string(tool.name);
        json.key("description").string(tool.description);
        json.key("parameters").begin_object();
        json.key("type").string("object");
        json.key("properties").begin_object();
        for argument in tool.arguments {
            json.key(argument.name).begin_object();
            json.key("type").string(argument.kind.schema_type());
            if let Kind::Choice(words) = argument.kind {
                json.key("enum").begin_array();
                words.iter().for_each(|word| {
                    json.string(word);
                });
                json.end_array();
            }
            if !argument.description.is_empty() {
                json.key("description").string(argument.description);
            }
            json.end_object();
        }
        json.end_object();
        json.key("required").begin_array();
        for argument in tool.arguments.iter().filter(|argument| argument.required) {
            json.string(argument.name);
        }
        json.end_array().end_object().end_object().end_object();
    }
    json.end_array();
    // The writer only ever holds UTF-8: table texts and its own punctuation.
    String::from_utf8(json.finish()).unwrap_or_default()
}

/// The tools in words, for models that are told of them in the system message: the form of a call, then each tool.
pub fn describe(set: Set) -> String {
    let mut text = String::from(
        "Tools. To call one, write exactly this form and stop:\n\
         <function=read_file>\n<parameter=path>\nsrc/main.rs\n</parameter>\n</function>\n\
         Values are plain text, not JSON. `?` marks what may be left out.\n",
    );
    for tool in rows(set) {
        text.push_str(&format!("- {}: {}\n  ", tool.name, tool.description));
        for (i, argument) in tool.arguments.iter().enumerate() {
            let comma = if i == 0 { "" } else { ", " };
            let mark = if argument.required { "" } else { "?" };
            text.push_str(&format!("{comma}{}{mark}", argument.name));
            match argument.kind {
                Kind::Choice(words) => text.push_str(&format!(" ({})", words.join("|"))),
                Kind::Text | Kind::Name | Kind::Count | Kind::Flag => {
                    if !argument.description.is_empty() {
                        text.push_str(&format!(" ({})", argument.description));
                    }
                }
            }
        }
        text.push('\n');
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_name_means_one_tool_and_one_argument() {
        let mut names: Vec<String> = TOOLS.iter().map(|tool| fold(tool.name)).collect();
        names.extend(
            TOOLS
                .iter()
                .flat_map(|tool| tool.aliases.split(' ').map(ToString::to_string)),
        );
        unique(&names);
        for tool in TOOLS {
            let own = tool.arguments.iter().map(|argument| fold(argument.name));
            let aliases = tool
                .arguments
                .iter()
                .flat_map(|argument| argument.aliases.split(' '));
            let names: Vec<String> = own.chain(aliases.map(ToString::to_string)).collect();
            unique(&names);
        }
    }

    #[track_caller]
    fn unique(names: &[String]) {
        for (i, name) in names.iter().enumerate() {
            assert_eq!(*name, fold(name), "an alias is not folded");
            assert!(!names[..i].contains(name), "{name} stands twice");
        }
    }
}
