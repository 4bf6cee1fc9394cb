//! One request, one connection, one response, told step by step to a callback. In come a [`Target`] and a [`Request`];
//! out go the steps (for a recorder: the bytes both ways; for the model: head and body) and, at the end, the head.
//! `model` calls [`exchange`] for chats and [`fetch`] for small answers.
//!
//! ```text
//! POST /api/chat HTTP/1.1\r\n
//! Host: 127.0.0.1:11434\r\n
//! User-Agent: zcoder/0.1.0\r\n
//! Content-Type: application/json\r\n        with a body only
//! Content-Length: 3807\r\n
//! Connection: close\r\n
//! \r\n
//! {"model":…                                 never half-closed afterwards: servers take that for a cancel
//!
//! Connected → Sending… → Sent → Silent 1 s, 2 s … → Received → Head → Body → Received → Body … → Ok(head)
//! ```
//!
//! Redirects are not followed. `Origin`, `Expect` and `Accept-Encoding` are never sent. A compressed answer is refused
//! by name. While a large request is being written the connection is also read: a server that answers 413 early and
//! closes is heard, and not taken for a broken pipe.
//!
//! Limits: [`Timeouts`] (connect per address, silence before the first byte, silence after it; any byte received or
//! taken by the peer starts the silence anew; no total limit) and [`Limits`].
//!
//! Invariant: `Ok` means that the message was complete by its own framing.
//! Invariant: nothing blocks but `sys::poll`, with the cancel switch in it: cancelling works at once in every state.
//!
//! Next: `dial.rs` for connections, [`super::HeadDecoder`], [`super::BodyDecoder`].
use super::dial::{Link, dial};
use super::{
    BodyDecoder, BodyError, Error, Framing, Head, HeadDecoder, HeadError, Limits, Request, Target,
};
use crate::sys::{Cancel, poll};
use std::io::{self, IoSlice};
use std::ops::ControlFlow;
use std::time::{Duration, Instant};

/// One read takes up to this much. Larger buffers fall out of the processor's cache, smaller ones cost more calls.
const READ_BYTES: usize = 256 << 10;

/// After a read of this size the next one is tried without asking `poll` first: on a busy connection that saves every other
/// system call. Records of a model at work are far smaller, and there the try would be the call too many.
const BUSY_BYTES: usize = 16 << 10;

/// Time limits; `None` switches one off.
#[derive(Clone, Copy, Debug)]
pub struct Timeouts {
    /// For each address of a name.
    pub connect: Duration,
    /// Silence before the first byte of the response: a model that loads and reads a long prompt sends nothing.
    pub first_byte: Option<Duration>,
    /// Silence after it.
    pub gap: Option<Duration>,
}

impl Default for Timeouts {
    fn default() -> Timeouts {
        Timeouts {
            connect: Duration::from_secs(5),
            first_byte: Some(Duration::from_secs(900)),
            gap: Some(Duration::from_secs(300)),
        }
    }
}

/// What the callback is told.
#[derive(Debug)]
pub enum Step<'a> {
    /// A connection stands.
    Connected {
        /// Host, port, and the address or the program in between.
        peer: &'a str,
    },
    /// Bytes of the request, as just written (what a recorder keeps).
    Sending {
        /// A part of the head or of one body slice.
        bytes: &'a [u8],
    },
    /// All of it was written. Not told when the server answered before.
    Sent,
    /// Nothing came or went for this long: told every second.
    Silent {
        /// Since the last byte.
        elapsed: Duration,
        /// Whether the response had begun.
        after_first_byte: bool,
    },
    /// Raw bytes as read, before decoding (what a recorder keeps).
    Received {
        /// At most one read.
        bytes: &'a [u8],
    },
    /// The final response head; 1xx are skipped.
    Head {
        /// It.
        head: &'a Head,
    },
    /// Body bytes, decoded: as a rule one slice a read, however many chunks it held.
    Body {
        /// Never empty.
        bytes: &'a [u8],
    },
}

