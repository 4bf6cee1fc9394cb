//! The kernels for x86-64. Comes in: the arguments of the safe functions of `simd.rs`, which alone call them and have asked the processor for
//! what they need. Goes out: the index, or the bits, that the twin there would give.
//!
//! ```text
//! string_end("model\":\"qwen3:8b") = 0b1010_0000     one bit a byte, lowest first: set where the byte is of the class
//! ```
//!
//! Invariant: SSE2 is part of x86-64 and asked for by nobody; whatever needs more is a `#[target_feature]` function.
//! Invariant: each load is of bytes that a slice or an array has.

use std::arch::x86_64::*;

#[inline(always)]
pub(super) fn string_end(block: &[u8; 16]) -> u32 {
    // SAFETY: `block` is 16 readable bytes and the load needs no alignment; SSE2 is part of x86-64.
    unsafe {
        let x = _mm_loadu_si128(block.as_ptr().cast());
        let quote = _mm_cmpeq_epi8(x, _mm_set1_epi8(b'"' as i8));
        let backslash = _mm_cmpeq_epi8(x, _mm_set1_epi8(b'\\' as i8));
        // There is no unsigned `<`; min(x, 0x1f) == x says x <= 0x1f.
        let control = _mm_cmpeq_epi8(_mm_min_epu8(x, _mm_set1_epi8(0x1f)), x);
        _mm_movemask_epi8(_mm_or_si128(_mm_or_si128(quote, backslash), control)) as u32
    }
}

#[inline(always)]
pub(super) fn equal(block: &[u8; 16], byte: u8) -> u32 {
    // SAFETY: as in `string_end`.
    unsafe {
        let x = _mm_loadu_si128(block.as_ptr().cast());
        _mm_movemask_epi8(_mm_cmpeq_epi8(x, _mm_set1_epi8(byte as i8))) as u32
    }
}

#[inline(always)]
pub(super) fn non_digit(block: &[u8; 16]) -> u32 {
    // SAFETY: as in `string_end`.
    unsafe {
        let x = _mm_loadu_si128(block.as_ptr().cast());
        // x - '0' wraps for bytes below '0', so one unsigned comparison covers both ends of the range.
        let value = _mm_sub_epi8(x, _mm_set1_epi8(b'0' as i8));
        let digit = _mm_cmpeq_epi8(_mm_min_epu8(value, _mm_set1_epi8(9)), value);
        _mm_movemask_epi8(digit) as u32 ^ 0xffff
    }
}

#[inline(always)]
pub(super) fn non_blank(block: &[u8; 16]) -> u32 {
    // SAFETY: as in `string_end`.
    unsafe {
        let x = _mm_loadu_si128(block.as_ptr().cast());
        let space = _mm_cmpeq_epi8(x, _mm_set1_epi8(b' ' as i8));
        let tab = _mm_cmpeq_epi8(x, _mm_set1_epi8(b'\t' as i8));
        let feed = _mm_cmpeq_epi8(x, _mm_set1_epi8(b'\n' as i8));
        let ret = _mm_cmpeq_epi8(x, _mm_set1_epi8(b'\r' as i8));
        let blank = _mm_or_si128(_mm_or_si128(space, tab), _mm_or_si128(feed, ret));
        _mm_movemask_epi8(blank) as u32 ^ 0xffff
    }
}

#[inline]
pub(super) fn find_all(bytes: &[u8], byte: u8, mut found: impl FnMut(usize)) {
    let mut at = 0;
    while let Some(block) = super::block_at(bytes, at) {
        let mut hits = equal(block, byte);
        while hits != 0 {
            found(at + hits.trailing_zeros() as usize);
            hits &= hits - 1;
        }
        at += 16;
    }
    super::scalar::find_all(&bytes[at..], byte, |tail| found(at + tail));
}

