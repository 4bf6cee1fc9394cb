//! SHA-256 (FIPS 180-4): bytes in, 32 bytes out. Session records are chained with it, edits carry the hashes of what they replaced.
//!
//! ```text
//! "abc"   61 62 63 │ 80 00 … 00 │ 00 00 00 00 00 00 00 18      one block of 64: message, a one bit, zeros, length in bits
//!         ba7816bf 8f01cfea 414140de 5dae2223 b00361a3 96177a9c b410ff61 f20015ad
//! ```
//!
//! Nothing is refused. A digest covers at most 2^61 bytes (FIPS 180-4 1), more than any file.
//!
//! Invariant: how the message was cut into `feed` calls does not matter.

use crate::sys::simd;

/// First 32 bits of the fractional parts of the cube roots of the first 64 primes (FIPS 180-4 4.2.2).
const K: [u32; 64] = [
    0x428a2f98, 0x71374491, 0xb5c0fbcf, 0xe9b5dba5, 0x3956c25b, 0x59f111f1, 0x923f82a4, 0xab1c5ed5,
    0xd807aa98, 0x12835b01, 0x243185be, 0x550c7dc3, 0x72be5d74, 0x80deb1fe, 0x9bdc06a7, 0xc19bf174,
    0xe49b69c1, 0xefbe4786, 0x0fc19dc6, 0x240ca1cc, 0x2de92c6f, 0x4a7484aa, 0x5cb0a9dc, 0x76f988da,
    0x983e5152, 0xa831c66d, 0xb00327c8, 0xbf597fc7, 0xc6e00bf3, 0xd5a79147, 0x06ca6351, 0x14292967,
    0x27b70a85, 0x2e1b2138, 0x4d2c6dfc, 0x53380d13, 0x650a7354, 0x766a0abb, 0x81c2c92e, 0x92722c85,
    0xa2bfe8a1, 0xa81a664b, 0xc24b8b70, 0xc76c51a3, 0xd192e819, 0xd6990624, 0xf40e3585, 0x106aa070,
    0x19a4c116, 0x1e376c08, 0x2748774c, 0x34b0bcb5, 0x391c0cb3, 0x4ed8aa4a, 0x5b9cca4f, 0x682e6ff3,
    0x748f82ee, 0x78a5636f, 0x84c87814, 0x8cc70208, 0x90befffa, 0xa4506ceb, 0xbef9a3f7, 0xc67178f2,
];

/// First 32 bits of the fractional parts of the square roots of the first 8 primes (FIPS 180-4 5.3.3).
const INITIAL: [u32; 8] = [
    0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a, 0x510e527f, 0x9b05688c, 0x1f83d9ab, 0x5be0cd19,
];

const BLOCK: usize = 64;

/// Incremental digest.
#[derive(Clone, Debug)]
pub struct Sha256 {
    state: [u32; 8],
    /// The begun block; its first `length % BLOCK` bytes count.
    block: [u8; BLOCK],
    /// Bytes fed so far.
    length: u64,
}

impl Default for Sha256 {
    fn default() -> Sha256 {
        Sha256::new()
    }
}

impl Sha256 {
    /// Nothing hashed yet.
    pub fn new() -> Sha256 {
        Sha256 {
            state: INITIAL,
            block: [0; BLOCK],
            length: 0,
        }
    }

    /// Adds bytes.
    pub fn feed(&mut self, mut bytes: &[u8]) {
        let used = self.used();
        self.length += bytes.len() as u64;
        if used > 0 {
            let (head, rest) = bytes.split_at(bytes.len().min(BLOCK - used));
            self.block[used..used + head.len()].copy_from_slice(head);
            if used + head.len() < BLOCK {
                return;
            }
            compress_all(&mut self.state, &self.block);
            bytes = rest;
        }
        let whole = bytes.len() - bytes.len() % BLOCK;
        compress_all(&mut self.state, &bytes[..whole]);
        bytes = &bytes[whole..];
        self.block[..bytes.len()].copy_from_slice(bytes);
    }

    /// The digest.
    pub fn finish(mut self) -> [u8; 32] {
        // FIPS 180-4 5.1.1: a one bit, zeros, the length in bits as the last 8 bytes of a block.
        let bits = self.length * 8;
        let used = self.used();
        self.block[used] = 0x80;
        self.block[used + 1..].fill(0);
        if used + 1 > BLOCK - 8 {
            compress_all(&mut self.state, &self.block);
            self.block.fill(0);
        }
        self.block[BLOCK - 8..].copy_from_slice(&bits.to_be_bytes());
        compress_all(&mut self.state, &self.block);
        let mut digest = [0; 32];
        for (bytes, word) in digest.chunks_exact_mut(4).zip(self.state) {
            bytes.copy_from_slice(&word.to_be_bytes());
        }
        digest
    }

