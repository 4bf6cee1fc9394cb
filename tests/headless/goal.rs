//! `/goal` as a person types it, against the stand-in: its verifier wants to see a test pass.

use super::{run_task, task};
use crate::support::run::{run, standin};
use crate::support::temp::Temp;

const GOAL: &str = "replace 'a' with 'b' in x.txt";

fn project() -> Temp {
    let temp = Temp::new();
    temp.write("x.txt", "a\n");
    temp.write("test.sh", "grep -q b x.txt\n");
    temp
}

#[test]
fn a_rejected_claim_is_made_good_and_the_goal_is_met() {
    let (temp, server) = (project(), standin(None));
    let prompt = format!("/goal {GOAL}");
    let ran = run_task(temp.path(), &server, &["--yes", "-p", &prompt]);
    assert_eq!(ran.code, Some(0), "{}", ran.err);
    assert_eq!(temp.read("x.txt"), b"b\n");
    assert!(
        ran.out.ends_with("`sh test.sh` ended with exit code 0.\n"),
        "{}",
        ran.out
    );
    let rejected = "verify    a verifier looks, attempt 1\n";
    let (_, rest) = ran.err.split_once(rejected).expect("a verifier");
    let rejected = "verified  rejected: there is a test, and `sh test.sh` was not run\n          \
                    missing: a run of the test that passes\n          next: run sh test.sh\n";
    let (_, rest) = rest.split_once(rejected).expect("rejected");
    let (_, rest) = rest
        .split_once("call      run_command sh test.sh\n")
        .expect("run");
    let accepted = "verified  accepted: `sh test.sh` passes\ngoal      met, ";
    assert!(rest.contains(accepted), "{}", ran.err);
}

#[test]
fn what_stops_a_goal_is_in_the_exit_code() {
    let server = standin(None);
    for (goal, args, code) in [
        (format!("/goal --tokens 1 {GOAL}"), "--yes", 5),
        // Nobody may run the test that the verifier asks for: the worker says that it is blocked.
        (format!("/goal {GOAL}"), "--deny-commands", 1),
        ("/goal --tokens 1".to_string(), "--yes", 2),
        ("/goal status".to_string(), "--yes", 0),
        ("/goal resume".to_string(), "--yes", 1),
    ] {
        let temp = project();
        let ran = run_task(temp.path(), &server, &[args, "-qp", &goal]);
        assert_eq!(ran.code, Some(code), "{goal}: {}", ran.err);
    }
}

#[test]
fn a_question_about_the_goal_is_answered_on_standard_output_and_sends_nothing() {
    let (temp, server) = (Temp::new(), standin(None));
    for (output, expected) in [
        ("text", "no goal\n"),
        ("json", "{\"type\":\"goal\",\"goal\":null}\n"),
    ] {
        let args = ["--output", output, "-p", "/goal"];
        let ran = run_task(temp.path(), &server, &args);
        assert_eq!((ran.out.as_str(), ran.err.as_str()), (expected, ""));
        assert_eq!(ran.code, Some(0));
    }
}

#[test]
fn a_goal_is_resumed_with_its_session() {
    let (temp, home, server) = (project(), Temp::new(), standin(None));
    let kept = |args: &[&str]| {
        let mut command = task(temp.path(), &server, args);
        command.env_remove("ZCODER_EPHEMERAL");
        run(command.env("ZCODER_HOME", home.path()))
    };
    let goal = format!("/goal --tokens 1 {GOAL}");
    let ran = kept(&["--yes", "-qp", &goal]);
    assert_eq!(ran.code, Some(5), "{}", ran.err);
    let on = |args: &[&str]| kept(&[&["-q", "--continue"], args].concat());
    let ran = on(&["-p", "/goal"]);
    assert!(ran.out.starts_with("paused, "), "{}", ran.out);
    let end = format!("/goal resume goes on without the limit\n{GOAL}\n");
    assert!(ran.out.ends_with(&end), "{}", ran.out);
    let ran = on(&["--yes", "-p", "/goal resume"]);
    assert_eq!(ran.code, Some(0), "{}", ran.err);
    assert!(on(&["-p", "/goal"]).out.starts_with("met, "));
    assert_eq!(on(&["-p", "/goal clear"]).out, "no goal\n");
    assert_eq!(on(&["-p", "/goal"]).out, "no goal\n");
}
