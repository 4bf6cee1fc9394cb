//! One request, one connection, one response, told step by step to a callback. In come a [`Target`] and a [`Request`];
//! out go the steps (for a recorder: the bytes both ways; for the model: head and body) and, at the end, the head.
//! `model` calls [`exchange`] for chats and [`fetch`] for small answers.
//!
//! ```text
//! dial       127.0.0.1:11434, or the --via program
//! write      POST /api/chat HTTP/1.1\r\n...   all of it, unless an answer comes first; never half-closed afterwards:
//!                                             servers take that for a cancel
//! wait       in poll, for bytes, the cancel switch, the next second of silence
//! read       HTTP/1.1 200 OK\r\n...           head and body decoders; until the body's own end, or the connection's
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
//! Next: `dial.rs`, `outgoing.rs`, `silence.rs`, `incoming.rs`: the four parts that the loop here ties together.
use super::dial::{Link, dial};
use super::incoming::{Incoming, Progress, Stage};
use super::outgoing::{Outgoing, request_head};
use super::silence::Silence;
use super::step::tell;
pub use super::step::{Step, Timeouts};
use super::{Error, Head, Limits, Request, Target};
use crate::sys::{Cancel, poll};
use std::io;
use std::ops::ControlFlow;

/// The first read takes up to this much: most answers are smaller, and a page that nothing touches costs nothing.
const FIRST_READ_BYTES: usize = 8 << 10;

/// Once a read was full, each takes up to this much. Larger buffers fall out of the processor's cache, smaller ones cost more calls.
const READ_BYTES: usize = 128 << 10;

/// After a read of this size the next one is tried without asking `poll` first: on a busy connection that saves every other
/// system call. Records of a model at work are far smaller, and there the try would be the call too many.
const BUSY_BYTES: usize = 16 << 10;

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
        incoming: Incoming::new(request.method, limits),
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
        let mut buffer = vec![0; FIRST_READ_BYTES];
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
            let is_full = count == buffer.len();
            more_is_likely = is_full || count >= BUSY_BYTES;
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
            if is_full {
                buffer.resize(READ_BYTES, 0);
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
