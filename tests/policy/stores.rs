//! What is kept on the user's side: rules and checks of a workspace, trusted contents; and the questions that lead there.

use std::fs;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::Path;
use std::thread;

use super::table::command;
use super::{CommandMode, DecidedBy, EditMode, Policy, Profile, Question, Verdict};
use crate::support::temp::Temp;
use zcoder::json::Tree;
use zcoder::policy::trust::{self, State, Trust};
use zcoder::policy::{self, Asking, Check, Command, Entry, Kept};

fn kept(temp: &Temp) -> Kept {
    let (kept, faults) =
        Kept::open(&temp.path().join("state"), &temp.path().join("work")).expect("readable");
    assert_eq!(faults, []);
    kept
}

fn policy(temp: &Temp) -> Policy {
    let mut policy = Policy::new(CommandMode::Ask, EditMode::Auto, Profile::Coding, None);
    policy.keep_in(kept(temp));
    policy
}

fn asked(policy: &Policy, temp: &Temp, text: &str) -> Asking<Command> {
    match policy.command(command(&temp.path().join("work"), text)) {
        Verdict::Ask(asking) => asking,
        other => panic!("not asked: {other:?}"),
    }
}

fn by(policy: &Policy, temp: &Temp, text: &str) -> DecidedBy {
    match policy.command(command(&temp.path().join("work"), text)) {
        Verdict::Allowed(approved) => approved.by().clone(),
        other => panic!("not allowed: {other:?}"),
    }
}

fn rules(asking: &Asking<Command>) -> (Vec<String>, bool, bool) {
    match asking.question() {
        Question::Command { offers, .. } => (offers.rules.clone(), offers.session, offers.keep),
        other => panic!("{other:?}"),
    }
}

/// The one folder of a workspace below the state folder.
fn folder(temp: &Temp) -> std::path::PathBuf {
    let mut entries = fs::read_dir(temp.path().join("state/workspaces")).expect("a folder");
    let path = entries.next().expect("one").expect("an entry").path();
    assert!(entries.next().is_none());
    path
}

fn mode(path: &Path) -> u32 {
    path.metadata().expect("metadata").permissions().mode() & 0o777
}

#[test]
fn a_kept_rule_holds_for_this_workspace_and_later_runs() {
    let temp = Temp::new();
    temp.write("work/x", "");
    let mut policy = policy(&temp);
    let asking = asked(&policy, &temp, "make -j8 && ctest 2>&1 | tail");
    let lines = vec!["allow make".to_string(), "allow ctest".to_string()];
    assert_eq!(rules(&asking), (lines, true, true));
    assert!(policy.keep(&asking).expect("written"));
    let rule = "allow make (kept for this workspace, 1), allow ctest (kept for this workspace, 2)";
    assert_eq!(
        by(&policy, &temp, "make all && ctest"),
        DecidedBy::Rule(rule.to_string())
    );
    let later = self::policy(&temp);
    assert_eq!(
        by(&later, &temp, "make all && ctest"),
        DecidedBy::Rule(rule.to_string())
    );
    let file = folder(&temp).join("rules");
    let text = format!(
        "# zcoder: kept for {}\nallow make\nallow ctest\n",
        temp.path().join("work").display()
    );
    assert_eq!(fs::read_to_string(&file).expect("rules"), text);
    assert_eq!((mode(&file), mode(&folder(&temp))), (0o600, 0o700));
    // Not for another workspace, nor for a file that was put in its place.
    let other = temp.path().join("other");
    fs::create_dir(&other).expect("a folder");
    let (elsewhere, _) = Kept::open(&temp.path().join("state"), &other).expect("nothing");
    assert_eq!(elsewhere.rules(), []);
    let (mut elsewhere_kept, _) = Kept::open(&temp.path().join("state"), &other).expect("nothing");
    assert_eq!(elsewhere_kept.revoke(0).expect("nothing to write"), None);
    let wrong = text.replace("/work\n", "/work2\n");
    fs::write(&file, wrong).expect("written");
    let error =
        Kept::open(&temp.path().join("state"), &temp.path().join("work")).expect_err("another's");
    assert_eq!(error.to_string(), "its first line names another workspace");
}

