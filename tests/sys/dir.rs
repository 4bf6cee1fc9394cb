//! Open folders: kinds of names, and opens that follow nothing.

use crate::support::temp::Temp;
use std::fs;
use std::io::{ErrorKind, Read};
use std::os::unix::fs::{MetadataExt, symlink};
use std::os::unix::net::UnixListener;
use std::process::Command;
use zcoder::sys::dir::{Dir, Kind};

#[test]
fn names_with_their_kinds() {
    let temp = Temp::new();
    let at = |name: &str| temp.path().join(name);
    temp.write("file", "x");
    fs::create_dir(at("folder")).unwrap();
    symlink("folder", at("link")).unwrap();
    let made = Command::new("mkfifo").arg(at("fifo")).status();
    assert!(made.unwrap().success());
    let _socket = UnixListener::bind(at("socket")).unwrap();
    // Room for one name at a time, and for all.
    for room in [300, 32 << 10] {
        let mut names = Vec::new();
        let dir = Dir::open(temp.path()).unwrap();
        dir.read(&mut vec![0; room], &mut |name, kind| {
            names.push((String::from_utf8(name.to_vec()).unwrap(), kind));
        })
        .unwrap();
        names.sort_by(|a, b| a.0.cmp(&b.0));
        let names: Vec<_> = names
            .iter()
            .map(|(name, kind)| (&name[..], *kind))
            .collect();
        let expected = [
            ("fifo", Kind::Fifo),
            ("file", Kind::File),
            ("folder", Kind::Folder),
            ("link", Kind::Link),
            ("socket", Kind::Socket),
        ];
        assert_eq!(names, expected);
    }
    let mut kinds = Vec::new();
    let dir = Dir::open("/dev".as_ref()).unwrap();
    dir.read(&mut vec![0; 32 << 10], &mut |name, kind| {
        if name == b"null" {
            kinds.push(kind);
        }
    })
    .unwrap();
    assert_eq!(kinds, [Kind::Device]);
}

#[test]
fn a_buffer_too_small_for_a_name_is_an_error() {
    let temp = Temp::new();
    temp.write(&"x".repeat(200), "");
    let dir = Dir::open(temp.path()).unwrap();
    let error = dir.read(&mut [0; 64], &mut |_, _| {}).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::InvalidInput);
}

#[test]
fn opens_follow_no_links_and_wait_for_nothing() {
    let temp = Temp::new();
    temp.write("folder/file", "text");
    symlink("folder", temp.path().join("link")).unwrap();
    symlink("folder/file", temp.path().join("to-file")).unwrap();
    let made = Command::new("mkfifo")
        .arg(temp.path().join("fifo"))
        .status();
    assert!(made.unwrap().success());
    let dir = Dir::open(temp.path()).unwrap();
    let folder = dir.open_folder(b"folder").unwrap();
    let mut text = String::new();
    folder
        .open_file(b"file")
        .unwrap()
        .read_to_string(&mut text)
        .unwrap();
    assert_eq!(text, "text");
    let meta = fs::metadata(temp.path().join("folder")).unwrap();
    assert_eq!(folder.identity().unwrap(), (meta.dev(), meta.ino()));

    let kind = |result: std::io::Result<Dir>| result.unwrap_err().kind();
    assert_eq!(kind(dir.open_folder(b"link")), ErrorKind::NotADirectory);
    assert_eq!(kind(dir.open_folder(b"to-file")), ErrorKind::NotADirectory);
    assert_eq!(kind(dir.open_folder(b"fifo")), ErrorKind::NotADirectory);
    assert_eq!(kind(dir.open_folder(b"gone")), ErrorKind::NotFound);
    assert_eq!(kind(dir.open_folder(b"a\0b")), ErrorKind::InvalidInput);
    assert_eq!(
        kind(Dir::open(&temp.path().join("link"))),
        ErrorKind::NotADirectory
    );
    // ELOOP has no stable name.
    assert_eq!(
        dir.open_file(b"to-file").unwrap_err().raw_os_error(),
        Some(40)
    );
    let mut fifo = dir.open_file(b"fifo").unwrap();
    assert_eq!(fifo.read(&mut [0; 9]).unwrap(), 0);
    // Longer than the room on the stack, and than any name.
    let long = dir.open_file(&[b'x'; 600]).unwrap_err();
    assert_eq!(long.kind(), ErrorKind::InvalidFilename);
}
