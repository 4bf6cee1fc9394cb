//! Cuts and mutations of an input: what every decoder is tested with, our stand-in for a fuzzer.

/// The input whole, byte by byte, and cut in two at every position.
pub(crate) fn cuts(bytes: &[u8]) -> Vec<Vec<Vec<u8>>> {
    let mut all = vec![
        vec![bytes.to_vec()],
        bytes.iter().map(|byte| vec![*byte]).collect(),
    ];
    all.extend((1..bytes.len()).map(|at| vec![bytes[..at].to_vec(), bytes[at..].to_vec()]));
    all
}

/// A small generator of the xorshift kind: the same seed, the same numbers, on every machine.
pub(crate) struct Rng(u64);

impl Rng {
    pub(crate) fn new(seed: u64) -> Rng {
        Rng(seed.wrapping_mul(0x9E37_79B9_7F4A_7C15) | 1)
    }

    /// From 0 up to, not including, `end`.
    pub(crate) fn below(&mut self, end: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        // The high bits are the good ones.
        usize::try_from(self.0 >> 33).expect("31 bits") % end
    }

    /// One to three small damages: a byte changed, taken out, put in, a piece repeated, the end cut off.
    pub(crate) fn mutate(&mut self, bytes: &[u8]) -> Vec<u8> {
        let mut bytes = bytes.to_vec();
        for _ in 0..=self.below(3) {
            if bytes.is_empty() {
                return bytes;
            }
            let at = self.below(bytes.len());
            let byte = u8::try_from(self.below(256)).expect("a byte");
            match self.below(5) {
                0 => bytes[at] = byte,
                1 => drop(bytes.remove(at)),
                2 => bytes.insert(at, byte),
                3 => {
                    let end = at + self.below(bytes.len() - at);
                    let piece = bytes[at..end].to_vec();
                    bytes.splice(at..at, piece);
                }
                _ => bytes.truncate(at),
            }
        }
        bytes
    }

    /// The bytes in pieces of 1 to `longest`.
    pub(crate) fn pieces(&mut self, bytes: &[u8], longest: usize) -> Vec<Vec<u8>> {
        let mut pieces = Vec::new();
        let mut rest = bytes;
        while !rest.is_empty() {
            let (piece, left) = rest.split_at((1 + self.below(longest)).min(rest.len()));
            pieces.push(piece.to_vec());
            rest = left;
        }
        pieces
    }
}
