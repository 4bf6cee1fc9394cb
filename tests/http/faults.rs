//! The client and time: silence, cancel, refusals, resets, early answers (corpus items 44 to 46 of the stream list). Each failure has a
//! text of its own.
use super::exchange::{CHAT, GET, chat, patient, text};
use crate::support::wire::{Act, Peer, gate};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::ops::ControlFlow;
use std::sync::mpsc;
use std::thread;
use std::time::{Duration, Instant};
use zcoder::http::client::{Step, Timeouts, exchange};
use zcoder::http::{Endpoint, Error, Limits, Request, Target};
use zcoder::sys::Cancel;

const HEAD: &[u8] = b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n";

fn target(address: &str) -> Target {
    let (endpoint, _) = Endpoint::parse(address).expect("address");
    Target::new(endpoint, None, Vec::new()).expect("target")
}

/// Runs an exchange with these time limits, told nothing.
fn timed(target: &Target, timeouts: &Timeouts) -> Error {
    let cancel = Cancel::new().expect("a switch");
    let on = &mut |_: Step<'_>| ControlFlow::Continue(());
    exchange(target, &CHAT, timeouts, Limits::default(), &cancel, on).expect_err("an error")
}

#[test]
fn corpus_45_nothing_listens() {
    let listener = TcpListener::bind("127.0.0.1:0").expect("loopback");
    let address = listener.local_addr().expect("bound").to_string();
    drop(listener);
    let error = chat(&target(&address), &CHAT).0.expect_err("refused");
    assert!(matches!(error, Error::Refused { .. }) && error.before_response());
    assert_eq!(
        error.to_string(),
        format!("{address} refused the connection")
    );
}

#[test]
fn corpus_45_no_such_name() {
    let error = chat(&target("no-such-host.invalid:1"), &CHAT)
        .0
        .expect_err("unknown");
    assert!(error.before_response());
    let Error::Resolve { host, source } = error else {
        panic!("{error}");
    };
    assert_eq!(host, "no-such-host.invalid");
    let shown = Error::Resolve {
        host,
        source: std::io::Error::other("said the resolver"),
    };
    drop(source);
    assert_eq!(
        shown.to_string(),
        "no address found for \"no-such-host.invalid\": said the resolver"
    );
}

#[test]
fn corpus_45_accepts_and_never_answers() {
    let limit = Duration::from_millis(150);
    let timeouts = Timeouts {
        first_byte: Some(limit),
        ..patient()
    };
    let peer = Peer::play([Act::Request, Act::Await]);
    let begun = Instant::now();
    let error = timed(&peer.target(), &timeouts);
    assert!(begun.elapsed() >= limit);
    assert!(error.before_response());
    assert_eq!(
        text(&error, &peer),
        "PEER accepted the connection but sent nothing for 150 ms"
    );
}

#[test]
fn corpus_44_head_then_silence() {
    let timeouts = Timeouts {
        gap: Some(Duration::from_millis(150)),
        ..patient()
    };
    for begin in [
        &HEAD[..3],
        HEAD,
        b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\r\n{}\r\n",
    ] {
        let peer = Peer::play([Act::Request, Act::Send(begin.to_vec()), Act::Await]);
        let error = timed(&peer.target(), &timeouts);
        assert!(!error.before_response());
        assert_eq!(
            text(&error, &peer),
            "PEER sent nothing more for 150 ms in the middle of its answer"
        );
    }
}

#[test]
fn corpus_44_slow_is_not_silent() {
    // Each pause is a quarter of the limit; together they are far above it. The test opens the gates by its own clock.
    let timeouts = Timeouts {
        connect: Duration::from_secs(20),
        first_byte: Some(Duration::from_secs(1)),
        gap: Some(Duration::from_secs(1)),
    };
    let wire = [HEAD, b"2\r\n{}\r\n0\r\n\r\n"].concat();
    let (mut script, mut openers) = (vec![Act::Request], Vec::new());
    for piece in wire.chunks(wire.len().div_ceil(6)) {
        let (gate, opener) = gate();
        script.extend([Act::Pause(gate), Act::Send(piece.to_vec())]);
        openers.push(opener);
    }
    script.push(Act::Close);
    let peer = Peer::play(script);
    let ticking = thread::spawn(move || {
        for opener in openers {
            thread::sleep(Duration::from_millis(250));
            opener.open();
        }
    });
    let cancel = Cancel::new().expect("a switch");
    let begun = Instant::now();
    let on = &mut |_: Step<'_>| ControlFlow::Continue(());
    let head = exchange(
        &peer.target(),
        &CHAT,
        &timeouts,
        Limits::default(),
        &cancel,
        on,
    );
    assert_eq!(head.expect("an answer").status, 200);
    assert!(begun.elapsed() > Duration::from_secs(1));
    ticking.join().expect("the clock");
}

