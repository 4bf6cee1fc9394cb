//! `zcoder decode`: each stage, both verdicts, any size.

use crate::support::run::{Ran, run, run_with, zcoder};
use crate::support::temp::Temp;

#[track_caller]
fn decode(stage: &str, input: &[u8]) -> Ran {
    let temp = Temp::new();
    run_with(&mut zcoder(temp.path(), &["decode", stage]), input)
}

#[track_caller]
fn check(stage: &str, input: &[u8], code: i32, expected: &str) {
    let ran = decode(stage, input);
    assert_eq!(ran.out, expected);
    assert_eq!((ran.code, ran.err.as_str()), (Some(code), ""));
}

#[test]
fn chunked() {
    check(
        "chunked",
        b"5;a=b\r\nhello\r\n0\r\nX: y\r\n\r\n",
        0,
        "  offset   bytes  state      what
       0       2  size       5;
       2       4  extension  a=b\\r
       6       1  size       \\n
       7       5  data       hello
      12       2  data end   \\r\\n
      14       3  size       0\\r\\n
      17       8  trailer    X: y\\r\\n\\r\\n
complete: 5 body bytes
",
    );
    check(
        "chunked",
        b"5\r\nhel",
        1,
        "  offset   bytes  state      what
       0       3  size       5\\r\\n
       3       3  data       hel
refused: connection closed after 3 body bytes, 2 short of the chunk's end
",
    );
    let rest = decode("chunked", b"0\r\n\r\nHTTP/1.1");
    assert!(
        rest.out
            .ends_with("complete: 0 body bytes; more bytes follow at 5\n"),
        "{}",
        rest.out
    );
    let bad = decode("chunked", b"x\r\n");
    assert_eq!(bad.code, Some(1));
}

#[test]
fn ndjson() {
    check(
        "ndjson",
        b"{\"a\":1}\r\n\n{\"b\":[1,2]}",
        0,
        "  offset   bytes  record     what
       0       7  1          {\"a\":1}
      10      11  2          {\"b\":[1,2]}
complete: 2 records
",
    );
    let bad = decode("ndjson", b"{}\n{\"a\":}\n");
    assert_eq!(bad.code, Some(1));
    assert!(
        bad.out
            .ends_with("refused: record 2: expected a value after a colon at byte 5, found `}`\n"),
        "{}",
        bad.out
    );
}

#[test]
fn sse() {
    check(
        "sse",
        b"event: delta\ndata: {\"a\":1}\n\n: comment\ndata: [DONE]\n\n",
        0,
        "  offset   bytes  event      what
       0      28  delta      {\"a\":1}
      28      24  message    [DONE]
complete: 2 events
",
    );
}

#[test]
fn json() {
    check(
        "json",
        b" {\"a\": [1, true, null], \"b\\u0041\": \"x\\ny\"}\n",
        0,
        "  offset   bytes  token      what
       1       1  object     {
       2       3  name       \"a\"
       7       1  array      [
       8       1  number     1
      11       4  boolean    true
      17       4  null       null
      21       1  array end  ]
      24       9  name       \"b\\u0041\"
      35       6  string     \"x\\ny\"
      41       1  object end }
accepted: 10 tokens, 43 bytes
",
    );
    check(
        "json",
        b"[1,\n2 x]",
        1,
        "  offset   bytes  token      what
       0       1  array      [
       1       1  number     1
       4       1  number     2
refused: line 2, column 3: expected a comma or `]` in an array at byte 6, found `x`
",
    );
}

#[test]
fn sanitize() {
    check(
        "sanitize",
        b"a\x1b[31mred\x1b[0m\nplain\n10%\r20%\n\xff",
        0,
        "  offset   bytes  line       what
       0      14  1          a\\x1b[31mred\\x1b[0m\\n
       0       5    plain    ared\\n
      14       6  2          plain\\n
      20       8  3          10%\\r20%\\n
      20       4    plain    20%\\n
      28       3  4          \u{fffd}
complete: 4 lines, 2 of them changed
",
    );
}

#[test]
fn quiet_is_the_verdict_only_and_a_file_does_as_well() {
    let temp = Temp::new();
    temp.write("ok.json", "[1]");
    let ran = run(&mut zcoder(
        temp.path(),
        &["decode", "json", "ok.json", "-q"],
    ));
    assert_eq!(
        (ran.code, ran.out.as_str()),
        (Some(0), "accepted: 3 tokens, 3 bytes\n")
    );
    let ran = run(&mut zcoder(temp.path(), &["decode", "json", "missing"]));
    assert_eq!((ran.code, ran.out.as_str()), (Some(2), ""));
    let path = temp.path().join("missing");
    let path = path.display();
    assert_eq!(
        ran.err,
        format!("zcoder: zcoder decode `{path}`: No such file or directory (os error 2)\n")
    );
    let ran = run(&mut zcoder(temp.path(), &["decode", "jsn"]));
    assert_eq!(
        ran.err,
        "zcoder: `zcoder decode jsn`: expected one of chunked, ndjson, sse, json, sanitize; the nearest is json\n"
    );
    let ran = run(&mut zcoder(temp.path(), &["decode", "json", "."]));
    assert_eq!(ran.code, Some(2), "a folder is no file: {}", ran.err);
}

/// More than one read, and lines that lie across the reads.
#[test]
fn files_larger_than_a_read() {
    let record = format!("{{\"text\":\"{}\"}}\n", "x".repeat(999));
    let all = record.repeat(500);
    let ran = decode("ndjson", all.as_bytes());
    assert_eq!((ran.code, ran.out.lines().count()), (Some(0), 502));
    let last = ran.out.lines().rev().nth(1).expect("a row");
    assert!(last.starts_with(&format!(
        "{:>8} {:>7}  500 ",
        499 * record.len(),
        record.len() - 1
    )));
    let mut chunked = Vec::new();
    for _ in 0..200 {
        chunked.extend_from_slice(format!("{:x}\r\n{record}\r\n", record.len()).as_bytes());
    }
    chunked.extend_from_slice(b"0\r\n\r\n");
    let ran = decode("chunked", &chunked);
    let last = format!("complete: {} body bytes\n", 200 * record.len());
    assert!(ran.out.ends_with(&last), "{}", ran.out);
    let ran = decode("sanitize", all.as_bytes());
    assert!(
        ran.out
            .ends_with("complete: 500 lines, 0 of them changed\n")
    );
}

#[test]
fn a_document_that_never_ends_is_refused_before_it_fills_the_memory() {
    let temp = Temp::new();
    let ran = run(&mut zcoder(temp.path(), &["decode", "json", "/dev/zero"]));
    assert_eq!(
        ran.out,
        "  offset   bytes  token      what\nrefused: more than 67,108,864 bytes\n"
    );
    assert_eq!(ran.code, Some(1));
}
