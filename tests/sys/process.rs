//! Commands as children: what they print, how they end, what they leave behind, and that nothing of them outlives its time.

use crate::support::temp::Temp;
use std::ffi::OsString;
use std::fs;
use std::os::fd::{AsFd, AsRawFd};
use std::path::Path;
use std::process::{Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};
use zcoder::sys::Cancel;
use zcoder::sys::process::{End, Next, Ran, Running, Spec, end_all};

fn words(words: &[&str]) -> Vec<OsString> {
    words.iter().map(OsString::from).collect()
}

fn start(argv: &[OsString], limit: Option<Duration>) -> Running {
    let spec = Spec {
        argv,
        cwd: Path::new("/"),
        env: &[("SAID", Some("aloud")), ("PATH_INFO", None)],
        deadline: limit.map(|limit| Instant::now() + limit),
    };
    Running::start(&spec).expect("start")
}

fn finish(mut running: Running, cancel: &Cancel) -> (Ran, Vec<u8>) {
    let mut output = Vec::new();
    loop {
        match running.next(cancel, None).expect("next") {
            Next::Output(bytes) => output.extend_from_slice(bytes),
            Next::Quiet => panic!("woken although nobody asked"),
            Next::Ended(ran) => return (ran, output),
        }
    }
}

fn sh(script: &str, limit: Option<Duration>) -> (Ran, String) {
    let argv = words(&["sh", "-c", script]);
    let (ran, output) = finish(start(&argv, limit), &Cancel::new().unwrap());
    (ran, String::from_utf8(output).expect("UTF-8"))
}

#[track_caller]
fn check(script: &str, end: End, output: &str) {
    let (ran, got) = sh(script, None);
    assert_eq!((ran.end, got.as_str()), (end, output));
    assert!(!ran.child_left);
}

/// Waits for a state of the outside world that no event reports, for at most ten seconds.
#[track_caller]
fn eventually(what: &str, mut holds: impl FnMut() -> bool) {
    let give_up = Instant::now() + Duration::from_secs(10);
    while !holds() {
        assert!(Instant::now() < give_up, "never happened: {what}");
        thread::yield_now();
    }
}

/// A process that has ended but was not waited for counts as gone.
fn runs(pid: &str) -> bool {
    let stat = fs::read_to_string(format!("/proc/{}/stat", pid.trim())).unwrap_or_default();
    stat.rsplit(')')
        .next()
        .is_some_and(|rest| !rest.is_empty() && !rest.starts_with(" Z"))
}

#[test]
fn ends_are_told_apart() {
    check("exit 0", End::Exited(0), "");
    check("exit 1", End::Exited(1), "");
    check("exit 255", End::Exited(255), "");
    check("no-such-program-here 2>/dev/null", End::Exited(127), "");
    check("kill -9 $$", End::Signaled(9), "");
    check("echo last; kill -TERM $$", End::Signaled(15), "last\n");
}

#[test]
fn both_streams_arrive_merged_in_order() {
    let script = "echo one; echo two >&2; echo three; echo four >&2";
    check(script, End::Exited(0), "one\ntwo\nthree\nfour\n");
}

#[test]
fn standard_input_is_at_its_end() {
    check("cat; echo $?", End::Exited(0), "0\n");
    check("read line; echo $?", End::Exited(0), "1\n");
}

#[test]
fn the_child_leads_a_session_without_a_terminal() {
    let script =
        "set -- $(cut -d' ' -f5,6,7 /proc/$$/stat); test $1 = $$ && test $2 = $$ && echo $3";
    check(script, End::Exited(0), "0\n");
}

