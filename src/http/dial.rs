//! From a [`Target`] to a [`Link`]: names resolved and every address tried, or a `--via` program started. The client
//! reads and writes the link without blocking and waits in `sys::poll`.
//!
//! ```text
//! localhost:11434  →  ::1 refused, 127.0.0.1 accepted          a TCP socket, TCP_NODELAY
//! --via "ssh -W {host}:{port} gpubox"  →  ssh -W 127.0.0.1:11434 gpubox   with one end of a socket pair as its
//!                                                               stdin and stdout; the other end is the link
//! ```
//!
//! Limits: each address gets the connect limit of its own. Of a program's stderr the last `STDERR_BYTES` are kept.
//!
//! Invariant: cancelling ends the wait at once. The standard library can interrupt neither the resolver nor a connect,
//! so both run on a thread that is then left alone; what it finds later is closed unread. An address of this machine
//! answers at once and gets no thread, unless it does not.
//! Invariant: a link that is dropped leaves no program behind.
use super::{Endpoint, Error, Target, Via};
use crate::sys::channel::{Receiver, channel};
use crate::sys::{Cancel, poll, thread};
use std::collections::VecDeque;
use std::io::{self, IoSlice, Read, Write};
use std::net::{IpAddr, SocketAddr, TcpStream, ToSocketAddrs};
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::os::unix::net::UnixStream;
use std::process::{Child, ChildStderr, Command, Stdio};
use std::time::Duration;

/// What is kept of a `--via` program's messages, from the end.
const STDERR_BYTES: usize = 2 << 10;

/// How long the end of a dead program's stderr is waited for: something it started may hold it open.
const STDERR_WAIT: Duration = Duration::from_millis(500);

/// How long an address of this machine is tried without a thread. It answers within a fraction of it, or its queue is full.
const AT_ONCE: Duration = Duration::from_millis(20);

/// A connection, non-blocking.
#[derive(Debug)]
pub(super) enum Link {
    Tcp(TcpStream),
    Via(Program),
}

impl Link {
    pub(super) fn read(&mut self, bytes: &mut [u8]) -> io::Result<usize> {
        match self {
            Link::Tcp(stream) => stream.read(bytes),
            // A program that ends without having read everything resets a socket pair; with pipes, which it thinks it
            // has, that would be an ordinary end.
            Link::Via(program) => match program.stream.read(bytes) {
                Err(error) if error.kind() == io::ErrorKind::ConnectionReset => Ok(0),
                result => result,
            },
        }
    }

    pub(super) fn write(&mut self, slices: &[IoSlice<'_>]) -> io::Result<usize> {
        match self {
            Link::Tcp(stream) => stream.write_vectored(slices),
            Link::Via(program) => program.stream.write_vectored(slices),
        }
    }

    pub(super) fn fd(&self) -> BorrowedFd<'_> {
        match self {
            Link::Tcp(stream) => stream.as_fd(),
            Link::Via(program) => program.stream.as_fd(),
        }
    }
}

/// A link and the name by which errors call its far end.
pub(super) struct Dialed {
    pub(super) link: Link,
    pub(super) address: String,
}

/// Reaches the target's server.
pub(super) fn dial(target: &Target, limit: Duration, cancel: &Cancel) -> Result<Dialed, Error> {
    match target.via() {
        Some(via) => start(via, target.endpoint()),
        None => match connect_at_once(target.endpoint(), limit) {
            Some(done) => done,
            None => connect_cancellably(target.endpoint(), limit, cancel),
        },
    }
}

/// `None`: it may take a while.
fn connect_at_once(endpoint: &Endpoint, limit: Duration) -> Option<Result<Dialed, Error>> {
    let address: IpAddr = endpoint.host.parse().ok()?;
    if !address.is_loopback() || limit < AT_ONCE {
        return None;
    }
    match connect(endpoint, AT_ONCE) {
        Err(Error::ConnectTimeout { .. }) => None,
        done => Some(done),
    }
}

fn connect_cancellably(
    endpoint: &Endpoint,
    limit: Duration,
    cancel: &Cancel,
) -> Result<Dialed, Error> {
    let failed = |source| Error::Io {
        doing: "starting to connect",
        source,
    };
    let (sender, receiver) = channel();
    // The thread's end closes when it is through, which makes ours readable: the one thing `poll` can wait for.
    let (theirs, ours) = UnixStream::pair().map_err(failed)?;
    let endpoint = endpoint.clone();
    let connecting = move || {
        // Nobody may be left to take the result; then it is dropped, which closes the socket.
        let _ = sender.send(connect(&endpoint, limit));
        drop(theirs);
    };
    thread::start("connect", Box::new(connecting)).map_err(failed)?;
    match poll::readable(ours.as_fd(), cancel, None).map_err(failed)? {
        poll::Wake::Cancelled => Err(Error::Cancelled),
        poll::Wake::Ready | poll::Wake::TimedOut => receiver
            .recv()
            .unwrap_or_else(|_| Err(failed(io::Error::other("the connecting thread died")))),
    }
}

