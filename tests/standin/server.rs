//! The stand-in over TCP, as `curl` would ask it.

use std::io::{Read, Write};
use std::net::{Ipv4Addr, SocketAddr, TcpStream};
use std::time::Duration;
use zcoder::model::script::Script;
use zcoder::standin::{Options, Pace, StandIn};

pub(super) fn start(scene: Option<&str>) -> StandIn {
    let options = Options {
        address: SocketAddr::from((Ipv4Addr::LOCALHOST, 0)),
        pace: Pace::None,
        scene: scene.map(str::to_string),
        script: None,
    };
    StandIn::start(options, None).expect("a stand-in")
}

/// Everything that comes until the close.
fn raw(standin: &StandIn, request: &str) -> String {
    let mut stream = TcpStream::connect(standin.address()).expect("a connection");
    stream.write_all(request.as_bytes()).expect("a request");
    let mut answer = Vec::new();
    stream.read_to_end(&mut answer).expect("an answer");
    String::from_utf8(answer).expect("UTF-8")
}

fn post(standin: &StandIn, path: &str, body: &str) -> (u16, String) {
    let len = body.len();
    let answer = raw(
        standin,
        &format!(
            "POST {path} HTTP/1.1\r\nHost: x\r\nContent-Length: {len}\r\nConnection: close\r\n\r\n{body}"
        ),
    );
    split(&answer)
}

fn get(standin: &StandIn, path: &str) -> (u16, String) {
    split(&raw(
        standin,
        &format!("GET {path} HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n"),
    ))
}

/// Status and body, chunks joined.
fn split(answer: &str) -> (u16, String) {
    let (head, body) = answer.split_once("\r\n\r\n").expect("a head");
    let status = head.split(' ').nth(1).expect("a status");
    let status = status.parse().expect("a number");
    if !head.to_lowercase().contains("transfer-encoding: chunked") {
        return (status, body.to_string());
    }
    let mut rest = body;
    let mut out = String::new();
    while let Some((size, after)) = rest.split_once("\r\n") {
        let size = usize::from_str_radix(size, 16).expect("a size");
        out.push_str(&after[..size]);
        rest = &after[size + 2..];
        if size == 0 {
            break;
        }
    }
    (status, out)
}

#[test]
fn small_paths_answer_as_ollama() {
    let standin = start(None);
    assert_eq!(get(&standin, "/"), (200, "Ollama is running".to_string()));
    assert_eq!(
        get(&standin, "/api/version"),
        (200, "{\"version\":\"0.33.0\"}".to_string())
    );
    assert_eq!(
        get(&standin, "/api/ps"),
        (200, "{\"models\":[]}".to_string())
    );
    assert_eq!(
        get(&standin, "/nowhere"),
        (404, "404 page not found".to_string())
    );
    assert_eq!(
        get(&standin, "/api/chat"),
        (405, "405 method not allowed".to_string())
    );
    assert_eq!(
        post(&standin, "/api/tags", ""),
        (405, "405 method not allowed".to_string())
    );
    let head = raw(&standin, "HEAD / HTTP/1.1\r\nHost: x\r\n\r\n");
    assert!(
        head.starts_with("HTTP/1.1 200 OK\r\n") && head.contains("Content-Length: 17\r\n"),
        "{head}"
    );
    assert!(head.ends_with("\r\n\r\n"), "no body: {head}");
    let moved = raw(
        &standin,
        "POST /api/chat/ HTTP/1.1\r\nHost: x\r\nContent-Length: 0\r\n\r\n",
    );
    assert!(
        moved.starts_with("HTTP/1.1 307 ") && moved.contains("\r\nLocation: /api/chat\r\n"),
        "{moved}"
    );
}

