//! Every scene against the real client over TCP: what `Backend::chat` makes of it, as one table in `fixtures/standin/scenes.txt`.

use super::server::start;
use std::fs;
use std::path::Path;
use std::process::{Command, Stdio};
use std::thread;
use std::time::Duration;
use zcoder::http::client::Timeouts;
use zcoder::http::{Endpoint, Target};
use zcoder::model::{Backend, Chat, Delays, Error, Options, Reply, Shape, Think};
use zcoder::protocol::{Message, Tap};
use zcoder::standin::{StandIn, scenes};
use zcoder::sys::Cancel;

/// These end by the client's patience, which is short here.
const SILENT: &[&str] = &["silent", "stall", "never-answers"];

/// These wait for seconds in the server; the tests of `model` see to them with their own clocks.
const SLOW: &[&str] = &["late", "gaps"];

/// These change the list of models and nothing in a chat; below.
const LISTS: &[&str] = &[
    "no-tools",
    "no-thinking",
    "two-models",
    "no-models",
    "cloud",
];

const TOOLS: &str = r#"[{"type":"function","function":{"name":"list_files","description":"","parameters":{"type":"object","properties":{}}}}]"#;

fn backend(standin: &StandIn, limit: Duration) -> Backend {
    let (endpoint, _) = Endpoint::parse(&standin.address().to_string()).expect("an address");
    let target = Target::new(endpoint, None, Vec::new()).expect("a target");
    let options = Options {
        timeouts: Timeouts {
            connect: limit,
            first_byte: Some(limit),
            gap: Some(limit),
        },
        delays: Delays {
            busy: Duration::from_millis(10),
            unloading: Duration::from_millis(10),
            ..Delays::default()
        },
        ..Options::new(target)
    };
    Backend::ollama(&options, Tap::default())
}

fn chat(standin: &StandIn, limit: Duration) -> Result<Reply, Error> {
    let backend = backend(standin, limit);
    let shape = Shape {
        model: "stand-in".to_string(),
        window: 16_384,
        think: Some(Think::On),
        max_output: None,
        native_tools: Some(TOOLS.to_string()),
        keep_alive: None,
        temperature: None,
        seed: None,
    };
    let mut body = backend.begin(&shape);
    body.push(&Message::User {
        text: "list files".to_string(),
    });
    let chat = Chat {
        offered: &["list_files"],
        text_style: false,
        new_tokens: 1,
        prompt_speed: None,
    };
    let cancel = Cancel::new().expect("a pipe");
    backend.chat(&shape, &body, &chat, &cancel, &mut |_| {})
}

fn one_line(text: &str) -> String {
    zcoder::text::visible(text).replace('\n', "\\n")
}

/// Long texts by their ends and length.
fn short(text: &str) -> String {
    let text = one_line(text);
    let count = text.chars().count();
    if count <= 120 {
        return text;
    }
    let begin: String = text.chars().take(60).collect();
    format!("{begin}... ({count} characters)")
}

/// One line about a result.
fn outcome(result: Result<Reply, Error>, standin: &StandIn) -> String {
    match result {
        Err(error) => {
            let address = standin.address().to_string();
            let text = error.to_string().replace(&address, "ADDRESS");
            format!("error: {}", one_line(&text))
        }
        Ok(reply) => {
            let calls: Vec<String> = reply
                .calls
                .iter()
                .map(|call| {
                    format!(
                        " | {} {}",
                        short(&call.name),
                        short(&call.arguments.to_string())
                    )
                })
                .collect();
            let tried = reply.tried.map_or(String::new(), |tried| {
                format!(" | tried: {}", short(&tried))
            });
            format!(
                "{:?}: {} | {}{}{tried}{}",
                reply.stop,
                short(&reply.thinking),
                short(&reply.content),
                calls.concat(),
                if reply.recovered { " | recovered" } else { "" }
            )
        }
    }
}

