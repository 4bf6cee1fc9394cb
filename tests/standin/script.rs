//! The script format: reading, writing, playing, recording.

use std::fs;
use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream};
use std::time::{Duration, Instant};
use zcoder::model::script::{self, Exchange, Recorder, Script, ScriptError, Step};

const SMALL: &str = "\
zcoder script 1

exchange 0.000s
request
| POST /api/chat HTTP/1.1\\r\\n
| \\r\\n
| {\"tab\":\"\\t\",\"back\":\"\\\\\"}
pause 0.120s
send
| Gr\u{fc}\u{df}e \\xe2\\x80\\xae\\xff\\x00\\n
| blank at the end\\x20
close
";

fn small() -> Script {
    let request = b"POST /api/chat HTTP/1.1\r\n\r\n{\"tab\":\"\t\",\"back\":\"\\\"}";
    let mut answer = "Gr\u{fc}\u{df}e \u{202e}".as_bytes().to_vec();
    answer.extend_from_slice(b"\xff\x00\nblank at the end ");
    Script {
        exchanges: vec![Exchange {
            at: Duration::ZERO,
            request: request.to_vec(),
            steps: vec![
                Step::Pause(Duration::from_millis(120)),
                Step::Send(answer),
                Step::Close,
            ],
        }],
    }
}

#[test]
fn a_script_reads_as_it_is_written() {
    assert_eq!(Script::parse(SMALL.as_bytes()), Ok(small()));
    assert_eq!(String::from_utf8_lossy(&small().write()), SMALL);
    let line = small().exchanges[0].request_line().map(str::to_string);
    assert_eq!(line, Some("POST /api/chat".to_string()));
}

#[test]
fn comments_blank_lines_and_carriage_returns_are_free() {
    let text = SMALL
        .replace('\n', "\r\n")
        .replace("send\r\n", "# note\r\n\r\nsend\r\n# here too\r\n");
    assert_eq!(Script::parse(text.as_bytes()), Ok(small()));
}

/// A small generator (SplitMix64): the same scripts in every run.
struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    fn below(&mut self, limit: u64) -> u64 {
        self.next() % limit
    }

    fn bytes(&mut self) -> Vec<u8> {
        let len = self.below(400);
        let kind = self.below(3);
        (0..len)
            .flat_map(|_| match kind {
                0 => vec![self.next() as u8],
                1 => vec![b" \n\r\\|#x"[self.below(7) as usize]],
                _ => {
                    let c = char::from_u32(self.below(0x3000) as u32).unwrap_or(' ');
                    c.to_string().into_bytes()
                }
            })
            .collect()
    }
}

#[test]
fn any_bytes_survive_writing_and_reading() {
    let mut random = Random(7);
    for round in 0..300 {
        let mut script = Script::default();
        for _ in 0..random.below(4) {
            let mut steps = Vec::new();
            for _ in 0..random.below(6) {
                steps.push(match random.below(3) {
                    0 => Step::Send(random.bytes()),
                    1 => Step::Pause(Duration::from_nanos(random.below(5_000_000_000))),
                    _ => Step::Wait,
                });
            }
            match random.below(4) {
                0 => steps.push(Step::Close),
                1 => steps.push(Step::Reset),
                2 => steps.push(Step::Hang),
                _ => {}
            }
            script.exchanges.push(Exchange {
                at: Duration::from_nanos(random.next() >> 8),
                request: random.bytes(),
                steps,
            });
        }
        let text = script.write();
        assert_eq!(Script::parse(&text).as_ref(), Ok(&script), "round {round}");
        let shown = String::from_utf8(text).expect("a script is UTF-8");
        for line in shown.lines() {
            assert_eq!(
                line,
                line.trim_end(),
                "round {round}: a blank at a line's end"
            );
        }
    }
}

#[track_caller]
fn refused(body: &str, line: usize, text: &str) {
    let script = format!("zcoder script 1\n{body}");
    let error = Script::parse(script.as_bytes()).expect_err("a refusal");
    assert_eq!((error.line, error.to_string()), (line, text.to_string()));
}

#[test]
fn what_is_wrong_is_refused_with_line_and_cause() {
    let first = Script::parse(b"zcoder script 2\n").expect_err("a refusal");
    assert_eq!(first.to_string(), "line 1: expected `zcoder script 1`");
    assert_eq!(Script::parse(b"").expect_err("a refusal").line, 1);
    refused("close", 2, "line 2: a step before the first `exchange`");
    refused(
        "request",
        2,
        "line 2: `request` before the first `exchange`",
    );
    refused(
        "exchange\n| x",
        3,
        "line 3: `| bytes` belongs under `request` or `send`",
    );
    refused(
        "exchange\nclose\n| x",
        4,
        "line 4: `| bytes` belongs under `request` or `send`",
    );
    refused(
        "exchange\nsend\n| x\nrequest",
        5,
        "line 5: `request` stands once, right after `exchange`",
    );
    refused(
        "exchange\nclose\nhang",
        4,
        "line 4: a step after the connection's end",
    );
    refused(
        "exchange\nclose now",
        3,
        "line 3: only `exchange` and `pause` take a value",
    );
    refused(
        "exchange\nsend\n| \\q",
        4,
        "line 4: an unknown escape; known are \\n \\r \\t \\\\ \\xNN",
    );
    refused(
        "exchange\nsend\n| \\x+1",
        4,
        "line 4: `\\x` needs two hexadecimal digits",
    );
    refused(
        "exchange\nsend\n| \\x1",
        4,
        "line 4: `\\x` needs two hexadecimal digits",
    );
    refused(
        "exchange\nsend\n| \\",
        4,
        "line 4: a lone `\\` at the end of the line",
    );
    refused(
        "exchange\nsend\n| \u{7}",
        4,
        "line 4: a raw control byte; write it as an escape",
    );
    for time in [
        "",
        "1",
        "1.s5",
        "-1s",
        "1.0000000000s",
        "s",
        "1e3s",
        "99999999999999999999s",
    ] {
        refused(
            &format!("exchange\npause {time}"),
            3,
            "line 3: expected a time like `0.250s`",
        );
    }
    let words = "line 2: expected exchange, request, send, pause, wait, close, reset, hang, `| bytes` or `# comment`";
    refused("exchang", 2, words);
}

