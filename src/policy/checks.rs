//! Named checks of a project: commands that it says prove its state. In: the value of `checks` in `.zcoder/config.json`, of a folder that
//! is trusted. Out: [`Check`]s. A check that a person accepted by its exact text runs unasked.
//!
//! ```text
//! {"test": "ctest --test-dir build", "lint": "ruff check ."}
//!   Check { name: "test", text: "ctest --test-dir build" }, Check { name: "lint", text: "ruff check ." }
//! kept as   sha256("ctest --test-dir build") test
//! ```
//!
//! Refused: what is no object of texts, names that stand twice, more than 64; empty texts.
//!
//! Invariant: a name is a label for people and decides nothing: what was accepted is the text.

use crate::json::{Kind, Value};
use crate::sha256;

/// More names than anybody remembers.
const MAX_CHECKS: usize = 64;

/// One named command.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Check {
    /// What the project calls it.
    pub name: String,
    /// What `sh -c` would get.
    pub text: String,
}

impl Check {
    /// What stands for the text where it is accepted.
    pub(super) fn hash(&self) -> [u8; 32] {
        sha256::digest(self.text.as_bytes())
    }
}

/// The checks that the value of `checks` names. The error says what was expected.
pub fn read(checks: Value<'_>) -> Result<Vec<Check>, String> {
    if checks.kind() != Kind::Object {
        return Err("expected an object, such as {\"test\": \"make test\"}".to_string());
    }
    let mut found = Vec::new();
    for (name, value) in checks.members() {
        let text = value.as_str().filter(|text| !text.trim().is_empty());
        let Some(text) = text else {
            return Err(format!("expected the text of a command for `{name}`"));
        };
        if found.iter().any(|known: &Check| known.name == name) {
            return Err(format!("`{name}` stands twice"));
        }
        if found.len() == MAX_CHECKS {
            return Err(format!("more than {MAX_CHECKS}"));
        }
        found.push(Check {
            name: name.to_string(),
            text: text.to_string(),
        });
    }
    Ok(found)
}
