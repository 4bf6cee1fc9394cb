//! Pseudo-terminals, the controlling terminal and signals: each program under test runs on a real terminal or in a process of its own.

use std::fs::OpenOptions;
use std::io::{BufRead, BufReader, Write};
use std::process::{Child, Command, Stdio};
use std::sync::mpsc;
use std::time::{Duration, Instant};
use zcoder::sys::Cancel;
use zcoder::sys::pty::Pty;
use zcoder::sys::signal::{self, Signal};
use zcoder::sys::tty::Tty;

/// This test binary, to run one helper in a process of its own.
fn helper(name: &str) -> Command {
    let mut command = Command::new(std::env::current_exe().unwrap());
    let name = format!("sys::terminal::{name}");
    command.args([&name, "--exact", "--ignored", "--nocapture"]);
    command
}

fn sh(script: &str) -> Command {
    let mut command = Command::new("sh");
    command.args(["-c", script]);
    command
}

/// A terminal under test and what it has shown.
struct Screen {
    pty: Pty,
    child: Child,
    shown: Vec<u8>,
    /// What was expected already ends here.
    seen: usize,
    give_up: Instant,
}

impl Screen {
    fn spawn(command: &mut Command, columns: u16, rows: u16) -> Screen {
        let (pty, child) = Pty::spawn(command, columns, rows).unwrap();
        Screen {
            pty,
            child,
            shown: Vec::new(),
            seen: 0,
            give_up: Instant::now() + Duration::from_secs(20),
        }
    }

    /// False at the end.
    fn read(&mut self) -> bool {
        let mut bytes = [0; 1024];
        let len = self.pty.read(&mut bytes, Some(self.give_up)).unwrap();
        self.shown.extend_from_slice(&bytes[..len]);
        len > 0
    }

    /// Reads until `text` comes after what was expected before; returns what stood before it.
    #[track_caller]
    fn expect(&mut self, text: &str) -> String {
        loop {
            let fresh = String::from_utf8_lossy(&self.shown[self.seen..]);
            if let Some(at) = fresh.find(text) {
                let before = fresh[..at].to_string();
                self.seen += at + text.len();
                return before;
            }
            let fresh = fresh.into_owned();
            assert!(self.read(), "closed before {text:?}: {fresh:?}");
        }
    }

    fn type_in(&self, text: &str) {
        self.pty.write(text.as_bytes()).unwrap();
    }

    /// Everything up to the end that was not expected yet, and whether the child succeeded.
    fn finish(mut self) -> (String, bool) {
        while self.read() {}
        let rest = String::from_utf8_lossy(&self.shown[self.seen..]).into_owned();
        (rest, self.child.wait().unwrap().success())
    }
}

#[test]
fn the_child_has_a_terminal_of_the_asked_size_and_notices_a_new_one() {
    let script = "trap 'stty size; exit' WINCH; stty size; tty; while :; do sleep 0.05; done";
    let mut screen = Screen::spawn(&mut sh(script), 101, 37);
    assert_eq!(screen.expect("/dev/"), "37 101\r\n");
    screen.pty.resize(80, 24).unwrap();
    let (rest, success) = screen.finish();
    assert!(rest.ends_with("24 80\r\n") && success, "{rest}");
}

#[test]
fn typed_bytes_reach_the_child_and_control_c_its_group() {
    let mut screen = Screen::spawn(&mut sh("read line; echo got $line; cat"), 80, 24);
    screen.type_in("hello\n");
    screen.expect("got hello\r\n");
    // Now `cat` runs: what comes twice is the echo and its answer.
    screen.type_in("more\n");
    screen.expect("more\r\nmore\r\n");
    screen.type_in("\x03");
    assert_eq!(screen.finish(), ("^C".to_string(), false));
}

#[test]
fn nothing_to_read_is_timed_out() {
    let (pty, mut child) = Pty::spawn(&mut sh("read line"), 80, 24).unwrap();
    let deadline = Some(Instant::now() + Duration::from_millis(5));
    let error = pty.read(&mut [0; 16], deadline).unwrap_err();
    assert_eq!(error.kind(), std::io::ErrorKind::TimedOut);
    drop(pty);
    // The hang-up ends it.
    assert!(!child.wait().unwrap().success());
}

/// Asks twice on the terminal; what was typed before the second question is discarded.
#[test]
#[ignore = "run on a terminal of its own"]
fn helper_ask() {
    let tty = Tty::open().expect("terminal");
    let cancel = Cancel::new().unwrap();
    tty.write(&format!("<size {:?}>", tty.size())).unwrap();
    tty.write("<first?>").unwrap();
    let line = tty.read_line(&cancel).unwrap();
    tty.write(&format!("<{line:?}><typed ahead?>")).unwrap();
    // The parent types while nobody asks, and says so on another line.
    let mut ready = String::new();
    std::io::stdin().read_line(&mut ready).unwrap();
    tty.discard_input().unwrap();
    tty.write("<second?>").unwrap();
    let line = tty.read_line(&cancel).unwrap();
    tty.write(&format!("<{line:?}><end?>")).unwrap();
    let line = tty.read_line(&cancel).unwrap();
    tty.write(&format!("<{line:?}>")).unwrap();
    cancel.cancel();
    let line = tty.read_line(&cancel).unwrap();
    tty.write(&format!("<cancelled {line:?}>")).unwrap();
}

