//! `run_command` through the toolbox: real shells, what the model reads of them, what is kept, and that nothing holds us.

use crate::support::temp::Temp;
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::time::{Duration, Instant};
use zcoder::policy::{CommandMode, EditMode, Policy, Profile, Verdict};
use zcoder::protocol::{Facts, ToolOutcome, ToolStatus};
use zcoder::sys::Cancel;
use zcoder::tools::{Call, Limits, Prepared, Running, Toolbox, Workspace};

/// A workspace, and outputs beside it.
struct Bench {
    folder: Temp,
    toolbox: Toolbox,
}

const OUTPUT_BYTES: usize = 2000;

impl Bench {
    fn new() -> Bench {
        Bench::with(OUTPUT_BYTES, &[])
    }

    fn with(output_bytes: usize, wrapper: &[&str]) -> Bench {
        let folder = Temp::new();
        folder.write("work/sub/file", "");
        let toolbox = Bench::toolbox(&folder, output_bytes, wrapper, true);
        Bench { folder, toolbox }
    }

    fn toolbox(folder: &Temp, output_bytes: usize, wrapper: &[&str], ephemeral: bool) -> Toolbox {
        let workspace = Workspace::open(&folder.path().join("work"), Vec::new()).unwrap();
        let limits = Limits {
            read_bytes: 64 << 10,
            output_bytes,
            command_timeout: Duration::from_secs(120),
            command_wrapper: wrapper.iter().map(|word| word.to_string()).collect(),
        };
        let outputs = folder.path().join("output");
        Toolbox::new(workspace, limits, outputs, ephemeral)
    }

    fn start_in(&mut self, command: &str, cwd: Option<&str>, timeout: Option<u64>) -> Running {
        let call = Call::RunCommand {
            command: command.to_string(),
            cwd: cwd.map(str::to_string),
            timeout_seconds: timeout,
        };
        let Prepared::Command(command) = self.toolbox.prepare(call) else {
            panic!("a command was refused: {command}");
        };
        let policy = Policy::new(
            CommandMode::Allow,
            EditMode::Auto,
            Profile::Coding,
            Some("--yes"),
        );
        let Verdict::Allowed(approved) = policy.command(command) else {
            panic!("--yes allows commands");
        };
        self.toolbox.start(approved)
    }

    fn run(&mut self, command: &str) -> ToolOutcome {
        self.run_with(command, None)
    }

    fn run_with(&mut self, command: &str, timeout: Option<u64>) -> ToolOutcome {
        let running = self.start_in(command, None, timeout);
        running.wait(&Cancel::new().unwrap(), &mut |_| {})
    }

    fn read_output(&mut self, number: u64) -> ToolOutcome {
        let call = Call::ReadFile {
            path: format!("output:{number}"),
            start_line: None,
            end_line: None,
        };
        match self.toolbox.prepare(call) {
            Prepared::Outcome(outcome) => outcome,
            other => panic!("{other:?}"),
        }
    }

    fn kept(&self, number: u64) -> Vec<u8> {
        self.folder.read(&format!("output/{number}"))
    }

    fn anything_kept(&self) -> bool {
        self.folder.path().join("output").exists()
    }
}

fn facts(outcome: &ToolOutcome) -> (Option<i32>, Option<u64>, bool, u64) {
    match &outcome.facts {
        Facts::Ran {
            exit,
            output,
            child_left,
            lines,
            ..
        } => (*exit, *output, *child_left, *lines),
        other => panic!("{other:?}"),
    }
}

#[track_caller]
fn check(command: &str, status: ToolStatus, text: &str) {
    let mut bench = Bench::new();
    let outcome = bench.run(command);
    assert_eq!((outcome.status, outcome.text.as_str()), (status, text));
    assert!(!bench.anything_kept());
}

#[test]
fn the_result_says_how_it_ended_and_then_the_output() {
    check("echo hello", ToolStatus::Ok, "exit code 0\nhello\n");
    check("printf 'no end'", ToolStatus::Ok, "exit code 0\nno end");
    check("true", ToolStatus::Ok, "exit code 0; no output");
    check("exit 3", ToolStatus::Failed, "exit code 3; no output");
    check(
        "echo out; echo err >&2; exit 1",
        ToolStatus::Failed,
        "exit code 1\nout\nerr\n",
    );
    check(
        "no-such-program-here 2>/dev/null",
        ToolStatus::Failed,
        "exit code 127 (command not found); no output",
    );
    check(
        "./sub/file 2>/dev/null",
        ToolStatus::Failed,
        "exit code 126 (found, but cannot be executed); no output",
    );
    check(
        "echo last; kill -9 $$",
        ToolStatus::Failed,
        "killed by signal 9 (SIGKILL)\nlast\n",
    );
    check(
        "kill -40 $$",
        ToolStatus::Failed,
        "killed by signal 40; no output",
    );
}

