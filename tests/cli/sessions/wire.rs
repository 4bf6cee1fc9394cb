//! The last exchanges of a session, and undo by the ids of the list.

use super::kit::{Kit, header, turn, user};
use crate::support::run::standin;
use std::fs;
use zcoder::model::script::Script;

fn ring(kit: &Kit) -> Vec<u8> {
    fs::read(kit.file(&newest(kit), "wire")).expect("a ring")
}

fn newest(kit: &Kit) -> String {
    let out = kit.run(&["sessions"]).out;
    out.split(' ').next().expect("an id").to_string()
}

#[test]
fn a_session_keeps_its_exchanges_in_the_form_of_a_record() {
    let (kit, server) = (Kit::new(), standin(None));
    let host = server.address().to_string();
    let task = ["-p", "create a.txt with hello", "--host", &host, "-q"];
    let record = kit.temp.path().join("record");
    let recorded = kit.run(&[&task[..], &["--record", &record.to_string_lossy()]].concat());
    assert_eq!(recorded.code, Some(0), "{recorded:?}");
    let bytes = ring(&kit);
    assert!(
        bytes.starts_with(
            b"zcoder script 1\n# the last exchanges of the session\n\nexchange 0.000s\n"
        )
    );
    let kept = Script::parse(&bytes).expect("a script");
    let record = Script::parse(&fs::read(&record).expect("a record")).expect("a script");
    assert_eq!(kept, record);
    let lines: Vec<&str> = kept
        .exchanges
        .iter()
        .filter_map(|one| one.request_line())
        .collect();
    assert_eq!(
        lines[..3],
        ["GET /api/tags", "GET /api/ps", "POST /api/show"]
    );
    let asked = kept.exchanges.len();
    let more = kit.run(&[&["--continue"], &task[..]].concat());
    assert_eq!(more.code, Some(0), "{more:?}");
    let kept = Script::parse(&ring(&kit)).expect("a script");
    assert!(kept.exchanges.len() > asked, "{}", kept.exchanges.len());
    let shown = kit.run(&["wire", &newest(&kit)[..10]]);
    assert_eq!((shown.code, shown.err.as_str()), (Some(0), ""));
    assert!(
        shown
            .out
            .starts_with("exchange 1   GET /api/tags   +0.000s\n"),
        "{}",
        shown.out
    );
    let heads = shown
        .out
        .lines()
        .filter(|line| line.starts_with("exchange "))
        .count();
    assert_eq!(heads, kept.exchanges.len());
}

#[test]
fn of_a_long_exchange_the_two_ends_are_kept_and_what_is_between_is_counted() {
    let kit = Kit::new();
    // A record of 16 MiB is given up.
    let server = standin(Some("endless-line"));
    let host = server.address().to_string();
    let ran = kit.run(&["-p", "tell", "--host", &host, "-q"]);
    assert_eq!(ran.code, Some(3), "{ran:?}");
    let bytes = ring(&kit);
    let text = String::from_utf8_lossy(&bytes);
    let note = text
        .lines()
        .find(|line| line.ends_with(" of this exchange are left out here"));
    let left_out = note.expect("a comment").trim_start_matches("# ");
    let left_out: String = left_out.chars().filter(char::is_ascii_digit).collect();
    let left_out: usize = left_out.parse().expect("a number");
    let kept = Script::parse(&bytes).expect("a script").exchanges;
    let longest = kept.iter().map(|one| one.response().len()).max();
    let longest = longest.expect("exchanges");
    assert!(longest <= 2 * (128 << 10), "{longest}");
    assert!(longest + left_out >= 16 << 20, "{longest} {left_out}");
    assert!(text.contains("POST /api/chat HTTP/1.1") && text.contains("HTTP/1.1 200 OK"));
}

