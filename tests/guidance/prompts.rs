//! Prompt commands: what a prompt means, and how arguments are filled in.

use super::kit::places;
use crate::support::temp::Temp;
use zcoder::guidance::prompts::{Expansion, Prompts};

/// The text that a prompt becomes, or why it stays what it is.
fn expand(prompts: &Prompts, typed: &str) -> String {
    match prompts.expand(typed) {
        Expansion::Plain => "plain".to_string(),
        Expansion::Prompt {
            text,
            attaches_changes,
        } => match attaches_changes {
            true => format!("{text} + changes"),
            false => text,
        },
        Expansion::Unknown { name } => format!("unknown {name}"),
        Expansion::Unusable { shown, why } => format!("{shown}: {why}"),
    }
}

#[test]
fn arguments_go_where_the_text_says() {
    let temp = Temp::new();
    for (template, typed, expected) in [
        ("do $1 and $2", "/x a \"b c\" d", "do a and b c"),
        ("do $1.", "/x", "do ."),
        ("all: $ARGUMENTS!", "/x a  'b'", "all: a  'b'!"),
        ("none", "/x", "none"),
        ("none", "/x a b", "none\n\na b"),
        ("none", "/x\na\nb", "none\n\na\nb"),
        (
            "$100 $1a $ARGUMENTSx $0 $",
            "/x a",
            "$100 $1a $ARGUMENTSx $0 $\n\na",
        ),
        ("$$1 $$ARGUMENTS $$x $1", "/x a", "$1 $ARGUMENTS $$x a"),
        ("$1$1 $2", "/x $2 'it''s", "$2$2 its"),
        ("é$1é $1", "/x ü", "é$1é ü"),
    ] {
        temp.write("config/commands/x.md", template);
        let prompts = Prompts::gather(&places(&temp, true, &[]));
        assert_eq!(expand(&prompts, typed), expected, "{template} | {typed}");
    }
}

#[test]
fn what_only_looks_like_a_command_stays_a_prompt() {
    let temp = Temp::new();
    let prompts = Prompts::gather(&places(&temp, true, &[]));
    for typed in [
        "/etc/hosts is odd",
        "/",
        "/ x",
        "//",
        "/** a comment",
        "/[a-z]/",
        " /review",
        "x /review",
        "",
        "/é",
    ] {
        assert_eq!(expand(&prompts, typed), "plain", "{typed}");
    }
    assert_eq!(expand(&prompts, "/reviw this"), "unknown reviw");
    assert_eq!(expand(&prompts, "/Review"), "unknown Review");
}

#[test]
fn the_workspaces_come_before_the_users_and_those_before_ours() {
    let temp = Temp::new();
    temp.write(
        "work/.zcoder/commands/review.md",
        "---\nattach: changes\n---\ntheirs\n",
    );
    temp.write(
        "work/.zcoder/commands/own.md",
        "\u{feff}---\r\ndescription: 'Does'\r\n---\r\nown\r\n",
    );
    temp.write("config/commands/review.md", "mine");
    temp.write("config/commands/no name.md", "mine");
    temp.write("config/commands/notes.txt", "mine");
    let trusted = Prompts::gather(&places(&temp, true, &[]));
    assert_eq!(expand(&trusted, "/review"), "theirs + changes");
    assert_eq!(expand(&trusted, "/own"), "own");
    assert_eq!(trusted.names(), ["own", "review", "init", "commit"]);
    // What is not trusted hides nothing.
    let prompts = Prompts::gather(&places(&temp, false, &[]));
    assert_eq!(expand(&prompts, "/review"), "mine");
    assert_eq!(
        expand(&prompts, "/own"),
        ".zcoder/commands/own.md: not trusted; `zcoder trust` shows and accepts it"
    );
    assert_eq!(prompts.names(), ["review", "init", "commit"]);
    let bare = Temp::new();
    let ours = Prompts::gather(&places(&bare, true, &[]));
    assert!(
        expand(&ours, "/review only a.rs").ends_with("say so in one sentence. only a.rs + changes")
    );
    for name in ["init", "review", "commit"] {
        let prompt = ours
            .all
            .iter()
            .find(|prompt| prompt.name == name)
            .expect("ours");
        let description = &prompt.content.as_ref().expect("usable").description;
        assert!(!description.is_empty() && description.len() <= 60, "{name}");
    }
}

#[test]
fn a_file_that_cannot_be_used_says_why() {
    let temp = Temp::new();
    temp.write("config/commands/a.md", "---\nname: x\n");
    temp.write("config/commands/b.md", "---\nattach: [x]\n---\nb");
    temp.write("config/commands/c.md", "---\n---\n \n");
    let large = std::fs::File::create(temp.write("config/commands/d.md", "")).expect("a file");
    large.set_len(1 << 30).expect("a large file");
    let prompts = Prompts::gather(&places(&temp, true, &[]));
    let config = temp.path().join("config/commands");
    let file = |name: &str| config.join(name).display().to_string();
    for (typed, expected) in [
        (
            "/a",
            format!(
                "{}: line 1: the head that begins here is not closed by a line `---`",
                file("a.md")
            ),
        ),
        (
            "/b",
            format!(
                "{}: line 2: `attach` must be text; a list, a map or a mark of YAML stands there; put text into quotes",
                file("b.md")
            ),
        ),
        ("/c", format!("{}: it has no text", file("c.md"))),
        ("/d", format!("{}: longer than 262,144 bytes", file("d.md"))),
    ] {
        assert_eq!(expand(&prompts, typed), expected);
    }
}
