use crate::{Code, Coded};
use thiserror::Error;

/// A value that cannot mean what its field says.
///
/// Displays as one line that names the field, the value and the remedy.
#[derive(Debug, Clone, PartialEq, Error)]
#[error("{field} = {value}: {remedy}")]
pub struct InvalidValue {
    /// The field as the caller knows it, e.g. `delta`.
    pub field: &'static str,
    /// The offending value as text.
    pub value: String,
    /// What a valid value looks like.
    pub remedy: String,
}

impl InvalidValue {
    /// Reports `value` as invalid for `field`, with what would be valid.
    pub fn new(field: &'static str, value: impl ToString, remedy: impl Into<String>) -> Self {
        Self { field, value: value.to_string(), remedy: remedy.into() }
    }
}

impl Coded for InvalidValue {
    fn code(&self) -> Code {
        match self.field {
            "bounds" => Code::Bounds,
            "categories" | "candidates" => Code::List,
            "method" => Code::UnknownName,
            "rows_public" => Code::Relation,
            _ => Code::Range,
        }
    }
}
