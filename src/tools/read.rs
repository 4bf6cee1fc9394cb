//! `read_file`: a text file whole, or a range of its lines with numbers. In: a path (or `output:N`, a kept command output) and two line
//! numbers. Out: text for the model, bounded, with everything said that is not as it stands on disk.
//!
//! ```text
//! whole   fn main() {}⏎                            as it is, nothing added
//! whole   EF BB BF a CR LF b CR LF                 [CRLF line ends are shown as LF; edits keep them]⏎a⏎b⏎
//! range   12⇥fn main() {⏎13⇥}⏎[lines 12-13; line 13 is the last]
//! ```
//!
//! A byte-order mark is not shown. Bytes that are not UTF-8 are shown as U+FFFD, counted, and said. CR LF is shown as LF when every
//! line ends so; in a mixed file CRs stay and that is said.
//!
//! Refused, with what to do: files above the limit (size, lines, an outline, a range to read), what is not text (named by its first bytes,
//! or for a NUL among the first 8,000), ranges that begin beyond the end.
//!
//! Limits: `Limits::read_bytes` for whole files and for ranges with their numbers; lines of a file that is too large are counted in its
//! first 256 MiB. A range is streamed (`range.rs`): memory holds what is shown.
//!
//! Invariant: only a file shown to its last byte counts as read (`seen.rs`).

use std::fs::File;
use std::io::{self, Read};

use crate::protocol::{Facts, ToolOutcome};
use crate::sha256::digest;
use crate::text;

use super::content::{BOM, LineEnds, not_text};
use super::edit::{clip, count_lines, line_numbers};
use super::outline::Outline;
use super::outputs::Outputs;
use super::range::{End, Range};
use super::seen::Seen;
use super::unified::line_ends;
use super::workspace::{Purpose, Refusal, WsPath};
use super::{Toolbox, done, failed, shown};

/// Lines of a file that is too large are counted so far.
const COUNTED_BYTES: u64 = 256 << 20;
const CHUNK: usize = 64 << 10;

/// Reads the whole file, or the lines from `start` to `end`.
pub(super) fn read(
    toolbox: &mut Toolbox,
    path: &str,
    start: Option<u64>,
    end: Option<u64>,
) -> Result<ToolOutcome, Refusal> {
    let lines = lines(start, end)?;
    let (file, name, place) = match path.strip_prefix("output:") {
        Some(number) => {
            let file = open_output(&toolbox.outputs, number)?;
            (file, path.to_string(), None)
        }
        None => {
            let path = toolbox.workspace.resolve(path, Purpose::Read)?;
            (path.open()?, path.shown().to_string(), Some(path))
        }
    };
    let mut source = Source { file, name, place };
    let (seen, limit) = (&mut toolbox.seen, toolbox.limits.read_bytes);
    let outcome = match lines {
        None => whole(&mut source, seen, limit),
        Some((first, last)) => range(&mut source, seen, limit, first, last),
    };
    outcome.map_err(|error| {
        Refusal(format!(
            "`{}` cannot be read: {error}. Use another file, or ask the user to mend this one.",
            shown(&source.name)
        ))
    })
}

/// First and last line, from 1, both included; `None`: all of them.
fn lines(start: Option<u64>, end: Option<u64>) -> Result<Option<(u64, u64)>, Refusal> {
    if start.is_none() && end.is_none() {
        return Ok(None);
    }
    let (first, last) = (start.unwrap_or(1), end.unwrap_or(u64::MAX));
    if first == 0 || last == 0 {
        let text = "lines count from 1. Call read_file again with start_line of at least 1.";
        return Err(Refusal(text.to_string()));
    }
    if last < first {
        return Err(Refusal(format!(
            "end_line {last} lies before start_line {first}. Call read_file again with the smaller number as start_line."
        )));
    }
    Ok(Some((first, last)))
}

