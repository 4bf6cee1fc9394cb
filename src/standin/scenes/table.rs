//! The list of scenes: names, what they do, when.

use super::When::{Always, First, Times};
use super::{Act, Scene, When, carry, say};
use crate::standin::catalog::{Model, STAND_IN};

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
#[rustfmt::skip]
pub(in crate::standin) const SCENES: &[Scene] = &[
    // ---- models ----
    scene("no-tools", "the only model cannot call tools", Always, Act::Models(NO_TOOLS)),
    scene("no-thinking", "the only model cannot think", Always, Act::Models(NO_THINKING)),
    scene("two-models", "two models with tools: one has to be chosen", Always, Act::Models(TWO)),
    scene("no-models", "nothing is installed", Always, Act::Models(&[])),
    scene("cloud", "the model is forwarded to another host", Always, Act::Models(CLOUD)),
    // ---- chunks; harmless unless said ----
    scene("tiny-chunks", "three bytes a chunk: cut inside characters and escapes", Always, Act::Carry(carry::tiny_chunks)),
    scene("odd-chunks", "seven bytes a chunk: cut inside keys, numbers and line ends", Always, Act::Carry(carry::odd_chunks)),
    scene("random-cuts", "1 to 40 bytes a chunk, each answer in its own way", Always, Act::Carry(carry::random_cuts)),
    scene("one-byte-chunks", "one byte a chunk", Always, Act::Carry(carry::one_byte_chunks)),
    scene("one-byte-writes", "one byte a write, the head too", Always, Act::Carry(carry::one_byte_writes)),
    scene("one-chunk", "the whole answer in one chunk", Always, Act::Carry(carry::one_chunk)),
    scene("ten-chunks", "each record over ten chunks", Always, Act::Carry(carry::ten_chunks)),
    scene("chunk-forms", "sizes in upper case, with zeros, extensions and blanks", Always, Act::Carry(carry::chunk_forms)),
    scene("trailers", "an extension on the last chunk, then trailers", Always, Act::Carry(carry::trailers)),
    scene("trailer-huge", "a trailer of 100 KB (an error, but the last record was there)", First, Act::Carry(carry::trailer_huge)),
    scene("chunk-no-size", "a chunk without a size (an error)", First, Act::Carry(carry::chunk_no_size)),
    scene("chunk-negative", "a chunk of size -4 (an error)", First, Act::Carry(carry::chunk_negative)),
    scene("chunk-0x", "a chunk of size 0x4 (an error)", First, Act::Carry(carry::chunk_0x)),
    scene("chunk-huge", "a size of seventeen digits (an error)", First, Act::Carry(carry::chunk_huge)),
    scene("chunk-overrun", "more data than the size says (an error)", First, Act::Carry(carry::chunk_overrun)),
    scene("cut-in-chunk", "the connection ends inside a chunk", First, Act::Carry(carry::cut_in_chunk)),
    scene("cut-after-data", "the connection ends between a chunk's data and its line end", First, Act::Carry(carry::cut_after_data)),
    scene("cut-before-done", "the connection ends before the last record", First, Act::Carry(carry::cut_before_done)),
    scene("cut-after-done", "the connection ends after the last record, before the last chunk", First, Act::Carry(carry::cut_after_done)),
    // ---- lengths ----
    scene("length", "Content-Length instead of chunks (harmless)", Always, Act::Carry(carry::length)),
    scene("length-rest", "more bytes than Content-Length (harmless)", Always, Act::Carry(carry::length_rest)),
    scene("length-short", "fewer bytes than Content-Length", First, Act::Carry(carry::length_short)),
    scene("until-close", "neither length nor chunks (harmless)", Always, Act::Carry(carry::until_close)),
    scene("http-1.0", "HTTP/1.0, until the close (harmless)", Always, Act::Carry(carry::http_1_0)),
    scene("both-lengths", "Content-Length and chunked (an error)", First, Act::Carry(carry::both_lengths)),
    scene("two-lengths", "two different lengths (an error)", First, Act::Carry(carry::two_lengths)),
    scene("same-length-twice", "the same length twice (harmless)", Always, Act::Carry(carry::same_length_twice)),
    scene("length-plus", "a length with a sign (an error)", First, Act::Carry(carry::length_plus)),
    scene("length-beyond", "a length of twenty digits (an error)", First, Act::Carry(carry::length_beyond)),
    // ---- heads ----
    scene("informational", "100 and 103 before the 200 (harmless)", Always, Act::Carry(carry::informational)),
    scene("no-content", "204 with a Content-Length", First, Act::Carry(carry::no_content)),
    scene("bare-status", "a status line without its reason (harmless)", Always, Act::Carry(carry::bare_status)),
    scene("odd-head", "odd case, no blank after the colon, line feeds only (harmless)", Always, Act::Carry(carry::odd_head)),
    scene("folded-head", "a folded header line (may be refused)", First, Act::Carry(carry::folded_head)),
    scene("head-huge", "a head of 1 MB (an error)", First, Act::Carry(carry::head_huge)),
    scene("head-many", "10,000 header lines (an error)", First, Act::Carry(carry::head_many)),
    scene("head-no-colon", "a header line without a colon (an error)", First, Act::Carry(carry::head_no_colon)),
    scene("head-nul", "a NUL in a header (an error)", First, Act::Carry(carry::head_nul)),
    scene("not-http", "an answer that is not HTTP", First, Act::Carry(carry::not_http)),
    scene("gzip", "Content-Encoding: gzip, not asked for (an error)", First, Act::Carry(carry::gzip)),
    scene("gzip-chunked", "Transfer-Encoding: gzip, chunked (an error)", First, Act::Carry(carry::gzip_chunked)),
    scene("redirect", "307 to the same host (not followed)", First, Act::Carry(carry::redirect_same)),
    scene("redirect-away", "301 to another host (not followed)", First, Act::Carry(carry::redirect_away)),
    scene("html", "200 with a sign-in page", First, Act::Carry(carry::html)),
    scene("empty-body", "200 and nothing in it", First, Act::Carry(carry::empty_body)),
    scene("unexpected-endpoint", "200 with an error: another kind of server", First, Act::Carry(carry::unexpected_endpoint)),
    // ---- lines; harmless unless said ----
    scene("crlf", "records end in CR LF", Always, Act::Carry(carry::crlf)),
    scene("blank-lines", "blank lines between records, blanks around them", Always, Act::Carry(carry::blank_lines)),
    scene("no-last-newline", "no line feed after the last record", Always, Act::Carry(carry::no_last_newline)),
    scene("bom", "a byte order mark first", Always, Act::Carry(carry::bom)),
    scene("two-on-a-line", "all records on one line (an error)", First, Act::Carry(carry::two_on_a_line)),
    scene("pretty", "records over several lines (an error)", First, Act::Carry(carry::pretty)),
    scene("data-prefix", "`data: ` before each record (an error)", First, Act::Carry(carry::data_prefix)),
    scene("bad-line", "a proxy's text between records (an error)", First, Act::Carry(carry::bad_line)),
    scene("cut-line", "the last line is half a record", First, Act::Carry(carry::cut_line)),
    scene("endless-line", "40 MiB without a line feed (an error)", First, Act::Carry(carry::endless_line)),
    // ---- time ----
    scene("late", "nothing for 3 s, then the answer (harmless)", First, Act::Carry(carry::late)),
    scene("gaps", "a second between the first records (harmless)", First, Act::Carry(carry::gaps)),
    scene("drip", "one byte every 5 ms, for a second (harmless)", First, Act::Carry(carry::drip)),
    scene("silent", "a head, then nothing", First, Act::Carry(carry::silent)),
    scene("stall", "half an answer, then nothing", First, Act::Carry(carry::stall)),
    scene("never-answers", "nothing at all", First, Act::Carry(carry::never_answers)),
    scene("closes", "closed without a byte", First, Act::Carry(carry::closes)),
    scene("closes-once", "closed without a byte at the first request of all, then fine", Times(1), Act::Carry(carry::closes)),
    scene("resets", "reset without a byte", First, Act::Carry(carry::resets)),
    scene("reset-after-head", "reset after the head", First, Act::Carry(carry::reset_after_head)),
    // ---- text ----
    scene("characters", "characters of many kinds, escaped and not (harmless)", First, Act::Say(say::characters)),
    scene("surrogates", "halves of surrogate pairs", First, Act::Say(say::surrogates)),
    scene("controls-escaped", "escape sequences and bidi marks as escapes: must not reach the terminal", First, Act::Say(say::controls_escaped)),
    scene("controls-raw", "raw control bytes in a string (an error)", First, Act::Say(say::controls_raw)),
    scene("bad-utf8", "bytes that are not UTF-8", First, Act::Say(say::bad_utf8)),
    scene("many-records", "200,000 records", First, Act::Say(say::many_records)),
    // ---- JSON ----
    scene("duplicate-keys", "the last of equal keys wins", First, Act::Say(say::duplicate_keys)),
    scene("odd-order", "keys in any order, unknown ones nested 50 deep", First, Act::Say(say::odd_order)),
    scene("odd-numbers", "counters that are fractions, texts, negative, beyond 64 bits", First, Act::Say(say::odd_numbers)),
    scene("bad-number", "a number with a leading zero (an error)", First, Act::Say(say::bad_number)),
    scene("deep", "arrays nested 10,000 deep (an error)", First, Act::Say(say::deep)),
    // ---- errors of the server ----
    scene("error-first", "an error record first, with 200", First, Act::Say(say::error_first)),
    scene("error-after-content", "an error record after text", First, Act::Say(say::error_after_content)),
    scene("error-after-call", "an error record after a call, which must not run", First, Act::Say(say::error_after_call)),
    scene("error-key", "an error record with an unexpected key", First, Act::Say(say::error_key)),
    scene("error-object", "an error that is an object", First, Act::Say(say::error_object)),
    scene("error-null", "`error: null` in each record (harmless)", Always, Act::Say(say::error_null)),
    scene("unreadable-call", "the server could not read the model's call, once for each prompt", First, Act::Say(say::unreadable_call)),
    scene("busy-once", "503 at the first request of all, then fine", Times(1), Act::Refuse("503 Service Unavailable", "server busy, please try again.  maximum pending requests exceeded")),
    scene("busy", "503 always", Always, Act::Refuse("503 Service Unavailable", "server busy, please try again.  maximum pending requests exceeded")),
    scene("runner-died", "500 at the first request of all, then fine", Times(1), Act::Refuse("500 Internal Server Error", "model runner has unexpectedly stopped, this may be due to resource limitations or an internal error, check ollama server logs for details")),
    scene("out-of-memory", "500: the model does not fit", Always, Act::Refuse("500 Internal Server Error", "model requires more system memory (24.1 GiB) than is available (7.8 GiB)")),
    scene("load-failed", "500: the model cannot be loaded", Always, Act::Refuse("500 Internal Server Error", "llama-server process has terminated: exit status 1: error loading model")),
    scene("refuses-tools", "400: no tools, whatever the list said", Always, Act::Refuse("400 Bad Request", "registry.ollama.ai/library/stand-in does not support tools")),
    scene("refuses-thinking", "400 at the first request of all: no thinking, whatever the list said", Times(1), Act::Refuse("400 Bad Request", "\"stand-in\" does not support thinking")),
    scene("model-gone", "404: the model was removed meanwhile", Always, Act::Refuse("404 Not Found", "model 'stand-in' not found")),
    scene("context-overflow", "400: the prompt is longer than the window", Always, Act::Carry(carry::context_overflow)),
    scene("unauthorized", "401 with a page to sign in at", Always, Act::Carry(carry::unauthorized)),
    scene("error-html", "502 with a proxy's page", Always, Act::Carry(carry::error_html)),
    scene("error-empty", "403 without a body", Always, Act::Carry(carry::error_empty)),
    // ---- ends ----
    scene("no-done", "a clean end without the last record", First, Act::Carry(carry::no_done)),
    scene("reason-only", "`done_reason` without `done` (harmless)", Always, Act::Say(say::reason_only)),
    scene("no-reason", "`done` without reason and counters (harmless)", Always, Act::Say(say::no_reason)),
    scene("other-reason", "a reason nobody knows (harmless)", Always, Act::Say(say::other_reason)),
    scene("after-done", "records after the last one (harmless)", Always, Act::Say(say::after_done)),
    scene("all-in-done", "text, thinking and calls in the last record (harmless)", Always, Act::Say(say::all_in_done)),
    scene("cut-by-length", "the answer ends with `length`", First, Act::Say(say::cut_by_length)),
    scene("cut-in-call", "`length` in the middle of a call", First, Act::Say(say::cut_in_call)),
    scene("full-window", "the prompt filled the window: one token, nothing said", First, Act::Say(say::full_window)),
    // ---- calls ----
    scene("three-calls", "three calls over several records, equal ids, one in the last", First, Act::Say(say::three_calls)),
    scene("string-arguments", "arguments as a string of JSON (harmless)", Always, Act::Say(say::string_arguments)),
    scene("prefixed-name", "`functions.` before names (harmless)", Always, Act::Say(say::prefixed_name)),
    scene("channel-name", "`<|channel|>` behind a name: no tool is called so", First, Act::Say(say::channel_name)),
    scene("null-arguments", "arguments null", First, Act::Say(say::null_arguments)),
    scene("missing-arguments", "no arguments at all", First, Act::Say(say::missing_arguments)),
    scene("array-arguments", "arguments that are an array", First, Act::Say(say::array_arguments)),
    scene("wrong-arguments", "arguments of the wrong kind", First, Act::Say(say::wrong_arguments)),
    scene("no-name", "a call with an empty name", First, Act::Say(say::no_name)),
    scene("unknown-tool", "a tool that was not offered", First, Act::Say(say::unknown_tool)),
    scene("no-function", "a call without a function", First, Act::Say(say::no_function)),
    scene("odd-keys", "argument names with dots, blanks and letters", First, Act::Say(say::odd_keys)),
    scene("nul-path", "a path with a NUL", First, Act::Say(say::nul_path)),
    scene("many-newlines", "an argument of 100,000 line feeds", First, Act::Say(say::many_newlines)),
    scene("big-argument", "an argument of 12 MB with escapes", First, Act::Say(say::big_argument)),
    scene("same-call", "the same call for ever", Always, Act::Say(say::same_call)),
    // ---- calls and thinking in the text ----
    scene("call-in-content", "calls as `<function=…>` in the text (recoverable)", Always, Act::Say(say::call_in_content)),
    scene("call-as-json", "calls as JSON in the text (recoverable)", Always, Act::Say(say::call_as_json)),
    scene("call-in-fence", "a call in a fence: an example, which must not run", First, Act::Say(say::call_in_fence)),
    scene("call-garbled", "something like a call, once for each prompt", First, Act::Say(say::call_garbled)),
    scene("think-leaked", "thinking in the text, its tags cut", Always, Act::Say(say::think_leaked)),
    scene("think-unopened", "thinking in the text, only its closing tag", Always, Act::Say(say::think_unopened)),
    scene("late-thinking", "thinking after the text, and with it in one record", Always, Act::Say(say::late_thinking)),
    scene("thinking-only", "thinking and no answer", First, Act::Say(say::thinking_only)),
    scene("empty-reply", "an answer with nothing in it", First, Act::Say(say::empty_reply)),
];
