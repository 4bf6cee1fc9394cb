//! What a caller of [`super::client::exchange`] decides and hears: time limits in, steps out.
//!
//! ```text
//! Connected → Sending ... → Sent → Silent 1 s, 2 s ... → Received → Head → Body → Received → Body ... → Ok(head)
//! ```
//!
//! Invariant: the `Sending` and the `Received` bytes, put together, are exactly what went over the connection.
//! Invariant: `Head` comes once, before any `Body`; the end is not a step but the result of the exchange.
use super::{Error, Head};
use std::ops::ControlFlow;
use std::time::Duration;

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

/// Tells it one step; its `Break` becomes an error, which closes the connection on its way out.
pub(super) fn tell(
    on: &mut dyn FnMut(Step<'_>) -> ControlFlow<()>,
    step: Step<'_>,
) -> Result<(), Error> {
    match on(step) {
        ControlFlow::Continue(()) => Ok(()),
        ControlFlow::Break(()) => Err(Error::Stopped),
    }
}
