//! Patches and edits of files: whole calls of the tools, syncs included, beside the least that such a call has to do.
//!
//! ```text
//! cargo bench -- patch                 three comparisons; files lie in the folder for temporary ones (TMPDIR)
//! cargo bench -- patch PATCH.diff      applies it to the files below the current folder
//! ```

use crate::measure::{Case, Effort, Seeded, compare};
use std::fs::File;
use std::hash::{DefaultHasher, Hasher};
use std::hint::black_box;
use std::io::{self, Read, Write};
use std::path::{Path, PathBuf};
use std::time::Duration;
use zcoder::diff;
use zcoder::policy::{CommandMode, EditMode, Policy, Profile, Verdict};
use zcoder::protocol::{JournalRecord, ToolOutcome, ToolStatus};
use zcoder::sha256::Sha256;
use zcoder::sys::{file, random};
use zcoder::tools::{Call, Journal, Limits, Prepared, Toolbox, Workspace};

/// The three comparisons.
pub(crate) fn group(out: &mut dyn Write, effort: Effort) -> io::Result<()> {
    let (old, new) = versions();
    let folder = Folder::new()?;
    hunks(out, effort, &folder, &old, &new)?;
    let mut lines = [
        Case::new("hash the lines of both", || {
            lines_hashed(&old) ^ lines_hashed(&new)
        }),
        Case::new("differences", || diff::changes(&old, &new).len()),
    ];
    let bytes = old.len() + new.len();
    compare(
        out,
        effort,
        "patch: two files of 10,000 lines, 200 changes",
        bytes,
        &mut lines,
    )?;
    large(out, effort, &folder)
}

/// `patch FILE`: applies a patch below the current folder.
pub(crate) fn apply(out: &mut dyn Write, arguments: &[String]) -> io::Result<()> {
    for argument in arguments {
        let patch = std::fs::read_to_string(argument)?;
        let mut toolbox = toolbox(Path::new("."))?;
        let outcome = call(
            &mut toolbox,
            Call::ApplyPatch { patch, path: None },
            &mut |_, _| Ok(()),
        )?;
        writeln!(out, "{}", outcome.text)?;
    }
    Ok(())
}

/// Two versions of a file: 10,000 lines as in source code, 200 changes.
fn versions() -> (Vec<u8>, Vec<u8>) {
    let mut seeded = Seeded::new(7);
    let (mut old, mut new) = (Vec::new(), Vec::new());
    for i in 0..10_000 {
        let line = match i % 9 {
            0 => "}\n".to_string(),
            _ => format!(
                "    let v{i} = call_{}({}, \"{}\");\n",
                seeded.below(999),
                seeded.below(99),
                "x".repeat(seeded.below(40))
            ),
        };
        old.extend_from_slice(line.as_bytes());
        match i % 50 {
            20 => new.extend_from_slice(format!("    let w{i} = changed({i});\n").as_bytes()),
            21 if i % 3 == 0 => {
                new.extend_from_slice(format!("{line}    // added {i}\n").as_bytes())
            }
            23 if i % 5 == 0 => {}
            _ => new.extend_from_slice(line.as_bytes()),
        }
    }
    (old, new)
}

/// With every line number `by` too high.
fn shifted(patch: &str, by: usize) -> String {
    let shift = |line: &str| -> Option<String> {
        let (old, new) = line
            .strip_prefix("@@ -")?
            .strip_suffix(" @@")?
            .split_once(" +")?;
        let add = |side: &str| -> Option<String> {
            let (start, count) = side.split_once(',').unwrap_or((side, "1"));
            Some(format!("{},{count}", start.parse::<usize>().ok()? + by))
        };
        Some(format!("@@ -{} +{} @@", add(old)?, add(new)?))
    };
    let lines = patch
        .lines()
        .map(|line| shift(line).unwrap_or(line.to_string()) + "\n");
    lines.collect()
}

fn hunks(
    out: &mut dyn Write,
    effort: Effort,
    folder: &Folder,
    old: &[u8],
    new: &[u8],
) -> io::Result<()> {
    let side = |bytes| diff::Side {
        name: b"f.txt",
        bytes,
        executable: false,
    };
    let (patch, _) = diff::unified(Some(side(old)), Some(side(new)));
    let patch = String::from_utf8(patch).map_err(io::Error::other)?;
    let path = folder.0.join("f.txt");
    let run = |patch: &str| {
        let (patch, path) = (patch.to_string(), path.clone());
        move || {
            let done = || -> io::Result<usize> {
                std::fs::write(&path, old)?;
                let mut toolbox = toolbox(&folder.0)?;
                let patch = patch.clone();
                let patch = Call::ApplyPatch { patch, path: None };
                let outcome = call(&mut toolbox, patch, &mut keep)?;
                Ok(outcome.text.len())
            };
            done().expect("the patch applies")
        }
    };
    let copy = || {
        let done = || -> io::Result<usize> {
            std::fs::write(&path, old)?;
            let like = File::open(&path)?;
            let bytes = std::fs::read(&path)?;
            file::replace(&path, &[&bytes], Some(&like), &mut || Ok(()))?;
            Ok(bytes.len())
        };
        done().expect("a copy")
    };
    let mut cases = [
        Case::new("write it, read it, write it with syncs", copy),
        Case::new("200 hunks, right numbers", run(&patch)),
        Case::new("200 hunks, numbers 37 too high", run(&shifted(&patch, 37))),
    ];
    compare(out, effort, "patch: 10,000 lines", old.len(), &mut cases)
}

