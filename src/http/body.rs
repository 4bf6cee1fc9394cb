//! Message bodies: bytes in at any cut, body bytes out, chunked, by length or to the close. Client and server feed what
//! follows a head; [`Framing`] says which of the ends a body has.
//!
//! ```text
//! 1a;name="a;b"\r\n             size in hex, extensions (read over)
//! {"done":false,"message":…\r\n  26 bytes of data, then CR LF
//! 5\r\n
//! more\n\r\n
//! 0\r\n                         the last chunk
//! Checksum: abc\r\n             trailers (read over)
//! \r\n                          the end
//! ```
//!
//! Out comes `{"done":false,"message":…more\n`. The input is decoded *in place*: the data of small chunks is moved
//! together inside the caller's buffer, so that the next stage sees one slice a read and not one a chunk.
//!
//! Refused: a size that is empty, signed, prefixed or above 16 digits, a size line over [`Limits::chunk_line_bytes`] or
//! with LF alone at its end (heads may have that; in chunks two readers of one stream would disagree), anything but
//! CR LF behind the data, trailers over [`Limits::trailer_bytes`], a body over [`Limits::body_bytes`] (already when a
//! length or size claims it), and a peer whose framing outweighs its data (`FRAMING_BYTES`).
//!
//! Invariant: [`BodyDecoder::finish`] is an error in every state but "done" and "to the close".
//! Invariant: nothing is allocated, whatever a size claims.
//! Invariant: bytes before a fault are handed out before the fault is told.
//!
//! Next: [`super::client`], which drives this, and `lines`, which takes what comes out.
use super::{BodyError, Framing, Limits};

/// Size lines may outweigh the data they announce by this much over a whole body, beyond 16 bytes a chunk: one-byte
/// chunks are fine, a megabyte of extensions around ten bytes is a peer that wants to keep us busy.
const FRAMING_BYTES: u64 = 64 << 10;

/// What a size line may cost without counting against [`FRAMING_BYTES`].
const FREE_LINE_BYTES: u64 = 16;

/// Data of chunks from this size on is handed out where it lies; below it moving is cheaper than another call.
const MOVED_BYTES: usize = 4 << 10;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum State {
    /// To the close.
    Close,
    /// By length.
    Length { left: u64 },
    /// In the digits of a size line.
    Size {
        value: u64,
        digits: u32,
        line: usize,
    },
    /// Behind the digits: blanks, or extensions after `;`.
    Extension { value: u64, line: usize, part: Part },
    /// Behind the CR of a size line.
    SizeLf { value: u64, line: usize },
    /// In a chunk's data.
    Data { left: u64 },
    /// Behind it.
    DataCr,
    /// Behind that CR.
    DataLf,
    /// In the trailers.
    Trailer { line: Trailer, seen: usize },
    /// Over.
    Done,
}

/// Where in an extension. Quotes are followed only so far that a line cannot end inside them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Part {
    Blank,
    Plain,
    Quoted,
    Escaped,
}

/// Where in a trailer line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Trailer {
    Start,
    StartCr,
    Inside,
}

const SIZE: State = State::Size {
    value: 0,
    digits: 0,
    line: 0,
};

/// Decodes one body.
#[derive(Debug)]
pub struct BodyDecoder {
    state: State,
    limits: Limits,
    /// The length announced, for the text of a cut.
    announced: u64,
    /// Body bytes handed out or claimed by chunk sizes.
    claimed: u64,
    /// Wire bytes taken: the offset of errors.
    offset: u64,
    /// What size lines cost beyond the free part.
    framing: u64,
}

impl BodyDecoder {
    /// For one body; an error when its length is over the limit.
    pub fn new(framing: Framing, limits: Limits) -> Result<BodyDecoder, BodyError> {
        let (state, announced) = match framing {
            Framing::None | Framing::Length(0) => (State::Done, 0),
            Framing::Length(length) if length > limits.body_bytes => {
                return Err(BodyError::TooLarge {
                    limit_bytes: limits.body_bytes,
                });
            }
            Framing::Length(left) => (State::Length { left }, left),
            Framing::Chunked => (SIZE, 0),
            Framing::Close => (State::Close, 0),
        };
        Ok(BodyDecoder {
            state,
            limits,
            announced,
            claimed: 0,
            offset: 0,
            framing: 0,
        })
    }

