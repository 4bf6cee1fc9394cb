//! Every row of the error catalogue over a real socket: what the server answered, the text a person reads, and how often the same
//! request was sent.

use super::peer::{Peer, chunked, json, response};
use super::{DELAYS, talk};
use std::time::{Duration, Instant};
use zcoder::model::{Delays, Error};

/// One answer to every chat; `/api/tags` lists three models, the one that is asked for among them: it is never its own way out.
fn peer(answer: Vec<u8>) -> Peer {
    let tags = json(
        "200 OK",
        r#"{"models":[{"name":"m:latest","capabilities":["tools"]},{"name":"m2:8b","capabilities":["tools"]},{"name":"other:1b","capabilities":["completion"]}]}"#,
    );
    Peer::start(move |asked, stream| {
        let answer = match asked.what.as_str() {
            "GET /api/tags" => &tags,
            _ => &answer,
        };
        super::peer::send(stream, answer);
    })
}

/// The text with the address as `ADDRESS`.
fn ask(answer: Vec<u8>) -> (Error, String) {
    let peer = peer(answer);
    let (result, _) = talk(&peer);
    let error = result.expect_err("an error");
    let text = error.to_string().replace(&peer.address(), "ADDRESS");
    let host = peer.address().replace("http://", "");
    let text = text.replace(&host, "ADDRESS");
    assert_eq!(peer.count("POST /api/chat"), 1, "sent again: {text}");
    (error, text)
}

#[track_caller]
fn check(status: &str, error: &str, expected: &str) {
    let mut quoted = Vec::new();
    zcoder::json::quote(&mut quoted, error.as_bytes());
    let body = format!(
        r#"{{"error":{}}}"#,
        String::from_utf8(quoted).expect("UTF-8")
    );
    let (_, text) = ask(json(status, &body));
    assert_eq!(text, expected);
}

#[track_caller]
fn check_body(answer: Vec<u8>, expected: &str) {
    assert_eq!(ask(answer).1, expected);
}

#[test]
fn models_that_cannot_be_used() {
    let missing = "the server at ADDRESS has no model `m`; near names there: m2:8b; or get it with `ollama pull m`";
    check("404 Not Found", "model 'm' not found", missing);
    check(
        "404 Not Found",
        "model \"m\" not found, try pulling it first",
        missing,
    );
    let bad = "`m` is no name of a model; `zcoder models` lists those of the server";
    check("400 Bad Request", "model is required", bad);
    check("400 Bad Request", "invalid model name", bad);
    check(
        "400 Bad Request",
        "registry.ollama.ai/library/m does not support tools",
        "`m` does not support tools; these models of the server do: m2:8b; or describe the tools in text with `--tool-style text`",
    );
    check(
        "400 Bad Request",
        "\"m\" does not support thinking",
        "`m` does not support thinking; leave `--think` out",
    );
    check(
        "400 Bad Request",
        "\"m\" does not support chat",
        "`m` cannot chat (an embedding model?); choose another with `--model`",
    );
}

#[test]
fn a_server_without_any_model_with_tools() {
    let no_tools = r#"{"error":"m does not support tools"}"#;
    let peer = Peer::start(move |asked, stream| {
        let answer = match asked.what.as_str() {
            "GET /api/tags" => json("500 Internal Server Error", ""),
            _ => json("400 Bad Request", no_tools),
        };
        super::peer::send(stream, &answer);
    });
    assert_eq!(
        talk(&peer).0.expect_err("an error").to_string(),
        "`m` does not support tools; get one that does, for example with `ollama pull qwen3`, or describe the tools in text with `--tool-style text`"
    );
}

