//! What std's sockets lack. The stand-in's fault scenes hang up the hard way here.
//!
//! ```text
//! drop(stream)    FIN: the peer reads the rest, then 0 bytes
//! reset(stream)   RST: the peer's next read is ECONNRESET, unread bytes are lost
//! ```
//!
//! Limits: TCP only; on a closed or failed socket the error of `setsockopt` comes back.
//!
//! Invariant: `reset` never blocks, whatever is still unsent.
//!
//! Read next: `ffi.rs`.

use super::ffi;
use std::io;
use std::net::TcpStream;
use std::os::fd::AsFd;

/// Closes the connection with a reset (SO_LINGER on, 0 seconds). Other clones of the stream keep it open until they go.
pub fn reset(stream: TcpStream) -> io::Result<()> {
    ffi::linger_zero(stream.as_fd())
}