/// Runs one exchange. A 3xx is a normal `Head`. `Break` from the callback closes the connection and makes
/// [`Error::Stopped`].
pub fn exchange(
    target: &Target,
    request: &Request<'_>,
    timeouts: &Timeouts,
    limits: Limits,
    cancel: &Cancel,
    on: &mut dyn FnMut(Step<'_>) -> ControlFlow<()>,
) -> Result<Head, Error> {
    let dialed = dial(target, timeouts.connect, cancel)?;
    tell(
        on,
        Step::Connected {
            peer: &dialed.address,
        },
    )?;
    let head = request_head(target, request);
    let mut exchange = Exchange {
        link: dialed.link,
        outgoing: Outgoing::new(&head, request.body),
        incoming: Incoming {
            method: request.method,
            limits,
            stage: Stage::Head(HeadDecoder::response(limits)),
        },
        address: dialed.address,
        silence: Silence::new(timeouts),
        cancel,
        on,
    };
    exchange.run()
}

/// For small answers: the whole body (over `max_bytes` is an error).
pub fn fetch(
    target: &Target,
    request: &Request<'_>,
    timeouts: &Timeouts,
    max_bytes: u64,
    cancel: &Cancel,
) -> Result<(Head, Vec<u8>), Error> {
    let limits = Limits {
        body_bytes: max_bytes,
        ..Limits::default()
    };
    let mut body = Vec::new();
    let head = exchange(target, request, timeouts, limits, cancel, &mut |step| {
        if let Step::Body { bytes } = step {
            body.extend_from_slice(bytes);
        }
        ControlFlow::Continue(())
    })?;
    Ok((head, body))
}

fn request_head(target: &Target, request: &Request<'_>) -> Vec<u8> {
    let endpoint = target.endpoint();
    let length: usize = request.body.iter().map(|slice| slice.len()).sum();
    let mut head = format!(
        "{} {}{} HTTP/1.1\r\nHost: {}\r\nUser-Agent: zcoder/{}\r\n",
        request.method,
        endpoint.prefix,
        request.path,
        endpoint.host_header(),
        env!("CARGO_PKG_VERSION"),
    );
    if length > 0 {
        head.push_str("Content-Type: application/json\r\n");
    }
    // A GET without a body says nothing of a length, anything else always does (RFC 9110 8.6).
    if length > 0 || !matches!(request.method, "GET" | "HEAD") {
        head.push_str(&format!("Content-Length: {length}\r\n"));
    }
    head.push_str("Connection: close\r\n");
    for (name, value) in target.headers() {
        head.push_str(&format!("{name}: {value}\r\n"));
    }
    head.push_str("\r\n");
    head.into_bytes()
}

fn tell(on: &mut dyn FnMut(Step<'_>) -> ControlFlow<()>, step: Step<'_>) -> Result<(), Error> {
    match on(step) {
        ControlFlow::Continue(()) => Ok(()),
        ControlFlow::Break(()) => Err(Error::Stopped),
    }
}

/// An exchange under way.
struct Exchange<'a> {
    link: Link,
    address: String,
    outgoing: Outgoing<'a>,
    incoming: Incoming<'a>,
    silence: Silence<'a>,
    cancel: &'a Cancel,
    on: &'a mut dyn FnMut(Step<'_>) -> ControlFlow<()>,
}

