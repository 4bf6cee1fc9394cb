//! Making an edit: all of its files or none. In: an approved [`Edit`]. Out: the outcome. `Toolbox::apply` calls it.
//!
//! ```text
//! 1 check     every file is still the one that was read, every new name is free
//! 2 journal   a record for each file, each safe before the next
//! 3 stage     each new content in a temporary file beside its place, synced      whatever fails up to here has changed nothing
//! 4 commit    for each file: check once more, then rename, link or remove
//! 5 put back  if one of 4 fails: the files before it, in reverse order, from the bytes that were read
//! ```
//!
//! New files get their names before old ones go, so a renamed file is never without one. What others wrote in the meantime is never
//! written over, neither in 4 nor in 5. A file that cannot be put back is named, and what it holds now.
//!
//! Invariant: no byte of a file is written before the journal records of all files are safe.
//! Invariant: a failure text says of every file that is not as it was before.

use std::cell::OnceCell;
use std::fs::{self, File};
use std::io::{self, Read};
use std::path::{Path, PathBuf};

use crate::protocol::{Facts, ToolOutcome};
use crate::sha256::Sha256;
use crate::sys::file::{self, Staged};

use super::edit::{Before, Edit, FileEdit, Stamp};
use super::seen::{Known, Seen};
use super::{Journal, done, failed, shown};

/// Of a new content, hashed together.
const GATHERED_BYTES: usize = 1 << 10;

/// Of a file that is read again, at a time: fresh memory costs more than a call.
const COMPARED_BYTES: usize = 16 << 10;

/// Makes it. On success each file counts as read as far as it was before.
pub(super) fn make(edit: Edit, seen: &mut Seen, journal: &mut Journal<'_>) -> ToolOutcome {
    let made = Commit::new(&edit.files).and_then(|mut commit| {
        commit.journal(journal)?;
        commit.stage()?;
        commit.publish(&mut |_| Ok(()))
    });
    match made {
        Err(text) => {
            if edit.is_patch {
                edit.files
                    .iter()
                    .for_each(|file| seen.hold(file.path.full()));
            }
            failed(text)
        }
        Ok(hashes) => {
            match edit.is_patch {
                true => seen.release_all(),
                false => edit
                    .files
                    .iter()
                    .for_each(|file| seen.release(file.path.full())),
            }
            for (file, hash) in edit.files.iter().zip(hashes) {
                let known = file
                    .before
                    .as_ref()
                    .map_or(Known::Current, |before| before.known(&file.path, seen));
                let hash = match known {
                    Known::Current => new_hash(file, &hash),
                    Known::NotInFull | Known::Stale => None,
                };
                match file.gone {
                    true => seen.forget(file.path.full()),
                    false => seen.record(file.path.full(), hash),
                }
            }
            let files = edit.files.iter().map(FileEdit::change).collect();
            let facts = Facts::Edited {
                files,
                diff: edit.diff,
            };
            done(edit.report, facts)
        }
    }
}

/// The hash of a new content, once somebody asked for it; `None`: the file goes.
type NewHash = OnceCell<Option<[u8; 32]>>;

fn new_hash(file: &FileEdit, known: &NewHash) -> Option<[u8; 32]> {
    *known.get_or_init(|| hashes(file))
}

/// The files of an edit on their way. A failure is a text for the model.
struct Commit<'a> {
    files: &'a [FileEdit],
    /// The old ones, open as they were checked.
    old: Vec<Option<File>>,
    /// Of the new ones.
    hashes: Vec<NewHash>,
    staged: Vec<Option<Staged>>,
    folders: Folders,
}

