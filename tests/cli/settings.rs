//! Settings files and the real binary: which commands read them, who wins, and what a wrong one comes to.

use crate::support::run::{Ran, run, standin, zcoder};
use crate::support::temp::Temp;
use std::process::Command;

/// `zcoder` in `work`, with its files in `user`.
fn command(temp: &Temp, args: &[&str]) -> Command {
    let mut command = zcoder(&temp.path().join("work"), args);
    command.env("HOME", temp.path());
    command.env("ZCODER_HOME", temp.path().join("user"));
    command
}

fn with(temp: &Temp, args: &[&str]) -> Ran {
    run(&mut command(temp, args))
}

fn project() -> Temp {
    let temp = Temp::new();
    temp.write("work/a.c", "x\n");
    temp
}

#[test]
fn a_wrong_file_ends_what_needs_it_with_exit_code_2_and_nothing_else() {
    let temp = project();
    temp.write("user/config.json", "{\n  \"modle\": \"x\"\n}\n");
    let text = "zcoder: ~/user/config.json:2:3: unknown key `modle`; the nearest is `model`\n";
    for args in [
        &["-p", "x"][..],
        &["models"],
        &["tool", "list_files", "{}"],
        &["policy", "check", "true"],
    ] {
        let ran = with(&temp, args);
        assert_eq!((ran.code, ran.out.as_str()), (Some(2), ""), "{args:?}");
        assert_eq!(ran.err, text, "{args:?}");
    }
    for args in [
        &["--version"][..],
        &["--help"],
        &["help", "settings"],
        &["rules"],
        &["trust"],
        &["decode", "json", "../user/config.json"],
    ] {
        assert_eq!(with(&temp, args).code, Some(0), "{args:?}");
    }
}

#[test]
fn a_run_uses_the_files_of_user_and_trusted_project() {
    let temp = project();
    let server = standin(Some("two-models"));
    let user = format!("{{\"host\": \"{}\", \"quiet\": true}}", server.address());
    temp.write("user/config.json", user);
    temp.write(
        "work/.zcoder/config.json",
        "{\"model\": \"stand-in:latest\", \"commands\": \"deny\", \"seed\": 7}",
    );
    let args = ["-p", "x", "--what-would-be-sent"];
    let new = with(&temp, &args);
    assert_eq!(new.code, Some(2), "two models, and nobody to choose");
    let unused = "zcoder: not used, since it is not trusted: .zcoder/config.json; `zcoder trust` shows and accepts it, --trust does for one run\n";
    assert!(new.err.starts_with(unused), "{}", new.err);
    let shown = with(&temp, &["trust", "--yes"]);
    assert!(
        shown
            .out
            .ends_with("    model: stand-in:latest\n    commands: deny\n    seed: 7\n"),
        "{}",
        shown.out
    );
    let ran = with(&temp, &args);
    assert_eq!((ran.code, ran.err.as_str()), (Some(0), ""), "{}", ran.err);
    let begin = "{\"model\":\"stand-in:latest\",";
    assert!(ran.out.starts_with(begin), "{}", ran.out);
    assert!(ran.out.contains("\"seed\":7"), "{}", ran.out);
    // The place of a setting is what decides, by name.
    let checked = with(&temp, &["policy", "check", "touch x"]);
    assert_eq!(
        checked.out,
        "touch x        no rule allows it\na rule for it  allow touch\nverdict        deny: .zcoder/config.json:1:42\n"
    );
    // A flag beats it, a variable too.
    let mut allowed = command(&temp, &["policy", "check", "touch x"]);
    let allowed = run(allowed.env("ZCODER_COMMAND_POLICY", "allow"));
    assert_eq!(allowed.code, Some(0), "{}", allowed.out);
    // Broken, but trusted.
    temp.write("work/.zcoder/config.json", "{\"host\": \"evil\"}");
    let host = with(&temp, &["-p", "x", "--trust"]);
    assert_eq!(
        (host.code, host.err.as_str()),
        (
            Some(2),
            "zcoder: .zcoder/config.json:1:2: a project may not set `host`; it belongs into a config.json of your own\n"
        )
    );
}