#[test]
fn the_child_inherits_three_descriptors_and_no_signal_settings() {
    // What runs the tests may have left descriptors open, so: three are as they should be, and none is one of ours.
    let folder = Temp::new();
    let _file = fs::File::create(folder.path().join("a file of ours")).unwrap();
    let switch = Cancel::new().unwrap();
    let number = switch.as_fd().as_raw_fd();
    let switch = fs::read_link(format!("/proc/self/fd/{number}")).unwrap();
    let (_, listing) = sh("exec ls -l /proc/self/fd", None);
    let target = |start| {
        let line = listing.lines().find(|line| line.contains(start));
        line.map(|line| line.split_once(start).unwrap().1)
    };
    assert_eq!(target(" 0 -> "), Some("/dev/null"));
    assert!(target(" 1 -> ").is_some_and(|target| target.starts_with("pipe:")));
    assert_eq!(target(" 1 -> "), target(" 2 -> "));
    assert!(!listing.contains("a file of ours"), "{listing}");
    assert!(!listing.contains(switch.to_str().unwrap()), "{listing}");
    // The lowest 31 bits: real-time signals may have been ignored by whoever started the tests.
    let script = "grep -E 'Sig(Blk|Ign)' /proc/self/status | cut -f2";
    let (_, masks) = sh(script, None);
    let masks: Vec<_> = masks
        .lines()
        .map(|mask| u64::from_str_radix(mask, 16).unwrap() & 0x7fff_ffff)
        .collect();
    assert_eq!(masks, [0, 0]);
}

#[test]
fn folder_and_variables_are_set() {
    check(
        "pwd; echo $SAID ${PATH_INFO-unset}",
        End::Exited(0),
        "/\naloud unset\n",
    );
}

#[test]
fn what_cannot_start_is_an_error() {
    #[track_caller]
    fn check(argv: &[&str], cwd: &str, expected: std::io::ErrorKind) {
        let spec = Spec {
            argv: &words(argv),
            cwd: Path::new(cwd),
            env: &[],
            deadline: None,
        };
        assert_eq!(Running::start(&spec).unwrap_err().kind(), expected);
    }
    use std::io::ErrorKind::{InvalidInput, NotFound, PermissionDenied};
    check(&[], "/", InvalidInput);
    check(&["sh", "-c", "a\0b"], "/", InvalidInput);
    check(&["/no/such/program"], "/", NotFound);
    check(&["sh"], "/no/such/folder", NotFound);
    check(&["/etc/passwd"], "/", PermissionDenied);
}

#[test]
fn a_child_left_behind_with_the_pipe_does_not_hold_us() {
    for script in ["sleep 300 & echo $!", "setsid sleep 300 & echo $!"] {
        let (ran, output) = sh(script, None);
        assert_eq!(ran.end, End::Exited(0), "{script}");
        assert!(ran.child_left, "{script}");
        assert!(ran.elapsed < Duration::from_secs(100));
        assert!(runs(&output), "{script}: {output}");
        Command::new("kill").arg(output.trim()).status().unwrap();
    }
}

#[test]
fn a_child_left_behind_without_the_pipe_is_noticed() {
    let (ran, output) = sh("sleep 300 >/dev/null 2>&1 & echo $!", None);
    assert!(ran.child_left);
    assert!(runs(&output));
    Command::new("kill").arg(output.trim()).status().unwrap();
}

#[test]
fn a_child_that_writes_without_a_pause_does_not_hold_us() {
    let (ran, output) = sh("yes & echo $!", None);
    assert_eq!(ran.end, End::Exited(0));
    assert!(ran.child_left);
    let pid = output.lines().find(|line| *line != "y").unwrap();
    Command::new("kill").arg(pid).status().unwrap();
}

#[test]
fn a_child_that_finishes_within_the_drain_is_heard_out() {
    // Its last line comes after the shell's end: the shell ends as soon as the pipe to the child was closed.
    let script = "exec 3>&1; { read line; echo late; } <<-END >&3 &\nx\nEND\necho early";
    let (ran, output) = sh(script, None);
    let mut lines: Vec<_> = output.lines().collect();
    lines.sort_unstable();
    assert_eq!((lines, ran.child_left), (vec!["early", "late"], false));
}

