//! `zcoder man`: the manual page, as roff, from the same tables and texts as `zcoder help`.
//!
//! ```text
//! $ zcoder man | man -l -
//! .SS Model and server
//! .TP
//! \fB\-m, \-\-model\fR \fINAME\fR
//! the model; without it the only one that has tools, …
//! ```
//!
//! Invariant: no text of ours reaches roff unescaped: backslashes, dashes, quotes, what lies outside of ASCII, and a dot or apostrophe
//! at the beginning of a line, where it would be a request.
//!
//! Read next: `config/help.rs`.

use crate::config::flags::{COMMANDS, FLAGS, Files, Group};
use crate::config::help::{self, TOPICS};
use std::fmt::Write as _;

/// All of it.
pub(super) fn page() -> String {
    let mut out = format!(
        ".TH ZCODER 1 \"\" \"zcoder {}\" \"User Commands\"\n\
         .SH NAME\n\
         zcoder \\- a coding agent in the terminal for local models\n\
         .SH SYNOPSIS\n\
         \\fBzcoder \\-p\\fR \\fITEXT\\fR [\\fIFLAGS\\fR]\n\
         .br\n\
         \\fBzcoder\\fR \\fICOMMAND\\fR [\\fIFLAGS\\fR]\n\
         .SH DESCRIPTION\n\
         A task is given in words; a model that runs on a machine of yours reads and edits the files\n\
         of one folder and runs the commands you approve, until the task is done.\n\
         .SH COMMANDS\n",
        env!("CARGO_PKG_VERSION")
    );
    for row in COMMANDS {
        match row.name {
            "" => entry(&mut out, row.words, "", row.about),
            name => entry(&mut out, name, row.words, row.about),
        }
    }
    out.push_str(".SH FLAGS\n");
    for &group in Group::ALL {
        let _ = writeln!(out, ".SS {}", escaped(group.title())); // writing to a String cannot fail
        for row in FLAGS.iter().filter(|row| row.group == group) {
            let short = row.short.map(|c| format!("-{c}, ")).unwrap_or_default();
            let value = row.takes.name().unwrap_or_default();
            let mut about = row.help.to_string();
            if !row.env.is_empty() {
                let _ = write!(about, ". Variable {}", row.env.join(", ")); // as above
            }
            if row.files != Files::None {
                let _ = write!(about, ". Setting {}", row.key()); // as above
            }
            entry(&mut out, &format!("{short}{}", row.long), &value, &about);
        }
    }
    for topic in TOPICS {
        let text = help::topic(topic.name).unwrap_or_default();
        let _ = writeln!(
            out,
            ".SH {}\n.nf\n.in 0",
            escaped(topic.name).to_uppercase()
        ); // as above
        for line in text.lines() {
            out.push_str(&line_of(line));
        }
        out.push_str(".in\n.fi\n");
    }
    out
}

/// `.TP`, a name in bold with what follows it, and an explanation.
fn entry(out: &mut String, name: &str, words: &str, about: &str) {
    // Writing to a String cannot fail.
    let _ = write!(out, ".TP\n\\fB{}\\fR", escaped(name));
    if !words.is_empty() {
        let _ = write!(out, " \\fI{}\\fR", escaped(words));
    }
    out.push('\n');
    out.push_str(&line_of(about));
}

fn line_of(text: &str) -> String {
    let guard = match text.starts_with(['.', '\'']) {
        true => "\\&",
        false => "",
    };
    format!("{guard}{}\n", escaped(text))
}

fn escaped(text: &str) -> String {
    let mut out = String::with_capacity(text.len() + text.len() / 8);
    for character in text.chars() {
        match character {
            '\\' => out.push_str("\\e"),
            '-' => out.push_str("\\-"),
            '\'' => out.push_str("\\(aq"),
            '`' => out.push_str("\\(ga"),
            '^' => out.push_str("\\(ha"),
            '~' => out.push_str("\\(ti"),
            ' '..='\x7e' => out.push(character),
            other => {
                let _ = write!(out, "\\[u{:04X}]", other as u32); // as above
            }
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::line_of;

    #[test]
    fn no_text_is_a_request() {
        for (text, expected) in [
            (".de x", "\\&.de x\n"),
            ("'ig", "\\&\\(aqig\n"),
            ("  .TP", "  .TP\n"),
            ("a\\fB-b'c`", "a\\efB\\-b\\(aqc\\(ga\n"),
            ("~^…", "\\(ti\\(ha\\[u2026]\n"),
            ("", "\n"),
        ] {
            assert_eq!(line_of(text), expected, "{text}");
        }
    }
}
