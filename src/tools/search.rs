//! `search_text`: the lines that match a pattern, in a file, a folder or what a path with wildcards means. In: the arguments. Out: a
//! [`Search`], worked out but not run, and from it, on a thread that may take its time, the outcome.
//!
//! ```text
//! search_text {"pattern":"fn \\w+_at\\(","path":"src/**/*.rs"}
//!
//! src/regex/mod.rs:113: pub fn find_at(
//! src/sys/simd.rs:141: fn block_at(bytes: &[u8], from: usize) -> Option<&[u8; 16]> {
//! 2 matches in 2 files.
//! ```
//!
//! A match is a line, however often the pattern is found in it. Lines come in the order of the walk (`ignore/walk.rs`), the same each time.
//! Ignore rules are honored, hidden names and binary files passed over; a file or folder that is named is searched whatever the rules say
//! of it. What was left out, could not be read or was cut is said, and totals are those of everything that was searched.
//!
//! Refused, with what to do: patterns that are none (a caret shows where, and `literal` is offered), an empty pattern, paths that lead
//! outside.
//!
//! Limits: 50 lines unless asked, at most 1,000, and `Limits::read_bytes`; lines of 200 characters; 30 seconds, then what was found so
//! far. Memory: a buffer for each of at most [`MAX_THREADS`] threads, the shown lines, and the walk's names.
//!
//! Invariant: the same tree gives the same text, unless the time was over.
//! Invariant: nothing is left out unsaid.
//!
//! Read next: `search/scan.rs` (one file), `search/kept.rs` (the order), `search/shorten.rs` (one line).

mod kept;
pub(super) mod scan;
mod shorten;

use std::fs::File;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use crate::ignore::{self, Stop, Walk, share};
use crate::protocol::{Facts, ToolOutcome};
use crate::regex::{Cause, Options, Regex};
use crate::sort;
use crate::sys::Cancel;
use crate::text::{self, counted, grouped};

use super::globs::globs;
use super::problems::{listed, said};
use super::read::open_output;
use super::workspace::{Purpose, Refusal, WsPath};
use super::{Toolbox, cancelled, done, failed, shown};
use kept::{FileHits, Kept};
use scan::{End, Line, Scan};

const MATCHES: u64 = 50;
const MAX_MATCHES: u64 = 1_000;
const TIME: Duration = Duration::from_secs(30);
/// More would wait for the disk and for each other.
const MAX_THREADS: usize = 8;

/// A search that can be run, on any thread.
#[derive(Debug)]
pub struct Search {
    regex: Regex,
    /// As asked for.
    pattern: String,
    literal: bool,
    /// As asked for.
    path: String,
    place: Place,
    most: u64,
    /// Bytes of the result.
    room: usize,
    time: Duration,
}

/// Where to look.
#[derive(Debug)]
enum Place {
    File {
        file: File,
        shown: String,
    },
    Tree {
        start: WsPath,
        options: ignore::Options,
    },
}

impl Search {
    /// Works out a search.
    pub(super) fn new(
        toolbox: &Toolbox,
        pattern: String,
        path: Option<String>,
        literal: bool,
        hidden: bool,
        max_results: Option<u64>,
    ) -> Result<Search, Refusal> {
        let most = max_results.unwrap_or(MATCHES);
        if most == 0 {
            let text = "max_results counts from 1. Leave it out for the usual 50.";
            return Err(Refusal(text.to_string()));
        }
        let path = path.unwrap_or_else(|| ".".to_string());
        Ok(Search {
            regex: compile(&pattern, literal)?,
            place: place(toolbox, &path, hidden)?,
            path,
            pattern,
            literal,
            most: most.min(MAX_MATCHES),
            room: usize::try_from(toolbox.limits.read_bytes).unwrap_or(usize::MAX),
            time: TIME,
        })
    }

    /// Runs it: to its end, until `cancel` is turned, or until the time is over.
    pub(super) fn run(self, cancel: &Cancel) -> ToolOutcome {
        let limits = ignore::Limits {
            cancel,
            deadline: Some(Instant::now() + self.time),
        };
        let kept = Kept::new(self.most as usize, self.room);
        let found = match &self.place {
            Place::File { file, shown } => self.file(file, shown, kept, &limits),
            Place::Tree { start, options } => self.tree(start, options, kept, &limits),
        };
        match found {
            Err(text) => failed(text),
            Ok(found) => self.report(&found),
        }
    }

