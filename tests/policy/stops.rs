//! Hard stops that hide: behind `cd`, in `find -exec`, in what is piped into a shell, at most four deep; and what is closed to commands.

use std::path::PathBuf;

use super::{
    Command, CommandMode, EditMode, Policy, Profile, Question, Verdict, command, sysadmin,
};

/// What the sysadmin profile says is catastrophic, if anything.
fn danger(text: &str) -> Option<String> {
    match sysadmin(CommandMode::Allow).command(command(text)) {
        Verdict::Denied { reason, .. } => {
            let rest = reason.strip_prefix("refused: ").expect("a stop");
            rest.split_once(". Such")
                .map(|(danger, _)| danger.to_string())
        }
        Verdict::Ask(_) => None,
        Verdict::Allowed(_) => panic!("allowed: {text}"),
    }
}

#[track_caller]
fn stops(text: &str, what: &str) {
    assert_eq!(danger(text).as_deref(), Some(what), "{text}");
    // The coding profile asks, whatever is allowed.
    let mut policy = Policy::new(
        CommandMode::Allow,
        EditMode::Auto,
        Profile::Coding,
        Some("--yes"),
    );
    let Verdict::Ask(asking) = policy.command(command(text)) else {
        panic!("not asked: {text}");
    };
    match asking.question() {
        Question::Command { notes, offers, .. } => {
            assert_eq!(notes[0], format!("danger: {what}"));
            assert!(
                offers.rules.is_empty() && !offers.session && !offers.keep,
                "{text}"
            );
        }
        other => panic!("{other:?}"),
    }
    // A person's yes to exactly this text counts.
    assert!(policy.grant(&asking));
    assert!(
        matches!(policy.command(command(text)), Verdict::Allowed(_)),
        "{text}"
    );
}

#[test]
fn relative_paths_count_from_where_a_cd_may_have_led() {
    let rm = |target: &str| format!("rm of {target} reaches far too much");
    stops("cd / && rm -rf *", &rm("*"));
    stops("cd /; rm -rf ./*", &rm("./*"));
    stops("cd && rm -rf *", &rm("*"));
    stops("cd ~ && rm -rf .", &rm("."));
    stops("cd \"$HOME\"; rm -rf ./*", &rm("./*"));
    stops("cd /usr && rm -rf lib/..", &rm("lib/.."));
    stops("pushd / && rm -rf etc", &rm("etc"));
    stops("command cd / && rm -rf etc", &rm("etc"));
    stops("cd src || rm -rf ../..", &rm("../.."));
    stops("(cd /); cd / && (rm -rf etc)", &rm("etc"));
    assert_eq!(danger("cd /tmp/x && rm -rf *"), None);
    assert_eq!(danger("cd ~/x && rm -rf *"), None);
}

#[test]
fn no_rule_is_offered_around_a_stop() {
    // Both would be offered a rule otherwise.
    stops("mkfs.ext4 disk.img", "mkfs.ext4 destroys what is on a disk");
    stops("wipefs -a disk.img", "wipefs -a destroys what is on a disk");
}

#[test]
fn patterns_that_stand_for_everything() {
    let rm = |target: &str| format!("rm of {target} reaches far too much");
    for target in [
        "/e*",
        "/[a-z]*",
        "/???",
        "/etc/?*",
        "/etc/.*",
        "./.*",
        "?*",
        "*.*",
        "/*/",
        "$HOME/.*",
        "\"$PWD\"/*",
        "~/?*",
        "/{bin,etc}",
        "/usr/{*,.*}",
        "/usr/**/*",
        "./**/*",
        "[[:alnum:]]*",
        "/proc/self/root/",
        "/proc/1/root/etc",
        "/proc/self/cwd/",
        "~root",
    ] {
        stops(&format!("rm -rf {target}"), &rm(&target.replace('"', "")));
    }
    for target in [
        "*.o",
        "./*.o",
        "/tmp/*",
        "src/*",
        "build*",
        "/etc/*.bak",
        "~/x/*",
        "/tmp/{a,b}",
        "/proc/self/root/tmp/x",
        "~rooter",
    ] {
        assert_eq!(danger(&format!("rm -rf {target}")), None, "{target}");
    }
}

