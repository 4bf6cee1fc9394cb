//! Who is dead for sure, and who only may be.

use std::process::{Command, Stdio};
use zcoder::sys::host::Process;

#[test]
fn only_what_is_sure_is_dead() {
    let this = Process::this();
    assert!(!this.is_dead());
    let reused = Process {
        start: "1".to_string(),
        ..this.clone()
    };
    assert!(reused.is_dead(), "the number was given again");
    let unknown = Process {
        start: String::new(),
        ..this.clone()
    };
    assert!(!unknown.is_dead());
    let mut child = Command::new("cat");
    child.stdin(Stdio::piped()).stdout(Stdio::null());
    let mut child = child.spawn().expect("a child");
    let of_child = Process {
        pid: child.id(),
        ..unknown
    };
    assert!(!of_child.is_dead());
    drop(child.stdin.take());
    child.wait().expect("its end");
    assert!(of_child.is_dead());
    let elsewhere = |change: fn(&mut Process)| {
        let mut process = of_child.clone();
        change(&mut process);
        process
    };
    let others: [fn(&mut Process); 5] = [
        |process| process.host.push('x'),
        |process| process.boot.push('x'),
        |process| process.space.push('x'),
        |process| process.boot.clear(),
        |process| process.space.clear(),
    ];
    for change in others {
        let process = elsewhere(change);
        assert!(!process.is_dead(), "{process:?}");
    }
}

#[test]
fn the_user_is_the_owner_of_what_we_make() {
    use std::os::unix::fs::MetadataExt;
    let temp = crate::support::temp::Temp::new();
    let meta = std::fs::symlink_metadata(temp.path()).expect("our folder");
    assert_eq!(zcoder::sys::host::user(), meta.uid());
}
