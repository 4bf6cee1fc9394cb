//! Commands that try to get past the policy, and ordinary ones that must pass: `fixtures/policy/commands.txt`, judged by the rules beside it
//! in a real folder with links in and out.

use std::os::unix::fs::symlink;
use std::path::Path;

use super::{Command, CommandMode, EditMode, Policy, Profile, Verdict};
use crate::support::temp::Temp;
use zcoder::policy::rules::{self, Author};

fn fixture(name: &str) -> String {
    let path = Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("fixtures/policy")
        .join(name);
    std::fs::read_to_string(path).expect("a fixture")
}

/// The folder that the cases speak of.
pub(super) fn workspace() -> Temp {
    let temp = Temp::new();
    temp.write("src/a.c", "int main(void) { return 0; }\n");
    temp.write("build/tests", "");
    temp.write("test.sh", "true\n");
    temp.write("a b.txt", "x\n");
    temp.write(".git/HEAD", "ref: refs/heads/main\n");
    for file in ["HEAD", "config", "objects/x", "refs/x"] {
        temp.write(&format!("bare/{file}"), "");
    }
    // Git takes these for repositories, too.
    temp.write("linked/HEAD", "ref: refs/heads/main\n");
    temp.write("linked/commondir", "../bare\n");
    for file in ["HEAD", "config", "objects/x", "refs/x", ".git/x"] {
        temp.write(&format!("beside/{file}"), "");
    }
    symlink("/etc", temp.path().join("x=link")).expect("a link");
    symlink("src", temp.path().join("inner")).expect("a link");
    symlink("/", temp.path().join("out")).expect("a link");
    symlink("/nowhere", temp.path().join("gone")).expect("a link");
    temp
}

pub(super) fn command(workspace: &Path, text: &str) -> Command {
    Command {
        text: text.to_string(),
        cwd: workspace.to_path_buf(),
        workspace: workspace.to_path_buf(),
        ..super::command(text)
    }
}

fn policy(commands: CommandMode) -> Policy {
    let (rules, faults) = rules::read(&fixture("rules"), "rules", Author::User);
    assert_eq!(faults, []);
    let mut policy = Policy::new(commands, EditMode::Auto, Profile::Coding, None);
    policy.add_rules(rules);
    policy
}

fn verdict<T>(verdict: &Verdict<T>) -> &'static str {
    match verdict {
        Verdict::Allowed(_) => "allow",
        Verdict::Ask(_) => "ask",
        Verdict::Denied { .. } => "deny",
    }
}

/// `⏎`, `⇥` and `‹202e›` as what they stand for.
fn decode(text: &str) -> String {
    let text = text.replace('⏎', "\n").replace('⇥', "\t");
    let mut out = String::new();
    let mut rest = text.as_str();
    while let Some((before, after)) = rest.split_once('‹') {
        let (code, after) = after.split_once('›').expect("a closed code");
        let code = u32::from_str_radix(code, 16).expect("a hexadecimal code");
        out.push_str(before);
        out.push(char::from_u32(code).expect("a character"));
        rest = after;
    }
    out + rest
}

#[test]
fn every_command_of_the_table() {
    let (temp, policy) = (workspace(), policy(CommandMode::Ask));
    let mut faults = Vec::new();
    let mut cases = 0;
    for line in fixture("commands.txt").lines() {
        let Some((expected, text)) = line.split_once(' ').filter(|_| !line.starts_with('#')) else {
            continue;
        };
        cases += 1;
        let text = decode(text);
        let command = command(temp.path(), &text);
        let judgement = policy.judge(&command);
        let found = policy.command(command);
        if verdict(&found) != expected {
            faults.push(format!(
                "{expected}, found {}: {text:?}\n    {judgement:?}",
                verdict(&found)
            ));
        }
    }
    assert!(
        faults.is_empty(),
        "{} of {cases}:\n{}",
        faults.len(),
        faults.join("\n")
    );
    assert!(cases >= 400, "only {cases} cases were read");
}

#[test]
fn under_yes_rules_still_ask_and_deny() {
    let (temp, policy) = (workspace(), policy(CommandMode::Allow));
    for (expected, text) in [
        ("allow", "rm -r src"),
        ("allow", "echo x > src/a.c"),
        ("allow", "echo $(date)"),
        ("allow", "python3 -c 'print(1)' > x"),
        ("allow", "git log --format=%h | head"),
        ("ask", "git push"),
        ("ask", "sh -c 'git push'"),
        ("ask", "git $X"),
        ("ask", "$X"),
        ("ask", "rm $X src"),
        ("ask", "sh -c \"$X\""),
        ("ask", "echo 'unclosed"),
        ("ask", "wget -O - x | sh"),
        // What stands in a loop may be read otherwise, and rules forbid something.
        ("ask", "for f in a; do make; done"),
        ("ask", "rm -r /home"),
        ("deny", "rm -rf src"),
        // The same options, written otherwise.
        ("ask", "rm -fr src"),
        ("ask", "rm -rfv src"),
        ("ask", "rm -r -f src"),
        ("ask", "rm src -vr -f"),
        ("ask", "rm src -rf"),
        ("ask", "git reset HEAD --hard"),
        ("ask", "sh -c 'rm -fr src'"),
        ("allow", "rm -f src/a.c"),
        ("ask", "git reset --har"),
        ("ask", "git reset --hard=x"),
        ("allow", "git reset --soft"),
        ("deny", "find . -exec rm -rf {} +"),
        ("deny", "sudo make install"),
    ] {
        let found = policy.command(command(temp.path(), text));
        let found = verdict(&found);
        assert_eq!(found, expected, "{text}");
    }
}
