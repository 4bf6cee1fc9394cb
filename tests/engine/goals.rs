//! Goals: the worker and its verifier over real sockets, what stops a goal, and what is left of it.

use super::drive::{Run, check_prefixes, show};
use super::fake::{Chat, Scene, call, calls, content, counted, says};
use crate::support::temp::Temp;
use zcoder::engine::Setup;
use zcoder::json::{Tree, Value};
use zcoder::protocol::{Decision, Event, Goal, GoalOp, GoalState, Op, Status};
use zcoder::session::Record;

const DONE: &str = r#"{"status":"done","response":"all green, see a.txt"}"#;
const ACCEPT: &str = r#"{"verdict":"accept","reason":"it is there"}"#;
const REJECT: &str =
    r#"{"verdict":"reject","reason":"a.txt is missing","next":"write a.txt","missing":["a.txt"]}"#;

/// The worker says that it is done.
fn claim() -> Chat {
    calls(&[("f", "finish_task", DONE)])
}

fn write(name: &str) -> Chat {
    let arguments = format!(r#"{{"path":"{name}","content":"x\n"}}"#);
    calls(&[("w", "write_file", &arguments)])
}

fn start(chats: Vec<Chat>) -> Run {
    Run::start(Scene::new(chats), |_, _| {})
}

fn set(run: &Run, tokens: Option<u64>) {
    let objective = "make it green".to_string();
    run.say(Op::Goal(GoalOp::Set { objective, tokens }));
}

/// A goal to its end.
fn work(run: &Run, tokens: Option<u64>) -> Vec<Event> {
    set(run, tokens);
    run.until_ended()
}

fn status(events: &[Event]) -> &Status {
    match events.last() {
        Some(Event::TurnEnded { receipt, .. }) => &receipt.status,
        other => panic!("{other:?}"),
    }
}

/// What is told of goal and verifier.
fn told(events: &[Event]) -> Vec<String> {
    let mut lines = show(events);
    lines.retain(|line| {
        let begin = ["goal ", "no goal", "verifying", "verified", "error: "];
        begin.iter().any(|begin| line.starts_with(begin))
    });
    lines
}

/// The answer to a question about the goal.
fn ask(run: &Run, op: GoalOp) -> Vec<String> {
    run.say(Op::Goal(op));
    told(&run.until(|event| matches!(event, Event::Goal(_))))
}

fn is_verifier(body: &[u8]) -> bool {
    String::from_utf8_lossy(body).contains("You are an independent verifier.")
}

fn tools(body: &[u8]) -> Vec<String> {
    let tree = Tree::parse(body).expect("JSON");
    let tools = tree.root().get("tools").expect("tools").items();
    let name = |tool: Value<'_>| {
        let name = tool.get("function").and_then(|f| f.get("name"));
        name.and_then(Value::as_str).expect("name").to_string()
    };
    tools.map(name).collect()
}