#[test]
fn facts_carry_the_same_for_front_ends() {
    let outcome = Bench::new().run("echo a; echo b; printf c; exit 2");
    let Facts::Ran {
        command, elapsed, ..
    } = &outcome.facts
    else {
        panic!("{outcome:?}");
    };
    assert_eq!(command, "echo a; echo b; printf c; exit 2");
    assert!(*elapsed > Duration::ZERO && *elapsed < Duration::from_secs(60));
    assert_eq!(facts(&outcome), (Some(2), None, false, 3));
}

#[test]
fn seconds_are_said_from_one_on() {
    let outcome = Bench::new().run("sleep 1.05");
    assert_eq!(outcome.text, "exit code 0 after 1 s; no output");
}

#[test]
fn it_runs_in_the_workspace_or_the_folder_asked_for() {
    let mut bench = Bench::new();
    let work = bench.folder.path().join("work").display().to_string();
    assert_eq!(bench.run("pwd").text, format!("exit code 0\n{work}\n"));
    let running = bench.start_in("pwd", Some("sub"), None);
    let outcome = running.wait(&Cancel::new().unwrap(), &mut |_| {});
    assert_eq!(outcome.text, format!("exit code 0\n{work}/sub\n"));
}

#[test]
fn a_folder_that_went_away_is_named() {
    let mut bench = Bench::new();
    let running = bench.start_in("true", Some("sub"), None);
    fs::remove_dir_all(bench.folder.path().join("work/sub")).unwrap();
    let outcome = running.wait(&Cancel::new().unwrap(), &mut |_| {});
    let text = "the folder `sub` is not there any more. Call run_command again with a cwd that list_files shows.";
    assert_eq!(
        (outcome.status, outcome.text.as_str()),
        (ToolStatus::Failed, text)
    );
    assert_eq!(outcome.facts, Facts::None);
}

#[test]
fn what_cannot_be_started_is_explained() {
    let mut bench = Bench::new();
    let outcome = bench.run("echo a\0b");
    let text = "the command contains a NUL character, which no shell can take. Call run_command again without it.";
    assert_eq!(
        (outcome.status, outcome.text.as_str()),
        (ToolStatus::Failed, text)
    );
    let outcome = bench.run(&format!(": {}", "x".repeat(200_000)));
    let text = "the command is too long for the system: 200,002 bytes. Write it to a file with write_file and run that file.";
    assert_eq!(
        (outcome.status, outcome.text.as_str()),
        (ToolStatus::Failed, text)
    );
    let mut bench = Bench::with(OUTPUT_BYTES, &["no-such-wrapper", "--flag"]);
    let outcome = bench.run("true");
    let text = "`no-such-wrapper` could not be run in `.`: No such file or directory (os error 2). Tell the user; no command can run until this is mended.";
    assert_eq!(
        (outcome.status, outcome.text.as_str()),
        (ToolStatus::Failed, text)
    );
}

#[test]
fn a_wrapper_stands_before_the_shell() {
    let mut bench = Bench::with(OUTPUT_BYTES, &["env", "WRAPPED=yes"]);
    let outcome = bench.run("echo $WRAPPED '$HOME'");
    assert_eq!(outcome.text, "exit code 0\nyes $HOME\n");
}

#[test]
fn nobody_can_answer() {
    check(
        "cat; read line; echo $?",
        ToolStatus::Ok,
        "exit code 0\n1\n",
    );
    check(
        "echo $TERM $NO_COLOR $CI $PAGER $GIT_PAGER $GIT_TERMINAL_PROMPT $EDITOR $DEBIAN_FRONTEND",
        ToolStatus::Ok,
        "exit code 0\ndumb 1 1 cat cat 0 true noninteractive\n",
    );
    check(
        "(: </dev/tty) 2>/dev/null || echo no terminal",
        ToolStatus::Ok,
        "exit code 0\nno terminal\n",
    );
}

