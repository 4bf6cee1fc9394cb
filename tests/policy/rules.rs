//! Rules files: what is read, what is said about lines that cannot be, the safe reading of those, and what a rule warns of.

use super::table::command;
use super::{CommandMode, EditMode, Policy, Profile, Verdict};
use std::path::Path;
use zcoder::policy::rules::{self, Action, Author, MAX_BYTES, MAX_RULES};

/// The rules as lines, and the faults.
fn read_as(text: &str, author: Author) -> (Vec<String>, Vec<String>) {
    let (rules, faults) = rules::read(text, "rules", author);
    let faults = faults
        .iter()
        .map(|fault| format!("{}: {}", fault.line, fault.text));
    (
        rules.iter().map(|rule| rule.to_string()).collect(),
        faults.collect(),
    )
}

#[track_caller]
fn check(text: &str, lines: &[&str], faults: &[&str]) {
    let (found, said) = read_as(text, Author::User);
    assert_eq!((found, said), (strings(lines), strings(faults)), "{text:?}");
    // What is shown is read back as the same.
    let again = lines.join("\n");
    if !again.contains("(every command)") {
        assert_eq!(read_as(&again, Author::User), (strings(lines), Vec::new()));
    }
}

fn strings(texts: &[&str]) -> Vec<String> {
    texts.iter().map(ToString::to_string).collect()
}

#[test]
fn lines_that_are_rules() {
    check("", &[], &[]);
    check("# only a comment\n\n   \t\n", &[], &[]);
    check(
        "allow make\nask git push\ndeny rm -rf\n",
        &["allow make", "ask git push", "deny rm -rf"],
        &[],
    );
    check("  allow\tmake   all # both\r\n", &["allow make all"], &[]);
    check("allow timeout * ctest", &["allow timeout * ctest"], &[]);
    check(
        "allow 'a b' \"c d\" e\\ f '*' '' it\\'s",
        &["allow 'a b' 'c d' 'e f' '*' '' 'it'\\''s'"],
        &[],
    );
    check(
        "allow RUST_LOG=debug cargo test",
        &["allow RUST_LOG=debug cargo test"],
        &[],
    );
    check("allow ls ~/projects", &["allow ls ~/projects"], &[]);
    check("allow grüße", &["allow grüße"], &[]);
    check("deny 'allow'", &["deny allow"], &[]);
}

#[test]
fn a_line_with_a_fault_is_named_and_read_in_the_safe_way() {
    check(
        "allow make\nallow 'ls\nallow ctest",
        &["allow make", "allow ctest"],
        &["2: byte 6: the quote `'` is not closed; the line was left out"],
    );
    check(
        "allow make \\\n",
        &[],
        &["1: byte 11: the backslash is not closed; the line was left out"],
    );
    check(
        "deny git pu'sh",
        &["deny git"],
        &["1: byte 11: the quote `'` is not closed; the line was taken as `deny git`"],
    );
    check(
        "deny git 'push",
        &["deny git"],
        &["1: byte 9: the quote `'` is not closed; the line was taken as `deny git`"],
    );
    check(
        "allow",
        &[],
        &["1: the words of a command are missing; the line was left out"],
    );
    check(
        "deny # all",
        &["deny (every command)"],
        &["1: the words of a command are missing; the line was taken as `deny` for every command"],
    );
    check(
        "dney git push",
        &["ask git push"],
        &["1: `dney` is none of allow, ask and deny; the line was taken as `ask git push`"],
    );
    check(
        "Allow make",
        &["ask make"],
        &["1: `Allow` is none of allow, ask and deny; the line was taken as `ask make`"],
    );
    check(
        "make",
        &["ask (every command)"],
        &[
            "1: `make` is none of allow, ask and deny; the line was taken as `ask` for every command",
        ],
    );
    let operator =
        "a rule is about one command, and here is an operator; quote it to mean the character";
    check(
        "allow make; ctest",
        &[],
        &[&format!("1: {operator}; the line was left out")],
    );
    check(
        "deny rm && ls",
        &["deny rm"],
        &[&format!("1: {operator}; the line was taken as `deny rm`")],
    );
    check(
        "(allow make)",
        &[],
        &[&format!("1: {operator}; the line was left out")],
    );
    check(
        "! allow make",
        &[],
        &[&format!("1: {operator}; the line was left out")],
    );
    check(
        "allow make |",
        &[],
        &[&format!("1: {operator}; the line was left out")],
    );
    check(
        "allow make > x",
        &[],
        &[
            "1: a rule cannot name a redirection; quote `>` and `<` to mean the characters; the line was left out",
        ],
    );
    check(
        "allow cat src/*",
        &[],
        &[
            "1: in `src/*` a pattern stands within a word; `*` is one whole word, and `'*'` the character; the line was left out",
        ],
    );
    check(
        "deny rm src/*",
        &["deny rm"],
        &[
            "1: in `src/*` a pattern stands within a word; `*` is one whole word, and `'*'` the character; the line was taken as `deny rm`",
        ],
    );
    check(
        "allow ls $HOME",
        &[],
        &["1: byte 9: the words that `$HOME` stands for are not known; the line was left out"],
    );
    check(
        "deny rm $(id)",
        &["deny rm"],
        &["1: byte 8: `$(…)` runs a command of its own; the line was taken as `deny rm`"],
    );
    check(
        "$(id)",
        &["ask (every command)"],
        &[
            "1: byte 0: `$(…)` runs a command of its own; every command is asked for until that is mended",
        ],
    );
    check(
        ";",
        &["ask (every command)"],
        &["1: this is no rule; every command is asked for until that is mended"],
    );
    check(
        "allow make\u{200b}",
        &[],
        &["1: byte 10: the character \\u{200b} does not show; the line was left out"],
    );
}

