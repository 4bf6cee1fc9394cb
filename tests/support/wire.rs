//! The other end of a wire: a peer on a real loopback socket that plays a script, one list of acts for each connection. What a server
//! may do to a client, it does: bytes in any cut, pauses until the test says so, hang-ups, resets.
//!
//! ```text
//! let peer = Peer::play([Act::Request, Act::Send(b"HTTP/1.1 200 OK\r\n…".into()), Act::Close]);
//! exchange(&peer.target(), …);
//! assert_eq!(peer.requests(), [b"POST /api/chat HTTP/1.1\r\n…"]);
//! ```
//!
//! Invariant: a peer never sleeps; where it pauses, it waits for the test (`Gate`) or for the client.
//! Invariant: a peer whose client never comes ends with the test (`requests` and drop wake it).

use std::io::{Read, Write};
use std::net::{Shutdown, SocketAddr, TcpListener, TcpStream};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{self, Receiver, Sender};
use std::thread::{self, JoinHandle};
use std::time::Duration;
use zcoder::http::{Endpoint, Target};

/// Nothing in a test takes this long; a peer that waits longer gives up, and the test fails by what it sees.
const PATIENCE: Duration = Duration::from_secs(30);

/// One act of a script.
pub(crate) enum Act {
    /// Reads one whole request: head, and body by its `Content-Length`.
    Request,
    /// Reads until this many bytes in all have come, whatever they are.
    Read(usize),
    /// Writes in one piece.
    Send(Vec<u8>),
    /// Writes byte by byte, each in a segment of its own.
    Trickle(Vec<u8>),
    /// Writes so often, or until the client is gone.
    Repeat(Vec<u8>, usize),
    /// Waits until the test opens the gate (or drops its end).
    Pause(Gate),
    /// Tells the test that the script came this far.
    Tell(Sender<()>),
    /// Waits until the client closes; what it still sends is kept.
    Await,
    /// Closes in order.
    Close,
    /// Closes with a reset.
    Reset,
}

/// The peer's side of a pause.
pub(crate) struct Gate(Receiver<()>);

/// The test's side. Dropping it opens the gate too.
pub(crate) struct Opener(Sender<()>);

/// A pause and what ends it.
pub(crate) fn gate() -> (Gate, Opener) {
    let (sender, receiver) = mpsc::channel();
    (Gate(receiver), Opener(sender))
}

impl Opener {
    pub(crate) fn open(&self) {
        // The peer may have ended, because the client did.
        let _ = self.0.send(());
    }
}

/// A listening peer.
pub(crate) struct Peer {
    address: SocketAddr,
    over: Arc<AtomicBool>,
    thread: Option<JoinHandle<Vec<Vec<u8>>>>,
}

impl Peer {
    /// Plays one script on one connection.
    pub(crate) fn play(script: impl IntoIterator<Item = Act>) -> Peer {
        Peer::serve([script.into_iter().collect()])
    }

    /// The usual case: reads the request, answers, closes.
    pub(crate) fn answer(response: &[u8]) -> Peer {
        Peer::play([Act::Request, Act::Send(response.to_vec()), Act::Close])
    }

    /// Plays a script on each connection, in this order, one after the other.
    pub(crate) fn serve(scripts: impl IntoIterator<Item = Vec<Act>>) -> Peer {
        let scripts: Vec<Vec<Act>> = scripts.into_iter().collect();
        let listener = TcpListener::bind("127.0.0.1:0").expect("loopback");
        let address = listener.local_addr().expect("bound");
        let over = Arc::new(AtomicBool::new(false));
        let seen = Arc::clone(&over);
        let thread = thread::spawn(move || {
            let mut received = Vec::new();
            for script in scripts {
                let (stream, _) = listener.accept().expect("accept");
                if seen.load(Ordering::SeqCst) {
                    break;
                }
                received.push(play(stream, script));
            }
            received
        });
        Peer {
            address,
            over,
            thread: Some(thread),
        }
    }