#[test]
fn a_claim_is_looked_at_and_a_rejection_goes_back_to_the_worker() {
    let run = start(vec![
        claim(),
        calls(&[("r", "read_file", r#"{"path":"a.txt"}"#)]),
        says(REJECT),
        write("a.txt"),
        claim(),
        says(ACCEPT),
    ]);
    let events = work(&run, None);
    assert_eq!(
        told(&events),
        [
            "goal Running, rejected 0: ",
            "verifying 1",
            "verified: Opinion { accepted: false, reason: \"a.txt is missing\", next: \"write a.txt\", missing: [\"a.txt\"] }",
            "goal Running, rejected 1: ",
            "verifying 2",
            "verified: Opinion { accepted: true, reason: \"it is there\", next: \"\", missing: [] }",
            "goal Met, rejected 1: all green, see a.txt",
        ]
    );
    assert_eq!(*status(&events), Status::Done);
    assert_eq!(
        ask(&run, GoalOp::Status),
        ["goal Met, rejected 1: all green, see a.txt"]
    );
    let chats = run.finish();
    let (verifier, worker): (Vec<_>, Vec<_>) =
        chats.into_iter().partition(|body| is_verifier(body));
    assert_eq!((verifier.len(), worker.len()), (3, 3));
    check_prefixes(&worker);
    check_prefixes(&verifier[..2]);
    let first = String::from_utf8_lossy(&worker[0]);
    assert!(
        first.contains("The user's next message is a goal."),
        "{first}"
    );
    assert!(
        first.contains(r#"{"role":"user","content":"make it green"}"#),
        "{first}"
    );
    let last = String::from_utf8_lossy(&worker[2]);
    let words = "The verifier rejected this: the goal is not met yet.\\nReason: a.txt is missing\\nMissing evidence: a.txt\\nNext action: \
                 write a.txt\\nGo on";
    assert!(last.contains(words), "{last}");
    // Nothing else of the verifier's reaches the worker.
    assert!(!last.contains("independent verifier"), "{last}");
    for body in &verifier {
        assert_eq!(tools(body), ["list_files", "read_file", "search_text"]);
        let body = String::from_utf8_lossy(body);
        assert!(body.contains("Goal: make it green"), "{body}");
        assert!(
            body.contains("The worker claims:\\nall green, see a.txt"),
            "{body}"
        );
    }
    let second = String::from_utf8_lossy(&verifier[2]);
    assert!(second.contains("- a.txt (new, +1 -0)"), "{second}");
}

#[test]
fn plain_words_do_not_end_a_goal() {
    let run = start(vec![says("done!"), claim(), says(ACCEPT)]);
    let events = work(&run, None);
    assert_eq!(*status(&events), Status::Done);
    let lines = show(&events);
    let asked = "warning: the model answered without finish_task; asking for it".to_string();
    assert!(lines.contains(&asked), "{lines:#?}");
    run.finish();
}

#[test]
fn the_third_rejection_stops_it_and_the_second_does_not() {
    let chats = |rejections: usize| {
        let pairs = (0..rejections).flat_map(|n| [write(&format!("f{n}")), claim(), says(REJECT)]);
        pairs.chain([claim(), says(ACCEPT)]).collect::<Vec<_>>()
    };
    let run = start(chats(2));
    assert_eq!(*status(&work(&run, None)), Status::Done);
    run.finish();
    let run = start(chats(3));
    let events = work(&run, None);
    assert_eq!(*status(&events), Status::Failed);
    let why = "failed: the verifier rejected it 3 times, the last time because: a.txt is missing";
    let paused = format!("goal Paused, rejected 3: {why}");
    assert_eq!(told(&events).last(), Some(&paused));
    // It goes on where it was, and is given the count anew.
    run.say(Op::Goal(GoalOp::Resume));
    let events = run.until_ended();
    assert_eq!(*status(&events), Status::Done);
    assert_eq!(told(&events)[0], "goal Running, rejected 0: ");
    let chats = run.finish();
    let resumed = String::from_utf8_lossy(&chats[9]);
    let words = "The user resumed the goal.\\nGoal: make it green\\nThe verifier said last:\\nReason: a.txt is missing";
    assert!(resumed.contains(words), "{resumed}");
}

#[test]
fn the_limit_of_tokens_stops_it_before_the_next_request_and_resume_lifts_it() {
    // A reply counts 940 tokens.
    let chats = |before_it_stops: usize| {
        let all = [write("a"), write("b"), claim(), says(ACCEPT)];
        let first = all.into_iter().take(before_it_stops);
        first.chain([claim(), says(ACCEPT)]).collect()
    };
    for (limit, requests) in [(940, 1), (941, 2), (1_880, 2), (1_881, 3), (3_760, 4)] {
        let run = start(chats(requests));
        let events = work(&run, Some(limit));
        let sent = show(&events)
            .iter()
            .filter(|l| l.starts_with("sent"))
            .count();
        assert_eq!(sent, requests, "limit {limit}");
        let done = requests == 4;
        match status(&events) {
            Status::Done => assert!(done, "limit {limit}"),
            Status::Limit { which } => {
                assert!(!done, "limit {limit}");
                assert!(which.starts_with("the goal has cost "), "{which}");
                assert!(
                    which.ends_with("(/goal --tokens); /goal resume goes on without the limit"),
                    "{which}"
                );
                run.say(Op::Goal(GoalOp::Resume));
                assert_eq!(*status(&run.until_ended()), Status::Done, "limit {limit}");
            }
            other => panic!("{other:?}"),
        }
        run.finish();
    }
}

#[test]
fn the_verifier_only_reads_and_what_it_read_the_worker_has_not_seen() {
    let scene = Scene::new(vec![
        claim(),
        calls(&[
            ("1", "read_file", r#"{"path":"old.txt"}"#),
            ("2", "write_file", r#"{"path":"new.txt","content":"x"}"#),
            ("3", "run_command", r#"{"command":"touch new.txt"}"#),
            ("4", "finish_task", DONE),
        ]),
        says(REJECT),
        calls(&[("w", "write_file", r#"{"path":"old.txt","content":"y\n"}"#)]),
        claim(),
        says(ACCEPT),
    ]);
    let run = Run::start(scene, |temp, setup| {
        super::drive::allow_commands(setup);
        temp.write("work/old.txt", "old\n");
    });
    let events = work(&run, None);
    let lines = show(&events);
    for (id, name) in [
        ("2", "write_file"),
        ("3", "run_command"),
        ("4", "finish_task"),
    ] {
        let refused = format!(
            "ended {id} {name}: Denied not done: a verifier only looks, with list_files, read_file and search_text; answer with your verdict \
             when you have seen enough"
        );
        assert!(lines.contains(&refused), "{lines:#?}");
    }
    assert!(
        lines.iter().any(|l| l.starts_with("ended 1 read_file: Ok")),
        "{lines:#?}"
    );
    assert!(!run.temp.path().join("work/new.txt").exists());
    assert_eq!(run.temp.read("work/old.txt"), b"old\n");
    assert_eq!(*status(&events), Status::Done);
    run.finish();
}

#[test]
fn eight_steps_and_two_corrections_are_the_most() {
    let look = || calls(&[("l", "list_files", "{}")]);
    let opinions = |looks: usize, odd: usize, last: &str| {
        let looks = (0..looks).map(|_| look());
        let odd = (0..odd).map(|_| says("I think so"));
        let mut chats = vec![claim()];
        chats.extend(looks.chain(odd));
        chats.push(says(last));
        chats
    };
    for (looks, odd, why) in [
        (7, 0, None),
        (8, 0, Some("it still looked after 8 steps")),
        (0, 2, None),
        (0, 3, Some("it holds no JSON object")),
        (5, 2, None),
        (6, 2, Some("it still looked after 8 steps")),
    ] {
        let run = start(opinions(looks, odd, ACCEPT));
        let events = work(&run, None);
        match why {
            None => assert_eq!(*status(&events), Status::Done, "{looks} {odd}"),
            Some(why) => {
                assert_eq!(*status(&events), Status::Failed, "{looks} {odd}");
                let why =
                    format!("goal Paused, rejected 0: failed: the verifier gave no opinion: {why}");
                assert_eq!(told(&events).last(), Some(&why));
            }
        }
        run.finish();
    }
}

#[test]
fn a_server_that_fails_the_verifier_pauses_the_goal() {
    let run = start(vec![claim(), Chat::Cut(vec![content("{\"verdict\"")])]);
    let events = work(&run, None);
    assert!(
        matches!(status(&events), Status::ServerFailed { .. }),
        "{events:#?}"
    );
    let last = told(&events).pop().expect("told");
    assert!(
        last.starts_with("goal Paused, rejected 0: model server failed: "),
        "{last}"
    );
    run.finish();
}

#[test]
fn blocked_and_failed_end_it_without_a_verifier() {
    for (status_word, expected) in [("blocked", Status::Blocked), ("failed", Status::Failed)] {
        let arguments = format!(r#"{{"status":"{status_word}","response":"no compiler"}}"#);
        let run = start(vec![calls(&[("f", "finish_task", &arguments)])]);
        let events = work(&run, None);
        assert_eq!(*status(&events), expected);
        assert_eq!(told(&events).len(), 2, "{:?}", told(&events));
        run.finish();
    }
}

#[test]
fn five_refused_edits_in_a_row_stop_it_and_four_do_not() {
    let refused = |n: usize| {
        let arguments = format!(r#"{{"path":"a.txt","old_text":"no {n}","new_text":"y"}}"#);
        calls(&[("e", "replace_text", &arguments)])
    };
    for (first, more, stopped) in [(4, 4, false), (5, 0, true)] {
        let mut chats: Vec<Chat> = (0..first).map(refused).collect();
        chats.push(calls(&[(
            "e",
            "replace_text",
            r#"{"path":"a.txt","old_text":"a","new_text":"b"}"#,
        )]));
        chats.extend((0..more).map(|n| refused(n + 10)));
        chats.extend([claim(), says(ACCEPT)]);
        let run = Run::start(Scene::new(chats), |temp, _| {
            temp.write("work/a.txt", "a\n");
        });
        let events = work(&run, None);
        match stopped {
            false => assert_eq!(*status(&events), Status::Done),
            true => {
                let last = told(&events).pop().expect("told");
                assert_eq!(
                    last,
                    "goal Paused, rejected 0: failed: 5 edits in a row were refused"
                );
            }
        }
        run.finish();
    }
}

#[test]
fn questions_about_a_goal_are_answered_at_once() {
    let run = start(Vec::new());
    assert_eq!(ask(&run, GoalOp::Status), ["no goal"]);
    let none = "error: there is no goal in this session; /goal OBJECTIVE sets one";
    assert_eq!(ask(&run, GoalOp::Resume), [none, "no goal"]);
    assert_eq!(ask(&run, GoalOp::Clear), [none, "no goal"]);
    assert_eq!(
        ask(&run, GoalOp::Pause),
        ["error: no goal is running", "no goal"]
    );
    assert_eq!(run.finish(), Vec::<Vec<u8>>::new());
}

#[test]
fn a_running_goal_is_paused_or_cleared_at_once() {
    for (op, end) in [
        (GoalOp::Pause, "goal Paused, rejected 0: cancelled"),
        (GoalOp::Clear, "no goal"),
    ] {
        let run = start(vec![Chat::Stuck(vec![content("I ")])]);
        set(&run, None);
        run.until(|event| matches!(event, Event::Content { .. }));
        assert_eq!(ask(&run, GoalOp::Status), ["goal Running, rejected 0: "]);
        run.say(Op::Goal(op));
        let events = run.until_ended();
        assert_eq!(*status(&events), Status::Cancelled);
        assert_eq!(told(&events), [end]);
        run.finish();
    }
}

#[test]
fn a_goal_that_was_interrupted_loads_as_paused_and_goes_on() {
    let goal = Goal {
        objective: "make it green".to_string(),
        limit: Some(10_000),
        tokens: 7,
        rejections: 2,
        state: GoalState::Running,
        reason: String::new(),
        feedback: "Reason: no test".to_string(),
    };
    let run = Run::start(Scene::new(vec![claim(), says(ACCEPT)]), |_, setup| {
        setup.log.append(Record::Goal(goal.clone()));
    });
    let paused = "goal Paused, rejected 2: zcoder was ended while it ran";
    assert_eq!(ask(&run, GoalOp::Status), [paused]);
    run.say(Op::Goal(GoalOp::Resume));
    let events = run.until_ended();
    let last = events.iter().rev().find_map(|event| match event {
        Event::Goal(goal) => goal.clone(),
        _ => None,
    });
    let met = Goal {
        tokens: 7 + 2 * 940,
        rejections: 0,
        state: GoalState::Met,
        reason: "all green, see a.txt".to_string(),
        ..goal
    };
    assert_eq!(last, Some(met));
    let chats = run.finish();
    let first = String::from_utf8_lossy(&chats[0]);
    assert!(
        first.contains("The verifier said last:\\nReason: no test"),
        "{first}"
    );
}

/// Reads files until it has read them all.
fn reader(number: usize, body: &[u8]) -> Chat {
    let text = String::from_utf8_lossy(body);
    let reply = |record| Chat::Records(vec![record, counted("stop", body.len() / 4)]);
    if is_verifier(body) {
        return reply(content(ACCEPT));
    }
    if text.contains("the conversation is about to be shortened") {
        return reply(content(r#"{"goal":["green"],"next":["read on"]}"#));
    }
    match number {
        20.. => reply(call("f", "finish_task", DONE)),
        _ => {
            let arguments = format!(r#"{{"path":"f{number}.txt"}}"#);
            reply(call(&format!("c{number}"), "read_file", &arguments))
        }
    }
}

#[test]
fn the_goal_stands_in_every_request_also_after_a_compaction() {
    let run = Run::start(
        Scene::played_by(reader),
        |temp: &Temp, setup: &mut Setup| {
            setup.model.num_ctx = Some(8_192);
            for n in 0..20 {
                temp.write(&format!("work/f{n}.txt"), "more and more ".repeat(200));
            }
        },
    );
    let events = work(&run, None);
    assert_eq!(*status(&events), Status::Done, "{:#?}", show(&events));
    let compacted = events
        .iter()
        .filter(|e| matches!(e, Event::Compacted { .. }));
    assert!(compacted.count() >= 2);
    for body in run.finish().iter().filter(|body| !is_verifier(body)) {
        let text = String::from_utf8_lossy(body);
        assert!(text.contains("make it green"), "{text}");
        // The rules stand there once: behind the checkpoint they are told again, and the earlier ones are left out.
        assert_eq!(
            text.matches("Only finish_task ends this task").count(),
            1,
            "{text}"
        );
    }
}

#[test]
fn a_prompt_after_a_paused_goal_is_a_prompt() {
    let blocked = r#"{"status":"blocked","response":"no"}"#;
    let run = start(vec![calls(&[("f", "finish_task", blocked)]), says("hello")]);
    work(&run, None);
    let events = run.turn_deciding("hi", &Decision::Once);
    assert_eq!(*status(&events), Status::Done);
    assert_eq!(told(&events), Vec::<String>::new());
    assert_eq!(ask(&run, GoalOp::Clear), ["no goal"]);
    run.finish();
}

/// Role and text of the last message, and of the first that the user said.
fn ends(body: &[u8]) -> (String, String, String) {
    let tree = Tree::parse(body).expect("JSON");
    let messages = tree.root().get("messages").expect("messages");
    let text = |message: Value<'_>, key: &str| {
        let text = message.get(key).and_then(Value::as_str);
        text.unwrap_or_default().to_string()
    };
    let last = messages.items().last().expect("a message");
    let mut users = messages.items().filter(|m| text(*m, "role") == "user");
    let first = users.find(|m| !text(*m, "content").starts_with("[note"));
    let first = first.map(|m| text(m, "content"));
    (
        text(last, "role"),
        text(last, "content"),
        first.unwrap_or_default(),
    )
}

/// Reads the file that the user names, and claims that a goal is met.
fn patient(number: usize, body: &[u8]) -> Chat {
    let reply = |record| Chat::Records(vec![record, counted("stop", body.len() / 4)]);
    let (role, text, _) = ends(body);
    if is_verifier(body) {
        return reply(content(ACCEPT));
    }
    if text.contains("the conversation is about to be shortened") {
        return reply(content(r#"{"goal":["green"],"next":["read on"]}"#));
    }
    if let Some(file) = text.strip_prefix("read ") {
        let arguments = format!(r#"{{"path":"{file}"}}"#);
        return reply(call(&format!("c{number}"), "read_file", &arguments));
    }
    match role == "tool" || text != "make it green" {
        true => reply(content("So it is.")),
        false => reply(call("f", "finish_task", DONE)),
    }
}

#[test]
fn after_four_hundred_turns_on_a_small_window_a_goal_is_met_and_the_first_request_stands() {
    let first = "Remember «this», word for word: \"ü\" \\ 42.";
    let run = Run::start(
        Scene::played_by(patient),
        |temp: &Temp, setup: &mut Setup| {
            setup.model.num_ctx = Some(8_192);
            for n in 0..400 {
                let text = format!("the number {n} {}", "and more ".repeat(20));
                temp.write(&format!("work/f{n}.txt"), &text);
            }
        },
    );
    run.turn(first);
    let mut compactions = 0;
    for n in 0..400 {
        let events = run.turn(&format!("read f{n}.txt"));
        assert_eq!(*status(&events), Status::Done, "turn {n}");
        let compacted = |event: &&Event| matches!(event, Event::Compacted { .. });
        compactions += events.iter().filter(compacted).count();
    }
    assert!(compactions > 10, "{compactions}");
    assert_eq!(*status(&work(&run, None)), Status::Done);
    let chats = run.finish();
    let mut worker = chats.iter().rev().filter(|body| !is_verifier(body));
    assert_eq!(ends(worker.next().expect("a request")).2, first);
}
