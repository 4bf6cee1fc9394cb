//! A question on the terminal: what is asked is shown whole, then one line is read. Called by `run` in a thread of its own, and by
//! `zcoder tool`. The terminal is the controlling one, not standard input: `git diff | zcoder -p …` can still ask.
//!
//! ```text
//! run this command?
//!   folder   .
//!   limit    120 s
//!   note     names a file changed in this session: test.sh
//!   part     sh test.sh: no rule allows it
//!   part     tail -5: only reads what it is given
//!   rule     allow sh test.sh
//!   | sh test.sh | tail -5
//! y yes, once · a exactly this, for this run · r rule, for this run · k keep rule · n no · or a reason for the no:
//! ```
//!
//! Refused: nothing typed before the question was shown counts (the device's input queue is emptied after it was written, before
//! its last line is), and Enter alone means no.
//!
//! Invariant: a yes is `y` or `yes`, or one of the letters `a` (`always`), `r` and `k` where it is among the answers shown, whole and alone on
//! its line; everything else is a no.
//! Invariant: no character of the question is left out; what is too wide goes on in the next line behind `\`, and nothing
//! of it can move the cursor (`text::visible`).

use crate::protocol::{CommandPart, Decision, Offers, Question};
use crate::sys::tty::Tty;
use crate::sys::{Cancel, poll};
use crate::text;
use std::time::{Duration, Instant};

/// Columns when the terminal does not say.
const COLUMNS: u16 = 80;
/// Fewer would wrap our own words.
const MIN_COLUMNS: u16 = 40;

/// How long the signal may take that says that the terminal went away.
const HANG_UP: Duration = Duration::from_secs(1);

/// Parts that are listed one by one; the whole text follows anyway.
const PARTS: usize = 20;
/// Characters of a part's text in that list.
const PART_CHARS: usize = 100;

/// Asks, and reads the answer. `None`: the switch was turned meanwhile.
pub fn ask(tty: &Tty, question: &Question, cancel: &Cancel) -> Option<Decision> {
    let columns = tty.size().map_or(COLUMNS, |(columns, _)| columns);
    let shown = render(question, usize::from(columns.max(MIN_COLUMNS)));
    // Emptied between the question and its last line: what is typed after the answers are named counts, nothing before.
    let answer = tty
        .write(&shown)
        .and_then(|()| tty.discard_input())
        .and_then(|()| tty.write(&answers(question)))
        .and_then(|()| tty.read_line(cancel));
    if let Ok(Some(line)) = answer {
        return Some(read(&line, question));
    }
    // No Enter ended the line.
    let is_there = answer.is_ok() && tty.write("\n").is_ok();
    if is_there {
        // End of input: somebody is there and does not want to answer.
        let deny = Decision::Deny { reason: None };
        return (!cancel.is_cancelled()).then_some(deny);
    }
    // The terminal went away. That comes as a signal too, which says more; only where nobody hears it the question has no answer.
    let heard = poll::cancelled(cancel, Instant::now() + HANG_UP);
    (!heard).then_some(Decision::Nobody)
}

/// The last line, behind which the answer is typed.
pub fn answers(question: &Question) -> String {
    let offers = offers(question);
    let mut line = String::from("y yes, once");
    if offers.exact {
        line.push_str(match question {
            Question::Edit { .. } => " · a this file, for this run",
            Question::Command { .. } | Question::Loop { .. } | Question::Cloud { .. } => {
                " · a exactly this, for this run"
            }
        });
    }
    if offers.session {
        line.push_str(" · r rule, for this run");
    }
    if offers.keep {
        line.push_str(" · k keep rule");
    }
    line.push_str(" · n no · or a reason for the no: ");
    line
}

/// What else a yes may be.
fn offers(question: &Question) -> Offers {
    match question {
        Question::Command { offers, .. } => offers.clone(),
        Question::Edit { .. } => Offers {
            exact: true,
            ..Offers::default()
        },
        Question::Loop { .. } | Question::Cloud { .. } => Offers::default(),
    }
}

