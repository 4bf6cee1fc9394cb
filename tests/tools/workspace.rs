//! Paths: what resolves to what, and what is refused with which text, on real folders, links, FIFOs, sockets and devices.

use std::os::unix::fs::symlink;
use std::os::unix::net::UnixListener;
use std::path::Path;
use std::process::Command;

use zcoder::tools::{Purpose, Workspace, WsPath};

use crate::support::temp::Temp;

/// `T/ws` with links of every kind, `T/ws2` beside it, `T/ws/.state` off limits.
struct Place {
    temp: Temp,
    workspace: Workspace,
    _socket: UnixListener,
}

impl Place {
    fn new() -> Place {
        let temp = Temp::new();
        let root = temp.path().join("ws");
        temp.write("ws/README.md", "readme");
        temp.write("ws/src/main.rs", "fn main() {}");
        temp.write("ws/notes/a.md", "a");
        temp.write("ws/.state/log", "secret");
        temp.write("ws2/other", "other");
        let link = |name: &str, target: &str| symlink(target, root.join(name)).expect("link");
        link("docs", "notes");
        link("alias.md", "README.md");
        link("up", "src/../notes");
        link("absolute", root.join("src").to_str().expect("UTF-8"));
        link("chain", "docs");
        link("outbox", temp.path().join("ws2").to_str().expect("UTF-8"));
        link("outfile", "../ws2/other");
        link("etc", "/etc");
        link("draft", "gone");
        link("deepdraft", "gone/below");
        link("outdraft", "../ws2/new");
        link("loop", "loop");
        link("ping", "pong");
        link("pong", "ping");
        link("mine", ".state");
        link("back", "../ws/src");
        link("dev", "/dev");
        let fifo = Command::new("mkfifo").arg(root.join("pipe")).status();
        assert!(fifo.expect("mkfifo").success());
        let socket = UnixListener::bind(root.join("sock")).expect("socket");
        symlink("pipe", root.join("pipelink")).expect("link");
        let workspace = Workspace::open(&root, vec![root.join(".state")]).expect("opens");
        Place {
            temp,
            workspace,
            _socket: socket,
        }
    }

    fn resolve(&self, path: &str, purpose: Purpose) -> Result<WsPath, String> {
        let root = self.workspace.root().to_str().expect("UTF-8");
        let path = path.replace("ROOT", root);
        let resolved = self.workspace.resolve(&path, purpose);
        resolved.map_err(|refusal| refusal.0.replace(root, "ROOT"))
    }

    #[track_caller]
    fn leads(&self, path: &str, purpose: Purpose, shown: &str) {
        let resolved = self.resolve(path, purpose).expect("resolves");
        assert_eq!(resolved.shown(), shown);
        let full = match shown {
            "." => self.workspace.root().to_path_buf(),
            shown => self.workspace.root().join(shown),
        };
        assert_eq!(resolved.full(), full);
    }

    #[track_caller]
    fn refuses(&self, path: &str, purpose: Purpose, text: &str) {
        assert_eq!(self.resolve(path, purpose), Err(text.to_string()));
    }

    #[track_caller]
    fn outside(&self, path: &str) {
        for purpose in [Purpose::Read, Purpose::Write, Purpose::Folder] {
            self.refuses(
                path,
                purpose,
                &format!(
                    "`{path}` leads outside the workspace ROOT, and tools work only inside it. Use a path relative to the workspace; \
                     list_files shows what is there."
                ),
            );
        }
    }
}