#[test]
fn the_model_is_listed_and_shown() {
    let standin = start(None);
    let (status, tags) = get(&standin, "/api/tags");
    assert_eq!(status, 200);
    assert!(
        tags.starts_with(
            "{\"models\":[{\"name\":\"stand-in:latest\",\"model\":\"stand-in:latest\","
        ),
        "{tags}"
    );
    assert!(
        tags.ends_with("\"capabilities\":[\"completion\",\"tools\",\"thinking\"]}]}"),
        "{tags}"
    );
    let (status, card) = post(&standin, "/api/show", "{\"model\":\"Stand-In\"}");
    assert_eq!(status, 200);
    let info =
        "\"model_info\":{\"general.architecture\":\"standin\",\"standin.context_length\":131072}";
    assert!(card.contains(info), "{card}");
}

#[test]
fn loading_and_unloading_show_in_ps() {
    let standin = start(None);
    let load = "{\"model\":\"stand-in\",\"messages\":[],\"options\":{\"num_ctx\":8192}}";
    let (_, answer) = post(&standin, "/api/chat", load);
    assert!(
        answer.ends_with("\"done\":true,\"done_reason\":\"load\"}"),
        "{answer}"
    );
    let (_, ps) = get(&standin, "/api/ps");
    assert!(ps.ends_with("\"context_length\":8192}]}"), "{ps}");
    let (_, answer) = post(
        &standin,
        "/api/generate",
        "{\"model\":\"stand-in\",\"keep_alive\":0}",
    );
    assert!(
        answer.ends_with("\"response\":\"\",\"done\":true,\"done_reason\":\"unload\"}"),
        "{answer}"
    );
    assert_eq!(get(&standin, "/api/ps").1, "{\"models\":[]}");
}

#[track_caller]
fn refused(body: &str, status: u16, error: &str) {
    let standin = start(None);
    let (found, answer) = post(&standin, "/api/chat", body);
    let mut expected = zcoder::json::Writer::new();
    expected
        .begin_object()
        .key("error")
        .string(error)
        .end_object();
    let expected = String::from_utf8(expected.finish()).expect("UTF-8");
    assert_eq!((found, answer), (status, expected));
}

#[test]
fn bad_requests_are_refused_in_ollamas_words() {
    refused("", 400, "missing request body");
    refused("{}", 400, "model is required");
    refused("{\"model\":\"\"}", 400, "model is required");
    refused("{\"model\":\"llama\"}", 404, "model 'llama' not found");
    let with = |rest: &str| format!("{{\"model\":\"stand-in\",{rest}}}");
    refused(
        &with("\"messages\":\"hi\""),
        400,
        "json: cannot unmarshal string into Go struct field ChatRequest.messages of type []api.Message",
    );
    refused(
        &with("\"messages\":[{\"role\":\"user\",\"content\":[]}]"),
        400,
        "json: cannot unmarshal array into Go struct field Message.messages.content of type string",
    );
    refused(
        &with(
            "\"messages\":[{\"role\":\"assistant\",\"tool_calls\":[{\"function\":{\"name\":\"f\",\"arguments\":\"{}\"}}]}]",
        ),
        400,
        "json: cannot unmarshal string into Go struct field ToolCallFunction.messages.tool_calls.function.arguments of type \
         api.ToolCallFunctionArguments",
    );
    refused(
        &with("\"think\":\"hard\",\"messages\":[]"),
        400,
        "invalid think value: \"hard\" (must be \"high\", \"medium\", \"low\", \"max\", true, or false)",
    );
    refused(
        &with("\"options\":{\"num_ctx\":\"8k\"}"),
        500,
        "option \"num_ctx\" must be of type integer",
    );
    refused(
        &with("\"keep_alive\":\"300\""),
        400,
        "time: missing unit in duration \"300\"",
    );
}