#[test]
fn limits_can_be_off_and_silence_is_told_every_second() {
    let timeouts = Timeouts {
        connect: Duration::from_secs(20),
        first_byte: None,
        gap: None,
    };
    let (before, open_before) = gate();
    let (after, open_after) = gate();
    let peer = Peer::play([
        Act::Request,
        Act::Pause(before),
        Act::Send(HEAD.to_vec()),
        Act::Pause(after),
        Act::Send(b"0\r\n\r\n".to_vec()),
        Act::Close,
    ]);
    let cancel = Cancel::new().expect("a switch");
    let mut told = Vec::new();
    let head = exchange(
        &peer.target(),
        &CHAT,
        &timeouts,
        Limits::default(),
        &cancel,
        &mut |step| {
            if let Step::Silent {
                elapsed,
                after_first_byte,
            } = step
            {
                told.push((elapsed.as_secs(), after_first_byte));
                match told.len() {
                    2 => open_before.open(),
                    3 => open_after.open(),
                    _ => {}
                }
            }
            ControlFlow::Continue(())
        },
    );
    assert_eq!(head.expect("an answer").status, 200);
    assert_eq!(told[..3], [(1, false), (2, false), (1, true)]);
}

#[test]
fn corpus_45_closed_and_reset_before_an_answer() {
    let peer = Peer::play([Act::Close]);
    let error = chat(&peer.target(), &CHAT).0.expect_err("closed");
    assert!(matches!(error, Error::ClosedEarly { .. }) && error.before_response());
    let peer = Peer::play([Act::Request, Act::Close]);
    let error = chat(&peer.target(), &CHAT).0.expect_err("closed");
    assert_eq!(
        text(&error, &peer),
        "PEER closed the connection without an answer"
    );
    let peer = Peer::play([Act::Request, Act::Reset]);
    let error = chat(&peer.target(), &CHAT).0.expect_err("reset");
    assert!(error.before_response());
    assert_eq!(
        text(&error, &peer),
        "PEER dropped the connection without an answer: Connection reset by peer (os error 104)"
    );
}

#[test]
fn corpus_45_reset_inside_the_answer() {
    // The client must have read the first part before the reset destroys what is unread.
    for (begin, body) in [
        (HEAD.to_vec(), &b""[..]),
        ([HEAD, b"2\r\n{}\r\n"].concat(), b"{}"),
        (b"HTTP/1.1 200 OK\r\n\r\n{}".to_vec(), b"{}"),
    ] {
        let (gate, opener) = gate();
        let peer = Peer::play([
            Act::Request,
            Act::Send(begin.clone()),
            Act::Pause(gate),
            Act::Reset,
        ]);
        let cancel = Cancel::new().expect("a switch");
        let (mut received, mut got) = (0, Vec::new());
        let result = exchange(
            &peer.target(),
            &CHAT,
            &patient(),
            Limits::default(),
            &cancel,
            &mut |step| {
                if let Step::Received { bytes } = step {
                    received += bytes.len();
                    if received == begin.len() {
                        opener.open();
                    }
                } else if let Step::Body { bytes } = step {
                    got.extend_from_slice(bytes);
                }
                ControlFlow::Continue(())
            },
        );
        let error = result.expect_err("reset");
        assert!(matches!(error, Error::Lost { .. }) && !error.before_response());
        assert_eq!(
            text(&error, &peer),
            "PEER: connection lost in the middle of the answer: Connection reset by peer (os error 104)"
        );
        assert_eq!(got, body);
    }
}