    fn file(
        &self,
        file: &File,
        name: &str,
        mut kept: Kept,
        limits: &ignore::Limits<'_>,
    ) -> Result<Found, String> {
        let (mut hits, most) = (FileHits::default(), self.most as usize);
        let mut see = |line: Line<'_>| hits.add(&line, most);
        let end = Scan::default().file(file, &self.regex, limits, Some(&mut see));
        let stop = match end {
            Ok(End::Searched { .. }) => None,
            Ok(End::Stopped(stop)) => Some(stop),
            Ok(End::Binary(what)) => {
                return Err(format!(
                    "`{name}` is {what}, and search_text searches text only. Use run_command with a program that understands it."
                ));
            }
            Err(error) => {
                return Err(format!(
                    "`{name}` cannot be read: {error}. Search another file, or ask the user to mend this one."
                ));
            }
        };
        if hits.count > 0 {
            hits.path = name.to_string();
            kept.take(0, hits);
        }
        Ok(Found {
            kept,
            stop,
            files: 1,
            binary: 0,
            hidden: 0,
            ignored: 0,
            said: Vec::new(),
        })
    }

    fn tree(
        &self,
        start: &WsPath,
        options: &ignore::Options,
        kept: Kept,
        limits: &ignore::Limits<'_>,
    ) -> Result<Found, String> {
        let mut walk = Walk::new(start.full(), options.clone()).map_err(|error| {
            format!(
                "`{}` cannot be searched: {error}. Search another folder, or ask the user to mend its permissions.",
                shown(start.shown())
            )
        })?;
        let prefix = match start.shown() {
            "." => String::new(),
            folder => format!("{}/", shown(folder)),
        };
        let path = |path: &[u8]| format!("{prefix}{}", shown(&text::repair(path)));
        let wanted_below = AtomicU64::new(kept.wanted_below());
        let shared = Mutex::new((kept, Vec::new()));
        let lock = || shared.lock().unwrap_or_else(PoisonError::into_inner);
        let threads = std::thread::available_parallelism().map_or(1, usize::from);
        let workers = (0..threads.min(MAX_THREADS)).map(|_| Worker::default());
        let (workers, stop) = share(&mut walk, limits, workers.collect(), &|worker, entry| {
            let number = entry.number();
            // An old answer costs some lines that are dropped later, no more.
            let wanted = number < wanted_below.load(Ordering::Relaxed);
            let (mut hits, most) = (FileHits::default(), self.most as usize);
            let mut see = |line: Line<'_>| hits.add(&line, most);
            let see: Option<&mut dyn FnMut(Line<'_>)> = match wanted {
                true => Some(&mut see),
                false => None,
            };
            let scan = &mut worker.scan;
            let end = entry
                .open()
                .and_then(|file| scan.file(&file, &self.regex, limits, see));
            match end {
                Ok(End::Searched { lines }) => {
                    worker.files += 1;
                    hits.count = lines;
                }
                Ok(End::Binary(_)) => worker.binary += 1,
                // Its lines are real; the count goes as far as the search went.
                Ok(End::Stopped(_)) => worker.files += 1,
                Err(error) => lock().1.push((number, entry.path(), error)),
            }
            if hits.count > 0 {
                hits.path = path(&entry.path());
                let mut shared = lock();
                shared.0.take(number, hits);
                wanted_below.store(shared.0.wanted_below(), Ordering::Relaxed);
            }
        });
        let (kept, mut unreadable) = shared.into_inner().unwrap_or_else(PoisonError::into_inner);
        sort::by_key(&mut unreadable, |(number, _, _)| *number);
        let files = unreadable
            .iter()
            .map(|(_, file, error)| (path(file), error));
        let (problems, more) = walk.problems();
        Ok(Found {
            kept,
            stop,
            files: workers.iter().map(|worker| worker.files).sum(),
            binary: workers.iter().map(|worker| worker.binary).sum(),
            hidden: walk.hidden(),
            ignored: walk.ignored(),
            said: said(problems, more, &options.root, files.collect()),
        })
    }

