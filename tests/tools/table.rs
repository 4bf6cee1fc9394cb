//! The table: its cost in bytes, its names, and what survives of its schemas.

use zcoder::json::{Tree, Value};
use zcoder::tools::{Set, describe, names, schemas};

const ALL: [&str; 8] = [
    "list_files",
    "read_file",
    "search_text",
    "write_file",
    "replace_text",
    "apply_patch",
    "run_command",
    "finish_task",
];

#[test]
fn schemas_leave_room_in_the_first_request() {
    for set in [Set::Standard, Set::Lean] {
        let bytes = schemas(set).len();
        assert!(bytes <= 3_200, "{set:?}: {bytes} bytes, at most 3,200");
        let bytes = describe(set).len();
        assert!(
            bytes <= 1_800,
            "{set:?}: {bytes} bytes in words, at most 1,800"
        );
    }
}

fn functions(tree: &Tree) -> Vec<Value<'_>> {
    let items = tree.root().items();
    items
        .map(|item| item.get("function").expect("function"))
        .collect()
}

#[test]
fn schemas_hold_only_what_the_server_hands_on() {
    let tree = Tree::parse(schemas(Set::Standard).as_bytes()).expect("JSON");
    let names: Vec<&str> = functions(&tree)
        .iter()
        .map(|function| function.get("name").and_then(Value::as_str).expect("name"))
        .collect();
    assert_eq!(names, ALL);
    for item in tree.root().items() {
        let keys: Vec<&str> = item.members().map(|(key, _)| key).collect();
        assert_eq!(keys, ["type", "function"]);
    }
    for function in functions(&tree) {
        let keys: Vec<&str> = function.members().map(|(key, _)| key).collect();
        assert_eq!(keys, ["name", "description", "parameters"]);
        let parameters = function.get("parameters").expect("parameters");
        let keys: Vec<&str> = parameters.members().map(|(key, _)| key).collect();
        assert_eq!(keys, ["type", "properties", "required"]);
        let properties = parameters.get("properties").expect("properties");
        for (name, property) in properties.members() {
            let kind = property.get("type").and_then(Value::as_str);
            assert!(
                matches!(kind, Some("string" | "integer" | "boolean")),
                "{name}: {kind:?}"
            );
            for (key, _) in property.members() {
                assert!(
                    ["type", "description", "enum"].contains(&key),
                    "{name}: {key}"
                );
            }
        }
        let required: Vec<&str> = parameters
            .get("required")
            .expect("required")
            .items()
            .map(|name| name.as_str().expect("a name"))
            .collect();
        for name in required {
            assert!(
                properties.get(name).is_some(),
                "{name} is required and not declared"
            );
        }
    }
}

#[test]
fn no_name_is_the_beginning_of_another() {
    for one in ALL {
        for other in ALL.iter().filter(|other| **other != one) {
            assert!(!other.starts_with(one), "{one} begins {other}");
        }
        assert!(
            one.bytes().all(|b| b.is_ascii_lowercase() || b == b'_'),
            "{one}"
        );
        assert!(one.contains('_'), "{one} may be a common word");
    }
}

#[test]
fn the_description_names_every_tool_and_the_form_of_a_call() {
    let text = describe(Set::Standard);
    let beginning = "Tools. To call one, write exactly this form and stop:\n\
        <function=read_file>\n<parameter=path>\nsrc/main.rs\n</parameter>\n</function>\n";
    assert_eq!(&text[..beginning.len()], beginning);
    for name in ALL {
        assert!(text.contains(&format!("\n- {name}: ")), "{name}");
    }
    let last = "- finish_task: End the task. Call it alone.\n  status (done|blocked|failed), response (answer for the user)\n";
    assert!(text.ends_with(last), "{text}");
}

#[test]
fn the_lean_set_is_the_standard_one_without_patches() {
    let tree = Tree::parse(schemas(Set::Lean).as_bytes()).expect("JSON");
    let offered: Vec<&str> = functions(&tree)
        .iter()
        .map(|function| function.get("name").and_then(Value::as_str).expect("name"))
        .collect();
    assert_eq!(offered, names(Set::Lean));
    let all = ALL.iter().copied();
    let rest: Vec<&str> = all.filter(|name| *name != "apply_patch").collect();
    assert_eq!(offered, rest);
    assert_eq!(names(Set::Standard), ALL);
    assert_eq!(names(Set::Reading), ALL[..3]);
    assert!(!describe(Set::Lean).contains("apply_patch"));
}
