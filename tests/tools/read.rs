//! `read_file`: whole files, ranges, and what is refused or said about files that are not plain UTF-8 text.

use zcoder::protocol::{Facts, ToolStatus};
use zcoder::tools::Prepared;

use super::kit::Kit;

#[track_caller]
fn whole(bytes: &[u8], text: &str) {
    let mut kit = Kit::new();
    kit.put("f", bytes);
    let outcome = kit.call("read_file", &[("path", "f")]);
    assert_eq!(outcome.text, text);
    assert_eq!(outcome.status, ToolStatus::Ok);
    let bytes = bytes.len() as u64;
    assert_eq!(
        outcome.facts,
        Facts::Read {
            path: "f".to_string(),
            bytes
        }
    );
}

#[track_caller]
fn range(bytes: &[u8], lines: (&str, &str), text: &str) {
    let mut kit = Kit::new();
    kit.put("f", bytes);
    let arguments = [
        ("path", "f"),
        ("start_line", lines.0),
        ("end_line", lines.1),
    ];
    let given: Vec<_> = arguments
        .into_iter()
        .filter(|(_, value)| !value.is_empty())
        .collect();
    assert_eq!(kit.ok("read_file", &given), text);
}

#[track_caller]
fn refuses(bytes: &[u8], arguments: &[(&str, &str)], text: &str) {
    let mut kit = Kit::new();
    kit.put("f", bytes);
    let mut all = vec![("path", "f")];
    all.extend(arguments);
    kit.fails("read_file", &all, text);
}

#[test]
fn a_whole_file_is_shown_as_it_is() {
    whole(b"a\n", "a\n");
    whole(b"a\n\n b\t\n", "a\n\n b\t\n");
    whole(b"no line end", "no line end");
    whole(b"10%\r100%\n", "10%\r100%\n");
    whole("ü €\n".as_bytes(), "ü €\n");
    whole(b"", "[f is empty: 0 bytes]");
    whole(b"\xef\xbb\xbfa\n", "a\n");
    whole(&b"x".repeat(1_000), &"x".repeat(1_000));
}

#[test]
fn what_is_not_shown_as_on_disk_is_said() {
    whole(
        b"a\r\nb\r\n",
        "[CRLF line ends are shown as LF; edits keep them]\na\nb\n",
    );
    whole(
        b"a\r\nb\n",
        "[some lines end in CRLF, some in LF; edits keep each as it is]\na\r\nb\n",
    );
    whole(
        b"\xef\xbb\xbfcaf\xe9\r\n\xff\xfe\r\n",
        "[CRLF line ends are shown as LF; edits keep them; 3 bytes that are not UTF-8 are shown as \u{fffd}; edits keep them where \
         they do not touch them]\ncaf\u{fffd}\n\u{fffd}\u{fffd}\n",
    );
    whole(
        b"\xa9\n",
        "[1 byte that is not UTF-8 is shown as \u{fffd}; edits keep them where they do not touch them]\n\u{fffd}\n",
    );
}

#[test]
fn ranges_have_line_numbers_and_say_where_they_end() {
    let file = b"one\ntwo\nthree\nfour\n";
    range(
        file,
        ("2", "3"),
        "2\ttwo\n3\tthree\n[lines 2-3; more lines follow]",
    );
    range(file, ("2", "2"), "2\ttwo\n[line 2; more lines follow]");
    range(
        file,
        ("3", ""),
        "3\tthree\n4\tfour\n[lines 3-4; line 4 is the last]",
    );
    range(file, ("", "1"), "1\tone\n[line 1; more lines follow]");
    range(
        file,
        ("3", "99"),
        "3\tthree\n4\tfour\n[lines 3-4; line 4 is the last]",
    );
    range(
        b"one\ntwo",
        ("2", "9"),
        "2\ttwo\n[line 2; line 2 is the last]",
    );
    range(
        b"\n\n",
        ("1", "9"),
        "1\t\n2\t\n[lines 1-2; line 2 is the last]",
    );
    range(
        b"\xef\xbb\xbfa\r\nb\r\n",
        ("1", "1"),
        "1\ta\n[line 1; more lines follow; line ends are CRLF, edits keep them]",
    );
    range(
        b"a\n\xe9\n",
        ("2", "2"),
        "2\t\u{fffd}\n[line 2; line 2 is the last; 1 byte that is not UTF-8 is shown as \u{fffd}; edits keep them where they do not touch \
         them]",
    );
    range(b"", ("1", "2"), "[f is empty: 0 bytes]");
}

