//! Which model, which window, and the notices about them: tables over what the server said.

use std::time::Duration;
use zcoder::model::{
    Card, Choice, Loaded, ModelEntry, ToolStyle, Wish, choose, cloud_host, cpu_notice, cut_notice,
    window,
};
use zcoder::protocol::Usage;

/// `name` or `name [capabilities]` or `name @host`.
fn entry(text: &str) -> ModelEntry {
    let (text, remote_host) = match text.split_once(" @") {
        Some((text, host)) => (text, Some(host.to_string())),
        None => (text, None),
    };
    let (name, capabilities) = match text.split_once(" [") {
        Some((name, list)) => {
            let list = list.trim_end_matches(']').split_whitespace();
            (name, Some(list.map(str::to_string).collect()))
        }
        None => (text, None),
    };
    ModelEntry {
        name: name.to_string(),
        size: 1,
        parameter_size: None,
        quantization: None,
        context_length: None,
        capabilities,
        remote_host,
    }
}

fn loaded(name: &str, context_length: u64) -> Loaded {
    Loaded {
        name: name.to_string(),
        size: 10_000_000_000,
        size_vram: 10_000_000_000,
        context_length: Some(context_length),
    }
}

#[track_caller]
fn check(
    wanted: Option<&str>,
    last_used: Option<&str>,
    entries: &[&str],
    running: &[&str],
    expected: &str,
) {
    check_style(
        ToolStyle::Auto,
        wanted,
        last_used,
        entries,
        running,
        expected,
    );
}

#[track_caller]
fn check_style(
    style: ToolStyle,
    wanted: Option<&str>,
    last_used: Option<&str>,
    entries: &[&str],
    running: &[&str],
    expected: &str,
) {
    let wish = Wish {
        model: wanted.map(|name| (name.to_string(), "--model")),
        last_used: last_used.map(str::to_string),
        num_ctx: None,
        tool_style: style,
    };
    let entries: Vec<ModelEntry> = entries.iter().map(|text| entry(text)).collect();
    let running: Vec<Loaded> = running.iter().map(|name| loaded(name, 4096)).collect();
    let found = match choose(&wish, &entries, &running) {
        Ok(Choice { model, why }) => format!("{model}: {why}"),
        Err(error) => error.to_string(),
    };
    assert_eq!(found, expected);
}

#[test]
fn a_named_model_is_found_by_any_spelling() {
    let here = &[
        "Qwen3:latest [tools]",
        "qwen3:8b [tools]",
        "hf.co/Org/Model:Q4 [tools]",
    ];
    check(
        Some("qwen3"),
        None,
        here,
        &[],
        "Qwen3:latest: named by --model",
    );
    check(
        Some("QWEN3:8B"),
        None,
        here,
        &[],
        "qwen3:8b: named by --model",
    );
    check(
        Some(" registry.ollama.ai/library/qwen3:8b"),
        None,
        here,
        &[],
        "qwen3:8b: named by --model",
    );
    check(
        Some("hf.co/org/model:q4"),
        None,
        here,
        &[],
        "hf.co/Org/Model:Q4: named by --model",
    );
    // A named one needs no tools: the user may want the text protocol.
    check(
        Some("gemma3"),
        None,
        &["gemma3:latest [completion]"],
        &[],
        "gemma3:latest: named by --model",
    );
}

#[test]
fn a_missing_model_names_near_ones_before_the_pull() {
    check(
        Some("qwen3"),
        None,
        &[
            "llama3.2:3b [tools]",
            "qwen3:8b [tools]",
            "qwen2.5-coder:7b [tools]",
            "qwen3-coder:30b [tools]",
        ],
        &[],
        "the server has no model `qwen3` (named by --model); near names there: qwen3:8b, qwen3-coder:30b; or get it with `ollama pull qwen3`",
    );
    check(
        Some("lama3.2"),
        None,
        &["llama3.2:3b", "gemma3:latest"],
        &[],
        "the server has no model `lama3.2` (named by --model); near names there: llama3.2:3b; or get it with `ollama pull lama3.2`",
    );
    // Nothing resembles it, but there are few.
    check(
        Some("phi4"),
        None,
        &["llama3.2:3b", "gemma3:latest"],
        &[],
        "the server has no model `phi4` (named by --model); near names there: llama3.2:3b, gemma3:latest; or get it with `ollama pull phi4`",
    );
    check(
        Some("phi4"),
        None,
        &[],
        &[],
        "the server has no model `phi4` (named by --model); get it with `ollama pull phi4`",
    );
}