#[test]
fn corpus_46_an_early_answer_is_read() {
    let body = vec![b'x'; 32 << 20];
    let request = Request {
        method: "POST",
        path: "/api/chat",
        body: &[&body],
    };
    let answer = b"HTTP/1.1 413 Too Large\r\nContent-Length: 9\r\n\r\ntoo large".to_vec();
    let (closed_gate, opener) = gate();
    let mut opener = Some(opener);
    let scripts = [
        // Answers and keeps the connection open without reading on: only a client that looks notices.
        vec![
            Act::Read(1000),
            Act::Send(answer.clone()),
            Act::Pause(closed_gate),
            Act::Await,
        ],
        // Answers and closes with the request unread, which resets the connection behind the answer.
        vec![Act::Read(1000), Act::Send(answer.clone())],
        // Answers and reads the rest.
        vec![Act::Read(1000), Act::Send(answer.clone()), Act::Close],
        // A 1xx is not the answer: the request goes on.
        vec![
            Act::Read(1000),
            Act::Send(b"HTTP/1.1 100 Continue\r\n\r\n".to_vec()),
            Act::Read(32 << 20),
            Act::Send(answer),
            Act::Close,
        ],
    ];
    for (number, script) in scripts.into_iter().enumerate() {
        let peer = Peer::play(script);
        let (head, got) = chat(&peer.target(), &request);
        assert_eq!(
            (head.expect("an answer").status, &got[..]),
            (413, &b"too large"[..]),
            "script {number}"
        );
        // Lets the first peer go; the others do not wait for it.
        drop(opener.take());
    }
}

#[test]
fn corpus_46_an_answer_that_has_begun_stops_the_request() {
    let body = vec![b'x'; 64 << 20];
    let request = Request {
        method: "POST",
        path: "/api/chat",
        body: &[&body],
    };
    let head = b"HTTP/1.1 413 Too Large\r\nContent-Length: 9\r\n\r\n".to_vec();
    // It would go on answering only if the whole request came.
    let peer = Peer::play([
        Act::Read(1000),
        Act::Send(head),
        Act::Read(64 << 20),
        Act::Send(b"too large".to_vec()),
    ]);
    let timeouts = Timeouts {
        gap: Some(Duration::from_millis(300)),
        ..patient()
    };
    let cancel = Cancel::new().expect("a switch");
    let mut was_sent = false;
    let on = &mut |step: Step<'_>| {
        was_sent = was_sent || matches!(step, Step::Sent);
        ControlFlow::Continue(())
    };
    let result = exchange(
        &peer.target(),
        &request,
        &timeouts,
        Limits::default(),
        &cancel,
        on,
    );
    assert!(matches!(
        result,
        Err(Error::Silent {
            after_first_byte: true,
            ..
        })
    ));
    assert!(!was_sent);
    let requests = peer.requests();
    assert!(requests[0].len() < 64 << 20);
}

#[test]
fn a_broken_pipe_without_an_answer_is_told() {
    let body = vec![b'x'; 32 << 20];
    let request = Request {
        method: "POST",
        path: "/api/chat",
        body: &[&body],
    };
    let peer = Peer::play([Act::Read(1000), Act::Reset]);
    let error = chat(&peer.target(), &request).0.expect_err("reset");
    let Error::ClosedEarly {
        source: Some(source),
        ..
    } = &error
    else {
        panic!("{error}");
    };
    let expected = format!("PEER dropped the connection without an answer: {source}");
    assert_eq!(text(&error, &peer), expected);
}

/// Cancels as soon as `told` says so; the exchange must end at once although its limits are far away.
#[track_caller]
fn cancelled(target: &Target, cancel: &Cancel, told: mpsc::Receiver<()>) {
    let switch = cancel.clone();
    let canceller = thread::spawn(move || {
        told.recv().expect("the moment");
        switch.cancel();
    });
    let on = &mut |_: Step<'_>| ControlFlow::Continue(());
    let error =
        exchange(target, &CHAT, &patient(), Limits::default(), cancel, on).expect_err("cancelled");
    assert!(matches!(error, Error::Cancelled), "{error}");
    assert_eq!(error.to_string(), "cancelled");
    canceller.join().expect("the canceller");
}