#[test]
fn revoking_takes_back_one_entry() {
    let temp = Temp::new();
    temp.write("work/x", "");
    let mut policy = policy(&temp);
    for text in ["make", "ctest", "ruff check ."] {
        let asking = asked(&policy, &temp, text);
        assert!(policy.keep(&asking).expect("written"));
    }
    let mut kept = kept(&temp);
    let gone = kept.revoke(1).expect("written");
    assert!(matches!(gone, Some(Entry::Rule(rule)) if rule.to_string() == "allow ctest"));
    let left: Vec<String> = self::kept(&temp)
        .rules()
        .iter()
        .map(|rule| rule.to_string())
        .collect();
    assert_eq!(left, ["allow make", "allow ruff"]);
    assert_eq!(kept.revoke(2).expect("nothing to write"), None);
    // The running session keeps what it read; a new one asks.
    asked(&self::policy(&temp), &temp, "ctest");
}

#[test]
fn a_line_written_by_hand_that_is_broken_allows_nothing() {
    let temp = Temp::new();
    temp.write("work/x", "");
    let mut policy = policy(&temp);
    let asking = asked(&policy, &temp, "make");
    policy.keep(&asking).expect("written");
    let file = folder(&temp).join("rules");
    let text = fs::read_to_string(&file).expect("rules");
    fs::write(&file, format!("{text}allow 'ctest\nallow  \"ruff\"\n")).expect("written");
    let (mut kept, faults) =
        Kept::open(&temp.path().join("state"), &temp.path().join("work")).expect("readable");
    let faults: Vec<String> = faults
        .iter()
        .map(|fault| format!("{}: {}", fault.line, fault.text))
        .collect();
    assert_eq!(
        faults,
        ["3: byte 6: the quote `'` is not closed; the line was left out"]
    );
    // However a line is spelled, it can be revoked.
    let gone = kept.revoke(1).expect("written");
    assert!(matches!(gone, Some(Entry::Rule(rule)) if rule.to_string() == "allow ruff"));
    assert_eq!(
        fs::read_to_string(&file).expect("rules"),
        format!("{text}allow 'ctest\n")
    );
}

#[test]
fn what_several_runs_keep_at_once_is_all_kept() {
    let temp = Temp::new();
    temp.write("work/x", "");
    thread::scope(|scope| {
        for n in 0..4 {
            let temp = &temp;
            scope.spawn(move || {
                let mut policy = policy(temp);
                for m in 0..5 {
                    let asking = asked(&policy, temp, &format!("tool-{n}-{m}"));
                    assert!(policy.keep(&asking).expect("written"));
                }
            });
        }
    });
    assert_eq!(kept(&temp).rules().len(), 20);
}

#[test]
fn a_rule_for_the_session_ends_with_it_and_nothing_is_written() {
    let temp = Temp::new();
    temp.write("work/x", "");
    let mut policy = policy(&temp);
    let asking = asked(&policy, &temp, "make -j8");
    assert!(policy.grant_rules(&asking));
    assert_eq!(
        by(&policy, &temp, "make all"),
        DecidedBy::Rule("allow make (this session)".to_string())
    );
    assert!(!temp.path().join("state").exists());
    asked(&self::policy(&temp), &temp, "make all");
    // Where nothing can be kept, nothing is offered to be.
    let without = Policy::new(CommandMode::Ask, EditMode::Auto, Profile::Coding, None);
    let asking = asked(&without, &temp, "make");
    assert_eq!(
        rules(&asking),
        (vec!["allow make".to_string()], true, false)
    );
}

#[test]
fn a_rule_that_cannot_be_kept_is_an_error_and_not_in_force() {
    let temp = Temp::new();
    temp.write("work/x", "");
    let mut policy = policy(&temp);
    let asking = asked(&policy, &temp, "make");
    temp.write("state", "a file where a folder should be");
    policy.keep(&asking).expect_err("no folder can be made");
    asked(&policy, &temp, "make");
}

/// The rules offered for a command; empty: none.
#[track_caller]
fn offers(text: &str, expected: &[&str]) {
    let temp = Temp::new();
    temp.write("work/x", "");
    let asking = asked(&policy(&temp), &temp, text);
    let (rules, session, keep) = rules(&asking);
    assert_eq!(rules, expected, "{text}");
    assert_eq!(
        (session, keep),
        (!expected.is_empty(), !expected.is_empty()),
        "{text}"
    );
}

