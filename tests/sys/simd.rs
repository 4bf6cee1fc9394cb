//! Tests of `sys::simd`: each kernel against its scalar twin, for every byte, over lengths, offsets and places of the hit.
use crate::support::cuts::Rng;
use zcoder::sys::simd::{self, ByteSet, Fingerprints, Pair, scalar};

/// A class of bytes, its kernel and its twin.
type Kernel = (
    &'static str,
    fn(&[u8], usize) -> usize,
    fn(&[u8], usize) -> usize,
);

const KERNELS: [Kernel; 4] = [
    (
        "find_string_end",
        simd::find_string_end,
        scalar::find_string_end,
    ),
    (
        "find_byte",
        |b, from| simd::find_byte(b, b'\\', from),
        |b, from| scalar::find_byte(b, b'\\', from),
    ),
    (
        "find_non_digit",
        simd::find_non_digit,
        scalar::find_non_digit,
    ),
    (
        "find_non_blank",
        simd::find_non_blank,
        scalar::find_non_blank,
    ),
];

/// A byte that none of the kernels stops at does not exist, so each gets its own filling.
fn filling(name: &str) -> u8 {
    match name {
        "find_non_digit" => b'7',
        "find_non_blank" => b' ',
        _ => b'x',
    }
}

#[test]
fn kernels_agree_with_their_twins_on_every_byte() {
    for (name, kernel, twin) in KERNELS {
        for byte in 0..=255u8 {
            // In the first block, in a long run, and in the tail.
            for (length, at) in [(16, 0), (16, 15), (100, 40), (100, 99), (7, 3)] {
                let mut bytes = vec![filling(name); length];
                bytes[at] = byte;
                let expected = twin(&bytes, 0);
                assert_eq!(
                    kernel(&bytes, 0),
                    expected,
                    "{name}: byte {byte:#x} at {at} of {length}"
                );
                assert!(expected == at || expected == length);
            }
        }
    }
}

#[test]
fn kernels_agree_with_their_twins_at_every_length_and_offset() {
    for (name, kernel, twin) in KERNELS {
        let stop = if name == "find_non_digit" {
            b'.'
        } else {
            b'\\'
        };
        for length in 0..110 {
            for hit in 0..=length {
                let mut bytes = vec![filling(name); length];
                if let Some(byte) = bytes.get_mut(hit) {
                    *byte = stop;
                }
                for from in [
                    0,
                    1,
                    2,
                    15,
                    16,
                    17,
                    31,
                    33,
                    hit,
                    hit + 1,
                    length,
                    length + 1,
                    length + 100,
                ] {
                    assert_eq!(
                        kernel(&bytes, from),
                        twin(&bytes, from),
                        "{name}: {hit} in {length} from {from}"
                    );
                }
            }
        }
    }
}

#[test]
fn a_start_behind_the_end_gives_the_length() {
    for (name, kernel, twin) in KERNELS {
        for from in [3, 4, usize::MAX] {
            assert_eq!((kernel(b"abc", from), twin(b"abc", from)), (3, 3), "{name}");
        }
    }
}

#[test]
fn the_classes_are_what_their_names_say() {
    assert_eq!(simd::find_string_end(b"model\":", 0), 5);
    assert_eq!(simd::find_string_end(b"a\\n", 0), 1);
    assert_eq!(simd::find_string_end(b"a\x1fb", 0), 1);
    assert_eq!(simd::find_string_end(b"a \x7f\xff", 0), 4);
    assert_eq!(simd::find_byte(b"a{b{", b'{', 2), 3);
    assert_eq!(simd::find_non_digit(b"0129/", 0), 4);
    assert_eq!(simd::find_non_digit(b"0129:", 0), 4);
    assert_eq!(simd::find_non_blank(b" \t\r\n\x0bx", 0), 4);
}

#[test]
fn ascii_text_is_told_from_other_at_every_length_and_place() {
    for length in 0..40 {
        let plain = vec![b'a'; length];
        assert_eq!(
            simd::ascii(&plain),
            std::str::from_utf8(&plain).ok(),
            "{length}"
        );
        for at in 0..length {
            for byte in [0, 0x7f, 0x80, 0xc3, 0xff] {
                let mut bytes = plain.clone();
                bytes[at] = byte;
                assert_eq!(
                    simd::ascii(&bytes),
                    scalar::ascii(&bytes),
                    "{byte:#x} at {at} of {length}"
                );
            }
        }
    }
}

#[test]
fn utf8_is_told_from_other_bytes_as_std_tells_it() {
    // All sequences of four bytes on both sides of each border in the table of RFC 3629, across the border of two blocks, and cut there.
    let borders = [
        0, 0x7f, 0x80, 0x8f, 0x90, 0x9f, 0xa0, 0xbf, 0xc0, 0xc1, 0xc2, 0xdf, 0xe0, 0xe1, 0xec,
        0xed, 0xee, 0xef, 0xf0, 0xf1, 0xf3, 0xf4, 0xf5, 0xff,
    ];
    let mut bytes = [b'a'; 37];
    let check = |bytes: &[u8]| {
        let (ours, std) = (simd::utf8(bytes), std::str::from_utf8(bytes).ok());
        assert_eq!(ours, std, "{bytes:x?}");
        let owned = simd::into_utf8(bytes.to_vec());
        assert_eq!(owned.as_deref().ok(), std);
    };
    for first in borders {
        for second in borders {
            for third in borders {
                for fourth in borders {
                    bytes[30..34].copy_from_slice(&[first, second, third, fourth]);
                    check(&bytes);
                }
                check(&bytes[30..33]);
                check(&bytes[1..33]);
            }
        }
    }
    // A character at every place of three blocks, whole and cut.
    for character in ["é", "→", "🦀"] {
        for at in 0..96 {
            let text = format!("{}{character}{}", "x".repeat(at), "y".repeat(7));
            for length in at..=text.len() {
                check(&text.as_bytes()[..length]);
            }
        }
    }
}

