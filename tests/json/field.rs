//! Access by path and the words of its errors.
use zcoder::json::{Field, FieldError, Kind, Tree};

fn document() -> Tree {
    let text = br#"{"message":{"role":"assistant","n":3,"neg":-1,"half":0.5,"whole":2.0,"none":null,"yes":true,
        "tool_calls":[{"function":"ls"},{"function":{"a.b":[1,"x"]}}]},"":{"sp ace":"v"},"dup":1,"dup":"two"}"#;
    Tree::parse_strict(text).expect("good")
}

#[track_caller]
fn fails<T: std::fmt::Debug>(result: Result<T, FieldError>, expected: &str) {
    assert_eq!(result.expect_err("a wrong shape").to_string(), expected);
}

#[test]
fn members_that_are_there_are_read() {
    let tree = document();
    let message = Field::root(tree.root()).member("message").expect("there");
    assert_eq!(
        message.member("role").and_then(|f| f.string()),
        Ok("assistant")
    );
    assert_eq!(message.member("n").and_then(|f| f.u64()), Ok(3));
    assert_eq!(message.member("whole").and_then(|f| f.u64()), Ok(2));
    assert_eq!(message.member("yes").and_then(|f| f.bool()), Ok(true));
    assert_eq!(
        Field::root(tree.root())
            .member("dup")
            .and_then(|f| f.string()),
        Ok("two")
    );
    assert_eq!(
        message.member("none").map(|f| f.value().kind()),
        Ok(Kind::Null)
    );
}

#[test]
fn optional_members_may_be_missing_or_null_but_their_owner_must_be_an_object() {
    let tree = document();
    let message = Field::root(tree.root()).member("message").expect("there");
    assert!(message.optional("absent").expect("an object").is_none());
    assert!(message.optional("none").expect("an object").is_none());
    let role = message.optional("role").expect("an object").expect("there");
    assert_eq!(role.string(), Ok("assistant"));
    fails(
        role.optional("x"),
        "message.role: expected an object, found a string",
    );
}

#[test]
fn errors_name_the_path() {
    let tree = document();
    let root = Field::root(tree.root());
    let message = root.member("message").expect("there");
    let calls = message
        .member("tool_calls")
        .and_then(|f| f.items())
        .expect("an array");
    fails(
        root.member("absent"),
        "absent: expected a value, found nothing",
    );
    fails(
        message.member("absent"),
        "message.absent: expected a value, found nothing",
    );
    fails(
        root.items(),
        "the document: expected an array, found an object",
    );
    fails(
        root.string(),
        "the document: expected a string, found an object",
    );
    let function = calls[0].member("function").expect("there");
    fails(
        function.members(),
        "message.tool_calls[0].function: expected an object, found a string",
    );
    fails(
        function.member("x"),
        "message.tool_calls[0].function: expected an object, found a string",
    );
    let items = calls[1]
        .member("function")
        .and_then(|f| f.member("a.b"))
        .and_then(|f| f.items())
        .expect("there");
    fails(
        items[1].u64(),
        r#"message.tool_calls[1].function["a.b"][1]: expected a whole number from 0 to 18446744073709551615, found a string"#,
    );
    fails(
        items[0].bool(),
        r#"message.tool_calls[1].function["a.b"][0]: expected a boolean, found a number"#,
    );
    let odd = root
        .member("")
        .and_then(|f| f.member("sp ace"))
        .expect("there");
    fails(
        odd.u64(),
        r#"[""]["sp ace"]: expected a whole number from 0 to 18446744073709551615, found a string"#,
    );
    for name in ["neg", "half"] {
        let number = message.member(name).expect("there");
        fails(
            number.u64(),
            &format!(
                "message.{name}: expected a whole number from 0 to 18446744073709551615, found a number"
            ),
        );
    }
    let none = message.member("none").expect("there");
    fails(none.string(), "message.none: expected a string, found null");
    fails(
        message.member("yes").and_then(|f| f.string()),
        "message.yes: expected a string, found a boolean",
    );
    fails(
        message.member("tool_calls").and_then(|f| f.string()),
        "message.tool_calls: expected a string, found an array",
    );
}

#[test]
fn a_caller_can_add_checks_of_its_own() {
    let tree = document();
    let role = Field::root(tree.root())
        .member("message")
        .and_then(|f| f.member("role"))
        .expect("there");
    assert_eq!(role.path(), "message.role");
    let error = role.error("one of `user`, `tool`");
    assert_eq!(
        error.to_string(),
        "message.role: expected one of `user`, `tool`, found a string"
    );
}

#[test]
fn members_come_in_order_with_their_paths() {
    let tree = document();
    let members = Field::root(tree.root()).members().expect("an object");
    let names: Vec<_> = members
        .iter()
        .map(|(name, field)| (*name, field.path()))
        .collect();
    let expected = [
        ("message", "message"),
        ("", "[\"\"]"),
        ("dup", "dup"),
        ("dup", "dup"),
    ];
    assert_eq!(names, expected.map(|(name, path)| (name, path.to_owned())));
}
