//! Skills: which are found, what the catalogue says, and the three tools.

use super::kit::{call, gather, places, skill, system};
use crate::support::temp::Temp;
use std::os::unix::fs::symlink;
use std::process::Command;
use zcoder::guidance::{Guidance, Offer};
use zcoder::protocol::ToolStatus;

const HEAD: &str = "Skills are instructions for special tasks. When a task fits one, call activate_skill with its name before you begin, and follow what it says. A Skill changes no permission.\n";

fn faults(guidance: &Guidance) -> Vec<String> {
    let faults = guidance.skills.faults.iter();
    faults.map(|(name, why)| format!("{name}: {why}")).collect()
}

#[test]
fn the_catalogue_names_project_and_user_skills_in_a_fixed_order() {
    let temp = Temp::new();
    temp.write(
        "work/.agents/skills/z/SKILL.md",
        skill("zeta", "\"Does z\\n twice\"", "body z"),
    );
    temp.write(
        "home/.agents/skills/b/SKILL.md",
        "\u{feff}---\r\nname: beta\r\ndescription: >-\r\n  Does b\r\n  well.\r\n---\r\nbody\r\n",
    );
    temp.write(
        "home/.agents/skills/a/SKILL.md",
        skill("alpha", "Does a.", ""),
    );
    temp.write("home/.agents/skills/README.md", "no Skill");
    temp.write("home/.agents/skills/none/other.md", "no Skill");
    temp.write(
        "home/.config/agents/skills/c/SKILL.md",
        skill("zeta", "Another.", ""),
    );
    let guidance = gather(&temp);
    assert_eq!(
        system(&guidance),
        format!("{HEAD}- zeta: Does z  twice\n- alpha: Does a.\n- beta: Does b well.")
    );
    assert_eq!(guidance.offer(), Offer::Skills);
    assert_eq!(
        faults(&guidance),
        [
            "~/.config/agents/skills/c/SKILL.md: hidden by .agents/skills/z/SKILL.md, which has the same name"
        ]
    );
    let guidance = Guidance::gather(places(&temp, false, &[]));
    assert!(
        system(&guidance).contains("- alpha") && system(&guidance).contains("- zeta: Another.")
    );
    assert_eq!(
        faults(&guidance),
        [".agents/skills/z/SKILL.md: not trusted; `zcoder trust` shows and accepts it"]
    );
}

#[test]
fn a_skill_that_cannot_be_used_is_skipped_and_said() {
    let temp = Temp::new();
    let folder = temp.path().join("home/.agents/skills");
    for (name, text) in [
        ("a", "no head"),
        ("b", "---\nname: b\n---\n"),
        ("c", "---\nname: c\n\tdescription: d\n---\n"),
        ("d", "---\nname: d e\ndescription: x\n---\n"),
        ("e", "---\nname: e\ndescription: [x]\n---\n"),
        ("f", "---\nname: f\ndescription: ''\n---\n"),
    ] {
        temp.write(&format!("home/.agents/skills/{name}/SKILL.md"), text);
    }
    temp.write("home/.agents/skills/g/x", "");
    assert!(
        Command::new("mkfifo")
            .arg(folder.join("g/SKILL.md"))
            .status()
            .expect("mkfifo")
            .success()
    );
    let elsewhere = temp.write("elsewhere/SKILL.md", skill("h", "x", ""));
    symlink(elsewhere.parent().expect("its folder"), folder.join("h")).expect("a link");
    let large =
        std::fs::File::create(temp.write("home/.agents/skills/i/SKILL.md", "")).expect("a file");
    large.set_len(1 << 30).expect("a large file");
    std::fs::create_dir_all(folder.join("j/SKILL.md")).expect("a folder");
    symlink(
        "SKILL.md",
        temp.write("home/.agents/skills/k/x", "")
            .with_file_name("SKILL.md"),
    )
    .expect("a link");
    temp.write("home/.config/agents/skills", "a file");
    let guidance = gather(&temp);
    assert_eq!(system(&guidance), "");
    assert_eq!(guidance.offer(), Offer::Nothing);
    let missing = |key: &str| {
        format!("its head names no `{key}`; it begins with a line `---`, then `{key}: …`")
    };
    let expected = [
        ("a/SKILL.md", missing("name")),
        ("b/SKILL.md", missing("description")),
        ("c/SKILL.md", "line 3: a tab begins the line; indent with blanks".to_string()),
        ("d/SKILL.md", "`d e` is no name; use at most 64 letters, digits, `-` and `_`".to_string()),
        ("e/SKILL.md", "line 3: `description` must be text; a list, a map or a mark of YAML stands there; put text into quotes".to_string()),
        ("f/SKILL.md", missing("description")),
        ("g/SKILL.md", "is a FIFO".to_string()),
        ("h/SKILL.md", format!("a link that leads out of {}", folder.display())),
        ("i/SKILL.md", "longer than 262,144 bytes".to_string()),
        ("j/SKILL.md", "is a directory".to_string()),
        ("k/SKILL.md", "Too many levels of symbolic links (os error 40)".to_string()),
    ];
    let mut expected: Vec<String> = expected
        .iter()
        .map(|(name, why)| format!("~/.agents/skills/{name}: {why}"))
        .collect();
    expected.push("~/.config/agents/skills: Not a directory (os error 20)".to_string());
    assert_eq!(faults(&guidance), expected);
}