#[test]
fn a_cut_recording_gives_what_stands_before_the_cut() {
    let text = small().write();
    for cut in 0..text.len() {
        let (script, error) = Script::parse_prefix(&text[..cut]);
        if cut > SMALL.find("pause").expect("a pause") {
            assert_eq!(script.exchanges[0].request, small().exchanges[0].request);
        }
        if let Some(ScriptError { line, .. }) = error {
            let last = text[..cut].split(|byte| *byte == b'\n').count();
            assert_eq!(line, last, "the error lies in the cut line");
        }
    }
}

fn play(steps: Vec<Step>) -> Vec<u8> {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
    let address = listener.local_addr().expect("its address");
    let server = std::thread::spawn(move || {
        let (stream, _) = listener.accept().expect("a client");
        let mut wait = |mut stream: &TcpStream| {
            let mut request = [0; 3];
            stream.read_exact(&mut request)
        };
        script::play(&steps, &stream, &mut wait, &|| false)
    });
    let mut client = TcpStream::connect(address).expect("a connection");
    client.write_all(b"GET").expect("a request");
    let mut answer = Vec::new();
    client.read_to_end(&mut answer).expect("an answer");
    drop(client);
    server.join().expect("no panic").expect("played to the end");
    answer
}

#[test]
fn steps_are_played_in_order() {
    let send = |text: &str| Step::Send(text.as_bytes().to_vec());
    assert_eq!(
        play(vec![
            send("a"),
            Step::Pause(Duration::from_millis(1)),
            send("b")
        ]),
        b"ab"
    );
    assert_eq!(
        play(vec![send("early"), Step::Wait, send(" late"), Step::Close]),
        b"early late"
    );
}

#[test]
fn a_reset_is_an_error_at_the_other_end() {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
    let address = listener.local_addr().expect("its address");
    let mut client = TcpStream::connect(address).expect("a connection");
    let (stream, _) = listener.accept().expect("a client");
    script::play(&[Step::Reset], &stream, &mut |_| Ok(()), &|| false).expect("played");
    drop(stream);
    let error = client.read(&mut [0]).expect_err("a reset");
    assert_eq!(error.kind(), std::io::ErrorKind::ConnectionReset);
}

#[test]
fn a_hang_ends_when_the_client_leaves_or_the_server_stops() {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
    let address = listener.local_addr().expect("its address");
    let client = TcpStream::connect(address).expect("a connection");
    let (stream, _) = listener.accept().expect("a client");
    script::play(&[Step::Hang], &stream, &mut |_| Ok(()), &|| true).expect("stopped");
    drop(client);
    script::play(&[Step::Hang], &stream, &mut |_| Ok(()), &|| false).expect("left");
}

#[test]
fn a_recording_is_a_script_without_secrets() {
    let path = std::env::temp_dir().join(format!("zcoder-recorder-{}", std::process::id()));
    let file = fs::File::create(&path).expect("a file");
    let mut recorder = Recorder::new(file).expect("a header");
    let start = Instant::now();
    let here = std::thread::current().id();
    let after = |ms| start + Duration::from_millis(ms);
    recorder.begin(here, start).expect("begin");
    let head = b"POST / HTTP/1.1\r\nAuthorization: Bearer abc\r\nX: y\r\n\r\n";
    recorder.request(here, &head[..30], start).expect("request");
    recorder.request(here, &head[30..], start).expect("request");
    recorder.request(here, b"{}", after(5)).expect("request");
    // A second exchange on the same thread while the first is silent.
    recorder.begin(here, after(10)).expect("begin");
    recorder
        .request(here, b"GET /api/ps HTTP/1.1\r\n\r\n", after(10))
        .expect("request");
    recorder.received(here, b"ps", after(12)).expect("received");
    recorder.end(here).expect("end");
    recorder
        .received(here, b"one", after(25))
        .expect("received");
    let so_far = Script::parse(&fs::read(&path).expect("the file")).expect("a script");
    assert_eq!(
        so_far.exchanges.len(),
        1,
        "the nested one waits for its turn"
    );
    recorder.end(here).expect("end");
    let script = Script::parse(&fs::read(&path).expect("the file")).expect("a script");
    fs::remove_file(&path).expect("removed");
    let exchange = |at, request: &str, pause, answer: &str| Exchange {
        at: Duration::from_millis(at),
        request: request.as_bytes().to_vec(),
        steps: vec![
            Step::Pause(Duration::from_millis(pause)),
            Step::Send(answer.as_bytes().to_vec()),
            Step::Close,
        ],
    };
    let shown = "POST / HTTP/1.1\r\nAuthorization: (10 bytes, not recorded)\r\nX: y\r\n\r\n{}";
    assert_eq!(
        script.exchanges,
        [
            exchange(0, shown, 20, "one"),
            exchange(10, "GET /api/ps HTTP/1.1\r\n\r\n", 2, "ps"),
        ]
    );
}