impl<'a> Commit<'a> {
    fn new(files: &'a [FileEdit]) -> Result<Commit<'a>, String> {
        let mut old = Vec::with_capacity(files.len());
        for file in files {
            if !file.path.has_workspace() {
                return Err(format!(
                    "`{}` was not changed: the workspace is not there any more. End the task with finish_task and status failed, \
                     and tell the user.",
                    name(file)
                ));
            }
            old.push(current(file, Look::First).map_err(|MovedOn| moved_on(file))?);
        }
        Ok(Commit {
            files,
            old,
            hashes: files.iter().map(|_| NewHash::default()).collect(),
            staged: Vec::new(),
            folders: Folders(Vec::new()),
        })
    }

    fn journal(&self, journal: &mut Journal<'_>) -> Result<(), String> {
        for (file, hash) in self.files.iter().zip(&self.hashes) {
            let record = || file.record(new_hash(file, hash));
            journal(&record, file.old_bytes()).map_err(|error| {
                format!(
                    "`{}` was not changed: its journal record could not be written ({error}), and without one the change \
                     could not be undone. Tell the user.",
                    name(file)
                )
            })?;
        }
        Ok(())
    }

    fn stage(&mut self) -> Result<(), String> {
        for (i, file) in self.files.iter().enumerate() {
            let staged = match file.parts() {
                None => None,
                Some(parts) => {
                    if let Err(error) = self.folders.make(file.path.full()) {
                        self.abandon();
                        return Err(not_written(file, "its folder could not be made", &error));
                    }
                    let like = self.old[file.like.unwrap_or(i)].as_ref();
                    match Staged::write(file.path.full(), &parts, like, file.executable) {
                        Ok(staged) => Some(staged),
                        Err(error) => {
                            self.abandon();
                            return Err(not_written(file, "it could not be written", &error));
                        }
                    }
                }
            };
            self.staged.push(staged);
        }
        Ok(())
    }

    /// Leaves no temporary file and no new folder.
    fn abandon(&mut self) {
        self.staged.clear();
        self.folders.remove();
    }

    /// Gives all files their names. Returns the hashes. `before_each` is called with the number of each file and may stop it, as whatever
    /// else happens at that moment may.
    fn publish(
        mut self,
        before_each: &mut dyn FnMut(usize) -> io::Result<()>,
    ) -> Result<Vec<NewHash>, String> {
        let (new, gone): (Vec<usize>, Vec<usize>) =
            (0..self.files.len()).partition(|i| self.staged[*i].is_some());
        let mut made = Vec::new();
        for i in new.into_iter().chain(gone) {
            if let Err(text) = self.publish_one(i, before_each(i)) {
                let text = match self.put_back(&made) {
                    None => text,
                    Some(more) => format!("{text} {more}"),
                };
                self.abandon();
                return Err(text);
            }
            made.push(i);
        }
        Ok(self.hashes)
    }

    fn publish_one(&mut self, i: usize, stopped: io::Result<()>) -> Result<(), String> {
        let file = &self.files[i];
        let failed = |error: io::Error| match error.kind() {
            io::ErrorKind::AlreadyExists if file.before.is_none() => moved_on(file),
            _ => not_written(file, "it could not be written", &error),
        };
        current(file, Look::Last).map_err(|MovedOn| moved_on(file))?;
        stopped.map_err(failed)?;
        // What was there before was opened just now, and that looks for links as well.
        if let (None, Some(folder)) = (&file.before, file.path.full().parent()) {
            no_link(folder).map_err(failed)?;
        }
        match (self.staged[i].take(), &file.before) {
            (Some(staged), Some(_)) => staged.replace().map_err(failed),
            (Some(staged), None) => staged.create().map_err(failed),
            (None, _) => file::remove(file.path.full()).map_err(failed),
        }
    }

    /// Takes back what was made; says what came of it, if there was anything.
    fn put_back(&self, made: &[usize]) -> Option<String> {
        let mut lost = Vec::new();
        for i in made.iter().rev() {
            let file = &self.files[*i];
            if let Err(state) = restore(file, self.old[*i].as_ref()) {
                lost.push(format!("`{}` {state}", name(file)));
            }
        }
        match (made.is_empty(), lost.is_empty()) {
            (true, _) => None,
            (false, true) => Some(
                "The other files of the patch are as they were before: it is made as a whole or not at all.".to_string(),
            ),
            (false, false) => Some(format!(
                "Not everything could be put back: {}. Tell the user.",
                lost.join("; ")
            )),
        }
    }
}

/// Makes a file again what it was before, with owner and mode of the `old` one, if it is what we made of it. Else: what it is now.
fn restore(file: &FileEdit, old: Option<&File>) -> Result<(), String> {
    let path = file.path.full();
    match (file.parts(), &file.before) {
        (Some(parts), before) => {
            let now = file.path.open();
            if !now.is_ok_and(|now| holds(&now, &parts).unwrap_or(false)) {
                return Err("was changed by somebody else meanwhile".to_string());
            }
            let restored = match before {
                Some(before) => {
                    Staged::write(path, &[&before.bytes], old, None).and_then(Staged::replace)
                }
                None => file::remove(path),
            };
            restored.map_err(|error| format!("has the new content ({error})"))
        }
        (None, Some(before)) => Staged::write(path, &[&before.bytes], old, None)
            .and_then(Staged::create)
            .map_err(|error| format!("is gone ({error})")),
        (None, None) => Ok(()),
    }
}

/// The hash of the new content; on the way that of the old one becomes known too. What both have in common at the beginning is hashed
/// once, the rest of both side by side.
fn hashes(file: &FileEdit) -> Option<[u8; 32]> {
    let parts = file.parts()?;
    let (first, rest) = parts.split_first()?;
    let mut new = Sha256::new();
    new.feed(first);
    let mut old = new.clone();
    let mut tail = &file.old_bytes()[first.len()..];
    let mut feed = |bytes: &[u8]| {
        let (now, later) = tail.split_at(bytes.len().min(tail.len()));
        tail = later;
        Sha256::feed_both([&mut old, &mut new], [now, bytes]);
    };
    // Small parts are gathered: side by side only what is long is fast.
    let mut gathered = Vec::with_capacity(GATHERED_BYTES);
    for part in rest {
        if gathered.len() + part.len() > GATHERED_BYTES {
            feed(&gathered);
            gathered.clear();
        }
        match part.len() < GATHERED_BYTES {
            true => gathered.extend_from_slice(part),
            false => feed(part),
        }
    }
    feed(&gathered);
    old.feed(tail);
    if let Some(before) = &file.before {
        before.set_hash(old.finish());
    }
    Some(new.finish())
}

/// The file as it is now, if it is still what the edit was worked out for: the same bytes (touched or saved again is the same
/// file), or nothing where there was nothing. It is read again only if it was touched, or, for the last look, if it changed shortly
/// before it was read first.
fn current(file: &FileEdit, look: Look) -> Result<Option<File>, MovedOn> {
    let Some(before) = &file.before else {
        return match fs::symlink_metadata(file.path.full()) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
            Err(_) | Ok(_) => Err(MovedOn),
        };
    };
    let open = file.path.open().map_err(|_| MovedOn)?;
    let meta = open.metadata().map_err(|_| MovedOn)?;
    if before.stamp == Some(Stamp::from(&meta)) && (before.settled || look == Look::First) {
        return Ok(Some(open));
    }
    match holds(&open, &[&before.bytes]) {
        Ok(true) => Ok(Some(open)),
        Ok(false) | Err(_) => Err(MovedOn),
    }
}

