//! The files of a walk among threads: each once, by its number, and the two ways to stop.

use super::walk::{files, options};
use crate::support::temp::Temp;
use std::io::Read;
use std::time::Instant;
use zcoder::ignore::{Limits, Stop, Walk, share};
use zcoder::sys::Cancel;

fn tree() -> Temp {
    let temp = Temp::new();
    for folder in 0..7 {
        for file in 0..folder * 13 {
            let name = format!("{folder}/{file}");
            temp.write(&name, &name);
        }
    }
    temp
}

/// What each of the workers got.
fn shared(temp: &Temp, workers: usize, limits: &Limits<'_>) -> (Vec<(u64, Vec<u8>)>, Option<Stop>) {
    let mut walk = Walk::new(temp.path(), options(temp.path())).expect("opens");
    let workers: Vec<Vec<(u64, Vec<u8>)>> = vec![Vec::new(); workers];
    let (workers, stop) = share(&mut walk, limits, workers, &|got, entry| {
        let mut text = Vec::new();
        let mut file = entry.open().expect("opens");
        file.read_to_end(&mut text).expect("reads");
        assert_eq!(entry.path(), text);
        got.push((entry.number(), text));
        if got.len() == 20 {
            limits.cancel.cancel();
        }
    });
    let mut all = workers.concat();
    all.sort();
    (all, stop)
}

#[test]
fn every_file_once_and_numbered_in_the_order_of_the_walk() {
    let temp = tree();
    let expected: Vec<_> = (0..)
        .zip(files(temp.path(), options(temp.path())))
        .collect();
    assert_eq!(expected.len(), 273);
    // So many workers that none gets twenty files.
    let cancel = Cancel::new().expect("switch");
    let limits = Limits {
        cancel: &cancel,
        deadline: None,
    };
    let mut walk = Walk::new(temp.path(), options(temp.path())).expect("opens");
    for workers in [1, 2, 5] {
        let workers: Vec<Vec<(u64, Vec<u8>)>> = vec![Vec::new(); workers];
        let (workers, stop) = share(&mut walk, &limits, workers, &|got, entry| {
            got.push((entry.number(), entry.path()))
        });
        let mut all = workers.concat();
        all.sort();
        assert_eq!((all, stop), (expected.clone(), None));
        walk = Walk::new(temp.path(), options(temp.path())).expect("opens");
    }
}

#[test]
fn no_file_is_begun_after_a_stop() {
    let temp = tree();
    let cancel = Cancel::new().expect("switch");
    let limits = Limits {
        cancel: &cancel,
        deadline: None,
    };
    let (got, stop) = shared(&temp, 1, &limits);
    assert_eq!((got.len(), stop), (20, Some(Stop::Cancelled)));
    assert_eq!(
        shared(&temp, 2, &limits),
        (Vec::new(), Some(Stop::Cancelled))
    );
    let cancel = Cancel::new().expect("switch");
    let over = Limits {
        cancel: &cancel,
        deadline: Some(Instant::now()),
    };
    assert_eq!(shared(&temp, 2, &over), (Vec::new(), Some(Stop::TimeUp)));
}

#[test]
fn folders_are_read_shortly_before_their_files_are_handed_out() {
    let temp = Temp::new();
    // While their files are handed out there would be time to read all that follows.
    for file in 0..500 {
        temp.write(&format!("0/{file}"), "");
    }
    for folder in 1..10 {
        temp.write(&format!("{folder}/a"), "");
    }
    let cancel = Cancel::new().expect("switch");
    let limits = Limits {
        cancel: &cancel,
        deadline: None,
    };
    let mut walk = Walk::new(temp.path(), options(temp.path())).expect("opens");
    let (workers, stop) = share(&mut walk, &limits, vec![Vec::new()], &|got, entry| {
        if entry.number() == 400 {
            std::fs::remove_file(temp.path().join("1/a")).expect("removes");
        }
        got.push(String::from_utf8(entry.path()).expect("UTF-8"))
    });
    let last = workers.concat().split_off(500);
    let expected = (2..10).map(|folder| format!("{folder}/a"));
    assert_eq!((last, stop), (expected.collect(), None));
}
