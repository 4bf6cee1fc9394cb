//! Tests of `policy`: what is allowed, asked and denied, by whom, and exactly what a question shows.

mod builtin;
mod hour;
mod rules;
mod shells;
mod splitter;
mod stops;
mod stores;
mod table;

use std::path::PathBuf;
use std::time::Duration;

use zcoder::policy::{Command, CommandMode, EditMode, Policy, Profile, Verdict};
use zcoder::protocol::{CommandPart, DecidedBy, Offers, Question};

fn policy(commands: CommandMode, edits: EditMode) -> Policy {
    Policy::new(commands, edits, Profile::Coding, None)
}

/// Asks for everything, also for what needs no rule.
fn asking() -> Policy {
    let mut policy = policy(CommandMode::Ask, EditMode::Ask);
    policy.without_builtin();
    policy
}

fn sysadmin(commands: CommandMode) -> Policy {
    Policy::new(commands, EditMode::Auto, Profile::Sysadmin, Some("--yes"))
}

/// A command in the root of `/home/me/app`.
fn command(text: &str) -> Command {
    command_in(text, ".")
}

fn command_in(text: &str, folder: &str) -> Command {
    let workspace = PathBuf::from("/home/me/app");
    Command {
        text: text.to_string(),
        cwd: match folder {
            "." => workspace.clone(),
            folder => workspace.join(folder),
        },
        shown_cwd: folder.to_string(),
        timeout: Duration::from_secs(120),
        wrapper: Vec::new(),
        workspace,
        changed: Vec::new(),
    }
}

/// Who allowed it.
#[track_caller]
fn allowed<T: std::fmt::Debug>(verdict: Verdict<T>, by: &DecidedBy) -> T {
    match verdict {
        Verdict::Allowed(approved) => {
            assert_eq!(approved.by(), by);
            approved.into_value()
        }
        other => panic!("not allowed: {other:?}"),
    }
}

/// What is shown.
#[track_caller]
fn asked<T: std::fmt::Debug>(verdict: Verdict<T>) -> Question {
    match verdict {
        Verdict::Ask(asking) => asking.question().clone(),
        other => panic!("not asked: {other:?}"),
    }
}

#[track_caller]
fn denied<T: std::fmt::Debug>(verdict: Verdict<T>, by: &DecidedBy, text: &str) {
    match verdict {
        Verdict::Denied {
            reason, by: who, ..
        } => {
            assert_eq!(reason, text);
            assert_eq!(&who, by);
        }
        other => panic!("not denied: {other:?}"),
    }
}

fn rule(text: &str) -> DecidedBy {
    DecidedBy::Rule(text.to_string())
}

#[test]
fn commands_by_mode() {
    let ls = || command("ls");
    asked(asking().command(ls()));
    let allow = policy(CommandMode::Allow, EditMode::Auto);
    assert_eq!(allowed(allow.command(ls()), &rule("commands=allow")), ls());
    let yes = Policy::new(
        CommandMode::Allow,
        EditMode::Auto,
        Profile::Coding,
        Some("--yes"),
    );
    allowed(yes.command(ls()), &DecidedBy::Flag("--yes".to_string()));
    let deny = Policy::new(
        CommandMode::Deny,
        EditMode::Deny,
        Profile::Coding,
        Some("--read-only"),
    );
    denied(
        deny.command(ls()),
        &DecidedBy::Flag("--read-only".to_string()),
        "commands are denied in this run (--read-only), so this one was not run. Work with the other tools, and tell the user which \
         command to run and why.",
    );
    denied(
        policy(CommandMode::Deny, EditMode::Auto).command(ls()),
        &rule("commands=deny"),
        "commands are denied in this run (commands=deny), so this one was not run. Work with the other tools, and tell the user which \
         command to run and why.",
    );
}

