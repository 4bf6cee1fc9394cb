//! Kernels over byte slices: they look for the first byte of a class or the first place where a word may stand, or ask whether all bytes
//! are ASCII, and are called for every JSON string, blank run, number and line there is, and by every search. Safe functions; a caller
//! sees a slice, a start and an index.
//!
//! ```text
//! bytes  = "model":"qwen3:8b","created_at"
//! find_string_end(bytes, 1)  = 6        the quote behind `model`
//! find_string_end(bytes, 9)  = 17       the quote behind `qwen3:8b`
//! ```
//!
//! On x86-64 a step takes 16 bytes (SSE2, which every such processor has), and in long runs 32 (AVX2, asked for at run time). The last
//! bytes are looked at as part of the slice's last 16. Elsewhere, and in slices shorter than that, the scalar twin does the work. The
//! kernels of the search are called once for many bytes: they take 32 a step or leave it to the twin.
//!
//! Limits: none; every function is linear in the bytes between `from` and its result.
//!
//! Invariant: a kernel and its scalar twin (in `scalar`) return the same index for the same arguments.
//! Invariant: nothing is read outside the slice, and a `from` behind the end gives the length.
//! Invariant: the short case is inlined. JSON strings of a stream are 4 to 30 bytes long; a call would cost more than the search.
//!
//! Read next: `simd/x86.rs`, the kernels themselves; `json/token.rs` and `regex/prefilter.rs`, the main callers.

/// Index of the first byte at or after `from` that is `"`, `\` or below 0x20; `bytes.len()` if there is none.
#[inline]
pub fn find_string_end(bytes: &[u8], from: usize) -> usize {
    #[cfg(target_arch = "x86_64")]
    {
        let Some(block) = block_at(bytes, from) else {
            return x86::find_in_tail(bytes, from, x86::string_end, scalar::find_string_end);
        };
        let hits = x86::string_end(block);
        if hits != 0 {
            return from + hits.trailing_zeros() as usize;
        }
        x86::find_string_end_long(bytes, from + 16)
    }
    #[cfg(not(target_arch = "x86_64"))]
    scalar::find_string_end(bytes, from)
}

/// Index of the first `byte` at or after `from`, or `bytes.len()`.
#[inline]
pub fn find_byte(bytes: &[u8], byte: u8, from: usize) -> usize {
    #[cfg(target_arch = "x86_64")]
    {
        let Some(block) = block_at(bytes, from) else {
            let hits = |block: &_| x86::equal(block, byte);
            return x86::find_in_tail(bytes, from, hits, |b, from| {
                scalar::find_byte(b, byte, from)
            });
        };
        let hits = x86::equal(block, byte);
        if hits != 0 {
            return from + hits.trailing_zeros() as usize;
        }
        x86::find_byte_long(bytes, byte, from + 16)
    }
    #[cfg(not(target_arch = "x86_64"))]
    scalar::find_byte(bytes, byte, from)
}

/// Index of the first byte at or after `from` that is not an ASCII digit, or `bytes.len()`.
#[inline]
pub fn find_non_digit(bytes: &[u8], from: usize) -> usize {
    #[cfg(target_arch = "x86_64")]
    return x86::find(bytes, from, x86::non_digit, scalar::find_non_digit);
    #[cfg(not(target_arch = "x86_64"))]
    scalar::find_non_digit(bytes, from)
}

/// Index of the first byte at or after `from` that is none of space, tab, line feed, carriage return, or `bytes.len()`.
#[inline]
pub fn find_non_blank(bytes: &[u8], from: usize) -> usize {
    #[cfg(target_arch = "x86_64")]
    return x86::find(bytes, from, x86::non_blank, scalar::find_non_blank);
    #[cfg(not(target_arch = "x86_64"))]
    scalar::find_non_blank(bytes, from)
}