#[test]
fn ranges_are_cut_at_the_limit() {
    // 100 bytes a line and up to three for its number: nine fit.
    let line = |n: u64| format!("{n:03}{}", "x".repeat(96));
    let file: String = (1..=30).map(|n| line(n) + "\n").collect();
    let shown = |lines: std::ops::RangeInclusive<u64>| -> String {
        lines.map(|n| format!("{n}\t{}\n", line(n))).collect()
    };
    range(
        file.as_bytes(),
        ("5", "30"),
        &format!(
            "{}[lines 5-13; cut: at most 1,000 bytes are shown at once; go on with start_line=14]",
            shown(5..=13)
        ),
    );
    range(
        file.as_bytes(),
        ("5", "13"),
        &format!("{}[lines 5-13; more lines follow]", shown(5..=13)),
    );
    range(
        format!("a\n{}\nb\n", "y".repeat(2_000)).as_bytes(),
        ("2", ""),
        &format!(
            "2\t{}\n[line 2; the line is cut: at most 1,000 bytes are shown at once; see the rest of it with run_command and cut -c]",
            "y".repeat(998)
        ),
    );
    // Line numbers count: empty lines are not free.
    let mut kit = Kit::new();
    kit.put("f", "\n".repeat(5_000));
    let text = kit.ok("read_file", &[("path", "f"), ("start_line", "1000")]);
    assert!(text.len() < 1_120, "{}", text.len());
}

#[test]
fn ranges_are_the_same_wherever_reading_cuts_the_file() {
    // Lines of every length around the 64 KiB that are read at once.
    for length in [65_535, 65_536, 65_537, 131_072] {
        let mut kit = Kit::new();
        kit.put("f", format!("{}\nsecond\nthird\n", "x".repeat(length)));
        let text = kit.ok(
            "read_file",
            &[("path", "f"), ("start_line", "2"), ("end_line", "2")],
        );
        assert_eq!(text, "2\tsecond\n[line 2; more lines follow]", "{length}");
    }
}

#[test]
fn ranges_that_are_none() {
    let file = b"one\ntwo\n";
    refuses(
        file,
        &[("start_line", "3")],
        "`f` has 2 lines, so it has no line 3. Call read_file again with a smaller start_line.",
    );
    refuses(
        b"one",
        &[("start_line", "2")],
        "`f` has 1 line, so it has no line 2. Call read_file again with a smaller start_line.",
    );
    refuses(
        file,
        &[("start_line", "2"), ("end_line", "1")],
        "end_line 1 lies before start_line 2. Call read_file again with the smaller number as start_line.",
    );
    for zero in ["start_line", "end_line"] {
        refuses(
            file,
            &[(zero, "0")],
            "lines count from 1. Call read_file again with start_line of at least 1.",
        );
    }
}