fn connect(endpoint: &Endpoint, limit: Duration) -> Result<Dialed, Error> {
    let unresolved = |source| Error::Resolve {
        host: endpoint.host.clone(),
        source,
    };
    let addresses: Vec<SocketAddr> = (endpoint.host.as_str(), endpoint.port)
        .to_socket_addrs()
        .map_err(unresolved)?
        .collect();
    connect_to_any(endpoint, &addresses, limit)?.ok_or_else(|| {
        unresolved(io::Error::new(
            io::ErrorKind::NotFound,
            "the name has no address",
        ))
    })
}

/// The first of the addresses that accepts; `None` only if there are none.
fn connect_to_any(
    endpoint: &Endpoint,
    addresses: &[SocketAddr],
    limit: Duration,
) -> Result<Option<Dialed>, Error> {
    let mut failures: Vec<(IpAddr, io::Error)> = Vec::new();
    for address in addresses {
        let linked = TcpStream::connect_timeout(address, limit).and_then(|stream| {
            stream.set_nodelay(true)?;
            stream.set_nonblocking(true)?;
            Ok(stream)
        });
        match linked {
            Ok(stream) => {
                return Ok(Some(Dialed {
                    link: Link::Tcp(stream),
                    address: named(endpoint, &address.ip().to_string()),
                }));
            }
            Err(error) => failures.push((address.ip(), error)),
        }
    }
    match unconnected(endpoint, limit, failures) {
        Some(error) => Err(error),
        None => Ok(None),
    }
}

/// `gpubox:11434 (10.0.0.5)`, or just the address where the host is one.
fn named(endpoint: &Endpoint, detail: &str) -> String {
    if endpoint.host == detail {
        endpoint.authority()
    } else {
        format!("{} ({detail})", endpoint.authority())
    }
}

/// One error for all addresses. A refusal says most (the machine is there, the server is not), so it comes first.
fn unconnected(
    endpoint: &Endpoint,
    limit: Duration,
    mut failures: Vec<(IpAddr, io::Error)>,
) -> Option<Error> {
    let kinds: Vec<Miss> = failures.iter().map(|(_, error)| Miss::of(error)).collect();
    let mixed = kinds.iter().any(|kind| *kind != kinds[0]);
    let tried: Vec<String> = failures
        .iter()
        .zip(&kinds)
        .map(|((address, error), kind)| match (mixed, kind) {
            (false, _) => address.to_string(),
            (true, Miss::Refused) => format!("{address}: refused"),
            (true, Miss::Silent) => format!("{address}: no answer"),
            (true, Miss::Other) => format!("{address}: {error}"),
        })
        .collect();
    let address = match &tried[..] {
        [one] if *one == endpoint.host => endpoint.authority(),
        _ => format!("{} (tried {})", endpoint.authority(), tried.join(", ")),
    };
    let (_, source) = failures.pop()?;
    Some(if kinds.contains(&Miss::Refused) {
        Error::Refused { address }
    } else if kinds.contains(&Miss::Silent) {
        Error::ConnectTimeout { address, limit }
    } else {
        Error::Unreachable { address, source }
    })
}

/// How an address failed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Miss {
    Refused,
    Silent,
    Other,
}

impl Miss {
    fn of(error: &io::Error) -> Miss {
        match error.kind() {
            io::ErrorKind::ConnectionRefused => Miss::Refused,
            io::ErrorKind::TimedOut => Miss::Silent,
            _ => Miss::Other,
        }
    }
}

/// A running `--via` program.
#[derive(Debug)]
pub(super) struct Program {
    name: String,
    stream: UnixStream,
    child: Child,
    messages: Receiver<Vec<u8>>,
}

fn start(via: &Via, endpoint: &Endpoint) -> Result<Dialed, Error> {
    let words = via.command(endpoint);
    let name = words[0].clone();
    let failed = |source: io::Error| Error::Via {
        program: via.words[0].clone(),
        detail: format!("cannot be started: {source}"),
    };
    let (ours, theirs) = UnixStream::pair().map_err(failed)?;
    ours.set_nonblocking(true).map_err(failed)?;
    let stdin = OwnedFd::from(theirs.try_clone().map_err(failed)?);
    // The `Command` holds the program's end of the pair: it must be gone before we wait for the end of its output.
    let mut child = Command::new(&name)
        .args(&words[1..])
        .stdin(Stdio::from(stdin))
        .stdout(Stdio::from(OwnedFd::from(theirs)))
        .stderr(Stdio::piped())
        .spawn()
        .map_err(failed)?;
    let (sender, messages) = channel();
    let stderr = child.stderr.take();
    let program = Program {
        name,
        stream: ours,
        child,
        messages,
    };
    let keeping = move || {
        // Nobody asks for the messages of a program that did its work.
        let _ = sender.send(stderr.map(keep_end).unwrap_or_default());
    };
    thread::start("via stderr", Box::new(keeping)).map_err(failed)?;
    Ok(Dialed {
        address: named(endpoint, &format!("via {}", program.name)),
        link: Link::Via(program),
    })
}