#[test]
fn a_project_and_a_site_may_only_tighten() {
    for (author, who) in [(Author::Project, "project"), (Author::Site, "site")] {
        let (lines, faults) = read_as("allow make\nask ctest\ndeny curl\n'allow' x", author);
        assert_eq!(lines, ["ask ctest", "deny curl"]);
        let text = format!(
            "a {who} cannot allow anything; the line was left out (put it into your own rules)"
        );
        assert_eq!(faults, [format!("1: {text}"), format!("4: {text}")]);
    }
}

#[test]
fn whoever_tightens_has_the_last_word() {
    use zcoder::policy::{CommandMode, EditMode, Policy, Profile, Verdict};
    let word = |verdict: &Verdict<_>| match verdict {
        Verdict::Allowed(_) => "allow",
        Verdict::Ask(_) => "ask",
        Verdict::Denied { .. } => "deny",
    };
    let lines = ["allow", "ask", "deny"];
    for user in lines {
        for site in lines {
            for project in lines {
                let files = [
                    (user, Author::User),
                    (site, Author::Site),
                    (project, Author::Project),
                ];
                // What a site or a project allows is nothing.
                let tighter = files[1..].iter().map(|(line, _)| *line);
                let tighter = tighter.filter(|line| *line != "allow");
                let expected = tighter.chain([user]).max().unwrap_or("ask");
                // In whatever order they are read.
                for turn in 0..files.len() {
                    let mut policy =
                        Policy::new(CommandMode::Ask, EditMode::Auto, Profile::Coding, None);
                    for at in 0..files.len() {
                        let (line, author) = files[(turn + at) % files.len()];
                        let text = format!("{line} make");
                        policy.add_rules(rules::read(&text, "rules", author).0);
                    }
                    let found = policy.command(super::command("make all"));
                    assert_eq!(word(&found), expected, "{user}, {site}, {project}");
                }
            }
        }
    }
}

#[test]
fn limits_from_both_sides() {
    let most = "allow x\n".repeat(MAX_RULES);
    assert_eq!(rules::read(&most, "rules", Author::User).1, []);
    let (lines, faults) = read_as(&format!("{most}allow y"), Author::User);
    assert_eq!(lines, ["ask (every command)"]);
    assert_eq!(
        faults,
        ["2001: more than 2000 rules; every command is asked for until that is mended"]
    );
    let long = format!("allow x #{}", "x".repeat(MAX_BYTES - 9));
    assert_eq!(long.len(), MAX_BYTES);
    // A line longer than a command may be is a fault of that line alone.
    assert_eq!(read_as(&long, Author::User).0, [""; 0]);
    let (lines, faults) = read_as(&format!("{long}x"), Author::User);
    assert_eq!(lines, ["ask (every command)"]);
    assert_eq!(
        faults,
        [
            "1: the file has 262,145 bytes, at most 262,144 are read; every command is asked for until that is mended"
        ]
    );
    let (rules, fault) = rules::unreadable("rules");
    assert_eq!(rules[0].action(), Action::Ask);
    assert_eq!(
        fault.text,
        "it cannot be read; every command is asked for until that is mended"
    );
}

#[test]
fn any_bytes_of_a_file_are_read() {
    let mut rng = crate::support::cuts::Rng::new(7);
    let seed = b"allow make all\nask git 'push it' # x\ndeny rm -rf $(id) `x` \"y\"\n* <<E\n";
    for _ in 0..2_000 {
        let text = String::from_utf8_lossy(&rng.mutate(seed)).into_owned();
        for author in [Author::Project, Author::Site] {
            let (rules, _) = rules::read(&text, "rules", author);
            assert!(
                rules.iter().all(|rule| rule.action() != Action::Allow),
                "{text:?}"
            );
        }
        let (rules, _) = rules::read(&text, "rules", Author::User);
        for rule in rules
            .iter()
            .filter(|rule| !rule.to_string().contains("(every command)"))
        {
            let again = rules::read(&rule.to_string(), "rules", Author::User);
            let lines: Vec<String> = again.0.iter().map(|rule| rule.to_string()).collect();
            assert_eq!(
                (lines, again.1),
                (vec![rule.to_string()], Vec::new()),
                "{text:?}"
            );
        }
    }
}

