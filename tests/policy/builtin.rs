//! What needs no rule, and what only looks like it: with no rules at all.

use super::table::{command, workspace};
use super::{CommandMode, EditMode, Policy, Profile, Verdict};

#[test]
fn looking_inside_the_workspace_needs_no_rule() {
    let temp = workspace();
    let policy = Policy::new(CommandMode::Ask, EditMode::Auto, Profile::Coding, None);
    let mut faults = Vec::new();
    for (passes, texts) in [(true, PASSING), (false, ASKED)] {
        for text in texts {
            let found = matches!(
                policy.command(command(temp.path(), text)),
                Verdict::Allowed(_)
            );
            if found != passes {
                faults.push(format!("{text}: allowed is {found}"));
            }
        }
    }
    assert!(faults.is_empty(), "{}", faults.join("\n"));
    let mut policy = policy;
    policy.without_builtin();
    for text in PASSING {
        assert!(
            matches!(policy.command(command(temp.path(), text)), Verdict::Ask(_)),
            "{text}"
        );
    }
    // The other modes and the other agent are as strict as they were.
    for (mode, profile) in [
        (CommandMode::Deny, Profile::Coding),
        (CommandMode::Ask, Profile::Sysadmin),
    ] {
        let policy = Policy::new(mode, EditMode::Auto, profile, None);
        for text in PASSING {
            assert!(
                !matches!(
                    policy.command(command(temp.path(), text)),
                    Verdict::Allowed(_)
                ),
                "{text}"
            );
        }
    }
}

const PASSING: &[&str] = &[
    "ls",
    "ls -la src",
    "cat src/a.c",
    "cat 'a b.txt'",
    "head -n 3 src/a.c",
    "head -3 src/a.c",
    "tail -n +2 src/a.c",
    "wc -l src/*.c",
    "cut -d / -f 1 src/a.c",
    "cut -d/ -f1 src/a.c",
    "tr / _",
    "grep -n main src/a.c",
    "grep -rn main",
    "grep -A 2 -e main src/a.c",
    "grep '/etc/passwd' src/a.c",
    "grep --include='*.c' -r main src",
    "grep -c '' src/a.c | tail -1",
    "echo hi",
    "echo $?",
    "true",
    "pwd",
    "cd src",
    "cd src && ls",
    "cd -- src",
    "exit 1",
    "set -e",
    "set -euo pipefail; ls",
    "find . -name '*.c'",
    "find src -type f | head",
    "find . -name '*.c' -not -path './build/*' -print",
    "sed -n '1,40p' src/a.c",
    "sed -n 5p src/a.c",
    "cat src/a.c | sed 's/a/b/'",
    "{ ls; cat src/a.c; } 2>/dev/null",
    "cat inner/a.c",
    "ls ; ls",
    "cat < src/a.c",
    "ls 2>&1",
    "cat -",
    "echo -n 'a b' | wc -c",
];

const ASKED: &[&str] = &[
    "",
    " ",
    "# x",
    "git status",
    "git log",
    "make",
    "ls out",
    "cat out/etc/passwd",
    "cat gone",
    "ls -L src",
    "ls -H src",
    "cat *",
    "cat x*",
    "tail -f src/a.c",
    "tail --pid=1 src/a.c",
    "grep -R main .",
    "grep -f src/a.c x",
    "grep --file=src/a.c x",
    "grep --regexp=x out/etc/passwd",
    "grep /etc/passwd -e root",
    "grep --reg=x /etc/passwd",
    "grep -e root /etc/passwd",
    "grep *x src/a.c",
    "grep -d read x .",
    "head --lines=3 src/a.c /etc/passwd",
    "wc --files0-from=src/a.c",
    "cut -f1 /etc/passwd",
    "tr a b <out/etc/passwd",
    "sort src/a.c",
    "echo *",
    "echo ~",
    "echo $X",
    "echo hi > x",
    "X=1 ls",
    "cd out",
    "cd ..",
    "cd",
    "cd -",
    "cd src src",
    "cd \"$X\"",
    "cd inner",
    "exit now",
    "set -f",
    "set -o noclobber",
    "set --",
    "set",
    "set -e x",
    "true x",
    "pwd -P",
    "find . -delete",
    "find . -exec ls {} +",
    "find .. -name x",
    "find out",
    "find . -fprint x",
    "find . -newer /etc/passwd",
    "find -L .",
    "find . -unknown",
    "find . -name *.c",
    "sed -i s/a/b/ src/a.c",
    "sed 's/a/b/w x' src/a.c",
    "sed -n 1p /etc/passwd",
    "sed -n '1e id' src/a.c",
    "sed -f src/a.c",
    // The name of the folder, or of a file, would be part of the script: `s,x,/home/me/a,e;#,p`.
    "sed -n \"s,x,$PWD,p\" src/a.c",
    "cd src && sed -n -e \"s,x,$PWD,p\" a.c",
    "sed -n s,x*,true,p src/a.c",
    "sed -n -e s,x*,true,p src/a.c",
    "sed",
    "/bin/ls",
    "./ls",
    "LS",
    "l\\s out",
    "ls\u{a0}src",
    "cat src/a.c; make",
    "tee x",
    "cat <<E\nx\nE\n",
    "printf x",
    "test -f x",
    "cat \"$PWD/src/a.c\"",
    "cat src/a.c >&2 > x",
    "ls | xargs cat",
    "command ls",
    "time ls",
    "cat --output=x",
    "ls --hyperlink=x",
];
