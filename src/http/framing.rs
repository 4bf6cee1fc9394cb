//! How long a body is: a head goes in, a [`Framing`] comes out (RFC 9112 6.3). Client and server ask before they feed the
//! rest of the message to [`super::BodyDecoder`].
//!
//! ```text
//! HEAD, 1xx, 204, 304                         None       whatever the fields say
//! Transfer-Encoding: chunked                  Chunked
//! Content-Length: 2048                        Length(2048)
//! neither, in a response                      Close
//! neither, in a request                       None
//! ```
//!
//! Refused: two different lengths, a length that is not plain digits, a length next to a transfer coding, a coding in
//! HTTP/1.0, any coding but `chunked` (a proxy that compresses is named). Equal lengths in several fields pass.
//!
//! Invariant: of two fields that disagree none is believed: guessing which one the sender meant is how one message gets
//! mixed up with the next.
use super::{BodyError, Head, RequestHead};

/// How a body ends (RFC 9112 6.3).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Framing {
    /// There is no body: HEAD, 1xx, 204, 304, a request without length.
    None,
    /// After so many bytes.
    Length(u64),
    /// With the chunk of size 0.
    Chunked,
    /// With the connection.
    Close,
}

impl Framing {
    /// Of the response to a request with this method.
    pub fn of_response(method: &str, head: &Head) -> Result<Framing, BodyError> {
        if method == "HEAD" || matches!(head.status, 100..=199 | 204 | 304) {
            return Ok(Framing::None);
        }
        Ok(declared(head.version_minor, &head.headers)?.unwrap_or(Framing::Close))
    }

    /// Of a request.
    pub fn of_request(head: &RequestHead) -> Result<Framing, BodyError> {
        Ok(declared(head.version_minor, &head.headers)?.unwrap_or(Framing::None))
    }
}

/// What the fields say; `None` when they say nothing.
fn declared(version_minor: u8, headers: &[(String, String)]) -> Result<Option<Framing>, BodyError> {
    let values = |wanted: &str| -> Vec<&str> {
        headers
            .iter()
            .filter(|(name, _)| name.eq_ignore_ascii_case(wanted))
            .map(|(_, value)| value.as_str())
            .collect()
    };
    let codings = values("transfer-encoding").join(", ");
    let lengths = values("content-length");
    if codings.is_empty() {
        let Some(length) = lengths.first() else {
            return Ok(None);
        };
        if let Some(other) = lengths.iter().find(|other| *other != length) {
            return Err(BodyError::TwoLengths {
                first: (*length).to_owned(),
                second: (*other).to_owned(),
            });
        }
        return Ok(Some(Framing::Length(parse_length(length)?)));
    }
    if !codings.eq_ignore_ascii_case("chunked") {
        return Err(BodyError::Coding { coding: codings });
    }
    if let Some(length) = lengths.first() {
        return Err(BodyError::LengthAndChunked {
            length: (*length).to_owned(),
        });
    }
    if version_minor == 0 {
        return Err(BodyError::ChunkedInHttp10);
    }
    Ok(Some(Framing::Chunked))
}

fn parse_length(value: &str) -> Result<u64, BodyError> {
    let digits = !value.is_empty() && value.bytes().all(|byte| byte.is_ascii_digit());
    match value.parse() {
        Ok(length) if digits => Ok(length),
        _ => Err(BodyError::BadLength {
            value: value.to_owned(),
        }),
    }
}