#[test]
fn a_command_wrapper_is_part_of_every_command() {
    let temp = project();
    temp.write(
        "user/config.json",
        "{\"command_wrapper\": [\"env\", \"WRAPPED=yes\"], \"commands\": \"allow\"}",
    );
    let ran = with(
        &temp,
        &["tool", "run_command", r#"{"command":"echo $WRAPPED"}"#],
    );
    assert_eq!(ran.code, Some(0), "{}", ran.err);
    assert!(ran.out.contains("yes"), "{}", ran.out);
}

/// Only root can put a file at `/etc/zcoder` for one process; for others this test says nothing.
#[test]
fn the_site_has_a_place_that_no_variable_names() {
    let temp = project();
    temp.write(
        "etc/zcoder/config.json",
        "{\"commands\": \"deny\", \"lock\": [\"commands\"]}",
    );
    temp.write("user/config.json", "{\"commands\": \"allow\"}");
    let inside = |args: &[&str]| {
        let mut command = Command::new("unshare");
        let script = "mount --bind \"$0\" /etc && exec \"$@\"";
        command.args(["-m", "sh", "-c", script]);
        command.arg(temp.path().join("etc"));
        command.arg(env!("CARGO_BIN_EXE_zcoder")).args(args);
        command.current_dir(temp.path().join("work")).env_clear();
        command.env("PATH", std::env::var_os("PATH").unwrap_or_default());
        command.env("ZCODER_HOME", temp.path().join("user"));
        run(&mut command)
    };
    if inside(&["--version"]).code != Some(0) {
        return;
    }
    let user = temp.path().join("user/config.json").display().to_string();
    let ran = inside(&["policy", "check", "touch x"]);
    assert_eq!(
        (ran.code, ran.err),
        (
            Some(2),
            format!(
                "zcoder: {user}:1:14: /etc/zcoder/config.json:1:30 locks `commands` at `deny`\n"
            )
        )
    );
    temp.write("user/config.json", "{}");
    let ran = inside(&["policy", "check", "touch x"]);
    assert_eq!(
        ran.out,
        "touch x        no rule allows it\na rule for it  allow touch\nverdict        deny: /etc/zcoder/config.json:1:14\n"
    );
    let ran = inside(&["policy", "check", "touch x", "--yes"]);
    assert_eq!(
        ran.err,
        "zcoder: --yes: /etc/zcoder/config.json:1:30 locks `commands` at `deny`\n"
    );
}

#[test]
fn a_folder_that_is_no_absolute_path_is_said() {
    let temp = project();
    let mut command = zcoder(&temp.path().join("work"), &["policy", "check", "true"]);
    let ran = run(command.env("XDG_CONFIG_HOME", "conf"));
    assert_eq!(
        ran.err,
        "zcoder: XDG_CONFIG_HOME is not used: it is no absolute path\n"
    );
}

#[test]
fn config_prints_every_value_and_where_it_came_from() {
    let temp = project();
    temp.write(
        "user/config.json",
        "{\"model\": \"a\\u001b[2J\", \"commands\": \"allow\", \"command_wrapper\": [\"nice\", \"-n5\"],\n\
         \"header\": [\"Authorization: Bearer secret\", \"X-Team: secret\"]}",
    );
    temp.write(
        "work/.zcoder/config.json",
        "{\"seed\": 7, \"checks\": {\"test\": \"make test\", \"lint\": \"ruff check .\"}}",
    );
    let args = ["config", "--trust", "--edits", "ask"];
    let mut command = command(&temp, &args);
    let ran = run(command.env("ZCODER_QUIET", "0"));
    assert_eq!((ran.code, ran.err.as_str()), (Some(0), ""));
    assert!(!ran.out.contains("secret"), "{}", ran.out);
    let line = |name: &str, value: &str, source: &str| format!("{name:18}  {value:24}  {source}\n");
    let user = "~/user/config.json";
    for expected in [
        line("model", "a\\x1b[2J", &format!("{user}:1:11")),
        line("host", "127.0.0.1:11434", "built-in"),
        line("via", "-", "built-in"),
        line("header", "Authorization: …", &format!("{user}:2:11")),
        line("header", "X-Team: …", &format!("{user}:2:11")),
        line("seed", "7", ".zcoder/config.json:1:10"),
        line("edits", "ask", "--edits"),
        line("commands", "allow", &format!("{user}:1:37")),
        line("--trust", "on", "--trust"),
        line("command_timeout", "120", "built-in"),
        line("quiet", "off", "ZCODER_QUIET"),
        line("command_wrapper", "nice -n5", &format!("{user}:1:65")),
        line("checks", "test: make test", ".zcoder/config.json:1:23"),
        line("checks", "lint: ruff check .", ".zcoder/config.json:1:23"),
        line("wire", "on", "built-in"),
    ] {
        assert!(ran.out.contains(&expected), "{expected}{}", ran.out);
    }
    let names = ran.out.lines().map(|line| line.split("  ").next());
    let mut names: Vec<&str> = names.flatten().collect();
    names.dedup();
    let count = names.len();
    names.sort_unstable();
    names.dedup();
    assert_eq!(names.len(), count, "a name in two places");
    assert!(count > 30, "{}", ran.out);
    // Twice the same.
    assert_eq!(run(&mut command).out, ran.out);
    // One key: who says what, the strongest first.
    let one = with(&temp, &["config", "commands", "--read-only"]);
    let expected = [
        line("commands", "deny", "--read-only"),
        line("commands", "allow", &format!("{user}:1:37")),
        line("commands", "ask", "built-in"),
    ];
    assert!(one.out == expected.concat(), "{}", one.out);
    assert_eq!(
        with(&temp, &["config", "--commands", "ask", "--", "--commands"]).out,
        {
            let mut expected = expected;
            expected[0] = line("commands", "ask", "--commands");
            expected.concat()
        }
    );
    let unknown = with(&temp, &["config", "modle"]);
    assert_eq!(
        (unknown.code, unknown.err.as_str()),
        (
            Some(2),
            "zcoder: unknown key `modle`; the nearest is `model`\n"
        )
    );
    // A home folder asks by itself.
    temp.write("user/config.json", "{\"edits\": \"auto\"}");
    let home = temp.path().display().to_string();
    let broad = with(&temp, &["config", "-w", &home]);
    let careful = line("edits", "ask", "built-in, for / and home folders");
    assert!(broad.out.contains(&careful), "{}", broad.out);
}