#[test]
fn edits_by_mode() {
    let auto = policy(CommandMode::Ask, EditMode::Auto);
    assert_eq!(
        allowed(
            auto.edit(7, &["a.rs"], |_| "diff", None),
            &rule("edits=auto")
        ),
        7
    );
    let question = asked(asking().edit(7, &["a.rs"], |_| "diff", None));
    let shown = |path: &str, diff: &str, notes: &[&str]| Question::Edit {
        path: path.to_string(),
        diff: diff.to_string(),
        notes: notes.iter().map(|note| note.to_string()).collect(),
    };
    assert_eq!(question, shown("a.rs", "diff", &[]));
    let question = asked(auto.edit(7, &[".git/config"], |_| "-a\n+b\n", Some("git runs it")));
    assert_eq!(
        question,
        shown(".git/config", "-a\n+b\n", &["protected: git runs it"])
    );
    let question = asked(asking().edit(7, &["a\u{202e}b"], |_| "+\u{200b}x\u{1b}[2J\n", None));
    assert_eq!(
        question,
        shown(
            "a\\u{202e}b",
            "+\\u{200b}x\\x1b[2J\n",
            &[
                "holds characters that do not show; they are spelled out: \\u{200b}, \\u{202e}, \\x1b"
            ]
        )
    );
    denied(
        policy(CommandMode::Ask, EditMode::Deny).edit(7, &["a\nb"], |_| "diff", None),
        &rule("edits=deny"),
        "edits are denied in this run, so a\\nb was not changed. Tell the user what to change and why, with the new text.",
    );
}

#[test]
fn a_yes_gives_the_very_thing_that_was_shown() {
    let Verdict::Ask(question) = asking().command(command("sh test.sh")) else {
        panic!("not asked");
    };
    let approved = question.accept();
    assert_eq!(approved.by(), &DecidedBy::Person);
    assert_eq!(approved.value(), &command("sh test.sh"));
    let Verdict::Ask(question) = asking().command(command("sh test.sh")) else {
        panic!("not asked");
    };
    assert_eq!(question.value(), &command("sh test.sh"));
    assert_eq!(question.refuse(), command("sh test.sh"));
}

#[test]
fn an_exact_rule_allows_exactly_its_text_in_the_root() {
    let mut policy = asking();
    policy.allow_exact("sh test.sh", "allow sh test.sh (demo)");
    allowed(
        policy.command(command("sh test.sh")),
        &rule("allow sh test.sh (demo)"),
    );
    for other in [
        "sh test.sh ",
        "sh  test.sh",
        "sh test.sh; rm x",
        "sh test.sh && true",
        "SH test.sh",
        "sh test.s",
    ] {
        asked(policy.command(command(other)));
    }
    asked(policy.command(command_in("sh test.sh", "src")));
    // Deny wins.
    let mut policy = Policy::new(CommandMode::Deny, EditMode::Auto, Profile::Coding, None);
    policy.allow_exact("ls", "allow ls");
    assert!(matches!(
        policy.command(command("ls")),
        Verdict::Denied { .. }
    ));
}

#[test]
fn a_yes_for_the_session_holds_for_the_raw_text_and_folder() {
    let mut policy = asking();
    let Verdict::Ask(question) = policy.command(command("printf '\t'")) else {
        panic!("not asked");
    };
    assert!(policy.grant(&question));
    allowed(policy.command(command("printf '\t'")), &DecidedBy::Session);
    // It looks the same in a question, and is another command.
    asked(policy.command(command("printf '\\t'")));
    asked(policy.command(command_in("printf '\t'", "src")));
    asked(policy.command(command("printf '\t' ")));
    // A granted command allows no edit, a granted file no other.
    asked(policy.edit(1, &["printf '\t'"], |_| "", None));
    let Verdict::Ask(question) = policy.edit(1, &[".envrc"], |_| "diff", Some("why")) else {
        panic!("not asked");
    };
    assert!(policy.grant(&question));
    allowed(
        policy.edit(2, &[".envrc"], |_| "other diff", Some("why")),
        &DecidedBy::Session,
    );
    asked(policy.edit(2, &[".envrc2"], |_| "diff", None));
    asked(policy.command(command(".envrc")));
}

#[test]
fn sysadmin_asks_for_every_command() {
    let mut policy = sysadmin(CommandMode::Allow);
    policy.allow_exact("ls", "allow ls");
    let Verdict::Ask(question) = policy.command(command("ls")) else {
        panic!("not asked");
    };
    assert!(!policy.grant(&question));
    asked(policy.command(command("ls")));
    assert!(matches!(
        sysadmin(CommandMode::Deny).command(command("ls")),
        Verdict::Denied { .. }
    ));
}

/// The notes of the question for a command.
#[track_caller]
fn notes(command: Command, expected: &[&str]) {
    match asked(asking().command(command)) {
        Question::Command { notes, .. } => assert_eq!(notes, expected),
        other => panic!("{other:?}"),
    }
}

