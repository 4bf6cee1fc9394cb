//! Settings files: what they may say, who wins, what is locked, and what is said about a file that is wrong.

use super::typed_with;
use crate::support::cuts::Rng;
use crate::support::temp::Temp;
use std::fs;
use std::os::unix::fs::symlink;
use std::process::Command as Program;
use std::time::Duration;
use zcoder::config::flags::{FLAGS, Files, KEYS};
use zcoder::config::{Id, Paths, Source, Typed, UsageError, layers, permissions, settings};
use zcoder::model::Think;
use zcoder::policy::{CommandMode, EditMode, Profile};

/// A machine of its own: `site.json`, `user/config.json`, and a project.
struct Machine {
    temp: Temp,
    paths: Paths,
}

impl Machine {
    fn new() -> Machine {
        let temp = Temp::new();
        let user = temp.path().join("user");
        let found = Paths::find(&|name| (name == "ZCODER_HOME").then(|| user.clone().into()));
        let paths = Paths {
            home: Some(temp.path().to_path_buf()),
            site: temp.path().join("site.json"),
            ..found
        };
        Machine { temp, paths }
    }

    fn with(site: &str, user: &str) -> Machine {
        let machine = Machine::new();
        for (name, text) in [("site.json", site), ("user/config.json", user)] {
            if !text.is_empty() {
                machine.temp.write(name, text);
            }
        }
        machine
    }

    /// A command line over the files, and a project's file if it says anything.
    fn typed(
        &self,
        project: &str,
        env: &[(&str, &str)],
        args: &[&str],
    ) -> Result<(Typed, Vec<String>), UsageError> {
        let mut typed = typed_with(args, env)?;
        layers::add_machine(&mut typed, &self.paths)?;
        let left_out = match project {
            "" => Vec::new(),
            project => layers::add_project(&mut typed, project.as_bytes())?,
        };
        Ok((typed, left_out))
    }
}

/// What a user's file comes to.
#[track_caller]
fn wrong(bytes: impl AsRef<[u8]>, expected: &str) {
    let machine = Machine::new();
    machine.temp.write("user/config.json", bytes.as_ref());
    match machine.typed("", &[], &[]) {
        Ok(_) => panic!("accepted: {}", String::from_utf8_lossy(bytes.as_ref())),
        Err(error) => assert_eq!(error.to_string(), expected),
    }
}

#[test]
fn every_kind_of_value() {
    let user = r#"{
        "model": "qwen3:8b", "host": "box", "via": "ssh -W {host}:{port} gpubox",
        "header": ["A: 1", "B: 2"], "think": "high", "context_window": "32k", "keep_alive": -1,
        "tool_style": "text", "allow_cloud": true, "temperature": 0.5, "seed": 7,
        "connect_timeout": 2, "first_byte_timeout": "off", "gap_timeout": 60,
        "profile": "sysadmin", "edits": "ask", "commands": "allow", "command_timeout": 600,
        "max_tool_output": 1024, "max_turns": 3, "max_seconds": "60", "strict_finish": true,
        "compact_at": 50, "compact_above": "off", "max_compactions": 5,
        "output": "json", "quiet": true, "ephemeral": true, "no_guidance": true,
        "command_wrapper": ["bwrap", "--"], "guidance_names": ["CLAUDE.md"], "wire": false
    }"#;
    let machine = Machine::with("", user);
    let (typed, _) = machine.typed("", &[], &["-p", "x"]).expect("right");
    let options = settings::server(&typed).expect("right").options;
    let place = "~/user/config.json:2:18";
    assert_eq!(options.model, Some(("qwen3:8b".to_string(), place)));
    assert_eq!(options.target.headers().len(), 2);
    assert_eq!(options.num_ctx, Some(32_768));
    assert_eq!(options.keep_alive.as_deref(), Some("-1s"));
    assert!(options.allow_cloud);
    assert_eq!((options.temperature, options.seed), (Some(0.5), Some(7)));
    assert_eq!(options.timeouts.first_byte, None);
    assert_eq!(options.timeouts.gap, Some(Duration::from_secs(60)));
    let limits = settings::tool_limits(&typed).expect("right");
    assert_eq!(limits.command_timeout, Duration::from_secs(600));
    assert_eq!(limits.output_bytes, 1024);
    assert_eq!(limits.command_wrapper, ["bwrap", "--"]);
    let turn = settings::turn_limits(&typed).expect("right");
    assert_eq!(turn.max_turns, Some(3));
    assert_eq!(turn.max_time, Some(Duration::from_secs(60)));
    let compaction = settings::compaction(&typed).expect("right");
    assert_eq!((compaction.percent, compaction.tokens), (Some(50), None));
    assert_eq!(compaction.per_turn, 5);
    let may = permissions::permissions(&typed, false).expect("right");
    assert_eq!(may.commands, CommandMode::Allow);
    assert_eq!((may.edits, may.profile), (EditMode::Ask, Profile::Sysadmin));
    assert!(typed.is_on(Id::Quiet) && typed.is_on(Id::StrictFinish));
    assert!(typed.is_on(Id::NoGuidance) && typed.is_on(Id::Ephemeral));
    assert_eq!(typed.words_of(Id::GuidanceNames), ["CLAUDE.md"]);
    // The text names every key that the user may set, so that none is forgotten here.
    for row in FLAGS.iter().filter(|row| row.files != Files::None) {
        assert!(user.contains(&format!("\"{}\"", row.key())), "{}", row.long);
    }
    for row in KEYS.iter().filter(|row| row.files != Files::Project) {
        assert!(user.contains(&format!("\"{}\"", row.long)), "{}", row.long);
    }
}

