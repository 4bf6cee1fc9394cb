//! What waits in a session is listed and taken back from the shell, and told when the session goes on.

use super::kit::{Kit, header, id, title, turn, user};
use crate::support::run::standin;
use zcoder::protocol::{Pending, Way};
use zcoder::session::{Record, SessionId};

fn accepted(id: &str, way: Way, text: &str) -> Record {
    let (id, text) = (id.to_string(), text.to_string());
    Record::Accepted(Pending { id, way, text })
}

fn with_waiting() -> Kit {
    let kit = Kit::new();
    let in_context = false;
    let records = [
        header(1),
        title("task"),
        turn(1, "task"),
        user("task"),
        accepted("a1", Way::Queue, "delivered"),
        accepted("a2", Way::Steer, "use\nmake\u{1b}[2J"),
        accepted("a3", Way::Shell { in_context }, "touch made"),
        accepted("a4", Way::Shell { in_context }, "touch begun"),
        Record::Settled {
            id: "a1".to_string(),
            consumed: true,
        },
        Record::Shell {
            id: "a4".to_string(),
            command: "touch begun".to_string(),
            in_context,
        },
    ];
    kit.session(1, &records);
    kit
}

#[test]
fn what_waits_is_listed_and_dropped_and_a_command_that_began_is_not_among_it() {
    let kit = with_waiting();
    let list = ["sessions", "waiting", "2025"];
    let both = "a2  message  use\\nmake\\x1b[2J\na3  command  touch made\n";
    kit.check(&list, 0, both, "");
    let none = format!(
        "zcoder: nothing waits in session {} under `a4`; `zcoder sessions waiting {0}` lists what does\n",
        id(1)
    );
    let drop = |what| ["sessions", "waiting", "2025", "--drop", what];
    kit.check(&drop("a4"), 1, "", &none);
    kit.check(&drop("a3"), 0, "", "");
    kit.check(&list, 0, "a2  message  use\\nmake\\x1b[2J\n", "");
    kit.check(&drop("all"), 0, "", "");
    let nothing = format!("nothing waits in session {}\n", id(1));
    kit.check(&list, 0, "", &nothing);
    assert_eq!(kit.run(&["audit", "verify", "2025"]).code, Some(0));
    let ran = kit.run(&["sessions", "show", "2025", "--drop", "a2"]);
    assert_eq!(
        (ran.code, ran.err.as_str()),
        (Some(2), "zcoder: --drop works only with waiting\n")
    );
}

#[test]
fn nothing_is_dropped_in_a_session_that_is_at_work() {
    let kit = with_waiting();
    let opened = kit.store.open(&SessionId(id(1))).expect("opened");
    let busy = format!(
        "zcoder: session {} is at work in another zcoder; it stays as it is\n",
        id(1)
    );
    kit.check(
        &["sessions", "waiting", "2025", "--drop", "all"],
        1,
        "",
        &busy,
    );
    drop(opened);
}

#[test]
fn what_waits_is_told_when_the_session_goes_on_and_is_not_done() {
    let (kit, server) = (with_waiting(), standin(None));
    let host = server.address().to_string();
    let ran = kit.run(&["--host", &host, "--continue", "-p", "list files"]);
    let told = format!(
        "note      1 message and 1 command of your own of an earlier run: kept, and not delivered or run by itself; \
         `zcoder sessions waiting {}` lists and drops\n",
        id(1)
    );
    assert!(ran.err.contains(&told), "{ran:?}");
    assert_eq!(ran.code, Some(0), "{ran:?}");
    assert!(!kit.temp.path().join("ws/made").exists());
    let left = kit.run(&["sessions", "waiting", "2025"]).out;
    assert_eq!(left.lines().count(), 2, "{left}");
}
