//! The benchmarks, with a harness of their own (`measure.rs`). Their corpora are generated, so nothing has to be fetched.
//!
//! ```text
//! cargo bench                              every group: MB/s and the ratio to a bound measured in the same run
//! cargo bench -- json                      one group
//! cargo bench -- smoke                     everything once, in seconds, for CI
//!
//! cargo bench -- http URL                  gets it and prints how many bytes its body has
//! cargo bench -- json FILE.ndjson          primitives, for measuring beside other programs:
//!                                          `.message.content` of every record to stdout
//! cargo bench -- json-rate FILE...         rates over given files: records of *.ndjson, else a document to a tree
//! cargo bench -- files                     paths of the current folder's files, ignore rules honored
//! cargo bench -- grep PATTERN              matching lines of these files, as `rg -n` prints them
//! cargo bench -- peak PATTERN              the same search, then its peak memory alone
//! cargo bench -- patch FILE.diff...        applies it below the current folder
//! ```
//!
//! Cargo adds `--bench` to the arguments; it is ignored. The program itself is `target/release/deps/bench-*`.

mod context;
mod http;
mod json;
mod measure;
mod patch;
mod regex;
mod session;
mod stream;
mod walk;

use measure::Effort;
use std::io::{self, Write};
use std::process::ExitCode;

/// Measures one part of the library.
type Group = fn(&mut dyn Write, Effort) -> io::Result<()>;

/// What `cargo bench` runs, in this order.
const GROUPS: &[(&str, Group)] = &[
    ("context", context::group),
    ("http", http::group),
    ("json", json::group),
    ("patch", patch::group),
    ("regex", regex::group),
    ("session", session::group),
    ("stream", stream::group),
    ("walk", walk::group),
];

/// A part of the library as a program of its own, over the given arguments.
type Primitive = fn(&mut dyn Write, &[String]) -> io::Result<()>;

/// What runs when its name is followed by arguments, or is not that of a group.
const PRIMITIVES: &[(&str, Primitive)] = &[
    ("http", http::get),
    ("json", json::contents),
    ("json-rate", json::rates),
    ("grep", walk::grep),
    ("files", walk::files),
    ("peak", walk::peak),
    ("patch", patch::apply),
];

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let arguments: Vec<String> = arguments.into_iter().filter(|a| a != "--bench").collect();
    let mut out = io::stdout().lock();
    match run(&mut out, &arguments).and_then(|()| out.flush()) {
        Ok(()) => ExitCode::SUCCESS,
        // Whoever read the output has seen enough.
        Err(e) if e.kind() == io::ErrorKind::BrokenPipe => ExitCode::SUCCESS,
        Err(e) => {
            // Nothing can be done when not even this can be written.
            let _ = writeln!(io::stderr(), "bench: {e}");
            ExitCode::FAILURE
        }
    }
}

fn run(out: &mut dyn Write, arguments: &[String]) -> io::Result<()> {
    let Some((name, rest)) = arguments.split_first() else {
        return all(out, Effort::Full);
    };
    if name == "smoke" {
        return all(out, Effort::Smoke);
    }
    let primitive = PRIMITIVES.iter().find(|(known, _)| known == name);
    let group = GROUPS.iter().find(|(known, _)| known == name);
    match (group, primitive) {
        (_, Some((_, primitive))) if group.is_none() || !rest.is_empty() => primitive(out, rest),
        (Some((_, group)), _) => group(out, Effort::Full),
        (None, _) => Err(io::Error::other(format!("no group or primitive `{name}`"))),
    }
}

fn all(out: &mut dyn Write, effort: Effort) -> io::Result<()> {
    GROUPS.iter().try_for_each(|(_, group)| group(out, effort))
}