/// `default` in the table is what the code does.
#[test]
fn the_defaults_of_the_table_are_the_defaults() {
    let bare = typed_with(&["-p", "x"], &[]).expect("right");
    for row in FLAGS.iter().filter(|row| !row.default.is_empty()) {
        let value = match row.default {
            "off" => "false".to_string(),
            word => format!("\"{word}\""),
        };
        let user = format!("{{\"{}\": {value}}}", row.key());
        let machine = Machine::with("", &user);
        let (typed, _) = machine.typed("", &[], &["-p", "x"]).expect("right");
        for typed in [&bare, &typed] {
            let debug = |typed: &Typed| {
                let mut server = settings::server(typed).expect("right").options;
                server.model = None;
                format!(
                    "{server:?} {:?} {:?} {:?} {:?} {:?} {:?}",
                    settings::tool_limits(typed),
                    settings::turn_limits(typed),
                    settings::compaction(typed),
                    permissions::permissions(typed, false).map(|may| (
                        may.commands,
                        may.edits,
                        may.profile
                    )),
                    settings::output(typed),
                    [Id::AllowCloud, Id::StrictFinish, Id::Quiet].map(|id| typed.is_on(id)),
                )
            };
            assert_eq!(debug(typed), debug(&bare), "{}", row.long);
        }
    }
}

#[test]
fn a_wrong_file_is_named_with_line_column_and_what_was_expected() {
    wrong(
        "{\n  \"modle\": 1}",
        "~/user/config.json:2:3: unknown key `modle`; the nearest is `model`",
    );
    wrong(
        "{\"comand_wrapper\": []}",
        "~/user/config.json:1:2: unknown key `comand_wrapper`; the nearest is `command_wrapper`",
    );
    wrong(
        "{\"\": 1}",
        "~/user/config.json:1:2: unknown key ``; `zcoder help settings` lists all",
    );
    wrong(
        "{\"frobnicate\": 1}",
        "~/user/config.json:1:2: unknown key `frobnicate`; `zcoder help settings` lists all",
    );
    wrong(
        "{\"model\": \"a\",\n \"quiet\": true, \"model\": \"b\"}",
        "~/user/config.json:2:17: `model` stands twice, first in line 1",
    );
    wrong(
        "{\"model\": 5}",
        "~/user/config.json:1:11: `model`: expected a string",
    );
    wrong(
        "{\"quiet\":\n\t\"yes\"}",
        "~/user/config.json:2:2: `quiet`: expected true or false",
    );
    wrong(
        "{\"edits\": \"sometimes\"}",
        "~/user/config.json:1:11: `edits`: expected auto, ask or deny",
    );
    wrong(
        "{\"seed\": true}",
        "~/user/config.json:1:10: `seed`: expected a number or a string",
    );
    wrong(
        "{\"seed\": 1.5}",
        "~/user/config.json:1:10: `seed` is `1.5`: expected a whole number from 0 on",
    );
    wrong(
        "{\"max_seconds\": 0}",
        "~/user/config.json:1:17: `max_seconds` is `0`: expected a whole number from 1 to 4294967295",
    );
    for names in [
        "\"CLAUDE.md\"",
        "[\"../x\"]",
        "[\"\"]",
        "[1]",
        "[\"a\",\"a\",\"a\",\"a\",\"a\",\"a\",\"a\",\"a\",\"a\"]",
    ] {
        wrong(
            format!("{{\"guidance_names\": {names}}}"),
            "~/user/config.json:1:20: `guidance_names`: expected an array of at most 8 names of files, without folders",
        );
    }
    wrong(
        "{\"host\": \"ftp://me:secret@x\"}",
        "~/user/config.json:1:10: `ftp://…@x`: scheme \"ftp\": expected http or https",
    );
}

