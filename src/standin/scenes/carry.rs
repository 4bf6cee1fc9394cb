//! How records travel: each function takes the lines of an answer and gives what is done on the socket. The table's scenes are made of them.
//!
//! ```text
//! lines          {"message":…}\n  {"message":…,"done":true}\n
//! chunked        HTTP/1.1 200 OK … Transfer-Encoding: chunked ∙ 5a\r\n{"message":…}\n\r\n ∙ … ∙ 0\r\n\r\n       (∙ a write of its own)
//! ten_chunks     each record over ten chunks
//! cut            half the records, half a chunk, the end of the connection
//! bad_size 0x4   … ∙ 0x4\r\nxxxx\r\n
//! ```
//!
//! The framing that is bent here is that of RFC 9112 6 and 7; what a client has to make of each case stands in `fixtures/standin/scenes.txt`.
//! Not here: an answer before the request was read, since the server below reads requests first (`tests/http` has that case).
//!
//! Limits: `endless_line` stops after 40 MiB.
//!
//! Invariant: the same lines give the same steps.
//!
//! Next: `table.rs`, the names; `model/script.rs`, which plays steps.

use crate::json::quote;
use crate::model::script::Step;
use std::time::Duration;

pub(super) type Lines<'a> = &'a [Vec<u8>];

pub(super) const HEAD: &str =
    "HTTP/1.1 200 OK\r\nContent-Type: application/x-ndjson\r\nTransfer-Encoding: chunked\r\n\r\n";
const LAST: &[u8] = b"0\r\n\r\n";

pub(super) fn send(bytes: impl AsRef<[u8]>) -> Step {
    Step::Send(bytes.as_ref().to_vec())
}

fn chunk(bytes: &[u8]) -> Vec<u8> {
    let mut out = format!("{:x}\r\n", bytes.len()).into_bytes();
    out.extend_from_slice(bytes);
    out.extend_from_slice(b"\r\n");
    out
}

/// Head, `chunks` in one write each, the last chunk.
fn in_chunks<'a>(chunks: impl Iterator<Item = &'a [u8]>) -> Vec<Step> {
    let mut steps = vec![send(HEAD)];
    steps.extend(chunks.map(|bytes| Step::Send(chunk(bytes))));
    steps.push(send(LAST));
    steps
}

/// The ordinary way: one record, one chunk, one write.
pub(super) fn chunked(lines: Lines<'_>) -> Vec<Step> {
    in_chunks(lines.iter().map(Vec::as_slice))
}

/// So many bytes a chunk.
pub(super) fn pieces(lines: Lines<'_>, bytes: usize) -> Vec<Step> {
    in_chunks(lines.concat().chunks(bytes))
}

/// Chunks of 1 to 40 bytes. The seed is what is cut (FNV-1a), so every answer is cut in its own way, and always in the same.
pub(super) fn random_cuts(lines: Lines<'_>) -> Vec<Step> {
    let all = lines.concat();
    let mut state = all.iter().fold(0xcbf2_9ce4_8422_2325_u64, |hash, byte| {
        (hash ^ u64::from(*byte)).wrapping_mul(0x0100_0000_01b3)
    });
    let mut chunks = Vec::new();
    let mut rest = &all[..];
    while !rest.is_empty() {
        state = state
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1);
        let size = usize::try_from(state >> 33).unwrap_or(0) % 40 + 1;
        let (first, after) = rest.split_at(size.min(rest.len()));
        chunks.push(first);
        rest = after;
    }
    in_chunks(chunks.into_iter())
}

pub(super) fn one_byte_writes(lines: Lines<'_>) -> Vec<Step> {
    let mut all = HEAD.as_bytes().to_vec();
    all.extend(lines.iter().flat_map(|line| chunk(line)));
    all.extend_from_slice(LAST);
    all.chunks(1).map(send).collect()
}

pub(super) fn ten_chunks(lines: Lines<'_>) -> Vec<Step> {
    let tenths = |line: &'_ Vec<u8>| line.len().div_ceil(10);
    in_chunks(lines.iter().flat_map(|line| line.chunks(tenths(line))))
}

pub(super) fn chunk_forms(lines: Lines<'_>) -> Vec<Step> {
    let mut all = HEAD.as_bytes().to_vec();
    for (index, line) in lines.iter().enumerate() {
        let len = line.len();
        let size = match index % 4 {
            0 => format!("{len:X}"),
            1 => format!("0000{len:x}"),
            2 => format!("{len:x};a=b;q=\"x;y\""),
            _ => format!("{len:x} ; name"),
        };
        all.extend_from_slice(format!("{size}\r\n").as_bytes());
        all.extend_from_slice(line);
        all.extend_from_slice(b"\r\n");
    }
    all.extend_from_slice(LAST);
    vec![Step::Send(all)]
}

/// The first record well, then this instead of the next chunk's size line.
pub(super) fn bad_size(lines: Lines<'_>, size: &str) -> Vec<Step> {
    let first = lines.first().map(|line| chunk(line)).unwrap_or_default();
    vec![
        send(HEAD),
        Step::Send(first),
        send(format!("{size}\r\nxxxx\r\n")),
    ]
}

// ---- ends ----

/// Without the last chunk.
pub(super) fn open(lines: Lines<'_>) -> Vec<Step> {
    let mut steps = chunked(lines);
    steps.pop();
    steps
}