    /// Where it listens.
    pub(crate) fn address(&self) -> SocketAddr {
        self.address
    }

    /// The way to it.
    pub(crate) fn target(&self) -> Target {
        let (endpoint, warning) = Endpoint::parse(&self.address.to_string()).expect("address");
        assert_eq!(warning, None);
        Target::new(endpoint, None, Vec::new()).expect("target")
    }

    /// What each client sent, when all scripts are through (those whose client never came do not count).
    pub(crate) fn requests(mut self) -> Vec<Vec<u8>> {
        self.end().expect("the peer's script")
    }

    fn end(&mut self) -> thread::Result<Vec<Vec<u8>>> {
        self.over.store(true, Ordering::SeqCst);
        // Wakes an accept that nobody else will wake; fails when the listener is gone, as it should.
        let _ = TcpStream::connect(self.address);
        match self.thread.take() {
            Some(thread) => thread.join(),
            None => Ok(Vec::new()),
        }
    }
}

impl Drop for Peer {
    fn drop(&mut self) {
        // The test's own failure counts, not what it did to the script.
        let _ = self.end();
    }
}

/// Plays to the end of the script, or until the client is gone; returns what the client sent.
fn play(mut stream: TcpStream, script: Vec<Act>) -> Vec<u8> {
    stream.set_nodelay(true).expect("nodelay");
    stream.set_read_timeout(Some(PATIENCE)).expect("timeout");
    stream.set_write_timeout(Some(PATIENCE)).expect("timeout");
    let mut received = Vec::new();
    for act in script {
        let goes_on = match act {
            Act::Request => read_request(&mut stream, &mut received),
            Act::Read(total) => read_until(&mut stream, &mut received, |got| got.len() >= total),
            Act::Send(bytes) => stream.write_all(&bytes).is_ok(),
            Act::Trickle(bytes) => bytes.iter().all(|byte| stream.write_all(&[*byte]).is_ok()),
            Act::Repeat(bytes, times) => (0..times).all(|_| stream.write_all(&bytes).is_ok()),
            Act::Pause(gate) => {
                // Disconnected: the test dropped its end, which opens the gate as well.
                let _ = gate.0.recv_timeout(PATIENCE);
                true
            }
            Act::Tell(sender) => sender.send(()).is_ok(),
            Act::Await => read_until(&mut stream, &mut received, |_| false),
            Act::Close => {
                // Closing over unread bytes would reset the connection; this does not.
                let _ = stream.shutdown(Shutdown::Write);
                read_until(&mut stream, &mut received, |_| false);
                false
            }
            Act::Reset => {
                zcoder::sys::net::reset(stream).expect("reset");
                return received;
            }
        };
        if !goes_on {
            break;
        }
    }
    received
}

fn read_request(stream: &mut TcpStream, received: &mut Vec<u8>) -> bool {
    let begin = received.len();
    read_until(stream, received, |got| {
        let got = &got[begin..];
        let Some(end) = got.windows(4).position(|window| window == b"\r\n\r\n") else {
            return false;
        };
        let head = String::from_utf8_lossy(&got[..end]).to_ascii_lowercase();
        let length = head
            .lines()
            .find_map(|line| line.strip_prefix("content-length:"))
            .map_or(0, |value| value.trim().parse().expect("length"));
        got.len() >= end + 4 + length
    })
}

/// Reads until `enough`; false at the end of the connection.
fn read_until(
    stream: &mut TcpStream,
    received: &mut Vec<u8>,
    enough: impl Fn(&[u8]) -> bool,
) -> bool {
    let mut bytes = vec![0; 64 << 10];
    while !enough(received) {
        match stream.read(&mut bytes) {
            Ok(0) | Err(_) => return false,
            Ok(count) => received.extend_from_slice(&bytes[..count]),
        }
    }
    true
}