#[test]
fn a_secret_in_a_wrong_file_is_not_shown() {
    for header in ["Authorization: \u{e9}", "secret"] {
        let machine = Machine::with("", &format!("{{\"header\": \"{header}\"}}"));
        let error = machine.typed("", &[], &[]).expect_err("wrong").to_string();
        assert!(
            !error.contains("secret") && !error.contains('\u{e9}'),
            "{error}"
        );
        assert!(
            error.starts_with("~/user/config.json:1:12: `header` is `"),
            "{error}"
        );
    }
}

#[test]
fn a_file_that_is_not_json_or_not_a_file() {
    wrong(
        "",
        "~/user/config.json:1:1: expected a value at byte 0, found the end",
    );
    wrong(
        "[]",
        "~/user/config.json:1:1: expected one object, such as {\"model\": \"qwen3:8b\"}",
    );
    wrong(
        "{\"model\": \"a\",\n}",
        "~/user/config.json:2:1: expected a quoted name after a comma in an object at byte 15, found `}`",
    );
    wrong(
        "{} // no\n",
        "~/user/config.json:1:4: expected nothing after the value at byte 3, found `/`",
    );
    wrong(
        b"{\"model\": \"caf\xe9\"}",
        "~/user/config.json:1:15: a byte that begins no character: the file is not UTF-8",
    );
    wrong(
        vec![b' '; (256 << 10) + 1],
        "cannot use `~/user/config.json`: longer than 262144 bytes\n\
         mend it or move it away; `zcoder help settings` tells what may stand there",
    );
    let full = format!("{{}}{}", " ".repeat((256 << 10) - 2));
    let machine = Machine::with("", &full);
    assert!(machine.typed("", &[], &[]).is_ok(), "exactly the limit");
    // A byte order mark is skipped, and does not move the columns.
    wrong(
        "\u{feff}{\"x\": 1}",
        "~/user/config.json:1:2: unknown key `x`; `zcoder help settings` lists all",
    );
    let machine = Machine::with("", "\u{feff}{\"quiet\": true}");
    let (typed, _) = machine.typed("", &[], &[]).expect("right");
    assert!(typed.is_on(Id::Quiet));
}

#[test]
fn what_stands_in_the_place_of_a_file_is_named() {
    let cannot = |cause: &str| {
        format!(
            "cannot use `~/user/config.json`: {cause}\n\
             mend it or move it away; `zcoder help settings` tells what may stand there"
        )
    };
    let folder = Machine::new();
    folder.temp.write("user/config.json/x", "");
    let error = folder.typed("", &[], &[]).expect_err("a folder");
    assert_eq!(error.to_string(), cannot("is a directory"));
    let fifo = Machine::new();
    let user = fifo.temp.path().join("user");
    fs::create_dir(&user).expect("folder");
    let made = Program::new("mkfifo")
        .arg(user.join("config.json"))
        .status();
    assert!(made.expect("mkfifo").success());
    let error = fifo.typed("", &[], &[]).expect_err("a FIFO");
    assert_eq!(error.to_string(), cannot("is a FIFO"));
    // A sparse file of 100 MB is refused by its first bytes.
    let large = Machine::new();
    let path = large.temp.write("user/config.json", "");
    let file = fs::OpenOptions::new().write(true).open(path);
    file.expect("open").set_len(100 << 20).expect("sparse");
    let error = large.typed("", &[], &[]).expect_err("too long");
    assert_eq!(error.to_string(), cannot("longer than 262144 bytes"));
    // Many keep their files elsewhere and link to them; a link that leads nowhere is not the same as no file.
    let linked = Machine::new();
    linked
        .temp
        .write("dotfiles/zcoder.json", "{\"quiet\": true}");
    fs::create_dir(linked.temp.path().join("user")).expect("folder");
    let link = linked.temp.path().join("user/config.json");
    symlink("../dotfiles/zcoder.json", &link).expect("link");
    let (typed, _) = linked.typed("", &[], &[]).expect("right");
    assert!(typed.is_on(Id::Quiet));
    fs::remove_file(linked.temp.path().join("dotfiles/zcoder.json")).expect("file");
    let error = linked.typed("", &[], &[]).expect_err("no file");
    let cause = "the link leads nowhere: No such file or directory (os error 2)";
    assert_eq!(error.to_string(), cannot(cause));
    // Nothing at all, and a file where a folder would be.
    assert!(Machine::new().typed("", &[], &[]).is_ok());
    let shadowed = Machine::new();
    shadowed.temp.write("user", "");
    assert!(shadowed.typed("", &[], &[]).is_ok());
}