#[test]
fn git_does_not_wait_for_an_editor() {
    let script = "git init -q . && git config user.name n && git config user.email e@x && \
        echo x >f && git add f && git commit -q --allow-empty-message; git log --format=%s | wc -l";
    let outcome = Bench::new().run_with(script, Some(60));
    assert_eq!(outcome.status, ToolStatus::Ok, "{}", outcome.text);
}

#[test]
fn a_child_left_behind_is_said_and_does_not_hold_us() {
    for script in [
        "sleep 300 & echo $!",
        "setsid sleep 300 & echo $!",
        "sleep 300 >/dev/null 2>&1 & echo $!",
    ] {
        let outcome = Bench::new().run(script);
        let (first, pid) = outcome.text.split_once('\n').unwrap();
        assert_eq!(
            first, "exit code 0; a child process is still running",
            "{script}"
        );
        assert_eq!(facts(&outcome), (Some(0), None, true, 1));
        let killed = std::process::Command::new("kill").arg(pid.trim()).status();
        assert!(killed.unwrap().success(), "{script}");
    }
}

#[test]
fn time_is_up_for_the_whole_group() {
    let outcome = Bench::new().run_with("echo begun; sleep 300 & sleep 300", Some(1));
    let text = "timed out after 1 s: the command and its children were ended. For more time set timeout_seconds; start what shall go on in the background with `&` and its output in a file.\nbegun\n";
    assert_eq!(
        (outcome.status, outcome.text.as_str()),
        (ToolStatus::Failed, text)
    );
    assert_eq!(facts(&outcome), (None, None, false, 1));
}

#[test]
fn a_child_that_left_the_group_is_said_when_time_is_up() {
    let outcome = Bench::new().run_with("setsid sleep 300 & echo $!; wait", Some(1));
    let (first, pid) = outcome.text.split_once('\n').unwrap();
    let text = "timed out after 1 s: the command and its children were ended; one of them could not be ended and is still running. For more time set timeout_seconds; start what shall go on in the background with `&` and its output in a file.";
    assert_eq!(first, text);
    let killed = std::process::Command::new("kill").arg(pid.trim()).status();
    assert!(killed.unwrap().success());
}

#[test]
fn a_command_that_looks_like_an_option_is_a_command() {
    check("-x 2>/dev/null; echo $-", ToolStatus::Ok, "exit code 0\n\n");
}

#[test]
fn term_ignored_is_killed() {
    let outcome = Bench::new().run_with("trap '' TERM; while :; do sleep 300; done", Some(1));
    assert!(
        outcome.text.starts_with("timed out after 1 s: "),
        "{}",
        outcome.text
    );
    assert_eq!(facts(&outcome), (None, None, false, 0));
}

#[test]
fn a_cancel_ends_it_before_the_start_and_in_the_middle() {
    let mut bench = Bench::new();
    let cancel = Cancel::new().unwrap();
    cancel.cancel();
    let outcome = bench
        .start_in("touch ran", None, None)
        .wait(&cancel, &mut |_| {});
    assert_eq!(outcome.status, ToolStatus::Cancelled);
    assert_eq!(outcome.text, "cancelled by the user before it started");
    assert!(!bench.folder.path().join("work/ran").exists());

    let cancel = Cancel::new().unwrap();
    let running = bench.start_in("echo begun; sleep 300", None, None);
    // The first output turns the switch: the command has begun then.
    let outcome = running.wait(&cancel, &mut |_| cancel.cancel());
    assert_eq!(outcome.status, ToolStatus::Cancelled);
    let text = "cancelled by the user: the command and its children were ended\nbegun\n";
    assert_eq!(outcome.text, text);
}