#[test]
fn files_above_the_limit_are_refused_with_a_range_that_fits() {
    refuses(
        &b"0123456789\n".repeat(200),
        &[],
        "`f` is too large to read whole: 2,200 bytes in 200 lines; at most 1,000 bytes are shown at once. Read a part with start_line and \
         end_line (start_line=1, end_line=52 fits), or find the place first with search_text.",
    );
    refuses(
        &b"x".repeat(1_001),
        &[],
        "`f` is too large to read whole: 1,001 bytes in 1 line; at most 1,000 bytes are shown at once. Read a part with start_line and \
         end_line (start_line=1, end_line=1 fits), or find the place first with search_text.",
    );
    let mut kit = Kit::new();
    kit.put(
        "f.rs",
        format!(
            "fn first() {{\n{}}}\n\nfn last() {{}}\n",
            "    x();\n".repeat(200)
        ),
    );
    kit.fails(
        "read_file",
        &[("path", "f.rs")],
        "`f.rs` is too large to read whole: 1,829 bytes in 204 lines; at most 1,000 bytes are shown at once. Its outline:\n\
         1: fn first() {\n204: fn last() {}\n\
         Read a part with start_line and end_line (start_line=1, end_line=62 fits), or find the place first with search_text.",
    );
    kit.put("f.md", "# a\n\n## b\n\n".repeat(100));
    let outcome = kit.call("read_file", &[("path", "f.md")]);
    let text = "at most 1,000 bytes are shown at once. 25 of the 200 lines of its outline:\n1: # a\n17: # a\n33: # a\n";
    assert!(outcome.text.contains(text), "{}", outcome.text);
    kit.put("f", b"x".repeat(1_001));
    kit.toolbox.set_read_limit(1_001);
    assert_eq!(kit.ok("read_file", &[("path", "f")]).len(), 1_001);
}

#[test]
fn what_is_not_text_is_named() {
    for (bytes, what, size) in [
        (&b"\x89PNG\r\n\x1a\nxx"[..], "a PNG image", 10),
        (b"\xff\xd8\xff\xe0", "a JPEG image", 4),
        (b"%PDF-1.7\n", "a PDF document", 9),
        (
            b"PK\x03\x04rest",
            "a ZIP archive (or an office document)",
            8,
        ),
        (b"\x1f\x8b\x08", "gzip data", 3),
        (b"\x7fELF\x02", "an ELF program or library", 5),
        (b"SQLite format 3\0", "an SQLite database", 16),
        (b"\xff\xfea\0b\0", "UTF-16 text (or other 16-bit data)", 6),
        (b"RIFF\0\0\0\0WEBPVP8 ", "a WebP image", 16),
        (b"text\0more", "binary data (it holds NUL bytes)", 9),
    ] {
        let text = format!(
            "`f` is {what} ({size} bytes), and read_file shows text only. Use run_command with a program that understands it, or work \
             without its content."
        );
        refuses(bytes, &[], &text);
        refuses(bytes, &[("start_line", "1")], &text);
    }
    // A NUL far into a text does not make it binary.
    let mut late = b"x\n".repeat(4_000);
    late.extend_from_slice(b"a\0b\n");
    range(
        &late,
        ("4001", ""),
        "4001\ta\0b\n[line 4001; line 4001 is the last]",
    );
}

#[test]
fn kept_outputs_that_do_not_exist() {
    let mut kit = Kit::new();
    kit.fails(
        "read_file",
        &[("path", "output:x")],
        "`output:x` names no command output. Write output: and the number that run_command gave.",
    );
    let outcome = kit.call("read_file", &[("path", "output:7")]);
    assert_eq!(outcome.status, ToolStatus::Failed);
}

#[test]
fn a_file_that_never_ends_is_read_by_its_bytes() {
    // Files of /proc have a size of 0 and content all the same.
    let workspace = zcoder::tools::Workspace::open(std::path::Path::new("/proc/self"), Vec::new())
        .expect("opens");
    let limits = zcoder::tools::Limits {
        read_bytes: 1_000_000,
        output_bytes: 1_000,
        command_timeout: std::time::Duration::from_secs(1),
        command_wrapper: Vec::new(),
    };
    let temp = crate::support::temp::Temp::new();
    let mut toolbox = zcoder::tools::Toolbox::new(workspace, limits, temp.path().join("o"), true);
    let call = zcoder::tools::Call::ReadFile {
        path: "status".to_string(),
        start_line: None,
        end_line: None,
    };
    let Prepared::Outcome(outcome) = toolbox.prepare(call) else {
        panic!("reading needs no approval");
    };
    assert!(outcome.text.starts_with("Name:\t"), "{}", outcome.text);
}