#[test]
fn the_stronger_one_counts() {
    let machine = Machine::with("{\"model\": \"site\"}", "{\"model\": \"user\"}");
    let model = |machine: &Machine, project: &str, env: &[(&str, &str)], args: &[&str]| {
        let (typed, _) = machine.typed(project, env, args).expect("right");
        let given = typed.get(Id::Model).expect("a model");
        (given.word().to_string(), given.source.name())
    };
    let site = Machine::with("{\"model\": \"site\"}", "");
    let pair = |value: &str, name: &'static str| (value.to_string(), name);
    assert_eq!(model(&site, "", &[], &[]), pair("site", "~/site.json:1:11"));
    let user = pair("user", "~/user/config.json:1:11");
    assert_eq!(model(&machine, "", &[], &[]), user);
    let project = "{\"model\": \"project\"}";
    let expected = pair("project", ".zcoder/config.json:1:11");
    assert_eq!(model(&machine, project, &[], &[]), expected);
    let env = [("ZCODER_MODEL", "env")];
    assert_eq!(
        model(&machine, project, &env, &[]),
        pair("env", "ZCODER_MODEL")
    );
    let flag = pair("flag", "--model");
    assert_eq!(model(&machine, project, &env, &["-m", "flag"]), flag);
}

#[test]
fn what_is_on_in_a_file_is_switched_off_by_the_next_one() {
    let machine = Machine::with("", "{\"quiet\": true, \"strict_finish\": true}");
    let (typed, _) = machine
        .typed("{\"strict_finish\": false}", &[("ZCODER_QUIET", "0")], &[])
        .expect("right");
    assert!(!typed.is_on(Id::Quiet) && !typed.is_on(Id::StrictFinish));
}

/// The address in one place, the program that leads to it in another.
#[test]
fn an_address_behind_tls_may_get_its_program_from_elsewhere() {
    let machine = Machine::with("", "{\"host\": \"https://box\"}");
    let (typed, _) = machine.typed("", &[], &[]).expect("read");
    let error = settings::server(&typed).expect_err("no program");
    let text = error.to_string();
    assert!(
        text.starts_with("~/user/config.json:1:10: `https://box`: "),
        "{text}"
    );
    let (typed, _) = machine.typed("", &[], &["--via", "x"]).expect("read");
    assert!(settings::server(&typed).is_ok());
}

/// Whatever stands in a file: an end, no panic, and an error that begins with its name.
#[test]
fn damaged_files_are_errors_with_a_place() {
    let text = "{\"model\": \"caf\u{e9}\", \"host\": \"http://box:80/a\", \"edits\": \"ask\",\n \
                \"header\": [\"A: 1\"], \"lock\": [\"host\"], \"checks\": {\"t\": \"make \\u0020\"},\n \
                \"seed\": -7e1, \"quiet\": true, \"wire\": false, \"command_wrapper\": [\"a\", \"b\"]}";
    let mut rng = Rng::new(7);
    let machine = Machine::new();
    for _ in 0..300 {
        let bytes = rng.mutate(text.as_bytes());
        machine.temp.write("site.json", &bytes);
        for error in [
            machine.typed("", &[], &[]).err(),
            layers::add_project(&mut Typed::default(), &bytes).err(),
        ] {
            let text = error.map(|error| error.to_string()).unwrap_or_default();
            let named = ["~/site.json:", ".zcoder/config.json:"];
            let named = named.iter().any(|name| text.starts_with(name));
            assert!(text.is_empty() || named, "{text}");
        }
    }
}

#[test]
fn a_setting_that_is_on_or_off_may_be_true_or_false() {
    for (value, expected) in [
        ("true", Some(Think::On)),
        ("false", Some(Think::Off)),
        ("\"low\"", Some(Think::Low)),
    ] {
        let machine = Machine::with("", &format!("{{\"think\": {value}}}"));
        let (typed, _) = machine.typed("", &[], &[]).expect("right");
        let options = settings::server(&typed).expect("right").options;
        assert_eq!(options.think, expected, "{value}");
    }
    wrong(
        "{\"edits\": true}",
        "~/user/config.json:1:11: `edits`: expected auto, ask or deny",
    );
}

