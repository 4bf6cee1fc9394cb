//! What is written for other programs: completion scripts, read by the shells themselves, and the manual page, read by groff. Shells and groff
//! that are not installed are left out; bash is asked always.

use super::sessions::kit::{Kit, header, id, title, turn};
use crate::support::run::{Screen, run, zcoder};
use crate::support::temp::Temp;
use std::path::Path;
use std::process::Command;
use zcoder::config::flags::{COMMANDS, FLAGS};
use zcoder::config::help;

/// The output of `zcoder ARGS`.
fn out(args: &[&str]) -> String {
    let temp = Temp::new();
    let ran = run(&mut zcoder(temp.path(), args));
    assert_eq!((ran.code, ran.err.as_str()), (Some(0), ""), "{args:?}");
    ran.out
}

/// A program's output, and what it complains of; `None` where it is not installed.
fn ask(program: &str, folder: &Path, args: &[&str]) -> Option<(String, String)> {
    let mut command = Command::new(program);
    let done = command.args(args).current_dir(folder).output().ok()?;
    let text = |bytes: Vec<u8>| String::from_utf8(bytes).expect("UTF-8");
    Some((text(done.stdout), text(done.stderr)))
}

#[test]
fn the_shells_accept_their_scripts() {
    let temp = Temp::new();
    let silent = Some((String::new(), String::new()));
    for shell in ["bash", "zsh", "fish"] {
        temp.write(shell, out(&["completions", shell]));
        let checked = ask(shell, temp.path(), &["-n", shell]);
        assert!(
            checked == silent || shell != "bash" && checked.is_none(),
            "{checked:?}"
        );
    }
    for (args, expected) in [
        (
            &["completions", "fisch"][..],
            "zcoder: no completions for `fisch`; the nearest is `fish`\n",
        ),
        (
            &["completions", "tcsh"],
            "zcoder: no completions for `tcsh`; there are bash, zsh and fish\n",
        ),
        (
            &["completions"],
            "zcoder: `zcoder completions` needs more words: zcoder completions bash|zsh|fish\n",
        ),
    ] {
        let ran = run(&mut zcoder(temp.path(), args));
        assert_eq!((ran.code, ran.err.as_str()), (Some(2), expected));
    }
}

/// What is offered for the last word.
#[track_caller]
fn offered(temp: &Temp, words: &[&str], expected: &[&str]) {
    let script = "source ./bash; COMP_WORDS=(\"$@\"); COMP_CWORD=$(($# - 1)); _zcoder; printf '%s\\n' \"${COMPREPLY[@]}\"";
    let args = [&["-c", script, "bash"], words].concat();
    let (out, err) = ask("bash", temp.path(), &args).expect("bash");
    assert_eq!(err, "", "{words:?}");
    let out: Vec<&str> = out.lines().filter(|line| !line.is_empty()).collect();
    assert_eq!(out, expected, "{words:?}");
}

#[test]
fn bash_is_offered_what_fits() {
    let temp = Temp::new();
    temp.write("bash", out(&["completions", "bash"]));
    let commands: Vec<&str> = COMMANDS.iter().map(|row| row.name).collect();
    offered(&temp, &["zcoder", ""], &commands[1..]);
    offered(&temp, &["zcoder", "mo"], &["models"]);
    offered(&temp, &["zcoder", "--th"], &["--think"]);
    let think = ["on", "off", "low", "medium", "high"];
    offered(&temp, &["zcoder", "--think", ""], &think);
    offered(&temp, &["zcoder", "--think", "="], &think);
    offered(&temp, &["zcoder", "--think", "=", "l"], &["low"]);
    offered(
        &temp,
        &["zcoder", "-p", "x", "--edits", "a"],
        &["auto", "ask"],
    );
    // A value is no command, and what has a value of its own has no words of ours.
    offered(&temp, &["zcoder", "-m", "demo", "mo"], &["models"]);
    offered(
        &temp,
        &["zcoder", "--model", "=", "demo", "mo"],
        &["models"],
    );
    offered(&temp, &["zcoder", "-m", ""], &[]);
    offered(&temp, &["zcoder", "--record", ""], &[]);
    // Flags are those of the command.
    offered(
        &temp,
        &["zcoder", "demo", "--"],
        &["--pace", "--step", "--keep", "--help", "--version"],
    );
    offered(
        &temp,
        &["zcoder", "-q", "decode", "--"],
        &["--quiet", "--help", "--version"],
    );
    let stages = ["chunked", "ndjson", "sse", "json", "sanitize"];
    offered(&temp, &["zcoder", "decode", ""], &stages);
    offered(&temp, &["zcoder", "decode", "json", ""], &[]);
    offered(&temp, &["zcoder", "policy", ""], &["check"]);
    offered(
        &temp,
        &["zcoder", "completions", ""],
        &["bash", "zsh", "fish"],
    );
    offered(&temp, &["zcoder", "help", "secu"], &["security"]);
    offered(
        &temp,
        &["zcoder", "config", "comm"],
        &["commands", "command_timeout", "command_wrapper"],
    );
    for row in FLAGS.iter().filter(|row| !row.commands.is_empty()) {
        let command = row.commands[0].row().name;
        let words: Vec<&str> = ["zcoder", command, row.long]
            .into_iter()
            .filter(|word| !word.is_empty())
            .collect();
        let longs = FLAGS.iter().filter(|other| {
            other.commands.contains(&row.commands[0]) && other.long.starts_with(row.long)
        });
        let longs: Vec<&str> = longs.map(|row| row.long).collect();
        offered(&temp, &words, &longs);
    }
}

