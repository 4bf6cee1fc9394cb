//! Walk and search: a generated tree searched and listed, beside what std alone takes to read it; and the memory of searching what is
//! large.
//!
//! The tree lies in memory where the system has such a place (`/dev/shm`), so that no disk is measured.

use crate::measure::{Case, Effort, Seeded, compare, peak_mib};
use std::fs::{self, File};
use std::io::{self, Write};
use std::os::fd::AsFd;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::{Condvar, Mutex, PoisonError};
use std::thread;
use std::time::Instant;
use zcoder::ignore::{Limits, Options, Walk, share};
use zcoder::regex::{self, Regex};
use zcoder::sys::{Cancel, random};
use zcoder::tools::{Line, Scan};

/// Stands in no file of the tree.
const ABSENT: &str = "zc_absent_needle_42";

/// The group of `cargo bench`.
pub(crate) fn group(out: &mut dyn Write, effort: Effort) -> io::Result<()> {
    let (files, effort) = match effort {
        Effort::Smoke => (2_000, Effort::Smoke),
        Effort::Long | Effort::Full => (100_000, Effort::Long),
    };
    let temp = Temp::new()?;
    let tree = temp.path.join("tree");
    let bytes = generate(&tree, files)?;
    let threads = thread::available_parallelism()?.get();
    let searched = |pattern: &str| {
        let regex = compile(pattern);
        let tree = &tree;
        move || match &regex {
            Ok(regex) => search(tree, regex, threads).map_or(0, |found| found as usize),
            Err(_) => 0,
        }
    };
    let mut cases = [
        Case::new("std read_dir and read, as many threads", || {
            read_all(&tree, threads)
        }),
        Case::new("search, absent literal", searched(ABSENT)),
        Case::new("search, frequent literal", searched("return")),
        Case::new("search, regex with a literal", searched(r"[a-z_]+_init\(")),
        Case::new("search, any case", searched("(?i)NOWHERE")),
        Case::new("list", || list(&tree).unwrap_or(0)),
    ];
    let title = format!("walk: a tree of {files} files, {threads} threads");
    compare(out, effort, &title, bytes, &mut cases)?;
    if effort != Effort::Smoke {
        large(out, &temp.path, &tree)?;
    }
    Ok(())
}

/// Time and memory of a process of its own that searches one thing.
fn large(out: &mut dyn Write, temp: &Path, tree: &Path) -> io::Result<()> {
    let folder = temp.join("folder");
    fs::create_dir(&folder)?;
    for number in 0..300_000 {
        File::create(folder.join(format!("an_ordinary_name_{number}.txt")))?;
    }
    let hole = temp.join("hole");
    fs::create_dir(&hole)?;
    let mut file = File::create(hole.join("file"))?;
    file.write_all("a line of text\n".repeat(1_000).as_bytes())?;
    // One line of 4 GB behind them.
    file.set_len(4 << 30)?;
    let lines = temp.join("lines");
    fs::create_dir(&lines)?;
    let mut file = File::create(lines.join("file"))?;
    let block = "0123456789 abcdefghijklmnopqrstuvwxyz\n".repeat(1 << 15);
    while file.metadata()?.len() < 2 << 30 {
        file.write_all(block.as_bytes())?;
    }
    writeln!(
        out,
        "walk: a process that searches, {:>9}{:>12}",
        "s", "peak MiB"
    )?;
    for (name, place) in [
        ("the tree", tree),
        ("a folder of 300,000 empty files", &folder),
        ("a file of 4 GB with one line", &hole),
        ("a file of 2 GB with 57 million lines", &lines),
    ] {
        let begin = Instant::now();
        let child = Command::new(std::env::current_exe()?)
            .args(["peak", ABSENT])
            .current_dir(place)
            .output()?;
        let peak = String::from_utf8_lossy(&child.stdout).trim().to_string();
        let seconds = begin.elapsed().as_secs_f64();
        writeln!(out, "  {name:<38}{seconds:>8.2}{peak:>12}")?;
    }
    Ok(())
}