#[test]
fn the_order_when_none_is_named() {
    check(
        None,
        Some("b"),
        &["a [tools]", "b:latest [tools]"],
        &["a"],
        "b:latest: as in the session so far",
    );
    check(
        None,
        Some("gone"),
        &["a [tools]", "b []"],
        &[],
        "a: the only model with tools here",
    );
    check(
        None,
        None,
        &["a []", "b [completion tools]"],
        &[],
        "b: the only model with tools here",
    );
    check(None, None, &["a"], &[], "a: the only model here");
    check(
        None,
        None,
        &["a []", "b"],
        &[],
        "b: the only model here that may support tools",
    );
    check(
        None,
        None,
        &["a [tools]", "b [tools]", "c []"],
        &["c", "B:latest", "a"],
        "b: already loaded",
    );
    check(
        None,
        None,
        &["a [tools]", "b [tools]"],
        &["x"],
        "several models could be meant and none was named: a, b; choose one, for example `--model a`",
    );
    check(
        None,
        None,
        &[],
        &[],
        "the server has no models; get one that supports tools, for example with `ollama pull qwen3`",
    );
    check(
        None,
        None,
        &["a []", "b [completion]"],
        &[],
        "no model of the server supports tools: a, b; get one with `ollama pull qwen3`, or name one with `--model` and `--tool-style text`",
    );
}

#[test]
fn the_style_of_tools_decides_whether_they_are_needed() {
    let (none, two) = (&["a []", "c:cloud [tools]"][..], &["a []", "b []"][..]);
    let text = "the only local model here; it has no tools, so they are described to it in text";
    check(None, None, none, &[], &format!("a: {text}"));
    check_style(
        ToolStyle::Text,
        None,
        None,
        none,
        &[],
        "a: the only local model here",
    );
    let refused = |names: &str| {
        format!(
            "no model of the server supports tools: {names}; get one with `ollama pull qwen3`, or name one with `--model` and `--tool-style text`"
        )
    };
    check_style(ToolStyle::Native, None, None, none, &[], &refused("a"));
    check(None, None, two, &[], &refused("a, b"));
    check_style(
        ToolStyle::Text,
        None,
        None,
        two,
        &["b"],
        "b: already loaded",
    );
    check_style(
        ToolStyle::Text,
        None,
        None,
        two,
        &[],
        "several models could be meant and none was named: a, b; choose one, for example `--model a`",
    );
    check(
        None,
        None,
        &["c:cloud [tools]"],
        &["c:cloud"],
        "all models of the server run on other hosts: c:cloud; name one with `--model`, or get a local one with `ollama pull qwen3`",
    );
}

#[test]
fn a_model_that_runs_elsewhere_is_never_chosen_unasked() {
    check(
        None,
        None,
        &[
            "a [tools]",
            "b:cloud [tools]",
            "c:120b-cloud [tools]",
            "d [tools] @ollama.com:443",
        ],
        &["b:cloud"],
        "a: the only local model here",
    );
    check(
        Some("b:cloud"),
        None,
        &["b:cloud [tools]"],
        &[],
        "b:cloud: named by --model",
    );
}

#[test]
fn cloud_models_are_known_by_host_or_name() {
    assert_eq!(
        cloud_host("a", Some("ollama.com:443")).as_deref(),
        Some("ollama.com:443")
    );
    assert_eq!(
        cloud_host("gpt-oss:120b-cloud", None).as_deref(),
        Some("ollama.com")
    );
    assert_eq!(
        cloud_host("kimi:cloud", Some("")).as_deref(),
        Some("ollama.com")
    );
    assert_eq!(cloud_host("cloud", None), None);
    assert_eq!(cloud_host("my-cloud:8b", None), None);
}

#[track_caller]
fn check_window(
    wished: Option<u64>,
    trained: Option<u64>,
    running: Option<u64>,
    expected: (u64, &str),
) {
    let wish = Wish {
        num_ctx: wished,
        ..Wish::default()
    };
    let card = Card {
        context_length: trained,
        ..Card::default()
    };
    let running = running.map(|length| loaded("m", length));
    let (window, why) = window(&wish, &card, running.as_ref());
    assert_eq!((window, why.as_str()), expected);
}