#[test]
fn what_is_offered() {
    offers("cmake --build build -j8", &["allow cmake"]);
    offers("git diff --stat HEAD~1 | head", &["allow git diff"]);
    offers("npm run test -- -v", &["allow npm run test"]);
    offers("npm test", &["allow npm test"]);
    offers("python3 -m pytest -k x", &["allow python3 -m pytest"]);
    offers("python3 -m pip list", &["allow python3 -m pip list"]);
    offers("python3 tools/gen.py a", &["allow python3 tools/gen.py"]);
    offers("sh test.sh", &["allow sh test.sh"]);
    offers("node --version", &["allow node --version"]);
    offers("timeout 60 ctest -R x", &["allow timeout * ctest"]);
    offers(
        "RUST_LOG=debug cargo test x",
        &["allow RUST_LOG=debug cargo test"],
    );
    offers("'my tool' x", &["allow 'my tool'"]);
    offers("make; make all; ctest", &["allow make", "allow ctest"]);
    // One part that needs a yes of its own, and no rule helps.
    offers("make && rm x", &[]);
    offers("make > log", &[]);
    offers("make $X", &[]);
    offers("make -C ..", &[]);
    offers("make; cat /etc/passwd", &[]);
    for text in [
        "rm x",
        "python3 -c 'x'",
        "python3",
        "python3 x",
        "sudo make",
        "env make",
        "env X=1 make",
        "xargs make",
        "sh -c make",
        "bash",
        "nice -n 5 make",
        "find . -delete",
        "git -C x status",
        "git",
        "git config x y",
        "npm exec x",
        "../tool",
        "curl x",
        "export X=1",
        "-x",
        "X=1",
        "X=$Y make",
        "npx eslint",
        "docker run x",
        "zcoder trust",
        "eval make",
        "command make",
        "make <<E\nx\nE\n",
        "gr\u{fc}n",
        "rm -rf /home",
    ] {
        offers(text, &[]);
    }
}

