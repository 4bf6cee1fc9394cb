//! The table of `plan`: what the server said and what the user wished, against the session's shape and notices.
use super::*;
use crate::http::{Endpoint, Target};

fn options() -> Options {
    let (endpoint, _) = Endpoint::parse("127.0.0.1:11434").unwrap();
    Options::new(Target::new(endpoint, None, Vec::new()).unwrap())
}

fn found(capabilities: &[&str]) -> Found {
    let capabilities = capabilities.iter().map(ToString::to_string).collect();
    Found {
        model: "m".to_string(),
        why: "named by --model".to_string(),
        card: Card {
            capabilities: Some(capabilities),
            ..Card::default()
        },
        loaded: None,
        window: 32_768,
        window_why: String::new(),
        offline: false,
    }
}

fn loaded(context_length: u64, size: u64, size_vram: u64) -> Loaded {
    Loaded {
        name: "m".to_string(),
        size,
        size_vram,
        context_length: Some(context_length),
    }
}

/// Text style and notices.
#[track_caller]
fn check(found: &Found, options: &Options, text_style: bool, notices: &[&str]) {
    let plan = plan(found, options);
    let said: Vec<&str> = plan.notices.iter().map(|(_, text)| text.as_str()).collect();
    assert_eq!((plan.text_style, said), (text_style, notices.to_vec()));
    assert_eq!(plan.shape.native_tools.is_none(), text_style);
}

#[test]
fn capabilities_decide_the_tool_style() {
    let style = |tool_style| Options {
        tool_style,
        ..options()
    };
    let (auto, native, text) = (
        style(ToolStyle::Auto),
        style(ToolStyle::Native),
        style(ToolStyle::Text),
    );
    let able = found(&["completion", "tools"]);
    check(&able, &auto, false, &[]);
    check(&able, &native, false, &[]);
    check(&able, &text, true, &[]);
    let unable = found(&["completion"]);
    let described = "m lists no tools; they are described in the text instead (--tool-style text)";
    check(&unable, &auto, true, &[described]);
    let refused =
        "m lists no tools; the server may refuse the request (--tool-style text needs none)";
    check(&unable, &native, false, &[refused]);
    check(&unable, &text, true, &[]);
    let mut unknown = found(&[]);
    unknown.card.capabilities = None;
    check(&unknown, &auto, false, &[]);
}

#[test]
fn think_is_sent_only_to_a_model_that_lists_it() {
    let think = |think| Options {
        think: Some(think),
        ..options()
    };
    let able = found(&["tools", "thinking"]);
    let unable = found(&["tools"]);
    assert_eq!(plan(&able, &options()).shape.think, None);
    assert_eq!(
        plan(&able, &think(Think::Off)).shape.think,
        Some(Think::Off)
    );
    assert_eq!(plan(&unable, &think(Think::High)).shape.think, None);
    check(
        &unable,
        &think(Think::High),
        false,
        &["m does not list thinking; --think is left out"],
    );
    check(&unable, &think(Think::Off), false, &[]);
    let mut unknown = found(&[]);
    unknown.card.capabilities = None;
    assert_eq!(
        plan(&unknown, &think(Think::On)).shape.think,
        Some(Think::On)
    );
}

#[test]
fn a_share_on_the_cpu_is_said_when_the_model_stays_loaded() {
    let with = |loaded| Found {
        loaded: Some(loaded),
        ..found(&["tools"])
    };
    let share = "25 % of `m` runs on the CPU (6.0 GB of 8.0 GB are in video memory); a smaller window needs less: `--context-window 16384`";
    check(&with(loaded(32_768, 100, 100)), &options(), false, &[]);
    check(
        &with(loaded(32_768, 8_000_000_000, 6_000_000_000)),
        &options(),
        false,
        &[share],
    );
    check(
        &with(loaded(4096, 8_000_000_000, 6_000_000_000)),
        &options(),
        false,
        &[],
    );
}

#[test]
fn assumptions_are_said_when_nothing_may_be_asked() {
    let wish = Wish {
        model: Some(("m".to_string(), "--model")),
        num_ctx: Some(20_000),
        ..Wish::default()
    };
    let found = assume(&wish).unwrap();
    check(
        &found,
        &options(),
        false,
        &[
            "offline: the server was not asked; assumed are a window of 20000 tokens, a model with tools and a model that runs where it is \
           asked",
        ],
    );
    // A session that goes on has named its model.
    let wish = Wish {
        last_used: Some("m".to_string()),
        ..Wish::default()
    };
    let found = assume(&wish).unwrap();
    assert_eq!(
        (found.model.as_str(), found.why.as_str()),
        ("m", OF_SESSION)
    );
    let reason =
        "no model is named and the server may not be asked; name one (--model)".to_string();
    assert_eq!(
        assume(&Wish::default()).err(),
        Some(Status::Unusable { reason })
    );
}

#[test]
fn forwarded_models_are_known_by_host_or_name() {
    let forwarded = |model: &str, host: Option<&str>| {
        let mut found = found(&[]);
        found.model = model.to_string();
        found.card.remote_host = host.map(str::to_string);
        found.forwarded_to()
    };
    assert_eq!(forwarded("qwen3:8b", None), None);
    assert_eq!(forwarded("qwen3:8b", Some("")), None);
    assert_eq!(
        forwarded("gpt-oss:120b-cloud", None).as_deref(),
        Some("ollama.com")
    );
    assert_eq!(forwarded("kimi:cloud", None).as_deref(), Some("ollama.com"));
    assert_eq!(
        forwarded("cloudy", Some("https://x.example")).as_deref(),
        Some("https://x.example")
    );
}

#[test]
fn small_models_get_the_lean_set() {
    for (size, set) in [
        (Some("8.2B"), Set::Lean),
        (Some("9.9B"), Set::Lean),
        (Some("10B"), Set::Standard),
        (Some("494.03M"), Set::Lean),
        (Some("8x7B"), Set::Standard),
        (Some(""), Set::Standard),
        (None, Set::Standard),
    ] {
        assert_eq!(tool_set(size), set, "{size:?}");
    }
}

#[test]
fn a_bare_name_means_the_latest() {
    assert!(same_model("qwen3", "qwen3:latest"));
    assert!(!same_model("qwen3", "qwen3:8b"));
}
