//! Access that knows its path, so that an error names it. Used where a document has a shape that must hold: settings, tool arguments,
//! answers of a server. Stream records, where speed counts and anything may be missing, are read as tokens instead.
//!
//! ```text
//! {"message":{"tool_calls":[{"function":"ls"}]}}
//!
//! root.member("message")?.member("tool_calls")?.items()?[0].member("function")?.members()?
//! message.tool_calls[0].function: expected an object, found a string
//! ```
//!
//! A name that is not a plain word is quoted in the path: `arguments["a.b"]`.
//!
//! Invariant: every error says where, what was expected and what was found; a missing member is "found nothing".
//! Invariant: a path is made when somebody asks for it, by looking for the value from the root on; access itself allocates nothing.

use super::{Kind, Value, write};
use std::fmt;

/// A value, and where its path begins.
#[derive(Clone, Copy, Debug)]
pub struct Field<'t> {
    value: Value<'t>,
    root: Value<'t>,
}

/// What was expected where.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FieldError {
    /// `message.tool_calls[2].function`; empty for the document itself.
    pub path: String,
    /// With its article: `a string`.
    pub expected: &'static str,
    /// The kind of what stands there; `None` when nothing does.
    pub found: Option<Kind>,
}

impl fmt::Display for FieldError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let path = match self.path.as_str() {
            "" => "the document",
            path => path,
        };
        write!(f, "{path}: expected {}, found ", self.expected)?;
        match self.found {
            Some(kind) => kind.fmt(f),
            None => f.write_str("nothing"),
        }
    }
}

impl std::error::Error for FieldError {}

impl<'t> Field<'t> {
    /// The document's root (path empty; shown as "the document").
    pub fn root(value: Value<'t>) -> Field<'t> {
        Field { value, root: value }
    }

    /// A member that must exist.
    pub fn member(&self, key: &str) -> Result<Field<'t>, FieldError> {
        self.expect(Kind::Object, "an object")?;
        let value = self.value.get(key);
        value.map(|value| self.at(value)).ok_or_else(|| {
            let mut path = self.path();
            push_key(&mut path, key);
            FieldError {
                path,
                expected: "a value",
                found: None,
            }
        })
    }

    /// A member that may be missing or null.
    pub fn optional(&self, key: &str) -> Result<Option<Field<'t>>, FieldError> {
        self.expect(Kind::Object, "an object")?;
        let value = self.value.get(key).filter(|value| !value.is_null());
        Ok(value.map(|value| self.at(value)))
    }

    /// An array's items.
    pub fn items(&self) -> Result<Vec<Field<'t>>, FieldError> {
        self.expect(Kind::Array, "an array")?;
        Ok(self.value.items().map(|value| self.at(value)).collect())
    }

    /// An object's members in order, duplicates included.
    pub fn members(&self) -> Result<Vec<(&'t str, Field<'t>)>, FieldError> {
        self.expect(Kind::Object, "an object")?;
        let members = self.value.members();
        Ok(members.map(|(key, value)| (key, self.at(value))).collect())
    }

    /// A string.
    pub fn string(&self) -> Result<&'t str, FieldError> {
        self.value.as_str().ok_or_else(|| self.error("a string"))
    }

    /// A whole number that fits.
    pub fn u64(&self) -> Result<u64, FieldError> {
        let number = self.value.as_number().and_then(|number| number.as_u64());
        number.ok_or_else(|| self.error("a whole number from 0 to 18446744073709551615"))
    }

    /// A boolean.
    pub fn bool(&self) -> Result<bool, FieldError> {
        self.value.as_bool().ok_or_else(|| self.error("a boolean"))
    }

    /// The bare value.
    pub fn value(&self) -> Value<'t> {
        self.value
    }

    /// Where it stands: `message.tool_calls[2]`.
    pub fn path(&self) -> String {
        let mut path = String::new();
        let mut around = self.root;
        while !self.value.holds(around) {
            let mut items = around.items().enumerate();
            let mut members = around.members();
            if let Some((index, item)) = items.find(|(_, item)| item.holds(self.value)) {
                path.push_str(&format!("[{index}]"));
                around = item;
            } else if let Some((key, value)) = members.find(|(_, value)| value.holds(self.value)) {
                push_key(&mut path, key);
                around = value;
            } else {
                break;
            }
        }
        path
    }

    /// The error that says this field is not `expected` ("one of `ask`, `allow`, `deny`"), for checks of the caller's own.
    pub fn error(&self, expected: &'static str) -> FieldError {
        FieldError {
            path: self.path(),
            expected,
            found: Some(self.value.kind()),
        }
    }

    fn expect(&self, kind: Kind, expected: &'static str) -> Result<(), FieldError> {
        if self.value.kind() == kind {
            Ok(())
        } else {
            Err(self.error(expected))
        }
    }

    fn at(&self, value: Value<'t>) -> Field<'t> {
        let root = self.root;
        Field { value, root }
    }
}

fn push_key(path: &mut String, key: &str) {
    let is_word = |c: char| c.is_ascii_alphanumeric() || c == '_' || c == '-';
    if key.is_empty() || !key.chars().all(is_word) {
        let mut quoted = Vec::new();
        write::quote_str(&mut quoted, key);
        path.push_str(&format!("[{}]", String::from_utf8_lossy(&quoted)));
    } else {
        if !path.is_empty() {
            path.push('.');
        }
        path.push_str(key);
    }
}