/// Before anything is written, or right before the file gets its new content.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Look {
    First,
    Last,
}

/// The path no longer holds what an edit was worked out for.
struct MovedOn;

/// Whether the file holds exactly these bytes.
fn holds(mut file: &File, parts: &[&[u8]]) -> io::Result<bool> {
    let mut chunk = vec![0; COMPARED_BYTES];
    for part in parts {
        let mut rest = *part;
        while !rest.is_empty() {
            let wanted = rest.len().min(chunk.len());
            let n = match file.read(&mut chunk[..wanted]) {
                Ok(0) => return Ok(false),
                Ok(n) => n,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
                Err(error) => return Err(error),
            };
            match rest.strip_prefix(&chunk[..n]) {
                Some(after) => rest = after,
                None => return Ok(false),
            }
        }
    }
    Ok(file.read(&mut chunk[..1])? == 0)
}

fn name(file: &FileEdit) -> String {
    shown(file.path.shown())
}

fn moved_on(file: &FileEdit) -> String {
    let name = name(file);
    match file.before {
        Some(Before { .. }) => format!(
            "`{name}` changed on disk since this edit was worked out, so it was not touched. Read it again with read_file and \
             make the edit anew."
        ),
        None => format!(
            "`{name}` appeared on disk since this edit was worked out, so it was not touched. Read it with read_file first."
        ),
    }
}