/// The bytes as text, if all of them are ASCII. For a handful of bytes this is three times as fast as `str::from_utf8`, and a handful is
/// what a token of a model has.
#[inline]
pub fn ascii(bytes: &[u8]) -> Option<&str> {
    // Two reads that overlap cover every length of a class without a loop, whose end no processor foresees.
    let union = if bytes.len() > 16 {
        u64::from(!bytes.is_ascii()) << 7
    } else if let (Some(head), Some(tail)) = (bytes.first_chunk(), bytes.last_chunk()) {
        u64::from_le_bytes(*head) | u64::from_le_bytes(*tail)
    } else if let (Some(head), Some(tail)) = (bytes.first_chunk(), bytes.last_chunk()) {
        u64::from(u32::from_le_bytes(*head) | u32::from_le_bytes(*tail))
    } else if let [head, .., tail] = bytes {
        u64::from(head | bytes[bytes.len() / 2] | tail)
    } else {
        bytes.first().map_or(0, |&byte| u64::from(byte))
    };
    if union & 0x8080_8080_8080_8080 != 0 {
        return None;
    }
    // SAFETY: no byte has its upper bit set, so each is a character of its own.
    Some(unsafe { std::str::from_utf8_unchecked(bytes) })
}

/// The bytes as text, if they are UTF-8 (RFC 3629). Not to be asked for where they are not: `str::from_utf8` tells.
#[inline]
pub fn utf8(bytes: &[u8]) -> Option<&str> {
    if let Some(text) = ascii(bytes) {
        return Some(text);
    }
    #[cfg(target_arch = "x86_64")]
    if std::arch::is_x86_feature_detected!("avx2") {
        // SAFETY: the processor was just asked for AVX2.
        if !unsafe { x86::is_utf8(bytes) } {
            return None;
        }
        // SAFETY: every sequence in it was just checked.
        return Some(unsafe { std::str::from_utf8_unchecked(bytes) });
    }
    scalar::utf8(bytes)
}

/// As [`utf8`], for bytes that become the text; if they are none they come back.
pub fn into_utf8(bytes: Vec<u8>) -> Result<String, Vec<u8>> {
    match utf8(&bytes) {
        // SAFETY: `utf8` has just found them to be a text.
        Some(_) => Ok(unsafe { String::from_utf8_unchecked(bytes) }),
        None => Err(bytes),
    }
}

/// Two bytes at their distances from a place: what a text is searched for first, when the whole of it would take longer to compare.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Pair {
    /// The first byte, and how far behind the place it stands.
    pub first: (u8, usize),
    /// The second byte, and how far behind the place it stands.
    pub second: (u8, usize),
}

/// The first place at or after `from` with both bytes of the pair; `bytes.len()` if there is none.
#[inline]
pub fn find_pair(bytes: &[u8], pair: Pair, from: usize) -> usize {
    #[cfg(target_arch = "x86_64")]
    if std::arch::is_x86_feature_detected!("avx2") {
        // SAFETY: the processor was just asked for AVX2.
        return unsafe { x86::find_pair(bytes, pair, from) };
    }
    scalar::find_pair(bytes, pair, from)
}

/// A set of bytes: any of ASCII, and all or none beyond.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ByteSet {
    /// Bit h of entry l: whether the byte with the halves h and l, below 0x80, belongs to the set.
    rows: [u8; 16],
    beyond: bool,
}

impl ByteSet {
    /// Bit b of `ascii` is about byte b; `beyond` about all from 0x80 on.
    pub fn new(ascii: u128, beyond: bool) -> ByteSet {
        let mut rows = [0; 16];
        for byte in 0..0x80u8 {
            let bit = (ascii >> byte & 1) as u8;
            rows[usize::from(byte & 15)] |= bit << (byte >> 4);
        }
        ByteSet { rows, beyond }
    }

    /// Whether the byte belongs to the set.
    #[inline]
    pub fn contains(&self, byte: u8) -> bool {
        if byte < 0x80 {
            self.rows[usize::from(byte & 15)] >> (byte >> 4) & 1 == 1
        } else {
            self.beyond
        }
    }
}

/// The first byte of the set at or after `from`, or `bytes.len()`.
#[inline]
pub fn find_in_set(bytes: &[u8], set: &ByteSet, from: usize) -> usize {
    #[cfg(target_arch = "x86_64")]
    if std::arch::is_x86_feature_detected!("avx2") {
        // SAFETY: the processor was just asked for AVX2.
        return unsafe { x86::find_in_set(bytes, set, from) };
    }
    scalar::find_in_set(bytes, set, from)
}

