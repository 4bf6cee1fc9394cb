//! Random bytes and identifiers from the kernel. Sessions take their names here, servers their tokens, temporary files their suffix.
//!
//! ```text
//! /dev/urandom  →  0x17 0xfe 0x83 0x24 …
//! id(3)         →  23 → 'x'    254 refused    131 → 131 - 3·36 = 23 → 'x'    36 → 'a'        "xxa"
//! ```
//!
//! Limits: each call opens the device anew; nothing is kept between calls, so nothing leaks into a forked child.
//!
//! Invariant: every character of an identifier is equally likely. Bytes above the largest multiple of 36 are thrown away.
//!
//! Read next: `file.rs`, its first user.

use std::fs::File;
use std::io::{self, Read};

const ALPHABET: &[u8; 36] = b"abcdefghijklmnopqrstuvwxyz0123456789";

/// Fills `bytes`. Errors: the device is missing (a chroot without `/dev`) or no descriptors are left.
pub fn fill(bytes: &mut [u8]) -> io::Result<()> {
    File::open("/dev/urandom")?.read_exact(bytes)
}

/// `len` characters of `a-z0-9`; each carries 5.17 bits, so 25 of them make a secret. Errors as `fill`.
pub fn id(len: usize) -> io::Result<String> {
    let fair = 256 - 256 % ALPHABET.len();
    let mut device = File::open("/dev/urandom")?;
    let mut id = String::with_capacity(len);
    let mut bytes = [0; 32];
    while id.len() < len {
        device.read_exact(&mut bytes)?;
        let usable = bytes.iter().map(|&byte| usize::from(byte));
        let usable = usable.filter(|&byte| byte < fair);
        id.extend(
            usable
                .take(len - id.len())
                .map(|byte| char::from(ALPHABET[byte % ALPHABET.len()])),
        );
    }
    Ok(id)
}