    /// Decodes in place and calls `data` with body bytes; returns how many input bytes belong to this message (fewer
    /// than given only at its end). The content of `bytes` is undefined afterwards. After an error only `finish` is
    /// meaningful, and it fails.
    pub fn feed(
        &mut self,
        bytes: &mut [u8],
        data: &mut dyn FnMut(&[u8]),
    ) -> Result<usize, BodyError> {
        match self.state {
            State::Done => Ok(0),
            State::Close => {
                let room = self.limits.body_bytes - self.claimed;
                let take = at_most(room, bytes.len());
                self.claimed += take as u64;
                if take > 0 {
                    data(&bytes[..take]);
                }
                if take < bytes.len() {
                    return Err(self.too_large());
                }
                Ok(take)
            }
            State::Length { left } => {
                let take = at_most(left, bytes.len());
                self.claimed += take as u64;
                self.state = match left - take as u64 {
                    0 => State::Done,
                    left => State::Length { left },
                };
                if take > 0 {
                    data(&bytes[..take]);
                }
                Ok(take)
            }
            State::Size { .. }
            | State::Extension { .. }
            | State::SizeLf { .. }
            | State::Data { .. }
            | State::DataCr
            | State::DataLf
            | State::Trailer { .. } => self.feed_chunked(bytes, data),
        }
    }

    /// Whether the message is over.
    pub fn is_done(&self) -> bool {
        self.state == State::Done
    }