/// Two sessions, and folders beside them whose names would do something in a shell.
fn with_sessions() -> Kit {
    let kit = Kit::new();
    for (second, text) in [(1, "first: $(x) \\n"), (2, "second")] {
        kit.session(second, &[header(second), title(text), turn(1, text)]);
    }
    for name in ["$(touch pwned)", "2025 other"] {
        std::fs::create_dir(kit.store.folder().join(name)).expect("a folder");
    }
    kit
}

/// Where a session may stand.
const SESSIONS: [&str; 15] = [
    "sessions show",
    "sessions rename",
    "sessions delete",
    "sessions delete 2025",
    "sessions export --format json",
    "sessions fork",
    "sessions waiting",
    "audit verify",
    "audit report",
    "undo",
    "redo",
    "diff",
    "wire",
    "--resume",
    "-q -p x -r",
];

#[test]
fn bash_is_offered_the_sessions_of_the_folder_where_one_is_meant_and_runs_none_of_their_names() {
    let kit = with_sessions();
    let work = kit.temp.path().join("ws");
    std::fs::write(work.join("bash"), out(&["completions", "bash"])).expect("written");
    let script = "source ./bash; COMP_WORDS=(\"$@\"); COMP_CWORD=$(($# - 1)); _zcoder; printf '%s\\n' \"${COMPREPLY[@]}\"";
    let ask = |program: &str, words: &str| {
        let words = words.split(' ').filter(|word| !word.is_empty());
        let mut bash = Command::new("bash");
        bash.args(["-c", script, "bash", program]);
        bash.args(words).arg("").current_dir(&work);
        bash.env("ZCODER_HOME", kit.temp.path().join("home"));
        let ran = run(&mut bash);
        (ran.out.trim().to_string(), ran.err)
    };
    let zcoder = env!("CARGO_BIN_EXE_zcoder");
    let silent = |out: &str| (out.to_string(), String::new());
    let both = format!("{}\n{}", id(2), id(1));
    for words in SESSIONS {
        assert_eq!(ask(zcoder, words), silent(&both), "{words}");
    }
    for words in [
        "sessions list",
        "sessions show 2025",
        "audit",
        "models",
        "-m",
    ] {
        let (out, err) = ask(zcoder, words);
        assert!(
            !out.contains("2025") && err.is_empty(),
            "{words}: {out}{err}"
        );
    }
    // Where it is not found, or has none, nothing is said.
    assert_eq!(ask("./no-such-zcoder", "undo"), silent(""));
    std::fs::remove_dir_all(kit.store.folder()).expect("removed");
    assert_eq!(ask(zcoder, "undo"), silent(""));
    assert!(!work.join("pwned").exists());
}

#[test]
fn fish_is_offered_the_sessions_of_the_folder_with_what_they_are_called() {
    let kit = with_sessions();
    let work = kit.temp.path().join("ws");
    std::fs::write(work.join("fish"), out(&["completions", "fish"])).expect("written");
    let bin = Path::new(env!("CARGO_BIN_EXE_zcoder")).parent();
    for words in SESSIONS {
        let mut fish = Command::new("fish");
        fish.args([
            "-c",
            &format!("source fish; complete -C 'zcoder {words} 2'"),
        ]);
        fish.current_dir(&work).env("PATH", paths(bin));
        fish.env("ZCODER_HOME", kit.temp.path().join("home"));
        let Ok(done) = fish.output() else {
            return;
        };
        let both = format!(
            "{}\t2025-08-21 09:00        3  second\n{}\t2025-08-21 09:00        3  first: $(x) \\n\n",
            id(2),
            id(1)
        );
        assert_eq!(String::from_utf8_lossy(&done.stdout), both, "{words}");
    }
}

/// Also where the shells are missing.
#[test]
fn the_other_scripts_ask_for_sessions_in_the_same_places() {
    let bash = out(&["completions", "bash"]);
    let places = bash.split_once("*:-*) ;; ").expect("places").1;
    let (places, _) = places.split_once(") _zcoder_sessions ;;").expect("places");
    assert!(places.starts_with("sessions:1:show:*|"), "{places}");
    let zsh = out(&["completions", "zsh"]);
    assert!(zsh.contains(&format!("(*:-*) ;; ({places}) _zcoder_sessions ;; esac\n")));
    assert!(zsh.contains("        (-r|--resume) _zcoder_sessions; return ;;\n"));
    let fish = out(&["completions", "fish"]);
    let quoted = places.replace('|', "' '");
    let row = format!("-n \"__zcoder_at '{quoted}'\" -k -a '(__zcoder_sessions)'\n");
    assert!(fish.contains(&row), "{row}");
    assert!(fish.contains(" -s r -l resume -x -k -a '(__zcoder_sessions)' -d "));
}

