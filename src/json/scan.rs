//! Finds exactly one complete object in prose or a fence: a model that was asked for a call and wrote it into its answer.
//!
//! ```text
//! I will list the files:            Found::One, the bytes from { to }
//! {"name":"list_files","arguments":{"path":"src"}}
//! Then I read {name}.               { without a quoted name is prose
//! ```
//!
//! An object *begins* where a `{` is followed by a quoted name and a colon. From there it is complete, broken or cut; its inside is never
//! searched, so a piece of a broken object is never taken for the whole. `{}` counts as prose: it is a placeholder in many languages.
//!
//! Limits: the first `limit` bytes are read, an object that is still open there is cut; depth as everywhere.
//!
//! Invariant: work is linear in the bytes read; no byte is looked at by two attempts.
//! Invariant: `One` means that no second object begins in the bytes read, complete or not.

use super::{Error, Token, Tokens};
use crate::sys::simd;
use std::ops::Range;

/// What a search found.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Found {
    /// No `{` begins an object.
    None,
    /// One complete object, at these bytes.
    One(Range<usize>),
    /// Two or more.
    Several,
    /// An object begins and is cut by the end.
    Cut,
    /// An object begins and goes on as something that is not JSON; the offset is in the text searched.
    Broken(Error),
}

/// Searches `text`, reading at most `limit` bytes.
pub fn find_object(text: &[u8], limit: usize) -> Found {
    let text = &text[..text.len().min(limit)];
    let mut found = Found::None;
    let mut at = 0;
    loop {
        let start = simd::find_byte(text, b'{', at);
        if start == text.len() {
            return found;
        }
        match attempt(text, start) {
            Attempt::Prose(end) => at = end.max(start + 1),
            Attempt::Object(end) => {
                if found != Found::None {
                    return Found::Several;
                }
                found = Found::One(start..end);
                at = end;
            }
            Attempt::Broken(error) if error.is_cut() => return Found::Cut,
            Attempt::Broken(error) => return Found::Broken(error),
        }
    }
}

enum Attempt {
    /// Nothing begins here; read up to this offset.
    Prose(usize),
    /// A complete object, up to this offset.
    Object(usize),
    /// An object began and failed.
    Broken(Error),
}

/// What stands at `start`, where a `{` is.
fn attempt(text: &[u8], start: usize) -> Attempt {
    let mut tokens = Tokens::new(&text[start..]);
    let shifted = |mut error: Error| {
        error.offset += start;
        error
    };
    let began = tokens.next().and_then(|_| tokens.next());
    match began {
        Ok(Token::Key(_)) => {}
        // A name that the end cuts would be one if there were more text.
        Err(error) if error.is_cut() => return Attempt::Broken(shifted(error)),
        Err(error) => return Attempt::Prose(start + error.offset),
        Ok(_) => return Attempt::Prose(start + tokens.offset()),
    }
    match tokens.skip_rest(Token::BeginObject) {
        Ok(()) => Attempt::Object(start + tokens.offset()),
        Err(error) => Attempt::Broken(shifted(error)),
    }
}