#[test]
fn histories_that_models_would_misread_are_refused() {
    let with = |messages: &str| format!("{{\"model\":\"stand-in\",\"messages\":[{messages}]}}");
    let user = "{\"role\":\"user\",\"content\":\"list files\"}";
    let call = "{\"role\":\"assistant\",\"content\":\"\",\"tool_calls\":[{\"id\":\"a\",\"function\":{\"name\":\"f\",\"arguments\":{}}}]}";
    let result = "{\"role\":\"tool\",\"tool_call_id\":\"a\",\"content\":\"x\"}";
    refused(
        &with("{\"role\":\"developer\"}"),
        400,
        "stand-in: no model knows the role \"developer\"",
    );
    refused(
        &with(&format!("{user},{{\"role\":\"system\",\"content\":\"\"}}")),
        400,
        "stand-in: message 1 is a system message and not the first",
    );
    refused(
        &with(&format!("{user},{result}")),
        400,
        "stand-in: message 1 is a result without a call",
    );
    refused(
        &with(&format!("{user},{call}")),
        400,
        "stand-in: the result of the last call is missing (f)",
    );
    refused(
        &with(&format!("{user},{call},{user},{result}")),
        400,
        "stand-in: message 2 stands before the result of a call (f)",
    );
    let other = result.replace("\"a\"", "\"b\"");
    refused(
        &with(&format!("{user},{call},{other}")),
        400,
        "stand-in: message 2 is not the result of the call that is due (f)",
    );
}

#[test]
fn a_window_that_is_exceeded_is_refused_unless_cutting_is_allowed() {
    let standin = start(None);
    let body = |truncate: &str, length: usize| {
        let text = "x".repeat(length);
        format!(
            "{{\"model\":\"stand-in\",\"stream\":false,{truncate}\"options\":{{\"num_ctx\":100}},\"messages\":[{{\"role\":\"user\",\"content\":\"{text}\"}}]}}"
        )
    };
    // 100 tokens are 400 bytes, 30 of them around the text.
    let around = "[{\"role\":\"user\",\"content\":\"\"}]".len();
    let fits = body("\"truncate\":false,", 400 - around);
    assert_eq!(post(&standin, "/api/chat", &fits).0, 200);
    let exceeds = body("\"truncate\":false,", 401 - around);
    let (status, error) = post(&standin, "/api/chat", &exceeds);
    assert_eq!(status, 400);
    assert!(
        error.contains("exceed_context_size_error") && error.contains("\\\"n_ctx\\\":100"),
        "{error}"
    );
    assert_eq!(post(&standin, "/api/chat", &body("", 1000)).0, 200);
}

const HELLO: &str = "{\"model\":\"stand-in\",\"think\":true,\"messages\":[{\"role\":\"user\",\"content\":\"read a.txt\"}],\
    \"tools\":[{\"type\":\"function\",\"function\":{\"name\":\"read_file\"}}]}";

#[test]
fn an_answer_is_streamed_in_records_and_always_the_same() {
    let standin = start(None);
    let (status, body) = post(&standin, "/api/chat", HELLO);
    assert_eq!(status, 200);
    let lines: Vec<&str> = body.lines().collect();
    let front = "{\"model\":\"stand-in\",\"created_at\":\"2026-01-01T00:00:0";
    assert!(lines.iter().all(|line| line.starts_with(front)), "{body}");
    assert!(lines[0].ends_with("\"message\":{\"role\":\"assistant\",\"content\":\"\",\"thinking\":\"I \"},\"done\":false}"), "{}", lines[0]);
    let call = "\"tool_calls\":[{\"id\":\"call_00000100\",\"function\":{\"index\":0,\"name\":\"read_file\",\"arguments\":{\"path\":\"a.txt\"}}}]},\"done\":false}";
    assert!(lines[lines.len() - 2].ends_with(call), "{body}");
    assert!(
        lines[lines.len() - 1].contains("\"done\":true,\"done_reason\":\"stop\""),
        "{body}"
    );
    assert_eq!(post(&standin, "/api/chat", HELLO).1, body);
    assert_eq!(post(&start(None), "/api/chat", HELLO).1, body);
}

