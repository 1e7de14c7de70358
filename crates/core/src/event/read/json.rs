//! JSON as it is written: names that come twice stay twice, so nothing in a list of events is dropped
//! without a word.

use super::problem::ReadProblem;
use serde::de::{Deserialize, Deserializer, MapAccess, SeqAccess, Visitor};
use std::fmt;

/// A JSON value.
#[derive(Debug, Clone, PartialEq)]
pub(in crate::event) enum Json {
    Null,
    Bool(bool),
    /// A whole number from 0.
    Whole(u64),
    /// Any other number.
    Real(f64),
    Text(String),
    List(Vec<Json>),
    Object(Vec<(String, Json)>),
}

impl Json {
    /// Reads one value and nothing after it.
    pub(super) fn parse(text: &str) -> Result<Self, ReadProblem> {
        serde_json::from_str(text).map_err(|error| syntax(text, &error))
    }

    /// What it is, for messages.
    pub(super) fn shown(&self) -> String {
        match self {
            Self::Null => "null".to_owned(),
            Self::Bool(value) => value.to_string(),
            Self::Whole(value) => value.to_string(),
            Self::Real(value) => value.to_string(),
            Self::Text(text) => format!("the text {text:?}"),
            Self::List(_) => "a list".to_owned(),
            Self::Object(_) => "an object".to_owned(),
        }
    }
}

/// What is wrong with text that is not JSON, and where.
fn syntax(text: &str, error: &serde_json::Error) -> ReadProblem {
    let whole = error.to_string();
    let place = format!(" at line {} column {}", error.line(), error.column());
    let reason = whole.strip_suffix(&place).unwrap_or(&whole);
    if reason.starts_with("recursion limit") {
        return ReadProblem::new(
            "nested too deeply (more than 127 levels)",
            "use \"repeated\" and \"composed\" instead",
        );
    }
    let line = text.lines().nth(error.line().saturating_sub(1)).unwrap_or_default();
    let rest = line.get(error.column().saturating_sub(1)..).unwrap_or_default();
    let remedy = if rest.starts_with(['N', 'I']) {
        "JSON has no NaN and no infinity: give a finite number".to_owned()
    } else if reason.starts_with("number out of range") {
        "a number is too large: give a finite one".to_owned()
    } else {
        format!("{reason}: correct the JSON")
    };
    ReadProblem::new(format!("line {}, column {}", error.line(), error.column()), remedy)
}

impl<'de> Deserialize<'de> for Json {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Any;
        impl<'de> Visitor<'de> for Any {
            type Value = Json;

            fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
                formatter.write_str("JSON")
            }

            fn visit_unit<E>(self) -> Result<Json, E> {
                Ok(Json::Null)
            }

            fn visit_bool<E>(self, value: bool) -> Result<Json, E> {
                Ok(Json::Bool(value))
            }

            fn visit_u64<E>(self, value: u64) -> Result<Json, E> {
                Ok(Json::Whole(value))
            }

            fn visit_i64<E>(self, value: i64) -> Result<Json, E> {
                Ok(u64::try_from(value).map_or(Json::Real(value as f64), Json::Whole))
            }

            fn visit_f64<E>(self, value: f64) -> Result<Json, E> {
                Ok(Json::Real(value))
            }

            fn visit_str<E>(self, value: &str) -> Result<Json, E> {
                Ok(Json::Text(value.to_owned()))
            }

            fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<Json, A::Error> {
                let mut items = Vec::new();
                while let Some(item) = list.next_element()? {
                    items.push(item);
                }
                Ok(Json::List(items))
            }

            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Json, A::Error> {
                let mut entries = Vec::new();
                while let Some(entry) = map.next_entry()? {
                    entries.push(entry);
                }
                Ok(Json::Object(entries))
            }
        }
        deserializer.deserialize_any(Any)
    }
}