#[test]
fn paths_inside() {
    let place = Place::new();
    for purpose in [Purpose::Read, Purpose::Write] {
        place.leads("README.md", purpose, "README.md");
        place.leads("./README.md", purpose, "README.md");
        place.leads("src//main.rs", purpose, "src/main.rs");
        place.leads("src/./main.rs", purpose, "src/main.rs");
        place.leads("src/../README.md", purpose, "README.md");
        place.leads("ROOT/src/main.rs", purpose, "src/main.rs");
        place.leads("ROOT/src/../README.md", purpose, "README.md");
        place.leads("../ws/README.md", purpose, "README.md");
        // Links that stay inside lead to the real place.
        place.leads("alias.md", purpose, "README.md");
        place.leads("docs/a.md", purpose, "notes/a.md");
        place.leads("chain/a.md", purpose, "notes/a.md");
        place.leads("up/a.md", purpose, "notes/a.md");
        place.leads("absolute/main.rs", purpose, "src/main.rs");
        place.leads("docs/../src/main.rs", purpose, "src/main.rs");
        place.leads("back/main.rs", purpose, "src/main.rs");
        place.leads("/proc/self/rootROOT/README.md", purpose, "README.md");
    }
    for path in [".", "./", "ROOT", "ROOT/", "src/..", "docs/.."] {
        place.leads(path, Purpose::Folder, ".");
    }
    place.leads("src/", Purpose::Folder, "src");
    place.leads("docs", Purpose::Folder, "notes");
    place.leads("new.txt", Purpose::Write, "new.txt");
    place.leads("a/b/c.txt", Purpose::Write, "a/b/c.txt");
    place.leads("docs/new.txt", Purpose::Write, "notes/new.txt");
    place.leads("back/new.txt", Purpose::Write, "src/new.txt");
    place.leads("tilde~name", Purpose::Write, "tilde~name");
    place.leads("...", Purpose::Write, "...");
    place.leads("ünï cödé 🦀.txt", Purpose::Write, "ünï cödé 🦀.txt");
    let long = "x".repeat(255);
    place.leads(&long, Purpose::Write, &long);
}

#[test]
fn paths_outside() {
    let place = Place::new();
    for path in [
        "/proc/self/root/etc/passwd",
        "/proc/self/root/../etc/passwd",
        "/proc/thread-self/root/etc/passwd",
        "/dev/fd/0",
        "/dev/stdin",
        ".//..//ws2/other",
        "src/.././../ws2/other",
        "..",
        "../",
        "../ws2/other",
        "../ws2",
        "../ws3",
        "src/../../ws2/other",
        "/",
        "/etc/passwd",
        "/etc/does-not-exist/x",
        "/nowhere",
        "outbox",
        "outbox/other",
        "outbox/new",
        "outbox/../ws2/other",
        "outfile",
        "etc/passwd",
        "etc/shadow/x",
        "etc",
        "outdraft",
        "dev/null",
        "dev/tty",
        "/dev/null",
        "/dev/stdin",
        "/proc/self/environ",
        "/proc/self/root/etc/passwd",
        "ROOT/../ws2/other",
        "ROOT2/other",
        "ROOT/outbox/other",
    ] {
        place.outside(path);
    }
    // The nearest name and the permissions out there are not told either.
    place.outside("../ws2/othe");
}

#[test]
fn own_files_are_out_of_reach() {
    let place = Place::new();
    for path in [
        ".state",
        ".state/log",
        "mine/log",
        "mine/new",
        "ROOT/.state/log",
        "src/../.state/log",
        ".state/new/deep",
    ] {
        for purpose in [Purpose::Read, Purpose::Write, Purpose::Folder] {
            place.refuses(
                path,
                purpose,
                &format!(
                    "`{path}` belongs to zcoder itself (its configuration or state), which tools never read or write. Tell the user \
                     what you need to know or to have changed there."
                ),
            );
        }
    }
}

#[test]
fn own_files_need_not_exist_yet() {
    let temp = Temp::new();
    temp.write("ws/a", "");
    symlink(temp.path().join("ws"), temp.path().join("link")).expect("link");
    let own = vec![temp.path().join("link/.config/zcoder")];
    let workspace = Workspace::open(&temp.path().join("ws"), own).expect("opens");
    assert!(workspace.resolve(".config/other", Purpose::Write).is_ok());
    assert!(workspace.resolve(".config/zcoder", Purpose::Write).is_err());
    assert!(
        workspace
            .resolve(".config/zcoder/rules", Purpose::Write)
            .is_err()
    );
}

#[test]
fn own_files_stay_out_of_reach_when_they_are_moved() {
    let place = Place::new();
    let root = place.workspace.root();
    std::fs::rename(root.join(".state"), root.join("elsewhere")).expect("moves");
    symlink("elsewhere", root.join(".state")).expect("link");
    for path in ["elsewhere/log", ".state/log", "elsewhere/new"] {
        let refusal = place.resolve(path, Purpose::Write).expect_err("refused");
        assert!(
            refusal.starts_with(&format!("`{path}` belongs to zcoder itself")),
            "{refusal}"
        );
    }
}