#[test]
fn every_scene_comes_to_what_the_table_says() {
    let names: Vec<&str> = scenes().map(|(name, _)| name).collect();
    let names = names
        .into_iter()
        .filter(|name| !SLOW.contains(name) && !LISTS.contains(name));
    let running: Vec<_> = names
        .map(|name| {
            let limit = if SILENT.contains(&name) { 300 } else { 60_000 };
            let run = move || {
                let standin = start(Some(name));
                outcome(chat(&standin, Duration::from_millis(limit)), &standin)
            };
            (name, thread::spawn(run))
        })
        .collect();
    let mut found = String::new();
    for (name, run) in running {
        let outcome = run.join().expect("no panic");
        found.push_str(&format!("{name:<20} {outcome}\n"));
    }
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("fixtures/standin/scenes.txt");
    if std::env::var_os("UPDATE_GOLDEN").is_some() {
        fs::create_dir_all(path.parent().expect("a folder")).expect("a folder");
        fs::write(&path, &found).expect("the table");
    }
    let expected =
        fs::read_to_string(&path).expect("fixtures/standin/scenes.txt (UPDATE_GOLDEN=1 writes it)");
    for (found, expected) in found.lines().zip(expected.lines()) {
        assert_eq!(found, expected);
    }
    assert_eq!(found.lines().count(), expected.lines().count());
}

#[test]
fn lists_of_models_are_as_the_scene_says() {
    let listed = |scene: &str| {
        let standin = start(Some(scene));
        let backend = backend(&standin, Duration::from_secs(60));
        let models = backend
            .models(&Cancel::new().expect("a pipe"))
            .expect("a list");
        let about = models.into_iter().map(|model| {
            let can = model.capabilities.unwrap_or_default().join("+");
            format!(
                "{} {can} {}",
                model.name,
                model.remote_host.unwrap_or_default()
            )
        });
        about.collect::<Vec<String>>()
    };
    let all = "completion+tools+thinking";
    assert_eq!(listed("no-tools"), ["stand-in:latest completion+thinking "]);
    assert_eq!(listed("no-thinking"), ["stand-in:latest completion+tools "]);
    assert_eq!(listed("no-models"), [""; 0]);
    assert_eq!(
        listed("cloud"),
        [format!("stand-in:cloud {all} https://ollama.com:443")]
    );
    assert_eq!(
        listed("two-models"),
        [
            format!("stand-in:latest {all} "),
            format!("stand-in-small:latest {all} ")
        ]
    );
}

/// The scenes that a correct client does not notice: a whole task goes through them, over the real engine and its tools.
#[test]
fn whole_tasks_go_through_harmless_scenes() {
    let names: Vec<&str> = scenes()
        .filter(|(_, about)| about.contains("harmless") || about.contains("recoverable"))
        .map(|(name, _)| name)
        .filter(|name| {
            !SLOW.contains(name) && *name != "busy-once" && *name != "drip" && *name != "characters"
        })
        .chain([
            "one-byte-chunks",
            "one-byte-writes",
            "tiny-chunks",
            "random-cuts",
            "odd-chunks",
            "unreadable-call",
            "closes-once",
            "call-garbled",
            "think-leaked",
        ])
        .collect();
    assert!(names.len() > 25, "{names:?}");
    for name in names {
        let folder = crate::support::temp::Temp::new();
        let standin = start(Some(name));
        let task =
            "list files, then create b.txt with 'x < y & z', then replace 'x' with 'k' in b.txt";
        let output = Command::new(env!("CARGO_BIN_EXE_zcoder"))
            .args(["-p", task, "--workspace"])
            .arg(folder.path())
            .env("OLLAMA_HOST", standin.address().to_string())
            .stdin(Stdio::null())
            .output()
            .expect("the program");
        let error = String::from_utf8_lossy(&output.stderr).into_owned();
        assert_eq!(output.status.code(), Some(0), "{name}: {error}");
        let text = fs::read_to_string(folder.path().join("b.txt"));
        assert_eq!(text.unwrap_or_default(), "k < y & z\n", "{name}: {error}");
    }
}

#[test]
fn calls_that_must_not_run_do_not_run() {
    for name in ["error-after-call", "call-in-fence"] {
        let folder = crate::support::temp::Temp::new();
        let standin = start(Some(name));
        let output = Command::new(env!("CARGO_BIN_EXE_zcoder"))
            .args(["-p", "run touch made", "--yes", "--quiet", "--workspace"])
            .arg(folder.path())
            .env("OLLAMA_HOST", standin.address().to_string())
            .stdin(Stdio::null())
            .output()
            .expect("the program");
        let error = String::from_utf8_lossy(&output.stderr).into_owned();
        assert!(output.status.code().is_some(), "{name}: {error}");
        let left = fs::read_dir(folder.path()).expect("a folder").count();
        assert_eq!(left, 0, "{name}: {error}");
    }
}