/// A byte of the sum counts to 255, then the sum is emptied.
pub(super) fn count_byte(bytes: &[u8], byte: u8) -> usize {
    let mut total = 0;
    let mut rest = bytes;
    while rest.len() >= 16 {
        let blocks = (rest.len() / 16).min(255);
        let (now, after) = rest.split_at(blocks * 16);
        rest = after;
        // SAFETY: each load is of 16 bytes of `now`, whose length is a multiple of 16; SSE2 is part of x86-64.
        unsafe {
            let wanted = _mm_set1_epi8(byte as i8);
            let mut sum = _mm_setzero_si128();
            for block in now.chunks_exact(16) {
                let block = _mm_loadu_si128(block.as_ptr().cast());
                // A hit is all ones: minus one.
                sum = _mm_sub_epi8(sum, _mm_cmpeq_epi8(block, wanted));
            }
            let halves = _mm_sad_epu8(sum, _mm_setzero_si128());
            let upper = _mm_unpackhi_epi64(halves, halves);
            total += (_mm_cvtsi128_si32(halves) + _mm_cvtsi128_si32(upper)) as usize;
        }
    }
    total + super::scalar::count_byte(rest, byte)
}

/// Four rounds of each message. `$state`: (a b e f) and (c d g h), upmost first; `$w`: the last sixteen words of its schedule.
macro_rules! rounds {
    ($k:expr, $i:literal, $($state:ident $w:ident),+) => {$(
        let keyed = _mm_add_epi32($w[$i], _mm_loadu_si128($k[$i * 4..].as_ptr().cast()));
        $state.1 = _mm_sha256rnds2_epu32($state.1, $state.0, keyed);
        $state.0 = _mm_sha256rnds2_epu32($state.0, $state.1, _mm_shuffle_epi32(keyed, 0x0e));
    )+};
}

/// The four words that take the place of `$w[$i]`.
macro_rules! schedule {
    ($i:literal, $($w:ident),+) => {$(
        let near = _mm_alignr_epi8($w[($i + 3) % 4], $w[($i + 2) % 4], 4);
        let sum = _mm_add_epi32(_mm_sha256msg1_epu32($w[$i], $w[($i + 1) % 4]), near);
        $w[$i] = _mm_sha256msg2_epu32(sum, $w[($i + 3) % 4]);
    )+};
}

/// A block of each message. Written out, since a processor takes up the rounds of the second one while those of the first wait for
/// each other, and compilers that save bytes leave a loop over the messages a loop.
macro_rules! compress {
    ($k:ident, $($state:ident $w:ident $block:ident),+) => {
        let big_endian = _mm_set_epi64x(0x0c0d_0e0f_0809_0a0b, 0x0405_0607_0001_0203);
        let words = |block: &[u8; 64], i: usize| {
            _mm_shuffle_epi8(_mm_loadu_si128(block[i * 16..].as_ptr().cast()), big_endian)
        };
        $(let mut $w = [0, 1, 2, 3].map(|i| words($block, i));)+
        for (quarter, k) in $k.chunks_exact(16).enumerate() {
            rounds!(k, 0, $($state $w),+);
            rounds!(k, 1, $($state $w),+);
            rounds!(k, 2, $($state $w),+);
            rounds!(k, 3, $($state $w),+);
            if quarter < 3 {
                schedule!(0, $($w),+);
                schedule!(1, $($w),+);
                schedule!(2, $($w),+);
                schedule!(3, $($w),+);
            }
        }
    };
}

#[target_feature(enable = "sha,ssse3,sse4.1")]
pub(super) unsafe fn sha256(state: &mut [u32; 8], mut blocks: &[u8], k: &[u32; 64]) {
    // SAFETY: the caller has the features; each load is of 16 bytes of a block or of the constants.
    unsafe {
        let mut a = enter(state);
        while let Some((x, after)) = blocks.split_first_chunk() {
            let before = a;
            compress!(k, a v x);
            a = (_mm_add_epi32(a.0, before.0), _mm_add_epi32(a.1, before.1));
            blocks = after;
        }
        leave(state, a);
    }
}