#[test]
fn forty_links_are_followed_and_no_more() {
    let place = Place::new();
    let root = place.workspace.root();
    symlink("README.md", root.join("l1")).expect("link");
    for n in 2..=41 {
        symlink(format!("l{}", n - 1), root.join(format!("l{n}"))).expect("link");
    }
    place.leads("l40", Purpose::Read, "README.md");
    place.refuses(
        "l41",
        Purpose::Read,
        "`l41` goes through more than 40 links (at `l1`), probably in a circle. Use the path of a real file; list_files shows where links \
         lead.",
    );
}

#[test]
fn links_to_nothing_and_in_circles() {
    let place = Place::new();
    for (path, link) in [
        ("draft", "draft"),
        ("deepdraft", "deepdraft"),
        ("draft/x", "draft"),
    ] {
        for purpose in [Purpose::Read, Purpose::Write] {
            place.refuses(
                path,
                purpose,
                &format!(
                    "`{path}` cannot be used: `{link}` is a link to something that does not exist. Use the path of a real file, or a new \
                     name that is no link."
                ),
            );
        }
    }
    for (path, at) in [("loop", "loop"), ("ping", "ping"), ("ping/x", "ping")] {
        place.refuses(
            path,
            Purpose::Write,
            &format!(
                "`{path}` goes through more than 40 links (at `{at}`), probably in a circle. Use the path of a real file; list_files \
                 shows where links lead."
            ),
        );
    }
}

#[test]
fn what_is_no_regular_file_is_named() {
    let place = Place::new();
    for purpose in [Purpose::Read, Purpose::Write] {
        for (path, kind) in [
            ("pipe", "a FIFO"),
            ("pipelink", "a FIFO"),
            ("sock", "a socket"),
        ] {
            place.refuses(
                path,
                purpose,
                &format!("`{path}` is {kind}; tools read and write regular files only. Use the path of a regular file."),
            );
        }
    }
    place.refuses(
        "src",
        Purpose::Read,
        "`src` is a folder. list_files shows what is in it; give read_file the path of a file.",
    );
    place.refuses(
        "docs",
        Purpose::Read,
        "`docs` is a folder. list_files shows what is in it; give read_file the path of a file.",
    );
    place.refuses(
        "src",
        Purpose::Write,
        "`src` is a folder. Give the path of a file in it.",
    );
    place.refuses(
        ".",
        Purpose::Write,
        "`.` is a folder. Give the path of a file in it.",
    );
    place.refuses(
        "README.md",
        Purpose::Folder,
        "`README.md` is a file, not a folder. Give the path of a folder; read_file reads files.",
    );
    place.refuses(
        "pipe",
        Purpose::Folder,
        "`pipe` is a FIFO, not a folder. Give the path of a folder.",
    );
    for purpose in [Purpose::Read, Purpose::Write] {
        place.refuses(
            "README.md/",
            purpose,
            "`README.md/` ends in a slash, but it is a file. Leave the slash off.",
        );
    }
    place.refuses(
        "README.md/x",
        Purpose::Write,
        "`README.md/x` goes through `README.md`, which is a file, not a folder. Choose another path.",
    );
    place.refuses(
        "pipe/x",
        Purpose::Read,
        "`pipe/x` goes through `pipe`, which is a file, not a folder. Give a path that exists; list_files shows them.",
    );
    // Devices inside a workspace: the workspace is /dev itself.
    let dev = Workspace::open(Path::new("/dev"), Vec::new()).expect("opens");
    let refusal = dev.resolve("null", Purpose::Write).expect_err("refused");
    assert_eq!(
        refusal.0,
        "`null` is a device; tools read and write regular files only. Use the path of a regular file."
    );
}