    /// The outcome: lines, then what was found, left out, not read.
    fn report(&self, found: &Found) -> ToolOutcome {
        if found.stop == Some(Stop::Cancelled) {
            return cancelled("the search was cancelled before its end");
        }
        let (mut out, lines) = found.kept.shown();
        out.push_str(&self.totals(found, lines));
        for sentence in [self.stopped(found), self.hints(found), self.left_out(found)]
            .into_iter()
            .flatten()
            .chain(found.said.iter().cloned())
        {
            out.push(' ');
            out.push_str(&sentence);
        }
        let bytes = out.len() as u64;
        let path = self.place.shown().to_string();
        done(out, Facts::Read { path, bytes })
    }

    fn totals(&self, found: &Found, lines: u64) -> String {
        let kept = &found.kept;
        let files = counted(kept.total_files, "file");
        if kept.total == 0 && found.stop.is_some() {
            return "no match so far.".to_string();
        }
        if kept.total == 0 {
            let pattern = text::clip(&shown(&self.pattern), 100).into_owned();
            return match (found.files, &self.place) {
                (0, Place::Tree { options, .. }) if !options.only.is_empty() => {
                    let path = shown(&self.path);
                    format!("no file to search: none is meant by `{path}`.")
                }
                (0, _) => format!("no file to search in `{}`.", shown(self.place.shown())),
                (files, _) => format!("no match for `{pattern}` in {}.", counted(files, "file")),
            };
        }
        if lines == kept.total {
            let noun = if lines == 1 { "match" } else { "matches" };
            return format!("{} {noun} in {files}.", grouped(lines));
        }
        let mut text = format!(
            "{} of {} matches in {files} shown; name a smaller path or more of the text",
            grouped(lines),
            grouped(kept.total),
        );
        if lines == self.most && self.most < MAX_MATCHES {
            text.push_str(&format!(
                ", or set max_results (up to {}),",
                grouped(MAX_MATCHES)
            ));
        }
        text.push_str(" to see others.");
        if kept.total_files > 1 {
            let most = kept
                .leaders()
                .map(|(path, count)| format!("`{path}` ({})", grouped(count)));
            text.push_str(&format!(" Most are in {}.", listed(most.collect())));
        }
        text
    }

    fn stopped(&self, found: &Found) -> Option<String> {
        found.stop?;
        let seconds = self.time.as_secs();
        Some(match self.place {
            Place::File { .. } => format!(
                "The search was stopped after {seconds} seconds, before the end of the file."
            ),
            Place::Tree { .. } => format!(
                "The search was stopped after {seconds} seconds: {} searched, others not; search a smaller path.",
                match found.files {
                    1 => "1 file was".to_string(),
                    files => format!("{} files were", grouped(files)),
                }
            ),
        })
    }

    /// What may be meant, where nothing was found.
    fn hints(&self, found: &Found) -> Option<String> {
        if found.kept.total > 0 || found.files == 0 || found.stop.is_some() {
            return None;
        }
        // The text as it stands, where it would mean something else as a pattern.
        let special = self.pattern.contains([
            '.', '*', '+', '?', '(', ')', '[', ']', '{', '}', '|', '^', '$', '\\',
        ]);
        let letters = self.pattern.contains(char::is_alphabetic);
        match (self.literal, special, letters) {
            (false, true, _) => Some(
                "It was read as a regular expression; literal=true finds the text as it stands."
                    .to_string(),
            ),
            (false, false, true) => Some(
                "Upper and lower case differ; (?i) in front of the pattern ignores that."
                    .to_string(),
            ),
            (true, _, _) | (false, false, false) => None,
        }
    }

    fn left_out(&self, found: &Found) -> Option<String> {
        // Where enough was found nobody wants to hear of it.
        let mut parts = Vec::new();
        if found.binary > 0 {
            parts.push(counted(found.binary, "binary file"));
        }
        if found.kept.total == 0 && found.ignored > 0 {
            parts.push(format!("{} ignored by rules", grouped(found.ignored)));
        }
        if found.kept.total == 0 && found.hidden > 0 {
            parts.push(format!(
                "{} hidden (hidden=true searches them)",
                grouped(found.hidden)
            ));
        }
        (!parts.is_empty()).then(|| format!("Not searched: {}.", listed(parts)))
    }
}

impl Place {
    fn shown(&self) -> &str {
        match self {
            Place::File { shown, .. } => shown,
            Place::Tree { start, .. } => start.shown(),
        }
    }
}

/// What a thread has.
#[derive(Debug, Default)]
struct Worker {
    scan: Scan,
    files: u64,
    binary: u64,
}

