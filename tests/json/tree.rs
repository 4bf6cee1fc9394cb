//! Trees and the cursor over them.
use zcoder::json::{Kind, Token, Tokens, Tree, Value};

#[track_caller]
fn parse(text: &str) -> Tree {
    Tree::parse(text.as_bytes()).expect("accepted")
}

#[test]
fn a_value_says_what_it_is() {
    let tree = parse(r#"[{"a":1},[2],"s","\n",-1.50,true,false,null]"#);
    let items: Vec<Value<'_>> = tree.root().items().collect();
    let kinds: Vec<Kind> = items.iter().map(|value| value.kind()).collect();
    use Kind::{Array, Bool, Null, Number, Object, String};
    assert_eq!(
        kinds,
        [Object, Array, String, String, Number, Bool, Bool, Null]
    );
    let strings: Vec<_> = items.iter().map(|value| value.as_str()).collect();
    assert_eq!(
        strings,
        [None, None, Some("s"), Some("\n"), None, None, None, None]
    );
    let bools: Vec<_> = items.iter().map(|value| value.as_bool()).collect();
    assert_eq!(
        bools,
        [None, None, None, None, None, Some(true), Some(false), None]
    );
    let numbers: Vec<_> = items
        .iter()
        .map(|value| value.as_number().map(|n| n.text))
        .collect();
    assert_eq!(
        numbers,
        [None, None, None, None, Some("-1.50"), None, None, None]
    );
    let nulls: Vec<_> = items.iter().map(|value| value.is_null()).collect();
    assert_eq!(
        nulls,
        [false, false, false, false, false, false, false, true]
    );
}

#[test]
fn members_keep_order_and_duplicates_and_the_last_one_wins() {
    let tree = parse(r#"{"b":1,"a":2,"b":{"x":3},"\u0062":4,"c":5}"#);
    let members: Vec<_> = tree
        .root()
        .members()
        .map(|(name, value)| format!("{name}={value}"))
        .collect();
    assert_eq!(members, ["b=1", "a=2", "b={\"x\":3}", "b=4", "c=5"]);
    let get = |key| tree.root().get(key).map(|value| value.to_string());
    assert_eq!(get("b").as_deref(), Some("4"));
    assert_eq!(get("a").as_deref(), Some("2"));
    assert_eq!(get("x"), None);
    assert_eq!(get(""), None);
}

#[test]
fn looking_into_the_wrong_kind_finds_nothing() {
    let tree = parse(r#"[{"a":1},"s",1]"#);
    assert_eq!(tree.root().get("a"), None);
    assert_eq!(tree.root().members().count(), 0);
    for value in tree.root().items() {
        assert_eq!(value.items().count(), 0);
    }
    // The scalars' neighbors are not their children.
    assert_eq!(
        tree.root()
            .items()
            .nth(1)
            .map(|value| value.members().count()),
        Some(0)
    );
}

#[test]
fn siblings_are_found_behind_deep_values() {
    let tree = parse(r#"{"deep":[[[[1,2],[3]]],{"x":{"y":[]}}],"after":"it"}"#);
    assert_eq!(
        tree.root().get("after").and_then(|value| value.as_str()),
        Some("it")
    );
    let deep = tree.root().get("deep").expect("there");
    let items: Vec<_> = deep.items().map(|value| value.to_string()).collect();
    assert_eq!(items, ["[[[1,2],[3]]]", r#"{"x":{"y":[]}}"#]);
}

#[test]
fn equality_is_of_meaning() {
    assert_eq!(parse(r#"{"a":"\u0062"}"#), parse(" { \"a\" : \"b\" } "));
    assert_eq!(parse(r#"["\n","\/"]"#), parse(r#"["\u000a","/"]"#));
    assert_ne!(parse(r#"{"a":1,"b":2}"#), parse(r#"{"b":2,"a":1}"#));
    assert_ne!(parse("1.0"), parse("1"));
    assert_ne!(parse("1"), parse("\"1\""));
    assert_ne!(parse("[[1],2]"), parse("[[1,2]]"));
    assert_ne!(parse("[]"), parse("{}"));
    assert_ne!(parse("[1]"), parse("[1,1]"));
    assert_ne!(parse("[true]"), parse("[false]"));
    assert_ne!(parse("[[],1]"), parse("[[1]]"));
    // Parts of different trees compare as well.
    let tree = parse(r#"{"x":[1,"é"]}"#);
    assert_eq!(tree.root().get("x"), Some(parse(r#"[1,"\u00e9"]"#).root()));
}

#[test]
fn a_part_becomes_a_tree_of_its_own() {
    let tree = parse(r#"{"skip":"x","take":{"a\n":["b\t",-1.5],"c":null},"after":1}"#);
    let take = tree.root().get("take").expect("there");
    let copy = take.to_tree();
    assert_eq!(copy.root(), take);
    assert_eq!(copy.to_string(), r#"{"a\n":["b\t",-1.5],"c":null}"#);
    assert_eq!(format!("{copy:?}"), copy.to_string());
}

#[test]
fn the_empty_object_is_one() {
    let tree = Tree::empty_object();
    assert_eq!(tree, parse("{}"));
    assert_eq!(tree.to_string(), "{}");
    assert_eq!(tree.root().members().count(), 0);
    assert_eq!(tree.root().to_tree(), tree);
}

#[test]
fn a_value_in_the_middle_of_tokens_becomes_a_tree() {
    let text = br#"{"name":"ls","arguments":{"path":"s\u0072c","n":[1,{}]},"after":true}"#;
    let mut tokens = Tokens::new(text);
    let mut arguments = None;
    loop {
        match tokens.next().expect("good") {
            Token::BeginObject => {}
            Token::Key(name) if name.is("arguments") => {
                arguments = Some(tokens.tree().expect("a value"))
            }
            Token::Key(_) => tokens.skip().expect("a value"),
            Token::EndObject => break,
            other => panic!("{other:?}"),
        }
    }
    assert_eq!(tokens.next(), Ok(Token::End));
    assert_eq!(tokens.offset(), text.len());
    assert_eq!(arguments, Some(parse(r#"{"path":"src","n":[1,{}]}"#)));
}

#[test]
fn a_tree_in_the_middle_is_repaired_as_a_whole_text_is() {
    let mut tokens = Tokens::new(b"[\"\xff\", [\"a\xc3\", \"\\n\"], 1]");
    assert_eq!(tokens.next(), Ok(Token::BeginArray));
    tokens.skip().expect("the first");
    assert_eq!(
        tokens.tree().expect("the second").to_string(),
        "[\"a\u{fffd}\",\"\\n\"]"
    );
    assert_eq!(tokens.tree().expect("the third").to_string(), "1");
    assert_eq!(tokens.next(), Ok(Token::EndArray));
}

#[test]
fn where_no_value_is_due_there_is_none_to_skip_or_read() {
    let at = |text: &'static str, pulls: usize| {
        let mut tokens = Tokens::new(text.as_bytes());
        for _ in 0..pulls {
            tokens.next().expect("good so far");
        }
        let skipped = tokens.clone().skip().map_err(|e| e.to_string());
        let read = tokens.tree().map_err(|e| e.to_string());
        (skipped, read.map(|tree| tree.to_string()))
    };
    let none = |place: &str| {
        let text = format!("expected a value at byte {place}");
        (Err(text.clone()), Err(text))
    };
    assert_eq!(at("[]", 1), none("1, found `]`"));
    assert_eq!(at("[1]", 2), none("2, found `]`"));
    assert_eq!(at("{\"a\":1}", 1), none("1, found `\"`"));
    assert_eq!(at("{\"a\":1}", 3), none("6, found `}`"));
    assert_eq!(at("1", 1), none("1, found the end"));
    assert_eq!(at("[1,2]", 2), (Ok(()), Ok("2".to_owned())));
    assert_eq!(at("[1]", 1), (Ok(()), Ok("1".to_owned())));
}

#[test]
fn the_rest_of_a_begun_value_can_be_skipped() {
    let mut tokens = Tokens::new(br#"[{"a":[1,{}]},2,[[]],"s"]"#);
    assert_eq!(tokens.next(), Ok(Token::BeginArray));
    let mut firsts = Vec::new();
    loop {
        let token = tokens.next().expect("good");
        if token == Token::EndArray {
            break;
        }
        firsts.push(
            format!("{token:?}")
                .split(['(', ' '])
                .next()
                .map(str::to_owned),
        );
        tokens.skip_rest(token).expect("good");
    }
    let firsts: Vec<_> = firsts.into_iter().flatten().collect();
    assert_eq!(firsts, ["BeginObject", "Number", "BeginArray", "String"]);
    assert_eq!(tokens.next(), Ok(Token::End));
    assert_eq!(tokens.next(), Ok(Token::End));
}