#[test]
fn paths_that_are_no_paths() {
    let place = Place::new();
    place.refuses(
        "",
        Purpose::Read,
        "the path is empty. Give a path relative to the workspace, such as src/main.rs; `.` is the workspace itself.",
    );
    place.refuses(
        "a\0b",
        Purpose::Read,
        "`a\\x00b` holds a NUL character, which no file name can. Give the path without it.",
    );
    for path in ["~", "~/.ssh/id_rsa"] {
        place.refuses(
            path,
            Purpose::Write,
            &format!(
                "`{path}` begins with `~`, which is not expanded here, and a home folder is outside the workspace. Use a path relative \
                 to the workspace."
            ),
        );
    }
    let long = "x".repeat(256);
    let clipped = format!("{}…", "x".repeat(199));
    place.refuses(
        &long,
        Purpose::Write,
        &format!(
            "`{clipped}` has a name of 256 bytes; at most 255 are possible. Choose a shorter name."
        ),
    );
    place.refuses(
        &format!("new/{long}/x"),
        Purpose::Write,
        &format!(
            "`new/{}…` has a name of 256 bytes; at most 255 are possible. Choose a shorter name.",
            "x".repeat(195)
        ),
    );
    let deep = "d/".repeat(3_000) + "x";
    let length = place.workspace.root().as_os_str().len() + 1 + deep.len();
    let length = zcoder::text::grouped(length as u64);
    place.refuses(
        &deep,
        Purpose::Write,
        &format!(
            "`{}…` is a path of {length} bytes; at most 4,095 are possible. Choose a shorter path.",
            &deep[..199]
        ),
    );
    place.refuses(
        "new/",
        Purpose::Write,
        "`new/` ends in a slash and so names a folder. Give the path of a file; its folders are made as needed.",
    );
    place.refuses(
        "gone/../x",
        Purpose::Write,
        "`gone/../x` goes up with `..` from a folder that does not exist. Write the path without `..`.",
    );
    for (path, shown) in [
        ("src\\x.rs", "src\\x.rs"),
        ("a\u{202e}b", "a\\u{202e}b"),
        ("a\nb", "a\\nb"),
        ("a\u{1b}[2J", "a\\x1b[2J"),
    ] {
        place.refuses(
            path,
            Purpose::Write,
            &format!(
                "`{shown}` holds a backslash or a character that does not show. Write `/` between folders and plain letters in names."
            ),
        );
    }
}

#[test]
fn missing_files_are_answered_with_the_nearest_name() {
    let place = Place::new();
    place.refuses(
        "src/mian.rs",
        Purpose::Read,
        "there is no `src/mian.rs` in the workspace. Did you mean `src/main.rs`? list_files shows what is there.",
    );
    place.refuses(
        "scr/main.rs",
        Purpose::Read,
        "there is no `scr/main.rs` in the workspace. Did you mean `src`? list_files shows what is there.",
    );
    place.refuses(
        "Cargo.toml",
        Purpose::Read,
        "there is no `Cargo.toml` in the workspace. list_files shows what is there.",
    );
    place.refuses(
        "src\\main.rs",
        Purpose::Read,
        "there is no `src\\main.rs` in the workspace. Write `/` between folders. list_files shows what is there.",
    );
}

