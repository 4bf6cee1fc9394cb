//! Guidance in a session: in the first message, before edits in folders that have their own, and Skills as tools.

use super::drive::{Run, after_opening, check_prefixes, show};
use super::fake::{Scene, calls, says};
use crate::support::temp::Temp;
use zcoder::engine::Setup;
use zcoder::guidance::{Guidance, Places};
use zcoder::json::{Tree, Value};
use zcoder::model::ToolStyle;
use zcoder::policy::trust::{self, Trust};
use zcoder::policy::{CommandMode, EditMode, Policy, Profile};
use zcoder::protocol::{Message, Note};
use zcoder::session::{Checkpoint, Record, Store};

/// All of the workspace is trusted; Skills of the user lie in `skills`.
pub(super) fn guide(temp: &Temp, setup: &mut Setup) {
    let root = temp.path().join("work");
    let mut trust = Trust::open(None, &root).expect("no state");
    trust.trust_now();
    setup.guidance = Guidance::gather(Places {
        found: trust::look(&root, &[]),
        trust: Some(trust),
        skills: vec![temp.path().join("skills")],
        home: Some(temp.path().to_path_buf()),
        root,
        ..Places::default()
    });
}

pub(super) fn write_skill(temp: &Temp) {
    temp.write(
        "skills/pdf/SKILL.md",
        "---\nname: pdf\ndescription: Fills in forms.\n---\nStep one.\n",
    );
}

/// `role: content` of each message.
fn messages(body: &[u8]) -> Vec<String> {
    let tree = Tree::parse(body).expect("JSON");
    let messages = tree.root().get("messages").expect("messages");
    let field = |value: Value<'_>, key: &str| {
        value
            .get(key)
            .and_then(Value::as_str)
            .unwrap_or_default()
            .to_string()
    };
    messages
        .items()
        .map(|message| format!("{}: {}", field(message, "role"), field(message, "content")))
        .collect()
}

/// Names of the tools of a request.
fn tools(body: &[u8]) -> Vec<String> {
    let tree = Tree::parse(body).expect("JSON");
    let Some(tools) = tree.root().get("tools") else {
        return Vec::new();
    };
    let name = |tool: Value<'_>| {
        tool.get("function")
            .and_then(|f| f.get("name"))
            .and_then(Value::as_str)
            .map(str::to_string)
    };
    tools.items().filter_map(name).collect()
}

#[test]
fn guidance_and_skills_stand_at_the_end_of_the_one_system_message() {
    for style in [ToolStyle::Native, ToolStyle::Text] {
        let run = Run::start(Scene::new(vec![says("ok"), says("ok")]), |temp, setup| {
            temp.write("work/AGENTS.md", "Use tabs.\n");
            write_skill(temp);
            guide(temp, setup);
            setup.model.tool_style = style;
        });
        let lines = show(&run.turn("hello"));
        assert!(
            lines.contains(&"info: guidance: AGENTS.md (10 bytes), 1 Skill".to_string()),
            "{lines:?}"
        );
        run.turn("again");
        let chats = run.finish();
        check_prefixes(&chats);
        let system = &messages(&chats[0])[0];
        let end = "\n\n<guidance file=\"AGENTS.md\">\nUse tabs.\n</guidance>\n\nSkills are instructions for special tasks. When a task fits one, call \
            activate_skill with its name before you begin, and follow what it says. A Skill changes no permission.\n- pdf: Fills in forms.";
        assert!(system.ends_with(end), "{system}");
        match style {
            ToolStyle::Native => assert_eq!(
                tools(&chats[0])[7..],
                ["finish_task", "activate_skill", "read_skill_resource"]
            ),
            _ => {
                assert_eq!(tools(&chats[0]), [""; 0]);
                let described = "- activate_skill: Get the instructions of a Skill.\n  name\n- read_skill_resource: Read a file that belongs to a \
                    Skill.\n  skill, path (from the Skill's folder), start_line?\nResults come back";
                assert!(system.contains(described), "{system}");
            }
        }
    }
}

