//! Tests of `sha256`: published vectors, every length around a block, every cut.
use zcoder::sha256::{Sha256, digest, hex};

#[track_caller]
fn check(message: &[u8], expected: &str) {
    assert_eq!(hex(&digest(message)), expected);
}

/// The examples of FIPS 180-4's validation documents (NIST, "SHA-256" example values).
#[test]
fn published_vectors() {
    check(
        b"",
        "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855",
    );
    check(
        b"abc",
        "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad",
    );
    check(
        b"abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq",
        "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1",
    );
    check(
        b"abcdefghbcdefghicdefghijdefghijkefghijklfghijklmghijklmnhijklmnoijklmnopjklmnopqklmnopqrlmnopqrsmnopqrstnopqrstu",
        "cf5b16a778af8380036ce59e7b0492370b249b11e8f07a51afac45037afee9d1",
    );
    check(
        &[b'a'; 1_000_000],
        "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0",
    );
}

/// Byte i of each message is 7 i + 3 modulo 256; the digests are from another implementation (Python's hashlib).
#[test]
fn lengths_around_the_padding() {
    let message: Vec<u8> = (0..1000u32).map(|i| (i * 7 + 3) as u8).collect();
    for (length, expected) in [
        (
            0,
            "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855",
        ),
        (
            1,
            "084fed08b978af4d7d196a7446a86b58009e636b611db16211b65a9aadff29c5",
        ),
        (
            55,
            "e7313d333c272e639f790978283f9eb392e843d0f29b7016828bb1daa4aac70b",
        ),
        (
            56,
            "4324d65f3c103567f5589c710bc08f8523f929a9272e3af36fc968e52abc6c27",
        ),
        (
            57,
            "35df609437dcfea3279283ab79fd554e2bf78f8f7ae2de532d8ee300b09e8f73",
        ),
        (
            63,
            "81c80242132f230c3bd41b3e63bbcff16107339549214a99614ff26664625055",
        ),
        (
            64,
            "39e3d7b6b5d075d37d053ad89b24b41bef4f3c29760c84447cab3f3be1882241",
        ),
        (
            65,
            "aacca6ff74fdbb296d165a45cecfa04e5127bc008770fbbdd48006f2d2fae95e",
        ),
        (
            119,
            "9ce7368e4daf32341631b492e80359dc9f594b48453cd0dd5bf0b19279cc177e",
        ),
        (
            120,
            "7836b787757e95e58b3ca5aec90b1b004e8deba1e50e9675af9cabf1a13a04b5",
        ),
        (
            128,
            "d2742f1f4ac6bb7ca2b239ee18402ba8b3f9f8e652d2a72973c2b9ba11c08cf6",
        ),
        (
            1000,
            "1e9bc38cbf860b9ec31918b065f9b52476c549a782e0e7990bed8ce3868d2371",
        ),
    ] {
        check(&message[..length], expected);
    }
}

#[test]
fn cuts_do_not_matter() {
    let message: Vec<u8> = (0..200u8).collect();
    let whole = digest(&message);
    for first in 0..=message.len() {
        for second in (first..=message.len()).step_by(13) {
            let mut hash = Sha256::new();
            hash.feed(&message[..first]);
            hash.feed(&message[first..second]);
            hash.feed(&message[second..]);
            assert_eq!(hash.finish(), whole, "cut at {first} and {second}");
        }
    }
    let mut hash = Sha256::default();
    for byte in &message {
        hash.feed(std::slice::from_ref(byte));
    }
    assert_eq!(hash.finish(), whole);
}

#[test]
fn two_at_once_are_what_each_is_alone() {
    let message: Vec<u8> = (0..1_000u32).map(|i| ((i * i) >> 3) as u8).collect();
    let lengths = [0, 1, 63, 64, 65, 127, 128, 130, 191, 192, 200, 400];
    // What both have had before, and what one of them has had besides.
    for (before, more) in [(0, 0), (1, 0), (63, 0), (64, 0), (100, 0), (0, 64), (5, 1)] {
        for first in lengths {
            for second in lengths {
                let mut one = Sha256::new();
                one.feed(&message[..before]);
                let mut other = one.clone();
                other.feed(&message[before..before + more]);
                let (xs, ys) = (&message[300..300 + first], &message[500..500 + second]);
                Sha256::feed_both([&mut one, &mut other], [xs, ys]);
                Sha256::feed_both([&mut one, &mut other], [b"end", b"ends"]);
                let alone =
                    |head: &[u8], tail: &[u8], end: &[u8]| digest(&[head, tail, end].concat());
                assert_eq!(
                    one.finish(),
                    alone(&message[..before], xs, b"end"),
                    "{before} {first} {second}"
                );
                assert_eq!(
                    other.finish(),
                    alone(&message[..before + more], ys, b"ends"),
                    "{before} {more} {first} {second}"
                );
            }
        }
    }
}