#[test]
fn an_answer_without_stream_is_one_object() {
    let standin = start(None);
    let body = HELLO.replacen('{', "{\"stream\":false,", 1);
    let (status, answer) = post(&standin, "/api/chat", &body);
    assert_eq!(status, 200);
    let expected = "{\"model\":\"stand-in\",\"created_at\":\"2026-01-01T00:00:00.000Z\",\"message\":{\"role\":\"assistant\",\"content\":\"\",\
        \"thinking\":\"I cannot know what a.txt says. I read it.\",\"tool_calls\":[{\"id\":\"call_00000100\",\"function\":{\"index\":0,\
        \"name\":\"read_file\",\"arguments\":{\"path\":\"a.txt\"}}}]},\"done\":true,\"done_reason\":\"stop\",\"total_duration\":1,\
        \"prompt_eval_count\":24,\"eval_count\":10}";
    assert_eq!(answer, expected);
}

#[test]
fn a_script_is_played_and_the_rest_is_as_usual() {
    let text = "zcoder script 1\nexchange\nrequest\n| POST /api/chat HTTP/1.1\\r\\n\\r\\n\nsend\n| HTTP/1.1 200 OK\\r\\n\\r\\n\n| one\n\
        exchange\nrequest\n| POST /api/chat HTTP/1.1\\r\\n\\r\\n\nsend\n| HTTP/1.1 200 OK\\r\\n\\r\\ntwo\n";
    let options = Options {
        address: SocketAddr::from((Ipv4Addr::LOCALHOST, 0)),
        pace: Pace::None,
        scene: None,
        script: Some(Script::parse(text.as_bytes()).expect("a script")),
    };
    let standin = StandIn::start(options, None).expect("a stand-in");
    assert_eq!(get(&standin, "/").1, "Ollama is running");
    assert_eq!(post(&standin, "/api/chat", "{}"), (200, "one".to_string()));
    assert_eq!(post(&standin, "/api/chat", "{}"), (200, "two".to_string()));
    let (status, error) = post(&standin, "/api/chat", "{}");
    assert_eq!(
        (status, error.as_str()),
        (
            500,
            "{\"error\":\"the script has no further exchange for POST /api/chat\"}"
        )
    );
}

#[test]
fn an_unknown_scene_is_an_error() {
    let options = Options {
        address: SocketAddr::from((Ipv4Addr::LOCALHOST, 0)),
        pace: Pace::None,
        scene: Some("nope".to_string()),
        script: None,
    };
    let error = StandIn::start(options, None).expect_err("a refusal");
    assert_eq!(
        error.to_string(),
        "no scene is named \"nope\"; `zcoder standin --list` shows all"
    );
}

#[test]
fn the_log_tells_each_request() {
    let (tell, lines) = std::sync::mpsc::channel();
    let options = Options {
        address: SocketAddr::from((Ipv4Addr::LOCALHOST, 0)),
        pace: Pace::None,
        scene: None,
        script: None,
    };
    let log: zcoder::standin::Log =
        Box::new(move |line| tell.send(line.to_string()).expect("a reader"));
    let standin = StandIn::start(options, Some(log)).expect("a stand-in");
    post(&standin, "/api/chat", HELLO);
    let next = || lines.recv_timeout(Duration::from_secs(10)).expect("a line");
    assert_eq!(next(), format!("#1 POST /api/chat, {} bytes", HELLO.len()));
    assert_eq!(
        next(),
        "   stand-in: 1 message, new: user (10 bytes); 1 tool, thinking, no num_ctx"
    );
    assert_eq!(next(), "   calls read_file a.txt");
}

#[test]
fn stopping_ends_waiting_connections() {
    let standin = start(Some("never-answers"));
    let mut stream = TcpStream::connect(standin.address()).expect("a connection");
    let request = format!(
        "POST /api/chat HTTP/1.1\r\nContent-Length: {}\r\n\r\n{HELLO}",
        HELLO.len()
    );
    stream.write_all(request.as_bytes()).expect("a request");
    standin.stop();
    // The end, in one form or the other, and not a time-out.
    stream
        .set_read_timeout(Some(Duration::from_secs(10)))
        .expect("a limit");
    match stream.read(&mut [0]) {
        Ok(count) => assert_eq!(count, 0),
        Err(error) => assert_eq!(error.kind(), std::io::ErrorKind::ConnectionReset),
    }
}