/// What the first bytes of up to eight groups of words look like, so that all of them are searched for at once (the "Teddy" of Hyperscan).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Fingerprints {
    /// For each of the first bytes: by its lower half, then by its upper, a bit for each group that has such a byte there.
    halves: [([u8; 16], [u8; 16]); 3],
    /// How many bytes are looked at, 1 to 3.
    length: usize,
}

impl Fingerprints {
    /// Fingerprints of no words; each that is added must have `length` bytes, at most 3.
    pub fn new(length: usize) -> Fingerprints {
        Fingerprints {
            length: length.clamp(1, 3),
            ..Fingerprints::default()
        }
    }

    /// Adds a word to a group, 0 to 7.
    pub fn add(&mut self, word: &[u8], group: u8) {
        for (byte, (lower, upper)) in word.iter().zip(&mut self.halves[..self.length]) {
            lower[usize::from(byte & 15)] |= 1 << (group & 7);
            upper[usize::from(byte >> 4)] |= 1 << (group & 7);
        }
    }

    /// The groups of which a word may stand at `at`, a bit for each; 0 where fewer bytes are left than are looked at.
    #[inline]
    pub fn groups_at(&self, bytes: &[u8], at: usize) -> u8 {
        let Some(bytes) = bytes.get(at..).and_then(|tail| tail.get(..self.length)) else {
            return 0;
        };
        let mut groups = 0xff;
        for (byte, (lower, upper)) in bytes.iter().zip(&self.halves) {
            groups &= lower[usize::from(byte & 15)] & upper[usize::from(byte >> 4)];
        }
        groups
    }
}

/// The first place at or after `from` where a word of any group may stand, or `bytes.len()`.
#[inline]
pub fn find_fingerprint(bytes: &[u8], prints: &Fingerprints, from: usize) -> usize {
    #[cfg(target_arch = "x86_64")]
    if std::arch::is_x86_feature_detected!("avx2") {
        // SAFETY: the processor was just asked for AVX2.
        return unsafe {
            match prints.length {
                1 => x86::find_fingerprint::<1>(bytes, prints, from),
                2 => x86::find_fingerprint::<2>(bytes, prints, from),
                _ => x86::find_fingerprint::<3>(bytes, prints, from),
            }
        };
    }
    scalar::find_fingerprint(bytes, prints, from)
}

/// Calls `found` with each place where `byte` stands, in order.
#[inline]
pub fn find_all(bytes: &[u8], byte: u8, found: impl FnMut(usize)) {
    #[cfg(target_arch = "x86_64")]
    return x86::find_all(bytes, byte, found);
    #[cfg(not(target_arch = "x86_64"))]
    scalar::find_all(bytes, byte, found)
}

/// How often `byte` occurs.
pub fn count_byte(bytes: &[u8], byte: u8) -> usize {
    #[cfg(target_arch = "x86_64")]
    return x86::count_byte(bytes, byte);
    #[cfg(not(target_arch = "x86_64"))]
    scalar::count_byte(bytes, byte)
}

/// Takes whole blocks of 64 bytes into the state of a SHA-256 (FIPS 180-4 6.2.2) with the processor's own instructions; bytes behind the
/// last whole block are left. False, and nothing done, on a processor without them. The twin is the loop in `sha256.rs`. `k`: the
/// standard's constants.
pub fn sha256(state: &mut [u32; 8], blocks: &[u8], k: &[u32; 64]) -> bool {
    #[cfg(target_arch = "x86_64")]
    if has_sha() {
        // SAFETY: the processor was just asked for what it takes.
        unsafe { x86::sha256(state, blocks, k) };
        return true;
    }
    let _ = (state, blocks, k);
    false
}

/// The same for two messages in the time of one; of both as many blocks as both have.
pub fn sha256_twice(states: [&mut [u32; 8]; 2], blocks: [&[u8]; 2], k: &[u32; 64]) -> bool {
    #[cfg(target_arch = "x86_64")]
    if has_sha() {
        // SAFETY: as above.
        unsafe { x86::sha256_twice(states, blocks, k) };
        return true;
    }
    let _ = (states, blocks, k);
    false
}

