//! `write_file`: a new file, or a deliberate replacement of a whole one. In: a path and the complete content. Out: an [`Edit`], or a
//! refusal written for the model.
//!
//! ```text
//! new.txt  "a\n"                 → create, folders on the way too
//! old.txt  not read in full      → refused: read it first
//! old.txt  saved by an editor    → refused: read it again
//! old.txt  "…rest unchanged…"    → refused, naming the line, unless the old file has that line
//! crlf.txt "a\nb\n"              → a\r\nb\r\n, said
//! bom.txt  "a\n"                 → EF BB BF a\n
//! ```
//!
//! A replacement keeps what a person would miss and a model does not see: the byte-order mark, CRLF where every line ended so and the
//! content has none, and the line end at the end of the file (servers cut it from arguments). Each is said in the result.
//! Content that brings U+FFFD where the old file has bytes that are not UTF-8 is refused: it would destroy them.
//!
//! Invariant: lines that stay the same are not part of a splice, so neither of the journal.

use crate::diff::{Splice, changes};
use crate::protocol::{Facts, ToolOutcome};

use super::content::{BOM, LineEnds};
use super::edit::{Before, Edit, clip, count_lines};
use super::seen::{Known, Seen};
use super::stub::first_stub;
use super::unified::line_ends;
use super::workspace::{Purpose, Workspace};
use super::{WsPath, done, failed, shown};

/// Works out a write.
pub(super) fn write(
    workspace: &Workspace,
    seen: &Seen,
    path: &str,
    content: &str,
) -> Result<Edit, ToolOutcome> {
    let path = workspace.resolve(path, Purpose::Write)?;
    let before = Before::load(&path)?;
    let name = shown(path.shown());
    let old = before.as_ref().map_or(&b""[..], |before| &before.bytes);
    if before.is_some() && seen.is_held(path.full()) {
        return Err(failed(format!(
            "`{name}` was not written: a patch for it was refused, and rewriting the whole file is no way around that. Read the file \
             with read_file, then send a corrected patch, or change the passage with replace_text."
        )));
    }
    if let Some(text) = before
        .as_ref()
        .and_then(|before| unread(&path, &name, before, seen))
    {
        return Err(failed(text));
    }
    if let Some((number, line)) = first_stub(content, old) {
        return Err(failed(format!(
            "`{name}` was not written: line {number} of the content stands for text that was left out (`{}`). Call write_file \
             again with every line of the file, or change only a part with replace_text.",
            clip(line.trim(), 100)
        )));
    }
    if content.contains('\u{fffd}') && std::str::from_utf8(old).is_err() {
        return Err(failed(format!(
            "`{name}` was not written: it holds bytes that are not UTF-8, which were shown as U+FFFD, and this content would \
             destroy them. Change only the lines that need it with replace_text."
        )));
    }
    let Some(before) = before else {
        return Ok(create(path, &name, content));
    };
    let (new, kept) = in_style(content, &before.bytes);
    if new == before.bytes {
        return Err(done(
            format!("`{name}` already has exactly this content; nothing was written."),
            Facts::None,
        ));
    }
    let splices = difference(&before.bytes, &new);
    Ok(Edit::new(path, Some(before), splices, |diff| {
        format!(
            "replaced `{name}`: {} added, {} removed{kept}",
            count_lines(diff.added),
            count_lines(diff.removed)
        )
    }))
}

fn create(path: WsPath, name: &str, content: &str) -> Edit {
    let open = !content.is_empty() && !content.ends_with('\n');
    let lines = line_ends(content.as_bytes()) + u64::from(open);
    let end = if open {
        "; its last line has no line end"
    } else {
        ""
    };
    let splice = Splice {
        range: 0..0,
        new: content.as_bytes().to_vec(),
    };
    Edit::new(path, None, vec![splice], |_| {
        format!("created `{name}`: {}{end}", count_lines(lines))
    })
}

/// Why a file that exists must be read first, if it must.
fn unread(path: &WsPath, name: &str, before: &Before, seen: &Seen) -> Option<String> {
    if before.bytes.is_empty() {
        return None;
    }
    match before.known(path, seen) {
        Known::Current => None,
        Known::NotInFull => Some(format!(
            "`{name}` exists and was not read in full in this session, so it was not replaced. Read it with read_file first, or \
             change only a part with replace_text."
        )),
        Known::Stale => Some(format!(
            "`{name}` changed on disk after you read it, so it was not replaced. Read it again with read_file and keep what is \
             new in it."
        )),
    }
}

/// The content in the style of the old file, and what was kept, for the result.
fn in_style(content: &str, old: &[u8]) -> (Vec<u8>, String) {
    let mut kept = Vec::new();
    let mut new = Vec::with_capacity(content.len() + content.len() / 16);
    if old.starts_with(BOM) && !content.as_bytes().starts_with(BOM) {
        new.extend_from_slice(BOM);
        kept.push("byte-order mark kept");
    }
    let mut content = content.to_string();
    if old.ends_with(b"\n") && !content.is_empty() && !content.ends_with('\n') {
        content.push('\n');
        kept.push("line end at the end kept");
    }
    let crlf = LineEnds::of(old) == LineEnds::CrLf;
    if crlf && LineEnds::of(content.as_bytes()) == LineEnds::Lf {
        content = content.replace('\n', "\r\n");
        kept.push("CRLF line ends kept");
    }
    new.extend_from_slice(content.as_bytes());
    let kept = kept.iter().map(|what| format!("; {what}")).collect();
    (new, kept)
}

/// The lines that differ, each run of them from its first byte that differs to the last.
fn difference(old: &[u8], new: &[u8]) -> Vec<Splice> {
    let splices = changes(old, new).into_iter().map(|change| {
        let (old, new) = (&old[change.old.clone()], &new[change.new]);
        let front = old.iter().zip(new).take_while(|(a, b)| a == b).count();
        let back = old[front..]
            .iter()
            .rev()
            .zip(new[front..].iter().rev())
            .take_while(|(a, b)| a == b)
            .count();
        Splice {
            range: change.old.start + front..change.old.end - back,
            new: new[front..new.len() - back].to_vec(),
        }
    });
    splices.collect()
}