#[test]
fn the_deadline_ends_the_whole_group() {
    let script = "sleep 300 & echo $!; sleep 300 >/dev/null & echo $!; wait";
    let (ran, output) = sh(script, Some(Duration::from_millis(200)));
    assert_eq!(ran.end, End::TimedOut);
    assert!(!ran.child_left);
    assert!(ran.elapsed >= Duration::from_millis(200));
    for pid in output.lines() {
        assert!(!runs(pid), "{pid}");
    }
}

#[test]
fn a_group_that_ignores_term_is_killed() {
    let script = "trap '' TERM; echo $$; while :; do sleep 300; done";
    let (ran, output) = sh(script, Some(Duration::from_millis(100)));
    assert_eq!(ran.end, End::TimedOut);
    assert!(!ran.child_left);
    assert!(ran.elapsed >= Duration::from_millis(2100), "{ran:?}");
    assert!(!runs(&output));
}

#[test]
fn a_group_gets_time_to_clean_up_after_its_leader_has_gone() {
    let folder = Temp::new();
    let file = folder.path().join("cleaned");
    // The shell dies of TERM at once; its child needs a moment, holds no pipe, and must not be killed in it.
    let script = format!(
        "sh -c 'trap \"sleep 0.3; touch {}; exit\" TERM; echo up >&3; while :; do sleep 0.05; done' 3>&1 >/dev/null 2>&1 & wait",
        file.display()
    );
    let argv = words(&["sh", "-c", &script]);
    let mut running = start(&argv, None);
    let cancel = Cancel::new().unwrap();
    assert_eq!(running.next(&cancel, None).unwrap(), Next::Output(b"up\n"));
    cancel.cancel();
    let (ran, _) = finish(running, &cancel);
    assert_eq!((ran.end, ran.child_left), (End::Cancelled, false));
    assert!(file.exists());
}

#[test]
fn the_deadline_holds_although_a_session_of_its_own_keeps_the_pipe() {
    let script = "setsid sleep 300 & echo $!; wait";
    let (ran, output) = sh(script, Some(Duration::from_millis(200)));
    assert_eq!((ran.end, ran.child_left), (End::TimedOut, true));
    Command::new("kill").arg(output.trim()).status().unwrap();
}

#[test]
fn the_deadline_holds_against_output_without_a_pause() {
    let argv = words(&["yes"]);
    let mut running = start(&argv, Some(Duration::from_millis(100)));
    let cancel = Cancel::new().unwrap();
    let mut largest = 0;
    let ran = loop {
        match running.next(&cancel, None).unwrap() {
            Next::Output(bytes) => largest = largest.max(bytes.len()),
            Next::Quiet => panic!("nobody asked"),
            Next::Ended(ran) => break ran,
        }
    };
    assert_eq!((ran.end, ran.child_left), (End::TimedOut, false));
    assert!((1..=64 * 1024).contains(&largest), "{largest}");
}

#[test]
fn a_switch_turned_before_the_start_or_by_another_thread_ends_the_group() {
    let argv = words(&["sleep", "300"]);
    let cancel = Cancel::new().unwrap();
    cancel.cancel();
    let (ran, _) = finish(start(&argv, None), &cancel);
    assert_eq!((ran.end, ran.child_left), (End::Cancelled, false));

    let cancel = Cancel::new().unwrap();
    let running = start(&argv, None);
    let other = cancel.clone();
    let turner = thread::spawn(move || other.cancel());
    let (ran, _) = finish(running, &cancel);
    assert_eq!((ran.end, ran.child_left), (End::Cancelled, false));
    turner.join().unwrap();
}

#[test]
fn an_end_by_itself_counts_before_a_cancel_of_the_same_moment() {
    let argv = words(&["sh", "-c", "echo x; exit 3"]);
    let mut running = start(&argv, None);
    let cancel = Cancel::new().unwrap();
    assert_eq!(running.next(&cancel, None).unwrap(), Next::Output(b"x\n"));
    let (ran, _) = finish(running, &cancel);
    assert_eq!(ran.end, End::Exited(3));
}