pub(super) fn open_output(outputs: &Outputs, number: &str) -> Result<File, Refusal> {
    match number.parse() {
        Ok(number) => outputs.open(number),
        Err(_) => Err(Refusal(format!(
            "`output:{}` names no command output. Write output: and the number that run_command gave.",
            clip(number, 60)
        ))),
    }
}

/// An opened file.
struct Source {
    file: File,
    /// Foreign text.
    name: String,
    /// In the workspace, unless it is an output.
    place: Option<WsPath>,
}

fn whole(source: &mut Source, seen: &mut Seen, limit: u64) -> io::Result<ToolOutcome> {
    let size = source.file.metadata()?.len();
    let mut bytes = Vec::new();
    // The size is a hint only: a file can grow, and files of /proc have none.
    (&source.file)
        .take(limit.saturating_add(1))
        .read_to_end(&mut bytes)?;
    if let Some(what) = not_text(&bytes) {
        return Ok(refuse_binary(source, what, size));
    }
    if bytes.len() as u64 > limit {
        return too_large(source, bytes, limit);
    }
    if let Some(place) = &source.place {
        seen.whole(place.full(), digest(&bytes));
    }
    if bytes.is_empty() {
        return Ok(empty(source));
    }
    Ok(shows(source, shown_whole(&bytes), bytes.len()))
}

/// The text of a file, with a line in front for what is not as on disk.
fn shown_whole(bytes: &[u8]) -> String {
    let bytes = bytes.strip_prefix(BOM).unwrap_or(bytes);
    let ends = LineEnds::of(bytes);
    let mut notes = Vec::new();
    let body = text::repair(bytes);
    let body = match ends {
        LineEnds::CrLf => {
            notes.push("CRLF line ends are shown as LF; edits keep them".to_string());
            body.replace("\r\n", "\n")
        }
        LineEnds::Mixed => {
            notes.push("some lines end in CRLF, some in LF; edits keep each as it is".to_string());
            body.into_owned()
        }
        LineEnds::Lf | LineEnds::None => body.into_owned(),
    };
    notes.extend(odd_note(bytes));
    match notes.is_empty() {
        true => body,
        false => format!("[{}]\n{body}", notes.join("; ")),
    }
}

fn odd_note(bytes: &[u8]) -> Option<String> {
    let odd: usize = bytes.utf8_chunks().map(|chunk| chunk.invalid().len()).sum();
    let (noun, verb) = if odd == 1 {
        ("byte", "is")
    } else {
        ("bytes", "are")
    };
    (odd > 0).then(|| {
        format!(
            "{} {noun} that {verb} not UTF-8 {verb} shown as \u{fffd}; edits keep them where they do not touch them",
            text::grouped(odd as u64)
        )
    })
}

fn too_large(source: &mut Source, head: Vec<u8>, limit: u64) -> io::Result<ToolOutcome> {
    let mut counted = head.len() as u64;
    let mut ends = line_ends(&head);
    let mut last = head.last().copied();
    let mut outline = Outline::new(&source.name);
    outline.feed(&head);
    let mut chunk = vec![0; CHUNK];
    while counted < COUNTED_BYTES {
        let n = read_some(&mut source.file, &mut chunk)?;
        if n == 0 {
            break;
        }
        counted += n as u64;
        ends += line_ends(&chunk[..n]);
        outline.feed(&chunk[..n]);
        last = Some(chunk[n - 1]);
    }
    let size = source.file.metadata()?.len().max(counted);
    let more = if size > counted { "more than " } else { "" };
    let lines = ends + u64::from(last != Some(b'\n'));
    // A range that fits with its line numbers, by the average line.
    let fits = (limit / (counted / lines.max(1) + 8)).clamp(1, 400);
    let outline = match outline.finish() {
        None => " ".to_string(),
        Some((lines, all)) if lines.lines().count() as u64 == all => {
            format!(" Its outline:\n{lines}")
        }
        Some((lines, all)) => format!(
            " {} of the {} lines of its outline:\n{lines}",
            lines.lines().count(),
            text::grouped(all)
        ),
    };
    Ok(failed(format!(
        "`{}` is too large to read whole: {} bytes in {more}{}; at most {} bytes are shown at once.{outline}\
         Read a part with start_line and end_line (start_line=1, end_line={fits} fits), \
         or find the place first with search_text.",
        shown(&source.name),
        text::grouped(size),
        count_lines(lines),
        text::grouped(limit),
    )))
}

