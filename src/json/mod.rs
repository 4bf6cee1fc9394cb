//! JSON: bytes to values and back, by RFC 8259 and nothing else. Stream records are read as tokens ([`Tokens`]), documents as trees
//! ([`Tree`]), settings and answers of a known shape through fields ([`Field`]) whose errors name the path; [`Writer`] writes requests.
//!
//! ```text
//! bytes    {"message":{"content":"a\u0062"},"done":false}
//! tokens   { message: { content: "a\u0062" } done: false } end          token.rs
//! tree     6 nodes over one copy of the text                           tree.rs
//! field    message.content: a string                                   field.rs
//! value    ab
//! written  {"message":{"content":"ab"},"done":false}                   write.rs
//! ```
//!
//! Refused: what `token.rs` says, each with its cause and byte offset (`error.rs`). Limits: [`MAX_DEPTH`], and for trees
//! [`MAX_TREE_BYTES`]; numbers have none, they keep their text (`number.rs`).
//!
//! Invariant: there is one grammar, in `token.rs`; everything else is built on it.
//! Invariant: nothing here reads, waits or knows what the values mean.
//! Invariant: a text that is refused is refused by every way of reading it, with the same error.
//!
//! Read next: `token.rs`; then `scan.rs`, which finds one object in prose.

mod error;
mod field;
mod number;
mod scan;
mod text;
mod token;
mod tree;
mod write;

pub use error::{Cause, Error, line_column};
pub use field::{Field, FieldError};
pub use number::Number;
pub use scan::{Found, find_object};
pub use text::{Text, unquote};
pub use token::{Kind, Token, Tokens};
pub use tree::{Items, Members, Tree, Value};
pub use write::{Writer, quote, quote_str};

/// Nesting beyond this is refused: what the tokenizer's bit stack holds, and several times what any real text needs.
pub const MAX_DEPTH: usize = 128;

/// A [`Tree`] holds a value of at most so many bytes of text (256 MiB less one): its nodes count lengths in 28 bits.
pub const MAX_TREE_BYTES: usize = (1 << 28) - 1;
