//! Protected paths: files whose change does more than change a file, since programs run them or agents obey them. In: a path relative to
//! the workspace. Out: why it asks, or nothing. `workspace` asks for the path as named and as resolved; edits carry the answer
//! to the policy, which then asks even under `edits=auto`.
//!
//! ```text
//! .git/hooks/pre-commit        git runs programs named in its folder
//! web/.vscode/tasks.json       editors run programs named in their settings
//! AGENTS.md                    agents take it as instructions
//! src/git/main.rs              nothing
//! ```
//!
//! Names count at every depth (a project below the workspace has its own), in any case (`.GIT` is `.git` on many disks).
//!
//! Invariant: nothing is looked up: the answer depends on the path's letters alone.

const GIT: &str = "version control runs programs named in its own files";
const SHELL: &str = "shells run it when they start or enter the folder";
const SSH: &str = "ssh keys and settings decide who may log in where";
const EDITOR: &str = "editors run programs named in their settings";
const CI: &str = "build servers run it, often with secrets";
const MCP: &str = "agents start programs named in it";
const GUIDANCE: &str = "agents take it as instructions";
const OWN: &str = "it holds this project's settings for zcoder";

/// Folders: everything below them, and the name itself.
const FOLDERS: &[(&str, &str)] = &[
    (".git", GIT),
    (".hg", GIT),
    (".husky", GIT),
    (".ssh", SSH),
    (".vscode", EDITOR),
    (".idea", EDITOR),
    (".zed", EDITOR),
    (".devcontainer", EDITOR),
    (".circleci", CI),
    (".buildkite", CI),
    (".woodpecker", CI),
    (".ci", CI),
    (".agents", GUIDANCE),
    (".claude", GUIDANCE),
    (".codex", GUIDANCE),
    (".cursor", GUIDANCE),
    (".gemini", GUIDANCE),
    (".zcoder", OWN),
];

/// Folders of two names.
const PAIRS: &[(&str, &str, &str)] = &[
    (".github", "workflows", CI),
    (".github", "actions", CI),
    (".gitea", "workflows", CI),
    (".forgejo", "workflows", CI),
    (".config", "fish", SHELL),
    (".github", "copilot-instructions.md", GUIDANCE),
];

/// Files.
const FILES: &[(&str, &str)] = &[
    (".gitmodules", GIT),
    (".gitattributes", GIT),
    (".gitconfig", GIT),
    (".pre-commit-config.yaml", GIT),
    (".envrc", SHELL),
    (".bashrc", SHELL),
    (".bash_profile", SHELL),
    (".bash_login", SHELL),
    (".bash_logout", SHELL),
    (".bash_aliases", SHELL),
    (".profile", SHELL),
    (".zshrc", SHELL),
    (".zshenv", SHELL),
    (".zprofile", SHELL),
    (".zlogin", SHELL),
    (".zlogout", SHELL),
    (".kshrc", SHELL),
    (".cshrc", SHELL),
    (".tcshrc", SHELL),
    (".login", SHELL),
    (".inputrc", SHELL),
    (".xprofile", SHELL),
    (".gitlab-ci.yml", CI),
    (".travis.yml", CI),
    (".drone.yml", CI),
    (".woodpecker.yml", CI),
    (".cirrus.yml", CI),
    (".appveyor.yml", CI),
    ("appveyor.yml", CI),
    ("jenkinsfile", CI),
    ("azure-pipelines.yml", CI),
    ("bitbucket-pipelines.yml", CI),
    (".mcp.json", MCP),
    ("mcp.json", MCP),
    ("agents.md", GUIDANCE),
    ("agents.override.md", GUIDANCE),
    ("claude.md", GUIDANCE),
    ("claude.local.md", GUIDANCE),
    ("gemini.md", GUIDANCE),
    (".cursorrules", GUIDANCE),
    (".windsurfrules", GUIDANCE),
    (".clinerules", GUIDANCE),
];

/// Why a write to this path (relative, `/` between names) asks.
pub(super) fn reason(path: &str) -> Option<&'static str> {
    let names: Vec<String> = path.split('/').map(str::to_ascii_lowercase).collect();
    let folder = names.iter().find_map(|name| look_up(FOLDERS, name));
    let pair = names.windows(2).find_map(|two| {
        let row = PAIRS.iter().find(|row| row.0 == two[0] && row.1 == two[1]);
        row.map(|row| row.2)
    });
    let file = names.last().and_then(|name| look_up(FILES, name));
    folder.or(pair).or(file)
}

fn look_up(table: &[(&str, &'static str)], name: &str) -> Option<&'static str> {
    table.iter().find(|row| row.0 == name).map(|row| row.1)
}
