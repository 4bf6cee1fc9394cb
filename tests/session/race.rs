//! Two that write to one session never overwrite each other, wherever one of them is stopped or killed in its commit. That they do not when
//! they just run into each other: `apart.rs`.

use super::crash::stopped_commit;
use super::kit::user;
use std::path::Path;
use std::thread;
use zcoder::protocol::Message;
use zcoder::session::{CommitError, Conflict, Log, Record, Store};

fn texts(log: &Log) -> Vec<String> {
    let text = |record: &Record| match record {
        Record::Message(Message::User { text }) => Some(text.clone()),
        _ => None,
    };
    log.records().iter().filter_map(text).collect()
}

/// One stands still behind `steps` steps of its commit while another one, which has had the session open all the time, commits.
fn meet(steps: usize, renamed: bool) {
    let text = |log: &Log| texts(log).join(" ");
    // It is stopped: the other one gets nothing, and when the first one has gone on, a conflict.
    let mut stopped = stopped_commit(steps);
    let store = Store::new(stopped.kit.temp.path(), Path::new("/home/me/app"));
    let mut log = stopped.other.take().expect("a log");
    log.append(user("by the other"));
    let before = stopped.files();
    assert!(matches!(log.commit(), Err(CommitError::Busy { .. })));
    assert_eq!(stopped.files(), before, "{steps}");
    stopped.finish();
    match log.commit() {
        Err(CommitError::Conflict(Conflict::Moved { .. })) => {}
        other => panic!("{steps}: {other:?}"),
    }
    let opened = store.open(&stopped.id).expect("a session");
    assert_eq!(opened.notices, []);
    assert_eq!(text(&opened.log), "one two");
    log.fork().expect("a fork");
    log.commit().expect("a commit");
    let fork = store.open(log.id()).expect("a session").log;
    assert_eq!(text(&fork), "one by the other");
    // It is killed: the lock is free.
    let mut killed = stopped_commit(steps);
    drop(killed.lock.take());
    let store = Store::new(killed.kit.temp.path(), Path::new("/home/me/app"));
    let mut log = killed.other.take().expect("a log");
    log.append(user("by the other"));
    let (committed, expected) = match log.commit() {
        Ok(()) => (true, "one by the other"),
        Err(CommitError::Conflict(Conflict::Moved { .. })) => (false, "one two"),
        Err(error) => panic!("{steps}: {error}"),
    };
    assert_eq!(committed, !renamed, "{steps}");
    let opened = store.open(&killed.id).expect("a session");
    assert_eq!(opened.notices, []);
    assert_eq!(text(&opened.log), expected);
}

#[test]
fn one_that_is_stopped_or_killed_in_a_commit_and_another_one() {
    let renamed = stopped_commit(0).rename;
    thread::scope(|scope| {
        for steps in 0..=renamed + 2 {
            scope.spawn(move || meet(steps, steps > renamed));
        }
    });
}
