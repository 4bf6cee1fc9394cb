//! Fast scans for places where a match may begin, or a line may have one: for a word, for one of up to [`MAX_WORDS`], for a byte of a set.
//! Made by `literal.rs`, asked by `plan.rs` and `dfa.rs`; the kernels are in `sys/simd.rs`.
//!
//! ```text
//! word `_init(`       its two rarest bytes, `(` and `_`, are compared in 32 places at once; where both fit, the word
//! words foo, bar      the first three bytes, in 32 places at once; where they may stand, the words in their order
//! set [0-9]           32 bytes at once
//! ```
//!
//! Invariant: `find` gives the first place at or after `from` where a word stands, or a byte of the set, and no other.

use super::rarity;
use crate::sort;
use crate::sys::simd::{self, ByteSet, Fingerprints, Pair};
use std::fmt;
use std::ops::Range;

/// With more words their fingerprints are everywhere.
pub(super) const MAX_WORDS: usize = 64;

pub(super) enum Prefilter {
    Word(Word),
    Words(Words),
    Set(ByteSet),
}

/// A word and two of its bytes.
#[derive(Debug)]
pub(super) struct Word {
    bytes: Box<[u8]>,
    pair: Pair,
}

/// Words, the preferred first.
#[derive(Debug)]
pub(super) struct Words {
    words: Vec<(Box<[u8]>, Group)>,
    prints: Fingerprints,
}

/// One of the eight groups that fingerprints tell apart.
type Group = u8;

impl Prefilter {
    /// `None` if a word is empty, or there are too many or none.
    pub(super) fn for_words(words: Vec<Vec<u8>>) -> Option<Prefilter> {
        if words.len() > MAX_WORDS || words.iter().any(Vec::is_empty) {
            return None;
        }
        match words.as_slice() {
            [] => None,
            [word] => Some(Prefilter::Word(Word::new(word))),
            words if words.iter().all(|word| word.len() == 1 && word.is_ascii()) => {
                let bits = words
                    .iter()
                    .flatten()
                    .fold(0, |bits, byte| bits | 1 << byte);
                Some(Prefilter::Set(ByteSet::new(bits, false)))
            }
            _ => Some(Prefilter::Words(Words::new(words))),
        }
    }

    /// The first place at or after `from`.
    #[inline]
    pub(super) fn find(&self, text: &[u8], from: usize) -> Option<usize> {
        match self {
            Prefilter::Word(word) => word.find(text, from),
            Prefilter::Words(words) => words.find(text, from).map(|found| found.start),
            Prefilter::Set(set) => {
                let found = simd::find_in_set(text, set, from);
                (found < text.len()).then_some(found)
            }
        }
    }

    /// The word that stands at the first place, the preferred one of several; for a set the byte.
    #[inline]
    pub(super) fn find_span(&self, text: &[u8], from: usize) -> Option<Range<usize>> {
        match self {
            Prefilter::Word(word) => {
                let start = word.find(text, from)?;
                Some(start..start + word.bytes.len())
            }
            Prefilter::Words(words) => words.find(text, from),
            Prefilter::Set(_) => self.find(text, from).map(|at| at..at + 1),
        }
    }
}

impl fmt::Debug for Prefilter {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Prefilter::Word(word) => write!(f, "{}", word.bytes.escape_ascii()),
            Prefilter::Words(words) => {
                for (index, (word, _)) in words.words.iter().enumerate() {
                    let comma = if index > 0 { ", " } else { "" };
                    write!(f, "{comma}{}", word.escape_ascii())?;
                }
                Ok(())
            }
            Prefilter::Set(set) => {
                let count = (0..=0xff).filter(|&byte| set.contains(byte)).count();
                write!(f, "one of {count} bytes")
            }
        }
    }
}

impl Word {
    fn new(word: &[u8]) -> Word {
        Word {
            bytes: word.into(),
            pair: rare_pair(word),
        }
    }

    #[inline]
    fn find(&self, text: &[u8], from: usize) -> Option<usize> {
        if let [byte] = *self.bytes {
            let found = simd::find_byte(text, byte, from);
            return (found < text.len()).then_some(found);
        }
        let mut at = from;
        loop {
            at = simd::find_pair(text, self.pair, at);
            if text.get(at..)?.starts_with(&self.bytes) {
                return Some(at);
            }
            if at >= text.len() {
                return None;
            }
            at += 1;
        }
    }
}

/// The two rarest bytes of a word, which has one at least.
pub fn rare_pair(word: &[u8]) -> Pair {
    // Far from the begin the second look would often be in another cache line.
    let near = &word[..word.len().min(64)];
    let mut places: Vec<usize> = (0..near.len()).collect();
    sort::by_key(&mut places, |&at| std::cmp::Reverse(rarity::bits(near[at])));
    let first = places[0];
    let second = places.get(1).copied().unwrap_or(first);
    Pair {
        first: (word[first], first),
        second: (word[second], second),
    }
}

impl Words {
    fn new(words: Vec<Vec<u8>>) -> Words {
        let shortest = words.iter().map(Vec::len).min().unwrap_or(1);
        let length = shortest.min(3);
        let mut prints = Fingerprints::new(length);
        // Words that begin alike, but for case, share a group: others would only add their bytes to its fingerprints.
        let key = |word: &[u8]| word[..length].to_ascii_lowercase();
        let mut keys: Vec<Vec<u8>> = words.iter().map(|word| key(word)).collect();
        sort::by(&mut keys, Ord::cmp);
        keys.dedup();
        let grouped = words.into_iter().map(|word| {
            let index = keys.binary_search(&key(&word)).unwrap_or_default();
            let group = (index * 8 / keys.len().max(8)) as Group;
            prints.add(&word, group);
            (word.into_boxed_slice(), group)
        });
        Words {
            words: grouped.collect(),
            prints,
        }
    }

    #[inline]
    fn find(&self, text: &[u8], from: usize) -> Option<Range<usize>> {
        let mut at = from;
        loop {
            at = simd::find_fingerprint(text, &self.prints, at);
            let tail = text.get(at..)?;
            let groups = self.prints.groups_at(text, at);
            for (word, group) in &self.words {
                if groups >> group & 1 == 1 && tail.starts_with(word) {
                    return Some(at..at + word.len());
                }
            }
            if tail.is_empty() {
                return None;
            }
            at += 1;
        }
    }
}