#[test]
fn the_window_and_why() {
    check_window(Some(8192), Some(40960), None, (8192, "as set"));
    check_window(Some(8192), Some(40960), Some(8192), (8192, "as set"));
    check_window(
        Some(65536),
        Some(40960),
        Some(4096),
        (
            40960,
            "65,536 as set, but the model was trained for 40,960 only, and no server gives it more; the model will reload, it is loaded with 4,096",
        ),
    );
    check_window(
        None,
        Some(40960),
        Some(16384),
        (16384, "loaded with 16,384"),
    );
    check_window(
        None,
        Some(131_072),
        Some(131_072),
        (131_072, "loaded with 131,072"),
    );
    check_window(
        None,
        Some(40960),
        Some(16383),
        (
            32768,
            "the model could have up to 40,960; the model will reload, it is loaded with 16,383",
        ),
    );
    check_window(
        None,
        Some(40960),
        None,
        (32768, "the model could have up to 40,960"),
    );
    check_window(
        None,
        Some(32768),
        None,
        (32768, "all the model was trained for"),
    );
    check_window(
        None,
        Some(8192),
        Some(8192),
        (8192, "all the model was trained for"),
    );
    check_window(
        None,
        None,
        None,
        (16384, "the model does not say what it was trained for"),
    );
    check_window(
        None,
        None,
        Some(4096),
        (
            16384,
            "the model does not say what it was trained for; the model will reload, it is loaded with 4,096",
        ),
    );
}

#[test]
fn the_share_of_the_cpu() {
    let notice = |size_vram, window| {
        let mut entry = loaded("qwen3:8b", 32768);
        entry.size_vram = size_vram;
        cpu_notice(&entry, window)
    };
    assert_eq!(notice(10_000_000_000, 32768), None);
    assert_eq!(
        notice(6_600_000_000, 32768).as_deref(),
        Some(
            "34 % of `qwen3:8b` runs on the CPU (6.6 GB of 10.0 GB are in video memory); a smaller window needs less: `--context-window 16384`"
        )
    );
    assert_eq!(
        notice(9_999_999_999, 8192).as_deref(),
        Some(
            "1 % of `qwen3:8b` runs on the CPU (10.0 GB of 10.0 GB are in video memory); a smaller model will be faster"
        )
    );
    assert_eq!(
        notice(0, 32768).as_deref(),
        Some(
            "`qwen3:8b` runs on the CPU alone (10.0 GB of memory); a smaller model will be faster"
        )
    );
}

#[track_caller]
fn check_cut(
    estimate: u64,
    previous: Option<u64>,
    prompt: Option<u64>,
    output: Option<u64>,
    expected: Option<&str>,
) {
    let usage = Usage {
        prompt_tokens: prompt,
        output_tokens: output,
        prompt_time: Some(Duration::from_secs(1)),
        ..Usage::default()
    };
    assert_eq!(
        cut_notice(estimate, previous, &usage, 32768).as_deref(),
        expected
    );
}

#[test]
fn a_silent_cut_is_noticed() {
    check_cut(9000, Some(8000), Some(9100), Some(300), None);
    check_cut(9000, None, None, None, None);
    // Estimates are rough: half of it is no sign, a small prompt neither.
    check_cut(9000, None, Some(4500), None, None);
    check_cut(1500, None, Some(300), None, None);
    let cut = "it has probably cut the beginning; set a larger window with `--context-window` or start afresh";
    check_cut(
        9000,
        None,
        Some(2050),
        None,
        Some(&format!(
            "the server read 2,050 tokens of a prompt of about 9,000: {cut}"
        )),
    );
    check_cut(
        31000,
        None,
        Some(16386),
        None,
        Some(&format!(
            "the server read 16,386 tokens of a prompt of about 31,000: {cut}"
        )),
    );
    check_cut(
        20000,
        Some(20000),
        Some(16000),
        None,
        Some(&format!(
            "the server read 16,000 tokens of a prompt of about 20,000: {cut}"
        )),
    );
    check_cut(
        32000,
        None,
        Some(32000),
        Some(769),
        Some(
            "prompt and reply together (32,769 tokens) were larger than the window (32,768): the server has probably forgotten the beginning; set a larger one with `--context-window`",
        ),
    );
    check_cut(32000, None, Some(32000), Some(768), None);
}
