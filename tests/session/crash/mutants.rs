//! The tool sees what it is for: each sync left out in turn, and steps in the wrong order, lose something that it finds. So each sync is
//! needed, too: one whose loss nothing shows does not belong into the store.
//!
//! A sync that has nothing to do where it stands (an open, of a session at rest) is passed over.

use super::judge::Judge;
use super::script::{Script, Step};
use super::world::World;
use super::{DAILY, begun, commit, damage, delete, fork, new_session, position, rename, taken_up};
use zcoder::session::Operation;

/// What is lost without a sync, for each from a step on: the beginning of what the judge says.
fn losses(script: &mut Script, from: usize) -> Vec<String> {
    let mut judge = Judge::new(DAILY);
    let mut world = World::of(&script.start);
    let mut lines = Vec::new();
    for at in 0..script.steps.len() {
        let step = script.steps[at].clone();
        if at >= from && step.syncs().is_some_and(|path| world.is_pending(path)) {
            script.steps.remove(at);
            let loss = match judge.play(script, at) {
                Ok(_) => "nothing is lost".to_string(),
                Err(loss) => loss
                    .split([':', '('])
                    .next()
                    .unwrap_or("")
                    .trim()
                    .to_string(),
            };
            script.steps.insert(at, step.clone());
            lines.push(format!("{}: {loss}", script.told(&step)));
        }
        step.play(&mut world, &mut script.promises());
    }
    lines
}

#[track_caller]
fn check((mut script, from): (Script, usize), expected: &[&str]) {
    assert_eq!(losses(&mut script, from), expected);
}

#[test]
fn without_any_one_sync_something_is_lost() {
    check(
        (new_session(), 0),
        &[
            "sync folder sessions: generation 1 is lost",
            "sync folder .: generation 1 is lost",
            "sync .new-ID/log-1.jsonl: it does not open",
            "sync .new-ID/current: there never was a generation 2",
            "sync folder .new-ID: there never was a generation 2",
            "sync folder sessions/W: generation 1 is lost",
        ],
    );
    check(
        (commit(), 0),
        &[
            "sync data ID/log-1.jsonl: it is damaged",
            "sync ID/current.new: there never was a generation 3",
            "sync folder ID: generation 2 is lost",
        ],
    );
    check(
        (damage(), 0),
        &[
            "sync data ID/log-2.jsonl: it is damaged",
            "sync folder ID: generation 2 has other records",
            "sync ID/current.new: there never was a generation 6",
            "sync folder ID: generation 2 is lost",
            "sync data ID/log-2.jsonl: it is damaged",
            "sync ID/current.new: there never was a generation 7",
            "sync folder ID: generation 3 is lost",
        ],
    );
    check(
        (fork(), 0),
        &[
            "sync .new-ID/log-1.jsonl: it does not open",
            "sync .new-ID/current: there never was a generation 2",
            "sync folder .new-ID: there never was a generation 2",
            "sync folder sessions/W: generation 1 is lost",
        ],
    );
    check((delete(), 0), &["sync folder sessions/W: it does not open"]);
    check(
        (rename(), 0),
        &[
            "sync data ID/log-1.jsonl: it is damaged",
            "sync ID/current.new: there never was a generation 4",
            "sync folder ID: generation 2 is lost",
        ],
    );
}

#[test]
fn without_any_one_sync_something_is_lost_that_was_built_on_what_a_killed_program_has_left() {
    check(
        taken_up(&commit(), "rename "),
        &[
            "sync folder ID: generation 2 is lost",
            "sync data ID/log-1.jsonl: it is damaged",
            "sync ID/current.new: there never was a generation 4",
            "sync folder ID: generation 3 is lost",
        ],
    );
    check(
        taken_up(&new_session(), "rename "),
        &[
            "sync folder sessions/W: generation 1 is lost",
            "sync data ID/log-1.jsonl: it is damaged",
            "sync ID/current.new: there never was a generation 3",
            "sync folder ID: generation 2 is lost",
        ],
    );
    check(
        begun(),
        &[
            "sync folder sessions: generation 1 is lost",
            "sync folder .: generation 1 is lost",
            "sync .new-ID/log-1.jsonl: it does not open",
            "sync .new-ID/current: there never was a generation 2",
            "sync folder .new-ID: there never was a generation 2",
            "sync folder sessions/W: generation 1 is lost",
        ],
    );
}

/// The step that begins so stands behind the one that begins otherwise.
fn behind(script: &mut Script, moved: &str, other: &str) {
    let step = script.steps.remove(position(script, moved));
    let at = position(script, other);
    script.steps.insert(at + 1, step);
}

/// The same sync, of what has another name by now.
fn renamed(step: &mut Step, old: &str, new: &str) {
    let Step::Disk(Operation::SyncFile { path } | Operation::SyncFolder { path }) = step else {
        panic!("{step:?}");
    };
    *path = path.to_str().expect("UTF-8").replace(old, new).into();
}

#[test]
fn in_another_order_something_is_lost() {
    type Mutation = (fn() -> Script, fn(&mut Script), &'static str);
    let mutations: [Mutation; 4] = [
        // The pointer before what it points to.
        (
            commit,
            |script| {
                behind(script, "sync data", "rename");
                behind(script, "write ID/log-1.jsonl", "rename");
            },
            "it is damaged",
        ),
        // The pointer's name before its bytes.
        (
            commit,
            |script| {
                behind(script, "sync ID/current.new", "rename");
                let at = position(script, "sync ID/current.new");
                renamed(&mut script.steps[at], "current.new", "current");
            },
            "there never was a generation 3",
        ),
        // The commit returns before its last sync.
        (
            commit,
            |script| {
                let last = script.steps.len() - 1;
                script.steps.swap(last - 1, last - 2);
                script.steps.swap(last - 2, last);
            },
            "generation 2 is lost",
        ),
        // A new session has its name before it is whole.
        (
            new_session,
            |script| {
                behind(script, "sync folder .new-ID", "rename");
                let at = position(script, "sync folder .new-ID");
                renamed(&mut script.steps[at], ".new-", "");
            },
            "there never was a generation 2",
        ),
    ];
    for (scenario, mutation, expected) in mutations {
        let mut script = scenario();
        mutation(&mut script);
        let played = Judge::new(DAILY).play(&script, 0);
        let loss = played.expect_err("a loss");
        assert!(loss.starts_with(expected), "{loss}");
    }
}
