//! Tests of `config`: what a command line and variables mean, and what is said about those that mean nothing.

mod files;

use std::ffi::OsString;
use std::os::unix::ffi::OsStringExt;
use std::path::{Path, PathBuf};
use std::time::Duration;
use zcoder::config::flags::{self, COMMANDS, FLAGS, Takes};
use zcoder::config::{
    Command, Id, Paths, Source, StandInSettings, Typed, UsageError, help, nearest, paths,
    permissions, settings,
};
use zcoder::engine::Compaction;
use zcoder::headless::Output;
use zcoder::model::{Think, ToolStyle};
use zcoder::policy::{CommandMode, EditMode, Profile};
use zcoder::standin::Pace;

fn typed_with(args: &[&str], env: &[(&str, &str)]) -> Result<Typed, UsageError> {
    let args: Vec<OsString> = args.iter().map(OsString::from).collect();
    let look = |name: &str| {
        let found = env.iter().find(|(known, _)| *known == name);
        found.map(|(_, value)| OsString::from(value))
    };
    Typed::read(&args, &look)
}

fn typed(args: &[&str]) -> Typed {
    typed_with(args, &[]).expect("a command line that is right")
}

/// The whole text a user sees for a command line that is wrong, whether reading or resolving finds it.
#[track_caller]
fn refused(args: &[&str], env: &[(&str, &str)], expected: &str) {
    let resolved = typed_with(args, env).and_then(|typed| {
        settings::server(&typed)?;
        permissions::permissions(&typed, false)?;
        settings::tool_limits(&typed)?;
        settings::turn_limits(&typed)?;
        settings::compaction(&typed)?;
        StandInSettings::resolve(&typed).map(|_| ())
    });
    match resolved {
        Ok(()) => panic!("accepted: {args:?} {env:?}"),
        Err(error) => assert_eq!(error.to_string(), expected),
    }
}

/// `-m x` in any spelling is the same entry.
#[test]
fn a_value_may_follow_or_be_joined() {
    let expected = typed(&["-p", "fix it", "-m", "qwen3:8b"]);
    for args in [
        &["-pfix it", "-mqwen3:8b"][..],
        &["--prompt=fix it", "--model=qwen3:8b"],
        &["--prompt", "fix it", "--model", "qwen3:8b"],
    ] {
        assert_eq!(typed(args), expected, "{args:?}");
    }
    assert_eq!(expected.command, Command::Run);
    let model = expected.get(Id::Model).expect("a model");
    assert_eq!(
        (model.text(), model.source),
        (Ok("qwen3:8b"), Source::Flag("--model"))
    );
}

#[test]
fn short_flags_bundle_and_the_last_one_may_take_a_value() {
    let typed = typed(&["-qp", "x"]);
    assert!(typed.is_on(Id::Quiet));
    assert_eq!(typed.get(Id::Prompt).expect("a prompt").value, "x");
}

#[test]
fn the_last_of_several_counts_and_headers_add_up() {
    let typed = typed(&["-p", "a", "-p", "b", "--header", "A: 1", "--header", "B: 2"]);
    assert_eq!(typed.get(Id::Prompt).expect("a prompt").value, "b");
    let options = settings::server(&typed).expect("a server").options;
    let pair = |name: &str, value: &str| (name.to_string(), value.to_string());
    assert_eq!(options.target.headers(), [pair("A", "1"), pair("B", "2")]);
}

#[test]
fn flags_stand_before_and_after_the_command_and_two_dashes_end_them() {
    let first = typed(&["-q", "decode", "json", "-"]);
    assert_eq!(first, typed(&["decode", "-q", "json", "-"]));
    assert_eq!(first.command, Command::Decode);
    assert_eq!(first.words, ["json", "-"]);
    assert_eq!(typed(&["decode", "json", "--", "-q"]).words, ["json", "-q"]);
}