#[test]
fn rules_that_allow_more_than_they_seem_to_are_warned_of() {
    let any_code = |name: &str| {
        Some(format!(
            "`{name}` runs whatever its arguments or its input say: this allows any code"
        ))
    };
    let any_command = |name: &str| {
        Some(format!(
            "`{name}` runs the command in its arguments: this allows any command"
        ))
    };
    for (line, expected) in [
        ("allow python3", any_code("python3")),
        ("allow python3.12 -c", any_code("python3.12")),
        ("allow python3 -m", any_code("python3")),
        ("allow /usr/bin/node", any_code("node")),
        ("allow sh", any_code("sh")),
        ("allow bash -c", any_code("bash")),
        ("allow awk", any_code("awk")),
        ("allow eval", any_code("eval")),
        ("allow zcoder", any_code("zcoder")),
        ("allow timeout * sh", any_code("sh")),
        ("allow sudo", any_command("sudo")),
        ("allow env X=1", any_command("env")),
        ("allow nohup", any_command("nohup")),
        ("allow xargs", any_command("xargs")),
        ("allow sudo -u root", any_command("sudo")),
        ("allow X=1 timeout 5", any_command("timeout")),
        (
            "allow xargs wc",
            Some("`xargs` takes arguments from its input, where no rule sees them".to_string()),
        ),
        (
            "allow git",
            Some("this allows every subcommand of `git`".to_string()),
        ),
        (
            "allow npm --silent",
            Some("this allows every subcommand of `npm`".to_string()),
        ),
        ("allow python3 -m pytest", None),
        ("allow python3 x.py -v", None),
        ("allow sh test.sh", None),
        ("allow git status --short", None),
        ("allow make", None),
        ("allow timeout * ctest", None),
        ("deny python3", None),
        ("ask sudo", None),
    ] {
        let (rules, faults) = rules::read(line, "rules", Author::User);
        assert_eq!(faults, [], "{line}");
        assert_eq!(rules[0].warning(), expected, "{line}");
    }
}

/// The verdict on a command under these rules.
fn under(rules_text: &str, text: &str) -> &'static str {
    let mut policy = Policy::new(CommandMode::Ask, EditMode::Auto, Profile::Coding, None);
    policy.add_rules(rules::read(rules_text, "rules", Author::User).0);
    policy.without_builtin();
    match policy.command(command(Path::new("/home/me/app"), text)) {
        Verdict::Allowed(_) => "allow",
        Verdict::Ask(_) => "ask",
        Verdict::Denied { .. } => "deny",
    }
}