#[test]
fn long_output_is_shown_at_both_ends_and_kept_whole() {
    let mut bench = Bench::new();
    let script = "i=1; while [ $i -le 1000 ]; do echo line $i; i=$((i+1)); done";
    let outcome = bench.run(script);
    let all: String = (1..=1000).map(|i| format!("line {i}\n")).collect();
    assert_eq!(bench.kept(1), all.as_bytes());
    let mut lines = outcome.text.lines();
    let first = "exit code 0; 1,000 lines, 8,893 bytes: read_file output:1";
    assert_eq!(lines.next(), Some(first));
    assert_eq!(lines.next(), Some("line 1"));
    let hidden = lines.by_ref().find(|line| line.starts_with('['));
    let expected =
        "[767 lines, 6,903 bytes not shown: read_file output:1 with start_line and end_line]";
    assert_eq!(hidden, Some(expected));
    assert_eq!(lines.next_back(), Some("line 1000"));
    // 123 lines before, 110 after: with those not shown all thousand.
    assert_eq!(
        outcome
            .text
            .lines()
            .filter(|line| line.starts_with("line "))
            .count(),
        233
    );
    assert_eq!(facts(&outcome), (Some(0), Some(1), false, 1000));

    let read = bench.read_output(1);
    assert_eq!((read.status, read.text), (ToolStatus::Ok, all));
    let mode = |path: &str| {
        let path = bench.folder.path().join(path);
        fs::metadata(path).unwrap().permissions().mode() & 0o777
    };
    assert_eq!((mode("output"), mode("output/1")), (0o700, 0o600));
}

#[test]
fn the_limit_holds_on_both_sides() {
    let mut bench = Bench::new();
    let outcome = bench.run("head -c 2000 /dev/zero | tr '\\0' x");
    assert_eq!(outcome.text, format!("exit code 0\n{}", "x".repeat(2000)));
    assert!(!bench.anything_kept());
    let outcome = bench.run("head -c 2001 /dev/zero | tr '\\0' x");
    let half = "x".repeat(1000);
    let expected = format!(
        "exit code 0; 1 line, 2,001 bytes: read_file output:2\n{half}\n[1 bytes not shown: read_file output:2 with start_line and end_line]\n{half}"
    );
    assert_eq!(outcome.text, expected);
    assert_eq!(bench.kept(2), "x".repeat(2001).as_bytes());
}

#[test]
fn lines_that_look_like_errors_are_shown_from_the_middle() {
    let mut bench = Bench::new();
    let script = "pad() { i=0; while [ $i -lt 200 ]; do echo padding $1 $i; i=$((i+1)); done; }
        echo 'error: at the top'; pad a; echo 'error[E0308]: mismatched'; pad b; echo 'ValueError: no'
        echo 'test x ... FAILED'; echo Traceback; echo \"thread 'main' panicked at\"; echo fine; pad c; echo 'error: at the end'";
    let outcome = bench.run(script);
    let (_, marks) = outcome
        .text
        .split_once("[of these look like errors:]\n")
        .unwrap();
    let (marks, tail) = marks.split_once("[end of the output:]\n").unwrap();
    let expected = "202: error[E0308]: mismatched\n403: ValueError: no\n404: test x ... FAILED\n405: Traceback\n406: thread 'main' panicked at\n";
    assert_eq!(marks, expected);
    assert!(tail.ends_with("padding c 199\nerror: at the end\n"));
    assert_eq!(outcome.text.matches("error: at the top").count(), 1);
}

#[test]
fn at_most_ten_such_lines_and_of_each_two_hundred_characters() {
    let script = "i=0; while [ $i -lt 600 ]; do echo error $i; i=$((i+1)); done; head -c 5000 /dev/zero | tr '\\0' z";
    let outcome = Bench::new().run(script);
    let (_, marks) = outcome
        .text
        .split_once("[of these look like errors:]\n")
        .unwrap();
    let (marks, _) = marks.split_once("[end of the output:]\n").unwrap();
    let numbers: Vec<_> = marks
        .lines()
        .map(|line| line.split_once(": ").unwrap().1)
        .collect();
    let expected: Vec<_> = (111..121).map(|i| format!("error {i}")).collect();
    assert_eq!(numbers, expected);
    let long = "echo; head -c 3000 /dev/zero | tr '\\0' y; echo; printf 'error '; head -c 3000 /dev/zero | tr '\\0' z; echo; head -c 3000 /dev/zero | tr '\\0' y";
    let outcome = Bench::new().run(long);
    let (_, marks) = outcome
        .text
        .split_once("[of these look like errors:]\n")
        .unwrap();
    let (marks, _) = marks.split_once("[end of the output:]\n").unwrap();
    assert_eq!(marks, format!("3: error {}…\n", "z".repeat(193)));
}