/// The primitive `peak PATTERN`: searches the current folder, then prints the peak of its own memory in MiB (Linux).
pub(crate) fn peak(out: &mut dyn Write, arguments: &[String]) -> io::Result<()> {
    let [.., pattern] = arguments else {
        return Err(io::Error::other("peak wants a pattern"));
    };
    let threads = thread::available_parallelism()?.get();
    search(&std::env::current_dir()?, &compile(pattern)?, threads)?;
    writeln!(out, "{:.1}", peak_mib("self")?)
}

/// The primitive `files`: paths of the current folder's files, ignore rules honored.
pub(crate) fn files(out: &mut dyn Write, _: &[String]) -> io::Result<()> {
    let mut out = io::BufWriter::with_capacity(64 << 10, out);
    let mut walk = walk(&std::env::current_dir()?)?;
    while let Some(folder) = walk.next_folder() {
        for name in folder.files().iter() {
            out.write_all(folder.path())?;
            out.write_all(name)?;
            out.write_all(b"\n")?;
        }
    }
    out.flush()
}

/// The primitive `grep PATTERN`: matching lines of the current folder's files, as `rg -n` prints them.
pub(crate) fn grep(_: &mut dyn Write, arguments: &[String]) -> io::Result<()> {
    let [.., pattern] = arguments else {
        return Err(io::Error::other("grep wants a pattern"));
    };
    let regex = compile(pattern)?;
    // Written by all threads, whole files at a time.
    let out = Mutex::new(File::from(io::stdout().as_fd().try_clone_to_owned()?));
    let write = |text: &mut Vec<u8>| {
        let mut out = out.lock().unwrap_or_else(PoisonError::into_inner);
        // Whoever reads may have seen enough.
        let _ = out.write_all(text);
        text.clear();
    };
    let mut walk = walk(&std::env::current_dir()?)?;
    let limits = Limits {
        cancel: &Cancel::new()?,
        deadline: None,
    };
    let threads = thread::available_parallelism()?.get();
    let workers: Vec<(Scan, Vec<u8>)> = (0..threads).map(|_| Default::default()).collect();
    let (mut workers, _) = share(&mut walk, &limits, workers, &|(scan, text), entry| {
        let Ok(file) = entry.open() else {
            return;
        };
        let mut path = Vec::new();
        let mut each = |line: Line<'_>| {
            if path.is_empty() {
                path = entry.path();
            }
            text.extend_from_slice(&path);
            // A Vec takes everything.
            let _ = write!(text, ":{}:", line.number);
            text.extend_from_slice(line.text);
            text.push(b'\n');
        };
        let _ = scan.file(&file, &regex, &limits, Some(&mut each));
        if text.len() >= 64 << 10 {
            write(text);
        }
    });
    workers.iter_mut().for_each(|(_, text)| write(text));
    Ok(())
}

fn compile(pattern: &str) -> io::Result<Regex> {
    let options = regex::Options {
        lines: true,
        ..regex::Options::default()
    };
    Regex::new(pattern, options).map_err(io::Error::other)
}

fn walk(root: &Path) -> io::Result<Walk> {
    let options = Options {
        root: root.to_path_buf(),
        ..Options::default()
    };
    Walk::new(root, options)
}

/// Matching lines of a tree.
fn search(root: &Path, regex: &Regex, threads: usize) -> io::Result<u64> {
    let limits = Limits {
        cancel: &Cancel::new()?,
        deadline: None,
    };
    let workers: Vec<(Scan, u64)> = (0..threads).map(|_| Default::default()).collect();
    let mut walk = walk(root)?;
    let (workers, _) = share(&mut walk, &limits, workers, &|(scan, lines), entry| {
        let mut each = |_: Line<'_>| *lines += 1;
        if let Ok(file) = entry.open() {
            let _ = scan.file(&file, regex, &limits, Some(&mut each));
        }
    });
    Ok(workers.iter().map(|(_, lines)| lines).sum())
}

