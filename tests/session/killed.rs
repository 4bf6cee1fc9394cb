//! A real process that commits as fast as it can is killed again and again, at whatever it does just then: each time the session is whole,
//! and has at least what the process had been told was committed. Some hundred times: `cargo test --test main killed -- --ignored`.
//!
//! ```text
//! the process      opens or begins the session, commits; "17⏎" on its output when generation 17 has returned
//! here             reads so many of these lines, waits a random moment, SIGKILL; the last line that came counts
//! ```

use super::kit::{Kit, user};
use crate::support::temp::Temp;
use std::io::{BufRead, BufReader, Write};
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};
use zcoder::policy::Profile;
use zcoder::protocol::Message;
use zcoder::session::{Record, SessionId, Store};

/// The text of the record that generation `number` adds: short ones and some of many sectors.
fn text(number: u64) -> String {
    format!("{number}:{}", "x".repeat((number * 7919 % 1500) as usize))
}

/// Commits one record after the other to the only session here; begins one if there is none.
#[test]
#[ignore = "run by no_kill_loses_a_committed_record in a process of its own"]
fn helper_commit_for_ever() {
    let state = std::env::current_dir().expect("a folder");
    let store = Store::new(&state, Path::new("/home/me/app"));
    let mut log = match store.list().expect("a list").first() {
        Some(listed) => store.open(&listed.id).expect("a session").log,
        None => store.begin(Profile::Coding).expect("a log"),
    };
    let mut out = std::io::stdout();
    // Nobody listens any more: the one who would kill us is gone.
    while writeln!(out, "{}", log.generation()).is_ok() {
        log.append(user(&text(log.generation() + 1)));
        log.commit().expect("a commit");
    }
}

/// Lets the helper work for a random while; the last generation that it was told.
fn killed(state: &Path, random: &mut u64) -> u64 {
    *random ^= *random << 13;
    *random ^= *random >> 7;
    *random ^= *random << 17;
    let (lines, micros) = (*random >> 40 & 15, *random >> 20 & 0x3ff);
    let mut child = Command::new(std::env::current_exe().expect("this program"))
        .args(["session::killed::helper_commit_for_ever", "--exact"])
        .args(["--ignored", "--nocapture"])
        .current_dir(state)
        .stdout(Stdio::piped())
        .spawn()
        .expect("a process");
    let out = BufReader::new(child.stdout.take().expect("its output")).lines();
    let mut generations = out.map_while(|line| line.ok()).filter_map(|line| {
        // The first one follows what the test harness says on its line.
        line.rsplit(' ').next()?.parse::<u64>().ok()
    });
    let mut last = 0;
    for generation in generations.by_ref().take(1 + lines as usize) {
        last = generation;
    }
    // Not to wait for anything: any moment is as good as any other.
    let until = Instant::now() + Duration::from_micros(micros);
    while Instant::now() < until {
        std::hint::spin_loop();
    }
    child.kill().expect("killed");
    child.wait().expect("its end");
    generations.last().unwrap_or(last)
}

/// Kills it so many times while it works on one session.
fn session_of(kills: usize, random: &mut u64) {
    let kit = Kit::inside(Temp::in_memory());
    let (mut told, mut unfinished) = (0, 0);
    for kill in 0..kills {
        let generation = killed(kit.temp.path(), random);
        assert!(generation >= told, "{kill}: {generation} after {told}");
        told = generation;
        let listed = kit.store.list().expect("a list");
        let Some(listed) = listed.first() else {
            assert_eq!(told, 0);
            continue;
        };
        let (generation, texts) = open(&kit, &listed.id);
        assert!(generation >= told, "{kill}: {generation} of {told}");
        assert!(texts.into_iter().eq((1..=generation).map(text)), "{kill}");
        unfinished += usize::from(generation > told);
        told = generation;
    }
    println!("{kills} kills, generation {told}, {unfinished} unfinished commits were there");
    assert!(told as usize > kills, "{told}");
}

#[test]
fn no_kill_loses_a_committed_record() {
    session_of(20, &mut 0x2545_f491_4f6c_dd1d);
}

#[test]
#[ignore = "takes minutes"]
fn no_kill_of_hundreds_loses_a_committed_record() {
    let mut random = 0x9e37_79b9_7f4a_7c15;
    for _ in 0..20 {
        session_of(20, &mut random);
    }
}

/// Generation and texts.
fn open(kit: &Kit, id: &SessionId) -> (u64, Vec<String>) {
    let opened = kit.store.open(id).expect("a session");
    assert_eq!(opened.notices, []);
    let texts = opened.log.records()[1..].iter().map(|record| match record {
        Record::Message(Message::User { text }) => text.clone(),
        other => panic!("{other:?}"),
    });
    (opened.log.generation(), texts.collect())
}