#[test]
fn bytes_that_are_not_text_are_repaired_and_stay_in_bounds() {
    check(
        r"printf 'a\377b\303\244\n'",
        ToolStatus::Ok,
        "exit code 0\na\u{fffd}bä\n",
    );
    check(
        r"printf '\033[31mred\033[0m\n10 %%\r100 %%\n'",
        ToolStatus::Ok,
        "exit code 0\nred\n100 %\n",
    );
    // 1,500 bytes fit the limit, their 1,500 replacement characters of three bytes do not.
    let mut bench = Bench::new();
    let outcome = bench.run(r"head -c 1500 /dev/zero | tr '\0' '\377'");
    let (first, shown) = outcome.text.split_once('\n').unwrap();
    assert_eq!(
        first,
        "exit code 0; 1 line, 1,500 bytes: read_file output:1"
    );
    assert_eq!(shown.matches('\u{fffd}').count(), 666);
    assert!(shown.contains("[834 bytes not shown: "), "{shown}");
    assert_eq!(bench.kept(1), [0xff; 1500]);
}

#[test]
fn a_character_is_not_cut_in_half() {
    let mut bench = Bench::new();
    let outcome = bench.run("printf x; i=0; while [ $i -lt 2000 ]; do printf ä; i=$((i+1)); done");
    assert!(!outcome.text.contains('\u{fffd}'), "{}", outcome.text);
    assert_eq!(outcome.text.matches('ä').count(), 499 + 500);
}

#[test]
fn endless_output_costs_constant_memory_and_sixteen_mebibytes_on_disk() {
    // In a process of its own: what other tests need meanwhile does not count.
    let output = std::process::Command::new(std::env::current_exe().unwrap())
        .args(["tools::run::helper_endless_output", "--exact", "--ignored"])
        .output()
        .unwrap();
    assert!(output.status.success(), "{output:?}");
}

#[test]
#[ignore = "run in a process of its own"]
fn helper_endless_output() {
    let mut bench = Bench::new();
    // 64 MiB: what grew with it would show.
    let script = format!("yes {} | head -c 67108864", "x".repeat(63));
    let before = peak_kib();
    let (mut calls, mut live_bytes) = (0_u32, 0_usize);
    let running = bench.start_in(&script, None, None);
    let start = Instant::now();
    let outcome = running.wait(&Cancel::new().unwrap(), &mut |text| {
        calls += 1;
        live_bytes = live_bytes.max(text.len());
    });
    let most = start.elapsed().as_millis() / 50 + 2;
    let first =
        "exit code 0; 1,048,576 lines, 67,108,864 bytes, the first 16 MiB: read_file output:1";
    let Facts::Ran { elapsed, .. } = &outcome.facts else {
        panic!("{outcome:?}");
    };
    let got = outcome.text.lines().next().unwrap();
    let got = got.replace(&format!(" after {} s", elapsed.as_secs()), "");
    assert_eq!(got, first);
    assert_eq!(facts(&outcome), (Some(0), Some(1), false, 1_048_576));
    let grown = peak_kib().saturating_sub(before);
    // Allocator and stacks take about 1 MiB; output held in memory would be 16 MiB at the least.
    assert!(grown < 4 << 10, "{grown} KiB");
    assert_eq!(bench.kept(1).len(), 16 << 20);
    assert!(outcome.text.len() < OUTPUT_BYTES + 300);
    assert!(u128::from(calls) <= most, "{calls} calls, at most {most}");
    assert!((1..16 * 1024 + 64).contains(&live_bytes), "{live_bytes}");
}

/// Largest resident size of this process so far.
fn peak_kib() -> u64 {
    let status = fs::read_to_string("/proc/self/status").unwrap();
    let line = status.lines().find(|line| line.starts_with("VmHWM:"));
    let number = line.unwrap().split_whitespace().nth(1).unwrap();
    number.parse().unwrap()
}

#[test]
fn live_output_comes_while_it_runs_and_whole_if_it_is_slow() {
    let mut bench = Bench::new();
    let go = bench.folder.path().join("work/go");
    let running = bench.start_in(
        "printf 'j\\303'; printf '\\244\\n'; until [ -e go ]; do sleep 0.01; done; echo done",
        None,
        None,
    );
    let mut live = String::new();
    let outcome = running.wait(&Cancel::new().unwrap(), &mut |text| {
        live.push_str(text);
        if live.ends_with('\n') && !go.exists() {
            fs::write(&go, "").unwrap();
        }
    });
    assert_eq!(live, "jä\ndone\n");
    assert_eq!(outcome.text, "exit code 0\njä\ndone\n");
}