/// One step more.
pub(super) fn and(mut steps: Vec<Step>, step: Step) -> Vec<Step> {
    steps.push(step);
    steps
}

/// The records in chunks, then this after the last data chunk.
pub(super) fn ending(lines: Lines<'_>, end: impl AsRef<[u8]>) -> Vec<Step> {
    and(open(lines), send(end))
}

/// Half the records, then so many of the bytes of a chunk.
pub(super) fn cut(lines: Lines<'_>, kept: fn(usize) -> usize) -> Vec<Step> {
    let (first, rest) = halves(lines);
    let next = rest.first().map(|line| chunk(line)).unwrap_or_default();
    and(open(first), send(&next[..kept(next.len())]))
}

pub(super) fn but_last(lines: Lines<'_>) -> Lines<'_> {
    &lines[..lines.len().saturating_sub(1)]
}

pub(super) fn halves(lines: Lines<'_>) -> (Lines<'_>, Lines<'_>) {
    lines.split_at(lines.len() / 2)
}

// ---- lengths ----

/// These lines under a head with these header lines about the length; `{len}` is that of all lines.
pub(super) fn with_length(lines: Lines<'_>, sent: Lines<'_>, headers: &str) -> Vec<Step> {
    let headers = headers.replace("{len}", &lines.concat().len().to_string());
    let head = "HTTP/1.1 200 OK\r\nContent-Type: application/x-ndjson\r\n";
    let head = format!("{head}{headers}\r\n\r\n");
    vec![Step::Send([head.as_bytes(), &sent.concat()].concat())]
}

/// Neither length nor chunks.
pub(super) fn until_close(lines: Lines<'_>, version: &str) -> Vec<Step> {
    let head = format!("{version} 200 OK\r\nContent-Type: application/x-ndjson\r\n\r\n");
    vec![send(head), Step::Send(lines.concat())]
}

// ---- heads ----

/// This head, then the records in chunks.
pub(super) fn with_head(lines: Lines<'_>, head: &str) -> Vec<Step> {
    let mut steps = chunked(lines);
    steps[0] = send(head);
    steps
}

/// The ordinary head with this line at its end.
pub(super) fn with_header(lines: Lines<'_>, line: &str) -> Vec<Step> {
    let end = format!("\r\n{line}\r\n\r\n");
    with_head(lines, &HEAD.replace("\r\n\r\n", &end))
}

/// A whole answer that is no stream.
pub(super) fn instead(status: &str, header: &str, body: &[u8]) -> Vec<Step> {
    let len = body.len();
    let head = format!("HTTP/1.1 {status}\r\n{header}\r\nContent-Length: {len}\r\n\r\n");
    vec![Step::Send([head.as_bytes(), body].concat())]
}

/// `{"error":…}` with a status, as Ollama sends it before the first record; `more` members follow.
pub(super) fn error(status: &str, text: &str, more: &str) -> Vec<Step> {
    let mut body = b"{\"error\":".to_vec();
    quote(&mut body, text.as_bytes());
    body.extend_from_slice(more.as_bytes());
    body.push(b'}');
    let json = "Content-Type: application/json; charset=utf-8";
    instead(status, json, &body)
}

// ---- lines ----

pub(super) fn one_chunk(bytes: &[u8]) -> Vec<Step> {
    in_chunks(std::iter::once(bytes))
}

/// Each line, without its end, after a change, all in one chunk.
pub(super) fn each_line(lines: Lines<'_>, change: fn(&[u8]) -> Vec<u8>) -> Vec<Step> {
    let changed = lines.iter().map(|line| change(bare(line)));
    one_chunk(&changed.collect::<Vec<_>>().concat())
}

pub(super) fn bare(line: &[u8]) -> &[u8] {
    line.strip_suffix(b"\n").unwrap_or(line)
}

pub(super) fn bad_line(lines: Lines<'_>) -> Vec<Step> {
    let (first, rest) = halves(lines);
    let bad = b"Internal \x1b[31mproxy\x1b[0m error\n".to_vec();
    chunked(&[first, &[bad], rest].concat())
}

pub(super) fn cut_line(lines: Lines<'_>) -> Vec<Step> {
    let (first, rest) = halves(lines);
    let mut all = first.to_vec();
    all.extend(rest.first().map(|line| line[..line.len() / 2].to_vec()));
    chunked(&all)
}

/// 40 MiB: more than any client should keep of one line.
pub(super) fn endless_line(_: Lines<'_>) -> Vec<Step> {
    let piece = vec![b'x'; 1 << 20];
    let begin = &b"{\"message\":{\"content\":\""[..];
    in_chunks(std::iter::once(begin).chain((0..40).map(|_| piece.as_slice())))
}

// ---- time ----

pub(super) fn pause(millis: u64) -> Step {
    Step::Pause(Duration::from_millis(millis))
}

pub(super) fn gaps(lines: Lines<'_>) -> Vec<Step> {
    let mut steps = chunked(lines);
    for at in [3, 2, 1] {
        steps.insert(at.min(steps.len()), pause(1_000));
    }
    steps
}

pub(super) fn drip(lines: Lines<'_>) -> Vec<Step> {
    const DROPS: usize = 200;
    let mut steps = Vec::new();
    for (index, step) in one_byte_writes(lines).into_iter().enumerate() {
        steps.push(step);
        if index < DROPS {
            steps.push(pause(5));
        }
    }
    steps
}
