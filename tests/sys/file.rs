//! Opening refuses what is no regular file; replacing keeps what it promises, above all when it fails.

use crate::support::temp::Temp;
use std::fs::{self, File, Permissions};
use std::io::{self, ErrorKind};
use std::os::unix::fs::{MetadataExt, PermissionsExt, symlink};
use std::os::unix::net::UnixListener;
use std::path::Path;
use std::process::Command;
use std::time::Duration;
use zcoder::sys::file::{Identity, Locked, create, open_own_to_write, open_regular, replace};

fn no_recheck() -> io::Result<()> {
    Ok(())
}

/// The names in a folder, sorted: shows that no temporary file stayed.
fn names(folder: &Path) -> Vec<String> {
    let entries = fs::read_dir(folder).unwrap();
    let mut names: Vec<_> = entries
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .collect();
    names.sort();
    names
}

fn mode(path: &Path) -> u32 {
    fs::metadata(path).unwrap().permissions().mode() & 0o7777
}

#[test]
fn only_regular_files_are_opened() {
    let folder = Temp::new();
    let file = folder.write("file", "bytes");
    let at = |name: &str| folder.path().join(name);
    symlink(&file, at("link")).unwrap();
    symlink("nowhere", at("dangling")).unwrap();
    fs::create_dir(at("folder")).unwrap();
    let _socket = UnixListener::bind(at("socket")).unwrap();
    assert!(
        Command::new("mkfifo")
            .arg(at("fifo"))
            .status()
            .unwrap()
            .success()
    );

    #[track_caller]
    fn check(path: &Path, kind: ErrorKind, text: &str) {
        let error = open_regular(path).unwrap_err();
        assert_eq!((error.kind(), error.to_string().as_str()), (kind, text));
    }
    check(&at("link"), ErrorKind::InvalidInput, "is a symbolic link");
    check(
        &at("dangling"),
        ErrorKind::InvalidInput,
        "is a symbolic link",
    );
    check(&at("folder"), ErrorKind::IsADirectory, "is a directory");
    check(&at("socket"), ErrorKind::InvalidInput, "is a socket");
    check(&at("fifo"), ErrorKind::InvalidInput, "is a FIFO");
    check(
        Path::new("/dev/null"),
        ErrorKind::InvalidInput,
        "is a device",
    );
    assert_eq!(
        open_regular(&at("none")).unwrap_err().kind(),
        ErrorKind::NotFound
    );
    assert_eq!(
        io::read_to_string(open_regular(&file).unwrap()).unwrap(),
        "bytes"
    );
}

#[test]
fn identity_changes_with_every_kind_of_change() {
    let folder = Temp::new();
    let path = folder.write("file", "one");
    let open = open_regular(&path).unwrap();
    let of_open = || Identity::from(&open.metadata().unwrap());
    let at_path = || Identity::from(&fs::symlink_metadata(&path).unwrap());
    let identity = of_open();
    assert_eq!(identity, at_path());
    fs::write(&path, "other").unwrap();
    assert_ne!(identity, of_open());
    // Same size, another file.
    replace(&path, &[b"two"], None, &mut no_recheck).unwrap();
    assert_ne!(identity, at_path());
}

#[test]
fn parts_are_joined_and_the_mode_is_kept() {
    let folder = Temp::new();
    let path = folder.write("tool.sh", "old");
    for bits in [0o600, 0o644, 0o755, 0o4711, 0o666] {
        fs::set_permissions(&path, Permissions::from_mode(bits)).unwrap();
        let old = File::open(&path).unwrap();
        replace(
            &path,
            &[b"new ", b"", b"bytes"],
            Some(&old),
            &mut no_recheck,
        )
        .unwrap();
        assert_eq!(folder.read("tool.sh"), b"new bytes");
        assert_eq!(mode(&path), bits);
    }
    assert_eq!(names(folder.path()), ["tool.sh"]);
}

#[test]
fn a_new_file_gets_the_mode_that_any_program_would_give_it() {
    let folder = Temp::new();
    let usual = folder.write("usual", "");
    let path = folder.path().join("new");
    replace(&path, &[b"x"], None, &mut no_recheck).unwrap();
    assert_eq!(mode(&path), mode(&usual));
    let path = folder.path().join("newer");
    create(&path, &[b"x", b"y"]).unwrap();
    assert_eq!(mode(&path), mode(&usual));
    assert_eq!(folder.read("newer"), b"xy");
    assert_eq!(names(folder.path()), ["new", "newer", "usual"]);
}