/// What a line means as an answer to this question.
pub fn read(line: &str, question: &Question) -> Decision {
    let offers = offers(question);
    match line.trim().to_ascii_lowercase().as_str() {
        "y" | "yes" => Decision::Once,
        "a" | "always" if offers.exact => Decision::Session,
        "r" if offers.session => Decision::SessionRule,
        "k" if offers.keep => Decision::KeptRule,
        "" | "n" | "no" => Decision::Deny { reason: None },
        _ => Decision::Deny {
            reason: Some(text::plain(line.trim()).into_owned()),
        },
    }
}

/// The question as lines of at most `columns` characters.
pub fn render(question: &Question, columns: usize) -> String {
    let mut out = String::from("\n");
    let body = match question {
        Question::Command {
            command,
            cwd,
            timeout_seconds,
            wrapper,
            parts,
            reasons,
            notes,
            offers,
        } => {
            out.push_str("run this command?\n");
            fact(&mut out, "folder", cwd, columns);
            fact(&mut out, "limit", &format!("{timeout_seconds} s"), columns);
            if !wrapper.is_empty() {
                fact(&mut out, "wrapper", &wrapper.join(" "), columns);
            }
            for note in notes {
                fact(&mut out, "note", note, columns);
            }
            list_parts(&mut out, parts, columns);
            for reason in reasons {
                fact(&mut out, "asks", reason, columns);
            }
            for rule in &offers.rules {
                fact(&mut out, "rule", rule, columns);
            }
            command
        }
        Question::Edit { path, diff, notes } => {
            out.push_str("make this change?\n");
            fact(&mut out, "file", path, columns);
            for note in notes {
                fact(&mut out, "note", note, columns);
            }
            diff
        }
        Question::Loop { description } => {
            out.push_str("the model repeats itself: go on?\n");
            description
        }
        Question::Cloud { model, remote_host } => {
            out.push_str("the server forwards this model to another host: send it the prompt and the files it reads?\n");
            fact(&mut out, "model", model, columns);
            fact(&mut out, "host", remote_host, columns);
            ""
        }
    };
    if !body.is_empty() {
        for line in body.strip_suffix('\n').unwrap_or(body).split('\n') {
            wrap(&mut out, "  | ", "  \\ ", line, columns);
        }
    }
    out
}

/// What the rules say: in one line for a single command, else part by part.
fn list_parts(out: &mut String, parts: &[CommandPart], columns: usize) {
    if let [part] = parts {
        return fact(out, "asks", &part.ruling, columns);
    }
    for part in parts.iter().take(PARTS) {
        let text = part.text.replace('\n', "\\n");
        let line = format!("{}: {}", text::clip(&text, PART_CHARS), part.ruling);
        fact(out, "part", &line, columns);
    }
    if parts.len() > PARTS {
        fact(
            out,
            "part",
            &format!("and {} more", parts.len() - PARTS),
            columns,
        );
    }
}

fn fact(out: &mut String, label: &str, value: &str, columns: usize) {
    for (i, line) in value.split('\n').enumerate() {
        let first = if i == 0 { label } else { "" };
        wrap(
            out,
            &format!("  {first:<8} "),
            "  \\        ",
            line,
            columns,
        );
    }
}

/// One line behind `first`, its rest behind `next`. Made visible here too: this is the last place before the terminal.
fn wrap(out: &mut String, first: &str, next: &str, line: &str, columns: usize) {
    let shown = text::visible(line);
    let room = columns.saturating_sub(first.chars().count()).max(1);
    let mut rest: &str = &shown;
    let mut lead = first;
    loop {
        let cut = rest
            .char_indices()
            .nth(room)
            .map_or(rest.len(), |(at, _)| at);
        out.push_str(lead);
        out.push_str(&rest[..cut]);
        out.push('\n');
        rest = &rest[cut..];
        lead = next;
        if rest.is_empty() {
            return;
        }
    }
}