#[test]
fn a_line_without_an_end_is_handed_out_too() {
    let mut bench = Bench::new();
    let go = bench.folder.path().join("work/go");
    // The second piece comes within 50 ms of the first: only the clock can bring it out before the end.
    let running = bench.start_in(
        "printf a; sleep 0.01; printf b; until [ -e go ]; do sleep 0.01; done",
        None,
        Some(60),
    );
    let mut live = String::new();
    let outcome = running.wait(&Cancel::new().unwrap(), &mut |text| {
        live.push_str(text);
        if live == "ab" {
            fs::write(&go, "").unwrap();
        }
    });
    assert_eq!(
        (live.as_str(), outcome.text.as_str()),
        ("ab", "exit code 0\nab")
    );
}

#[test]
fn a_missing_output_is_answered_with_those_there_are() {
    let mut bench = Bench::new();
    let long = "head -c 3000 /dev/zero | tr '\\0' x";
    let text = "there is no output:1: no output was kept so far. An output is kept when it is too long to be shown whole; run_command then gives its number.";
    assert_eq!(bench.read_output(1).text, text);
    bench.run("echo short");
    bench.run(long);
    bench.run(long);
    let text = "there is no output:1; kept are output:2, output:3. Shorter outputs were shown whole and not kept.";
    assert_eq!(bench.read_output(1).text, text);
    for _ in 0..7 {
        bench.run(long);
    }
    let text = "there is no output:11; the latest are output:3, output:4, output:5, output:6, output:7, output:8, output:9, output:10. Shorter outputs were shown whole and not kept.";
    assert_eq!(bench.read_output(11).text, text);
}

#[test]
fn outputs_stay_with_a_session_and_go_with_an_ephemeral_one() {
    let folder = Temp::new();
    folder.write("work/file", "");
    let long = "head -c 3000 /dev/zero | tr '\\0' x";
    let output = |number: u64| folder.path().join(format!("output/{number}"));
    let run = |ephemeral| {
        let toolbox = Bench::toolbox(&folder, OUTPUT_BYTES, &[], ephemeral);
        let mut bench = Bench {
            folder: Temp::new(),
            toolbox,
        };
        bench.run(long).text.lines().next().unwrap().to_string()
    };
    assert!(run(false).ends_with("read_file output:1"));
    assert!(output(1).exists());
    // A resumed session goes on counting.
    assert!(run(false).ends_with("read_file output:2"));
    folder.write("output/note", "not an output");
    assert!(run(true).ends_with("read_file output:3"));
    assert!(!output(1).exists() && !output(3).exists());
    assert!(folder.path().join("output/note").exists());
}

#[test]
fn an_output_that_cannot_be_kept_is_still_shown_and_that_is_said() {
    let mut bench = Bench::new();
    // A file where the folder should be.
    bench.folder.write("output", "");
    let outcome = bench.run("head -c 3000 /dev/zero | tr '\\0' x");
    let half = "x".repeat(1000);
    let expected = format!(
        "exit code 0; 1 line, 3,000 bytes\n{half}\n[1,000 bytes not shown: not kept: File exists (os error 17)]\n{half}"
    );
    assert_eq!(outcome.text, expected);
    assert_eq!(facts(&outcome), (Some(0), None, false, 1));
}

#[test]
fn a_folder_of_temporary_files_that_is_not_there_is_not_made() {
    let mut bench = Bench::new();
    let missing = bench.folder.path().join("mistyped");
    let workspace = Workspace::open(&bench.folder.path().join("work"), Vec::new()).unwrap();
    let limits = Limits {
        read_bytes: 64 << 10,
        output_bytes: 2000,
        command_timeout: Duration::from_secs(120),
        command_wrapper: Vec::new(),
    };
    bench.toolbox = Toolbox::new(workspace, limits, missing.join("output"), true);
    let outcome = bench.run("head -c 3000 /dev/zero | tr '\\0' x");
    let said = "\n[1,000 bytes not shown: not kept: No such file or directory (os error 2)]\n";
    assert!(outcome.text.contains(said), "{}", outcome.text);
    assert!(!missing.exists());
}

#[test]
fn many_run_one_after_the_other_without_leaving_anything() {
    let mut bench = Bench::new();
    for _ in 0..50 {
        assert_eq!(bench.run("true").text, "exit code 0; no output");
    }
}