fn not_written(file: &FileEdit, what: &str, error: &io::Error) -> String {
    let step = match error.kind() {
        io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded => {
            "Tell the user that there is no room left on the disk."
        }
        io::ErrorKind::PermissionDenied | io::ErrorKind::ReadOnlyFilesystem => {
            "Choose a place that can be written, or ask the user to change the permissions."
        }
        _ => "Try once more; if it fails again, tell the user.",
    };
    format!("`{}` was not changed, {what}: {error}. {step}", name(file))
}

/// Folders that were made for new files.
struct Folders(Vec<PathBuf>);

impl Folders {
    /// Makes what is missing above `file` and checks that no link slipped in.
    fn make(&mut self, file: &Path) -> io::Result<()> {
        let parent = file.parent().unwrap_or(Path::new("/"));
        let missing: Vec<&Path> = parent
            .ancestors()
            .take_while(|folder| !folder.exists())
            .collect();
        for folder in missing.into_iter().rev() {
            match fs::create_dir(folder) {
                Ok(()) => {
                    self.0.push(folder.to_path_buf());
                    sync_folder(folder.parent());
                }
                // Somebody else made it meanwhile: as good.
                Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
                Err(error) => return Err(error),
            }
        }
        no_link(parent)
    }

    /// After a failure: takes away what was made, as far as it is still empty.
    fn remove(&mut self) {
        while let Some(folder) = self.0.pop() {
            // Not empty any more, or gone: then it is not ours to remove.
            let _ = fs::remove_dir(folder);
        }
    }
}

/// Whether the folder, which had no link on the way, still has none.
fn no_link(folder: &Path) -> io::Result<()> {
    match fs::canonicalize(folder)? == folder {
        true => Ok(()),
        false => Err(io::Error::other(
            "a folder on the way was exchanged for a link",
        )),
    }
}