#[test]
fn quiet_comes_at_the_asked_moment_and_the_end_is_told_again() {
    let argv = words(&["sh", "-c", "sleep 0.2"]);
    let mut running = start(&argv, None);
    let cancel = Cancel::new().unwrap();
    let soon = Instant::now() + Duration::from_millis(20);
    assert_eq!(running.next(&cancel, Some(soon)).unwrap(), Next::Quiet);
    assert!(Instant::now() >= soon);
    let Next::Ended(ran) = running.next(&cancel, None).unwrap() else {
        panic!("the end comes next");
    };
    assert_eq!(running.next(&cancel, Some(soon)).unwrap(), Next::Ended(ran));
    assert_eq!(ran.end, End::Exited(0));
}

#[test]
fn dropping_a_running_command_ends_its_group() {
    let argv = words(&["sh", "-c", "sleep 300 & echo $!; wait"]);
    let mut running = start(&argv, None);
    let cancel = Cancel::new().unwrap();
    let Next::Output(bytes) = running.next(&cancel, None).unwrap() else {
        panic!("output comes first");
    };
    let pid = String::from_utf8(bytes.to_vec()).unwrap();
    drop(running);
    eventually("the child is gone", || !runs(&pid));
}

#[test]
fn no_descriptors_are_left_open() {
    let output = Command::new(std::env::current_exe().unwrap())
        .args(["sys::process::helper_descriptors", "--exact", "--ignored"])
        .output()
        .unwrap();
    assert!(output.status.success(), "{output:?}");
}

/// Alone in its process, since other tests open and close descriptors all the time.
#[test]
#[ignore = "run by no_descriptors_are_left_open in a process of its own"]
fn helper_descriptors() {
    let count = || fs::read_dir("/proc/self/fd").unwrap().count();
    let before = count();
    for script in ["true", "echo x", "exec sleep 300", "sleep 300 & exit"] {
        sh(script, Some(Duration::from_millis(100)));
        assert_eq!(count(), before, "{script}");
    }
    end_all();
}

/// Runs commands, then leaves as on SIGTERM; prints what the parent has to look for.
#[test]
#[ignore = "run by the_way_out_ends_everything in a process of its own"]
fn helper_end_all() {
    let (_, left) = sh("sleep 300 >/dev/null 2>&1 & echo $!", None);
    let argv = words(&[
        "sh",
        "-c",
        "trap '' TERM; echo $$; while :; do sleep 300; done",
    ]);
    let mut stubborn = start(&argv, None);
    let cancel = Cancel::new().unwrap();
    let Next::Output(bytes) = stubborn.next(&cancel, None).unwrap() else {
        panic!("output comes first");
    };
    let stubborn_pid = String::from_utf8(bytes.to_vec()).unwrap();
    let worker = thread::spawn(move || finish(stubborn, &cancel).0);
    end_all();
    assert_eq!(worker.join().unwrap().end, End::Signaled(9));
    let argv = words(&["true"]);
    let spec = Spec {
        argv: &argv,
        cwd: Path::new("/"),
        env: &[],
        deadline: None,
    };
    let refused = Running::start(&spec).unwrap_err();
    let text = "the program is ending: nothing new is started";
    assert_eq!(refused.to_string(), text);
    println!("pids {} {} end", left.trim(), stubborn_pid.trim());
}

#[test]
fn the_way_out_ends_everything() {
    let output = Command::new(std::env::current_exe().unwrap())
        .args(["sys::process::helper_end_all", "--exact", "--ignored"])
        .arg("--nocapture")
        .stdin(Stdio::null())
        .output()
        .unwrap();
    let stdout = String::from_utf8(output.stdout).unwrap();
    assert!(output.status.success(), "{stdout}");
    let pids = stdout.split_once("pids ").unwrap().1;
    let pids: Vec<_> = pids.split_whitespace().take(2).collect();
    for pid in pids {
        eventually("the child is gone", || !runs(pid));
    }
}
