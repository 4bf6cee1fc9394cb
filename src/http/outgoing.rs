//! The request's way out: its head is made here, and what is still unwritten is kept here while the connection takes it
//! piece by piece.
//!
//! ```text
//! POST /api/chat HTTP/1.1\r\n
//! Host: 127.0.0.1:11434\r\n
//! User-Agent: zcoder/0.1.0\r\n
//! Content-Type: application/json\r\n        with a body only
//! Content-Length: 3807\r\n                  not for a GET or HEAD without body
//! Connection: close\r\n
//! Authorization: Bearer ...\r\n            the target's own headers
//! \r\n
//! {"model":...                              the body's slices, uncopied
//! ```
//!
//! Invariant: `Origin`, `Expect` and `Accept-Encoding` are never among the headers ([`Target::new`] refuses them).
//! Invariant: every byte is told, once, after it was written.
use super::step::{Step, tell};
use super::{Error, Request, Target};
use std::io::{self, IoSlice};
use std::ops::ControlFlow;

pub(super) fn request_head(target: &Target, request: &Request<'_>) -> Vec<u8> {
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

/// What is still to be written.
pub(super) struct Outgoing<'a> {
    slices: Vec<&'a [u8]>,
    /// Why writing ended early, if it failed.
    pub(super) failure: Option<io::Error>,
}

/// More slices than this are not given to one write.
const WRITE_SLICES: usize = 16;

impl<'a> Outgoing<'a> {
    /// Head and body go in one write, and so in one packet if they fit.
    pub(super) fn new(head: &'a [u8], body: &[&'a [u8]]) -> Outgoing<'a> {
        // Backwards, so that what is written can be popped.
        let mut slices: Vec<&[u8]> = body.iter().rev().copied().collect();
        slices.push(head);
        slices.retain(|slice| !slice.is_empty());
        Outgoing {
            slices,
            failure: None,
        }
    }

    pub(super) fn is_pending(&self) -> bool {
        !self.slices.is_empty()
    }

    pub(super) fn slices(&self) -> Vec<IoSlice<'a>> {
        let next = self.slices.iter().rev().take(WRITE_SLICES);
        next.map(|slice| IoSlice::new(slice)).collect()
    }

    pub(super) fn wrote(
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

    pub(super) fn give_up(&mut self) {
        self.slices.clear();
    }
}