/// Makes the entry of a new folder survive a power cut, as far as the file system can.
fn sync_folder(folder: Option<&Path>) {
    if let Some(Ok(folder)) = folder.map(File::open) {
        // Some network file systems cannot; the new file is no less whole for it.
        let _ = folder.sync_all();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::diff::Splice;
    use crate::sys::random;
    use crate::tools::{Purpose, Workspace};

    /// A folder of files that goes with the value.
    struct Folder(PathBuf);

    impl Folder {
        fn new(files: &[(&str, &str)]) -> Folder {
            let name = format!("zcoder-commit-{}", random::id(12).unwrap());
            let folder = Folder(std::env::temp_dir().join(name));
            fs::create_dir(&folder.0).unwrap();
            for (name, text) in files {
                fs::write(folder.0.join(name), text).unwrap();
            }
            folder
        }

        fn edits(&self) -> Vec<FileEdit> {
            let workspace = Workspace::open(&self.0, Vec::new()).unwrap();
            let path = |name: &str| workspace.resolve(name, Purpose::Write).unwrap();
            let load = |name: &str| Before::load(&path(name)).unwrap();
            let splice = |new: &str| Splice {
                range: 0..0,
                new: new.as_bytes().to_vec(),
            };
            vec![
                FileEdit::spliced(path("a"), load("a"), vec![splice("new ")]),
                FileEdit::spliced(path("b"), None, vec![splice("new")]),
                FileEdit::gone(path("c"), load("c").unwrap()),
                FileEdit::spliced(path("d"), load("d"), vec![splice("new ")]),
            ]
        }

        /// All names and what they hold.
        fn state(&self) -> Vec<(String, String)> {
            let mut files: Vec<(String, String)> = fs::read_dir(&self.0)
                .unwrap()
                .map(|entry| entry.unwrap().path())
                .map(|path| {
                    let name = path.file_name().unwrap().to_str().unwrap().to_string();
                    (name, fs::read_to_string(&path).unwrap())
                })
                .collect();
            files.sort();
            files
        }
    }

    impl Drop for Folder {
        fn drop(&mut self) {
            let _ = fs::remove_dir_all(&self.0);
        }
    }

    const OLD: &[(&str, &str)] = &[("a", "A"), ("c", "C"), ("d", "D")];

    fn commit(
        folder: &Folder,
        before_each: &mut dyn FnMut(usize) -> io::Result<()>,
    ) -> Result<(), String> {
        let edits = folder.edits();
        let mut commit = Commit::new(&edits)?;
        commit.stage()?;
        commit.publish(before_each).map(|_| ())
    }

    #[track_caller]
    fn check(folder: &Folder, expected: &[(&str, &str)]) {
        let state = folder.state();
        let state: Vec<(&str, &str)> = state
            .iter()
            .map(|(a, b)| (a.as_str(), b.as_str()))
            .collect();
        assert_eq!(state, expected);
    }

    const WHOLE: &str = "The other files of the patch are as they were before: it is made as a whole or not at all.";

    #[test]
    fn whichever_file_fails_everything_is_as_before() {
        // In the order in which they get their names: a, b, d, then c goes.
        for (failing, name) in [(0, "a"), (1, "b"), (3, "d"), (2, "c")] {
            let folder = Folder::new(OLD);
            let mut fail = |i: usize| match i == failing {
                true => Err(io::Error::from(io::ErrorKind::StorageFull)),
                false => Ok(()),
            };
            let text = commit(&folder, &mut fail).unwrap_err();
            let more = if failing == 0 {
                String::new()
            } else {
                format!(" {WHOLE}")
            };
            assert_eq!(
                text,
                format!(
                    "`{name}` was not changed, it could not be written: no storage space. Tell the user that there is no room left on the disk.{more}"
                )
            );
            check(&folder, OLD);
        }
        let folder = Folder::new(OLD);
        assert_eq!(commit(&folder, &mut |_| Ok(())), Ok(()));
        check(&folder, &[("a", "new A"), ("b", "new"), ("d", "new D")]);
    }

    #[test]
    fn a_folder_that_is_exchanged_for_a_link_is_not_written_through() {
        let folder = Folder::new(&[]);
        let (root, outside) = (folder.0.join("root"), folder.0.join("outside"));
        fs::create_dir_all(root.join("d")).unwrap();
        let workspace = Workspace::open(&root, Vec::new()).unwrap();
        let path = workspace.resolve("d/new", Purpose::Write).unwrap();
        let new = Splice {
            range: 0..0,
            new: b"new".to_vec(),
        };
        let edits = [FileEdit::spliced(path, None, vec![new])];
        let mut commit = Commit::new(&edits).unwrap();
        commit.stage().unwrap();
        // The temporary file goes along, so only the link tells.
        let mut exchange = |_: usize| {
            fs::rename(root.join("d"), &outside)?;
            std::os::unix::fs::symlink(&outside, root.join("d"))
        };
        assert_eq!(
            commit.publish(&mut exchange).map(|_| ()).unwrap_err(),
            "`d/new` was not changed, it could not be written: a folder on the way was exchanged for a link. Try once more; if it fails again, tell the user."
        );
        assert_eq!(fs::read_dir(&outside).unwrap().count(), 0);
    }

    #[test]
    fn what_others_wrote_in_between_is_not_written_over_and_said() {
        let folder = Folder::new(OLD);
        let path = folder.0.clone();
        let mut meddle = |i: usize| {
            if i == 3 {
                fs::write(path.join("a"), "edited by somebody")?;
                fs::write(path.join("b"), "this one too")?;
                fs::write(path.join("d"), "and this")?;
            }
            Ok(())
        };
        assert_eq!(
            commit(&folder, &mut meddle).unwrap_err(),
            "`d` changed on disk since this edit was worked out, so it was not touched. Read it again with read_file and make the edit anew. \
             Not everything could be put back: `b` was changed by somebody else meanwhile; `a` was changed by somebody else meanwhile. \
             Tell the user."
        );
        check(
            &folder,
            &[
                ("a", "edited by somebody"),
                ("b", "this one too"),
                ("c", "C"),
                ("d", "and this"),
            ],
        );
    }
}
