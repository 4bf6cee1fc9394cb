//! The chain of AGENTS.md: which files count, in which order, and what becomes of odd ones.

use super::kit::{gather, places, system};
use crate::support::temp::Temp;
use std::os::unix::fs::symlink;
use std::process::Command;
use zcoder::guidance::{Guidance, Remark};

const HEAD: &str = "Guidance of the user and of this project, broadest first; where two disagree, the later one counts. It changes no permission.\n";

fn odd(guidance: &Guidance) -> Vec<String> {
    let odd = guidance
        .remarks()
        .into_iter()
        .filter_map(|remark| match remark {
            Remark::Odd(text) => Some(text),
            Remark::Used(_) => None,
        });
    odd.collect()
}

fn used(guidance: &Guidance) -> Vec<String> {
    let used = guidance
        .remarks()
        .into_iter()
        .filter_map(|remark| match remark {
            Remark::Used(text) => Some(text),
            Remark::Odd(_) => None,
        });
    used.collect()
}

#[test]
fn nothing_there_adds_nothing() {
    let temp = Temp::new();
    let guidance = gather(&temp);
    assert_eq!(system(&guidance), "");
    assert_eq!(guidance.offer().names(), [""; 0]);
    assert_eq!(guidance.remarks(), []);
}

#[test]
fn the_chain_is_broadest_first_one_file_of_each_folder() {
    let temp = Temp::new();
    temp.write("config/AGENTS.md", "mine\n");
    temp.write("work/.git", "gitdir: /x\n");
    temp.write("work/AGENTS.md", "hidden by the other\n");
    temp.write("work/AGENTS.override.md", "project\n\n");
    temp.write("work/CONVENTIONS.md", "hidden too\n");
    let guidance = Guidance::gather(places(&temp, true, &["CONVENTIONS.md"]));
    let config = temp.path().join("config/AGENTS.md");
    let config = config.display();
    let expected = format!(
        "{HEAD}\n<guidance file=\"{config}\">\nmine\n</guidance>\n\n<guidance file=\"AGENTS.override.md\">\nproject\n</guidance>"
    );
    assert_eq!(system(&guidance), expected);
    assert_eq!(
        used(&guidance),
        [format!(
            "guidance: {config} (5 bytes), AGENTS.override.md (9 bytes)"
        )]
    );
    assert_eq!(odd(&guidance), [""; 0]);
    // A name from the settings counts where there is no other; folders above come before.
    let temp = Temp::new();
    temp.write(".git/HEAD", "");
    temp.write("AGENTS.md", "above");
    temp.write("work/CONVENTIONS.md", "below");
    let guidance = Guidance::gather(places(&temp, true, &["CLAUDE.md", "CONVENTIONS.md"]));
    let expected = format!(
        "{HEAD}\n<guidance file=\"../AGENTS.md\">\nabove\n</guidance>\n\n<guidance file=\"CONVENTIONS.md\">\nbelow\n</guidance>"
    );
    assert_eq!(system(&guidance), expected);
}

#[test]
fn what_is_not_trusted_is_not_used_and_hides_the_weaker_ones() {
    let temp = Temp::new();
    temp.write("config/AGENTS.md", "mine\n");
    temp.write("work/AGENTS.md", "theirs\n");
    let mut some = places(&temp, false, &[]);
    let trust = some.trust.as_mut().expect("readable");
    trust.keep(&some.found).expect("kept");
    assert!(system(&Guidance::gather(some)).contains("theirs"));
    temp.write("work/AGENTS.override.md", "new\n");
    let guidance = Guidance::gather(places(&temp, false, &[]));
    let text = system(&guidance);
    assert!(
        text.contains("mine") && !text.contains("theirs") && !text.contains("new"),
        "{text}"
    );
    let whys: Vec<String> = guidance.agents[1..]
        .iter()
        .map(|source| match &source.text {
            Ok(text) => text.clone(),
            Err(why) => format!("{}: {why}", source.name),
        })
        .collect();
    assert_eq!(
        whys,
        ["AGENTS.override.md: not trusted; `zcoder trust` shows and accepts it"]
    );
    std::fs::remove_file(temp.path().join("work/AGENTS.override.md")).expect("removed");
    temp.write("work/AGENTS.md", "changed\n");
    let guidance = Guidance::gather(places(&temp, false, &[]));
    let why = guidance.agents[1]
        .text
        .as_ref()
        .map_err(|why| why.to_string());
    assert_eq!(
        why,
        Err("changed since it was trusted; `zcoder trust` shows and accepts it".to_string())
    );
    // Where the list of what is trusted cannot be read, nothing is.
    let mut none = places(&temp, true, &[]);
    none.trust = None;
    assert!(!system(&Guidance::gather(none)).contains("changed"));
}

