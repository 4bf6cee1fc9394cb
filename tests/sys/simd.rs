//! Tests of `sys::simd`: each kernel against its scalar twin, for every byte, over lengths, offsets and places of the hit.
use zcoder::sys::simd::{self, scalar};

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