fn read_some(file: &mut File, chunk: &mut [u8]) -> io::Result<usize> {
    loop {
        match file.read(chunk) {
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            result => return result,
        }
    }
}

fn range(
    source: &mut Source,
    seen: &mut Seen,
    limit: u64,
    first: u64,
    last: u64,
) -> io::Result<ToolOutcome> {
    let mut range = Range::new(first, last, limit);
    let mut chunk = vec![0; CHUNK];
    let mut read = 0;
    loop {
        let n = read_some(&mut source.file, &mut chunk)?;
        if let Some(what) = not_text(&chunk[..n]).filter(|_| read == 0) {
            let size = source.file.metadata()?.len();
            return Ok(refuse_binary(source, what, size));
        }
        read += n;
        if n == 0 || !range.feed(&chunk[..n]) {
            break;
        }
    }
    let (bytes, end) = match range.finish() {
        Ok(found) => found,
        Err(0) => return Ok(empty(source)),
        Err(lines) => {
            return Ok(failed(format!(
                "`{}` has {}, so it has no line {first}. Call read_file again with a smaller start_line.",
                shown(&source.name),
                count_lines(lines)
            )));
        }
    };
    if let (Some(place), 1, End::File) = (&source.place, first, end) {
        seen.whole(place.full(), digest(&bytes));
    }
    let text = shown_range(&bytes, end, first, limit);
    Ok(shows(source, text, bytes.len()))
}

fn empty(source: &Source) -> ToolOutcome {
    shows(
        source,
        format!("[{} is empty: 0 bytes]", shown(&source.name)),
        0,
    )
}

fn shows(source: &Source, text: String, bytes: usize) -> ToolOutcome {
    let (path, bytes) = (source.name.clone(), bytes as u64);
    done(text, Facts::Read { path, bytes })
}

/// Each line with its number, then in brackets which lines these are and what is not shown as on disk.
fn shown_range(bytes: &[u8], end: End, first: u64, limit: u64) -> String {
    let mut out = String::with_capacity(bytes.len() + bytes.len() / 4);
    let mut number = first;
    for line in bytes.split_inclusive(|b| *b == b'\n') {
        let bom = if number == 1 { BOM } else { b"" };
        let line = line.strip_prefix(bom).unwrap_or(line);
        let line = line.strip_suffix(b"\n").unwrap_or(line);
        let line = line.strip_suffix(b"\r").unwrap_or(line);
        out.push_str(&format!("{number}\t{}\n", text::repair(line)));
        number += 1;
    }
    let last = number - 1;
    let limit = text::grouped(limit);
    let after = match end {
        End::File => format!("line {last} is the last"),
        End::More => "more lines follow".to_string(),
        End::Cut => {
            format!("cut: at most {limit} bytes are shown at once; go on with start_line={number}")
        }
        End::CutLine => format!(
            "the line is cut: at most {limit} bytes are shown at once; see the rest of it with run_command and cut -c"
        ),
    };
    let lines = line_numbers(first, last);
    out.push_str(&format!("[{lines}; {after}"));
    if let LineEnds::CrLf | LineEnds::Mixed = LineEnds::of(bytes) {
        out.push_str("; line ends are CRLF, edits keep them");
    }
    if let Some(odd) = odd_note(bytes) {
        out.push_str("; ");
        out.push_str(&odd);
    }
    out.push(']');
    out
}

fn refuse_binary(source: &Source, what: &str, size: u64) -> ToolOutcome {
    failed(format!(
        "`{}` is {what} ({} bytes), and read_file shows text only. \
         Use run_command with a program that understands it, or work without its content.",
        shown(&source.name),
        text::grouped(size)
    ))
}