#[test]
fn a_question_shows_the_whole_command() {
    let mut long = command_in(
        &format!("echo {} && rm -r build", "x".repeat(5_000)),
        "src\u{7}",
    );
    long.wrapper = vec!["bwrap".to_string(), "--ro-bind\u{1b}".to_string()];
    assert_eq!(
        asked(asking().command(long.clone())),
        Question::Command {
            command: long.text,
            cwd: "src\\x07".to_string(),
            timeout_seconds: 120,
            wrapper: vec!["bwrap".to_string(), "--ro-bind\\x1b".to_string()],
            parts: vec![
                CommandPart {
                    text: format!("echo {}", "x".repeat(5_000)),
                    ruling: "no rule allows it".to_string(),
                },
                CommandPart {
                    text: "rm -r build".to_string(),
                    ruling: "no rule allows it".to_string(),
                },
            ],
            reasons: Vec::new(),
            notes: vec![
                "holds characters that do not show; they are spelled out: \\x07".to_string()
            ],
            offers: Offers {
                exact: true,
                ..Offers::default()
            },
        }
    );
}

#[test]
fn notes_on_characters_that_do_not_show() {
    let text = "rm \u{202e}gpj.exe\u{200b} \u{e0041}\r";
    match asked(asking().command(command(text))) {
        Question::Command { command, notes, .. } => {
            assert_eq!(command, "rm \\u{202e}gpj.exe\\u{200b} \\u{e0041}\\r");
            let note = "holds characters that do not show; they are spelled out: \\r, \\u{200b}, \\u{202e}, \\u{e0041}";
            assert_eq!(notes, [note]);
        }
        other => panic!("{other:?}"),
    }
    notes(command("echo ü €\n\techo 2"), &[]);
}

#[test]
fn notes_on_paths_outside() {
    let outside = |text: &str, paths: &str| {
        let note = format!("names paths outside the workspace: {paths}");
        notes(command(text), &[&note]);
    };
    outside("cat /etc/passwd", "/etc/passwd");
    outside(
        "cp ~/.ssh/id_rsa . && cat $HOME/x ${HOME}",
        "~/.ssh/id_rsa, $HOME/x, ${HOME}",
    );
    outside("ls ../other ..", "../other, ..");
    outside(
        "make --prefix=/usr/local O=/tmp/x -I/opt/include",
        "/usr/local, /tmp/x, /opt/include",
    );
    outside("echo x > /tmp/log 2>/var/log/y", "/tmp/log, /var/log/y");
    outside("cat '/etc/my file'", "/etc/my file");
    outside("sort </etc/hosts>>/tmp/x", "/etc/hosts, /tmp/x");
    outside("/bin/ls ~root/x", "/bin/ls, ~root/x");
    outside(
        "a=/1 /2 /3 /4 /5 /6 /7 /8",
        "/1, /2, /3, /4, /5, /6 and 2 more",
    );
    outside("ls /home/me/app2 /home/me", "/home/me/app2, /home/me");
    for inside in [
        "ls src/../README.md ./x /home/me/app /home/me/app/src",
        "true >/dev/null 2>&1",
        "curl https://example.org/a/../b",
        "echo 1/2 a..b --x=y",
        "cd src && ls",
        "# /etc/passwd",
    ] {
        notes(command(inside), &[]);
    }
    notes(command_in("ls ../README.md", "src"), &[]);
    notes(
        command_in("ls ../../x", "src"),
        &["names paths outside the workspace: ../../x"],
    );
}

#[test]
fn notes_on_files_the_model_changed() {
    let changed = |text: &str, files: &[&str]| Command {
        changed: files.iter().map(|file| file.to_string()).collect(),
        ..command(text)
    };
    notes(
        changed("sh test.sh", &["test.sh"]),
        &["names a file changed in this session: test.sh"],
    );
    notes(
        changed("sh ./sub/test.sh", &["sub/test.sh", "x"]),
        &["names a file changed in this session: sub/test.sh"],
    );
    notes(
        changed("cat a b", &["a", "b"]),
        &["names files changed in this session: a, b"],
    );
    notes(
        changed("cargo test", &["src/a.rs"]),
        &["cargo may run files changed in this session: src/a.rs"],
    );
    notes(
        changed("CI=1 npm test", &["a.js"]),
        &["npm may run files changed in this session: a.js"],
    );
    notes(changed("ls", &["a.rs"]), &[]);
    notes(changed("cargo test", &[]), &[]);
}