/// Both at once, as many blocks as both have.
#[target_feature(enable = "sha,ssse3,sse4.1")]
pub(super) unsafe fn sha256_twice(
    [one, other]: [&mut [u32; 8]; 2],
    [mut xs, mut ys]: [&[u8]; 2],
    k: &[u32; 64],
) {
    // SAFETY: as in `sha256`.
    unsafe {
        let (mut a, mut b) = (enter(one), enter(other));
        while let (Some((x, xs_after)), Some((y, ys_after))) =
            (xs.split_first_chunk(), ys.split_first_chunk())
        {
            let (c, d) = (a, b);
            compress!(k, a v x, b w y);
            a = (_mm_add_epi32(a.0, c.0), _mm_add_epi32(a.1, c.1));
            b = (_mm_add_epi32(b.0, d.0), _mm_add_epi32(b.1, d.1));
            (xs, ys) = (xs_after, ys_after);
        }
        leave(one, a);
        leave(other, b);
    }
}

#[target_feature(enable = "sha,ssse3,sse4.1")]
unsafe fn enter(state: &[u32; 8]) -> (__m128i, __m128i) {
    // SAFETY: two loads of 16 bytes of 32; the caller has the features.
    unsafe {
        let (abcd, efgh) = (
            _mm_loadu_si128(state.as_ptr().cast()),
            _mm_loadu_si128(state[4..].as_ptr().cast()),
        );
        let (cdab, efgh) = (_mm_shuffle_epi32(abcd, 0xb1), _mm_shuffle_epi32(efgh, 0x1b));
        (
            _mm_alignr_epi8(cdab, efgh, 8),
            _mm_blend_epi16(efgh, cdab, 0xf0),
        )
    }
}

#[target_feature(enable = "sha,ssse3,sse4.1")]
unsafe fn leave(state: &mut [u32; 8], (abef, cdgh): (__m128i, __m128i)) {
    // SAFETY: two stores of 16 bytes of 32; the caller has the features.
    unsafe {
        let (feba, dchg) = (_mm_shuffle_epi32(abef, 0x1b), _mm_shuffle_epi32(cdgh, 0xb1));
        let abcd = _mm_blend_epi16(feba, dchg, 0xf0);
        let efgh = _mm_alignr_epi8(dchg, feba, 8);
        _mm_storeu_si128(state.as_mut_ptr().cast(), abcd);
        _mm_storeu_si128(state[4..].as_mut_ptr().cast(), efgh);
    }
}

/// Block after block, then the tail.
#[inline(always)]
pub(super) fn find(
    bytes: &[u8],
    from: usize,
    hits: impl Fn(&[u8; 16]) -> u32,
    twin: impl Fn(&[u8], usize) -> usize,
) -> usize {
    let mut at = from;
    while let Some(block) = super::block_at(bytes, at) {
        let hits = hits(block);
        if hits != 0 {
            return at + hits.trailing_zeros() as usize;
        }
        at += 16;
    }
    find_in_tail(bytes, at, hits, twin)
}

/// Where less than a block is left, the last block of the slice is looked at, without what lies before `from`.
#[inline(always)]
pub(super) fn find_in_tail(
    bytes: &[u8],
    from: usize,
    hits: impl Fn(&[u8; 16]) -> u32,
    twin: impl Fn(&[u8], usize) -> usize,
) -> usize {
    match bytes.last_chunk() {
        Some(block) if from < bytes.len() => {
            let before = from - (bytes.len() - 16);
            let hits = hits(block) >> before;
            if hits != 0 {
                from + hits.trailing_zeros() as usize
            } else {
                bytes.len()
            }
        }
        Some(_) => bytes.len(),
        None => twin(bytes, from),
    }
}

/// The search in 32-byte steps, where the processor has AVX2 and the slice as many bytes.
#[inline(never)]
pub(super) fn find_string_end_long(bytes: &[u8], from: usize) -> usize {
    if bytes.len() >= 32 && std::arch::is_x86_feature_detected!("avx2") {
        // SAFETY: the processor was just asked for AVX2.
        return unsafe { find_string_end_avx2(bytes, from) };
    }
    find(bytes, from, string_end, super::scalar::find_string_end)
}

/// Likewise.
#[inline(never)]
pub(super) fn find_byte_long(bytes: &[u8], byte: u8, from: usize) -> usize {
    if bytes.len() >= 32 && std::arch::is_x86_feature_detected!("avx2") {
        // SAFETY: the processor was just asked for AVX2.
        return unsafe { find_byte_avx2(bytes, byte, from) };
    }
    let hits = |block: &_| equal(block, byte);
    find(bytes, from, hits, |bytes, from| {
        super::scalar::find_byte(bytes, byte, from)
    })
}

