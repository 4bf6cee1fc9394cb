//! Tests of `src/lines/`: each decoder at every cut, on both sides of its limit, and with damaged input.
use crate::support::cuts::{Rng, cuts};
use zcoder::lines::{Error, Event, Ndjson, Splitter, Sse};

type Pieces = [Vec<u8>];

fn split(pieces: &Pieces, limit_bytes: usize) -> (Vec<Vec<u8>>, Result<(), Error>) {
    let mut splitter = Splitter::new(limit_bytes);
    let mut lines = Vec::new();
    for piece in pieces {
        let fed = splitter.feed(piece, &mut |line| lines.push(line.to_vec()));
        if fed.is_err() {
            return (lines, fed);
        }
    }
    let end = splitter.finish(&mut |line| lines.push(line.to_vec()));
    (lines, end)
}

fn ndjson(pieces: &Pieces, limit_bytes: usize) -> (Vec<Vec<u8>>, Result<(), Error>) {
    let mut decoder = Ndjson::new(limit_bytes);
    let mut records = Vec::new();
    let mut push = |record: &[u8]| {
        records.push(record.to_vec());
        Ok(())
    };
    let end = pieces
        .iter()
        .try_for_each(|piece| decoder.feed(piece, &mut push))
        .and_then(|()| decoder.finish(&mut push));
    (records, end)
}

fn sse(pieces: &Pieces, limit_bytes: usize) -> (Vec<Event>, Result<(), Error>) {
    let mut decoder = Sse::new(limit_bytes);
    let mut events = Vec::new();
    let end = pieces
        .iter()
        .try_for_each(|piece| decoder.feed(piece, &mut events))
        .and_then(|()| decoder.finish(&mut events));
    (events, end)
}

#[track_caller]
fn lines(input: &str, expected: &[&str]) {
    for pieces in cuts(input.as_bytes()) {
        let expected = expected
            .iter()
            .map(|line| line.as_bytes().to_vec())
            .collect();
        assert_eq!(split(&pieces, 8), (expected, Ok(())), "{pieces:?}");
    }
}

#[track_caller]
fn records(input: &str, expected: &[&str]) {
    for pieces in cuts(input.as_bytes()) {
        let expected = expected
            .iter()
            .map(|line| line.as_bytes().to_vec())
            .collect();
        assert_eq!(ndjson(&pieces, 16), (expected, Ok(())), "{pieces:?}");
    }
}

#[track_caller]
fn events(input: &[u8], expected: &[(&str, &str)]) {
    let expected: Vec<Event> = expected
        .iter()
        .map(|(name, data)| Event {
            name: (*name).to_owned(),
            data: (*data).to_owned(),
        })
        .collect();
    for pieces in cuts(input) {
        assert_eq!(sse(&pieces, 64), (expected.clone(), Ok(())), "{pieces:?}");
    }
}

#[test]
fn lines_of_all_kinds() {
    lines("", &[]);
    lines("\n", &[""]);
    lines("a", &["a"]);
    lines("one\ntwo\r\n\nthree", &["one", "two\r", "", "three"]);
    lines("\r\n\r", &["\r", "\r"]);
    lines("\u{e9}\n\0\n", &["\u{e9}", "\0"]);
    lines("12345678\n12345678", &["12345678", "12345678"]);
}

#[test]
fn a_line_over_the_limit() {
    let error = Err(Error::TooLong { limit_bytes: 8 });
    for input in [
        "ok\n123456789\n",
        "ok\n123456789",
        "ok\n1234567890123456789",
    ] {
        for pieces in cuts(input.as_bytes()) {
            assert_eq!(
                split(&pieces, 8),
                (vec![b"ok".to_vec()], error),
                "{pieces:?}"
            );
        }
    }
    assert_eq!(
        Error::TooLong { limit_bytes: 8 }.to_string(),
        "line longer than 8 bytes"
    );
}

#[test]
fn lines_lie_in_the_input_when_whole_there() {
    let input = b"one\ntwo\n";
    let mut seen = Vec::new();
    Splitter::new(8)
        .feed(input, &mut |line| seen.push(line.as_ptr()))
        .expect("short lines");
    assert_eq!(seen, [input.as_ptr(), input[4..].as_ptr()]);
}

#[test]
fn records_of_all_kinds() {
    records("", &[]);
    records("{}\n{\"a\":1}\n", &["{}", "{\"a\":1}"]);
    records("{}\r\n\r\n \t\n\n  {} \t\r\n{}", &["{}", "{}", "{}"]);
    records("\u{feff}{}\n\u{feff}{}\n", &["{}", "\u{feff}{}"]);
    records("\u{feff}\n\u{feff}", &["\u{feff}"]);
    records(" \u{feff}{}", &["\u{feff}{}"]);
    records("{}{}\n{\n}", &["{}{}", "{", "}"]);
    records("1234567890123456\n", &["1234567890123456"]);
}

#[test]
fn a_record_over_the_limit() {
    for pieces in cuts(b"{}\n12345678901234567\n") {
        let expected = (
            vec![b"{}".to_vec()],
            Err(Error::TooLong { limit_bytes: 16 }),
        );
        assert_eq!(ndjson(&pieces, 16), expected, "{pieces:?}");
    }
}

