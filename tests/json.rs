//! Tests of `json`: what is accepted, what is refused and with which words, and the way back.
//!
//! `check` compares the token list and the tree of a text; `refused` the whole message, from the tokenizer and from the tree.

mod field;
mod limits;
mod number;
mod scan;
mod string;
mod structure;
mod tree;
mod typed;
mod write;

use zcoder::json::{Error, Token, Tokens, Tree};

/// The tokens of `text` in the notation of the tests: `{` `}` `[` `]`, `name:`, `"text"`, numbers and words, blanks between.
fn tokens(text: &[u8]) -> Result<String, Error> {
    let mut tokens = Tokens::new(text);
    let mut list = Vec::new();
    loop {
        list.push(match tokens.next()? {
            Token::BeginObject => "{".to_owned(),
            Token::EndObject => "}".to_owned(),
            Token::BeginArray => "[".to_owned(),
            Token::EndArray => "]".to_owned(),
            Token::Key(text) => format!("{}:", text.decode()),
            Token::String(text) => format!("\"{}\"", text.decode()),
            Token::Number(number) => number.text.to_owned(),
            Token::Bool(value) => value.to_string(),
            Token::Null => "null".to_owned(),
            Token::End => return Ok(list.join(" ")),
        });
    }
}

#[track_caller]
fn check(text: impl AsRef<[u8]>, expected_tokens: &str, expected_compact: &str) {
    let text = text.as_ref();
    assert_eq!(tokens(text).as_deref(), Ok(expected_tokens));
    let tree = Tree::parse(text).expect("accepted as tokens");
    assert_eq!(tree.to_string(), expected_compact);
    let again = Tree::parse_strict(expected_compact.as_bytes()).expect("our own writing");
    assert_eq!(again, tree);
}

#[track_caller]
fn refused(text: impl AsRef<[u8]>, expected: &str) {
    let text = text.as_ref();
    let error = tokens(text).expect_err("refused as tokens");
    assert_eq!(error.to_string(), expected);
    assert_eq!(Tree::parse(text), Err(error));
    assert_eq!(Tree::parse_strict(text), Err(error));
    // Asking again finds the same, so that a reader that goes on after an error does not slip through.
    let mut reader = Tokens::new(text);
    while reader.next().is_ok() {}
    assert_eq!(reader.next(), Err(error));
    // Skipping validates as much as reading does.
    let mut skipper = Tokens::new(text);
    let skipped = skipper.skip().and_then(|()| skipper.next());
    assert_eq!(skipped, Err(error));
}