#[test]
fn protected_paths_say_why() {
    let place = Place::new();
    symlink("notes", place.workspace.root().join(".vscode")).expect("link");
    let check = |path: &str, why: Option<&str>| {
        let resolved = place.resolve(path, Purpose::Write).expect("resolves");
        assert_eq!(resolved.protected(), why, "{path}");
    };
    const GIT: Option<&str> = Some("version control runs programs named in its own files");
    const SHELL: Option<&str> = Some("shells run it when they start or enter the folder");
    const CI: Option<&str> = Some("build servers run it, often with secrets");
    const GUIDANCE: Option<&str> = Some("agents take it as instructions");
    for path in [
        ".git/config",
        ".git/hooks/pre-commit",
        "sub/.git/config",
        ".GIT/config",
        ".git",
        "x/.gitmodules",
        ".husky/pre-push",
        "server.git/hooks/update",
        ".jj/repo/config.toml",
        ".svn/x",
        "lefthook.yml",
    ] {
        check(path, GIT);
    }
    for path in [
        ".envrc",
        "a/.envrc",
        ".direnvrc",
        "mise.toml",
        ".bashrc",
        "home/.zshrc",
        ".profile",
        ".config/fish/config.fish",
    ] {
        check(path, SHELL);
    }
    for path in [
        ".github/workflows/x.yml",
        ".gitlab-ci.yml",
        ".circleci/config.yml",
        "Jenkinsfile",
        ".ci/run",
        ".travis.yml",
    ] {
        check(path, CI);
    }
    for path in [
        "AGENTS.md",
        "sub/agents.md",
        "CLAUDE.md",
        ".cursorrules",
        ".github/copilot-instructions.md",
        ".agents/skills/x/SKILL.md",
        ".github/instructions/c.instructions.md",
        ".roo/rules/x.md",
    ] {
        check(path, GUIDANCE);
    }
    check(
        ".ssh/config",
        Some("ssh keys and settings decide who may log in where"),
    );
    const CARGO: Option<&str> = Some("cargo runs programs named in it, whatever it is asked for");
    check("sub/.cargo/config.toml", CARGO);
    check(
        ".exrc",
        Some("editors run programs named in their settings"),
    );
    check(".mcp.json", Some("agents start programs named in it"));
    check(
        ".zcoder/config.json",
        Some("it holds this project's settings for zcoder"),
    );
    // The name protects as much as the place a link leads to.
    check(
        ".vscode/tasks.json",
        Some("editors run programs named in their settings"),
    );
    check("notes/tasks.json", None);
    for path in [
        "src/git/main.rs",
        ".gitignore",
        "src/digit",
        "cargo/config.toml",
        ".github/README.md",
        "bashrc",
        "docs/workflows/x",
        "agents.md.txt",
    ] {
        check(path, None);
    }
}

#[test]
fn a_workspace_that_cannot_be_one() {
    let temp = Temp::new();
    temp.write("file", "x");
    temp.write("own/sessions/x", "x");
    let text = |name: &str| {
        let own = vec![temp.path().join("own")];
        let error = Workspace::open(&temp.path().join(name), own).expect_err("refused");
        error.replace(temp.path().to_str().expect("UTF-8"), "T")
    };
    assert_eq!(text("gone"), "there is no such folder");
    assert_eq!(text("file"), "it is a file, a folder is wanted");
    assert_eq!(
        text("own/sessions"),
        "it lies in T/own, where zcoder keeps its own files"
    );
}

#[test]
fn a_workspace_named_by_a_link_takes_both_names() {
    let temp = Temp::new();
    temp.write("real/a", "a");
    symlink("real", temp.path().join("link")).expect("link");
    let workspace = Workspace::open(&temp.path().join("link"), Vec::new()).expect("opens");
    assert_eq!(workspace.root(), temp.path().join("real"));
    for name in ["link/a", "real/a"] {
        let path = temp.path().join(name);
        let resolved = workspace.resolve(path.to_str().expect("UTF-8"), Purpose::Read);
        assert_eq!(resolved.expect("resolves").shown(), "a");
    }
    assert!(
        workspace
            .resolve(
                &format!("{}/link/new", temp.path().display()),
                Purpose::Write
            )
            .is_ok()
    );
}

#[test]
fn an_opened_file_is_checked_again() {
    let place = Place::new();
    let path = place
        .resolve("src/main.rs", Purpose::Read)
        .expect("resolves");
    assert!(path.open().is_ok());
    // The folder becomes a link to another one with a file of the same name.
    let src = place.workspace.root().join("src");
    std::fs::rename(&src, place.workspace.root().join("moved")).expect("moves");
    place.temp.write("ws2/main.rs", "outside");
    symlink("../ws2", &src).expect("link");
    assert_eq!(
        path.open().map(|_| ()).expect_err("refused").0,
        "`src/main.rs` was exchanged while it was opened. Look at the folder with list_files and try again."
    );
    // The file itself becomes a FIFO.
    let path = place.resolve("README.md", Purpose::Read).expect("resolves");
    let readme = place.workspace.root().join("README.md");
    std::fs::rename(place.workspace.root().join("pipe"), readme).expect("moves");
    assert_eq!(
        path.open().map(|_| ()).expect_err("refused").0,
        "`README.md` cannot be read: is a FIFO. Use another file, or ask the user to mend this one."
    );
}
