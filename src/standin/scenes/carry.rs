//! How records travel: each function takes the lines of an answer and gives what is done on the socket. Called by the table's scenes.
//!
//! ```text
//! lines          {"message":…}\n  {"message":…,"done":true}\n
//! chunked        HTTP/1.1 200 OK … Transfer-Encoding: chunked ∙ 5a\r\n{"message":…}\n\r\n ∙ … ∙ 0\r\n\r\n       (∙ a write of its own)
//! ten_chunks     each record over ten chunks
//! cut_in_chunk   half the records, half a chunk, the end of the connection
//! chunk_0x       … ∙ 0x4\r\nxxxx\r\n
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
use crate::standin::request::overflow;
use std::time::Duration;

type Lines<'a> = &'a [Vec<u8>];

const HEAD: &str =
    "HTTP/1.1 200 OK\r\nContent-Type: application/x-ndjson\r\nTransfer-Encoding: chunked\r\n\r\n";
const OPEN_HEAD: &str = "HTTP/1.1 200 OK\r\nContent-Type: application/x-ndjson\r\n\r\n";
const LAST: &[u8] = b"0\r\n\r\n";

fn send(bytes: impl AsRef<[u8]>) -> Step {
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

/// A response written in one go with these header lines, and nothing else.
fn whole(head: &str, body: &[u8]) -> Vec<Step> {
    vec![Step::Send([head.as_bytes(), b"\r\n", body].concat())]
}

/// The ordinary way: one record, one chunk, one write.
pub(super) fn chunked(lines: Lines<'_>) -> Vec<Step> {
    in_chunks(lines.iter().map(Vec::as_slice))
}

pub(super) fn tiny_chunks(lines: Lines<'_>) -> Vec<Step> {
    in_chunks(lines.concat().chunks(3))
}

pub(super) fn odd_chunks(lines: Lines<'_>) -> Vec<Step> {
    in_chunks(lines.concat().chunks(7))
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

pub(super) fn one_byte_chunks(lines: Lines<'_>) -> Vec<Step> {
    in_chunks(lines.concat().chunks(1))
}

pub(super) fn one_byte_writes(lines: Lines<'_>) -> Vec<Step> {
    let mut all = HEAD.as_bytes().to_vec();
    all.extend(lines.iter().flat_map(|line| chunk(line)));
    all.extend_from_slice(LAST);
    all.chunks(1).map(send).collect()
}

pub(super) fn one_chunk(lines: Lines<'_>) -> Vec<Step> {
    in_chunks(std::iter::once(lines.concat().as_slice()))
}

pub(super) fn ten_chunks(lines: Lines<'_>) -> Vec<Step> {
    in_chunks(
        lines
            .iter()
            .flat_map(|line| line.chunks(line.len().div_ceil(10))),
    )
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
fn bad_size(lines: Lines<'_>, size: &str) -> Vec<Step> {
    let first = lines.first().map(|line| chunk(line)).unwrap_or_default();
    vec![
        send(HEAD),
        Step::Send(first),
        send(format!("{size}\r\nxxxx\r\n")),
    ]
}

pub(super) fn chunk_no_size(lines: Lines<'_>) -> Vec<Step> {
    bad_size(lines, "")
}

pub(super) fn chunk_negative(lines: Lines<'_>) -> Vec<Step> {
    bad_size(lines, "-4")
}

pub(super) fn chunk_0x(lines: Lines<'_>) -> Vec<Step> {
    bad_size(lines, "0x4")
}

pub(super) fn chunk_huge(lines: Lines<'_>) -> Vec<Step> {
    bad_size(lines, "fffffffffffffffff")
}

pub(super) fn chunk_overrun(lines: Lines<'_>) -> Vec<Step> {
    bad_size(lines, "2")
}

/// The records in chunks, then this after the last data chunk.
fn ending(lines: Lines<'_>, end: &[u8]) -> Vec<Step> {
    let mut steps = chunked(lines);
    steps.pop();
    steps.push(send(end));
    steps
}

pub(super) fn trailers(lines: Lines<'_>) -> Vec<Step> {
    ending(lines, b"0;last=yes\r\nX-Trace: 1\r\nX-More: 2\r\n\r\n")
}

pub(super) fn trailer_huge(lines: Lines<'_>) -> Vec<Step> {
    let trailer = format!("0\r\nX-Trace: {}\r\n\r\n", "t".repeat(100 << 10));
    ending(lines, trailer.as_bytes())
}

pub(super) fn cut_in_chunk(lines: Lines<'_>) -> Vec<Step> {
    let (first, rest) = halves(lines);
    let mut steps = ending(first, b"");
    steps.pop();
    if let Some(line) = rest.first() {
        let bytes = chunk(line);
        steps.push(send(&bytes[..bytes.len() / 2]));
    }
    steps
}

pub(super) fn cut_after_data(lines: Lines<'_>) -> Vec<Step> {
    let (first, rest) = halves(lines);
    let mut steps = ending(first, b"");
    steps.pop();
    if let Some(line) = rest.first() {
        let bytes = chunk(line);
        steps.push(send(&bytes[..bytes.len() - 2]));
    }
    steps
}

pub(super) fn cut_before_done(lines: Lines<'_>) -> Vec<Step> {
    let mut steps = ending(&lines[..lines.len().saturating_sub(1)], b"");
    steps.pop();
    steps
}

pub(super) fn cut_after_done(lines: Lines<'_>) -> Vec<Step> {
    let mut steps = chunked(lines);
    steps.pop();
    steps
}

pub(super) fn no_done(lines: Lines<'_>) -> Vec<Step> {
    chunked(&lines[..lines.len().saturating_sub(1)])
}

fn halves(lines: Lines<'_>) -> (Lines<'_>, Lines<'_>) {
    lines.split_at(lines.len() / 2)
}

// ---- lengths ----

/// A body with these header lines about its length; `{len}` is its length.
fn with_length(lines: Lines<'_>, headers: &str) -> Vec<Step> {
    let body = lines.concat();
    let headers = headers.replace("{len}", &body.len().to_string());
    let head = format!("HTTP/1.1 200 OK\r\nContent-Type: application/x-ndjson\r\n{headers}\r\n");
    whole(&head, &body)
}

pub(super) fn length(lines: Lines<'_>) -> Vec<Step> {
    with_length(lines, "Content-Length: {len}")
}

pub(super) fn length_rest(lines: Lines<'_>) -> Vec<Step> {
    let mut steps = length(lines);
    steps.push(send(b"{\"rest\":\"of nothing\"}\n"));
    steps
}

pub(super) fn length_short(lines: Lines<'_>) -> Vec<Step> {
    let (first, _) = halves(lines);
    let head = format!(
        "HTTP/1.1 200 OK\r\nContent-Type: application/x-ndjson\r\nContent-Length: {}\r\n",
        lines.concat().len()
    );
    whole(&head, &first.concat())
}

pub(super) fn until_close(lines: Lines<'_>) -> Vec<Step> {
    vec![send(OPEN_HEAD), Step::Send(lines.concat())]
}

pub(super) fn http_1_0(lines: Lines<'_>) -> Vec<Step> {
    vec![
        send(OPEN_HEAD.replace("1.1", "1.0")),
        Step::Send(lines.concat()),
    ]
}

pub(super) fn both_lengths(lines: Lines<'_>) -> Vec<Step> {
    with_length(lines, "Content-Length: {len}\r\nTransfer-Encoding: chunked")
}

pub(super) fn two_lengths(lines: Lines<'_>) -> Vec<Step> {
    with_length(lines, "Content-Length: {len}\r\nContent-Length: 5")
}

pub(super) fn same_length_twice(lines: Lines<'_>) -> Vec<Step> {
    with_length(lines, "Content-Length: {len}\r\nContent-Length: {len}")
}

pub(super) fn length_plus(lines: Lines<'_>) -> Vec<Step> {
    with_length(lines, "Content-Length: +{len}")
}

pub(super) fn length_beyond(lines: Lines<'_>) -> Vec<Step> {
    with_length(lines, "Content-Length: 99999999999999999999")
}

// ---- heads ----

/// This head, then the records in chunks.
fn with_head(lines: Lines<'_>, head: &str) -> Vec<Step> {
    let mut steps = chunked(lines);
    steps[0] = send(head);
    steps
}

pub(super) fn informational(lines: Lines<'_>) -> Vec<Step> {
    let before = "HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 103 Early Hints\r\nLink: </x>\r\n\r\n";
    with_head(lines, &format!("{before}{HEAD}"))
}

pub(super) fn no_content(_: Lines<'_>) -> Vec<Step> {
    whole("HTTP/1.1 204 No Content\r\nContent-Length: 10\r\n", b"")
}

pub(super) fn bare_status(lines: Lines<'_>) -> Vec<Step> {
    with_head(lines, &HEAD.replace(" OK", ""))
}

pub(super) fn odd_head(lines: Lines<'_>) -> Vec<Step> {
    with_head(
        lines,
        "HTTP/1.1 200 OK\ncontent-TYPE:application/x-ndjson\nTRANSFER-encoding:chunked\n\n",
    )
}

pub(super) fn folded_head(lines: Lines<'_>) -> Vec<Step> {
    with_head(
        lines,
        &HEAD.replace("\r\n\r\n", "\r\nX-Long: one\r\n two\r\n\r\n"),
    )
}

pub(super) fn head_huge(lines: Lines<'_>) -> Vec<Step> {
    let line = format!("X-Pad: {}\r\n\r\n", "p".repeat(1 << 20));
    with_head(lines, &HEAD.replace("\r\n\r\n", &format!("\r\n{line}")))
}

pub(super) fn head_many(lines: Lines<'_>) -> Vec<Step> {
    let pads: String = (0..10_000).map(|n| format!("X-{n}: {n}\r\n")).collect();
    with_head(lines, &HEAD.replace("\r\n\r\n", &format!("\r\n{pads}\r\n")))
}

pub(super) fn head_no_colon(lines: Lines<'_>) -> Vec<Step> {
    with_head(
        lines,
        &HEAD.replace("\r\n\r\n", "\r\nno colon here\r\n\r\n"),
    )
}

pub(super) fn head_nul(lines: Lines<'_>) -> Vec<Step> {
    with_head(lines, &HEAD.replace("\r\n\r\n", "\r\nX-Nul: a\0b\r\n\r\n"))
}

pub(super) fn not_http(_: Lines<'_>) -> Vec<Step> {
    vec![send("SSH-2.0-OpenSSH_9.9\r\n")]
}

pub(super) fn gzip(lines: Lines<'_>) -> Vec<Step> {
    with_head(
        lines,
        &HEAD.replace("\r\n\r\n", "\r\nContent-Encoding: gzip\r\n\r\n"),
    )
}

pub(super) fn gzip_chunked(lines: Lines<'_>) -> Vec<Step> {
    with_head(lines, &HEAD.replace("chunked", "gzip, chunked"))
}

fn redirect(status: &str, location: &str) -> Vec<Step> {
    let head = format!("HTTP/1.1 {status}\r\nLocation: {location}\r\nContent-Length: 0\r\n");
    whole(&head, b"")
}

pub(super) fn redirect_same(_: Lines<'_>) -> Vec<Step> {
    redirect("307 Temporary Redirect", "/api/chat")
}

pub(super) fn redirect_away(_: Lines<'_>) -> Vec<Step> {
    redirect("301 Moved Permanently", "http://elsewhere.example/api/chat")
}

/// A whole answer that is no stream.
fn instead(status: &str, content_type: &str, body: &[u8]) -> Vec<Step> {
    let len = body.len();
    let head =
        format!("HTTP/1.1 {status}\r\nContent-Type: {content_type}\r\nContent-Length: {len}\r\n");
    whole(&head, body)
}

pub(super) fn html(_: Lines<'_>) -> Vec<Step> {
    instead(
        "200 OK",
        "text/html",
        b"<!DOCTYPE html>\n<title>Sign in to the network</title>\n",
    )
}

pub(super) fn empty_body(_: Lines<'_>) -> Vec<Step> {
    in_chunks(std::iter::empty())
}

pub(super) fn unexpected_endpoint(_: Lines<'_>) -> Vec<Step> {
    instead(
        "200 OK",
        "application/json",
        b"{\"error\":\"Unexpected endpoint or method. (POST /api/chat)\"}",
    )
}

// ---- lines ----

/// Each line after a change, all in one chunk.
fn each_line(lines: Lines<'_>, change: impl Fn(&[u8]) -> Vec<u8>) -> Vec<Step> {
    one_chunk(&[lines.iter().flat_map(|line| change(line)).collect()])
}

fn bare(line: &[u8]) -> &[u8] {
    line.strip_suffix(b"\n").unwrap_or(line)
}

pub(super) fn crlf(lines: Lines<'_>) -> Vec<Step> {
    each_line(lines, |line| [bare(line), b"\r\n"].concat())
}

pub(super) fn blank_lines(lines: Lines<'_>) -> Vec<Step> {
    each_line(lines, |line| [b"\n \t", bare(line), b" \t\n\n"].concat())
}

pub(super) fn no_last_newline(lines: Lines<'_>) -> Vec<Step> {
    let all = lines.concat();
    one_chunk(&[bare(&all).to_vec()])
}

pub(super) fn bom(lines: Lines<'_>) -> Vec<Step> {
    one_chunk(&[["\u{feff}".as_bytes(), &lines.concat()].concat()])
}

pub(super) fn two_on_a_line(lines: Lines<'_>) -> Vec<Step> {
    each_line(lines, |line| bare(line).to_vec())
}

pub(super) fn pretty(lines: Lines<'_>) -> Vec<Step> {
    each_line(lines, |line| {
        let text = String::from_utf8_lossy(line).into_owned();
        text.replacen('{', "{\n  ", 1).into_bytes()
    })
}

pub(super) fn data_prefix(lines: Lines<'_>) -> Vec<Step> {
    each_line(lines, |line| [b"data: ", line].concat())
}

pub(super) fn bad_line(lines: Lines<'_>) -> Vec<Step> {
    let (first, rest) = halves(lines);
    let all = [
        first,
        &[b"Internal \x1b[31mproxy\x1b[0m error\n".to_vec()],
        rest,
    ]
    .concat();
    chunked(&all)
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
    in_chunks(
        std::iter::once(&b"{\"message\":{\"content\":\""[..])
            .chain((0..40).map(|_| piece.as_slice())),
    )
}

// ---- time ----

pub(super) fn silent(_: Lines<'_>) -> Vec<Step> {
    vec![send(HEAD), Step::Hang]
}

pub(super) fn never_answers(_: Lines<'_>) -> Vec<Step> {
    vec![Step::Hang]
}

pub(super) fn late(lines: Lines<'_>) -> Vec<Step> {
    let mut steps = vec![Step::Pause(Duration::from_secs(3))];
    steps.extend(chunked(lines));
    steps
}

pub(super) fn gaps(lines: Lines<'_>) -> Vec<Step> {
    let pause = Step::Pause(Duration::from_secs(1));
    let mut steps = chunked(lines);
    for at in [3, 2, 1] {
        steps.insert(at.min(steps.len()), pause.clone());
    }
    steps
}

pub(super) fn drip(lines: Lines<'_>) -> Vec<Step> {
    const DROPS: usize = 200;
    let bytes = one_byte_writes(lines).into_iter().enumerate();
    bytes
        .flat_map(|(index, step)| {
            let pause = Step::Pause(Duration::from_millis(5));
            [Some(step), (index < DROPS).then_some(pause)]
        })
        .flatten()
        .collect()
}

pub(super) fn stall(lines: Lines<'_>) -> Vec<Step> {
    let (first, _) = halves(lines);
    let mut steps = chunked(first);
    steps.pop();
    steps.push(Step::Hang);
    steps
}

pub(super) fn closes(_: Lines<'_>) -> Vec<Step> {
    vec![Step::Close]
}

pub(super) fn resets(_: Lines<'_>) -> Vec<Step> {
    vec![Step::Reset]
}

pub(super) fn reset_after_head(_: Lines<'_>) -> Vec<Step> {
    vec![
        send(HEAD),
        Step::Pause(Duration::from_millis(50)),
        Step::Reset,
    ]
}

// ---- refusals ----

/// `{"error":…}` with a status, as Ollama sends it before the first record.
pub(super) fn error(status: &str, text: &str) -> Vec<Step> {
    error_with(status, text, "")
}

fn error_with(status: &str, text: &str, more: &str) -> Vec<Step> {
    let mut body = b"{\"error\":".to_vec();
    quote(&mut body, text.as_bytes());
    body.extend_from_slice(more.as_bytes());
    body.push(b'}');
    instead(status, "application/json; charset=utf-8", &body)
}

pub(super) fn unauthorized(_: Lines<'_>) -> Vec<Step> {
    let more = ",\"signin_url\":\"https://ollama.com/connect?name=host&key=abc\"";
    error_with("401 Unauthorized", "unauthorized", more)
}

pub(super) fn context_overflow(_: Lines<'_>) -> Vec<Step> {
    error("400 Bad Request", &overflow(9000, 4096))
}

pub(super) fn error_html(_: Lines<'_>) -> Vec<Step> {
    let body = b"<html><head><title>502 Bad Gateway</title></head></html>\n";
    instead("502 Bad Gateway", "text/html", body)
}

pub(super) fn error_empty(_: Lines<'_>) -> Vec<Step> {
    instead("403 Forbidden", "text/plain", b"")
}