#[test]
fn cancel_works_at_once_in_every_state() {
    for begin in [
        b"".to_vec(),
        HEAD[..5].to_vec(),
        HEAD.to_vec(),
        [HEAD, b"2\r\n{"].concat(),
    ] {
        let cancel = Cancel::new().expect("a switch");
        let (tell, told) = mpsc::channel();
        let peer = Peer::play([Act::Request, Act::Send(begin), Act::Tell(tell), Act::Await]);
        cancelled(&peer.target(), &cancel, told);
        // The peer saw the close.
        peer.requests();
    }
    // While the answer floods in.
    let cancel = Cancel::new().expect("a switch");
    let (tell, told) = mpsc::channel();
    let piece = [b"10000\r\n".to_vec(), vec![b'x'; 1 << 16], b"\r\n".to_vec()].concat();
    let peer = Peer::play([
        Act::Request,
        Act::Send(HEAD.to_vec()),
        Act::Tell(tell),
        Act::Repeat(piece, usize::MAX),
    ]);
    let switch = cancel.clone();
    let mut bytes_seen = 0;
    let limits = Limits {
        body_bytes: u64::MAX,
        ..Limits::default()
    };
    let result = exchange(
        &peer.target(),
        &CHAT,
        &patient(),
        limits,
        &cancel,
        &mut |step| {
            if let Step::Body { bytes } = step {
                bytes_seen += bytes.len();
                if bytes_seen > 1 << 20 {
                    switch.cancel();
                }
            }
            ControlFlow::Continue(())
        },
    );
    assert!(matches!(result, Err(Error::Cancelled)));
    drop(told);
    peer.requests();
}

#[test]
fn a_switch_turned_before_connects_nowhere() {
    let peer = Peer::serve([vec![Act::Request]]);
    let cancel = Cancel::new().expect("a switch");
    cancel.cancel();
    let on = &mut |_: Step<'_>| ControlFlow::Continue(());
    let result = exchange(
        &peer.target(),
        &GET,
        &patient(),
        Limits::default(),
        &cancel,
        on,
    );
    assert!(matches!(result, Err(Error::Cancelled)));
}

/// A listener whose queue is full: a further connect gets no answer at all. The streams keep it full.
fn full_listener() -> Option<(SocketAddr, TcpListener, Vec<TcpStream>)> {
    let listener = TcpListener::bind("127.0.0.1:0").expect("loopback");
    let address = listener.local_addr().expect("bound");
    let mut waiting = Vec::new();
    while waiting.len() < 8192 {
        match TcpStream::connect_timeout(&address, Duration::from_millis(200)) {
            Ok(stream) => waiting.push(stream),
            Err(_) => return Some((address, listener, waiting)),
        }
    }
    None
}

#[test]
fn connecting_has_a_limit_and_can_be_cancelled() {
    let Some((address, listener, waiting)) = full_listener() else {
        return;
    };
    let timeouts = Timeouts {
        connect: Duration::from_millis(150),
        ..patient()
    };
    let error = timed(&target(&address.to_string()), &timeouts);
    assert!(error.before_response());
    assert_eq!(
        error.to_string(),
        format!("{address} did not accept the connection within 150 ms")
    );
    let cancel = Cancel::new().expect("a switch");
    let (tell, told) = mpsc::channel();
    tell.send(()).expect("the moment");
    cancelled(&target(&address.to_string()), &cancel, told);
    drop((listener, waiting));
}

#[test]
fn texts_of_the_rest() {
    let other = || std::io::Error::other("it broke");
    let address = || "gpubox:1 (tried ::1, 127.0.0.1)".to_owned();
    let unreachable = Error::Unreachable {
        address: address(),
        source: other(),
    };
    assert_eq!(
        unreachable.to_string(),
        "gpubox:1 (tried ::1, 127.0.0.1) cannot be reached: it broke"
    );
    let io = Error::Io {
        doing: "waiting for the connection",
        source: other(),
    };
    assert_eq!(io.to_string(), "waiting for the connection: it broke");
    let silent = |limit| Error::Silent {
        address: "h:1".to_owned(),
        limit: Duration::from_millis(limit),
        after_first_byte: false,
    };
    assert_eq!(
        silent(900_000).to_string(),
        "h:1 accepted the connection but sent nothing for 15 min"
    );
    assert_eq!(
        silent(5_000).to_string(),
        "h:1 accepted the connection but sent nothing for 5 s"
    );
}