    /// What is due next, in a word or two: for people who watch the decoder at work.
    pub fn state(&self) -> &'static str {
        match self.state {
            State::Close | State::Length { .. } | State::Data { .. } => "data",
            State::Size { .. } | State::SizeLf { .. } => "size",
            State::Extension { .. } => "extension",
            State::DataCr | State::DataLf => "data end",
            State::Trailer { .. } => "trailer",
            State::Done => "done",
        }
    }

    /// The connection ended: right for a body to the close, an error inside anything else.
    pub fn finish(&mut self) -> Result<(), BodyError> {
        match self.state {
            State::Done => Ok(()),
            State::Close => {
                self.state = State::Done;
                Ok(())
            }
            State::Length { .. } => Err(BodyError::CutLength {
                received_bytes: self.claimed,
                announced_bytes: self.announced,
            }),
            State::Data { left } => Err(BodyError::CutChunk {
                received_bytes: self.claimed - left,
                missing_bytes: left,
            }),
            State::Size { .. }
            | State::Extension { .. }
            | State::SizeLf { .. }
            | State::DataCr
            | State::DataLf
            | State::Trailer { .. } => Err(BodyError::CutChunked {
                received_bytes: self.claimed,
            }),
        }
    }

    fn feed_chunked(
        &mut self,
        bytes: &mut [u8],
        data: &mut dyn FnMut(&[u8]),
    ) -> Result<usize, BodyError> {
        let mut gathered = Gathered {
            bytes,
            start: 0,
            end: 0,
            data,
        };
        let mut at = 0;
        let outcome = loop {
            if self.state == SIZE {
                at = self.whole_chunks(at, &mut gathered);
            }
            let length = gathered.bytes.len();
            if at == length || self.state == State::Done {
                break Ok(at);
            }
            if let State::Data { left } = self.state {
                let take = at_most(left, length - at);
                gathered.add(at, take);
                at += take;
                self.state = match left - take as u64 {
                    0 => State::DataCr,
                    left => State::Data { left },
                };
            } else if let Err(error) = self.step(gathered.bytes[at], at) {
                break Err(error);
            } else {
                at += 1;
            }
        };
        gathered.hand_out();
        self.offset += at as u64;
        outcome
    }

    /// The fast path: takes chunks that lie whole in the input, with a plain size line, up to the first one that does not.
    /// That one, and whatever is wrong with it, is left to the careful path. Returns where it begins.
    fn whole_chunks(&mut self, mut at: usize, gathered: &mut Gathered<'_>) -> usize {
        let mut lines = SizeLines::default();
        while let Some((line, size)) = lines.next(&gathered.bytes[at..]) {
            let data = at + line;
            let fits = size <= gathered.bytes.len() - data;
            let is_plain = fits
                && size > 0
                && gathered.bytes[data + size..].starts_with(b"\r\n")
                && line <= self.limits.chunk_line_bytes
                && size as u64 <= self.limits.body_bytes - self.claimed;
            if !is_plain {
                break;
            }
            // A plain line is below what is free for each chunk, and so pays off what earlier ones owe.
            self.framing = self
                .framing
                .saturating_sub(FREE_LINE_BYTES + size as u64 - line as u64);
            self.claimed += size as u64;
            gathered.add(data, size);
            at = data + size + 2;
        }
        at
    }

    /// One byte of framing, `at` bytes into this call's input.
    fn step(&mut self, byte: u8, at: usize) -> Result<(), BodyError> {
        let offset = self.offset + at as u64;
        self.state = match self.state {
            State::Size {
                value,
                digits,
                line,
            } => match (hex_digit(byte), byte) {
                (Some(_), _) if digits == 16 => {
                    return Err(BodyError::SizeDigits { offset });
                }
                (Some(digit), _) => State::Size {
                    value: value << 4 | digit,
                    digits: digits + 1,
                    line: self.longer(line)?,
                },
                (None, _) if digits == 0 => return Err(BodyError::Size { offset, byte }),
                (None, b'\r') => State::SizeLf {
                    value,
                    line: self.longer(line)?,
                },
                (None, b' ' | b'\t') => self.extension(value, line, Part::Blank)?,
                (None, b';') => self.extension(value, line, Part::Plain)?,
                (None, _) => return Err(BodyError::Size { offset, byte }),
            },
            State::Extension { value, line, part } => match (part, byte) {
                (Part::Blank | Part::Plain, b'\r') => State::SizeLf {
                    value,
                    line: self.longer(line)?,
                },
                (_, 0..=8 | 10..=31 | 127) => return Err(BodyError::Size { offset, byte }),
                (Part::Blank, b' ' | b'\t') => self.extension(value, line, Part::Blank)?,
                (Part::Blank, b';') => self.extension(value, line, Part::Plain)?,
                (Part::Blank, _) => return Err(BodyError::Size { offset, byte }),
                (Part::Plain, b'"') => self.extension(value, line, Part::Quoted)?,
                (Part::Quoted, b'"') => self.extension(value, line, Part::Plain)?,
                (Part::Quoted, b'\\') => self.extension(value, line, Part::Escaped)?,
                (Part::Quoted | Part::Escaped, _) => self.extension(value, line, Part::Quoted)?,
                (Part::Plain, _) => self.extension(value, line, Part::Plain)?,
            },
            State::SizeLf { value, line } if byte == b'\n' => {
                let line = self.longer(line)?;
                return self.begin_chunk(value, line, at + 1);
            }
            State::SizeLf { .. } => return Err(BodyError::Size { offset, byte }),
            State::DataCr if byte == b'\r' => State::DataLf,
            State::DataLf if byte == b'\n' => SIZE,
            State::DataCr | State::DataLf => return Err(BodyError::DataEnd { offset, byte }),
            State::Trailer { line, seen } => self.trailer(line, seen, byte)?,
            // Not framing: `feed` and `feed_chunked` deal with these.
            state @ (State::Close | State::Length { .. } | State::Data { .. } | State::Done) => {
                state
            }
        };
        Ok(())
    }

    fn longer(&self, line: usize) -> Result<usize, BodyError> {
        if line == self.limits.chunk_line_bytes {
            return Err(BodyError::SizeLine {
                limit_bytes: self.limits.chunk_line_bytes,
            });
        }
        Ok(line + 1)
    }

    fn extension(&self, value: u64, line: usize, part: Part) -> Result<State, BodyError> {
        Ok(State::Extension {
            value,
            line: self.longer(line)?,
            part,
        })
    }

    /// A size line of `line` bytes is over; the data begins `at` bytes into this call's input.
    fn begin_chunk(&mut self, size: u64, line: usize, at: usize) -> Result<(), BodyError> {
        if size == 0 {
            self.state = State::Trailer {
                line: Trailer::Start,
                seen: 0,
            };
            return Ok(());
        }
        if size > self.limits.body_bytes - self.claimed {
            return Err(self.too_large());
        }
        self.claimed += size;
        let free = FREE_LINE_BYTES.saturating_add(size);
        self.framing = (self.framing + line as u64).saturating_sub(free);
        if self.framing > FRAMING_BYTES {
            return Err(BodyError::Framing {
                offset: self.offset + at as u64,
                limit_bytes: FRAMING_BYTES,
            });
        }
        self.state = State::Data { left: size };
        Ok(())
    }

    fn trailer(&self, line: Trailer, seen: usize, byte: u8) -> Result<State, BodyError> {
        if seen == self.limits.trailer_bytes {
            return Err(BodyError::Trailers {
                limit_bytes: self.limits.trailer_bytes,
            });
        }
        let line = match (line, byte) {
            (Trailer::Start | Trailer::StartCr, b'\n') => return Ok(State::Done),
            (Trailer::Inside, b'\n') => Trailer::Start,
            (Trailer::Start, b'\r') => Trailer::StartCr,
            (Trailer::Start | Trailer::StartCr | Trailer::Inside, _) => Trailer::Inside,
        };
        Ok(State::Trailer {
            line,
            seen: seen + 1,
        })
    }

    fn too_large(&self) -> BodyError {
        BodyError::TooLarge {
            limit_bytes: self.limits.body_bytes,
        }
    }
}