#[test]
fn a_check_is_accepted_by_its_exact_text() {
    let temp = Temp::new();
    temp.write("work/x", "");
    let checks = checks(r#"{"test": "make test > log", "lint": "ruff check ."}"#);
    let checks = checks.expect("checks");
    let mut policy = policy(&temp);
    policy.add_checks(checks.clone());
    let asking = asked(&policy, &temp, "make test > log");
    assert_eq!(
        rules(&asking),
        (vec!["check test".to_string()], false, true)
    );
    match asking.question() {
        Question::Command { reasons, .. } => {
            assert_eq!(*reasons, ["the project's check `test`, not accepted yet"])
        }
        other => panic!("{other:?}"),
    }
    assert!(policy.keep(&asking).expect("written"));
    let rule = DecidedBy::Rule("check test (its exact text was accepted)".to_string());
    assert_eq!(by(&policy, &temp, "make test > log"), rule);
    asked(&policy, &temp, "make test > log2");
    asked(&policy, &temp, "make test > log ");
    // A later run, where the project calls it otherwise; and one where it changed.
    let mut later = self::policy(&temp);
    later.add_checks(self::checks(r#"{"all": "make test > log"}"#).expect("checks"));
    let rule = DecidedBy::Rule("check all (its exact text was accepted)".to_string());
    assert_eq!(by(&later, &temp, "make test > log"), rule);
    let mut changed = self::policy(&temp);
    changed.add_checks(self::checks(r#"{"test": "make test >> log"}"#).expect("checks"));
    asked(&changed, &temp, "make test >> log");
    // Without the project's word for it, it is a command as any other; and it can be revoked.
    asked(&self::policy(&temp), &temp, "make test > log");
    let mut kept = kept(&temp);
    assert_eq!(kept.entries(), [Entry::Check("test".to_string())]);
    assert_eq!(
        kept.revoke(0).expect("written"),
        Some(Entry::Check("test".to_string()))
    );
    asked(&self::policy(&temp), &temp, "make test > log");
}

#[test]
fn checks_that_are_none_are_named() {
    let many = (0..65)
        .map(|n| format!("\"{n}\":\"x\""))
        .collect::<Vec<_>>()
        .join(",");
    for (value, expected) in [
        (
            "[]",
            "expected an object, such as {\"test\": \"make test\"}",
        ),
        ("{\"a\":1}", "expected the text of a command for `a`"),
        ("{\"a\":\" \"}", "expected the text of a command for `a`"),
        ("{\"a\":\"x\",\"a\":\"x\"}", "`a` stands twice"),
        (&format!("{{{many}}}"), "more than 64"),
    ] {
        assert_eq!(checks(value), Err(expected.to_string()), "{value}");
    }
    assert_eq!(checks("{}"), Ok(Vec::new()));
    let most = many.rsplit_once(',').expect("several").0;
    assert_eq!(
        checks(&format!("{{{most}}}")).map(|checks| checks.len()),
        Ok(64)
    );
}

fn checks(value: &str) -> Result<Vec<Check>, String> {
    let tree = Tree::parse_strict(value.as_bytes()).expect("JSON");
    policy::checks_of(tree.root())
}

#[test]
fn trust_is_by_exact_content() {
    let temp = Temp::new();
    let root = temp.path().join("work");
    let state = temp.path().join("state");
    temp.write("work/AGENTS.md", "be kind\n");
    temp.write("work/.zcoder/rules", "deny curl\n");
    temp.write("work/.agents/skills/a/SKILL.md", "x");
    temp.write("work/.zcoder/commands/b.md", "x");
    temp.write("work/.zcoder/commands/c.txt", "x");
    temp.write("work/README.md", "x");
    let found = trust::look(&root, &[]);
    let paths: Vec<&str> = found.iter().map(|found| found.path.as_str()).collect();
    assert_eq!(
        paths,
        [
            "AGENTS.md",
            ".zcoder/rules",
            ".zcoder/commands/b.md",
            ".agents/skills/a/SKILL.md"
        ]
    );
    let mut trust = Trust::open(Some(&state), &root).expect("nothing yet");
    let states = |trust: &Trust, found: &[trust::Found]| -> Vec<State> {
        found.iter().map(|found| trust.state(found)).collect()
    };
    assert_eq!(states(&trust, &found), [State::New; 4]);
    assert_eq!(trust.usable(&found, trust::RULES), None);
    trust.keep(&found).expect("written");
    let again = Trust::open(Some(&state), &root).expect("readable");
    assert_eq!(states(&again, &found), [State::Trusted; 4]);
    assert_eq!(
        again.usable(&found, trust::RULES),
        Some(&b"deny curl\n"[..])
    );
    let file = folder(&temp).join("trust");
    assert_eq!((mode(&file), mode(&folder(&temp))), (0o600, 0o700));
    let all = trust::all(&state);
    assert_eq!(
        all,
        [(
            root.display().to_string(),
            paths.iter().map(ToString::to_string).collect()
        )]
    );
    // A change is not used, and says so; the others stay.
    temp.write("work/.zcoder/rules", "deny curl\ndeny wget\n");
    let changed = trust::look(&root, &[]);
    assert_eq!(
        states(&again, &changed),
        [
            State::Trusted,
            State::Changed,
            State::Trusted,
            State::Trusted
        ]
    );
    assert_eq!(again.usable(&changed, trust::RULES), None);
    // The same bytes under another name are new.
    temp.write("work/AGENTS.override.md", "be kind\n");
    assert_eq!(states(&again, &trust::look(&root, &[]))[0], State::New);
    // For one run: nothing is written.
    let mut once = Trust::open(None, &root).expect("no state");
    once.trust_now();
    assert_eq!(
        once.usable(&changed, trust::RULES),
        Some(&b"deny curl\ndeny wget\n"[..])
    );
    assert_eq!(
        once.keep(&changed).expect_err("nowhere").to_string(),
        "there is no folder for state: HOME and XDG_STATE_HOME are not set"
    );
    let mut again = again;
    assert_eq!(again.revoke().expect("written"), 4);
    assert_eq!(again.revoke().expect("nothing to do"), 0);
    assert_eq!(trust::all(&state), []);
    assert_eq!(
        states(&Trust::open(Some(&state), &root).expect("readable"), &found),
        [State::New; 4]
    );
}

#[test]
fn what_cannot_be_trusted() {
    let temp = Temp::new();
    let root = temp.path().join("work");
    temp.write("elsewhere/AGENTS.md", "x");
    temp.write("work/guide.md", "x");
    temp.write("work/.zcoder/config.json", vec![b' '; 256 << 10]);
    temp.write("work/.zcoder/rules", vec![b' '; (256 << 10) + 1]);
    symlink(
        temp.path().join("elsewhere/AGENTS.md"),
        root.join("AGENTS.md"),
    )
    .expect("a link");
    symlink("guide.md", root.join("AGENTS.override.md")).expect("a link");
    fs::create_dir(root.join(".mcp.json")).expect("a folder");
    let found = trust::look(&root, &[]);
    let leads_out = format!("a link that leads out of {}", root.display());
    let shown: Vec<(&str, Result<usize, &str>)> = found
        .iter()
        .map(|found| {
            (
                found.path.as_str(),
                found
                    .content
                    .as_ref()
                    .map(|content| content.bytes.len())
                    .map_err(String::as_str),
            )
        })
        .collect();
    assert_eq!(
        shown,
        [
            ("AGENTS.override.md", Ok(1)),
            ("AGENTS.md", Err(leads_out.as_str())),
            (".zcoder/config.json", Ok(256 << 10)),
            (".zcoder/rules", Err("longer than 262,144 bytes")),
            (".mcp.json", Err("is a directory")),
        ]
    );
    let mut trust = Trust::open(Some(&temp.path().join("state")), &root).expect("nothing yet");
    trust.keep(&found).expect("written");
    let states: Vec<State> = found.iter().map(|found| trust.state(found)).collect();
    assert_eq!(
        states,
        [
            State::Trusted,
            State::Unusable,
            State::Trusted,
            State::Unusable,
            State::Unusable
        ]
    );
    assert_eq!(trust.usable(&found, "AGENTS.md"), None);
}

#[test]
fn more_files_than_a_person_reads_are_not_usable() {
    let temp = Temp::new();
    for n in 0..257 {
        temp.write(&format!("work/.zcoder/commands/{n:03}.md"), "x");
    }
    let found = trust::look(&temp.path().join("work"), &[]);
    assert!(found[255].content.is_ok());
    assert_eq!(
        found[256].content.as_ref().map_err(String::as_str),
        Err("more than 256 such files")
    );
}

#[test]
fn guidance_counts_from_the_repository_down_and_below_where_git_does_not_ignore_it() {
    let temp = Temp::new();
    temp.write("AGENTS.md", "above the repository\n");
    temp.write("repo/.git/HEAD", "ref: refs/heads/main\n");
    temp.write("repo/AGENTS.md", "x");
    temp.write("repo/a/CONVENTIONS.md", "x");
    temp.write("repo/a/app/AGENTS.override.md", "x");
    temp.write("repo/a/app/.gitignore", "out/\n");
    temp.write("repo/a/app/out/AGENTS.md", "x");
    temp.write("repo/a/app/sub/deep/AGENTS.md", "x");
    temp.write("repo/a/app/.hidden/AGENTS.md", "x");
    symlink(
        temp.path().join("AGENTS.md"),
        temp.path().join("repo/a/AGENTS.md"),
    )
    .expect("a link");
    let repo = temp.path().join("repo");
    let root = repo.join("a/app");
    assert_eq!(trust::repository(&root), repo);
    let names = ["CONVENTIONS.md".to_string()];
    let paths = |found: &[trust::Found]| -> Vec<String> {
        found.iter().map(|found| found.path.clone()).collect()
    };
    let found = trust::look(&root, &names);
    let above = [
        "../../AGENTS.md",
        "../AGENTS.md",
        "../CONVENTIONS.md",
        "AGENTS.override.md",
    ];
    assert_eq!(paths(&found), above);
    let leads_out = format!("a link that leads out of {}", repo.display());
    assert_eq!(found[1].content, Err(leads_out));
    let (all, complete) = trust::look_below(&root, &names);
    assert!(complete);
    assert_eq!(paths(&all)[4..], ["sub/deep/AGENTS.md"]);
    // A worktree has a file there; without either the workspace stands alone.
    let work = temp.write("tree/AGENTS.md", "x");
    let tree = work.parent().expect("its folder");
    assert_eq!(paths(&trust::look(tree, &[])), ["AGENTS.md"]);
    temp.write(".git", "gitdir: /somewhere\n");
    assert_eq!(
        paths(&trust::look(tree, &[])),
        ["../AGENTS.md", "AGENTS.md"]
    );
    // Trusted once, it is by its path and its content.
    let state = temp.path().join("state");
    let mut trust = Trust::open(Some(&state), &root).expect("nothing yet");
    trust.keep(&all).expect("written");
    let again = Trust::open(Some(&state), &root).expect("readable");
    assert_eq!(again.state(&all[0]), State::Trusted);
    let sub = trust::find(&root, "sub/deep/AGENTS.md", trust::Kind::Guidance).expect("there");
    assert_eq!(again.state(&sub), State::Trusted);
}

#[test]
fn a_folder_of_guidance_that_cannot_be_read_is_said() {
    let temp = Temp::new();
    temp.write("work/.agents/skills", "a file");
    let found = trust::look(&temp.path().join("work"), &[]);
    let faults: Vec<(&str, Option<&str>)> = found
        .iter()
        .map(|found| {
            (
                found.path.as_str(),
                found.content.as_ref().err().map(String::as_str),
            )
        })
        .collect();
    assert_eq!(
        faults,
        [(".agents/skills", Some("Not a directory (os error 20)"))]
    );
}
