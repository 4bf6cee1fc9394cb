//! The small calls: what is read of their answers, and what is refused.

use super::peer::{Peer, chunked, json, response};
use super::{options, shape};
use zcoder::http::{Endpoint, Target};
use zcoder::model::{Backend, Card, Error, Loaded, ModelEntry, Think, Why};
use zcoder::protocol::Tap;
use zcoder::sys::Cancel;

fn backend(peer: &Peer) -> (Backend, Cancel) {
    (
        Backend::ollama(&options(peer.port()), Tap::default()),
        Cancel::new().expect("a switch"),
    )
}

fn answering(body: &str) -> Peer {
    Peer::answering(vec![json("200 OK", body)])
}

#[test]
fn the_version() {
    let peer = answering(r#"{"version":"0.33.0"}"#);
    let (backend, cancel) = backend(&peer);
    assert_eq!(backend.version(&cancel).expect("a version"), "0.33.0");
    let asked = &peer.asked()[0];
    assert_eq!(asked.what, "GET /api/version");
    assert!(asked.body.is_empty());
}

#[test]
fn the_path_prefix_stands_before_each_call() {
    let peer = answering(r#"{"version":"1"}"#);
    let mut options = options(peer.port());
    let (endpoint, _) =
        Endpoint::parse(&format!("{}/ollama/", peer.address())).expect("an address");
    options.target = Target::new(endpoint, None, Vec::new()).expect("a target");
    let backend = Backend::ollama(&options, Tap::default());
    let cancel = Cancel::new().expect("a switch");
    backend.version(&cancel).expect("a version");
    assert_eq!(peer.asked()[0].what, "GET /ollama/api/version");
}

#[test]
fn what_is_installed() {
    let peer = answering(
        r#"{"models":[
            {"name":"qwen3:8b","model":"qwen3:8b","modified_at":"2026-08-21T09:00:00.123456789+02:00","size":5200000000,"digest":"ab",
             "details":{"parent_model":"","format":"gguf","family":"qwen3","families":["qwen3"],"parameter_size":"8.2B","quantization_level":"Q4_K_M","context_length":40960},
             "capabilities":["completion","tools","thinking"]},
            {"model":"gpt-oss:120b-cloud","size":384,"remote_model":"gpt-oss:120b","remote_host":"https://ollama.com:443","details":null},
            {"size":1},
            {"name":"odd","size":"big","capabilities":"tools","details":{"families":null,"context_length":-1}}
        ]}"#,
    );
    let (backend, cancel) = backend(&peer);
    let strings = |list: &[&str]| Some(list.iter().map(|name| name.to_string()).collect());
    let bare = |name: &str, size| ModelEntry {
        name: name.to_string(),
        size,
        parameter_size: None,
        quantization: None,
        context_length: None,
        capabilities: None,
        remote_host: None,
    };
    let expected = [
        ModelEntry {
            parameter_size: Some("8.2B".to_string()),
            quantization: Some("Q4_K_M".to_string()),
            context_length: Some(40960),
            capabilities: strings(&["completion", "tools", "thinking"]),
            ..bare("qwen3:8b", 5_200_000_000)
        },
        ModelEntry {
            remote_host: Some("https://ollama.com:443".to_string()),
            ..bare("gpt-oss:120b-cloud", 384)
        },
        bare("odd", 0),
    ];
    assert_eq!(backend.models(&cancel).expect("models"), expected);
}

#[test]
fn no_models_are_no_error_and_another_form_is_one() {
    for body in [r#"{"models":[]}"#, r#"{"models":null}"#] {
        let peer = answering(body);
        let (backend, cancel) = backend(&peer);
        assert_eq!(backend.models(&cancel).expect("models"), []);
        assert_eq!(backend.loaded(&cancel).expect("models"), []);
    }
    for body in [
        "{}",
        "[]",
        r#"{"models":{}}"#,
        "Ollama is running",
        "",
        r#"{"data":[]}"#,
    ] {
        let peer = answering(body);
        let (backend, cancel) = backend(&peer);
        let error = backend.models(&cancel).expect_err(body);
        assert!(
            matches!(error, Error::NotOllama { status: 200, .. }),
            "{error:?}"
        );
    }
}

#[test]
fn what_is_loaded() {
    let peer = answering(
        r#"{"models":[{"name":"qwen3:8b","model":"qwen3:8b","size":9400000000,"size_vram":6100000000,"expires_at":"2026-08-21T09:05:00Z","context_length":32768},{"name":"old","size":1}]}"#,
    );
    let (backend, cancel) = backend(&peer);
    let expected = [
        Loaded {
            name: "qwen3:8b".to_string(),
            size: 9_400_000_000,
            size_vram: 6_100_000_000,
            context_length: Some(32768),
        },
        Loaded {
            name: "old".to_string(),
            size: 1,
            size_vram: 0,
            context_length: None,
        },
    ];
    assert_eq!(backend.loaded(&cancel).expect("loaded"), expected);
}

