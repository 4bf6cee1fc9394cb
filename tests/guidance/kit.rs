//! Guidance of a workspace in a folder of its own: `work` in it is the workspace, `home` the user's home, `config` our configuration.

use crate::support::temp::Temp;
use zcoder::guidance::{Guidance, Places};
use zcoder::json::Tree;
use zcoder::policy::trust::{self, Trust};
use zcoder::protocol::{CallId, ToolCall, ToolStatus};

/// Where it comes from. With `trusted` all of the workspace counts.
pub(crate) fn places(temp: &Temp, trusted: bool, names: &[&str]) -> Places {
    let root = temp.path().join("work");
    std::fs::create_dir_all(&root).expect("workspace");
    let names: Vec<String> = names.iter().map(|name| name.to_string()).collect();
    let mut trust = Trust::open(Some(&temp.path().join("state")), &root).expect("readable");
    if trusted {
        trust.trust_now();
    }
    Places {
        config: Some(temp.path().join("config")),
        skills: vec![
            temp.path().join("home/.agents/skills"),
            temp.path().join("home/.config/agents/skills"),
        ],
        home: Some(temp.path().join("home")),
        found: trust::look(&root, &names),
        trust: Some(trust),
        names,
        root,
    }
}

pub(crate) fn gather(temp: &Temp) -> Guidance {
    Guidance::gather(places(temp, true, &[]))
}

/// A call, its status and its text.
pub(crate) fn call(
    guidance: &mut Guidance,
    name: &str,
    arguments: &str,
) -> Option<(ToolStatus, String)> {
    let call = ToolCall {
        id: CallId("c".to_string()),
        name: name.to_string(),
        arguments: Tree::parse(arguments.as_bytes()).expect("JSON"),
    };
    let outcome = guidance.call(&call)?;
    Some((outcome.status, outcome.text))
}

/// A Skill's file.
pub(crate) fn skill(name: &str, description: &str, body: &str) -> String {
    format!("---\nname: {name}\ndescription: {description}\n---\n{body}")
}

/// What stands at the end of the system message.
pub(crate) fn system(guidance: &Guidance) -> String {
    let (agents, skills) = guidance.parts();
    let parts = [agents, skills].into_iter().filter(|part| !part.is_empty());
    parts.collect::<Vec<String>>().join("\n\n")
}