#[test]
fn help_and_version_end_the_reading() {
    assert_eq!(
        typed(&["--version", "--nonsense"]).command,
        Command::Version
    );
    assert_eq!(typed(&["-m", "x", "-V"]).command, Command::Version);
    assert_eq!(typed(&["--help", "--nonsense"]).command, Command::Help);
    assert_eq!(typed(&["models", "--help"]).words, ["models"]);
    assert!(typed(&["-p", "x", "-h"]).words.is_empty());
    assert_eq!(typed(&["help", "-m"]).words, ["-m"]);
}

#[test]
fn habits_of_neighbors_are_taken_and_named() {
    let plain = typed(&["-p", "fix it"]);
    let print = typed(&["--print", "fix it"]);
    assert_eq!(print.given, plain.given);
    assert_eq!(print.notes, ["`--print` was taken as `--prompt`"]);
    let exec = typed(&["exec", "fix it"]);
    assert_eq!(exec.given, plain.given);
    assert_eq!(exec.notes, ["`exec TEXT` was taken as `-p TEXT`"]);
    let dry = typed(&["--dry-run", "-p", "x"]);
    assert_eq!(
        dry.notes,
        ["`--dry-run` was taken as `--what-would-be-sent`"]
    );
    assert!(dry.is_on(Id::WhatWouldBeSent));
}

#[test]
fn variables_count_where_no_flag_does() {
    let env = [
        ("ZCODER_MODEL", "a"),
        ("ZCODER_YES", "on"),
        ("ZCODER_QUIET", "0"),
    ];
    let both = typed_with(&["-p", "x", "-m", "b"], &env).expect("right");
    assert_eq!(both.get(Id::Model).expect("a model").value, "b");
    let only = typed_with(&["-p", "x"], &env).expect("right");
    let model = only.get(Id::Model).expect("a model");
    assert_eq!(
        (model.text(), model.source),
        (Ok("a"), Source::Variable("ZCODER_MODEL"))
    );
    assert!(only.is_on(Id::Yes) && !only.is_on(Id::Quiet));
    // A command that does not know the flag does not look at its variable.
    assert!(!typed_with(&["models"], &env).expect("right").is_on(Id::Yes));
    let empty = typed_with(&["-p", "x"], &[("ZCODER_HOST", ""), ("OLLAMA_HOST", "box")]);
    let host = empty.expect("right");
    assert_eq!(
        host.get(Id::Host).expect("a host").source,
        Source::Variable("OLLAMA_HOST")
    );
}

/// zcoder.zsh has `ZCODER_THINK=true`.
#[test]
fn a_variable_may_say_on_and_off_in_other_words() {
    let think = |word: &str| {
        let typed = typed_with(&["-p", "x"], &[("ZCODER_THINK", word)]).expect("right");
        settings::server(&typed).expect("right").options.think
    };
    for word in ["on", "true", "1", "yes"] {
        assert_eq!(think(word), Some(Think::On), "{word}");
    }
    for word in ["off", "false", "0", "no"] {
        assert_eq!(think(word), Some(Think::Off), "{word}");
    }
    assert_eq!(think("low"), Some(Think::Low));
}