// The loops are part of the functions with AVX2: a function without it cannot inline one that has it, and a call a block costs
// more than the block. That is also why there are two and not one that is told what to look for.

#[target_feature(enable = "avx2")]
unsafe fn find_string_end_avx2(bytes: &[u8], from: usize) -> usize {
    let mut at = from;
    while let Some((block, begin)) = block_from(bytes, at) {
        // SAFETY: `block` is 32 readable bytes and the load needs no alignment; the caller has AVX2.
        let hits = unsafe {
            let x = _mm256_loadu_si256(block.as_ptr().cast());
            let quote = _mm256_cmpeq_epi8(x, _mm256_set1_epi8(b'"' as i8));
            let backslash = _mm256_cmpeq_epi8(x, _mm256_set1_epi8(b'\\' as i8));
            let control = _mm256_cmpeq_epi8(_mm256_min_epu8(x, _mm256_set1_epi8(0x1f)), x);
            let hits = _mm256_or_si256(_mm256_or_si256(quote, backslash), control);
            _mm256_movemask_epi8(hits) as u32
        };
        let hits = hits >> (at - begin);
        if hits != 0 {
            return at + hits.trailing_zeros() as usize;
        }
        at = begin + 32;
    }
    bytes.len()
}

#[target_feature(enable = "avx2")]
unsafe fn find_byte_avx2(bytes: &[u8], byte: u8, from: usize) -> usize {
    let mut at = from;
    while let Some((block, begin)) = block_from(bytes, at) {
        // SAFETY: as in `find_string_end_avx2`.
        let hits = unsafe {
            let x = _mm256_loadu_si256(block.as_ptr().cast());
            _mm256_movemask_epi8(_mm256_cmpeq_epi8(x, _mm256_set1_epi8(byte as i8))) as u32
        };
        let hits = hits >> (at - begin);
        if hits != 0 {
            return at + hits.trailing_zeros() as usize;
        }
        at = begin + 32;
    }
    bytes.len()
}

/// The 32 bytes that begin at `at`, or the last 32 if fewer are left there, and where they begin; nothing behind the end.
#[inline(always)]
fn block_from(bytes: &[u8], at: usize) -> Option<(&[u8; 32], usize)> {
    let begin = at.min(bytes.len().checked_sub(32)?);
    if at >= bytes.len() {
        return None;
    }
    Some((bytes[begin..].first_chunk()?, begin))
}

/// The 32 bytes at `at`.
#[inline]
#[target_feature(enable = "avx2")]
unsafe fn load(bytes: &[u8], at: usize) -> Option<__m256i> {
    let block: &[u8; 32] = bytes.get(at..)?.first_chunk()?;
    // SAFETY: `block` is 32 readable bytes and the load needs no alignment.
    Some(unsafe { _mm256_loadu_si256(block.as_ptr().cast()) })
}

/// A table for a shuffle, which looks up within 16 bytes.
#[inline]
#[target_feature(enable = "avx2")]
unsafe fn both_lanes(table: &[u8; 16]) -> __m256i {
    // SAFETY: `table` is 16 readable bytes and the load needs no alignment; the caller has AVX2.
    unsafe { _mm256_broadcastsi128_si256(_mm_loadu_si128(table.as_ptr().cast())) }
}

