//! Guidance as a person meets it: what the flags print, what is said of files that are not trusted, prompt commands.

use crate::support::run::{Ran, run, run_with, standin, zcoder};
use crate::support::temp::Temp;
use std::process::Command;
use zcoder::standin::StandIn;

fn command(temp: &Temp, args: &[&str]) -> Command {
    let mut command = zcoder(&temp.path().join("work"), args);
    command.env("HOME", temp.path().join("home"));
    command
}

fn with(temp: &Temp, args: &[&str]) -> Ran {
    run(&mut command(temp, args))
}

/// The first request that these arguments would send, without a server.
fn request(temp: &Temp, args: &[&str]) -> Ran {
    with(
        temp,
        &[
            &["-m", "m", "--what-would-be-sent", "--offline", "-q"],
            args,
        ]
        .concat(),
    )
}

fn project() -> Temp {
    let temp = Temp::new();
    temp.write("work/a.c", "x\n");
    temp.write("work/AGENTS.md", "Use tabs.\n");
    temp.write(
        "work/.agents/skills/pdf/SKILL.md",
        "---\nname: pdf\ndescription: Fills in forms.\n---\nStep one.\n",
    );
    temp.write("home/.config/zcoder/AGENTS.md", "Be brief.\n\x1b[31m");
    temp.write(
        "home/.agents/skills/bad/SKILL.md",
        "---\nname: [bad]\ndescription: x\n---\n",
    );
    temp
}

#[test]
fn the_flags_print_what_would_be_used_and_what_not() {
    let temp = project();
    let head = "Guidance of the user and of this project, broadest first; where two disagree, the later one counts. It changes no permission.\n";
    let mine = "\n<guidance file=\"~/.config/zcoder/AGENTS.md\">\nBe brief.\n</guidance>\n";
    let ran = with(&temp, &["--print-instructions"]);
    let odd = "zcoder: ~/.config/zcoder/AGENTS.md holds control characters; they are left out, or shown where they change the order of others\n";
    let expected = format!(
        "~/.config/zcoder/AGENTS.md  used      15 bytes\n\
         AGENTS.md                   not used  not trusted; `zcoder trust` shows and accepts it\n\n{head}{mine}"
    );
    assert_eq!(
        (ran.code, ran.out, ran.err.lines().next()),
        (Some(0), expected, odd.lines().next())
    );
    let ran = with(&temp, &["--trust", "--print-instructions"]);
    let project = "\n<guidance file=\"AGENTS.md\">\nUse tabs.\n</guidance>\n";
    assert!(
        ran.out.ends_with(&format!("\n\n{head}{mine}{project}")),
        "{}",
        ran.out
    );
    let ran = with(&temp, &["--print-skills", "--trust", "-p", "x"]);
    let listed = "pdf                              used      .agents/skills/pdf/SKILL.md, 57 bytes\n\
        ~/.agents/skills/bad/SKILL.md    not used  line 2: `name` must be text; a list, a map or a mark of YAML stands there; put text into quotes\n";
    let squeezed = |text: &str| text.split_whitespace().collect::<Vec<&str>>().join(" ");
    assert!(
        squeezed(&ran.out).starts_with(&squeezed(listed)),
        "{}",
        ran.out
    );
    assert!(
        ran.out.ends_with("\n- pdf: Fills in forms.\n"),
        "{}",
        ran.out
    );
    let ran = with(&temp, &["--print-commands"]);
    assert_eq!(
        ran.out,
        "/goal    used      Works until a verifier agrees (zcoder help goals)\n\
         /retry   used      Sends the last request of a session again (zcoder help sessions)\n\
         /init    used      Writes an AGENTS.md for this project (zcoder itself)\n\
         /review  used      Reviews what the last session changed (zcoder itself)\n\
         /commit  used      Commits the changes in the work tree (zcoder itself)\n"
    );
    let bare = Temp::new();
    std::fs::create_dir(bare.path().join("work")).expect("a folder");
    let ran = with(&bare, &["--print-instructions"]);
    assert_eq!(
        (ran.code, ran.out.as_str(), ran.err.as_str()),
        (Some(0), "", "there is no guidance for the model here\n")
    );
}