#[test]
fn what_is_wrong_with_a_command_line_is_named() {
    let none: &[(&str, &str)] = &[];
    refused(
        &["--modle", "x"],
        none,
        "unknown flag `--modle`; the nearest is `--model`",
    );
    refused(
        &["--frobnicate"],
        none,
        "unknown flag `--frobnicate`; `zcoder --help` lists all",
    );
    refused(
        &["-qz"],
        none,
        "unknown flag `-z`; `zcoder --help` lists all",
    );
    refused(
        &["demos"],
        none,
        "unknown command `demos`; the nearest is `demo`",
    );
    refused(
        &["frobnicate"],
        none,
        "unknown command `frobnicate`; a task is given with -p, and `zcoder --help` lists the commands",
    );
    refused(
        &["don't fix it"],
        none,
        "the interface that opens with a task is not built yet\ngive the task with -p: zcoder -p 'don'\\''t fix it'",
    );
    refused(&["--model"], none, "`--model` needs a value: --model NAME");
    refused(
        &["--model", "--yes"],
        none,
        "`--model` needs a value: --model NAME",
    );
    refused(
        &["-p"],
        none,
        "`--prompt` needs a value: --prompt TEXT\n`-p -` reads the prompt from standard input",
    );
    refused(&["--yes=now"], none, "`--yes=now`: `--yes` takes no value");
    refused(
        &["--output", "xml"],
        none,
        "`--output xml`: expected text, json or jsonl",
    );
    refused(
        &["models", "--yes"],
        none,
        "`--yes` has no meaning for `zcoder models`; it belongs to `zcoder -p` and `zcoder tool` and `zcoder undo` and `zcoder redo` and `zcoder diff` and `zcoder sessions` and `zcoder policy` and `zcoder trust` and `zcoder purge`",
    );
    refused(
        &["resume"],
        none,
        "`resume`: a session goes on with --continue, or with --resume and its id",
    );
    refused(&["mcp"], none, "`mcp`: MCP servers are not supported yet");
    refused(
        &["-p", "x"],
        &[("ZCODER_YES", "maybe")],
        "ZCODER_YES is `maybe`: expected 1, true, yes, on, 0, false, no or off",
    );
    refused(
        &["-p", "x"],
        &[("ZCODER_THINK", "hard")],
        "ZCODER_THINK is `hard`: expected on, off, low, medium or high",
    );
}

#[test]
fn what_is_wrong_with_a_value_is_named() {
    let none: &[(&str, &str)] = &[];
    refused(
        &["--seed", "-1"],
        none,
        "`--seed -1`: expected a whole number from 0 on",
    );
    refused(
        &["--max-turns", "0"],
        none,
        "`--max-turns 0`: expected a whole number from 1 on",
    );
    for percent in ["19", "96", "half"] {
        let expected =
            format!("`--compact-at {percent}`: expected a whole number from 20 to 95, or off");
        refused(&["--compact-at", percent], none, &expected);
    }
    refused(
        &["--temperature", "3"],
        none,
        "`--temperature 3`: expected a number from 0 to 2",
    );
    refused(
        &["--gap-timeout", "0"],
        none,
        "`--gap-timeout 0`: expected seconds from 1 to 86,400, or off",
    );
    refused(
        &["--connect-timeout", "off"],
        none,
        "`--connect-timeout off`: expected a whole number from 1 to 3600",
    );
    refused(
        &["--context-window", "1k"],
        none,
        "`--context-window 1k`: expected auto, or tokens from 4,096 to 10,485,760 such as 32768 or 32k",
    );
    refused(
        &["--keep-alive", "soon"],
        none,
        "`--keep-alive soon`: expected a time such as 10m, 1h30m, 90 (seconds), 0, or -1 for ever",
    );
    refused(
        &["--model", " "],
        none,
        "`--model  `: expected a model's name",
    );
    refused(
        &["--yes", "--read-only"],
        none,
        "--yes and --read-only exclude each other; drop one",
    );
    refused(
        &["--yes", "--edits", "ask"],
        none,
        "--yes and --edits exclude each other; drop one",
    );
    refused(
        &["--think", "on", "--no-think"],
        none,
        "--think and --no-think exclude each other; drop one",
    );
    refused(
        &["standin", "--port", "65536"],
        none,
        "`--port 65536`: expected a whole number from 0 to 65535",
    );
    refused(
        &["standin", "--scene", "a", "--script", "b"],
        none,
        "--scene and --script exclude each other; drop one",
    );
    for bad in [
        "novalue",
        ": x",
        "A b: x",
        "A: \u{e9}",
        "Host: x",
        "content-length: 3",
    ] {
        let expected = format!(
            "`--header {bad}`: expected `Name: value` in ASCII, and none of the headers that zcoder sets itself"
        );
        refused(&["--header", bad], none, &expected);
    }
}