#[test]
fn questions_are_answered_by_lines_typed_after_them() {
    // Its stdin is a FIFO and its stdout a file: only the terminal device is left to ask on.
    let folder = crate::support::temp::Temp::new();
    let fifo = folder.path().join("fifo");
    let made = Command::new("mkfifo").arg(&fifo).status().unwrap();
    assert!(made.success());
    let helper = helper("helper_ask");
    let mut command = sh("exec \"$@\" <\"$0\" >/dev/null");
    command
        .arg(&fifo)
        .arg(helper.get_program())
        .args(helper.get_args());
    let mut screen = Screen::spawn(&mut command, 90, 30);
    // Opening waits for the other end: the helper's shell is there then.
    let mut ready = OpenOptions::new().write(true).open(&fifo).unwrap();
    assert_eq!(screen.expect("<first?>"), "<size Some((90, 30))>");
    screen.type_in("j\u{e4}\n");
    screen.expect("<Some(\"jä\")><typed ahead?>");
    screen.type_in("yes\n");
    // The echo shows that the terminal has it.
    screen.expect("yes\r\n");
    ready.write_all(b"go\n").unwrap();
    screen.expect("<second?>");
    screen.type_in("no\n");
    screen.expect("<Some(\"no\")><end?>");
    screen.type_in("\x04");
    screen.expect("<None><cancelled None>");
    assert!(screen.finish().1);
}

/// Says whether there is a terminal to ask on.
#[test]
#[ignore = "run in a process of its own"]
fn helper_has_terminal() {
    println!("terminal {}", Tty::open().is_some());
}

#[test]
fn without_a_terminal_or_in_the_background_there_is_none() {
    let helper = helper("helper_has_terminal");
    let run = |script: &str| {
        let mut command = sh(script);
        command
            .arg("sh")
            .arg(helper.get_program())
            .args(helper.get_args());
        Screen::spawn(&mut command, 80, 24).finish().0
    };
    let shown = run("\"$@\"");
    assert!(shown.contains("terminal true"), "{shown}");
    // Job control puts a background job into a group of its own, which is not the terminal's.
    let shown = run("set -m; \"$@\" & wait");
    assert!(shown.contains("terminal false"), "{shown}");
    let shown = run("setsid \"$@\"; sleep 0");
    assert!(shown.contains("terminal false"), "{shown}");
}

/// Prints each signal that arrives; ends after SIGTERM.
#[test]
#[ignore = "run in a process of its own"]
fn helper_signals() {
    let (sender, arrived) = mpsc::channel();
    signal::watch(Box::new(move |signal| sender.send(signal).unwrap())).unwrap();
    let again = signal::watch(Box::new(|_| {})).unwrap_err();
    assert_eq!(again.kind(), std::io::ErrorKind::AlreadyExists);
    println!("watching");
    loop {
        let signal = arrived.recv().unwrap();
        println!("{signal:?} {}", signal.number());
        if signal == Signal::Terminate {
            return;
        }
    }
}

/// Starts the helper, sends signals one by one and returns what it printed for them.
fn signaled(mut command: Command, signals: &[&str]) -> (Child, Vec<String>) {
    let mut child = command.stdout(Stdio::piped()).spawn().unwrap();
    let stdout = BufReader::new(child.stdout.take().unwrap());
    let mut lines = stdout.lines().map(Result::unwrap);
    let mut next = |wanted: &dyn Fn(&str) -> bool| lines.find(|line| wanted(line));
    next(&|line| line == "watching").expect("helper starts");
    let mut printed = Vec::new();
    for signal in signals {
        let pid = child.id().to_string();
        let (flag, ignored) = match signal.strip_prefix('!') {
            Some(signal) => (signal, true),
            None => (*signal, false),
        };
        let sent = Command::new("kill")
            .args([&format!("-{flag}"), &pid])
            .status();
        assert!(sent.unwrap().success());
        if !ignored {
            printed.push(next(&|line| !line.is_empty()).expect("a line for each signal"));
        }
    }
    // Reads to the end, so that the helper never writes into a closed pipe.
    while next(&|_| true).is_some() {}
    (child, printed)
}

#[test]
fn each_signal_calls_the_function() {
    let (mut child, printed) = signaled(
        helper("helper_signals"),
        &["INT", "INT", "HUP", "QUIT", "TERM"],
    );
    let expected = [
        "Interrupt 2",
        "Interrupt 2",
        "Hangup 1",
        "Quit 3",
        "Terminate 15",
    ];
    assert_eq!(printed, expected);
    assert!(child.wait().unwrap().success());
}

#[test]
fn a_signal_ignored_at_the_start_stays_ignored() {
    let helper = helper("helper_signals");
    let mut command = sh("trap '' HUP INT; exec \"$@\"");
    command
        .arg("sh")
        .arg(helper.get_program())
        .args(helper.get_args());
    let (mut child, printed) = signaled(command, &["!HUP", "!INT", "QUIT", "TERM"]);
    assert_eq!(printed, ["Quit 3", "Terminate 15"]);
    assert!(child.wait().unwrap().success());
}

#[test]
fn a_closed_terminal_is_a_hang_up() {
    let folder = crate::support::temp::Temp::new();
    let log = folder.write("log", "");
    let helper = helper("helper_signals");
    let mut command = sh("exec \"$@\" >\"$0\"");
    command
        .arg(&log)
        .arg(helper.get_program())
        .args(helper.get_args());
    let (pty, mut child) = Pty::spawn(&mut command, 80, 24).unwrap();
    let give_up = Instant::now() + Duration::from_secs(20);
    while !String::from_utf8(folder.read("log"))
        .unwrap()
        .contains("watching")
    {
        assert!(Instant::now() < give_up);
        std::thread::yield_now();
    }
    drop(pty);
    while !String::from_utf8(folder.read("log"))
        .unwrap()
        .contains("Hangup 1")
    {
        assert!(Instant::now() < give_up);
        std::thread::yield_now();
    }
    let pid = child.id().to_string();
    assert!(Command::new("kill").arg(pid).status().unwrap().success());
    assert!(child.wait().unwrap().success());
}