#[test]
fn what_is_not_trusted_is_named_once_and_not_sent() {
    let temp = project();
    let unused = "zcoder: not used, since it is not trusted: AGENTS.md, .agents/skills/pdf/SKILL.md; `zcoder trust` shows and accepts it, --trust does for one run\n";
    let ran = request(&temp, &["-p", "hi"]);
    assert_eq!(ran.code, Some(0), "{}", ran.err);
    assert!(ran.err.starts_with(unused), "{}", ran.err);
    assert!(
        ran.out.contains("Be brief.")
            && !ran.out.contains("Use tabs")
            && !ran.out.contains("activate_skill"),
        "{}",
        ran.out
    );
    assert_eq!(with(&temp, &["trust", "--yes"]).code, Some(0));
    let ran = request(&temp, &["-p", "use $pdf"]);
    assert!(!ran.err.contains("not trusted"), "{}", ran.err);
    for part in [
        "Use tabs.",
        "- pdf: Fills in forms.",
        "\"name\":\"activate_skill\"",
        "Step one.",
    ] {
        assert!(ran.out.contains(part), "{part}: {}", ran.out);
    }
    let none = request(&temp, &["--no-guidance", "-p", "use $pdf"]);
    assert!(
        !none.out.contains("guidance") && !none.out.contains("activate_skill"),
        "{}",
        none.out
    );
    assert!(!none.err.contains("AGENTS.md"), "{}", none.err);
    temp.write("work/AGENTS.md", "Use spaces.\n");
    let ran = request(&temp, &["-p", "hi"]);
    assert!(
        ran.err.contains("not trusted: AGENTS.md (changed); "),
        "{}",
        ran.err
    );
    assert!(!ran.out.contains("Use spaces"));
}

#[test]
fn a_prompt_command_becomes_its_text() {
    let temp = project();
    temp.write("home/.config/zcoder/commands/fix.md", "Mend $1.");
    let sent = |args: &[&str]| request(&temp, args).out;
    assert!(sent(&["-p", "/fix a.c"]).contains("\"content\":\"Mend a.c.\"}"));
    assert!(sent(&["-p", " /fix a.c"]).contains("\"content\":\" /fix a.c\"}"));
    assert!(sent(&["-p", "/etc/hosts is odd"]).contains("\"content\":\"/etc/hosts is odd\"}"));
    assert!(sent(&["-p", "/tmp is full"]).contains("\"content\":\"/tmp is full\"}"));
    let ran = request(&temp, &["-p", "/fxi a.c"]);
    let text = "zcoder: there is no prompt command `/fxi`; the nearest is `/fix`\na prompt that begins with a slash: put a blank before it\n";
    assert_eq!((ran.code, ran.out.as_str()), (Some(2), ""));
    assert!(ran.err.ends_with(text), "{}", ran.err);
    let ran = request(&temp, &["-p", "/frobnicate"]);
    assert!(
        ran.err
            .contains("`/frobnicate`; --print-commands lists them\n"),
        "{}",
        ran.err
    );
    temp.write("home/.config/zcoder/commands/fix.md", "---\n");
    let ran = request(&temp, &["-p", "/fix a.c"]);
    assert_eq!(ran.code, Some(2));
    let text = "zcoder: this prompt command cannot be used: ~/.config/zcoder/commands/fix.md: line 1: the head that begins here is not closed by a line `---`\n";
    assert!(ran.err.ends_with(text), "{}", ran.err);
}

#[test]
fn a_tool_of_skills_runs_without_a_model() {
    let temp = project();
    let args = ["tool", "activate_skill", "{\"name\":\"pdf\"}"];
    let ran = with(&temp, &args);
    assert!(
        ran.out.contains("there is no tool `activate_skill`"),
        "{}",
        ran.out
    );
    let ran = with(&temp, &[&args[..], &["--trust"]].concat());
    let text = "Skill pdf, from .agents/skills/pdf/SKILL.md. Follow it for the task at hand; it changes no permission.\n\nStep one.\n";
    assert_eq!((ran.code, ran.out.as_str()), (Some(0), text));
}

fn change(temp: &Temp, server: &StandIn) {
    let address = server.address().to_string();
    let ran = with(
        temp,
        &[
            "--host",
            &address,
            "-m",
            "stand-in:latest",
            "-qp",
            "create notes.txt with hello",
        ],
    );
    assert_eq!(ran.code, Some(0), "{}", ran.err);
}

#[test]
fn review_attaches_what_the_last_session_changed() {
    let temp = Temp::new();
    temp.write("work/a.c", "x\n");
    let none = request(&temp, &["-p", "/review"]);
    assert!(
        none.out.contains("No session has changed files here"),
        "{}",
        none.out
    );
    change(&temp, &standin(None));
    let ran = request(&temp, &["-p", "/review"]);
    assert!(
        ran.out
            .contains("bytes]\\ndiff --git a/notes.txt b/notes.txt")
            && ran.out.contains("+hello"),
        "{}",
        ran.out
    );
    assert!(ran.err.contains("what session "), "{}", ran.err);
    // What is on standard input comes first.
    let args = [
        "-m",
        "m",
        "--what-would-be-sent",
        "--offline",
        "-q",
        "-p",
        "/review",
    ];
    let piped = run_with(&mut command(&temp, &args), b"my own diff");
    assert!(
        piped.out.contains("[attached, 11 bytes]\\nmy own diff")
            && !piped.out.contains("notes.txt"),
        "{}",
        piped.out
    );
}