impl Exchange<'_> {
    fn run(&mut self) -> Result<Head, Error> {
        let mut buffer = vec![0; READ_BYTES];
        // A large read is followed by the next one at once, any other by a wait.
        let mut more_is_likely = false;
        loop {
            if self.outgoing.is_pending() {
                self.write()?;
            }
            if !more_is_likely {
                self.wait()?;
            } else if self.cancel.is_cancelled() {
                return Err(Error::Cancelled);
            }
            more_is_likely = false;
            let count = match self.link.read(&mut buffer) {
                Ok(0) => return self.at_end(None),
                Ok(count) => count,
                Err(error) if is_not_yet(&error) => continue,
                Err(error) => return self.at_end(Some(error)),
            };
            more_is_likely = count >= BUSY_BYTES;
            self.silence.received();
            let bytes = &mut buffer[..count];
            tell(self.on, Step::Received { bytes })?;
            let done = self
                .incoming
                .feed(bytes, self.on)
                .map_err(|fault| fault.at(&self.address))?;
            match done {
                Progress::Reading => {}
                // The answer is there before the request is through: the rest of it interests nobody.
                Progress::Answering => self.outgoing.give_up(),
                Progress::Done(head) => return Ok(head),
            }
        }
    }

    /// One write, of what goes without waiting; between two of them an early answer is looked for. A connection that
    /// does not take the request may still hold an answer to it: the failure is kept, and told only if none is found.
    fn write(&mut self) -> Result<(), Error> {
        match self.link.write(&self.outgoing.slices()) {
            Ok(count) => {
                self.silence.progress();
                self.outgoing.wrote(count, self.on)?;
                if self.outgoing.is_pending() {
                    return Ok(());
                }
                tell(self.on, Step::Sent)
            }
            Err(error) if is_not_yet(&error) => Ok(()),
            Err(error) => {
                self.outgoing.give_up();
                self.outgoing.failure = Some(error);
                Ok(())
            }
        }
    }

    /// Until there is something to read, or room to write if we want to, or a second of silence was told.
    fn wait(&mut self) -> Result<(), Error> {
        loop {
            let deadline = Some(self.silence.next_look());
            let wake = if self.outgoing.is_pending() {
                poll::either(self.link.fd(), self.cancel, deadline)
            } else {
                poll::readable(self.link.fd(), self.cancel, deadline)
            };
            let wake = wake.map_err(|source| Error::Io {
                doing: "waiting for the connection",
                source,
            })?;
            match wake {
                poll::Wake::Ready => return Ok(()),
                poll::Wake::Cancelled => return Err(Error::Cancelled),
                poll::Wake::TimedOut => {
                    let step = self.silence.look(&self.address)?;
                    tell(self.on, step)?;
                }
            }
        }
    }

    /// The connection is at its end, in order or not.
    fn at_end(&mut self, error: Option<io::Error>) -> Result<Head, Error> {
        // A cancel from another thread may have ended it: then that is the reason.
        if self.cancel.is_cancelled() {
            return Err(Error::Cancelled);
        }
        let address = self.address.clone();
        match (self.incoming.take_stage(), error) {
            (Stage::Head(decoder), error) if decoder.is_empty() => match &mut self.link {
                Link::Via(program) => Err(program.failure()),
                Link::Tcp(_) => Err(Error::ClosedEarly {
                    address,
                    source: self.outgoing.failure.take().or(error),
                }),
            },
            (Stage::Head(_) | Stage::Body { .. }, Some(source)) => {
                Err(Error::Lost { address, source })
            }
            (Stage::Head(decoder), None) => match decoder.finish_response() {
                Ok(head) => Ok(head),
                Err(source) => Err(Error::Head { address, source }),
            },
            (Stage::Body { head, mut decoder }, None) => match decoder.finish() {
                Ok(()) => Ok(head),
                Err(source) => Err(Error::Body { address, source }),
            },
        }
    }
}

fn is_not_yet(error: &io::Error) -> bool {
    matches!(
        error.kind(),
        io::ErrorKind::WouldBlock | io::ErrorKind::Interrupted
    )
}

/// What is still to be written.
struct Outgoing<'a> {
    slices: Vec<&'a [u8]>,
    /// Why writing ended early, if it failed.
    failure: Option<io::Error>,
}

/// More slices than this are not given to one write.
const WRITE_SLICES: usize = 16;

impl<'a> Outgoing<'a> {
    /// Head and body go in one write, and so in one packet if they fit.
    fn new(head: &'a [u8], body: &[&'a [u8]]) -> Outgoing<'a> {
        // Backwards, so that what is written can be popped.
        let mut slices: Vec<&[u8]> = body.iter().rev().copied().collect();
        slices.push(head);
        slices.retain(|slice| !slice.is_empty());
        Outgoing {
            slices,
            failure: None,
        }
    }

    fn is_pending(&self) -> bool {
        !self.slices.is_empty()
    }

    fn slices(&self) -> Vec<IoSlice<'a>> {
        let next = self.slices.iter().rev().take(WRITE_SLICES);
        next.map(|slice| IoSlice::new(slice)).collect()
    }

    fn wrote(
        &mut self,
        mut count: usize,
        on: &mut dyn FnMut(Step<'_>) -> ControlFlow<()>,
    ) -> Result<(), Error> {
        while count > 0 {
            let Some(slice) = self.slices.pop() else {
                break;
            };
            let (written, left) = slice.split_at(count.min(slice.len()));
            count -= written.len();
            if !left.is_empty() {
                self.slices.push(left);
            }
            tell(on, Step::Sending { bytes: written })?;
        }
        Ok(())
    }

    fn give_up(&mut self) {
        self.slices.clear();
    }
}

/// Where in the response.
enum Stage {
    Head(HeadDecoder),
    Body { head: Head, decoder: BodyDecoder },
}

/// The response so far.
struct Incoming<'a> {
    method: &'a str,
    limits: Limits,
    stage: Stage,
}

enum Progress {
    /// No final head yet.
    Reading,
    /// The final head is there.
    Answering,
    /// All of it.
    Done(Head),
}

