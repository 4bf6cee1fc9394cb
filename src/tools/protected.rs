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

use crate::text::Words;

const GIT: &str = "version control runs programs named in its own files";
const SHELL: &str = "shells run it when they start or enter the folder";
const SSH: &str = "ssh keys and settings decide who may log in where";
const EDITOR: &str = "editors run programs named in their settings";
const CI: &str = "build servers run it, often with secrets";
const BUILD: &str = "cargo runs programs named in it, whatever it is asked for";
const MCP: &str = "agents start programs named in it";
const GUIDANCE: &str = "agents take it as instructions";
const OWN: &str = "it holds this project's settings for zcoder";

/// Folders: everything below them, and the name itself.
const FOLDERS: &[(Words, &str)] = &[
    (Words(".git .hg .svn .jj .husky"), GIT),
    (Words(".ssh"), SSH),
    (Words(".vscode .idea .zed .devcontainer"), EDITOR),
    (Words(".circleci .buildkite .woodpecker .ci"), CI),
    (
        Words(".agents .claude .codex .cursor .gemini .windsurf .roo .kiro .junie .opencode"),
        GUIDANCE,
    ),
    (Words(".zcoder"), OWN),
];

/// Folders of two names.
const PAIRS: &[(Words, &str)] = &[
    (
        Words(".github/workflows .github/actions .gitea/workflows .forgejo/workflows"),
        CI,
    ),
    (Words(".config/fish"), SHELL),
    (Words(".cargo/config .cargo/config.toml"), BUILD),
    (
        Words(
            ".github/copilot-instructions.md .github/instructions .github/prompts .github/agents",
        ),
        GUIDANCE,
    ),
];

/// Files.
const FILES: &[(Words, &str)] = &[
    (
        Words(
            ".gitmodules .gitattributes .gitconfig .pre-commit-config.yaml lefthook.yml .lefthook.yml",
        ),
        GIT,
    ),
    (
        Words(
            ".envrc .direnvrc mise.toml .mise.toml .bashrc .bash_profile .bash_login .bash_logout .bash_aliases .profile .zshrc .zshenv .zprofile .zlogin .zlogout \
             .kshrc .cshrc .tcshrc .login .inputrc .xprofile",
        ),
        SHELL,
    ),
    (
        Words(
            ".gitlab-ci.yml .travis.yml .drone.yml .woodpecker.yml .cirrus.yml .appveyor.yml appveyor.yml jenkinsfile \
             azure-pipelines.yml bitbucket-pipelines.yml",
        ),
        CI,
    ),
    (Words(".exrc .nvimrc .nvim.lua .dir-locals.el"), EDITOR),
    (Words(".mcp.json mcp.json"), MCP),
    (
        Words(
            "agents.md agents.override.md claude.md claude.local.md gemini.md .cursorrules .windsurfrules .clinerules",
        ),
        GUIDANCE,
    ),
];

/// Why a write to this path (relative, `/` between names) asks.
pub(super) fn reason(path: &str) -> Option<&'static str> {
    let path = path.to_ascii_lowercase();
    let names: Vec<&str> = path.split('/').collect();
    // `server.git` is a repository without files.
    let bare = names
        .iter()
        .any(|name| name.ends_with(".git"))
        .then_some(GIT);
    let folder = names
        .iter()
        .find_map(|name| look_up(FOLDERS, name))
        .or(bare);
    let mut pairs = names.windows(2).map(|two| two.join("/"));
    let pair = pairs.find_map(|pair| look_up(PAIRS, &pair));
    let file = names.last().and_then(|name| look_up(FILES, name));
    folder.or(pair).or(file)
}

fn look_up(table: &[(Words, &'static str)], name: &str) -> Option<&'static str> {
    let row = table.iter().find(|row| row.0.contains(name));
    row.map(|row| row.1)
}