fn lines_hashed(text: &[u8]) -> usize {
    let lines = text.split_inclusive(|b| *b == b'\n').map(|line| {
        let mut hasher = DefaultHasher::new();
        hasher.write(line);
        hasher.finish() as usize
    });
    lines.fold(0, |sum, hash| sum ^ hash)
}

/// One word of a large file.
fn large(out: &mut dyn Write, effort: Effort, folder: &Folder) -> io::Result<()> {
    let bytes = match effort {
        Effort::Smoke => 4_000_000,
        Effort::Long | Effort::Full => 100_000_000,
    };
    let effort = match effort {
        Effort::Full => Effort::Long,
        Effort::Smoke | Effort::Long => effort,
    };
    let path = folder.0.join("large.txt");
    let line = "a line of a log file that is as long as such lines are, more or less 12345678\n";
    let half = line.repeat(bytes / 2 / line.len());
    std::fs::write(&path, format!("{half}state=old\n{half}"))?;
    let mut is_old = true;
    let edit = || {
        let mut done = || -> io::Result<usize> {
            let (from, to) = if is_old {
                ("state=old", "state=new")
            } else {
                ("state=new", "state=old")
            };
            is_old = !is_old;
            let edit = Call::ReplaceText {
                path: "large.txt".to_string(),
                old_text: from.to_string(),
                new_text: to.to_string(),
            };
            Ok(call(&mut toolbox(&folder.0)?, edit, &mut keep)?.text.len())
        };
        done().expect("an edit")
    };
    let copy = || copied(&path, &folder.0.join("copy.txt")).expect("a copy");
    let mut cases = [
        Case::new("copy by 256 KiB with SHA-256 and syncs", copy),
        Case::new("replace one word", edit),
    ];
    compare(out, effort, "patch: one small edit", bytes, &mut cases)
}

fn copied(from: &Path, to: &Path) -> io::Result<usize> {
    let (mut old, mut new) = (File::open(from)?, File::create(to)?);
    let mut buffer = vec![0; 256 << 10];
    let mut hash = Sha256::new();
    loop {
        let count = old.read(&mut buffer)?;
        if count == 0 {
            break;
        }
        hash.feed(&buffer[..count]);
        new.write_all(&buffer[..count])?;
    }
    new.sync_all()?;
    std::fs::rename(to, to.with_extension("done"))?;
    File::open(to.parent().unwrap_or(to))?.sync_all()?;
    Ok(usize::from(hash.finish()[0]))
}

fn toolbox(folder: &Path) -> io::Result<Toolbox> {
    let workspace = Workspace::open(folder, Vec::new()).map_err(io::Error::other)?;
    let limits = Limits {
        read_bytes: 1 << 16,
        output_bytes: 1 << 16,
        command_timeout: Duration::from_secs(1),
        command_wrapper: Vec::new(),
    };
    Ok(Toolbox::new(
        workspace,
        limits,
        folder.join("outputs"),
        true,
    ))
}

/// The record of an edit, with its hashes, as a journal asks for it; nothing is kept.
fn keep(record: &dyn Fn() -> JournalRecord, _: &[u8]) -> io::Result<()> {
    black_box(record());
    Ok(())
}

/// A call as the engine makes it, edits allowed.
fn call(toolbox: &mut Toolbox, call: Call, journal: &mut Journal<'_>) -> io::Result<ToolOutcome> {
    let policy = Policy::new(CommandMode::Deny, EditMode::Auto, Profile::Coding, None);
    let outcome = match toolbox.prepare(call) {
        Prepared::Edit(edit) => match edit.judge(&policy) {
            Verdict::Allowed(approved) => toolbox.apply(approved, journal),
            Verdict::Ask(_) | Verdict::Denied { .. } => {
                return Err(io::Error::other("not allowed"));
            }
        },
        Prepared::Outcome(outcome) => outcome,
        Prepared::Look(_) | Prepared::Command(_) | Prepared::Finish { .. } => {
            return Err(io::Error::other("no edit"));
        }
    };
    match outcome.status {
        ToolStatus::Ok => Ok(outcome),
        ToolStatus::Failed | ToolStatus::Denied | ToolStatus::Cancelled => {
            Err(io::Error::other(outcome.text))
        }
    }
}

/// A folder for the files, removed with the value.
struct Folder(PathBuf);

impl Folder {
    fn new() -> io::Result<Folder> {
        let folder = std::env::temp_dir().join(format!("zcoder-bench-{}", random::id(12)?));
        std::fs::create_dir(&folder)?;
        Ok(Folder(std::fs::canonicalize(folder)?))
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        // Only a benchmark's leftovers.
        let _ = std::fs::remove_dir_all(&self.0);
    }
}