#[test]
fn owner_and_group_are_kept_where_that_is_allowed() {
    let folder = Temp::new();
    let path = folder.write("file", "old");
    if std::os::unix::fs::chown(&path, Some(12345), Some(23456)).is_err() {
        // Only root may give files away; without it there is nothing to keep.
        return;
    }
    fs::set_permissions(&path, Permissions::from_mode(0o6755)).unwrap();
    let old = File::open(&path).unwrap();
    replace(&path, &[b"new"], Some(&old), &mut no_recheck).unwrap();
    let metadata = fs::metadata(&path).unwrap();
    assert_eq!((metadata.uid(), metadata.gid()), (12345, 23456));
    assert_eq!(mode(&path), 0o6755);
}

#[test]
fn create_never_replaces() {
    let folder = Temp::new();
    let path = folder.write("file", "old");
    assert_eq!(
        create(&path, &[b"new"]).unwrap_err().kind(),
        ErrorKind::AlreadyExists
    );
    assert_eq!(folder.read("file"), b"old");
    let link = folder.path().join("link");
    symlink("nowhere", &link).unwrap();
    assert_eq!(
        create(&link, &[b"new"]).unwrap_err().kind(),
        ErrorKind::AlreadyExists
    );
    assert_eq!(names(folder.path()), ["file", "link"]);
}

#[test]
fn a_failed_recheck_leaves_the_old_file_and_nothing_else() {
    let folder = Temp::new();
    let path = folder.write("file", "old");
    let old = File::open(&path).unwrap();
    let mut seen = Vec::new();
    let mut recheck = || {
        seen = fs::read(&path).unwrap();
        Err(io::Error::other("changed meanwhile"))
    };
    let error = replace(&path, &[b"new"], Some(&old), &mut recheck).unwrap_err();
    assert_eq!(error.to_string(), "changed meanwhile");
    assert_eq!(seen, b"old");
    assert_eq!(folder.read("file"), b"old");
    assert_eq!(names(folder.path()), ["file"]);
}

#[test]
fn a_file_marked_read_only_is_not_replaced() {
    let folder = Temp::new();
    let path = folder.write("file", "old");
    fs::set_permissions(&path, Permissions::from_mode(0o444)).unwrap();
    let old = File::open(&path).unwrap();
    let error = replace(&path, &[b"new"], Some(&old), &mut no_recheck).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::PermissionDenied);
    assert_eq!(error.to_string(), "is read-only");
    assert_eq!(folder.read("file"), b"old");
    assert_eq!(names(folder.path()), ["file"]);
}

#[test]
fn a_missing_folder_and_a_folder_as_target_are_errors() {
    let folder = Temp::new();
    let path = folder.path().join("none/file");
    let error = replace(&path, &[b"x"], None, &mut no_recheck).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::NotFound);
    folder.write("folder/file", "");
    let path = folder.path().join("folder");
    assert!(replace(&path, &[b"x"], None, &mut no_recheck).is_err());
    assert_eq!(names(folder.path()), ["folder"]);
}

#[test]
fn a_name_of_the_greatest_length_works() {
    let folder = Temp::new();
    let path = folder.path().join("n".repeat(255));
    replace(&path, &[b"x"], None, &mut no_recheck).unwrap();
    assert_eq!(names(folder.path()), ["n".repeat(255)]);
}

#[test]
fn whoever_reads_meanwhile_sees_the_old_or_the_new_bytes_whole() {
    let folder = Temp::new();
    let (old, new) = (vec![b'o'; 300_000], vec![b'n'; 200_000]);
    let path = folder.write("file", &old);
    std::thread::scope(|scope| {
        let writer = scope.spawn(|| {
            for round in 0..20 {
                let bytes = if round % 2 == 0 { &new } else { &old };
                replace(&path, &[bytes], None, &mut no_recheck).unwrap();
            }
        });
        while !writer.is_finished() {
            let bytes = fs::read(&path).unwrap();
            assert!(bytes == old || bytes == new);
        }
    });
}