/// Our binary first.
fn paths(first: Option<&Path>) -> std::ffi::OsString {
    let mut path = first.expect("a folder").as_os_str().to_os_string();
    path.push(":");
    path.push(std::env::var_os("PATH").unwrap_or_default());
    path
}

#[test]
fn zsh_is_offered_the_sessions_of_the_folder_on_a_terminal() {
    if Command::new("zsh").arg("--version").output().is_err() {
        return;
    }
    let kit = with_sessions();
    let work = kit.temp.path().join("ws");
    std::fs::write(work.join("zsh"), out(&["completions", "zsh"])).expect("written");
    let mut zsh = Command::new("zsh");
    zsh.args(["-f", "-i"]).current_dir(&work).env_clear();
    let bin = Path::new(env!("CARGO_BIN_EXE_zcoder")).parent();
    zsh.env("PS1", "ready> ")
        .env("TERM", "dumb")
        .env("PATH", paths(bin));
    zsh.env("ZCODER_HOME", kit.temp.path().join("home"));
    let mut screen = Screen::start(&mut zsh);
    screen.until("ready> ");
    screen.write("autoload -Uz compinit; compinit -u -D; source ./zsh; unsetopt zle_bracketed_paste; echo se\\t\n");
    screen.until("set");
    for words in ["sessions show", "--resume", "audit verify", "undo"] {
        // The Tab key completes what is the only one.
        let begun = &id(2)[..15];
        screen.write(&format!("echo {words}; zcoder {words} {begun}\t"));
        screen.until(&format!("{begun}{} ", &id(2)[15..]));
        screen.write("\u{15}");
    }
    screen.write("exit\n");
    screen.end();
}

/// The Tab key, in a shell on a terminal.
#[test]
fn the_tab_key_completes_in_bash() {
    let temp = Temp::new();
    temp.write("bash", out(&["completions", "bash"]));
    temp.write("record-of-today", "");
    let mut bash = Command::new("bash");
    bash.args(["--norc", "--noprofile", "-i"])
        .current_dir(temp.path());
    bash.env_clear().env("PS1", "ready> ").env("TERM", "dumb");
    bash.env("PATH", std::env::var_os("PATH").unwrap_or_default());
    let mut screen = Screen::start(&mut bash);
    screen.until("ready> ");
    screen.write("source ./bash\n");
    screen.until("ready> ");
    screen.write("zcoder mod\t--ho\tbox --output=jsonl\t");
    screen.until("zcoder models --host box --output=jsonl ");
    screen.write("\nzcoder --record rec\t");
    screen.until("zcoder --record record-of-today ");
    screen.write("\nexit\n");
    screen.end();
}

#[test]
fn fish_is_offered_what_fits() {
    let temp = Temp::new();
    temp.write("fish", out(&["completions", "fish"]));
    for (line, expected) in [
        ("zcoder mo", "models\n"),
        ("zcoder --think m", "medium\n"),
        ("zcoder demo --p", "--pace\n"),
        ("zcoder decode js", "json\n"),
        ("zcoder wire fi", "fish\n"),
    ] {
        let script = format!("source fish; complete -C '{line}' | string split -f1 \\t");
        if let Some((out, err)) = ask("fish", temp.path(), &["-c", &script]) {
            assert_eq!((out.as_str(), err.as_str()), (expected, ""), "{line}");
        }
    }
}

#[test]
fn the_manual_page_says_what_help_says_and_groff_has_nothing_to_complain() {
    let page = out(&["man"]);
    assert!(page.is_ascii());
    let requests = [".TH", ".SH", ".SS", ".TP", ".br", ".nf", ".in", ".fi"];
    for line in page.lines() {
        assert!(!line.starts_with('\''), "{line}");
        let request = line.split(' ').next().unwrap_or_default();
        assert!(
            !line.starts_with('.') || requests.contains(&request),
            "{line}"
        );
    }
    for row in FLAGS {
        assert!(page.contains(&row.long.replace('-', "\\-")), "{}", row.long);
    }
    let temp = Temp::new();
    temp.write("zcoder.1", &page);
    let args = ["-man", "-ww", "-Tutf8", "-P-c", "zcoder.1"];
    let Some((shown, complaints)) = ask("groff", temp.path(), &args) else {
        return;
    };
    assert_eq!(complaints, "");
    let shown: Vec<&str> = shown.lines().collect();
    for topic in help::TOPICS {
        for line in help::topic(topic.name).unwrap_or_default().lines() {
            assert!(shown.contains(&line), "{}: {line}", topic.name);
        }
    }
}
