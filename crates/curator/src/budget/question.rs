//! What makes two questions the same: the canonical text of a request, and its digest.

use crate::refusal::Refusal;
use reticent_core::Code;
use reticent_data::Table;
use serde::Serialize;
use serde_json::Value;
use sha2::{Digest, Sha256};
use std::fmt::Write;
use std::io::ErrorKind;
use std::path::Path;

/// A question as a budget remembers it: a request without the places of its outputs, the data by the names that the budget has
/// for them.
///
/// Two requests are the same question if their canonical texts are equal: the same fields with the same values, whichever way
/// they were written down. What the data hold plays no part, so whether an answer is remembered says nothing about them.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CanonicalQuestion {
    text: String,
}

impl CanonicalQuestion {
    /// The question of a request of this verb, with these fields in place of its own.
    ///
    /// # Errors
    /// [`Refusal`] when the request cannot be written as JSON.
    pub fn new(verb: &str, request: &impl Serialize, replaced: &[(&str, Value)]) -> Result<Self, Refusal> {
        let mut value = serde_json::to_value(request).map_err(Refusal::internal)?;
        let fields = value.as_object_mut().ok_or_else(|| Refusal::internal("a request without fields"))?;
        for (name, field) in replaced {
            match field {
                Value::Null => fields.remove(*name),
                field => fields.insert((*name).to_owned(), field.clone()),
            };
        }
        let mut text = String::new();
        write(&mut text, &serde_json::json!({ verb: value }));
        Ok(Self { text })
    }

    /// The digest of a public file that is part of a question, in hexadecimal digits: what the file says counts, and not where it
    /// is.
    ///
    /// # Errors
    /// [`Refusal`] when it cannot be read.
    pub fn digest_of(file: &Path) -> Result<String, Refusal> {
        let bytes = std::fs::read(file).map_err(|error| {
            let code = if error.kind() == ErrorKind::NotFound { Code::NotFound } else { Code::Unreadable };
            Refusal::new(code, format!("{}: {error}: check the path", file.display())).because(error)
        })?;
        Ok(hex(&bytes))
    }

    /// How a table is read and which columns are derived, as part of a question; null for the usual way. The files are named by the
    /// budget.
    pub fn reading_of(table: &dyn Table) -> Value {
        let dialect = table.reading().dialect_only();
        let derived: Vec<String> =
            table.derivations().iter().map(|derivation| derivation.canonical().to_owned()).collect();
        match dialect.is_default() && derived.is_empty() {
            true => Value::Null,
            false => serde_json::json!({ "dialect": dialect, "derive": derived }),
        }
    }

    /// The canonical text: JSON without blanks, keys in order, absent fields left out.
    pub fn text(&self) -> &str {
        &self.text
    }

    /// SHA-256 of the text, in hexadecimal digits.
    pub fn digest(&self) -> String {
        hex(self.text.as_bytes())
    }
}

/// SHA-256 in hexadecimal digits.
fn hex(bytes: &[u8]) -> String {
    Sha256::digest(bytes).iter().fold(String::with_capacity(64), |mut hex, byte| {
        let _ = write!(hex, "{byte:02x}");
        hex
    })
}

/// Writes a value with its keys in order. A field that is null is one that is left out.
fn write(out: &mut String, value: &Value) {
    match value {
        Value::Object(fields) => {
            let mut names: Vec<&String> =
                fields.iter().filter(|(_, field)| !field.is_null()).map(|(name, _)| name).collect();
            names.sort();
            out.push('{');
            for (place, name) in names.into_iter().enumerate() {
                if place > 0 {
                    out.push(',');
                }
                let _ = write!(out, "{}:", Value::String(name.clone()));
                write(out, &fields[name]);
            }
            out.push('}');
        }
        Value::Array(items) => {
            out.push('[');
            for (place, item) in items.iter().enumerate() {
                if place > 0 {
                    out.push(',');
                }
                write(out, item);
            }
            out.push(']');
        }
        // Numbers have one shortest form, which reads back as the same number.
        other => {
            let _ = write!(out, "{other}");
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn the_order_of_keys_and_absent_fields_make_no_other_question() {
        let text = |value: Value| CanonicalQuestion::new("release", &value, &[]).unwrap();
        let one = text(json!({"b": 1, "a": {"y": [1, 0.5], "x": null}, "c": null}));
        let two = text(json!({"a": {"y": [1, 0.5]}, "b": 1}));
        assert_eq!(one, two);
        assert_eq!(one.text(), r#"{"release":{"a":{"y":[1,0.5]},"b":1}}"#);
        assert_eq!((one.digest().len(), one.digest()), (64, two.digest()));
        for other in [json!({"a": {"y": [0.5, 1]}, "b": 1}), json!({"a": {"y": [1, 0.5]}, "b": 2})] {
            assert_ne!(text(other).digest(), one.digest());
        }
        let verb = CanonicalQuestion::new("page", &json!({"b": 1}), &[]).unwrap();
        assert_ne!(verb.digest(), text(json!({"b": 1})).digest());
    }

    #[test]
    fn fields_can_be_replaced_and_left_out() {
        let request = json!({"file": "./a.csv", "out": "o.csv"});
        let replaced = [("file", json!(["a.csv"])), ("out", Value::Null)];
        let question = CanonicalQuestion::new("x", &request, &replaced).unwrap();
        assert_eq!(question.text(), r#"{"x":{"file":["a.csv"]}}"#);
    }
}
