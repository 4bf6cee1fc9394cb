//! What the bytes of a file are: text or something else, and how its lines end. In: bytes. Out: an answer from looking at them alone.
//! `read` says it, `write` and `replace` keep it.
//!
//! ```text
//! 89 50 4E 47 0D 0A 1A 0A …     a PNG image
//! 74 65 78 74 00 …              binary data (it holds NUL bytes)
//! EF BB BF a CR LF b CR LF      text with a byte-order mark, CRLF line ends
//! ```
//!
//! Invariant: a wrong answer loses nothing: what is not taken for text is refused, never changed.

use crate::sys::simd;

/// U+FEFF as UTF-8.
pub(super) const BOM: &[u8] = b"\xef\xbb\xbf";
/// Where a NUL means "not text", as git looks.
const SNIFFED_BYTES: usize = 8_000;

/// How the lines of a text end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum LineEnds {
    None,
    Lf,
    CrLf,
    Mixed,
}

impl LineEnds {
    pub(super) fn of(bytes: &[u8]) -> LineEnds {
        let (mut lf, mut crlf) = (false, false);
        let mut at = simd::find_byte(bytes, b'\n', 0);
        while at < bytes.len() {
            match at.checked_sub(1).map(|before| bytes[before]) {
                Some(b'\r') => crlf = true,
                Some(_) | None => lf = true,
            }
            if lf && crlf {
                return LineEnds::Mixed;
            }
            at = simd::find_byte(bytes, b'\n', at + 1);
        }
        match (lf, crlf) {
            (true, false) => LineEnds::Lf,
            (false, true) => LineEnds::CrLf,
            (true, true) => LineEnds::Mixed,
            (false, false) => LineEnds::None,
        }
    }
}

/// What a file is by its first bytes, if it is not text.
pub(super) fn not_text(bytes: &[u8]) -> Option<&'static str> {
    const MAGIC: &[(&[u8], &str)] = &[
        (b"\x89PNG\r\n\x1a\n", "a PNG image"),
        (b"\xff\xd8\xff", "a JPEG image"),
        (b"GIF87a", "a GIF image"),
        (b"GIF89a", "a GIF image"),
        (b"%PDF-", "a PDF document"),
        (b"PK\x03\x04", "a ZIP archive (or an office document)"),
        (b"\x1f\x8b", "gzip data"),
        (b"BZh", "bzip2 data"),
        (b"\xfd7zXZ\0", "xz data"),
        (b"\x28\xb5\x2f\xfd", "zstd data"),
        (b"7z\xbc\xaf\x27\x1c", "a 7z archive"),
        (b"\x7fELF", "an ELF program or library"),
        (b"\xcf\xfa\xed\xfe", "a Mach-O program or library"),
        (b"\xca\xfe\xba\xbe", "a Java class or Mach-O program"),
        (b"\0asm", "a WebAssembly module"),
        (b"!<arch>\n", "an archive of object files"),
        (b"SQLite format 3\0", "an SQLite database"),
        (b"OggS", "Ogg media"),
        (b"fLaC", "FLAC audio"),
        (b"ID3", "MP3 audio"),
        (b"\0\0\x01\0", "an icon"),
        (b"wOF2", "a WOFF2 font"),
        (b"\xff\xfe", "UTF-16 text (or other 16-bit data)"),
        (b"\xfe\xff", "UTF-16 text (or other 16-bit data)"),
    ];
    if let Some((_, what)) = MAGIC.iter().find(|(magic, _)| bytes.starts_with(magic)) {
        return Some(what);
    }
    if bytes.starts_with(b"RIFF") && bytes.get(8..12) == Some(b"WEBP") {
        return Some("a WebP image");
    }
    let head = &bytes[..bytes.len().min(SNIFFED_BYTES)];
    (simd::find_byte(head, 0, 0) < head.len()).then_some("binary data (it holds NUL bytes)")
}