/// Whether all of it is UTF-8. The method is that of Keiser and Lemire, "Validating UTF-8 in less than one instruction per byte" (2021):
/// each kind of error shows in two bytes that follow one another, so three tables, asked by the upper half of the first, its lower
/// half and the upper half of the second, each give the errors that are possible by what they see, and what all three agree on is
/// one. Only that a third or fourth byte is due shows from further away.
#[target_feature(enable = "avx2")]
pub(super) unsafe fn is_utf8(bytes: &[u8]) -> bool {
    /// A lead byte without a following byte behind it.
    const SHORT: u8 = 1 << 0;
    /// A following byte behind ASCII.
    const LONG: u8 = 1 << 1;
    /// E0 before less than A0: two bytes would do.
    const WIDE_3: u8 = 1 << 2;
    /// F4 before more than 8F, or F5 to FF: above U+10FFFF.
    const LARGE: u8 = 1 << 3;
    /// ED before more than 9F.
    const SURROGATE: u8 = 1 << 4;
    /// C0 or C1: one byte would do.
    const WIDE_2: u8 = 1 << 5;
    /// F5 to FF before 80 to 8F, where it shares a bit with F0 before less than 90: three bytes would do.
    const WIDE_4: u8 = 1 << 6;
    /// Two following bytes: right behind a lead byte of three or four.
    const PAIR: u8 = 1 << 7;
    const ANY_LOW: u8 = SHORT | LONG | PAIR;
    const FIRST_HIGH: [u8; 16] = {
        let mut table = [LONG; 16];
        (table[8], table[9], table[10], table[11]) = (PAIR, PAIR, PAIR, PAIR);
        (table[12], table[13]) = (SHORT | WIDE_2, SHORT);
        table[14] = SHORT | WIDE_3 | SURROGATE;
        table[15] = SHORT | LARGE | WIDE_4;
        table
    };
    const FIRST_LOW: [u8; 16] = {
        let mut table = [ANY_LOW | LARGE | WIDE_4; 16];
        table[0] = ANY_LOW | WIDE_2 | WIDE_3 | WIDE_4;
        table[1] = ANY_LOW | WIDE_2;
        (table[2], table[3]) = (ANY_LOW, ANY_LOW);
        table[4] = ANY_LOW | LARGE;
        table[13] |= SURROGATE;
        table
    };
    const SECOND_HIGH: [u8; 16] = {
        let mut table = [SHORT; 16];
        let following = LONG | PAIR | WIDE_2;
        table[8] = following | WIDE_3 | WIDE_4;
        table[9] = following | WIDE_3 | LARGE;
        table[10] = following | SURROGATE | LARGE;
        table[11] = following | SURROGATE | LARGE;
        table
    };
    // SAFETY: the caller has AVX2; each load is of 32 bytes of a block that has them.
    unsafe {
        let (first_high, first_low) = (both_lanes(&FIRST_HIGH), both_lanes(&FIRST_LOW));
        let second_high = both_lanes(&SECOND_HIGH);
        let low_half = _mm256_set1_epi8(0x0f);
        let (mut before, mut errors) = (_mm256_setzero_si256(), _mm256_setzero_si256());
        let blocks = bytes.chunks_exact(32);
        // Zeros behind the end show a sequence that it cuts.
        let mut last = [0; 32];
        last[..blocks.remainder().len()].copy_from_slice(blocks.remainder());
        for block in blocks.chain(std::iter::once(&last[..])) {
            let now = _mm256_loadu_si256(block.as_ptr().cast());
            let joint = _mm256_permute2x128_si256(before, now, 0x21);
            let previous = _mm256_alignr_epi8(now, joint, 15);
            let half = |of: __m256i| _mm256_and_si256(_mm256_srli_epi16(of, 4), low_half);
            let pairs = _mm256_and_si256(
                _mm256_and_si256(
                    _mm256_shuffle_epi8(first_high, half(previous)),
                    _mm256_shuffle_epi8(first_low, _mm256_and_si256(previous, low_half)),
                ),
                _mm256_shuffle_epi8(second_high, half(now)),
            );
            // The upper bit remains of a byte that is E0 or more, two places before, or F0 or more, three places before.
            let third = _mm256_alignr_epi8(now, joint, 14);
            let third = _mm256_subs_epu8(third, _mm256_set1_epi8(0x60));
            let fourth = _mm256_alignr_epi8(now, joint, 13);
            let fourth = _mm256_subs_epu8(fourth, _mm256_set1_epi8(0x70));
            let due = _mm256_or_si256(third, fourth);
            let due = _mm256_and_si256(due, _mm256_set1_epi8(PAIR as i8));
            errors = _mm256_or_si256(errors, _mm256_xor_si256(due, pairs));
            before = now;
        }
        _mm256_testz_si256(errors, errors) == 1
    }
}