#[test]
fn a_project_tightens_and_never_loosens() {
    use {CommandMode as C, EditMode as E};
    let user = "{\"commands\": \"deny\", \"edits\": \"ask\", \"profile\": \"sysadmin\"}";
    let strict = Machine::with("", user);
    let easy = Machine::with("", "{\"commands\": \"allow\", \"allow_cloud\": true}");
    let may = |machine: &Machine, project: &str, args: &[&str]| {
        let (typed, left_out) = machine.typed(project, &[], args).expect("right");
        assert_eq!(left_out, [""; 0]);
        let may = permissions::permissions(&typed, false).expect("right");
        (may.commands, may.edits)
    };
    let loose = "{\"commands\": \"ask\", \"edits\": \"auto\"}";
    assert_eq!(may(&strict, loose, &[]), (C::Deny, E::Ask));
    assert_eq!(may(&easy, loose, &[]), (C::Ask, E::Auto));
    let tight = "{\"commands\": \"deny\", \"edits\": \"deny\", \"allow_cloud\": false}";
    assert_eq!(may(&easy, tight, &[]), (C::Deny, E::Deny));
    assert_eq!(
        may(&easy, tight, &["--yes"]),
        (C::Allow, E::Allow),
        "a flag beats it"
    );
    let (typed, _) = easy.typed(tight, &[], &[]).expect("right");
    assert!(!typed.is_on(Id::AllowCloud));
    // A home folder as workspace asks, whatever a file says; a flag may say otherwise.
    let easy = Machine::with("", "{\"edits\": \"auto\"}");
    let broad = |args: &[&str]| {
        let (typed, _) = easy.typed("", &[], args).expect("right");
        permissions::permissions(&typed, true).expect("right").edits
    };
    assert_eq!((broad(&[]), broad(&["--edits", "auto"])), (E::Ask, E::Auto));
}

#[test]
fn what_a_file_may_not_say_is_refused_by_name() {
    let one_run =
        |key: &str, flag: &str| format!("`{key}` is no setting: it is said for one run, by {flag}");
    let own = |key: &str| {
        format!("a project may not set `{key}`; it belongs into a config.json of your own")
    };
    let machine = Machine::new();
    for (project, expected) in [
        ("{\"host\": \"x\"}", own("host")),
        ("{\"via\": \"x\"}", own("via")),
        ("{\"header\": \"A: b\"}", own("header")),
        ("{\"command_wrapper\": []}", own("command_wrapper")),
        ("{\"guidance_names\": []}", own("guidance_names")),
        ("{\"max_turns\": 9}", own("max_turns")),
        ("{\"output\": \"json\"}", own("output")),
        ("{\"trust\": true}", one_run("trust", "--trust")),
        ("{\"yes\": true}", one_run("yes", "--yes")),
        (
            "{\"debug_log\": \"x\"}",
            one_run("debug_log", "--debug-log"),
        ),
        (
            "{\"lock\": []}",
            "only the site's settings can lock".to_string(),
        ),
    ] {
        let error = machine.typed(project, &[], &[]).expect_err(project);
        let expected = format!(".zcoder/config.json:1:2: {expected}");
        assert_eq!(error.to_string(), expected);
    }
    for (project, expected) in [
        (
            "{\"commands\": \"allow\"}",
            ".zcoder/config.json:1:14: a project may only tighten `commands`: expected ask or deny",
        ),
        (
            "{\"allow_cloud\": true}",
            ".zcoder/config.json:1:17: a project may only tighten `allow_cloud`: expected false",
        ),
        (
            "{\"profile\": \"coding\"}",
            ".zcoder/config.json:1:13: a project may only tighten `profile`: expected sysadmin",
        ),
        (
            "{\"wire\": true}",
            ".zcoder/config.json:1:10: a project may only tighten `wire`: expected false",
        ),
        (
            "{\"token\": \"x\"}",
            ".zcoder/config.json:1:2: unknown key `token`; `zcoder help settings` lists all",
        ),
        (
            "{\"wrapper\": \"x\"}",
            ".zcoder/config.json:1:2: unknown key `wrapper`; `zcoder help settings` lists all",
        ),
        (
            "{\"checks\": {\"test\": 1}}",
            ".zcoder/config.json:1:12: `checks`: expected the text of a command for `test`",
        ),
    ] {
        let error = machine.typed(project, &[], &[]).expect_err(project);
        assert_eq!(error.to_string(), expected);
    }
    for (site, expected) in [
        (
            "{\"commands\": \"allow\"}",
            "~/site.json:1:14: a site may only tighten `commands`: expected ask or deny",
        ),
        (
            "{\"quiet\": true}",
            "~/site.json:1:2: a site may not set `quiet`: it is each user's",
        ),
        (
            "{\"checks\": {}}",
            "~/site.json:1:2: `checks` belongs into the .zcoder/config.json of a project",
        ),
        (
            "{\"lock\": \"host\"}",
            "~/site.json:1:10: `lock`: expected an array of keys, such as [\"host\"]",
        ),
        (
            "{\"lock\": [\"hots\"]}",
            "~/site.json:1:10: unknown key `hots`; the nearest is `host`",
        ),
        (
            "{\"lock\": [\"yes\"]}",
            "~/site.json:1:10: `lock`: `yes` is no setting",
        ),
    ] {
        let error = Machine::with(site, "").typed("", &[], &[]).expect_err(site);
        assert_eq!(error.to_string(), expected);
    }
}