#[test]
fn requests_that_are_wrong() {
    check(
        "400 Bad Request",
        "invalid think value: \"x\"",
        "the server finds the request wrong (status 400: invalid think value: \"x\"); this is a bug in zcoder or a server that is too old: `--record FILE` keeps the request",
    );
    check(
        "400 Bad Request",
        "json: cannot unmarshal array into Go struct field",
        "the server finds the request wrong (status 400: json: cannot unmarshal array into Go struct field); this is a bug in zcoder or a server that is too old: `--record FILE` keeps the request",
    );
    check(
        "400 Bad Request",
        "time: missing unit in duration \"300\"",
        "the server refuses the value of `--keep-alive` (time: missing unit in duration \"300\"); write seconds or a duration such as `10m`",
    );
    check(
        "500 Internal Server Error",
        "option \"num_ctx\" must be of type integer",
        "the server refuses an option: option \"num_ctx\" must be of type integer; correct it in the settings",
    );
    check(
        "500 Internal Server Error",
        "Jinja Exception: System message must be at the beginning",
        "the model's template refuses the messages: Jinja Exception: System message must be at the beginning; `--record FILE` keeps the request for a report; another model may accept it",
    );
}

#[test]
fn prompts_that_do_not_fit() {
    let told = "the prompt does not fit into the window: 9,000 tokens are needed, the window has 4,096; compact the conversation or set a larger window with `--context-window`";
    let nested = r#"{"error":{"code":400,"message":"request (9,000 tokens) exceeds the available context size (4,096 tokens), try increasing it","type":"exceed_context_size_error","n_prompt_tokens":9000,"n_ctx":4096}}"#;
    check("400 Bad Request", nested, told);
    check_body(json("400 Bad Request", nested), told);
    check_body(chunked(&[nested.as_bytes()]), told);
    let words = |text: &str| {
        let expected = format!(
            "the prompt does not fit into the window (the server says: {text}); compact the conversation or set a larger window with `--context-window`"
        );
        check("400 Bad Request", text, &expected);
    };
    words("the input length exceeds the context length");
    words(
        "the prompt is longer than the context length currently available to the model; shorten it",
    );
    words("input length (9,000 tokens) exceeds the model's maximum context length (4,096 tokens)");
    words("This model's maximum context length is 4,096 tokens");
    words("prompt too long; exceeded context length by 12 tokens");
    // An old server cut the only user message away and its template missed it.
    check(
        "500 Internal Server Error",
        "No user query found in messages.",
        "the prompt does not fit into the window (the server says: No user query found in messages.); compact the conversation or set a larger window with `--context-window`",
    );
}

#[test]
fn models_that_do_not_load() {
    let load = |text: &str| {
        let expected = format!(
            "`m` cannot be loaded: {text}; update Ollama, or get the model again with `ollama pull m`"
        );
        check("500 Internal Server Error", text, &expected);
    };
    load("llama-server process has terminated: exit status 1: unknown architecture");
    load("error loading model /x: bad magic");
    load("unable to load model: this model may be incompatible with your version of Ollama");
    check(
        "500 Internal Server Error",
        "timed out waiting for llama-server to start - progress 0.42",
        "loading `m` made no progress: timed out waiting for llama-server to start - progress 0.42; check memory and disk of the server, or raise OLLAMA_LOAD_TIMEOUT there",
    );
}