/// What a search came to.
struct Found {
    kept: Kept,
    stop: Option<Stop>,
    files: u64,
    binary: u64,
    hidden: u64,
    ignored: u64,
    /// Sentences on what could not be read or understood.
    said: Vec<String>,
}

fn compile(pattern: &str, literal: bool) -> Result<Regex, Refusal> {
    if pattern.is_empty() {
        let text = "the pattern is empty. Give the text to look for, or a regular expression.";
        return Err(Refusal(text.to_string()));
    }
    let options = Options {
        lines: true,
        ..Options::default()
    };
    let compiled = match literal {
        true => Regex::literal(pattern, options),
        false => Regex::new(pattern, options),
    };
    compiled.map_err(|error| {
        let quoted = error.shown(pattern).replace('\n', "\n  ");
        let step = match (error.cause, literal) {
            (Cause::LineFeed, _) => {
                "search_text looks at one line at a time: give text of one line."
            }
            (Cause::TooLong | Cause::TooBig | Cause::TooDeep, _) | (_, true) => {
                "Give a shorter one."
            }
            (_, false) => "Mend it, or set literal=true to find the text as it stands.",
        };
        Refusal(format!("the pattern cannot be used:\n  {quoted}\n{step}"))
    })
}

/// A kept output, what exists at the path, or what its wildcards mean.
fn place(toolbox: &Toolbox, path: &str, hidden: bool) -> Result<Place, Refusal> {
    if let Some(number) = path.strip_prefix("output:") {
        let file = open_output(&toolbox.outputs, number)?;
        let shown = path.to_string();
        return Ok(Place::File { file, shown });
    }
    let workspace = &toolbox.workspace;
    let tree = |start, only| Place::Tree {
        start,
        options: ignore::Options {
            root: workspace.root().to_path_buf(),
            hidden,
            user_rules: toolbox.ignore_rules.clone(),
            closed: workspace.closed(),
            only,
        },
    };
    if let Ok(start) = workspace.resolve(path, Purpose::Folder) {
        return Ok(tree(start, Vec::new()));
    }
    let refused = match workspace.resolve(path, Purpose::Read) {
        Ok(file) => {
            let shown = shown(file.shown());
            let file = file.open()?;
            return Ok(Place::File { file, shown });
        }
        Err(refused) => refused,
    };
    let globs = globs(path).ok_or(refused)??;
    let start = workspace.resolve(&globs.folder, Purpose::Folder)?;
    Ok(tree(start, globs.globs))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::protocol::ToolStatus;
    use crate::sys::random;
    use crate::tools::Workspace;
    use std::fs;

    /// A search whose time is over when it begins.
    #[track_caller]
    fn check(path: &str, expected: &str) {
        let root = std::env::temp_dir().join(random::id(12).expect("random name"));
        fs::create_dir(&root).expect("folder");
        fs::write(root.join("small"), "hit\n").expect("file");
        fs::write(root.join("large"), "hit\n".repeat(100_000)).expect("file");
        let workspace = Workspace::open(&root, Vec::new()).expect("opens");
        let limits = crate::tools::Limits {
            read_bytes: 1_000,
            output_bytes: 1_000,
            command_timeout: TIME,
            command_wrapper: Vec::new(),
        };
        let toolbox = Toolbox::new(workspace, limits, root.join("outputs"), true);
        let (hit, path) = ("hit".to_string(), Some(path.to_string()));
        let search = Search::new(&toolbox, hit, path, false, false, Some(2)).expect("a search");
        let search = Search {
            time: Duration::ZERO,
            ..search
        };
        let outcome = search.run(&Cancel::new().expect("switch"));
        fs::remove_dir_all(&root).expect("removes");
        assert_eq!(
            (outcome.status, &outcome.text[..]),
            (ToolStatus::Ok, expected)
        );
    }

    #[test]
    fn what_was_found_until_the_time_was_over_is_shown_and_the_rest_said() {
        check(
            ".",
            "no match so far. The search was stopped after 0 seconds: 0 files were searched, others not; search a smaller path.",
        );
        // The first block of a file is searched before anybody looks at the clock.
        check("small", "small:1: hit\n1 match in 1 file.");
        check(
            "large",
            "large:1: hit\nlarge:2: hit\n2 of 32,768 matches in 1 file shown; name a smaller path or more of the text, or set max_results \
             (up to 1,000), to see others. The search was stopped after 0 seconds, before the end of the file.",
        );
    }
}