#[test]
fn bytes_that_are_no_text_are_refused_where_text_is_needed() {
    let args = ["-m".into(), OsString::from_vec(b"caf\xe9".to_vec())];
    let typed = Typed::read(&args, &|_| None).expect("read as it came");
    let error = settings::server(&typed).expect_err("not UTF-8");
    assert_eq!(
        error.to_string(),
        "--model is not UTF-8: byte 3 begins no character\nconvert it, e.g. with iconv -f latin1 -t utf8"
    );
    // A folder's name may be anything.
    let args = ["-w".into(), OsString::from_vec(b"/caf\xe9".to_vec())];
    let typed = Typed::read(&args, &|_| None).expect("read as it came");
    let place = paths::place(&typed, &no_paths(), None).expect("a folder");
    assert_eq!(place.folder.into_os_string().into_vec(), b"/caf\xe9");
}

fn no_paths() -> Paths {
    Paths::find(&|_| None)
}

#[test]
fn the_server_part_of_a_full_command_line() {
    let typed = typed(&[
        "-p",
        "x",
        "-m",
        " qwen3:8b ",
        "--host",
        "http://box/ollama",
        "--think",
        "high",
        "--context-window",
        "32k",
        "--keep-alive",
        "90",
        "--tool-style",
        "text",
        "--allow-cloud",
        "--temperature",
        "0.5",
        "--seed",
        "7",
        "--connect-timeout",
        "2",
        "--first-byte-timeout",
        "off",
        "--gap-timeout",
        "60",
    ]);
    let options = settings::server(&typed).expect("right").options;
    assert_eq!(
        options.target.endpoint().to_string(),
        "http://box:80/ollama"
    );
    assert_eq!(options.model, Some(("qwen3:8b".to_string(), "--model")));
    assert_eq!(options.think, Some(Think::High));
    assert_eq!(options.num_ctx, Some(32_768));
    assert_eq!(options.keep_alive.as_deref(), Some("90s"));
    assert_eq!(options.tool_style, ToolStyle::Text);
    assert!(options.allow_cloud);
    assert_eq!((options.temperature, options.seed), (Some(0.5), Some(7)));
    assert_eq!(options.timeouts.connect, Duration::from_secs(2));
    assert_eq!(options.timeouts.first_byte, None);
    assert_eq!(options.timeouts.gap, Some(Duration::from_secs(60)));
}

#[test]
fn the_server_part_of_an_empty_command_line() {
    let options = settings::server(&typed(&["-p", "x"]))
        .expect("right")
        .options;
    assert_eq!(
        options.target.endpoint().to_string(),
        "http://127.0.0.1:11434"
    );
    assert_eq!(
        (options.model, options.num_ctx, options.think),
        (None, None, None)
    );
    assert_eq!((options.keep_alive, options.seed), (None, None));
    assert_eq!(options.tool_style, ToolStyle::Auto);
    assert_eq!(options.timeouts.first_byte, Some(Duration::from_secs(900)));
}

#[test]
fn times_to_keep_the_model_are_what_ollama_reads() {
    let kept = |text: &str| {
        let typed = typed(&["--keep-alive", text]);
        settings::server(&typed).map(|server| server.options.keep_alive)
    };
    for (given, sent) in [
        ("10m", "10m"),
        ("1h30m", "1h30m"),
        ("1.5h", "1.5h"),
        ("0", "0s"),
        ("-1", "-1s"),
        ("-1m", "-1m"),
        ("500ms", "500ms"),
    ] {
        assert_eq!(kept(given), Ok(Some(sent.to_string())), "{given}");
    }
    for given in ["", "m", "10", "10x", "1h 30m", "h1", "--5", "1..5s"] {
        assert_eq!(kept(given).is_ok(), given == "10", "{given}");
    }
}