/// A decoder's error on its way to becoming an [`Error`], which names the address.
enum Fault {
    Head(HeadError),
    Body(BodyError),
    Encoding(String),
    Stopped,
}

impl Fault {
    fn at(self, address: &str) -> Error {
        let address = address.to_owned();
        match self {
            Fault::Head(source) => Error::Head { address, source },
            Fault::Body(BodyError::Coding { coding }) => Error::Encoding { address, coding },
            Fault::Body(source) => Error::Body { address, source },
            Fault::Encoding(coding) => Error::Encoding { address, coding },
            Fault::Stopped => Error::Stopped,
        }
    }
}

impl Incoming<'_> {
    fn feed(
        &mut self,
        mut bytes: &mut [u8],
        on: &mut dyn FnMut(Step<'_>) -> ControlFlow<()>,
    ) -> Result<Progress, Fault> {
        while let Stage::Head(decoder) = &mut self.stage {
            let (used, complete) = decoder.feed(bytes).map_err(Fault::Head)?;
            bytes = &mut bytes[used..];
            if !complete {
                return Ok(Progress::Reading);
            }
            let Stage::Head(decoder) = self.take_stage() else {
                break;
            };
            let head = decoder.finish_response().map_err(Fault::Head)?;
            if !matches!(head.status, 100..=199) {
                self.stage = begin_body(self.method, head, self.limits, on)?;
            }
        }
        let Stage::Body { head, decoder } = &mut self.stage else {
            return Ok(Progress::Reading);
        };
        let mut stopped = false;
        let fed = decoder.feed(bytes, &mut |bytes| {
            stopped = stopped || on(Step::Body { bytes }).is_break();
        });
        if stopped {
            return Err(Fault::Stopped);
        }
        fed.map_err(Fault::Body)?;
        Ok(if decoder.is_done() {
            Progress::Done(head.clone())
        } else {
            Progress::Answering
        })
    }

    /// The stage, and a fresh head in its place (the next one, behind a 1xx).
    fn take_stage(&mut self) -> Stage {
        let fresh = Stage::Head(HeadDecoder::response(self.limits));
        std::mem::replace(&mut self.stage, fresh)
    }
}

fn begin_body(
    method: &str,
    head: Head,
    limits: Limits,
    on: &mut dyn FnMut(Step<'_>) -> ControlFlow<()>,
) -> Result<Stage, Fault> {
    tell(on, Step::Head { head: &head }).map_err(|_| Fault::Stopped)?;
    let framing = Framing::of_response(method, &head).map_err(Fault::Body)?;
    let coding = head.header("content-encoding").unwrap_or("identity");
    if framing != Framing::None && !coding.eq_ignore_ascii_case("identity") {
        return Err(Fault::Encoding(coding.to_owned()));
    }
    let decoder = BodyDecoder::new(framing, limits).map_err(Fault::Body)?;
    Ok(Stage::Body { head, decoder })
}

/// The clock of what does not happen.
struct Silence<'a> {
    timeouts: &'a Timeouts,
    since: Instant,
    seconds_told: u64,
    after_first_byte: bool,
}

impl Silence<'_> {
    fn new(timeouts: &Timeouts) -> Silence<'_> {
        Silence {
            timeouts,
            since: Instant::now(),
            seconds_told: 0,
            after_first_byte: false,
        }
    }

    fn progress(&mut self) {
        self.since = Instant::now();
        self.seconds_told = 0;
    }

    fn received(&mut self) {
        self.progress();
        self.after_first_byte = true;
    }

    fn limit(&self) -> Option<Duration> {
        if self.after_first_byte {
            self.timeouts.gap
        } else {
            self.timeouts.first_byte
        }
    }

    fn next_look(&self) -> Instant {
        let second = Duration::from_secs(self.seconds_told + 1);
        self.since + self.limit().map_or(second, |limit| limit.min(second))
    }

    fn look(&mut self, address: &str) -> Result<Step<'static>, Error> {
        let elapsed = self.since.elapsed();
        match self.limit() {
            Some(limit) if elapsed >= limit => Err(Error::Silent {
                address: address.to_owned(),
                limit,
                after_first_byte: self.after_first_byte,
            }),
            Some(_) | None => {
                self.seconds_told = elapsed.as_secs();
                Ok(Step::Silent {
                    elapsed,
                    after_first_byte: self.after_first_byte,
                })
            }
        }
    }
}
