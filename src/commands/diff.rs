//! `zcoder diff [SESSION]`: what a session changed in the files of its workspace, in all, as a patch on standard output; with
//! `--revert FILE[:HUNK]` a part of it taken back.
//!
//! ```text
//! $ zcoder diff | git apply -R          takes all of it back, if git is to do it
//! $ zcoder diff --revert src/a.rs:2     takes the second hunk of src/a.rs back, after a question
//! ```
//!
//! On standard error: the session, the branch, each file with its lines and hunks, and what is not in the patch. On a terminal the
//! patch is made harmless; on a pipe its bytes are exact.
//!
//! Invariant: without `--revert` nothing is written.
//!
//! Read next: `undo/review.rs`.

use super::undo::Session;
use crate::config::{Id, Typed, UsageError};
use crate::headless::out::{exit, note, with_stdout};
use crate::text::{self, one_line};
use crate::undo::{self, Review};
use std::io::{self, IsTerminal, Write};

/// Prints or takes back; the exit code.
pub(super) fn run(typed: &Typed) -> Result<u8, UsageError> {
    let session = Session::open(typed)?;
    let Some(given) = typed.get(Id::Revert) else {
        if let Some(force) = typed.get(Id::Force) {
            return Err(UsageError::Needs {
                flag: force.source,
                needs: "--revert",
            });
        }
        let branch = undo::branch(session.workspace().root());
        let branch = branch.map_or(String::new(), |branch| format!(", branch {branch}"));
        return Ok(session.with(|past| {
            let review = past.review()?;
            note(&format!("session {}{}", past.id(), one_line(&branch)));
            Ok(print(&review))
        }));
    };
    let text = given.text()?;
    let (path, hunk) = match text
        .rsplit_once(':')
        .map(|(path, hunk)| (path, hunk.parse()))
    {
        Some((path, Ok(hunk))) => (path, Some(hunk)),
        Some((_, Err(_))) | None => (text, None),
    };
    if path.is_empty() {
        return Err(given.bad("a file, or a file and the number of a hunk: src/main.rs:2"));
    }
    session.step(typed, "undo", |past| past.revert(path, hunk))
}

fn print(review: &Review) -> u8 {
    for file in &review.files {
        note(&format!("  {}", one_line(&file.to_string())));
    }
    for text in &review.notes {
        note(&format!("  {}", one_line(text)));
    }
    if review.files.is_empty() {
        note("  no file differs from what it was when the session began");
    }
    with_stdout(|out| {
        match io::stdout().is_terminal() {
            true => out.write_all(text::visible(&text::repair(&review.patch)).as_bytes())?,
            false => out.write_all(&review.patch)?,
        }
        Ok(exit::DONE)
    })
}