    /// Adds bytes to two messages. Where these are as long as each other so far, what both get takes the time of one of them.
    pub fn feed_both([one, other]: [&mut Sha256; 2], [xs, ys]: [&[u8]; 2]) {
        let fill = (BLOCK - one.used()) % BLOCK;
        let both = match one.used() == other.used() {
            true => xs.len().min(ys.len()).saturating_sub(fill) / BLOCK * BLOCK,
            false => 0,
        };
        let (from, to) = if both > 0 {
            (fill, fill + both)
        } else {
            (0, 0)
        };
        one.feed(&xs[..from]);
        other.feed(&ys[..from]);
        let blocks = [&xs[from..to], &ys[from..to]];
        if !simd::sha256_twice([&mut one.state, &mut other.state], blocks, &K) {
            compress_plainly(&mut one.state, blocks[0]);
            compress_plainly(&mut other.state, blocks[1]);
        }
        one.length += both as u64;
        other.length += both as u64;
        one.feed(&xs[to..]);
        other.feed(&ys[to..]);
    }

    fn used(&self) -> usize {
        (self.length % BLOCK as u64) as usize
    }
}

/// Digest of one slice.
pub fn digest(bytes: &[u8]) -> [u8; 32] {
    let mut hash = Sha256::new();
    hash.feed(bytes);
    hash.finish()
}

/// Lower-case hex.
pub fn hex(digest: &[u8; 32]) -> String {
    const DIGITS: &[u8; 16] = b"0123456789abcdef";
    let mut text = String::with_capacity(64);
    for byte in digest {
        text.push(char::from(DIGITS[usize::from(byte >> 4)]));
        text.push(char::from(DIGITS[usize::from(byte & 15)]));
    }
    text
}

/// Whole blocks, by the processor's own instructions where it has them.
fn compress_all(state: &mut [u32; 8], blocks: &[u8]) {
    if !simd::sha256(state, blocks, &K) {
        compress_plainly(state, blocks);
    }
}

fn compress_plainly(state: &mut [u32; 8], mut blocks: &[u8]) {
    while let Some((block, rest)) = blocks.split_first_chunk() {
        compress(state, block);
        blocks = rest;
    }
}

/// One block (FIPS 180-4 6.2.2); the names of words and functions are the standard's.
fn compress(state: &mut [u32; 8], block: &[u8; BLOCK]) {
    let mut w = [0u32; 64];
    for (word, bytes) in w.iter_mut().zip(block.chunks_exact(4)) {
        *word = u32::from_be_bytes([bytes[0], bytes[1], bytes[2], bytes[3]]);
    }
    for t in 16..64 {
        let s0 = w[t - 15].rotate_right(7) ^ w[t - 15].rotate_right(18) ^ (w[t - 15] >> 3);
        let s1 = w[t - 2].rotate_right(17) ^ w[t - 2].rotate_right(19) ^ (w[t - 2] >> 10);
        w[t] = w[t - 16]
            .wrapping_add(s0)
            .wrapping_add(w[t - 7])
            .wrapping_add(s1);
    }
    let [mut a, mut b, mut c, mut d, mut e, mut f, mut g, mut h] = *state;
    for t in 0..64 {
        let sum1 = e.rotate_right(6) ^ e.rotate_right(11) ^ e.rotate_right(25);
        let ch = (e & f) ^ (!e & g);
        let t1 = h
            .wrapping_add(sum1)
            .wrapping_add(ch)
            .wrapping_add(K[t])
            .wrapping_add(w[t]);
        let sum0 = a.rotate_right(2) ^ a.rotate_right(13) ^ a.rotate_right(22);
        let maj = (a & b) ^ (a & c) ^ (b & c);
        let t2 = sum0.wrapping_add(maj);
        h = g;
        g = f;
        f = e;
        e = d.wrapping_add(t1);
        d = c;
        c = b;
        b = a;
        a = t1.wrapping_add(t2);
    }
    for (word, add) in state.iter_mut().zip([a, b, c, d, e, f, g, h]) {
        *word = word.wrapping_add(add);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_processor_and_the_standard_agree() {
        let mut bytes = [0u8; 64 * 9 + 5];
        let mut seed = 1u32;
        for length in [0, 64, 128, 576, 581] {
            for byte in &mut bytes {
                seed = seed.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
                *byte = (seed >> 24) as u8;
            }
            let (mut fast, mut plain) = (INITIAL, INITIAL);
            if !simd::sha256(&mut fast, &bytes[..length], &K) {
                return;
            }
            compress_plainly(&mut plain, &bytes[..length]);
            assert_eq!(fast, plain, "{length} bytes");
            let (mut one, mut other) = (INITIAL, plain);
            simd::sha256_twice([&mut one, &mut other], [&bytes[..length]; 2], &K);
            compress_plainly(&mut plain, &bytes[..length]);
            assert_eq!([one, other], [fast, plain], "{length} bytes");
        }
    }
}