#[test]
fn the_oldest_exchanges_go_and_that_is_said() {
    let (kit, server) = (Kit::new(), standin(None));
    let host = server.address().to_string();
    let task = ["-p", "create a.txt with hello", "--host", &host, "-q"];
    assert_eq!(kit.run(&task).code, Some(0));
    let path = kit.file(&newest(&kit), "wire");
    let run = Script::parse(&ring(&kit))
        .expect("a script")
        .exchanges
        .len();
    let exchange = |text: &str| format!("\nexchange 0.000s\nrequest\n| GET /{text}\n");
    let big = "x".repeat(1 << 20);
    let mut text =
        "zcoder script 1\n# dropped 2 exchanges, 1,000 bytes: at most 8 MiB are kept\n".to_string();
    for number in 0..8 {
        text.push_str(&exchange(&format!("{number} {big}")));
    }
    fs::write(&path, &text).expect("written");
    assert_eq!(
        kit.run(&[&["--continue"], &task[..]].concat()).code,
        Some(0)
    );
    let bytes = ring(&kit);
    assert!(bytes.len() < 4 << 20, "{}", bytes.len());
    let kept = Script::parse(&bytes).expect("a script").exchanges;
    let old: Vec<_> = kept
        .iter()
        .filter(|one| one.request.starts_with(b"GET /") && one.request.len() > 1 << 20)
        .collect();
    assert_eq!(old.len(), 3);
    assert!(old[0].request.starts_with(b"GET /5 xxx"));
    assert!(kept.len() > 3 && kept.len() <= 3 + run, "{}", kept.len());
    let each = exchange(&format!("0 {big}")).len() as u64;
    let dropped = zcoder::text::grouped(1000 + 5 * each);
    let note = format!("dropped 7 exchanges, {dropped} bytes: at most 8 MiB are kept\n");
    assert!(
        String::from_utf8_lossy(&bytes[..200]).contains(&note),
        "{note}"
    );
    let shown = kit.run(&["wire", &newest(&kit)]);
    assert_eq!((shown.code, shown.err), (Some(0), note));
}

#[test]
fn the_setting_turns_it_off_and_what_is_not_there_is_said() {
    let (kit, server) = (Kit::new(), standin(None));
    let host = server.address().to_string();
    kit.temp.write("home/config.json", "{\"wire\": false}\n");
    assert_eq!(
        kit.run(&["-p", "hello", "--host", &host, "-q"]).code,
        Some(0)
    );
    let id = newest(&kit);
    assert!(!kit.file(&id, "wire").exists());
    kit.check(
        &["wire", &id],
        1,
        "",
        &format!("zcoder: session {id} has kept no exchanges: none of its turns has ended, or the setting `wire` is off\n"),
    );
    kit.check(
        &["wire", "1999"],
        2,
        "",
        "zcoder: no session `1999`: this folder has none whose id begins so\n`zcoder sessions` lists those of this folder\n",
    );
    let ran = kit.run(&["wire", "no-file"]);
    assert_eq!(ran.code, Some(1));
    assert!(
        ran.err
            .ends_with("no-file: No such file or directory (os error 2)\n"),
        "{}",
        ran.err
    );
}

#[test]
fn undo_takes_the_ids_of_the_list() {
    let (kit, server) = (Kit::new(), standin(None));
    let host = server.address().to_string();
    for task in ["create a.txt with hello", "list files"] {
        assert_eq!(kit.run(&["-p", task, "--host", &host, "-q"]).code, Some(0));
    }
    let ids: Vec<String> = kit
        .run(&["sessions"])
        .out
        .lines()
        .map(|line| line[..27].to_string())
        .collect();
    let ran = kit.run(&["undo", "20"]);
    let several = format!(
        "zcoder: no session `20`: several begin so: {}, {}\n",
        ids[0], ids[1]
    );
    assert_eq!(ran.code, Some(2));
    assert!(ran.err.starts_with(&several), "{}", ran.err);
    let ran = kit.run(&["diff", &ids[0]]);
    assert_eq!(ran.code, Some(1));
    assert!(
        ran.err.starts_with(&format!(
            "zcoder: no session `{}` has edited files in ",
            ids[0]
        )),
        "{}",
        ran.err
    );
    let unique = &ids[1][..ids[1].len() - 2];
    let ran = kit.run(&["undo", unique, "--yes"]);
    assert_eq!(ran.code, Some(0), "{ran:?}");
    assert!(!kit.temp.path().join("ws/a.txt").exists());
}

#[test]
fn a_link_in_place_of_the_file_that_becomes_the_ring_is_not_followed() {
    let (kit, server) = (Kit::new(), standin(None));
    let id = kit.session(1, &[header(1), turn(1, "task"), user("task")]);
    kit.temp.write("ws/precious", "precious");
    let precious = kit.temp.path().join("ws/precious");
    std::os::unix::fs::symlink(&precious, kit.file(&id, "wire.new")).expect("a link");
    let host = server.address().to_string();
    let ran = kit.run(&["-q", "--continue", "-p", "hello", "--host", &host]);
    assert_eq!(ran.code, Some(0), "{ran:?}");
    assert_eq!(kit.temp.read("ws/precious"), b"precious");
    assert!(fs::read(kit.file(&id, "wire")).expect("the ring").len() > 100);
}