#[test]
fn how_rules_meet_commands() {
    for (rules, text, expected) in [
        // Deny beats ask beats allow, whatever stands first.
        ("allow make\nask make\ndeny make", "make", "deny"),
        ("deny make\nask make\nallow make", "make", "deny"),
        ("ask make\nallow make", "make", "ask"),
        ("allow make\ndeny make clean", "make clean", "deny"),
        ("allow make\ndeny make clean", "make", "allow"),
        ("allow make\ndeny make clean", "make -j8 clean", "deny"),
        ("allow make\ndeny make clean", "make -j 8 clean", "ask"),
        ("allow make\ndeny make clean", "make all clean", "allow"),
        // An allow is a prefix of whole words.
        ("allow make all", "make", "ask"),
        ("allow make all", "make all -j8", "allow"),
        ("allow make all", "make -j8 all", "ask"),
        ("allow mak", "make", "ask"),
        ("allow make", "./make", "ask"),
        ("allow make", "/usr/bin/make", "ask"),
        ("allow /usr/bin/make", "/usr/bin/make", "allow"),
        ("allow make", "MAKE", "ask"),
        // One star, one word, no option.
        ("allow timeout * make", "timeout 5 make", "allow"),
        ("allow timeout * make", "timeout make", "ask"),
        ("allow timeout * make", "timeout -v make", "ask"),
        ("allow timeout * make", "timeout 5 5 make", "ask"),
        ("allow timeout * make", "timeout $X make", "ask"),
        ("allow timeout '*' make", "timeout 5 make", "ask"),
        // Variables are named, all of them.
        ("allow X=1 make", "X=1 make", "allow"),
        ("allow X=1 make", "make", "ask"),
        ("allow X=1 make", "X=1 Y=2 make", "ask"),
        ("allow X=1", "X=1 make", "ask"),
        ("allow make", "X=1 make", "ask"),
        ("allow X=1 make\ndeny X=1", "X=1 make", "deny"),
        ("deny X=1 make", "Y=2 X=1 make", "deny"),
        ("deny X=1 make", "make", "ask"),
        // A rule may name what would ask otherwise.
        ("allow find . -delete", "find . -delete", "ask"),
        ("allow find src -delete", "find src -delete", "allow"),
        ("allow find src -delete", "find src -delete -exec x", "ask"),
        ("allow cat /etc/os-release", "cat /etc/os-release", "allow"),
        (
            "allow cat /etc/os-release",
            "cat /etc/os-release /etc/passwd",
            "ask",
        ),
        ("allow ls ~/projects", "ls ~/projects", "allow"),
        ("allow ls ~/projects", "ls '~/projects'", "ask"),
        ("allow sed -i", "sed -i s/a/b/ src/a.c", "allow"),
        ("allow sed -i", "sed -i s/a/b/w/etc/x src/a.c", "ask"),
        ("allow git -c x.y=z log", "git -c x.y=z log", "allow"),
        // Options of one subcommand, and files that no option names.
        ("allow git clone", "git clone -q -u x a b", "ask"),
        ("allow git clone", "git clone -qu x a b", "ask"),
        ("allow git clone", "git clone -c a.b=c a b", "ask"),
        ("allow git clone", "git clone -q --depth 1 a b", "allow"),
        ("allow git rebase", "git rebase -x id main", "ask"),
        ("allow git rebase", "git rebase main", "allow"),
        ("allow git cherry-pick", "git cherry-pick -x main", "allow"),
        ("allow git switch", "git switch -c next", "allow"),
        ("allow git push", "git push -u origin next", "allow"),
        ("allow git archive", "git archive -o x HEAD", "ask"),
        ("allow git apply", "git apply --unsafe-paths x", "ask"),
        ("allow git", "git remote-ext x 'sh -c id'", "ask"),
        ("allow git init", "git init --separate-git-dir gd", "ask"),
        ("allow curl -s", "curl -s -d @src/a.c u", "ask"),
        ("allow curl -s", "curl -s -d@src/a.c u", "ask"),
        ("allow curl -s", "curl -s --data=@src/a.c u", "ask"),
        ("allow curl -s", "curl -s -d a=b me@host", "allow"),
        ("allow curl -s", "curl -s --libcurl x u", "ask"),
        ("allow less", "less --lesskey-content=x src/a.c", "ask"),
        ("allow go build", "go build '-ldflags=-extld x' .", "ask"),
        ("allow go build", "go build -ldflags -s .", "allow"),
        ("allow cargo doc", "cargo doc --open", "ask"),
        ("allow wc", "wc --files0-from=src/a.c", "ask"),
        ("allow rustup", "rustup run stable id", "ask"),
        ("allow uniq", "uniq -c src/a.c", "allow"),
        ("allow uniq", "uniq -f 1 src/a.c", "allow"),
        ("allow uniq", "uniq src/a.c src/b.c", "ask"),
        ("allow uniq", "uniq - src/b.c", "ask"),
        ("allow uniq", "uniq -c -- -a src/b.c", "ask"),
        ("allow uniq", "uniq -c src/a.c src/b.c", "ask"),
        ("allow uniq", "uniq src/*.c", "ask"),
        ("allow uniq src/a.c", "uniq src/a.c src/b.c", "ask"),
        (
            "allow uniq src/a.c src/b.c",
            "uniq src/a.c src/b.c",
            "allow",
        ),
        ("allow xxd", "xxd -c 8 -l 64 src/a.c", "allow"),
        ("allow xxd", "xxd -p src/a.c .git/config", "ask"),
        ("allow shuf", "shuf -n 3 src/a.c", "allow"),
        ("allow shuf", "shuf -o src/b.c src/a.c", "ask"),
        ("allow iconv", "iconv -f utf8 --outp=x src/a.c", "ask"),
        ("allow yq", "yq -i .a=1 src/a.c", "ask"),
        ("allow python3", "python3 -c 'import os'", "allow"),
        ("allow sudo", "sudo rm x", "allow"),
        ("allow sudo\ndeny rm", "sudo rm x", "deny"),
        ("allow sudo rm", "sudo rm x", "allow"),
        ("allow timeout * find", "timeout 5 find . -delete", "ask"),
        // Nothing allows what was not understood, what sets the shell, or zcoder itself.
        ("allow make", "make $(id)", "ask"),
        ("allow export", "export X=1", "ask"),
        ("allow eval", "eval make", "ask"),
        ("allow zcoder", "zcoder trust", "ask"),
        // A rule for every command.
        ("allow make\nask 'x", "make", "ask"),
        ("deny", "make", "deny"),
    ] {
        assert_eq!(under(rules, text), expected, "{rules:?} on {text:?}");
    }
}