#[test]
fn what_is_handed_on_to_a_command() {
    let rm = "rm of / reaches far too much";
    stops("echo / | xargs rm -rf", rm);
    stops("find / -type f -exec rm {} +", rm);
    stops(
        "find / -exec sudo rm -rf {} \\;",
        "rm of / reaches far too much",
    );
    stops(
        "find ~ -execdir chmod 777 {} +",
        "chmod of ~ reaches far too much",
    );
    stops(
        "printf '/\\n' | xargs rm -rf",
        "rm of / reaches far too much",
    );
    stops("find / -type f -print0 | xargs -0 rm -f", rm);
    stops("find . -type f | xargs rm", "rm of . reaches far too much");
    stops("cat <<E | sh\nrm -rf /\nE", rm);
    stops("csh -c 'rm -rf /'", rm);
    stops("env -S'rm -rf /'", rm);
    stops("env --split-string='rm -rf /'", rm);
    stops("wipefs --al x", "wipefs -a destroys what is on a disk");
    stops("mke2fs x", "mke2fs destroys what is on a disk");
    stops("function f { f|f& }; f", "it is a fork bomb");
    stops("cd /dev && cat x > sda", "it redirects onto the device sda");
    stops("cd /dev; dd of=sda", "dd writes onto the device sda");
    stops("echo 'rm -rf /' | sh", rm);
    stops("printf 'rm -rf /' | sudo bash -s", rm);
    stops("sh <<E\nrm -rf /\nE", rm);
    stops("ssh box 'rm -rf /'", rm);
    stops("watch rm -rf /", rm);
    stops("su -c 'rm -rf /' root", rm);
    stops("trap 'rm -rf /' EXIT", rm);
    stops("alias x='rm -rf /'; x", rm);
    stops("git -c alias.x='!rm -rf /' x", rm);
    stops("cat <<E\n$(rm -rf /)\nE", rm);
    stops("$'rm' -rf /", rm);
    stops("\\RM -rf /", rm);
    stops("strace -Z x rm -rf /", rm);
    stops("find . -delete", "find -delete on . reaches far too much");
    stops(
        "find / -name x -delete",
        "find -delete on / reaches far too much",
    );
    stops(
        "echo x | tee /dev/sda",
        "tee writes onto the device /dev/sda",
    );
    stops("cp image /dev/sda", "cp writes onto the device /dev/sda");
    for text in [
        "find . -name '*.o' -delete",
        "find src -exec rm {} +",
        "echo x | xargs rm -rf",
        "find / -name core | xargs rm",
        "find /var/log -mtime +7 | xargs rm",
        "find src | xargs rm",
        "cat x <<E | sh\nrm -rf /\nE",
        "cd /dev && cat x > null",
        "dd of=sda",
        "f { f|f& }; f",
        "cat x | sh",
        "cp /dev/sda image",
        "echo 'rm -rf /' | cat",
        "tee /dev/null",
        "ls /dev",
        "rm /dev/../tmp/x",
    ] {
        assert_eq!(danger(text), None, "{text}");
    }
}

#[test]
fn scripts_are_followed_four_deep() {
    let nest = |depth: usize| {
        (0..depth).fold("rm -rf /".to_string(), |inner, _| {
            format!("sh -c {}", quote(&inner))
        })
    };
    assert!(danger(&nest(4)).is_some());
    assert!(danger(&nest(5)).is_none());
    // Wrappers of wrappers, and words beyond count: an answer, and soon.
    let many = format!("{}rm -rf /", "sudo ".repeat(20_000));
    assert!(danger(&many).is_none());
    assert!(danger(&format!("{}rm -rf /", "env ".repeat(10))).is_some());
    for text in [
        format!("{} x", "strace -Z ".repeat(6_000)),
        format!("find . {}", "-exec ".repeat(10_000)),
        "env eval ".repeat(7_000),
        format!("sh -c '{}'", "eval x ".repeat(8_000)),
    ] {
        assert!(danger(&text).is_none());
    }
}

fn quote(text: &str) -> String {
    format!("'{}'", text.replace('\'', "'\\''"))
}

#[test]
fn our_own_folders_are_outside_even_inside() {
    let mut policy = Policy::new(CommandMode::Ask, EditMode::Auto, Profile::Coding, None);
    let inside = Command {
        workspace: PathBuf::from("/home/me"),
        cwd: PathBuf::from("/home/me"),
        ..command("cat .config/zcoder/rules")
    };
    assert!(matches!(
        policy.command(inside.clone()),
        Verdict::Allowed(_)
    ));
    policy.close(vec![PathBuf::from("/home/me/.config/zcoder")]);
    assert!(matches!(policy.command(inside.clone()), Verdict::Ask(_)));
    // What goes through folders comes to it, too.
    for (text, asks) in [
        ("grep -rn key", true),
        ("grep --recursive key .", true),
        ("ls -aR", true),
        ("ls --recursive", true),
        ("find . -type f", true),
        ("ls -a", false),
        ("ls -r", false),
        ("grep -n key src/a.c", false),
        ("cat src/a.c", false),
    ] {
        let found = policy.command(Command {
            text: text.to_string(),
            ..inside.clone()
        });
        assert_eq!(matches!(found, Verdict::Ask(_)), asks, "{text}");
    }
}