/// In the sysadmin profile: never; in the coding profile, even with --yes: asked, with the danger first.
#[track_caller]
fn stops(text: &str, danger: &str) {
    let reason = format!(
        "refused: {danger}. Such a command is never run here, whatever was approved. Use a command that names only what has to change, or \
         explain to the user what to do by hand."
    );
    denied(
        sysadmin(CommandMode::Allow).command(command(text)),
        &rule("hard stop"),
        &reason,
    );
    denied(
        sysadmin(CommandMode::Deny).command(command(text)),
        &rule("hard stop"),
        &reason,
    );
    let yes = Policy::new(
        CommandMode::Allow,
        EditMode::Auto,
        Profile::Coding,
        Some("--yes"),
    );
    match asked(yes.command(command(text))) {
        Question::Command { notes, .. } => assert_eq!(notes[0], format!("danger: {danger}")),
        other => panic!("{other:?}"),
    }
}

#[test]
fn hard_stops() {
    let broad = |text: &str, name: &str, target: &str| {
        stops(text, &format!("{name} of {target} reaches far too much"))
    };
    for target in [
        "/", "/*", "/etc", "/etc/", "/etc/*", "/usr", "/var/*", "/boot", "/home", "/home/*",
        "/root", "/dev", "/opt", "/srv",
    ] {
        broad(&format!("rm -rf {target}"), "rm", target);
    }
    for target in ["~", "~/", "~/*", "$HOME", "$HOME/", "$HOME/*", "${HOME}"] {
        broad(&format!("rm -r -f -- {target}"), "rm", target);
    }
    // The whole workspace, and what lies above it.
    for target in [
        ".",
        "./",
        "./*",
        "*",
        "$PWD",
        "..",
        "../*",
        "/home/me/app",
        "/home/me/app/",
        "/home/me/app/*",
        "/home/me",
        "src/..",
    ] {
        broad(&format!("rm -rf {target}"), "rm", target);
    }
    broad("rm -rf build / tmp", "rm", "/");
    broad("rm -rf '/'", "rm", "/");
    broad("rm -rf \"/etc\"", "rm", "/etc");
    broad("rm -rf /e\\tc", "rm", "/etc");
    broad("/bin/rm -rf //usr/./", "rm", "//usr/./");
    broad("rm -rf /usr/lib/..", "rm", "/usr/lib/..");
    broad("chmod -R 777 /", "chmod", "/");
    broad("chown -R me:me ~", "chown", "~");
    broad("chgrp me /etc", "chgrp", "/etc");
    stops(
        "find / -name x -delete",
        "find -delete on / reaches far too much",
    );
    stops("find . -delete", "find -delete on . reaches far too much");
    stops(
        "mkfs.ext4 /dev/sda1",
        "mkfs.ext4 destroys what is on a disk",
    );
    stops("mkfs -t ext4 disk", "mkfs destroys what is on a disk");
    for name in ["blkdiscard", "lvremove", "vgremove", "pvremove"] {
        stops(
            &format!("{name} x"),
            &format!("{name} destroys a disk or volume"),
        );
    }
    for text in ["wipefs -a /dev/sda", "wipefs --all x", "wipefs -fa x"] {
        stops(text, "wipefs -a destroys what is on a disk");
    }
    stops("zpool destroy tank", "zpool destroy destroys a pool");
    stops(
        "dd if=/dev/zero of=/dev/sda bs=1M",
        "dd writes onto the device /dev/sda",
    );
    stops("shred -n 1 /dev/sdb", "shred destroys the device /dev/sdb");
    for text in [
        "cat x > /dev/sda",
        "cat x >/dev/sda",
        "echo >>/dev/sda",
        "x 1>/dev/sda",
        "x >| /dev/sda",
        "x &> /dev/sda",
        "> /dev/../dev/sda",
    ] {
        let target = text.rsplit(['>', ' ', '|']).next().expect("a word");
        stops(text, &format!("it redirects onto the device {target}"));
    }
    for text in [
        ":(){ :|:& };:",
        ":() { : | : & } ; :",
        "f(){ f|f& };f",
        "function f(){ f|f& };f",
    ] {
        stops(text, "it is a fork bomb");
    }
}