fn list(root: &Path) -> io::Result<usize> {
    let mut walk = walk(root)?;
    let mut files = 0;
    while let Some(folder) = walk.next_folder() {
        files += folder.files().len();
    }
    Ok(files)
}

/// The baseline: bytes of all files, read with std alone. Threads take folders from a common stack.
fn read_all(root: &Path, threads: usize) -> usize {
    // Folders to read, and how many threads may still find some.
    let stack = Mutex::new((vec![root.to_path_buf()], 0));
    let changed = Condvar::new();
    let lock = || stack.lock().unwrap_or_else(PoisonError::into_inner);
    let next = || {
        let mut stack = lock();
        loop {
            if let Some(folder) = stack.0.pop() {
                stack.1 += 1;
                return Some(folder);
            }
            if stack.1 == 0 {
                changed.notify_all();
                return None;
            }
            stack = changed.wait(stack).unwrap_or_else(PoisonError::into_inner);
        }
    };
    let run = || {
        let mut bytes = 0;
        while let Some(folder) = next() {
            let mut found = Vec::new();
            for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
                match entry.file_type() {
                    Ok(kind) if kind.is_dir() => found.push(entry.path()),
                    Ok(kind) if kind.is_file() => {
                        bytes += fs::read(entry.path()).map_or(0, |bytes| bytes.len());
                    }
                    Ok(_) | Err(_) => {}
                }
            }
            let mut stack = lock();
            stack.0.append(&mut found);
            stack.1 -= 1;
            changed.notify_all();
        }
        bytes
    };
    thread::scope(|scope| {
        let threads: Vec<_> = (0..threads).map(|_| scope.spawn(run)).collect();
        threads.into_iter().map(|t| t.join().unwrap_or(0)).sum()
    })
}

/// Files of a few kilobytes in folders of a hundred, with rules as projects have them. The bytes of all files.
fn generate(root: &Path, files: usize) -> io::Result<usize> {
    const WORDS: &[&str] = &[
        "static",
        "int",
        "return",
        "struct",
        "if (",
        ") {",
        "}",
        "\n",
        "\n",
        "\t",
        "\n\t\t",
        "0x1f",
        "value",
        "list_head",
        "driver_init(void)",
        "->next",
        ";",
        " = ",
        "/* so */",
        "unsigned",
    ];
    let mut random = Seeded::new(9);
    fs::create_dir(root)?;
    fs::write(
        root.join(".gitignore"),
        "*.o\n*.ko\n.*.cmd\n/build/\n!keep.o\n*.mod.c\nmodules.order\n[Tt]ags\n",
    )?;
    let (mut folder, mut bytes) = (PathBuf::new(), 0);
    let mut text = String::new();
    for number in 0..files {
        if number % 100 == 0 {
            let group = number / 100;
            folder = root.join(format!("part_{}/unit_{}", group % 30, group / 30));
            fs::create_dir_all(&folder)?;
            if group % 5 == 0 {
                fs::write(folder.join(".gitignore"), "*.tmp\n/generated.h\n")?;
            }
        }
        text.clear();
        for _ in 0..random.below(700) {
            text.push_str(random.pick(WORDS));
            text.push(' ');
        }
        fs::write(folder.join(format!("file_{number}.c")), &text)?;
        bytes += text.len();
    }
    Ok(bytes)
}

/// A folder that goes with the value.
pub(crate) struct Temp {
    pub(crate) path: PathBuf,
}

impl Temp {
    pub(crate) fn new() -> io::Result<Temp> {
        let memory = Path::new("/dev/shm");
        let base = match memory.is_dir() {
            true => memory.to_path_buf(),
            false => std::env::temp_dir(),
        };
        let path = base.join(format!("zcoder-bench-{}", random::id(12)?));
        fs::create_dir(&path)?;
        Ok(Temp { path })
    }
}

impl Drop for Temp {
    fn drop(&mut self) {
        // What cannot be removed stays in a place that the system empties.
        let _ = fs::remove_dir_all(&self.path);
    }
}