#[target_feature(enable = "avx2")]
pub(super) unsafe fn find_pair(bytes: &[u8], pair: super::Pair, from: usize) -> usize {
    let super::Pair { first, second } = pair;
    let length = first.1.max(second.1).saturating_add(32);
    let mut at = from;
    // SAFETY: the caller has AVX2, and all else is arithmetic on registers.
    unsafe {
        let (a, b) = (
            _mm256_set1_epi8(first.0 as i8),
            _mm256_set1_epi8(second.0 as i8),
        );
        while bytes.len().saturating_sub(at) >= length {
            let (Some(x), Some(y)) = (load(bytes, at + first.1), load(bytes, at + second.1)) else {
                break;
            };
            let both = _mm256_and_si256(_mm256_cmpeq_epi8(x, a), _mm256_cmpeq_epi8(y, b));
            let hits = _mm256_movemask_epi8(both) as u32;
            if hits != 0 {
                return at + hits.trailing_zeros() as usize;
            }
            at += 32;
        }
    }
    super::scalar::find_pair(bytes, pair, at)
}

#[target_feature(enable = "avx2")]
pub(super) unsafe fn find_in_set(bytes: &[u8], set: &super::ByteSet, from: usize) -> usize {
    let mut at = from;
    // SAFETY: the caller has AVX2, and all else is arithmetic on registers.
    unsafe {
        let rows = both_lanes(&set.rows);
        let bits = _mm_set_epi64x(0, 0x8040_2010_0804_0201_u64 as i64);
        let bits = _mm256_broadcastsi128_si256(bits);
        let half = _mm256_set1_epi8(15);
        let zero = _mm256_setzero_si256();
        let beyond = if set.beyond { u32::MAX } else { 0 };
        while let Some(x) = load(bytes, at) {
            // Where the upmost bit of the index is set a shuffle gives 0: bytes beyond ASCII are in no row.
            let row = _mm256_shuffle_epi8(rows, x);
            let upper = _mm256_and_si256(_mm256_srli_epi16(x, 4), half);
            let member = _mm256_and_si256(row, _mm256_shuffle_epi8(bits, upper));
            let outside = _mm256_movemask_epi8(_mm256_cmpeq_epi8(member, zero)) as u32;
            let hits = !outside | _mm256_movemask_epi8(x) as u32 & beyond;
            if hits != 0 {
                return at + hits.trailing_zeros() as usize;
            }
            at += 32;
        }
    }
    super::scalar::find_in_set(bytes, set, at)
}

#[target_feature(enable = "avx2")]
pub(super) unsafe fn find_fingerprint<const LENGTH: usize>(
    bytes: &[u8],
    prints: &super::Fingerprints,
    from: usize,
) -> usize {
    let mut at = from;
    // SAFETY: the caller has AVX2, and all else is arithmetic on registers.
    unsafe {
        let mut tables = [(_mm256_setzero_si256(), _mm256_setzero_si256()); LENGTH];
        for (tables, (lower, upper)) in tables.iter_mut().zip(&prints.halves) {
            *tables = (both_lanes(lower), both_lanes(upper));
        }
        let half = _mm256_set1_epi8(15);
        let zero = _mm256_setzero_si256();
        // The last block is one whose bytes have all their followers.
        while bytes.len().saturating_sub(at) >= 32 + LENGTH - 1 {
            let mut groups = _mm256_set1_epi8(-1);
            for (index, (lower, upper)) in tables.iter().enumerate() {
                let Some(x) = load(bytes, at + index) else {
                    break;
                };
                let low = _mm256_shuffle_epi8(*lower, _mm256_and_si256(x, half));
                let high = _mm256_and_si256(_mm256_srli_epi16(x, 4), half);
                let high = _mm256_shuffle_epi8(*upper, high);
                groups = _mm256_and_si256(groups, _mm256_and_si256(low, high));
            }
            let outside = _mm256_movemask_epi8(_mm256_cmpeq_epi8(groups, zero)) as u32;
            if outside != u32::MAX {
                return at + outside.trailing_ones() as usize;
            }
            at += 32;
        }
    }
    super::scalar::find_fingerprint(bytes, prints, at)
}
