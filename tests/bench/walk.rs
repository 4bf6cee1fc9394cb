//! Walk and search: primitives.

use std::fs::File;
use std::io::{self, Write};
use std::os::fd::AsFd;
use std::path::PathBuf;
use std::sync::{Mutex, PoisonError};
use zcoder::ignore::{Limits, Options, Walk, share};
use zcoder::regex::{self, Regex};
use zcoder::sys::Cancel;
use zcoder::tools::{Line, Scan};

/// The primitive `files`: paths of the current folder's files, ignore rules honored.
pub(crate) fn files(out: &mut dyn Write, _: &[String]) -> io::Result<()> {
    let mut out = io::BufWriter::with_capacity(64 << 10, out);
    let mut walk = walk()?;
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
    let options = regex::Options {
        lines: true,
        ..regex::Options::default()
    };
    let regex = Regex::new(pattern, options).map_err(io::Error::other)?;
    // Written by all threads, whole files at a time.
    let out = Mutex::new(File::from(io::stdout().as_fd().try_clone_to_owned()?));
    let write = |text: &mut Vec<u8>| {
        let mut out = out.lock().unwrap_or_else(PoisonError::into_inner);
        // Whoever reads may have seen enough.
        let _ = out.write_all(text);
        text.clear();
    };
    let mut walk = walk()?;
    let limits = Limits {
        cancel: &Cancel::new()?,
        deadline: None,
    };
    let threads = std::thread::available_parallelism()?.get();
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

fn walk() -> io::Result<Walk> {
    let root: PathBuf = std::env::current_dir()?;
    Walk::new(
        &root,
        Options {
            root: root.clone(),
            ..Options::default()
        },
    )
}