#[test]
fn a_failing_record_stops_the_stream() {
    #[derive(Debug, PartialEq)]
    enum Failure {
        Lines(Error),
        Record(Vec<u8>),
    }
    impl From<Error> for Failure {
        fn from(error: Error) -> Failure {
            Failure::Lines(error)
        }
    }
    for pieces in cuts(b"1\n2\n3\n") {
        let mut decoder = Ndjson::new(16);
        let mut seen = 0;
        let end = pieces.iter().try_for_each(|piece| {
            decoder.feed(piece, &mut |record| {
                seen += 1;
                if record == b"2" {
                    Err(Failure::Record(record.to_vec()))
                } else {
                    Ok(())
                }
            })
        });
        assert_eq!((seen, end), (2, Err(Failure::Record(b"2".to_vec()))));
    }
    let end = Ndjson::new(1).feed(b"22\n", &mut |_| Ok(()));
    assert_eq!(end, Err(Failure::Lines(Error::TooLong { limit_bytes: 1 })));
}

#[test]
fn events_of_all_kinds() {
    events(b"", &[]);
    events(b"data: {}\n\n", &[("message", "{}")]);
    events(b"data:{}\r\n\r\n", &[("message", "{}")]);
    events(b"data:  x \n\n", &[("message", " x ")]);
    events(
        b"data: a\rdata: b\r\rdata: c\r\r",
        &[("message", "a\nb"), ("message", "c")],
    );
    events(
        b"data: a\r\ndata: b\n\r\n\rdata: c\n\n",
        &[("message", "a\nb"), ("message", "c")],
    );
    events(b": comment\n:\n\ndata: x\n: y\n\n", &[("message", "x")]);
    events(
        b"event: error\ndata: {}\n\ndata: y\n\n",
        &[("error", "{}"), ("message", "y")],
    );
    events(b"event: a\nevent: b\ndata: x\n\n", &[("b", "x")]);
    events(b"event: lonely\n\ndata: x\n\n", &[("message", "x")]);
    events(
        b"id: 1\nretry: 5\nwhatever\nDATA: no\ndata: x\n\n",
        &[("message", "x")],
    );
    events(
        b"data\n\ndata:\n\ndata\ndata\n\n",
        &[("message", ""), ("message", ""), ("message", "\n")],
    );
    events(b"data: a:b: c\n\n", &[("message", "a:b: c")]);
    events(
        "\u{feff}data: \u{e9}\n\n\u{feff}data: no\n\n".as_bytes(),
        &[("message", "\u{e9}")],
    );
    events(b"data: \xff\xc3\n\n", &[("message", "\u{fffd}\u{fffd}")]);
    events(b"\n\n\n", &[]);
}

#[test]
fn an_event_at_the_end_counts() {
    events(
        b"data: x\n\ndata: [DONE]",
        &[("message", "x"), ("message", "[DONE]")],
    );
    events(b"data:  [DONE] \n", &[("message", " [DONE] ")]);
    events(b"data: x\r", &[("message", "x")]);
    events(b"event: error", &[]);
}

#[test]
fn an_event_over_the_limit() {
    // The data gathered so far and the line being read count together.
    let event = |length: usize| {
        format!(
            "data: {}\ndata: {}\n\n",
            "x".repeat(20),
            "y".repeat(length - 26)
        )
    };
    for pieces in cuts(event(64).as_bytes()) {
        let (events, end) = sse(&pieces, 64);
        assert_eq!((events.len(), end), (1, Ok(())));
    }
    for pieces in cuts(event(65).as_bytes()) {
        let (events, end) = sse(&pieces, 64);
        assert_eq!(
            (events.len(), end),
            (0, Err(Error::TooLong { limit_bytes: 64 }))
        );
    }
}

#[test]
fn damaged_streams_end_and_do_not_depend_on_cuts() {
    let sound =
        b"\xef\xbb\xbfdata: {\"a\":1}\r\n\r\nevent: e\rdata:x\ndata: \xc3\xa9\n\n: c\n{\"b\":2}\n";
    for seed in 0..3000 {
        let mut rng = Rng::new(seed);
        let bytes = rng.mutate(sound);
        let pieces = rng.pieces(&bytes, 7);
        let whole = [bytes];
        assert_eq!(split(&pieces, 20), split(&whole, 20), "seed {seed}");
        assert_eq!(ndjson(&pieces, 20), ndjson(&whole, 20), "seed {seed}");
        assert_eq!(sse(&pieces, 30), sse(&whole, 30), "seed {seed}");
    }
}

#[test]
fn long_lines_byte_by_byte_take_linear_time() {
    // Quadratic, this would take minutes.
    let line = vec![b'x'; 4 << 20];
    let mut splitter = Splitter::new(4 << 20);
    for byte in &line {
        splitter
            .feed(&[*byte], &mut |_| panic!("no end yet"))
            .expect("within the limit");
    }
    let mut seen = 0;
    splitter
        .feed(b"\nx\n", &mut |line| seen += line.len())
        .expect("within the limit");
    assert_eq!(seen, (4 << 20) + 1);
}