#[test]
fn what_is_locked_nobody_else_sets() {
    let site = "{\"host\": \"box\", \"commands\": \"ask\",\n\"lock\": [\"host\", \"commands\", \"via\", \"command_wrapper\"]}";
    let machine = Machine::with(site, "");
    let lock = "~/site.json:2:9 locks";
    let refused = |env: &[(&str, &str)], args: &[&str], expected: &str| {
        let error = machine.typed("", env, args).expect_err("locked");
        assert_eq!(error.to_string(), expected);
    };
    refused(
        &[],
        &["--host", "x"],
        &format!("--host: {lock} `host` at `box`"),
    );
    refused(
        &[("OLLAMA_HOST", "x")],
        &[],
        &format!("OLLAMA_HOST: {lock} `host` at `box`"),
    );
    refused(
        &[],
        &["--yes"],
        &format!("--yes: {lock} `commands` at `ask`"),
    );
    refused(
        &[],
        &["--commands", "allow"],
        &format!("--commands: {lock} `commands` at `ask`"),
    );
    refused(
        &[],
        &["--via", "x"],
        &format!("--via: {lock} `via`; leave it unset"),
    );
    // The same again, and what is tighter, is no contradiction.
    for args in [
        &["--host", "box"][..],
        &["--read-only"],
        &["--deny-commands"],
        &["--commands", "ask"],
    ] {
        assert!(machine.typed("", &[], args).is_ok(), "{args:?}");
    }
    for (user, expected) in [
        (
            "{\"host\": \"x\"}",
            "~/user/config.json:1:10: ~/site.json:2:9 locks `host` at `box`",
        ),
        (
            "{\"command_wrapper\": [\"x\"]}",
            "~/user/config.json:1:21: ~/site.json:2:9 locks `command_wrapper`; leave it unset",
        ),
    ] {
        let machine = Machine::with(site, user);
        let error = machine.typed("", &[], &[]).expect_err(user);
        assert_eq!(error.to_string(), expected);
    }
    // What a project says is left out; its user may not be able to change it.
    let site = "{\"model\": \"a\", \"lock\": [\"model\", \"checks\", \"commands\"]}";
    let machine = Machine::with(site, "");
    let project = "{\"model\": \"b\", \"commands\": \"deny\", \"checks\": {\"test\": \"make\"}}";
    let (typed, left_out) = machine.typed(project, &[], &[]).expect("right");
    assert_eq!(typed.get(Id::Model).expect("a model").word(), "a");
    assert_eq!(settings::checks(&typed), []);
    assert_eq!(
        left_out,
        [
            ".zcoder/config.json:1:11: ~/site.json:1:24 locks `model`",
            ".zcoder/config.json:1:46: ~/site.json:1:24 locks `checks`",
        ]
    );
    let commands = typed.get(Id::Commands).expect("commands");
    assert_eq!(commands.word(), "deny", "a policy may always be tightened");
    assert!(matches!(commands.source, Source::File(_)));
}

#[test]
fn relative_folders_are_no_folders_and_are_named() {
    let paths = Paths::find(&|name| match name {
        "HOME" | "TMPDIR" => Some("relative".into()),
        "XDG_CONFIG_HOME" => Some("".into()),
        _ => None,
    });
    assert_eq!(paths.ignored, ["HOME", "TMPDIR"]);
    assert_eq!((paths.config, paths.state), (None, None));
}
