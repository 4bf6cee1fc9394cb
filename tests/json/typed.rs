//! The steps for readers that know what to expect: the same texts, the same values, the same errors as token by token.

use zcoder::json::{Error, Token, Tokens};

/// What a reader of `{"a":STRING,"b":BOOLEAN,"c":{"d":STRING,...},...}` makes of a text, and where it stood.
type Read = (Vec<String>, Result<(), Error>, usize);

/// By the steps for what is expected.
fn typed(text: &[u8]) -> Read {
    fn object(tokens: &mut Tokens<'_>, out: &mut Vec<String>) -> Result<(), Error> {
        if !tokens.object()? {
            out.push("no object".to_string());
            return Ok(());
        }
        while let Some(name) = tokens.member()? {
            out.push(name.decode().into_owned());
            match name.decode().as_ref() {
                "a" | "d" => out.push(format!("{:?}", tokens.string()?.map(|text| text.decode()))),
                "b" => out.push(format!("{:?}", tokens.boolean()?)),
                "c" => object(tokens, out)?,
                _ => tokens.skip()?,
            }
        }
        out.push("}".to_string());
        Ok(())
    }
    let mut tokens = Tokens::new(text);
    let mut out = Vec::new();
    let mut result = object(&mut tokens, &mut out);
    if result.is_ok() {
        result = tokens.end();
    }
    (out, result, tokens.offset())
}

/// Token by token.
fn plain(text: &[u8]) -> Read {
    fn object(tokens: &mut Tokens<'_>, out: &mut Vec<String>) -> Result<(), Error> {
        let first = tokens.next()?;
        if first != Token::BeginObject {
            tokens.skip_rest(first)?;
            out.push("no object".to_string());
            return Ok(());
        }
        while let Token::Key(name) = tokens.next()? {
            let name = name.decode().into_owned();
            out.push(name.clone());
            if name == "c" {
                object(tokens, out)?;
                continue;
            }
            let value = tokens.next()?;
            tokens.skip_rest(value)?;
            match name.as_str() {
                "a" | "d" => out.push(match value {
                    Token::String(text) => format!("{:?}", Some(text.decode())),
                    _ => "None".to_string(),
                }),
                "b" => out.push(match value {
                    Token::Bool(value) => format!("{:?}", Some(value)),
                    _ => "None".to_string(),
                }),
                _ => {}
            }
        }
        out.push("}".to_string());
        Ok(())
    }
    let mut tokens = Tokens::new(text);
    let mut out = Vec::new();
    let mut result = object(&mut tokens, &mut out);
    if result.is_ok() {
        result = tokens.next().map(drop);
    }
    (out, result, tokens.offset())
}

#[track_caller]
fn same(text: &[u8]) {
    assert_eq!(typed(text), plain(text), "{}", text.escape_ascii());
}

const TEXTS: [&str; 9] = [
    r#"{"a":"x","b":false,"c":{"d":"y\n"},"e":"skipped"}"#,
    r#" { "a" : "x" , "b" : true , "c" : { "d" : "\u00e9" } , "e" : [ 1 , "}" ] } "#,
    r#"{"a":null,"b":"false","c":[{"d":"y"}],"d":{"a":"x"},"e":-1.5e3}"#,
    r#"{"a":["x",{}],"b":{"b":true},"c":"c","c":{},"\u0061":"by another spelling"}"#,
    r#"{"c":{"c":{"c":{"d":"a string of more than sixteen bytes, with \"escapes\""}}}}"#,
    "{}",
    "[{\"a\":\"x\"}]",
    "\"a\"",
    "{\n\t\"a\"\r\n:\"x\"}\n",
];

#[test]
fn whole_texts_say_the_same() {
    TEXTS.iter().for_each(|text| same(text.as_bytes()));
    assert_eq!(
        typed(TEXTS[0].as_bytes()).0,
        [
            "a",
            "Some(\"x\")",
            "b",
            "Some(false)",
            "c",
            "d",
            "Some(\"y\\n\")",
            "}",
            "e",
            "}"
        ]
    );
}

#[test]
fn texts_cut_anywhere_end_with_the_same_error() {
    for text in TEXTS {
        (0..text.len()).for_each(|end| same(&text.as_bytes()[..end]));
    }
}

#[test]
fn a_wrong_byte_anywhere_is_the_same_error() {
    for text in TEXTS {
        for at in 0..text.len() {
            for byte in *b" \"\\,:{}[]tf0-\n\xff" {
                let mut damaged = text.as_bytes().to_vec();
                damaged[at] = byte;
                same(&damaged);
            }
        }
    }
}

#[test]
fn after_an_error_the_same_error_comes_again() {
    let mut tokens = Tokens::new(b"{\"a\":1 2}");
    assert_eq!(tokens.object(), Ok(true));
    assert!(tokens.member().is_ok_and(|name| name.is_some()));
    assert_eq!(tokens.skip(), Ok(()));
    let error = tokens.member().expect_err("no comma");
    assert_eq!(tokens.member(), Err(error));
    assert_eq!(tokens.string(), Err(error));
    assert_eq!(tokens.object(), Err(error));
    assert_eq!(tokens.boolean(), Err(error));
    assert_eq!(tokens.skip(), Err(error));
    assert_eq!(tokens.end(), Err(error));
}