#[track_caller]
fn permits(args: &[&str], env: &[(&str, &str)], commands: CommandMode, edits: EditMode) {
    let typed = typed_with(args, env).expect("right");
    let permissions = permissions::permissions(&typed, false).expect("right");
    assert_eq!(
        (permissions.commands, permissions.edits),
        (commands, edits),
        "{args:?}"
    );
}

#[test]
fn permissions_add_up_and_a_flag_beats_a_variable() {
    use {CommandMode as C, EditMode as E};
    let none: &[(&str, &str)] = &[];
    permits(&[], none, C::Ask, E::Auto);
    permits(&["--yes"], none, C::Allow, E::Allow);
    permits(&["--read-only"], none, C::Deny, E::Deny);
    permits(&["--deny-commands"], none, C::Deny, E::Auto);
    permits(&["--deny-commands", "--read-only"], none, C::Deny, E::Deny);
    permits(
        &["--commands", "allow", "--edits", "deny"],
        none,
        C::Allow,
        E::Deny,
    );
    permits(&["--read-only"], &[("ZCODER_YES", "1")], C::Deny, E::Deny);
    permits(&["--yes"], &[("ZCODER_READ_ONLY", "1")], C::Allow, E::Allow);
    permits(
        &["--edits", "ask"],
        &[("ZCODER_YES", "1")],
        C::Allow,
        E::Ask,
    );
    permits(
        &[],
        &[("ZCODER_COMMAND_POLICY", "allow")],
        C::Allow,
        E::Auto,
    );
    let typed = typed(&["--profile", "sysadmin", "--deny-commands"]);
    let permissions = permissions::permissions(&typed, true).expect("right");
    assert_eq!(permissions.profile, Profile::Sysadmin);
    assert_eq!(permissions.flag, Some("--deny-commands"));
    assert!(permissions.deny_questions);
    assert_eq!(permissions.edits, EditMode::Ask, "a broad workspace asks");
}

#[test]
fn the_home_folder_and_the_root_must_be_named() {
    let temp = crate::support::temp::Temp::new();
    let home = temp.path().to_path_buf();
    let variable = home.clone();
    let paths = Paths::find(&move |name| (name == "HOME").then(|| variable.clone().into()));
    let bare = typed(&["-p", "x"]);
    for broad in [home.as_path(), Path::new("/")] {
        let error = paths::place(&bare, &paths, Some(broad)).expect_err("too broad");
        assert_eq!(
            error.to_string(),
            format!(
                "`{0}` is too broad to become the workspace by accident\n\
                 go to the project's folder, or name it: --workspace '{0}' (edits are then asked for)",
                broad.display()
            )
        );
    }
    let named = typed(&["-p", "x", "-w", "."]);
    let place = paths::place(&named, &paths, Some(&home)).expect("named");
    assert!(place.broad);
    let below = home.join("project");
    let place = paths::place(&bare, &paths, Some(&below)).expect("an ordinary folder");
    assert_eq!((place.folder, place.broad), (below, false));
    let gone = paths::place(&bare, &paths, None).expect_err("no current folder");
    assert_eq!(
        gone.to_string(),
        "cannot use the workspace `.`: the current folder has vanished or may not be read\n\
         name a folder that exists and that you may read: --workspace FOLDER"
    );
}