/// Bytes of a small alphabet, so that hits and near misses are common.
fn mixture(rng: &mut Rng, length: usize) -> Vec<u8> {
    let alphabet = b"ab\n\x00\x7f\x80\xc3\xff";
    (0..length).map(|_| alphabet[rng.below(8)]).collect()
}

/// Places to start at, in and behind a slice.
fn starts(length: usize) -> [usize; 7] {
    [0, 1, 31, 32, length / 2, length, usize::MAX]
}

#[test]
fn pairs_are_found_as_by_the_twin() {
    let mut rng = Rng::new(1);
    for length in 0..200 {
        let bytes = mixture(&mut rng, length);
        for _ in 0..20 {
            let needle = mixture(&mut rng, 2);
            let pair = Pair {
                first: (needle[0], rng.below(40)),
                second: (needle[1], rng.below(40)),
            };
            for from in starts(length) {
                let expected = scalar::find_pair(&bytes, pair, from);
                assert_eq!(simd::find_pair(&bytes, pair, from), expected, "{pair:?}");
            }
        }
    }
    let far = Pair {
        first: (b'a', usize::MAX),
        second: (b'b', 0),
    };
    assert_eq!(simd::find_pair(b"ab", far, 0), 2);
    let pair = Pair {
        first: (b'b', 1),
        second: (b'd', 3),
    };
    assert_eq!(simd::find_pair(b"abcabcd", pair, 0), 3);
    assert_eq!(simd::find_pair(b"abc", pair, 0), 3);
}

#[test]
fn every_byte_is_in_a_set_or_not() {
    let mut rng = Rng::new(2);
    for round in 0..200 {
        let half = |rng: &mut Rng| u128::from(rng.below(1 << 30) as u64) * 0x1_0002_0003_0005;
        let ascii = half(&mut rng) << 64 | half(&mut rng);
        let set = ByteSet::new(ascii, round % 2 == 0);
        for byte in 0..=255u8 {
            let expected = if byte < 0x80 {
                ascii >> byte & 1 == 1
            } else {
                round % 2 == 0
            };
            assert_eq!(set.contains(byte), expected);
            let outside = (0..=255).find(|&b| !set.contains(b)).unwrap_or_default();
            let mut bytes = vec![outside; 70];
            bytes[40] = byte;
            let place = if set.contains(outside) {
                0
            } else if expected {
                40
            } else {
                70
            };
            assert_eq!(simd::find_in_set(&bytes, &set, 0), place, "{byte:#x}");
        }
    }
    for length in 0..120 {
        let bytes = mixture(&mut rng, length);
        let set = ByteSet::new(1 << b'\n' | 1 << 0x7f, length % 3 == 0);
        for from in starts(length) {
            let expected = scalar::find_in_set(&bytes, &set, from);
            assert_eq!(simd::find_in_set(&bytes, &set, from), expected);
        }
    }
}

#[test]
fn words_leave_fingerprints() {
    let mut rng = Rng::new(3);
    for round in 0..600 {
        let length = 1 + round % 3;
        let mut prints = Fingerprints::new(length);
        let words: Vec<Vec<u8>> = (0..1 + rng.below(9))
            .map(|_| mixture(&mut rng, length))
            .collect();
        for (group, word) in words.iter().enumerate() {
            prints.add(word, group as u8);
        }
        let size = rng.below(150);
        let bytes = mixture(&mut rng, size);
        for at in 0..bytes.len() {
            for (group, word) in words.iter().enumerate() {
                let may_stand = prints.groups_at(&bytes, at) >> (group & 7) & 1 == 1;
                assert!(may_stand || !bytes[at..].starts_with(word));
            }
        }
        for from in starts(size) {
            let expected = scalar::find_fingerprint(&bytes, &prints, from);
            assert_eq!(simd::find_fingerprint(&bytes, &prints, from), expected);
        }
    }
    // One word a group: nothing but the words is found.
    let mut prints = Fingerprints::new(3);
    prints.add(b"abc", 0);
    prints.add(b"xyz", 7);
    assert_eq!(simd::find_fingerprint(b"abz xyc xyz", &prints, 0), 8);
    assert_eq!(prints.groups_at(b"xyz", 0), 0x80);
    assert_eq!(prints.groups_at(b"xy", 0), 0);
}

#[test]
fn bytes_are_counted_and_listed_as_by_the_twins() {
    let mut rng = crate::support::cuts::Rng::new(9);
    for length in (0..70).chain([254 * 16, 255 * 16, 256 * 16, 255 * 16 + 7, 20_000]) {
        let bytes: Vec<u8> = (0..length).map(|_| b"\n\na"[rng.below(3)]).collect();
        for byte in [b'\n', b'b'] {
            assert_eq!(
                zcoder::sys::simd::count_byte(&bytes, byte),
                zcoder::sys::simd::scalar::count_byte(&bytes, byte),
                "{length}"
            );
            let (mut found, mut expected) = (Vec::new(), Vec::new());
            simd::find_all(&bytes, byte, |at| found.push(at));
            simd::scalar::find_all(&bytes, byte, |at| expected.push(at));
            assert_eq!(found, expected, "{length}");
        }
        let all = b"\n".repeat(length);
        assert_eq!(zcoder::sys::simd::count_byte(&all, b'\n'), length);
    }
}
