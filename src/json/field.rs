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

use super::{Kind, Value, write};
use std::fmt;

/// A value and the path to it.
#[derive(Clone, Debug)]
pub struct Field<'t> {
    value: Value<'t>,
    path: String,
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
        let found = match self.found {
            Some(Kind::Object) => "an object",
            Some(Kind::Array) => "an array",
            Some(Kind::String) => "a string",
            Some(Kind::Number) => "a number",
            Some(Kind::Bool) => "a boolean",
            Some(Kind::Null) => "null",
            None => "nothing",
        };
        write!(f, "{path}: expected {}, found {found}", self.expected)
    }
}

impl std::error::Error for FieldError {}

impl<'t> Field<'t> {
    /// The document's root (path empty; shown as "the document").
    pub fn root(value: Value<'t>) -> Field<'t> {
        Field {
            value,
            path: String::new(),
        }
    }

    /// A member that must exist.
    pub fn member(&self, key: &str) -> Result<Field<'t>, FieldError> {
        self.expect(Kind::Object, "an object")?;
        let path = self.path_to(key);
        match self.value.get(key) {
            Some(value) => Ok(Field { value, path }),
            None => Err(FieldError {
                path,
                expected: "a value",
                found: None,
            }),
        }
    }

    /// A member that may be missing or null.
    pub fn optional(&self, key: &str) -> Result<Option<Field<'t>>, FieldError> {
        self.expect(Kind::Object, "an object")?;
        let value = self.value.get(key).filter(|value| !value.is_null());
        Ok(value.map(|value| Field {
            value,
            path: self.path_to(key),
        }))
    }

    /// An array's items.
    pub fn items(&self) -> Result<Vec<Field<'t>>, FieldError> {
        self.expect(Kind::Array, "an array")?;
        let field = |(index, value)| Field {
            value,
            path: format!("{}[{index}]", self.path),
        };
        Ok(self.value.items().enumerate().map(field).collect())
    }

    /// An object's members in order, duplicates included.
    pub fn members(&self) -> Result<Vec<(&'t str, Field<'t>)>, FieldError> {
        self.expect(Kind::Object, "an object")?;
        let field = |(key, value)| {
            let path = self.path_to(key);
            (key, Field { value, path })
        };
        Ok(self.value.members().map(field).collect())
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
    pub fn path(&self) -> &str {
        &self.path
    }

    /// The error that says this field is not `expected` ("one of `ask`, `allow`, `deny`"), for checks of the caller's own.
    pub fn error(&self, expected: &'static str) -> FieldError {
        FieldError {
            path: self.path.clone(),
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

    fn path_to(&self, key: &str) -> String {
        let is_word = |c: char| c.is_ascii_alphanumeric() || c == '_' || c == '-';
        if key.is_empty() || !key.chars().all(is_word) {
            let mut path = format!("{}[", self.path).into_bytes();
            write::quote_str(&mut path, key);
            path.push(b']');
            String::from_utf8_lossy(&path).into_owned()
        } else if self.path.is_empty() {
            key.to_owned()
        } else {
            format!("{}.{key}", self.path)
        }
    }
}