#[cfg(target_arch = "x86_64")]
fn has_sha() -> bool {
    std::arch::is_x86_feature_detected!("sha")
        && std::arch::is_x86_feature_detected!("ssse3")
        && std::arch::is_x86_feature_detected!("sse4.1")
}

/// The 16 bytes at `from`, if the slice has as many there. In safe code this is two range checks, and they show in a rate.
#[cfg(target_arch = "x86_64")]
#[inline(always)]
fn block_at(bytes: &[u8], from: usize) -> Option<&[u8; 16]> {
    if bytes.len().saturating_sub(from) < 16 {
        return None;
    }
    // SAFETY: at least 16 bytes of the slice lie at and behind `from`.
    Some(unsafe { &*bytes.as_ptr().add(from).cast() })
}

/// The same functions a byte at a time: the reference in tests, the tail of a slice, and all there is on other processors.
pub mod scalar {
    #[inline]
    fn find(bytes: &[u8], from: usize, wanted: impl Fn(u8) -> bool) -> usize {
        let tail = bytes.get(from..).unwrap_or_default();
        match tail.iter().position(|&byte| wanted(byte)) {
            Some(index) => from + index,
            None => bytes.len(),
        }
    }

    /// Twin of [`super::find_string_end`].
    #[inline]
    pub fn find_string_end(bytes: &[u8], from: usize) -> usize {
        find(bytes, from, |b| b == b'"' || b == b'\\' || b < 0x20)
    }

    /// Twin of [`super::find_byte`].
    #[inline]
    pub fn find_byte(bytes: &[u8], byte: u8, from: usize) -> usize {
        find(bytes, from, |b| b == byte)
    }

    /// Twin of [`super::count_byte`].
    pub fn count_byte(bytes: &[u8], byte: u8) -> usize {
        bytes.iter().filter(|b| **b == byte).count()
    }

    /// Twin of [`super::find_all`].
    #[inline]
    pub fn find_all(bytes: &[u8], byte: u8, found: impl FnMut(usize)) {
        let hits = bytes.iter().enumerate().filter(|(_, b)| **b == byte);
        hits.map(|(at, _)| at).for_each(found);
    }

    /// Twin of [`super::find_non_digit`].
    #[inline]
    pub fn find_non_digit(bytes: &[u8], from: usize) -> usize {
        find(bytes, from, |b| !b.is_ascii_digit())
    }

    /// Twin of [`super::utf8`].
    pub fn utf8(bytes: &[u8]) -> Option<&str> {
        std::str::from_utf8(bytes).ok()
    }

    /// Twin of [`super::ascii`].
    pub fn ascii(bytes: &[u8]) -> Option<&str> {
        let text = std::str::from_utf8(bytes).ok()?;
        bytes.iter().all(|&byte| byte < 0x80).then_some(text)
    }

    /// Twin of [`super::find_non_blank`].
    #[inline]
    pub fn find_non_blank(bytes: &[u8], from: usize) -> usize {
        find(bytes, from, |b| !matches!(b, b' ' | b'\t' | b'\n' | b'\r'))
    }

    /// Twin of [`super::find_pair`].
    pub fn find_pair(bytes: &[u8], pair: super::Pair, from: usize) -> usize {
        let super::Pair { first, second } = pair;
        let end = bytes.len().saturating_sub(first.1.max(second.1));
        let has = |at: usize| bytes[at + first.1] == first.0 && bytes[at + second.1] == second.0;
        (from..end).find(|&at| has(at)).unwrap_or(bytes.len())
    }

    /// Twin of [`super::find_in_set`].
    pub fn find_in_set(bytes: &[u8], set: &super::ByteSet, from: usize) -> usize {
        find(bytes, from, |b| set.contains(b))
    }

    /// Twin of [`super::find_fingerprint`].
    pub fn find_fingerprint(bytes: &[u8], prints: &super::Fingerprints, from: usize) -> usize {
        let may_stand = |&at: &usize| prints.groups_at(bytes, at) != 0;
        (from..bytes.len()).find(may_stand).unwrap_or(bytes.len())
    }
}

#[cfg(target_arch = "x86_64")]
mod x86;