/// Reads to the end, so that the program never blocks on its messages, and keeps the last of it.
fn keep_end(mut stderr: ChildStderr) -> Vec<u8> {
    let mut kept = VecDeque::new();
    let mut bytes = [0; 1024];
    // A read error ends it as the end of the stream does: there is nobody to tell, and what came is kept.
    while let Ok(count @ 1..) = stderr.read(&mut bytes) {
        kept.extend(&bytes[..count]);
        kept.drain(..kept.len().saturating_sub(STDERR_BYTES));
    }
    kept.into()
}

impl Program {
    /// The program closed the connection before an answer: how it ended, and what it said.
    pub(super) fn failure(&mut self) -> Error {
        // One that is ending already keeps its own status; one that only closed its stdout is ended here.
        let ended = self.child.kill().and_then(|()| self.child.wait());
        let messages = self.messages.recv_timeout(STDERR_WAIT).unwrap_or_default();
        let mut detail = match ended {
            Ok(status) => format!("closed the connection without an answer ({status})"),
            Err(error) => format!("closed the connection without an answer ({error})"),
        };
        let text = String::from_utf8_lossy(&messages);
        for line in text.lines().filter(|line| !line.trim().is_empty()) {
            detail.push_str(": ");
            detail.extend(line.trim().chars().filter(|letter| !letter.is_control()));
        }
        Error::Via {
            program: self.name.clone(),
            detail,
        }
    }
}

impl Drop for Program {
    fn drop(&mut self) {
        // Both fail only when the program is gone and waited for already.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

#[cfg(test)]
mod tests {
    //! Here because no test can decide what a name resolves to.
    use super::*;
    use std::net::TcpListener;

    /// A port of 127.0.0.1 that accepts, and one where nothing listens.
    fn ports() -> (TcpListener, SocketAddr, SocketAddr) {
        let listener = TcpListener::bind("127.0.0.1:0").expect("loopback");
        let open = listener.local_addr().expect("bound");
        let closed = TcpListener::bind("127.0.0.1:0")
            .and_then(|listener| listener.local_addr())
            .expect("loopback");
        (listener, open, closed)
    }

    fn endpoint(port: u16) -> Endpoint {
        let (endpoint, _) = Endpoint::parse(&format!("localhost:{port}")).expect("an address");
        endpoint
    }

    #[test]
    fn a_server_on_the_second_address_is_found() {
        let (_listener, open, closed) = ports();
        // `localhost` is `::1` first on many machines, and Ollama listens on 127.0.0.1 only.
        let first = SocketAddr::new("::1".parse().expect("an address"), closed.port());
        for addresses in [[first, open], [closed, open]] {
            let dialed = connect_to_any(&endpoint(open.port()), &addresses, Duration::from_secs(5));
            let dialed = dialed.expect("connected").expect("an address");
            assert_eq!(
                dialed.address,
                format!("localhost:{} (127.0.0.1)", open.port())
            );
        }
    }

    #[test]
    fn what_is_said_when_every_address_fails() {
        let said = |failures: &[(&str, io::ErrorKind)]| {
            let failures = failures
                .iter()
                .map(|(ip, kind)| (ip.parse().expect("an address"), io::Error::from(*kind)))
                .collect();
            unconnected(&endpoint(1), Duration::from_secs(5), failures)
                .expect("an error")
                .to_string()
        };
        let (refused, silent, unreachable) = (
            io::ErrorKind::ConnectionRefused,
            io::ErrorKind::TimedOut,
            io::ErrorKind::HostUnreachable,
        );
        assert_eq!(
            said(&[("::1", refused), ("127.0.0.1", refused)]),
            "localhost:1 (tried ::1, 127.0.0.1) refused the connection"
        );
        assert_eq!(
            said(&[
                ("::1", unreachable),
                ("127.0.0.1", refused),
                ("10.0.0.1", silent)
            ]),
            "localhost:1 (tried ::1: host unreachable, 127.0.0.1: refused, 10.0.0.1: no answer) refused the connection"
        );
        assert_eq!(
            said(&[("::1", silent), ("127.0.0.1", unreachable)]),
            "localhost:1 (tried ::1: no answer, 127.0.0.1: host unreachable) did not accept the connection within 5 s"
        );
        assert_eq!(
            said(&[("::1", unreachable)]),
            "localhost:1 (tried ::1) cannot be reached: host unreachable"
        );
        assert!(unconnected(&endpoint(1), Duration::from_secs(5), Vec::new()).is_none());
    }
}