#[test]
fn calls_that_the_server_could_not_read() {
    let told = |text: &str| {
        let expected =
            format!("the server could not read the tool call that the model wrote: {text}");
        check("500 Internal Server Error", text, &expected);
        let mut quoted = Vec::new();
        zcoder::json::quote(&mut quoted, text.as_bytes());
        let record = format!(
            r#"{{"error":{}}}"#,
            String::from_utf8(quoted).expect("UTF-8")
        );
        check_body(
            chunked(&[br#"{"message":{"content":"x"}}"#, b"\n", record.as_bytes()]),
            &expected,
        );
    };
    told("error parsing tool call: raw='{\"path', err=unexpected end of JSON input");
    told("XML syntax error on line 3: invalid character entity & (no semicolon)");
    told("failed to parse JSON: unexpected end");
    told("tool 'fly' not found");
    told("llama-server returned invalid tool call arguments for \"x\": y");
    told("expected element type <function> but have <tool_call>");
}

#[test]
fn clouds() {
    check_body(
        json(
            "401 Unauthorized",
            r#"{"error":"unauthorized","signin_url":"https://ollama.com/connect?name=x"}"#,
        ),
        "this model runs in Ollama's cloud and nobody is signed in; run `ollama signin` or open https://ollama.com/connect?name=x",
    );
    check(
        "401 Unauthorized",
        "unauthorized",
        "this model runs in Ollama's cloud and nobody is signed in; run `ollama signin`",
    );
    check(
        "403 Forbidden",
        "ollama cloud is disabled: remote model is unavailable",
        "`m` runs in Ollama's cloud, and this server has the cloud disabled; choose a local model with `--model`",
    );
    check(
        "400 Bad Request",
        "this server cannot run this remote model",
        "this server may not forward `m` to another host; OLLAMA_REMOTES there lists the allowed ones",
    );
}

#[test]
fn servers_and_proxies_that_are_something_else() {
    check_body(
        response("403 Forbidden", "text/plain", ""),
        "ADDRESS refuses this name (status 403 without a word); a server that listens on loopback accepts only local names: use `localhost` or its IP address, or set OLLAMA_HOST=0.0.0.0 for the server",
    );
    check_body(
        b"HTTP/1.1 301 Moved\r\nLocation: https://elsewhere/api/chat\r\nContent-Length: 0\r\n\r\n"
            .to_vec(),
        "ADDRESS redirects (status 301) to https://elsewhere/api/chat; redirects are not followed: give the final address with `--host`",
    );
    check_body(
        b"HTTP/1.1 307 Temporary Redirect\r\nContent-Length: 0\r\n\r\n".to_vec(),
        "ADDRESS redirects (status 307); redirects are not followed: give the final address with `--host`",
    );
    check_body(
        response("404 Not Found", "text/plain", "404 page not found"),
        "what answers at ADDRESS does not speak Ollama's protocol (status 404, text/plain: `404 page not found`); check `--host` and OLLAMA_HOST",
    );
    check_body(
        json(
            "404 Not Found",
            r#"{"error":{"code":404,"message":"File Not Found","type":"not_found_error"}}"#,
        ),
        "what answers at ADDRESS does not speak Ollama's protocol (status 404, no content type: `File Not Found`); check `--host` and OLLAMA_HOST",
    );
    check_body(
        response(
            "200 OK",
            "text/html; charset=utf-8",
            "<html>\u{1b}[31mlog in</html>",
        ),
        "what answers at ADDRESS does not speak Ollama's protocol (status 200, text/html; charset=utf-8: `<html>\\x1b[31mlog in</html>`); check `--host` and OLLAMA_HOST",
    );
    check_body(
        response("200 OK", "text/plain", "Ollama is running"),
        "what answers at ADDRESS does not speak Ollama's protocol (status 200, text/plain: `Ollama is running`); check `--host` and OLLAMA_HOST",
    );
    // LM Studio.
    check_body(
        json(
            "200 OK",
            r#"{"error":"Unexpected endpoint or method. (POST /api/chat)"}"#,
        ),
        "what answers at ADDRESS does not speak Ollama's protocol (status 200, no content type: `Unexpected endpoint or method. (POST /api/chat)`); check `--host` and OLLAMA_HOST",
    );
    check_body(
        json(
            "200 OK",
            r#"{"id":"c1","object":"chat.completion","choices":[]}"#,
        ),
        "what answers at ADDRESS does not speak Ollama's protocol (status 200, application/json; charset=utf-8: `{\"id\":\"c1\",\"object\":\"chat.completion\",\"choices\":[]}`); check `--host` and OLLAMA_HOST",
    );
    check_body(
        json("200 OK", ""),
        "the reply is incomplete: the server sent an empty answer; nothing of it was run; ask again",
    );
    check_body(
        response("407 Proxy Authentication Required", "text/html", "<html>"),
        "ADDRESS wants credentials (status 407); Ollama itself has none, so a proxy stands before it: give it its header with `--header`",
    );
}

#[test]
fn long_bodies_are_shown_short() {
    let long = "<p>x</p>".repeat(100_000);
    let (_, text) = ask(response("404 Not Found", "text/html", &long));
    assert!(text.len() < 400, "{text}");
    let (error, text) = ask(json(
        "400 Bad Request",
        &format!(
            r#"{{"error":"invalid think value: {}"}}"#,
            "y".repeat(50_000)
        ),
    ));
    assert!(text.len() < 600, "{text}");
    assert!(
        matches!(error, Error::BadRequest { status: 400, detail } if detail.chars().count() == 2000)
    );
}

#[test]
fn nothing_listens() {
    let port = {
        let listener = std::net::TcpListener::bind("127.0.0.1:0").expect("a port");
        listener.local_addr().expect("address").port()
    };
    let backend =
        zcoder::model::Backend::ollama(&super::options(port), zcoder::protocol::Tap::default());
    let cancel = zcoder::sys::Cancel::new().expect("a switch");
    let body = backend.begin(&super::shape());
    let result = backend.chat(
        &super::shape(),
        &body,
        &super::plain_chat(),
        &cancel,
        &mut |_| {},
    );
    let text = result.expect_err("an error").to_string();
    let tail = "; is Ollama running? start it with `ollama serve`, or set OLLAMA_HOST or `--host` to where it listens";
    assert!(
        text.ends_with(tail) && text.contains(&format!("127.0.0.1:{port}")),
        "{text}"
    );
}

/// How often a request is sent in all, and how long that takes at least.
#[track_caller]
fn check_resent(answer: Vec<u8>, times: usize, delays: &[Duration], expected: &str) {
    let peer = peer(answer);
    let started = Instant::now();
    let (result, seen) = talk(&peer);
    assert_eq!(result.expect_err("an error").to_string(), expected);
    assert_eq!(peer.count("POST /api/chat"), times);
    assert_eq!(seen.resends.len(), usize::from(times > 1)); // each resend voids what was seen
    assert_eq!(seen.delays, delays);
    let waited = started.elapsed();
    assert!(waited >= delays.iter().sum(), "{waited:?}");
    let bodies: Vec<_> = peer.asked().into_iter().map(|asked| asked.body).collect();
    assert!(bodies.windows(2).all(|two| two[0] == two[1]));
}

/// What the tests below shorten.
#[test]
fn the_delays_of_the_program() {
    let seconds = Duration::from_secs;
    assert_eq!(
        Delays::default(),
        Delays {
            busy: seconds(2),
            unloading: seconds(5),
            status: seconds(5),
            status_via: seconds(30),
        }
    );
}

#[test]
fn a_busy_server_is_asked_again_twice() {
    check_resent(
        json(
            "503 Service Unavailable",
            r#"{"error":"server busy, please try again.  maximum pending requests exceeded"}"#,
        ),
        3,
        &[DELAYS.busy, DELAYS.busy * 2],
        "the server is busy (server busy, please try again.  maximum pending requests exceeded); wait for its other requests, or raise OLLAMA_MAX_QUEUE there",
    );
}

#[test]
fn a_proxy_that_cannot_reach_the_server_is_asked_again() {
    check_resent(
        response("502 Bad Gateway", "text/html", "<h1>502</h1>"),
        3,
        &[DELAYS.busy, DELAYS.busy * 2],
        "the server failed (status 502): <h1>502</h1>; its log may say more",
    );
}

#[test]
fn a_runner_that_died_gets_one_more_try_at_once() {
    let record = br#"{"error":"an error was encountered while running the model: unexpected EOF"}"#;
    check_resent(
        chunked(&[b"{\"message\":{\"content\":\"x\"}}\n", record]),
        2,
        &[],
        "the process that runs the model ended: an error was encountered while running the model: unexpected EOF; the server's log says why; a smaller window (`--context-window`) may help",
    );
}

#[test]
fn an_unknown_failure_gets_one_more_try() {
    check_resent(
        json("500 Internal Server Error", r#"{"error":"boom"}"#),
        2,
        &[DELAYS.busy],
        "the server failed (status 500): boom; its log may say more",
    );
}

#[test]
fn a_server_without_memory_gets_time_to_unload() {
    check_resent(
        json(
            "500 Internal Server Error",
            r#"{"error":"llama-server process has terminated: cudaMalloc failed: out of memory"}"#,
        ),
        2,
        &[DELAYS.unloading],
        "not enough memory for `m`: llama-server process has terminated: cudaMalloc failed: out of memory; choose a smaller model with `--model` or a smaller window with `--context-window`",
    );
}