/// Replaces `file` in the folder it is started in by more than fits, and prints the error.
#[test]
#[ignore = "run with little room in a process of its own"]
fn helper_write_too_much() {
    if !crate::support::is_apart() {
        return;
    }
    let path = Path::new("file");
    let old = File::open(path).unwrap();
    let large = vec![b'n'; 1 << 20];
    let error = replace(path, &[&large], Some(&old), &mut no_recheck).unwrap_err();
    println!("error <{:?}>", error.kind());
    println!("names <{}>", names(Path::new(".")).join(" "));
    println!("bytes <{}>", fs::read_to_string(path).unwrap());
}

/// `script` makes the shortage and then runs the helper as `"$0" "$@"`; `None` if this machine does not let us.
fn with_little_room(script: &str) -> Option<String> {
    let folder = Temp::new();
    folder.write("file", "old bytes");
    let output = Command::new("sh")
        .args(["-c", script])
        .arg(std::env::current_exe().unwrap())
        .args([
            "sys::file::helper_write_too_much",
            "--exact",
            "--ignored",
            "--nocapture",
        ])
        .current_dir(folder.path())
        .output()
        .unwrap();
    let stdout = String::from_utf8(output.stdout).unwrap();
    (output.status.code() != Some(99)).then_some(stdout)
}

#[test]
fn a_file_that_grows_too_large_leaves_the_old_one() {
    let stdout = with_little_room("trap '' XFSZ; ulimit -f 8; exec \"$0\" \"$@\"").unwrap();
    let expected = "error <FileTooLarge>\nnames <file>\nbytes <old bytes>\n";
    assert!(stdout.contains(expected), "{stdout}");
}

#[test]
fn a_full_disk_leaves_the_old_file() {
    // A file system of 64 KiB in a mount namespace of its own: it goes with the process. Needs root.
    let script = "unshare -m sh -c 'mkdir m && mount -t tmpfs -o size=64k none m || exit 99
        cp file m/file; cd m; exec \"$0\" \"$@\"' \"$0\" \"$@\"";
    let Some(stdout) = with_little_room(script).filter(|stdout| stdout.contains("running")) else {
        return;
    };
    let expected = "error <StorageFull>\nnames <file>\nbytes <old bytes>\n";
    assert!(stdout.contains(expected), "{stdout}");
}

#[test]
fn a_lock_is_waited_for_and_no_longer_than_said() {
    let temp = Temp::new();
    let path = temp.write("lock", "");
    let open = || File::open(&path).expect("the file");
    let held = Locked::take(open()).expect("locks").expect("free");
    let limit = Duration::from_millis(30);
    assert!(Locked::wait(open(), limit).expect("locks").is_none());
    let waiting = std::thread::spawn({
        let file = open();
        move || Locked::wait(file, Duration::from_secs(60)).map(|lock| lock.is_some())
    });
    drop(held);
    assert!(waiting.join().expect("the thread").expect("locks"));
    assert!(Locked::wait(open(), limit).expect("locks").is_some());
}

#[test]
fn opening_to_write_makes_nothing_and_refuses_what_opening_does() {
    let temp = Temp::new();
    let path = temp.write("file", "old");
    let (mut file, metadata) = open_own_to_write(&path).expect("the file");
    assert_eq!(metadata.len(), 3);
    std::io::Write::write_all(&mut file, b"new").expect("written");
    assert_eq!(temp.read("file"), b"new");
    symlink(&path, temp.path().join("link")).expect("a link");
    for (name, expected) in [
        ("link", ErrorKind::InvalidInput),
        ("", ErrorKind::IsADirectory),
        ("none", ErrorKind::NotFound),
    ] {
        let error = open_own_to_write(&temp.path().join(name)).expect_err(name);
        assert_eq!(error.kind(), expected, "{name}");
    }
}

#[test]
fn a_shared_lock_stands_beside_others_and_an_exclusive_one_beside_none() {
    let temp = Temp::new();
    // A folder has locks too.
    let open = || File::open(temp.path()).expect("a folder");
    let one = Locked::share(open()).expect("locks").expect("free");
    let other = Locked::share(open()).expect("locks").expect("shared");
    assert!(Locked::take(open()).expect("locks").is_none());
    drop(one);
    assert!(Locked::take(open()).expect("locks").is_none());
    drop(other);
    let alone = Locked::take(open()).expect("locks").expect("free");
    assert!(Locked::share(open()).expect("locks").is_none());
    drop(alone);
}
