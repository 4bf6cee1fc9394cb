//! The response's way in: bytes as read go in, steps for the callback come out, and the head once the message is
//! complete.
//!
//! ```text
//! HTTP/1.1 100 Continue\r\n\r\n          skipped, as every 1xx
//! HTTP/1.1 200 OK\r\n...\r\n\r\n        Step::Head, and how the body will end
//! 5\r\n{"a":\r\n...0\r\n\r\n          Step::Body ..., then Progress::Done
//! ```
//!
//! Refused: a body in a coding that was not asked for, whatever the decoders refuse, what exceeds the limits.
//!
//! Invariant: nothing behind the end of the message is looked at.
use super::step::{Step, tell};
use super::{BodyDecoder, BodyError, Error, Framing, Head, HeadDecoder, HeadError, Limits};
use std::ops::ControlFlow;

/// Where in the response.
pub(super) enum Stage {
    Head(HeadDecoder),
    Body { head: Head, decoder: BodyDecoder },
}

/// The response so far.
pub(super) struct Incoming<'a> {
    method: &'a str,
    limits: Limits,
    stage: Stage,
}

pub(super) enum Progress {
    /// No final head yet.
    Reading,
    /// The final head is there.
    Answering,
    /// All of it.
    Done(Head),
}

/// A decoder's error on its way to becoming an [`Error`], which names the address.
pub(super) enum Fault {
    Head(HeadError),
    Body(BodyError),
    Encoding(String),
    Stopped,
}

impl Fault {
    pub(super) fn at(self, address: &str) -> Error {
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

impl<'a> Incoming<'a> {
    /// Of the answer to a request with this method.
    pub(super) fn new(method: &'a str, limits: Limits) -> Incoming<'a> {
        Incoming {
            method,
            limits,
            stage: Stage::Head(HeadDecoder::response(limits)),
        }
    }

    /// Takes what was read, at most to the end of the message.
    pub(super) fn feed(
        &mut self,
        mut bytes: &mut [u8],
        on: &mut dyn FnMut(Step<'_>) -> ControlFlow<()>,
    ) -> Result<Progress, Fault> {
        loop {
            match &mut self.stage {
                Stage::Head(decoder) => {
                    let (used, complete) = decoder.feed(bytes).map_err(Fault::Head)?;
                    bytes = &mut bytes[used..];
                    if !complete {
                        return Ok(Progress::Reading);
                    }
                    // The next head's decoder, should this one be a 1xx.
                    let next = HeadDecoder::response(self.limits);
                    let decoder = std::mem::replace(decoder, next);
                    let head = decoder.finish_response().map_err(Fault::Head)?;
                    if !matches!(head.status, 100..=199) {
                        self.stage = begin_body(self.method, head, self.limits, on)?;
                    }
                }
                Stage::Body { head, decoder } => {
                    feed_body(decoder, bytes, on)?;
                    return Ok(if decoder.is_done() {
                        Progress::Done(head.clone())
                    } else {
                        Progress::Answering
                    });
                }
            }
        }
    }

    /// Where it stands, for the connection's end; what is left begins anew.
    pub(super) fn take_stage(&mut self) -> Stage {
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

fn feed_body(
    decoder: &mut BodyDecoder,
    bytes: &mut [u8],
    on: &mut dyn FnMut(Step<'_>) -> ControlFlow<()>,
) -> Result<(), Fault> {
    // The decoder cannot be stopped in the middle of a read; what it still hands out then is dropped.
    let mut stopped = false;
    let fed = decoder.feed(bytes, &mut |bytes| {
        stopped = stopped || on(Step::Body { bytes }).is_break();
    });
    if stopped {
        return Err(Fault::Stopped);
    }
    fed.map(drop).map_err(Fault::Body)
}