#[test]
fn folders_follow_the_xdg_rules_and_a_missing_home_is_survived() {
    let find = |env: &[(&str, &str)]| {
        let env: Vec<(String, OsString)> = env
            .iter()
            .map(|(name, value)| (name.to_string(), value.into()))
            .collect();
        let look = |name: &str| {
            let found = env.iter().find(|(known, _)| known == name);
            found.map(|(_, value)| value.clone())
        };
        Paths::find(&look)
    };
    let path = |text: &str| Some(PathBuf::from(text));
    let none = find(&[]);
    assert_eq!((none.home, none.config, none.state), (None, None, None));
    assert_eq!(none.temp, PathBuf::from("/tmp"));
    let home = find(&[("HOME", "/h"), ("TMPDIR", "/t")]);
    assert_eq!(home.config, path("/h/.config/zcoder"));
    assert_eq!(home.state, path("/h/.local/state/zcoder"));
    assert_eq!(home.temp, PathBuf::from("/t"));
    let xdg = find(&[
        ("HOME", "/h"),
        ("XDG_CONFIG_HOME", "/c"),
        ("XDG_STATE_HOME", "relative"),
    ]);
    assert_eq!(xdg.config, path("/c/zcoder"));
    assert_eq!(
        xdg.state,
        path("/h/.local/state/zcoder"),
        "relative values are no values"
    );
    let ours = find(&[
        ("HOME", "/h"),
        ("ZCODER_HOME", "/z"),
        ("XDG_CONFIG_HOME", "/c"),
    ]);
    assert_eq!((ours.config, ours.state), (path("/z"), path("/z")));
}

#[test]
fn small_parts() {
    let standin = StandInSettings::resolve(&typed(&["standin"])).expect("right");
    assert_eq!(
        (standin.port, standin.pace, standin.list),
        (11_435, Pace::Model, false)
    );
    let standin = typed(&["standin", "--port", "0", "--pace", "none", "--log"]);
    let standin = StandInSettings::resolve(&standin).expect("right");
    assert_eq!(
        (standin.port, standin.pace, standin.log),
        (0, Pace::None, true)
    );
    let output = |word| settings::output(&typed(&["-p", "x", "--output", word]));
    assert_eq!(output("json"), Ok(Output::Json));
    assert_eq!(output("jsonl"), Ok(Output::JsonLines));
    let compaction = |words: &[&str]| settings::compaction(&typed(words)).expect("fits");
    let default = Compaction {
        percent: Some(80),
        tokens: Some(49_152),
        per_turn: 32,
    };
    assert_eq!(compaction(&[]), default);
    let all = [
        "--compact-at",
        "off",
        "--compact-above",
        "20000",
        "--max-compactions",
        "3",
    ];
    let given = Compaction {
        percent: None,
        tokens: Some(20_000),
        per_turn: 3,
    };
    assert_eq!(compaction(&all), given);
    for percent in [20, 95] {
        let given = compaction(&["--compact-at", &percent.to_string()]);
        let percent = Some(percent);
        assert_eq!(given, Compaction { percent, ..default });
    }
    let limits = settings::turn_limits(&typed(&["--max-turns", "3", "--max-seconds", "60"]));
    let limits = limits.expect("right");
    assert_eq!(
        (limits.max_turns, limits.max_time),
        (Some(3), Some(Duration::from_secs(60)))
    );
}

#[test]
fn the_task_without_a_name_is_not_offered_as_the_nearest_command() {
    let commands = || ["", "demo", "models"].into_iter();
    assert_eq!(nearest("\u{fffd}", commands()), None);
    assert_eq!(nearest("x", commands()), None);
}

#[test]
fn the_nearest_name_is_near() {
    let names = || {
        [
            "--model",
            "--host",
            "--max-turns",
            "--max-seconds",
            "--what-would-be-sent",
        ]
        .into_iter()
    };
    assert_eq!(nearest("--modle", names()), Some("--model"));
    assert_eq!(nearest("--hots", names()), Some("--host"));
    assert_eq!(nearest("--max-turn", names()), Some("--max-turns"));
    assert_eq!(nearest("--colour", names()), None);
    assert_eq!(nearest("--what", names()), Some("--what-would-be-sent"));
    assert_eq!(nearest("--max", names()), None);
    assert_eq!(nearest("--w", names()), None);
    assert_eq!(nearest("", names()), None);
    assert_eq!(nearest(&"x".repeat(100_000), names()), None);
}

