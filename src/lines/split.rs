//! Bytes in at any cut, whole lines out, a cap on each. NDJSON is built on it, and whatever else reads lines.
//!
//! ```text
//! feed "one\ntwo\nthr"   → "one", "two"     slices of the input: nothing is copied
//! feed "ee\n"            → "three"          the begun line was kept, its end appended
//! feed "last"            →
//! finish                 → "last"           a line needs no end at the end of the input
//! ```
//!
//! Refused: a line (without its `\n`) above the limit, as soon as one byte more than that is there.
//!
//! Invariant: not more than the limit is kept, and every byte is looked at once: a line of 16 MiB that comes byte by byte
//! costs no more searching than one that comes whole.
//! Invariant: a carriage return is left where it is; callers that want it gone know why.
//!
//! Next: [`super::Ndjson`].
use crate::sys::simd::find_byte;
use crate::text::counted;
use std::fmt;

/// Why a stream of lines was refused.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Error {
    /// A line, record or event above the cap.
    TooLong {
        /// The cap.
        limit_bytes: usize,
    },
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Error::TooLong { limit_bytes } => {
                let limit = counted(*limit_bytes as u64, "byte");
                write!(f, "line longer than {limit}")
            }
        }
    }
}

impl std::error::Error for Error {}

/// A buffer that grew beyond this for one long line is given back behind it.
const KEPT_BYTES: usize = 1 << 20;

/// The splitter. Lines handed out lie in the caller's slice when whole there.
#[derive(Debug)]
pub struct Splitter {
    limit_bytes: usize,
    /// The line begun in earlier input.
    begun: Vec<u8>,
}

impl Splitter {
    /// Refuses lines over `limit_bytes`.
    pub fn new(limit_bytes: usize) -> Splitter {
        Splitter {
            limit_bytes,
            begun: Vec::new(),
        }
    }

    /// Calls `line` for each complete line, without its `\n`. After an error the splitter is of no use.
    pub fn feed(&mut self, bytes: &[u8], line: &mut dyn FnMut(&[u8])) -> Result<(), Error> {
        self.each(bytes, |bytes| {
            line(bytes);
            Ok(())
        })
    }

    /// The last line without end, if any.
    pub fn finish(&mut self, line: &mut dyn FnMut(&[u8])) -> Result<(), Error> {
        self.last(|bytes| {
            line(bytes);
            Ok(())
        })
    }

    /// As `feed`, for callers whose lines can fail: the first failure ends it.
    pub(super) fn each<E: From<Error>>(
        &mut self,
        bytes: &[u8],
        mut line: impl FnMut(&[u8]) -> Result<(), E>,
    ) -> Result<(), E> {
        let mut at = 0;
        loop {
            let end = find_byte(bytes, b'\n', at);
            if self.begun.len() + (end - at) > self.limit_bytes {
                return Err(E::from(Error::TooLong {
                    limit_bytes: self.limit_bytes,
                }));
            }
            if end == bytes.len() {
                self.begun.extend_from_slice(&bytes[at..]);
                return Ok(());
            }
            if self.begun.is_empty() {
                line(&bytes[at..end])?;
            } else {
                self.begun.extend_from_slice(&bytes[at..end]);
                line(&self.begun)?;
                self.forget();
            }
            at = end + 1;
        }
    }

    /// As `finish`, likewise.
    pub(super) fn last<E: From<Error>>(
        &mut self,
        mut line: impl FnMut(&[u8]) -> Result<(), E>,
    ) -> Result<(), E> {
        if !self.begun.is_empty() {
            line(&self.begun)?;
            self.forget();
        }
        Ok(())
    }

    fn forget(&mut self) {
        if self.begun.capacity() > KEPT_BYTES {
            self.begun = Vec::new();
        } else {
            self.begun.clear();
        }
    }
}