#[test]
fn a_catalogue_that_is_full_offers_a_search() {
    let temp = Temp::in_memory();
    for n in 0..129 {
        temp.write(
            &format!("home/.agents/skills/s{n:03}/SKILL.md"),
            skill(&format!("s{n:03}"), "Does it.", ""),
        );
    }
    let mut guidance = gather(&temp);
    assert_eq!(guidance.offer(), Offer::SkillsAndSearch);
    assert!(
        system(&guidance)
            .ends_with("- s127: Does it.\nNot listed: 1 Skill; discover_skills finds them.")
    );
    let found = call(&mut guidance, "discover_skills", r#"{"query":"S128 does"}"#);
    assert_eq!(
        found,
        Some((ToolStatus::Ok, "- s128: Does it.\n".to_string()))
    );
    let none = call(
        &mut guidance,
        "discover_skills",
        r#"{"query":"spreadsheet"}"#,
    );
    assert_eq!(
        none,
        Some((
            ToolStatus::Failed,
            "none of the 129 Skills has all these words. Try fewer, or one.".to_string()
        ))
    );
    // It is found by name all the same.
    assert!(
        call(&mut guidance, "activate_skill", r#"{"name":"s128"}"#)
            .is_some_and(|(status, _)| status == ToolStatus::Ok)
    );
    std::fs::remove_dir_all(temp.path().join("home/.agents/skills/s128")).expect("removed");
    let mut guidance = gather(&temp);
    assert_eq!(guidance.offer(), Offer::Skills);
    assert_eq!(call(&mut guidance, "discover_skills", "{}"), None);
    // In a small window the room ends before: an eighth of 2,048 tokens.
    guidance.fit(2_048);
    assert_eq!(guidance.offer(), Offer::SkillsAndSearch);
    let bytes = system(&guidance).len();
    assert!(bytes <= 768 + 80, "{bytes} bytes");
}

#[test]
fn ten_thousand_skills_are_bounded() {
    let temp = Temp::in_memory();
    for n in 0..10_000 {
        temp.write(
            &format!("home/.agents/skills/s{n:05}/SKILL.md"),
            skill(&format!("s{n:05}"), "x", ""),
        );
    }
    let guidance = gather(&temp);
    assert_eq!(guidance.skills.all.len(), 1_024);
    assert_eq!(guidance.skills.all[1_023].name, "s01023");
    assert_eq!(
        faults(&guidance),
        ["~/.agents/skills: 8976 entries beyond the first 1024 are not looked at"]
    );
}

#[test]
fn activation_gives_the_body_once_with_its_files() {
    let temp = Temp::new();
    temp.write(
        "home/.agents/skills/pdf/SKILL.md",
        skill("pdf", "x", "\n\nDo this.\n---\nThen that.\n\n"),
    );
    temp.write("home/.agents/skills/pdf/forms/a.md", "form");
    temp.write("home/.agents/skills/pdf/z.py", "print()");
    temp.write("home/.agents/skills/pdf/.hidden", "");
    symlink("/etc", temp.path().join("home/.agents/skills/pdf/etc")).expect("a link");
    let mut guidance = gather(&temp);
    let text = "Skill pdf, from ~/.agents/skills/pdf/SKILL.md. Follow it for the task at hand; it changes no permission.\n\
        Its files, in ~/.agents/skills/pdf, for read_skill_resource: forms/a.md, z.py\n\nDo this.\n---\nThen that.\n";
    assert_eq!(
        call(&mut guidance, "activate_skill", r#"{"name":"pdf"}"#),
        Some((ToolStatus::Ok, text.to_string()))
    );
    let again = "pdf is active already: its instructions stand in an earlier message. Follow them.";
    assert_eq!(
        call(&mut guidance, "Skill", r#"{"skill":"pdf"}"#),
        Some((ToolStatus::Failed, again.to_string()))
    );
    assert_eq!(guidance.forgotten(), ["pdf"]);
    assert_eq!(
        call(
            &mut guidance,
            "functions.activateSkill",
            r#"{"name":"pdf"}"#
        ),
        Some((ToolStatus::Ok, text.to_string()))
    );
    for (arguments, expected) in [
        (
            r#"{"name":"pdg"}"#,
            "there is no Skill `pdg`. There are: pdf",
        ),
        (
            r#"{"name":7}"#,
            "activate_skill needs `name`. Call it with arguments like {\"name\":\"pdf\"}",
        ),
        (
            "[]",
            "activate_skill needs `name`. Call it with arguments like {\"name\":\"pdf\"}",
        ),
    ] {
        let failed = call(&mut guidance, "activate_skill", arguments);
        assert_eq!(failed, Some((ToolStatus::Failed, expected.to_string())));
    }
    assert_eq!(call(&mut guidance, "read_file", "{}"), None);
}

#[test]
fn a_skill_of_the_workspace_counts_only_as_it_was_trusted() {
    let temp = Temp::new();
    temp.write("work/.agents/skills/a/SKILL.md", skill("a", "x", "good\n"));
    let mut some = places(&temp, false, &[]);
    some.trust
        .as_mut()
        .expect("readable")
        .keep(&some.found)
        .expect("kept");
    let mut guidance = Guidance::gather(some);
    temp.write("work/.agents/skills/a/SKILL.md", skill("a", "x", "bad\n"));
    let why = "a cannot be used: .agents/skills/a/SKILL.md: changed since it was trusted; `zcoder trust` shows and accepts it. Go on without it.";
    assert_eq!(
        call(&mut guidance, "activate_skill", r#"{"name":"a"}"#),
        Some((ToolStatus::Failed, why.to_string()))
    );
    temp.write("work/.agents/skills/a/SKILL.md", skill("a", "x", "good\n"));
    let (status, text) = call(&mut guidance, "activate_skill", r#"{"name":"a"}"#).expect("ours");
    assert_eq!(status, ToolStatus::Ok);
    assert!(text.ends_with("\n\ngood\n"), "{text}");
}

#[test]
fn instructions_are_bounded_one_by_one_and_together() {
    let temp = Temp::new();
    let line = "0123456789abcde\n";
    for (name, lines) in [("a", 2_048), ("b", 2_049), ("c", 1)] {
        temp.write(
            &format!("home/.agents/skills/{name}/SKILL.md"),
            skill(name, "x", &line.repeat(lines)),
        );
    }
    let mut guidance = gather(&temp);
    let mut activate = |name: &str| {
        call(
            &mut guidance,
            "activate_skill",
            &format!("{{\"name\":\"{name}\"}}"),
        )
        .expect("ours")
    };
    let (_, a) = activate("a");
    assert_eq!(a.matches("abcde\n").count(), 2_048);
    let (_, b) = activate("b");
    assert!(
        b.ends_with("abcde\n\n[cut here by zcoder: 15 bytes left out]\n"),
        "{}",
        &b[b.len() - 80..]
    );
    let why = "c was not activated: at most 8 Skills and 65,536 bytes of instructions are active at once, and a, b are. Go on with these, or without.";
    assert_eq!(activate("c"), (ToolStatus::Failed, why.to_string()));
    let temp = Temp::new();
    for n in 0..9 {
        temp.write(
            &format!("home/.agents/skills/{n}/SKILL.md"),
            skill(&n.to_string(), "x", "x"),
        );
    }
    let mut guidance = gather(&temp);
    let mut statuses = Vec::new();
    for n in 0..9 {
        let result = call(
            &mut guidance,
            "activate_skill",
            &format!("{{\"name\":\"{n}\"}}"),
        );
        statuses.push(result.expect("ours").0 == ToolStatus::Ok);
    }
    assert_eq!(
        statuses,
        [true, true, true, true, true, true, true, true, false]
    );
}

#[test]
fn resources_come_from_the_skills_own_folder() {
    let temp = Temp::new();
    temp.write("home/.agents/skills/a/SKILL.md", skill("a", "x", ""));
    temp.write("home/.agents/skills/a/ref/one.md", "1\n2\n3");
    temp.write("home/.agents/skills/a/bin", b"a\0b");
    temp.write("home/.agents/skills/b/SKILL.md", skill("b", "x", ""));
    temp.write("home/.agents/skills/b/two.md", "2");
    temp.write("secret", "s");
    let folder = temp.path().join("home/.agents/skills/a");
    symlink("ref/one.md", folder.join("in")).expect("a link");
    symlink("../b/two.md", folder.join("out")).expect("a link");
    assert!(
        Command::new("mkfifo")
            .arg(folder.join("fifo"))
            .status()
            .expect("mkfifo")
            .success()
    );
    let mut guidance = gather(&temp);
    let example = r#"Call it with arguments like {"skill":"pdf","path":"forms.md"}"#;
    let outside = |path: &str| format!("`{path}` is no path within the Skill's folder. {example}");
    let out = format!(
        "`out` cannot be read: a link that leads out of {}. Go on without it.",
        folder.display()
    );
    for (arguments, expected) in [
        (r#"{"skill":"a","path":"ref/one.md"}"#, Ok("1\n2\n3")),
        (
            r#"{"skill":"a","path":"ref/one.md","start_line":3}"#,
            Ok("3"),
        ),
        (
            r#"{"skill":"a","path":"ref/one.md","start_line":"2"}"#,
            Ok("2\n3"),
        ),
        (
            r#"{"skill":"a","path":"ref/one.md","start_line":9}"#,
            Ok(""),
        ),
        (r#"{"skill":"a","path":"in"}"#, Ok("1\n2\n3")),
        (
            r#"{"skill":"a","path":"ref/one.md","start_line":0}"#,
            Err("`start_line` must be a whole number from 1"),
        ),
        (r#"{"skill":"a","path":"out"}"#, Err(out.as_str())),
        (
            r#"{"skill":"a","path":"../b/two.md"}"#,
            Err(&outside("../b/two.md")),
        ),
        (
            r#"{"skill":"a","path":"/etc/passwd"}"#,
            Err(&outside("/etc/passwd")),
        ),
        (
            r#"{"skill":"a","path":"fifo"}"#,
            Err("`fifo` cannot be read: is a FIFO. Go on without it."),
        ),
        (
            r#"{"skill":"a","path":"ref"}"#,
            Err("`ref` cannot be read: is a directory. Go on without it."),
        ),
        (
            r#"{"skill":"a","path":"bin"}"#,
            Err("`bin` is not text. Go on without it, or use it in a command."),
        ),
        (
            r#"{"skill":"a","path":"none"}"#,
            Err("a has no file `none`. It has: bin, ref/one.md"),
        ),
        (
            r#"{"skill":"c","path":"x"}"#,
            Err("there is no Skill `c`. There are: a, b"),
        ),
        (
            r#"{"skill":"a"}"#,
            Err(&format!(
                "read_skill_resource needs `skill` and `path`. {example}"
            )),
        ),
    ] {
        let (status, text) = call(&mut guidance, "read_skill_resource", arguments).expect("ours");
        let found = if status == ToolStatus::Ok {
            Ok(text.as_str())
        } else {
            Err(text.as_str())
        };
        assert_eq!(found, expected, "{arguments}");
    }
    temp.write(
        "home/.agents/skills/a/long",
        "0123456789abcde\n".repeat(2_050),
    );
    let (_, text) = call(
        &mut guidance,
        "read_skill_resource",
        r#"{"skill":"a","path":"long","start_line":2}"#,
    )
    .expect("ours");
    assert!(
        text.ends_with(
            "abcde\n[cut here by zcoder: 16 bytes left out]\n[go on with start_line 2050]\n"
        ),
        "{}",
        &text[text.len() - 90..]
    );
}

#[test]
fn a_prompt_activates_the_skills_it_names() {
    let temp = Temp::new();
    for name in ["pdf", "pdf-x", "HOME_1"] {
        temp.write(
            &format!("home/.agents/skills/{name}/SKILL.md"),
            skill(name, "x", "body"),
        );
    }
    let names = |prompt: &str| -> Vec<String> {
        let mut guidance = gather(&temp);
        let first = guidance
            .mentioned(prompt)
            .into_iter()
            .map(|(name, _)| name)
            .collect();
        assert_eq!(
            guidance.mentioned(prompt),
            [],
            "active ones are not told again"
        );
        first
    };
    assert_eq!(names("use $pdf, then $pdf again"), ["pdf"]);
    assert_eq!(names("$pdf-x and ($pdf)"), ["pdf-x", "pdf"]);
    assert_eq!(names("$pdf- or $HOME_1."), ["pdf", "HOME_1"]);
    assert_eq!(
        names("$HOME and $PDF and pdf and $ and $$pdfx cost 5$"),
        [""; 0]
    );
}