#[test]
fn what_a_model_can_do_from_an_answer_of_megabytes() {
    let tensors =
        r#"{"name":"blk.0.attn_k.weight","type":"Q4_K","shape":[4096,1024]},"#.repeat(20_000);
    let body = format!(
        r#"{{"license":"{}","modelfile":"FROM x\nRENDERER y","parameters":"stop                           \"<|im_end|>\"\nnum_ctx                        8192\nnum_ctx_extra 5","template":"{{{{ .System }}}}",
        "details":{{"parameter_size":"8.2B","context_length":1}},"model_info":{{"general.architecture":"qwen3","vision.context_length":77,"qwen3.context_length":40960,"tokenizer.ggml.tokens":null}},
        "tensors":[{}{{}}],"capabilities":["completion","tools"],"modified_at":"x"}}"#,
        "MIT ".repeat(3000),
        tensors
    );
    let pieces: Vec<&[u8]> = body.as_bytes().chunks(4000).collect();
    let peer = Peer::answering(vec![chunked(&pieces)]);
    let (backend, cancel) = backend(&peer);
    let card = Card {
        capabilities: Some(vec!["completion".to_string(), "tools".to_string()]),
        context_length: Some(40960),
        num_ctx: Some(8192),
        parameter_size: Some("8.2B".to_string()),
        remote_host: None,
    };
    assert_eq!(backend.show("qwen3:8b", &cancel).expect("a card"), card);
    let asked = &peer.asked()[0];
    assert_eq!(asked.what, "POST /api/show");
    assert_eq!(asked.body, br#"{"model":"qwen3:8b"}"#);
}

#[track_caller]
fn check_length(body: &str, expected: Option<u64>) {
    let peer = answering(body);
    let (backend, cancel) = backend(&peer);
    assert_eq!(
        backend.show("m", &cancel).expect("a card").context_length,
        expected
    );
}

#[test]
fn the_trained_length_wherever_it_is_told() {
    check_length(
        r#"{"model_info":{"general.architecture":"a","b.context_length":7}}"#,
        Some(7),
    );
    check_length(
        r#"{"model_info":{"a.context_length":7,"general.architecture":"a"},"details":{"context_length":9}}"#,
        Some(7),
    );
    check_length(
        r#"{"details":{"context_length":9},"model_info":{}}"#,
        Some(9),
    );
    check_length(r#"{"model_info":{}}"#, None);
}

#[test]
fn a_missing_model_is_told_as_such() {
    let peer = Peer::answering(vec![json(
        "404 Not Found",
        r#"{"error":"model 'nope' not found"}"#,
    )]);
    let (backend, cancel) = backend(&peer);
    let error = backend.show("nope", &cancel).expect_err("an error");
    assert!(matches!(error, Error::ModelMissing { model, .. } if model == "nope"));
    let peer = Peer::answering(vec![response(
        "404 Not Found",
        "text/plain",
        "404 page not found",
    )]);
    let (backend, cancel) = self::backend(&peer);
    assert!(matches!(
        backend.show("m", &cancel),
        Err(Error::NotOllama { status: 404, .. })
    ));
}

#[test]
fn loading_sends_what_the_chat_will_send() {
    let peer = answering(
        r#"{"model":"m","message":{"role":"assistant","content":""},"done":true,"done_reason":"load"}"#,
    );
    let (backend, cancel) = backend(&peer);
    let mut shape = shape();
    shape.think = Some(Think::High);
    shape.keep_alive = Some("1h".to_string());
    backend.load(&shape, &cancel).expect("loaded");
    let asked = &peer.asked()[0];
    assert_eq!(asked.what, "POST /api/chat");
    assert_eq!(
        String::from_utf8_lossy(&asked.body),
        r#"{"model":"m","stream":false,"truncate":false,"shift":false,"think":"high","options":{"num_ctx":32768},"keep_alive":"1h","messages":[]}"#
    );
    let peer = answering(r#"{"error":"error loading model x"}"#);
    let (backend, cancel) = self::backend(&peer);
    assert!(matches!(
        backend.load(&shape, &cancel),
        Err(Error::Refused {
            why: Why::LoadFailed,
            ..
        })
    ));
    let peer = answering("{}");
    let (backend, cancel) = self::backend(&peer);
    assert!(matches!(
        backend.load(&shape, &cancel),
        Err(Error::NotOllama { .. })
    ));
}

#[test]
fn an_answer_over_the_limit_is_refused() {
    let body = format!(r#"{{"license":"{}"}}"#, "x".repeat(16 << 20));
    let peer = answering(&body);
    let (backend, cancel) = backend(&peer);
    let text = backend
        .show("m", &cancel)
        .expect_err("an error")
        .to_string();
    assert!(text.contains("body larger than 16,777,216 bytes"), "{text}");
}