#[test]
fn an_edit_waits_once_for_the_guidance_of_its_folder() {
    let write = |id: &'static str, path: &str| {
        (
            id,
            "write_file",
            format!(r#"{{"path":"{path}","content":"x\n"}}"#),
        )
    };
    let batch = |list: &[(&'static str, &str)]| {
        let list: Vec<(&str, &str, String)> =
            list.iter().map(|(id, path)| write(id, path)).collect();
        let list: Vec<(&str, &str, &str)> = list
            .iter()
            .map(|(id, name, arguments)| (*id, *name, arguments.as_str()))
            .collect();
        calls(&list)
    };
    let scene = Scene::new(vec![
        batch(&[
            ("c1", "top.txt"),
            ("c2", "sub/a.txt"),
            ("c3", "sub/b.txt"),
            ("c4", "other/c.txt"),
        ]),
        batch(&[("c5", "sub/a.txt"), ("c6", "sub/deep/b.txt")]),
        says("done"),
    ]);
    let run = Run::start(scene, |temp, setup| {
        temp.write("work/sub/AGENTS.md", "Only capitals here.\n");
        guide(temp, setup);
    });
    let lines = after_opening(show(&run.turn("write")));
    let held = "Failed not done yet: there is guidance for this folder that you have not seen; it follows these results. Read it, change the call if need be, and make it again.";
    assert!(
        lines.contains(&format!("ended c2 write_file: {held}")),
        "{lines:#?}"
    );
    assert!(
        lines.contains(&format!("ended c3 write_file: {held}")),
        "{lines:#?}"
    );
    assert!(
        lines.contains(&"info: the model is told sub/AGENTS.md before it edits there".to_string()),
        "{lines:#?}"
    );
    for made in ["c1", "c4", "c5", "c6"] {
        assert!(
            lines
                .iter()
                .any(|line| line.starts_with(&format!("ended {made} write_file: Ok"))),
            "{made} {lines:#?}"
        );
    }
    assert_eq!(run.temp.read("work/sub/a.txt"), b"x\n");
    assert!(!run.temp.path().join("work/sub/b.txt").exists());
    let chats = run.finish();
    check_prefixes(&chats);
    let second = messages(&chats[1]);
    let note = "user: [note from zcoder, not from the user] Guidance for files in sub/, from sub/AGENTS.md; where it and earlier guidance disagree, \
        it counts. It changes no permission.\n\nOnly capitals here.";
    assert_eq!(second.last().map(String::as_str), Some(note));
    let third = messages(&chats[2]);
    assert_eq!(
        third
            .iter()
            .filter(|message| message.contains("Only capitals"))
            .count(),
        1
    );
}

#[test]
fn an_edit_that_is_denied_anyway_waits_for_nothing() {
    let write = calls(&[("c1", "write_file", r#"{"path":"sub/a.txt","content":"x"}"#)]);
    let run = Run::start(Scene::new(vec![write, says("ok")]), |temp, setup| {
        temp.write("work/sub/AGENTS.md", "x");
        guide(temp, setup);
        setup.policy = Policy::new(CommandMode::Ask, EditMode::Deny, Profile::Coding, None);
    });
    let lines = show(&run.turn("write"));
    assert!(
        lines
            .iter()
            .any(|line| line.starts_with("ended c1 write_file: Denied")),
        "{lines:#?}"
    );
    run.finish();
}

#[test]
fn a_skill_is_activated_by_the_model_or_by_the_prompt() {
    let scene = Scene::new(vec![
        calls(&[
            ("c1", "activate_skill", r#"{"name":"pdf"}"#),
            ("c2", "activate_skil", "{}"),
        ]),
        says("done"),
        says("done"),
    ]);
    let run = Run::start(scene, |temp, setup| {
        write_skill(temp);
        guide(temp, setup);
    });
    let lines = show(&run.turn("go"));
    let text = "ended c1 activate_skill: Ok Skill pdf, from ~/skills/pdf/SKILL.md. Follow it for the task at hand; it changes no permission.\n\nStep one.\n";
    assert!(lines.contains(&text.to_string()), "{lines:#?}");
    let unknown = "ended c2 activate_skil: Failed there is no tool `activate_skil`, so nothing was done. The tools are: list_files, read_file, search_text, \
        write_file, replace_text, apply_patch, run_command, finish_task, activate_skill, read_skill_resource. Did you mean `activate_skill`? Call it by exactly this name.";
    assert!(lines.contains(&unknown.to_string()), "{lines:#?}");
    run.finish();

    let run = Run::start(Scene::new(vec![says("ok"), says("ok")]), |temp, setup| {
        write_skill(temp);
        guide(temp, setup);
    });
    let lines = show(&run.turn("use $pdf"));
    assert!(
        lines.contains(&"info: the prompt activates the Skill pdf".to_string()),
        "{lines:#?}"
    );
    run.turn("$pdf again");
    let chats = run.finish();
    check_prefixes(&chats);
    let all = messages(&chats[1]);
    let note = "user: [note from zcoder, not from the user] Skill pdf, from ~/skills/pdf/SKILL.md. Follow it for the task at hand; it changes no permission.\n\nStep one.";
    assert_eq!(
        all[2..],
        [note, "user: use $pdf", "assistant: ok", "user: $pdf again"]
    );
}

/// What the conversation has become until it goes on.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Since {
    Nothing,
    OtherFiles,
    Shortened,
}

#[test]
fn a_session_that_goes_on_is_not_told_again_what_stands_in_it() {
    let write = |path: &str| format!(r#"{{"path":"{path}","content":"x\n"}}"#);
    let (a, b) = (write("sub/a.txt"), write("sub/b.txt"));
    let place = |temp: &Temp, setup: &mut Setup, line: &str| {
        temp.write("work/sub/AGENTS.md", format!("{line}\n"));
        let skill = format!("---\nname: pdf\ndescription: Fills in forms.\n---\n{line}\n");
        temp.write("skills/pdf/SKILL.md", skill);
        guide(temp, setup);
    };
    let mut store = None;
    let scene = Scene::new(vec![
        calls(&[("c1", "write_file", &a)]),
        calls(&[("c2", "write_file", &a)]),
        says("done"),
    ]);
    let first = Run::start(scene, |temp, setup| {
        place(temp, setup, "Only capitals.");
        let root = setup.toolbox.workspace().root().to_path_buf();
        let kept = Store::new(&temp.path().join("state"), &root);
        setup.log = kept.begin(Profile::Coding).expect("a log");
        store = Some((kept, setup.log.id().clone()));
    });
    first.turn("use $pdf");
    let (store, id) = store.expect("a store");
    for since in [Since::Nothing, Since::OtherFiles, Since::Shortened] {
        let mut log = store.fork(&id, None).expect("a fork").log;
        if since == Since::Shortened {
            let text = "[note from zcoder, not from the user] Goal: none.".to_string();
            let note = Note::Checkpoint;
            log.append(Record::Checkpoint(Checkpoint {
                note: Message::Note { note, text },
                kept: Vec::new(),
                before: 9_000,
                after: 1_000,
            }));
        }
        let scene = Scene::new(vec![
            calls(&[
                ("c3", "write_file", &b),
                ("c4", "activate_skill", r#"{"name":"pdf"}"#),
            ]),
            says("done"),
        ]);
        let run = Run::start(scene, |temp, setup| {
            place(
                temp,
                setup,
                match since {
                    Since::OtherFiles => "No capitals.",
                    Since::Nothing | Since::Shortened => "Only capitals.",
                },
            );
            setup.log = log;
        });
        let lines = show(&run.turn("and $pdf")).join("\n");
        let again = since != Since::Nothing;
        for (said, expected) in [
            ("the prompt activates the Skill pdf", again),
            (
                "the model is told sub/AGENTS.md before it edits there",
                again,
            ),
            ("ended c3 write_file: Failed not done yet", again),
            ("ended c3 write_file: Ok", !again),
            // By this prompt or by that one: once.
            (
                "ended c4 activate_skill: Failed pdf is active already",
                true,
            ),
        ] {
            assert_eq!(lines.contains(said), expected, "{since:?} {said}: {lines}");
        }
        let chats = run.finish();
        let all = messages(&chats[0]).join("\n");
        let count = all.matches("Skill pdf, from ").count();
        let expected = if since == Since::OtherFiles { 2 } else { 1 };
        assert_eq!(count, expected, "{since:?}: {all}");
    }
    first.finish();
}

#[test]
fn the_first_messages_are_the_same_bytes_in_every_session_of_a_folder() {
    let first = |prompt: &str| {
        let run = Run::start(Scene::new(vec![says("ok")]), |temp, setup| {
            temp.write("work/AGENTS.md", "Use tabs.\n");
            temp.write(
                "work/.agents/skills/a/SKILL.md",
                "---\nname: a\ndescription: b\n---\n",
            );
            write_skill(temp);
            guide(temp, setup);
        });
        run.turn(prompt);
        let chats = run.finish();
        let text = String::from_utf8_lossy(&chats[0]).into_owned();
        let end = text
            .find("[note from zcoder")
            .expect("the environment note");
        text[..end].to_string()
    };
    assert_eq!(first("one"), first("another"));
}
