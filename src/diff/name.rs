//! File names in patches: as git writes them, and everything others write in the same place. In: the rest of a header line, or a name. Out:
//! the name, or the line.
//!
//! ```text
//! src/a.rs                  ⇄  src/a.rs
//! two words                 ⇄  two words⇥           a tab ends a name with blanks in `---` and `+++` lines
//! a"b⏎                      ⇄  "a\"b\n"             git's C-like quotes, also \303\251 for é
//! a/x.c⇥2024-05-01 10:00    →  a/x.c                GNU diff's time
//! a/x.c 2024-05-01 10:00    →  a/x.c                the same after an editor made blanks of tabs
//! ```
//!
//! Refused: quotes that do not end, names that are not UTF-8 (no tool can address such a file).
//!
//! Invariant: reading what was written gives the name.

use super::parse::ErrorKind;

/// Whether git would put the name in quotes.
fn needs_quotes(name: &[u8]) -> bool {
    name.iter()
        .any(|b| b.is_ascii_control() || matches!(b, b'"' | b'\\'))
}

/// Writes prefix and name as one word, in quotes where needed.
pub(super) fn write(out: &mut Vec<u8>, prefix: &str, name: &[u8]) {
    if !needs_quotes(name) {
        out.extend_from_slice(prefix.as_bytes());
        out.extend_from_slice(name);
        return;
    }
    out.push(b'"');
    out.extend_from_slice(prefix.as_bytes());
    for byte in name {
        match byte {
            b'"' | b'\\' => out.extend_from_slice(&[b'\\', *byte]),
            b'\n' => out.extend_from_slice(b"\\n"),
            b'\t' => out.extend_from_slice(b"\\t"),
            b'\r' => out.extend_from_slice(b"\\r"),
            byte if byte.is_ascii_control() => {
                out.extend_from_slice(format!("\\{byte:03o}").as_bytes());
            }
            byte => out.push(*byte),
        }
    }
    out.push(b'"');
}

/// The name in the rest of a `---` or `+++` line (without line end): quoted, up to a tab, or up to a time.
pub(super) fn read(rest: &[u8]) -> Result<String, ErrorKind> {
    let rest = rest.trim_ascii_start();
    if rest.starts_with(b"\"") {
        let (name, _) = unquote(rest)?;
        return utf8(name);
    }
    let name = match rest.iter().position(|b| *b == b'\t') {
        Some(tab) => &rest[..tab],
        None => without_time(rest).trim_ascii_end(),
    };
    utf8(name.to_vec())
}

/// The two names of a `diff --git` line without its first words. Unquoted ones are told apart only if they are the same behind
/// their prefixes, which they are except in renames, whose names stand in lines of their own.
pub(super) fn read_both(rest: &[u8]) -> Result<Option<(String, String)>, ErrorKind> {
    if rest.starts_with(b"\"") {
        let (old, after) = unquote(rest)?;
        return Ok(Some((utf8(old)?, read(after)?)));
    }
    if let Some(quote) = rest.windows(2).position(|pair| pair == b" \"") {
        let (new, _) = unquote(&rest[quote + 1..])?;
        return Ok(Some((utf8(rest[..quote].to_vec())?, utf8(new)?)));
    }
    let middle = rest.len() / 2;
    if rest.get(middle) == Some(&b' ') {
        let (old, new) = (&rest[..middle], &rest[middle + 1..]);
        let behind = |name: &[u8]| {
            name.iter()
                .position(|b| *b == b'/')
                .map(|i| name[i..].to_vec())
        };
        if old == new || (behind(old).is_some() && behind(old) == behind(new)) {
            return Ok(Some((utf8(old.to_vec())?, utf8(new.to_vec())?)));
        }
    }
    Ok(None)
}

/// Takes the quotes off; also what follows them.
fn unquote(quoted: &[u8]) -> Result<(Vec<u8>, &[u8]), ErrorKind> {
    let mut name = Vec::new();
    let mut at = 1;
    while let Some(&byte) = quoted.get(at) {
        at += 1;
        match byte {
            b'"' => return Ok((name, &quoted[at..])),
            b'\\' => {
                let (byte, length) = escape(&quoted[at..]).ok_or(ErrorKind::BadQuotes)?;
                name.push(byte);
                at += length;
            }
            byte => name.push(byte),
        }
    }
    Err(ErrorKind::BadQuotes)
}

/// What an escape stands for, and its length without the backslash.
fn escape(rest: &[u8]) -> Option<(u8, usize)> {
    let byte = match rest.first()? {
        b'a' => 7,
        b'b' => 8,
        b't' => b'\t',
        b'n' => b'\n',
        b'v' => 11,
        b'f' => 12,
        b'r' => b'\r',
        b'"' => b'"',
        b'\\' => b'\\',
        b'0'..=b'3' => {
            let digits = rest.get(..3)?;
            let octal = digits.iter().all(|digit| (b'0'..=b'7').contains(digit));
            let digit = |i: usize| digits[i] & 7;
            let byte = digit(0) << 6 | digit(1) << 3 | digit(2);
            return octal.then_some((byte, 3));
        }
        _ => return None,
    };
    Some((byte, 1))
}

/// Up to ` 2024-05-01 …`.
fn without_time(name: &[u8]) -> &[u8] {
    let is_date = |word: &[u8]| {
        let shape = b" 0000-00-00 ";
        word.iter()
            .zip(shape)
            .all(|(b, s)| b == s || (*s == b'0' && b.is_ascii_digit()))
    };
    match name.windows(12).position(is_date) {
        Some(at) => &name[..at],
        None => name,
    }
}

pub(super) fn utf8(name: Vec<u8>) -> Result<String, ErrorKind> {
    match String::from_utf8(name) {
        Ok(name) if name.is_empty() => Err(ErrorKind::NoName),
        Ok(name) => Ok(name),
        Err(_) => Err(ErrorKind::NameNotUtf8),
    }
}
