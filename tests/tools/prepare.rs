//! What a call is worked out to: commands with folder and limit, the end of a task.

use std::time::Duration;

use zcoder::policy::Command;
use zcoder::tools::{Call, Finish, Limits, Prepared, Toolbox, Workspace};

use super::kit::Kit;

#[track_caller]
fn command(kit: &mut Kit, arguments: &[(&str, &str)]) -> Command {
    match kit.prepare("run_command", arguments) {
        Prepared::Command(command) => command,
        other => panic!("no command: {other:?}"),
    }
}

#[test]
fn a_command_gets_its_folder_its_limit_and_what_a_question_needs() {
    let mut kit = Kit::new();
    kit.put("src/a", "");
    let root = kit.root().to_path_buf();
    assert_eq!(
        command(&mut kit, &[("command", " ls  -l\n")]),
        Command {
            text: " ls  -l\n".to_string(),
            cwd: root.clone(),
            shown_cwd: ".".to_string(),
            timeout: Duration::from_secs(60),
            wrapper: Vec::new(),
            workspace: root.clone(),
            changed: Vec::new(),
        }
    );
    kit.ok("write_file", &[("path", "t.sh"), ("content", "exit\n")]);
    let built = command(
        &mut kit,
        &[
            ("command", "sh ../t.sh"),
            ("cwd", "src/"),
            ("timeout_seconds", "86400"),
        ],
    );
    assert_eq!(
        (built.cwd, built.shown_cwd.as_str()),
        (root.join("src"), "src")
    );
    assert_eq!(built.timeout, Duration::from_secs(86_400));
    assert_eq!(built.changed, ["t.sh"]);
}

#[test]
fn the_wrapper_stands_in_every_command() {
    let kit = Kit::new();
    let limits = Limits {
        read_bytes: 1_000,
        output_bytes: 1_000,
        command_timeout: Duration::from_secs(1),
        command_wrapper: vec!["bwrap".to_string(), "--unshare-net".to_string()],
    };
    let workspace = Workspace::open(kit.root(), Vec::new()).expect("opens");
    let mut toolbox = Toolbox::new(workspace, limits, kit.temp.path().join("o"), true);
    let call = Call::RunCommand {
        command: "ls".to_string(),
        cwd: None,
        timeout_seconds: None,
    };
    let Prepared::Command(command) = toolbox.prepare(call) else {
        panic!("no command");
    };
    assert_eq!(command.wrapper, ["bwrap", "--unshare-net"]);
}

#[test]
fn commands_that_are_none() {
    let mut kit = Kit::new();
    kit.put("f", "");
    for blank in ["", " \n\t"] {
        kit.fails(
            "run_command",
            &[("command", blank)],
            "the command is empty. Give the text that the shell shall run, such as ls -l.",
        );
    }
    for (seconds, shown) in [("0", "0"), ("86401", "86401")] {
        kit.fails(
            "run_command",
            &[("command", "ls"), ("timeout_seconds", seconds)],
            &format!("timeout_seconds must be from 1 to 86,400, found {shown}. Leave it out for 60 seconds."),
        );
    }
    kit.fails(
        "run_command",
        &[("command", "ls"), ("cwd", "f")],
        "`f` is a file, not a folder. Give the path of a folder; read_file reads files.",
    );
    kit.fails(
        "run_command",
        &[("command", "ls"), ("cwd", "gone")],
        "there is no `gone` in the workspace. list_files shows what is there.",
    );
}

#[test]
fn the_end_of_a_task() {
    let mut kit = Kit::new();
    match kit.prepare(
        "finish_task",
        &[("status", "blocked"), ("response", "no network")],
    ) {
        Prepared::Finish { status, response } => {
            assert_eq!((status, response.as_str()), (Finish::Blocked, "no network"));
        }
        other => panic!("{other:?}"),
    }
}