#[test]
fn hard_stops_behind_other_words() {
    let rm = "rm of / reaches far too much";
    for text in [
        "cd /tmp; rm -rf /",
        "true && rm -rf /",
        "false || rm -rf /",
        "true | rm -rf /",
        "true & rm -rf /",
        "true\nrm -rf /",
        "echo a#b; rm -rf /",
        "(rm -rf /)",
        "{ rm -rf /; }",
        "if true; then rm -rf /; fi",
        "while true; do rm -rf /; done",
        "! rm -rf /",
        "X=1 rm -rf /",
        "X=1 Y=2 sudo rm -rf /",
        "sudo rm -rf /",
        "sudo -u root -- rm -rf /",
        "doas rm -rf /",
        "env A=b rm -rf /",
        "nohup nice -n 10 rm -rf /",
        "timeout 5 rm -rf /",
        "busybox rm -rf /",
        "echo / | xargs rm -rf /",
        "echo `rm -rf /`",
        "echo $(rm -rf /)",
        "rm \\\n -rf /",
        "sh -c 'rm -rf /'",
        "bash -lc \"rm -rf /\"",
        "sudo sh -ec 'cd x && rm -rf /'",
        "eval rm -rf /",
        "eval 'rm -rf /'",
        "sh -c \"sh -c 'rm -rf /'\"",
        "sh -c \"eval \\\"sh -c 'rm -rf /'\\\"\"",
    ] {
        stops(text, rm);
    }
}

#[test]
fn what_only_resembles_a_hard_stop_is_asked_for() {
    for text in [
        "rm -rf build",
        "rm -rf ./target src/x",
        "rm -rf /home/me/app/build",
        "rm -rf /etc/app.d",
        "rm -rf ~/tmp",
        "rm -rf /tmp/x",
        "rm -rf *.o",
        "rm",
        "echo rm -rf /",
        "echo 'rm -rf /'",
        "grep -r 'rm -rf /' .",
        "# rm -rf /",
        "find . -name '*.o'",
        "find src -delete",
        "chmod +x run.sh",
        "chmod 755 .git/hooks/x",
        "dd if=a of=b",
        "dd if=/dev/zero of=/dev/null",
        "shred notes.txt",
        "wipefs /dev/sda",
        "zpool status",
        "mkfsx",
        "x > /dev/null 2>&1",
        "x >/dev/stderr 2>/dev/tty",
        "x > /dev/fd/3",
        "f(){ g|h; }; f",
        "ls /",
    ] {
        let question = asked(sysadmin(CommandMode::Allow).command(command(text)));
        let Question::Command { notes, .. } = question else {
            panic!("{question:?}");
        };
        assert!(
            notes.iter().all(|note| !note.starts_with("danger")),
            "{text}: {notes:?}"
        );
    }
}

#[test]
fn any_text_gets_an_answer() {
    // Quotes that do not end, deep nesting, every byte: no panic, and a verdict.
    let nested = (0..2_000).fold("rm -rf /".to_string(), |inner, _| {
        format!("sh -c '{inner}'")
    });
    for text in [
        "'",
        "\"",
        "\\",
        "\"\\",
        "$(",
        "`",
        ">",
        "2>&",
        "<<<",
        "|||",
        "#",
        "a#b",
        "(){",
        "=",
        "~",
        "",
        &nested,
        &"(".repeat(100_000),
    ] {
        assert!(!matches!(
            asking().command(command(text)),
            Verdict::Allowed(_)
        ));
    }
    for byte in 0..=255_u8 {
        let text = format!("a {} b", char::from(byte));
        assert!(!matches!(
            asking().command(command(&text)),
            Verdict::Allowed(_)
        ));
    }
}

#[test]
fn an_edit_of_several_files_shows_all_and_needs_a_grant_for_each() {
    let mut policy = asking();
    let Verdict::Ask(question) = policy.edit(1, &["a.rs", "b\n.rs"], |_| "diff", None) else {
        panic!("not asked");
    };
    let shown = Question::Edit {
        path: "a.rs, b\\n.rs".to_string(),
        diff: "diff".to_string(),
        notes: Vec::new(),
    };
    assert_eq!(question.question(), &shown);
    assert!(policy.grant(&question));
    assert_eq!(
        allowed(
            policy.edit(2, &["b\n.rs"], |_| "diff", None),
            &DecidedBy::Session
        ),
        2
    );
    assert_eq!(
        allowed(
            policy.edit(3, &["b\n.rs", "a.rs"], |_| "diff", None),
            &DecidedBy::Session
        ),
        3
    );
    asked(policy.edit(4, &["a.rs", "c.rs"], |_| "diff", None));
}
