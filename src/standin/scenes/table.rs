//! The list of scenes: names, what they do, when, and how: most are one call of what `carry.rs` and `say.rs` offer.

use super::Act::{Carry, Models, Refuse, Say};
use super::When::{Always, First, Times};
use super::carry::*;
use super::say::*;
use super::{Act, Scene, When};
use crate::model::script::Step;
use crate::standin::Pace;
use crate::standin::catalog::{Model, STAND_IN};
use crate::standin::records::{arguments, ordinary};
use crate::standin::request::overflow;

const SMALL: Model = Model {
    name: "stand-in-small:latest",
    ..STAND_IN
};
const TWO: &[Model] = &[STAND_IN, SMALL];
const NO_TOOLS: &[Model] = &[Model {
    tools: false,
    ..STAND_IN
}];
const NO_THINKING: &[Model] = &[Model {
    thinking: false,
    ..STAND_IN
}];
const CLOUD: &[Model] = &[Model {
    name: "stand-in:cloud",
    remote_host: Some("https://ollama.com:443"),
    ..STAND_IN
}];

const fn scene(name: &'static str, about: &'static str, when: When, act: Act) -> Scene {
    Scene {
        name,
        about,
        when,
        act,
    }
}

/// All scenes, by the part of a response that they touch.
#[rustfmt::skip] // a table: one row reads best in as few lines as it needs
pub(in crate::standin) const SCENES: &[Scene] = &[
    // ---- models ----
    scene("no-tools", "the only model cannot call tools", Always, Models(NO_TOOLS)),
    scene("no-thinking", "the only model cannot think", Always, Models(NO_THINKING)),
    scene("two-models", "two models with tools: one has to be chosen", Always, Models(TWO)),
    scene("no-models", "nothing is installed", Always, Models(&[])),
    scene("cloud", "the model is forwarded to another host", Always, Models(CLOUD)),
    // ---- chunks; harmless unless said ----
    scene("tiny-chunks", "three bytes a chunk: cut inside characters and escapes", Always, Carry(|lines| pieces(lines, 3))),
    scene("odd-chunks", "seven bytes a chunk: cut inside keys, numbers and line ends", Always, Carry(|lines| pieces(lines, 7))),
    scene("random-cuts", "1 to 40 bytes a chunk, each answer in its own way", Always, Carry(random_cuts)),
    scene("one-byte-chunks", "one byte a chunk", Always, Carry(|lines| pieces(lines, 1))),
    scene("one-byte-writes", "one byte a write, the head too", Always, Carry(one_byte_writes)),
    scene("one-chunk", "the whole answer in one chunk", Always, Carry(|lines| one_chunk(&lines.concat()))),
    scene("ten-chunks", "each record over ten chunks", Always, Carry(ten_chunks)),
    scene("chunk-forms", "sizes in upper case, with zeros, extensions and blanks", Always, Carry(chunk_forms)),
    scene("trailers", "an extension on the last chunk, then trailers", Always, Carry(|lines| ending(lines, "0;last=yes\r\nX-Trace: 1\r\nX-More: 2\r\n\r\n"))),
    scene("trailer-huge", "a trailer of 100 KB (an error, but the last record was there)", First,
        Carry(|lines| ending(lines, format!("0\r\nX-Trace: {}\r\n\r\n", "t".repeat(100 << 10))))),
    scene("chunk-no-size", "a chunk without a size (an error)", First, Carry(|lines| bad_size(lines, ""))),
    scene("chunk-negative", "a chunk of size -4 (an error)", First, Carry(|lines| bad_size(lines, "-4"))),
    scene("chunk-0x", "a chunk of size 0x4 (an error)", First, Carry(|lines| bad_size(lines, "0x4"))),
    scene("chunk-huge", "a size of seventeen digits (an error)", First, Carry(|lines| bad_size(lines, "fffffffffffffffff"))),
    scene("chunk-overrun", "more data than the size says (an error)", First, Carry(|lines| bad_size(lines, "2"))),
    scene("cut-in-chunk", "the connection ends inside a chunk", First, Carry(|lines| cut(lines, |chunk| chunk / 2))),
    scene("cut-after-data", "the connection ends between a chunk's data and its line end", First, Carry(|lines| cut(lines, |chunk| chunk.saturating_sub(2)))),
    scene("cut-before-done", "the connection ends before the last record", First, Carry(|lines| open(but_last(lines)))),
    scene("cut-after-done", "the connection ends after the last record, before the last chunk", First, Carry(open)),
    // ---- lengths ----
    scene("length", "Content-Length instead of chunks (harmless)", Always, Carry(|lines| with_length(lines, lines, "Content-Length: {len}"))),
    scene("length-rest", "more bytes than Content-Length (harmless)", Always,
        Carry(|lines| and(with_length(lines, lines, "Content-Length: {len}"), send("{\"rest\":\"of nothing\"}\n")))),
    scene("length-short", "fewer bytes than Content-Length", First, Carry(|lines| with_length(lines, halves(lines).0, "Content-Length: {len}"))),
    scene("until-close", "neither length nor chunks (harmless)", Always, Carry(|lines| until_close(lines, "HTTP/1.1"))),
    scene("http-1.0", "HTTP/1.0, until the close (harmless)", Always, Carry(|lines| until_close(lines, "HTTP/1.0"))),
    scene("both-lengths", "Content-Length and chunked (an error)", First,
        Carry(|lines| with_length(lines, lines, "Content-Length: {len}\r\nTransfer-Encoding: chunked"))),
    scene("two-lengths", "two different lengths (an error)", First, Carry(|lines| with_length(lines, lines, "Content-Length: {len}\r\nContent-Length: 5"))),
    scene("same-length-twice", "the same length twice (harmless)", Always,
        Carry(|lines| with_length(lines, lines, "Content-Length: {len}\r\nContent-Length: {len}"))),
    scene("length-plus", "a length with a sign (an error)", First, Carry(|lines| with_length(lines, lines, "Content-Length: +{len}"))),
    scene("length-beyond", "a length of twenty digits (an error)", First, Carry(|lines| with_length(lines, lines, "Content-Length: 99999999999999999999"))),
    // ---- heads ----
    scene("informational", "100 and 103 before the 200 (harmless)", Always,
        Carry(|lines| with_head(lines, &format!("HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 103 Early Hints\r\nLink: </x>\r\n\r\n{HEAD}")))),
    scene("no-content", "204 with a Content-Length", First, Carry(|_| vec![send("HTTP/1.1 204 No Content\r\nContent-Length: 10\r\n\r\n")])),
    scene("bare-status", "a status line without its reason (harmless)", Always, Carry(|lines| with_head(lines, &HEAD.replace(" OK", "")))),
    scene("odd-head", "odd case, no blank after the colon, line feeds only (harmless)", Always,
        Carry(|lines| with_head(lines, "HTTP/1.1 200 OK\ncontent-TYPE:application/x-ndjson\nTRANSFER-encoding:chunked\n\n"))),
    scene("folded-head", "a folded header line (may be refused)", First, Carry(|lines| with_header(lines, "X-Long: one\r\n two"))),
    scene("head-huge", "a head of 1 MB (an error)", First, Carry(|lines| with_header(lines, &format!("X-Pad: {}", "p".repeat(1 << 20))))),
    scene("head-many", "10,000 header lines (an error)", First,
        Carry(|lines| with_header(lines, (0..10_000).map(|n| format!("X-{n}: {n}\r\n")).collect::<String>().trim_end()))),
    scene("head-no-colon", "a header line without a colon (an error)", First, Carry(|lines| with_header(lines, "no colon here"))),
    scene("head-nul", "a NUL in a header (an error)", First, Carry(|lines| with_header(lines, "X-Nul: a\0b"))),
    scene("not-http", "an answer that is not HTTP", First, Carry(|_| vec![send("SSH-2.0-OpenSSH_9.9\r\n")])),
    scene("gzip", "Content-Encoding: gzip, not asked for (an error)", First, Carry(|lines| with_header(lines, "Content-Encoding: gzip"))),
    scene("gzip-chunked", "Transfer-Encoding: gzip, chunked (an error)", First, Carry(|lines| with_head(lines, &HEAD.replace("chunked", "gzip, chunked")))),
    scene("redirect", "307 to the same host (not followed)", First, Carry(|_| instead("307 Temporary Redirect", "Location: /api/chat", b""))),
    scene("redirect-away", "301 to another host (not followed)", First,
        Carry(|_| instead("301 Moved Permanently", "Location: http://elsewhere.example/api/chat", b""))),
    scene("html", "200 with a sign-in page", First,
        Carry(|_| instead("200 OK", "Content-Type: text/html", b"<!DOCTYPE html>\n<title>Sign in to the network</title>\n"))),
    scene("empty-body", "200 and nothing in it", First, Carry(|_| chunked(&[]))),
    scene("unexpected-endpoint", "200 with an error: another kind of server", First,
        Carry(|_| instead("200 OK", "Content-Type: application/json", b"{\"error\":\"Unexpected endpoint or method. (POST /api/chat)\"}"))),
    // ---- lines; harmless unless said ----
    scene("crlf", "records end in CR LF", Always, Carry(|lines| each_line(lines, |line| [line, b"\r\n"].concat()))),
    scene("blank-lines", "blank lines between records, blanks around them", Always,
        Carry(|lines| each_line(lines, |line| [b"\n \t", line, b" \t\n\n"].concat()))),
    scene("no-last-newline", "no line feed after the last record", Always, Carry(|lines| one_chunk(bare(&lines.concat())))),
    scene("bom", "a byte order mark first", Always, Carry(|lines| one_chunk(&["\u{feff}".as_bytes(), &lines.concat()].concat()))),
    scene("two-on-a-line", "all records on one line (an error)", First, Carry(|lines| each_line(lines, <[u8]>::to_vec))),
    scene("pretty", "records over several lines (an error)", First, Carry(|lines| each_line(lines, |line| [b"{\n  ", &line[1..], b"\n"].concat()))),
    scene("data-prefix", "`data: ` before each record (an error)", First, Carry(|lines| each_line(lines, |line| [b"data: ", line, b"\n"].concat()))),
    scene("bad-line", "a proxy's text between records (an error)", First, Carry(bad_line)),
    scene("cut-line", "the last line is half a record", First, Carry(cut_line)),
    scene("endless-line", "40 MiB without a line feed (an error)", First, Carry(endless_line)),
    // ---- time ----
    scene("late", "nothing for 3 s, then the answer (harmless)", First, Carry(|lines| [vec![pause(3_000)], chunked(lines)].concat())),
    scene("gaps", "a second between the first records (harmless)", First, Carry(gaps)),
    scene("drip", "one byte every 5 ms, for a second (harmless)", First, Carry(drip)),
    scene("silent", "a head, then nothing", First, Carry(|_| vec![send(HEAD), Step::Hang])),
    scene("stall", "half an answer, then nothing", First, Carry(|lines| and(open(halves(lines).0), Step::Hang))),
    scene("never-answers", "nothing at all", First, Carry(|_| vec![Step::Hang])),
    scene("closes", "closed without a byte", First, Carry(|_| vec![Step::Close])),
    scene("closes-once", "closed without a byte at the first request of all, then fine", Times(1), Carry(|_| vec![Step::Close])),
    scene("resets", "reset without a byte", First, Carry(|_| vec![Step::Reset])),
    scene("reset-after-head", "reset after the head", First, Carry(|_| vec![send(HEAD), pause(50), Step::Reset])),
    // ---- text ----
    scene("characters", "characters of many kinds, escaped and not (harmless)", First,
        Say(|chat, _| content(chat, &["Gr\u{fc}\u{df}e \\u00e9 \\ud83d\\ude00 \u{4f60}\u{597d} \u{1f469}\u{200d}\u{1f4bb}"]))),
    scene("surrogates", "halves of surrogate pairs", First,
        Say(|chat, _| content(chat, &["a\\ud83d ", "\\ude00b ", "\\ude00\\ud83d ", "end \\ud83d", "\\ude00"]))),
    scene("controls-escaped", "escape sequences and bidi marks as escapes: must not reach the terminal", First,
        Say(|chat, _| content(chat, &["before\\u001b[2J\\u001b]0;title\\u0007\\u0000\\u007f\\u202eabc\\u2066 after"]))),
    scene("controls-raw", "raw control bytes in a string (an error)", First, Say(|chat, _| content(chat, &["a\u{1}b\u{1b}[2J"]))),
    scene("bad-utf8", "bytes that are not UTF-8", First, Say(|chat, _| bad_utf8(chat))),
    scene("many-records", "200,000 records", First, Say(|chat, _| ends(chat, "stop", |out| (0..200_000).for_each(|_| out.piece("ab "))))),
    // ---- JSON ----
    scene("duplicate-keys", "the last of equal keys wins", First,
        Say(|chat, _| by_hand(chat, r#""message":{"content":"first"},"message":{"role":"assistant","content":"a","content":"last wins"},"done":false"#))),
    scene("odd-order", "keys in any order, unknown ones nested 50 deep", First,
        Say(|chat, _| by_hand(chat, &format!(r#""done":false,"x":{},"logprobs":[{{"token":"a"}}],"message":{{"content":"in any order","role":"assistant"}}"#, nested(50))))),
    scene("odd-numbers", "counters that are fractions, texts, negative, beyond 64 bits", First, Say(|chat, _| odd_numbers(chat))),
    scene("bad-number", "a number with a leading zero (an error)", First,
        Say(|chat, _| by_hand(chat, r#""message":{"role":"assistant","content":"a"},"n":01,"done":false"#))),
    scene("deep", "arrays nested 10,000 deep (an error)", First,
        Say(|chat, _| by_hand(chat, &format!(r#""x":{},"message":{{"content":"a"}},"done":false"#, nested(10_000))))),
    // ---- errors of the server ----
    scene("error-first", "an error record first, with 200", First,
        Say(|chat, _| breaks_off(chat, r#"{"error":"model runner has unexpectedly stopped"}"#, |_| ()))),
    scene("error-after-content", "an error record after text", First,
        Say(|chat, _| breaks_off(chat, UNEXPECTED_END, |out| out.content("The beginning of an answer ")))),
    scene("error-after-call", "an error record after a call, which must not run", First,
        Say(|chat, _| breaks_off(chat, UNEXPECTED_END, |out| out.call(&call("run_command", "command", "touch never-made"))))),
    scene("error-key", "an error record with an unexpected key", First,
        Say(|chat, _| breaks_off(chat, r#"{"error parsing tool call":"raw='{\"path\":' err=unexpected end of JSON input"}"#, |_| ()))),
    scene("error-object", "an error that is an object", First, Say(|chat, _| breaks_off(chat, r#"{"error":{"message":"the error is an object"}}"#, |_| ()))),
    scene("error-null", "`error: null` in each record (harmless)", Always,
        Say(|chat, answer| changed(chat, answer, |line| line.replacen('{', "{\"error\":null,", 1)))),
    scene("unreadable-call", "the server could not read the model's call, once for each prompt", First,
        Say(|chat, _| breaks_off(chat, r#"{"error":"XML syntax error on line 4: invalid character entity & (no semicolon)"}"#, |out| out.thinking("I call a tool. ")))),
    scene("busy-once", "503 at the first request of all, then fine", Times(1),
        Refuse("503 Service Unavailable", "server busy, please try again.  maximum pending requests exceeded")),
    scene("busy", "503 always", Always, Refuse("503 Service Unavailable", "server busy, please try again.  maximum pending requests exceeded")),
    scene("runner-died", "500 at the first request of all, then fine", Times(1),
        Refuse("500 Internal Server Error", "model runner has unexpectedly stopped, this may be due to resource limitations or an internal error, check ollama server logs for details")),
    scene("out-of-memory", "500: the model does not fit", Always,
        Refuse("500 Internal Server Error", "model requires more system memory (24.1 GiB) than is available (7.8 GiB)")),
    scene("load-failed", "500: the model cannot be loaded", Always,
        Refuse("500 Internal Server Error", "llama-server process has terminated: exit status 1: error loading model")),
    scene("refuses-tools", "400: no tools, whatever the list said", Always,
        Refuse("400 Bad Request", "registry.ollama.ai/library/stand-in does not support tools")),
    scene("refuses-thinking", "400 at the first request of all: no thinking, whatever the list said", Times(1),
        Refuse("400 Bad Request", "\"stand-in\" does not support thinking")),
    scene("model-gone", "404: the model was removed meanwhile", Always, Refuse("404 Not Found", "model 'stand-in' not found")),
    scene("context-overflow", "400: the prompt is longer than the window", Always, Carry(|_| error("400 Bad Request", &overflow(9000, 4096), ""))),
    scene("unauthorized", "401 with a page to sign in at", Always,
        Carry(|_| error("401 Unauthorized", "unauthorized", ",\"signin_url\":\"https://ollama.com/connect?name=host&key=abc\""))),
    scene("error-html", "502 with a proxy's page", Always,
        Carry(|_| instead("502 Bad Gateway", "Content-Type: text/html", b"<html><head><title>502 Bad Gateway</title></head></html>\n"))),
    scene("error-empty", "403 without a body", Always, Carry(|_| instead("403 Forbidden", "Content-Type: text/plain", b""))),
    // ---- ends ----
    scene("no-done", "a clean end without the last record", First, Carry(|lines| chunked(but_last(lines)))),
    scene("reason-only", "`done_reason` without `done` (harmless)", Always,
        Say(|chat, answer| changed(chat, answer, |line| line.replacen("\"done\":true,", "", 1)))),
    scene("no-reason", "`done` without reason and counters (harmless)", Always,
        Say(|chat, answer| ends_otherwise(chat, answer, |out| out.with(r#""message":{"role":"assistant","content":""},"done":true"#)))),
    scene("other-reason", "a reason nobody knows (harmless)", Always, Say(|chat, answer| ends_otherwise(chat, answer, |out| out.done("tired")))),
    scene("after-done", "records after the last one (harmless)", Always,
        Say(|chat, answer| [ordinary(chat, answer, Pace::None), says(chat, "this came after the end")].concat())),
    scene("all-in-done", "text, thinking and calls in the last record (harmless)", Always, Say(all_in_done)),
    scene("cut-by-length", "the answer ends with `length`", First, Say(|chat, _| ends(chat, "length", |out| out.content("This answer ends in the mid")))),
    scene("cut-in-call", "`length` in the middle of a call", First,
        Say(|chat, _| ends(chat, "length", |out| out.content("<tool_call>\n<function=write_file>\n<parameter=path>\nnotes.txt\n</parameter>\n<parameter=content>\nhalf a")))),
    scene("full-window", "the prompt filled the window: one token, nothing said", First, Say(|chat, _| full_window(chat))),
    // ---- calls ----
    scene("three-calls", "three calls over several records, equal ids, one in the last", First, Say(|chat, _| three_calls(chat))),
    scene("string-arguments", "arguments as a string of JSON (harmless)", Always,
        Say(|chat, answer| with_calls(chat, answer, |call| function(call.name, &json(&arguments(call)))))),
    scene("prefixed-name", "`functions.` before names (harmless)", Always,
        Say(|chat, answer| with_calls(chat, answer, |call| function(&format!("functions.{}", call.name), &arguments(call))))),
    scene("channel-name", "`<|channel|>` behind a name: no tool is called so", First,
        Say(|chat, answer| with_calls(chat, answer, |call| function(&format!("{}<|channel|>commentary", call.name), &arguments(call))))),
    scene("null-arguments", "arguments null", First, Say(|chat, _| calls(chat, r#"{"function":{"name":"list_files","arguments":null}}"#))),
    scene("missing-arguments", "no arguments at all", First, Say(|chat, _| calls(chat, r#"{"function":{"name":"list_files"}}"#))),
    scene("array-arguments", "arguments that are an array", First, Say(|chat, _| calls(chat, r#"{"function":{"name":"read_file","arguments":[]}}"#))),
    scene("wrong-arguments", "arguments of the wrong kind", First,
        Say(|chat, _| calls(chat, r#"{"function":{"name":"run_command","arguments":{"command":{"cmd":"ls"},"timeout_seconds":"ten"}}}"#))),
    scene("no-name", "a call with an empty name", First, Say(|chat, _| calls(chat, r#"{"function":{"name":"","arguments":{}}}"#))),
    scene("unknown-tool", "a tool that was not offered", First,
        Say(|chat, _| calls(chat, r#"{"function":{"name":"view_the_file","arguments":{"path":"README.md"}}}"#))),
    scene("no-function", "a call without a function", First, Say(|chat, _| calls(chat, r#"{"id":"call_empty"}"#))),
    scene("odd-keys", "argument names with dots, blanks and letters", First,
        Say(|chat, _| calls(chat, r#"{"function":{"name":"list_files","arguments":{"a.b":1,"two words":2,"grün":3,"path":"."}}}"#))),
    scene("nul-path", "a path with a NUL", First, Say(|chat, _| calls(chat, r#"{"function":{"name":"read_file","arguments":{"path":"a\u0000b"}}}"#))),
    scene("many-newlines", "an argument of 100,000 line feeds", First, Say(|chat, _| writes(chat, "newlines.txt", "\\n", 100_000))),
    scene("big-argument", "an argument of 12 MB with escapes", First,
        Say(|chat, _| writes(chat, "big.txt", "a line with \\\"quotes\\\" and a \\\\ in it\\n", 10 << 20 >> 5))),
    scene("same-call", "the same call for ever", Always,
        Say(|chat, _| ends(chat, "stop", |out| { out.content("I list the files again, to be sure."); out.raw_call("list_files", "{}") }))),
    // ---- calls and thinking in the text ----
    scene("call-in-content", "calls as `<function=…>` in the text (recoverable)", Always, Say(|chat, answer| call_said(chat, answer, half_tagged))),
    scene("call-as-json", "calls as JSON in the text (recoverable)", Always,
        Say(|chat, answer| call_said(chat, answer, |_, call| format!("{{\"name\":{},\"arguments\":{}}}", json(call.name), arguments(call))))),
    scene("call-in-fence", "a call in a fence: an example, which must not run", First,
        Say(|chat, _| says(chat, "A call looks like this:\n\n```\n<function=run_command>\n<parameter=command>\ntouch never-made\n</parameter>\n</function>\n```\n"))),
    scene("call-garbled", "something like a call, once for each prompt", First,
        Say(|chat, _| says(chat, "<tool_call>\n<function=read_file>\n<parameter=path>README.md\n"))),
    scene("think-leaked", "thinking in the text, its tags cut", Always,
        Say(|chat, answer| after(chat, answer, &["<thi", "nk>The plan is ", "simple.</thi", "nk>\n\n"]))),
    scene("think-unopened", "thinking in the text, only its closing tag", Always,
        Say(|chat, answer| after(chat, answer, &["The plan is ", "simple.", "</think>", "\n\n"]))),
    scene("late-thinking", "thinking after the text, and with it in one record", Always, Say(late_thinking)),
    scene("thinking-only", "thinking and no answer", First,
        Say(|chat, _| ends(chat, "stop", |out| out.thinking("I think and think, and then my budget is spent.")))),
    scene("empty-reply", "an answer with nothing in it", First, Say(|chat, _| ends(chat, "stop", |_| ()))),
];