/// The data of this call's chunks, moved together: it lies at `bytes[start..end]`, before everything still to be read.
struct Gathered<'a> {
    bytes: &'a mut [u8],
    start: usize,
    end: usize,
    data: &'a mut dyn FnMut(&[u8]),
}

impl Gathered<'_> {
    #[inline]
    fn add(&mut self, at: usize, length: usize) {
        if self.end == at {
            self.end += length;
        } else if self.start == self.end || length >= MOVED_BYTES {
            self.hand_out();
            (self.start, self.end) = (at, at + length);
        } else {
            self.bytes.copy_within(at..at + length, self.end);
            self.end += length;
        }
    }

    fn hand_out(&mut self) {
        if self.start < self.end {
            (self.data)(&self.bytes[self.start..self.end]);
        }
        self.start = self.end;
    }
}

/// A size line without extensions at the beginning of `bytes`: its length with the line end, and the size. Up to 8
/// digits: more are for the careful path.
#[inline]
fn plain_size_line(bytes: &[u8]) -> Option<(usize, usize)> {
    let mut size = 0;
    for (index, byte) in bytes.iter().take(9).enumerate() {
        match HEX[usize::from(*byte)] {
            digit @ 0..=15 => size = size << 4 | usize::from(digit),
            _ if index > 0 && bytes[index..].starts_with(b"\r\n") => {
                return Some((index + 2, size));
            }
            _ => return None,
        }
    }
    None
}

/// Plain size lines, one behind the other. Many servers fill their chunks to one size: the line of the chunk before is known by its
/// bytes and not read again.
#[derive(Default)]
struct SizeLines {
    /// The line as the first bytes of a word, and which of the word they are: none for a line that would fill it.
    word: u64,
    mask: u64,
    line: usize,
    size: usize,
}

impl SizeLines {
    /// As [`plain_size_line`].
    #[inline]
    fn next(&mut self, bytes: &[u8]) -> Option<(usize, usize)> {
        let Some(word) = bytes.first_chunk() else {
            return plain_size_line(bytes);
        };
        let word = u64::from_le_bytes(*word);
        if self.mask == 0 || (word ^ self.word) & self.mask != 0 {
            (self.line, self.size) = plain_size_line(bytes)?;
            self.word = word;
            self.mask = match self.line {
                line @ ..8 => (1 << (8 * line)) - 1,
                _ => 0,
            };
        }
        Some((self.line, self.size))
    }
}

/// What each byte is worth as a digit; 16 for those that are none.
const HEX: [u8; 256] = {
    let mut table = [16; 256];
    let mut digit = 0;
    while digit < 16 {
        table[b"0123456789abcdef"[digit] as usize] = digit as u8;
        table[b"0123456789ABCDEF"[digit] as usize] = digit as u8;
        digit += 1;
    }
    table
};

fn at_most(left: u64, available: usize) -> usize {
    usize::try_from(left).map_or(available, |left| left.min(available))
}

fn hex_digit(byte: u8) -> Option<u64> {
    match HEX[usize::from(byte)] {
        digit @ 0..=15 => Some(u64::from(digit)),
        _ => None,
    }
}