#[test]
fn the_table_is_in_order_and_without_doubles() {
    let mut seen = Vec::new();
    for (place, row) in FLAGS.iter().enumerate() {
        assert_eq!(row.id as usize, place, "{}", row.long);
        let short = row.short.map(|c| format!("-{c}"));
        let names = row.also.iter().map(|name| name.to_string());
        for name in names.chain(short).chain([row.long.to_string()]) {
            assert!(!seen.contains(&name), "{name} twice");
            seen.push(name);
        }
        let own = format!("ZCODER_{}", row.long[2..].to_uppercase().replace('-', "_"));
        let ours = row.env.iter().any(|name| *name == own);
        assert!(row.env.is_empty() || ours, "{}: no {own}", row.long);
        assert!(
            !row.help.ends_with('.') && !row.help.is_empty(),
            "{}",
            row.long
        );
        if let Takes::OneOf(words) = row.takes {
            assert!(words.len() > 1, "{}", row.long);
        }
    }
    for (index, row) in flags::settings().enumerate() {
        assert_eq!(row.id as usize, index, "{}", row.long);
        assert_eq!(row.id.row().long, row.long);
    }
    for row in COMMANDS {
        assert_eq!(row.command.row().name, row.name);
    }
}

#[test]
fn every_topic_that_a_message_names_exists() {
    let mut named = 0;
    for (file, source) in crate::tidy::sources("src") {
        for (at, mark) in source.match_indices("zcoder help ") {
            let rest = &source[at + mark.len()..];
            let end = rest.find(|c: char| !c.is_ascii_lowercase() && c != '-');
            let topic = &rest[..end.unwrap_or(rest.len())];
            // `zcoder help TOPIC`, `zcoder help …`: not a name.
            if topic.is_empty() {
                continue;
            }
            named += 1;
            assert!(help::topic(topic).is_some(), "{file}: no help on `{topic}`");
        }
    }
    assert!(named >= 5, "the search found only {named}");
}

#[test]
fn help_knows_every_name_of_the_table_and_fits_a_window() {
    let overview = help::overview();
    for row in FLAGS {
        assert!(
            overview.contains(&row.usage()),
            "{} is not in --help",
            row.long
        );
        let text = help::topic(row.long).unwrap_or_default();
        assert!(text.contains(row.long), "no help on {}", row.long);
        for name in row.env {
            assert!(text.contains(name), "help on {} hides {name}", row.long);
            let all = help::topic("environment").unwrap_or_default();
            assert!(all.contains(name), "{name} is not in help environment");
        }
    }
    for row in COMMANDS.iter().filter(|row| !row.name.is_empty()) {
        let text = help::topic(row.name).unwrap_or_default();
        assert!(
            text.contains(&format!("zcoder {}", row.name)),
            "no help on {}",
            row.name
        );
    }
    for name in help::names().filter(|name| !name.is_empty()) {
        let text = help::topic(name).unwrap_or_default();
        for line in text.lines() {
            assert!(line.chars().count() <= 80, "{name}: {line}");
            assert_eq!(line.trim_end(), line, "{name}: trailing blank");
        }
    }
    for line in overview.lines() {
        assert!(line.chars().count() <= 80, "{line}");
    }
    assert_eq!(help::topic("nonsense"), None);
    assert_eq!(help::topic("-m"), help::topic("model"));
}

#[test]
fn the_readme_has_the_table_of_flags() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("README.md");
    let readme = std::fs::read_to_string(path).expect("README.md");
    let table = help::readme_table();
    assert!(
        readme.contains(&table),
        "README.md has another table of flags; this is the right one:\n\n{table}"
    );
}

#[test]
fn help_on_a_subject_with_the_name_of_a_command_has_both() {
    let text = help::topic("sessions").expect("a topic");
    assert!(
        text.starts_with("sessions: what is kept of a run\n"),
        "{text}"
    );
    assert!(text.contains("\nusage: zcoder sessions [list|"), "{text}");
    assert!(text.contains("--older AGE"), "{text}");
}