#[test]
fn odd_bytes_do_no_harm_and_are_said() {
    let temp = Temp::new();
    let name = "work/AGENTS.md";
    for (bytes, expected, remark) in [
        (&b"\xef\xbb\xbfa\r\nb\r\n"[..], "a\nb", None),
        (
            b"caf\xe9\n",
            "caf\u{fffd}",
            Some("AGENTS.md is not UTF-8; odd bytes were replaced"),
        ),
        (
            b"a\x1b[31mb\x1b]0;t\x07c\x00\n",
            "abc",
            Some(
                "AGENTS.md holds control characters; they are left out, or shown where they change the order of others",
            ),
        ),
        (
            "x\u{e0041}\u{202e}y".as_bytes(),
            "x\\u{e0041}\\u{202e}y",
            Some(
                "AGENTS.md holds control characters; they are left out, or shown where they change the order of others",
            ),
        ),
    ] {
        temp.write(name, bytes);
        let guidance = gather(&temp);
        let expected = format!("{HEAD}\n<guidance file=\"AGENTS.md\">\n{expected}\n</guidance>");
        assert_eq!(system(&guidance), expected);
        assert_eq!(
            odd(&guidance),
            remark
                .map(str::to_string)
                .into_iter()
                .collect::<Vec<String>>()
        );
    }
    temp.write(name, " \n\n");
    assert_eq!(system(&gather(&temp)), "");
}

#[test]
fn what_is_no_readable_file_inside_is_not_used() {
    let temp = Temp::new();
    let secret = temp.write("secret.md", "secret");
    temp.write("config/other.md", "inside\n");
    symlink("other.md", temp.path().join("config/AGENTS.md")).expect("a link");
    assert!(system(&gather(&temp)).contains("inside"));
    std::fs::create_dir_all(temp.path().join("work")).expect("workspace");
    symlink(&secret, temp.path().join("work/AGENTS.md")).expect("a link");
    let fifo = temp.path().join("config/AGENTS.override.md");
    assert!(
        Command::new("mkfifo")
            .arg(&fifo)
            .status()
            .expect("mkfifo")
            .success()
    );
    let guidance = gather(&temp);
    assert_eq!(system(&guidance), "");
    let work = temp.path().join("work");
    let expected = [
        format!("{} is not used: is a FIFO", fifo.display()),
        format!(
            "AGENTS.md is not used: a link that leads out of {}",
            work.display()
        ),
    ];
    assert_eq!(odd(&guidance), expected);
    // A gigabyte, of which nothing is on the disk.
    std::fs::remove_file(&fifo).expect("removed");
    let large = std::fs::File::create(&fifo).expect("a file");
    large.set_len(1 << 30).expect("a large file");
    assert_eq!(
        odd(&gather(&temp))[0],
        format!("{} is not used: longer than 262,144 bytes", fifo.display())
    );
}

#[test]
fn all_files_together_take_32_kib_cut_at_a_line_and_less_in_a_small_window() {
    let temp = Temp::new();
    let line = "0123456789abcde\n";
    temp.write("config/AGENTS.md", line.repeat(1024));
    temp.write("work/AGENTS.md", line.repeat(1024));
    let guidance = gather(&temp);
    assert_eq!(system(&guidance).matches(line).count(), 2048);
    assert_eq!(odd(&guidance), [""; 0]);
    temp.write("work/AGENTS.md", format!("{}xy\n", line.repeat(1024)));
    let mut guidance = gather(&temp);
    let text = system(&guidance);
    assert!(
        text.ends_with("abcde\n[cut here by zcoder: 2 bytes left out]\n</guidance>"),
        "{}",
        &text[text.len() - 100..]
    );
    assert_eq!(
        odd(&guidance),
        ["AGENTS.md was cut: 2 bytes of it would be more than the 32,768 that guidance may take"]
    );
    // 8,192 tokens: a quarter of them, at three bytes each.
    guidance.fit(8_192);
    let text = system(&guidance);
    assert_eq!(text.matches(line).count(), 6_144 / 16);
    assert!(text.ends_with(
        "<guidance file=\"AGENTS.md\">\n[cut here by zcoder: 16,386 bytes left out]\n</guidance>"
    ));
    // What a cut leaves free is not filled with the next file's beginning.
    guidance.fit(8_196);
    assert_eq!(system(&guidance), text);
}
